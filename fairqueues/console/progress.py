"""Progress with the remaining time: on standard error, and only if that is a terminal.

Work of more than half a minute is said before it starts, terminal or not. What a time limit or a missed
precision leaves is kept: commands show it, marked, and end with exit code 1.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

__all__ = ["Bars", "reached"]

WORTH_SAYING = 30.0
"""Seconds of work that are said where standard error is no terminal."""

T = TypeVar("T")


class Bars:
    """Progress of long work: a line before it starts, and bars."""

    def __init__(self) -> None:
        self._bars: dict[str, Any] = {}

    def __call__(self, progress: Any) -> None:
        """Show a :class:`fairness.machine.work.Progress`."""
        from tqdm import tqdm

        if progress.announced:
            if sys.stderr.isatty() or progress.remaining >= WORTH_SAYING:
                tqdm.write(f"{progress}; Ctrl-C stops", file=sys.stderr)
            self._bars[progress.what] = tqdm(
                desc=progress.what,
                unit=f" {progress.unit}",
                total=round(progress.total),
                disable=None,
                leave=False,
            )
        bar = self._bars.get(progress.what)
        if bar is not None:
            bar.total, bar.n = round(progress.total), round(progress.done)
            bar.refresh()
            if progress.done >= progress.total:
                self._bars.pop(progress.what).close()


def reached(
    runs: Mapping[str, Callable[[], T]],
    command: str,
    *,
    what: str | None = None,
    time_limit: float | None = None,
    unit: str = "policy",
    refusals: bool = False,
) -> tuple[dict[str, T], tuple[str, ...]]:
    """Results by name, and what kept any of them from its precision.

    A run that ends with NotConvergedError gives the best it found, or nothing; if all give nothing, the first
    error is raised. With ``refusals`` a run may also end with ModelError, and all may give nothing.
    """
    from tqdm import tqdm

    from fairness.errors import ModelError, NotConvergedError
    from fairness.machine.work import OutOfTime, watching
    from fairqueues.console.remedies import placed

    results: dict[str, Any] = {}
    failures: list[tuple[str, Exception]] = []
    kept = (NotConvergedError, OutOfTime, ModelError) if refusals else (NotConvergedError, OutOfTime)
    with watching(Bars(), time_limit):
        # disable=None: off where standard error is no terminal.
        for name in tqdm(runs, desc=what or command, unit=unit, disable=None, leave=False):
            try:
                results[name] = runs[name]()
            except kept as error:
                failures.append((name, error))
                best = getattr(error, "best", None)
                if hasattr(best, "to_dataframe"):
                    results[name] = best
    if not results and failures and not refusals:
        raise failures[0][1]
    return results, tuple(f"{name}: {placed(str(error), command)}" for name, error in failures)
