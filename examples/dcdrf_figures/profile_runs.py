"""What plain EDRF costs on each demand profile, and what DC-DRF makes of it: the measurements of Figures 3 and 7.

Algorithm 1 of the paper passes in every round over the entries of all tenants that still grow. A tenant grows from
the first round to that of its level; so with the exact levels, and k(i) the rank of the level of tenant i among the
distinct ones, the whole run touches the sum of k(i) times the entries of tenant i, and a table of all resources per
round. That count is exact. Times the nanoseconds per entry of the first rounds it tells the seconds of a run that
would take minutes. Late rounds cost more per entry, because the rows that are left lie scattered; so that is too little.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np

from examples.dcdrf_figures.instances import SEED, profile, scale
from examples.dcdrf_figures.measuring import least_seconds
from fairness.cloud import Edrf, Rounds, SparseDemands, compare, dcdrf, demand_profile, edrf, edrf_rounds

__all__ = [
    "EPSILONS",
    "FIRST_ROUNDS",
    "RATIOS",
    "WORK_ORDER",
    "Growth",
    "Measured",
    "growth_runs",
    "measured",
]

FIRST_ROUNDS = 3
"""Rounds of Algorithm 1 that are run to measure nanoseconds per entry."""

EPSILONS = (1e-2, 1e-3, 1e-4)

RATIOS = (1, 3, 10)
"""Tenants per resource; 10 is the paper's scale."""

WORK_ORDER = ("U0", "U1", "U2", "G1", "G2", "G0")
"""Profiles in the order of work: the pages that follow need G0 again."""

LASTING = 0.05
"""Seconds for which a short run is repeated; the least counts."""


@dataclass(frozen=True)
class Approximation:
    """DC-DRF of a profile at one epsilon, beside the exact allocation."""

    epsilon: float
    rounds: int
    seconds: float
    relative_std: float
    worst_shortfall: float
    short_tenants: float
    residual: float
    certified: bool


@dataclass(frozen=True)
class Measured:
    """A profile: what Algorithm 1 would do, what EDRF by events took, and DC-DRF."""

    entries: int
    rounds: int
    touched: int
    nanoseconds: dict[str, float]
    edrf_seconds: float
    approximations: tuple[Approximation, ...]

    def seconds(self, threads: str) -> float:
        """Counted times measured."""
        return self.touched * self.nanoseconds[threads] * 1e-9

    @property
    def predictions(self) -> dict[str, dict[str, float]]:
        """All that is counted times measured."""
        return {
            "counted x measured seconds": {threads: self.seconds(threads) for threads in self.nanoseconds}
        }


@dataclass(frozen=True)
class Growth:
    """Algorithm 1 to its end (if at all) and EDRF by events on an instance of profile G0."""

    ratio: int
    resources: int
    rounds: int
    touched: int
    edrf_seconds: float
    seconds: float = np.nan
    predicted: float = np.nan
    rounds_run: int = 0
    touched_run: int = 0
    difference: float = 0.0


@lru_cache(maxsize=12)
def measured(name: str, full: bool) -> Measured:
    """Everything that both pages want of a profile, so that its demands are drawn once."""
    demands = profile(name, full)
    truth, edrf_seconds = least_seconds(partial(edrf, demands), lasting=LASTING)
    rounds, touched = _counted(truth)
    # A handful of passes over a hundredth of the scale are too short to share among threads.
    threads = {"one thread": 1, "all cores": None} if full else {"one thread": 1}
    approximations = []
    for epsilon in EPSILONS:
        found, seconds = least_seconds(partial(dcdrf, demands, epsilon, threads=1), lasting=LASTING)
        beside, certificate = compare(found, truth), found.certificate
        approximations.append(
            Approximation(
                epsilon,
                found.rounds,
                seconds,
                beside.relative_std,
                beside.worst_shortfall,
                float(np.mean(beside.deviations < -epsilon)),
                certificate.residual,
                certificate.holds,
            )
        )
    return Measured(
        demands.n_entries,
        rounds,
        touched,
        {label: 1e9 * _entry_seconds(demands, number) for label, number in threads.items()},
        edrf_seconds,
        tuple(approximations),
    )


@lru_cache(maxsize=1)
def growth_runs(full: bool) -> list[Growth]:
    """Algorithm 1 to its end at small sizes, and EDRF by events there and further out."""
    to_the_end = (1_000, 1_800, 3_200, 5_600, 10_000) if full else (300, 560, 1_000, 1_800)
    further = (32_000, 100_000) if full else (3_200, 5_600)
    runs = []
    # From large to small: the paper's scale is at hand from the profiles.
    for ratio in reversed(RATIOS):
        for n_resources in reversed(to_the_end + further):
            size = ratio * n_resources, n_resources
            demands = profile("G0", full) if size == scale(full) else demand_profile("G0", *size, rng=SEED)
            truth, edrf_seconds = least_seconds(partial(edrf, demands), lasting=LASTING)
            rounds, touched = _counted(truth)
            if n_resources in further:
                runs.append(Growth(ratio, n_resources, rounds, touched, edrf_seconds))
                continue
            predicted = touched * _entry_seconds(demands, 1)
            run, seconds = least_seconds(partial(edrf_rounds, demands, threads=1), lasting=LASTING)
            difference = float(np.abs(run.levels / truth.levels - 1).max())
            runs.append(
                Growth(
                    ratio,
                    n_resources,
                    rounds,
                    touched,
                    edrf_seconds,
                    seconds,
                    predicted,
                    run.rounds,
                    _touched(run),
                    difference,
                )
            )
    return runs[::-1]


def _counted(truth: Edrf) -> tuple[int, int]:
    """Rounds of Algorithm 1, and entries that it touches: demands of growing tenants, and resources, round by round."""
    demands = truth.demands
    distinct, rank = np.unique(truth.levels, return_inverse=True)
    rounds = len(distinct)
    # Rates are summed before the first round and updated after each, hence one pass more than there are rounds.
    in_rounds = int((rank + 1) @ np.diff(demands.starts))
    return rounds, demands.n_entries + in_rounds + (rounds + 1) * demands.n_resources


def _touched(run: Rounds) -> int:
    """What a run of Algorithm 1 touched by its own record: the rounds in which each tenant was still growing."""
    demands = run.demands
    growing = np.searchsorted(run.round_levels, run.levels, side="right")
    return demands.n_entries + int(growing @ np.diff(demands.starts)) + (run.rounds + 1) * demands.n_resources


def _entry_seconds(demands: SparseDemands, threads: int | None) -> float:
    """Seconds per entry in the first rounds, in which hardly a tenant stops; the least of some runs."""
    runs = (edrf_rounds(demands, max_rounds=FIRST_ROUNDS, threads=threads) for _ in range(3))
    fill = min(run.seconds["fill"] for run in runs)
    return fill / ((FIRST_ROUNDS + 1) * (demands.n_entries + demands.n_resources))
