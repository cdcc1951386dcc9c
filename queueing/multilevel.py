r"""The stationary law of a chain that moves one job at a time, on a box of up to many millions of states.

In state :math:`x` class :math:`i` gains a job at rate :math:`u_i(x)` and loses one at rate :math:`d_i(x)`;
what would leave the box does not happen. The law solves the balance equations

.. math:: \pi(x) \sum_i \big(u_i(x) + d_i(x)\big)
          = \sum_i \big(u_i(x - e_i)\,\pi(x - e_i) + d_i(x + e_i)\,\pi(x + e_i)\big).

Two steps alternate.

1. A *sweep* along an axis solves the equations of one row (all states that differ in that count only)
   exactly for the row, all other rows fixed, row after row: block Gauss-Seidel, along every axis in turn
   because the rates of the classes may differ by orders of magnitude. It removes errors that vary from state
   to state, and adds positive terms only.
2. *Aggregation* corrects slow errors. Blocks of two states along every axis form a coarser box whose rates
   are the conditional means under the current :math:`\pi`; it is again a chain of the same kind, solved by
   the same method. Every block is then multiplied by the ratio of its new to its old probability [1]_.

Since aggregation is piecewise constant it corrects smooth errors by about half, so the ratio is raised to
the power ``OVERCORRECTION``. After each cycle the last laws are *recombined*: the combination (coefficients
summing to 1) with the smallest weighted sum of squares of the balance residuals is where the next cycle
starts. That removes the few modes that aggregation treats badly, such as those of classes whose rates
differ by orders of magnitude. With two visits of each coarser box per cycle (a W-cycle) errors fall by a
factor of about 2 to 20 per cycle, hardly slower on large boxes. Memory: n + 2 numbers per state for n
classes and ten for the last laws and their residuals; all coarser boxes together need less.

References
----------
.. [1] G. Horton and S. T. Leutenegger, "A multi-level solution algorithm for steady-state Markov chains",
   ACM SIGMETRICS 1994. DOI 10.1145/183018.183040.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairness.compiling import stored
from fairness.problem import FloatArray
from queueing.grid import SMALLEST, mean_counts

__all__ = ["Convergence", "multilevel"]

OVERCORRECTION = 1.5
MEMORY = 5
"""Laws that are recombined."""
COARSEST = 64
"""Boxes of at most so many states are solved by sweeps alone."""


@dataclass(frozen=True)
class Convergence:
    """How far the iteration got.

    Parameters
    ----------
    cycles : int
    change : float
        Relative change of the law (weighted by the rates out of the states) in the last sweep.
    mean_error : float
        Estimated relative error of the mean counts: their last change, extrapolated geometrically.
    reached : bool
        Whether both are within the tolerance.
    """

    cycles: int
    change: float
    mean_error: float
    reached: bool


class _Level:
    """One box: its law, its rates and how it is aggregated."""

    def __init__(self, law: FloatArray, up: FloatArray, down: FloatArray, shape: NDArray[np.int64]) -> None:
        self.law, self.up, self.down, self.shape = law, up, down, shape
        self.coarser: _Level | None = None
        self.block = np.where(shape > 2, 2, 1)
        if law.size > COARSEST and (self.block > 1).any():
            coarse = -(-shape // self.block)
            states = int(coarse.prod())
            rates = np.empty((2, len(shape), states))
            self.coarser = _Level(np.empty(states), rates[0], rates[1], coarse)

    def sweep(self, axis: int, forward: bool) -> float:
        return _sweep(self.law, self.up, self.down, self.shape, axis, forward)

    def cycle(self, visits: int) -> float:
        """One cycle from this level down; the relative change in the last sweep."""
        n = len(self.shape)
        if self.coarser is None:
            for k in range(20):
                change = self.sweep(k % n, k % (2 * n) < n)
            return change
        self.sweep(n - 1, True)
        for _ in range(visits):
            coarser = self.coarser
            _aggregate(
                *(self.law, self.up, self.down, self.shape, self.block),
                *(coarser.shape, coarser.law, coarser.up, coarser.down),
            )
            before = coarser.law.copy()
            coarser.cycle(2)
            coarser.law *= before.sum() / coarser.law.sum()
            _correct(self.law, self.shape, self.block, coarser.shape, coarser.law, before)
            for axis in range(n):
                change = self.sweep(axis, bool((axis + n) % 2))
        return change


def multilevel(
    up: FloatArray,
    down: FloatArray,
    shape: Sequence[int],
    start: FloatArray,
    *,
    tolerance: float,
    max_cycles: int,
) -> tuple[FloatArray, Convergence]:
    """Stationary law on a box.

    Parameters
    ----------
    up : ndarray of shape (n, 1) or (n, n_states), jobs per unit of time
        Birth rates, constant or per state (flat, C order).
    down : ndarray of shape (n, n_states), jobs per unit of time
        Death rates. The chain must be irreducible.
    shape : sequence of int, states per class, n >= 2
    start : ndarray of shape ``shape``
        First guess, positive where the law is not negligible.
    tolerance : float
        For the change and for the estimated relative error of the means, see :class:`Convergence`.
    max_cycles : int

    Returns
    -------
    law : ndarray of shape ``shape``
    convergence : Convergence
    """
    law = np.array(start, dtype=float).ravel()
    law /= law.sum()
    finest = _Level(law, up, down, np.array(shape, dtype=np.int64))
    history = _History(finest)
    previous, step, change, error, rates = (
        mean_counts(law.reshape(shape)),
        np.inf,
        np.inf,
        np.inf,
        (0.95, 0.95),
    )
    for cycle in range(1, max_cycles + 1):
        change = finest.cycle(1)
        law /= law.sum()
        means = mean_counts(law.reshape(shape))
        moved = float(np.max(np.abs(means - previous) / np.maximum(means, SMALLEST)))
        # The slower of the last two cycles sets the rate: progress alternates.
        rates = rates[1], min(0.95, moved / step) if step > 0 else 0.95
        error = moved / (1.0 - max(rates))
        if change <= tolerance and error <= tolerance:
            return law.reshape(shape), Convergence(cycle, change, error, True)
        previous, step = means, moved
        history.recombine(cycle)
    return law.reshape(shape), Convergence(max_cycles, change, error, False)


class _History:
    """The last laws of a level and their residuals."""

    def __init__(self, level: _Level) -> None:
        self.level = level
        self.laws = np.empty((MEMORY, level.law.size))
        self.residuals = np.empty((MEMORY, level.law.size))

    def recombine(self, cycle: int) -> None:
        """Replace the law of the level, just found by a cycle, by the best combination of the last laws."""
        law, slot, kept = self.level.law, (cycle - 1) % MEMORY, min(cycle, MEMORY)
        self.laws[slot] = law
        _residual(law, self.level.up, self.level.down, self.level.shape, self.residuals[slot])
        if kept == 1:
            return
        gram = _gram(self.residuals[:kept], law, 1e-12 * law.max())
        # Coefficients c of law + sum_k c_k (law_k - law): least squares, on the scale of each difference.
        others = [k for k in range(kept) if k != slot]
        matrix = (gram - gram[slot] - gram[:, [slot]] + gram[slot, slot])[np.ix_(others, others)]
        right = gram[slot, slot] - gram[others, slot]
        scale = np.sqrt(np.maximum(np.diagonal(matrix), 1e-300))
        coefficients = np.linalg.lstsq(matrix / np.outer(scale, scale), right / scale, rcond=1e-12)[0] / scale
        combined = (1.0 - coefficients.sum()) * law
        for k, c in zip(others, coefficients, strict=True):
            combined += c * self.laws[k]
        np.maximum(combined, 0.1 * law, out=law)
        law /= law.sum()


@stored(nogil=True)
def _sweep(
    law: FloatArray,
    up: FloatArray,
    down: FloatArray,
    shape: NDArray[np.int64],
    axis: int,
    forward: bool,
) -> float:
    """Solve row after row along an axis; return the change of the law over the law, weighted by rates out."""
    length = shape[axis]
    rows = law.size // length
    step = 1 if up.shape[1] > 1 else 0
    inflow = np.empty(length)
    exits = np.empty(length)
    factor = np.empty(length)
    value = np.empty(length)
    change = 0.0
    flow = 0.0
    hop = 1
    for i in range(axis + 1, len(shape)):
        hop *= shape[i]
    for k in range(rows):
        r = k if forward else rows - 1 - k
        s = r // hop * hop * length + r % hop
        # Flow into the states of the row from other rows, and rates out of the row.
        inflow[:] = 0.0
        exits[:] = 0.0
        stride = law.size
        for i in range(len(shape)):
            stride //= shape[i]
            if i == axis:
                continue
            x = s // stride % shape[i]
            if x > 0:
                for y in range(length):
                    place = s + y * hop
                    inflow[y] += up[i, step * (place - stride)] * law[place - stride]
                    exits[y] += down[i, place]
            if x < shape[i] - 1:
                for y in range(length):
                    place = s + y * hop
                    inflow[y] += down[i, place + stride] * law[place + stride]
                    exits[y] += up[i, step * place]
        # Elimination along the row without subtractions (Grassmann, Taksar and Heyman): leave is the rate
        # from y out of the row, directly or by way of smaller y; law(y) = value(y) + factor(y) law(y + 1).
        rise = leave = pivot = before = 0.0
        for y in range(length):
            place = s + y * hop
            total = inflow[y] + rise * before
            leave = exits[y] + (down[axis, place] * leave / pivot if y > 0 and pivot > 0 else 0.0)
            rise = up[axis, step * place] if y < length - 1 else 0.0
            pivot = rise + leave
            # A coarse state may have lost its way out where the law underflows; it then has no weight.
            before = total / pivot if pivot > 0 else 0.0
            value[y] = before
            factor[y] = down[axis, place + hop] / pivot if y < length - 1 and pivot > 0 else 0.0
        after = 0.0
        for y in range(length - 1, -1, -1):
            place = s + y * hop
            after = value[y] + factor[y] * after
            if after < SMALLEST:
                after = 0.0
            rate = exits[y]
            if y > 0:
                rate += down[axis, place]
            if y < length - 1:
                rate += up[axis, step * place]
            change += abs(after - law[place]) * rate
            flow += after * rate
            law[place] = after
    return change / flow


@stored(nogil=True)
def _aggregate(
    law: FloatArray,
    up: FloatArray,
    down: FloatArray,
    shape: NDArray[np.int64],
    block: NDArray[np.int64],
    coarse_shape: NDArray[np.int64],
    coarse_law: FloatArray,
    coarse_up: FloatArray,
    coarse_down: FloatArray,
) -> None:
    """Probabilities of the blocks, and rates through their faces given the block."""
    n = len(shape)
    length, width = shape[n - 1], block[n - 1]
    step = 1 if up.shape[1] > 1 else 0
    coarse_law[:] = 0.0
    coarse_up[:] = 0.0
    coarse_down[:] = 0.0
    for r in range(law.size // length):
        s = r * length
        base = _coarse_row(r, shape, block, coarse_shape)
        for y in range(length):
            place = base + y // width
            coarse_law[place] += law[s + y]
            if y % width == width - 1:
                coarse_up[n - 1, place] += up[n - 1, step * (s + y)] * law[s + y]
            if y % width == 0:
                coarse_down[n - 1, place] += down[n - 1, s + y] * law[s + y]
        rest = r
        for i in range(n - 2, -1, -1):
            x = rest % shape[i]
            rest //= shape[i]
            if x % block[i] == block[i] - 1:
                for y in range(length):
                    coarse_up[i, base + y // width] += up[i, step * (s + y)] * law[s + y]
            if x % block[i] == 0:
                for y in range(length):
                    coarse_down[i, base + y // width] += down[i, s + y] * law[s + y]
    for i in range(n):
        for place in range(coarse_law.size):
            if coarse_law[place] > 0:
                coarse_up[i, place] /= coarse_law[place]
                coarse_down[i, place] /= coarse_law[place]
            else:
                # A block that underflowed: any rates will do, it has no weight.
                coarse_up[i, place] = 1.0
                coarse_down[i, place] = 1.0


@stored(nogil=True)
def _correct(
    law: FloatArray,
    shape: NDArray[np.int64],
    block: NDArray[np.int64],
    coarse_shape: NDArray[np.int64],
    after: FloatArray,
    before: FloatArray,
) -> None:
    """Multiply blocks by the power of after/before, kept within [1/5, 5]; overwrites ``after``."""
    for place in range(after.size):
        ratio = after[place] / before[place] if before[place] > 0 else 1.0
        after[place] = min(5.0, max(0.2, ratio)) ** OVERCORRECTION
    length, width = shape[-1], block[-1]
    for r in range(law.size // length):
        base = _coarse_row(r, shape, block, coarse_shape)
        for y in range(length):
            law[r * length + y] *= after[base + y // width]


@stored(nogil=True)
def _coarse_row(
    row: int, shape: NDArray[np.int64], block: NDArray[np.int64], coarse_shape: NDArray[np.int64]
) -> int:
    """Place of the first state of the coarse row that holds a row."""
    last = len(shape) - 1
    rest, place, stride = row, 0, coarse_shape[last]
    for i in range(last - 1, -1, -1):
        place += (rest % shape[i]) // block[i] * stride
        rest //= shape[i]
        stride *= coarse_shape[i]
    return place


@stored(nogil=True)
def _residual(
    law: FloatArray, up: FloatArray, down: FloatArray, shape: NDArray[np.int64], residual: FloatArray
) -> None:
    """Inflow over the rate out, minus the law."""
    last = len(shape) - 1
    length = shape[last]
    step = 1 if up.shape[1] > 1 else 0
    out = np.empty(length)
    for s in range(0, law.size, length):
        inflow = residual[s : s + length]
        inflow[:] = 0.0
        out[:] = 0.0
        stride = law.size
        for i in range(last + 1):
            stride //= shape[i]
            if i == last:
                low, high = 1, length - 1
            else:
                x = s // stride % shape[i]
                low = 0 if x > 0 else length
                high = length if x < shape[i] - 1 else 0
            for y in range(low, length):
                place = s + y
                inflow[y] += up[i, step * (place - stride)] * law[place - stride]
                out[y] += down[i, place]
            for y in range(high):
                place = s + y
                inflow[y] += down[i, place + stride] * law[place + stride]
                out[y] += up[i, step * place]
        for y in range(length):
            inflow[y] = inflow[y] / out[y] - law[s + y]


@stored(nogil=True)
def _gram(residuals: FloatArray, law: FloatArray, smallest: float) -> FloatArray:
    """Products of residuals, each term over the probability of the state."""
    n = len(residuals)
    gram = np.zeros((n, n))
    for s in range(law.size):
        weight = 1.0 / max(law[s], smallest)
        for i in range(n):
            term = weight * residuals[i, s]
            for k in range(i + 1):
                gram[i, k] += term * residuals[k, s]
    for i in range(n):
        for k in range(i):
            gram[k, i] = gram[i, k]
    return gram
