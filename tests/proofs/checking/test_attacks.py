"""Attacks on the checker: verdicts, evidence, statements and definitions bent on purpose. None is accepted.

Whoever changes the code of this package in memory can make it say anything; all attacks here use what the
package offers: its classes, its JSON, and definitions of one's own.
"""

import contextlib
import json
import pickle
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

import pytest

from proofs import (
    Chained,
    Computation,
    Counterexample,
    Enumeration,
    EvidenceError,
    Implication,
    InWords,
    ProofError,
    Search,
    Statement,
    Status,
    Step,
    SumSchema,
    Verdict,
    check,
    check_all,
    checks,
    conjecture,
    statements,
    verify,
)
from proofs.catalogue import statement_named
from proofs.checking import verdicts, verify_finding
from proofs.checking.queries import smt_query
from proofs.definitions import define, define_again, definition
from proofs.definitions.registry import define_on_both, second_definition
from proofs.language.polynomials import Polynomial, polynomial
from proofs.language.relations import Relation, relation
from proofs.statement import Question
from proofs.verdicts.verdict import Finding
from tests.proofs.catalogue.statements import own

REFUSED = (EvidenceError, ProofError)


def refused(verdict, statement=None):
    with pytest.raises(REFUSED):
        verify(verdict, statement)


def edited(verdict, change):
    """The verdict after its JSON was changed in place."""
    data = json.loads(verdict.to_json())
    change(data)
    return json.dumps(data)


CLAIMS = {
    "refutation": Implication({"demand": "0 < a", "fits": "x*a <= 1"}, "x*a <= 2"),
    "assignment": Implication({"fits": "x*a <= 1"}, "x <= 2"),
    "enumerated": Enumeration("cubes", {"largest": 5}),
    "case": Enumeration("cubes", {"largest": 5}),
    "computed": Computation("half_of", {"number": "3/2"}, "3/4"),
    "searched": Search("random_squares", {"largest": 5}, number=4, seed=1),
    "counterexample": Counterexample("two_is_odd", {"number": 2}),
}


# The text of a verdict that is right, edited.


def setting(*path, value):
    def change(data):
        for key in path[:-1]:
            data = data[key]
        assert data[path[-1]] != value or type(data[path[-1]]) is not type(value)
        data[path[-1]] = value

    return change


def adding(*path, value):
    def change(data):
        for key in path[:-1]:
            data = data[key]
        assert path[-1] not in data
        data[path[-1]] = value

    return change


def removing(*path):
    def change(data):
        for key in path[:-1]:
            data = data[key]
        del data[path[-1]]

    return change


def without_last_step(data):
    data["findings"].pop()


def steps_swapped(data):
    data["findings"].reverse()


def all_steps_gone(data):
    data["findings"] = []


