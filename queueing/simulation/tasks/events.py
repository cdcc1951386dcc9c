r"""Kernel of the task-level simulation: arrivals, starts and completions, event by event.

An event is the arrival of a job or the completion of a task; a completion that falls together with an arrival
comes first, and completions at the same time come in the order in which the tasks started. After each event
tasks are started until the scheduler waits. Running tasks wait for their ends in a binary heap, so any law of
durations costs the same.

The events, their order and the random numbers are the same whether jobs are compared by level or one by one
(:mod:`queueing.simulation.tasks.state`), so one server gives the run of the pool, bit by bit.

The kernel stops between two steps, with a status, when it needs something from its driver: room in the log,
what the fluid target gives to the jobs present, the decision of a scheduler in Python; and goes on from there
as if nothing had happened.
"""

from __future__ import annotations

import numpy as np

from fairness.model.problem import FloatArray
from queueing.simulation import kernels, policy_rows
from queueing.simulation.kernels import kernel, part, pop, push
from queueing.simulation.policy_rows import MISSING, find
from queueing.simulation.tasks import choice, options, placement, schedulers, workload
from queueing.simulation.tasks import state as at
from queueing.simulation.tasks.choice import (
    change_candidate,
    change_level,
    choose_by_level,
    choose_candidate,
    draw_parts,
    fitting_type,
    join,
    join_level,
    startable,
)
from queueing.simulation.tasks.schedulers import ASKED, TARGET, Rule
from queueing.simulation.tasks.state import (
    ASK,
    NOBODY,
    NOT_DRAWN,
    Log,
    Model,
    Places,
    State,
    bind,
    count_waits,
    occupy,
    place,
)
from queueing.simulation.tasks.workload import draw_tasks, position, uniform

__all__ = ["DONE", "TARGET_MISSING", "TOO_MANY_JOBS", "UNDECIDED", "advance"]

DONE, TOO_MANY_JOBS, TARGET_MISSING, UNDECIDED, LOG_FULL = range(5)

# Rows of the totals, one column per class.
JOB_TIME, TASK_TIME, DURATION, DEPARTURES = range(4)


@part
def _next_arrival(model: Model, job: int, now: float) -> float:
    """Time of the arrival of job number ``job``; numbers 3 job, 3 job + 1, 3 job + 2 belong to it."""
    return now - np.log1p(-uniform(model.seeds[at.ARRIVALS], 3 * job)) / model.arrival_rate


@kernel(choice, kernels, options, placement, policy_rows, schedulers, at, workload)
def advance(
    model: Model,
    rule: Rule,
    state: State,
    places: Places | None,
    log: Log,
    totals: FloatArray,
    events: int,
    horizon: float,
) -> tuple[int, int]:
    """Run for ``events`` events or until ``horizon``; (status, events made).

    ``totals`` (4, n) collects the time integrals of jobs and running tasks, and the durations and the number
    of the jobs that left, per type.
    """
    n = len(state.running)
    counters = state.counters
    made = 0
    if state.clock[1] == NOT_DRAWN:
        state.clock[1] = _next_arrival(model, 0, 0.0)
    while True:
        # A task of a job more (step 1) or less (-1): changed in one place, to keep the code small for caches.
        row, t, server, step = NOBODY, NOBODY, 0, 0
        if counters[at.DECIDE]:
            if rule.kind == TARGET:
                counters[at.HERE] = find(rule.lookup, state.present)
                if counters[at.HERE] == MISSING:
                    return TARGET_MISSING, made
            if log.on and _log_full(state, log):
                return LOG_FULL, made
            row, t, server = _next_start(model, rule, state, places)
            if t == ASK:
                return UNDECIDED, made
            step = 1
            if t == NOBODY:
                step = counters[at.DECIDE] = counters[at.WAITS] = 0
                if log.on:
                    _note_path(state, log)
        if step == 0:
            if made == events:
                break
            completes = counters[at.HEAP] > 0 and state.heap_times[0] <= state.clock[1]
            event_time = state.heap_times[0] if completes else state.clock[1]
            elapsed = min(event_time, horizon) - state.clock[0]
            for i in range(n):
                totals[JOB_TIME, i] += state.present[i] * elapsed
                totals[TASK_TIME, i] += state.running[i] * elapsed
            if places is not None:
                count_waits(model, state, places, elapsed)
            if event_time > horizon:
                state.clock[0] = horizon
                break
            state.clock[0] = event_time
            if not completes and counters[at.JOBS] == len(state.jobs):
                return TOO_MANY_JOBS, made
            made += 1
            counters[at.DECIDE] = 1
            if completes:
                row, t, server = _end(state, places)
                step = -1
            else:
                _arrive(model, state, places, log)
        if step != 0:
            if places is None:
                change_level(model, state, row, t, step)
                occupy(model, state, places, t, server, step)
            else:
                change_candidate(model, state, places, row, t, server, step)
            if step > 0:
                _begin(model, state, places, log, row, t, server)
            elif state.jobs[row, at.WAITING] + state.jobs[row, at.RUNNING] == 0:
                _leave(model, state, places, log, totals, row)
    return DONE, made


