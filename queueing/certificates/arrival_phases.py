r"""Phases of arrivals as a certificate knows them: rates in fractions, and how far each is ahead of the mean.

A process of class i has a phase a, which moves to b at the rate :math:`D_{0,ab}` without an arrival and at
:math:`D_{1,ab}` with one; a Poisson process has one phase. What a system holds are floats: a
:class:`~queueing.MAP` means the entries off the diagonal of ``hidden`` and those of ``arriving``, times the
fraction that makes the mean rate :math:`\lambda_i`, an :class:`~queueing.OnOff` its two mean times. The
phases of all classes together are the product, that of the last class running fastest.

The potential :math:`\kappa(a)` solves Poisson's equation, :math:`\sum_b D_{0,ab}(\kappa(b) - \kappa(a)) +
D_{1,ab}(1 + \kappa(b) - \kappa(a)) = \lambda_i`, with :math:`\min \kappa = 0`: :math:`x + \kappa` rises at
the mean rate in every phase. Its jumps have the second moment

.. math:: \Lambda_i = \max_a \sum_b D_{0,ab} (\kappa(b) - \kappa(a))^2 + D_{1,ab} (1 + \kappa(b) -
   \kappa(a))^2 + 2\kappa(a)\lambda_i ,

the last term included, per unit of time; :math:`\lambda_i` of a Poisson process. All this is exact.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fairness.arguments.validation import IntArray
from fairness.errors import ModelError
from fairness.exact.linear_algebra import affine_solutions, dot
from fairness.exact.outward import above, below
from fairness.model.problem import FloatArray
from queueing.model.arrivals import OnOff, Poisson
from queueing.model.job_trace import JobTrace
from queueing.model.markovian import MAP

__all__ = ["ArrivalPhases", "Move", "Moves"]

MOST_PHASES = 64
"""Of all classes together."""
SMALLEST, LARGEST = Fraction(1, 10**50), Fraction(10**50)
"""Rates, or 0, and potentials: products and quotients of a few of them are floats."""

Rows = list[list[Fraction]]


class Move(NamedTuple):
    """From a phase of all classes to one, by the process of a class, with an arrival (1) or without (0)."""

    phase: int
    place: int  # of the class among those with arrivals
    target: int
    arrives: int
    rate: Fraction


class Moves(NamedTuple):
    """The moves for a kernel: those of phase k and class i of n are from ``starts[k n + i]`` on."""

    starts: IntArray
    targets: IntArray
    arrives: IntArray
    low: FloatArray  # bounds of the rates
    high: FloatArray


@dataclass(frozen=True)
class ArrivalPhases:
    """Phases of the classes with arrivals together.

    Attributes
    ----------
    n, n_phases : int
        Classes with arrivals; phases of all together.
    moves : tuple of Move
        By phase, then by class.
    ahead : tuple of tuple of Fraction, (n_phases, n)
        The potential of each class.
    second : tuple of Fraction, (n,)
        Lambda_i.
    """

    n: int
    n_phases: int
    moves: tuple[Move, ...]
    ahead: tuple[tuple[Fraction, ...], ...]
    second: tuple[Fraction, ...]

    @classmethod
    def of(cls, system: Any) -> ArrivalPhases:
        """Those of a system; ModelError where a process is none of Poisson, OnOff and MAP.

        Examples
        --------
        >>> from fairness import Problem
        >>> from queueing import MAP, System
        >>> bursts = MAP.modulated([9, 1], [[0, 1], [0.25, 0]])
        >>> found = ArrivalPhases.of(System(Problem([[1]], [4]), [2.6], arrivals=bursts))
        >>> found.n_phases, [float(one) for (one,) in found.ahead]
        (2, [6.4, 0.0])
        """
        arrivals = system.arrivals
        if isinstance(arrivals, JobTrace):
            raise ModelError.of(
                "arrivals", "is a trace, of which nothing is proved; build the system without"
            )
        if not isinstance(arrivals, tuple) or len(arrivals) != len(system.arrival_rates):
            raise ModelError.of("arrivals", "must be a tuple of a process per class")
        rates = [Fraction(float(rate)) for rate in system.arrival_rates]
        own = []
        for k in np.flatnonzero(system.arrival_rates > 0).tolist():
            try:
                own.append(_ClassPhases.of(arrivals[k], rates[k]))
            except ValueError as error:
                told = f"of class {system.problem.job_classes[k]!r}: {error}"
                raise ModelError.of("arrivals", told, k) from None
        sizes = [len(one.ahead) for one in own]
        if math.prod(sizes) > MOST_PHASES:
            told = f"have {math.prod(sizes)} phases together; certificates are made for at most {MOST_PHASES}"
            raise ModelError.of("arrivals", told)
        joint = list(itertools.product(*map(range, sizes)))
        number = {phases: k for k, phases in enumerate(joint)}
        moves = [
            Move(k, i, number[(*phases[:i], b, *phases[i + 1 :])], arrives, rate)
            for k, phases in enumerate(joint)
            for i, one in enumerate(own)
            for b in range(sizes[i])
            for arrives, rate in enumerate((one.hidden[phases[i]][b], one.arriving[phases[i]][b]))
            if rate > 0
        ]
        ahead = tuple(tuple(one.ahead[a] for one, a in zip(own, phases, strict=True)) for phases in joint)
        return cls(len(own), len(joint), tuple(moves), ahead, tuple(one.second for one in own))

    def for_kernel(self) -> Moves:
        """With rates rounded outward."""
        slots = [move.phase * self.n + move.place for move in self.moves]
        starts = np.searchsorted(slots, np.arange(self.n_phases * self.n + 1)).astype(np.int64)
        targets, arrives = np.array([(m.target, m.arrives) for m in self.moves], dtype=np.int64).T
        low, high = np.array([(below(m.rate), above(m.rate)) for m in self.moves]).T
        return Moves(starts, *map(np.ascontiguousarray, (targets, arrives, low, high)))

    def peaks(self) -> list[float]:
        """Largest rate of arrivals of each class in a phase, rounded up."""
        rates = [[Fraction(0)] * self.n_phases for _ in range(self.n)]
        for move in self.moves:
            rates[move.place][move.phase] += move.arrives * move.rate
        return [above(max(own)) for own in rates]


class _ClassPhases(NamedTuple):
    """Rates of one class, 0 on the diagonal of ``hidden``, with potentials and their second moment."""

    hidden: Rows
    arriving: Rows
    ahead: list[Fraction]
    second: Fraction

    @classmethod
    def of(cls, process: Any, rate: Fraction) -> _ClassPhases:
        """ModelError where there are none that could be looked at."""
        hidden, arriving = _rates(process, rate)
        m = len(hidden)
        generator = [
            [hidden[a][b] + arriving[a][b] if a != b else _out(a, hidden, arriving) for b in range(m)]
            for a in range(m)
        ]
        one, zero = Fraction(1), Fraction(0)
        balance = [[row[b] for row in generator] + [zero] for b in range(m)]
        law = affine_solutions([*balance, [one] * (m + 1)], m, 0)
        if law is None or law[1]:
            raise ModelError("its phases do not lead to one another")
        mean = dot(law[0], map(sum, arriving))
        if not mean > 0:
            raise ModelError("nobody ever arrives")
        if isinstance(process, MAP):
            hidden, arriving, generator = (
                [[value * rate / mean for value in row] for row in rows]
                for rows in (hidden, arriving, generator)
            )
        rises = [[*row, rate - sum(own)] for row, own in zip(generator, arriving, strict=True)]
        found = affine_solutions([*rises, [one] + [zero] * m], m, 0)
        assert found is not None  # the right sides are orthogonal to the law
        ahead = [value - min(found[0]) for value in found[0]]
        second = max(
            sum(
                hidden[a][b] * (ahead[b] - ahead[a]) ** 2 + arriving[a][b] * (1 + ahead[b] - ahead[a]) ** 2
                for b in range(m)
            )
            + 2 * ahead[a] * rate
            for a in range(m)
        )
        numbers = [second, *ahead, *itertools.chain(*hidden, *arriving)]
        if any(value and not SMALLEST <= value <= LARGEST for value in numbers):
            raise ModelError("its rates are too far apart")
        return cls(hidden, arriving, ahead, second)


def _out(a: int, hidden: Rows, arriving: Rows) -> Fraction:
    """Entry on the diagonal of the generator."""
    return arriving[a][a] - sum(hidden[a]) - sum(arriving[a])


def _rates(process: Any, rate: Fraction) -> tuple[Rows, Rows]:
    """Rates without and with an arrival, of a MAP before they are scaled."""
    zero = Fraction(0)
    if isinstance(process, Poisson):
        return [[zero]], [[rate]]
    if isinstance(process, OnOff):
        on, off = (Fraction(float(value)) for value in (process.mean_on, process.mean_off))
        if not (on > 0 and off > 0):
            raise ModelError("its mean times must be > 0")
        return [[zero, 1 / on], [1 / off, zero]], [[rate * (on + off) / on, zero], [zero, zero]]
    if not isinstance(process, MAP):
        raise ModelError(
            f"{process!r} is none of Poisson(), OnOff(...) and MAP(...), whose phases a certificate knows; a "
            "renewal process of phase type is MAP(rates, numpy.outer(exits, initial)) of its PhaseType"
        )
    return _fractions(process.hidden, diagonal=False), _fractions(process.arriving)


def _fractions(matrix: Any, diagonal: bool = True) -> Rows:
    """Entries of a square matrix of floats; it may come from a file."""
    if not isinstance(matrix, np.ndarray) or matrix.dtype != np.float64 or matrix.ndim != 2:
        raise ModelError("its matrices must be arrays of floats")
    m = len(matrix)
    off = matrix if diagonal else matrix - np.diag(np.diagonal(matrix))
    if not 1 <= m <= MOST_PHASES or matrix.shape != (m, m) or not (np.isfinite(off) & (off >= 0)).all():
        raise ModelError(f"its matrices must be square, of 1 to {MOST_PHASES} rows, and finite rates >= 0")
    return [[Fraction(value) for value in row] for row in off.tolist()]
