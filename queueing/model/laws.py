r"""Laws of job sizes and of times between arrivals.

A law is known here by its mean :math:`m`, by its squared coefficient of variation (scv)
:math:`c^2 = \mathrm{Var}[S]/m^2` and by samples of any number, drawn at once; ``with_mean`` gives the law of
:math:`S m'/m`, of the same shape.

==================== ======================================================================= =================
law                  P(S > s)                                                                scv
==================== ======================================================================= =================
Exponential          :math:`e^{-s/m}`                                                        1
Deterministic        :math:`1\{s < m\}`                                                      0
Erlang               sum of k exponentials                                                   1/k
Hyperexponential     :math:`\sum_k p_k e^{-s/m_k}`                                           >= 1
TruncatedPareto      Pareto :math:`(l/s)^\alpha` given :math:`S \le h`, :math:`h = r l`      any
Lognormal            :math:`\log S` is normal                                                > 0
Empirical            values of a sample, equally likely                                      of the sample
==================== ======================================================================= =================

Frozen distributions of scipy.stats serve wherever a law does (:mod:`queueing.model.scipy_law`).

A hyperexponential law is fitted to mean and scv with *balanced means* [1]_, :math:`p_1 m_1 = p_2 m_2 = m/2`,
hence :math:`p_{1,2} = \tfrac12 (1 \pm \sqrt{(c^2-1)/(c^2+1)})`.

Of a law with rare large values a run of n jobs sees only a part: ``unseen_work(n)`` is the part of the mean
that comes from sizes above the quantile of level 1 - 1/n, which such a run meets at most once on average;
``unseen_work(n, 2)`` is that of the second moment, on which the errors of means depend.
Not only Pareto tails hide work so: in a hyperexponential law of scv 1e8 one job in 2e8 brings half of it.

References
----------
.. [1] H. C. Tijms, "A First Course in Stochastic Models", Wiley, 2003, appendix B.
"""

from __future__ import annotations

import math
import numbers
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from fairness.arguments.validation import float_array, frozen, require, require_number
from fairness.errors import ModelError
from fairness.model.problem import FloatArray
from queueing.recorded.columns import table

__all__ = [
    "Deterministic",
    "Empirical",
    "Erlang",
    "Exponential",
    "Hyperexponential",
    "Law",
    "Lognormal",
    "TruncatedPareto",
    "at_least_tiny",
    "exponential_laws",
    "positive",
    "unseen_part",
]


class Law(ABC):
    """A law of positive numbers with finite variance."""

    @property
    @abstractmethod
    def mean(self) -> float:
        """Mean, > 0."""

    @property
    @abstractmethod
    def scv(self) -> float:
        """Squared coefficient of variation, variance over squared mean."""

    @property
    def memoryless(self) -> bool:
        """Whether what is left of a value is as long as a fresh one: the law is exponential."""
        return False

    @abstractmethod
    def sample(self, generator: np.random.Generator, size: int) -> FloatArray:
        """``size`` independent values, each > 0; the same values whether drawn in one block or in many."""

    @abstractmethod
    def with_mean(self, mean: float) -> Self:
        """The law of the same shape with another mean."""

    @property
    def inverse_mean(self) -> float | None:
        """E[1/S], which may be infinite; None if the law does not know.

        Where small jobs wait as long as others their slowdowns grow like this.
        """
        atoms = self.atoms()
        return None if atoms is None else float(atoms[1] @ (1.0 / atoms[0]))

    def unseen_work(self, jobs: float, power: int = 1) -> float:
        """Part of E[S^power], power 1 or 2, that comes from sizes above the quantile of level 1 - 1/jobs.

        0 for one exponential and lighter laws: what n jobs miss there is of order log(n)^power/n.
        """
        return 0.0

    def upper_moments(self, values: ArrayLike) -> FloatArray:
        r"""P(S > s), E[S; S > s] and E[S^2; S > s] for each value s >= 0, (3, ...).

        Raises
        ------
        ModelError
            If the law does not know: one that has only a mean and samples.

        Examples
        --------
        >>> Exponential(2.0).upper_moments(0.0)
        array([1., 2., 8.])
        """
        raise ModelError(
            f"{self!r} knows no probabilities: give it a method upper_moments(values), take Empirical of a "
            "sample of it, or simulate"
        )

    def atoms(self) -> tuple[FloatArray, FloatArray] | None:
        """Values in increasing order and their probabilities; None of a law without any.

        Examples
        --------
        >>> Empirical([1, 3, 3, 3]).atoms()
        (array([1., 3.]), array([0.25, 0.75]))
        """
        return None


