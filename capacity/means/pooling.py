r"""Independent simulations of one system counted together.

With the means :math:`r_k` of runs that have simulated the times :math:`T_k`, and with standard errors
:math:`s_k`,

.. math:: r = \sum_k w_k r_k, \qquad s^2 = \sum_k w_k^2 s_k^2, \qquad w_k = T_k \Big/ \sum_l T_l,

which for time averages is the mean over all the time. Service rates are loads over mean jobs, so that it is
their reciprocals which are averaged. The skewness of the sum is
:math:`\sum_k w_k^3 s_k^3 g_k / s^3`. A run that is too short for intervals, or has not seen
some class, does not count beside one that is not.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from capacity.means.found import MEANS
from fairness.model.problem import FloatArray
from queueing.simulation.replications import Estimate
from queueing.simulation.results import Simulation

__all__ = ["at_level", "pooled"]


def pooled(one: Simulation | None, other: Simulation) -> Simulation:
    """What two simulations tell together, of means alone; the later one where it is alone long enough.

    Examples
    --------
    >>> from fairness import DRF, Problem
    >>> from queueing import System, simulate
    >>> system = System(Problem([[1]], [1]), [0.5])
    >>> first, second = (simulate(system, DRF(), events=20_000, rng=seed) for seed in (1, 2))
    >>> both = pooled(first, second)
    >>> both.replications, both.events == first.events + second.events
    (20, True)
    >>> bool(both.precision < max(first.precision, second.precision))
    True
    """
    if one is None or one.warnings or one.unseen:
        return other
    if other.warnings or other.unseen:
        return one
    time = one.time + other.time
    parts = np.array([one.time, other.time]) / time
    estimates = {
        name: _pooled(one.estimates[name], other.estimates[name], parts, inverse=name == "service_rates")
        for name in MEANS
    }
    return Simulation(
        system=one.system,
        policy=one.policy,
        level=one.level,
        estimates=estimates,
        confidence=one.confidence,
        replications=one.replications + other.replications,
        events=one.events + other.events,
        time=time,
        entropy=one.entropy,
        table_shape=other.table_shape,
        warnings=(),
    )


def at_level(run: Simulation, confidence: float) -> Simulation:
    """The means of a simulation with intervals at another level."""
    estimates = {name: replace(run.estimates[name], confidence=confidence) for name in MEANS}
    return replace(run, estimates=estimates, confidence=confidence)


def _pooled(one: Estimate, other: Estimate, parts: FloatArray, *, inverse: bool) -> Estimate:
    values = np.array([one.value, other.value])
    errors = np.array([one.standard_error, other.standard_error])
    skews = np.array([np.zeros_like(one.value) if e.skewness is None else e.skewness for e in (one, other)])
    w = parts[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        if inverse:
            value = 1.0 / (w / values).sum(axis=0)
            w = w * (value / values) ** 2
        else:
            value = (w * values).sum(axis=0)
        error = np.sqrt(((w * errors) ** 2).sum(axis=0))
        skew = np.nan_to_num(((w * errors) ** 3 * skews).sum(axis=0) / error**3)
    known = None if one.skewness is None or other.skewness is None else skew
    return replace(
        one, value=value, standard_error=error, values=np.vstack([one.values, other.values]), skewness=known
    )
