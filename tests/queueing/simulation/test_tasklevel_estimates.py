"""What simulations of whole tasks estimate: closed forms, identities, what placement rules change."""

from __future__ import annotations

import numpy as np
import pytest

from fairness import DRF, Cluster, Problem
from queueing import (
    BestFit,
    BMFScheduler,
    DRFScheduler,
    FIFOScheduler,
    FirstFit,
    FixedTasks,
    GeometricTasks,
    OnArrival,
    RandomFit,
    System,
    TabulatedTasks,
    TargetScheduler,
    Tasks,
    TaskTypes,
    WorstFit,
    simulate,
    task_trace,
)
from tests.oracles.tasklevel_reference import CLUSTER, HALVES, RULES, SCHEDULERS, TALK
from tests.queueing.simulation.simulated import SURE, erlang_c, off

# Closed forms

UNITS = Problem([[1]], [4])
SERVERS = Cluster([[1]], [[1]] * 4)
ORDERS = (FIFOScheduler(), DRFScheduler(), BMFScheduler(), TargetScheduler(DRF()))
QUEUES = [(UNITS, scheduler, None) for scheduler in ORDERS]
QUEUES += [(SERVERS, FIFOScheduler(), rule) for rule in RULES[:6]]


@pytest.mark.parametrize(("problem", "scheduler", "placement"), QUEUES)
@pytest.mark.long
def test_single_tasks_on_c_units_are_the_multiserver_queue(problem, scheduler, placement):
    # M/M/c: mean wait C(c, rho)/(c/sigma - lambda) with Erlang's C, whatever the order and the placement.
    c, rate, size = 4, 1.5, 2.0
    rho = rate * size
    exact = size + erlang_c(c, rho) / (c / size - rate)
    tasks = Tasks(per_job=FixedTasks(1), placement=placement)
    system = System(problem, [rate], [size])
    result = simulate(system, scheduler, tasks=tasks, events=200_000, replications=20, rng=1)
    assert off(result.estimates["mean_durations"], exact) < 1
    assert off(result.estimates["mean_jobs"], rate * exact) < 1
    assert off(result.utilization_estimate, rho / c) < 1
    assert result.estimates["mean_durations"].half_width_at(SURE) < 0.03 * exact
    if problem is SERVERS:
        # A job waits where the queue is not empty: P(N > c) = C(c, rho) rho/c.
        assert off(result.servers.waiting, erlang_c(c, rho) * rho / c) < 1
        assert result.servers.fragmented.value[0] == 0  # no part of a server is ever free
        used = result.servers.utilization
        if isinstance(placement, RandomFit):  # the others prefer the first of equal servers
            assert (off(used, rho / c) < 1).all()
        if isinstance(placement, FirstFit):
            assert (np.diff(used.value[:, 0]) < 0).all()


@pytest.mark.long
@pytest.mark.parametrize("times", ["exponential", "deterministic"])
@pytest.mark.parametrize(
    ("law", "mean", "second"),
    [(GeometricTasks(3.0), 3, 15), (FixedTasks(2), 2, 4), (TabulatedTasks([0.5, 0, 0.2, 0.3]), 2.3, 7.1)],
)
def test_one_unit_in_order_of_arrival_is_pollaczek_khinchine(law, mean, second, times):
    # A job occupies the unit for K tasks, with these moments: E[T] = 1 + lambda E[S^2]/(2 (1 - rho)).
    rate = 0.7
    square = (second + (mean if times == "exponential" else 0)) / mean**2
    exact = 1 + rate * square / (2 * (1 - rate))
    system, tasks = System(Problem([[1]], [1]), [rate]), Tasks(per_job=law, times=times)
    result = simulate(system, FIFOScheduler(), tasks=tasks, events=400_000, replications=20, rng=3)
    assert off(result.estimates["mean_durations"], exact) < 1
    assert result.estimates["mean_durations"].half_width_at(SURE) < 0.04 * exact


@pytest.mark.parametrize(("start", "exact"), [("stages", 3.0), ("any", 3.0 - 1 / 1.5)])
def test_stages_without_contention_add_up(start, exact):
    # One task each and room for all: E[T] = 1 + 2 in stages, 1 + 2 - 1/(1 + 1/2) at the same time.
    system = System(Problem([[1], [1]], [10_000]), [1.0, 1.0], [1.0, 2.0])
    tasks = Tasks(per_job=FixedTasks(1), types=TaskTypes([["class 1", "class 2"]], start=start))
    result = simulate(system, DRFScheduler(), tasks=tasks, events=30_000, replications=20, rng=4)
    assert (off(result.estimates["mean_durations"], exact) < 1).all()
    assert (off(result.estimates["mean_jobs"], exact) < 1).all()
    assert (off(result.estimates["service_rates"], system.mean_sizes / exact) < 1).all()
    assert off(result.utilization_estimate, 3 / 10_000) < 1
    assert result.estimates["mean_durations"].half_width_at(SURE).max() < 0.05 * exact


