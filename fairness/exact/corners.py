r"""Vertices and volume of polytopes :math:`\{x\ge0: Ax\le b\}`, b > 0: found in floats, proved exactly.

A *basis* is a set of n of the constraints :math:`x_k\ge 0`, :math:`a_j x\le b_j` with independent normals. It
is *feasible* if the point where they are tight lies in the polytope, which then is a vertex.

*Found.* With loads in units such that all entries of A lie between 0 and 1 and all b are 1, b is replaced by
:math:`b^t_j=1+t\varepsilon_j`, t = 1, with small random :math:`\varepsilon`, so that at every vertex only n
constraints are tight. From the origin all bases are walked along the edges, breadth first, a level at a time.

*Proved at t = 1.* Of a basis with matrix M and float inverse R, :math:`\|I-RM\|_\infty\le\alpha<1` proves
that M is regular, and the true vertex is within :math:`\|R\|_\infty\|b-M\tilde x\|_\infty/(1-\alpha)` of the
computed :math:`\tilde x` [1]_, where all roundings are counted. If the other constraints have more room, the
vertex is feasible and simple. Each of its n edges ends in another basis of the list, which has all its
constraints but one. So the list is closed under adjacency; as the graph of a polytope is connected, it is
complete.

*Proved at t = 0.* The bases are solved exactly by integers, which are checked where floats leave a constraint
in doubt. If all bases are feasible, by linearity they are so at every t between, where the argument above
holds as well; so their points are all vertices of the polytope for t > 0 and, vertices and polytope being
continuous in b, for t = 0: degenerate vertices have several bases. If a proof fails, the bases are those of
the exact walk (:func:`fairness.exact.pivoting.walk`).

*Volume* [2]_. For a generic objective c with reduced costs :math:`\gamma=cM^{-1}`, all not 0, and
:math:`z=cx`,

.. math:: \operatorname{vol} = \sum_{\text{bases}} \frac{z^n}{n!\;|\det M| \prod_k \gamma_k} ,

for t > 0, and so for t = 0. It cancels badly in floating point and not at all over the rationals.

References
----------
.. [1] S. M. Rump, "Verification methods: rigorous results using floating-point arithmetic", Acta Numerica 19,
   2010, theorem 10.2. DOI 10.1017/S096249291000005X.
.. [2] J. Lawrence, "Polytope volume computation", Mathematics of Computation 57, 1991.
   DOI 10.1090/S0025-5718-1991-1079024-2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairness.arguments.validation import FloatArray, IntArray, frozen
from fairness.errors import ModelError
from fairness.exact.double_description import Facet, Point
from fairness.exact.pivoting import walk

__all__ = ["Corners", "corners", "rounded_vertices"]

Whole = NDArray[Any]
"""Integers: of 64 bits where everything that is computed with them fits, otherwise Python's."""

PERTURBED = 1e-6
"""Largest of the random numbers that make every vertex one basis."""

SMALL = 1e-9
"""A constraint that a step along an edge approaches more slowly than this does not end it."""

FEW = 20
"""Sets of n constraints that are walked exactly in less time than arrays of floats are made."""

LONGEST = 2.0**53
"""Integers below this are floats."""

TINY = 1e-290
"""Shares below this have lost digits."""

ZERO, DIGITS = 1e-12, 11
"""Loads below this are 0, and loads that agree in so many digits are ordered as if they were equal."""

OBJECTIVE = 1000
"""Entries of the objectives are below this."""

PIECE = 1000
"""Bases that are solved at once."""


@cache
def _moved(n_facets: int) -> FloatArray:
    """Offsets at t = 1. Any random numbers do; a seed makes the bases repeatable."""
    return frozen(1.0 + PERTURBED * np.random.default_rng(0).random(n_facets))


