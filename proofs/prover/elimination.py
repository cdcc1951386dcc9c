"""Linear equations over the rationals, by an elimination that keeps few numbers: rows as tables."""

from __future__ import annotations

import time
from collections.abc import Mapping
from fractions import Fraction

__all__ = ["Pivot", "eliminated", "follow"]

Pivot = tuple[int, dict[int, Fraction], Fraction]
"""An unknown, the factors of those that it is to be reduced by, and the constant from which."""


def eliminated(
    rows: dict[object, dict[int, Fraction]], right: Mapping[object, Fraction], deadline: float
) -> list[Pivot] | None:
    """Unknowns by later ones and those that no row begins with; None if the equations contradict each other.

    Each row gives one unknown: that which stands in the fewest rows, of the shortest row. None, too, when the
    deadline passes. The rows are used up; right sides that are not given are 0.
    """
    sides = {key: right.get(key, Fraction(0)) for key in rows}
    where: dict[int, set[object]] = {}
    for key, row in rows.items():
        for j in row:
            where.setdefault(j, set()).add(key)
    pivots: list[Pivot] = []
    while rows:
        if time.monotonic() > deadline:
            return None
        key = min(rows, key=lambda key: len(rows[key]))
        row, value = rows.pop(key), sides.pop(key)
        if not row:
            if value:
                return None
            continue
        place = min(row, key=lambda j: (len(where[j]), abs(row[j]) != 1, j))
        for j in row:
            where[j].discard(key)
        scale = row.pop(place)
        row = {j: c / scale for j, c in row.items()}
        value /= scale
        for other in list(where[place]):
            target = rows[other]
            factor = target.pop(place)
            for j, c in row.items():
                changed = target.get(j, Fraction(0)) - factor * c
                if changed:
                    target[j] = changed
                    where[j].add(other)
                else:
                    del target[j]
                    where[j].discard(other)
            sides[other] -= factor * value
        del where[place]
        pivots.append((place, row, value))
    return pivots


def follow(pivots: list[Pivot], values: list[Fraction]) -> None:
    """Replace the values of the eliminated unknowns by what follows from those of the others."""
    for place, row, constant in reversed(pivots):
        values[place] = constant - sum((c * values[j] for j, c in row.items()), Fraction(0))
