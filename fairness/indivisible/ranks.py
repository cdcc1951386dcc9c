"""Filling by best rank; the rule is defined in :mod:`fairness.indivisible.rules`."""

from __future__ import annotations

import math

from fairness.indivisible.free_resources import Ledger, Number
from fairness.indivisible.rational_model import PoolAmounts
from fairness.indivisible.rules import BestRank
from fairness.indivisible.turns import Ties

__all__ = ["fill_by_rank"]


def fill_by_rank(
    rule: BestRank, amounts: PoolAmounts, waiting: list[int], ledger: Ledger, tasks: list[int], ties: Ties
) -> tuple[int | None, list[int]]:
    """Fill ``tasks`` of the waiting classes; return who stopped everything, if anyone, and the order."""
    present = [n for n, unit in enumerate(amounts.units) if unit > 0]
    demanded = [r for r in range(len(amounts.capacities)) if any(amounts.demands[n][r] > 0 for n in present)]
    parts = {(n, r): amounts.share_parts(n, r) for n in present for r in demanded}
    order: list[int] = []
    while waiting:
        lacking = {n: ledger.lacking(n, 0) for n in waiting}
        # Who does not fit is not asked under "skip", but it still waits, and so it makes bottlenecks.
        asked = [n for n in waiting if rule.stop == "first misfit" or not lacking[n]]
        if not asked:
            break
        if rule.bottlenecks == "blocking":
            scarce = set().union(*lacking.values())
            bottlenecks = [r for r in demanded if r in scarce] or demanded
        elif rule.bottlenecks == "fullest":
            bottlenecks = _fullest(amounts, demanded, tasks, ties)
        else:
            bottlenecks = demanded
        best = dict.fromkeys(asked, math.inf)
        for r in bottlenecks:
            held: dict[int, Number] = {n: parts[n, r][0] + tasks[n] * parts[n, r][1] for n in present}
            rank = _ranks(held, amounts, ties)
            for n in asked:
                best[n] = min(best[n], rank[n])
        worst = max(best.values())
        tied = [n for n in asked if best[n] == worst]
        n = tied[ties.pick(tied, ties.place.__getitem__)]
        if lacking[n]:
            return n, order
        ledger.take(n, 0)
        tasks[n] += 1
        order.append(n)
        if tasks[n] >= amounts.most[n]:
            waiting.remove(n)
    return None, order


def _fullest(amounts: PoolAmounts, demanded: list[int], tasks: list[int], ties: Ties) -> list[int]:
    """The demanded resources with the largest utilisation."""
    classes = range(len(tasks))
    used: dict[int, Number] = {
        r: sum(amounts.before[n][r] + tasks[n] * amounts.demands[n][r] for n in classes)
        / amounts.capacities[r]
        for r in demanded
    }
    return [r for r in demanded if ties.ceiling(used[r]) >= max(used.values())]


def _ranks(held: dict[int, Number], amounts: PoolAmounts, ties: Ties) -> dict[int, float]:
    """Rank by share, 1 for the largest: 1 + the jobs with a strictly larger share."""
    ranks: dict[int, float] = {}
    larger = same = 0.0
    previous: Number = math.inf
    for n in sorted(held, key=lambda k: -held[k]):
        if ties.ceiling(held[n]) < previous:
            larger, same, previous = larger + same, 0.0, held[n]
        ranks[n] = 1.0 + larger
        same += float(amounts.counts[n])
    return ranks
