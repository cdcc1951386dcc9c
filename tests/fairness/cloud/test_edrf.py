"""Event-driven EDRF against Algorithm 1 in fractions, against DRF of one pool, and against its definition."""

import ast
import math
import os
import subprocess
import sys
from fractions import Fraction as F
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from fairness import DRF, ModelError, NotConvergedError, Problem
from fairness.cloud import Pattern, SparseDemands, edrf
from fairness.cloud.certificates import residuals
from fairness.cloud.instances.families import HARD_FAMILIES
from tests.fairness.cloud.instances import WORKED, algorithm_1, quarters, sparse_of
from tests.processes import PATIENCE


def test_worked_example():
    result = edrf(WORKED)
    np.testing.assert_array_equal(result.allocation().toarray(), [[3 / 4, 0], [1 / 4, 1 / 2], [0, 1 / 2]])
    # Two rounds: x = 3/2 and then 3/4 more.
    np.testing.assert_array_equal(result.levels, [9 / 4, 3 / 2, 3 / 2])
    assert (result.events, result.stoppers.tolist()) == (2, [0, 1, 1])
    np.testing.assert_array_equal(result.tasks, [3 / 4, 1 / 2, 1 / 2])
    assert result.certificate.residual == 0


def test_same_as_algorithm_1_in_fractions():
    # Demands in quarters are full of ties; sums of weights need not be 1.
    rng = np.random.default_rng(4)
    for _ in range(2100):
        rows, weights, given_weights = quarters(rng)
        expected, rises = algorithm_1(rows, weights)
        result = edrf(sparse_of(rows), given_weights)
        ours = result.allocation().toarray()
        # Sums of at most 6 numbers, divided once.
        np.testing.assert_allclose(ours, np.array(expected, dtype=float), rtol=1e-13, atol=0)
        assert result.events >= len(rises)
        assert result.certificate.residual <= 1e-14


def test_same_as_drf_of_one_pool():
    rng = np.random.default_rng(5)
    for _ in range(50):
        n, m = (int(v) for v in rng.integers(1, 30, 2))
        rows = rng.random((n, m)) * (rng.random((n, m)) < 0.3)
        rows[np.arange(n), rng.integers(m, size=n)] = rng.random(n) * 0.9 + 0.05
        weights = rng.integers(1, 4, n)
        tasks = DRF()(Problem(rows, np.ones(m), weights=weights), np.ones(n))
        np.testing.assert_allclose(edrf(sparse.csr_array(rows), weights).tasks, tasks, rtol=1e-12)


@st.composite
def instances(draw):
    n, m = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    entry = st.one_of(st.just(0.0), st.sampled_from([1e-6, 0.1, 0.25, 1.0]), st.floats(1e-3, 1.0))
    rows = [draw(st.lists(entry, min_size=m, max_size=m).filter(any)) for _ in range(n)]
    weights = np.array([draw(st.lists(st.floats(0.01, 1.0), min_size=m, max_size=m)) for _ in range(n)])
    return np.array(rows), weights / weights.sum(axis=0)


@given(instances())
@settings(max_examples=300, deadline=None)
def test_sharing_incentive_and_weighted_envy_freeness(instance):
    demands, weights = instance
    result = edrf(sparse.csr_array(demands), sparse.csr_array(np.where(demands > 0, weights, 0)))
    held = result.allocation().toarray()
    assert result.certificate.residual <= 1e-12
    for i, row in enumerate(demands):
        needs = row > 0
        own = (weights[i, needs] / row[needs]).min()
        assert result.tasks[i] >= own * (1 - 1e-12)
        for j in range(len(demands)):
            scaled = held[j, needs] * weights[i, needs] / weights[j, needs]
            assert (scaled / row[needs]).min() <= result.tasks[i] * (1 + 1e-12)


def random_demands(n, m):
    """Up to 8 resources of each tenant."""
    rng = np.random.default_rng(6)
    size = rng.integers(1, 9, n)
    columns, values = rng.integers(0, m, size.sum()), rng.random(size.sum()) * 0.999 + 0.001
    matrix = sparse.coo_array((values, (np.repeat(np.arange(n), size), columns)), shape=(n, m)).tocsr()
    matrix.data = np.minimum(matrix.data, 1.0)
    return matrix


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("family", [*HARD_FAMILIES, "random"])
def test_hard_families_are_certified(family, dtype):
    n, m = 100_000, 10_000
    if family == "random":
        matrix = random_demands(n, m)
    else:
        matrix = HARD_FAMILIES[family](n, m, rng=6).matrix()
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
    # The naive way, for comparison: subtraction in plain floats loses six digits here.
    rate = [float(v) for _, (_, v) in heavy]
    load = sum(rate) + 1e-10
    for v in rate:
        load -= v
    assert abs(load / 1e-10 - 1) > 1e-7


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
    expected, _ = algorithm_1([[F(1), F(1, 2)], [F(0), F(3, 4)]], [[F(w)] * 2 for w in weights])
    np.testing.assert_allclose(
        result.allocation().toarray()[:, :2], np.array(expected, dtype=float), rtol=1e-14
    )
    # Nobody demands the last resource.
    assert result.free[2] == 1


