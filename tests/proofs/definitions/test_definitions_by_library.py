"""Definitions in plain fractions and the library on random instances; exact ones are in test_definitions."""

import itertools
import random
from fractions import Fraction as F

import numpy as np
import pytest
from scipy import sparse

from fairness import DRF, BottleneckMax, Problem, ProportionalFair, allocate
from fairness.cloud import dcdrf, edrf
from fairness.evidence.clusters import resource_division_certificate, time_division_certificate
from fairness.indivisible import LowestShare, SequentialMinMax, fill_tasks
from fairness.policies.servers.psdsf import PSDSF
from fairness.properties.exact.enclosure import enclose
from fairness.timed.tdrf import TDRF, integer_tdrf
from proofs import ProofError
from proofs.definitions import definition, fractions
from proofs.definitions.cloud.bundles import sequential_minmax
from proofs.definitions.cloud.rounds import algorithm_1, algorithm_2, entitlements
from proofs.definitions.pools import timed
from proofs.definitions.pools.filling import is_bottleneck_max
from proofs.definitions.queues.balance import balanced_enclosure, two_class_pf
from proofs.definitions.queues.drifts import _simulated_pf, two_resource_bmf
from proofs.definitions.queues.enclosures import pf_enclosure
from proofs.definitions.servers.points import psdsf_points
from proofs.definitions.servers.shares import Servers, cannot_gain, envies, is_psdsf, uniform_tasks
from proofs.prover.library import library_value
from proofs.prover.library.servers import cluster_of
from queueing import System, balanced_fairness, drift, duration_bound, stationary
from tests.proofs.instances import random_pool, random_tenants


@pytest.fixture
def rng():
    return random.Random(11)


def random_shares(rng, n, m):
    return [[F(rng.randint(1, 9), rng.randint(1, 4)) for _ in range(m)] for _ in range(n)]


def loads_at(rng, shares, load):
    mix = [rng.randint(1, 6) for _ in shares]
    busiest = max(sum(r * row[j] for r, row in zip(mix, shares, strict=True)) for j in range(len(shares[0])))
    return [load * r / busiest for r in mix]


def as_system(shares, rho):
    return System(Problem(np.array(shares, dtype=float), np.ones(len(shares[0]))), np.array(rho, dtype=float))


def test_the_bound_holds_coefficient_by_coefficient_on_random_systems(rng):
    for _ in range(6):
        n, m = rng.randint(1, 3), rng.randint(1, 4)
        shares = random_shares(rng, n, m)
        for row in shares:  # some zeros, but never a class without demands
            row[rng.randrange(m)] *= rng.choice((0, 1)) if m > 1 and all(row) else 1
        cases = list(definition("duration_terms")(shares, 3, True))
        assert all(holds for _, holds in cases)
        if m == 1:
            assert all(case["left"] == case["right"] for case, _ in cases)


def test_the_enclosure_holds_the_library_and_is_below_the_bound(rng):
    for _ in range(6):
        shares = random_shares(rng, 2, rng.randint(1, 3))
        rho = loads_at(rng, shares, F(3, 5))
        ends = balanced_enclosure(shares, rho, 90)
        system = as_system(shares, rho)
        values = balanced_fairness(system).mean_durations
        bounds = definition("balanced_bound")(shares, rho)
        for (low, high), value, bound in zip(ends, values, bounds, strict=True):
            # The library leaves out a tail of 1e-9 or so; the enclosure is narrower than 1e-6 at load .6.
            assert high - low < 1e-6
            assert float(low) - 1e-6 <= value <= float(high) + 1e-6
            assert low <= bound
        assert np.allclose([float(b) for b in bounds], duration_bound(system).mean_durations, rtol=1e-12)


@pytest.mark.long
def test_the_enclosure_of_pf_holds_the_chain_of_the_library(rng):
    held = 0
    while held < 3:
        shares = random_shares(rng, 2, 2)
        rho = loads_at(rng, shares, F(1, 2))
        try:
            ends = pf_enclosure(shares, rho, [30, 30])
        except ProofError:  # a class with a tiny load needs a larger box
            continue
        values = stationary(as_system(shares, rho), ProportionalFair()).mean_durations
        for (low, high), value in zip(ends, values, strict=True):
            # The chain is cut off where 1e-8 or so is left out.
            assert float(low) - 1e-6 * value <= value <= float(high) + 1e-6 * value
            assert high > low
        held += 1


def test_drifts_are_those_of_the_library(rng):
    for _ in range(20):
        shares, x = random_shares(rng, 2, 2), [rng.randint(1, 30), rng.randint(1, 30)]
        rho = loads_at(rng, shares, F(9, 10))
        system = as_system(shares, rho)
        for name, policy in (("PF", ProportionalFair()), ("DRF", DRF())):
            exact = [float(v) for v in definition("fluid_drift")(name, shares, rho, x)]
            # PF is iterated to a duality gap of about 1e-12.
            assert np.allclose(drift(system, policy, x), exact, rtol=0, atol=1e-8)


