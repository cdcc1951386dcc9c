"""Hypotheses that are rules: what they give, and what would be too much of them."""

import pytest

from proofs import (
    Chained,
    Citation,
    EvidenceError,
    Implication,
    ProofError,
    Status,
    Step,
    SumSchema,
    check,
    verify,
)
from proofs.checking.general import check_chain
from proofs.claims import Rule, claim_of, content
from proofs.language.rules import is_rule, with_terms
from proofs.prover import settle
from tests.proofs.catalogue.statements import own

BEST = "y1 <= x1 if y1 + sum[k](y[k]) <= c and y[k] >= x[k] for all y1, y[k]"
EACH = "a[k] >= h if g[k] > 0 for each k"
ALL = "a[k] >= h if g[k] > 0"
WEAK = Implication({"low": "x >= 0"}, "2*x >= 0")
NEVER = Implication({"higher": "x > y", "lower": "x < y"}, "0 == 1")
SCALAR = Chained(
    {"some": "p > 0", "rule": "q >= h if p > 0"}, "q >= h", (Citation(Rule.of("q >= h if p > 0")),)
)
"""A lemma with a rule without indices."""


def chain(hypotheses, conclusion, *cites, cases=()):
    """A chain with citations of claims, or of rules by their texts, each with terms."""
    made = tuple(Citation(Rule.of(one) if isinstance(one, str) else one, terms) for one, terms in cites)
    return Chained({f"h{k}": text for k, text in enumerate(hypotheses)}, conclusion, made, tuple(cases))


PLACED = ["z1 + sum[k](z[k]) <= c", "z[k] >= x[k]"]
HOLD = {
    "a definition": chain([BEST, *PLACED], "z1 <= x1", (BEST, {"y1": "z1", "y[k]": "z[k]"})),
    "without terms": chain([BEST, "y1 + sum[k](y[k]) <= c", "y[k] >= x[k]"], "y1 <= x1", (BEST, {})),
    "a rule in another order": chain(
        ["x1 >= y1 if y[k] - x[k] >= 0 and c >= sum[k](y[k]) + y1 for all y[k], y1", *PLACED],
        "z1 <= x1",
        (BEST, {"y1": "z1", "y[k]": "z[k]"}),
    ),
    "for each": chain([EACH, "g[k] > 0"], "a[k] >= h", (EACH, {})),
    "for all of them": chain([ALL, "g[k] > 0"], "a[k] >= h", (ALL, {})),
    "for one, by cases": chain(
        [EACH, "a[k] >= h if g[k] <= 0 for each k"],
        "a[k] >= h",
        ("a[k] >= h if g[k] <= 0 for each k", {}),
        (EACH, {}),
        cases=["g[k] > 0"],
    ),
    "a lemma for each": chain([EACH, "g[k] > 0"], "a[k] >= h", (SCALAR, {"p": "g[k]", "q": "a[k]"})),
    "a rule for two members": chain(
        ["y <= x[k] if y <= c[k] for all y for each k", "z[i] <= c[k]"],
        "z[i] <= x[k]",
        ("y <= x[k] if y <= c[k] for all y for each k", {"y": "z[i]"}),
    ),
}
REFUSED = {
    "no hypothesis": chain(PLACED, "z1 <= x1", (BEST, {"y1": "z1", "y[k]": "z[k]"})),
    "a lost premise": chain([BEST, PLACED[0]], "z1 <= x1", (BEST, {"y1": "z1", "y[k]": "z[k]"})),
    "another family": chain(
        [BEST, PLACED[0], "w[k] >= x[k]"], "z1 <= x1", (BEST, {"y1": "z1", "y[k]": "z[k]"})
    ),
    "another letter": chain(
        [BEST, "z1 + sum[k](z[k]) <= c", "z[j] >= x[j]"], "z1 <= x1", (BEST, {"y1": "z1", "y[k]": "z[k]"})
    ),
    "a rule with fewer premises": chain(
        [BEST, PLACED[0]],
        "z1 <= x1",
        ("y1 <= x1 if y1 + sum[k](y[k]) <= c for all y1, y[k]", {"y1": "z1", "y[k]": "z[k]"}),
    ),
    "all values for some": chain(
        ["y1 <= x1 if y1 <= c", "z1 <= c"], "z1 <= x1", ("y1 <= x1 if y1 <= c for all y1", {"y1": "z1"})
    ),
    # Nothing is known of any member if not all have the property.
    "for all, of one": chain([ALL], "a[k] >= h", (ALL, {}), (WEAK, {"x": "a[k] - h"}), cases=["g[k] > 0"]),
    "for all, for each": chain([ALL, "g[k] > 0"], "a[k] >= h", (EACH, {})),
    "for all, in a lemma": chain([ALL, "g[k] > 0"], "a[k] >= h", (SCALAR, {"p": "g[k]", "q": "a[k]"})),
    "an empty set": chain(
        ["s >= 1 if x[k] >= 1 for each k", "x[k] >= 1"], "s >= 1", ("s >= 1 if x[k] >= 1 for each k", {})
    ),
    "an empty set, by a term": chain(
        ["s >= y if c >= y for all y", "c >= x[k]"], "s >= t", ("s >= y if c >= y for all y", {"y": "x[k]"})
    ),
    "pairs for members": chain(["a[k] >= h if g[k] > 0 for each k", "g[j] > 0"], "a[j] >= h", (EACH, {})),
    "a rule of a lemma": chain(["g[k] > 0"], "a[k] >= h", (SCALAR, {"p": "g[k]", "q": "a[k]"})),
    "strict for not strict": chain([EACH, "g[k] >= 0"], "a[k] >= h", (EACH, {})),
    "the other way round": chain([EACH, "a[k] >= h"], "g[k] > 0", (EACH, {})),
}


