"""For which parameters: known thresholds, and the claim itself on both sides of every end."""

import random
from fractions import Fraction

import pytest
import sympy

from fairness import (
    DRF,
    AssetFair,
    BottleneckMax,
    MaxMin,
    ModelError,
    NotConvergedError,
    ProportionalFair,
    allocate,
)
from fairness.properties.definitions.sharing_incentive import SharingIncentive
from proofs import ProofError
from proofs.symbolic import (
    SymbolicProblem,
    SymbolicSystem,
    closed_form,
    drift_negative,
    full,
    gains,
    same,
    sharing_incentive,
    stable,
    synthesise,
    where,
)

TWO = SymbolicProblem([[1, "a"], ["b", 1]], [1, 1], assume=["0 < a < 1", "0 < b < 1"])
TALK = SymbolicProblem([[10, 1], [1, 10]], [1, 1])


RELATIONS = [
    "a**2 < 2 or a == 3",
    "(a - 1)**2*(a - 2) >= 0",
    "a**3 - 2*a + 0.5 > 0",
    "not (1 < a <= 5/2) and a != 0",
    "a**5 - a - 1 <= 0",
    "(2*a - 1)*(3*a - 2)*(a + 1) < 0 or a**2 == 4",
]


@pytest.mark.parametrize("text", RELATIONS)
def test_one_letter_on_both_sides_of_every_end(text):
    found = where(text)
    assert found.evidence == "proved by sign tables"
    ends = {e for one in found.intervals for e in (one.low, one.high) if e is not None}
    near = {Fraction(k, 16) for k in range(-60, 60)}
    for end in ends:
        exact = Fraction(int(end.p), int(end.q)) if end.is_Rational else Fraction(str(end.evalf(40)))
        near |= {exact + side * Fraction(1, 10**9) for side in (-1, 1)} | (
            {exact} if end.is_Rational else set()
        )
    right = text.replace("0.5", "Fraction(1, 2)").replace("5/2", "Fraction(5, 2)")
    for value in near:
        assert found.contains({"a": value}) == eval(right, {"Fraction": Fraction}, {"a": value}), value
    assert ends


def test_algebraic_ends_belong_or_do_not():
    found = where("a**2 <= 2 and a**3 > -2")
    (one,) = found.intervals
    assert (str(one.low), one.high) == ("CRootOf(a**3 + 2, 0)", sympy.sqrt(2))
    assert (one.low_in, one.high_in) == (False, True)
    assert found.contains({"a": sympy.sqrt(2)})
    assert not where("a**2 < 2").contains({"a": sympy.sqrt(2)})
    assert where("a**2 == 2").to_latex() == r"a = - \sqrt{2} \text{ or } a = \sqrt{2}"


SEVERAL = [
    "a*b <= 1 and a > b",
    "a < b or b**2 < a and not a == 2*b",
    "(a*b > 1/4 or a + b < 1) and (a - b)**2 > 1/16",
    "x/a <= 1 and x + b > 0",
]


@pytest.mark.parametrize("text", SEVERAL)
def test_several_letters_at_random_points(text):
    """Exactly: the claim as Python reads it. Nothing is random but the choice of points."""
    found, rng = where(text), random.Random(3)
    assert found.evidence == "proved by z3 and cvc5"
    names, seen = [letter.name for letter in found.letters], set()
    for _ in range(150):
        point = {name: Fraction(rng.randint(-8, 8), 4) for name in names}
        try:
            right = eval(text.replace("1/4", "0.25").replace("1/16", "0.0625"), {}, point)
        except ZeroDivisionError:
            right = False
        seen.add(right)
        assert found.contains(point) == right, point
    assert seen == {False, True}


@pytest.mark.long
def test_proportional_fairness_is_bottleneck_max_fairness_for_two_classes():
    problem = SymbolicProblem([["p", "q"], ["r", "s"]], [1, 1], assume=["p > 0", "q > 0", "r > 0", "s > 0"])
    forms = [closed_form(problem, policy) for policy in (ProportionalFair(), BottleneckMax())]
    found = where(same(*forms))
    assert found.everywhere
    assert found.evidence == "proved by z3 and cvc5"
    assert where(~same(*forms)).nowhere


