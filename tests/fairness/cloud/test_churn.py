"""Churn: who changes, by how much, and what stays."""

import numpy as np
import pytest
from scipy import stats

from fairness import ModelError
from fairness.cloud import Pattern, SparseDemands, edrf
from fairness.cloud.instances.churn import churned
from fairness.cloud.instances.profiles import demand_profile


@pytest.mark.parametrize("dtype", [pytest.param(np.float32, marks=pytest.mark.long), np.float64])
@pytest.mark.parametrize(("fraction", "change"), [(0.05, 0.05), (0.5, 0.5), (1.0, 0.999)])
def test_entries_of_some_tenants_change_up_or_down(dtype, fraction, change):
    demands = demand_profile("U0", 4000, 500, rng=1, dtype=dtype)
    before = demands.values.copy()
    new, changed = churned(demands, fraction=fraction, change=change, rng=2)
    np.testing.assert_array_equal(demands.values, before)
    assert len(changed) == round(fraction * 4000)
    assert (np.diff(changed) > 0).all()
    mine = np.repeat(np.isin(np.arange(4000), changed), np.diff(demands.starts))
    np.testing.assert_array_equal(new.values[~mine], before[~mine])
    ratio = (new.values[mine].astype(float) / before[mine]).astype(float)
    up = np.isclose(ratio, 1 + change, rtol=1e-6) | (new.values[mine] == 1)
    # Both are rounded to the type: 1e-6 in single precision, also where little is left.
    down = np.isclose(ratio, 1 - change, rtol=1e-4, atol=0)
    assert (up ^ down).all()
    # Up and down are equally likely, entry by entry: two-sided, fails by chance with 1e-6.
    assert stats.binomtest(int(up.sum()), len(up)).pvalue > 1e-6
    assert ((new.values > 0) & (new.values <= 1)).all()


def test_any_tenant_may_change():
    demands = demand_profile("U0", 50, 200, rng=1)
    counts = np.zeros(50)
    for seed in range(400):
        counts[churned(demands, fraction=0.1, rng=seed)[1]] += 1
    # 5 of 50 without replacement: the variance of a count is 400 * 0.1 * 0.9. Fails by chance with 1e-6.
    statistic = ((counts - 40) ** 2).sum() / 36 * 49 / 50
    assert statistic < stats.chi2.isf(1e-6, 49)


def test_the_sparsity_is_shared():
    demands = demand_profile("G2", 2000, 500, rng=1)
    # Known before the change, and not after it.
    old = demands.largest.copy()
    new, changed = churned(demands, fraction=0.3, change=0.2, rng=3)
    assert new.starts is demands.starts
    assert new.columns is demands.columns
    assert new.n_resources == 500
    assert (new.largest[changed] != old[changed]).all()
    checked = SparseDemands(new.matrix())
    np.testing.assert_array_equal(checked.values, new.values)
    kept, fresh = edrf(new, pattern=Pattern.of(demands)), edrf(checked)
    np.testing.assert_array_equal(kept.levels, fresh.levels)
    # Entry by entry: demands that keep their proportions would leave every level as it is.
    assert (kept.levels != edrf(demands).levels).mean() > 0.5


def test_nothing_changes():
    demands = demand_profile("G0", 100, 200, rng=1)
    for options, size in (({"fraction": 0}, 0), ({"fraction": 0.004}, 0), ({"change": 0}, 5)):
        new, changed = churned(demands, rng=1, **options)
        assert len(changed) == size
        np.testing.assert_array_equal(new.values, demands.values)


def test_demands_stay_above_zero_and_at_most_all():
    tiny = np.finfo(np.float32).smallest_subnormal
    demands = SparseDemands.from_lists([[(0, 1.0), (1, float(tiny))]] * 50, n_resources=2)
    narrow = SparseDemands(demands.matrix().astype(np.float32))
    new, _ = churned(narrow, fraction=1, change=0.9, rng=1)
    assert set(new.values[0::2]) == {np.float32(0.1), np.float32(1)}
    assert (new.values[1::2] > 0).all()


def test_seeds():
    demands = demand_profile("G0", 1000, 200, rng=1)
    one, same, other = (churned(demands, rng=rng)[0].values for rng in (1, np.random.default_rng(1), 2))
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fraction": -0.1}, "fraction must be a finite number >= 0 and <= 1, a part .*; got -0.1"),
        ({"fraction": 1.5}, "fraction must be .*; got 1.5"),
        (
            {"change": 1.0},
            "change must be a finite number >= 0 and < 1, so that demands stay positive; got 1",
        ),
        ({"change": -0.05}, "change must be .*; got -0.05"),
    ],
)
def test_errors(options, message):
    demands = demand_profile("G0", 10, 200, rng=1)
    with pytest.raises(ModelError, match=message):
        churned(demands, rng=1, **options)
