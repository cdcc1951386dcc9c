"""The verb that writes a policy's allocation in letters."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from fairness.machine.work import OutOfTime, stopped, watching
from proofs.symbolic.cells import Cell
from proofs.symbolic.closed_forms import NOT_UNIQUE, ClosedForm
from proofs.symbolic.decisions.assumptions import Ground
from proofs.symbolic.decisions.covering import complete, disjoint
from proofs.symbolic.model.families import written
from proofs.symbolic.model.problem import SymbolicProblem, require_problem
from proofs.symbolic.policies.overlaps import projected

__all__ = ["closed_form"]

_MAKERS = {
    "filling": ("filling", "filling_cells"),
    "bottleneck-max": ("bottleneck_max", "bottleneck_cells"),
    "alpha-fair": ("proportional", "proportional_cells"),
}
"""For each family, the module of proofs.symbolic.policies and its function of (problem, policy) to cells."""
PATIENCE = 10.0
"""Seconds for each solver to say that the cells are complete."""


def closed_form(problem: SymbolicProblem, policy: Any, *, time_limit: float | None = None) -> ClosedForm:
    """The allocation of a policy as expressions of the letters, cell by cell.

    Parameters
    ----------
    problem : SymbolicProblem
    policy : MaxMin, DRF (with weights per resource: EDRF), AssetFair, BottleneckMax or ProportionalFair
        Of bottleneck max fairness these are all allocations, which need not be unique from three resources
        on; then ``at`` gives the first. Proportional fairness is written with square roots at most.
    time_limit : float, optional
        Seconds for all of it; default: as long as it takes.

    Returns
    -------
    ClosedForm
        Cells that a person would write, and who says that they are complete and disjoint.

    Raises
    ------
    ModelError
        If the policy has no closed form here.
    NotConvergedError
        If time_limit is over; ``best`` holds the cells, if they are all known.
    ProofError
        If prices of proportional fairness are roots of polynomials of a degree above 2, or there are too many
        maps of classes to bottlenecks.

    Examples
    --------
    >>> from fairness import DRF
    >>> pool = SymbolicProblem([[1, "a"], ["a", 1]], [1, 1], assume="0 < a < 1")
    >>> closed_form(pool, DRF())
    DRF in letters: 1 cell
      1. where everywhere
         tasks 1/(a + 1), 1/(a + 1); full: resource 1, resource 2
      assumed: a > 0; a < 1
      complete: proved by the form of the conditions
      disjoint: proved by the form of the conditions
    """
    require_problem(problem)
    family = written(policy)
    module, name = _MAKERS[family.name]
    cells: list[Cell] = []
    with watching(time_limit=time_limit):
        try:
            make = getattr(import_module(f"proofs.symbolic.policies.{module}"), name)
            cells = make(problem, policy)
            ground, conditions = problem.ground, [projected(problem.ground, cell) for cell in cells]
            unique = family.name != "bottleneck-max" or not _several(ground, cells, conditions)
            covered = complete(ground, conditions, time_limit=PATIENCE)
            apart = disjoint(ground, conditions, time_limit=PATIENCE) if unique else NOT_UNIQUE
        except (OutOfTime, KeyboardInterrupt) as stop:
            known = f"{len(cells)} cells are known, perhaps not all" if cells else "no cell is known"
            raise stopped(stop, known, cells) from None
    return ClosedForm(problem, policy, tuple(cells), covered, apart)


def _several(ground: Ground, cells: list[Cell], conditions: list[tuple[Any, ...]]) -> bool:
    """Whether some values of the letters may have more than one allocation."""
    pairs = ((*one, *other) for k, one in enumerate(conditions) for other in conditions[:k])
    return any(cell.free for cell in cells) or any(not ground.excludes(both) for both in pairs)
