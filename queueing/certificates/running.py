r"""What can run in each state of a pool, exactly: what any policy chooses from.

With x jobs present the tasks :math:`\varphi` of any policy lie in

.. math:: P(x) = \{\varphi \ge 0 : \sum_i \varphi_i a_{ij} \le C_j,\ \varphi_i \le \ell_i x_i\} ,

and a linear function of them is least at a vertex. P(x) depends on x only through :math:`\min(x_i, K_i)`,
where :math:`K_i` jobs of class i alone can use all that there is: 1 without a limit. Such a vector is a
*pattern*. Numbers are fractions; floats are the fractions that they are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np

from fairness.arguments.validation import IntArray
from fairness.errors import ModelError
from fairness.exact.corners import corners
from fairness.exact.server_rows import as_fractions
from fairness.model.problem import Problem

__all__ = ["Running", "running"]

MOST_PATTERNS = 4_000
"""Beyond, exact vertices take minutes."""


@dataclass(frozen=True)
class Running:
    """What some classes can run, the others having no jobs.

    Attributes
    ----------
    caps : tuple of int
        The K of the classes.
    limits : tuple of float
        The l, tasks per job; infinite without a limit.
    vertices : dict of tuple of int to list of tuple of Fraction
        By the pattern, patterns rising: tasks at the vertices of P, these rising too.
    """

    caps: tuple[int, ...]
    limits: tuple[float, ...]
    vertices: dict[tuple[int, ...], list[tuple[Fraction, ...]]]

    def patterns_of(self, counts: IntArray) -> IntArray:
        """Number of the pattern of each state, (n_states, n), in the order of the vertices."""
        sides = tuple(cap + 1 for cap in self.caps)
        numbers: IntArray = np.ravel_multi_index(tuple(np.minimum(counts, self.caps).T), sides)
        return numbers


def running(problem: Problem, classes: Sequence[int]) -> Running:
    """What the classes can run; each demands a resource, and none one of capacity 0.

    Raises
    ------
    ModelError
        If limits on the tasks of a job make more than 4,000 patterns.

    Examples
    --------
    >>> found = running(Problem([[1], [2]], [1]), [0, 1])
    >>> found.caps, [tuple(map(str, tasks)) for tasks in found.vertices[1, 1]]
    ((1, 1), [('0', '0'), ('0', '1/2'), ('1', '0')])
    """
    demands, capacities = as_fractions(problem)
    shares = [
        [a / c if c else Fraction(0) for a, c in zip(demands[i], capacities, strict=True)] for i in classes
    ]
    limits = [float(problem.limits[i]) for i in classes]
    caps = tuple(
        1 if math.isinf(limit) else max(1, math.ceil(1 / (max(row) * Fraction(limit))))
        for row, limit in zip(shares, limits, strict=True)
    )
    if (number := math.prod(cap + 1 for cap in caps)) > MOST_PATTERNS:
        raise ModelError.of(
            "limits",
            f"make {number:,} patterns of what can run, more than {MOST_PATTERNS:,}; raise the limits, or "
            "leave them out",
        )
    vertices = {}
    for pattern in product(*(range(cap + 1) for cap in caps)):
        present = [k for k, count in enumerate(pattern) if count]
        rows = [[shares[k][j] for k in present] for j in range(len(capacities))]
        rows += [
            [Fraction(int(k == i)) / (pattern[i] * Fraction(limits[i])) for k in present]
            for i in present
            if pattern[i] < caps[i]
        ]
        facets = []
        for row in filter(any, rows):
            common = math.lcm(*(v.denominator for v in row))
            facets.append((tuple(int(v * common) for v in row), common))
        points = corners(facets, len(present)).points() if present else [()]
        places = [present.index(k) if k in present else None for k in range(len(caps))]
        vertices[pattern] = [tuple(Fraction(0) if p is None else x[p] for p in places) for x in points]
    return Running(caps, tuple(limits), vertices)
