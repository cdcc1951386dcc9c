"""What a simulation job by job gives back: besides means, slowdowns, quantiles and the jobs themselves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from fairness.machine.kernels import IntArray
from fairness.model.problem import FloatArray
from queueing.simulation.replications import Estimate
from queueing.simulation.results import Simulation, estimates_lines

__all__ = ["JobSimulation"]


@dataclass(frozen=True, eq=False, repr=False)
class JobSimulation(Simulation):
    """Estimates from a simulation job by job; made by :func:`simulate`.

    Attributes
    ----------
    duration_quantiles, slowdown_quantiles : dict of float to Estimate
        Quantiles by level: order statistics of all measured jobs of a replication, averaged over them.
    little : Estimate
        Time integral of the jobs over the sum of their durations: 1 by Little's law.
    alone_rates : ndarray of shape (n_classes,)
        Most tasks of a job with everything to itself: size over duration of slowdown 1.
    jobs : ndarray of shape (n_classes,)
        Jobs measured.
    record : DataFrame or None
        The measured jobs, if asked for: sample (replication or batch), job_class, arrival_time, size,
        duration.

    The other attributes are those of :class:`Simulation`.
    """

    duration_quantiles: dict[float, Estimate]
    slowdown_quantiles: dict[float, Estimate]
    little: Estimate
    alone_rates: FloatArray
    jobs: IntArray
    record: pd.DataFrame | None

    @property
    def mean_slowdowns(self) -> FloatArray:
        """Mean of the duration over the duration with everything to itself, (n_classes,), >= 1."""
        return self.estimates["mean_slowdowns"].value

    def columns(self) -> dict[str, Estimate]:
        """All estimates per class, by the names of their columns."""
        named = dict(self.estimates)
        for name, by_level in (("duration", self.duration_quantiles), ("slowdown", self.slowdown_quantiles)):
            named |= {f"{name}_q{level:g}": estimate for level, estimate in by_level.items()}
        return named

    def _effort(self) -> str:
        return f"job by job: {self.replications} samples, {self.jobs.sum():,} jobs"

    def _evidence(self) -> list[str]:
        lines = []
        if self.duration_quantiles:
            lines.append("  quantiles of the durations")
            by_level = {f"{level:g}": estimate for level, estimate in self.duration_quantiles.items()}
            lines += estimates_lines(by_level, self.system.problem.job_classes)
        off = np.nanmax(np.abs(self.little.value - 1))
        return [*lines, f"  Little's law: jobs / (rate x duration) is off 1 by at most {off:.2g}"]
