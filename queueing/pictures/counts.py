"""Pictures of laws of job counts: the law of each class, the joint law of two classes, or the means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from fairness.arguments.validation import require_choice
from fairness.display.drawing import squares, stems
from fairness.errors import ModelError
from fairness.model.problem import FloatArray
from queueing.model.system import System

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Chosen", "plot_counts", "two_classes"]

DRAWN = ("marginals", "joint", "mean_jobs")
MOST_STEMS = 6
"""Classes whose laws are drawn unless others are asked for."""

Chosen = Sequence[int | str] | None
"""Classes by index or name; None leaves the choice."""


def plot_counts(
    ax: Axes | None,
    system: System,
    what: str | None,
    job_classes: Chosen,
    *,
    title: str,
    means: Callable[[], Axes],
    marginals: Callable[[], Sequence[FloatArray]],
    joint: Callable[[int, int], FloatArray],
) -> Axes:
    """Draw what is asked for of a law of counts; without a wish marginals, of many classes the means.

    Raises
    ------
    ModelError
        If ``what`` or a class is unknown or named twice, or a joint law is not asked of two classes.
    """
    names = system.problem.job_classes
    if what is None:
        few = job_classes is not None or system.n_classes <= MOST_STEMS
        what = "marginals" if few else "mean_jobs"
    if require_choice("what", what, DRAWN) == "mean_jobs":
        return means()
    if what == "joint":
        one, other = two_classes(system, job_classes)
        return squares(
            ax,
            joint(one, other),
            xlabel=f"jobs of {names[one]}",
            ylabel=f"jobs of {names[other]}",
            title=title,
        )
    chosen = range(system.n_classes) if job_classes is None else map(system.class_index, job_classes)
    shown = list(chosen)
    if not shown or len(set(shown)) < len(shown):
        raise ModelError.of("job_classes", f"must name classes, each once; got {list(job_classes or ())!r}")
    laws = marginals()
    return stems(
        ax,
        [laws[i] for i in shown],
        [names[i] for i in shown],
        parts=shown,
        xlabel="jobs",
        ylabel="probability",
        title=title,
    )


def two_classes(system: System, job_classes: Chosen) -> tuple[int, int]:
    """The two classes of a joint law; by default those of a system that has two with arrivals.

    Raises
    ------
    ModelError
        If there are not two, or they are one.
    """
    if job_classes is None:
        chosen = [int(i) for i in (system.arrival_rates > 0).nonzero()[0]]
        told = f"{len(chosen)} classes have arrivals"
    else:
        chosen = [system.class_index(one) for one in job_classes]
        told = f"got {list(job_classes)!r}"
    if len(chosen) != 2 or chosen[0] == chosen[1]:
        names = system.problem.job_classes
        raise ModelError.of(
            "job_classes",
            f"must name two classes of which the joint law is drawn, such as {list(names[:2])}; {told}",
        )
    return chosen[0], chosen[1]
