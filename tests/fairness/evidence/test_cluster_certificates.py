"""Certificates of placements: against the definition read aloud, and against placements that are wrong."""

import numpy as np
import pytest

from benchmarks.claims.allocations import Placed, theorem_1
from fairness import Cluster, ModelError
from fairness.evidence.clusters import (
    placement_certificate,
    resource_division_certificate,
    time_division_certificate,
)
from fairness.policies.servers.psdsf import PSDSF
from fairness.testing import KINDS, random_cluster


@pytest.mark.parametrize("kind", KINDS)
def test_theorem_1_by_its_definition(kind):
    rng = np.random.default_rng(0)
    for k in range(60):
        sizes = (int(rng.integers(1, high)) for high in (6, 4, 4))
        cluster = random_cluster(rng, *sizes, kind=kind, weighted=True, constrained=k % 2 == 0)
        counts = rng.integers(0, 3, cluster.n_classes).astype(float)
        exact = PSDSF()(cluster, counts)
        # Some placements near, some far from the answer, with equal levels and with nothing held.
        noise = rng.choice([0.0, 1.0, 2.0], exact.shape) * 10.0 ** rng.uniform(-6, 0)
        placement = exact * np.maximum(0.0, 1.0 - noise * rng.random(exact.shape))
        found = resource_division_certificate(cluster, counts, placement).residual
        # Rounding of sums, relative to numbers of order 1.
        expected = float(theorem_1(Placed(cluster, counts, placement)))
        assert found == pytest.approx(expected, rel=0, abs=1e-14)
        # What rounding may hide is added: never less than the definition says.
        assert found >= expected


def test_theorem_1_by_hand():
    # Levels 0.8 and 0.2: class 2 is too low by 3/4, class 1 holds 4/5 of what stops it, and the least counts.
    cluster = Cluster([[1], [1]], [[100]])
    assert resource_division_certificate(cluster, None, [[80], [20]]).residual == pytest.approx(0.75)
    # 0.04 and 0.01, if as much again is free: that counts more.
    assert resource_division_certificate(cluster, None, [[4], [1]]).residual == pytest.approx(0.95)
    # A class of weight 1/1000 with 2/1000 of the server holds next to nothing: 0.002, not a half.
    light = cluster.replaced(weights=[1e-3, 1])
    assert resource_division_certificate(light, None, [[0.2], [99.8]]).residual == pytest.approx(0.002)


@pytest.mark.parametrize(
    ("placement", "residual"),
    [
        # A server whose time two classes share alike, whatever belongs to whom of it.
        ([[0.5], [0.5]], 0),
        # Levels 3/4 and 1/4: class 1 is too high by 2/3 and has more time than that.
        ([[0.75], [0.25]], 2 / 3),
        # Too high by all of it.
        ([[1], [0]], 1),
        # Half of the time is left, and nobody is ahead.
        ([[0.25], [0.25]], 0.5),
        # 0.05 of the time is left; class 1 holds 0.55 and is too high by 3/11.
        ([[0.55], [0.4]], 3 / 11),
    ],
)
def test_theorem_2_by_hand(placement, residual):
    cluster = Cluster([[1], [1]], [[1]])
    assert time_division_certificate(cluster, None, placement).residual == pytest.approx(residual, abs=1e-15)
    # Two jobs of half the weight are one job.
    twice = cluster.replaced(weights=[0.5, 0.5])
    assert time_division_certificate(twice, [2, 2], placement).residual == pytest.approx(residual, abs=1e-15)


@pytest.mark.parametrize("division", ["resource", "time"])
def test_wrong_placements_fail(division):
    certify = resource_division_certificate if division == "resource" else time_division_certificate
    rng = np.random.default_rng(1)
    for _ in range(40):
        cluster = random_cluster(rng, 4, 3, 2, weighted=True, constrained=True)
        placement = PSDSF(division)(cluster, np.ones(4))
        assert certify(cluster, None, placement).holds
        n, i = rng.choice(np.argwhere(placement / np.maximum(cluster.gamma, 1e-300) > 1e-6))
        for change in (-1e-6, 1e-6):
            other = placement.copy()
            other[n, i] += change * cluster.gamma[n, i]
            # A millionth of a server more overfills it; less leaves free what stopped the class.
            assert certify(cluster, None, other).residual > 1e-9
    idle = np.zeros_like(placement)
    assert not certify(cluster, None, idle).holds
    assert certify(cluster, np.zeros(4), idle).holds


def test_tasks_where_none_may_run():
    cluster = Cluster([[1], [1]], [[2], [2]], eligible=[[True, False], [True, True]])
    assert placement_certificate(cluster, None, [[1, 0], [1, 2]]).residual == 0
    assert placement_certificate(cluster, None, [[1, 0.1], [1, 1]]).residual == np.inf
    assert placement_certificate(cluster, [0, 1], [[1, 0], [1, 1]]).residual == np.inf
    assert placement_certificate(cluster, None, [[-1, 0], [1, 1]]).residual == np.inf
    assert placement_certificate(cluster, None, [[np.nan, 0], [1, 1]]).residual == np.inf
    assert placement_certificate(cluster, None, [[2, 0], [1, 1]]).residual == pytest.approx(0.5)
    assert placement_certificate(cluster, None, [[2, 0], [1, 1]], "time").residual == pytest.approx(0.5)
    with pytest.raises(ModelError, match=r"placement must have shape \(n_classes, n_servers\)"):
        placement_certificate(cluster, None, [1, 2])
    with pytest.raises(ModelError, match="division must be one of 'resource', 'time'; got 'tim'"):
        placement_certificate(cluster, None, [[1, 0], [1, 2]], "tim")
