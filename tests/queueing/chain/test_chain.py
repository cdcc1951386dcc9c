from __future__ import annotations

import itertools
import math
from unittest.mock import MagicMock

import numpy as np
import pytest

from fairness import DRF, PSDSF, BottleneckMax, Cluster, MaxMin, Problem, ProportionalFair
from fairness.errors import ModelError, NotConvergedError, UnstableError
from fairness.machine import compiling
from fairness.machine.work import OutOfTime, watching
from fairness.testing import KINDS, random_problem
from queueing.balanced.fairness import balanced_fairness
from queueing.chain import box_chain, coarse_chain, tails, truncation
from queueing.chain import box_chain as nested
from queueing.chain.boxes import CountBoxes
from queueing.chain.solvers import aggregation, elimination, mixture
from queueing.chain.solvers.balance import balance_residual
from queueing.chain.solvers.choose_solver import Automatic, Elimination, Multilevel, Product, check_solver
from queueing.chain.solvers.elimination import eliminate_box
from queueing.chain.stationary import stationary
from queueing.chain.tagged import tagged_duration
from queueing.chain.transient import transient
from queueing.model.laws import Erlang
from queueing.model.system import System
from queueing.states.lower_set import LowerSet
from queueing.states.table import tabulate
from tests.own_policies import priority, sharing, short_first
from tests.queueing.chain.chains import (
    EXAMPLE,
    SOLVERS,
    one_resource,
    processor_sharing_law,
    rate_matrix,
    rational_law,
    stepped,
)


