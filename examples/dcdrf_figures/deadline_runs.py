"""DC-DRF, sDC-DRF and pEDRF against the clock: the measurements of Figures 8 to 10.

Every epsilon is run by DC-DRF and by sDC-DRF, with no other deadline than the end of the measurement. An epsilon is in time for all deadlines from its own seconds on, so the points (seconds, outcome) of the
measured epsilons are the curves of the paper, without a search. pEDRF needs no run per deadline: with z the exact levels and y_t the level of the growing tenants after
round t, EDRF cut after round t holds min(z, y_t). So utilization and deviations after every round follow from the exact allocation, and only the seconds of the
rounds are measured.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import lru_cache, partial

import numpy as np

from examples.dcdrf_figures.instances import profile
from examples.dcdrf_figures.measuring import least_seconds
from fairness.cloud import Comparison, Edrf, Rounds, SparseDemands, compare, dcdrf, edrf, edrf_rounds

__all__ = ["EPSILONS", "SURE", "THREADS", "Deadlines", "Outcome", "measured", "repeats"]

EPSILONS = (0.5, 0.1, 0.03, 1e-2, 3e-3, 1e-3, 1e-4, 1e-5, 1e-6, 0.0)
"""From the fastest to the exact one."""

SURE = 1e-3
"""Least epsilon that is run to its end on one thread, however slow the machine is."""

THREADS = {"DC-DRF": None, "sDC-DRF": 1}


def repeats(full: bool) -> int:
    """Runs of everything that is timed, after a first that does not count; the least counts."""
    return 2 if full else 3


@dataclass(frozen=True)
class Outcome:
    """An allocation beside the exact one."""

    rounds: int
    utilization: float
    std: float  # of the relative deviations, about 0
    spread: float  # the same about their mean
    worst: float
    tenth_percent: float
    hundredth_percent: float

    @classmethod
    def of(cls, comparison: Comparison, rounds: int) -> Outcome:
        """The outcome of a comparison, and the rounds that it took."""
        return cls(
            rounds,
            comparison.utilization_ratio,
            comparison.relative_std,
            float(comparison.deviations.std()),
            comparison.worst_shortfall,
            comparison.shortfall(0.1),
            comparison.shortfall(0.01),
        )


@dataclass(frozen=True)
class Deadlines:
    """What the three pages show."""

    exact_seconds: float
    exact_rounds: int
    limit: float  # seconds after which a run was stopped
    outcomes: dict[float, Outcome]  # by epsilon
    seconds: dict[str, dict[float, float]]  # by configuration and epsilon, of runs that came to their end
    same: bool  # whether the number of threads changes nothing
    cut: dict[int, Outcome]  # EDRF cut after a number of rounds
    clock: np.ndarray  # seconds of pEDRF after each of its rounds
    finished: bool  # whether pEDRF came to its end
    cut_error: float  # of its levels, against the exact ones cut at its level

    def points(self, configuration: str) -> tuple[np.ndarray, np.ndarray]:
        """Epsilons that no smaller one beats, from the fastest, and their seconds."""
        best, kept = np.inf, []
        for chosen, seconds in sorted(self.seconds[configuration].items()):
            if seconds < best:
                best = seconds
                kept.append((chosen, seconds))
        chosen, seconds = np.array(kept[::-1]).T
        return chosen, seconds

    def replayed(self, configuration: str) -> Callable[[float], float]:
        """Seconds of any epsilon, interpolated between the measured ones; infinite below what was in time."""
        chosen, seconds = (values[::-1] for values in self.points(configuration))
        smallest = np.inf if chosen[0] > 0 else float(seconds[0])
        some, times = np.log(chosen[chosen > 0]), np.log(seconds[chosen > 0])

        def replay(value: float) -> float:
            if value <= 0 or np.log(value) < some[0]:
                return smallest
            return float(np.exp(np.interp(np.log(value), some, times)))

        return replay

    def numbers(self) -> dict[str, object]:
        """All measured numbers."""
        return {
            "exact": {"seconds": self.exact_seconds, "rounds": self.exact_rounds},
            "limit": self.limit,
            "seconds by epsilon": self.seconds,
            "outcome by epsilon": {value: asdict(outcome) for value, outcome in self.outcomes.items()},
            "EDRF cut after rounds": {rounds: asdict(outcome) for rounds, outcome in self.cut.items()},
            "pEDRF: seconds after rounds": {int(t): self.clock[t - 1] for t in _shown(len(self.clock))},
        }


@lru_cache(maxsize=1)
def measured(full: bool) -> Deadlines:
    """Run everything once for the three pages."""
    demands = profile("G0", full)
    limit = 6.0 if full else 1.0
    timed = partial(least_seconds, repeats=repeats(full), limit=limit)
    exact, exact_seconds = timed(partial(edrf, demands))
    outcomes: dict[float, Outcome] = {}
    seconds: dict[str, dict[float, float]] = {}
    levels: dict[float, np.ndarray] = {}
    same = True
    for configuration, threads in sorted(THREADS.items(), reverse=True):
        seconds[configuration] = {}
        for value in EPSILONS:
            # The first has no deadline, so that every configuration has a point.
            deadline = None if value == EPSILONS[0] or (threads == 1 and value >= SURE) else limit
            result, taken = timed(partial(dcdrf, demands, value, threads=threads, deadline=deadline))
            if result.unfinished:
                # Smaller ones would take longer.
                break
            seconds[configuration][value] = taken
            if value in outcomes:
                same = same and np.array_equal(levels[value], result.levels)
            else:
                outcomes[value] = Outcome.of(compare(result, exact), result.rounds)
                levels[value] = result.levels
    edrf_rounds(demands, max_rounds=1)
    rounds, clock = min((_rounds(demands, limit) for _ in range(repeats(full))), key=_pace)
    level = rounds.round_levels[-1]
    error = float(np.abs(rounds.levels / np.minimum(exact.levels, level) - 1).max())
    cut = _cut(exact)
    return Deadlines(
        exact_seconds, max(cut), limit, outcomes, seconds, same, cut, clock, rounds.unfinished == 0, error
    )


def _rounds(demands: SparseDemands, limit: float) -> tuple[Rounds, np.ndarray]:
    """PEDRF, and its seconds after each round."""
    looks: list[float] = []

    def clock() -> float:
        looks.append(time.perf_counter())
        return looks[-1]

    begin = time.perf_counter()
    result = edrf_rounds(demands, deadline=limit, clock=clock)
    return result, np.array(looks[1:]) - begin


def _pace(run: tuple[Rounds, np.ndarray]) -> float:
    """Seconds per round."""
    return float(run[1][-1]) / len(run[1])


def _shown(rounds: int) -> np.ndarray:
    """Numbers of rounds to show, about evenly on a log axis."""
    return np.unique(np.geomspace(1, rounds, 25).round().astype(int))


def _cut(exact: Edrf) -> dict[int, Outcome]:
    """EDRF cut after some numbers of rounds."""
    demands = exact.demands
    reached = np.unique(exact.levels)
    # What a tenant holds of all resources together, per level.
    weight = exact.growth * np.add.reduceat(demands.values, demands.starts[:-1], dtype=float)
    whole = weight @ exact.levels
    result = {}
    for rounds in _shown(len(reached)):
        levels = np.minimum(exact.levels, reached[rounds - 1])
        comparison = Comparison(levels / exact.levels - 1, float(weight @ levels / whole))
        result[int(rounds)] = Outcome.of(comparison, int(rounds))
    return result
