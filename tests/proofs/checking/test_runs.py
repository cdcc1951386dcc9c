"""Inductions with a last number, and chains about sequences that cite them: what holds, and what must not."""

from dataclasses import replace
from fractions import Fraction

import pytest

from proofs import (
    Chained,
    Citation,
    EvidenceError,
    Implication,
    Induction,
    ProofError,
    Status,
    Step,
    SumSchema,
    check,
    verify,
)
from proofs.checking.general import check_chain
from proofs.checking.verdicts import verify_finding
from proofs.claims import claim_of, content
from proofs.endings import shortfall
from proofs.prover import settle
from tests.proofs.catalogue.statements import own

GROWS = {"grows": "e[n+1] >= e[n] + 1", "start": "e[0] >= 0"}
COUNTED, ENDLESS = Induction(GROWS, "e[n] >= n", last="N"), Induction(GROWS, "e[n] >= n")
LATER = Induction({"grows": "e[n+1] >= e[n] + 1", "start": "e[1] >= 1"}, "e[n] >= n", first=1, last="N")
BOUNDED = Implication({"most": "e <= R", "counted": "e >= I"}, "I <= R")
WEAK = Implication({"low": "x >= 0"}, "2*x >= 0")
ADDED = Implication({"one": "x >= 0", "other": "y >= x"}, "y >= 0")
SUMMED = SumSchema({"signs": "x[n] >= 0"}, "sum[n](x[n]) >= 0")


def chain(hypotheses, conclusion, *cites, first=0, last="N", cases=()):
    """A chain about sequences, with citations as (claim, terms)."""
    made = tuple(Citation(claim, terms) for claim, terms in cites)
    held = {f"h{k}": text for k, text in enumerate(hypotheses)}
    return Chained(held, conclusion, made, tuple(cases), first, last)


