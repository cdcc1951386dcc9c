"""What a proof is said to rest on: its last step, what states the statement, and what these cite."""

from dataclasses import replace

import pytest

from proofs import (
    Chained,
    Citation,
    Computation,
    Enumeration,
    EvidenceError,
    Implication,
    Search,
    Status,
    Step,
    SumSchema,
    check,
    verify,
)
from proofs.catalogue import statement_named
from proofs.endings import shortfall
from proofs.verdicts.verdict import Kind
from tests.proofs.catalogue.statements import own

CASES = Enumeration("cubes", {"largest": 5})
VALUE = Computation("half_of", {"number": "3/2"}, "3/4")
FILLER = SumSchema({}, "sum[i](x[i]**2) >= 0", hints=(((), "x[i]"),))
PUSH = Implication({"low": "x > 0", "high": "y >= x"}, "y > 0")
CHAIN = Chained({"low": "a > 0", "high": "b >= a"}, "b > 0", (Citation(PUSH, {"x": "a", "y": "b"}),))


def argued(*steps):
    """A statement whose steps state it or not."""
    made = [Step(f"step {k}", claim, states=states) for k, (claim, states) in enumerate(steps)]
    return own(steps=lambda question: made)


FINITE = {
    "an enumeration before a filler": [(CASES, True), (FILLER, True)],
    "an enumeration behind a filler": [(FILLER, True), (CASES, True)],
    "an enumerated lemma before a filler": [(CASES, False), (FILLER, True)],
    "an enumerated lemma behind a filler": [(FILLER, True), (CASES, False)],
    "a computation before an implication": [(VALUE, False), (PUSH, True)],
    "an enumeration before a certificate, and a chain": [(CASES, False), (PUSH, True), (CHAIN, True)],
    "an enumeration as a part": [(PUSH, False), (CASES, True), (CHAIN, True)],
}
GENERAL = {
    "certificates": [(PUSH, False), (FILLER, True)],
    "a chain": [(PUSH, False), (CHAIN, True)],
    "cases that the chain does not cite": [(CASES, False), (PUSH, False), (CASES, False), (CHAIN, True)],
}


@pytest.mark.parametrize("name", [*FINITE, *GENERAL])
def test_the_label_is_that_of_what_the_statement_rests_on(name):
    asked = argued(*(FINITE | GENERAL)[name])
    verdict = check(asked)
    assert verdict.status == Status.PROVED
    assert verdict.kind == (Kind.GENERAL if name in GENERAL else Kind.FINITE)
    verify(verdict, asked)
    for kind in Kind:
        if kind != verdict.kind:
            with pytest.raises(EvidenceError):
                verify(replace(verdict, kind=str(kind)), asked)


def test_a_chain_that_cites_nothing_proves_nothing():
    alone = Chained({"h": "x > 0"}, "x > 0", ())
    for steps in ([(alone, True)], [(CASES, True), (alone, True)]):
        verdict = check(argued(*steps))
        assert (verdict.status, verdict.kind) == (Status.UNKNOWN, "")
        assert "cites no step" in verdict.reason


@pytest.mark.parametrize(
    ("name", "ends"),
    [
        ("br-balanced-fits", True),
        ("br-duration-bound-tight", True),
        ("psdsf-theorem-2", True),
        ("dcdrf-lemma-3-1", True),
        ("tdrf-optimum", False),
    ],
)
@pytest.mark.long
def test_proofs_of_the_catalogue_with_cases(name, ends):
    # Cases stand beside a proof that ends in its statement; another one may rest on them.
    verdict = check(name)
    kinds = {f.evidence.get("kind") for f in verdict.findings}
    assert verdict.status == Status.PROVED
    assert kinds & {"enumerated", "computed"}
    assert (shortfall(statement_named(name)) == "") == ends
    # Those that end count as general, with a reading as one with words.
    kind = Kind.WORDS if verdict.statement["reading"] else Kind.GENERAL
    assert (verdict.kind == kind) == ends
    verify(verdict)
    for kind in {Kind.GENERAL, Kind.WORDS, Kind.FINITE} - {verdict.proof}:
        with pytest.raises(EvidenceError):
            verify(replace(verdict, kind=str(kind)))


def test_a_reading_is_words():
    asked = argued((PUSH, False), (CHAIN, True))
    assert check(asked).kind == Kind.GENERAL
    read = check(replace(asked, reading="By symmetry."))
    assert read.kind == Kind.WORDS
    assert "By symmetry." in str(read)
    # It leads nowhere beyond the cases that were computed.
    finite = replace(argued((FILLER, True), (CASES, True)), reading="By symmetry.")
    assert check(finite).kind == f"{Kind.FINITE}, with steps in words"
    with pytest.raises(EvidenceError, match="its kind is"):
        verify(replace(read, kind=str(Kind.GENERAL)), replace(asked, reading="By symmetry."))


def test_equal_random_cases_are_one_case():
    verdict = check(own(Search("random_squares", {"largest": 0}, number=1_000)))
    assert verdict.findings[0].evidence["different"] == 1
    assert verdict.reason == "one case, drawn 1,000 times (seed 0)"
    verdict = check(own(Search("random_squares", {"largest": 2}, number=1_000)))
    assert verdict.reason == "1,000 random cases, 5 of them different (seed 0)"
    finding = verdict.findings[0]
    bent = replace(finding, evidence={**finding.evidence, "different": 1_000})
    with pytest.raises(EvidenceError):
        verify(
            replace(verdict, findings=(bent,)), own(Search("random_squares", {"largest": 2}, number=1_000))
        )
