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

import os
from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from fairness.arguments.csv_rows import distinct_rows
from fairness.arguments.validation import require_choice
from fairness.errors import ModelError
from fairness.model.csv_tables import units
from fairqueues.traces.reading.gathering import Gathering
from fairqueues.traces.reading.schema import Amount, TaskTable
from queueing.recorded.cluster_trace import ClusterTrace
from queueing.recorded.columns import Rows, heads_of, renamed
from queueing.recorded.node_list import NodeList

__all__ = ["read_tasks"]

OWN = ("arrival_time", "duration", "user")
"""Columns of tasks that are no resources."""


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
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tasks, nodes = Path(folder, "tasks.csv"), Path(folder, "nodes.csv")
    ...     _ = tasks.write_text("submit,duration,user,cpu\\n60,5,b,2\\n40,30,a,1\\n")
    ...     _ = nodes.write_text("server,cpu\\ns1,4\\ns2,4\\n")
    ...     trace, servers = read_tasks(tasks, nodes, columns={"arrival_time": "submit"})
    >>> trace.arrivals, trace.durations, trace.users, servers.total_capacities
    (array([ 0., 20.]), array([30.,  5.]), ('b', 'a'), array([8.]))
    """
    heads, rows = distinct_rows(nodes, "server", "a table of nodes, with a column per resource")
    if not heads or (own := [name for name in heads if name in OWN]):
        said = (
            f"{own[0]!r} is no resource; call it otherwise" if heads else "no column is a resource; add one"
        )
        raise ModelError(f"{nodes}, line 1: {said}, such as cpu")
    if devices is not None:
        require_choice("devices", devices, heads)
    called = renamed((*OWN, *heads), columns)
    if called["user"] == "user" and "user" not in heads_of(tasks):
        called["user"] = ""
    amounts = tuple(Amount(name, "units", called[name]) for name in heads)

    def prepare(rows: Rows, _: Gathering) -> Rows:
        """Every task demands something."""
        idle = ~np.any([one.units(rows) for one in amounts], axis=0)
        rows.refuse(amounts[0].column, idle, "and all other demands are 0; leave it out")
        return rows

    found = TaskTable(
        title="",
        amounts=amounts,
        times=(called["arrival_time"],),
        duration=called["duration"],
        user=called["user"],
        devices=devices,
        prepare=prepare,
    ).read(tasks, origin=None)
    capacities = [units(row, "server") for row in rows.values()]
    table = [[float(row.get(name, Fraction(0))) for name in heads] for row in capacities]
    return found, NodeList(list(rows), heads, ["units"] * len(heads), table)
