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

*One elimination for both chains.* The solution of the killed chain is that of the reflected one for the right
side :math:`f - t` with :math:`t = k h`, a function of the states on the faces alone. GMRES finds t in some
ten steps, each of which solves with the factors of the reflected chain. Where :math:`f > 0` on the faces is a
source, only :math:`f + Qh \le c` is wanted there: so f is taken larger by a part that is more than what GMRES
leaves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, gmres

from fairness.machine.cores import one_thread_of_blas
from fairness.machine.memory import require_memory
from fairness.machine.work import Task
from fairness.model.problem import FloatArray
from queueing.certificates.arrival_phases import ArrivalPhases
from queueing.chain.solvers.balance import box_rates, gathered, grid_factors, outflow
from queueing.enclosures.multigrid import Multigrid
from queueing.states.box import box_name, sides

__all__ = ["PoissonEquation", "eliminated", "faces", "phased_solutions", "poisson_bytes"]

PLANE = 1_000_000
"""States of two classes up to which elimination is used, if the box is square. Others may have more, so that
the states times the shorter side are as many."""
SMALL = 4_000
"""States of three classes and more up to which elimination is used."""
REFINED = 1
"""Steps of iterative refinement."""
LEFT = 1e-4
"""Part of the source on the faces that may be left over."""
STEPS = 60
"""Of GMRES for the faces, at most; where they are not enough, the killed chain is eliminated as well."""
THREADS = 2
"""Right sides that are solved at the same time."""
ELIMINATED_SECONDS = 9e-9
"""Of elimination, per state of a plane and per length of its shorter side."""
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
    if eliminated(shape):
        # As measured on square boxes of 10^4 to 4 x 10^5 states.
        return states * (80.0 * math.log2(_shorter(shape) + 2.0) + 700.0)
    return states * (8.0 * (4 * len(shape) + 16.0 * THREADS + 16.0))


