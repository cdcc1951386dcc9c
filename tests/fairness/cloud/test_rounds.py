"""Passes over all rows in tiles and threads."""

import numpy as np
import pytest
from scipy import sparse

from fairness.cloud.exact import edrf
from fairness.cloud.rounds import TILES, edrf_rounds
from tests.fairness.cloud.instances import random_rows


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_same_as_events(dtype, threads):
    # More tenants than resources and more than 1000: several tiles.
    matrix = random_rows(4000, 150, 4, dtype=dtype)
    result, exact = edrf_rounds(matrix, threads=threads), edrf(matrix)
    # About 50 summands per resource, and s reduced once a round.
    np.testing.assert_allclose(result.levels, exact.levels, rtol=1e-11)
    np.testing.assert_allclose(result.free, exact.free, rtol=0, atol=1e-13)
    assert result.rounds == exact.events
    assert result.certificate.residual <= 1e-12
    np.testing.assert_array_equal(result.levels, edrf_rounds(matrix, threads=1).levels)


def test_tiles_drop_and_keep_as_one_tile_does():
    # The tiles of a large instance of disjoint small ones are full of dropped and kept tenants.
    small = random_rows(30, 6, 3)
    large = sparse.block_diag([small] * 70, format="csr")
    one = edrf_rounds(small, np.ones(30), threads=1)
    for threads in (1, 3):
        many = edrf_rounds(large, np.ones(2100), threads=threads)
        rises = [np.diff(result.round_levels, prepend=0.0) for result in (one, many)]
        # Copies that another order of summation rounds apart take rounds of their own.
        real = [rise[rise > 1e-13 * rise.sum()] for rise in rises]
        np.testing.assert_allclose(*real, rtol=1e-12)
        np.testing.assert_allclose(many.levels.reshape(70, 30), np.tile(one.levels, (70, 1)), rtol=1e-13)
    assert TILES > 1
