"""A policy without a stationary law is told apart before anything is computed, wherever means are."""

import numpy as np
import pytest

from capacity import heavy_traffic, load_curves, policy_stability_boundary, service_boundary, sweep
from capacity.boundaries.growth_tests import chain_test, simulation_test
from capacity.boundaries.service_simulation import Simulated
from fairness import (
    PSDSF,
    TSF,
    BottleneckMax,
    Cluster,
    ModelError,
    Problem,
    UnstableError,
    one_state,
)
from fairness.testing import random_problem
from queueing import Erlang, System, fluid_verdict, simulate, stationary, tagged_duration
from queueing.fluid.stability import EVALUATIONS, require_stable
from tests.own_policies import owned, priority, sharing, short_first

LINE = Problem([[1, 1], [1, 0], [0, 1]], [1, 1])
"""Short jobs first: stable if and only if rho_0 < (1 - rho_1)(1 - rho_2)."""
PAIR = Problem([[1], [1]], [1])
"""Halves that nobody lends: stable if and only if both loads are below a half."""

ONE_BY_ONE = one_state(short_first)
EDGE = (3 - 5**0.5) / 2  # r = (1 - r)^2


def on_line(load):
    return System(LINE, [load] * 3)


WAYS = {
    "stationary": lambda system, policy: stationary(system, policy, max_states=3000, tail=1e-2),
    "box": lambda system, policy: stationary(system, policy, shape=6),
    "counts": lambda system, policy: simulate(system, policy, events=3000, rng=1),
    "jobs": lambda system, policy: simulate(system, policy, level="jobs", jobs=400, rng=1),
    "tagged": lambda system, policy: tagged_duration(system, policy, 0, shape=6),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("policy", [short_first, ONE_BY_ONE], ids=["batched", "one state"])
def test_every_mean_is_refused(way, policy):
    with pytest.raises(UnstableError, match="no stationary law: short_first is unstable at these loads"):
        WAYS[way](on_line(EDGE * 1.1), policy)


@pytest.mark.parametrize("policy", [short_first, ONE_BY_ONE], ids=["batched", "one state"])
def test_curves_say_where_they_end(policy):
    """As they say it of a load of 1.2, and after no simulation."""
    curves = load_curves(on_line(0.1), {"mine": policy}, [0.1, 0.9], tail=1e-2)
    assert curves.found_by == (("chain",), ("",))
    assert np.isfinite(curves.mean_jobs[0]).all()
    assert np.isnan(curves.mean_jobs[1]).all()
    ((error,),) = curves.errors[1:]
    assert error.startswith("UnstableError: no stationary law: short_first is unstable")


def test_a_sweep_records_it():
    data = sweep(on_line, {"mine": short_first}, {"load": [0.45]}, progress=False)
    assert str(data.error.values[0, 0]).startswith(
        "UnstableError: no stationary law: short_first is unstable"
    )


def test_heavy_traffic_says_it():
    with pytest.raises(UnstableError, match="owned is unstable"):
        heavy_traffic(PAIR, [1, 3], [owned], loads=[0.2, 0.4, 0.6, 0.8])


@pytest.mark.parametrize("load", [0.9, 0.99, 1.01, 1.1])
def test_on_both_sides_of_known_boundaries(load):
    """At most a hundredth away from where theory has the boundary."""
    cases = [
        (on_line(EDGE * load), short_first),
        (System(PAIR, [0.5 * load, 0.2]), owned),
        (System(PAIR, [500 * load, 2e-4], mean_sizes=[1e-3, 1e3]), one_state(owned)),
        # Three links: r = (1 - r)^3.
        (System(Problem(np.vstack([np.ones(3), np.eye(3)]), np.ones(3)), [0.3177 * load] * 4), short_first),
    ]
    for system, policy in cases:
        if load < 1:
            require_stable(system, policy)
        else:
            with pytest.raises(UnstableError, match="is unstable at these loads"):
                require_stable(system, policy)


@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(seed, marks=pytest.mark.long) for seed in (0, 2, 3, 4, 5))]
)
def test_short_jobs_that_pile_up_behind_a_long_one_are_no_growth(seed):
    """Sizes over ten decades: priority on one resource wastes nothing, and so is stable below load 1."""
    rng = np.random.default_rng(seed)
    n = 3 + seed % 3
    loads, sizes = rng.uniform(0.3, 0.95) * rng.dirichlet(np.ones(n)), np.sort(10.0 ** rng.uniform(-5, 5, n))
    system = System(Problem(np.ones((n, 1)), [1]), (loads / sizes)[::-1], mean_sizes=sizes[::-1])
    require_stable(system, priority)
    if n == 3:
        assert fluid_verdict(system, priority).status == "stable"
    # Where short jobs wait for long ones, whether they drain does not depend on how long all are.
    sizes = 10.0 ** rng.uniform(-4, 4, 3)
    require_stable(System(LINE, 0.95 * EDGE / sizes, sizes), short_first)
    with pytest.raises(UnstableError, match="short_first is unstable"):
        require_stable(System(LINE, 1.05 * EDGE / sizes, sizes), short_first)


