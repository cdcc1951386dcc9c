"""Proportional and alpha-fairness: closed forms, optimality by definition, a second solver, edges, errors."""

from __future__ import annotations

import math

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import linprog

from fairness import BottleneckMax, MaxMin, ModelError, NotConvergedError, Problem, allocate
from fairness.evidence.pools import SATURATION, feasibility_residual, price_certificate, relative_usage
from fairness.model.nonzeros import nonzeros
from fairness.policies.engines import prices
from fairness.policies.engines.cholesky import factorise, gram
from fairness.policies.proportional import AlphaFair, ProportionalFair
from fairness.testing import KINDS, check_policy, random_problem
from tests.fairness.instances import pools

PF = ProportionalFair()
ALPHAS = (0.05, 0.3, 0.5, 1.0, 2.0, 7.0, 50.0)

# Relative accuracy of a well-conditioned solution: usages are certified to 1e-13 at least.
ACCURATE = 1e-12


# Closed forms


@pytest.mark.parametrize("alpha", [*ALPHAS, 0.1, 20.0])
def test_line_network(alpha):
    """One route over L links against one on each: (W_0/phi)^alpha = sum of (W_l/(1 - phi))^alpha."""
    weights = np.array([2.0, 1.0, 3.0, 1.0])
    line = Problem(np.vstack([np.ones(3), np.eye(3)]), [1, 1, 1], weights=weights)
    counts = np.array([1.0, 2.0, 1.0, 3.0])
    w = counts * weights
    long = w[0] / (w[0] + (w[1:] ** alpha).sum() ** (1 / alpha))
    result = allocate(line, AlphaFair(alpha), counts)
    np.testing.assert_allclose(result.tasks, [long, 1 - long, 1 - long, 1 - long], rtol=ACCURATE)
    # Here the price of a link is the bill of the class that uses it alone; 50 powers lose two digits.
    np.testing.assert_allclose(result.prices, (w[1:] / (1 - long)) ** alpha, rtol=1e-10)


@pytest.mark.parametrize("policy", [PF, BottleneckMax()])
@pytest.mark.parametrize("unit", [1, 0.37])
def test_two_classes_closed_form_on_a_grid(policy, unit):
    """a = [[1, .1], [.1, 1]]: 10/11 each if 1/10 <= x1/x2 <= 10; (x1, 10 x2)/(x1 + x2) above; symmetric.

    Bottleneck max fairness is the same.
    """
    pool = Problem([[10, 1], [1, 10]], [10, 10])
    x = unit * np.stack(np.meshgrid(np.arange(41), np.arange(61), indexing="ij"), axis=-1)
    x1, x2 = x[..., 0], x[..., 1]
    total = np.maximum(x1 + x2, unit)
    expected = np.empty(x.shape)
    expected[:] = 10 / 11
    expected[x1 > 10 * x2] = (np.stack([x1, 10 * x2], -1) / total[..., None])[x1 > 10 * x2]
    expected[x2 > 10 * x1] = (np.stack([10 * x1, x2], -1) / total[..., None])[x2 > 10 * x1]
    expected[0, 0] = 0
    np.testing.assert_allclose(policy(pool, x), expected, rtol=ACCURATE, atol=0)


# Optimality, by definition and by a second solver


@pytest.mark.parametrize("alpha", ALPHAS)
def test_kkt_certificate(alpha):
    for problem, counts in pools(3, 90):
        solution = AlphaFair(alpha).solve(problem, counts)
        assert solution.certificate.residual <= ACCURATE, (problem, counts, solution.certificate)
        assert solution.certificate.duality_gap <= ACCURATE
        assert (solution.prices >= 0).all()


@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0])
def test_no_feasible_direction_improves(alpha):
    """Concave: phi is optimal iff no feasible psi has gradient . psi > gradient . phi (a linear program)."""
    for problem, counts in pools(4, 60):
        tasks = AlphaFair(alpha)(problem, counts)
        assert feasibility_residual(problem, counts, tasks) <= SATURATION
        if not tasks.any():
            continue
        gradient = (
            np.divide(counts * problem.weights, tasks, out=np.zeros_like(tasks), where=tasks > 0) ** alpha
        )
        caps = np.where(counts > 0, np.maximum(counts, 1e-300) * problem.limits, 0.0)
        bounds = np.column_stack([np.zeros_like(caps), caps])
        best = linprog(-gradient, A_ub=problem.demands.T, b_ub=problem.capacities, bounds=bounds)
        # 1e-7: HiGHS accepts rows violated by 1e-7.
        assert -best.fun <= gradient @ tasks * (1 + 1e-7)


