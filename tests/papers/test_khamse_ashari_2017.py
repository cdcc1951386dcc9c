"""Khamse-Ashari et al., "Per-server dominant-share fairness", ICC 2017 (arXiv:1611.00404), by statement."""

from fractions import Fraction as F
from itertools import permutations

import numpy as np
import pytest

from fairness import Cluster, NotConvergedError, allocate
from fairness.evidence.clusters import resource_division_certificate, time_division_certificate
from fairness.policies.servers.distributed import distributed_psdsf
from fairness.policies.servers.engines.algorithm_one import algorithm_one
from fairness.policies.servers.engines.resource_division import resource_division
from fairness.policies.servers.psdsf import PSDSF
from fairness.properties import property_named
from fairness.testing import KINDS, random_cluster
from proofs.catalogue.psdsf import counterexamples
from proofs.definitions.servers.shares import Servers, is_psdsf
from proofs.prover.library.servers import cluster_of

# Theorem 1 holds up to the rounding of the last linear system or sweep: a few units of 1e-14 for these sizes.
EXACT = 1e-12

FIGURE_1 = cluster_of(counterexamples.FIGURE_1, resources=["cpu", "ram", "bandwidth"])
FIGURE_2 = cluster_of(counterexamples.FIGURE_2)
# The four classes of servers, pooled; the last two users may run on C and D only.
FIGURE_5 = cluster_of(counterexamples.TABLE_IV, servers=["A", "B", "C", "D"], resources=["cpu", "ram"])
USER_4_OFF = [1, 1, 1, 0]

BOTH_METHODS = pytest.mark.parametrize("policy", [PSDSF(), PSDSF(method="algorithm-1")], ids=["filling", "I"])


def satisfies_theorem_1(demands, capacities, weights, placement):
    """Theorem 1 over the rationals: every user has a bottleneck on every server."""
    cluster = {"demands": demands, "capacities": capacities, "weights": weights}
    return is_psdsf(Servers.of(cluster), placement, "resource")


@BOTH_METHODS
def test_figure_1(policy):
    result = allocate(FIGURE_1, policy)
    np.testing.assert_allclose(FIGURE_1.gamma, [[6, 0], [6, 0], [12, 12]])
    np.testing.assert_allclose(result.placement, [[3, 0], [3, 0], [0, 12]], rtol=0, atol=EXACT)
    # The memory is shared in proportion to the weights.
    np.testing.assert_allclose(result.tasks * FIGURE_1.demands[:, 1], [6, 6, 12], rtol=EXACT)


def test_figure_1_under_time_division():
    np.testing.assert_allclose(allocate(FIGURE_1, PSDSF("time")).tasks, [3, 3, 12], rtol=1e-9)


@BOTH_METHODS
def test_figures_2_and_3(policy):
    result = allocate(FIGURE_2, policy)
    np.testing.assert_allclose(
        result.placement, [[3.6, 0], [3.6, 0], [0, 8], [0, 8]], rtol=0, atol=10 * EXACT
    )
    shares = result.virtual_dominant_shares
    np.testing.assert_allclose(shares[:, 0], [0.6, 0.6, 2 / 3, 8 / 9], rtol=EXACT)
    np.testing.assert_allclose(shares[2:, 1], [2 / 3, 2 / 3], rtol=EXACT)
    np.testing.assert_allclose(result.usage, [[9, 10.8, 72], [12, 12, 0]], rtol=EXACT)
    assert result.saturated.tolist() == [[True, False, False], [True, True, True]]  # the last has capacity 0


def test_figures_2_and_3_under_time_division():
    np.testing.assert_allclose(allocate(FIGURE_2, PSDSF("time")).tasks, [3, 3, 6, 6], rtol=1e-9)


