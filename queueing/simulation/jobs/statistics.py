r"""What the log of a run says: totals per class and phase, quantiles, and estimates from all of them.

Of the jobs that arrived in a measured phase, with sizes :math:`S_k` and durations :math:`T_k`, the totals
:math:`\sum 1, \sum T_k, \sum T_k/S_k, \sum S_k` are kept per class; quantiles are order statistics of all
:math:`T_k` and :math:`T_k/S_k` of the phase (a stored sample, linear interpolation), averaged over phases.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from fairness.model.problem import FloatArray
from queueing.simulation.jobs.events import ARRIVAL, CLASS, DEPARTURE, SIZE
from queueing.simulation.jobs.runs import Outcome
from queueing.simulation.replications import PARTS, Estimate, estimate_ratio

__all__ = ["estimates", "phase_parts", "phase_quantiles", "phase_totals", "quantile_estimates"]

# Columns of the totals.
JOBS, DURATION, SLOWDOWN, WORK, AREA, TIME = range(6)


def phase_totals(outcome: Outcome) -> FloatArray:
    """Totals of each measured phase, (n_phases, n_classes, 6)."""
    phases, n = outcome.area.shape
    totals = np.zeros((phases, n, 6))
    for k, (begin, end) in enumerate(pairwise(outcome.edges)):
        kinds, arrivals, sizes, departures = outcome.log[begin:end].T
        durations = departures - arrivals
        columns = ((JOBS, None), (DURATION, durations), (SLOWDOWN, durations / sizes), (WORK, sizes))
        for column, values in columns:
            totals[k, :, column] = np.bincount(kinds.astype(np.int64), values, n)
    totals[:, :, AREA] = outcome.area
    totals[:, :, TIME] = outcome.time[:, None]
    return totals


def phase_quantiles(outcome: Outcome, levels: Sequence[float]) -> FloatArray:
    """Quantiles of durations and slowdowns, (n_phases, 2, n_levels, n_classes); NaN without jobs."""
    phases, n = outcome.area.shape
    answer = np.full((phases, 2, len(levels), n), np.nan)
    for k in range(phases if len(levels) else 0):
        part = outcome.log[outcome.edges[k] : outcome.edges[k + 1]]
        durations = part[:, DEPARTURE] - part[:, ARRIVAL]
        for i in range(n):
            mine = part[:, CLASS] == i
            if mine.any():
                own = durations[mine]
                answer[k, 0, :, i] = np.quantile(own, levels)
                answer[k, 1, :, i] = np.quantile(own / part[mine, SIZE], levels)
    return answer


def phase_parts(outcome: Outcome) -> FloatArray:
    """Durations per arriving job by class in the parts of each phase, (n_phases, parts, n_classes).

    By Little's law in proportion to the jobs present.
    """
    phases, n = outcome.area.shape
    parts = min(PARTS, max(1, int(np.diff(outcome.edges).min())))
    answer = np.zeros((phases, parts, n))
    for k, (begin, end) in enumerate(pairwise(outcome.edges)):
        for part, rows in enumerate(np.array_split(outcome.log[begin:end], parts)):
            durations = rows[:, DEPARTURE] - rows[:, ARRIVAL]
            answer[k, part] = np.bincount(rows[:, CLASS].astype(np.int64), durations, n) / max(len(rows), 1)
    return answer


def estimates(totals: FloatArray, confidence: float) -> tuple[dict[str, Estimate], Estimate]:
    """Estimates by name, and the check of Little's law, from totals (n_samples, n_classes, 6).

    Classes without jobs have 0 jobs, and NaN for the rest.
    """
    jobs, duration, slowdown, work, area, time = np.moveaxis(totals, -1, 0)
    by_name = {
        "mean_jobs": estimate_ratio(area, time, confidence),
        "mean_durations": estimate_ratio(duration, jobs, confidence),
        "service_rates": estimate_ratio(work, duration, confidence),
        "mean_slowdowns": estimate_ratio(slowdown, jobs, confidence),
    }
    return by_name, estimate_ratio(area, duration, confidence)


def quantile_estimates(
    values: FloatArray, levels: Sequence[float], confidence: float
) -> dict[float, Estimate]:
    """Estimates by level, from values (n_samples, n_levels, n_classes)."""
    return {
        level: estimate_ratio(values[:, k], np.ones_like(values[:, k]), confidence)
        for k, level in enumerate(levels)
    }
