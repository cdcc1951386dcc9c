"""Guarantees, borrowing and lending in a cohort: what each queue gets as another grows."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

from examples.gallery import Check, Page
from fairness import Hierarchical, Problem, Tree
from fairness.display.colours import part_colour

__all__ = ["cohort"]

QUEUES = ("a", "b", "c")
GPUS = 12.0
MINIMUM = np.array([4.0, 4.0, 0.0])
WANTED_BY_B = 1.0
GUARANTEE = "guaranteed to a"
LENT = {"b lends all": np.inf, "b lends 1 of 4": 1.0}
MEASURES = {"total": "all that a queue holds", "borrowed": "what it holds above its guarantee"}


def cohort(*, full: bool) -> Page:
    """Three queues of a cohort; a wants more and more, b has nearly nothing to do, c takes all it gets."""
    wanted = np.linspace(0.25, GPUS, 95 if full else 48)
    given: dict[str, np.ndarray] = {}
    apart = 0.0
    figure, axes = plt.subplots(2, 2, figsize=(12, 8), layout="constrained", sharex=True, sharey=True)
    for row, (lends, lent) in zip(axes, LENT.items(), strict=True):
        tree = Tree(
            ["cohort", *QUEUES], [-1, 0, 0, 0], job_classes=QUEUES, class_nodes=[1, 2, 3], resources=["GPU"],
            minimum=np.r_[0.0, MINIMUM][:, None], lends=np.array([[np.inf], [np.inf], [lent], [np.inf]]),
        )  # fmt: skip
        kept = np.array([0.0, max(MINIMUM[1] - lent, 0.0), 0.0])
        for ax, (measure, told) in zip(row, MEASURES.items(), strict=True):
            policy = Hierarchical(tree, measure=measure)
            tasks = np.array([_tasks(policy, most) for most in wanted])
            direct = np.array([_direct(most, kept, measure) for most in wanted])
            apart = max(apart, float(np.abs(tasks - direct).max()))
            given[f"{lends}, {measure}"] = tasks
            idle = GPUS - tasks.sum(axis=1)
            ax.stackplot(
                wanted, *tasks.T, idle, labels=[*QUEUES, "idle"],
                colors=[*(part_colour(k) for k in range(3)), "0.9"],
            )  # fmt: skip
            ax.plot(wanted, np.minimum(wanted, MINIMUM[0]), color="white", ls="--", lw=1.2, label=GUARANTEE)
            ax.set(title=f"{lends};\ncompared: {told}", xlim=(wanted[0], GPUS), ylim=(0, GPUS))
    for ax in axes[-1]:
        ax.set_xlabel("GPUs that a wants")
    for ax in axes[:, 0]:
        ax.set_ylabel("GPUs held")
    handles, names = axes[0, 0].get_legend_handles_labels()
    # White is seen on the colour of a, not on paper.
    drawn = dict(zip(names, handles, strict=True))
    handles = [(drawn["a"], one) if name == GUARANTEE else one for name, one in drawn.items()]
    figure.legend(handles, names, loc="outside right center")
    end = {name: tasks[-1] for name, tasks in given.items()}
    total, borrowed = (end[f"b lends all, {measure}"] for measure in MEASURES)
    checks = [
        Check("all points, all four cases: largest difference from the definition, by bisection", "0", f"{apart:.1e}", apart < 1e-9),
        Check("guarantees: a holds what it wants, up to its 4 GPUs, at all points", "yes", *_kept(given, wanted)),
        Check("total, b lends all, a wants all: a, b, c", "[5.5, 1, 5.5]", str([round(x, 9) for x in total.tolist()]), bool(np.abs(total - [5.5, 1, 5.5]).max() < 1e-9)),
        Check("borrowed, b lends all, a wants all: a, b, c", "[7.5, 1, 3.5]", str([round(x, 9) for x in borrowed.tolist()]), bool(np.abs(borrowed - [7.5, 1, 3.5]).max() < 1e-9)),
    ]  # fmt: skip
    return Page(
        "cohort",
        "Guarantees, borrowing and lending",
        "Queues of a cohort as Kueue, YARN and Volcano have them: 12 GPUs, 4 guaranteed to a, 4 to b, none to c; weights are equal. b wants 1 GPU, c all it can get.",
        "From left to right in each panel a wants more. Up to its guarantee (white, dashed) a gets all that it wants at once, and c, which lived on what others did not use, gives way. Beyond, it matters what is compared: all that a queue holds, so that a stops at as much as c has (left); "
        "or only what is borrowed on top of the guarantee, so that a and c part the rest equally and a ends 4 GPUs above c (right). Below, b lends only 1 of its 4 GPUs: 3 are kept for it; it uses 1, and 2 are idle whatever the others want.",
        figure,
        {"wanted by a": wanted, **given},
        checks,
    )


def _tasks(policy: Hierarchical, most: float) -> np.ndarray:
    limits = [most, WANTED_BY_B, np.inf]
    pool = Problem([[1.0]] * 3, [GPUS], limits=limits, job_classes=QUEUES, resources=["GPU"])
    return policy(pool, [1, 1, 1])


def _direct(most: float, kept: np.ndarray, measure: str) -> np.ndarray:
    """The definition for one resource: the largest common level that the GPUs allow, by bisection."""
    limits = np.array([most, WANTED_BY_B, np.inf])
    floor = np.minimum(MINIMUM, limits)

    def held(level: float) -> np.ndarray:
        wish = np.maximum(floor, level) if measure == "total" else floor + level
        return np.minimum(limits, wish)

    low, high = 0.0, GPUS
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(held(middle), kept).sum() <= GPUS else (low, middle)
    return held(low)


def _kept(given: dict[str, np.ndarray], wanted: np.ndarray) -> tuple[str, bool]:
    least = min(float((tasks[:, 0] - np.minimum(wanted, MINIMUM[0])).min()) for tasks in given.values())
    return ("yes" if least > -1e-9 else f"{-least:g} short"), least > -1e-9
