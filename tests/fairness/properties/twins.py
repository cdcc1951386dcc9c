"""The definitions once more, by loops over fractions: the brute-force twins of the checkers; and proofs."""

from fractions import Fraction as F
from itertools import combinations

import numpy as np

from fairness import Cluster, Problem
from fairness.exact.linear_program import maximise
from fairness.properties.definitions.catalogue import property_named
from fairness.properties.exact.confirm import confirm
from fairness.properties.protocol.property import Finding, Witness
from fairness.testing import random_cluster, random_problem


def integer_pool(rng, n, m, *, zeros=True, weighted=True):
    """Random pool of small integers."""
    pool = random_problem(rng, n, m, kind="integer", weighted=weighted)
    demands = pool.demands.astype(int)
    if not zeros:
        demands = np.maximum(demands, 1)
    return Problem(demands, pool.capacities.astype(int), weights=pool.weights)


def integer_cluster(rng, n, s, m, *, constrained=True, effective=False, weighted=True):
    """Random cluster of small integers; with rational gamma if asked."""
    cluster = random_cluster(rng, n, s, m, kind="integer", constrained=constrained, weighted=weighted)
    exact = Cluster(
        cluster.demands.astype(int),
        cluster.capacities.astype(int),
        weights=cluster.weights,
        eligible=cluster.eligible,
    )
    if not effective:
        return exact
    gamma = [[g * F(int(rng.integers(1, 5)), 2) for g in row] for row in exact.as_fractions()[2]]
    return exact.replaced(gamma=gamma)


def parts(model):
    """Demands, capacities by server and gamma as fractions, and weights; a pool has one server."""
    weights = [F(float(w)) for w in model.weights]
    if isinstance(model, Cluster):
        return (*model.as_fractions(), weights)
    demands, capacities = model.as_fractions()
    gamma = [[min(c / d for c, d in zip(capacities, row, strict=True) if d > 0)] for row in demands]
    return demands, [capacities], gamma, weights


def holdings(model, division):
    """What one task of class n holds on server i: of each resource, or of the time in time division.

    Entries [n][i] are lists of shares, None where the class cannot run.
    """
    demands, capacities, gamma, _ = parts(model)
    table = []
    for row, alone in zip(demands, gamma, strict=True):
        line = []
        for c, g in zip(capacities, alone, strict=True):
            if g == 0:
                line.append(None)
            elif division == "time":
                line.append([1 / g])
            else:
                nominal = min(v / d for v, d in zip(c, row, strict=True) if d > 0)
                line.append([d / v * nominal / g if d > 0 else F(0) for v, d in zip(c, row, strict=True)])
        table.append(line)
    return table


def random_placement(rng, model, division="resource", *, full=True):
    """Random feasible placement in fractions, shape (n, s); touches a capacity if ``full``."""
    table = holdings(model, division)
    n, s = len(table), len(table[0])
    x = [
        [F(int(rng.integers(0, 6)), int(rng.integers(1, 4))) if table[k][i] else F(0) for i in range(s)]
        for k in range(n)
    ]
    most = max(
        sum(x[k][i] * table[k][i][r] for k in range(n) if table[k][i])
        for i in range(s)
        for r in range(resources(table))
    )
    scale = 1 / most if full and most > 0 else 1 / (most + 1)
    return np.array([[v * scale for v in row] for row in x], dtype=object)


def resources(table):
    return len(next(entry for line in table for entry in line if entry))


def as_allocation(model, placement):
    return placement if isinstance(model, Cluster) else placement[:, 0]


def tasks_possible(needs, held):
    """Tasks that fit into holdings by server and resource."""
    total = F(0)
    for need, have in zip(needs, held, strict=True):
        if need is not None:
            total += min(h / d for h, d in zip(have, need, strict=True) if d > 0)
    return total


def shortfall(model, placement):
    """1 - x/(part of everything alone), largest."""
    _, _, gamma, weights = parts(model)
    return max(
        1 - sum(placement[n]) / (sum(gamma[n]) * weights[n] / sum(weights)) for n in range(len(weights))
    )


def envy(model, placement, division):
    """Largest (e - x)/max(e, x)."""
    table, weights = holdings(model, division), parts(model)[3]
    n, m = len(weights), resources(table)
    worst = F(-1)
    for a in range(n):
        for b in range(n):
            if a != b:
                held = [
                    [placement[b][i] * (table[b][i][r] if table[b][i] else 0) for r in range(m)]
                    for i in range(len(table[0]))
                ]
                would = tasks_possible(table[a], held) * weights[a] / weights[b]
                own = sum(placement[a])
                worst = max(worst, (would - own) / max(would, own) if max(would, own) > 0 else F(0))
    return worst


def can_gain(model, placement, division):
    """Whether one class can gain when nobody loses, by one exact linear program per class."""
    table = holdings(model, division)
    n, s, m = len(table), len(table[0]), resources(table)
    pairs = [(k, i) for k in range(n) for i in range(s) if table[k][i]]
    rows = [[table[k][i][r] if i == j else F(0) for k, i in pairs] for j in range(s) for r in range(m)]
    bounds = [F(1)] * len(rows)
    rows += [[F(-1) if k == q else F(0) for k, _ in pairs] for q in range(n)]
    bounds += [-sum(placement[q]) for q in range(n)]
    return [
        maximise([F(int(k == q)) for k, _ in pairs], rows, bounds).value > sum(placement[q]) for q in range(n)
    ]


def fair_amounts(capacity, eligible, weights):
    """Weighted max-min amounts of one resource, capacity by server, by looking at all sets of classes.

    A set S can hold at most f(S), the capacity of the servers that it may use. The lowest level is the least
    f(S)/weight(S); the largest such set gets it, and so on with what it leaves.
    """
    n = len(weights)

    def most(group):
        return sum(c for i, c in enumerate(capacity) if any(eligible[k][i] for k in group))

    amounts, done = [F(0)] * n, []
    while len(done) < n:
        free = [k for k in range(n) if k not in done]
        candidates = [
            ((most([*done, *group]) - most(done)) / sum(weights[k] for k in group), -len(group), group)
            for size in range(1, len(free) + 1)
            for group in combinations(free, size)
        ]
        level, _, group = min(candidates)
        for k in group:
            amounts[k] = level * weights[k]
        done += group
    return amounts


def place_amounts(capacity, eligible, amounts):
    """Amounts by class and server with these totals."""
    n, s = len(amounts), len(capacity)
    pairs = [(k, i) for k in range(n) for i in range(s) if eligible[k][i]]
    rows = [[F(int(i == j)) for _, i in pairs] for j in range(s)]
    rows += [[F(int(k == q)) for k, _ in pairs] for q in range(n)]
    best = maximise([F(1)] * len(pairs), rows, [*capacity, *amounts])
    assert best.value == sum(amounts)
    placed = np.full((n, s), F(0), dtype=object)
    for (k, i), value in zip(pairs, best.point, strict=True):
        placed[k, i] = value
    return placed


def floats(allocation):
    return np.array(allocation, dtype=float)


def witness_of(policy, name, model, change=None):
    """A witness with what the policy answers, whether it violates anything or not."""
    prop = property_named(name)
    before = policy(model, np.ones(model.n_classes))
    after = None
    if change is not None:
        changed = change.apply(model)
        after = policy(changed, np.ones(changed.n_classes))
    finding = Finding(prop.name, 1.0, text="by hand")
    return Witness("policy", prop.name, model, change, finding, before, after)


def verdict(policy, name, model, change=None):
    """What the proof in fractions says of the answer of the policy."""
    return confirm(witness_of(policy, name, model, change), policy)
