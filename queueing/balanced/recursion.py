r"""Balanced fairness on a box of group totals: the recursion, level by level.

The recursion of :mod:`queueing.balanced.fairness` is run on :math:`P(x) = \Phi(x)\rho^x`: the states with
:math:`|x| = t` need only those with :math:`|x| = t - 1` and can be computed all at once. Two levels in memory
give the normalisation, all marginals and, in a run of its own, all mixed second moments. Every part is a sum
of positive terms, so the result is accurate to rounding. Without limits
:math:`P(x) \le (\max_j \varrho_j)^{|x|}`; with limits :math:`P` may grow first and is rescaled. What a
finite box leaves out is bounded rigorously by :mod:`queueing.balanced.tail_bound`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairness.machine.compiling import COUNTED, inlined, stored
from fairness.machine.memory import require_memory
from fairness.machine.work import Task
from fairness.model.problem import FloatArray
from queueing.balanced.tail_bound import INSTEAD, StoreAndForward
from queueing.states.box import SMALLEST, box_name, count_states, marginal_laws, mean_counts

__all__ = ["BoxLaw", "box_bytes", "box_seconds", "recursion", "require_box"]

LARGEST = 1e200
"""When P exceeds this (possible with limits only), everything is divided by it."""

CHUNK = 512
"""States handled at a time, so that what is read again is still in the first cache."""

STATES_PER_SECOND = 1.5e9
"""States times groups times resources that one core handles per second, about."""

ROW_SECONDS = 1.2e-8
"""Time per row, level and group, about, whether the row has states of the level or not."""

STEPS = 0.5
"""Microseconds per state, group and resource, interpreted."""

CALL_SECONDS = 0.3
"""Time of one call of the recursion, about."""


class BoxLaw:
    """Law of the group totals, conditioned on a box; what the box leaves out is bounded.

    Parameters
    ----------
    bound : StoreAndForward
        Of the groups.
    shape : tuple of int
    keep : bool
        Keep the law on the whole box.
    """

    method = "box"

    def __init__(self, bound: StoreAndForward, shape: tuple[int, ...], keep: bool = False) -> None:
        self._gain, self._ceiling, self.shape = bound.gain, bound.ceiling, shape
        require_box(shape, keep)
        run = _Run(bound.gain, bound.ceiling, shape, keep=keep)
        self.mean = mean_counts(run.marginals)
        self.tail_mass, outside = bound.outside(shape, run.log_mass)
        self.error: FloatArray = np.maximum(outside, self.mean * self.tail_mass)
        self.empty = run.empty
        self.marginals = run.marginals
        self.distribution = run.distribution

    @cached_property
    def variance(self) -> FloatArray:
        """Variance of the totals, (n_groups,)."""
        pairs = zip(self.marginals, self.mean, strict=True)
        return np.array([law @ (np.arange(len(law)) - mean) ** 2 for law, mean in pairs])

    @cached_property
    def covariance(self) -> FloatArray:
        """Covariance of the totals, (n_groups, n_groups); without the law it takes a run of its own."""
        if len(self.shape) == 1:
            return self.variance[:, None]
        mixed = _Run(self._gain, self._ceiling, self.shape, cross=True).mixed
        result: FloatArray = mixed - np.outer(self.mean, self.mean)
        np.fill_diagonal(result, self.variance)
        return result

    @cached_property
    def _cumulated(self) -> FloatArray:
        law = self.distribution
        if law is None:
            require_box(self.shape, True)
            law = _Run(self._gain, self._ceiling, self.shape, keep=True).distribution
            assert law is not None
        return np.cumsum(law)

    def sample(self, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Totals from the law on the box by inversion, shape (size, n_groups)."""
        table = self._cumulated
        places = np.searchsorted(table, rng.random(size) * table[-1], side="right")
        return np.stack(np.unravel_index(places, self.shape), axis=-1)


