"""Recorded tasks and nodes: what is refused, what is counted, and the models they make."""

import re
from fractions import Fraction

import numpy as np
import pytest
from matplotlib.figure import Figure

from fairness import PSDSF, TSF, ModelError, Problem, allocate
from queueing import ClusterTrace, NodeList

ARGUMENTS = {
    "resources": ["CPU", "GPU"],
    "units": ["cores", "devices"],
    "arrivals": [0, 5, 9, 9],
    "durations": [60, 10, 30, 1],
    "types": [[4, 0], [8, 0.5], [8, 0.5]],
    "type_of": [0, 1, 1, 2],
    "users": ["research", "production"],
    "user_of": [0, 1, 0, 1],
    "models": ["", "T4", "V100"],
    "eligible_models": [[True, True, True], [False, True, True], [False, False, True]],
    "devices": "GPU",
    "jobs": [0, 0, 1, 2],
}
NODES = {
    "names": ["a", "b", "c", "d"],
    "resources": ["CPU", "GPU"],
    "units": ["cores", "devices"],
    "capacities": [[32, 2], [32, 2], [64, 0], [32, 2]],
    "models": ["T4", "T4", "", "V100"],
}


def recorded(**changes):
    return ClusterTrace(**ARGUMENTS | changes)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"arrivals": [0, 5, 4, 9]}, "task 2 (counted from 0) arrives at 4, after one at 5; sort"),
        ({"arrivals": [0, 5, 9, np.inf]}, "arrivals must be finite"),
        ({"arrivals": []}, "lists no task"),
        ({"durations": [60, 10, 0, 1]}, "durations must be finite and > 0 seconds; got 0.0 at index (2,)"),
        ({"durations": [60, 10, -1, 1]}, "durations must be finite and > 0"),
        ({"durations": [60, 10]}, "durations must have an entry per task: arrivals has 4; got 2"),
        ({"jobs": [0, 1]}, "jobs must have an entry per task"),
        ({"type_of": [0, 1, 3, 2]}, "type_of must lie from 0 to 2, as there are 3 types; got 3 at 2"),
        ({"user_of": [0, 1, -1, 0]}, "user_of must lie from 0 to 1"),
        ({"user_of": [0.0, 1, 1, 0]}, "user_of must be a list of whole numbers"),
        ({"types": [[4, 0], [8, 0.5], [0, 0]]}, "types demands nothing in row 2"),
        (
            {"types": [[4, 0], [8, 0.5], [8, 1.5]]},
            "demands 1.5 of 'GPU' in row 2: a task takes a part",
        ),
        ({"types": [[4, 0], [8, 0.5], [8, -1]]}, "types must be finite and >= 0"),
        ({"types": [[4], [8], [9]]}, "types must have shape (n_types, 2)"),
        ({"units": ["cores"]}, "units must name 2 units"),
        ({"devices": "TPU"}, "devices must be one of CPU, GPU; got 'TPU'"),
        ({"models": None}, "models and eligible_models go together"),
        ({"models": None, "eligible_models": None}, "types must be distinct; row 2 repeats row 1"),
        ({"eligible_models": [[1, 1, 1]] * 3}, "eligible_models must hold True and False"),
        ({"eligible_models": [[True] * 3, [False] * 3, [True] * 3]}, "lets type 1 run nowhere"),
        ({"users": ["a", "a"]}, "users must be distinct"),
    ],
)
def test_what_is_wrong_is_named(changes, said):
    with pytest.raises(ModelError, match=re.escape(said)):
        recorded(**changes)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"capacities": [[32, 2]]}, "capacities must have shape (n_nodes, n_resources) = (4, 2)"),
        ({"capacities": [[32, 2], [32, -2], [64, 0], [1, 1]]}, "got -2.0 at index (1, 1) ('b', 'GPU')"),
        ({"models": ["T4"]}, "models must name 4 models"),
        ({"names": ["a", "a", "b", "c"]}, "names must be distinct"),
        ({"names": []}, "capacities must have shape"),
    ],
)
def test_nodes_that_are_wrong_are_named(changes, said):
    with pytest.raises(ModelError, match=re.escape(said)):
        NodeList(**NODES | changes)


