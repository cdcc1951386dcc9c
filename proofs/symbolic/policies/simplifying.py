"""Cells as a person would write them: short expressions, no implied conditions, equal neighbours joined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import sympy

from proofs.symbolic.cells import Cell
from proofs.symbolic.decisions.formulas import conjunction, negated
from proofs.symbolic.decisions.ground import Ground
from proofs.symbolic.display.lettering import grouped, length

__all__ = ["joined", "needed", "simplest"]


def simplest(value: Any) -> Any:
    """The shortest of a few ways to write a rational expression."""
    cancelled = sympy.cancel(value)
    top, bottom = sympy.fraction(cancelled)
    ways = [cancelled, sympy.factor(cancelled), grouped(top) / grouped(bottom)]
    return min(ways, key=length)


def needed(ground: Ground, conditions: Sequence[Any]) -> tuple[Any, ...]:
    """The conditions without those that the others and the assumptions imply."""
    kept = list(dict.fromkeys(conditions))
    for condition in sorted(kept, key=sympy.count_ops, reverse=True):
        others = [c for c in kept if c is not condition]
        if ground.implies(condition, others):
            kept = others
    return tuple(kept)


def joined(ground: Ground, cells: Sequence[Cell]) -> list[Cell]:
    """The same cells with only the needed conditions, those of equal tasks joined where one cell is left."""
    rest = [replace(cell, conditions=needed(ground, cell.conditions)) for cell in cells]
    k = 0
    while k < len(rest):
        for other in rest[k + 1 :]:
            union = _union(ground, rest[k], other)
            if union is not None:
                rest[k] = replace(rest[k], conditions=needed(ground, union))
                rest.remove(other)
                k = -1
                break
        k += 1
    return rest


def _union(ground: Ground, one: Cell, other: Cell) -> tuple[Any, ...] | None:
    """Conditions of the union of two cells with the same tasks, if it is a conjunction of theirs."""
    if replace(one, conditions=()) != replace(other, conditions=()):
        return None
    both = [c for c in one.conditions if ground.implies(c, other.conditions)]
    both += [c for c in other.conditions if c not in both and ground.implies(c, one.conditions)]
    outside = [negated(("and", conjunction(cell.conditions))) for cell in (one, other)]
    return tuple(both) if ground.can((*both, *outside)).answer == "no" else None
