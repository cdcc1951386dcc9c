from __future__ import annotations

from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest

from fairness.errors import ModelError, NotConvergedError
from fairness.exact.linear_algebra import affine_solutions
from fairness.model.cluster import Cluster
from fairness.policies.engines.cholesky import solve
from fairness.policies.servers.engines import market
from fairness.policies.servers.engines.market import time_division
from fairness.policies.servers.engines.market_interior import _factorise
from fairness.testing import random_cluster
from proofs.catalogue.psdsf import counterexamples
from proofs.prover.library import servers

# What rounding leaves in a tree of some hundred nodes: the support is solved exactly.
EXACT = 1e-12


def cluster_of(gamma) -> Cluster:
    gamma = np.asarray(gamma)
    return Cluster(np.ones((len(gamma), 1)), np.ones((gamma.shape[1], 1)), gamma=gamma, eligible=gamma > 0)


def theorem_2(gamma, weights, placement) -> float:
    """Largest violation of the definition: servers are busy, with those who stand lowest."""
    able = (np.asarray(gamma) > 0) & (np.asarray(weights) > 0)[:, None]
    worst = max(0.0, -placement.min(), placement[~able].max(initial=0))
    for users, rates, held in zip(able.T, np.asarray(gamma, dtype=float).T, placement.T, strict=True):
        if users.any():
            level = placement[users].sum(axis=1) / (rates[users] * np.asarray(weights)[users])
            served = level[held[users] > 0]
            busy = (held[users] / rates[users]).sum()
            worst = max(worst, abs(busy - 1), 1 - level.min() / served.max(initial=level.min()))
    return worst


def exact_totals(gamma, weights, placement) -> list[Fraction]:
    """Totals over the rationals: the equations of the support that floats found, proved by Theorem 2.

    Unknown are the money on the pairs, the price of each server, and what a unit of money costs each class:
    one over its rate. The equations have one solution, which must have no negative money and no better pair.
    """
    classes, servers = range(len(gamma)), range(len(gamma[0]))
    pairs = [(k, i) for k in classes for i in servers if placement[k, i] > 0]
    unknown = [*pairs, *(("price", i) for i in servers), *(("cost", k) for k in classes)]

    def equation(right, terms):
        return [terms.get(one, Fraction(0)) for one in unknown] + [Fraction(right)]

    one = Fraction(1)
    found = affine_solutions(
        [
            *(equation(weights[k], {pair: one for pair in pairs if pair[0] == k}) for k in classes),
            *(equation(0, {("price", i): -one} | {p: one for p in pairs if p[1] == i}) for i in servers),
            *(equation(0, {("price", i): -one, ("cost", k): gamma[k][i]}) for k, i in pairs),
        ],
        len(unknown),
        0,
    )
    assert found is not None
    values, freedom = found
    assert not freedom
    value = dict(zip(unknown, values, strict=True))
    assert min(value[pair] for pair in pairs) >= 0
    assert all(gamma[k][i] * value["cost", k] <= value["price", i] for k in classes for i in servers)
    return [weights[k] / value["cost", k] for k in classes]


def eisenberg_gale(gamma, weights) -> np.ndarray:
    y = cp.Variable(gamma.shape, nonneg=True)
    tasks = cp.sum(cp.multiply(gamma, y), axis=1)
    conic = cp.Problem(cp.Maximize(weights @ cp.log(tasks)), [cp.sum(y, axis=0) <= 1])
    tight = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-10)
    conic.solve(solver=cp.CLARABEL, **tight)
    return np.asarray(tasks.value)


@pytest.mark.parametrize(
    ("figure", "totals"),
    [
        (counterexamples.FIGURE_1, ["3", "3", "12"]),
        (counterexamples.FIGURE_2, ["3", "3", "6", "6"]),
        (counterexamples.TABLE_IV, ["210", "105", "165/2", "55/2"]),
    ],
    ids=["Figure 1", "Figure 2", "Figure 5"],
)
def test_figures_of_the_paper(figure, totals):
    cluster = servers.cluster_of(figure)
    placement, _, details = time_division(cluster, cluster.weights)
    assert details["certificate"].residual <= EXACT
    exact = exact_totals(cluster.as_fractions()[2], list(map(Fraction, cluster.weights)), placement)
    assert exact == list(map(Fraction, totals))
    np.testing.assert_allclose(placement.sum(axis=1), list(map(float, exact)), rtol=EXACT)


