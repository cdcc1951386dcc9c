"""How the checker asks for the tasks of a state: one form for all families of policies.

A family has a compiled kernel ``tasks(rates, counts, lower, upper, memory)``. It writes bounds of the tasks
of each class in the state ``counts``, (n,) whole numbers, into ``lower`` and ``upper``, (n,): 0 where there
are no jobs, and the exact tasks by the definition of the policy between them. Bounds may be wide, never
wrong. The kernel never raises; what it cannot tell it bounds by 0 and :math:`\\infty`. ``memory`` is work
space of the length that the family asks for: 0 at first, and kept from state to state, so that a search may
begin where the last one ended. The checker goes through the states along the last class first.

Some families verify a guess of the solution, which they find at the head of ``memory``. Who asks for the
check hands in a function ``guess(rates, states, guesses)`` that writes one row (length of the guess,) for
each of some states, (n_states, n) whole numbers that follow one another in a box: the checker looks for
nothing, and trusts nothing that it is given.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from fairness.arguments.validation import IntArray, frozen
from fairness.model.problem import FloatArray
from queueing.certificates.pool import Pool

__all__ = ["Guessing", "Rates", "rates_of"]


class Rates(NamedTuple):
    """What a kernel of tasks is given."""

    demands: FloatArray  # (n, m)
    capacities: FloatArray  # (m,)
    weights: FloatArray  # (n,)
    limits: FloatArray  # (n,)
    numbers: FloatArray  # (rows, columns): what the family has prepared, such as bounds of growth rates


Guessing = Callable[[Rates, IntArray, FloatArray], None]
"""Who guesses, as told above."""


def rates_of(pool: Pool, numbers: FloatArray) -> Rates:
    """Those of a pool. Limits and numbers are read-only, as what the policies' own kernels are given is."""
    return Rates(pool.demands, pool.capacities, pool.weights, frozen(pool.limits), frozen(numbers))