@pytest.mark.parametrize("seed", range(12))
def test_refused_is_what_the_verdict_refuses(seed):
    """With two classes both are told by the same rays; with three what is refused is unstable there, too."""
    rng = np.random.default_rng(seed)
    n = 2 + seed % 2
    problem = random_problem(rng, n_classes=n, n_resources=2, kind="dense")
    system = System.with_load(problem, rng.dirichlet(np.ones(n)), rng.uniform(0.5, 0.99))
    for policy in (priority, owned, BottleneckMax()):
        try:
            require_stable(system, policy)
        except UnstableError:
            assert fluid_verdict(system, policy).status == "unstable"
        else:
            assert n > 2 or fluid_verdict(system, policy).status != "unstable"


class Counted:
    """A policy that counts how often it is called, and for how many states."""

    name = "counted"

    def __init__(self, policy):
        self.policy, self.calls, self.states = policy, 0, 0

    def __call__(self, problem, counts):
        self.calls += 1
        self.states += np.size(counts) // problem.n_classes
        return self.policy(problem, counts)


@pytest.mark.parametrize("n", [2, 3, 12])
def test_little_is_asked(n):
    problem = random_problem(np.random.default_rng(n), n_classes=n, n_resources=3, kind="dense")
    counted = Counted(BottleneckMax())
    require_stable(System.with_load(problem, np.ones(n), 0.9), counted)
    # Of policies that are no part of the library every answer is asked for twice.
    assert counted.calls <= 2 * EVALUATIONS + 20
    assert counted.states <= 5 * EVALUATIONS


def late(problem, counts):
    """Halves that are lent from 100 jobs on: stable, and not what it seems to be for few jobs."""
    x = np.asarray(counts, dtype=float)
    return np.where(x.sum(axis=-1, keepdims=True) < 100, owned(problem, x), sharing(problem, x))


PART = {float(jobs): jobs / 2 for jobs in range(1000)}


def of_whole_jobs(problem, counts):
    """Half of the pool, by a table of numbers of jobs, in which fractions have no place."""
    return np.array([PART[x] for x in counts.tolist()]) / max(1.0, counts.sum())


GOES_ON = {
    "more than proportions": (System(PAIR, [0.6, 0.1]), late),
    "whole jobs only": (System(PAIR, [0.05, 0.05]), one_state(of_whole_jobs)),
    "limits": (System(PAIR.replaced(limits=[1, 1]), [0.45, 0.1]), sharing),
    "sizes": (System(PAIR, [0.6, 0.1], sizes=[Erlang(2), Erlang(2)]), owned),
    "no arrivals": (System(PAIR, [0.0, 0.0]), owned),
}


@pytest.mark.parametrize("what", GOES_ON)
def test_what_the_fluid_limit_does_not_tell_goes_on(what):
    system, policy = GOES_ON[what]
    require_stable(system, policy)
    if what == "whole jobs only":
        # M/M/1 at load 1/5, as each job is served at the rate of a half in all.
        assert stationary(system, policy, shape=30).mean_jobs.sum() == pytest.approx(0.25, rel=1e-6)


def test_a_threshold_far_out_is_seen():
    """It was said to be unstable by its few jobs."""
    with pytest.raises(ModelError, match="1048576 times as many"):
        fluid_verdict(System(PAIR, [0.6, 0.1]), late)


def test_servers():
    servers = Cluster([[1, 2], [2, 1]], [[4, 4], [2, 6]])
    system = System.with_load(servers, [1, 1], 0.9)
    for policy in (PSDSF(), TSF()):
        require_stable(system, policy)


@pytest.mark.long
def test_a_service_region_ends_where_jobs_grow():
    """Two M/M/1 queues of capacity 1/2: a rate of g is kept up to rho = 1/2 - g."""
    point = service_boundary(PAIR, owned, 0.1, [1, 0.5], precision=1e-3)
    assert point.loads == pytest.approx([0.4, 0.2], abs=1e-3)
    run = Simulated(owned, events=100_000)
    point = service_boundary(PAIR, run, 0.1, [1, 0.5], precision=0.05)
    assert point.loads == pytest.approx([0.4, 0.2], abs=0.05)


def test_tests_of_the_random_system_do_not_ask_the_fluid_limit():
    for load, says in ((0.35, "settles"), (0.65, "grows")):
        system = System(PAIR, [load, 0.1])
        for test in (chain_test(system, owned), simulation_test(system, owned, events=4000)):
            assert (test.method in ("chain", "simulation"), test.says) == (True, says)
            assert "fluid" not in test.evidence
    point = policy_stability_boundary(PAIR, owned, [1, 0.3], confirm="chain")
    assert point.confirmed
