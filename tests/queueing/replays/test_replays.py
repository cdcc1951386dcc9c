"""Replays against their definition, event by event, and against queues whose waits are known."""

import math
from itertools import product

import numpy as np
import pytest
from matplotlib.figure import Figure

from fairness import DRF, PSDSF, TSF, BottleneckMax, Hierarchical, ModelError, NotConvergedError, Tree
from fairness.display.storage import dumps, loads
from fairness.machine import compiling
from queueing import (
    BestFit,
    BMFScheduler,
    ClusterTrace,
    DRFScheduler,
    FIFOScheduler,
    FirstFit,
    NodeList,
    OnArrival,
    PFScheduler,
    PowerOfChoices,
    RandomFit,
    TargetScheduler,
    WorstFit,
    replay,
)
from queueing.replays import running
from queueing.replays.time_series import Moment, Started
from tests.oracles.replay_reference import RESOURCES, UNITS, random_trace, require_by_definition

WEIGHTS = [1, 2, 3]
PLACEMENTS = (BestFit(), FirstFit(), WorstFit(), BestFit("alignment"), RandomFit(), PowerOfChoices(2))


def halves(problem, counts):
    """Each present user may have half of an equal part of every resource."""
    present = np.asarray(counts) * problem.weights
    part = present / np.maximum(present.sum(axis=-1, keepdims=True), 1e-300) / 2
    return part / problem.task_shares.max(axis=1)


QUICK = (
    FIFOScheduler(),
    FIFOScheduler(blocking=False),
    DRFScheduler(),
    DRFScheduler(blocking=False),
    DRFScheduler(blocking=False, ties="random"),
    TargetScheduler(halves, blocking=False),
)
TREE = Tree.from_dict({"root": {"queues": {"one": {"classes": ["a"]}, "two": {"classes": ["b", "c"]}}}})
OTHERS = (
    TargetScheduler(DRF(), blocking=False),
    DRFScheduler(ties="random"),
    PFScheduler(),
    PFScheduler(blocking=False),
    TargetScheduler(BottleneckMax(), blocking=False),
    TargetScheduler(TSF(), blocking=False),
    TargetScheduler(PSDSF(), blocking=False, ties="random"),
    TargetScheduler(Hierarchical(TREE, DRF()), blocking=False),
)


def same(one, other):
    """Whether two replays agree in every start."""
    if one.devices_of is not None:
        np.testing.assert_array_equal(one.devices_of, other.devices_of)
    np.testing.assert_array_equal(one.starts, other.starts)
    np.testing.assert_array_equal(one.node_of, other.node_of)


@pytest.mark.parametrize("k", range(len(QUICK)), ids=lambda k: f"{k} {QUICK[k].name}")
def test_every_start_follows_from_the_rules(k):
    placement = PLACEMENTS[k]
    trace, nodes = random_trace(np.random.default_rng(k), 14)
    record = replay(trace, nodes, QUICK[k], placement=placement, weights=WEIGHTS, rng=1)
    assert record.waits.max() > 0  # else the order does not matter
    require_by_definition(record, QUICK[k], placement, WEIGHTS)


@pytest.mark.long
@pytest.mark.parametrize("scheduler", QUICK + OTHERS, ids=lambda one: one.name)
def test_compiled_or_not_every_start_follows_from_the_rules(scheduler, monkeypatch):
    monkeypatch.setattr(compiling, "PATIENCE", math.inf)
    for seed, placement in product(range(3), PLACEMENTS):
        trace, nodes = random_trace(np.random.default_rng([seed, 7]), 24, models=seed > 0)
        options = {"placement": placement, "weights": WEIGHTS, "rng": seed}
        monkeypatch.setattr(compiling, "SMALL", 0.0)
        record = replay(trace, nodes, scheduler, **options)
        require_by_definition(record, scheduler, placement, WEIGHTS)
        monkeypatch.setattr(compiling, "SMALL", math.inf)
        same(record, replay(trace, nodes, scheduler, **options))


