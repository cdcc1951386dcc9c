"""A pool with letters under random traffic with letters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy

from fairness.errors import ModelError
from proofs.symbolic.model.problem import SymbolicProblem, entries
from proofs.symbolic.model.reading import expression
from queueing.model.system import System

__all__ = ["SymbolicSystem"]


class SymbolicSystem:
    """Jobs that arrive at a pool; rates and sizes hold letters.

    Parameters
    ----------
    demands, capacities, weights, assume, class_names, resource_names
        As for :class:`SymbolicProblem`.
    arrival_rates : expression or sequence of shape (n_classes,), jobs per unit of time
        > 0.
    mean_sizes : expression or sequence of shape (n_classes,), task-time per job
        > 0, of exponential sizes. Default: 1.

    Attributes
    ----------
    problem : SymbolicProblem
        Its letters are those of the rates and sizes too; its counts are 1.
    loads : tuple of sympy expressions
        Arrival rate times mean size of each class, tasks.

    Raises
    ------
    ModelError
        As for :class:`SymbolicProblem`; also if rates or sizes are not known to be > 0.

    Examples
    --------
    >>> system = SymbolicSystem([[1, "a"], ["a", 1]], [1, 1], "r", assume=["0 < a < 1", "r > 0"])
    >>> system.loads, system.letters
    ((r, r), (a, r))
    """

    def __init__(
        self,
        demands: Any,
        capacities: Any,
        arrival_rates: Any,
        mean_sizes: Any = 1,
        *,
        weights: Any = 1,
        assume: Any = (),
        class_names: Any = None,
        resource_names: Any = None,
    ) -> None:
        self.problem = SymbolicProblem(
            demands,
            capacities,
            weights=weights,
            assume=assume,
            class_names=class_names,
            resource_names=resource_names,
            more=(arrival_rates, mean_sizes),
        )
        n = self.problem.n_classes
        self.arrival_rates = entries("arrival_rates", arrival_rates, n)
        self.mean_sizes = entries("mean_sizes", mean_sizes, n)
        for name in ("arrival_rates", "mean_sizes"):
            for i, value in enumerate(getattr(self, name)):
                self.problem.require(value, sympy.Gt, f"{name}[{i}]", name, i)
        self.loads = tuple(r * s for r, s in zip(self.arrival_rates, self.mean_sizes, strict=True))

    @property
    def letters(self) -> tuple[Any, ...]:
        """All letters."""
        return self.problem.letters

    def with_counts(self) -> tuple[SymbolicProblem, tuple[Any, ...]]:
        """The pool whose counts are letters > 0, x1, x2, ..., and these letters.

        Raises
        ------
        ModelError
            If a letter of the system has such a name.
        """
        names = [f"x{i + 1}" for i in range(self.problem.n_classes)]
        if taken := {symbol.name for symbol in self.letters} & set(names):
            raise ModelError.of("system", f"has the letter {min(taken)!r}, which stands for a number of jobs")
        assume = (*self.problem.assumptions, *(f"{name} > 0" for name in names))
        problem = self.problem.altered(
            counts=names, assume=assume, more=(self.arrival_rates, self.mean_sizes)
        )
        return problem, tuple(map(expression, names))

    def at(self, values: Mapping[Any, Any]) -> System:
        """The numeric system at values of all letters.

        Examples
        --------
        >>> system = SymbolicSystem([["a"]], [1], "r", assume=["a > 0", "r > 0"])
        >>> system.at({"a": 2, "r": "1/4"}).relative_loads
        array([0.5])
        """
        problem, _ = self.problem.at(values)
        made = self.problem.values(values)
        rates, sizes = (
            [float(value.subs(made)) for value in vector] for vector in (self.arrival_rates, self.mean_sizes)
        )
        return System(problem, rates, sizes)

    def __repr__(self) -> str:
        text = repr(self.problem).replace("SymbolicProblem", "SymbolicSystem", 1)
        loads = ", ".join(map(str, self.loads))
        return f"{text}\n  loads: {loads}"
