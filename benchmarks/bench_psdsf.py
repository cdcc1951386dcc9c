"""PS-DSF under resource division: a large cluster, its certificate, and Algorithm I as printed."""

from __future__ import annotations

import time

import numpy as np

from benchmarks.harness import Row, best_seconds
from fairness import allocate
from fairness.evidence.clusters import resource_division_certificate
from fairness.policies.servers.psdsf import PSDSF
from fairness.testing import KINDS, random_cluster

__all__ = ["rows"]


def rows() -> list[Row]:
    return [*_large(), _certificate(), _algorithm_one()]


def _large() -> list[Row]:
    result = []
    allocate(random_cluster(np.random.default_rng(0), 5, 3, 4), PSDSF())  # compiles
    for kind in KINDS:
        cluster = random_cluster(
            np.random.default_rng(1), 500, 100, 4, kind=kind, weighted=True, constrained=True
        )
        start = time.perf_counter()
        answer = allocate(cluster, PSDSF())
        seconds = time.perf_counter() - start
        residual = answer.certificate.residual
        result.append(
            Row(
                f"PS-DSF rdm, 500 classes x 100 servers x 4, {kind}",
                f"{seconds:.1f} s",
                "< 10 s, residual < 1e-9",
                bool(seconds < 10 and residual < 1e-9),
                f"residual {residual:.0e} after {answer.details['sweeps']} sweeps",
            )
        )
    return result


def _certificate() -> Row:
    rng = np.random.default_rng(2)
    cluster = random_cluster(rng, 5000, 500, 4)
    placement = cluster.gamma * rng.random(cluster.gamma.shape) / 5000
    seconds = best_seconds(lambda: resource_division_certificate(cluster, None, placement), repeat=1)
    name = "certificate of Theorem 1, 5000 classes x 500 servers x 4"
    return Row(name, f"{seconds:.1f} s", "< 5 s", bool(seconds < 5))


def _algorithm_one() -> Row:
    cluster = random_cluster(np.random.default_rng(3), 50, 10, 3, kind="sparse", weighted=True)
    filling = best_seconds(lambda: allocate(cluster, PSDSF()))
    printed = best_seconds(lambda: allocate(cluster, PSDSF(method="algorithm-1")), repeat=1)
    return Row(
        "PS-DSF rdm, 50 x 10 x 3: filling against Algorithm I",
        f"{filling * 1e3:.0f} ms, {printed / filling:.0f} times faster",
        "faster",
        bool(filling < printed),
    )
