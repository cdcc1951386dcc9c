"""Chains as theorems of Coq: what they say, that Coq accepts them, and that it refuses bent ones."""

from dataclasses import replace

import pytest

from proofs import Chained, Citation, Implication, Induction, Status, SumSchema, check
from proofs.claims import Rule, claim_to_dict
from proofs.kernels import exported_steps, to_coq
from proofs.kernels.coq_chains import binders_of, chain_theorem
from proofs.kernels.coq_citations import Lemma, is_cited_rule
from proofs.kernels.coq_names import Unsupported
from tests.proofs.catalogue.statements import own
from tests.proofs.checking import test_chains, test_rules
from tests.proofs.kernels.theorems import compiled, first_error, needs_coq

PUSH = Implication({"low": "x > 0", "high": "y >= x"}, "y > 0")
OTHER = Implication({"one": "p == 0 or q == 0", "not this": "p != 0"}, "q == 0")
PRODUCT = Implication({"s": "s > 0", "t": "t > 0"}, "s*t != 0", hints=((("s", "t"), "1"),))
ABOVE, BELOW = (Implication({"z": f"z {sign} 0"}, "z**2 >= 0") for sign in (">=", "<"))
SOME, NONE = (Implication({"z": f"z {sign} 0"}, "z**4 >= 0", hints=(((), "z**2"),)) for sign in ("!=", "=="))
PUSHED = Chained({"low": "2*a > 0", "high": "b >= a"}, "3*b > 0", (Citation(PUSH, {"x": "a", "y": "b"}),))
NUMBERS = (
    PUSHED,
    Chained({}, "x**4 >= 0", (Citation(SOME, {"z": "x"}), Citation(NONE, {"z": "x"})), cases=("x != 0",)),
    Chained(
        {"one": "a == 0 or b*c == 0", "low": "b > 0", "high": "c >= b"},
        "a == 0",
        (
            Citation(PUSH, {"x": "b", "y": "c"}),
            Citation(PRODUCT, {"s": "b", "t": "c"}),
            Citation(OTHER, {"p": "b*c", "q": "a"}),
        ),
    ),
    Chained({"low": "b > 0", "high": "c >= b"}, "6*c > 0", (Citation(PUSHED, {"a": "b", "b": "c"}),)),
)

