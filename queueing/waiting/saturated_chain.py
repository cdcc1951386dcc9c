r"""The saturated chain: its law, and how mean counts grow near load 1, by Poisson's equation.

Let :math:`\theta` be the throughput of the saturated chain, :math:`\varrho = \Lambda/\theta`, and V the
asymptotic variance of the number of jobs that come to the front, per unit of time, of a queue without end.
Close to load 1 the number of jobs behaves like a reflected Brownian motion with drift
:math:`-\theta(1 - \varrho)` and variance :math:`\theta + V`, of arrivals and of departures, so that

.. math:: c = \lim (1 - \varrho)\,\mathbf E[N] = \frac{\theta + V}{2\theta} .

It is 1 for M/M/1, where :math:`V = \theta`. So is the mean of FCFS known up to a bounded term [1]_.

*V.* In the saturated chain (:mod:`queueing.waiting.service_states`), with law :math:`\pi`, time passes in the
states F whose front is full; jobs come at the rates :math:`q_{xy}` of the draws, in all :math:`d(x)` per unit
of the chain's time. With Poisson's equation :math:`Qh = \theta 1_F - d` the number of jobs less
:math:`\theta` times the time that has passed is a martingale but for bounded terms, of variance

.. math:: V = \frac{1}{\pi(F)}\Big(\sum_x \pi(x) d(x) + 2\sum_{x,y} \pi(x) q_{xy} h(y)
          - 2\theta \sum_{x \in F} \pi(x) h(x)\Big)

per unit of time that has passed: expand :math:`\sum \pi(x) q_{xy} (1 + h(y) - h(x))^2` over the draws and the
like without the 1 over the other moves.

References
----------
.. [1] I. Grosof, Y. Hong, M. Harchol-Balter and A. Scheller-Wolf, "The RESET and MARC techniques, with
   application to multiserver-job analysis", Performance Evaluation 162, 2023. arXiv:2310.01621.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import splu

from fairness.exact.linear_algebra import reduced
from fairness.machine.work import current_watch
from queueing.model.finite_chain import FiniteChain
from queueing.waiting.service_states import ServiceStates

__all__ = ["MOST_EXACT", "solve_saturated"]

MOST_EXACT = 32
"""States up to which the two systems of equations are solved in fractions."""


class SaturatedChain(NamedTuple):
    """The law, (n_states,), and c; states with room in front are weighed as if time had passed."""

    law: NDArray[Any]
    heavy_traffic: Fraction | float


def solve_saturated(states: ServiceStates, *, exact: bool) -> SaturatedChain:
    """Law of a saturated chain and the limit of (1 - load) times the mean number of jobs.

    Examples
    --------
    >>> from fairness import Problem
    >>> from queueing import FCFS, System
    >>> from queueing.waiting.service_states import service_states
    >>> half = System(Problem([[1], [2]], [2]), [1, 1])
    >>> solve_saturated(service_states(half, FCFS(), 100, saturated=True), exact=True).heavy_traffic
    Fraction(53, 49)
    """
    chain = FiniteChain(states.service + states.draws)
    kept = chain.closed_class
    solved = _fractions if exact else _floats
    law, h, draws, timed, rate = solved(chain.generator()[kept][:, kept], states, kept)
    shown = timed @ law
    come = law @ (draws.sum(axis=1) + 2 * (draws @ h)) - 2 * rate * (law @ (timed * h))
    whole = np.zeros(chain.n_states, law.dtype)
    whole[kept] = law
    return SaturatedChain(whole, (rate + come / shown) / (2 * rate))


def _fractions(generator: Any, states: ServiceStates, kept: NDArray[np.intp]) -> tuple[Any, ...]:
    numbers = [
        np.vectorize(Fraction, otypes=[object])(matrix)
        for matrix in (
            generator.toarray(),
            states.draws[kept][:, kept].toarray(),
            states.full[kept].astype(int),
        )
    ]
    q, draws, timed = numbers
    n, look = len(q), lambda: current_watch().check("the constant of heavy traffic")

    def solve(matrix: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
        rows, _ = reduced(np.column_stack([matrix, right]).tolist(), n - 1, look=look)
        return np.array([row[-1] for row in rows], dtype=object)

    law = np.concatenate([[Fraction(1)], solve(q.T[1:, 1:], -q.T[1:, 0])])
    come = draws.sum(axis=1)
    rate = (law @ come) / (law @ timed)
    h = np.concatenate([[Fraction(0)], solve(q[1:, 1:], (rate * timed - come)[1:])])
    return law / law.sum(), h, draws, timed, rate


def _floats(generator: Any, states: ServiceStates, kept: NDArray[np.intp]) -> tuple[Any, ...]:
    q, draws = generator.tocsc(), states.draws[kept][:, kept]
    timed, come = states.full[kept].astype(float), np.asarray(draws.sum(axis=1)).ravel()
    # Law and h are fixed in the first state; what is left of the two systems is one matrix and its transpose.
    factors = splu(q.T[1:, 1:].tocsc())
    law = np.concatenate([[1.0], factors.solve(-q.T[1:, [0]].toarray().ravel())])
    rate = (law @ come) / (law @ timed)
    h = np.concatenate([[0.0], factors.solve((rate * timed - come)[1:], trans="T")])
    return law / law.sum(), h, draws, timed, rate
