r"""How far a ray stays in the region of totals, and which inequality ends it, by the dual simplex method.

The program is to maximise t such that totals :math:`t w` can be placed. With a slack for every row of a
resource and a surplus for every class, its dual values are prices :math:`\lambda \ge 0` of the resources and
multipliers :math:`\mu \ge 0` of the classes: an inequality :math:`\mu \cdot z \le \sum\lambda` that all
totals satisfy, whatever the direction w was. So the last basis remains dual feasible when w changes, and the
dual simplex method goes on from there: a few pivots between neighbouring states, often none.

The tableau reads, row by row: basic variable + columns x nonbasic variables + (classes' columns x w) t =
constant. In one row, the *cut*, t takes the place of the basic variable. It is not solved for t anywhere:
what depends on w is worked out afresh in each step, and a new direction costs nothing.
"""

from __future__ import annotations

import numpy as np

from fairness.arguments.validation import FloatArray, IntArray
from fairness.machine.compiling import helper
from fairness.policies.servers.states.region import Region

__all__ = ["begin", "placed", "prices_of", "reach", "refine", "sizes"]

FEASIBLE = 1e-14
"""A basic variable below 0 by less than this is 0."""

PIVOT = 1e-9
"""Least size of an entry that is divided by."""

TIE = 1e-12
"""Ratios that differ by less are equal; the largest pivot is taken then."""

NOTHING = 1e-13
"""A price below this part of the largest is what rounding leaves of 0."""

MOST = 20
"""Pivots per row after which the ray is given up."""


def sizes(region: Region) -> tuple[int, int]:
    """Rows and columns of the tableau."""
    n = len(region.alone)
    return region.n_rows + n, len(region.part) + n + 2


@helper(nogil=True, error_model="numpy")
def begin(region: Region, n: int, tableau: FloatArray, basic: IntArray, nonbasic: IntArray) -> int:
    """Tableau of the inequality that class n cannot have more than alone on the cluster; the row of the cut.

    Variables are numbered: pairs, slacks of the rows of resources, surpluses of the classes.
    """
    start, _, first, last, use, part, alone, n_rows = region
    n_pairs, n_classes = len(part), len(alone)
    columns = n_pairs + 1
    tableau[:] = 0.0
    for r in range(n_rows + n_classes):
        basic[r] = n_pairs + r
    tableau[:n_rows, columns + n_classes] = 1.0
    for k in range(n_classes):
        tableau[n_rows + k, columns + k] = 1.0
        for q in range(start[k], start[k + 1]):
            nonbasic[q] = q
            tableau[n_rows + k, q] = -part[q]
            for e in range(last[q] - first[q]):
                tableau[first[q] + e, q] = use[q, e]
    cut = n_rows + n
    nonbasic[n_pairs] = n_pairs + cut
    tableau[cut, n_pairs] = 1.0
    basic[cut] = -1
    for q in range(start[n], start[n + 1]):
        full = 0
        for e in range(last[q] - first[q]):
            if use[q, e] > use[q, full]:
                full = e
        _exchange(tableau, basic, nonbasic, first[q] + full, q)
    return cut


@helper(nogil=True, error_model="numpy")
def _exchange(tableau: FloatArray, basic: IntArray, nonbasic: IntArray, r: int, j: int) -> None:
    """Let nonbasic variable of column j become basic in row r."""
    n_rows, n_columns = tableau.shape
    scale = 1.0 / tableau[r, j]
    for c in range(n_columns):
        tableau[r, c] *= scale
    tableau[r, j] = scale
    for i in range(n_rows):
        factor = tableau[i, j]
        if i != r and factor != 0.0:
            tableau[i, j] = 0.0
            for c in range(n_columns):
                tableau[i, c] -= factor * tableau[r, c]
    basic[r], nonbasic[j] = nonbasic[j], basic[r]


@helper(nogil=True, error_model="numpy")
def reach(
    tableau: FloatArray,
    basic: IntArray,
    nonbasic: IntArray,
    cut: int,
    w: FloatArray,
    values: FloatArray,
    work: IntArray,
) -> float:
    """The largest t such that t w can be placed; negative if that is not found.

    Fills ``values`` (n_rows,) of the basic variables at this t; counts pivots in ``work[0]``.
    """
    n_rows, n_columns = tableau.shape
    n = len(w)
    columns = n_columns - n - 1
    for _ in range(MOST * n_rows):
        pace = 0.0
        for k in range(n):
            pace += tableau[cut, columns + k] * w[k]
        if not pace > 0.0:
            return -1.0
        t = tableau[cut, n_columns - 1] / pace
        least, r, skew = -FEASIBLE, -1, 0.0
        for i in range(n_rows):
            slope = 0.0
            for k in range(n):
                slope += tableau[i, columns + k] * w[k]
            values[i] = tableau[i, n_columns - 1] - slope * t
            if values[i] < least and i != cut:
                least, r, skew = values[i], i, slope
        if r < 0:
            return t
        for c in range(n_columns):
            tableau[r, c] -= skew / pace * tableau[cut, c]
        # A column loses t at this rate per unit that the row gains; the least keeps all others from losing.
        best, j = np.inf, -1
        for c in range(columns):
            gain = -tableau[r, c]
            if gain > PIVOT:
                ratio = max(tableau[cut, c], 0.0) / gain
                if ratio < best - TIE or (ratio < best + TIE and gain > -tableau[r, j]):
                    best, j = ratio, c
        if j < 0:
            return -1.0
        _exchange(tableau, basic, nonbasic, r, j)
        work[0] += 1
    return -1.0


