"""PS-DSF by servers on their own: feasible at all times, and it settles on the allocation of all together."""

import numpy as np
import pytest

from fairness import Cluster, ModelError, allocate
from fairness.evidence.clusters import placement_residual, resource_division_certificate
from fairness.policies.servers.distributed import PROCEDURES, distributed_psdsf
from fairness.policies.servers.engines.resource_division import separate_filling
from fairness.policies.servers.psdsf import PSDSF
from fairness.testing import random_cluster

CLUSTER = Cluster([[1.5, 1, 10], [1, 2, 10], [0.5, 1, 0], [1, 0.5, 0]], [[9, 12, 100], [12, 12, 0]])


@pytest.mark.long
@pytest.mark.parametrize("procedure", PROCEDURES)
@pytest.mark.parametrize("delay", [0.0, (0.2, 3.5)])
def test_settles_on_the_common_allocation(procedure, delay):
    rng = np.random.default_rng(0)
    for _ in range(4):
        cluster = random_cluster(rng, 4, 3, 2, weighted=True, constrained=True)
        run = distributed_psdsf(cluster, 400, delay=delay, procedure=procedure, rng=rng)
        assert run.residuals[-1] < 1e-9
        np.testing.assert_allclose(run.tasks[-1], allocate(cluster, PSDSF()).tasks, rtol=1e-7)


@pytest.mark.parametrize("procedure", PROCEDURES)
def test_feasible_at_all_times(procedure):
    activity = {3: [(0, 7.3), (12, 21.9)], 0: [(3, 40)]}
    run = distributed_psdsf(
        CLUSTER, 40, delay=(0, 5), activity=activity, sample_every=0.1, procedure=procedure, rng=1
    )
    for placement, active in zip(run.placement, run.active, strict=True):
        assert placement_residual(CLUSTER, active.astype(float), placement) < 1e-12
    assert (run.utilization <= 1 + 1e-12).all()


def test_records():
    run = distributed_psdsf(CLUSTER, 10, activity={3: [(0, 4), (6.5, 20)]}, sample_every=0.5, rng=2)
    assert run.times.tolist() == [0.5 * k for k in range(21)]
    assert run.changes == (0.0, 4.0, 6.5)
    away = (run.times >= 4) & (run.times < 6.5)
    np.testing.assert_array_equal(run.active[:, 3], ~away)
    assert not run.tasks[away, 3].any()  # gone at once
    k = int(np.flatnonzero(run.times == 6.5)[0])
    assert run.tasks[k, 3] == 0  # back with nothing
    assert run.tasks[-1, 3] > 0
    for k in (0, 9, 20):
        counts = run.active[k].astype(float)
        assert run.residuals[k] == resource_division_certificate(CLUSTER, counts, run.placement[k]).residual


def test_knowledge_is_as_old_as_the_delay():
    # What is known is 4 time units old, and nothing ran before time 0: every server fills itself as if alone.
    run = distributed_psdsf(CLUSTER, 12, delay=4, sample_every=0.25, rng=5)
    alone = separate_filling(CLUSTER, CLUSTER.weights)
    for placement in run.placement[(run.times >= 1) & (run.times < 4)]:
        np.testing.assert_allclose(placement, alone, rtol=1e-14)
    assert not np.allclose(run.placement[-1], alone)


def test_who_returns_is_not_taken_for_what_it_once_held():
    # Class 1 keeps to server 1, while server 2 knows of it. It comes back within the delay, and for as long
    # as nothing newer is known, server 2 halves itself.
    cluster = Cluster([[1], [1]], [[10], [10]], eligible=[[True, True], [False, True]])
    run = distributed_psdsf(cluster, 20, delay=4, activity={0: [(0, 10), (10.5, 20)]}, rng=6)
    np.testing.assert_allclose(run.placement[9, :, 1], [0, 10])
    for placement in run.placement[12:14]:
        np.testing.assert_allclose(placement, [[10, 5], [0, 5]])
    np.testing.assert_allclose(run.placement[-1], [[10, 0], [0, 10]])


