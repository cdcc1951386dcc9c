from __future__ import annotations

import json
import math
import os
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

from fairness import DRF, TSF, Cluster, Problem
from fairness.errors import ModelError, UnstableError
from queueing import Tasks, simulate, task_trace
from queueing.model.system import System
from queueing.simulation.replications import spawn_streams
from queueing.simulation.tasks import (
    BestFit,
    BMFScheduler,
    DRFScheduler,
    FIFOScheduler,
    FirstFit,
    FixedTasks,
    OnArrival,
    PFScheduler,
    PowerOfChoices,
    RandomFit,
    TargetScheduler,
    WorstFit,
)
from queueing.simulation.tasks.engine.preparation import TaskRuns
from queueing.simulation.tasks.engine.runs import TaskRun
from queueing.states import growing_table as growth
from tests.processes import PATIENCE
from tests.queueing.simulated import SURE, off, same_trace
from tests.queueing.tasklevel_reference import replay

TALK = Problem([[4, 1], [1, 4]], [16, 16], resources=["cores", "GB"])
HALVES = Cluster([[4, 1], [1, 4]], [[8, 8], [8, 8]], resources=["cores", "GB"])

RULES = [
    FirstFit(),
    BestFit(),
    BestFit("alignment"),
    WorstFit(),
    RandomFit(),
    PowerOfChoices(2),
    OnArrival("random"),
    OnArrival("round robin"),
    OnArrival("shortest queue"),
    OnArrival("shortest queue", 2),
]


