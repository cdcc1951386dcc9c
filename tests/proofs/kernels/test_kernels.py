"""Certificates as theorems: their text says what the claim says, and Coq accepts true ones only."""

import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from proofs import Implication, Induction, Status, SumSchema, check, statements
from proofs.checks import Report, check_all
from proofs.kernels import exported_steps, source_files, to_coq
from proofs.kernels.identifiers import RESERVED, identifiers
from proofs.language.relations import relation
from tests.proofs.catalogue.statements import own
from tests.proofs.kernels.theorems import CERTIFICATES, adds_up, compiled, needs_coq, terms_of

PROVED = [
    ({"a": "0 < a", "fits": "x*a <= 1"}, "x*a <= 2"),
    ({}, "x**2 + y**2 >= 2*x*y"),
    ({"low": "x >= 1", "high": "x <= 1"}, "x == 1"),
    ({"x": "x > 0", "y": "y > 0", "product": "x*y == 1"}, "x + y >= 2"),
    ({"one": "x + y <= 2", "two": "x - y <= 0", "three": "y - 2*x <= -1"}, "x >= 2/3"),
    ({"no": "x != 0"}, "x**2 > 0"),
    ({"never": "x < 0", "always": "x >= 0"}, "0 == 1"),
    ({'a "name" (* *) (*': "end != 0", "H": "R*H1 == 1/3", "c": "rho == 0"}, "end*R != 0"),
    ({"ρ": "ρ < 1", "ü": "u3c1 > 0"}, "ρ*u3c1 <= u3c1"),
    ({"x": "x > 1/2"}, "x != 0"),
    ({}, "0 < 1"),
    ({"x": "x == y", "y": "2*y != 3"}, "x != 3/2"),
]
REFUTED = [
    ({"fits": "x*a <= 1"}, "x <= 2"),
    ({"x": "x >= 0"}, "x > 0"),
    ({"square": "x**2 == 4", "n": "y != 1/7", "s": "1/2 < y"}, "x == 2"),
    ({}, "x != 3"),
    ({}, "1 <= 0"),
]


SUMS = [
    SumSchema({"most": "h[i] <= s", "full": "sum[i](h[i]) == 1"}, "sum[i](1)*s >= 1"),
    SumSchema({"own": "x[i]*a[i] <= b[i]", "b": "b[i] <= 1"}, "sum[i](x[i]*a[i]) <= sum[i](1)"),
    SumSchema({"u": "u[i,j] <= q[j]*w[i]", "q": "sum[j](q[j]) == 1"}, "sum[i,j](u[i,j]) <= sum[i](w[i])"),
    SumSchema(
        {"u": "sum[i](u[i,j]) <= c[j]", "q": "q[j] >= 0"},
        "sum[i,j](q[j]*u[i,j]) <= sum[j](q[j]*c[j])",
        hints=((("u", "q"), "1"),),
    ),
    SumSchema({"x": "x[i] > 0", "end": "end[i] == x[i]*R"}, "sum[i](end[i]) == R*sum[i](x[i])"),
    SumSchema({"no": "x[i] != 0"}, "sum[i](x[i]**2) >= 0"),
    SumSchema({"most": "x[i] > t"}, "sum[i](1/2*x[i]) >= t/2*sum[i](1)"),
    SumSchema({"p": "p[i] >= 0", "k": "p[i]*k >= 1", "positive": "k >= 0"}, "sum[i](p[i])*k >= sum[i](1)"),
    SumSchema(
        {"p": "p[i] >= 0", "all": "sum[i](p[i]) == 1", "mean": "e == sum[i](p[i]*x[i])"},
        "sum[i](p[i]*x[i]**2) >= e**2",
        hints=((("p",), "x[i] - e"),),
    ),
]
INDUCTIONS = [
    Induction({"start": "s[2] == 1", "grows": "s[n+1] >= 2*s[n]"}, "s[n] >= n - 1", first=2),
    Induction({"start": "s[1] == a", "a": "a > 1/3", "grows": "s[n+1] == s[n] + n*a"}, "s[n] > 1/3", first=1),
    Induction({"start": "s[0] == 0", "grows": "s[n+1] == s[n] + n + 1"}, "s[n] == n*(n + 1)/2"),
    Induction({"start": "s[0] <= t[0]", "slower": "s[n+1] - s[n] <= t[n+1] - t[n]"}, "s[n] <= t[n]"),
    Induction(
        {"start": "s[0] == 0", "grows": "s[n+1] >= s[n] + 1", "most": "s[N] <= r"}, "s[n] >= n", last="N"
    ),
    Induction(
        {
            "M": "M > 0",
            "start": "s[1] <= M",
            "falls": "M*s[n+1] <= M1*s[n]",
            "less": "M1 < M",
            "up": "s[n] >= 0",
        },
        "s[n] <= M",
        hints=((("up", "less"), "1"), (("not the conclusion", "M"), "1")),
        first=1,
        last="N",
    ),
]