def by_clarabel(problem, counts, utility):
    """Tasks of those who are there, with the largest utility of tasks and numbers of jobs by weight."""
    live = counts > 0
    phi = cp.Variable(int(live.sum()))
    caps = counts[live] * problem.limits[live]
    rules = [problem.task_shares[live].T @ phi <= 1]
    rules += [phi[i] <= caps[i] for i in np.flatnonzero(np.isfinite(caps))]
    cp.Problem(cp.Maximize(utility(phi, (counts * problem.weights)[live])), rules).solve(
        solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12
    )
    return phi.value


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")  # at 1e-12 Clarabel often says so
@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0])
def test_against_clarabel(alpha):
    """A conic solver on the primal, tasks only: the objective is flat, so it would hide errors."""
    utility = {
        0.5: lambda phi, w: cp.sum(cp.multiply(2 * np.sqrt(w), cp.sqrt(phi))),
        1.0: lambda phi, w: cp.sum(cp.multiply(w, cp.log(phi))),
        2.0: lambda phi, w: -cp.sum(cp.multiply(w**2, cp.inv_pos(phi))),
    }[alpha]
    compared = close = 0
    for problem, counts in pools(5, 55):
        if not counts.any():
            continue
        conic = by_clarabel(problem, counts, utility)
        tasks = AlphaFair(alpha)(problem, counts)[counts > 0]
        # The objective is flat at its maximum, so a gap of 1e-12 leaves 1e-6 in the tasks. Clarabel achieves
        # 3e-6 in 99 of 100 instances and 7e-5 in the worst; with tolerances of 1e-10 it is ten times worse.
        np.testing.assert_allclose(tasks, conic, rtol=2e-4, err_msg=repr(problem))
        close += bool(np.allclose(tasks, conic, rtol=1e-5))
        compared += 1
    assert compared >= 50
    assert close >= 0.95 * compared


# The family


def test_alpha_one_is_proportional_fairness_and_infinity_is_max_min():
    for problem, counts in pools(6, 30):
        assert (AlphaFair(1)(problem, counts) == PF(problem, counts)).all()
        assert (AlphaFair(math.inf)(problem, counts) == MaxMin()(problem, counts)).all()
    solution = AlphaFair(math.inf).solve(Problem([[1, 3], [4, 2]], [1, 1]))
    assert solution.levels is not None
    assert solution.prices is None


def test_large_alpha_tends_to_weighted_max_min():
    distance = dict.fromkeys((5.0, 15.0, 50.0), 0.0)
    for problem, counts in pools(7, 90):
        limit = MaxMin()(problem, counts)
        for alpha in distance:
            tasks = AlphaFair(alpha)(problem, counts)
            ratio = np.divide(tasks, limit, out=np.ones_like(tasks), where=limit > 0)
            distance[alpha] = max(distance[alpha], float(np.abs(np.log(ratio)).max()))
    # tasks = W bill^(-1/alpha), and bills vary by factors that do not depend on alpha: distance ~ 1/alpha.
    assert distance[50.0] < distance[15.0] / 2 < distance[5.0] / 4
    assert distance[50.0] < 0.15


def test_small_alpha_tends_to_maximum_throughput():
    lost, maximum = dict.fromkeys((0.5, 0.2, 0.05), 0.0), AlphaFair(0)
    for problem, counts in pools(8, 60):
        best = maximum(problem, counts).sum()
        if best > 0:
            for alpha in lost:
                total = AlphaFair(alpha)(problem, counts).sum()
                assert total <= best * (1 + 1e-12)
                lost[alpha] += 1 - total / best
    assert lost[0.05] < lost[0.2] / 3 < lost[0.5] / 6
    assert lost[0.05] / 60 < 0.01


# Maximum throughput


def clearness(problem, counts, solution):
    """Smallest gain or relative price but 0: alpha-fair tasks approach the limit like exp(-this/alpha)."""
    gain = np.abs(1 - problem.demands @ solution.prices)[counts > 0]
    price = solution.prices * problem.capacities
    price = price / max(price.sum(), 1e-300)
    return min(gain[gain > 1e-11].min(initial=np.inf), price[price > 0].min(initial=np.inf))


