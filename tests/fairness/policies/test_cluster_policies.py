"""The mechanisms on servers: what they are without constraints, on one server, by their definitions."""

from dataclasses import replace

import numpy as np
import pytest

from fairness import DRF, PSDSF, Cluster, ModelError, Problem, allocate
from fairness.catalogue import CATALOGUE, CLUSTER_CATALOGUE, colour
from fairness.evidence.clusters import server_usage
from fairness.evidence.pools import Certificate
from fairness.policies.servers import per_server
from fairness.policies.servers.per_server import PerServerDRF
from fairness.policies.servers.task_share import CDRF, CDRFH, DRFH, TSF
from fairness.protocol.policy import policy_name
from fairness.testing import KINDS, random_cluster

LEXIMIN = [TSF(), TSF("dedicated"), CDRF(), DRFH(), CDRFH()]


def test_every_policy_of_the_catalogues_has_a_colour_of_its_own():
    pools, clusters = ({entry.name for entry in entries} for entries in (CATALOGUE, CLUSTER_CATALOGUE))
    # Tests of all policies go through these catalogues.
    assert pools == {"MMF", "DRF", "PF", "BMF", "alpha=2", "Asset"}
    plain = {"CDRF", "DRFH", "C-DRFH", "DRF per server"}
    assert clusters == plain | {"PS-DSF rdm", "PS-DSF tdm", "TSF", "TSF dedicated"}
    for names in (pools, clusters):
        assert len({colour(name) for name in names}) == len(names)
    assert colour("DRF") == "#D55E00"


@pytest.mark.parametrize("kind", KINDS)
def test_without_constraints_the_constrained_mechanisms_are_the_plain_ones(kind):
    rng = np.random.default_rng(2)
    for _ in range(8):
        cluster = random_cluster(rng, 5, 3, 3, kind=kind, weighted=True)
        counts = rng.integers(0, 4, 5).astype(float)
        for plain, constrained in ((DRFH(), CDRFH()), (CDRF(), TSF())):
            one, other = plain(cluster, counts), constrained(cluster, counts)
            np.testing.assert_allclose(one.sum(axis=1), other.sum(axis=1), rtol=1e-12)


@pytest.mark.parametrize("policy", [*LEXIMIN, PerServerDRF(), PSDSF()], ids=policy_name)
@pytest.mark.parametrize("kind", KINDS)
def test_one_server_is_drf(policy, kind):
    rng = np.random.default_rng(8)
    for k in range(30 if policy == PSDSF() else 8):
        cluster = random_cluster(rng, 6 - k % 6, 1, 3, kind=kind, weighted=True)
        counts = rng.integers(0, 4, cluster.n_classes).astype(float)
        pool = Problem(cluster.demands, cluster.capacities[0], weights=cluster.weights)
        solution = policy.solve(cluster, counts)
        assert solution.certificate.holds
        # Both are exact but for rounding.
        np.testing.assert_allclose(
            solution.placement.sum(axis=1), DRF()(pool, counts), rtol=1e-10, atol=1e-13
        )


def test_levels_are_tasks_over_yardsticks_and_weights():
    cluster = Cluster([[1, 1], [2, 1]], [[8, 4], [4, 4]], weights=[1, 3])
    counts = np.array([2.0, 1.0])
    gamma = cluster.gamma.sum(axis=1)
    dominant = (cluster.demands / cluster.total_capacities).max(axis=1)
    for policy, yardsticks in (
        (TSF(), gamma),
        (CDRF(), gamma),
        (TSF("dedicated"), gamma / 5),
        (DRFH(), 1 / dominant),
        (CDRFH(), 1 / dominant),
    ):
        solution = policy.solve(cluster, counts)
        tasks = solution.placement.sum(axis=1)
        expected = tasks / (counts * cluster.weights * yardsticks)
        np.testing.assert_allclose(solution.levels, expected, rtol=1e-14)
        assert [record.level for record in solution.details["rounds"]]


