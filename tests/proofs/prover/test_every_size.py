"""Claims for every size: sums over sets, chains of earlier steps, inductions; and what proves none."""

import itertools
import random
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
    Statement,
    Status,
    Step,
    SumSchema,
    check,
    verify,
)
from proofs.checking import general, verify_finding
from proofs.checking.verdicts import status_of
from proofs.claims import NEGATION
from proofs.language.polynomials import polynomial
from proofs.language.sums import instances, plain_relation, plain_text, substituted
from proofs.prover import settle
from proofs.prover.implications import implication_evidence
from tests.proofs.catalogue.statements import own
from tests.proofs.checking.tampering import changed, numbers_in

TRUE = {
    "scaled": (
        {"capacity": "C > 0", "scaling": "a[i]*C == A[i]", "fits": "sum[i](x[i]*A[i]) <= C"},
        "sum[i](x[i]*a[i]) <= 1",
    ),
    "largest": ({"most": "h[i] <= s", "full": "sum[i](h[i]) == 1"}, "sum[i](1)*s >= 1"),
    "budget": (
        {"income": "x[i]*sum[j](p[j]*a[i,j]) == 1", "sold out": "p[j] == p[j]*sum[i](x[i]*a[i,j])"},
        "sum[j](p[j]) == sum[i](1)",
    ),
    "squares": ({}, "sum[i]((x[i] - m)**2) >= 0"),
    "decimals": ({"few": "x[i] <= 0.1"}, "sum[i](x[i]) <= 1/10*sum[i](1)"),
    "never": ({"signs": "x[i] >= 0", "debt": "sum[i](x[i]) < 0"}, "0 == 1"),
}
FALSE = {
    "unscaled": ({"scaling": "a[i]*C == A[i]", "fits": "sum[i](x[i]*A[i]) <= C"}, "sum[i](x[i]*a[i]) <= 1"),
    "one member": ({"full": "sum[i](h[i]) <= s"}, "sum[i](1)*s >= 1"),
    "strict": ({"gain": "y[i] > x[i]", "same": "sum[i](y[i]) <= 2*sum[i](x[i])"}, "sum[i](x[i]) > 1"),
}
UNKNOWN = {
    "empty": ({"strict": "x[i] > 0"}, "sum[i](x[i]) > 0"),
    "contradiction": ({"signs": "x[i] >= 0", "debt": "sum[i](x[i]) < 0"}, "y == 1"),
}
"""Of an empty set the sum is 0; from a contradiction anything follows."""


def answered(claim):
    finding = settle(Step("one", claim, states=True), 60)
    verify_finding(claim, finding)
    return finding


def found(case):
    return answered(SumSchema(*case, hints=(((), "x[i] - m"),)))


@pytest.mark.parametrize("name", TRUE)
def test_a_certificate_holds_for_every_size(name):
    finding = found(TRUE[name])
    assert finding.status == Status.PROVED, finding
    # The other road: written out for sets of two and of three, and proved as an implication.
    hypotheses, conclusion = TRUE[name]
    for size in (1, 2, 3):
        evidence = implication_evidence(SumSchema(hypotheses, conclusion).instance(size), float("inf"))
        assert status_of(evidence) == Status.PROVED, (size, evidence)


@pytest.mark.parametrize("name", FALSE)
def test_what_is_false_for_small_sets_has_a_witness(name):
    finding = found(FALSE[name])
    assert finding.status == Status.REFUTED
    claim = SumSchema(*FALSE[name]).instance(finding.evidence["size"])
    values = {v: Fraction(x) for v, x in finding.evidence["values"].items()}
    assert all(r.holds(values) for r in claim.relations.values())
    assert not plain_relation(claim.conclusion.replace("_", "")).holds(
        {v.replace("_", ""): x for v, x in values.items()}
    )


@pytest.mark.parametrize("name", UNKNOWN)
def test_neither_empty_sets_nor_contradictions_prove_anything(name):
    assert found(UNKNOWN[name]).status == Status.UNKNOWN


@pytest.mark.parametrize("name", ["scaled", "largest", "budget"])
def test_a_certificate_with_one_other_number_is_refused(name):
    claim = SumSchema(*TRUE[name])
    finding = answered(claim)
    for path in numbers_in(finding.evidence):
        if path[0] in ("met", "size") or path[-1] == "kind":
            continue  # other values that meet the hypotheses
        with pytest.raises(EvidenceError):
            verify_finding(claim, replace(finding, evidence=changed(finding.evidence, path)))