EDITS = {
    "scope": setting("scope", value="all pools of any size"),
    "reason": setting("findings", 0, "reason", value="proved by Gauss"),
    "kind": setting("kind", value="general, with steps in words"),
    "kind gone": setting("kind", value=""),
    "words": setting("statement", "words", value="P = NP."),
    "latex": setting("statement", "latex", value="P = NP"),
    "remark": setting("statement", "remark", value="The authors agree."),
    "who says so": setting("statement", "said", value="denied by the source"),
    "source": setting("statement", "source", value="Annals of Mathematics"),
    "hypotheses": setting("statement", "hypotheses", value={}),
    "origin": setting("statement", "origin", value="of your own"),
    "another id": setting("id", value="br-pf-efficient"),
    "an unknown id": setting("id", value="fermat"),
    "status": setting("status", value="REFUTED"),
    "status of a step": setting("findings", 0, "status", value="SUPPORTED"),
    "status in words": setting("status", value="PROVED!"),
    "size": setting("sizes", "n", value=2),
    "size as text": setting("sizes", "n", value="3"),
    "size true": setting("sizes", "n", value=True),
    "negative size": setting("sizes", "n", value=-1),
    "another size": adding("sizes", "m", value=1),
    "dropped": setting("dropped", value=["scaling"]),
    "reversed": setting("reversed", value=["scaling"]),
    "replaced": setting("replaced", value={"capacity": "C == 1"}),
    "what a step says": setting("findings", 0, "says", value="Obviously."),
    "a step states": setting("findings", 0, "states", value=False),
    "claim": setting("findings", 0, "claim", "conclusion", value="-x1*a1 >= 0"),
    "hypothesis of a claim": setting("findings", 0, "claim", "hypotheses", "capacity", value="C - 1 > 0"),
    "last step gone": without_last_step,
    "steps swapped": steps_swapped,
    "all steps gone": all_steps_gone,
    "evidence gone": setting("findings", 0, "evidence", value={}),
    "no kind of evidence": setting("findings", 0, "evidence", value={"kind": "trust me"}),
    "open evidence": setting("findings", 0, "evidence", value={"kind": "open", "why": "late"}),
    "more evidence": adding("findings", 0, "evidence", "note", value="checked by Euler"),
    "no terms": setting("findings", 0, "evidence", "terms", value=[]),
    "terms gone": removing("findings", 0, "evidence", "terms"),
    "a number of terms": setting("findings", 0, "evidence", "terms", value=1),
    "terms that are none": setting("findings", 0, "evidence", "terms", value=[[]]),
    "cofactors in a list": setting("findings", 0, "evidence", "cofactors", value=[]),
    "terms as text": setting("findings", 0, "evidence", "terms", value="0 = 1"),
    "a coefficient": setting("findings", 0, "evidence", "terms", 0, "coefficient", value=5),
    "coefficient 0": setting("findings", 0, "evidence", "terms", 0, "coefficient", value=0),
    "a negative coefficient": setting("findings", 0, "evidence", "terms", 0, "coefficient", value=-1),
    "a coefficient true": setting("findings", 0, "evidence", "terms", 0, "coefficient", value=True),
    "a coefficient as a float": setting("findings", 0, "evidence", "terms", 0, "coefficient", value=1.0),
    "a coefficient 1/0": setting("findings", 0, "evidence", "terms", 0, "coefficient", value="1/0"),
    "a coefficient nan": setting("findings", 0, "evidence", "terms", 0, "coefficient", value="nan"),
    "an infinite coefficient": setting("findings", 0, "evidence", "terms", 0, "coefficient", value="inf"),
    "a square": setting("findings", 0, "evidence", "terms", 0, "square", value="x1"),
    "a square too large": setting("findings", 0, "evidence", "terms", 0, "square", value="(x1 + a1)**5000"),
    "a square of 10,000 minus signs": setting(
        "findings", 0, "evidence", "terms", 0, "square", value="-" * 10_000 + "x1"
    ),
    "an unknown factor": setting("findings", 0, "evidence", "terms", 0, "factors", value=["hope"]),
    "a cofactor": adding("findings", 0, "evidence", "cofactors", "fits", value="1"),
    "met values": setting("findings", 0, "evidence", "met", value={}),
    "met by hearsay": setting("findings", 0, "evidence", "met", value="trust me"),
    "negative seconds": setting("seconds", value=-1.0),
    "another format": setting("format", value=1),
    "another field": adding("proved_by", value="Gauss"),
}


@pytest.fixture(scope="module")
def feasible():
    """A verdict of the catalogue that is right."""
    verdict = check("br-feasible")
    verify(Verdict.from_json(verdict.to_json()))
    return verdict


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_verdict(feasible, edit):
    with pytest.raises(REFUSED):
        verify(Verdict.from_json(edited(feasible, EDITS[edit])))


@pytest.mark.parametrize("text", ["Infinity", "-Infinity", "NaN", "1e999", '"1e9999999999"'])
def test_numbers_that_are_none(feasible, text):
    data = json.loads(feasible.to_json())
    data["findings"][0]["evidence"]["terms"][0]["coefficient"] = "HERE"
    with pytest.raises(REFUSED):
        verify(Verdict.from_json(json.dumps(data).replace('"HERE"', text)))


def test_a_name_twice_in_the_json(feasible):
    text = feasible.to_json().replace('"status": "PROVED"', '"status": "REFUTED",\n "status": "PROVED"', 1)
    with pytest.raises(ProofError, match="twice"):
        Verdict.from_json(text)


def test_json_nested_without_end():
    with pytest.raises(ProofError, match="not a verdict"):
        Verdict.from_json('{"findings":' * 100_000)


def test_a_scope_that_still_promises_what_was_dropped(feasible):
    changed = check("br-feasible", drop=["capacity"])
    assert "still required: scaling" in changed.scope
    refused(replace(changed, scope=feasible.scope))
    refused(replace(feasible, scope=changed.scope))


BENT = {
    "value": ("computed", "value", "1/2"),
    "value as another type": ("computed", "value", ["3/4"]),
    "more cases": ("enumerated", "cases", 500),
    "cases true": ("enumerated", "cases", True),
    "digest of the cases": ("enumerated", "digest", "0" * 32),
    "definition": ("enumerated", "definitions", ["0" * 32]),
    "a second definition that there is not": ("enumerated", "second", "definition"),
    "a library that knows nothing of it": ("computed", "second", "library"),
    "fewer random cases": ("searched", "cases", 3),
    "another last case": ("searched", "last", {"k": 1_000}),
    "another counterexample": ("counterexample", "values", {"number": 2, "rest": 1, "holds": False}),
    "a counterexample that holds": ("counterexample", "values", {"number": 2, "rest": 0, "holds": True}),
    "a witness that is none": ("assignment", "values", {"x": 0, "a": 0}),
    "a witness of another claim": ("assignment", "values", {"y": 9}),
    "a witness without values": ("assignment", "values", {}),
    "a witness with more": ("assignment", "values", {"x": 3, "a": 0, "z": 1}),
    "a witness in floats": ("assignment", "values", {"x": 3.5, "a": 0}),
    "a witness true": ("assignment", "values", {"x": 3, "a": False}),
}


