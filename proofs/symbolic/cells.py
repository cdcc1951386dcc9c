"""A cell: what a conjunction of polynomial conditions leaves of the parameters.

Within a cell resources fill up, or classes find their bottlenecks, in one and the same way, so that the tasks
are one expression of the letters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sympy

from proofs.symbolic.decisions.deciding import decide

__all__ = ["Cell"]


@dataclass(frozen=True)
class Cell:
    """Where the tasks are one expression of the letters.

    Attributes
    ----------
    conditions : tuple of sympy relationals
        Polynomials compared with 0 (>=, > or ==); together, under the assumptions, they are the cell.
    tasks : tuple of sympy expressions
        Tasks of each class; they also hold ``free`` letters where the allocation is not unique.
    full : tuple of int
        Resources that are full on all of the cell.
    prices : tuple of sympy expressions, or None
        Prices of the resources, under proportional fairness.
    bottlenecks : tuple of int, or None
        A bottleneck of each class, under bottleneck max fairness.
    free : tuple of sympy symbols
        Parameters of a set of allocations, within the conditions that name them.
    """

    conditions: tuple[Any, ...]
    tasks: tuple[Any, ...]
    full: tuple[int, ...] = ()
    prices: tuple[Any, ...] | None = None
    bottlenecks: tuple[int, ...] | None = None
    free: tuple[Any, ...] = ()

    def holds(self, values: Mapping[Any, Any]) -> bool:
        """Whether exact values of the letters, by symbol, lie in the cell (for some free ones)."""
        left = [condition.subs(values) for condition in self.conditions]
        if sympy.false in left:
            return False
        left = [condition for condition in left if condition != sympy.true]
        return not left or decide(left).answer == "yes"
