r"""The function of a lower certificate: the value of a controller who pays and may stop.

Given c below the least mean cost, let h be the least mean of :math:`\int_0^\tau (w\cdot X - c)\,ds` over all
policies and all times :math:`\tau` to stop. It solves the obstacle problem

.. math:: h(x) = \min\bigl(0, \min_{\varphi} T_\varphi h(x)\bigr), \qquad
   \min_\varphi\bigl(w\cdot x - c + Q_\varphi h(x)\bigr) \ge 0 ,

which is what :mod:`queueing.certificates.lower_certificate` asks for, and it is 0 where jobs are so many that
it does not pay to wait for better times: outside of a finite set H, which grows without end as c nears the
least cost.

*Found* by Howard's iteration: given H and a policy on it, h is one sparse system; then states with h > 0 stop,
states that stop go on where this pays, and every state takes its best vertex. H would grow by a layer a
round, so it starts near its end, from a set :math:`\{h_0 < M\}` of the h_0 of the least mean cost on a
set of states. On
such a set :math:`h = u - ct` with the mean cost u and the mean time t until it is left, by one factorisation for all c:
the M of a c is where about nobody would rather stop. New states come several layers at a time; those that
were too many stop again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairness.machine.work import current_watch
from fairness.model.problem import FloatArray
from queueing.optima.decisions import States
from queueing.optima.policy_iteration import Average, least_gain

__all__ = ["Level", "level_of", "level_within", "stopping_value"]

UNWILLING = 0.1
"""Part of the states of a level set that may want to stop at its c."""
STEPS = 8
"""Halvings of the square root of the level."""
LAYERS = 3
"""That are added at once, at first."""
ROUNDS = 400


class Level(NamedTuple):
    """A set of states where h_0 is small, and the c that it is large enough for."""

    states: NDArray[np.bool_]
    cost: float


def level_within(space: States, average: Average, level: float) -> Level:
    """The states below a level."""
    current_watch().check("the search for a lower bound")
    states = average.h < level
    places = np.flatnonzero(states)
    right = -np.stack([space.costs[places], np.ones(len(places))], axis=1)
    cost, time = space.factors(places, average.chosen, reflected=False).solve(right).T
    return Level(states, float(np.quantile(cost / time, 1.0 - UNWILLING)))


def level_of(space: States, average: Average, cost: float, most: float) -> Level | None:
    """The smallest level set for a c, about; None if it is above the level ``most``."""
    low, high = 0.0, np.sqrt(most)
    found = level_within(space, average, most)
    if found.cost < cost:
        return None
    for _ in range(STEPS):
        middle = (low + high) / 2
        tried = level_within(space, average, middle**2)
        if tried.cost < cost:
            low = middle
        else:
            high, found = middle, tried
    return found


def stopping_value(space: States, start: NDArray[np.bool_], average: Average, cost: float) -> FloatArray | None:
    """The h of a c, (n_states,), from a first guess of H; None if H reaches the border of the states."""
    rates, states, chosen = space.decisions.arrival_rates, start, average.chosen
    layers = LAYERS
    for _ in range(ROUNDS):
        if not states.any() or (states & space.border).any():
            return None
        current_watch().check("the search for a lower bound")
        places = np.flatnonzero(states)
        h = np.zeros(space.n_states)
        h[places] = space.factors(places, chosen, reflected=False).solve(cost - space.costs[places])
        least = least_gain(space, cost, h)
        new, falls = space.improved(h, chosen, least)
        drift = space.costs - cost + rates @ (np.append(h, 0.0)[space.up] - h) + falls
        stays = states & (h <= 0)
        joins = ~states & (drift < -least)
        if (stays == states).all() and not joins.any() and (new == chosen)[states].all():
            return h
        if np.count_nonzero(states & ~stays) > np.count_nonzero(joins):
            layers = max(1, layers // 2)
        if layers > 1:
            for _ in range(layers - 1):
                joins = joins | _neighbours(space, joins)
            joins &= ~states
        states, chosen = stays | joins, new
    return None


def _neighbours(space: States, states: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """States with a job less in ``states``."""
    found: NDArray[np.bool_] = np.append(states, False)[space.down].any(axis=0)
    return found
