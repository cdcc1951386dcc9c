"""Relations as people write them, ``0 < x/a <= min(1, y)``: one reader of what is proved and what is asked.

A chain is several comparisons, and so is ``max(x, y) <= c``, which says ``x <= c`` and ``y <= c``. A
comparison with a quotient says, too, that nothing it divides by is 0, also where that cancels: ``a/a == 1``
does not hold at a = 0. The values of ``min``, ``max`` and ``abs`` make a case each.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, replace

from proofs.errors import ProofError
from proofs.language.polynomials import parsed
from proofs.language.quotients import Quotient, quotient
from proofs.language.relations import OPERATORS

__all__ = ["Comparison", "cases", "comparisons", "comparisons_of", "expression_of"]

REMEDIES = {
    "log": "take a variable for each logarithm and state the tangents that you use as hypotheses, such as "
    '"log_x <= x/c - 1 + log_c", which holds for all x, c > 0',
    "exp": 'take a variable for each value and state what you use of it, such as "exp_x >= 1 + x"',
    "sqrt": 'take a variable for the root, with "r >= 0" and "r**2 == x" as hypotheses',
}
"""For functions that are no quotients of polynomials in cases."""


@dataclass(frozen=True)
class Comparison:
    """Two sides and the sign between them; ``name`` is that of a hypothesis, ``text`` where it stands."""

    left: ast.expr
    sign: str
    right: ast.expr
    text: str
    name: str = ""

    @property
    def difference(self) -> Quotient:
        """The left side minus the right one, of a comparison without functions."""
        return quotient(self.left, self.text) - quotient(self.right, self.text)

    @property
    def words(self) -> str:
        """The comparison as text."""
        return f"{ast.unparse(self.left)} {self.sign} {ast.unparse(self.right)}"

    @property
    def calls(self) -> Iterator[ast.Call]:
        """Calls of functions without calls in what they are given."""
        for side in (self.left, self.right):
            for node in ast.walk(side):
                if isinstance(node, ast.Call) and sum(isinstance(n, ast.Call) for n in ast.walk(node)) == 1:
                    yield node

    def with_value(self, call: ast.Call, value: ast.expr) -> Comparison:
        """The comparison with the value in the place of this very call, wherever it stands."""
        same = ast.dump(call)

        class Put(ast.NodeTransformer):
            def visit_Call(self, node: ast.Call) -> ast.expr:
                if ast.dump(node) == same:
                    return value
                self.generic_visit(node)
                return node

        left, right = (Put().visit(deepcopy(side)) for side in (self.left, self.right))
        return replace(self, left=left, right=right)

    def values(self, call: ast.Call) -> Iterator[tuple[ast.expr, list[Comparison]]]:
        """The values of a function that it calls, each with the conditions under which it is the value."""
        name, given = ast.unparse(call.func), call.args
        least = {"min": 2, "max": 2, "abs": 1}.get(name)
        if least is None:
            remedy = REMEDIES.get(name.rpartition(".")[2], "relations hold + - * / ** min max abs")
            raise ProofError(
                f"{self.text!r} holds {ast.unparse(call)!r}, which is no quotient of polynomials; {remedy}"
            )
        if call.keywords or len(given) < least or (name == "abs" and len(given) > 1):
            wanted = "one value" if name == "abs" else "two values or more"
            raise ProofError(f"{self.text!r} holds {ast.unparse(call)!r}, but {name} takes {wanted}")
        if name == "abs":
            for sign, value in ((">=", given[0]), ("<=", ast.UnaryOp(ast.USub(), given[0]))):
                yield value, [Comparison(given[0], sign, ast.Constant(0), self.text)]
            return
        for k, value in enumerate(given):
            others = [other for j, other in enumerate(given) if j != k]
            sign = "<=" if name == "min" else ">="
            yield value, [Comparison(value, sign, other, self.text) for other in others]


def expression_of(text: str) -> ast.expr:
    """The expression that a text of relations holds; raises ProofError if it is none."""
    if re.search(r"(?<![<>=!])=(?!=)", text):
        raise ProofError(f"{text!r} is not a relation: write == where both sides are equal")
    return parsed(text)


def comparisons(text: str, name: str = "") -> list[Comparison]:
    """What a text compares, one after another: 0 < a and a <= 1 of ``0 < a <= 1``.

    Raises
    ------
    ProofError
        If the text is no relation.

    Examples
    --------
    >>> [c.words for c in comparisons("0 < max(a, b) <= min(1, c)")]
    ['0 < max(a, b)', 'a <= 1', 'a <= c', 'b <= 1', 'b <= c']
    """
    return comparisons_of(expression_of(text), text, name)


def comparisons_of(node: ast.expr, text: str, name: str = "") -> list[Comparison]:
    """As :func:`comparisons`, of an expression in the text."""
    if not isinstance(node, ast.Compare) or any(type(op) not in OPERATORS for op in node.ops):
        raise ProofError(f"{text!r} is not a relation: write one of <= < >= > == != between two polynomials")
    sides, signs = [node.left, *node.comparators], [OPERATORS[type(op)] for op in node.ops]
    chain = [Comparison(sides[k], sign, sides[k + 1], text, name) for k, sign in enumerate(signs)]
    parts = [part for c in chain for part in _each(c)]
    if len(parts) == 1:
        return parts
    return [replace(part, name=f"{name} ({k})") for k, part in enumerate(parts, 1)]


def _each(c: Comparison) -> Iterator[Comparison]:
    """A comparison, or those of all values: x <= c and y <= c say the same as max(x, y) <= c."""
    above, below = (("max", "abs"), ("min",)) if c.sign in ("<=", "<") else (("min",), ("max", "abs"))
    for side, functions in ((c.left, above), (c.right, below)):
        if c.sign not in ("==", "!=") and isinstance(side, ast.Call) and ast.unparse(side.func) in functions:
            for value, _ in c.values(side):
                one = replace(c, left=value) if side is c.left else replace(c, right=value)
                yield from _each(one)
            return
    yield c


def cases(c: Comparison) -> Iterator[tuple[Comparison, ...]]:
    """Comparisons without functions, case by case; the comparison holds where all of some case do.

    Examples
    --------
    >>> (one,) = comparisons("abs(x) >= y")
    >>> [[c.words for c in case] for case in cases(one)]
    [['x >= 0', 'x >= y'], ['x <= 0', '-x >= y']]
    """
    call = next(c.calls, None)
    if call is None:
        yield (c,)
        return
    for value, conditions in c.values(call):
        for rest in cases(c.with_value(call, value)):
            yield (*conditions, *rest)
