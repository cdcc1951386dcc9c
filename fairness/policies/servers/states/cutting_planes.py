r"""Leximin totals in many states by cutting planes.

The levels of a mechanism change with the counts, the region P of possible totals does not
(:mod:`fairness.policies.servers.states.region`). P is closed downwards and convex: it is given by
inequalities :math:`a \cdot z \le 1` with :math:`a \ge 0`, and leximin in a region given by such inequalities
is progressive filling with each of them as a resource. There are far too many to list, but a state needs few,
mostly those of its neighbours:

1. fill with the inequalities at hand; what comes out is the leximin point of a region that contains P;
2. see how far the ray through this point stays in P (:mod:`fairness.policies.servers.states.ray`): if it can
   be placed, it is in P, and so it is the leximin point of P as well;
3. else the ray ends at an inequality of P that the point violates. Take it, and go back to 1.

There are finitely many inequalities that the ray can end at, so this ends. The tableau of the ray and the
last inequalities are kept from state to state; every :data:`ANEW` states all is forgotten, so that rounding
errors do not pile up and a batch gives what its parts of so many states give.

*What is checked in every state.* That the totals are possible is counted out from demands and capacities, not
read from the tableau; and so are the inequalities, of which the tableau only tells the prices. If the classes
that an inequality stops together have the part v in it, an error :math:`\varepsilon` in it puts their level
off by :math:`\varepsilon/v`. Hence a state counts as solved only if a full inequality stops every class, with
a part of at least :data:`VISIBLE`, and the point is possible but for :data:`ALLOWED` of that part. Other
states are left to programs with evidence (:func:`fairness.policies.servers.engines.leximin.leximin`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairness.arguments.validation import FloatArray, IntArray
from fairness.filling import floats
from fairness.filling.floats import Work, fill, work_for
from fairness.machine import kernels
from fairness.machine.compiling import helper, stored
from fairness.machine.kernels import list_nonzeros, room_for_nonzeros
from fairness.model import nonzeros
from fairness.model.cluster import Cluster
from fairness.model.nonzeros import Nonzeros
from fairness.policies.servers.states import ray, region
from fairness.policies.servers.states.ray import begin, placed, prices_of, reach, refine
from fairness.policies.servers.states.region import Region, region_of

__all__ = ["LeximinTotals"]

LARGEST = 2**19
"""Entries of a tableau from which programs are faster."""

BEGINNING = 2**15
"""Entries of a tableau per state of a batch from which programs, which begin faster, are."""

ANEW = 256
"""States after which nothing is known of the states before."""

VISIBLE = 1e-5
"""Least part, in an inequality, of the classes that it stops."""

REAL = 1e-8
"""Part of a class in an inequality that cannot be what rounding leaves of 0."""

SAME_LEVEL = 1e-9
"""Levels that differ by less, relatively, are the same."""

ALLOWED = 1e-10
"""Part of the least visible part by which totals may be off; rounding comes on top."""

ROUNDING = 2e-15
"""What rounding adds."""

FULL = 1e-11
"""An inequality with less room than this is full."""

SMALLEST = 1e-12
"""Levels of a class per level of another below which nothing is tried."""

STEPS = 5
"""Microseconds per entry of the tableau and state, interpreted."""

MOST_CUTS = 200
"""Inequalities found for one state after which it is given up."""

CUT, STATES, CLOCK, PIVOTS, CUTS = range(5)
"""Places in the numbers of a memory: row of the cut (-1: none), states since the start, time of the last use
of an inequality, pivots and inequalities found in all."""


class LeximinTotals:
    """Leximin totals of a cluster, state after state.

    Parameters
    ----------
    cluster : Cluster
    goals : ndarray of shape (n_classes,), tasks
        What a level of 1 gives to one job of a class, up to a common factor.
    program : callable
        Totals, (n_classes,), of one state, for those that this method leaves.

    Attributes
    ----------
    left : int
        States that were left to programs.
    """

    def __init__(
        self, cluster: Cluster, goals: FloatArray, program: Callable[[FloatArray], FloatArray]
    ) -> None:
        self.goals, self.program, self.left = goals, program, 0
        self._region = region_of(cluster)
        self._size = math.prod(ray.sizes(self._region))
        self._memory = memory_for(self._region) if self._size <= LARGEST else None

    def of(self, states: FloatArray) -> FloatArray:
        """Totals for counts of shape (n_states, n_classes), which are validated."""
        totals, solved = np.zeros(states.shape), np.zeros(len(states), dtype=bool)
        kernel = leximin_states.small(STEPS * self._size, len(states))
        for start in range(0, len(states), ANEW):
            part = slice(start, min(start + ANEW, len(states)))
            if self._memory is not None and self._size <= BEGINNING * (part.stop - start):
                self._memory.numbers[STATES] = 0
                self._step(kernel, states[part], totals[part], solved[part])
        return self._completed(states, totals, solved)

    def __call__(self, counts: FloatArray) -> FloatArray:
        """Totals for one vector of counts, beginning with what is known from the last one."""
        states, totals, solved = counts[None], np.zeros((1, len(counts))), np.zeros(1, dtype=bool)
        if self._memory is not None:
            self._step(leximin_states, states, totals, solved)
        return totals[0] if solved[0] else self._completed(states, totals, solved)[0]

    def _step(
        self, kernel: Callable[..., Any], states: FloatArray, totals: FloatArray, solved: NDArray[np.bool_]
    ) -> None:
        kernel(self._region, self._memory, states * self.goals, totals, solved)

    def _completed(self, states: FloatArray, totals: FloatArray, solved: NDArray[np.bool_]) -> FloatArray:
        for k in np.flatnonzero(~solved):
            totals[k] = self.program(states[k])
            self.left += 1
        return totals


class Memory(NamedTuple):
    """What is known from the states before, and work space."""

    tableau: FloatArray
    basic: IntArray
    nonbasic: IntArray
    cuts: FloatArray  # (n_classes, inequalities): one per column; 0 where there is none
    stamps: IntArray  # (inequalities,): when it was full last
    numbers: IntArray
    values: FloatArray  # of the basic variables
    used: FloatArray  # of the rows of resources
    row: FloatArray  # (n_classes,)
    load: FloatArray  # (inequalities,)
    caps: FloatArray  # (n_classes,): infinite
    filling: Work
    listed: Nonzeros  # the cuts, as filling wants them


def memory_for(region: Region) -> Memory:
    """Memory that knows nothing yet."""
    n, (n_rows, n_columns) = len(region.alone), ray.sizes(region)
    n_cuts = max(32, 4 * n)
    return Memory(
        tableau=np.zeros((n_rows, n_columns)),
        basic=np.zeros(n_rows, dtype=np.int64),
        nonbasic=np.zeros(n_columns - n - 1, dtype=np.int64),
        cuts=np.zeros((n, n_cuts)),
        stamps=np.zeros(n_cuts, dtype=np.int64),
        numbers=np.zeros(5, dtype=np.int64),
        values=np.zeros(n_rows),
        used=np.zeros(region.n_rows),
        row=np.zeros(n),
        load=np.zeros(n_cuts),
        caps=np.full(n, np.inf),
        filling=work_for(n, n_cuts),
        listed=room_for_nonzeros(n, n_cuts),
    )


@stored(kernels, nonzeros, floats, region, ray, nogil=True, error_model="numpy")
def leximin_states(
    region: Region, memory: Memory, goals: FloatArray, totals: FloatArray, solved: NDArray[np.bool_]
) -> None:
    """Fill ``totals`` (n_states, n_classes) for goals, the tasks at level 1, and say which are solved."""
    alone, numbers = region.alone, memory.numbers
    n_states, n = goals.shape
    rates = np.empty(n)
    for state in range(n_states):
        if numbers[STATES] % ANEW == 0:
            _forget(memory)
        numbers[STATES] += 1
        w, largest = totals[state], 0.0
        for k in range(n):
            w[k] = 0.0
            rates[k] = goals[state, k] / alone[k]
            largest = max(largest, rates[k])
        comparable = True
        for k in range(n):
            rates[k] = rates[k] / largest if goals[state, k] > 0.0 else 0.0
            comparable = comparable and (goals[state, k] == 0.0 or rates[k] >= SMALLEST)
        solved[state] = comparable and largest == 0.0
        for _ in range(2):
            if comparable and not solved[state]:
                solved[state] = _level(region, memory, rates, w)
                if not solved[state]:
                    # A tableau that rounding has spoilt is no reason to give up: once more without it.
                    _forget(memory)
        for k in range(n):
            w[k] *= alone[k]


@helper(nogil=True, error_model="numpy")
def _forget(memory: Memory) -> None:
    """Keep only what a class has alone on the cluster."""
    memory.cuts[:] = 0.0
    memory.stamps[:] = 0
    memory.numbers[CUT] = -1
    memory.numbers[CLOCK] = 0
    for k in range(len(memory.cuts)):
        memory.cuts[k, k] = 1.0
    list_nonzeros(memory.cuts, memory.listed)


@helper(nogil=True, error_model="numpy")
def _level(region: Region, memory: Memory, rates: FloatArray, w: FloatArray) -> bool:
    """Fill ``w`` (n_classes,), parts of the tasks alone on the cluster; whether it is known to be right."""
    tableau, basic, nonbasic, cuts, stamps, numbers, values, used, row, load, caps, filling, listed = memory
    n = len(rates)
    for _ in range(MOST_CUTS):
        largest = 0
        w[:] = 0.0
        fill(listed, rates, caps, w, filling)
        for k in range(n):
            if w[k] > w[largest]:
                largest = k
        numbers[CLOCK] += 1
        visible = _visible(cuts, stamps, numbers[CLOCK], w, rates, row, load)
        allowed = ROUNDING + ALLOWED * visible
        t = -1.0
        for _ in range(2):
            if t < 0.0:
                if numbers[CUT] < 0:
                    numbers[CUT] = begin(region, largest, tableau, basic, nonbasic)
                t = reach(tableau, basic, nonbasic, numbers[CUT], w, values, numbers[PIVOTS:])
                if t < 0.0:
                    numbers[CUT] = -1
        if t < 0.0:
            return False
        if t >= 1.0 - allowed:
            possible = placed(region, basic, values, w, row, used)
            if possible < 1.0 - allowed:
                refine(region, tableau, basic, nonbasic, numbers[CUT], w, values)
                possible = placed(region, basic, values, w, row, used)
            return visible >= VISIBLE and possible >= 1.0 - allowed
        prices_of(region, tableau, nonbasic, numbers[CUT], used, row)
        needed = 0.0
        for k in range(n):
            needed += row[k] * w[k]
        if not needed > 1.0:
            return False
        oldest = n
        for c in range(n, len(stamps)):
            if stamps[c] < stamps[oldest]:
                oldest = c
        cuts[:, oldest] = row
        list_nonzeros(cuts, listed)
        stamps[oldest] = numbers[CLOCK]
        numbers[CUTS] += 1
    return False


@helper(nogil=True, error_model="numpy")
def _visible(
    cuts: FloatArray,
    stamps: IntArray,
    clock: int,
    w: FloatArray,
    rates: FloatArray,
    part: FloatArray,
    load: FloatArray,
) -> float:
    """The least part that the classes which an inequality stops together have in it; stamps the full ones."""
    n, n_cuts = cuts.shape
    load[:] = 0.0
    for k in range(n):
        part[k] = 0.0
        for c in range(n_cuts):
            load[c] += cuts[k, c] * w[k]
    for c in range(n_cuts):
        if load[c] >= 1.0 - FULL:
            stamps[c] = clock
            top, stopped = 0.0, 0.0
            for k in range(n):
                if cuts[k, c] * w[k] >= REAL:
                    top = max(top, w[k] / rates[k])
            for k in range(n):
                if cuts[k, c] * w[k] >= REAL and w[k] / rates[k] >= top * (1.0 - SAME_LEVEL):
                    stopped += cuts[k, c] * w[k]
            for k in range(n):
                if cuts[k, c] * w[k] >= REAL and w[k] / rates[k] >= top * (1.0 - SAME_LEVEL):
                    part[k] = max(part[k], stopped)
    least = 1.0
    for k in range(n):
        if rates[k] > 0.0:
            least = min(least, part[k])
    return least
