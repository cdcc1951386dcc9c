"""Every number of ``paper/paper.md`` is what the library gives, and each reference is cited."""

import re
from fractions import Fraction
from pathlib import Path

import pytest

from capacity import is_stable
from fairness import DRF, Problem, ProportionalFair
from proofs import Status
from proofs.catalogue import statements
from proofs.statement import Said
from queueing import FCFS, System, optimal, stationary
from tests.proofs.catalogue.test_catalogue import expected

ROOT = Path(__file__).parents[1]
PAPER = ROOT / "paper" / "paper.md"
TEXT = " ".join(PAPER.read_text(encoding="utf-8").split())


def said(pattern):
    """The numbers of a sentence."""
    found = re.search(pattern, TEXT)
    assert found, pattern
    return found.groups()


def test_two_servers():
    system = System(Problem([[1], [2]], [2]), arrival_rates=[0.5, 0.5])
    carried, alone = said(r"with equal probability carry (\S+) jobs per unit of time, not (\S+);")
    verdict = is_stable(system, FCFS())
    assert verdict.throughput == Fraction(carried)
    assert Fraction(alone) == Fraction(2) / Fraction(3, 2)  # servers over the mean need
    (constant,) = said(r"grows as \((\S+)\)/\(1 - load\)")
    assert verdict.heavy_traffic == pytest.approx(float(Fraction(constant)), rel=1e-9)


@pytest.mark.long
def test_the_best_policy():
    system = System.with_load(Problem([[1, 0.1], [0.1, 1]], [1, 1]), [3, 1], 0.9)
    best = optimal(system, precision=1e-4)
    best.check()
    (least,) = said(r"has fewer than ([0-9.]+) jobs on average")
    assert float(least) < best.lower < float(least) + 1e-3
    for told, policy in zip(
        said(r"DRF has ([0-9.]+) % more jobs.*?fairness ([0-9.]+) %"),
        (DRF(), ProportionalFair()),
        strict=True,
    ):
        above = 100 * (stationary(system, policy).mean_jobs.sum() / best.lower - 1)
        assert f"{above:.{len(told.partition('.')[2])}f}" == told


def test_statements():
    total, refuted = map(int, said(r"stand (\d+) statements.*?; (\d+) such claims are refuted"))
    assert total == len(statements())
    assert refuted == sum(
        one.said == Said.CLAIMED and expected(one.id) == Status.REFUTED for one in statements()
    )


def test_tools():
    page = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| [^|]+ \| (\S+) [0-9.]+[^|]* \| [^|]+ \| [^|]+s \| [^|]+s \|", page, re.MULTILINE)
    (number,) = said(r"the numbers of both programs on (\w+) models")
    assert len(set(rows)) == {"eight": 8, "nine": 9, "ten": 10}[number], sorted(set(rows))


def test_references_are_cited_and_there():
    keys = set(
        re.findall(r"^@\w+\{(\w+),", (ROOT / "paper" / "paper.bib").read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert keys == set(re.findall(r"@(\w+\d{4})", TEXT))


def test_figures_are_those_of_the_galleries():
    for folder, key in re.findall(r"\(\.\./out/(\w+)/(\w+)\.png\)", TEXT):
        assert any(f'"{key}"' in file.read_text(encoding="utf-8") for file in ROOT.glob("examples/*/*.py")), (
            folder,
            key,
        )
