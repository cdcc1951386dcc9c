r"""Following the cap: the path that ends at a bottleneck-max fair (BMF) allocation.

Let :math:`b_{ij} = (a_{ij}/C_j)/\max_k(a_{ik}/C_k)` and :math:`u_i` be the dominant weighted share of a job
of class :math:`i`. Put a common cap :math:`f_0` on all dominant shares: a resource that never saturates, with
:math:`b_{i0} = 1`. The limit of a class is a private resource of fixed level 1, with :math:`b_{i\ell} = 1/`
(its dominant share at the limit). With :math:`f_0` tiny the cap is everybody's bottleneck. Every job follows
its bottleneck,

.. math:: u_i = \min_j f_j/b_{ij}, \qquad \sum_i x_i w_i u_i b_{ij} = 1 \quad (j \in S),

the minimum over the cap, its limit and the set :math:`S` of active resources. While nobody changes bottleneck
this is linear in :math:`f`, so that moving :math:`f_0` moves :math:`f` along a line. Three events end it:

1. a job changes bottleneck;
2. an idle resource fills: it becomes active with its largest share as level, and the job that holds this
   share follows it;
3. a resource loses its last job: it turns idle.

Then the path goes on in the direction that enters the new piece; :math:`f_0` may fall for a while. The path
cannot return to its start and shares are bounded, so it ends when nobody follows the cap: at a BMF
allocation (which so is seen to exist). Because the cap is on dominant shares, the allocation found does not
depend on units, nor on how work is cut into tasks, nor, but for ties, on the order of classes and resources.

**Ties.** Jobs that change between the same two bottlenecks at the same time move together; other ties are
crossed one by one. Should this fail (about 1 in 10,000 problems of small integers), the demands are perturbed
by at most 1e-6 with a fixed deterministic noise, the perturbed path is followed, and the linear system of its
final assignment is solved with the true demands. The residual that a kernel reports is always that of the
definition with the true demands.

**Cost.** About one event per job, each O(n m) for the search along the line and O(m^3) for the next line.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from fairness.problem import FloatArray

__all__ = ["ATTEMPTS", "CERTIFIED", "bmf_problems", "bmf_states"]

IntArray = NDArray[np.int64]

CERTIFIED = 1e-10
"""Residual that a kernel accepts: a tenth of what the public certificate allows."""

ATTEMPTS = 24
"""Perturbed paths tried before giving up."""

TINY = 1e-307
"""Tasks below this have lost their digits to underflow."""

# Without error_model="numpy" a division by zero would raise instead of failing the certificate.
_compiled = numba.njit(cache=True, nogil=True, error_model="numpy")


class _Work(NamedTuple):
    """Scratch of one batch. Columns of b, level and load: resources, then the cap, then the limits."""

    owner: IntArray  # column that each job follows
    unit: FloatArray  # dominant share per level of the owner, 1/b
    share: FloatArray  # dominant weighted share of each job
    best: FloatArray  # the best shares of several attempts
    noisy: FloatArray  # perturbed demands
    active: IntArray  # active resources, then the cap, then the limits
    members: IntArray  # jobs per column
    level: FloatArray  # f
    slope: FloatArray  # df along the line
    load: FloatArray  # load[k, j]: usage of resource k per level of column j
    heaviest: FloatArray  # largest column sum of load since it was last computed afresh
    matrix: FloatArray  # linear systems
    order: IntArray  # column exchanges of the elimination


@_compiled
def _workspace(n: int, m: int) -> _Work:
    return _Work(
        np.empty(n, dtype=np.int64),
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty((n, m + 2)),
        np.empty(m + 2, dtype=np.int64),
        np.empty(m + 2, dtype=np.int64),
        np.empty(m + 2),
        np.empty(m + 2),
        np.empty((m, m + 2)),
        np.empty(m + 2),
        np.empty((m, m + 1)),
        np.empty(m, dtype=np.int64),
    )


@_compiled
def bmf_states(
    task_shares: FloatArray,
    limits: FloatArray,
    counts: FloatArray,
    tasks: FloatArray,
    weights: FloatArray,
    residuals: FloatArray,
) -> None:
    """Fill ``tasks`` (n_states, n_classes) and the residual of each state, for one problem."""
    n, m = task_shares.shape
    dominant = np.empty(n)
    shared = np.empty((n, m + 2))
    _normalize(task_shares, limits, weights, dominant, shared)
    packed = np.empty((n, m + 2))
    live = np.empty(n, dtype=np.int64)
    mass = np.empty(n)
    work = _workspace(n, m)
    share = work.share
    for state in range(counts.shape[0]):
        x = counts[state]
        n_live = 0
        for i in range(n):
            tasks[state, i] = 0.0
            if x[i] > 0:
                if dominant[i] > 0:
                    live[n_live] = i
                    mass[n_live] = x[i] * weights[i]
                    n_live += 1
                else:  # A class without demand is bounded by its limit alone.
                    tasks[state, i] = x[i] * limits[i]
        b = shared
        if n_live < n:
            b = packed
            for r in range(n_live):
                b[r] = shared[live[r]]
        residuals[state] = _bottleneck_max(b, mass, n_live, work)
        for r in range(n_live):
            i = live[r]
            tasks[state, i] = min(mass[r] * share[r] / dominant[i], x[i] * limits[i])
            if not tasks[state, i] > TINY:
                residuals[state] = np.inf


@_compiled
def bmf_problems(shares: FloatArray, mass: FloatArray, tasks: FloatArray, residuals: FloatArray) -> None:
    """Fill ``tasks`` (n_problems, n_classes) and the residual of each problem."""
    n, m = shares.shape[1:]
    dominant = np.empty(n)
    b = np.empty((n, m + 2))
    ones = np.ones(n)
    no_limits = np.full(n, np.inf)
    work = _workspace(n, m)
    share = work.share
    for p in range(shares.shape[0]):
        _normalize(shares[p], no_limits, ones, dominant, b)
        residuals[p] = _bottleneck_max(b, mass[p], n, work)
        for i in range(n):
            tasks[p, i] = mass[p, i] * share[i] / dominant[i]
            if not tasks[p, i] > TINY:
                residuals[p] = np.inf


@_compiled
def _normalize(
    task_shares: FloatArray, limits: FloatArray, weights: FloatArray, dominant: FloatArray, b: FloatArray
) -> None:
    """Rows b_i: demand shares over the largest, 1 for the cap, 1/(dominant weighted share at the limit)."""
    n, m = task_shares.shape
    for i in range(n):
        largest = 0.0
        for j in range(m):
            largest = max(largest, task_shares[i, j])
        dominant[i] = largest
        if largest > 0:
            for j in range(m):
                b[i, j] = task_shares[i, j] / largest
            b[i, m] = 1.0
            b[i, m + 1] = weights[i] / (limits[i] * largest)


@_compiled
def _bottleneck_max(b: FloatArray, mass: FloatArray, n: int, work: _Work) -> float:
    """Leave dominant shares of a BMF in ``share`` and return the residual of their certificate."""
    share, best = work.share, work.best
    if n == 0:
        return 0.0
    residual = np.inf
    if _follow_cap(b, mass, n, work):
        residual = _residual(b, mass, n, work)
        if residual > 1e-13:
            # Rounding gathered along the path: solve the final system afresh.
            best[:n] = share[:n]
            settled = _settle(b, mass, n, 1e-13, work)
            if settled < residual:
                residual = settled
            else:
                share[:n] = best[:n]
    if residual <= CERTIFIED:
        return residual
    return _perturbed_paths(b, mass, n, residual, work)


@_compiled
def _perturbed_paths(b: FloatArray, mass: FloatArray, n: int, residual: float, work: _Work) -> float:
    """Follow paths with perturbed demands, settle with the true ones; improve on the present residual."""
    share, best, noisy = work.share, work.best, work.noisy
    m = b.shape[1] - 2
    best[:n] = share[:n]
    seed = np.uint64(1)
    for attempt in range(ATTEMPTS):
        size = 10.0 ** -(6 + attempt % 3)
        for i in range(n):
            for j in range(m + 2):
                # A linear congruential generator (Knuth's MMIX): the same noise in every call.
                seed = seed * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
                noise = np.float64(seed >> np.uint64(11)) * 2.0**-53
                noisy[i, j] = b[i, j] * (1.0 + size * noise) if j != m else 1.0
        if not _follow_cap(noisy, mass, n, work):
            continue
        # The true system of the final assignment may be singular (a continuum of allocations): the second
        # time, directions that it hardly determines stay as the perturbed path left them.
        for threshold in (1e-13, 1e-4):
            settled = _settle(b, mass, n, threshold, work)
            if settled < residual:
                residual = settled
                best[:n] = share[:n]
        if residual <= CERTIFIED:
            break
    share[:n] = best[:n]
    return residual


@_compiled
def _follow_cap(b: FloatArray, mass: FloatArray, n: int, work: _Work) -> bool:
    """Follow the path from cap 0 until nobody follows the cap; False if a tie stops it."""
    owner, unit, share, active, members = work.owner, work.unit, work.share, work.active, work.members
    level, slope, load, heaviest, matrix = work.level, work.slope, work.load, work.heaviest, work.matrix
    m = b.shape[1] - 2
    cap, limit = m, m + 1
    n_active = 0
    active[0], active[1] = cap, limit
    members[:] = 0
    members[cap] = n
    level[:] = 0.0
    level[limit] = 1.0
    slope[:] = 0.0
    slope[cap] = 1.0
    load[:] = 0.0
    heaviest[:] = 0.0
    limited = 0
    for i in range(n):
        owner[i] = cap
        unit[i] = 1.0
        share[i] = 0.0
        if b[i, limit] > 0:
            limited = 1
        for k in range(m):
            load[k, cap] += mass[i] * b[i, k]
    for k in range(m):
        heaviest[cap] += load[k, cap]
    for _ in range(200 + 20 * (n + m)):
        # The first event along the line.
        step = np.inf
        job, target = -1, -1
        for k in range(m):
            if members[k] == 0:
                usage = load[k, limit]
                rate = 0.0
                size = 0.0
                for r in range(n_active + 1):
                    j = active[r]
                    usage += load[k, j] * level[j]
                    rate += load[k, j] * slope[j]
                    size += load[k, j] * abs(slope[j])
                # A duplicate of an active resource stays full but for rounding.
                if rate > 1e-13 * size and 1.0 - usage < step * rate:
                    step = max(0.0, 1.0 - usage) / rate
                    target = k
        for i in range(n):
            growth = slope[owner[i]] * unit[i]
            for r in range(n_active + 1 + limited):
                j = active[r]
                rate = growth * b[i, j] - slope[j]
                if rate > 0.0 and j != owner[i] and b[i, j] > 0.0:
                    slack = level[j] - share[i] * b[i, j]
                    if slack < step * rate and rate > 1e-13 * abs(slope[j]):
                        step = max(0.0, slack) / rate
                        job, target = i, j
        if target < 0:
            return False
        for r in range(n_active + 1):
            level[active[r]] += step * slope[active[r]]
        for i in range(n):
            share[i] = level[owner[i]] * unit[i]
        if job < 0:  # An idle resource fills: it becomes active at the level of its largest share.
            level[target] = 0.0
            for i in range(n):
                if share[i] * b[i, target] > level[target]:
                    level[target] = share[i] * b[i, target]
                    job = i
            active[n_active] = target
            n_active += 1
            active[n_active], active[n_active + 1] = cap, limit
        source = owner[job]
        # Jobs that reach the same border at the same time cross it together.
        edge = level[target] * (1.0 - 1e-12)
        for i in range(n):
            if i == job or (owner[i] == source and b[i, target] > 0.0 and share[i] * b[i, target] >= edge):
                _reassign(b, mass, n, i, target, work)
        if members[cap] == 0:
            return True
        idle = source < m and members[source] == 0
        if idle:
            n_active -= 1
            r = 0
            while active[r] != source:
                r += 1
            active[r] = active[n_active]
            active[n_active], active[n_active + 1] = cap, limit
        # The line through the new piece, in the direction that enters it.
        if not _line(load, active, n_active, cap, matrix, slope):
            return False
        if idle:
            ahead = 0.0
            size = 0.0
            for r in range(n_active + 1):
                ahead += load[source, active[r]] * slope[active[r]]
                size += load[source, active[r]] * abs(slope[active[r]])
        else:
            ahead = slope[target] / b[job, target] - slope[source] / b[job, source]
            size = abs(slope[target]) / b[job, target] + abs(slope[source]) / b[job, source]
        if not abs(ahead) > 1e-13 * size:
            return False
        if ahead > 0.0:
            for r in range(n_active + 1):
                slope[active[r]] = -slope[active[r]]
    return False


@_compiled
def _reassign(b: FloatArray, mass: FloatArray, n: int, i: int, target: int, work: _Work) -> None:
    """Let job i follow column ``target``."""
    owner, unit, members, load, heaviest = work.owner, work.unit, work.members, work.load, work.heaviest
    m = b.shape[1] - 2
    source = owner[i]
    old = mass[i] * unit[i]
    owner[i] = target
    unit[i] = 1.0 / b[i, target]
    members[source] -= 1
    members[target] += 1
    new = mass[i] * unit[i]
    left = 0.0
    total = 0.0
    for k in range(m):
        load[k, source] -= old * b[i, k]
        load[k, target] += new * b[i, k]
        left += load[k, source]
        total += load[k, target]
    heaviest[target] = max(heaviest[target], total)
    # Where most of a column has been subtracted its digits are lost.
    if members[source] == 0 or left < 1e-3 * heaviest[source]:
        _sum_column(b, mass, n, source, work)


@_compiled
def _sum_column(b: FloatArray, mass: FloatArray, n: int, j: int, work: _Work) -> None:
    """Compute load[:, j] afresh."""
    owner, unit, load, heaviest = work.owner, work.unit, work.load, work.heaviest
    m = b.shape[1] - 2
    for k in range(m):
        load[k, j] = 0.0
    heaviest[j] = 0.0
    for i in range(n):
        if owner[i] == j:
            for k in range(m):
                load[k, j] += mass[i] * unit[i] * b[i, k]
    for k in range(m):
        heaviest[j] += load[k, j]


@_compiled
def _line(
    load: FloatArray, active: IntArray, size: int, cap: int, matrix: FloatArray, slope: FloatArray
) -> bool:
    """Slopes of the active levels when the cap rises at rate 1; False if the system is singular."""
    for r in range(size):
        for c in range(size):
            matrix[r, c] = load[active[r], active[c]]
        matrix[r, size] = -load[active[r], cap]
    slope[cap] = 1.0
    for c in range(size):
        pivot = c
        whole = 0.0
        for r in range(size):
            whole = max(whole, load[active[r], active[c]])
            if r > c and abs(matrix[r, c]) > abs(matrix[pivot, c]):
                pivot = r
        if not abs(matrix[pivot, c]) > 1e-13 * whole:
            return False
        if pivot != c:
            for k in range(c, size + 1):
                matrix[c, k], matrix[pivot, k] = matrix[pivot, k], matrix[c, k]
        for r in range(c + 1, size):
            factor = matrix[r, c] / matrix[c, c]
            if factor != 0.0:
                for k in range(c + 1, size + 1):
                    matrix[r, k] -= factor * matrix[c, k]
    for c in range(size - 1, -1, -1):
        value = matrix[c, size]
        for k in range(c + 1, size):
            value -= matrix[c, k] * slope[active[k]]
        slope[active[c]] = value / matrix[c, c]
    return True


@_compiled
def _settle(b: FloatArray, mass: FloatArray, n: int, threshold: float, work: _Work) -> float:
    """Solve the system of the present assignment with demands b, from the present levels; the residual.

    Newton's step with complete pivoting, in units of the present levels; directions with pivots below
    ``threshold`` are left alone.
    """
    owner, unit, share, members, level = work.owner, work.unit, work.share, work.members, work.level
    slope, load, matrix, order = work.slope, work.load, work.matrix, work.order
    m = b.shape[1] - 2
    for i in range(n):
        unit[i] = 1.0 / b[i, owner[i]]
    for j in range(m + 2):
        _sum_column(b, mass, n, j, work)
    for _ in range(2):  # The second step is iterative refinement.
        size = 0
        for k in range(m):
            if members[k] > 0:
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
            if not abs(matrix[p, q]) > threshold:
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
        share[i] = level[owner[i]] * unit[i]
    return _residual(b, mass, n, work)


@_compiled
def _residual(b: FloatArray, mass: FloatArray, n: int, work: _Work) -> float:
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
