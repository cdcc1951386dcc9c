"""The stationary law where arrivals have phases, against the matrix R and against generators by hand."""

import numpy as np
import pytest
from scipy.optimize import brentq

from fairness import DRF, BottleneckMax, Problem, ProportionalFair
from fairness.errors import ModelError
from queueing import MAP, Deterministic, Erlang, OnOff, PhaseType, Renewal, System, simulate, stationary
from tests.oracles.arrivals import counts_with_arrival_phases, jobs_by_levels

ONE = Problem([[1]], [4])
TWO = Problem([[2, 1], [1, 3]], [6, 6])
BURSTS = MAP.modulated([9.0, 1.0], [[0, 1], [0.25, 0]])
TURNS = MAP([[-2, 0.5], [0.1, -5.1]], [[0, 1.5], [4, 1]])


@pytest.mark.parametrize("arrivals", [BURSTS, TURNS, OnOff(1, 4), Renewal(Erlang(3))])
@pytest.mark.parametrize("load", [0.3, 0.8])
def test_one_queue(arrivals, load):
    system = System(ONE, [4 * load], arrivals=arrivals)
    law = stationary(system, DRF())
    off = abs(law.mean_jobs[0] - jobs_by_levels(system))
    assert off <= law.mean_jobs_error[0] <= 1e-6 * law.mean_jobs[0]


def test_renewals_by_the_root_of_kendall():
    # GI/M/1: jobs found are geometric with the root s = A*(mu(1 - s)); rho/(1 - s) are there on average.
    system = System(ONE, [2.0], arrivals=OnOff(2.0, 3.0))
    p, means = (np.array(v) for v in vars(system.processes[0].interarrival(2.0)).values())
    root = brentq(lambda s: (p / (1 + 4 * (1 - s) * means)).sum() - s, 0, 1 - 1e-9, xtol=1e-15)
    assert stationary(system, DRF()).mean_jobs == pytest.approx([0.5 / (1 - root)], rel=1e-8)


@pytest.mark.parametrize("policy", [DRF(), ProportionalFair(), BottleneckMax()])
def test_two_classes_on_a_box(policy):
    system = System(TWO, [0.6, 0.5], arrivals=[BURSTS, TURNS])
    law = stationary(system, policy, shape=(9, 7))
    own = counts_with_arrival_phases(system, policy, (9, 7))
    assert law.distribution == pytest.approx(own, abs=1e-13)


def test_sizes_and_arrivals_with_phases():
    # The erlang queue by hand: phases of arrival and of service as one chain of one class.
    sizes = PhaseType([0.3, 0.7], [[-1.0, 0.5], [0.0, -2.0]])
    system = System(ONE, [1.5], sizes=sizes, arrivals=TURNS)
    law = stationary(system, DRF())
    run = simulate(system, DRF(), jobs=60_000, replications=5, rng=3)
    assert abs(run.mean_jobs[0] - law.mean_jobs[0]) < 1.5 * run.half_widths["mean_jobs"][0]


def test_one_phase_is_a_poisson_process():
    plain = System(TWO, [0.6, 0.5])
    phased = System(TWO, [0.6, 0.5], arrivals=[MAP([[-1]], [[1]]), Renewal(Erlang(1))])
    one, other = stationary(plain, DRF()), stationary(phased, DRF())
    assert one.mean_jobs == pytest.approx(other.mean_jobs, rel=1e-7)


def test_classes_that_never_come_have_no_phases():
    with_none = System(TWO, [0.6, 0.0], arrivals=[TURNS, Renewal(Deterministic())])
    alone = System(Problem([[2, 1]], [6, 6]), [0.6], arrivals=TURNS)
    assert stationary(with_none, DRF()).mean_jobs[0] == pytest.approx(
        stationary(alone, DRF()).mean_jobs[0], rel=1e-9
    )


def test_times_without_phases_are_refused():
    system = System(TWO, [0.6, 0.5], arrivals=[TURNS, Renewal(Deterministic())])
    with pytest.raises(ModelError, match=r"arrivals of class 'class 2': .* has no phases"):
        stationary(system, DRF())


@pytest.mark.parametrize("arrivals", [BURSTS, TURNS])
def test_a_simulation_agrees(arrivals):
    system = System(ONE, [2.0], arrivals=arrivals)
    run = simulate(system, DRF(), jobs=60_000, replications=5, rng=2)
    assert not run.warnings
    assert abs(run.mean_jobs[0] - jobs_by_levels(system)) < 1.5 * run.half_widths["mean_jobs"][0]
