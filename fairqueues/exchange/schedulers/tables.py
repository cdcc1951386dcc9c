"""Classes, servers and queues as CSV tables; what a table holds is said by the head of its first column.

Tables of classes and servers are those of :mod:`fairness.model.csv_tables`. A table of queues has the first
column ``queue``, a path such as research/vision, and ``weight`` (1), and ``minimum``, ``maximum`` or
``lends`` with the name of a resource behind a blank: ``minimum cpu``.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from fairness.arguments.csv_rows import Row, csv_rows
from fairness.arguments.plain import near
from fairness.model.csv_tables import ClassRow, units
from fairqueues.exchange.schedulers.parts import Amounts, Jobs, Parts, Queue, Server

__all__ = ["TABLES", "read_table"]

_BOUNDS = ("minimum", "maximum", "lends")


def read_table(text: str, file: str, parts: Parts) -> None:
    """Add what a CSV table holds.

    Raises
    ------
    ModelError
        One line that names file, line and column.
    """
    heads, rows = csv_rows(text, file, TABLES)
    for row in rows:
        TABLES[heads[0]](row, parts)


def _jobs(row: Row, parts: Parts) -> None:
    one = ClassRow.of(row)
    parts.require_new("class", one.name, row.place, partial(row.fail, "job_class"))
    names = one.servers
    parts.jobs.append(
        Jobs(
            one.name, row.place, one.demands, one.queue, one.jobs, one.limit, one.weight,
            runs_on=(lambda server: server.name in names) if names else None, named_servers=names,
            arrival_rate=one.arrival_rate, mean_size=one.mean_size,
        )
    )  # fmt: skip


def _server(row: Row, parts: Parts) -> None:
    name = row.text("server")
    parts.require_new("server", name, row.place, partial(row.fail, "server"))
    parts.servers.append(Server(name, row.place, units(row, "server")))


def _queue(row: Row, parts: Parts) -> None:
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


TABLES: dict[str, Callable[[Row, Parts], None]] = {"job_class": _jobs, "server": _server, "queue": _queue}
"""Readers of a row by the head of the first column."""
