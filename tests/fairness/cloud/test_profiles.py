"""Profiles of Table 3 of the DC-DRF paper: the laws of lengths, places and values, streams, errors.

Statistical tests compare a sum with its mean by the normal law, or counts by chi-square, at the level 1e-6
and with fixed seeds.
"""

import types
from collections import Counter
from itertools import combinations, permutations

import numpy as np
import pytest
from scipy import stats

from fairness import ModelError
from fairness.cloud import SparseDemands
from fairness.cloud.instances.profiles import PROFILES, TILE, _draw, demand_profile

ALPHA = 1e-6
NAMES = list(PROFILES)


def lengths_of(demands):
    return np.diff(demands.starts)


def assert_mean(sample_sum, expected, variance):
    """The sum of many independent terms is normal to good accuracy."""
    z = (sample_sum - expected) / np.sqrt(variance)
    assert abs(z) <= stats.norm.isf(ALPHA / 2), z


def assert_law(counts, probabilities):
    """Chi-square, with rare outcomes merged until 20 of each are expected."""
    expected = counts.sum() * probabilities
    seen, wanted = [0.0], [0.0]
    for c, e in zip(counts, expected, strict=True):
        if wanted[-1] >= 20:
            seen.append(0.0)
            wanted.append(0.0)
        seen[-1] += c
        wanted[-1] += e
    if wanted[-1] < 20 and len(wanted) > 1:
        seen[-2:], wanted[-2:] = [sum(seen[-2:])], [sum(wanted[-2:])]
    assert len(seen) > 1
    assert stats.chisquare(seen, wanted).pvalue > ALPHA


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [pytest.param(np.float32, marks=pytest.mark.long), np.float64])
def test_demands_are_well_formed(name, dtype):
    demands = demand_profile(name, 2000, 1500, rng=1, dtype=dtype)
    # Refuses columns that do not rise or lie outside, and values outside (0, 1].
    SparseDemands(demands.matrix())
    assert (demands.n_tenants, demands.n_resources) == (2000, 1500)
    assert (demands.values.dtype, demands.columns.dtype) == (dtype, np.int32)
    assert set(np.unique(lengths_of(demands))) <= set(range(2, 129))
    assert demands.values.min() >= np.float32(0.01)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("U0", {}),
        ("G2", {}),
        ("G0", {"mean": 40, "deviation": 9}),
        ("G1", {"shortest": 1, "longest": 9, "mean": 3, "deviation": 2}),
    ],
)
def test_law_of_the_lengths(name, options):
    demands = demand_profile(name, 50_000, 500, rng=2, **options)
    shortest, longest = options.get("shortest", 2), options.get("longest", 128)
    k = np.arange(shortest, longest + 1)
    if name == "U0":
        law = np.full(127, 1 / 127)
    else:
        law = stats.norm.pdf(k, options.get("mean", shortest), options.get("deviation", longest / 4))
        law /= law.sum()
    np.testing.assert_allclose(PROFILES[name].length_law(**options), law, rtol=1e-12)
    size = lengths_of(demands)
    assert_law(np.bincount(size, minlength=longest + 1)[shortest:], law)
    mean = law @ k
    assert_mean(size.sum(), 50_000 * mean, 50_000 * (law @ (k - mean) ** 2))


@pytest.mark.parametrize("mean", [-1e200, 1e200, -1.7e308, 1.7e308, 2.25])
def test_extreme_gaussians_are_laws(mean):
    for deviation in (1e-300, 1e-3, 1e300):
        law = PROFILES["G0"].length_law(mean=mean, deviation=deviation)
        assert law.sum() == pytest.approx(1, rel=1e-12)
        if deviation < 1:
            # All at the length next to the mean.
            assert law[-1 if mean > 128 else 0] == 1


def test_small_tenants_prevail_in_a_gaussian():
    law = PROFILES["G0"].length_law()
    assert law.argmax() == 0
    assert law[:42].sum() > 0.8 > law[:41].sum()


