r"""Cholesky factors of normal matrices :math:`P A^\top F A P`, of sparse or dense demands A.

A row that depends on those before it, as that of a duplicated resource does, is left out: its pivot is
infinite.
"""

from __future__ import annotations

import numpy as np

from fairness.arguments.validation import FloatArray, IntArray
from fairness.machine.compiling import COUNTED, helper, part
from fairness.model.nonzeros import Nonzeros

__all__ = ["BLOCK", "factorise", "gram", "put_back", "solve"]

BLOCK = 64
"""Number of resources up to which plain loops beat products of matrices; the width of a block beyond."""

_BATCH = 500  # classes per matrix product; not a power of 2, whose multiples share one place in the cache
_PAIR = 20  # terms of a matrix product in the time of one pair of nonzeros


@part
def gram(
    shares: Nonzeros, users: IntArray, factor: FloatArray, scale: FloatArray, matrix: FloatArray
) -> None:
    """Put B'B into ``matrix`` (its lower triangle at least), where b_ij = factor_i a_ij scale_j.

    By pairs of nonzeros or, if there are too many, by BLAS, without resources of scale 0.
    """
    start, resource, share, _ = shares
    matrix[:] = 0.0
    if scale.size > BLOCK:
        kept, pairs = 0, 0.0
        for j in range(scale.size):
            kept += scale[j] != 0.0
        for i in users:
            number = 0
            for e in range(start[i], start[i + 1]):
                number += scale[resource[e]] != 0.0
            pairs += 0.5 * number * number
        if _PAIR * pairs >= 0.5 * users.size * float(kept) ** 2:
            _add_in_blocks(shares, users, factor, scale, matrix)
            return
    for i in users:
        for e in range(start[i], start[i + 1]):
            left = factor[i] * share[e] * scale[resource[e]]
            if left != 0.0:
                line = matrix[resource[e]]
                for f in range(start[i], e + 1):
                    line[resource[f]] += left * (factor[i] * share[f] * scale[resource[f]])


@helper(**COUNTED)
def _add_in_blocks(
    shares: Nonzeros,
    users: IntArray,
    factor: FloatArray,
    scale: FloatArray,
    matrix: FloatArray,
) -> None:
    """Products of the resources whose scale is not 0, for so many classes at once."""
    start, resource, share, _ = shares
    # A loop: of ``place[kept] = arange`` numba compiles the error message, too, which takes seconds.
    kept, place, size = np.empty(scale.size, dtype=np.int64), np.empty(scale.size, dtype=np.int64), 0
    for j in range(scale.size):
        if scale[j] != 0.0:
            kept[size], place[j] = j, size
            size += 1
    block = np.zeros((size, _BATCH))
    for low in range(0, users.size, _BATCH):
        block[:] = 0.0
        for r in range(min(_BATCH, users.size - low)):
            i = users[low + r]
            for e in range(start[i], start[i + 1]):
                j = resource[e]
                if scale[j] != 0.0:
                    block[place[j], r] = factor[i] * share[e] * scale[j]
        # In stripes, to spare most of the upper triangle.
        for left_end in range(0, size, 2 * BLOCK):
            right_end = min(left_end + 2 * BLOCK, size)
            product = np.dot(block[left_end:], block[left_end:right_end].T)
            for r in range(left_end, size):
                for c in range(left_end, min(right_end, r + 1)):
                    matrix[kept[r], kept[c]] += product[r - left_end, c - left_end]


@helper(**COUNTED)
def factorise(matrix: FloatArray) -> None:
    """Cholesky factor in place, in the lower triangle; a dependent row (duplicated resource) is left out."""
    m = matrix.shape[0]
    if m <= BLOCK:
        _factorise_panel(matrix.T, matrix, 0)
        return
    for low in range(0, m, BLOCK):
        high = min(low + BLOCK, m)
        # The transpose of a block of columns, so that the inner loops run along rows.
        panel = np.ascontiguousarray(matrix[low:, low:high].T)
        if low > 0:
            left = np.ascontiguousarray(matrix[low:high, :low])
            product = np.dot(left, np.ascontiguousarray(matrix[low:, :low]).T)
            for c in range(high - low):
                for r in range(m - low):
                    panel[c, r] -= product[c, r]
        _factorise_panel(panel, matrix, low)
        put_back(panel, matrix, low)


@helper(nogil=True, error_model="numpy")
def put_back(panel: FloatArray, matrix: FloatArray, low: int) -> None:
    """Write transposed columns from ``low`` on into the matrix; numba takes seconds to compile ``[:] =``."""
    for r in range(panel.shape[1]):
        for c in range(panel.shape[0]):
            matrix[low + r, low + c] = panel[c, r]


@helper(nogil=True, error_model="numpy")
def _factorise_panel(panel: FloatArray, matrix: FloatArray, low: int) -> None:
    """Cholesky factor of the columns of a matrix from ``low`` on, in place, or in a transposed copy."""
    for k in range(panel.shape[0]):
        whole = matrix[low + k, low + k]
        # Three columns at a time, which reads and writes this one a third as often.
        whole_threes = k - k % 3
        for c in range(0, whole_threes, 3):
            first, second, third = panel[c, k], panel[c + 1, k], panel[c + 2, k]
            for r in range(k, panel.shape[1]):
                panel[k, r] -= first * panel[c, r] + second * panel[c + 1, r] + third * panel[c + 2, r]
        for c in range(whole_threes, k):
            factor = panel[c, k]
            for r in range(k, panel.shape[1]):
                panel[k, r] -= factor * panel[c, r]
        # 1e-14: what rounding leaves of a pivot that is zero.
        root = np.sqrt(panel[k, k]) if panel[k, k] > 1e-14 * whole else np.inf
        for r in range(k + 1, panel.shape[1]):
            panel[k, r] /= root
        panel[k, k] = root


@helper(nogil=True, error_model="numpy")
def solve(matrix: FloatArray, vector: FloatArray) -> None:
    """Solve L L' x = vector in place."""
    m = vector.size
    for k in range(m):
        value = vector[k]
        for c in range(k):
            value -= matrix[k, c] * vector[c]
        vector[k] = value / matrix[k, k]
    for k in range(m - 1, -1, -1):
        vector[k] /= matrix[k, k]
        for c in range(k):
            vector[c] -= matrix[k, c] * vector[k]