@pytest.mark.parametrize("division", ["resource", "time"])
@pytest.mark.parametrize("t", [0.3, 2 / 3, 1.0])
def test_figure_4_wireless_channels(division, t):
    # All rates that give what the paper prints: channel 2 halved, users alone on channels 1 and 3.
    rates = [[1.5 - 0.75 * t, 1.5 * t, 0.1], [0.1, t, 1 - t / 2]]
    channels = Cluster([[1], [1]], [[1], [1], [1]], gamma=rates)
    result = allocate(channels, PSDSF(division))
    np.testing.assert_allclose(result.tasks, [1.5, 1], rtol=1e-9)
    np.testing.assert_allclose(result.placement / rates, [[1, 0.5, 0], [0, 0.5, 1]], rtol=0, atol=1e-9)


def test_figure_4_with_two_thirds():
    channels = Cluster([[1], [1]], [[1], [1], [1]], gamma=[[1, 1, 0.5], [1 / 3, 2 / 3, 2 / 3]])
    result = allocate(channels, PSDSF())
    np.testing.assert_allclose(result.tasks, [1.5, 1], rtol=EXACT)
    np.testing.assert_allclose(result.virtual_dominant_shares[:, 1], [1.5, 1.5], rtol=EXACT)


@BOTH_METHODS
def test_table_4(policy):
    np.testing.assert_allclose(
        FIGURE_5.gamma,
        [[80, 340, 82.5, 55], [40, 170, 41.25, 41.25], [0, 0, 82.5, 27.5], [0, 0, 27.5, 27.5]],
        rtol=1e-15,
    )
    result = allocate(FIGURE_5, policy)
    np.testing.assert_allclose(result.tasks, [210, 105, 82.5, 27.5], rtol=EXACT)
    # Between A and B the split of users 1 and 2 is not unique: their exchange rates there are equal.
    np.testing.assert_allclose(
        result.placement[:, 2:], [[0, 0], [0, 0], [82.5, 0], [0, 27.5]], rtol=0, atol=1e-9
    )
    np.testing.assert_allclose(result.placement[:, :2].sum(axis=1), [210, 105, 0, 0], rtol=EXACT)


def test_table_4_as_printed_is_ps_dsf():
    # The split of users 1 and 2 between classes A and B is one of many; another follows.
    printed = [[40, 170, 0, 0], [20, 85, 0, 0], [0, 0, 82.5, 0], [0, 0, 0, 27.5]]
    other = [[80, 130, 0, 0], [0, 105, 0, 0], *printed[2:]]
    for placement in (printed, other):
        assert resource_division_certificate(FIGURE_5, None, placement).residual <= EXACT
        assert time_division_certificate(FIGURE_5, None, placement).residual <= EXACT


@BOTH_METHODS
@pytest.mark.parametrize(
    ("counts", "cpu"), [([1, 1, 1, 1], (0.75, 1, 1)), (USER_4_OFF, (0.79847, 1, 0.77922))]
)
def test_figure_6_utilization(policy, counts, cpu):
    result = allocate(FIGURE_5, policy, counts)
    pooled = result.usage[:2, 0].sum() / FIGURE_5.capacities[:2, 0].sum()
    measured = [pooled, result.utilization[2, 0], result.utilization[3, 0]]
    np.testing.assert_allclose(measured, cpu, rtol=0, atol=5e-6)  # the last digit given
    np.testing.assert_allclose(result.utilization[:, 1], 1, rtol=1e-9)


@BOTH_METHODS
def test_figure_6_without_user_4(policy):
    result = allocate(FIGURE_5, policy, USER_4_OFF)
    np.testing.assert_allclose(result.tasks, [1755 / 7, 1755 / 14, 1170 / 14, 0], rtol=1e-11)
    np.testing.assert_allclose(result.placement[:, 3], [0, 285 / 7, 15 / 14, 0], rtol=0, atol=1e-9)
    np.testing.assert_allclose(result.placement[:, 2], [0, 0, 82.5, 0], rtol=0, atol=1e-9)


