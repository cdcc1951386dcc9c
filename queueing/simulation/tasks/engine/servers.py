r"""Kernel of the servers: what is in use there, where a task or a job goes, and the time that is lost.

:mod:`queueing.simulation.tasks.rules.placement` defines the rules.

Time is called *fragmented* while some job could start a task if free capacity were not spread over servers:
for a type t that a job may start, :math:`\sum_i f_{ir}/h_{tir} \ge 1` for every resource, over the servers
where t may run.
"""

from __future__ import annotations

import numpy as np

from queueing.simulation.kernels import part
from queueing.simulation.tasks.engine import state as at
from queueing.simulation.tasks.engine.state import NOBODY, Model, Places, State
from queueing.simulation.tasks.rules.placement import BOUND_RANDOM, BOUND_ROUND_ROBIN
from queueing.simulation.tasks.rules.server_choice import SAME_ROOM, server_choice
from queueing.simulation.tasks.rules.workload import uniform

__all__ = ["bind", "count_waits", "occupy", "place"]


@part
def occupy(model: Model, state: State, places: Places | None, t: int, server: int, step: int) -> None:
    """One task more (+1) or less (-1) on a server: units in use, and what fits there."""
    _, n, m = model.held.shape
    state.running[t] += step
    if places is not None:
        state.on[server, t] += step
    for r in range(m):
        # Afresh from the whole numbers of tasks, so that no rounding accumulates.
        used = 0.0
        for k in range(n):
            tasks = state.running[k] if places is None else state.on[server, k]
            used += tasks * model.held[server, k, r]
        state.used[server, r] = used
    for k in range(n):
        fits = True
        if places is not None:
            fits = model.eligible[server, k]
        for r in range(m):
            held = model.held[server, k, r]
            if held > 0 and state.used[server, r] + held > model.room[server, r]:
                fits = False
        if places is not None:
            places.servers[k] += int(fits) - int(state.fits[server, k])
        state.fits[server, k] = fits


@part
def _fits(model: Model, state: State, t: int, server: int) -> bool:
    """Whether a task of type t fits on a server."""
    return bool(state.fits[server, t])


@part
def _held(model: Model, state: State, t: int, server: int, r: int) -> float:
    """Units of a resource of a server that a task of type t holds there."""
    return float(model.held[server, t, r])


@part
def _room(model: Model, state: State, t: int, server: int) -> float:
    """Mean share of the resources of a server that is free once the task runs there."""
    room = 0.0
    owned = 0
    for r in range(model.held.shape[2]):
        capacity = model.capacities[server, r]
        if capacity > 0:
            room += (capacity - state.used[server, r] - model.held[server, t, r]) / capacity
            owned += 1
    return room / owned


@part
def _draw(model: Model, state: State, number: int) -> int:
    """A uniform number of 0, ..., number - 1."""
    drawn = int(uniform(model.seeds[at.PLACES], state.counters[at.PLACE_DRAWS]) * number)
    state.counters[at.PLACE_DRAWS] += 1
    return drawn


_choice = server_choice(_fits, _held, _room, _draw)


@part
def place(model: Model, state: State, places: Places, t: int) -> int:
    """Server for a task of type t, among those where it fits."""
    kind, choices = model.place.kind, model.place.choices
    return _choice(model, state, kind, choices, t, 0, len(state.on), places.fitting)


@part
def bind(model: Model, state: State, places: Places, i: int) -> int:
    """Server to which an arriving job is bound."""
    allowed = model.allowed[i]
    servers = len(allowed)
    number = 0
    for server in range(servers):
        number += allowed[server]
    kind, choices = model.place.kind, model.place.choices
    best = NOBODY
    if kind == BOUND_RANDOM:
        best = _nth(allowed, _draw(model, state, number))
    elif kind == BOUND_ROUND_ROBIN:
        best = (places.turn[i] + 1) % servers
        while not allowed[best]:
            best = (best + 1) % servers
        places.turn[i] = best
    elif choices > 0:
        for _ in range(choices):
            server = _nth(allowed, _draw(model, state, number))
            fewer = best == NOBODY or places.bound[server] < places.bound[best]
            if fewer or (places.bound[server] == places.bound[best] and server < best):
                best = server
    else:
        for server in range(servers):
            if allowed[server] and (best == NOBODY or places.bound[server] < places.bound[best]):
                best = server
    places.bound[best] += 1
    return best


@part
def _nth(where: np.ndarray, number: int) -> int:
    """The place of true number ``number``, counted from 0."""
    for server in range(len(where)):
        if where[server]:
            if number == 0:
                return server
            number -= 1
    return NOBODY


@part
def count_waits(model: Model, state: State, places: Places, elapsed: float) -> None:
    """Time with a candidate, and time with one whose task the free amounts together would hold."""
    servers, n, m = model.held.shape
    waits = False
    for t in range(n):
        if places.wanted[t] > 0:
            waits = True
            together = True
            for r in range(m):
                tasks = 0.0
                demanded = False
                for server in range(servers):
                    if model.held[server, t, r] > 0:
                        demanded = True
                        free = model.capacities[server, r] - state.used[server, r]
                        tasks += free / model.held[server, t, r]
                if demanded and tasks < 1.0 - SAME_ROOM:
                    together = False
                    break
            if together:
                places.lost[at.FRAGMENTED] += elapsed
                break
    if waits:
        places.lost[at.WAITED] += elapsed
