r"""Placement rules: on which server of a cluster a whole task runs.

A task of class :math:`n` runs on one server :math:`i`, where it holds :math:`h_{nir} = b_{nir} c_{ir}` units
of resource r (its demand, scaled by gamma where given). It *fits* if these are free. Either the
scheduler says whose task starts next, and then the rule picks a server among those where it fits; or a job is
bound to one server when it arrives (*load balancing*), and the scheduler works on each server for the jobs
bound to it.

With the free amounts :math:`f_{ir}` the rules of the first kind are

* **first fit**: the first server where the task fits;
* **best fit**: the server that is left with the least room,
  :math:`\min_i \frac{1}{m_i}\sum_r (f_{ir} - h_{nir})/c_{ir}`, the mean over the :math:`m_i` resources that
  the server has; or, as in [1]_, the server with the largest *alignment* :math:`\sum_r
  (h_{nir}/c_{ir})(f_{ir}/c_{ir})` (in the terms of vector packing [2]_: the norm-based and the dot-product
  heuristic);
* **worst fit**: the server that is left with the most room, the least loaded;
* **random fit**: one of them at random;
* **power of d choices** [3]_: of d of them, drawn independently, the least loaded.

With one resource the alignment grows with the free amount: it then is worst fit, not best fit. Scores that
differ by less than 1e-12 are equal, and the first server wins.

The kernel of the rules leaves it to each engine what a server is: a whole task's, or a node of a replay.

References
----------
.. [1] R. Grandl, G. Ananthanarayanan, S. Kandula, S. Rao and A. Akella, "Multi-resource packing for
   cluster schedulers", SIGCOMM 2014. DOI 10.1145/2619239.2626334.
.. [2] R. Panigrahy, K. Talwar, L. Uyeda and U. Wieder, "Heuristics for vector bin packing", Microsoft
   Research, 2011.
.. [3] M. Mitzenmacher, "The power of two choices in randomized load balancing", IEEE Transactions on Parallel
   and Distributed Systems 12(10), 2001. DOI 10.1109/71.963420.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from fairness.arguments.validation import IntArray, require_choice, require_whole
from fairness.errors import ModelError
from queueing.simulation.kernels import part

__all__ = [
    "ROUNDING",
    "SAME_ROOM",
    "BestFit",
    "FirstFit",
    "OnArrival",
    "Placement",
    "PlacementRule",
    "PowerOfChoices",
    "RandomFit",
    "WorstFit",
    "server_choice",
]

FIRST, LEAST_ROOM, MOST_ROOM, ALIGNED, CHOICES = range(5)
BOUND_RANDOM, BOUND_ROUND_ROBIN, BOUND_SHORTEST = range(3)

SCORES = {"remaining": LEAST_ROOM, "alignment": ALIGNED}
ON_ARRIVAL = ("random", "round robin", "shortest queue")


class PlacementRule(NamedTuple):
    """A placement rule in the form that the kernel reads; ``choices`` is 0 where all servers are compared."""

    kind: int
    choices: int
    bound: bool


class Placement(Protocol):
    """What the task-level simulator needs from a placement rule."""

    @property
    def name(self) -> str:
        """Name for tables and legends."""
        ...

    def placement_rule(self) -> PlacementRule:
        """The rule in the form that the kernel reads."""
        ...


@dataclass(frozen=True)
class FirstFit:
    """The first server, in the order of the cluster, where the task fits."""

    name = "first fit"

    def placement_rule(self) -> PlacementRule:
        """The rule in the form that the kernel reads."""
        return PlacementRule(FIRST, 0, False)


@dataclass(frozen=True)
class BestFit:
    """The server that the task fills best.

    Parameters
    ----------
    score : {"remaining", "alignment"}
        The least room left, or the largest alignment of demands and free amounts; see the module docstring.
    """

    score: str = "remaining"

    def __post_init__(self) -> None:
        require_choice("score", self.score, SCORES)

    @property
    def name(self) -> str:
        """Best fit, or alignment."""
        return "best fit" if self.score == "remaining" else "alignment"

    def placement_rule(self) -> PlacementRule:
        """The rule in the form that the kernel reads."""
        return PlacementRule(SCORES[self.score], 0, False)


@dataclass(frozen=True)
class WorstFit:
    """The least loaded server: that with the most room left."""

    name = "worst fit"

    def placement_rule(self) -> PlacementRule:
        """The rule in the form that the kernel reads."""
        return PlacementRule(MOST_ROOM, 0, False)


@dataclass(frozen=True)
class RandomFit:
    """A server at random among those where the task fits."""

    name = "random fit"

    def placement_rule(self) -> PlacementRule:
        """The rule in the form that the kernel reads."""
        return PlacementRule(CHOICES, 1, False)


@dataclass(frozen=True)
class PowerOfChoices:
    """The least loaded of a few servers drawn at random among those where the task fits.

    Servers where the task does not fit are not drawn: the task starts if it fits anywhere.

    Parameters
    ----------
    choices : int
        Draws, independent (a server may be drawn twice), >= 1; 1 is :class:`RandomFit`.
    """

    choices: int = 2

    def __post_init__(self) -> None:
        require_whole("choices", self.choices, 1)

    @property
    def name(self) -> str:
        """Name with the number of draws."""
        return f"{self.choices} choices"

    def placement_rule(self) -> PlacementRule:
        """The rule in the form that the kernel reads."""
        return PlacementRule(CHOICES, int(self.choices), False)


@dataclass(frozen=True)
class OnArrival:
    """A job is bound to one server when it arrives, and all its tasks run there.

    Each server then is a pool of its own, whose scheduler sees the jobs bound to it and their shares of
    this server. A job goes only where all its tasks can run.

    Parameters
    ----------
    rule : {"random", "round robin", "shortest queue"}
        A server at random; the next one after the last job of the same class; the one with the fewest jobs
        (the first of several).
    choices : int, optional
        With "shortest queue": compare only so many servers, drawn independently at random. Default: all.
    """

    rule: str = "shortest queue"
    choices: int | None = None

    def __post_init__(self) -> None:
        require_choice("rule", self.rule, ON_ARRIVAL)
        if self.choices is not None:
            require_whole("choices", self.choices, 1)
            if self.rule != "shortest queue":
                raise ModelError(
                    f"choices={self.choices} has no meaning for the rule {self.rule!r}, which compares no "
                    "servers; leave it out"
                )

    @property
    def name(self) -> str:
        """Name of the rule, with the number of draws."""
        return self.rule if self.choices is None else f"{self.rule} of {self.choices}"

    def placement_rule(self) -> PlacementRule:
        """The rule in the form that the kernel reads."""
        return PlacementRule(ON_ARRIVAL.index(self.rule), int(self.choices or 0), True)


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
