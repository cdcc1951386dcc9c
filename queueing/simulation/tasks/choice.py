r"""Kernel of the choice between jobs: the most deprived, and of equals the oldest or one at random.

A *contender* stands for itself, or as the oldest for all jobs of its queue; the lower its score, the more it
is deprived. Contenders stand in the first rows of ``State.contenders`` and ``State.score``.

*On a pool* jobs are compared in groups. A *group* is a pair (class, number of running tasks k), numbered
``first_group[i] + k``. Jobs that may start a task (one is waiting, and the job is below its limit) stand in
the queue of their group, ordered by age. A queue is a doubly linked list through the rows of ``jobs``.
Insertion searches from the old end; a job that comes back to a queue left it as its oldest, so with
ties="oldest" it passes at most the jobs that have a task running or had one in between, never the whole
queue. A decision scores the groups (lower = more deprived), takes the groups of the lowest score, and among
their jobs the oldest or a random one. :mod:`queueing.simulation.tasks.schedulers` defines the scores.

*On servers and for jobs of several types* a *candidate* is a job with a waiting task that it may start now;
the set of types that it may start is a mask. Jobs that run tasks differ in what they run and are compared one
by one: at most as many as tasks fit. Jobs that run nothing have the lowest score there is, equal for those of
a class, so of them only the oldest of each class and mask is compared; they stand in queues. A decision hence
costs O(running tasks + classes), however many jobs wait. The score is the weighted dominant share (0 for all
under FIFO), or running tasks over target of the class.

Compared job by job, a pool of 16 cores ran half as fast (measured on one core of a server: 4.8 instead of 9.1
million events a second under DRF), and best ranks need the groups.
"""

from __future__ import annotations

import numpy as np

from queueing.simulation.kernels import part
from queueing.simulation.tasks import state as at
from queueing.simulation.tasks.options import LISTED, STAGES
from queueing.simulation.tasks.schedulers import (
    BEST_RANK,
    NEVER_SERVED,
    SAME_RATIO,
    SAME_SHARE,
    STATIC,
    TARGET,
    Rule,
)
from queueing.simulation.tasks.state import NOBODY, Model, Places, State, dequeue, enqueue, occupy
from queueing.simulation.tasks.workload import draw_tasks, uniform

__all__ = [
    "change_candidate",
    "change_level",
    "choose_by_level",
    "choose_candidate",
    "contend",
    "draw_parts",
    "fitting_type",
    "join",
    "join_level",
    "startable",
]


@part
def over_target(rule: Rule, state: State, i: int) -> float:
    """Running tasks over target of a class."""
    target = rule.lookup.tasks[state.counters[at.HERE], i]
    return state.running[i] / target if target > 0 else NEVER_SERVED


@part
def contend(state: State, found: int, row: int, equals: int, score: float) -> int:
    """List a contender that stands for some jobs after ``found`` others; how many there are then."""
    state.contenders[found, at.CONTENDER] = row
    state.contenders[found, at.EQUALS] = equals
    state.score[found] = score
    return found + 1


@part
def most_deprived(model: Model, rule: Rule, state: State, found: int, tolerance: float) -> int:
    """Row of the job of the lowest score, up to a relative tolerance; NOBODY if nobody contends."""
    lowest = np.inf
    for k in range(found):
        lowest = min(lowest, state.score[k])
    ceiling = lowest * (1.0 + tolerance)
    tied, best = 0, NOBODY
    for k in range(found):
        if state.score[k] <= ceiling:
            row = state.contenders[k, at.CONTENDER]
            tied += state.contenders[k, at.EQUALS]
            if best == NOBODY or state.jobs[row, at.AGE] < state.jobs[best, at.AGE]:
                best = row
    if not rule.random_ties or tied <= 1:
        return best
    skip = int(uniform(model.seeds[at.TIE_BREAKS], state.counters[at.DRAWS]) * tied)
    state.counters[at.DRAWS] += 1
    for k in range(found):
        if state.score[k] <= ceiling:
            row, equals = state.contenders[k, at.CONTENDER], state.contenders[k, at.EQUALS]
            if skip < equals:
                for _ in range(skip):
                    row = state.jobs[row, at.YOUNGER]
                return row
            skip -= equals
    return best


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


