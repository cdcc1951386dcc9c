"""Classes with phase-type sizes on one box of counts after the other.

The law on a box begins with that of exponential sizes of the same means: its counts, with the jobs of a class
in their phases as on the smaller box, beyond it independently. The box that exponential sizes need is also
the first: where sizes matter little it is the right one.
"""

from __future__ import annotations

import numpy as np

from fairness.errors import ModelError
from fairness.machine.memory import require_memory
from fairness.model.problem import FloatArray
from fairness.protocol.policy import Policy
from queueing.chain.boxes import Boxes, CountBoxes, Shape
from queueing.chain.phases.solver import MIXED, PhaseChain
from queueing.chain.phases.states import PhaseGrid, class_states, count_phase_states
from queueing.chain.solvers.ladder import Solver, solved
from queueing.chain.stationary_law import Stationary
from queueing.chain.truncation import truncation_error
from queueing.model.phase_type import PhaseType, phases_of
from queueing.model.system import System
from queueing.states.box import box_name
from queueing.states.table import Table

__all__ = ["PhaseBoxes"]

MOST_COUNTS = 10_000_000
"""Most states of the box of counts that exponential sizes may need."""


class PhaseBoxes(Boxes[Shape]):
    """Jobs counted by phase.

    Parameters
    ----------
    system, policy, solver
    table : Table, optional
        Tasks that are known.
    """

    def __init__(self, system: System, policy: Policy, solver: Solver, table: Table | None = None) -> None:
        super().__init__(system, policy, solver)
        # Of a class without arrivals no job is there to have a phase.
        self.laws = [_phases(system, k) if rate > 0 else None for k, rate in enumerate(system.arrival_rates)]
        self.phases = [1 if law is None else law.n_phases for law in self.laws]
        plain = System(system.problem, system.arrival_rates, system.mean_sizes)
        self.counts = CountBoxes(plain, policy, solver.guessing, table)
        self._known: tuple[PhaseGrid, FloatArray] | None = None

    def first(self, tail: float) -> Shape:
        """The box that exponential sizes need."""
        return self.counts.grown(tail, MOST_COUNTS).shape

    def larger(self, region: Shape, last: Stationary, tail: float) -> Shape:
        """A box that should leave less than the tail, at most twice as long."""
        return self.counts.larger(region, last, tail)

    def states(self, region: Shape) -> float:
        """States with phases."""
        return count_phase_states(region, self.phases)

    def name(self, region: Shape) -> str:
        """Jobs, phases and states in words."""
        return f"{box_name(region)} jobs with {self.phases} phases, {self.states(region):.4g} states"

    def law(self, box: Shape) -> Stationary:
        """Solve on a box, phases given the counts from the one before."""
        system, remedy = self.system, "give a smaller shape, raise tail, take fewer phases or simulate"
        require_memory(8.0 * (3 * MIXED + 8) * self.states(box), f"the chain on {self.name(box)}", remedy)
        plain = self.counts.law(box)
        table = self.counts.tabulated(box)
        live = [i for i, law in enumerate(self.laws) if law is not None]
        tasks = np.ascontiguousarray(np.moveaxis(table.tasks, -1, 0)[live])
        grid = PhaseGrid(
            [class_states(law, size) for law, size in zip(self.laws, box, strict=True) if law is not None],
            system.arrival_rates[live],
            tasks.reshape(len(live), *(box[i] for i in live)),
        )
        assert plain.distribution is not None
        given = None if self._known is None else _conditional(grid, *self._known)
        start = grid.spread(plain.distribution.reshape(grid.tasks.shape[1:]), given)
        solution = solved(PhaseChain(grid, start, name=self.name(box), remedy=remedy), self.solver)
        self._known = grid, solution.law
        counts = grid.counts_law(solution.law)
        cut = np.zeros(system.n_classes)
        # Summed over the phases the chain has these rates; they refuse the same arrivals.
        cut[live] = truncation_error(grid.arrival_rates, grid.departures(solution.law, counts), counts)
        method = f"phases ({solution.method})"
        return solution.accept(
            Stationary.from_law(system, table.policy, method, counts.reshape(box), solution, cut)
        )


def _phases(system: System, k: int) -> PhaseType:
    """Phases of the sizes of class k."""
    try:
        return phases_of(system.sizes[k])
    except ModelError as error:
        name = system.problem.job_classes[k]
        raise ModelError(f"sizes of class {name!r}: {error}", argument="sizes", index=(k,)) from None


def _conditional(grid: PhaseGrid, smaller: PhaseGrid, law: FloatArray) -> FloatArray:
    """Law of the phases given the totals: that found on a smaller box, beyond it independent phases."""
    result = np.broadcast_to(grid.mixed(), grid.sizes).copy()
    counts = smaller.counts_law(law).ravel()[smaller.counts_of]
    inner = result[tuple(map(slice, smaller.sizes))]
    np.divide(law, counts, out=inner, where=counts > 0)
    return result
