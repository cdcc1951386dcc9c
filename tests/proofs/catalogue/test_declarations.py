"""What statements say is read from docstrings, and nothing of it is lost or guessed."""

import subprocess
import sys

import pytest

from proofs import Counterexample, InWords, ProofError, Step
from proofs.catalogue.chapter import Chapter
from proofs.catalogue.declarations import declared
from tests.processes import PATIENCE

TOLD = r"""Twice the pool suffices,
    and more than suffices.

    .. math:: x a \le 2,\ \text{which is long,}
        \ x \ge 0

    Hypotheses
        demand*: a > 0
        units, weight*
        capacity: the tasks
            fit: all of them
    Place: page 1
    Scope: all a, x
    Remark: A remark
        of two lines: with a colon.
    """


def test_all_parts_of_a_statement_are_read():
    assert declared(TOLD, {"units": "tasks are whole", "weight": "w > 0", "other": "not asked for"}) == {
        "words": "Twice the pool suffices, and more than suffices.",
        "latex": r"x a \le 2,\ \text{which is long,} \ x \ge 0",
        "hypotheses": {
            "demand": "a > 0",
            "units": "tasks are whole",
            "weight": "w > 0",
            "capacity": "the tasks fit: all of them",
        },
        "mutants": ("demand", "weight"),
        "place": "page 1",
        "scope": "all a, x",
        "remark": "A remark of two lines: with a colon.",
    }


def test_a_hypothesis_that_stands_alone_may_be_long():
    told = declared("Words.\n\n    Hypotheses\n        only*: a text\n            of two lines\n", {})
    assert told["hypotheses"] == {"only": "a text of two lines"}


@pytest.mark.parametrize(
    ("docstring", "told"),
    [
        (None, "python -OO"),
        ("Words.\n\n    Hypotheses\n        demand\n", "knows no hypothesis 'demand'"),
        ("Words.\n\n    Remarks: none\n", "no part 'Remarks'; its parts: Hypotheses, .. math:, Place"),
    ],
)
def test_what_is_missing_or_unknown_is_told(docstring, told):
    with pytest.raises(ProofError, match=told):
        declared(docstring, {})


def test_a_chapter_knows_the_hypotheses_of_its_docstring():
    told = """What this is about.

    Hypotheses
        full: a resource
            is full
        demand: demands are positive
    """
    chapter = Chapter("a source", known=told)
    assert chapter.known == {"full": "a resource is full", "demand": "demands are positive"}
    chapter.add("mine", words="w", latex="x", scope="s", hypotheses="demand, full*")(lambda question: [])
    assert chapter["mine"].hypotheses == {"demand": "demands are positive", "full": "a resource is full"}
    assert chapter["mine"].mutants == ("full",)


def test_a_chapter_adds_what_its_statements_leave_out():
    chapter = Chapter("a source", place="page 1", scope="all pools", known={"full": "a resource is full"})

    @chapter.add("mine", latex="x", hypotheses="full*, other: another one".replace(", ", "\n"))
    def _steps(question):
        """Somebody holds something.

        Scope: two users
        """
        yield Step("By definition.", InWords("Read."))

    @chapter.refute("mine too", latex="y")
    def _case():
        """Nobody does.

        Case: One user does.
        """
        return Counterexample("complaint_free_is_bmf", {})

    first, second = chapter
    assert (first.place, first.scope, first.latex, first.mutants) == ("page 1", "two users", "x", ("full",))
    assert first.hypotheses == {"full": "a resource is full", "other": "another one"}
    assert (second.scope, second.words, dict(second.hypotheses)) == ("all pools", "Nobody does.", {})
    assert [step.says for step in second.steps(None)] == ["One user does."]


@pytest.mark.long
def test_python_without_docstrings_is_told_so():
    asked = "from proofs.errors import ProofError\nimport proofs.catalogue as c\ntry:\n    c.statements()\n"
    asked += "except ProofError as error:\n    print(error)\n"
    done = subprocess.run(
        [sys.executable, "-OO", "-c", asked], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert "python -OO leaves docstrings out" in done.stdout