@pytest.mark.long
def test_jobs_bound_at_random_see_queues_of_their_own():
    # Poisson arrivals split at random: each server an M/M/1 queue, E[T] = size/(1 - rho).
    c, rate = 3, 1.8
    system = System(Cluster([[1]], [[1]] * c), [rate])
    means = {}
    for rule in (OnArrival("random"), OnArrival("round robin"), OnArrival("shortest queue", 2), OnArrival()):
        tasks = Tasks(per_job=FixedTasks(1), placement=rule)
        result = simulate(system, FIFOScheduler(), tasks=tasks, events=200_000, replications=20, rng=2)
        means[rule.name] = result.estimates["mean_durations"]
    assert off(means["random"], 1 / (1 - rate / c)) < 1
    # Erlang arrivals at each server: E_3/M/1, with the root of z = (c rate / (c rate + 1 - z))^c.
    z = 0.5
    for _ in range(200):
        z = (rate / (rate + 1 - z)) ** c
    assert off(means["round robin"], 1 / (1 - z)) < 1
    lows = [e.value[0] + e.half_width_at(SURE)[0] for e in means.values()]
    highs = [e.value[0] - e.half_width_at(SURE)[0] for e in means.values()]
    # Random, round robin and two choices get better in this order, the shortest of all queues is the best.
    assert highs[0] > lows[1]
    assert highs[1] > lows[3]
    assert highs[2] > lows[3]


# Identities

UNEQUAL = Cluster([[2, 1], [1, 3]], [[8, 8], [6, 12]], gamma=[[8, 3], [2, 4]], resources=["cores", "GB"])
ON_POOL = System.with_load(TALK, [3, 1], 0.6, [1.0, 2.0])
ON_SERVERS = System.with_load(UNEQUAL, [3, 1], 0.5, [1.0, 2.0])
RUNS = [(ON_POOL, SCHEDULERS[kind](), Tasks(per_job=20.0), 400_000) for kind in ("DRF", "BMF", "PF")]
RUNS += [
    (ON_SERVERS, DRFScheduler(), Tasks(per_job=5.0, placement=rule), 100_000)
    for rule in (BestFit(), WorstFit(), OnArrival())
]
# Types in another order than in the problem, whose order estimates keep.
MIXED = Tasks(per_job=FixedTasks([3, 1, 2]), types=TaskTypes([["reduce", "map"]]))
RUNS += [(System(CLUSTER, [0.4, 0.3, 0.4], [3.0, 1.0, 2.0]), DRFScheduler(blocking=False), MIXED, 50_000)]


@pytest.mark.parametrize(("system", "scheduler", "tasks", "events"), RUNS)
@pytest.mark.long
def test_estimates_agree_with_each_other(system, scheduler, tasks, events):
    result = simulate(system, scheduler, tasks=tasks, events=events, replications=20, rng=2)
    durations, rates = result.estimates["mean_durations"], result.estimates["service_rates"]
    error = durations.half_width_at(SURE) / durations.value
    assert (error < (0.2 if system is ON_SERVERS else 0.1)).all()
    # Little's law, the two definitions of the service rate, and the load carried.
    assert (off(durations, result.mean_jobs / system.arrival_rates) < 1).all()
    # Of jobs that hardly wait the rate is by far surer than the duration.
    bound = rates.half_width_at(SURE) / rates.value + (error if tasks is MIXED else 0)
    assert (np.abs(rates.value * durations.value / system.mean_sizes - 1) < bound).all()
    capacities = np.atleast_2d(system.problem.capacities).sum(axis=0)
    if system is not ON_SERVERS:  # what a task holds there depends on its server
        used = system.loads @ system.problem.demands / capacities
        assert (off(result.utilization_estimate, used) < 1).all()
    if result.servers is not None:
        used = (result.servers.utilization.value * system.problem.capacities).sum(axis=0)
        np.testing.assert_allclose(result.utilization, used / capacities, rtol=1e-12)
    if tasks is MIXED:
        assert result.mean_jobs[0] == result.mean_jobs[2]


# What packing changes


def test_best_fit_keeps_room_for_large_tasks():
    # Small tasks of 1 and large ones of 4 on four servers of 4: worst fit spreads the small ones, so that
    # large ones find no empty server.
    system = System(Cluster([[1], [4]], [[4]] * 4), [3.0, 0.6])
    best, worst = (
        simulate(
            system,
            FIFOScheduler(blocking=False),
            tasks=Tasks(per_job=FixedTasks(1), placement=rule),
            events=100_000,
            rng=4,
        )
        for rule in (BestFit(), WorstFit())
    )
    short, long = (result.estimates["mean_durations"] for result in (best, worst))
    assert short.value[1] + short.half_width_at(SURE)[1] < long.value[1] - long.half_width_at(SURE)[1]
    assert best.servers.fragmented.value[0] < worst.servers.fragmented.value[0]


# What a reader sees


def test_what_a_reader_sees_of_a_record():
    record = task_trace(System(TALK, [1.0, 0.0]), FIFOScheduler(), 20.0, tasks=Tasks(per_job=5.0), rng=1)
    assert list(record.to_dataframe().columns) == ["job", "job_class", "job_arrival", "start", "end"]
    assert f"{len(record.to_dataframe())} tasks" in repr(record)


def test_what_a_reader_sees_of_servers():
    system = System.with_load(HALVES, [1, 1], 0.5)
    result = simulate(system, DRFScheduler(), tasks=Tasks(per_job=5.0), events=5000, replications=3, rng=1)
    assert "server 1: cores" in result.summary()
    assert "best fit: jobs wait" in repr(result)
    frame = result.servers.to_dataframe()
    assert frame.shape == (2, 2)
    assert frame.index.name == "server"
    assert list(frame.columns) == ["cores", "GB"]
    many = simulate(System.with_load(Cluster([[1]], [[1]] * 9), [1], 0.5), DRFScheduler(), events=2000, rng=1)
    assert "on 9 servers" in many.summary()
    frame = task_trace(system, DRFScheduler(), 20.0, rng=1).to_dataframe()
    assert list(frame.columns) == ["job", "job_class", "job_arrival", "start", "end", "server"]
    assert set(frame["server"]) <= set(HALVES.servers)
