r"""Costs and fair shares of Armada.

The cost of a queue is its dominant share (:func:`fairness.schedulers.dominant_share`); Armada schedules and
preempts to balance cost over weight [1]_. Against it stand three shares of the pool [2]_:

- the *fair share*, weight over the sum of weights;
- the *demand-capped adjusted fair share*: what no queue demands goes to the others by weight, the weighted
  max-min division of the pool with the demands as maxima;
- the *uncapped adjusted fair share*: that of a queue if its own demand were infinite.

Armada divides in rounds: at most 10, and none for the last hundredth of the pool. Its rounds also give a
queue part of what others leave over only because it takes little: its uncapped share comes out larger.

References
----------
.. [1] Armada, ``docs/scheduling_and_preempting_jobs.md`` and ``internal/scheduler/scheduling/fairness``
   (commit 207cc9e, 21 August 2026).
.. [2] Armada, ``internal/scheduler/scheduling/context/scheduling.go``, ``updateFairShares`` (same commit).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fairness.arguments.validation import require
from fairness.schedulers.division import weighted_division
from fairness.schedulers.quantities import Numbers, per_queue, quantities

__all__ = ["ArmadaShares", "armada_fair_shares", "armada_fairness_error"]

MOST_ROUNDS = 10
SMALL = 0.01
"""Parts of the pool that are not divided any more."""


class ArmadaShares(NamedTuple):
    """Shares of the pool, each of shape (n_queues,)."""

    fair: Numbers
    demand_capped: Numbers
    uncapped: Numbers


def armada_fair_shares(weights: ArrayLike, demands: ArrayLike, *, as_coded: bool = False) -> ArmadaShares:
    """Fair share of each queue, and both adjusted fair shares.

    Parameters
    ----------
    weights : array_like of shape (n_queues,), > 0
    demands : array_like of shape (n_queues,)
        Dominant share of all that a queue demands.
    as_coded : bool
        False: the divisions of the definition. True: Armada's rounds.

    Returns
    -------
    ArmadaShares
        fair, demand_capped and uncapped, parts of the pool.

    Examples
    --------
    >>> armada_fair_shares([1, 3], [0.01, 10])
    ArmadaShares(fair=array([0.25, 0.75]), demand_capped=array([0.01, 0.99]), uncapped=array([0.25, 0.99]))
    """
    weights, demands = quantities(endless=("demands",), weights=weights, demands=demands)
    demands = per_queue("demands", demands, weights.shape, "weights")
    require("weights", weights.astype(float), np.asarray(weights > 0, dtype=bool), "> 0")
    fair = weights / weights.sum() if len(weights) else weights
    if as_coded:
        return ArmadaShares(fair, *_rounds(weights.astype(float), demands.astype(float)))
    uncapped = np.empty_like(weights)
    for i in range(len(weights)):
        endless = np.array(demands)
        endless[i] = np.inf
        uncapped[i] = weighted_division(1, weights, maximum=endless)[i]
    return ArmadaShares(fair, weighted_division(1, weights, maximum=demands), uncapped)


def armada_fairness_error(adjusted: ArrayLike, actual: ArrayLike) -> float:
    """Sum of what queues are below their adjusted fair shares (``FairnessError``).

    Parameters
    ----------
    adjusted, actual : array_like of shape (n_queues,)
        Demand-capped adjusted fair shares, and costs.

    Returns
    -------
    float or Fraction

    Examples
    --------
    >>> round(armada_fairness_error([0.5, 0.5], [0.4, 0.6]), 12)
    0.1
    """
    wanted, held = quantities(adjusted=adjusted, actual=actual)
    held = per_queue("actual", held, wanted.shape, "adjusted")
    missing = np.maximum(wanted - held, 0).sum()
    return missing.item() if isinstance(missing, np.generic) else missing


def _rounds(weights: Numbers, demands: Numbers) -> tuple[Numbers, Numbers]:
    """Demand-capped and uncapped adjusted fair shares as Armada's rounds leave them."""
    capped, uncapped, spare = np.zeros((3, len(weights)))
    achieved = np.zeros(len(weights), dtype=bool)
    free = 1.0
    for _ in range(MOST_ROUNDS):
        if not free > SMALL:
            break
        asking = weights[~achieved].sum()
        uncapped += weights / (asking + np.where(achieved, weights, 0)) * (free - spare)
        if not asking > 0:
            break
        capped[~achieved] += weights[~achieved] / asking * free
        spare = np.maximum(capped - demands, 0)
        achieved |= spare > 0
        capped = np.minimum(capped, demands)
        free = spare.sum()
    return capped, uncapped
