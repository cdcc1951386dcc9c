r"""Steps to the solution of Poisson's equation on any finite irreducible chain: h with :math:`g + Qh = c`.

*Elimination* without subtractions (:mod:`queueing.chain.solvers.elimination`): where state n is eliminated,
:math:`g_x` grows by :math:`q_{xn}\,g_n/s_n` for :math:`x < n`, and so do the lengths of stays,
:math:`u_x`, which begin at 1. In the end :math:`c = g_0/u_0` and :math:`h_0 = 0`, and upwards
:math:`h_n = (g_n - c\,u_n + \sum_{y < n} q_{ny} h_y)/s_n`. However far apart rates are, no digits are lost,
if state 0 is visited often: where it is not, the states are numbered anew from one that is.

*Sparse factors.* Without the row and the column of a reference state r, :math:`-Q` is an M-matrix M, which is
factorised once (SuperLU, by the diagonal, as M-matrices allow). With :math:`M b = 1`, the mean times until r
is reached, and :math:`M a = g`, what is earned until then, :math:`h = a - c\,b`, and row r gives
:math:`c = (g_r + q_r a)/(1 + q_r b)`: earned in a cycle, over its length. r is a state that is visited often:
seldom visited ones have times that no float tells apart.

*Iteration.* The same, each system solved by GMRES with an incomplete factorisation, for chains whose factors
do not fit in memory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order
from scipy.sparse.linalg import LinearOperator, gmres, spilu

from fairness.machine.compiling import stored
from fairness.machine.memory import fits_memory, memory_guarded
from fairness.machine.work import Task
from fairness.model.problem import FloatArray
from queueing.chain.solvers.balance import grid_factors
from queueing.chain.solvers.elimination import eliminated, given_order, narrow_order

__all__ = ["Banded", "Iterated", "PoissonStep", "Sparse", "poisson_step"]

CHEAP = 2e9
"""Multiplications up to which elimination in a band, which keeps all digits, is taken."""
LONGEST = 1e13
"""Multiplications in the band from which systems are solved by iteration."""
FILL = 0.25
"""Entries of sparse factors, as part of those in the band: their order is better than that of the band."""
FASTEST = 2e9
"""Multiplications per second."""
WALK = 200
"""Jumps of the chain after which a reference state is chosen."""
RARER = 1e3
"""So much rarer than another state a reference state may be."""
INNER = 1e-8
"""Reduction by GMRES in a step."""
REMEDY = "give a chain of fewer states"

_Solve = Callable[[FloatArray], FloatArray]


class PoissonStep(ABC):
    """Steps to the solution of Poisson's equation of a chain.

    Attributes
    ----------
    method : str
        "elimination", "sparse factors" or "iteration".
    """

    method: str

    @property
    @abstractmethod
    def law(self) -> FloatArray:
        """Stationary law of the states."""

    @abstractmethod
    def __call__(self, g: FloatArray) -> FloatArray:
        """A function h for which g + Qh is nearly constant, and 0 in one state."""


def poisson_step(rates: sparse.csr_array, *, ordered: bool = False) -> PoissonStep:
    """Steps for a chain, all of whose states lead to each other, by what suits its size.

    Parameters
    ----------
    rates : sparse array of shape (n_states, n_states)
        Rates from row to column, >= 0, without a diagonal.
    ordered : bool
        Whether to number the states as they come for elimination: so that lower numbers are always reached,
        also where floats hold no rate of a long way against the drift. Default: as the band is narrow.
    """
    order, band = given_order(rates) if ordered else narrow_order(rates)
    entries = float(len(order)) * band
    if len(order) == 1 or (entries * band <= CHEAP and fits_memory(16.0 * entries)):
        return Banded(rates, order, band)
    if FILL * entries * band <= LONGEST and fits_memory(16.0 * FILL * entries):
        return Sparse(rates, FILL * entries * band)
    return Iterated(rates)


class Banded(PoissonStep):
    """Steps by elimination."""

    method = "elimination"

    def __init__(self, rates: sparse.csr_array, order: NDArray[np.int64], band: int) -> None:
        law = self._eliminate(rates, order, band)
        often = int(np.argmax(law))
        if law[often] > RARER * law[order[0]]:
            both = sparse.csr_array(rates + rates.T)
            order = breadth_first_order(both, often, return_predecessors=False).astype(np.int64)
            place = np.argsort(order)
            rows, columns = sparse.coo_array(rates).coords
            self._eliminate(rates, order, int(np.abs(place[rows] - place[columns]).max()))

    def _eliminate(self, rates: sparse.csr_array, order: NDArray[np.int64], band: int) -> FloatArray:
        """Prepare the steps; gives the law."""
        self._order = order
        with memory_guarded(f"elimination of {len(order)} states", REMEDY):
            self._law, self._upper, self._lower = eliminated(rates, order, band)
        return self._law

    @property
    def law(self) -> FloatArray:
        """Stationary law of the states."""
        return self._law

    def __call__(self, g: FloatArray) -> FloatArray:
        """Function h, 0 in the first state of the order."""
        step, ordered = np.empty_like(g), np.empty_like(g)
        _ascend.small(2 * self._upper.shape[1], len(g))(self._upper, self._lower, g[self._order], ordered)
        step[self._order] = ordered
        return step


@stored(nogil=True)
def _ascend(upper: FloatArray, lower: FloatArray, g: FloatArray, h: FloatArray) -> None:
    """Solve by the halves of an eliminated band; g is overwritten."""
    size, band = upper.shape
    stay = np.ones(size)
    for n in range(size - 1, 0, -1):
        for k in range(min(n, band)):
            g[n - 1 - k] += upper[n, k] * g[n]
            stay[n - 1 - k] += upper[n, k] * stay[n]
    c = g[0] / stay[0]
    h[0] = 0.0
    for n in range(1, size):
        value, total = g[n] - c * stay[n], 0.0
        for k in range(min(n, band)):
            value += lower[n, k] * h[n - 1 - k]
            total += lower[n, k]
        # Infinite where no float holds a way back.
        h[n] = value / total if total > 0 else np.inf


class Sparse(PoissonStep):
    """Steps by sparse factors."""

    method = "sparse factors"

    def __init__(self, rates: sparse.csr_array, work: float) -> None:
        self._rates, self._work = rates, work
        state = _often(rates)
        for _ in range(3):
            turned = self._refer(state)
            # The law relative to that of the reference state: visits in a cycle, times the stay.
            self._relative = np.nan_to_num(turned(self._row))
            best = int(np.argmax(self._relative))
            if not self._relative[best] > RARER:
                break
            state = int(self._rest[best])
        self._times = self._solve(np.ones(len(self._rest)))

    def _refer(self, state: int) -> _Solve:
        """Prepare the systems with a reference state; gives how those with the transpose of M are solved."""
        states = np.arange(self._rates.shape[0])
        self._state, self._rest = state, states[states != state]
        block = self._rates[self._rest][:, self._rest]
        leave = self._rates.sum(axis=1)[self._rest]
        self._row = self._rates[[state]].toarray()[0][self._rest]
        self._solve, turned = self._solvers((sparse.diags_array(leave) - block).tocsc())
        return turned

    def _solvers(self, matrix: sparse.csc_array) -> tuple[_Solve, _Solve]:
        """How systems with M, and with its transpose, are solved."""
        purpose = f"the factors of {matrix.shape[0]} equations"
        with (
            Task(purpose, 1, "factorisations", self._work / FASTEST, REMEDY) as task,
            memory_guarded(purpose, REMEDY),
        ):
            factors = grid_factors(matrix)
            task.advance()
        return factors.solve, lambda b: factors.solve(b, trans="T")

    @property
    def law(self) -> FloatArray:
        """Stationary law of the states."""
        law = np.ones(self._rates.shape[0])
        law[self._rest] = self._relative
        return law / law.sum()

    def __call__(self, g: FloatArray) -> FloatArray:
        """Function h, 0 in the reference state."""
        earned = self._solve(g[self._rest])
        c = (g[self._state] + self._row @ earned) / (1.0 + self._row @ self._times)
        step = np.zeros(len(g))
        step[self._rest] = earned - c * self._times
        return step


class Iterated(Sparse):
    """Steps by iteration."""

    method = "iteration"

    def __init__(self, rates: sparse.csr_array) -> None:
        super().__init__(rates, 0.0)

    def _solvers(self, matrix: sparse.csc_array) -> tuple[_Solve, _Solve]:
        with memory_guarded(f"incomplete factors of {matrix.shape[0]} equations", REMEDY):
            rough = spilu(
                matrix, drop_tol=1e-3, fill_factor=10, diag_pivot_thresh=0.0, permc_spec="MMD_AT_PLUS_A"
            )
        turned = matrix.T.tocsc()
        return (
            lambda b: _iterated(matrix, b, rough.solve),
            lambda b: _iterated(turned, b, lambda c: rough.solve(c, trans="T")),
        )


def _iterated(matrix: sparse.csc_array, b: FloatArray, rough: _Solve) -> FloatArray:
    """Solution of a system; what is missing is left to the next step."""
    near = LinearOperator(matrix.shape, matvec=rough, dtype=float)
    with Task(f"iteration of {len(b)} equations", 20, "rounds") as task:
        solution, _ = gmres(
            matrix,
            b,
            rtol=INNER,
            restart=50,
            maxiter=20,
            M=near,
            callback=lambda _: task.advance(),
            callback_type="x",
        )
    return np.asarray(solution)


def _often(rates: sparse.csr_array) -> int:
    """A state that is visited often: the likeliest after some jumps, started anywhere."""
    leave = rates.sum(axis=1)
    jumps = (sparse.diags_array(1.0 / leave) @ rates).T.tocsr()
    law = np.full(rates.shape[0], 1.0 / rates.shape[0])
    for _ in range(WALK):
        law = (law + jumps @ law) / 2
    return int(np.argmax(law / leave))
