"""What a simulation job by job gives back: besides means, slowdowns, quantiles and the jobs themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairness.arguments.validation import IntArray, float_array
from fairness.display.colours import part_colour, part_line
from fairness.display.drawing import given_axes
from fairness.display.lettering import label
from fairness.display.storage import LATER
from fairness.display.wording import named, percent
from fairness.errors import ModelError
from fairness.model.problem import FloatArray
from queueing.pictures.durations import LAWS, draw_law, draw_quantiles, dress, quantile_words
from queueing.simulation.replications import Estimate, QuantileEstimate, estimate_ratio
from queueing.simulation.results import Simulation, estimates_lines

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["JobSimulation"]

POINTS = 201
"""Times of a curve."""


@dataclass(frozen=True, eq=False, repr=False)
class JobSimulation(Simulation):
    """Estimates from a simulation job by job; made by :func:`simulate`.

    It has the attributes of :class:`Simulation`, and these.

    Attributes
    ----------
    duration_quantiles, slowdown_quantiles : dict of float to QuantileEstimate
        Quantiles by level: order statistics of the measured jobs of all replications together, with
        intervals that are not symmetric (:mod:`queueing.simulation.replications`). There is none where too
        few independent jobs lie beyond the quantile.
    little : Estimate
        Time integral of the jobs over the sum of their durations: 1 by Little's law.
    alone_rates : ndarray of shape (n_classes,)
        Most tasks of a job with everything to itself: size over duration of slowdown 1.
    jobs : ndarray of shape (n_classes,)
        Jobs measured.
    record : DataFrame or None
        The measured jobs, if asked for: sample (replication or batch), job_class, arrival_time, size,
        duration.
    orders : tuple of str
        In which order the jobs of each class were served; "ps": equally. None for an order of all jobs.
    """

    duration_quantiles: dict[float, QuantileEstimate]
    slowdown_quantiles: dict[float, QuantileEstimate]
    little: Estimate
    alone_rates: FloatArray
    jobs: IntArray
    record: pd.DataFrame | None
    orders: tuple[str, ...] = field(default=(), metadata=LATER)

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

    @property
    def gaps(self) -> tuple[str, ...]:
        """What is missing, in words: jobs of some classes, or the interval of some estimates."""
        found = list(super().gaps)
        if self.warnings:
            return tuple(found)
        hidden = np.isinf(self.estimates["mean_durations"].half_width)
        if hidden.any():
            found.append(
                f"no interval of the means of {self._named(hidden)}: rare large sizes make most of the "
                "variance, and so few jobs may have met none of them; give more jobs"
            )
        for level, durations in self.duration_quantiles.items():
            both = (durations, self.slowdown_quantiles[level])
            edge = np.any([np.isinf(quantile.half_width) for quantile in both], axis=0)
            if edge.any():
                found.append(
                    f"no interval of the {level:g} quantile of {self._named(edge)}: too few independent jobs "
                    "lie beyond it; give more jobs"
                )
        return tuple(found)

    def _named(self, classes: NDArray[np.bool_]) -> str:
        return named([repr(self.system.problem.job_classes[i]) for i in np.flatnonzero(classes)])

    def duration_cdf(self, job_class: int | str, times: ArrayLike) -> Estimate:
        """P(T <= t) of the durations of a class at times (n_times,), with intervals point by point.

        Where no job or every job lasts at most t > 0, replications do not differ and say nothing about the
        error, nor does their number: durations are correlated. Half-widths are infinite there, and too small
        where all but a few jobs are on one side.

        Raises
        ------
        ModelError
            If the jobs were not recorded, the class is unknown, or a time is not finite.

        Examples
        --------
        One resource of load 0.5, shared by all its jobs:

        >>> from fairness import DRF, Problem
        >>> from queueing import System, simulate
        >>> system = System(Problem([[1]], [1]), [0.5])
        >>> result = simulate(system, DRF(), jobs=20_000, record=True, rng=1)
        >>> law = result.duration_cdf(0, [1.0, 5.0])
        >>> law.value.round(2), (law.half_width < 0.02).all()
        (array([0.46, 0.91]), np.True_)
        """
        index, moments = self.system.class_index(job_class), float_array("times", times)
        if self.record is None:
            raise ModelError("the jobs were not recorded; call simulate(..., record=True)")
        if moments.ndim != 1 or not np.isfinite(moments).all():
            raise ModelError.of("times", "must be a list of finite numbers")
        mine = self.record[self.record["job_class"] == self.system.problem.job_classes[index]]
        each = [np.sort(mine["duration"][mine["sample"] == k].to_numpy()) for k in range(self.replications)]
        left = np.array([np.searchsorted(durations, moments, side="right") for durations in each])
        jobs = np.array([[len(durations)] for durations in each])
        law = estimate_ratio(left, jobs, self.confidence)
        blind = (moments > 0) & np.isin(law.value, (0.0, 1.0))
        error = np.where(blind, np.inf, law.standard_error)
        return replace(law, standard_error=error, sound=not self.warnings)

    @property
    def _others(self) -> Mapping[str, Callable[[Axes | None], Axes]]:
        return {what: partial(self._plot_durations, what) for what in LAWS}

    def _plot_durations(self, what: str, ax: Axes | None) -> Axes:
        """The law of the recorded jobs with its interval point by point, and the quantiles with theirs."""
        levels = list(self.duration_quantiles)
        if self.record is None and not levels:
            raise ModelError(
                "neither jobs nor quantiles were recorded; call simulate(..., record=True), which draws the "
                "whole law, or simulate(..., quantiles=(0.5, 0.9, 0.99))"
            )
        ax = given_axes(ax)
        for i in np.flatnonzero(self.jobs > 0).tolist():
            name = self.system.problem.job_classes[i]
            if self.record is not None:
                durations = self.record["duration"][self.record["job_class"] == name]
                times = np.linspace(0.0, float(durations.quantile(0.999)), POINTS)
                law = self.duration_cdf(name, times)
                draw_law(ax, what, times, law.value, law.half_width, label=label(name), **part_line(i))
            if levels:
                known = [self.duration_quantiles[level] for level in levels]
                values = [e.value[i] for e in known]
                sides = [np.abs(e.interval[:, i] - e.value[i]) for e in known]
                words = quantile_words(levels, values)
                text = words if self.record is not None else f"{label(name)}\n{words}"
                style = {"color": part_colour(i), "label": text}
                draw_quantiles(ax, what, levels, values, np.transpose(sides), **style)
        told = "no interval" if self.warnings else f"{percent(self.confidence)} intervals"
        dress(ax, what, f"{self.policy}, simulated, {told}")
        return ax

    def _effort(self) -> str:
        different = set(self.orders) - {"ps"}
        told = self.orders if len(set(self.orders)) > 1 else sorted(different)
        within = f", in each class {', '.join(told)}" if different else ""
        return f"job by job{within}: {self.replications} samples, {self.jobs.sum():,} jobs"

    def _evidence(self) -> list[str]:
        lines = []
        if self.duration_quantiles:
            lines.append("  quantiles of the durations")
            by_level = {f"{level:g}": estimate for level, estimate in self.duration_quantiles.items()}
            lines += estimates_lines(by_level, self.system.problem.job_classes)
        off = np.nanmax(np.abs(self.little.value - 1))
        return [*lines, f"  Little's law: jobs / (rate x duration) is off 1 by at most {off:.2g}"]