def relative_gap(one, other):
    return np.max(np.abs(np.asarray(one) / np.asarray(other) - 1))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(
    "loads", [(0.3, 0.5), (0.2, 0.3, 0.2), pytest.param((0.1, 0.2, 0.1, 0.2), marks=pytest.mark.long)]
)
def test_processor_sharing_is_product_form(solver, loads):
    sizes = np.arange(1, len(loads) + 1) / 2
    system = System(one_resource(len(loads)), loads / sizes, sizes)
    law = stationary(system, sharing, shape=9, solver=solver)
    # Losing arrivals at the faces keeps a reversible law, conditioned on the box.
    exact = processor_sharing_law(loads, law.shape)
    # 1e-9: ten times the tolerance 1e-11 of the means, for single probabilities in the far corner.
    assert law.distribution == pytest.approx(exact, rel=1e-9)
    pairs = np.cov(np.indices(law.shape).reshape(len(loads), -1), aweights=exact.ravel(), ddof=0)
    assert law.covariance == pytest.approx(pairs, rel=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
def test_priority(solver):
    # Preemptive M/M/1 with equal sizes: E[x_2] = r_2/((1 - r_1)(1 - r_1 - r_2)).
    law = stationary(System(one_resource(2), [0.4, 0.3]), priority, solver=solver, tail=1e-11)
    assert law.mean_jobs == pytest.approx([0.4 / 0.6, 0.3 / (0.6 * 0.3)], rel=1e-8)  # tail times the box


def rational_box(system, shape):
    """Law on a box under dominant resource fairness, by rational arithmetic."""
    states = list(itertools.product(*map(range, shape)))
    law = rational_law(system, DRF(), states, lambda x: system.arrival_rates)
    return np.array(law, dtype=float).reshape(shape)


@pytest.mark.parametrize("solver", SOLVERS)
def test_exact_rational_solution(solver):
    rng = np.random.default_rng(11)
    for shape in [(4, 3), (2, 3, 3)]:
        n = len(shape)
        problem = random_problem(rng, n, 2, weighted=True)
        system = System.with_load(problem, np.ones(n), 0.8, rng.integers(1, 5, n) / 4)
        law = stationary(system, DRF(), shape=shape, solver=solver)
        exact = rational_box(system, shape)
        # Direct: rounding of 12 to 18 unknowns. Multilevel: its tolerance of 1e-11 on the means.
        assert relative_gap(law.distribution, exact) < (1e-13 if solver == Elimination() else 1e-10)


@pytest.mark.long
def test_methods_agree_on_random_systems():
    # Sizes over three decades: classes that live on different time scales.
    rng = np.random.default_rng(3)
    for k in range(8):
        n = 2 + k % 3
        problem = random_problem(rng, n, 2, kind=KINDS[k % 3], weighted=k % 2 == 0, limited=k % 6 in (1, 3))
        system = System.with_load(
            problem, rng.uniform(0.1, 1, n), rng.uniform(0.5, 0.95), 10 ** rng.uniform(-1.5, 1.5, n)
        )
        shape = {2: (60, 47), 3: (17, 12, 15), 4: (7, 6, 8, 5)}[n]
        policy = (DRF(), MaxMin(), priority)[k % 3]
        one, other = (stationary(system, policy, shape=shape, solver=s) for s in SOLVERS)
        assert (one.method, other.method) == ("elimination", "multilevel")
        # Both errors are estimated; ten times their sum, for the estimate is no bound.
        assert relative_gap(other.mean_jobs, one.mean_jobs) < 10 * (one.mean_error + other.mean_error) + 1e-12
        assert other.mean_error < 1e-11
        assert one.residual < 1e-14
        assert other.residual < 1e-10


@pytest.mark.parametrize("tolerance", [1e-4, 1e-6, 1e-8])
def test_error_of_the_means_is_estimated(tolerance):
    system = System.with_load(EXAMPLE, [1, 1], 0.9)
    exact = stationary(system, DRF(), shape=(150, 140), solver=Elimination()).mean_jobs
    law = stationary(system, DRF(), shape=(150, 140), solver=Multilevel(tolerance))
    # At load 0.9 the residual is hundreds of times smaller than the error; the estimate is not.
    assert law.mean_error <= tolerance
    assert 1e-3 * law.mean_error < relative_gap(law.mean_jobs, exact) < 2 * law.mean_error
    assert law.residual < 0.1 * law.mean_error


def test_error_by_the_solver_alone():
    # At load .5 the box of 150 x 140 cuts off nothing; what is left is the solver's.
    law = stationary(System.with_load(EXAMPLE, [1, 1], 0.5), DRF(), shape=(150, 140), solver=Automatic(1e-4))
    assert law.method == "multilevel"
    assert law.mean_error > 1e-9
    assert law.mean_jobs_error == pytest.approx(law.mean_error * law.mean_jobs, rel=1e-3)


@pytest.mark.parametrize("policy", [DRF(), ProportionalFair(), MaxMin()])
def test_tail_mass_against_a_larger_box(policy):
    for mix, load in (([1, 1], 0.6), ([3, 1], 0.8)):
        system = System.with_load(EXAMPLE, mix, load)
        large = stationary(system, policy, tail=1e-12)
        for tail in (1e-4, 1e-6):
            box = stationary(system, policy, tail=tail)
            assert 0 < box.tail_mass <= tail
            outside = 1 - large.distribution[tuple(slice(k) for k in box.shape)].sum()
            # An estimate: arrivals lost at the faces and the overlap of the outsides distort it.
            assert 0.3 < box.tail_mass / outside < 3
            # Means are short by about the outside probability times the counts there.
            assert relative_gap(box.mean_jobs, large.mean_jobs) < 100 * tail


@pytest.mark.long
@pytest.mark.parametrize("shape", [(260, 210), (1200, 40), (4, 110, 120), (17, 16, 15, 14)])
def test_large_boxes_start_from_smaller_ones(shape, monkeypatch):
    rng = np.random.default_rng(9)
    n = len(shape)
    problem = random_problem(rng, n, 2, weighted=True)
    system = System.with_load(problem, rng.uniform(0.4, 1, n), 0.8, rng.uniform(0.5, 2, n))
    boxes = []

    def watched(up, down, box, start, **keywords):
        boxes.append(box.shape)
        return solve(up, down, box, start, **keywords)

    solve = nested.multilevel
    monkeypatch.setattr(nested, "multilevel", watched)
    law = stationary(system, MaxMin(), shape=shape, solver=Multilevel())
    assert len(boxes) > 1
    assert math.prod(boxes[0]) <= nested.SMALL
    monkeypatch.setattr(nested, "SMALL", math.inf)
    boxes.clear()
    plain = stationary(system, MaxMin(), shape=shape, solver=Multilevel())
    assert len(boxes) == 1
    # Ten times both tolerances.
    assert law.mean_jobs == pytest.approx(plain.mean_jobs, rel=1e-10)
    assert law.residual < 1e-11


def test_extension_continues_geometrically():
    # Processor sharing: every marginal is geometric far out, and the extension is exact there.
    system = System(one_resource(2), [0.3, 0.4])
    large = stationary(system, sharing, shape=(60, 70)).distribution
    guess = nested.extended(large[:40, :45], (60, 70))
    assert guess.shape == (60, 70)
    assert guess[:40, :45] == pytest.approx(large[:40, :45])
    assert guess.sum() == pytest.approx(1, abs=1e-6)
    assert guess.sum(axis=1)[45] / guess.sum(axis=1)[44] == pytest.approx(0.5, rel=0.02)  # .3/(1 - .4)
    outside, ratio = tails.decay(0.5 ** np.arange(1, 30))
    assert ratio == pytest.approx(0.5)
    assert outside == pytest.approx(0.5**29)


def true_errors(system, policy, law):
    """What the box cuts off: means on a box that leaves 1e-4 times as much outside, less those of the law."""
    tail = 1e-4 * min(1e-2, law.tail_mass)
    return stationary(system, policy, tail=tail, distribution=False).mean_jobs - law.mean_jobs


@pytest.mark.parametrize("policy", [DRF(), ProportionalFair(), MaxMin(), BottleneckMax()])
@pytest.mark.parametrize(
    ("mix", "load", "shape"),
    [([1, 1], 0.5, (12, 12)), ([3, 1], 0.5, (30, 20)), ([1, 1], 0.8, (40, 60)), ([3, 1], 0.9, (60, 60))],
)
def test_error_by_the_box(policy, mix, load, shape):
    system = System.with_load(EXAMPLE, mix, load)
    law = stationary(system, policy, shape=shape)
    error = true_errors(system, policy, law)
    # SAFETY is 1.5, and the coarse grid is right within 1 %.
    ratio = law.mean_jobs_error / error
    assert (ratio > 1.45).all()
    assert (ratio < 1.55).all()


def test_the_error_of_a_small_box_is_not_small():
    # Measured once against 1000 x 1000 states: 3.3 jobs of each class are missing.
    law = stationary(System.with_load(EXAMPLE, [1, 1], 0.95), DRF(), shape=200)
    assert law.residual < 1e-11
    assert ((law.mean_jobs_error > 3.3) & (law.mean_jobs_error < 10)).all()


@pytest.mark.long
def test_error_by_the_box_on_random_systems():
    rng = np.random.default_rng(17)
    ratios = []
    for k in range(20):
        n = 2 if k % 5 else 3
        problem = random_problem(
            rng, n, int(rng.integers(1, 4)), kind=KINDS[k % 3], weighted=k % 2 == 0, limited=k % 5 == 1
        )
        load = (0.5, 0.65, 0.8)[k % 3]
        system = System.with_load(problem, rng.uniform(0.3, 1, n), load, 10 ** rng.uniform(-1, 1, n))
        policy = (DRF(), ProportionalFair(), MaxMin(), BottleneckMax())[k // 3 % 4]
        law = stationary(system, policy, tail=(1e-3, 1e-5)[k % 2])
        error = true_errors(system, policy, law)
        # Below the accuracy of the reference nothing can be said.
        seen = np.abs(error) > 1e-8 * law.mean_jobs
        ratios += list(law.mean_jobs_error[seen] / np.abs(error[seen]))
    # Nearly always covered: here always, and by no more than 30 times (a class that others barely touch).
    assert len(ratios) > 30
    assert min(ratios) > 1
    assert max(ratios) < 30


def test_error_of_the_means_against_exact_rationals():
    rng = np.random.default_rng(23)
    for shape in [(3, 3), (5, 4), (6, 6)]:
        system = System.with_load(random_problem(rng, 2, 2), [1, 1], 0.3, rng.integers(1, 5, 2) / 4)
        exact = rational_box(system, shape)
        exact_means = np.array(
            [exact.sum(axis=1) @ np.arange(shape[0]), exact.sum(axis=0) @ np.arange(shape[1])]
        )
        for solver in SOLVERS:
            law = stationary(system, DRF(), shape=shape, solver=solver)
            # On the box: the solver alone. Rounding of sums of 36 terms is added.
            assert relative_gap(law.mean_jobs, exact_means) < law.mean_error + 1e-14
        larger = stationary(system, DRF(), tail=1e-12)
        # Without the box; a handful of states per class is no fluid, yet the estimate covers.
        ratio = law.mean_jobs_error / np.abs(larger.mean_jobs - exact_means)
        assert ((ratio > 1) & (ratio < 4)).all()


def test_error_of_one_class_in_closed_form():
    # M/M/1 with room for K - 1 jobs: E[x] = r/(1 - r) - K r^K/(1 - r^K).
    for load, size in ((0.5, 20), (0.9, 100), (0.99, 1500)):
        law = stationary(System(Problem([[1]], [1]), [load]), DRF(), shape=size)
        error = size * load**size / (1 - load**size)
        assert law.mean_jobs_error[0] / error == pytest.approx(truncation.SAFETY, rel=0.01)


def test_error_is_infinite_where_jobs_pile_up():
    # Half of every resource is never used: at load .6 the jobs pile up at the faces.
    def wasteful(problem, counts):
        return 0.5 * DRF()(problem, counts)

    system = System.with_load(EXAMPLE, [1, 1], 0.6)
    with pytest.raises(UnstableError, match="wasteful is unstable"):
        stationary(system, wasteful, shape=(30, 30))
    law = CountBoxes(system, wasteful, Automatic()).law((30, 30))
    assert np.isinf(law.mean_jobs_error).all()
    assert "about inf" in law.summary()


def shortest_first(problem, counts):
    """Serve the class with the fewest jobs: the more a class has, the less it gets."""
    chosen = np.where(counts > 0, counts, np.inf).argmin(axis=-1)
    return (np.arange(counts.shape[-1]) == chosen[..., None]) * (counts > 0).astype(float)


@pytest.mark.long
def test_error_where_more_jobs_mean_less_service():
    # Sizes 0.2 and 3: the short jobs pile up at the face until long ones do. The law there does not decay.
    for load, shape in ((0.4, (12, 12)), (0.7, (25, 18))):
        system = System.with_load(one_resource(2), [2, 1], load, [0.2, 3.0])
        law = stationary(system, shortest_first, shape=shape)
        assert law.tail_mass == 1
        missing = stationary(system, shortest_first, shape=(400, 400)).mean_jobs - law.mean_jobs
        assert (law.mean_jobs_error > np.abs(missing)).all()
        assert (law.mean_jobs_error < 4 * np.abs(missing)).all()
    for load, shape in ((0.4, (12, 12)), (0.7, (12, 12)), (0.7, (25, 18)), (0.7, (40, 41))):
        system = System.with_load(one_resource(2), [2, 1], load)
        law = stationary(system, shortest_first, shape=shape)
        ratio = law.mean_jobs_error / np.abs(true_errors(system, shortest_first, law))
        assert ((ratio > 1) & (ratio < 4)).all()


def test_error_on_a_cluster():
    rng = np.random.default_rng(1)
    for k in range(4):
        cluster = Cluster(rng.uniform(1, 6, (2, 2)), rng.uniform(4, 12, (2, 2)))
        system = System.with_load(cluster, rng.uniform(0.3, 1, 2), (0.4, 0.6)[k % 2], rng.uniform(0.3, 3, 2))
        law = stationary(system, PSDSF(), shape=(12, 10))
        ratio = law.mean_jobs_error / (stationary(system, PSDSF(), shape=(40, 40)).mean_jobs - law.mean_jobs)
        assert ((ratio > 1) & (ratio < 6)).all()


def test_first_box_of_a_cluster_next_to_load_1():
    # The ratio of the geometric law rounds to 1.
    system = System(Cluster([[1.0]], [[1.0]]), [1 - 2.0**-53])
    with pytest.raises(NotConvergedError, match="already the first box") as caught:
        stationary(system, PSDSF())
    assert "balanced_fairness" not in str(caught.value)


def test_error_is_infinite_where_the_coarse_grid_sees_jobs_pile_up():
    # Slow in just the states that the grid sees: the law decays on the box, and not on the grid.
    seen = np.concatenate([coarse_chain._points(400, reach, 1.05) for reach in truncation.REACHES])

    def patchy(problem, counts):
        return np.where(np.isin(counts, seen[seen > 9]), 0.4, 1.0) * (counts > 0)

    law = stationary(System(one_resource(1), [0.5]), patchy, shape=400)
    assert law.tail_mass < 1e-20
    assert np.isinf(law.mean_jobs_error).all()


def test_elimination_keeps_classes_that_are_slower_by_any_factor():
    # Independent classes, one slower by 1e17: any diagonal of summed rates would have lost it.
    up, down = np.array([[1.0], [1e-17]]), np.zeros((2, 4, 5))
    down[0, 1:], down[1, :, 1:] = 1.0, 2e-17
    law = eliminate_box(up, down.reshape(2, -1), (4, 5)).reshape(4, 5)
    assert law.sum(axis=0) == pytest.approx(np.array([16, 8, 4, 2, 1]) / 31, rel=1e-14)
    assert law.sum(axis=1) == pytest.approx([0.25] * 4, rel=1e-14)


def crossed(up, down, below, above):
    """Probability that a walk ends ``above`` before ``below``, and its mean time, state by state."""
    n = below + above - 1
    walk = np.diag(np.full(n, up + down)) - np.diag(np.full(n - 1, up), 1) - np.diag(np.full(n - 1, down), -1)
    ends = np.zeros((n, 2))
    ends[-1, 0], ends[:, 1] = up, 1
    return np.linalg.solve(walk, ends)[below - 1]


@pytest.mark.parametrize("down", [0.25, 1.0, 1.0 + 1e-7, 3.0])
def test_a_coarse_chain_moves_between_its_points_as_a_walk_does(down):
    up, states = np.array([1.0, 0.5]), LowerSet.box((40, 3))
    chain = coarse_chain.CoarseChain.around(states, up, lambda x: (x > 0) * [down, 2.0], 4.0)
    place = {tuple(count): k for k, count in enumerate(chain.counts.tolist())}
    rates, axis = chain.rates.toarray(), sorted({x for x, _ in place})
    assert (axis[0], axis[1], axis[-1]) == (0, 1, 160)
    assert {39, 40} <= set(axis)
    assert max(np.diff(axis)) > 5
    for low, here, high in zip(axis, axis[1:], axis[2:], strict=False):
        chance, time = crossed(1.0, down, here - low, high - here)
        k = place[here, 1]
        assert rates[k, place[high, 1]] == pytest.approx(chance / time, rel=1e-4)
        assert rates[k, place[low, 1]] == pytest.approx((1 - chance) / time, rel=1e-4)
        # Of the other class all counts of the set are there.
        assert rates[k, place[here, 2]] == pytest.approx(0.5, rel=1e-4)
        assert rates[k, place[here, 0]] == pytest.approx(2.0, rel=1e-4)
    assert (chain.ends == ((chain.counts[:, 0] == 160) | (chain.counts[:, 1] == 12))).all()
    np.testing.assert_allclose(chain.law @ rates, chain.law * rates.sum(axis=1), atol=1e-12)


def test_points_of_a_grid_lie_within_a_ratio_and_few_far_outside():
    def at_one(x):
        return (x > 0) * 2.0

    counts = coarse_chain.CoarseChain.around(LowerSet.box((1000,)), np.ones(1), at_one, 4.0).counts[:, 0]
    # The smallest ratio, but for rounding to whole numbers.
    assert (counts[1:] <= np.maximum(counts[:-1] + 1, 1.06 * counts[:-1] + 1)).all()
    chain = coarse_chain.CoarseChain.around(LowerSet.box((3,) * 4), np.ones(4), at_one, 16.0)
    axis = np.unique(chain.counts[:, 0])
    before = axis[np.maximum(np.searchsorted(axis, chain.counts) - 1, 0)]
    # Of four classes and more one at a time: the lowest corner of a cell that is beyond the box.
    assert sorted({*(before >= 3).sum(axis=1).tolist()}) == [0, 1]


def test_a_coarse_chain_solves_the_equation_of_poisson_and_interpolates_it():
    up, states = np.array([1.0, 0.5]), LowerSet.box((12, 3))
    chain = coarse_chain.CoarseChain.around(states, up, lambda x: (x > 0) * [2.0, 1.0], 4.0)
    costs, rates = chain.counts.astype(float), chain.rates.toarray()
    h = chain.poisson(costs)
    drift = rates @ h - rates.sum(axis=1)[:, None] * h
    np.testing.assert_allclose(drift, chain.law @ costs - costs, atol=1e-8)
    # A line is interpolated as it is.
    line, inside = costs @ [[2.0, 1.0], [-3.0, 0.0]], states.counts()
    np.testing.assert_allclose(chain.values(line, inside), inside @ [[2.0, 1.0], [-3.0, 0.0]], atol=1e-12)
    np.testing.assert_allclose(chain.slopes(line, inside, 0), np.tile([2.0, 1.0], (36, 1)), atol=1e-12)
    np.testing.assert_allclose(chain.slopes(line, inside, 1), np.tile([-3.0, 0.0], (36, 1)), atol=1e-12)
    faster = chain.with_rates(up, lambda x: (x > 0) * [4.0, 1.0])
    np.testing.assert_array_equal(faster.counts, chain.counts)
    assert faster.law[0] > 1.3 * chain.law[0]


@pytest.mark.parametrize(("load", "sizes"), [(0.5, (8,)), (0.8, (12,)), (0.5, (8, 3)), (0.3, (3, 9))])
def test_the_error_of_small_boxes_of_independent_classes(load, sizes):
    # M/M/1 with room for K - 1 jobs: E[x] - E_K[x] = K r^K/(1 - r^K), each class by itself.
    up, states = np.full(len(sizes), load), LowerSet.box(sizes)
    parts = [load ** np.arange(size) for size in sizes]
    law = np.array([math.prod(each) for each in itertools.product(*parts)])
    error = truncation.truncation_error(up, lambda x: (x > 0) * 1.0, states, law / law.sum())
    exact = [size * load**size / (1 - load**size) for size in sizes]
    # On a coarse grid, for small boxes; never less, as nothing cancels.
    np.testing.assert_allclose(error, truncation.SAFETY * np.array(exact), rtol=0.1)
    assert np.isinf(truncation.truncation_error(1.5 * up / load, lambda x: (x > 0) * 1.0, states, law)).all()
    ends = [np.concatenate(list(truncation.end_states(states, i))) for i in range(len(sizes))]
    for i, places in enumerate(ends):
        assert (states.counts(places)[:, i] == sizes[i] - 1).all()
        assert len(places) == math.prod(sizes) // sizes[i]


@pytest.mark.parametrize("states", [LowerSet.box((4, 3, 2)), LowerSet.simplex([5, 6, 3])])
def test_states_at_the_end_are_those_that_one_job_more_leaves(states):
    assert states.n_states > 20
    for i, step in enumerate(np.eye(states.n_classes, dtype=np.int64)):
        ends = np.concatenate(list(truncation.end_states(states, i)))
        expected = np.flatnonzero(states.places(states.counts() + step) < 0)
        np.testing.assert_array_equal(np.sort(ends), expected)


@pytest.mark.parametrize(("up", "between"), [(1.0, 0.9), (0.2, 0.18)])
def test_a_grid_is_lengthened_until_jobs_no_longer_pile_up_at_its_end(up, between, monkeypatch):
    # Beyond the box of 8 states jobs pile up until there are 100; a first grid of 32 does not see their end.
    def slow(x):
        return np.where((x > 8) & (x < 100), between, 2.0) * (x > 0)

    whole = elimination.birth_death_law(np.full(499, up), slow(np.arange(1, 500)))
    law = elimination.birth_death_law(np.full(7, up), np.full(7, 2.0))
    exact = whole @ np.arange(500) - law @ np.arange(8)
    asked, around = [], coarse_chain.CoarseChain.around

    def counted(*given):
        asked.append(given[-1])
        return around(*given)

    monkeypatch.setattr(coarse_chain.CoarseChain, "around", counted)
    error = truncation.truncation_error(np.full(1, up), slow, LowerSet.box((8,)), law)
    # The longer grid is coarse where jobs pile up.
    assert error[0] == pytest.approx(truncation.SAFETY * exact, rel=0.3)
    assert asked == list(truncation.REACHES[:2])
    # Where hardly any job is refused one grid is enough.
    asked.clear()
    law = elimination.birth_death_law(np.ones(39), np.full(39, 2.0))
    truncation.truncation_error(np.ones(1), lambda x: (x > 0) * 2.0, LowerSet.box((40,)), law)
    assert asked == [truncation.REACHES[0]]


def grids_asked(monkeypatch, rates, law):
    """How far the grids reach that the error of a box of one class, with these refused arrivals, asks for."""
    asked, around = [], coarse_chain.CoarseChain.around

    def counted(*given):
        asked.append(given[-1])
        return around(*given)

    monkeypatch.setattr(coarse_chain.CoarseChain, "around", counted)
    truncation.truncation_error(np.ones(1), rates, LowerSet.box((len(law),)), np.array(law))
    return asked


@pytest.mark.parametrize(("load", "size", "grids"), [(0.5, 40, 1), (0.1, 4, 2)])
def test_where_no_job_is_refused_a_grid_ends_where_next_to_none_are(load, size, grids, monkeypatch):
    # At the end of the first grid there are 160 * 0.5^161 jobs or so, much less than 1e-14 of the mean; with
    # 16 * 0.1^17 of 0.1 a longer one is asked for.
    law = np.zeros(size)
    law[0] = 1.0
    asked = grids_asked(monkeypatch, lambda x: (x > 0) / load, law)
    assert asked == list(truncation.REACHES[:grids])


def test_an_effect_that_changes_from_grid_to_grid_is_followed_however_small_it_is(monkeypatch):
    # From 8 to 1000 jobs hardly more leave than come: grids of 32 and 512 do not see their end.
    def slow(x):
        return np.where((x > 8) & (x < 1000), 1.01, 2.0) * (x > 0)

    law = 1e-9 * elimination.birth_death_law(np.ones(7), np.full(7, 2.0))
    assert grids_asked(monkeypatch, slow, law) == list(truncation.REACHES[:3])


@pytest.mark.parametrize(("states", "band"), [(100, 1), (500, 7), (60, 59)])
def test_elimination_counts_the_memory_of_its_band(states, band):
    # The rates up, a window of those down, the law before and after it is put in order, and the order.
    held = [np.empty((states, band)), np.empty((band + 2, band)), *np.empty((3, states))]
    assert elimination.elimination_bytes(states, band) == sum(array.nbytes for array in held)


def test_who_watches_an_elimination_is_told_of_each_state_once(monkeypatch):
    task = MagicMock()
    monkeypatch.setattr(elimination, "Task", task)
    monkeypatch.setattr(elimination, "PIECE", 100)
    law = eliminate_box(np.full((2, 1), 0.5), (np.indices((6, 5)).reshape(2, -1) > 0) * 1.0, (6, 5))
    steps = [call.args[0] for call in task.return_value.advance.call_args_list]
    assert sum(steps) == law.size == task.call_args.args[1]
    assert len(steps) > 1


def test_long_work_is_told_and_stopped(monkeypatch):
    monkeypatch.setattr(elimination, "PIECE", 1e4)
    system, told = System.with_load(EXAMPLE, [1, 1], 0.7), []
    law = stationary(system, DRF(), tail=1e-4, progress=told.append)
    assert any(step.what.startswith("elimination of ") for step in told)
    monkeypatch.setattr(box_chain, "CYCLES", 1)  # so that each is told, however fast
    stationary(system, DRF(), shape=60, solver=Multilevel(), progress=told.append)
    assert any(step.what == "the chain on 60 x 60 states" and step.unit == "cycles" for step in told)
    with pytest.raises(NotConvergedError, match=r"time_limit=0 seconds are over .*: no law is known yet"):
        stationary(system, DRF(), shape=60, time_limit=0)
    attempt, tried = CountBoxes.attempt, []

    def until_the_second(boxes, box):
        tried.append(box)
        if len(tried) == 3:
            raise OutOfTime("time_limit=9 seconds are over during a test")
        return attempt(boxes, box)

    monkeypatch.setattr(CountBoxes, "attempt", until_the_second)
    with pytest.raises(NotConvergedError, match=r"a law that leaves .* is known, in best; raise") as caught:
        stationary(system, DRF(), tail=1e-12, time_limit=9)
    best = caught.value.best
    assert best.shape == tried[1]
    assert (np.abs(best.mean_jobs - law.mean_jobs) <= best.mean_jobs_error + law.mean_jobs_error).all()
    tried.clear()
    # Whoever set the limit says what is known.
    with pytest.raises(OutOfTime), watching(time_limit=9):
        stationary(system, DRF(), tail=1e-12)


def test_automatic_method():
    system = System.with_load(EXAMPLE, [1, 1], 0.5)
    assert stationary(system, DRF()).method == "elimination"
    assert stationary(system, DRF(), shape=200).method == "multilevel"
    assert stationary(System(EXAMPLE, [0.5, 0]), DRF()).method == "product"


def test_class_without_arrivals():
    pool = Problem([[1, 0.1], [0.1, 1], [1, 1], [0, 1], [1, 0]], [1, 1])
    law = stationary(System(pool, [0.4, 0, 0.2, 0, 0]), DRF())
    pair = stationary(System(Problem([[1, 0.1], [1, 1]], [1, 1]), [0.4, 0.2]), DRF())
    assert law.shape == (pair.shape[0], 1, pair.shape[1], 1, 1)
    assert law.mean_jobs == pytest.approx([pair.mean_jobs[0], 0, pair.mean_jobs[1], 0, 0], rel=1e-12)
    assert np.isnan(law.mean_durations[1])
    nobody = stationary(System(pool, np.zeros(5)), DRF())
    assert nobody.distribution.sum() == 1
    assert nobody.tail_mass == 0
    blocked = Problem([[1, 0], [1, 1]], [1, 0])
    law = stationary(System(blocked, [0.5, 0]), DRF())
    assert law.mean_jobs == pytest.approx([1, 0], rel=1e-7)  # tail 1e-9 times the box


def test_no_state_is_asked_for_twice(monkeypatch):
    # It asks of its own.
    monkeypatch.setattr("queueing.chain.stationary.require_stable", lambda *asked: None)
    calls = []

    def policy(problem, counts):
        if counts.ndim > 1:  # besides, one state alone, which must have the same answer
            calls.append(len(counts))
        return DRF()(problem, counts)

    law = stationary(System.with_load(EXAMPLE, [1, 1], 0.7), policy)  # on a growing box
    assert len(calls) > 1
    # The coarse grid that tells what the box cuts off lies beyond.
    assert math.prod(law.shape) <= sum(calls) < 2 * math.prod(law.shape)
    table = tabulate(EXAMPLE, policy, 100)
    calls.clear()
    law = stationary(System.with_load(EXAMPLE, [1, 1], 0.6), policy, table=table)
    assert sum(calls) < math.prod(law.shape)
    assert max(law.shape) < 100
    assert law.mean_jobs == pytest.approx(stationary(law.system, DRF()).mean_jobs, rel=1e-12)
    with pytest.raises(ModelError, match="made for the same problem and the policy"):
        stationary(law.system, DRF(), table=table)


def test_small_probability_of_the_empty_state():
    # 60 servers almost always busy: pi(0) is about e^-57 of the largest probability.
    pool = Problem([[1], [1]], [60], limits=[1, 1])
    laws = [stationary(System(pool, [30, 24]), DRF(), shape=(120, 110), solver=s) for s in SOLVERS]
    exact = balanced_fairness(laws[0].system, shape=(120, 110))
    for law in laws:
        # DRF of one resource and equal limits is balanced fairness.
        assert law.mean_jobs == pytest.approx(exact.mean_jobs, rel=1e-10)
        assert law.marginal("class 1") == pytest.approx(exact.marginals[0], rel=1e-8)


@pytest.mark.parametrize("solve", [lambda system: stationary(system, DRF()), balanced_fairness])
def test_table_of_a_law(solve):
    law = solve(System.with_load(EXAMPLE, [1, 2], 0.5))
    frame = law.to_dataframe()
    assert list(frame.index) == ["A", "B"]
    assert frame["variance"].to_numpy() == pytest.approx(np.diag(law.covariance), rel=1e-12)
    # A job of mean size 1 is done at this rate.
    assert frame["service_rate"].to_numpy() == pytest.approx(1 / frame["mean_duration"].to_numpy(), rel=1e-12)


def test_residual_by_the_definition():
    rng = np.random.default_rng(6)
    up, law = rng.uniform(0.5, 2, 2), rng.dirichlet(np.ones(12)).reshape(3, 4)
    down = rng.uniform(0.5, 2, (2, 3, 4))

    def moves(x):
        for i in range(2):
            yield stepped(x, i, 1), up[i]
            yield stepped(x, i, -1), down[(i, *x)]

    flows = law.reshape(-1, 1) * rate_matrix(list(np.ndindex(3, 4)), moves)
    residual = balance_residual(up, down, law)
    assert residual > 0.1  # a random law is far from the stationary one
    surplus = np.abs(flows.sum(axis=0) - flows.sum(axis=1))
    assert residual == pytest.approx(surplus.sum() / flows.sum(), rel=1e-13)


@pytest.mark.parametrize("decades", [4, 9, 12, 50])
def test_time_scales_far_apart(decades):
    # The means of the fast class given the slow one are those of a chain of one class; the slow one sees
    # averaged rates. The error of that limit is about the ratio of the sizes.
    system = System.with_load(EXAMPLE, [1, 2], 0.7, [10.0**-decades, 10.0**decades])
    shape = (60, 80)
    tasks = tabulate(EXAMPLE, DRF(), shape).tasks
    fast = np.ones(shape)
    fast[1:] = np.cumprod(system.loads[0] / tasks[1:, :, 0], axis=0)
    fast /= fast.sum(axis=0)
    rate = (fast * tasks[..., 1]).sum(axis=0)
    slow = np.concatenate([[1.0], np.cumprod(system.loads[1] / rate[1:])])
    slow /= slow.sum()
    law = stationary(system, DRF(), shape=shape, solver=Multilevel())
    expected = [np.arange(60) @ fast @ slow, np.arange(80) @ slow]
    assert law.mean_jobs == pytest.approx(expected, rel=1e-9 + 10.0 ** (1 - 2 * decades))
    direct = stationary(system, DRF(), shape=shape, solver=Elimination())
    assert direct.mean_jobs == pytest.approx(law.mean_jobs, rel=law.mean_error + direct.mean_error)


@pytest.mark.long
def test_unstable_policy_is_reported():
    # Priority to the short classes of a linear network leaves the long one (1 - 0.4)(1 - 0.4) = 0.36 tasks.
    pool = Problem([[1, 1], [1, 0], [0, 1]], [1, 1])
    overloaded = System(pool, [0.4, 0.4, 0.4])
    with pytest.raises(UnstableError, match="short_first is unstable at these loads, in the fluid limit"):
        stationary(overloaded, short_first)
    with pytest.raises(NotConvergedError, match="short_first is probably unstable") as caught:
        CountBoxes(overloaded, short_first, check_solver(None), None).grown(1e-9, 50_000)
    assert caught.value.best.tail_mass > 0.1
    stable = stationary(System(pool, [0.3, 0.4, 0.4]), short_first)
    assert stable.tail_mass < 1e-9


def test_policy_that_serves_nobody():
    def lazy(problem, counts):
        return np.where(counts.sum(axis=-1, keepdims=True) >= 2, MaxMin()(problem, counts), 0.0)

    with pytest.raises(ModelError, match=r"lazy serves nobody in state \(0, 1\)"):
        stationary(System.with_load(EXAMPLE, [1, 1], 0.5), lazy)


def test_multilevel_that_stops_short():
    system = System.with_load(EXAMPLE, [1, 1], 0.9)
    with pytest.raises(NotConvergedError, match=r"after 3 cycles on 200 x 180 states") as caught:
        stationary(system, DRF(), shape=(200, 180), solver=Multilevel(max_cycles=3))
    assert caught.value.residual > 1e-11
    assert caught.value.best.shape == (200, 180)


def test_errors():
    system = System.with_load(EXAMPLE, [1, 1], 0.5)
    with pytest.raises(UnstableError, match="cpu"):
        stationary(System(EXAMPLE, [1, 0]), DRF())
    with pytest.raises(NotConvergedError, match=r"already the first box, .* exceeds max_states=10;"):
        stationary(system, DRF(), max_states=10)
    single, five = System(EXAMPLE, [0.5, 0]), System(one_resource(5), [0.1] * 5, sizes=[Erlang(2)] * 5)
    for given, arguments, message in [
        (system, {"shape": (1, 5)}, "shape gives 1 state to class 'A', which has arrivals"),
        (system, {"shape": (1, 2, 3)}, "shape must give 2"),
        (system, {"tail": "1e-9"}, "tail"),
        (system, {"tail": None}, "tail"),
        (system, {"max_states": "many"}, "max_states"),
        (system, {"max_states": np.nan}, "max_states"),
        (system, {"max_states": True}, "max_states"),
        (system, {"solver": "LU"}, r"solver must be Automatic\(\), Product\(\), Elimination"),
        (system, {"solver": Multilevel}, r"solver must be Automatic\(\), Product\(\), Elimination"),
        (system, {"solver": Product()}, r"Product\(\) is for one class"),
        (single, {"solver": Multilevel()}, r"Multilevel\(\) is for two classes or more"),
        (five, {}, "5 classes have arrivals, some with sizes that are not exponential"),
        (
            system,
            {"shape": 30_000, "solver": Elimination()},
            r"30000 x 30000 states \(method 'elimination'\).*or take solver=M",
        ),
    ]:
        with pytest.raises(ModelError, match=message):
            stationary(given, DRF(), **arguments)
    law = stationary(system, DRF())
    with pytest.raises(ModelError, match="job_class 'C' is unknown; the classes are A, B"):
        law.marginal("C")
    for index in (5, -3, 0.5, True, None):
        with pytest.raises(ModelError, match=r"job_class must be a whole number from -2 to 1 \(an index\)"):
            law.marginal(index)
    for kind in (Automatic, Multilevel):
        for tolerance in (0, 2.0, np.nan, "small"):
            with pytest.raises(ModelError, match="tolerance must be a number between 0 and 1"):
                kind(tolerance)
        for cycles in (0, 2.5):
            with pytest.raises(ModelError, match="max_cycles must be a whole number >= 1"):
                kind(max_cycles=cycles)


def test_kernels_uncompiled(monkeypatch):
    system = System.with_load(EXAMPLE, [1, 2], 0.7)
    monkeypatch.setattr(compiling, "SMALL", -1.0)
    compiled = stationary(system, DRF(), shape=(11, 13), solver=Multilevel())
    helpers = ("_enter_row", "_pile", "_enter_stack", "_solve_line", "_close", "_condition")
    for name in ("sweep", "aggregate", "correct", "paces", *helpers):
        monkeypatch.setattr(aggregation, name, getattr(aggregation, name).py_func)
    monkeypatch.setattr(mixture, "_gram", mixture._gram.py_func)
    monkeypatch.setattr(compiling, "SMALL", math.inf)
    monkeypatch.setattr(compiling, "PATIENCE", math.inf)
    plain = stationary(system, DRF(), shape=(11, 13), solver=Multilevel())
    # Same iteration up to contracted operations: agreement to the tolerance of the method.
    assert plain.distribution == pytest.approx(compiled.distribution, rel=1e-10)


def test_rates_beyond_what_a_chain_can_multiply_are_refused():
    pool = Problem([[1, 0.1], [0.1, 1]], [1, 1])
    for system, told in (
        (System(pool, [1e-300, 0.5]), "arrival_rates .* at index 0 .*; choose another unit"),
        (System(pool, [0.5, 0.5], [1, 1e-260]), "mean_sizes .* at index 1 .*; choose another unit"),
    ):
        for ask in (
            lambda s: stationary(s, DRF(), shape=(9, 9), solver=Multilevel()),
            lambda s: tagged_duration(s, DRF(), 0, shape=(9, 9)),
            lambda s: transient(s, DRF(), [1.0], shape=(9, 9)),
        ):
            with pytest.raises(ModelError, match=told):
                ask(system)
    # What is not refused gives its numbers without a warning.
    law = stationary(System(pool, [1e-249, 0.5]), DRF(), shape=(60, 60), solver=Elimination())
    assert law.mean_jobs[1] == pytest.approx(1, rel=1e-9)  # M/M/1 at load 1/2, cut at 60 jobs
