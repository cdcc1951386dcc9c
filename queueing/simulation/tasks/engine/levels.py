r"""Kernel of the schedulers on a pool: jobs in groups, and the choice of the job that starts a task.

A *group* is a pair (class, number of running tasks k), numbered ``first_group[i] + k``. Jobs that may start
a task (one is waiting, and the job is below its limit) stand in the queue of their group, ordered by
age. A queue is a doubly linked list through the rows of ``jobs``. Insertion searches from the old end; a job
that comes back to a queue left it as its oldest, so with ties="oldest" it passes at most the jobs that
have a task running or had one in between, never the whole queue.

A decision scores the groups (lower = more deprived), takes the groups of the lowest score, and among their
jobs the oldest or a random one. :mod:`queueing.simulation.tasks.rules.schedulers` defines the scores.

Compared job by job (:mod:`.candidates`), a pool of 16 cores ran half as fast (measured on one core of a
server: 4.8 instead of 9.1 million events a second under DRF), and best ranks need the groups.
"""

from __future__ import annotations

import numpy as np

from queueing.simulation.kernels import part
from queueing.simulation.tasks.engine import state as at
from queueing.simulation.tasks.engine.contenders import contend, most_deprived, over_target
from queueing.simulation.tasks.engine.state import NOBODY, Model, State, dequeue, enqueue
from queueing.simulation.tasks.rules.schedulers import BEST_RANK, SAME_RATIO, STATIC, TARGET, Rule

__all__ = ["change_level", "choose_by_level", "join_level"]


@part
def join_level(
    model: Model, state: State, row: int, i: int, waiting: int, running: int, newest: bool
) -> None:
    """Count a job of class i, unless all its tasks have ended, and queue it if it may start one."""
    if waiting + running > 0:
        group = model.first_group[i] + running
        state.groups[group, at.PRESENT] += 1
        if waiting > 0 and running < model.limits[i]:
            enqueue(state, group, row, newest)


@part
def change_level(model: Model, state: State, row: int, i: int, step: int) -> None:
    """A job of class i starts (+1) or ends (-1) a task."""
    jobs = state.jobs
    waiting, running = jobs[row, at.WAITING], jobs[row, at.RUNNING]
    first = model.first_group[i]
    if waiting > 0 and running < model.limits[i]:
        dequeue(state, first + running, row)
    state.groups[first + running, at.PRESENT] -= 1
    running += step
    if step > 0:
        waiting -= 1
        jobs[row, at.WAITING] = waiting
    jobs[row, at.RUNNING] = running
    join_level(model, state, row, i, waiting, running, False)
    top = max(state.top[i], running)
    while state.groups[first + top, at.PRESENT] == 0 and top > 0:
        top -= 1
    state.top[i] = top


@part
def choose_by_level(model: Model, rule: Rule, state: State) -> int:
    """Row of the job that starts a task now, or NOBODY."""
    n = len(state.running)
    startable = False
    for i in range(n):
        startable |= state.fits[0, i] and state.queued[i] > 0
    if not startable:
        return NOBODY
    if rule.kind == BEST_RANK:
        _score_best_ranks(model, rule, state)
    found = 0
    for i in range(n):
        if state.queued[i] > 0 and (rule.blocking or state.fits[0, i]):
            score = over_target(rule, state, i) if rule.kind == TARGET else 0.0
            for group in range(model.first_group[i], model.first_group[i] + state.top[i] + 1):
                equals = state.groups[group, at.QUEUED]
                if equals > 0:
                    if rule.kind == STATIC:
                        score = rule.order[group]
                    elif rule.kind == BEST_RANK:
                        # The place of a contender is never behind that of its group.
                        score = state.score[group]
                    found = contend(state, found, state.groups[group, at.OLDEST], equals, score)
                    if rule.kind == TARGET:
                        # Of a class only the lowest level with a queue competes.
                        break
    row = most_deprived(model, rule, state, found, SAME_RATIO if rule.kind == TARGET else 0.0)
    return row if state.fits[0, state.jobs[row, at.CLASS]] else NOBODY


@part
def _score_best_ranks(model: Model, rule: Rule, state: State) -> None:
    """Score = -(best rank): the worst best rank is the lowest score."""
    _, n, m = model.held.shape
    for i in range(n):
        for group in range(model.first_group[i], model.first_group[i] + state.top[i] + 1):
            state.score[group] = -np.inf
    fullest = -1.0
    if rule.bottlenecks == 1:
        for j in range(m):
            if rule.demanded[j]:
                fullest = max(fullest, state.used[0, j] / model.capacities[0, j])
    found = False
    for attempt in range(2):
        for j in range(m):
            if not rule.demanded[j]:
                continue
            # attempt 1: no resource blocks anybody, so every resource counts.
            bottleneck = rule.bottlenecks == 2 or attempt == 1
            if rule.bottlenecks == 1:
                bottleneck = state.used[0, j] / model.capacities[0, j] >= fullest * (1.0 - 1e-12)
            elif not bottleneck:
                for i in range(n):
                    demand = model.held[0, i, j]
                    if state.queued[i] > 0 and demand > 0 and state.used[0, j] + demand > model.room[0, j]:
                        bottleneck = True
            if not bottleneck:
                continue
            found = True
            larger = 0  # jobs with a strictly larger share than the groups at hand
            same = 0
            previous = -1
            for group in rule.by_share[j]:
                if state.groups[group, at.PRESENT] == 0:
                    continue
                if rule.share_rank[j, group] != previous:
                    larger += same
                    same = 0
                    previous = rule.share_rank[j, group]
                same += state.groups[group, at.PRESENT]
                state.score[group] = max(state.score[group], -1.0 - larger)
        if found:
            return