def random_cluster(rng):
    """Small whole demands and capacities, full of ties, with zeros, weights, constraints and gamma."""
    n, servers, m = int(rng.integers(1, 4)), int(rng.integers(1, 4)), int(rng.integers(1, 3))
    while True:
        demands = rng.integers(0, 4, (n, m))
        capacities = rng.integers(0, 9, (servers, m))
        alone = np.array(
            [
                [min((c // d for c, d in zip(cs, ds, strict=True) if d), default=0) for cs in capacities]
                for ds in demands
            ]
        )
        gamma = np.where(rng.random(alone.shape) < 0.8, alone, 0) * (2 if rng.random() < 0.3 else 1)
        # Everybody fits whole on a server, and every server is of use.
        if (gamma > 0).any(axis=0).all() and (gamma > 0).any(axis=1).all() and demands.any(axis=1).all():
            given = {"gamma": gamma} if rng.random() < 0.5 else {"eligible": gamma > 0}
            cluster = Cluster(demands, capacities, weights=rng.integers(1, 4, n), **given)
            return System.with_load(cluster, rng.uniform(0.3, 1, n), 1.1, rng.uniform(0.5, 2, n))


# Every event against the definition


@pytest.mark.parametrize("blocking", [True, False])
@pytest.mark.parametrize("placement", RULES, ids=lambda rule: rule.name)
def test_every_start_is_that_of_the_reference(placement, blocking, monkeypatch):
    monkeypatch.setattr(growth, "FIRST_TABLE", 8)  # a state of TSF is a linear program
    rng = np.random.default_rng(RULES.index(placement) + 100 * blocking)
    schedulers = [DRFScheduler(blocking=blocking), FIFOScheduler(blocking=blocking)]
    if isinstance(placement, BestFit | RandomFit):
        schedulers.append(TargetScheduler(TSF(), blocking=blocking))
    starts = 0
    for k in range(5):
        scheduler = schedulers[k % len(schedulers)]
        system = System.with_load(HALVES, [1, 1], 0.9) if k == 0 else random_cluster(rng)
        horizon = 25 / system.arrival_rates.sum()
        tasks = Tasks(per_job=4.0, times="deterministic" if k == 2 else "exponential", placement=placement)
        record = task_trace(system, scheduler, horizon, tasks=tasks, rng=k)
        counts = record.job_tasks[:, None]
        made, lost, waited = replay(record, scheduler, placement, counts)
        starts += made
        # The totals behind the estimates, from the same random numbers.
        runs = TaskRuns(system, scheduler, tasks)
        run = TaskRun(runs, spawn_streams(k, 1).generators[0])
        run.go(10**9, horizon)
        # Sums of some hundred intervals, in another order.
        np.testing.assert_allclose(run.places.lost, [lost, waited], rtol=1e-9, atol=1e-12)
        lengths = np.minimum(record.task_ends, horizon) - record.task_starts
        placed = np.zeros_like(run.places.placed)
        np.add.at(placed, (record.task_classes, record.task_servers), lengths)
        np.testing.assert_allclose(run.places.placed, placed, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(run.totals[1], placed.sum(axis=1), rtol=1e-9, atol=1e-12)
    assert starts > 250


@pytest.mark.parametrize("placement", RULES, ids=lambda rule: rule.name)
def test_record_is_consistent(placement):
    rng = np.random.default_rng(5)
    for k in range(4):
        system = random_cluster(rng)
        cluster = system.problem
        record = task_trace(
            system,
            DRFScheduler(blocking=k % 2 == 0),
            60 / system.arrival_rates.sum(),
            tasks=Tasks(per_job=4.0, placement=placement),
            rng=k,
        )
        # Effective capacities make halves of whole numbers: exact.
        assert (record.server_usage <= cluster.capacities).all()
        assert cluster.eligible[record.task_classes, record.task_servers].all()
        np.testing.assert_array_equal(record.placement.sum(axis=2), record.running)
        np.testing.assert_array_equal(record.usage, record.server_usage.sum(axis=1))
        np.testing.assert_array_equal(record.task_classes, record.job_classes[record.task_jobs])
        if isinstance(placement, OnArrival):
            for number in np.unique(record.task_jobs):
                assert len(set(record.task_servers[record.task_jobs == number])) == 1
    frame = record.to_dataframe()
    assert list(frame.columns) == ["job", "job_class", "job_arrival", "start", "end", "server"]
    assert set(frame["server"]) <= set(cluster.servers)


# One server, equal servers


@pytest.mark.parametrize("placement", RULES, ids=lambda rule: rule.name)
def test_one_server_is_a_pool_bit_by_bit(placement):
    limited = Problem(TALK.demands, [16, 16], limits=[2, np.inf], weights=[1, 3])
    server = Cluster([[4, 1], [1, 4]], [[16, 16]])
    schedulers = [DRFScheduler(), DRFScheduler(blocking=False), FIFOScheduler()]
    if not isinstance(placement, OnArrival):
        schedulers += [PFScheduler(), TargetScheduler(DRF(), blocking=False)]
    for scheduler in schedulers:
        for pool, other in ((TALK, TALK), (TALK, server), (limited, limited)):
            if other is server and isinstance(scheduler, TargetScheduler):
                continue  # PF and DRF here are policies of a pool
            one = task_trace(
                System.with_load(pool, [1, 2], 0.95), scheduler, 10.0, tasks=Tasks(per_job=20.0), rng=7
            )
            # The same rates: the load of a cluster is found by a linear program, to the last digit but one.
            system = System(other, one.system.arrival_rates)
            two = task_trace(system, scheduler, 10.0, tasks=Tasks(per_job=20.0, placement=placement), rng=7)
            assert len(one.task_jobs) > 500
            same_trace(one, two)
    result = [
        simulate(System(problem, [2.0, 1.0]), DRFScheduler(), events=5000, replications=3, rng=1)
        for problem in (TALK, server)
    ]
    for name, estimate in result[0].estimates.items():
        np.testing.assert_array_equal(estimate.values, result[1].estimates[name].values)
    np.testing.assert_allclose(result[0].utilization, result[1].utilization, rtol=1e-12)


def test_c_servers_of_one_task_are_the_multiserver_queue():
    # M/M/c: mean wait C(c, rho)/(c/sigma - lambda) with Erlang's C, whatever the placement.
    c, rate, size = 4, 1.5, 2.0
    rho = rate * size
    terms = [rho**k / math.factorial(k) for k in range(c)]
    last = rho**c / math.factorial(c) * c / (c - rho)
    wait = last / (sum(terms) + last)
    exact = size + wait / (c / size - rate)
    system = System(Cluster([[1]], [[1]] * c), [rate], [size])
    for rule in RULES[:6]:
        result = simulate(
            system,
            FIFOScheduler(),
            tasks=Tasks(per_job=FixedTasks(1), placement=rule),
            events=100_000,
            replications=20,
            rng=1,
        )
        assert off(result.estimates["mean_durations"], exact) < 1
        assert off(result.estimates["mean_jobs"], rate * exact) < 1
        # A job waits where the queue is not empty: P(N > c) = C(c, rho) rho/c.
        assert off(result.servers.waiting, wait * rho / c) < 1
        assert result.servers.fragmented.value[0] == 0  # no part of a server is ever free
        assert off(result.utilization_estimate, rho / c) < 1
        assert result.estimates["mean_durations"].half_width_at(SURE) < 0.05 * exact
        if isinstance(rule, RandomFit):  # the others prefer the first of equal servers
            assert (off(result.servers.utilization, rho / c) < 1).all()
    # First fit fills the servers in order.
    first = simulate(
        system,
        FIFOScheduler(),
        tasks=Tasks(per_job=1.0, placement=FirstFit()),
        events=20_000,
        replications=3,
        rng=1,
    )
    assert (np.diff(first.servers.utilization.value[:, 0]) < 0).all()


def test_jobs_bound_at_random_see_queues_of_their_own():
    # Poisson arrivals split at random: each server an M/M/1 queue, E[T] = size/(1 - rho).
    c, rate = 3, 1.8
    system = System(Cluster([[1]], [[1]] * c), [rate])
    options = {"events": 200_000, "replications": 20, "rng": 2}
    means = {}
    for rule in (OnArrival("random"), OnArrival("round robin"), OnArrival("shortest queue", 2), OnArrival()):
        result = simulate(
            system, FIFOScheduler(), tasks=Tasks(per_job=FixedTasks(1), placement=rule), **options
        )
        means[rule.name] = result.estimates["mean_durations"]
        if rule.rule == "random":
            assert off(result.estimates["mean_durations"], 1 / (1 - rate / c)) < 1
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


# The draws of the rules


def test_draws_of_servers():
    # One task runs at a time on 4 empty servers: random fit is uniform; of two draws the least loaded is the
    # one with more room, so server k of distinct sizes has probability (2k + 1)/16.
    cluster = Cluster([[1]], [[2], [3], [5], [9]])
    system = System(cluster, [0.001])
    for rule, law in (
        (RandomFit(), np.full(4, 1 / 4)),
        (PowerOfChoices(1), np.full(4, 1 / 4)),
        (PowerOfChoices(2), np.array([1, 3, 5, 7]) / 16),
        (OnArrival("random"), np.full(4, 1 / 4)),
        # All queues are empty: the first of two draws.
        (OnArrival("shortest queue", 2), np.array([7, 5, 3, 1]) / 16),
    ):
        record = task_trace(
            system,
            FIFOScheduler(),
            2e6,
            tasks=Tasks(per_job=1.0, times="deterministic", placement=rule),
            rng=3,
        )
        # Tasks that start while another runs (1 in 1000) see loaded servers: too few to matter here.
        observed = np.bincount(record.task_servers, minlength=4)
        assert observed.sum() > 1500
        assert stats.chisquare(observed, law * observed.sum()).pvalue > 1e-6


# What packing changes


def test_best_fit_keeps_room_for_large_tasks():
    # Small tasks of 1 and large ones of 4 on four servers of 4: worst fit spreads the small ones, so that
    # large ones find no empty server.
    cluster = Cluster([[1], [4]], [[4]] * 4)
    system = System(cluster, [3.0, 0.6])
    results = {
        rule.name: simulate(
            system,
            FIFOScheduler(blocking=False),
            tasks=Tasks(per_job=FixedTasks(1), placement=rule),
            events=100_000,
            replications=10,
            rng=4,
        )
        for rule in (BestFit(), WorstFit())
    }
    best, worst = (results[name].estimates["mean_durations"] for name in ("best fit", "worst fit"))
    assert best.value[1] + best.half_width_at(SURE)[1] < worst.value[1] - worst.half_width_at(SURE)[1]
    lost = [results[name].servers.fragmented.value[0] for name in ("best fit", "worst fit")]
    assert lost[0] < lost[1]


def test_a_pool_that_does_not_block_is_never_fragmented():
    system = System.with_load(TALK, [1, 1], 0.8)
    for blocking in (False, True):
        result = simulate(
            system,
            DRFScheduler(blocking=blocking),
            tasks=Tasks(placement=FirstFit()),
            events=50_000,
            replications=2,
            rng=1,
        )
        assert bool(result.servers.fragmented.value[0] > 0) is blocking
        assert result.servers.waiting.value[0] > 0.05


@pytest.mark.parametrize("placement", [BestFit(), WorstFit(), OnArrival()], ids=lambda rule: rule.name)
def test_estimates_agree_with_each_other(placement):
    cluster = Cluster([[2, 1], [1, 3]], [[8, 8], [6, 12]], gamma=[[8, 3], [2, 4]], resources=["cores", "GB"])
    system = System.with_load(cluster, [3, 1], 0.5, [1.0, 2.0])
    result = simulate(
        system,
        DRFScheduler(),
        tasks=Tasks(per_job=5.0, placement=placement),
        events=100_000,
        replications=20,
        rng=2,
    )
    # Little's law, load carried, and the two definitions of the service rate.
    assert (off(result.estimates["mean_durations"], result.mean_jobs / system.arrival_rates) < 1).all()
    assert (off(result.estimates["service_rates"], system.mean_sizes / result.mean_durations) < 1).all()
    assert (result.estimates["mean_durations"].half_width_at(SURE) < 0.2 * result.mean_durations).all()
    total = (result.servers.utilization.value * cluster.capacities).sum(axis=0) / cluster.total_capacities
    np.testing.assert_allclose(result.utilization, total, rtol=1e-12)


# Machinery


SCRIPT = """
import json
from fairness import Cluster
from queueing import *
system = System(Cluster([[4, 1], [1, 4]], [[8, 8], [16, 8]]), [2.0, 2.0])
mixed = TaskTypes([["class 1", "class 2"]], start="any")
for rule in (BestFit(), BestFit("alignment"), PowerOfChoices(), OnArrival("random"), OnArrival()):
    for types in (None, mixed):
        scheduler = DRFScheduler(ties="random", blocking=False)
        tasks = Tasks(per_job=5.0, placement=rule, types=types)
        record = task_trace(system, scheduler, 5.0, tasks=tasks, rng=6)
        columns = record.task_jobs, record.task_servers, record.task_ends
        print(json.dumps([column.tolist() for column in columns]))
"""


def test_kernel_gives_the_same_numbers_uncompiled():
    # Uncompiled, an index out of bounds would be an error, too. Only overflow of uint64 is meant.
    runs = []
    for flag in ("0", "1"):
        command = [sys.executable, "-W", "error", "-W", "ignore:overflow", "-c", SCRIPT]
        environment = {**os.environ, "NUMBA_DISABLE_JIT": flag}
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True, timeout=PATIENCE
        )
        runs.append([json.loads(line) for line in done.stdout.splitlines()])
    assert len(runs[0]) == 10
    for one, other in zip(*runs, strict=True):
        assert one[:2] == other[:2]
        assert len(one[0]) > 30
        # Compiled or not, log1p differs in the last digit.
        np.testing.assert_allclose(one[2], other[2], rtol=1e-13)


def test_common_random_numbers_and_n_jobs():
    system = System.with_load(HALVES, [1, 1], 0.6)
    records = [
        task_trace(system, DRFScheduler(), 10.0, tasks=Tasks(per_job=5.0, placement=rule), rng=1)
        for rule in RULES
    ]
    for record in records[1:]:
        np.testing.assert_array_equal(records[0].job_arrivals, record.job_arrivals)
        np.testing.assert_array_equal(records[0].job_tasks, record.job_tasks)
    one, two = (
        simulate(
            system,
            DRFScheduler(),
            tasks=Tasks(placement=RandomFit()),
            events=5000,
            replications=4,
            rng=1,
            n_jobs=jobs,
        )
        for jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.servers.utilization.values, two.servers.utilization.values)
    np.testing.assert_array_equal(one.servers.fragmented.values, two.servers.fragmented.values)


def test_what_a_reader_sees():
    result = simulate(
        System.with_load(HALVES, [1, 1], 0.5),
        DRFScheduler(),
        tasks=Tasks(per_job=5.0),
        events=5000,
        replications=3,
        rng=1,
    )
    assert "server 1: cores" in result.summary()
    assert "best fit: jobs wait" in repr(result)
    frame = result.servers.to_dataframe()
    assert frame.shape == (2, 2)
    assert frame.index.name == "server"
    assert list(frame.columns) == ["cores", "GB"]
    many = simulate(System.with_load(Cluster([[1]], [[1]] * 9), [1], 0.5), DRFScheduler(), events=2000, rng=1)
    assert "on 9 servers" in many.summary()


# Errors


@pytest.mark.parametrize(
    ("scheduler", "arguments", "message"),
    [
        (BMFScheduler(), {}, "BMFScheduler.* is not defined for servers and task types; take DRFScheduler"),
        (TargetScheduler(TSF()), {"placement": OnArrival()}, "TSF sets a target .* bound to a server"),
        (DRFScheduler(), {"placement": BestFit}, r"placement must be a rule such as BestFit\(\)"),
        (DRFScheduler(), {"placement": "best fit"}, r"placement must be a rule such as BestFit\(\)"),
        (DRFScheduler(), {"types": [["a"]]}, "types must be TaskTypes"),
        (DRFScheduler(), {"max_jobs": 0}, "max_jobs must be an integer >= 1"),
        (DRFScheduler(), {"max_jobs": 10**13}, "running tasks needs"),
    ],
)
def test_bad_arguments(scheduler, arguments, message):
    with pytest.raises(ModelError, match=message):
        task_trace(System(HALVES, [1, 1]), scheduler, 1.0, tasks=Tasks(**arguments))


def test_bad_rules():
    with pytest.raises(ModelError, match="score must be one of remaining, alignment; got 'tight'"):
        BestFit("tight")
    for wrong in ([], {}, None, 1):
        with pytest.raises(ModelError, match="score must be one of"):
            BestFit(score=wrong)
        with pytest.raises(ModelError, match="rule must be one of"):
            OnArrival(rule=wrong)
    with pytest.raises(ModelError, match="choices must be an integer >= 1; got 0"):
        PowerOfChoices(0)
    with pytest.raises(ModelError, match="rule must be one of random, round robin, shortest queue"):
        OnArrival("longest queue")
    with pytest.raises(ModelError, match="choices=2 has no meaning for the rule 'random'"):
        OnArrival("random", 2)
    with pytest.raises(ModelError, match="choices must be an integer >= 1; got True"):
        OnArrival(choices=True)


def test_overload_is_found():
    # Two tasks of 3 do not fit on a server of 5, although the load is below capacity.
    system = System(Cluster([[3]], [[5], [5]]), [2.5])
    with pytest.raises(UnstableError, match=r"more than max_jobs=200 jobs at time .* whole tasks carry less"):
        simulate(system, DRFScheduler(), tasks=Tasks(max_jobs=200), events=1_000_000, rng=1)
    with pytest.raises(ModelError, match="a task of class 'class 1' fits on no server"):
        task_trace(System(Cluster([[3]], [[2], [2]]), [0.5]), DRFScheduler(), 1.0)
