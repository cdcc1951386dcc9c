"""Chains that would prove too much: each is refused by the checker, whatever evidence comes with it."""

from dataclasses import replace
from fractions import Fraction

import pytest

from proofs import (
    Chained,
    Citation,
    EvidenceError,
    Implication,
    InWords,
    ProofError,
    Status,
    Step,
    SumSchema,
    check,
    verify,
)
from proofs.checking.general import check_chain
from proofs.claims import claim_of, content
from proofs.endings import shortfall
from proofs.language.relations import relation
from proofs.language.sums import as_one_equation
from proofs.prover import settle
from tests.proofs.catalogue.statements import own

PUSH = Implication({"low": "x > 0", "high": "y >= x"}, "y > 0")
WEAK = Implication({"low": "x >= 0"}, "2*x >= 0")
INVERSE = Implication({"product": "n*s >= 1", "some": "n > 0"}, "s > 0")
ALL = SumSchema({"signs": "x[i] >= 0"}, "sum[i](x[i]) >= 0")
MIXED = "sum[i](x[i])**2 - sum[i](x[i]**2)"
ABOVE, UNDER = (SumSchema({"signs": f"x[i] {sign} 0"}, f"{MIXED} >= 0") for sign in (">=", "<"))
ADD = Implication({"one": "x >= 0", "other": "y >= 0"}, "x + y >= 0")
NEVER = Implication({"higher": "x > y", "lower": "x < y"}, "0 == 1")
SQUARE = Implication({"above": "x >= 0"}, "x**2 >= 0")
BELOW = Implication({"below": "x < 0"}, "x**2 >= 0")
OTHER = Implication({"one": "p == 0 or q == 0", "not this": "p != 0"}, "q == 0")
PAIR = Chained({"pair": "p[i,j] >= 0"}, "2*p[i,j] >= 0", (Citation(WEAK, {"x": "p[i,j]"}),))


def cited(hypotheses, conclusion, *cites, cases=()):
    """A chain with citations as (claim, terms)."""
    made = tuple(Citation(claim, terms) for claim, terms in cites)
    return Chained({f"h{k}": text for k, text in enumerate(hypotheses)}, conclusion, made, tuple(cases))


HOLD = {
    "both cases": cited([], "x**2 >= 0", (SQUARE, {}), (BELOW, {}), cases=["x >= 0"]),
    "a case of each member": cited(
        [], "x[i]**2 >= 0", (SQUARE, {"x": "x[i]"}), (BELOW, {"x": "x[i]"}), cases=["x[i] >= 0"]
    ),
    "one or the other": cited(
        ["a[i] == 0 or b[i] == 0"],
        "a[i]*b[i] == 0",
        (Implication({"one": "x == 0 or y == 0"}, "x*y == 0"), {"x": "a[i]", "y": "b[i]"}),
    ),
    "what is not this is that": cited(
        ["x == 0 or y == 0", "x >= y"],
        "x*y == 0",
        (OTHER, {"p": "x", "q": "y"}),
        (Implication({"second": "y == 0"}, "x*y == 0"), {}),
        (Implication({"first": "x == 0"}, "x*y == 0"), {}),
        cases=["x != 0"],
    ),
    "a case that contradicts the hypotheses": cited(
        ["x > y"], "2*x - 2*y >= 0", (NEVER, {}), (WEAK, {"x": "x - y"}), cases=["x < y"]
    ),
    "positive is not negative": cited(["a > 0"], "2*a >= 0", (WEAK, {"x": "a"})),
    "nothing is not negative": cited(["a == 0"], "2*a >= 0", (WEAK, {"x": "a"})),
    "a multiple": cited(["3*a >= 6"], "4*a >= 8", (WEAK, {"x": "a - 2"})),
    "a pair of two sets": cited(["r[i,j] >= 0"], "2*r[i,j] >= 0", (PAIR, {"p[i,j]": "r[i,j]"})),
}

