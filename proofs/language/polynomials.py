r"""Polynomials over the rationals, by the school rules.

A polynomial is a table from monomials to coefficients. Evidence is checked with these few lines of plain
:class:`~fractions.Fraction` arithmetic, so that a stranger can read all of what a verdict rests on; the
prover finds the evidence with faster libraries.

The text of a polynomial is a Python expression with numbers, names, ``+ - * / **`` and parentheses, where
only constants are divided by and powers are whole: ``3/2*x**2*y - (0.1*x + 1)**2``. Decimals are exact: 0.1
is one tenth. Names are of Latin letters with or without accents, Greek letters that look like no Latin one,
digits and ``_``: what is shown is what was read.
"""

from __future__ import annotations

import ast
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, wraps
from math import inf
from operator import add, mul, sub
from typing import Any, TypeVar, TypeVarTuple

from proofs.errors import ProofError

__all__ = [
    "Monomial",
    "Polynomial",
    "parsed",
    "polynomial",
    "polynomial_of",
    "read_once",
    "refuse_look_alikes",
    "times",
]

ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {ast.Add: add, ast.Sub: sub, ast.Mult: mul}
"""What + - * do to what two sides are read as."""

Monomial = tuple[tuple[str, int], ...]

MOST_DEGREE = 100
MOST_PRODUCTS = 20_000
"""Pairs of terms that one product may multiply."""
MOST_BITS = 13_000
"""Of the numerator and of the denominator of a coefficient; 3,900 digits, which Python writes as text."""
LONGEST_TEXT = 1_000_000
"""Characters."""
DECIMAL = re.compile(r"(\d[\d_]*\.?|\d*\.\d)[\d_]*([eE][+-]?\d{1,3})?")
"""A number that is no larger than floats are, as it is written."""
KEPT_TEXTS = 2**14
"""Of each kind of reading."""
SHORT_TEXT = 1_000
"""Characters of a text that is kept."""
Read = TypeVar("Read")
Rest = TypeVarTuple("Rest")
GREEK = frozenset("αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩ")
"""Without those that look like Latin letters in every font."""


def read_once(read: Callable[[str, *Rest], Read]) -> Callable[[str, *Rest], Read]:
    """The same function of a text, which remembers what it read: few texts are cited again and again.

    For what it reads the text as cannot be changed. A class made from str could call itself equal to another
    text, and is read anew.
    """
    remembered = lru_cache(maxsize=KEPT_TEXTS)(read)

    @wraps(read)
    def asked(text: str, *rest: *Rest) -> Read:
        asking = remembered if type(text) is str and len(text) <= SHORT_TEXT else read
        return asking(text, *rest)

    return asked


@dataclass(frozen=True)
class Polynomial:
    """A polynomial in named variables; made by :func:`polynomial`.

    Attributes
    ----------
    terms : dict from monomial to Fraction
        A monomial is a sorted tuple of (variable, exponent) pairs; no coefficient is 0.

    Examples
    --------
    >>> p = polynomial("(x + y)**2 - (x - y)**2")
    >>> p
    4*x*y
    >>> p.at({"x": 2, "y": Fraction(1, 8)})
    Fraction(1, 1)
    """

    terms: Mapping[Monomial, Fraction]

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))

    @cached_property
    def variables(self) -> frozenset[str]:
        """Names that occur."""
        return frozenset(name for monomial in self.terms for name, _ in monomial)

    @cached_property
    def degree(self) -> int:
        """Total degree; 0 for constants."""
        return max((sum(e for _, e in monomial) for monomial in self.terms), default=0)

    @property
    def constant(self) -> Fraction | None:
        """The value of a constant polynomial, None for any other."""
        return None if self.variables else self.terms.get((), Fraction(0))

    @property
    def ordered(self) -> list[tuple[Monomial, Fraction]]:
        """Terms as they are written: by degree, then by their names."""
        return sorted(self.terms.items(), key=lambda item: (-sum(e for _, e in item[0]), item[0]))

    def at(self, values: Mapping[str, Fraction | int]) -> Fraction:
        """Value at a point that gives every variable."""
        total = Fraction(0)
        for monomial, coefficient in self.terms.items():
            product = coefficient
            for name, exponent in monomial:
                product *= values[name] if exponent == 1 else Fraction(values[name]) ** exponent
            total += product
        return total

    def __add__(self, other: Polynomial) -> Polynomial:
        return _collected([*self.terms.items(), *other.terms.items()])

    def __neg__(self) -> Polynomial:
        return Polynomial({monomial: -c for monomial, c in self.terms.items()})

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self + -other

    def __mul__(self, other: Polynomial) -> Polynomial:
        _refuse_large(self, other)
        return _collected(
            [(times(m, k), c * d) for m, c in self.terms.items() for k, d in other.terms.items()]
        )

    def __pow__(self, exponent: int) -> Polynomial:
        if exponent > MOST_DEGREE:
            raise ProofError(f"a power of a polynomial is at most {MOST_DEGREE}; got {exponent}")
        power = Polynomial({(): Fraction(1)})
        for _ in range(exponent):
            power = power * self
        return power

    def written(self, term: Callable[[Monomial, Fraction], str]) -> str:
        """The sum as a text; ``term`` writes a monomial times the size of its coefficient."""
        text = "".join((" - " if c < 0 else " + ") + term(monomial, abs(c)) for monomial, c in self.ordered)
        return ("" if text.startswith(" + ") else "-") + text[3:] if text else "0"

    @cached_property
    def _text(self) -> str:
        return self.written(_term)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return self._text


