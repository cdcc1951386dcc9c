"""What is free, counted in whole numbers.

Whether the next task still fits is a comparison that must not be spoilt by rounding: every float is a
fraction, so all amounts of one resource on one server are multiplied by their common denominator, and then
additions and comparisons are those of integers. If the model was given as integers or fractions, that is
all. If it was given as floats, 0.3 is not three times 0.1; then a task also fits when it exceeds what is free
by at most :data:`ROUNDING` of the capacity. Limits and the bounds of queues are floats in any model: they
are exceeded by as much.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

__all__ = ["ROUNDING", "Ledger", "Number"]

Number = Fraction | float
"""An exact number, or a float where the model was given in floats."""

ROUNDING = Fraction(1, 10**12)
"""Relative difference below which two floats are equal; numbers of a rational model are exact."""


class Ledger:
    """Free amounts on servers, and what a task of each class holds there.

    Parameters
    ----------
    needs : sequence indexed [class][server][resource]
        What one task holds. None instead of the resources where the class may not run.
    capacities : sequence indexed [server][resource]
    exact : bool
        Whether the numbers are meant exactly.
    used : sequence indexed [server][resource], optional
        What is in use before the first task; it may exceed the capacity, then nothing fits.
    """

    def __init__(
        self,
        needs: Sequence[Sequence[Sequence[Number] | None]],
        capacities: Sequence[Sequence[Number]],
        *,
        exact: bool,
        used: Sequence[Sequence[Number]] | None = None,
    ) -> None:
        self._needs: list[list[list[tuple[int, int]] | None]] = [
            [None if row is None else [] for row in rows] for rows in needs
        ]
        self._whole: list[list[int]] = []
        self._free: list[list[int]] = []
        self._margin: list[list[int]] = []
        for i, row in enumerate(capacities):
            users = [n for n in range(len(needs)) if needs[n][i] is not None]
            total, free, margin = [], [], []
            for r, capacity in enumerate(row):
                start = 0 if used is None else used[i][r]
                amounts = [needs[n][i][r] for n in users]  # type: ignore[index]
                whole, taken, *held = _integers([capacity, start, *amounts])
                total.append(whole)
                free.append(whole - taken)
                margin.append(0 if exact else int(whole * ROUNDING))
                for n, amount in zip(users, held, strict=True):
                    if amount > 0:
                        self._needs[n][i].append((r, amount))  # type: ignore[union-attr]
            self._whole.append(total)
            self._free.append(free)
            self._margin.append(margin)

    def lacking(self, n: int, i: int) -> list[int]:
        """Resources of server i of which one more task of class n finds too little."""
        free, margin = self._free[i], self._margin[i]
        return [r for r, amount in self._needs[n][i] or () if amount > free[r] + margin[r]]

    def fits(self, n: int, i: int) -> bool:
        """Whether one more task of class n fits on server i."""
        needs = self._needs[n][i]
        if needs is None:
            return False
        free, margin = self._free[i], self._margin[i]
        return all(amount <= free[r] + margin[r] for r, amount in needs)

    def take(self, n: int, i: int) -> None:
        """Start a task of class n on server i."""
        free = self._free[i]
        for r, amount in self._needs[n][i] or ():
            free[r] -= amount

    def residual_share(self, n: int, i: int) -> Fraction:
        """Largest share of what is free on server i that one more task of class n holds; it must fit."""
        free = self._free[i]
        # A task of a float model may fit within the margin where less than the task, or nothing, is free.
        return max(Fraction(amount, max(free[r], amount)) for r, amount in self._needs[n][i] or ())

    def free_parts(self, i: int) -> list[Fraction]:
        """Part of each resource of server i that is free; 0 where there is none."""
        pairs = zip(self._free[i], self._whole[i], strict=True)
        return [Fraction(max(free, 0), whole) if whole > 0 else Fraction(0) for free, whole in pairs]


def _integers(amounts: Sequence[Number]) -> list[int]:
    """The amounts as multiples of one unit."""
    parts = [Fraction(v) for v in amounts]
    scale = math.lcm(*(v.denominator for v in parts))
    return [v.numerator * (scale // v.denominator) for v in parts]
