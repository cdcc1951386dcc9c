from __future__ import annotations

import heapq
import json
import math
import os
import subprocess
import sys
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from fairness import DRF, Problem
from fairness.errors import ModelError, UnstableError
from queueing import Tasks, simulate, task_trace
from queueing.model.system import System
from queueing.simulation.tasks.engine import runs
from queueing.simulation.tasks.rules.schedulers import (
    BMFScheduler,
    DRFScheduler,
    FIFOScheduler,
    PFScheduler,
    TargetScheduler,
)
from queueing.simulation.tasks.rules.workload import FixedTasks, GeometricTasks, TabulatedTasks
from queueing.states import growing_table as growth
from tests.processes import PATIENCE
from tests.queueing.simulated import SURE, off, same_trace

TALK = Problem([[4, 1], [1, 4]], [16, 16], resources=["cores", "GB"])

KINDS = {
    "DRF": DRFScheduler,
    "BMF": BMFScheduler,
    "BMF fullest": lambda **options: BMFScheduler(bottlenecks="fullest", **options),
    "BMF all": lambda **options: BMFScheduler(bottlenecks="all", **options),
    "PF": PFScheduler,
    "target DRF": lambda **options: TargetScheduler(DRF(), **options),
    "FIFO": FIFOScheduler,
}


# A reference that looks at every job, in exact arithmetic


@dataclass(eq=False)
class Job:
    number: int
    kind: int
    waiting: int
    running: int = 0


class Reference:
    """Scheduler by definition: job by job, demands and shares as fractions."""

    def __init__(self, scheduler, problem):
        self.scheduler, self.problem = scheduler, problem
        demands, capacities = problem.as_fractions()
        weights = [Fraction(int(w)) for w in problem.weights]
        self.demands, self.capacities = demands, capacities
        self.shares = [
            [a / c / w for a, c in zip(row, capacities, strict=True)]
            for row, w in zip(demands, weights, strict=True)
        ]
        self.resources = [j for j in range(len(capacities)) if any(row[j] for row in demands)]
        self.jobs: list[Job] = []

    def used(self, j):
        return sum(job.running * self.demands[job.kind][j] for job in self.jobs)

    def blocks(self, j, job):
        return self.demands[job.kind][j] > 0 and self.used(j) + self.demands[job.kind][j] > self.capacities[j]

    def fits(self, job):
        return not any(self.blocks(j, job) for j in self.resources)

    def queue(self):
        return [j for j in self.jobs if j.waiting and j.running + 1 <= self.problem.limits[j.kind]]

    def chosen(self):
        """Jobs among which the scheduler may choose now (several only if tied), or [] to wait."""
        queue = self.queue()
        if not self.scheduler.blocking:
            queue = [job for job in queue if self.fits(job)]
        if not queue:
            return []
        return self.most_deprived(queue)

    def next(self):
        """The oldest of the chosen if its task fits."""
        jobs = self.chosen()
        if not jobs:
            return None
        oldest = min(jobs, key=lambda job: job.number)
        return oldest if self.fits(oldest) else None

    def most_deprived(self, queue):
        if isinstance(self.scheduler, FIFOScheduler):
            return [min(queue, key=lambda job: job.number)]
        if isinstance(self.scheduler, DRFScheduler):
            key = {job: job.running * max(self.shares[job.kind]) for job in queue}
        elif isinstance(self.scheduler, BMFScheduler):
            bottlenecks = self.bottlenecks()
            key = {job: -min(self.rank(job, j) for j in bottlenecks) for job in queue}
        else:
            return self.below_target(queue)
        return [job for job in queue if key[job] == min(key.values())]

    def bottlenecks(self):
        if self.scheduler.bottlenecks == "all":
            return self.resources
        if self.scheduler.bottlenecks == "fullest":
            utilization = {j: self.used(j) / self.capacities[j] for j in self.resources}
            return [j for j in self.resources if utilization[j] == max(utilization.values())]
        return [
            j for j in self.resources if any(self.blocks(j, job) for job in self.queue())
        ] or self.resources

    def rank(self, job, j):
        share = job.running * self.shares[job.kind][j]
        return 1 + sum(other.running * self.shares[other.kind][j] > share for other in self.jobs)

    def below_target(self, queue):
        n = self.problem.n_classes
        present = np.bincount([job.kind for job in self.jobs], minlength=n)
        running = np.bincount(
            [job.kind for job in self.jobs], [job.running for job in self.jobs], minlength=n
        )
        target = self.scheduler.policy(self.problem, present)
        ratio = {job.kind: running[job.kind] / target[job.kind] for job in queue}
        # The documented margin for ratios to a target that is itself computed.
        kinds = {i for i in ratio if ratio[i] <= min(ratio.values()) * (1 + 1e-6)}
        least = {i: min(job.running for job in queue if job.kind == i) for i in kinds}
        return [job for job in queue if job.kind in kinds and job.running == least[job.kind]]


