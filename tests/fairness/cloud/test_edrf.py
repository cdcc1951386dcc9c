"""Event-driven EDRF against DRF of one pool and its definition, where weights differ by many decades too."""

import math
from fractions import Fraction as F
from itertools import pairwise

import numpy as np
import pytest

from fairness import DRF, ModelError, NotConvergedError, Problem
from fairness.cloud import Pattern, SparseDemands, edrf
from fairness.cloud.certificates import residuals
from fairness.cloud.engines.eviction import run
from fairness.cloud.engines.loads import loads_of, soonest
from fairness.cloud.instances.families import HARD_FAMILIES
from tests.fairness.cloud.instances import WORKED, in_fractions, random_rows, sparse_of


def test_same_as_drf_of_one_pool():
    rng = np.random.default_rng(5)
    for _ in range(50):
        n, m = (int(v) for v in rng.integers(1, 30, 2))
        rows, weights = random_rows(n, m, 8, rng), rng.integers(1, 4, n)
        tasks = DRF()(Problem(rows.toarray(), np.ones(m), weights=weights), np.ones(n))
        np.testing.assert_allclose(edrf(rows, weights).tasks, tasks, rtol=1e-12)


@pytest.mark.parametrize("dtype", [pytest.param(np.float32, marks=pytest.mark.long), np.float64])
@pytest.mark.parametrize("family", [*HARD_FAMILIES, "random"])
def test_hard_families_are_certified(family, dtype):
    n, m = 100_000, 10_000
    random = family == "random"
    matrix = random_rows(n, m, 8) if random else HARD_FAMILIES[family](n, m, rng=6).matrix()
    result = edrf(matrix.astype(dtype))
    # Sums are compensated, so only the rounding of single products is left.
    assert result.certificate.residual <= 1e-13
    held = result.allocation().tocsc()
    used = [math.fsum(held.data[a:b]) for a, b in pairwise(held.indptr)]
    np.testing.assert_allclose(used + result.free, 1, rtol=0, atol=1e-13)
    if family in ("identical", "decades", "chain"):
        assert result.events == {"identical": 1, "decades": 2, "chain": m}[family]


def test_nothing_drifts():
    # A tenant ten decades lighter is left alone on resource 1 after heavy ones stop at resource 0: what is
    # left of the load of resource 1 after subtracting them one by one must still be right.
    heavy = [[(0, 1.0), (1, 0.3 + 0.1 * (k % 7))] for k in range(1000)]
    demands = SparseDemands.from_lists([*heavy, [(1, 0.7)]], n_resources=2)
    weights = np.r_[np.full(1000, 1.0), 1e-10]
    result = edrf(demands, weights)
    held = [F(0.3 + 0.1 * (k % 7)) / 1000 for k in range(1000)]
    expected = (1 - sum(held)) / F(0.7)
    assert result.tasks[-1] == pytest.approx(float(expected), rel=1e-14)


def certified(solve):
    """Whether an allocation came; it holds, and one that was refused does not."""
    try:
        result, came = solve(), True
    except NotConvergedError as refusal:
        result, came = refusal.best, False
    assert result.certificate.holds == came
    return came


@pytest.mark.parametrize("decades", [10, 20, 25, 28, 32, 34, 40, 300])
def test_light_tenants_are_right_or_refused(decades):
    # Beyond some 20 decades the light tenant's rate is rounded, or lost, in the load of resource 1.
    heavy = [[(0, 1.0), (1, 0.3 + 0.1 * (k % 7))] for k in range(50)]
    demands = SparseDemands.from_lists([*heavy, [(1, 0.7)]], n_resources=2)
    weights = np.r_[np.ones(50), 10.0**-decades]
    assert certified(lambda: edrf(demands, weights)) == (decades <= 20)
    # Nor by an update, which takes the heavy ones out of the load of resource 1.
    moved = SparseDemands.from_lists([[(0, 0.1 + 0.1 * (k % 3))] for k in range(50)], n_resources=2)
    whole = SparseDemands.from_lists([*heavy, [(0, 0.5), (1, 0.7)]], n_resources=2)
    start = edrf(whole, weights)
    assert certified(lambda: start.update(range(50), moved)) or decades > 20


@pytest.mark.parametrize(
    "weights", [[1e300, 1e-300], [1e-300, 1e300], [1e-300] * 2, [1e308] * 2, [5e-324, 1]]
)
def test_extreme_weights(weights):
    demands = sparse_of([[1, F(1, 2), 0], [0, F(3, 4), 0]])
    result = edrf(demands, weights)
    expected = in_fractions([[F(1), F(1, 2)], [F(0), F(3, 4)]], [[F(w)] * 2 for w in weights])
    np.testing.assert_allclose(result.levels, expected[0], rtol=1e-14)
    # Nobody demands the last resource.
    assert result.free[2] == 1


