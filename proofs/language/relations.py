"""Relations between polynomials, read from their text: ``"x*a <= 1"``, ``"y > 0"``, ``"p*(1 - u) == 0"``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from proofs.errors import ProofError
from proofs.language.polynomials import Polynomial, polynomial, read_once

__all__ = [
    "KEPT",
    "OPERATORS",
    "TURNED",
    "Relation",
    "compared",
    "relation",
    "scaled",
    "signum",
    "variables_of",
]

SIGNS = {"<=": ">=", ">=": ">=", "<": ">", ">": ">", "==": "==", "!=": "!="}
OPERATORS: dict[type[ast.cmpop], str] = {
    ast.LtE: "<=",
    ast.Lt: "<",
    ast.GtE: ">=",
    ast.Gt: ">",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
NEGATIONS = {">=": "<", ">": "<=", "==": "!=", "!=": "=="}
TURNED = {">=": "<=", "<=": ">=", ">": "<", "<": ">", "==": "!=", "!=": "=="}
"""The other way round."""
KEPT = {">=": (0, 1), ">": (1,), "==": (0,), "!=": (-1, 1)}
"""Signs of the left side with which a relation holds."""


@dataclass(frozen=True)
class Relation:
    """A polynomial and how it compares with 0.

    Attributes
    ----------
    left : Polynomial
        Difference of the two sides, turned so that ``sign`` is one of ">=", ">", "==", "!=".
    sign : str

    Examples
    --------
    >>> relation("x*a <= 1 - y")
    -a*x - y + 1 >= 0
    >>> relation("x < 2").negated
    x - 2 >= 0
    """

    left: Polynomial
    sign: str

    @property
    def strict(self) -> bool:
        """Whether the polynomial is positive, and not only >= 0."""
        return self.sign == ">"

    @property
    def impossible(self) -> bool:
        """Whether no values meet it, because it compares constants."""
        return not self.left.variables and not self.holds({})

    @property
    def negated(self) -> Relation:
        """The relation that holds exactly where this one does not."""
        return compared(self.left, NEGATIONS[self.sign])

    @property
    def reversed(self) -> Relation:
        """The inequality the other way round: <= for >=, < for >, != for ==."""
        return compared(self.left, TURNED[self.sign])

    def holds(self, values: Mapping[str, Fraction | int]) -> bool:
        """Whether the relation holds at a point."""
        return signum(self.left.at(values)) in KEPT[self.sign]

    def __repr__(self) -> str:
        return f"{self.left} {self.sign} 0"


def relation(text: str | Relation) -> Relation:
    """Read a relation from its text.

    Raises
    ------
    ProofError
        If the text does not hold exactly one of ``<= < >= > == !=`` between two polynomials.
        :func:`proofs.claims.splitting.split` reads what people write beside that: ``0 < a <= 1``, ``x/a``,
        ``min``.
    """
    if type(text) is Relation and type(text.left) is Polynomial and text.sign in NEGATIONS:
        return text
    if type(text) is not str:
        raise ProofError(f'a relation is given as a text, as in "x*a <= 1"; got {text!r}')
    return _relation(text)


@read_once
def _relation(text: str) -> Relation:
    parts = re.split(r"(<=|>=|==|!=|<|>)", text)
    if len(parts) > 3:
        raise ProofError(f"{text!r} stands for several relations; here each is written on its own")
    if len(parts) != 3:
        raise ProofError(f"{text!r} is not a relation: write one of <= < >= > == != between two polynomials")
    left, sign, right = parts
    return compared(polynomial(left) - polynomial(right), sign)


def scaled(r: Relation) -> Relation:
    """The multiple of a relation that stands for all of them; an equation is the same the other way round.

    Examples
    --------
    >>> scaled(relation("2*x <= 4*y")), scaled(relation("y == 2*x"))
    (-x + 2*y >= 0, x - 1/2*y == 0)
    """
    if not r.left.variables:
        return r
    first = r.left.ordered[0][1]
    scale = 1 / (first if r.sign in ("==", "!=") else abs(first))
    return Relation(polynomial(scale) * r.left, r.sign)


def variables_of(relations: Iterable[Relation]) -> list[str]:
    """Variables of all of some relations, in the order of the alphabet."""
    return sorted(set().union(*(r.left.variables for r in relations)))


def signum(value: Fraction | int) -> int:
    """-1, 0 or 1."""
    return (value > 0) - (value < 0)


def compared(difference: Polynomial, sign: str) -> Relation:
    """A polynomial compared with 0 by any of the six signs."""
    return Relation(-difference if sign in ("<=", "<") else difference, SIGNS[sign])