def eliminated(shape: Sequence[int]) -> bool:
    """Whether the equation is solved by elimination on a box, and not by multigrid."""
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

    def solve(self, f: FloatArray, killed: FloatArray, most: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Solutions of the reflected chain for some functions f, and of the killed chain for a source.

        By elimination the source is taken larger on the faces, by a part of at most ``2 LEFT``.

        Parameters
        ----------
        f : ndarray of shape (m, *shape)
        killed : ndarray of shape ``shape``
            The source, > 0 on the faces.
        most : ndarray of shape ``shape``
            What v should be at most on the faces; where the larger source makes it more, it is found without.

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
        if eliminated(self.shape):
            h, v = self._eliminated(rows.T, killed.ravel(), most.ravel())
            h = h.T
        else:
            h, v = self._iterated(rows, killed.ravel())
        return np.ascontiguousarray(h).reshape(f.shape), v.reshape(killed.shape)

    @cached_property
    def kill(self) -> FloatArray:
        """Rates at which the killed chain ends, (n_states,)."""
        return faces(self.up, self.shape).ravel()

    def _eliminated(
        self, f: FloatArray, killed: FloatArray, most: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """By LU factors, of shapes (n_states, m) and (n_states,)."""
        work = Task(
            f"Poisson's equation on {box_name(self.shape)} states",
            3,
            "steps",
            seconds=ELIMINATED_SECONDS * self.states * _shorter(self.shape),
            instead="give a larger width",
        )
        with work:
            return self._by_factors(f, killed, most, work)

    def _by_factors(
        self, f: FloatArray, killed: FloatArray, most: FloatArray, work: Task
    ) -> tuple[FloatArray, FloatArray]:
        matrix = sparse.diags_array(outflow(self.up, self.down).ravel()) - box_rates(self.up, self.down)
        reflected = _Factors(matrix)
        work.advance()
        h = reflected.solve(f)
        work.advance()
        v = self._ended(reflected, killed, most)
        if v is None:
            del reflected  # before there are other factors
            v = _Factors(matrix + sparse.diags_array(self.kill)).solve(killed[:, None])[:, 0]
        work.advance()
        return h, v

    def _ended(self, reflected: _Factors, source: FloatArray, most: FloatArray) -> FloatArray | None:
        """Solution of the killed chain, up to a part of the source on the faces; None if it will not do.

        With t = k v it is the solution of the reflected chain for the source less t: an equation for t, which
        is a function of the faces alone. The source is taken larger by what is left over.
        """
        there = np.flatnonzero(self.kill)
        kill, size, more = self.kill[there], source[there], source.copy()
        more[there] *= 1.0 + LEFT

        def without(t: FloatArray) -> FloatArray:
            rest = more.copy()
            rest[there] -= t
            return rest

        def step(z: FloatArray) -> FloatArray:
            right = np.zeros(self.states)
            right[there] = z * size
            result: FloatArray = z + kill * reflected.rough(right)[there] / size
            return result

        operator = LinearOperator((len(there), len(there)), matvec=step)
        first = kill * reflected.rough(more)[there] / size
        z, _ = gmres(operator, first, rtol=0.0, atol=LEFT, restart=STEPS, maxiter=1)
        v: FloatArray = reflected.solve(without(z * size)[:, None])[:, 0]
        # What counts is what is left, not what GMRES says: with paces far apart its steps are not exact.
        found = (np.abs(z - kill * v[there] / size) <= LEFT).all() and (v[there] <= most[there]).all()
        return v if found else None

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

        with work, one_thread_of_blas(), ThreadPoolExecutor(len(hands)) as pool:
            list(pool.map(solve, range(len(hands))))
        return h, v


def phased_solutions(
    phases: ArrivalPhases, down: FloatArray, f: FloatArray, killed: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """What :meth:`PoissonEquation.solve` gives, of arrivals with phases, by elimination.

    Parameters
    ----------
    phases : ArrivalPhases
    down : ndarray of shape (n, *shape), jobs per unit of time
    f : ndarray of shape (m, *shape, n_phases)
    killed : ndarray of shape (*shape, n_phases)
    """
    shape = down.shape[1:]
    name = f"Poisson's equation on {box_name(shape)} states in {phases.n_phases} phases"
    remedy = "give a larger width, or a smaller max_states"
    require_memory(2.5 * phases.n_phases**2 * poisson_bytes(shape), name, remedy)  # as measured, 1.7 GB of 2
    number = np.arange(killed.size).reshape(killed.shape)
    moves, leaving = [], []
    for i, rates in enumerate(down):
        low, high = sides(i)
        rate = np.broadcast_to(rates[high][..., None], number[high].shape)
        moves.append((number[high].ravel(), number[low].ravel(), rate.ravel()))
    for move in phases.moves:
        low, high = sides(move.place) if move.arrives else ((), ())
        here, there = number[..., move.phase], number[..., move.target]
        moves.append((here[low].ravel(), there[high].ravel(), np.full(here[low].size, float(move.rate))))
        if move.arrives:
            last = (np.take(one, -1, axis=move.place).ravel() for one in (here, there))
            leaving.append((*last, np.full(here.size // shape[move.place], float(move.rate))))
    stays, leaves = gathered(moves, killed.size), gathered(leaving, killed.size)
    out = sparse.diags_array(np.asarray((stays + leaves).sum(axis=1)).ravel())
    with Task(name, 2, "steps", instead=remedy) as work:
        h = _Factors(out - stays - leaves).solve(f.reshape(len(f), -1).T).T
        work.advance()
        v = _Factors(out - stays).solve(killed.reshape(-1, 1))
        work.advance()
    return np.ascontiguousarray(h).reshape(f.shape), v.reshape(killed.shape)


class _Factors:
    """Solves M h = b - c, h(0) = 0 for h and the number c, by LU factors of M without its first state."""

    def __init__(self, matrix: sparse.sparray) -> None:
        self.matrix = sparse.csr_array(matrix)
        inner = sparse.csc_array(self.matrix[1:, 1:])
        self.first = self.matrix[[0], 1:]
        # Small panels: a quarter less time on such grids.
        self.factors = grid_factors(inner, panel_size=2, relax=2)
        # h = y - c z with M y = b and M z = 1.
        self.z: FloatArray = self.factors.solve(np.ones(len(inner.indptr) - 1))
        self.slope = 1.0 - float((self.first @ self.z)[0])

    def _solved(self, b: FloatArray) -> tuple[FloatArray, FloatArray]:
        """About h and c, for b of shape (n_states, m)."""
        h = np.zeros(b.shape)
        h[1:] = self.factors.solve(b[1:])
        c: FloatArray = (b[0] - (self.first @ h[1:])[0]) / self.slope
        h[1:] -= np.outer(self.z, c)
        return h, c

    def rough(self, b: FloatArray) -> FloatArray:
        """About h, for b of shape (n_states,)."""
        return self._solved(b[:, None])[0][:, 0]

    def solve(self, b: FloatArray) -> FloatArray:
        """The same for b of shape (n_states, m), to rounding: improved by what all equations leave."""
        h, c = self._solved(b)
        for _ in range(REFINED):
            better, more = self._solved((b - c) - self.matrix @ h)
            h, c = h + better, c + more
        return h
