"""What certificates of mean holding costs share: numbers of a system, a function of the counts, a claim."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fairness.errors import ModelError
from fairness.exact.linear_algebra import dot
from fairness.exact.outward import above, below
from fairness.model.problem import FloatArray
from queueing.certificates.bounded_means import BoundedMeans
from queueing.certificates.errors import CertificateError
from queueing.certificates.pool import LARGEST, SMALLEST, Pool
from queueing.certificates.running import Running, running
from queueing.certificates.state_function import StateFunction
from queueing.model.system import System

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["SECONDS", "CostCertificate", "Extreme", "Numbers"]

SECONDS = 5e-6
"""Time per state, about."""

Row = tuple[Fraction, ...]
Extreme = tuple[Fraction, tuple[int, ...]]
"""A value, and the state where it is."""


@dataclass(frozen=True)
class Numbers:
    """The classes with arrivals of a pool, in fractions.

    Attributes
    ----------
    classes : tuple of int
        Their indices in the system.
    arrival_rates, mean_sizes, costs : tuple of Fraction
    running : Running
    """

    classes: tuple[int, ...]
    arrival_rates: Row
    mean_sizes: Row
    costs: Row
    running: Running

    @classmethod
    def of(cls, system: Any, costs: Any) -> Numbers:
        """Those of a pool with Poisson arrivals, exponential sizes and load below 1.

        CertificateError if the system or its costs are none.
        """
        live = Pool.of(system).classes.tolist()
        if not (
            isinstance(costs, tuple)
            and len(costs) == system.n_classes
            and all(type(w) is Fraction and SMALLEST <= w <= LARGEST for w in costs)
        ):
            told = f"costs must be a fraction from {SMALLEST:g} to {LARGEST:g} for each class"
            raise CertificateError("data", told)
        try:
            run = running(system.require_pool("a certificate of costs"), live)
        except ModelError as error:
            raise CertificateError("data", str(error)) from None
        rates, sizes, weights = (tuple(row[i] for i in live) for row in (*system.as_fractions(), costs))
        return cls(tuple(live), rates, sizes, weights, run)

    def cost(self, counts: list[int]) -> Fraction:
        """Of a state, per unit of time."""
        return dot(self.costs, counts)

    @cached_property
    def patterns(self) -> dict[tuple[int, ...], list[Row]]:
        """Departure rates at the vertices of what can run, by the pattern."""
        return {
            pattern: [self.leaving(tasks) for tasks in points]
            for pattern, points in self.running.vertices.items()
        }

    def leaving(self, tasks: Row) -> Row:
        """Departure rates of some tasks."""
        return tuple(phi / size for phi, size in zip(tasks, self.mean_sizes, strict=True))


@dataclass(frozen=True, eq=False, repr=False)
class CostCertificate(BoundedMeans):
    """Base of certificates of a bound of mean holding costs.

    Attributes
    ----------
    system : System
        A pool with Poisson arrivals, exponential sizes and load below 1.
    costs : tuple of Fraction
        w > 0 of each class, cost per job and unit of time.
    states : ndarray of int of shape (n_states, n)
        Counts of the classes with arrivals.
    h : ndarray of int of shape (n_states,)
        The function there, in multiples of ``2**-bits``; it is 0 elsewhere.
    bits : int
    bound : Fraction
        What is claimed, cost per unit of time.
    """

    is_upper: ClassVar[bool]

    system: System
    costs: tuple[Fraction, ...]
    states: NDArray[np.int64]
    h: NDArray[np.int64]
    bits: int
    bound: Fraction

    @property
    @abstractmethod
    def of_whom(self) -> str:
        """The policies that are bounded."""

    @abstractmethod
    def _proved(self, numbers: Numbers, h: StateFunction) -> Extreme:
        """The best bound, and the state that allows no better one."""

    @property
    def names(self) -> tuple[str, ...]:
        """What is bounded."""
        return (f"holding costs under {self.of_whom}",)

    @property
    def lower(self) -> FloatArray:
        """The bound, rounded down, shape (1,); 0 of an upper one."""
        return np.array([0.0 if self.is_upper else below(self.bound)])

    @property
    def upper(self) -> FloatArray:
        """The bound, rounded up, shape (1,); infinite of a lower one."""
        return np.array([above(self.bound) if self.is_upper else np.inf])

    def check(self) -> Fraction:
        """The best bound that this proves, at least as good as the one that is claimed.

        Raises
        ------
        CertificateError
            If it is none, or more is claimed than follows; it names the state.
        """
        numbers = Numbers.of(self.system, self.costs)
        h = StateFunction(len(numbers.classes), self.states, self.h, self.bits)
        if type(self.bound) is not Fraction:
            raise CertificateError("data", f"bound must be a fraction; got {self.bound!r:.80}")
        proved, state = self._proved(numbers, h)
        if self.bound < proved if self.is_upper else self.bound > proved:
            claim = f"{above(self.bound)!r} is claimed, {above(proved)!r} is proved"
            raise CertificateError("inequality", claim, state)
        return proved

    def summary(self) -> str:
        """The claim, and the states it rests on."""
        side = "an upper" if self.is_upper else "a lower"
        head = f"certificate of {side} bound under {self.of_whom}"
        states = f"{len(self.h):,} {'state' if len(self.h) == 1 else 'states'}"
        return "\n".join([head, *self._claims(), f"  {states}; check() checks them in fractions"])

    def plot(self, ax: Axes | None = None) -> Axes:
        """The bound as a bar."""
        return self._drawn(ax, f"bound under {self.of_whom}", "mean holding costs")
