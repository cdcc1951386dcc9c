"""The least mean cost of a pool by relative value iteration on a box: no certificates, no direct solver.

What can run is found by linear programs over a few directions of departures, not from vertices.
"""

import numpy as np
from scipy.optimize import linprog


def least_mean_cost(system, costs, side, tolerance=1e-9):
    """Mean costs per unit of time of the best policy, two classes; arrivals to the faces are lost."""
    problem, rates = system.problem, system.arrival_rates
    speeds = 1 / system.mean_sizes
    alone = (problem.capacities / np.maximum(problem.demands, 1e-12)).min(axis=1)
    most = [
        [
            (0.0, min(x * limit, top) if x else 0.0)
            for x, limit, top in zip(state, problem.limits, alone, strict=True)
        ]
        for state in np.ndindex(side, side)
    ]
    # Optimal tasks are vertices; those of all directions of gain (cos, sin) are found once for equal bounds.
    known = {}
    for bounds in set(map(tuple, most)):
        points = [
            linprog(-np.array([np.cos(t), np.sin(t)]), problem.demands.T, problem.capacities, bounds=bounds).x
            for t in np.linspace(-0.3, np.pi / 2 + 0.3, 24)
        ]
        known[bounds] = np.unique(np.round(points, 9), axis=0)
    number = max(map(len, known.values()))
    table = np.zeros((side * side, number, 2))
    for k, bounds in enumerate(map(tuple, most)):
        table[k, : len(known[bounds])] = known[bounds] * speeds
    fastest = rates.sum() + table.sum(axis=2).max()
    x = np.array(list(np.ndindex(side, side)))
    holding, h = x @ costs, np.zeros((side, side))
    while True:
        up = np.stack([np.roll(h, -1, axis=i) - h for i in range(2)])
        down = np.stack([np.roll(h, 1, axis=i) - h for i in range(2)])
        up[0, -1], up[1, :, -1], down[0, 0], down[1, :, 0] = 0, 0, 0, 0
        flows = np.einsum("kvi,ik->kv", table, down.reshape(2, -1)).min(axis=1)
        step = (holding + rates @ up.reshape(2, -1) + flows).reshape(side, side)
        if np.ptp(step) < tolerance:
            return float(step.mean())
        h = h + step / fastest
        h -= h[0, 0]
