"""A pool whose demands, capacities, counts and weights hold letters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import sympy

from fairness.arguments.validation import checked_names, require_whole
from fairness.display.tables import aligned
from fairness.errors import ModelError
from fairness.model.problem import Problem
from proofs.symbolic.decisions.assumptions import Ground
from proofs.symbolic.decisions.formulas import above_zero, divisor_of, dot, exact
from proofs.symbolic.model.reading import expression, numbers_of, relations

__all__ = ["SymbolicProblem", "contradiction", "entries", "require_problem", "whole_numbers"]


class SymbolicProblem:
    """A pool with letters, and the state in which it is shared.

    Parameters
    ----------
    demands : sequence of shape (n_classes, n_resources), resource units per task
        Entries are ints, Fractions, texts such as ``"3/4"`` and ``"2*a"``, floats as they are written (0.1 is
        1/10) or expressions of sympy. All their symbols are letters: real numbers.
    capacities : sequence of shape (n_resources,), resource units
    counts : expression or sequence of shape (n_classes,), jobs
        Default: one job of each class.
    weights : expression or sequence of shape (n_classes,)
        Default: all 1.
    assume : str, sympy relational, or sequence of them
        What is known of the letters: ``"a > 0"``, ``"0 < a < 1"``. Symbols of sympy that are positive or
        nonnegative bring that along.
    class_names, resource_names : sequence of str, optional
    more : sequence, optional
        Expressions, and sequences of them, whose letters are letters of the problem too.

    Raises
    ------
    ModelError
        If the assumptions contradict each other, or do not imply that demands are >= 0, that capacities,
        counts and weights are > 0, and that every class demands something.

    Examples
    --------
    >>> pool = SymbolicProblem([[1, "a"], ["b", 1]], [1, 1], ["x1", "x2"],
    ...                        assume=["0 < a < 1", "0 < b < 1", "x1 > 0", "x2 > 0"])
    >>> pool.letters
    (a, b, x1, x2)
    >>> pool.assumptions[:2]
    (a > 0, a < 1)
    """

    def __init__(
        self,
        demands: Sequence[Sequence[Any]],
        capacities: Sequence[Any],
        counts: Any = 1,
        weights: Any = 1,
        assume: Any = (),
        class_names: Sequence[str] | None = None,
        resource_names: Sequence[str] | None = None,
        *,
        more: Sequence[Any] = (),
    ) -> None:
        rows = _table(demands)
        n, m = len(rows), len(rows[0])
        if isinstance(capacities, str) or not isinstance(capacities, Iterable) or len(list(capacities)) != m:
            raise ModelError.of(
                "capacities", f"must be one entry per resource, {m} as in demands; got {capacities!r:.100}"
            )
        given = (assume,) if isinstance(assume, str) or not isinstance(assume, Iterable) else tuple(assume)
        read = [r for k, one in enumerate(given) for r in relations(one, "assume", k)]
        read += _brought(demands, capacities, counts, weights, more)
        self.demands = sympy.ImmutableMatrix(
            [[expression(v, "demands", i, j) for j, v in enumerate(row)] for i, row in enumerate(rows)]
        )
        self.capacities = tuple(expression(v, "capacities", j) for j, v in enumerate(capacities))
        self.counts = entries("counts", counts, n)
        self.weights = entries("weights", weights, n)
        self.class_names = checked_names("class_names", class_names, n, "class")
        self.resource_names = checked_names("resource_names", resource_names, m, "resource")
        parts = (*self.demands, *self.capacities, *self.counts, *self.weights, *_expressions(more), *read)
        self.letters = _letters(parts)
        self.assumptions = tuple(dict.fromkeys(r for r in read if r != sympy.true))
        self._validate()

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.demands.rows)

    @property
    def n_resources(self) -> int:
        """Number of resources."""
        return int(self.demands.cols)

    @cached_property
    def shares(self) -> list[list[Any]]:
        """c_ij: the share of each resource that one task of each class holds."""
        rows = range(self.n_classes)
        return [[sympy.cancel(self.demands[i, j] / c) for j, c in enumerate(self.capacities)] for i in rows]

    @cached_property
    def masses(self) -> list[Any]:
        """Jobs times weight of each class."""
        return [sympy.cancel(x * w) for x, w in zip(self.counts, self.weights, strict=True)]

    def usage(self, tasks: Iterable[Any]) -> list[Any]:
        """Units of each resource that so many tasks of each class use."""
        amounts = list(tasks)
        return [dot(self.demands.col(j), amounts) for j in range(self.n_resources)]

    @cached_property
    def ground(self) -> Ground:
        """What follows from the assumptions; answers are kept."""
        return Ground(self.letters, self.assumptions)

    def _validate(self) -> None:
        ground = self.ground
        if sympy.false in self.assumptions or ground.excludes(()):
            raise contradiction()
        checks: list[tuple[str, Any, Any, tuple[Any, ...]]] = [
            (f"demands[{i}, {j}]", self.demands[i, j], sympy.Ge, ("demands", i, j))
            for i in range(self.n_classes)
            for j in range(self.n_resources)
        ]
        for name in ("capacities", "counts", "weights"):
            values = getattr(self, name)
            checks += [(f"{name}[{k}]", v, sympy.Gt, (name, k)) for k, v in enumerate(values)]
        for where, value, kind, (argument, *index) in checks:
            self.require(value, kind, where, argument, *index)
        for i in range(self.n_classes):
            total = sum(self.demands[i, :])
            if total == 0 or not self.ground.knows(above_zero(total)):
                name = self.class_names[i]
                said = f": class {name!r} is not known to demand anything; add '{total} > 0' to assume"
                raise ModelError.of("demands", said, i)

    def require(self, value: Any, kind: Any, where: str, argument: str, *index: Any) -> None:
        """Raise ModelError unless a value is known to be >= 0 (``sympy.Ge``) or > 0 (``sympy.Gt``).

        The error names the argument and the index in it, and calls the value ``where``.
        """
        divisor = divisor_of(value)
        if not divisor.is_number and not self.ground.knows(sympy.Ne(divisor, 0)):
            said = f": {where} = {value} may divide by 0; add '{divisor} != 0' to assume"
            raise ModelError.of(argument, said, *index)
        if not self.ground.knows(kind(value, 0, evaluate=False)):
            sign = ">= 0" if kind is sympy.Ge else "> 0"
            said = f": {where} = {value} is not known to be {sign}; add '{value} {sign}' to assume"
            raise ModelError.of(argument, said, *index)

    def altered(self, **arguments: Any) -> SymbolicProblem:
        """The same problem with other arguments, by name."""
        mine = {
            "demands": self.demands.tolist(),
            "capacities": self.capacities,
            "counts": self.counts,
            "weights": self.weights,
            "assume": self.assumptions,
            "class_names": self.class_names,
            "resource_names": self.resource_names,
        }
        return SymbolicProblem(**mine | arguments)

    def values(self, given: Mapping[Any, Any]) -> dict[Any, Any]:
        """Exact values of all letters, by symbol, from a mapping by name or symbol.

        Raises
        ------
        ModelError
            If a letter has no value, a name is no letter, or an assumption is not met.
        """
        made: dict[Any, Any] = numbers_of("values", given, self.letters, all_of_them=True)
        for relation in self.assumptions:
            if relation.subs(made) != sympy.true:
                raise ModelError.of("values", f"do not meet the assumption {relation}")
        return made

    def at(self, values: Mapping[Any, Any]) -> tuple[Problem, list[Any]]:
        """The numeric pool and its counts at values of all letters.

        Returns
        -------
        problem : Problem
        counts : list, fractions, or floats where a value is irrational

        Examples
        --------
        >>> pool, counts = SymbolicProblem([["a", 1]], [1, 2], assume="a > 0").at({"a": "1/2"})
        >>> pool.demands, counts
        (array([[0.5, 1. ]]), [Fraction(1, 1)])
        """
        made = self.values(values)

        def number(value: Any) -> Any:
            found = value.subs(made)
            return exact(found) if found.is_Rational else float(found)

        a = [[number(self.demands[i, j]) for j in range(self.n_resources)] for i in range(self.n_classes)]
        problem = Problem(
            a,
            [number(c) for c in self.capacities],
            weights=[float(number(w)) for w in self.weights],
            job_classes=self.class_names,
            resources=self.resource_names,
        )
        return problem, [number(x) for x in self.counts]

    def __repr__(self) -> str:
        table = [["class", "count", "weight", *self.resource_names]]
        for i, name in enumerate(self.class_names):
            table.append([name, *map(str, (self.counts[i], self.weights[i], *self.demands[i, :]))])
        table.append(["capacity", "", "", *map(str, self.capacities)])
        known = "; ".join(map(str, self.assumptions)) or "nothing"
        heading = f"SymbolicProblem({self.n_classes} classes x {self.n_resources} resources)"
        return "\n".join([heading, *aligned(table), f"  assumed: {known}"])


def _table(demands: Any) -> list[list[Any]]:
    if hasattr(demands, "tolist"):
        demands = demands.tolist()
    try:
        rows = [list(row) for row in demands]
    except TypeError:
        rows = []
    if (
        not rows
        or not rows[0]
        or len({len(row) for row in rows}) != 1
        or any(isinstance(r, str) for r in demands)
    ):
        raise ModelError.of("demands", f"must be rows of one length, one per class; got {demands!r:.100}")
    return rows


def require_problem(problem: Any) -> None:
    """Raise ModelError unless it is a SymbolicProblem."""
    if not isinstance(problem, SymbolicProblem):
        raise ModelError.of("problem", f"must be a SymbolicProblem; got {type(problem).__name__}")


def contradiction() -> ModelError:
    """The error of assumptions that no values of the letters meet."""
    return ModelError.of("assume", "contradicts itself: no values of the letters meet it; drop a relation")


def entries(name: str, given: Any, n: int) -> tuple[Any, ...]:
    """One expression per class, from one for all or a sequence of them."""
    if isinstance(given, str | sympy.Expr) or not isinstance(given, Iterable):
        return (expression(given, name),) * n
    values = list(given)
    if len(values) != n:
        raise ModelError.of(name, f"must be one entry per class, {n} as in demands; got {len(values)}")
    return tuple(expression(v, name, k) for k, v in enumerate(values))


def whole_numbers(name: str, given: Sequence[int], n: int, *, least: int) -> tuple[int, ...]:
    """One whole number per class, none below the least."""
    made = tuple(require_whole(f"{name}[{i}]", value, least=least) for i, value in enumerate(given))
    if len(made) != n:
        raise ModelError.of(name, f"must be one per class, {n}; got {len(made)}")
    return made


def _letters(parts: Iterable[Any]) -> tuple[Any, ...]:
    """Letters in the order in which they first stand somewhere."""
    found: dict[Any, None] = {}
    for part in parts:
        for symbol in sorted(part.free_symbols, key=lambda s: s.name):
            found[symbol] = None
    return tuple(found)


def _expressions(given: Any) -> list[Any]:
    """All expressions of nested sequences."""
    if isinstance(given, str | sympy.Basic) or not isinstance(given, Iterable):
        return [expression(given, "more")]
    return [made for part in given for made in _expressions(part)]


def _brought(*given: Any) -> list[Any]:
    """Relations that symbols of sympy bring along: those that are positive, or nonnegative."""
    found: list[Any] = []
    stack = list(given)
    while stack:
        item = stack.pop()
        if isinstance(item, sympy.Basic):
            for symbol in sorted(item.free_symbols, key=lambda s: s.name):
                sign = ">" if symbol.is_positive else ">=" if symbol.is_nonnegative else None
                found += relations(f"{symbol.name} {sign} 0") if sign else ()
        elif isinstance(item, Iterable) and not isinstance(item, str):
            stack += list(item)
    return found
