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
from numpy.typing import NDArray

from fairness.arguments.validation import IntArray
from fairness.errors import ModelError
from fairness.exact.linear_algebra import affine_solutions, dot
from fairness.exact.outward import above, below
from fairness.model.problem import FloatArray
from queueing.model.arrivals import OnOff, Poisson
from queueing.model.markovian import MAP

__all__ = ["ArrivalPhases", "Move", "Moves"]

MOST_PHASES = 64
"""Of all classes together."""
SMALLEST, LARGEST = Fraction(1, 10**50), Fraction(10**50)
"""Rates, or 0, and potentials: products and quotients of a few of them are floats."""

Rows = NDArray[Any]


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
        if not isinstance(arrivals, tuple) or len(arrivals) != len(system.arrival_rates):
            raise ModelError.of("arrivals", "must be processes, one per class; nothing is proved of a trace")
        own = []
        for k in np.flatnonzero(system.arrival_rates > 0).tolist():
            try:
                own.append(_ClassPhases.of(arrivals[k], Fraction(float(system.arrival_rates[k]))))
            except (ValueError, TypeError, ArithmeticError) as error:  # of a file's objects
                told = f"of class {system.problem.job_classes[k]!r}: {error}"
                raise ModelError.of("arrivals", told, k) from None
        sizes = [len(one.ahead) for one in own]
        if math.prod(sizes) > MOST_PHASES:
            raise ModelError.of("arrivals", f"have {math.prod(sizes)} phases together, above {MOST_PHASES}")
        joint = list(itertools.product(*map(range, sizes)))
        number = {phases: k for k, phases in enumerate(joint)}
        moves = [
            Move(k, i, number[(*phases[:i], b, *phases[i + 1 :])], arrives, rate)
            for k, phases in enumerate(joint)
            for i, one in enumerate(own)
            for b in range(sizes[i])
            for arrives, rate in enumerate((one.hidden[phases[i], b], one.arriving[phases[i], b]))
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
    ahead: Rows
    second: Fraction

    @classmethod
    def of(cls, process: Any, rate: Fraction) -> _ClassPhases:
        """ModelError where there are none that could be looked at."""
        hidden, arriving = _rates(process, rate)
        m, rises = len(hidden), arriving.sum(axis=1)
        generator = hidden + arriving
        generator = generator - np.diag(generator.sum(axis=1))
        total = [Fraction(1)] * (m + 1)
        law = affine_solutions([*([*column, Fraction(0)] for column in generator.T), total], m, 0)
        mean = dot(law[0], rises) if law and not law[1] else Fraction(0)
        if not mean > 0:
            raise ModelError("its phases do not lead to one another, or nobody ever arrives")
        scale = rate / mean if isinstance(process, MAP) else 1
        hidden, arriving, generator, rises = (one * scale for one in (hidden, arriving, generator, rises))
        # One phase is at 0; the right sides are orthogonal to the law, so that there is a solution.
        first = [Fraction(k == 0) for k in range(m)] + [Fraction(0)]
        found = affine_solutions(
            [first, *([*row, v] for row, v in zip(generator, rate - rises, strict=True))], m, 0
        )
        assert found is not None
        ahead = np.array(found[0]) - min(found[0])
        step = ahead - ahead[:, None]
        second = ((hidden * step**2 + arriving * (1 + step) ** 2).sum(axis=1) + 2 * rate * ahead).max()
        if any(v and not SMALLEST <= v <= LARGEST for v in (second, *ahead, *hidden.flat, *arriving.flat)):
            raise ModelError("its rates are too far apart")
        return cls(hidden, arriving, ahead, second)


def _rates(process: Any, rate: Fraction) -> list[Rows]:
    """Rates without and with an arrival, of a MAP before they are scaled; it may come from a file."""
    if isinstance(process, Poisson):
        return [np.array([[one]]) for one in (Fraction(0), rate)]
    if isinstance(process, OnOff):
        on, off, no = Fraction(float(process.mean_on)), Fraction(float(process.mean_off)), Fraction(0)
        return [np.array([[no, 1 / on], [1 / off, no]]), np.array([[rate * (on + off) / on, no], [no, no]])]
    if not isinstance(process, MAP):
        raise ModelError(
            f"{process!r} is none of Poisson(), OnOff(...) and MAP(...), whose phases a certificate knows; a "
            "renewal process of phase type is MAP(rates, numpy.outer(exits, initial)) of its PhaseType"
        )
    both = np.array([process.hidden, process.arriving], dtype=float)  # ValueError for different shapes
    m = min(both.shape[-1], MOST_PHASES)
    if both.shape == (2, m, m):
        both[0][np.diag_indices(m)] = 0.0
    if both.shape != (2, m, m) or not (np.isfinite(both) & (both >= 0)).all():
        raise ModelError(f"its matrices must be of up to {MOST_PHASES} phases, and rates finite and >= 0")
    return [np.vectorize(Fraction, otypes=[object])(one) for one in both]
