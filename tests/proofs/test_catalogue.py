"""The whole catalogue: evidence that another process accepts, and that cannot be bent."""

import json
import random
import re
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction

import pytest

from proofs import EvidenceError, Status, check, statements, verify
from proofs.__main__ import main
from proofs.checking import verify_finding
from proofs.statement import Said
from tests.processes import PATIENCE
from tests.proofs.tampering import changed, numbers_in

# All statements are settled once, by the worker that has all tests of this file.
pytestmark = pytest.mark.xdist_group("catalogue")

STATEMENTS = {s.id: s for s in statements()}

STRANGER = """
import json, sys
from proofs import Verdict, verify
verdicts = [Verdict.from_json(text) for text in json.load(sys.stdin)]
for verdict in verdicts:
    verify(verdict)
strange = ("fairness", "queueing", "capacity", "numpy", "scipy", "sympy", "joblib")
bad = [m for m in sys.modules if m.split(".")[0] in strange or m.startswith("proofs.prover")]
if bad:
    sys.exit(f"imported: {bad}")
print(len(verdicts))
"""

LARGEST = 200_000
"""Numerators and denominators of witnesses are smaller: a reader can check them on paper."""
COMPUTED = 10_000_000
"""Those of what is computed from a witness, such as a product of tasks."""


@pytest.fixture(scope="module")
def verdicts():
    """The answer to every statement, with the usual sizes."""
    return {name: check(name) for name in STATEMENTS}


def test_there_are_many(verdicts):
    assert len(verdicts) >= 45
    assert {v.status for v in verdicts.values()} <= set(Status)


def test_a_process_without_the_prover_accepts_all_evidence(verdicts):
    texts = json.dumps([v.to_json() for v in verdicts.values()])
    done = subprocess.run(
        [sys.executable, "-c", STRANGER], input=texts, text=True, capture_output=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == len(verdicts)


def test_what_is_unknown_has_a_reason(verdicts):
    for name, verdict in verdicts.items():
        for finding in verdict.findings:
            assert finding.status != Status.UNKNOWN or finding.reason, name
        assert verdict.status != Status.UNKNOWN or verdict.reason, name


# Who says so.


OWN = re.compile(
    r"not (in|claimed|said|what)\b|not (one )?of the paper|not the paper's|(?:of|are) (ours|our own)"
    r"|reading|(does|do) not (claim|ascribe)|our reconstruction|guess|, read (so|as)|Lemma 3.1 read without"
    r"|names no|read off|without the assumption \(46\)",
    re.IGNORECASE,
)
"""Words by which a place or a remark says that a statement is not one of the source."""
SAYS_OTHERWISE = re.compile(
    r"[Oo]ur reading|A reading only|says? so itself|Not what the paper|does not claim|do not claim|Not "
    r"claimed|The paper says the opposite|a rule of ours|our own claim|not in the (paper|source|text)"
)
"""What a remark on a claim of the source may not say."""


@pytest.mark.parametrize("statement", STATEMENTS.values(), ids=lambda s: s.id)
def test_place_and_remark_agree_with_who_says_so(statement):
    told = f"{statement.place}. {statement.remark}"
    if statement.said == Said.READER:
        assert OWN.search(told), told
    if statement.said == Said.CLAIMED:
        assert not SAYS_OTHERWISE.search(told), told
    if statement.said == Said.DENIED:
        assert re.search(
            r"[Tt]he (paper|authors) says?|[Aa]s the (authors|paper) say|say that|warns", told
        ), told


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("tdrf-claim-strategy-proof-in-time", Said.READER),
        ("tdrf-claim-strategy-proof-in-contributions", Said.READER),
        ("tdrf-claim-nobody-starves", Said.READER),
        ("tdrf-claim-sharing-incentive", Said.DENIED),
        ("drf-machines-within-one-task", Said.READER),
        ("tdrf-exchange-one-rule", Said.READER),
        ("drf-dominant-resources-swapped", Said.DENIED),
        ("tdrf-drf-is-strategy-proof", Said.DENIED),
        ("psdsf-lemma-1", Said.CLAIMED),
    ],
)
def test_who_says_what_was_told_wrongly(name, said):
    assert STATEMENTS[name].said == said


# Numbers of the evidence.


def as_good(finding, path):
    """Whether another number at this place is evidence as well."""
    evidence = finding.evidence
    if evidence["kind"] == "assignment":
        return True  # another witness
    if path[0] == "met":
        return True  # other values that meet the hypotheses
    # A multiple of a single term that is a contradiction by itself is one, too.
    return (
        evidence["kind"] == "refutation"
        and len(evidence["terms"]) == 1
        and not evidence["cofactors"]
        and path[-1] in ("coefficient", "square")
    )


