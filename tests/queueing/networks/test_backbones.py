"""Backbones against published facts, gravity traffic against its formula and a route by route sum."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from importlib.resources import files
from itertools import combinations, pairwise, permutations

import networkx as nx
import numpy as np
import pytest

from fairness import ModelError
from queueing.networks.backbones import BACKBONES, abilene, geant, kilometres, nobel_germany, nsfnet
from queueing.networks.gravity import gravity_traffic

# Nodes, links, diameter in hops, bridges, degrees of the nodes in falling order, as in the sources.
PUBLISHED = {
    "Abilene": (11, 14, 5, 0, [3] * 6 + [2] * 5),
    "NSFNET": (14, 21, 3, 0, [4] * 2 + [3] * 10 + [2] * 2),
    "Nobel-Germany": (17, 26, 6, 0, [6, 5] + [4] * 3 + [3] * 5 + [2] * 7),
    "GEANT": (27, 38, None, None, None),
}


@pytest.mark.parametrize("name", BACKBONES)
def test_backbones_are_as_published(name):
    graph = BACKBONES[name]()
    nodes, links, diameter, bridges, degrees = PUBLISHED[name]
    assert graph.graph["name"] == name
    assert (graph.number_of_nodes(), graph.number_of_edges()) == (nodes, links)
    assert nx.is_connected(graph)
    if diameter is not None:
        assert nx.diameter(graph) == diameter
        assert len(list(nx.bridges(graph))) == bridges
        assert sorted((d for _, d in graph.degree), reverse=True) == degrees
    assert {"links", "capacities", "nodes"} <= set(graph.graph["sources"])
    for _, facts in graph.nodes(data=True):
        assert -180 <= facts["longitude"] <= 180
        assert 25 < facts["latitude"] < 65
        assert ("population" in facts) == ("populations" in graph.graph["sources"])
    for u, v, facts in graph.edges(data=True):
        assert facts["capacity"] > 0
        assert facts["km"] == kilometres(graph, u, v) == kilometres(graph, v, u)
        # Cables between neighbours: none is shorter than Essen-Duesseldorf or longer than a continent.
        assert 20 < facts["km"] < 4000


def test_every_data_file_is_a_backbone():
    stems = {entry.name for entry in files("queueing.networks.backbones").joinpath("data").iterdir()}
    names = set()
    for stem in stems:
        facts = json.loads(
            files("queueing.networks.backbones").joinpath("data", stem).read_text(encoding="utf-8")
        )
        names.add(facts["name"])
        # A link listed twice, in either direction, would vanish in the graph.
        assert len({frozenset(link[:2]) for link in facts["links"]}) == len(facts["links"])
        assert {node for link in facts["links"] for node in link[:2]} == set(facts["nodes"])
    assert names == set(BACKBONES)


def test_facts_of_single_backbones():
    graph = abilene()
    assert set(nx.get_edge_attributes(graph, "capacity").values()) == {10}
    assert nx.shortest_path_length(graph, "Seattle", "Washington") == 5
    assert set(nx.get_edge_attributes(nsfnet(), "capacity").values()) == {1.544}
    # SNDlib: Hannover has six links, and Leipzig, Frankfurt and Dortmund are next.
    assert dict(nobel_germany().degree)["Hannover"] == 6
    speeds = nx.get_edge_attributes(geant(), "capacity").values()
    # The map of December 2001: 34, 45, 155 and 622 Mb/s, 2.5 and 10 Gb/s.
    assert {speed: list(speeds).count(speed) for speed in set(speeds)} == {
        0.034: 5, 0.045: 2, 0.155: 6, 0.622: 4, 2.5: 12, 10: 9,
    }  # fmt: skip
    # Each call makes a graph of its own.
    graph.remove_node("Seattle")
    assert "Seattle" in abilene()


def test_kilometres():
    graph = nx.Graph()
    for name, place in {
        "pole": (17.0, 90.0), "south": (99.0, -90.0), "zero": (0.0, 0.0), "east": (90.0, 0.0),
        "west": (-180.0, 0.0), "Berlin": (13.405, 52.52), "Munich": (11.575, 48.137),
    }.items():  # fmt: skip
        graph.add_node(name, longitude=place[0], latitude=place[1])
    quarter = 6371 * math.pi / 2
    assert kilometres(graph, "pole", "zero") == pytest.approx(quarter, rel=1e-14)
    assert kilometres(graph, "zero", "east") == pytest.approx(quarter, rel=1e-14)
    # Near antipodes the arc sine loses half of the digits.
    assert kilometres(graph, "zero", "west") == pytest.approx(2 * quarter, rel=1e-7)
    assert kilometres(graph, "pole", "south") == pytest.approx(2 * quarter, rel=1e-7)
    assert kilometres(graph, "zero", "zero") == 0
    # Second method: the angle between the two unit vectors.
    for u, v in combinations(graph, 2):
        ends = []
        for node in (u, v):
            x, y = (math.radians(graph.nodes[node][key]) for key in ("longitude", "latitude"))
            ends.append(np.array([math.cos(y) * math.cos(x), math.cos(y) * math.sin(x), math.sin(y)]))
        angle = math.atan2(np.linalg.norm(np.cross(*ends)), float(np.dot(*ends)))
        assert kilometres(graph, u, v) == pytest.approx(6371 * angle, rel=1e-7)
    # Known: 504 km as the crow flies.
    assert kilometres(graph, "Berlin", "Munich") == pytest.approx(504, abs=1)
    with pytest.raises(ModelError, match=r"node 'Rome' is not in the graph"):
        kilometres(graph, "Berlin", "Rome")
    graph.add_node("Rome", longitude=12.5)
    with pytest.raises(ModelError, match=r"node 'Rome' has no position"):
        kilometres(graph, "Berlin", "Rome")
    graph.nodes["Rome"]["latitude"] = 91
    with pytest.raises(ModelError, match=r"node 'Rome' has no position"):
        kilometres(graph, "Berlin", "Rome")


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("exponent", [0, 1.5])
@pytest.mark.parametrize("length", [None, "km"])
def test_gravity_traffic_is_its_formula(directed, exponent, length):
    graph = abilene().to_directed() if directed else abilene()
    traffic = gravity_traffic(graph, 7, weights="population", exponent=exponent, length=length)
    people = nx.get_node_attributes(graph, "population")
    expected = {
        (u, v): people[u] * people[v] / kilometres(graph, u, v) ** exponent
        for u, v in (permutations if directed else combinations)(graph, 2)
    }
    whole = sum(expected.values())
    assert set(traffic.pairs) == set(expected)
    for pair, load in zip(traffic.pairs, traffic.loads, strict=True):
        # A logarithm, an exponential and a sum of at most 110 terms.
        assert load == pytest.approx(7 * expected[pair] / whole, rel=1e-13)
    assert (np.diff(traffic.loads) <= 0).all()
    assert traffic.loads.sum() == pytest.approx(7, rel=1e-14)
    assert traffic.covered == pytest.approx(1, rel=1e-14)
    # Second method for the links: add up route by route.
    carried = dict.fromkeys(graph.edges, 0.0)
    for (u, v), load in zip(traffic.pairs, traffic.loads, strict=True):
        for a, b in pairwise(nx.shortest_path(graph, u, v, weight=length)):
            carried[(a, b) if (a, b) in carried else (b, a)] += load
    relative = np.array(list(carried.values())) / 10
    np.testing.assert_allclose(traffic.relative_loads, relative, rtol=1e-13)
    assert traffic.largest_scale == pytest.approx(1 / relative.max(), rel=1e-13)
    u, v = list(graph.edges)[int(relative.argmax())]
    assert traffic.bottleneck == f"{u}-{v}"
    largest = max(expected, key=expected.__getitem__)
    assert traffic.problem.job_classes[0] == (">" if directed else "-").join(largest)


def test_the_largest_pairs_are_kept():
    whole = gravity_traffic(nobel_germany(), 100, weights="population")
    some = gravity_traffic(nobel_germany(), 100, weights="population", pairs=30)
    assert some.pairs == whole.pairs[:30]
    np.testing.assert_array_equal(some.loads, whole.loads[:30])
    assert some.covered == pytest.approx(whole.loads[:30].sum() / 100, rel=1e-14)
    assert gravity_traffic(nobel_germany(), pairs=10_000).problem.n_classes == 17 * 16 // 2
    frame = some.to_dataframe()
    assert list(frame.columns) == ["source", "target", "load", "links"]
    assert frame["links"].tolist() == [nx.shortest_path_length(nobel_germany(), u, v) for u, v in some.pairs]


def test_weights():
    graph = nx.path_graph(["a", "b", "c"])
    nx.set_edge_attributes(graph, {("a", "b"): 2, ("b", "c"): Fraction(1, 2)}, "capacity")
    # Default: capacities at the nodes, 2, 5/2 and 1/2; products 5, 1 and 5/4.
    traffic = gravity_traffic(graph, 29)
    assert traffic.pairs == (("a", "b"), ("b", "c"), ("a", "c"))
    np.testing.assert_allclose(traffic.loads, [20, 5, 4], rtol=1e-14)
    # A node without weight has no traffic, but carries that of others.
    through = gravity_traffic(graph, 3, weights={"a": 1, "b": 0, "c": 1})
    assert through.problem.job_classes == ("a-c",)
    np.testing.assert_array_equal(through.problem.demands, [[1, 1]])
    assert (through.largest_scale, through.bottleneck) == (pytest.approx(1 / 6), "b-c")
    # Ends of the floats: only ratios of weights matter.
    for factor in (1e-300, 1e300):
        scaled = gravity_traffic(graph, 29, weights={"a": 2 * factor, "b": 2.5 * factor, "c": 0.5 * factor})
        np.testing.assert_allclose(scaled.loads, [20, 5, 4], rtol=1e-12)
    arcs = graph.to_directed()
    # Directed: capacity of the arcs that leave.
    np.testing.assert_allclose(gravity_traffic(arcs, 58).loads, [20, 20, 5, 5, 4, 4], rtol=1e-14)
    arcs.remove_edge("c", "b")
    with pytest.raises(ModelError, match=r"fewer than two nodes have a weight > 0"):
        gravity_traffic(nx.DiGraph([("a", "b", {"capacity": 1})]))
    with pytest.raises(ModelError, match=r"no path from 'c' to 'a' for 'c>a'"):
        gravity_traffic(arcs, weights={"a": 1, "b": 0, "c": 1})


def test_a_loaded_link_of_capacity_0():
    graph = nx.path_graph(["a", "b", "c"])
    nx.set_edge_attributes(graph, {("a", "b"): 0, ("b", "c"): 0}, "capacity")
    traffic = gravity_traffic(graph, weights={"a": 1, "b": 1, "c": 0})
    np.testing.assert_array_equal(traffic.relative_loads, [math.inf, 0])
    assert (traffic.largest_scale, traffic.bottleneck) == (0, "a-b")


def test_gravity_errors():
    graph = abilene()
    for arguments, message in [
        ({"total": 0}, r"total must be a finite number > 0; got 0"),
        ({"total": math.inf}, r"total must be a finite number > 0"),
        ({"exponent": -1}, r"exponent must be a finite number >= 0; got -1"),
        ({"pairs": 0}, r"pairs must be"),
        ({"weights": "people"}, r"attribute 'people' of node 'Seattle' must be .*; got None"),
        ({"weights": {"Seattle": 1}}, r"weight of node 'Sunnyvale' must be a finite number >= 0; got None"),
        ({"weights": {"Rome": 1}}, r"weights name the node 'Rome', which is not in the graph"),
        ({"weights": dict.fromkeys(graph, 0)}, r"fewer than two nodes have a weight > 0"),
        ({"capacity": "speed"}, r"link Seattle-Sunnyvale has no attribute 'speed'"),
        ({"length": "miles"}, r"has no attribute 'miles'"),
    ]:
        with pytest.raises(ModelError, match=message):
            gravity_traffic(graph, **arguments)
    with pytest.raises(ModelError, match=r"graph must be a networkx Graph or DiGraph"):
        gravity_traffic([("a", "b")])
    with pytest.raises(ModelError, match=r"without parallel links"):
        gravity_traffic(nx.MultiGraph(graph))
    graph.nodes["Denver"].update(longitude=-122.3, latitude=47.6)
    with pytest.raises(ModelError, match=r"nodes 'Seattle' and 'Denver' are in one place"):
        gravity_traffic(graph, exponent=1)
    names = nx.Graph()
    names.add_edges_from([("a", "b-c"), ("a-b", "c"), ("a", "c")], capacity=1)
    with pytest.raises(ModelError, match=r"2 pairs of nodes have the name 'a-b-c'; rename nodes"):
        gravity_traffic(names)