def test_bmf_and_pf_of_two_classes_agree_and_are_those_of_the_library(rng):
    for _ in range(20):
        n = rng.randint(2, 4)
        shares, x = random_shares(rng, n, 2), [F(rng.randint(1, 9)) for _ in range(n)]
        tasks = two_resource_bmf(shares, x)
        problem = Problem(np.array(shares, dtype=float), [1, 1])
        found = allocate(problem, BottleneckMax(), counts=[float(v) for v in x]).tasks
        assert np.allclose([float(t) for t in tasks], found, rtol=0, atol=1e-9)
        if n == 2:
            assert tasks == two_class_pf(shares, (int(x[0]), int(x[1])))


def test_paths_end_at_bmf_and_meet_the_library():
    rng, complete = random.Random(3), 0
    for _ in range(30):
        arguments = random_pool(rng, rng.randint(1, 3), 2, least=1)
        try:
            pieces = list(definition("bmf_path_pieces")(**arguments))
        except ValueError:  # a tie, which the definition does not cross
            continue
        assert all(holds for _, holds in pieces)
        end = definition("bmf_path_end")(**arguments)
        # On two resources BMF is almost always unique; the library follows another cap.
        assert is_bottleneck_max(*map(fractions, arguments.values()), end)
        if len(definition("bmf_vertices")(**arguments)) == 1:
            assert end == library_value("bmf_path_end", arguments)[0]
            complete += 1
    assert complete >= 10


def test_simulated_pf_is_that_of_the_chain():
    case, holds = definition("heavy_gap")(random.Random("0 1"), 60_000, "1/3")
    assert holds
    # Mean durations by the library's chain (errors below 1e-8): load .5 has 2.0000, .9 has 10.1536.
    for load, duration in ((0.5, 2.00004), (0.9, 10.15356)):
        mean, error = _simulated_pf(random.Random(2), load * 10 / 11, 60_000)
        assert abs(mean - duration) < 4 * error
        assert error < 0.01 * duration
    assert set(case) == {"free", "balanced", "PF", "standard error"}


def test_dcdrf_is_that_of_the_library():
    rng = random.Random(1)
    for _ in range(120):
        rows, weights = random_tenants(rng)
        # A random float is nobody's residual, so that rounding does not decide who leaves.
        epsilon = rng.random() * rng.choice([0.1, 0.9])
        own = algorithm_2(rows, F(epsilon), weights)
        theirs = dcdrf(
            sparse.csr_array(np.array(rows, dtype=float)), epsilon, np.array(weights, dtype=float), threads=1
        )
        # 1e-12: sums of a few rounded numbers.
        np.testing.assert_allclose(theirs.tasks, np.array(own.tasks(rows), dtype=float), rtol=1e-12)
        assert theirs.rounds == own.rounds
        # Differences of numbers up to 1.
        np.testing.assert_allclose(theirs.free, np.array(own.left, dtype=float), rtol=0, atol=1e-12)


def test_edrf_is_that_of_the_library():
    rng = random.Random(2)
    for k in range(120):
        rows, weights = random_tenants(rng)
        if k % 2:
            given = np.array(weights, dtype=float)
        else:
            # Entitlements per resource must add up alike, for the library leaves them as they are.
            weights = entitlements(
                len(rows), len(rows[0]), [[F(rng.randint(1, 9)) for _ in row] for row in rows]
            )
            given = sparse.csr_array(np.array(weights, dtype=float) * (np.array(rows, dtype=float) > 0))
        theirs = edrf(sparse.csr_array(np.array(rows, dtype=float)), given)
        own = np.array(algorithm_1(rows, weights).tasks(rows), dtype=float)
        # 1e-12: sums of a few rounded numbers.
        np.testing.assert_allclose(theirs.tasks, own, rtol=1e-12)
        pool = Problem(np.array(rows, dtype=float), np.ones(len(rows[0])))
        table = np.array(weights, dtype=float).reshape(len(rows), -1) * np.ones_like(pool.demands)
        np.testing.assert_allclose(DRF(table)(pool, np.ones(len(rows))), own, rtol=1e-12)


def test_bundles_agree_with_the_library():
    rng = random.Random(3)
    for _ in range(150):
        n, m = rng.randint(2, 4), rng.randint(1, 3)
        capacities = [rng.randint(6, 20) for _ in range(m)]
        demands = [[rng.randint(0, 6) for _ in range(m)] for _ in range(n)]
        for row in demands:
            row[rng.randrange(m)] = rng.randint(1, 6)
        problem, order = Problem(demands, capacities), rng.sample(range(n), n)
        for ahead, rule in ((1, SequentialMinMax()), (0, LowestShare("skip"))):
            theirs = fill_tasks(problem, rule, ties=order).tasks.tolist()
            assert sequential_minmax(demands, capacities, order, ahead) == theirs