REFUSED = {
    "a hypothesis with another letter": cited(
        ["a[i] > 0", "b[j] >= a[j]"], "b[j] > 0", (PUSH, {"x": "a[j]", "y": "b[j]"})
    ),
    "a member of one family for that of another": cited(
        ["a[i] > 0", "b[i] >= a[j]"], "b[i] > 0", (PUSH, {"x": "a[i]", "y": "b[i]"})
    ),
    "a lost side condition": cited(["sum[i](1)*s >= 1"], "s > 0", (INVERSE, {"n": "sum[i](1)"})),
    "a side condition that is too weak": cited(["n*s >= 1", "n >= 0"], "s > 0", (INVERSE, {})),
    "different from 0 for positive": cited(["a != 0", "b >= a"], "b > 0", (PUSH, {"x": "a", "y": "b"})),
    "a negative multiple": cited(["-3*a >= 0"], "2*a >= 0", (WEAK, {"x": "a"})),
    "not negative for nothing": cited(
        ["a >= 0"], "b == 0", (Implication({"none": "x == 0"}, "0*x + y*x == 0"), {"x": "a", "y": "1"})
    ),
    "an empty set": cited(["a[i] > 0", "y >= a[i]"], "y > 0", (PUSH, {"x": "a[i]"})),
    "an empty set, by cases": cited(
        ["a[i] == 0"], "y > 0", (NEVER, {"x": "a[i]", "y": "a[i]"}), cases=["a[i] > 0"]
    ),
    "a contradiction of no member": cited(
        ["a[i] > b[i]", "a[i] < b[i]"], "s == 1", (NEVER, {"x": "a[i]", "y": "b[i]"})
    ),
    "another conclusion": cited(["a >= 0"], "b >= 0", (WEAK, {"x": "a"})),
    "different from 0 for not negative": cited(["a != 0"], "2*a >= 0", (WEAK, {"x": "a"})),
    "nothing for positive": cited(["a == 0", "b >= a"], "b > 0", (PUSH, {"x": "a", "y": "b"})),
    "a case of one member for all": cited([], "sum[i](x[i]) >= 0", (ALL, {}), cases=["x[i] >= 0"]),
    # Both hold if all have one sign, and neither if some differ.
    "a case of one member for all, elsewhere": cited(
        ["c[i] >= 0"],
        f"c[i] + {MIXED} >= 0",
        (ABOVE, {}),
        (UNDER, {}),
        (ADD, {"x": "c[i]", "y": MIXED}),
        cases=["x[i] >= 0"],
    ),
    "one case of two": cited([], "x**2 >= 0", (SQUARE, {}), cases=["x >= 0"]),
    "the wrong half": cited([], "x**2 >= 0", (SQUARE, {}), (SQUARE, {"x": "x + 0"}), cases=["x > 0"]),
    "a case without a case": cited([], "x**2 >= 0", (SQUARE, {})),
    "a citation of no use": cited(
        ["a > 0"], "2*a >= 0", (WEAK, {"x": "a"}), (PUSH, {"x": "b", "y": "c"}), cases=["a > 1"]
    ),
    "a contradiction of another case": cited(["x > y"], "z == 0", (NEVER, {}), cases=["x < y"]),
    "both at once for one or the other": cited(
        ["a == 0 or b == 0"], "a == 0", (Implication({"one": "x == 0"}, "2*x == 0"), {"x": "a"})
    ),
    "pairs with other letters": cited(["r[k,l] >= 0"], "2*r[k,l] >= 0", (PAIR, {"p[i,j]": "r[k,l]"})),
    "pairs of two sets for pairs of one": cited(["q[i] >= 0"], "2*q[i] >= 0", (PAIR, {"p[i,j]": "q[i]"})),
}
"""By what is wrong with them."""


@pytest.mark.parametrize("name", HOLD)
def test_chains_by_cases(name):
    claim = HOLD[name]
    check_chain(claim, {})
    assert settle(Step(name, claim), 60).status == Status.PROVED
    assert claim_of(content(claim)) == claim


@pytest.mark.parametrize("name", REFUSED)
def test_a_chain_that_would_prove_too_much(name):
    claim = REFUSED[name]
    with pytest.raises(EvidenceError):
        check_chain(claim, {})
    assert settle(Step(name, claim), 60).status != Status.PROVED


def test_the_diagonal_of_pairs_is_no_term():
    with pytest.raises(ProofError, match="an index is a small letter"):
        check_chain(cited(["r[i] >= 0"], "r[i] >= 0", (PAIR, {"p[i,j]": "r[i,i]"})), {})
    sums = "a[i] + b[j]"
    both = Chained({"x": f"{sums} >= 0"}, f"2*({sums}) >= 0", (Citation(WEAK, {"x": sums}),))
    with pytest.raises(ProofError, match="take another letter"):
        check_chain(cited(["2*a[i] >= 0"], "4*a[i] >= 0", (both, {"b[j]": "a[i]"})), {})


