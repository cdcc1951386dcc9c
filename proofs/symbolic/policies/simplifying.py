"""Cells as a person would write them: short expressions, no implied conditions, equal neighbours joined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import sympy

from proofs.symbolic.cells import Cell
from proofs.symbolic.decisions.assumptions import Ground
from proofs.symbolic.decisions.formulas import conjunction, divisor_of, equals_zero, negated
from proofs.symbolic.display.lettering import grouped, length

__all__ = ["emptied", "joined", "needed", "simplest", "vanishes", "within"]


def simplest(value: Any) -> Any:
    """The shortest of a few ways to write a rational expression."""
    top, bottom = sympy.fraction(sympy.cancel(value))
    if bottom.as_coeff_Add()[0] < 0:
        top, bottom = sympy.expand(-top), sympy.expand(-bottom)
    under = grouped(bottom)
    best = min([top / bottom, sympy.factor(top / bottom), grouped(top) / under], key=length)
    # A capacity less what others use: the whole part by any of the letters, if it saves more than one letter.
    ways = []
    for letter in sorted(bottom.free_symbols, key=lambda symbol: symbol.name):
        others = sorted(value.free_symbols - {letter}, key=lambda symbol: symbol.name)
        (whole,), rest = sympy.reduced(top, [bottom], letter, *others)
        ways.append(grouped(whole) + sympy.factor(rest) / under)
    apart = min(ways, key=length, default=best)
    return apart if length(apart)[0] + 1 < length(best)[0] else best


def needed(ground: Ground, conditions: Sequence[Any]) -> tuple[Any, ...]:
    """The conditions without those that the others and the assumptions imply."""
    kept = list(dict.fromkeys(conditions))
    for condition in sorted(kept, key=sympy.count_ops, reverse=True):
        others = [c for c in kept if c is not condition]
        if ground.implies(condition, others):
            kept = others
    return tuple(kept)


def joined(ground: Ground, cells: Sequence[Cell]) -> list[Cell]:
    """The same cells with only the needed conditions, neighbours of equal tasks joined to one cell."""
    rest = [replace(cell, conditions=needed(ground, cell.conditions)) for cell in cells]
    k = 0
    while k < len(rest):
        one = rest[k]
        thin = _is_thin(ground, one)
        for other in (cell for cell in rest if cell is not one):
            if (one.tasks == other.tasks and one.full == other.full) or (thin and _agree(ground, one, other)):
                union = _union(ground, one, other)
                if union is not None:
                    made = replace(other, conditions=needed(ground, union))
                    rest = [made if cell is other else cell for cell in rest if cell is not one]
                    k = -1
                    break
        k += 1
    return sorted(rest, key=lambda cell: _is_thin(ground, cell))


def _is_thin(ground: Ground, cell: Cell) -> bool:
    """Whether a cell has no interior, as where two values are equal."""
    inside = [sympy.Gt(c.lhs, c.rhs, evaluate=False) for c in cell.conditions if c.rel_op != "=="]
    return len(inside) < len(cell.conditions) or ground.excludes(inside)


def _agree(ground: Ground, thin: Cell, other: Cell) -> bool:
    """Whether on a thin cell the tasks are those of another, written otherwise."""
    differences = [one - two for one, two in zip(thin.tasks, other.tasks, strict=True)]
    bottoms = (divisor_of(d) for d in differences)
    return all(ground.implies(sympy.Ne(bottom, 0), thin.conditions) for bottom in bottoms) and all(
        vanishes(ground, d, thin.conditions) for d in differences
    )


def vanishes(ground: Ground, expression: Any, given: tuple[Any, ...]) -> bool:
    """Whether a quotient is known to be 0 where the given relations hold."""
    top, _ = sympy.fraction(sympy.cancel(expression))
    return ground.implies(equals_zero(top), given)


def emptied(ground: Ground, left: Mapping[int, Any], conditions: Sequence[Any]) -> list[int]:
    """Resources of which nothing is left where the conditions hold; what is left is given by resource."""
    equated = any(c.rel_op == "==" for c in conditions)
    return [j for j, v in left.items() if v == 0 or (equated and ground.sign(v, conditions) == 0)]


def _union(ground: Ground, one: Cell, other: Cell) -> tuple[Any, ...] | None:
    """Conditions of the union of two cells, if it is a conjunction of theirs, or of these with their ends."""
    both: dict[Any, None] = {}
    for mine, others in ((one.conditions, other.conditions), (other.conditions, one.conditions)):
        for c in mine:
            closed = sympy.Ge(c.lhs, c.rhs, evaluate=False)
            both |= {way: None for way in (c, closed) if ground.implies(way, (*others,))}
    met = [c for c in both if all(ground.implies(c, cell.conditions) for cell in (one, other))]
    return tuple(met) if within(ground, met, (one, other)) else None


def within(ground: Ground, conditions: Sequence[Any], cells: Sequence[Cell]) -> bool:
    """Whether the conditions are known to hold nowhere but in the cells."""
    outside = [negated(("and", conjunction(cell.conditions))) for cell in cells]
    return ground.excludes((*conditions, *outside))
