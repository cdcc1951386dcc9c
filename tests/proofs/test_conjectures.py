"""Conjectures in a line: what they claim, how their witnesses and proofs are told."""

import re

import pytest

from proofs import Implication, ProofError, Status, check, conjecture, verify
from proofs.checks import Report
from proofs.language.polynomials import polynomial
from proofs.verdicts.verdict import Verdict
from proofs.verdicts.witnesses import told_witness
from tests.proofs.catalogue.statements import own

TRUE = [
    conjecture("x + y >= 2", ["x > 0", "y > 0", "x*y == 1"]),
    conjecture("0 < a/(a + b) <= 1", ["a > 0", "b >= 0"]),
    conjecture("max(a, b)*min(a, b) == a*b"),
    conjecture("a*c <= 1", ["0 <= a <= b", "b*c <= 1", "c >= 0"], steps=["a*c <= b*c"]),
]
FALSE = [
    conjecture("x + y >= 2", ["x*y == 1"]),
    conjecture("max(a, b) <= a + b"),
    conjecture("x >= 1/2", {"low": "x >= 0.3"}),
]


@pytest.mark.parametrize("asked", TRUE, ids=lambda s: s.words)
def test_true_conjectures_are_proved(asked):
    verdict = check(asked)
    verify(verdict, asked)
    assert verdict.status == Status.PROVED
    assert not any(told_witness(f.claim, f.evidence) for f in verdict.findings)


@pytest.mark.parametrize("asked", FALSE, ids=lambda s: s.words)
def test_false_conjectures_are_refuted_with_the_numbers_in_the_summary(asked):
    verdict = check(asked)
    verify(verdict, asked)
    assert verdict.status == Status.REFUTED
    told = told_witness(verdict.findings[0].claim, verdict.witness)
    assert told in verdict.summary()
    assert f"witness: {told}" in Report((verdict,)).summary()
    point, _, rest = told.partition(": here ")
    values = {name: polynomial(v).constant for name, v in (p.split(" = ") for p in point.split(", "))}
    left, sign, reached = re.match(r"(.*) (>=|>|==|!=) 0 would be (\S+) ", rest).groups()
    assert str(polynomial(left).at(values)) == reached
    assert sign == ">="
    assert polynomial(left).at(values) < 0


def test_a_false_step_leaves_the_claim_open():
    asked = conjecture("x >= 1", ["x >= 2"], steps=["x >= 3"])
    verdict = check(asked)
    assert (verdict.status, verdict.broken) == (Status.UNKNOWN, 1)
    assert check(conjecture("x >= 1", ["x >= 2"], steps=["x >= 3/2"])).status == Status.PROVED


def test_what_the_steps_assume_is_what_was_proved_before():
    asked = conjecture("x >= 0", ["x >= 3"], steps=["x >= 2", "x >= 1"])
    claims = [step.claim for step in asked.ask(asked.question())]
    assert [list(claim.hypotheses.values()) for claim in claims] == [
        ["x >= 3"],
        ["x >= 3", "x >= 2"],
        ["x >= 3", "x >= 2", "x >= 1"],
    ]
    assert [claim.conclusion for claim in claims] == ["x >= 2", "x >= 1", "x >= 0"]


def test_assumptions_are_dropped_by_their_text_or_name():
    assert check(TRUE[0], drop=["x*y == 1"]).status == Status.REFUTED
    assert check(FALSE[2], replace={"low": "x >= 3"}).status == Status.PROVED


@pytest.mark.parametrize(
    ("claim", "assume", "told"),
    [
        ("x + 1", [], "is not a relation"),
        ("x >= 0", ["y"], "is not a relation"),
        ("x >= 0", "x >= 1", "assume is a list"),
        ("x >= 0", [1], "given as a text"),
        ("sum[i](x[i]) >= 0", ["0 < x[i] <= 1"], "stands for several relations"),
        ("sum[n](x[n]) >= 0", [], "holds no sums"),
        ("x >= log(y)", [], "log"),
    ],
)
def test_what_is_no_relation_is_refused(claim, assume, told):
    with pytest.raises(ProofError, match=re.escape(told)):
        conjecture(claim, assume)
    with pytest.raises(ProofError, match="give it another name"):
        conjecture("x >= 0", {"step 1": "x >= 1"}, steps=["x >= 0"])


LETTERS = {r"\rho_{1}": "rho1", r"a_{1 2}": "a1_2"}