TEXTS = list(GROWS.values())
HOLD = {
    "at the last number": chain(
        [*TEXTS, "e[N] <= R"], "N <= R", (COUNTED, {}), (BOUNDED, {"e": "e[N]", "I": "N"})
    ),
    "at every number": chain(
        [*TEXTS, "e[n] <= R"], "N <= R", (COUNTED, {}), (BOUNDED, {"e": "e[N]", "I": "N"})
    ),
    "for each of a set": chain(
        ["e[i,n+1] >= e[i,n] + 1", "e[i,0] >= 0", "e[i,n] <= R[i]"],
        "N <= R[i]",
        (COUNTED, {"e[n]": "e[i,n]"}),
        (BOUNDED, {"e": "e[i,N]", "I": "N", "R": "R[i]"}),
    ),
    "of another sequence": chain(
        ["2*b[n+1] >= 2*b[n] + 1", "2*b[0] >= 0"], "2*b[n] >= n", (COUNTED, {"e[n]": "2*b[n]"})
    ),
    "every next number": chain(["x[n] >= 0"], "2*x[n+1] >= 0", (WEAK, {"x": "x[n+1]"})),
    "the first number": chain(["x[n] >= 0"], "2*x[0] >= 0", (WEAK, {"x": "x[0]"})),
    "every step": chain(
        ["x[n] >= 0", "y[n+1] >= x[n]"], "y[n+1] >= 0", (ADDED, {"x": "x[n]", "y": "y[n+1]"})
    ),
    "numbers are not below the first": chain(["x >= 0"], "2*n >= 0", (WEAK, {"x": "n"})),
    "nor is the last": chain(["x >= 0"], "2*N >= 0", (WEAK, {"x": "N"})),
    "steps without an end are numbers": chain(
        ["x[n+1] >= 0", "y[n] >= x[n+1]"], "y[n] >= 0", (ADDED, {"x": "x[n+1]", "y": "y[n]"}), last=""
    ),
    "without an end": chain(TEXTS, "2*(e[n] - n) >= 0", (ENDLESS, {}), (WEAK, {"x": "e[n] - n"}), last=""),
    "a sum over a set": chain(
        ["sum[i](e[i,n+1]) >= sum[i](e[i,n]) + 1", "sum[i](e[i,0]) >= 0"],
        "sum[i](e[i,n]) >= n",
        (COUNTED, {"e[n]": "sum[i](e[i,n])"}),
    ),
}
REFUSED = {
    # At the last number there is no next one.
    "steps are not all numbers": chain(
        ["x[n+1] >= 0", "y[n] >= x[n+1]"], "y[n] >= 0", (ADDED, {"x": "x[n+1]", "y": "y[n]"})
    ),
    "steps do not reach the last number": chain(
        ["x[n+1] >= 0", "y[n] >= x[n+1]"],
        "2*y[N] >= 0",
        (ADDED, {"x": "x[n+1]", "y": "y[n]"}),
        (WEAK, {"x": "y[N]"}),
    ),
    "there may be no step": chain(
        ["x[n+1] >= 0", "s >= x[n+1]"], "s >= 0", (ADDED, {"x": "x[n+1]", "y": "s"})
    ),
    "there may be no step, without an end": chain(
        ["x[n+1] >= 0", "s >= x[n+1]"], "s >= 0", (ADDED, {"x": "x[n+1]", "y": "s"}), last=""
    ),
    "N > 0": chain(["x >= 0"], "2*(N - 1) >= 0", (WEAK, {"x": "N - 1"})),
    "n > 0": chain(["x >= 0"], "2*(n - 1) >= 0", (WEAK, {"x": "n - 1"})),
    "the first for all": chain(["x[0] >= 0"], "2*x[n] >= 0", (WEAK, {"x": "x[n]"})),
    "the last for all": chain(["x[N] >= 0"], "2*x[n] >= 0", (WEAK, {"x": "x[n]"})),
    "the next one for all": chain(["x[n+1] >= 0"], "2*x[n] >= 0", (WEAK, {"x": "x[n]"})),
    "the number before": chain(["x[n+1] >= x[n]", "x[n+1] >= 0"], "2*x[0] >= 0", (WEAK, {"x": "x[0]"})),
    "a lost beginning": chain(
        [TEXTS[0], "e[N] <= R"], "N <= R", (COUNTED, {}), (BOUNDED, {"e": "e[N]", "I": "N"})
    ),
    "another sequence": chain([*TEXTS, "f[0] >= 0"], "f[n] >= n", (COUNTED, {"e[n]": "f[n]"})),
    "other first numbers": chain(TEXTS, "e[n] >= n", (LATER, {})),
    "no last number": chain(TEXTS, "e[n] >= n", (ENDLESS, {})),
    "a last number": chain(TEXTS, "e[n] >= n", (COUNTED, {}), last=""),
    "an induction outside of numbers": Chained({"a": "e >= 0"}, "e >= 0", (Citation(COUNTED),)),
    "another letter": chain(
        ["e[i,n+1] >= e[i,n] + 1", "e[j,0] >= 0"], "e[i,n] >= n", (COUNTED, {"e[n]": "e[i,n]"})
    ),
    "an empty set": chain(
        ["e[i,n+1] >= e[i,n] + 1", "e[i,0] >= 0", "e[i,N] <= R"],
        "N <= R",
        (COUNTED, {"e[n]": "e[i,n]"}),
        (BOUNDED, {"e": "e[i,N]", "I": "N"}),
    ),
    "a set for the numbers": chain(["x[n] >= 0"], "y >= 0", (SUMMED, {})),
    "a case of one number": chain(
        ["y[n] >= x[n]"],
        "y[n] >= 0",
        (ADDED, {"x": "x[n]", "y": "y[n]"}),
        (WEAK, {"x": "x[n+1]"}),
        cases=["x[n] >= 0"],
    ),
}


@pytest.mark.parametrize("name", HOLD)
def test_chains_about_sequences(name):
    claim = HOLD[name]
    check_chain(claim, {})
    assert claim_of(content(claim)) == claim
    found = settle(Step(name, claim), 60)
    assert found.status == Status.PROVED
    verify_finding(claim, found)


@pytest.mark.parametrize("name", REFUSED)
def test_a_chain_about_sequences_that_would_prove_too_much(name):
    claim = REFUSED[name]
    with pytest.raises((EvidenceError, ProofError)):
        check_chain(claim, {})
    assert settle(Step(name, claim), 60).status != Status.PROVED


