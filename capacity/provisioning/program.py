r"""The cheapest capacities under the duration bound: a convex program with a duality certificate.

Buy :math:`N_t \ge 0` servers of type t, of cost :math:`c_t` and with :math:`S_{tj}` units of resource j, so
that :math:`C = NS`. With resource loads :math:`R_j` the bound of :mod:`queueing.balanced.duration_bound` on a
mean duration over
the mean size is

.. math:: \max_k \frac{a_{ik}}{C_k} + \sum_j a_{ij}\Big(\frac1{C_j - R_j} - \frac1{C_j}\Big) \le D_i,

convex and decreasing in every capacity above its load: with one inequality per k the program is smooth. It is
solved by Newton's method on a logarithmic barrier [1]_, whose equations are never formed: types with
proportional supplies, ordinary price lists, would make them singular up to rounding.

For multipliers :math:`\mu_{ik} \ge 0` of the targets and prices :math:`p \ge 0` of the capacities with
:math:`Sp \le c`, the cost of every feasible choice is, by weak duality, at least

.. math:: \sum_t \min_{l_t \le N_t \le u_t} (c - Sp)_t N_t + \sum_j \min_{C_j \ge m_j}\Big(p_j C_j
          + A_j\Big(\frac1{C_j - R_j} - \frac1{C_j}\Big) + \frac{B_j}{C_j}\Big) - \sum_{ik} \mu_{ik} D_i,

:math:`A_j = \sum_{ik} \mu_{ik} a_{ij},\ B_j = \sum_i \mu_{ij} a_{ij}`: each part is a problem in one
variable; :math:`u_t` may be what the cost of a feasible choice buys, as the optimum costs no more.
So a lower bound of the cost comes with every solution, whatever the accuracy of the solver.

Whole numbers of servers are found by branch and bound on these lower bounds: since the bound falls with
every capacity, rounding up keeps feasible.

References
----------
.. [1] S. Boyd and L. Vandenberghe, "Convex Optimization", Cambridge University Press, 2004, section 11.3.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from fairness.errors import NotConvergedError
from fairness.model.problem import FloatArray

__all__ = ["BoundProgram", "Choice", "Purchase"]

GAP = 1e-9
"""Relative duality gap at which a solution is accepted."""

NEAR = 1e-3
"""Relative gap from which on the linear program at a point is worth its time."""

SLACK = 1e-10
"""Relative distance of a start from the boundary of what can be bought."""


@dataclass(frozen=True, eq=False)
class Choice:
    """Numbers of servers and their cost."""

    servers: FloatArray
    cost: float


@dataclass(frozen=True, eq=False)
class Purchase(Choice):
    """With a proven lower bound of the cost, and the prices that prove it."""

    lower: float
    prices: FloatArray


@dataclass(frozen=True, eq=False)
class BoundProgram:
    """The program of the module docstring; everything validated, all classes with arrivals.

    Parameters
    ----------
    demands : ndarray of shape (n_classes, n_resources)
    resource_loads, least : ndarray of shape (n_resources,)
        R, and m >= R, the smallest capacities that the load targets allow.
    durations : ndarray of shape (n_classes,)
        D: largest mean duration over mean size; infinite without a target.
    supplies : ndarray of shape (n_types, n_resources)
        S.
    costs, most : ndarray of shape (n_types,)
    """

    demands: FloatArray
    resource_loads: FloatArray
    least: FloatArray
    durations: FloatArray
    supplies: FloatArray
    costs: FloatArray
    most: FloatArray
    _pairs: tuple[NDArray[np.intp], NDArray[np.intp]] = field(init=False)

    def __post_init__(self) -> None:
        targets = (self.demands > 0) & np.isfinite(self.durations)[:, None]
        object.__setattr__(self, "_pairs", np.nonzero(targets))

    def cost(self, servers: FloatArray) -> float:
        """Of so many servers of each type."""
        return float(self.costs @ servers)

    def choice(self, servers: FloatArray) -> Choice:
        """These servers with their cost."""
        return Choice(servers, self.cost(servers))

    def relative_durations(self, capacities: FloatArray) -> FloatArray:
        """The bound over the mean sizes, (n_classes,); infinite where a capacity is not above its load."""
        if (self._used(capacities) <= self.resource_loads).any():
            return np.full(len(self.demands), np.inf)
        most: FloatArray = self._left_sides(capacities).max(axis=1)
        return most

    def keeps(self, servers: FloatArray) -> bool:
        """Whether the bound keeps all targets."""
        c = servers @ self.supplies
        return bool((c >= self.least).all() and (self.relative_durations(c) <= self.durations).all())

    def solve(self, low: FloatArray, high: FloatArray, gap: float = GAP) -> Purchase | None:
        """Cheapest real numbers of servers from ``low`` to ``high``; None if none is strictly feasible."""
        start = self._inside(low, high)
        if start is None:
            return None
        x, best = start, Purchase(start, self.cost(start), 0.0, np.zeros(len(self.least)))
        weight = 1.0 / max(best.cost, 1e-300)
        for _ in range(40):
            x = self._centred(x, low, high, weight)
            cost = self.cost(x)
            multipliers = self._multipliers(1.0 / (weight * self._slacks(x)))  # central path, [1] eq. (11.10)
            best = self._bounded_below(Purchase(x, cost, best.lower, best.prices), low, high, multipliers)
            if gap * cost < cost - best.lower < NEAR * cost:
                linear = self._linear_multipliers(x, low, high, cost - best.lower)
                best = self._bounded_below(best, low, high, linear)
            if cost - best.lower <= gap * cost:
                return best
            weight *= 8.0
        raise NotConvergedError(
            f"the cheapest capacities under the bound are known to {best.cost - best.lower:.1e} of "
            f"{best.cost:.6g} only; scale demands and costs to similar magnitudes",
            best=best,
            residual=(best.cost - best.lower) / best.cost,
        )

    def _bounded_below(
        self, found: Purchase, low: FloatArray, high: FloatArray, multipliers: tuple[FloatArray, FloatArray]
    ) -> Purchase:
        """The same purchase with a better lower bound, where the multipliers give one."""
        value, prices = self._dual(found.servers, low, high, *multipliers, dearest=found.cost)
        return replace(found, lower=value, prices=prices) if value > found.lower else found

    def solve_whole(self, max_nodes: int) -> Purchase | None:
        """Cheapest whole numbers of servers, proven; None if ``most`` does not keep the targets."""
        low, high = np.zeros(len(self.costs)), np.floor(self.most)
        root = self.solve(low, self.most)
        if root is None:
            return None
        best: FloatArray | None = None
        cost = math.inf
        queue: list[tuple[float, int, FloatArray, FloatArray, Purchase]] = [(root.lower, 0, low, high, root)]
        for node in range(1, max_nodes + 1):
            if not queue or queue[0][0] >= cost * (1.0 - GAP):
                return None if best is None else Purchase(best, cost, cost, root.prices)
            _, _, low, high, relaxed = heapq.heappop(queue)
            # Barrier solutions lie inside: a number just above a whole one is that one, if it keeps.
            x = relaxed.servers
            for candidate in (np.rint(x), np.ceil(x - 1e-6), np.ceil(x)):
                rounded = np.clip(candidate, low, high)
                value = self.cost(rounded)
                if value < cost and self.keeps(rounded):
                    best, cost = rounded, value
            if not (high > low).any():
                continue
            distance = np.where(high > low, np.abs(x - np.rint(x)), -1.0)
            t = int(np.argmax(distance))
            for side in (0, 1):
                lower, upper = low.copy(), high.copy()
                middle = min(max(math.floor(x[t]), low[t]), high[t] - 1)
                if side:
                    lower[t] = middle + 1
                else:
                    upper[t] = middle
                child = self._bounded(lower, upper)
                if child is not None and child.lower < cost:
                    least = max(child.lower, relaxed.lower)
                    heapq.heappush(queue, (least, 2 * node + side, lower, upper, child))
        raise NotConvergedError(
            f"{max_nodes} nodes do not prove the cheapest whole servers: at best {cost:.6g}, at least "
            f"{queue[0][0] if queue else cost:.6g}; reduce most, give fewer types, or take whole=False",
            best=None if best is None else Purchase(best, cost, queue[0][0], root.prices),
            residual=math.nan if best is None else (cost - queue[0][0]) / cost,
        )

    def _bounded(self, low: FloatArray, high: FloatArray) -> Purchase | None:
        """Relaxation of a node; a single point is its own."""
        free = high > low
        if not free.any():
            cost = self.cost(low)
            return Purchase(low, cost, cost, np.zeros(len(self.least))) if self.keeps(low) else None
        finite = bool(np.isfinite(high).all())
        if finite and not self.keeps(high):
            return None
        # Fixed numbers get a little room upwards, which only lowers the lower bound.
        roomy = np.where(free, high, high + 1e-6)
        solved = self.solve(low, roomy, gap=1e-6)
        if solved is None and finite:  # only the upper ends themselves keep the targets
            return Purchase(high, self.cost(high), self.cost(low), np.zeros(len(self.least)))
        return solved

    def _inside(self, low: FloatArray, high: FloatArray) -> FloatArray | None:
        """A strictly feasible point, as far from the targets as ``high`` allows; None if there is none."""
        finite = np.isfinite(high)
        room = np.where(finite, high - low, 1.0)
        supply = self.supplies.sum(axis=0)
        scale = max(1.0, float((self.least[supply > 0] / supply[supply > 0]).max(initial=0.0)))
        for power in range(200):
            # Towards the upper ends where they exist, without limit elsewhere.
            part = 1.0 - max(SLACK, 0.5 ** (power + 1))
            x = low + np.where(finite, part * room, scale * 2.0**power)
            if (self._slacks(x) > 0).all():
                return x
            if power > 40 and finite.all():
                break
        return None

    def _slacks(self, x: FloatArray) -> FloatArray:
        """Room left by every duration target, then by every capacity, relative."""
        c = x @ self.supplies
        needed = self.least > 0
        room = (c - self.least)[needed] / self.least[needed]
        if (room <= 0).any():
            return np.array([-1.0])
        i, k = self._pairs
        return np.concatenate([1.0 - self._left_sides(c)[i, k] / self.durations[i], room])

    def _used(self, capacities: FloatArray) -> FloatArray:
        """The same, but 1 of what nobody demands, so that it has no terms."""
        return np.where(self.demands.any(axis=0), capacities, 1.0)

    def _left_sides(self, capacities: FloatArray) -> FloatArray:
        """Of the targets, for every class and largest resource k, (n_classes, n_resources)."""
        c, load = self._used(capacities), self.resource_loads
        return self.demands / c + (self.demands @ (load / (c * (c - load))))[:, None]

    def _height(self, x: FloatArray, low: FloatArray, high: FloatArray, weight: float) -> float:
        """Barrier function; infinite outside."""
        slack = self._slacks(x)
        ends = np.concatenate([x - low, (high - x)[np.isfinite(high)]])
        if (slack <= 0).any() or (ends <= 0).any():
            return math.inf
        return float(weight * (self.costs @ x) - np.log(slack).sum() - np.log(ends).sum())

    def _newton(
        self, x: FloatArray, low: FloatArray, high: FloatArray, weight: float
    ) -> tuple[FloatArray, float]:
        """Newton step of the barrier function, and its decrement.

        The Hessian is :math:`E^2 + S B^T B S^T`, with a diagonal E from the ends of x and a row of B for each
        curved term. Types with the same supplies, up to a factor, differ by E only, next to which the second
        part may be larger than any float can tell: the sum would be singular. For y = E step it reads
        :math:`I + A^T A` with :math:`A = B S^T E^{-1}`, which the singular values of A invert unformed.
        """
        slack = self._slacks(x)
        c, r = self._used(x @ self.supplies), self.resource_loads
        i, k = self._pairs
        rows = np.arange(len(i))
        a = self.demands[i] / self.durations[i, None]
        slopes = -self._slopes(c) / self.durations[i, None]
        bends = a * (2.0 / (c - r) ** 3 - 2.0 / c**3)
        bends[rows, k] += 2.0 * a[rows, k] / c[k] ** 3
        needed = np.flatnonzero(self.least > 0)
        held, room = slack[: len(i)], slack[len(i) :]
        rents = np.zeros(len(r))
        rents[needed] = 1.0 / (room * self.least[needed])
        gradient_c = slopes.T @ (1.0 / held) - rents
        curves = np.sqrt(np.maximum(bends.T @ (1.0 / held), 0.0))
        factors = np.vstack([slopes / held[:, None], np.diag(curves), np.diag(rents)])
        above, below = 1.0 / (high - x), 1.0 / (x - low)  # without an upper end 1/inf
        gradient = weight * self.costs + self.supplies @ gradient_c - below + above
        ends = np.hypot(below, above)
        scaled = gradient / ends
        _, sizes, directions = np.linalg.svd(factors @ self.supplies.T / ends)
        stretch = np.ones(len(x))
        stretch[: len(sizes)] = 1.0 + sizes**2
        along = directions @ scaled
        step = -(directions.T @ (along / stretch)) / ends
        return step, float(along @ (along / stretch))

    def _centred(self, x: FloatArray, low: FloatArray, high: FloatArray, weight: float) -> FloatArray:
        """Newton's method on the barrier, from a feasible point."""
        value = self._height(x, low, high, weight)
        for _ in range(60):
            step, decrement = self._newton(x, low, high, weight)
            if decrement < 1e-12:
                break
            length = 1.0
            while length > 1e-12:
                new = self._height(x + length * step, low, high, weight)
                # The second part is the rounding of the values themselves.
                if new <= value - 0.1 * length * decrement + 1e-13 * abs(value):
                    break
                length /= 2.0
            else:
                break
            x, value = x + length * step, new
        return x

    def _multipliers(self, of_slacks: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Multipliers of the targets and of all least capacities from those of the relative slacks."""
        i, _ = self._pairs
        needed, rents = self.least > 0, np.zeros(len(self.least))
        rents[needed] = of_slacks[len(i) :] / self.least[needed]
        return of_slacks[: len(i)] / self.durations[i], rents

    def _linear_multipliers(
        self, x: FloatArray, low: FloatArray, high: FloatArray, gap: float
    ) -> tuple[FloatArray, FloatArray]:
        """Multipliers of the linear program that touches the convex one at x.

        Near the optimum the barrier's own are spoilt by the rounding of the slacks; and where several types
        or targets tie, only a basis tells which of them hold. Its unit is what the rest of the gap buys of
        each type: in servers, targets that hold and those that nearly do are one to the solver's tolerances.
        """
        i, _ = self._pairs
        needed = np.flatnonzero(self.least > 0)
        falls = self._slopes(x @ self.supplies) @ self.supplies.T / self.durations[i, None]
        unit = gap / self.costs
        rows = -np.vstack([falls, self.supplies.T[needed] / self.least[needed, None]]) * unit
        scale = np.abs(rows).max(axis=1, initial=0.0)
        kept = np.flatnonzero(scale > 0)
        solved = linprog(
            np.ones(len(unit)),
            A_ub=rows[kept] / scale[kept, None],
            b_ub=self._slacks(x)[kept] / scale[kept],
            bounds=np.column_stack([low - x, high - x]) / unit[:, None],
        )
        found = np.zeros(len(rows))
        if solved.status == 0:
            found[kept] = np.maximum(0.0, -solved.ineqlin.marginals) * gap / scale[kept]
        return self._multipliers(found)

    def _slopes(self, c: FloatArray) -> FloatArray:
        """How fast the left side of every target falls with each capacity, (n_pairs, n_resources)."""
        i, k = self._pairs
        c, r = self._used(c), self.resource_loads
        slopes: FloatArray = self.demands[i] * (1.0 / (c - r) ** 2 - 1.0 / c**2)
        slopes[np.arange(len(i)), k] += self.demands[i, k] / c[k] ** 2
        return slopes

    def _dual(
        self,
        x: FloatArray,
        low: FloatArray,
        high: FloatArray,
        multipliers: FloatArray,
        rents: FloatArray,
        dearest: float = math.inf,
    ) -> tuple[float, FloatArray]:
        """Lower bound of the cost by weak duality, and the prices of the capacities.

        Only choices that cost at most ``dearest`` need to obey it: they have few servers of every type.
        """
        i, k = self._pairs
        r = self.resource_loads
        a_total = multipliers @ self.demands[i] if len(i) else np.zeros(len(r))
        b_total = np.bincount(k, multipliers * self.demands[i, k], minlength=len(r))
        prices = multipliers @ self._slopes(x @ self.supplies) + rents
        # Servers without an upper end must not be worth more than they cost.
        open_ended = ~np.isfinite(high)
        if open_ended.any():
            over = float(((self.supplies @ prices)[open_ended] / self.costs[open_ended]).max())
            if over > 1.0:
                prices /= over * (1.0 + 1e-15)
        surplus = self.costs - self.supplies @ prices
        top = np.minimum(high, low + (1.0 + GAP) * (dearest - self.cost(low)) / self.costs)
        value = float((np.where((surplus >= 0) | np.isinf(top), low, top) * surplus).sum())
        for j in range(len(r)):
            value += _least_of_one(prices[j], a_total[j], b_total[j], r[j], self.least[j])
        return value - float(multipliers @ self.durations[i]), prices


def _least_of_one(price: float, a: float, b: float, load: float, least: float) -> float:
    """Minimum over c >= least, c > load of price c + a (1/(c - load) - 1/c) + b/c, from below.

    The function is convex; a tangent at a near-minimiser, between two points that enclose the minimiser,
    turns an approximate minimum into a lower bound.
    """

    def slope(c: float) -> float:
        return price - a * (1.0 / (c - load) ** 2 - 1.0 / c**2) - b / c**2

    def height(c: float) -> float:
        return price * c + a * (1.0 / (c - load) - 1.0 / c) + b / c

    if a == 0 and b == 0:
        return price * least
    if price == 0:
        return 0.0  # all terms are >= 0
    if least > load and slope(least) >= 0:
        return height(least)
    # For c >= load + u every term of the slope is at most (a + b)/u^2 in size.
    low, high = max(least, load), load + math.sqrt((a + b) / price) * (1.0 + 1e-12)
    high = max(high, low * (1.0 + 1e-12))
    for _ in range(100):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    return height(high) - abs(slope(high)) * (high - low)
