"""Statements of one's own at the command line, as a new user writes them, right and wrong."""

import json
import re
from ast import literal_eval
from fractions import Fraction

import pytest

from tests.fairqueues.commands.command_line import as_json, run

TOML = """
[[statement]]
id = "reciprocals"
words = "A number and its reciprocal add up to 2 at least."
letters = ["x", "y"]
assume = { first = "x > 0", second = "y > 0", product = "x*y == 1" }
claim = "x + y >= 2"

[[statement]]
claim = "max(a, b) <= a + b"

[[statement]]
claim = "a*c <= 1"
assume = ["0 <= a <= b", "b*c <= 1", "c >= 0"]
steps = ["a*c <= b*c"]
"""
PYTHON = """
from proofs import Enumeration, Statement, Step, conjecture
from proofs.definitions import define

reciprocals = conjecture("x + y >= 2", ["x > 0", "y > 0", "x*y == 1"])
roots = [conjecture("x >= 2", ["x*x >= 4"]), conjecture("x >= 1/3", ["x >= 0.5"])]


@define
def primes_of_euler(largest):
    for k in range(largest + 1):
        value = k**2 + k + 41
        yield {"k": k}, all(value % d for d in range(2, value))


euler = Statement(
    id="euler", source="my notebook", place="page 1", words="k^2 + k + 41 is prime.", latex="", hypotheses={},
    scope="k <= 40",
    steps=lambda question: [Step("All.", Enumeration("primes_of_euler", {"largest": 40}), states=True)],
)
"""


