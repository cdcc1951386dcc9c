"""Weighted leximin by a sequence of linear programs: the second method for filling policies."""

import numpy as np
from scipy.optimize import linprog


def leximin(problem, counts, growth):
    """Tasks per class; each round one LP finds the common level, one LP per class says who can still rise."""
    n, m = problem.demands.shape
    live = (counts > 0) & ~problem.blocked
    demands = problem.task_shares.T
    fixed = np.where(live, np.nan, 0.0)
    upper = np.where(counts > 0, counts, 0) * np.where(np.isfinite(problem.limits), problem.limits, 1e18)
    upper = np.where(live, upper, 0.0)
    while np.isnan(fixed).any():
        free = np.isnan(fixed)
        # Variables (phi, t): maximise t with phi_i >= x_i r_i t for the free classes.
        level_rows = np.column_stack([-np.eye(n)[free], (counts * growth)[free]])
        bounds = [(0, upper[i]) if free[i] else (fixed[i], fixed[i]) for i in range(n)]
        best = linprog(
            np.r_[np.zeros(n), -1.0],
            A_ub=np.vstack([np.column_stack([demands, np.zeros(m)]), level_rows]),
            b_ub=np.r_[np.ones(m), np.zeros(free.sum())],
            bounds=[*bounds, (0, None)],
        )
        assert best.status == 0, best.message
        floor = np.where(free, counts * growth * best.x[-1], fixed)
        for i in np.flatnonzero(free):
            rise = linprog(
                -np.eye(n)[i],
                A_ub=demands,
                b_ub=np.ones(m),
                bounds=[
                    (floor[k] * (1 - 1e-10), max(floor[k], upper[k]) if free[k] else floor[k])
                    for k in range(n)
                ],
            )
            assert rise.status == 0, rise.message
            if -rise.fun <= floor[i] * (1 + 1e-6):
                fixed[i] = floor[i]
    return fixed
