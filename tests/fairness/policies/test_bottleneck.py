"""BMF by following the cap: definition, second methods, invariances, hard instances."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from scipy import sparse

from fairness import ModelError, NotConvergedError, Problem, allocate
from fairness.evidence.pools import bottleneck_certificate
from fairness.model import problem as problem_module
from fairness.policies.bottleneck import BottleneckMax, _require_certified, bottleneck_batch
from fairness.policies.bottleneck_set import all_bottleneck_max
from fairness.policies.engines import bottleneck_states
from fairness.testing import KINDS, random_problem
from tests.fairness.instances import pools

BMF = BottleneckMax()

CONTINUUM = [[1, 1, 1], [2, 1, Fraction(3, 2)], [1, 2, Fraction(3, 2)]]
THREE_ISOLATED = [[23, 21, 21], [38, 23, 33], [17, 37, 26]]
"""Three isolated BMF allocations, by exact enumeration."""


@pytest.mark.parametrize("demands", [CONTINUUM, [[1, 1, 0.5], [1, 0.5, 1], [1, 0.75, 0.75]]])
def test_continuum_returns_one_of_its_points(demands):
    problem = Problem(demands, [1, 1, 1])
    tasks = BMF(problem, [1, 1, 1])
    assert bottleneck_certificate(problem, np.ones(3), tasks).residual <= 1e-14
    assert all_bottleneck_max(problem).contains(tasks, tolerance=1e-12)


@pytest.mark.parametrize(("number", "classes", "resources"), [(8_000, 100, 20), (2_000, 8, 6)])
@pytest.mark.long
def test_ten_thousand_random_instances_are_certified(number, classes, resources):
    for k, (problem, counts) in enumerate(pools(20240, number, classes=classes, resources=resources)):
        counts = (counts, counts * 0.7, counts + 1.0, np.ones(len(counts)))[k % 4]
        # 1e-10: ten times stricter than the certificate; kernels accept no more. Measured below 1e-12.
        assert bottleneck_certificate(problem, counts, BMF(problem, counts)).residual <= 1e-10


def two_resources(shares, mass):
    """BMF on two resources: sort by a_i1/a_i2 and let a first part follow resource 1 (Bonald and Roberts)."""
    one, two = shares.T
    for j, other in ((0, 1), (1, 0)):
        tasks = mass / (mass.sum() * shares[:, j])
        if tasks @ shares[:, other] <= 1.0:
            return tasks
    order = np.argsort(-one / two)
    for k in range(1, len(order)):
        first, last = order[:k], order[k:]
        system = [
            [mass[first].sum(), (mass[last] * one[last] / two[last]).sum()],
            [(mass[first] * two[first] / one[first]).sum(), mass[last].sum()],
        ]
        theta = np.linalg.solve(system, [1.0, 1.0])
        ratio = theta[0] / theta[1]
        if one[last[0]] / two[last[0]] <= ratio <= one[first[-1]] / two[first[-1]]:
            return mass * np.minimum(theta[0] / one, theta[1] / two)
    raise AssertionError("no split of the sorted jobs works")


def test_two_resources_by_sorting():
    rng = np.random.default_rng(3)
    for _ in range(300):
        problem = random_problem(rng, int(rng.integers(2, 40)), 2, weighted=True)
        counts = rng.integers(1, 5, problem.n_classes).astype(float)
        expected = two_resources(problem.task_shares, counts * problem.weights)
        # 1e-11: two 2 x 2 solves, condition number up to about 1e4.
        np.testing.assert_allclose(BMF(problem, counts), expected, rtol=1e-11)


@pytest.mark.parametrize("kind", KINDS)
def test_result_is_in_the_enumerated_set(kind):
    for problem, counts in pools(11, 60, classes=4, resources=4, kinds=[kind]):
        assert all_bottleneck_max(problem, counts).contains(BMF(problem, counts), tolerance=1e-8)


def test_choice_among_several_is_invariant():
    demands = np.array(THREE_ISOLATED)
    problem = Problem(demands, [1, 1, 1])
    tasks = BMF(problem, [1, 1, 1])
    points = all_bottleneck_max(problem).points
    assert len(points) == 3
    chosen = [np.allclose(tasks, [float(v) for v in p], rtol=1e-12) for p in points]
    assert sum(chosen) == 1
    rng = np.random.default_rng(0)
    for rows in permutations(range(3)):
        for columns in permutations(range(3)):
            sizes = 10.0 ** rng.uniform(-3, 3, 3)
            units = 10.0 ** rng.uniform(-3, 3, 3)
            other = Problem((demands * sizes[:, None] * units)[rows, :][:, columns], units[list(columns)])
            got = np.empty(3)
            got[list(rows)] = BMF(other, [1, 1, 1]) * sizes[list(rows)]
            np.testing.assert_allclose(got, tasks, rtol=1e-12)


def test_choice_is_invariant_in_bulk():
    # About 1 in 1000 of these has several allocations; a cap on tasks would choose by the size of a task.
    rng = np.random.default_rng(41)
    shares = rng.uniform(1, 3, (20_000, 6, 6))
    ones = np.ones((20_000, 6))
    tasks = bottleneck_batch(shares, ones)
    sizes = 10.0 ** rng.uniform(-1, 1, (20_000, 6))
    # 1e-8: rounding times the condition number of nearly singular systems (10^5 at worst here).
    np.testing.assert_allclose(bottleneck_batch(shares * sizes[:, :, None], ones) * sizes, tasks, rtol=1e-8)
    rows, columns = rng.permutation(6), rng.permutation(6)
    got = bottleneck_batch(shares[:, rows][:, :, columns], ones)
    np.testing.assert_allclose(got, tasks[:, rows], rtol=1e-8)


def test_paths_on_which_the_cap_falls():
    # About 3 in 1000 of these paths turn back for a while; the call raises when one gets lost.
    shares = 10.0 ** np.random.default_rng(43).uniform(-1, 1, (5_000, 20, 20))
    tasks = bottleneck_batch(shares, np.ones((5_000, 20)))
    assert np.isfinite(tasks).all()


TIES = {
    "0/1 demands": lambda rng, n, m: rng.integers(0, 2, (n, m)),
    "1/2 demands": lambda rng, n, m: rng.integers(1, 3, (n, m)),
    "permutations": lambda rng, n, m: np.array([rng.permutation(m) + 1 for _ in range(n)]),
    "identical jobs": lambda rng, n, m: rng.integers(1, 9, (n, m))[rng.integers(0, n, n)],
    "duplicated resources": lambda rng, n, m: np.tile(rng.integers(0, 5, (n, m)), 2),
    "mean of two resources": lambda rng, n, m: (
        rng.integers(1, 5, (n, m)) @ np.column_stack([np.eye(m), np.eye(m)[:, :2].mean(axis=1)])
    ),
    "equal to nine digits": lambda rng, n, m: 1 + 1e-9 * rng.random((n, m)),
    "equal to twelve digits": lambda rng, n, m: 1 + 1e-12 * rng.random((n, m)),
    "sixteen decades": lambda rng, n, m: 10.0 ** rng.uniform(-8, 8, (n, m)),
    "sixteen decades, sparse": lambda rng, n, m: (
        10.0 ** rng.uniform(-8, 8, (n, m)) * (rng.random((n, m)) < 0.4)
    ),
}


@pytest.mark.parametrize("kind", TIES)
def test_ties_and_extreme_scales(kind):
    rng = np.random.default_rng(13)
    for k in range(60):
        n, m = int(rng.integers(2, 12 + 50 * (k % 2))), int(rng.integers(2, 8))
        demands = np.asarray(TIES[kind](rng, n, m), dtype=float)
        demands[~demands.any(axis=1), 0] = 1.0
        capacities = (
            10.0 ** rng.uniform(-8, 8, demands.shape[1]) if "decades" in kind else np.ones(demands.shape[1])
        )
        counts = rng.integers(1, 4, n).astype(float) if k % 3 == 0 else np.ones(n)
        problem = Problem(demands, capacities)
        assert bottleneck_certificate(problem, counts, BMF(problem, counts)).residual <= 1e-10


HARD_TIES = [
    [[1, 2, 2, 0], [2, 1, 0, 2], [1, 0, 2, 1], [0, 2, 1, 2]],
    [[1, 1, 0], [1, 1, 3], [0, 3, 0], [3, 2, 3], [2, 0, 3]],
    [[3, 3, 1, 2, 3], [2, 3, 2, 3, 2], [3, 1, 1, 2, 1], [1, 1, 3, 2, 1], [1, 2, 1, 1, 3]],
]
"""On these the path with the true demands stops at a tie."""


@pytest.mark.parametrize("demands", HARD_TIES)
def test_perturbation_rescues_ties(demands):
    problem = Problem(demands, np.ones(len(demands[0])))
    tasks = BMF(problem, np.ones(len(demands)))
    assert bottleneck_certificate(problem, np.ones(len(demands)), tasks).residual <= 1e-13
    if len(demands) < 5:
        assert all_bottleneck_max(problem).contains(tasks, tolerance=1e-12)


@pytest.mark.parametrize("limited", [False, True])
def test_perturbed_paths_alone_certify_everything(limited):
    rng = np.random.default_rng(17)
    for k in range(300):
        n, m = int(rng.integers(2, 12)), int(rng.integers(2, 7))
        problem = random_problem(rng, n, m, kind="integer", weighted=k % 2 == 1, limited=limited)
        if k == 0:
            problem = Problem(CONTINUUM, [1, 1, 1])
        counts = np.ones((1, problem.n_classes))
        tasks, residuals = np.empty_like(counts), np.empty(1)
        shares, prices = problem.nonzeros, np.empty(m)
        weights = np.array(problem.weights)
        bmf_states = bottleneck_states.bmf_states
        bmf_states(shares, problem.limits, counts, tasks, weights, 0.0, prices, residuals)
        assert residuals[0] <= 1e-12
        assert bottleneck_certificate(problem, counts[0], tasks[0]).residual <= 1e-12


def test_blocked_and_free_classes():
    problem = Problem([[0, 0, 0], [1, 0, 1], [0, 2, 1], [1, 1, 0]], [0, 1, 1], limits=[2, np.inf, np.inf, 1])
    # Classes 2 and 4 demand the resource of capacity 0; class 1 demands nothing; class 3 has the rest alone.
    np.testing.assert_array_equal(BMF(problem, [[3, 1, 1, 1], [0, 1, 0, 2]]), [[6, 0, 0.5, 0], [0, 0, 0, 0]])
    assert BMF.solve(problem, [3, 1, 1, 1]).certificate.holds


def test_limits_bind_and_others_take_the_rest():
    problem = Problem([[1, 3], [3, 2]], [1, 1], limits=[np.inf, 0.1])
    # Job 2 stops at 1/10, job 1 takes what it leaves of resource 2: 3 phi = 1 - 2/10.
    np.testing.assert_allclose(BMF(problem, [1, 1]), [0.8 / 3, 0.1], rtol=1e-14)
    everyone = Problem([[1, 3], [3, 2]], [1, 1], limits=[0.01, 0.02])
    np.testing.assert_array_equal(BMF(everyone, [2, 3]), [0.02, 0.06])


def test_prices_give_the_tasks_back():
    rng = np.random.default_rng(19)
    for _ in range(50):
        problem = random_problem(rng, 6, 4, weighted=True)
        x = rng.integers(1, 4, 6).astype(float)
        solution = BMF.solve(problem, x)
        cost = (problem.demands * solution.prices).max(axis=1)
        np.testing.assert_allclose(solution.tasks, x * problem.weights / cost, rtol=1e-10)
        assert solution.certificate.residual <= 1e-10


def test_kernel_residual_is_the_certificate():
    rng = np.random.default_rng(37)
    for k in range(100):
        problem = random_problem(rng, 4, 3, kind=KINDS[k % 3], weighted=True, limited=k % 2 == 1)
        dominant, b = np.empty(4), np.empty((4, 5))
        bottleneck_states._normalize(problem.nonzeros, 0, problem.limits, problem.weights, dominant, b)
        # From far off to nearly BMF.
        tasks = BMF(problem, np.ones(4)) * (1 + 10.0 ** -(k % 7) * rng.uniform(-1, 1, 4))
        share = tasks * dominant / problem.weights
        work = bottleneck_states._workspace(4, 3)
        work.share[:] = share
        residual = bottleneck_states._residual(b, problem.weights, 4, work)
        expected = bottleneck_certificate(problem, np.ones(4), tasks).residual
        assert residual == pytest.approx(expected, rel=1e-9, abs=1e-14)  # rounding of sums near 1


@pytest.mark.long
def test_prices_of_large_pools_find_what_the_path_finds(monkeypatch):
    """Limits, ties, counts of 0, capacities of 0, resources that one class demands: 400 small pools."""
    for problem, counts in pools(7, 400, classes=12, resources=6):
        expected = BMF(problem, counts)
        with monkeypatch.context() as patch:
            patch.setattr(problem_module, "SMALL_TABLE", -1)
            tasks = BMF(problem, counts)
        assert bottleneck_certificate(problem, counts, tasks).residual <= 1e-10
        np.testing.assert_allclose(tasks, expected, rtol=1e-7)


@pytest.mark.parametrize("decades", [0, 6])
def test_sparse_pool_is_certified(decades):
    rng = np.random.default_rng(1)
    demands = sparse.random_array((9_000, 120), density=0.01, rng=rng, data_sampler=rng.random).tolil()
    demands[np.arange(9_000), rng.integers(0, 120, 9_000)] = 1.0
    weights = 10.0 ** rng.uniform(-decades / 2, decades / 2, 9_000)
    problem = Problem(demands.tocsr(), np.full(120, 50.0), weights=weights)
    counts = rng.integers(0, 3, (2, 9_000)).astype(float)
    follow = BMF.follow(problem)
    for x, tasks in zip(counts, BMF(problem, counts), strict=True):
        assert bottleneck_certificate(problem, x, tasks).residual <= 1e-11
        np.testing.assert_array_equal(follow(x), tasks)
    result = allocate(problem, BMF)
    assert result.certificate.holds
    paid = problem.nonzeros.share * (result.prices * problem.capacities)[problem.nonzeros.resource]
    dearest = np.maximum.reduceat(paid, problem.nonzeros.start[:-1])
    np.testing.assert_allclose(result.tasks * dearest, weights, rtol=1e-8)


def test_batch_of_problems_equals_single_problems():
    rng = np.random.default_rng(23)
    shares = 10.0 ** rng.uniform(-1, 1, (50, 7, 4))
    weights = rng.uniform(0.5, 2.0, (50, 7))
    batch = bottleneck_batch(shares, weights)
    for k in range(50):
        np.testing.assert_array_equal(batch[k], BMF(Problem(shares[k], np.ones(4)), weights[k]))


def test_allocate_reports_bottlenecks():
    result = allocate(Problem([[1, 3], [3, 2]], [1, 1], resources=["cpu", "ram"]), BMF)
    assert result.name == "BMF"
    assert result.certificate.holds
    assert result.bottlenecks == (("ram",), ("ram",))
    assert result.prices is not None
    np.testing.assert_allclose(result.prices, [0, 2], rtol=1e-14)


def test_errors():
    with pytest.raises(ModelError, match=r"counts has shape \(3,\)"):
        BMF(Problem([[1, 2], [2, 1]], [1, 1]), [1, 1, 1])
    for shares, weights, message in (
        ([[1, 2], [2, 1]], [1, 1], r"got \(2, 2\) and \(2,\)"),
        ([[[1, 2], [0, 0]]], [[1, 1]], "every class must demand something"),
        ([[[1, 2], [2, 1]]], [[1, 0]], "weights must be finite and > 0"),
        ([[[1, 2], [2]]], [[1, 1]], "task_shares must be an array of numbers"),
    ):
        with pytest.raises(ModelError, match=message):
            bottleneck_batch(shares, weights)


def test_never_returns_what_it_cannot_certify():
    problem = Problem([[1, 2, 1], [2, 1, 1], [1, 1, 3]], [1, 1, 1])
    with pytest.raises(
        NotConvergedError, match=r"1 of 2 states \(first: state 1\) could not be certified"
    ) as info:
        BMF(problem, [[1, 1, 1], [1e-200, 1e200, 1]])  # the first class's tasks underflow
    assert info.value.best.shape == (2, 3)
    assert info.value.residual > 1e-9
    _require_certified(np.array([0.0, 1e-10]), np.zeros(2), "state")
    with pytest.raises(NotConvergedError, match="worst residual nan"):
        _require_certified(np.array([0.0, np.nan]), np.zeros(2), "state")