@pytest.mark.parametrize("t", ["1/10", "2/3", "1", "19/10"])
def test_figure_4_whatever_the_rate_on_the_shared_channel(t):
    # All instances in which user 1 has channel 1 and half of channel 2, and the totals are 3/2 and 1.
    t = Fraction(t)
    gamma = [[Fraction(3, 2) - t * 3 / 4, t * 3 / 2, Fraction(1, 100)], [Fraction(1, 100), t, 1 - t / 2]]
    placement, prices, _ = time_division(cluster_of(gamma), [1, 1])
    assert exact_totals(gamma, [Fraction(1)] * 2, placement) == [Fraction(3, 2), 1]
    np.testing.assert_allclose(placement[:, 1] / [float(v) for v in (gamma[0][1], t)], 0.5, rtol=EXACT)
    np.testing.assert_allclose(prices, [float(v) for v in (1 - t / 2, t, 1 - t / 2)], rtol=EXACT)


@pytest.mark.parametrize("kind", ["dense", "sparse", "integer"])
@pytest.mark.parametrize("effective", [False, True])
def test_random_clusters_satisfy_theorem_2(kind, effective):
    rng = np.random.default_rng(1)
    for _ in range(60):
        n, m = rng.integers(1, 9, 2)
        # A single class that may not run on a third of many servers is hardly ever drawn.
        cluster = random_cluster(
            rng, n, m, 3, kind=kind, weighted=True, constrained=n > 2, effective=effective
        )
        weights = rng.integers(1, 4, n) * cluster.weights
        placement, prices, details = time_division(cluster, weights)
        assert theorem_2(cluster.gamma, weights, placement) <= EXACT
        assert details["certificate"].residual <= EXACT
        assert abs(details["duality_gap"]) <= EXACT
        assert np.count_nonzero(placement) == details["support"] <= n + m - 1
        np.testing.assert_allclose(prices.sum(), weights.sum(), rtol=EXACT)
        # What a class holds is worth its weight.
        time = np.where(cluster.eligible, placement / np.where(cluster.eligible, cluster.gamma, 1), 0)
        np.testing.assert_allclose(time @ prices, weights, rtol=EXACT)


def test_integer_instances_are_proved_over_the_rationals():
    # gamma in 1..3 with zeros: ties everywhere, and supports that are not connected.
    rng = np.random.default_rng(2)
    for _ in range(150):
        n, m = rng.integers(1, 8, 2)
        gamma = rng.integers(1, 4, (n, m)) * (rng.random((n, m)) < 0.7)
        gamma[np.arange(n), rng.integers(m, size=n)] = 1
        gamma[rng.integers(n, size=m), np.arange(m)] = 2
        weights = rng.integers(1, 4, n)
        placement, _, _ = time_division(cluster_of(gamma), weights)
        exact = exact_totals(
            [[Fraction(int(v)) for v in row] for row in gamma], [Fraction(int(v)) for v in weights], placement
        )
        np.testing.assert_allclose(placement.sum(axis=1), [float(v) for v in exact], rtol=EXACT)


@pytest.mark.parametrize("seed", range(8))
def test_agrees_with_conic_programming(seed):
    rng = np.random.default_rng(seed)
    n, m = rng.integers(2, 9, 2)
    gamma = 10.0 ** rng.uniform(-1, 1, (n, m)) * (rng.random((n, m)) < 0.8)
    gamma[np.arange(n), rng.integers(m, size=n)] = 1.0
    gamma[rng.integers(n, size=m), np.arange(m)] = 1.0
    weights = rng.uniform(0.5, 3, n)
    placement, _, _ = time_division(cluster_of(gamma), weights)
    # 1e-4: the objective is flat, so a gap of 1e-10 in it is about 1e-5, its square root, in the tasks.
    np.testing.assert_allclose(placement.sum(axis=1), eisenberg_gale(gamma, weights), rtol=1e-4)


