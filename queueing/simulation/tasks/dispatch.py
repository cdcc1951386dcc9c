r"""Kernel of the task-level schedulers: jobs in groups, and the choice of the job that starts a task.

A *group* is a pair (class, number of running tasks k), numbered ``first_group[i] + k``. Jobs that may start
a task (one is waiting, and the job is below its limit) stand in the queue of their group, ordered by
age. A queue is a doubly linked list through the rows of ``jobs``. Insertion searches from the old end; a job
that comes back to a queue left it as its oldest, so with ties="oldest" it passes at most the jobs that
have a task running or had one in between, never the whole queue.

A decision scores the groups (lower = more deprived), takes the groups of the lowest score, and among their
jobs the oldest or a random one. :mod:`queueing.simulation.tasks.schedulers` defines the scores.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairness.model.problem import FloatArray
from queueing.simulation.kernels import part
from queueing.simulation.tasks.schedulers import BEST_RANK, SAME_RATIO, STATIC, TARGET, Rule
from queueing.simulation.tasks.workload import TaskNumbers, uniform

__all__ = ["Model", "State", "choose"]

IntArray = NDArray[np.int64]

# Columns of State.jobs, one row per job present.
CLASS, RUNNING, WAITING, AGE, NEXT_TASK, OLDER, YOUNGER = range(7)
# Columns of State.groups: the queue's ends and length, and the jobs present whether queued or not.
OLDEST, YOUNGEST, QUEUED, PRESENT = range(4)
# Entries of State.counters.
JOBS, ARRIVED, TASKS_ARRIVED, TASKS_STARTED, FREE_ROW, FRESH_ROW, HEAP, DECIDE, DRAWS, PATH = range(10)
# Entries of Model.seeds.
ARRIVALS, DURATIONS, TIE_BREAKS = range(3)

NOBODY = -1
NEVER_SERVED = 1e300
"""Score of a class to which the fluid target gives nothing: after all others."""


class Model(NamedTuple):
    """The system in the form the kernel reads; n classes, m resources."""

    demands: FloatArray  # (n, m)
    capacities: FloatArray  # (m,)
    room: FloatArray  # (m,) capacities with a margin for rounding
    arrival_shares: FloatArray  # (n,) cumulative probabilities of the class of an arrival
    arrival_rate: float  # all classes
    task_means: FloatArray  # (n,) mean task durations
    exponential: bool  # durations exponential, else deterministic
    limits: IntArray  # (n,) most running tasks of one job, in whole tasks
    first_group: IntArray  # (n,)
    law: TaskNumbers
    seeds: NDArray[np.uint64]


class State(NamedTuple):
    """All that changes while a run goes on; the kernel stops and resumes without loss."""

    clock: FloatArray  # (2,) now, next arrival
    counters: IntArray
    jobs: IntArray  # (max_jobs, 7)
    arrivals: FloatArray  # (max_jobs,) arrival time per row of jobs
    groups: IntArray  # (n_groups, 4)
    present: IntArray  # (n,) jobs per class
    running: IntArray  # (n,) tasks per class
    queued: IntArray  # (n,) jobs in queues per class
    top: IntArray  # (n,) a level above which no job of the class is
    usage: FloatArray  # (m,) scratch
    fits: NDArray[np.bool_]  # (n,) scratch
    score: FloatArray  # (n_groups,) scratch
    heap_times: FloatArray  # (most running tasks,) ends of the running tasks, a binary heap
    heap_tasks: IntArray  # (most running tasks, 2) order of start, row of the job


@part
def enqueue(state: State, group: int, row: int, newest: bool) -> None:
    """Insert a job in the queue of a group, by age; ``newest`` jobs go to the end without a search."""
    jobs, ends = state.jobs, state.groups[group]
    older = ends[YOUNGEST]
    if not newest and older != NOBODY and jobs[older, AGE] > jobs[row, AGE]:
        older = NOBODY
        younger = ends[OLDEST]
        while jobs[younger, AGE] < jobs[row, AGE]:
            older = younger
            younger = jobs[younger, YOUNGER]
    younger = ends[OLDEST] if older == NOBODY else jobs[older, YOUNGER]
    jobs[row, OLDER] = older
    jobs[row, YOUNGER] = younger
    if older == NOBODY:
        ends[OLDEST] = row
    else:
        jobs[older, YOUNGER] = row
    if younger == NOBODY:
        ends[YOUNGEST] = row
    else:
        jobs[younger, OLDER] = row
    ends[QUEUED] += 1
    state.queued[jobs[row, CLASS]] += 1


@part
def dequeue(state: State, group: int, row: int) -> None:
    """Take a job out of the queue of its group."""
    jobs, ends = state.jobs, state.groups[group]
    older, younger = jobs[row, OLDER], jobs[row, YOUNGER]
    if older == NOBODY:
        ends[OLDEST] = younger
    else:
        jobs[older, YOUNGER] = younger
    if younger == NOBODY:
        ends[YOUNGEST] = older
    else:
        jobs[younger, OLDER] = older
    ends[QUEUED] -= 1
    state.queued[jobs[row, CLASS]] -= 1


@part
def choose(model: Model, rule: Rule, state: State) -> int:
    """Row of the job that starts a task now, or NOBODY."""
    n, m = model.demands.shape
    for j in range(m):
        # Afresh from the whole numbers of tasks, so that no rounding accumulates.
        state.usage[j] = 0.0
        for i in range(n):
            state.usage[j] += state.running[i] * model.demands[i, j]
    startable = False
    for i in range(n):
        state.fits[i] = True
        for j in range(m):
            if model.demands[i, j] > 0 and state.usage[j] + model.demands[i, j] > model.room[j]:
                state.fits[i] = False
        startable |= state.fits[i] and state.queued[i] > 0
    if not startable:
        return NOBODY
    if rule.kind == STATIC:
        for i in range(n):
            for group in range(model.first_group[i], model.first_group[i] + state.top[i] + 1):
                state.score[group] = rule.order[group]
    elif rule.kind == BEST_RANK:
        _score_best_ranks(model, rule, state)
    else:
        _score_targets(model, rule, state)
    row = _most_deprived(model, rule, state)
    return row if state.fits[state.jobs[row, CLASS]] else NOBODY


@part
def _score_best_ranks(model: Model, rule: Rule, state: State) -> None:
    """Score = -(best rank): the worst best rank is the lowest score."""
    n, m = model.demands.shape
    for i in range(n):
        for group in range(model.first_group[i], model.first_group[i] + state.top[i] + 1):
            state.score[group] = -np.inf
    fullest = -1.0
    if rule.bottlenecks == 1:
        for j in range(m):
            if rule.demanded[j]:
                fullest = max(fullest, state.usage[j] / model.capacities[j])
    found = False
    for attempt in range(2):
        for j in range(m):
            if not rule.demanded[j]:
                continue
            # attempt 1: no resource blocks anybody, so every resource counts.
            bottleneck = rule.bottlenecks == 2 or attempt == 1
            if rule.bottlenecks == 1:
                bottleneck = state.usage[j] / model.capacities[j] >= fullest * (1.0 - 1e-12)
            elif not bottleneck:
                for i in range(n):
                    demand = model.demands[i, j]
                    if state.queued[i] > 0 and demand > 0 and state.usage[j] + demand > model.room[j]:
                        bottleneck = True
            if not bottleneck:
                continue
            found = True
            larger = 0  # jobs with a strictly larger share than the groups at hand
            same = 0
            previous = -1
            for group in rule.by_share[j]:
                if state.groups[group, PRESENT] == 0:
                    continue
                if rule.share_rank[j, group] != previous:
                    larger += same
                    same = 0
                    previous = rule.share_rank[j, group]
                same += state.groups[group, PRESENT]
                state.score[group] = max(state.score[group], -1.0 - larger)
        if found:
            return


@part
def _score_targets(model: Model, rule: Rule, state: State) -> None:
    """Score of a class = running tasks / target; only its lowest level with a queue competes."""
    n = model.demands.shape[0]
    cell = 0
    for i in range(n):
        cell = cell * rule.target_shape[i] + state.present[i]
    for i in range(n):
        target = rule.target[cell, i]
        score = state.running[i] / target if target > 0 else NEVER_SERVED
        for group in range(model.first_group[i], model.first_group[i] + state.top[i] + 1):
            state.score[group] = score
            if state.groups[group, QUEUED] > 0:
                score = np.inf


@part
def _most_deprived(model: Model, rule: Rule, state: State) -> int:
    """Row of the oldest (or a random) queued job among the groups of the lowest score."""
    n = model.demands.shape[0]
    lowest = np.inf
    for i in range(n):
        if state.queued[i] > 0 and (rule.blocking or state.fits[i]):
            for group in range(model.first_group[i], model.first_group[i] + state.top[i] + 1):
                if state.groups[group, QUEUED] > 0:
                    lowest = min(lowest, state.score[group])
    ceiling = lowest * (1.0 + SAME_RATIO) if rule.kind == TARGET else lowest
    tied = 0
    row = NOBODY
    for i in range(n):
        if state.queued[i] > 0 and (rule.blocking or state.fits[i]):
            for group in range(model.first_group[i], model.first_group[i] + state.top[i] + 1):
                if state.groups[group, QUEUED] > 0 and state.score[group] <= ceiling:
                    head = state.groups[group, OLDEST]
                    if row == NOBODY or state.jobs[head, AGE] < state.jobs[row, AGE]:
                        row = head
                    tied += state.groups[group, QUEUED]
    if not rule.random_ties or tied == 1:
        return row
    skip = int(uniform(model.seeds[TIE_BREAKS], state.counters[DRAWS]) * tied)
    state.counters[DRAWS] += 1
    for i in range(n):
        if state.queued[i] > 0 and (rule.blocking or state.fits[i]):
            for group in range(model.first_group[i], model.first_group[i] + state.top[i] + 1):
                if state.groups[group, QUEUED] > 0 and state.score[group] <= ceiling:
                    if skip < state.groups[group, QUEUED]:
                        row = state.groups[group, OLDEST]
                        for _ in range(skip):
                            row = state.jobs[row, YOUNGER]
                        return row
                    skip -= state.groups[group, QUEUED]
    return row
