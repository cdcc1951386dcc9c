r"""A lower bound of mean holding costs under every policy, and its checker: one inequality a state.

Jobs of class i cost :math:`w_i > 0` per unit of time. Let h be a function of the counts that is 0 outside of
a finite set H, and

.. math:: (Th)(x) = \sum_i w_i x_i + \sum_i \lambda_i (h(x + e_i) - h(x))
   + \min_{\varphi \in P(x)} \sum_i \mu_i\varphi_i (h(x - e_i) - h(x)) ,

where P(x) is what can run (:mod:`queueing.certificates.departures`).

*Theorem.* If :math:`Th \ge c` in all states, then under every policy, from every start,

.. math:: \liminf_{t \to \infty} \frac1t\, E \int_0^t \sum_i w_i X_i(s)\,ds \;\ge\; c .

*Proof.* h is bounded, and so are the rates. Whatever the policy looks at (the past, coin tosses, which job is
whose; not the sizes that remain), the tasks that run are in P(X), so by Dynkin's formula :math:`E h(X_t) -
h(X_0) \ge E\int_0^t (c - \sum_i w_i X_i)\,ds`. Divide by t. ∎ No Lyapunov function and no growth of h has to
be looked at, and policies that run whole tasks, or are unstable, are among those that the bound is about.

*Finitely many states.* Where neither x nor a neighbour is in H, :math:`(Th)(x) = \sum_i w_i x_i`. Of the
states outside of N, H with its neighbours, the cheapest is 0 or has a job more than one of N, since a state
less a job is cheaper. So the largest c is the least value of Th on N and of the costs of such states.
Everything is computed in fractions. How h was found does not matter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairness.errors import ModelError
from fairness.exact.outward import below
from fairness.machine.work import Task
from fairness.model.problem import FloatArray
from queueing.certificates.bounded_means import BoundedMeans
from queueing.certificates.departures import Departures, departures
from queueing.certificates.errors import CertificateError
from queueing.certificates.state_function import StateFunction
from queueing.model.system import System

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["LowerCertificate", "known_costs", "known_departures"]

SECONDS = 2e-6
"""Time per state and vertex, about."""


@dataclass(frozen=True, eq=False, repr=False)
class LowerCertificate(BoundedMeans):
    """A lower bound of the mean holding costs under every policy, with all that is needed to check it.

    Attributes
    ----------
    system : System
        A pool with Poisson arrivals, exponential sizes and load below 1.
    costs : tuple of Fraction
        w > 0 of each class, cost per job and unit of time.
    states : ndarray of int of shape (n_states, n)
        The set H: counts of the classes with arrivals.
    h : ndarray of int of shape (n_states,)
        The function there, in multiples of ``2**-bits``.
    bits : int
    bound : Fraction
        What is claimed: the c of the theorem, cost per unit of time.
    """

    system: System
    costs: tuple[Fraction, ...]
    states: NDArray[np.int64]
    h: NDArray[np.int64]
    bits: int
    bound: Fraction

    @property
    def names(self) -> tuple[str, ...]:
        """What is bounded."""
        return ("holding costs under every policy",)

    @cached_property
    def lower(self) -> FloatArray:
        """The bound, rounded down, shape (1,)."""
        return np.array([below(self.bound)])

    @property
    def upper(self) -> FloatArray:
        """Infinite, shape (1,): policies may be as lazy as they like."""
        return np.array([np.inf])

    def check(self) -> Fraction:
        """The largest bound that this proves, at least the one that is claimed.

        Raises
        ------
        CertificateError
            If it is none, or more is claimed than follows; it names the state.
        """
        proved, state = _proved(self)
        if type(self.bound) is not Fraction or proved < self.bound:
            raise CertificateError(
                "inequality", f"{float(self.bound)!r} is claimed, {float(proved)!r} is proved", state
            )
        return proved

    def summary(self) -> str:
        """The claim, and the states it rests on."""
        return "\n".join(
            [
                "certificate of a lower bound for every policy",
                *self._claims(),
                f"  h on {len(self.states):,} states; check() checks it in fractions",
            ]
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """The bound as a bar."""
        return self._drawn(ax, "lower bound for every policy", "mean holding costs")


def _proved(c: LowerCertificate) -> tuple[Fraction, tuple[int, ...]]:
    """The least value of Th in all states, and the state where it is."""
    rates = known_departures(c.system)
    costs = known_costs(c.costs, rates, c.system.n_classes)
    h = StateFunction(len(rates.classes), c.states, c.h, c.bits)
    numbers = [*costs, *(value * h.unit for value in rates.arrival_rates)]
    numbers += [rate * h.unit for points in rates.vertices.values() for point in points for rate in point]
    common = math.lcm(*{value.denominator for value in numbers})
    scale = h.unit * common
    whole = np.zeros(len(h.counts), dtype=object)
    for i, (cost, rate) in enumerate(zip(costs, rates.arrival_rates, strict=True)):
        whole += h.counts[:, i].astype(object) * int(cost * common) + h.step(i, 1) * int(rate * scale)
    down = [h.step(i, -1) for i in range(len(costs))]
    pattern = np.ravel_multi_index(
        tuple(np.minimum(h.counts, rates.caps).T), tuple(cap + 1 for cap in rates.caps)
    )
    seconds = SECONDS * len(whole) * max(map(len, rates.vertices.values()))
    with Task(f"check of {len(whole):,} states", len(whole), "states", seconds) as task:
        for number, points in enumerate(rates.vertices.values()):
            rows = np.flatnonzero(pattern == number)
            if len(rows):
                whole[rows] += _least_of(points, [values[rows] for values in down], scale)
                task.advance(len(rows))
    found = [
        (Fraction(int(whole[at]), common), h.counts[at]) for at in ([whole.argmin()] if len(whole) else [])
    ]
    found += [(sum(w * k for w, k in zip(costs, x.tolist(), strict=True)), x) for x in h.frontier]
    least, state = min(found, key=lambda one: one[0])
    return Fraction(least), tuple(state.tolist())


def _least_of(points: list[tuple[Fraction, ...]], down: list[NDArray[Any]], scale: Fraction) -> NDArray[Any]:
    """Least over the vertices, state by state, of the sum of rates times differences."""
    least: Any = None
    for point in points:
        value: Any = np.zeros(len(down[0]), dtype=object)
        for rate, difference in zip(point, down, strict=True):
            if rate:
                value = value + int(rate * scale) * difference
        least = value if least is None else np.minimum(least, value)
    return least


def known_departures(system: Any) -> Departures:
    """The departures of a system; CertificateError if it has none that could be looked at."""
    try:
        return departures(system)
    except ModelError as error:
        raise CertificateError("data", str(error)) from None


def known_costs(costs: Any, rates: Departures, n_classes: int) -> list[Fraction]:
    """The costs of the classes with arrivals."""
    if not (
        isinstance(costs, tuple)
        and len(costs) == n_classes
        and all(type(w) is Fraction and w > 0 for w in costs)
    ):
        raise CertificateError("data", "costs must be a fraction > 0 for each class")
    return [costs[i] for i in rates.classes]