def written(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_statements_of_a_toml_file(tmp_path):
    file = written(tmp_path, "mine.toml", TOML)
    latex = tmp_path / "mine.tex"
    found = run("prove", file, "--verify", "--latex", latex, "--coq", tmp_path / "v")
    assert "2 PROVED, 1 REFUTED" in found.stdout
    assert "b = -1: here b >= 0 would be -1 >= 0" in found.stdout
    assert "all evidence: checked again without the prover: holds" in found.stdout
    assert latex.read_text(encoding="utf-8").count(r"\begin{theorem}") == 2
    assert "Theorem mine_3_2" in (tmp_path / "v" / "own.v").read_text(encoding="utf-8")
    data = as_json("prove", file)
    assert [(row["id"], row["verdict"], row["kernel"]) for row in data["results"]] == [
        ("reciprocals", "PROVED", "coq 1/1"),
        ("mine-2", "REFUTED", "coq 2/2"),
        ("mine-3", "PROVED", "coq 2/2"),
    ]


def test_statements_of_a_python_file(tmp_path):
    file = written(tmp_path, "mine.py", PYTHON)
    data = as_json("prove", file, "--verify")
    verdicts = {row["id"]: row["verdict"] for row in data["results"]}
    assert verdicts == {
        "reciprocals": "PROVED",
        "roots-1": "REFUTED",
        "roots-2": "PROVED",
        "euler": "REFUTED",
    }
    assert "\n     k: 40\n" in run("prove", file).stdout.replace("\n  ", "\n")


def test_a_hypothesis_of_one_statement_is_dropped(tmp_path):
    file = written(tmp_path, "one.toml", 'claim = "x + y >= 2"\nassume = ["x > 0", "x*y == 1"]\n')
    assert as_json("prove", file)["results"][0]["verdict"] == "PROVED"
    assert as_json("prove", file, "--drop", "x > 0")["results"][0]["verdict"] == "REFUTED"
    found = run("prove", "br-feasible", "--drop", "capacity")
    assert "REFUTED" in found.stdout
    assert "C = 0" in found.stdout
    assert "the id of one statement" in run("prove", "--drop", "x", code=2).stderr


def test_witnesses_of_the_catalogue_are_told_in_the_terminal():
    found = run("prove", "tdrf-claim-nobody-starves", "drf-table-ceei-population")
    timed = "demands: ((1, 2), (3, 1)); capacities: (9, 9); joined: (0, 1); start: 0"
    assert f"tdrf-claim-nobody-starves: {timed}; hence tasks: (9/2, 0)" in found.stdout
    told = re.search(r"drf-table-ceei-population: (.*); hence (.*)", found.stdout)
    assert told[2] == "before: (1, 5/17); after: (46/21, 5/21)"
    # The witness is complete: with its numbers anybody finds what the two users who stay have. They run one
    # over the cost of a task, and only what is full has a price.
    demands, capacities, before, after = (
        fractions(re.search(rf"(?:^|; ){name}: (\([^a-z]*\));?", told[1])[1])
        for name in ("demands", "capacities", "prices", "later prices")
    )
    for prices, users, tasks in ((before, demands, ["1", "5/17"]), (after, demands[:2], ["46/21", "5/21"])):
        found = [1 / (a * prices[0] + b * prices[1]) for a, b in users]
        assert found[:2] == list(map(Fraction, tasks))
        assert [sum(x * row[j] for x, row in zip(found, users, strict=True)) for j in (0, 1)] == capacities


def fractions(text):
    """Nested lists of the numbers of a witness."""
    return literal(re.sub(r"[\d/]+", lambda number: f"'{number[0]}'", text))


def literal(value):
    value = literal_eval(value) if isinstance(value, str) and value.startswith("(") else value
    return Fraction(value) if isinstance(value, str) else list(map(literal, value))


WRONG = {
    "text without an end": ("a.toml", 'claim = "x >= 2\n', "a.toml, line 1: no valid TOML"),
    "misspelt key": ("a.toml", 'words = "w"\nclam = "x >= 2"\n', "line 2, clam: unknown key; did you mean"),
    "no relation": ("a.toml", 'assume = ["x > 1"]\nclaim = "x + 1"\n', "line 2, claim"),
    "no relation assumed": (
        "a.toml",
        '[[statement]]\nclaim = "x >= 1"\nassume = ["y > 0",\n "x = 1"]\n',
        "line 4, statement[0].assume[1]: 'x = 1' is not a relation",
    ),
    "no relation claimed of shares": (
        "a.toml", 'assume = ["h[i] <= s"]\nclaim = "sum[i](h[i) <= 1"\n', "line 2, claim",
    ),
    "first that is no number": ("a.toml", 'first = "0"\nclaim = "s[n] >= 0"\n', "first is a whole number"),
    "first below 0": ("a.toml", 'first = -1\nclaim = "s[n] >= 0"\n', "line 1, first: got -1"),
    "claim of an induction from 3": (
        "a.toml", 'first = 3\nassume = ["s[3] >= 0"]\nclaim = "s[0] >= s[n]"\n', "line 3, claim",
    ),
    "sum over n": ("a.toml", 'claim = "sum[n](x[n]) >= 0"\n', "line 1, claim: an induction holds no sums"),
    "chain of shares": (
        "a.toml", 'assume = ["0 < h[i] <= s"]\nclaim = "sum[i](h[i]) <= 1"\n', "stands for several relations",
    ),
    "quotient of sums": ("a.toml", 'claim = "1/sum[i](x[i]) >= 0"\n', "line 1, claim"),
    "no claim": ("a.toml", 'words = "w"\n', "there is no claim"),
    "an empty file": ("a.toml", "", "there is no claim"),
    "a list as claim": ("a.toml", 'claim = ["x > 1"]\n', "claim is a relation in quotes"),
    "letter that is not declared": ("a.toml", 'letters = ["x"]\nclaim = "x*y >= 1"\n', "'y' occurs"),
    "key above the tables": ("a.toml", 'title = 3\n[[statement]]\nclaim = "x > 1"\n', "line 1, title"),
    "no table": ("a.toml", "statement = 3\n", "[[statement]]"),
    "two of one id": (
        "a.toml",
        '[[statement]]\nid = "s"\nclaim = "x > 1"\n[[statement]]\nid = "s"\nclaim = "x > 2"\n',
        "two statements are called 's'",
    ),
    "no Python": ("a.py", "x = 1\nx = (\n", "a.py, line 2: no valid Python"),
    "error of a relation": (
        "a.py", 'from proofs import conjecture\n\nx = conjecture("x")\n', "a.py, line 3: ProofError",
    ),
    "error of Python": ("a.py", "def f():\n    return 1 / 0\n\nf()\n", "a.py, line 2: ZeroDivisionError"),
    "nothing in it": ("a.py", "x = 1\n", "defines no statement; write for instance"),
    "exit": ("a.py", "import sys\nsys.exit(3)\n", "line 2: SystemExit"),
    "id of the catalogue": (
        "a.py", 'from proofs import conjecture\nx = conjecture("x >= 1", id="br-feasible")\n', "another id",
    ),
    "another suffix": ("a.txt", "x", "NAME.py or NAME.toml"),
}  # fmt: skip


@pytest.mark.parametrize("kind", WRONG)
def test_errors_of_files_are_told_in_one_line(tmp_path, kind):
    name, text, told = WRONG[kind]
    error = run("prove", written(tmp_path, name, text), code=2).stderr
    assert told in error
    assert len(error.splitlines()) == 1


def test_files_that_are_not_there_and_folders_that_cannot_be(tmp_path):
    assert "nothing.py: cannot be read" in run("prove", tmp_path / "nothing.py", code=2).stderr
    file = written(tmp_path, "a.toml", 'claim = "x*x >= 0"\n')
    assert "it is a file" in run("prove", file, "--coq", file, code=2).stderr
    assert "create it first" in run("prove", file, "--coq", tmp_path / "no" / "folder", code=2).stderr
    assert json.loads(run("prove", file, "--json").stdout)["results"][0]["verdict"] == "PROVED"
