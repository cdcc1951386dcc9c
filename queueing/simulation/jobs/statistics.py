r"""What the log of a run says: totals per class and phase, ranked values, and estimates from all of them.

Of the jobs that arrived in a measured phase, with sizes :math:`S_k` and durations :math:`T_k`, the totals
:math:`\sum 1, \sum T_k, \sum T_k/T'_k, \sum S_k` are kept per class, of the phase and of consecutive parts of
it; :math:`T'_k` is the time that the job would take with everything to itself. For quantiles all
:math:`T_k` and :math:`T_k/T'_k` are kept, ranked.

Durations are differences of recorded times, and so exact to the digits of the time; a slowdown is not below 1
for that, and is 1 where the two times do not differ in these digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from fairness.model.problem import FloatArray
from queueing.simulation.jobs.events import ARRIVAL, CLASS, DEPARTURE, SIZE
from queueing.simulation.jobs.runs import Outcome
from queueing.simulation.replications import (
    PARTS,
    Estimate,
    QuantileEstimate,
    estimate_quantiles,
    estimate_ratio,
    skewness,
)

__all__ = ["estimates", "phase_parts", "phase_ranks", "phase_totals", "quantile_estimates"]

# Columns of the totals; parts have the first four.
JOBS, DURATION, SLOWDOWN, WORK, AREA, TIME = range(6)

ROUNDING = 8 * float(np.finfo(float).eps)
"""Rounding of a duration over the time of the departure: both times, and the clocks of attained service."""

Ranks = list[list[FloatArray]]
"""Sorted durations and slowdowns, (2, n_jobs), per phase and class."""


def phase_totals(outcome: Outcome, alone: FloatArray) -> FloatArray:
    """Totals of each measured phase, (n_phases, n_classes, 6); ``alone`` (n_classes,) are the most tasks."""
    phases, n = outcome.area.shape
    totals = np.zeros((phases, n, 6))
    for k, (begin, end) in enumerate(pairwise(outcome.edges)):
        totals[k, :, : WORK + 1] = _totals(outcome.log[begin:end], alone)
    totals[:, :, AREA] = outcome.area
    totals[:, :, TIME] = outcome.time[:, None]
    return totals


def phase_parts(outcome: Outcome, alone: FloatArray) -> FloatArray:
    """Totals of the parts of each phase, (n_phases, parts, n_classes, 4)."""
    parts = min(PARTS, max(1, int(np.diff(outcome.edges).min())))
    phases = (outcome.log[begin:end] for begin, end in pairwise(outcome.edges))
    return np.array([[_totals(rows, alone) for rows in np.array_split(phase, parts)] for phase in phases])


def phase_ranks(outcome: Outcome, alone: FloatArray) -> Ranks:
    """Durations and slowdowns of each phase, ranked by class."""
    ranks = []
    for begin, end in pairwise(outcome.edges):
        kinds, durations, slowdowns = _lasting(outcome.log[begin:end], alone)
        both = np.array([durations, slowdowns])
        ranks.append([np.sort(both[:, kinds == i], axis=1) for i in range(len(alone))])
    return ranks


def _totals(log: FloatArray, alone: FloatArray) -> FloatArray:
    """Number of jobs, sums of durations, slowdowns and sizes of some jobs, (n_classes, 4)."""
    kinds, durations, slowdowns = _lasting(log, alone)
    columns = (None, durations, slowdowns, log[:, SIZE])
    return np.array([np.bincount(kinds, values, len(alone)) for values in columns]).T


def _lasting(log: FloatArray, alone: FloatArray) -> tuple[np.ndarray, FloatArray, FloatArray]:
    """Class, duration and slowdown of each job."""
    kinds = log[:, CLASS].astype(np.int64)
    durations, least = log[:, DEPARTURE] - log[:, ARRIVAL], log[:, SIZE] / alone[kinds]
    equal = durations - least <= ROUNDING * log[:, DEPARTURE]
    return kinds, durations, np.where(equal, 1.0, durations / least)


def estimates(
    totals: FloatArray, parts: FloatArray, confidence: float
) -> tuple[dict[str, Estimate], Estimate]:
    """Estimates by name, and the check of Little's law.

    From totals (n_samples, n_classes, 6) and those of parts (n_samples, parts, n_classes, 4). Classes without
    jobs have 0 jobs, and NaN for the rest.
    """
    jobs, duration, slowdown, work, area, time = np.moveaxis(totals, -1, 0)
    by_part = np.moveaxis(parts, -1, 0)

    def estimate(top: FloatArray, bottom: FloatArray, tops: FloatArray, bottoms: FloatArray) -> Estimate:
        return estimate_ratio(top, bottom, confidence, skewness(tops, bottoms))

    # By Little's law durations per time are in proportion to the jobs present.
    same = np.ones_like(by_part[JOBS])
    by_name = {
        "mean_jobs": estimate(area, time, by_part[DURATION], same),
        "mean_durations": estimate(duration, jobs, by_part[DURATION], by_part[JOBS]),
        "service_rates": estimate(work, duration, by_part[WORK], by_part[DURATION]),
        "mean_slowdowns": estimate(slowdown, jobs, by_part[SLOWDOWN], by_part[JOBS]),
    }
    return by_name, estimate_ratio(area, duration, confidence)


def quantile_estimates(
    ranks: Ranks, what: int, levels: Sequence[float], confidence: float, independent: FloatArray
) -> dict[float, QuantileEstimate]:
    """Quantiles by level of the durations (``what`` is 0) or slowdowns (1) of all samples together.

    ``independent`` (n_classes,) are the values of a class that are worth independent ones.
    """
    samples = [[own[what] for own in sample] for sample in ranks]
    return estimate_quantiles(samples, levels, confidence, independent) if levels else {}