def test_drf_serves_the_user_who_holds_least():
    trace = ClusterTrace(
        ["CPU"], ["cores"], [0] * 6 + [1] * 2, [10, 10, 20, 20] + [10] * 4, [[4]], [0] * 8, ["a", "b"],
        [0] * 6 + [1] * 2,
    )  # fmt: skip
    nodes = NodeList(["node"], ["CPU"], ["cores"], [[16]])
    assert replay(trace, nodes, FIFOScheduler()).starts.tolist() == [0, 0, 0, 0, 10, 10, 20, 20]
    # At 10 user a holds two tasks and b none.
    assert replay(trace, nodes, DRFScheduler()).starts.tolist() == [0, 0, 0, 0, 20, 20, 10, 10]
    # Of weight 3, a is behind b as soon as b has one task: 2/3 < 1.
    starts = replay(trace, nodes, DRFScheduler(), weights={"a": 3}).starts
    assert starts.tolist() == [0, 0, 0, 0, 10, 20, 10, 20]


def test_a_policy_is_asked_when_users_come_and_go():
    def policy(problem, counts):
        """While c is there, a is to have nine times as much as b; without c, b as much more than a."""
        a, b, c = np.asarray(counts).T > 0
        return np.stack([a * np.where(c, 0.9, 0.1), b * np.where(c, 0.1, 0.9), c * 1e-3], axis=-1)

    # Of four cores a, b and c hold one each, c until 2.5; from 0.125 on tasks of a and b wait, of one second.
    trace = ClusterTrace(
        ["CPU"], ["cores"], [0] * 3 + [0.125] * 8, [9, 9, 2.5] + [1] * 8, [[1]], [0] * 11, ["a", "b", "c"],
        [0, 1, 2, 0, 0, 0, 0, 0, 1, 1, 1],
    )  # fmt: skip
    nodes = NodeList(["x"], ["CPU"], ["cores"], [[4]])
    starts = replay(trace, nodes, TargetScheduler(policy)).starts[3:]
    assert starts.tolist() == [0.125, 1.125, 2.125, 4.125, 4.5, 2.5, 3.125, 3.5]


def test_one_server_first_in_first_out_is_lindleys_recursion():
    rng = np.random.default_rng(5)
    n = 400
    arrivals, durations = np.cumsum(rng.exponential(1.0, n)), rng.exponential(0.8, n)
    trace = ClusterTrace(["server"], ["servers"], arrivals, durations, [[1]], [0] * n, ["all"], [0] * n)
    waits = replay(trace, NodeList(["one"], ["server"], ["servers"], [[1]]), FIFOScheduler()).waits
    expected = np.zeros(n)
    for k in range(1, n):
        expected[k] = max(0.0, expected[k - 1] + durations[k - 1] - (arrivals[k] - arrivals[k - 1]))
    # Sums of at most n numbers below 1e3: rounding stays below 1e-10.
    np.testing.assert_allclose(waits, expected, atol=1e-10, rtol=0)
    assert (waits > 0).mean() > 0.5


@pytest.mark.long
def test_a_tree_of_queues_gets_what_its_queues_are_entitled_to():
    # All arrive at once and wait; queue one has user a, queue two b and c.
    rng = np.random.default_rng(0)
    n = 600
    trace = ClusterTrace(
        ["CPU"], ["cores"], np.zeros(n), rng.exponential(10.0, n), [[1]], np.zeros(n, int), ["a", "b", "c"],
        np.arange(n) % 3,
    )  # fmt: skip
    nodes = NodeList(["x", "y"], ["CPU"], ["cores"], [[4], [4]])
    for scheduler, shares in (
        (TargetScheduler(Hierarchical(TREE, DRF())), [0.5, 0.25, 0.25]),
        (DRFScheduler(), [1 / 3] * 3),
    ):
        paths = replay(trace, nodes, scheduler, until=500).over_time(100)
        assert (~np.isnan(paths.envy)).all()  # all wait all the time
        # Eight cores: a turn is off by less than one of them.
        assert (abs(paths.shares - shares) < 1 / 8 + 1e-9).all()
        assert paths.shares.mean(axis=0) == pytest.approx(shares, abs=0.05)


