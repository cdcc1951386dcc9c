r"""Exact placements on servers: fractions next to a hint, with a proof that they are what is meant.

With :math:`T_n = \sum_i x_{ni}` tasks of class n, weights :math:`w_n` and :math:`b_{nir}` as in
:mod:`fairness.properties.exact.rational`:

*PS-DSF, resource division* ([1]_, Theorem 1): every class has on every server i that it may use a bottleneck,
a full resource r with :math:`b_{nir} > 0` such that
:math:`T_p/(\gamma_{pi} w_p) \le T_n/(\gamma_{ni} w_n)` for every class p that holds some of it.

*PS-DSF, time division* (Theorem 2): every server is always busy, and :math:`x_{pi} > 0` implies
:math:`T_p/(\gamma_{pi} w_p) \le T_n/(\gamma_{ni} w_n)` for every class n that may use server i. This is
Theorem 1 with time as the only resource.

*Leximin* of levels :math:`y_n = T_n/(w_n g_n)` with a yardstick g: nobody can run more tasks while all
classes of the same or a lower level keep theirs. For each level y the proof is a list of prices
:math:`q_{ir} \ge 0` of whole resources. Let :math:`v_n` be the price of a task of class n where it is
cheapest, :math:`v_n = \min_i \sum_r q_{ir} b_{nir}` over the servers that it may use, and L the classes with
:math:`y_n \le y`. If

.. math:: \sum_{ir} q_{ir} \le \sum_{n \in L} v_n T_n, \qquad v_n > 0 \text{ for the classes of level } y,

then for every feasible placement x' that gives the classes of L no less,

.. math:: \sum_{n \in L} v_n T'_n \le \sum_{ni} x'_{ni} \sum_r q_{ir} b_{nir} \le \sum_{ir} q_{ir}
   \le \sum_{n \in L} v_n T_n,

so that :math:`T'_n = T_n` wherever :math:`v_n > 0`: nobody at the level y gains. Prices come from a float
solver and are made rational; the two conditions are then checked.

References
----------
.. [1] J. Khamse-Ashari et al., "Per-server dominant-share fairness (PS-DSF)", ICC 2017. arXiv:1611.00404.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

import numpy as np

from fairness.arguments.validation import FloatArray
from fairness.exact.linear_algebra import dot
from fairness.filling.fractions import fill
from fairness.properties.exact.rational import (
    NEAR,
    Enclosure,
    RationalModel,
    Row,
    Rows,
    Unproved,
    solve,
    vertex,
)

__all__ = ["leximin", "per_server_filling", "pooled", "ps_dsf", "stops", "totals"]

Equation = dict[tuple[int, int], Fraction]
"""Coefficients by (class, server)."""


def totals(placement: Rows) -> Row:
    """Sum of each row: tasks per class on all servers."""
    return [sum(row, Fraction(0)) for row in placement]


def pooled(model: RationalModel) -> Row | None:
    """Tasks that hold all of the dominant resource of the whole cluster; None with effective gamma."""
    for n, row in enumerate(model.gamma):
        for i, alone in enumerate(row):
            nominal = min(c / d for c, d in zip(model.capacities[i], model.demands[n], strict=True) if d > 0)
            if alone not in (0, nominal):
                return None
    total = totals([list(column) for column in zip(*model.capacities, strict=True)])
    return [min(c / d for c, d in zip(total, row, strict=True) if d > 0) for row in model.demands]


def per_server_filling(model: RationalModel) -> Enclosure:
    """Weighted dominant resource fairness on each server by itself."""
    n, s, _ = model.sizes
    columns = [
        fill([model.shares[k][i] for k in range(n)], [model.weights[k] * model.gamma[k][i] for k in range(n)])
        for i in range(s)
    ]
    placement = [[columns[i][k] for i in range(s)] for k in range(n)]
    return Enclosure.at(placement, "progressive filling on each server, event by event, in fractions")


def ps_dsf(model: RationalModel, hint: FloatArray) -> Enclosure | Unproved:
    """The PS-DSF placement next to the hint, under the division of the model."""
    held, levels = _held(model, hint), _levels(model, hint)
    equations = _full(model, hint, held)
    for i in range(model.sizes[1]):
        alone = [row[i] for row in model.gamma]
        users = sorted((n for n, row in enumerate(held) if row[i]), key=lambda n: levels[n, i])
        for one, other in pairwise(users):
            if levels[other, i] - levels[one, i] <= NEAR * levels[other, i]:
                equations.append((_difference(model, one, other, alone), Fraction(0)))
    claim = (
        "every class has a bottleneck on every server that it may use (Theorem 1); the placement is the one "
        "that the mechanism chose, and need not be the only one"
        if model.division == "resource"
        else "servers always busy, each with its lowest levels only (Theorem 2); the totals are unique, the "
        "placement is the one that the mechanism chose"
    )
    return _proved(model, hint, held, equations, lambda x: _no_bottleneck(model, x), claim)


def leximin(model: RationalModel, hint: FloatArray, yardstick: Row) -> Enclosure | Unproved:
    """The placement next to the hint, with leximin totals over the weighted yardstick."""
    held = _held(model, hint)
    scale = [w * g for w, g in zip(model.weights, yardstick, strict=True)]
    levels = hint.sum(axis=1) / np.array([float(v) for v in scale])
    equations = _full(model, hint, held)
    order = np.argsort(levels)
    for one, other in pairwise(order.tolist()):
        if levels[other] - levels[one] <= NEAR * levels[other]:
            equations.append((_difference(model, one, other, yardstick), Fraction(0)))
    claim = (
        "for every level there are prices at which nobody of this level can be given more unless a class of "
        "the same or a lower level loses; the totals are unique, the placement is the one that the mechanism "
        "chose"
    )
    return _proved(model, hint, held, equations, lambda x: _not_leximin(model, totals(x), scale), claim)


def _proved(
    model: RationalModel,
    hint: FloatArray,
    held: list[list[bool]],
    equations: list[tuple[Equation, Fraction]],
    prove: Callable[[Rows], str | None],
    claim: str,
) -> Enclosure | Unproved:
    places = [(n, i) for n, row in enumerate(held) for i, holds in enumerate(row) if holds]
    rows = [([row.get(p, Fraction(0)) for p in places], value) for row, value in equations]
    found = solve(rows, [float(hint[p]) for p in places])
    if found is None:
        return Unproved("the full resources and equal levels of the hint contradict each other")
    placement = [[Fraction(0) for _ in row] for row in model.gamma]
    for (n, i), value in zip(places, found, strict=True):
        placement[n][i] = value
    complaint = model.misfit(placement) or prove(placement)
    if complaint:
        return Unproved(f"the fractions near the hint are not what the mechanism means: {complaint}")
    return Enclosure.at(placement, claim, chosen=True)


def _no_bottleneck(model: RationalModel, placement: Rows) -> str | None:
    n, s, m = model.sizes
    tasks, used = totals(placement), model.usage(placement)
    for i in range(s):
        users = [k for k in range(n) if model.gamma[k][i] > 0]
        level = {k: tasks[k] / (model.gamma[k][i] * model.weights[k]) for k in users}
        for k in users:
            stops = (
                all(level[p] <= level[k] for p in users if placement[p][i] * model.shares[p][i][r] > 0)
                for r in range(m)
                if used[i][r] == 1 and model.shares[k][i][r] > 0
            )
            if not any(stops):
                return f"class {k + 1} has no bottleneck on server {i + 1}"
    return None


def _not_leximin(model: RationalModel, tasks: Row, scale: Row) -> str | None:
    levels = [t / v for t, v in zip(tasks, scale, strict=True)]
    if min(levels) <= 0:
        return "a class has no task"
    for level in sorted(set(levels)):
        lower = [k for k, y in enumerate(levels) if y <= level]
        top = [k for k in lower if levels[k] == level]
        prices = _prices(model, tasks, lower, top)
        if prices is None or not stops(model, tasks, lower, top, prices):
            return f"no prices show that nobody at the level {level} can be given more"
    return None


def stops(model: RationalModel, tasks: Row, lower: list[int], top: list[int], prices: Rows) -> bool:
    """Whether the prices prove that no class of ``top`` can gain unless one of ``lower`` loses."""
    if min(min(row) for row in prices) < 0:
        return False
    cheapest = {
        k: min(dot(prices[i], model.shares[k][i]) for i, alone in enumerate(model.gamma[k]) if alone > 0)
        for k in lower
    }
    spent = sum((cheapest[k] * tasks[k] for k in lower), Fraction(0))
    return all(cheapest[k] > 0 for k in top) and sum(map(sum, prices)) <= spent


def _prices(model: RationalModel, tasks: Row, lower: list[int], top: list[int]) -> Rows | None:
    """Prices q_ir for :func:`stops`: a linear program for q and the bills v_n T_n of ``lower``."""
    _, s, m = model.sizes
    goods = [(i, r) for i in range(s) for r in range(m)]
    width = len(goods) + len(lower)
    constraints: list[tuple[Row, Fraction]] = []
    for place, k in enumerate(lower):
        for i, alone in enumerate(model.gamma[k]):
            if alone > 0:
                row = [-tasks[k] * model.shares[k][i][r] if j == i else Fraction(0) for j, r in goods]
                row += [Fraction(int(place == other)) for other in range(len(lower))]
                constraints.append((row, Fraction(0)))
        if k in top:
            row = [Fraction(0)] * width
            row[len(goods) + place] = Fraction(-1)
            constraints.append((row, Fraction(-1)))
    objective = [Fraction(-1)] * len(goods) + [Fraction(1)] * len(lower)
    # The objective is at most 0 at leximin totals; this bounds it at others too.
    constraints.append((objective, Fraction(1)))
    found = vertex(objective, constraints)
    return None if found is None else [found[i * m : (i + 1) * m] for i in range(s)]


def _held(model: RationalModel, hint: FloatArray) -> list[list[bool]]:
    """Where the hint places tasks, up to rounding."""
    return [
        [alone > 0 and hint[n, i] > NEAR * float(alone) for i, alone in enumerate(row)]
        for n, row in enumerate(model.gamma)
    ]


def _levels(model: RationalModel, hint: FloatArray) -> FloatArray:
    """Virtual dominant shares over weights of the hint, (n_classes, n_servers)."""
    gamma = np.array([[float(v) for v in row] for row in model.gamma])
    weights = np.array([float(w) for w in model.weights])
    level = hint.sum(axis=1) / weights
    return np.divide(level[:, None], gamma, out=np.full_like(gamma, np.inf), where=gamma > 0)


def _full(model: RationalModel, hint: FloatArray, held: list[list[bool]]) -> list[tuple[Equation, Fraction]]:
    """Equations of the goods that the hint uses up."""
    _, s, m = model.sizes
    equations = []
    for i in range(s):
        users = [n for n, row in enumerate(held) if row[i]]
        for r in range(m):
            row = {(n, i): model.shares[n][i][r] for n in users}
            if sum(float(v) * hint[p] for p, v in row.items()) >= 1 - NEAR:
                equations.append((row, Fraction(1)))
    return equations


def _difference(model: RationalModel, one: int, other: int, yardstick: Row) -> Equation:
    """The level of one class minus that of the other: tasks over weight and yardstick."""
    sides = ((one, 1), (other, -1))
    return {
        (n, i): sign / (model.weights[n] * yardstick[n]) for n, sign in sides for i in range(model.sizes[1])
    }
