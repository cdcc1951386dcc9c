"""Whole tasks: progressive filling, the gap between users, and what K machines change."""

from __future__ import annotations

from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np

from examples.drf_figures.example import POOL
from examples.gallery import Check, Page
from fairness import Cluster
from fairness.catalogue import colour
from fairness.display.colours import part_colour
from fairness.indivisible import deviation, fill_cluster, fill_tasks
from fairness.testing import random_problem

__all__ = ["whole_tasks"]


def whole_tasks(*, full: bool) -> Page:
    """Progressive filling of the example, the discrete gap at random, and K machines."""
    figure, axes = plt.subplots(1, 3, figsize=(13, 4.4), layout="constrained")
    filling = fill_tasks(POOL, ties=[1, 0])
    order = ", ".join(POOL.job_classes[i] for i in filling.order)
    checks = [
        Check("progressive filling serves", "B, A, A, B, A", order, order == "B, A, A, B, A"),
        Check(
            "tasks of A and B", "(3, 2)", str(tuple(filling.tasks.tolist())), filling.tasks.tolist() == [3, 2]
        ),
    ]
    shares = np.zeros((len(filling.order) + 1, 2))
    for step, i in enumerate(filling.order, start=1):
        shares[step] = shares[step - 1]
        shares[step, i] += POOL.task_shares[i].max()
    for n, name in enumerate(POOL.job_classes):
        axes[0].step(
            range(len(shares)), shares[:, n], where="post", color=part_colour(n), linewidth=2, label=name
        )
    axes[0].set(xlabel="tasks started", ylabel="dominant share", title=f"The poorest next: {order}")
    axes[0].legend(fontsize="small")

    pools = 5000 if full else 500
    rng = np.random.default_rng(2011)
    gaps = []
    for _ in range(pools):
        pool = random_problem(rng, int(rng.integers(2, 6)), int(rng.integers(1, 4)))
        pool = pool.replaced(capacities=pool.capacities * rng.uniform(5, 40))
        found = fill_tasks(pool)
        gaps.append(float(found.largest_gap) / float(found.gap_bound))
    axes[1].hist(gaps, bins=np.linspace(0, 1, 26), color=colour("DRF"))
    axes[1].axvline(1, color="black", linestyle="--", linewidth=1)
    axes[1].annotate(
        "one task", (1, 0.97), (-5, 0), xycoords=("data", "axes fraction"), textcoords="offset points",
        ha="right", va="top", fontsize="small",
    )  # fmt: skip
    axes[1].set(
        xlabel="largest gap / largest share of one task",
        ylabel="random pools",
        title="Between users: at most one task apart",
    )
    checks.append(
        Check(
            f"gap between two dominant shares over the largest one-task share, {pools:,} random pools",
            "at most 1",
            f"at most {max(gaps):.6f}",
            max(gaps) <= 1 + 1e-12,
        )
    )

    three = Cluster([[2]], [[3], [3], [3]])
    alone = deviation(fill_cluster(three, server_rule="first fit", stop="first misfit"))
    checks.append(
        Check.refuted(
            "K machines, each of one max-task or more: less than one max-task from the continuous shares",
            "guaranteed",
            f"three machines of 3 units, tasks of 2: share {alone.shares[0]} instead of {alone.continuous[0]}, one task is {alone.one_task}",
            bool(alone.holds_max_task and alone.below > alone.one_task),
            "true between any two users; against the continuous shares every machine may lose almost one task",
        )
    )
    counts = range(1, 9)
    below = []
    for machines in counts:
        found = deviation(
            fill_cluster(Cluster([[2]], [[3]] * machines), server_rule="first fit", stop="first misfit")
        )
        below.append(Fraction(found.below) / found.one_task)
    axes[2].plot(counts, [float(v) for v in below], "o-", color=colour("DRF"))
    axes[2].axhline(1, color="black", linestyle="--", linewidth=1)
    axes[2].annotate(
        "one task", (0.98, 1), (0, 3), xycoords=("axes fraction", "data"), textcoords="offset points",
        ha="right", fontsize="small",
    )  # fmt: skip
    axes[2].set(
        xlabel="machines of 3 units, tasks of 2",
        ylabel="tasks short of the continuous share",
        title="Against the continuous share:\none task does not bound it",
    )
    return Page(
        "drf04_whole_tasks",
        "4. Whole tasks",
        "Section 4.2 of the paper (Algorithm 1, as in Mesos) and the summary's last paragraph.",
        "Left: tasks are started for the poorest user; the first pick is a tie. Middle: no two users end more than one task apart, and the bound is attained. Right: on "
        "several machines the same holds between users, but the distance to the continuous allocation grows with the machines.",
        figure,
        {"shares": shares, "gaps": gaps, "short of the continuous share, tasks": [float(v) for v in below]},
        checks,
    )