@pytest.mark.long
@pytest.mark.parametrize("scheduler", [FIFOScheduler(), DRFScheduler(), PFScheduler()], ids=repr)
def test_mean_wait_of_many_servers_is_erlangs(scheduler):
    # M/M/c, c = 8 on two nodes, load 0.8; two users with tasks alike, so no order changes the mean wait.
    servers, load, n, runs = 8, 0.8, 60_000, 16
    offered = servers * load
    term = offered**servers / math.factorial(servers) / (1 - load)
    delay = term / (sum(offered**k / math.factorial(k) for k in range(servers)) + term)
    expected = delay / (servers * (1 - load))
    means = []
    for rng in np.random.default_rng(11).spawn(runs):
        arrivals, durations = np.cumsum(rng.exponential(1 / offered, n)), rng.exponential(1.0, n)
        trace = ClusterTrace(
            ["server"],
            ["servers"],
            arrivals,
            durations,
            [[1]],
            np.zeros(n, int),
            ["a", "b"],
            rng.integers(0, 2, n),
        )
        nodes = NodeList(["x", "y"], ["server"], ["servers"], [[4], [4]])
        means.append(replay(trace, nodes, scheduler).waits[2_000:].mean())
    error = np.std(means, ddof=1) / math.sqrt(runs)
    # Student's law with 15 degrees of freedom: beyond 7.0 errors once in 2e5 seeds, and the seed is fixed.
    assert abs(np.mean(means) - expected) < 7.0 * error
    assert error < 0.02 * expected


def test_nothing_is_ever_used_twice():
    for seed in range(3):
        trace, nodes = random_trace(np.random.default_rng([seed, 3]), 60)
        record = replay(trace, nodes, DRFScheduler(blocking=False), placement=RandomFit(), rng=seed)
        started = Started(trace, nodes, record.starts, record.ends, record.node_of, record.devices_of)
        for time in np.unique(record.starts):
            runs = np.flatnonzero((record.starts <= time) & (record.ends > time))
            used, devices = np.zeros(nodes.capacities.shape), np.zeros((nodes.n_nodes, 64))
            for k in runs:
                demand, node = trace.types[trace.type_of[k]], record.node_of[k]
                used[node] += demand
                taken = [d for d in range(64) if record.devices_of[k] >> d & 1]
                assert len(taken) == math.ceil(demand[2])
                devices[node, taken] += min(demand[2], 1.0)
            assert (used <= nodes.capacities).all()
            assert (devices <= 1.0).all()
            assert not devices[nodes.capacities[:, 2][:, None] <= np.arange(64)].any()
            # The moments of the record see the same.
            np.testing.assert_array_equal(Moment(started, time).used, used)


def test_a_replay_goes_on_from_its_checkpoint(tmp_path, monkeypatch):
    trace, nodes = random_trace(np.random.default_rng(4), 120)
    scheduler = DRFScheduler(blocking=False, ties="random")
    options = {"placement": PowerOfChoices(2), "weights": {"b": 2.0}}
    whole = replay(trace, nodes, scheduler, rng=9, **options)
    monkeypatch.setattr(running, "SHORT_STRIDE", 20)
    monkeypatch.setattr(running, "KEPT", 0.0)
    monkeypatch.setattr("fairness.machine.work.SHOWN", -1.0)
    path = tmp_path / "kept"
    for last in range(30, 230, 20):

        def stop(progress, last=last):
            if progress.done >= last:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt) as caught:
            replay(trace, nodes, scheduler, rng=9, checkpoint=path, progress=stop, **options)
        best = caught.value.best
        done = ~np.isnan(best.starts)
        assert done.any()
        np.testing.assert_array_equal(best.starts[done], whole.starts[done])
    same(replay(trace, nodes, scheduler, checkpoint=path, **options), whole)
    same(replay(trace, nodes, scheduler, checkpoint=path, **options), whole)
    with pytest.raises(ModelError, match=r"scheduler was .DRFScheduler"):
        replay(trace, nodes, DRFScheduler(), checkpoint=path, rng=9, **options)
    with pytest.raises(ModelError, match="trace was"):
        replay(trace.head(9), nodes, scheduler, checkpoint=path, rng=9, **options)


