"""Theorems for Coq: what their text says, and whether Coq accepts it."""

import re
import shutil
import subprocess

import pytest

from proofs.language.polynomials import polynomial
from tests.processes import PATIENCE

needs_coq = pytest.mark.skipif(
    shutil.which("coqc") is None, reason="no coqc here; on Debian: apt-get install coq"
)

CERTIFICATES = {"Implication": 1, "SumSchema": 1, "Induction": 2, "StateInduction": 3}
"""Polynomial certificates of a claim that is proved."""

TERM = re.compile(r"  assert \(T\d+ : 0 (?:<=|<) (.*?)\)$")
"""A line that states the sign of a term."""


def terms_of(text):
    """By theorem, the terms that are said to be >= 0."""
    found = {}
    for line in text.splitlines():
        if named := re.match(r"Theorem (\w+)", line):
            name = named[1]
        if term := TERM.match(line):
            found.setdefault(name, []).append(polynomial(term[1].replace("^", "**")))
    return found


def adds_up(terms):
    total = polynomial(0)
    for term in terms:
        total = total + term
    return not total.terms


def first_error(folder, name, text):
    """Number of the first line, from 0, that coqc does not accept, or None."""
    path = folder / f"{name}.v"
    path.write_text(text, encoding="utf-8")
    done = subprocess.run(
        ["coqc", path.name], cwd=folder, capture_output=True, text=True, timeout=4 * PATIENCE, check=False
    )
    if done.returncode == 0:
        return None
    assert "Error" in done.stderr, done.stderr
    return int(re.search(r"line (\d+)", done.stderr)[1]) - 1


def compiled(folder, name, text):
    """What coqc says of a file: None if it accepts it, else the line of its first error."""
    line = first_error(folder, name, text)
    return None if line is None else text.splitlines()[line]