@pytest.mark.parametrize("bent", BENT)
def test_bent_evidence(bent):
    kind, name, value = BENT[bent]
    finding = check(own(CLAIMS[kind])).findings[0]
    assert finding.evidence["kind"] == kind
    verify_finding(CLAIMS[kind], finding)
    with pytest.raises(EvidenceError):
        verify_finding(CLAIMS[kind], replace(finding, evidence={**finding.evidence, name: value}))


@pytest.mark.parametrize("kind", sorted(set(CLAIMS) - {"case"}))
@pytest.mark.parametrize("status", list(Status))
def test_another_status_of_a_step(kind, status):
    finding = check(own(CLAIMS[kind])).findings[0]
    if status != finding.status:
        with pytest.raises(EvidenceError):
            verify_finding(CLAIMS[kind], replace(finding, status=status))


def test_evidence_of_a_weaker_claim():
    weaker = check(own(CLAIMS["refutation"])).findings[0]
    stronger = replace(CLAIMS["refutation"], conclusion="x*a <= 1/2")
    with pytest.raises(EvidenceError):
        verify_finding(stronger, weaker)
    claimed = check(own(stronger)).findings[0].claim
    with pytest.raises(EvidenceError):
        verify_finding(stronger, replace(weaker, claim=claimed))


def test_a_case_that_has_the_property_as_a_witness():
    claim = CLAIMS["enumerated"]
    good = check(own(claim)).findings[0]
    by = {name: good.evidence[name] for name in ("second", "definitions")}
    evidence = {"kind": "case", "number": 1, "case": {"k": 0}, **by}
    with pytest.raises(EvidenceError):
        verify_finding(claim, Finding("s", Status.REFUTED, good.claim, evidence, "case 1 lacks it", True))


def test_the_seed_of_a_search():
    asked, claim = own(CLAIMS["searched"]), CLAIMS["searched"]
    verdict = check(asked)
    refused(verdict, own(replace(claim, seed=2)))
    text = edited(verdict, setting("findings", 0, "claim", "seed", value=2))
    refused(Verdict.from_json(text), asked)


# Whose statement it is.


def test_the_same_steps_under_another_id_and_other_words(feasible):
    known = statement_named("br-feasible")
    with pytest.raises(ProofError, match="is a statement of the catalogue"):
        check(replace(known, words="P = NP."))
    refused(feasible, replace(known, words="P = NP."))
    stolen = replace(known, id="p-is-np", words="P = NP.")
    refused(feasible, stolen)
    refused(replace(feasible, id="p-is-np"), stolen)
    # What is proved of it is shown as one's own, and the verdict holds for these words only.
    verdict = check(stolen)
    assert "of your own" in verdict.summary()
    refused(verdict, replace(stolen, words="P != NP."))
    refused(replace(verdict, id="br-feasible"))


def test_a_truth_and_words():
    asked = own(Implication({}, "0 <= 1"), InWords("This follows."))
    verdict = check(asked)
    assert verdict.status == Status.UNKNOWN
    assert verdict.reason == "stated in words, which nobody has checked"
    words = replace(verdict.findings[1], status=Status.PROVED, evidence={}, reason="")
    forged = replace(
        verdict,
        status=Status.PROVED,
        kind="general, with steps in words",
        findings=(verdict.findings[0], words),
    )
    with pytest.raises(EvidenceError, match="words that nobody has read"):
        verify(forged, asked)


def test_words_of_the_catalogue_for_a_changed_statement(monkeypatch):
    # Somebody has read the step in words for the statement with all hypotheses.
    for module in (checks, verdicts):
        monkeypatch.setattr(module, "as_read", lambda statement: True)
    asked = replace(
        own(hypotheses={"low": "x is positive"}),
        steps=lambda question: [
            Step("Its square is, too.", question.implies({"low": "x > 0"}, "x**2 > 0", "low * low")),
            Step("This follows.", InWords("Read.")),
        ],
    )
    verdict = check(asked)
    assert verdict.status == Status.PROVED
    verify(verdict, asked)
    verdict = check(asked, replace={"low": "x > 0"})
    assert verdict.status == Status.UNKNOWN
    forged = [
        replace(f, status=Status.PROVED, evidence={}, reason="") if f.claim["claim"] == "InWords" else f
        for f in verdict.findings
    ]
    with pytest.raises(EvidenceError, match="words that nobody has read"):
        verify(replace(verdict, status=Status.PROVED, findings=tuple(forged)), asked)