MOST = SumSchema({"most": "h[i] <= s", "full": "sum[i](h[i]) == 1"}, "sum[i](1)*s >= 1")
COSTS = SumSchema(
    {"u": "sum[i](u[i,j]) <= c[j]", "q": "q[j] >= 0"},
    "sum[i,j](q[j]*u[i,j]) <= sum[j](q[j]*c[j])",
    hints=((("u", "q"), "1"),),
)
POSITIVE = SumSchema({"x": "x[i] >= 0"}, "sum[i](x[i]) >= 0")
FAMILIES = (
    # Terms bring along an index, and the sums are no longer in their normal form.
    Chained(
        {"most": "a[i,j]*y[j] <= 2*t[j]", "full": "y[j]*sum[i](a[i,j]) == 1"},
        "2*sum[i](1)*t[j] >= 1",
        (Citation(MOST, {"h[i]": "a[i,j]*y[j]", "s": "2*t[j]"}),),
    ),
    # Sums over pairs, of terms with a sum.
    Chained(
        {"u": "sum[i](d[i,j]*x[i]*w) <= c[j]", "p": "2*p[j] >= 0", "cost": "q[i] == sum[j](p[j]*d[i,j])"},
        "w*sum[i,j](p[j]*d[i,j]*x[i]) <= sum[j](p[j]*c[j])",
        (Citation(COSTS, {"u[i,j]": "w*d[i,j]*x[i]", "q[j]": "p[j]"}),),
    ),
    Chained(
        {"x": "x[i] - sum[j](y[i,j]) >= 0"},
        "3*sum[i](x[i]) - 3*sum[i,j](y[i,j]) >= 0",
        (Citation(POSITIVE, {"x[i]": "3*x[i] - 3*sum[j](y[i,j])"}),),
    ),
    Chained(
        {},
        "0 <= t**2",
        (Citation(POSITIVE, {"x[i]": "0"}), Citation(ABOVE, {"z": "t"}), Citation(BELOW, {"z": "t"})),
        cases=("t >= 0",),
    ),
    Chained(
        {},
        "z[i]**2 >= 0",
        tuple(Citation(one, {"z": "z[i]"}) for one in (ABOVE, BELOW)),
        cases=("z[i] >= 0",),
    ),
)
WORDS = Chained(
    {"K1": "K1*A1 > 0", "C1": "C1 >= K1*A1", "E1": "E1[i] >= Q1 + P1 + R1 + B1"},
    "E1[i] + C1 > Q1 + P1 + R1 + B1",
    (
        Citation(PUSH, {"x": "K1*A1", "y": "C1"}),
        Citation(
            Implication({"p": "p > 0", "q": "q >= 0"}, "p + q > 0"),
            {"p": "C1", "q": "E1[i] - Q1 - P1 - R1 - B1"},
        ),
    ),
)
"""Variables that are called as parts of proofs are."""
APART = SumSchema({"n": "sum[i](x[i]) > 0"}, "sum[i](x[i]) + 1 != 0")
DIFFERENT = Chained(
    {"n": "2*sum[i](y[i]) - sum[i](1) > 0"},
    "sum[i](1) - 2*sum[i](y[i]) != 1",
    (Citation(APART, {"x[i]": "2*y[i] - 1"}),),
)
TRIPLE = Chained(
    {"x": "m[k]*sum[i,l](a[i,k]*b[l,i]) >= 0"},
    "sum[i,k,l](m[k]*a[i,k]*b[l,i]) >= 0",
    (Citation(SumSchema({"x": "x[k] >= 0"}, "sum[k](x[k]) >= 0"), {"x[k]": "sum[i,l](m[k]*b[l,i]*a[i,k])"}),),
)
"""A sum over three letters, of which the one that is summed last stands between the others."""
SUM_RULE = "y[k] <= x[k] if sum[k](w[k]*y[k]) <= c and y[k] >= 0 for all y[k]"
RULED = Chained(
    {"rule": SUM_RULE, "fits": "sum[k](w[k]*z[k]) <= c", "low": "z[k] >= 0"},
    "z[k] <= x[k]",
    (Citation(Rule.of(SUM_RULE), {"y[k]": "z[k]"}),),
)
RULES = (
    RULED,
    # The rule of a step that is cited, with terms of which a sum is made, for each j.
    Chained(
        {
            "rule": "y[k] <= v[k,j] if sum[k](d[k]*y[k])*b[j] <= 1 and 2*y[k] >= 0 for all y[k] for each j",
            "fits": "sum[k](d[k]*b[j]*z[k,j]) <= 1",
            "low": "z[k,j] >= 0",
        },
        "z[k,j] <= v[k,j]",
        (Citation(RULED, {"x[k]": "v[k,j]", "w[k]": "d[k]*b[j]", "c": "1", "z[k]": "z[k,j]"}),),
    ),
)
ALIKE = Chained(
    {"rule": SUM_RULE, "fits": "sum[k](w[k]*z[k]) <= c", "low": "z[k] >= 0", "own": "y[k] >= 7"},
    "z[k] + y[k] >= 7",
    (
        Citation(RULED, {"z[k]": "z[k]"}),
        Citation(Implication({"y": "y >= 7", "z": "z >= 0"}, "z + y >= 7"), {"y": "y[k]", "z": "z[k]"}),
    ),
)
"""A variable that is called as one that has all values in the rule of a step."""
BARE = Chained(
    {"a": "sum[i](x[i]) >= 0"},
    "2*sum[i](x[i]) >= 0",
    (Citation(Implication({"low": "x >= 0"}, "2*x >= 0"), {"x": "sum[i](x[i])"}),),
)
"""Sums, though no step that is cited is about sums."""
HOLD = [
    ALIKE,
    BARE,
    *NUMBERS,
    *FAMILIES,
    *RULES,
    WORDS,
    DIFFERENT,
    TRIPLE,
    *test_chains.HOLD.values(),
    *test_rules.HOLD.values(),
]