def test_a_checkpoint_that_has_drawn_in_blocks_is_refused(tmp_path, monkeypatch):
    trace, nodes = random_trace(np.random.default_rng(4), 60)
    piece_of = running.piece_of
    monkeypatch.setattr(running, "piece_of", lambda *given: dumps(loads(piece_of(*given)) | {"blocks": 1}))
    for placement, drawn in ((BestFit(), False), (RandomFit(), True)):
        path = tmp_path / placement.name
        whole = replay(trace, nodes, FIFOScheduler(), placement=placement, rng=9, checkpoint=path)
        if drawn:
            with pytest.raises(ModelError, match="has drawn random numbers in blocks"):
                replay(trace, nodes, FIFOScheduler(), placement=placement, checkpoint=path)
        else:
            same(replay(trace, nodes, FIFOScheduler(), placement=placement, checkpoint=path), whole)


def test_a_replay_that_follows_a_policy_reports_and_stops_between_two_answers(tmp_path, monkeypatch):
    # The users present change more often than the kernel reports.
    trace, nodes = random_trace(np.random.default_rng(7), 60)
    scheduler = TargetScheduler(DRF(), blocking=False, ties="random")
    whole = replay(trace, nodes, scheduler, rng=9)
    assert 2 * trace.n_tasks < running.SHORT_STRIDE
    monkeypatch.setattr("fairness.machine.work.SHOWN", -1.0)
    path = tmp_path / "kept"
    for last in (1, 30, 80):

        def stop(progress, last=last):
            if progress.done >= last:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt) as caught:
            replay(trace, nodes, scheduler, rng=9, checkpoint=path, progress=stop)
        assert (
            last
            <= (caught.value.best.ends <= caught.value.best.end).sum()
            + (trace.arrivals <= caught.value.best.end).sum()
            < 2 * trace.n_tasks
        )
    same(replay(trace, nodes, scheduler, checkpoint=path), whole)


def test_a_replay_ends_where_it_is_told(monkeypatch):
    trace, nodes = random_trace(np.random.default_rng(2), 40)
    whole = replay(trace, nodes, DRFScheduler())
    part = replay(trace, nodes, DRFScheduler(), until=9)
    early = whole.starts <= 9
    np.testing.assert_array_equal(part.starts[early], whole.starts[early])
    assert np.isnan(part.starts[~early]).all()
    assert part.end == 9
    seconds = np.clip(np.minimum(whole.ends, 9) - np.minimum(whole.starts, 9), 0, None)
    used = (seconds[:, None] * trace.types[trace.type_of]).sum(axis=0) / (9 - trace.arrivals[0])
    np.testing.assert_allclose(part.utilization, used / nodes.total_capacities, rtol=1e-12)
    # The whole record says the same of that time; what comes later does not count.
    np.testing.assert_allclose(whole.utilization_until(part.end), part.utilization, rtol=1e-12)
    assert (whole.utilization_until(10 * whole.end) == whole.utilization).all()
    assert "until the last arrival" in whole.summary()
    with pytest.raises(NotConvergedError, match="arrivals and ends are done") as caught:
        replay(trace, nodes, DRFScheduler(), time_limit=0)
    assert "started" in repr(caught.value.best)