@pytest.mark.long
def test_a_lemma_that_fails_refutes_nothing():
    for name, hypothesis in (("psdsf-sharing-incentive-two-users", "own"), ("br-duration-bound", "largest")):
        verdict = check(name, drop=[hypothesis])
        assert verdict.status == Status.UNKNOWN
        assert "this proof breaks at step" in verdict.reason
        assert verdict.witness is None
        refused(replace(verdict, status=Status.REFUTED))
        stated = [replace(f, states=True) for f in verdict.findings]
        refused(replace(verdict, status=Status.REFUTED, findings=tuple(stated)))


def test_a_hypothesis_dropped_twice_or_dropped_and_reversed():
    for change in ({"drop": ["capacity"] * 2}, {"drop": ["capacity"], "reverse": ["capacity"]}):
        with pytest.raises(ProofError, match="changed twice"):
            check("br-feasible", **change)


def test_a_hypothesis_whose_name_ends_in_a_number():
    def steps(question):
        held = question.kept({"step 2": "x >= 1", "step 2 7": "y >= 1", "other 3": "z >= 0"})
        return [Step("add", Implication(held, "x + y + z >= 2"), states=True)]

    asked = own(hypotheses={"step 2": "of the second step", "other": "of the others"}, steps=steps)
    assert check(asked).status == Status.PROVED
    for name in ("step 2", "other"):
        verdict = check(asked, drop=[name])
        assert verdict.status == Status.REFUTED
        verify(verdict, asked)


def test_a_hypothesis_that_replaces_the_negated_conclusion():
    with pytest.raises(ProofError, match="may be called"):
        Implication({"not the conclusion": "x > 5"}, "x > 3")


def test_contradictory_hypotheses():
    asked = own(Implication({"low": "x > 1", "high": "x < 0"}, "y == 7"))
    verdict = check(asked)
    assert verdict.status == Status.UNKNOWN
    assert "contradict each other" in verdict.reason
    evidence = {
        "kind": "refutation",
        "terms": [{"coefficient": 1, "factors": [name], "square": "1"} for name in ("low", "high")],
        "cofactors": {},
        "met": {},
    }
    evidence["terms"].append({"coefficient": 1, "factors": [], "square": "1"})
    finding = replace(
        verdict.findings[0], status=Status.PROVED, evidence=evidence, reason="Farkas certificate, 3 terms"
    )
    with pytest.raises(EvidenceError, match="contradict each other"):
        verify_finding(asked.steps(None)[0].claim, finding)


# Classes that are not what they seem.


class Lying(Implication):
    """Shows one conclusion and is proved with other relations."""

    @property
    def relations(self):
        return {"never": relation("0 > 1")}


class Changing(Mapping):
    """Gives other hypotheses each time that it is read."""

    def __init__(self):
        self.times = 0

    def __getitem__(self, name):
        self.times += 1
        return "x >= 1" if self.times < 3 else "x >= 100"

    def __iter__(self):
        return iter(["h"])

    def __len__(self):
        return 1


class Positive(Relation):
    """Says that it is met wherever it is asked."""

    def holds(self, values):
        return True


class Half(Fraction):
    """A fraction that equals everything."""

    def __eq__(self, other):
        return True

    __hash__ = Fraction.__hash__


class Any(str):
    """A text that equals every other."""

    __slots__ = ()

    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    __hash__ = str.__hash__


class Truthy:
    """True when asked, and no truth value."""

    def __bool__(self):
        return True


@dataclass(frozen=True, repr=False)
class Certified(Verdict):
    """A verdict that verifies itself."""

    def verify(self, statement=None):
        return None

    def summary(self):
        return "PROVED"


class Generous(Statement):
    """A statement that gives the checker other steps."""

    def ask(self, question):
        return [Step("true", Implication({}, "0 <= 1"), states=True)]


def test_an_implication_with_relations_of_its_own():
    with pytest.raises(ProofError):
        check(own(Lying({}, "x > 3")))
    finding = check(own(Implication({}, "0 <= 1"))).findings[0]
    with pytest.raises(REFUSED):
        verify_finding(Lying({}, "x > 3"), finding)


def test_hypotheses_that_change_when_they_are_read():
    claim = Implication(Changing(), "x >= 50")
    assert claim.relations == claim.relations
    assert check(own(claim)).status == Status.REFUTED


@pytest.mark.parametrize(
    "hand_made",
    [
        relation("x > 3"),
        Positive(polynomial("x"), ">"),
        Relation(polynomial("x"), "maybe"),
        Relation(Polynomial({(("x", Fraction(1, 2)),): 1}), ">"),
        Any("x > 3"),
        7,
        None,
    ],
)
def test_a_relation_made_by_hand(hand_made):
    for claim in (
        lambda: Implication({"h": hand_made}, "x > 3"),
        lambda: Implication({}, hand_made),
        lambda: Implication({hand_made: "x > 3"}, "x > 3"),
    ):
        with pytest.raises((ProofError, TypeError)):
            check(own(claim()))


