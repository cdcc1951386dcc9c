"""Inductions over the states of jobs of any number of classes: what they prove, and what is refused."""

import itertools
from dataclasses import replace
from fractions import Fraction as F

import pytest

from proofs import (
    Chained,
    Citation,
    EvidenceError,
    ProofError,
    StateInduction,
    Status,
    Step,
    Verdict,
    check,
    statements,
    verify,
)
from proofs.claims import claim_of, content
from proofs.language.relations import relation
from proofs.prover import settle
from tests.proofs.catalogue.statements import own

ATTAINED = {"attained": "P == a*Q + sum[i](a[i]*Q[i])", "demand": "a > 0", "demand i": "a[i] >= 0"}
POSITIVE = StateInduction(
    ATTAINED,
    "P > 0",
    start={"empty": "P == 1"},
    less={"P": "Q"},
    always="P > 0",
    hints=((("demand", "before"), "1"), (("demand i", "before i"), "1")),
)


def settled(claim):
    return settle(Step("step", claim), 60)


def without(name):
    return replace(POSITIVE, hypotheses={k: text for k, text in ATTAINED.items() if k != name})


def test_positive_in_all_states():
    asked = own(POSITIVE)
    verdict = check(asked)
    assert verdict.status == Status.PROVED
    assert verdict.kind == "general, by certificates only"
    assert Verdict.from_json(verdict.to_json()) == verdict
    assert claim_of(content(POSITIVE)) == POSITIVE
    verify(verdict, asked)
    assert "By induction over the number of jobs" in verdict.to_latex()


LOST = {
    "a demand that may be 0": (without("demand"), Status.REFUTED),
    "demands that may be negative": (without("demand i"), Status.UNKNOWN),
    "the recursion": (without("attained"), Status.REFUTED),
    "the empty state": (replace(POSITIVE, start={}), Status.REFUTED),
    "an empty state that is worse": (replace(POSITIVE, start={"empty": "P == 0"}), Status.REFUTED),
    "a weaker invariant": (replace(POSITIVE, always="P >= 0"), Status.UNKNOWN),
    # With one job less it was 1: the demand may be anything.
    "more than is known": (replace(POSITIVE, conclusion="P >= 1"), Status.REFUTED),
    "an invariant that does not last": (replace(POSITIVE, always="P >= 1"), Status.UNKNOWN),
    "a conclusion on the states before": (replace(POSITIVE, conclusion="P >= Q"), Status.REFUTED),
    "another sign": (replace(POSITIVE, hypotheses={**ATTAINED, "demand i": "a[i] <= 0"}), Status.UNKNOWN),
}
"""By what is lost, and whether jobs of a single class are a witness."""


@pytest.mark.parametrize("name", LOST)
def test_what_does_not_follow(name):
    claim, status = LOST[name]
    asked = own(claim)
    verdict = check(asked)
    assert verdict.status == status
    verify(verdict, asked)
    if status == Status.REFUTED:
        (finding,) = verdict.findings
        assert "of one class" in str(verdict)
        for other in ({"jobs": 0}, {"jobs": 9}, {"jobs": True}, {"values": {}}):
            bent = replace(finding, evidence={**finding.evidence, **other})
            with pytest.raises(EvidenceError):
                verify(replace(verdict, findings=(bent,)), asked)


def test_what_no_states_meet_proves_nothing():
    # At each state alone these can be met; in several, P cannot go up and stay.
    rises = {"rises": "P == Q + 1", "ends": "P <= 5", "i": "Q[i] >= 0"}
    claim = StateInduction(rises, "P >= 0", start={"empty": "P == 1"}, less={"P": "Q"}, always="P >= 0")
    assert settled(claim).status == Status.UNKNOWN
    same = replace(claim, hypotheses={"up": "P == Q + 1", "down": "P == Q", "i": "Q[i] >= 0"})
    assert settled(same).status == Status.UNKNOWN
    fewer = replace(claim, hypotheses={"rises": "P == Q + 1", "i": "Q[i] >= 0"})
    assert settled(fewer).status == Status.PROVED


