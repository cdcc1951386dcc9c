"""Where kernels read what a policy does in the state they are in: a table, or the states visited so far.

A *table* holds a grid of counts; the row of a state follows from its neighbour's by an addition. Its size is
the product over the classes, so beyond some five classes only *visited states* can be held: rows in the order
of their first visit, found by a hash of the counts (open addressing). A kernel that finds no row stops, its
driver provides one, and it goes on as if nothing had happened.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairness.arguments.validation import frozen
from fairness.machine.cache_lines import apart
from fairness.machine.kernels import IntArray
from fairness.model.problem import FloatArray
from fairness.protocol.following import Question
from queueing.simulation.kernels import kernel, part
from queueing.states.table import Table

__all__ = [
    "MISSING",
    "Lookup",
    "find",
    "moved",
    "no_lookup",
    "read_only",
    "remember",
    "table_lookup",
    "visit",
    "visited_lookup",
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
