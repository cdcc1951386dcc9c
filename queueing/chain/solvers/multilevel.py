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
2. *Aggregation* corrects slow errors. Blocks of two states along an axis form a coarser box whose rates are
   the conditional means under the current :math:`\pi`; it is again a chain of the same kind, solved by the
   same method, the last one by elimination. Every block is then multiplied by the ratio of its new to its
   old probability [1]_.

*Time scales.* A class whose jobs come and go ``SLOWER`` times more seldom than those of the busiest is not
aggregated before the busier ones are, down to one state if need be: with two fast classes and one slow, an
error that is constant over the fast pair and jumps from count to count of the slow class is seen by no sweep,
and by no block of two. So nearly decomposable chains end in the chain of their slow classes, as in [2]_, and
are solved as fast as others.

Since aggregation is piecewise constant it corrects smooth errors by about half, so the ratio is raised to
the power ``OVERCORRECTION`` on boxes that are aggregated along all axes - near the end, and unless it makes
cycles diverge, as it may where drifts lead far. There, too, the next cycle starts from a *mixture* of the
last laws (:mod:`queueing.chain.solvers.mixture`). With two visits of each coarser box per cycle (a W-cycle)
errors fall by a factor of about 2 to 20 per cycle, hardly slower on large boxes. Memory: n + 3 numbers per
state for n classes and ten for the last laws and their steps; all coarser boxes together need less.

*The error of the means.* The change by one cycle says little where cycles contract slowly, and mixing hides
how they do. So the last cycles are not mixed: the larger of two successive contractions, :math:`r`, and the
last move :math:`\delta` of the marginal laws, :math:`\delta = \max_i \sum_x x |\Delta \pi_i(x)| / E[x_i]`,
give ``SAFETY`` :math:`\cdot\, \delta r / (1 - r)`. A second estimate needs no contraction: between x and
x + 1 jobs of a class as many go up as down, so each marginal must be the law of the birth-death chain with
its own mean rates. The larger of both is claimed, and no less than the rounding error.

References
----------
.. [1] G. Horton and S. T. Leutenegger, "A multi-level solution algorithm for steady-state Markov chains",
   ACM SIGMETRICS 1994. DOI 10.1145/183018.183040.
.. [2] R. Koury, D. F. McAllister and W. J. Stewart, "Iterative methods for computing stationary distributions
   of nearly completely decomposable Markov chains", SIAM J. Algebraic and Discrete Methods 5, 1984. DOI
   10.1137/0605019.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from fairness.model.problem import FloatArray
from queueing.chain.solvers import aggregation as kernels
from queueing.chain.solvers.balance import rounding_error
from queueing.chain.solvers.elimination import Numbering, birth_death_law, eliminate_counts
from queueing.chain.solvers.mixture import Mixture
from queueing.states.box import SMALLEST
from queueing.states.lower_set import LowerSet, Whole

__all__ = [
    "OVERCORRECTION",
    "PLAIN",
    "SLOW",
    "Convergence",
    "blocks_on",
    "chain_on",
    "extrapolated_error",
    "moved_means",
    "multilevel",
]

OVERCORRECTION = 1.5
SLOWER = 4.0
"""Classes that move more seldom than the busiest by this factor are not aggregated yet."""
COARSEST = 64
"""Boxes of at most so many states are solved by elimination."""
ROUNDED = 64**2
"""States whose eliminations add to the rounding: on larger boxes sweeps correct those of others."""
FAR = 1e-3
"""While sweeps change the law by more, cycles are neither mixed nor overcorrected."""
ROAD = 20
"""Cycles far from the end that may bring nothing."""
GROWN = 4.0
"""Times the least change so far: cycles that come to this diverge."""
NEAR = 0.1
"""Laws are mixed when a cycle moves them by less: further away they are no small errors."""
PLAIN = 2
"""Contractions in a row, by cycles without mixing, from which the error is told."""
CLOSE = 3.0
"""Times the tolerance: when a cycle moves the law by less, mixing ends."""
USUAL = 0.4
"""What plain cycles contract by at least, as far as was seen: a smaller rate is an accident of two modes."""
PATIENCE = 8
"""Cycles that may find the law settled but the flows between counts not balanced."""
SLOW = 0.9
"""Contractions beyond this are not waited for."""
SAFETY = 2.0
"""Times the extrapolated error, of which up to 0.9 was seen on 10,000 chains."""


