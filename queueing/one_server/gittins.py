r"""Mean duration of a job of given size in the M/G/1 queue under the Gittins index policy.

Sizes are unknown, their law is known. A job of age a (attained service) has the rank

.. math:: r(a) = \inf_{b > a} \frac{C(b) - C(a)}{F(b) - F(a)}, \qquad F(a) = P(S \le a), \quad
          C(a) = E[\min(S, a)],

work to be expected per job that it completes, up to the best age b to stop at; the least rank is
served, of equal ranks the least age, of equal ages who came first. No policy that does not know sizes has a
smaller mean duration [1]_, [2]_.

*Ranks in one picture.* Draw F against C. Then 1/r(a) is the steepest slope from the point of age a to any
later one, the first side of the concave hull of what comes after it. Those from age 0 on, the hull of all,
are the records: the largest rank before age s is 1/slope of the hull where it passes s. Where the
hull is the curve itself (the hazard rate falls) a job of rank r is served as under ``las``; a side from
b to c with the curve below it (the hazard rate rises) is served to its end as under ``fcfs``. And for any r,
with :math:`\varphi(a) = C(a) - rF(a)`, ages of rank > r are those where :math:`\varphi` stays above its value
for ever after. So ages of rank at most r come in intervals that begin where :math:`\varphi` crosses upwards
its later minimum, and end in that.

*Formula* (SOAP [3]_). Let s lie on the side from b to c, of rank r, and let the later intervals of rank
below r be :math:`[b_k, c_k)`, in which a job is served for :math:`X_k`. Then

.. math:: E[T(s)] = \frac{\lambda}{2}
          \frac{E[\min(S,c)^2] + \sum_k E[X_k^2]}{(1-\lambda C(b))(1-\lambda C(c))}
          + \int_0^s \frac{da}{1 - \lambda C(y_s(a))},

:math:`y_s(a)` being the first age whose rank is at least the largest one in :math:`[a, s)`; up to b it is b.

Ages stand on a grid: that of the sizes, or atoms, each with the age just before it, and ages between them.
What is between two ages is a straight line of F over C, which for atoms is no approximation.

References
----------
.. [1] J. C. Gittins, "Multi-armed Bandit Allocation Indices", Wiley, 1989.
.. [2] S. Aalto, U. Ayesta and R. Righter, "On the Gittins index in the M/G/1 queue", Queueing Systems 63,
   2009. DOI 10.1007/s11134-009-9141-x.
.. [3] Z. Scully, M. Harchol-Balter and A. Scheller-Wolf, "SOAP: one clean analysis of all age-based
   scheduling policies", Proc. ACM Meas. Anal. Comput. Syst. 2(1), 2018. DOI 10.1145/3179419.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fairness.arguments.validation import IntArray
from fairness.model.problem import FloatArray
from queueing.one_server.size_table import SizeTable

__all__ = ["gittins"]

STRAIGHT = 1e-7
"""Relative difference of ranks that are equal, as in the tail of a mixture of exponentials."""
ROUNDING = 2.0**-49
"""Relative, of probabilities and of means: exponential sizes have one hazard rate up to that."""
CLOSE = 1e-6
"""Relative difference of two ranks between which nothing changes, and of two durations."""
MOST_JUMPS = 16
"""Long sides, those with the most probability, whose ends are looked for more closely."""
RARE = 1e-4
"""Probability of ends of sides that are not looked for."""
NEAR = 1e-5
"""Part of an age up to which they are."""
LEVEL = 1e-13
"""Part of the mean size that is rounding."""


class Ages:
    """What is known at ages, from 0 to the largest size.

    Attributes
    ----------
    ages, alive : ndarray of shape (n,)
        Ages, those of atoms twice, and P(S > a), the first time P(S >= a).
    left, squares : ndarray of shape (n,)
        E[(S - a)+] and E[((S - a)+)^2].
    used, cut : ndarray of shape (n,)
        E[min(S, a)], which is C, and E[min(S, a)^2].
    done : ndarray of int, one per size of the table
        Where its job ends.
    """

    def __init__(self, table: SizeTable, points: int) -> None:
        s = table.sizes
        if table.chances is not None:
            between = max(1, points // len(s))
            gaps = np.linspace(np.append(0.0, s[:-1]), s, between + 1, axis=1)
            # In the gap below an atom all are there that are at least as large; behind the last is nobody.
            above = np.repeat(table.at_least, between + 1, axis=1)
            self.ages = np.append(gaps.ravel(), s[-1])
            above = np.append(above, np.zeros((3, 1)), axis=1)
            gone = np.repeat(np.append(np.zeros((3, 1)), table.upto, axis=1), between + 1, axis=1)
            gone = gone[:, : len(self.ages)]
            self.done: IntArray = np.arange(1, len(s) + 1) * (between + 1) - 1
        else:
            self.ages = np.append(0.0, s)
            above = np.append(table.moments[:, None], table.above, axis=1)
            above[:, -1] = 0.0  # who is as old as that ends there
            gone = np.append(np.zeros((3, 1)), table.upto, axis=1)
            self.done = np.arange(1, len(self.ages))
        a = self.ages
        self.alive, first, second = above
        self.left = np.minimum.accumulate(np.maximum(first - a * self.alive, 0.0))
        self.squares = second - 2 * a * first + a**2 * self.alive
        # E[min(S, a)] and its square's; ranks are quotients of steps >= 0.
        self.used = np.maximum.accumulate(gone[1] + a * self.alive)
        self.cut = gone[2] + a**2 * self.alive

    @cached_property
    def best(self) -> IntArray:
        """For each age the later one up to which the slope is steepest, of equal ones the last, (n - 1,)."""
        alive, used, left = self.alive.tolist(), self.used.tolist(), self.left.tolist()
        n = len(alive)
        best = [n] * n
        for j in range(n - 2, -1, -1):
            k = j + 1
            while k < n - 1:
                far, early = best[k], used[k] < left[k]
                near_rise, rise = alive[j] - alive[k], alive[k] - alive[far]
                near_run = used[k] - used[j] if early else left[j] - left[k]
                run = used[far] - used[k] if early else left[k] - left[far]
                if near_rise * run > rise * near_run:
                    break
                k = far
            best[j] = k
        return np.array(best[:-1])

    def rank(self, start: IntArray, end: IntArray) -> FloatArray:
        """Work over jobs completed between two ages."""
        # What is used has digits at small ages, what is left at large ones.
        early = self.used[start] < self.left[start]
        run = np.where(early, self.used[end] - self.used[start], self.left[start] - self.left[end])
        rise = self.alive[start] - self.alive[end]
        return np.divide(run, rise, out=np.full(len(rise), np.inf), where=rise > 0)

    @cached_property
    def ranks(self) -> FloatArray:
        """Rank of each age, (n,); 0 of the last, at which all are done."""
        start = np.arange(len(self.best))
        ranks = self.rank(start, self.best)
        # A side of one step has the rank of its middle; where two meet, that of both together is there.
        single = self.best == start + 1
        meet = 1 + np.flatnonzero(single[1:] & single[:-1] & (ranks[1:] > 0) & (ranks[:-1] > 0))
        ranks[meet] = self.rank(meet - 1, meet + 1)
        return np.append(ranks, 0.0)

    @cached_property
    def to_come(self) -> FloatArray:
        """Least rank of all later ages but the last, (n,); infinite where there are none."""
        ranks = self.rank(np.arange(1, len(self.best)), self.best[1:])
        return np.append(np.minimum.accumulate(ranks[::-1])[::-1], [np.inf, np.inf])

    @cached_property
    def records(self) -> IntArray:
        """Ages at which the sides of the hull of all begin and end; what is straight there has many."""
        steps = np.arange(len(self.best))
        ranks, digits = self.rank(steps, steps + 1), self.digits
        ends = [0]
        while ends[-1] < len(self.best):
            begin, end = ends[-1], int(self.best[ends[-1]])
            whole = self.rank(np.array([begin]), np.array([end]))
            straight = np.abs(ranks[begin:end] - whole) <= (STRAIGHT + digits[begin:end]) * whole
            ends += range(begin + 1, end + 1) if straight.all() else [end]
        return np.array(ends)

    @cached_property
    def digits(self) -> FloatArray:
        """Relative error of the rank of each step, from those of P(S > a) and of C, or of what is left."""
        rise, early = self.alive[:-1] - self.alive[1:], self.used[:-1] < self.left[:-1]
        run = np.where(early, np.diff(self.used), self.left[:-1] - self.left[1:])
        blur = np.where(early, self.used[1:], self.left[:-1] + 2 * self.ages[:-1] * self.alive[:-1])
        with np.errstate(divide="ignore", invalid="ignore"):
            return ROUNDING * np.nan_to_num(self.alive[:-1] / rise + blur / run, nan=0.0, posinf=0.0)

    def again(self, rank: float, since: int) -> float:
        """Sum of E[X^2] over the intervals after an age in which the rank is below the given one."""
        if self.to_come[since] >= (1 - 2 * STRAIGHT) * rank:
            return 0.0
        a, left = self.ages[since:], self.left[since:]
        level, least = _later_least(rank * self.alive[since:] - left)
        # What is equal up to rounding is not inside; where between ages it begins, the rank itself tells.
        lower, lowest = _later_least(rank * (1 - 3 * STRAIGHT) * self.alive[since:] - left)
        inside = lower > lowest + LEVEL * self.left[0]
        inside[0] = False
        edge = np.diff(inside, prepend=False)
        start, end = np.flatnonzero(edge & inside), np.flatnonzero(edge & ~inside)
        if not len(start):
            return 0.0
        before = start - 1
        rise = level[start] - level[before]
        part = np.divide(least[start] - level[before], rise, out=np.ones(len(rise)), where=rise > 0)
        step = part * (a[start] - a[before])
        # Back no further than an age; behind an atom that is nothing.
        step = np.clip(step, a[np.maximum(before - 1, 0)] - a[before], a[start] - a[before])
        here = since + before
        begin = a[before] + step
        squares = self.squares[here] - 2 * step * left[before] + step**2 * self.alive[here]
        width, there = a[end] - begin, since + end
        late = squares - self.squares[there] - 2 * width * left[end]
        # The same of what is used, which has more digits where few jobs have most of the work.
        cut = self.cut[here] + (a[before] + begin) * step * self.alive[here]
        used = self.used[here] + step * self.alive[here]
        soon = self.cut[there] - cut - 2 * begin * (self.used[there] - used)
        served = np.where(self.cut[there] < squares, soon, late)
        return float(np.clip(served, 0.0, width**2 * self.alive[here]).sum())


def _later_least(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Values, and the least from each on."""
    return values, np.minimum.accumulate(values[::-1])[::-1]