def polynomial(text: str | int | Fraction | Polynomial) -> Polynomial:
    """Read a polynomial from its text, or make a constant.

    Raises
    ------
    ProofError
        If the text is not a polynomial: another operation, a division by something that is not constant, a
        power that is not a whole number >= 0; or if it is too large to multiply out.
    """
    if type(text) is Polynomial:
        return text
    if type(text) is int or type(text) is Fraction:
        return _constant(Fraction(text))
    if type(text) is not str:
        raise ProofError(f"a polynomial is given as a text, an int or a Fraction; got {text!r}")
    return _polynomial(text)


@read_once
def _polynomial(text: str) -> Polynomial:
    try:
        return polynomial_of(parsed(text), text)
    except (RecursionError, MemoryError):
        raise ProofError(f"{_short(text)} is nested too deeply") from None


def parsed(text: str) -> ast.expr:
    """The expression that a text holds, with its decimals as they are written.

    Raises
    ------
    ProofError
        If the text is no expression of Python.
    """
    if len(text) > LONGEST_TEXT:
        raise ProofError(f"a polynomial of {len(text):,} characters is too long; at most {LONGEST_TEXT:,}")
    text = text.strip()
    if "#" in text:
        raise ProofError(f"{_short(text)} holds a comment, which would be shown and not be proved")
    refuse_look_alikes(text)
    try:
        body = ast.parse(text, mode="eval").body
    except SyntaxError as error:
        raise ProofError(f"{_short(text)} is not the text of a polynomial: {error.msg}") from None
    except (RecursionError, MemoryError):
        raise ProofError(f"{_short(text)} is nested too deeply") from None
    except ValueError as error:  # a null character, or an integer of thousands of digits
        raise ProofError(f"{_short(text)} is not the text of a polynomial: {error}") from None
    if re.search(r"\.|\d[eE]", text):
        lines = re.split(rb"\r\n|\r|\n", text.encode())
        for node in ast.walk(body):
            if isinstance(node, ast.Constant) and isinstance(node.value, float):
                node.kind = _written(node, lines, text)
    return body


def refuse_look_alikes(text: str) -> None:
    """Raise ProofError if a text holds a character that is read as another, or that readers take for another.

    Examples
    --------
    >>> refuse_look_alikes("ρ + é")
    >>> refuse_look_alikes("xⁿ")
    Traceback (most recent call last):
    proofs.errors.ProofError: 'xⁿ' holds 'ⁿ' (SUPERSCRIPT LATIN SMALL LETTER N), which is easily taken for \
another: names have Latin letters, Greek ones that look like none of these, digits and _; write 'n'
    """
    if text.isascii():
        return
    for c in unicodedata.normalize("NFC", text):
        letter = unicodedata.normalize("NFD", c)
        if c.isascii() or c in GREEK or (letter[0].isascii() and len(letter) > 1):
            continue
        called, plain = unicodedata.name(c, f"U+{ord(c):04X}"), unicodedata.normalize("NFKC", c)
        remedy = f"; write {plain!r}" if plain != c else ""
        raise ProofError(
            f"{_short(text)} holds {c!r} ({called}), which is easily taken for another: names have Latin "
            f"letters, Greek ones that look like none of these, digits and _{remedy}"
        )


