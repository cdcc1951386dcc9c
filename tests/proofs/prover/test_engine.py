"""The engine: what is proved is true, what is refuted has a witness, and evidence cannot be bent."""

import itertools
import json
import random
import sys
import time
from dataclasses import replace
from fractions import Fraction

import pytest

from proofs import (
    Computation,
    Counterexample,
    Enumeration,
    EvidenceError,
    Implication,
    InWords,
    ProofError,
    Search,
    Size,
    Status,
    Step,
    Verdict,
    check,
    statements,
    verify,
)
from proofs.checking import verify_finding
from proofs.checking.queries import smt_query
from proofs.checking.refutations import check_refutation
from proofs.definitions import define, define_again, fraction, plain
from proofs.language.polynomials import polynomial
from proofs.language.relations import relation
from proofs.prover import combinations
from proofs.prover.combinations import find_refutation
from tests.proofs.catalogue.statements import own
from tests.proofs.checking.tampering import changed, numbers_in


def answer(*claims, **options):
    asked = own(*claims)
    verdict = check(asked, **options)
    verify(verdict, asked)
    return verdict


TRUE = [
    ({"a": "0 < a", "fits": "x*a <= 1"}, "x*a <= 2"),
    ({}, "x**2 + y**2 >= 2*x*y"),
    ({"low": "x >= 1", "high": "x <= 1"}, "x == 1"),
    ({"x": "x > 0", "y": "y > 0", "product": "x*y == 1"}, "x + y >= 2"),
    ({"a": "a > 0", "b": "b > 0", "c": "c > 0"}, "a**3 + b**3 + c**3 >= 3*a*b*c"),
    ({"one": "x + y <= 2", "two": "x - y <= 0", "three": "y - 2*x <= -1"}, "x >= 2/3"),
    ({"no": "x != 0"}, "x**2 > 0"),
    ({"never": "x < 0", "always": "x >= 0"}, "0 == 1"),
]
VACUOUS = [
    ({"one": "x + y <= 1", "two": "x - y <= 0", "three": "y - 2*x <= -1"}, "x >= 2/3"),
    ({"never": "x < 0", "always": "x >= 0"}, "y == 7"),
    ({"never": "x < 0", "always": "x >= 0"}, "x == 7"),
    ({"square": "x**2 < 0"}, "x == 1"),
    ({"never": "x**2 + y**2 == -1"}, "x*y == 1"),
]
FALSE = [
    ({"fits": "x*a <= 1"}, "x <= 2"),
    ({"x": "x >= 0"}, "x > 0"),
    ({"one": "x + y <= 1", "two": "x - y <= 0"}, "x >= 2/3"),
    ({"square": "x**2 == 4"}, "x == 2"),
    ({}, "x != 3"),
]


@pytest.mark.parametrize(("hypotheses", "conclusion"), TRUE)
def test_true_implications_are_proved(hypotheses, conclusion):
    assert answer(Implication(hypotheses, conclusion)).status == Status.PROVED


@pytest.mark.parametrize(("hypotheses", "conclusion"), VACUOUS)
def test_from_a_contradiction_nothing_is_proved(hypotheses, conclusion):
    verdict = answer(Implication(hypotheses, conclusion))
    assert verdict.status == Status.UNKNOWN
    assert "contradict each other" in verdict.reason
    assert answer(Implication(hypotheses, "0 == 1")).status == Status.PROVED


def test_what_only_irrational_values_meet_is_not_vacuous():
    verdict = answer(Implication({"root": "x**2 == 2"}, "x**4 == 4"))
    assert verdict.status == Status.PROVED
    assert verdict.reason.endswith("by z3 the hypotheses can be met")


def test_without_hypotheses_none_can_fail_to_be_met():
    verdict = answer(Implication({}, "0 <= 1"))
    assert verdict.status == Status.PROVED
    assert "say nothing" not in verdict.reason


