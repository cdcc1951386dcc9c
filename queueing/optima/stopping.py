r"""The functions of certificates: the values of controllers who pay and may stop.

*For every policy.* Given c below the least mean cost, let h be the least mean of
:math:`\int_0^\tau (w\cdot X - c)\,ds` over all policies and all times :math:`\tau` to stop. It solves the
obstacle problem

.. math:: h(x) = \min\bigl(0, \min_{\varphi} T_\varphi h(x)\bigr), \qquad
   \min_\varphi\bigl(w\cdot x - c + Q_\varphi h(x)\bigr) \ge 0 ,

which is what :mod:`queueing.certificates.lower_certificate` asks for, and it is 0 where jobs are so many that
it does not pay to wait for better times: outside of a finite set H, which grows without end as c nears the
least cost.

*For one policy.* Given c above its mean cost, let u be the largest mean of
:math:`\int_0^\tau (w\cdot X - c)\,ds + q(X_\tau)`, where q is quadratic and :math:`f = w\cdot x + Qq` small
where jobs are many. Then :math:`q - u` is the least mean of
:math:`\int_0^\tau (c - f)\,ds`: the same problem with costs -f, the constant -c and nothing to choose. It is
for :mod:`queueing.certificates.upper_certificate`.

*Found* by Howard's iteration: given H and a policy on it, h is one sparse system; then states with h > 0
stop, states that stop go on where this pays, and every state takes its best vertex. H would grow by a layer a
round, so it starts near its end, from a set :math:`\{h_0 < M\}` of the h_0 of the least mean cost. On such a
set h is, by one factorisation for all c, :math:`u_0 - ct` with the mean cost :math:`u_0` and the mean time t
until it is left: the M of a c is where few would rather stop. New states come several layers at a time, twice
as many as long as none stop; those that were too many stop again.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairness.errors import NotConvergedError
from fairness.machine.work import Task
from fairness.model.problem import FloatArray
from queueing.optima.decisions import States
from queueing.optima.policy_iteration import least_gain

__all__ = ["Level", "Stopping"]

UNWILLING = 0.1
"""Part of the states of a level set that may want to stop at its c."""
STEPS = 8
"""Halvings of the square root of the level."""
LAYERS, MOST = 3, 8
"""That are added at once, at first, and of the shortest side divided by this, at most."""
USUAL, ROUNDS = 20, 400
"""Rounds that are usual, and at most."""


class Level(NamedTuple):
    """A level set, and the c that it is large enough for."""

    states: NDArray[np.bool_]
    constant: float


class Stopping(NamedTuple):
    """A problem of stopping.

    Attributes
    ----------
    space : States
    costs : ndarray of shape (n_states,), per unit of time
    levels : ndarray of shape (n_states,), or None
        The h_0 whose level sets are about those where the controller goes on, if it is known.
    chosen : ndarray of shape (n_states, n)
        Departure rates, to begin with, or those of the policy.
    free : bool
        Whether there is a choice of policies.
    """

    space: States
    costs: FloatArray
    levels: FloatArray | None
    chosen: FloatArray
    free: bool

    def within(self, level: float) -> Level:
        """The states below a level."""
        assert self.levels is not None
        states = self.levels < level
        places = np.flatnonzero(states)
        if not len(places):
            return Level(states, 0.0)  # nobody waits for less than nothing
        right = -np.stack([self.costs[places], np.ones(len(places))], axis=1)
        try:
            cost, time = self.space.factors(places, self.chosen, reflected=False).solve(right).T
        except NotConvergedError:
            return Level(states, math.inf)  # they are as good as all states
        return Level(states, float(np.quantile(cost / time, 1.0 - UNWILLING)))

    def level(self, constant: float, most: float) -> Level | None:
        """The smallest level set for a c, about; None if it is above the level ``most``."""
        low, high = 0.0, np.sqrt(most)
        with Task(f"level sets of {self.space.n_states:,} states", STEPS + 1, "sets") as task:
            found = self.within(most)
            if found.constant < constant:
                return None
            for _ in range(STEPS):
                task.advance()
                middle = (low + high) / 2
                tried = self.within(middle**2)
                if tried.constant < constant:
                    low = middle
                else:
                    high, found = middle, tried
        return found

    def value(self, start: NDArray[np.bool_], constant: float) -> FloatArray | None:
        """The h of a c, (n_states,), from a first guess of H; None if H reaches the border of the states.

        Raises
        ------
        NotConvergedError
            If H or the policy still changes after 400 rounds, or floats do not tell h.
        """
        space, states, chosen, layers = self.space, start, self.chosen, LAYERS
        latest, most = np.zeros_like(states), max(LAYERS, min(space.shape) // MOST)
        with Task(f"a bound on {space.n_states:,} states", USUAL, "rounds") as task:
            for _ in range(ROUNDS):
                if (states & space.border).any():
                    return None
                places, h = np.flatnonzero(states), np.zeros(space.n_states)
                if len(places):
                    right = constant - self.costs[places]
                    h[places] = space.factors(places, chosen, reflected=False).solve(right)
                new, least = chosen, least_gain(space, abs(constant), h)
                if self.free:
                    new = space.improved(h, chosen, least)
                falls = np.einsum("ki,ik->k", new, space.falls(h))
                drift = self.costs - constant + space.rises(h) + falls
                stays = states & (h <= 0)
                joins = ~states & (drift < -least)
                if (stays == states).all() and not joins.any() and (new == chosen)[states].all():
                    return h
                leave, join = np.count_nonzero(latest & ~stays), np.count_nonzero(joins)
                if leave:
                    layers = most = max(1, layers // 2 if leave > join else layers)
                for _ in range(layers - 1):
                    joins |= np.append(joins, False)[space.down].any(axis=0) & ~space.border
                latest = joins & ~states
                layers = min(2 * layers, most)
                states, chosen = stays | latest, new
                task.advance()
        raise NotConvergedError(f"a function still changes after {ROUNDS} rounds")
