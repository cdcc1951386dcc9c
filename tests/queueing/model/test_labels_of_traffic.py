"""Labels beyond the classes of a model: users of a trace, links of a network, queues, nodes of a cluster."""

import networkx as nx
import pandas as pd
import pytest
import xarray as xr
from matplotlib.figure import Figure

from fairness import DRF, ModelError, Problem, Tree
from queueing import ClusterTrace, NodeList, System, drift_bound
from queueing.networks.pictures import plot_network
from queueing.networks.topology import wireless_cell
from queueing.replays.preparation import user_weights

TRACE = ClusterTrace(["cpu"], ["cores"], [0, 1], [1, 1], [[1]], [0, 0], ["lab", "web"], [0, 1])


def test_users_nodes_queues_and_classes_of_a_cell_follow_their_labels():
    assert user_weights(TRACE, pd.Series({"web": 2.0, "lab": 3.0})).tolist() == [3, 2]
    array = xr.DataArray([2.0, 3.0], {"user": ["web", "lab"]}, ["user"])
    assert user_weights(TRACE, array).tolist() == [3, 2]
    table = pd.DataFrame({"gpu": {"n2": 1, "n1": 2}, "cpu": {"n2": 3, "n1": 4}})
    nodes = NodeList(["n1", "n2"], ["cpu", "gpu"], ["cores", "devices"], table)
    assert nodes.capacities.tolist() == [[4, 2], [3, 1]]
    tree = Tree(["root", "a", "b"], [-1, 0, 0], weights=pd.Series({"b": 2, "a": 5, "root": 1}),
                job_classes=["A", "B"], class_nodes=[1, 2],
                minimum=pd.DataFrame({"cpu": {"b": 2, "root": 3, "a": 1}}))  # fmt: skip
    assert (tree.weights.tolist(), tree.minimum.ravel().tolist()) == ([1, 5, 2], [3, 1, 2])
    cell = wireless_cell(pd.Series({"far": 1, "near": 4}))
    assert (cell.job_classes, cell.demands.ravel().tolist()) == (("far", "near"), [1, 0.25])
    assert wireless_cell(pd.Series([1, 4])).job_classes == ("class 1", "class 2")


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (
            lambda: user_weights(TRACE, pd.Series({"web": 2.0})),
            "labels of weights must be the users .* lacks 'lab'",
        ),
        (lambda: NodeList(["a"], ["x"], ["u"], pd.DataFrame({"x": {"b": 1}})), "must be the servers 'a'"),
        (
            lambda: Tree(["r"], [-1], weights=pd.Series({"q": 1}), job_classes=["A"], class_nodes=[0]),
            "queues",
        ),
        (lambda: wireless_cell(pd.Series([1, 2], ["a", "a"])), "the label 'a' more than once"),
    ],
)
def test_labels_that_do_not_match_are_refused(build, said):
    with pytest.raises(ModelError, match=said):
        build()


def test_links_follow_their_labels():
    graph = nx.Graph([("A", "B"), ("B", "C")])
    for node, x in zip("ABC", (0.0, 1.0, 2.0), strict=True):
        graph.nodes[node].update(longitude=x, latitude=x)
    figure = Figure()
    axes = figure.subplots(1, 3)
    plot_network(graph, [0.2, 0.9], ax=axes[0])
    plot_network(graph, pd.Series({"B-C": 0.9, "A-B": 0.2}), ax=axes[1])
    plot_network(graph, [0.9, 0.2], ax=axes[2])
    used = [ax.collections[0].get_array().tolist() for ax in axes]
    assert used[0] == used[1] != used[2]
    with pytest.raises(ModelError, match="labels of utilization must be the resources"):
        plot_network(graph, pd.Series({"A-B": 0.2, "C-B": 0.9}))


@pytest.mark.long
def test_weights_of_a_bound_follow_the_classes():
    system = System(Problem([[1, 4], [3, 1]], [9, 18], job_classes=["A", "B"]), [0.5, 0.3])
    plain, named = (drift_bound(system, DRF(), of=of) for of in ([1, 5], pd.Series({"B": 5, "A": 1})))
    assert plain.upper == named.upper