def test_tdrf_is_that_of_the_library():
    rng = random.Random(2)
    for _ in range(60):
        n, m = rng.randint(2, 3), rng.randint(1, 3)
        demands = [[rng.randint(1, 5) for _ in range(m)] for _ in range(n)]
        capacities = [rng.randint(3, 20) for _ in range(m)]
        joined = [rng.randint(1, 9) for _ in range(n)]
        exact = timed.tdrf_tasks(demands, capacities, joined)
        found = TDRF(joined)(Problem(demands, capacities), np.ones(n))
        # Filling in floats with a handful of roundings.
        np.testing.assert_allclose(found, [float(x) for x in exact], rtol=1e-12)
        first = timed.tdrf_tasks(demands, capacities, [0, *(t + 1 for t in joined[1:])])
        found = TDRF([0, *(t + 1 for t in joined[1:])])(Problem(demands, capacities), np.ones(n))
        np.testing.assert_allclose(found, [float(x) for x in first], atol=1e-12)


def test_whole_tasks_are_those_of_the_library_at_other_ratios():
    pool = Problem([[1, 2], [3, 1]], [9, 9])
    thresholds = [F(1, 3), F(2, 3), F(2)]
    for numerator, denominator in itertools.product(range(1, 30), (2, 7, 12)):
        k = F(numerator, denominator)
        passed = sum(k >= t for t in thresholds)
        expected = [[1, 2], [2, 2], [3, 2], [4, 1]][passed]
        assert integer_tdrf(pool, [1, k], ties=[0, 1]).tasks.tolist() == expected


def random_cluster(rng):
    n, s, m = rng.integers(1, 4), rng.integers(1, 4), rng.integers(1, 4)
    demands, capacities = rng.integers(0, 4, (n, m)), rng.integers(0, 5, (s, m))
    demands[np.arange(n), rng.integers(0, m, n)] += 1
    capacities[rng.integers(s)] = rng.integers(1, 5, m)
    eligible = rng.random((n, s)) < 0.8
    able = np.array(
        [[all(c >= 1 for c, d in zip(cap, row, strict=True) if d) for cap in capacities] for row in demands]
    )
    usable = able & eligible
    if not usable.any(1).all() or not usable.any(0).all():
        return random_cluster(rng)
    return {
        "demands": demands.tolist(),
        "capacities": capacities.tolist(),
        "eligible": eligible.astype(int).tolist(),
        "weights": rng.integers(1, 4, n).tolist(),
    }


@pytest.mark.parametrize("division", ["resource", "time"])
def test_definitions_and_library_agree_on_random_clusters(division):
    rng, met = np.random.default_rng(11), 0
    certificate = resource_division_certificate if division == "resource" else time_division_certificate
    for _ in range(30):
        given = random_cluster(rng)
        model, cluster, policy = Servers.of(given), cluster_of(given), PSDSF(division=division)
        assert np.allclose(np.array(model.gamma, float), cluster.gamma, rtol=1e-14)
        exact = enclose(policy, cluster, policy.solve(cluster).placement)
        if not hasattr(exact, "lower"):
            continue
        placement = exact.lower.tolist()
        assert is_psdsf(model, placement, division)
        assert cannot_gain(model, placement, division)
        # The two properties that are proved for both divisions hold.
        assert all(sum(x) >= u for x, u in zip(placement, uniform_tasks(model), strict=True))
        assert not any(envies(model, placement, n, p) for n, p in itertools.permutations(model.users, 2))
        # A placement with one tenth less on one server is not PS-DSF, for definition and library.
        n, i = next((n, i) for n, row in enumerate(placement) for i, x in enumerate(row) if x)
        placement[n][i] *= F(9, 10)
        wrong = certificate(cluster, None, np.array(placement, float)).residual > 1e-6
        assert is_psdsf(model, placement, division) == cannot_gain(model, placement, division) == (not wrong)
        met += 1
    assert met >= 20


def test_all_points_hold_the_one_of_the_library():
    rng, met = np.random.default_rng(3), 0
    while met < 12:
        given = {
            "demands": rng.integers(1, 5, (2, 2)).tolist(),
            "capacities": rng.integers(1, 5, (2, 2)).tolist(),
        }
        points = psdsf_points(Servers.of(given))
        policy, cluster = PSDSF(), cluster_of(given)
        exact = enclose(policy, cluster, policy.solve(cluster).placement)
        if hasattr(exact, "lower"):
            assert [sum(row) for row in exact.lower.tolist()] in points
            met += 1
