"""Markovian arrival processes: their numbers against other formulas, their draws against their numbers."""

import math

import numpy as np
import pytest

from fairness.errors import ModelError
from queueing import MAP, Erlang, Hyperexponential, OnOff, Poisson, Renewal
from queueing.model.arrivals import Modulation

BURSTS = MAP.modulated([9.0, 1.0], [[0, 1], [0.25, 0]])
TURNS = MAP([[-2, 0], [0, -5]], [[0, 2], [5, 0]])  # one long gap, one short one, in turn


def test_rates_of_a_modulated_poisson_process():
    # Two phases, on a fifth of the time; the closed form of Heffes and Lucantoni.
    assert BURSTS.rate == pytest.approx(9 * 0.2 + 1 * 0.8, rel=1e-15)
    (a, b), (r, s) = (9.0, 1.0), (1.0, 0.25)
    long_run = 1 + 2 * (a - b) ** 2 * r * s / ((r + s) ** 2 * (a * s + b * r))
    assert BURSTS.dispersion(1.0) == pytest.approx(long_run, rel=1e-13)


def test_turns_are_more_regular_than_renewals():
    law = TURNS.interarrival(1.0)
    assert law.mean == pytest.approx(1.0)
    # Variance of a pair of independent gaps over twice the square of the mean gap.
    mean = (1 / 2 + 1 / 5) / 2
    assert TURNS.dispersion(1.0) == pytest.approx((1 / 4 + 1 / 25) / (2 * mean**2), rel=1e-13)
    assert law.scv > TURNS.dispersion(1.0)


@pytest.mark.parametrize(
    "process", [Poisson(), Renewal(Erlang(3)), Renewal(Hyperexponential.fit(4)), OnOff(2, 5)]
)
def test_renewals_are_markovian(process):
    again = MAP(*process.modulation(3.0))
    law = process.interarrival(3.0)
    assert again.rate == pytest.approx(3.0, rel=1e-13)
    assert again.dispersion(3.0) == pytest.approx(law.scv, rel=1e-12)
    assert again.interarrival(3.0).scv == pytest.approx(law.scv, rel=1e-12)
    assert process.dispersion(3.0) == pytest.approx(law.scv)


def test_on_off_is_a_modulated_poisson_process():
    # Another road to the law of the times between arrivals: the phases themselves.
    on, off, rate = 3.0, 7.0, 2.0
    chain = MAP.modulated([rate * (on + off) / on, 0], [[0, 1 / on], [1 / off, 0]])
    mine, other = chain.interarrival(rate), OnOff(on, off).interarrival(rate)
    values = np.linspace(0, 20, 50)
    assert mine.survival(values) == pytest.approx(
        np.dot(np.exp(-np.outer(values, 1 / np.array(other.means))), other.probabilities), abs=1e-13
    )
    assert chain.dispersion(rate) == pytest.approx(other.scv)


def test_scaling_keeps_the_shape():
    hidden, arriving = BURSTS.modulation(26.0)
    assert np.allclose(hidden, 10 * BURSTS.hidden)
    assert Modulation(hidden, arriving).law == pytest.approx([0.2, 0.8])
    assert BURSTS.interarrival(26.0).mean == pytest.approx(1 / 26)


@pytest.mark.parametrize("process", [BURSTS, TURNS])
def test_draws_have_rate_and_dispersion(process):
    drawn = process.gaps(2.0, np.random.default_rng(5))
    times = np.cumsum(np.concatenate([drawn(4096) for _ in range(100)]))
    n, length = 2000, times[-1] / 2000
    counts = np.histogram(times, n, (0, times[-1]))[0]
    assert counts.mean() / length == pytest.approx(2.0, rel=0.03)
    # Of windows a hundred times longer than the phases; a sample variance of n windows has error sqrt(2/n).
    assert counts.var() / counts.mean() == pytest.approx(process.dispersion(2.0), rel=4 * math.sqrt(2 / n))


def test_blocks_do_not_show():
    one, other = (BURSTS.gaps(1.0, np.random.default_rng(1)) for _ in range(2))
    assert (one(30) == np.concatenate([other(7), other(23)])).all()


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: MAP([[-1]], [[1, 0]]), r"arriving must have shape \(1, 1\)"),
        (lambda: MAP([], []), "hidden must have"),
        (lambda: MAP([[-1, 1], [0, -1]], [[0, 0], [0, -1]]), "arriving must be finite and >= 0; got -1"),
        (
            lambda: MAP([[-1, -1], [0, -1]], [[1, 1], [0, 1]]),
            "hidden must be finite and off the diagonal >= 0",
        ),
        (lambda: MAP([[-1, math.nan], [0, -1]], [[1, 1], [0, 1]]), "hidden must be finite"),
        (lambda: MAP([[-2]], [[1]]), "hidden must have -1 on the diagonal of row 0"),
        (lambda: MAP([[-1, 1], [1, -1]], [[0, 0], [0, 0]]), "nobody ever arrives"),
        (lambda: MAP([[-2, 1], [0, -1]], [[1, 0], [0, 1]]), "phases 0 and 1"),
        (lambda: MAP.modulated([1, 2], [[0, 1]]), r"switching must have shape \(2, 2\)"),
    ],
)
def test_refusals(make, told):
    with pytest.raises(ModelError, match=told):
        make()
