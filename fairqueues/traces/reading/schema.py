"""Schemas: what the columns of a table of tasks mean, and of one of nodes.

A published trace is a declaration: which column says how much a task holds of each resource and in which
unit, when it arrived, started and ended (or how long it ran), whose it is, and which columns together name
it. Rows that mean something else (tasks older than the trace, rows of several tasks) are changed by
``prepare`` before they are read.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fairness.arguments.validation import FloatArray
from fairqueues.traces.reading.gathering import Gathering, Numbered
from fairqueues.traces.reading.identities import Identities
from queueing.recorded.cluster_trace import ClusterTrace
from queueing.recorded.columns import Rows, pieces
from queueing.recorded.node_list import NodeList

__all__ = ["Amount", "NodeTable", "TaskTable"]


@dataclass(frozen=True)
class Amount:
    """A column that says how much of a resource a task holds, or a node has.

    Parameters
    ----------
    resource, unit : str
    column : str
    per : float
        What the file calls one unit: 1000 for thousandths.
    most : float
        Largest number in the file, for the reason that is ``said``.
    whole : bool
    also : tuple of str
        Other columns of numbers that ``of`` reads.
    of : callable
        Units of each row, where one column does not say them.
    """

    resource: str
    unit: str
    column: str
    per: float = 1.0
    most: float = math.inf
    said: str = ""
    whole: bool = False
    also: tuple[str, ...] = ()
    of: Callable[[Rows], FloatArray] | None = None

    def units(self, rows: Rows) -> FloatArray:
        """Units of each row."""
        if self.of is not None:
            return self.of(rows)
        found = rows.numbers(self.column, least=0, most=self.most, whole=self.whole, said=self.said)
        return found / self.per


def _columns(amounts: Sequence[Amount]) -> tuple[str, ...]:
    return tuple(name for one in amounts for name in (one.column, *one.also))


@dataclass(frozen=True)
class TaskTable:
    """A table whose rows are tasks.

    Parameters
    ----------
    title : str
        Name of the trace.
    amounts : tuple of Amount
    times : tuple of str
        Columns of arrival, start and end, seconds: an empty start is one that never came, an empty end lies
        behind the trace.
    duration : str
        Column of seconds that a task ran, instead of its start and end.
    user : str
        Column of the users; without one all tasks are of one user.
    identity : tuple of str
        Columns that together name a task, or that no two rows have alike.
    header : tuple of str, optional
        All columns, where the file has no header line.
    copies : str
        Column that says how many equal tasks a row is.
    jobs : str
        Column whose equal values are tasks of one job.
    where : str
        Column of the models of nodes where a task may run, separated by ``|``; an empty cell: on all.
    devices : str, optional
        The resource that is counted in devices.
    prepare : callable
        Changes rows before they are read, or counts and leaves out some.
    notes : tuple of str
        What has to be said of all such traces.
    """

    title: str
    amounts: tuple[Amount, ...]
    times: tuple[str, ...]
    duration: str = ""
    user: str = ""
    identity: tuple[str, ...] = ()
    header: tuple[str, ...] | None = None
    copies: str = ""
    jobs: str = ""
    where: str = ""
    devices: str | None = None
    prepare: Callable[[Rows, Gathering], Rows] | None = None
    notes: tuple[str, ...] = ()

    def read(
        self,
        path: str | os.PathLike[str],
        *,
        nodes: NodeList | None = None,
        models: Iterable[str] = (),
        origin: float | None = 0.0,
        **choices: str,
    ) -> ClusterTrace:
        """The tasks of a file.

        Parameters
        ----------
        path : path
        nodes : NodeList, optional
            A task that demands more than any of them is refused.
        models : iterable of str
            Of nodes, which come first.
        origin : float, seconds, optional
            What becomes time 0; None: the first arrival.
        **choices
            never_ended, never_started, backwards: what to do with such tasks.

        Raises
        ------
        ModelError
            With line and column, if a column is missing or there twice, a cell is no number or out of range,
            or two rows are the same task.
        """
        gathering = Gathering(
            f"{self.title}{', ' * bool(self.title)}{Path(path).name}",
            [one.resource for one in self.amounts],
            [one.unit for one in self.amounts],
            devices=self.devices,
            nodes=nodes,
            **choices,
        )
        names, jobs = Identities(*self.identity, header=self.header), Numbered()
        numbers = (*_columns(self.amounts), *self.times, self.duration, self.copies)
        texts = (*self.identity, self.where, self.user, self.jobs)
        for rows in pieces(path, filter(None, numbers), filter(None, texts), header=self.header):
            if self.identity:
                names.add(rows)
            if self.prepare is not None:
                rows = self.prepare(rows, gathering)
            if self.copies:
                rows = gathering.repeated(rows, self.copies)
            if len(rows):
                self._add(gathering, rows, jobs)
        if self.identity:
            names.require_distinct()
        gathering.notes += self.notes
        return gathering.trace(models, origin=origin)

    def _add(self, gathering: Gathering, rows: Rows, jobs: Numbered) -> None:
        more: dict[str, Any] = {
            "demands": [(one.column, one.units(rows)) for one in self.amounts],
            "users": rows.texts(self.user) if self.user else np.full(len(rows), "all", dtype=object),
            "jobs": jobs.of(rows.texts(self.jobs)) if self.jobs else None,
        }
        if self.where:
            texts = rows.texts(self.where, may_lack=True)
            named = {text: tuple(sorted({m.strip() for m in text.split("|")} - {""})) for text in set(texts)}
            more["models"] = np.empty(len(rows), dtype=object)
            more["models"][:] = [named[text] for text in texts]
        arrivals = rows.numbers(self.times[0], least=0, may_lack=self.times[0] in self.times[1:])
        times = [arrivals, *(rows.numbers(name, least=0, may_lack=True) for name in self.times[1:])]
        if self.duration:
            more["durations"] = self.duration, rows.numbers(self.duration, above=0)
        gathering.add(rows, list(zip(self.times, times, strict=True)), **more)


@dataclass(frozen=True)
class NodeTable:
    """A table whose rows are nodes.

    Parameters
    ----------
    name : str
        Column of their names.
    amounts : tuple of Amount
    model : str
        Column of their models, "" for a node without one.
    header : tuple of str, optional
        All columns, where the file has no header line.
    repeated : bool
        Whether a node may stand on several lines, which must say the same.
    """

    name: str
    amounts: tuple[Amount, ...]
    model: str = ""
    header: tuple[str, ...] | None = None
    repeated: bool = False

    def read(self, path: str | os.PathLike[str]) -> NodeList:
        """The nodes of a file.

        Raises
        ------
        ModelError
            With line and column, if a column is missing or there twice, a cell is no number or out of range,
            or two rows are the same node.
        """
        found: dict[str, tuple[tuple[float, ...], str]] = {}
        lines: dict[str, int] = {}
        again = 0
        for rows in pieces(
            path, _columns(self.amounts), filter(None, (self.name, self.model)), header=self.header
        ):
            kinds = rows.texts(self.model, may_lack=True) if self.model else [""] * len(rows)
            sizes = zip(*(one.units(rows).tolist() for one in self.amounts), strict=True)
            for k, (name, *node) in enumerate(zip(rows.texts(self.name), sizes, kinds, strict=True)):
                if name in found and not self.repeated:
                    rows.fail(k, self.name, f"repeats {name!r} of line {lines[name]}; each must stand once")
                if found.setdefault(name, tuple(node)) != tuple(node):
                    told = f"{name!r} has another size on line {lines[name]}; take one out"
                    rows.fail(k, self.name, told)
                again += lines.setdefault(name, int(rows.lines[k])) != rows.lines[k]
        told = f"{again:,} line{'s repeat nodes' if again > 1 else ' repeats a node'} of lines above: merged"
        return NodeList(
            list(found),
            [one.resource for one in self.amounts],
            [one.unit for one in self.amounts],
            [size for size, _ in found.values()],
            [model for _, model in found.values()],
            notes=[told] * bool(again),
        )