@pytest.mark.parametrize(("hypotheses", "conclusion"), FALSE)
def test_false_implications_have_a_witness(hypotheses, conclusion):
    verdict = answer(Implication(hypotheses, conclusion))
    assert verdict.status == Status.REFUTED
    values = {name: Fraction(v) for name, v in verdict.witness["values"].items()}
    assert all(relation(h).holds(values) for h in hypotheses.values())
    assert not relation(conclusion).holds(values)


def test_a_witness_that_is_no_fraction_is_unknown_with_its_reason():
    verdict = answer(Implication({"root": "x**2 == 2"}, "x < 0"))
    assert verdict.status == Status.UNKNOWN
    assert "rational" in verdict.reason


@pytest.mark.long
def test_random_linear_systems_agree_with_exhaustive_search():
    rng = random.Random(1)
    for _ in range(30):
        rows = [[rng.randint(-2, 2) for _ in range(3)] for _ in range(3)]
        texts = [f"{a}*x + {b}*y <= {c}" for a, b, c in rows]
        claim = Implication({"first": texts[0], "second": texts[1]}, texts[2])
        verdict = answer(claim)
        status = verdict.status
        values = [Fraction(k, 2) for k in range(-8, 9)]
        broken = any(
            all(relation(t).holds({"x": x, "y": y}) for t in texts[:2])
            and not relation(texts[2]).holds({"x": x, "y": y})
            for x, y in itertools.product(values, values)
        )
        assert status in (Status.PROVED, Status.REFUTED) or "contradict each other" in verdict.reason
        assert not (broken and status == Status.PROVED)


@pytest.mark.parametrize(("hypotheses", "conclusion"), TRUE)
def test_a_refutation_with_one_changed_number_fails(hypotheses, conclusion):
    claim = Implication(hypotheses, conclusion)
    evidence = plain(next(e for d in (1, 2) if (e := find_refutation(claim, d))))
    check_refutation(claim, evidence)
    places = [p for p in numbers_in(evidence) if p[-1] in ("coefficient", "square") or "cofactors" in p]
    # Terms of coefficient 0 do not occur, so every number matters: but a contradiction that is a multiple
    # of one single term, "0 < 0", stays one when that term is scaled.
    if len(evidence["terms"]) + len(evidence["cofactors"]) > 1:
        for place in places:
            with pytest.raises((EvidenceError, ValueError)):
                check_refutation(claim, changed(evidence, place))


def test_evidence_of_another_claim_fails():
    evidence = find_refutation(Implication({"fits": "x <= 1"}, "x <= 2"), 1)
    with pytest.raises(EvidenceError, match="do not add up"):
        check_refutation(Implication({"fits": "x <= 1"}, "x <= 1/2"), evidence)


def test_a_contradiction_needs_a_positive_term_and_known_premises():
    claim = Implication({"x": "x >= 0"}, "x > 0")
    names = {"coefficient": 1, "square": "1"}
    zero = {
        "terms": [names | {"factors": ["x"]}, names | {"factors": ["not the conclusion"]}],
        "cofactors": {},
    }
    with pytest.raises(EvidenceError, match="no term is positive"):
        check_refutation(claim, zero)
    with pytest.raises(EvidenceError, match="'y' is no hypothesis"):
        check_refutation(claim, {"terms": [names | {"factors": ["y"]}], "cofactors": {}})
    with pytest.raises(EvidenceError, match="not positive"):
        check_refutation(claim, {"terms": [names | {"factors": ["x"], "coefficient": -1}], "cofactors": {}})


def test_solver_queries_are_those_of_the_claim():
    claim = Implication({"x": "x > 1/2"}, "x**2 != 1/4")
    # Written as (- (/ 1 2)), which all solvers read.
    assert "(assert (> (+ x (/ -1 2)) 0))" not in smt_query(claim)
    assert "(check-sat)" in smt_query(claim)


@define
def squares_beyond(largest):
    for k in range(largest):
        yield {"k": k}, k**2 > k


def test_cases_are_counted_and_the_first_bad_one_is_the_witness():
    verdict = answer(Enumeration("cubes", {"largest": 10}))
    assert (verdict.status, verdict.findings[0].evidence["cases"]) == (Status.PROVED, 10)
    verdict = answer(Enumeration("squares_beyond", {"largest": 10}))
    told = {name: verdict.witness[name] for name in ("kind", "number", "case")}
    assert told == {"kind": "case", "number": 1, "case": {"k": 0}}
    verdict = answer(Search("random_squares", {"largest": 9}, number=50, seed=3))
    assert verdict.status == Status.SUPPORTED
    assert "50 random cases" in verdict.reason


