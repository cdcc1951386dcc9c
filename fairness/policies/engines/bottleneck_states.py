r"""States of a pool one by one: the allocation at the end of the path, or the best way out of a tie.

Columns of b are the demand shares of :mod:`fairness.policies.engines.cap_path`, then 1 for the cap, then one
over the dominant weighted share of the class at its limit.

Where ties stop the path (about 1 in 10,000 problems of small integers), the demands are perturbed by at most
1e-6 with a fixed deterministic noise, the perturbed path is followed, and the linear system of its final
assignment is solved with the true demands. The reported residual is always that of the definition with the
true demands.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fairness.machine.compiling import COUNTED, helper, inlined, part, stored
from fairness.model import nonzeros
from fairness.model.nonzeros import Nonzeros
from fairness.model.problem import FloatArray
from fairness.policies.engines import cap_path
from fairness.policies.engines.cap_path import Work, follow_cap, sum_column

__all__ = ["ATTEMPTS", "CERTIFIED", "bmf_states"]

CERTIFIED = 1e-10
"""Residual that a caller should accept: a tenth of what the public certificate allows."""

ATTEMPTS = 24
"""Perturbed paths tried before giving up."""

TINY = 1e-307
"""Tasks below this have lost their digits to underflow."""


@helper(**COUNTED)
def _workspace(n: int, m: int) -> Work:
    """Scratch for n classes and m resources."""
    return Work(
        owner=np.empty(n, dtype=np.int64),
        unit=np.empty(n),
        share=np.empty(n),
        best=np.empty(n),
        noisy=np.empty((n, m + 2)),
        active=np.empty(m + 2, dtype=np.int64),
        members=np.empty(m + 2, dtype=np.int64),
        level=np.empty(m + 2),
        slope=np.empty(m + 2),
        load=np.empty((m, m + 2)),
        heaviest=np.empty(m + 2),
        matrix=np.empty((m, m + 1)),
        order=np.empty(m, dtype=np.int64),
    )


@stored(cap_path, nonzeros, **COUNTED)
def bmf_states(
    shares: Nonzeros,
    limits: FloatArray,
    counts: FloatArray,
    tasks: FloatArray,
    weights: FloatArray,
    direct: float,
    prices: FloatArray,
    residuals: FloatArray,
) -> None:
    """Fill ``tasks`` (n_states, n_classes) and the residual of each state.

    It has the form told in :class:`fairness.protocol.following.Answers`. ``shares`` lists the rows of one
    problem, or one after the other those of a problem for each state; of ``prices`` only the number counts.
    Where ``direct`` is 0, perturbed paths are taken at once (this is how they are tested).
    """
    n_states, n = counts.shape
    m = prices.size
    several = shares.start.size - 1 > n
    dominant = np.empty(n)
    shared = np.empty((n, m + 2))
    packed = np.empty((n, m + 2))
    live = np.empty(n, dtype=np.int64)
    mass = np.empty(n)
    work = _workspace(n, m)
    share = work.share
    for state in range(n_states):
        if state == 0 or several:
            _normalize(shares, n * state if several else 0, limits, weights, dominant, shared)
        n_live: Any = np.int64(0)  # A literal 0 would compile everything below twice.
        for i in range(n):
            tasks[state, i] = 0.0
            if counts[state, i] > 0:
                if dominant[i] > 0:
                    live[n_live] = i
                    mass[n_live] = counts[state, i] * weights[i]
                    n_live += 1
                else:  # A class without demand is bounded by its limit alone.
                    tasks[state, i] = counts[state, i] * limits[i]
        b = shared
        if n_live < n:
            b = packed
            for r in range(n_live):
                for j in range(m + 2):
                    packed[r, j] = shared[live[r], j]
        residual = 0.0
        if n_live > 0:
            finished = direct > 0.0 and follow_cap(b, mass, n_live, work)
            residual = _residual(b, mass, n_live, work) if finished else np.inf
            if not residual <= 1e-13:
                residual = _rescue(b, mass, n_live, residual, work)
        residuals[state] = residual
        for r in range(n_live):
            i = live[r]
            tasks[state, i] = min(mass[r] * share[r] / dominant[i], counts[state, i] * limits[i])
            if not tasks[state, i] > TINY:
                residuals[state] = np.inf


@part
def _normalize(
    shares: Nonzeros,
    first: int,
    limits: FloatArray,
    weights: FloatArray,
    dominant: FloatArray,
    b: FloatArray,
) -> None:
    """Rows b_i: demand shares over the largest, 1 for the cap, 1/(dominant weighted share at the limit).

    The shares are those from row ``first`` on.
    """
    n, m = b.shape[0], b.shape[1] - 2
    for i in range(n):
        begin, end = shares.start[first + i], shares.start[first + i + 1]
        largest = 0.0
        for e in range(begin, end):
            largest = max(largest, shares.share[e])
        dominant[i] = largest
        if largest > 0:
            for j in range(m):
                b[i, j] = 0.0
            for e in range(begin, end):
                b[i, shares.resource[e]] = shares.share[e] / largest
            b[i, m] = 1.0
            b[i, m + 1] = weights[i] / (limits[i] * largest)


@part
def _copy(source: FloatArray, target: FloatArray, n: int) -> None:
    for i in range(n):
        target[i] = source[i]


@part
def _rescue(b: FloatArray, mass: FloatArray, n: int, residual: float, work: Work) -> float:
    """Improve on the present shares, whose residual is given, by all means; return the new residual."""
    share, best = work.share, work.best
    if residual < np.inf:
        # Rounding gathered along the path: solve the final system afresh.
        _copy(share, best, n)
        settled = _settle(b, mass, n, work)
        if settled < residual:
            residual = settled
        else:
            _copy(best, share, n)
    if residual > CERTIFIED:
        residual = _perturbed_paths(b, mass, n, residual, work)
    return residual


@part
def _perturbed_paths(b: FloatArray, mass: FloatArray, n: int, residual: float, work: Work) -> float:
    """Follow paths with perturbed demands, settle with the true ones; improve on the present residual."""
    share, best, noisy = work.share, work.best, work.noisy
    m = b.shape[1] - 2
    _copy(share, best, n)
    seed = np.uint64(1)
    for attempt in range(ATTEMPTS):
        size = (1e-6, 1e-7, 1e-8)[attempt % 3]
        for i in range(n):
            for j in range(m + 2):
                # A linear congruential generator (Knuth's MMIX): the same noise in every call.
                seed = seed * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
                noise = np.float64(seed >> np.uint64(11)) * 2.0**-53
                noisy[i, j] = b[i, j] * (1.0 + size * noise) if j != m else 1.0
        if not follow_cap(noisy, mass, n, work):
            continue
        # Where the true system is singular (a continuum of allocations), directions that it does not
        # determine stay as the perturbed path left them.
        settled = _settle(b, mass, n, work)
        if settled < residual:
            residual = settled
            _copy(share, best, n)
        if residual <= CERTIFIED:
            break
    _copy(best, share, n)
    return residual


@part
def _settle(b: FloatArray, mass: FloatArray, n: int, work: Work) -> float:
    """Solve the system of the present assignment with demands b, from the present levels; the residual.

    Newton's step with complete pivoting, in units of the present levels; undetermined directions are left
    alone.
    """
    load, level, slope, matrix, order = work.load, work.level, work.slope, work.matrix, work.order
    m = b.shape[1] - 2
    for i in range(n):
        work.unit[i] = 1.0 / b[i, work.owner[i]]
    for j in range(m + 2):
        sum_column(b, mass, n, j, work)
    for _ in range(2):  # The second step is iterative refinement.
        size = 0
        for k in range(m):
            if work.members[k] > 0:
                order[size] = k
                size += 1
        for r in range(size):
            k = order[r]
            value = 1.0 - load[k, m + 1]
            for c in range(size):
                matrix[r, c] = load[k, order[c]] * level[order[c]]
                value -= matrix[r, c]
            matrix[r, size] = value
        rank = 0
        while rank < size:
            p, q = rank, rank
            for r in range(rank, size):
                for c in range(rank, size):
                    if abs(matrix[r, c]) > abs(matrix[p, q]):
                        p, q = r, c
            if not abs(matrix[p, q]) > 1e-13:
                break
            for k in range(size + 1):
                matrix[rank, k], matrix[p, k] = matrix[p, k], matrix[rank, k]
            for r in range(size):
                matrix[r, rank], matrix[r, q] = matrix[r, q], matrix[r, rank]
            order[rank], order[q] = order[q], order[rank]
            for r in range(rank + 1, size):
                factor = matrix[r, rank] / matrix[rank, rank]
                for k in range(rank + 1, size + 1):
                    matrix[r, k] -= factor * matrix[rank, k]
            rank += 1
        for c in range(rank - 1, -1, -1):
            value = matrix[c, size]
            for k in range(c + 1, rank):
                value -= matrix[c, k] * slope[k]
            slope[c] = value / matrix[c, c]
        for c in range(rank):
            level[order[c]] *= 1.0 + slope[c]
    for i in range(n):
        work.share[i] = level[work.owner[i]] * work.unit[i]
    return _residual(b, mass, n, work)


@inlined
def _residual(b: FloatArray, mass: FloatArray, n: int, work: Work) -> float:
    """Largest violation of BMF by the dominant shares: that of ``bottleneck_certificate``."""
    share, free, largest = work.share, work.slope, work.heaviest
    m = b.shape[1] - 2
    worst = 0.0
    for k in range(m):
        free[k] = 1.0
        largest[k] = 0.0
    for i in range(n):
        if not (share[i] > 0.0 and share[i] < np.inf):
            return np.inf
        worst = max(worst, share[i] * b[i, m + 1] - 1.0)
        for k in range(m):
            held = share[i] * b[i, k]
            largest[k] = max(largest[k], held)
            free[k] -= mass[i] * held
    for k in range(m):
        worst = max(worst, -free[k])
    for i in range(n):
        violation = abs(1.0 - share[i] * b[i, m + 1])
        for k in range(m):
            if b[i, k] > 0.0 and largest[k] > 0.0:
                violation = min(violation, max(free[k], 1.0 - share[i] * b[i, k] / largest[k]))
        worst = max(worst, violation)
    return worst
