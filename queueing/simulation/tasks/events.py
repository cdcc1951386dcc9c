r"""Kernel of the task-level simulation: arrivals, starts and completions, event by event.

An event is the arrival of a job or the completion of a task; a completion that falls together with an arrival
comes first, and completions at the same time come in the order in which the tasks started. After each event
tasks are started until the scheduler waits (see :mod:`queueing.simulation.tasks.dispatch`). Running tasks
wait for their ends in a binary heap, so any law of durations costs the same.

The kernel stops between two steps, with a status, when it needs something from its driver: room in the log, a
larger table of the fluid target; and goes on from there as if nothing had happened.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from fairness.machine.kernels import fingerprint
from fairness.model.problem import FloatArray
from queueing.simulation import kernels
from queueing.simulation.kernels import kernel, part
from queueing.simulation.tasks import dispatch, schedulers, workload
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
    NEXT_TASK,
    NOBODY,
    PATH,
    PRESENT,
    RUNNING,
    TASKS_ARRIVED,
    TASKS_STARTED,
    WAITING,
    YOUNGER,
    Model,
    State,
    choose,
    dequeue,
    enqueue,
)
from queueing.simulation.tasks.schedulers import TARGET, Rule
from queueing.simulation.tasks.workload import draw_tasks, position, uniform

__all__ = ["DONE", "LOG_FULL", "TABLE_LEFT", "TOO_MANY_JOBS", "Log", "advance", "new_state"]

DONE, TOO_MANY_JOBS, TABLE_LEFT, LOG_FULL = range(4)

NOT_DRAWN = -1.0

# Rows of the totals, one column per class.
JOB_TIME, TASK_TIME, DURATION, DEPARTURES = range(4)
# Columns of Log.tasks and Log.jobs; Log.path has time, jobs per class, running tasks per class.
TASK_JOB, TASK_CLASS, TASK_START, TASK_END = range(4)
JOB_CLASS, JOB_TASKS, JOB_ARRIVAL, JOB_DEPARTURE = range(4)


class Log(NamedTuple):
    """What a recorded run writes down; one row per task, job and event."""

    on: bool
    tasks: FloatArray  # (rows, 4)
    jobs: FloatArray  # (rows, 4)
    path: FloatArray  # (rows, 1 + 2 n_classes)


def new_state(model: Model, max_jobs: int, n_groups: int, most_running: int) -> State:
    """Empty system at time 0; :func:`advance` draws the first arrival."""
    n, m = model.demands.shape
    counters = np.zeros(10, np.int64)
    counters[FREE_ROW] = NOBODY
    groups = np.zeros((n_groups, 4), np.int64)
    groups[:, :2] = NOBODY
    return State(
        np.array([0.0, NOT_DRAWN]),
        counters,
        np.empty((max_jobs, 7), np.int64),
        np.empty(max_jobs),
        groups,
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        np.zeros(m),
        np.zeros(n, np.bool_),
        np.zeros(n_groups),
        np.empty(most_running),
        np.empty((most_running, 2), np.int64),
    )


@part
def next_arrival(model: Model, job: int, now: float) -> float:
    """Time of the arrival of job number ``job``; numbers 3 job, 3 job + 1, 3 job + 2 belong to it."""
    return now - np.log1p(-uniform(model.seeds[ARRIVALS], 3 * job)) / model.arrival_rate


@part
def _advance(
    model: Model, rule: Rule, state: State, log: Log, totals: FloatArray, events: int, horizon: float
) -> tuple[int, int]:
    """What :func:`advance` says, below."""
    n = model.demands.shape[0]
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
                row = choose(model, rule, state)
                if row == NOBODY:
                    break
                _start(model, state, log, row)
            counters[DECIDE] = 0
            if log.on:
                note_path(state, log)
        if made == events:
            return DONE, made
        completes = counters[HEAP] > 0 and state.heap_times[0] <= state.clock[1]
        event_time = state.heap_times[0] if completes else state.clock[1]
        elapsed = min(event_time, horizon) - state.clock[0]
        for i in range(n):
            totals[JOB_TIME, i] += state.present[i] * elapsed
            totals[TASK_TIME, i] += state.running[i] * elapsed
        if event_time > horizon:
            state.clock[0] = horizon
            return DONE, made
        if not completes and counters[JOBS] == len(state.jobs):
            state.clock[0] = event_time
            return TOO_MANY_JOBS, made
        state.clock[0] = event_time
        if completes:
            _complete(model, state, log, totals)
        else:
            _arrive(model, state, log)
        made += 1
        counters[DECIDE] = 1


@part
def _arrive(model: Model, state: State, log: Log) -> None:
    """Job number ``counters[ARRIVED]`` arrives; the next arrival is drawn."""
    counters, jobs = state.counters, state.jobs
    number = counters[ARRIVED]
    i = position(model.arrival_shares, uniform(model.seeds[ARRIVALS], 3 * number + 1))
    tasks = draw_tasks(model.law, i, uniform(model.seeds[ARRIVALS], 3 * number + 2))
    row = counters[FREE_ROW]
    if row == NOBODY:
        row = counters[FRESH_ROW]
        counters[FRESH_ROW] += 1
    else:
        counters[FREE_ROW] = jobs[row, YOUNGER]
    jobs[row, CLASS] = i
    jobs[row, RUNNING] = 0
    jobs[row, WAITING] = tasks
    jobs[row, AGE] = number
    jobs[row, NEXT_TASK] = counters[TASKS_ARRIVED]
    state.arrivals[row] = state.clock[0]
    counters[TASKS_ARRIVED] += tasks
    counters[ARRIVED] += 1
    counters[JOBS] += 1
    state.present[i] += 1
    group = model.first_group[i]
    state.groups[group, PRESENT] += 1
    enqueue(state, group, row, True)
    if log.on:
        log.jobs[number, JOB_CLASS] = i
        log.jobs[number, JOB_TASKS] = tasks
        log.jobs[number, JOB_ARRIVAL] = state.clock[0]
        log.jobs[number, JOB_DEPARTURE] = np.nan
    state.clock[1] = next_arrival(model, number + 1, state.clock[0])


@part
def _start(model: Model, state: State, log: Log, row: int) -> None:
    """Start a task of a queued job."""
    counters, jobs = state.counters, state.jobs
    i = jobs[row, CLASS]
    group = model.first_group[i] + jobs[row, RUNNING]
    dequeue(state, group, row)
    state.groups[group, PRESENT] -= 1
    state.groups[group + 1, PRESENT] += 1
    jobs[row, RUNNING] += 1
    jobs[row, WAITING] -= 1
    state.running[i] += 1
    state.top[i] = max(state.top[i], jobs[row, RUNNING])
    if jobs[row, WAITING] > 0 and jobs[row, RUNNING] < model.limits[i]:
        enqueue(state, group + 1, row, False)
    duration = model.task_means[i]
    if model.exponential:
        duration *= -np.log1p(-uniform(model.seeds[DURATIONS], jobs[row, NEXT_TASK]))
    jobs[row, NEXT_TASK] += 1
    push(state, state.clock[0] + duration, row)
    if log.on:
        task = counters[TASKS_STARTED]
        log.tasks[task, TASK_JOB] = jobs[row, AGE]
        log.tasks[task, TASK_CLASS] = i
        log.tasks[task, TASK_START] = state.clock[0]
        log.tasks[task, TASK_END] = state.clock[0] + duration
    counters[TASKS_STARTED] += 1


@part
def _complete(model: Model, state: State, log: Log, totals: FloatArray) -> None:
    """The running task with the earliest end completes; its job leaves if that was its last task."""
    counters, jobs, groups = state.counters, state.jobs, state.groups
    row = pop(state)
    i = jobs[row, CLASS]
    group = model.first_group[i] + jobs[row, RUNNING]
    if jobs[row, WAITING] > 0 and jobs[row, RUNNING] < model.limits[i]:
        dequeue(state, group, row)
    groups[group, PRESENT] -= 1
    jobs[row, RUNNING] -= 1
    state.running[i] -= 1
    if jobs[row, WAITING] + jobs[row, RUNNING] > 0:
        groups[group - 1, PRESENT] += 1
        if jobs[row, WAITING] > 0:
            enqueue(state, group - 1, row, False)
    else:
        totals[DURATION, i] += state.clock[0] - state.arrivals[row]
        totals[DEPARTURES, i] += 1
        if log.on:
            log.jobs[jobs[row, AGE], JOB_DEPARTURE] = state.clock[0]
        state.present[i] -= 1
        counters[JOBS] -= 1
        jobs[row, YOUNGER] = counters[FREE_ROW]
        counters[FREE_ROW] = row
    while state.top[i] > 0 and groups[model.first_group[i] + state.top[i], PRESENT] == 0:
        state.top[i] -= 1


@part
def push(state: State, end: float, row: int) -> None:
    """Put a running task on the heap, ordered by end, then by start."""
    times, tasks = state.heap_times, state.heap_tasks
    k = state.counters[HEAP]
    state.counters[HEAP] += 1
    while k > 0:
        parent = (k - 1) >> 1
        # The new task started last, so it stays below an equal end.
        if times[parent] <= end:
            break
        times[k] = times[parent]
        tasks[k, 0] = tasks[parent, 0]
        tasks[k, 1] = tasks[parent, 1]
        k = parent
    times[k] = end
    tasks[k, 0] = state.counters[TASKS_STARTED]
    tasks[k, 1] = row


@part
def pop(state: State) -> int:
    """Take the first task off the heap; the row of its job."""
    times, tasks = state.heap_times, state.heap_tasks
    state.counters[HEAP] -= 1
    size = state.counters[HEAP]
    row = tasks[0, 1]
    end, order = times[size], tasks[size, 0]
    last_row = tasks[size, 1]
    k = 0
    while True:
        child = 2 * k + 1
        if child >= size:
            break
        if child + 1 < size and _before(times, tasks, child + 1, times[child], tasks[child, 0]):
            child += 1
        if not _before(times, tasks, child, end, order):
            break
        times[k] = times[child]
        tasks[k, 0] = tasks[child, 0]
        tasks[k, 1] = tasks[child, 1]
        k = child
    times[k] = end
    tasks[k, 0] = order
    tasks[k, 1] = last_row
    return row


@part
def _before(times: FloatArray, tasks: np.ndarray, k: int, end: float, order: int) -> bool:
    return times[k] < end or (times[k] == end and tasks[k, 0] < order)


@part
def log_full(state: State, log: Log) -> bool:
    """Whether the starts after this event, and the next event, might not fit in the log."""
    room = len(state.heap_times)
    return (
        state.counters[TASKS_STARTED] + room > len(log.tasks)
        or state.counters[ARRIVED] + 1 > len(log.jobs)
        or state.counters[PATH] + 1 > len(log.path)
    )


@part
def note_path(state: State, log: Log) -> None:
    n = len(state.present)
    line = log.path[state.counters[PATH]]
    line[0] = state.clock[0]
    for i in range(n):
        line[1 + i] = state.present[i]
        line[1 + n + i] = state.running[i]
    state.counters[PATH] += 1


def _kernel(sources: str) -> Callable[..., tuple[int, int]]:
    """The kernel, stored for these sources (see :mod:`fairness.machine.compiling`)."""

    @kernel
    def advance(
        model: Model, rule: Rule, state: State, log: Log, totals: FloatArray, events: int, horizon: float
    ) -> tuple[int, int]:
        """Run for ``events`` events or until ``horizon``; (status, events made).

        ``totals`` (4, n_classes) collects the time integrals of jobs and running tasks, and the durations
        and the number of the jobs that left.
        """
        assert sources
        return _advance(model, rule, state, log, totals, events, horizon)

    return advance


advance = _kernel(fingerprint(dispatch, kernels, schedulers, workload))
