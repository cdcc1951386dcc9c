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
from proofs.catalogue import statement_named
from proofs.catalogue.psdsf import counterexamples
from proofs.catalogue.psdsf.lies import FALSE_CLAIM
from proofs.definitions import fractions
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


FIGURES = ["psdsf-figure-1", "psdsf-figure-2", "psdsf-table-4", "psdsf-two-servers"]


@BOTH_METHODS
@pytest.mark.parametrize("name", FIGURES)
def test_figures(name, policy):
    """The numbers are those of the statements, which settle divided time as well."""
    statement = statement_named(name)
    [claim] = [
        step.claim
        for step in statement.ask(statement.question())
        if step.claim.function == "psdsf_tasks" and step.claim.arguments["division"] == "resource"
    ]
    result = allocate(cluster_of(claim.arguments["cluster"]), policy)
    expected = [float(v) for v in fractions(claim.value["tasks"])]
    np.testing.assert_allclose(result.tasks, expected, rtol=EXACT)
    if name != "psdsf-table-4":
        placement = np.array(fractions(claim.arguments["placement"]), dtype=float)
        np.testing.assert_allclose(result.placement, placement, rtol=0, atol=10 * EXACT)
    else:
        # Users 1 and 2 may be split between A and B as they like: their exchange rates there are equal.
        np.testing.assert_allclose(result.placement[:2, 2:], 0, rtol=0, atol=1e-9)
        np.testing.assert_allclose(result.placement[2:, :2], 0, rtol=0, atol=1e-9)
        np.testing.assert_allclose(result.placement[2:, 2:], np.diag(expected[2:]), rtol=0, atol=1e-9)


@pytest.mark.parametrize("division", ["resource", "time"])
@pytest.mark.parametrize("t", [0.3, 2 / 3, 1.0])
def test_figure_4_wireless_channels(division, t):
    # All rates that give what the paper prints: channel 2 halved, users alone on channels 1 and 3.
    rates = [[1.5 - 0.75 * t, 1.5 * t, 0.1], [0.1, t, 1 - t / 2]]
    channels = Cluster([[1], [1]], [[1], [1], [1]], gamma=rates)
    result = allocate(channels, PSDSF(division))
    np.testing.assert_allclose(result.tasks, [1.5, 1], rtol=1e-9)
    np.testing.assert_allclose(result.placement / rates, [[1, 0.5, 0], [0, 0.5, 1]], rtol=0, atol=1e-9)


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


CASES = [
    counterexamples.NOT_PARETO.arguments,
    counterexamples.NOT_PARETO_SMALL.arguments,
    counterexamples.NOT_TRUTHFUL.arguments,
    FALSE_CLAIM,
]


@BOTH_METHODS
@pytest.mark.parametrize("case", CASES)
def test_placements_of_the_counterexamples(policy, case):
    """What the library finds before and after a lie about servers; better placements are the statements'."""
    cluster = cluster_of(case["cluster"])
    floats = {
        name: np.array(fractions(case[name]), dtype=float) for name in case.keys() & {"placement", "after"}
    }
    found = allocate(cluster, policy).placement
    np.testing.assert_allclose(found, floats["placement"], rtol=EXACT, atol=EXACT)
    if "lie" in case:
        lying = cluster.replaced(eligible=np.array(case["lie"], dtype=bool))
        found = allocate(lying, policy).placement
        np.testing.assert_allclose(found, floats["after"], rtol=EXACT, atol=EXACT)


def test_the_resource_division_allocation_is_not_unique():
    demands, capacities = [[2, 6, 3], [2, 2, 5]], [[6, 6, 5], [11, 8, 2], [1, 7, 8]]
    plain = {"demands": demands, "capacities": capacities, "weights": [2, 1]}
    cluster = cluster_of(plain)
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
        assert is_psdsf(Servers.of(plain), point, "resource")
        # Twice the tasks of user 2 at every point, so that one PS-DSF allocation can dominate another.
        assert sum(point[0]) == 2 * sum(point[1])
        for solve in (resource_division, algorithm_one):
            found, _ = solve(cluster, cluster.weights, server_order=order, start=start)
            np.testing.assert_allclose(found, np.array(point, dtype=float), rtol=0, atol=EXACT)
        if start is None:
            found = allocate(cluster, PSDSF(server_order=order)).placement
            np.testing.assert_allclose(found, np.array(point, dtype=float), rtol=0, atol=EXACT)


@pytest.mark.long
def test_the_sweeps_of_algorithm_1_need_not_end():
    # The paper leaves the convergence open. Here sweeps of Algorithm I alternate between two placements, one
    # of them below, at which Theorem 1 does not hold; there is a PS-DSF allocation.
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
    cluster = Cluster(demands, capacities, eligible=eligible, weights=weights)
    assert not resource_division_certificate(cluster, None, np.array(even, dtype=float)).holds
    after = {}
    for sweeps in (400, 401, 402):
        with pytest.raises(NotConvergedError) as caught:
            allocate(cluster, PSDSF(method="algorithm-1", max_sweeps=sweeps))
        after[sweeps] = caught.value.best
    for sweeps in (400, 402):
        np.testing.assert_allclose(after[sweeps], np.array(even, dtype=float), rtol=0, atol=1e-9)
    odd = [18345992 / 24809893, 47175408 / 24809893]
    np.testing.assert_allclose(after[401].sum(axis=1)[:2], odd, rtol=1e-9)
    for order in permutations(range(3)):
        assert allocate(cluster, PSDSF(server_order=order, max_sweeps=2000)).certificate.residual < EXACT


def random_instances(seed, number):
    rng = np.random.default_rng(seed)
    for k in range(number):
        sizes = (int(rng.integers(1, high)) for high in (5, 4, 4))
        yield random_cluster(rng, *sizes, kind=KINDS[k % 3], weighted=k % 2 == 1, constrained=k % 4 > 1)


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


def test_theorem_1_fails_next_to_the_allocation():
    for cluster in (FIGURE_1, FIGURE_2):
        placement = allocate(cluster, PSDSF()).placement
        for n, i in np.argwhere(placement > 0):
            less = placement.copy()
            less[n, i] *= 1 - 1e-6
            assert not resource_division_certificate(cluster, None, less).holds


@pytest.mark.long
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
