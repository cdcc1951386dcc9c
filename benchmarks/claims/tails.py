"""Coverage of the intervals of simulations job by job: skewed means, quantiles near the edge.

``python -m benchmarks.claims.tails`` prints the tables of docs/theory/claimed_errors.md (about half an hour
on one core), ``--quick`` tries a tenth of the calls. A line is about one system and its four means, or its
quantiles of durations and of slowdowns: how many intervals there could be (one a class, call and estimate,
each call with its own seed, ten replications), how many were given, how often these covered, together and
each estimate by itself, and how often Student's interval of the ten replications one by one would have,
given always.

Classes of a case are alike, so one number is true for all of them: by insensitivity for the means of
processor sharing, whatever the sizes; else that of a run at least 300 times as long as a replication, whose
error is a twentieth of the intervals. Where the law of the slowdowns has an atom at the quantile, intervals
cover always.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
import pandas as pd
from scipy import stats

from fairness import DRF, Problem
from queueing import (
    Exponential,
    Hyperexponential,
    Lognormal,
    OnOff,
    System,
    TruncatedPareto,
    simulate,
)

TWO = Problem([[1, 0.1], [0.1, 1]], [1, 1])

LEVELS = (0.5, 0.9, 0.99)

CALLS = {1: 1_000, 2: 600, 10: 200, 20: 150}
"""Calls by the number of classes."""

LONG = 10_000_000
"""Jobs of the run that tells what is true."""

ROUNDING = 1e-9
"""Slowdowns are quotients of times with some ten digits."""


@dataclass(frozen=True)
class Case:
    """A system whose classes are alike; ``slowdown`` is the mean, NaN where it is not known."""

    name: str
    system: System
    jobs: int
    slowdown: float = np.nan


def sharing(name: str, classes: int, load: float, law: Any, *lengths: int) -> Iterator[Case]:
    """One resource, shared by all jobs: processor sharing."""
    pool = Problem(np.ones((classes, 1)), [1])
    system = System(pool, np.full(classes, load / classes), sizes=[law] * classes)
    label = f"{name}, {classes} classes" if classes > 1 else name
    for jobs in lengths:
        yield Case(f"PS .{round(10 * load)}, {label}", system, jobs, 1 / (1 - load))


def cases() -> Iterator[Case]:
    """Lines of the tables, easy ones first."""
    yield from sharing("exponential", 1, 0.5, Exponential(), 2_000)
    yield from sharing("exponential", 1, 0.7, Exponential(), 2_000)
    yield from sharing("exponential", 10, 0.5, Exponential(), 3_000)
    for load, jobs in ((0.5, 3_000), (0.7, 5_000)):
        yield Case(f"DRF .{round(10 * load)}, exponential", System.with_load(TWO, [1, 1], load), jobs)
    bursts = System(TWO, System.with_load(TWO, [1, 1], 0.5).arrival_rates, arrivals=[OnOff(10, 40)] * 2)
    yield Case("DRF .5, on/off arrivals", bursts, 5_000)
    yield from sharing("lognormal 4", 1, 0.6, Lognormal(4), 3_000)
    yield from sharing("lognormal 4", 10, 0.6, Lognormal(4), 3_000)
    yield from sharing("hyperexponential 25", 10, 0.5, Hyperexponential.fit(25), 2_000, 4_000, 12_000)
    yield from sharing("hyperexponential 50", 20, 0.5, Hyperexponential.fit(50), 4_000)
    yield from sharing("Pareto 1.5 to 1000", 20, 0.5, TruncatedPareto(1.5, 1000), 2_000)
    yield from sharing("Pareto 1.5 to 1000", 10, 0.5, TruncatedPareto(1.5, 1000), 4_000, 16_000)
    yield from sharing("lognormal 25", 10, 0.5, Lognormal(25), 4_000, 30_000)


def known(case: Case) -> dict[str, float]:
    """What is true, by the names of the columns."""
    long = simulate(case.system, DRF(), jobs=LONG // 5, replications=5, quantiles=LEVELS, rng=[7, case.jobs])
    truth = {name: float(estimate.value.mean()) for name, estimate in long.columns().items()}
    if not np.isnan(case.slowdown):
        size, rate = case.system.mean_sizes[0], case.system.arrival_rates[0]
        duration = size * case.slowdown
        truth |= {"mean_jobs": rate * duration, "mean_durations": duration}
        truth |= {"service_rates": 1 / case.slowdown, "mean_slowdowns": case.slowdown}
    return truth


def kind_of(name: str) -> str:
    """What a column estimates: means, or quantiles of a level."""
    return f"{name.split('_q')[1]} quantiles" if "_q" in name else "means"


def student(values: np.ndarray, exact: float) -> np.ndarray:
    """Whether Student's interval of replications (replications, n) one by one covers."""
    half_width = stats.t.isf(0.025, len(values) - 1) * stats.sem(values)
    return abs(values.mean(axis=0) - exact) <= half_width + ROUNDING * exact


def measured(case: Case, calls: int) -> list[dict[str, Any]]:
    """Lines of a case."""
    truth = known(case)

    def one(seed: int) -> dict[str, tuple[np.ndarray, ...]]:
        result = simulate(case.system, DRF(), jobs=case.jobs, quantiles=LEVELS, rng=[2027, case.jobs, seed])
        found = {}
        for name, estimate in result.columns().items():
            exact, (low, high) = truth[name], estimate.interval
            covers = (low - exact <= ROUNDING * exact) & (exact - high <= ROUNDING * exact)
            found[name] = np.isfinite(high - low), covers, student(estimate.values, exact)
        return found

    runs = joblib.Parallel(n_jobs=2, prefer="threads")(joblib.delayed(one)(seed) for seed in range(calls))
    lines = []
    for kind in dict.fromkeys(map(kind_of, truth)):
        names = [name for name in truth if kind_of(name) == kind]
        given, covers, plain = (
            [np.concatenate([run[name][k] for run in runs]) for name in names] for k in range(3)
        )
        rates = [100 * c[there].mean() for c, there in zip(covers, given, strict=True) if there.any()]
        everything = np.concatenate(covers)[np.concatenate(given)]
        lines.append({
            "system": case.name,
            "jobs": case.jobs,
            "estimates": kind,
            "intervals": sum(map(len, given)),
            "given": f"{100 * np.mean(given):.0f} %",
            "cover": f"{100 * everything.mean():.1f} %" if rates else "-",
            "each": f"{min(rates):.1f} to {max(rates):.1f}" if rates else "-",
            "Student's": f"{100 * np.mean(plain):.1f} %",
        })  # fmt: skip
    return lines


def main() -> None:
    """Print the tables as they are made."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the calls")
    parser.add_argument("--only", default="", metavar="SYSTEM", help="lines whose system contains this")
    options = parser.parse_args()
    first = True
    for case in cases():
        if options.only in case.name:
            calls = CALLS[case.system.n_classes] // (10 if options.quick else 1)
            row = pd.DataFrame(measured(case, calls)).to_csv(sep="|", index=False, header=first)
            print(row.replace("\r\n", "\n"), end="", flush=True)
            first = False


if __name__ == "__main__":
    main()
