"""Small instances of cloud scale, and the algorithms of Kash et al. as printed, in fractions."""

from fractions import Fraction as F

import numpy as np
from scipy import sparse

from fairness.cloud import SparseDemands


def in_fractions(demands, weights, epsilon=F(0), most=None):
    """Inner loop of Algorithm 2, with epsilon 0 Algorithm 1: levels z, y_t of each round, s at the end."""
    n, m = len(demands), len(demands[0])
    needs = [[r for r in range(m) if row[r] > 0] for row in demands]
    d = [[v / max(row) for v in row] for row in demands]
    rho = [min(weights[i][r] / d[i][r] for r in needs[i]) for i in range(n)]
    left, active, y = [F(1)] * m, set(range(n)), [F(0)]
    mu = [sum((rho[i] * d[i][r] for i in range(n)), F(0)) for r in range(m)]  # line 8
    z = [F(0)] * n
    while active and len(y) - 1 != most:
        x = min(left[r] / mu[r] for r in range(m) if mu[r] > 0)  # line 13
        y.append(y[-1] + x)
        left = [left[r] - x * mu[r] for r in range(m)]  # line 15
        kept = {i for i in active if all(left[r] > epsilon for r in needs[i])}  # line 16
        for i in active - kept:
            mu = [mu[r] - rho[i] * d[i][r] for r in range(m)]  # line 17
            z[i] = y[-1]  # line 18
        active = kept
    for i in active:
        z[i] = y[-1]  # line 21
    # Levels are in units of the largest demand.
    return tuple(np.array(values, dtype=float) for values in (z, y[1:], left))


def sparse_of(rows):
    return SparseDemands.from_lists(
        [[(r, float(v)) for r, v in enumerate(row) if v] for row in rows], n_resources=len(rows[0])
    )


WORKED = sparse_of([[1, 0], [F(1, 2), 1], [0, 1]])


def quarters(rng, largest=7):
    """Random demands in quarters (full of ties), weights of one of three kinds, and both in fractions."""
    n, m = (int(v) for v in rng.integers(1, largest, 2))
    rows = [[F(int(v), 4) for v in row] for row in rng.integers(0, 5, (n, m)) * (rng.random((n, m)) < 0.6)]
    for row in rows:
        if not any(row):
            row[int(rng.integers(m))] = F(1, 2)
    kind = rng.integers(3)
    if kind == 0:
        return rows, [[F(1, n)] * m for _ in rows], None
    if kind == 1:
        each = rng.integers(1, 4, n)
        return rows, [[F(int(w))] * m for w in each], each
    table = rng.integers(1, 4, (n, m))
    given = sparse.csr_array(np.where(np.array(rows) > 0, table, 0).astype(float))
    return rows, [[F(int(w)) for w in row] for row in table], given


def random_rows(n, m, longest, seed=3, dtype=float):
    """Random demands of up to ``longest`` resources each."""
    rng = np.random.default_rng(seed)
    size = rng.integers(1, longest + 1, n)
    columns = rng.integers(0, m, size.sum())
    values = 1 - rng.random(size.sum())
    matrix = sparse.coo_array((values, (np.repeat(np.arange(n), size), columns)), shape=(n, m)).tocsr()
    matrix.sum_duplicates()
    matrix.data = np.minimum(matrix.data, 1.0).astype(dtype)
    return matrix
