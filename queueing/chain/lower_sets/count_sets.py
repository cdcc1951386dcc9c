"""The chain of the counts of many classes on one lower set after the other, until little is left outside.

As on boxes nothing is lost between two sets: allocations are computed once for every state, and the law on
the smaller set, continued by the recursion of balanced fairness, is where iterations on the larger one begin.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from fairness.display.wording import rough
from fairness.errors import NotConvergedError
from fairness.machine.memory import require_memory
from fairness.machine.work import duration
from fairness.model.problem import FloatArray
from fairness.protocol.calling import policy_tasks
from fairness.protocol.cluster_policy import AnyPolicy
from fairness.protocol.policy import policy_name
from queueing.chain.boxes import Attempt, Boxes, nobody_served
from queueing.chain.lower_sets.faces import Bound, Faces
from queueing.chain.lower_sets.set_chain import SetChain, set_bytes, set_seconds
from queueing.chain.solvers.choose_solver import Solver, solved
from queueing.chain.stationary_law import Stationary
from queueing.chain.tails import Tails
from queueing.chain.truncation import truncation_error
from queueing.model.system import System
from queueing.states.lower_set import LowerSet
from queueing.states.table import Table, evaluate

__all__ = ["CountSets"]

BEYOND = 1.5
"""Times ``max_states`` that the bound may ask for: 0.6 to 1.4 times what solved sets had."""

LISTED = 3e7
"""Sets of about so many states or more are guessed, not listed."""


class CountSets(Boxes[Faces]):
    """Exponential sizes, on sets of states cut off by faces.

    Parameters
    ----------
    system, policy, solver
    table : Table, optional
        Tasks that are known.
    """

    kind = "set"

    def __init__(self, system: System, policy: AnyPolicy, solver: Solver, table: Table | None = None) -> None:
        super().__init__(system, policy, solver)
        self.table = table
        live = np.flatnonzero(system.arrival_rates > 0).tolist()
        bound = Bound.of(system, live)
        # The longest axis last: rows along it are contiguous.
        reach = [bound.reach(row, 1e-3) for row in np.eye(len(live))]
        self.axes = [live[k] for k in np.argsort(reach, kind="stable")]
        self.bound = Bound.of(system, self.axes)
        self._known: tuple[LowerSet, FloatArray, FloatArray] | None = None
        self._most = math.inf

    @property
    def _remedy(self) -> str:
        return "raise tail, simulate" + ("" if self.system.is_cluster else ", or take balanced_fairness")

    def first(self, tail: float) -> Faces:
        """Half of the way to the tail, in decades, so that few of the states are left over in the end."""
        return Faces.of(self.bound, max(math.sqrt(tail), tail))

    def larger(self, region: Faces, tails: Tails, tail: float) -> Faces:
        """Faces further out."""
        wide = region.moved(tails, tail)
        return wide if self.states(wide) <= self._most else region.moved(tails, tail, tight=True)

    def grown(
        self, tail: float, max_states: float, otherwise: Callable[[], Stationary] | None = None
    ) -> Stationary:
        """Law on the first set that leaves at most ``tail`` outside; see :meth:`Boxes.grown`.

        Refused at once where the set that leaves so much under the bound is far too large.
        """
        self._most = max_states
        last = Faces.of(self.bound, tail)
        if self.states(last) > BEYOND * max_states:
            raise NotConvergedError(
                f"a set that leaves at most {tail:g} outside, {self.name(last)}, exceeds "
                f"max_states={max_states:,}; {self._remedy}, or raise max_states",
                residual=1.0,
            )
        return super().grown(tail, max_states, otherwise)

    def states(self, region: Faces) -> float:
        """States of the set, guessed where they would be too many to be listed."""
        guess = region.guessed_states
        return guess if guess > LISTED else region.states.n_states

    def name(self, region: Faces) -> str:
        """The number of states in words, and the time where it is long."""
        states, n = self.states(region), len(self.axes)
        seconds = set_seconds(n, states)
        long = f", about {duration(seconds)} of work" if seconds > 60 else ""
        return f"{n} classes on {f'about {rough(states)}' if states > LISTED else f'{states:,}'} states{long}"

    def attempt(self, region: Faces) -> Attempt:
        """Solve on a set, from the law on the one before."""
        system, axes, remedy = self.system, self.axes, self._remedy
        require_memory(set_bytes(len(axes), self.states(region)), f"the chain of {self.name(region)}", remedy)
        states = region.states
        tasks = self._tasks(states, remedy)
        up, down = system.arrival_rates[axes], np.ascontiguousarray((tasks / system.mean_sizes[axes]).T)
        known = None if self._known is None else self._known[:2]
        chain = SetChain(states, up, down, self.bound, known, name=self.name(region), remedy=remedy)
        solution = solved(chain, self.solver)
        law, tails = solution.law, region.tails(solution.law)
        self._known = states, law, tasks
        cut = partial(truncation_error, up, self._death_rates, states, law)
        name, method = policy_name(self.policy), f"lower set ({solution.method})"
        return Attempt(system, name, method, solution, law, tails, axes, cut, states)

    def _death_rates(self, counts: NDArray[np.int64]) -> FloatArray:
        """Death rates of the classes with arrivals in any states of their counts."""
        system, axes = self.system, self.axes
        whole = np.zeros((len(counts), system.n_classes))
        whole[:, axes] = counts
        tasks: FloatArray = policy_tasks(system.problem, self.policy, whole)[:, axes]
        return tasks / system.mean_sizes[axes]

    def _tasks(self, states: LowerSet, remedy: str) -> FloatArray:
        """Tasks of the classes with arrivals, (n_states, n_axes); those that are known are copied."""
        system, axes = self.system, self.axes
        counts = states.counts()
        tasks = np.zeros(counts.shape)
        missing: NDArray[np.bool_] = np.ones(len(counts), dtype=bool)
        if self._known is not None:
            smaller, _, known = self._known
            place = smaller.places(counts)
            missing = place < 0
            tasks[~missing] = known[place[~missing]]
        if self.table is not None:
            there = np.flatnonzero(missing & np.all(counts < np.array(self.table.shape)[axes], axis=1))
            place = np.zeros((system.n_classes, len(there)), dtype=np.int64)
            place[axes] = counts[there].T
            tasks[there] = self.table.tasks[tuple(place)][:, axes]
            missing[there] = False
        places = np.flatnonzero(missing)

        def at(place: NDArray[np.intp]) -> FloatArray:
            some = np.zeros((len(place), system.n_classes))
            some[:, axes] = counts[places[place]]
            return some

        found = np.empty((len(places), system.n_classes))
        evaluate(system.problem, self.policy, found, range(len(places)), at, f"{len(counts)} states", remedy)
        tasks[places] = found[:, axes]
        # The first state is the empty one.
        idle = np.flatnonzero(~tasks[1:].any(axis=1))
        if len(idle):
            state = np.zeros(system.n_classes, dtype=np.int64)
            state[axes] = counts[1 + idle[0]]
            raise nobody_served(policy_name(self.policy), state)
        return tasks
