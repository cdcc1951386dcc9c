r"""What a simulation knows of its policy: a table over all counts, or the states that each run has visited.

A table is the faster road while it is small: one addition leads from a state to the next, and its states are
computed in large batches. But it holds the product of all counts. Where that is more states than the runs
make events, or than :data:`LARGEST_TABLE`, or on a cluster, where a state costs as much as a hundred events,
:data:`LARGEST_OF_CLUSTER`, every run keeps the states it visits instead and asks the policy about a new one
when it gets there (:mod:`fairness.protocol.following`). They are forgotten all at once when they fill
:data:`ROOM`. What a run finds does not depend on other runs, so neither does its result: of a shared table
each run reads the grid that it has needed itself.

Jobs that a policy never serves pile up without end. A run that knows no state in which a class is served
asks, once :data:`WAITING` jobs of the class are there, about states with any number of them alone, and ends
if these have no tasks either.

The jobs present change at few events of whole tasks, so there a table may have no more states than they
change. And whole tasks carry less than the fluid load, by which tables are guessed, so a run that needs a
larger one goes on with visited states. A run of counts or jobs does not: its policy may be unstable.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from fairness.errors import UnstableError
from fairness.machine.kernels import IntArray
from fairness.protocol.calling import OneState, policy_tasks
from fairness.protocol.cluster_policy import ClusterPolicy
from fairness.protocol.following import Question, follow
from fairness.protocol.policy import Policy, policy_name
from queueing.model.system import System
from queueing.simulation.state_rows import MISSING, Lookup, read_only, remember, table_lookup, visited_lookup
from queueing.states.growing_table import LESS, GrowingTable, doubled, largest_counts
from queueing.states.table import Table, check_table

__all__ = ["PolicySource", "Reader", "largest_grid"]

LARGEST_TABLE = 2**22
"""States of a pool up to which a table is the road."""

LARGEST_OF_CLUSTER = 2**14
"""States of a cluster up to which a table is the road: most states of a larger one are never visited."""

SMALL_TABLE = 2**14
"""States up to which a table pays however short the runs are."""

PER_STATE = 16.0
"""Events per state from which a table pays whose states are asked for one by one: runs visit fewer."""

MANY = 64.0
"""Jobs of each class that recorded jobs may pile up to, where their load tells nothing."""

ROOM = 2**27
"""Bytes that the visited states of a run may take."""

WAITING = 64
"""Jobs of a class at which it is first asked whether the policy serves it at all; again when they double."""

ANY_NUMBER = 2.0 ** np.arange(41)
"""Numbers of jobs of a class alone about which the policy is asked then."""


class PolicySource:
    """A policy as the runs of a simulation read it.

    Parameters
    ----------
    system : System
    policy : callable
    table : Table, optional
        One to begin with: then a table is the road.
    events : float
        Events that all runs make together, for the guess of its size.
    left : bool
        Whether a table may have so many states at most, and a run that needs more visits them.

    Attributes
    ----------
    table : GrowingTable or None
        What all runs share; None if each keeps the states that it visits.
    largest : float
        States up to which runs read the table.
    """

    def __init__(
        self,
        system: System,
        policy: Policy | ClusterPolicy,
        table: Table | None,
        events: float = 1e6,
        *,
        left: bool = False,
    ) -> None:
        self.problem, self.policy = system.problem, policy
        self.name = policy_name(policy)
        self.table = None
        check_table("table", table, system.problem, policy)
        # Recorded jobs may overload a system: nothing tells then how far it will go.
        stable = system.relative_loads.max(initial=0.0) < 1
        largest = largest_counts(system, events) if stable else np.full(system.n_classes, MANY)
        most = float(LARGEST_OF_CLUSTER if system.is_cluster else LARGEST_TABLE)
        # Runs visit no more states than they make events.
        most = min(most, events if left else max(events, SMALL_TABLE))
        if isinstance(policy, OneState):
            most = min(most, events / PER_STATE)
        self.largest = most if left else math.inf
        # Schedulers of whole tasks may start what has no target, and have a limit of their own.
        self.waiting = math.inf if left else WAITING
        if table is not None or np.log1p(largest).sum() <= math.log(max(most, 1)):
            instead = LESS if table is None else "leave table out"
            self.table = GrowingTable(system, policy, table, events, instead)

    def reader(self) -> Reader:
        """What one run reads."""
        return Reader(self)


class Reader:
    """Rows of a policy for one run.

    Attributes
    ----------
    shape : tuple of int or None
        Grid of the table; None without one.
    answers : tuple
        What kernels ask by themselves, :class:`~fairness.protocol.following.Answers` or two Nones.
    """

    def __init__(self, source: PolicySource) -> None:
        self.source, self._waiting = source, source.waiting
        self.shape: tuple[int, ...] | None = None
        self.answers: tuple[Any, Question | None] = None, None
        if source.table is None:
            self._visit()
        else:
            self.shape = source.table.first

    def _visit(self) -> None:
        """Make room for visited states."""
        problem, n = self.source.problem, self.source.problem.n_classes
        self.shape = None
        self._follower = follow(problem, self.source.policy)
        self.answers = getattr(self._follower, "answers", None) or self.answers
        self._lookup = visited_lookup(n, max(2, ROOM // (12 * n + 32)))

    def at(self, counts: IntArray) -> Lookup:
        """Lookup that has a row for a state in which the last one had none.

        Raises
        ------
        UnstableError
            If the policy never serves a class of which many jobs are waiting.
        """
        if counts.max() >= self._waiting:
            self._require_service(counts)
            self._waiting = 2 * int(counts.max())
        if self.source.table is not None and self.shape is not None:
            shape = doubled(self.shape, counts)
            if shape == self.shape or math.prod(shape) <= self.source.largest:
                self.shape = shape
                return table_lookup(self.source.table.covering(counts), shape)
            self._visit()
        if self._lookup.used[0] == len(self._lookup.tasks):
            self._lookup.slots[:] = MISSING
            self._lookup.used[0] = 0
        remember(self._lookup, counts, self._follower(counts.astype(float)))
        # Kernels that ask nothing enter no states: one type for tables and for visited states.
        return read_only(self._lookup) if self.answers[0] is None else self._lookup

    def _require_service(self, counts: IntArray) -> None:
        """Refuse a policy under which a class has no tasks in any state known, nor alone."""
        source, n = self.source, len(counts)
        if source.table is not None and self.shape is not None:
            known = source.table.table.tasks.reshape(-1, n)
        else:
            known = self._lookup.tasks[: self._lookup.used[0]]
        for i in np.flatnonzero((counts >= self._waiting) & ~known.any(axis=0)):
            alone = ANY_NUMBER[:, None] * (np.arange(n) == i)
            if not policy_tasks(source.problem, source.policy, alone)[:, i].any():
                raise UnstableError(
                    f"{source.name} gives class {source.problem.job_classes[i]!r} no tasks, neither in the "
                    f"{len(known):,} states known so far nor alone, and {counts[i]:,} of its jobs wait: they "
                    "would never leave; take a policy that serves it, or set its arrival_rates to 0"
                )


def largest_grid(shapes: Iterable[tuple[int, ...] | None]) -> tuple[int, ...] | None:
    """Grid of the tables of all runs together; None without tables."""
    grids = [shape for shape in shapes if shape is not None]
    return tuple(int(k) for k in np.max(grids, axis=0)) if grids else None