def test_parts_of_a_trace_keep_types_users_and_times():
    trace = recorded()
    assert trace.head(99).n_tasks == 4
    assert trace.head(2).arrivals.tolist() == [0, 5]
    part = trace.between(5, 9)
    assert (part.arrivals.tolist(), part.type_of.tolist(), part.jobs.tolist()) == ([5], [1], [0])
    assert (part.users, part.n_types) == (trace.users, trace.n_types)
    with pytest.raises(ModelError, match="no task arrives from 6 to 7 s"):
        trace.between(6, 7)
    with pytest.raises(ModelError, match="factor must be a finite number > 0"):
        trace.scaled(0)


def test_parts_that_do_not_fit_are_refused():
    trace, nodes = recorded(), NodeList(**NODES)
    for chosen, said in (
        ([True, False], r"is a mask of shape \(2,\); it must be \(4,\)"),
        ([4], "must lie from 0 to 3, as there are 4"),
        ([0.5], "must be a list of whole numbers"),
    ):
        for one in (trace, nodes):
            with pytest.raises(ModelError, match=said):
                one.only(chosen)
    with pytest.raises(ModelError, match="lists no task"):
        trace.only([])
    with pytest.raises(ModelError, match="factor is too small: with 1e-308 the last task never arrives"):
        trace.scaled(1e-308)


def test_work_and_offered_load_are_sums_over_the_tasks():
    trace, nodes = recorded(), NodeList(**NODES)
    work = sum(d * trace.types[t] for d, t in zip(trace.durations, trace.type_of, strict=True))
    assert trace.work.tolist() == work.tolist()
    assert nodes.offered_load(trace) == pytest.approx(work / 9 / [160, 6], rel=1e-15)
    assert nodes.offered_load(trace.scaled(3)) == pytest.approx(3 * nodes.offered_load(trace), rel=1e-15)
    assert recorded(arrivals=[7] * 4).offered_usage.tolist() == [np.inf] * 2


def test_the_figure_counts_what_is_held():
    trace = recorded(arrivals=[0, 5, 9, 9], durations=[100, 15, 91, 1])
    line = trace.plot(Figure().subplots()).get_lines()[0]
    for t, part in list(zip(line.get_xdata(), line.get_ydata(), strict=True))[::4]:
        held = sum(
            trace.types[kind, 0]
            for start, lasts, kind in zip(trace.arrivals, trace.durations, trace.type_of, strict=True)
            if start <= t < start + lasts
        )
        assert abs(part - held / 28) < 1e-12


def test_a_cluster_has_the_constraints_of_its_tasks():
    trace, nodes = recorded(), NodeList(**NODES)
    cluster = nodes.cluster(trace)
    assert cluster.job_classes == (
        "CPU 4",
        "CPU 8, GPU 0.5 on T4 or V100",
        "CPU 8, GPU 0.5 on V100",
    )
    assert cluster.eligible.tolist() == [[True] * 4, [True, True, False, True], [False, False, False, True]]
    assert nodes.pool(trace).capacities.tolist() == [160, 6]
    # Only types that occur are classes.
    assert nodes.cluster(trace.head(2)).n_classes == 2


@pytest.mark.parametrize("policy", [TSF(), pytest.param(PSDSF(), marks=pytest.mark.long)])
def test_equal_nodes_are_one_server_of_their_size(policy):
    trace, nodes = recorded(), NodeList(**NODES)
    single, grouped = nodes.cluster(trace), nodes.cluster(trace, grouped=True)
    assert grouped.servers == ("2 x T4: CPU 32, GPU 2", "1 x without model: CPU 64, GPU 0",
                               "1 x V100: CPU 32, GPU 2")  # fmt: skip
    counts = [3, 2, 1]
    # Both are found to some 1e-9 of a task.
    tasks = [allocate(one, policy, counts).tasks for one in (single, grouped)]
    assert tasks[0] == pytest.approx(tasks[1], abs=1e-7)


def test_a_class_per_user_holds_what_its_tasks_hold_on_average():
    trace = recorded(models=None, eligible_models=None, types=[[4, 0], [8, 0.5], [16, 1]])
    nodes = NodeList(**NODES)
    first = (60 * Fraction(4) + 30 * 8) / 90, Fraction(30, 2) / 90
    second = (10 * Fraction(8) + 16) / 11, (Fraction(10, 2) + 1) / 11
    assert nodes.pool(trace, by="user").demands == pytest.approx(
        np.array([first, second], dtype=float), rel=1e-15
    )
    assert isinstance(nodes.pool(trace), Problem)
    with pytest.raises(ModelError, match=r"'research' has tasks 'CPU 4' and 'CPU 8, GPU 0\.5 on T4"):
        nodes.cluster(recorded(), by="user")


