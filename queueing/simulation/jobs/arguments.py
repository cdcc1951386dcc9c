"""What the simulation of jobs makes of its arguments: lengths, phases, laws to scale."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from fairness.arguments.validation import require_number, require_whole
from fairness.errors import ModelError
from queueing.model.arrivals import Arrivals
from queueing.model.job_trace import JobTrace
from queueing.model.laws import Law
from queueing.model.system import System, same_problem
from queueing.simulation.jobs.runs import Phase

__all__ = ["check_length", "check_levels", "check_tails", "run_phases", "scaled_laws", "traced_system"]

DEFAULT_JOBS = 100_000
"""Arrivals per replication unless ``jobs`` or ``horizon`` is given."""

MOST_JOBS = 10**15
"""Most jobs of a run: beyond it their number would not be exact in floating point."""

MOST_UNSEEN = 0.1
"""Largest part of the work (time) that may be in jobs (gaps) too large to be met: above, means are biased."""

UNMET = 10.0
"""A run meets a job above the quantile of level 1 - 1/(UNMET jobs) with probability 1/UNMET."""


def check_levels(quantiles: Sequence[float]) -> tuple[float, ...]:
    """Levels of quantiles, in (0, 1)."""
    try:
        levels = tuple(float(level) for level in quantiles)
    except (TypeError, ValueError):
        raise ModelError(f"quantiles must be a sequence of levels in (0, 1); got {quantiles!r}") from None
    if not all(0 < level < 1 for level in levels):
        raise ModelError(f"quantiles must be levels strictly between 0 and 1; got {quantiles!r}")
    return levels


def check_length(
    jobs: int | None, horizon: float | None, trace: JobTrace | None
) -> tuple[int | None, float | None]:
    """Length of a run, as jobs or as time."""
    if jobs is not None and horizon is not None:
        raise ModelError("give jobs or horizon, not both")
    if horizon is not None:
        return None, require_number("horizon", horizon, above=0)
    if jobs is None:
        return (DEFAULT_JOBS if trace is None else trace.n_jobs), None
    count = require_whole("jobs", jobs, 1, MOST_JOBS)
    if trace is not None and count > trace.n_jobs:
        raise ModelError(f"jobs={count} are more than the {trace.n_jobs} of the trace")
    return count, None


def run_phases(
    count: int | None, end: float | None, warmup: float, batches: int
) -> tuple[list[Phase], list[Phase]]:
    """Both halves of the warm-up, and measured phases, of equal numbers of jobs or equal lengths."""
    if end is not None:
        times = np.linspace(warmup * end, end, batches + 1)
        halves = [Phase(horizon=float(times[0]) / 2), Phase(horizon=float(times[0]))]
        return halves, [Phase(horizon=float(t)) for t in times[1:]]
    assert count is not None
    edges = np.linspace(int(warmup * count), count, batches + 1).astype(np.int64)
    if count - edges[0] < batches:
        raise ModelError(
            f"{count - edges[0]} measured jobs cannot be cut into {batches} batches; give more jobs or fewer "
            "replications"
        )
    half = int(edges[0]) // 2
    halves = [Phase(half), Phase(int(edges[0]) - half)]
    return halves, [Phase(int(b - a)) for a, b in pairwise(edges)]


def traced_system(system: System, trace: JobTrace, sizes: Any, arrivals: Any, start: Any) -> System:
    """System of a trace, which leaves no other choice of jobs."""
    if sizes is not None or arrivals is not None:
        raise ModelError("a trace brings its own sizes and arrivals; leave out sizes and arrivals")
    if start is not None:
        raise ModelError("a trace starts empty, with its first job; leave out start")
    if not same_problem(trace.problem, system.problem):
        raise ModelError("trace was read for another problem than that of the system")
    return System.from_trace(trace)


def scaled_laws(
    system: System, sizes: Law | Sequence[Law] | None, arrivals: Arrivals | Sequence[Arrivals] | None
) -> tuple[tuple[Law, ...], tuple[Law | None, ...]]:
    """Laws of sizes and of times between arrivals, those of the system unless given; it must be stable."""
    if not system.arrival_rates.any():
        raise ModelError("arrival_rates are all 0: there is nothing to simulate; set one above 0")
    system.require_stable()
    shapes = system.sizes if sizes is None else _per_class("sizes", sizes, Law, "Exponential()", system)
    processes = (
        system.processes
        if arrivals is None
        else _per_class("arrivals", arrivals, Arrivals, "Poisson()", system)
    )
    size_laws = tuple(law.with_mean(float(m)) for law, m in zip(shapes, system.mean_sizes, strict=True))
    gaps = tuple(
        process.interarrival(float(rate)) if rate > 0 else None
        for process, rate in zip(processes, system.arrival_rates, strict=True)
    )
    return size_laws, gaps


def _per_class(name: str, given: Any, kind: type[Any], example: str, system: System) -> tuple[Any, ...]:
    """One object per class."""
    if isinstance(given, kind):
        return (given,) * system.n_classes
    many: tuple[Any, ...] = tuple(given) if isinstance(given, Sequence) and not isinstance(given, str) else ()
    wrong = [one for one in many if not isinstance(one, kind)]
    if wrong or len(many) != system.n_classes:
        raise ModelError(
            f"{name} must be of type {kind.__name__}, such as {example}, or one for each of the "
            f"{system.n_classes} job classes; got {wrong[0] if wrong else given!r}"
        )
    return many


def check_tails(system: System, sizes: Sequence[Law], gaps: Sequence[Law | None], jobs: float) -> None:
    """Refuse laws of sizes and of times between arrivals whose tails the run cannot see."""
    shares = system.arrival_rates / system.arrival_rates.sum()
    for i, (size, gap) in enumerate(zip(sizes, gaps, strict=True)):
        seen = jobs * shares[i]
        for name, law, hidden, wrong in (
            ("sizes", size, "work is in jobs so large", "means would be too small"),
            ("arrivals", gap, "time is in gaps so long", "jobs would come too fast"),
        ):
            unseen = law.unseen_work(UNMET * seen) if gap is not None and law is not None else 0.0
            if unseen > MOST_UNSEEN:
                raise ModelError(
                    f"{name} of class {system.problem.job_classes[i]!r}: {unseen:.0%} of the {hidden} that "
                    f"{seen:,.0f} jobs hold one with probability 1/{UNMET:g}: the {wrong}; give more jobs, "
                    "or a law with a lighter or lower tail"
                )
