"""Random pools and tenants in fractions."""

from fractions import Fraction as F


def random_pool(rng, n, m, least=0, largest=4):
    """Arguments of a pool in which every user demands something."""
    while True:
        rows = [[rng.randint(least, 4) for _ in range(m)] for _ in range(n)]
        if all(any(row) for row in rows):
            return {"demands": rows, "capacities": [rng.randint(1, largest) for _ in range(m)]}


def random_tenants(rng):
    """Demands with a largest one of 1 in each row, and a weight for each row."""
    n, m = rng.randint(1, 6), rng.randint(1, 5)
    rows = [[F(rng.choice([0, rng.randint(1, 8)]), 8) for _ in range(m)] for _ in range(n)]
    for row in rows:
        row[rng.randrange(m)] = F(1)
    return rows, [F(rng.randint(1, 9)) for _ in range(n)]