class _Pace:
    """Time of a job per unit of service, by its rank: 1/(1 - lambda C(y)), y the first age of that rank.

    Between y and the next record it is a straight line of the rank; where a long side of the hull begins it
    jumps.
    """

    def __init__(self, rank: FloatArray, single: NDArray[np.bool_], free: FloatArray) -> None:
        middle = (free[:-1] + free[1:]) / 2
        until = np.ravel((np.where(single, middle, free[:-1]), np.where(single, middle, free[1:])), "F")
        self.ranks, self.values = np.repeat(rank, 2), 1 / until
        panels = np.diff(self.ranks) * (self.values[1:] + self.values[:-1]) / 2
        self.sums = np.append(0.0, np.cumsum(panels))

    def between(self, ranks: FloatArray) -> FloatArray:
        """Mean between each rank and the next of falling ones, (n - 1,)."""
        k = np.maximum(np.searchsorted(self.ranks, ranks) - 1, 0)
        far = np.minimum(k + 1, len(self.ranks) - 1)
        run = self.ranks[far] - self.ranks[k]
        part = np.divide(ranks - self.ranks[k], run, out=np.zeros(len(ranks)), where=run > 0)
        values = self.values[k] + np.clip(part, 0.0, 1.0) * (self.values[far] - self.values[k])
        sums = self.sums[k] + (ranks - self.ranks[k]) * (self.values[k] + values) / 2
        fall = ranks[:-1] - ranks[1:]
        close = fall <= CLOSE * ranks[:-1]
        means = np.divide(sums[:-1] - sums[1:], fall, out=np.zeros(len(fall)), where=~close)
        return np.where(close, (values[:-1] + values[1:]) / 2, means)