def test_a_subclass_of_a_step_or_a_claim():
    class Sure(Step):
        refutes = False

    with pytest.raises(ProofError, match="no class made from them"):
        check(own(steps=lambda question: [Sure("s", Implication({}, "0 <= 1"))]))
    with pytest.raises(ProofError, match="no class made from them"):
        check(own(steps=lambda question: [Step("s", "0 <= 1")]))


def test_a_statement_with_steps_of_its_own():
    verdict = check("br-feasible")
    known = statement_named("br-feasible")
    generous = Generous(**{name: getattr(known, name) for name in known.__dataclass_fields__})
    with pytest.raises(ProofError, match="no class made from it"):
        check(generous)
    refused(verdict, generous)


def test_a_verdict_that_verifies_itself(feasible):
    values = {name: getattr(feasible, name) for name in feasible.__dataclass_fields__}
    certified = Certified(**(values | {"status": Status.REFUTED}))
    refused(certified)
    refused(pickle.loads(pickle.dumps(certified)))
    # What comes back from its JSON is a plain verdict, which does not verify.
    with pytest.raises(EvidenceError):
        verify(Verdict.from_json(certified.to_json()))


@pytest.mark.parametrize("field", ["scope", "kind", "id"])
def test_texts_that_equal_every_text(feasible, field):
    refused(replace(feasible, **{field: Any("anything")}))


def test_texts_that_equal_every_text_in_findings(feasible):
    first, *others = feasible.findings
    for changed in (
        replace(first, says=Any("Obviously.")),
        replace(first, reason=Any("by Gauss")),
        replace(first, status=Any("PROVED")),
        replace(first, claim={"claim": Any("Implication")}),
        replace(first, evidence={**first.evidence, "met": Any("z3")}),
    ):
        refused(replace(feasible, findings=(changed, *others)))


def test_fields_that_no_verdict_has(feasible):
    verdict = replace(feasible)
    object.__setattr__(verdict, "certified_by", "Gauss")
    refused(verdict)


def test_findings_in_a_list_or_of_another_class(feasible):
    refused(replace(feasible, findings=list(feasible.findings)))
    refused(replace(feasible, findings=(object(), *feasible.findings[1:])))


# Objects bent after they were made.


def bent(made, name, value):
    """The object with another value in the place of a field, a method or nothing."""
    object.__setattr__(made, name, value)
    return made


class Switching(Mapping):
    """Shows one hypothesis while it is looked at for the first time, and holds another from then on."""

    def __init__(self, shown, held):
        self.shown, self.held, self.times = shown, held, 0

    def __getitem__(self, name):
        self.times += 1
        return self.shown if self.times < 2 else self.held

    def __iter__(self):
        return iter(["h"])

    def __len__(self):
        return 1


@pytest.mark.parametrize("number", range(1, 7))
def test_no_bent_claim_answers_for_an_honest_one(number):
    """However often the hypothesis is read, a memory of answers holds none that is of another claim."""
    honest = Implication({"h": f"x >= {number}00"}, f"x >= {number}*50")
    liar = Implication({"h": "x >= 1"}, f"x >= {number}*50")
    changing = Switching(f"x >= {number}00", "x >= 1")
    changing.times = 2 - number
    bent(liar, "hypotheses", changing)
    with contextlib.suppress(ProofError, TypeError):
        check(own(liar))
    asked = own(honest)
    verdict = check(asked)
    assert verdict.status == Status.PROVED
    verify(verdict, asked)


def test_a_function_with_another_value_behind_the_same_text():
    def made(value):
        @define
        def attacked_closure(number):
            return value

    for value in (1, 2):
        made(value)
        verdict = check(own(Computation("attacked_closure", {"number": 1}, 1)))
        assert (verdict.status == Status.PROVED) == (value == 1)


CONTRADICTION = {"low": "x[i] > 1", "high": "x[i] < 0", "some": "sum[i](1) == 1"}


