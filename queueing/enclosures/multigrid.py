r"""Poisson's equation on boxes of up to many millions of states: multigrid inside GMRES.

The equation :math:`(Q - k) h = b + c`, :math:`h(0) = 0`, has the unknowns h, a function of the states, and c,
a number; Q is the generator of a chain on a box that moves one job at a time, :math:`k \ge 0` a rate of being
killed in each state. Without c it is, for every state x,

.. math:: \sum_i u_i(x)\,(h(x + e_i) - h(x)) + d_i(x)\,(h(x - e_i) - h(x)) - k(x)\,h(x) = b(x).

Two steps alternate in a *cycle*.

1. A *sweep* along an axis solves the equations of each line (the states that differ in that count only)
   exactly, all other lines fixed, along every axis in turn.
2. Blocks of two states along an axis form a coarser chain, whose rates are the conditional means under a law
   :math:`\pi` of the states: the same chain by which :mod:`queueing.chain.solvers.multilevel` corrects laws,
   here for functions, the adjoint problem [1]_. It answers to the mean residual of each block, and its answer
   is added to the states of the block. As it is constant there, it corrects smooth errors by about half;
   hence the factor ``OVERCORRECTION``, on boxes that are aggregated along all axes. Classes whose jobs come
   and go more seldom are not aggregated before the busier ones are (``SLOWER``); the coarsest chain is solved
   by elimination.

Cycles alone contract errors by a factor of about 2 to 3. As a preconditioner of GMRES [2]_ they contract
residuals by 3 to 6 each, hardly slower on large boxes, down to rounding: GMRES is started anew from the true
residual after each ``DIGITS`` reduction, as iterative refinement is. Any law that is positive serves as
:math:`\pi`, one close to the stationary law serves better.

References
----------
.. [1] G. Horton and S. T. Leutenegger, "A multi-level solution algorithm for steady-state Markov chains",
   ACM SIGMETRICS 1994. DOI 10.1145/183018.183040.
.. [2] Y. Saad and M. H. Schultz, "GMRES: a generalized minimal residual algorithm for solving nonsymmetric
   linear systems", SIAM J. Scientific and Statistical Computing 7(3), 1986. DOI 10.1137/0907058.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lu_factor, lu_solve
from scipy.sparse.linalg import LinearOperator, gmres

from fairness.errors import NotConvergedError
from fairness.machine.compiling import helper, stored
from fairness.model.problem import FloatArray
from queueing.chain.solvers.aggregation import aggregate
from queueing.chain.solvers.multilevel import OVERCORRECTION, blocks_on, chain_on
from queueing.states.lower_set import LowerSet

__all__ = ["ROUNDS", "Multigrid"]

COARSEST = 400
"""Boxes of at most so many states are solved by elimination."""
FAINT = 1e-200
"""Least weight of a state in its block, relative to the largest."""
VISITS = 2
"""Of each coarser box per cycle: a W-cycle."""
RESTART = 12
"""Steps of GMRES from one true residual, at most; each keeps one function of the states."""
DIGITS = 1e-4
"""Reduction of the residual from which GMRES is started anew."""
ROUNDS = 10
"""Starts of GMRES, at most."""
GAIN = 0.25
"""A round that leaves more than this part of the residual is the last: what is left is rounding, or worse."""
LOST = 1e-3
"""Residuals larger than this part of the right side are no rounding: it does not converge."""


Whole = NDArray[np.int64]


class Rates(NamedTuple):
    """Those of a chain on a box, whose states are numbered in C order; 0 for moves that would leave it."""

    up: FloatArray  # (n, n_states)
    down: FloatArray  # (n, n_states)
    kill: FloatArray  # (n_states,): at which a state is left for good
    shape: Whole  # (n,)


class _Level:
    """One box: a law, rates, and the coarser box."""

    def __init__(self, law: FloatArray, rates: Rates) -> None:
        self.law, self.rates = law, rates
        up, down, kill, sizes = rates
        shape = tuple(sizes.tolist())
        self.axes = np.flatnonzero(sizes > 1).tolist()
        self.h, self.b, self.r = np.empty((3, law.size))
        self.coarser: _Level | None = None
        if law.size <= COARSEST or len(self.axes) <= 1:
            self.factors = self._factors()
            return
        states = LowerSet.box(shape)
        block, coarse, rows = blocks_on(states, down @ law)
        width = int(block[-1])
        # A box that is hardly smaller is not visited twice: the cycle would cost more than its finest box.
        self.visits = VISITS if (block == 2).sum() > 1 else 1
        # Blocks along some axes only are the slow classes' own chain: its answer is right as it is.
        self.factor = OVERCORRECTION if (block == 2)[self.axes].all() else 1.0
        self.parent = (coarse.rows[rows, None] + np.arange(shape[-1]) // width).ravel().astype(np.int32)
        weights, moves = np.empty(coarse.n_states), np.empty((2, len(shape), coarse.n_states))
        aggregate(chain_on(states, law, up, down), width, rows, chain_on(coarse, weights, *moves))
        killed = np.bincount(self.parent, law * kill) / weights
        sides = np.array(coarse.shape, dtype=np.int64)
        self.coarser = _Level(weights, Rates(moves[0], moves[1], killed, sides))

    def twin(self) -> _Level:
        """The same box with work space of its own, for another thread."""
        other = copy.copy(self)
        other.h, other.b, other.r = np.empty((3, self.law.size))
        if self.coarser is not None:
            other.coarser = self.coarser.twin()
        else:
            # While LAPACK solves, scipy counts the pivots from 1, in place.
            matrix, pivots = self.factors
            other.factors = matrix, pivots.copy()
        return other

    def _factors(self) -> tuple[FloatArray, FloatArray]:
        """Of the equation with h(0) = 0 and the number c as a last unknown."""
        states, (up, down, kill, shape) = self.law.size, self.rates
        matrix = np.zeros((states + 1, states + 1))
        place = np.arange(states)
        for rise, fall, step in zip(up, down, _strides(shape), strict=True):
            matrix[place, place] -= rise + fall
            there = rise > 0
            matrix[place[there], place[there] + step] += rise[there]
            there = fall > 0
            matrix[place[there], place[there] - step] += fall[there]
        matrix[place, place] -= kill
        matrix[:states, states] = -1.0
        matrix[states, 0] = 1.0
        return lu_factor(matrix)

    def sweep(self, axis: int, forward: bool) -> None:
        _sweep(self.h, self.b, self.rates, axis, forward)

    def cycle(self, visits: int) -> None:
        """An approximate solution h to the right side b, up to the number c."""
        coarser = self.coarser
        if coarser is None:
            self.h[:] = lu_solve(self.factors, np.append(self.b, 0.0))[:-1]
            return
        self.h[:] = 0.0
        for axis in self.axes:
            self.sweep(axis, True)
        for _ in range(visits):
            _residual(self.h, self.b, self.rates, self.r)
            self.r *= self.law
            coarser.b[:] = np.bincount(self.parent, self.r, coarser.law.size)
            coarser.b /= coarser.law
            coarser.cycle(self.visits)
            coarser.h *= self.factor
            self.h += coarser.h[self.parent]
            for axis in reversed(self.axes):
                self.sweep(axis, False)


class Multigrid:
    """The equation on one box.

    Parameters
    ----------
    up, down : ndarray of shape (n, n_states), per unit of time
        Rates of the moves; 0 where they would leave the box.
    kill : ndarray of shape (n_states,), per unit of time
    law : ndarray of shape (n_states,)
        Weights of the states in their blocks, >= 0.
    shape : tuple of int
    """

    def __init__(
        self, up: FloatArray, down: FloatArray, kill: FloatArray, law: FloatArray, shape: tuple[int, ...]
    ) -> None:
        law = np.maximum(law, FAINT * law.max())
        self.law = law / law.sum()
        self.finest = _Level(self.law, Rates(up, down, kill, np.array(shape, dtype=np.int64)))
        self.nothing = np.zeros(law.size)

    def twin(self) -> Multigrid:
        """The same equation with work space of its own, for another thread."""
        other = copy.copy(self)
        other.finest = self.finest.twin()
        return other

    def _applied(self, h: FloatArray) -> FloatArray:
        """(Q - k)(h - h(0)) less its mean."""
        result = np.empty_like(h)
        _residual(h - h[0], self.nothing, self.finest.rates, result)
        return self._centred(-result)

    def _centred(self, values: FloatArray) -> FloatArray:
        return values - self.law @ values

    def _cycled(self, b: FloatArray) -> FloatArray:
        self.finest.b[:] = self._centred(b)
        self.finest.cycle(1)
        return self.finest.h - self.finest.h[0]

    def solve(self, b: FloatArray, told: Callable[[], object], tolerance: float = 0.0) -> FloatArray:
        """The h with h(0) = 0 and (Q - k) h - b as nearly constant as can be, or as the tolerance says.

        Parameters
        ----------
        b : ndarray of shape (n_states,)
        told : callable
            Called after every cycle.
        tolerance : float
            Largest residual that is not worked on.

        Raises
        ------
        NotConvergedError
            If residuals do not shrink; ``best`` is the last h.
        """
        b = self._centred(b)
        size = float(np.abs(b).max())
        h, r, left = np.zeros_like(b), b, size

        def step(z: FloatArray) -> FloatArray:
            told()
            return self._applied(self._cycled(z))

        operator = LinearOperator((b.size, b.size), matvec=step)
        for _ in range(ROUNDS):
            if left <= tolerance:
                break
            z, _ = gmres(operator, r, rtol=DIGITS, restart=RESTART, maxiter=1)
            better = h + self._cycled(z)
            better -= better[0]
            # Not centred: a residual that is the same everywhere is c.
            r = b - self._applied(better)
            after = float(np.abs(r).max())
            if not after < left:
                break
            h, slow, left = better, after > GAIN * left, after
            if slow:
                break
        if not left <= max(LOST * size, tolerance):
            raise NotConvergedError(
                f"multigrid leaves {left / size:.1e} of the right side of Poisson's equation on "
                f"{' x '.join(map(str, self.finest.rates.shape.tolist()))} states",
                best=h,
                residual=left / size,
            )
        return h


@helper(nogil=True)
def _strides(shape: Whole) -> Whole:
    """How far apart the neighbours along each axis are."""
    result = np.ones(len(shape), dtype=np.int64)
    for i in range(len(shape) - 2, -1, -1):
        result[i] = result[i + 1] * shape[i + 1]
    return result


@stored(nogil=True)
def _sweep(h: FloatArray, b: FloatArray, rates: Rates, axis: int, forward: bool) -> None:
    """Solve the equations of each line along an axis, all other lines fixed, line after line."""
    up, down, kill, shape = rates
    n = len(shape)
    stride = _strides(shape)
    step, length = stride[axis], shape[axis]
    factor = np.empty(length)
    value = np.empty(length)
    lines = h.size // length
    for number in range(lines):
        line = number if forward else lines - 1 - number
        first = (line // step) * step * length + line % step
        # Elimination without subtractions in the pivots: leave is the rate out of the line, directly or by
        # way of the states before.
        leave = pivot = before = 0.0
        for y in range(length):
            s = first + y * step
            exits, inner = kill[s], -b[s]
            for i in range(n):
                if i != axis:
                    rise, fall = up[i, s], down[i, s]
                    if rise > 0:
                        inner += rise * h[s + stride[i]]
                        exits += rise
                    if fall > 0:
                        inner += fall * h[s - stride[i]]
                        exits += fall
            fall = down[axis, s]
            if y > 0 and fall > 0:
                leave = exits + fall * leave / pivot
                inner += fall * before
            else:
                leave = exits
            rise = up[axis, s]
            pivot = rise + leave
            if pivot > 0:
                before = inner / pivot
                factor[y] = rise / pivot
            else:
                # A line that nothing leaves: any constant may be added to it.
                before = h[s]
                factor[y] = 0.0
                pivot = 1.0
            value[y] = before
        after = 0.0
        for y in range(length - 1, -1, -1):
            after = value[y] + factor[y] * after
            h[first + y * step] = after


@stored(nogil=True)
def _residual(h: FloatArray, b: FloatArray, rates: Rates, r: FloatArray) -> None:
    """Right side less left side of the equation, into ``r``."""
    up, down, kill, shape = rates
    stride = _strides(shape)
    for s in range(h.size):
        here = h[s]
        rest = b[s] + kill[s] * here
        for i in range(len(shape)):
            rise, fall = up[i, s], down[i, s]
            if rise > 0:
                rest -= rise * (h[s + stride[i]] - here)
            if fall > 0:
                rest -= fall * (h[s - stride[i]] - here)
        r[s] = rest
