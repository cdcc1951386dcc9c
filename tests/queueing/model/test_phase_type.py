from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.linalg import expm

from fairness import DRF, Problem
from fairness.errors import ModelError
from queueing import simulate
from queueing.model.laws import (
    Deterministic,
    Erlang,
    Exponential,
    Hyperexponential,
    Lognormal,
    TruncatedPareto,
)
from queueing.model.phase_type import PhaseType, coxian, fit_phases, phases_of
from queueing.model.system import System
from tests.queueing.simulation.simulated import under

# Statistical tests fail by chance with this probability each; seeds are fixed.
FALSE_ALARM = 1e-6
FITS = (fit_phases, coxian)
VARIATIONS = [0.05, 0.1, 1 / 7, 0.19, 1 / 3, 0.34, 0.5, 0.51, 0.75, 0.999999, 1.0, 1.000001, 2.0, 30.0, 1e4]


def random_law(rng, m):
    """Any phase-type law of m phases, with cycles and phases that end nothing."""
    rates = rng.exponential(size=(m, m)) * (rng.random((m, m)) < 0.6)
    np.fill_diagonal(rates, 0.0)
    ends = rng.exponential(size=m) * (rng.random(m) < 0.5)
    ends[-1] += 0.3
    rates[:, -1] += 0.1
    np.fill_diagonal(rates, 0.0)
    return PhaseType(rng.dirichlet(np.ones(m)), rates - np.diag(rates.sum(axis=1) + ends))


@pytest.mark.long
def test_moments_are_the_integrals_of_the_survival_function():
    rng = np.random.default_rng(3)
    for m in (1, 2, 3, 5):
        law = random_law(rng, m)
        for order in (1, 2, 3):
            integral, _ = integrate.quad(
                lambda s, order=order, law=law: order * s ** (order - 1) * float(law.survival(s)), 0, np.inf
            )
            assert law.moment(order) == pytest.approx(integral, rel=1e-7)  # of quad
        assert law.mean == pytest.approx(law.moment(1), rel=1e-13)
        assert law.scv == pytest.approx(law.moment(2) / law.moment(1) ** 2 - 1, rel=1e-10)
        assert law.moment(0) == pytest.approx(1, rel=1e-14)
        points = np.array([[0.0, 0.01], [1.0, 30.0]])
        exact = [[law.initial @ expm(law.rates * t) @ np.ones(m) for t in row] for row in points]
        assert law.survival(points) == pytest.approx(np.array(exact), rel=1e-10)  # of expm in the tail
        other = law.with_mean(7.0)
        assert (other.mean, other.scv) == (pytest.approx(7.0), pytest.approx(law.scv))
        assert other.cdf(7 * 0.3) == pytest.approx(law.cdf(law.mean * 0.3), rel=1e-12)


@pytest.mark.long
def test_samples_follow_the_distribution_function():
    rng = np.random.default_rng(5)
    for law in (random_law(rng, 4), coxian(2, 5), fit_phases(1, 0.3)):
        values = law.sample(np.random.default_rng(1), 20_000)
        assert stats.kstest(values, law.cdf).pvalue > FALSE_ALARM
        generator = np.random.default_rng(1)
        blocks = [law.sample(generator, size) for size in (1, 700, 0, 99)]
        assert np.array_equal(np.concatenate(blocks), values[:800])


@pytest.mark.parametrize("scv", VARIATIONS)
@pytest.mark.parametrize("fit", FITS)
def test_fits_are_exact_in_both_moments(fit, scv):
    for mean in (1e-6, 1.0, 3e5):
        law = fit(mean, scv)
        # A few roundings per phase; those of the second moment weigh 1/scv in the scv.
        assert law.mean == pytest.approx(mean, rel=1e-13)
        assert law.scv == pytest.approx(scv, rel=1e-11)


@pytest.mark.parametrize("fit", FITS)
def test_fits_below_one_take_the_fewest_phases(fit):
    # Aldous and Shepp: m phases have scv >= 1/m.
    for scv, phases in ((0.99, 2), (0.51, 2), (0.5, 2), (0.4999, 3), (1 / 3, 3), (0.3, 4), (0.1, 10)):
        assert fit(1, scv).n_phases == phases
    assert fit_phases(1, 1).n_phases == 1


@pytest.mark.long
def test_fit_at_the_reciprocal_of_an_integer_is_erlang():
    for k in (1, 2, 3, 7, 50):
        for fit in FITS[: 1 if k == 1 else 2]:
            s = np.linspace(0.1, 3, 7)
            # The weight of the shorter branch is a root of a difference of roundings.
            assert fit(1, 1 / k).cdf(s) == pytest.approx(stats.gamma(k, scale=1 / k).cdf(s), abs=1e-6)


@pytest.mark.long
def test_laws_with_phases_keep_their_distribution_function():
    s = np.linspace(0, 9, 10)
    hyper = Hyperexponential([0.2, 0.0, 0.8], [3, 7, 0.5])
    mixture = 1 - 0.2 * np.exp(-s / 3) - 0.8 * np.exp(-s / 0.5)
    # 1e-13: the matrix exponential.
    assert phases_of(Exponential(2)).cdf(s) == pytest.approx(1 - np.exp(-s / 2), abs=1e-13)
    assert phases_of(Erlang(4, 3)).cdf(s) == pytest.approx(stats.gamma(4, scale=3 / 4).cdf(s), abs=1e-13)
    assert phases_of(hyper).cdf(s) == pytest.approx(mixture, abs=1e-13)
    assert phases_of(hyper).n_phases == 2
    # Coxian of scv 1 is exponential in disguise.
    assert coxian(2, 1).cdf(s) == pytest.approx(1 - np.exp(-s / 2), abs=1e-13)


