"""The worked example: nine CPUs and 18 GB, shared by DRF, asset fairness and CEEI."""

from __future__ import annotations

from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np

from examples.gallery import Check, Page, Table
from fairness import DRF, AssetFair, Problem, ProportionalFair, allocate
from fairness.catalogue import colour
from fairness.results.plotting import plot_sharing

__all__ = ["POOL", "worked_example"]

POOL = Problem([[1, 4], [3, 1]], [9, 18], job_classes=["A", "B"], resources=["CPU", "memory"])

EXPECTED = {
    "DRF": (Fraction(3), Fraction(2)),
    "Asset": (Fraction(63, 25), Fraction(54, 25)),
    "PF": (Fraction(45, 11), Fraction(18, 11)),
}


def worked_example(*, full: bool) -> Page:
    """The example of the summary and of section 4 of the paper, with weights 2:1 as well."""
    figure, axes = plt.subplots(1, 2, figsize=(12, 5), layout="constrained")
    policies = (DRF(), AssetFair(), ProportionalFair())
    plot_sharing(POOL, policies, axes[0])
    axes[0].set_title("Feasible tasks of A (1 CPU, 4 GB) and B (3 CPU, 1 GB)")

    checks, rows, numbers = [], [], {}
    height = 0.26
    for k, policy in enumerate(policies):
        result = allocate(POOL, policy)
        numbers[policy.name] = {"tasks": result.tasks, "dominant_shares": result.dominant_shares}
        checks.append(Check.exact(f"{policy.name} allocation (A, B)", EXPECTED[policy.name], result.tasks))
        rows.append(
            [
                policy.name,
                *(f"{t:.4g}" for t in result.tasks),
                *(f"{s:.4g}" for s in result.dominant_shares),
                *(f"{u:.4g}" for u in result.usage),
            ]
        )
        place = np.arange(2) + (k - 1) * height
        axes[1].barh(place, result.dominant_shares, height, color=colour(policy.name), label=policy.name)
        for y, share in zip(place, result.dominant_shares, strict=True):
            axes[1].annotate(
                f"{share:.3f}", (share, y), (4, 0), textcoords="offset points", va="center", fontsize="small"
            )
    axes[1].set(yticks=[0, 1], yticklabels=POOL.job_classes, xlabel="dominant share", xlim=(0, 1.12))
    axes[1].set_ylim(1.5, -0.5)
    axes[1].set_title("Dominant shares: memory for A, CPU for B")
    axes[1].legend(fontsize="small", loc="lower right")

    weighted = allocate(POOL.replaced(weights=[2, 1]), DRF())
    numbers["DRF, weights 2:1"] = {"tasks": weighted.tasks}
    checks.append(
        Check.exact("weighted DRF, weights 2:1 (A, B)", (Fraction(54, 13), Fraction(18, 13)), weighted.tasks)
    )
    dominant = ["CPU" if share[0] > share[1] else "memory" for share in POOL.task_shares]
    checks.append(
        Check.refuted(
            "dominant resources of A and B",
            "CPU for A, memory for B (in words)",
            f"{dominant[0]} for A, {dominant[1]} for B",
            dominant == ["memory", "CPU"],
            "the summary swaps the two; its own fractions, 4/18 > 1/9 and 3/9 > 1/18, say the same as here",
        )
    )
    return Page(
        "drf01_example",
        "1. Nine CPUs and 18 GB",
        "Section 4 of the paper (figure 3 there), and the summary's equations.",
        "DRF makes the dominant shares equal: 3 tasks of A hold 12/18 of the memory, 2 tasks of B hold 6/9 of the CPUs. Asset fairness makes the "
        "sums of the shares equal; CEEI (proportional fairness here) maximises the product of the tasks.",
        figure,
        numbers,
        checks,
        [
            Table(
                "Allocations",
                [
                    "policy",
                    "tasks of A",
                    "tasks of B",
                    "dominant share of A",
                    "dominant share of B",
                    "CPUs in use",
                    "GB in use",
                ],
                rows,
            )
        ],
    )
