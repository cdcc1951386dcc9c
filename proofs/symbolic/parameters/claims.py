"""Claims about letters: Boolean combinations of relations, and what is assumed of the letters."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sympy
from sympy.core.relational import Relational

from fairness.errors import ModelError
from proofs.language.comparisons import comparisons_of, expression_of
from proofs.symbolic.model.reading import comparison, numbers_of, reading, relations

__all__ = ["Claim", "claimed"]


@dataclass(frozen=True, eq=False)
class Claim:
    """Something that holds for some values of the letters; claims are joined by ``&``, ``|`` and ``~``.

    Attributes
    ----------
    formula : Boolean expression of sympy
        Relations between expressions of the letters.
    assumptions : tuple of sympy relationals
        What is known of the letters wherever the claim means anything.
    words : str
    """

    formula: Any
    assumptions: tuple[Any, ...] = ()
    words: str = ""

    def __and__(self, other: Any) -> Claim:
        return self._joined(other, sympy.And, "and")

    def __or__(self, other: Any) -> Claim:
        return self._joined(other, sympy.Or, "or")

    def __invert__(self) -> Claim:
        return Claim(sympy.Not(self.formula), self.assumptions, f"not ({self.words})")

    def _joined(self, other: Any, kind: Any, word: str) -> Claim:
        second = claimed(other)
        both = tuple(dict.fromkeys((*self.assumptions, *second.assumptions)))
        words = f"({self.words}) {word} ({second.words})"
        return Claim(kind(self.formula, second.formula), both, words)

    def at(self, values: Mapping[Any, Any]) -> Claim:
        """The claim with numbers for some letters, by name or symbol."""
        made = numbers_of("at", values, self.letters, all_of_them=False)
        if not made:
            return self
        told = ", ".join(f"{symbol} = {value}" for symbol, value in made.items())
        left = []
        for relation in self.assumptions:
            known = relation.subs(made)
            if known == sympy.false:
                raise ModelError.of("at", f": {told} does not meet the assumption {relation}")
            left += [known] if known != sympy.true else []
        return Claim(self.formula.subs(made), tuple(left), f"{self.words} at {told}")

    @property
    def letters(self) -> tuple[Any, ...]:
        """The letters of the formula and of the assumptions, by name."""
        found = set().union(self.formula.free_symbols, *(r.free_symbols for r in self.assumptions))
        return tuple(sorted(found, key=lambda s: s.name))

    def __repr__(self) -> str:
        return f"Claim({self.words})"


def claimed(claim: Any) -> Claim:
    """A claim as it is, or read from a text or a Boolean expression of sympy.

    Texts are relations as :func:`proofs.conjecture` reads them, with chains, ``min``, ``max`` and ``abs``,
    and these joined by ``and``, ``or`` and ``not``. What divides by 0 does not hold, also where that cancels.

    Raises
    ------
    ModelError
        If it is none of these.

    Examples
    --------
    >>> claimed("0 < a <= 1 or a > 2").formula
    (a > 2) | ((a <= 1) & (a > 0))
    """
    if isinstance(claim, Claim):
        return claim
    if isinstance(claim, str):
        with reading(claim, "is no relation", "claim"):
            return Claim(_read(expression_of(claim), claim.strip()), (), claim.strip())
    if isinstance(claim, sympy.logic.boolalg.Boolean):
        return Claim(_exact(claim), (), str(claim))
    raise ModelError.of(
        "claim",
        'must be a relation such as "a*b <= 1", a Boolean expression of sympy, or made by same, full, gains, '
        f"sharing_incentive, stable or drift_negative; got {claim!r:.100}",
    )


def _read(node: ast.expr, text: str) -> Any:
    match node:
        case ast.BoolOp(op=op, values=parts):
            kind = sympy.And if isinstance(op, ast.And) else sympy.Or
            return kind(*(_read(part, text) for part in parts))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return sympy.Not(_read(operand, text))
    return sympy.And(*map(comparison, comparisons_of(node, text)))


def _exact(formula: Any) -> Any:
    if isinstance(formula, Relational):
        return sympy.And(*relations(formula, "claim"))
    return formula.func(*map(_exact, formula.args)) if formula.args else formula
