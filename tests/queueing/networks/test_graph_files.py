"""Networks of GraphML files are the networks that were written; what is wrong is told with its place."""

import networkx as nx
import pytest

from fairness import ModelError
from fairqueues.scenario import Scenario, ScenarioError
from queueing.networks.backbones import abilene
from queueing.networks.graph_files import read_graphml
from queueing.networks.gravity import gravity_traffic
from queueing.networks.topology import data_network


def test_a_backbone_comes_back(tmp_path):
    graph = abilene()
    graph.graph.clear()  # GraphML has no tables
    nx.write_graphml(graph, tmp_path / "a.graphml")
    again = read_graphml(tmp_path / "a.graphml")
    assert dict(again.nodes(data=True)) == dict(graph.nodes(data=True))
    assert sorted(map(str, again.edges(data=True))) == sorted(map(str, graph.edges(data=True)))
    traffic = [
        gravity_traffic(one, 10, weights="population", pairs=9).to_dataframe() for one in (graph, again)
    ]
    assert traffic[0].equals(traffic[1])


def test_directions_names_parallel_links_and_one_capacity(tmp_path):
    file = tmp_path / "d.graphml"
    graph = nx.MultiDiGraph()
    graph.add_node("0", label="Rome")
    graph.add_node("1", label="Oslo")
    for gbps in ("10", "5/2"):
        graph.add_edge("0", "1", gbps=gbps, km=3.0)
    nx.write_graphml(graph, file)
    with pytest.raises(ModelError, match="several links between 'Rome' and 'Oslo'; merge"):
        read_graphml(file, capacity="gbps", names="label")
    found = read_graphml(file, capacity="gbps", names="label", parallel="add")
    assert found.is_directed()
    assert data_network(found, {"a": ("Rome", "Oslo")}, length="km").as_fractions() == ([[1]], [12.5])
    assert read_graphml(file, capacity=4, parallel="add").edges["0", "1"]["capacity"] == 8
    (tmp_path / "s.json").write_text(
        '{"network": {"graphml": "d.graphml", "capacity": "gbps", "names": "label", "parallel": "add",'
        ' "length": "km", "routes": {"a": ["Rome", "Oslo"]}}}'
    )
    assert Scenario.read(tmp_path / "s.json").model.capacities.tolist() == [12.5]


HEAD = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><key id="c" for="edge" attr.name="gbps" '
HEAD += 'attr.type="string"/><graph edgedefault="undirected"><node id="a"/><node id="b"/>'
LINK = '<edge source="a" target="b"><data key="c">{}</data></edge></graph></graphml>'


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("<graphml>\n<graph>", {}, "n.graphml, line 2: no XML"),
        ("<a/>", {}, "n.graphml: no GraphML"),
        ('<!DOCTYPE a [<!ENTITY b "c">]><graphml/>', {}, "a document type .* is refused"),
        (HEAD + "</graph></graphml>", {}, "the graph has no links"),
        (HEAD + LINK.format(10), {}, "the link a-b has no attribute 'capacity'; known are gbps"),
        (HEAD + LINK.format("10 Gbps"), {"capacity": "gbps"}, "must be a finite number >= 0; got '10 Gbps'"),
        (HEAD + LINK.format(-1), {"capacity": "gbps"}, "link a-b must be a finite number >= 0; got '-1'"),
        (HEAD + LINK.format("1/0"), {"capacity": "gbps"}, "must be a finite number"),
        (
            HEAD + LINK.format(1),
            {"capacity": "gbps", "names": "label"},
            "the node 'a' has no attribute 'label'",
        ),
        (HEAD + LINK.format(1), {"capacity": -1}, "capacity must be a finite number >= 0"),
        (HEAD + LINK.format(1), {"parallel": "merge"}, "parallel must be"),
    ],
)
def test_files_that_are_no_networks(text, options, said, tmp_path):
    (tmp_path / "n.graphml").write_text(text)
    with pytest.raises(ModelError, match=said):
        read_graphml(tmp_path / "n.graphml", **options)


def test_a_scenario_names_the_key_and_the_file(tmp_path):
    with pytest.raises(ModelError, match=r"nowhere.graphml: cannot be read"):
        read_graphml(tmp_path / "nowhere.graphml")
    (tmp_path / "n.graphml").write_text(HEAD + LINK.format(1))
    text = '[network]\ngraphml = "n.graphml"\nroutes = { far = ["a", "b"] }\n'
    with pytest.raises(
        ScenarioError, match=r"line 1, network: .*n.graphml: the link a-b has no attribute 'cap"
    ):
        Scenario.parse(text, folder=tmp_path)
    with pytest.raises(ScenarioError, match=r"line 2, network.names: is for a graphml file"):
        Scenario.parse('[network]\nnames = "x"\nbackbone = "abilene"\n')
    with pytest.raises(ScenarioError, match=r"line 3, network.length: backbones have"):
        Scenario.parse('[network]\nbackbone = "abilene"\nlength = "miles"\ntraffic = {}\n')