def replay(record, scheduler, pick):
    """Feed the arrivals and task ends of a record to the reference; ``pick`` compares each start."""
    reference = Reference(scheduler, record.system.problem)
    ends: list[tuple[float, int, Job]] = []
    arrivals = list(range(len(record.job_arrivals)))
    started = 0
    while True:
        if ends and (not arrivals or ends[0][0] <= record.job_arrivals[arrivals[0]]):
            time, _, job = heapq.heappop(ends)
            if time > record.horizon:
                break
            job.running -= 1
            if job.waiting + job.running == 0:
                reference.jobs.remove(job)
        elif arrivals:
            number = arrivals.pop(0)
            time = record.job_arrivals[number]
            reference.jobs.append(Job(number, int(record.job_classes[number]), int(record.job_tasks[number])))
        else:
            break
        while (job := pick(reference, record, started, time)) is not None:
            job.waiting -= 1
            job.running += 1
            heapq.heappush(ends, (record.task_ends[started], started, job))
            started += 1
    assert started == len(record.task_jobs)


def pick_oldest(reference, record, started, time):
    job = reference.next()
    if job is not None:
        assert started < len(record.task_jobs)
        assert (record.task_jobs[started], record.task_starts[started]) == (job.number, time)
    return job


def random_system(rng, weighted=True):
    """Small whole demands and capacities, full of ties, with zeros, weights and limits; overloaded."""
    n, m = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    capacities = rng.integers(4, 13, m)
    demands = np.minimum(rng.integers(0, 5, (n, m)), capacities)
    demands[np.arange(n), rng.integers(m, size=n)] += demands.sum(axis=1) == 0
    weights = rng.integers(1, 4, n) if weighted else None
    limits = np.where(rng.random(n) < 0.3, rng.integers(1, 4, n), np.inf)
    problem = Problem(demands, capacities, weights=weights, limits=limits)
    return System.with_load(problem, rng.uniform(0.3, 1, n), 1.2, rng.uniform(0.5, 2, n))


@pytest.mark.parametrize("task_times", ["exponential", "deterministic"])
@pytest.mark.parametrize("blocking", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_every_start_is_that_of_the_reference(kind, blocking, task_times):
    rng = np.random.default_rng(len(kind) + 100 * blocking)
    scheduler = KINDS[kind](blocking=blocking)
    starts = 0
    for k in range(6):
        system = System.with_load(TALK, [1, 1], 0.9) if k == 0 else random_system(rng)
        horizon = 40 / system.arrival_rates.sum()
        record = task_trace(
            system, scheduler, horizon, tasks=Tasks(per_job=GeometricTasks(5.0), times=task_times), rng=k
        )
        replay(record, scheduler, pick_oldest)
        starts += len(record.task_jobs)
    assert starts > 400


@pytest.mark.parametrize("blocking", [True, False])
@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"FIFO"}))
def test_random_ties_choose_among_the_most_deprived(kind, blocking):
    scheduler = KINDS[kind](blocking=blocking, ties="random")
    younger = 0

    def pick(reference, record, started, time):
        nonlocal younger
        tied = reference.chosen()
        fit = {job.number: job for job in tied if reference.fits(job)}
        if started == len(record.task_jobs) or record.task_starts[started] > time:
            # Right to wait if nothing is chosen, or if one of the chosen does not fit and blocks.
            assert len(fit) < len(tied) or not tied
            return None
        assert record.task_jobs[started] in fit
        job = fit[int(record.task_jobs[started])]
        younger += job.number != min(fit)
        return job

    record = task_trace(System.with_load(TALK, [1, 1], 1.0), scheduler, 8.0, tasks=Tasks(per_job=6.0), rng=3)
    replay(record, scheduler, pick)
    assert younger > 10


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