@pytest.mark.long
def test_where_policies_agree_at_numbers():
    forms = [closed_form(TWO, policy) for policy in (DRF(), ProportionalFair())]
    found = where(same(*forms))
    assert found.said() == ["a = b"]
    for a, b in [("1/2", "1/2"), ("1/2", "1/3"), ("1/4", "3/4")]:
        pool, _ = TWO.at({"a": a, "b": b})
        tasks = [allocate(pool, policy).tasks for policy in (DRF(), ProportionalFair())]
        assert found.contains({"a": a, "b": b}) == (abs(tasks[0] - tasks[1]).max() < 1e-9)


@pytest.mark.long
def test_asset_fairness_fails_the_sharing_incentive_but_at_one_demand():
    pool = SymbolicProblem([["a", 3], [1, 1]], [30, 30], assume="a > 0")
    found = where(sharing_incentive(pool, AssetFair()))
    assert found.said() == ["a = 3"]
    assert where(sharing_incentive(pool, DRF())).everywhere
    for a in ("1", "29/10", "3", "31/10", "9"):
        numbers, _ = pool.at({"a": a})
        violated = SharingIncentive().of(AssetFair(), numbers).violation > 1e-9
        assert found.contains({"a": a}) != violated


def test_the_counterexample_of_asset_fairness_has_a_threshold():
    """Demands (2, 2), (1, d) in (70, 70): class 1 loses unless class 2 needs as much of both."""
    pool = SymbolicProblem([[2, 2], [1, "d"]], [70, 70], assume="d > 0")
    found = where(sharing_incentive(pool, AssetFair()))
    assert found.contains({"d": 1})
    assert not found.contains({"d": 2})
    numbers, _ = pool.at({"d": 2})
    assert allocate(numbers, AssetFair()).tasks == pytest.approx([15, 20])


@pytest.mark.long
def test_lies_that_pay_under_competitive_equilibrium():
    """(16, 1) and (1, 2) in (100, 100): claiming (16, 8) gives 25/6 instead of 100/31."""
    pool = SymbolicProblem([[16, 1], [1, 2]], [100, 100])
    found = where(gains(pool, ProportionalFair(), 0, [16, "c"]))
    (one,) = found.intervals
    assert one.low == 1
    assert found.contains({"c": 8})
    for end in (one.low, one.high):
        for side in (-1, 1):
            c = Fraction(int(end.p), int(end.q)) + Fraction(side, 1000)
            truth = closed_form(pool, ProportionalFair()).at({})[0][0]
            lied = closed_form(SymbolicProblem([[16, c], [1, 2]], [100, 100]), ProportionalFair()).at({})[0][
                0
            ]
            assert found.contains({"c": c}) == (lied > truth and lied * c > truth)
    assert where(gains(pool, DRF(), 0, [16, "c"])).nowhere


def test_stability_ends_at_the_corner_of_the_region():
    def talk(*rates):
        return SymbolicSystem([[10, 1], [1, 10]], [1, 1], rates, assume=["r > 0", "v > 0"])

    assert synthesise(stable(talk("r", "r"), DRF()), "r", at={"v": 1}) == sympy.Rational(1, 11)
    assert synthesise(stable(talk("r", 0.02), MaxMin()), "r", at={"v": 1}) == sympy.Rational(98, 1000)
    # 3:1 as in the talk: 10*3r + r < 1.
    assert synthesise(stable(talk("3*r", "r"), ProportionalFair()), "r", at={"v": 1}) == sympy.Rational(1, 31)
    region = where(stable(talk("r", "v"), DRF()))
    (cell,) = region.said()
    assert set(cell.split(" and ")) == {"10*r + v < 1", "r + 10*v < 1"}
    with pytest.raises(ProofError, match="no theorem"):
        stable(talk("r", "r"), BottleneckMax())


@pytest.mark.long
def test_both_resources_are_full_under_proportional_fairness():
    """Resource 1 iff sum a_i1/a_i2 >= n: 1/a + b >= 2."""
    form = closed_form(TWO, ProportionalFair())
    found = where(full(form, "resource 1"))
    rng = random.Random(1)
    for _ in range(60):
        a, b = (Fraction(rng.randint(1, 19), 20) for _ in range(2))
        assert found.contains({"a": a, "b": b}) == (1 / a + b >= 2)
    assert where(full(form, 0) & full(form, 1)).contains({"a": "1/2", "b": "1/2"})


