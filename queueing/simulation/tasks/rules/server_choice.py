"""Kernel of the placement rules: the server for a task, among those where it fits.

:mod:`queueing.simulation.tasks.rules.placement` defines the rules; what a server is, each engine says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fairness.machine.kernels import IntArray
from queueing.simulation.kernels import part
from queueing.simulation.tasks.rules.placement import ALIGNED, CHOICES, FIRST, LEAST_ROOM

__all__ = ["ROUNDING", "SAME_ROOM", "server_choice"]

SAME_ROOM = 1e-12
"""Scores closer than this are equal: the same fraction computed from different tasks."""

ROUNDING = 1e-12
"""A task fits if usage exceeds capacity by no more than this part: sums of demands like 0.1 are not exact."""

NONE = -1


def server_choice(
    fits: Callable[..., bool],
    held: Callable[..., float],
    room: Callable[..., float],
    draw: Callable[..., int],
) -> Callable[..., int]:
    """A kernel ``place(model, state, kind, choices, t, first, last, fitting)`` of some engine.

    It gives the server, of those from ``first`` to ``last`` - 1, for a task of type t, or -1 where it fits on
    none; ``model`` has the ``capacities`` and ``state`` what is ``used``, (n_servers, n_resources), and in
    ``fitting`` there is room for all servers.

    Parameters
    ----------
    fits, held, room : callable
        Of (model, state, t, server), helpers of kernels: whether a task fits; the units that it holds there,
        of a resource that comes last; the mean share that is free once it runs there.
    draw : callable
        Of (model, state, number): a uniform number of 0, ..., number - 1.
    """

    @part
    def alignment(model: Any, state: Any, t: int, server: int) -> float:
        aligned = 0.0
        for r in range(model.capacities.shape[1]):
            capacity = model.capacities[server, r]
            if capacity > 0:
                free = (capacity - state.used[server, r]) / capacity
                aligned += held(model, state, t, server, r) / capacity * free
        return aligned

    @part
    def place(
        model: Any, state: Any, kind: int, choices: int, t: int, first: int, last: int, fitting: IntArray
    ) -> int:
        found, best, score = 0, NONE, 0.0
        for server in range(first, last):
            if fits(model, state, t, server):
                if kind == FIRST:
                    return server
                if kind == CHOICES:
                    fitting[found] = server
                    found += 1
                    continue
                other = (
                    alignment(model, state, t, server) if kind == ALIGNED else room(model, state, t, server)
                )
                if kind == LEAST_ROOM:
                    other = -other
                if best == NONE or other > score + SAME_ROOM:
                    best, score = server, other
        if found == 0:
            return best
        for k in range(choices):
            server = fitting[draw(model, state, found)]
            other = room(model, state, t, server)
            equal = other >= score - SAME_ROOM and server < best
            if k == 0 or other > score + SAME_ROOM or equal:
                best, score = server, other
        return best

    return place
