"""Queues by the library: balanced fairness, its bound, drifts of the fluid limit, and regions of loads."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from capacity import stability_region
from fairness import DRF, Problem, ProportionalFair
from proofs.definitions import fractions
from proofs.prover.library.values import near, second_method
from queueing import System, balanced_fairness, drift, duration_bound

__all__: list[str] = []


def _system(demands: Any, capacities: Any, loads: Any) -> System:
    rows = [[float(v) for v in row] for row in fractions(demands)]
    pool = Problem(rows, [float(c) for c in fractions(capacities)])
    return System(pool, arrival_rates=[float(r) for r in fractions(loads)])


@second_method
def balanced_durations(shares: Any, loads: Any, total: int) -> list[str]:
    """Balanced fairness of the library in floating point, whatever the total."""
    system = _system(shares, [1] * len(shares[0]), loads)
    return [f"{v:.4f}" for v in balanced_fairness(system).mean_durations]


@second_method
def balanced_service(demands: Any, capacities: Any, loads: Any, total: int) -> list[str]:
    """Balanced fairness of the library in floating point, whatever the total."""
    return [f"{v:.4f}" for v in balanced_fairness(_system(demands, capacities, loads)).service_rates]


@second_method
def balanced_bound(shares: Any, loads: Any) -> list[Fraction]:
    """The duration bound of the library; the fractions next to its floats."""
    return near(duration_bound(_system(shares, [1] * len(shares[0]), loads)).mean_durations)


@second_method
def fluid_drift(policy: str, shares: Any, loads: Any, counts: Any) -> list[Fraction]:
    """The drift of the library; the fractions next to its floats."""
    rule = ProportionalFair() if policy == "PF" else DRF()
    return near(drift(_system(shares, [1] * len(shares[0]), loads), rule, [int(c) for c in counts]))


@second_method
def capacity_corners(shares: Any) -> list[list[Fraction]]:
    """Vertices of the stability region of the library, in fractions."""
    rows: Any = fractions(shares)
    region = stability_region(Problem(rows, [1] * len(rows[0])))
    return sorted([Fraction(v) for v in vertex] for vertex in region.exact_vertices or () if any(vertex))
