"""A task-level scheduler by definition: job by job, in fractions, on a pool or on servers, for several types.

It takes the arrivals, the numbers of tasks and the ends of tasks from a record, and decides afresh whose
task starts where. Where a rule draws at random it says between which choices.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np

from fairness import DRF, Cluster, Problem
from fairness.protocol.calling import policy_tasks
from queueing import (
    BestFit,
    BMFScheduler,
    DRFScheduler,
    FIFOScheduler,
    FirstFit,
    OnArrival,
    PFScheduler,
    PowerOfChoices,
    RandomFit,
    TargetScheduler,
    WorstFit,
)

TALK = Problem([[4, 1], [1, 4]], [16, 16], resources=["cores", "GB"])
HALVES = Cluster([[4, 1], [1, 4]], [[8, 8], [8, 8]], resources=["cores", "GB"])

# Three classes, the first and the last of which may be types of one job.
THREE = {"demands": [[4, 1], [2, 2], [1, 4]], "weights": [2, 1, 2], "job_classes": ["map", "scan", "reduce"]}
POOL = Problem(capacities=[16, 16], limits=[2, 3, 9], **THREE)
WHERE = [[True, True, False], [True, True, True], [True, False, True]]
CLUSTER = Cluster(capacities=[[8, 8], [8, 4], [4, 8]], eligible=WHERE, **THREE)

SCHEDULERS = {
    "DRF": DRFScheduler,
    "BMF": BMFScheduler,
    "BMF fullest": partial(BMFScheduler, bottlenecks="fullest"),
    "BMF all": partial(BMFScheduler, bottlenecks="all"),
    "PF": PFScheduler,
    "target DRF": partial(TargetScheduler, DRF()),
    "FIFO": FIFOScheduler,
}
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


@dataclass(eq=False)
class Job:
    number: int
    types: list[int]
    waiting: dict[int, int]
    server: int | None = None
    running: list[tuple[int, int]] = field(default_factory=list)  # type and server of each task


class Reference:
    """State of the system, and what may happen next in it."""

    def __init__(self, system, scheduler, tasks):
        problem = system.problem
        self.problem, self.scheduler = problem, scheduler
        self.placement, self.start = tasks.placement, tasks.types.start if tasks.types else "listed"
        self.kinds = {n: [n] for n in range(problem.n_classes)}
        for names in tasks.types.jobs if tasks.types else ():
            types = [problem.job_classes.index(name) for name in names]
            self.kinds[types[0]] = types
        if isinstance(problem, Cluster):
            self.demands, self.capacities, gamma = problem.as_fractions()
            self.held = {}
            for n, d in enumerate(self.demands):
                for i, c in enumerate(self.capacities):
                    if gamma[n][i] >= 1:
                        nominal = min(v / a for v, a in zip(c, d, strict=True) if a > 0)
                        self.held[n, i] = [a * nominal / gamma[n][i] for a in d]
            self.limits = [np.inf] * problem.n_classes
        else:
            self.demands, capacities = problem.as_fractions()
            self.capacities = [capacities]
            self.held = {(n, 0): d for n, d in enumerate(self.demands)}
            self.limits = problem.limits
        self.weights = [Fraction(int(w)) for w in problem.weights]
        self.servers = range(len(self.capacities))
        self.resources = [r for r in range(len(self.capacities[0])) if any(d[r] for d in self.demands)]
        self.jobs: list[Job] = []
        self.free = [list(row) for row in self.capacities]
        self.last: dict[int, int] = {}

    def move(self, job, t, i, sign):
        """A task of the job starts (+1) or ends (-1)."""
        for r, h in enumerate(self.held[t, i]):
            self.free[i][r] -= sign * h
        if sign > 0:
            job.waiting[t] -= 1
            job.running.append((t, i))
        else:
            job.running.remove((t, i))

    def fits(self, t, i):
        return (t, i) in self.held and all(h <= v for h, v in zip(self.held[t, i], self.free[i], strict=True))

    def where(self, job, t):
        """Servers on which a task of the job fits."""
        return [i for i in self.servers if job.server in (None, i) and self.fits(t, i)]

    def may_start(self, job):
        runs = {t: sum(k == t for k, _ in job.running) for t in job.types}
        ready = [t for t in job.types if job.waiting[t] and runs[t] + 1 <= self.limits[t]]
        if self.start == "stages":
            unfinished = [t for t in job.types if job.waiting[t] or runs[t]]
            return [t for t in ready if t == unfinished[0]]
        return ready[:1] if self.start == "listed" else ready

    def startable(self, job):
        """First type of the job that fits somewhere, or None."""
        return next((t for t in self.may_start(job) if self.where(job, t)), None)

    def share(self, job, r):
        """Weighted share of a resource: nominal over the total, or what it holds of its server."""
        if job.server is None:
            amount = sum(self.demands[t][r] for t, _ in job.running)
        else:
            amount = sum(self.held[t, i][r] for t, i in job.running)
        total = sum(c[r] for i, c in enumerate(self.capacities) if job.server in (None, i))
        return amount / total / self.weights[job.types[0]] if total else Fraction(0)

    def chosen(self, server=None):
        """Jobs among which the scheduler may choose (several only if tied), of those bound to the server."""
        waiting = [j for j in self.jobs if self.may_start(j) and j.server == server]
        queue = [j for j in waiting if self.scheduler.blocking or self.startable(j) is not None]
        if not queue:
            return []
        if isinstance(self.scheduler, FIFOScheduler):
            return [min(queue, key=lambda j: j.number)]
        if isinstance(self.scheduler, DRFScheduler):
            score = {j: max(self.share(j, r) for r in self.resources) for j in queue}
        elif isinstance(self.scheduler, BMFScheduler):
            score = dict.fromkeys(queue, -len(self.jobs))
            for r in self.bottlenecks(waiting):
                share = {j: self.share(j, r) for j in self.jobs}
                for j in queue:
                    score[j] = max(score[j], -1 - sum(other > share[j] for other in share.values()))
        else:
            return self.below_target(queue)
        return [j for j in queue if score[j] == min(score.values())]

    def bottlenecks(self, waiting):
        """Resources of a pool on which best ranks are compared."""
        rule, (free,), (capacities,) = self.scheduler.bottlenecks, self.free, self.capacities
        if rule == "fullest":
            used = {r: 1 - free[r] / capacities[r] for r in self.resources}
            return [r for r in self.resources if used[r] == max(used.values())]
        blocking = [r for r in self.resources if any(self.demands[j.types[0]][r] > free[r] for j in waiting)]
        return self.resources if rule == "all" else blocking or self.resources

    def below_target(self, queue):
        """The least served jobs of the classes that run the least of their target."""
        n = self.problem.n_classes
        present, running = np.zeros(n), np.zeros(n)
        for j in self.jobs:
            present[j.types[0]] += 1
            running[j.types[0]] += len(j.running)
        target = policy_tasks(self.problem, self.scheduler.policy, present)
        ratio = {i: running[i] / target[i] for i in {j.types[0] for j in queue}}
        # The documented margin for ratios to a target that is itself computed.
        kinds = {i for i in ratio if ratio[i] <= min(ratio.values()) * (1 + 1e-6)}
        least = {i: min(len(j.running) for j in queue if j.types[0] == i) for i in kinds}
        return [j for j in queue if j.types[0] in kinds and len(j.running) == least[j.types[0]]]

    def room(self, t, i):
        left = [
            (v - h) / c
            for v, h, c in zip(self.free[i], self.held[t, i], self.capacities[i], strict=True)
            if c
        ]
        return sum(left) / len(left)

    def alignment(self, t, i):
        return sum(
            h / c * v / c
            for v, h, c in zip(self.free[i], self.held[t, i], self.capacities[i], strict=True)
            if c
        )

    def places(self, job, t):
        """Servers that the placement rule may choose: one, unless it draws at random."""
        fit, rule = self.where(job, t), self.placement
        if rule is None or job.server is not None or isinstance(rule, FirstFit):
            return fit[:1]
        if isinstance(rule, RandomFit | PowerOfChoices):
            return fit  # whichever is drawn (d times); the laws are tested apart
        if isinstance(rule, BestFit) and rule.score == "alignment":
            score = {i: self.alignment(t, i) for i in fit}
        else:
            score = {i: self.room(t, i) * (1 if isinstance(rule, WorstFit) else -1) for i in fit}
        return [i for i in fit if score[i] == max(score.values())][:1]

    def bindings(self, types):
        """Servers to which an arriving job may be bound: one, unless the rule draws at random."""
        allowed = [i for i in self.servers if all((t, i) in self.held for t in types)]
        if self.placement.rule == "random" or self.placement.choices is not None:
            return allowed
        if self.placement.rule == "round robin":
            after = self.last.get(types[0], -1)
            return [min(allowed, key=lambda i: (i - after - 1) % len(self.servers))]
        load = {i: sum(j.server == i for j in self.jobs) for i in allowed}
        return [i for i in allowed if load[i] == min(load.values())][:1]

    def fragmented(self):
        """Whether a job could start a task if what is free on the servers where it may run lay together."""
        for t in {t for job in self.jobs for t in self.may_start(job)}:
            where = [i for i in self.servers if (t, i) in self.held]
            free = {i: self.free[i] for i in where}
            if all(
                sum(free[i][r] / self.held[t, i][r] for i in where) >= 1
                for r in range(len(self.capacities[0]))
                if self.demands[t][r]
            ):
                return True
        return False

    def present(self):
        return [sum(t in job.types for job in self.jobs) for t in range(self.problem.n_classes)]

    def shown(self):
        """Tasks of each type on each server, and what they hold there."""
        placement = np.zeros((self.problem.n_classes, len(self.capacities)), int)
        for job in self.jobs:
            for t, i in job.running:
                placement[t, i] += 1
        return placement, (np.array(self.capacities) - np.array(self.free)).astype(float)


class Replay(NamedTuple):
    """What a record turned out to hold: starts, of them those not of the oldest tied, times lost."""

    starts: int
    younger: int
    fragmented: float
    waited: float


def replay(record, scheduler, tasks, numbers=None):
    """Check every event of a record; ``numbers`` has the tasks of each type where a job has several."""
    state = Reference(record.system, scheduler, tasks)
    bound = isinstance(tasks.placement, OnArrival)
    ends: list[tuple[float, int, Job, int, int]] = []
    arrivals = list(range(len(record.job_arrivals)))
    events, started, younger, now, lost, waited = 0, 0, 0, 0.0, 0.0, 0.0
    lasted, shown = [], []  # the events after which some time goes by, and what is there then
    while arrivals or ends:
        arrives = bool(arrivals) and not (ends and ends[0][0] <= record.job_arrivals[arrivals[0]])
        time = record.job_arrivals[arrivals[0]] if arrives else ends[0][0]
        assert time >= now
        if time > now:
            lasted.append(events)
            shown.append(state.shown())
        step = min(time, record.horizon) - now
        lost += step * state.fragmented()
        waited += step * any(state.may_start(job) for job in state.jobs)
        now = min(time, record.horizon)
        if time > record.horizon:
            break
        events += 1
        if arrives:
            number = arrivals.pop(0)
            types = state.kinds[int(record.job_classes[number])]
            total = int(record.job_tasks[number])
            job = Job(number, types, {t: numbers[t] if numbers else total for t in types})
            assert sum(job.waiting.values()) == total
            if bound:
                job.server = int(record.job_servers[number])
                assert job.server in state.bindings(types)
                state.last[types[0]] = job.server
            else:
                assert record.job_servers[number] == -1
            state.jobs.append(job)
        else:
            _, _, job, t, server = heapq.heappop(ends)
            state.move(job, t, server, -1)
            if not any(job.waiting.values()) and not job.running:
                state.jobs.remove(job)
                assert record.job_departures[job.number] == time
        touched = job.server
        while tied := state.chosen(touched):
            if getattr(scheduler, "ties", "oldest") == "oldest":
                tied = [min(tied, key=lambda job: job.number)]
            fit = {job.number: job for job in tied if state.startable(job) is not None}
            if not fit:
                break
            if started == len(record.task_jobs) or record.task_starts[started] > time:
                # Right to wait only if one of the tied does not fit, and was drawn.
                assert len(fit) < len(tied)
                break
            assert record.task_starts[started] == time
            job = fit[int(record.task_jobs[started])]
            younger += job.number != min(fit)
            t, server = int(record.task_classes[started]), int(record.task_servers[started])
            assert t == state.startable(job)
            assert server in state.places(job, t)
            state.move(job, t, server, 1)
            heapq.heappush(ends, (record.task_ends[started], started, job, t, server))
            started += 1
        assert record.times[events] == time
        assert record.jobs[events].tolist() == state.present()
    placement, used = map(np.array, zip(*shown, strict=True))
    np.testing.assert_array_equal(record.placement[lasted], placement)
    np.testing.assert_array_equal(record.running[lasted], placement.sum(axis=2))
    np.testing.assert_allclose(record.server_usage[lasted], used, rtol=1e-12)
    np.testing.assert_allclose(record.usage[lasted], used.sum(axis=1), rtol=1e-12)
    assert started == len(record.task_jobs)
    assert events + 1 == len(record.times)
    assert np.isnan(record.job_departures[[job.number for job in state.jobs]]).all()
    return Replay(started, younger, lost, waited)
