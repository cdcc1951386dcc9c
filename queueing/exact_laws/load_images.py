r"""Mean counts as rational functions of the load: their images modulo primes, and what the images prove.

Let :math:`E_i(u) = P_i(u)/R(u)` be the mean count of class i at load u, where with the trees of
:mod:`queueing.exact_laws.balance_equations`, births times u,

.. math:: R(u) = \sum_x s_x\tau(x; u), \qquad P_i(u) = \sum_x x_is_x\tau(x; u) .

These are polynomials with integer coefficients :math:`\ge 0` and degrees below the number N of states;
:math:`P_i(1)` and :math:`R(1)` are bounded by the sums over products (2) there, and :math:`R(0)` is known, as
without arrivals the trees towards the empty state consist of departures, which may be chosen freely. Modulo a
prime p the series of :math:`E_i` to :math:`u^{2N}` gives the fraction :math:`p_i/r_i` in lowest terms with
:math:`r_i(0) = R(0)` (:mod:`queueing.exact_laws.power_series`).

*Without cancellation.* If :math:`r_i` has degree N - 1, nothing has cancelled, neither modulo p nor before:
:math:`p_i, r_i` are :math:`P_i, R` modulo p. Primes whose product exceeds :math:`P_i(1)` and :math:`R(1)`
determine all coefficients.

*With cancellation* (alike classes, product forms) the primes of the largest degree are taken. Let
:math:`p_i/r_i` be any integer polynomials with these residues modulo the product M of the primes. Then
:math:`P_ir_i \equiv p_iR` modulo M, and as no coefficient of either side is larger than
:math:`P_i(1)\lVert r_i\rVert_\infty` or :math:`R(1)\lVert p_i\rVert_\infty`, both sides are *equal* once M
exceeds the sum of these two. So the answer is proved by its own size, and it is short where much cancels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from fairness.machine.work import Task
from queueing.exact_laws.balance_equations import BalanceEquations
from queueing.exact_laws.modular import BITS, Residues, primes, residues
from queueing.exact_laws.power_series import product, quotient, recurrence, weighted_series
from queueing.exact_laws.rational_function import RationalFunction
from queueing.exact_laws.reconstruction import from_residues
from queueing.states.box import box_name

__all__ = ["Proved", "functions_of_load"]

STEP = 4e-9
"""Guess of the seconds that a product of residues takes."""


@dataclass(frozen=True, eq=False)
class Proved:
    """Rational functions, and by how many primes they are proved.

    Attributes
    ----------
    functions : tuple of RationalFunction
    n_primes : int
    n_bits, bound_bits : int
        Bits of the product of the primes, and of what it had to exceed.
    """

    functions: tuple[RationalFunction, ...]
    n_primes: int
    n_bits: int
    bound_bits: int


def functions_of_load(equations: BalanceEquations, classes: list[int]) -> Proved:
    """Mean counts of some classes as functions of the load.

    Parameters
    ----------
    equations : BalanceEquations
        Of the arrival rates at load 1.
    classes : list of int
    """
    images = _Images(equations, classes)
    kept = [_Collected(images, top) for top in images.tops]
    size = equations.n_states
    per_prime = 4 * size * size * (len(equations.shape) + 1 + 2 * len(classes))
    least = math.ceil(images.bottom.bit_length() / (BITS - 1))
    what = f"mean counts of {box_name(equations.shape)} states as functions of the load"
    with Task(what, least, "primes", STEP * per_prime * least, "give a smaller shape") as work:
        for used, p in enumerate(filter(images.allow, primes()), 1):
            for collected, answer in zip(kept, images.modulo(p), strict=True):
                collected.add(p, *answer)
            work.advance(total=max(least, used + 1))
            functions = [collected.function for collected in kept]
            if all(functions):
                break
    evidence = min(kept, key=lambda collected: Fraction(collected.modulus, collected.needed))
    return Proved(
        tuple(f for f in functions if f is not None),
        used,
        evidence.modulus.bit_length() - 1,
        evidence.needed.bit_length(),
    )


class _Images:
    """The mean counts modulo primes."""

    def __init__(self, equations: BalanceEquations, classes: list[int]) -> None:
        n, weights, counts = len(equations.shape), equations.weights, equations.counts
        self.size = equations.n_states
        # Most jobs first, so that each state comes after those above it, and neighbours are far apart:
        # processors compute ahead. The empty state comes last.
        jobs = counts.sum(axis=1)
        order = np.argsort(-jobs, kind="stable")
        self.levels = np.cumsum([0, *np.bincount(jobs)[:0:-1]])
        place = np.empty(self.size + 1, dtype=np.int64)
        place[order], place[-1] = np.arange(self.size), self.size
        sums = [weights, *(weights * counts[:, i] for i in classes)]
        self.bottom, *self.tops = map(equations.largest_sum, sums)
        self.weights = [w[order] for w in sums]
        sources = np.concatenate([equations.less, equations.more])
        rates = np.zeros((2 * n, self.size), dtype=object)
        for row, speed in enumerate([*equations.up, *equations.down]):
            there = sources[row] >= 0
            rates[row, there] = speed[sources[row, there]]
        self.sources = np.ascontiguousarray(place[sources[:, order]])
        self.rates = np.ascontiguousarray(rates[:, order])
        self.leaving = -equations.up.sum(axis=0)[order]
        self.deaths = equations.down.sum(axis=0)[order]
        self.start = int(weights[0]) * math.prod(self.deaths[:-1].tolist())

    def allow(self, p: int) -> bool:
        """Whether the prime divides neither a death rate nor the weight of the empty state."""
        return self.start % p != 0

    def modulo(self, p: int) -> list[tuple[Residues, Residues]]:
        """Numerator and denominator of each class modulo an allowed prime, in lowest terms."""
        inverses = [pow(d, -1, p) for d in self.deaths[:-1].tolist()]
        series = np.zeros((len(self.weights), 2 * self.size), dtype=np.uint32)
        weights = np.stack([residues(w, p) for w in self.weights])
        weighted_series(
            self.sources, residues(self.rates, p), residues(self.leaving, p), residues(inverses, p),
            self.levels, weights, series, p,
        )  # fmt: skip
        answers = []
        for row in series[1:]:
            mean = quotient(row, series[0], p)
            bottom, length = recurrence(mean, p)
            top = product(mean, bottom, p)
            if length > self.size or top[self.size :].any():
                raise ArithmeticError("the series is not that of a fraction of the known degrees")
            scale = np.uint64(self.start % p)
            scaled = ((part.astype(np.uint64) * scale % p).astype(np.uint32) for part in (top, bottom))
            top, bottom = scaled
            answers.append((top[: self.size], bottom[: np.flatnonzero(bottom)[-1] + 1]))
        return answers


class _Collected:
    """Images of one class, and its function once they prove it."""

    def __init__(self, images: _Images, top: int) -> None:
        self.full, self.top, self.bottom = images.size, top, images.bottom
        self.function: RationalFunction | None = None
        self.needed = max(top, self.bottom)
        self._restart(0)

    def _restart(self, width: int) -> None:
        self.width, self.modulus = width, 1
        self.moduli: list[int] = []
        self.rows: list[Residues] = []
        # Enough for coefficients of either sign of a divisor with so many terms (Mignotte).
        self.wanted = self.needed if width == self.full else self.needed << (width + 1)

    def add(self, p: int, top: Residues, bottom: Residues) -> None:
        """Take an image, unless more has cancelled in it than in others, and try to conclude."""
        if self.function is not None or len(bottom) < self.width:
            return
        if len(bottom) > self.width:
            self._restart(len(bottom))
        self.rows.append(np.concatenate([bottom, top]))
        self.moduli.append(p)
        self.modulus *= p
        if self.modulus > self.wanted:
            self._conclude()

    def _conclude(self) -> None:
        values, modulus = from_residues([row.astype(object) for row in self.rows], self.moduli)
        whole = values.tolist()
        if self.width < self.full:
            whole = [v - modulus if 2 * v > modulus else v for v in whole]
        common = math.gcd(*whole) * (-1 if whole[0] < 0 else 1)
        whole = [v // common for v in whole]
        bottom, top = whole[: self.width], whole[self.width :]
        if self.width < self.full:
            needed = self.top * max(map(abs, bottom)) + self.bottom * max(map(abs, top))
            # What divides the modulus may have been divided out.
            self.needed = needed * math.gcd(common, modulus)
            if modulus <= self.needed:
                self.wanted = self.needed
                return
        while len(top) > 1 and top[-1] == 0:
            top.pop()
        self.function = RationalFunction(tuple(top), tuple(bottom))
