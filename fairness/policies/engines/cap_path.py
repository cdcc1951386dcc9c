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

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairness.machine.compiling import inlined, part
from fairness.model.problem import FloatArray

__all__ = ["IntArray", "Work", "follow_cap", "sum_column"]

IntArray = NDArray[np.int64]


class Work(NamedTuple):
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


@part
def follow_cap(b: FloatArray, mass: FloatArray, n: int, work: Work) -> bool:
    """Follow the path from cap 0 until nobody follows the cap; False if a tie stops it."""
    owner, active, members, level, slope = work.owner, work.active, work.members, work.level, work.slope
    m = b.shape[1] - 2
    cap, limit = m, m + 1
    n_active, limited = 0, _everybody_at_the_cap(b, mass, n, work)
    for _ in range(200 + 20 * (n + m)):
        step, job, target = _first_event(b, n, n_active, limited, work)
        if target < 0:
            return False
        for r in range(n_active + 1):
            level[active[r]] += step * slope[active[r]]
        for i in range(n):
            work.share[i] = level[owner[i]] * work.unit[i]
        if job < 0:  # An idle resource fills: it becomes active at the level of its largest share.
            level[target] = 0.0
            for i in range(n):
                if work.share[i] * b[i, target] > level[target]:
                    level[target] = work.share[i] * b[i, target]
                    job = i
            active[n_active] = target
            n_active += 1
            active[n_active], active[n_active + 1] = cap, limit
        source = owner[job]
        # Jobs that reach the same border at the same time cross it together.
        edge = level[target] * (1.0 - 1e-12)
        for i in range(n):
            reached = b[i, target] > 0.0 and work.share[i] * b[i, target] >= edge
            if i == job or (owner[i] == source and reached):
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
        if not _line(work, n_active, cap):
            return False
        if idle:
            ahead, size = 0.0, 0.0
            for r in range(n_active + 1):
                ahead += work.load[source, active[r]] * slope[active[r]]
                size += work.load[source, active[r]] * abs(slope[active[r]])
        else:
            ahead = slope[target] / b[job, target] - slope[source] / b[job, source]
            size = abs(slope[target]) / b[job, target] + abs(slope[source]) / b[job, source]
        if not abs(ahead) > 1e-13 * size:
            return False
        if ahead > 0.0:
            for r in range(n_active + 1):
                slope[active[r]] = -slope[active[r]]
    return False


@inlined
def _everybody_at_the_cap(b: FloatArray, mass: FloatArray, n: int, work: Work) -> int:
    """The beginning of the path; 1 if some job has a limit, else 0."""
    m = b.shape[1] - 2
    cap, limit = m, m + 1
    work.active[0], work.active[1] = cap, limit
    for j in range(m + 2):
        work.members[j] = 0
        work.level[j] = work.slope[j] = work.heaviest[j] = 0.0
        for k in range(m):
            work.load[k, j] = 0.0
    work.members[cap] = n
    work.level[limit] = 1.0
    work.slope[cap] = 1.0
    limited = 0
    for i in range(n):
        work.owner[i] = cap
        work.unit[i] = 1.0
        work.share[i] = 0.0
        if b[i, limit] > 0:
            limited = 1
        for k in range(m):
            work.load[k, cap] += mass[i] * b[i, k]
    for k in range(m):
        work.heaviest[cap] += work.load[k, cap]
    return limited


@inlined
def _first_event(b: FloatArray, n: int, n_active: int, limited: int, work: Work) -> tuple[float, int, int]:
    """How far the line goes, the job that changes, or -1, and its next column, or the resource that fills."""
    owner, active, level, slope, load = work.owner, work.active, work.level, work.slope, work.load
    m = b.shape[1] - 2
    step, job, target = np.inf, -1, -1
    for k in range(m):
        if work.members[k] == 0:
            usage, rate, size = load[k, m + 1], 0.0, 0.0
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
        growth = slope[owner[i]] * work.unit[i]
        for r in range(n_active + 1 + limited):
            j = active[r]
            rate = growth * b[i, j] - slope[j]
            if rate > 0.0 and j != owner[i] and b[i, j] > 0.0:
                slack = level[j] - work.share[i] * b[i, j]
                if slack < step * rate and rate > 1e-13 * abs(slope[j]):
                    step = max(0.0, slack) / rate
                    job, target = i, j
    return step, job, target


@inlined
def _reassign(b: FloatArray, mass: FloatArray, n: int, i: int, target: int, work: Work) -> None:
    """Let job i follow column ``target``."""
    load, heaviest = work.load, work.heaviest
    m = b.shape[1] - 2
    source = work.owner[i]
    old = mass[i] * work.unit[i]
    work.owner[i] = target
    work.unit[i] = 1.0 / b[i, target]
    work.members[source] -= 1
    work.members[target] += 1
    new = mass[i] * work.unit[i]
    left, total = 0.0, 0.0
    for k in range(m):
        load[k, source] -= old * b[i, k]
        load[k, target] += new * b[i, k]
        left += load[k, source]
        total += load[k, target]
    heaviest[target] = max(heaviest[target], total)
    # Where most of a column has been subtracted its digits are lost.
    if work.members[source] == 0 or left < 1e-3 * heaviest[source]:
        sum_column(b, mass, n, source, work)


@part
def sum_column(b: FloatArray, mass: FloatArray, n: int, j: int, work: Work) -> None:
    """Compute load[:, j] afresh."""
    load, heaviest = work.load, work.heaviest
    m = b.shape[1] - 2
    for k in range(m):
        load[k, j] = 0.0
    heaviest[j] = 0.0
    for i in range(n):
        if work.owner[i] == j:
            for k in range(m):
                load[k, j] += mass[i] * work.unit[i] * b[i, k]
    for k in range(m):
        heaviest[j] += load[k, j]


@inlined
def _line(work: Work, size: int, cap: int) -> bool:
    """Slopes of the active levels when the cap rises at rate 1; False if the system is singular."""
    load, active, matrix, slope = work.load, work.active, work.matrix, work.slope
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
