"""What nothing meets proves nothing: inductions without a sequence, certificates of a contradiction."""

from dataclasses import replace

import pytest

from proofs import (
    EvidenceError,
    Implication,
    Induction,
    Status,
    Step,
    SumSchema,
    check,
    conjecture,
    verify,
)
from proofs.checking import queries, verify_finding
from proofs.claims import NEGATION
from proofs.prover import settle
from proofs.prover.values import values_meeting
from proofs.verdicts.reasons import reason_of
from tests.proofs.catalogue.statements import own

COUNTING = ["s[0] == 0", "s[n+1] == s[n] + 1"]
VACUOUS = {
    "two values": conjecture("n <= 1", ["s[n] == 1", "n*s[n] == 0"]),
    "bounded": conjecture("n <= 10", [*COUNTING, "s[n]**2 <= 81"], steps=["s[n] == n"]),
    "bounded far out": conjecture("n <= 1001", [*COUNTING, "s[n]**2 <= 1000000"], steps=["s[n] == n"]),
    "not at one number": conjecture("n <= 500", [*COUNTING, "(n - 500)**2 >= 1"]),
    "bounded beyond 10**8": conjecture("n <= 10**9", ["s[n+1] == 1", "n + 1 <= 10**9*s[n+1]"]),
    "dead end": conjecture("n*(n - 3) <= 0", ["s[0] == 0", "s[n+1] + s[n] == 1", "s[n]*(n - 1) == 0"]),
}


@pytest.mark.parametrize("name", VACUOUS)
def test_what_no_sequence_meets_proves_nothing(name):
    verdict = check(VACUOUS[name])
    assert verdict.status == Status.UNKNOWN, verdict
    verify(verdict, VACUOUS[name])


MET = {
    "doubled": conjecture("s[n] >= n + 1", ["s[0] == 1", "s[n+1] >= 2*s[n]"]),
    "squared": conjecture("s[n] >= 0", ["s[0] >= 0", "s[n+1] == s[n]**2 + 1"]),
    "summed": conjecture("s[n] == n*(n + 1)/2", ["s[0] == 0", "s[n+1] == s[n] + n + 1"]),
    "shrinking": conjecture("s[n] > 0", ["s[0] == 1", "2*s[n+1] == s[n]"]),
    "irrational": conjecture("s[n]**2 == 2", ["s[0]**2 == 2", "s[n+1] == s[n]"]),
    "two sequences": conjecture("s[n] <= t[n]", ["s[0] <= t[0]", "s[n+1] - s[n] <= t[n+1] - t[n]"]),
    "from a later number": conjecture("s[n] >= s[3]", ["s[3] == 1", "s[n+1] >= s[n]"], first=3),
}


@pytest.mark.parametrize("name", MET)
def test_sequences_that_exist_keep_their_proof(name):
    verdict = check(MET[name])
    assert verdict.status == Status.PROVED, verdict
    verify(verdict, MET[name])


def test_the_checker_wants_values_at_all_windows():
    asked = MET["doubled"]
    verdict = check(asked)
    (finding,) = verdict.findings
    met = finding.evidence["met"]
    assert [len(values) for values in met] == [
        13,
        5,
        5,
        5,
    ]  # s[0] to s[12]; s[0] beside four members later on
    for wrong in ([], met[:1], [{}, *met[1:]], [{**met[0], "s_7": 0}, *met[1:]], met[0], {}):
        bent = replace(finding, evidence={**finding.evidence, "met": wrong})
        with pytest.raises(EvidenceError):
            verify(replace(verdict, findings=(bent,)), asked)


# A contradiction whose terms are all multiplied by the negated conclusion.

LOW, HIGH = "x > 1", "x < 0"


def negated(*terms):
    """Terms of a contradiction, each of them times the negated conclusion."""
    return [{"coefficient": 1, "factors": [*names, NEGATION], "square": "1"} for names in terms]


CONTRADICTION = negated(["low"], ["high"], [])
"""(x - 1) - x + 1 == 0."""


def forged(claim, evidence):
    """A finding that says that the evidence proves the claim."""
    found = settle(Step("one", claim, states=True), 60)
    told = reason_of(found.claim, evidence)
    return replace(found, status=Status.PROVED, evidence=evidence, reason=told)


def parts(terms, **more):
    return {"kind": "refutation", "terms": terms, "cofactors": {}} | more


FORGERIES = {
    "implication": (
        Implication({"low": LOW, "high": HIGH}, "y >= 7"),
        parts(CONTRADICTION, met={}),
    ),
    "implication by z3": (
        Implication({"low": LOW, "high": HIGH}, "y >= 7"),
        parts(CONTRADICTION, met="z3"),
    ),
    "implication with values": (
        Implication({"low": LOW, "high": HIGH}, "y >= 7"),
        parts(CONTRADICTION, met={"x": 2, "y": 0}),
    ),
    "sums": (
        SumSchema({"low": LOW, "high": HIGH}, "sum[i](y[i]) >= 7"),
        parts(CONTRADICTION, met={}, sums={}, size=1) | {"kind": "sums"},
    ),
}


def test_an_induction_of_contradictions_proves_nothing():
    claim = Induction({"low": LOW, "high": HIGH}, "s[n] >= 7")
    evidence = dict(check(MET["doubled"]).findings[0].evidence)
    for part in ("base", "step"):
        evidence[part] = {**evidence[part], "terms": CONTRADICTION, "cofactors": {}}
        evidence[part] |= {"met": {}} if "met" in evidence[part] else {}
    evidence |= {"met": [{}] * len(evidence["met"])} if "met" in evidence else {}
    with pytest.raises(EvidenceError):
        verify_finding(claim, forged(claim, evidence))


@pytest.mark.parametrize("name", FORGERIES)
def test_a_contradiction_times_the_negated_conclusion_proves_nothing(name):
    claim, evidence = FORGERIES[name]
    assert settle(Step("one", claim, states=True), 60).status == Status.UNKNOWN
    with pytest.raises(EvidenceError):
        verify_finding(claim, forged(claim, evidence))


def test_a_case_that_never_occurs_is_not_the_only_one():
    asked = conjecture("abs(y) >= 7", ["x > 1", "x < 0"])
    verdict = check(asked)
    assert verdict.status == Status.UNKNOWN
    assert "no case of step 1 is known to occur" in verdict.reason
    verify(verdict, asked)


def test_without_a_solver_values_are_found_all_the_same(monkeypatch):
    def absent(*given):
        raise ImportError

    monkeypatch.setattr(queries, "ask", absent)
    asked = conjecture("x + 4*y + z <= 3*x*y", ["x*y == 12", "3*x + z == 10", "7*x >= 20", "y < x"])
    relations = list(asked.ask(asked.question())[0].claim.relations.values())
    values = values_meeting(relations, float("inf"))
    assert all(r.holds(values) for r in relations)
    assert check(own(Implication({"a": "x*y == 12", "b": "7*x >= 20"}, "y <= 5"))).status == Status.PROVED
    verdict = check(own(Implication({"root": "x**2 == 2"}, "x**2 >= 1")))
    assert (verdict.status, verdict.findings[0].evidence["why"]) == (Status.UNKNOWN, "unmet")
    assert "exact" in verdict.reason


def test_values_that_no_relation_allows_are_not_found():
    relations = Implication({"low": "x*y > 1", "high": "x*y < 1"}, "0 == 1").relations.values()
    assert values_meeting(list(relations), float("inf")) is None
