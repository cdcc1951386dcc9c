"""Tasks that a reader finds, piece by piece, and the trace that they make.

Demand vectors and users are numbered as they appear, so that a piece leaves 28 bytes a task. What is wrong in
the same way in every trace is found here: times that go backwards, units that cannot be, tasks that never ran
or never ended. What is dropped or cut is counted, and the trace says it.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairness.arguments.validation import FloatArray, require_choice
from fairness.display.wording import many
from fairness.errors import ModelError
from fairness.machine.memory import require_memory
from queueing.recorded.cluster_trace import ClusterTrace
from queueing.recorded.columns import KEPT, Rows
from queueing.recorded.node_list import NodeList

__all__ = ["BACKWARDS", "LONGEST", "NEVER_ENDED", "NEVER_STARTED", "Gathering", "Numbered"]

NEVER_ENDED = ("cut", "drop", "refuse")
"""What can be done with a task that still runs when the trace ends."""

NEVER_STARTED = ("drop", "refuse")
"""What can be done with a task that never ran: nothing tells how long it would have taken."""

BACKWARDS = ("refuse", "drop")
"""What can be done with a task whose times go backwards."""

Columns = Sequence[tuple[str, FloatArray]]
"""Numbers of tasks, each with what the file calls them."""

STORED = 28.0
"""Bytes of a task that has been found."""

LONGEST = 20 * 365.25 * 86400.0
"""Seconds: no cluster was recorded for longer, so longer times are not in seconds."""


class Numbered:
    """Things numbered in the order in which they appear."""

    def __init__(self) -> None:
        self.places: dict[Any, int] = {}

    def of_one(self, thing: Hashable) -> int:
        """The number of one thing."""
        return self.places.setdefault(thing, len(self.places))

    def of(self, things: Sequence[Hashable] | NDArray[Any]) -> NDArray[np.int32]:
        """Their numbers."""
        codes, distinct = pd.factorize(np.asarray(things))
        own = [self.of_one(thing) for thing in distinct.tolist()]
        return np.array(own, dtype=np.int32)[codes]

    def of_rows(self, columns: Sequence[NDArray[Any]]) -> NDArray[np.int32]:
        """Numbers of the rows of several columns; a row is a tuple of their entries."""
        key = np.zeros(len(columns[0]), dtype=np.int64)
        for column in columns:
            codes, distinct = pd.factorize(column)
            # Numbered anew after every column: the product of two numbers of rows never overflows.
            key, _ = pd.factorize(key * max(len(distinct), 1) + codes)
        _, first = np.unique(key, return_index=True)
        rows = zip(*(column[first].tolist() for column in columns), strict=True)
        own = [self.of_one(row) for row in rows]
        return np.array(own, dtype=np.int32)[key]


class Gathering:
    """Tasks of one trace.

    Parameters
    ----------
    source : str
    resources, units : sequence of str
    devices : str, optional
        The resource that is counted in devices.
    never_ended, never_started, backwards : str
        What to do with such tasks.
    nodes : NodeList, optional
        A task that demands more than any of them is refused: its unit must be another.
    """

    def __init__(
        self,
        source: str,
        resources: Sequence[str],
        units: Sequence[str],
        *,
        devices: str | None = None,
        never_ended: str = "cut",
        never_started: str = "drop",
        backwards: str = "refuse",
        nodes: NodeList | None = None,
    ) -> None:
        self.source, self.resources, self.units, self.devices = source, resources, units, devices
        self._ended = require_choice("never_ended", never_ended, NEVER_ENDED)
        self._started = require_choice("never_started", never_started, NEVER_STARTED)
        self._backwards = require_choice("backwards", backwards, BACKWARDS)
        self._largest = None if nodes is None else nodes.capacities.max(axis=0)
        self._types, self.users = Numbered(), Numbered()
        self._parts: dict[str, list[NDArray[Any]]] = {}
        self._n = 0
        self._first, self._last = math.nan, -math.inf
        self._counts: dict[str, int] = {}
        self.notes: list[str] = []

    def note(self, count: int, said: str) -> None:
        """Count tasks of which something is to be said, where ``{n}`` stands for their number."""
        self._counts[said] = self._counts.get(said, 0) + int(count)

    def repeated(self, rows: Rows, count: str) -> Rows:
        """Each row as often as a column says.

        Raises
        ------
        ModelError
            If the column holds no whole numbers, or the trace does not fit into memory while it is made.
        """
        copies = rows.numbers(count, least=0, whole=True)
        if not len(rows):
            return rows
        more = float(copies.sum())
        n_bytes = KEPT * more + (KEPT - STORED) * self._n
        told = f"{rows.path}, down to line {rows.lines[-1]}, with {self._n + more:,.0f} tasks"
        require_memory(n_bytes, told, "read a part of it")
        return rows.taken(np.repeat(np.arange(len(rows)), copies.astype(np.int64)))

    def saw(self, time: float) -> None:
        """Some time of the record, seconds: what never ended is cut at the last one."""
        self._last = max(self._last, time)

    def add(
        self,
        rows: Rows,
        times: Columns,
        demands: Columns,
        users: NDArray[Any],
        *,
        durations: tuple[str, FloatArray] | None = None,
        models: NDArray[Any] | None = None,
        jobs: NDArray[Any] | None = None,
    ) -> None:
        """Add tasks, one per row.

        Parameters
        ----------
        times : sequence of (str, ndarray of shape (n_rows,)), seconds
            Arrivals, starts and ends, each with what the file calls it. NaN: it never started, never ended.
            With durations arrivals alone.
        demands : sequence of n_resources (str, ndarray of shape (n_rows,))
            Each with the column that says it.
        durations : (str, ndarray of shape (n_rows,)), seconds
            How long tasks ran that started when they arrived. Default: from starts to ends.
        models : ndarray of shape (n_rows,), optional
            Tuples of models of nodes where a task may run; () for all.
        """
        if durations is not None:
            [(arrival, begun)], (field, lasting) = times, durations
            times = [*times, (arrival, begun), (field, begun + lasting)]
        arrivals, starts, ends = (column for _, column in times)
        self._require_good(rows, times)
        self._require_units(rows, demands)
        waits, runs_on = np.isnan(starts), np.isnan(ends)
        wrong = (starts < arrivals) | (ends < starts)
        good = ~wrong
        self.note(int(wrong.sum()), "{n} dropped: times go backwards")
        seen = np.concatenate([arrivals[good], starts[~waits & good], ends[~runs_on & good]])
        self.saw(float(np.fmax.reduce(seen, initial=-np.inf)))
        self.note(int(waits.sum()), "{n} dropped: never ran, so that no duration is known")
        idle = np.logical_and.reduce([held <= 0 for _, held in demands])
        self.note(int((idle & ~waits & good).sum()), "{n} dropped: no demand")
        kept = ~(waits | idle | wrong)
        if self._ended == "drop":
            self.note(int((runs_on & kept).sum()), "{n} dropped: never ended")
            kept &= ~runs_on
        self.note(int((runs_on & kept).sum()), "{n} cut at the last time of the trace: never ended")
        lasting = ends - starts if durations is None else durations[1]
        self.note(int((kept & (lasting == 0)).sum()), "{n} dropped: took 0 s")
        kept &= lasting != 0
        keys = [held[kept] for _, held in demands]
        if models is not None:
            codes, distinct = pd.factorize(models[kept])
            named = np.empty(len(distinct), dtype=object)
            named[:] = distinct
            keys.append(named[codes])
        made: dict[str, NDArray[Any]] = {
            "arrivals": arrivals[kept],
            "durations": lasting[kept],
            "open": starts[kept & runs_on],
            "type_of": self._types.of_rows(keys),
            "user_of": self.users.of(users[kept]),
        }
        if jobs is not None:
            made["jobs"] = np.asarray(jobs[kept], dtype=np.int32)
        for name, part in made.items():
            self._parts.setdefault(name, []).append(part)
        self._n += int(kept.sum())

    def _require_good(self, rows: Rows, times: Columns) -> None:
        """ModelError about times that cannot be, or that the caller wants refused."""
        (arrival, arrivals), (start, starts), (end, ends) = times
        if math.isnan(self._first) and (known := arrivals[~np.isnan(arrivals)]).size:
            self._first = float(known[0])
        for field, column in times:
            far = np.abs(column - self._first) > LONGEST
            rows.refuse(
                field,
                far,
                "lies more than 20 years from the first task, were it in seconds; times seem to be in "
                "milliseconds or smaller units; give the file as it was published",
            )
        waits, runs_on = np.isnan(starts), np.isnan(ends)
        if self._started == "refuse":
            rows.refuse(start, waits, "says that this task never ran; take never_started='drop'")
        if self._ended == "refuse":
            rows.refuse(end, runs_on & ~waits, "says that this task never ended; take never_ended='cut'")
        if self._backwards == "refuse":
            remedy = "correct the line, or take backwards='drop'"
            rows.refuse(start, starts < arrivals, f"lies before {arrival}; {remedy}")
            rows.refuse(end, ends < starts, f"lies before {start}; {remedy}")

    def _require_units(self, rows: Rows, demands: Columns) -> None:
        """ModelError about demands that no node could hold: their unit is another."""
        for r, (name, (column, held)) in enumerate(zip(self.resources, demands, strict=True)):
            if name == self.devices:
                broken = (held > 1) & (held != np.floor(held))
                rows.refuse(column, broken, "is in devices: a part of one, or whole ones")
            if self._largest is not None:
                rows.refuse(
                    column,
                    held > self._largest[r],
                    f"asks for more {name} than the largest node has, {self._largest[r]:g} {self.units[r]}: "
                    "is the unit another, or the list of nodes that of another cluster?",
                )

    def trace(self, models: Iterable[str] = (), *, origin: float | None = 0.0) -> ClusterTrace:
        """The trace, in times since ``origin``, or the first arrival; ``models`` are those of nodes.

        The models count where tasks name models.
        """
        columns = {name: np.concatenate(self._parts.pop(name)) for name in list(self._parts)}
        if columns:
            self._close(columns)
        if not columns or not len(columns["arrivals"]):
            said = "; ".join(self._said()) or "the file has none"
            raise ModelError(f"{self.source}: no task is left ({said}); give a file with tasks that ran")
        self._sort(columns)
        times = columns["arrivals"]
        times -= times[0] if origin is None else origin
        names, types = list(models), list(self._types.places)
        allowed: ArrayLike | None = None
        if types and len(types[0]) > len(self.resources):
            named = [row[-1] for row in types]
            names = list(dict.fromkeys([*models, *(model for row in named for model in row)]))
            table = np.array([[not row or model in row for model in names] for row in named])
            # Who names all models and who names none may run in the same places: one type.
            places = Numbered()
            own = [places.of_one((*row[:-1], *may)) for row, may in zip(types, table.tolist(), strict=True)]
            _, first = np.unique(own, return_index=True)
            types, table = [types[k] for k in first], table[first]
            columns["type_of"] = np.array(own, dtype=np.int32)[columns["type_of"]]
            # Where every task may run everywhere there is no constraint to carry along.
            allowed = None if table.all() else table
        return ClusterTrace(
            self.resources,
            self.units,
            columns.pop("arrivals"),
            columns.pop("durations"),
            [row[: len(self.resources)] for row in types],
            columns["type_of"],
            list(self.users.places),
            columns["user_of"],
            models=None if allowed is None else names,
            eligible_models=allowed,
            devices=self.devices,
            jobs=columns.get("jobs"),
            source=self.source,
            notes=[*self._said(), *self.notes],
        )

    def _close(self, columns: dict[str, NDArray[Any]]) -> None:
        """Cut what never ended at the last time of the trace."""
        durations, starts = columns["durations"], columns.pop("open")
        durations[np.isnan(durations)] = self._last - starts
        if not (kept := durations > 0).all():
            self.note(int((~kept).sum()), "{n} dropped: started at the last time of the trace")
            for name in columns:
                columns[name] = columns[name][kept]

    def _sort(self, columns: dict[str, NDArray[Any]]) -> None:
        late = columns["arrivals"][1:] < columns["arrivals"][:-1]
        if late.any():
            self.note(int(late.sum()), "{n} earlier than the one above: sorted by arrival")
            order = np.argsort(columns["arrivals"], kind="stable")
            for name in columns:
                columns[name] = columns[name][order]

    def _said(self) -> list[str]:
        return [said.format(n=many(n, "task")) for said, n in self._counts.items() if n]