@part
def _next_start(model: Model, rule: Rule, state: State, places: Places | None) -> tuple[int, int, int]:
    """Job, type and server of the task that starts now; the type is NOBODY to wait, ASK to ask in Python."""
    counters = state.counters
    if places is None:
        row = choose_by_level(model, rule, state)
        return row, NOBODY if row == NOBODY else state.jobs[row, at.CLASS], 0
    # If jobs are bound, only the server of the event has anything new to decide.
    if counters[at.WAITS] or not startable(model, state, places, counters[at.TOUCHED]):
        return NOBODY, NOBODY, NOBODY
    if rule.kind == ASKED:
        row, t, server = counters[at.CHOSEN], counters[at.CHOSEN_TYPE], counters[at.CHOSEN_SERVER]
        counters[at.CHOSEN_TYPE] = ASK
    else:
        row, server = choose_candidate(model, rule, state, places, counters[at.TOUCHED]), NOBODY
        t = NOBODY if row == NOBODY else fitting_type(model, state, places, row, counters[at.TOUCHED])
    if t >= 0 and model.place.bound:
        server = state.jobs[row, at.SERVER]
    elif t >= 0 and server == NOBODY:
        server = place(model, state, places, t)
    return row, t, server


@part
def _arrive(model: Model, state: State, places: Places | None, log: Log) -> None:
    """Job number ``counters[ARRIVED]`` arrives, is bound if that is the rule, and the next is drawn."""
    counters, jobs = state.counters, state.jobs
    number = counters[at.ARRIVED]
    i = position(model.arrival_shares, uniform(model.seeds[at.ARRIVALS], 3 * number + 1))
    u = uniform(model.seeds[at.ARRIVALS], 3 * number + 2)
    row = counters[at.FREE_ROW]
    if row == NOBODY:
        row = counters[at.FRESH_ROW]
        counters[at.FRESH_ROW] += 1
    else:
        counters[at.FREE_ROW] = jobs[row, at.YOUNGER]
    jobs[row, at.CLASS] = i
    jobs[row, at.RUNNING] = 0
    jobs[row, at.AGE] = number
    server = NOBODY
    if places is None:
        tasks = draw_tasks(model.law, i, u)
        jobs[row, at.NEXT_TASK] = counters[at.TASKS_ARRIVED]
        jobs[row, at.WAITING] = tasks
        state.present[i] += 1
        join_level(model, state, row, i, tasks, 0, True)
    else:
        tasks = draw_parts(model, state, places, row, number, u)
        jobs[row, at.WAITING] = tasks
        for t in range(model.first_type[i], model.first_type[i + 1]):
            state.present[t] += 1
        if model.place.bound:
            server = bind(model, state, places, i)
        jobs[row, at.SERVER] = max(server, 0)
        counters[at.TOUCHED] = jobs[row, at.SERVER]
        join(model, state, places, row, True)
    state.arrivals[row] = state.clock[0]
    counters[at.TASKS_ARRIVED] += tasks
    counters[at.ARRIVED] += 1
    counters[at.JOBS] += 1
    if log.on:
        log.jobs[number, at.JOB_CLASS] = i
        log.jobs[number, at.JOB_TASKS] = tasks
        log.jobs[number, at.JOB_ARRIVAL] = state.clock[0]
        log.jobs[number, at.JOB_DEPARTURE] = np.nan
        log.jobs[number, at.JOB_SERVER] = server
    state.clock[1] = _next_arrival(model, number + 1, state.clock[0])


