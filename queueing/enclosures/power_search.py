r"""Which power for a drift function, and which box: with sides as different as the classes are.

Under :math:`V = (T/T_A)^p` each class has a spare :math:`\epsilon_i` of its own
(:mod:`queueing.certificates.drifts.powers`), and about

.. math:: b_i^p \epsilon_i\lambda_i s_i^{p-1} > \tfrac12 (p-1) \sum_k b_k^p (\lambda_k + \mu_k\bar\varphi_k)
   s_k^{p-2} \quad\text{for all i}

is all that is asked of a box. Under :math:`\alpha`-fairness :math:`b_i^p = (w_i/\psi_i)^\alpha/\mu_i` and
:math:`\epsilon_i = \psi_i/\rho_i - 1` with any targets :math:`\psi` that fit: the left sides are equal if
:math:`\psi_i - \rho_i` is proportional to :math:`(\rho_i/(w_i s_i))^\alpha`, about, and the largest multiple
that fits is taken. Near load 1 that is a box as long as the law wants in the busy direction, and no broader
in the others; the norm of :mod:`queueing.enclosures.drift_search` wants all sides of the order of
:math:`1/(1-\varrho)`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from fairness.model.problem import FloatArray
from queueing.certificates.certificate import Drift
from queueing.certificates.drifts.alpha_fair import scales_of_targets
from queueing.certificates.drifts.powers import fall
from queueing.certificates.pool import Pool
from queueing.enclosures.drift_search import FAIR, Candidate, Plan, Wish, has_lemma

__all__ = ["Power", "planned_power", "powers"]

Power = Callable[[FloatArray], tuple[Candidate, FloatArray]]
"""The norm for a box of given sides, and the spares of the classes, both of shape (n,)."""

LONGER = 1.08
"""Times the sides of a box outside of which V does not fall."""
ROUNDS = 100
"""Boxes that are tried for a power."""


def powers(pool: Pool, policy: str, parameters: Mapping[str, Any], options: list[Candidate]) -> list[Power]:
    """Powers that fall under a policy: those for a box, or those of the norms at hand."""
    if policy in FAIR and has_lemma(pool, policy, parameters):
        return [partial(_fair, pool, parameters)]
    return [partial(_fixed, one) for one in options if one.exponent >= 2]


def _fixed(one: Candidate, sides: FloatArray) -> tuple[Candidate, FloatArray]:
    return one, np.full(len(sides), one.spare)


def _fair(pool: Pool, parameters: Mapping[str, Any], sides: FloatArray) -> tuple[Candidate, FloatArray]:
    """Under alpha-fair tasks."""
    alpha = float(parameters.get("alpha", 1.0))
    rho = pool.arrival_rates * pool.mean_sizes
    more = (rho / (pool.weights * sides)) ** alpha
    room = (pool.capacities - rho @ pool.demands) / (more @ pool.demands)
    targets = rho + float(room.min()) * more
    scales = scales_of_targets(targets, pool.weights, pool.mean_sizes, alpha)
    spares = targets / rho - 1.0
    return Candidate(alpha + 1.0, scales, float(spares.min())), spares


def planned_power(pool: Pool, power: Power, wish: Wish, most: float) -> Plan | None:
    """The box, of fewer than so many states, for a power and a wish; None if there is none."""
    outlook, rates = wish.outlook, pool.arrival_rates
    leaving = np.array([tasks.high for tasks in pool.most_tasks]) / pool.mean_sizes
    second = np.array(pool.phases.second, dtype=float) / rates
    sides = np.maximum(np.ceil(wish.further * outlook.needed(rates, wish.width)), outlook.sides)
    for _ in range(ROUNDS):
        if sides.prod() >= most:
            break
        one, spares = power(sides)
        if not one.exponent >= max(2.0, wish.degree + 1.0) or not spares.min() > 0:
            break
        # What is asked at least; in the same proportions, for which the power is the same.
        shortest = 0.5 * (one.exponent - 1.0) * (second + leaving / rates) / spares
        if (shortest > sides).any():
            sides = np.ceil(float((shortest / sides).max()) * sides)
            continue
        gamma, weights = _fall(pool, one, spares, sides)
        if not gamma > 0:
            sides = np.ceil(LONGER * sides)
            continue
        flow = wish.flow(gamma, sides)
        larger = np.maximum(sides, outlook.needed(rates, flow / weights))
        if (larger == sides).all():
            drift = Drift(one.exponent, one.scales, 0.0, gamma, one.hints)
            return Plan(drift, tuple(sides.astype(int).tolist()), float(flow))
        sides = larger
    return None


def _fall(pool: Pool, one: Candidate, spares: FloatArray, sides: FloatArray) -> tuple[float, FloatArray]:
    """Gamma, and V next to each face, where it is least."""
    shape, scales = np.ones((2, pool.classes.max() + 1))
    shape[pool.classes], scales[pool.classes] = sides, one.scales
    drift = Drift(one.exponent, scales, 0.0, 1.0)
    gamma = fall(drift, pool, tuple(shape.astype(int).tolist()), spares.tolist())
    reach = one.scales * sides
    return gamma, (reach / reach.min()) ** one.exponent