def test_drift_of_a_function():
    """DRF pushes one class up off the diagonal: x2**2 falls where the drift of class 2 is negative."""
    rate = Fraction(9, 11)
    system = SymbolicSystem([[1, "1/10"], ["1/10", 1]], [1, 1], rate)
    found = where(drift_negative(system, DRF(), "x2**2"))
    rng = random.Random(2)
    for _ in range(60):
        x, y = (Fraction(rng.randint(1, 40), rng.randint(1, 4)) for _ in range(2))
        phi = y / max(x + y / 10, x / 10 + y)
        assert found.contains({"x1": x, "x2": y}) == (rate - phi < 0)


def test_thresholds_and_what_has_none():
    assert synthesise("a**2 < 2", "a") == sympy.sqrt(2)
    assert synthesise("a**2 < 2", "a", largest=False) == -sympy.sqrt(2)
    assert synthesise("a < b", "a", at={"b": 0.1}) == sympy.Rational(1, 10)
    assert synthesise("0 < a < 1 or a > 2", "a", containing="1/2") == 1
    for claim, told in [("a > 1", "for all large a"), ("a**2 < 0", "no threshold")]:
        with pytest.raises(ProofError, match=told):
            synthesise(claim, "a")
    with pytest.raises(ProofError, match="does not hold at a = 3"):
        synthesise("a < 1", "a", containing=3)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: where("a = 1"), "write == where"),
        (lambda: where("a +"), "is no relation"),
        (lambda: where(3), "made by same"),
        (lambda: where("a < b", "a"), "leaves out the letter 'b'"),
        (lambda: where("a < b", at={"c": 1}), "names 'c'"),
        (lambda: where("a < 1", assume=["a > 0", "a < 0"]), "contradicts itself"),
        (lambda: where("a < b", assume=["a > 0", "a < 0"]), "contradicts itself"),
        (lambda: where("a < b", assume="a > 0", at={"a": -1}), "does not meet the assumption a > 0"),
        (lambda: where("a < 1").contains({"b": 1}), "names 'b'; the letters are a"),
        (lambda: where("a < b").contains({"b": 1}), "lacks the letter 'a'; give all of a, b"),
        (lambda: where("a < 1").contains({"a": "c"}), "a = c is no number"),
        (lambda: where("a < b*c").plot(), "one or two letters"),
        (lambda: gains(TALK, DRF(), "class 9", [1, 1]), "must be one of class 1, class 2"),
        (lambda: gains(TALK, DRF(), 0, [1]), "a claimed demand of each of 2"),
        (lambda: stable(TALK, DRF()), "must be a SymbolicSystem"),
    ],
)
def test_what_is_wrong_is_told(call, told):
    with pytest.raises(ModelError) as error:
        call()
    assert told in str(error.value)


@pytest.mark.long
def test_roots_are_refused_with_the_remedy():
    problem = SymbolicProblem([[4, 1], [2, 1], [1, "a"]], [1, 1], assume="3 < a < 5")
    form = closed_form(problem, ProportionalFair())
    with pytest.raises(ProofError, match="hold roots"):
        same(form, closed_form(problem, DRF()))


@pytest.mark.long
def test_pictures_show_where_it_holds():
    ax = where("a**2 <= 2 or a == 3").plot()
    ends = [line.get_xdata()[0] for line in ax.lines if len(line.get_xdata()) == 1]
    assert sorted(ends) == pytest.approx([-(2**0.5), 2**0.5, 3, 3])
    ax = where("a*b <= 1", assume=["a > 0", "b > 0"]).plot()
    assert ax.get_xlabel() == "a"
    assert len(ax.patches) == len(ax.lines) == 1


def test_assumptions_do_not_divide_by_zero():
    found = where("a < 5", assume="1/a <= 1")
    assert found.said() == ["a < 0", "1 <= a < 5"]
    assert not found.contains({"a": 0})
    with pytest.raises(ModelError, match=r"a = 0 does not meet the assumption Ne\(a, 0\)"):
        where("a < b", assume="1/a <= 1", at={"a": 0})


def test_where_ends_with_its_time_limit():
    with pytest.raises(NotConvergedError, match="the answer is not known; raise time_limit"):
        where("a*b*c > a**4 + b**4 - c**4 and a*b > c", time_limit=1e-6)