def test_a_number_is_the_same_in_all_states():
    # c would have to follow P down, state by state.
    claim = StateInduction(
        {"falls": "P == Q - 1", "number": "c == P", "i": "Q[i] == Q"},
        "P >= c",
        start={"empty": "P == c"},
        less={"P": "Q"},
        always="P >= c",
    )
    assert settled(claim).status == Status.UNKNOWN


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"less": {"P": "P"}}, "a name of its own"),
        ({"less": {"P": "Q", "R": "Q"}}, "a name of its own"),
        ({"less": {"P": "Q", "Q": "S"}}, "a name of its own"),
        ({"less": {"P": "a[i]"}}, "a name of its own"),
        ({"always": "P > Q"}, "what always holds"),
        ({"always": "sum[i](Q[i]) >= 0"}, "what always holds"),
        ({"always": "c > 0"}, "what always holds"),
        ({"start": {"empty": "P == Q"}}, "no values with one job less"),
        ({"start": {"empty": "sum[i](b[i]) == P"}}, "no families"),
        ({"start": {"attained": "P == 1"}}, "of the empty state and of the others"),
        ({"hypotheses": {"before": "P > 0"}}, "may be called 'before'"),
        ({"hypotheses": {"always": "P > 0"}}, "may be called 'always'"),
        ({"hypotheses": {"other": "P >= sum[j](b[j])"}}, "got the index 'j'"),
        ({"conclusion": "P >= Q[i]"}, "has a free index"),
        ({"conclusion": 1}, "is given as a text"),
    ],
    ids=str,
)
def test_names_with_two_meanings(changes, told):
    with pytest.raises(ProofError, match=told):
        replace(POSITIVE, **changes)


def test_nothing_cites_it():
    """What holds in all states is no implication between values at one of them."""
    with pytest.raises(ProofError, match="an implication, a schema, an induction, a chain or a rule"):
        Chained(ATTAINED, "P > 0", (Citation(POSITIVE),))


@pytest.mark.parametrize("part", ["base", "step", "end", "met", "size", "path"])
def test_evidence_without_a_part(part):
    asked = own(POSITIVE)
    verdict = check(asked)
    (finding,) = verdict.findings
    for evidence in (
        {name: value for name, value in finding.evidence.items() if name != part},
        {**finding.evidence, part: {} if part != "size" else 0},
    ):
        with pytest.raises(EvidenceError):
            verify(replace(verdict, findings=(replace(finding, evidence=evidence),)), asked)


def test_base_for_step():
    asked = own(POSITIVE)
    verdict = check(asked)
    (finding,) = verdict.findings
    swapped = {**finding.evidence, "step": finding.evidence["end"], "end": finding.evidence["step"]}
    with pytest.raises(EvidenceError):
        verify(replace(verdict, findings=(replace(finding, evidence=swapped),)), asked)


def test_balance_functions_meet_what_is_assumed():
    """By the definition, on a grid: the demands are those of the resource that is full."""
    shares = [[F(2), F(1)], [F(1), F(3)], [F(1, 2), F(1)]]
    phi = {(0, 0, 0): F(1)}
    (claim, *_) = [
        step.claim
        for s in statements()
        if s.id == "br-balanced-fits"
        for step in s.ask(s.question())
        if type(step.claim) is StateInduction and "attained" in step.claim.hypotheses
    ]
    for x in sorted(itertools.product(range(4), repeat=3), key=sum)[1:]:
        less = {i: tuple(n - (k == i) for k, n in enumerate(x)) for i in range(3) if x[i]}
        sums = [sum(shares[i][j] * phi[y] for i, y in less.items()) for j in (0, 1)]
        phi[x] = max(sums)
        if len(less) < 2:
            continue
        j, (first, *others) = sums.index(max(sums)), less
        values = {"P": phi[x], "Q": phi[less[first]], "a": shares[first][j]}
        values["f"] = values["Q"] / values["P"]
        for k, i in enumerate(others, 1):
            values |= {f"Q_i{k}": phi[less[i]], f"a_i{k}": shares[i][j], f"f_i{k}": phi[less[i]] / phi[x]}
        instance = claim.end.instance(len(others))
        assert all(relation(text).holds(values) for text in instance.hypotheses.values())
        assert relation(instance.conclusion).holds(values)
