r"""A lower bound of mean holding costs under every policy, and its checker: one inequality a state, in fractions.

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

*Finitely many states.* Where neither x nor a neighbour is in H, :math:`(Th)(x) = \sum_i w_i x_i`. The
cheapest state outside of N, H with its neighbours, is 0 or the successor :math:`x + e_i` of a state of N, since a state
less a job is cheaper. So the largest c is the least value of Th on N and of the costs of such successors.
Everything is computed in integers over a common denominator. How h was found does not matter.
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
from queueing.model.system import System

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["LowerCertificate"]

MOST_JOBS = 2**20
"""Of a class in a state."""
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
        proved, state = _Checker(self).proved()
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
                f"  h on {len(self.states):,} states in multiples of 2^{-self.bits}; check() checks it in fractions",
            ]
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """The bound as a bar."""
        return self._drawn(ax, "lower bound for every policy", "mean holding costs")


class _Checker:
    """One certificate in integers: a unit of time and of cost makes all its numbers whole."""

    def __init__(self, certificate: LowerCertificate) -> None:
        c = certificate
        try:
            self.rates: Departures = departures(c.system)
        except ModelError as error:
            raise CertificateError("data", str(error)) from None
        self.n, self.bits = len(self.rates.classes), c.bits
        costs = c.costs
        if not (
            isinstance(costs, tuple)
            and len(costs) == c.system.n_classes
            and all(type(w) is Fraction and w > 0 for w in costs)
        ):
            raise CertificateError("data", "costs must be a fraction > 0 for each class")
        if type(c.bits) is not int or abs(c.bits) > 1000:
            raise CertificateError("data", f"bits must be an int from -1000 to 1000; got {c.bits!r:.80}")
        states, h = c.states, c.h
        for name, array in (("states", states), ("h", h)):
            if not isinstance(array, np.ndarray) or array.dtype != np.int64:
                raise CertificateError("data", f"{name} must be an array of 64-bit integers")
        if h.ndim != 1 or states.shape != (len(h), self.n):
            raise CertificateError("data", f"h must have a number for each state, of {self.n} counts")
        if len(h) and not (states.min() >= 0 and states.max() < MOST_JOBS):
            raise CertificateError("data", f"states must have from 0 to {MOST_JOBS} jobs of a class")
        self.costs = [costs[i] for i in self.rates.classes]
        # Room for a neighbour of a neighbour on both sides.
        self.shape = tuple(int(top) + 5 for top in states.max(axis=0, initial=-1))
        if math.prod(self.shape) > 2**62:
            raise CertificateError("data", "states are too far apart")
        self.steps = [math.prod(self.shape[i + 1 :]) for i in range(self.n)]
        keys = self._keys(states)
        order = np.argsort(keys)
        self.keys = keys[order]
        # One more, for the states outside.
        self.h = np.append(h[order].astype(object), 0)
        if (np.diff(self.keys) == 0).any():
            raise CertificateError("data", "a state is listed twice")

    def _keys(self, states: NDArray[np.int64]) -> NDArray[np.int64]:
        """A number for each state whose counts are at least -2."""
        return (states + 2) @ np.array(self.steps, dtype=np.int64)

    def _h(self, keys: NDArray[np.int64]) -> NDArray[Any]:
        place = np.searchsorted(self.keys, keys)
        known = np.append(self.keys, -1)[place] == keys
        values: NDArray[Any] = self.h[np.where(known, place, len(self.keys))]
        return values

    def proved(self) -> tuple[Fraction, tuple[int, ...]]:
        """The least of all values, and the state where it is."""
        moves = [step * sign for step in self.steps for sign in (1, -1)]
        keys = np.unique(np.concatenate([self.keys, *(self.keys + move for move in moves)]))
        counts = np.stack(np.unravel_index(keys, self.shape), axis=1) - 2
        keys, counts = keys[(counts >= 0).all(axis=1)], counts[(counts >= 0).all(axis=1)]
        least, state = self._least(keys, counts)
        edge = [np.zeros((1, self.n), dtype=np.int64)]
        edge += [counts + unit for unit in np.eye(self.n, dtype=np.int64)]
        beyond = np.concatenate(edge)
        beyond = beyond[~np.isin(self._keys(beyond), keys)]
        for x in np.unique(beyond, axis=0).tolist():
            cost = sum((w * k for w, k in zip(self.costs, x, strict=True)), Fraction(0))
            if cost < least:
                least, state = cost, tuple(x)
        return least, state

    def _least(self, keys: NDArray[np.int64], counts: NDArray[np.int64]) -> tuple[Fraction, tuple[int, ...]]:
        """The least value of Th in some states, and where; infinite of none."""
        rates = self.rates
        numbers = [*self.costs, *rates.arrival_rates]
        numbers += [rate for points in rates.vertices.values() for point in points for rate in point]
        common = math.lcm(*{value.denominator for value in numbers})
        unit = Fraction(2) ** self.bits
        # Th in units of 1/(common * unit), or of 1/common where h is in multiples of a power of 2 itself.
        scale, grain = common * unit.numerator, unit.denominator
        here = self._h(keys)
        whole = np.zeros(len(keys), dtype=object)
        down = []
        for i, step in enumerate(self.steps):
            whole += counts[:, i].astype(object) * int(self.costs[i] * scale)
            whole += (self._h(keys + step) - here) * (int(rates.arrival_rates[i] * common) * grain)
            down.append((self._h(keys - step) - here) * grain)
        pattern = np.ravel_multi_index(
            tuple(np.minimum(counts, rates.caps).T), tuple(cap + 1 for cap in rates.caps)
        )
        seconds = SECONDS * len(keys) * max(map(len, rates.vertices.values()))
        with Task(f"check of {len(keys):,} states", len(keys), "states", seconds) as task:
            for number, points in enumerate(rates.vertices.values()):
                rows = np.flatnonzero(pattern == number)
                if len(rows):
                    whole[rows] += _least_of(points, [values[rows] for values in down], common)
                    task.advance(len(rows))
        if not len(keys):
            return Fraction(max(self.costs) * MOST_JOBS), ()
        at = int(whole.argmin())
        return Fraction(int(whole[at]), scale), tuple(counts[at].tolist())


def _least_of(points: list[tuple[Fraction, ...]], down: list[NDArray[Any]], common: int) -> NDArray[Any]:
    """Least over the vertices, state by state, of the sum of rates times differences."""
    least: Any = None
    for point in points:
        value: Any = 0
        for rate, difference in zip(point, down, strict=True):
            if rate:
                value = value + int(rate * common) * difference
        least = np.zeros(len(down[0]), dtype=object) + value if least is None else np.minimum(least, value)
    return least
