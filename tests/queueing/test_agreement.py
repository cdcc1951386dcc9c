"""Chain, balanced fairness, simulations and fluid limit agree pairwise on random systems.

Simulations: intervals of level 1 - 1e-6 over 20 replications (Student's law), about 60 comparisons in all: a
correct program fails with probability 6e-5 for a new seed (Bonferroni); the seeds are fixed.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import trapezoid

from fairness import DRF, BottleneckMax, MaxMin, Problem, ProportionalFair
from fairness.testing import KINDS, random_problem
from queueing import simulate
from queueing.balanced.fairness import balanced_fairness
from queueing.chain.stationary import stationary
from queueing.chain.transient import transient
from queueing.fluid.trajectory import trajectory
from queueing.model.system import System
from tests.queueing.chain.chains import SOLVERS, Balanced
from tests.queueing.simulation.simulated import inside

POLICIES = (DRF(), ProportionalFair(), MaxMin(), BottleneckMax())


def random_system(k):
    """Two classes, two or three resources; zeros, ties, weights and limits among them."""
    rng = np.random.default_rng(100 + k)
    problem = random_problem(rng, 2, 2 + k % 2, kind=KINDS[k % 3], weighted=k % 2 == 0, limited=k % 4 == 1)
    return System.with_load(problem, rng.uniform(0.3, 1, 2), rng.uniform(0.4, 0.8), rng.uniform(0.3, 3, 2))


@pytest.mark.parametrize("k", range(8))
def test_chain_and_both_simulations(k):
    system, policy = random_system(k), POLICIES[k % 4]
    law = stationary(system, policy)
    chain = simulate(system, policy, events=60_000, replications=20, rng=k)
    jobs = simulate(system, policy, jobs=15_000, replications=20, rng=k)
    for result in (chain, jobs):
        # Intervals that would hold anything prove nothing.
        inside(result, law.mean_jobs, 0.25)
        inside(result, law.mean_durations, 0.25, "mean_durations")


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("k", range(8))
def test_chain_and_balanced_fairness(k, solver):
    system = random_system(k)
    shape = (45, 40)
    policy = Balanced(system, shape)
    chain = stationary(system, policy, shape=shape, solver=solver)
    # A reversible chain on a box has the law of the unlimited one, conditioned.
    assert chain.mean_jobs == pytest.approx(policy.law.mean_jobs, rel=1e-10)
    assert chain.residual < 1e-11
    assert chain.distribution == pytest.approx(policy.law.distribution, rel=1e-9, abs=1e-30)
    whole = balanced_fairness(system)
    # What both say of the error by the box: one is a bound, the other an estimate.
    missing = whole.mean_jobs - chain.mean_jobs
    assert (missing <= policy.law.mean_jobs_error + 1e-12).all()
    assert (missing <= chain.mean_jobs_error + 1e-11).all()


@pytest.mark.parametrize("policy", [DRF(), ProportionalFair()], ids=lambda policy: policy.name)
@pytest.mark.parametrize("mix", [(1, 1), (3, 1)])
def test_fluid_limit_of_the_transient_chain(policy, mix):
    # x(nt)/n from n x_0 tends to the fluid path; the means are off by O(1/n) where the drift is smooth, and
    # never by more than O(1/sqrt(n)), the spread of the law.
    problem = Problem([[1, 0.2], [0.3, 1]], [1, 1])
    system = System.with_load(problem, mix, 0.6)
    start, times = np.array([1.0, 0.6]), np.array([0.3, 0.8, 1.2])
    path = trajectory(system, policy, start)
    fluid = np.stack([np.interp(times, path.times, path.counts[:, i]) for i in range(2)], axis=1)
    gaps = []
    for n in (20, 80):
        law = transient(
            system,
            policy,
            n * times,
            shape=(2 * n, 2 * n),
            start=n * start,
            tolerance=1e-9,
            distribution=False,
        )
        assert law.lost_arrivals.max() < 1e-3
        gaps.append(np.abs(law.mean_jobs / n - fluid).max())
        # Markov's view of the same: the law itself concentrates.
        assert np.sqrt(law.variances.max()) / n < 2 / np.sqrt(n)
    assert gaps[1] < 0.5 * gaps[0]  # between 1/2, the square root, and 1/4
    assert gaps[1] < 0.05


def test_fluid_limit_and_simulation():
    # The time that n jobs need to go, over n, tends to the emptying time of the fluid: here by the area under
    # the jobs until then, which simulate measures: mean jobs times time, from n x_0 and without warm-up.
    problem = Problem([[1, 0.2], [0.3, 1]], [1, 1])
    system = System.with_load(problem, [2, 1], 0.3)
    path = trajectory(system, DRF(), [1.0, 0.6])
    fluid = trapezoid(path.counts, path.times, axis=0)
    still = stationary(system, DRF()).mean_jobs
    gaps = []
    for n in (50, 400):
        run = simulate(
            system, DRF(), events=10 * n, warmup=0, replications=40, rng=n, start=[n, int(0.6 * n)]
        )
        # Beyond the emptying time the jobs are the few of the stationary law.
        total = run.time / run.replications
        area = (run.mean_jobs * total - still * (total - n * path.emptying_time)) / n**2
        gaps.append(np.abs(area / fluid - 1).max())
    assert gaps[1] < 0.05
    assert gaps[1] < gaps[0]