@pytest.mark.parametrize("kind", KINDS)
def test_dedicated_tsf_gives_everybody_the_dedicated_pool(kind):
    rng = np.random.default_rng(6)
    for effective in (False, True):
        for _ in range(10):
            cluster = random_cluster(
                rng, 5, 4, 3, kind=kind, weighted=True, constrained=True, effective=effective
            )
            counts = rng.integers(0, 4, 5).astype(float)
            solution = TSF("dedicated").solve(cluster, counts)
            part = counts * cluster.weights / max(1.0, counts @ cluster.weights)
            # Rounding.
            assert (solution.placement.sum(axis=1) >= part * cluster.gamma.sum(axis=1) * (1 - 1e-12)).all()
            np.testing.assert_array_less(1 - 1e-12, solution.levels[counts > 0])


@pytest.mark.parametrize(
    ("policy", "other"), [(CDRF(), "use TSF"), (DRFH(), "use C-DRFH")], ids=lambda value: str(value)
)
def test_constraints_are_refused_where_there_should_be_none(policy, other):
    demands, capacities = [[1, 0], [1, 1]], [[4, 4], [4, 0]]
    assert allocate(Cluster(demands, capacities), policy).certificate.holds
    # Class 2 finds no resource 2 on server 2: that is no placement constraint.
    lacking = Cluster(demands, capacities, eligible=[[True, True], [True, False]])
    assert allocate(lacking, policy).certificate.holds
    constrained = Cluster(demands, capacities, eligible=[[False, True], [True, False]])
    match = f"no placement constraints, but 'class 1' is not eligible on 'server 1'.*{other}"
    with pytest.raises(ModelError, match=match):
        allocate(constrained, policy)


@pytest.mark.parametrize("policy", [DRFH(), CDRFH()], ids=policy_name)
def test_given_gamma_is_refused_by_pooled_shares(policy):
    cluster = Cluster([[1, 0], [1, 1]], [[4, 4], [4, 4]], gamma=[[8, 2], [4, 4]])
    with pytest.raises(ModelError, match="gamma is given, so a class has no share of the pooled capacities"):
        allocate(cluster, policy)
    for fine in (TSF(), TSF("dedicated"), CDRF(), PerServerDRF()):
        assert allocate(cluster, fine).certificate.holds


def test_unknown_weighting_is_refused():
    with pytest.raises(ModelError, match="weighting must be one of"):
        TSF("fair")


@pytest.mark.parametrize("kind", KINDS)
def test_per_server_drf_by_its_definition(kind):
    rng = np.random.default_rng(9)
    for effective in (False, True):
        cluster = random_cluster(
            rng, 6, 4, 3, kind=kind, weighted=True, constrained=True, effective=effective
        )
        counts = np.array([1.0, 2.0, 0.0, 1.0, 0.5, 3.0])
        solution = PerServerDRF().solve(cluster, counts)
        assert solution.certificate.holds
        full = server_usage(cluster, solution.placement) >= 1 - 1e-12
        for n, i in np.argwhere(cluster.eligible & (counts > 0)[:, None]):
            # Level = weighted dominant share of one job on this server.
            level = solution.placement[:, i] * cluster.task_shares[:, i].max(axis=1)
            level = np.divide(level, counts * cluster.weights, out=np.zeros(6), where=counts > 0)
            np.testing.assert_allclose(solution.details["levels"][:, i], level, rtol=1e-12, atol=1e-15)
            stops = [
                full[i, r] and level[n] >= level[(cluster.task_shares[:, i, r] > 0)].max() * (1 - 1e-9)
                for r in np.flatnonzero(cluster.task_shares[n, i] > 0)
            ]
            assert any(stops)
        assert not solution.placement[2].any()


def test_per_server_drf_is_as_doubtful_as_its_filling(monkeypatch):
    class Doubtful:
        """DRF that doubts its answer."""

        def solve(self, pool, counts):
            solution = DRF().solve(pool, counts)
            return replace(solution, certificate=Certificate("doubtful", 0.25))

    monkeypatch.setattr(per_server, "DRF", Doubtful)
    cluster = Cluster([[1], [1]], [[1], [2]], eligible=[[True, False], [True, True]])
    assert PerServerDRF().solve(cluster).certificate.residual == 0.25
