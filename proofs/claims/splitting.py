r"""Implications as people write them, turned into implications between polynomials.

* ``0 < a <= 1`` is two relations.
* ``x/a <= 1`` says that ``a`` is not 0 and, where the sign of ``a`` follows from one hypothesis (``a > 0``,
  ``a >= 1/2``; that of ``a*b + 1`` from those of ``a`` and ``b``), ``x <= a`` or ``x >= a``. Where it does
  not, there are two cases.
* ``max(x, y) <= 1`` is two relations, too; elsewhere ``min(x, y, ...)``, ``max(x, y, ...)`` and ``abs(x)``
  make a case for each of their values.

A conclusion that divides by what may be 0 is not true there: that its divisors are not 0 is to be shown, too.
Each case is an implication of its own, with its own certificate; together they say what was written. A case
that cannot occur is proved by its contradiction, as long as some case can.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import product

from proofs.claims.claim import Step
from proofs.claims.reasoned import NEGATION, Implication
from proofs.errors import ProofError
from proofs.language.polynomials import Polynomial, parsed
from proofs.language.quotients import Quotient, quotient, sign_of
from proofs.language.relations import OPERATORS, Relation, compared

__all__ = ["split", "split_step"]

MOST_CASES = 64
REMEDIES = {
    "log": "take a variable for each logarithm and state the tangents that you use as hypotheses, such as "
    '"log_x <= x/c - 1 + log_c", which holds for all x, c > 0',
    "exp": 'take a variable for each value and state what you use of it, such as "exp_x >= 1 + x"',
    "sqrt": 'take a variable for the root, with "r >= 0" and "r**2 == x" as hypotheses',
}
"""For functions that are no quotients of polynomials in cases."""


@dataclass(frozen=True)
class _Comparison:
    """Two sides and the sign between them; ``name`` is that of the hypothesis, ``text`` where it stands."""

    name: str
    left: ast.expr
    sign: str
    right: ast.expr
    text: str

    @property
    def difference(self) -> Quotient:
        return quotient(self.left, self.text) - quotient(self.right, self.text)

    @property
    def words(self) -> str:
        return f"{ast.unparse(self.left)} {self.sign} {ast.unparse(self.right)}"


@dataclass(frozen=True)
class _Case:
    """Hypotheses, those of the case among them, and a conclusion; the words of the case."""

    hypotheses: tuple[_Comparison, ...]
    conclusion: _Comparison
    words: tuple[str, ...] = ()

    @property
    def known(self) -> list[Relation]:
        """The hypotheses between polynomials."""
        simple = (h for h in self.hypotheses if next(_calls(h), None) is None)
        return [compared(q.numerator, h.sign) for h in simple if not (q := h.difference).divisors]

    def assuming(self, *more: _Comparison, words: str = "") -> _Case:
        told = (*self.words, words) if words else self.words
        return replace(self, hypotheses=(*self.hypotheses, *more), words=told)


def split_step(step: Step) -> list[Step]:
    """The step, or one for each implication between polynomials that its implication stands for."""
    if type(step) is not Step or type(step.claim) is not Implication:
        return [step]
    try:
        told = split(step.claim)
    except RecursionError:
        raise ProofError(f"a relation of the step {step.says!r} is nested too deeply") from None
    return [
        replace(step, says=f"{step.says} [{words}]" if words else step.says, claim=c) for words, c in told
    ]


def split(claim: Implication) -> list[tuple[str, Implication]]:
    """Implications between polynomials that together say what is written, each with the words of its case.

    Raises
    ------
    ProofError
        If a text is no relation, or there are too many cases.

    Examples
    --------
    >>> for words, case in split(Implication({"a": "0 < a <= 2", "fits": "x/a <= 1 + abs(y)"}, "x <= a")):
    ...     print(f"{words}: {', '.join(case.hypotheses.values())}")
    y >= 0: a > 0, -a + 2 >= 0, a*y + a - x >= 0, y >= 0
    y <= 0: a > 0, -a + 2 >= 0, -a*y + a - x >= 0, -y >= 0
    """
    if all(_plain(text) for text in (*claim.hypotheses.values(), claim.conclusion)):
        return [("", claim)]
    parts = {name: list(_comparisons(name, text)) for name, text in claim.hypotheses.items()}
    conclusions = list(_comparisons(NEGATION, claim.conclusion))
    written = tuple(part for several in parts.values() for part in several)
    found: list[tuple[tuple[str, ...], Implication]] = []
    branched = False
    for conclusion in conclusions:
        for case in _resolved(_Case(written, conclusion)):
            if len(found) == MOST_CASES:
                raise ProofError(
                    f"{claim.conclusion!r} and its hypotheses have more than {MOST_CASES} cases; say which "
                    "value a min, max or abs has, or the sign of a divisor, by a hypothesis"
                )
            branched = branched or bool(case.words)
            last = len(conclusions) == 1 and case.conclusion.name == NEGATION
            told = () if last else (f"then {case.conclusion.words}",)
            found.append(((*case.words, *told), _implication(case, claim, parts)))
    if not found:
        raise ProofError(f"the hypotheses of {claim.conclusion!r} contradict each other: no case is left")
    if branched and len(found) > 1:
        found = [(words, replace(one, case=(k, len(found)))) for k, (words, one) in enumerate(found, 1)]
    return [(", ".join(words), one) for words, one in found]


def _plain(text: str) -> bool:
    """Whether a text can only be a relation between two polynomials, as far as its look tells."""
    signs = re.findall(r"<=|>=|==|!=|<|>", text)
    return len(signs) == 1 and not re.search(r"\w\s*\(|/\s*[^\s\d]|\*\*\s*([^\s\d]|\d*\.)", text)


def _comparisons(name: str, text: str) -> Iterator[_Comparison]:
    """What a text compares, one after another: 0 < a and a <= 1 of ``0 < a <= 1``."""
    if re.search(r"(?<![<>=!])=(?!=)", text):
        raise ProofError(f"{text!r} is not a relation: write == where both sides are equal")
    node = parsed(text)
    if not isinstance(node, ast.Compare) or any(type(op) not in OPERATORS for op in node.ops):
        raise ProofError(f"{text!r} is not a relation: write one of <= < >= > == != between two polynomials")
    sides, signs = [node.left, *node.comparators], [OPERATORS[type(op)] for op in node.ops]
    chain = [_Comparison(name, sides[k], sign, sides[k + 1], text) for k, sign in enumerate(signs)]
    parts = [part for c in chain for part in _each(c)]
    for k, part in enumerate(parts, 1):
        yield replace(part, name=f"{name} ({k})") if len(parts) > 1 else part


def _each(c: _Comparison) -> Iterator[_Comparison]:
    """A comparison, or those of all values: x <= c and y <= c say the same as max(x, y) <= c."""
    less = c.sign in ("<=", "<")
    if c.sign not in ("==", "!="):
        if isinstance(c.left, ast.Call) and ast.unparse(c.left.func) in (
            ("max", "abs") if less else ("min",)
        ):
            for value, _ in _values(c.left, c.text):
                yield from _each(replace(c, left=value))
            return
        if isinstance(c.right, ast.Call) and ast.unparse(c.right.func) in (
            ("min",) if less else ("max", "abs")
        ):
            for value, _ in _values(c.right, c.text):
                yield from _each(replace(c, right=value))
            return
    yield c


def _assumed(name: str, text: str) -> _Comparison:
    (found,) = _comparisons(name, text)
    return found


def _resolved(case: _Case) -> Iterator[_Case]:
    """Cases in which no function is left, and the sign of every divisor that matters is known."""
    comparisons = (*case.hypotheses, case.conclusion)
    for c in comparisons:
        for call in _calls(c):
            if c is case.conclusion:
                for divisor in (d for given in call.args for d in quotient(given, c.text).divisors):
                    if sign_of(divisor, case.known) not in (">", "<", "!="):
                        yield from _resolved(_not_zero(case, divisor))
                        case = case.assuming(_assumed(f"divisor {divisor}", f"{divisor} != 0"))
            for branch in _branches(case, call, c.text):
                yield from _resolved(branch)
            return
    known = case.known
    for c in comparisons:
        for divisor, exponent in c.difference.divisors.items():
            sign, ordered = sign_of(divisor, known), exponent % 2 and c.sign not in ("==", "!=")
            if sign in (">", "<") or (sign == "!=" and not ordered):
                continue
            if c is case.conclusion and sign != "!=":
                yield _not_zero(case, divisor)
            more, less = (_assumed(f"sign of {divisor}", f"{divisor} {s} 0") for s in "><")
            if sign == ">=":
                yield from _resolved(case.assuming(more))
            elif sign == "<=":
                yield from _resolved(case.assuming(less))
            elif ordered:
                yield from _resolved(case.assuming(more, words=f"{divisor} > 0"))
                yield from _resolved(case.assuming(less, words=f"{divisor} < 0"))
            else:
                yield from _resolved(case.assuming(_assumed(f"divisor {divisor}", f"{divisor} != 0")))
            return
    yield case


def _not_zero(case: _Case, divisor: Polynomial) -> _Case:
    """That the hypotheses say so of a divisor of the conclusion."""
    return replace(case, conclusion=_assumed("divisor", f"{divisor} != 0"))


def _calls(c: _Comparison) -> Iterator[ast.Call]:
    """Calls of functions without calls in what they are given."""
    for side in (c.left, c.right):
        for node in ast.walk(side):
            if isinstance(node, ast.Call) and sum(isinstance(n, ast.Call) for n in ast.walk(node)) == 1:
                yield node


def _branches(case: _Case, call: ast.Call, text: str) -> Iterator[_Case]:
    """A case for each value of a min, max or abs; only one where the hypotheses say which it is."""
    known, possible = case.known, []
    for value, conditions in _values(call, text):
        signs = [_told(c, known) for c in conditions]
        chosen = _with_value(case, call, value)
        if set(signs) <= {">", ">=", "=="}:
            yield chosen
            return
        if "<" not in signs:
            possible.append(chosen.assuming(*conditions, words=", ".join(c.words for c in conditions)))
    yield from possible


def _told(c: _Comparison, known: list[Relation]) -> str:
    """The sign of the larger side of a condition minus the smaller one, where it is known."""
    q = c.difference
    return "" if q.divisors else sign_of(compared(q.numerator, c.sign).left, known)


def _values(call: ast.Call, text: str) -> Iterator[tuple[ast.expr, list[_Comparison]]]:
    """The values of a function, each with the conditions under which it is the value."""
    name, given = ast.unparse(call.func), call.args
    least = {"min": 2, "max": 2, "abs": 1}.get(name)
    if least is None:
        remedy = REMEDIES.get(name.rpartition(".")[2], "relations hold + - * / ** min max abs")
        raise ProofError(
            f"{text!r} holds {ast.unparse(call)!r}, which is no quotient of polynomials; {remedy}"
        )
    if call.keywords or len(given) < least or (name == "abs" and len(given) > 1):
        wanted = "one value" if name == "abs" else "two values or more"
        raise ProofError(f"{text!r} holds {ast.unparse(call)!r}, but {name} takes {wanted}")
    if name == "abs":
        for sign, value in ((">=", given[0]), ("<=", ast.UnaryOp(ast.USub(), given[0]))):
            yield value, [_Comparison("", given[0], sign, ast.Constant(0), text)]
        return
    for k, value in enumerate(given):
        others = [other for j, other in enumerate(given) if j != k]
        sign = "<=" if name == "min" else ">="
        yield value, [_Comparison("", value, sign, other, text) for other in others]


def _with_value(case: _Case, call: ast.Call, value: ast.expr) -> _Case:
    """The case with the value in the place of this very call, wherever it stands."""
    same = ast.dump(call)

    class Put(ast.NodeTransformer):
        def visit_Call(self, node: ast.Call) -> ast.expr:
            if ast.dump(node) == same:
                return value
            self.generic_visit(node)
            return node

    def put(c: _Comparison) -> _Comparison:
        return replace(c, left=Put().visit(deepcopy(c.left)), right=Put().visit(deepcopy(c.right)))

    return replace(case, hypotheses=tuple(put(h) for h in case.hypotheses), conclusion=put(case.conclusion))


def _implication(case: _Case, claim: Implication, parts: Mapping[str, list[_Comparison]]) -> Implication:
    """A case as polynomials; hints that name a hypothesis of several relations are hints for each."""
    hypotheses: dict[str, str] = {}
    for h in case.hypotheses:
        name = h.name or f"case {h.words}"
        while name in hypotheses:
            name += "'"
        hypotheses[name] = repr(_multiplied(h, case.known))
    hints = tuple(
        (names, square)
        for factors, square in claim.hints
        for names in product(*([p.name for p in parts[f]] if f in parts else [f] for f in factors))
    )
    return Implication(hypotheses, repr(_multiplied(case.conclusion, case.known)), hints, claim.degree)


def _multiplied(c: _Comparison, known: list[Relation]) -> Relation:
    """A comparison without its divisors, none of which is 0; their signs are known where they matter."""
    q = c.difference
    odd = [sign_of(d, known) for d, e in q.divisors.items() if e % 2]
    if c.sign not in ("==", "!=") and odd.count("<") % 2:
        return compared(-q.numerator, c.sign)
    return compared(q.numerator, c.sign)