def test_resources_and_values_of_the_whole_data_centre_are_uniform():
    demands = demand_profile("U0", 20_000, 700, rng=3, capacities=5, dtype=np.float64)
    counts = np.bincount(demands.columns, minlength=700)
    # Without replacement: counts vary less than independent draws, by a factor (700 - k)/699 for length k.
    # Scaled up to the variance of independent draws they follow chi-square.
    k = lengths_of(demands)
    spread = (k * (700 - k)).sum() / 700**2
    statistic = ((counts - k.sum() / 700) ** 2).sum() / spread * 699 / 700
    assert stats.chi2.isf(1 - ALPHA / 2, 699) < statistic < stats.chi2.isf(ALPHA / 2, 699)
    u = (demands.values - 1 / 5) / (1 - 1 / 5)
    assert stats.kstest(u, "uniform").pvalue > ALPHA
    # The value does not depend on the place in the row: sorting came first.
    first = u[demands.starts[:-1]]
    assert_mean(first.sum(), 10_000, 20_000 / 12)


def test_capacities_of_each_resource():
    capacities = np.r_[1.0, 2.0, np.full(48, 10.0)]
    demands = demand_profile("U0", 3000, 50, rng=4, longest=20, capacities=capacities, dtype=np.float64)
    units = demands.values * capacities[demands.columns]
    assert (demands.values[demands.columns == 0] == 1).all()
    for r, capacity in ((1, 2.0), (2, 10.0)):
        mine = units[demands.columns == r]
        assert stats.kstest((mine - 1) / (capacity - 1), "uniform").pvalue > ALPHA


@pytest.mark.long
@pytest.mark.parametrize("name", ["U0", "U1", "U2"])
def test_law_of_whole_vectors(name):
    # 7 resources in pods of 2, 2 and 3, vectors of 3: every course of the three draws, with its probability.
    pods = [[0, 1], [2, 3], [4, 5, 6]]
    profile, law = PROFILES[name], Counter()

    def go(places, vector, p):
        if len(vector) == 3:
            law[frozenset(vector)] += p
            return
        for place, share in places:
            free = [r for r in place if r not in vector] or [r for r in range(7) if r not in vector]
            for r in free:
                go(places, [*vector, r], p * share / len(free))

    for own, other in permutations(pods, 2):
        shares = (profile.first_pod, profile.second_pod, profile.anywhere)
        places = [(q, v) for q, v in zip((own, other, range(7)), shares, strict=True) if v]
        go(places, [], 1 / 6)
    demands = demand_profile(name, 100_000, 7, rng=9, pods=3, shortest=3, longest=3)
    seen = Counter(map(frozenset, demands.columns.reshape(-1, 3).tolist()))
    vectors = [frozenset(v) for v in combinations(range(7), 3)]
    assert_law(np.array([seen[v] for v in vectors]), np.array([law[v] for v in vectors]))


@pytest.mark.parametrize("cores", [1, 2, 5])
def test_cores_do_not_matter(monkeypatch, cores):
    expected = demand_profile("G2", 3 * TILE + 7, 900, rng=11)
    monkeypatch.setattr("fairness.cloud.model.tiles.available_cores", lambda: cores)
    again = demand_profile("G2", 3 * TILE + 7, 900, rng=11)
    for name in ("starts", "columns", "values"):
        np.testing.assert_array_equal(getattr(again, name), getattr(expected, name))


def test_uncompiled_kernel_gives_the_same_numbers():
    expected = demand_profile("G2", 60, 400, rng=12, pods=5)
    columns, values = np.empty_like(expected.columns), np.empty_like(expected.values)
    stream = np.random.default_rng(12)
    stream.random(60)
    own = stream.spawn(1)[0]
    _draw.py_func(own, expected.starts, columns, values, 400, 5, 0.5, 0.3, np.array([0.01]))
    np.testing.assert_array_equal(columns, expected.columns)
    np.testing.assert_array_equal(values, expected.values)


