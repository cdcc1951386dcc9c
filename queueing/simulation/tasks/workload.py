r"""How many tasks a job has, how long a task lasts, and the random numbers behind both.

A job of class :math:`i` consists of :math:`K` independent, identical tasks of mean duration
:math:`\tau_i = \sigma_i/E[K]`, so that its mean size (task-time) is :math:`\sigma_i` whatever the law of
:math:`K`. The talk [1]_ leaves both laws open; here they are parameters.

Task-level runs use *common random numbers*: job number :math:`s` arrives at the same time, in the same class
and with the same number of tasks under every scheduler, and its tasks last equally long. To this end the
streams are addressed by position instead of being drawn in order: SplitMix64 [2]_ is a fixed scrambling
of a counter,

.. math:: u_n = \text{mix}(\text{seed} + n\,\gamma), \qquad \gamma \approx 2^{64}/\text{golden ratio},

so number :math:`n` of a stream costs no more than the next one. One seed serves arrivals (three numbers per
job), one task durations (one per task, counted over all jobs), one the breaking of ties.

References
----------
.. [1] T. Bonald and J. Roberts, "Resource sharing in data centers", Workshop on Performance and
   Control of Large-Scale Networks, Eindhoven, 2014.
.. [2] G. L. Steele, D. Lea and C. H. Flood, "Fast splittable pseudorandom number generators",
   OOPSLA 2014. DOI 10.1145/2660193.2660195.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairness.arguments.labels import unnamed
from fairness.arguments.validation import float_array
from fairness.errors import ModelError
from fairness.model.problem import FloatArray
from queueing.simulation.kernels import part

__all__ = ["FixedTasks", "GeometricTasks", "TabulatedTasks", "TaskLaw", "possibly_none", "uniform"]

MOST_TASKS = 1e9
"""Largest mean number of tasks per job: tasks are counted over all jobs in 64-bit integers."""

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


@part
def uniform(seed: np.uint64, position: int) -> float:
    """Number ``position`` of the stream ``seed``, uniform on [0, 1) in steps of 2^-53."""
    z = seed + np.uint64(position) * _GAMMA
    z = (z ^ (z >> np.uint64(30))) * _MIX_1
    z = (z ^ (z >> np.uint64(27))) * _MIX_2
    z ^= z >> np.uint64(31)
    return (z >> np.uint64(11)) * (1.0 / 9007199254740992.0)


class TaskNumbers(NamedTuple):
    """Laws of the number of tasks in the form the kernel reads: K = base + G, per class.

    ``log_tail`` < 0: G is geometric on 0, 1, ... with P(G >= g) = exp(g log_tail). Otherwise G has the
    distribution function ``distribution[i, :length[i]]``.
    """

    base: NDArray[np.int64]
    log_tail: FloatArray
    distribution: FloatArray
    length: NDArray[np.int64]


@part
def position(distribution: FloatArray, u: float) -> int:
    """Where u falls in a distribution function, by bisection; the last place takes what is left over."""
    low, high = 0, len(distribution) - 1
    while low < high:
        middle = (low + high) // 2
        if distribution[middle] > u:
            high = middle
        else:
            low = middle + 1
    return low


@part
def draw_tasks(law: TaskNumbers, i: int, u: float) -> int:
    """Number of tasks of a job of class i from one uniform number, by inversion."""
    if law.log_tail[i] < 0:
        return law.base[i] + int(np.log1p(-u) / law.log_tail[i])
    return law.base[i] + position(law.distribution[i, : law.length[i]], u)


def possibly_none(law: TaskNumbers) -> NDArray[np.bool_]:
    """Classes of which a job may have no task, (n_classes,)."""
    none: NDArray[np.bool_] = (law.base == 0) & ((law.log_tail < 0) | (law.distribution[:, 0] > 0))
    return none


class TaskLaw(Protocol):
    """A law of the number of tasks per job, for all classes."""

    def means(self, n_classes: int) -> FloatArray:
        """Mean number of tasks, (n_classes,)."""
        ...

    def numbers(self, n_classes: int) -> TaskNumbers:
        """The law in the form that the kernel reads."""
        ...


@dataclass(frozen=True)
class GeometricTasks:
    """Geometric number of tasks: after each task a job ends with the same probability, one over the mean.

    Parameters
    ----------
    mean : float or sequence of float of length n_classes
        Mean number of tasks, >= 1.
    """

    mean: float | tuple[float, ...] = 100.0

    def __init__(self, mean: ArrayLike = 100.0) -> None:
        object.__setattr__(self, "mean", _per_class("mean", mean, "a number >= 1"))

    def means(self, n_classes: int) -> FloatArray:
        """Mean number of tasks, (n_classes,)."""
        return _spread("per_job mean", self.mean, n_classes)

    def numbers(self, n_classes: int) -> TaskNumbers:
        """The law in the form that the kernel reads."""
        mean = self.means(n_classes)
        # Mean 1: no further task, so any distribution of one point will do.
        log_tail = np.log1p(-1.0 / mean, where=mean > 1, out=np.zeros(n_classes))
        return TaskNumbers(np.ones(n_classes, np.int64), log_tail, *_point(n_classes))


@dataclass(frozen=True)
class FixedTasks:
    """The same number of tasks in every job.

    Parameters
    ----------
    number : int or sequence of int of length n_classes
        >= 1.
    """

    number: float | tuple[float, ...]

    def __init__(self, number: ArrayLike) -> None:
        value = _per_class("number", number, "an integer >= 1")
        if np.any(np.floor(value) != value):
            raise ModelError.of("number", f"must be an integer >= 1; got {number!r}")
        object.__setattr__(self, "number", value)

    def means(self, n_classes: int) -> FloatArray:
        """Mean number of tasks, (n_classes,)."""
        return _spread("per_job number", self.number, n_classes)

    def numbers(self, n_classes: int) -> TaskNumbers:
        """The law in the form that the kernel reads."""
        base = self.means(n_classes).astype(np.int64)
        return TaskNumbers(base, np.zeros(n_classes), *_point(n_classes))


@dataclass(frozen=True)
class TabulatedTasks:
    """Any law on 1, 2, ..., given by its probabilities.

    Parameters
    ----------
    probabilities : array_like of shape (k,) or (n_classes, k)
        P(K = 1), ..., P(K = k), >= 0, summing to 1.
    first : {1, 0}
        The number of tasks that the first probability is for. 0, for jobs of several task types: a job may
        have no task of a type, if it is sure to have one of another type.

    Examples
    --------
    >>> TabulatedTasks([0.5, 0, 0.5]).means(2)
    array([2., 2.])
    """

    probabilities: tuple[tuple[float, ...], ...]
    first: int = 1

    def __init__(self, probabilities: ArrayLike, *, first: int = 1) -> None:
        if isinstance(first, bool) or first not in (0, 1):
            raise ModelError.of("first", f"must be 1 or 0; got {first!r}")
        rows = np.atleast_2d(float_array("probabilities", probabilities))
        if rows.ndim != 2 or rows.size == 0 or not (np.isfinite(rows).all() and (rows >= 0).all()):
            raise ModelError.of(
                "probabilities",
                "must be a (k,) or (n_classes, k) array of finite numbers >= 0; "
                f"got shape {np.shape(probabilities)}",
            )
        # 1e-9: sums of decimal fractions such as 0.1 are off by rounding, mistakes are off by more.
        wrong = np.flatnonzero(np.abs(rows.sum(axis=1) - 1) > 1e-9)
        if len(wrong):
            total = rows[wrong[0]].sum()
            raise ModelError.of("probabilities", f"must sum to 1; row {wrong[0]} sums to {total:.12g}")
        if first == 0 and (rows[:, 0] == rows.sum(axis=1)).any():
            raise ModelError("probabilities say that a job never has a task; leave the task type out")
        object.__setattr__(self, "probabilities", tuple(tuple(float(p) for p in row) for row in rows))
        object.__setattr__(self, "first", int(first))

    def means(self, n_classes: int) -> FloatArray:
        """Mean number of tasks, (n_classes,)."""
        rows = self._rows(n_classes)
        mean: FloatArray = rows @ np.arange(self.first, rows.shape[1] + self.first)
        return mean

    def numbers(self, n_classes: int) -> TaskNumbers:
        """The law in the form that the kernel reads."""
        rows = self._rows(n_classes)
        # Cut after the last positive probability, so that rounding in the sums cannot give more tasks.
        length = rows.shape[1] - np.argmax(rows[:, ::-1] > 0, axis=1)
        distribution = np.ascontiguousarray(np.cumsum(rows, axis=1))
        # The first possible number, so that base 0 says that a job may have no task.
        base = np.full(n_classes, self.first, np.int64)
        return TaskNumbers(base, np.zeros(n_classes), distribution, length.astype(np.int64))

    def _rows(self, n_classes: int) -> FloatArray:
        rows = np.array(self.probabilities)
        if len(rows) not in (1, n_classes):
            raise ModelError.of(
                "probabilities", f"has {len(rows)} rows; give one, or one per job class ({n_classes})"
            )
        rows = np.broadcast_to(rows, (n_classes, rows.shape[1]))
        return rows / rows.sum(axis=1, keepdims=True)


def task_law(per_job: TaskLaw | ArrayLike) -> TaskLaw:
    """Return a law as it is; a number, or one per class, is the mean of a geometric law."""
    if hasattr(per_job, "numbers") and hasattr(per_job, "means"):
        if isinstance(per_job, type):
            raise ModelError.of("per_job", f"must be a law such as FixedTasks(5); got {per_job!r}")
        return per_job  # type: ignore[return-value]
    return GeometricTasks(per_job)


def _per_class(name: str, value: ArrayLike, rule: str) -> float | tuple[float, ...]:
    value = unnamed(name, value, "job_classes")
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        array = np.array(np.nan)
    good = array.ndim <= 1 and array.size > 0 and bool(((array >= 1) & (array <= MOST_TASKS)).all())
    if not good:
        raise ModelError.of(name, f"must be {rule}, <= {MOST_TASKS:g}, or one per job class; got {value!r}")
    return float(array) if array.ndim == 0 else tuple(float(v) for v in array)


def _spread(name: str, value: float | tuple[float, ...], n_classes: int) -> FloatArray:
    if isinstance(value, numbers.Real):
        return np.full(n_classes, float(value))
    array = np.array(value)
    if array.shape != (n_classes,):
        raise ModelError.of(name, f"has {array.size} entries; give one, or one per job class ({n_classes})")
    return array


def _point(n_classes: int) -> tuple[FloatArray, NDArray[np.int64]]:
    return np.ones((n_classes, 1)), np.ones(n_classes, np.int64)
