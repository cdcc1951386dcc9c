r"""The rates at which jobs can leave a pool, state by state, exactly: what any policy chooses from.

With x jobs present the tasks :math:`\varphi` of any policy lie in

.. math:: P(x) = \{\varphi \ge 0 : \sum_i \varphi_i a_{ij} \le C_j,\ \varphi_i \le \ell_i x_i\},

and class i leaves at rate :math:`\mu_i\varphi_i`, :math:`\mu_i = 1/\sigma_i`. A linear function of the tasks
is least at a vertex. P(x) depends on x only through :math:`\min(x_i, K_i)`, where :math:`K_i` jobs of class
i alone can use all that there is: 1 without a limit. Such a vector is a *pattern*. Numbers are fractions;
floats are the fractions that they are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from fairness.errors import ModelError
from fairness.exact.corners import corners
from fairness.exact.server_rows import as_fractions
from queueing.certificates.pool import Pool
from queueing.model.system import System

__all__ = ["Departures", "departures"]

MOST_PATTERNS = 4_000
"""Beyond, exact vertices take minutes."""

Rates = tuple[Fraction, ...]


@dataclass(frozen=True)
class Departures:
    """Rates of the classes with arrivals.

    Attributes
    ----------
    classes : tuple of int
        Their indices in the system.
    arrival_rates : tuple of Fraction
    caps : tuple of int
        The K of the classes.
    vertices : dict of tuple of int to list of tuple of Fraction
        By the pattern: departure rates at the vertices of what can run.
    """

    classes: tuple[int, ...]
    arrival_rates: Rates
    caps: tuple[int, ...]
    vertices: dict[tuple[int, ...], list[Rates]]


def departures(system: System) -> Departures:
    """The departures of a pool with Poisson arrivals, exponential sizes and load below 1.

    Raises
    ------
    CertificateError
        If the system is none.
    ModelError
        If limits on the tasks of a job make more than 4,000 patterns.

    Examples
    --------
    >>> from fairness import Problem
    >>> found = departures(System(Problem([[1], [2]], [1]), [Fraction(1, 3)] * 2, [1, Fraction(1, 2)]))
    >>> found.caps, [tuple(map(str, rates)) for rates in found.vertices[1, 1]]
    ((1, 1), [('0', '0'), ('0', '1'), ('1', '0')])
    """
    classes = Pool.of(system).classes.tolist()
    demands, capacities = as_fractions(system.problem)
    rates, sizes = system.as_fractions()
    shares = [
        [a / c if c else Fraction(0) for a, c in zip(demands[i], capacities, strict=True)] for i in classes
    ]
    limits = [system.limits[i] for i in classes]
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
        bounds = [[shares[k][j] for k in present] for j in range(len(capacities))]
        bounds += [
            [1 / (count * Fraction(limits[k])) if k == i else Fraction(0) for k in present]
            for i, (count, cap) in enumerate(zip(pattern, caps, strict=True))
            if 0 < count < cap
        ]
        points = (
            corners([_facet(row) for row in bounds if any(row)], len(present)).points() if present else [()]
        )
        vertices[pattern] = [
            tuple(
                dict(zip(present, point, strict=True)).get(k, Fraction(0)) / sizes[i]
                for k, i in enumerate(classes)
            )
            for point in points
        ]
    return Departures(tuple(classes), tuple(rates[i] for i in classes), caps, vertices)


def _facet(row: list[Fraction]) -> tuple[tuple[int, ...], int]:
    """Row * x <= 1 in whole numbers."""
    common = math.lcm(*(v.denominator for v in row))
    return tuple(int(v * common) for v in row), common
