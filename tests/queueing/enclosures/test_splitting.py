"""Operator splitting against programs whose values and multipliers are known."""

import numpy as np
import pytest
from scipy import sparse

from queueing.enclosures.moment_programs.splitting import block_multipliers


def test_a_product_is_at_most_the_mean_of_the_squares():
    """max z_12 with z_11, z_22 <= 3 is 3, since (1, -1) M (1, -1)' >= 0."""
    rows = sparse.csr_array([[1.0, 0, 0], [0, 0, 1], [1, 1, 1]])
    value, (multipliers,) = block_multipliers(
        rows,
        np.array([-np.inf, -np.inf, 1]),
        np.array([3, 3, np.inf]),
        np.array([0, 1.0, 0]),
        [np.array([[0, 1], [1, 2]])],
        [np.ones((2, 2))],
    )
    # The accuracy that is asked for is 1e-4 in the value and 1e-3 in rows.
    assert value == pytest.approx(3, rel=1e-3)
    np.testing.assert_allclose(multipliers, [[0.5, -0.5], [-0.5, 0.5]], atol=3e-3)


def test_largest_eigenvalues():
    """max <C, Z> with tr Z = 1 is the largest eigenvalue e of C, with the multipliers e I - C."""
    rng = np.random.default_rng(1)
    blocks, entries, costs, start = [], [], [], 0
    matrices = [(half := rng.uniform(0, 1, (size, size))) + half.T for size in (3, 2, 3)]
    for matrix in matrices:
        size = len(matrix)
        block = np.zeros((size, size), dtype=int)
        upper = np.triu_indices(size)
        block[upper] = start + np.arange(len(upper[0]))
        block = np.maximum(block, block.T)
        blocks.append(block)
        entries.append(np.ones((size, size)))
        costs += list(matrix[upper] * np.where(upper[0] == upper[1], 1, 2))
        start += len(upper[0])
    rows = np.zeros((3, start))
    for row, block in zip(rows, blocks, strict=True):
        row[np.diag(block)] = 1
    ones = np.ones(3)
    value, found = block_multipliers(sparse.csr_array(rows), ones, ones, np.array(costs), blocks, entries)
    most = [np.linalg.eigvalsh(matrix).max() for matrix in matrices]
    assert value == pytest.approx(sum(most), rel=1e-3)
    for multipliers, matrix, largest in zip(found, matrices, most, strict=True):
        np.testing.assert_allclose(multipliers, largest * np.eye(len(matrix)) - matrix, atol=1e-2)
        assert np.linalg.eigvalsh(multipliers).min() > -1e-12
