"""The chain of counts on a lower set of states, ready for the ladder of solvers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fairness.machine.compiling import stored
from fairness.machine.work import Task
from fairness.model.problem import FloatArray
from queueing.chain.lower_sets.faces import Bound
from queueing.chain.solvers.balance import balance_residual, gathered
from queueing.chain.solvers.choose_solver import Chain
from queueing.chain.solvers.mixture import MEMORY
from queueing.chain.solvers.multilevel import Convergence, multilevel
from queueing.states.box import SMALLEST
from queueing.states.lower_set import LowerSet

__all__ = ["SetChain", "set_bytes", "set_seconds"]

SMALL = 20_000
"""Sets of at most so many states are solved from the guess."""
CYCLES = 12
"""Cycles that a set usually takes, a guess."""
SECONDS = 8e-6
"""Time per state and pair of classes over 25 in all cycles, about."""
ROUGH = 1e-6
"""Largest tolerance on the smaller sets."""


class SetChain(Chain):
    """Counts that move one at a time within a lower set; what would leave it does not happen.

    Parameters
    ----------
    states : LowerSet
    up : ndarray of shape (n,), jobs per unit of time
        Arrival rates.
    down : ndarray of shape (n, n_states), jobs per unit of time
        Death rates.
    bound : Bound
        How the law is guessed where nothing else is known.
    known : pair of LowerSet and ndarray, optional
        A smaller set and the law on it.
    name, remedy : str
        For messages, see :class:`Chain`.
    """

    most_states = 50_000

    def __init__(
        self,
        states: LowerSet,
        up: FloatArray,
        down: FloatArray,
        bound: Bound,
        known: tuple[LowerSet, FloatArray] | None = None,
        *,
        name: str,
        remedy: str,
    ) -> None:
        self.set, self.up, self.down, self.bound, self.known = states, up, down, bound, known
        self.name, self.remedy = name, remedy
        self.axes, self.states = states.n_classes, states.n_states

    def rates(self) -> sparse.csr_array:
        """Rates from row to column, without a diagonal."""
        moves = []
        for i in range(self.axes):
            less, more = self.set.pairs(i)
            moves.append((less, more, np.full(len(less), self.up[i])))
            moves.append((more, less, self.down[i, more]))
        return gathered(moves, self.states)

    def iterated(self, tolerance: float, max_cycles: int) -> tuple[FloatArray, Convergence]:
        """Law by multilevel, from the law on a smaller set."""
        if self.known is not None:
            return self._solved(self.set, self.down, *self.known, tolerance, max_cycles)
        return self._nested(self.set, self.down, tolerance, max_cycles)

    def _nested(
        self, states: LowerSet, down: FloatArray, tolerance: float, max_cycles: int
    ) -> tuple[FloatArray, Convergence]:
        """Law on a set, by way of the same set on half the scale."""
        smaller, law = LowerSet.box([1] * self.axes), np.ones(1)
        if states.n_states > SMALL:
            smaller = states.coarsened([2 if size > 3 else 1 for size in states.shape])
            there = states.places(smaller.counts())
            # A law that is not quite reached there is still the better guess.
            law, _ = self._nested(smaller, np.take(down, there, axis=1), max(tolerance, ROUGH), max_cycles)
        return self._solved(states, down, smaller, law, tolerance, max_cycles)

    def _solved(
        self,
        states: LowerSet,
        down: FloatArray,
        smaller: LowerSet,
        law: FloatArray,
        tolerance: float,
        max_cycles: int,
    ) -> tuple[FloatArray, Convergence]:
        guess = np.full(states.n_states, -1.0)
        places = states.places(smaller.counts())
        guess[places[places >= 0]] = law[places >= 0]
        _continue(guess, states.rows, states.below, states.heads, self.bound.gain, self.bound.ceiling)
        seconds = set_seconds(self.axes, states.n_states)
        with Task(f"the chain of {self.name}", CYCLES, "cycles", seconds, self.remedy) as work:
            return multilevel(
                *(self.up[:, None], down, states, guess),
                tolerance=tolerance,
                max_cycles=max_cycles,
                told=work.advance,
            )

    def marginals(self, law: FloatArray) -> tuple[FloatArray, ...]:
        """Laws of the counts."""
        return self.set.marginals(law)

    def residual(self, law: FloatArray) -> float:
        """Sum of the violations of all balance equations over the total flow."""
        return balance_residual(self.up, self.down, law, self.set.pairs)


def set_bytes(n_axes: int, states: float) -> float:
    """Bytes that a chain on a lower set takes: the table, the rates, the law and its last versions."""
    return 8.0 * (4 * n_axes + 2 * MEMORY + 10) * states


def set_seconds(n_axes: int, states: float) -> float:
    """Time that a chain on a lower set takes, tables and the set before included, about."""
    return SECONDS * states * n_axes**2 / 25


@stored(nogil=True)
def _continue(
    law: FloatArray,
    rows: NDArray[np.int64],
    below: NDArray[np.int64],
    heads: NDArray[np.int64],
    gain: FloatArray,
    ceiling: FloatArray,
) -> None:
    """Fill in the states whose law is below 0 by the recursion of balanced fairness."""
    last = len(below)
    sums = np.empty(gain.shape[1])
    for r in range(len(rows) - 1):
        for s in range(rows[r], rows[r + 1]):
            if law[s] >= 0:
                continue
            y = s - rows[r]
            sums[:] = 0.0
            value = SMALLEST
            for i in range(last + 1):
                jobs = y if i == last else heads[r, i]
                if jobs == 0:
                    continue
                before = law[s - 1] if i == last else law[rows[below[i, r]] + y]
                for j in range(len(sums)):
                    sums[j] += gain[i, j] * before
                value = max(value, ceiling[i] / jobs * before)
            for j in range(len(sums)):
                value = max(value, sums[j])
            law[s] = value
