"""Frozen distributions of scipy.stats as laws: whatever is not negative and has a finite variance.

Mean, variance and quantiles come from the distribution; values are drawn as quantiles of uniform numbers, so
that they do not depend on how a run is cut into blocks.
"""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from fairness.arguments.validation import float_array
from fairness.errors import ModelError
from fairness.model.problem import FloatArray
from queueing.model.laws import Erlang, Exponential, Law, at_least_tiny, positive

__all__ = ["ScipyLaw", "as_law"]

LEVELS = np.concatenate([np.geomspace(1e-15, 0.5, 100), 1.0 - np.geomspace(1e-15, 0.5, 100)])
"""Levels of quantiles at which panels end, too."""

PANELS = 4001
"""Ends of panels over the decades, and over what lies between extreme quantiles."""

MOST_ATOMS = 1_000_000
"""Values of a discrete law that are listed."""

MOST_ADDED = 100_000
"""Values of a discrete law that are added one by one; more are integrated like those of a density."""

VANISHING = 1e-9
"""A density that falls towards 0 with a smaller power does not vanish there."""

WHOLE = 1e-9
"""What the probability of all sizes may be off."""

SPOKEN = ("mean", "var", "ppf", "cdf", "support")
"""What a frozen distribution answers."""


@dataclass(frozen=True)
class ScipyLaw(Law):
    """A frozen distribution of scipy.stats, times a factor.

    Parameters
    ----------
    distribution : frozen distribution
        Of positive numbers, with a finite mean and variance > 0.
    factor : float
        > 0.

    Examples
    --------
    >>> from scipy import stats
    >>> law = ScipyLaw(stats.weibull_min(0.5))
    >>> law.mean, law.scv, law.with_mean(1).factor
    (2.0, 5.0, 0.5)
    """

    distribution: Any
    factor: float = 1.0

    def __post_init__(self) -> None:
        given, name = self.distribution, _named(self.distribution)
        if not all(callable(getattr(given, ask, None)) for ask in SPOKEN):
            hint = f"; take Exponential({given!r})" if isinstance(given, numbers.Real) else ""
            raise ModelError.of(
                "distribution",
                "must be a law such as Erlang(2), or a frozen distribution of scipy.stats such as "
                f"lognorm(1.0); got {given!r}{hint}",
            )
        if getattr(given, "numargs", 0):
            raise ModelError.of(
                "distribution", f"must have its parameters; got {name} without: give {name}({given.shapes})"
            )
        if np.ndim(given.mean()):
            raise ModelError.of("distribution", f"must be one; {name} holds several: give a list of laws")
        mean, variance, lowest = float(given.mean()), float(given.var()), float(given.support()[0])
        if math.isnan(mean + variance):
            raise ModelError.of(
                "distribution",
                f"must have a mean and a variance; those of {name} are {mean:g} and {variance:g}: check its "
                "parameters, or truncate it",
            )
        if lowest < 0 or (lowest == 0 and float(given.cdf(0)) > 0):
            raise ModelError.of(
                "distribution",
                f"must be of positive numbers; {name} takes values {'< 0' if lowest < 0 else '0'}: shift it "
                "by loc, or take another such as gamma, lognorm or weibull_min",
            )
        if not (0 < mean < math.inf and 0 <= variance < math.inf):
            raise ModelError.of(
                "distribution",
                f"must have finite mean and variance; {name} has {mean:g} and {variance:g}: truncate it, or "
                "take TruncatedPareto",
            )
        object.__setattr__(self, "factor", positive("factor", self.factor))

    @property
    def mean(self) -> float:
        """Mean."""
        return self.factor * float(self.distribution.mean())

    @property
    def scv(self) -> float:
        """Squared coefficient of variation."""
        return float(self.distribution.var()) / float(self.distribution.mean()) ** 2

    @property
    def inverse_mean(self) -> float | None:
        """E[1/S], infinite where the density does not vanish at 0; None if the law has no formula for it.

        That is the integral of the density over the logarithm of the size; of the smallest sizes, of a power.
        """
        from scipy import stats

        law = self.distribution
        if hasattr(law, "pmf"):
            return super().inverse_mean
        # A density by differences of P(S <= s) knows nothing of small sizes.
        if getattr(type(getattr(law, "dist", None)), "_pdf", None) is stats.rv_continuous._pdf:
            return None
        nodes, weights = np.polynomial.legendre.leggauss(8)
        ends = np.log(self._tails[0][1:])
        half = np.diff(ends)[:, None] / 2
        sizes = np.exp(ends[:-1, None] + half * (1.0 + nodes))
        with np.errstate(all="ignore"):
            tiny, low = np.nan_to_num(law.pdf(np.exp(ends[0]) * np.array([1e-40, 1.0])))
            dense = np.nan_to_num(law.pdf(sizes)) * half * weights
        power = math.log(low / tiny) / math.log(1e40) if tiny > 0 else math.inf
        if power < VANISHING:
            return math.inf
        # Where the density has steps or peaks that the panels do not see its whole is not 1.
        known = abs((dense * sizes).sum() - 1.0) < WHOLE
        return float(dense.sum() + low / power) / self.factor if known else None

    def with_mean(self, mean: float) -> Self:
        """The law of the same shape with another mean."""
        return replace(self, factor=positive("mean", mean) / float(self.distribution.mean()))

    def sample(self, generator: np.random.Generator, size: int) -> FloatArray:
        """Independent values, (size,)."""
        values = np.asarray(self.distribution.ppf(generator.random(size)), dtype=float) * self.factor
        return at_least_tiny(values)

    def unseen_work(self, jobs: float, power: int = 1) -> float:
        """Part of E[S^power] that comes from sizes above the quantile of level 1 - 1/jobs."""
        if jobs <= 1:
            return 1.0
        # 1e15: levels closer to 1 are no floats.
        last = math.log(min(jobs, 1e15))
        law = self.distribution
        some = self._upto(float(law.ppf(-math.expm1(-last)))) if hasattr(law, "pmf") else None
        if some is not None:
            values, chances = some
            below = float(values**power @ chances)
        else:
            # The integral of the quantile over levels 1 - exp(-t), by Gauss's rule on panels; t = last s^5
            # takes out the root that the quantile is like near 0.
            nodes, weights = np.polynomial.legendre.leggauss(20)
            ends = np.linspace(0.0, 1.0, 26)
            half = np.diff(ends)[:, None] / 2
            s = ends[:-1, None] + half * (1.0 + nodes)
            t = last * s**5
            below = float(
                (law.ppf(-np.expm1(-t)) ** power * np.exp(-t) * 5 * last * s**4 * half * weights).sum()
            )
        whole = float(law.mean()) ** power * (1.0 if power == 1 else 1.0 + self.scv)
        return min(1.0, max(0.0, 1.0 - below / whole))

    def _upto(self, top: float) -> tuple[FloatArray, FloatArray] | None:
        """Values of a discrete distribution up to one, and their probabilities; None of too many."""
        law, listed = self.distribution, self._listed
        if listed is not None:
            values, chances = listed
            return values[values <= top], chances[values <= top]
        first = float(law.ppf(1e-15))
        if not top - first <= MOST_ADDED:
            return None
        values = np.arange(first, top + 1)
        return values, np.asarray(law.pmf(values), dtype=float)

    @property
    def _listed(self) -> tuple[FloatArray, FloatArray] | None:
        """Values and probabilities of a distribution that was given by them."""
        law = self.distribution
        given = getattr(getattr(law, "dist", law), "pk", None)
        return (
            None if given is None else (law.ppf(np.cumsum(given) - np.asarray(given) / 2), np.asarray(given))
        )

    def upper_moments(self, values: ArrayLike) -> FloatArray:
        r"""P(S > s), E[S; S > s] and E[S^2; S > s] for each value, (3, ...).

        E[S; S > s] = s P(S > s) + the integral of P(S > t) over t > s, and the second moment likewise, by
        Gauss's rule on panels between quantiles, over many decades, and between the values.
        """
        s, (ends, above) = float_array("values", values) / self.factor, self._tails
        known = np.minimum(s, ends[-1])
        places = np.searchsorted(ends, known)
        first, second = above[:, places] + self._between(known, ends[places])
        chance = self._beyond(s)
        moments = np.array([chance, s * chance + first, s * s * chance + second])
        return moments * self.factor ** np.arange(3).reshape(3, *(1,) * s.ndim)

    def _beyond(self, values: FloatArray) -> FloatArray:
        """P(S > s) of the distribution; some have no number where there is nothing left."""
        with np.errstate(all="ignore"):
            return np.nan_to_num(self.distribution.sf(values))

    def _between(self, lower: FloatArray, upper: FloatArray) -> FloatArray:
        """Integrals of P(S > t) and of 2 t P(S > t) between values, (2, ...)."""
        nodes, weights = np.polynomial.legendre.leggauss(8)
        half = (upper - lower)[..., None] / 2
        t = lower[..., None] + half * (1.0 + nodes)
        tails = self._beyond(t) * half * weights
        return np.array([tails.sum(axis=-1), (2 * t * tails).sum(axis=-1)])

    @cached_property
    def _tails(self) -> tuple[FloatArray, FloatArray]:
        """Ends of panels, and both integrals from there on, (2, n)."""
        law = self.distribution
        low, middle, high = (float(law.ppf(level)) for level in (1e-15, 0.5, 1.0 - 1e-15))
        top = min(float(law.support()[1]), middle * 1e140)
        decades, between = np.geomspace(middle * 1e-40, top, PANELS), np.linspace(low, high, PANELS)
        ends = np.unique(np.concatenate([[0.0], decades, between, law.isf(LEVELS)]))
        ends = ends[ends <= top]
        panels = self._between(ends[:-1], ends[1:])
        return ends, np.append(np.cumsum(panels[:, ::-1], axis=1)[:, ::-1], np.zeros((2, 1)), axis=1)

    def atoms(self) -> tuple[FloatArray, FloatArray] | None:
        """Values and their probabilities, up to the quantile of level 1 - 1e-15; None of a density.

        Raises
        ------
        ModelError
            If there are more than a million.
        """
        law = self.distribution
        if not hasattr(law, "pmf"):
            return None
        if self._listed is not None:
            values, chances = self._listed
            return values * self.factor, chances
        first, last = (float(law.ppf(level)) for level in (1e-15, 1 - 1e-15))
        if last - first > MOST_ATOMS:
            raise ModelError(f"{self!r} has more than {MOST_ATOMS:,} values; take a law with a density")
        values = np.arange(first, last + 1)
        chances = np.asarray(law.pmf(values), dtype=float)
        known = chances > 0
        return values[known] * self.factor, chances[known] / chances.sum()

    def __repr__(self) -> str:
        return f"ScipyLaw({_named(self.distribution)}, mean {self.mean:.6g}, scv {self.scv:.6g})"


