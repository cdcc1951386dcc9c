"""Hard families: each is as hard as it says."""

import math
import types
from fractions import Fraction as F

import numpy as np
import pytest

from fairness import ModelError
from fairness.cloud import dcdrf, edrf
from fairness.cloud.instances.families import (
    HARD_FAMILIES,
    LIGHT,
    chain,
    chain_epsilon,
    decades,
    hot,
    identical,
    popular,
    single,
    ties,
)

N, M = 20_000, 2000


@pytest.mark.parametrize("name", HARD_FAMILIES)
def test_families_of_any_size(name):
    for n, m in ((5, 3), (50, 7), (1000, 100)):
        demands = HARD_FAMILIES[name](n, m, rng=1)
        assert (demands.n_tenants, demands.n_resources, demands.values.dtype) == (n, m, float)
        same = HARD_FAMILIES[name](n, m, rng=np.random.default_rng(1))
        np.testing.assert_array_equal(demands.columns, same.columns)
        np.testing.assert_array_equal(demands.values, same.values)
        other = HARD_FAMILIES[name](n, m, rng=2)
        if name != "identical" or m > 4:
            assert demands.n_entries != other.n_entries or (demands.columns != other.columns).any()
        # Compensated sums leave the rounding of single products.
        assert edrf(demands).certificate.residual <= 1e-13


@pytest.mark.parametrize("name", [name for name in HARD_FAMILIES if name != "decades"])
def test_one_resource(name):
    # All tenants demand it and hold the same dominant share of it.
    n = 9
    result = edrf(HARD_FAMILIES[name](n, 1, rng=1))
    np.testing.assert_allclose(result.dominant_shares, 1 / n, rtol=1e-15)
    assert result.events == 1


@pytest.mark.parametrize("name", HARD_FAMILIES)
def test_bad_sizes(name, monkeypatch):
    family = HARD_FAMILIES[name]
    for n, m, message in (
        (0, 3, "n_tenants must be a whole number from 1 to 2147483647; got 0"),
        (10, 2.5, r"n_resources must be a whole number from 1 to 2147483647; got 2\.5"),
    ):
        with pytest.raises(ModelError, match=message):
            family(n, m, rng=1)
    memory = types.SimpleNamespace(available=4e6)
    monkeypatch.setattr("fairness.machine.memory.psutil.virtual_memory", lambda: memory)
    family(8000, 10, rng=1)
    with pytest.raises(ModelError, match=r"a family of 10,000 tenants and 10 resources needs .* take fewer"):
        family(10_000, 10, rng=1)


def test_popular_resources_follow_zipf():
    demands = popular(N, M, rng=1)
    counts = np.sort(np.bincount(demands.columns, minlength=M))[::-1]
    # A tenant draws 1 to 8 resources and misses one of probability p in k draws with (1 - p)^k.
    p = 1 / np.arange(1, M + 1)
    p /= p.sum()
    expected = N * (1 - np.mean([(1 - p) ** k for k in range(1, 9)], axis=0))
    # The ten most popular ones are some 5 deviations apart from one another; 6 deviations: 2e-9 each.
    assert (abs(counts[:10] - expected[:10]) < 6 * np.sqrt(expected[:10])).all()
    # Not in the order of the numbers of resources.
    assert np.argmax(np.bincount(demands.columns)) != 0


def test_ties_are_exact():
    demands = ties(N, M, rng=1)
    assert set(demands.values) == {0.25, 0.5, 0.75, 1.0}
    result = edrf(demands)
    # 45 copies of 44 resources; some lack their last tenant, so that there are two kinds. Sums of the same
    # terms in another order may differ in the last bit.
    assert len(np.unique(np.round(np.log(result.levels), 12))) <= 2 * 44
    assert result.events > 20 * 44
    counts = np.bincount(demands.columns, minlength=M)
    assert (counts == 0).sum() >= M - 45 * 44


def test_everybody_demands_the_hot_resource():
    demands = hot(100_000, 10_000, rng=1)
    counts = np.bincount(demands.columns, minlength=10_000)
    place = counts.argmax()
    assert counts[place] == 100_000
    assert np.sort(counts)[-2] < 100
    result = edrf(demands)
    stopped = result.stoppers == place
    # It fills up last, after thousands of others.
    assert 0.15 < stopped.mean() < 0.35
    assert result.events > 1000
    assert (result.levels[stopped] == result.levels.max()).all()