@part
def may_start(model: Model, state: State, places: Places, row: int, i: int) -> int:
    """Set of types that a job may start, as a mask."""
    mask = 0
    first = model.first_type[i]
    for t in range(model.first_type[i + 1] - first):
        waiting, runs = places.parts[row, t, at.PART_WAITING], places.parts[row, t, at.PART_RUNNING]
        ready = waiting > 0 and runs < model.limits[first + t]
        if ready:
            mask |= 1 << t
        if (ready and model.start == LISTED) or (waiting + runs > 0 and model.start == STAGES):
            break
    return mask


@part
def idle_queue(model: Model, state: State, row: int) -> int:
    """Number of the queue of a candidate that runs nothing."""
    i = state.jobs[row, at.CLASS]
    types = model.first_type[i + 1] - model.first_type[i]
    return model.first_group[i] + (state.jobs[row, at.SERVER] << types) + state.jobs[row, at.MASK]


@part
def join(model: Model, state: State, places: Places, row: int, newest: bool) -> None:
    """Make a job a candidate if it may start a task."""
    jobs = state.jobs
    i = jobs[row, at.CLASS]
    mask = may_start(model, state, places, row, i)
    jobs[row, at.MASK] = mask
    if mask == 0:
        return
    first = model.first_type[i]
    for t in range(model.first_type[i + 1] - first):
        places.wanted[first + t] += (mask >> t) & 1
    if jobs[row, at.RUNNING] == 0:
        enqueue(state, idle_queue(model, state, row), row, newest)
    else:
        jobs[row, at.PLACE] = state.counters[at.ACTIVE]
        places.active[state.counters[at.ACTIVE]] = row
        state.counters[at.ACTIVE] += 1


@part
def withdraw(model: Model, state: State, places: Places, row: int) -> None:
    """Undo :func:`join`, before the job changes."""
    jobs = state.jobs
    i, mask = jobs[row, at.CLASS], jobs[row, at.MASK]
    if mask == 0:
        return
    first = model.first_type[i]
    for t in range(model.first_type[i + 1] - first):
        places.wanted[first + t] -= (mask >> t) & 1
    if jobs[row, at.RUNNING] == 0:
        dequeue(state, idle_queue(model, state, row), row)
    else:
        state.counters[at.ACTIVE] -= 1
        last = places.active[state.counters[at.ACTIVE]]
        places.active[jobs[row, at.PLACE]] = last
        jobs[last, at.PLACE] = jobs[row, at.PLACE]


@part
def fitting_type(model: Model, state: State, places: Places, row: int, server: int) -> int:
    """The first type that a candidate may start and that fits (there, if it is bound), or NOBODY to wait."""
    i, mask = state.jobs[row, at.CLASS], state.jobs[row, at.MASK]
    first = model.first_type[i]
    for t in range(first, model.first_type[i + 1]):
        if (mask >> (t - first)) & 1:
            fits = state.fits[server, t] if model.place.bound else places.servers[t] > 0
            if fits:
                return t
    return NOBODY


@part
def startable(model: Model, state: State, places: Places, server: int) -> bool:
    """Whether a task fits that some candidate (of those bound to the server) may start."""
    for t in range(len(places.wanted)):
        fits = state.fits[server, t] if model.place.bound else places.servers[t] > 0
        if fits and places.wanted[t] > 0:
            return True
    return False


