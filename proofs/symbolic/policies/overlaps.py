"""Cells that may overlap: taken apart where the tasks are unique, else freed of repetitions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import sympy

from proofs.errors import ProofError
from proofs.symbolic.cells import Cell
from proofs.symbolic.decisions.assumptions import Ground
from proofs.symbolic.decisions.formulas import above_zero, at_least_zero, divisor_of, equals_zero, is_rational
from proofs.symbolic.display.lettering import grouped
from proofs.symbolic.policies.simplifying import needed, simplest, vanishes, within

__all__ = ["agree", "apart", "distinct", "projected", "settled"]


def agree(ground: Ground, cells: Sequence[Cell]) -> bool:
    """Whether the tasks are known to be unique: no free letters, and one answer wherever two cells hold."""
    if any(cell.free for cell in cells):
        return False
    for k, one in enumerate(cells):
        for other in cells[:k]:
            both = (*one.conditions, *other.conditions)
            differences = (sympy.cancel(s - t) for s, t in zip(one.tasks, other.tasks, strict=True))
            if not all(d == 0 or vanishes(ground, d, both) for d in differences):
                return False
    return True


def apart(ground: Ground, cells: Sequence[Cell]) -> list[Cell]:
    """Cells of unique tasks without overlap: what an earlier cell holds is taken from the later ones.

    A later cell gives up what lies in an earlier one, and only that, so the union stays the same. Cells with
    the same tasks are joined where their union is a conjunction.
    """
    kept: list[Cell] = []
    for cell in cells:
        pieces = [cell]
        for earlier in kept:
            pieces = [rest for piece in pieces for rest in _without(ground, piece, earlier)]
        kept += [replace(piece, conditions=needed(ground, piece.conditions)) for piece in pieces]
    merged = _merged(ground, [_retold(ground, cell, kept) for cell in kept])
    return [_upright(ground, cell) for cell in merged]


def _upright(ground: Ground, cell: Cell) -> Cell:
    """The cell with tasks whose denominators are positive on it, where that is known."""
    tasks = []
    for task in cell.tasks:
        top, bottom = sympy.fraction(task)
        if is_rational(task) and ground.sign(bottom, cell.conditions) == -1:
            task = grouped(sympy.expand(-top)) / grouped(sympy.expand(-bottom))
        tasks.append(task)
    return replace(cell, tasks=tuple(tasks))


def _without(ground: Ground, cell: Cell, earlier: Cell) -> Iterator[Cell]:
    """What is left of a cell outside of an earlier one."""
    held = cell.conditions
    if ground.excludes((*held, *earlier.conditions)):
        yield cell
        return
    for condition in earlier.conditions:
        parts = [part for part in _outside(condition) if not ground.excludes((*held, part))]
        for part in parts:
            yield replace(cell, conditions=(*held, part))
        if parts:
            held = (*held, condition)


def _outside(condition: Any) -> tuple[Any, ...]:
    """Relations, one of which holds where the condition does not."""
    left = condition.lhs - condition.rhs
    if condition.rel_op == "==":
        return above_zero(left), above_zero(-left)
    kind = sympy.Ge if condition.rel_op == ">" else sympy.Gt
    return (kind(sympy.expand(-left), 0, evaluate=False),)


def _retold(ground: Ground, cell: Cell, cells: Sequence[Cell]) -> Cell:
    """A cell on which letters are equated, with the expressions of another where they say the same on it."""
    if not any(c.rel_op == "==" for c in cell.conditions):
        return cell
    for other in cells:
        said = (*other.tasks, *(other.prices or ()))
        if not set(other.full) <= set(cell.full) or any(c.rel_op == "==" for c in other.conditions):
            continue
        if not all(is_rational(v) for v in (*said, *cell.tasks)):
            continue
        bottoms = (divisor_of(v) for v in said)
        if not all(ground.sign(bottom, cell.conditions) for bottom in bottoms):
            continue
        # Prices that solve the same equations are as good, if they are none below 0.
        weak = (at_least_zero(p) for p in other.prices or ())
        differences = (s - t for s, t in zip(cell.tasks, other.tasks, strict=True))
        if all(vanishes(ground, d, cell.conditions) for d in differences) and all(
            ground.knows(relation, cell.conditions) for relation in weak
        ):
            return replace(other, conditions=cell.conditions, bottlenecks=cell.bottlenecks)
    return cell


def _merged(ground: Ground, cells: Sequence[Cell]) -> list[Cell]:
    """Cells with the same tasks as one, where its conditions are borders of cells."""
    borders = list(dict.fromkeys(c.lhs - c.rhs for cell in cells for c in cell.conditions))
    candidates = [
        kind(s * b, 0, evaluate=False) for b in borders for s in (1, -1) for kind in (sympy.Gt, sympy.Ge)
    ]
    rest = list(cells)
    for cell in cells:
        group = [c for c in rest if _alike(c, cell)]
        for members in (group, *([one, other] for k, one in enumerate(group) for other in group[:k])):
            if len(members) < 2 or not all(member in rest for member in members):
                continue
            wide = [c for c in candidates if all(ground.implies(c, member.conditions) for member in members)]
            if not within(ground, wide, members):
                continue
            maps = {member.bottlenecks for member in members}
            rest[rest.index(members[0])] = replace(
                members[0],
                conditions=needed(ground, wide),
                bottlenecks=maps.pop() if len(maps) == 1 else None,
            )
            rest = [c for c in rest if c not in members[1:]]
    return rest


def _alike(one: Cell, other: Cell) -> bool:
    first, second = (replace(cell, conditions=(), bottlenecks=None) for cell in (one, other))
    return first == second


def distinct(ground: Ground, cells: Sequence[Cell]) -> list[Cell]:
    """The cells without those whose allocations another cell has too."""
    kept: list[Cell] = []
    # The widest first: points may be ends of segments.
    for cell in sorted(cells, key=lambda cell: -len(cell.free)):
        if not any(_within(ground, cell, other) for other in kept):
            kept.append(cell)
    return [replace(cell, conditions=_needed(ground, cell)) for cell in cells if cell in kept]


def _needed(ground: Ground, cell: Cell) -> tuple[Any, ...]:
    return needed(ground.with_letters(cell.free) if cell.free else ground, cell.conditions)


def _within(ground: Ground, cell: Cell, other: Cell) -> bool:
    """Whether all allocations of a cell are known to be some of another."""
    ground = ground.with_letters(cell.free) if cell.free else ground
    # The free letters of the other are tasks of a class each.
    told = {u: cell.tasks[other.tasks.index(u)] for u in other.free}
    wanted = [
        equals_zero(mine - theirs.xreplace(told))
        for mine, theirs in zip(cell.tasks, other.tasks, strict=True)
    ]
    wanted += [c.func(c.lhs.xreplace(told), c.rhs, evaluate=False) for c in other.conditions]
    return all(ground.knows(relation, cell.conditions) for relation in wanted)


def projected(ground: Ground, cell: Cell) -> tuple[Any, ...]:
    """Conditions on the letters alone for a cell to hold an allocation: its free letters eliminated.

    Fourier and Motzkin's elimination: every lower bound of a free letter is at most every upper bound.

    Raises
    ------
    ProofError
        If a condition is not linear in a free letter, with a coefficient of known sign.
    """
    if not cell.free:
        return cell.conditions
    ground, conditions = ground.with_letters(cell.free), list(cell.conditions)
    for u in cell.free:
        bounds: dict[int, list[tuple[Any, bool]]] = {1: [(sympy.Integer(0), True)], -1: []}
        rest = []
        for c in conditions:
            left = sympy.expand(c.lhs - c.rhs)
            slope = sympy.diff(left, u)
            sign = 0 if slope == 0 else ground.sign(slope, cell.conditions)
            if sign is None or slope.has(u):
                raise ProofError(f"the free letter {u} cannot be eliminated from {c}; give letters values")
            if sign == 0:
                rest.append(c)
                continue
            for side in (1, -1) if c.rel_op == "==" else (sign,):
                bounds[side].append((simplest(u - left / slope), c.rel_op == ">"))
        for low, above in bounds[1]:
            for high, below in bounds[-1]:
                kind = sympy.Gt if above or below else sympy.Ge
                rest.append(ground.tidy(kind(high - low, 0, evaluate=False), cell.conditions))
        conditions = [c for c in dict.fromkeys(rest) if c != sympy.true]
    return tuple(conditions)


def settled(ground: Ground, cell: Cell) -> Cell:
    """The cell with values for free letters that its conditions fix, and for letters that it equates.

    The ground has the free letters.
    """
    while True:
        cell = replace(cell, conditions=_equated(cell.conditions))
        found = _fixed(ground, cell)
        if found is None:
            return replace(cell, tasks=tuple(map(_short, cell.tasks)))
        symbol, value, defining = found
        # An equation of letters stays a condition; no other names its letter from here on.
        kept = () if symbol in cell.free else (defining,)
        sides = {
            c: simplest((c.lhs - c.rhs).xreplace({symbol: value})) for c in cell.conditions if c not in kept
        }
        told = [ground.tidy(c.func(side, 0, evaluate=side.is_number), kept) for c, side in sides.items()]
        cell = replace(
            cell,
            conditions=(*kept, *dict.fromkeys(c for c in told if c != sympy.true)),
            tasks=tuple(_short(task.xreplace({symbol: value})) for task in cell.tasks),
            prices=cell.prices and tuple(_short(price.xreplace({symbol: value})) for price in cell.prices),
            free=tuple(u for u in cell.free if u != symbol),
        )


def _equated(conditions: Sequence[Any]) -> tuple[Any, ...]:
    """The conditions with p == 0 for p >= 0 and -p >= 0."""
    weak = {c.lhs - c.rhs for c in conditions if c.rel_op == ">="}
    made: dict[Any, None] = {}
    for c in conditions:
        left = c.lhs - c.rhs
        both = c.rel_op == ">=" and sympy.expand(-left) in weak
        positive = -left if left.could_extract_minus_sign() else left
        made[equals_zero(sympy.expand(positive)) if both else c] = None
    return tuple(made)


def _fixed(ground: Ground, cell: Cell) -> tuple[Any, Any, Any] | None:
    """A free letter that the conditions determine, or a letter that they equate, its value, and by which."""
    for c in cell.conditions:
        left = c.lhs - c.rhs
        inside = [u for u in cell.free if left.has(u)]
        if c.rel_op == "==" and not inside:
            # Only a letter with a number as its coefficient: nothing is divided by what may be 0.
            linear = [v for v in sorted(left.free_symbols, key=str) if sympy.diff(left, v).is_number]
            others = (*cell.tasks, *(o.lhs for o in cell.conditions if o is not c))
            if linear and all(any(other.has(v) for other in others) for v in linear):
                return linear[0], sympy.expand(linear[0] - left / sympy.diff(left, linear[0])), c
        above = (*cell.conditions, above_zero(left))
        if inside and (c.rel_op == "==" or ground.excludes(above)):
            for u in inside:
                slope = sympy.diff(left, u)
                if not slope.has(u) and ground.sign(slope, cell.conditions):
                    return u, simplest(u - left / slope), c
    return None


def _short(value: Any) -> Any:
    return simplest(value) if is_rational(value) else value
