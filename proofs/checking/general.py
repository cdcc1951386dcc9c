"""Checking claims on sums of any length, chains of earlier steps, and inductions.

Each comes down to what :mod:`proofs.checking.refutations` checks; why that is enough is proved where the
claims are described (:mod:`proofs.claims`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
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
from proofs.claims import (
    Chained,
    Citation,
    Implication,
    Induction,
    Rule,
    StateInduction,
    SumSchema,
    numbers_of,
)
from proofs.errors import EvidenceError, ProofError
from proofs.language.polynomials import KEPT_TEXTS, Polynomial, polynomial
from proofs.language.relations import Relation, scaled
from proofs.language.rules import is_rule, normal_parts, parts_of, with_terms
from proofs.language.sequences import as_families, at_first, at_last, mentions_next, shifted
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
    conclusion = claim.read(claim.conclusion)
    goal = plain_relation(conclusion)
    texts = [claim.read(text) for text in claim.cases]
    cases = [plain_relation(text) for text in texts]
    single = frozenset().union(*map(indices_in, cases))
    if claim.first is not None and (moving := [text for text in texts if "n" in free_letters(text)]):
        raise EvidenceError(f"a case is of all numbers; got {moving[0]}")
    if lost := single - indices_in(goal):
        raise EvidenceError(f"the conclusion does not carry the index {min(lost)!r} of a case")
    unmet: list[dict[int, EvidenceError]] = []
    for chosen in product(*((r, r.negated) for r in cases)):
        known = _Known(claim, chosen)
        unmet.append({})
        closed = False
        for number, cited in enumerate(claim.cites, 1):
            try:
                closed = _cited(number, cited, known, single).impossible or closed
            except _UnmetError as missing:
                unmet[-1][number] = missing
        there = known.steps if mentions_next(conclusion) else known.always
        if not (closed or known.holds(conclusion, there)):
            other = EvidenceError("the conclusion is none of the conclusions cited")
            raise next(iter(unmet[-1].values()), other)
    for number, error in unmet[0].items():
        if all(number in later for later in unmet):
            raise error


class _UnmetError(EvidenceError):
    """A hypothesis of what is cited is not known here."""


class _Known:
    """What is known in a chain: ``always``, or for every step from a number to the next.

    Both are the same where there are no numbers, and where the numbers have no end.
    """

    def __init__(self, claim: Chained, chosen: tuple[Relation, ...]) -> None:
        self.first, self.last = claim.first, claim.last
        self.always: set[str] = set(map(key_of, chosen))
        self.steps = set(self.always) if self.last else self.always
        for text in claim.hypotheses.values():
            if is_rule(text):
                self.always.add(_rule_key(text))
            else:
                told = claim.read(text)
                self.add(told, always=not mentions_next(told))
        if self.first is not None:
            self.add(f"Number[n] >= {self.first}", always=True)
        if self.last:
            self.add(f"Number[n] <= {self.last}", always=True)
            self.steps.add(key_of(plain_relation(f"Number[n] + 1 <= {self.last}")))

    def add(self, text: str, *, always: bool) -> Relation:
        """A relation that is known, and with it what it says of the next number, the first and the last."""
        r = plain_relation(text)
        self.steps.add(key_of(r))
        if always:
            self.always.add(key_of(r))
        moves = "n" in indices_in(r) and not mentions_next(text)
        if self.first is None or not moves or (self.last and not always):
            return r
        self.steps.add(key_of(plain_relation(shifted(text))))
        ends = [at_first(text, self.first), *([at_last(text, self.last)] if self.last else [])]
        for end in ends:
            key = key_of(plain_relation(end))
            self.always.add(key)
            self.steps.add(key)
        return r

    def holds(self, text: str, known: set[str]) -> bool:
        """Whether a relation is among the known ones, or compares constants and is true."""
        r = plain_relation(text)
        return _is_known(r, known) or (not r.left.variables and r.holds({}))


def _cited(number: int, cited: Citation, known: _Known, single: frozenset[str]) -> Relation:
    """The conclusion of a citation, known now; the letters of ``single`` stand for one member each."""
    claim, values = cited.claim, cited.values
    about = numbers_of(claim)
    if about is not None:
        if about != (known.first, known.last):
            raise EvidenceError(f"citation {number} is about other numbers than the chain")
        values = _of_members(values, *about)
    elif known.first is not None:
        values = {name: as_families(term, known.first, known.last) for name, term in values.items()}
    texts, written = dict(claim.hypotheses), claim.conclusion
    if about is not None:
        texts = {name: as_families(held, *about) for name, held in texts.items()}
        written = as_families(written, *about)
    text = substituted(written, values)
    conclusion = plain_relation(text)
    alone = frozenset(claim.each) if isinstance(claim, Rule) else frozenset[str]()
    brought = set().union(*(free_letters(term) - letters(name) for name, term in values.items()))
    had = indices_in(plain_relation(written))
    if lost := (brought | had | alone) - indices_in(conclusion) - single:
        raise EvidenceError(f"the conclusion of citation {number} does not carry the index {min(lost)!r}")
    used = set().union(*map(_letters, (*texts.values(), written)))
    if isinstance(claim, Rule) and _rule_key(claim.text) not in known.always:
        raise EvidenceError(f"citation {number} is of a rule that is none of the hypotheses: {claim.text}")
    if taken := (single - alone) & used:
        raise EvidenceError(f"citation {number} is of all members {min(taken)!r}, and a case of one of them")
    if known.first is not None and about is None and "n" in used:
        raise EvidenceError(f"citation {number} has the index n, which is that of the numbers here")
    everywhere = not mentions_next(text)
    for name, held in texts.items():
        if is_rule(held):
            if _rule_key(with_terms(held, values)) not in known.always:
                raise _UnmetError(f"citation {number} needs its rule {name!r}, {held}, which is none here")
            continue
        told = substituted(held, values)
        # What is cited about sequences asks for what does not look ahead at every number.
        if known.holds(told, known.always) and not mentions_next(told):
            continue
        if not known.holds(told, known.steps) or (about is not None and not mentions_next(held)):
            raise _UnmetError(
                f"citation {number} needs its hypothesis {name!r}, {plain_relation(told)}, which is neither "
                "one here nor the conclusion of a citation before"
            )
        everywhere = everywhere and about is not None
    return known.add(text, always=everywhere)


def _of_members(values: Mapping[str, str], first: int, last: str) -> dict[str, str]:
    """Terms for sequences as terms for the families of their members, at a number, the next and the ends.

    Raises
    ------
    ProofError
        If a term looks ahead, or stands for a number or a member alone.
    """
    found: dict[str, str] = {}
    for name, term in values.items():
        moves, told = "n" in free_letters(name), as_families(term, first, last)
        if mentions_next(told) or name in ("n", last):
            raise ProofError(f"{name} = {term}: a term stands for a sequence, and does not look ahead")
        found[name] = told
        if moves:
            found[shifted(name)] = shifted(told)
            found[at_first(name, first)] = at_first(told, first)
            found |= {at_last(name, last): at_last(told, last)} if last else {}
    return found


def _rule_key(text: str) -> str:
    """One text for a rule, whatever the multiples of its relations and the order of its premises."""
    return repr(normal_parts(text))


def _letters(text: str) -> frozenset[str]:
    """All index letters of a relation or of a rule."""
    if not is_rule(text):
        return letters(text)
    conclusion, premises, over, _ = parts_of(text)
    return frozenset().union(*map(letters, (conclusion, *premises, *over)))


def _is_known(r: Relation, known: set[str]) -> bool:
    """Whether the relation is known, or one from which it follows at once."""
    same = [r, *(Relation(r.left, sign) for sign in (">", "==") if r.sign == ">=")]
    return any(key_of(one) in known for one in same)


@lru_cache(maxsize=KEPT_TEXTS)
def key_of(r: Relation) -> str:
    """One text for a relation and its multiples; an equation is the same the other way round."""
    return repr(scaled(r))


def check_induction(claim: Induction, evidence: Evidence) -> None:
    """Raise EvidenceError unless base and step are refuted where their conclusions fail, and can be met.

    Values meet the hypotheses at several numbers in a row, from the first one and from later ones on.
    """
    for part, implication in (("base", claim.base), ("step", claim.step)):
        inner = evidence[part]
        if set(inner) != {"kind", "terms", "cofactors"} or inner["kind"] != "refutation":
            raise EvidenceError(f"the {part} has a refutation; got {sorted(inner)}")
        check_refutation(implication, inner)
    _check_windows(claim.windows, evidence)


def _check_windows(windows: Mapping[int, Implication], evidence: Evidence) -> None:
    """Raise EvidenceError unless values meet the hypotheses at several numbers in a row, wherever asked."""
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
    if isinstance(claim, Chained) and claim.first is not None:
        _check_windows(claim.windows_of(_size(evidence)), evidence)
        return
    check_met(claim.instance(_size(evidence)), evidence)


def check_instance(claim: SumSchema | Chained | Induction, evidence: Evidence) -> None:
    """Raise EvidenceError unless the values contradict the claim for sets of that size."""
    if isinstance(claim, Induction) or (isinstance(claim, Chained) and claim.first is not None):
        if not claim.last:
            raise EvidenceError("members of sequences contradict a claim only where they are all of a run")
        size = _size(evidence)
        (run,) = (claim.windows if isinstance(claim, Induction) else claim.windows_of(size)).values()
        check_assignment(run, evidence)
        return
    check_assignment(claim.instance(_size(evidence)), evidence)


def _size(evidence: Evidence) -> int:
    size = evidence["size"]
    if type(size) is not int or not 1 <= size <= LARGEST:
        raise EvidenceError(f"sets are looked at with 1 to {LARGEST} elements; got {size!r}")
    return size
