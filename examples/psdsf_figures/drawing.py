"""How a cluster and its placements are drawn on the pages."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes

from fairness import Cluster
from fairness.display.colours import part_colour
from fairness.results import ClusterAllocation

__all__ = ["draw_cluster", "draw_placement", "listed"]


def listed(values: np.ndarray) -> str:
    """Numbers in brackets, as the paper writes vectors."""
    return "(" + ", ".join(f"{v:.5g}" for v in values) + ")"


def draw_cluster(cluster: Cluster, ax: Axes, *, unit: str = "tasks", host: str = "server") -> Axes:
    """Users on the left, servers on the right, a line where a user may run, with what it runs there alone."""
    users = np.linspace(1, 0, cluster.n_classes + 2)[1:-1]
    hosts = np.linspace(1, 0, cluster.n_servers + 2)[1:-1]
    placed: list[tuple[float, float]] = []
    for n, y in enumerate(users):
        text = cluster.job_classes[n]
        if cluster.n_resources > 1:
            text += f"\nneeds {listed(cluster.demands[n])}"
        if (cluster.weights != 1).any():
            text += f"\nweight {cluster.weights[n]:g}"
        ax.text(
            0.13,
            y,
            text,
            ha="center",
            va="center",
            fontsize="small",
            bbox={"boxstyle": "round", "fc": (part_colour(n), 0.25), "ec": part_colour(n)},
        )
        for i, z in enumerate(hosts):
            if cluster.eligible[n, i]:
                ax.plot([0.27, 0.72], [y, z], color=part_colour(n), linewidth=1, zorder=0)
                placed.append(_free(placed, y, z))
                ax.text(
                    *placed[-1],
                    f"{cluster.gamma[n, i]:.4g}",
                    fontsize="small",
                    ha="center",
                    va="center",
                    bbox={"fc": "white", "ec": part_colour(n), "lw": 0.6, "pad": 1.2},
                )
    for i, z in enumerate(hosts):
        text = cluster.servers[i] + (f"\n{listed(cluster.capacities[i])}" if cluster.n_resources > 1 else "")
        ax.text(
            0.86,
            z,
            text,
            ha="center",
            va="center",
            fontsize="small",
            bbox={"boxstyle": "square", "fc": "0.92", "ec": "0.4"},
        )
    ax.set(xlim=(0, 1), ylim=(0, 1))
    ax.set_axis_off()
    title = f"Numbers on lines: {unit} of a user alone on the {host}"
    if cluster.n_resources > 1:
        title += f"\nvectors: units of {', '.join(cluster.resources)}"
    ax.set_title(title, fontsize="medium")
    return ax


def _free(placed: list[tuple[float, float]], y: float, z: float) -> tuple[float, float]:
    """The place of a line from (0.27, y) to (0.72, z) that is farthest from numbers placed before."""
    candidates = [(0.27 + 0.45 * part, y + part * (z - y)) for part in np.linspace(0.12, 0.88, 20)]
    # Numbers are wider than high.
    return max(
        candidates,
        key=lambda at: min((abs(at[0] - x) / 2 + abs(at[1] - other) for x, other in placed), default=1.0),
    )


def draw_placement(
    result: ClusterAllocation,
    ax: Axes,
    *,
    title: str | None = None,
    unit: str = "tasks",
    together: Mapping[str, list[int]] | None = None,
) -> Axes:
    """Part of each resource of each server that every user holds, stacked; ``together``: servers of one bar."""
    cluster = result.cluster
    hosts = together or {server: [i] for i, server in enumerate(cluster.servers)}
    capacity = np.array([cluster.capacities[servers].sum(axis=0) for servers in hosts.values()])
    bars = [(i, r) for i in range(len(hosts)) for r in range(cluster.n_resources) if capacity[i, r] > 0]
    # A gap between servers.
    place = np.array([k + 0.6 * i for k, (i, _) in enumerate(bars)])
    left = np.zeros(len(bars))
    for n in range(cluster.n_classes):
        held = result.placement[n, :, None] * cluster.task_shares[n] * cluster.capacities
        used = np.array([held[servers].sum(axis=0) for servers in hosts.values()])
        part = np.array([used[i, r] / capacity[i, r] for i, r in bars])
        label = f"{cluster.job_classes[n]}: {result.tasks[n]:.5g}"
        ax.barh(place, part, 0.8, left=left, color=part_colour(n), label=label)
        left += part
    names = list(hosts)
    ax.set_yticks(place, [f"{names[i]}, {cluster.resources[r]}" for i, r in bars], fontsize="small")
    ax.set(xlabel="part in use", xlim=(0, 1.01), title=title or result.name)
    ax.invert_yaxis()
    ax.legend(
        fontsize="small",
        loc="upper center",
        bbox_to_anchor=(0.5, -0.16),
        ncols=2,
        title=f"{unit} in all",
        title_fontsize="small",
    )
    return ax
