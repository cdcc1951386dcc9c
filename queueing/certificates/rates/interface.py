"""How the checker asks for the tasks of a state: one form for all families of policies.

A family has a compiled kernel ``tasks(rates, counts, lower, upper, memory)``. It writes bounds of the tasks
of each class in the state ``counts``, (n,) whole numbers, into ``lower`` and ``upper``, (n,): 0 where there
are no jobs, and the exact tasks by the definition of the policy between them. Bounds may be wide, never
wrong. The kernel never raises; what it cannot tell it bounds by 0 and :math:`\\infty`. ``memory`` is work
space of the length that the family asks for: 0 at first, and kept from state to state, so that a search may
begin where the last one ended. The checker goes through the states along the last class first.
"""

from __future__ import annotations

from typing import NamedTuple

from fairness.model.problem import FloatArray

__all__ = ["Rates"]


class Rates(NamedTuple):
    """What a kernel of tasks is given."""

    demands: FloatArray  # (n, m)
    capacities: FloatArray  # (m,)
    weights: FloatArray  # (n,)
    limits: FloatArray  # (n,)
    numbers: FloatArray  # (rows, columns): what the family has prepared, such as bounds of growth rates
