"""Relations as people write them: cases say at every point what was written, each with its certificate."""

import random
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest

from proofs import EvidenceError, Implication, ProofError, Status, Step, check, verify
from proofs.claims.splitting import split
from proofs.language.polynomials import polynomial
from proofs.language.relations import relation
from tests.proofs.catalogue.statements import own

NAMES = ("x", "y", "z")
VALUES = [Fraction(v) for v in (-2, -1, 0, 1, 2, "1/2")]


def written(rng, depth):
    """A random expression."""
    if depth == 0:
        return rng.choice([*NAMES, str(rng.randint(-2, 2))])
    a, b = (written(rng, rng.randint(0, depth - 1)) for _ in range(2))
    shape = rng.choice(
        [
            "{a} + {b}",
            "{a} - {b}",
            "{a}*{b}",
            "{a}/{b}",
            "min({a}, {b})",
            "max({a}, {b})",
            "abs({a})",
            "{a}**2",
        ]
    )
    return f"({shape.format(a=a, b=b)})"


def compared(rng):
    sides = [written(rng, rng.randint(0, 2)) for _ in range(rng.choice([2, 2, 3]))]
    signs = [f" {rng.choice(['<=', '<', '>=', '>', '==', '!='])} " for _ in sides[1:]]
    return sides[0] + "".join(sign + side for sign, side in zip(signs, sides[1:], strict=True))


def meant(text, point):
    """Whether a relation holds as Python reads it; what divides by 0 does not."""
    try:
        return eval(text, {"min": min, "max": max, "abs": abs}, point)
    except ZeroDivisionError:
        return False


@pytest.mark.parametrize("number", [30, pytest.param(200, marks=pytest.mark.long)])
def test_cases_say_at_every_point_what_was_written(number):
    rng, several, divided = random.Random(5), 0, 0
    for _ in range(number):
        hypotheses = {f"h{k}": compared(rng) for k in range(rng.randint(0, 2))}
        conclusion = compared(rng)
        try:
            cases = [
                (list(case.relations.values()), relation(case.conclusion))
                for _, case in split(Implication(hypotheses, conclusion))
            ]
        except ProofError as error:
            assert "divides by" in str(error) or "more than 64 cases" in str(error)  # noqa: PT017
            continue
        several += len(cases) > 1
        for values in rng.sample(list(product(VALUES, repeat=3)), 25):
            point = dict(zip(NAMES, values, strict=True))
            divided += any("/" in text for text in (*hypotheses.values(), conclusion))
            right = not all(meant(h, point) for h in hypotheses.values()) or meant(conclusion, point)
            found = all(then.holds(point) or not all(r.holds(point) for r in given) for given, then in cases)
            assert found == right, (hypotheses, conclusion, point)
    assert several > number / 4
    assert divided > 5 * number


def answer(hypotheses, conclusion):
    asked = own(Implication(hypotheses, conclusion))
    verdict = check(asked)
    verify(verdict, asked)
    return verdict


@pytest.mark.parametrize(
    ("hypotheses", "conclusion", "steps"),
    [
        ({"a": "0 < a <= 1"}, "a**2 <= a", 1),
        ({"x": "x >= 0.1"}, "10*x >= 1", 1),
        ({"x": "x > 0", "y": "y > 0"}, "2/(1/x + 1/y) <= (x + y)/2", 1),
        ({}, "min(x, y) + max(x, y) == x + y", 2),
        ({}, "abs(x + y) <= abs(x) + abs(y)", 8),
        ({"x": "abs(x - 1) <= 1/2"}, "1/2 <= x <= 1.5", 2),
        ({"x": "x != 0"}, "abs(x)/x <= 1", 2),
        ({"x": "x > 0", "y": "y > 0"}, "x*y**-1 + y*x**-1 >= 2", 1),
        ({"share": "x/a == 1"}, "x == a", 1),
        ({"low": "x >= 1"}, "max(x, 1/x) == x", 2),
    ],
)
def test_true_ones_are_proved_by_certificates(hypotheses, conclusion, steps):
    verdict = answer(hypotheses, conclusion)
    assert verdict.status == Status.PROVED, verdict
    assert verdict.kind == "general, by certificates only"
    assert len(verdict.findings) == steps


@pytest.mark.parametrize(
    ("hypotheses", "conclusion"),
    [
        ({"a": "0 <= a <= 1"}, "a/a == 1"),  # not where a = 0
        ({"fits": "x/a <= 1"}, "x <= a"),  # not where a < 0
        ({}, "abs(x) == x"),
        ({"y": "1/y <= -1"}, "max(1/(2*y + 1), 2) >= 1"),  # not where y = -1/2
        ({"low": "x >= 1/2"}, "max(x, 1/x) == x"),
        ({"x": "x > 0.1"}, "10.000000000000000000001*x >= 1.0000000000000000000002"),
    ],
)
def test_false_ones_have_a_witness(hypotheses, conclusion):
    verdict = answer(hypotheses, conclusion)
    assert verdict.status == Status.REFUTED
    point = {name: Fraction(v) for name, v in verdict.witness["values"].items()}
    assert all(meant(text, point) for text in hypotheses.values() if "0.1" not in text)
    if "." not in conclusion:
        assert not meant(conclusion, point)


