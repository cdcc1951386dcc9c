r"""Kernel of the schedulers on servers and for jobs of several types: whose task starts.

A *candidate* is a job with a waiting task that it may start now; the set of types that it may start is a
mask. Jobs that run tasks differ in what they run and are compared one by one: at most as many as tasks fit.
Jobs that run nothing have the lowest score there is, equal for those of a class, so of them only the oldest
of each class and mask is compared; the queues of :mod:`queueing.simulation.tasks.dispatch` hold them. A
decision hence costs O(running tasks + classes), however many jobs wait.

The score is the weighted dominant share (0 for all under FIFO), or running tasks over target of the class.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairness.model.problem import FloatArray
from queueing.simulation.kernels import part
from queueing.simulation.tasks.dispatch import (
    AGE,
    CLASS,
    DRAWS,
    NEVER_SERVED,
    NOBODY,
    OLDEST,
    QUEUED,
    RUNNING,
    TIE_BREAKS,
    YOUNGER,
    IntArray,
    dequeue,
    enqueue,
)
from queueing.simulation.tasks.placement import PlacementRule
from queueing.simulation.tasks.schedulers import SAME_RATIO, SAME_SHARE, TARGET, Rule
from queueing.simulation.tasks.workload import TaskNumbers, uniform

__all__ = ["PlacedModel", "PlacedState", "choose_job", "fitting_type", "join", "withdraw"]

# Further columns of PlacedState.jobs: set of types that may start, server (0 if not bound), place among the
# active candidates.
MASK, SERVER, PLACE = 4, 7, 8
# Last axis of PlacedState.parts.
PART_WAITING, PART_RUNNING, PART_NEXT = range(3)
# Further entries of PlacedState.counters: candidates that run tasks, draws of the placement rule, the server
# of the last event.
ACTIVE, PLACE_DRAWS, TOUCHED = 10, 11, 12
LISTED, ANY, STAGES = range(3)


class PlacedModel(NamedTuple):
    """Servers and jobs in the form the kernel reads; J jobs, n types, S servers, m resources."""

    held: FloatArray  # (n, S, m) units that a task holds
    capacities: FloatArray  # (S, m)
    room: FloatArray  # (S, m) capacities with a margin for rounding
    eligible: NDArray[np.bool_]  # (n, S)
    allowed: NDArray[np.bool_]  # (J, S) servers to which a job may be bound
    shares: FloatArray  # (n, V, m) weighted share of one task, of server v if jobs are bound, else V = 1
    arrival_shares: FloatArray  # (J,) cumulative probabilities of the class of an arrival
    arrival_rate: float
    task_means: FloatArray  # (n,)
    exponential: bool
    limits: IntArray  # (n,)
    first_type: IntArray  # (J + 1,) the types of job i are first_type[i] to first_type[i + 1] - 1
    first_group: IntArray  # (J + 1,) the idle queues of job i, one per (server if bound, mask)
    start: int  # LISTED, ANY or STAGES
    law: TaskNumbers
    place: PlacementRule
    seeds: NDArray[np.uint64]


class PlacedState(NamedTuple):
    """All that changes while a run goes on; the fields of ``dispatch.State`` mean the same."""

    clock: FloatArray
    counters: IntArray
    jobs: IntArray  # (max_jobs, 9)
    parts: IntArray  # (max_jobs, most types of a job, 3)
    share: FloatArray  # (max_jobs,) weighted dominant share
    arrivals: FloatArray
    groups: IntArray  # idle queues
    present: IntArray  # (n,) jobs of which the type is a part
    running: IntArray  # (n,)
    queued: IntArray  # (J,) jobs in idle queues
    wanted: IntArray  # (n,) candidates that may start the type
    active: IntArray  # rows of the candidates that run tasks
    on: IntArray  # (n, S) running tasks
    since: FloatArray  # (n, S) time up to which the tasks there are counted
    used: FloatArray  # (S, m) units in use
    fits: NDArray[np.bool_]  # (n, S)
    servers: IntArray  # (n,) number of servers where the type fits
    turn: IntArray  # (J,) last server of round robin
    bound: IntArray  # (S,) jobs bound
    level: IntArray  # (J,) scratch: fewest running tasks of a candidate
    ratio: FloatArray  # (J,) scratch: running tasks over target
    contenders: IntArray  # scratch: rows of the candidates that are compared
    score: FloatArray  # scratch: their scores
    heap_times: FloatArray
    heap_tasks: IntArray


@part
def may_start(model: PlacedModel, state: PlacedState, row: int, i: int) -> int:
    """Set of types that a job may start, as a mask."""
    mask = 0
    first = model.first_type[i]
    for t in range(model.first_type[i + 1] - first):
        waiting, runs = state.parts[row, t, PART_WAITING], state.parts[row, t, PART_RUNNING]
        ready = waiting > 0 and runs < model.limits[first + t]
        if ready:
            mask |= 1 << t
        if (ready and model.start == LISTED) or (waiting + runs > 0 and model.start == STAGES):
            break
    return mask


@part
def idle_queue(model: PlacedModel, state: PlacedState, row: int) -> int:
    """Number of the queue of a candidate that runs nothing."""
    i = state.jobs[row, CLASS]
    types = model.first_type[i + 1] - model.first_type[i]
    return model.first_group[i] + (state.jobs[row, SERVER] << types) + state.jobs[row, MASK]


@part
def join(model: PlacedModel, state: PlacedState, row: int, newest: bool) -> None:
    """Make a job a candidate if it may start a task."""
    jobs = state.jobs
    i = jobs[row, CLASS]
    mask = may_start(model, state, row, i)
    jobs[row, MASK] = mask
    if mask == 0:
        return
    first = model.first_type[i]
    for t in range(model.first_type[i + 1] - first):
        state.wanted[first + t] += (mask >> t) & 1
    if jobs[row, RUNNING] == 0:
        enqueue(state, idle_queue(model, state, row), row, newest)
    else:
        jobs[row, PLACE] = state.counters[ACTIVE]
        state.active[state.counters[ACTIVE]] = row
        state.counters[ACTIVE] += 1


@part
def withdraw(model: PlacedModel, state: PlacedState, row: int) -> None:
    """Undo :func:`join`, before the job changes."""
    jobs = state.jobs
    i, mask = jobs[row, CLASS], jobs[row, MASK]
    if mask == 0:
        return
    first = model.first_type[i]
    for t in range(model.first_type[i + 1] - first):
        state.wanted[first + t] -= (mask >> t) & 1
    if jobs[row, RUNNING] == 0:
        dequeue(state, idle_queue(model, state, row), row)
    else:
        state.counters[ACTIVE] -= 1
        last = state.active[state.counters[ACTIVE]]
        state.active[jobs[row, PLACE]] = last
        jobs[last, PLACE] = jobs[row, PLACE]


@part
def fitting_type(model: PlacedModel, state: PlacedState, row: int, server: int) -> int:
    """The first type that a candidate may start and that fits (there, if it is bound), or NOBODY to wait."""
    i, mask = state.jobs[row, CLASS], state.jobs[row, MASK]
    first = model.first_type[i]
    for t in range(first, model.first_type[i + 1]):
        if (mask >> (t - first)) & 1:
            fits = state.fits[t, server] if model.place.bound else state.servers[t] > 0
            if fits:
                return t
    return NOBODY


@part
def choose_job(model: PlacedModel, rule: Rule, state: PlacedState, server: int) -> int:
    """Row of the most deprived candidate (of those bound to the server), or NOBODY.

    Under blocking its task need not fit.
    """
    jobs = state.jobs
    startable = False
    for t in range(len(state.wanted)):
        fits = state.fits[t, server] if model.place.bound else state.servers[t] > 0
        startable |= fits and state.wanted[t] > 0
    if not startable:
        return NOBODY
    if rule.kind == TARGET:
        _score_targets(model, rule, state)
    found = _contenders(model, state, server)
    lowest = np.inf
    for k in range(found):
        row = state.contenders[k]
        state.score[k] = np.inf
        if rule.blocking or fitting_type(model, state, row, server) != NOBODY:
            state.score[k] = state.share[row]
            if rule.kind == TARGET:
                i = jobs[row, CLASS]
                state.score[k] = state.ratio[i] if jobs[row, RUNNING] == state.level[i] else np.inf
            lowest = min(lowest, state.score[k])
    if lowest == np.inf:
        return NOBODY
    ceiling = lowest * (1.0 + (SAME_RATIO if rule.kind == TARGET else SAME_SHARE))
    tied = 0
    best = NOBODY
    for k in range(found):
        if state.score[k] <= ceiling:
            row = state.contenders[k]
            tied += _equals(model, state, row)
            if best == NOBODY or jobs[row, AGE] < jobs[best, AGE]:
                best = row
    if not rule.random_ties or tied == 1:
        return best
    skip = int(uniform(model.seeds[TIE_BREAKS], state.counters[DRAWS]) * tied)
    state.counters[DRAWS] += 1
    for k in range(found):
        if state.score[k] <= ceiling:
            row = state.contenders[k]
            equals = _equals(model, state, row)
            if skip < equals:
                for _ in range(skip):
                    row = jobs[row, YOUNGER]
                return row
            skip -= equals
    return best


@part
def _contenders(model: PlacedModel, state: PlacedState, server: int) -> int:
    """List the candidates to compare (of those bound to the server): active ones, heads of queues."""
    found = 0
    for k in range(state.counters[ACTIVE]):
        row = state.active[k]
        if not model.place.bound or state.jobs[row, SERVER] == server:
            state.contenders[found] = row
            found += 1
    for i in range(len(state.queued)):
        if state.queued[i] > 0:
            types = model.first_type[i + 1] - model.first_type[i]
            first = model.first_group[i] + (server << types)
            for group in range(first + 1, first + (1 << types)):  # no mask is 0
                if state.groups[group, OLDEST] != NOBODY:
                    state.contenders[found] = state.groups[group, OLDEST]
                    found += 1
    return found


@part
def _equals(model: PlacedModel, state: PlacedState, row: int) -> int:
    """Candidates for which a contender stands: all of its idle queue."""
    if state.jobs[row, RUNNING] > 0:
        return 1
    return state.groups[idle_queue(model, state, row), QUEUED]


@part
def _score_targets(model: PlacedModel, rule: Rule, state: PlacedState) -> None:
    """Running tasks over target of each class, and the fewest running tasks of a candidate of it."""
    n = len(state.queued)
    cell = 0
    for i in range(n):
        cell = cell * rule.target_shape[i] + state.present[i]
    for i in range(n):
        target = rule.target[cell, i]
        state.ratio[i] = state.running[i] / target if target > 0 else NEVER_SERVED
        state.level[i] = 0 if state.queued[i] > 0 else np.iinfo(np.int64).max
    for k in range(state.counters[ACTIVE]):
        row = state.active[k]
        i = state.jobs[row, CLASS]
        state.level[i] = min(state.level[i], state.jobs[row, RUNNING])