@part
def choose_candidate(model: Model, rule: Rule, state: State, places: Places, server: int) -> int:
    """Row of the most deprived candidate (of those bound to the server), or NOBODY.

    Under blocking its task need not fit.
    """
    if rule.kind == TARGET:
        _score_targets(rule, state, places)
    found = 0
    for k in range(state.counters[at.ACTIVE]):
        row = places.active[k]
        if not model.place.bound or state.jobs[row, at.SERVER] == server:
            found = _contend(model, rule, state, places, server, found, row, 1)
    for i in range(len(state.queued)):
        if state.queued[i] > 0:
            types = model.first_type[i + 1] - model.first_type[i]
            first = model.first_group[i] + (server << types)
            for group in range(first + 1, first + (1 << types)):  # no mask is 0
                row, equals = state.groups[group, at.OLDEST], state.groups[group, at.QUEUED]
                if row != NOBODY:
                    found = _contend(model, rule, state, places, server, found, row, equals)
    return most_deprived(model, rule, state, found, SAME_RATIO if rule.kind == TARGET else SAME_SHARE)


@part
def _contend(
    model: Model, rule: Rule, state: State, places: Places, server: int, found: int, row: int, equals: int
) -> int:
    """List a candidate, if it may be chosen; how many are listed then."""
    if not rule.blocking and fitting_type(model, state, places, row, server) == NOBODY:
        return found
    if rule.kind != TARGET:
        return contend(state, found, row, equals, places.share[row])
    i = state.jobs[row, at.CLASS]
    if state.jobs[row, at.RUNNING] != places.level[i]:
        return found
    return contend(state, found, row, equals, places.ratio[i])


@part
def _score_targets(rule: Rule, state: State, places: Places) -> None:
    """Running tasks over target of each class, and the fewest running tasks of a candidate of it."""
    for i in range(len(state.queued)):
        places.ratio[i] = over_target(rule, state, i)
        places.level[i] = 0 if state.queued[i] > 0 else np.iinfo(np.int64).max
    for k in range(state.counters[at.ACTIVE]):
        row = places.active[k]
        i = state.jobs[row, at.CLASS]
        places.level[i] = min(places.level[i], state.jobs[row, at.RUNNING])


@part
def draw_parts(model: Model, state: State, places: Places, row: int, number: int, u: float) -> int:
    """Numbers of tasks of each type of job ``number``, the first from u; how many in all."""
    i = state.jobs[row, at.CLASS]
    parts = places.parts
    first = model.first_type[i]
    tasks = 0
    for t in range(model.first_type[i + 1] - first):
        if t > 0:
            u = uniform(model.seeds[at.TYPES], number * parts.shape[1] + t)
        some = draw_tasks(model.law, first + t, u)
        parts[row, t, at.PART_WAITING] = some
        parts[row, t, at.PART_RUNNING] = 0
        parts[row, t, at.PART_NEXT] = state.counters[at.TASKS_ARRIVED] + tasks
        tasks += some
    places.share[row] = 0.0
    return tasks


@part
def change_candidate(
    model: Model, state: State, places: Places, row: int, t: int, server: int, step: int
) -> None:
    """A job starts (+1) or ends (-1) a task of type t on a server: its share, and what it may start next."""
    jobs, parts = state.jobs, places.parts
    withdraw(model, state, places, row)
    i = jobs[row, at.CLASS]
    first = model.first_type[i]
    jobs[row, at.RUNNING] += step
    parts[row, t - first, at.PART_RUNNING] += step
    if step > 0:
        jobs[row, at.WAITING] -= 1
        parts[row, t - first, at.PART_WAITING] -= 1
    places.placed[t, server] += state.on[server, t] * (state.clock[0] - places.since[t, server])
    places.since[t, server] = state.clock[0]
    occupy(model, state, places, t, server, step)
    base = jobs[row, at.SERVER]
    largest = 0.0
    for r in range(model.held.shape[2]):
        share = 0.0
        for k in range(first, model.first_type[i + 1]):
            share += model.shares[k, base, r] * parts[row, k - first, at.PART_RUNNING]
        largest = max(largest, share)
    places.share[row] = largest
    join(model, state, places, row, False)
