"""Bounds of the tasks of policies that level, and their drift proved cell by cell."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from fairness import (
    CDRF,
    CDRFH,
    DRF,
    DRFH,
    PSDSF,
    TSF,
    AssetFair,
    BottleneckMax,
    Cluster,
    MaxMin,
    ModelError,
    PerServerDRF,
    Problem,
    allocate,
)
from fairness.policies.servers.task_share import LeximinPolicy
from queueing import System
from queueing.certificates.certificate import Drift
from queueing.certificates.drifts import cells
from queueing.certificates.drifts import filling as filling_drift
from queueing.certificates.errors import CertificateError
from queueing.certificates.facets import cluster_facets
from queueing.certificates.families import family, levelling_numbers, pool_of
from queueing.certificates.pool import Pool
from queueing.certificates.rates.filling_intervals import many_tasks
from queueing.certificates.rates.interface import rates_of
from queueing.certificates.rates.levelling import numbers
from queueing.proved_bounds.price_guess import guess_prices

# The kernel that bounds levelling policies takes long to compile.
pytestmark = pytest.mark.long

SLACK = 1e-11
"""Relative error that the policies' own engines may have; the bounds are an order narrower."""


def bounds(given: np.ndarray, fewest: Any, most: Any = None, rounds: int = 1000) -> tuple[Any, Any]:
    """Bounds of the tasks for all counts between two, or at one."""
    low = np.array(fewest, dtype=float)[None]
    high = low if most is None else np.array(most, dtype=float)[None]
    lower, upper = np.empty_like(low), np.empty_like(low)
    many_tasks(given, low, high, lower, upper, rounds)
    return lower[0], upper[0]


def random_pool(rng: np.random.Generator, limited: bool = True) -> Problem:
    """Small whole demands, so that ties are frequent; in a third of the cases over six decades."""
    n, m = rng.integers(1, 5), rng.integers(1, 4)
    demands = rng.integers(0, 5, (n, m)).astype(float)
    demands[demands.sum(axis=1) == 0] = 1.0
    if rng.random() < 1 / 3:
        demands *= 10.0 ** rng.uniform(-3, 3, (n, 1))
    limits = np.where(rng.random(n) < 0.3, rng.uniform(0.05, 0.5, n), np.inf) if limited else None
    return Problem(demands, rng.integers(1, 9, m), weights=rng.integers(1, 3, n), limits=limits)


@pytest.mark.parametrize("policy", [MaxMin(), DRF(), AssetFair(), BottleneckMax()], ids=lambda p: p.name)
def test_tasks_of_pools_lie_between_narrow_bounds(policy: Any) -> None:
    """The bounds are proved, so no seed can fail; BMF may have several allocations from 3 resources on."""
    rng = np.random.default_rng(16)
    for _ in range(60):
        pool = random_pool(rng)
        given = numbers(pool, range(pool.n_classes), policy.name, {})
        counts = rng.integers(0, 7, (8, pool.n_classes)).astype(float)
        for x, tasks in zip(counts, policy(pool, counts), strict=True):
            lower, upper = bounds(given, x)
            assert (lower <= tasks * (1 + SLACK)).all()
            assert (tasks <= upper * (1 + SLACK)).all()
            if policy.name != "BMF" or pool.n_resources < 3:
                assert (upper - lower <= SLACK * upper).all()
            assert (lower[x == 0] == 0).all()
            assert (upper[x == 0] == 0).all()


def test_weights_per_resource_of_drf() -> None:
    weights = [[1.0, 0.25], [0.5, 0.5], [0.25, 1.0]]
    pool, policy = Problem([[1, 0.5], [0.5, 1], [0, 1]], [3, 2]), DRF(weights)
    given = numbers(pool, range(3), "DRF", {"resource_weights": weights})
    for x in ([1.0, 2.0, 3.0], [5.0, 0.0, 1.0]):
        lower, upper = bounds(given, x)
        assert lower == pytest.approx(policy(pool, x), rel=1e-12)
        assert upper == pytest.approx(lower, rel=1e-12)