def gittins(table: SizeTable, rate: float, points: int) -> tuple[FloatArray, FloatArray, bool]:
    """E[T(s)] under the Gittins index policy, of the sizes of a table, (n,); of atoms with so many ages.

    And where it jumps, and how far from there, (2, m): the ends of long sides, known up to a step of the
    table. And whether the smallest jobs wait for others, however small they are: for those of the first side,
    if it is a long one.
    """
    ages = Ages(table, points)
    free = 1 - rate + rate * ages.left  # close to load 1 the difference has no digits
    sides = ages.records
    rank = np.maximum.accumulate(ages.rank(sides[:-1], sides[1:]))
    single = np.diff(sides) == 1
    pace = _Pace(rank, single, free[sides])

    def along(done: int, side: int) -> float:
        """Duration of a job that ends at an age of a long side."""
        begin, end = int(sides[side]), int(sides[side + 1])
        waited = rate / 2 * (ages.cut[end] + ages.again(rank[side], end)) / (free[begin] * free[end])
        # No rank within a side is above that of its beginning, up to rounding.
        worst = np.minimum(np.maximum.accumulate(ages.ranks[begin : done + 1][::-1])[::-1], rank[side])
        served = np.diff(ages.ages[begin : done + 1]) * pace.between(worst)
        return float(waited + ages.ages[begin] / free[begin] + served.sum())

    at, durations = np.searchsorted(sides, ages.done) - 1, np.empty(len(ages.done))
    curved = np.flatnonzero(single[at])
    durations[curved] = _on_curve(ages, ages.done[curved], at[curved], rank, single, rate, free)
    for k in np.flatnonzero(~single[at]):
        durations[k] = along(int(ages.done[k]), int(at[k]))
    # A first side of rounding alone is so short that nobody waits for it.
    waiting = not single[0] and durations[0] > table.sizes[0] * (1 + CLOSE)
    return durations, _jumps(ages, sides, single), bool(waiting)


