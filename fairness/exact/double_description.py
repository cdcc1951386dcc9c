r"""Monotone polytopes from their support function, exactly: the double description method on the polar.

A set :math:`P \subset \mathbb R_+^n` is *monotone* if it contains with x every y, 0 <= y <= x. Sums
of monotone polytopes are monotone. If P has interior, its *antiblocking polar* [1]_

.. math:: B = \{p \ge 0 : p\cdot x \le 1 \text{ for all } x \in P\}

is a monotone polytope too, the polar of B is P, and the facets :math:`p\cdot x \le 1` of P other than
:math:`x_k \ge 0` are vertices of B; a vertex p of B is such a facet if and only if for every k with
:math:`p_k = 0` some point x of P with :math:`p\cdot x = 1` has :math:`x_k > 0`.

*Facets from support values.* Suppose that we can compute :math:`h(p) = \max_{x\in P} p\cdot x` and a vertex
where it is attained. Start with no points at all, :math:`B_0` = the orthant. Take a vertex (or ray) p of the
current :math:`B_k` and ask for h(p): either :math:`h(p) \le 1`, and p is proved to be a vertex of B, or the
new point x cuts p off, and :math:`B_{k+1} = B_k \cap \{p : p\cdot x \le 1\}`. This ends when all vertices
are proved, after at most as many cuts as P has vertices and as many other questions as B has. The cuts are
those of the double description method [2]_ over the integers.

References
----------
.. [1] D. R. Fulkerson, "Blocking and anti-blocking pairs of polyhedra", Mathematical Programming 1, 1971.
   DOI 10.1007/BF01584085.
.. [2] K. Fukuda and A. Prodon, "Double description method revisited", Combinatorics and Computer Science,
   LNCS 1120, 1996. DOI 10.1007/3-540-61576-8_77.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from fairness.errors import ModelError
from fairness.machine.work import OutOfTime, Task, stopped

__all__ = ["Facet", "Point", "enclose"]

Point = tuple[Fraction, ...]
"""A load, or a price vector."""

Facet = tuple[tuple[int, ...], int]
"""Normal and offset without common factor: normal * x <= offset."""

Ray = tuple[int, ...]
"""(p_1, ..., p_n, t) >= 0: the point p/t of the polar, or a direction p if t = 0."""


class _Polar:
    """Extreme rays of the cone over {p >= 0: p * x <= 1 for the points so far}, by double description.

    ``zeros`` are sets of constraints, as bits: bit k < n for p_k = 0, bit n for t = 0, then the points.
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self.points: list[Ray] = []
        unit = [tuple(int(i == k) for i in range(n + 1)) for k in range(n + 1)]
        everything = (1 << (n + 1)) - 1
        self.zeros: dict[Ray, int] = {ray: everything ^ (1 << k) for k, ray in enumerate(unit)}

    def cut(
        self, point: Sequence[Any], most: float = math.inf, look: Callable[[], None] | None = None
    ) -> bool:
        """Intersect with p * point <= t; False, with the cone left open, beyond ``most`` rays.

        ``look`` is called again and again meanwhile.
        """
        common = math.lcm(*(Fraction(v).denominator for v in point))
        row = tuple(int(v * common) for v in point)
        bit = 1 << (self.n + 1 + len(self.points))
        self.points.append((*row, common))
        value = {
            ray: common * ray[-1] - sum(a * b for a, b in zip(row, ray, strict=False)) for ray in self.zeros
        }
        below = [ray for ray in self.zeros if value[ray] < 0]
        above = [ray for ray in self.zeros if value[ray] > 0]
        masks = list(self.zeros.values())
        new: dict[Ray, int] = {}
        kept = len(self.zeros) - len(below)
        for low in below:
            if look is not None:
                look()
            if kept + len(new) > most:
                return False
            for high in above:
                shared = self.zeros[low] & self.zeros[high]
                # [2], proposition 7: adjacent if and only if no third ray lies on all that they share.
                if shared.bit_count() < self.n - 1 or sum((mask & shared) == shared for mask in masks) > 2:
                    continue
                mixed = [value[high] * a - value[low] * b for a, b in zip(low, high, strict=True)]
                divisor = math.gcd(*mixed)
                new[tuple(v // divisor for v in mixed)] = shared | bit
        for ray in self.zeros:
            if value[ray] == 0:
                self.zeros[ray] |= bit
        for ray in below:
            del self.zeros[ray]
        self.zeros |= new
        return len(self.zeros) <= most


def enclose(
    support: Callable[[Sequence[int]], tuple[Fraction, Point]], n: int, max_facets: int
) -> tuple[list[Facet], list[Point]]:
    """Facets of a monotone polytope with interior, other than x_k >= 0, and its maximal vertices, exactly.

    Parameters
    ----------
    support : callable
        Gives for integer prices >= 0, not all 0, the largest value and a vertex where it is attained.
    n : int
        Dimension.
    max_facets : int
        Give up when the polytope around the points found so far has more facets than this, counting those
        of its intersections with coordinate subspaces: the vertices of its polar are all of these.

    Raises
    ------
    ModelError
        If there are more facets.
    NotConvergedError
        If the time is over; ``best`` are the inequalities proved by then, as facets are given: all hold, but
        more may be needed, and some may be no facets. A KeyboardInterrupt has the same ``best``.

    Examples
    --------
    >>> from fairness.exact.minkowski_sum import Body, support_of_sum
    >>> square, corner = Body.around([[1, 1]]), Body.around([[2, 0], [0, 1]])
    >>> facets, points = enclose(lambda prices: support_of_sum([square, corner], prices), 2, 100)
    >>> facets
    [((0, 1), 2), ((1, 0), 3), ((1, 2), 5)]
    """
    polar, proved = _Polar(n), set()
    pending = [ray for ray in polar.zeros if any(ray[:n])]
    # Every ray is compared with pairs of others, so the last ones take most of the time.
    work = Task(
        f"the facets of the region, should it have {max_facets}",
        100.0,
        "per cent",
        instead="reduce max_facets: support, contains, slack, max_scale and boundary work without facets",
    )
    try:
        with work:
            while pending:
                ray = pending.pop()
                if ray not in polar.zeros or ray in proved:
                    continue
                value, point = support(ray[:n])
                work.advance(done=99.0 * min(1.0, len(polar.zeros) / max_facets) ** 3)
                if value <= ray[n]:
                    proved.add(ray)
                    continue
                before = set(polar.zeros)
                if not polar.cut(point, max_facets, lambda: work.advance(0)):
                    raise ModelError(
                        f"the hull of {len(polar.points):,} vertices of the region has more than "
                        f"{max_facets:,} facets, counting those of the regions of fewer classes; merge "
                        "classes or servers, raise max_facets of the region, or take region_section for a "
                        "few classes (support, contains, slack, max_scale and boundary work without facets)"
                    )
                pending += [new for new in polar.zeros if new not in before]
            work.advance(done=100.0)
    except (OutOfTime, KeyboardInterrupt) as stop:
        known = sorted((ray[:n], ray[n]) for ray in proved)
        left = len(polar.zeros) - len(proved)
        told = f"{len(known)} inequalities of the region are proved, {left} are not"
        raise stopped(stop, told, known, left) from None
    facets = sorted((ray[:n], ray[n]) for ray, zeros in polar.zeros.items() if _is_facet(polar, ray, zeros))
    return facets, [tuple(Fraction(v, p[-1]) for v in p[:-1]) for p in polar.points]


def _is_facet(polar: _Polar, ray: Ray, zeros: int) -> bool:
    """Whether the ray is a facet of P: each coordinate without price is > 0 somewhere on it."""
    tight = [p for j, p in enumerate(polar.points) if zeros >> (polar.n + 1 + j) & 1]
    return all(ray[k] > 0 or any(point[k] > 0 for point in tight) for k in range(polar.n))
