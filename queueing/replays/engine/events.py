"""Kernel of a replay: arrivals and ends in the order of time, and the starts between them.

All that happens at one instant happens before anything starts then: ends first, by the order of start, then
arrivals by theirs. The kernel stops when it has made a number of events or when a policy is to be asked
about the users present, and goes on as if nothing had happened.
"""

from __future__ import annotations

from queueing.replays.engine import nodes, queues
from queueing.replays.engine import state as at
from queueing.replays.engine.nodes import fits, occupy, place, release
from queueing.replays.engine.queues import arrive, block, choose, rescore, start_waiting, unblock
from queueing.replays.engine.state import NOBODY, Given, State
from queueing.simulation import end_events
from queueing.simulation.end_events import pop, push
from queueing.simulation.kernels import kernel, part
from queueing.simulation.tasks.rules import placement, server_choice, workload

__all__ = ["DONE", "MORE", "NO_TARGETS", "advance"]

DONE, MORE, NO_TARGETS = range(3)
"""Why the kernel stops."""


@kernel(end_events, nodes, queues, at, placement, server_choice, workload)
def advance(given: Given, now: State, events: int, until: float) -> int:
    """Go on for some events, or until no event is left up to a time; DONE, MORE or NO_TARGETS."""
    counters = now.counters
    made = 0
    while True:
        if counters[at.DECIDE] == 0:
            time = until
            some = counters[at.NEXT] < len(given.arrivals) and given.arrivals[counters[at.NEXT]] <= time
            if some:
                time = given.arrivals[counters[at.NEXT]]
            if counters[at.RUNNING] > 0 and now.heap_times[0] <= time:
                time = now.heap_times[0]
                some = True
            if not some:
                return DONE
            if made >= events:
                return MORE
            now.clock[0] = time
            counters[at.INSTANT] += 1
            ended = NOBODY
            while counters[at.RUNNING] > 0 and now.heap_times[0] == time:
                node = _end(given, now)
                made += 1
                if ended != NOBODY and ended != node:
                    # Several nodes may have room: types unblocked now are searched for everywhere.
                    counters[at.INSTANT] += 1
                ended = node
            while counters[at.NEXT] < len(given.arrivals) and given.arrivals[counters[at.NEXT]] == time:
                task = counters[at.NEXT]
                user = given.pair_user[given.pair_of[task]]
                if now.waits[user] + now.runs[user] == 0:
                    counters[at.STALE] = 1
                arrive(given, now, task)
                counters[at.NEXT] += 1
                made += 1
            counters[at.DECIDE] = 1
        if given.follows and counters[at.STALE] == 1 and _matters(now):
            return NO_TARGETS
        pair = choose(given, now)
        node = NOBODY
        if pair != NOBODY:
            t = given.pair_type[pair]
            if not now.is_blocked[t]:
                node = place(given, now, t)
                if node == NOBODY:
                    block(given, now, t)
                    if not given.blocking:
                        continue
        if node == NOBODY:
            counters[at.DECIDE] = 0
        else:
            _start(given, now, pair, node)


@part
def _matters(now: State) -> bool:
    """Whether there is a choice between users: only then are their scores read."""
    return bool(now.counters[at.CANDIDATES] > 1)


@part
def _start(given: Given, now: State, pair: int, node: int) -> None:
    """The oldest task of a pair starts on a node."""
    counters = now.counters
    task = start_waiting(given, now, pair)
    occupy(given, now, task, node)
    user, t = given.pair_user[pair], given.pair_type[pair]
    for r in range(given.demands.shape[1]):
        now.held[user, r] += given.demands[t, r]
    now.runs[user] += 1
    rescore(given, now, user)
    now.starts[task] = now.clock[0]
    now.node_of[task] = node
    now.order[counters[at.STARTED]] = task
    end = now.clock[0] + given.durations[task]
    push(now.heap_times, now.heap_turns, None, counters[at.RUNNING], end, counters[at.STARTED])
    counters[at.RUNNING] += 1
    counters[at.STARTED] += 1


@part
def _end(given: Given, now: State) -> int:
    """The first running task ends, and types that now fit on its node are no longer blocked; the node."""
    counters = now.counters
    task = now.order[now.heap_turns[0]]
    pop(now.heap_times, now.heap_turns, None, counters[at.RUNNING])
    counters[at.RUNNING] -= 1
    node = release(given, now, task)
    pair = given.pair_of[task]
    user, t = given.pair_user[pair], given.pair_type[pair]
    now.runs[user] -= 1
    for r in range(given.demands.shape[1]):
        # Nothing is exactly nothing.
        now.held[user, r] = now.held[user, r] - given.demands[t, r] if now.runs[user] > 0 else 0.0
    rescore(given, now, user)
    if now.waits[user] + now.runs[user] == 0:
        counters[at.STALE] = 1
    counters[at.ENDED] += 1
    k = 0
    while k < counters[at.BLOCKED]:
        t = now.blocked[k]
        if fits(given, now, t, node):
            unblock(given, now, k, node)
        else:
            k += 1
    return node
