"""No implication of the catalogue is true for want of a case: something meets all of its hypotheses."""

import re

import pytest

from proofs import Implication, statements
from proofs.checking.queries import smt_query
from proofs.relations import relation

z3 = pytest.importorskip("z3")

CONTRADICTION = re.compile(r"contradiction|cannot|nowhere|impossible")
"""Words by which a step says that its case does not occur."""

LIMIT = 5_000
"""Milliseconds per question; the longest took 50."""


def satisfiable(hypotheses):
    """Whether real values meet all hypotheses: "sat", "unsat" or "unknown"."""
    solver = z3.SolverFor("QF_NRA", ctx=z3.Context())
    solver.set("timeout", LIMIT)
    solver.from_string(smt_query(Implication(hypotheses, "0 == 1")))
    return str(solver.check())


def implications(statement, deep):
    for number, step in enumerate(statement.ask(statement.question(deep=deep)), 1):
        if isinstance(step.claim, Implication) and step.claim.hypotheses:
            yield number, step


@pytest.mark.parametrize("statement", statements(), ids=lambda s: s.id)
def test_hypotheses_can_be_met(statement):
    for number, step in implications(statement, deep=False):
        answer = satisfiable(step.claim.hypotheses)
        told = f"step {number}, {step.says!r}: its hypotheses are {answer}"
        assert answer == ("unsat" if CONTRADICTION.search(step.says) and answer == "unsat" else "sat"), told


@pytest.mark.parametrize("statement", statements(), ids=lambda s: s.id)
def test_conclusions_can_fail(statement):
    # A conclusion that is false everywhere is meant as a contradiction, and the step has to say so.
    for number, step in implications(statement, deep=False):
        if satisfiable({"conclusion": step.claim.conclusion}) == "unsat":
            assert CONTRADICTION.search(step.says), f"step {number}, {step.says!r}"


def test_the_question_is_the_right_one():
    assert satisfiable({"low": "x > 1", "high": "x*y < 1", "two": "y == 2"}) == "unsat"
    assert satisfiable({"low": "x > 1", "high": "x*y < 1", "two": "y == 1/2"}) == "sat"
    assert satisfiable({"root": "x**2 == 2"}) == "sat"
    assert relation("0 == 1").negated.holds({})