@pytest.mark.parametrize(
    ("demands", "tasks"),
    [
        ([[1, 3], [3, 2]], ("1/6", "1/4")),
        ([[1, 3], [4, 2]], ("1/5", "1/5")),
        ([[4, 1], [2, 1], [1, 4]], ("3/29", "6/29", "5/29")),
        ([[3, 1], [2, 1], [1, 3]], ("4/31", "6/31", "7/31")),
    ],
)
def test_exact_bmf_allocations(demands: list[list[int]], tasks: tuple[str, ...]) -> None:
    """Allocations known as fractions lie between the bounds, compared as fractions."""
    pool = Problem(demands, [1, 1])
    lower, upper = bounds(numbers(pool, range(len(tasks)), "BMF", {}), np.ones(len(tasks)))
    for low, high, exact in zip(lower, upper, tasks, strict=True):
        assert Fraction(low) <= Fraction(exact) <= Fraction(high)
        assert high - low < 1e-12


def test_a_continuum_of_bmf_allocations_is_enclosed_whole() -> None:
    """All of (1 - 3u, u, u), 1/5 <= u <= 2/9, are BMF: no narrow interval would be right."""
    pool = Problem([[1, 1, 1], [2, 1, 1.5], [1, 2, 1.5]], [1, 1, 1])
    lower, upper = bounds(numbers(pool, range(3), "BMF", {}), [1, 1, 1])
    for u in (0.2, 0.21, 2 / 9):
        tasks = np.array([1 - 3 * u, u, u])
        assert (lower <= tasks + 1e-15).all()
        assert (tasks - 1e-15 <= upper).all()


def test_bounds_that_do_not_meet_at_once_meet_in_parts() -> None:
    """Two rounds of bounds are a cycle here; the levels between them are halved until one part is left."""
    demands = [[0.188, 0.392, 0.232], [0.841, 0.390, 0.975], [0.625, 0.694, 0.522]]
    pool, x = Problem(demands, [1, 1, 1]), [8.0, 14.0, 18.0]
    given = numbers(pool, range(3), "BMF", {})
    lower, upper = bounds(given, x, rounds=999)
    assert (upper - lower > 0.1 * upper).all()
    lower, upper = bounds(given, x)
    assert (upper - lower < 1e-10 * upper).all()
    assert lower == pytest.approx(BottleneckMax()(pool, x), rel=1e-10)


@pytest.mark.parametrize("policy", ["DRF", "BMF"])
def test_bounds_hold_for_all_counts_of_a_box(policy: str) -> None:
    rng = np.random.default_rng(3)
    engine = {"DRF": DRF(), "BMF": BottleneckMax()}[policy]
    for _ in range(40):
        pool = random_pool(rng)
        n = pool.n_classes
        given = numbers(pool, range(n), policy, {})
        fewest = rng.uniform(0, 5, n) * (rng.random(n) < 0.8)
        most = fewest + rng.uniform(0, 1, n)
        lower, upper = bounds(given, fewest, most, rounds=12)
        counts = rng.uniform(fewest, most, (20, n))
        counts[:2] = fewest, most
        tasks = engine(pool, counts)
        assert (lower <= tasks * (1 + SLACK)).all()
        assert (tasks <= upper * (1 + SLACK)).all()


@pytest.mark.parametrize(
    "policy", [PerServerDRF(), TSF(), TSF("dedicated"), CDRF(), CDRFH(), DRFH()], ids=lambda p: p.name
)
def test_tasks_on_clusters_lie_between_narrow_bounds(policy: Any) -> None:
    rng = np.random.default_rng(8)
    seen = 0
    while seen < 15:
        n, s, m = rng.integers(2, 4), rng.integers(1, 4), rng.integers(1, 4)
        demands = rng.integers(0, 4, (n, m))
        demands[demands.sum(axis=1) == 0] = 1
        eligible = None if policy.name in ("CDRF", "DRFH") else rng.random((n, s)) < 0.8
        try:
            cluster = Cluster(
                demands, rng.integers(1, 9, (s, m)), weights=rng.integers(1, 3, n), eligible=eligible
            )
        except ModelError:
            continue  # a class that fits nowhere
        seen += 1
        counts = rng.integers(0, 7, (8, n)).astype(float)
        if isinstance(policy, LeximinPolicy):
            tasks = policy.tasks(cluster, counts)
        else:
            tasks = policy.placements(cluster, counts).sum(axis=2)
        given = numbers(cluster, range(n), policy.name, {})
        for x, expected in zip(counts, tasks, strict=True):
            lower, upper = bounds(given, x)
            assert (lower <= expected * (1 + SLACK)).all()
            assert (expected <= upper * (1 + SLACK)).all()
            assert (upper - lower <= SLACK * upper).all()


