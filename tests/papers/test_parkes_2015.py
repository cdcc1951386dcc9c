"""Parkes, Procaccia, Shah, "Beyond dominant resource fairness", ACM TEAC 3(1), 2015: the price of fairness.

Its theorems on EDRF and on whole bundles are statements.
"""

import numpy as np
import pytest

from fairness import DRF, Problem, allocate


@pytest.mark.parametrize("m", [1, 2, 5])
def test_fairness_can_cost_a_factor_of_the_number_of_resources(m):
    """One agent for each resource alone and many that want all: their shares alone would add up to m."""
    many = 1000
    demands = np.vstack([np.eye(m), np.ones((many, m))])
    shares = allocate(Problem(demands, np.ones(m)), DRF()).dominant_shares
    np.testing.assert_allclose(shares, 1 / (many + 1), rtol=1e-12)
    assert shares.sum() == pytest.approx((many + m) / (many + 1), rel=1e-12)
    # The best welfare serves the first m only; the sharing incentive alone forces nearly the same loss.
    part = 1 / (many + m)
    assert m * (1 - many * part) + many * part <= 1 + m**2 * part