def test_types_that_read_alike_have_names_of_their_own():
    trace = recorded(types=[[4, 0], [8.0000001, 0.5], [8.0000002, 0.5]])
    assert trace.type_names[1:] == (
        "CPU 8, GPU 0.5 on T4 or V100",
        "CPU 8, GPU 0.5 on V100",
    )
    trace = recorded(types=[[4, 0], [8.0000001, 0.5], [8.0000002, 0.5]], models=None, eligible_models=None)
    assert trace.type_names == ("CPU 4", "CPU 8, GPU 0.5 (type 2)", "CPU 8, GPU 0.5 (type 3)")


def test_nodes_and_tasks_that_do_not_belong_together_are_refused():
    nodes = NodeList(**NODES)
    with pytest.raises(ModelError, match="the nodes CPU \\(millicores\\)"):
        NodeList(**NODES | {"units": ["millicores", "devices"]}).cluster(recorded())
    with pytest.raises(ModelError, match="has '' for node 'c', but the trace lists only 'K80', 'T4', 'V100'"):
        nodes.cluster(recorded(models=["K80", "T4", "V100"]))
    with pytest.raises(ModelError, match="no class can use 'c'"):
        nodes.cluster(recorded(type_of=[1, 1, 1, 2]))
    assert nodes.only([0, 1, 3]).cluster(recorded(type_of=[1, 1, 1, 2])).n_servers == 3


def arriving(gaps, durations, cores=2.0):
    n = len(gaps)
    return ClusterTrace(["CPU"], ["cores"], np.cumsum(gaps), durations, [[cores]], [0] * n, ["u"], [0] * n)


def test_what_would_be_in_use_is_counted_second_by_second():
    rng = np.random.default_rng(4)
    trace = arriving(rng.integers(0, 4, 60), rng.integers(1, 30, 60))
    instants = range(int(trace.arrivals[0]), int((trace.arrivals + trace.durations).max()) + 1)
    running = [int(((trace.arrivals <= t) & (t < trace.arrivals + trace.durations)).sum()) for t in instants]
    assert trace.peak_usage.tolist() == [2.0 * max(running)]
    before = sum(number for t, number in zip(instants, running, strict=True) if t < trace.arrivals[-1])
    assert trace.part_done == pytest.approx(before / sum(running), rel=1e-12)


def test_a_load_that_never_builds_up_is_told():
    """475 times as fast, all arrive within minutes, and nobody ever waits: not what a load of 1.1 is."""
    nodes = NodeList(["a"], ["CPU"], ["cores"], [[200]])
    long = arriving(np.full(50, 2000.0), np.full(50, 500.0))
    fast = nodes.at_load(long, 1.1)
    assert nodes.offered_load(fast) == pytest.approx(1.1)
    assert fast.peak_usage[0] / 200 < 0.51
    note = fast.notes[-1]
    assert "load 1.1 does not build up, as the tasks outlast the" in note
    assert "CPU in use to 0.5 of the capacity at most, so that nobody has to wait for capacity" in note
    assert "tasks outlast the trace: if none waited, " in fast.summary()
    # Some would have to wait for a third of the capacity, and most of the work still comes in the end.
    more = NodeList(["a"], ["CPU"], ["cores"], [[60]]).at_load(long, 3.5)
    assert "in use to 1.67 of the capacity at most" in more.notes[-1]
    assert "nobody" not in more.notes[-1]
    # A load that builds up is told as a speed alone.
    short = arriving(np.full(5000, 20.0), np.full(5000, 500.0))
    assert nodes.at_load(short, 1.1).notes == ("arrivals 4.39912 times as fast as recorded",)
    assert "outlast" not in nodes.at_load(short, 1.1).summary()
    for load, said in ((0, "load must be a finite number > 0"), (1, "load cannot be 1: .*at one time")):
        with pytest.raises(ModelError, match=said):
            nodes.at_load(arriving([0.0, 0.0], [1, 1]), load)
