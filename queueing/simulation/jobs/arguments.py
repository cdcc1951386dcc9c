r"""What the simulation of jobs makes of its arguments: lengths, phases, tails of laws.

*Tails.* Of sizes of finite variance but rare large values a run may meet no large one; its means are too
small then, and the more so their intervals. No test of the data can tell: runs that happen to see little of
the tail are the ones that would pass it. But the law is known, and so is the part of the mean, and of the
second moment, that stands in sizes above a quantile (:meth:`queueing.model.laws.Law.unseen_work`). A run that
hides too much of the mean is refused; one that hides too much of the second moment has no intervals for the
means of this class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairness.arguments.validation import require_number, require_whole
from fairness.errors import ModelError
from fairness.model.problem import FloatArray
from queueing.model.job_trace import JobTrace
from queueing.model.laws import Law
from queueing.model.system import System
from queueing.simulation.jobs.runs import Phase
from queueing.states.table import Table

__all__ = ["JobOptions", "check_length", "check_levels", "check_tails", "hidden_tails", "run_phases"]

DEFAULT_JOBS = 100_000
"""Arrivals per replication unless ``jobs`` or ``horizon`` is given."""

MOST_JOBS = 10**15
"""Most jobs of a run: beyond it their number would not be exact in floating point."""

MOST_UNSEEN = 0.1
"""Largest part of the work (time) that may be in jobs (gaps) too large to be met: above, means are biased."""

UNMET = 10.0
"""A run meets a job above the quantile of level 1 - 1/(UNMET jobs) with probability 1/UNMET."""

FEW = 5.0
"""Jobs of a class that all samples together meet above a quantile, on average: too few to tell a variance."""

MOST_HIDDEN = 0.6
"""Largest part of the second moment of the sizes above that quantile: up to it intervals were measured to
cover, for sizes as different as two exponentials, Pareto's and the lognormal law."""


@dataclass(frozen=True, kw_only=True, eq=False)
class JobOptions:
    """Options of ``simulate`` for jobs."""

    jobs: int | None = None
    horizon: float | None = None
    batches: bool = False
    quantiles: Sequence[float] = (0.5, 0.9, 0.99)
    record: bool = False
    start: ArrayLike | None = None
    table: Table | None = None


def check_levels(quantiles: Sequence[float]) -> tuple[float, ...]:
    """Levels of quantiles, in (0, 1)."""
    try:
        levels = tuple(float(level) for level in quantiles)
    except (TypeError, ValueError):
        raise ModelError.of(
            "quantiles", f"must be a sequence of levels in (0, 1); got {quantiles!r}"
        ) from None
    if not all(0 < level < 1 for level in levels):
        raise ModelError.of("quantiles", f"must be levels strictly between 0 and 1; got {quantiles!r}")
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


def hidden_tails(sizes: Sequence[Law], jobs: FloatArray) -> NDArray[np.bool_]:
    """Classes whose variance the jobs, (n_classes,), cannot show, because rare large sizes make it."""
    laws = zip(sizes, jobs, strict=True)
    return np.array([bool(count) and law.unseen_work(count / FEW, 2) > MOST_HIDDEN for law, count in laws])
