"""Closed forms: an allocation as expressions of the letters, cell by cell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairness.display.result import Result
from fairness.errors import ModelError
from fairness.protocol.policy import policy_name
from proofs.symbolic.cells import Cell
from proofs.symbolic.display.compiled import Compiled
from proofs.symbolic.display.lettering import latex_cases, said, written
from proofs.symbolic.display.plotting import plot_cells
from proofs.symbolic.model.problem import SymbolicProblem
from proofs.symbolic.model.reading import number

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["NOT_UNIQUE", "ClosedForm"]

NOT_UNIQUE = "not claimed: allocations are not unique"


@dataclass(frozen=True, eq=False, repr=False)
class ClosedForm(Result):
    """An allocation in letters, cell by cell; made by :func:`closed_form`.

    Attributes
    ----------
    problem : SymbolicProblem
    policy : policy
    cells : tuple of Cell
    complete : str
        Who says that every choice of the letters that the assumptions allow lies in a cell.
    disjoint : str
        Who says that none lies in two.
    """

    problem: SymbolicProblem
    policy: Any
    cells: tuple[Cell, ...]
    complete: str
    disjoint: str

    @property
    def policy_name(self) -> str:
        """Name of the policy."""
        return policy_name(self.policy)

    def at(self, values: Mapping[Any, Any]) -> tuple[tuple[Any, ...], Cell]:
        """Exact tasks at values of all letters, and the cell that gives them.

        Parameters
        ----------
        values : mapping from letter, or its name, to number
            As entries of a :class:`SymbolicProblem`: ints, Fractions, texts, floats, numbers of sympy.

        Returns
        -------
        tasks : tuple of Fraction, or of sympy numbers and expressions in free letters
        cell : Cell
            The first that holds; others may where allocations are not unique.

        Raises
        ------
        ModelError
            If the values do not meet the assumptions, or lie in no cell.
        """
        exact = self.problem.values(values)
        for cell in self.cells:
            if cell.holds(exact):
                return tuple(number(task.subs(exact)) for task in cell.tasks), cell
        raise ModelError.of("values", f"lie in no cell (complete: {self.complete})")

    def lambdify(self, *letters: Any) -> Callable[..., np.ndarray]:
        """Tasks as a function of numpy arrays, one for each letter.

        Parameters
        ----------
        letters : letter or name
            Order of the arguments, all letters once; default: as the problem has them.

        Returns
        -------
        function
            From arrays that broadcast to tasks of shape (..., n_classes); NaN where the assumptions fail.

        Examples
        --------
        >>> from fairness import DRF
        >>> from proofs.symbolic import SymbolicProblem, closed_form
        >>> form = closed_form(SymbolicProblem([[1, "a"]], [1, 1], assume="a > 0"), DRF())
        >>> form.lambdify()([0.5, 2, -1])
        array([[1. ],
               [0.5],
               [nan]])
        """
        compiled = Compiled(self.problem, self.cells, self._ordered(letters))
        if self.disjoint == NOT_UNIQUE:
            raise ModelError("the allocation is not unique, so it is no function of the letters; use at()")
        return compiled.tasks

    def located(self, *letters: Any) -> Callable[..., np.ndarray]:
        """As :meth:`lambdify`, a function that gives numbers of cells; -1 where the assumptions fail."""
        return Compiled(self.problem, self.cells, self._ordered(letters)).numbers

    def _ordered(self, letters: tuple[Any, ...]) -> tuple[Any, ...]:
        mine = {symbol.name: symbol for symbol in self.problem.letters}
        names = [getattr(v, "name", v) for v in letters] or list(mine)
        if sorted(names) != sorted(mine):
            raise ModelError.of("letters", f"must be {', '.join(mine) or 'none'}, each once; got {letters}")
        return tuple(mine[name] for name in names)

    def to_latex(self) -> str:
        """The form as LaTeX: one case per cell."""
        return latex_cases([(cell.tasks, cell.conditions) for cell in self.cells])

    def to_dataframe(self) -> pd.DataFrame:
        """One row per cell: conditions, tasks of each class, full resources."""
        import pandas as pd

        rows = []
        for cell in self.cells:
            row = {"where": "; ".join(map(said, cell.conditions)) or "everywhere"}
            named = zip(self.problem.class_names, cell.tasks, strict=True)
            row |= {f"tasks of {name}": written(task) for name, task in named}
            row["full"] = ", ".join(self.problem.resource_names[j] for j in cell.full)
            rows.append(row)
        return pd.DataFrame(rows)

    def plot(
        self, ax: Axes | None = None, *, x: Any = None, y: Any = None, at: Mapping[Any, Any] | None = None
    ) -> Axes:
        """Draw the cells over two letters (or the tasks over one), the others fixed.

        Parameters
        ----------
        ax : Axes, optional
        x, y : letter or name, optional
            Default: the first two letters.
        at : mapping, optional
            Values of the other letters; default: values that meet the assumptions.
        """
        return plot_cells(self, ax, x, y, at)

    def summary(self) -> str:
        """The cells and who says that they are complete and disjoint."""
        frame = self.to_dataframe()
        lines = [f"{self.policy_name} in letters: {len(self.cells)} cell{'s' * (len(self.cells) != 1)}"]
        for k, row in enumerate(frame.to_dict("records")):
            lines.append(f"  {k + 1}. where {row['where']}")
            tasks = ", ".join(map(written, self.cells[k].tasks))
            lines.append(f"     tasks {tasks}; full: {row['full'] or 'none'}")
        known = "; ".join(map(str, self.problem.assumptions)) or "nothing"
        return "\n".join(
            [*lines, f"  assumed: {known}", f"  complete: {self.complete}", f"  disjoint: {self.disjoint}"]
        )

    @property
    def _tabulated(self) -> int:
        return 2 * len(self.cells)
