"""Random values of letters, and many small pools solved in one call."""

import numpy as np

from fairness import Problem

TALK = ["a > 0", "b > 0", "x1 > 0", "x2 > 0"]
BATCH = 100
"""Pools in one block-diagonal problem."""


def random_values(form, size, rng):
    """Log-uniform values of the letters; those that meet the assumptions count."""
    return [np.exp(rng.uniform(np.log(0.05), np.log(20.0), size)) for _ in form.problem.letters]


def evaluated(form, entries, values):
    """Entries of a model at many points: an array of shape (points, *shape of entries)."""
    import sympy

    flat = [sympy.sympify(e) for e in np.asarray(entries, dtype=object).ravel()]
    compiled = sympy.lambdify(form.problem.letters, flat, "numpy")(*values)
    columns = [np.broadcast_to(c, len(values[0])) for c in compiled]
    return np.stack(columns, axis=-1).reshape(len(values[0]), *np.shape(entries))


def numeric_tasks(form, policy, values):
    """Tasks of the numeric policy at many points, pools side by side: none touches another."""
    n, m = form.problem.n_classes, form.problem.n_resources
    demands = evaluated(form, form.problem.demands.tolist(), values)
    capacities = evaluated(form, list(form.problem.capacities), values)
    counts = evaluated(form, list(form.problem.counts), values)
    weights = evaluated(form, list(form.problem.weights), values)
    tasks = np.empty((len(demands), n))
    for start in range(0, len(demands), BATCH):
        part = slice(start, start + BATCH)
        size = len(demands[part])
        together = np.zeros((size, n, size, m))
        together[np.arange(size), :, np.arange(size), :] = demands[part]
        pool = Problem(
            together.reshape(size * n, size * m), capacities[part].ravel(), weights=weights[part].ravel()
        )
        tasks[part] = policy(size)(pool, counts[part].ravel()).reshape(size, n)
    return tasks