def in_order(claims):
    """Claims behind those that they cite, each once."""
    found = []
    for claim in claims:
        inner = [cite.claim for cite in claim.cites] if type(claim) is Chained else []
        found += [one for one in in_order(inner) if one not in found and type(one) is not Rule]
        found += [claim] * (claim not in found)
    return found


def chained(*chains):
    return check(own(*in_order(chains), name="chains"))


def test_every_chain_that_holds_is_a_theorem():
    verdict = chained(*HOLD)
    assert verdict.status == Status.PROVED
    assert exported_steps(verdict) == len(verdict.findings)


def test_a_chain_that_cites_what_is_refuted_is_no_theorem():
    wrong = Implication({"low": "x >= 2"}, "x >= 3")
    chain = Chained(
        {"low": "y >= 2"}, "2*y >= 0", (Citation(PUSH, {"x": "y", "y": "y"}), Citation(wrong, {"x": "y"}))
    )
    verdict = check(
        own(PUSH, wrong, replace(chain, conclusion="y > 0", hypotheses={"low": "y >= 2", "some": "y > 0"}))
    )
    assert [f.status for f in verdict.findings][1] == Status.REFUTED
    assert exported_steps(verdict) == 2
    assert "Step 3 has none" in to_coq(verdict)


def test_chains_about_sequences_are_told():
    grows = Induction({"start": "s[0] == 1", "grows": "s[n+1] >= 2*s[n]"}, "s[n] >= n + 1")
    chain = Chained(
        {"start": "t[0] == 1", "grows": "t[n+1] >= 2*t[n]"},
        "t[n] >= n + 1",
        (Citation(grows, {"s[n]": "t[n]"}),),
        first=0,
    )
    verdict = chained(chain)
    assert exported_steps(verdict) == 1
    assert "Step 2 has none (chained)" in to_coq(verdict)


def stated(text, name):
    return " ".join(text.split(f"Theorem {name} :")[1].partition("Proof.")[0].split())


def test_a_theorem_states_the_chain():
    text = to_coq(chained(FAMILIES[0], RULES[1]))
    assert stated(text, "chains_2") == (
        "forall (set_i set_j : list nat) (a_i_j : nat -> nat -> R) (t_j : nat -> R) (y_j : nat -> R), "
        "(forall in_i, In in_i set_i -> forall in_j, In in_j set_j -> "
        "0 <= -(a_i_j in_i in_j)*(y_j in_j) + 2*(t_j in_j)) -> (* most *) "
        "(forall in_j, In in_j set_j -> (total set_i (fun in_i => (a_i_j in_i in_j)))*(y_j in_j) - 1 = 0) -> "
        "(* full *) "
        "forall in_j, In in_j set_j -> 0 <= 2*(total set_i (fun in_i => 1))*(t_j in_j) - 1."
    )
    spent = "(b_j in_j)*(total set_k (fun in_k => (d_k in_k)*({} in_k{})))"
    assert stated(text, "chains_4") == (
        "forall (set_j set_k : list nat) (b_j : nat -> R) (d_k : nat -> R) (v_k_j : nat -> nat -> R) "
        "(z_k_j : nat -> nat -> R), "
        f"(forall in_j, In in_j set_j -> 0 <= -{spent.format('z_k_j', ' in_j')} + 1) -> (* fits *) "
        "(forall in_j, In in_j set_j -> forall in_k, In in_k set_k -> 0 <= (z_k_j in_k in_j)) -> (* low *) "
        "(forall in_j, In in_j set_j -> forall (y_k : nat -> R), "
        f"(0 <= -{spent.format('y_k', '')} + 1) -> (forall in_k, In in_k set_k -> 0 <= (y_k in_k)) -> "
        "forall in_k, In in_k set_k -> 0 <= (v_k_j in_k in_j) - (y_k in_k)) -> (* rule *) "
        "forall in_j, In in_j set_j -> forall in_k, In in_k set_k -> "
        "0 <= (v_k_j in_k in_j) - (z_k_j in_k in_j)."
    )


def test_a_case_of_one_member_is_of_that_member_alone():
    text = to_coq(chained(FAMILIES[4]))
    proof = text.split("Theorem chains_3 :")[1]
    assert "intros in_i member_i.\n  destruct (Rle_or_lt 0 ((z_i in_i)))" in proof
    assert "assert (K1 : 0 <= (z_i in_i)^2)." in proof


