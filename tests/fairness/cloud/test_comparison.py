"""Measures of error against their definitions, counted out."""

import numpy as np
import pytest
from scipy import sparse

from fairness import ModelError
from fairness.cloud.approximate import dcdrf
from fairness.cloud.comparison import Comparison, compare
from fairness.cloud.exact import edrf
from fairness.cloud.rounds import edrf_rounds
from tests.fairness.cloud.instances import WORKED, random_rows


def test_worked_example():
    # Tenant 1 gets 1/2 instead of 3/4; 7/8 of everything is allocated instead of all.
    result = compare(dcdrf(WORKED, 0.25, threads=1), edrf(WORKED))
    np.testing.assert_allclose(result.deviations, [-1 / 3, 0, 0], rtol=0, atol=1e-15)
    assert result.relative_std == pytest.approx(np.sqrt(1 / 27), rel=1e-15)
    assert result.worst_shortfall == pytest.approx(1 / 3, rel=1e-15)
    assert result.utilization_ratio == 7 / 8
    assert result.shortfall(100 / 3) == pytest.approx(1 / 3, rel=1e-15)
    assert result.shortfall(34) == 0
    assert "shortfall 0.333 of the worst" in repr(result)


def test_against_itself():
    result = compare(edrf_rounds(WORKED, threads=1), edrf(WORKED))
    assert (result.relative_std, result.worst_shortfall, result.shortfall()) == (0, 0, 0)
    assert result.utilization_ratio == 1


def test_shortfall_is_the_threshold_of_the_worst():
    missed = np.random.default_rng(1).random(10_000)
    result = Comparison(-missed, 1.0)
    ranked = np.sort(missed)[::-1]
    assert result.shortfall(0.1) == ranked[9]
    assert result.shortfall(0.11) == ranked[10]
    assert result.shortfall(1e-9) == ranked[0] == result.worst_shortfall
    assert result.shortfall(100) == ranked[-1]
    for k in range(1, 10_000, 7):
        assert result.shortfall(k / 100) == ranked[k - 1]


def test_tenants_that_gain_miss_nothing():
    result = Comparison(np.array([0.5, -0.1, 0.0, 0.2]), 1.0)
    assert result.worst_shortfall == 0.1
    assert result.shortfall(50) == 0
    assert result.relative_std == pytest.approx(np.sqrt(0.3 / 4))


def test_rows_of_the_allocation_deviate_alike():
    rng = np.random.default_rng(2)
    rows, weights = random_rows(60, 12, 5, rng), rng.integers(1, 4, 60)
    cut, exact = edrf_rounds(rows, weights, max_rounds=2, threads=1), edrf(rows, weights)
    result = compare(cut, exact)
    ours, theirs = cut.allocation(), exact.allocation()
    np.testing.assert_allclose(
        np.repeat(result.deviations, np.diff(ours.indptr)), ours.data / theirs.data - 1, atol=1e-14
    )
    expected = ours.sum() / theirs.sum()
    assert result.utilization_ratio == pytest.approx(expected, rel=1e-12)


def test_weights_may_have_a_factor_in_common():
    # Levels differ by the factor, tasks do not.
    result = compare(dcdrf(WORKED, 0.25, [5, 5, 5], threads=1), edrf(WORKED))
    np.testing.assert_allclose(result.deviations, [-1 / 3, 0, 0], rtol=0, atol=1e-15)


def test_other_problems_are_refused():
    exact = edrf(WORKED)
    rows = WORKED.matrix().toarray()
    with pytest.raises(ModelError, match=r"same demands; got shapes \(2, 2\) and \(3, 2\)"):
        compare(dcdrf(sparse.csr_array(rows[:2]), 0.1, threads=1), exact)
    with pytest.raises(ModelError, match="of the same demands; values differ"):
        compare(dcdrf(sparse.csr_array(rows / 2), 0.1, threads=1), exact)
    with pytest.raises(ModelError, match="of the same demands; columns differ"):
        compare(dcdrf(sparse.csr_array(rows[:, ::-1]), 0.1, threads=1), exact)
    with pytest.raises(ModelError, match="of the same demands; starts differ"):
        compare(dcdrf(sparse.csr_array(np.maximum(rows, rows[::-1])), 0.1, threads=1), exact)
    with pytest.raises(ModelError, match=r"the same weights, .* by factors 3 to 6"):
        compare(dcdrf(WORKED, 0.1, [1, 2, 1], threads=1), exact)
    # The same demands in other memory are the same.
    assert compare(dcdrf(sparse.csr_array(rows), 0, threads=1), exact).worst_shortfall == 0


@pytest.mark.parametrize("percent", [0, 101])
def test_bad_percent(percent):
    with pytest.raises(ModelError, match=r"percent must be a finite number > 0 and <= 100; got"):
        Comparison(np.zeros(3), 1.0).shortfall(percent)
