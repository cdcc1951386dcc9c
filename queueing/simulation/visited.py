r"""What a simulation knows of its policy: a table over all counts, or the states that each run has visited.

A table is the faster road while it is small: one addition leads from a state to the next, and its states are
computed in large batches. But it holds the product of all counts. Where it would hold more than
:data:`LARGEST_TABLE` states, or on a cluster, where a state costs a thousand times as much,
:data:`LARGEST_OF_CLUSTER`, every run keeps the states it visits instead and asks the policy about a new one
when it gets there (:mod:`fairness.protocol.following`). They are forgotten all at once when they fill
:data:`ROOM`. What a run finds does not depend on other runs, so neither does its result.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from typing import Any

import numpy as np

from fairness.machine.kernels import IntArray
from fairness.machine.work import Task, current_watch
from fairness.protocol.cluster_policy import ClusterPolicy
from fairness.protocol.following import follow
from fairness.protocol.policy import Policy, policy_name
from queueing.model.system import System
from queueing.simulation.lookup import MISSING, Lookup, remember, table_lookup, visited_lookup
from queueing.states.growing_table import GrowingTable, largest_counts
from queueing.states.table import Table, check_table

__all__ = ["PolicySource", "Reader", "largest_grid"]

LARGEST_TABLE = 2**22
"""States of a pool up to which a table is the road."""

LARGEST_OF_CLUSTER = 2**17
"""States of a cluster up to which a table is the road."""

MANY = 64.0
"""Jobs of each class that recorded jobs may pile up to, where their load tells nothing."""

ROOM = 2**27
"""Bytes that the visited states of a run may take."""

SAMPLE = 32
"""States from which the time of the policy is read."""

CHECKED = 64
"""New states between two looks at the clock."""


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

    Attributes
    ----------
    table : GrowingTable or None
        What all runs share; None if each keeps the states that it visits.
    """

    def __init__(
        self, system: System, policy: Policy | ClusterPolicy, table: Table | None, events: float = 1e6
    ) -> None:
        self.problem, self.policy = system.problem, policy
        self.name = policy_name(policy)
        self.table = None
        check_table("table", table, system.problem, policy)
        self.watch = current_watch()
        # Recorded jobs may overload a system: nothing tells then how far it will go.
        stable = system.relative_loads.max(initial=0.0) < 1
        largest = largest_counts(system, events) if stable else np.full(system.n_classes, MANY)
        most = LARGEST_OF_CLUSTER if system.is_cluster else LARGEST_TABLE
        if table is not None or np.log1p(largest).sum() <= math.log(max(most, 1)):
            instead = "simulate less, or at a lower load" if table is None else "leave table out"
            self.table = GrowingTable(system, policy, table, events, instead)
        else:
            self._announce(events)

    def __getstate__(self) -> dict[str, Any]:
        """A copy in another process is watched by nobody."""
        return {name: value for name, value in self.__dict__.items() if name != "watch"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """A copy is watched by who watches there."""
        self.__dict__.update(state, watch=current_watch())

    def _announce(self, events: float) -> None:
        """Say how long it takes if no state is visited twice."""
        follower = follow(self.problem, self.policy)
        counts = np.random.default_rng(0).geometric(0.5, (SAMPLE, self.problem.n_classes)) - 1.0
        follower(counts[0])  # which may have to compile
        # Not by the clock on the wall, which also runs while others have the machine.
        begin = time.process_time()
        for state in counts:
            follower(state)
        seconds = (time.process_time() - begin) / SAMPLE * events
        what = f"asking {self.name} about {self.problem.n_classes} classes, state by state"
        with Task(what, events, "events", seconds, "simulate less"):
            pass

    def reader(self) -> Reader:
        """What one run reads."""
        return Reader(self)


class Reader:
    """Rows of a policy for one run.

    Attributes
    ----------
    shape : tuple of int or None
        Grid of the table; None without one.
    """

    def __init__(self, source: PolicySource) -> None:
        self.source = source
        self.shape: tuple[int, ...] | None = None
        if source.table is None:
            n = source.problem.n_classes
            self._follower = follow(source.problem, source.policy)
            self._lookup = visited_lookup(n, max(2, ROOM // (12 * n + 32)))
            self._used = 0

    def at(self, counts: IntArray) -> Lookup:
        """Lookup that has a row for a state in which the last one had none."""
        if self.source.table is not None:
            table = self.source.table.covering(counts)
            self.shape = table.shape
            return table_lookup(table)
        if self._used % CHECKED == 0:
            # Threads of a simulation do not inherit who watches it.
            self.source.watch.check("the simulation")
        if self._used == len(self._lookup.tasks):
            self._lookup.slots[:] = MISSING
            self._used = 0
        remember(self._lookup, self._used, counts, self._follower(counts.astype(float)))
        self._used += 1
        return self._lookup


def largest_grid(shapes: Iterable[tuple[int, ...] | None]) -> tuple[int, ...] | None:
    """Grid of the tables of all runs together; None without tables."""
    grids = [shape for shape in shapes if shape is not None]
    return tuple(int(k) for k in np.max(grids, axis=0)) if grids else None
