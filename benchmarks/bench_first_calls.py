"""What a first call costs, with an empty store of kernels, and the next one; each in a process of its own.

Processor time, user and system, of the process with its children; the yardstick is ``import numpy`` in the
same run. Python's own compiled files are there, as after an installation by pip: each call is made once
before. ``python -m benchmarks.bench_first_calls`` prints the table of docs/installation.md.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.harness import Row

__all__ = ["rows"]

_PRINTED = Path(__file__).parents[1].joinpath("README.md").read_text(encoding="utf-8")
README = "\n".join(re.findall(r"^>>> (.*)", _PRINTED.split("```")[1], re.MULTILINE))
"""Its first example, which nobody sees printed here."""

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
    yardstick = import_of_numpy()
    result = []
    for name, arguments, first, then in CALLS:
        with tempfile.TemporaryDirectory() as elsewhere, tempfile.TemporaryDirectory() as empty:
            seconds(arguments, {"NUMBA_CACHE_DIR": elsewhere})
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


def import_of_numpy() -> float:
    """The yardstick, in seconds."""
    return min(seconds(["-c", "import numpy"], {}) for _ in range(3))


def seconds(arguments: Sequence[str], environment: dict[str, str]) -> float:
    """Processor time of an interpreter with these arguments."""
    environment = os.environ | environment
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    for row in rows():
        print(f"{row.name:<64}{row.figure:>28}  {row.target}")
