"""Tasks and nodes of your own record, as CSV tables.

A row of the table of tasks is a task: when it arrived, how long it ran, whose it is, and what it held. A row
of the table of nodes is a node, with its first column ``server`` and a column per resource, as
:meth:`fairness.Cluster.from_csv` reads it. The resources are those of the nodes.

================= ======================================================================================
column of a task  meaning
================= ======================================================================================
``arrival_time``  seconds, >= 0, in any order
``duration``      seconds, > 0
``user``          who is entitled to a share; without the column all tasks are of one user
a resource        units that the task held, >= 0; at least one of them > 0
================= ======================================================================================
"""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np

from fairness.arguments.csv_rows import distinct_rows
from fairness.arguments.plain import near
from fairness.errors import ModelError
from fairness.model.csv_tables import units
from fairqueues.traces.reading.columns import opened, pieces
from fairqueues.traces.reading.gathering import Numbered
from queueing.recorded.cluster_trace import ClusterTrace
from queueing.recorded.node_list import NodeList

__all__ = ["read_tasks"]

TIMES = ("arrival_time", "duration")


def read_tasks(
    tasks: str | os.PathLike[str],
    nodes: str | os.PathLike[str],
    *,
    columns: Mapping[str, str] | None = None,
    devices: str | None = None,
) -> tuple[ClusterTrace, NodeList]:
    """Read tasks and nodes of CSV tables of your own.

    Parameters
    ----------
    tasks, nodes : path
        See :mod:`fairqueues.traces.task_tables`; that of the tasks may be compressed by gzip.
    columns : mapping, optional
        What the file of tasks calls its columns, where it is not as above: ``{"arrival_time": "submit"}``.
        Columns that are not named are passed over.
    devices : str, optional
        The resource that is counted in devices, such as GPUs: a part of one, or a whole number.

    Returns
    -------
    trace : ClusterTrace
        By arrival; seconds from the first one.
    nodes : NodeList

    Raises
    ------
    ModelError
        With file, line and column, if a file cannot be read, a column is missing, a number is none or out of
        range, a task demands nothing, or a server stands twice.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tasks, nodes = Path(folder, "tasks.csv"), Path(folder, "nodes.csv")
    ...     _ = tasks.write_text("submit,duration,user,cpu\\n60,5,b,2\\n40,30,a,1\\n")
    ...     _ = nodes.write_text("server,cpu\\ns1,4\\ns2,4\\n")
    ...     trace, servers = read_tasks(tasks, nodes, columns={"arrival_time": "submit"})
    >>> trace.arrivals, trace.durations, trace.users, servers.total_capacities
    (array([ 0., 20.]), array([30.,  5.]), ('b', 'a'), array([8.]))
    """
    heads, rows = distinct_rows(nodes, "server", "a table of nodes, with a column per resource")
    capacities = [units(row, "server") for row in rows.values()]
    if not heads:
        raise ModelError(f"{nodes}, line 1: no column is a resource; add one per resource, such as cpu")
    called = _called(Path(tasks), columns or {}, heads)
    texts = [called["user"]] if "user" in called else []
    types, users = Numbered(), Numbered()
    parts: list[tuple[np.ndarray, ...]] = []
    for piece in pieces(tasks, [called[name] for name in (*TIMES, *heads)], texts):
        arrivals = piece.numbers(called["arrival_time"], least=0)
        durations = piece.numbers(called["duration"], above=0)
        demands = [piece.numbers(called[name], least=0) for name in heads]
        piece.refuse(called[heads[0]], ~np.any(demands, axis=0), "and all other demands are 0; leave it out")
        whose = piece.texts(texts[0]) if texts else np.full(len(piece), "all")
        parts.append((arrivals, durations, types.of_rows(demands), users.of(whose)))
    arrivals, durations, type_of, user_of = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(arrivals, kind="stable")
    arrivals = arrivals[order]
    trace = ClusterTrace(
        heads,
        ["units"] * len(heads),
        arrivals - arrivals[0],
        durations[order],
        [list(row) for row in types.places],
        type_of[order],
        list(users.places),
        user_of[order],
        devices=devices,
        source=Path(tasks).name,
        notes=[] if (np.diff(order) > 0).all() else ["the table was not in the order of arrival: sorted"],
    )
    table = [[float(row.get(name, Fraction(0))) for name in heads] for row in capacities]
    return trace, NodeList(list(rows), heads, ["units"] * len(heads), table)


def _called(file: Path, given: Mapping[str, str], resources: Sequence[str]) -> dict[str, str]:
    """What the file calls each column; without a user if it has none."""
    known = (*TIMES, "user", *resources)
    for name in given:
        if name not in known:
            raise ModelError.of("columns", f"has no entry {name!r}; {near(name, known)}", name)
    called = {name: given.get(name, name) for name in known}
    with opened(file) as (stream, _, _):
        first = stream.readline().decode("utf-8-sig")
    there = [head.strip() for head in next(csv.reader([first]), [])]
    if "user" not in given and "user" not in there:
        del called["user"]
    return called