@pytest.mark.long
def test_maximum_throughput_is_the_limit_of_small_alpha():
    compared = 0
    for problem, counts in pools(20, 100):
        solution = AlphaFair(0).solve(problem, counts)
        assert solution.certificate.residual < ACCURATE
        assert solution.certificate.duality_gap < ACCURATE
        assert feasibility_residual(problem, counts, solution.tasks) < ACCURATE
        tasks = AlphaFair(0.01)(problem, counts)
        # The tasks of alpha > 0 are feasible, so they cannot be more; 1e-10 is their certified accuracy.
        assert tasks.sum() <= solution.tasks.sum() * (1 + 1e-10)
        if counts.any() and clearness(problem, counts, solution) >= 0.15:
            # exp(-0.15/0.01) is 3e-7; the rest is of first order in alpha.
            assert np.abs(tasks - solution.tasks).max() <= 0.01 * solution.tasks.max()
            compared += 1
    assert compared >= 50


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
def test_maximum_throughput_against_clarabel():
    """Tasks plus a little entropy, by a conic solver."""
    compared = 0
    for problem, counts in pools(21, 120):
        solution = AlphaFair(0).solve(problem, counts)
        if not counts.any() or clearness(problem, counts, solution) < 0.02:
            continue
        conic = by_clarabel(
            problem,
            counts,
            lambda phi, w: cp.sum(phi + 1e-3 * (cp.multiply(1 + np.log(w), phi) + cp.entr(phi))),
        )
        # Along the face the objective is flat: 1e-12/1e-3 in it leaves 3e-5 in the tasks.
        difference = np.abs(conic - solution.tasks[counts > 0]).max()
        assert difference <= 2e-4 * solution.tasks.max(), repr(problem)
        compared += 1
    assert compared >= 80


def test_maximum_throughput_chooses_by_entropy():
    # One resource, equal demands: every division has the most tasks; entropy follows the weights.
    pool = Problem([[1], [1], [1]], [6], weights=[1, 2, 1], limits=[np.inf, np.inf, 0.5])
    solution = AlphaFair(0).solve(pool, [1, 2, 1])
    np.testing.assert_allclose(solution.tasks, [1.1, 4.4, 0.5], rtol=ACCURATE)
    assert solution.certificate.holds
    # Class 3 demands more of the same and gets nothing; class 4 demands nothing.
    pool = Problem([[1], [1], [2], [0]], [6], limits=[np.inf, np.inf, np.inf, 3])
    np.testing.assert_allclose(AlphaFair(0)(pool, [[1, 1, 1, 1], [0, 1, 3, 2]]), [[3, 3, 0, 3], [0, 6, 0, 6]])
    # Prices (1, 0) or (0, 1), say, make class 2 or 3 look as good as class 1, but they cannot run.
    pool = Problem([[1, 1], [1, 2], [2, 1]], [1, 1])
    np.testing.assert_allclose(AlphaFair(0)(pool, [1, 1, 1]), [1, 0, 0], atol=1e-15)
    line = Problem([[1, 1], [1, 0], [0, 1]], [1, 1])
    np.testing.assert_allclose(AlphaFair(0)(line, [1, 1, 1]), [0, 1, 1])
    assert AlphaFair(0)(line, [0, 0, 0]).tolist() == [0, 0, 0]
    blocked = Problem([[1, 1], [1, 0]], [1, 0])
    assert AlphaFair(0)(blocked, [1, 1]).tolist() == [0, 1]


def test_maximum_throughput_of_many_classes():
    for kind in KINDS:
        problem = random_problem(np.random.default_rng(22), 300, 20, kind=kind, weighted=True, limited=True)
        certificate = AlphaFair(0).solve(problem).certificate
        assert certificate.residual < 1e-11  # 300 summands
        assert certificate.duality_gap < 1e-11


def test_doubtful_throughput_is_an_error():
    """A demand larger by 1e-9: is the second class to share or not?"""
    with pytest.raises(NotConvergedError, match="too near to 0 to tell which allocations are the best"):
        AlphaFair(0)(Problem([[1], [1 + 1e-9]], [1]), [1, 1])
    np.testing.assert_allclose(AlphaFair(0)(Problem([[1], [1 + 1e-7]], [1]), [1, 1]), [1, 0])
    np.testing.assert_allclose(AlphaFair(0)(Problem([[1], [1 + 1e-15]], [1]), [1, 1]), [0.5, 0.5])


