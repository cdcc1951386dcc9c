r"""The exchange of contributions and DRF with time constraints (TDRF).

*Exchange*, as far as the worked example determines it: pairs of users are visited once; for each pair of
resources of which the first user can use only the second and the second user only the first, they swap one
for one, as much as both have left; what a user still cannot use it does not hold in the end.

*TDRF* equalises dominant shares times :math:`w_i = (t_i - t^{init})/(t^{max} - t^{init})`, with the joining
time :math:`t_i`. After C. Zhu, "Dominant resource fairness with time constraints in cloud computing".
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, permutations, product
from typing import Any

from proofs.definitions.exact import Row, shares_of, usage
from proofs.definitions.pools.filling import drf_tasks, tasks_with, used
from proofs.definitions.pools.mechanisms import beside_equal_parts, started_tasks, whole_task_order
from proofs.definitions.registry import Case, define, define_on_both, fraction, fractions

__all__ = ["exchanged"]


@define
def exchanged(contributions: Any, needs: Any, order: Any = None) -> list[Row]:
    """What users hold after the exchange; ``needs`` are positive where a user can use a resource."""
    held, use = fractions(contributions), fractions(needs)
    resources = range(len(held[0]))
    sequence = order or list(range(1, len(held) + 1))
    for i, k in combinations([user - 1 for user in sequence], 2):
        for r, s in product(resources, repeat=2):
            if use[k][r] and not use[i][r] and use[i][s] and not use[k][s]:
                amount = min(held[i][r], held[k][s])
                held[i][r], held[k][r] = held[i][r] - amount, held[k][r] + amount
                held[i][s], held[k][s] = held[i][s] + amount, held[k][s] - amount
    return [
        [h if d else Fraction(0) for h, d in zip(row, want, strict=True)]
        for row, want in zip(held, use, strict=True)
    ]


@define_on_both
def exchange_loses_nothing(users: int, largest: int) -> Iterator[Case]:
    """Users of two resources, in need of one or both: nobody ends with less of what it can use."""
    rows = list(product(range(largest + 1), repeat=2))
    for contributions in product(rows, repeat=users):
        for needs in product([(0, 1), (1, 0), (1, 1)], repeat=users):
            after = exchanged(contributions, needs)
            kept = all(
                after[i][r] >= contributions[i][r] for i in range(users) for r in range(2) if needs[i][r]
            )
            yield {"contributions": contributions, "needs": needs, "after": after}, kept


@define_on_both
def exchange_has_holdings(contributions: Any, needs: Any, user: int, printed: Any) -> dict[str, Any]:
    """Whether some order of the users leaves a user with the printed holdings."""
    orders = permutations(range(1, len(contributions) + 1))
    found = sorted({tuple(exchanged(contributions, needs, list(order))[user - 1]) for order in orders})
    return {"by all orders": found, "printed": printed, "holds": tuple(fractions(printed)) in found}


@define_on_both
def holdings_within(holdings: Any, contributions: Any) -> dict[str, Any]:
    """Whether users hold together no more of any resource than was brought."""
    held, brought = (used(rows, [1] * len(rows)) for rows in (holdings, contributions))
    within = all(h <= b for h, b in zip(held, brought, strict=True))
    return {"held": held, "brought": brought, "holds": within}


@define
def converted_is(contributions: Any, needs: Any, printed: Any) -> dict[str, Any]:
    """Whether unusable amounts, turned one for one into one usable resource, give what is printed."""
    possible = []
    for brought, use in zip(fractions(contributions), fractions(needs), strict=True):
        kept = [b if d else Fraction(0) for b, d in zip(brought, use, strict=True)]
        spare = sum(brought) - sum(kept)
        possible.append([[h + spare * (r == s) for r, h in enumerate(kept)] for s, d in enumerate(use) if d])
    wanted = fractions(printed)
    fits = [rows in choices for rows, choices in zip(wanted, possible, strict=True)]
    return {"possible": possible, "fits": fits, "holds": all(fits)}


@define
def visited_pairs(users: int) -> int:
    """Pairs of users that the exchange visits."""
    return len(list(combinations(range(users), 2)))


@define_on_both
def tdrf_tasks(demands: Any, capacities: Any, joined: Any, start: Any = 0) -> Row:
    """TDRF of divisible tasks: dominant shares times (joining time - start) are equal.

    The single user who joined at the start has the weight 0 and a product 0 whatever it gets, so it takes
    all it can.
    """
    a, c = fractions(demands), fractions(capacities)
    late = [t - fraction(start) for t in fractions(joined)]
    if min(late) > 0:
        return drf_tasks(a, c, [1 / w for w in late])
    first = late.index(0)
    alone = tasks_with(a[first], c)
    left = [c_j - alone * d for c_j, d in zip(c, a[first], strict=True)]
    if len([w for w in late if not w]) > 1 or any(row[left.index(0)] == 0 for row in a):
        raise NotImplementedError("needed only for one first user whose full resource all others demand")
    return [alone if i == first else Fraction(0) for i in range(len(a))]


@define
def ratio_optimum(demands: Any, capacities: Any, ratio: Any) -> Row:
    """The largest (x, y) of two users that fits, with x = ratio y."""
    a, c, q = fractions(demands), fractions(capacities), fraction(ratio)
    y = min(c_j / u for c_j, u in zip(c, usage(a, [q, Fraction(1)]), strict=True))
    return [q * y, y]


@define_on_both
def ratio_optimum_is(demands: Any, capacities: Any, ratio: Any, printed: Any) -> dict[str, Any]:
    """Whether the largest (x, y) with x = ratio y is the printed one."""
    found = ratio_optimum(demands, capacities, ratio)
    return {"tasks": found, "printed": printed, "holds": found == fractions(printed)}


@define_on_both
def joining_times(demands: Any, capacities: Any, joined: Any, printed: Any) -> dict[str, Any]:
    """Whether TDRF gives the printed tasks."""
    found = tdrf_tasks(demands, capacities, joined)
    return {"tasks": found, "printed": printed, "holds": found == fractions(printed)}


@define_on_both
def nobody_starves(demands: Any, capacities: Any, joined: Any, start: Any) -> dict[str, Any]:
    """Whether every user runs something."""
    found = tdrf_tasks(demands, capacities, joined, start)
    return {"tasks": found, "holds": min(found) > 0}


@define_on_both
def late_sharing_incentive(demands: Any, capacities: Any, joined: Any) -> dict[str, Any]:
    """Whether under TDRF each of n users runs what the n-th part of every resource would run."""
    a, c = fractions(demands), fractions(capacities)
    return beside_equal_parts(a, c, tdrf_tasks(a, c, joined))


@define_on_both
def early_joining(demands: Any, capacities: Any, joined: Any, earlier: Any) -> dict[str, Any]:
    """Whether the last user gains nothing by joining earlier, and idling until it needs anything."""
    honest = tdrf_tasks(demands, capacities, joined)[-1]
    early = tdrf_tasks(demands, capacities, [*joined[:-1], earlier])[-1]
    return {"honest": honest, "early": early, "holds": early <= honest}


@define_on_both
def overstated_contribution(contributions: Any, needs: Any, claim: Any) -> dict[str, Any]:
    """Whether the first user holds no more of anything that it needs by overstating what it brings."""
    honest = exchanged(contributions, needs)[0]
    lying = exchanged([claim, *contributions[1:]], needs)[0]
    return {
        "honest": honest,
        "lying": lying,
        "holds": all(y <= x for x, y in zip(honest, lying, strict=True)),
    }


@define_on_both
def longer_stay(demands: Any, capacities: Any, joined: Any, left: Any) -> dict[str, Any]:
    """Whether the user who stays longest has the largest dominant share while all are there."""
    tasks = tdrf_tasks(demands, capacities, joined)
    stay = [fraction(end) - fraction(begin) for begin, end in zip(joined, left, strict=True)]
    one = shares_of(fractions(demands), fractions(capacities))
    share = [x * max(row) for x, row in zip(tasks, one, strict=True)]
    longest = share[stay.index(max(stay))]
    return {"stay": stay, "share": share, "holds": longest == max(share)}


@define_on_both
def only_what_was_brought(contributions: Any, needs: Any) -> dict[str, Any]:
    """Whether the exchange leaves each user with at most its contribution, resource by resource."""
    after, brought = exchanged(contributions, needs), fractions(contributions)
    pairs = [(h, b) for rows in zip(after, brought, strict=True) for h, b in zip(*rows, strict=True)]
    return {"after": after, "holds": all(h <= b for h, b in pairs)}


@define_on_both
def contributions_within(contributions: Any, capacities: Any) -> dict[str, Any]:
    """Whether the contributions add up to at most the capacities."""
    total = used(contributions, [1] * len(contributions))
    return {"total": total, "holds": all(t <= c for t, c in zip(total, fractions(capacities), strict=True))}


@define
def all_positive(demands: Any) -> dict[str, Any]:
    """Whether every user demands something of every resource."""
    zeros = [(i + 1, r + 1) for i, row in enumerate(fractions(demands)) for r, d in enumerate(row) if not d]
    return {"zeros": zeros, "holds": not zeros}


@define_on_both
def timed_pareto(contributions: Any, demands: Any, capacities: Any) -> dict[str, Any]:
    """Whether DRF of the whole pool cannot give everybody more than the exchange and Algorithm 2 do."""
    after, a = exchanged(contributions, demands), fractions(demands)
    supported = [tasks_with(row, bundle) for row, bundle in zip(a, after, strict=True)]
    more = whole_task_order(a, capacities, held=after)
    pooled = drf_tasks(a, capacities)
    better = not more and all(y > x for x, y in zip(supported, pooled, strict=True))
    return {"supported": supported, "started": more, "drf": pooled, "holds": not better}


@define_on_both
def stops_when_full(demands: Any, capacities: Any) -> dict[str, Any]:
    """Whether no user fits another whole task when Algorithm 2 stops."""
    a, tasks = fractions(demands), started_tasks(demands, capacities)
    held = used(demands, tasks)
    fits = [
        i
        for i, row in enumerate(a, 1)
        if all(u + d <= c for u, d, c in zip(held, row, fractions(capacities), strict=True))
    ]
    return {"tasks": tasks, "still fit": fits, "holds": not fits}


@define_on_both
def integer_thresholds(
    demands: Any, capacities: Any, first: int, thresholds: Any, tasks: Any
) -> Iterator[Case]:
    """Algorithm 2 of two users of weights 1 and k for all k > 0: tasks between the stated thresholds of k.

    The choice of the next user, a against b tasks, changes only where a s_1 = k b s_2, with the shares s of
    one task: so these k, a point between each two of them and one beyond both ends stand for all k > 0.
    ``first`` is served first among equals.
    """
    a, c = fractions(demands), fractions(capacities)
    one = [max(row) for row in shares_of(a, c)]
    most = [int(tasks_with(row, c)) for row in a]
    breaks = sorted({m * one[0] / (n * one[1]) for m in range(1, most[0] + 1) for n in range(1, most[1] + 1)})
    middles = [(low + high) / 2 for low, high in zip([Fraction(0), *breaks], breaks, strict=False)]
    limits = fractions(thresholds)
    for k in sorted([*breaks, *middles, breaks[-1] + 1]):
        passed = sum(k >= limit for limit in limits)
        got = started_tasks(a, c, [1, k], [first, 3 - first])
        yield {"k": k, "tasks": got}, got == tasks[passed]
