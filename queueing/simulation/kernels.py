"""How the kernels of simulations and of replays are compiled."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from fairness.machine.compiling import helper, stored

__all__ = ["kernel", "part"]

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
