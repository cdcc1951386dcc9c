"""Pictures of laws of job counts: the law of each class, the joint law of two classes, or the means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from numpy.typing import ArrayLike, NDArray

from fairness.arguments.validation import require_choice
from fairness.display.drawing import squares, stems
from fairness.errors import ModelError
from queueing.model.system import System

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Chosen", "plot_law", "two_classes"]

DRAWN = ("marginals", "joint", "mean_jobs")
MOST_STEMS = 6
"""Classes whose laws are drawn unless others are asked for."""

Chosen = Sequence[int | str] | None
"""Classes by index or name; None leaves the choice."""


class CountLaw(Protocol):
    """A law of job counts: their means, the law of each, and the joint law of two."""

    @property
    def system(self) -> System:
        """Whose jobs are counted."""

    @property
    def marginals(self) -> Sequence[Any]:
        """Law of each count; entry i has shape (shape[i],)."""

    def joint(self, job_class: int | str, other: int | str) -> NDArray[Any]:
        """Joint law of the counts of two classes, (shape[i], shape[k])."""

    def bars(self, ax: Axes | None, quantity: str, *, error: ArrayLike | None, title: str) -> Axes:
        """One bar per class."""


def plot_law(
    ax: Axes | None,
    law: CountLaw,
    what: str | None,
    job_classes: Chosen,
    *,
    title: str,
    error: ArrayLike | None = None,
) -> Axes:
    """Draw what is asked for of a law of counts; without a wish marginals, of many classes the means.

    ``error`` of shape (n_classes,) is that of the means.

    Raises
    ------
    ModelError
        If ``what`` or a class is unknown or named twice, a joint law is not asked of two classes, or what
        is asked for was not kept.
    """
    system, names = law.system, law.system.problem.job_classes
    if what is None:
        few = job_classes is not None or system.n_classes <= MOST_STEMS
        what = "marginals" if few else "mean_jobs"
    if require_choice("what", what, DRAWN) == "mean_jobs":
        return law.bars(ax, "mean_jobs", error=error, title=title)
    if what == "joint":
        one, other = two_classes(system, job_classes)
        return squares(
            ax,
            law.joint(one, other),
            xlabel=f"jobs of {names[one]}",
            ylabel=f"jobs of {names[other]}",
            title=title,
        )
    chosen = range(system.n_classes) if job_classes is None else map(system.class_index, job_classes)
    shown = list(chosen)
    if not shown or len(set(shown)) < len(shown):
        raise ModelError.of("job_classes", f"must name classes, each once; got {list(job_classes or ())!r}")
    laws = law.marginals
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