@helper(nogil=True, error_model="numpy")
def placed(
    region: Region, basic: IntArray, values: FloatArray, w: FloatArray, held: FloatArray, used: FloatArray
) -> float:
    """Part of w that the basic variables place, counted out afresh: possible whatever the tableau says.

    ``held`` (n_classes,) and ``used`` (n_rows of resources,) are work space.
    """
    _, job_class, first, last, use, part, alone, n_rows = region
    held[:] = 0.0
    used[:] = 0.0
    for i in range(len(basic)):
        q = basic[i]
        if 0 <= q < len(part) and values[i] > 0.0:
            held[job_class[q]] += part[q] * values[i]
            for e in range(last[q] - first[q]):
                used[first[q] + e] += use[q, e] * values[i]
    whole = np.inf
    for k in range(len(alone)):
        if w[k] > 0.0:
            whole = min(whole, held[k] / w[k])
    over = 1.0
    for r in range(n_rows):
        over = max(over, used[r])
    return whole / over


@helper(nogil=True, error_model="numpy")
def refine(
    region: Region,
    tableau: FloatArray,
    basic: IntArray,
    nonbasic: IntArray,
    cut: int,
    w: FloatArray,
    values: FloatArray,
) -> None:
    """One step of iterative refinement of the basic variables."""
    _, job_class, first, last, use, part, alone, n_rows = region
    n_pairs, n = len(part), len(alone)
    columns = n_pairs + 1
    lack = np.zeros(n_rows + n)  # what each equation lacks
    lack[:n_rows] = 1.0
    for k in range(n):
        lack[n_rows + k] = -w[k] * values[cut]
    for i in range(len(basic)):
        q = basic[i]
        if q >= n_pairs:
            lack[q - n_pairs] -= values[i]
        elif q >= 0:
            lack[n_rows + job_class[q]] += part[q] * values[i]
            for e in range(last[q] - first[q]):
                lack[first[q] + e] -= use[q, e] * values[i]
    # The inverse of the basis, but for t, is in the columns of the classes and of the slacks.
    change, slope = np.zeros(len(basic)), np.zeros(len(basic))
    for i in range(len(basic)):
        if n_pairs <= basic[i] < n_pairs + n_rows:
            change[i] = lack[basic[i] - n_pairs]
        for k in range(n):
            change[i] += tableau[i, columns + k] * lack[n_rows + k]
            slope[i] += tableau[i, columns + k] * w[k]
        for c in range(columns):
            if n_pairs <= nonbasic[c] < n_pairs + n_rows:
                change[i] += tableau[i, c] * lack[nonbasic[c] - n_pairs]
    rise = change[cut] / slope[cut]
    for i in range(len(basic)):
        values[i] += rise if i == cut else change[i] - slope[i] * rise


@helper(nogil=True, error_model="numpy")
def prices_of(
    region: Region, tableau: FloatArray, nonbasic: IntArray, cut: int, prices: FloatArray, row: FloatArray
) -> None:
    """The inequality of the cut as ``row`` (n_classes,) of ``row . z <= 1``, valid whatever the tableau says.

    Of the tableau only the prices (n_rows of resources,) are taken, as far as they are no rounding errors.
    """
    start, _, first, last, use, part, alone, n_rows = region
    prices[:] = 0.0
    largest = 0.0
    for c in range(len(nonbasic)):
        r = nonbasic[c] - len(part)
        if 0 <= r < n_rows:
            prices[r] = max(tableau[cut, c], 0.0)
            largest = max(largest, prices[r])
    total = 0.0
    for r in range(n_rows):
        prices[r] = 0.0 if prices[r] < NOTHING * largest else prices[r]
        total += prices[r]
    for k in range(len(alone)):
        row[k] = np.inf
        for q in range(start[k], start[k + 1]):
            cost = 0.0
            for e in range(last[q] - first[q]):
                cost += prices[first[q] + e] * use[q, e]
            row[k] = min(row[k], cost / (part[q] * total))
