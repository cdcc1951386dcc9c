"""Expressions of sympy as lists of JSON, and back: only known kinds are made again, and nothing is executed.

The symbols of this project are real and have plain names; others are refused.
"""

from __future__ import annotations

import re
import sys
from typing import Any

__all__ = ["expression_of", "is_expression", "told"]

_OPERATIONS = (
    "Add", "Mul", "Pow", "Min", "Max", "Abs", "log", "exp", "And", "Or", "Not", "Equality", "Unequality",
    "StrictLessThan", "LessThan", "StrictGreaterThan", "GreaterThan",
)  # fmt: skip
_CONSTANTS = ("true", "false", "oo", "pi", "E")
_LETTER = re.compile(r"\\?[^\W\d]\w*([_^]\{[\w, ]+\})*")
"""Names of letters, also in LaTeX. Functions made of an expression are written as code: no code is a name."""
_NUMBER = re.compile(r"-?[0-9]+(/[0-9]+)?")


def is_expression(value: Any) -> bool:
    """Whether a value is an expression or a matrix of sympy."""
    if (sympy := sys.modules.get("sympy")) is None:  # what is not imported has expression_of no object
        return False
    return isinstance(value, sympy.Basic)


def told(value: Any) -> list[Any] | None:
    """An expression as nested lists; None if it holds what is not known here."""
    import sympy

    if isinstance(value, sympy.Rational):
        return ["number", str(value)]
    if isinstance(value, sympy.Symbol):
        known = _LETTER.fullmatch(value.name) and value == sympy.Symbol(value.name, real=True)
        return ["letter", value.name] if known else None
    if isinstance(value, sympy.ImmutableDenseMatrix):
        parts = [told(entry) for entry in value.flat()]
        return None if None in parts else ["matrix", *map(int, value.shape), *parts]
    if isinstance(value, sympy.ComplexRootOf):
        coefficients = [str(c) for c in value.poly.all_coeffs()]
        return ["root", int(value.index), *coefficients]
    for name in _CONSTANTS:
        if value == getattr(sympy, name):
            return ["constant", name]
    kind = type(value).__name__
    parts = [told(part) for part in value.args]
    return None if kind not in _OPERATIONS or None in parts else [kind, *parts]


def expression_of(data: list[Any]) -> Any:
    """The expression that was told, part by part as it was.

    Examples
    --------
    >>> import sympy
    >>> a = sympy.Symbol("a", real=True)
    >>> expression_of(told(sympy.sqrt(a) / 3 < 1))
    sqrt(a)/3 < 1
    """
    import sympy

    kind, *parts = data
    if kind == "number":
        return _number(parts[0])
    if kind == "letter":
        if not _LETTER.fullmatch(parts[0]):
            raise ValueError(f"{parts[0]!r:.80} is no name of a letter")
        return sympy.Symbol(parts[0], real=True)
    if kind == "matrix":
        rows, columns, *entries = parts
        return sympy.ImmutableDenseMatrix(rows, columns, [expression_of(entry) for entry in entries])
    if kind == "root":
        index, *coefficients = parts
        x = sympy.Dummy("x")
        return sympy.CRootOf(sympy.Poly(list(map(_number, coefficients)), x), index, radicals=False)
    if kind == "constant" and parts[0] in _CONSTANTS:
        return getattr(sympy, parts[0])
    if kind not in _OPERATIONS:
        raise ValueError(f"{kind!r} is no operation")
    # Not evaluated, so that it stays as it was written.
    return getattr(sympy, kind)(*map(expression_of, parts), evaluate=False)


def _number(text: str) -> Any:
    """A fraction; nothing such as 1e999999999, which would take all memory."""
    import sympy

    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{text!r:.80} is no fraction")
    return sympy.Rational(text)
