"""Conditions of policies: the exact allocation meets one case, others meet none; statements made of them."""

import random
from fractions import Fraction

import pytest

from fairness import DRF, AlphaFair, AssetFair, BottleneckMax, MaxMin, ModelError, ProportionalFair
from proofs import Implication, Statement, Status, check, verify
from proofs.claims.splitting import split
from proofs.symbolic import SymbolicProblem, closed_form, conditions

POLICIES = [MaxMin(), DRF(), AssetFair(), BottleneckMax(), DRF([[1, 2], [2, 1]])]


def stated(steps):
    return Statement(
        id="mine",
        source="s",
        place="p",
        words="w",
        latex="",
        hypotheses={},
        scope="all",
        steps=lambda _: steps,
    )


def meets(given, point):
    """Whether a point meets relations, cases of a maximum included."""
    pieces = [case for _, case in split(Implication(given, "0 == 1"))]
    return any(all(r.holds(point) for r in case.relations.values()) for case in pieces)


def cases_met(found, point):
    return [words for words, case in found.cases.items() if meets({**found.always, **case}, point)]


@pytest.mark.parametrize(
    "policy", POLICIES, ids=lambda p: f"{p.name}{bool(getattr(p, 'resource_weights', None))}"
)
def test_the_allocation_meets_a_case_and_no_other_point_does(policy):
    rng = random.Random(4)
    for _ in range(1):
        rows = [[rng.randint(1, 5) for _ in range(2)] for _ in range(2)]
        weights = [rng.randint(1, 2), rng.randint(1, 2)]
        pool = SymbolicProblem(rows, [rng.randint(3, 9), rng.randint(3, 9)], [1, rng.randint(1, 3)], weights)
        found = conditions(policy, pool)
        tasks = [Fraction(t) for t in closed_form(pool, policy).at({})[0]]
        right = dict(zip(found.tasks, tasks, strict=True))
        assert cases_met(found, right)
        for factors in [
            (Fraction(9, 10), 1),
            (1, Fraction(9, 10)),
            (Fraction(11, 10), Fraction(9, 10)),
            (Fraction(1, 2),) * 2,
        ]:
            other = dict(zip(found.tasks, (t * f for t, f in zip(tasks, factors, strict=True)), strict=True))
            assert not cases_met(found, other)


def test_proportional_fairness_has_its_prices():
    pool = SymbolicProblem([[1, 3], [4, 2]], [1, 1])
    found = conditions(ProportionalFair(), pool)
    point = {"x1": Fraction(1, 5), "x2": Fraction(1, 5), "p1": Fraction(1, 2), "p2": Fraction(3, 2)}
    assert cases_met(found, point) == ["resource 1 and resource 2 have prices"]
    assert not cases_met(found, point | {"p1": Fraction(1), "p2": Fraction(1)})
    alone = {"x1": Fraction(1, 6), "x2": Fraction(1, 4), "p1": 0, "p2": Fraction(2)}
    assert cases_met(conditions(ProportionalFair(), SymbolicProblem([[1, 3], [3, 2]], [1, 1])), alone) == [
        "only resource 2 has a price"
    ]


def test_zero_demands_have_no_bottleneck_and_pay_no_price():
    pool = SymbolicProblem([[1, 0], ["a", 1]], [1, 1], assume="a >= 0")
    assert not [words for words in conditions(MaxMin(), pool).cases if "class 1 at resource 2" in words]
    assert "only resource 2 has a price" not in conditions(ProportionalFair(), pool).cases
    # With a = 0 the classes do not meet: each has a resource of its own.
    assert cases_met(conditions(MaxMin(), pool), {"a": 0, "x1": Fraction(1), "x2": Fraction(1)})
    half = {"a": Fraction(1), "x1": Fraction(1, 2), "x2": Fraction(1, 2)}
    assert cases_met(conditions(MaxMin(), pool), half)


@pytest.mark.long
def test_two_policies_that_are_not_the_same_have_a_witness():
    pool = SymbolicProblem([["a", 1], [1, 1]], [1, 1], assume="a > 0")
    steps = conditions(MaxMin(), pool).same_as(conditions(AssetFair(), pool, tasks="y"))
    asked = stated(steps)
    verdict = check(asked)
    assert verdict.status == Status.REFUTED
    verify(verdict, asked)


@pytest.mark.long
def test_a_property_of_every_allocation():
    """DRF of two: each has half of some resource."""
    pool = SymbolicProblem([[1, "a"], ["a", 1]], [1, 1], assume="0 < a < 1")
    asked = stated(conditions(DRF(), pool).implies("x1 >= 1/2"))
    verdict = check(asked)
    assert verdict.status == Status.PROVED
    verify(verdict, asked)
    assert check(stated(conditions(DRF(), pool).implies("x1 >= 3/4"))).status == Status.REFUTED


@pytest.mark.long
def test_proportional_fairness_is_bottleneck_max_fairness_for_two_classes_and_resources():
    # That any demand may stand for the 2 is proved in the catalogue, from steps of its own.
    pool = SymbolicProblem([[1, "b"], [2, 1]], [1, 1], assume="b > 0")
    steps = conditions(ProportionalFair(), pool).same_as(conditions(BottleneckMax(), pool, tasks="y"))
    verdict = check(stated(steps), time_limit=600)
    assert verdict.status == Status.PROVED
    kinds = [finding.evidence["kind"] for finding in verdict.findings]
    assert len(kinds) == 24
    assert kinds.count("refutation") >= 18


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: conditions(AlphaFair(2.0), SymbolicProblem([[1]], [1])), "must be one of MaxMin"),
        (lambda: conditions(DRF(), 3), "must be a SymbolicProblem"),
        (lambda: conditions(DRF(), SymbolicProblem([["x1"]], [1], assume="x1 > 0")), "'x1' stands twice"),
        (lambda: conditions(DRF(), SymbolicProblem([[1] * 6] * 3, [1] * 6)), "more than 200"),
        (
            lambda: conditions(DRF(), SymbolicProblem([[1]], [1])).same_as(
                conditions(MaxMin(), SymbolicProblem([[1]], [1]))
            ),
            "other names",
        ),
    ],
)
def test_what_is_wrong_is_told(call, told):
    with pytest.raises(ModelError) as error:
        call()
    assert told in str(error.value)