def test_paths_are_what_their_definitions_say():
    trace, nodes = random_trace(np.random.default_rng(8), 50)
    record = replay(trace, nodes, DRFScheduler(), weights=WEIGHTS)
    paths = record.over_time(25)
    total = nodes.total_capacities
    seen = 0
    for k, now in enumerate(paths.times):
        runs = np.flatnonzero((record.starts <= now) & (record.ends > now))
        waits = np.flatnonzero((trace.arrivals <= now) & (record.starts > now))
        held = np.zeros((3, 3))
        for task in runs:
            held[trace.user_of[task]] += trace.types[trace.type_of[task]]
        np.testing.assert_allclose(paths.utilization[k], held.sum(axis=0) / total, rtol=1e-12)
        np.testing.assert_allclose(paths.shares[k], (held / total).max(axis=1), rtol=1e-12)
        present = [u for u in range(3) if (trace.user_of[[*runs, *waits]] == u).any()]
        right = [WEIGHTS[u] / sum(WEIGHTS[v] for v in present) if u in present else 0 for u in range(3)]
        np.testing.assert_allclose(paths.entitlements[k], right, rtol=1e-12)
        assert (paths.running[k], paths.waiting[k]) == (len(runs), len(waits))
        for u in range(3):
            mine = [task for task in waits if trace.user_of[task] == u]
            if not mine:
                assert math.isnan(paths.envy[k, u])
                continue
            seen += 1
            demand = trace.types[trace.type_of[min(mine)]]

            def tasks(bundle, demand=demand):
                return min(b / d for b, d in zip(bundle, demand, strict=True) if d > 0)

            best = max(tasks(held[v] * WEIGHTS[u] / WEIGHTS[v]) for v in range(3))
            envy = (best - tasks(held[u])) * (demand / total).max()
            assert paths.envy[k, u] == pytest.approx(envy, abs=1e-12)
    assert seen > 5
    who = [len(set(trace.user_of[(trace.arrivals <= t) & (record.starts > t)])) for t in paths.times]
    assert (np.isnan(paths.jain) | (np.array(who) > 1)).all()


def test_a_user_has_one_colour_in_all_figures():
    """Panels order users by their shares; colours are those of the users."""
    trace = ClusterTrace(
        ["CPU"], ["cores"], [0] * 9, [9, 9, 9, 5, 5, 5, 7, 7, 7], [[1], [2], [4]],
        [0, 0, 0, 1, 1, 1, 2, 2, 2],
        ["small", "middle", "large"], [0, 0, 0, 1, 1, 1, 2, 2, 2],
    )  # fmt: skip
    record = replay(trace, NodeList(["n"], ["CPU"], ["cores"], [[10]]), FIFOScheduler(blocking=False))
    paths = record.over_time(20)

    def colours(ax):
        return {line.get_label(): line.get_color() for line in ax.lines if line.get_label() in trace.users}

    shown = colours(record.plot(Figure().subplots()))
    assert len(set(shown.values())) == 3
    for what in ("shares", "envy"):
        assert colours(paths.plot(Figure().subplots(), what)) == shown
    assert list(colours(paths.plot(Figure().subplots(), "shares"))) != list(trace.users)  # another order


def test_stranded_and_fragmented_capacity_by_hand():
    # Two nodes with two devices each; two tasks of 0.6 and one of 1 run; what waits needs two devices.
    trace = ClusterTrace(
        ["CPU", "GPU"], ["cores", "devices"], [0, 0, 0, 1], [9, 9, 9, 1], [[1, 0.6], [1, 1], [1, 2]],
        [0, 0, 1, 2], ["u"], [0] * 4, devices="GPU",
    )  # fmt: skip
    nodes = NodeList(["x", "y"], ["CPU", "GPU"], ["cores", "devices"], [[2, 2], [4, 2]])
    record = replay(trace, nodes, FIFOScheduler(), placement=FirstFit(), until=2)
    # The second task of 0.6 opens a second device, x has no core left, and y has one device.
    assert record.node_of.tolist() == [0, 0, 1, -1]
    assert record.devices_of.tolist() == [1, 2, 1, 0]
    paths = record.over_time(3)
    assert paths.stranded[-1].tolist() == pytest.approx([3 / 6, (0.8 + 1) / 4])
    assert not paths.stranded[0].any()
    # x has no core, so all of its 0.8 is lost; y serves 0.6 and 1, but not 2: its device is too few.
    assert paths.fragmentation[-1] == pytest.approx((0.8 + 0.25 * 1) / 4)


