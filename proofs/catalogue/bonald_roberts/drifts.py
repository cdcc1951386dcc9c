"""Bonald and Roberts on their example of two classes: drifts of PF and DRF, and which loads fit."""

from __future__ import annotations

from collections.abc import Iterator

from proofs.catalogue.bonald_roberts.durations import FOUR
from proofs.catalogue.bonald_roberts.model import SOURCE
from proofs.catalogue.bonald_roberts.queues import EXAMPLE
from proofs.catalogue.bonald_roberts.stability import LOAD
from proofs.catalogue.chapter import Chapter
from proofs.claims import Computation, InWords, Step
from proofs.statement import Question, Said

__all__ = ["STATEMENTS"]

STATEMENTS = Chapter(SOURCE)


@STATEMENTS.add(
    "br-drift-values",
    place='slides "Drift for balanced load" and "Drift for unbalanced load"; the numbers are not in the text',
    words="Drifts of PF and DRF in the example at load 9/10.",
    latex=r"\dot x = \rho - \varphi(x), \quad a = \begin{pmatrix}1&.1\\.1&1\end{pmatrix}",
    hypotheses={"load": "the busiest resource has load 9/10"},
    scope="the example, equal loads and loads 3 to 1, at seven counts",
    mutants=("load",),
    said=Said.READER,
)
def _drift_values(question: Question) -> Iterator[Step]:
    even, uneven = (
        (["9/11", "9/11"], ["27/31", "9/31"]) if question.holds("load") else (["1", "1"], ["1", "1/3"])
    )
    cases = (
        ("PF", even, [10, 1], ["-1/11", "-1/11"]),
        ("DRF", even, [10, 1], ["-191/1111", "799/1111"]),
        ("PF", even, [30, 10], ["-1/11", "-1/11"]),
        ("DRF", even, [30, 10], ["-51/341", "169/341"]),
        ("PF", uneven, [30, 10], ["-13/341", "-211/341"]),
        ("DRF", uneven, [30, 10], ["-3/31", "-1/31"]),
        ("DRF", uneven, [1, 10], ["2417/3131", "-2191/3131"]),
    )
    for policy, loads, x, value in cases:
        yield Step(
            f"{policy}, loads {loads[0]} and {loads[1]}, {x[0]} and {x[1]} jobs.",
            Computation(
                "fluid_drift", {"policy": policy, "shares": EXAMPLE, "loads": loads, "counts": x}, value
            ),
        )