# What a record must satisfy


@pytest.mark.parametrize("kind", KINDS)
def test_record_is_consistent(kind):
    rng = np.random.default_rng(5)
    for k in range(4):
        system = random_system(rng)
        problem = system.problem
        record = task_trace(
            system,
            KINDS[kind](blocking=k % 2 == 0),
            100 / system.arrival_rates.sum(),
            tasks=Tasks(per_job=4.0),
            rng=k,
        )
        assert (record.usage <= problem.capacities).all()  # whole numbers: exact
        assert (np.diff(record.times) >= 0).all()
        assert (np.diff(record.job_arrivals) > 0).all()
        started = np.bincount(record.task_jobs, minlength=len(record.job_tasks))
        assert (started <= record.job_tasks).all()
        assert (record.task_starts >= record.job_arrivals[record.task_jobs]).all()
        gone = np.isfinite(record.job_departures)
        assert gone.any()
        assert (started[gone] == record.job_tasks[gone]).all()
        last_end = np.zeros(len(started))
        np.maximum.at(last_end, record.task_jobs, record.task_ends)
        np.testing.assert_array_equal(record.job_departures[gone], last_end[gone])
        # Jobs and running tasks at the middle of each interval, counted from the tasks.
        middle = (record.times[1:] + record.times[:-1]) / 2
        kinds = record.job_classes[record.task_jobs]
        departures = np.where(gone, record.job_departures, np.inf)
        for i in range(system.n_classes):
            mine = kinds == i
            on = (record.task_starts[mine] <= middle[:, None]) & (middle[:, None] < record.task_ends[mine])
            np.testing.assert_array_equal(record.running[:-1, i], on.sum(axis=1))
            mine = record.job_classes == i
            here = (record.job_arrivals[mine] <= middle[:, None]) & (middle[:, None] < departures[mine])
            np.testing.assert_array_equal(record.jobs[:-1, i], here.sum(axis=1))
        # No job runs more tasks than its limit.
        for number in np.unique(record.task_jobs):
            mine = record.task_jobs == number
            starts, ends = record.task_starts[mine], record.task_ends[mine]
            together = ((starts[:, None] >= starts) & (starts[:, None] < ends)).sum(axis=1)
            assert together.max() <= problem.limits[record.job_classes[number]]


def test_skipping_never_leaves_room_for_a_waiting_task():
    system = System.with_load(TALK, [1, 1], 0.9)
    idle = {}
    for blocking in (True, False):
        record = task_trace(system, DRFScheduler(blocking=blocking), 20.0, tasks=Tasks(per_job=6.0), rng=2)
        free = TALK.capacities - record.usage
        room = (free[:, None, :] >= TALK.demands).all(axis=2)
        kinds = record.job_classes[record.task_jobs]
        backlog = np.empty_like(record.jobs)
        for i in range(2):
            mine = record.job_classes == i
            arrived = np.searchsorted(record.job_arrivals[mine], record.times, side="right")
            tasks = np.concatenate([[0], np.cumsum(record.job_tasks[mine])])[arrived]
            backlog[:, i] = tasks - np.searchsorted(
                record.task_starts[kinds == i], record.times, side="right"
            )
        assert (backlog >= 0).all()
        idle[blocking] = int((room & (backlog > 0)).any(axis=1).sum())
    assert idle[False] == 0
    assert idle[True] > 0


