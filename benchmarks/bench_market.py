"""PS-DSF under time division: markets as large as data centres, and Clarabel on a small one."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from benchmarks.harness import Row, best_seconds
from fairness.arguments.validation import FloatArray
from fairness.evidence.clusters import time_division_certificate
from fairness.model.cluster import Cluster
from fairness.policies.servers.engines.market import time_division
from fairness.testing import random_cluster

__all__ = ["rows"]


def rows() -> list[Row]:
    rng = np.random.default_rng(0)
    dense = _given(10.0 ** rng.uniform(-1, 1, (5_000, 500)))
    product = best_seconds(lambda: dense.gamma.T @ dense.gamma)
    result = [
        _row("dense", dense, product),
        _row("gamma of 4 resources, many ties", random_cluster(rng, 5_000, 500, 4, weighted=True), product),
        _row("12 servers for each class", _given(_sparse(rng, 5_000, 500, 12)), product),
    ]
    small = _given(10.0 ** rng.uniform(-1, 1, (200, 20)))
    weights = np.ones(200)
    details = time_division(small, weights)[2]
    seconds = best_seconds(lambda: time_division(small, weights))
    conic, residual = _clarabel(small, weights)
    own = details["certificate"].residual
    result.append(
        Row(
            "PS-DSF (time), 200 classes x 20 servers",
            f"{1e3 * seconds:.1f} ms, residual {own:.0e}",
            "< a tenth of cvxpy with Clarabel",
            bool(own <= 1e-12 and seconds < conic / 10),
            f"Clarabel as it comes: {conic:.2f} s, {conic / seconds:.0f} times; residual {residual:.0e}",
        )
    )
    return result


def _row(kind: str, cluster: Cluster, product: float) -> Row:
    details = time_division(cluster, cluster.weights)[2]
    seconds = best_seconds(lambda: time_division(cluster, cluster.weights))
    residual = details["certificate"].residual
    return Row(
        f"PS-DSF (time), 5,000 x 500, {kind}",
        f"{seconds:.2f} s, residual {residual:.0e}",
        "< 10 s, residual <= 1e-6",
        bool(seconds < 10 and residual <= 1e-6),
        f"{seconds / product:.1f} times one product of gamma with itself; duality gap "
        f"{details['duality_gap']:.0e}, {details['interior_steps']} Newton steps, {details['pivots']} pivots",
    )


def _given(gamma: FloatArray) -> Cluster:
    ones = np.ones((len(gamma), 1))
    return Cluster(ones, ones[: gamma.shape[1]], gamma=gamma, eligible=gamma > 0)


def _sparse(rng: np.random.Generator, n: int, m: int, each: int) -> FloatArray:
    gamma = np.zeros((n, m))
    for k, row in enumerate(gamma):
        # Also one server in turn, so that none is without classes.
        row[np.append(rng.choice(m, each - 1, replace=False), k % m)] = 10.0 ** rng.uniform(-1, 1, each)
    return gamma


def _clarabel(cluster: Cluster, weights: FloatArray) -> tuple[float, float]:
    """Seconds of the solver alone (one run), and the residual of Theorem 2 once the servers are filled."""
    y = cp.Variable(cluster.gamma.shape, nonneg=True)
    tasks = cp.sum(cp.multiply(cluster.gamma, y), axis=1)
    conic = cp.Problem(cp.Maximize(weights @ cp.log(tasks)), [cp.sum(y, axis=0) <= 1])
    conic.solve(solver=cp.CLARABEL)
    shares = np.maximum(y.value, 0.0)
    placement = cluster.gamma * shares / shares.sum(axis=0)
    return float(conic.solver_stats.solve_time), time_division_certificate(
        cluster, weights, placement
    ).residual
