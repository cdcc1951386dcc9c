"""Builders of problems: the capacity constraints of the formulas, entry by entry, and clear errors."""

from __future__ import annotations

from fractions import Fraction
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
    with pytest.raises(ModelError, match=r"no path from 'C' to 'A' for 'up'"):
        data_network(triangle(directed=True), {"up": ("C", "A")})
    with pytest.raises(ModelError, match=r"route of 'up' uses the link C-B, which is not in the graph"):
        data_network(triangle(directed=True), {"up": ["C", "B"]})


def test_data_network_errors():
    graph = triangle()
    with pytest.raises(ModelError, match=r"'x' names the node 'D', which is not in the graph"):
        data_network(graph, {"x": ("A", "D")})
    with pytest.raises(ModelError, match=r"route of 'x' must be a list of at least 2 nodes"):
        data_network(graph, {"x": ["A"]})
    with pytest.raises(ModelError, match=r"route of 'x' must be a list of at least 2 nodes"):
        data_network(graph, {"x": "AB"})
    with pytest.raises(ModelError, match=r"same source and target 'A'"):
        data_network(graph, {"x": ("A", "A")})
    with pytest.raises(ModelError, match=r"link A-B has no attribute 'miles'"):
        data_network(graph, {"x": ("A", "B")}, length="miles")
    with pytest.raises(ModelError, match=r"two routes have the name '1'"):
        data_network(graph, {1: ("A", "B"), "1": ("A", "C")})
    with pytest.raises(ModelError, match=r"routes must map names of classes to routes; got list"):
        data_network(graph, [("A", "B")])
    with pytest.raises(ModelError, match=r"routes is empty"):
        data_network(graph, {})
    with pytest.raises(ModelError, match=r"link A-B has no attribute 'rate'"):
        data_network(graph, {"x": ("A", "B")}, capacity="rate")
    graph.edges["A", "B"]["capacity"] = -1
    with pytest.raises(ModelError, match=r"capacity must be a finite number >= 0; got -1 on link A-B"):
        data_network(graph, {"x": ("A", "B")})
    with pytest.raises(ModelError, match=r"graph has no links"):
        data_network(nx.Graph(), {"x": ("A", "B")})
    with pytest.raises(ModelError, match=r"parallel links"):
        data_network(nx.MultiGraph([("A", "B"), ("A", "B")]), {"x": ("A", "B")})


def test_linear_network():
    problem = linear_network(3, capacity=[1, 2, 3])
    np.testing.assert_array_equal(problem.demands, np.vstack([np.ones(3), np.eye(3)]))
    np.testing.assert_array_equal(problem.capacities, [1, 2, 3])
    graph = nx.path_graph(4)
    nx.set_edge_attributes(graph, {(k, k + 1): k + 1 for k in range(3)}, "capacity")
    same = data_network(graph, {"long": (0, 3), "a": (0, 1), "b": (1, 2), "c": (2, 3)})
    np.testing.assert_array_equal(same.demands, problem.demands)
    with pytest.raises(ModelError, match=r"n_links must be a positive integer; got 0"):
        linear_network(0)
    with pytest.raises(ModelError, match=r"one number or 3 numbers, one per link; got 2"):
        linear_network(3, capacity=[1, 2])


def test_wireless_cell_shares_air_time():
    problem = wireless_cell({"near": 4, "mid": 2.0, "far": Fraction(1, 2)})
    np.testing.assert_array_equal(problem.demands[:, 0], [0.25, 0.5, 2.0])
    tasks = allocate(problem, DRF()).tasks
    # Equal air time: each of the three gets a third of its rate.
    np.testing.assert_allclose(tasks, [4 / 3, 2 / 3, 1 / 6], rtol=1e-14)
    exact = wireless_cell([3, Fraction(1, 7)])
    assert exact.as_fractions() == ([[Fraction(1, 3)], [Fraction(7)]], [Fraction(1)])
    assert exact.job_classes == ("class 1", "class 2")
    with pytest.raises(ModelError, match=r"rates must be finite numbers > 0; got 0 for 'far'"):
        wireless_cell({"far": 0})
    with pytest.raises(ModelError, match=r"got -2 for 'index 1'"):
        wireless_cell([1, -2])
    with pytest.raises(ModelError, match=r"rates is empty"):
        wireless_cell([])


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


def test_tcp_errors():
    graph = triangle(directed=True)
    with pytest.raises(
        ModelError, match=r"'acknowledgements of x' uses the link B-A, which is not in the graph"
    ):
        tcp_acknowledgements(graph, {"x": ("A", "B")}, 0.1)
    graph = triangle()
    with pytest.raises(ModelError, match=r"ack_ratio must be a finite number >= 0; got -1 for 'x'"):
        tcp_acknowledgements(graph, {"x": ("A", "B")}, -1)
    with pytest.raises(ModelError, match=r"ack_ratio has no entry for connection 'x'"):
        tcp_acknowledgements(graph, {"x": ("A", "B")}, {"y": 1})
