"""PS-DSF under resource division: Theorem 1 on random clusters, by two methods; what filling is made of."""

import numpy as np
import pytest

from fairness import Cluster, ModelError, NotConvergedError, allocate
from fairness.evidence.clusters import resource_division_certificate
from fairness.machine.work import OutOfTime, watching
from fairness.policies.servers.engines import resource_division as filling
from fairness.policies.servers.engines.algorithm_one import algorithm_one, server_procedure
from fairness.policies.servers.engines.server_pairs import ServerPairs
from fairness.policies.servers.psdsf import PSDSF
from fairness.testing import KINDS, random_cluster


def small_clusters(seed, number):
    rng = np.random.default_rng(seed)
    for k in range(number):
        sizes = (int(rng.integers(1, high)) for high in (7, 5, 4))
        flags = {name: bool(rng.random() < 0.5) for name in ("weighted", "constrained")}
        yield random_cluster(rng, *sizes, kind=KINDS[k % 3], effective=k % 5 == 0, **flags)


@pytest.mark.long
def test_theorem_1_on_two_thousand_clusters():
    rng = np.random.default_rng(0)
    for k, cluster in enumerate(small_clusters(0, 2000)):
        counts = rng.integers(0, 3, cluster.n_classes) * 1.0 if k % 4 == 0 else np.ones(cluster.n_classes)
        solution = PSDSF().solve(cluster, counts)
        # Rounding of a sum of some ten tasks, over the smallest level: 1e-13; the public tolerance is 1e-9.
        assert solution.certificate.residual < 1e-12
        assert len(solution.details["attempts"]) == 1


@pytest.mark.long
def test_algorithm_1_and_filling_agree():
    # Where they disagree both are certified, so the allocation is not unique; that is rare (1 in 2,000 here).
    different = 0
    for cluster in small_clusters(1, 500):
        placement, _ = algorithm_one(cluster, cluster.weights)
        filled, _ = filling.resource_division(cluster, cluster.weights)
        assert resource_division_certificate(cluster, None, placement).holds
        a, b = placement.sum(axis=1), filled.sum(axis=1)
        # Sweeps of Algorithm I end at steps of 1e-12, a thousandth or less of the way that is left.
        different += not np.allclose(a, b, rtol=1e-7)
    assert different <= 5


def test_medium_clusters():
    rng = np.random.default_rng(2)
    for kind in KINDS:
        for constrained in (False, True):
            cluster = random_cluster(rng, 60, 15, 3, kind=kind, weighted=True, constrained=constrained)
            assert allocate(cluster, PSDSF()).certificate.residual < 1e-12


def test_filling_and_the_server_procedure_agree_on_one_server():
    rng = np.random.default_rng(5)
    for k in range(60):
        cluster = random_cluster(rng, 4, 2, 3, kind=KINDS[k % 3], weighted=True)
        weights = cluster.weights
        elsewhere = rng.random(4) * (rng.random(4) < 0.7) * cluster.gamma.max(axis=1)
        start = filling.separate_filling(cluster, weights)[:, 0]
        column, _ = server_procedure(cluster, weights, 0, start, elsewhere)
        here = np.flatnonzero(cluster.eligible[:, 0])
        tasks, stop = np.empty(here.size), np.empty(here.size, dtype=np.int64)
        shares = np.ascontiguousarray(cluster.task_shares[here, 0])
        pace = weights[here] * cluster.gamma[here, 0]
        filling.fill(pace, shares, elsewhere[here], tasks, stop)
        np.testing.assert_allclose(
            column[here] / cluster.gamma[here, 0], tasks / cluster.gamma[here, 0], atol=1e-10
        )
        # By definition: what stopped a class is full, it demands it, and nobody who holds it stands higher.
        level = (tasks + elsewhere[here]) / pace
        assert (tasks @ shares <= 1 + 1e-12).all()
        assert (tasks @ shares[:, stop] > 1 - 1e-12).all()
        assert (np.take_along_axis(shares, stop[:, None], axis=1) > 0).all()
        holds = (shares[:, stop] > 0) & (tasks > 0)[:, None]
        assert (np.where(holds, level[:, None], 0) <= level * (1 + 1e-12)).all()
        plain, plain_stop = np.empty(here.size), np.empty(here.size, dtype=np.int64)
        filling.fill.py_func(pace, shares, elsewhere[here], plain, plain_stop)
        np.testing.assert_allclose(plain, tasks, rtol=1e-14, atol=1e-15)


