"""Tables II and III: Algorithm I and its Update-Allocation, at work."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

from examples.gallery import Check, Page, Table
from examples.psdsf_figures.clusters import DATA_CENTER, EXAMPLE_1, EXAMPLE_2
from examples.psdsf_figures.drawing import class_colour, listed
from fairness import PSDSF, allocate

__all__ = ["algorithm_at_work"]

SWEEPS = {"figure 1": 1, "figure 2": 1, "figure 5": 2, "figure 5 without user 4": 14}
"""Sweeps that change something, counted by an independent implementation."""


def algorithm_at_work(*, quick: bool) -> Page:
    """Every update that Algorithm I makes on the paper's examples, and the tasks after each sweep."""
    cases = {
        "figure 1": (EXAMPLE_1, None),
        "figure 2": (EXAMPLE_2, None),
        "figure 5": (DATA_CENTER, None),
        "figure 5 without user 4": (DATA_CENTER, [1, 1, 1, 0]),
    }
    checks, tables, numbers = [], [], {}
    for name, (cluster, counts) in cases.items():
        result = allocate(cluster, PSDSF(method="algorithm-1"), counts)
        filled = allocate(cluster, PSDSF(), counts)
        sweeps, trace = result.details["sweeps"], result.details["trace"]
        numbers[name] = {"tasks": result.tasks, "sweeps": sweeps, "updates": len(trace)}
        checks.append(
            Check(f"{name}: sweeps with updates", str(SWEEPS[name]), str(sweeps), sweeps == SWEEPS[name])
        )
        same = bool(np.allclose(result.tasks, filled.tasks, rtol=1e-9))
        checks.append(
            Check(f"{name}: totals of Algorithm I and of water-filling", "equal", listed(result.tasks), same)
        )
        users, servers = cluster.job_classes, cluster.servers
        rows = [
            [
                str(update.sweep),
                servers[update.server],
                f"{update.level:.6g}",
                ", ".join(users[n] for n in update.raised),
                ", ".join(users[n] for n in update.released) or "nobody",
                f"{update.part:.6g}",
                f"{update.rise:.6g}",
            ]
            for update in trace[:12]
        ]
        more = f" (the first 12 of {len(trace)})" if len(trace) > 12 else ""
        header = ["sweep", "server", "S*", "who gains (N*)", "who gives back (n_r)", "β", "z"]
        tables.append(Table(f"Updates on {name}{more}", header, rows))

    figure, ax = plt.subplots(figsize=(9, 4.6), layout="constrained")
    exact = allocate(DATA_CENTER, PSDSF(), [1, 1, 1, 0])
    trace = allocate(DATA_CENTER, PSDSF(method="algorithm-1"), [1, 1, 1, 0]).details["trace"]
    sizes = [
        max((u.part * u.rise / u.level for u in trace if u.sweep == k), default=np.nan) for k in range(1, 15)
    ]
    ax.semilogy(range(1, 15), sizes, "o-", color=class_colour(0))
    ax.set(
        xlabel="sweep over the four classes of servers",
        ylabel="largest relative rise of a lowest level",
        title="Figure 5 without user 4: the updates shrink by a constant factor",
    )
    numbers["rises"] = {"largest relative rise per sweep": sizes, "totals": exact.tasks}
    return Page(
        "psdsf09_algorithm",
        "9. Algorithm I at work",
        "Tables II and III (Algorithm I and its Update-Allocation subroutine).",
        "Each row is one call of Update-Allocation: the classes at the lowest level S* of a server gain, the highest classes on a full resource give back the part β of what they hold there. Whether "
        "the sweeps always end is left open in the paper; page 7 counts what happens at random.",
        figure,
        numbers,
        checks,
        tables,
    )
