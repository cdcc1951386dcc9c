"""Expressions and relations with letters, read from what people write; nothing is executed.

A letter is a real symbol. Numbers are exact and mean what is written: ``"0.1"`` and the float 0.1 are 1/10.
"""

from __future__ import annotations

import ast
from fractions import Fraction
from itertools import pairwise
from numbers import Integral
from typing import Any

import sympy
from sympy.core.relational import Relational

from fairness.errors import ModelError
from proofs.symbolic.decisions.formulas import exact

__all__ = ["expression", "letter", "number", "relations"]

_COMPARED: dict[type[ast.cmpop], Any] = {
    ast.Lt: sympy.Lt,
    ast.LtE: sympy.Le,
    ast.Gt: sympy.Gt,
    ast.GtE: sympy.Ge,
    ast.Eq: sympy.Eq,
    ast.NotEq: sympy.Ne,
}
_WRITTEN = 'an int, a Fraction, a text such as "3/4", "2*a" or "(1 + a)/b", or an expression of sympy'


def letter(name: str) -> Any:
    """The symbol of a letter."""
    return sympy.Symbol(name, real=True)


def expression(value: Any, argument: str = "value", *index: Any) -> Any:
    """Read an expression; its letters are real symbols, its numbers exact.

    Parameters
    ----------
    value : int, Fraction, float, str or sympy expression
        A float is its shortest decimal: 0.1 is 1/10.
    argument : str
        What the caller named it, for error messages; ``index`` is the entry.

    Raises
    ------
    ModelError
        If it is no finite expression of letters, numbers, ``+ - * / **`` and parentheses.

    Examples
    --------
    >>> expression("0.5*a + 1/3")
    a/2 + 1/3
    """
    if isinstance(value, str):
        return _read(_parsed(value, argument, index), value, argument, index)
    if isinstance(value, bool):
        raise ModelError.of(argument, f"must be {_WRITTEN}; got {value!r}", *index)
    if isinstance(value, Integral):
        return sympy.Integer(int(value))
    if isinstance(value, Fraction):
        return sympy.Rational(value.numerator, value.denominator)
    if isinstance(value, sympy.Expr):
        return _with_letters(value, argument, index)
    if isinstance(value, float) or hasattr(value, "__float__"):
        number = float(value)
        if number - number != 0.0:
            raise ModelError.of(argument, f"must be finite; got {number!r}", *index)
        return sympy.Rational(repr(number))
    raise ModelError.of(argument, f"must be {_WRITTEN}; got {value!r}", *index)


def relations(value: Any, argument: str = "assume", *index: Any) -> tuple[Any, ...]:
    """Read a relation, or a chain of them, as relationals of sympy.

    Parameters
    ----------
    value : str or sympy relational
        Such as ``"0 < a <= 1"``, which is two relations. Divisors are not 0: that is a relation too.
    argument : str
        What the caller named it, for error messages; ``index`` is the entry.

    Raises
    ------
    ModelError
        If it is no relation of expressions.

    Examples
    --------
    >>> relations("0 < a <= 1"), relations("1/a <= 1")
    ((a > 0, a <= 1), (Ne(a, 0), 1/a <= 1))
    """
    if isinstance(value, str):
        node = _parsed(value, argument, index)
        if not isinstance(node, ast.Compare) or not all(type(op) in _COMPARED for op in node.ops):
            raise ModelError.of(
                argument, f'must be a relation such as "0 < a <= 1"; got {value!r:.200}', *index
            )
        sides = [_read(side, value, argument, index) for side in (node.left, *node.comparators)]
        pairs = pairwise(sides)
        return tuple(
            made
            for op, (left, right) in zip(node.ops, pairs, strict=True)
            for made in _compared(_COMPARED[type(op)], left, right)
        )
    if isinstance(value, Relational):
        left, right = (_with_letters(side, argument, index) for side in value.args)
        return _compared(value.func, left, right)
    if value in (sympy.true, sympy.false):
        return (value,)
    raise ModelError.of(
        argument,
        f'must be a relation such as "0 < a <= 1", as a text or of sympy; got {value!r:.200}',
        *index,
    )


def number(value: Any) -> Any:
    """A Fraction where a value of sympy is rational, else the value, simplified."""
    return exact(value) if value.is_Rational else sympy.simplify(value)


def _compared(kind: Any, left: Any, right: Any) -> tuple[Any, ...]:
    """A relation, with its letter on the left where the other side is a number; before it what is not 0."""
    made = kind(left, right)
    if not isinstance(made, Relational):
        return (made,)
    divisor = sympy.fraction(sympy.together(made.lhs - made.rhs))[1]
    defined = () if divisor.is_number else (sympy.Ne(divisor, 0),)
    return *defined, made.reversed if left.is_number else made


def _parsed(text: str, argument: str, index: tuple[Any, ...]) -> ast.expr:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        said = getattr(error, "msg", None) or str(error) or "too deep"
        raise ModelError.of(argument, f": {text!r:.200} is no expression ({said})", *index) from None


def _read(node: ast.expr, text: str, argument: str, index: tuple[Any, ...]) -> Any:
    def read(part: ast.expr) -> Any:
        return _read(part, text, argument, index)

    match node:
        case ast.Constant(value=int() | float()) if not isinstance(node.value, bool):
            # The digits as written: the float may have lost some.
            written = (ast.get_source_segment(text.strip(), node) or repr(node.value)).replace("_", "")
            return sympy.Integer(node.value) if isinstance(node.value, int) else sympy.Rational(written)
        case ast.Name(id=name):
            return letter(name)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -read(operand)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return read(operand)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return read(left) + read(right)
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return read(left) - read(right)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return read(left) * read(right)
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            divisor = read(right)
            if divisor == 0:
                raise ModelError.of(argument, f": {text!r:.200} divides by 0", *index)
            return read(left) / divisor
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            base, power = read(left), read(right)
            if not power.is_Integer or abs(power) > 100 or (base == 0 and power < 0):
                raise ModelError.of(
                    argument, f": the power of {ast.unparse(node)} must be a whole number up to 100", *index
                )
            return base**power
    raise ModelError.of(
        argument,
        f": {text!r:.200} holds {ast.unparse(node)!r:.80}; write it with numbers, letters, + - * / ** and "
        "parentheses",
        *index,
    )


def _with_letters(value: Any, argument: str, index: tuple[Any, ...]) -> Any:
    """An expression of sympy with letters for its symbols and fractions for its floats."""
    decimals = {number: sympy.Rational(str(number)) for number in value.atoms(sympy.Float)}
    made = value.xreplace({symbol: letter(symbol.name) for symbol in value.free_symbols} | decimals)
    if made.has(sympy.nan, sympy.oo, -sympy.oo, sympy.zoo, sympy.I):
        raise ModelError.of(argument, f"must be real and finite; got {value}", *index)
    return made