def test_computations_and_counterexamples():
    assert answer(Computation("half_of", {"number": "3/2"}, "3/4")).status == Status.PROVED
    verdict = answer(Computation("half_of", {"number": "3/2"}, 1))
    assert verdict.status == Status.UNKNOWN
    assert "3/4" in verdict.reason
    assert answer(Counterexample("two_is_odd", {"number": 2})).witness["values"]["rest"] == 0
    assert answer(Counterexample("two_is_odd", {"number": 3})).status == Status.UNKNOWN
    assert answer(Enumeration("cubes", {"largest": 0})).status == Status.UNKNOWN


@define
def one_over(number):
    return 1 / fraction(number)


@define
def inverses_up_to(largest, first=1):
    for k in range(first, largest + 1):
        yield {"k": k}, 1 / fraction(k) <= 1


@define
def random_inverse(rng, least):
    k = rng.randint(least, 1)
    return {"k": k}, 1 / fraction(k) <= 1


@define
def inverse_above_one(number):
    return {"value": 1 / fraction(number), "holds": 1 / fraction(number) > 1}


@define
def tens(number):
    return number * 10


@define_again
def tens(number):  # noqa: F811 - the second definition
    return {1: 10, 2: 20}[number]


@define
def odd_ones(largest):
    for k in range(1, largest + 1, 2):
        yield {"k": k}, k % 2 == 1


@define_again(cases=lambda largest: {3: 2, 7: 4}[largest])
def odd_ones(case, largest):  # noqa: F811 - the second definition
    return {1: True, 3: True, 5: True}[case["k"]]


@define
def not_even(number):
    return {"rest": number % 2, "holds": number % 2 == 1}


@define_again
def not_even(number):  # noqa: F811 - the second definition
    if number > 2:
        raise NotImplementedError("only 2 is known to be even")
    return {"rest": 0, "holds": False}


@pytest.mark.parametrize(
    ("claim", "way", "told"),
    [
        (Computation("one_over", {"number": 0}, 1), "first", "ZeroDivisionError"),
        (Enumeration("inverses_up_to", {"largest": 3, "first": -1}), "first", "ZeroDivisionError"),
        (Enumeration("inverses_up_to", {"most": 3}), "first", "TypeError"),
        (Search("random_inverse", {"least": -1}, number=40), "first", "ZeroDivisionError"),
        (Counterexample("inverse_above_one", {"number": 0}), "first", "ZeroDivisionError"),
        (Computation("tens", {"number": 3}, 30), "second", "KeyError: 3"),
        (Enumeration("odd_ones", {"largest": 5}), "second", "KeyError: 5"),  # counts 3 and 7 only
        (Enumeration("odd_ones", {"largest": 7}), "second", "KeyError: 7"),  # judges 1, 3 and 5 only
        (Counterexample("not_even", {"number": 4}), "second", "NotImplementedError: only 2 is known"),
    ],
)
def test_a_definition_that_gives_no_answer_confirms_nothing(claim, way, told):
    verdict = answer(claim)
    assert verdict.status == Status.UNKNOWN
    assert verdict.reason.startswith(f"the {way} definition cannot be asked here ({told}")


def test_what_the_second_definition_knows_is_confirmed():
    assert answer(Computation("tens", {"number": 2}, 20)).status == Status.PROVED
    assert answer(Enumeration("odd_ones", {"largest": 3})).status == Status.PROVED
    assert answer(Counterexample("not_even", {"number": 2})).status == Status.REFUTED


