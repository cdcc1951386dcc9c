"""Expressions and relations with letters, read from what people write; nothing is executed.

A letter is a real symbol. Numbers are exact and mean what is written: ``"0.1"`` and the float 0.1 are 1/10.
Texts of relations are read by :mod:`proofs.language.comparisons`, as those that are proved.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from numbers import Integral
from typing import Any

import sympy
from sympy.core.relational import Relational

from fairness.errors import ModelError
from proofs.errors import ProofError
from proofs.language.comparisons import Comparison, cases, comparisons
from proofs.language.polynomials import ARITHMETIC, MOST_DEGREE, Polynomial, parsed
from proofs.symbolic.decisions.formulas import divisor_of, exact

__all__ = ["comparison", "expression", "letter", "number", "numbers_of", "reading", "relations"]

_COMPARED = {"<": sympy.Lt, "<=": sympy.Le, ">": sympy.Gt, ">=": sympy.Ge, "==": sympy.Eq, "!=": sympy.Ne}
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
        with reading(value, "is no expression", argument, *index):
            return _read(parsed(value), value)
    if isinstance(value, bool):
        raise ModelError.of(argument, f"must be {_WRITTEN}; got {value!r}", *index)
    if isinstance(value, Integral):
        return sympy.Integer(int(value))
    if isinstance(value, Fraction):
        return sympy.Rational(value)
    if isinstance(value, sympy.Expr):
        return _with_letters(value, argument, index)
    if isinstance(value, float) or hasattr(value, "__float__"):
        number = float(value)
        if number - number != 0.0:
            raise ModelError.of(argument, f"must be finite; got {number!r}", *index)
        return sympy.Rational(repr(number))
    raise ModelError.of(argument, f"must be {_WRITTEN}; got {value!r}", *index)


def numbers_of(argument: str, given: Mapping[Any, Any], letters: Iterable[Any], *, all_of_them: bool) -> Any:
    """Exact numbers by letter, from a mapping by letter or name.

    Raises
    ------
    ModelError
        If a name is no letter, a value no number, or a letter has none although all of them are asked for.
    """
    mine = {symbol.name: symbol for symbol in letters}
    named = {getattr(name, "name", name): value for name, value in given.items()}
    if unknown := sorted(map(str, named.keys() - mine.keys())):
        raise ModelError.of(argument, f"names {unknown[0]!r}; the letters are {', '.join(mine) or 'none'}")
    if missing := [name for name in mine if all_of_them and name not in named]:
        raise ModelError.of(argument, f"lacks the letter {missing[0]!r}; give all of {', '.join(mine)}")
    made = {mine[name]: expression(value, argument, name) for name, value in named.items()}
    for symbol, value in made.items():
        if value.free_symbols:
            raise ModelError.of(argument, f": {symbol} = {value} is no number", symbol.name)
    return made


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
        with reading(value, 'must be a relation such as "0 < a <= 1"', argument, *index):
            parts = [list(cases(c)) for c in comparisons(value)]
            if any(len(several) > 1 for several in parts):
                raise ProofError("a min, max or abs has several values; say which it has by relations")
            return tuple(made for ((*told,),) in parts for c in told for made in _relationals(c))
    if isinstance(value, Relational):
        left, right = (_with_letters(side, argument, index) for side in value.args)
        divisor = divisor_of(left - right)
        return _compared(value.func, left, right, [] if divisor.is_number else [divisor])
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


def comparison(c: Comparison) -> Any:
    """A comparison as a Boolean expression of sympy: one of its cases holds, and nothing is divided by 0."""
    return sympy.Or(*(sympy.And(*(made for one in case for made in _relationals(one))) for case in cases(c)))


@contextmanager
def reading(text: str, what: str, argument: str, *index: Any) -> Iterator[None]:
    """What is wrong with a text is told as an error of the argument, at the index."""
    try:
        yield
    except (ProofError, RecursionError) as error:
        told = error if isinstance(error, ProofError) else "nested too deeply"
        raise ModelError.of(argument, f": {text!r:.200} {what} ({told})", *index) from None


def _relationals(c: Comparison) -> tuple[Any, ...]:
    """A comparison without functions: that no divisor is 0, also where it cancels, then the relation."""
    divisors = [_symbolic(d) for d in c.difference.divisors if d.variables]
    return _compared(_COMPARED[c.sign], _read(c.left, c.text), _read(c.right, c.text), divisors)


def _compared(kind: Any, left: Any, right: Any, divisors: list[Any]) -> tuple[Any, ...]:
    """That divisors are not 0, then the relation, a letter on the left where the other side is a number."""
    made, defined = kind(left, right), [sympy.Ne(d, 0) for d in divisors]
    if isinstance(made, Relational):
        return *defined, made.reversed if left.is_number else made
    return (*defined, made)


def _symbolic(p: Polynomial) -> Any:
    """A polynomial as an expression of sympy."""
    terms = (sympy.Rational(c) * sympy.Mul(*(letter(n) ** e for n, e in monomial))
             for monomial, c in p.terms.items())  # fmt: skip
    return sympy.Add(*terms)


def _read(node: ast.expr, text: str) -> Any:
    match node:
        case ast.Constant(value=int()) if not isinstance(node.value, bool):
            return sympy.Integer(node.value)
        case ast.Constant(value=float(), kind=str(written)):
            return sympy.Rational(written)
        case ast.Name(id=name):
            return letter(name)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_read(operand, text)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _read(operand, text)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in ARITHMETIC:
            return ARITHMETIC[type(op)](_read(left, text), _read(right, text))
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            divisor = _read(right, text)
            if divisor == 0:
                raise ProofError(f"it divides by 0, as {ast.unparse(right)} is")
            return _read(left, text) / divisor
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            base, power = _read(left, text), _read(right, text)
            if not power.is_Integer or abs(power) > MOST_DEGREE or (base == 0 and power < 0):
                raise ProofError(
                    f"the power of {ast.unparse(node)} must be a whole number up to {MOST_DEGREE}"
                )
            return base**power
    raise ProofError(
        f"it holds {ast.unparse(node)!r:.80}; write it with numbers, letters, + - * / ** and parentheses"
    )


def _with_letters(value: Any, argument: str, index: tuple[Any, ...]) -> Any:
    """An expression of sympy with letters for its symbols and fractions for its floats."""
    decimals = {number: sympy.Rational(str(number)) for number in value.atoms(sympy.Float)}
    made = value.xreplace({symbol: letter(symbol.name) for symbol in value.free_symbols} | decimals)
    if made.has(sympy.nan, sympy.oo, -sympy.oo, sympy.zoo, sympy.I):
        raise ModelError.of(argument, f"must be real and finite; got {value}", *index)
    return made
