"""Closed forms as functions of numpy arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import sympy

from proofs.symbolic.cells import Cell
from proofs.symbolic.model.problem import SymbolicProblem

__all__ = ["Compiled"]

_SIDES = {">": (1, True), ">=": (1, False), "<": (-1, True), "<=": (-1, False), "==": (0, False)}


class Compiled:
    """Number of the cell and tasks of a closed form as functions of arrays."""

    def __init__(self, problem: SymbolicProblem, cells: Sequence[Cell], letters: tuple[Any, ...]) -> None:
        self._n = problem.n_classes
        self._cells = []
        for cell in cells:
            shown = [c for c in cell.conditions if not c.free_symbols & set(cell.free)]
            margins = sympy.lambdify(letters, [c.lhs - c.rhs for c in shown], "numpy", cse=True)
            tasks = [sympy.nan] * self._n if cell.free else list(cell.tasks)
            compiled = sympy.lambdify(letters, tasks, "numpy", cse=True)
            self._cells.append(([_SIDES[c.rel_op] for c in shown], margins, compiled))
        self._assumed = sympy.lambdify(letters, list(problem.assumptions), "numpy")

    def numbers(self, *values: Any) -> np.ndarray:
        """Which cell each point lies in; -1 where the assumptions fail."""
        return self._located(values)[0]

    def tasks(self, *values: Any) -> np.ndarray:
        """Tasks at each point, NaN where the assumptions fail."""
        return self._located(values)[1]

    def _located(self, values: tuple[Any, ...]) -> tuple[np.ndarray, np.ndarray]:
        arrays = np.broadcast_arrays(*(np.asarray(v, dtype=float) for v in values)) if values else []
        shape = arrays[0].shape if arrays else ()
        best, number = np.full(shape, -np.inf), np.full(shape, -1)
        answer = np.full((*shape, self._n), np.nan)
        met = np.ones(shape, dtype=bool)
        with np.errstate(all="ignore"):
            for relation in self._assumed(*arrays):
                met &= relation
            for k, (kinds, margins, tasks) in enumerate(self._cells):
                # How far outside of the cell; a point that rounding puts outside of all takes the nearest.
                inside = np.full(shape, np.inf)
                for (sign, strict), side in zip(kinds, margins(*arrays), strict=True):
                    distance = sign * side if sign else -np.abs(side)
                    holds = distance > 0 if strict else distance >= 0
                    inside = np.minimum(inside, np.where(holds, np.inf, distance))
                better = met & (inside > best)
                if better.any():
                    found = np.stack([np.broadcast_to(t, shape) for t in tasks(*arrays)], axis=-1)
                    answer = np.where(better[..., None], found, answer)
                    best, number = np.where(better, inside, best), np.where(better, k, number)
        return number, answer