class _ByMean(Law):
    """Base of the laws that carry their mean as a field."""

    mean: float

    def with_mean(self, mean: float) -> Self:
        """The law of the same shape with another mean."""
        return replace(self, mean=mean)  # type: ignore[type-var]


@dataclass(frozen=True)
class Exponential(_ByMean):
    """Exponential law.

    Parameters
    ----------
    mean : float
        > 0.
    """

    mean: float = 1.0
    scv = 1.0
    memoryless = True
    inverse_mean = math.inf

    def __post_init__(self) -> None:
        _set_positive(self, "mean")

    def sample(self, generator: np.random.Generator, size: int) -> FloatArray:
        """Independent values, (size,)."""
        # Never 0: a job of size 0 has no slowdown.
        return self.mean * at_least_tiny(generator.standard_exponential(size))

    def upper_moments(self, values: ArrayLike) -> FloatArray:
        """P(S > s), E[S; S > s] and E[S^2; S > s] for each value, (3, ...)."""
        return gamma_tails(1, self.mean, values)


def exponential_laws(means: list[float]) -> tuple[Exponential, ...]:
    """One law per mean; the means are known to be finite and > 0."""
    # Of thousands of classes each law would check its mean again, which takes longer than all the rest.
    laws = {mean: object.__new__(Exponential) for mean in means}
    for mean, law in laws.items():
        law.__dict__["mean"] = mean
    return tuple(map(laws.__getitem__, means))


@dataclass(frozen=True)
class Deterministic(_ByMean):
    """The same value always.

    Parameters
    ----------
    mean : float
        The value, > 0.
    """

    mean: float = 1.0
    scv = 0.0

    def __post_init__(self) -> None:
        _set_positive(self, "mean")

    def sample(self, generator: np.random.Generator, size: int) -> FloatArray:
        """The value, (size,) times."""
        return np.full(size, self.mean)

    def atoms(self) -> tuple[FloatArray, FloatArray]:
        """The value, and 1."""
        return np.array([self.mean]), np.ones(1)


@dataclass(frozen=True)
class Erlang(_ByMean):
    """Sum of independent exponential phases.

    Parameters
    ----------
    phases : int
        >= 1.
    mean : float
        Mean of the sum, > 0.

    Examples
    --------
    >>> Erlang(4).scv
    0.25
    """

    phases: int
    mean: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.phases, numbers.Integral) or isinstance(self.phases, bool) or self.phases < 1:
            raise ModelError.of("phases", f"of an Erlang law must be an integer >= 1; got {self.phases!r}")
        _set_positive(self, "mean")

    @property
    def scv(self) -> float:
        """Squared coefficient of variation, 1/phases."""
        return 1.0 / self.phases

    @property
    def memoryless(self) -> bool:
        """Whether there is one phase only."""
        return self.phases == 1

    @property
    def inverse_mean(self) -> float:
        """E[1/S], infinite of one phase."""
        return math.inf if self.phases == 1 else self.phases / ((self.phases - 1) * self.mean)

    def sample(self, generator: np.random.Generator, size: int) -> FloatArray:
        """Independent values, (size,)."""
        return at_least_tiny(generator.standard_gamma(self.phases, size) * (self.mean / self.phases))

    def upper_moments(self, values: ArrayLike) -> FloatArray:
        """P(S > s), E[S; S > s] and E[S^2; S > s] for each value, (3, ...)."""
        return gamma_tails(self.phases, self.mean / self.phases, values)


