r"""Independent replications and the confidence intervals they give.

Every quantity that the simulators estimate is a ratio of two totals of one replication: a time integral
over the time, a sum of durations over the number of jobs, the tasks run over the jobs present. With the
totals :math:`(A_k, B_k)` of :math:`R` independent replications the estimate and the half-width of its
confidence interval are

.. math:: r = \frac{\sum_k A_k}{\sum_k B_k}, \qquad
   h = t_{R-1}\,\frac{s}{\sqrt R}, \qquad
   s^2 = \frac{1}{R-1} \sum_k \Big(\frac{A_k - r B_k}{\bar B}\Big)^2,

with :math:`t_{R-1}` the quantile of Student's law: the delta method for a ratio of means [1]_. When
:math:`B_k` is the same in all replications this is the mean with its usual interval.

*Skewness.* Means of long queues and of heavy-tailed sizes are skewed: where they are too small, so is
:math:`s`, and Student's interval misses them. With :math:`g` the skewness of :math:`r` and
:math:`z` the quantile of the normal law, such an interval covers too seldom by
:math:`2 z \varphi(z) \cdot g^2 (z^4 + 2 z^2 - 3)/18`, up to smaller terms and one of the kurtosis, which is
positive and slight at the usual levels [2]_. What that takes is added to the quantile:

.. math:: h = \Big(t_{R-1} + z \min\Big(1, g^2\,\frac{z^4 + 2 z^2 - 3}{18}\Big)\Big) \frac{s}{\sqrt R},
   \qquad g = \Big(\sum_k \sum_p d_{kp}^3\Big) \Big/ v^{3/2}, \quad
   v = \frac12 \Big(\frac{R}{R-1} \sum_k d_k^2 + \sum_k \sum_p d_{kp}^2\Big),

with :math:`d_k = A_k - r B_k` and :math:`d_{kp}` the same of consecutive parts p of a replication: ten
replications alone say nothing of their skewness, eighty parts do. Of the two estimates of the variance that
make v, the first knows how parts are correlated, and the second varies less. Intervals stay symmetric. A tail
of the sizes that no job has shown is not corrected by this; :mod:`queueing.simulation.jobs.sampling` looks
for it.

*Quantiles* are those of all replications together: ranked one by one, those near 0 or 1 are biased by some
parts of 1/n, which their mean keeps. The part of the jobs below the quantile, a ratio as above, has an
interval, and the ranks at its two ends are the interval of the quantile [3]_, not symmetric.

Each replication draws from its own generator, spawned from the one the user gave, so results depend
neither on ``n_jobs`` nor on the joblib backend.

References
----------
.. [1] S. Asmussen and P. W. Glynn, "Stochastic Simulation: Algorithms and Analysis", Springer, 2007,
   sections III.3 and IV.
.. [2] P. Hall, "On symmetric bootstrap confidence intervals", J. R. Statist. Soc. B 50(1), 1988, pp. 35-45.
.. [3] R. S. Woodruff, "Confidence intervals for medians and other position measures", J. Amer. Statist.
   Assoc. 47(260), 1952. DOI 10.1080/01621459.1952.10483443.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from fairness.arguments.validation import (
    Entropy,
    Seed,
    entropy_of,
    generator,
    require_number,
    require_whole,
    require_workers,
    spawned,
)
from fairness.display.storage import LATER
from fairness.machine.backends import stream
from fairness.model.problem import FloatArray

__all__ = [
    "PARTS",
    "Estimate",
    "QuantileEstimate",
    "RunLength",
    "Streams",
    "estimate_quantiles",
    "estimate_ratio",
    "replicate",
    "skewness",
    "spawn_streams",
    "student",
    "withheld",
    "without_interval",
]

PARTS = 8
"""Parts of each replication whose means are compared: is it long enough, has it forgotten its start?"""

EXPANDED = float(-special.ndtri(0.005))
"""Normal quantile up to which intervals are corrected for skewness: the expansion says nothing far out."""

BEYOND = 5.0
"""Independent jobs that must be expected beyond a quantile, over the squared quantile of Student's law."""

T = TypeVar("T")
E = TypeVar("E", bound="Estimate")