def test_seeds():
    def values(rng):
        return demand_profile("U1", 100, 300, rng=rng).values

    np.testing.assert_array_equal(values(1), values(np.random.default_rng(1)))
    assert not np.array_equal(values(1)[:100], values(2)[:100])
    stream = np.random.default_rng(1)
    first, second = values(stream), values(stream)
    assert not np.array_equal(first[:100], second[:100])
    # Tiles do not repeat each other.
    long = demand_profile("U0", 2 * TILE, 300, rng=1, shortest=3, longest=3).columns.reshape(2, -1)
    assert (long[0] == long[1]).mean() < 0.05


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("X0", 10, 300), {}, "unknown profile 'X0'; known are U0, U1, U2, G0, G1, G2"),
        (("U0", 0, 300), {}, "n_tenants must be a whole number from 1 to 2147483647; got 0"),
        (("U0", 1e6, 300), {}, "n_tenants must be a whole number from 1 to 2147483647; got 1000000.0"),
        (("U0", 10, -3), {}, "n_resources must be a whole number from 1 to 2147483647; got -3"),
        (("U0", 10, 300), {"shortest": 0}, "shortest must be a whole number from 1 to 2147483647; got 0"),
        (
            ("U0", 10, 300),
            {"shortest": 9, "longest": 8},
            "longest must be a whole number from 9 to 2147483647; got 8",
        ),
        (("U0", 10, 100), {}, "longest = 128 exceeds n_resources = 100, .* give longest <= 100"),
        (("G0", 10, 300), {"mean": np.nan}, "mean must be a finite number; got nan"),
        (("G0", 10, 300), {"deviation": 0}, "deviation must be a finite number > 0; got 0"),
        (("U1", 10, 300), {"pods": 0}, "pods must be a whole number from 1 to 2147483647; got 0"),
        (("U1", 10, 300), {"pods": 301}, "pods = 301 must be between 1, .* U1, and n_resources = 300"),
        (("G2", 10, 300), {"pods": 1}, "pods = 1 must be between 2, the pods of a tenant of profile G2"),
        (("U2", 10, 1), {"shortest": 1, "longest": 1}, "pods = 1 must be between 2"),
        (
            ("U0", 10, 300),
            {"capacities": 0.5},
            r"capacities must be finite and >= 1.* got 0.5 at index \(0,\)",
        ),
        (("U0", 10, 300), {"capacities": [1] * 299 + [np.inf]}, r"got inf at index \(299,\)"),
        (("U0", 10, 300), {"capacities": [2, 3]}, r"must be a number or have shape \(300,\); got \(2,\)"),
        (("U0", 10, 300), {"dtype": np.float16}, "dtype must be float32 or float64; got float16"),
        (("U0", 10, 300), {"dtype": "single precision"}, "dtype must be .*; got 'single precision'"),
        ((["U0"], 10, 300), {}, r"unknown profile \['U0'\]"),
        (("U0", 2**31, 300), {}, "n_tenants must be a whole number from 1 to 2147483647; got 2147483648"),
        (("U0", 10, 2**31), {}, "n_resources must be a whole number from 1 to 2147483647; got"),
    ],
)
def test_errors(arguments, options, message):
    with pytest.raises(ModelError, match=message):
        demand_profile(*arguments, rng=1, **options)


def test_memory_is_counted_before_it_is_taken(monkeypatch):
    # 65 entries of 4 + 4 bytes and 24 bytes per tenant must fit into nine tenths of the free memory.
    needed = 1000 * (24 + 65 * 8)
    for spare, good in ((1.001, True), (0.999, False)):
        memory = types.SimpleNamespace(available=spare * needed / 0.9)
        monkeypatch.setattr("fairness.machine.memory.psutil.virtual_memory", lambda memory=memory: memory)
        monkeypatch.setattr("fairness.machine.memory.UNASKED", 0)
        if good:
            demand_profile("U0", 1000, 300, rng=1)
        else:
            with pytest.raises(ModelError, match=r"U0 of 1,000 tenants needs 0\.000507 GiB, but only"):
                demand_profile("U0", 1000, 300, rng=1)
