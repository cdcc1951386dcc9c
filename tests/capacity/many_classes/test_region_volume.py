"""Estimated volumes against closed forms and exact volumes, up to thirty classes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from capacity import packing_region, region_volume, stability_region
from capacity.many_classes import volume_estimate
from capacity.many_classes.hit_and_run import FRESH, sweeps
from capacity.results import VolumeEstimate
from fairness import Cluster, ModelError, NotConvergedError, Problem
from fairness.model.nonzeros import nonzeros
from queueing.networks.topology import linear_network

CERTAIN = 1e-6
"""False-alarm rate of every test here that compares an estimate with the truth."""


def simplex(n):
    # In the orthant the cross-polytope is this simplex.
    return Problem(np.ones((n, 1)), [1]), -math.lgamma(n + 1)


def box(n):
    return Problem(np.eye(n), np.arange(1, n + 1)), math.lgamma(n + 1)


def triangles(n):
    return Problem(np.kron(np.eye(n // 2), np.ones((2, 1))), np.ones(n // 2)), -n / 2 * math.log(2)


def line(n):
    # The long route takes x of every link: the integral of (1 - x)^(n - 1).
    return linear_network(n - 1), -math.log(n)


@pytest.mark.long
@pytest.mark.parametrize("make", [simplex, box, triangles, line])
@pytest.mark.parametrize("n", [2, 6, 20])
def test_volumes_known_in_closed_form(make, n):
    problem, logarithm = make(n)
    found = region_volume(stability_region(problem), precision=0.1, rng=n)
    wide = stats.t.isf(CERTAIN / 2, len(found.chains) - 1) / stats.t.isf(0.025, len(found.chains) - 1)
    assert abs(math.expm1(logarithm - found.logarithm)) < wide * found.relative_half_width
    # Aimed at 0.8 of the precision; the spread of 20 chains is known to a third or so.
    assert found.relative_half_width < 0.2


@pytest.mark.parametrize("seed", range(6))
def test_volumes_of_random_regions(seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 6)), int(rng.integers(1, 8))
    demands = rng.uniform(0.01, 1.0, (n, m)) * np.exp(rng.normal(0, 3, (n, 1)))
    region = stability_region(Problem(demands, rng.uniform(0.5, 2.0, m)))
    found = region_volume(region, precision=0.1, rng=seed)
    wide = stats.t.isf(CERTAIN / 2, len(found.chains) - 1) / stats.t.isf(0.025, len(found.chains) - 1)
    assert found.value == pytest.approx(region.volume, rel=wide * found.relative_half_width)


def test_whole_tasks_and_servers_have_volumes_too():
    for region in (
        packing_region(Problem([[4, 1], [1, 4]], [16, 16])),
        stability_region(Cluster([[1, 2], [2, 1], [1, 1]], [[4, 5], [6, 3]])),
    ):
        found = region_volume(region, precision=0.05, rng=3)
        wide = stats.t.isf(CERTAIN / 2, 19) / stats.t.isf(0.025, 19)
        assert found.value == pytest.approx(region.volume, rel=wide * found.relative_half_width)


@pytest.mark.long
def test_intervals_cover_as_often_as_they_say():
    problem, logarithm = line(5)
    region, confidence, runs = stability_region(problem), 0.8, 40
    covered = 0
    for seed in range(runs):
        found = region_volume(region, precision=0.2, confidence=confidence, rng=seed)
        covered += abs(math.expm1(logarithm - found.logarithm)) < found.relative_half_width
    low, high = stats.binom.interval(1 - CERTAIN, runs, confidence)
    assert low <= covered <= high


def test_the_walk_keeps_its_law():
    # Two classes that share a resource: the law of the sum of x with density e^(-3 sum) on the triangle.
    columns = nonzeros(np.ones((1, 2))).columns
    x, sums, rate = np.array([0.2, 0.3]), np.empty(60_000), 3.0
    sweeps(*columns, 1, x, rate, 100, sums, np.random.default_rng(1))
    law = stats.gamma(2, scale=1 / rate)
    # Every 10th sweep is nearly independent of the one before: a sweep of two classes forgets most of it.
    result = stats.kstest(sums[::10], lambda s: law.cdf(np.minimum(s, 1.0)) / law.cdf(1.0))
    assert result.pvalue > CERTAIN
    assert sums.max() <= 1.0 + 1e-12


@pytest.mark.parametrize("rate", [0.0, 1e-12, 1e-10, 1e-7, 0.5, 3.0, 60.0])
def test_each_coordinate_is_drawn_from_its_law_given_the_others(rate):
    # The exponential law cut off where the first inequality is met, by its quantiles; the same draws.
    # The tightest inequality of a class is not always the last one in its column.
    shares = np.array([[1.0, 0.5, 0.0], [0.3, 1.5, 0.4], [0.0, 0.9, 1.2], [0.6, 0.2, 0.3]])
    skipped, counted = 5, 2 * FRESH + 3
    x, sums = np.array([0.1, 0.2, 0.05]), np.empty(counted)
    expected, draws = x.copy(), np.random.default_rng(3)
    found = []
    for _ in range(skipped + counted):
        for k in range(3):
            others = np.delete(shares, k, axis=1) @ np.delete(expected, k)
            top = ((1 - others)[shares[:, k] > 0] / shares[shares[:, k] > 0, k]).min()
            part = draws.random()
            # With beta top below 1e-6 the law is uniform to that precision.
            cut = 1 - math.exp(-rate * top)
            expected[k] = part * top if rate * top < 1e-6 else -math.log(1 - part * cut) / rate
        found.append(expected.sum())
    sweeps(*nonzeros(shares).columns, 4, x, rate, skipped, sums, np.random.default_rng(3))
    np.testing.assert_allclose(sums, found[skipped:], rtol=2e-6)
    np.testing.assert_allclose(x, expected, rtol=2e-6)


def test_a_walk_that_starts_on_or_outside_the_boundary_comes_to_it():
    # No room: a class stays at 0 or goes back to the boundary, and never below 0.
    for start in ([1.0, 0.0], [0.0, 1.0], [1.0, 0.5], [0.1, 1.5]):
        x, sums = np.array(start), np.empty(1)
        sweeps(*nonzeros(np.ones((1, 2))).columns, 1, x, 2.0, 0, sums, np.random.default_rng(1))
        assert (x >= 0).all()
        assert (sums <= 1 + 1e-12).all()


def test_the_same_seed_gives_the_same_volume_whoever_computes():
    region = stability_region(triangles(6)[0])
    one, two = (region_volume(region, precision=0.2, rng=5, n_jobs=k) for k in (1, 2))
    np.testing.assert_array_equal(one.chains, two.chains)
    assert one.entropy == 5
    assert one.logarithm == region_volume(region, precision=0.2, rng=one.entropy).logarithm


def test_an_estimate_tells_itself():
    found = region_volume(stability_region(simplex(30)[0]), precision=0.1, confidence=0.9, rng=2)
    assert isinstance(found, VolumeEstimate)
    assert "an estimate by simulated annealing: 20 independent chains" in found.summary()
    assert "with confidence 0.9" in found.summary()
    low, high = found.interval
    assert low < found.value < high
    assert found.value == pytest.approx(1 / math.factorial(30), rel=0.3)
    assert len(found.to_dataframe()) == len(found.rates)
    assert (np.diff(found.rates) < 0).all()


def test_volumes_beyond_the_floats_have_a_logarithm():
    found = region_volume(stability_region(Problem(1e200 * np.eye(4), np.ones(4))), precision=0.2, rng=2)
    assert found.value == 0.0
    assert found.logarithm == pytest.approx(-800 * math.log(10), abs=1)


def test_walks_that_do_not_mix_are_refused(monkeypatch):
    """Chains that stand still in the second half drift away from the first."""
    original = volume_estimate.sweeps

    def stuck(start, row, share, n_rows, x, rate, skipped, sums, generator):
        original(start, row, share, n_rows, x, rate, skipped, sums, generator)
        sums[len(sums) // 2 :] *= 0.9

    monkeypatch.setattr(volume_estimate, "sweeps", stuck)
    with pytest.raises(NotConvergedError, match="halves of the walks differ by") as error:
        region_volume(stability_region(box(5)[0]), precision=0.1, rng=1)
    assert isinstance(error.value.best, VolumeEstimate)


def test_refusals():
    region = stability_region(linear_network(2))
    with pytest.raises(ModelError, match="precision must be"):
        region_volume(region, precision=0.5)
    with pytest.raises(ModelError, match=r"its volume is known: take region\.volume"):
        region_volume(stability_region(Problem([[1], [0]], [1], limits=[np.inf, 1])))
    with pytest.raises(ModelError, match="got Problem"):
        region_volume(linear_network(2))
    with pytest.raises(NotConvergedError, match="time_limit=0 seconds are over"):
        region_volume(region, time_limit=0)
