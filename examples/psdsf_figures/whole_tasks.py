"""Whole tasks on two servers: what a criterion per server is worth."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

from examples.gallery import Check, Page, Table
from fairness import DRFH, PSDSF, Cluster, allocate
from fairness.indivisible import (
    DominantShare,
    ResidualShare,
    TaskShare,
    VirtualShare,
    fill_cluster,
    repeat_filling,
)

__all__ = ["whole_tasks"]

TWINS = Cluster([[5, 1], [1, 5]], [[100, 30], [30, 100]], job_classes=["user 1", "user 2"])


def whole_tasks(*, full: bool) -> Page:
    """The example of Shan, Kesidis and others: totals under five ways to place whole tasks."""
    runs = 400 if full else 50
    averages = {
        name: repeat_filling(TWINS, rule, runs=runs, rng=2018)
        for name, rule in (
            ("DRF", DominantShare()),
            ("TSF", TaskShare()),
            ("PS-DSF", VirtualShare()),
            ("rPS-DSF", ResidualShare()),
        )
    }
    joint = fill_cluster(TWINS, VirtualShare(), server_rule="joint")
    residual = fill_cluster(TWINS, ResidualShare(), server_rule="joint")
    fitted = fill_cluster(TWINS, DominantShare(), server_rule="best fit")
    fluid = {"PS-DSF": allocate(TWINS, PSDSF()), "DRFH": allocate(TWINS, DRFH())}
    bars = {
        f"{name}, servers\nin random order": float(runs_.totals.mean()) for name, runs_ in averages.items()
    }
    bars |= {
        "PS-DSF, class and\nserver together": joint.total,
        "rPS-DSF, class and\nserver together": residual.total,
        "DRF, best fit": fitted.total,
    }
    bars |= {f"{name},\ncontinuous": float(result.tasks.sum()) for name, result in fluid.items()}
    # As in the table: of one order, not of the mean.
    spread = [float(found.totals.std(ddof=1)) for found in averages.values()]
    figure, ax = plt.subplots(figsize=(11, 4.8), layout="constrained")
    drawn = ax.barh(list(bars), list(bars.values()), color=["0.5"] * 7 + ["0.8"] * 2)
    means = list(bars.values())[: len(spread)]
    whiskers = ax.errorbar(means, range(len(spread)), xerr=spread, fmt="none", ecolor="black", capsize=3)
    ax.legend(
        [drawn[0], drawn[-1], whiskers],
        ["whole tasks", "tasks divided at will", f"standard deviation over {runs} random orders"],
        loc="upper right",
        fontsize="small",
    )
    exact = list(bars.values())[len(spread) :]
    for y, (value, wide) in enumerate(zip([*means, *exact], [*spread, *[0.0] * len(exact)], strict=True)):
        told = f"{value:.2f}" + (f" ± {wide:.2f}" if y < len(spread) else "")
        ax.annotate(
            told, (value + wide, y), (5, 0), textcoords="offset points", va="center", fontsize="small"
        )
    ax.invert_yaxis()
    ax.set(
        xlabel="tasks running in all",
        xlim=(0, 50),
        title="Servers (100, 30) and (30, 100), tasks of (5, 1) and (1, 5)",
    )
    rows = [
        [
            name,
            *(f"{v:.2f} ± {s:.2f}" for v, s in zip(found.mean.ravel(), found.std.ravel(), strict=True)),
        ]
        for name, found in averages.items()
    ]
    checks = [
        Check("PS-DSF, class and server together: tasks in all", "41", str(joint.total), joint.total == 41),
        Check("rPS-DSF: tasks in all (the most that fit)", "42", str(residual.total), residual.total == 42),
        Check.close("continuous PS-DSF, tasks of each user", 20, float(fluid["PS-DSF"].tasks[0])),
        Check.close("continuous DRFH, tasks of each user (65/3)", 65 / 3, float(fluid["DRFH"].tasks[0])),
    ]
    return Page(
        "psdsf08_whole_tasks",
        "8. Whole tasks on two servers",
        "Not in the paper: the example of Y. Shan, G. Kesidis and others (arXiv:1803.00922) on the same mechanisms.",
        "A criterion that looks at one server at a time places almost every task where it fits best; DRF and TSF, blind to servers, waste nearly half. The last two bars are divisible "
        "tasks: PS-DSF gives 20 each where 21.67 each is feasible, another allocation under resource division that is not Pareto efficient.",
        figure,
        {
            "totals": {name.replace("\n", " "): value for name, value in bars.items()},
            "standard deviations": dict(zip(averages, spread, strict=True)),
            "mean placements": {name: np.asarray(found.mean) for name, found in averages.items()},
        },
        checks,
        [
            Table(
                f"Tasks, mean and standard deviation over {runs} random orders (averages depend on tie-breaking, so none are compared)",
                [
                    "rule",
                    "user 1, server 1",
                    "user 1, server 2",
                    "user 2, server 1",
                    "user 2, server 2",
                ],
                rows,
            )
        ],
    )
