"""Comparisons of drifts written again."""

from __future__ import annotations

from typing import Any

from proofs.definitions.exact import ONE, Row, max_min, usage
from proofs.definitions.registry import fractions
from proofs.definitions.second.queues.drifts import bmf_square_drift, two_class_pf


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