def bent(finding, **changes):
    return replace(finding, evidence={**finding.evidence, **changes})


def test_bent_sums_are_refused():
    claim = SumSchema(*TRUE["largest"])
    finding = answered(claim)
    (name,) = finding.evidence["sums"]
    for wrong in (
        {},
        {name: {"factors": ["hope"], "square": "1"}},
        {name: {"factors": [], "square": "1"}},
        {name: {"equation": "most", "cofactor": "1"}},
        {name: {"factors": ["full"], "square": "1"}},
        {name: {"factors": ["most"], "square": "h[k]"}},
        {name: {"factors": ["most"], "square": "h[i]", "times": 2}},
        {name: {"factors": "most", "square": "1"}},
        {**finding.evidence["sums"], "another": {"factors": ["most"], "square": "1"}},
        {"full": {"factors": ["most"], "square": "1"}},
    ):
        with pytest.raises(EvidenceError):
            verify_finding(claim, bent(finding, sums=wrong))
    for changes in ({"size": 0}, {"size": 9}, {"size": True}, {"met": {}, "size": 2, "kind": "refutation"}):
        with pytest.raises(EvidenceError):
            verify_finding(claim, bent(finding, **changes))
    # What is proved of one claim is not of another.
    with pytest.raises(EvidenceError):
        verify_finding(SumSchema({"full": "sum[i](h[i]) == 1"}, "sum[i](1)*s >= 1"), finding)


# Normal form: every text has, in all plain variables, the value that it has when it is written out.


def value(name, families, size):
    """Value of a plain variable without sums inside sums, by its name."""
    if not name.startswith("sum_"):
        return families[name]
    head, *factors = name.split("__")
    bound = head.split("_")[1:]
    total = Fraction(0)
    for choice in itertools.product(range(1, size + 1), repeat=len(bound)):
        at, product = dict(zip(bound, choice, strict=True)), Fraction(1)
        for factor in factors:
            base, *rest = factor.split("_")
            power = int(rest.pop()) if rest[-1].isdigit() else 1
            product *= families["_".join([base, *(f"{i}{at[i]}" for i in rest)])] ** power
        total += product
    return total


def random_term(rng, depth, free):
    kind = rng.choice(["sum", "add", "times", "leaf", "leaf"] if depth else ["leaf"])
    if kind == "leaf":
        return rng.choice(
            ["2", "c", *(f"x[{i}]" for i in sorted(free)), *(["u[i,j]"] if {"i", "j"} <= free else [])]
        )
    if kind == "sum":
        index = rng.choice("ij")  # also one that is bound further out
        return f"sum[{index}]({random_term(rng, depth - 1, free | {index})})"
    one, other = (random_term(rng, depth - 1, free) for _ in range(2))
    return f"({one} {'*' if kind == 'times' else '-'} {other})"


def test_the_normal_form_has_the_value_of_the_text():
    rng = random.Random(5)
    looked_at = 0
    for _ in range(150):
        text = random_term(rng, 4, set())
        plain = polynomial(plain_text(text))
        if any("__L__" in name for name in plain.variables):
            continue
        for size in (0, 1, 2):
            families = {"c": Fraction(rng.randint(-3, 3))}
            for i, j in itertools.product((1, 2), repeat=2):
                names = f"x_i{i}", f"x_j{j}", f"u_i{i}_j{j}"
                families |= {name: Fraction(rng.randint(-3, 3)) for name in names}
            ((_, written),) = instances(text, size)
            wanted = polynomial(written).at(families)
            assert plain.at({v: value(v, families, size) for v in plain.variables}) == wanted, text
            looked_at += 1
    assert looked_at > 300


def test_texts_that_mean_the_same_are_the_same():
    for one, other in [
        ("sum[j](q[j]*sum[i](u[i,j]))", "sum[i,j](q[j]*u[i,j])"),
        ("sum[i](a[i])*sum[j](b[j])", "sum[j,i](a[i]*b[j])"),
        ("sum[i](x[i]*sum[i](a[i]))", "sum[i](a[i])*sum[i](x[i])"),
        ("sum[k](sum[j](b[j,k]**2*sum[i](a[i,j])))", "sum[i,j,k](a[i,j]*b[j,k]**2)"),
        ("sum[i](2*c - 1)", "(2*c - 1)*sum[i](1)"),
        ("sum[j](sum[i](u[i,j])*q[j]*sum[i](w[i,j]))", "sum[j](q[j]*sum[i](w[i,j])*sum[i](u[i,j]))"),
    ]:
        assert polynomial(plain_text(one)) == polynomial(plain_text(other))
    assert plain_text("sum[i](x[i]*x[i])") != plain_text("sum[i](x[i])**2")
    # The i of the inner sum is not that of the outer one.
    assert plain_text("sum[i](sum[j](u[i,j]*sum[i](u[i,j])))") == "sum_i_j__L__sum_i__u_i_j__R__u_i_j"
    assert plain_text("sum[j](u[i,j]*sum[i](u[i,j]))") == "sum_j__L__sum_i__u_i_j__R__u_i_j"
    assert plain_text("sum[j](sum[i](u[i,j])**2)") != plain_text("sum[j](sum[i](u[i,j]**2))")