class _Run:
    """One pass of the recursion, brought back to the order of the groups."""

    def __init__(
        self,
        gain: FloatArray,
        ceiling: FloatArray,
        shape: tuple[int, ...],
        *,
        keep: bool = False,
        cross: bool = False,
    ) -> None:
        # The longest axis is the one that levels do not store, the second longest is the inner loop; when the
        # whole array is kept, the groups stay in their order.
        n = len(shape)
        order = list(range(n)) if keep else sorted(range(n), key=lambda i: -shape[i])
        if not keep and n > 2:
            order.append(order.pop(1))
        dims = np.array([shape[i] for i in order] + [1] * (n == 1))
        sorted_gain, sorted_ceiling = np.zeros((len(dims), gain.shape[1])), np.zeros(len(dims))
        sorted_gain[:n], sorted_ceiling[:n] = gain[order], ceiling[order]
        rows, length = math.prod(dims[1:-1].tolist()), int(dims[-1])
        levels = np.zeros((2, rows * (length + 1)))
        column, first = np.zeros(levels.shape[1]), np.zeros(dims[0])
        law = np.zeros(math.prod(shape) if keep else 0)
        moment = np.zeros(levels.shape[1] if cross else 0)
        groups, sums = Groups(sorted_gain, sorted_ceiling, dims), Sums(levels, column, first, law, moment)
        run = recursion.small(STEPS * n, rows * (length * gain.shape[1] * dims[0] + 10 * dims.sum()))
        log_scale, empty, end = 0.0, 1.0, int((dims - 1).sum()) + 1
        seconds = box_seconds(shape, gain.shape[1])
        # A stop comes between two calls.
        step = max(1, int(end / max(1.0, seconds / CALL_SECONDS)))
        with Task(
            f"balanced fairness on a box of {box_name(shape)} states",
            end,
            "levels",
            seconds,
            f"raise tail, or {INSTEAD}",
        ) as work:
            for level in range(0, end, step):
                last = min(level + step, end)
                log_scale, empty = run(groups, sums, level, last, log_scale, empty)
                work.advance(last - level)
        mass = float(first.sum())
        self.log_mass = log_scale + math.log(mass)
        self.empty = empty / mass
        laws: list[FloatArray] = [np.ones(1)] * n
        table = column.reshape(rows, length + 1)[:, 1:].reshape(dims[1:]) / mass
        for axis, i in enumerate(order):
            others = tuple(k for k in range(table.ndim) if k != axis - 1)
            laws[i] = first / mass if axis == 0 else table.sum(axis=others)
        self.marginals = tuple(laws)
        law /= mass
        self.distribution = law.reshape(shape) if keep else None
        if cross:
            self.mixed = np.zeros((n, n))
            moments = moment.reshape(rows, length + 1)[:, 1:].reshape(dims[1:]) / mass
            self._fill_mixed(order, table, mean_counts(marginal_laws(moments)))

    def _fill_mixed(self, order: list[int], table: FloatArray, with_first: FloatArray) -> None:
        """E[x_i x_k]: of the first axis from sums of x_0 P, of the others from their joint law."""
        for one in range(table.ndim):
            i = order[one + 1]
            self.mixed[i, order[0]] = self.mixed[order[0], i] = with_first[one]
            for other in range(one):
                k = order[other + 1]
                axes = tuple(a for a in range(table.ndim) if a not in (one, other))
                pair = table.sum(axis=axes)
                value = np.arange(pair.shape[0]) @ pair @ np.arange(pair.shape[1])
                self.mixed[i, k] = self.mixed[k, i] = value


def box_bytes(shape: Sequence[int], keep: bool) -> float:
    """Memory that the recursion needs, bytes."""
    states = count_states(shape)
    slab = states / max(shape)
    return 8.0 * (states + 3 * states / shape[0] if keep else 3 * slab + 4 * max(shape))


def box_seconds(shape: Sequence[int], n_resources: int) -> float:
    """Time of the recursion on one core, about."""
    states = count_states(shape)
    # All axes but the two longest tell the rows apart.
    rows = count_states(sorted(shape)[:-2])
    visits = rows * (sum(shape) - len(shape) + 1.0)
    return len(shape) * (states * n_resources / STATES_PER_SECOND + visits * ROW_SECONDS)


def require_box(shape: Sequence[int], keep: bool) -> None:
    """Refuse a box that the memory of this machine cannot hold."""
    remedy = "raise tail, give a smaller shape, or " + ("leave the distribution out" if keep else INSTEAD)
    require_memory(box_bytes(shape, keep), f"balanced fairness on a box of {box_name(shape)} states", remedy)


class Groups(NamedTuple):
    """What is recursed: n >= 2 groups, m resources."""

    gain: FloatArray  # (n, m): rho_i a_ij/C_j
    ceiling: FloatArray  # (n,): rho_i/l_i
    dims: NDArray[np.int64]  # (n,): states per group


class Sums(NamedTuple):
    """Two levels, and what is summed over all. Places are those of the counts of all groups but the first.

    They stand in rows along the last axis that begin with one place of padding. All come as zeros at level 0,
    and later as the levels before left them.
    """

    levels: FloatArray  # (2, places): two successive levels
    column: FloatArray  # (places,): sums of P over the first axis
    first: FloatArray  # (dims[0],): sums of P over the others
    law: FloatArray  # flat over the box: P, unless it is empty
    cross: FloatArray  # (places,): sums of x_0 P over the first axis, unless it is empty


