"""Networks of TopoHub: with a stand-in in its schema, and with the package where it is installed."""

import importlib.util
import sys

import networkx as nx
import pytest

from fairness import ModelError
from queueing import System
from queueing.networks.backbones import kilometres
from queueing.networks.topohub_graphs import topohub_graph
from queueing.networks.topology import data_network

INSTALLED = importlib.util.find_spec("topohub") is not None

STAND_IN = """
def get(key):
    nodes = [{"name": n, "pos": [18.0 + k, 54.0], "id": k} for k, n in enumerate("ABC")]
    edges = [{"dist": 65.0, "source": 0, "target": 1}, {"dist": 66.0, "source": 1, "target": 2}]
    graph = {"name": "made up", "demands": {0: {1: 3.0, 2: 2.0}, 2: {0: 4.0, 1: 0.0}}, "stats": {}}
    if key == "topozoo/ids":
        nodes = [{"name": "same", "pos": [0, 0], "id": str(k)} for k in range(3)]
        edges = [{"dist": 1, "source": "0", "target": "2"}]
    elif key == "gabriel/3/0":
        graph["demands"] = {}
    elif key == "sndlib/self":
        graph["demands"] = {1: {1: 3.0}}
    elif key == "sndlib/odd":
        graph["demands"] = {7: {1: 3.0}}
    elif key != "sndlib/abc":
        raise KeyError
    return {"directed": False, "multigraph": False, "graph": graph, "nodes": nodes, "edges": edges}
"""


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    (tmp_path / "topohub").mkdir()
    (tmp_path / "topohub" / "__init__.py").write_text(STAND_IN)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "topohub", raising=False)
    yield
    sys.modules.pop("topohub", None)


def test_a_network_with_demands(stand_in):
    graph = topohub_graph("sndlib/abc", capacity=10)
    assert list(graph) == ["A", "B", "C"]
    assert graph.edges["A", "B"] == {"capacity": 10, "km": 65}
    assert kilometres(graph, "A", "B") == pytest.approx(65, abs=1)
    demands = graph.graph["demands"]
    # Both directions share a link.
    assert demands == {("A", "B"): 3, ("A", "C"): 6}
    problem = data_network(graph, {f"{u}-{v}": (u, v) for u, v in demands})
    assert System(problem, list(demands.values())).relative_loads.tolist() == [0.9, 0.6]


def test_networks_without_names_or_places(stand_in):
    assert list(topohub_graph("topozoo/ids")) == ["0", "1", "2"]
    assert topohub_graph("topozoo/ids").graph["demands"] == {("0", "1"): 3, ("0", "2"): 6}
    assert "longitude" not in topohub_graph("gabriel/3/0").nodes["A"]


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("sndlib/none", "topohub has no network 'sndlib/none'"),
        ("polska", "must be 'group/name'"),
        ("../secret/x", "must be 'group/name'"),
        (None, "must be 'group/name'"),
        ("sndlib/self", "has a demand of 3.0 between 'B' and 'B'"),
        ("sndlib/odd", "is not in the schema of topohub .KeyError: '7'"),
    ],
)
def test_what_is_wrong_is_named(stand_in, key, said):
    with pytest.raises(ModelError, match=said):
        topohub_graph(key)
    with pytest.raises(ModelError, match="capacity must be a finite number > 0"):
        topohub_graph("sndlib/abc", capacity=0)


def test_without_the_package_there_is_a_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "topohub", None)
    with pytest.raises(
        ModelError, match=r"pip install 'fairqueues\[networks\]', or take one of queueing\.networks"
    ):
        topohub_graph("sndlib/polska")


# The package leaves the file open that it reads.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.skipif(not INSTALLED, reason="the package topohub is not installed (extra 'networks')")
def test_the_repository_itself():
    graph = topohub_graph("sndlib/polska", capacity=1000)
    assert (graph.number_of_nodes(), graph.number_of_edges()) == (12, 18)
    assert nx.is_connected(graph)
    assert sum(graph.graph["demands"].values()) > 0
