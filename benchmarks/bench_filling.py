"""Progressive filling: one large instance with limits, and sparse ones beside a dozen lines of numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.harness import Row, alternating_seconds, best_seconds
from fairness import DRF, MaxMin, Problem, allocate
from fairness.cloud import SparseDemands, edrf
from fairness.testing import random_problem

__all__ = ["five_demands_each", "routes_of_five", "rows"]


def rows() -> list[Row]:
    rng = np.random.default_rng(0)
    large = random_problem(rng, 100_000, 16)
    # Limits around the fair number of tasks: half of the classes are at their own, all different.
    limits = DRF()(large, np.ones(100_000)) * 10.0 ** rng.uniform(-2, 2, 100_000)
    limited = Problem(large.demands, large.capacities, limits=limits)
    seconds = best_seconds(lambda: DRF()(limited, np.ones(100_000)))
    certificate = DRF().solve(limited).certificate
    return [
        Row(
            "DRF, 100,000 classes x 16 resources, all with limits",
            f"{seconds * 1e3:.0f} ms, residual {certificate.residual:.0e}",
            "< 500 ms",
            bool(seconds < 0.5 and certificate.holds),
        ),
        _small_row(rng),
        _dense_row(rng),
        _sparse_row(20_000, 1_000, rng),
        _sparse_row(100_000, 1_000, rng),
        _cloud_row(100_000, 1_000, rng),
        *(_flows_row(n, m, rng) for n, m in ((1_000, 100), (5_000, 500))),
    ]


def _small_row(rng: np.random.Generator) -> Row:
    """Ten classes on five resources, with certificate, beside numpy without; a hundred calls at a time."""
    demands = rng.uniform(0.1, 1.0, (10, 5))
    pool = Problem(demands, np.ones(5))
    for _ in range(3_000):
        allocate(pool, DRF())  # interpreted at first, until compiling pays
    ours, numpys = alternating_seconds(
        [
            lambda: [allocate(pool, DRF()) for _ in range(100)],
            lambda: [_small_in_numpy(demands) for _ in range(100)],
        ]
    )
    np.testing.assert_allclose(allocate(pool, DRF()).tasks, _small_in_numpy(demands), rtol=1e-12)
    return Row(
        "DRF, 10 x 5, allocation and certificate; numpy without one in the same run",
        f"{ours * 10:.3f} ms; {numpys * 10:.3f} ms",
        "<= 2 times",
        ours <= 2.0 * numpys,
        "floor: eighty calls of numpy, a microsecond each, half of them the certificate's; filling takes 4",
    )


def _small_in_numpy(demands: np.ndarray) -> np.ndarray:
    """Rounds: everybody grows until a resource is full."""
    rates, live = 1.0 / demands.max(axis=1), np.ones(len(demands), dtype=bool)
    tasks, left = np.zeros(len(demands)), np.ones(demands.shape[1])
    while live.any():
        pace = rates * live
        slope = pace @ demands
        with np.errstate(divide="ignore"):
            steps = np.where(slope > 0, left / slope, np.inf)
        rise = steps.min()
        tasks, left = tasks + rise * pace, left - rise * slope
        live &= ~(demands[:, steps <= rise * (1 + 1e-12)] > 0).any(axis=1)
    return tasks


def _sparse_row(n: int, m: int, rng: np.random.Generator) -> Row:
    """Classes that demand five resources each, the pool made anew each time, and the certificate with it."""
    demands = five_demands_each(rng, n, m)
    ours, numpys = alternating_seconds(
        [lambda: allocate(Problem(demands, np.ones(m)), DRF()), lambda: _in_numpy(demands)]
    )
    result = allocate(Problem(demands, np.ones(m)), DRF())
    np.testing.assert_allclose(result.tasks, _in_numpy(demands), rtol=1e-9)
    return Row(
        f"DRF, {n:,} x {m:,}, five demands each: pool, allocation, certificate; numpy in the same run",
        f"{ours * 1e3:.0f} ms; {numpys * 1e3:.0f} ms",
        "<= 1/2",
        bool(ours <= 0.5 * numpys and result.certificate.holds),
    )


def _dense_row(rng: np.random.Generator) -> Row:
    """A table of demands of which 2 % are there, from the table on."""
    demands = sparse.random_array((5_000, 500), density=0.02, rng=rng).toarray()
    demands[~demands.any(axis=1), 0] = 1.0
    ours, numpys = alternating_seconds(
        [
            lambda: allocate(Problem(demands, np.ones(500)), DRF()),
            lambda: _in_numpy(sparse.csr_array(demands)),
        ]
    )
    result = allocate(Problem(demands, np.ones(500)), DRF())
    np.testing.assert_allclose(result.tasks, _in_numpy(sparse.csr_array(demands)), rtol=1e-9)
    return Row(
        "DRF, 5,000 x 500, dense, 2 % full: pool, allocation, certificate; numpy in the same run",
        f"{ours * 1e3:.0f} ms; {numpys * 1e3:.0f} ms",
        "<= 1/2",
        bool(ours <= 0.5 * numpys and result.certificate.holds),
    )


def _cloud_row(n: int, m: int, rng: np.random.Generator) -> Row:
    """A pool that is given, without labels and certificate, beside the engine for a million tenants."""
    demands = five_demands_each(rng, n, m)
    pool, tenants = Problem(demands, np.ones(m)), SparseDemands(demands)
    ones = np.ones(n)
    ours, cloud = alternating_seconds([lambda: DRF()(pool, ones), lambda: edrf(tenants)])
    return Row(
        f"DRF, {n:,} x {m:,}, five demands each, of a pool; EDRF with its certificate in the same run",
        f"{ours * 1e3:.0f} ms; {cloud * 1e3:.0f} ms",
        "<= 1.5 times",
        ours <= 1.5 * cloud,
    )


def _flows_row(n: int, m: int, rng: np.random.Generator) -> Row:
    """Flows over routes of five links each, max-min fair, certificate included."""
    routes = routes_of_five(n, m)
    pool = Problem(routes, rng.uniform(0.5, 1.5, m) * n)
    seconds = best_seconds(lambda: allocate(pool, MaxMin()), repeat=10)
    certificate = allocate(pool, MaxMin()).certificate
    return Row(
        f"max-min, {n:,} flows on {m:,} links, routes of five, certificate included",
        f"{seconds * 1e3:.2f} ms, residual {certificate.residual:.0e}",
        "SimGrid's time: benchmarks.comparison",
        None,
    )


def routes_of_five(n: int, m: int) -> sparse.csr_array:
    """Flows over five of m links each."""
    routes = five_demands_each(np.random.default_rng(0), n, m)
    routes.data[:] = 1.0
    return routes


def five_demands_each(rng: np.random.Generator, n: int, m: int) -> sparse.csr_array:
    """Demands of n classes for five of m resources each."""
    resources = (rng.integers(0, m, (n, 1)) + np.cumsum(rng.integers(1, m // 5, (n, 5)), axis=1)) % m
    places = (np.repeat(np.arange(n), 5), resources.ravel())
    return sparse.coo_array((rng.uniform(0.1, 1.0, 5 * n), places), shape=(n, m)).tocsr()


def _in_numpy(demands: Any) -> np.ndarray:
    """What one would write oneself: the next full resource, and all who demand it stop."""
    rates = 1.0 / demands.max(axis=1).toarray().ravel()
    pace = (sparse.diags_array(rates) @ demands).tocsc()
    level, live, full = np.zeros(len(rates)), np.ones(len(rates)), np.zeros(pace.shape[1])
    slope = pace.T @ live
    while live.any():
        with np.errstate(divide="ignore", invalid="ignore"):
            levels = np.where(slope > 1e-12, (1.0 - full) / slope, np.inf)
        j = int(np.argmin(levels))
        there = pace.indices[pace.indptr[j] : pace.indptr[j + 1]]
        there = there[live[there] > 0]
        level[there], live[there] = levels[j], 0.0
        left = np.zeros(len(rates))
        left[there] = 1.0
        gone = pace.T @ left
        full, slope = full + gone * levels[j], slope - gone
        slope[j] = 0.0
    return rates * level