@cache
def settled():
    """A verdict on claims of all forms."""
    return check(own(*(Implication(*claim) for claim in PROVED + REFUTED), name="all-forms"))


def test_the_terms_of_every_proof_add_up_to_0():
    verdict = settled()
    text = to_coq(verdict)
    found = terms_of(text)
    assert len(found) == len(PROVED)
    assert all(map(adds_up, found.values()))
    assert text.count("_is_false") == len(REFUTED)
    assert exported_steps(verdict) == len(PROVED) + len(REFUTED)


def renamed(texts):
    """Relations in the variables of the theorem."""
    names = identifiers({name for text in texts for name in relation(text).left.variables})
    return [relation(re.sub(r"[^\W\d]\w*", lambda found: names[found[0]], text)) for text in texts]


def test_a_theorem_states_the_claim():
    text = to_coq(settled())
    for k, (hypotheses, conclusion) in enumerate(PROVED, 1):
        stated = text.split(f"Theorem all_forms_{k} :")[1].partition("Proof.")[0]
        stated = re.sub(r"\(\*.*?\*\)", "", stated.partition("R,")[2] or stated)
        stated = stated.replace("^", "**").replace("<>", "!=").replace(" = ", " == ")
        read = [relation(part) for part in stated.strip().removesuffix(".").split("->")]
        assert read == renamed([*hypotheses.values(), conclusion])


def test_names_are_no_words_of_coq_and_differ():
    names = identifiers(["end", "end_", "R", "H1", "ρ", "u3c1", "v1", "x", "T2_", "a b", "a-b", *RESERVED])
    assert len(set(names.values())) == len(names)
    assert not RESERVED & set(names.values())
    assert all(re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII) for name in names.values())
    assert names["x"] == "x"


@cache
def settled_for_every_size():
    verdict = check(own(*SUMS, *INDUCTIONS, name="every-size"))
    assert verdict.status == Status.PROVED
    return verdict


def test_of_claims_for_every_size_the_identities_are_theorems():
    verdict = settled_for_every_size()
    n, m = len(SUMS), len(INDUCTIONS)
    found = terms_of(to_coq(verdict))
    parts = [f"{k}_in_sums" for k in range(1, n + 1)]
    parts += [f"{k}_{part}" for k in range(n + 1, n + m + 1) for part in ("base", "step")]
    assert list(found) == [f"every_size_{part}" for part in parts]
    assert all(map(adds_up, found.values()))
    assert Report((verdict,)).kernels == (f"coq {n + m}/{n + m}",)


def test_a_theorem_for_every_size_states_the_claim():
    text = to_coq(settled_for_every_size())
    stated = text.split("Theorem every_size_4 :")[1].partition("Proof.")[0]
    wanted = """
      forall (set_i set_j : list nat) (c_j : nat -> R) (q_j : nat -> R) (u_i_j : nat -> nat -> R),
      (forall in_j, In in_j set_j -> 0 <= (c_j in_j) - (total set_i (fun in_i => (u_i_j in_i in_j)))) ->
      (* u *) (forall in_j, In in_j set_j -> 0 <= (q_j in_j)) -> (* q *)
      0 <= -(total set_i (fun in_i => total set_j (fun in_j => (q_j in_j)*(u_i_j in_i in_j))))
      + (total set_j (fun in_j => (c_j in_j)*(q_j in_j))).
    """
    assert stated.split() == wanted.split()
    stated = text.split(f"Theorem every_size_{len(SUMS) + 1} :")[1].partition("Proof.")[0]
    wanted = """
      forall (s_of_n : nat -> R), ((s_of_n 0%nat) - 1 = 0) -> (* start *)
      (forall in_k : nat, 0 <= -2*(s_of_n in_k) + (s_of_n (S in_k))) -> (* grows *)
      forall in_k : nat, 0 <= -(2 + INR in_k) + (s_of_n in_k) + 1.
    """
    assert stated.split() == wanted.split()


def test_steps_without_polynomials_are_told():
    verdict = check("drf-example")
    assert Report((verdict,)).kernels == ("coq 2/3",)
    assert "Step 3 has none (computed)" in to_coq(verdict)
    assert source_files([check("drf-example-order")]) == {}


def test_one_statement_asked_twice_has_two_theorems():
    changed = check("br-bmf-envy-free", drop=["bottleneck"])
    text = to_coq(check("br-bmf-envy-free"), changed)
    names = re.findall(r"Theorem (\w+)", text)
    assert len(names) == len(set(names)) == 2 * exported_steps(changed)
    assert list(source_files([changed, settled()])) == ["bonald_roberts.v", "own.v"]