def test_identical_tenants_stop_at_once():
    demands = identical(N, M, rng=1)
    table = demands.values.reshape(N, 4)
    assert (table == table[0]).all()
    assert (demands.columns.reshape(N, 4) == demands.columns[:4]).all()
    assert np.sort(table[0])[-2] == table[0].max()
    result = edrf(demands)
    assert result.events == 1
    assert np.ptp(result.levels) == 0


def test_vectors_of_one_entry():
    demands = single(N, M, rng=1)
    np.testing.assert_array_equal(demands.starts, np.arange(N + 1))
    # Tenants of a resource hold equal parts of it.
    counts = np.bincount(demands.columns, minlength=M)
    np.testing.assert_allclose(edrf(demands).dominant_shares, 1 / counts[demands.columns], rtol=1e-14)


@pytest.mark.parametrize(
    ("n", "m"), [(2, 1), (3, 2), (11, 10), (1000, 2), (1000, 999), (5000, 30), (100_000, 10_000)]
)
def test_every_round_of_the_chain_fills_up_one_resource(n, m):
    demands = chain(n, m, rng=1)
    assert np.diff(demands.starts).max() <= 2
    result = edrf(demands)
    assert result.events == m
    assert len(np.unique(result.levels)) == m
    assert result.free.max() <= 1e-13
    # Levels are geometric from the second on; the first resource has the tenants that were left over.
    levels = np.unique(result.levels)
    if m > 2:
        # The gaps grow like q^r - q^(r - 1) = 1/m; they are computed from levels that err by 1e-15 or so.
        np.testing.assert_allclose(levels[2:] / levels[1:-1], levels[2] / levels[1], rtol=1e-11)
    assert levels[0] * np.sum(result.levels == levels[0]) == pytest.approx(n, rel=1e-13)


@pytest.mark.parametrize(("n", "m"), [(3, 2), (11, 10), (1000, 2), (300, 40), (2000, 500)])
def test_the_chain_takes_dcdrf_as_many_rounds_up_to_epsilon(n, m):
    demands, epsilon = chain(n, m, rng=2), chain_epsilon(n, m)
    # m rounds of rounding errors of 1e-16 each.
    assert dcdrf(demands, epsilon - 1e-12).rounds == m
    assert dcdrf(demands, epsilon + 1e-12).rounds < m
    # No demands can be harder than this.
    assert epsilon <= 1 - n ** (-1 / (m - 1))


def test_the_chain_needs_more_tenants_than_resources():
    with pytest.raises(ModelError, match="chain needs more tenants than resources; got 7 and 7"):
        chain(7, 7, rng=1)
    with pytest.raises(ModelError, match="chain needs more tenants than resources; got 7 and 8"):
        chain_epsilon(7, 8)
    assert chain_epsilon(4, 1) == 1


@pytest.mark.parametrize("n", [N, N + 1])
def test_ten_decades_defeat_repeated_subtraction(n):
    demands = decades(n, M, rng=1)
    d = demands.matrix().tocsc()
    counts = np.diff(d.indptr)
    light_tenants = M - 2
    deep, gate = counts.argmax(), np.flatnonzero(counts == n - light_tenants)[0]
    assert counts[deep] == n
    # Growth on deep, as the demand over the largest one.
    rate = np.zeros(n)
    rate[d.indices[d.indptr[deep] : d.indptr[deep + 1]]] = d.data[d.indptr[deep] : d.indptr[deep + 1]]
    rate /= demands.largest
    light = rate < 0.1
    assert light.sum() == light_tenants
    assert rate[light].max() <= 2 * LIGHT
    assert rate[~light].min() >= 0.19
    # Heavy tenants stop at the gate, light ones at deep.
    result = edrf(demands)
    np.testing.assert_array_equal(result.stoppers, np.where(light, deep, gate))
    # The level of the light ones, with an exact load and what is exactly left for them.
    level = result.levels[~light][0]
    used = sum((F(float(v)) for v in rate[~light]), F(0)) * F(float(level)) / n
    exact = (1 - used) * n / sum((F(float(v)) for v in rate[light]), F(0))
    # About 1e-7 is left of deep, known up to roundings of 1e-16.
    assert result.levels[light][0] == pytest.approx(float(exact), rel=1e-7)
    load = 0.0
    for v in rate.tolist():
        load += v
    for v in rate[~light].tolist():
        load -= v
    assert abs(load / math.fsum(rate[light]) - 1) > 1e-5


def test_decades_needs_a_gate_a_deep_and_another_resource():
    for n, m in ((2, 3), (3, 2)):
        with pytest.raises(ModelError, match=f"at least 3 tenants and 3 resources; got {n} and {m}"):
            decades(n, m, rng=1)
