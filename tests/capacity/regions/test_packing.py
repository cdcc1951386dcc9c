"""Regions of whole tasks against enumeration, Qhull and schedules checked by hand."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

from capacity import stability_region
from capacity.regions.whole_tasks import packing_region
from fairness import Cluster, ModelError, Problem


def brute_force(demands, capacities, eligible=None):
    """All configurations of one server, by trying every vector up to what each class runs alone."""
    demands, capacities = np.asarray(demands), np.asarray(capacities)
    n = len(demands)
    eligible = np.ones(n, dtype=bool) if eligible is None else np.asarray(eligible, dtype=bool)
    most = [
        min(int(c // d) for d, c in zip(row, capacities, strict=True) if d > 0) if ok else 0
        for row, ok in zip(demands, eligible, strict=True)
    ]
    vectors = product(*(range(k + 1) for k in most))
    return [k for k in vectors if (np.array(k) @ demands <= capacities).all()]


def maximal(vectors):
    known = set(vectors)
    return sorted(
        k for k in known if not any((*k[:n], k[n] + 1, *k[n + 1 :]) in known for n in range(len(k)))
    )


def random_servers(rng, n, s, m, top=12):
    while True:
        demands, capacities = rng.integers(0, 5, (n, m)), rng.integers(0, top, (s, m))
        eligible = rng.random((n, s)) < 0.8
        try:
            return Cluster(demands, capacities, eligible=eligible)
        except ModelError:
            continue


def check_evidence(evidence, can_hold):
    """Both proofs by hand; ``can_hold[i]`` are all configurations of server i."""
    prices = np.where(np.isfinite(evidence.prices), evidence.prices, 0)
    for i, plan in enumerate(evidence.schedule):
        assert sum(part for part, _ in plan) <= evidence.relative_load * (1 + 1e-13)
        assert all(part > 0 and tasks in can_hold[i] for part, tasks in plan)
        mean = sum((part * np.array(tasks) for part, tasks in plan), start=np.zeros(len(prices)))
        np.testing.assert_allclose(evidence.placement[:, i], mean, rtol=1e-13)
        most = max(prices @ np.array(tasks) for tasks in can_hold[i])
        assert most == pytest.approx(evidence.earnings[i], rel=1e-13)
    # Sums of a few dozen floats.
    assert (evidence.placement.sum(axis=1) >= evidence.loads * (1 - 1e-13)).all()
    assert (evidence.prices >= 0).all()
    if evidence.loads.any():
        assert evidence.earnings.sum() == pytest.approx(1.0, rel=1e-12)
        assert prices @ evidence.loads == pytest.approx(evidence.bound, rel=1e-13)
    assert evidence.relative_load - evidence.bound <= 1e-9 * evidence.relative_load


@pytest.mark.parametrize("seed", range(40))
def test_configurations_and_hull_of_a_pool_equal_brute_force(seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 5)), int(rng.integers(1, 4))
    demands, capacities = rng.integers(0, 5, (n, m)), rng.integers(0, 12, m)
    demands[~demands.any(axis=1), 0] = 1
    region = packing_region(Problem(demands, capacities))
    every = brute_force(demands, capacities)
    assert [tuple(k) for k in region.packings[0].configurations.tolist()] == maximal(every)
    alone = np.max(every, axis=0)
    assert region.pinned == tuple(np.flatnonzero(alone == 0))
    if region.pinned:
        assert region.exact_volume == 0
        assert not region.vertices[:, list(region.pinned)].any()
    elif n > 1:
        hull = ConvexHull(np.array(every))
        # Qhull on small integers.
        assert float(region.exact_volume) == pytest.approx(hull.volume, rel=1e-10)
        corners = {every[k] for k in hull.vertices}
        assert set(region.exact_vertices) <= {tuple(map(Fraction, k)) for k in every}
        assert {tuple(map(Fraction, k)) for k in corners} == set(region.exact_vertices)
    for _ in range(3):
        prices = rng.integers(-2, 6, n)
        best = region.support(prices)
        assert best.value == max(prices @ np.array(k) for k in every)
        assert tuple(best.load.astype(int)) in every
        assert prices @ best.load == best.value


@pytest.mark.long
@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 4))
def test_clusters_and_their_schedules(seed, n, s):
    rng = np.random.default_rng(seed)
    cluster = random_servers(rng, n, s, int(rng.integers(1, 3)))
    region = packing_region(cluster)
    can_hold = [
        brute_force(cluster.demands, c, e)
        for c, e in zip(cluster.capacities, cluster.eligible.T, strict=True)
    ]
    assert sorted(i for packing in region.packings for i in packing.servers) == list(range(s))
    for packing in region.packings:
        for i in packing.servers:
            assert [tuple(k) for k in packing.configurations.tolist()] == maximal(can_hold[i])
    prices = rng.uniform(-0.5, 1.0, n)
    most = sum(max(prices @ np.array(k) for k in vectors) for vectors in can_hold)
    assert region.support(prices).value == pytest.approx(most, rel=1e-13)
    loads = rng.integers(0, 6, n)
    evidence = region.judge(loads)
    if loads[list(region.pinned)].any():
        assert evidence.relative_load == evidence.bound == np.inf
        assert np.isinf(evidence.prices[list(region.pinned)]).all()
        assert not region.contains(loads)
        with pytest.raises(ModelError, match="which no server can run"):
            region.exact_relative_load(loads.tolist())
    elif region.pinned != tuple(range(n)):
        check_evidence(evidence, can_hold)
        exact = region.exact_relative_load(loads.tolist())
        assert evidence.relative_load == pytest.approx(float(exact), rel=1e-9)
        if exact != 1:
            assert evidence.fits == (exact < 1)
            assert evidence.refuted == (exact > 1)
        # The hull of whole tasks is inside that of divisible ones: exactly.
        assert exact >= stability_region(cluster).exact_relative_load(loads.tolist())
    # Qhull on all sums of configurations.
    live = list(region.live)
    if len(live) > 1:
        sums = {(0,) * len(live)}
        for vectors in can_hold:
            best = {tuple(np.array(k)[live]) for k in vectors}
            sums = {tuple(map(sum, zip(a, b, strict=True))) for a in sums for b in best}
        assert (np.array(list(sums)) @ region.facets.normals[:, live].T <= region.facets.offsets).all()
        hull = ConvexHull(np.array(list(sums)))
        normals, offsets = (array.astype(int) for array in region.facets)
        pool = stability_region(Problem(normals[:, live].T, offsets))
        assert hull.volume == pytest.approx(pool.volume, rel=1e-10)
        assert region.exact_volume == (pool.exact_volume if len(live) == n else 0)


def test_identical_servers_scale():
    one = packing_region(Cluster([[3, 2], [2, 5]], [[10, 11]]))
    many = packing_region(Cluster([[3, 2], [2, 5]], [[10, 11]] * 7))
    assert many.packings[0].copies == many.n_servers == 7
    assert many.exact_volume == 49 * one.exact_volume
    assert many.exact_vertices == tuple(tuple(7 * v for v in point) for point in one.exact_vertices)
    assert many.exact_loss == one.exact_loss > 0
    evidence = many.judge([7, 3])
    np.testing.assert_allclose(evidence.placement, evidence.placement[:, :1].repeat(7, axis=1))
    # One server of seven times the capacity loses less.
    assert packing_region(Cluster([[3, 2], [2, 5]], [[70, 77]])).exact_loss < one.exact_loss
    # Servers that differ in capacity but not in what they hold are one kind.
    alike = packing_region(Cluster([[2], [4]], [[8], [9]]))
    assert alike.packings[0].servers == (0, 1)


def test_nothing_is_lost_where_every_corner_is_whole():
    assert packing_region(Problem([[1], [1], [1]], [9])).exact_loss == 0
    assert packing_region(Problem(np.eye(3, dtype=int), [2, 3, 4])).exact_loss == 0
    # One class: the floor.
    assert packing_region(Problem([[3]], [10])).exact_loss == Fraction(1, 10)
    # The loss falls with the size of the servers.
    losses = [packing_region(Problem([[3, 1], [1, 4]], [c, c])).loss for c in (4, 16, 64, 256)]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < 0.02


def test_a_task_that_fits_nowhere():
    region = packing_region(Cluster([[1], [5]], [[4], [4]]))
    assert region.pinned == (1,)
    assert region.exact_volume == 0
    assert region.exact_loss == 1
    assert region.exact_vertices == ((0, 0), (8, 0))
    assert region.contains([7, 0])
    assert not region.contains([1, 0.1])
    assert region.slack([0, 1]) == -np.inf
    assert region.max_scale([0, 1]) == 0.0
    np.testing.assert_array_equal(region.boundary([1, 0]), [8, 0])
    assert "load must be 0: class 2" in repr(region)
    # A pool that has nothing of what is demanded, and one whose classes are all too large.
    assert packing_region(Problem([[1, 0], [1, 1]], [3, 0])).pinned == (1,)
    nothing = packing_region(Problem([[5], [7]], [4]))
    assert nothing.exact_vertices == ((0, 0),)
    assert nothing.judge([0, 0]).relative_load == 0
    assert nothing.judge([1, 0]).relative_load == np.inf
    assert nothing.exact_facets == ()
    assert nothing.exact_relative_load([0, 0]) == 0
    assert nothing.support([1, 1]).value == 0
    assert packing_region(Problem([[1.0], [4.5]], [3.0])).loss == 1.0


def test_floats_are_rounded():
    # Ten tasks of 0.1 fill 1.0 although 10 * Fraction(0.1) > 1.
    tenths = packing_region(Problem([[0.1], [0.3]], [1.0]))
    whole = packing_region(Problem([[1], [3]], [10]))
    np.testing.assert_array_equal(tenths.packings[0].configurations, whole.packings[0].configurations)
    assert tenths.exact_volume == whole.exact_volume
    assert tenths.exact_loss is None
    assert tenths.loss == pytest.approx(whole.loss, rel=1e-12)
    cluster = packing_region(Cluster([[0.1, 0.7], [0.3, 0.2]], [[1.1, 2.1], [0.7, 0.7]]))
    exact = packing_region(Cluster([[1, 7], [3, 2]], [[11, 21], [7, 7]]))
    assert cluster.exact_facets == exact.exact_facets
    assert cluster.loss == pytest.approx(exact.loss, rel=1e-10)


def test_numbers_beyond_64_bits():
    big = 10**25
    region = packing_region(Problem([[2 * big], [3 * big]], [7 * big + 1]))
    assert region.packings[0].configurations.tolist() == [[0, 2], [2, 1], [3, 0]]


def test_many_tasks_on_many_servers():
    # Together 2^64 tasks, which 64 bits would take for none.
    region = packing_region(Cluster([[1]], [[2**61]] * 8))
    assert region.pinned == ()
    assert region.exact_vertices == ((0,), (2**64,))
    assert region.judge([2.0**63]).relative_load == pytest.approx(0.5, rel=1e-9)


def test_fast_tasks_take_less():
    # Twice as fast: twice as many fit on server 2.
    region = packing_region(Cluster([[2]], [[5], [5]], gamma=[[Fraction(5, 2), 5]]))
    assert region.exact_vertices == ((0,), (7,))


def test_many_classes_by_queries():
    rng = np.random.default_rng(11)
    cluster = Cluster(rng.integers(2, 9, (7, 2)), rng.integers(14, 22, (5, 2)))
    region = packing_region(cluster)
    assert repr(region) == "PackingRegion of 7 classes on 5 servers"
    can_hold = {
        i: set(map(tuple, packing.configurations.tolist()))
        for packing in region.packings
        for i in packing.servers
    }
    for loads in (rng.random(7), np.r_[rng.random(3), np.zeros(4)], 10.0 ** rng.uniform(-14, 0, 7)):
        evidence = region.judge(region.boundary(loads))
        check_evidence(evidence, can_hold)
        assert evidence.relative_load == pytest.approx(1.0, rel=3e-9)


@pytest.mark.parametrize("tiny", [1e-10, 1e-12, 1e-20])
def test_loads_below_the_tolerance_of_the_solver_are_scheduled(tiny):
    for model in (Problem([[2], [3]], [7]), Cluster([[1, 2], [5, 1]], [[5, 5], [4, 4]])):
        for loads in ([1.0, tiny], [tiny, 1.0]):
            evidence = packing_region(model).judge(loads)
            assert (evidence.placement.sum(axis=1) >= np.array(loads) * (1 - 1e-13)).all()


@pytest.mark.parametrize(
    ("message", "model", "options"),
    [
        (r"the pool has room for 1.0e\+20 tasks of one class, too many", Problem([[1]], [10**20]), {}),
        (r"the pool has room for 1.0e\+30 tasks of one class, too many", Problem([[1e-30]], [1.0]), {}),
        (
            r"the pool has more than 200,000 configurations of whole tasks \(at least",
            Problem([[1, 2], [2, 1], [1, 1], [3, 1]], [10**9, 10**9]),
            {},
        ),
        (
            r"'b' has more than 100 configurations .*raise max_configurations",
            Cluster([[1, 1], [1, 2], [2, 1]], [[5, 5], [50, 50]], servers=["a", "b"]),
            {"max_configurations": 100},
        ),
        (r"job class 'class 2' demands nothing", Problem([[1], [0]], [1], limits=[np.inf, 1]), {}),
    ],
)
def test_what_cannot_be_listed_is_refused(message, model, options):
    with pytest.raises(ModelError, match=message):
        packing_region(model, **options)


@pytest.mark.parametrize("parts", range(90, 100))
def test_the_number_of_configurations_does_not_overflow(parts):
    # In 64 bits the sums over the parts are negative, or small.
    top = 2**61
    with pytest.raises(ModelError, match=r"200,000 configurations .* \(at least [\d,]{20,} for 2 of 3"):
        packing_region(Problem([[top // parts], [1], [1]], [top]))


@pytest.mark.parametrize("demands", [[[1, 0], [1, 1]], [[1.0, 0.0], [1.0, 1.5]]])
@pytest.mark.parametrize("loss", ["loss", "exact_loss"])
def test_without_a_divisible_volume_there_is_no_loss(demands, loss):
    with pytest.raises(ModelError, match=r"has no volume"):
        getattr(packing_region(Problem(demands, [3, 0])), loss)