# One policy, whatever the shape of the question


@pytest.mark.long
@pytest.mark.parametrize("alpha", [0.5, 0.05, 50, 0])  # PF and 2 are in the catalogue
def test_battery(alpha):
    check_policy(AlphaFair(alpha), skip={"task units"})


@pytest.mark.parametrize("alpha", [0.1, 1.0, 2.0, 20.0])
@pytest.mark.parametrize("kind", KINDS)
def test_batch_is_loop_in_any_order(alpha, kind):
    """Warm starts go from state to state; the result must not depend on where they came from."""
    rng = np.random.default_rng(9)
    problem = random_problem(rng, 5, 4, kind=kind, weighted=True, limited=True)
    policy = AlphaFair(alpha)
    states = rng.integers(0, 9, (60, 5)) * rng.choice([1.0, 0.37], (60, 1))
    batch = policy(problem, states)
    order = rng.permutation(60)
    loop = np.stack([policy.solve(problem, x).tasks for x in states])
    # 1e-9 of a state for tasks that are next to nothing in it (alpha = 0.1 gives some classes 1e-12).
    scale = loop.max(axis=1, keepdims=True)
    for other in (
        loop,
        policy(problem, states[order])[np.argsort(order)],
        policy(problem, states[::-1])[::-1],
    ):
        assert np.max(np.abs(batch - other) / (1e-10 * np.abs(other) + 1e-10 * scale + 1e-300)) <= 1
    assert policy(problem, states.reshape(4, 3, 5, 5)).shape == (4, 3, 5, 5)


# Degenerate problems


def test_duplicated_and_redundant_resources():
    """The Newton matrix is singular; tasks are unique all the same."""
    pool = Problem([[1, 3, 3, 2], [4, 2, 2, 3], [2, 1, 1, 1.5]], [1, 1, 1, 1])
    expected = PF(Problem([[1, 3], [4, 2], [2, 1]], [1, 1]), np.ones(3))
    result = allocate(pool, PF)  # resource 3 repeats resource 2, resource 4 is the mean of 1 and 2
    np.testing.assert_allclose(result.tasks, expected, rtol=ACCURATE)
    assert result.certificate.holds


def test_tie_saturated_without_a_price():
    """Resource 2 fills up exactly where resource 1 alone would stop everybody."""
    pool = Problem([[1, 0.5], [1, 1.5]], [1, 1])
    result = allocate(pool, PF)
    np.testing.assert_allclose(result.tasks, [0.5, 0.5], rtol=ACCURATE)
    np.testing.assert_allclose(result.prices, [2, 0], atol=ACCURATE)
    assert result.saturated.all()


def test_limits_bind():
    """One resource: phi = min(limit, W/p)."""
    pool = Problem([[1], [1], [1]], [1], limits=[0.1, 0.6, np.inf], weights=[1, 1, 2])
    solution = PF.solve(pool)
    np.testing.assert_allclose(solution.tasks, [0.1, 0.3, 0.6], rtol=ACCURATE)
    np.testing.assert_allclose(solution.prices, [1 / 0.3], rtol=ACCURATE)
    plenty = PF.solve(Problem([[1, 2], [0, 1]], [1, 1], limits=[0.1, 0.2]), [1, 2])
    np.testing.assert_array_equal(plenty.tasks, [0.1, 0.4])
    np.testing.assert_array_equal(plenty.prices, [0, 0])
    assert plenty.certificate.holds


@pytest.mark.parametrize("alpha", [0.2, 1.0, 3.0])
def test_edges(alpha):
    pool = Problem(
        [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]],
        [2, 0, 5],  # the third resource is used by nobody, the second does not exist
        limits=[3, np.inf, np.inf, np.inf],
    )
    solution = AlphaFair(alpha).solve(pool, [2, 1, 1, 1])
    np.testing.assert_allclose(solution.tasks, [6, 2, 0, 0], rtol=ACCURATE)
    np.testing.assert_allclose(solution.prices, [0.5 * 0.5 ** (alpha - 1), 0, 0], rtol=ACCURATE)
    assert solution.certificate.holds
    nobody = AlphaFair(alpha).solve(pool, [0, 0, 0, 0])
    assert not nobody.tasks.any()
    assert not nobody.prices.any()
    assert nobody.certificate.holds


