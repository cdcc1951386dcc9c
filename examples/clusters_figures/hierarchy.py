"""A tree of queues in which the naive recursion starves a class, task by task and in the limit."""

from __future__ import annotations

from fractions import Fraction as F

import matplotlib.pyplot as plt
import numpy as np

from examples.gallery import Check, Page, Table
from fairness import Hierarchical, Problem, Tree
from fairness.catalogue import colour
from fairness.display.colours import part_colour
from fairness.indivisible import HierarchicalShare, fill_tasks

__all__ = ["starvation"]

CLASSES = ("a", "b cpu", "b gpu")
TREE = Tree(["all", "A", "B"], [-1, 0, 0], job_classes=CLASSES, class_nodes=[1, 2, 2])
POOL = Problem([[0, 1], [1, 0], [0, 1]], [10, 10], job_classes=CLASSES, resources=["CPU", "GPU"])
DEEP_CLASSES = ("x", "y", "a", "z", "b")
DEEP = Tree(
    ["all", "A", "A1", "Z", "B"], [-1, 0, 1, 0, 0], weights=[1, 3, 1, 3, 1], job_classes=DEEP_CLASSES,
    class_nodes=[2, 2, 1, 3, 4],
)  # fmt: skip
DEEP_POOL = Problem(
    [[1, 0], [0, 1], [0, 1], [1, 0], [0, 1]], [100, 100], job_classes=DEEP_CLASSES, resources=["CPU", "GPU"]
)
"""A has a class a beside a queue A1 with two jobs x for CPU and one y for GPU; when the CPU is full, A1 is behind."""
FIVE = ("1", "2", "31", "32", "4")
WIDE = Tree(["all", "n1", "n2", "n3", "n4"], [-1, 0, 0, 0, 0], job_classes=FIVE, class_nodes=[1, 2, 3, 3, 4])
WIDE_POOL = Problem([[1, 0]] * 3 + [[0, 1]] * 2, [30, 30], job_classes=FIVE, resources=["CPU", "GPU"])
"""Four queues, of which n3 has a class that uses CPU, as n1 and n2 do, and one that uses GPU, as n4 does."""
STEPS = 24


def starvation(*, full: bool) -> Page:
    """Tasks that end and start again, one by one, under H-DRF and under the naive recursion."""
    paths = {
        rule.name: _churn(rule) for rule in (HierarchicalShare(TREE, naive=True), HierarchicalShare(TREE))
    }
    naive, sound = (Hierarchical(DEEP, naive=flag)(DEEP_POOL, [2, 1, 1, 1, 1]) for flag in (True, False))
    wide = Hierarchical(WIDE)(WIDE_POOL, np.ones(5))
    whole = fill_tasks(WIDE_POOL, HierarchicalShare(WIDE)).tasks
    last = {name: path[-1].tolist() for name, path in paths.items()}
    figure, axes = plt.subplots(1, 3, figsize=(14, 4.6), layout="constrained", width_ratios=[1, 1, 0.8])
    for ax, (name, path) in zip(axes[:2], paths.items(), strict=True):
        for n, job_class in enumerate(CLASSES):
            ax.step(
                range(len(path)), path[:, n], where="post", color=part_colour(n), label=job_class, lw=2.5,
                ls=(0, (3, 2)) if job_class == "b gpu" else "-",
            )  # fmt: skip
        ax.set(title=f"{name}, task by task", xlabel="tasks that have ended", ylim=(-0.3, 11))
    axes[0].set_ylabel("tasks running")
    axes[0].legend(fontsize="small", loc="center right")
    places = np.arange(len(DEEP_CLASSES))
    axes[2].bar(places - 0.2, naive, 0.4, color="0.65", label="naive H-DRF")
    axes[2].bar(places + 0.2, sound, 0.4, color=colour("H-DRF"), label="H-DRF")
    axes[2].set_xticks(places, DEEP_CLASSES)
    axes[2].set(title="Divisible tasks,\nqueues in three levels", ylabel="tasks running")
    axes[2].legend(fontsize="small", loc="upper left")
    checks = [
        Check("naive, after the churn: tasks of (a, b cpu, b gpu)", "[10, 10, 0]: b gpu has starved", str(last["naive H-DRF"]), last["naive H-DRF"] == [10, 10, 0]),
        Check("H-DRF, after the churn", "[5, 10, 5]", str(last["H-DRF"]), last["H-DRF"] == [5, 10, 5]),
        Check.exact("naive, divisible tasks in three levels: x, y, a, z, b", [F(40), F(35), F(40), F(60), F(25)], naive),
        Check.exact("H-DRF, divisible tasks in three levels", [F(40), F(36), F(40), F(60), F(24)], sound),
        Check.exact("four queues on 30 CPUs and 30 GPUs, of which n3 has a class 31 for CPU (as n1, n2) and 32 for GPU (as n4): tasks of 1, 2, 31, 32, 4, divisible", [F(10)] * 3 + [F(15)] * 2, wide),
        Check("the same in whole tasks", "[10, 10, 10, 15, 15]", str(whole.tolist()), whole.tolist() == [10, 10, 10, 15, 15]),
    ]  # fmt: skip
    return Page(
        "starvation",
        "A hierarchy in which the naive recursion starves a queue",
        "A. Bhattacharya et al., Hierarchical scheduling for diverse datacenter workloads, SoCC 2013: a queue A, and a queue B with a class that uses only CPU and one that uses only GPU; 10 CPUs, 10 GPUs.",
        "Both start from 5, 10 and 5 tasks. Then tasks end, one of b gpu and one of a by turns, and the scheduler starts what it finds fair. The naive recursion gives B the largest share that it holds of anything: that of b cpu, all the CPU. "
        "So B always counts as richer than A, each GPU that falls free goes to A, and b gpu starves, though the CPUs of its sibling are of no use to it. H-DRF scales what siblings hold down to the least of those that can still grow, and passes over the blocked: b gpu keeps its half of the GPUs. "
        "Right: in the limit of small tasks a static case. When the CPU is full, a has 40 GPUs and its sibling, the queue of x and y, 20, which count as 20 and 20: their queue, of weight 3, is at 40 where b, of weight 1, has 20, and comes up to three times b first. Naive, it is at 60 already.",
        figure,
        {"task by task": paths, "divisible, naive": naive, "divisible, H-DRF": sound},
        checks,
        [
            Table(
                "Divisible tasks, queues in three levels",
                ["class", "naive", "H-DRF"],
                [[name, f"{x:g}", f"{y:g}"] for name, x, y in zip(DEEP_CLASSES, naive, sound, strict=True)],
            )
        ],
    )


def _churn(rule: HierarchicalShare) -> np.ndarray:
    """Tasks after each end and the starts that follow it, shape (STEPS + 1, n_classes); H-DRF starts the first."""
    held = fill_tasks(POOL, HierarchicalShare(TREE)).tasks
    path = [held]
    for step in range(STEPS):
        held = held.copy()
        held[2 if step % 2 == 0 and held[2] > 0 else 0] -= 1
        held = held + fill_tasks(POOL, rule, holdings=held[:, None] * POOL.demands).tasks
        path.append(held)
    return np.array(path)