def test_given_gamma_is_part_of_the_definition() -> None:
    """A class that runs twice as fast on a server holds its resources half the time."""
    cluster = Cluster([[1], [1]], [[4], [4]], gamma=[[4, 8], [4, 4]])
    for policy in (PerServerDRF(), TSF()):
        tasks = allocate(cluster, policy, [2.0, 1.0]).tasks
        lower, upper = bounds(numbers(cluster, range(2), policy.name, {}), [2.0, 1.0])
        assert lower == pytest.approx(tasks, rel=1e-12)
        assert upper == pytest.approx(tasks, rel=1e-12)


def test_a_cluster_as_a_pool() -> None:
    """Its facets are resources: the load is that of the servers, to the digit."""
    cluster = Cluster([[1, 5], [5, 1], [2, 2]], [[10, 60], [60, 10]])
    system = System.with_load(cluster, [1, 1, 1], 0.7)
    pool = Pool.of(system)
    assert pool.load.low <= 0.7 * (1 + 1e-12)
    assert pool.load.high >= 0.7 * (1 - 1e-12)
    assert [most.low for most in pool.most_tasks] == pytest.approx(cluster.gamma.sum(axis=1), rel=1e-12)
    thirds = Cluster(np.array([[1, 5], [5, 1]]) / 3.0, [[10, 60], [60, 10]])
    rounded = Pool.of(System.with_load(thirds, [1, 1], 0.7))
    assert (rounded.demands <= rounded.demands_above).all()
    assert rounded.load.low <= 0.7 * (1 + 1e-12)
    assert rounded.load.high >= 0.7 * (1 - 1e-12)
    with pytest.raises(CertificateError, match="not below 1"):
        Pool.of(System.with_load(cluster, [1, 1, 1], 1.01))


def test_servers_that_divide_their_time_run_less() -> None:
    cluster = Cluster([[2, 1], [1, 2]], [[3, 3]])
    assert cluster_facets(cluster) == [((1, 2), 3), ((2, 1), 3)]
    assert cluster_facets(cluster, divides_time=True) == [((2, 2), 3)]


def test_what_does_not_level_is_refused() -> None:
    with pytest.raises(ModelError, match="'PF' does not level"):
        numbers(Problem([[1]], [1]), [0], "PF", {})
    with pytest.raises(ModelError, match="'DRF' does not level"):
        numbers(Cluster([[1]], [[1]]), [0], "DRF", {})
    with pytest.raises(ModelError, match="take other units"):
        numbers(Problem([[1e-100]], [1]), [0], "MMF", {})


# The drift.


def falls(system: System, policy: Any, drift: Drift, directions: np.ndarray) -> np.ndarray:
    """The left side of the claim over its positive part, by the policy's own engine."""
    tasks = policy(system.problem, directions)
    up = drift.scales**drift.exponent * directions ** (drift.exponent - 1)
    rates = (1 + drift.hints["spare"]) * system.arrival_rates
    return np.asarray((up * (rates - tasks / system.mean_sizes)).sum(axis=1) / (up @ rates))


