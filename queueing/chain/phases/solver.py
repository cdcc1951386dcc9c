r"""The stationary law of classes with phases by iterative aggregation and disaggregation.

*Aggregation.* Summed over the phases, the chain has the counts as its states. Given the law :math:`\pi` of
the states with phases, class i leaves count x at the conditional rate :math:`d_i(x) = \varphi_i(x)\,
E_\pi[\sum_k t_k s_{ik}/x_i \mid x]`, and where arrivals have phases it joins at the mean of their rates
given x; the chain of counts with these rates moves one job at a time and is solved as any other. Every
:math:`\pi(s)` is multiplied by the new over the old probability of its counts (*disaggregation*, [1]_), and
Gauss-Seidel sweeps over the states with phases correct the law given the counts. All terms are positive. The
stationary law is a fixed point of these steps; the last few results are *mixed*
(:mod:`queueing.chain.solvers.mixture`). That shortens the way of the slow modes, those of the phases against
each other at large counts.

The law that aggregation starts from has the phases of all jobs independent, phase k with probability
proportional to the mean work done in it: the exact answer for an insensitive policy.

References
----------
.. [1] R. Koury, D. F. McAllister and W. J. Stewart, "Iterative methods for computing stationary distributions
   of nearly completely decomposable Markov chains", SIAM J. Algebraic and Discrete Methods 5, 1984. DOI
   10.1137/0605019.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fairness.machine.compiling import COUNTED, inlined, stored
from fairness.machine.work import Task
from fairness.model.problem import FloatArray
from queueing.chain.phases.states import PhaseGrid
from queueing.chain.solvers.balance import rounding_error
from queueing.chain.solvers.choose_solver import Chain
from queueing.chain.solvers.elimination import birth_death_law, box_bandwidth, eliminate_box
from queueing.chain.solvers.mixture import Mixture
from queueing.chain.solvers.multilevel import (
    PLAIN,
    SLOW,
    Convergence,
    extrapolated_error,
    moved_means,
    multilevel,
)
from queueing.states.box import SMALLEST, marginal_laws, mean_counts
from queueing.states.lower_set import LowerSet

__all__ = ["MIXED", "PhaseChain"]

CYCLES = 40
"""Cycles that a chain usually takes, a guess."""
MIXED = 8
"""Results that are mixed."""
BATCHED_WORK = 2e10
"""Operations up to which a chain with batches is eliminated, some ten seconds: while the law is not known,
what seems to pass from count to count may lead astray, at low loads for ever."""
BATCHED_CYCLES = 100
"""Those that were seen to converge took up to 76."""
COUNTS_WORK = 2e7
"""Up to so many operations the chain of the counts is solved by elimination."""
SWEEPS = 2
"""Sweeps to and fro between two aggregations."""
HIDDEN = 3.0
"""Times the error that two contractions tell: of a slower mode behind others 1.8 times that was seen."""
SAFETY = 16.0
"""Times the last change over the slowest pace: half of it fell short by up to 3 on 1,000 chains."""


class PhaseChain(Chain):
    """Jobs counted by phase, ready for the ladder of solvers.

    Parameters
    ----------
    grid : PhaseGrid
    start : ndarray of shape ``grid.sizes``
        First guess, > 0 where the law is not negligible.
    name, remedy : str
        For messages, see :class:`Chain`.
    """

    phased = True
    cheap = 1e9
    most_states = 200_000
    max_cycles = 1000

    def __init__(self, grid: PhaseGrid, start: FloatArray, *, name: str, remedy: str) -> None:
        self.grid, self.start, self.name, self.remedy = grid, start, name, remedy
        self.axes, self.states = len(grid.classes), math.prod(grid.sizes)
        if any(len(c.batches) > 1 for c in grid.classes):
            self.cheap, self.max_cycles = BATCHED_WORK, BATCHED_CYCLES

    def rates(self) -> sparse.csr_array:
        """Rates from row to column, without a diagonal."""
        return self.grid.rates()

    def eliminated(self) -> FloatArray:
        """Law of the states by elimination, in the shape of the grid."""
        return super().eliminated().reshape(self.grid.sizes)

    def iterated(self, tolerance: float, max_cycles: int) -> tuple[FloatArray, Convergence]:
        """Law by aggregation, disaggregation and sweeps."""
        with Task(f"the chain on {self.name}", CYCLES, "cycles", instead=self.remedy) as work:
            return self._cycled(tolerance, max_cycles, work.advance)

    def _cycled(
        self, tolerance: float, max_cycles: int, told: Callable[[], object]
    ) -> tuple[FloatArray, Convergence]:
        """The same; ``told`` is called after every cycle."""
        grid, law = self.grid, self.start / self.start.sum()
        tables = _tables(grid)
        stiffness = _stiffness(grid)
        mixture = Mixture(law, MIXED)
        counts = grid.counts_law(law)
        before = marginal_laws(counts)
        rates: list[float] = []
        last, change, error, mixed = math.inf, math.inf, math.inf, True
        for cycle in range(1, max_cycles + 1):
            mixture.begin(law.ravel())
            law = _reweighted(grid, law, counts, tolerance)
            for _ in range(SWEEPS):
                _sweep(law.reshape(-1), tables, True, True)
                change = float(_sweep(law.reshape(-1), tables, False, True))
            law /= law.sum()
            told()
            mixture.keep(law.ravel())
            counts = grid.counts_law(law)
            after = marginal_laws(counts)
            moved = moved_means(before, after)
            # Only a cycle that follows a cycle shows how errors contract.
            rates = [] if mixed else [*rates[-1:], moved / last if last > 0 else 0.0]
            # In a sweep a mode slower than the fastest rate by a factor moves by that part of its error only,
            # and the less the fuller the system: without this, sizes on different scales look solved too
            # early.
            slow = SAFETY * change * stiffness * (1.0 + float(mean_counts(after).max()))
            error = max(HIDDEN * extrapolated_error(moved, rates, rounding_error(after, law.size)), slow)
            if len(rates) == PLAIN and change <= tolerance and error <= tolerance:
                return law, Convergence(cycle, change, error, True)
            settling = change <= tolerance and max(moved, slow) <= tolerance
            mixed = not settling or (len(rates) == PLAIN and max(rates) > SLOW)
            last, before = moved, after
            if mixed:
                mixture.mix(law.reshape(-1))
                counts = grid.counts_law(law)
                before = marginal_laws(counts)
        return law, Convergence(max_cycles, change, error, False)

    def marginals(self, law: FloatArray) -> tuple[FloatArray, ...]:
        """Laws of the counts."""
        return marginal_laws(self.grid.counts_law(law))

    def residual(self, law: FloatArray) -> float:
        """Sum of |inflow - outflow| over the sum of all flows, including those between phases."""
        return float(_sweep(np.ascontiguousarray(law).reshape(-1), _tables(self.grid), True, False))


def _stiffness(grid: PhaseGrid) -> float:
    """Largest rate out of a state over the slowest rate of an arrival or a phase."""
    busy = [_out(c.serve) for c in grid.classes]
    come = [rate * _out(c.arrive) for c, rate in zip(grid.classes, grid.arrival_rates, strict=True)]
    most = sum(b.max() * t.max() for b, t in zip(busy, grid.tasks, strict=True)) + sum(a.max() for a in come)
    return float(most) / min(float(rates[rates > 0].min()) for rates in (*busy, *come))


def _out(moves: sparse.csr_array) -> FloatArray:
    """Rate out of each state, (n_states,)."""
    return np.asarray(moves.sum(axis=1)).ravel()


def _reweighted(grid: PhaseGrid, law: FloatArray, counts: FloatArray, tolerance: float) -> FloatArray:
    """Solve the chain of the counts, and carry the ratio of new to old to the states."""
    down, up = grid.departures(law, counts), grid.joins(law, counts)
    shape = counts.shape
    rise, fall = (rates.reshape(len(shape), -1) for rates in (up, down))
    if counts.ndim == 1:
        after = birth_death_law(up[0, :-1], down[0, 1:])
    elif counts.size * box_bandwidth(shape) ** 2 <= COUNTS_WORK:
        after = eliminate_box(rise, fall, shape).reshape(shape)
    else:
        # Not to the end: the next aggregation goes on from here.
        better, _ = multilevel(
            rise,
            fall,
            LowerSet.box(shape),
            counts,
            tolerance=max(0.1 * tolerance, 1e-14),
            max_cycles=4,
        )
        after = better.reshape(shape)
    ratio = np.divide(after, counts, out=np.ones_like(counts), where=counts > 0)
    return grid.spread(ratio, law)


class _Tables(NamedTuple):
    """Tables of all classes, one after the other.

    Row 2 i of the moves holds arrivals of class i, 2 i + 1 services.
    """

    pointers: NDArray[np.int64]
    pointer_starts: NDArray[np.int64]
    sources: NDArray[np.int64]
    weights: FloatArray
    source_starts: NDArray[np.int64]
    totals: NDArray[np.int64]
    leaving: FloatArray
    busy: FloatArray
    class_starts: NDArray[np.int64]
    sizes: NDArray[np.int64]
    shape: NDArray[np.int64]
    arrival_rates: FloatArray
    tasks: FloatArray


def _tables(grid: PhaseGrid) -> _Tables:
    """What the compiled sweep reads."""
    moves = [sparse.csr_array(m.T) for c in grid.classes for m in (c.arrive, c.serve)]
    return _Tables(
        pointers=np.concatenate([m.indptr for m in moves]).astype(np.int64),
        pointer_starts=_starts([len(m.indptr) for m in moves]),
        sources=np.concatenate([m.indices for m in moves]).astype(np.int64),
        weights=np.concatenate([m.data for m in moves]),
        source_starts=_starts([m.nnz for m in moves]),
        totals=np.concatenate([c.total for c in grid.classes]),
        leaving=np.concatenate(
            [rate * _out(c.arrive) for c, rate in zip(grid.classes, grid.arrival_rates, strict=True)]
        ),
        busy=np.concatenate([_out(c.serve) for c in grid.classes]),
        class_starts=_starts(grid.sizes),
        sizes=np.array(grid.sizes, dtype=np.int64),
        shape=np.array(grid.tasks.shape[1:], dtype=np.int64),
        arrival_rates=grid.arrival_rates,
        tasks=np.ascontiguousarray(grid.tasks.reshape(len(grid.classes), -1)),
    )


def _starts(sizes: Sequence[int]) -> NDArray[np.int64]:
    """Where each of some tables begins that stand one after the other."""
    return np.cumsum([0, *sizes[:-1]], dtype=np.int64)


@stored(**COUNTED)
def _sweep(law: FloatArray, tables: _Tables, forward: bool, store: bool) -> float:
    """One Gauss-Seidel sweep, rows along the last class; without ``store`` only the imbalance."""
    last = len(tables.sizes) - 1
    length = tables.sizes[last]
    rows = law.size // length
    flows = np.empty((2, length))
    change, flow = 0.0, 0.0
    for k in range(rows):
        r = k if forward else rows - 1 - k
        counts = _enter_row(law, tables, r, flows)
        for step in range(length):
            y = step if forward else length - 1 - step
            total, rate = _balance(law, tables, r * length, counts, y, flows)
            after = total / rate
            if after < SMALLEST:
                after = 0.0
            change += abs(total - law[r * length + y] * rate)
            flow += total
            if store:
                law[r * length + y] = after
    return change / flow


@inlined
def _enter_row(law: FloatArray, tables: _Tables, r: int, flows: FloatArray) -> int:
    """Flows into the states of a row by the classes but the last, and their rates out of these.

    Return the place of the total counts of the row where the last class has none.
    """
    totals, class_starts, sizes, shape = tables.totals, tables.class_starts, tables.sizes, tables.shape
    sources, weights, tasks = tables.sources, tables.weights, tables.tasks
    inflow, out = flows[0], flows[1]
    last = len(sizes) - 1
    length, own = sizes[last], class_starts[last]
    base, rest, counts, hop = r * length, r, 0, shape[last]
    for i in range(last - 1, -1, -1):
        counts += totals[class_starts[i] + rest % sizes[i]] * hop
        rest //= sizes[i]
        hop *= shape[i]
    for y in range(length):
        inflow[y] = out[y] = 0.0
    rest, stride, hop = r, length, shape[last]
    for i in range(last - 1, -1, -1):
        s = rest % sizes[i]
        rest //= sizes[i]
        here = totals[class_starts[i] + s]
        begin, end, first = _moves(tables, 2 * i, s)
        for e in range(begin, end):
            rate = tables.arrival_rates[i] * weights[first + e]
            source = base + (sources[first + e] - s) * stride
            for y in range(length):
                inflow[y] += rate * law[source + y]
        begin, end, first = _moves(tables, 2 * i + 1, s)
        for e in range(begin, end):
            rate = weights[first + e]
            source = base + (sources[first + e] - s) * stride
            there = counts + (totals[class_starts[i] + sources[first + e]] - here) * hop
            for y in range(length):
                inflow[y] += rate * tasks[i, there + totals[own + y]] * law[source + y]
        arrivals, rate = tables.leaving[class_starts[i] + s], tables.busy[class_starts[i] + s]
        for y in range(length):
            out[y] += arrivals + rate * tasks[i, counts + totals[own + y]]
        stride *= sizes[i]
        hop *= shape[i]
    return counts


@inlined
def _balance(
    law: FloatArray, tables: _Tables, base: int, counts: int, y: int, flows: FloatArray
) -> tuple[float, float]:
    """Flow into a state, the last class included, and its rate out of it."""
    last = len(tables.sizes) - 1
    own = tables.class_starts[last]
    sources, weights, totals = tables.sources, tables.weights, tables.totals
    total = flows[0, y]
    begin, end, first = _moves(tables, 2 * last, y)
    for e in range(begin, end):
        total += tables.arrival_rates[last] * weights[first + e] * law[base + sources[first + e]]
    begin, end, first = _moves(tables, 2 * last + 1, y)
    for e in range(begin, end):
        source = sources[first + e]
        total += weights[first + e] * tables.tasks[last, counts + totals[own + source]] * law[base + source]
    served = tables.busy[own + y] * tables.tasks[last, counts + totals[own + y]]
    return total, flows[1, y] + served + tables.leaving[own + y]


@inlined
def _moves(tables: _Tables, row: int, state: int) -> tuple[int, int, int]:
    """The moves into a state of a class: the first, the one after the last, and the place of number 0."""
    first = tables.pointer_starts[row] + state
    return tables.pointers[first], tables.pointers[first + 1], tables.source_starts[row]
