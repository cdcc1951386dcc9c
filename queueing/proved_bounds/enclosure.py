r"""Rigorous bounds of stationary means, with the certificate that proves them.

A certificate bounds the means of functions of the counts: :math:`E[x_i]`, :math:`E[x_i^2]`, probabilities.
What follows from them follows in intervals rounded outward: the mean duration :math:`E[x_i]/\lambda_i` and
the mean service rate :math:`\rho_i/E[x_i]` by Little's law, the variance :math:`E[x_i^2] - E[x_i]^2`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from fairness.arguments.validation import require_whole
from fairness.display.drawing import bound_bars
from fairness.display.result import Result
from fairness.display.tables import aligned, outward
from fairness.errors import ModelError
from queueing.certificates.arrival_phases import ArrivalPhases
from queueing.certificates.certificate import Certificate, Functional
from queueing.certificates.checking import Bounds
from queueing.certificates.errors import CertificateError
from queueing.certificates.intervals import Interval
from queueing.model.class_results import class_table
from queueing.model.system import System
from queueing.proved_bounds.check import check_certificate

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["AtLeast", "Enclosure"]


@dataclass(frozen=True)
class AtLeast:
    """The event of so many jobs, of each class and of all together; ``of`` in :func:`enclose`.

    Parameters
    ----------
    jobs : int
        >= 1
    """

    jobs: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "jobs", require_whole("jobs", self.jobs, 1))


@dataclass(frozen=True, eq=False, repr=False)
class Enclosure(Result):
    """Lower and upper values between which stationary means lie; made by :func:`queueing.enclose`.

    Attributes
    ----------
    system : System
    policy : str
        Name of the policy.
    certificate : Certificate
        What proves the bounds.
    width : float
        What was asked for.
    reached : float
        Largest width of the bounds: relative of means, absolute of probabilities.
    shortfall : str
        Why the width that was asked for is not reached; empty if it is.

    Examples
    --------
    >>> from fairness import DRF, Problem
    >>> from queueing import System, enclose
    >>> pool = Problem([[1, 0.1], [0.1, 1]], [1, 1])
    >>> enclosure = enclose(System.with_load(pool, [1, 1], 0.5), DRF())
    >>> lower, upper = enclosure.mean_jobs
    >>> (upper - lower < 2e-8).all(), enclosure.reached < 1e-8
    (np.True_, True)
    """

    system: System
    policy: str
    certificate: Certificate
    width: float
    reached: float
    shortfall: str = field(default="")

    def check(self) -> Bounds:
        """Run the independent checker once more; what it proves of the functionals of the certificate.

        Raises
        ------
        CertificateError
            If the certificate does not prove its bounds, or is one of another system.
        """
        ours, proved = self.system, self.certificate.system
        if not (
            ours.problem.same(proved.problem)
            and np.array_equal(ours.arrival_rates, proved.arrival_rates)
            and np.array_equal(ours.mean_sizes, proved.mean_sizes)
            and all(ours.sizes[i].memoryless for i in np.flatnonzero(ours.arrival_rates > 0))
            and ArrivalPhases.of(ours) == ArrivalPhases.of(proved)
        ):
            raise CertificateError("data", "the certificate is one of another system")
        return check_certificate(self.certificate)

    @cached_property
    def mean_jobs(self) -> Bounds:
        """Bounds of the mean counts, (n_classes,) each."""
        return self._classes(lambda k: self._mean(Functional("jobs", k), "jobs"))

    @cached_property
    def total_jobs(self) -> Interval:
        """Bounds of the mean of all jobs together."""
        return self._mean(Functional("jobs"), "jobs")

    @cached_property
    def mean_durations(self) -> Bounds:
        """Bounds of the mean durations, by Little's law, (n_classes,) each; NaN where no job arrives."""
        return self._classes(lambda k: self._jobs(k) / float(self.system.arrival_rates[k]), np.nan)

    @cached_property
    def service_rates(self) -> Bounds:
        """Bounds of the mean tasks of an active job, (n_classes,) each; NaN where no job arrives."""

        def rate(k: int) -> Interval:
            jobs = self._jobs(k)
            load = Interval.of(self.system.arrival_rates[k]) * float(self.system.mean_sizes[k])
            return load / jobs if jobs.low > 0 else Interval((load / jobs.high).low, np.inf)

        return self._classes(rate, np.nan)

    @cached_property
    def variances(self) -> Bounds:
        """Bounds of the variances of the counts, (n_classes,) each."""
        return self._classes(self._variance)

    @cached_property
    def total_variance(self) -> Interval:
        """Bounds of the variance of all jobs together."""
        return self._variance(None)

    def probability(self, jobs: int, job_class: int | str | None = None) -> Interval:
        """Bounds of the probability of at least so many jobs of a class, by default of all together."""
        k = None if job_class is None else self.system.class_index(job_class)
        level = require_whole("jobs", jobs, 0)
        if level == 0:
            return Interval(1.0, 1.0)
        if k is not None and self.system.arrival_rates[k] == 0:
            return Interval(0.0, 0.0)
        found = self._mean(Functional("at least", k, level=level), AtLeast(level))
        return Interval(found.low, min(1.0, found.high))

    def _mean(self, functional: Functional, of: str | AtLeast) -> Interval:
        """Bounds of the mean of a functional, which is >= 0."""
        listed = self.certificate.functionals
        if functional not in listed:
            raise ModelError.of(
                "of", f"was without {of!r} when this was enclosed; use enclose(..., of={of!r})"
            )
        k = listed.index(functional)
        return Interval(max(0.0, float(self.certificate.lower[k])), float(self.certificate.upper[k]))

    def _jobs(self, k: int) -> Interval:
        return self._mean(Functional("jobs", k), "jobs")

    def _variance(self, k: int | None) -> Interval:
        mean = self._mean(Functional("jobs", k), "variances")
        found = self._mean(Functional("products", k), "variances") - mean * mean
        return Interval(max(0.0, found.low), found.high)

    def _classes(self, bounds: Callable[[int], Interval], nobody: float = 0.0) -> Bounds:
        """Bounds for each class; those without arrivals are what they are."""
        found = [
            bounds(k) if rate > 0 else Interval(nobody, nobody)
            for k, rate in enumerate(self.system.arrival_rates)
        ]
        return Bounds(np.array([one.low for one in found]), np.array([one.high for one in found]))

    def _rows(self) -> list[tuple[str, str, float, float]]:
        """(quantity, class, lower, upper) of all that is known."""
        names = self.system.problem.job_classes
        rows: list[tuple[str, str, float, float]] = []

        def add(quantity: str, bounds: Bounds) -> None:
            rows.extend(
                (quantity, name, float(low), float(high))
                for name, low, high in zip(names, *bounds, strict=True)
            )

        kinds = {one.kind for one in self.certificate.functionals}
        if "jobs" in kinds:
            for quantity in ("mean_jobs", "mean_durations", "service_rates"):
                add(quantity[:-1] if quantity != "mean_jobs" else quantity, getattr(self, quantity))
            rows.append(("mean_jobs", "all", self.total_jobs.low, self.total_jobs.high))
        if "products" in kinds:
            add("variance", self.variances)
            rows.append(("variance", "all", self.total_variance.low, self.total_variance.high))
        for one in self.certificate.functionals:
            if one.kind == "at least":
                name = "all" if one.job_class is None else names[one.job_class]
                found = self.probability(one.level, one.job_class)
                rows.append((f"P(jobs >= {one.level})", name, found.low, found.high))
        return rows

    def to_dataframe(self) -> pd.DataFrame:
        """One row per quantity and class, "all" for all jobs together: lower and upper bound."""
        import pandas as pd

        rows = self._rows()
        index = pd.MultiIndex.from_tuples([row[:2] for row in rows], names=["quantity", "job_class"])
        return pd.DataFrame({"lower": [row[2] for row in rows], "upper": [row[3] for row in rows]}, index)

    def by_class(self) -> pd.DataFrame:
        """One row per class: load; lower and upper bounds of mean jobs, mean duration and service rate."""
        quantities = {
            "mean_jobs": self.mean_jobs,
            "mean_duration": self.mean_durations,
            "service_rate": self.service_rates,
        }
        columns = {
            f"{name}_{side}": getattr(bounds, side)
            for name, bounds in quantities.items()
            for side in ("lower", "upper")
        }
        return class_table(self.system, **columns)

    @property
    def _tabulated(self) -> int:
        return len(self._rows())

    def summary(self) -> str:
        """What a person wants to read: bounds with the digits that are known, then what proves them."""
        rows = [[*row[:2], " to ".join(outward(*row[2:]))] for row in self._rows()]
        box = " x ".join(map(str, self.certificate.shape))
        asked = f"widths up to {self.reached:.1e}; {self.width:.1e} asked"
        return "\n".join(
            [
                f"stationary means under {self.policy}, proved",
                *aligned(rows, words=2),
                f"  certificate on {box} states; {asked}" + (f": {self.shortfall}" if self.shortfall else ""),
            ]
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Middle of the bounds of the first quantity for each class, with the bounds as error bars."""
        rows = self._rows()
        first = [row for row in rows if row[0] == rows[0][0]]
        low, high = np.array([row[2] for row in first]), np.array([row[3] for row in first])
        names, quantity = [row[1] for row in first], rows[0][0].replace("_", " ")
        title = f"bounds under {self.policy}"
        return bound_bars(ax, names, (low + high) / 2, (high - low) / 2, quantity=quantity, title=title)