def test_cells_go_on_where_they_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Proofs and refusals are the same, to the cell, however often there is a look at the clock."""
    pool = Problem([[1, 0.1], [0.1, 1], [0.5, 0.4]], [1, 1])
    model = Pool.of(System.with_load(pool, [1, 1, 1], 0.5, mean_sizes=[1.0, 2.0, 0.5]))
    given = levelling_numbers(model, "MMF", {})
    scales = (model.arrival_rates * model.mean_sizes**2) ** -(1 / 3)

    def outcome(spare: float, part: int) -> float | str:
        monkeypatch.setattr(cells, "PART", part)
        try:
            return cells.spare(model, given, Drift(3.0, scales, 0.1, 0.1, {"spare": spare}), 10.0, 5_000)
        except CertificateError as error:
            return str(error)

    spares = [0.3, 0.6, 0.9]
    once = [outcome(spare, 10**9) for spare in spares]
    assert len({type(one) for one in once}) == 2
    for part in (7, 1000):
        assert [outcome(spare, part) for spare in spares] == once


@pytest.mark.parametrize("policy", [DRF(), MaxMin(), BottleneckMax()], ids=lambda p: p.name)
def test_a_spare_that_is_proved_is_there_and_a_larger_one_is_refused(policy: Any) -> None:
    pool = Problem([[1, 0.1], [0.1, 1], [0.5, 0.4]], [1, 1])
    system = System.with_load(pool, [1, 1, 1], 0.5, mean_sizes=[1.0, 2.0, 0.5])
    model = Pool.of(system)
    given = levelling_numbers(model, policy.name, {})
    scales = (model.arrival_rates * model.mean_sizes**2) ** -(1 / 3)
    directions = np.random.default_rng(0).random((4000, 3)) ** 3 + 1e-9

    def proved(spare: float) -> bool:
        claim = Drift(3.0, scales, 0.1, 0.1, {"spare": spare})
        try:
            return cells.spare(model, given, claim, 10.0, 20_000) == spare
        except CertificateError:
            return False

    spares = np.linspace(0.06, 0.98, 24)
    outcomes = [proved(float(spare)) for spare in spares]
    largest = spares[sum(outcomes) - 1]
    assert outcomes == sorted(outcomes, reverse=True)
    assert 0 < sum(outcomes) < 24
    drift = Drift(3.0, scales, 0.1, 0.1, {"spare": float(largest)})
    assert falls(system, policy, drift, directions).max() <= 1e-12
    # Refused were those that samples refute, up to two steps.
    beyond = Drift(3.0, scales, 0.1, 0.1, {"spare": float(largest) + 0.08})
    assert falls(system, policy, beyond, directions).max() > 0


def test_cells_prove_what_the_lemma_of_filling_says() -> None:
    """A second proof of the same claim."""
    pool = Problem([[1, 0.1], [0.1, 1]], [1, 1])
    model = Pool.of(System.with_load(pool, [1, 2], 0.8, mean_sizes=[1.0, 3.0]))
    c = model.weights / (model.arrival_rates * model.mean_sizes)
    omega = 1.0 / (c * model.arrival_rates)
    for p in (12.0, 16.0):
        drift = Drift(p, c * omega ** (1 / p), 0.1, 0.1)
        spare = 0.99 * filling_drift.spare(model, "MMF", {}, drift, 1e9)
        assert spare > 0
        claim = Drift(p, drift.scales, 0.1, 0.1, {"spare": spare})
        assert family("MMF", claim).spare(model, "MMF", {}, claim, 1e9) == spare


def test_limits_matter_less_further_out() -> None:
    """Each job runs at most 0.05 tasks: near the empty state T rises, far away it falls."""
    pool = Problem([[1, 0.1], [0.1, 1]], [1, 1], limits=[0.05, 0.05])
    model = Pool.of(System.with_load(pool, [1, 1], 0.8))
    claim = Drift(4.0, np.ones(2), 0.1, 0.1, {"spare": 0.1})
    drf = family("DRF", claim)
    with pytest.raises(CertificateError, match="not shown to fall"):
        drf.spare(model, "DRF", {}, claim, 5.0)
    assert drf.spare(model, "DRF", {}, claim, 500.0) == 0.1


@pytest.mark.parametrize(
    ("exponent", "hints", "message"),
    [
        (2.5, {"spare": 0.1}, "whole number from 2 to 64"),
        (128.0, {"spare": 0.1}, "whole number from 2 to 64"),
        (2.0, {"spare": -0.1}, "must be a float > 0"),
        (2.0, {"spare": float("nan")}, "must be a float > 0"),
        (2.0, {"spare": 1}, "must be a float > 0"),
    ],
)
def test_claims_that_are_none(exponent: float, hints: dict[str, Any], message: str) -> None:
    model = Pool.of(System(Problem([[1]], [1]), [0.5]))
    claim = Drift(exponent, np.ones(1), 0.1, 0.1, hints)
    with pytest.raises(CertificateError, match=message):
        family("DRF", claim).spare(model, "DRF", {}, claim, 10.0)


def test_policies_with_a_lemma_alone_refuse_a_claim() -> None:
    with pytest.raises(CertificateError, match="PF has a lemma"):
        family("PF", Drift(2.0, np.ones(1), 0.1, 0.1, {"spare": 0.1}))


def test_drf_per_server_is_not_stable_wherever_the_servers_carry_the_load() -> None:
    """It loses up to 40 % (Wang, Liang and Li): at load 0.6 no scales can prove a drift, at 0.55 some do."""
    cluster = Cluster([[1, 5], [5, 1]], [[10, 60], [60, 10]])
    claim = Drift(2.0, np.ones(2), 0.1, 0.1, {"spare": 0.01})
    for load, stable in ((0.55, True), (0.61, False)):
        model = Pool.of(System.with_load(cluster, [1, 1], load))
        given = levelling_numbers(model, "DRF per server", {})
        if stable:
            assert cells.spare(model, given, claim, 10.0, 10_000) == 0.01
        else:
            with pytest.raises(CertificateError, match="not shown to fall"):
                cells.spare(model, given, claim, 10.0, 10_000)


def test_ps_dsf_of_divided_time_is_pf_on_the_facets() -> None:
    """Totals of the market's own engine lie between the bounds of PF with facets for resources."""
    rng = np.random.default_rng(5)
    policy = PSDSF(division="time")
    for _ in range(10):
        gamma = rng.integers(1, 6, (3, 2)) * (rng.random((3, 2)) < 0.8)
        gamma[:, 0] = np.maximum(gamma[:, 0], 1)
        gamma[0, 1] = 2
        cluster = Cluster([[1], [1], [1]], [[60], [60]], gamma=gamma, weights=[1, 2, 1])
        pool = pool_of(System.with_load(cluster, [1, 1, 1], 0.4), policy.name)
        assert (pool.demands == pool.demands_above).all()
        kind = family(policy.name)
        given = kind.numbers(pool, policy.name, {"division": "time"})
        rates = rates_of(pool, given)
        memory = np.zeros(kind.memory(*pool.demands.shape))
        states = rng.integers(1, 9, (4, 3))
        guesses = np.zeros((4, kind.guess_size(*pool.demands.shape)))
        guess_prices(rates, states, guesses)
        for x, guess in zip(states, guesses, strict=True):
            lower, upper = np.empty(3), np.empty(3)
            memory[: len(guess)] = guess
            kind.tasks(rates, x, lower, upper, memory)
            tasks = allocate(cluster, policy, x).tasks
            assert (lower <= tasks * (1 + 1e-9)).all()
            assert (tasks <= upper * (1 + 1e-9)).all()
            assert (upper - lower <= 1e-9 * upper).all()
    scales = np.sqrt(pool.mean_sizes / (pool.arrival_rates * pool.mean_sizes) * pool.weights)
    spare = kind.spare(pool, policy.name, {}, Drift(2.0, scales, 0.1, 0.1), 10.0)
    assert spare == pytest.approx(1 / 0.4 - 1, rel=1e-9)