def test_totals_do_not_depend_on_the_order():
    rng = np.random.default_rng(3)
    for kind in ("dense", "integer"):
        for _ in range(20):
            cluster = random_cluster(rng, 12, 7, 3, kind=kind, constrained=True)
            weights = rng.integers(1, 4, 12)
            placement, prices, _ = time_division(cluster, weights)
            rows, columns = rng.permutation(12), rng.permutation(7)
            other, other_prices, _ = time_division(
                cluster_of(cluster.gamma[np.ix_(rows, columns)]), weights[rows]
            )
            np.testing.assert_allclose(other.sum(axis=1), placement.sum(axis=1)[rows], rtol=EXACT)
            np.testing.assert_allclose(other_prices, prices[columns], rtol=EXACT)


def test_one_server_is_shared_by_weight():
    gamma, weights = np.array([[2.0], [50.0], [1e-3]]), np.array([1.0, 2.0, 5000.0])
    placement, prices, _ = time_division(cluster_of(gamma), weights)
    np.testing.assert_allclose(placement[:, 0], gamma[:, 0] * weights / 5003, rtol=EXACT)
    np.testing.assert_allclose(prices, [5003], rtol=EXACT)


def test_a_class_alone_has_everything():
    placement, prices, details = time_division(cluster_of([[3, 1, 2]]), [6])
    np.testing.assert_allclose(placement, [[3, 1, 2]], rtol=EXACT)
    np.testing.assert_allclose(prices, [3, 1, 2], rtol=EXACT)
    assert details["support"] == 3


def test_absent_classes_and_servers_that_nobody_present_can_use():
    gamma = [[4, 0, 2], [0, 5, 0], [1, 0, 3]]
    placement, prices, details = time_division(cluster_of(gamma), [1, 0, 1])
    np.testing.assert_allclose(placement, [[4, 0, 0], [0, 0, 0], [0, 0, 3]], atol=0)
    np.testing.assert_allclose(prices, [1, 0, 1], rtol=EXACT)
    assert details["certificate"].holds
    placement, prices, details = time_division(cluster_of(gamma), [0, 0, 0])
    assert not placement.any()
    assert not prices.any()
    assert details["certificate"].holds


def test_units_of_tasks_and_of_weights_do_not_matter():
    rng = np.random.default_rng(5)
    gamma, weights = 10.0 ** rng.uniform(-1, 1, (9, 5)), rng.uniform(1, 3, 9)
    placement, prices, _ = time_division(cluster_of(gamma), weights)
    rows = 10.0 ** rng.uniform(-150, 150, 9)
    other, other_prices, _ = time_division(cluster_of(gamma * rows[:, None]), 1e-200 * weights)
    np.testing.assert_allclose(other.sum(axis=1), placement.sum(axis=1) * rows, rtol=EXACT)
    np.testing.assert_allclose(other_prices, 1e-200 * prices, rtol=EXACT)


def test_near_ties_are_told_apart():
    # Differences of some 1e-11: far above rounding, far below what an interior point resolves.
    rng = np.random.default_rng(9)
    for _ in range(20):
        gamma = 1.0 + 1e-11 * rng.integers(-3, 4, (12, 6))
        placement, _, details = time_division(cluster_of(gamma), np.ones(12))
        assert details["certificate"].residual <= EXACT
        assert theorem_2(gamma, np.ones(12), placement) <= EXACT


@pytest.mark.parametrize("shape", [(300, 40), (40, 300)])
@pytest.mark.parametrize("kind", ["dense", "wide", "weights", "ties", "equal", "products", "ratios"])
def test_larger_markets(shape, kind):
    # More servers than a shortlist holds. "products": gamma of rank 1, so all classes rank the servers alike;
    # "ratios": many classes have the same ratios on many servers.
    rng = np.random.default_rng(6)
    gamma, weights = 10.0 ** rng.uniform(-1, 1, shape), np.ones(shape[0])
    if kind == "wide":
        gamma = 10.0 ** rng.uniform(-6, 6, shape)
    elif kind == "weights":
        weights = 5000.0 ** rng.uniform(0, 1, shape[0])
        gamma *= 10.0 ** rng.uniform(-2, 2, shape[1])
    elif kind == "ties":
        gamma = rng.integers(1, 4, shape)
    elif kind == "equal":
        gamma = np.ones(shape)
    elif kind == "products":
        gamma = rng.integers(1, 5, (shape[0], 1)) * rng.integers(1, 9, (1, shape[1]))
    elif kind == "ratios":
        gamma = random_cluster(rng, *shape, 4, weighted=True).gamma
    placement, prices, details = time_division(cluster_of(gamma), weights)
    assert details["certificate"].residual <= EXACT
    assert details["support"] <= sum(shape) - 1
    np.testing.assert_allclose(prices.sum(), weights.sum(), rtol=EXACT)
    if kind == "equal":
        np.testing.assert_allclose(placement.sum(axis=1), shape[1] / shape[0], rtol=EXACT)


