r"""How the kernels of simulations and of replays are compiled, and the heap that all of them share.

What ends stands in the order of time in a binary heap: running tasks, or jobs of one class. The heap is three
arrays: times, *turns*, by which equal times are ordered (places in the order of start), and
*codes*, what else a kernel keeps; without them codes is None, and nothing is compiled for them. Its size is
the caller's.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairness.arguments.validation import FloatArray, IntArray
from fairness.machine.compiling import helper, stored

__all__ = ["kernel", "part", "pop", "push"]

# The state of a run is a named tuple of some twenty arrays. With numba's reference counting each call to a
# helper counts every one of them up and down, atomically: measured, that is nine tenths of the run time.
# These kernels allocate nothing, so the counting is switched off (numba refuses to compile an allocation
# without it), and helpers are inlined.

_OPTIONS: dict[str, Any] = {"nogil": True, "_nrt": False}


def kernel(*helpers: ModuleType) -> Callable[[Callable[..., Any]], Any]:
    """Decorate a kernel that Python calls; ``helpers`` as for :func:`fairness.machine.compiling.stored`."""
    return stored(*helpers, **_OPTIONS)


part: Callable[..., Any] = helper(forceinline=True, **_OPTIONS)
"""Decorator of a helper of kernels: compiled, and cached, as a part of them; Python calls it as it is."""


Turns = IntArray | NDArray[np.int32]


@part
def push(times: FloatArray, turns: Turns, codes: IntArray | None, size: int, end: float, turn: int) -> int:
    """Put what started last on a heap of some size; the place where its code is to stand."""
    k = size
    while k > 0:
        parent = (k - 1) >> 1
        # It started last, so it stays below an equal end.
        if times[parent] <= end:
            break
        _move(times, turns, codes, parent, k)
        k = parent
    times[k] = end
    turns[k] = turn
    return k


@part
def pop(times: FloatArray, turns: Turns, codes: IntArray | None, size: int) -> None:
    """Take the first off a heap of some size."""
    last = size - 1
    end, turn = times[last], turns[last]
    code = 0 if codes is None else codes[last]
    k = 0
    while True:
        child = 2 * k + 1
        if child >= last:
            break
        if child + 1 < last and _before(times, turns, child + 1, times[child], turns[child]):
            child += 1
        if not _before(times, turns, child, end, turn):
            break
        _move(times, turns, codes, child, k)
        k = child
    times[k] = end
    turns[k] = turn
    if codes is not None:
        codes[k] = code


@part
def _move(times: FloatArray, turns: Turns, codes: IntArray | None, source: int, target: int) -> None:
    times[target] = times[source]
    turns[target] = turns[source]
    if codes is not None:
        codes[target] = codes[source]


@part
def _before(times: FloatArray, turns: Turns, k: int, end: float, turn: int) -> bool:
    return bool(times[k] < end or (times[k] == end and turns[k] < turn))
