"""Builders of problems: the capacity constraints of the formulas, entry by entry, and clear errors."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import pairwise, permutations

import networkx as nx
import numpy as np
import pytest

from fairness import DRF, ModelError, allocate
from queueing.networks.backbones import abilene
from queueing.networks.topology import data_network, linear_network, tcp_acknowledgements, wireless_cell


def triangle(directed=False):
    graph = nx.DiGraph() if directed else nx.Graph()
    graph.add_edge("A", "B", capacity=10, km=1)
    graph.add_edge("B", "C", capacity=4, km=1)
    graph.add_edge("A", "C", capacity=Fraction(1, 2), km=5)
    return graph


def test_each_class_holds_one_unit_on_each_link_of_its_route():
    graph = abilene()
    routes = {f"{u}>{v}": (u, v) for u, v in permutations(graph, 2)}
    problem = data_network(graph, routes)
    assert problem.n_classes == 110
    assert problem.n_resources == 14
    assert problem.is_rational
    np.testing.assert_array_equal(problem.capacities, 10)
    assert set(problem.demands.flat) == {0.0, 1.0}
    # Second method: hop distances, and the links of a class form a path between its ends.
    hops = dict(nx.all_pairs_shortest_path_length(graph))
    for i, (u, v) in enumerate(permutations(graph, 2)):
        used = [problem.resources[j] for j in np.flatnonzero(problem.demands[i])]
        assert len(used) == hops[u][v]
        links = nx.Graph([tuple(name.split("-")) for name in used])
        assert nx.shortest_path_length(links, u, v) == hops[u][v]


def test_a_pair_is_routed_a_list_is_a_path():
    graph = triangle()
    problem = data_network(graph, {"hops": ("A", "C"), "path": ["C", "B", "A"]})
    assert problem.resources == ("A-B", "A-C", "B-C")
    np.testing.assert_array_equal(problem.demands, [[0, 1, 0], [1, 0, 1]])
    by_length = data_network(graph, {"km": ("A", "C")}, length="km")
    np.testing.assert_array_equal(by_length.demands, [[1, 0, 1]])
    there_and_back = data_network(graph, {"loop": ["A", "B", "A"]})
    np.testing.assert_array_equal(there_and_back.demands, [[2, 0, 0]])


def test_directions_are_resources_of_a_directed_graph():
    problem = data_network(triangle(directed=True), {"down": ("A", "C")}, length="km", weights=[3])
    assert problem.resources == ("A-B", "A-C", "B-C")
    assert problem.weights[0] == 3


def test_data_network_errors():
    graph, arcs, wrong = triangle(), triangle(directed=True), triangle()
    wrong.edges["A", "B"]["capacity"] = -1
    twice = nx.MultiGraph([("A", "B"), ("A", "B")])
    routes = {"x": ("A", "B")}
    for network, given, options, message in [
        (graph, {"x": ("A", "D")}, {}, r"'x' names the node 'D', which is not in the graph"),
        (graph, {"x": ["A"]}, {}, r"route of 'x' must be a list of at least 2 nodes"),
        (graph, {"x": "AB"}, {}, r"route of 'x' must be a list of at least 2 nodes"),
        (graph, {"x": ("A", "A")}, {}, r"same source and target 'A'"),
        (graph, {1: ("A", "B"), "1": ("A", "C")}, {}, r"two routes have the name '1'"),
        (graph, [("A", "B")], {}, r"routes must map names of classes to routes; got list"),
        (graph, {}, {}, r"routes is empty"),
        (graph, routes, {"length": "miles"}, r"link A-B has no attribute 'miles'"),
        (graph, routes, {"capacity": "rate"}, r"link A-B has no attribute 'rate'"),
        (arcs, {"up": ("C", "A")}, {}, r"no path from 'C' to 'A' for 'up'"),
        (arcs, {"up": ["C", "B"]}, {}, r"route of 'up' uses the link C-B, which is not in the graph"),
        (wrong, routes, {}, r"capacity must be a finite number >= 0; got -1 on link A-B"),
        (nx.Graph(), routes, {}, r"graph has no links"),
        (twice, routes, {}, r"parallel links"),
    ]:
        with pytest.raises(ModelError, match=message):
            data_network(network, given, **options)


def test_linear_network():
    problem = linear_network(3, capacity=[1, 2, 3])
    np.testing.assert_array_equal(problem.demands, np.vstack([np.ones(3), np.eye(3)]))
    np.testing.assert_array_equal(problem.capacities, [1, 2, 3])
    graph = nx.path_graph(4)
    nx.set_edge_attributes(graph, {(k, k + 1): k + 1 for k in range(3)}, "capacity")
    same = data_network(graph, {"long": (0, 3), "a": (0, 1), "b": (1, 2), "c": (2, 3)})
    np.testing.assert_array_equal(same.demands, problem.demands)


def test_wireless_cell_shares_air_time():
    problem = wireless_cell({"near": 4, "mid": 2.0, "far": Fraction(1, 2)})
    np.testing.assert_array_equal(problem.demands[:, 0], [0.25, 0.5, 2.0])
    tasks = allocate(problem, DRF()).tasks
    # Equal air time: each of the three gets a third of its rate.
    np.testing.assert_allclose(tasks, [4 / 3, 2 / 3, 1 / 6], rtol=1e-14)
    exact = wireless_cell([3, Fraction(1, 7)])
    assert exact.as_fractions() == ([[Fraction(1, 3)], [Fraction(7)]], [Fraction(1)])
    assert exact.job_classes == ("class 1", "class 2")


def test_tcp_acknowledgements_load_the_reverse_path():
    graph = abilene()
    ratios = {"east": Fraction(1, 75), "west": 0.5, "south": 0}
    connections = {
        "east": ("Seattle", "New York"),
        "west": ["Denver", "Sunnyvale", "Seattle"],
        "south": ("Chicago", "Houston"),
    }
    problem = tcp_acknowledgements(graph, connections, ratios)
    assert problem.n_resources == 28
    tasks = np.array([3.0, 2.0, 5.0])
    usage = dict(zip(problem.resources, tasks @ problem.demands, strict=True))
    # Second method: add data and acknowledgements hop by hop.
    expected = dict.fromkeys(problem.resources, 0.0)
    for (name, route), phi in zip(connections.items(), tasks, strict=True):
        path = route if isinstance(route, list) else nx.shortest_path(graph, *route)
        for u, v in pairwise(path):
            expected[f"{u}-{v}"] += phi
            expected[f"{v}-{u}"] += phi * float(ratios[name])
    assert usage == pytest.approx(expected, rel=1e-14)


def test_errors_of_the_other_builders():
    arcs, graph, one = triangle(directed=True), triangle(), {"x": ("A", "B")}
    for build, arguments, message in [
        (linear_network, (0,), r"n_links must be a whole number >= 1; got 0"),
        (partial(linear_network, capacity=[1, 2]), (3,), r"one number or 3 numbers, one per link; got 2"),
        (wireless_cell, ({"far": 0},), r"rates must be finite numbers > 0; got 0 for 'far'"),
        (wireless_cell, ([1, -2],), r"got -2 for 'index 1'"),
        (wireless_cell, ([],), r"rates is empty"),
        (tcp_acknowledgements, (arcs, one, 0.1), r"'acknowledgements of x' uses the link B-A, which is not"),
        (tcp_acknowledgements, (graph, one, -1), r"ack_ratio must be a finite number >= 0; got -1 for 'x'"),
        (tcp_acknowledgements, (graph, one, {"y": 1}), r"ack_ratio has no entry for connection 'x'"),
    ]:
        with pytest.raises(ModelError, match=message):
            build(*arguments)
