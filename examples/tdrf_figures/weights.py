"""The weight by join time: continuous and whole tasks, and what becomes of the first user."""

from __future__ import annotations

from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np

from examples.gallery import Check, Page
from fairness import DRF, Problem, allocate
from fairness.display.colours import part_colour
from fairness.timed.tdrf import TDRF, integer_tdrf

__all__ = ["POOL", "join_time_weight"]

F = Fraction
JUMPS = np.array([1 / 3, 2 / 3, 4 / 3, 2])
"""Ratios at which whole tasks change, and where the other resource becomes the full one."""
POOL = Problem([[1, 2], [3, 1]], [9, 9], job_classes=["A", "B"], resources=["CPU", "RAM"])


def join_time_weight(*, full: bool) -> Page:
    """Section 2.4: tasks of A and B against the ratio of their time weights."""
    # Both sides of a jump, so that it is drawn where it is.
    ratios = np.union1d(np.geomspace(0.1, 10, 601 if full else 121), np.r_[JUMPS, JUMPS * (1 + 1e-9)])
    fluid = np.array([TDRF([1, ratio])(POOL, [1, 1]) for ratio in ratios])
    whole = np.array([integer_tdrf(POOL, [1, ratio]).tasks for ratio in ratios])
    figure, axes = plt.subplots(1, 2, figsize=(12, 4.6), layout="constrained")
    for n, name in enumerate(POOL.job_classes):
        axes[0].plot(ratios, fluid[:, n], color=part_colour(n), label=f"tasks of {name}")
        axes[0].step(
            ratios,
            whole[:, n],
            color=part_colour(n),
            linestyle=":",
            linewidth=2,
            where="post",
            label=f"whole tasks of {name}",
        )
    axes[0].axvline(8 / 3, color="0.5", linewidth=0.8)
    axes[0].annotate(
        "the printed (4, 1)\nneeds 8/3",
        (8 / 3, 5.1),
        (6, 0),
        textcoords="offset points",
        fontsize="small",
        va="center",
    )
    axes[0].set(
        xscale="log",
        xlabel="time weight of B over that of A",
        ylabel="tasks",
        title="Who joined earlier gets more",
        ylim=(0, 6),
    )
    axes[0].set_xticks([0.1, 0.3, 1, 3, 10], ["0.1", "0.3", "1", "3", "10"])
    axes[0].legend(fontsize="small", loc="upper left", ncols=2)

    starts = np.linspace(0, 1, 61)
    starved = np.array([TDRF([1, 2], initial_time=start)(POOL, [1, 1]) for start in starts])
    for n, name in enumerate(("A, who joins at 1", "B, who joins at 2")):
        axes[1].plot(starts, starved[:, n], color=part_colour(n), label=name)
    axes[1].set(
        xlabel="start of the system",
        ylabel="tasks",
        title="The same two users: only the start changes",
        ylim=(0, 5),
    )
    axes[1].legend(fontsize="small", loc="center left")

    table = {
        F(1): (F(3), F(2)),
        F(2): (F(27, 7), F(9, 7)),
        F(8, 3): (F(4), F(1)),
        F(3): (F(81, 20), F(9, 10)),
    }
    checks = [
        Check.exact(f"ratio {ratio}: tasks of A and B", tasks, allocate(POOL, TDRF([3, 3 * ratio])).tasks)
        for ratio, tasks in table.items()
    ]
    integer = {F(1, 4): (1, 2), F(1, 2): (2, 2), F(1): (3, 2), F(2): (4, 1), F(3): (4, 1)}
    for ratio, tasks in integer.items():
        ours = tuple(int(v) for v in integer_tdrf(POOL, [3, 3 * ratio]).tasks)
        checks.append(Check(f"ratio {ratio}, whole tasks", str(tasks), str(ours), ours == tasks))
    misprint = allocate(POOL, TDRF([1, 2])).tasks
    checks.append(
        Check.refuted(
            "section 2.3: DRF satisfies x/9 = 3y/9",
            "(3, 2)",
            f"({misprint[0]:.4f}, {misprint[1]:.4f})",
            bool(np.allclose(misprint, [27 / 7, 9 / 7], rtol=1e-12))
            and allocate(POOL, DRF()).tasks.tolist() == [3, 2],
            "the constraint as printed gives (27/7, 9/7); with the dominant share 2x/9 = 3y/9 it is (3, 2)",
        )
    )
    early = allocate(POOL, TDRF([1, 2], initial_time=1)).tasks
    checks.append(
        Check.refuted(
            "the first user when it starts with the system",
            "more, but shared",
            f"({early[0]:g}, {early[1]:g})",
            early.tolist() == [4.5, 0],
            "its weight is 0, so its weighted share is 0 whatever it gets: it takes everything and B starves",
        )
    )
    late = (TDRF([3, 8], final_time=10)(POOL, [1, 1]), TDRF([3, 8], final_time=1000)(POOL, [1, 1]))
    checks.append(
        Check.refuted(
            "who stays longer gets more",
            "the end of the system and departures matter",
            "no effect",
            bool(np.allclose(late[0], late[1], rtol=1e-12)),
            "t_max cancels from the constraint, and the time of leaving does not occur in it",
        )
    )
    return Page(
        "tdrf02_weights",
        "2. The weight by join time",
        "Sections 2.3 and 2.4 (9 CPUs, 9 GB; A needs 1 CPU and 2 GB, B 3 CPUs and 1 GB).",
        "TDRF makes dominant share times time weight equal. The times behind the printed result (4, 1) are not given; it is the solution if B's weight is 8/3 of A's, for example "
        "joining at 3 and 8 in a system that started at 0. Right: the same join times, but the closer the start of the system lies to the first arrival, the less is left for the second.",
        figure,
        {"ratio": ratios, "tasks": fluid, "whole tasks": whole, "start": starts, "tasks by start": starved},
        checks,
    )
