r"""A jump to the fixed point of water-filling, while the same classes stop at the same resources.

The linear equations are those of :mod:`.resource_division` (*settling*): :math:`x_n = \varphi_n\gamma_{ni}
L_{ir}` for every pair (n, i) in use, stopped by r, and usage 1 for every resource that stops somebody.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from fairness.arguments.validation import FloatArray, IntArray
from fairness.policies.servers.engines.server_pairs import ServerPairs

__all__ = ["solve_structure"]

UNUSED = 1e-14
"""A pair that holds less than this part of the tasks of its class is not in use."""


def solve_structure(pairs: ServerPairs, rounds: int = 5) -> FloatArray:
    """Tasks that solve the equations of the pairs now in use, pairs that would turn negative dropped."""
    totals = pairs.totals
    used = np.flatnonzero(pairs.tasks > UNUSED * totals[pairs.job_class])
    part = pairs.tasks[used] / totals[pairs.job_class[used]]
    for _ in range(rounds):
        goal = _least_change(pairs, used, part)
        if goal.min() >= -UNUSED:
            part = np.maximum(goal, 0.0)
            break
        stay = goal > 0
        if not stay.any():
            return pairs.tasks.copy()
        used, part = used[stay], goal[stay]
    tasks = np.zeros_like(pairs.tasks)
    tasks[used] = part * totals[pairs.job_class[used]]
    return tasks


def _least_change(pairs: ServerPairs, used: IntArray, part: FloatArray) -> FloatArray:
    """Solution of the equations in the module docstring that is next to ``part``, shares of the own total."""
    # Unknown: the part of each pair in the present total of its class, the new total over the present one,
    # and the level of each (server, stop) over its present value; so that all coefficients are of order 1.
    n_pairs, n_resources = len(used), pairs.shares.shape[1]
    totals = pairs.totals[pairs.job_class[used]]
    classes, member = np.unique(pairs.job_class[used], return_inverse=True)
    key, group = np.unique(pairs.server[used] * n_resources + pairs.stop[used], return_inverse=True)
    level = totals / pairs.pace[used]
    level_scale = np.bincount(group, level) / np.bincount(group)
    rows, n_classes, n_levels = np.arange(n_pairs), len(classes), len(key)
    own_total = sp.csr_array((level / level_scale[group], (rows, member)), shape=(n_pairs, n_classes))
    own_level = sp.csr_array((-np.ones(n_pairs), (rows, group)), shape=(n_pairs, n_levels))
    sums = sp.csr_array((np.ones(n_pairs), (member, rows)), shape=(n_classes, n_pairs))
    # Usage of resource r on server i counts all pairs there, also those that another resource stopped.
    row_of = np.full((len(pairs.start) - 1) * n_resources, -1)
    row_of[key] = np.arange(n_levels)
    target = row_of[pairs.server[used, None] * n_resources + np.arange(n_resources)]
    use = np.where(target >= 0, pairs.shares[used] * totals[:, None], 0.0)
    pair, resource = np.nonzero(use)
    usage = sp.csr_array((use[pair, resource], (target[pair, resource], pair)), shape=(n_levels, n_pairs))
    blocks = [[None, own_total, own_level], [sums, -sp.eye_array(n_classes), None], [usage, None, None]]
    matrix = sp.block_array(blocks, format="csc")
    right = np.concatenate([np.zeros(n_pairs + n_classes), np.ones(n_levels)])
    point = np.concatenate([part, np.ones(n_classes + n_levels)])
    # The change of least norm, by a regularised system that is refined: ties make the matrix singular, but
    # then the equations still agree. Symmetric pivoting keeps the factors sparse.
    size = len(point)
    system = sp.block_array(
        [[sp.eye_array(size), matrix.T], [matrix, -1e-9 * sp.eye_array(size)]], format="csc"
    )
    factors = splu(
        system, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=1e-3, options={"SymmetricMode": True}
    )
    for _ in range(10):
        lacking = right - matrix @ point
        if np.abs(lacking).max() <= 1e-15:
            break
        point += factors.solve(np.concatenate([np.zeros(size), lacking]))[:size]
    return point[:n_pairs]
