"""Conditions and forms as text and as LaTeX, with what is added on the side where it is added."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import sympy
from sympy.printing.latex import LatexPrinter
from sympy.printing.str import StrPrinter

__all__ = ["balanced", "grouped", "latex", "latex_cases", "length", "said", "written"]


def balanced(relational: Any) -> Any:
    """A polynomial relation without negative terms: ``1 - a > 0`` is said as ``a < 1``."""
    left = sympy.expand(relational.lhs - relational.rhs)
    terms = sympy.Add.make_args(left)
    plus = sympy.Add(*(t for t in terms if not t.could_extract_minus_sign()))
    minus = sympy.Add(*(-t for t in terms if t.could_extract_minus_sign()))
    # A lonely number stands on the right.
    if plus.is_number and not minus.is_number:
        return relational.reversed.func(minus, plus, evaluate=False)
    return relational.func(grouped(plus), grouped(minus), evaluate=False)


@lru_cache(1000)  # as many as sympy keeps; a form asks for each a dozen times
def grouped(value: Any) -> Any:
    """A polynomial the shortest of a few ways: as it is, factored, or collected by one of its letters."""
    ways = [value, sympy.factor(value)]
    ways += [sympy.collect(value, letter, sympy.factor) for letter in value.free_symbols]
    return min(ways, key=length)


def length(value: Any) -> tuple[Any, ...]:
    """How long an expression is to a reader: letters as often as they stand there, then operations."""
    letters = sum(part.is_Symbol for part in sympy.preorder_traversal(value))
    return letters, sympy.count_ops(value), str(value)


def said(relational: Any) -> str:
    """A relation as plain text.

    Examples
    --------
    >>> from proofs.symbolic.model.reading import relations
    >>> said(*relations("x2 - b*x1 - 1 >= 0"))
    'x2 >= b*x1 + 1'
    """
    shown = balanced(relational)
    return f"{shown.lhs} {'=' if shown.rel_op == '==' else shown.rel_op} {shown.rhs}"


class _AddedFirst:
    """Sums begin with what is added: d - c, not -c + d."""

    def _as_ordered_terms(self, expr: Any, order: Any = None) -> list[Any]:
        terms = super()._as_ordered_terms(expr, order)  # type: ignore[misc]
        added = [k for k, term in enumerate(terms) if not term.could_extract_minus_sign()]
        if added:
            terms.insert(0, terms.pop(added[0]))
        return list(terms)


class _Latex(_AddedFirst, LatexPrinter):
    pass


class _Text(_AddedFirst, StrPrinter):
    pass


def written(value: Any) -> str:
    """An expression as plain text.

    Examples
    --------
    >>> from proofs.symbolic.model.reading import expression
    >>> written(expression("(d - c)/(1 - a*b)"))
    '(d - c)/(1 - a*b)'
    """
    return str(_Text().doprint(value))


def latex(value: Any) -> str:
    """An expression or a relation in LaTeX.

    Examples
    --------
    >>> from proofs.symbolic.model.reading import expression
    >>> latex(expression("(d - c)/(1 - a*b)"))
    '\\\\frac{d - c}{1 - a b}'
    """
    return str(_Latex().doprint(value))


def latex_cases(cases: Sequence[tuple[Sequence[Any], Sequence[Any]]]) -> str:
    """Tasks under conditions, case by case, in LaTeX."""
    phi = "(" + ", ".join(rf"\varphi_{{{i + 1}}}" for i in range(len(cases[0][0]))) + ")"
    rows = []
    for tasks, conditions in cases:
        row = r"\left(" + ", ".join(map(latex, tasks)) + r"\right)"
        if len(cases) == 1 and not conditions:
            return f"{phi} = {row}"
        where = r" \text{ and } ".join(latex(balanced(c)) for c in conditions)
        rows.append(rf"  {row} & \text{{if }} {where}")
    return "\n".join([rf"{phi} = \begin{{cases}}", " \\\\\n".join(rows), r"\end{cases}"])
