"""What the results of this package share: one table per class, printed and drawn the same way."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike, NDArray

from fairness.display.drawing import bars
from fairness.display.result import Result
from fairness.display.tables import aligned
from fairness.model.problem import FloatArray
from queueing.model.system import System

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["ClassResult", "LittleMeans", "MomentTable", "class_lines", "class_table"]


class ClassResult(Result):
    """Base of results whose summary is a heading, their table and the evidence; drawn by :meth:`bars`."""

    system: System

    @property
    def _tabulated(self) -> int:
        return 1 + self.system.n_classes

    def bars(self, ax: Axes | None, quantity: str, *, error: ArrayLike | None = None, title: str) -> Axes:
        """One bar per class: an attribute of shape (n_classes,), plus or minus an error."""
        names, text = self.system.problem.job_classes, quantity.replace("_", " ")
        return bars(ax, names, getattr(self, quantity), error=error, ylabel=text, title=title)


class LittleMeans(ClassResult):
    """Base of results that know the mean counts: Little's law gives the durations and the service rates."""

    mean_jobs: FloatArray

    @cached_property
    def mean_durations(self) -> FloatArray:
        """Mean durations E[x_i]/lambda_i, (n_classes,); NaN where no job arrives."""
        return self.system.mean_durations(self.mean_jobs)

    @cached_property
    def service_rates(self) -> FloatArray:
        """Mean tasks of an active job, rho_i/E[x_i], (n_classes,); NaN where no job arrives."""
        return self.system.service_rates(self.mean_jobs)


class MomentTable(LittleMeans):
    """Base of laws of the counts, which know how far their means may be off, and the variances."""

    mean_jobs_error: FloatArray
    variances: Any

    def to_dataframe(self) -> pd.DataFrame:
        """One row per class: load, mean count and its error, variance, mean duration, service rate."""
        return class_table(
            self.system,
            mean_jobs=self.mean_jobs,
            mean_jobs_error=self.mean_jobs_error,
            variance=self.variances,
            mean_duration=self.mean_durations,
            service_rate=self.service_rates,
        )


def class_table(system: System, **columns: NDArray) -> pd.DataFrame:
    """One row per class: its load, then the given columns, each of shape (n_classes,)."""
    import pandas as pd

    index = pd.Index(system.problem.job_classes, name="job_class")
    return pd.DataFrame({"load": system.loads, **columns}, index=index)


def class_lines(table: pd.DataFrame) -> list[str]:
    """Lines of a readable table with six significant digits."""
    rows = ([str(name), *(f"{value:.6g}" for value in row)] for name, row in table.iterrows())
    return aligned([["class", *map(str, table.columns)], *rows])
