"""Tables in plain text for summaries: the first column to the left, the others to the right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from fairness.arguments.validation import FloatArray

if TYPE_CHECKING:
    from fairness.model.cluster import Cluster

__all__ = ["aligned", "server_table"]


def aligned(table: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table, indented by two: the first column to the left, the others to the right."""
    width = [max(len(line[k]) for line in table) for k in range(len(table[0]))]
    lines = []
    for line in table:
        cells = [line[0].ljust(width[0]), *(c.rjust(w) for c, w in zip(line[1:], width[1:], strict=True))]
        lines.append("  " + "  ".join(cells))
    return lines


def server_table(
    cluster: Cluster,
    counts: FloatArray,
    tasks: Sequence[str],
    cell: Callable[[int, int], str],
    *,
    widths: tuple[int, int],
) -> list[str]:
    """Lines with jobs, tasks and one cell per server for each class; "-" where a class cannot run.

    ``widths`` are the width of the tasks and the least width of a server.
    """
    first = max(12, *(len(name) for name in cluster.job_classes))
    hosts = [max(widths[1], len(server) + 2) for server in cluster.servers]
    heads = "".join(f"{server:>{w}}" for server, w in zip(cluster.servers, hosts, strict=True))
    lines = [f"  {'class':<{first}}{'jobs':>8}{'tasks':>{widths[0]}}{heads}"]
    for n, name in enumerate(cluster.job_classes):
        cells = (f"{cell(n, i) if cluster.eligible[n, i] else '-':>{w}}" for i, w in enumerate(hosts))
        lines.append(f"  {name:<{first}}{counts[n]:>8g}{tasks[n]:>{widths[0]}}{''.join(cells)}")
    return lines
