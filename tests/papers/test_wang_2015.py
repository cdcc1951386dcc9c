"""Mechanisms for several servers: the worked examples.

W. Wang, B. Liang and B. Li, "Multi-resource fair allocation in heterogeneous cloud computing systems", TPDS
26(10), 2015 (DRFH); E. Friedman, A. Ghodsi and C.-A. Psomas, "Strategyproof allocation of discrete jobs on
multiple machines", EC 2014 (CDRF).
"""

from fractions import Fraction

import numpy as np
import pytest

from fairness import Cluster
from fairness.policies.servers.per_server import PerServerDRF
from fairness.policies.servers.psdsf import PSDSF
from fairness.policies.servers.task_share import CDRF, CDRFH, DRFH, TSF
from fairness.protocol.policy import policy_name
from fairness.testing import random_cluster
from tests.oracles.leximin import prove_leximin

F = Fraction
MECHANISMS = [DRFH(), CDRFH(), CDRF(), TSF(), TSF("dedicated")]
# (CPU, GB): a server with much memory and one with many CPUs; a user for each.
TWO = Cluster([[F(1, 5), 1], [1, F(1, 5)]], [[2, 12], [12, 2]])


@pytest.mark.parametrize("policy", MECHANISMS, ids=policy_name)
def test_drfh_example_two_servers(policy):
    solution = policy.solve(TWO)
    np.testing.assert_allclose(solution.placement.sum(axis=1), [10, 10], rtol=1e-14)
    # Each on the server that suits it, and nowhere else.
    np.testing.assert_allclose(solution.placement, [[10, 0], [0, 10]], atol=1e-13)
    prove_leximin(TWO, [F(10), F(10)], solution.placement, solution.details["rounds"])


@pytest.mark.parametrize("division", ["resource", "time"])
def test_drfh_example_under_ps_dsf(division):
    np.testing.assert_allclose(PSDSF(division)(TWO, [1, 1]), [[10, 0], [0, 10]], rtol=1e-12, atol=1e-12)


def test_drfh_example_global_dominant_shares():
    assert DRFH().solve(TWO).levels == pytest.approx([5 / 7, 5 / 7], rel=1e-14)


def test_drfh_example_drf_per_server_wastes():
    placement = PerServerDRF()(TWO, np.ones(2))
    np.testing.assert_allclose(placement, [[5, 1], [1, 5]], rtol=1e-14)
    shares = placement.sum(axis=1) * (TWO.demands / TWO.total_capacities).max(axis=1)
    np.testing.assert_allclose(shares, 3 / 7, rtol=1e-14)


def test_cdrf_gives_everybody_an_equal_part_of_every_server():
    """The sharing incentive of CDRF: at least the tasks alone over the number of users."""
    rng = np.random.default_rng(3)
    for _ in range(30):
        cluster = random_cluster(rng, 4, 3, 3, kind="sparse", weighted=True)
        solution = CDRF().solve(cluster)
        part = cluster.weights / cluster.weights.sum()
        # Rounding.
        assert (solution.placement.sum(axis=1) >= part * cluster.gamma.sum(axis=1) * (1 - 1e-12)).all()


def test_drfh_can_give_less_than_an_equal_part_of_every_server():
    cluster = Cluster([[1, 3], [2, 1]], [[5, 1], [2, 5]])
    solution = DRFH().solve(cluster)
    totals = [F(8, 9), F(14, 9)]
    np.testing.assert_allclose(solution.placement.sum(axis=1), [float(v) for v in totals], rtol=1e-14)
    prove_leximin(cluster, totals, solution.placement, solution.details["rounds"])
    np.testing.assert_allclose(cluster.gamma.sum(axis=1) / 2, [1, 1], rtol=1e-14)
