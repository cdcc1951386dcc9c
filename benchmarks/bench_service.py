"""Service regions: a boundary of 60 points through balanced fairness, against one law at its load."""

from __future__ import annotations

from benchmarks.harness import Row, best_seconds
from capacity.boundaries.service import service_region
from fairness import Problem, ProportionalFair
from fairness.protocol.policy import Policy
from queueing import System, balanced_fairness

POOL = Problem([[1, 0.1], [0.1, 1]], [1, 1])


def rows() -> list[Row]:
    return [_row("balanced", 0.02, 60, 5.0), _row(ProportionalFair(), 0.2, 20, None)]


def _row(method: str | Policy, minimum: float, points: int, limit: float | None) -> Row:
    """A job that is alone runs 1 task; a minimum of g puts the boundary near load 1 - g."""
    found = []

    def trace() -> None:
        found.append(service_region(POOL, method, minimum, points=points))

    seconds = best_seconds(trace, repeat=2)
    region = found[-1]
    laws = sum(point.evaluations for point in region.points)
    top = System.with_load(POOL, [1, 1], float(region.relative_loads.max()))
    one = best_seconds(lambda: balanced_fairness(top, tail=1e-8))
    return Row(
        f"service region, {len(region.points)} points, {region.name}, load up to "
        f"{region.relative_loads.max():.2f}",
        f"{seconds:.2f} s",
        "on record" if limit is None else f"< {limit:g} s",
        None if limit is None else seconds < limit,
        f"{laws} laws; one law of balanced fairness at the largest load: {one * 1e3:.1f} ms; brackets "
        f"{max(p.outer - p.inner for p in region.points):.0e}, tail mass "
        f"{max(p.tail_mass for p in region.points):.0e}",
    )