def as_law(argument: str, given: Any, *index: int, place: str = "") -> Law:
    """A law, or a frozen distribution of scipy.stats as one; ModelError, naming the argument, for others.

    Examples
    --------
    >>> from scipy import stats
    >>> as_law("sizes", stats.expon(scale=2)), as_law("sizes", stats.gamma(0.5))
    (Exponential(mean=2.0), ScipyLaw(gamma, mean 0.5, scv 2))
    """
    if isinstance(given, Law):
        return given
    try:
        law = ScipyLaw(given)
    except ModelError as error:
        said = str(error).removeprefix("distribution")
        raise ModelError(f"{argument}{place}{said}", argument=argument, index=index) from None
    kind, phases = _named(given), 1.0 / law.scv if law.scv > 0 else 0.0
    if float(given.support()[0]) == 0:
        if kind == "expon":
            return Exponential(law.mean)
        if kind in ("erlang", "gamma") and math.isclose(phases, round(phases), rel_tol=1e-13):
            return Erlang(round(phases), law.mean)
    return law


def _named(distribution: Any) -> str:
    """What scipy calls the distribution."""
    plain = getattr(distribution, "dist", distribution)
    name = getattr(plain, "name", None)
    return type(plain).__name__ if name in (None, "Distribution") else str(name)
