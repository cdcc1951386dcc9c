"""Readers of a recorded cluster by their names: those that make tasks and nodes of two files."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from fairness.arguments.validation import require_choice
from fairness.errors import ModelError
from fairqueues.traces.alibaba_gpu import read_alibaba_gpu_2023
from fairqueues.traces.philly import read_philly
from fairqueues.traces.task_tables import read_tasks
from queueing.recorded.cluster_trace import ClusterTrace
from queueing.recorded.node_list import NodeList

__all__ = ["READERS", "read_recorded"]


def _saved(tasks: Any, nodes: Any) -> tuple[ClusterTrace, NodeList]:
    return ClusterTrace.load(tasks), NodeList.load(nodes)


READERS: dict[str, Callable[..., tuple[ClusterTrace, NodeList]]] = {
    "saved": _saved,
    "tasks": read_tasks,
    "alibaba-gpu-2023": read_alibaba_gpu_2023,
    "philly": read_philly,
}
"""Files of save(), tables of one's own, and published traces."""


def read_recorded(
    reader: str,
    tasks: str | os.PathLike[str],
    nodes: str | os.PathLike[str],
    columns: Mapping[str, str] | None = None,
    devices: str | None = None,
) -> tuple[ClusterTrace, NodeList]:
    """Tasks and nodes of a recorded cluster.

    Parameters
    ----------
    reader : {"saved", "tasks", "alibaba-gpu-2023", "philly"}
    tasks, nodes : path
    columns, devices
        Of :func:`~fairqueues.traces.read_tasks` only.

    Raises
    ------
    ModelError
        If a file is not what the reader reads.
    """
    read = READERS[require_choice("reader", reader, tuple(READERS))]
    if reader == "tasks":
        return read(tasks, nodes, columns=columns, devices=devices)
    for name, given in (("columns", columns), ("devices", devices)):
        if given:
            raise ModelError.of(name, f'go with reader "tasks"; {reader!r} knows its own')
    return read(tasks, nodes)