def test_misfit_is_what_a_full_resource_lacks_and_what_any_holds_too_much():
    # Resource 0 stops both tenants at level 1/2; resource 1 stops nobody and is used by a quarter.
    demands, growth = sparse_of([[1, F(1, 2)], [1, 0]]), np.ones(2)
    state, _, found, seconds = run(demands, growth, loads_of(demands, growth))
    assert found == 0
    assert min(seconds.values()) >= 0
    for used, misfit in [
        ((1, 0.25), 0), ((0.75, 0.25), 0.25), ((1.25, 0.25), 0.25), ((1, 1.5), 0.5), ((0.75, 1.5), 0.5),
        ((0.25, 1.5), 0.75),
    ]:  # fmt: skip
        # What is held is a sum and what rounding took from it.
        state.sums[:, 0], state.sums[:, 1] = np.array(used) - 0.125, 0.125
        assert state.misfit(0) == misfit
    state.sums[0, 0] = math.nan
    assert math.isnan(state.misfit(0))


def test_the_resources_that_fill_up_first_are_found_among_those_that_anybody_demands():
    # Held, growing at, tenants: levels 1/2, 1 (one tenant), 1/4, (nobody), 3, and one without any rate left.
    sums = np.zeros((6, 8))
    sums[:, 0] = [0, 0.5, 0.5, 0, 0.25, 1]
    sums[:, 2] = [2, 0.5, 2, 0, 0.25, 0]
    sums[:, 4] = [2, 1, 3, 0, 5, 1]
    first = [2, 0, 1, 4, 5]
    for part, number in [(0, 1), (0.2, 2), (0.5, 3), (0.6, 4), (1, 5)]:
        assert np.flatnonzero(soonest(sums, part)).tolist() == sorted(first[:number])


@pytest.mark.parametrize("rows", [[[1, 2], [0]], [[0, 1], [2]], [[0, 2], [1]]])
def test_a_pattern_of_other_entries_is_refused(rows):
    # As many tenants, resources and entries, but others: a missing, a wrong and an exchanged tenant.
    def demands(lists):
        return SparseDemands.from_lists([[(r, 0.5) for r in row] for row in lists], n_resources=3)

    pattern = Pattern.of(demands([[0, 1], [0]]))
    with pytest.raises(ModelError, match="pattern names other tenants than demand a resource"):
        edrf(demands(rows), pattern=pattern)
    # As many for each resource: who is stopped in place of another would leave nobody to stop that one.
    with pytest.raises(ModelError, match="pattern names other tenants"):
        edrf(demands([[0], [1], [2]]), [1, 2, 3], pattern=Pattern.of(demands([[1], [2], [0]])))


def test_a_pattern_that_is_none_or_of_other_or_some_tenants_is_refused():
    # As many entries and resources, but more tenants: kernels would look up tenants that do not exist.
    many = SparseDemands.from_lists([[(r, 0.5)] for r in range(4) for _ in range(500)], n_resources=4)
    few = SparseDemands.from_lists([[(r, 0.5) for r in range(4)]] * 500, n_resources=4)
    with pytest.raises(ModelError, match=r"2,000 tenants, 2,000 entries.* does not belong to .*500 tenants"):
        edrf(few, pattern=Pattern.of(many))
    some = np.arange(500) % 2 == 0
    with pytest.raises(ModelError, match="pattern names other tenants"):
        edrf(few, pattern=Pattern.of(few, kept=some))
    with pytest.raises(ModelError, match="pattern must be a Pattern; got str"):
        edrf(few, pattern="kept")
    for bad in (some[:-1], some.astype(int), some.tolist()):
        with pytest.raises(ModelError, match=r"kept must be an array of bool of shape \(500,\)"):
            Pattern.of(few, kept=bad)
    with pytest.raises(ModelError, match=r"listed must be an array of bool of shape \(4,\)"):
        Pattern.of(few, some)


@pytest.mark.parametrize(
    ("levels", "epsilon", "overfull", "unexplained"),
    [
        ([0.5, 0.5], 0, 0, 0),
        ([0.75, 0.25], 0, 0, 2 / 3),
        ([1, 0], 0.5, 0, 1),
        ([0.75, 0.75], 0, 0.5, 0),
        ([0.25, 0.25], 0, 0, 0.5),
        ([0.25, 0.25], 0.25, 0, 0.25),
        ([0.25, 0.25], 0.5, 0, 0),
        ([0.5, -0.5], 0, math.inf, math.inf),
        ([0.5, math.nan], 0, math.inf, math.inf),
        ([0.5, math.inf], 0, math.inf, math.inf),
        ([0, 0], 0.25, 0, 0.75),
    ],
)
def test_residuals_by_hand(levels, epsilon, overfull, unexplained):
    # Two tenants on one resource: it may be left, be overfull, or stop the one before the other.
    found = residuals(sparse_of([[1], [1]]), np.ones(2), np.array(levels, dtype=float), epsilon)
    assert found[0] == overfull
    assert found[1] == pytest.approx(unexplained, abs=1e-15)


def test_a_full_resource_explains_only_those_who_demand_it():
    # A quarter of the first resource is free, and the first tenant demands no other.
    assert residuals(WORKED, np.ones(3), np.full(3, 0.5)) == (0, 0.25)
    assert residuals(WORKED, np.ones(3), np.full(3, 0.5), 0.25) == (0, 0)