def test_settle_times_by_hand():
    run = distributed_psdsf(CLUSTER, 60, activity={3: [(0, 30)]}, settled=1e-6, rng=3)
    for start, end, took in zip(run.changes, (30, 61), run.settle_times, strict=True):
        window = (run.times >= start + took) & (run.times < end)
        assert (run.residuals[window] <= 1e-6).all()
        before = run.residuals[(run.times >= start) & (run.times < start + took)]
        assert before.size == 0 or before[-1] > 1e-6
    short = distributed_psdsf(CLUSTER, 0.5, sample_every=0.25, settled=1e-12, rng=3)
    assert np.isnan(short.settle_times[0])


def test_a_change_after_the_last_regular_record():
    run = distributed_psdsf(CLUSTER, 10, activity={3: [(0, 9.5)]}, sample_every=3, rng=4)
    assert run.times.tolist() == [0, 3, 6, 9, 10]
    assert "from 9.5: class 1, class 2, class 3" in run.summary()


def test_intervals_that_touch_are_one():
    split, whole = (
        distributed_psdsf(CLUSTER, 12, activity={0: spans}, delay=np.int64(1), rng=5)
        for spans in ([(0, 5), (5, 9)], [(0, 9)])
    )
    assert split.changes == whole.changes == (0.0, 9.0)
    np.testing.assert_array_equal(split.placement, whole.placement)


def test_the_seed_decides():
    one, two, other = (distributed_psdsf(CLUSTER, 5, delay=(0, 2), rng=seed) for seed in (7, 7, 8))
    np.testing.assert_array_equal(one.placement, two.placement)
    assert not np.array_equal(one.placement, other.placement)


def test_table():
    run = distributed_psdsf(CLUSTER, 5, rng=9)
    frame = run.to_dataframe()
    np.testing.assert_array_equal(frame["class 3"].to_numpy(), run.tasks[:, 2])
    np.testing.assert_array_equal(frame["residual"].to_numpy(), run.residuals)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"horizon": 0}, "horizon must be a finite number > 0"),
        ({"period": -1}, "period must be"),
        ({"sample_every": 0}, "sample_every must be"),
        ({"delay": -1}, "delay must be"),
        ({"delay": (2, 1)}, "delay must be"),
        ({"procedure": "guess"}, "procedure must be one of"),
        ({"activity": {4: [(0, 1)]}}, "activity names class 4"),
        ({"activity": {"class 1": [(0, 1)]}}, "activity names class 'class 1'; classes are numbered 0..3"),
        ({"activity": {0.5: [(0, 1)]}}, "activity names class 0.5"),
        ({"activity": {0: [(1, 1)]}}, "empty interval"),
        ({"activity": {0: [(np.nan, 1)]}}, "empty interval"),
        ({"activity": {0: (0, 1)}}, r"activity\[0\] must be a list of intervals, for example \[\(0, 10\)\]"),
        ({"activity": [(0, 1)]}, "activity must map class numbers to intervals"),
        ({"horizon": "long"}, r"horizon must be a finite number > 0 and <= 1e\+300; got 'long'"),
        ({"period": None}, "period must be a finite number > 0 .*; got None"),
        ({"horizon": np.inf}, "horizon must be a finite"),
        ({"delay": None}, "delay must be"),
        ({"delay": (1, 2, 3)}, "delay must be"),
        ({"delay": "ab"}, "delay must be"),
        ({"settled": np.nan}, "settled must be a finite number > 0"),
        ({"cluster": "cluster"}, "distributed_psdsf needs a Cluster; got str"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ModelError, match=message):
        distributed_psdsf(**{"cluster": CLUSTER, "horizon": 1, **arguments})


def test_between_two_changes_without_a_record_nothing_is_told():
    cluster = Cluster([[1, 2], [1, 1]], [[9, 12], [12, 6]])
    run = distributed_psdsf(cluster, 40, activity={1: [(0, 5), (6, 100)]}, sample_every=10, rng=0)
    assert "from 5: not recorded" in run.summary()
    assert "from 6: class 1, class 2; settled" in run.summary()