@dataclass(frozen=True, init=False)
class Hyperexponential(Law):
    """Mixture of exponential laws.

    Parameters
    ----------
    probabilities : sequence of float
        >= 0, summing to 1.
    means : sequence of float
        Mean of each exponential, > 0.

    Examples
    --------
    >>> law = Hyperexponential.fit(scv=4)
    >>> round(law.mean, 12), round(law.scv, 12)
    (1.0, 4.0)
    """

    probabilities: tuple[float, ...]
    means: tuple[float, ...]
    inverse_mean = math.inf

    def __init__(self, probabilities: ArrayLike, means: ArrayLike) -> None:
        p, m = float_array("probabilities", probabilities, 1), float_array("means", means, 1)
        if p.shape != m.shape or not len(p):
            raise ModelError(f"probabilities and means must have equal lengths >= 1; got {len(p)}, {len(m)}")
        # 1e-9: sums of decimal fractions are off by rounding, mistakes are off by more.
        if not ((p >= 0).all() and abs(p.sum() - 1) < 1e-9):
            raise ModelError.of("probabilities", f"must be >= 0 and sum to 1; got {p.tolist()}")
        if not ((m > 0) & np.isfinite(m)).all():
            raise ModelError.of("means", f"must be finite and > 0; got {m.tolist()}")
        object.__setattr__(self, "probabilities", tuple((p / p.sum()).tolist()))
        object.__setattr__(self, "means", tuple(m.tolist()))

    @classmethod
    def fit(cls, scv: float, mean: float = 1.0) -> Self:
        """Two exponentials with balanced means, from the squared coefficient of variation (>= 1) and mean."""
        c2, m = positive("scv", scv), positive("mean", mean)
        if c2 < 1:
            raise ModelError.of("scv", f"of a hyperexponential law is >= 1; got {c2:g}; take Erlang below 1")
        root = math.sqrt((c2 - 1) / (c2 + 1))
        # 1 - root without cancellation.
        p = np.array([(1 + root) / 2, 1 / ((c2 + 1) * (1 + root))])
        return cls(p, m / (2 * p))

    @property
    def mean(self) -> float:
        """Mean."""
        return float(np.dot(self.probabilities, self.means))

    @property
    def scv(self) -> float:
        """Squared coefficient of variation."""
        # Over the mean first: squares of very different means overflow.
        ratio = np.array(self.means) / self.mean
        return float(2 * np.dot(self.probabilities * ratio, ratio) - 1)

    @property
    def memoryless(self) -> bool:
        """Whether all exponentials that occur are the same."""
        return len({m for p, m in zip(self.probabilities, self.means, strict=True) if p > 0}) == 1

    def with_mean(self, mean: float) -> Self:
        """The law of the same shape with another mean."""
        return type(self)(self.probabilities, np.multiply(self.means, positive("mean", mean) / self.mean))

    def sample(self, generator: np.random.Generator, size: int) -> FloatArray:
        """Independent values, (size,)."""
        # Two numbers per value side by side, so that blocks of any size give the same values.
        u = generator.random((size, 2))
        phase = np.searchsorted(np.cumsum(self.probabilities)[:-1], u[:, 0], side="right")
        return at_least_tiny(np.array(self.means)[phase] * -np.log1p(-u[:, 1]))

    def upper_moments(self, values: ArrayLike) -> FloatArray:
        """P(S > s), E[S; S > s] and E[S^2; S > s] for each value, (3, ...)."""
        parts = zip(self.probabilities, self.means, strict=True)
        return np.sum([p * gamma_tails(1, m, values) for p, m in parts], axis=0)

    def unseen_work(self, jobs: float, power: int = 1) -> float:
        """Part of E[S^power] that comes from sizes above the quantile of level 1 - 1/jobs."""
        return unseen_part(self, jobs, power)


