"""How a step was settled, or why it was not, in words that follow from the evidence.

No reason is free text: prover and checker write it from the same data, so that one that was edited is seen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from proofs.definitions import BY_LIBRARY
from proofs.errors import ProofError
from proofs.language.relations import relation
from proofs.verdicts.verdict import NEVER

__all__ = ["reason_of"]

Data = Mapping[str, Any]


def reason_of(claim: Data, evidence: Data) -> str:
    """The reason that belongs to the evidence on a claim, both plain data.

    Raises
    ------
    ProofError
        If the evidence is of no known kind.
    """
    if not evidence:
        return ""
    kind = evidence.get("kind")
    words = OPEN.get(evidence.get("why", "")) if kind == "open" else SETTLED.get(str(kind))
    if words is None:
        raise ProofError(f"there is no evidence of the kind {kind!r}")
    if isinstance(words, str):
        known = "" if evidence.get("met") == NEVER else "are known that "
        return words.format_map({**evidence, "known": known, "claim": claim})
    return words(claim, evidence)


def _refutation(claim: Data, evidence: Data) -> str:
    return f"{_identity(claim, evidence)}{_met(evidence)}"


def _identity(claim: Data, evidence: Data) -> str:
    linear = all(len(t["factors"]) <= 1 and t["square"] == "1" for t in evidence["terms"])
    relations = [relation(text) for text in (*claim["hypotheses"].values(), claim["conclusion"])]
    farkas = linear and all(r.left.degree <= 1 for r in relations)
    name = "Farkas" if farkas else "Positivstellensatz"
    return f"{name} certificate, {len(evidence['terms'])} terms"


def _sums(claim: Data, evidence: Data) -> str:
    told = f"{_counted(len(evidence['sums']), 'sum')} and {_counted(len(evidence['terms']), 'term')}"
    return f"certificate for sets of every size, {told}{_met(evidence)}"


def _counted(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def _chained(claim: Data, evidence: Data) -> str:
    cases = f" in {2 ** len(claim['cases'])} cases" if "cases" in claim else ""
    return f"cites {_counted(len(claim['cites']), 'step')}{cases}{_met(evidence)}"


def _induction(claim: Data, evidence: Data) -> str:
    told = (f"{part}: {_identity(claim[part], evidence[part])}" for part in ("base", "step"))
    solver = _met({"met": "z3"}) if "z3" in evidence["met"] else ""
    return f"induction from {claim['first']}; {'; '.join(told)}{solver}"


def _states(claim: Data, evidence: Data) -> str:
    told = f"{_counted(len(evidence['step']['sums']), 'sum')} and {len(evidence['step']['terms'])} terms"
    return f"induction over the number of jobs; step: certificate for any number of classes, {told}"


def _unsat(claim: Data, evidence: Data) -> str:
    return f"by {' and '.join(evidence['solvers'])}, without a certificate{_met(evidence)}"


def _met(evidence: Data) -> str:
    """What is to be said where the hypotheses are met by no fractions that are known."""
    if evidence["met"] == NEVER:
        return "; this case never occurs"
    return "; by z3 the hypotheses can be met" if evidence["met"] == "z3" else ""


def _confirmed(claim: Data, evidence: Data) -> str:
    match evidence["second"]:
        case "definition":
            return " and by a second definition"
        case "library":
            return f" and by {BY_LIBRARY[claim['function']]}"
    return ""


def _twice(evidence: Data) -> str:
    return ", by two definitions" if evidence["second"] == "definition" else ""


def _drawn(evidence: Data) -> str:
    """How many random cases there are, and whether they differ."""
    draws, different = evidence["cases"], evidence["different"]
    if different == 1 < draws:
        return f"one case, drawn {draws:,} times"
    return f"{draws:,} random cases" + (f", {different:,} of them different" if different < draws else "")


SETTLED: dict[str, str | Callable[[Data, Data], str]] = {
    "refutation": _refutation,
    "unsat": _unsat,
    "assignment": "witness",
    "sums": _sums,
    "chained": _chained,
    "induction": _induction,
    "states": _states,
    "instance": lambda claim, e: (
        "witness, a run" if "first" in claim else f"witness with sets of {e['size']}"
    ),
    "along": "witness in states of up to {jobs} jobs of one class",
    "computed": lambda claim, e: f"by definition{_confirmed(claim, e)}",
    "enumerated": lambda claim, e: f"all {e['cases']:,} cases{_twice(e)}",
    "case": lambda claim, e: f"case {e['number']} lacks it{_twice(e)}",
    "searched": lambda claim, e: f"{_drawn(e)} (seed {claim['seed']}){_twice(e)}",
    "counterexample": lambda claim, e: _twice(e).removeprefix(", "),
}
"""By kind of evidence."""

OPEN = {
    "late": "the time limit was reached before this step",
    "cases": "the time limit was reached after {cases:,} cases, all with the property",
    "degree": "the time limit was reached after certificates of degree {degree}",
    "sums": "no certificate of degree {degree} with sums of two factors or of hinted products was found, and "
    "no witness with sets of 1 or 2",
    "chain": "the chain breaks: {about}",
    "induction": "the {part} of the induction has no certificate",
    "no solver": "no certificate of degree {degree} was found, and this needs the SMT solver z3: pip install "
    "'fairqueues[exact]'",
    "solver": "no certificate of degree {degree} was found, and z3 has no answer",
    "solvers": "the solvers disagree: z3 says unsat, cvc5 says sat",
    "irrational": "z3 has a witness, but no rational one was found near it",
    "vacuous": "the hypotheses contradict each other, so anything would follow; a case that is meant not to "
    "occur is written with the conclusion 0 == 1",
    "unmet": "there is a certificate, but no values are known that meet the hypotheses, so it may say "
    "nothing; the solver z3 (pip install 'fairqueues[exact]') may find some",
    "sizes": "there is a certificate, but no sets of 1 to {most} elements meet the hypotheses, so it may say "
    "nothing",
    "numbers": "base and step have certificates, but no values {known}meet the hypotheses at several n in a "
    "row, from {number:,} on, so they may say nothing",
    "states": "base, step and end have certificates, but no values are known that meet the hypotheses in "
    "several states, so they may say nothing",
    "differs": "computed {way}: {value}, where the statement says {claim[value]}",
    "definitions": "the two definitions disagree: {about}",
    "silent": "{way} cannot be asked here ({about})",
    "holds": "the case that was meant as a counterexample has the property",
    "empty": "there is no case to look at",
    "words, own": "stated in words, which nobody has checked",
    "words, changed": "said for the unchanged statement; nobody has said it for this one",
}
"""Why a step is UNKNOWN; in braces stands what the evidence holds."""