def test_what_makes_no_sense_is_refused():
    trace, nodes = random_trace(np.random.default_rng(1), 10)
    with pytest.raises(ModelError, match=r"TargetScheduler\(BottleneckMax\(\)\)"):
        replay(trace, nodes, BMFScheduler())
    with pytest.raises(ModelError, match=r"follow a policy with TargetScheduler"):
        replay(trace, nodes, DRF())
    with pytest.raises(ModelError, match="binds jobs to servers"):
        replay(trace, nodes, DRFScheduler(), placement=OnArrival())
    with pytest.raises(ModelError, match="names 'd', who is no user"):
        replay(trace, nodes, DRFScheduler(), weights={"d": 1})
    with pytest.raises(ModelError, match=r"weights must be finite and > 0; got 0\.0 .*'b'"):
        replay(trace, nodes, DRFScheduler(), weights=[1, 0, 1])
    with pytest.raises(ModelError, match="until"):
        replay(trace, nodes, DRFScheduler(), until=-1)
    few = NodeList(["x", "y"], RESOURCES, UNITS, [[2, 9, 8], [9, 2, 8]], ["T", ""])
    with pytest.raises(ModelError, match=r"task \d+ .* of user '[abc]' demands .* fits on no node") as caught:
        replay(trace, few, DRFScheduler())
    assert caught.value.argument == "trace"
    fits = [
        any((trace.types[t] <= few.capacities[k]).all() and trace.eligible_models[t, k] for k in range(2))
        for t in trace.type_of
    ]
    part = replay(trace, few, DRFScheduler(), never_fits="drop")
    np.testing.assert_array_equal(part.trace.arrivals, trace.arrivals[fits])
    assert part.trace.notes[-1] == f"{10 - sum(fits)} tasks fit on no node: dropped"
    half = NodeList(["x"], RESOURCES, UNITS, [[9, 9, 4.5]], ["T"])
    with pytest.raises(ModelError, match=r"'x' has 4\.5 of 'GPU', which are devices"):
        replay(random_trace(np.random.default_rng(1), 10, models=False)[0], half, DRFScheduler())
    other = NodeList(["x"], ["CPU", "RAM", "TPU"], UNITS, [[9, 9, 4]], ["T"])
    with pytest.raises(ModelError, match="trace counts"):
        replay(trace, other, DRFScheduler())


def test_random_numbers_do_not_run_out() -> None:
    """Once numbers came in blocks of 4,096, of which a tie took the last and the node one beyond."""
    # Two users a second, tied when they arrive, take three numbers; 4,096 are 3 x 1,365 and one.
    seconds = 1366
    both = 2 * seconds
    trace = ClusterTrace(
        ["CPU"], ["cores"], np.repeat(np.arange(seconds), 2), [0.5] * both, [[1]], [0] * both, ["a", "b"],
        [0, 1] * seconds,
    )  # fmt: skip
    nodes = NodeList(["node", "other"], ["CPU"], ["cores"], [[2], [2]])
    record = replay(trace, nodes, DRFScheduler(ties="random"), placement=RandomFit(), rng=0)
    np.testing.assert_array_equal(record.waits, 0)
    # As the power of one choice, to the last number.
    one = replay(trace, nodes, DRFScheduler(ties="random"), placement=PowerOfChoices(1), rng=0)
    np.testing.assert_array_equal(record.node_of, one.node_of)
