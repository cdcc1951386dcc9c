r"""What a policy does in the state a run is in, as kernels read it: a table, or the states visited so far.

A *table* holds a grid of counts; the row of a state follows from its neighbour's by an addition. Its size is
the product over the classes, so beyond some five classes only *visited states* can be held: rows in the order
of their first visit, found by a hash of the counts (open addressing). A kernel that finds no row stops, its
driver provides one, and it goes on as if nothing had happened.

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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairness.arguments.validation import IntArray, frozen
from fairness.errors import UnstableError
from fairness.machine.cache_lines import apart
from fairness.model.problem import FloatArray
from fairness.protocol.calling import OneState, policy_tasks
from fairness.protocol.cluster_policy import AnyPolicy
from fairness.protocol.following import Question, follow
from fairness.protocol.policy import policy_name
from queueing.model.system import System
from queueing.simulation.kernels import kernel, part
from queueing.states.growing_table import LESS, GrowingTable, doubled, largest_counts
from queueing.states.table import Table, check_table

__all__ = [
    "MISSING",
    "Lookup",
    "PolicySource",
    "Reader",
    "find",
    "largest_grid",
    "moved",
    "no_lookup",
    "read_only",
    "visit",
]

MISSING = -1
"""Row of a state that has none."""


class Lookup(NamedTuple):
    """Tasks per state, for kernels."""

    tasks: FloatArray  # (n_rows, n_classes)
    shape: IntArray  # (n_classes,): counts on the grid of a table
    stride: IntArray  # (n_classes,): rows from one count to the next on this grid
    slots: IntArray  # (2**k,): rows of the visited states in the order of their hashes; none for a table
    states: NDArray[np.int32]  # (n_rows, n_classes): the visited states
    codes: NDArray[np.uint64]  # (n_classes,): odd numbers whose sum by counts is the hash
    used: IntArray  # (1,): rows that hold a visited state
    asked: FloatArray  # (1, n_classes): counts that a compiled policy is asked about


def table_lookup(table: Table, shape: tuple[int, ...]) -> Lookup:
    """Rows of a table, in C order, of which only the grid ``shape`` is looked at."""
    n = len(shape)
    sizes = np.array(table.shape[:0:-1], dtype=np.int64)
    stride = np.append(np.cumprod(sizes)[::-1], 1).astype(np.int64)
    grid = np.array(shape, dtype=np.int64)
    return no_lookup(n)._replace(tasks=table.tasks.reshape(-1, n), shape=grid, stride=stride)


def no_lookup(n_classes: int) -> Lookup:
    """Lookup without any row."""
    no_grid, no_rows, no_tasks = (
        np.zeros(n_classes, np.int64),
        np.empty(0, np.int64),
        np.empty((1, n_classes)),
    )
    no_states, no_codes = np.empty((0, n_classes), np.int32), np.empty(n_classes, np.uint64)
    return Lookup(no_tasks, no_grid, no_grid, no_rows, no_states, no_codes, no_rows, no_tasks)


def read_only(lookup: Lookup) -> Lookup:
    """The lookup for kernels that enter no states: a table's tasks and others' then are of one type."""
    return lookup._replace(tasks=frozen(lookup.tasks.view()))


def visited_lookup(n_classes: int, rows: int) -> Lookup:
    """Room for some visited states, none of them there yet."""
    # Twice as many slots as rows or more: a search then meets about one other state.
    slots = np.full(1 << (2 * rows - 1).bit_length(), MISSING)
    codes = np.random.default_rng(0).integers(0, 2**63, n_classes, dtype=np.uint64) * 2 + 1
    nothing = np.zeros(n_classes, np.int64)
    tasks, states = np.empty((rows, n_classes)), np.empty((rows, n_classes), np.int32)
    used, asked = apart(np.zeros(1, np.int64)), apart(np.empty((1, n_classes)))
    return Lookup(tasks, nothing, nothing, slots, states, codes, used, asked)


@part
def _slot(slots: IntArray, codes: NDArray[np.uint64], counts: IntArray) -> int:
    """Where the search for a state begins: the upper bits of its hash, which depend on all counts."""
    code = np.uint64(0)
    for i in range(counts.size):
        code += codes[i] * np.uint64(counts[i])
    code ^= code >> np.uint64(29)
    return int((code * np.uint64(0xBF58476D1CE4E5B9)) >> np.uint64(32)) & (slots.size - 1)


@part
def find(lookup: Lookup, counts: IntArray) -> int:
    """Row of a state, or MISSING."""
    slots, states, shape, stride = lookup.slots, lookup.states, lookup.shape, lookup.stride
    if slots.size == 0:
        row = 0
        for i in range(counts.size):
            if counts[i] >= shape[i]:
                return MISSING
            row += counts[i] * stride[i]
        return row
    slot = _slot(slots, lookup.codes, counts)
    while slots[slot] != MISSING:
        same = True
        for i in range(counts.size):
            same = same and states[slots[slot], i] == counts[i]
        if same:
            return slots[slot]
        slot = (slot + 1) & (slots.size - 1)
    return MISSING


@part
def moved(lookup: Lookup, counts: IntArray, row: int, i: int, step: int) -> int:
    """Row after the count of class i has changed by ``step`` from the state of ``row``, or MISSING."""
    if lookup.slots.size > 0:
        return find(lookup, counts)
    return row + step * lookup.stride[i] if counts[i] < lookup.shape[i] else MISSING


@part
def visit(lookup: Lookup, ask: Any, question: Question, counts: IntArray) -> int:
    """Row of a state that had none, from a compiled policy; MISSING without one, or room, or an answer."""
    if ask is None or lookup.used[0] == len(lookup.tasks):
        return MISSING
    row = lookup.used[0]
    for i in range(counts.size):
        lookup.asked[0, i] = counts[i]
    ask(
        question.shares,
        question.limits,
        lookup.asked,
        lookup.tasks[row : row + 1],
        question.growth,
        question.alpha,
        question.prices,
        question.residuals,
    )
    if not question.residuals[0] <= question.certified:
        return MISSING
    _enter(lookup, counts)
    return row


@kernel()
def remember(lookup: Lookup, counts: IntArray, tasks: FloatArray) -> None:
    """Enter a state that has no row, with its tasks."""
    for i in range(counts.size):
        lookup.tasks[lookup.used[0], i] = tasks[i]
    _enter(lookup, counts)


@part
def _enter(lookup: Lookup, counts: IntArray) -> None:
    """Make the first free row that of a state."""
    slots, row = lookup.slots, lookup.used[0]
    slot = _slot(slots, lookup.codes, counts)
    while slots[slot] != MISSING:
        slot = (slot + 1) & (slots.size - 1)
    slots[slot] = row
    for i in range(counts.size):
        lookup.states[row, i] = counts[i]
    lookup.used[0] = row + 1


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
        policy: AnyPolicy,
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
        self.largest = most if left or isinstance(policy, OneState) else math.inf
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
        # Kernels that ask nothing enter no states: one type for tables and for visited states.
        self._read = read_only(self._lookup) if self.answers[0] is None else self._lookup

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
        return self._read

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
