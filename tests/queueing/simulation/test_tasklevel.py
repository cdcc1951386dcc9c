"""Every event of runs of whole tasks: what the definition says, and what must not change it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from fairness import DRF, TSF, Cluster, Problem
from fairness.testing import random_problem
from queueing import (
    BestFit,
    BMFScheduler,
    DRFScheduler,
    FIFOScheduler,
    FixedTasks,
    OnArrival,
    PFScheduler,
    PowerOfChoices,
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
from queueing.simulation.replications import spawn_streams
from queueing.simulation.tasks import runs
from queueing.simulation.tasks.events import TASK_TIME
from queueing.simulation.tasks.runs import TaskRuns
from queueing.states import growing_table as growth
from tests.oracles.tasklevel_reference import CLUSTER, HALVES, POOL, RULES, SCHEDULERS, TALK, replay
from tests.queueing.simulation.simulated import same_trace

every_rule = pytest.mark.parametrize("placement", RULES, ids=lambda rule: rule.name)
blocking_or_not = pytest.mark.parametrize("blocking", [True, pytest.param(False, marks=pytest.mark.long)])


def random_pool(rng):
    """Small whole demands and capacities, full of ties, with zeros, weights and limits."""
    n, m = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    drawn = random_problem(rng, n, m, kind="integer", weighted=True)
    limits = np.where(rng.random(n) < 0.3, rng.integers(1, 4, n), np.inf)
    return Problem(drawn.demands.astype(int), rng.integers(4, 13, m), weights=drawn.weights, limits=limits)


def random_servers(rng):
    """The same on servers, with constraints and gamma instead of limits."""
    n, servers, m = int(rng.integers(1, 4)), int(rng.integers(1, 4)), int(rng.integers(1, 3))
    while True:
        drawn = random_problem(rng, n, m, kind="integer", weighted=True)
        demands = drawn.demands.astype(int)
        capacities = rng.integers(0, 9, (servers, m))
        with np.errstate(divide="ignore", invalid="ignore"):
            alone = np.floor(np.nanmin(capacities / demands[:, None], axis=2)).astype(int)
        gamma = np.where(rng.random(alone.shape) < 0.8, alone, 0) * (2 if rng.random() < 0.3 else 1)
        # Everybody fits whole on a server, and every server is of use.
        if (gamma > 0).any(axis=0).all() and (gamma > 0).any(axis=1).all():
            given = {"gamma": gamma} if rng.random() < 0.5 else {"eligible": gamma > 0}
            return Cluster(demands, capacities, weights=drawn.weights, **given)


def overloaded(problem, load, rng):
    n = problem.n_classes
    return System.with_load(problem, rng.uniform(0.3, 1, n), load, rng.uniform(0.5, 2, n))


def checked(system, scheduler, horizon, tasks, seed, numbers=None):
    """Replay of a run, and the totals behind its estimates, from the same random numbers."""
    record = task_trace(system, scheduler, horizon, tasks=tasks, rng=seed)
    replayed = replay(record, scheduler, tasks, numbers)
    prepared = TaskRuns(system, scheduler, tasks)
    run = runs.TaskRun(prepared, spawn_streams(seed, 1).generators[0])
    run.go(10**9, horizon)
    run.count()
    lengths = np.minimum(record.task_ends, horizon) - record.task_starts
    placed = np.zeros((system.n_classes, prepared.n_servers))
    np.add.at(placed, (record.task_classes, record.task_servers), lengths)
    # Sums of some hundred intervals, in another order.
    close = {"rtol": 1e-9, "atol": 1e-12}
    np.testing.assert_allclose(run.totals[TASK_TIME], placed.sum(axis=1)[prepared.rows], **close)
    if run.places is not None:
        np.testing.assert_allclose(run.places.placed, placed[prepared.rows], **close)
        np.testing.assert_allclose(run.places.lost, [replayed.fragmented, replayed.waited], **close)
    return replayed


# Every event against the definition

SOLVED = ("PF", "BMF", "BMF all")
"""They solve a problem in each state, which takes half a second here."""
SOME_LONG = [pytest.param(kind, marks=pytest.mark.long) if kind in SOLVED else kind for kind in SCHEDULERS]


@pytest.mark.parametrize("times", ["exponential", pytest.param("deterministic", marks=pytest.mark.long)])
@blocking_or_not
@pytest.mark.parametrize("kind", SOME_LONG)
def test_every_start_on_a_pool(kind, blocking, times):
    rng = np.random.default_rng(len(kind) + 100 * blocking)
    starts = 0
    for k in range(6):
        system = overloaded(random_pool(rng), 1.2, rng) if k else System.with_load(TALK, [1, 1], 0.9)
        horizon = 40 / system.arrival_rates.sum()
        tasks = Tasks(per_job=5.0, times=times)
        starts += checked(system, SCHEDULERS[kind](blocking=blocking), horizon, tasks, k).starts
    assert starts > 400


@blocking_or_not
@every_rule
def test_every_start_on_servers(placement, blocking, monkeypatch):
    monkeypatch.setattr(growth, "FIRST_TABLE", 8)  # a state of TSF is a linear program
    rng = np.random.default_rng(RULES.index(placement) + 100 * blocking)
    schedulers = [DRFScheduler(blocking=blocking), FIFOScheduler(blocking=blocking)]
    if isinstance(placement, BestFit | RandomFit):
        schedulers.append(TargetScheduler(TSF(), blocking=blocking))
    starts = 0
    for k in range(5):
        system = overloaded(random_servers(rng), 1.1, rng) if k else System.with_load(HALVES, [1, 1], 0.9)
        horizon = 25 / system.arrival_rates.sum()
        tasks = Tasks(per_job=4.0, times="deterministic" if k == 2 else "exponential", placement=placement)
        starts += checked(system, schedulers[k % len(schedulers)], horizon, tasks, k).starts
    assert starts > 250


@blocking_or_not
@pytest.mark.parametrize(
    "start", ["listed", *(pytest.param(s, marks=pytest.mark.long) for s in ("any", "stages"))]
)
@pytest.mark.parametrize(
    "placement",
    [BestFit(), *(pytest.param(rule, marks=pytest.mark.long) for rule in (WorstFit(), OnArrival()))],
    ids=lambda rule: rule.name,
)
def test_every_start_of_several_types(placement, start, blocking):
    types = TaskTypes([["reduce", "map"]], start=start)
    tasks = Tasks(per_job=FixedTasks([5, 3, 2]), placement=placement, types=types)
    for seed, problem in enumerate((POOL, CLUSTER)):
        rate = System.with_load(problem, [1, 1, 1], 0.95).arrival_rates.mean()
        for scheduler in (DRFScheduler(blocking=blocking), FIFOScheduler(blocking=blocking)):
            system = System(problem, [rate] * 3)
            assert checked(system, scheduler, 30 / rate, tasks, seed, [5, 3, 2]).starts > 150


@blocking_or_not
@pytest.mark.parametrize("kind", sorted(set(SCHEDULERS) - {"FIFO"}))
def test_random_ties_choose_among_the_most_deprived(kind, blocking):
    scheduler = SCHEDULERS[kind](blocking=blocking, ties="random")
    assert checked(System.with_load(TALK, [1, 1], 1.0), scheduler, 8.0, Tasks(per_job=6.0), 3).younger > 10


def test_random_ties_are_uniform():
    # Four jobs present, one unit: after each task the least served of the others starts, at random. All jobs
    # are equal, so each start is uniform over the tied ones; count which of the tied, by age, gets it.
    system = System(Problem([[1]], [1]), [0.9])
    record = task_trace(system, DRFScheduler(ties="random"), 20_000.0, tasks=Tasks(per_job=1.0), rng=1)
    present: list[int] = []
    arrivals = list(range(len(record.job_arrivals)))
    counts = np.zeros(4, dtype=int)
    for number, start in zip(record.task_jobs, record.task_starts, strict=True):
        while arrivals and record.job_arrivals[arrivals[0]] <= start:
            present.append(arrivals.pop(0))
        if len(present) == 4:
            counts[present.index(number)] += 1
        present.remove(number)
    assert counts.sum() > 500
    assert stats.chisquare(counts).pvalue > 1e-6


def test_demands_that_do_not_add_up_in_floating_point():
    # Ten tasks of 0.1 fill one unit, although 0.1 has no exact binary form.
    system = System(Problem([[0.1]], [1.0]), [30.0], [1.0])
    record = task_trace(system, DRFScheduler(), 2.0, tasks=Tasks(per_job=1.0), rng=1)
    assert record.running.max() == 10


# The same run


@every_rule
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


def test_small_tables_and_logs_change_nothing(monkeypatch):
    system = System.with_load(TALK, [1, 1], 1.0)
    large = task_trace(system, PFScheduler(), 30.0, tasks=Tasks(per_job=10.0), rng=6)
    assert large.jobs.max() > 3
    monkeypatch.setattr(growth, "FIRST_TABLE", 4)
    monkeypatch.setattr(runs, "FIRST_LOG", 1)
    small = task_trace(system, PFScheduler(), 30.0, tasks=Tasks(per_job=10.0), rng=6)
    same_trace(large, small)


def test_first_replication_is_the_trace():
    system = System(Problem([[1]], [2]), [1.0])
    result = simulate(
        system, DRFScheduler(), tasks=Tasks(per_job=3.0), events=500, warmup=0, replications=2, rng=8
    )
    record = task_trace(system, DRFScheduler(), 1000.0, tasks=Tasks(per_job=3.0), rng=8)
    end = record.times[500]
    area = (record.jobs[:500, 0] * np.diff(record.times[:501])).sum()
    assert result.estimates["mean_jobs"].values[0, 0] == pytest.approx(area / end, rel=1e-12)
    gone = record.job_departures <= end
    mean = (record.job_departures - record.job_arrivals)[gone].mean()
    assert result.estimates["mean_durations"].values[0, 0] == pytest.approx(mean, rel=1e-12)


# Random numbers


def test_common_random_numbers():
    # Under every scheduler, and wherever the tasks run.
    rates = System.with_load(TALK, [1, 2], 0.9).arrival_rates
    ways = [(TALK, DRFScheduler(), None), (TALK, BMFScheduler(ties="random"), None)]
    ways += [(HALVES, FIFOScheduler(blocking=False), rule) for rule in RULES]
    one, *others = (
        task_trace(System(problem, rates), scheduler, 10.0, tasks=Tasks(per_job=5.0, placement=rule), rng=9)
        for problem, scheduler, rule in ways
    )
    assert len(one.job_arrivals) > 20

    def durations(record):
        """Duration of task t of job s by (s, t): the tasks of a job start in their order."""
        seen: dict[int, int] = {}
        out = {}
        for job, start, end in zip(record.task_jobs, record.task_starts, record.task_ends, strict=True):
            t = seen[job] = seen.get(job, -1) + 1
            out[int(job), t] = end - start
        return out

    first = durations(one)
    for other in others:
        for name in ("job_arrivals", "job_classes", "job_tasks"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        second = durations(other)
        common = first.keys() & second.keys()
        assert len(common) > 50
        # end - start loses digits of the duration: times are about 10.
        assert all(math.isclose(first[key], second[key], abs_tol=1e-14) for key in common)
        assert not np.array_equal(one.task_starts, other.task_starts)


def test_laws_of_arrivals_tasks_and_durations():
    system = System(Problem([[1.0], [1.0]], [1e6]), [3.0, 1.0], [2.0, 5.0])
    law = TabulatedTasks([[0.2, 0, 0.8], [0.0, 1.0, 0.0]])
    record = task_trace(system, FIFOScheduler(), 5000.0, tasks=Tasks(per_job=law), rng=1)
    gaps = np.diff(record.job_arrivals, prepend=0.0)
    assert stats.kstest(gaps, stats.expon(scale=1 / 4).cdf).pvalue > 1e-6
    assert stats.binomtest(int((record.job_classes == 0).sum()), len(gaps), 0.75).pvalue > 1e-6
    first = record.job_tasks[record.job_classes == 0]
    assert set(first) == {1, 3}
    assert stats.binomtest(int((first == 3).sum()), len(first), 0.8).pvalue > 1e-6
    assert set(record.job_tasks[record.job_classes == 1]) == {2}
    for i, mean in enumerate([2.0 / 2.6, 5.0 / 2.0]):
        mine = record.job_classes[record.task_jobs] == i
        lengths = (record.task_ends - record.task_starts)[mine]
        assert stats.kstest(lengths, stats.expon(scale=mean).cdf).pvalue > 1e-6
    record = task_trace(system, FIFOScheduler(), 5000.0, tasks=Tasks(per_job=[4.0, 1.0]), rng=2)
    first = record.job_tasks[record.job_classes == 0]
    observed = np.bincount(np.minimum(first, 12), minlength=13)[1:]
    tail = stats.geom(0.25).pmf(np.arange(1, 12))
    assert stats.chisquare(observed, len(first) * np.append(tail, 1 - tail.sum())).pvalue > 1e-6
    assert set(record.job_tasks[record.job_classes == 1]) == {1}


def test_numbers_of_tasks_follow_their_laws():
    # Room for everything: all tasks start at once, so the record shows the numbers of all types.
    system = System(Problem([[1.0], [1.0]], [1e5]), [2.0, 2.0])
    law = TabulatedTasks([[0.0, 0.5, 0.5], [0.75, 0.25, 0.0]], first=0)
    np.testing.assert_allclose(law.means(2), [1.5, 0.25], rtol=1e-15)
    types = TaskTypes([["class 1", "class 2"]])
    record = task_trace(system, DRFScheduler(), 1500.0, tasks=Tasks(per_job=law, types=types), rng=3)
    table = np.zeros((len(record.job_tasks), 2), np.int64)
    np.add.at(table, (record.task_jobs, record.task_classes), 1)
    np.testing.assert_array_equal(table.sum(axis=1), record.job_tasks)
    observed = np.array([[((table == [a, b]).all(axis=1)).sum() for b in (0, 1)] for a in (1, 2)])
    assert observed.sum() == len(table)
    # Independent of each other, too.
    law_of_pairs = len(table) * np.outer([0.5, 0.5], [0.75, 0.25])
    assert stats.chisquare(observed.ravel(), law_of_pairs.ravel()).pvalue > 1e-6


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
