r"""Kernel of a replay: arrivals and ends in the order of time, starts between them, and the nodes.

All that happens at one instant happens before anything starts then: ends first, by the order of start, then
arrivals by theirs. The kernel stops when it has made a number of events or when a policy is to be asked
about the users present, and goes on as if nothing had happened.

A task fits on a node if every resource has room for it. Of a resource counted in devices a demand below 1
fits if one device has so large a part free, and takes it from the device that is left with least (of equals
the first); a whole demand takes the first empty devices.

The rules of :mod:`queueing.simulation.tasks.placement` say on which of the nodes where it fits the task
runs; a server is a node here.
"""

from __future__ import annotations

from queueing.replays import state as at
from queueing.replays.state import (
    NOBODY,
    Given,
    State,
    arrive,
    block,
    choose,
    rescore,
    start_waiting,
    unblock,
)
from queueing.simulation import kernels
from queueing.simulation.kernels import kernel, part, pop, push
from queueing.simulation.tasks import placement, workload
from queueing.simulation.tasks.placement import ROUNDING, server_choice
from queueing.simulation.tasks.workload import uniform

__all__ = ["DONE", "NO_TARGETS", "advance", "count_in", "fits", "place", "tally"]


@part
def fits(given: Given, state: State, t: int, node: int) -> bool:
    """Whether the type may run on a node that has room for a task."""
    if not given.allowed[t, given.kind_of[node]]:
        return False
    for r in range(given.demands.shape[1]):
        if state.used[node, r] + given.demands[t, r] > given.room[node, r]:
            return False
    if given.device != NOBODY:
        wanted = given.demands[t, given.device]
        if wanted >= 1.0:
            return bool(state.empty[node] >= wanted)
        if wanted > 0.0:
            return bool(wanted <= state.widest[node] + ROUNDING)
    return True


@part
def _held(given: Given, state: State, t: int, node: int, r: int) -> float:
    """Units of a resource that a task holds."""
    return float(given.demands[t, r])


@part
def _room(given: Given, state: State, t: int, node: int) -> float:
    """Mean share of the resources of a node that is free once the task runs there."""
    return float(state.free_share[node] - given.cost[t, given.kind_of[node]])


@part
def _draw(given: Given, state: State, number: int) -> int:
    """A uniform number of 0, ..., number - 1."""
    drawn = int(uniform(given.seed, state.counters[at.DRAWN]) * number)
    state.counters[at.DRAWN] += 1
    return drawn


_choice = server_choice(fits, _held, _room, _draw)


@part
def place(given: Given, state: State, t: int) -> int:
    """Node for a task of the type, or NOBODY."""
    first, last = 0, len(given.capacities)
    if not given.blocking and state.since[t] == state.counters[at.INSTANT]:
        first = state.only[t]
        last = first + 1
    return _choice(given, state, given.place, given.choices, t, first, last, state.fitting)


@part
def occupy(given: Given, state: State, task: int, node: int) -> None:
    """A task starts on a node where it fits."""
    t = given.type_of[task]
    if given.device != NOBODY:
        state.devices_of[task] = _devices(given, state, t, node)
    count_in(given, state, task, node)
    tally(given, state, node)


@part
def count_in(given: Given, state: State, task: int, node: int) -> None:
    """Count a task among those that run on a node, as the newest."""
    _add(given, state, task, node)
    state.older[task] = state.newest[node]
    state.newer[task] = NOBODY
    if state.newest[node] == NOBODY:
        state.oldest[node] = task
    else:
        state.newer[state.newest[node]] = task
    state.newest[node] = task


@part
def release(given: Given, state: State, task: int) -> int:
    """A task ends; its node, where all that is in use is summed afresh."""
    node = state.node_of[task]
    older, newer = state.older[task], state.newer[task]
    if older == NOBODY:
        state.oldest[node] = newer
    else:
        state.newer[older] = newer
    if newer == NOBODY:
        state.newest[node] = older
    else:
        state.older[newer] = older
    for r in range(given.demands.shape[1]):
        state.used[node, r] = 0.0
    for d in range(given.n_devices[node]):
        state.device_used[node, d] = 0.0
    other = state.oldest[node]
    while other != NOBODY:
        _add(given, state, other, node)
        other = state.newer[other]
    tally(given, state, node)
    return int(node)


@part
def _devices(given: Given, state: State, t: int, node: int) -> int:
    """Devices that a task takes, bit by bit."""
    wanted = given.demands[t, given.device]
    taken = 0
    if wanted >= 1.0:
        for d in range(given.n_devices[node]):
            if wanted >= 1.0 and state.device_used[node, d] == 0.0:
                taken |= 1 << d
                wanted -= 1.0
    elif wanted > 0.0:
        best = NOBODY
        for d in range(given.n_devices[node]):
            used = state.device_used[node, d]
            # As in ``fits``, to the last bit.
            room = wanted <= max(0.0, 1.0 - used) + ROUNDING
            if room and (best == NOBODY or used > state.device_used[node, best]):
                best = d
        taken = 1 << best
    return taken


@part
def _add(given: Given, state: State, task: int, node: int) -> None:
    """What a task holds, added to what is in use."""
    t = given.type_of[task]
    for r in range(given.demands.shape[1]):
        state.used[node, r] += given.demands[t, r]
    if given.device != NOBODY:
        taken = state.devices_of[task]
        d = 0
        while taken > 0:
            if taken & 1:
                state.device_used[node, d] += min(given.demands[t, given.device], 1.0)
            taken >>= 1
            d += 1


@part
def tally(given: Given, state: State, node: int) -> None:
    """Mean free share of a node, and the room on its devices."""
    free, owned = 0.0, 0
    for r in range(given.demands.shape[1]):
        capacity = given.capacities[node, r]
        if capacity > 0:
            free += (capacity - state.used[node, r]) / capacity
            owned += 1
    state.free_share[node] = free / max(owned, 1)
    if given.device != NOBODY:
        state.empty[node] = 0
        state.widest[node] = 0.0
        for d in range(given.n_devices[node]):
            used = state.device_used[node, d]
            if used == 0.0:
                state.empty[node] += 1
            state.widest[node] = max(state.widest[node], 1.0 - used)


DONE, MORE, NO_TARGETS = range(3)
"""Why the kernel stops."""


@kernel(kernels, at, placement, workload)
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
