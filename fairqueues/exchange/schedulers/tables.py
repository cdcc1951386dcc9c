"""Classes, servers and queues as CSV tables; what a table holds is said by the head of its first column.

=============== ==========================================================================================
first column    further columns
=============== ==========================================================================================
``job_class``   ``queue``, ``jobs`` (1), ``tasks`` (most of one job), ``weight`` (1), ``servers`` (names with
                blanks between them; default: all), and one per resource: units that one task holds
``server``      one per resource: units
``queue``       a path such as research/vision; ``weight`` (1), and ``minimum``, ``maximum`` or ``lends`` with
                the name of a resource behind a blank: ``minimum cpu``
=============== ==========================================================================================

Numbers are quantities as Kubernetes writes them, ``100m`` or ``4Gi``; an empty cell says nothing.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn

from fairness.arguments.plain import near
from fairness.errors import ModelError
from fairqueues.exchange.schedulers.parts import Amounts, Jobs, Parts, Queue, Server
from fairqueues.exchange.schedulers.quantities import quantity

__all__ = ["TABLES", "read_table"]

_JOBS = ("queue", "jobs", "tasks", "weight", "servers")
_BOUNDS = ("minimum", "maximum", "lends")


@dataclass(frozen=True)
class _Row:
    """Cells of a line by the heads of their columns; empty ones are left out."""

    file: str
    line: int
    cells: dict[str, str]

    @property
    def place(self) -> str:
        return f"{self.file}, line {self.line}"

    def fail(self, column: str, said: str) -> NoReturn:
        raise ModelError(f"{self.place}, {column}: {said}", argument=column)

    def text(self, column: str) -> str:
        if column not in self.cells:
            self.fail(column, "is missing; write a name")
        return self.cells[column]

    def number(self, column: str, positive: bool = False) -> Fraction:
        try:
            found = quantity(self.cells[column])
        except ValueError as error:
            self.fail(column, str(error))
        if found < 0 or (positive and not found):
            self.fail(column, f"is {self.cells[column]}; it must be {'> 0' if positive else '>= 0'}")
        return found

    def optional(self, column: str) -> Fraction | None:
        return self.number(column, positive=True) if column in self.cells else None


def read_table(text: str, file: str, parts: Parts) -> None:
    """Add what a CSV table holds.

    Raises
    ------
    ModelError
        One line that names file, line and column.
    """
    rows = csv.reader(io.StringIO(text, newline=""))
    try:
        head = [name.strip() for name in next(rows, [])]
        if not head or head[0] not in TABLES:
            first = head[0] if head else ""
            raise ModelError(f"{file}, line 1: the first column is {first!r:.60}; it must be {_known()}")
        for k, name in enumerate(head):
            if not name or name in head[:k]:
                what = "has no name" if not name else f"{name!r} is there twice"
                raise ModelError(f"{file}, line 1: column {k + 1} {what}")
        for cells in rows:
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(head):
                raise ModelError(f"{file}, line {rows.line_num}: {len(cells)} cells for {len(head)} columns")
            filled = {name: cell.strip() for name, cell in zip(head, cells, strict=True) if cell.strip()}
            TABLES[head[0]](_Row(file, rows.line_num, filled), parts)
    except csv.Error as error:
        raise ModelError(f"{file}, line {rows.line_num}: no CSV: {error}") from None


def _known() -> str:
    return " or ".join(TABLES)


def _jobs(row: _Row, parts: Parts) -> None:
    name, names = row.text("job_class"), row.cells.get("servers", "").split()
    if other := parts.another("class", name, row.place):
        row.fail("job_class", f"{name!r} stands in {other} too; keep one of them")
    demands = {r: row.number(r) for r in row.cells if r not in (*_JOBS, "job_class")}
    count = row.number("jobs") if "jobs" in row.cells else Fraction(1)
    parts.jobs.append(
        Jobs(
            name, row.place, demands, row.cells.get("queue"), count, row.optional("tasks"),
            row.optional("weight") or Fraction(1),
            runs_on=(lambda server: server.name in names) if names else None, named_servers=tuple(names),
        )
    )  # fmt: skip


def _server(row: _Row, parts: Parts) -> None:
    name = row.text("server")
    if other := parts.another("server", name, row.place):
        row.fail("server", f"{name!r} stands in {other} too; keep one of them")
    capacities = {resource: row.number(resource) for resource in row.cells if resource != "server"}
    parts.servers.append(Server(name, row.place, capacities))


def _queue(row: _Row, parts: Parts) -> None:
    bounds: dict[str, dict[str, Fraction]] = {bound: {} for bound in _BOUNDS}
    for column in row.cells:
        bound, _, resource = column.partition(" ")
        if bound in _BOUNDS and resource:
            bounds[bound][resource.strip()] = row.number(column)
        elif column not in ("queue", "weight"):
            told = near(column, ("queue", "weight", *(f"{bound} RESOURCE" for bound in _BOUNDS)))
            row.fail(column, f"unknown column; {told}")
    path = tuple(name.strip() for name in row.text("queue").strip("/").split("/") if name.strip())
    path = path[1:] if path[:1] == ("root",) else path
    if not path and "weight" in row.cells:
        row.fail("weight", "the root has no siblings to be weighed against; leave it empty")
    low, high, lends = (Amounts(bounds[bound]) for bound in _BOUNDS)
    parts.add_queue(Queue(path, row.place, row.optional("weight") or Fraction(1), low, high, lends))


TABLES: dict[str, Callable[[_Row, Parts], None]] = {"job_class": _jobs, "server": _server, "queue": _queue}
"""Readers of a row by the head of the first column."""
