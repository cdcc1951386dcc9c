r"""The errors that allocations claim, against their definitions in exact arithmetic, on random instances.

``python -m benchmarks.claims.allocations [--instances N] [--seed S] [--only KIND ...]`` prints a table: for
each kind of claim how often the true error is at most the claimed one (*coverage*) and the largest true over
claimed error (*understatement*). Pools and clusters have one to four classes, one to three resources and
servers; demands, capacities, counts and limits are drawn over no, four or ten decades, with zeros, ties and
weights.

The tasks, levels, prices and multipliers of an allocation are floats, and so fractions: every definition is
evaluated at them without rounding, by code of its own.

========== =================================================================================================
kind       claim and reference
========== =================================================================================================
levels     ``residual`` of max-min, DRF, EDRF and asset fairness: by how much less than full, or than the
           largest level, is the best resource of each class; in fractions
bottleneck the same for the shares of bottleneck-max fairness
prices     ``residual`` of proportional and alpha-fairness: the KKT conditions, with 60 digits
gap        ``duality_gap`` of the same: dual less primal objective over all bills, with 60 digits
theorem 1  ``residual`` of PS-DSF under resource division (filling, Algorithm I, asynchronous servers)
theorem 2  ``residual`` of PS-DSF under time division
market     ``duality_gap`` of the market behind it: the program of Eisenberg and Gale, with 60 digits
leximin    ``residual`` of TSF, CDRF, DRFH and C-DRFH: overfull resources, tasks off their levels, levels off
           what their prices prove
========== =================================================================================================
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np

from benchmarks.claims.chains import Claim, report
from fairness import (
    CDRF,
    CDRFH,
    DRF,
    DRFH,
    PSDSF,
    TSF,
    AlphaFair,
    AssetFair,
    BottleneckMax,
    Cluster,
    MaxMin,
    ModelError,
    NotConvergedError,
    Problem,
    ProportionalFair,
    distributed_psdsf,
)

__all__ = ["KINDS", "measure"]

Exact = list[list[Fraction]]
DIGITS = 60


def exact(values: Any) -> Any:
    """Floats as fractions, in nested lists."""
    return [exact(v) for v in values] if np.ndim(values) else Fraction(float(values))


def random_pool(
    rng: np.random.Generator, *, limited: bool = True, decades: float | None = None
) -> tuple[Problem, Any]:
    """A pool and counts; sizes over no, four or ten decades, or over as many as asked for."""
    spread = _spread(rng, decades)
    while True:
        n, m = int(rng.integers(1, 5)), int(rng.integers(1, 4))
        demands = spread(n, m) * (rng.random((n, m)) < 0.75)
        demands[~demands.any(axis=1), 0] = 1.0
        limits = np.where(rng.random(n) < 0.75, np.inf, spread(n)) if limited else None
        try:
            pool = Problem(demands, spread(m), weights=rng.choice([1.0, 2.0, 0.3], n), limits=limits)
        except ModelError:
            continue
        return pool, np.where(rng.random(n) < 0.2, 0.0, spread(n))


def random_cluster(
    rng: np.random.Generator, *, constrained: bool = True, decades: float | None = None
) -> tuple[Cluster, Any]:
    """A cluster and counts; sizes over no, four or ten decades, or over as many as asked for."""
    spread = _spread(rng, decades)
    while True:
        n, m, s = int(rng.integers(1, 5)), int(rng.integers(1, 4)), int(rng.integers(1, 4))
        demands = spread(n, m) * (rng.random((n, m)) < 0.75)
        demands[~demands.any(axis=1), 0] = 1.0
        allowed = rng.random((n, s)) < 0.75 if constrained else None
        capacities = spread(s, m) * (rng.random((s, m)) < 0.85)
        try:
            weights = rng.choice([1.0, 2.0, 0.3], n)
            cluster = Cluster(demands, capacities, eligible=allowed, weights=weights)
        except ModelError:
            continue
        return cluster, np.where(rng.random(n) < 0.2, 0.0, spread(n))


def _spread(rng: np.random.Generator, decades: float | None) -> Callable[..., Any]:
    decades = float(rng.choice([0.0, 4.0, 10.0])) if decades is None else decades

    def draw(*shape: int) -> Any:
        if decades == 0:  # integers, full of ties
            return rng.integers(1, 5, shape).astype(float)
        return 10.0 ** rng.uniform(-decades / 2, decades / 2, shape)

    return draw


# --- pools ---------------------------------------------------------------------------------------------


class Pool:
    """A pool, counts and tasks in fractions."""

    def __init__(self, pool: Problem, counts: Any, tasks: Any) -> None:
        self.a, self.c, self.w = exact(pool.demands), exact(pool.capacities), exact(pool.weights)
        self.x, self.phi = exact(counts), exact(tasks)
        self.n, self.m = len(self.a), len(self.c)
        self.most = [
            None if np.isinf(limit) else self.x[i] * Fraction(float(limit))
            for i, limit in enumerate(pool.limits)
        ]
        self.live = [i for i in range(self.n) if self.x[i] > 0]
        self.used = [
            sum((self.phi[i] * self.a[i][j] for i in range(self.n)), Fraction(0)) / self.c[j]
            for j in range(self.m)
        ]

    def share(self, i: int, j: int) -> Fraction:
        """Share of resource j that one task of class i holds."""
        return Fraction(self.a[i][j]) / self.c[j]

    @property
    def excess(self) -> Fraction:
        """Largest relative excess over a capacity or a limit."""
        over = [u - 1 for u in self.used]
        over += [self.phi[i] / most - 1 for i in self.live if (most := self.most[i]) is not None]
        return max(Fraction(0), *over)

    def room(self, i: int) -> Fraction | None:
        """Part of its limit that a class leaves."""
        most = self.most[i]
        return None if most is None else max(Fraction(0), 1 - self.phi[i] / most)

    def filled(self, rank: Callable[[int, int], Fraction]) -> Fraction:
        """Residual of: each class has a full resource where its rank is the largest, or is at its limit."""
        worst = self.excess
        ranks = {(i, j): rank(i, j) for i in self.live for j in range(self.m) if self.a[i][j] > 0}
        largest = [
            max((r for (_, k), r in ranks.items() if k == j), default=Fraction(0)) for j in range(self.m)
        ]
        for i in self.live:
            ways = [
                max(1 - ranks[i, j] / largest[j] if largest[j] > 0 else Fraction(0), 1 - self.used[j])
                for j in range(self.m)
                if self.a[i][j] > 0
            ]
            room = self.room(i)
            worst = max(worst, min(ways if room is None else [*ways, room], default=Fraction(0)))
        return worst


def _levels(rng: np.random.Generator) -> Iterator[Claim]:
    pool, counts = random_pool(rng)
    weights = 10.0 ** rng.uniform(-1, 1, pool.demands.shape)
    for policy in (MaxMin(), DRF(), DRF(resource_weights=weights), AssetFair()):
        solution = policy.solve(pool, counts)
        at = Pool(pool, counts, solution.tasks)
        v = exact(weights) if getattr(policy, "resource_weights", None) is not None else None

        def level(i: int, _: int, at: Pool = at, v: Any = v, policy: Any = policy) -> Fraction:
            shares = [at.share(i, j) / (v[i][j] if v else 1) for j in range(at.m)]
            unit = Fraction(1)
            if isinstance(policy, DRF):
                unit = max(shares)
            elif isinstance(policy, AssetFair):
                unit = sum(shares, Fraction(0))
            return at.phi[i] * unit / (at.x[i] * at.w[i])

        yield _claim("levels", solution.certificate.residual, at.filled(level), policy, pool, counts)


def _bottleneck(rng: np.random.Generator) -> Iterator[Claim]:
    pool, counts = random_pool(rng)
    solution = BottleneckMax().solve(pool, counts)
    at = Pool(pool, counts, solution.tasks)
    true = at.filled(lambda i, j: at.phi[i] * at.share(i, j) / (at.x[i] * at.w[i]))
    yield _claim("bottleneck", solution.certificate.residual, true, BottleneckMax(), pool, counts)


def _prices(rng: np.random.Generator) -> Iterator[Claim]:
    pool, counts = random_pool(rng)
    for policy in (ProportionalFair(), AlphaFair(0.5), AlphaFair(2.0)):
        try:
            solution = policy.solve(pool, counts)
        except NotConvergedError:
            continue  # refuses, and claims nothing
        at, alpha = Pool(pool, counts, solution.tasks), mpmath.mpf(getattr(policy, "alpha", 1.0))
        prices = [_mp(p) for p in exact(solution.prices)]
        residual, gap, bills = _mp(at.excess), mpmath.mpf(0), mpmath.mpf(0)
        over = 1 + _mp(max(Fraction(0), *(u - 1 for u in at.used)))
        cost = [sum((_mp(at.a[i][j]) * prices[j] for j in range(at.m)), mpmath.mpf(0)) for i in range(at.n)]
        parts = [mpmath.mpf(0)] * at.m
        gap = sum((prices[j] * _mp(at.c[j]) for j in range(at.m)), mpmath.mpf(0))
        for i in at.live:
            weight, tasks = _mp(at.x[i] * at.w[i]), _mp(at.phi[i])
            full = (weight / tasks) ** alpha
            most = None if at.most[i] is None else _mp(at.most[i])
            # At a limit the rest of the bill is its price.
            at_limit = most is not None and float(at.phi[i]) >= float(at.most[i])
            bill = max(full, cost[i]) if at_limit else cost[i]
            residual = max(residual, abs(tasks / weight * bill ** (1 / alpha) - 1))
            for j in range(at.m):
                parts[j] = max(parts[j], _mp(at.a[i][j]) * prices[j] / bill)
            bills += tasks * bill
            best = weight * cost[i] ** (-1 / alpha) if cost[i] > 0 else mpmath.inf
            best = best if most is None else min(best, most)
            gap += _utility(best, weight, alpha) - cost[i] * best - _utility(tasks / over, weight, alpha)
        for j in range(at.m):
            residual = max(residual, min(parts[j], max(mpmath.mpf(0), 1 - _mp(at.used[j]))))
        certificate = solution.certificate
        yield _claim("prices", certificate.residual, residual, policy, pool, counts)
        if bills > 0:
            gap = max(mpmath.mpf(0), gap / bills)
            yield _claim("gap", certificate.duality_gap, gap, policy, pool, counts)


def _utility(tasks: Any, weight: Any, alpha: Any) -> Any:
    if alpha == 1:
        return weight * mpmath.log(tasks)
    return weight**alpha * tasks ** (1 - alpha) / (1 - alpha)


# --- clusters ------------------------------------------------------------------------------------------


class Placed:
    """A cluster, counts and a placement in fractions."""

    def __init__(self, cluster: Cluster, counts: Any, placement: Any) -> None:
        self.d, self.c, self.w = exact(cluster.demands), exact(cluster.capacities), exact(cluster.weights)
        self.x, self.held = exact(counts), exact(placement)
        self.n, self.s, self.m = len(self.d), len(self.c), cluster.n_resources
        self.live = [n for n in range(self.n) if self.x[n] > 0]
        self.total = [sum(row, Fraction(0)) for row in self.held]
        self.can = cluster.eligible.tolist()

    def share(self, n: int, i: int, r: int) -> Fraction:
        """Share of a resource of a server that one task holds."""
        return self.d[n][r] / self.c[i][r] if self.can[n][i] and self.d[n][r] > 0 else Fraction(0)

    def gamma(self, n: int, i: int) -> Fraction:
        """Tasks of a class alone on a server."""
        return 1 / max(self.share(n, i, r) for r in range(self.m))

    def used(self, i: int, r: int) -> Fraction:
        """Part of a resource of a server in use."""
        return sum((self.held[n][i] * self.share(n, i, r) for n in range(self.n)), Fraction(0))

    def level(self, n: int, i: int) -> Fraction:
        """Virtual dominant share over the effective weight."""
        return self.total[n] / (self.gamma(n, i) * self.x[n] * self.w[n])


def theorem_1(at: Placed) -> Fraction:
    """How far a placement is from PS-DSF under resource division."""
    worst = Fraction(0)
    for i in range(at.s):
        here = [n for n in at.live if at.can[n][i]]
        levels = {n: at.level(n, i) for n in here}
        used = [at.used(i, r) for r in range(at.m)]
        worst = max(worst, *(u - 1 for u in used))
        for n in here:
            ways = []
            for r in (r for r in range(at.m) if at.share(n, i, r) > 0):
                off = max(Fraction(0), 1 - used[r])
                for p in (p for p in here if at.held[p][i] > 0 and at.share(p, i, r) > 0):
                    if levels[p] > levels[n]:
                        off = max(off, min(1 - levels[n] / levels[p], at.held[p][i] * at.share(p, i, r)))
                ways.append(off)
            worst = max(worst, min(ways))
    return worst


def theorem_2(at: Placed) -> Fraction:
    """How far a placement is from PS-DSF under time division."""
    worst = Fraction(0)
    for i in range(at.s):
        here = [n for n in at.live if at.can[n][i]]
        if not here:
            continue
        busy = sum((at.held[n][i] / at.gamma(n, i) for n in here), Fraction(0))
        lowest = min(at.level(n, i) for n in here)
        worst = max(worst, abs(1 - busy))
        for n in here:
            if at.held[n][i] > 0:
                worst = max(worst, min(at.held[n][i] / at.gamma(n, i), 1 - lowest / at.level(n, i)))
    return worst


def _theorem_1(rng: np.random.Generator) -> Iterator[Claim]:
    cluster, counts = random_cluster(rng)
    for policy in (PSDSF(), PSDSF(method="algorithm-1")):
        try:
            solution = policy.solve(cluster, counts)
        except NotConvergedError:
            continue
        true = theorem_1(Placed(cluster, counts, solution.placement))
        yield _claim("theorem 1", solution.certificate.residual, true, policy, cluster, counts)
    if cluster.n_servers <= 2:
        run = distributed_psdsf(cluster, 30, rng=1)
        true = theorem_1(Placed(cluster, np.ones(cluster.n_classes), run.placement[-1]))
        yield _claim("theorem 1", float(run.residuals[-1]), true, "distributed", cluster, counts)


def _theorem_2(rng: np.random.Generator) -> Iterator[Claim]:
    cluster, counts = random_cluster(rng)
    solution = PSDSF("time").solve(cluster, counts)
    at = Placed(cluster, counts, solution.placement)
    yield _claim("theorem 2", solution.certificate.residual, theorem_2(at), "tdm", cluster, counts)
    if at.live:
        # Eisenberg and Gale: budgets b_n, prices p_i; dual less primal is the sum of b_n log(best_n/held_n).
        budgets, prices = [at.x[n] * at.w[n] for n in range(at.n)], exact(solution.prices)
        busiest = max(
            sum((at.held[n][i] / at.gamma(n, i) for n in at.live if at.can[n][i]), Fraction(0))
            for i in range(at.s)
        )
        bill = sum(prices, Fraction(0)) / sum((budgets[n] for n in at.live), Fraction(0))
        gap = mpmath.mpf(0)
        for n in at.live:
            best = max(budgets[n] * at.gamma(n, i) / prices[i] for i in range(at.s) if at.can[n][i])
            gap += _mp(budgets[n]) * mpmath.log(_mp(best / at.total[n] * max(busiest, 1)))
        gap = gap / _mp(sum((budgets[n] for n in at.live), Fraction(0))) + _mp(bill) - 1
        claimed = solution.details["duality_gap"]
        yield _claim("market", claimed, max(mpmath.mpf(0), gap), "tdm", cluster, counts)


def _leximin(rng: np.random.Generator) -> Iterator[Claim]:
    for policy in (TSF(), CDRF(), DRFH(), CDRFH()):
        handles = getattr(policy, "handles_constraints", True)
        cluster, counts = random_cluster(rng, constrained=handles)
        try:
            solution = policy.solve(cluster, counts)
        except NotConvergedError:
            continue
        at = Placed(cluster, counts, solution.placement)
        goals = [at.x[n] * at.w[n] * h for n, h in enumerate(exact(policy.yardsticks(cluster, counts)))]
        worst = max(Fraction(0), *(at.used(i, r) - 1 for i in range(at.s) for r in range(at.m)))
        before: list[int] = []
        for record in solution.details["rounds"]:
            level, prices = Fraction(record.level), exact(record.prices)
            multipliers = exact(record.multipliers)
            for n in record.classes:
                worst = max(worst, abs(at.total[n] / goals[n] - level) / level)
            # What the prices allow to all free classes, less what the frozen ones have of it.
            proved = sum((p for row in prices for p in row), Fraction(0))
            proved -= sum((multipliers[n] * at.total[n] for n in before), Fraction(0))
            proved /= sum((multipliers[n] * goals[n] for n in record.classes), Fraction(0))
            worst = max(worst, abs(Fraction(record.bound) - proved) / level)
            before += record.classes
        yield _claim("leximin", solution.certificate.residual, worst, policy, cluster, counts)


# --- the table -----------------------------------------------------------------------------------------

KINDS: dict[str, Callable[[np.random.Generator], Iterator[Claim]]] = {
    "levels": _levels,
    "bottleneck": _bottleneck,
    "prices": _prices,
    "theorem 1": _theorem_1,
    "theorem 2": _theorem_2,
    "leximin": _leximin,
}


def measure(kind: str, number: int, seed: int) -> list[Claim]:
    """Claims of one kind on the instance of this number, with the true errors."""
    stream = np.random.default_rng([seed, list(KINDS).index(kind), number])
    with mpmath.workdps(DIGITS):
        return list(KINDS[kind](stream))


def _mp(value: Fraction) -> Any:
    return mpmath.mpf(value.numerator) / value.denominator


def _claim(kind: str, claimed: float | None, true: Any, policy: Any, model: Any, counts: Any) -> Claim:
    name = getattr(policy, "name", policy)
    about = f"{name}, counts {np.asarray(counts).tolist()}\n{model!r}"
    assert claimed is not None
    return Claim(kind, claimed, float(true), about)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--instances", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=20261122)
    parser.add_argument("--only", nargs="*", default=list(KINDS), choices=list(KINDS))
    given = parser.parse_args()
    claims = [c for kind in given.only for k in range(given.instances) for c in measure(kind, k, given.seed)]
    print(report(claims))
    worst: dict[str, list[Claim]] = defaultdict(list)
    for claim in sorted(claims, key=lambda c: -c.understatement):
        worst[claim.kind].append(claim)
    for kind, some in worst.items():
        first = some[0]
        print(f"{kind}: claimed {first.claimed:.2e}, true {first.true:.2e}: {first.about}", file=sys.stderr)


if __name__ == "__main__":
    main()