@pytest.mark.parametrize("counts", [1e-9, 1e9])
def test_scale_of_counts_changes_nothing(counts):
    pool = Problem([[4, 1], [2, 1], [1, 4]], [1, 1])
    for alpha in ALPHAS:
        tasks = AlphaFair(alpha)(pool, np.full(3, counts))
        np.testing.assert_allclose(tasks, AlphaFair(alpha)(pool, np.ones(3)), rtol=ACCURATE)


def test_tasks_of_extreme_sizes():
    """PF does not care how work is cut into tasks, be it over 16 decades."""
    rng = np.random.default_rng(11)
    for k in range(60):
        problem = random_problem(rng, int(rng.integers(1, 30)), int(rng.integers(1, 9)), kind=KINDS[k % 3])
        size = 10.0 ** rng.uniform(-8, 8, problem.n_classes)
        other = Problem(problem.demands * size[:, None], problem.capacities)
        counts = np.ones(problem.n_classes)
        # Certified to 1e-13; factors of 100 for the condition of the prices.
        np.testing.assert_allclose(PF(other, counts) * size, PF(problem, counts), rtol=1e-11)


@pytest.mark.parametrize(("n", "m"), [(20000, 12), pytest.param(400, 60, marks=pytest.mark.long)])
def test_large(n, m):
    """Many classes; and so many resources that the matrices go through BLAS."""
    problem = random_problem(np.random.default_rng(10), n, m, weighted=True, limited=True)
    solution = PF.solve(problem)
    assert solution.certificate.residual <= SATURATION
    assert solution.certificate.duality_gap <= 1e-12
    assert relative_usage(problem, solution.tasks).max() <= 1 + 1e-12


@pytest.mark.parametrize("density", [pytest.param(0.05, marks=pytest.mark.long), 1.0])
def test_many_resources(density):
    """Pairs of nonzeros, or blocks by BLAS; duplicated resources leave dependent rows in later blocks."""
    rng = np.random.default_rng(12)
    demands = 10.0 ** rng.uniform(-1, 1, (600, 120)) * (rng.random((600, 120)) < density)
    demands[~demands.any(axis=1), 0] = 1.0
    capacities = demands.sum(axis=0) + 1.0
    single = PF.solve(Problem(demands, capacities))
    assert single.certificate.residual <= ACCURATE
    assert single.certificate.duality_gap <= ACCURATE
    double = PF.solve(Problem(np.hstack([demands, demands]), np.tile(capacities, 2)))
    np.testing.assert_allclose(double.tasks, single.tasks, rtol=1e-11)  # conditioning of the prices


@pytest.mark.long
@pytest.mark.parametrize("density", [0.05, 1.0])
def test_gram_and_factor(density):
    rng = np.random.default_rng(13)
    a = rng.random((700, 130)) * (rng.random((700, 130)) < density)
    users = np.sort(rng.permutation(700)[:650])
    factor, scale = rng.random(700), rng.random(130) * (rng.random(130) < 0.8)
    matrix = np.empty((130, 130))
    gram(nonzeros(a), users, factor, scale, matrix)
    b = (factor[:, None] * a * scale)[users]
    # Rounding errors of 650 summands.
    np.testing.assert_allclose(np.tril(matrix), np.tril(b.T @ b), rtol=1e-12, atol=1e-14)
    few = np.empty((40, 40))
    gram(nonzeros(a[:, :40]), users, factor, scale[:40], few)
    np.testing.assert_allclose(np.tril(few), np.tril(matrix[:40, :40]), rtol=1e-12, atol=1e-14)
    for size in (30, 130):
        full = b.T @ b + np.eye(130)
        full = full[:size, :size].copy()
        copy = full.copy()
        factorise(copy)
        np.testing.assert_allclose(np.tril(copy), np.linalg.cholesky(full), rtol=1e-10, atol=1e-12)
        full[:, -1] = full[:, 3]
        full[-1] = full[3]  # dependent: left out
        copy = full.copy()
        factorise(copy)
        assert np.isinf(copy[-1, -1])
        assert np.isfinite(np.tril(copy)[:-1]).all()


# Errors


def test_names_and_wrong_arguments():
    for alpha in (-1, math.nan, "1", None, True):
        with pytest.raises(ModelError, match="alpha must be a number >= 0"):
            AlphaFair(alpha)
    with pytest.raises(ModelError, match="last axis must list the 2 job classes"):
        PF(Problem([[1, 3], [3, 2]], [1, 1]), [1, 1, 1])
    assert PF.name == "PF"
    assert AlphaFair(2).name == "alpha=2"
    assert AlphaFair(math.inf).name == "alpha=inf"
    assert AlphaFair(np.float32(0.5)) == AlphaFair(0.5)


