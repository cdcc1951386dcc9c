r"""What a box cuts off the means, estimated by Poisson's equation on a coarser, longer box.

A chain on a box refuses the arrivals that would leave it. Let :math:`Q` be the generator without a box,
:math:`\pi` its law, :math:`\pi_K` the law on the box, and :math:`h_k` a solution of Poisson's equation
:math:`Q h_k = E[x_k] - x_k`: up to a constant, :math:`h_k(x)` is how much jobs of class :math:`k` exceed
their mean, summed over all time, after a start in :math:`x` [1]_. Since :math:`\pi_K Q` is what the refused
arrivals would have moved,

.. math:: E[x_k] - E_K[x_k] = \sum_i \lambda_i \sum_{x:\,x_i = K_i - 1} \pi_K(x)
          \big(h_k(x + e_i) - h_k(x)\big) .

This identity holds for any box, small or large, and for any other set of states that holds with a state all
states below; only :math:`h_k` is unknown. It is solved for on a coarse grid that reaches so far
(:mod:`queueing.chain.coarse_chain`) that what happens after a state was left is followed to its end, also
where a class that is seldom there keeps others waiting by the million while it is. What is reported is the
sum over all states at the faces of the absolute effects, which may cancel in truth, times :data:`SAFETY`: an
estimate, not a bound.

*A tagged job.* With :math:`m_n(x)` the n-th moment of what is left to a tagged job beside :math:`x` others,
:math:`A m_n = -n m_{n-1}` without a box. The box refuses arrivals in three places, and each counts with what
it would have changed on the coarse, longer grid:

- while the job is there: with :math:`v = \pi_K(-A_K)^{-1}`, the time that it spends beside each state, and
  :math:`w = v(-A_K)^{-1}`, moments change by :math:`v\,\lambda\Delta m_1` and
  :math:`2 w\,\lambda\Delta m_1 + v\,\lambda\Delta m_2`;
- before it comes: the law that it finds is that of the box, as for any mean of the counts, here of
  :math:`m_n`;
- when it comes: jobs that find their own face would have found :math:`m_n` there.

References
----------
.. [1] P. W. Glynn and S. P. Meyn, "A Liapounov bound for solutions of the Poisson equation", Annals of
   Probability 24(2), 1996. DOI 10.1214/aop/1039639370.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import spsolve

from fairness.model.problem import FloatArray
from queueing.chain.coarse_chain import BirthRates, CoarseChain, births_in
from queueing.states.box import sides
from queueing.states.lower_set import LowerSet
from queueing.states.table import DeathRates

__all__ = ["moment_errors", "truncation_error"]

CHUNK = 50_000
"""States at the faces that are handled together."""
SAFETY = 1.5
"""Times the effect by the coarse grid."""
REACHES = (4.0, 64.0, 1e4, 1e9)
"""Times the ends of the axes that the grid reaches; the wider, the coarser."""
SMALL = 0.05
"""Part of the effect that the jobs of a class may be where the grid ends, for any count, or by which a longer
grid may change it."""
NOTHING = 1e-14
"""Part of the mean counts that they may be."""


def truncation_error(up: BirthRates, rates: DeathRates, states: LowerSet, law: FloatArray) -> FloatArray:
    """Estimated error of the mean counts by refused arrivals, jobs.

    Infinite where jobs pile up beyond the grid, and beyond 12 classes, where any grid is too large.

    Parameters
    ----------
    up : ndarray of shape (n,), jobs per unit of time, or callable
        Arrival rates, > 0; those of any states.
    rates : callable
        Death rates of any states; see :class:`queueing.chain.coarse_chain.CoarseChain`.
    states : LowerSet
        At least two states along every axis.
    law : ndarray of shape (n_states,)
        Law on the set.

    Returns
    -------
    ndarray of shape (n,), jobs
    """
    if not states.n_classes:
        return np.zeros(0)
    found = followed(up, rates, states, law)
    return np.full(states.n_classes, np.inf) if found is None else SAFETY * found[1]


def followed(
    up: BirthRates, rates: DeathRates, states: LowerSet, law: FloatArray
) -> tuple[CoarseChain, FloatArray] | None:
    """A coarse chain that reaches far enough, and the effect of the refused arrivals on the mean counts.

    None where jobs pile up beyond every grid, or these are too large. Arguments as of
    :func:`truncation_error`.
    """
    last = np.zeros(states.n_classes), np.zeros(states.n_classes)
    for reach in REACHES:
        chain = CoarseChain.around(states, up, rates, reach)
        if chain is None:
            return None
        costs = chain.counts.astype(float)
        effect = refused(chain, chain.poisson(costs), up, states, law)
        beyond = chain.law[chain.ends] @ costs[chain.ends]
        nothing = beyond <= SMALL * effect + NOTHING * (chain.law @ costs)
        # Jobs that pile up are the more the further a grid reaches.
        settled = (beyond <= last[0]) & (np.abs(effect - last[1]) <= SMALL * effect)
        if (nothing | settled).all() and np.isfinite(effect).all():
            return chain, effect
        last = beyond, effect
    return None


def refused(
    chain: CoarseChain, h: FloatArray, up: BirthRates, states: LowerSet, law: FloatArray
) -> FloatArray:
    """The sum over the refused arrivals of |h(x + e_i) - h(x)|, for every column of h."""
    effect = np.zeros(h.shape[1])
    for i in range(states.n_classes):
        for places in end_states(states, i):
            counts = states.counts(places)
            refusals = births_in(up, counts)[:, i] * law[places]
            effect += refusals @ np.abs(chain.slopes(h, counts, i))
    return effect


def end_states(states: LowerSet, axis: int) -> Iterator[NDArray[np.int64]]:
    """Places, in pieces, of the states that one job more of a class would leave."""
    if states.is_box:
        numbers = np.arange(states.n_states // states.shape[axis])
        stride = int(np.prod(states.shape[axis + 1 :], dtype=np.int64))
        ends = numbers // stride * stride * states.shape[axis] + numbers % stride
        ends += (states.shape[axis] - 1) * stride
    else:
        ends = np.flatnonzero(states.ends(axis))
    for begin in range(0, len(ends), CHUNK):
        yield ends[begin : begin + CHUNK]


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