@dataclass(frozen=True)
class TruncatedPareto(_ByMean):
    """Pareto law cut at a largest value.

    Parameters
    ----------
    shape : float
        Exponent alpha of the tail, > 0.
    ratio : float
        Largest over smallest value, > 1 and finite.
    mean : float
        > 0.

    Examples
    --------
    The heavier the tail, the more of the work is in jobs too rare to be seen.

    >>> law = TruncatedPareto(1.2, ratio=1e9)
    >>> round(law.unseen_work(1e6), 2), round(TruncatedPareto(2.5, ratio=1e9).unseen_work(1e6), 4)
    (0.09, 0.0003)
    """

    shape: float
    ratio: float
    mean: float = 1.0

    def __post_init__(self) -> None:
        _set_positive(self, "shape", "ratio", "mean")
        if self.ratio <= 1:
            raise ModelError.of("ratio", f"of largest to smallest value must be > 1; got {self.ratio:g}")
        if not (0 < self._moment(1) < math.inf and 0 < self._moment(2) < math.inf):
            raise ModelError(
                f"ratio {self.ratio:g} with shape {self.shape:g}: moments overflow; truncate lower"
            )

    @property
    def smallest(self) -> float:
        """Smallest value."""
        return self.mean / float(self._moment(1))

    @property
    def scv(self) -> float:
        """Squared coefficient of variation."""
        return float(self._moment(2) / self._moment(1) ** 2 - 1)

    @property
    def inverse_mean(self) -> float:
        """E[1/S]."""
        return float(self._moment(-1)) / self.smallest

    def _moment(self, k: int, lowest: Any = 1.0) -> Any:
        """E[X^k; X > lowest] for smallest value 1, largest ``ratio``; of each of many lowest ones."""
        from scipy import special

        gap, logs = k - self.shape, np.log(self.ratio / lowest)
        # Integral of x^(gap - 1) from lowest to ratio; exprel is regular at gap 0.
        integral = np.exp(gap * np.log(lowest)) * logs * special.exprel(gap * logs)
        return self.shape * integral / self._inside

    @property
    def _inside(self) -> float:
        """Probability that the untruncated law is at most ``ratio``."""
        return -math.expm1(-self.shape * math.log(self.ratio))

    def sample(self, generator: np.random.Generator, size: int) -> FloatArray:
        """Independent values, (size,)."""
        return self.smallest * self._quantiles(generator.random(size))

    def _quantiles(self, level: Any) -> Any:
        return np.exp(-np.log1p(-np.asarray(level) * self._inside) / self.shape)

    def unseen_work(self, jobs: float, power: int = 1) -> float:
        """Part of E[S^power] that comes from sizes above the quantile of level 1 - 1/jobs."""
        lowest = min(float(self._quantiles(1 - 1 / max(jobs, 1))), self.ratio)
        return float(self._moment(power, lowest) / self._moment(power))

    def upper_moments(self, values: ArrayLike) -> FloatArray:
        """P(S > s), E[S; S > s] and E[S^2; S > s] for each value, (3, ...)."""
        lowest = np.clip(float_array("values", values) / self.smallest, 1.0, self.ratio)
        return np.array([self.smallest**k * self._moment(k, lowest) for k in range(3)])


