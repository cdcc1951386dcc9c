"""A fluid trajectory and its events, as :func:`queueing.fluid.trajectory.trajectory` returns them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairness.display.drawing import curves
from fairness.display.result import Result
from fairness.model.problem import FloatArray
from queueing.model.system import System

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["FluidEvent", "Trajectory"]


@dataclass(frozen=True)
class FluidEvent:
    """A change of regime.

    Attributes
    ----------
    time : float
    kind : {"empties", "leaves zero", "all empty"}
    job_class : str or None
        None for "all empty".
    """

    time: float
    kind: str
    job_class: str | None


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory(Result):
    """A solution of the fluid equation; made by :func:`trajectory`.

    Attributes
    ----------
    system : System
    policy : str
        Name of the policy.
    times : ndarray of shape (n_times,)
    counts : ndarray of shape (n_times, n_classes), jobs
    events : tuple of FluidEvent
    emptying_time : float
        When the last job leaves; infinite if the jobs diverge, NaN if that was not seen.
    status : {"emptied", "horizon", "diverged", "unfinished"}
        The last only in NotConvergedError.best.
    closing : float
        Part of emptying_time that was not integrated but drained along a ray.
    evaluations : int
        Calls of the policy.
    """

    system: System
    policy: str
    times: FloatArray
    counts: FloatArray
    events: tuple[FluidEvent, ...]
    emptying_time: float
    status: str
    closing: float
    evaluations: int

    @property
    def workloads(self) -> FloatArray:
        """Work waiting for each resource, sum_i a_ij sigma_i x_i, shape (n_times, n_resources), unit-time."""
        return self.counts * self.system.mean_sizes @ self.system.problem.demands

    def to_dataframe(self) -> pd.DataFrame:
        """One row per time: jobs of every class."""
        import pandas as pd

        names = pd.Index(self.system.problem.job_classes, name="job_class")
        return pd.DataFrame(self.counts, index=pd.Index(self.times, name="time"), columns=names)

    def summary(self) -> str:
        """Start, end and what happened in between."""
        start = ", ".join(f"{x:.6g}" for x in self.counts[0])
        end = {
            "emptied": f"all jobs gone at time {self.emptying_time:.6g}",
            "horizon": f"at time {self.times[-1]:.6g} the jobs are {self.counts[-1]}",
            "unfinished": f"given up at time {self.times[-1]:.6g} with jobs {self.counts[-1]}",
            "diverged": f"the jobs diverge ({self.counts[-1].sum():.3g} at time {self.times[-1]:.3g})",
        }[self.status]
        lines = [f"{self.policy} fluid trajectory from ({start}): {end}"]
        lines += [
            f"  {event.time:.6g}: {event.job_class} {event.kind}"
            for event in self.events
            if event.job_class is not None
        ]
        return "\n".join(lines)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Jobs of every class against time."""
        names = self.system.problem.job_classes
        return curves(ax, self.times, self.counts, names, ylabel="jobs", title=self.policy)
