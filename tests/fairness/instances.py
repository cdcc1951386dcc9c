"""Random pools with numbers of jobs, half of them with weights and half with limits."""

import numpy as np

from fairness.testing import KINDS, random_problem


def pools(seed, number, *, classes=8, resources=6, kinds=KINDS):
    """So many of up to so many classes and resources, and 0 to 3 jobs of each class."""
    rng = np.random.default_rng(seed)
    for k in range(number):
        n, m = int(rng.integers(1, classes + 1)), int(rng.integers(1, resources + 1))
        kind = kinds[k % len(kinds)]
        problem = random_problem(rng, n, m, kind=kind, weighted=k % 2 == 1, limited=k % 4 > 1)
        yield problem, rng.integers(0, 4, n).astype(float)