def _on_curve(
    ages: Ages,
    done: IntArray,
    side: IntArray,
    rank: FloatArray,
    single: NDArray[np.bool_],
    rate: float,
    free: FloatArray,
) -> FloatArray:
    """Durations of jobs that end where the hull is the curve: as under ``las``, and who is served again."""
    level = rank[side]
    # Where two steps meet, the rank is that of both together.
    meet = np.flatnonzero(np.append(single, False)[side + 1])
    level[meet] = ages.rank(ages.records[side[meet]], ages.records[side[meet] + 2])
    level *= np.maximum(0.0, 1.0 - ages.digits[done - 1])
    again = np.array([ages.again(*where) for where in zip(level.tolist(), done.tolist(), strict=True)])
    waited = rate / 2 * (ages.cut[done] + again) / free[done] ** 2
    return np.asarray(waited + ages.ages[done] / free[done])


def _jumps(ages: Ages, sides: IntArray, single: NDArray[np.bool_]) -> FloatArray:
    """Ends of the long sides with the most probability, and the steps up to which they are known, (2, m)."""
    long = np.flatnonzero(~single)
    long = long[np.argsort(ages.alive[sides[long + 1]] - ages.alive[sides[long]])][:MOST_JUMPS]
    ends = np.unique(sides[np.concatenate([long, long + 1])])
    # Where few are younger, ranks have few digits, and so they have on the shortest steps.
    ends = ends[(1 - ages.alive[ends] > RARE) & (ends < len(ages.ages) - 1)]
    where = ages.ages[ends]
    reach = np.maximum(where - ages.ages[ends - 1], ages.ages[ends + 1] - where)
    return np.array([where, np.maximum(reach, NEAR * where)])