def test_units_do_not_matter():
    rng = np.random.default_rng(7)
    for _ in range(20):
        cluster = random_cluster(rng, 5, 3, 3, weighted=True, constrained=True)
        resource, task = 10.0 ** rng.uniform(-9, 9, 3), 10.0 ** rng.uniform(-9, 9, 5)
        other = cluster.replaced(
            demands=cluster.demands * resource * task[:, None], capacities=cluster.capacities * resource
        )
        tasks = PSDSF()(other, np.ones(5)).sum(axis=1) * task
        np.testing.assert_allclose(tasks, PSDSF()(cluster, np.ones(5)).sum(axis=1), rtol=1e-10)


def test_weights_over_many_decades():
    rng = np.random.default_rng(8)
    cluster = random_cluster(rng, 20, 6, 3, kind="sparse", constrained=True)
    extreme = cluster.replaced(weights=10.0 ** rng.uniform(-12, 12, 20))
    assert allocate(extreme, PSDSF()).certificate.residual < 1e-12


def test_continuous_version_of_the_example_of_kesidis_et_al():
    # arXiv:1803.00922: two servers, two classes that mirror each other.
    cluster = Cluster([[5, 1], [1, 5]], [[100, 30], [30, 100]])
    np.testing.assert_allclose(allocate(cluster, PSDSF()).tasks, [20, 20], rtol=1e-12)
    # (65/3, 65/3) is feasible, so this is another allocation that is not Pareto efficient.
    placement = np.array([[235 / 12, 25 / 12], [25 / 12, 235 / 12]])
    assert resource_division_certificate(cluster, None, placement).residual > 1e-3
    assert (np.einsum("ni,nir->ir", placement, cluster.task_shares) <= 1 + 1e-12).all()


def test_slow_moves_are_jumped_over():
    # Exchange rates that agree up to 1e-4 make plain sweeps move tasks in steps of about 1e-4.
    rng = np.random.default_rng(5)
    cluster = random_cluster(rng, 20, 6, 2, kind="integer")
    cluster = cluster.replaced(gamma=cluster.gamma * (1 + 1e-4 * rng.random(cluster.gamma.shape)))
    placement, details = filling.resource_division(cluster, cluster.weights)
    assert details["sweeps"] < 10_000
    # The same without jumps: still on the way where jumps are done, and in the end at the same point.
    start = filling.separate_filling(cluster, cluster.weights)
    pairs = ServerPairs.of(cluster, cluster.weights, start)
    _, moved = filling._sweep(pairs, np.arange(6), 1.0, False, 10_000, 10_000)
    assert moved > 1e-6
    filling._sweep(pairs, np.arange(6), 1.0, False, 200_000, 200_000)
    np.testing.assert_allclose(pairs.totals, placement.sum(axis=1), rtol=1e-9)


def test_who_sweeps_for_long_is_compiled_with_the_same_numbers_and_looks_at_the_clock(monkeypatch):
    cluster = next(small_clusters(3, 1))
    placement, details = filling.resource_division(cluster, cluster.weights)
    assert details["sweeps"] > 1
    monkeypatch.setattr(filling, "MANY", -1)
    np.testing.assert_array_equal(filling.resource_division(cluster, cluster.weights)[0], placement)
    with watching(time_limit=1e-9), pytest.raises(OutOfTime):
        filling.resource_division(cluster, cluster.weights)


def test_equations_of_the_structure_finish_the_sweeps():
    # From a point near the answer, with its structure. Totals may differ: with dense demands, classes whose
    # dominant resource is the same on two servers exchange them freely, and the allocation is not unique.
    rng = np.random.default_rng(9)
    for kind in KINDS:
        cluster = random_cluster(rng, 25, 6, 3, kind=kind, weighted=True)
        placement, _ = filling.resource_division(cluster, cluster.weights)
        pairs = ServerPairs.of(cluster, cluster.weights, placement)
        filling._sweep(pairs, np.arange(6), 1.0, False, 2, 2)  # for the stops
        pairs.hold(pairs.tasks * (1 + 1e-4 * rng.random(len(pairs.tasks))))
        assert resource_division_certificate(cluster, None, pairs.placement).residual > 1e-6
        pairs.hold(filling.solve_structure(pairs))
        assert resource_division_certificate(cluster, None, pairs.placement).residual < 1e-13