@pytest.mark.parametrize(
    ("claim", "name", "value"),
    [
        (
            SumSchema(CONTRADICTION, "sum[i](x[i]) >= 7", hints=((("low", "high"), "1"),)),
            "instance",
            lambda size: Implication({}, "x >= x"),
        ),
        (Implication({"h": "x > 3"}, "x > 9"), "relations_", {}),
        (Implication({"h": "x > 3"}, "x > 9"), "conclusion", relation("x > 3")),
        (Implication({"h": "x > 3"}, "x > 9"), "conclusion", Any("x > 3")),
        (Implication({"h": "x > 3"}, "x > 9"), "hypotheses", {"h": bent(relation("x > 3"), "holds", len)}),
        (Implication({"h": "x > 3"}, "x > 9"), "case", (1, Any("1"))),
        (Implication({"h": "x > 3"}, "x > 9"), "hints", 5),
        (Chained({"h": "x > 3"}, "x > 3", ()), "cites", (5,)),
        (Search("random_squares", {"largest": 5}, number=4), "number", 0),
        (Search("random_squares", {"largest": 5}, number=4), "number", True),
        (Enumeration("cubes", {"largest": 5}), "function", Any("cubes")),
        (Enumeration("cubes", {"largest": 5}), "arguments", {"largest": 5.0}),
        (InWords("This follows."), "text", Any("This follows.")),
    ],
)
def test_a_bent_claim_is_refused(claim, name, value):
    was = vars(claim).copy()
    bent(claim, name, value)
    try:
        with pytest.raises(ProofError):
            check(own(Implication({}, "0 <= 1"), claim))
    finally:
        vars(claim).clear()
        vars(claim).update(was)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("id", Any("own")),
        ("words", Any("P = NP")),
        ("scope", Any("all")),
        ("said", Any("claimed by the source")),
        ("hypotheses", {"h": Any("x > 1")}),
        ("ask", lambda question: [Step("true", Implication({}, "0 <= 1"), states=True)]),
        ("to_dict", lambda own: {}),
        ("checked_by", "Gauss"),
    ],
)
def test_a_bent_statement_is_refused(name, value):
    asked = own(Implication({}, "x**2 >= 0"), hypotheses={"h": "x > 1"})
    verdict = check(asked)
    bent(asked, name, value)
    with pytest.raises(ProofError):
        check(asked)
    refused(verdict, asked)


@pytest.mark.parametrize(("name", "value"), [("says", Any("Obviously.")), ("states", Truthy()), ("by", 1)])
def test_a_bent_step_is_refused(name, value):
    step = Step("one", Implication({}, "x**2 >= 0"), states=True)
    asked = own(steps=lambda question: [step])
    verdict = check(asked)
    bent(step, name, value)
    with pytest.raises(ProofError):
        check(asked)
    refused(verdict, asked)
    # A text that equals every other is none, on either side.
    finding = replace(verdict.findings[0], says="Nobody knows.")
    refused(replace(verdict, findings=(finding,)), asked)


class EqualSteps:
    """Steps that equal all others."""

    def __call__(self, question):
        return [Step("true", Implication({}, "0 <= 1"), states=True)]

    def __eq__(self, other):
        return True

    __hash__ = None


def test_a_bent_statement_of_the_catalogue(feasible):
    known = statement_named("br-feasible")
    for name, value in (
        ("words", "P = NP."),
        ("latex", "P = NP"),
        ("steps", lambda question: [Step("true", Implication({}, "0 <= 1"), states=True)]),
        ("steps", EqualSteps()),
    ):
        was = getattr(known, name)
        bent(known, name, value)
        try:
            for asked in ("br-feasible", known):
                with pytest.raises(ProofError, match="is a statement of the catalogue"):
                    check(asked)
            refused(feasible)
        finally:
            bent(known, name, was)
    verify(feasible)


def test_steps_that_bend_the_question():
    def steps(question):
        held = question.kept({"h": "x >= 1"})
        for name, value in (("dropped", frozenset()), ("sizes", {"n": 8}), ("names", frozenset())):
            object.__setattr__(question, name, value)
        yield Step("one", Implication(held, "x**2 >= 0"), states=True)

    asked = own(hypotheses={"h": "x is large"}, steps=steps)
    verdict = check(asked, drop=["h"])
    assert verdict.scope == "without: x is large; still required: nothing"
    verify(verdict, asked)


def test_two_conjectures_with_the_default_id():
    asked = [conjecture("x**2 >= 0"), conjecture("y**2 + 1 >= 1"), conjecture("y**2 + 1 >= 1", ["y >= 0"])]
    report = check_all(asked)
    report.verify(*asked)
    with pytest.raises(EvidenceError):
        report.verify(*asked[:2])


# Definitions.


def test_overwriting_a_built_in_definition():
    was, again = definition("filled"), second_definition("filled")

    def filled(demands, capacities, rates):
        return [1]

    for module in (__name__, "proofs.definitions.pools.filling"):
        filled.__module__ = module
        with pytest.raises(ProofError, match="two functions are called 'filled'"):
            define(filled)
        with pytest.raises(ProofError):
            define_again(filled)
        with pytest.raises(ProofError, match="only definitions of the papers"):
            define_on_both(filled)
    assert definition("filled") is was
    assert second_definition("filled") is again


def test_a_second_definition_of_one_s_own_by_running_it_on_both():
    def attacked_alike(demands):
        return definition("used")(demands, [1])

    with pytest.raises(ProofError, match="define yours again"):
        define_on_both(attacked_alike)
    with pytest.raises(ProofError, match="no definition is called"):
        definition("attacked_alike")


