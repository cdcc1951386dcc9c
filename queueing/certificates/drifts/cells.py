r"""The drift of any policy whose tasks can be enclosed for many counts at once: cell by cell.

Claimed are scales b, a whole number :math:`p \ge 2` and a spare :math:`\delta > 0` with

.. math:: \sum_i \partial_i T(x) \bigl((1+\delta)\lambda_i - \mu_i\varphi_i(x)\bigr) \le 0, \qquad
   T(x) = \Bigl(\sum_i (b_i x_i)^p\Bigr)^{1/p} .

Nothing is known of where they come from, and nothing has to be: without limits on the tasks of a job
:math:`\varphi(Rx) = \varphi(x)` for every :math:`R > 0`, so this depends on the direction of x alone. As
:math:`\partial_i T` is :math:`b_i (b_i x_i)^{p-1}` times a number that all classes share, the claim is

.. math:: \sum_i b_i (b_i x_i)^{p-1} \bigl((1+\delta)\lambda_i - \mu_i\varphi_i(x)\bigr) \le 0

for all x with :math:`\max_i x_i/e_i = 1`, where e are any numbers > 0: here 1/b, rounded. These are n faces
of a box, and each is cut into *cells*, boxes of counts: in a cell the tasks have lower bounds
(:mod:`queueing.certificates.rates.filling_intervals`), which bound the left side from above, each term at
the end of the cell that makes it largest. Where that does not prove the claim the cell is halved along its
longest side. This ends with a proof if the claim holds with room to spare and the tasks depend on the counts
continuously; where they jump as :math:`x_i \to 0`, the factor :math:`x_i^{p-1}` vanishes. If it does not end,
the claim is refused.

*Limits.* At :math:`x = Ry` the policy gives what it gives at y with limits :math:`R\ell_i`. For all x with
:math:`T(x) \ge T_0` the factor R on :math:`\max_i y_i/e_i = 1` is at least :math:`R_0 = T_0/\|be\|_p`, so the
tasks are enclosed with limits between :math:`R_0\ell_i` and infinity, and the claim is proved for these x.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fairness.arguments.validation import IntArray
from fairness.machine.compiling import first_class, stored
from fairness.machine.work import Task
from fairness.model.problem import FloatArray
from queueing.certificates import intervals
from queueing.certificates.certificate import Drift
from queueing.certificates.errors import CertificateError
from queueing.certificates.intervals import above, below, root_bounds
from queueing.certificates.pool import Pool
from queueing.certificates.rates.filling_intervals import many_tasks

__all__ = ["spare"]

ULP = 2.0**-52
ROUNDS = 12
"""Rounds of bounds in a cell, which is wide: more add little."""
MOST_CELLS = 3_000_000
"""Cells after which a claim is refused; a few microseconds each."""
LARGEST_EXPONENT = 64
PART = 20_000
"""Cells between two looks at the clock."""
HALVINGS = 100
"""Of a side of a cell, at most."""
SMALL = 1e-250
"""Powers below this may be inexact, and count as this much, or nothing."""


def spare(pool: Pool, numbers: FloatArray, drift: Drift, least: float, most_cells: int = MOST_CELLS) -> float:
    """The claim, ``drift.hints["spare"]``, if it is proved for all states with T >= ``least``.

    ``numbers`` are those of :func:`queueing.certificates.rates.levelling.numbers`. The work is that of a
    :class:`~fairness.machine.work.Task`: OutOfTime if a time limit is over.
    """
    claim, p = drift.hints.get("spare"), drift.exponent
    if type(claim) is not float or not 0 < claim < 1e50:
        raise CertificateError("drift", f'hints["spare"] must be a float > 0; got {claim!r}')
    if p != int(p) or not 2 <= p <= LARGEST_EXPONENT:
        raise CertificateError(
            "drift",
            f"cell by cell, the exponent must be a whole number from 2 to {LARGEST_EXPONENT}; got {p!r}",
        )
    scales = np.ascontiguousarray(drift.scales[pool.classes])
    # The norm of the products b e, each within 1 + 2^-52 of 1.
    norm = above(root_bounds(float(pool.n), float(pool.n), p)[1] * (1.0 + 4.0 * ULP))
    factor = max(below(least / norm), 0.0) * (1.0 - 2.0 * ULP)
    n, scaled = pool.n, numbers.copy()
    limits = numbers[:, -2 * n - 1 : -n - 1]
    with np.errstate(over="ignore", invalid="ignore"):
        scaled[:, -2 * n - 1 : -n - 1] = np.where(limits < np.inf, limits * factor, np.inf)
    scaled[:, -n - 1 : -1] = np.where(limits > 0, np.inf, 0.0)
    rates = above(above(1.0 + claim) * pool.arrival_rates)
    cell = np.zeros((2, n))
    bounds = np.zeros((1, n))
    enclose = first_class(many_tasks, scaled, bounds, bounds, bounds, bounds, ROUNDS)
    direction = Direction(scaled, rates, pool.mean_sizes, scales, int(p), 1.0 / scales)
    stack, place = np.empty((HALVINGS * n + 2, 2, n)), np.zeros(3, dtype=np.int64)
    with Task("proof of the drift in all directions, at most", most_cells, "cells") as work:
        while place[0] < n:
            stop = int(place[2]) + PART
            failed, value = _cells(enclose, direction, stop, most_cells, stack, place, cell)
            work.advance(done=float(place[2]))
            if failed:
                break
    if failed:
        where = ", ".join(f"{low:.6g} to {high:.6g}" for low, high in cell.T)
        raise CertificateError(
            "drift",
            f"T is not shown to fall at arrival rates larger by {claim:.6g} in all directions: counts in "
            f"proportions {where} leave {value:.3g} after {place[2]} cells; another exponent, other scales "
            "or a smaller spare may do",
        )
    return claim


class Direction(NamedTuple):
    """What tells whether T falls in a cell of directions."""

    numbers: FloatArray  # of the policy
    arrival_rates: FloatArray  # (n,), with what is to spare
    mean_sizes: FloatArray  # (n,)
    scales: FloatArray  # (n,)
    p: int
    ends: FloatArray  # (n,): the largest counts


@stored(intervals, nogil=True, error_model="numpy")
def _cells(
    enclose: Any,
    direction: Direction,
    stop: int,
    most_cells: int,
    stack: FloatArray,
    place: IntArray,
    cell: FloatArray,
) -> tuple[bool, float]:
    """Look at cells until ``stop`` are done, or all; whether one fails, which is written to ``cell`` (2, n).

    ``enclose`` is :func:`queueing.certificates.rates.filling_intervals.many_tasks` as a first-class function.
    The second number is the bound that this cell leaves. ``place`` is how far the work is, from zeros: the
    face, the cells that wait on the ``stack``, the cells that are done; after the last face it is n.
    """
    numbers, arrival_rates, mean_sizes, scales, p, ends = direction
    n = len(scales)
    lower, upper = np.empty((1, n)), np.empty((1, n))
    # p + 1 roundings of numbers >= 0.
    wide = 1.0 + (2 * p + 4) * ULP
    count = place[2]
    for face in range(place[0], n):
        depth = place[1]
        if depth == 0:
            depth = 1
            for i in range(n):
                stack[0, 0, i] = ends[i] if i == face else 0.0
                stack[0, 1, i] = ends[i]
        while depth > 0:
            if count >= stop:
                place[0], place[1], place[2] = face, depth, count
                return False, 0.0
            depth -= 1
            fewest, most = stack[depth, 0], stack[depth, 1]
            count += 1
            enclose(numbers, stack[depth, :1], stack[depth, 1:], lower, upper, ROUNDS)
            total = 0.0
            for i in range(n):
                drift = above(arrival_rates[i] - below(lower[0, i] / mean_sizes[i]))
                z = scales[i] * (most[i] if drift > 0 else fewest[i])
                power = 1.0
                for _ in range(p - 1):
                    power *= z
                power = max(power, SMALL) * wide if drift > 0 else max(power * (2.0 - wide) - SMALL, 0.0)
                total = above(total + above(above(scales[i] * drift) * power))
            if total <= 0.0:
                continue
            longest, length = 0, -1.0
            for i in range(n):
                if (most[i] - fewest[i]) / ends[i] > length:
                    longest, length = i, (most[i] - fewest[i]) / ends[i]
            middle = 0.5 * (fewest[longest] + most[longest])
            small = length < 2.0**-HALVINGS or not fewest[longest] < middle < most[longest]
            if small or count >= most_cells or depth + 2 > len(stack):
                for i in range(n):
                    cell[0, i], cell[1, i] = fewest[i], most[i]
                place[2] = count
                return True, total
            for i in range(n):
                stack[depth + 1, 0, i], stack[depth + 1, 1, i] = fewest[i], most[i]
            stack[depth + 1, 0, longest] = middle
            stack[depth, 1, longest] = middle
            depth += 2
        place[1] = 0
    place[0], place[2] = n, count
    return False, 0.0
