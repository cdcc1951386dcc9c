r"""Kernel of the placement rules: the server of a task that starts, or of a job that arrives.

:mod:`queueing.simulation.tasks.placement` defines the rules.
"""

from __future__ import annotations

import numpy as np

from queueing.simulation.kernels import part
from queueing.simulation.tasks.candidates import PLACE_DRAWS, PlacedModel, PlacedState
from queueing.simulation.tasks.dispatch import NOBODY
from queueing.simulation.tasks.placement import (
    ALIGNED,
    BOUND_RANDOM,
    BOUND_ROUND_ROBIN,
    CHOICES,
    FIRST,
    LEAST_ROOM,
    RANDOM,
)
from queueing.simulation.tasks.workload import uniform

__all__ = ["SAME_ROOM", "bind", "place"]

PLACES = 3
"""Entry of PlacedModel.seeds for the draws of the rules."""
SAME_ROOM = 1e-12
"""Scores closer than this are equal: the same fraction computed from different tasks."""


@part
def place(model: PlacedModel, state: PlacedState, t: int) -> int:
    """Server for a task of type t, among those where it fits."""
    kind = model.place.kind
    servers = state.on.shape[1]
    if kind == RANDOM:
        return _nth(state.fits[t], _draw(model, state, state.servers[t]))
    if kind == CHOICES:
        best = _nth(state.fits[t], _draw(model, state, state.servers[t]))
        score = _room(model, state, t, best)
        for _ in range(model.place.choices - 1):
            server = _nth(state.fits[t], _draw(model, state, state.servers[t]))
            other = _room(model, state, t, server)
            if other > score + SAME_ROOM or (other >= score - SAME_ROOM and server < best):
                best, score = server, other
        return best
    best = NOBODY
    score = 0.0
    for server in range(servers):
        if state.fits[t, server]:
            if kind == FIRST:
                return server
            if kind == ALIGNED:
                other = 0.0
                for r in range(model.held.shape[2]):
                    capacity = model.capacities[server, r]
                    if capacity > 0:
                        free = (capacity - state.used[server, r]) / capacity
                        other += model.held[t, server, r] / capacity * free
            else:
                other = _room(model, state, t, server)
                if kind == LEAST_ROOM:
                    other = -other
            if best == NOBODY or other > score + SAME_ROOM:
                best, score = server, other
    return best


@part
def _room(model: PlacedModel, state: PlacedState, t: int, server: int) -> float:
    """Mean share of the resources of a server that is free once the task runs there."""
    room = 0.0
    owned = 0
    for r in range(model.held.shape[2]):
        capacity = model.capacities[server, r]
        if capacity > 0:
            room += (capacity - state.used[server, r] - model.held[t, server, r]) / capacity
            owned += 1
    return room / owned


@part
def bind(model: PlacedModel, state: PlacedState, i: int) -> int:
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
        best = (state.turn[i] + 1) % servers
        while not allowed[best]:
            best = (best + 1) % servers
        state.turn[i] = best
    elif choices > 0:
        for _ in range(choices):
            server = _nth(allowed, _draw(model, state, number))
            fewer = best == NOBODY or state.bound[server] < state.bound[best]
            if fewer or (state.bound[server] == state.bound[best] and server < best):
                best = server
    else:
        for server in range(servers):
            if allowed[server] and (best == NOBODY or state.bound[server] < state.bound[best]):
                best = server
    state.bound[best] += 1
    return best


@part
def _draw(model: PlacedModel, state: PlacedState, number: int) -> int:
    """A uniform number of 0, ..., number - 1."""
    drawn = int(uniform(model.seeds[PLACES], state.counters[PLACE_DRAWS]) * number)
    state.counters[PLACE_DRAWS] += 1
    return drawn


@part
def _nth(where: np.ndarray, number: int) -> int:
    """The place of true number ``number``, counted from 0."""
    for server in range(len(where)):
        if where[server]:
            if number == 0:
                return server
            number -= 1
    return NOBODY