@part
def _begin(
    model: Model, state: State, places: Places | None, log: Log, row: int, t: int, server: int
) -> None:
    """A task of type t of a job has started on a server: when it will end."""
    counters, jobs = state.counters, state.jobs
    if places is None:
        number, code = jobs[row, at.NEXT_TASK], row
        jobs[row, at.NEXT_TASK] += 1
    else:
        own = t - model.first_type[jobs[row, at.CLASS]]
        number, code = (
            places.parts[row, own, at.PART_NEXT],
            (row * state.on.shape[1] + t) * len(state.on) + server,
        )
        places.parts[row, own, at.PART_NEXT] += 1
    duration = model.task_means[t]
    if model.exponential:
        duration *= -np.log1p(-uniform(model.seeds[at.DURATIONS], number))
    end = state.clock[0] + duration
    leaf = push(
        state.heap_times,
        state.heap_turns,
        state.heap_codes,
        counters[at.HEAP],
        end,
        counters[at.TASKS_STARTED],
    )
    state.heap_codes[leaf] = code
    counters[at.HEAP] += 1
    if log.on:
        task = counters[at.TASKS_STARTED]
        log.tasks[task, at.TASK_JOB] = jobs[row, at.AGE]
        log.tasks[task, at.TASK_CLASS] = t
        log.tasks[task, at.TASK_START] = state.clock[0]
        log.tasks[task, at.TASK_END] = end
        log.tasks[task, at.TASK_SERVER] = server
    counters[at.TASKS_STARTED] += 1


@part
def _leave(model: Model, state: State, places: Places | None, log: Log, totals: FloatArray, row: int) -> None:
    """A job leaves, whose last task has ended."""
    counters, jobs = state.counters, state.jobs
    i = jobs[row, at.CLASS]
    for part_of in range(model.first_type[i], model.first_type[i + 1]):
        totals[DURATION, part_of] += state.clock[0] - state.arrivals[row]
        totals[DEPARTURES, part_of] += 1
        state.present[part_of] -= 1
    if places is not None and model.place.bound:
        places.bound[jobs[row, at.SERVER]] -= 1
    if log.on:
        log.jobs[jobs[row, at.AGE], at.JOB_DEPARTURE] = state.clock[0]
    counters[at.JOBS] -= 1
    jobs[row, at.YOUNGER] = counters[at.FREE_ROW]
    counters[at.FREE_ROW] = row


@part
def _end(state: State, places: Places | None) -> tuple[int, int, int]:
    """The first running task ends; its job, type and server."""
    code = state.heap_codes[0]
    pop(state.heap_times, state.heap_turns, state.heap_codes, state.counters[at.HEAP])
    state.counters[at.HEAP] -= 1
    if places is None:
        return code, state.jobs[code, at.CLASS], 0
    number, n = state.on.shape
    row = code // (number * n)
    state.counters[at.TOUCHED] = state.jobs[row, at.SERVER]
    return row, code // number % n, code % number


@part
def _log_full(state: State, log: Log) -> bool:
    """Whether the starts after this event, and the next event, might not fit in the log."""
    room = len(state.heap_times)
    return (
        state.counters[at.TASKS_STARTED] + room > len(log.tasks)
        or state.counters[at.ARRIVED] + 1 > len(log.jobs)
        or state.counters[at.PATH] + 1 > len(log.path)
    )


@part
def _note_path(state: State, log: Log) -> None:
    """Write down the jobs and the running tasks after this event."""
    n = len(state.present)
    line = log.path[state.counters[at.PATH]]
    line[0] = state.clock[0]
    for i in range(n):
        line[1 + i] = state.present[i]
        line[1 + n + i] = state.running[i]
    state.counters[at.PATH] += 1