def test_beyond_floating_point_is_an_error():
    """Bills of 10^(5 alpha) on one side and 1 on the other: no silent wrong answer."""
    pool = Problem([[1, 0], [0, 1e5], [1, 1]], [1, 1])
    with pytest.raises(
        NotConvergedError, match=r"alpha = 500: the tasks for counts \[1\. 1\. 1\.\]"
    ) as error:
        AlphaFair(500)(pool, np.ones((4, 3)))
    assert error.value.best.shape == (4, 3)
    assert not error.value.residual <= 1e-10
    with pytest.raises(NotConvergedError, match="prices exceed the floating-point numbers"):
        AlphaFair(50).solve(Problem([[1e9]], [1]))


def test_certificate_sees_slack_behind_a_tiny_bill():
    # With alpha = 20 the second class pays 1e-20 times what the first pays; its resource is half idle.
    problem = Problem([[1, 0], [0, 1]], [0.1, 2])
    tasks = np.array([0.1, 1.0])
    prices = tasks**-20.0
    verdict = price_certificate(problem, np.ones(2), tasks, prices, alpha=20)
    assert not verdict.holds
    assert verdict.residual == pytest.approx(0.5)
    assert AlphaFair(20).solve(problem).certificate.holds


@pytest.mark.long
@pytest.mark.parametrize("alpha", [1.0, 2.0])
@pytest.mark.parametrize("seed", range(3))
def test_prices_lead_from_state_to_state_without_starting_anew(alpha, seed, monkeypatch):
    """Classes come and go; some pay for resources in the same proportions as others, some find all free."""
    rng = np.random.default_rng(seed)
    demands = np.where(rng.random((20, 12)) < 0.2, rng.choice([1, 1, 2], (20, 12)), 0)
    demands[~demands.any(axis=1), 0] = 1
    pool = Problem(demands, rng.choice([1, 2], 12))
    starts = []

    def enter(*arguments):
        starts.append(arguments)
        return whole(*arguments)

    whole = prices.enter
    monkeypatch.setattr(prices, "enter", enter)
    step = getattr(prices.solve_states, "py_func", prices.solve_states)
    shares, growth, known, residual = pool.nonzeros, np.ones(20), np.zeros(12), np.zeros(1)
    counts, tasks, met = np.zeros((1, 20)), np.empty((1, 20)), []
    for event in range(200):
        i = rng.integers(20)
        counts[0, i] = min(max(counts[0, i] + rng.choice([-1, 1]), 0), 4)
        step(shares, pool.limits, counts, tasks, growth, alpha, known, residual)
        assert residual[0] < 1e-12
        if event % 20 == 0:
            met.append((counts[0].copy(), tasks[0].copy()))
    # The first state, those after an empty one, and hardly any other.
    assert len(starts) <= 5
    for state, answer in met:  # only now: who asks for one state alone may start anew, too
        np.testing.assert_allclose(answer, AlphaFair(alpha)(pool, state), rtol=1e-9)