@pytest.mark.parametrize(
    "claim",
    [
        Enumeration("cubes", {"largest": 10}),
        Enumeration("squares_beyond", {"largest": 10}),
        Search("random_squares", {"largest": 9}, number=50),
        Computation("half_of", {"number": "3/2"}, "3/4"),
        Counterexample("two_is_odd", {"number": 2}),
        Implication({"fits": "x*a <= 1"}, "x <= 2"),
    ],
)
def test_evidence_with_one_changed_number_fails(claim):
    asked = own(claim)
    text = check(asked).to_json()
    data = json.loads(text)
    for path in numbers_in(data["findings"][0]):
        if path[0] in ("says", "reason") or path[-1] == "kind":
            continue
        bent = json.loads(text)
        bent["findings"][0] = changed(data["findings"][0], path)
        if path == ("evidence", "values", "x"):
            continue  # another witness, as good
        with pytest.raises(EvidenceError):
            verify(Verdict.from_json(json.dumps(bent)), asked)


def test_the_weakest_step_decides():
    proved, words = Enumeration("cubes", {"largest": 3}), InWords("by induction")
    search = Search("random_squares", {"largest": 9}, number=5)
    refuted = Enumeration("squares_beyond", {"largest": 3})
    assert answer(proved, words).status == Status.UNKNOWN  # nobody has read the words
    assert answer(proved, words).in_words == 1
    assert answer(proved, search).status == Status.SUPPORTED
    assert answer(proved, search, refuted).status == Status.REFUTED
    verdict = answer(proved, search)
    with pytest.raises(EvidenceError, match="do not make"):
        verify(
            Verdict.from_json(
                verdict.to_json().replace('"status": "SUPPORTED",\n "kind"', '"status": "PROVED",\n "kind"')
            ),
            own(proved, search),
        )


def test_time_limits_give_unknown():
    verdict = check(own(Enumeration("cubes", {"largest": 10**9})), time_limit=0.05)
    assert verdict.status == Status.UNKNOWN
    assert "time limit" in verdict.reason


@pytest.mark.long
def test_time_limits_hold_for_every_step_and_inside_linear_programs():
    names = [f"x{k}" for k in range(12)]
    many = [
        Implication({n: f"{n} >= {k}" for n in names}, "x0*x1*x2*x3 >= 1", degree=3) for k in range(1, 99)
    ]
    begin = time.process_time()
    verdict = check(own(*many), time_limit=0.5)
    # One linear program may be under way when the time is over. Time of the processor, which this process
    # does not get more of when others are busy.
    assert time.process_time() - begin < 20
    assert verdict.status == Status.UNKNOWN
    assert find_refutation(many[0], 2, time.monotonic() - 1) is None
    late = check(own(*[Enumeration("cubes", {"largest": 10**9})] * 2), time_limit=0.05)
    assert "before this step" in late.findings[1].reason
    for wrong in (0, -1, float("nan")):
        with pytest.raises(ProofError, match="seconds > 0"):
            check("br-feasible", time_limit=wrong)


def test_words_alone_and_nothing_are_no_proof():
    for empty in (own(), own(InWords("obvious"))):
        with pytest.raises(ProofError, match="no step that can be checked"):
            check(empty)


def test_without_the_solver_the_answer_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "z3", None)
    claim = Implication({"root": "x**2 == 2"}, "x < 0", degree=1)
    verdict = check(own(claim))
    assert verdict.status == Status.UNKNOWN
    assert "pip install 'fairqueues[exact]'" in verdict.reason
    evidence = {"kind": "unsat", "query": smt_query(claim), "solvers": ["z3"], "met": {}}
    finding = replace(verdict.findings[0], status=Status.PROVED, evidence=evidence)
    with pytest.raises(ImportError, match="fairqueues"):
        verify_finding(claim, finding)


def test_names_cannot_add_to_a_query():
    query = smt_query(Implication({"a\n(assert false)": "x > 0"}, "x > 1"))
    assert query.count("\n(assert") == 2


