r"""The least mean cost on a set of states that refuses arrivals at its border, by policy iteration.

For a policy, state by state a vertex of what can run, the equation :math:`w\cdot x + Qh = c` with
:math:`h(0) = 0` is solved by two right sides for one matrix, the generator Q without one state: u, the mean
cost until this state, and t, the mean time. Its visits cut time into cycles, so c is the mean cost of a cycle
over its mean length, and :math:`h = u - ct`, less what this is at 0. The state is one that is seen often:
where the jobs present can just run the loads, which is 0 without limits. Then each state takes the vertex at
which
:math:`\sum_i \mu_i\varphi_i(h(x - e_i) - h(x))` is least, until nothing is gained [1]_. The first policy is
that of :math:`h = \sum_i w_i x_i^2`, which is stable.

Such a set proves nothing of the infinite chain: its h shapes the search for bounds
(:mod:`queueing.optima.stopping`), and its policy is evaluated apart.

References
----------
.. [1] R. A. Howard, "Dynamic Programming and Markov Processes", MIT Press, 1960.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairness.errors import NotConvergedError
from fairness.machine.work import Task
from fairness.model.problem import FloatArray
from queueing.optima.decisions import States

__all__ = ["INNER", "Average", "least_gain", "least_mean_cost"]

USUAL, ROUNDS = 4, 100
"""Rounds that are usual, and at most."""
INNER = 0.8
"""Part of the sides of a set where its border hardly changes the best policy."""
GAIN, ROUNDING = 1e-10, 1e-13
"""A change of policy that gains less, relative to the mean cost or to h times the rates, may be rounding."""


class Average(NamedTuple):
    """The best policy on a set of states."""

    space: States
    cost: float  # mean, per unit of time
    h: FloatArray  # (n_states,)
    chosen: FloatArray  # departure rates, (n_states, n)


def least_mean_cost(space: States, little: float, known: Average | None = None) -> Average:
    """Policy iteration on a set of states until a round gains little, relatively.

    It may begin with the best policy on a smaller set.

    Raises
    ------
    NotConvergedError
        If policies still improve after 100 rounds.
    """
    chosen = space.improved(space.counts**2 @ np.array(space.numbers.costs, dtype=float), None, 0.0)
    if known is not None:
        inner = known.space.inner(INNER)
        chosen[space.set.places(known.space.counts[inner])] = known.chosen[inner]
    often, best = space.often, None
    others = np.delete(np.arange(space.n_states), often)
    right = -np.stack([space.costs[others], np.ones(space.n_states - 1)], axis=1)
    with Task(f"policy iteration on {space.n_states:,} states", USUAL, "rounds") as task:
        for _ in range(ROUNDS):
            cycle = np.zeros((space.n_states, 2))
            cycle[others] = space.factors(others, chosen, reflected=True).solve(right)
            after = np.append(cycle, [[0.0, 0.0]], axis=0)
            cost, time = (
                space.arrival_rates @ after[space.up[:, often]] + chosen[often] @ after[space.down[:, often]]
            )
            mean = float((space.costs[often] + cost) / (1.0 + time))
            h = cycle[:, 0] - mean * cycle[:, 1]
            h -= h[0]
            # Costs that rise, by rounding, are those of a worse policy.
            if best is not None and not mean <= best.cost:
                return best
            new, before = space.improved(h, chosen, least_gain(space, mean, h)), best
            best = Average(space, mean, h, chosen)
            if (new == chosen).all() or (before is not None and before.cost - mean < little * mean):
                return best
            chosen = new
            task.advance()
    raise NotConvergedError(f"policies still improve after {ROUNDS} rounds of policy iteration")


def least_gain(space: States, mean: float, h: FloatArray) -> float:
    """What a change must gain to be more than rounding."""
    return max(GAIN * mean, ROUNDING * float(np.abs(h).max()) * space.fastest)
