r"""Asset fairness, equal incomes (CEEI) and whole tasks on one pool, and what is asked of such mechanisms.

*Asset fairness* equalises the sums :math:`x_i\sum_j a_{ij}/c_j` of the shares of all resources. A
*competitive equilibrium from equal incomes* (CEEI) has prices :math:`p_j \ge 0` under which everybody
spends an income of 1 on tasks and all resources with a price are sold out. *Whole tasks* are started one by
one for the user with the lowest dominant share, until one does not fit. After A. Ghodsi et al., "Dominant
Resource Fairness: Fair Allocation of Multiple Resource Types", NSDI 2011.

Demands are positive, as in the paper; a test of a property says whether it "holds" and what was compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

from proofs.definitions.exact import ZERO, Matrix, Row, dot, shares_of, small_demands, usage
from proofs.definitions.pools.filling import drf_tasks, filled, pf_tasks, tasks_with
from proofs.definitions.registry import Case, define, define_on_both, fractions
from proofs.errors import ProofError

__all__ = ["beside_equal_parts", "started_tasks", "whole_task_order"]


@define
def dominant_resources(demands: Any, capacities: Any) -> list[int]:
    """The resource, numbered from 1, of which a task of each user holds the largest share."""
    return [row.index(max(row)) + 1 for row in shares_of(fractions(demands), fractions(capacities))]


@define_on_both
def asset_tasks(demands: Any, capacities: Any) -> Row:
    """Asset fairness: the sums of shares grow alike until a resource is full, then its users stop."""
    a, c = fractions(demands), fractions(capacities)
    return filled(a, c, [1 / sum(row, ZERO) for row in shares_of(a, c)])


@define_on_both
def ceei_tasks(demands: Any, capacities: Any, prices: Any) -> Row:
    """Tasks that an income of 1 buys for each user at prices that clear the market: those of PF.

    Raises
    ------
    ProofError
        If the prices are none of a competitive equilibrium from equal incomes.
    """
    a, c, p = fractions(demands), fractions(capacities), fractions(prices)
    tasks = pf_tasks(a, c, p)
    if tasks is None:
        demand = [1 / dot(p, row) for row in a]
        raise ProofError(f"at the prices {p} the market for {a} in {c} does not clear: demand is {demand}")
    return tasks


@define_on_both
def pool_tasks(policy: str, demands: Any, capacities: Any, prices: Any = None) -> Row:
    """Tasks under "drf", "asset" or "ceei"; the last needs the prices of its equilibrium."""
    if policy == "ceei":
        return ceei_tasks(demands, capacities, prices)
    return {"drf": drf_tasks, "asset": asset_tasks}[policy](demands, capacities)


@define_on_both
def levels_and_full(
    policy: str, least_demand: int, largest_demand: int, largest_capacity: int
) -> Iterator[Case]:
    """Three users on two resources: shares, dominant or summed, are equal, and some resource is full."""
    rows = small_demands(2, largest_demand, least_demand)
    for a, c in product(product(rows, repeat=3), product(range(1, largest_capacity + 1), repeat=2)):
        tasks, part = pool_tasks(policy, a, c), shares_of(fractions(a), fractions(c))
        level = [x * (max(row) if policy == "drf" else sum(row)) for x, row in zip(tasks, part, strict=True)]
        full = any(u == c_j for u, c_j in zip(usage(fractions(a), tasks), c, strict=True))
        yield {"demands": a, "capacities": c, "tasks": tasks}, len(set(level)) == 1 and full


@define_on_both
def sharing_incentive(policy: str, demands: Any, capacities: Any, prices: Any = None) -> dict[str, Any]:
    """Whether each of n users runs what the n-th part of every resource would run."""
    a, c = fractions(demands), fractions(capacities)
    return beside_equal_parts(a, c, pool_tasks(policy, a, c, prices))


def beside_equal_parts(demands: Matrix, capacities: Row, tasks: Row) -> dict[str, Any]:
    """Tasks, and those that the n-th part of every resource runs; the property: nobody has less."""
    alone = [tasks_with(row, [c / len(demands) for c in capacities]) for row in demands]
    return {"tasks": tasks, "alone": alone, "holds": all(x >= y for x, y in zip(tasks, alone, strict=True))}


@define_on_both
def bottleneck_fairness(policy: str, demands: Any, capacities: Any, prices: Any = None) -> dict[str, Any]:
    """Whether each of n users holds the n-th part of the resource that is dominant for all.

    Raises
    ------
    ProofError
        If no resource is.
    """
    a, c = fractions(demands), fractions(capacities)
    part = shares_of(a, c)
    common = [j for j in range(len(c)) if all(row[j] == max(row) for row in part)]
    if not common:
        raise ProofError("no resource is dominant for all users")
    tasks = pool_tasks(policy, a, c, prices)
    held = [x * row[common[0]] for x, row in zip(tasks, part, strict=True)]
    return {"tasks": tasks, "shares": held, "holds": all(h * len(a) == 1 for h in held)}


@define_on_both
def truthfulness(
    policy: str, demands: Any, capacities: Any, claim: Any, prices: Any = None, claimed_prices: Any = None
) -> dict[str, Any]:
    """Whether the first user runs no more tasks of hers by claiming other demands."""
    a, c, said = fractions(demands), fractions(capacities), fractions(claim)
    honest = pool_tasks(policy, a, c, prices)[0]
    got = pool_tasks(policy, [said, *a[1:]], c, claimed_prices)[0]
    lying = tasks_with(a[0], [got * d for d in said])
    return {"honest": honest, "lying": lying, "holds": lying <= honest}


@define_on_both
def population_monotonicity(
    policy: str, demands: Any, capacities: Any, prices: Any = None, later_prices: Any = None
) -> dict[str, Any]:
    """Whether nobody loses tasks when the last user leaves."""
    a, c = fractions(demands), fractions(capacities)
    return _kept(pool_tasks(policy, a, c, prices)[:-1], pool_tasks(policy, a[:-1], c, later_prices))


@define_on_both
def resource_monotonicity(
    policy: str, demands: Any, capacities: Any, more: Any, prices: Any = None, later_prices: Any = None
) -> dict[str, Any]:
    """Whether nobody loses tasks when the capacities rise to ``more``.

    Raises
    ------
    ProofError
        If some capacity falls.
    """
    a, c, larger = fractions(demands), fractions(capacities), fractions(more)
    if any(new < old for old, new in zip(c, larger, strict=True)):
        raise ProofError("a capacity falls")
    return _kept(pool_tasks(policy, a, c, prices), pool_tasks(policy, a, larger, later_prices))


def _kept(before: Row, after: Row) -> dict[str, Any]:
    """Tasks before and after a change; the property: nobody has less."""
    return {
        "before": before,
        "after": after,
        "holds": all(y >= x for x, y in zip(before, after, strict=True)),
    }


@define
def whole_task_order(
    demands: Any,
    capacities: Any,
    factors: Any = None,
    ties: Any = None,
    held: Any = None,
    poorest: bool = True,
) -> list[int]:
    """Users, numbered from 1, in the order in which whole tasks start, up to the first that does not fit.

    Parameters
    ----------
    factors : list, optional
        What dominant shares are multiplied by before they are compared (default 1).
    ties : list of int, optional
        Who comes first among equals (default: as numbered).
    held : matrix, optional
        What users hold before the first task; it counts in the usage and in the shares.
    poorest : bool
        False: the user with the highest share is served, for mutants.
    """
    a, c = fractions(demands), fractions(capacities)
    f = fractions(factors) if factors is not None else [Fraction(1)] * len(a)
    holdings = fractions(held) if held is not None else [[Fraction(0)] * len(c) for _ in a]
    first = ties or list(range(1, len(a) + 1))
    order: list[int] = []
    while True:
        level = [f_i * max(row) for f_i, row in zip(f, shares_of(holdings, c), strict=True)]
        wanted = (min if poorest else max)(level)
        i = next(k for k in first if level[k - 1] == wanted) - 1
        if any(sum(row[j] for row in holdings) + a[i][j] > c[j] for j in range(len(c))):
            return order
        holdings[i] = [h + d for h, d in zip(holdings[i], a[i], strict=True)]
        order.append(i + 1)


@define_on_both
def started_tasks(demands: Any, capacities: Any, factors: Any = None, ties: Any = None) -> list[int]:
    """Whole tasks of each user at the end."""
    order = whole_task_order(demands, capacities, factors, ties)
    return [order.count(i + 1) for i in range(len(demands))]


@define_on_both
def whole_task_gaps(largest_demand: int, largest_capacity: int, poorest: bool = True) -> Iterator[Case]:
    """Two users on two resources, all small integers: no two dominant shares differ by more than a task's."""
    amounts = range(1, largest_demand + 1)
    pairs = list(product(amounts, repeat=2))
    for capacities in product(range(largest_demand, largest_capacity + 1), repeat=2):
        for first, second in product(pairs, repeat=2):
            a, c = fractions([first, second]), fractions(capacities)
            order = whole_task_order(a, c, poorest=poorest)
            one = [max(row) for row in shares_of(a, c)]
            held = [order.count(i + 1) * one[i] for i in range(2)]
            case = {"demands": [first, second], "capacities": capacities, "shares": held, "one task": one}
            yield case, abs(held[0] - held[1]) <= max(one)


@define
def machine_deviation(demand: int, capacity: int, machines: int) -> dict[str, Any]:
    """Whether whole tasks of one user on equal machines lose at most one task against divisible ones."""
    whole, divisible = machines * (capacity // demand), Fraction(machines * capacity, demand)
    return {"whole": whole, "divisible": divisible, "holds": divisible - whole <= 1}


@define_on_both
def dominant_resources_are(demands: Any, capacities: Any, printed: Any) -> dict[str, Any]:
    """Whether the dominant resources are those that are printed."""
    found = dominant_resources(demands, capacities)
    return {"dominant": found, "printed": printed, "holds": found == printed}