def alone(chain):
    """The theorem of a chain, whether the checker accepts it or not, behind those of what it cites."""
    claims = [claim for claim in in_order([chain]) if claim is not chain]
    before = to_coq(check(own(*claims, name="lemmas"))) if claims else ""
    names = {str(claim_to_dict(claim)): f"lemmas_{k}" for k, claim in enumerate(claims, 1)}

    def lemma(claim):
        return (
            None if is_cited_rule(claim) else Lemma(names[str(claim)], binders_of(claim, cited(claim)), claim)
        )

    def cited(claim):
        return [lemma(cite["claim"]) for cite in claim.get("cites", ())]

    data = claim_to_dict(chain)
    return "\n".join([before, *chain_theorem("last", data, cited(data))])


REFUSED = {**test_chains.REFUSED, **{f"{name}, with a rule": c for name, c in test_rules.REFUSED.items()}}
WRITTEN = {
    "an empty set",
    "an empty set, with a rule",
    "a contradiction of no member",
    "a case of one member for all, elsewhere",
}
"""Chains that would prove too much, and have a text that Coq is to refuse."""
TRUE = {"a citation of no use", "pairs with other letters", "pairs of two sets for pairs of one"}
"""Those that are true, and refused for their form."""


@pytest.mark.parametrize("name", sorted(REFUSED.keys() - WRITTEN - TRUE))
def test_what_would_prove_too_much_has_no_theorem(name):
    with pytest.raises(Unsupported):
        alone(REFUSED[name])


@needs_coq
@pytest.mark.long
def test_coq_accepts_every_chain_that_holds(tmp_path):
    assert compiled(tmp_path, "chains", to_coq(chained(*HOLD))) is None


@needs_coq
@pytest.mark.long
@pytest.mark.parametrize("chain", [RULES[1], ALIKE, BARE, WORDS])
def test_coq_accepts_a_chain_alone(chain, tmp_path):
    assert compiled(tmp_path, "alone", to_coq(chained(chain))) is None


@needs_coq
@pytest.mark.long
@pytest.mark.parametrize("name", sorted(WRITTEN))
def test_coq_refuses_what_would_prove_too_much(name, tmp_path):
    assert compiled(tmp_path, "refused", to_coq(chained(FAMILIES[2])) + alone(REFUSED[name])) is not None


BENT = [
    (NUMBERS[3], "0 < b", "0 <= b"),
    (NUMBERS[3], "0 <= -b + c", "0 <= b - c"),
    (NUMBERS[3], "0 < 6*c.", "0 < 6*b - c."),
    (FAMILIES[0], "+ 2*(t_j in_j)) ->", "+ 3*(t_j in_j)) ->"),
    (FAMILIES[0], "- 1.", "- 2."),
    (FAMILIES[0], "In in_i set_i -> forall", "In in_i set_j -> forall"),
    (FAMILIES[1], "0 <= 2*(p_j in_j)", "0 <= -2*(p_j in_j)"),
    (FAMILIES[2], "- 3*(total set_i (fun in_i => total set_j", "- 4*(total set_i (fun in_i => total set_j"),
    (FAMILIES[4], "0 <= (z_i in_i)^2.", "0 < (z_i in_i)^2."),
    (RULES[1], "forall (y_k : nat -> R), ", ""),
    (RULES[1], "0 <= (v_k_j in_k in_j) - (z_k_j in_k in_j).", "0 < (v_k_j in_k in_j) - (z_k_j in_k in_j)."),
]


@needs_coq
@pytest.mark.long
@pytest.mark.parametrize(("chain", "right", "wrong"), BENT)
def test_coq_refuses_a_bent_chain(chain, right, wrong, tmp_path):
    text = to_coq(chained(chain))
    last = text.rindex("Theorem")
    bent = text[:last] + text[last:].replace(right, wrong, 1)
    assert bent != text, text[last:]
    # What it cites is accepted, and so is the chain itself: it is one of those above.
    assert chain in HOLD
    assert first_error(tmp_path, "bent", bent) >= text[:last].count("\n")