def test_sums_over_three_letters_have_one_form(monkeypatch):
    # Summed over r, then k, then i, this is a sum of products of two sums; in the order i, k, r it is not.
    summand = "y[k,i]*e[k]*a[i,r]*q[i,r]"
    (form,) = {plain_text(f"sum[{','.join(order)}]({summand})") for order in itertools.permutations("ikr")}
    claim = SumSchema({"a": "a[i,r]*q[i,r] >= 0", "y": "y[k,i]*e[k] >= 0"}, f"sum[i,k,r]({summand}) >= 0")
    data = {"s": {"factors": ["a", "y"], "square": "1"}}
    for order in itertools.permutations("ikr"):
        monkeypatch.setattr(general, "indices_in", lambda r, order=order: order)
        held = general.with_sums(claim.plain, data).hypotheses
        assert held["s"] == f"{form} >= 0"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x[1] >= 0", "an index is a small letter"),
        ("x[i,i] >= 0", "an index is a small letter"),
        ("sum(x[i]) >= 0", "a sum is written"),
        ("sum[i](x[i], 2) >= 0", "a sum is written"),
        ("max[i](x[i]) >= 0", "a sum is written"),
        ("x_1 >= 0", "letters and digits"),
        ("sum >= 0", "letters and digits"),
        ("x[i] - x[i] + b > 0", "does not depend on the index 'i'"),
        ("sum[i](x[i]) ** y >= 0", "made of"),
        ("sum[i](x[i] >= 0", "not the text"),
    ],
)
def test_texts_that_are_refused(text, told):
    with pytest.raises(ProofError, match=told):
        plain_relation(text)


def test_claims_that_are_refused():
    with pytest.raises(ProofError, match="has a free index"):
        SumSchema({}, "x[i] >= 0")
    with pytest.raises(ProofError, match="given as a text"):
        SumSchema({"one": 1}, "x >= 0")
    with pytest.raises(ProofError, match="no hypothesis may be called"):
        SumSchema({NEGATION: "x[i] >= 0"}, "x >= 0")
    with pytest.raises(ProofError, match=r"two hypotheses are called 'demand\[1\]'"):
        SumSchema({"demand[1]": "y >= 0", "demand": "x[i] >= 0"}, "y >= 0").instance(1)


# Chains.

PUSH = Implication({"low": "x > 0", "high": "y >= x"}, "y > 0")
LARGEST = SumSchema(*TRUE["largest"])
FAMILY = {"low": "a[i] > 0", "high": "b[i] >= a[i]", "higher": "c[i] >= b[i]"}


def test_chains_of_substitutions():
    twice = (Citation(PUSH, {"x": "a[i]", "y": "b[i]"}), Citation(PUSH, {"x": "b[i]", "y": "c[i]"}))
    assert answered(Chained(FAMILY, "c[i] > 0", twice)).status == Status.PROVED
    for server in ("j", "k"):
        cited = Citation(LARGEST, {"h[i]": f"h[i,{server}]", "s": f"s[{server}]"})
        held = {"most": f"h[i,{server}] <= s[{server}]", "full": f"sum[i](h[i,{server}]) == 1"}
        assert answered(Chained(held, f"sum[i](1)*s[{server}] >= 1", (cited,))).status == Status.PROVED
    # Constants that are true, and an equation the other way round.
    cited = Citation(PUSH, {"x": "1", "y": "z + 2"})
    assert answered(Chained({"z": "z >= -1"}, "z + 2 > 0", (cited,))).status == Status.PROVED
    same = Implication({"same": "x == y", "low": "x >= 1"}, "y >= 1")
    cited = Citation(same, {"x": "a", "y": "b"})
    assert answered(Chained({"same": "b == a", "low": "a >= 1"}, "b >= 1", (cited,))).status == Status.PROVED