@dataclass(frozen=True)
class Lognormal(_ByMean):
    """Lognormal law, from its squared coefficient of variation and mean.

    Parameters
    ----------
    scv : float
        > 0; the variance of the logarithm is log(1 + scv).
    mean : float
        > 0.
    """

    scv: float = 1.0
    mean: float = 1.0

    def __post_init__(self) -> None:
        _set_positive(self, "scv", "mean")

    @property
    def inverse_mean(self) -> float:
        """E[1/S]."""
        return (1.0 + self.scv) / self.mean

    def sample(self, generator: np.random.Generator, size: int) -> FloatArray:
        """Independent values, (size,)."""
        variance = math.log1p(self.scv)
        normal = generator.standard_normal(size)
        return at_least_tiny(self.mean * np.exp(math.sqrt(variance) * normal - variance / 2))

    def unseen_work(self, jobs: float, power: int = 1) -> float:
        """Part of E[S^power] that comes from sizes above the quantile of level 1 - 1/jobs."""
        from scipy import special

        deviation = math.sqrt(math.log1p(self.scv))
        return float(special.ndtr(power * deviation - special.ndtri(1 - 1 / max(jobs, 1))))

    def upper_moments(self, values: ArrayLike) -> FloatArray:
        """P(S > s), E[S; S > s] and E[S^2; S > s] for each value, (3, ...)."""
        from scipy import special

        variance = math.log1p(self.scv)
        with np.errstate(divide="ignore"):
            logs = np.log(float_array("values", values) / self.mean)
        parts = (((k - 0.5) * variance - logs) / math.sqrt(variance) for k in range(3))
        means = (1.0, self.mean, self.mean**2 * (1.0 + self.scv))
        return np.array([mean * special.ndtr(part) for mean, part in zip(means, parts, strict=True)])


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Empirical(Law):
    """The values of a sample, equally likely.

    Parameters
    ----------
    values : array_like of shape (n,)
        > 0.

    Examples
    --------
    >>> Empirical([1, 3]), Empirical([1, 3]).with_mean(1).values
    (Empirical(2 values, mean 2, scv 0.25), array([0.5, 1.5]))
    """

    values: FloatArray

    def __init__(self, values: ArrayLike) -> None:
        array = float_array("values", values, 1)
        if not len(array):
            raise ModelError.of("values", "of an empirical law must hold at least one number; got none")
        require("values", array, np.isfinite(array) & (array > 0), "finite and > 0")
        object.__setattr__(self, "values", frozen(array))

    @classmethod
    def from_file(cls, path: str | PathLike[str], column: str = "size") -> Self:
        """Sample from a column of a CSV file with a header.

        Raises
        ------
        ModelError
            If the file cannot be read, has no such column, or a line holds no number > 0 there.
        """
        return cls(table(path, [column]).numbers(column, above=0))

    @property
    def mean(self) -> float:
        """Mean of the sample."""
        return float(self.values.mean())

    @property
    def scv(self) -> float:
        """Squared coefficient of variation of the sample."""
        return float((self.values / self.mean).var())

    def with_mean(self, mean: float) -> Self:
        """The law of the same shape with another mean."""
        return type(self)(self.values * (positive("mean", mean) / self.mean))

    def sample(self, generator: np.random.Generator, size: int) -> FloatArray:
        """Values drawn with replacement, (size,)."""
        # Not generator.integers, whose answer depends on how a block is cut.
        place = (generator.random(size) * len(self.values)).astype(np.int64)
        return self.values[np.minimum(place, len(self.values) - 1)]

    def unseen_work(self, jobs: float, power: int = 1) -> float:
        """Part of E[S^power] that comes from sizes above the quantile of level 1 - 1/jobs."""
        return unseen_part(self, jobs, power)

    def atoms(self) -> tuple[FloatArray, FloatArray]:
        """The different values, and how often they occur."""
        values, times = np.unique(self.values, return_counts=True)
        return values, times / len(self.values)

    def __repr__(self) -> str:
        return f"Empirical({len(self.values)} values, mean {self.mean:.6g}, scv {self.scv:.6g})"


def unseen_part(law: Law, jobs: float, power: int) -> float:
    """Part of E[S^power] above the quantile of level 1 - 1/jobs, by what the law knows."""
    if jobs <= 1:
        return 1.0
    # In units of the mean: squares of very different sizes overflow.
    unit, atoms = law.with_mean(1.0), law.atoms()
    if atoms is not None:
        values, chances = atoms
        work = chances * (values / law.mean) ** power
        beyond = np.append(np.cumsum(chances[::-1])[-2::-1], 0.0)
        # 1e-9: a probability may be 1/jobs up to rounding.
        return float(work[np.argmax(beyond <= (1 + 1e-9) / jobs) + 1 :].sum() / work.sum())
    from scipy import optimize

    high = 1.0
    while unit.upper_moments(high)[0] > 1 / jobs:
        high *= 2
    level = optimize.brentq(lambda s: float(unit.upper_moments(s)[0]) - 1 / jobs, 0, high, xtol=1e-13 * high)
    parts = unit.upper_moments([0.0, level])[power]
    return min(1.0, float(parts[1] / parts[0]))


def gamma_tails(shape: int, scale: float, values: ArrayLike) -> FloatArray:
    """P(S > s), E[S; S > s] and E[S^2; S > s] of a gamma law."""
    from scipy import special

    ratio = np.maximum(float_array("values", values) / scale, 0.0)
    means = (1.0, shape * scale, shape * (shape + 1) * scale**2)
    return np.array([mean * special.gammaincc(shape + k, ratio) for k, mean in enumerate(means)])


def positive(name: str, value: float) -> float:
    """A number of a law that must be > 0."""
    return require_number(f"{name} of a law", value, above=0)


def _set_positive(law: Law, *names: str) -> None:
    for name in names:
        object.__setattr__(law, name, positive(name, getattr(law, name)))


def at_least_tiny(values: FloatArray) -> FloatArray:
    """Values >= 0 without a 0, in place: a job of size 0 has no slowdown."""
    return np.maximum(values, np.finfo(float).tiny, out=values)
