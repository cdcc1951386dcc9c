"""Why is my share what it is? One class of a tree of queues, explained."""

from __future__ import annotations

from fractions import Fraction as F

import matplotlib.pyplot as plt
import numpy as np

from examples.gallery import Check, Page, Table
from fairness import Hierarchical, Problem, Tree, allocate, explain
from fairness.display.drawing import height_of

__all__ = ["explained"]

TREE = Tree.from_dict(
    {
        "company": {
            "queues": {
                "research": {"weight": 1, "classes": ["train", "notebook"]},
                "product": {"weight": 2, "classes": ["serve"], "queues": {"data": {"classes": ["etl"]}}},
            }
        }
    }
)
POOL = Problem(
    [[8, 1], [2, 0.25], [4, 0.5], [4, 0]],
    [512, 64],
    limits=[np.inf, 40, np.inf, np.inf],
    job_classes=["train", "notebook", "serve", "etl"],
    resources=["CPU", "GPU"],
)


def explained(*, full: bool) -> Page:
    """The class ``train`` under H-DRF: what stops it, who holds it, what would change."""
    policy = Hierarchical(TREE)
    allocation = allocate(POOL, policy)
    why = explain(allocation, "train", policy)
    figure, (left, right) = plt.subplots(1, 2, figsize=(14, 6), layout="constrained", width_ratios=[1.6, 1])
    why.plot(left)
    why.plot_holders(right)
    figure.set_figheight(height_of([name.get_text() for name in left.get_yticklabels()]))
    cases = {"now": why.tasks, **{name: case.tasks for name, case in why.cases.items()}}
    expected = {
        "now": F(34, 3),
        "with twice the weight of company/research": F(22),
        "alone": F(64),
    }
    checks = [
        Check.exact(
            f"tasks of train, {name}, from the definition of H-DRF by hand", [value], np.array([cases[name]])
        )
        for name, value in expected.items()
    ]
    rows = [[name, f"{value:.4g}", f"{value - cases['now']:+.4g}"] for name, value in cases.items()]
    return Page(
        "explained",
        "Explain: why is my share what it is?",
        "fairness.explain, fairqueues explain: one class of a tree of queues under H-DRF, a CPU-bound pool with 512 cores and 64 GPUs.",
        "Research may have a third of the pool by weight, and holds a third of the CPU: 512/3 cores. Its notebooks are at their limit of 40 (80 cores), so training gets the rest, 272/3 cores or 34/3 tasks of 8 cores. "
        "It also holds just a third of the GPUs, 64/3: a GPU more changes nothing, but with one less GPUs would be its dominant share, and it would get fewer of both. Twice the weight of the class moves little, as its own queue holds it back: twice the weight of the queue gives 22 tasks. "
        "Left: what it would run in other cases, each an allocation made anew; right: who holds what stops it.",
        figure,
        {"tasks": cases},
        checks,
        [
            Table("In words", ["explain(allocation, 'train')"], [[str(why)]]),
            Table("What would change", ["case", "tasks", "change"], rows),
        ],
    )
