"""How placements are told and drawn: a column per server, and a bar per resource of each server."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairness.display.drawing import stacked_bars
from fairness.display.tables import aligned
from fairness.model.cluster import Cluster
from fairness.model.problem import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["placement_bars", "server_table", "tasks_of"]


def server_table(
    cluster: Cluster,
    counts: FloatArray,
    tasks: Sequence[str],
    cell: Callable[[int, int], str],
) -> list[str]:
    """Lines with jobs, tasks and one cell per server for each class; "-" where a class cannot run."""
    table = [["class", "jobs", "tasks", *cluster.servers]]
    for n, name in enumerate(cluster.job_classes):
        cells = (cell(n, i) if can else "-" for i, can in enumerate(cluster.eligible[n]))
        table.append([name, f"{counts[n]:g}", tasks[n], *cells])
    return aligned(table)


def tasks_of(names: Sequence[str], tasks: NDArray[Any]) -> list[str]:
    """Entries of a legend: what the classes run."""
    return [f"{name}: {float(n):.4g} tasks" for name, n in zip(names, tasks, strict=True)]


def placement_bars(cluster: Cluster, placement: NDArray[Any], title: str, ax: Axes | None) -> Axes:
    """Stacked bars: part of each resource of each server that every class holds."""
    server, resource = np.nonzero(cluster.capacities)
    names = [f"{cluster.servers[i]}, {cluster.resources[r]}" for i, r in zip(server, resource, strict=True)]
    parts = placement[:, server] * cluster.task_shares[:, server, resource]
    return stacked_bars(ax, names, parts, tasks_of(cluster.job_classes, placement.sum(axis=1)), title=title)
