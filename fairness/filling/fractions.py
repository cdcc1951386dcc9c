r"""Progressive filling of a pool in fractions, event by event: the definition, without bounds.

Every class grows at its rate (:mod:`fairness.protocol.family`) until a resource that it demands is full or it
is at its limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

__all__ = ["fill", "growth_rates"]

Row = list[Fraction]
Shares = Sequence[Sequence[Fraction]]


def growth_rates(growth: str, shares: Shares, weights: Sequence[Fraction], own: Any = None) -> Row:
    """Tasks per unit of level of each class.

    Parameters
    ----------
    growth : {"tasks", "dominant", "assets"}
    shares : list of lists, (n_classes, n_resources)
        Share of each resource that one task holds.
    weights : list, (n_classes,)
    own : nested sequence of numbers, (n_classes, n_resources), optional
        Weights of the classes on the resources. Floats count as the fractions that they are.

    Returns
    -------
    list of Fraction
        The weight of a class that holds nothing: any rate will do, since its limit alone bounds it.

    Examples
    --------
    >>> rows = [[Fraction(1, 9), Fraction(4, 18)], [Fraction(3, 9), Fraction(1, 18)]]
    >>> growth_rates("dominant", rows, [Fraction(1), Fraction(1)])
    [Fraction(9, 2), Fraction(3, 1)]
    """
    rates = []
    for i, (weight, row) in enumerate(zip(weights, shares, strict=True)):
        held = {j: share for j, share in enumerate(row) if share}
        if growth == "tasks" or not held:
            rates.append(weight)
        elif growth == "dominant":
            given = {j: Fraction(1) if own is None else Fraction(own[i][j]) for j in held}
            rates.append(weight * min(given[j] / share for j, share in held.items()))
        else:
            rates.append(weight / sum(held.values()))
    return rates


def fill(shares: Shares, rates: Sequence[Fraction], limits: Sequence[Fraction | None] | None = None) -> Row:
    """Tasks when every class grows until it is at its limit, or a resource that it demands is full.

    Parameters
    ----------
    shares : list of lists, (n_classes, n_resources)
        Share of each resource that one task holds.
    rates : list, (n_classes,)
        Tasks per unit of level.
    limits : list, (n_classes,), optional
        Most tasks; None without a limit. A class without one that holds nothing is one that cannot run.

    Examples
    --------
    >>> fill([[Fraction(1), Fraction(1)], [Fraction(1), Fraction(0)]], [Fraction(1), Fraction(2)])
    [Fraction(1, 3), Fraction(2, 3)]
    >>> fill([[Fraction(1)], [Fraction(1)]], [Fraction(1), Fraction(1)], [Fraction(1, 4), None])
    [Fraction(1, 4), Fraction(3, 4)]
    """
    most = [None] * len(rates) if limits is None else limits
    tasks = [Fraction(0) for _ in rates]
    free = [Fraction(1) for _ in shares[0]]
    growing = [i for i, r in enumerate(rates) if r > 0 and most[i] != 0 and (any(shares[i]) or most[i])]
    while growing:
        load = [sum((shares[i][j] * rates[i] for i in growing), Fraction(0)) for j in range(len(free))]
        steps = [f / v for f, v in zip(free, load, strict=True) if v > 0]
        for i in growing:
            limit = most[i]
            if limit is not None:
                steps.append((limit - tasks[i]) / rates[i])
        step = min(steps)
        for i in growing:
            tasks[i] += step * rates[i]
        free = [f - step * v for f, v in zip(free, load, strict=True)]
        growing = [
            i
            for i in growing
            if tasks[i] != most[i] and all(f > 0 for f, b in zip(free, shares[i], strict=True) if b > 0)
        ]
    return tasks
