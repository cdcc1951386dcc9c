r"""A lower bound of mean holding costs under every policy, and its checker: one inequality a state.

Jobs of class i cost :math:`w_i > 0` per unit of time. Let h be a function of the counts that is 0 outside of
a finite set H, and

.. math:: (Th)(x) = \sum_i w_i x_i + \sum_i \lambda_i (h(x + e_i) - h(x))
   + \min_{\varphi \in P(x)} \sum_i \mu_i\varphi_i (h(x - e_i) - h(x)) ,

where P(x) is what can run (:mod:`queueing.certificates.running`).

*Theorem.* If :math:`Th \ge c` in all states, then under every policy, from every start,

.. math:: \liminf_{t \to \infty} \frac1t\, E \int_0^t \sum_i w_i X_i(s)\,ds \;\ge\; c .

*Proof.* h is bounded, and so are the rates. Whatever the policy looks at (the past, coin tosses, which job is
whose; not the sizes that remain), the tasks that run are in P(X), so by Dynkin's formula :math:`E h(X_t) -
h(X_0) \ge E\int_0^t (c - \sum_i w_i X_i)\,ds`. Divide by t. ∎ No Lyapunov function and no growth of h has to
be looked at, and policies that run whole tasks, or are unstable, are among those that the bound is about.

*Finitely many states.* Where neither x nor a neighbour is in H, :math:`(Th)(x) = \sum_i w_i x_i`. Of the
states outside of N, H with its neighbours, the cheapest is 0 or has a job more than one of N, since a state
less a job is cheaper. So the largest c is the least value of Th on N and of the costs of such states.
Everything is computed in fractions. How h was found does not matter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from fairness.machine.work import Task
from queueing.certificates.cost_certificate import SECONDS, CostCertificate, Extreme, Numbers
from queueing.certificates.state_function import StateFunction

__all__ = ["LowerCertificate"]


@dataclass(frozen=True, eq=False, repr=False)
class LowerCertificate(CostCertificate):
    """A lower bound of the mean holding costs under every policy, with all that is needed to check it."""

    is_upper = False
    of_whom = "every policy"

    def _proved(self, numbers: Numbers, h: StateFunction) -> Extreme:
        """The least value of Th in all states."""
        arrive, patterns, n = numbers.arrival_rates, numbers.patterns, len(numbers.costs)
        rates = [arrive, *(rates for points in patterns.values() for rates in points)]
        common = math.lcm(*{(v * h.unit).denominator for row in rates for v in row})
        common = math.lcm(common, *(w.denominator for w in numbers.costs))
        scale, whole = h.unit * common, np.zeros(len(h.counts), dtype=object)
        for i in range(n):
            whole += h.counts[:, i].astype(object) * int(numbers.costs[i] * common)
            whole += h.step(i, 1) * int(arrive[i] * scale)
        down = [h.step(i, -1) for i in range(n)]
        which = numbers.running.patterns_of(h.counts)
        with Task(f"check of {len(whole):,} states", len(whole), "states", SECONDS * len(whole)) as task:
            for number, points in enumerate(patterns.values()):
                rows = np.flatnonzero(which == number)
                if len(rows):
                    falls: list[Any] = [
                        sum(int(rate * scale) * down[i][rows] for i, rate in enumerate(point))
                        for point in points
                    ]
                    whole[rows] += np.min(falls, axis=0)
                    task.advance(len(rows))
        found = [(numbers.cost(x), tuple(x)) for x in h.frontier.tolist()]
        if len(whole):
            at = int(whole.argmin())
            found.append((Fraction(int(whole[at]), common), tuple(h.counts[at].tolist())))
        return min(found)
