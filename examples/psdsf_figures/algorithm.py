"""Tables II and III: Algorithm I and its Update-Allocation, at work."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

from examples.gallery import Check, Page, Table
from examples.psdsf_figures.clusters import ALTERNATING, DATA_CENTER, EXAMPLE_1, EXAMPLE_2
from examples.psdsf_figures.drawing import listed
from fairness import PSDSF, NotConvergedError, allocate
from fairness.display.colours import part_colour

__all__ = ["algorithm_at_work"]

SWEEPS = {"figure 1": 1, "figure 2": 1, "figure 5": 2, "figure 5 without user 4": 14}
"""Sweeps that change something, counted by an independent implementation."""


def algorithm_at_work(*, full: bool) -> Page:
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

    figure, axes = plt.subplots(1, 2, figsize=(12.5, 4.6), layout="constrained")
    exact = allocate(DATA_CENTER, PSDSF(), [1, 1, 1, 0])
    trace = allocate(DATA_CENTER, PSDSF(method="algorithm-1"), [1, 1, 1, 0]).details["trace"]
    sizes = [
        max((u.part * u.rise / u.level for u in trace if u.sweep == k), default=np.nan) for k in range(1, 15)
    ]
    axes[0].semilogy(range(1, 15), sizes, "o-", color=part_colour(0))
    axes[0].set(
        xlabel="sweep over the four classes of servers",
        ylabel="largest relative rise of a lowest level",
        title="Figure 5 without user 4: the updates shrink by a constant factor",
    )
    numbers["alternating"], check = _alternation(axes[1])
    checks.append(check)
    numbers["rises"] = {"largest relative rise per sweep": sizes, "totals": exact.tasks}
    return Page(
        "psdsf09_algorithm",
        "9. Algorithm I at work",
        "Tables II and III (Algorithm I and its Update-Allocation subroutine).",
        "Each row is one call of Update-Allocation: the classes at the lowest level S* of a server gain, the highest classes on a full resource give back the part β of what they hold there. Whether "
        "the sweeps always end is left open in the paper. They need not: on the right they alternate between two placements for ever (proved in fractions in the tests); "
        "the water-filling that is the default here then continues with damped sweeps and finds an allocation that satisfies theorem 1.",
        figure,
        numbers,
        checks,
        tables,
    )


def _alternation(ax: plt.Axes) -> tuple[dict[str, list[float]], Check]:
    """Tasks of users 1 and 2 after each sweep over the cluster on which the sweeps do not end."""
    tasks = [_after(sweeps) for sweeps in range(1, 31)]
    late = [_after(sweeps) for sweeps in (200, 201, 202)]
    found = allocate(ALTERNATING, PSDSF())
    for n in range(2):
        ax.plot(
            range(1, 31),
            [t[n] for t in tasks],
            "o-",
            color=part_colour(n),
            label=f"user {n + 1}, Algorithm I",
        )
        ax.axhline(found.tasks[n], color=part_colour(n), linestyle="--", label=f"user {n + 1}, water-filling")
    ax.set(xlabel="sweep", ylabel="tasks", title="Five users, three servers: the sweeps alternate")
    ax.legend(fontsize="small", ncols=2, loc="center")
    swing, back = (float(np.abs(late[0] - other).max()) for other in late[1:])
    check = Check(
        "the sweeps of Algorithm I come to an end on every cluster",
        "left open by the paper",
        f"no: after 200 sweeps the tasks still change by {swing:.4f} from one to the next, and by {back:.0e} over two",
        None if swing > 1e-3 and back < 1e-8 and found.certificate.holds else False,
    )
    return {"user 1": [float(t[0]) for t in tasks], "user 2": [float(t[1]) for t in tasks]}, check


def _after(sweeps: int) -> np.ndarray:
    """Tasks after so many sweeps of Algorithm I that has not ended by then."""
    try:
        return allocate(ALTERNATING, PSDSF(method="algorithm-1", max_sweeps=sweeps)).tasks
    except NotConvergedError as stopped:
        return np.asarray(stopped.best.sum(axis=1))
