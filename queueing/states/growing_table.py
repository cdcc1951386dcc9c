r"""The table of a policy that a simulation reads, and that grows when the simulation leaves it.

States are never truncated: a simulation stops at the edge of its table, the table is doubled along the axes
that were left, and the simulation goes on from the same state with the same random numbers.

How large it becomes is guessed before: if counts are about geometric with means m_i, the largest of N nearly
independent states is about :math:`\log N/\log(1 + 1/m_i)`. Of the events, a part :math:`(1-u)^2` at load u
counts as independent; and no walk goes far beyond the root of their number. The means are those of the
busiest resource alone, or of independent geometric counts on a cluster, so that the guess is rather too
small. A table that could not be held, or would take too long, is refused by it, and what outgrows it by far
is suspected to be unstable.
"""

from __future__ import annotations

import math
import time
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairness.display.wording import rough
from fairness.errors import advised
from fairness.machine.memory import require_memory
from fairness.machine.work import Task, current_watch, watching
from fairness.model.problem import FloatArray
from fairness.protocol.calling import policy_tasks
from fairness.protocol.cluster_policy import AnyPolicy
from fairness.protocol.policy import policy_name
from queueing.model.system import System
from queueing.states.box import count_states
from queueing.states.table import Table, check_table, tabulate

__all__ = ["LESS", "GrowingTable", "doubled", "largest_counts"]

FIRST_TABLE = 1024
"""States of the first table, before any doubling."""

SMALL = 1e5
"""States of a table that need no announcement."""

SAMPLE = 256
"""States from which the time of a table is read."""

SURE = 0.8
"""Part of the guessed counts that the run will reach."""

FAR = 4.0
"""Times the guessed counts from which on a policy is suspected to be unstable."""

LESS = "simulate less, or at a lower load"
"""What to do instead of a large table, unless another remedy is given."""


class GrowingTable:
    """Tasks of a policy on a grid of job counts that grows on demand.

    Threads may share it: a larger table replaces the old one as a whole, and all tables agree where they
    overlap. One thread computes it; those that need it wait.

    Parameters
    ----------
    system : System
    policy : callable
    table : Table, optional
        The first one.
    events : float
        Events that all simulations make together, for the guess of its size.
    instead : str
        What to do where it would become too large.

    Attributes
    ----------
    first : tuple of int
        Grid of the first table.
    """

    def __init__(
        self,
        system: System,
        policy: AnyPolicy,
        table: Table | None = None,
        events: float = 1e6,
        instead: str = LESS,
    ) -> None:
        problem = system.problem
        name = policy_name(policy)
        self.policy, self.instead = policy, instead
        check_table("table", table, problem, policy)
        if table is None:
            live = system.arrival_rates > 0
            side = max(2, int(FIRST_TABLE ** (1 / live.sum()) + 1e-9))
            require_memory(
                8.0 * problem.n_classes * float(side) ** int(live.sum()),
                f"a table with {side} states for each of the {int(live.sum())} classes that have arrivals",
                self.instead,
            )
            table = tabulate(problem, policy, [side if on else 1 for on in live])
        self.table, self.first = table, table.shape
        self._growing = Lock()
        self._watch = current_watch()
        self._expected = largest_counts(system, events)
        self._announce(name)

    def __getstate__(self) -> dict[str, Any]:
        """All but the lock: a copy in another process grows by itself."""
        return {name: value for name, value in self.__dict__.items() if name not in ("_growing", "_watch")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """A copy with a lock of its own."""
        self.__dict__.update(state)
        self._growing = Lock()
        self._watch = current_watch()

    def _announce(self, name: str) -> None:
        """Say how large the table will become, and how long that takes; refuse what cannot be."""
        table = self.table
        sure = np.ceil(SURE * self._expected)
        shape = doubled(table.shape, sure)
        states = count_states(shape)
        if states < SMALL or shape == table.shape:
            return
        classes = int((self._expected > 0).sum())
        what = f"{classes} classes under {name} take a table of about {rough(states)} states, which"
        require_memory(8.0 * len(shape) * states, what, self.instead)
        counts = np.random.default_rng(0).integers(0, shape, (SAMPLE, len(shape))).astype(float)
        # Not by the clock on the wall, which also runs while others have the machine.
        begin = time.process_time()
        policy_tasks(table.problem, self.policy, counts)
        seconds = (time.process_time() - begin) / SAMPLE * states
        with Task(f"the table of {name} for {classes} classes", states, "states", seconds, self.instead):
            pass

    def covering(self, counts: NDArray[np.int64]) -> Table:
        """Table that holds the state ``counts``, each axis doubled until it does."""
        table = self.table
        self._watch.check("the simulation")
        if all(x < size for size, x in zip(table.shape, counts, strict=True)):
            return table
        # Threads of a simulation do not inherit who watches it.
        with self._growing, watching(watch=self._watch):
            return self._grown(counts)

    def _grown(self, counts: NDArray[np.int64]) -> Table:
        """The table, which another thread may have enlarged meanwhile, enlarged where that is needed."""
        table = self.table
        shape = doubled(table.shape, counts)
        if shape != table.shape:
            # The new table beside the old one.
            require_memory(
                2 * 8.0 * len(shape) * math.prod(shape),
                f"the simulation under {table.policy} has reached state {counts.tolist()}: its table",
                "the policy may be unstable at this load; reduce arrival_rates or events"
                if (counts > FAR * np.maximum(self._expected, 1.0)).any()
                else self.instead,
            )
            with advised(self.instead, "shape"):
                table = self.table = tabulate(table.problem, self.policy, shape, known=table)
        return table


def largest_counts(system: System, events: float) -> FloatArray:
    """Largest count of each class in so many events, rather too small; 0 without arrivals or a stable load.

    Examples
    --------
    >>> from fairness import Problem
    >>> largest_counts(System(Problem([[1]], [1]), [0.9]), 1e6).round()
    array([87.])
    """
    free = 1.0 - float(system.relative_loads.max(initial=0.0))
    if free <= 0:
        return np.zeros(system.n_classes)
    if system.is_cluster:
        ratios = system.geometric_ratios(1e-9)
        means = ratios / (1.0 - ratios)
    else:
        problem = system.require_pool("a table")
        gain = system.loads[:, None] * problem.task_shares
        left = np.maximum(1.0 - gain.sum(axis=0), 1e-9)
        means = np.maximum((gain / left).max(axis=1), system.loads / problem.limits)
    with np.errstate(divide="ignore"):
        independent = max(2.0, events * free**2)
        largest = np.where(means > 0, math.log(independent) / np.log1p(1.0 / means), 0.0)
    return np.minimum(largest, math.sqrt(events))


def doubled(shape: tuple[int, ...], counts: NDArray[Any]) -> tuple[int, ...]:
    """Grid with the state ``counts``, each axis doubled until it has it.

    Examples
    --------
    >>> doubled((3, 3), np.array([2, 7]))
    (3, 12)
    """
    sizes = list(shape)
    for i, count in enumerate(counts):
        while sizes[i] <= count:
            sizes[i] *= 2
    return tuple(sizes)
