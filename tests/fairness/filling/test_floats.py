"""Max-min, DRF and asset fairness against their definition, in fractions too, and a sequence of LPs."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from fairness import DRF, AssetFair, MaxMin, ModelError, Problem, allocate
from fairness.evidence.pools import bottleneck_certificate, feasibility_certificate, level_certificate
from fairness.filling import floats, fractions
from fairness.policies.engines.filling import fill_states
from fairness.testing import KINDS, random_problem
from tests.fairness.instances import pools
from tests.oracles.leximin import pool_leximin


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "policy",
    [MaxMin(), DRF(), pytest.param(AssetFair(), marks=pytest.mark.long)],
    ids=lambda policy: policy.name,
)
def test_filling_equals_the_sequence_of_linear_programs(policy, kind):
    for problem, counts in pools(7, 40, classes=6, resources=4, kinds=[kind]):
        # HiGHS works to 1e-7 per constraint, and each round builds on the one before.
        np.testing.assert_allclose(
            policy(problem, counts),
            pool_leximin(problem, counts, policy.growth(problem)),
            rtol=2e-5,
            atol=1e-7,
        )


def drawn_pool(seed, decades):
    """Small integers, or powers of 2: many ties, zero demands, classes without any, limits that are met."""
    rng = np.random.default_rng(seed)
    n, m = (int(v) for v in rng.integers(1, (12, 6)))
    demands = rng.integers(0, 3, (n, m)).astype(float)
    limits = np.where(rng.random(n) < 0.4, 2.0 ** rng.integers(-decades, 2, n), np.inf)
    limits = np.where(demands.any(axis=1), limits, 1.5)
    capacities = rng.integers(0 if seed % 4 == 0 else 1, 4, m).astype(float)
    weights = 2.0 ** rng.integers(-decades, decades + 1, n)
    return Problem(demands, capacities, weights=weights, limits=limits), rng.integers(0, 3, n).astype(float)


def in_fractions(problem, counts, growth):
    """Tasks by the definition, rounded once."""
    there = (counts > 0) & ~problem.blocked & np.isfinite(growth)
    rates = [
        Fraction(x) * Fraction(r) if t else Fraction(0) for x, r, t in zip(counts, growth, there, strict=True)
    ]
    most = [None if cap == np.inf else Fraction(cap) for cap in counts * np.minimum(problem.limits, 1e300)]
    shares = [[Fraction(a) for a in row] for row in problem.task_shares]
    tasks = np.array([float(t) for t in fractions.fill(shares, rates, most)])
    return np.where(np.isinf(growth) & ~problem.blocked, counts * np.minimum(problem.limits, 1e300), tasks)


@pytest.mark.parametrize("decades", [1, 5])
@pytest.mark.parametrize("policy", [MaxMin(), DRF(), AssetFair()], ids=lambda p: p.name)
def test_filling_is_that_of_fractions(policy, decades):
    # A light class may live on what heavy ones leave: 1e-16 of the resource, 2^10 times as much of the class.
    for seed in range(60):
        problem, counts = drawn_pool(seed, decades)
        expected = in_fractions(problem, counts, policy.growth(problem))
        np.testing.assert_allclose(policy(problem, counts), expected, rtol=1e-12 if decades > 1 else 1e-14)


def test_the_kernel_as_it_is_written_gives_the_same(monkeypatch):
    plain = {name: getattr(floats, name) for name in ("sink", "_bounds", "_revised", "fill")}
    plain = {name: getattr(kernel, "py_func", kernel) for name, kernel in plain.items()}
    for seed in range(12):
        problem, counts = drawn_pool(seed, 3)
        growth = DRF().growth(problem)
        states = np.where(problem.blocked, 0.0, np.array([counts, counts[::-1]]))
        tasks = np.full((2, *states.shape), np.nan)
        rest = growth, 1.0, np.zeros(problem.n_resources), np.zeros(1)
        fill_states(problem.nonzeros, problem.limits, states, tasks[0], *rest)
        with monkeypatch.context() as patch, np.errstate(divide="ignore"):
            for name, kernel in plain.items():
                patch.setattr(floats, name, kernel)
            patch.setitem(fill_states_as_written.__globals__, "fill", plain["fill"])
            fill_states_as_written(problem.nonzeros, problem.limits, states, tasks[1], *rest)
        np.testing.assert_allclose(tasks[1], tasks[0], rtol=1e-15)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_who_stops_at_the_level_of_a_bound_leaves_the_rest_to_others(order):
    """The second resource is full at 1 at the soonest, where the first is, and a class has left before."""
    demands = np.array([[1.0, 0.5, 0.0], [0.0, 0.25, 0.0], [0.0, 0.25, 2.0]])[:, order]
    assert MaxMin()(Problem(demands, [1, 1, 1]), [1, 1, 1]).tolist() == [1.0, 1.5, 0.5]


fill_states_as_written = getattr(fill_states, "py_func", fill_states)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("policy", [MaxMin(), DRF(), AssetFair()], ids=lambda p: p.name)
def test_filling_is_certified_on_large_and_extreme_instances(policy, kind):
    rng = np.random.default_rng(3)
    for n, m in [(2, 2), (30, 5), (100, 20), *rng.integers(1, (40, 9), (40, 2))]:
        problem = random_problem(rng, int(n), int(m), kind=kind, weighted=True, limited=True)
        scale, many = 10.0 ** rng.uniform(-8, 8, (2, n))
        limits = np.where(rng.random(n) < 0.5, 10.0 ** rng.uniform(-8, 8, n), np.inf)
        for instance, counts in (
            (problem, np.ones(n)),
            (Problem(problem.demands * scale[:, None], problem.capacities), np.ones(n)),
            (problem.replaced(limits=limits), many * (rng.random(n) < 0.9)),
        ):
            # Filling recomputes usage in each round, so only summation errors remain.
            assert allocate(instance, policy, counts).certificate.residual < 1e-13


def test_resources_that_are_full_at_one_level_stop_all_there():
    """Two resources with the same users, one at its limit, and a light one each, ten decades below them.

    What the others leave of the second resource, when the first one is full, is rounding and a bit.
    """
    rng = np.random.default_rng(8)
    for _ in range(20):
        both = rng.random(6)
        demands = np.array([*([a, a] for a in both), [1.0, 0.0], [0.0, 1.0]])
        limits, weights = np.full(8, np.inf), np.r_[np.ones(6), 1e-10, 1e-10]
        limits[0] = 0.1
        levels = MaxMin()(Problem(demands, [1.0, 1.0], limits=limits, weights=weights), np.ones(8)) / weights
        assert levels[0] == 0.1
        np.testing.assert_allclose(levels[1:], levels[1], rtol=1e-14)


def test_one_resource_fills_to_the_water_level():
    """phi = min(limit, level): sorted by limit, the level is where the rest divide what the others leave."""
    rng = np.random.default_rng(5)
    n = 2000
    limits = rng.exponential(1.0 / n, n)
    capacity = 0.7 * limits.sum()
    order = np.sort(limits)
    left = capacity - np.concatenate([[0.0], np.cumsum(order)[:-1]])
    level = left / np.arange(n, 0, -1)
    expected = np.minimum(limits, level[np.argmax(level <= order)])
    tasks = MaxMin()(Problem(np.ones((n, 1)), [capacity], limits=limits), np.ones(n))
    np.testing.assert_allclose(tasks, expected, rtol=1e-12)  # 2000 summands


def test_as_many_rounds_as_resources():
    """Class k shares a resource with class k-1 and one with class k+1; each waits for the one before."""
    number = 300
    expected = 1.0 + 0.01 * np.arange(number + 1)
    demands = np.zeros((number + 1, number))
    demands[np.arange(number), np.arange(number)] = 1.0
    demands[np.arange(1, number + 1), np.arange(number)] = 1.0
    limits = np.full(number + 1, np.inf)
    limits[0] = 1.0
    chain = Problem(demands, expected[:-1] + expected[1:], limits=limits)
    # Each task is what the one before leaves, so rounding errors add up: 300 * 4 * 2e-16.
    np.testing.assert_allclose(MaxMin()(chain, np.ones(number + 1)), expected, rtol=1e-12)


def test_the_certificate_notices_a_wrong_allocation():
    problem = Problem([[1, 4], [3, 1]], [9, 18])
    good = allocate(problem, DRF())
    worse = level_certificate(problem, good.counts, good.tasks * 0.999, np.array([4.5, 3.0]))
    assert not worse.holds
    assert worse.residual == pytest.approx(1e-3)
    swapped = level_certificate(problem, good.counts, np.array([3.75, 1.75]), np.array([4.5, 3.0]))
    assert swapped.residual == pytest.approx(0.3)


def test_zero_demands_are_filled_to_the_end():
    problem = Problem([[1, 0], [1, 1], [0, 1]], [1, 10])
    result = allocate(problem, DRF())
    np.testing.assert_allclose(result.tasks, [0.5, 0.5, 9.5], rtol=1e-15)


def test_class_without_demand_runs_its_limit_and_zero_capacity_runs_nothing():
    problem = Problem([[0, 0], [1, 0], [1, 1]], [2, 0], limits=[3, np.inf, np.inf])
    for policy in (MaxMin(), DRF(), AssetFair()):
        result = allocate(problem, policy, [2, 1, 1])
        assert result.tasks.tolist() == [6, 2, 0]
        assert result.certificate.holds
        assert "resource 2" in result.bottlenecks[2]


@pytest.mark.parametrize("policy", [MaxMin(), DRF(), AssetFair()], ids=lambda p: p.name)
def test_an_absent_class_without_demand_has_level_0(policy):
    # 0 jobs times an infinite growth rate must not be formed (warnings are errors).
    result = allocate(Problem([[0], [1]], [1], limits=[3, np.inf]), policy, [0, 1])
    assert result.tasks.tolist() == [0, 1]
    assert result.levels.tolist() == [0, 1]
    assert result.certificate.holds


def test_certificates_take_what_people_have_and_refuse_the_rest():
    problem = Problem([[1, 4], [3, 1]], [9, 18])
    assert bottleneck_certificate(problem, [1, 1], [3, 2]).holds is False
    assert feasibility_certificate(problem, [1, 1], [3, 2]).holds
    assert not feasibility_certificate(problem, [1, 1], [np.nan, 2]).holds
    with pytest.raises(ModelError, match=r"must have shape \(2,\); got \(2,\) and \(3,\)"):
        feasibility_certificate(problem, [1, 1], [1, 2, 3])


def test_resource_weights_are_checked():
    with pytest.raises(ModelError, match="resource_weights must be"):
        DRF(resource_weights=[1, 2])
    for wrong in ("x", [["x", 1]], [[1, 2], [3]], [[10**400]], [[1j]], {"a": 1}):
        with pytest.raises(ModelError, match="resource_weights must be an array of numbers"):
            DRF(resource_weights=wrong)
    with pytest.raises(ModelError, match="smallest entry 0"):
        DRF(resource_weights=[[0, 1]])
    with pytest.raises(ModelError, match=r"has shape \(1, 2\); the problem needs \(2, 2\)"):
        DRF(resource_weights=[[1, 1]])(Problem([[1, 4], [3, 1]], [9, 18]), [1, 1])
