"""One reader of relations: proofs, `where` and Python's own fractions agree on what a text says."""

import random
import re
from fractions import Fraction

import pytest

from fairness import ModelError
from proofs import ProofError, Status, check, conjecture
from proofs.symbolic import where


def truth(text, point):
    """The relation at a point in fractions; what divides by 0 does not hold."""
    exact = re.sub(r"(?<![\w*])\d+", r"Fraction(\g<0>)", text)
    try:
        return bool(eval(exact, {"Fraction": Fraction}, point))
    except ZeroDivisionError:
        return False


QUOTIENTS = [
    "a/a == 1",
    "a*b/(a*b) <= 2",
    "0/a == 0",
    "(a - 1)*(1/(a - 1)) == 1",
    "a**0 == 1",
    "(1/a)**0 == 1",
]


@pytest.mark.parametrize("text", QUOTIENTS)
def test_what_cancels_is_not_0_all_the_same(text):
    verdict, found = check(conjecture(text)), where(text)
    assert found.everywhere == (verdict.status == Status.PROVED) == (text == "a**0 == 1")
    names = {letter.name for letter in found.letters}
    for values in ((0, 1), (1, 0), (1, 1), (2, 3)):
        point = {name: value for name, value in zip("ab", values, strict=True) if name in names}
        assert found.contains(point) == truth(text, dict(zip("ab", values, strict=True)))


def test_an_assumption_that_cancels_excludes_0():
    assert where("a >= 0 or a < 0", assume="a/a == 1").said() == ["everywhere"]
    assert not where("a >= 0", assume="a/a == 1").contains({"a": 0})


def test_where_reads_min_max_and_abs_as_proofs_do():
    assert where("abs(a) <= 1").said() == ["-1 <= a <= 1"]
    assert where("max(a, 1/a) >= 2").said() == ["0 < a <= 1/2", "a >= 2"]
    with pytest.raises(ModelError, match="say which it has"):
        where("a > 0", assume="max(a, 1) >= b")
    with pytest.raises(ModelError, match="comment"):
        where("a > 0 # everywhere")


def random_side(rng, depth):
    if not depth:
        return rng.choice(["a", "a", "1", "2", "3"])
    one, other = (random_side(rng, depth - 1) for _ in range(2))
    return rng.choice(
        [f"({one} {sign} {other})" for sign in "+-*/"]
        + [f"{one}/({other} - 1)", f"min({one}, {other})", f"max({one}, {other})", f"abs({one})"]
        + [f"({one})**2", f"({one})**-1"]
    )


@pytest.mark.parametrize("seed", range(30))
def test_proofs_where_and_python_agree(seed):
    rng = random.Random(seed)
    signs = ["<=", ">=", "<", ">", "==", "!="]
    text = f"{random_side(rng, 2)} {rng.choice(signs)} {random_side(rng, 1)}"
    points = [Fraction(value) for value in ("-2", "-1", "0", "1/2", "1", "2", "3")]
    try:
        found = where(text)
    except ModelError as error:
        told = str(error)
        with pytest.raises(ProofError, match="which is 0"):
            conjecture(text)
        assert "which is 0" in told
        return
    for value in points:
        right = truth(text, {"a": value})
        assert found.contains({letter.name: value for letter in found.letters}) == right, (text, value)
        verdict = check(conjecture(text, [f"a == {value}"]))
        assert verdict.status == (Status.PROVED if right else Status.REFUTED), (text, value)