@pytest.mark.parametrize(
    ("hypotheses", "conclusion", "terms", "told"),
    [
        (TEXTS, "e[n] >= n", {"e[n]": "e[n+1]"}, "does not look ahead"),
        (TEXTS, "e[n] >= n", {"e[0]": "f"}, "an index is a small letter"),
        (["sum[n](x[n]) >= 0"], "e[n] >= 0", {}, "no sum is over it"),
        (["e[1] >= 0"], "e[n] >= 0", {}, "an index is a small letter"),
        (["eNext >= 0"], "e[n] >= 0", {}, "stands for a member of a sequence"),
        (["Number >= 0"], "e[n] >= 0", {}, "stands for a member of a sequence"),
        (["e <= 1 if e >= 0"], "e[n] >= 0", {}, "has no rules"),
    ],
)
def test_texts_of_chains_about_sequences(hypotheses, conclusion, terms, told):
    with pytest.raises(ProofError, match=told):
        check_chain(chain(hypotheses, conclusion, (COUNTED, terms)), {})


@pytest.mark.parametrize(("first", "last"), [(-1, ""), (0, "k"), (0, "N + 1"), (0, 5), (True, "N")])
def test_numbers_of_a_run(first, last):
    with pytest.raises(ProofError):
        Induction(GROWS, "e[n] >= n", first=first, last=last)


# Inductions with a last number.


def test_the_base_does_not_look_ahead():
    """A run may have no step: then nothing is known of e[1]."""
    ahead = {"falls": "e[0] >= e[n+1]", "signs": "e[n+1] >= 0"}
    assert settle(Step("", Induction(ahead, "e[0] >= 0")), 60).status == Status.PROVED
    assert settle(Step("", Induction(ahead, "e[0] >= 0", last="N")), 60).status != Status.PROVED


def test_the_step_ends_at_the_last_number():
    claim = Induction(
        {"start": "e[0] == 0", "up": "e[n+1] == e[n] + 1", "most": "e[N] <= 7"}, "n <= N", last="N"
    )
    assert claim.step.hypotheses["to"] == "n + 1 <= N"
    assert "up" not in claim.base.hypotheses
    assert settle(Step("", claim), 60).status == Status.PROVED
    assert settle(Step("", replace(claim, conclusion="n + 1 <= N")), 60).status != Status.PROVED


def test_a_run_refutes():
    found = settle(Step("too many", replace(COUNTED, conclusion="e[n] >= 2*n")), 60)
    assert found.status == Status.REFUTED
    values = {name: Fraction(value) for name, value in found.evidence["values"].items()}
    assert values["e_0"] >= 0
    assert all(values[f"e_{k + 1}"] >= values[f"e_{k}"] + 1 for k in (0, 1))
    assert values["e_2"] < 4
    verify_finding(replace(COUNTED, conclusion="e[n] >= 2*n"), found)
    bent = {**found.evidence, "values": {**found.evidence["values"], "e_2": 9}}
    with pytest.raises(EvidenceError):
        verify_finding(replace(COUNTED, conclusion="e[n] >= 2*n"), replace(found, evidence=bent))


def test_members_without_an_end_refute_nothing():
    claim = replace(ENDLESS, conclusion="e[n] >= 2*n")
    assert settle(Step("", claim), 60).status == Status.UNKNOWN
    run = settle(Step("", replace(COUNTED, conclusion="e[n] >= 2*n")), 60)
    with pytest.raises(EvidenceError, match="only where they are all of a run"):
        verify_finding(claim, run)


def test_what_no_run_meets_proves_nothing():
    never = {**GROWS, "falls": "e[n+1] <= e[n]"}
    assert settle(Step("", Induction(never, "e[n] >= n", last="N")), 60).status == Status.UNKNOWN
    claim = chain([*never.values()], "e[n] >= n", (COUNTED, {}))
    check_chain(claim, {})
    assert settle(Step("", claim), 60).status == Status.UNKNOWN


def test_a_proof_may_end_in_a_chain_about_sequences():
    last = Chained(
        {**GROWS, "most": "e[N] <= R"},
        "N <= R",
        (Citation(COUNTED), Citation(BOUNDED, {"e": "e[N]", "I": "N"})),
        (),
        0,
        "N",
    )
    steps = [Step("Counted.", COUNTED), Step("So.", BOUNDED), Step("Together.", last, states=True)]
    words = {"grows": "it grows", "start": "from 0", "most": "up to R"}
    asked = own(hypotheses=words, steps=lambda question: steps)
    assert shortfall(asked) == ""
    verdict = check(asked)
    assert verdict.status == Status.PROVED
    assert verdict.kind == "general, by certificates only"
    verify(verdict, asked)
    assert verdict.to_latex()