def test_memory_not_cpu_is_full_on_the_first_two_classes_of_servers():
    # The paper says that their CPU is fully used under any mechanism. No demand d_2 = (c, 0.2) that agrees
    # with its table (c <= 2/15) allows that: users 1 and 2 then use at most 20/24 of the CPU of server A.
    demands = FIGURE_5.demands.copy()
    demands[1, 0] = 2 / 15
    cluster = FIGURE_5.replaced(demands=demands)
    np.testing.assert_allclose(cluster.gamma, FIGURE_5.gamma, rtol=1e-14)
    result = allocate(cluster, PSDSF())
    np.testing.assert_allclose(result.tasks, [210, 105, 82.5, 27.5], rtol=EXACT)
    assert result.usage[:2, 0].sum() / cluster.capacities[:2, 0].sum() == pytest.approx(5 / 6)
    # With these demands and without user 4, the CPU of class D is full, its memory is not.
    without = allocate(cluster, PSDSF(), USER_4_OFF)
    np.testing.assert_allclose(without.utilization[3], [1, 97 / 99], rtol=EXACT)


def test_figure_6_as_a_simulation():
    run = distributed_psdsf(FIGURE_5, 300, activity={3: [(0, 100), (250, 300)]}, settled=1e-6, rng=0)
    np.testing.assert_allclose(run.tasks[99], [210, 105, 82.5, 27.5], rtol=1e-6)
    np.testing.assert_allclose(run.tasks[249], [1755 / 7, 1755 / 14, 1170 / 14, 0], rtol=1e-6)
    np.testing.assert_allclose(run.tasks[300], [210, 105, 82.5, 27.5], rtol=1e-6)
    # "promptly converges when changes occur": well within the phases of 100, 150 and 50 periods.
    assert max(run.settle_times) < 45


def test_algorithm_1_sweeps():
    weights = np.ones(4)
    needed = [
        algorithm_one(FIGURE_1, FIGURE_1.weights)[1]["sweeps"],
        algorithm_one(FIGURE_2, weights)[1]["sweeps"],
        algorithm_one(FIGURE_5, weights)[1]["sweeps"],
        algorithm_one(FIGURE_5, np.array(USER_4_OFF, dtype=float))[1]["sweeps"],
    ]
    assert needed == [1, 1, 2, 14]


@BOTH_METHODS
def test_resource_division_is_not_pareto_efficient(policy):
    demands, capacities = [[1, 3], [3, 1]], [[4, 2], [2, 4]]
    result = allocate(Cluster(demands, capacities), policy)
    np.testing.assert_allclose(result.tasks, [4 / 3, 4 / 3], rtol=EXACT)
    # Here every share of a class lies on one server, so which one is clear.
    alone = [[F(0), F(4, 3)], [F(4, 3), F(0)]]
    np.testing.assert_allclose(result.placement, np.array(alone, dtype=float), rtol=0, atol=EXACT)
    assert satisfies_theorem_1(demands, capacities, [1, 1], alone)
    better = [[F(1, 4), F(5, 4)], [F(5, 4), F(1, 4)]]
    for i, capacity in enumerate(capacities):
        assert all(sum(better[n][i] * demands[n][r] for n in (0, 1)) <= capacity[r] for r in (0, 1))
    assert [sum(row) for row in better] == [F(3, 2), F(3, 2)]
    assert not satisfies_theorem_1(demands, capacities, [1, 1], better)


@BOTH_METHODS
def test_resource_division_is_not_pareto_efficient_in_a_smaller_instance(policy):
    cluster = Cluster([[1, 2], [3, 1]], [[2, 1], [1, 1]])
    np.testing.assert_allclose(allocate(cluster, policy).tasks, [1 / 2, 2 / 3], rtol=EXACT)
    better = [[F(1, 5), F(2, 5)], [F(3, 5), F(1, 5)]]  # (0.6, 0.8) tasks
    for i, capacity in enumerate([[2, 1], [1, 1]]):
        assert all(better[0][i] * (1, 2)[r] + better[1][i] * (3, 1)[r] <= capacity[r] for r in (0, 1))


