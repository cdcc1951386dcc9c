r"""PS-DSF under time division is the equilibrium of a linear Fisher market; here it is computed, at scale.

A server is one good, its time; a class of effective weight :math:`\varphi_k` is a buyer with that budget,
whose utility is its number of tasks, :math:`x_k = \sum_i \gamma_{ki} y_{ki}` with the parts
:math:`y_{ki}` of the servers' time. The equilibrium maximises [1]_

.. math:: \sum_k \varphi_k \log x_k \quad\text{subject to}\quad \sum_k y_{ki} \le 1 \text{ for every server,}

and the multipliers are the prices: every usable server is sold out, and

.. math:: \varphi_k\,\gamma_{ki} \le x_k\, p_i, \quad\text{with equality where } y_{ki} > 0 .

Divided by :math:`\varphi_k\gamma_{ki}`: on server i, whoever is served has the level
:math:`x_k/(\gamma_{ki}\varphi_k) = 1/p_i`, and nobody who may use the server has a lower one. This is the
definition of PS-DSF under time division ([2]_ Theorem 2, eq. 13). Hence totals and prices are unique (the
objective and its dual are strictly convex in them), the placement is Pareto efficient, and nobody prefers
the bundle of another, scaled by the weights: what a class holds is worth its weight, at prices for all.

Method: a few rounds of proportional response [3]_ estimate the prices; with these every class gets a
shortlist of servers; more rounds and an interior point solve the market of the shortlists
(:mod:`fairness.policies.servers.engines.market_interior`); pivots on the support finish the whole market
exactly (:mod:`fairness.policies.servers.engines.market_support`). Only the last step decides about
correctness. Work is proportional to the pairs of class and server that are eligible, but for the interior
point, which factorises some matrices as large as the smaller of the two numbers.

References
----------
.. [1] E. Eisenberg and D. Gale, "Consensus of subjective probabilities: the pari-mutuel method", Annals of
   Mathematical Statistics 30(1), 1959. doi:10.1214/aoms/1177706369.
.. [2] J. Khamse-Ashari et al., "Per-server dominant-share fairness (PS-DSF)", ICC 2017. arXiv:1611.00404.
.. [3] F. Wu and L. Zhang, "Proportional response dynamics leads to market equilibrium", STOC 2007.
   doi:10.1145/1250790.1250844.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairness.arguments.validation import FloatArray, IntArray, model_array, require, require_shape
from fairness.errors import NotConvergedError
from fairness.evidence.clusters import time_division_certificate
from fairness.evidence.pools import rounding
from fairness.machine.compiling import helper, stored
from fairness.model.cluster import Cluster
from fairness.policies.servers.engines import market_support as support
from fairness.policies.servers.engines.market_interior import interior_market
from fairness.policies.servers.engines.market_support import Forest, Market, pivot, plant

__all__ = ["time_division"]

_RESPONSES = 20  # rounds of proportional response before the shortlists are drawn up
_MORE_RESPONSES = 200  # rounds on the shortlists, which take as long as some five steps of the interior point
_SHORTLIST = 24  # servers per class, times servers per class if there are more servers than classes
_SURPRISED = 0.02  # part of the classes that may prefer a server not on their list: pivots deal with them


def time_division(cluster: Cluster, weights: ArrayLike) -> tuple[FloatArray, FloatArray, dict[str, Any]]:
    """Placement and prices of PS-DSF under time division.

    Parameters
    ----------
    cluster : Cluster
    weights : array_like of shape (n_classes,)
        Effective weights, jobs times weight of a job; 0 for classes that are absent.

    Returns
    -------
    placement : ndarray of shape (n_classes, n_servers), tasks
        Totals are unique, the placement need not be: this one uses at most n_classes + n_servers - 1 pairs.
    prices : ndarray of shape (n_servers,), weight per server
        They add up to the weights; 0 for a server that no present class can use, which stays empty.
    details : dict
        ``certificate`` (of Theorem 2), ``duality_gap`` (per unit of weight), ``support`` (pairs in use),
        ``shortlists``, ``interior_steps`` and ``pivots`` (work done).

    Raises
    ------
    ModelError
        If the weights have the wrong shape, are negative or not finite.
    NotConvergedError
        If pivots run out, or rounding keeps the certificate from 1e-9; ``best`` is the placement.

    Examples
    --------
    Three channels, rates of two users [2]_ (Figure 4): the second channel, on which the levels of both
    agree, is shared.

    >>> from fairness import Cluster
    >>> rates = [[1, 1, 0.5], [1 / 3, 2 / 3, 2 / 3]]
    >>> channels = Cluster([[1], [1]], [[1], [1], [1]], gamma=rates)
    >>> placement, prices, details = time_division(channels, [1, 1])
    >>> placement.sum(axis=1).round(12), prices.round(12)
    (array([1.5, 1. ]), array([0.66666667, 0.66666667, 0.66666667]))
    >>> details["certificate"].holds
    True
    """
    given = model_array("weights", weights, cluster, "job_classes")
    require_shape("weights", given, (cluster.n_classes,), "demands", cluster.demands)
    require("weights", given, np.isfinite(given) & (given >= 0), "finite and >= 0", cluster.job_classes)
    placement, prices = np.zeros(cluster.gamma.shape), np.zeros(cluster.n_servers)
    present = np.flatnonzero(given)
    used = np.flatnonzero(cluster.gamma[present].any(axis=0))
    details: dict[str, Any] = {"shortlists": 0, "interior_steps": 0, "pivots": 0, "support": 0}
    done, gap = True, 0.0
    if present.size:
        gamma = np.ascontiguousarray(cluster.gamma[np.ix_(present, used)])
        # Powers of 2 change no digit and keep the numbers in range: the unit of the weights, that of tasks.
        unit = np.exp2(np.frexp(given.max())[1])
        gamma = np.ldexp(gamma, -np.frexp(gamma.max(axis=1))[1][:, None])
        market = _market(gamma, given[present] / unit)
        forest, worth, done, work = _equilibrium(market, used.size)
        details |= work
        spent = np.flatnonzero(forest.parent >= 0)
        ends = spent, forest.parent[spent]
        k, i = np.minimum(*ends), np.maximum(*ends) - present.size
        share = forest.money[spent] / worth[i]
        placement[present[k], used[i]] = share * cluster.gamma[present[k], used[i]]
        prices[used] = worth * unit
        details["support"] = int(np.count_nonzero(share))
        held = np.bincount(k, share * gamma[k, i], present.size)
        # Of the dual: the logarithm of what the budgets buy at these prices, at the best rate of all.
        best = _best_rates(market, worth)
        gap = float(market.budgets @ np.log(market.budgets * best / held) / market.budgets.sum())
        gap = max(gap, 0.0) + rounding(cluster.n_classes + cluster.n_servers)
    certificate = time_division_certificate(cluster, given / cluster.weights, placement)
    details |= {"certificate": certificate, "duality_gap": gap}
    if not (done and certificate.holds):
        raise NotConvergedError(
            f"PS-DSF under time division: residual {certificate.residual:.1e} of Theorem 2 after "
            f"{details['pivots']} pivots; are the gammas of a class more than 1e20 apart?",
            best=placement,
            residual=certificate.residual,
        )
    return placement, prices, details


def _market(gamma: FloatArray, budgets: FloatArray) -> Market:
    """List the pairs of class and server."""
    able = gamma > 0
    start = np.concatenate([[0], np.cumsum(able.sum(axis=1))])
    return Market(start, np.flatnonzero(able) % able.shape[1], gamma[able], budgets)


def _equilibrium(market: Market, n_servers: int) -> tuple[Forest, FloatArray, bool, dict[str, int]]:
    """Support and prices, whether they are final, and the work it took."""
    n = market.budgets.size
    prices, money = np.zeros(n_servers), np.ones(market.gamma.size)
    _respond(market, prices, money, _RESPONSES)
    wanted = _SHORTLIST * -(-n_servers // n)
    shortlists = steps = 0
    while True:
        pairs = _shortlist(market, prices, wanted)
        classes = np.searchsorted(market.start, pairs, side="right") - 1
        start = np.searchsorted(classes, np.arange(n + 1))
        short = Market(start, market.server[pairs], market.gamma[pairs], market.budgets)
        spent = money[pairs]
        slack, taken = _solve(short, classes, prices, spent)
        shortlists, steps = shortlists + 1, steps + taken
        if pairs.size == money.size:
            break
        best, listed = _best_rates(market, prices), _best_rates(short, prices)
        # 1e-6: the interior point knows its prices up to about its gap.
        if np.mean(best > listed * (1.0 + 1e-6)) <= _SURPRISED:
            break
        # What the interior point leaves elsewhere is 0; a new pair starts with next to nothing.
        money[:] = 1e-9
        money[pairs] = spent / market.budgets[classes]
        wanted *= 2
    # Near the end of the path, money and slack of a pair are far apart, and the larger one is not 0.
    part = spent / market.budgets[classes]
    kept = (part > slack) | (part == np.maximum.reduceat(part, start[:-1])[classes])
    pairs, classes, part = pairs[kept], classes[kept], part[kept]
    part /= np.bincount(classes, part, n)[classes]
    order = np.argsort(-part, kind="stable")
    pairs, classes, part = pairs[order], classes[order], part[order]
    forest = plant(market, n_servers, pairs, classes, part * market.budgets[classes])
    # A safeguard: none to ten pivots are usual, thousands occur.
    done, pivots = pivot(market, forest, prices, 20 * forest.parent.size + 1000)
    return forest, prices, done, {"shortlists": shortlists, "interior_steps": steps, "pivots": pivots}


def _solve(
    market: Market, classes: IntArray, prices: FloatArray, money: FloatArray
) -> tuple[FloatArray, int]:
    """Improve prices and money by more responses and the interior point; slacks of pairs, and its steps."""
    _respond(market, prices, money, _MORE_RESPONSES)
    n, m = market.budgets.size, prices.size
    line = classes if n >= m else market.server
    order = np.argsort(line, kind="stable")
    start = np.searchsorted(line[order], np.arange(max(n, m) + 1))
    log_prices, logs = np.log(prices), np.log(market.gamma)[order]
    spent, slack = money[order], np.empty(money.size)
    taken = interior_market(
        start, classes[order], market.server[order], n >= m, logs, market.budgets, log_prices, spent, slack
    )
    prices[:] = np.exp(log_prices)
    money[order] = spent
    slack[order] = slack.copy()
    return slack, taken


@stored(support, nogil=True, error_model="numpy")
def _respond(market: Market, prices: FloatArray, money: FloatArray, rounds: int) -> None:
    """Scale money to the budgets, then divide each budget as the tasks were divided [3], some times."""
    start, server, gamma, budgets = market
    factor = np.ones(prices.size)
    for r in range(rounds + 1):
        prices[:] = 0.0
        for k in range(budgets.size):
            tasks = 0.0
            for e in range(start[k], start[k + 1]):
                if r > 0:
                    money[e] *= gamma[e] * factor[server[e]]
                tasks += money[e]
            scale = budgets[k] / tasks
            for e in range(start[k], start[k + 1]):
                money[e] *= scale
                prices[server[e]] += money[e]
        # 1e-300: a price that is less than that is not 0 for ever.
        for i in range(prices.size):
            prices[i] = max(prices[i], 1e-300)
            factor[i] = 1.0 / prices[i]


@stored(support, nogil=True, error_model="numpy")
def _shortlist(market: Market, prices: FloatArray, wanted: int) -> IntArray:
    """Pairs, ascending: per class about the ``wanted`` best, and per server the class that comes closest."""
    start, server, gamma, budgets = market
    inverse = 1.0 / prices
    kept = np.zeros(gamma.size, dtype=np.bool_)
    closest, nearest = np.full(prices.size, -1), np.zeros(prices.size)
    rate = np.empty(prices.size)
    for k in range(budgets.size):
        first, last = start[k], start[k + 1]
        for e in range(first, last):
            # Ties are broken by a sequence that spreads evenly: alike classes must not list the same servers.
            rate[e - first] = gamma[e] * inverse[server[e]] * (1.0 + 1e-3 * ((e * 0.6180339887498949) % 1.0))
        least, best = 0.0, rate[: last - first].max()
        if last - first > wanted:
            least = _ordered(rate[: last - first].copy(), last - first - wanted)
        for e in range(first, last):
            kept[e] = rate[e - first] >= least
            near = rate[e - first] / best
            if near > nearest[server[e]]:
                closest[server[e]], nearest[server[e]] = e, near
    kept[closest] = True
    return np.flatnonzero(kept)


@helper(nogil=True)
def _ordered(values: FloatArray, place: int) -> float:
    """Entry at this place in ascending order, by Hoare's selection; numba's takes four seconds to compile."""
    low, high = 0, values.size - 1
    while low < high:
        pivot, i, j = values[(low + high) // 2], low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i, j = i + 1, j - 1
        if place <= j:
            high = j
        elif place >= i:
            low = i
        else:
            break
    return values[place]


@stored(support, nogil=True, error_model="numpy")
def _best_rates(market: Market, prices: FloatArray) -> FloatArray:
    """The most tasks that a unit of money buys, by class."""
    best = np.zeros(market.budgets.size)
    inverse = 1.0 / prices
    for k in range(best.size):
        for e in range(market.start[k], market.start[k + 1]):
            best[k] = max(best[k], market.gamma[e] * inverse[market.server[e]])
    return best
