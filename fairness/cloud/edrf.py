r"""Extended DRF of millions of tenants, exactly and without rounds.

Tenant i of weight :math:`\rho_i` grows at the rate :math:`g_{ir} = \rho_i D_{ir}/\max_k D_{ik}` on resource
r until a resource that it demands is full; the others go on [1]_ [2]_ (Algorithm 1). The published
algorithm finds the next full resource by a pass over all entries, once for every resource that fills up.
Here an entry is touched three times in all: when resource loads are summed, when the pattern is transposed,
and when its tenant stops.

With :math:`F_r = \sum_{\text{stopped}} g_{ir} z_i` and :math:`\mu_r = \sum_{\text{growing}} g_{ir}`,
resource r would fill up at the level :math:`y_r = (1 - F_r)/\mu_r` if nobody stopped before. A tenant that
stops at :math:`z \le y_r` moves its part from :math:`\mu` to F, and

.. math:: \frac{1 - F_r - g z}{\mu_r - g} \ge \frac{1 - F_r}{\mu_r},

so these levels only *rise*. Hence a heap may hold outdated levels: take the smallest; if the level is now
higher, put it back; else the resource is full, and the tenants that demand it and still grow stop.

Nothing drifts. F only grows, by parts of at most 1 in all. :math:`\mu` is reduced by exactly the products
that were summed into it, in twice the working precision (Neumaier's compensation), and set to 0 when its
last tenant stops: what is left of it is right to full precision even where its first value was ten decades
larger.

*Memory.* Tenants stop in an order that has nothing to do with where their rows lie, and waiting for them took
two thirds of the time. Those that a resource stops are listed first, and rows are fetched some places ahead
(:mod:`fairness.cloud.prefetch`). What is known of a resource lies in 40 bytes, all of them in the cache.

References
----------
.. [1] D. C. Parkes, A. D. Procaccia and N. Shah, "Beyond dominant resource fairness: extensions,
   limitations, and indivisibilities", ACM TEAC 3(1), 2015. DOI 10.1145/2739040.
.. [2] I. A. Kash, G. O'Shea and S. Volos, "DC-DRF: adaptive multi-resource sharing at public cloud scale",
   SoCC 2018. DOI 10.1145/3267809.3267848.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numba
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from fairness.certificates import SATURATION, Certificate
from fairness.cloud.demands import IndexArray, SparseDemands
from fairness.cloud.prefetch import LINE, prefetch
from fairness.errors import ModelError
from fairness.validation import FloatArray, frozen

__all__ = ["Edrf", "Pattern", "edrf"]

Offsets = NDArray[np.int64]

AHEAD = 4
"""Rows that are fetched ahead of the one at work; twice as many have their places looked up."""


@dataclass(frozen=True, eq=False, repr=False)
class Pattern:
    """Who demands each resource: the transposed index structure, kept while only demands change.

    Attributes
    ----------
    starts : ndarray of shape (n_resources + 1,)
    tenants : ndarray of shape (n_entries,)
        The tenants of resource r are ``tenants[starts[r]:starts[r + 1]]``, in rising order.
    """

    starts: Offsets
    tenants: IndexArray

    @classmethod
    def of(cls, demands: SparseDemands) -> Pattern:
        """Pattern of the demands."""
        starts, tenants = _transposed(demands.starts, demands.columns, demands.n_resources)
        return cls(frozen(starts), frozen(tenants))

    def __repr__(self) -> str:
        return f"Pattern({len(self.starts) - 1:,} resources, {len(self.tenants):,} entries)"


@dataclass(frozen=True, eq=False, repr=False)
class Edrf:
    """Extended DRF allocation of many tenants; made by :func:`edrf`.

    Attributes
    ----------
    demands : SparseDemands
    levels : ndarray of shape (n_tenants,)
        Level z_i at which the tenant stopped.
    growth : ndarray of shape (n_tenants,)
        Tasks per unit of level: tenant i runs ``growth[i] * levels[i]`` tasks.
    stoppers : ndarray of int, shape (n_tenants,)
        The full resource that stopped the tenant.
    free : ndarray of shape (n_resources,)
        Part of each resource that is left.
    events : int
        Resources that stopped somebody.
    seconds : dict
        Wall time of each phase.
    """

    demands: SparseDemands
    levels: FloatArray
    growth: FloatArray
    stoppers: IndexArray
    free: FloatArray
    events: int
    seconds: dict[str, float]

    @cached_property
    def tasks(self) -> FloatArray:
        """Tasks of each tenant, shape (n_tenants,)."""
        return frozen(self.growth * self.levels)

    @cached_property
    def dominant_shares(self) -> FloatArray:
        """Largest share of a resource that each tenant holds, shape (n_tenants,)."""
        return frozen(self.tasks * self.demands.largest)

    def allocation(self) -> sparse.csr_array:
        """Share of each resource that each tenant holds, sparse of shape (n_tenants, n_resources)."""
        rows = self.demands.matrix()
        held = np.repeat(self.tasks, np.diff(self.demands.starts)) * rows.data
        return sparse.csr_array((held, rows.indices, rows.indptr), shape=rows.shape)

    @cached_property
    def certificate(self) -> Certificate:
        """Every tenant has a full resource on which its level is the largest, and none is overfull."""
        d = self.demands
        residual = _residual(d.starts, d.columns, d.values, self.growth, self.levels, d.n_resources)
        return Certificate("every tenant has a full resource on which its level is the largest", residual)

    def summary(self) -> str:
        """What a person wants to read: how many stopped where, shares, time, certificate."""
        full = int((self.free <= SATURATION).sum())
        spent = ", ".join(f"{name} {value:.3g} s" for name, value in self.seconds.items())
        shares = self.dominant_shares
        return "\n".join(
            [
                f"EDRF of {self.demands.n_tenants:,} tenants and {self.demands.n_resources:,} resources",
                f"  {full:,} resources full, {self.events:,} of them stopped somebody",
                f"  dominant shares {shares.min():.3g} to {shares.max():.3g}",
                f"  {spent}",
                f"  {self.certificate}",
            ]
        )

    def __repr__(self) -> str:
        return self.summary()


def edrf(
    demands: SparseDemands | Any, weights: ArrayLike | None = None, pattern: Pattern | None = None
) -> Edrf:
    """Extended DRF, exactly, for up to millions of tenants.

    Parameters
    ----------
    demands : SparseDemands or scipy sparse array of shape (n_tenants, n_resources)
        Parts of a resource per task, in (0, 1].
    weights : array_like of shape (n_tenants,) or sparse with the pattern of the demands, optional
        Entitlements. Default: 1/n_tenants each. Only their ratios matter for the allocation.
    pattern : Pattern, optional
        From an earlier call with the same non-zero entries; saves the time to transpose them.

    Returns
    -------
    Edrf

    Raises
    ------
    ModelError
        If demands or weights are not well-formed, or the pattern has another shape.

    References
    ----------
    See :mod:`fairness.cloud.edrf`.

    Examples
    --------
    >>> demands = SparseDemands.from_lists([[(0, 1.0)], [(0, 0.5), (1, 1.0)], [(1, 1.0)]], n_resources=2)
    >>> result = edrf(demands)
    >>> result.allocation().toarray()
    array([[0.75, 0.  ],
           [0.25, 0.5 ],
           [0.  , 0.5 ]])
    >>> result.levels, result.events
    (array([2.25, 1.5 , 1.5 ]), 2)
    """
    given = demands if isinstance(demands, SparseDemands) else SparseDemands(demands)
    growth = given.check_weights(weights) / given.largest
    clock = time.perf_counter()
    seconds = {}
    if pattern is None:
        pattern = Pattern.of(given)
        seconds["transpose"] = time.perf_counter() - clock
    elif len(pattern.starts) != given.n_resources + 1 or len(pattern.tenants) != given.n_entries:
        raise ModelError(f"{pattern!r} does not belong to {given!r}; make a new one with Pattern.of(demands)")
    clock = time.perf_counter()
    sums = _loads(given.starts, given.columns, given.values, growth, given.n_resources)
    seconds["load"] = time.perf_counter() - clock
    clock = time.perf_counter()
    levels, stoppers, events = _fill(
        given.starts, given.columns, given.values, growth, pattern.starts, pattern.tenants, sums
    )
    seconds["fill"] = time.perf_counter() - clock
    free = np.maximum(0.0, 1.0 - (sums[:, 0] + sums[:, 1]))
    return Edrf(given, frozen(levels), frozen(growth), frozen(stoppers), frozen(free), int(events), seconds)


@numba.njit(cache=True, nogil=True)
def _transposed(starts: Offsets, columns: IndexArray, n_resources: int) -> tuple[Offsets, IndexArray]:
    """Counting sort of the entries by column."""
    ends = np.zeros(n_resources + 1, dtype=np.int64)
    for e in range(len(columns)):
        ends[columns[e] + 1] += 1
    for r in range(n_resources):
        ends[r + 1] += ends[r]
    place = ends[:-1].copy()
    tenants = np.empty(len(columns), dtype=np.int32)
    for i in range(len(starts) - 1):
        for e in range(starts[i], starts[i + 1]):
            r = columns[e]
            tenants[place[r]] = i
            place[r] += 1
    return ends, tenants


@numba.njit(inline="always")
def _add(table: FloatArray, r: int, column: int, value: float) -> None:
    """Add to a sum kept as a number and its compensation in the next column (Neumaier)."""
    old = table[r, column]
    new = old + value
    if abs(old) >= abs(value):
        table[r, column + 1] += (old - new) + value
    else:
        table[r, column + 1] += (value - new) + old
    table[r, column] = new


@numba.njit(cache=True, nogil=True)
def _loads(
    starts: Offsets, columns: IndexArray, values: NDArray[Any], growth: FloatArray, n_resources: int
) -> FloatArray:
    """Per resource: F and its compensation, mu and its compensation, number of growing tenants."""
    sums = np.zeros((n_resources, 5))
    for i in range(len(starts) - 1):
        for e in range(starts[i], starts[i + 1]):
            r = columns[e]
            _add(sums, r, 2, growth[i] * values[e])
            sums[r, 4] += 1.0
    return sums


@numba.njit(inline="always")
def _level(sums: FloatArray, r: int) -> float:
    """Level at which the resource fills up if nobody stops before."""
    return ((1.0 - sums[r, 0]) - sums[r, 1]) / (sums[r, 2] + sums[r, 3])


@numba.njit(cache=True, nogil=True)
def _fill(
    starts: Offsets,
    columns: IndexArray,
    values: NDArray[Any],
    growth: FloatArray,
    pattern: Offsets,
    tenants: IndexArray,
    sums: FloatArray,
) -> tuple[FloatArray, IndexArray, int]:
    """Levels, stoppers and events; ``sums`` of :func:`_loads` ends with F."""
    n, m = len(starts) - 1, len(sums)
    level = np.empty(n)
    growing = np.ones(n, dtype=np.bool_)
    batch = np.empty(n, dtype=np.int32)
    step = LINE // columns.itemsize
    stopper = np.full(n, -1, dtype=np.int32)
    keys, heap = np.empty(m), np.empty(m, dtype=np.int32)
    size = 0
    for r in range(m):
        if sums[r, 4] > 0:
            keys[size], heap[size] = _level(sums, r), r
            size += 1
    for k in range(size // 2 - 1, -1, -1):
        _sink(keys, heap, k, size)
    height, events = 0.0, 0
    while size > 0:
        r = heap[0]
        if sums[r, 4] > 0:
            now = _level(sums, r)
            if now > keys[0]:
                keys[0] = now
                _sink(keys, heap, 0, size)
                if heap[0] != r:
                    continue
            # Rounding may put a level a hair below one that was reached before.
            height = max(height, now)
            events += 1
            found = 0
            for k in range(pattern[r], pattern[r + 1]):
                if growing[tenants[k]]:
                    batch[found] = tenants[k]
                    found += 1
            for k in range(found):
                if k + 2 * AHEAD < found:
                    prefetch(starts, batch[k + 2 * AHEAD])
                    prefetch(growth, batch[k + 2 * AHEAD])
                if k + AHEAD < found:
                    later = batch[k + AHEAD]
                    for e in range(starts[later], starts[later + 1], step):
                        prefetch(columns, e)
                        prefetch(values, e)
                i = batch[k]
                level[i], stopper[i], growing[i] = height, r, False
                for e in range(starts[i], starts[i + 1]):
                    q = columns[e]
                    rate = growth[i] * values[e]
                    _add(sums, q, 0, rate * height)
                    sums[q, 4] -= 1.0
                    if sums[q, 4] > 0:
                        _add(sums, q, 2, -rate)
        size -= 1
        keys[0], heap[0] = keys[size], heap[size]
        _sink(keys, heap, 0, size)
    return level, stopper, events


@numba.njit(cache=True, nogil=True)
def _sink(keys: FloatArray, heap: IndexArray, k: int, size: int) -> None:
    """Move entry k down to its place in the heap."""
    key, item = keys[k], heap[k]
    while True:
        child = 2 * k + 1
        if child >= size:
            break
        if child + 1 < size and keys[child + 1] < keys[child]:
            child += 1
        if keys[child] >= key:
            break
        keys[k], heap[k] = keys[child], heap[child]
        k = child
    keys[k], heap[k] = key, item


@numba.njit(cache=True, nogil=True)
def _residual(
    starts: Offsets,
    columns: IndexArray,
    values: NDArray[Any],
    growth: FloatArray,
    levels: FloatArray,
    n_resources: int,
) -> float:
    """Largest violation of the certificate, in two passes over the entries, apart from the solver."""
    # Compensated: a plain sum of a million equal shares is off by 1e-11.
    sums, highest = np.zeros((n_resources, 2)), np.zeros(n_resources)
    for i in range(len(levels)):
        if not levels[i] >= 0.0:
            return np.inf
        for e in range(starts[i], starts[i + 1]):
            r = columns[e]
            _add(sums, r, 0, growth[i] * levels[i] * values[e])
            highest[r] = max(highest[r], levels[i])
    used = sums[:, 0] + sums[:, 1]
    residual = 0.0
    for r in range(n_resources):
        residual = max(residual, used[r] - 1.0)
    for i in range(len(levels)):
        best = np.inf
        for e in range(starts[i], starts[i + 1]):
            r = columns[e]
            short = 1.0 - levels[i] / highest[r] if highest[r] > 0 else 0.0
            best = min(best, max(short, 1.0 - used[r]))
        residual = max(residual, best)
    return residual