@dataclass(frozen=True, eq=False)
class Estimate:
    """A quantity per class (or resource) estimated from independent replications.

    Attributes
    ----------
    value : ndarray of shape (n,)
        Ratio of the totals of all replications; NaN where the denominator is 0.
    standard_error : ndarray of shape (n,)
        s / sqrt(replications) of the module docstring; infinite where there is no interval, and the result
        says why.
    values : ndarray of shape (replications, n)
        The ratio of each replication by itself.
    confidence : float
        Level of the interval.
    sound : bool
        Whether the replications allow any interval; if not they are infinite, and the result says why.
    skewness : ndarray of shape (n,) or None
        g of the module docstring; None where nothing is known of it: not corrected.
    """

    value: FloatArray
    standard_error: FloatArray
    values: FloatArray
    confidence: float
    sound: bool = True
    skewness: FloatArray | None = field(default=None, metadata=LATER)

    @property
    def interval(self) -> FloatArray:
        """Lower and upper end of the confidence interval, (2, n)."""
        return self.value + np.array([[-1.0], [1.0]]) * self.half_width

    @property
    def half_width(self) -> FloatArray:
        """Half-width of the confidence interval, (n,)."""
        return self.half_width_at(self.confidence)

    def half_width_at(self, confidence: float) -> FloatArray:
        """Half-width of the interval of another level, (n,); infinite if the run is not sound."""
        if not self.sound:
            return np.where(np.isnan(self.value), np.nan, np.inf)
        quantile = student(1 - confidence, len(self.values) - 1)
        if self.skewness is None:
            return quantile * self.standard_error
        z = min(float(-special.ndtri((1 - confidence) / 2)), EXPANDED)
        missed = self.skewness**2 * (z**4 + 2 * z**2 - 3) / 18
        return (quantile + z * np.clip(missed, 0.0, 1.0)) * self.standard_error


@dataclass(frozen=True, eq=False, kw_only=True)
class QuantileEstimate(Estimate):
    """A quantile per class, with an interval that is not symmetric.

    Its ``half_width`` is the larger of the distances to both ends. It has the attributes of
    :class:`Estimate`, and these; the value is the quantile of all replications together.

    Attributes
    ----------
    lower, upper : ndarray of shape (n,)
        Ends of the interval; infinite where too few independent jobs lie beyond the quantile.
    """

    lower: FloatArray
    upper: FloatArray

    @property
    def interval(self) -> FloatArray:
        """Lower and upper end of the confidence interval, (2, n)."""
        return np.array([self.lower, self.upper]) if self.sound else super().interval


def student(outside: float, degrees: int) -> float:
    """Half of an interval that Student's law leaves with this probability, to both sides together."""
    return float(-special.stdtrit(degrees, outside / 2))


def withheld(estimates: Mapping[Any, E]) -> dict[Any, E]:
    """The same estimates with infinite intervals."""
    return {name: replace(estimate, sound=False) for name, estimate in estimates.items()}


def without_interval(estimates: Mapping[str, Estimate], classes: ArrayLike) -> dict[str, Estimate]:
    """The same estimates with infinite intervals for some classes, a mask (n,)."""
    return {
        name: replace(estimate, standard_error=np.where(classes, np.inf, estimate.standard_error))
        for name, estimate in estimates.items()
    }


