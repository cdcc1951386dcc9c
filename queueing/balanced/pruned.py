r"""Balanced fairness on the states that matter: the recursion, pruned, with rigorous errors.

A box of six classes holds mostly states that are next to impossible: of the states with 100 jobs those are
likely in which the jobs are mixed as the loads are. So the recursion of :mod:`queueing.balanced.recursion`
for :math:`P(x) = \Phi(x)\rho^x`,

.. math:: P(0) = 1, \qquad P(x) = \max\Big(\max_j \sum_i \frac{\rho_i a_{ij}}{C_j} P(x - e_i),\
          \max_{i:\,x_i > 0} \frac{\rho_i}{\ell_i x_i} P(x - e_i)\Big),

is run level by level, :math:`|x| = 1, 2, \ldots`, and states below a threshold are *dropped*: set to 0, so
that later states do not count on them. The threshold is found from trial runs that are stopped early, so that
what is dropped stays below the tail asked for.

*What this costs.* Let :math:`\tilde P` be the result, and :math:`s(y)` what the recursion gives in the
dropped states from states that are kept. The right-hand side is monotone and subadditive in
:math:`P \ge 0`, so :math:`\tilde P \le P`, and the difference :math:`D = P - \tilde P \ge 0` satisfies the
same recursion with :math:`\le` and the source :math:`s` added. Started by a source of 1 at :math:`y` the
recursion gives at most :math:`P(x - y)`, because :math:`x_i \ge x_i - y_i`; so by subadditivity and induction
on :math:`|x|`

.. math:: D(x) \le \sum_y s(y) P(x - y).

Let :math:`S = \sum_y s(y)`, :math:`S_i = \sum_y y_i s(y)`, :math:`G = \sum_x P(x)` and
:math:`\tilde G = \sum_x \tilde P(x)`. Summing up, :math:`(G - \tilde G)/G \le S`: the law
:math:`\tilde P/\tilde G` differs from the true one by a total variation of at most :math:`S`. In the same
way the part of :math:`E[x_i]` that is left out is at most :math:`S_i + S E[x_i]`, so with the mean
:math:`m_i` under :math:`\tilde P/\tilde G`

.. math:: (1 - S)\,m_i \le E[x_i] \le \frac{m_i + S_i}{1 - S}.

All of this is computed on the way, for any set of kept states; nothing is assumed of its shape. Dropping
what cannot matter is known for transient chains as finite state projection [1]_.

*Beyond.* Dozens of classes that nothing merges are out of reach: the typical states alone are too many. Nor
is there a random sample to take their place: :math:`P(x)` is a maximum of sums over all smaller states, and
the maximum of estimates is too large on average; unbiased draws need the whole box below each state. What is
known for any number of classes are the closed bounds of :mod:`queueing.balanced.duration_bound`.

References
----------
.. [1] B. Munsky and M. Khammash, "The finite state projection algorithm for the solution of the chemical
   master equation", J. Chem. Phys. 124, 2006. DOI 10.1063/1.2145882.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairness.machine.memory import require_memory
from fairness.machine.work import Task
from fairness.model.problem import FloatArray
from queueing.balanced.pruning import Level, Sums, empty_sums, first_level, next_level
from queueing.balanced.tail_bound import INSTEAD, StoreAndForward
from queueing.states.box import SMALLEST, mean_counts

__all__ = ["PrunedLaw", "Pruning", "plan_pruning"]

TRIAL_STATES = 400_000
"""States of a trial run, at most: some hundredths of a second."""

STEP = 10.0
"""Between the thresholds of two trial runs."""

AIM = 0.6
"""Part of the tail that a threshold is chosen for."""

DEEPEST = 650.0
"""Minus the logarithm of the lowest threshold."""

KEYS = 2.0**62
"""Rows are told apart by whole numbers below this."""

BEND = 0.5
"""Part of the curvature between trials that extrapolation follows."""

UNREACHED = 1e-6
"""Part of the tail that is dropped beyond the largest counts, at most."""

CUT = 0.1
"""The same where the largest counts are cut for the sake of the keys."""

LEAST_TAIL = 1e-150
"""Below this, thresholds come near to the smallest floats."""

LARGEST = 600.0
"""Logarithm of the largest P, at most: below the largest float."""

CANDIDATES = 1.5
"""States of a level before what is below the threshold is dropped, by those kept, about."""

STATE_SECONDS = 4e-9
"""Time per state, about; besides that of its sums and of its row."""

SUM_SECONDS = 2e-10
"""Time per state, group and resource, about."""

ROW_SECONDS = 5e-8
"""Time per row and group, about."""


@dataclass(frozen=True, eq=False)
class Pruning:
    """A pruned recursion, and what it takes.

    Attributes
    ----------
    bound : StoreAndForward
        Of the groups.
    tail : float
        Most that may be dropped.
    threshold : float
        States with P below this are dropped.
    order : ndarray of shape (n_groups,)
        Groups in the order in which levels hold them.
    most : ndarray of shape (n_groups,)
        Largest counts, in this order.
    states, n_bytes, seconds : float
        States, memory, and time on one core, about.
    """

    bound: StoreAndForward
    tail: float
    threshold: float
    order: NDArray[np.intp]
    most: NDArray[np.int64]
    states: float = math.nan
    n_bytes: float = math.nan
    seconds: float = math.nan

    def levels(self, sums: Sums) -> Iterator[Level]:
        """The levels from no job on; adds to the sums, which begin as :func:`empty_sums`."""
        gain = np.ascontiguousarray(self.bound.gain[self.order])
        ceiling = np.ascontiguousarray(self.bound.ceiling[self.order])
        # The keys of rows have room for one job more than is kept.
        digits = np.append(1, self.most[-2:0:-1] + 2)
        strides = np.append(np.cumprod(digits)[-2::-1], 0)
        level, n_jobs = first_level(len(self.most)), 0
        while len(level.values):
            yield level
            n_jobs += 1
            level = next_level(gain, ceiling, self.most, strides, self.threshold, n_jobs, level, sums)

    def expecting(self, states: float, rows: float, n_bytes: float) -> Pruning:
        """The same with what it takes."""
        n, m = self.bound.gain.shape
        seconds = states * (STATE_SECONDS + n * m * SUM_SECONDS) + rows * n * ROW_SECONDS
        return replace(self, states=states, n_bytes=n_bytes, seconds=seconds)


class Trial(NamedTuple):
    """What a complete run has shown."""

    depth: float  # minus the logarithm of the threshold
    dropped: float
    states: float
    rows: float
    n_bytes: float


def plan_pruning(bound: StoreAndForward, tail: float) -> Pruning | None:
    """Threshold, states and memory for a tail, from trial runs; None where these tell nothing.

    States, rows, memory and what is dropped over the threshold grow about as powers of the depth, minus the
    logarithm of the threshold; the last three of the trials, each with a lower threshold, tell which. The
    powers grow slowly with the depth for many classes and fall for few: half the curvature between the trials
    predicted the states of eight systems of 4 to 14 classes, 10 to 30 times as many, to within 25%.
    With limits P grows before it falls: there the predictions for four systems were low, by factors of 1.1 to
    2.3.
    """
    n = len(bound.gain)
    if n < 2 or 3.0 ** (n - 2) > KEYS or tail < LEAST_TAIL or bound.log_mass > LARGEST:
        return None
    # What is dropped beyond a count is at most P there, whose sum over all states is at most the mass.
    far = math.log(UNREACHED * tail) - bound.log_floor
    if far + bound.log_floor - bound.log_mass < math.log(1e4 * n * SMALLEST):
        return None
    sizes = np.array(bound.box(math.exp(far)))
    order = np.argsort(-sizes, kind="stable")
    # The longest axis is that of the rows, the second longest is the one that they leave out.
    order = np.append(order[1:], order[0])
    most = sizes[order].astype(np.int64)
    while np.prod(most[1:-1] + 2.0) > KEYS:
        most[1:-1] = np.minimum(most[1:-1], most[1:-1].max() - 1)
    cut = np.flatnonzero(most < sizes[order])
    beyond = sum(float(bound.tails(int(order[k]), int(most[k]) + 1)[-1]) for k in cut)
    if beyond > CUT * tail * math.exp(-bound.log_mass):
        return None
    run = Pruning(bound, tail, 1.0, order, most)
    trials: list[Trial] = []
    while (trial := _tried(run := replace(run, threshold=run.threshold / STEP))) is not None:
        if trial.dropped <= tail:
            return run.expecting(trial.states, trial.rows, trial.n_bytes)
        trials.append(trial)
    return _extrapolated(run, trials[-3:]) if len(trials) > 2 else None


def _tried(run: Pruning) -> Trial | None:
    """A run on few states; None if there are more."""
    sums = empty_sums(run.most)
    states, rows, n_bytes, before = 0, 0, 0.0, 0.0
    for level in run.levels(sums):
        states += len(level.values)
        rows += len(level.keys)
        if states > TRIAL_STATES:
            return None
        here = float(sum(part.nbytes for part in level))
        n_bytes, before = max(n_bytes, before + CANDIDATES * here), here
    return Trial(-math.log(run.threshold), float(sums.dropped[0]), float(states), float(rows), n_bytes)


def _extrapolated(run: Pruning, trials: list[Trial]) -> Pruning | None:
    """The threshold for the tail, and what it takes, from three trials; None if it is out of range."""
    from scipy.optimize import brentq

    places = [math.log(trial.depth) for trial in trials]

    def at(depth: float, logs: list[float]) -> float:
        # Newton's form, the curvature by half.
        first, second = np.diff(logs) / np.diff(places)
        bend = BEND * (second - first) / (places[2] - places[0])
        x = math.log(depth)
        return logs[2] + (x - places[2]) * (second + bend * (x - places[1]))

    edges = [math.log(trial.dropped) + trial.depth for trial in trials]

    def excess(depth: float) -> float:
        return at(depth, edges) - math.log(AIM * run.tail) - depth

    begin = trials[-1].depth
    if excess(begin) <= 0 or excess(DEEPEST) >= 0:
        return None
    depth = brentq(excess, begin, DEEPEST)
    _, _, *needs = np.log(trials).T.tolist()
    expected = (math.exp(min(at(depth, need), LARGEST)) for need in needs)
    return replace(run, threshold=math.exp(-depth)).expecting(*expected)


class PrunedLaw:
    """Law of the group totals on the states that matter; what is dropped is bounded.

    Parameters
    ----------
    pruning : Pruning
        From :func:`plan_pruning`. Run again with a lower threshold where more than its tail is dropped.
    """

    method = "pruned"

    def __init__(self, pruning: Pruning) -> None:
        self._pruning, sums, self._masses, self.states = _run(pruning)
        mass = float(sums.marginals[0].sum())
        back = np.argsort(self._pruning.order)
        lost, lost_jobs = float(sums.dropped[0]), sums.dropped[1:][back]
        self.tail_mass = lost
        self.empty = 1.0 / mass
        self.marginals = tuple(np.trim_zeros(law, "b") / mass for law in sums.marginals[back])
        self.shape: tuple[int, ...] = tuple(len(law) for law in self.marginals)
        self.mean = mean_counts(self.marginals)
        self.error: FloatArray = (lost_jobs + lost * self.mean) / (1.0 - lost)
        pairs = zip(self.marginals, self.mean, strict=True)
        self.variance = np.array([law @ (np.arange(len(law)) - mean) ** 2 for law, mean in pairs])
        moments = (np.tril(sums.moments) + np.tril(sums.moments, -1).T)[np.ix_(back, back)] / mass
        self.covariance: FloatArray = moments - np.outer(self.mean, self.mean)
        np.fill_diagonal(self.covariance, self.variance)

    def sample(self, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Totals by inversion, shape (size, n_groups); the recursion is run once more."""
        order, inner = self._pruning.order, slice(1, -1)
        ends = np.cumsum(self._masses)
        places = np.sort(rng.random(size)) * ends[-1]
        # Samples of each level; its values are cumulated again.
        bounds = np.searchsorted(places, ends)
        bounds[-1] = size
        counts = np.zeros((size, len(order)), dtype=np.int64)
        first = 0
        for n_jobs, level in enumerate(_watched(self._pruning, empty_sums(self._pruning.most))):
            here = counts[first : bounds[n_jobs]]
            if len(here):
                inside = np.cumsum(level.values)
                begin = ends[n_jobs] - self._masses[n_jobs]
                part = (places[first : bounds[n_jobs]] - begin) / self._masses[n_jobs] * inside[-1]
                found = np.minimum(np.searchsorted(inside, part, side="right"), len(inside) - 1)
                row = np.searchsorted(level.starts, found, side="right") - 1
                here[:, inner] = level.prefix[row]
                here[:, -1] = level.lows[row] + found - level.starts[row]
                here[:, 0] = n_jobs - here[:, 1:].sum(axis=1)
            first = bounds[n_jobs]
            if first == size:
                break
        states = np.empty_like(counts)
        states[:, order] = counts
        return rng.permutation(states)


def _run(pruning: Pruning) -> tuple[Pruning, Sums, FloatArray, int]:
    """All levels, once more with a lower threshold while too much is dropped; mass of each, and states."""
    while True:
        sums = empty_sums(pruning.most)
        masses, states = [], 0
        for level in _watched(pruning, sums):
            masses.append(float(level.values.sum()))
            states += len(level.values)
        lost = float(sums.dropped[0])
        if lost <= pruning.tail:
            return pruning, sums, np.array(masses), states
        pruning = replace(pruning, threshold=0.5 * AIM * pruning.threshold * pruning.tail / lost)


def _watched(pruning: Pruning, sums: Sums) -> Iterator[Level]:
    """The levels, as a task."""
    what = f"balanced fairness of {len(pruning.most)} groups of classes, pruned"
    instead = f"raise tail, or {INSTEAD}"
    require_memory(pruning.n_bytes, what, instead)
    with Task(what, pruning.states, "states", pruning.seconds, instead) as work:
        for level in pruning.levels(sums):
            yield level
            work.advance(len(level.values))
