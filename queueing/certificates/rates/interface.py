"""How the checker asks for the tasks of a state: one form for all families of policies.

A family has a compiled kernel ``tasks(rates, counts, lower, upper, memory)``. It writes bounds of the tasks
of each class in the state ``counts``, (n,) whole numbers, into ``lower`` and ``upper``, (n,): 0 where there
are no jobs, and the exact tasks by the definition of the policy between them. Bounds may be wide, never
wrong. The kernel never raises; what it cannot tell it bounds by 0 and :math:`\\infty`. ``memory`` is work
space of the length that the family asks for: 0 at first, and kept from state to state, so that a search may
begin where the last one ended. The checker goes through the states along the last class first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numba

from fairness.model.problem import FloatArray

__all__ = ["OPTIONS", "Rates", "part"]

# These kernels allocate nothing, so the counting of references to views of arrays is switched off: it took
# two thirds of the time.
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}

part: Callable[..., Any] = numba.njit(**OPTIONS)
"""Decorator of a helper that only kernels call."""


class Rates(NamedTuple):
    """What a kernel of tasks is given."""

    demands: FloatArray  # (n, m)
    capacities: FloatArray  # (m,)
    weights: FloatArray  # (n,)
    limits: FloatArray  # (n,)
    numbers: FloatArray  # (rows, columns): what the family has prepared, such as bounds of growth rates
