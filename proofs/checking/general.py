"""Checking claims on sums of any length, chains of earlier steps, and inductions.

Each comes down to what :mod:`proofs.checking.refutations` checks; why that is enough is proved where the
claims are described (:mod:`proofs.claims`).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

from proofs.checking.queries import check_met
from proofs.checking.refutations import (
    check_assignment,
    check_refutation,
    check_values,
    equation,
    factor,
    premises,
    premises_used,
)
from proofs.claims import Chained, Citation, Implication, Induction, StateInduction, SumSchema
from proofs.errors import EvidenceError
from proofs.language.polynomials import Polynomial, polynomial
from proofs.language.relations import Relation
from proofs.language.sums import (
    free_letters,
    indices_in,
    letters,
    plain_relation,
    plain_text,
    substituted,
    summed,
)

__all__ = [
    "LARGEST",
    "check_along",
    "check_chain",
    "check_induction",
    "check_instance",
    "check_met_by_instance",
    "check_states",
    "check_sums",
    "key_of",
    "summand",
    "with_sums",
]

Evidence = Mapping[str, Any]

SUMMED = {"sums", "terms", "cofactors"}
"""What evidence of a claim on sums holds, beside values that meet the hypotheses."""
LARGEST = 8
"""Elements that sets have at most where values are looked at."""


def check_sums(claim: SumSchema, evidence: Evidence) -> None:
    """Raise EvidenceError unless the closed hypotheses and the sums refute the negated conclusion."""
    sums = evidence["sums"]
    check_refutation(with_sums(claim.plain, sums), evidence)
    if unused := set(sums) - premises_used(evidence):
        raise EvidenceError(f"{min(unused)!r} is not used")


def with_sums(plain: Implication, sums: Mapping[str, Mapping[str, Any]]) -> Implication:
    """The implication to refute: closed hypotheses and sums imply the conclusion, all in plain variables.

    A sum is of a product of hypotheses times a square, ``{"factors": [...], "square": "1"}``, and so >= 0, or
    of an equation times a cofactor, ``{"equation": ..., "cofactor": "x[i]"}``, and so 0; it runs over all of
    its indices.

    Raises
    ------
    EvidenceError
        If something else is summed.
    """
    known = premises(plain)
    held = {name: text for name, text in plain.hypotheses.items() if not indices_in(known[name])}
    for name, data in sums.items():
        if name in known:
            raise EvidenceError(f"a sum has the name of the hypothesis {name!r}")
        p, sign = summand(known, data)
        for index in sorted(indices_in(Relation(p, sign))):
            p = summed(p, index)
        held[name] = repr(Relation(p, sign))
    return Implication(held, plain.conclusion)


def summand(known: Mapping[str, Relation], data: Mapping[str, Any]) -> tuple[Polynomial, str]:
    """What is summed, in plain variables, and that it is >= 0 or 0."""
    if set(data) == {"equation", "cofactor"}:
        return polynomial(plain_text(data["cofactor"])) * equation(known, data["equation"]).left, "=="
    if set(data) != {"factors", "square"} or type(data["factors"]) is not list:
        raise EvidenceError(f"a sum is of factors and a square, or of an equation; got {dict(data)}")
    square = polynomial(plain_text(data["square"]))
    p = square * square
    for name in data["factors"]:
        p = p * factor(known, name, "a sum").left
    return p, ">="


def check_chain(claim: Chained, evidence: Evidence) -> None:
    """Raise EvidenceError unless the citations lead from the hypotheses to the conclusion in every case."""
    if not claim.cites:
        raise EvidenceError("it cites no step")
    goal = plain_relation(claim.conclusion)
    cases = [plain_relation(text) for text in claim.cases]
    single = frozenset().union(*map(indices_in, cases))
    if lost := single - indices_in(goal):
        raise EvidenceError(f"the conclusion does not carry the index {min(lost)!r} of a case")
    unmet: list[dict[int, EvidenceError]] = []
    for chosen in product(*((r, r.negated) for r in cases)):
        known = {key_of(plain_relation(text)) for text in claim.hypotheses.values()} | set(
            map(key_of, chosen)
        )
        unmet.append({})
        closed = False
        for number, cited in enumerate(claim.cites, 1):
            try:
                conclusion = _cited(number, cited, known, single)
            except _UnmetError as missing:
                unmet[-1][number] = missing
                continue
            known.add(key_of(conclusion))
            closed = closed or conclusion.impossible
        if not (closed or _is_known(goal, known)):
            other = EvidenceError("the conclusion is none of the conclusions cited")
            raise next(iter(unmet[-1].values()), other)
    for number, error in unmet[0].items():
        if all(number in later for later in unmet):
            raise error


class _UnmetError(EvidenceError):
    """A hypothesis of what is cited is not known here."""


def _cited(number: int, cited: Citation, known: set[str], single: frozenset[str]) -> Relation:
    """The conclusion of a citation with its terms; the letters of ``single`` stand for one member each."""
    claim = cited.claim
    conclusion = plain_relation(substituted(claim.conclusion, cited.values))
    brought = set().union(*(free_letters(term) - letters(name) for name, term in cited.values.items()))
    had = indices_in(plain_relation(claim.conclusion))
    if lost := (brought | had) - indices_in(conclusion) - single:
        raise EvidenceError(f"the conclusion of citation {number} does not carry the index {min(lost)!r}")
    texts = [*claim.hypotheses.values(), claim.conclusion]
    if used := single & set().union(*map(letters, texts)):
        raise EvidenceError(f"citation {number} is of all members {min(used)!r}, and a case of one of them")
    for name, text in claim.hypotheses.items():
        r = plain_relation(substituted(text, cited.values))
        if not _is_known(r, known) and not (not r.left.variables and r.holds({})):
            raise _UnmetError(
                f"citation {number} needs its hypothesis {name!r}, {r}, which is neither one here nor "
                "the conclusion of a citation before"
            )
    return conclusion


def _is_known(r: Relation, known: set[str]) -> bool:
    """Whether the relation is known, or one from which it follows at once."""
    same = [r, *(Relation(r.left, sign) for sign in (">", "==") if r.sign == ">=")]
    return any(key_of(one) in known for one in same)


def key_of(r: Relation) -> str:
    """One text for a relation and its multiples; an equation is the same the other way round."""
    if not r.left.variables:
        return repr(r)
    first = r.left.ordered[0][1]
    scale = 1 / (first if r.sign in ("==", "!=") else abs(first))
    return repr(Relation(polynomial(scale) * r.left, r.sign))


def check_induction(claim: Induction, evidence: Evidence) -> None:
    """Raise EvidenceError unless base and step are refuted where their conclusions fail, and can be met.

    Values meet the hypotheses at several numbers in a row, from the first one and from later ones on.
    """
    for part, implication in (("base", claim.base), ("step", claim.step)):
        inner = evidence[part]
        if set(inner) != {"kind", "terms", "cofactors"} or inner["kind"] != "refutation":
            raise EvidenceError(f"the {part} has a refutation; got {sorted(inner)}")
        check_refutation(implication, inner)
    windows = claim.windows
    if type(evidence["met"]) is not list or len(evidence["met"]) != len(windows):
        raise EvidenceError(f"values meet the hypotheses from {', '.join(map(str, windows))} on")
    for window, met in zip(windows.values(), evidence["met"], strict=True):
        check_met(window, {"met": met})


def check_states(claim: StateInduction, evidence: Evidence) -> None:
    """Raise EvidenceError unless base, step and end are refuted where they fail, and can be met.

    Values meet what is assumed at a state, and in the empty state and several with jobs of one class.
    """
    for part, holds in (("base", {"terms", "cofactors"}), *(("step", SUMMED), ("end", SUMMED))):
        inner = evidence[part]
        if set(inner) != holds:
            raise EvidenceError(
                f"the {part} has a refutation of {', '.join(sorted(holds))}; got {sorted(inner)}"
            )
    check_refutation(claim.base, evidence["base"])
    check_sums(claim.step, evidence["step"])
    check_sums(claim.end, evidence["end"])
    for met, implication in (("met", claim.end.instance(_size(evidence))), ("path", claim.path)):
        if type(evidence[met]) is not dict:
            raise EvidenceError(f"values meet the hypotheses; got {evidence[met]!r}")
        check_values(implication, evidence[met])


def check_along(claim: StateInduction, evidence: Evidence) -> None:
    """Raise EvidenceError unless the values contradict the claim where jobs of one class come one by one."""
    jobs = evidence["jobs"]
    if type(jobs) is not int or not 1 <= jobs <= LARGEST:
        raise EvidenceError(f"states are looked at with 1 to {LARGEST} jobs; got {jobs!r}")
    check_assignment(claim.along(jobs), evidence)


def check_met_by_instance(claim: SumSchema | Chained, evidence: Evidence) -> None:
    """Raise EvidenceError unless the values meet all hypotheses for sets of that size."""
    check_met(claim.instance(_size(evidence)), evidence)


def check_instance(claim: SumSchema | Chained, evidence: Evidence) -> None:
    """Raise EvidenceError unless the values contradict the claim for sets of that size."""
    check_assignment(claim.instance(_size(evidence)), evidence)


def _size(evidence: Evidence) -> int:
    size = evidence["size"]
    if type(size) is not int or not 1 <= size <= LARGEST:
        raise EvidenceError(f"sets are looked at with 1 to {LARGEST} elements; got {size!r}")
    return size