@pytest.mark.parametrize("word", ["Axiom", "Admitted", "admit", "nra", "psatz"])
def test_no_proof_is_left_open_or_searched(word):
    verdict = settled()
    assert not re.search(rf"\b{word}\b", to_coq(verdict))


def test_readme_tells_how_many_theorems_there_are():
    claims = [step.claim for s in statements() for step in s.ask(s.question())]
    count = sum(CERTIFICATES.get(type(claim).__name__, 0) for claim in claims)
    readme = Path(__file__).parents[3].joinpath("README.md").read_text(encoding="utf-8")
    told = f"All {count} polynomial certificates"
    assert told in " ".join(readme.split()), f"the README tells of another number than {count}"


@needs_coq
@pytest.mark.long
def test_coq_accepts_claims_of_all_forms(tmp_path):
    assert compiled(tmp_path, "forms", to_coq(settled(), settled_for_every_size())) is None


@needs_coq
@pytest.mark.long
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("0 <= -x - 3*y + 9 ->", "0 <= -x - 3*y + 10 ->"),
        ("0 <= -x + 3.", "0 <= -x + 2."),
        ("0 <= -x + 3.", "0 < -x + 3."),
        ("0 <= 1/3 * (-x - 3*y + 9)", "0 <= 1/2 * (-x - 3*y + 9)"),
        ("(-3) * (2/9*x - 1/3*y)", "(-2) * (2/9*x - 1/3*y)"),
        ("exists (0), (0).", "exists (9), (9)."),
    ],
)
def test_coq_refuses_a_theorem_with_one_changed_number(tmp_path, right, wrong):
    text = to_coq(check("drf-example"))
    assert right in text
    assert compiled(tmp_path, "bent", text.replace(right, wrong, 1)) is not None


@needs_coq
@pytest.mark.long
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("In in_i set_i -> 0 <= -(h_i in_i) + s", "In in_i set_i -> 0 <= -(h_i in_i) + 2*s"),
        ("0 <= s*(total set_i (fun in_i => 1)) - 1.", "0 <= s*(total set_i (fun in_i => 1)) - 2."),
        ("(total set_i (fun in_i => (h_i in_i))) - 1 = 0", "(total set_j (fun in_i => (h_i in_i))) - 1 = 0"),
        ("f i + total rest f end", "f i - total rest f end"),
        ("0 <= -(2 + INR in_k) + (s_of_n in_k) + 1.", "0 <= -(2 + INR in_k) + (s_of_n in_k)."),
        ("(forall in_k : nat, 0 <= -2*(s_of_n in_k)", "(forall in_k : nat, 0 <= -3*(s_of_n in_k)"),
    ],
)
def test_coq_refuses_a_bent_claim_for_every_size(tmp_path, right, wrong):
    text = to_coq(check(own(SUMS[0], INDUCTIONS[0], name="two")))
    assert right in text
    text = text.replace("(set_i : list nat) (s", "(set_i set_j : list nat) (s")
    text = text.replace("intros set_i s", "intros set_i set_j s")
    assert compiled(tmp_path, "bent", text.replace(right, wrong, 1)) is not None


@needs_coq
@pytest.mark.long
def test_coq_refuses_bent_evidence(tmp_path):
    """Evidence that this project's checker would refuse: a coefficient, a square, a cofactor, a factor."""
    verdict = check("br-pf-stable")
    finding = next(f for f in verdict.findings if f.says.startswith("Per class"))
    term, *others = finding.evidence["terms"]
    cofactors = finding.evidence["cofactors"]
    bent = [
        {"terms": [term | {"coefficient": 2}, *others]},
        {"terms": [term | {"square": f"{term['square']} + 1"}, *others]},
        {"terms": [term | {"factors": [*term["factors"], "cost"]}, *others]},
        {"cofactors": cofactors | {"prices": f"{cofactors['prices']} + 1"}},
        {"terms": others},
    ]
    assert compiled(tmp_path, "right", to_coq(replace(verdict, findings=(finding,)))) is None
    for k, change in enumerate(bent):
        changed = replace(finding, evidence=finding.evidence | change)
        text = to_coq(replace(verdict, findings=(changed,)))
        assert compiled(tmp_path, f"bent{k}", text).strip() in ("ring.", "field.")


def test_the_command_writes_a_file_for_each_paper(tmp_path, capsys):
    from proofs.__main__ import main

    assert main(["drf-example", "--coq", str(tmp_path / "new")]) == 0
    assert (tmp_path / "new" / "drf.v").read_text(encoding="utf-8") == to_coq(check("drf-example"))
    (tmp_path / "file").touch()
    assert main(["drf-example", "--coq", str(tmp_path / "file")]) == 2
    assert "cannot write" in capsys.readouterr().err
    assert "coq 2/3" in check_all(["drf-example"]).summary()