def test_a_function_redefined_after_the_verdict():
    @define
    def attacked_moving(largest):
        for k in range(largest):
            yield {"k": k}, k**2 >= k

    asked = own(Enumeration("attacked_moving", {"largest": 4}))
    verdict = check(asked)
    verify(verdict, asked)

    @define
    def attacked_moving(largest):  # noqa: F811 - the attack
        for k in range(largest):
            yield {"k": k}, True

    with pytest.raises(EvidenceError, match="no longer the function"):
        verify(verdict, asked)


@pytest.mark.parametrize("kept", [lambda function: function, cache], ids=["plain", "cached"])
def test_a_function_whose_helper_was_redefined(monkeypatch, kept):
    monkeypatch.setitem(globals(), "attacked_helper", kept(attacked_helper))

    @define
    def attacked_indirect(number):
        return attacked_helper(number)

    asked = own(Computation("attacked_indirect", {"number": 2}, 4))
    verdict = check(asked)
    verify(verdict, asked)
    monkeypatch.setitem(globals(), "attacked_helper", kept(lambda number: 4))
    with pytest.raises(EvidenceError, match="no longer the function"):
        verify(verdict, asked)


def attacked_helper(number):
    return number**2


@pytest.mark.parametrize("answer", ["False", "True", 0, 1, None, Truthy(), [False], Fraction(1)])
def test_a_property_that_is_no_truth_value(answer):
    @define
    def attacked_truth(largest):
        for k in range(largest):
            yield {"k": k}, answer

    with pytest.raises(ProofError, match="True or False"):
        check(own(Enumeration("attacked_truth", {"largest": 3})))

    @define
    def attacked_random_truth(rng):
        return {"k": 1}, answer

    with pytest.raises(ProofError, match="True or False"):
        check(own(Search("attacked_random_truth", {}, number=3)))


@pytest.mark.parametrize(
    "values",
    [
        {"holds": False},
        {"holds": False, "shown": None},
        {"holds": False, "shown": []},
        {"holds": "False", "k": 1},
        {"holds": 0, "k": 1},
        {"k": 1},
        {},
        False,
        None,
    ],
)
def test_a_counterexample_that_shows_nothing(values):
    @define
    def attacked_nothing(number):
        return values

    with pytest.raises(ProofError, match="with values that show it"):
        check(own(Counterexample("attacked_nothing", {"number": 1})))


@pytest.mark.parametrize("number", [0, -1, True, 2.0, "3", None])
def test_a_search_over_no_cases(number):
    with pytest.raises(ProofError, match="whole number of cases from 1"):
        Search("random_squares", {"largest": 3}, number=number)


def test_an_enumeration_over_no_cases():
    asked = own(Enumeration("cubes", {"largest": 0}))
    verdict = check(asked)
    assert verdict.status == Status.UNKNOWN
    good = check(own(Enumeration("cubes", {"largest": 1}))).findings[0]
    evidence = {**good.evidence, "cases": 0}
    finding = replace(good, claim=verdict.findings[0].claim, evidence=evidence, reason="all 0 cases")
    with pytest.raises(EvidenceError):
        verify_finding(asked.steps(None)[0].claim, finding)


def test_cases_that_come_again_to_swell_their_number():
    @define
    def attacked_repeated(times):
        for _ in range(times):
            yield {"k": 1}, True

    verdict = check(own(Enumeration("attacked_repeated", {"times": 1_000})))
    assert verdict.findings[0].evidence["cases"] == 1
    assert verdict.reason == "all 1 cases"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 0.75, object(), {1, 2}, Half(3, 4), Truthy()])
def test_a_value_that_has_no_place_in_evidence(value):
    @define
    def attacked_value(number):
        return value

    with pytest.raises(ProofError):
        check(own(Computation("attacked_value", {"number": 1}, "1/2")))


def test_a_function_that_changes_its_arguments():
    @define
    def attacked_mutation(numbers):
        numbers.append(7)
        return len(numbers)

    asked = own(*[Computation("attacked_mutation", {"numbers": [1]}, 2)] * 3)
    verdict = check(asked)
    assert verdict.status == Status.PROVED
    verify(verdict, asked)


def test_two_definitions_that_disagree():
    @define
    def attacked_twice(number):
        return number * 2

    @define_again
    def attacked_twice(number):  # noqa: F811 - the second definition
        return number + number + (number == 3)

    assert check(own(Computation("attacked_twice", {"number": 2}, 4))).second_methods == {"definition": 1}
    verdict = check(own(Computation("attacked_twice", {"number": 3}, 6)))
    assert verdict.status == Status.UNKNOWN
    assert "disagree" in verdict.reason

    @define
    def attacked_judged(largest):
        for k in range(largest):
            yield {"k": k}, k < 3

    @define_again(cases=lambda largest: largest + (largest == 2))
    def attacked_judged(case, largest):  # noqa: F811 - the second definition
        return case["k"] < 4

    assert check(own(Enumeration("attacked_judged", {"largest": 3}))).status == Status.PROVED
    for largest in (2, 4):  # counted in another way, judged in another way
        verdict = check(own(Enumeration("attacked_judged", {"largest": largest})))
        assert verdict.status == Status.UNKNOWN
        assert "disagree" in verdict.reason