def test_levels_beyond_the_range_of_floats():
    with pytest.raises(NotConvergedError, match="near the limits of a float"):
        edrf(sparse_of([[1]]), [1e-320])


def test_a_kept_pattern_serves_other_demands():
    matrix = random_demands(2000, 300)
    demands = SparseDemands(matrix)
    pattern = Pattern.of(demands)
    np.testing.assert_array_equal(pattern.starts, matrix.tocsc().indptr)
    np.testing.assert_array_equal(pattern.tenants, matrix.tocsc().indices)
    other = matrix.copy()
    other.data = np.sqrt(other.data)
    kept = edrf(other, pattern=pattern)
    np.testing.assert_array_equal(kept.levels, edrf(other).levels)
    # The pattern that a result kept lists a part of the resources.
    again = edrf(other, pattern=edrf(matrix).pattern)
    np.testing.assert_array_equal(again.levels, kept.levels)
    np.testing.assert_array_equal(again.stoppers, kept.stoppers)
    with pytest.raises(ModelError, match="does not belong to"):
        edrf(matrix[:100], pattern=pattern)


@pytest.mark.parametrize("rows", [[[1, 2], [0]], [[0, 1], [2]], [[0, 2], [1]]])
def test_a_pattern_of_other_entries_is_refused(rows):
    # As many tenants, resources and entries, but others: a missing, a wrong and an exchanged tenant.
    def demands(lists):
        return SparseDemands.from_lists([[(r, 0.5) for r in row] for row in lists], n_resources=3)

    pattern = Pattern.of(demands([[0, 1], [0]]))
    with pytest.raises(ModelError, match=r"pattern names other tenants of resource \d than demand it"):
        edrf(demands(rows), pattern=pattern)
    # As many for each resource: who is stopped in place of another would leave nobody to stop that one.
    with pytest.raises(ModelError, match="pattern names other tenants"):
        edrf(demands([[0], [1], [2]]), pattern=Pattern.of(demands([[1], [2], [0]])))


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


def test_certificate_refuses_other_levels():
    matrix = random_demands(500, 60)
    result = edrf(matrix)
    for change in (0.999, 1.001):
        levels = result.levels.copy()
        levels[7] *= change
        assert max(residuals(result.demands, result.growth, levels)) > 1e-7
    assert max(residuals(result.demands, result.growth, -result.levels)) == np.inf


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
    ],
)
def test_residuals_by_hand(levels, epsilon, overfull, unexplained):
    # Two tenants on one resource: it may be left, be overfull, or stop the one before the other.
    found = residuals(sparse_of([[1], [1]]), np.ones(2), np.array(levels, dtype=float), epsilon)
    assert found[0] == overfull
    assert found[1] == pytest.approx(unexplained, abs=1e-15)


def test_uncompiled_kernels_give_the_same_numbers():
    # Also if they return after every event: at the end, with few resources, when nobody is left for the next.
    matrices = [random_demands(60, 12), random_demands(60, 4), sparse.csr_array(np.ones((3, 4)))]
    code = (
        "import sys, numpy as np; from scipy import sparse; from fairness.cloud import edrf\n"
        "from fairness.cloud.engines import filling\n"
        "ds = [sparse.csr_array(np.array(d)) for d in eval(sys.stdin.read())]; out = []\n"
        "for filling.WHILE in (filling.WHILE, 1): out.append([edrf(d).levels.tolist() for d in ds])\n"
        "print(out)"
    )
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONWARNINGS": "ignore"}
    plain = subprocess.run(
        [sys.executable, "-c", code],
        input=repr([matrix.toarray().tolist() for matrix in matrices]),
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    assert ast.literal_eval(plain.stdout) == [[edrf(matrix).levels.tolist() for matrix in matrices]] * 2


def test_summary_says_what_happened():
    text = repr(edrf(WORKED))
    assert "EDRF of 3 tenants and 2 resources" in text
    assert "2 resources stopped somebody" in text
    assert "dominant shares 0.5 to 0.75" in text
    assert "holds" in text
