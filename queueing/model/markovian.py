r"""Markovian arrival processes: bursts that a chain can follow.

A finite Markov chain of phases moves on with arrivals, at the rates :math:`D_1`, and without, at the rates
:math:`D_0` off its diagonal; :math:`D_0 + D_1` is its generator [1]_. Between two arrivals passes a time of
phase type, with sub-generator :math:`D_0`, and the phase that an arrival leaves behind is where the next one
begins: times between arrivals may be correlated, and mostly are where jobs come in bursts. With
:math:`\pi(D_0 + D_1) = 0`, :math:`\lambda = \pi D_1 1` jobs arrive per unit of time. What bursts amount to in
the long run is the *index of dispersion*, variance over mean of the number of arrivals in a long time [2]_,

.. math:: I = 1 - 2\lambda + \frac2\lambda\,\pi D_1 (1\pi - D_0 - D_1)^{-1} D_1 1 ,

1 for a Poisson process, and the squared coefficient of variation of the times between arrivals if these are
independent. Special cases are the Markov-modulated Poisson process (:math:`D_1` diagonal: phase k has its
own rate), and renewals of phase type (:math:`D_0 = T`, :math:`D_1 = t\alpha`).

References
----------
.. [1] D. M. Lucantoni, K. S. Meier-Hellstern and M. F. Neuts, "A single-server queue with server vacations
   and a class of non-renewal arrival processes", Advances in Applied Probability 22(3), 1990.
   DOI 10.2307/1427464.
.. [2] H. Heffes and D. M. Lucantoni, "A Markov modulated characterization of packetized voice and data
   traffic and related statistical multiplexer performance", IEEE Journal on Selected Areas in Communications
   4(6), 1986. DOI 10.1109/JSAC.1986.1146393.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.csgraph import connected_components

from fairness.arguments.validation import IntArray, float_array, frozen
from fairness.errors import ModelError
from fairness.machine.compiling import stored
from fairness.model.problem import FloatArray
from queueing.model.arrivals import Arrivals, Modulation
from queueing.model.laws import at_least_tiny
from queueing.model.phase_type import PhaseType

__all__ = ["MAP"]

ROUNDING = 1e-9
"""Of a row that sums to 0, over its diagonal entry: decimal fractions are off by less, mistakes by more."""


@dataclass(frozen=True, eq=False, repr=False, init=False)
class MAP(Arrivals):
    """Markovian arrival process, scaled to the arrival rate of its class.

    Parameters
    ----------
    hidden : array_like of shape (n_phases, n_phases), per unit of time
        D_0: rates between phases without an arrival; on the diagonal minus all rates out.
    arriving : array_like of shape (n_phases, n_phases), arrivals per unit of time
        D_1: rates of arrivals, from the phase before to the phase after.

    Raises
    ------
    ModelError
        If a shape, a sign or the sum of a row is wrong, there are no arrivals, or some phase is not reached
        from every other.

    Examples
    --------
    A Markov-modulated Poisson process, 9 arrivals a second for a second, then 1 a second for 4 seconds; it is
    scaled to the rate of a class with its phases.

    >>> bursts = MAP.modulated([9, 1], [[0, 1], [0.25, 0]])
    >>> bursts.rate, round(bursts.dispersion(1.0), 4)
    (2.6, 7.3015)
    >>> from fairness import Problem, ProportionalFair
    >>> from queueing import System, stationary
    >>> one = Problem([[1]], [4])
    >>> for arrivals in (None, bursts):
    ...     print(stationary(System(one, [2.6], arrivals=arrivals), ProportionalFair()).mean_jobs.round(4))
    [1.8571]
    [6.6933]
    """

    hidden: FloatArray
    arriving: FloatArray

    def __init__(self, hidden: ArrayLike, arriving: ArrayLike) -> None:
        silent, loud = float_array("hidden", hidden, 2), float_array("arriving", arriving, 2)
        m = len(silent)
        for name, matrix in (("hidden", silent), ("arriving", loud)):
            if not m or matrix.shape != (m, m):
                raise ModelError.of(
                    name, f"must have shape ({m}, {m}), a row and a column per phase; got {matrix.shape}"
                )
        off = silent - np.diag(np.diagonal(silent))
        for name, matrix in (("hidden", silent), ("arriving", loud)):
            bad = ~np.isfinite(matrix) | ((off if name == "hidden" else loud) < 0)
            if bad.any():
                k, j = (int(v) for v in np.argwhere(bad)[0])
                where = " off the diagonal" if name == "hidden" else ""
                raise ModelError.of(name, f"must be finite and{where} >= 0; got {matrix[k, j]}", k, j)
        out = off.sum(axis=1) + loud.sum(axis=1)
        wrong = ~(np.abs(out + np.diagonal(silent)) <= ROUNDING * out)
        if wrong.any():
            k = int(np.argmax(wrong))
            raise ModelError.of(
                "hidden", f"must have {-out[k]:.6g} on the diagonal of row {k}, minus all rates out of the "
                f"phase, so that the rows of both matrices sum to 0 together; got {silent[k, k]:.6g}", k, k
            )  # fmt: skip
        if not loud.any():
            raise ModelError.of("arriving", "has no rate above 0: nobody ever arrives")
        pieces, label = connected_components(off + loud, connection="strong")
        if pieces > 1:
            raise ModelError.of(
                "hidden", "and arriving do not lead from every phase to every other: phases 0 and "
                f"{int(np.argmax(label != label[0]))} are not in one class; leave out phases that are never "
                "entered again"
            )  # fmt: skip
        vars(self).update(hidden=frozen(off - np.diag(out)), arriving=frozen(loud))

    @classmethod
    def modulated(cls, rates: ArrayLike, switching: ArrayLike) -> MAP:
        """Markov-modulated Poisson process.

        Parameters
        ----------
        rates : array_like of shape (n_phases,), arrivals per unit of time
            Arrival rate in each phase, >= 0.
        switching : array_like of shape (n_phases, n_phases), per unit of time
            Rates between phases; the diagonal does not count.
        """
        own, moves = float_array("rates", rates, 1), float_array("switching", switching, 2)
        if moves.shape != (len(own), len(own)):
            raise ModelError.of(
                "switching", f"must have shape ({len(own)}, {len(own)}), as there are {len(own)} rates; got "
                f"{moves.shape}"
            )  # fmt: skip
        off = moves - np.diag(np.diagonal(moves))
        return cls(off - np.diag(off.sum(axis=1) + own), np.diag(own))

    @property
    def n_phases(self) -> int:
        """Number of phases."""
        return len(self.hidden)

    @cached_property
    def law(self) -> FloatArray:
        """Probability of each phase at any time, (n_phases,)."""
        return Modulation(self.hidden, self.arriving).law

    @cached_property
    def rate(self) -> float:
        """Arrivals per unit of time, as given: before it is scaled to a class."""
        return float(self.law @ self.arriving.sum(axis=1))

    @property
    def _met(self) -> FloatArray:
        """Probability of each phase just after an arrival."""
        return np.asarray(self.law @ self.arriving / self.rate)

    def interarrival(self, rate: float) -> PhaseType:
        """Law of the time between two arrivals; successive ones may be correlated."""
        return PhaseType(self._met, self.hidden * (rate / self.rate))

    def modulation(self, rate: float) -> Modulation:
        """The phases, at this rate of arrivals."""
        return Modulation(self.hidden * (rate / self.rate), self.arriving * (rate / self.rate))

    def dispersion(self, rate: float) -> float:
        """Index of dispersion of the arrivals in a long time; the same at every rate."""
        later = np.linalg.solve(self.law - self.hidden - self.arriving, self.arriving.sum(axis=1) / self.rate)
        return float(1 - 2 * self.rate + 2 * (self.law @ self.arriving) @ later)

    def gaps(self, rate: float, stream: np.random.Generator) -> Callable[[int], FloatArray]:
        """Times between arrivals, one block after the other, the first from a random arrival on."""
        m, total = self.n_phases, -np.diagonal(self.hidden)
        moves = np.hstack([self.hidden, self.arriving]) / total[:, None]
        np.fill_diagonal(moves, 0.0)
        cumulated, means = np.cumsum(moves, axis=1), self.rate / rate / total
        phase = np.array([stream.choice(m, p=self._met)])

        def drawn(size: int) -> FloatArray:
            values = np.empty(size)
            _follow(stream, phase, cumulated, means, values)
            return at_least_tiny(values)

        return drawn

    def __repr__(self) -> str:
        return f"MAP({self.n_phases} phases, dispersion {self.dispersion(1.0):.6g})"


@stored(nogil=True)
def _follow(
    generator: np.random.Generator,
    phase: IntArray,
    moves: FloatArray,
    means: FloatArray,
    values: FloatArray,
) -> None:
    """One time after the other from the phase that the one before left, which stays in ``phase``."""
    m = len(means)
    k = phase[0]
    for j in range(len(values)):
        total = 0.0
        after = 0
        while after < m:
            total += means[k] * generator.standard_exponential()
            u = generator.random()
            after = 0
            # Rounding may leave the last cumulated probability below 1.
            while after < 2 * m - 1 and u >= moves[k, after]:
                after += 1
            k = after % m
        values[j] = total
    phase[0] = k
