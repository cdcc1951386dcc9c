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

Each replication draws from its own generator, spawned from the one the user gave, so results depend
neither on ``n_jobs`` nor on the joblib backend.

References
----------
.. [1] S. Asmussen and P. W. Glynn, "Stochastic Simulation: Algorithms and Analysis", Springer, 2007,
   sections III.3 and IV.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from fairness.arguments.validation import Entropy, Seed, entropy_of, generator, require_number, spawned
from fairness.errors import ModelError
from fairness.machine.backends import stream
from fairness.model.problem import FloatArray

__all__ = [
    "PARTS",
    "Estimate",
    "RunLength",
    "Streams",
    "estimate_ratio",
    "replicate",
    "spawn_streams",
    "withheld",
]

PARTS = 8
"""Parts of each replication whose means are compared: is it long enough, has it forgotten its start?"""

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Estimate:
    """A quantity per class (or resource) estimated from independent replications.

    Attributes
    ----------
    value : ndarray of shape (n,)
        Ratio of the totals of all replications; NaN where the denominator is 0.
    standard_error : ndarray of shape (n,)
        s / sqrt(replications) of the module docstring.
    values : ndarray of shape (replications, n)
        The ratio of each replication by itself.
    confidence : float
        Level of the interval.
    sound : bool
        Whether the replications allow an interval; if not it is infinite, and the result says why.
    """

    value: FloatArray
    standard_error: FloatArray
    values: FloatArray
    confidence: float
    sound: bool = True

    @property
    def half_width(self) -> FloatArray:
        """Half-width of the confidence interval, (n,)."""
        return self.half_width_at(self.confidence)

    def half_width_at(self, confidence: float) -> FloatArray:
        """Half-width of the interval of another level, (n,); infinite if the run is not sound."""
        if not self.sound:
            return np.where(np.isnan(self.value), np.nan, np.inf)
        quantile = float(stats.t.isf((1 - confidence) / 2, len(self.values) - 1))
        return quantile * self.standard_error


def withheld(estimates: Mapping[Any, Estimate]) -> dict[Any, Estimate]:
    """The same estimates with infinite intervals."""
    return {name: replace(estimate, sound=False) for name, estimate in estimates.items()}


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
        for name, least in (("events", 1), ("replications", 2)):
            value = getattr(self, name)
            if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < least:
                reason = ": a confidence interval needs two" if name == "replications" else ""
                raise ModelError(f"{name} must be an integer >= {least}{reason}; got {value!r}")
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
    if not isinstance(n_jobs, numbers.Integral) or n_jobs == 0:
        raise ModelError.of("n_jobs", f"must be a positive integer, or -1 for all cores; got {n_jobs!r}")
    tasks = ((generator,) for generator in streams.generators)
    if n_jobs == 1:
        return ((k, function(*task)) for k, task in enumerate(tasks))
    return stream(function, tasks, n_jobs, prefer="threads")


def estimate_ratio(top: ArrayLike, bottom: ArrayLike, confidence: float) -> Estimate:
    """Ratio of two totals with its confidence interval, from totals of shape (replications, n).

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
    return Estimate(value, error, _divide(a, b), confidence)


def _divide(top: FloatArray, bottom: FloatArray) -> FloatArray:
    shape = np.broadcast_shapes(top.shape, bottom.shape)
    return np.divide(top, bottom, out=np.full(shape, np.nan), where=bottom != 0)
