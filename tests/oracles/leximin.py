"""Weighted leximin by other means: a sequence of linear programs, and a proof in rational numbers."""

from fractions import Fraction

import numpy as np
from scipy.optimize import linprog

DENOMINATOR = 10**7
"""The numbers of the examples are quotients of integers far below it, so that rounding finds them."""


def pool_leximin(problem, counts, growth):
    """Tasks per class of a pool; a limit is a resource of the class alone."""
    live = np.flatnonzero((counts > 0) & ~problem.blocked)
    caps = np.diag(1 / (counts[live] * problem.limits[live]))
    usage = np.vstack([problem.task_shares[live].T, caps])
    tasks = np.zeros(problem.n_classes)
    tasks[live] = _by_programs(usage, np.eye(len(live)), (counts * growth)[live])
    return tasks


def cluster_leximin(cluster, counts, yardsticks):
    """Totals per class of a cluster."""
    live = np.flatnonzero(counts > 0)
    class_, server = np.nonzero(cluster.eligible & (counts > 0)[:, None])
    usage = np.zeros((*cluster.capacities.shape, len(class_)))
    usage[server, :, np.arange(len(class_))] = cluster.task_shares[class_, server]
    totals = np.zeros(cluster.n_classes)
    member = (class_ == live[:, None]).astype(float)
    goals = (counts * cluster.weights * yardsticks)[live]
    totals[live] = _by_programs(usage.reshape(-1, len(class_)), member, goals)
    return totals


def _by_programs(usage, member, goals):
    """Totals of classes; each round one program finds the level, one per class says who can still rise.

    ``usage`` (n_resources, n_pairs) and ``member`` (n_classes, n_pairs) belong to pairs of class and place.
    """
    fixed = np.full(len(goals), np.nan)
    while np.isnan(fixed).any():
        free = np.isnan(fixed)
        # Variables (placement, t).
        rows = np.vstack([np.c_[usage, np.zeros(len(usage))], np.c_[-member, np.where(free, goals, 0)]])
        right = np.r_[np.ones(len(usage)), np.where(free, 0.0, -np.nan_to_num(fixed))]
        level = linprog(np.r_[np.zeros(usage.shape[1]), -1.0], A_ub=rows, b_ub=right)
        assert level.status == 0, level.message
        floor = np.where(free, goals * level.x[-1], fixed)
        kept = np.r_[np.ones(len(usage)), -floor * (1 - 1e-9)]
        for k in np.flatnonzero(free):
            rise = linprog(-member[k], A_ub=np.vstack([usage, -member]), b_ub=kept)
            assert rise.status == 0, rise.message
            if -rise.fun <= floor[k] * (1 + 1e-5):
                fixed[k] = floor[k]
    return fixed


def rational(values):
    """Nearby fractions with small denominators."""
    return np.vectorize(lambda v: Fraction(float(v)).limit_denominator(DENOMINATOR), otypes=[object])(values)


def prove_leximin(cluster, totals, placement, rounds):
    """Prove in rational arithmetic that the totals, given as fractions, are leximin; no floats decide.

    Placement, prices and multipliers are rounded to fractions; then the hypotheses of the theorem of
    fairness.policies.servers.engines.level_evidence are checked without a tolerance. Yardsticks do not
    appear: the order of the rounds is that of the levels.
    """
    demands, capacities, gamma = cluster.as_fractions()
    live = [n for n in range(cluster.n_classes) if totals[n] > 0]
    pairs = [(n, i) for n in live for i in range(cluster.n_servers) if gamma[n][i] > 0]
    share = {
        (n, i): [d / c if d else Fraction(0) for d, c in zip(demands[n], capacities[i], strict=True)]
        for n, i in pairs
    }
    x = rational(placement)
    assert [sum(x[n]) for n in range(cluster.n_classes)] == list(totals)
    assert all(x[n, i] >= 0 and (x[n, i] == 0 or (n, i) in share) for n, i in np.ndindex(x.shape))
    resources = [(i, r) for i in range(cluster.n_servers) for r in range(cluster.n_resources)]
    used = {(i, r): sum(x[n, i] * share[n, i][r] for n in live if (n, i) in share) for i, r in resources}
    assert all(used[key] <= 1 for key in resources)
    opened, pinned, done = set(pairs), set(), set()
    for record in rounds:
        # The largest price becomes 1, which keeps the denominators small.
        scale = np.abs(record.prices).max()
        prices, multipliers = rational(record.prices / scale), rational(record.multipliers / scale)
        reduced = {
            (n, i): sum(p * b for p, b in zip(prices[i], share[n, i], strict=True)) - multipliers[n]
            for n, i in pairs
        }
        assert all(reduced[pair] >= 0 for pair in opened)
        assert all(reduced[pair] <= 0 for pair in opened if x[pair] > 0)
        priced = {(i, r) for i, r in resources if prices[i, r] > 0}
        assert all(used[key] == 1 for key in priced)
        assert all(prices[key] >= 0 for key in resources if key not in pinned)
        assert all(multipliers[n] > 0 for n in record.classes)
        done |= set(record.classes)
        assert all(multipliers[n] == 0 for n in live if n not in done)
        opened = {pair for pair in opened if reduced[pair] == 0 or x[pair] > 0}
        pinned |= priced
    assert done == set(live)