@pytest.mark.parametrize("name", HOLD)
def test_rules(name):
    claim = HOLD[name]
    check_chain(claim, {})
    assert claim_of(content(claim)) == claim
    assert settle(Step(name, claim), 60).status == Status.PROVED


@pytest.mark.parametrize("name", REFUSED)
def test_a_rule_that_would_prove_too_much(name):
    claim = REFUSED[name]
    with pytest.raises(EvidenceError):
        check_chain(claim, {})
    assert settle(Step(name, claim), 60).status != Status.PROVED


@pytest.mark.parametrize(
    "text",
    [
        "x <= 1 if",
        "x <= 1 if x",
        "x <= 1 if x >= 0 for all z",
        "x[k] <= 1 if x[k] >= 0 for each i",
        "x[k] <= sum[k](x[k]) if x[k] >= 0 for each k",
        "y[k] <= 1 if y[k] >= 0 for all y[k] for each k",
    ],
)
def test_what_is_no_rule(text):
    with pytest.raises(ProofError):
        check_chain(chain([text], "x >= 0", (WEAK, {"x": "x"})), {})


def test_terms_stand_for_what_has_all_values_and_for_nothing_else():
    with pytest.raises(ProofError, match="has no variable 'x1'"):
        chain([BEST, *PLACED], "z1 <= z1", (BEST, {"x1": "z1"}))
    lemma = Chained(
        {"rule": "y <= x if y <= c for all y", "low": "z <= c"},
        "z <= x",
        (Citation(Rule.of("y <= x if y <= c for all y"), {"y": "z"}),),
    )
    check_chain(chain(["y <= v if y <= c for all y", "z <= c"], "z <= v", (lemma, {"x": "v"})), {})
    with pytest.raises(ProofError, match="'y', which has all values there"):
        check_chain(chain(["y <= y if y <= c for all y", "z <= c"], "z <= y", (lemma, {"x": "y"})), {})
    with pytest.raises(ProofError, match="carries the index 'k'"):
        with_terms(BEST, {"c": "d[k]"})


@pytest.mark.long
def test_hypotheses_that_no_values_meet_prove_nothing():
    rule = "y <= 0 if y <= 1 for all y"
    claim = chain([rule, "z <= 1"], "z <= 0", (rule, {"y": "z"}))
    check_chain(claim, {})
    assert settle(Step("never", claim), 60).status == Status.UNKNOWN
    claim = chain([BEST, *PLACED, "x1 + sum[k](x[k]) < c"], "z1 <= x1", (BEST, {"y1": "z1", "y[k]": "z[k]"}))
    assert settle(Step("there is room", claim), 60).status == Status.UNKNOWN


def test_values_against_a_chain_meet_its_rules():
    claim = chain([BEST, PLACED[0]], "z1 <= x1", (WEAK, {"x": "c"}))
    found = settle(Step("too much", claim), 60)
    assert found.status == Status.REFUTED
    values = found.evidence["values"]
    assert any(name.startswith("multiplier") for name in values)


def test_rules_belong_to_the_verdict():
    asked = own(HOLD["a definition"])
    verdict = check(asked)
    verify(verdict, asked)
    assert verdict.findings[0].claim["rules"] == {"h0": BEST}
    assert "for all" in verdict.to_latex()


def test_a_schema_has_no_rules():
    assert is_rule(BEST)
    with pytest.raises(ProofError):
        settle(Step("rule", SumSchema({"rule": BEST}, "x1 >= 0")), 5)
    with pytest.raises(ProofError):
        settle(Step("rule", Implication({"rule": "x <= 1 if x >= 0"}, "x <= 1")), 5)