def test_a_short_run_by_hand():
    # Two units, jobs of two tasks of duration 1, deterministic. Ends on the same instant come one by one.
    system = System(Problem([[1]], [2]), [1.0], [2.0])
    record = task_trace(
        system, FIFOScheduler(), 20.0, tasks=Tasks(per_job=FixedTasks(2), times="deterministic"), rng=4
    )
    ends = [0.0, 0.0]
    starts = []
    for arrival in record.job_arrivals:
        for _ in range(2):
            start = max(arrival, ends.pop(0))
            starts.append(start)
            ends.append(start + 1.0)
            ends.sort()
    starts = [start for start in starts if start <= 20.0]
    assert record.task_starts.tolist() == starts
    assert (record.task_jobs == np.arange(len(starts)) // 2).all()
    frame = record.to_dataframe()
    assert list(frame.columns) == ["job", "job_class", "job_arrival", "start", "end"]
    assert len(frame) == len(starts)
    assert f"{len(starts)} tasks" in repr(record)


# Random numbers


def test_common_random_numbers():
    system = System.with_load(TALK, [1, 2], 0.9)
    options = {"tasks": Tasks(per_job=5.0), "rng": 9}
    records = [
        task_trace(system, scheduler, 10.0, **options)
        for scheduler in (DRFScheduler(), BMFScheduler(ties="random"), FIFOScheduler(blocking=False))
    ]
    one, *others = records
    assert len(one.job_arrivals) > 20

    def durations(record):
        """Duration of task t of job s by (s, t): the tasks of a job start in their order."""
        seen: dict[int, int] = {}
        out = {}
        for job, start, end in zip(record.task_jobs, record.task_starts, record.task_ends, strict=True):
            t = seen[job] = seen.get(job, -1) + 1
            out[int(job), t] = end - start
        return out

    for other in others:
        np.testing.assert_array_equal(one.job_arrivals, other.job_arrivals)
        np.testing.assert_array_equal(one.job_classes, other.job_classes)
        np.testing.assert_array_equal(one.job_tasks, other.job_tasks)
        first, second = durations(one), durations(other)
        common = first.keys() & second.keys()
        assert len(common) > 50
        # end - start loses digits of the duration: times are about 10.
        assert all(math.isclose(first[key], second[key], abs_tol=1e-14) for key in common)
    assert not np.array_equal(one.task_starts, others[1].task_starts)


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


def test_small_tables_and_logs_change_nothing(monkeypatch):
    system = System.with_load(TALK, [1, 1], 1.0)
    large = task_trace(system, PFScheduler(), 30.0, tasks=Tasks(per_job=10.0), rng=6)
    assert large.jobs.max() > 3
    monkeypatch.setattr(growth, "FIRST_TABLE", 4)
    monkeypatch.setattr(runs, "FIRST_LOG", 1)
    small = task_trace(system, PFScheduler(), 30.0, tasks=Tasks(per_job=10.0), rng=6)
    same_trace(large, small)


SCRIPT = """
import json
from fairness import DRF, Problem
from queueing import *
system = System.with_load(Problem([[4, 1], [1, 4]], [16, 16]), [1, 1], 1.0)
for scheduler in (BMFScheduler(ties="random"), DRFScheduler(blocking=False), TargetScheduler(DRF())):
    record = task_trace(system, scheduler, 4.0, tasks=Tasks(per_job=10.0), rng=6)
    print(json.dumps([record.task_jobs.tolist(), record.jobs.tolist(), record.task_ends.tolist()]))
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
    assert len(runs[0]) == 3
    for one, other in zip(*runs, strict=True):
        assert one[:2] == other[:2]
        assert len(one[0]) > 100
        # Compiled or not, log1p differs in the last digit.
        np.testing.assert_allclose(one[2], other[2], rtol=1e-13)


# Estimates


def test_single_tasks_on_c_units_are_the_multiserver_queue():
    # M/M/c: mean wait C(c, rho)/(c/sigma - lambda) with Erlang's C.
    c, rate, size = 4, 1.5, 2.0
    rho = rate * size
    terms = [rho**k / math.factorial(k) for k in range(c)]
    last = rho**c / math.factorial(c) * c / (c - rho)
    exact = size + last / (sum(terms) + last) / (c / size - rate)
    system = System(Problem([[1]], [c]), [rate], [size])
    for scheduler in (FIFOScheduler(), DRFScheduler(), BMFScheduler(), TargetScheduler(DRF())):
        result = simulate(
            system, scheduler, tasks=Tasks(per_job=FixedTasks(1)), events=200_000, replications=20, rng=1
        )
        assert off(result.estimates["mean_durations"], exact) < 1
        assert off(result.estimates["mean_jobs"], rate * exact) < 1
        assert off(result.utilization_estimate, rho / c) < 1
        assert result.estimates["mean_durations"].half_width_at(SURE) < 0.03 * exact


@pytest.mark.parametrize("task_times", ["exponential", "deterministic"])
@pytest.mark.parametrize("law", [GeometricTasks(3.0), FixedTasks(2), TabulatedTasks([0.5, 0, 0.2, 0.3])])
def test_one_unit_in_order_of_arrival_is_pollaczek_khinchine(law, task_times):
    # A job occupies the unit for K tasks: E[T] = sigma + lambda E[S^2]/(2 (1 - rho)).
    rate, size = 0.7, 1.0
    mean = law.means(1)[0]
    if isinstance(law, GeometricTasks):
        second = mean * (2 * mean - 1)
    elif isinstance(law, FixedTasks):
        second = mean**2
    else:
        second = np.array(law.probabilities[0]) @ np.arange(1, 5) ** 2
    tau = size / mean
    square = tau**2 * (second + (mean if task_times == "exponential" else 0))
    exact = size + rate * square / (2 * (1 - rate * size))
    system = System(Problem([[1]], [1]), [rate], [size])
    result = simulate(
        system,
        FIFOScheduler(),
        tasks=Tasks(per_job=law, times=task_times),
        events=400_000,
        replications=20,
        rng=3,
    )
    assert off(result.estimates["mean_durations"], exact) < 1
    assert result.estimates["mean_durations"].half_width_at(SURE) < 0.04 * exact


@pytest.mark.parametrize("kind", ["DRF", "BMF", "PF"])
def test_estimates_agree_with_each_other(kind):
    system = System.with_load(TALK, [3, 1], 0.6, [1.0, 2.0])
    result = simulate(
        system, KINDS[kind](), tasks=Tasks(per_job=20.0), events=400_000, replications=20, rng=2
    )
    # Little's law, load carried, and the two definitions of the service rate.
    assert (off(result.estimates["mean_durations"], result.mean_jobs / system.arrival_rates) < 1).all()
    assert (off(result.estimates["service_rates"], system.mean_sizes / result.mean_durations) < 1).all()
    assert (off(result.utilization_estimate, system.relative_loads) < 1).all()
    assert (result.estimates["mean_durations"].half_width_at(SURE) < 0.1 * result.mean_durations).all()


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


def test_what_a_reader_sees():
    system = System(TALK, [1.0, 0.0])
    result = simulate(system, PFScheduler(), tasks=Tasks(per_job=5.0), events=5000, replications=3, rng=1)
    assert result.policy == "PF"
    assert result.events == 13_500
    assert result.jobs[0] > 1000
    assert result.jobs[1] == 0
    assert np.isnan(result.service_rates[1])
    assert np.isnan(result.mean_durations[1])
    assert result.mean_jobs[1] == 0
    frame = result.to_dataframe()
    np.testing.assert_array_equal(frame["mean_durations_half_width"], result.half_widths["mean_durations"])
    assert "PF, task by task: 3 replications, 13,500 events" in repr(result)
    assert "cores 25" in result.summary()


# Errors


def test_overload_is_found():
    # Below the fluid capacity, but above what blocking in order of arrival carries.
    system = System.with_load(TALK, [1, 1], 0.95)
    with pytest.raises(
        UnstableError, match=r"more than max_jobs=200 jobs at time .* FIFO \(present: 'class 1'"
    ):
        simulate(system, FIFOScheduler(), tasks=Tasks(max_jobs=200), events=10_000_000, rng=1)
    with pytest.raises(UnstableError, match="more than max_jobs=1 jobs"):
        task_trace(system, FIFOScheduler(), 1000.0, tasks=Tasks(max_jobs=1), rng=1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"times": "uniform"}, "times must be one of exponential, deterministic; got 'uniform'"),
        ({"per_job": 0.5}, "mean must be a number >= 1"),
        ({"per_job": "many"}, "mean must be a number >= 1"),
        ({"per_job": 1e300}, r"mean must be a number >= 1, <= 1e\+09"),
        ({"per_job": GeometricTasks}, r"per_job must be a law such as FixedTasks\(5\)"),
        ({"per_job": [2.0, 3.0, 4.0]}, r"mean has 3 entries; give one, or one per job class \(2\)"),
        ({"per_job": TabulatedTasks([[1.0]] * 3)}, "probabilities has 3 rows"),
        ({"max_jobs": 0}, "max_jobs must be an integer >= 1"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ModelError, match=message):
        simulate(System(TALK, [1, 1]), DRFScheduler(), tasks=Tasks(**arguments), events=100, rng=1)


def test_a_class_of_which_no_job_leaves_is_an_error():
    with pytest.raises(ModelError, match=r"no job of class 'class .' left during .*; give more events"):
        simulate(System(TALK, [1, 1]), DRFScheduler(), events=3, rng=1)


def test_bad_laws_and_schedulers():
    with pytest.raises(ModelError, match=r"number must be an integer >= 1; got 1\.5"):
        FixedTasks(1.5)
    with pytest.raises(ModelError, match=r"row 0 sums to 0\.9$"):
        TabulatedTasks([0.5, 0.4])
    with pytest.raises(ModelError, match="number must be an integer >= 1"):
        FixedTasks(1e300)
    with pytest.raises(ModelError, match="probabilities must be an array of numbers"):
        TabulatedTasks([[0.5, 0.5], [1.0]])
    with pytest.raises(ModelError, match="finite numbers >= 0"):
        TabulatedTasks([1.5, -0.5])
    with pytest.raises(ModelError, match="ties must be one of oldest, random; got 'newest'"):
        DRFScheduler(ties="newest")
    with pytest.raises(ModelError, match="bottlenecks must be one of blocking, fullest, all"):
        BMFScheduler(bottlenecks="some")
    with pytest.raises(ModelError, match="policy must be callable"):
        TargetScheduler("pf")
    with pytest.raises(ModelError, match="blocking must be True or False; got 'no'"):
        BMFScheduler(blocking="no")
    for horizon in (0, -1.0, math.inf, "long"):
        with pytest.raises(ModelError, match="horizon must be a finite number > 0"):
            task_trace(System(TALK, [1, 1]), DRFScheduler(), horizon)


def test_tasks_that_cannot_run():
    system = System(Problem([[1], [5]], [4], job_classes=["A", "B"], resources=["cpu"]), [0.1, 0.1])
    with pytest.raises(ModelError, match="a task of class 'B' demands 5 of 'cpu', more than its capacity 4"):
        simulate(system, DRFScheduler())
    with pytest.raises(ModelError, match="'class 1' demands nothing"):
        task_trace(System(Problem([[0]], [4], limits=[1]), [0.1]), DRFScheduler(), 1.0)
    with pytest.raises(ModelError, match="could never run a whole task"):
        task_trace(System(Problem([[1]], [4], limits=[0.5]), [0.1]), DRFScheduler(), 1.0)
    with pytest.raises(ModelError, match=r"running tasks needs .* count demands in larger tasks"):
        task_trace(System(Problem([[1e-300]], [1]), [0.1]), DRFScheduler(), 1.0)
    with pytest.raises(ModelError, match="nothing to simulate"):
        task_trace(System(TALK, [0, 0]), DRFScheduler(), 1.0)


def test_demands_that_do_not_add_up_in_floating_point():
    # Ten tasks of 0.1 fill one unit, although 0.1 has no exact binary form.
    system = System(Problem([[0.1]], [1.0]), [30.0], [1.0])
    record = task_trace(system, DRFScheduler(), 2.0, tasks=Tasks(per_job=1.0), rng=1)
    assert record.running.max() == 10


def test_a_record_that_no_memory_holds_is_refused_at_once():
    with pytest.raises(ModelError, match=r"a record of about .* events needs .* reduce horizon"):
        task_trace(System.with_load(TALK, [1, 1], 0.5), DRFScheduler(), 1e300)
