r"""The support of a linear Fisher market: who buys where, found exactly by pivoting.

Class :math:`k` spends its budget :math:`w_k` on servers: :math:`b_{ki}\ge 0` is the money it leaves at
server i, so :math:`\sum_i b_{ki}=w_k` and the price of the server is :math:`p_i=\sum_k b_{ki}`. The
equilibrium is the minimum of the convex function [1]_

.. math:: F(b) = \sum_i p_i\log p_i - \sum_{k,i} b_{ki}\log\gamma_{ki},

whose constraints are a transport problem. Among its minima is one whose *support*, the pairs with money, is a
forest on classes and servers. On a forest everything follows by walking: a class buys only where its *rate*
:math:`r_k = \gamma_{ki}/p_i` is the largest, so a tree fixes the ratios of its prices, the budgets in the
tree their scale, and the money is found from the leaves inwards. As in the network simplex method, two steps
alternate, each of which lowers F:

* *settle*: move the money of every tree towards the minimum of F on it; a pair that runs out of money on the
  way is cut, and the two parts settle on their own;
* *enter*: of the pairs with :math:`\gamma_{ki}/p_i > r_k`, one enters. It joins two trees or closes a cycle;
  on a cycle money moves at constant prices until a pair runs out, and is cut.

F falls from one settled forest to the next and there are finitely many, so this ends, with ties or without;
at the end no pair is better than those in use, which is the optimality condition. From afar it would take
very many pivots; :mod:`fairness.policies.servers.engines.market_interior` brings it near.

A forest is held by its nodes, classes first, then servers: ``parent`` (-1 for a root), ``pair`` (the
pair that joins node and parent) and ``money`` (what is spent there).

References
----------
.. [1] V. I. Shmyrev, "An algorithm for finding equilibrium in the linear exchange model with fixed
   budgets", Journal of Applied and Industrial Mathematics 3(4), 2009. doi:10.1134/S1990478909040097.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairness.arguments.validation import FloatArray, IntArray
from fairness.machine.compiling import stored

__all__ = ["TIE", "Forest", "pivot", "plant"]

TIE = 1e-13
"""A pair enters only if it beats the best one in use by more than this part: rounding is below it."""

_BLOCK = 20_000  # pairs looked at, at least, before the best of them enters
_FAR = 1e250  # ratios of prices within a tree stay below this, for the sake of the exponent range


class Forest(NamedTuple):
    """A support without cycles and the money on it, by nodes: the classes, then the servers."""

    parent: IntArray  # (n_classes + n_servers,)
    pair: IntArray  # (n_classes + n_servers,)
    money: FloatArray  # (n_classes + n_servers,)


class Market(NamedTuple):
    """Pairs of class and server with gamma > 0, class by class, and the budgets."""

    start: IntArray  # (n_classes + 1,): class k has the pairs start[k] to start[k + 1] - 1
    server: IntArray  # (n_pairs,)
    gamma: FloatArray  # (n_pairs,), tasks
    budgets: FloatArray  # (n_classes,)


@stored(nogil=True, error_model="numpy")
def plant(market: Market, n_servers: int, pairs: IntArray, classes: IntArray, amounts: FloatArray) -> Forest:
    """Forest that carries given money: pairs enter in turn, and of each cycle the least pair is emptied."""
    size = market.budgets.size + n_servers
    forest = Forest(np.full(size, -1), np.full(size, -1), np.zeros(size))
    mark = np.full(size, -1)
    for s in range(pairs.size):
        server = market.budgets.size + market.server[pairs[s]]
        _enter(forest, classes[s], server, pairs[s], amounts[s], False, mark, s)
    return forest


@stored(nogil=True, error_model="numpy")
def pivot(market: Market, forest: Forest, prices: FloatArray, most: int) -> tuple[bool, int]:
    """Pivot until no pair is better than those in use; fill prices; whether it is done, and the pivots."""
    start, server, gamma, budgets = market
    n, m = budgets.size, prices.size
    mark = np.full(n + m, -1)
    inverse = np.empty(m)
    row, steps = 0, 0
    rates = np.empty(n)
    _settle(market, forest, prices, rates)
    polished = False
    while steps < most:
        for i in range(m):
            inverse[i] = 1.0 / prices[i]  # infinite for a server that nobody uses yet: it is the best of all
        best, buyer, gain, looked, rows = -1, -1, 0.0, 0, 0
        while rows < n and (best < 0 or looked < _BLOCK):
            k = row
            row = row + 1 if row + 1 < n else 0
            rows += 1
            looked += start[k + 1] - start[k]
            top, at = 0.0, -1
            for e in range(start[k], start[k + 1]):
                rate = gamma[e] * inverse[server[e]]
                if rate > top:
                    top, at = rate, e
            if top > rates[k] * (1.0 + TIE):
                value = budgets[k] * np.log(top / rates[k])
                if value > gain:
                    best, buyer, gain = at, k, value
        if best < 0 and polished:
            return True, steps
        if best < 0:
            # Once more from roots on which rounding weighs least; it may still cut a pair of no money.
            _anchor(forest, prices)
            polished = _settle(market, forest, prices, rates)
            steps += not polished
            continue
        steps += 1
        _enter(forest, buyer, n + server[best], best, 0.0, True, mark, steps)
        _settle(market, forest, prices, rates)
        polished = False
    return False, steps


@stored(nogil=True, error_model="numpy")
def _settle(market: Market, forest: Forest, prices: FloatArray, rates: FloatArray) -> bool:
    """Minimise F on the forest, cutting pairs that run out of money; whether there were none."""
    gamma, budgets = market.gamma, market.budgets
    parent, pair, money = forest
    n, size = budgets.size, parent.size
    root = np.empty(size, dtype=np.int64)
    level = np.empty(size)  # rate of a class, price of a server, in units of the tree
    flow = np.empty(size)  # money at the minimum
    budget, worth, reach = np.empty(size), np.empty(size), np.empty(size)  # of a tree, at its root
    whole, cut = True, True
    while cut:
        order = _leaves_first(parent)
        for q in range(size - 1, -1, -1):
            v = order[q]
            if parent[v] < 0:
                root[v], level[v] = v, 1.0
                budget[v], worth[v], reach[v] = 0.0, 0.0, 1.0
            else:
                root[v] = root[parent[v]]
                level[v] = min(max(gamma[pair[v]] / level[parent[v]], 1.0 / _FAR), _FAR)
            if v < n:
                flow[v] = budgets[v]
                budget[root[v]] += budgets[v]
            else:
                worth[root[v]] += level[v]
        for v in range(n, size):
            flow[v] = level[v] * (budget[root[v]] / worth[root[v]])
        for v in order:
            if parent[v] >= 0:
                flow[parent[v]] -= flow[v]
                if flow[v] < 0:
                    reach[root[v]] = min(reach[root[v]], money[v] / (money[v] - flow[v]))
        cut = False
        for v in range(size):
            if parent[v] < 0:
                continue
            step = reach[root[v]]
            # 1e-12: pairs that run out together are cut together.
            if flow[v] < 0 and money[v] <= step * (1.0 + 1e-12) * (money[v] - flow[v]):
                parent[v], money[v] = -1, 0.0
                cut = True
            elif step == 1.0:
                money[v] = flow[v]
            else:
                money[v] += step * (flow[v] - money[v])
        whole = whole and not cut
    for v in range(size):
        scale = budget[root[v]] / worth[root[v]]
        if v < n:
            rates[v] = level[v] / scale
        else:
            prices[v - n] = level[v] * scale
    return whole


@stored(nogil=True)
def _leaves_first(parent: IntArray) -> IntArray:
    """Nodes in an order in which every node comes before its parent."""
    size = parent.size
    children = np.zeros(size, dtype=np.int64)
    for v in range(size):
        if parent[v] >= 0:
            children[parent[v]] += 1
    order = np.empty(size, dtype=np.int64)
    filled = 0
    for v in range(size):
        if children[v] == 0:
            order[filled] = v
            filled += 1
    for q in range(size):
        up = parent[order[q]]
        if up >= 0:
            children[up] -= 1
            if children[up] == 0:
                order[filled] = up
                filled += 1
    return order


@stored(nogil=True)
def _enter(
    forest: Forest, k: int, i: int, e: int, amount: float, forwards: bool, mark: IntArray, stamp: int
) -> None:
    """Let pair e of class node k and server node i enter with an amount of money.

    On a cycle money moves until a pair is empty, which is cut: the least pair of all, or, ``forwards``,
    the least of those that lose when pair e gains.
    """
    parent, pair, money = forest
    v = k
    while v >= 0:
        mark[v] = stamp
        v = parent[v]
    apex = i
    while apex >= 0 and mark[apex] != stamp:
        apex = parent[apex]
    if apex < 0:
        _evert(forest, k)
        parent[k], pair[k], money[k] = i, e, amount
        return
    # Up from both ends of pair e, pairs lose and gain in turn, the first one loses.
    least, empty, loses, below = np.inf if forwards else amount, -1, False, k
    for end in (k, i):
        v, losing = end, True
        while v != apex:
            if (losing or not forwards) and money[v] < least:
                least, empty, loses, below = money[v], v, losing, end
            v, losing = parent[v], not losing
    shift = least if loses else -least
    for end in (k, i):
        v, losing = end, True
        while v != apex:
            # 0 at least: the two halves of a cycle are rounded apart.
            money[v] = max(0.0, money[v] - shift if losing else money[v] + shift)
            v, losing = parent[v], not losing
    if empty < 0:
        return
    parent[empty] = -1
    _evert(forest, below)
    parent[below], pair[below], money[below] = k + i - below, e, amount + shift


@stored(nogil=True)
def _evert(forest: Forest, v: int) -> None:
    """Make node v the root of its tree."""
    parent, pair, money = forest
    up, e, amount = parent[v], pair[v], money[v]
    parent[v] = -1
    while up >= 0:
        after = parent[up], pair[up], money[up]
        parent[up], pair[up], money[up] = v, e, amount
        v = up
        up, e, amount = after


@stored(nogil=True)
def _anchor(forest: Forest, prices: FloatArray) -> None:
    """Root every tree at its dearest server: what rounding leaves over goes to the root."""
    parent = forest.parent
    size = parent.size
    n = size - prices.size
    dearest = np.full(size, -1)
    root = np.empty(size, dtype=np.int64)
    for v in _leaves_first(parent)[::-1]:
        root[v] = v if parent[v] < 0 else root[parent[v]]
        best = dearest[root[v]]
        if v >= n and (best < 0 or prices[v - n] > prices[best - n]):
            dearest[root[v]] = v
    for v in dearest:
        if v >= 0:
            _evert(forest, v)
