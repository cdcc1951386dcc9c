r"""The two functions of the states that a certificate consists of: solutions of Poisson's equation on a box.

The chain of counts moves up at rates :math:`\lambda_i` and down at rates :math:`d_i(x)`. On a box :math:`A`
it is either *reflected* at the faces, where arrivals that would leave are lost, or *killed* there, at the
rate :math:`k(x) = \sum_{i: x_i = s_i - 1} \lambda_i`. With :math:`Q_A` the generator of the reflected chain,

.. math:: (Q_A - k)\,h = c - f, \qquad h(0) = 0,

where :math:`k = 0` for the reflected chain, has one solution: the function h and the number c. Of the
reflected chain c is the mean of f in the stationary law of the box; of the killed one it is the mean rate of
f in a cycle that returns to the empty state, or is killed.

Nothing rests on the accuracy of what is found here: a checker puts it into inequalities. But the bounds are
as far apart as :math:`f + (Q_A - k) h` varies, so it is found to rounding: with up to two classes, and on
small boxes, by elimination (SuperLU without pivots, which these matrices do not need, and a step of iterative
refinement), else by :mod:`queueing.enclosures.multigrid`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import SuperLU, splu

from fairness.machine.memory import require_memory
from fairness.machine.work import Task
from fairness.model.problem import FloatArray
from queueing.chain.solvers.box_rates import box_rates, outflow
from queueing.enclosures.multigrid import Multigrid
from queueing.states.box import box_name

__all__ = ["PoissonEquation", "faces", "poisson_bytes"]

PLANE = 600_000
"""States of two classes up to which elimination is used, if the box is square. Others may have more, so that
the states times the shorter side are as many."""
SMALL = 4_000
"""States of three classes and more up to which elimination is used."""
THREADS = 2
"""Right sides that are solved at the same time."""
CYCLES = 30
"""Cycles that a right side takes, roughly."""
CYCLE_SECONDS = 2e-7
"""Of a cycle, per state."""


def faces(rates: FloatArray, shape: Sequence[int]) -> FloatArray:
    """Rate of arrivals that would leave the box in each state, of shape ``shape``."""
    result = np.zeros(shape)
    for i, rate in enumerate(rates):
        np.moveaxis(result, i, 0)[-1] += rate
    return result


def poisson_bytes(shape: Sequence[int]) -> float:
    """Bytes that are taken at the peak, by three right sides or so."""
    states = math.prod(map(float, shape))
    if _direct(shape):
        # Factors of one chain at a time hold some 20 log2(shorter side) numbers and places per state.
        return states * (12.0 * 20.0 * math.log2(_shorter(shape) + 2.0) + 600.0)
    return states * (8.0 * (4 * len(shape) + 16.0 * THREADS + 16.0))


def _direct(shape: Sequence[int]) -> bool:
    states = math.prod(shape)
    plane = sum(size > 1 for size in shape) <= 2
    return states <= SMALL or (plane and states * _shorter(shape) <= PLANE**1.5)


def _shorter(shape: Sequence[int]) -> int:
    """The second longest side of a box, the shorter one of a plane."""
    return sorted((1, *shape))[-2]


class PoissonEquation:
    """Poisson's equation of a chain of counts on a box.

    Parameters
    ----------
    up : ndarray of shape (n,), jobs per unit of time
        Arrival rates, > 0.
    down : ndarray of shape (n, *shape), jobs per unit of time
    law : ndarray of shape ``shape``
        About the stationary law; only a guide.
    """

    def __init__(self, up: FloatArray, down: FloatArray, law: FloatArray) -> None:
        self.up, self.down, self.law = up, down, law
        self.shape = down.shape[1:]
        self.states = math.prod(self.shape)
        require_memory(
            poisson_bytes(self.shape),
            f"Poisson's equation on {box_name(self.shape)} states",
            "give a larger width, or a smaller max_states",
        )

    def solve(self, f: FloatArray, killed: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Solutions of the reflected chain for some functions f, and of the killed chain for one.

        Parameters
        ----------
        f : ndarray of shape (m, *shape)
        killed : ndarray of shape ``shape``

        Returns
        -------
        h : ndarray of shape (m, *shape)
        v : ndarray of shape ``shape``

        Raises
        ------
        NotConvergedError
            If multigrid does not converge.
        """
        rows = f.reshape(len(f), -1)
        if _direct(self.shape):
            h = self._eliminated(rows.T, np.zeros(self.states)).T
            v = self._eliminated(killed.reshape(-1, 1), self.kill)
        else:
            h, v = self._iterated(rows, killed.ravel())
        return np.ascontiguousarray(h).reshape(f.shape), v.reshape(self.shape)

    @cached_property
    def kill(self) -> FloatArray:
        """Rates at which the killed chain ends, (n_states,)."""
        return faces(self.up, self.shape).ravel()

    def _eliminated(self, f: FloatArray, kill: FloatArray) -> FloatArray:
        """By LU factors, (n_states, m); h(0) = 0 leaves a regular matrix, and the first row tells c."""
        exits = outflow(self.up, self.down).ravel() + kill
        matrix = sparse.diags_array(exits) - box_rates(self.up, self.down)
        inner = sparse.csc_array(matrix[1:, 1:])
        first = sparse.csr_array(matrix)[[0], 1:]
        factors = _factors(inner)
        # h = y - c z with (k - Q) y = f and (k - Q) z = 1.
        right = np.column_stack([f[1:], np.ones(self.states - 1)])
        both = factors.solve(right)
        both += factors.solve(right - inner @ both)
        y, z = both[:, :-1], both[:, -1]
        c = (f[0] - (first @ y)[0]) / (1.0 - (first @ z)[0])
        h = np.zeros(f.shape)
        h[1:] = y - np.outer(z, c)
        # The refinement of h itself, whose residual is what counts.
        h[1:] += factors.solve((f[1:] - c) - inner @ h[1:])
        return h

    def _iterated(self, f: FloatArray, killed: FloatArray) -> tuple[FloatArray, FloatArray]:
        up = np.empty(self.down.shape)
        for i, rate in enumerate(self.up):
            up[i] = rate
            np.moveaxis(up[i], i, 0)[-1] = 0.0
        rates = up.reshape(len(up), -1), np.ascontiguousarray(self.down).reshape(len(up), -1)
        law = self.law.ravel()
        ended = Multigrid(*rates, self.kill, law, self.shape)
        reflected = Multigrid(*rates, np.zeros(self.states), law, self.shape)
        # As many hands as threads, each with work space of its own; one begins with the killed chain.
        hands = [reflected.twin() for _ in range(min(THREADS, len(f)))]
        total = (len(f) + 1) * CYCLES
        work = Task(
            f"Poisson's equation on {box_name(self.shape)} states",
            total,
            "cycles",
            seconds=total * CYCLE_SECONDS * self.states / THREADS,
            instead="give a larger width",
        )
        h, v = np.empty_like(f), np.empty(self.states)

        def solve(hand: int) -> None:
            if hand == len(hands) - 1:
                v[:] = ended.solve(-killed, work.advance)
            for k in range(hand, len(f), len(hands)):
                h[k] = hands[hand].solve(-f[k], work.advance)

        with work, ThreadPoolExecutor(len(hands)) as pool:
            list(pool.map(solve, range(len(hands))))
        return h, v


def _factors(matrix: sparse.csc_array) -> SuperLU:
    return splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
