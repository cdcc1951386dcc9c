"""What a review of rules and runs had the checker accept or refuse wrongly: it cannot be made any more."""

import pytest

from proofs import Chained, Citation, Implication, Induction, SumSchema
from proofs.checking.general import check_chain
from proofs.claims import Rule
from proofs.endings import _is_sign
from proofs.errors import EvidenceError, ProofError
from proofs.language.rules import parts_of, with_terms


def test_a_premise_keeps_its_index():
    """For a set k without elements the rule says q >= h; with g for p[k] it would ask for g > 0."""
    with pytest.raises(ProofError, match="the premise 'p\\[k\\] > 0' loses the index 'k'"):
        with_terms("q >= h if p[k] > 0", {"p[k]": "g"})
    assert with_terms("h[k] <= t if x[k] > 0 for each k", {"x[k]": "g"}).startswith("h[k] <= t if g > 0")


def test_a_rule_is_read_as_it_is_written():
    with pytest.raises(ProofError, match="is read in other parts"):
        Rule({"premise 1": "x[k] >= y"}, "s >= y", ("y for each k",), ())


def runs(last=""):
    return Induction({"grows": "s[n+1] >= s[n]", "begins": "s[0] >= 0"}, "s[n] >= 0", last=last)


@pytest.mark.parametrize("name", ["Number[n]", "Number", "sNext[n]", "sFirst"])
def test_no_term_stands_for_a_number_or_a_member(name):
    with pytest.raises(ProofError, match=r"no term stands for|has no variable"):
        Citation(runs(), {name: "7*x[n]"})


@pytest.mark.parametrize("name", ["N", " N", "N ", "(N)"])
def test_no_term_stands_for_the_last_number(name):
    bound = Induction({"grows": "s[n+1] >= s[n]", "begins": "s[0] >= N - N"}, "s[n] + N >= N", last="N")
    held = {"grows": "s[n+1] >= s[n]", "begins": "s[0] >= 0"}
    claim = Chained(held, "s[n] + c >= c", (Citation(bound, {name: "c"}),), first=0, last="N")
    with pytest.raises((ProofError, EvidenceError)):
        check_chain(claim, {"size": 1})


def test_two_terms_for_one_variable():
    with pytest.raises(ProofError, match="two terms stand for one variable"):
        Citation(Implication({"a": "x >= 0"}, "x + 1 > 0"), {"x": "y", "(x)": "z"})


def test_a_rule_concludes_no_inequality_of_two_sides():
    with pytest.raises(ProofError, match="not that two sides differ"):
        parts_of("x != 0 if y >= 0")


def test_hypotheses_of_a_rule_keep_their_names():
    hypotheses = {"r[multiplier_2 1 1]": "x >= 1", "r": "x >= y if y <= 1 for all y"}
    claim = Chained(hypotheses, "x >= 1", (Citation(Rule.of("x >= y if y <= 1 for all y"), {"y": "1"}),))
    with pytest.raises(ProofError, match="two hypotheses are called"):
        claim.instance(1)


@pytest.mark.parametrize("where", ["hypothesis", "conclusion"])
def test_what_looks_ahead_depends_on_the_next_number(where):
    odd, plain = "y[n] + x[n+1] - x[n+1] >= 0", "y[n] >= 0"
    told, concluded = (odd, plain) if where == "hypothesis" else (plain, odd)
    cites = (Citation(Implication({"a": "x >= 0"}, "x + 1 > 0"), {"x": "y[n]"}),)
    with pytest.raises(ProofError, match=r"mentions n \+ 1, on which it does not depend"):
        Chained({"told": told}, concluded, cites, first=0, last="N")
    with pytest.raises(ProofError, match=r"mentions n \+ 1, on which it does not depend"):
        Induction({"told": odd}, "y[n] >= 0", last="N")


@pytest.mark.parametrize("name", ["Nextdoor", "aNext"])
def test_no_name_passes_for_the_next_number(name):
    with pytest.raises(ProofError, match=r"on which it does not depend|take another name"):
        Induction({"told": f"y[n] + {name} + x[n+1] - x[n+1] >= 0"}, "y[n] >= 0", last="N")


def test_the_number_stands_last():
    with pytest.raises(ProofError, match="stands in the last place"):
        _ = Chained({"told": "x[n,i] >= 0"}, "x[n,i] >= 0", (Citation(runs()),), first=0).plain


def test_rules_are_for_chains():
    with pytest.raises(ProofError, match="a schema has no rules"):
        SumSchema({"best": "x >= 1 if y >= 0"}, "sum[i](z[i]**2) + 1 >= 0")
    with pytest.raises(ProofError, match="an induction has no rules"):
        Induction({"best": "x >= 1 if y >= 0", "begins": "s[0] >= 0"}, "s[n] >= 0")
    assert not _is_sign("x >= 0 if y >= 0")
