"""Classes and servers as CSV tables: what a table holds is said by the head of its first column.

=============== ==========================================================================================
first column    further columns
=============== ==========================================================================================
``job_class``   one per resource, units that one task holds; ``weight`` (1), ``limit`` (most tasks of one
                job, without end), ``servers`` (names with blanks between them, or with semicolons where a
                name has a blank: ``old rack; new``, ``old rack;``; default: all), ``arrival_rate`` and
                ``mean_size`` (1); ``jobs`` (1) and ``queue``, for models with queues
``server``      one per resource: units
=============== ==========================================================================================

Numbers are decimal (0.5), fractions (1/3) or quantities as Kubernetes writes them (100m, 4Gi), and stay
exact. An empty cell says nothing: 0 units, or what stands in parentheses.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from fairness.arguments.csv_rows import Row, distinct_rows
from fairness.arguments.labels import listed
from fairness.arguments.plain import near
from fairness.errors import ModelError

__all__ = [
    "CLASS_COLUMNS",
    "ClassRow",
    "CsvModel",
    "cluster_tables",
    "pool_tables",
    "traffic_table",
    "units",
    "unknown_server",
]

CLASS_COLUMNS = ("weight", "limit", "servers", "arrival_rate", "mean_size", "jobs", "queue")
"""Columns of classes that are no resources."""

FilePath = str | os.PathLike[str]


@dataclass(frozen=True)
class ClassRow:
    """What a row says of a class."""

    row: Row
    name: str
    demands: dict[str, Fraction]
    weight: Fraction
    limit: Fraction | None
    servers: tuple[str, ...]
    arrival_rate: Fraction | None
    mean_size: Fraction | None
    jobs: Fraction
    queue: str | None

    @staticmethod
    def of(row: Row) -> ClassRow:
        """The meaning of the cells."""
        if "tasks" in row.cells:
            row.fail("tasks", "is no resource; call the column limit, if it is the most tasks of one job")
        return ClassRow(
            row=row,
            name=row.text("job_class"),
            demands=units(row, "job_class", *CLASS_COLUMNS),
            weight=row.optional("weight") or Fraction(1),
            limit=row.optional("limit"),
            servers=_names(row.cells.get("servers", "")),
            arrival_rate=row.number("arrival_rate") if "arrival_rate" in row.cells else None,
            mean_size=row.optional("mean_size"),
            jobs=row.number("jobs") if "jobs" in row.cells else Fraction(1),
            queue=row.cells.get("queue"),
        )


def _names(cell: str) -> tuple[str, ...]:
    """Names with blanks between them, or with semicolons where there is one."""
    parts = cell.split(";") if ";" in cell else cell.split()
    return tuple(name.strip() for name in parts if name.strip())


def unknown_server(name: str, servers: Iterable[str]) -> str:
    """What to write instead of the name of a server that is none.

    Examples
    --------
    >>> unknown_server("old", ["old rack", "new"])
    "known are old rack, new; a semicolon stands behind a name with a blank: 'old rack;'"
    """
    known = list(servers)
    blank = next((f"{one};" for one in known if name in one.split()[:-1] + one.split()[1:]), None)
    told = f"; a semicolon stands behind a name with a blank: {blank!r}" if blank else ""
    return f"{near(name, known)}{told}"


def units(row: Row, *others: str) -> dict[str, Fraction]:
    """Amounts of the resources of a row, which are all columns but the others."""
    return {name: row.number(name) for name in row.cells if name not in others}


@dataclass(frozen=True)
class CsvModel:
    """Arguments of a model, and where their rows stand."""

    arguments: dict[str, Any]
    places: dict[str, list[str]]

    @contextmanager
    def located(self) -> Iterator[None]:
        """Errors about an entry of an argument begin with the file and the line of its row."""
        try:
            yield
        except ModelError as error:
            places = self.places.get(error.argument or "", [])
            row = error.index[0] if error.index else None
            if not isinstance(row, int) or row >= len(places):
                raise
            raise ModelError(f"{places[row]}: {error}", argument=error.argument, index=error.index) from None


def pool_tables(classes: FilePath, capacities: FilePath | Mapping[str, Any] | Any) -> CsvModel:
    """Arguments of a pool, of a table of classes and one of servers, which are added up."""
    resources, rows = _classes(classes)
    for one in rows:
        if one.servers:
            one.row.fail("servers", "a pool has no servers; read the tables by Cluster.from_csv")
    found = _arguments(resources, rows)
    if any(one.limit is not None for one in rows):
        found.arguments["limits"] = [float("inf") if one.limit is None else one.limit for one in rows]
    if isinstance(capacities, str | os.PathLike):
        _, table = _servers(capacities, resources, classes)
        total = [sum((row.get(r, Fraction(0)) for row in table.values()), Fraction(0)) for r in resources]
        found.arguments["capacities"] = _plain(total)
    else:
        found.arguments["capacities"] = _labelled(capacities)
    return found


def cluster_tables(classes: FilePath, servers: FilePath, gamma: FilePath | Any = None) -> CsvModel:
    """Arguments of a cluster, of a table of classes and one of servers, and perhaps one of gamma."""
    resources, rows = _classes(classes)
    hosts, table = _servers(servers, resources, classes)
    for one in rows:
        if one.limit is not None:
            one.row.fail("limit", "jobs on servers have no limit; leave the column out, or give one pool")
        for name in one.servers:
            if name not in table:
                told = unknown_server(name, table)
                one.row.fail("servers", f"there is no server {name!r} in {servers}; {told}")
    found = _arguments(resources, rows)
    found.arguments["servers"] = list(table)
    found.arguments["capacities"] = [
        _plain(row.get(r, Fraction(0)) for r in resources) for row in table.values()
    ]
    found.places["capacities"] = [row.place for row in hosts.values()]
    if any(one.servers for one in rows):
        found.arguments["eligible"] = [[not one.servers or k in one.servers for k in table] for one in rows]
    if isinstance(gamma, str | os.PathLike):
        heads, alone = distinct_rows(gamma, "job_class", "a table of tasks, a row per class")
        _same(heads, table, f"{gamma}, line 1", "columns", f"servers of {servers}")
        _same(alone, [one.name for one in rows], str(gamma), "rows", f"classes of {classes}")
        ordered = [alone[one.name] for one in rows]
        tasks = [units(row, "job_class") for row in ordered]
        found.arguments["gamma"] = [_plain(row.get(k, 0) for k in table) for row in tasks]
        found.places["gamma"] = [row.place for row in ordered]
    elif gamma is not None:
        found.arguments["gamma"] = gamma
    return found


def traffic_table(path: FilePath, model: Any) -> CsvModel:
    """Arrival rates and mean sizes of the classes of a model, in its order."""
    heads, rows = distinct_rows(path, "job_class", "a table with the columns job_class and arrival_rate")
    if "arrival_rate" not in heads:
        raise ModelError(f"{path}, line 1: there is no column 'arrival_rate'; {near('arrival_rate', heads)}")
    for name in heads:
        if name not in (*CLASS_COLUMNS, *model.resources):
            told = near(name, [*CLASS_COLUMNS, *model.resources])
            raise ModelError(f"{path}, line 1: unknown column {name!r}; {told}")
    _same(rows, model.job_classes, str(path), "rows", "classes of the model")
    ordered = [rows[name] for name in model.job_classes]
    found = CsvModel(
        {"arrival_rates": _plain(row.number("arrival_rate") for row in ordered)},
        {key: [row.place for row in ordered] for key in ("arrival_rates", "mean_sizes")},
    )
    if "mean_size" in heads:
        found.arguments["mean_sizes"] = _plain(row.optional("mean_size") or 1 for row in ordered)
    return found


def _classes(path: FilePath) -> tuple[list[str], list[ClassRow]]:
    """Resources and rows of a table of classes."""
    heads, rows = distinct_rows(path, "job_class", "a table of classes, with a column per resource")
    resources = [name for name in heads if name not in CLASS_COLUMNS]
    if not resources:
        raise ModelError(f"{path}, line 1: no column is a resource; add one per resource, such as cpu")
    found = [ClassRow.of(row) for row in rows.values()]
    for one in found:
        if one.queue is not None:
            one.row.fail("queue", "this model has no queues; read the tables by read_cluster")
        if "jobs" in one.row.cells:
            one.row.fail(
                "jobs",
                "this model has no jobs present; leave the column out and give them to the question as "
                "counts, or read the tables by read_cluster",
            )
    return resources, found


def _servers(
    path: FilePath, resources: list[str], classes: FilePath
) -> tuple[dict[str, Row], dict[str, dict[str, Fraction]]]:
    """Rows of a table of servers, and what they have of each resource."""
    heads, rows = distinct_rows(path, "server", "a table of servers, with a column per resource")
    _same(heads, resources, f"{path}, line 1", "columns", f"resources of {classes}")
    return rows, {name: units(row, "server") for name, row in rows.items()}


def _arguments(resources: list[str], rows: list[ClassRow]) -> CsvModel:
    """What pools and clusters have in common."""
    arguments: dict[str, Any] = {
        "demands": [_plain(one.demands.get(r, Fraction(0)) for r in resources) for one in rows],
        "job_classes": [one.name for one in rows],
        "resources": resources,
    }
    if any(one.weight != 1 for one in rows):
        arguments["weights"] = _plain(one.weight for one in rows)
    places = [one.row.place for one in rows]
    return CsvModel(arguments, {k: places for k in ("demands", "weights", "limits", "eligible")})  # noqa: C420


def _same(found: Iterable[str], wanted: Iterable[str], place: str, what: str, whose: str) -> None:
    """ModelError that names what is missing, or too much."""
    there, names = dict.fromkeys(found), dict.fromkeys(wanted)
    missing = [name for name in names if name not in there]
    extra = [name for name in there if name not in names]
    if not (missing or extra):
        return
    parts = [f"lack {listed(missing)}"] * bool(missing) + [f"have {listed(extra)} besides"] * bool(extra)
    raise ModelError(
        f"{place}: the {what} must be the {whose}, in any order, but "
        f"{' and '.join(parts)}; rename them, or add what is missing"
    )


def _plain(values: Iterable[Fraction | int]) -> list[Any]:
    """Whole numbers as integers, others as fractions."""
    return [int(v) if v == int(v) else v for v in values]


def _labelled(values: Any) -> Any:
    """A mapping by names as a series, which is read by its labels."""
    if not isinstance(values, Mapping):
        return values
    import pandas as pd

    return pd.Series(dict(values), dtype=object)
