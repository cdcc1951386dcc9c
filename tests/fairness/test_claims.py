"""What allocations claim of their own errors, against their definitions without rounding."""

from __future__ import annotations

from fractions import Fraction

import pytest

from benchmarks.claims.allocations import KINDS, Placed, Pool, measure, theorem_1, theorem_2
from fairness import Cluster, Problem


@pytest.mark.parametrize("kind", KINDS)
def test_no_claimed_error_is_understated(kind: str) -> None:
    """Thirty instances of the thousand whose table stands in the documentation."""
    claims = [claim for number in range(30) for claim in measure(kind, number, 20261122)]
    assert len(claims) >= 30
    for claim in claims:
        assert claim.understatement <= 1, claim
        # A claim is of use only if it is small.
        assert claim.claimed <= 1e-8, claim


def test_the_references_find_what_is_wrong() -> None:
    """Tasks that are off by a known part have just that residual."""
    pool = Pool(Problem([[1.0], [1.0]], [1.0]), [1.0, 1.0], [0.5, 0.25])
    assert pool.filled(lambda i, j: pool.phi[i]) == Fraction(1, 2)
    over = Pool(Problem([[1.0]], [1.0]), [1.0], [1.5])
    assert over.filled(lambda i, j: over.phi[i]) == Fraction(1, 2)
    servers = Cluster([[1.0], [1.0]], [[1.0]])
    assert theorem_1(Placed(servers, [1.0, 1.0], [[0.75], [0.25]])) == Fraction(2, 3)
    assert theorem_2(Placed(servers, [1.0, 1.0], [[0.5], [0.25]])) == Fraction(1, 2)