@dataclass(frozen=True)
class Convergence:
    """How far the iteration got.

    Parameters
    ----------
    cycles : int
    change : float
        Relative change of the law (weighted by the rates out of the states) in the last sweep.
    mean_error : float
        Estimated relative error of the mean counts (see the module docstring).
    reached : bool
        Whether both are within the tolerance.
    """

    cycles: int
    change: float
    mean_error: float
    reached: bool


def chain_on(states: LowerSet, law: FloatArray, up: FloatArray, down: FloatArray) -> kernels.Chain:
    """A chain on a set of states as the kernels want it."""
    return kernels.Chain(law, up, down, states.rows, states.below, states.above)


def blocks_on(states: LowerSet, pace: FloatArray) -> tuple[Whole, LowerSet, Whole]:
    """Blocks of two along the axes of busy classes, the set of these, and the row of it in which each row is.

    ``pace`` tells how often the jobs of each class come and go, (n,).
    """
    shape = np.array(states.shape)
    block = np.where((shape > 1) & (pace * SLOWER >= pace.max()), 2, 1)
    coarse = states.coarsened(block.tolist())
    return block, coarse, coarse.places(states.heads // block[:-1])


class _Level:
    """One set of states: its law, its rates and how it is aggregated."""

    def __init__(self, law: FloatArray, up: FloatArray, down: FloatArray, states: LowerSet) -> None:
        self.law, self.up, self.down = law, up, down
        shape = np.array(states.shape, dtype=np.int64)
        self.axes = np.flatnonzero(shape > 1).tolist()
        self.chain = chain_on(states, law, up, down)
        self.coarser: _Level | None = None
        self.power, self.isotropic = 1.0, False
        if law.size <= COARSEST or len(self.axes) == 1:
            self.numbering = Numbering.of(states)
            return
        block, coarse, self.parent = blocks_on(states, kernels.paces(law, down, shape))
        self.isotropic, self.width = bool((block == 2)[self.axes].all()), int(block[-1])
        rates = np.empty((2, len(shape), coarse.n_states))
        coarse_law = np.empty(coarse.n_states)
        self._aggregate(chain_on(coarse, coarse_law, *rates))
        self.coarser = _Level(coarse_law, rates[0], rates[1], coarse)

    def _aggregate(self, coarse: kernels.Chain) -> None:
        kernels.aggregate(self.chain, self.width, self.parent, coarse)

    def overcorrect(self, chosen: bool) -> None:
        """Raise ratios to the power where all axes are aggregated: elsewhere the coarser box is right."""
        self.power = OVERCORRECTION if chosen and self.isotropic else 1.0
        if self.coarser is not None:
            self.coarser.overcorrect(chosen)

    def sweep(self, axis: int, forward: bool) -> float:
        return kernels.sweep(self.chain, axis, forward)

    def cycle(self, visits: int) -> float:
        """One cycle from this level down; the relative change in the last sweep."""
        coarser = self.coarser
        if coarser is None:
            before = self.law.copy()
            self.law[:] = before.sum() * eliminate_counts(self.up, self.down, self.numbering)
            return float(np.abs(self.law - before).sum() / before.sum())
        self.sweep(self.axes[-1], True)
        for _ in range(visits):
            self._aggregate(coarser.chain)
            before = coarser.law.copy()
            coarser.cycle(2)
            coarser.law *= before.sum() / coarser.law.sum()
            kernels.correct(
                *(self.law, self.chain.rows, self.width, self.parent),
                *(coarser.chain.rows, coarser.law, before, self.power),
            )
            for k, axis in enumerate(self.axes):
                change = self.sweep(axis, bool((k + len(self.axes)) % 2))
        return change


def multilevel(
    up: FloatArray,
    down: FloatArray,
    states: LowerSet,
    start: FloatArray,
    *,
    tolerance: float,
    max_cycles: int,
    told: Callable[[], object] | None = None,
) -> tuple[FloatArray, Convergence]:
    """Stationary law on a box or another lower set.

    Parameters
    ----------
    up : ndarray of shape (n, 1) or (n, n_states), jobs per unit of time
        Birth rates, constant or per state.
    down : ndarray of shape (n, n_states), jobs per unit of time
        Death rates. The chain must be irreducible.
    states : LowerSet
        Of n >= 2 classes.
    start : ndarray of n_states numbers, of any shape
        First guess, positive where the law is not negligible.
    tolerance : float
        For the change and for the estimated relative error of the means, see :class:`Convergence`.
    max_cycles : int
    told : callable, optional
        Called after every cycle.

    Returns
    -------
    law : ndarray of shape (n_states,)
    convergence : Convergence
    """
    law = np.array(start, dtype=float).ravel()
    law /= law.sum()
    finest = _Level(law, up, down, states)
    mixture = Mixture(law)
    before = states.marginals(law)
    rates: list[float] = []
    last = change = error = math.inf
    mixed, furthest, lowest, better, waited = True, math.inf, math.inf, 0, 0
    overcorrected: bool | None = None  # until the end is near
    for cycle in range(1, max_cycles + 1):
        mixture.begin(law)
        change = finest.cycle(1)
        law /= law.sum()
        if told is not None:
            told()
        after = states.marginals(law)
        moved, floor = moved_means(before, after), rounding_error(after, min(law.size, ROUNDED))
        # Only a cycle that follows a cycle shows how errors contract.
        rates = [] if mixed else [*rates[-1:], moved / last if last > 0 else 0.0]
        last, before = moved, after
        error = extrapolated_error(moved, rates, floor)
        if len(rates) == PLAIN and change <= tolerance:
            settled = error <= tolerance
            error = max(error, _cut_error(after, up, down, law, states))
            if error <= tolerance:
                return law, Convergence(cycle, change, error, True)
            # What cycles no longer move is rounding, and more of them do not help.
            waited += settled
            if waited == PATIENCE:
                return law, Convergence(cycle, change, error, False)
        settling = change <= tolerance and moved <= CLOSE * tolerance
        stuck = len(rates) == PLAIN and max(rates) > SLOW
        if change < 0.9 * lowest:
            lowest, better = change, cycle
        elif change > FAR and cycle - better > ROAD:
            break  # cycles may end where sweeps and aggregation undo each other
        # Far from the end errors are no small perturbations, and plain ratios get closer more surely.
        if overcorrected is None and change <= FAR:
            overcorrected = True
            finest.overcorrect(True)
        elif overcorrected and (stuck or change > GROWN * lowest > GROWN * tolerance):
            # Where drifts lead far, overcorrection overshoots from level to level.
            overcorrected = False
            finest.overcorrect(False)
            mixture.forget()
        mixed = moved < NEAR and change <= FAR and (stuck or not settling)
        if moved > furthest:
            mixture.forget()
        furthest = moved
        mixture.keep(law)
        if mixed:
            mixture.mix(law)
            before = states.marginals(law)
    error = max(error, _cut_error(after, up, down, law, states)) if not mixed else math.inf
    return law, Convergence(cycle, change, error, False)


def extrapolated_error(moved: float, rates: list[float], floor: float) -> float:
    """Relative error of the means after a cycle that moved them so far, contracting at these rates."""
    if moved <= floor:
        return floor
    if len(rates) < PLAIN or max(rates) >= 1.0:
        return math.inf
    rate = max(USUAL, *rates)
    return max(floor, SAFETY * moved * rate / (1.0 - rate))


def moved_means(before: Sequence[FloatArray], after: Sequence[FloatArray]) -> float:
    """Largest relative move of a mean count, the moves of its probabilities taken absolutely."""
    moves = []
    for b, a in zip(before, after, strict=True):
        counts = np.arange(len(a))
        moves.append(float(np.abs(b - a) @ counts) / max(float(a @ counts), SMALLEST))
    return max(moves)


def _cut_error(
    marginals: Sequence[FloatArray], up: FloatArray, down: FloatArray, law: FloatArray, states: LowerSet
) -> float:
    """How far each marginal law is from that of the birth-death chain with its own mean rates.

    Between x and x + 1 jobs of a class as many go up as down; a class that is slower than all others by
    orders of magnitude has nothing else that tells its law.
    """
    worst = 0.0
    for i, marginal in enumerate(marginals):
        births = states.marginal(np.where(states.ends(i), 0.0, law * up[i]), i)
        deaths = states.marginal(law * down[i], i)
        live = np.flatnonzero(marginal > 0)
        low, top = int(live[0]), int(live[-1])
        if top - low + 1 > len(live) or not deaths[low + 1 : top + 1].all() or not births[low:top].all():
            continue  # underflow cuts the chain of this class: it cannot be told
        rise, fall = (
            births[low:top] / marginal[low:top],
            deaths[low + 1 : top + 1] / marginal[low + 1 : top + 1],
        )
        own = np.zeros(len(marginal))
        own[low : top + 1] = birth_death_law(rise, fall)
        worst = max(worst, moved_means([marginal], [own]))
    return worst
