"""Sets of one letter: intervals and points with exact ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sympy

from proofs.symbolic.decisions.formulas import Formula
from proofs.symbolic.decisions.sign_tables import sign_table

__all__ = ["Interval", "intervals_of"]


@dataclass(frozen=True)
class Interval:
    """All numbers between two ends, or one number.

    Attributes
    ----------
    low, high : sympy number, or None
        Rational or algebraic; None where there is no end.
    low_in, high_in : bool
        Whether the ends belong to it.
    """

    low: Any
    high: Any
    low_in: bool = False
    high_in: bool = False

    def contains(self, value: Any) -> bool:
        """Whether an exact number lies in it."""
        if self.low is not None and not (value >= self.low if self.low_in else value > self.low):
            return False
        return self.high is None or bool(value <= self.high if self.high_in else value < self.high)

    def conditions(self, letter: Any) -> tuple[Any, ...]:
        """Relations that say the same of a letter."""
        if self.low is not None and self.low == self.high:
            return (sympy.Eq(letter, self.low, evaluate=False),)
        found = []
        if self.low is not None:
            found.append((sympy.Ge if self.low_in else sympy.Gt)(letter, self.low, evaluate=False))
        if self.high is not None:
            found.append((sympy.Le if self.high_in else sympy.Lt)(letter, self.high, evaluate=False))
        return tuple(found)

    def chain(self, letter: str, printed: Any = str, less: Sequence[str] = ("<", "<=", "=")) -> str:
        """As one chain, ``0 < a <= 1``, in text or in the signs of another language."""
        if self.low is not None and self.low == self.high:
            return f"{letter} {less[2]} {printed(self.low)}"
        if self.low is not None and self.high is None:
            return f"{letter} {'>=' if self.low_in else '>'} {printed(self.low)}".replace(
                ">=", ">=" if less[1] == "<=" else r"\ge"
            )
        left = f"{printed(self.low)} {less[self.low_in]} " if self.low is not None else ""
        right = f" {less[self.high_in]} {printed(self.high)}" if self.high is not None else ""
        return f"{left}{letter}{right}"


def intervals_of(formulas: tuple[Formula, ...], letter: str) -> tuple[Interval, ...]:
    """Where all formulas in one letter hold, from left to right; by a sign table, exactly.

    Examples
    --------
    >>> from proofs.language.relations import relation
    >>> [one.chain("a") for one in intervals_of((relation("a**2 >= 2"), relation("a < 3")), "a")]
    ['a <= -sqrt(2)', 'sqrt(2) <= a < 3']
    """
    table = sign_table(formulas, letter)
    pieces = table.holds(("and", formulas)) if formulas else (True,)
    found: list[Interval] = []
    begin: int | None = None
    for k, met in enumerate((*pieces, False)):
        if met and begin is None:
            begin = k
        if not met and begin is not None:
            ends = [_end(table.roots, begin, -1), _end(table.roots, k - 1, 1)]
            found.append(Interval(ends[0], ends[1], bool(begin % 2), bool((k - 1) % 2)))
            begin = None
    return tuple(found)


def _end(roots: Sequence[Any], piece: int, side: int) -> Any:
    """The root that a piece is, or that bounds the open interval it is on one side."""
    place = piece // 2 if piece % 2 or side > 0 else piece // 2 - 1
    return roots[place] if 0 <= place < len(roots) else None
