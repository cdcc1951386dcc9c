"""Coverage of the intervals of simulations, measured where the mean is known.

``python -m benchmarks.claims.intervals`` prints the table of docs/theory/claimed_errors.md (about 20 minutes
on one core), ``--quick`` one with fewer runs and without the longest. Each line is one model, load and
length: how many of so many calls with seeds of their own gave a warning and so no interval, how often the
95 % interval of the first class covered the true mean in the others, and how often it would have in all.

Models: the M/M/1 queue by counts (E[x] = load/(1 - load)) and job by job, with replications and with batches
of one run (E[T] = 1/(1 - load)); DRF on two resources (means of the chain); whole tasks on four servers
(M/M/4, Erlang's formula), which start empty. The library's default of ten replications or batches.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import joblib
import pandas as pd

from fairness import DRF, Problem
from queueing import FIFOScheduler, FixedTasks, System, Tasks, simulate, stationary
from queueing.states.table import tabulate

ONE = Problem([[1]], [1])
TWO = Problem([[1, 0.1], [0.1, 1]], [1, 1])
SERVERS = 4


@dataclass(frozen=True)
class Case:
    """One line of the table; ``exact`` is NaN where the mean is not known and a warning is expected."""

    model: str
    load: float
    length: int
    runs: int
    exact: float
    estimate: str
    run: Callable[..., Any]


def cases(quick: bool) -> Iterator[Case]:
    """Lines of the table."""
    many = 40 if quick else 200
    longest = 100_000 if quick else 1_000_000
    drf = DRF()

    def of(model: str, load: float, lengths: list[int], exact: float, name: str, run: Any, key: str) -> Any:
        for length in lengths:
            if length <= longest:
                runs = many if length < 500_000 else many // 2
                yield Case(model, load, length, runs, exact, name, partial(run, **{key: length}))

    for load in (0.5, 0.7, 0.9, 0.95, 0.99, 0.999):
        system = System(ONE, [load])
        table = tabulate(ONE, drf, (int(20 / (1 - load)) + 50,))
        known: Callable[..., Any] = partial(simulate, system, drf, table=table)
        lengths = [2_000, 10_000, 20_000, 100_000] + [1_000_000] * (load > 0.8)
        yield from of("M/M/1, counts", load, lengths, load / (1 - load), "mean_jobs", known, "events")
    for load in (0.5, 0.7, 0.9, 0.95, 0.99):
        system = System.with_load(TWO, [1, 1], load)
        # Beyond, the chain takes minutes, and no run of these lengths gives an interval.
        exact = float(stationary(system, drf).mean_jobs[0]) if load < 0.97 else math.nan
        table = tabulate(TWO, drf, (min(int(30 / (1 - load)), 1000),) * 2)
        known = partial(simulate, system, drf, table=table)
        lengths = [2_000, 10_000, 100_000] + [1_000_000] * (0.8 < load < 0.97)
        yield from of("DRF, counts", load, lengths, exact, "mean_jobs", known, "events")
    for load in (0.5, 0.7, 0.9, 0.95, 0.99, 0.999):
        system = System(ONE, [load])
        table = tabulate(ONE, drf, (int(20 / (1 - load)) + 50,))
        known = partial(simulate, system, drf, table=table, quantiles=())
        mean = 1 / (1 - load)
        lengths = [500] * (load < 0.8) + [2_000, 10_000, 20_000]
        yield from of("M/M/1, jobs", load, lengths, mean, "mean_durations", known, "jobs")
        if load in (0.5, 0.9, 0.99):
            batches = partial(known, batches=True)
            lengths = [20_000, 200_000, 400_000]
            yield from of("M/M/1, batches", load, lengths, mean, "mean_durations", batches, "jobs")
    for load in (0.5, 0.7, 0.9, 0.95, 0.99):
        system = System(Problem([[1]], [SERVERS]), [SERVERS * load])
        known = partial(simulate, system, FIFOScheduler(), tasks=Tasks(per_job=FixedTasks(1)))
        lengths = [2_000, 10_000, 20_000, 100_000]
        mean = erlang(SERVERS, SERVERS * load)
        yield from of("M/M/4, tasks", load, lengths, mean, "mean_durations", known, "events")


def erlang(servers: int, load: float) -> float:
    """Mean duration in the M/M/c queue with service rate 1."""
    terms = [load**k / math.factorial(k) for k in range(servers)]
    last = load**servers / math.factorial(servers) * servers / (servers - load)
    return 1 + last / (sum(terms) + last) / (servers - load)


def measured(case: Case) -> dict[str, Any]:
    """One line of the table."""

    def one(seed: int) -> tuple[bool, bool]:
        result = case.run(rng=[2026, seed])
        estimate = result.estimates[case.estimate]
        width = replace(estimate, sound=True).half_width[0]
        return not result.warnings, bool(abs(estimate.value[0] - case.exact) <= width)

    runs = joblib.Parallel(n_jobs=2, prefer="threads")(joblib.delayed(one)(k) for k in range(case.runs))
    shown = [covers for sound, covers in runs if sound]
    known = not math.isnan(case.exact)
    return {
        "model": case.model,
        "load": case.load,
        "length": case.length,
        "runs": case.runs,
        "with a warning": _part(case.runs - len(shown), case.runs),
        "the others cover": f"{_part(sum(shown), len(shown))} of {len(shown)}" if shown and known else "-",
        "all would cover": _part(sum(covers for _, covers in runs), case.runs) if known else "-",
    }


def _part(some: int, every: int) -> str:
    return f"{100 * some / every:.1f} %"


def main() -> None:
    """Print the table as it is made."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="40 runs a line, none of 10^6 events")
    parser.add_argument("--only", default="", metavar="MODEL", help="lines whose model contains this")
    options = parser.parse_args()
    lines = []
    for case in cases(options.quick):
        if options.only in case.model:
            lines.append(measured(case))
            row = pd.DataFrame(lines[-1:]).to_csv(sep="|", index=False, header=len(lines) == 1)
            print(row.replace("\r\n", "\n"), end="", flush=True)


if __name__ == "__main__":
    main()