def test_cases_that_never_occur_are_told_and_all_of_them_prove_nothing():
    verdict = answer({"x": "x + y >= 1", "y": "y <= 0"}, "abs(x) >= 1")
    assert verdict.status == Status.PROVED
    assert [f.reason.endswith("this case never occurs") for f in verdict.findings] == [False, True]
    asked = own(Implication({"x": "x + y >= 1", "y": "y <= 0", "less": "x <= 0"}, "abs(x + z) >= 1"))
    verdict = check(asked)
    verify(verdict, asked)
    assert verdict.status == Status.UNKNOWN
    assert verdict.reason in str(verdict)
    assert "no case of step 1 is known to occur" in verdict.reason
    with pytest.raises(EvidenceError, match="do not make the statement PROVED"):
        verify(replace(verdict, status=Status.PROVED, kind="general, by certificates only"), asked)


def test_that_a_case_never_occurs_is_checked():
    """Not where it does, and not of an implication without cases."""
    asked = own(Implication({"x": "x + y >= 1"}, "abs(x) >= x"))
    verdict = check(asked)
    bent = replace(verdict.findings[0], evidence=verdict.findings[0].evidence | {"met": "never"})
    with pytest.raises(EvidenceError, match="z3 answers sat"):
        verify(replace(verdict, findings=(bent, *verdict.findings[1:])), asked)
    alone = own(Implication({"x": "x >= 1"}, "x >= 0"))
    verdict = check(alone)
    bent = replace(verdict.findings[0], evidence=verdict.findings[0].evidence | {"met": "never"})
    with pytest.raises(EvidenceError, match="only one of several cases"):
        verify(replace(verdict, findings=(bent,)), alone)


def test_a_case_does_not_stand_alone():
    vacuous = own(Implication({"high": "x > 1", "low": "x < 0"}, "x**3 == 7", case=(2, 2)))
    with pytest.raises(ProofError, match=r"case \(2, 2\) stands alone"):
        check(vacuous)
    # The first case contradicts itself; the second concludes something else.
    pair = [
        Implication({"high": "x > 1", "low": "x < 0"}, "x**3 == 7", case=(1, 2)),
        Implication({}, "x**2 >= 0", case=(2, 2)),
    ]
    with pytest.raises(ProofError, match=r"case \(1, 2\) stands alone"):
        check(replace(vacuous, steps=lambda question: [Step("a case", claim, states=True) for claim in pair]))
    with pytest.raises(ProofError, match="no case is left"):
        split(Implication({"x": "x < y", "y": "y < z", "z": "z < x"}, "max(x, y, z) >= x"))


def test_hints_reach_every_relation_of_a_chain():
    ((_, claim),) = split(Implication({"x": "0 < x < 1"}, "x > x**2", hints=((("x", "x"), "1"),)))
    assert (("x (1)", "x (2)"), "1") in claim.hints


def test_plain_implications_stay_as_they_are():
    claim = Implication({"x": "x >= 1/2*y", "y": "3*y**2 > (x - 1)"}, "x*y <= 2")
    assert split(claim) == [("", claim)]
    assert split(claim)[0][1] is claim


def test_decimals_are_read_as_they_are_written():
    assert polynomial("0.1*x + .25 - 1e-3*y") == polynomial("x/10 + 1/4 - y/1000")
    digits = "0.12345678901234567890123456789"
    assert polynomial(f"(x\n - {digits})").at({"x": Fraction(digits)}) == 0


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("log(x) <= 1", "state the tangents"),
        ("sqrt(x) <= 1", "variable for the root"),
        ("x**0.5 <= 1", "powers are whole numbers"),
        ("x**y <= 1", "powers are whole numbers"),
        ("sin(x) <= 1", "relations hold"),
        ("min(x) <= 1", "min takes two values or more"),
        ("x = 1", "write == where both sides are equal"),
        ("x + 1", "write one of"),
        ("x in y", "write one of"),
        ("x/(y - y) <= 1", "divides by y - y, which is 0"),
        ("(x <= 1", "never closed"),
        ("1e99999*x <= 1", "as a fraction"),
        ("x*y <= 1 # and more", "holds a comment"),
    ],
)
def test_what_cannot_be_read_says_what_to_write(text, told):
    with pytest.raises(ProofError) as error:
        check(own(Implication({"x": "0 <= x <= 1", "bad": text}, "x >= 0")))
    assert told in str(error.value)


def test_more_cases_than_anybody_reads_are_refused():
    many = " + ".join(f"abs(x{k})" for k in range(7))
    with pytest.raises(ProofError, match="more than 64 cases"):
        split(Implication({}, f"{many} >= 0"))
