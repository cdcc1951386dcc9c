"""What a first call costs, with an empty store of kernels, and the next one; each in a process of its own.

Processor time, user and system, of the process with its children; the yardstick is ``import numpy`` in the
same run. ``python -m benchmarks.bench_first_calls`` prints the table of docs/installation.md.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence

from benchmarks.harness import Row

__all__ = ["rows"]

README = """
from fairness import DRF, Problem, ProportionalFair, allocate
from queueing import System, balanced_fairness, duration_bound, stationary
pool = Problem(demands=[[1, 4], [3, 1]], capacities=[9, 18], job_classes=["A", "B"], resources=["cpu", "ram"])
print(allocate(pool, DRF()))
system = System(pool, arrival_rates=[2.0, 1.5], mean_sizes=[1.0, 1.0])
print(stationary(system, ProportionalFair()).mean_durations)
print(balanced_fairness(system).mean_durations, duration_bound(system).mean_durations)
"""
CALLS: tuple[tuple[str, Sequence[str], float, float], ...] = (
    (
        "fairqueues allocate drf_example --policy drf --policy pf",
        ["-m", "fairqueues", "allocate", "drf_example", "--policy", "drf", "--policy", "pf"],
        2.0,
        0.6,
    ),
    (
        "fairqueues explain drf_example A --policy drf",
        ["-m", "fairqueues", "explain", "drf_example", "A", "--policy", "drf"],
        2.0,
        1.2,
    ),
    (
        "fairqueues solve talk_unbalanced --load 0.6",
        ["-m", "fairqueues", "solve", "talk_unbalanced", "--load", "0.6"],
        4.0,
        2.5,
    ),
    ("the README's first example", ["-c", README], 4.0, 2.5),
)
"""What is called, and the seconds that it may take at first and then, where numpy is imported in .1 s."""
USUAL = 0.1
"""Seconds in which such a machine imports numpy."""


def rows() -> list[Row]:
    yardstick = min(seconds(["-c", "import numpy"], {}) for _ in range(3))
    result = []
    for name, arguments, first, then in CALLS:
        with tempfile.TemporaryDirectory() as empty:
            took = [seconds(arguments, {"NUMBA_CACHE_DIR": empty}) for _ in range(2)]
        for when, spent, target in zip(("first", "then"), took, (first, then), strict=True):
            ratio = spent / yardstick
            result.append(
                Row(
                    f"{when}: {name}",
                    f"{spent:.2f} s, {ratio:.0f} x import numpy",
                    f"< {target / USUAL:.0f} x",
                    ratio < target / USUAL,
                )
            )
    return result


def seconds(arguments: Sequence[str], environment: dict[str, str]) -> float:
    """Processor time of an interpreter with these arguments."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL, env=os.environ | environment
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    for row in rows():
        print(f"{row.name:<64}{row.figure:>28}  {row.target}")