def test_pivots_alone_find_the_same(monkeypatch):
    # Neither responses nor an interior point: everybody starts on the first server of the list.
    rng = np.random.default_rng(7)
    markets = [
        (10.0 ** rng.uniform(-1, 1, (15, 8)), rng.uniform(1, 3, 15)),
        (rng.integers(1, 4, (15, 8)), rng.integers(1, 3, 15)),
        (rng.integers(1, 4, (8, 15)), rng.integers(1, 3, 8)),
    ]
    usual = [time_division(cluster_of(gamma), weights)[0] for gamma, weights in markets]

    def idle(start, classes, servers, by_class, logs, budgets, log_prices, money, slack):
        money[:] = np.where(servers == 0, 1.0, 1e-9)
        slack[:] = 0.5
        return 0

    monkeypatch.setattr(market, "interior_market", idle)
    for (gamma, weights), placement in zip(markets, usual, strict=True):
        other, _, details = time_division(cluster_of(gamma), weights)
        assert details["pivots"] >= gamma.shape[1] - 1
        assert details["certificate"].residual <= EXACT
        np.testing.assert_allclose(other.sum(axis=1), placement.sum(axis=1), rtol=EXACT)


def test_shortlists_that_miss_the_support_grow(monkeypatch):
    rng = np.random.default_rng(8)
    gamma = 10.0 ** rng.uniform(-1, 1, (60, 30))
    usual, _, _ = time_division(cluster_of(gamma), np.ones(60))
    monkeypatch.setattr(market, "_SHORTLIST", 1)
    monkeypatch.setattr(market, "_RESPONSES", 0)
    placement, _, details = time_division(cluster_of(gamma), np.ones(60))
    assert details["shortlists"] > 1
    np.testing.assert_allclose(placement.sum(axis=1), usual.sum(axis=1), rtol=EXACT)


@pytest.mark.parametrize("size", [1, 5, 48, 60])
def test_grounded_laplacian_is_factorised_without_loss(size):
    # Conductances over 16 decades, ground of 1e-12: A 1 = ground by construction, so the solution is 1.
    rng = np.random.default_rng(size)
    matrix = np.tril(10.0 ** rng.uniform(-8, 8, (size, size)), -1)
    ground = np.full(size, 1e-12)
    ones = ground.copy()
    # Uncompiled: the compiled ones are part of another kernel, and compiling them alone takes seconds.
    _factorise.py_func(matrix, ground.copy())
    solve.py_func(matrix, ones)
    np.testing.assert_allclose(ones, 1.0, rtol=1e-11)


def test_bad_weights():
    cluster = cluster_of([[1, 2], [2, 1]])
    for weights, message in (
        ([1, 1, 1], r"weights must have shape \(2,\); got \(3,\)"),
        ([1, -1], r"weights must be finite and >= 0; got -1\.0 at index \(1,\) \('class 2'\)"),
    ):
        with pytest.raises(ModelError, match=message):
            time_division(cluster, weights)


def test_failure_is_an_error_with_the_best_point(monkeypatch):
    monkeypatch.setattr(market, "pivot", lambda market, forest, prices, most: (False, 7))
    with pytest.raises(NotConvergedError, match="after 7 pivots") as caught:
        time_division(cluster_of([[1, 2], [2, 1]]), [1, 1])
    assert caught.value.best.shape == (2, 2)
    assert np.isfinite(caught.value.residual)
