r"""Linear programs with positive semidefinite blocks, solved roughly by operator splitting.

.. math:: \max\ c\cdot z \quad\text{with } l \le Az \le u, \quad z \ge 0, \quad M_b(z) \succeq 0 .

With G the rows of A, the columns and the entries of the blocks on top of each other, and K what is allowed of
Gz, the alternating direction method of multipliers [1]_ repeats, for steps R, as [2]_ does,

.. math:: \begin{pmatrix} \sigma I & G^\top\\ G & -R^{-1}\end{pmatrix}
          \begin{pmatrix} z\\ \nu\end{pmatrix}
          = \begin{pmatrix} \sigma z + c\\ w - R^{-1}y\end{pmatrix}, \qquad
          w \leftarrow \Pi_K(Gz + R^{-1}y), \qquad y \leftarrow y + R(Gz - w) .

One factorisation serves all steps, and a projection costs one decomposition of each block. The multipliers y
tend to :math:`G^\top y = c`; those of a block to :math:`-S_b` with :math:`S_b \succeq 0`, whose eigenvectors
v are the squares :math:`v^\top M_b v \ge 0` that bound the program. Nothing
of this module is trusted.

References
----------
.. [1] S. Boyd et al., "Distributed optimization and statistical learning via the alternating direction method
   of multipliers", Foundations and Trends in Machine Learning 3(1), 2011. DOI 10.1561/2200000016.
.. [2] B. Stellato et al., "OSQP: an operator splitting solver for quadratic programs", Mathematical
   Programming Computation 12, 2020. DOI 10.1007/s12532-020-00179-2.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import splu

from fairness.model.problem import FloatArray

__all__ = ["block_multipliers"]

STEPS, LOOK = 1500, 50
"""Most steps, and how many there are between looks at the residuals."""

CLOSE, FEASIBLE = 1e-4, 1e-3
"""Parts of the value and of the largest entry: how far two estimates may differ, and rows be missed."""

STEP, OF_EQUATIONS = 0.1, 10.0
"""Entries of R at first, and how many times larger those of equations are."""

RELAXED, SIGMA = 1.6, 1e-6


def block_multipliers(
    matrix: sparse.csr_array,
    low: FloatArray,
    high: FloatArray,
    costs: FloatArray,
    blocks: list[NDArray[np.int64]],
    entries: list[FloatArray],
) -> tuple[float, list[FloatArray]]:
    """An estimate of the value, and :math:`S_b` of each block.

    Parameters
    ----------
    matrix : csr_array of shape (n_rows, n_columns)
    low, high : ndarray of shape (n_rows,)
        l and u.
    costs : ndarray of shape (n_columns,)
    blocks, entries : list of ndarray of shape (size, size)
        The column of each entry of a block, and its factor.
    """
    n = matrix.shape[1]
    order = sorted(range(len(blocks)), key=lambda b: len(blocks[b]))
    columns = np.concatenate([np.arange(n), *(blocks[b].ravel() for b in order)])
    factors = np.concatenate([np.ones(n), *(entries[b].ravel() for b in order)])
    rest = sparse.csr_array((factors, columns, np.arange(len(columns) + 1)), shape=(len(columns), n))
    norms = sparse.linalg.norm(matrix, axis=1)
    operator = sparse.vstack([sparse.diags_array(1 / norms) @ matrix, rest]).tocsr()
    low = np.concatenate([low / norms, np.zeros(n)])
    high = np.concatenate([high / norms, np.full(n, np.inf)])
    unit = np.abs(low[np.isfinite(low)]).max() or 1.0
    low, high = low / unit, high / unit
    ends = [np.where(np.isfinite(end), end, 0.0) for end in (low, high)]
    sizes = [(size, len(list(group))) for size, group in groupby(len(blocks[b]) for b in order)]

    steps = np.full(operator.shape[0], STEP)
    steps[: len(low)][low == high] *= OF_EQUATIONS
    solve = _factorised(operator, steps)
    point, image, multipliers = np.zeros(n), np.zeros(len(steps)), np.zeros(len(steps))
    value, adapted = 0.0, LOOK
    for turn in range(1, STEPS + 1):
        solved = solve(np.concatenate([SIGMA * point + costs, image - multipliers / steps]))
        reached = image + (solved[n:] - multipliers) / steps
        point += RELAXED * (solved[:n] - point)
        aimed = RELAXED * reached + (1 - RELAXED) * image + multipliers / steps
        image = np.concatenate(
            [np.clip(aimed[: len(low)], low, high), *_semidefinite(aimed[len(low) :], sizes)]
        )
        multipliers = steps * (aimed - image)
        if turn % LOOK:
            continue
        missed = np.abs(operator @ point - image).max() / np.abs(image).max()
        unpaid = np.abs(operator.T @ multipliers - costs).max() / np.abs(costs).max()
        of_rows = multipliers[: len(low)]
        value = np.minimum(of_rows, 0) @ ends[0] + np.maximum(of_rows, 0) @ ends[1]
        if abs(costs @ point - value) <= CLOSE * abs(value) and max(missed, unpaid) <= FEASIBLE:
            break
        if turn == 2 * adapted:
            adapted = turn
            # Neither residual should lag behind.
            change = np.clip(np.sqrt(missed / unpaid), 0.1, 10.0)
            if not 0.4 < change < 2.5:
                steps = steps * change
                solve = _factorised(operator, steps)
    of_blocks: list[FloatArray] = [np.empty(0)] * len(blocks)
    start = len(low)
    for b in order:
        of_blocks[b] = -multipliers[start : start + blocks[b].size].reshape(blocks[b].shape)
        start += blocks[b].size
    return float(value * unit), of_blocks


def _factorised(operator: sparse.csr_array, steps: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """What solves the equations of a step."""
    n = operator.shape[1]
    blocks = [
        [SIGMA * sparse.eye_array(n), operator.T],
        [operator, sparse.diags_array(-1 / steps)],
    ]
    # Quasidefinite: any order of pivots on the diagonal will do.
    factors = splu(
        sparse.block_array(blocks, format="csc"),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    solve: Callable[[FloatArray], FloatArray] = factors.solve
    return solve


def _semidefinite(entries: FloatArray, sizes: list[tuple[int, int]]) -> list[FloatArray]:
    """The nearest positive semidefinite matrices to some, which are given by size and number."""
    found, start = [], 0
    for size, number in sizes:
        part = entries[start : start + number * size**2].reshape(number, size, size)
        values, vectors = np.linalg.eigh(part)
        nearest = (vectors * np.maximum(values, 0)[:, None, :]) @ vectors.transpose(0, 2, 1)
        found.append(nearest.ravel())
        start += part.size
    return found
