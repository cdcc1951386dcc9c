r"""The stationary law of the counts on a finite box as exact fractions.

On the box :math:`0 \le x_i < K_i` arrivals that would leave it are refused; what is computed is the law of
*this* finite chain, at any load, also beyond 1; how far it is from the law of all counts is another question
(:func:`queueing.stationary`). Policies with rational tasks are known by their definitions
(:mod:`queueing.exact_laws.rational_tasks`), so that the rates are fractions; the balance equations are solved
p-adically (:mod:`queueing.exact_laws.lifting`), and the fractions are proved by the bound of the matrix-tree
theorem (:mod:`queueing.exact_laws.balance_equations`).

The numbers are taken as they are: integers and fractions as given, floats as the binary numbers that they
are. 0.1 is not 1/10, and its 55 binary digits make the answer ten times as long; give ``Fraction(1, 10)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from fairness.arguments.validation import require_flag, require_whole
from fairness.errors import ModelError
from fairness.protocol.policy import policy_name
from queueing.exact_laws.balance_equations import Integers, balance_equations, check_exact
from queueing.exact_laws.lifting import require_feasible, solve_sums
from queueing.model.class_results import ClassResult, class_lines, class_table
from queueing.model.system import System
from queueing.pictures.counts import Chosen, plot_law, two_classes
from queueing.states.box import box_name, count_states, pair_law

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ExactStationary", "decimals", "exact_stationary"]

REMEDY = "give a smaller shape, or use stationary, in floats"


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


def exact_stationary(
    system: System, policy: Any, *, shape: Sequence[int] | int, distribution: bool = False
) -> ExactStationary:
    """Stationary law on a finite box as fractions, proved.

    Parameters
    ----------
    system : System
        A pool with Poisson arrivals and exponential sizes. Demands, capacities, arrival rates and mean sizes
        given as integers and fractions make short answers (``System.with_load`` keeps them if the load is a
        fraction); floats are taken as binary numbers.
    policy : MaxMin, DRF, AssetFair, BottleneckMax or ProportionalFair
        ProportionalFair where its tasks are rational in every state: always with one or two classes.
    shape : sequence of int or int
        The box 0 <= x_i < shape[i], at least 2 for a class with arrivals; what arrives at a full face is
        refused. Ten thousand states of two classes take some ten seconds.
    distribution : bool
        Keep the probability of every state, too; this takes the memory of as many long numbers.

    Returns
    -------
    ExactStationary

    Raises
    ------
    ModelError
        If an argument is wrong, arrivals are not Poisson, sizes not exponential, the policy has irrational
        tasks in some state or no definition that is known, serves nobody in a state with jobs, or the box
        takes too much memory or more than a week.

    Examples
    --------
    A single server of load 1/2 that holds at most three jobs:

    >>> from fractions import Fraction
    >>> from fairness import DRF, Problem
    >>> from queueing import System
    >>> exact_stationary(System(Problem([[1]], [2]), [1]), DRF(), shape=4).mean_jobs
    (Fraction(11, 15),)
    >>> pool = Problem([[1, Fraction(1, 10)], [Fraction(1, 10), 1]], [1, 1])
    >>> system = System.with_load(pool, [1, 1], Fraction(1, 2))
    >>> law = exact_stationary(system, DRF(), shape=3, distribution=True)
    >>> law.mean_jobs[0]
    Fraction(76640, 135163)
    >>> law.distribution[0, 0]
    Fraction(46948, 135163)
    """
    sizes = check_exact(system, policy, shape, "exact_stationary")
    keep = require_flag("distribution", distribution)
    states = count_states(sizes)
    require_feasible(box_name(sizes), states, states / max(sizes), REMEDY)
    equations = balance_equations(system, policy, sizes, system.as_fractions()[0])
    n, measure, counts = system.n_classes, equations.weights, equations.counts
    pairs = [(i, k) for i in range(n) for k in range(i, n)]
    weights: list[Integers] = [measure]
    weights += [measure * counts[:, i] for i in range(n)]
    weights += [measure * (counts[:, i] * counts[:, k]) for i, k in pairs]
    weights += [measure * (counts[:, i] == sizes[i] - 1) for i in range(n)]
    sums = solve_sums(equations, weights, keep=keep)
    total, *rest = sums.values
    second = dict(zip(pairs, rest[n:], strict=False))
    law = None if sums.measure is None else equations.place(sums.measure * measure)
    return ExactStationary(
        system=system,
        policy=policy_name(policy),
        shape=sizes,
        total=total,
        first=tuple(rest[:n]),
        second=tuple(tuple(second[min(i, k), max(i, k)] for k in range(n)) for i in range(n)),
        faces=tuple(rest[-n:]),
        law=law,
        n_bits=sums.n_bits,
        bound_bits=sums.bound_bits,
    )


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
