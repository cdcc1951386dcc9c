r"""What a box cuts off the moments of a tagged job's duration.

With :math:`m_n(x)` the n-th moment of what is left to a tagged job beside :math:`x` others,
:math:`A m_n = -n m_{n-1}` without a box. The box refuses arrivals in three places, and each counts with what
it would have changed on the coarse, longer grid of :mod:`queueing.chain.truncation`:

- while the job is there: with :math:`v = \pi_K(-A_K)^{-1}`, the time that it spends beside each state, and
  :math:`w = v(-A_K)^{-1}`, moments change by :math:`v\,\lambda\Delta m_1` and
  :math:`2 w\,\lambda\Delta m_1 + v\,\lambda\Delta m_2`;
- before it comes: the law that it finds is that of the box, as for any mean of the counts, here of
  :math:`m_n`;
- when it comes: jobs that find their own face would have found :math:`m_n` there.

The sum of the absolute effects, times the safety of that module, is an estimate, not a bound.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import spsolve

from fairness.model.problem import FloatArray
from queueing.chain.coarse_chain import CoarseChain
from queueing.chain.truncation import SAFETY, end_states, followed, refused
from queueing.states.box import sides
from queueing.states.lower_set import LowerSet
from queueing.states.table import DeathRates

__all__ = ["moment_errors"]


def moment_errors(
    up: FloatArray, rates: DeathRates, own: int, law: FloatArray, stays: FloatArray, waits: FloatArray
) -> tuple[float, float]:
    """Estimated errors of the first two moments of the duration, units of time and their square.

    Parameters
    ----------
    up : ndarray of shape (n,), jobs per unit of time
        Arrival rates.
    rates : callable
        Death rates of any states.
    own : int
        Axis of the class of the tagged job.
    law : ndarray of shape ``shape``
        Law on the box, the tagged job included.
    stays, waits : ndarray of shape (n_others,)
        v and w, over the states of the others.
    """
    found = followed(up, rates, LowerSet.box(law.shape), law.ravel())
    if found is None:
        return np.inf, np.inf
    chain = found[0]
    moments = _moments(chain, up, rates, own)
    with_room, _ = sides(own)
    others = LowerSet.box(law[with_room].shape)
    while_there = refused(chain, moments, up, others, stays)
    while_there[1] += 2.0 * refused(chain, moments[:, :1], up, others, waits)[0]
    whole = LowerSet.box(law.shape)
    before = refused(chain, chain.poisson(moments), up, whole, law.ravel())
    missed = np.zeros(2)
    for places in end_states(whole, own):
        missed += law.ravel()[places] @ chain.values(moments, whole.counts(places))
    first, second = SAFETY * (while_there + before + missed)
    return float(first), float(second)


def _moments(chain: CoarseChain, up: FloatArray, rates: DeathRates, own: int) -> FloatArray:
    """First two moments of what is left to a tagged job, at the points; (n_points, 2)."""
    more = np.zeros(len(up), dtype=np.int64)
    more[own] = 1

    def beside(counts: NDArray[np.int64]) -> FloatArray:
        served = rates(counts + more)
        served[:, own] *= counts[:, own] / (counts[:, own] + 1.0)
        return served

    leave = rates(chain.counts + more)[:, own] / (chain.counts[:, own] + 1.0)
    moves = chain.with_rates(up, beside).rates
    matrix = (sparse.diags_array(leave + moves.sum(axis=1)) - moves).tocsc()
    once = spsolve(matrix, np.ones(len(leave)))
    return np.stack([once, spsolve(matrix, 2.0 * once)], axis=1)
