r"""Kernel of the schedulers on servers and for jobs of several types: whose task starts.

A *candidate* is a job with a waiting task that it may start now; the set of types that it may start is a
mask. Jobs that run tasks differ in what they run and are compared one by one: at most as many as tasks fit.
Jobs that run nothing have the lowest score there is, equal for those of a class, so of them only the oldest
of each class and mask is compared; they stand in queues. A
decision hence costs O(running tasks + classes), however many jobs wait.

The score is the weighted dominant share (0 for all under FIFO), or running tasks over target of the class.
"""

from __future__ import annotations

import numpy as np

from queueing.simulation.kernels import part
from queueing.simulation.tasks.engine import state as at
from queueing.simulation.tasks.engine.contenders import contend, most_deprived, over_target
from queueing.simulation.tasks.engine.servers import occupy
from queueing.simulation.tasks.engine.state import (
    NOBODY,
    Model,
    Places,
    State,
    dequeue,
    enqueue,
)
from queueing.simulation.tasks.rules.schedulers import SAME_RATIO, SAME_SHARE, TARGET, Rule
from queueing.simulation.tasks.rules.task_types import LISTED, STAGES
from queueing.simulation.tasks.rules.workload import draw_tasks, uniform

__all__ = ["change_candidate", "choose_candidate", "draw_parts", "fitting_type", "join", "startable"]


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
