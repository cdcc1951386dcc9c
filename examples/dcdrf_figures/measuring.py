"""How the pages measure and draw: seconds as the least of some runs, exponents of growth, an axis with decades and 0."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

__all__ = ["exponent", "least_seconds", "seconds_text", "zero_axis"]

Result = TypeVar("Result")


LONG = 10.0
"""Seconds of a run that is not made again: what disturbs a first run is little beside it."""


def least_seconds(
    work: Callable[[], Result], *, repeats: int = 2, lasting: float = 0.0, limit: float = LONG
) -> tuple[Result, float]:
    """Result and the least seconds of some runs, without the first, which wakes threads and touches memory.

    There are at least ``repeats`` runs after the first, and as many as it takes for ``lasting`` seconds, but none
    after one that took longer than ``limit``, which counts if it is the first, too.
    """
    result, first = _timed(work)
    taken = [first] if first > limit else []
    while not taken or (taken[-1] <= limit and (len(taken) < repeats or sum(taken) < lasting)):
        result, seconds = _timed(work)
        taken.append(seconds)
    return result, min(taken)


def _timed(work: Callable[[], Result]) -> tuple[Result, float]:
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def exponent(sizes: ArrayLike, values: ArrayLike) -> float:
    """Exponent of growth: slope of a straight line in log-log."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def seconds_text(seconds: float) -> str:
    """A time to three digits, in a unit that suits it."""
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"


def zero_axis(axes: Axes, least: float, most: float = 1.0) -> None:
    """Decades from that of ``least`` to that of ``most``, and 0 below them."""
    first, last = np.floor(np.log10(least)), np.ceil(np.log10(most))
    axes.set_yscale("symlog", linthresh=10.0**first, linscale=0.4)
    decades = np.arange(first, last + 1)
    axes.set_yticks([0, *10.0**decades], ["0", *(f"$10^{{{int(k)}}}$" for k in decades)], minor=False)
    axes.set_ylim(-0.3 * 10.0**first, 2 * 10.0**last)