@pytest.mark.parametrize("method", ["filling", "algorithm-1"])
def test_failure_is_an_error_with_the_best_point(method):
    rng = np.random.default_rng(10)
    cluster = random_cluster(rng, 30, 8, 3, weighted=True)
    policy = PSDSF(method=method, max_sweeps=2)
    with pytest.raises(NotConvergedError, match="raise max_sweeps"):
        policy(cluster, np.ones((2, 30)))
    with pytest.raises(NotConvergedError, match="raise max_sweeps") as caught:
        allocate(cluster, policy)
    certificate = resource_division_certificate(cluster, None, caught.value.best)
    assert caught.value.residual == pytest.approx(certificate.residual, rel=1e-6)
    assert certificate.residual > 1e-9
    assert (np.einsum("ni,nir->ir", caught.value.best, cluster.task_shares) <= 1 + 1e-9).all()


def test_names_and_bad_arguments():
    assert PSDSF().name == "PS-DSF rdm"
    assert PSDSF("time").name == "PS-DSF tdm"
    for options, message in (
        ({"division": "space"}, "division must be one of"),
        ({"method": "newton"}, "method must be one of"),
        ({"division": "time", "method": "algorithm-1"}, "resource division"),
        *(({"max_sweeps": n}, "max_sweeps must be a whole") for n in (0, -1, 2.5, "many", None)),
        *(({"server_order": n}, "server_order must be a tuple of") for n in (1, "01", (1.0, 0.0))),
    ):
        with pytest.raises(ModelError, match=message):
            PSDSF(**options)
    assert PSDSF(server_order=np.array([1, 0])) == PSDSF(server_order=[1, 0]) == PSDSF(server_order=(1, 0))
    assert hash(PSDSF(server_order=[1, 0])) == hash(PSDSF(server_order=(1, 0)))
    cluster = Cluster([[1]], [[1], [1]])
    with pytest.raises(ModelError, match=r"server_order must list the servers 0\.\.1 once"):
        allocate(cluster, PSDSF(server_order=(0, 0)))


def test_calls_without_certificates_give_the_placements_of_the_certified_solutions():
    rng = np.random.default_rng(8)
    for kind in KINDS:
        cluster = random_cluster(rng, n_classes=5, n_servers=3, n_resources=3, kind=kind)
        counts = rng.integers(0, 6, (4, 5)).astype(float)
        for policy in (PSDSF(), PSDSF(server_order=(2, 0, 1)), PSDSF(division="time")):
            one_by_one = np.stack([policy.solve(cluster, x).placement for x in counts])
            assert (policy(cluster, counts) == one_by_one).all()


def test_the_compiled_residual_is_that_of_the_certificate():
    """Both read Theorem 1 from its definition; on wrong placements, too, they agree up to rounding."""
    rng = np.random.default_rng(9)
    for trial in range(300):
        cluster = random_cluster(rng, n_classes=4, n_servers=3, n_resources=3, kind=KINDS[trial % len(KINDS)])
        counts = rng.integers(0, 4, 4).astype(float)
        weights = counts * cluster.weights
        placement = filling.separate_filling(cluster, weights)
        if trial % 3:
            placement = placement * rng.choice([0.0, 0.5, 1.0, 1.1], placement.shape)
        if trial % 5 == 0:
            placement = PSDSF().solve(cluster, counts).placement * (1 + 1e-7 * rng.random(placement.shape))
        expected = resource_division_certificate(cluster, counts, placement).residual
        compiled = ServerPairs.of(cluster, weights, placement).theorem_one_residual
        assert compiled == pytest.approx(expected, rel=1e-9, abs=1e-13)
    assert ServerPairs.of(cluster, weights, placement * np.nan).theorem_one_residual == np.inf
