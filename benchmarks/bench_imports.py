"""What it costs to import a package, and to ask the command for help, in a fresh process.

Seconds beyond those of an interpreter that does nothing, the best of several starts; the yardstick is
``import numpy`` in the same run. What keeps the figures small is a test: no package loads anything heavy
(tests/fairqueues).
"""

from __future__ import annotations

import subprocess
import sys

from benchmarks.harness import Row, best_seconds

__all__ = ["rows"]

TARGET = 0.5
PACKAGES = (
    "fairness",
    "fairness.cloud",
    "fairness.indivisible",
    "fairness.properties",
    "queueing",
    "capacity",
    "proofs",
    "fairqueues",
)


def rows() -> list[Row]:
    nothing = _seconds("-c", "pass")
    yardstick = _seconds("-c", "import numpy") - nothing
    result = []
    for package in PACKAGES:
        seconds = _seconds("-c", f"import {package}") - nothing
        result.append(_row(f"import {package}", seconds, yardstick))
    result.append(_row("fairqueues --help", _seconds("-m", "fairqueues", "--help") - nothing, yardstick))
    return result


def _row(name: str, seconds: float, yardstick: float) -> Row:
    return Row(
        name,
        f"{seconds:.2f} s, {seconds / yardstick:.1f} x numpy",
        f"< {TARGET} s",
        seconds < TARGET,
    )


def _seconds(*arguments: str) -> float:
    return best_seconds(
        lambda: subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL), repeat=5
    )