@STATEMENTS.add(
    "br-drift-cone",
    place='slide "Drift for balanced load"; read off, not said',
    words="With balanced load PF drains both classes unless one has more than ten times the jobs of the "
    "other, while DRF near load 1 lets the class with fewer jobs grow.",
    latex=r"\tfrac1{10}\le\tfrac{x_1}{x_2}\le10: \varphi^{PF} = (\tfrac{10}{11},\tfrac{10}{11}); \quad "
    r"\varphi^{DRF} = \frac{x}{\max(x_1+.1x_2,\,.1x_1+x_2)}",
    hypotheses={
        **LOAD,
        "low": "class 1 has at most ten times the jobs of class 2",
        "high": "class 2 has at most ten times the jobs of class 1",
        "price": "costs of tasks are jobs over tasks",
        "beyond": "class 1 has more than ten times the jobs of class 2",
        "jobs": "there are jobs of class 2",
        "one": "tasks of class 1 beyond the cone",
        "ten": "tasks of class 2 beyond the cone",
        "first": "tasks of class 1 under DRF",
        "second": "tasks of class 2 under DRF",
        "off": "class 1 has more jobs",
        "critical": "the load of the resources is at least 1",
        "steep": "the ratio of the jobs is beyond 11/(10 r) - 1/10",
        "part": "the resources have load r",
    },
    scope="the example with equal loads, all counts",
    mutants=("load", "low", "high", "beyond", "off", "critical", "steep"),
    said=Said.READER,
)
def _cone(question: Question) -> Iterator[Step]:
    cone = {"low": "x1 <= 10*x2", "high": "x2 <= 10*x1"}
    prices = {"price 1": "p + q/10 == 11/10*x1", "price 2": "p/10 + q == 11/10*x2"}
    top = {
        "beyond": "x1 > 10*x2",
        "jobs": "x2 >= 0",
        "one": "f1*(x1 + x2) == x1",
        "ten": "f2*(x1 + x2) == 10*x2",
    }
    level = {"first": "f1*(x1 + x2/10) == x1", "second": "f2*(x1 + x2/10) == x2", "jobs": "x2 > 0"}
    yield Step(
        "PF inside the cone x1/10 <= x2 <= 10 x1: 10/11 tasks of each class have prices p, q >= 0: the "
        "first.",
        question.implies(cone | prices, "p >= 0"),
    )
    yield Step("The second.", question.implies(cone | prices, "q >= 0"))
    yield Step(
        "So for equal loads below 10/11, with which both resources have a load below 1, both classes drain.",
        question.implies({"load": "11/10*rho < 1"}, "rho - 10/11 < 0"),
    )
    yield Step(
        "PF beyond the cone: x1/(x1 + x2) and 10 x2/(x1 + x2) tasks have resource 1 full.",
        question.implies(top, "f1 + f2/10 >= 1"),
    )
    yield Step("Resource 2 is not overloaded.", question.implies(top, "f1/10 + f2 <= 1"))
    yield Step(
        "DRF below the diagonal, both classes stopped by resource 1: at load 1 class 2 grows.",
        question.implies(level | {"off": "x1 > x2", "critical": "rho >= 10/11"}, "rho - f2 > 0"),
    )
    yield Step(
        "At load r it grows as soon as x1/x2 > 11/(10 r) - 1/10.",
        question.implies(
            level | {"steep": "10*r*x1 > (11 - r)*x2", "part": "11*rho == 10*r"} | {"ahead": "x1 > 0"},
            "rho - f2 > 0",
        ),
    )
    yield Step(
        "Class 1 drains there, for any load below 1.",
        question.implies(level | {"off": "x1 > x2", "load": "11/10*rho < 1"}, "rho - f1 < 0"),
    )
    yield Step(
        "Above the diagonal, and beyond the other side of the cone, the classes change roles.",
        InWords("Symmetry."),
    )


@STATEMENTS.add(
    "br-capacity-region",
    place='slide "Capacity region"',
    words="The loads that fit in the example are bounded by the corners (1/10, 0), (1/11, 1/11) and (0, "
    "1/10).",
    latex=r"10\rho_1 + \rho_2 < 1,\ \rho_1 + 10\rho_2 < 1",
    hypotheses={"demands": "tasks demand (10, 1) and (1, 10) of unit capacities"},
    scope="the example",
    mutants=("demands",),
)
def _region(question: Question) -> Iterator[Step]:
    shares = [[10, 1], [1, 10]] if question.holds("demands") else [[10, 10], [1, 10]]
    yield Step(
        "The corners are (1/10, 0), (1/11, 1/11) and (0, 1/10).",
        Computation("capacity_corners", {"shares": shares}, [[0, "1/10"], ["1/11", "1/11"], ["1/10", 0]]),
    )


@STATEMENTS.add(
    "br-whole-tasks",
    place="slides on the task level; the numbers are not in the text",
    words="With whole tasks of (4, 1) and (1, 4) on (16, 16) the largest mixes carry 15/16 of the balanced "
    "load, and 39/40 of a load of 3 to 1.",
    latex=r"\max\{\varrho : \rho \le \operatorname{conv}\{(4,0),(3,3),(0,4)\}\} = .9375,\ .975",
    hypotheses={"whole": "tasks are whole"},
    scope="the example",
    mutants=("whole",),
    said=Said.READER,
)
def _whole(question: Question) -> Iterator[Step]:
    given = {"demands": FOUR, "capacities": [16, 16], "whole": question.holds("whole")}
    yield Step(
        "The largest mixes are (4, 0), (3, 3) and (0, 4).",
        Computation("largest_mixes", given, [[0, 4], [3, 3], [4, 0]]),
    )
    yield Step(
        "With equal loads their mixtures carry a load of 15/16.",
        Computation("mix_limit", given | {"direction": [1, 1]}, "15/16"),
    )
    yield Step(
        "With loads 3 to 1 they carry 39/40.",
        Computation("mix_limit", given | {"direction": [3, 1]}, "39/40"),
    )
