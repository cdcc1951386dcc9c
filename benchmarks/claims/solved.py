"""What ``solve`` claims, set against better answers, on random systems; and whether it keeps to its time.

``python -m benchmarks.claims.solved`` asks 200 random systems of 2 to 30 classes, pools and clusters, at
loads of .1 to 1.2, under policies of the catalogue and a plain function, with 2 seconds for each call (about
half an hour), ``--systems 20 --first 40`` some of them. Kernels are compiled before. For each cell a second
method is asked:

* an *exact* answer, or the proved error of one, by the closed form of one resource, or a longer tail;
* a *chain* by one that leaves out 10^-6 of what this one does, where that has at most 300,000 states;
* *proved bounds* by that chain, or else a long simulation;
* a *simulation* by the chain where there is one of so many states; else by a long simulation, with both
  intervals;
* *unstable* cells by the fluid verdict; overload by the loads.

Covered is the part of the means (of a class in a cell) that are as far from the second answer as both claim,
or nearer. The table is that of docs/theory/claimed_errors.md.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import pandas as pd

from capacity import solve
from fairness import Cluster, FairqueuesError, Problem
from fairness.catalogue import CATALOGUE, CLUSTER_CATALOGUE
from fairness.machine.work import ASIDE
from queueing import System, balanced_fairness, fluid_verdict, simulate, stationary

SECONDS = 2.0
LARGEST = 300_000
NEAR = 1e-12
"""Relative error of a second answer by rounding."""


def one_at_a_time(problem: Problem, counts: Any) -> Any:
    """A plain function: each class the part of a pool that its jobs are of all jobs; asked state by state."""
    x = np.asarray(counts, dtype=float)
    total = np.maximum(x.sum(axis=-1, keepdims=True), 1.0)
    return x / total / problem.task_shares.max(axis=1)


def random_system(rng: np.random.Generator, number: int) -> tuple[System, dict[str, Any]]:
    """A system, and two of the policies that it can have."""
    few = rng.random() < 0.6
    n, m = int(rng.integers(2, 5 if few else 31)), int(rng.integers(1, 5))
    demands = rng.uniform(0.05, 1.0, (n, m)) * (rng.random((n, m)) < 0.8)
    demands[:, 0] += 0.05
    mix, means = rng.uniform(0.1, 1.0, n), 10.0 ** rng.uniform(-1, 1, n)
    load = float(rng.uniform(0.1, 1.2))
    cluster = number % 4 == 3
    if cluster:
        problem: Any = Cluster(demands, rng.uniform(1.0, 2.0, (int(rng.integers(2, 5)), m)))
    else:
        problem = Problem(demands, np.ones(m))
    entries = CLUSTER_CATALOGUE if cluster else CATALOGUE
    makers = {entry.name: entry for entry in entries}
    chosen = [str(name) for name in rng.permutation(sorted(makers))[:2]]
    policies: dict[str, Any] = {}
    for name in chosen:
        policies[name] = makers[name].policy
    if not cluster and number % 3 == 0:
        policies["balanced fairness"] = "balanced"
    if not cluster and number % 8 == 0:
        policies["plain function"] = one_at_a_time
    return System.with_load(problem, mix, load, means), policies


def better(system: System, policy: Any, precision: float) -> tuple[Any, Any, str]:
    """Mean jobs by a second method, what they may be off, and its name."""
    if policy == "balanced":
        law: Any = balanced_fairness(system, tail=1e-14, max_states=10**8)
        return law.mean_jobs, law.mean_jobs_error + NEAR * law.mean_jobs, "longer recursion"
    try:
        law = stationary(system, policy, tail=1e-12, max_states=LARGEST, distribution=False, time_limit=60)
        return law.mean_jobs, law.mean_jobs_error + NEAR * law.mean_jobs, "longer chain"
    except FairqueuesError:
        run = simulate(
            system, policy, events=100_000, replications=20, confidence=1 - 1e-4, rng=1, time_limit=60
        )
        return run.mean_jobs, run.half_widths["mean_jobs"], "long simulation"


class Heard:
    """When something was said."""

    def __init__(self) -> None:
        self.times = [time.perf_counter()]

    def __call__(self, *_: Any) -> None:
        """Now."""
        self.times.append(time.perf_counter())


def cells(first: int, count: int, seconds: float) -> pd.DataFrame:
    """A row for each class of each cell."""
    rows: list[dict[str, Any]] = []
    for number in range(first, first + count):
        system, policies = random_system(np.random.default_rng([20261128, number]), number)
        if not policies:
            continue
        heard = Heard()
        aside, worked = ASIDE.seconds, time.process_time()
        solved = solve(system, policies, seconds=seconds, rng=number, progress=heard)
        heard()
        took = heard.times[-1] - heard.times[0] - (ASIDE.seconds - aside)
        for m, name in enumerate(solved.methods):
            found_by = solved.found_by[0][m] or "nothing"
            row = {
                "system": number, "classes": system.n_classes, "cluster": system.is_cluster, "policy": name,
                "load": float(solved.loads[0]), "found by": found_by, "known": solved.known[0][m],
                "seconds": took / seconds, "worked": (time.process_time() - worked) / seconds,
                "silent": float(np.diff(heard.times).max()),
            }  # fmt: skip
            rows.append(row | {"covered": None, "off": np.nan} | judged(system, policies[name], solved, m))
            print(*row.values(), rows[-1]["covered"], rows[-1]["off"], sep=" | ", flush=True)
    return pd.DataFrame(rows)


def judged(system: System, policy: Any, solved: Any, m: int) -> dict[str, Any]:
    """Whether a cell is as right as it claims; by which method, and by how much of the claim it is off."""
    known, found_by = solved.known[0][m], solved.found_by[0][m]
    if found_by == "unstable":
        if known.startswith("overload"):
            return {"covered": bool(system.overloaded.any()), "second": "loads"}
        verdict = fluid_verdict(system, policy)
        return {"covered": verdict.status == "unstable", "second": "fluid verdict"}
    if not found_by:
        return {"second": "none"}
    error = solved.mean_jobs_error[0, m]
    if not np.isfinite(error).all() and not known.startswith("proved"):
        return {"second": "none"}
    try:
        mean, off, second = better(system, policy, float(np.nanmax(error / solved.mean_jobs[0, m])))
    except FairqueuesError as failure:
        return {"second": f"none: {failure}"[:60]}
    live = system.arrival_rates > 0
    if not np.isfinite(off[live]).all():
        return {"second": "none"}
    apart = mean - solved.mean_jobs[0, m]
    if known == "proved lower bounds":
        apart, error = np.minimum(apart, 0.0), np.zeros_like(error)
    claimed = error + off
    part = np.abs(apart[live]) / np.maximum(claimed[live], 1e-300)
    return {"covered": float((part <= 1).mean()), "off": float(part.max()), "second": second}


def told(table: pd.DataFrame) -> str:
    """The table of the docs: how cells were found, how often they were right, and at what time."""
    lines = [
        "| found by | cells | classes | asked again | covered | worst true/claimed |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, part in table.groupby("found by"):
        asked = part["covered"].dropna()
        worst = part["off"].max()
        span = f"{part['classes'].min()}-{part['classes'].max()}"
        means = part.loc[asked.index, "classes"]
        covered = f"{100 * np.average(asked.astype(float), weights=means):.1f} %" if len(asked) else ""
        lines.append(
            f"| {name} | {len(part)} | {span} | {len(asked)} | {covered} | "
            f"{'' if np.isnan(worst) else f'{worst:.2g}'} |"
        )
    calls = table.drop_duplicates("system")
    lines += [
        "",
        f"{len(calls)} calls; longest {calls['seconds'].max():.2f} times its seconds, "
        f"{(calls['seconds'] > 1.3).sum()} above 1.3, of the processor {calls['worked'].max():.2f}; "
        f"silent for at most {calls['silent'].max():.2f} s.",
    ]
    return "\n".join(lines)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--systems", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--csv")
    given = parser.parse_args()
    for number in (0, 3, 6):  # what is read or imported once
        solve(*random_system(np.random.default_rng(number), number), seconds=30, precision=0.3)
    table = cells(given.first, given.systems, given.seconds)
    if given.csv:
        table.to_csv(given.csv, index=False)
    print(told(table))


if __name__ == "__main__":
    main()
