r"""Progressive filling of a pool in floats: the kernel of all policies that fill.

Class :math:`i` grows at the rate :math:`r_i`, so that at the common level :math:`y` it runs :math:`r_i y`
tasks and holds the part :math:`g_{ij} y` of resource :math:`j`, where :math:`g_{ij} = a_{ij} r_i`. When a
resource is full, the classes that demand it stop; a class at its limit stops, too; the others go on. The
result is the weighted leximin allocation, so it is Pareto efficient with zero demands too.

Let :math:`z_i` be the level at which class i stops: at first that of its limit, later no more than that of a
full resource that it demands. With

.. math:: F_j(y) = \sum_{z_i \le y} g_{ij} z_i, \qquad \mu_j(y) = \sum_{z_i > y} g_{ij},

resource :math:`j` would be full at the level :math:`(1 - F_j)/\mu_j` if nobody stopped after y. This level
only *rises* with y: whoever stops at z below it leaves
:math:`(1 - F_j - g z)/(\mu_j - g) \ge (1 - F_j)/\mu_j`. So an outdated one is a lower bound of the level at
which the resource is full. These bounds are kept in a heap: nothing is full before the least of them. With
that as y, the column of its resource is summed up anew. If its bound has risen, it goes back into the heap;
else it is full, and all in the column stop who have not. Bounds that are good from the start come from the
same steps for all resources at once, row by row, as long as limits are passed.

A resource that is looked at without being full has lost somebody: these are Newton's steps on its concave,
piecewise linear usage, few however many limits there are. When all have stopped, the resources that are left
do not matter; and nobody is asked what else they demand.

All is summed afresh and nothing subtracted but F from 1, so that no rounding error is left of what was large
before. Whether somebody grows in a column is counted, not read off :math:`\mu_j`; and a bound that rounding
puts below a level that has been reached is taken up to it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairness.arguments.validation import FloatArray, IntArray
from fairness.machine.compiling import helper
from fairness.model.nonzeros import Columns, Nonzeros

__all__ = ["Work", "fill", "sink", "work_for"]

EQUAL = 1e-15
"""Levels that differ by less than this part are equal but for rounding."""


class Work(NamedTuple):
    """Work space of a filling."""

    levels: FloatArray  # (n_classes,): z of the module docstring; 0 for classes that are not there
    held: FloatArray  # (n_resources,): F
    keys: FloatArray  # (n_resources,): a heap of lower bounds of the levels at which resources are full
    items: IntArray  # (n_resources,): and the resource


@helper()
def work_for(n_classes: int, n_resources: int) -> Work:
    """Work space for :func:`fill`, for any number of states."""
    return Work(
        np.empty(n_classes),
        np.empty(n_resources),
        np.empty(n_resources),
        np.empty(n_resources, dtype=np.int64),
    )


@helper(nogil=True)
def sink(keys: FloatArray, items: NDArray[np.integer], k: int, size: int) -> None:
    """Move entry k of a heap of some size down to its place."""
    key, item = keys[k], items[k]
    while True:
        child = 2 * k + 1
        if child >= size:
            break
        if child + 1 < size and keys[child + 1] < keys[child]:
            child += 1
        if keys[child] >= key:
            break
        keys[k], items[k] = keys[child], items[child]
        k = child
    keys[k], items[k] = key, item


@helper(nogil=True, error_model="numpy", forceinline=True)
def _bounds(shares: Nonzeros, rates: FloatArray, caps: FloatArray, work: Work) -> None:
    """Limits, and the heap of bounds; those of resources that nobody fills are infinite.

    All bounds rise at once, as long as the least of them passes limits.
    """
    levels, held, keys, items = work
    for i in range(rates.size):
        levels[i] = caps[i] / rates[i] if rates[i] > 0.0 else 0.0
    known, soonest = 0.0, 0.0
    while soonest <= known < np.inf:
        for j in range(keys.size):
            held[j] = keys[j] = 0.0
        soonest = np.inf
        for i in range(rates.size):
            grows = levels[i] > known
            soonest = min(soonest, levels[i] if grows else np.inf)
            into, tasks = (keys, rates[i]) if grows else (held, caps[i])
            if levels[i] > 0.0:
                for e in range(shares.start[i], shares.start[i + 1]):
                    j, a = shares.resource[e], shares.share[e]
                    into[j] += a * tasks
        least = np.inf
        for j in range(keys.size):
            keys[j] = (1.0 - held[j]) / keys[j] if keys[j] > 0.0 else np.inf
            least = min(least, keys[j])
            items[j] = j
        known = max(known, least)
    for k in range(keys.size // 2 - 1, -1, -1):
        sink(keys, items, k, keys.size)


@helper(nogil=True, error_model="numpy", forceinline=True)
def _revised(columns: Columns, j: int, known: float, rates: FloatArray, levels: FloatArray) -> float:
    """Bound of resource j when nothing is full below the level known: no less, infinite if nobody fills it.

    Who stops at the very level known has not left before it: what is left of the resource without them may be
    nothing but rounding.
    """
    just = known * (1.0 - EQUAL)
    stay, late, early, growing = 0.0, 0.0, 0.0, 0
    for e in range(columns.start[j], columns.start[j + 1]):
        i, a = columns.job_class[e], columns.share[e]
        pace, z = a * rates[i], levels[i]
        growing += a > 0.0 and z > known
        stay += pace if z > known else 0.0
        late += pace if just <= z <= known else 0.0
        early += pace * z if z < just else 0.0
    if growing == 0:
        return np.inf
    if 1.0 - early <= known * (1.0 + EQUAL) * (stay + late):
        return known
    return max(known, (1.0 - (early + late * known)) / stay)


@helper(nogil=True, error_model="numpy", forceinline=True)
def fill(shares: Nonzeros, rates: FloatArray, caps: FloatArray, tasks: FloatArray, work: Work) -> None:
    """Fill ``tasks`` (n_classes,) of the classes that have a rate; those of others stay as they are.

    Parameters
    ----------
    rates : ndarray of shape (n_classes,)
        Tasks of all jobs of the class per level; finite, 0 for a class that is not there.
    caps : ndarray of shape (n_classes,)
        Most tasks of all jobs of the class.
    work : Work
        From :func:`work_for`.
    """
    levels, _, keys, items = work
    columns = shares.columns
    _bounds(shares, rates, caps, work)
    reached, stopped = 0.0, 0
    while stopped < rates.size and keys[0] < np.inf:
        known, j = max(reached, keys[0]), items[0]
        bound = _revised(columns, j, known, rates, levels)
        if bound == known:
            reached, bound = known, np.inf
            for e in range(columns.start[j], columns.start[j + 1]):
                i, a = columns.job_class[e], columns.share[e]
                if a > 0.0:
                    levels[i] = min(levels[i], known)
            # Who has stopped will not grow again: each is passed once.
            while stopped < rates.size and levels[stopped] <= reached:
                stopped += 1
        keys[0] = bound
        sink(keys, items, 0, keys.size)
    for i in range(rates.size):
        if rates[i] > 0.0:
            tasks[i] = rates[i] * levels[i]
            if tasks[i] * (1.0 + EQUAL) >= caps[i]:
                tasks[i] = caps[i]
