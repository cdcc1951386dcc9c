"""Classes whose sizes or arrivals have phases, on one box of counts after the other.

The law on a box begins with that of exponential sizes and Poisson arrivals of the same means: its counts,
with the jobs of a class in their phases as on the smaller box, beyond it independently. The box that they
need is also the first: where phases matter little it is the right one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from fairness.errors import ModelError
from fairness.machine.memory import require_memory
from fairness.model.problem import FloatArray
from fairness.protocol.cluster_policy import AnyPolicy
from queueing.chain.boxes import Attempt, Boxes, CountBoxes, Shape
from queueing.chain.phases.solver import MIXED, PhaseChain
from queueing.chain.phases.states import ClassStates, PhaseGrid, class_states, count_phase_states
from queueing.chain.solvers.choose_solver import Solver, solved
from queueing.chain.tails import Tails
from queueing.chain.truncation import truncation_error
from queueing.model.arrivals import Modulation
from queueing.model.phase_type import phases_of
from queueing.model.system import System
from queueing.states.box import box_name
from queueing.states.lower_set import LowerSet
from queueing.states.table import DeathRates, Table, death_rates

__all__ = ["PhaseBoxes"]

Made = TypeVar("Made")

MOST_COUNTS = 10_000_000
"""Most states of the box of counts that exponential sizes may need."""
BURSTS = 2.0
"""Times what the counts alone tell of jobs lost in bursts: in one of 330 random systems it was 1.06."""
REGULAR = 0.75
"""Part of the box in which the phases of arrivals are as they are without a box: at its face jobs are lost in
bursts, and whoever is there is more often in one."""


class PhaseBoxes(Boxes[Shape]):
    """Jobs counted by phase.

    Parameters
    ----------
    system, policy, solver
    table : Table, optional
        Tasks that are known.
    """

    def __init__(self, system: System, policy: AnyPolicy, solver: Solver, table: Table | None = None) -> None:
        super().__init__(system, policy, solver)
        # Of a class without arrivals no job is there to have a phase.
        live = np.flatnonzero(system.arrival_rates > 0).tolist()
        self.laws = {i: _of_class(system, i, "sizes", partial(phases_of, system.sizes[i])) for i in live}
        self.arrivals = {i: _of_class(system, i, "arrivals", partial(_modulation, system, i)) for i in live}
        plain = System(system.problem, system.arrival_rates, system.mean_sizes)
        self.counts = CountBoxes(plain, policy, solver.guessing, table)
        self._known: tuple[PhaseGrid, FloatArray] | None = None

    def first(self, tail: float) -> Shape:
        """The box that exponential sizes need, and batches fit in."""
        box = self.counts.grown(tail, MOST_COUNTS).shape
        most = [2 * len(process.batches) for process in self.system.processes]
        return tuple(max(size, of_batch) if size > 1 else 1 for size, of_batch in zip(box, most, strict=True))

    def larger(self, region: Shape, tails: Tails, tail: float) -> Shape:
        """A box that should leave less than the tail, at most twice as long."""
        return self.counts.larger(region, tails, tail)

    def states(self, region: Shape) -> float:
        """States with phases."""
        live = [region[i] for i in self.laws]
        of_arrivals = math.prod(len(arrivals.hidden) for arrivals in self.arrivals.values())
        return of_arrivals * count_phase_states(live, [law.n_phases for law in self.laws.values()])

    def name(self, region: Shape) -> str:
        """Jobs, phases and states in words."""
        own = [law.n_phases * len(self.arrivals[i].hidden) for i, law in self.laws.items()]
        return f"{box_name(region)} jobs with {own} phases, {self.states(region):.4g} states"

    def attempt(self, box: Shape) -> Attempt:
        """Solve on a box, phases given the counts from the one before."""
        system, remedy = self.system, "give a smaller shape, raise tail, take fewer phases or simulate"
        require_memory(8.0 * (3 * MIXED + 8) * self.states(box), f"the chain on {self.name(box)}", remedy)
        plain = self.counts.attempt(box)
        if plain.solution.complaint:
            plain.judged()
        table = self.counts.tabulated(box)
        live = list(self.laws)
        tasks = np.ascontiguousarray(np.moveaxis(table.tasks, -1, 0)[live])
        grid = PhaseGrid(
            [
                class_states(law, box[i]).modulated(self.arrivals[i], system.processes[i].batches)
                for i, law in self.laws.items()
            ],
            system.arrival_rates[live],
            tasks.reshape(len(live), *(box[i] for i in live)),
        )
        given = None if self._known is None else _conditional(grid, *self._known)
        start = grid.spread(plain.law.reshape(grid.tasks.shape[1:]), given)
        solution = solved(PhaseChain(grid, start, name=self.name(box), remedy=remedy), self.solver)
        self._known = grid, solution.law
        counts = grid.counts_law(solution.law)

        def cut() -> FloatArray:
            plain = death_rates(table, system.mean_sizes, live)
            rates = _summed(grid.departures(solution.law, counts), plain)
            joins = _nearest(grid.joins(solution.law, counts), REGULAR)
            error = truncation_error(joins, rates, LowerSet.box(counts.shape), counts.ravel())
            bursts = any(len(a.hidden) > 1 for a in self.arrivals.values())
            return max(map(_lost_with_the_first, grid.classes)) * (BURSTS * error if bursts else error)

        method, law = f"phases ({solution.method})", counts.reshape(box)
        return Attempt(system, table.policy, method, solution, law, Tails.of_box(law), live, cut)


def _of_class(system: System, k: int, what: str, make: Callable[[], Made]) -> Made:
    """What is made of the sizes or arrivals of class k; ModelError in its name."""
    try:
        return make()
    except ModelError as error:
        name = system.problem.job_classes[k]
        raise ModelError(f"{what} of class {name!r}: {error}", argument=what, index=(k,)) from None


def _modulation(system: System, k: int) -> Modulation:
    """Phases of the arrivals of class k, with mean rate 1."""
    rate = float(system.arrival_rates[k])
    hidden, arriving = system.processes[k].modulation(rate)
    return Modulation(hidden / rate, arriving / rate)


def _lost_with_the_first(states: ClassStates) -> float:
    """Most jobs lost at once in the mean, where one is; more, as each would have met a longer queue."""
    following = states.following
    beyond = np.cumsum(following[::-1])[::-1]
    together = float((beyond[following > 0] / following[following > 0]).max())
    return together * (1.0 + (len(following) - 1) / (states.total.max() + 1))


def _nearest(values: FloatArray, part: float = 1.0) -> DeathRates:
    """Rates, (n, *shape), beyond the box, or that part of it, those in the nearest state."""
    ends = (part * (np.array(values.shape[1:]) - 1)).astype(np.int64)
    return lambda counts: values[:, *np.minimum(counts, ends).T].T


def _summed(departures: FloatArray, plain: DeathRates) -> DeathRates:
    """Death rates of the counts of a chain with phases.

    Summed over the phases it has the rates ``departures``, (n, *shape), and refuses the same arrivals. Beyond
    the box those of exponential sizes, ``plain``, are taken as many times as on its face.
    """
    known, ends = _nearest(departures), np.array(departures.shape[1:]) - 1

    def rates(counts: NDArray[np.int64]) -> FloatArray:
        without = plain(np.minimum(counts, ends))
        times = np.ones(without.shape)
        np.divide(known(counts), without, out=times, where=without > 0)
        return plain(counts) * times

    return rates


def _conditional(grid: PhaseGrid, smaller: PhaseGrid, law: FloatArray) -> FloatArray:
    """Law of the phases given the totals: that found on a smaller box, beyond it independent phases."""
    result = np.broadcast_to(grid.mixed(), grid.sizes).copy()
    counts = smaller.counts_law(law).ravel()[smaller.counts_of]
    inner = result[tuple(map(slice, smaller.sizes))]
    np.divide(law, counts, out=inner, where=counts > 0)
    return result
