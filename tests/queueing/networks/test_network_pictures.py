"""Pictures of networks: every link has the colour and width of its own load, and stands where it should."""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import pytest
from matplotlib.figure import Figure

from fairness import ModelError
from queueing import System
from queueing.networks.backbones import abilene
from queueing.networks.pictures import plot_network
from queueing.networks.topology import data_network

plt.switch_backend("Agg")


@pytest.fixture
def ax():
    return Figure().subplots()


def placed(graph):
    for node, x in zip(graph, range(len(graph)), strict=True):
        graph.nodes[node]["pos"] = (x, x**2)
    return graph


def test_links_have_the_loads_of_their_resources(ax):
    graph = abilene()
    system = System(
        data_network(graph, {"far": ("Seattle", "New York"), "near": ("Denver", "Kansas City")}), [4, 1]
    )
    plot_network(graph, system.relative_loads, ax, title="$A$")
    (links,) = ax.collections
    for (u, v), segment, load in zip(graph.edges, links.get_segments(), links.get_array(), strict=True):
        assert load == system.relative_loads[system.problem.resources.index(f"{u}-{v}")]
        ends = [[graph.nodes[node][name] for name in ("longitude", "latitude")] for node in (u, v)]
        assert np.array_equal(segment, ends)
    assert np.array_equal(links.get_linewidths(), 1 + 4 * links.get_array())
    assert set(graph) <= {text.get_text() for text in ax.texts}
    assert ax.get_title() == r"\$A\$"
    assert ax.figure.axes[1].get_ylabel() == "part of the link in use"


def test_each_half_of_a_cable_shows_what_leaves_its_node(ax):
    graph = placed(nx.DiGraph([("a", "b"), ("b", "a"), ("b", "c")]))
    plot_network(graph, [0.2, 0.7, 1.5], ax)
    (links,) = ax.collections
    halves = dict(zip(graph.edges, links.get_segments(), strict=True))
    assert np.array_equal(halves["a", "b"], [[0, 0], [0.5, 0.5]])
    assert np.array_equal(halves["b", "a"], [[1, 1], [0.5, 0.5]])
    # A link in one direction is whole, with an arrow.
    assert np.array_equal(halves["b", "c"], [[1, 1], [2, 4]])
    (arrow,) = [text for text in ax.texts if text.arrow_patch is not None]
    assert arrow.xy[0] > arrow.xyann[0]
    # The last is overloaded: as wide as a full one, and dashed.
    assert list(links.get_array()) == [0.2, 0.7, 1.0]
    assert [pattern is not None for _, pattern in links.get_linestyle()] == [False, False, True]
    assert ax.figure.axes[1].get_ylabel() == "part of the link in use (dashed: full)"


def test_networks_without_places_and_loads_are_drawn_too(ax):
    before = len(ax.figure.axes)
    plot_network(nx.cycle_graph(5), ax=ax)
    assert len(ax.figure.axes) == before  # no bar of colours
    spots = ax.lines[0].get_xydata()
    sides = np.linalg.norm(spots - np.roll(spots, 1, axis=0), axis=1)
    assert sides == pytest.approx([sides.mean()] * 5, rel=1e-3)  # springs of a ring rest in a pentagon
    assert [text.get_text() for text in ax.texts] == list("01234")


def test_names_stand_where_no_link_leaves(ax):
    graph = nx.star_graph(["middle", "east"])
    graph.nodes["middle"]["pos"], graph.nodes["east"]["pos"] = (0, 0), (1, 0)
    plot_network(graph, ax=ax)
    sides = {text.get_text(): text.get_ha() for text in ax.texts}
    assert sides == {"middle": "right", "east": "left"}


@pytest.mark.parametrize(
    ("graph", "used", "said"),
    [
        (nx.MultiGraph([(0, 1), (0, 1)]), None, "without parallel links"),
        (nx.Graph(), None, "graph has no nodes"),
        (nx.path_graph(3), [0.5], r"must have shape \(2,\), a number per link .*; got \(1,\)"),
        (nx.path_graph(3), [0.5, -1], "utilization must be >= 0; got -1"),
        (nx.path_graph(3), [0.5, np.nan], "utilization"),
    ],
)
def test_what_cannot_be_drawn_is_refused_before_a_figure_is_made(graph, used, said):
    with pytest.raises(ModelError, match=said):
        plot_network(graph, used)
    assert not plt.get_fignums()
