"""Names and numbers in texts: what is shown is what was read, and what is too large is told."""

import pytest

from fairness import ModelError
from proofs import Implication, ProofError, Status, Verdict, check, conjecture, verify
from proofs.language.polynomials import polynomial
from proofs.symbolic import SymbolicProblem, where
from tests.proofs.catalogue.statements import own

LOOK_ALIKES = {
    "xⁿ >= 0": "SUPERSCRIPT LATIN SMALL LETTER N",
    "x² >= 0": "SUPERSCRIPT TWO",
    "а >= 0": "CYRILLIC SMALL LETTER A",
    "Α >= 0": "GREEK CAPITAL LETTER ALPHA",
    "ο >= 0": "GREEK SMALL LETTER OMICRON",
    "x\ufe00 >= 0": "VARIATION SELECTOR-1",
    "x\u200d >= 0": "ZERO WIDTH JOINER",
    "ı >= 0": "LATIN SMALL LETTER DOTLESS I",
    "µ >= 0": "MICRO SIGN",
    "ｘ >= 0": "FULLWIDTH LATIN SMALL LETTER X",
    "x > −1": "MINUS SIGN",
}


@pytest.mark.parametrize("text", LOOK_ALIKES)
def test_look_alikes_are_refused_by_name(text):
    named = LOOK_ALIKES[text]
    for made in (lambda: conjecture(text), lambda: conjecture("x >= 0", [text])):
        with pytest.raises(ProofError, match=named):
            made()
    with pytest.raises(ModelError, match=named):
        where(text)
    with pytest.raises(ModelError, match=named):
        SymbolicProblem([[1]], [1], assume=text)


def test_the_same_letter_written_in_two_ways_is_one_letter():
    for one, other in (("é", "e\u0301"), ("Å", "A\u030a"), ("Ω", "\u2126")):
        assert polynomial(f"{one} - {other}") == polynomial(0)
    assert check(conjecture("ρ**2 + σ_é**2 >= 2*ρ*σ_é")).status == Status.PROVED


def test_ids_with_look_alikes_are_refused():
    with pytest.raises(ProofError, match="CYRILLIC SMALL LETTER IE"):
        check(own(Implication({}, "0 <= 1"), name="br-feasiblе"))


HUGE = ["1e308", "9" * 400, "9" * 3_900, "1/" + "9" * 3_900, "(10**100)**9", "(1/9**99)**30", "9" * 4_200]
ASKED = [
    ("x >= {c}", ["x >= {c} + 1"]),
    ("x**2 + {c} >= 2*x*y - y**2", []),
    ("x**2*y >= {c}", ["x >= {c}", "y >= 1"]),
    ("x == {c}", ["x**2 == {c}"]),
    ("sum[i](x[i]) <= {c}*n", ["x[i] <= {c}", "sum[i](1) == n"]),
    ("s[n] >= {c}", ["s[0] == {c}", "s[n+1] == s[n]*{c}"]),
    ("x**50 <= {c}", ["x >= {c}"]),
    ("x/({c}) <= abs(x)", []),
]


@pytest.mark.parametrize("constant", HUGE, ids=lambda text: f"{text[:6]}, {len(text)} characters")
@pytest.mark.long
def test_huge_constants_are_settled_or_refused(constant):
    refused = []
    for claim, assume in ASKED:
        try:
            asked = conjecture(claim.format(c=constant), [text.format(c=constant) for text in assume])
            verdict = check(asked, time_limit=1)
        except ProofError as error:
            refused.append(str(error))
            continue
        verify(verdict, asked)
        for shown in (verdict.summary(), verdict.to_latex()):
            assert shown
        verify(Verdict.from_json(verdict.to_json()), asked)
    assert all("bits" in told or "made of numbers" in told for told in refused)
    assert len(refused) < len(ASKED) or len(constant) > 4_000


def test_a_huge_constant_in_a_moment():
    assert check(conjecture("x >= 1e308", ["x >= 1e308 + 1"])).status == Status.PROVED
    with pytest.raises(ProofError, match="take a letter"):
        conjecture("x >= " + "9" * 4_200)
    verdict = check(conjecture("x**50 <= 0", ["x >= " + "9" * 400]))
    assert verdict.status == Status.REFUTED
    assert "would be about -10**20000 >= 0" in verdict.summary()
