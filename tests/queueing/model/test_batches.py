"""Arrivals in batches: their draws against their numbers, a simulation against the law of M^[X]/M/1."""

import numpy as np
import pytest

from capacity import is_stable
from fairness import DRF, Problem, ProportionalFair
from fairness.errors import ModelError
from queueing import (
    MAP,
    Batches,
    Elimination,
    Erlang,
    Hyperexponential,
    Multilevel,
    OnOff,
    Poisson,
    System,
    balanced_fairness,
    enclose,
    simulate,
    stationary,
)
from tests.oracles.arrivals import counts_with_arrival_phases

ONE = Problem([[1]], [4])
TWO = Problem([[1, 0.1], [0.1, 1]], [1, 1])
BURSTS = MAP.modulated([9.0, 1.0], [[0, 1], [0.25, 0]])
TINY = 1e-300


@pytest.mark.parametrize("process", [Poisson(), BURSTS])
@pytest.mark.parametrize("blocks", [pytest.param([500], marks=pytest.mark.long), [1] * 500, [7, 100, 3, 390]])
def test_batches_of_three(process, blocks):
    drawn = Batches([0, 0, 1], process).gaps(6.0, np.random.default_rng(2))
    gaps = np.concatenate([drawn(size) for size in blocks])
    assert (gaps > 0).all()  # simulate wants that
    assert (gaps[::3] > TINY).all()
    assert (gaps[1::3] < TINY).all()
    assert (gaps[2::3] < TINY).all()
    # Those of the process alone, at the rate of batches.
    assert (gaps[::3] == process.gaps(2.0, np.random.default_rng(2))(len(gaps[::3]))).all()


def test_blocks_do_not_show():
    one, other = (Batches([0.2, 0.3, 0, 0.5]).gaps(1.0, np.random.default_rng(1)) for _ in range(2))
    assert (one(60) == np.concatenate([other(size) for size in (1, 2, 7, 20, 30)])).all()


@pytest.mark.parametrize("process", [Poisson(), BURSTS, OnOff(1, 2)])
def test_draws_have_sizes_rate_and_dispersion(process):
    p = np.array([0.5, 0.2, 0.0, 0.3])
    batches = Batches(p, process)
    drawn = batches.gaps(2.0, np.random.default_rng(5))
    gaps = np.concatenate([drawn(4096) for _ in range(100)])
    starts = np.flatnonzero(gaps > TINY)
    sizes = np.bincount(np.diff(starts), minlength=5)[1:]
    # 5 standard deviations of each share.
    assert (np.abs(sizes / sizes.sum() - p) <= 5 * np.sqrt(p * (1 - p) / sizes.sum())).all()
    times = np.cumsum(gaps)
    n, length = 2000, times[-1] / 2000
    counts = np.histogram(times, n, (0, times[-1]))[0]
    assert counts.mean() / length == pytest.approx(2.0, rel=0.05)
    # Of windows much longer than the phases; a sample variance of n windows has error sqrt(2/n).
    assert counts.var() / counts.mean() == pytest.approx(batches.dispersion(2.0), rel=4 * np.sqrt(2 / n))


@pytest.mark.parametrize("p", [[1.0], [0, 0, 1], [0.5, 0, 0, 0.5]])
@pytest.mark.parametrize("load", [0.3, 0.7])
def test_one_queue_with_batches(p, load):
    # E[N] = rho (1 + E[B^2]/E[B])/2/(1 - rho); half-widths are of 95 %, two of them of 4 standard errors.
    run = simulate(System(ONE, [4 * load], arrivals=Batches(p)), DRF(), jobs=200_000, replications=5, rng=3)
    b = np.arange(1, len(p) + 1)
    mean = load * (1 + (b**2 @ p) / (b @ p)) / 2 / (1 - load)
    assert not run.warnings
    assert abs(run.mean_jobs[0] - mean) < 2 * run.half_widths["mean_jobs"][0]
    assert run.half_widths["mean_jobs"][0] < 0.1 * mean


def test_batches_of_one_are_the_process():
    one, other = (
        process.gaps(3.0, np.random.default_rng(4))(100) for process in (Batches([1], BURSTS), BURSTS)
    )
    assert (one == other).all()
    assert Batches([1], BURSTS).dispersion(3.0) == pytest.approx(BURSTS.dispersion(3.0))


def test_mean_rates_are_those_of_the_jobs():
    system = System(ONE, [3.0], arrivals=Batches([0.5, 0.5]))
    assert system.loads == pytest.approx([3.0])
    assert is_stable(system)
    assert not is_stable(System(ONE, [4.5], arrivals=Batches([0.5, 0.5])))


@pytest.mark.parametrize("solver", [Elimination(), Multilevel()])
@pytest.mark.parametrize("batches", [Batches([0, 0, 1]), Batches([0.5, 0.2, 0.3], OnOff(2, 3))])
def test_chain_of_two_classes_is_that_written_state_by_state(batches, solver):
    processes = [batches, Batches([0.4, 0.6], Poisson())]
    system = System.with_load(TWO, [1, 2], 0.6, arrivals=processes)
    law = stationary(system, DRF(), shape=(7, 6), solver=solver)
    assert law.distribution == pytest.approx(counts_with_arrival_phases(system, DRF(), (7, 6)), abs=1e-12)


@pytest.mark.parametrize(
    "sizes", [Erlang(2), pytest.param(Hyperexponential.fit(scv=3), marks=pytest.mark.long)]
)
def test_sizes_with_phases_in_batches(sizes):
    # Batches make processor sharing sensitive to the sizes. Two half-widths of 95 %.
    system = System.with_load(ONE, [1], 0.6, sizes=sizes, arrivals=Batches([0, 1]))
    law = stationary(system, DRF())
    run = simulate(system, DRF(), jobs=200_000, replications=8, rng=5)
    assert abs(run.mean_jobs[0] - law.mean_jobs[0]) < 2 * run.half_widths["mean_jobs"][0]


@pytest.mark.parametrize("p", [[1.0], [0, 0, 1], [0.5, 0, 0, 0.5], [0] * 9 + [1]])
@pytest.mark.parametrize("load", [0.3, 0.9])
@pytest.mark.parametrize("shape", [None, 12, 25])
def test_error_of_the_means_is_above_that_of_the_formula(p, load, shape):
    law = stationary(System(ONE, [4 * load], arrivals=Batches(p)), DRF(), shape=shape)
    b = np.arange(1, len(p) + 1)
    mean = load * (1 + (b**2 @ p) / (b @ p)) / 2 / (1 - load)
    error = abs(law.mean_jobs[0] - mean)
    assert error <= law.mean_jobs_error[0]
    assert shape or law.mean_jobs_error[0] < 1e-6 * mean


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (lambda one: enclose(one, ProportionalFair()), "none of Poisson"),
        (balanced_fairness, "needs Poisson arrivals"),
    ],
)
def test_who_proves_refuses(asked, told):
    with pytest.raises(ModelError, match=told) as caught:
        asked(System(ONE, [2.0], arrivals=Batches([0.5, 0.5])))
    assert caught.value.argument == "arrivals"


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: Batches([0.5, 0.4]), "probabilities must be >= 0 and sum to 1"),
        (lambda: Batches([1.5, -0.5]), "probabilities must be >= 0"),
        (lambda: Batches([]), "probabilities must be"),
        (lambda: Batches([np.nan]), "probabilities must be"),
        (lambda: Batches([1.0], 3), "process must be arrivals"),
        (lambda: Batches([1.0], Batches([1.0])), "process must be arrivals"),
    ],
)
def test_refusals(make, told):
    with pytest.raises(ModelError, match=told):
        make()
