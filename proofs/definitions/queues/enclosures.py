r"""Means of an infinite chain under proportional fairness, enclosed by functions that fractions check.

Two classes with loads :math:`\rho_i` share two resources of capacity 1; jobs have size 1 in the mean, so that
the generator of the counts x is

.. math:: Qg(x) = \sum_i \rho_i\bigl(g(x+e_i) - g(x)\bigr) + \varphi_i(x)\bigl(g(x-e_i) - g(x)\bigr) .

Let :math:`V = \sum_i x_i^2/\rho_i`, :math:`1 + \varepsilon` the factor by which the loads could grow, and K
the largest value of :math:`2 + \sum_i\varphi_i/\rho_i` on the tasks that fit. Under proportional fairness
:math:`\sum_i x_i(\rho_i - \varphi_i)/\rho_i \le -\varepsilon|x|`, because the loads times
:math:`1 + \varepsilon` fit and the objective is concave, so that

.. math:: QV \le K - 2\varepsilon|x| .

The rates are bounded, and so are the steps of :math:`V^{1/2}`, whose drift is negative far out; so
:math:`\exp(\theta V^{1/2})` has a finite mean for a small :math:`\theta > 0`, and :math:`E[Qg] = 0` for every
g that grows no faster than V. If then :math:`f + Qg \le c` in all states, :math:`E[f] \le c`, and likewise
from below.

*Outside a box* let :math:`g = \pm\delta V`, and inside let it be any numbers with :math:`\pm g \le \delta V`
next to the outside. Then :math:`\pm Qg \le \delta QV` outside, and :math:`x_k + \delta QV \le c`, or
:math:`x_k - \delta QV \ge c`, has to hold there. All states with fewer than R jobs are looked at, inside and
outside; for the others, if :math:`2\varepsilon\delta \ge 1`, it is enough that
:math:`R - \delta(2\varepsilon R - K) \le c` and :math:`\delta(2\varepsilon R - K) \ge c`. The numbers inside
come from an elimination in floating point, which nobody has to trust.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import ceil
from operator import mul
from typing import Any

from proofs.definitions.exact import ZERO, Matrix, Row, State, dot, moved, usage
from proofs.definitions.queues.balance import balanced_durations, four_digits, two_class_pf
from proofs.definitions.queues.drifts import capacity_corners
from proofs.definitions.registry import define, define_on_both, fractions
from proofs.errors import ProofError

__all__ = ["pf_enclosure"]

Frozen = tuple[tuple[Fraction, ...], ...]
GRAIN = 2**32
"""Inside the box functions are multiples of 1/GRAIN."""


def pf_enclosure(a: Matrix, rho: Row, box: Sequence[int]) -> list[tuple[Fraction, Fraction]]:
    """Bounds of mean durations over mean sizes under proportional fairness, by a box of counts."""
    return list(_enclosed(tuple(map(tuple, a)), tuple(rho), (int(box[0]), int(box[1]))))


@lru_cache(maxsize=64)
def _enclosed(a: Frozen, rho: tuple[Fraction, ...], box: State) -> tuple[tuple[Fraction, Fraction], ...]:
    shares, loads = [list(row) for row in a], list(rho)
    spare = 1 / max(usage(shares, loads)) - 1
    if spare <= 0 or min(rho) <= 0:
        raise ProofError("all loads are positive, and those of the resources below 1")
    corners = capacity_corners(shares)
    most = 2 + max(sum((t / r for t, r in zip(corner, rho, strict=True)), ZERO) for corner in corners)
    jobs = ceil(most / spare)
    beyond = 2 * spare * jobs - most
    outside = {
        x: _drift_of_squares(shares, loads, x)
        for x in product(range(jobs), range(jobs))
        if sum(x) < jobs and (x[0] >= box[0] or x[1] >= box[1])
    }
    tasks: dict[State, Row] = {x: _tasks(shares, x) for x in product(range(box[0]), range(box[1]))}
    found = _Eliminated(tasks, loads, box)
    bounds = []
    for k in (0, 1):
        ends = []
        for sign in (-1, 1):
            for factor in (2, 4, 8, 16):  # the first that lets the inside decide
                delta = factor / (2 * spare)
                far = [Fraction(jobs) - delta * beyond] if sign > 0 else [delta * beyond]
                far += [x[k] + sign * delta * drift for x, drift in outside.items()]
                worst = max(far) if sign > 0 else min(far)
                if sign * worst <= sign * found.mean(k, sign * float(delta)):
                    break
            inside = found.function(k, sign * float(delta))
            g = {x: round(v * GRAIN) for x, v in inside.items()}
            bound = _bound(g, tasks, loads, box, k, sign, delta)
            ends.append(max(bound, worst) if sign > 0 else min(bound, worst))
        bounds.append((ends[0] / rho[k], ends[1] / rho[k]))
    return tuple(bounds)


def _drift_of_squares(a: Matrix, rho: Row, x: State) -> Fraction:
    """QV."""
    return sum((2 * n + 1 - t / r * (2 * n - 1) for n, t, r in zip(x, _tasks(a, x), rho, strict=True)), ZERO)


def _squares(x: State, loads: Sequence[Any]) -> Any:
    """V."""
    return sum(n * n / r for n, r in zip(x, loads, strict=True))


def _tasks(a: Matrix, x: State) -> Row:
    return two_class_pf(a, x) if any(x) else [ZERO, ZERO]


def _bound(
    g: dict[State, int], tasks: dict[State, Row], rho: Row, box: State, k: int, sign: int, delta: Fraction
) -> Fraction:
    """Largest of f + Qg in the box, for the mean of class k, or with ``sign`` -1 the smallest; in grains."""
    slope, seen = sign * delta * GRAIN, []
    for x, here in g.items():
        rates, steps = [*rho, *tasks[x]], list[Fraction | int]()
        for y in (moved(x, 0, 1), moved(x, 1, 1)):
            steps.append((g[y] if y in g else slope * _squares(y, rho)) - here)
            if y not in g and sign * here > sign * slope * _squares(x, rho):
                raise ProofError(f"inside the box {list(box)} the function is too large at {list(x)}")
        steps += [g[y] - here if y in g else 0 for y in (moved(x, 0, -1), moved(x, 1, -1))]
        seen.append(x[k] * GRAIN + dot(rates, steps))
    return (max(seen) if sign > 0 else min(seen)) / GRAIN


class _Eliminated:
    """Equations -Qg = f - c inside the box, V times a number outside, eliminated down to the empty state.

    g is 0 there: the last equation is one for c. All rows are dominated by their diagonals, the last but one
    too, so that little is lost.
    """

    def __init__(self, tasks: dict[State, Row], rho: Row, box: State) -> None:
        # From the far corner to the empty state, a band of the width of the box.
        self.states = list(tasks)[::-1]
        self.rows: list[list[float]] = []  # the diagonal and what follows
        self.sides: list[list[float]] = [[], [], [], []]  # of both counts, of V outside, and of ones
        width, up = box[1], [float(r) for r in rho]
        for k, x in enumerate(self.states):
            row = [0.0] * (2 * width + 1)
            down = [float(t) for t in tasks[x]]
            row[width] = sum(up) + sum(down)
            side = [float(x[0]), float(x[1]), 0.0, 1.0]
            for i, step in ((0, width), (1, 1)):
                above = moved(x, i, 1)
                if above[i] < box[i]:
                    row[width - step] -= up[i]
                else:
                    side[2] += up[i] * _squares(above, up)
                if x[i]:
                    row[width + step] -= down[i]
            before, factors = max(0, k - width), list[float]()
            for place, earlier in enumerate(self.rows[before:], width - (k - before)):
                factors.append(row[place] / earlier[0])
                if factor := factors[-1]:
                    part = zip(row[place : place + width + 1], earlier, strict=True)
                    row[place : place + width + 1] = [v - factor * p for v, p in part]
            self.rows.append(row[width:])
            for column, v in zip(self.sides, side, strict=True):
                column.append(v - sum(map(mul, factors, column[before:])))

    def function(self, k: int, delta: float) -> dict[State, float]:
        """The function with f + Qg constant inside, 0 at the empty state, and delta V outside."""
        mean = self.mean(k, delta)
        values: list[float] = [0.0]  # from the empty state on
        width = len(self.rows[0]) - 1
        for row, *side in list(zip(self.rows, *self.sides, strict=True))[-2::-1]:
            known = sum(map(mul, row[1:], values[: -width - 1 : -1]))
            values.append((side[k] + delta * side[2] - mean * side[3] - known) / row[0])
        return dict(zip(self.states, values[::-1], strict=True))

    def mean(self, k: int, delta: float) -> float:
        """The constant of that function."""
        last = [side[-1] for side in self.sides]
        return (last[k] + delta * last[2]) / last[3]


@define
def pf_durations(shares: Any, loads: Any, box: Any) -> list[str]:
    """Mean durations over mean sizes under proportional fairness of two classes, rounded to four digits.

    Both ends of the enclosure must round to the same text; otherwise the text says so.
    """
    return [four_digits(low, high) for low, high in pf_enclosure(fractions(shares), fractions(loads), box)]


@define_on_both
def pf_against_balanced(shares: Any, loads: Any, box: Any, total: int) -> dict[str, Any]:
    """Mean durations over mean sizes of PF and of balanced fairness; the property: PF is nowhere longer."""
    pf, balanced = pf_durations(shares, loads, box), balanced_durations(shares, loads, total)
    if any("between" in digits for digits in (*pf, *balanced)):
        raise ProofError("the enclosures are too wide to tell which is longer")
    gaps = [Fraction(ours) - Fraction(theirs) for ours, theirs in zip(pf, balanced, strict=True)]
    longer = [i for i, gap in enumerate(gaps, 1) if gap > 0]
    if not longer and 0 in gaps:
        raise ProofError("the digits are the same, so neither is known to be longer")
    return {"PF": pf, "balanced fairness": balanced, "longer": longer, "holds": not longer}