@dataclass(frozen=True)
class RunLength:
    """Length, warm-up and number of the replications, validated.

    Parameters
    ----------
    events : int
        Events per replication, warm-up included.
    warmup : float
        Part of the events, in [0, 1), that comes before the measurements.
    replications : int
        Number of independent replications, >= 2.
    confidence : float
        Level of the confidence intervals, in (0, 1).
    """

    events: int
    warmup: float
    replications: int
    confidence: float

    def __post_init__(self) -> None:
        require_whole("events", self.events, 1)
        require_whole("replications", self.replications, 2, hint=": a confidence interval needs two")
        require_number("warmup", self.warmup, least=0, below=1, hint=", the part left out")
        require_number("confidence", self.confidence, above=0, below=1)

    @property
    def warmup_events(self) -> int:
        """Events of a replication before the measurements."""
        return int(self.warmup * self.events)

    @property
    def measured_events(self) -> int:
        """Events of a replication that are measured, >= 1."""
        return self.events - self.warmup_events

    @property
    def parts(self) -> int:
        """Parts of the measured events whose means are compared: PARTS, or as many as there are events."""
        return min(PARTS, self.measured_events)

    @property
    def pieces(self) -> tuple[int, ...]:
        """Events of both halves of the warm-up, then of the measured parts."""
        edges = [self.measured_events * k // self.parts for k in range(self.parts + 1)]
        half = self.warmup_events // 2
        return half, self.warmup_events - half, *(b - a for a, b in pairwise(edges))


@dataclass(frozen=True, eq=False)
class Streams:
    """Independent generators, one per replication, and the entropy they come from.

    Attributes
    ----------
    generators : tuple of numpy Generator, or (None,)
    entropy : int, list of int or str, or None
        As :func:`fairness.arguments.validation.entropy_of`; None where nothing is drawn.
    """

    generators: tuple[Any, ...]
    entropy: Entropy | None


def spawn_streams(rng: Seed, replications: int) -> Streams:
    """One generator per replication, spawned from that of ``rng``."""
    parent = generator(rng)
    entropy = entropy_of(parent)
    return Streams(tuple(spawned(parent, replications)), entropy)


def replicate(
    function: Callable[[np.random.Generator], T], streams: Streams, n_jobs: int
) -> Iterator[tuple[int, T]]:
    """Numbers of the streams and results of ``function(generator)``, in the order in which they end.

    Threads by default (the kernels release the interpreter lock); ``joblib.parallel_config`` chooses another
    backend.
    """
    tasks = ((generator,) for generator in streams.generators)
    if require_workers(n_jobs) == 1:
        return ((k, function(*task)) for k, task in enumerate(tasks))
    return stream(function, tasks, n_jobs, prefer="threads")


def skewness(tops: ArrayLike, bottoms: ArrayLike) -> FloatArray:
    """Skewness g of the ratio of two totals, (n,), from those of parts, (replications, parts, n)."""
    a, b = np.broadcast_arrays(np.asarray(tops, dtype=float), np.asarray(bottoms, dtype=float))
    count = len(a)
    residual = a - _divide(a.sum(axis=(0, 1)), b.sum(axis=(0, 1))) * b
    between = count / (count - 1) * np.square(residual.sum(axis=1)).sum(axis=0)
    variance = (between + np.square(residual).sum(axis=(0, 1))) / 2
    cubes = np.nan_to_num(_divide(residual, np.sqrt(variance))) ** 3
    return np.asarray(cubes.sum(axis=(0, 1)))


def estimate_ratio(
    top: ArrayLike, bottom: ArrayLike, confidence: float, skew: FloatArray | None = None
) -> Estimate:
    """Ratio of two totals with its confidence interval, from totals of shape (replications, n).

    ``skew`` is the skewness of the ratio, where it is known.

    Examples
    --------
    >>> estimate = estimate_ratio([[1.0], [3.0]], [[1.0], [1.0]], confidence=0.5)
    >>> estimate.value, estimate.half_width.round(12)
    (array([2.]), array([1.]))
    """
    a, b = np.broadcast_arrays(np.asarray(top, dtype=float), np.asarray(bottom, dtype=float))
    count = len(a)
    mean = b.mean(axis=0)
    value = _divide(a.sum(axis=0), b.sum(axis=0))
    residual = _divide(a - value * b, mean)
    error = np.sqrt(np.square(residual).sum(axis=0) / (count - 1) / count)
    return Estimate(value, error, _divide(a, b), confidence, skewness=skew)


def estimate_quantiles(
    samples: Sequence[Sequence[FloatArray]],
    levels: Sequence[float],
    confidence: float,
    independent: FloatArray,
) -> dict[float, QuantileEstimate]:
    """Quantiles of the values of all replications together, by level.

    Parameters
    ----------
    samples : sequence, one per replication, of sorted arrays, one per class
    levels : sequence of float
    confidence : float
    independent : ndarray of shape (n,)
        How many of the values of a class are worth independent ones, about. With :math:`\\min(p, 1 - p)` of
        them beyond the level p, the interval of this part is about :math:`t_{R-1}` over their root, relative;
        where that is more than :math:`1/\\sqrt{5}`, whether it ends before 0 or 1 is left to chance, and runs
        that happen to see little of the tail would show the shorter interval: then there is none.

    Examples
    --------
    >>> values = np.random.default_rng(1).random((10, 1000))
    >>> median = estimate_quantiles([[np.sort(row)] for row in values], [0.5], 0.95, np.array([1e4]))[0.5]
    >>> median.value.round(2), median.interval.round(2).tolist()
    (array([0.5]), [[0.49], [0.52]])
    """
    count, n, factor = len(samples), len(independent), student(1 - confidence, len(samples) - 1)
    values, ends = np.full((len(levels), count, n), np.nan), np.full((len(levels), 3, n), np.nan)
    for i in range(n):
        own = [sample[i] for sample in samples]
        if not all(map(len, own)):
            continue
        # Not sorted anew: the values at a few ranks are found in a tenth of the time.
        pooled = np.concatenate(own)
        values[:, :, i] = np.transpose([np.quantile(one, levels) for one in own])
        quantiles = np.quantile(pooled, levels, overwrite_input=True)
        below = [np.searchsorted(one, quantiles, side="right") for one in own]
        half_widths = estimate_ratio(below, [[len(one)] for one in own], confidence).half_width
        ends[:, :, i] = [(-np.inf, quantile, np.inf) for quantile in quantiles]
        for k, (level, half) in enumerate(zip(levels, half_widths, strict=True)):
            beyond = min(level, 1 - level) * min(independent[i], len(pooled))
            if beyond >= BEYOND * factor**2 and level - half > 0 and level + half < 1:
                ends[k, ::2, i] = np.quantile(pooled, [level - half, level + half], overwrite_input=True)
    found = {}
    for level, single, (lower, value, upper) in zip(levels, values, ends, strict=True):
        error = np.maximum(value - lower, upper - value) / factor
        found[level] = QuantileEstimate(value, error, single, confidence, lower=lower, upper=upper)
    return found


def _divide(top: FloatArray, bottom: FloatArray) -> FloatArray:
    shape = np.broadcast_shapes(top.shape, bottom.shape)
    return np.divide(top, bottom, out=np.full(shape, np.nan), where=bottom != 0)