@stored(**COUNTED)
def recursion(
    groups: Groups, sums: Sums, begin_level: int, end_level: int, log_scale: float, empty: float
) -> tuple[float, float]:
    """Run P over some levels; return the logarithm of the scale of all values, and P(0) on that scale.

    At level 0 the scale is 0 and ``empty`` 1.
    """
    dims = groups.dims
    last = len(dims) - 1
    length = dims[last]
    rows = sums.column.size // (length + 1)
    reciprocal = np.zeros(dims.max())
    for x in range(1, dims.max()):
        reciprocal[x] = 1.0 / x
    work = np.empty(CHUNK)
    if begin_level == 0:
        sums.levels[0, 1] = sums.column[1] = sums.first[0] = 1.0
        if sums.law.size > 0:
            sums.law[0] = 1.0
    for level in range(max(1, begin_level), end_level):
        peak = 0.0
        for r in range(rows):
            # On this row x_0 = c - y, with y the count on the last axis.
            c = level
            rest = r
            for i in range(last - 1, 0, -1):
                c -= rest % dims[i]
                rest //= dims[i]
            high = min(length, c + 1)
            for begin in range(max(0, c - dims[0] + 1), high, CHUNK):
                size = min(CHUNK, high - begin)
                _fill(groups, sums, level, r, begin, size, work)
                peak = max(peak, _limit(groups, sums, level, r, c, begin, size, reciprocal))
                _add(sums, level, r, length, c, begin, size)
        if peak > LARGEST:
            log_scale += math.log(LARGEST)
            empty /= LARGEST
            for values in (sums.levels[level % 2], sums.column, sums.first, sums.law, sums.cross):
                for place in range(values.size):
                    values[place] = values[place] / LARGEST if values[place] > SMALLEST * LARGEST else 0.0
    return log_scale, empty


@inlined
def _fill(groups: Groups, sums: Sums, level: int, r: int, begin: int, size: int, work: FloatArray) -> None:
    """P of a chunk of a row by the fullest resource, without limits."""
    gain, dims = groups.gain, groups.dims
    n, m = gain.shape
    last = n - 1
    old, new = sums.levels[(level - 1) % 2], sums.levels[level % 2]
    s = r * (dims[last] + 1) + 1 + begin
    # Beyond y = c - 1 the old level is still 0, so states with x_0 = 0 need no special case.
    here, less_first, less_last = new[s : s + size], old[s : s + size], old[s - 1 : s - 1 + size]
    for y in range(size):
        here[y] = 0.0
    for j in range(m):
        a, b = gain[0, j], gain[last, j]
        for y in range(size):
            work[y] = a * less_first[y] + b * less_last[y]
        rest = r
        stride = dims[last] + 1
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


@inlined
def _limit(
    groups: Groups, sums: Sums, level: int, r: int, c: int, begin: int, size: int, reciprocal: FloatArray
) -> float:
    """Raise P where limits do; the largest of the chunk, 0 without limits."""
    ceiling, dims = groups.ceiling, groups.dims
    last = len(dims) - 1
    limited = False
    for i in range(last + 1):
        limited = limited or ceiling[i] > 0
    if not limited:
        return 0.0
    old, new = sums.levels[(level - 1) % 2], sums.levels[level % 2]
    s = r * (dims[last] + 1) + 1 + begin
    here, less_first, less_last = new[s : s + size], old[s : s + size], old[s - 1 : s - 1 + size]
    a, b = ceiling[0], ceiling[last]
    for y in range(size):
        here[y] = max(here[y], a * reciprocal[c - begin - y] * less_first[y])
        here[y] = max(here[y], b * reciprocal[begin + y] * less_last[y])
    rest = r
    stride = dims[last] + 1
    for i in range(last - 1, 0, -1):
        x = rest % dims[i]
        if x > 0:
            for y in range(size):
                here[y] = max(here[y], ceiling[i] * reciprocal[x] * old[s - stride + y])
        rest //= dims[i]
        stride *= dims[i]
    peak = 0.0
    for y in range(size):
        peak = max(peak, here[y])
    return peak


@inlined
def _add(sums: Sums, level: int, r: int, length: int, c: int, begin: int, size: int) -> None:
    """Add a chunk to all sums."""
    s = r * (length + 1) + 1 + begin
    here, total = sums.levels[level % 2, s : s + size], sums.column[s : s + size]
    across = sums.first[c - begin - size + 1 : c - begin + 1]
    for y in range(size):
        value = here[y] if here[y] > SMALLEST else 0.0
        here[y] = value
        total[y] += value
        across[size - 1 - y] += value
    if sums.cross.size > 0:
        moment = sums.cross[s : s + size]
        for y in range(size):
            moment[y] += (c - begin - y) * here[y]
    if sums.law.size > 0:
        rows = sums.column.size // (length + 1)
        place = (c - begin) * rows * length + r * length + begin
        for y in range(size):
            sums.law[place - y * (rows * length - 1)] = here[y]