def _written(node: ast.Constant, lines: list[bytes], text: str) -> str:
    """A decimal as it stands in the text: Python itself keeps only the nearest float."""
    number = lines[node.lineno - 1][node.col_offset : node.end_col_offset].decode(errors="replace")
    if not DECIMAL.fullmatch(number) or float(number) != node.value or node.value == inf:
        raise ProofError(f"{_short(text)} holds {ast.unparse(node)}; write this number as a fraction")
    return number.replace("_", "")


def _short(text: str) -> str:
    return repr(text if len(text) < 200 else f"{text[:200]}...")


def _refuse_large(p: Polynomial, q: Polynomial) -> None:
    """Stop before a product that nobody waits for."""
    if p.degree + q.degree > MOST_DEGREE:
        raise ProofError(f"the degree of a product is at most {MOST_DEGREE}; got {p.degree + q.degree}")
    if len(p.terms) * len(q.terms) > MOST_PRODUCTS:
        raise ProofError(
            f"a product multiplies at most {MOST_PRODUCTS:,} pairs of terms; got "
            f"{len(p.terms):,} times {len(q.terms):,}"
        )


def _sum_of(node: ast.expr) -> list[tuple[int, ast.expr]]:
    """Summands of a chain of + and -, which stands to the left as deep as the chain is long."""
    summands = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        summands.append((1 if isinstance(node.op, ast.Add) else -1, node.right))
        node = node.left
    return [(1, node), *reversed(summands)]


def polynomial_of(node: ast.expr, text: str) -> Polynomial:
    """The polynomial that an expression of the text is; raises ProofError if it is none."""
    match node:
        case ast.Constant(value=value) if isinstance(value, int) and not isinstance(value, bool):
            return _constant(Fraction(value))
        case ast.Constant(value=float(), kind=str(number)):
            return _constant(Fraction(number))
        case ast.Name(id=name):
            return Polynomial({((name, 1),): Fraction(1)})
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -polynomial_of(operand, text)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return polynomial_of(operand, text)
        case ast.BinOp(op=ast.Add() | ast.Sub()):
            read = [(sign, polynomial_of(summand, text)) for sign, summand in _sum_of(node)]
            return _collected([(m, sign * c) for sign, p in read for m, c in p.terms.items()])
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return polynomial_of(left, text) * polynomial_of(right, text)
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            divisor = polynomial_of(right, text).constant
            if not divisor:
                raise ProofError(
                    f"{_short(text)} divides by {ast.unparse(right)}, which is not a constant other than 0"
                )
            return polynomial_of(left, text) * _constant(1 / divisor)
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=power)) if (
            isinstance(power, int) and not isinstance(power, bool) and power >= 0
        ):
            return polynomial_of(left, text) ** power
    raise ProofError(
        f"{_short(text)} holds {_short(ast.unparse(node))}: a polynomial is made of numbers, names, "
        "+ - * / ** and parentheses"
    )


def _term(monomial: Monomial, size: Fraction) -> str:
    factors = [name if e == 1 else f"{name}**{e}" for name, e in monomial]
    return "*".join(factors if size == 1 and factors else [str(size), *factors])


def _constant(value: Fraction) -> Polynomial:
    return _collected([((), value)])


def _collected(items: list[tuple[Monomial, Fraction]]) -> Polynomial:
    terms: dict[Monomial, Fraction] = {}
    for monomial, coefficient in items:
        terms[monomial] = terms[monomial] + coefficient if monomial in terms else coefficient
    for c in terms.values():
        bits = max(c.numerator.bit_length(), c.denominator.bit_length())
        if bits > MOST_BITS:
            told = f"at most {MOST_BITS:,} bits, for larger numbers take a letter; got {bits:,}"
            raise ProofError(f"a coefficient has {told}")
    return Polynomial({monomial: c for monomial, c in terms.items() if c})


def times(first: Monomial, second: Monomial) -> Monomial:
    """The product of two monomials."""
    if not first or not second:
        return first or second
    exponents = dict(first)
    for name, e in second:
        exponents[name] = exponents.get(name, 0) + e
    return tuple(sorted(exponents.items()))
