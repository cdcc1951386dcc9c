"""What every benchmark shares: the best of several runs, ratios against a yardstick of the same run, memory.

Memory is the rise of the largest resident size of the process, which Linux counts and lets us count anew. It
is not ``ru_maxrss`` of :mod:`resource`: a process that another one starts begins there with what that one
held, so that nothing seems to rise after a benchmark that took more.
"""

from __future__ import annotations

import ctypes
import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TypeVar

__all__ = ["Row", "alternating_seconds", "best_seconds", "replace_section", "rise_of_peak"]

T = TypeVar("T")


@dataclass(frozen=True)
class Row:
    """One line of the speed table: what was measured, the figure, the target and whether it was met."""

    name: str
    figure: str
    target: str
    met: bool | None
    note: str = ""


def best_seconds(function: Callable[[], object], repeat: int = 3) -> float:
    """Shortest of ``repeat`` runs after one warm-up (which also compiles kernels)."""
    function()
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def alternating_seconds(functions: Sequence[Callable[[], object]], repeat: int = 5) -> list[float]:
    """Medians of runs that take turns, so that what else the machine does falls on all of them."""
    times: list[list[float]] = [[] for _ in functions]
    for _ in range(repeat + 1):
        for function, taken in zip(functions, times, strict=True):
            start = time.perf_counter()
            function()
            taken.append(time.perf_counter() - start)
    # The first turn warms up.
    return [median(taken[1:]) for taken in times]


def rise_of_peak(work: Callable[[], T]) -> tuple[T, float]:
    """Result of the work, and by how many bytes the process was larger during it than before; for Linux."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # or what was freed before would be taken without a rise
    Path("/proc/self/clear_refs").write_text("5")  # the largest size so far is now the present one
    before = _status("VmRSS")
    result = work()
    return result, _status("VmHWM") - before


def _status(name: str) -> float:
    """A size of this process, bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return 1024.0 * int(line.split()[1])
    raise OSError(f"/proc/self/status has no {name}; memory is measured on Linux only")


def replace_section(page: Path, heading: str, lines: Sequence[str]) -> None:
    """Write anew what stands on a page between a heading, given with its marks, and the next heading.

    Raises
    ------
    ValueError
        If the page has no such heading.
    """
    old = page.read_text(encoding="utf-8").split("\n")
    if heading not in old:
        raise ValueError(f"{page} has no heading {heading!r}")
    start = old.index(heading) + 1
    end = next((k for k in range(start, len(old)) if old[k].startswith("#")), len(old))
    page.write_text("\n".join([*old[:start], "", *lines, "", *old[end:]]), encoding="utf-8")