LIMITED_USERS = {
    "two classes": (
        1.0, [[1, 7.1, 0], [0, 0, 1]], [1e-5, 1], [0.141, 1], [1 / 7.1, 1],
    ),
    "three classes": (
        2.0, [[0, 0, 0.8], [0, 1, 0], [1, 0, 0.2]], [1, 1, 0.005], [0.8, 1, 1.7], [0.8, 1, 1],
    ),
    "two on one resource": (
        1.0, [[1, 0, 0], [0, 0, 4.66], [0, 1, 0], [0, 0, 4.66]], [400, 1, 900, 0.00234],
        [1, 0.20166463626416906, 1, 0.014], None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", LIMITED_USERS)
def test_resources_that_classes_at_their_limits_overfill(kind):
    """Their prices move no task, until the first class leaves its limit."""
    alpha, demands, weights, limits, tasks = LIMITED_USERS[kind]
    pool = Problem(demands, np.ones(len(demands[0])), weights=weights, limits=limits)
    result = allocate(pool, AlphaFair(alpha))
    assert result.certificate.holds
    if tasks is not None:
        np.testing.assert_allclose(result.tasks, tasks, rtol=1e-12)


@pytest.mark.parametrize("alpha", [50, 300])
def test_steps_that_are_very_long_end(alpha):
    """Prices so many decades apart that a step over its price is infinite: an answer, or a refusal."""
    for demands, weights, limits in (
        ([[1, 0, 0], [1, 2e5, 1], [1, 2e4, 2.3e4]], [1, 0.30000000000000004, 5400], [1, 1, 1.3]),
        ([[0.25, 0, 0], [0.55, 20, 0], [0, 0, 0.043]], [6400, 29000, 124000], [7, 100, np.inf]),
    ):
        pool = Problem(demands, [1, 1, 1], weights=weights, limits=limits)
        try:
            tasks = AlphaFair(alpha)(pool, np.ones(3))
        except NotConvergedError:
            continue
        assert (tasks @ pool.demands <= 1 + 1e-9).all()


@pytest.mark.parametrize("alpha", [0.3, 1.0, 2.0, 20.0])
def test_hardly_any_jobs_share_as_many_do(alpha):
    pool = Problem([[4, 1], [1, 4]], [1, 1])
    np.testing.assert_allclose(AlphaFair(alpha)(pool, [1e-30, 1e-30]), [0.2, 0.2], rtol=1e-12)
    limited = Problem([[4, 1], [1, 4]], [1, 1], limits=[1e30, np.inf])
    np.testing.assert_allclose(AlphaFair(alpha)(limited, [1e-28, 1e-28]), [0.2, 0.2], rtol=1e-12)


@pytest.mark.parametrize("links", [2, 3])
def test_a_long_route_leaves_hardly_anything(links):
    """Loads are right to nine digits at prices that are not: a full step would lead far away."""
    line = Problem(np.vstack([np.ones(links), np.eye(links)]), np.ones(links))
    rng = np.random.default_rng(links)
    counts = np.column_stack([np.ones(300), 10 ** rng.uniform(-10, -6, (300, links))])
    counts[::2, 1] *= 1e-4
    tasks = ProportionalFair()(line, counts)
    total = counts.sum(axis=1)
    np.testing.assert_allclose(tasks[:, 0], counts[:, 0] / total, atol=1e-10, rtol=0)
    alone = (counts[:, 1:].sum(axis=1) / total)[:, None]
    np.testing.assert_allclose(tasks[:, 1:], np.broadcast_to(alone, (300, links)), atol=1e-10, rtol=0)


def test_dependent_resources_whose_loads_differ_by_little():
    """Of two resources whose loads the same classes make but for 2e-10, one is not full and has no price."""
    rows = [[0, 1, 1, 1], [1.2, 0, 0, 0], [0, 1.2, 1.2, 0], [1, 1.2, 1, 1]]
    problem, counts = Problem(rows, np.ones(4)), [1.7e-10, 0.744, 5.4e-10, 9.25e-10]
    assert allocate(problem, ProportionalFair(), counts).certificate.holds


def test_prices_next_to_the_smallest_numbers_are_told():
    result = allocate(Problem([[1]], [1e4]), AlphaFair(50))
    np.testing.assert_allclose(result.prices, [1e-200], rtol=1e-11)
    assert result.certificate.holds


def test_prices_on_one_flat_way_are_followed_straight():
    """Under alpha = 0.05 tasks are powers 20 of bills, and many prices make the same bills."""
    pool = Problem([[3, 4, 1, 2], [1, 0, 3, 2], [2, 2, 0, 3]], [1, 1, 3, 2], limits=[np.inf, np.inf, 0.842])
    assert allocate(pool, AlphaFair(0.05), [3, 3, 2]).certificate.holds


def test_what_newton_does_not_find_more_rounds_do():
    a, b, c = [0.149, 0, 0], [0, 5.68, 0], [0, 0, 1.28]
    demands = np.array([c, a, np.add(a, c), np.add(b, c), np.add(a, b), b, c, a])
    weights = [0.0954, 5.46, 0.00751, 0.00659, 12.5, 5.54, 0.195, 0.02]
    limits = [np.inf, 0.00495, np.inf, 0.097, np.inf, 5.76, 4.45, 3.9]
    pool = Problem(demands, [1, 1, 1], weights=weights, limits=limits)
    for counts in ([0, 3, 0, 0, 4, 3, 0, 2], [2, 4, 0, 4, 3, 4, 1, 2]):
        assert allocate(pool, AlphaFair(10), counts).certificate.holds