@pytest.mark.parametrize(
    "text", ["x >= 0 or x == 1", "x == 0 or y", "x == 0 or y == z == 1", "x == 0 and y == 0 or x == 1"]
)
def test_or_stands_between_equations(text):
    with pytest.raises(ProofError, match='"or" stands between equations'):
        Implication({"one": text}, "x == x")


@pytest.mark.parametrize("text", ["x == 0 or 1/x == 1", "x == 0 or y/(x + 1) == 1"])
def test_between_or_nothing_is_divided_by_a_variable(text):
    """A product would exclude the zeros of the divisor, which the other equation allows."""
    with pytest.raises(ProofError, match="no divisor but numbers"):
        Implication({"h": text}, "x == 1")
    assert as_one_equation("x/2 == 1 or x == 0")


def test_what_is_cited_does_not_replace_a_hypothesis():
    question = own(SQUARE).question()
    with pytest.raises(ProofError, match="'demand' of what is cited is another relation"):
        question.follows({"demand": "a > 0"}, "a > 0", PUSH, fixed={"demand": "q <= 0"})


def test_one_or_the_other_is_a_product():
    text = as_one_equation("a*x == 3/2 or b*x == t or x == 0")
    for x, b, t, holds in ((Fraction(3, 4), 1, 5, True), (1, 2, 2, True), (0, 7, 7, True), (1, 2, 3, False)):
        assert relation(text).holds({"a": 2, "x": x, "b": b, "t": t}) == holds


def test_cases_belong_to_the_claim():
    claim = HOLD["both cases"]
    asked = own(SQUARE, BELOW, claim)
    verdict = check(asked)
    assert verdict.status == Status.PROVED
    verify(verdict, asked)
    last = verdict.findings[-1]
    bent = replace(last, claim={name: value for name, value in last.claim.items() if name != "cases"})
    with pytest.raises(EvidenceError, match="its claim is not that of the statement"):
        verify(replace(verdict, findings=(*verdict.findings[:-1], bent)), asked)


# Whether a proof ends in its statement.


LEMMA = Step("A lemma.", PUSH)
FULL = {"low": "the first is positive", "high": "the other is no less"}
ENDS = Chained({"low": "a > 0", "high": "b >= a"}, "b > 0", (Citation(PUSH, {"x": "a", "y": "b"}),))


def ending(*steps, hypotheses=FULL):
    return shortfall(own(hypotheses=hypotheses, steps=lambda question: list(steps)))


def test_a_proof_that_ends_in_its_statement():
    assert ending(LEMMA, Step("So.", ENDS, states=True)) == ""
    assert ending(Step("At once.", PUSH, states=True)) == ""


@pytest.mark.parametrize(
    ("steps", "hypotheses", "told"),
    [
        ((LEMMA, Step("So.", ENDS)), FULL, "does not state it"),
        ((LEMMA, Step("So.", ENDS, states=True), Step("And so on.", InWords("Read."))), FULL, "is in words"),
        ((Step("Read.", InWords("Read.")), Step("So.", PUSH, states=True)), FULL, 'cites the step "Read."'),
        ((Step("More.", SQUARE), LEMMA, Step("So.", ENDS, states=True)), FULL, 'cites the step "More."'),
        ((Step("At once.", PUSH, states=True),), {**FULL, "far": "far"}, "does not assume 'far'"),
        ((Step("At once.", PUSH, states=True),), {"low": "the first"}, "assumes 'high'"),
        *(
            (
                (
                    Step(
                        "At once.", Implication({"sign of N": sign, "p": "N*s >= 1"}, "N*s > 0"), states=True
                    ),
                ),
                {"p": "the product", "signs": "numbers are not negative"},
                f"'{sign}', which is more than a sign",
            )
            for sign in ("N > 0", "N >= 1", "N + M >= 0", "N*N >= 0", "-N >= 0", "sum[i](N*a[i]) >= 0")
        ),
    ],
)
def test_what_a_proof_lacks(steps, hypotheses, told):
    assert told in ending(*steps, hypotheses=hypotheses)
