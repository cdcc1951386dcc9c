"""Which modules :mod:`benchmarks.mutants` changes, and what must notice it."""

from __future__ import annotations

__all__ = ["TESTS"]

TESTS: dict[str, tuple[str, ...]] = {
    "fairness/filling/floats.py": (
        "tests/fairness/filling/test_floats.py", "-k", "not rounds and not large",
    ),
    "fairness/policies/engines/prices.py": (
        "tests/fairness/policies/test_prices.py", "tests/fairness/policies/test_proportional.py", "-k",
        "not large and not many_resources and not extreme",
        "-W", "ignore::RuntimeWarning",
    ),
    "fairness/policies/engines/price_step.py": (
        "tests/fairness/policies/test_prices.py", "tests/fairness/policies/test_proportional.py", "-k",
        "not large and not many_resources and not extreme",
        "-W", "ignore::RuntimeWarning",
    ),
    "fairness/policies/hierarchy/filling.py": (
        "tests/fairness/policies/test_hierarchy.py", "tests/fairness/model/test_guarantees.py",
        "tests/fairness/evidence/test_tree_certificates.py", "-k",
        "not compiled and not ever_smaller and not explanation",
    ),
    "fairness/cloud/engines/eviction.py": (
        "tests/fairness/cloud/test_edrf.py", "tests/fairness/cloud/test_dcdrf.py",
        "tests/fairness/cloud/test_algorithms.py", "tests/fairness/cloud/test_pattern.py", "-k",
        "not hard and not threads and not same_as_events",
        "-W", "ignore::RuntimeWarning",
    ),
    "fairness/cloud/certificates.py": ("tests/fairness/cloud/test_edrf.py", "-k", "residuals or explains"),
    "fairness/evidence/pools.py": (
        "tests/fairness/evidence/test_pool_certificates.py", "tests/fairness/filling/test_floats.py", "-k",
        "not rounds and not large and not equals",
    ),
    "fairness/evidence/trees.py": ("tests/fairness/evidence/test_tree_certificates.py",),
    "fairness/evidence/clusters.py": ("tests/fairness/evidence/test_cluster_certificates.py",),
    "queueing/fluid/verdict.py": (
        "tests/queueing/fluid/test_draining.py", "-m", "", "-k",
        "not invariant and not agrees and not inside_without",
    ),
    "queueing/chain/solvers/elimination.py": (
        "tests/queueing/chain/test_seldom_classes.py", "tests/queueing/chain/test_chain.py", "-k",
        "million_tiny or elimination_keeps or against_exact or who_watches or memory_of",
    ),
    "queueing/chain/coarse_chain.py": (
        "tests/queueing/chain/test_chain.py", "-k",
        "coarse_chain or points_of_a_grid or small_boxes_of or lengthened or at_the_end_are",
        "-W", "ignore::RuntimeWarning",
    ),
    "queueing/chain/truncation.py": (
        "tests/queueing/chain/test_truncation.py", "tests/queueing/chain/test_chain.py", "-k",
        "test_truncation or coarse_chain or small_boxes_of or lengthened or at_the_end_are or is_refused or "
        "grid_to_grid",
        "-W", "ignore::RuntimeWarning",
    ),
    "queueing/certificates/checking.py": (
        "tests/queueing/certificates/test_certificates.py", "-m", "", "-k",
        "hand or who_watches or enough or may_be or tampering or refused or gains or outgrow",
    ),
    "queueing/certificates/intervals.py": (
        "tests/queueing/certificates/test_certificate_intervals.py", "-m", "",
    ),
    "queueing/certificates/drift_certificate.py": (
        "tests/queueing/enclosures/test_drift_bounds.py", "-k",
        "tampered or finite or single_server or function_has",
    ),
    "proofs/checking/cases.py": (
        "tests/proofs/prover/test_engine.py", "tests/proofs/checking/test_attacks.py",
    ),
    "proofs/checking/refutations.py": (
        "tests/proofs/prover/test_engine.py", "tests/proofs/claims/test_splitting.py",
        "tests/proofs/checking/test_attacks.py", "-k",
        "engine or splitting or contradict or bent or unsat or disagree",
    ),
    "proofs/checking/verdicts.py": ("tests/proofs/checking/test_attacks.py",),
    "capacity/many_classes/hit_and_run.py": (
        "tests/capacity/many_classes/test_region_volume.py", "-k", "walk or coordinate",
    ),
    "capacity/regions/inequalities.py": ("tests/capacity/regions/test_region_vertices.py",),
}  # fmt: skip
"""Of each module the tests that must notice its mutants, as pytest takes them."""
