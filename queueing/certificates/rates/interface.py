"""How the checker asks for the tasks of a state: one form for all families of policies.

A family has a compiled kernel ``tasks(rates, counts, lower, upper, memory)``. It writes bounds of the tasks
of each class in the state ``counts``, (n,) whole numbers, into ``lower`` and ``upper``, (n,): 0 where there
are no jobs, and the exact tasks by the definition of the policy between them. Bounds may be wide, never
wrong. The kernel never raises; what it cannot tell it bounds by 0 and :math:`\\infty`. ``memory`` is work
space of the length that the family asks for: 0 at first, and kept from state to state, so that a search may
begin where the last one ended. The checker goes through the states along the last class first.

Some families verify a guess of the solution, which they find at the head of ``memory``. It is written there
by a kernel ``guess(rates, counts, memory)`` that who asks for the check hands in: the checker looks for
nothing, and trusts nothing that it is given.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from fairness.arguments.validation import frozen
from fairness.machine.compiling import UNCOUNTED, stored
from fairness.model.problem import FloatArray
from queueing.certificates.pool import Pool

__all__ = ["Rates", "no_guess", "rates_of"]


class Rates(NamedTuple):
    """What a kernel of tasks is given."""

    demands: FloatArray  # (n, m)
    capacities: FloatArray  # (m,)
    weights: FloatArray  # (n,)
    limits: FloatArray  # (n,)
    numbers: FloatArray  # (rows, columns): what the family has prepared, such as bounds of growth rates


def rates_of(pool: Pool, numbers: FloatArray) -> Rates:
    """Those of a pool. Limits and numbers are read-only, as what the policies' own kernels are given is."""
    return Rates(pool.demands, pool.capacities, pool.weights, frozen(pool.limits), frozen(numbers))


@stored(**UNCOUNTED)
def no_guess(rates: Rates, counts: Any, memory: FloatArray) -> None:
    """In place of a guess, for families that want none."""
