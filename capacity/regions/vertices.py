r"""The vertices of a pool's region: counted before they are walked.

The exact walk (:mod:`fairness.exact.pivoting`) takes about a millisecond a vertex, and a region of 30
classes has millions of vertices. So they are counted first, up to the largest number that is allowed: in
floating point, of the polytope :math:`\{x \ge 0: \sum_k s_{jk}x_k \le 1 + \varepsilon_j\}` with loads in
units of the largest of each class and small random :math:`\varepsilon`, so that every vertex belongs to one
basis (a degenerate one counts as several, as in the walk). Breadth first from the origin each basis is
solved anew, so that no rounding builds up. The count refuses, and tells how long the walk will take; the
vertices are those of the walk.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence

import numpy as np

from capacity.regions.inequalities import in_units
from fairness.errors import ModelError
from fairness.exact.double_description import Facet
from fairness.exact.pivoting import Corner, walk
from fairness.machine.work import OutOfTime, Task, stopped

__all__ = ["count_vertices", "walked"]

PERTURBED = 1e-6
"""Largest of the random numbers that make every vertex one basis."""

FEW = 1000
"""Bases, feasible or not, that are not worth a count."""

SMALL = 1e-9
"""Entries of a solved basis below this are 0."""


def count_vertices(facets: Sequence[Facet], most: int) -> int:
    """Number of vertices of the bounded region {x >= 0: normal * x <= offset}, offsets > 0, or ``most`` + 1.

    Examples
    --------
    >>> square = [((1, 0), 2), ((0, 1), 3)]
    >>> count_vertices(square, 100), count_vertices(square, 3), count_vertices([], 100)
    (4, 4, 1)
    """
    if not facets:
        return 1
    shares, _ = in_units(facets)
    m, n = shares.shape
    rows = np.hstack([shares, np.eye(m)])
    # Any random numbers do; a seed makes the count repeatable.
    ends = 1.0 + PERTURBED * np.random.default_rng(0).random(m)
    bits = [1 << k for k in range(n + m)]
    first = sum(bits[n:])
    seen, waiting = {first}, deque([np.arange(n, n + m)])
    while waiting:
        basis = waiting.popleft()
        outside = np.setdiff1d(np.arange(n + m), basis, assume_unique=True)
        solved = np.linalg.solve(rows[:, basis], np.column_stack([rows[:, outside], ends]))
        columns, constants = solved[:, :-1], solved[:, -1:]
        steps = np.divide(constants, columns, out=np.full_like(columns, np.inf), where=columns > SMALL)
        mask = sum(bits[k] for k in basis)
        for entering, leaving in zip(outside.tolist(), steps.argmin(axis=0).tolist(), strict=True):
            neighbour = mask ^ bits[basis[leaving]] ^ bits[entering]
            if neighbour not in seen:
                seen.add(neighbour)
                if len(seen) > most:
                    return most + 1
                waiting.append(np.r_[basis[:leaving], entering, basis[leaving + 1 :]])
    return len(seen)


def walked(facets: Sequence[Facet], max_vertices: int, refusal: str) -> list[Corner]:
    """All bases of the bounded region {x >= 0: normal * x <= offset}, by the exact walk.

    Raises
    ------
    ModelError
        The refusal, if there are more than ``max_vertices``; before the walk.
    NotConvergedError
        If the time is over.
    """
    n = len(facets[0][0]) if facets else 0
    most = math.comb(n + len(facets), n)
    total = most if most <= min(FEW, max_vertices) else count_vertices(facets, max_vertices)
    if total > max_vertices:
        raise ModelError(refusal)
    work = Task(
        "the vertices of the region", total, "vertices", instead="take region_section or region_volume"
    )
    try:
        with work:
            return walk([[*normal, offset] for normal, offset in facets], max_vertices, work.advance)
    except (OutOfTime, KeyboardInterrupt) as stop:
        raise stopped(stop, f"{work.done:.0f} of about {total} vertices are known", None) from None
    except ModelError:
        # The count, of another perturbation, missed a few of those of degenerate vertices.
        raise ModelError(refusal) from None
