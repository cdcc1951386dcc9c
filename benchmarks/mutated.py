"""Which modules :mod:`benchmarks.mutants` changes, and what must notice it."""

from __future__ import annotations

__all__ = ["COMPILED", "TESTS"]

TESTS: dict[str, tuple[str, ...]] = {
    "fairness/policies/engines/filling.py": ("tests/fairness/test_filling.py", "-k", "not large and not sequence"),
    "fairness/policies/engines/prices.py": ("tests/fairness/test_proportional.py",),
    "fairness/policies/hierarchy/filling.py": ("tests/fairness/test_hierarchy.py",),
    "fairness/cloud/engines/filling.py": (
        "tests/fairness/cloud/test_edrf.py", "tests/fairness/cloud/test_pattern.py", "-k", "not hard",
    ),
    "fairness/cloud/certificates.py": ("tests/fairness/cloud/test_edrf.py", "-k", "not hard and not pattern"),
    "fairness/evidence/pools.py": (
        "tests/fairness/test_filling.py", "tests/fairness/test_bottleneck.py", "-k", "certif or notices or hand or bottleneck",
    ),
    "fairness/evidence/trees.py": ("tests/fairness/test_tree_certificates.py",),
    "fairness/evidence/clusters.py": ("tests/fairness/test_cluster_certificates.py",),
    "queueing/fluid/verdict.py": ("tests/queueing/test_draining.py",),
    "capacity/many_classes/walks.py": (
        "tests/capacity/test_region_volume.py", "-k", "walk or coordinate",
    ),
    "queueing/chain/solvers/elimination.py": ("tests/queueing/test_seldom_classes.py",),
    "queueing/chain/coarse_chain.py": ("tests/queueing/test_chain.py", "-k", "error"),
    "queueing/chain/truncation.py": ("tests/queueing/test_chain.py", "-k", "error"),
    "queueing/certificates/checking.py": ("tests/queueing/test_certificates.py",),
    "queueing/certificates/intervals.py": ("tests/queueing/test_certificate_intervals.py",),
    "queueing/drift_bounds/certificate.py": ("tests/queueing/test_drift_bounds.py",),
    "proofs/checking/cases.py": ("tests/proofs/test_attacks.py", "tests/proofs/test_engine.py"),
    "proofs/checking/refutations.py": ("tests/proofs/test_engine.py",),
    "proofs/checking/verdicts.py": ("tests/proofs/test_attacks.py",),
    "capacity/regions/inequalities.py": ("tests/capacity/test_region_vertices.py",),
}  # fmt: skip
"""Of each module the tests that must notice its mutants, as pytest takes them."""

COMPILED: frozenset[str] = frozenset()
"""Modules whose tests take longer interpreted than compiling takes."""
