r"""Kernel of the task-level simulation on servers and for jobs of several types, event by event.

The events, their order and the random numbers are those of :mod:`queueing.simulation.tasks.events`, so that
one server and jobs of one type give the same run, bit by bit. The rules of
:mod:`queueing.simulation.tasks.placement` say where a task runs.

Time is called *fragmented* while some job could start a task if free capacity were not spread over servers:
for a type t that a job may start, :math:`\sum_i f_{ir}/h_{tir} \ge 1` for every resource, over the servers
where t may run.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fairness.machine.kernels import fingerprint
from fairness.model.problem import FloatArray
from queueing.simulation import kernels
from queueing.simulation.kernels import kernel, large_part, part
from queueing.simulation.tasks import candidates, dispatch, events, placement, schedulers, servers, workload
from queueing.simulation.tasks.candidates import (
    PART_NEXT,
    PART_RUNNING,
    PART_WAITING,
    SERVER,
    TOUCHED,
    PlacedModel,
    PlacedState,
    choose_job,
    fitting_type,
    join,
    withdraw,
)
from queueing.simulation.tasks.dispatch import (
    AGE,
    ARRIVALS,
    ARRIVED,
    CLASS,
    DECIDE,
    DURATIONS,
    FREE_ROW,
    FRESH_ROW,
    HEAP,
    JOBS,
    NOBODY,
    RUNNING,
    TASKS_ARRIVED,
    TASKS_STARTED,
    WAITING,
    YOUNGER,
)
from queueing.simulation.tasks.events import (
    DEPARTURES,
    DONE,
    DURATION,
    JOB_ARRIVAL,
    JOB_CLASS,
    JOB_DEPARTURE,
    JOB_TASKS,
    JOB_TIME,
    LOG_FULL,
    NOT_DRAWN,
    TABLE_LEFT,
    TASK_CLASS,
    TASK_END,
    TASK_JOB,
    TASK_START,
    TASK_TIME,
    TOO_MANY_JOBS,
    Log,
    log_full,
    next_arrival,
    note_path,
    pop,
    push,
)
from queueing.simulation.tasks.schedulers import TARGET, Rule
from queueing.simulation.tasks.servers import SAME_ROOM, bind, place
from queueing.simulation.tasks.workload import draw_tasks, position, uniform

__all__ = ["advance_placed", "new_placed_state"]

TASK_SERVER = JOB_SERVER = 4
"""Further column of Log.tasks and Log.jobs."""
TYPES = 4
"""Entry of PlacedModel.seeds for the numbers of tasks of the types after the first."""
FRAGMENTED, WAITED = range(2)


def new_placed_state(model: PlacedModel, max_jobs: int, most_running: int) -> PlacedState:
    """Empty system at time 0."""
    n, servers, _ = model.held.shape
    n_jobs = len(model.first_type) - 1
    counters = np.zeros(13, np.int64)
    counters[FREE_ROW] = NOBODY
    groups = np.zeros((model.first_group[-1], 4), np.int64)
    groups[:, :2] = NOBODY
    fits = model.eligible & (model.held <= model.room[None]).all(axis=2)
    return PlacedState(
        np.array([0.0, NOT_DRAWN]),
        counters,
        np.empty((max_jobs, 9), np.int64),
        np.zeros((max_jobs, int(np.diff(model.first_type).max()), 3), np.int64),
        np.zeros(max_jobs),
        np.empty(max_jobs),
        groups,
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        np.zeros(n_jobs, np.int64),
        np.zeros(n, np.int64),
        np.empty(most_running, np.int64),
        np.zeros((n, servers), np.int64),
        np.zeros((n, servers)),
        np.zeros_like(model.capacities),
        fits,
        fits.sum(axis=1),
        np.full(n_jobs, -1, np.int64),
        np.zeros(servers, np.int64),
        np.zeros(n_jobs, np.int64),
        np.zeros(n_jobs),
        np.empty(most_running + model.first_group[-1], np.int64),
        np.empty(most_running + model.first_group[-1]),
        np.empty(most_running),
        np.empty((most_running, 2), np.int64),
    )


@part
def _advance_placed(
    model: PlacedModel,
    rule: Rule,
    state: PlacedState,
    log: Log,
    totals: FloatArray,
    placed: FloatArray,
    lost: FloatArray,
    events: int,
    horizon: float,
) -> tuple[int, int]:
    """What :func:`advance_placed` says, below."""
    n = len(state.running)
    counters = state.counters
    made = 0
    if state.clock[1] == NOT_DRAWN:
        state.clock[1] = next_arrival(model, 0, 0.0)
    while True:
        if counters[DECIDE]:
            if rule.kind == TARGET:
                for i in range(n):
                    if state.present[i] >= rule.target_shape[i]:
                        return TABLE_LEFT, made
            if log.on and log_full(state, log):
                return LOG_FULL, made
            while True:
                # If jobs are bound, only the server of the event has anything new to decide.
                row = choose_job(model, rule, state, counters[TOUCHED])
                t = NOBODY if row == NOBODY else fitting_type(model, state, row, counters[TOUCHED])
                if t == NOBODY:
                    break
                _start(model, state, log, placed, row, t)
            counters[DECIDE] = 0
            if log.on:
                note_path(state, log)
        if made == events:
            _count_tasks(state, placed)
            return DONE, made
        completes = counters[HEAP] > 0 and state.heap_times[0] <= state.clock[1]
        event_time = state.heap_times[0] if completes else state.clock[1]
        elapsed = min(event_time, horizon) - state.clock[0]
        for i in range(n):
            totals[JOB_TIME, i] += state.present[i] * elapsed
            totals[TASK_TIME, i] += state.running[i] * elapsed
        _count_waits(model, state, lost, elapsed)
        if event_time > horizon:
            state.clock[0] = horizon
            _count_tasks(state, placed)
            return DONE, made
        state.clock[0] = event_time
        if not completes and counters[JOBS] == len(state.jobs):
            return TOO_MANY_JOBS, made
        if completes:
            _complete(model, state, log, totals, placed)
        else:
            _arrive(model, state, log)
        made += 1
        counters[DECIDE] = 1


@part
def _arrive(model: PlacedModel, state: PlacedState, log: Log) -> None:
    """Job number ``counters[ARRIVED]`` arrives, is bound if that is the rule, and the next is drawn."""
    counters, jobs, parts = state.counters, state.jobs, state.parts
    number = counters[ARRIVED]
    i = position(model.arrival_shares, uniform(model.seeds[ARRIVALS], 3 * number + 1))
    row = counters[FREE_ROW]
    if row == NOBODY:
        row = counters[FRESH_ROW]
        counters[FRESH_ROW] += 1
    else:
        counters[FREE_ROW] = jobs[row, YOUNGER]
    first = model.first_type[i]
    tasks = 0
    for t in range(model.first_type[i + 1] - first):
        u = uniform(model.seeds[ARRIVALS], 3 * number + 2)
        if t > 0:
            u = uniform(model.seeds[TYPES], number * parts.shape[1] + t)
        some = draw_tasks(model.law, first + t, u)
        parts[row, t, PART_WAITING] = some
        parts[row, t, PART_RUNNING] = 0
        parts[row, t, PART_NEXT] = counters[TASKS_ARRIVED] + tasks
        tasks += some
        state.present[first + t] += 1
    jobs[row, CLASS] = i
    jobs[row, RUNNING] = 0
    jobs[row, WAITING] = tasks
    jobs[row, AGE] = number
    state.share[row] = 0.0
    jobs[row, SERVER] = bind(model, state, i) if model.place.bound else 0
    counters[TOUCHED] = jobs[row, SERVER]
    state.arrivals[row] = state.clock[0]
    counters[TASKS_ARRIVED] += tasks
    counters[ARRIVED] += 1
    counters[JOBS] += 1
    join(model, state, row, True)
    if log.on:
        log.jobs[number, JOB_CLASS] = i
        log.jobs[number, JOB_TASKS] = tasks
        log.jobs[number, JOB_ARRIVAL] = state.clock[0]
        log.jobs[number, JOB_DEPARTURE] = np.nan
        log.jobs[number, JOB_SERVER] = jobs[row, SERVER] if model.place.bound else NOBODY
    state.clock[1] = next_arrival(model, number + 1, state.clock[0])


@part
def _start(model: PlacedModel, state: PlacedState, log: Log, placed: FloatArray, row: int, t: int) -> None:
    """Start a task of type t of a candidate; it fits."""
    counters, jobs = state.counters, state.jobs
    i = jobs[row, CLASS]
    server = jobs[row, SERVER] if model.place.bound else place(model, state, t)
    own = t - model.first_type[i]
    jobs[row, WAITING] -= 1
    _change(model, state, placed, row, t, server, 1)
    duration = model.task_means[t]
    if model.exponential:
        duration *= -np.log1p(-uniform(model.seeds[DURATIONS], state.parts[row, own, PART_NEXT]))
    state.parts[row, own, PART_NEXT] += 1
    n, servers = state.on.shape
    push(state, state.clock[0] + duration, (row * n + t) * servers + server)
    if log.on:
        task = counters[TASKS_STARTED]
        log.tasks[task, TASK_JOB] = jobs[row, AGE]
        log.tasks[task, TASK_CLASS] = t
        log.tasks[task, TASK_START] = state.clock[0]
        log.tasks[task, TASK_END] = state.clock[0] + duration
        log.tasks[task, TASK_SERVER] = server
    counters[TASKS_STARTED] += 1


@part
def _complete(
    model: PlacedModel, state: PlacedState, log: Log, totals: FloatArray, placed: FloatArray
) -> None:
    """The running task with the earliest end completes; its job leaves if that was its last task."""
    counters, jobs = state.counters, state.jobs
    n, servers = state.on.shape
    code = pop(state)
    server = code % servers
    t = code // servers % n
    row = code // (servers * n)
    i = jobs[row, CLASS]
    _change(model, state, placed, row, t, server, -1)
    counters[TOUCHED] = jobs[row, SERVER]
    if jobs[row, WAITING] + jobs[row, RUNNING] > 0:
        return
    for part_of in range(model.first_type[i], model.first_type[i + 1]):
        totals[DURATION, part_of] += state.clock[0] - state.arrivals[row]
        totals[DEPARTURES, part_of] += 1
        state.present[part_of] -= 1
    if model.place.bound:
        state.bound[jobs[row, SERVER]] -= 1
    if log.on:
        log.jobs[jobs[row, AGE], JOB_DEPARTURE] = state.clock[0]
    counters[JOBS] -= 1
    jobs[row, YOUNGER] = counters[FREE_ROW]
    counters[FREE_ROW] = row


@large_part
def _change(
    model: PlacedModel, state: PlacedState, placed: FloatArray, row: int, t: int, server: int, step: int
) -> None:
    """One task more (started) or less on a server: its job, units in use and what fits there."""
    n, _, m = model.held.shape
    withdraw(model, state, row)
    own = t - model.first_type[state.jobs[row, CLASS]]
    state.jobs[row, RUNNING] += step
    state.parts[row, own, PART_RUNNING] += step
    if step > 0:
        state.parts[row, own, PART_WAITING] -= 1
    placed[t, server] += state.on[t, server] * (state.clock[0] - state.since[t, server])
    state.since[t, server] = state.clock[0]
    state.on[t, server] += step
    state.running[t] += step
    for r in range(m):
        # Afresh from the whole numbers of tasks, so that no rounding accumulates.
        used = 0.0
        for k in range(n):
            used += state.on[k, server] * model.held[k, server, r]
        state.used[server, r] = used
    for k in range(n):
        if model.eligible[k, server]:
            fits = True
            for r in range(m):
                held = model.held[k, server, r]
                if held > 0 and state.used[server, r] + held > model.room[server, r]:
                    fits = False
            state.servers[k] += int(fits) - int(state.fits[k, server])
            state.fits[k, server] = fits
    i = state.jobs[row, CLASS]
    first = model.first_type[i]
    base = state.jobs[row, SERVER]
    largest = 0.0
    for r in range(m):
        share = 0.0
        for k in range(first, model.first_type[i + 1]):
            share += model.shares[k, base, r] * state.parts[row, k - first, PART_RUNNING]
        largest = max(largest, share)
    state.share[row] = largest
    join(model, state, row, False)


@part
def _count_waits(model: PlacedModel, state: PlacedState, lost: FloatArray, elapsed: float) -> None:
    """Time with a candidate, and time with one whose task the free amounts together would hold."""
    n, servers, m = model.held.shape
    waits = False
    for t in range(n):
        if state.wanted[t] > 0:
            waits = True
            together = True
            for r in range(m):
                tasks = 0.0
                demanded = False
                for server in range(servers):
                    if model.held[t, server, r] > 0:
                        demanded = True
                        free = model.capacities[server, r] - state.used[server, r]
                        tasks += free / model.held[t, server, r]
                if demanded and tasks < 1.0 - SAME_ROOM:
                    together = False
                    break
            if together:
                lost[FRAGMENTED] += elapsed
                break
    if waits:
        lost[WAITED] += elapsed


@part
def _count_tasks(state: PlacedState, placed: FloatArray) -> None:
    """Bring the time integrals of the tasks on the servers up to now."""
    n, servers = state.on.shape
    for t in range(n):
        for server in range(servers):
            placed[t, server] += state.on[t, server] * (state.clock[0] - state.since[t, server])
            state.since[t, server] = state.clock[0]


def _kernel(sources: str) -> Callable[..., tuple[int, int]]:
    """The kernel, stored for these sources (see :mod:`fairness.machine.compiling`)."""

    @kernel
    def advance_placed(
        model: PlacedModel,
        rule: Rule,
        state: PlacedState,
        log: Log,
        totals: FloatArray,
        placed: FloatArray,
        lost: FloatArray,
        events: int,
        horizon: float,
    ) -> tuple[int, int]:
        """Run for ``events`` events or until ``horizon``; (status, events made).

        ``totals`` (4, n) is as in :func:`queueing.simulation.tasks.events.advance`, per type; ``placed`` (n,
        S) collects the time integrals of tasks on servers, ``lost`` (2,) the time fragmented and the time
        with a job waiting.
        """
        assert sources
        return _advance_placed(model, rule, state, log, totals, placed, lost, events, horizon)

    return advance_placed


advance_placed = _kernel(
    fingerprint(candidates, dispatch, events, kernels, placement, schedulers, servers, workload)
)