def test_chains_that_break():
    twice = (Citation(PUSH, {"x": "a[i]", "y": "b[i]"}), Citation(PUSH, {"x": "b[i]", "y": "c[i]"}))
    assert answered(Chained(FAMILY, "c[i] >= 0", twice)).status == Status.PROVED  # weaker
    finding = answered(Chained(FAMILY, "c[i] != 0", twice))
    assert finding.reason == "the chain breaks: the conclusion is none of the conclusions cited"
    finding = answered(Chained(FAMILY, "c[i] > 0", twice[::-1]))
    assert "citation 1 needs its hypothesis 'low', b_i > 0" in finding.reason
    finding = answered(Chained({n: t for n, t in FAMILY.items() if n != "high"}, "c[i] > 0", twice))
    assert (finding.status, finding.evidence["kind"]) == (Status.REFUTED, "instance")
    with pytest.raises(EvidenceError):
        verify_finding(Chained(FAMILY, "c[i] > 0", twice), finding)


def test_an_empty_set_proves_nothing_by_a_chain():
    # x > 0 for each element of an empty set, but y has no element to be cited for.
    cited = Citation(PUSH, {"x": "a[i]"})
    finding = answered(Chained({"low": "a[i] > 0", "high": "y >= a[i]"}, "y > 0", (cited,)))
    assert finding.status == Status.UNKNOWN
    assert "does not carry the index 'i'" in finding.reason
    # Nor does what was cited for each element say anything once no term carries its index.
    less = Implication({"low": "x <= y", "high": "y <= s"}, "x <= s")
    members = {"low": "x[i] <= y[i]", "high": "y[i] <= s"}
    each = Chained(members, "x[i] <= s", (Citation(less, {"x": "x[i]", "y": "y[i]"}),))
    assert answered(each).status == Status.PROVED
    claim = Chained({**members, "low": "c <= y[i]"}, "c <= s", (Citation(each, {"x[i]": "c"}),))
    finding = answered(claim)
    assert (finding.status, finding.evidence["kind"]) == (Status.UNKNOWN, "open")
    evidence = {"kind": "chained", "met": {"c": "0", "s": "0", "y_i1": "0"}, "size": 1}
    with pytest.raises(EvidenceError, match="does not carry the index 'i'"):
        verify_finding(claim, replace(finding, status=Status.PROVED, evidence=evidence))


def test_hypotheses_that_only_larger_sets_meet():
    held = {"signs": "x[i] >= 0", "many": "sum[i](1) >= 3"}
    assert answered(SumSchema(held, "sum[i](x[i]) >= 0")).evidence["size"] == 3
    finding = answered(SumSchema(held | {"many": "sum[i](1) >= 9"}, "sum[i](x[i]) >= 0"))
    assert finding.status == Status.UNKNOWN
    assert "no sets of 1 to 8 elements meet the hypotheses" in finding.reason


def test_terms_that_are_refused():
    with pytest.raises(ProofError, match="no variable 'z'"):
        Chained({}, "x > 0", (Citation(PUSH, {"z": "1"}),))
    with pytest.raises(ProofError, match=r"no variable 'x \+ 0'"):
        Citation(PUSH, {"x + 0": "1"})
    with pytest.raises(ProofError, match="Citation"):
        Chained({}, "x > 0", (PUSH,))
    with pytest.raises(ProofError, match="given as a text"):
        Chained({}, "x > 0", (Citation(PUSH, {"x": 1}),))
    with pytest.raises(ProofError, match="take another letter"):
        substituted("sum[i](c*x[i]) <= 1", {"c": "y[i]"})
    assert plain_text(substituted("sum[i](c*x[i]) <= 1", {"c": "y[j]"})) == "sum_i__x_i * y_j <= 1"
    bound = Citation(LARGEST, {"s": "h[i]"})
    with pytest.raises(ProofError, match="take another letter"):
        settle(Step("one", Chained(TRUE["largest"][0], "sum[i](1)*s >= 1", (bound,))), 60)


def chained_statement(*claims):
    return own(steps=lambda question: [Step("one", claim, states=True) for claim in claims])