# Texts of mathematics.


@pytest.fixture
def without_squares(monkeypatch):
    """No certificates are sought by semidefinite programming, so that the solvers are asked."""
    from proofs.prover import implications

    monkeypatch.setattr(implications, "find_squares", lambda claim, deadline: None)


@pytest.mark.usefixtures("without_squares")
@pytest.mark.parametrize("name", ["true", "false", "distinct", "_", "ite", "let", "Real", "v_x", "ρ", "par"])
def test_variables_called_like_words_of_the_solver(name):
    # Without linear programs too (degree 0).
    asked = own(Implication({"h": f"{name} >= 1"}, f"{name}**2 >= 1", degree=0))
    verdict = check(asked)
    assert verdict.status == Status.PROVED
    assert verdict.kind == "by a solver without certificate, general"
    verify(verdict, asked)
    assert check(own(Implication({"h": f"{name}**3 >= 30"}, f"{name} >= 10", degree=0))).witness


def test_two_variables_with_one_symbol():
    # If both were one, the query would be unsatisfiable and the claim "proved".
    for one, other in (("ρ", "u03c1"), ("x", "v_x"), ("é", "e9")):
        query = smt_query(Implication({"h": f"{one} > {other}"}, "0 == 1"))
        assert query.count("declare-fun") == len(set(query.split("declare-fun ")[1:])) == 2
        assert check(own(Implication({"h": f"{one} > {other}"}, "0 == 1"))).status == Status.REFUTED


@pytest.mark.long
@pytest.mark.parametrize(
    "text",
    [
        "(x+y)**5000",
        "x**10**9",
        "2**99999999",
        "(((9**100)**100)**100)**100",
        "(x+y+z+w+v+u)**90",
        "*".join(["(x + y)"] * 200),
        "(" * 5_000 + "x" + ")" * 5_000,
        "-" * 20_000 + "x",
        "9" * 10_000,
        "1e999*x",
        "x\0",
        "x if 1 else y",
        "__import__('os')",
    ],
    ids=lambda text: text[:20].replace("\0", "0"),
)
def test_polynomials_that_nobody_can_wait_for(text):
    begin = time.process_time()
    for claim in (lambda: Implication({"h": f"{text} > 0"}, "x > 0"), lambda: Implication({}, f"{text} > 0")):
        with pytest.raises(ProofError):
            check(own(claim()))
    # Hours before; a second or two now. The limit is wide, for the machine may be busy.
    assert time.process_time() - begin < 60


@pytest.mark.usefixtures("without_squares")
def test_solvers_that_disagree():
    from proofs.checking import queries
    from proofs.prover import implications

    claim = Implication({"root": "x**2 == 2", "sign": "x > 0"}, "x < 3/2", degree=0)
    told = {"z3": "unsat", "cvc5": "sat"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(implications, "ask_if_there", lambda solver, query, limit: (told[solver], None))
        verdict = check(own(claim))
    assert verdict.status == Status.UNKNOWN
    assert verdict.reason == "the solvers disagree: z3 says unsat, cvc5 says sat"
    pytest.importorskip("cvc5")
    good = check(own(claim))
    assert good.findings[0].evidence["solvers"] == ["z3", "cvc5"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(queries, "ask_cvc5", lambda query, seconds: "sat")
        with pytest.raises(EvidenceError, match="cvc5 answers sat"):
            verify_finding(claim, good.findings[0])


@pytest.mark.usefixtures("without_squares")
def test_unsat_of_another_query():
    claim = Implication({"root": "x**2 == 2", "sign": "x > 0"}, "x < 3/2", degree=0)
    finding = check(own(claim)).findings[0]
    for name, value in (
        ("query", finding.evidence["query"].replace("v_x", "v_y")),
        ("query", "(set-logic QF_NRA)\n(assert false)\n(check-sat)\n"),
        ("solvers", []),
        ("solvers", ["oracle"]),
    ):
        with pytest.raises(EvidenceError):
            verify_finding(claim, replace(finding, evidence={**finding.evidence, name: value}))


def test_a_question_that_hides_what_was_changed():
    verdict = check("br-feasible", drop=["capacity"])
    question = Question({"n": 3}, names=frozenset({"capacity", "scaling"}))
    assert not question.changed
    refused(replace(verdict, dropped=()))
    refused(replace(verdict, dropped=("capacity", "capacity")))
    refused(replace(verdict, dropped=("scaling",)))


def test_nothing_of_this_is_in_the_catalogue():
    assert not any(s.id in ("own", "p-is-np") for s in statements())
