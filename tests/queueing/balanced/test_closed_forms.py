"""Closed forms of queueing theory, in every model that contains them.

Chains and balanced fairness: 1e-9 relative, the boxes leaving 1e-13 outside. Simulations: intervals of level
1 - 1e-6 over 20 replications by Student's law, so that a correct simulator fails one of the about 40
comparisons with probability 4e-5 for a new seed; the seeds are fixed. Intervals must be narrow as well.
"""

from __future__ import annotations

import numpy as np
import pytest

from fairness import DRF, MaxMin, Problem, ProportionalFair
from queueing import simulate
from queueing.balanced.fairness import balanced_fairness
from queueing.chain.solvers.choose_solver import Elimination
from queueing.chain.stationary import stationary
from queueing.model.system import System
from tests.queueing.chain.chains import processor_sharing_law
from tests.queueing.simulation.simulated import erlang_c, inside

EXACT = 1e-9


def everywhere(system, policy, exact, *, seed, balanced=True, widest=0.15):
    """Chain, balanced fairness (where the policy is), simulation of the chain and of the jobs."""
    law = stationary(system, policy, tail=1e-13)
    assert law.mean_jobs == pytest.approx(exact, rel=EXACT)
    # The estimate of the error covers the error, or both are at the level of rounding.
    assert (np.abs(law.mean_jobs - exact) <= law.mean_jobs_error + 1e-13 * np.asarray(exact)).all()
    if balanced:
        assert balanced_fairness(system, tail=1e-13).mean_jobs == pytest.approx(exact, rel=EXACT)
    inside(simulate(system, policy, events=100_000, replications=20, rng=seed), exact, widest)
    inside(simulate(system, policy, jobs=30_000, replications=20, rng=seed), exact, widest)
    return law


@pytest.mark.parametrize("load", [0.3, 0.8])
def test_mm1_processor_sharing(load):
    system = System(Problem([[2]], [6]), [load * 3 / 5], [5.0])
    law = everywhere(system, DRF(), [load / (1 - load)], seed=1)
    assert law.mean_durations == pytest.approx([5 / 3 / (1 - load)], rel=EXACT)
    geometric = (1 - load) * load ** np.arange(law.shape[0])
    assert law.marginals[0] == pytest.approx(geometric, rel=EXACT)
    assert law.variances[0] == pytest.approx(load / (1 - load) ** 2, rel=EXACT)
    assert (law.method, law.residual < 1e-15) == ("product", True)
    direct = stationary(system, DRF(), shape=law.shape, solver=Elimination())
    assert direct.mean_jobs == pytest.approx(law.mean_jobs, rel=1e-12)
    assert balanced_fairness(system, shape=law.shape).marginals[0] == pytest.approx(geometric, rel=EXACT)


@pytest.mark.parametrize(("servers", "load"), [(2, 1.5), (5, 4.0), (20, 15.5)])
def test_mmc(servers, load):
    # Erlang's delay formula: with limit 1 a job runs at most one task.
    mean = load + erlang_c(servers, load) * load / (servers - load)
    everywhere(System(Problem([[1]], [servers], limits=[1]), [load]), MaxMin(), [mean], seed=servers)


@pytest.mark.parametrize("shares", [(0.3, 0.4), pytest.param((0.2, 0.1, 0.3), marks=pytest.mark.long)])
def test_multi_class_processor_sharing(shares):
    shares = np.array(shares)
    total, n = shares.sum(), len(shares)
    demands = np.arange(1, n + 1)[:, None]  # tasks of different sizes: shares of the resource are what counts
    system = System(Problem(demands, [10]), shares * 10 / demands[:, 0] / (2 - np.arange(n) / 2))
    system = System(system.problem, system.arrival_rates, 2 - np.arange(n) / 2)
    law = everywhere(system, DRF(), shares / (1 - total), seed=n)
    # A geometric number of jobs, whose classes are drawn independently of one another.
    exact = processor_sharing_law(shares, law.shape)
    corner = (slice(9),) * n  # single probabilities far out are less exact
    assert law.distribution[corner] == pytest.approx(exact[corner], rel=EXACT)
    fair = balanced_fairness(system, shape=law.shape, distribution=True)
    assert fair.distribution == pytest.approx(exact, rel=EXACT)
    assert fair.empty_probability == pytest.approx(1 - total, rel=1e-11)


@pytest.mark.long
@pytest.mark.parametrize("loads", [(0.2, 0.35, 0.25), (0.4, 0.1, 0.3)])
def test_linear_network(loads):
    # L. Massoulie and J. Roberts, "Bandwidth sharing and admission control for elastic traffic",
    # Telecommunication Systems 15, 2000, DOI 10.1023/A:1019138827659. On a line proportional fairness is
    # balanced: the long route has E = r_0/(1 - r_0) (1 + sum_i r_i/(1 - r_0 - r_i)).
    problem = Problem([[1, 1], [1, 0], [0, 1]], [1, 1])
    long, short = loads[0], np.array(loads[1:])
    free = 1 - long - short
    exact = [long / (1 - long) * (1 + (short / free).sum()), *(short / free)]
    system = System(problem, np.array(loads) / [1, 2, 0.5], [1, 2, 0.5])
    fair = balanced_fairness(system, tail=1e-13)
    assert fair.mean_jobs == pytest.approx(exact, rel=EXACT)
    law = stationary(system, ProportionalFair(), tail=1e-11)
    # The box leaves 1e-11 outside, where counts are about the box (50): 1e-9 of means that are about 1.
    assert law.mean_jobs == pytest.approx(exact, rel=EXACT)
    assert (np.abs(law.mean_jobs - exact) < law.mean_jobs_error).all()
    # On one box a reversible chain has the same law.
    box = balanced_fairness(system, shape=law.shape, distribution=True)
    assert law.mean_jobs == pytest.approx(box.mean_jobs, rel=1e-10)
    inside(simulate(system, ProportionalFair(), events=100_000, replications=20, rng=4), exact, 0.2)
    inside(simulate(system, ProportionalFair(), jobs=30_000, replications=20, rng=5), exact, 0.2)