def test_what_is_cited_is_a_step_before():
    chain = Chained({"low": "a > 0", "high": "b >= a"}, "b > 0", (Citation(PUSH, {"x": "a", "y": "b"}),))
    for steps in ([chain], [chain, PUSH], [LARGEST, chain]):
        with pytest.raises(ProofError, match="cites a claim that is of no step before it"):
            check(chained_statement(*steps))
    asked = chained_statement(PUSH, chain)
    verdict = check(asked)
    assert (verdict.status, verdict.kind) == (Status.PROVED, "general, by certificates only")
    verify(verdict, asked)
    # A step that is not proved is cited in vain.
    wrong = Implication({"low": "x > 0"}, "y > 0")
    chain = Chained({"low": "a > 0"}, "b > 0", (Citation(wrong, {"x": "a", "y": "b"}),))
    assert check(chained_statement(wrong, chain)).status == Status.REFUTED


# Inductions.

DOUBLED = {"start": "s[0] == 1", "grows": "s[n+1] >= 2*s[n]"}


def test_inductions():
    claim = Induction(DOUBLED, "s[n] >= n + 1")
    finding = answered(claim)
    assert finding.status == Status.PROVED
    for path in numbers_in(finding.evidence):
        if "met" not in path and path[-1] != "kind":
            with pytest.raises(EvidenceError):
                verify_finding(claim, replace(finding, evidence=changed(finding.evidence, path)))
    for part in ("base", "step"):
        with pytest.raises(EvidenceError):
            verify_finding(claim, bent(finding, **{part: {"kind": "refutation"}}))
        other = {"base": "step", "step": "base"}[part]
        with pytest.raises(EvidenceError):
            verify_finding(claim, bent(finding, **{part: finding.evidence[other]}))
    with pytest.raises(EvidenceError):
        verify_finding(Induction(DOUBLED, "s[n] >= n + 1", first=1), finding)
    later = Induction({"start": "s[3] == 1", "up": "s[n+1] >= s[n]"}, "s[n] >= s[3]", first=3)
    assert answered(later).status == Status.PROVED


@pytest.mark.parametrize(
    ("hypotheses", "conclusion", "part"),
    [(DOUBLED, "s[n] >= n + 2", "base"), (DOUBLED, "s[n] <= 4*n + 1", "step")],
)
def test_an_induction_needs_base_and_step(hypotheses, conclusion, part):
    finding = answered(Induction(hypotheses, conclusion))
    assert (finding.status, finding.reason) == (
        Status.UNKNOWN,
        f"the {part} of the induction has no certificate",
    )


@pytest.mark.parametrize(
    ("hypotheses", "conclusion", "first", "told"),
    [
        ({}, "s[n+1] >= 0", 0, r"members of a sequence are s\[n\], s\[0\] here"),
        ({}, "s[n] >= 0", 0.5, "whole number"),
        ({"start": "2*s[-1] == 1", "falls": "s[n+1] <= s[n]"}, "s[n] <= 0", -1, "whole number >= 0"),
        ({"from": "x >= 0"}, "s[n] >= 0", 0, "may be called 'from'"),
    ],
)
def test_inductions_that_are_refused(hypotheses, conclusion, first, told):
    with pytest.raises(ProofError, match=told):
        Induction(hypotheses, conclusion, first=first)
    with pytest.raises(ProofError, match="members of a sequence are"):
        _ = Induction({"far": "s[n+2] >= 0"}, "s[n] >= 0").step


# Statements.


def test_a_statement_for_every_size():
    def steps(question):
        held = {"full": "h + sum[i](h[i]) == 1", "most": "h[i] <= s", "own": "h <= s"}
        some = question.for_every(held, "(1 + sum[i](1))*s >= 1")
        yield Step("Add up what all hold.", some, states=True)
        yield Step(
            "On server k.",
            question.follows(
                {"full": "h[k] + sum[i](h[i,k]) == 1", "most": "h[i,k] <= s[k]", "own": "h[k] <= s[k]"},
                "(1 + sum[i](1))*s[k] >= 1",
                (some, {"h": "h[k]", "h[i]": "h[i,k]", "s": "s[k]"}),
            ),
            states=True,
        )

    names = {"full": "the resource is full", "most": "no share is larger", "own": "nor is the first"}
    asked = Statement(
        id="shares", source="my notebook", place="page 1", words="Some share is 1/n.", latex="s \\ge 1/n",
        hypotheses=names, scope="any number of users and of servers", steps=steps,
    )  # fmt: skip
    verdict = check(asked)
    assert (verdict.status, verdict.kind) == (Status.PROVED, "general, by certificates only")
    verify(verdict, asked)
    for name in names:
        for change in ({"drop": [name]}, {"reverse": [name]}):
            changed_verdict = check(asked, **change)
            assert changed_verdict.status == Status.REFUTED, (name, change)
            verify(changed_verdict, asked)