def test_the_resource_division_allocation_is_not_unique():
    demands, capacities = [[2, 6, 3], [2, 2, 5]], [[6, 6, 5], [11, 8, 2], [1, 7, 8]]
    cluster = Cluster(demands, capacities, weights=[2, 1])
    nothing = np.zeros((2, 3))
    forward, backward = (0, 1, 2), (2, 1, 0)
    # From nothing, sweeps from server 1 to 3 and from 3 to 1; then the same from DRF on every server.
    points = [
        (forward, nothing, [[F(6, 7), F(2, 3), F(1, 9)], [F(3, 7), F(0), F(7, 18)]]),
        (backward, nothing, [[F(20, 33), F(2, 3), F(1, 3)], [F(7, 11), F(0), F(1, 6)]]),
        (forward, None, [[F(82, 99), F(2, 3), F(23, 135)], [F(83, 165), F(0), F(89, 270)]]),
        (backward, None, [[F(68, 99), F(2, 3), F(37, 135)], [F(97, 165), F(0), F(61, 270)]]),
    ]
    for order, start, point in points:
        assert satisfies_theorem_1(demands, capacities, [2, 1], point)
        for solve in (resource_division, algorithm_one):
            found, _ = solve(cluster, cluster.weights, server_order=order, start=start)
            np.testing.assert_allclose(found, np.array(point, dtype=float), rtol=0, atol=EXACT)
        if start is None:
            found = allocate(cluster, PSDSF(server_order=order)).placement
            np.testing.assert_allclose(found, np.array(point, dtype=float), rtol=0, atol=EXACT)
    totals = [[sum(row) for row in point] for _, _, point in points]
    assert totals[:2] == [[F(103, 63), F(103, 126)], [F(53, 33), F(53, 66)]]
    # One PS-DSF allocation can dominate another: user 1 always runs twice the tasks of user 2.
    assert all(first == 2 * second for first, second in totals)
    assert totals[2] > totals[0] > totals[3] > totals[1]


def exact_sweep(demands, capacities, eligible, weights, placement):
    """Fill server after server over the rationals, as resource_division does."""
    placement = [list(row) for row in placement]
    users, resources = range(len(demands)), range(len(capacities[0]))
    for i, capacity in enumerate(capacities):
        away = [sum(row) - row[i] for row in placement]
        pace = [
            eligible[n][i]
            * weights[n]
            * min(F(capacity[r], demands[n][r]) for r in resources if demands[n][r])
            for n in users
        ]
        held, left = [F(0)] * len(demands), {n for n in users if pace[n]}
        while left:

            def usage(level, r, i=i, away=away, pace=pace, held=held, left=left):
                rising = {n: max(F(0), pace[n] * level - away[n]) for n in left}
                return sum(demands[n][r] * rising.get(n, held[n]) for n in users)

            found = []
            for r in resources:
                wanted = [n for n in left if demands[n][r]]
                if wanted:
                    # The usage of r is convex, piecewise linear: from the last kink below, by its slope.
                    kinks = [away[n] / pace[n] for n in left if usage(away[n] / pace[n], r) <= capacity[r]]
                    base = max(kinks)
                    slope = sum(demands[n][r] * pace[n] for n in wanted if away[n] / pace[n] <= base)
                    if slope:
                        found.append((base + (capacity[r] - usage(base, r)) / slope, r))
            level, full = min(found)
            for n in [n for n in left if demands[n][full]]:
                held[n] = max(F(0), pace[n] * level - away[n])
                left.remove(n)
        for n in users:
            placement[n][i] = held[n]
    return placement


