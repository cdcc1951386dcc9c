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
from dataclasses import dataclass, replace
from itertools import product

from proofs.claims.claim import Step
from proofs.claims.deductions import NEGATION, Implication
from proofs.errors import ProofError
from proofs.language.comparisons import Comparison, comparisons
from proofs.language.polynomials import Polynomial
from proofs.language.quotients import quotient, sign_of
from proofs.language.relations import Relation, compared

__all__ = ["split", "split_step"]

MOST_CASES = 64


@dataclass(frozen=True)
class _Case:
    """Hypotheses, those of the case among them, and a conclusion; the words of the case."""

    hypotheses: tuple[Comparison, ...]
    conclusion: Comparison
    words: tuple[str, ...] = ()

    @property
    def known(self) -> list[Relation]:
        """The hypotheses between polynomials."""
        simple = (h for h in self.hypotheses if next(h.calls, None) is None)
        return [compared(q.numerator, h.sign) for h in simple if not (q := h.difference).divisors]

    def assuming(self, *more: Comparison, words: str = "") -> _Case:
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
    parts = {name: comparisons(text, name) for name, text in claim.hypotheses.items()}
    conclusions = comparisons(claim.conclusion, NEGATION)
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


def _assumed(name: str, text: str) -> Comparison:
    (found,) = comparisons(text, name)
    return found


def _resolved(case: _Case) -> Iterator[_Case]:
    """Cases in which no function is left, and the sign of every divisor that matters is known."""
    told = (*case.hypotheses, case.conclusion)
    for c in told:
        for call in c.calls:
            if c is case.conclusion:
                for divisor in (d for given in call.args for d in quotient(given, c.text).divisors):
                    if sign_of(divisor, case.known) not in (">", "<", "!="):
                        yield from _resolved(_not_zero(case, divisor))
                        case = case.assuming(_assumed(f"divisor {divisor}", f"{divisor} != 0"))
            for branch in _branches(case, call, c):
                yield from _resolved(branch)
            return
    known = case.known
    for c in told:
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


def _branches(case: _Case, call: ast.Call, within: Comparison) -> Iterator[_Case]:
    """A case for each value of a min, max or abs; only one where the hypotheses say which it is."""
    known, possible = case.known, []
    for value, conditions in within.values(call):
        signs = [_told(c, known) for c in conditions]
        chosen = _with_value(case, call, value)
        if set(signs) <= {">", ">=", "=="}:
            yield chosen
            return
        if "<" not in signs:
            possible.append(chosen.assuming(*conditions, words=", ".join(c.words for c in conditions)))
    yield from possible


def _told(c: Comparison, known: list[Relation]) -> str:
    """The sign of the larger side of a condition minus the smaller one, where it is known."""
    q = c.difference
    return "" if q.divisors else sign_of(compared(q.numerator, c.sign).left, known)


def _with_value(case: _Case, call: ast.Call, value: ast.expr) -> _Case:
    """The case with the value in the place of this very call, wherever it stands."""
    hypotheses = tuple(h.with_value(call, value) for h in case.hypotheses)
    return replace(case, hypotheses=hypotheses, conclusion=case.conclusion.with_value(call, value))


def _implication(case: _Case, claim: Implication, parts: Mapping[str, list[Comparison]]) -> Implication:
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


def _multiplied(c: Comparison, known: list[Relation]) -> Relation:
    """A comparison without its divisors, none of which is 0; their signs are known where they matter."""
    q = c.difference
    odd = [sign_of(d, known) for d, e in q.divisors.items() if e % 2]
    if c.sign not in ("==", "!=") and odd.count("<") % 2:
        return compared(-q.numerator, c.sign)
    return compared(q.numerator, c.sign)