def test_mean_inverses_of_phases():
    for k in (2, 3, 20):
        assert phases_of(Erlang(k, 2.0)).inverse_mean == pytest.approx(k / (k - 1) / 2, rel=1e-12)
    # Phases in another order, whose matrix is one like others.
    row = fit_phases(1, 0.07)
    mixed = PhaseType(row.initial[::-1], row.rates[::-1, ::-1])
    assert mixed.inverse_mean == pytest.approx(row.inverse_mean, rel=1e-12)
    # Two phases: the integral of (e^-s - e^-rs)/s is log(r).
    law = PhaseType([1, 0], [[-1e6, 1e6], [0, -1]])
    assert law.inverse_mean == pytest.approx(math.log(1e6) / (1 - 1e-6), rel=1e-12)
    for ends in (phases_of(Exponential()), PhaseType([1, 0], [[-1, 1 - 1e-6], [0, -1]])):
        assert ends.inverse_mean == math.inf


def test_phases_that_are_never_entered_are_left_out():
    law = PhaseType([1, 0, 0], [[-1, 0.5, 0], [0, -2, 0], [1, 1, -4]])
    short = phases_of(law)
    assert short.n_phases == 2
    assert (short.mean, short.scv) == (pytest.approx(law.mean), pytest.approx(law.scv))
    assert phases_of(short) is short


@pytest.mark.long
def test_unseen_work_is_that_of_the_same_mixture():
    law = Hyperexponential.fit(50.0, 2.0)
    for jobs in (0.5, 2, 100, 1e6):
        # 1e-8: the quantile is found to 1e-12 of an upper bound of it.
        for power in (1, 2):
            unseen = law.unseen_work(jobs, power)
            assert phases_of(law).unseen_work(jobs, power) == pytest.approx(unseen, rel=1e-8)


@pytest.mark.long
def test_simulation_draws_from_phases():
    system = System(Problem([[1]], [1]), [0.25], [3.0])
    result = simulate(under(system, sizes=coxian(1, 3)), DRF(), jobs=20_000, rng=2)
    # M/G/1 processor sharing is insensitive; five half-widths of 95 %.
    assert abs(result.mean_durations[0] - 12) < 5 * result.half_widths["mean_durations"][0]


@pytest.mark.parametrize(
    ("initial", "rates", "message"),
    [
        ([1, 0], [[-1]], "shape"),
        ([], np.empty((0, 0)), "shape"),
        ([0.5], [[-1]], "sum 1"),
        ([1.5, -0.5], -np.eye(2), ">= 0"),
        ([1], [[1]], "row 0"),
        ([1], [[0]], "row 0"),
        ([1, 0], [[-1, 2], [0, -1]], "row 0"),
        ([1, 0], [[-1, -1], [0, -1]], "off the diagonal"),
        ([1, 0], [[-1, 1], [1, -1]], "never reached"),
        ([1, 0], [[-1, 1 - 1e-10], [1, -1]], "by more than 1e-9 of its diagonal entry: less is rounding"),
        ([1, 0], [[-1, 0], [0, -math.inf]], "finite"),
        ("a", [[-1]], "initial"),
        ([1], [[-1], [2, 3]], "rates"),
    ],
)
def test_wrong_phases_are_refused(initial, rates, message):
    with pytest.raises(ModelError, match=message):
        PhaseType(initial, rates)


def test_wrong_arguments_are_refused():
    for law in (TruncatedPareto(1.5, 1e3), Deterministic(), Lognormal()):
        with pytest.raises(ModelError, match=r"fit_phases|simulate"):
            phases_of(law)
    with pytest.raises(ModelError, match="law must be a law such as Erlang"):
        phases_of("Erlang")
    for fit in FITS:
        for mean, scv in ((0, 1), (1, 0), (1, -1), (math.nan, 1), (1, math.inf), (True, 1), ("1", 1)):
            with pytest.raises(ModelError, match="finite number > 0"):
                fit(mean, scv)
        with pytest.raises(ModelError, match="1000"):
            fit(1, 1e-5)
    with pytest.raises(ModelError, match="mean"):
        coxian(1, 2).with_mean(0)
    with pytest.raises(ModelError, match="order"):
        coxian(1, 2).moment(-1)


@pytest.mark.parametrize("scv", [1 / 3, 0.4, 0.01, 1 / 1000])
def test_phases_in_a_row_are_erlang_laws_however_many(scv):
    law, values = fit_phases(2.0, scv), np.array([-1.0, 0.0, 0.5, 2.0, 3.0])
    ways, chances = np.flatnonzero(law.initial), law.initial[law.initial > 0]
    mixed = sum(
        p * Erlang(law.n_phases - int(k), (law.n_phases - int(k)) / -law.rates[0, 0]).upper_moments(values)
        for k, p in zip(ways, chances, strict=True)
    )
    assert law.upper_moments(values) == pytest.approx(mixed, rel=1e-12, abs=1e-14)
    assert law.survival(values) == pytest.approx(mixed[0], rel=1e-12, abs=1e-14)
    if law.n_phases <= 100:  # by the exponential of the matrix
        left = [law.initial @ expm(law.rates * s) for s in values[1:]]
        assert law.survival(values[1:]) == pytest.approx([row.sum() for row in left], abs=1e-12)
