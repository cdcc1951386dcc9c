"""How many files of the project a call goes through: ``python -m benchmarks.files_crossed [name ...]``.

A file is crossed if a Python function of it is entered. Counted is the second call in one process: the first
imports, compiles kernels and fills caches. Exit code 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["CALLS", "crossed"]

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("fairness", "queueing", "capacity", "proofs", "fairqueues")
FOLDERS = tuple(str(ROOT / package) + "/" for package in PACKAGES)


def crossed(call: Callable[[], Any]) -> list[str]:
    """Files of the project in which the second call enters a function, as paths from the root.

    Examples
    --------
    >>> from fairness.arguments.plain import plain
    >>> crossed(lambda: plain([1, 2]))
    ['fairness/arguments/plain.py']
    """
    call()
    found: set[str] = set()

    def seen(frame: Any, event: str, _: Any) -> None:
        # What a module does when it is imported is no call.
        if event == "call" and frame.f_code.co_name != "<module>":
            found.add(frame.f_code.co_filename)

    before = sys.getprofile()
    threading.setprofile(seen)
    sys.setprofile(seen)
    try:
        call()
    finally:
        sys.setprofile(before)
        threading.setprofile(None)  # type: ignore[arg-type]
    return sorted(str(Path(file).relative_to(ROOT)) for file in found if file.startswith(FOLDERS))


def _allocate() -> Callable[[], Any]:
    from fairness import DRF, Problem, allocate

    pool = Problem([[1, 4], [3, 1]], [9, 18])
    return lambda: allocate(pool, DRF())


def _pool() -> Any:
    from fairness import Problem
    from queueing import System

    return System(Problem([[1, 4], [3, 1]], [9, 18]), [1.0, 1.0])


def _stationary() -> Callable[[], Any]:
    from fairness import ProportionalFair
    from queueing import stationary

    system = _pool()
    return lambda: stationary(system, ProportionalFair())


def _simulate() -> Callable[[], Any]:
    import numpy as np

    from fairness import Problem, ProportionalFair
    from queueing import System, simulate

    routes = np.eye(30, 15) + np.roll(np.eye(30, 15), 7, axis=1) + np.eye(30, 15, -15)
    system = System.with_load(Problem(routes, np.full(15, 10.0)), np.ones(30), 0.6)
    return lambda: simulate(system, ProportionalFair(), jobs=300, replications=2, rng=1)


def _enclose() -> Callable[[], Any]:
    from fairness import ProportionalFair
    from queueing import enclose

    system = _pool()
    return lambda: enclose(system, ProportionalFair(), width=1e-3)


def _solve() -> Callable[[], Any]:
    from fairqueues.commands.app import app

    file = str(ROOT / "examples" / "scenarios" / "talk_unbalanced.toml")

    def call() -> None:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            app(["solve", file], standalone_mode=False)

    return call


CALLS: dict[str, tuple[Callable[[], Callable[[], Any]], int]] = {
    "allocate": (_allocate, 9),
    "stationary": (_stationary, 18),
    "simulate": (_simulate, 22),
    "enclose": (_enclose, 25),
    "solve": (_solve, 40),
}
"""What makes each call, and the most files that it is to cross."""


def main() -> int:
    """Print a line for each call, with the files where these are asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.files_crossed", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *CALLS], help="default: all", metavar="NAME")
    parser.add_argument("--files", action="store_true", help="list them")
    arguments = parser.parse_args()
    missed = False
    for name in arguments.names or CALLS:
        make, most = CALLS[name]
        files = crossed(make())
        missed |= len(files) > most
        print(f"{name:12s} {len(files):3d} files, target {most}{' MISSED' * (len(files) > most)}")
        if arguments.files:
            print("\n".join(f"  {file}" for file in files))
    return int(missed)


if __name__ == "__main__":
    raise SystemExit(main())