def test_policies_are_for_pools_or_for_clusters() -> None:
    """DRF with facets for resources would be no policy of anybody."""
    pool = System(Problem([[1]], [1]), [0.5])
    servers = System(Cluster([[1]], [[1]]), [0.5])
    for system, policy in ((pool, "TSF"), (pool, "PS-DSF tdm"), (servers, "DRF"), (servers, "PF")):
        with pytest.raises(CertificateError, match=f"{policy} is no policy of a"):
            pool_of(system, policy)


def test_claims_that_samples_refute_are_never_proved() -> None:
    """By a hair only: a cell that is bounded a little too well would prove some of them."""
    rng = np.random.default_rng(2)
    directions = rng.random((3000, 2)) + 1e-9
    refuted = 0
    for _ in range(60):
        pool = Problem(rng.uniform(0.05, 1, (2, 2)), [1, 1])
        model = Pool.of(System.with_load(pool, rng.uniform(0.2, 1, 2), 0.5))
        given = levelling_numbers(model, "MMF", {})
        scales, p = rng.uniform(0.5, 1, 2), float(rng.integers(2, 17))
        weights = scales**p * (directions / scales) ** (p - 1)
        served = weights * MaxMin()(pool, directions / scales) / model.mean_sizes
        most = float((served.sum(axis=1) / (weights @ model.arrival_rates)).min()) - 1
        if most > 0:
            refuted += 1
            claim = Drift(p, scales, 0.1, 0.1, {"spare": most + 1e-4})
            with pytest.raises(CertificateError, match="not shown to fall"):
                cells.spare(model, given, claim, 10.0, 3_000)
    assert refuted > 20
