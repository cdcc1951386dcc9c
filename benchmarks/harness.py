"""What every benchmark shares: the best of several runs, ratios against a yardstick of the same run."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["Row", "best_seconds"]


@dataclass(frozen=True)
class Row:
    """One line of the speed table: what was measured, the figure, the target and whether it was met."""

    name: str
    figure: str
    target: str
    met: bool | None
    note: str = ""


def best_seconds(function: Callable[[], Any], repeat: int = 3) -> float:
    """Shortest of ``repeat`` runs after one warm-up (which also compiles kernels)."""
    function()
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)