def read(latex):
    """The polynomial that LaTeX shows."""
    for shown, name in LETTERS.items():
        latex = latex.replace(shown, name)
    latex = re.sub(r"\\tfrac\{(\d+)\}\{(\d+)\}", r"(\1/\2)", latex)
    latex = re.sub(r"\^\{?(\d+)\}?", r"**\1", latex)
    return polynomial(re.sub(r"(?<=[\w)]) (?=[\w(])", "*", latex).replace("0 ={}& ", "").replace("&+ ", ""))


@pytest.mark.parametrize(
    "claim",
    [
        Implication({"demand": "0 < rho1", "fits": "x*rho1 <= 1/3"}, "x*rho1 <= 2"),
        Implication({"no": "a1_2 != 0"}, "a1_2**2 > 0"),
        Implication({"low": "x >= 1", "high": "x <= 1"}, "x == 1"),
        Implication({"p": "x*y == 1"}, "x != 0"),
        Implication({"x": "x > 0", "y": "y > 0", "product": "x*y == 1"}, "x + y >= 2"),
    ],
)
def test_the_identity_in_latex_adds_up_to_0(claim):
    verdict = check(own(claim))
    text = verdict.to_latex()
    rows = text.partition("\\begin{align*}\n")[2].partition("\n\\end{align*}")[0].split("\\\\\n")
    evidence = verdict.findings[0].evidence
    assert len(rows) == len(evidence["terms"]) + len(evidence["cofactors"])
    total = polynomial(0)
    for row in rows:
        total = total + read(row)
    assert not total.terms
    assert text.startswith(r"\begin{theorem}")


@pytest.mark.long
def test_latex_tells_every_kind_of_step_and_closes_what_it_opens():
    names = ("tdrf-claim-nobody-starves", "br-two-classes", "br-pf-stable", "br-feasible")
    verdicts = [*map(check, names), check("br-feasible", drop=["capacity"]), check(FALSE[0])]
    for verdict in verdicts:
        text = verdict.to_latex()
        opened, closed = (re.findall(rf"\\{word}\{{(\w+\*?)\}}", text) for word in ("begin", "end"))
        assert sorted(opened) == sorted(closed)
        assert text.count("{") - text.count(r"\{") == text.count("}") - text.count(r"\}")
        assert text.count(r"\item") == len(verdict.findings)
        assert opened[0] == ("theorem" if verdict.status == Status.PROVED else "conjecture")
    case = "demands: ((1, 2), (3, 1)); capacities: (9, 9); joined: (0, 1); start: 0"
    assert f"Witness: {case}; hence tasks: (9/2, 0)" in verdicts[0].to_latex()
    assert "Left out: capacity." in verdicts[4].to_latex()
    assert "This fails at $x = -1, y = -1$, where $x + y - 2 = -4$." in verdicts[5].to_latex()
    assert Verdict.from_json(verdicts[0].to_json()).to_latex() == verdicts[0].to_latex()


def test_words_are_no_markup():
    verdict = check(own(Implication({}, "0 < 1"), words=r"50% of a_b & {c} <= \d", name="a#b"))
    text = verdict.to_latex()
    assert r"50\% of a\_b \& \{c\} $\le$ \textbackslash{}d" in text
    assert r"a\#b" in text


def test_claims_for_every_size_and_all_n():
    shares = ["h[i] <= s", "sum[i](h[i]) == 1", "sum[i](1) == n"]
    asked = conjecture("n*s >= 1", shares)
    verdict = check(asked)
    verify(verdict, asked)
    assert (verdict.status, verdict.findings[0].evidence["kind"]) == (Status.PROVED, "sums")
    assert verdict.scope == "all real h[i], n, s; sets of every size"
    verdict = check(conjecture("n*s <= 1", shares))
    told = told_witness(verdict.findings[0].claim, verdict.witness)
    assert told.startswith("sets of 1: ")
    assert told in verdict.summary()
    grows = ["s[2] == 1", "s[n+1] >= 2*s[n]"]
    asked = conjecture("s[n] >= n - 1", grows, first=2, steps=["s[n] >= 1"])
    verdict = check(asked)
    verify(verdict, asked)
    assert (verdict.status, verdict.scope) == (Status.PROVED, "all whole n >= 2")
    assert check(conjecture("s[n] >= n", grows, first=2)).status == Status.UNKNOWN


@pytest.mark.parametrize(
    ("claim", "told"),
    [
        ("x[i] >= 0", "has a free index"),
        ("sum[i](x[i) >= 0", "closing parenthesis"),
        ("s[n+2] >= 1", "members of a sequence are"),
        ("x[3] >= 1", "an index is a small letter"),
    ],
)
def test_what_is_no_sum_and_no_sequence_is_refused(claim, told):
    with pytest.raises(ProofError, match=re.escape(told)):
        check(conjecture(claim))
