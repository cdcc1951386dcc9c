"""The table of a policy that a simulation reads, and that grows when the simulation leaves it.

States are never truncated: a simulation stops at the edge of its table, the table is doubled along the axes
that were left, and the simulation goes on from the same state with the same random numbers.
"""

from __future__ import annotations

import math
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairness.errors import ModelError
from fairness.memory import require_memory
from fairness.policies.protocol import Policy, policy_name
from fairness.policies.servers.protocol import ClusterPolicy
from fairness.problem import FloatArray
from queueing.system import System
from queueing.table import Table, tabulate

__all__ = ["GrowingTable"]

FIRST_TABLE = 1024
"""States of the first table, before any doubling."""


class GrowingTable:
    """Tasks of a policy on a grid of job counts that grows on demand.

    Threads may share it: a larger table replaces the old one as a whole, and all tables agree where they
    overlap. One thread computes it; those that need it wait.
    """

    def __init__(self, system: System, policy: Policy | ClusterPolicy, table: Table | None = None) -> None:
        problem = system.problem
        name = policy_name(policy)
        self.policy = policy
        if table is None:
            live = system.arrival_rates > 0
            side = max(2, int(FIRST_TABLE ** (1 / live.sum()) + 1e-9))
            require_memory(
                8.0 * problem.n_classes * float(side) ** int(live.sum()),
                f"a table with {side} states for each of the {int(live.sum())} classes that have arrivals",
                "simulate fewer classes",
            )
            table = tabulate(problem, policy, [side if on else 1 for on in live])
        elif not (isinstance(table, Table) and table.is_of(problem, policy)):
            raise ModelError(
                f"table must be made for the problem of the system and the policy {name}; got {table!r}"
            )
        self.table = table
        self._growing = Lock()

    def __getstate__(self) -> dict[str, Any]:
        """All but the lock: a copy in another process grows by itself."""
        return {name: value for name, value in self.__dict__.items() if name != "_growing"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """A copy with a lock of its own."""
        self.__dict__.update(state)
        self._growing = Lock()

    def covering(self, counts: NDArray[np.int64]) -> Table:
        """Table that holds the state ``counts``, each axis doubled until it does."""
        table = self.table
        if all(x < size for size, x in zip(table.shape, counts, strict=True)):
            return table
        with self._growing:
            return self._grown(counts)

    def _grown(self, counts: NDArray[np.int64]) -> Table:
        """The table, which another thread may have enlarged meanwhile, enlarged where that is needed."""
        table = self.table
        shape = tuple(_doubled(size, int(x)) for size, x in zip(table.shape, counts, strict=True))
        if shape != table.shape:
            # The new table beside the old one.
            require_memory(
                2 * 8.0 * len(shape) * math.prod(shape),
                f"the simulation under {table.policy} has reached state {counts.tolist()}: its table",
                "the policy may be unstable at this load, or there are too many classes for a table; reduce "
                "arrival_rates, events or the number of classes",
            )
            table = self.table = tabulate(table.problem, self.policy, shape, known=table)
        return table


def kernel_table(table: Table) -> tuple[FloatArray, NDArray[np.int64]]:
    """Tasks per state in C order, (n_states, n_classes), and the shape as an array."""
    return table.tasks.reshape(-1, table.tasks.shape[-1]), np.array(table.shape, dtype=np.int64)


def _doubled(size: int, count: int) -> int:
    while size <= count:
        size *= 2
    return size
