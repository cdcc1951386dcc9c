"""Small instances of cloud scale in fractions, and Algorithm 1 of Kash et al. in fractions."""

from fractions import Fraction as F

import numpy as np
from scipy import sparse

from fairness.cloud import SparseDemands


def algorithm_1(demands, weights, most=None):
    """Rounds of Kash et al., Algorithm 1, in fractions: allocations A_ir, and x_t of each round."""
    n, m = len(demands), len(demands[0])
    d = [[v / max(row) for v in row] for row in demands]
    rho = [min(weights[i][r] / d[i][r] for r in range(m) if d[i][r] > 0) for i in range(n)]
    left, active, given, rises = [F(1)] * m, set(range(n)), [[F(0)] * m for _ in range(n)], []
    while active and len(rises) != most:
        load = [sum((rho[i] * d[i][r] for i in active), F(0)) for r in range(m)]
        x = min(left[r] / load[r] for r in range(m) if load[r] > 0)
        rises.append(x)
        for i in active:
            for r in range(m):
                given[i][r] += x * rho[i] * d[i][r]
        left = [left[r] - x * load[r] for r in range(m)]
        active = {i for i in active if all(left[r] > 0 for r in range(m) if d[i][r] > 0)}
    return given, rises


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
