r"""Following the cap: the path that ends at a bottleneck-max fair (BMF) allocation.

Let :math:`b_{ij} = (a_{ij}/C_j)/\max_k(a_{ik}/C_k)` and :math:`u_i` be the dominant weighted share of a job
of class :math:`i`. Put a common cap :math:`f_0` on all dominant shares: a resource that never saturates, with
:math:`b_{i0} = 1`. The limit of a class is a private resource of fixed level 1, with :math:`1/b_{i\ell}` its
dominant weighted share at the limit. With :math:`f_0` tiny the cap is everybody's bottleneck. Every job
follows its bottleneck,

.. math:: u_i = \min_j f_j/b_{ij}, \qquad \sum_i x_i w_i u_i b_{ij} = 1 \quad (j \in S),

the minimum over the cap, its limit and the set :math:`S` of active resources. While nobody changes bottleneck
this is linear in :math:`f`, so that moving :math:`f_0` moves :math:`f` along a line. Three events end it:

1. a job changes bottleneck;
2. an idle resource fills: it becomes active with its largest share as level, and the job that holds this
   share follows it;
3. a resource loses its last job: it turns idle.

Then the path goes on in the direction that enters the new piece; :math:`f_0` may fall for a while. Where no
two events meet and no system is singular the path cannot return to its start and shares are bounded, so it
ends when nobody follows the cap: at a BMF allocation. One exists for all demands, by a fixed point and not by
the path: statement ``br-bmf-exists`` of :mod:`proofs`. Because the cap is on dominant shares, the allocation
found does not depend on units, nor on how work is cut into tasks, nor, but for ties, on the order of classes
and resources.

**Ties.** Jobs that change between the same two bottlenecks at the same time move together; other ties are
crossed one by one. Should this fail, :mod:`fairness.policies.engines.bottleneck_states` perturbs the demands.

**Cost.** About one event per job, each O(n m) for the search along the line and O(m^3) for the next line.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from fairness.model.problem import FloatArray

__all__ = ["IntArray", "follow_cap", "sum_column"]

IntArray = NDArray[np.int64]


# Without error_model="numpy" a division by zero would raise instead of failing the certificate.
_compiled = numba.njit(nogil=True, error_model="numpy")
# Inlined, the hot functions need not count references to their arguments.
_inlined = numba.njit(nogil=True, error_model="numpy", forceinline=True)


@_compiled
def follow_cap(
    b: FloatArray,
    mass: FloatArray,
    n: int,
    owner: IntArray,
    unit: FloatArray,
    share: FloatArray,
    active: IntArray,
    members: IntArray,
    level: FloatArray,
    slope: FloatArray,
    load: FloatArray,
    heaviest: FloatArray,
    matrix: FloatArray,
) -> bool:
    """Follow the path from cap 0 until nobody follows the cap; False if a tie stops it."""
    m = b.shape[1] - 2
    cap, limit = m, m + 1
    n_active = 0
    active[0], active[1] = cap, limit
    for j in range(m + 2):
        members[j] = 0
        level[j] = 0.0
        slope[j] = 0.0
        heaviest[j] = 0.0
        for k in range(m):
            load[k, j] = 0.0
    members[cap] = n
    level[limit] = 1.0
    slope[cap] = 1.0
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
        job: Any = np.int64(-1)
        target: Any = np.int64(-1)
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
                _reassign(b, mass, n, i, target, owner, unit, members, load, heaviest)
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


@_inlined
def _reassign(
    b: FloatArray,
    mass: FloatArray,
    n: int,
    i: int,
    target: int,
    owner: IntArray,
    unit: FloatArray,
    members: IntArray,
    load: FloatArray,
    heaviest: FloatArray,
) -> None:
    """Let job i follow column ``target``."""
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
        sum_column(b, mass, n, source, owner, unit, load, heaviest)


@_compiled
def sum_column(
    b: FloatArray,
    mass: FloatArray,
    n: int,
    j: int,
    owner: IntArray,
    unit: FloatArray,
    load: FloatArray,
    heaviest: FloatArray,
) -> None:
    """Compute load[:, j] afresh."""
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


@_inlined
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