class _Bases:
    """Bases in units as above: constraints ``tight``, (n_bases, n), and inverses R, (n_bases, n, n).

    Constraints are rows * x <= ends, (n + m, n) and, at t = 0 and 1, (n + m, 2); the first n are -x_k <= 0.
    """

    def __init__(self, facets: Sequence[Facet], n: int) -> None:
        self.facets = facets
        shares = np.array([[v / offset for v in normal] for normal, offset in facets]).reshape(len(facets), n)
        # Units that are powers of 2 add no rounding.
        self.units = np.exp2(np.ceil(np.log2(shares.max(axis=0, initial=0.0))))
        self.rows = np.vstack([-np.eye(n), shares / self.units])
        self.ends = np.zeros((n + len(facets), 2))
        self.ends[n:, 0], self.ends[n:, 1] = 1.0, _moved(len(facets))

    def walk(self, most: float, look: Callable[..., None] | None) -> bool:
        """Find all bases at t = 1; False if an edge does not end."""
        width, n = self.rows.shape
        bits = np.array([1 << k for k in range(width)], dtype=np.int64 if width < 63 else object)
        # How fast the slack of each constraint falls when another is left: -(rows R), whose first rows are R.
        tight, slack, rates = np.arange(n)[None], self.ends[None, :, 1], self.rows[None]
        keys = np.array([(1 << n) - 1], dtype=bits.dtype)
        seen, levels = set(keys.tolist()), []
        while len(keys):
            steps = np.full(rates.shape, np.inf)
            np.divide(slack[:, :, None], rates, out=steps, where=rates > SMALL)
            entering = steps.argmin(axis=1)
            levels.append((tight, rates[:, :n].copy(), entering))
            neighbours = (keys[:, None] ^ bits[tight] ^ bits[entering]).ravel().tolist()
            fresh = {key: place for place, key in enumerate(neighbours) if key not in seen}
            seen.update(fresh)
            if len(seen) > most:
                raise ModelError(f"there are more than {most:,} vertices")
            if look is not None:
                look(0, total=len(seen))
            edges = np.fromiter(fresh.values(), dtype=np.int64, count=len(fresh))
            basis, left = np.divmod(edges, n)
            each, enters = np.arange(len(edges)), entering[basis, left]
            step = steps[basis, enters, left]
            if not step.max(initial=0.0) < np.inf:
                return False
            keys, tight, rates = np.array(list(fresh), dtype=bits.dtype), tight[basis], rates[basis]
            along = rates[each, :, left]
            slack = slack[basis] - step[:, None] * along
            slack[each, enters] = 0.0
            ratios = rates[each, enters] / along[each, enters, None]
            ratios[each, left] = 1.0 + 1.0 / along[each, enters]
            rates -= along[:, :, None] * ratios[:, None]
            tight[each, left] = enters
        self.tight, self.inverses, ended = (np.concatenate(part) for part in zip(*levels, strict=True))
        # The argument of the least infinite step is constraint 0: not all is fresh, should that be what left.
        return bool((ended != self.tight).all())

    @property
    def proved(self) -> bool:
        """Whether these are surely all bases at t = 1."""
        return bool((self.judged[2][:, :, 1] > 0).all())

    @cached_property
    def judged(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Points at t = 0, how wrong they may be, and what other slacks are at least at t = 0 and at t = 1.

        Shapes (n_bases, n), (n_bases,), (n_bases, n + m, 2). Errors are infinite if bases may be none.
        """
        parts = zip(*map(self._judged, _pieces(len(self.tight))), strict=True)
        points, errors, slack = (np.concatenate(part) for part in parts)
        return points, errors, slack

    def _judged(self, piece: slice) -> tuple[FloatArray, FloatArray, FloatArray]:
        tight, inverses, n = self.tight[piece], self.inverses[piece], self.rows.shape[1]
        # Far more than the roundings of the entries of a row and of a sum of n products with a number <= 1.
        rounding = 2.0 * (n + 4) * n * float(np.finfo(float).eps)
        matrices, right = self.rows[tight], self.ends[tight]
        norms = np.abs(inverses).sum(axis=2).max(axis=1)
        alpha = np.abs(np.eye(n) - inverses @ matrices).sum(axis=2).max(axis=1) + rounding * norms
        points = inverses @ right
        around = rounding * (1.0 + np.abs(points).max(axis=1))
        residuals = np.abs(right - matrices @ points).max(axis=1) + around
        # 1 / (1 - alpha) < 2, with room for the roundings here.
        errors = np.where(alpha < 0.25, 2.0 * norms, np.inf)[:, None] * residuals
        slack = self.ends - self.rows @ points - (n * errors + around)[:, None]
        slack[np.arange(len(tight))[:, None], tight] = np.inf
        return points[:, :, 0], errors[:, 0], slack

    def correction(self, points: FloatArray) -> FloatArray:
        """Newton's step for points at t = 0, from residuals in longer floats."""
        normals, offsets = (np.array(part, dtype=np.longdouble) for part in zip(*self.facets, strict=True))
        rows = np.vstack([-np.eye(len(self.units)), normals / offsets[:, None] / self.units])
        steps = []
        for piece in _pieces(len(points)):
            tight = self.tight[piece]
            left = self.ends[tight][:, :, :1] - rows[tight] @ points[piece, :, None]
            steps.append(self.inverses[piece] @ left.astype(float))
        return np.concatenate(steps)[:, :, 0]


def _pieces(n_bases: int) -> list[slice]:
    return [slice(start, start + PIECE) for start in range(0, n_bases, PIECE)]


def _found(facets: Sequence[Facet], n: int, most: float, look: Callable[..., None] | None) -> _Bases | None:
    """The bases, not yet proved; None if floats cannot tell."""
    if n == 0:
        return None
    with np.errstate(all="ignore"):
        try:
            bases = _Bases(facets, n)
        except OverflowError:
            return None
        return bases if bases.units.min() > TINY and bases.walk(most, look) else None


def rounded_vertices(
    facets: Sequence[Facet],
    n: int,
    most: float,
    tolerance: float,
    look: Callable[..., None] | None = None,
) -> FloatArray | None:
    """Vertices in floats, a degenerate one as often as it has bases, in increasing order; None if not proved.

    They are those of a polytope whose offsets are larger by less than ``tolerance``, relatively: the proof is
    that at t = 0, but slacks need only be > 0 from some small t on. Loads may be wrong by ``tolerance`` times
    the largest of their class; as a rule they are rounded correctly.
    """
    bases = _found(facets, n, most, look)
    if bases is None or not bases.proved:
        return None
    points, errors, slack = bases.judged
    below, moved = np.maximum(-slack[:, :, 0], 0.0), slack[:, :, 1]
    if errors.max() > tolerance or (below * PERTURBED > tolerance * (below + moved)).any():
        return None
    points = points + bases.correction(points)
    # What rounding left of a 0, in units of the largest load of each class.
    points[points < ZERO] = 0.0
    if look is not None:
        look(len(points))
    order = np.lexsort(np.round(points, DIGITS).T[::-1])
    return points[order] / bases.units


@dataclass(frozen=True)
class Corners:
    """All vertices of a polytope, by bases that are proved to be all for small t > 0.

    Attributes
    ----------
    rows, ends : ndarrays of ints, shapes (n + m, n) and (n + m,)
        The constraints rows * x <= ends; the first n are -x_k <= 0.
    tight : ndarray of shape (n_bases, n)
        Constraints of the bases.
    numerators, denominators : ndarrays of ints, shapes (n_bases, n) and (n_bases,)
        Their points.
    """

    rows: Whole
    ends: Whole
    tight: IntArray
    numerators: Whole
    denominators: Whole

    @classmethod
    def of(cls, facets: Sequence[Facet], tight: IntArray, look: Callable[..., None] | None = None) -> Corners:
        """Solve bases; constraint k < n is x_k >= 0, then come the facets."""
        n = tight.shape[1]
        most = max((max(*normal, offset) for normal, offset in facets), default=0)
        kind = np.int64 if most < LONGEST else object
        normals = np.array([normal for normal, _ in facets], dtype=kind).reshape(len(facets), n)
        rows = np.vstack([-np.eye(n, dtype=np.int64), normals])
        ends = np.array([0] * n + [offset for _, offset in facets], dtype=kind)
        solved = []
        for piece in _pieces(len(tight)):
            solved.append(_solved(rows[tight[piece]], ends[tight[piece]], max(most, 1)))
            if look is not None:
                look(len(solved[-1][1]))
        return cls(rows, ends, tight, *(np.concatenate(part) for part in zip(*solved, strict=True)))

    def feasible(self, doubtful: NDArray[np.bool_]) -> bool:
        """Whether all bases meet the constraints that are in doubt, (n_bases, n + m)."""
        basis, row = np.nonzero(doubtful)
        used = (self.numerators[basis] * self.rows[row]).sum(axis=1)
        return bool((used <= self.denominators[basis] * self.ends[row]).all())

    def points(self) -> list[Point]:
        """The vertices, in increasing order."""
        rows = np.column_stack([self.numerators, self.denominators])
        rows //= np.gcd.reduce(rows, axis=1)[:, None]
        distinct = set(map(tuple, rows.tolist()))
        # Different fractions with denominators up to d are 1/d^2 apart: so many bits tell them apart.
        bits = 2 * max(row[-1] for row in distinct).bit_length()
        ordered = sorted(distinct, key=lambda row: [(v << bits) // row[-1] for v in row])
        nothing = Fraction(0)
        return [tuple([Fraction(v, below) if v else nothing for v in row]) for *row, below in ordered]

    def volume(self, rounded: bool = False) -> Fraction:
        """Volume: exactly, or to a relative error of 2^-64, as sums of long fractions get very long."""
        n = self.tight.shape[1]
        # The next objective is taken if this one makes a reduced cost vanish.
        for seed in range(100):
            objective = np.random.default_rng(seed).integers(1, OBJECTIVE, size=(n,))
            terms = self._terms(objective)
            if all(bottom for _, bottom in terms):
                break
        else:
            raise AssertionError("no generic objective in 100 draws")
        if rounded:
            # The region contains the simplex of the largest loads, of volume their product over n!.
            below = self.denominators.tolist()
            tops = [max(map(Fraction, values, below)) for values in self.numerators.T.tolist()]
            size = sum(math.log2(top.numerator) - math.log2(top.denominator) for top in tops)
            bits = max(0, 64 + len(terms).bit_length() - math.floor(size))
            total = Fraction(sum((top << bits) // bottom for top, bottom in terms), 1 << bits)
        else:
            total = sum((Fraction(top, bottom) for top, bottom in terms), start=Fraction(0))
        return total / math.factorial(n)

    def _terms(self, objective: IntArray) -> list[tuple[int, int]]:
        """Lawrence's terms times n!, as numerators and denominators."""
        tops, bottoms = [], []
        for piece in _pieces(len(self.tight)):
            matrices = np.swapaxes(self.rows[self.tight[piece]], 1, 2).astype(object)
            costs, dets = _eliminated(matrices, np.broadcast_to(objective, matrices.shape[:2]))
            # The dual solution has the same value.
            heights = (costs * self.ends[self.tight[piece]]).sum(axis=1)
            tops += (heights ** len(objective)).tolist()
            bottoms += (dets * costs.prod(axis=1)).tolist()
        return list(zip(tops, bottoms, strict=True))


def _solved(matrices: Whole, right: Whole, most: int) -> tuple[Whole, Whole]:
    """Solutions of a batch of regular systems, as numerators (..., n) and denominators (...,), > 0.

    No number is larger than ``most``; sums of products of the results with such numbers do not overflow.
    """
    if matrices.dtype != object:
        floats = matrices.astype(float)
        with np.errstate(all="ignore"), suppress(np.linalg.LinAlgError):
            below = np.rint(np.abs(np.linalg.det(floats)))
            points = np.linalg.solve(floats, right[:, :, None].astype(float))[:, :, 0]
            above = np.rint(points * below[:, None])
            if ((np.abs(above).sum(axis=1) + below) * float(most) < LONGEST).all():
                # Whatever the roundings were: integers that solve the system, determinants or not.
                numerators, denominators = above.astype(np.int64), below.astype(np.int64)
                left = (matrices @ numerators[:, :, None])[:, :, 0]
                if (denominators > 0).all() and (left == denominators[:, None] * right).all():
                    return numerators, denominators
    return _eliminated(matrices, right)


def _eliminated(matrices: Whole, right: Whole) -> tuple[Whole, Whole]:
    """The same, where denominators are determinants up to sign: by elimination without fractions.

    All entries are minors of the system, so the divisions leave no remainder (Bareiss).
    """
    table = np.concatenate([matrices, right[:, :, None]], axis=2).astype(object)
    each, done, previous = np.arange(len(table)), [], np.ones(len(table), dtype=object)
    while table.shape[1]:
        pivots = (table[:, :, 0] != 0).argmax(axis=1)
        row = table[each, pivots]
        table[each, pivots] = table[:, 0]
        done.append(row)
        head, rest = row[:, :1, None], table[:, 1:]
        table = (rest[:, :, 1:] * head - rest[:, :, :1] * row[:, None, 1:]) // previous[:, None, None]
        previous = row[:, 0]
    numerators: list[Whole] = []
    for row in reversed(done):
        total = previous * row[:, -1]
        for entry, value in zip(row[:, 1:-1].T, reversed(numerators), strict=True):
            total = total - entry * value
        numerators.append(total // row[:, 0])
    signs = np.where(previous > 0, 1, -1)
    solution = np.array(numerators[::-1], dtype=object).reshape(len(done), len(each)) * signs
    return solution.T, previous * signs


def corners(
    facets: Sequence[Facet], n: int, most: float = math.inf, look: Callable[..., None] | None = None
) -> Corners:
    """All vertices of the bounded polytope {x >= 0: normal * x <= offset}, offsets > 0, in n dimensions.

    ``look`` is called again and again with the number of bases that are solved, and ``total`` while they are
    counted.

    Raises
    ------
    ModelError
        If there are more bases than ``most``.

    Examples
    --------
    >>> triangle = corners([((1, 1), 2), ((1, 0), 2)], 2)
    >>> [tuple(map(str, point)) for point in triangle.points()], triangle.volume()
    ([('0', '0'), ('0', '2'), ('2', '0')], Fraction(2, 1))
    """
    few = math.comb(n + len(facets), n) <= min(FEW, most)
    bases = None if few else _found(facets, n, most, look)
    if bases is not None and bases.proved:
        found = Corners.of(facets, bases.tight, look)
        if found.feasible(~(bases.judged[2][:, :, 0] > 0)):
            return found
    rows = [[*normal, offset] for normal, offset in facets]
    return Corners.of(facets, walk(rows, n, most, look))
