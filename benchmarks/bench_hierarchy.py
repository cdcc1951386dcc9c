"""Filling on a tree: 100,000 classes in a thousand queues, against the same classes without a tree."""

from __future__ import annotations

import numpy as np

from benchmarks.harness import Row, alternating_seconds, best_seconds
from fairness import DRF, Hierarchical, Problem, Tree

__all__ = ["rows"]


def rows() -> list[Row]:
    rng = np.random.default_rng(1)
    classes, resources, queues = 100_000, 10, 1000
    demands = 10.0 ** rng.uniform(-1, 1, (classes, resources)) * (rng.random((classes, resources)) < 0.5)
    demands[~demands.any(axis=1), 0] = 1.0
    pool = Problem(demands, np.full(resources, float(classes)))
    # Half of the classes are at their limits, all different: as many events.
    limits = DRF()(pool, np.ones(classes)) * 10.0 ** rng.uniform(-2, 2, classes)
    tree = Tree(
        ["all", *(f"queue {v}" for v in range(queues))],
        [-1, *([0] * queues)],
        job_classes=pool.job_classes,
        class_nodes=rng.integers(1, queues + 1, classes),
        weights=rng.integers(1, 4, queues + 1),
    )
    found = []
    for name, problem in (("", pool), (", all with limits", pool.replaced(limits=limits))):
        seconds = best_seconds(lambda problem=problem: Hierarchical(tree)(problem, np.ones(classes)))
        flat = best_seconds(lambda problem=problem: DRF()(problem, np.ones(classes)))
        certificate = Hierarchical(tree).solve(problem).certificate
        found.append(
            Row(
                f"H-DRF, 100,000 classes in 1000 queues x 10 resources{name}",
                f"{seconds:.2f} s ({seconds / flat:.0f} x DRF), residual {certificate.residual:.0e}",
                "< 2 s",
                bool(seconds < 2 and certificate.holds),
            )
        )
    return [*found, _flat(pool)]


def _flat(pool: Problem) -> Row:
    """A tree with nothing between its root and the classes, beside the pool itself."""
    n = pool.n_classes
    tree = Tree(["all"], [-1], job_classes=pool.job_classes, class_nodes=np.zeros(n, dtype=int))
    policy, ones = Hierarchical(tree), np.ones(n)
    np.testing.assert_array_equal(policy(pool, ones), DRF()(pool, ones))
    ours, flat = alternating_seconds([lambda: policy(pool, ones), lambda: DRF()(pool, ones)], repeat=9)
    return Row(
        "H-DRF, a flat tree of 100,000 classes; DRF of the pool in the same run",
        f"{ours / flat:.2f} times",
        "<= 1.1 times",
        ours <= 1.1 * flat,
    )
