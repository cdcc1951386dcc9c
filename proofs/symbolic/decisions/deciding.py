"""Whether polynomial relations can be met together: yes with a point, no with who says so, or open.

One letter is settled by a sign table, exactly. With more letters points are tried first; then z3 is asked,
and cvc5 beside it where "no" is to be as good as two solvers.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy

from fairness.machine.work import current_watch
from proofs.checking.queries import ask_if_there, assertion, model_values, query_of, symbol
from proofs.language.relations import Relation, variables_of
from proofs.symbolic.decisions.formulas import Formula, conjunction, holds, relations_in
from proofs.symbolic.decisions.sign_tables import sign_table

__all__ = ["Decision", "decide"]

PATIENCE = 10.0
"""Seconds for each solver."""


@dataclass(frozen=True)
class Decision:
    """An answer with its evidence.

    Attributes
    ----------
    answer : str
        "yes", "no" or "open".
    point : dict of str to Fraction or sympy number, or None
        Values that meet all relations, where the answer is "yes" and a point is known.
    by : tuple of str
        Who says so: "a point", "sign tables", "z3", "cvc5".
    """

    answer: str
    point: dict[str, Any] | None = None
    by: tuple[str, ...] = ()


def decide(
    conditions: Any,
    *,
    points: Iterable[Mapping[str, Fraction]] = (),
    both: bool = False,
    time_limit: float = PATIENCE,
) -> Decision:
    """Whether there are real values of the letters that meet all conditions.

    Parameters
    ----------
    conditions : iterable of relations, or a Boolean expression of sympy
        Relationals of sympy, relations of :mod:`proofs.language.relations`, And, Or and Not of them.
    points : iterable of dict
        Values to be tried first.
    both : bool
        Whether cvc5 is asked too where z3 says "no".
    time_limit : float
        Seconds for each solver.

    Examples
    --------
    >>> from proofs.symbolic.model.reading import relations
    >>> decide(relations("a**2 < a")).answer, decide(relations("a**2 < -1")).answer
    ('yes', 'no')
    """
    formulas = conjunction(conditions)
    if any(isinstance(f, Relation) and f.impossible for f in formulas):
        return Decision("no", by=("sign tables",))
    names = variables_of(relations_in(formulas))
    if not names:
        met = all(holds(f, {}) for f in formulas)
        return Decision("yes", {}, ("sign tables",)) if met else Decision("no", by=("sign tables",))
    if len(names) == 1:
        return _in_one_letter(formulas, names[0])
    for point in points:
        if point.keys() >= set(names) and all(holds(f, point) for f in formulas):
            return Decision("yes", {name: point[name] for name in names}, ("a point",))
    current_watch().check("deciding whether polynomial relations can be met")
    return _by_solvers(formulas, names, both, min(time_limit, _left()))


def _left() -> float:
    return max(0.001, current_watch().deadline - time.monotonic())


def _in_one_letter(formulas: tuple[Formula, ...], name: str) -> Decision:
    table = sign_table(formulas, name)
    pieces = [k for k, met in enumerate(table.holds(("and", formulas))) if met]
    if not pieces:
        return Decision("no", by=("sign tables",))
    # A point inside an interval where there is one: it is rational.
    piece = min(pieces, key=lambda k: k % 2)
    return Decision("yes", {name: table.point(piece)}, ("sign tables",))


def _by_solvers(formulas: tuple[Formula, ...], names: list[str], both: bool, seconds: float) -> Decision:
    query = query_of(names, (f"(assert {_text(formula)})" for formula in formulas))
    answer, model = ask_if_there("z3", query, seconds)
    if answer == "sat":
        return Decision("yes", _values(model, names, formulas), ("z3",))
    if both or answer != "unsat":
        second, _ = ask_if_there("cvc5", query, seconds)
        if second == "sat":
            return Decision("open" if answer == "unsat" else "yes", by=("cvc5",))
        if second == "unsat":
            return Decision("no", by=("z3", "cvc5") if answer == "unsat" else ("cvc5",))
    return Decision("no", by=("z3",)) if answer == "unsat" else Decision("open")


def _text(formula: Formula) -> str:
    if isinstance(formula, Relation):
        return assertion(formula)
    name, parts = formula
    if not parts:
        return "true" if name == "and" else "false"
    return f"({name} {' '.join(map(_text, parts))})"


def _values(model: Any, names: list[str], formulas: tuple[Formula, ...]) -> dict[str, Any] | None:
    """The point of a model: fractions, also near an irrational point where they will do; else algebraic."""
    for digits in (3, 6, 12):
        values = model_values(model, names, digits)
        if values is not None and all(holds(f, values) for f in formulas):
            return values
    exact = {str(v): model[v] for v in model.decls()}
    return {name: _number(exact.get(symbol(name))) for name in names}


def _number(value: Any) -> Any:
    """A number of z3 as one of sympy."""
    import z3

    if value is None:
        return sympy.Integer(0)
    if z3.is_rational_value(value):
        return sympy.Rational(value.numerator_as_long(), value.denominator_as_long())
    coefficients = [sympy.Rational(str(c)) for c in value.poly()]
    x = sympy.Dummy()
    return sympy.Poly(coefficients[::-1], x).real_roots()[value.index() - 1]
