"""The classical counterexamples, drawn: what a violated property looks like."""

from __future__ import annotations

from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np

from examples.gallery import Check, Page
from fairness import DRF, AssetFair, Problem, ProportionalFair, allocate
from fairness.catalogue import colour

__all__ = ["counterexamples"]


def counterexamples(*, full: bool) -> Page:
    """Five examples of the paper, each as two bars per user: what it should have, what it gets."""
    figure, axes = plt.subplots(2, 3, figsize=(13, 7.5), layout="constrained")
    asset, ceei, drf = AssetFair(), ProportionalFair(), DRF()
    checks, numbers = [], {}

    pool = Problem([[1, 3], [1, 1]], [30, 30])
    result = allocate(pool, asset)
    checks.append(
        Check.exact(
            "asset fairness, (30, 30), demands (1,3), (1,1): tasks", [Fraction(6), Fraction(12)], result.tasks
        )
    )
    half = np.array([Fraction(15, 3), Fraction(15, 1)], dtype=float)
    _bars(axes[0, 0], "half of the pool", half, "asset fairness", result.tasks, asset.name)
    axes[0, 0].set_title("Asset fairness, sharing incentive:\nclass 2 would run 15 on its own half")
    numbers["asset, sharing incentive"] = {"alone": half, "shared": result.tasks}

    pool = Problem([[3, 2], [4, 1]], [21, 21])
    result = allocate(pool, asset)
    checks.append(
        Check.exact(
            "asset fairness, (21, 21), demands (3,2), (4,1): tasks", [Fraction(3), Fraction(3)], result.tasks
        )
    )
    _bars(
        axes[0, 1],
        "equal part",
        np.array([0.5, 0.5]),
        "asset fairness",
        result.tasks * pool.task_shares[:, 0],
        asset.name,
    )
    axes[0, 1].set_ylabel("share of resource 1")
    axes[0, 1].set_title(
        "Asset fairness, bottleneck fairness:\nresource 1 is dominant for both, 3/7 for class 1"
    )
    numbers["asset, bottleneck"] = {"shares": result.tasks * pool.task_shares[:, 0]}

    honest = allocate(Problem([[16, 1], [1, 2]], [100, 100]), ceei).tasks
    lying = allocate(Problem([[16, 8], [1, 2]], [100, 100]), ceei).tasks
    checks.append(
        Check.exact(
            "CEEI, (100, 100), demands (16,1), (1,2): tasks", [Fraction(100, 31), Fraction(1500, 31)], honest
        )
    )
    checks.append(
        Check.exact("CEEI if class 1 claims (16,8): tasks", [Fraction(25, 6), Fraction(100, 3)], lying)
    )
    _bars(axes[0, 2], "honest", honest, "class 1 claims (16, 8)", lying, ceei.name)
    axes[0, 2].set_title("CEEI, strategy-proofness:\na lie brings class 1 from 3.23 to 4.17")
    numbers["CEEI, lie"] = {"honest": honest, "lying": lying}

    three = allocate(Problem([[4, 1], [1, 16], [16, 1]], [100, 100]), ceei).tasks
    two = allocate(Problem([[4, 1], [1, 16]], [100, 100]), ceei).tasks
    checks += [
        Check.close(
            f"CEEI, (100, 100), demands (4,1), (1,16), (16,1): tasks of class {k + 1}",
            value,
            three[k],
            digits=3,
        )
        for k, value in enumerate((11.283, 5.351, 3.095))
    ]
    checks.append(Check.exact("CEEI after class 3 left: tasks", [Fraction(500, 21), Fraction(100, 21)], two))
    _bars(axes[1, 0], "three classes", three[:2], "class 3 left", two, ceei.name)
    axes[1, 0].set_title("CEEI, population monotonicity:\nclass 2 loses when class 3 leaves")
    numbers["CEEI, departure"] = {"three": three, "two": two}

    before = allocate(Problem([[2, 1], [1, 2]], [1, 1]), drf)
    after = allocate(Problem([[2, 1], [1, 2]], [2, 1]), drf)
    checks.append(Check.exact("DRF, (1, 1), demands (2,1), (1,2): tasks", [Fraction(1, 3)] * 2, before.tasks))
    checks.append(
        Check.exact(
            "DRF with twice resource 1: dominant share of class 2",
            [Fraction(1, 2)],
            after.dominant_shares[1:],
        )
    )
    _bars(axes[1, 1], "capacities (1, 1)", before.tasks, "capacities (2, 1)", after.tasks, drf.name)
    axes[1, 1].set_title("DRF, resource monotonicity:\nclass 2 loses when resource 1 doubles")
    numbers["DRF, growth"] = {"before": before.tasks, "after": after.tasks}

    demands, capacities = [[1, 0], [1, 1], [0, 1]], [1, 2]
    before = allocate(Problem(demands, capacities), drf)
    after = allocate(Problem(demands[1:], capacities), drf)
    checks.append(
        Check.exact(
            "DRF, (1, 2), demands (1,0), (1,1), (0,1): tasks",
            [Fraction(1, 2), Fraction(1, 2), Fraction(3, 2)],
            before.tasks,
        )
    )
    checks.append(
        Check.exact(
            "the same after class 1 left: tasks of classes 2, 3",
            [Fraction(2, 3), Fraction(4, 3)],
            after.tasks,
        )
    )
    _bars(axes[1, 2], "three classes", before.tasks[1:], "class 1 left", after.tasks, drf.name, first=2)
    axes[1, 2].set_title("DRF with zeros, population monotonicity:\nclass 3 loses when class 1 leaves")
    numbers["DRF, departure with zero demands"] = {"before": before.tasks, "after": after.tasks}
    return Page(
        "drf03_counterexamples",
        "3. Counterexamples by hand",
        "Section 6 and the appendix of the paper: one example per violated property.",
        "Grey: what the property promises, or what the class had before. Colour: what it gets. The last panel is ours: with zero demands even DRF loses population "
        "monotonicity, since a class that stops at resource 1 may grow when another leaves, and then crowds out a class on resource 2. So the property tables state which demands they allow.",
        figure,
        numbers,
        checks,
    )


def _bars(
    ax: plt.Axes,
    before: str,
    expected: np.ndarray,
    after: str,
    given: np.ndarray,
    policy: str,
    *,
    first: int = 1,
) -> None:
    """Two bars per class."""
    place = np.arange(len(expected))
    for shift, label, values, fill in ((-0.2, before, expected, "0.75"), (0.2, after, given, colour(policy))):
        bars = ax.bar(place + shift, values, 0.38, color=fill, label=label)
        ax.bar_label(bars, [f"{v:.3g}" for v in values], fontsize="small", padding=2)
    ax.set(xticks=place, xticklabels=[f"class {k + first}" for k in place], ylabel="tasks")
    ax.margins(y=0.28)
    ax.legend(fontsize="small", loc="upper left", ncols=2)
    ax.title.set_fontsize("medium")
