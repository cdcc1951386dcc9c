r"""Phase-type laws: the time to absorption of a finite Markov chain.

A chain on m phases starts in phase k with probability :math:`\alpha_k`, moves by the sub-generator :math:`T`
(off the diagonal rates :math:`\ge 0`, rows with sums :math:`\le 0`) and ends at the exit rates
:math:`t = -T 1`. Its duration S has [1]_

.. math:: P(S > s) = \alpha e^{Ts} 1, \qquad E[S^n] = n!\, \alpha (-T)^{-n} 1 .

Such laws come as close as one likes to any law of positive numbers, and with m phases the squared coefficient
of variation (scv) is at least 1/m, the Erlang law having the least [2]_. Fits that are exact in mean m and
scv :math:`c^2`:

* :math:`c^2 < 1`: a mixture of Erlang laws of k - 1 and k phases of one rate [3]_ with
  :math:`1/k \le c^2 \le 1/(k-1)`, hence the fewest phases that [2]_ allows; probability
  :math:`p = \big(kc^2 - \sqrt{k(1+c^2) - k^2c^2}\big)/(1+c^2)` of k - 1 phases, rate :math:`(k-p)/m`.
* :math:`c^2 > 1`: two exponentials with balanced means [3]_, [4]_ (:meth:`Hyperexponential.fit`).
* Coxian, any :math:`c^2`: phases in a row, with a way out after each. Two phases for :math:`c^2 \ge 1/2`
  [5]_: rates :math:`2/m` and :math:`1/(mc^2)`, the second phase with probability :math:`1/(2c^2)`. Below 1/2
  the k phases of one rate of the least k, left after the first with probability :math:`1 - a` only, where
  :math:`1 - a = \big(2kc^2 + k - 2 - \sqrt{k^2 + 4 - 4kc^2}\big)/\big(2(c^2+1)(k-1)\big)` and the rate is
  :math:`(1 + (k-1)a)/m`.

References
----------
.. [1] M. F. Neuts, "Matrix-Geometric Solutions in Stochastic Models", Johns Hopkins, 1981, chapter 2.
.. [2] D. Aldous and L. Shepp, "The least variable phase type distribution is Erlang", Stochastic Models 3,
   1987. DOI 10.1080/15326348708807067.
.. [3] H. C. Tijms, "A First Course in Stochastic Models", Wiley, 2003, appendix B.
.. [4] W. Whitt, "Approximating a point process by a renewal process, I: two basic methods", Operations
   Research 30, 1982. DOI 10.1287/opre.30.1.125.
.. [5] R. Marie, "Calculating equilibrium probabilities for lambda(n)/C_k/1/N queues", ACM Performance 1980.
   DOI 10.1145/800199.806155.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from fairness.arguments.validation import float_array, frozen, require_whole
from fairness.errors import ModelError
from fairness.machine.compiling import stored
from fairness.model.problem import FloatArray
from queueing.model.laws import (
    Erlang,
    Exponential,
    Hyperexponential,
    Law,
    at_least_tiny,
    gamma_tails,
    positive,
    unseen_part,
)
from queueing.model.scipy_law import as_law

__all__ = ["PhaseType", "coxian", "fit_phases", "phases_of"]

PASS_STEPS = 100.0
"""Of a time, interpreted: about 60 products of small matrices."""
MOST_PHASES = 1000
"""Most phases of a fit: beyond, a law is deterministic for all that chains and simulations can tell."""


@dataclass(frozen=True, eq=False, repr=False, init=False)
class PhaseType(Law):
    """Time to absorption of a finite Markov chain.

    Parameters
    ----------
    initial : array_like of shape (n_phases,)
        Probabilities of the first phase, summing to 1: no job has size 0.
    rates : array_like of shape (n_phases, n_phases), per unit of work
        Sub-generator: rates between phases, and on the diagonal minus the rates out. From every phase the end
        must be reachable.

    Raises
    ------
    ModelError
        If a shape, sign or sum is wrong, or the chain may never end.

    Examples
    --------
    Two phases in a row, the second in one of four jobs:

    >>> law = PhaseType([1, 0], [[-2, 0.5], [0, -0.5]])
    >>> law.mean, law.scv, law.cdf([0, 1]).round(4)
    (1.0, 2.0, array([0.    , 0.7076]))
    """

    initial: FloatArray
    rates: FloatArray

    def __init__(self, initial: ArrayLike, rates: ArrayLike) -> None:
        alpha, matrix = float_array("initial", initial, 1), float_array("rates", rates, 2)
        m = len(alpha)
        if not m or matrix.shape != (m, m):
            raise ModelError.of(
                "rates",
                f"must have shape ({m}, {m}), one row per entry of initial (at least one); got "
                f"{matrix.shape}",
            )
        # 1e-9: sums of decimal fractions are off by rounding, mistakes are off by more.
        if not ((alpha >= 0).all() and abs(alpha.sum() - 1) < 1e-9):
            raise ModelError.of("initial", f"must be probabilities >= 0 with sum 1; got {alpha.tolist()}")
        if not np.isfinite(matrix).all():
            k, j = (int(v) for v in np.argwhere(~np.isfinite(matrix))[0])
            raise ModelError.of("rates", f"must be finite; got {matrix[k, j]} at index ({k}, {j})")
        off = matrix - np.diag(np.diagonal(matrix))
        if (off < 0).any():
            k, j = (int(v) for v in np.argwhere(off < 0)[0])
            raise ModelError(f"rates off the diagonal must be >= 0; got {matrix[k, j]} at index ({k}, {j})")
        ways, total = off.sum(axis=1), -np.diagonal(matrix)
        wrong = ~((total > 0) & (ways <= total * (1 + 1e-9)))
        if wrong.any():
            k = int(np.argmax(wrong))
            raise ModelError(
                f"row {k} of rates must have a diagonal entry < 0 and a sum <= 0; got {matrix[k].tolist()}"
            )
        # The diagonal is the sum of the rates out to the last bit, also where the given one is not.
        exits = np.where(total - ways > 1e-9 * total, total - ways, 0.0)
        stuck = ~_reaching(off, exits > 0)
        if stuck.any():
            raise ModelError(
                f"from phase {int(np.argmax(stuck))} of rates the end is never reached: give some phase "
                "after it a row with a sum < 0, by more than 1e-9 of its diagonal entry: less is rounding"
            )
        rates = frozen(off - np.diag(ways + exits))
        vars(self).update(initial=frozen(alpha / alpha.sum()), rates=rates, _exits=frozen(exits))

    @property
    def n_phases(self) -> int:
        """Number of phases."""
        return len(self.initial)

    @property
    def memoryless(self) -> bool:
        """Whether there is one phase only."""
        return self.n_phases == 1

    @property
    def exits(self) -> FloatArray:
        """Rates at which the phases end the job, (n_phases,)."""
        return self._exits  # type: ignore[attr-defined]

    @cached_property
    def visits(self) -> FloatArray:
        """Mean work done in each phase, initial (-rates)^-1, (n_phases,)."""
        return np.asarray(np.linalg.solve(-self.rates.T, self.initial), dtype=np.float64)

    @property
    def mean(self) -> float:
        """Mean."""
        return float(self.visits.sum())

    @property
    def scv(self) -> float:
        """Squared coefficient of variation."""
        # Over the mean before the product: squares of extreme means overflow.
        rest = np.linalg.solve(-self.rates, np.ones(self.n_phases)) / self.mean
        return float(2 * (self.visits / self.mean) @ rest - 1)

    @property
    def inverse_mean(self) -> float:
        r"""E[1/S], :math:`-\alpha \log(-T)\, t`; infinite where some phase is the first and the last."""
        from scipy import linalg

        if self.initial @ self.exits > 0:
            return math.inf
        if self._pace:
            # Of an Erlang law with n phases, of one rate, that rate over n - 1.
            return float(self._pace * self.initial[:-1] @ (1.0 / np.arange(self.n_phases - 1, 0, -1)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # that digits beyond the 13th may be wrong
            return -float(self.initial @ linalg.logm(-self.rates) @ self.exits)

    def moment(self, order: int) -> float:
        """E[S^order], order >= 0."""
        vector = np.ones(self.n_phases)
        for k in range(1, require_whole("order", order, 0) + 1):
            vector[:] = k * np.linalg.solve(-self.rates, vector)
        return float(self.initial @ vector)

    def survival(self, values: ArrayLike) -> FloatArray:
        """P(S > s) for each value; 1 below 0."""
        s = float_array("values", values)
        if np.isnan(s).any():
            raise ModelError.of("values", "must be numbers; got nan")
        if self._pace:
            return self._row_tails(s)[0]
        return np.minimum(self._present(s).sum(axis=-1), 1.0)

    def _present(self, s: FloatArray) -> FloatArray:
        """Probability of being in each phase after work s, (..., n_phases)."""
        present = np.empty((s.size, self.n_phases))
        _pass.small(PASS_STEPS, s.size)(self.initial, self.rates, s.ravel(), present)
        return present.reshape(*s.shape, self.n_phases)

    def cdf(self, values: ArrayLike) -> FloatArray:
        """P(S <= s) for each value."""
        return 1.0 - self.survival(values)

    def with_mean(self, mean: float) -> Self:
        """The law of the same shape with another mean."""
        return type(self)(self.initial, self.rates * (self.mean / positive("mean", mean)))

    def sample(self, generator: np.random.Generator, size: int) -> FloatArray:
        """Independent values, (size,)."""
        values = np.empty(size)
        total = -np.diagonal(self.rates)
        jumps = self.rates / total[:, None]
        np.fill_diagonal(jumps, 0.0)
        _run_through(generator, np.cumsum(self.initial), np.cumsum(jumps, axis=1), 1.0 / total, values)
        return at_least_tiny(values)

    def unseen_work(self, jobs: float, power: int = 1) -> float:
        """Part of E[S^power] that comes from sizes above the quantile of level 1 - 1/jobs."""
        return unseen_part(self, jobs, power)

    def upper_moments(self, values: ArrayLike) -> FloatArray:
        """P(S > s), E[S; S > s] and E[S^2; S > s] for each value, (3, ...)."""
        s = float_array("values", values)
        if self._pace:
            return self._row_tails(s)
        # What is left after s begins in the phase at s.
        rest = np.linalg.solve(-self.rates, np.ones(self.n_phases))
        squares = 2 * np.linalg.solve(-self.rates, rest)
        here = self._present(s)
        chance, mean, square = here.sum(axis=-1), here @ rest, here @ squares
        return np.array([chance, s * chance + mean, s * (s * chance + 2 * mean) + square])

    @cached_property
    def _pace(self) -> float:
        """The rate of all phases where they follow each other to the end; 0 elsewhere."""
        pace = float(self.exits[-1])
        row = np.diag(np.full(self.n_phases - 1, pace), 1) - pace * np.eye(self.n_phases)
        return pace if np.array_equal(self.rates, row) else 0.0

    def _row_tails(self, s: FloatArray) -> FloatArray:
        """What :meth:`upper_moments` returns: from phase k on, the law is Erlang."""
        starts = np.flatnonzero(self.initial).tolist()
        laws = [gamma_tails(self.n_phases - k, 1.0 / self._pace, s) for k in starts]
        return np.asarray(sum(self.initial[k] * law for k, law in zip(starts, laws, strict=True)))

    def __repr__(self) -> str:
        return f"PhaseType({self.n_phases} phases, mean {self.mean:.6g}, scv {self.scv:.6g})"


def phases_of(law: Law) -> PhaseType:
    """The law as a chain of phases, those that are never entered left out.

    Parameters
    ----------
    law : Law
        PhaseType, Exponential, Erlang or Hyperexponential; or expon, erlang of scipy.stats.

    Returns
    -------
    PhaseType

    Raises
    ------
    ModelError
        If the law has no phases.

    Examples
    --------
    >>> phases_of(Erlang(3, mean=2))
    PhaseType(3 phases, mean 2, scv 0.333333)
    """
    law = as_law("law", law)
    if isinstance(law, PhaseType):
        off = law.rates - np.diag(np.diagonal(law.rates))
        used = _reaching(off.T, law.initial > 0)
        return law if used.all() else PhaseType(law.initial[used], law.rates[np.ix_(used, used)])
    if isinstance(law, Exponential):
        return PhaseType([1.0], [[-1.0 / law.mean]])
    if isinstance(law, Erlang):
        return _in_a_row(law.phases, law.phases / law.mean)
    if isinstance(law, Hyperexponential):
        p, m = np.array(law.probabilities), np.array(law.means)
        return PhaseType(p[p > 0], -np.diag(1.0 / m[p > 0]))
    raise ModelError(
        f"{law!r} has no phases; take fit_phases({law.mean:.6g}, {law.scv:.6g}), a phase-type law of the "
        "same mean and squared coefficient of variation, or simulate"
    )


def fit_phases(mean: float, scv: float) -> PhaseType:
    """Phase-type law of given mean and squared coefficient of variation, with the fewest phases.

    A mixture of Erlang laws below scv 1, an exponential at 1, two exponentials with balanced means above (see
    the module docstring).

    Parameters
    ----------
    mean, scv : float
        > 0. 1/scv phases, rounded up, are needed below 1: at most 1000.

    Returns
    -------
    PhaseType

    Raises
    ------
    ModelError
        If an argument is not a finite number > 0, or too many phases are needed.

    Examples
    --------
    >>> fit_phases(1, 0.4), fit_phases(2, 9)
    (PhaseType(3 phases, mean 1, scv 0.4), PhaseType(2 phases, mean 2, scv 9))
    """
    m, c2 = positive("mean", mean), positive("scv", scv)
    if c2 > 1:
        return phases_of(Hyperexponential.fit(c2, m))
    k = _fewest(c2)
    # The root is of 0 where c2 = 1/k, up to rounding.
    p = (k * c2 - math.sqrt(max(0.0, k * (1 + c2) - k * k * c2))) / (1 + c2) if k > 1 else 0.0
    p = p if p > 1e-15 else 0.0
    row = _in_a_row(k, (k - p) / m)
    if p == 0.0:
        return row
    # The mixture: jobs of k - 1 phases begin with the second.
    initial = np.zeros(k)
    initial[0], initial[1] = 1 - p, p
    return PhaseType(initial, row.rates)


def coxian(mean: float, scv: float) -> PhaseType:
    """Coxian law of given mean and squared coefficient of variation: phases in a row, with ways out.

    Two phases from scv 1/2 on, 1/scv rounded up below (see the module docstring).

    Parameters
    ----------
    mean, scv : float
        > 0. At most 1000 phases.

    Returns
    -------
    PhaseType

    Raises
    ------
    ModelError
        If an argument is not a finite number > 0, or too many phases are needed.

    Examples
    --------
    >>> coxian(1, 4).rates
    array([[-2.  ,  0.25],
           [ 0.  , -0.25]])
    """
    m, c2 = positive("mean", mean), positive("scv", scv)
    if c2 >= 0.5:
        p, second = 1 / (2 * c2), 1 / (m * c2)
        return PhaseType([1.0, 0.0], [[-2 / m, p * 2 / m], [0.0, -second]])
    k = _fewest(c2)
    root = math.sqrt(max(0.0, k * k + 4 - 4 * k * c2))
    a = 1 - (2 * k * c2 + k - 2 - root) / (2 * (c2 + 1) * (k - 1))
    rates = np.array(_in_a_row(k, (1 + (k - 1) * a) / m).rates)
    rates[0, 1] *= min(a, 1.0)
    return PhaseType([1.0] + [0.0] * (k - 1), rates)


def _in_a_row(k: int, rate: float) -> PhaseType:
    """Erlang law of k phases."""
    return PhaseType([1.0] + [0.0] * (k - 1), rate * (np.eye(k, k=1) - np.eye(k)))


def _fewest(c2: float) -> int:
    """Least number of phases for a squared coefficient of variation at most 1."""
    k = math.ceil(1 / c2 * (1 - 1e-14)) if c2 > 0.5 / MOST_PHASES else MOST_PHASES + 1
    if k > MOST_PHASES:
        raise ModelError(
            f"scv {c2:g} needs 1/scv phases, more than {MOST_PHASES}; take a larger scv, or Deterministic in "
            "simulate"
        )
    return k


def _reaching(moves: FloatArray, goal: np.ndarray) -> np.ndarray:
    """Phases from which a goal can be reached along positive entries of ``moves``."""
    reached, newest = goal.copy(), np.flatnonzero(goal)
    while len(newest):
        newest = np.flatnonzero((moves[:, newest] > 0).any(axis=1) & ~reached)
        reached[newest] = True
    return reached


@stored(nogil=True)
def _run_through(
    generator: np.random.Generator,
    first: FloatArray,
    jumps: FloatArray,
    means: FloatArray,
    values: FloatArray,
) -> None:
    """One value after the other, so that blocks of any size give the same; cumulated probabilities."""
    m = len(first)
    for j in range(len(values)):
        u = generator.random()
        phase = 0
        while phase < m - 1 and u >= first[phase]:
            phase += 1
        total = 0.0
        while phase < m:
            total += means[phase] * generator.standard_exponential()
            u = generator.random()
            after = 0
            while after < m and u >= jumps[phase, after]:
                after += 1
            phase = after
        values[j] = total


@stored(nogil=True)
def _pass(initial: FloatArray, rates: FloatArray, times: FloatArray, present: FloatArray) -> None:
    """Fill in initial exp(rates t), by terms >= 0 only: nothing cancels, small parts stay accurate.

    exp(rates h) = sum of Poisson probabilities times powers of the uniformised chain for a step with at most
    one change on average, then squared.
    """
    m = len(initial)
    fastest = 0.0
    for k in range(m):
        fastest = max(fastest, -rates[k, k])
    jumps = rates / fastest
    for k in range(m):
        jumps[k, k] = max(0.0, (fastest + rates[k, k]) / fastest)
    for place in range(len(times)):
        changes = fastest * times[place]
        for k in range(m):
            present[place, k] = initial[k]
        if changes <= 0:
            continue
        squarings = 0
        while changes > 1 and squarings < 1100:
            changes /= 2
            squarings += 1
        if squarings == 1100:  # after infinitely long
            present[place] = 0.0
            continue
        weight = math.exp(-changes)
        power = np.eye(m)
        total = weight * power
        # The 22nd term of a Poisson law of mean 1 is below 1e-21.
        for k in range(1, 22):
            power = power @ jumps
            weight *= changes / k
            total += weight * power
        for _ in range(squarings):
            total = total @ total
        here = initial @ total
        for k in range(m):
            present[place, k] = here[k]
