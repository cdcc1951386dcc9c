r"""Stability with letters: facets of the region, and drifts of the fluid cell by cell.

Some policy is stable if and only if :math:`\sum_i \rho_i a_{ij} < C_j` for every resource. In a state with
:math:`x_i` jobs of each class, the fluid moves by :math:`\lambda_i - \varphi_i(x)/\sigma_i`, and a function V
of the state by :math:`\sum_i \frac{\partial V}{\partial x_i}(\lambda_i - \varphi_i(x)/\sigma_i)`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy

from proofs.symbolic.decisions.formulas import above_zero, dot
from proofs.symbolic.forms import closed_form
from proofs.symbolic.model.reading import expression
from proofs.symbolic.model.system import SymbolicSystem
from proofs.symbolic.policies.simplifying import needed, simplest

__all__ = ["DriftCell", "drift_cells", "stability_facets"]


@dataclass(frozen=True)
class DriftCell:
    """Where the drift is one expression of the letters and the counts.

    Attributes
    ----------
    conditions : tuple of sympy relationals
    drift : tuple of sympy expressions
        Jobs of each class per unit of time, in states with jobs of all classes.
    change : sympy expression, or None
        Drift of the function V, if one was given.
    """

    conditions: tuple[Any, ...]
    drift: tuple[Any, ...]
    change: Any = None


def stability_facets(system: SymbolicSystem) -> tuple[Any, ...]:
    """Polynomial conditions under which some policy is stable, without those that others imply.

    Parameters
    ----------
    system : SymbolicSystem

    Returns
    -------
    tuple of sympy relationals

    Examples
    --------
    >>> assume = ["0 < a < 1", "0 < b < a", "r > 0"]
    >>> stability_facets(SymbolicSystem([[1, "a"], ["a", "b"]], [1, 1], "r", assume=assume))
    (-a*r - r + 1 > 0,)
    """
    problem = system.problem
    conditions = []
    for load, capacity in zip(problem.usage(system.loads), problem.capacities, strict=True):
        if load != 0:
            conditions.append(problem.ground.tidy(above_zero(capacity - load)))
    return needed(problem.ground, [c for c in conditions if c != sympy.true])


def drift_cells(system: SymbolicSystem, policy: Any, V: Any = None) -> tuple[DriftCell, ...]:
    """Drift of the fluid under a policy, in states with jobs of every class, cell by cell.

    Parameters
    ----------
    system : SymbolicSystem
    policy : policy with a closed form
    V : expression, optional
        A function of the counts x1, x2, ...: its drift comes too.

    Returns
    -------
    tuple of DriftCell
        Complete and disjoint as the :func:`closed_form` is.

    Examples
    --------
    >>> from fairness import DRF
    >>> system = SymbolicSystem([[1, "a"], ["a", 1]], [1, 1], "r", assume=["0 < a < 1", "r > 0"])
    >>> for cell in drift_cells(system, DRF(), "x1**2 + x2**2"):
    ...     print(cell.conditions, cell.drift[0])
    (x1 - x2 >= 0,) r - x1/(a*x2 + x1)
    (-x1 + x2 > 0,) r - x1/(a*x1 + x2)
    """
    problem, counts = system.with_counts()
    function = None if V is None else expression(V, "V")
    cells = []
    for cell in closed_form(problem, policy).cells:
        drift = tuple(
            rate - phi / size
            for rate, phi, size in zip(system.arrival_rates, cell.tasks, system.mean_sizes, strict=True)
        )
        change = None
        if function is not None:
            change = simplest(dot((sympy.diff(function, x) for x in counts), drift))
        cells.append(DriftCell(cell.conditions, tuple(simplest(d) for d in drift), change))
    return tuple(cells)
