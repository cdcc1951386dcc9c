r"""Balanced fairness, exactly.

Every allocation that makes the stationary law of the job counts insensitive to the law of job sizes has a
balance function :math:`\Phi`: its tasks are :math:`\varphi_i(x) = \Phi(x - e_i)/\Phi(x)`. Balanced fairness
is the one with the smallest balance function that fits, so that the system is empty with the largest
probability:

.. math:: \Phi(0) = 1, \qquad \Phi(x) = \max\Big(\max_j \sum_i \frac{a_{ij}}{C_j}\Phi(x - e_i),\
          \max_{i:\,x_i>0} \frac{\Phi(x - e_i)}{x_i \ell_i}\Big),

so that in every state a resource is full or the jobs of a class run at their limit :math:`\ell_i`, and the
stationary law is :math:`\pi(x) = \Phi(x)\prod_i \rho_i^{x_i} / G` [1]_, [2]_. The weights of a problem play
no role.

The recursion is run on :math:`P(x) = \Phi(x)\rho^x`, level by level: the states with :math:`|x| = t` need
only those with :math:`|x| = t - 1` and can be computed all at once. Two levels in memory give the
normalisation and all marginals. Every part is a sum of positive terms, so the result is accurate to
rounding. Without limits :math:`P(x) \le (\max_j \varrho_j)^{|x|}`; with limits :math:`P` may grow first and
is rescaled. What a finite box leaves out is bounded rigorously by :mod:`queueing.tails`.

References
----------
.. [1] T. Bonald and A. Proutière, "Insensitive bandwidth sharing in data networks", Queueing Systems 44,
   2003. DOI 10.1023/A:1024094807532.
.. [2] T. Bonald and J. Roberts, "Resource sharing in data centers", Workshop on Performance and Control of
   Large-Scale Networks, Eindhoven, 2014.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numba
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairness.errors import ModelError
from fairness.problem import FloatArray
from fairness.validation import require_memory
from queueing.grid import SMALLEST, box_name, check_box, count_states
from queueing.results import LittleMeans, class_lines, class_table
from queueing.system import System
from queueing.tails import StoreAndForward, binding_resources

__all__ = ["BalancedFairness", "balanced_fairness"]

LARGEST = 1e200
"""When P exceeds this (possible with limits only), everything is divided by it."""

CHUNK = 512
"""States handled at a time, so that what is read again is still in the first cache."""


@dataclass(frozen=True, eq=False, repr=False)
class BalancedFairness(LittleMeans):
    """Stationary law under balanced fairness; made by :func:`balanced_fairness`.

    All means are those of the law conditioned on the box.

    Attributes
    ----------
    system : System
    shape : tuple of int
        States per class; the box is 0 <= x_i < shape[i].
    mean_jobs : ndarray of shape (n_classes,), jobs
    tail_mass : float
        Rigorous upper bound of the probability outside the box.
    mean_jobs_error : ndarray of shape (n_classes,), jobs
        Rigorous upper bound of the error that truncation makes in ``mean_jobs``; rounding is not included.
    empty_probability : float
        Probability that no job is present.
    marginals : tuple of ndarray
        Law of each count; entry i has shape (shape[i],).
    distribution : ndarray of shape ``shape``, or None
        The law itself, if asked for.
    """

    system: System
    shape: tuple[int, ...]
    mean_jobs: FloatArray
    tail_mass: float
    mean_jobs_error: FloatArray
    empty_probability: float
    marginals: tuple[FloatArray, ...]
    distribution: FloatArray | None = None

    def tasks(self) -> FloatArray:
        """Tasks running in each state of the box, shape (*shape, n_classes): rho_i P(x - e_i)/P(x).

        0 where P underflows. Needs ``distribution=True``.
        """
        law = self.distribution
        if law is None:
            raise ModelError("the law was not kept; call balanced_fairness(..., distribution=True)")
        tasks = np.zeros((*self.shape, self.system.n_classes))
        for i, load in enumerate(self.system.loads):
            here = (slice(None),) * i + (slice(1, None),)
            before = (slice(None),) * i + (slice(None, -1),)
            np.divide(load * law[before], law[here], out=tasks[(*here, ..., i)], where=law[here] > 0)
        return tasks

    def to_dataframe(self) -> pd.DataFrame:
        """One row per class: load, mean jobs and their error bound, mean duration, service rate."""
        return class_table(
            self.system,
            mean_jobs=self.mean_jobs,
            mean_jobs_error=self.mean_jobs_error,
            mean_duration=self.mean_durations,
            service_rate=self.service_rates,
        )

    def summary(self) -> str:
        """What a person wants to read: the means per class and what the box leaves out."""
        return "\n".join(
            [
                "balanced fairness",
                *class_lines(self.to_dataframe()),
                f"  box {box_name(self.shape)}; probability outside <= {self.tail_mass:.1e}; "
                f"empty with probability {self.empty_probability:.6g}",
            ]
        )

    def __repr__(self) -> str:
        return self.summary()


def balanced_fairness(
    system: System,
    *,
    shape: Sequence[int] | int | None = None,
    tail: float = 1e-12,
    max_states: int = 100_000_000_000,
    distribution: bool = False,
) -> BalancedFairness:
    """Stationary law and means under balanced fairness.

    Parameters
    ----------
    system : System
        Any number of classes, as long as the box fits in memory. Weights play no role.
    shape : sequence of int or int, optional
        States per class, at least 2 for a class with arrivals. Default: a box whose tail bound is at most
        ``tail``.
    tail : float
        Largest probability that the automatic box may leave out.
    max_states : int
        Largest automatic box; about 10^9 states are computed per second.
    distribution : bool
        Keep the law on the whole box. Without it the memory needed is that of the box over its longest axis.

    Returns
    -------
    BalancedFairness

    Raises
    ------
    UnstableError
        If a resource has relative load >= 1.
    ModelError
        If the shape is wrong, the automatic box exceeds ``max_states``, or the box does not fit in the memory
        of this machine.

    Examples
    --------
    >>> from fairness import Problem
    >>> from queueing import System
    >>> pool = Problem([[1, 0.1], [0.1, 1]], [1, 1], job_classes=["A", "B"])
    >>> balanced_fairness(System.with_load(pool, [1, 1], 0.5)).mean_durations.round(4)
    array([2.0397, 2.0397])
    """
    system.require_stable()
    if not 0 < tail < 1:
        raise ModelError(f"tail must be a probability between 0 and 1; got {tail}")
    bound = StoreAndForward(system)
    sizes = bound.box(tail) if shape is None else check_box(shape, system)
    _require_box(sizes, distribution)
    if shape is None and count_states(sizes) > max_states:
        raise ModelError(
            f"a box of {box_name(sizes)} states exceeds max_states={max_states:,}; raise tail or "
            "max_states, give a smaller shape, or take duration_bound"
        )
    # The longest axis is the one that levels do not store, the second longest is the inner loop; when the
    # whole array is kept, the classes stay in their order.
    n = system.n_classes
    order = list(range(n)) if distribution else sorted(range(n), key=lambda i: -sizes[i])
    if not distribution and n > 2:
        order.append(order.pop(1))
    dims = np.array([sizes[i] for i in order] + [1] * (n == 1))
    shares = system.problem.task_shares
    gain = np.zeros((len(dims), len(binding := binding_resources(system.loads[:, None] * shares))))
    gain[:n] = (system.loads[:, None] * shares[:, binding])[order]
    ceiling = np.zeros(len(dims))
    ceiling[:n] = (system.loads / system.problem.limits)[order]
    rows, length = math.prod(dims[1:-1].tolist()), int(dims[-1])
    levels = np.zeros((2, rows * (length + 1)))
    column, first = np.zeros(levels.shape[1]), np.zeros(dims[0])
    law = np.zeros(math.prod(sizes) if distribution else 0)
    log_scale, empty = _recursion(gain, ceiling, dims, levels, column, first, law)

    mass = float(first.sum())
    marginals: list[FloatArray] = [np.ones(1)] * n
    column = column.reshape(rows, length + 1)[:, 1:].reshape(dims[1:]) / mass
    for axis, i in enumerate(order):
        others = tuple(k for k in range(column.ndim) if k != axis - 1)
        marginals[i] = first / mass if axis == 0 else column.sum(axis=others)
    mean_jobs = np.array([law @ np.arange(len(law)) for law in marginals])
    tail_mass, outside = bound.outside(sizes, log_scale + math.log(mass))
    law /= mass
    return BalancedFairness(
        system,
        sizes,
        mean_jobs,
        tail_mass,
        np.maximum(outside, mean_jobs * tail_mass),
        empty / mass,
        tuple(marginals),
        law.reshape(sizes) if distribution else None,
    )


def _require_box(sizes: Sequence[int], distribution: bool) -> None:
    states = count_states(sizes)
    slab = states / max(sizes)
    n_bytes = 8.0 * (states + 3 * states / sizes[0] if distribution else 3 * slab + 4 * max(sizes))
    remedy = "raise tail, give a smaller shape" + (
        ", or leave the distribution out" if distribution else ", or take duration_bound"
    )
    require_memory(n_bytes, f"balanced fairness on a box of {box_name(sizes)} states", remedy)


@numba.njit(cache=True, nogil=True)
def _recursion(
    gain: FloatArray,
    ceiling: FloatArray,
    dims: NDArray[np.int64],
    levels: FloatArray,
    column: FloatArray,
    first: FloatArray,
    law: FloatArray,
) -> tuple[float, float]:
    """Run P level by level; return the logarithm of the scale of all values, and P(0) on that scale.

    gain (n, m) holds rho_i a_ij/C_j and ceiling (n,) rho_i/l_i; dims (n,), n >= 2. The states of level t are
    addressed by all their counts but the first, in rows along the last axis that begin with one place of
    padding; levels (2, places) holds two successive levels and column (places,) receives the sums of P over
    the first axis. first (dims[0],) receives the sums over the others; law, flat over the box, receives P
    unless it is empty. All arrays come as zeros.
    """
    n, m = gain.shape
    last = n - 1
    length = dims[last]
    rows = column.size // (length + 1)
    limited = ceiling.max() > 0
    reciprocal = np.zeros(dims.max())
    for x in range(1, dims.max()):
        reciprocal[x] = 1.0 / x
    work = np.empty(CHUNK)
    log_scale = 0.0
    empty = 1.0
    levels[0, 1] = column[1] = first[0] = 1.0
    if law.size > 0:
        law[0] = 1.0
    for level in range(1, dims.sum() - n + 1):
        old = levels[(level - 1) % 2]
        new = levels[level % 2]
        peak = 0.0
        for r in range(rows):
            # On this row x_0 = c - y, with y the count on the last axis.
            c = level
            rest = r
            for i in range(last - 1, 0, -1):
                c -= rest % dims[i]
                rest //= dims[i]
            base = r * (length + 1) + 1
            low = max(0, c - dims[0] + 1)
            high = min(length, c + 1)
            for begin in range(low, high, CHUNK):
                size = min(CHUNK, high - begin)
                s = base + begin
                # Beyond y = c - 1 the old level is still 0, so states with x_0 = 0 need no special case.
                here = new[s : s + size]
                less_first = old[s : s + size]
                less_last = old[s - 1 : s - 1 + size]
                here[:] = 0.0
                for j in range(m):
                    a, b = gain[0, j], gain[last, j]
                    for y in range(size):
                        work[y] = a * less_first[y] + b * less_last[y]
                    rest = r
                    stride = length + 1
                    for i in range(last - 1, 0, -1):
                        if rest % dims[i] > 0:
                            a = gain[i, j]
                            less = old[s - stride : s - stride + size]
                            for y in range(size):
                                work[y] += a * less[y]
                        rest //= dims[i]
                        stride *= dims[i]
                    for y in range(size):
                        here[y] = work[y] if work[y] > here[y] else here[y]
                if limited:
                    a, b = ceiling[0], ceiling[last]
                    for y in range(size):
                        here[y] = max(here[y], a * reciprocal[c - begin - y] * less_first[y])
                        here[y] = max(here[y], b * reciprocal[begin + y] * less_last[y])
                    rest = r
                    stride = length + 1
                    for i in range(last - 1, 0, -1):
                        x = rest % dims[i]
                        if x > 0:
                            for y in range(size):
                                here[y] = max(here[y], ceiling[i] * reciprocal[x] * old[s - stride + y])
                        rest //= dims[i]
                        stride *= dims[i]
                    for y in range(size):
                        peak = max(peak, here[y])
                total = column[s : s + size]
                across = first[c - begin - size + 1 : c - begin + 1]
                for y in range(size):
                    value = here[y] if here[y] > SMALLEST else 0.0
                    here[y] = value
                    total[y] += value
                    across[size - 1 - y] += value
                if law.size > 0:
                    place = (c - begin) * rows * length + r * length + begin
                    for y in range(size):
                        law[place - y * (rows * length - 1)] = here[y]
        if peak > LARGEST:
            log_scale += math.log(LARGEST)
            empty /= LARGEST
            for values in (new, column, first, law):
                for place in range(values.size):
                    values[place] = values[place] / LARGEST if values[place] > SMALLEST * LARGEST else 0.0
    return log_scale, empty
