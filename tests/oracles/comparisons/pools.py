"""Comparisons of one pool written again: lies, incentives, monotonicity, and what the exchange leaves."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from math import prod
from typing import Any

from proofs.definitions.exact import ONE, Row, max_min, runs, usage
from proofs.definitions.registry import fraction, fractions
from proofs.definitions.second.pools.filling import bmf_points, is_bottleneck_max, pf_tasks
from proofs.definitions.second.pools.mechanisms import (
    dominant_resources,
    whole_task_order,
)
from proofs.definitions.second.pools.timed import exchanged
from proofs.errors import ProofError
from tests.oracles.comparisons.tasks import asset_tasks, drf_tasks, tdrf_tasks


def bmf_lie(demands: Any, capacities: Any, liar: int, lie: Any) -> dict[str, Any]:
    """What the liar runs before and after, by the only BMF allocations."""
    a, c, said = fractions(demands), fractions(capacities), fractions(lie)
    [honest] = bmf_points(a, c)
    [given] = bmf_points([*a[:liar], said, *a[liar + 1 :]], c)
    got = runs(a[liar], [given[liar] * d for d in said])
    return {"honest": honest[liar], "with the lie": got, "holds": not got > honest[liar]}


def bmf_improved(demands: Any, capacities: Any, better: Any) -> dict[str, Any]:
    """Products of tasks of the only BMF allocation and of another one that fits."""
    a, c, y = fractions(demands), fractions(capacities), fractions(better)
    [x] = bmf_points(a, c)
    over = any(u > c_j for u, c_j in zip(usage(a, y), c, strict=True))
    return {"BMF": x, "products": [prod(x), prod(y)], "holds": over or prod(y) <= prod(x)}


def pf_lie(
    demands: Any, capacities: Any, prices: Any, liar: int, lie: Any, lie_prices: Any
) -> dict[str, Any]:
    """What the liar runs before and after, both allocations unbeaten."""
    a, said = fractions(demands), fractions(lie)
    told = [*a[:liar], said, *a[liar + 1 :]]
    honest, given = pf_tasks(a, capacities, prices), pf_tasks(told, capacities, lie_prices)
    if honest is None or given is None:
        return {"holds": True, "what": "the prices are not optimal"}
    got = runs(a[liar], [given[liar] * d for d in said])
    return {"honest": honest[liar], "with the lie": got, "holds": not got > honest[liar]}


def mmf_in_other_tasks(demands: Any, capacities: Any, factors: Any) -> dict[str, Any]:
    """Work before and after the tasks are cut in another way, max-min fair by assignments."""
    a, c, f = fractions(demands), fractions(capacities), fractions(factors)
    before = max_min(a, c, [ONE] * len(a))
    after = max_min([[v * d for d in row] for v, row in zip(f, a, strict=True)], c, [ONE] * len(a))
    changed = any(y * v != x for x, y, v in zip(before, after, f, strict=True))
    return {"before": before, "after": after, "holds": not changed}


def dominant_resources_are(demands: Any, capacities: Any, printed: Any) -> dict[str, Any]:
    """Whether these are the printed ones."""
    found = dominant_resources(demands, capacities)
    return {"dominant": found, "holds": list(printed) == found}


def allocated(policy: str, demands: Any, capacities: Any, prices: Any) -> Row:
    """Tasks under "drf", "asset" or "ceei"."""
    if policy == "drf":
        return drf_tasks(demands, capacities)
    return asset_tasks(demands, capacities) if policy == "asset" else ceei_tasks(demands, capacities, prices)


def sharing_incentive(policy: str, demands: Any, capacities: Any, prices: Any = None) -> dict[str, Any]:
    """Tasks, and those of an n-th of the pool."""
    a, c = fractions(demands), fractions(capacities)
    tasks = allocated(policy, a, c, prices)
    fair = [runs(row, c) / len(a) for row in a]
    return {"tasks": tasks, "alone": fair, "holds": not any(x < y for x, y in zip(tasks, fair, strict=True))}


def bottleneck_fairness(policy: str, demands: Any, capacities: Any, prices: Any = None) -> dict[str, Any]:
    """Shares of the resource that stops each user when it is alone."""
    a, c = fractions(demands), fractions(capacities)
    tasks = allocated(policy, a, c, prices)
    [common] = set(dominant_resources(a, c))
    held = [x * row[common - 1] / c[common - 1] for x, row in zip(tasks, a, strict=True)]
    return {"tasks": tasks, "shares": held, "holds": set(held) == {Fraction(1, len(a))}}


def truthfulness(
    policy: str, demands: Any, capacities: Any, claim: Any, prices: Any = None, claimed_prices: Any = None
) -> dict[str, Any]:
    """What user 1 runs with the truth and with the claim."""
    a, said = fractions(demands), fractions(claim)
    honest = allocated(policy, a, capacities, prices)[0]
    given = allocated(policy, [said, *a[1:]], capacities, claimed_prices)[0]
    lying = runs(a[0], [given * d for d in said])
    return {"honest": honest, "lying": lying, "holds": not honest < lying}


def population_monotonicity(
    policy: str, demands: Any, capacities: Any, prices: Any = None, later_prices: Any = None
) -> dict[str, Any]:
    """Tasks of those who stay, before and after."""
    a = fractions(demands)
    before = allocated(policy, a, capacities, prices)[: len(a) - 1]
    after = allocated(policy, a[: len(a) - 1], capacities, later_prices)
    lost = [x - y for x, y in zip(before, after, strict=True)]
    return {"before": before, "after": after, "holds": max(lost) <= 0}


def resource_monotonicity(
    policy: str, demands: Any, capacities: Any, more: Any, prices: Any = None, later_prices: Any = None
) -> dict[str, Any]:
    """Tasks with the capacities and with more."""
    grown = min(new - old for old, new in zip(fractions(capacities), fractions(more), strict=True))
    before, after = (
        allocated(policy, demands, capacities, prices),
        allocated(policy, demands, more, later_prices),
    )
    lost = max(x - y for x, y in zip(before, after, strict=True))
    return {"before": before, "after": after, "holds": grown < 0 or lost <= 0}


def exchange_has_holdings(contributions: Any, needs: Any, user: int, printed: Any) -> dict[str, Any]:
    """What the user holds after each order of the users."""
    numbers = range(1, len(contributions) + 1)
    found = {tuple(exchanged(contributions, needs, list(order))[user - 1]) for order in permutations(numbers)}
    return {"by all orders": sorted(found), "holds": any(list(row) == fractions(printed) for row in found)}


def only_what_was_brought(contributions: Any, needs: Any) -> dict[str, Any]:
    """Holdings by swaps along lines."""
    after = exchanged(contributions, needs)
    more = [
        h - b
        for rows in zip(after, fractions(contributions), strict=True)
        for h, b in zip(*rows, strict=True)
    ]
    return {"after": after, "holds": max(more) <= 0}


def overstated_contribution(contributions: Any, needs: Any, claim: Any) -> dict[str, Any]:
    """What user 1 holds with the truth and with the claim."""
    honest, lying = exchanged(contributions, needs)[0], exchanged([claim, *contributions[1:]], needs)[0]
    return {
        "honest": honest,
        "lying": lying,
        "holds": max(y - x for x, y in zip(honest, lying, strict=True)) <= 0,
    }


def ratio_optimum_is(demands: Any, capacities: Any, ratio: Any, printed: Any) -> dict[str, Any]:
    """The largest multiple of (ratio, 1) that fits: of a user whose task is that mixture."""
    a, q = fractions(demands), fraction(ratio)
    mixture = [q * x + y for x, y in zip(*a, strict=True)]
    y = runs(mixture, fractions(capacities))
    return {"tasks": [q * y, y], "holds": [q * y, y] == fractions(printed)}


def joining_times(demands: Any, capacities: Any, joined: Any, printed: Any) -> dict[str, Any]:
    """Tasks by assignments."""
    found = tdrf_tasks(demands, capacities, joined)
    return {"tasks": found, "holds": fractions(printed) == found}


def nobody_starves(demands: Any, capacities: Any, joined: Any, start: Any) -> dict[str, Any]:
    """Tasks by assignments."""
    found = tdrf_tasks(demands, capacities, joined, start)
    return {"tasks": found, "holds": not any(x <= 0 for x in found)}


def late_sharing_incentive(demands: Any, capacities: Any, joined: Any) -> dict[str, Any]:
    """Tasks by assignments, and those of an n-th of the pool."""
    a, c = fractions(demands), fractions(capacities)
    tasks, fair = tdrf_tasks(a, c, joined), [runs(row, c) / len(a) for row in a]
    return {"tasks": tasks, "alone": fair, "holds": not any(x < y for x, y in zip(tasks, fair, strict=True))}


def early_joining(demands: Any, capacities: Any, joined: Any, earlier: Any) -> dict[str, Any]:
    """What the last user runs, joining as it does and earlier."""
    times = list(joined)
    honest = tdrf_tasks(demands, capacities, times)[-1]
    times[-1] = earlier
    early = tdrf_tasks(demands, capacities, times)[-1]
    return {"honest": honest, "early": early, "holds": not early > honest}


def longer_stay(demands: Any, capacities: Any, joined: Any, left: Any) -> dict[str, Any]:
    """Dominant shares, and whether any user who stays less long has more."""
    a, c = fractions(demands), fractions(capacities)
    share = [x / runs(row, c) for x, row in zip(tdrf_tasks(a, c, joined), a, strict=True)]
    stay = [fraction(e) - fraction(b) for b, e in zip(joined, left, strict=True)]
    top = max(range(len(stay)), key=lambda i: stay[i])
    return {"stay": stay, "share": share, "holds": not any(s > share[top] for s in share)}


def timed_pareto(contributions: Any, demands: Any, capacities: Any) -> dict[str, Any]:
    """Tasks on what users hold, tasks that start beside, and DRF of the whole pool."""
    after, a = exchanged(contributions, demands), fractions(demands)
    supported = [runs(row, bundle) for row, bundle in zip(a, after, strict=True)]
    more = whole_task_order(a, capacities, held=after)
    pooled = drf_tasks(a, capacities)
    worse = all(x < y for x, y in zip(supported, pooled, strict=True)) and more == []
    return {"supported": supported, "started": more, "drf": pooled, "holds": not worse}


def stops_when_full(demands: Any, capacities: Any) -> dict[str, Any]:
    """Tasks by merged levels, and who could add one."""
    a, c = fractions(demands), fractions(capacities)
    order = whole_task_order(a, c)
    tasks = [order.count(i) for i in range(1, len(a) + 1)]
    room = [c_j - u for c_j, u in zip(c, usage(a, [Fraction(x) for x in tasks]), strict=True)]
    fits = [i for i, row in enumerate(a, 1) if runs(row, room) >= 1]
    return {"tasks": tasks, "still fit": fits, "holds": fits == []}


def complaint_free_is_bmf(demands: Any, capacities: Any, tasks: Any) -> dict[str, Any]:
    """Nobody is below an n-th of all full resources, and somebody is beaten on all of them."""
    a, c, x = fractions(demands), fractions(capacities), fractions(tasks)
    load = usage(a, x)
    full = [j for j, u in enumerate(load) if u == c[j]]
    below = [all(x_i * row[j] < c[j] / len(x) for j in full) for x_i, row in zip(x, a, strict=True)]
    fits = min(x) >= 0 and all(u <= c_j for u, c_j in zip(load, c, strict=True))
    shares = [[x_i * d / c_j for d, c_j in zip(row, c, strict=True)] for x_i, row in zip(x, a, strict=True)]
    return {"shares": shares, "holds": is_bottleneck_max(a, c, x) or any(below) or not fits}


def ceei_tasks(demands: Any, capacities: Any, prices: Any) -> Row:
    """What equal incomes buy, if the product of these tasks is the largest that fits."""
    tasks = pf_tasks(demands, capacities, prices)
    if tasks is None:
        raise ProofError(f"the prices {prices} are none of a competitive equilibrium from equal incomes")
    return tasks


def holdings_within(holdings: Any, contributions: Any) -> dict[str, Any]:
    """Sums of each resource held and brought."""
    held, brought = (
        [sum(column) for column in zip(*fractions(rows), strict=True)] for rows in (holdings, contributions)
    )
    return {
        "held": held,
        "brought": brought,
        "holds": not any(h > b for h, b in zip(held, brought, strict=True)),
    }


def contributions_within(contributions: Any, capacities: Any) -> dict[str, Any]:
    """Sums of each resource brought."""
    brought = usage(fractions(contributions), [Fraction(1)] * len(contributions))
    return {
        "total": brought,
        "holds": not any(b > c for b, c in zip(brought, fractions(capacities), strict=True)),
    }