def test_the_sweeps_of_algorithm_1_need_not_end():
    # The paper leaves the convergence open. Here sweeps of water-filling alternate between two placements,
    # and Algorithm I does too. Theorem 1 holds at neither; there is a PS-DSF allocation.
    demands = [[4, 0, 2], [3, 4, 1], [1, 3, 4], [0, 2, 3], [0, 4, 2]]
    capacities, weights = [[2, 9, 7], [2, 7, 2], [7, 9, 9]], [1, 2, 1, 1, 1]
    eligible = [[1, 1, 1], [1, 1, 1], [0, 1, 1], [1, 0, 1], [1, 0, 1]]
    even = [
        [F(11050523, 99239572), F(768740, 74429679), F(180086911, 297718716)],
        [F(0), F(145784398, 223289037), F(271391522, 223289037)],
        [F(0), F(0), F(23176440, 24809893)],
        [F(56499471, 49619786), F(0), F(298271365, 446578074)],
        [F(83394783, 49619786), F(0), F(0)],
    ]
    odd = exact_sweep(demands, capacities, eligible, weights, even)
    assert odd != even
    assert [sum(row) for row in odd[:2]] == [F(18345992, 24809893), F(47175408, 24809893)]
    assert exact_sweep(demands, capacities, eligible, weights, odd) == even
    cluster = Cluster(demands, capacities, eligible=eligible, weights=weights)
    for point in (even, odd):
        assert not resource_division_certificate(cluster, None, np.array(point, dtype=float)).holds
    with pytest.raises(NotConvergedError) as caught:
        allocate(cluster, PSDSF(method="algorithm-1", max_sweeps=400))
    np.testing.assert_allclose(caught.value.best, np.array(even, dtype=float), rtol=0, atol=1e-9)
    for order in permutations(range(3)):
        assert allocate(cluster, PSDSF(server_order=order, max_sweeps=2000)).certificate.residual < EXACT


@BOTH_METHODS
def test_resource_division_rewards_a_lie(policy):
    honest = Cluster([[3, 1], [1, 3]], [[2, 1], [4, 3]])
    truth = allocate(honest, policy).tasks
    np.testing.assert_allclose(truth, [44 / 39, 11 / 13], rtol=EXACT)
    hiding = honest.replaced(eligible=[[False, True], [True, True]])
    lie = allocate(hiding, policy).tasks
    np.testing.assert_allclose(lie, [52 / 45, 13 / 15], rtol=EXACT)
    # Both gain, so this is no case against Lemma 1.
    assert (lie > truth).all()


@BOTH_METHODS
def test_lemma_1_fails_for_a_false_claim_of_a_server(policy):
    # Who demands everything can harm others at no cost, by claiming a server that it cannot use.
    honest = Cluster([[1, 1], [1, 1]], [[1, 1], [100, 100]], eligible=[[True, False], [False, True]])
    np.testing.assert_allclose(allocate(honest, policy).tasks, [1, 100], rtol=EXACT)
    claimed = honest.replaced(eligible=[[True, True], [False, True]])
    lie = allocate(claimed, policy).placement
    np.testing.assert_allclose(lie, [[1, 99 / 2], [0, 101 / 2]], rtol=EXACT)
    # On its own server user 1 runs one task as before; user 2 has lost nearly half of its tasks.


def random_instances(seed, number):
    rng = np.random.default_rng(seed)
    for k in range(number):
        sizes = (int(rng.integers(1, high)) for high in (5, 4, 4))
        yield random_cluster(rng, *sizes, kind=KINDS[k % 3], weighted=k % 2 == 1, constrained=k % 4 > 1)


@pytest.mark.parametrize("division", ["resource", "time"])
def test_theorem_3_sharing_incentive(division):
    for cluster in random_instances(1, 200):
        tasks = allocate(cluster, PSDSF(division)).tasks
        uniform = cluster.weights / cluster.weights.sum() * cluster.gamma.sum(axis=1)
        assert (tasks >= uniform * (1 - 1e-9)).all()


