"""Comparisons of drifts and of mean durations written again."""

from __future__ import annotations

from typing import Any

from proofs.definitions.exact import ONE, Row, max_min, usage
from proofs.definitions.registry import fractions
from proofs.definitions.second.queues.balance import box_means
from proofs.definitions.second.queues.drifts import two_class_pf
from proofs.definitions.second.queues.enclosures import law_means
from tests.oracles.comparisons.judges import bmf_square_drift


def fluid_drift(policy: str, shares: Any, loads: Any, counts: Any) -> Row:
    """Load less tasks, PF by candidates and DRF by assignments."""
    a, x = fractions(shares), [int(k) for k in counts]
    if policy == "PF":
        tasks = two_class_pf(a, x)
    else:
        tasks = max_min(a, [ONE, ONE], [k / max(row) for k, row in zip(x, a, strict=True)])
    return [r - t for r, t in zip(fractions(loads), tasks, strict=True)]


def bmf_drift_at(shares: Any, loads: Any, counts: Any) -> dict[str, Any]:
    """The drift by named resources."""
    a, rho, x = fractions(shares), fractions(loads), fractions(counts)
    drift = bmf_square_drift(a, rho, x)
    return {"load": max(usage(a, rho)), "drift": drift, "holds": drift < 0}


def pf_against_balanced(shares: Any, loads: Any, box: Any, total: int) -> dict[str, Any]:
    """By the law of the box, and of the box of balanced fairness."""
    a, rho = fractions(shares), fractions(loads)
    pf, balanced = law_means(a, rho, box), box_means(a, rho, total)
    longer = [i for i, (t, u) in enumerate(zip(pf, balanced, strict=True), 1) if t > u]
    return {
        "PF": [f"{v:.4f}" for v in pf],
        "balanced fairness": [f"{v:.4f}" for v in balanced],
        "longer": longer,
        "holds": not longer,
    }
