r"""Kernel of the simulation with remaining work: arrivals and departures of jobs, event by event.

In state :math:`x` every job of class :math:`i` is served at rate :math:`r_i(x) = \varphi_i(x)/x_i`, so the
remaining works of a class fall together. It is enough to keep one clock of *attained service* per class,
:math:`dA_i = r_i(x)\,dt`: a job of size :math:`s` that arrives when the clock shows :math:`A_i` leaves when
it shows the *threshold* :math:`A_i + s`. The thresholds of a class wait in a binary heap; with the
smallest, :math:`b_i`, the next departure of the class is due in :math:`(b_i - A_i)/r_i(x)`. An event costs
:math:`O(n + \log x_i)` for n classes. Of a class whose jobs are served in an order, what is left of each
stands in the place of the threshold (:mod:`queueing.simulation.jobs.queues`).

A clock restarts at 0 whenever its class is empty. It is the integral of the rate over the recorded times of
the events, so it does not drift away from them: durations are exact to the digits of the time.

A departure that falls together with an arrival comes first; jobs that arrive together are taken in the order
of their classes. Jobs come from blocks of arrival times and sizes, one per class, that the driver fills
ahead: the kernel draws nothing, so whatever the policy does, the jobs are the same. It stops between two
events, with a status, when it needs something from its driver, and goes on as if nothing had happened.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fairness.arguments.validation import IntArray
from fairness.machine.cache_lines import each_apart
from fairness.model.problem import FloatArray
from fairness.protocol.following import Question
from queueing.simulation import kernels, policy_rows
from queueing.simulation.jobs import queues as ordered
from queueing.simulation.jobs.queues import (
    PS,
    Queues,
    allot,
    catch_up,
    first_due,
    join,
    leave,
    overtake,
    serve,
)
from queueing.simulation.kernels import kernel, part, pop, push
from queueing.simulation.policy_rows import MISSING, Lookup, find, moved, visit

__all__ = [
    "BLOCK_USED",
    "DONE",
    "HEAP_FULL",
    "LOG_FULL",
    "ROW_MISSING",
    "STUCK",
    "UNMEASURED",
    "State",
    "advance",
    "new_state",
]

DONE, ROW_MISSING, BLOCK_USED, HEAP_FULL, LOG_FULL, STUCK = range(6)

UNMEASURED = -1

# Columns of the log.
CLASS, ARRIVAL, SIZE, DEPARTURE = range(4)
# Places in State.counters: rows of the log in use, and those whose job is present.
LOGGED, PENDING = range(2)


class State(NamedTuple):
    """One run between two events."""

    clock: FloatArray  # (1,): time
    counters: IntArray  # (2,)
    counts: IntArray  # (n_classes,)
    attained: FloatArray  # (n_classes,)
    thresholds: FloatArray  # (n_classes, most jobs): heaps; or what is left, in an order
    rows: IntArray  # (n_classes, most jobs): where the job stands in the log
    log: FloatArray  # (most measured jobs, 4), in the order of arrival
    times: FloatArray  # (n_classes, block): the next arrivals
    sizes: FloatArray  # (n_classes, block)
    position: IntArray  # (n_classes,): jobs of the block that have arrived
    area: FloatArray  # (n_classes,): time integral of the counts


def new_state(n_classes: int, block: int, jobs: int, log: int) -> State:
    """Empty system at time 0 with all blocks used up, and room for some jobs and rows of the log."""
    state = State(
        clock=np.zeros(1),
        counters=np.zeros(2, np.int64),
        counts=np.zeros(n_classes, np.int64),
        attained=np.zeros(n_classes),
        thresholds=np.empty((n_classes, jobs)),
        rows=np.empty((n_classes, jobs), np.int64),
        log=np.empty((log, 4)),
        times=np.empty((n_classes, block)),
        sizes=np.empty((n_classes, block)),
        position=np.full(n_classes, block, np.int64),
        area=np.zeros(n_classes),
    )
    return each_apart(state)


@part
def _needs(state: State, measured: bool) -> int:
    """What the driver must provide before the next event; DONE when nothing."""
    for i in range(len(state.counts)):
        if state.position[i] == state.times.shape[1]:
            return BLOCK_USED
        if state.counts[i] == state.thresholds.shape[1]:
            return HEAP_FULL
    if measured and state.counters[LOGGED] == len(state.log):
        return LOG_FULL
    return DONE


@part
def _arrive(state: State, queues: Queues | None, i: int, now: float, measured: bool) -> None:
    """The next job of class i arrives, and is written to the log if ``measured``."""
    counters, log, count = state.counters, state.log, state.counts[i]
    size, row = state.sizes[i, state.position[i]], UNMEASURED
    if measured:
        row = counters[LOGGED]
        log[row, CLASS] = i
        log[row, ARRIVAL] = now
        log[row, SIZE] = size
        log[row, DEPARTURE] = np.nan
        counters[LOGGED] += 1
        counters[PENDING] += 1
    if queues is None or queues.orders[i] == PS:
        push(state.thresholds[i], state.rows[i], None, count, state.attained[i] + size, row)
    else:
        join(queues, state.thresholds[i], state.rows[i], i, count, size, row)
    state.counts[i] += 1
    state.position[i] += 1


@part
def _leave(state: State, queues: Queues | None, i: int, place: int, now: float) -> bool:
    """The job of class i at a place, the first of a heap, leaves; whether it stands in the log."""
    row = state.rows[i, place]
    if queues is None or queues.orders[i] == PS:
        pop(state.thresholds[i], state.rows[i], None, state.counts[i])
    else:
        leave(queues, state.thresholds[i], state.rows[i], i, state.counts[i], place)
    state.counts[i] -= 1
    if state.counts[i] == 0:
        state.attained[i] = 0.0
    if row != UNMEASURED:
        state.log[row, DEPARTURE] = now
        state.counters[PENDING] -= 1
    return bool(row != UNMEASURED)


@part
def _tasks(queues: Queues | None, lookup: Lookup, here: int, i: int) -> float:
    """Tasks of class i."""
    if queues is None or len(queues.scales) == 0:
        return float(lookup.tasks[here, i])
    return float(queues.tasks[i])


@part
def _next_due(state: State, queues: Queues | None, lookup: Lookup, here: int) -> tuple[float, int, int]:
    """Time to the next departure, its class, and its place there; or to another event of the queues.

    Of a group that catches up with another the place is minus its first, of a job that overtakes another the
    class is the number of classes. Without any the class is -1.
    """
    counts, thresholds = state.counts, state.thresholds
    wait, leaver, place = np.inf, -1, 0
    if queues is not None and len(queues.scales) > 0:
        wait = allot(queues, counts)
        leaver = len(counts) if wait < np.inf else -1
    for i in range(len(counts)):
        tasks = _tasks(queues, lookup, here, i)
        if counts[i] > 0 and tasks > 0:
            first = 0
            if queues is None or queues.orders[i] == PS:
                # Rounding may have carried the clock past the threshold.
                due = max(thresholds[i, 0] - state.attained[i], 0.0) * counts[i] / tasks
            else:
                due, first = first_due(queues, thresholds[i], i, counts[i], tasks)
            # Who leaves when it is overtaken, leaves.
            if due < wait or (due == wait and leaver == len(counts)):
                wait, leaver, place = due, i, first
    return wait, leaver, place


@part
def _pass(state: State, queues: Queues | None, lookup: Lookup, here: int, elapsed: float) -> None:
    """Time passes."""
    counts = state.counts
    for i in range(len(counts)):
        if counts[i] > 0:
            state.area[i] += counts[i] * elapsed
            tasks = _tasks(queues, lookup, here, i)
            if queues is None or queues.orders[i] == PS:
                state.attained[i] += tasks / counts[i] * elapsed
            else:
                serve(queues, state.thresholds[i], i, counts[i], tasks, elapsed)


@kernel(kernels, policy_rows, ordered)
def advance(
    state: State,
    queues: Queues | None,
    lookup: Lookup,
    ask: Any,
    question: Question | None,
    arrivals: int,
    horizon: float,
    measured: bool,
    drain: bool,
) -> tuple[int, int, int]:
    """Run for a number of arrivals or until ``horizon``; (status, arrivals, departures).

    Without ``queues`` all classes share equally. Arriving jobs are written to the log if ``measured``; with
    ``drain`` the run ends as soon as no job of the log is present.
    """
    n = len(state.counts)
    counts, counters, position = state.counts, state.counters, state.position
    here, arrived, departed = find(lookup, counts), 0, 0
    now = state.clock[0]
    look = True
    newcomer, arrival = 0, np.inf
    while True:
        if look:
            look = False
            if (drain and counters[PENDING] == 0) or arrived == arrivals:
                break
            status = _needs(state, measured)
            if status != DONE:
                state.clock[0] = now
                return status, arrived, departed
            arrival = np.inf
            for i in range(n):
                if state.times[i, position[i]] < arrival:
                    newcomer, arrival = i, state.times[i, position[i]]
        if here == MISSING:
            here = visit(lookup, ask, question, counts)
            if here == MISSING:
                state.clock[0] = now
                return ROW_MISSING, arrived, departed
        wait, leaver, place = _next_due(state, queues, lookup, here)
        departs = leaver >= 0 and now + wait <= arrival
        until = now + wait if departs else arrival
        if until > horizon:
            until = horizon
        elif until == np.inf:
            # No job will come, none can leave.
            state.clock[0] = now
            return STUCK, arrived, departed
        # Not the wait, of which until has lost some digits: clocks must not drift away from the time.
        _pass(state, queues, lookup, here, until - now)
        now = until
        if now == horizon:
            break
        if queues is not None and departs and leaver == n:
            overtake(queues, state.thresholds)
        elif queues is not None and departs and place < 0:
            catch_up(queues, leaver, counts[leaver], -place)
        elif departs:
            look = _leave(state, queues, leaver, place, now) and drain
            here = moved(lookup, counts, here, leaver, -1)
            departed += 1
        else:
            _arrive(state, queues, newcomer, now, measured)
            here = moved(lookup, counts, here, newcomer, 1)
            arrived += 1
            look = True
    state.clock[0] = now
    return DONE, arrived, departed
