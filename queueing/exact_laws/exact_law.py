"""The exact law of a box, its moments as fractions, and what a person reads of numbers that fill pages."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fairness.arguments.validation import require_whole
from fairness.errors import ModelError
from queueing.exact_laws.balance_equations import Integers
from queueing.model.class_results import ClassResult, class_lines, class_table
from queueing.model.system import System
from queueing.pictures.counts import Chosen, plot_law, two_classes
from queueing.states.box import box_name, pair_law

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ExactStationary", "decimals"]


@dataclass(frozen=True, eq=False, repr=False)
class ExactStationary(ClassResult):
    """Stationary law of a finite box in fractions; made by :func:`exact_stationary`.

    The fractions have one denominator, ``total``, before they are reduced. What arrives at a full face is
    refused, so durations and service rates are those of the jobs that enter.

    Attributes
    ----------
    system : System
    policy : str
        Name of the policy.
    shape : tuple of int
        States per class.
    total : int
        Sum of the unnormalised law.
    first : tuple of int, (n_classes,)
        Sums of the counts under the unnormalised law.
    second : tuple of tuples of int, (n_classes, n_classes)
        Sums of the products of two counts.
    faces : tuple of int, (n_classes,)
        Unnormalised mass of the states in which a class is full.
    law : object ndarray of int, of shape ``shape``, or None
        The unnormalised law, if it was kept.
    n_bits, bound_bits : int
        Evidence: bits of the p-adic expansion that determined the fractions, and bits that are enough to
        prove them.
    """

    system: System
    policy: str
    shape: tuple[int, ...]
    total: int
    first: tuple[int, ...]
    second: tuple[tuple[int, ...], ...]
    faces: tuple[int, ...]
    law: Integers | None
    n_bits: int
    bound_bits: int

    @cached_property
    def mean_jobs(self) -> tuple[Fraction, ...]:
        """Mean counts E[x_i], (n_classes,)."""
        return tuple(Fraction(value, self.total) for value in self.first)

    @cached_property
    def covariance(self) -> tuple[tuple[Fraction, ...], ...]:
        """Covariances of the counts, (n_classes, n_classes)."""
        mean, classes = self.mean_jobs, range(len(self.first))
        return tuple(
            tuple(Fraction(self.second[i][k], self.total) - mean[i] * mean[k] for k in classes)
            for i in classes
        )

    @cached_property
    def blocking(self) -> tuple[Fraction, ...]:
        """Probability that a class is full, so that its arrivals are refused, (n_classes,)."""
        live = self.system.arrival_rates > 0
        return tuple(
            Fraction(value, self.total) if here else Fraction(0)
            for value, here in zip(self.faces, live, strict=True)
        )

    @cached_property
    def mean_durations(self) -> tuple[Fraction | None, ...]:
        """Mean durations of the jobs that enter, by Little's law, (n_classes,); None where no job arrives."""
        rates, _ = self.system.as_fractions()
        return tuple(
            mean / (rate * (1 - lost)) if rate else None
            for mean, rate, lost in zip(self.mean_jobs, rates, self.blocking, strict=True)
        )

    @cached_property
    def service_rates(self) -> tuple[Fraction | None, ...]:
        """Mean tasks of an active job, mean size over mean duration, (n_classes,); None without arrivals."""
        _, sizes = self.system.as_fractions()
        return tuple(
            None if time is None else size / time
            for size, time in zip(sizes, self.mean_durations, strict=True)
        )

    @cached_property
    def distribution(self) -> Integers:
        """Probabilities of all states as Fractions, object ndarray of shape ``shape``.

        Raises
        ------
        ModelError
            If the law was not kept.
        """
        return self._reduced(self._kept)

    def marginal(self, job_class: int | str) -> tuple[Fraction, ...]:
        """Law of the count of one class, given by its index or name, (shape[i],); needs the law."""
        axis = self.system.class_index(job_class)
        others = tuple(k for k in range(len(self.shape)) if k != axis)
        return tuple(self._reduced(self._kept.sum(axis=others)))

    @property
    def marginals(self) -> tuple[tuple[Fraction, ...], ...]:
        """Law of each count; entry i has shape (shape[i],); needs the law."""
        return tuple(self.marginal(i) for i in range(len(self.shape)))

    def joint(self, job_class: int | str, other: int | str) -> Integers:
        """Joint law of the counts of two classes, given by index or name; shape (shape[i], shape[k]).

        Raises
        ------
        ModelError
            If the law was not kept, or both are one class.

        Examples
        --------
        >>> from fairness import DRF, Problem
        >>> from queueing import System, exact_stationary
        >>> system = System(Problem([[1], [1]], [1]), [1, 1])
        >>> exact_stationary(system, DRF(), shape=2, distribution=True).joint(0, 1)
        array([[Fraction(1, 5), Fraction(1, 5)],
               [Fraction(1, 5), Fraction(2, 5)]], dtype=object)
        """
        i, k = two_classes(self.system, (job_class, other))
        return self._reduced(pair_law(self._kept, i, k))

    def _reduced(self, masses: Integers) -> Integers:
        """Unnormalised masses as probabilities."""
        return np.vectorize(lambda value: Fraction(value, self.total), otypes=[object])(masses)

    @property
    def _kept(self) -> Integers:
        if self.law is None:
            raise ModelError(
                "the law of the states was not kept; call exact_stationary(..., distribution=True)"
            )
        return self.law

    def decimals(self, digits: int = 50) -> tuple[str, ...]:
        """Mean counts with so many digits after the point, rounded down, (n_classes,).

        Examples
        --------
        >>> from fairness import DRF, Problem
        >>> from queueing import System, exact_stationary
        >>> exact_stationary(System(Problem([[1]], [2]), [1]), DRF(), shape=4).decimals(12)
        ('0.733333333333',)
        """
        return tuple(decimals(value, require_whole("digits", digits, 1)) for value in self.mean_jobs)

    def to_dataframe(self) -> pd.DataFrame:
        """One row per class, in floats next to the fractions: moments, blocking, duration, service rate."""
        n = range(len(self.first))
        return class_table(
            self.system,
            mean_jobs=_floats(self.mean_jobs),
            variance=_floats([self.covariance[i][i] for i in n]),
            blocking=_floats(self.blocking),
            mean_duration=_floats(self.mean_durations),
            service_rate=_floats(self.service_rates),
        )

    def summary(self) -> str:
        """What a person wants to read: the means per class, then the evidence."""
        bits = max(value.denominator.bit_length() for value in self.mean_jobs)
        return "\n".join(
            [
                f"exact stationary law under {self.policy}, arrivals beyond the box refused",
                *class_lines(self.to_dataframe()),
                f"  box {box_name(self.shape)}; means are fractions with denominators of up to {bits} bits, "
                f"proved ({self.n_bits} bits computed, {self.bound_bits} are enough)",
            ]
        )

    def plot(self, ax: Axes | None = None, what: str | None = None, job_classes: Chosen = None) -> Axes:
        """Draw the law.

        Parameters
        ----------
        ax : Axes, optional
        what : {"marginals", "joint", "mean_jobs"}, optional
            Law of the count of each class, joint law of two, or means. Default: marginals, if the law was
            kept, and means for more than six classes or without it.
        job_classes : sequence of int or str, optional
            Classes whose marginals are drawn, or the two of the joint law.

        Raises
        ------
        ModelError
            If an argument is wrong, or a law is asked for that was not kept.
        """
        if what is None and job_classes is None and self.law is None:
            what = "mean_jobs"
        return plot_law(ax, self, what, job_classes, title=f"exact law under {self.policy}")


def _floats(values: list[Fraction] | tuple[Fraction | None, ...]) -> np.ndarray:
    """Nearest floats; NaN for None."""
    return np.array([np.nan if value is None else float(value) for value in values])


def decimals(value: Fraction, digits: int) -> str:
    """A fraction >= 0 with so many digits after the point, rounded down.

    Examples
    --------
    >>> decimals(Fraction(1, 7), 10)
    '0.1428571428'
    """
    whole = value.numerator * 10**digits // value.denominator
    return f"{whole // 10**digits}.{whole % 10**digits:0{digits}d}"