@pytest.mark.parametrize("name", STATEMENTS)
def test_evidence_with_one_other_number_is_refused(verdicts, name):
    verdict, statement = verdicts[name], STATEMENTS[name]
    steps = statement.ask(statement.question(verdict.sizes))
    rng = random.Random(name)
    found = [
        (step, finding, path)
        for step, finding in zip(steps, verdict.findings, strict=True)
        for path in numbers_in(finding.evidence)
        if path[-1] != "kind" and not as_good(finding, path)
    ]
    if not found:
        pytest.skip("no number of the evidence matters")
    for step, finding, path in rng.sample(found, min(2, len(found))):
        false = replace(finding, evidence=changed(finding.evidence, path))
        # Only this step, so that those before it are not checked again each time.
        with pytest.raises(EvidenceError):
            verify_finding(step.claim, false)
        verify_finding(step.claim, finding)
        with pytest.raises(EvidenceError):
            verify_finding(step.claim, replace(finding, status=Status.UNKNOWN))


@pytest.mark.parametrize("name", STATEMENTS)
def test_another_status_is_refused(verdicts, name):
    verdict = verdicts[name]
    finding = verdict.findings[-1]
    statement = replace(STATEMENTS[name], steps=lambda question: [])
    for status in set(Status) - {finding.status}:
        if finding.claim["claim"] != "InWords":
            with pytest.raises(EvidenceError):
                verify_finding(None, replace(finding, status=status))
    with pytest.raises((EvidenceError, ValueError)):
        verify(verdict, statement)
    with pytest.raises(EvidenceError):
        verify(replace(verdict, findings=verdict.findings[:-1]))


# Witnesses.


def numbers(data):
    """All numbers in plain data, fractions included."""
    if isinstance(data, dict):
        for value in data.values():
            yield from numbers(value)
    elif isinstance(data, list):
        for value in data:
            yield from numbers(value)
    elif isinstance(data, int) and not isinstance(data, bool):
        yield Fraction(data)
    elif isinstance(data, str):
        try:
            yield Fraction(data)
        except ValueError:
            return


def test_what_is_refuted_has_a_small_witness(verdicts):
    refuted = {name: v for name, v in verdicts.items() if v.status == Status.REFUTED}
    assert refuted
    for name, verdict in refuted.items():
        witness = verdict.witness
        assert witness, name
        finding = next(f for f in verdict.findings if f.status == Status.REFUTED)
        given = [finding.claim.get("arguments", {}), {**witness, "values": {}}]
        if witness["kind"] == "assignment":
            given.append(witness["values"])
        told = list(numbers(given))
        assert told, name
        for bound, some in ((LARGEST, told), (COMPUTED, numbers(witness))):
            for number in some:
                assert max(abs(number.numerator), number.denominator) < bound, (name, number)


# The command.


def test_the_table_for_machines_is_json(capsys):
    assert main(["br-feasible", "br-mmf-scale-invariant", "--json", "--jobs", "1"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [v["status"] for v in told] == ["PROVED", "REFUTED"]


def test_the_table_for_people(capsys):
    assert main(["br-feasible", "br-product-form", "--jobs", "1", "--verify"]) == 0
    told, aside = capsys.readouterr()
    assert "2 statements: 2 PROVED" in told
    assert "1 of 4 steps in words" in told
    assert "1 with steps in words" in told
    assert "all evidence verified" in aside


def test_sizes_and_hypotheses_of_one_statement(capsys):
    assert main(["br-feasible", "--size", "n=2", "--drop", "capacity"]) == 0
    assert "br-feasible without 'capacity': REFUTED" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["br-feasable"], "no statement is called 'br-feasable'; near: br-feasible"),
        (["br-feasible", "--size", "n=99"], r"for n (jobs) from 1 to 8; got 99"),
        (["br-feasible", "--size", "k=2"], "br-feasible has no size 'k'; its sizes: n"),
        (["br-feasible", "--size", "drop=2"], "br-feasible has no size 'drop'; its sizes: n"),
        (["br-feasible", "--size", "n"], "NAME=VALUE"),
        (["--size", "n=2"], "the id of one statement"),
        (["br-feasible", "--drop", "scale"], "no hypothesis 'scale'; its hypotheses: capacity, scaling"),
        (["br-feasible", "--jobs", "0"], "number of processes"),
        (["br-feasible", "--time-limit", "0"], "seconds > 0; got 0"),
        (["br-feasible", "--time-limit", "nan"], "seconds > 0; got nan"),
    ],
)
def test_wrong_use_is_told_in_one_line(capsys, arguments, told):
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert not out
    assert told in err
    assert err.count("\n") == 1