@pytest.mark.parametrize("division", ["resource", "time"])
def test_theorem_3_envy_freeness(division):
    for cluster in random_instances(2, 200):
        result = allocate(cluster, PSDSF(division))
        d, c, w = cluster.demands, cluster.capacities, cluster.weights
        for n in range(cluster.n_classes):
            wanted = d[n] > 0
            for p in range(cluster.n_classes):
                worth = 0.0
                for i in range(cluster.n_servers):
                    if cluster.eligible[n, i]:
                        bundle = result.placement[p, i] * d[p]
                        if division == "time":  # what p holds of the server is time
                            bundle = result.placement[p, i] / max(cluster.gamma[p, i], 1e-300) * c[i]
                        worth += w[n] / w[p] * min(bundle[wanted] / d[n, wanted])
                assert result.tasks[n] >= worth * (1 - 1e-9) - 1e-9 * result.tasks[n]


def test_theorem_3_single_resource_fairness():
    # With one resource both divisions are weighted max-min fairness of that resource over the servers.
    for k, cluster in enumerate(random_instances(3, 60)):
        single = random_cluster(
            np.random.default_rng(k), cluster.n_classes, cluster.n_servers, 1, constrained=True
        )
        resource = allocate(single, PSDSF())
        np.testing.assert_allclose(resource.tasks, allocate(single, PSDSF("time")).tasks, rtol=1e-8)
        # max-min: whoever holds a part of a server has, per weight, no more than others who may use it.
        amount = resource.tasks * single.demands[:, 0] / single.weights
        for i in range(single.n_servers):
            users = np.flatnonzero(single.eligible[:, i])
            holders = np.flatnonzero(resource.placement[:, i] / single.capacities[i, 0] > 1e-9)
            assert amount[holders].max() <= amount[users].min() * (1 + 1e-9)


def test_time_division_is_stricter_than_resource_division():
    # Eq. (11): whatever fits in time fits by resources.
    for cluster in random_instances(4, 60):
        placement = allocate(cluster, PSDSF("time")).placement
        assert time_division_certificate(cluster, None, placement).holds
        assert (np.einsum("ni,nir->ir", placement, cluster.task_shares) <= 1 + 1e-9).all()


def test_a_single_server_gives_weighted_drf():
    # Definition 1: dominant shares over weights are max-min fair; here all equal where all is demanded.
    rng = np.random.default_rng(5)
    for _ in range(40):
        cluster = random_cluster(rng, 4, 1, 3, weighted=True)
        result = allocate(cluster, PSDSF())
        levels = result.virtual_dominant_shares[:, 0] / cluster.weights
        np.testing.assert_allclose(levels, levels[0], rtol=1e-12)
        assert result.utilization.max() == pytest.approx(1, abs=1e-12)


def test_theorem_1_fails_next_to_the_allocation():
    for cluster in (FIGURE_1, FIGURE_2):
        placement = allocate(cluster, PSDSF()).placement
        for n, i in np.argwhere(placement > 0):
            less = placement.copy()
            less[n, i] *= 1 - 1e-6
            assert not resource_division_certificate(cluster, None, less).holds


def test_how_often_resource_division_is_not_efficient_and_not_unique():
    # Counted on other random clusters by an independent implementation: 2 to 7 % and about 0.4 %. The seed is
    # fixed; the ranges would be left by chance with probability below 1e-5 if the rates were 3 % and 0.5 %.
    rng = np.random.default_rng(1)
    efficiency, wasteful, twofold = property_named("Pareto efficiency"), 0, 0
    for k in range(600):
        sizes = (int(v) for v in rng.integers((2, 1, 1), (5, 4, 4)))
        cluster = random_cluster(rng, *sizes, kind="integer", weighted=True, constrained=k % 2 == 1)
        result = allocate(cluster, PSDSF())
        back = allocate(cluster, PSDSF(server_order=tuple(range(cluster.n_servers))[::-1]))
        wasteful += not efficiency.check(cluster, result.placement).holds
        twofold += not np.allclose(result.tasks, back.tasks, rtol=1e-6)
    assert 3 <= wasteful <= 48
    assert twofold <= 18
