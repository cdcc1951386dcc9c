"""A task-level scheduler on servers and for jobs of several types, by definition: job by job, in fractions.

It takes the arrivals, the numbers of tasks and the ends of tasks from a record, and decides afresh whose
task starts where. Where a rule draws at random it says between which choices.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from fairness import Cluster
from fairness.protocol.calling import policy_tasks
from queueing.simulation.tasks import (
    BestFit,
    DRFScheduler,
    FIFOScheduler,
    FirstFit,
    OnArrival,
    PowerOfChoices,
    RandomFit,
    WorstFit,
)


@dataclass(eq=False)
class Job:
    number: int
    types: list[int]
    waiting: dict[int, int]
    server: int | None = None
    running: dict[int, list[int]] = field(default_factory=dict)  # by type: servers of its tasks

    def runs(self, t=None):
        return sum(len(where) for k, where in self.running.items() if t is None or k == t)


class Reference:
    """State of the system, and what may happen next in it."""

    def __init__(self, system, scheduler, placement, jobs, start):
        problem = system.problem
        self.problem, self.scheduler, self.placement = problem, scheduler, placement
        self.types, self.start = jobs, start
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
        self.jobs: list[Job] = []
        self.free = [list(row) for row in self.capacities]
        self.last: dict[int, int] = {}

    def move(self, job, t, i, sign):
        """A task of the job starts (+1) or ends (-1)."""
        for r, h in enumerate(self.held[t, i]):
            self.free[i][r] -= sign * h
        if sign > 0:
            job.waiting[t] -= 1
            job.running.setdefault(t, []).append(i)
        else:
            job.running[t].remove(i)

    def fits(self, t, i):
        return (t, i) in self.held and all(h <= v for h, v in zip(self.held[t, i], self.free[i], strict=True))

    def where(self, job, t):
        """Servers on which a task of the job fits."""
        return [i for i in self.servers if job.server in (None, i) and self.fits(t, i)]

    def may_start(self, job):
        ready = [t for t in job.types if job.waiting[t] and job.runs(t) + 1 <= self.limits[t]]
        if self.start == "stages":
            unfinished = [t for t in job.types if job.waiting[t] or job.runs(t)]
            return [t for t in ready if t == unfinished[0]]
        return ready[:1] if self.start == "listed" else ready

    def startable(self, job):
        """First type of the job that fits somewhere, or None."""
        return next((t for t in self.may_start(job) if self.where(job, t)), None)

    def share(self, job):
        """Weighted dominant share: nominal over the total, or what it holds of its server."""
        shares = []
        for r in range(len(self.capacities[0])):
            total = sum(c[r] for i, c in enumerate(self.capacities) if job.server in (None, i))
            amount = sum(
                (self.demands[t] if job.server is None else self.held[t, i])[r]
                for t, where in job.running.items()
                for i in where
            )
            shares.append(amount / total if total else Fraction(0))
        return max(shares) / self.weights[job.types[0]]

    def chosen(self, server=None):
        """Jobs among which the scheduler may choose (several only if tied), of those bound to the server."""
        queue = [j for j in self.jobs if self.may_start(j) and j.server == server]
        if not self.scheduler.blocking:
            queue = [j for j in queue if self.startable(j) is not None]
        if not queue:
            return []
        if isinstance(self.scheduler, FIFOScheduler):
            return [min(queue, key=lambda j: j.number)]
        if isinstance(self.scheduler, DRFScheduler):
            share = {j: self.share(j) for j in queue}
            return [j for j in queue if share[j] == min(share.values())]
        n = self.problem.n_classes
        present, running = np.zeros(n), np.zeros(n)
        for j in self.jobs:
            present[j.types[0]] += 1
            running[j.types[0]] += j.runs()
        target = policy_tasks(self.problem, self.scheduler.policy, present)
        ratio = {i: running[i] / target[i] for i in {j.types[0] for j in queue}}
        # The documented margin for ratios to a target that is itself computed.
        kinds = {i for i in ratio if ratio[i] <= min(ratio.values()) * (1 + 1e-6)}
        least = {i: min(j.runs() for j in queue if j.types[0] == i) for i in kinds}
        return [j for j in queue if j.types[0] in kinds and j.runs() == least[j.types[0]]]

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
        if job.server is not None or isinstance(rule, FirstFit):
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


def replay(record, scheduler, placement, counts, jobs=None, start="listed"):
    """Check every start of a record; (number of starts, time fragmented, time waited).

    ``counts[k]`` has the tasks by type of job number k.
    """
    system = record.system
    jobs = [[n] for n in range(system.n_classes)] if jobs is None else jobs
    state = Reference(system, scheduler, placement, jobs, start)
    kinds = {types[0]: types for types in jobs}
    bound = isinstance(placement, OnArrival)
    ends: list[tuple[float, int, Job, int, int]] = []
    arrivals = list(range(len(record.job_arrivals)))
    started, now, lost, waited = 0, 0.0, 0.0, 0.0
    while True:
        arrives = bool(arrivals) and not (ends and ends[0][0] <= record.job_arrivals[arrivals[0]])
        if not arrives and not ends:
            break
        time = record.job_arrivals[arrivals[0]] if arrives else ends[0][0]
        step = min(time, record.horizon) - now
        lost += step * state.fragmented()
        waited += step * any(state.may_start(job) for job in state.jobs)
        now = min(time, record.horizon)
        if time > record.horizon:
            break
        if arrives:
            number = arrivals.pop(0)
            types = kinds[int(record.job_classes[number])]
            job = Job(number, types, dict(zip(types, counts[number], strict=True)))
            assert sum(job.waiting.values()) == record.job_tasks[number]
            if bound:
                may = state.bindings(types)
                job.server = int(record.job_servers[number])
                assert job.server in may
                state.last[types[0]] = job.server
            state.jobs.append(job)
        else:
            _, _, job, t, server = heapq.heappop(ends)
            state.move(job, t, server, -1)
            if not any(job.waiting.values()) and not job.runs():
                state.jobs.remove(job)
                assert record.job_departures[job.number] == time
        touched = job.server
        while True:
            # Ties go to the oldest.
            job = min(state.chosen(touched), key=lambda j: j.number, default=None)
            if job is None or state.startable(job) is None:
                break
            assert started < len(record.task_jobs)
            assert (record.task_jobs[started], record.task_starts[started]) == (job.number, time)
            t, server = int(record.task_classes[started]), int(record.task_servers[started])
            assert t == state.startable(job)
            assert server in state.places(job, t)
            state.move(job, t, server, 1)
            heapq.heappush(ends, (record.task_ends[started], started, job, t, server))
            started += 1
    assert started == len(record.task_jobs)
    return started, lost, waited
