r"""Kernel of the nodes: what is in use there, and where a task goes.

A task fits on a node if every resource has room for it. Of a resource counted in devices a demand below 1
fits if one device has so large a part free, and takes it from the device that is left with least (of equals
the first); a whole demand takes the first empty devices.

The rules of :mod:`queueing.simulation.tasks.rules.placement` say on which of the nodes where it fits the task
runs; a server is a node here.
"""

from __future__ import annotations

from queueing.replays.engine import state as at
from queueing.replays.engine.state import NOBODY, Given, State
from queueing.simulation.kernels import part
from queueing.simulation.tasks.rules.server_choice import ROUNDING, server_choice
from queueing.simulation.tasks.rules.workload import uniform

__all__ = ["count_in", "fits", "occupy", "place", "release", "tally"]


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