def test_questions_drop_reverse_and_replace_hypotheses():
    def steps(question):
        held = question.kept({"sign 1": "x >= 1", "sign 2": "y >= 1"})
        return [Step("add", Implication(held, f"x + y >= {question.sizes['n']}"), states=True)]

    asked = own(
        steps=steps, hypotheses={"sign": "both are at least 1"}, sizes={"n": Size(2, 1, 2, "bound", deep=1)}
    )
    assert check(asked).status == Status.PROVED
    assert check(asked, deep=True).sizes == {"n": 1}
    for change in ({"drop": ["sign"]}, {"reverse": ["sign"]}, {"replace": {"sign": "x >= 1/2"}}):
        changed_verdict = check(asked, **change)
        assert changed_verdict.status == Status.REFUTED
        verify(changed_verdict, asked)
        with pytest.raises(EvidenceError):
            verify(replace(changed_verdict, dropped=(), reversed=(), replaced={}), asked)
    with pytest.raises(ProofError, match="no size 'm'"):
        check(asked, m=3)
    with pytest.raises(ProofError, match="from 1 to 2; got 3"):
        check(asked, n=3)
    with pytest.raises(ProofError, match="no hypothesis 'sing'"):
        check(asked, drop=["sing"])
    hollow = own(hypotheses={"unused": "nobody asks"})
    with pytest.raises(ProofError, match="no step of own uses the hypothesis 'unused'"):
        check(hollow, drop=["unused"])
    with pytest.raises(ProofError, match="no statement is called"):
        check("br-feasable")


def test_products_of_hypotheses_that_are_dropped_are_left_out_and_of_none_refused():
    def steps(question, products=("low * high", "not the conclusion * low | x")):
        yield Step("multiply", question.implies({"low": "x >= 1", "high": "y >= 1"}, "x*y >= 1", *products))

    asked = own(steps=steps, hypotheses={"low": "x is at least 1", "high": "y is at least 1"})
    (claim,) = (step.claim for step in asked.ask(asked.question()))
    assert claim.hints == ((("low", "high"), "1"), (("not the conclusion", "low"), "x"))
    (claim,) = (step.claim for step in asked.ask(asked.question(drop=["high"])))
    assert claim.hints == ((("not the conclusion", "low"), "x"),)
    with pytest.raises(ProofError, match=r"'lwo \* high' names 'lwo', .* its hypotheses: low, high"):
        check(replace(asked, steps=lambda question: steps(question, ["lwo * high"])))


def test_verdicts_survive_json():
    verdict = check("br-feasible")
    assert Verdict.from_json(verdict.to_json()) == verdict
    with pytest.raises(ProofError, match="not a verdict in JSON"):
        Verdict.from_json("{}")


@pytest.mark.parametrize("text", ["x +", "x/y", "x**y", "x**-1", "f(x)", "1.5j*x", "True", "x <= 1"])
def test_texts_that_are_no_polynomial(text):
    with pytest.raises(ProofError):
        polynomial(text)


def test_polynomials_by_evaluation():
    rng = random.Random(5)
    p, q = polynomial("2/3*x**2*y - y + 1/7"), polynomial("(x - y)**3 + 4")
    for _ in range(20):
        at = {"x": Fraction(rng.randint(-9, 9), rng.randint(1, 5)), "y": Fraction(rng.randint(-9, 9), 3)}
        assert (p * q - q**2 + p).at(at) == p.at(at) * q.at(at) - q.at(at) ** 2 + p.at(at)
        assert polynomial(str(p * q)) == p * q
    assert polynomial("x - x").constant == 0


@pytest.mark.parametrize("s", statements(), ids=lambda s: s.id)
def test_every_statement_says_what_it_needs(s):
    assert s.words
    assert s.latex
    assert s.source
    assert s.place
    for name in s.mutants:
        assert name.removeprefix("not ") in s.hypotheses
    assert s.scope.format(**{name: size.default for name, size in s.sizes.items()})


def test_cofactors_that_nobody_could_hold_are_not_written_down(monkeypatch):
    """Thirty variables, and products up to degree 9: fifty million monomials for each equation."""
    hypotheses = {f"e{k}": f"x{k} == y{k}" for k in range(15)}
    claim = Implication(hypotheses, "x0 <= y0", hints=((("not the conclusion",), "x0**3*y0"),))
    monkeypatch.setattr(combinations, "_monomials", lambda *given: pytest.fail("they are written down"))
    assert find_refutation(claim, 1) is None
