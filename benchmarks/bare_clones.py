"""What the README's commands and CI take from a bare clone: installation, compilation, everything.

``python -m benchmarks.bare_clones`` prints the table of docs/installation.md, three quarters of an hour long;
commands can be named. Nothing else should run beside it, as it is measured in seconds by the clock. The
yardstick is the processor time of ``import numpy``, before and after; targets are meant for a machine that
takes :data:`~benchmarks.bench_first_calls.USUAL` seconds for it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.bench_first_calls import USUAL, import_of_numpy
from benchmarks.harness import Row

__all__ = ["rows"]

COMMANDS = {"make reproduce": 180.0, "make test": 240.0, ".ci/run": 1200.0}
"""Seconds that each may take on two idle cores of a usual machine."""
LIMIT = 3600.0


def rows(commands: Sequence[str] = tuple(COMMANDS)) -> Iterator[Row]:
    for command in commands:
        before = import_of_numpy()
        taken = _seconds_of(command)
        ratio = taken / min(before, import_of_numpy())
        target = COMMANDS[command] / USUAL
        figure = f"{taken:.0f} s, {ratio:,.0f} x import numpy"
        yield Row(f"from a bare clone: {command}", figure, f"< {target:,.0f} x", ratio < target)


def _seconds_of(command: str) -> float:
    """Seconds by the clock of a command in a clone of its own."""
    environment = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "fairqueues"
        subprocess.run(["git", "clone", "--quiet", Path(__file__).parents[1], clone], check=True)
        start = time.perf_counter()
        subprocess.run(
            command.split(), cwd=clone, env=environment, stdout=sys.stderr, check=True, timeout=LIMIT
        )
        return time.perf_counter() - start


def main() -> None:
    """Print the rows of a table as they come."""
    for row in rows(sys.argv[1:] or tuple(COMMANDS)):
        met = "met" if row.met else "missed"
        print(f"| {row.name} | {row.figure} | {row.target} | {met} |", flush=True)


if __name__ == "__main__":
    main()
