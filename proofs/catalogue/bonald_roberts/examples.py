"""Bonald and Roberts (2014), continued: the examples, exactly, and what they show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from proofs.catalogue.bonald_roberts.model import BY_PRICES, SOURCE
from proofs.catalogue.chapter import Chapter
from proofs.catalogue.examples import against, computed, model
from proofs.claims import Claim, Counterexample, Step
from proofs.statement import Question, Said

__all__ = ["STATEMENTS"]

STATEMENTS = Chapter(SOURCE)

FIRST, SECOND = [[1, 3], [3, 2]], [[1, 3], [4, 2]]
THIRD: list[list[Any]] = [[1, 1, 1], [2, 1, "3/2"], [1, 2, "3/2"]]

FOURTH, FIFTH = [[4, 1], [2, 1], [1, 4]], [[3, 1], [2, 1], [1, 3]]

ALLOCATIONS: tuple[tuple[str, Any, Sequence[Any] | None, Any], ...] = (
    ("mmf_tasks", FIRST, None, ["1/5", "1/5"]),
    ("drf_tasks", FIRST, None, ["1/5", "1/5"]),
    ("pf_tasks", FIRST, [0, 2], ["1/6", "1/4"]),
    ("bmf_vertices", FIRST, None, [["1/6", "1/4"]]),
    ("mmf_tasks", SECOND, None, ["1/5", "1/5"]),
    ("drf_tasks", SECOND, None, ["2/9", "1/6"]),
    ("pf_tasks", SECOND, ["1/2", "3/2"], ["1/5", "1/5"]),
    ("bmf_vertices", SECOND, None, [["1/5", "1/5"]]),
    ("mmf_tasks", THIRD, None, ["1/4", "1/4", "1/4"]),
    ("drf_tasks", THIRD, None, ["2/5", "1/5", "1/5"]),
    ("pf_tasks", THIRD, [0, 0, 3], ["1/3", "2/9", "2/9"]),
    ("mmf_tasks", FOURTH, None, ["1/7", "1/7", "1/7"]),
    ("drf_tasks", FOURTH, None, ["1/9", "2/9", "1/9"]),
    ("bmf_vertices", FOURTH, None, [["3/29", "6/29", "5/29"]]),
    ("drf_tasks", FIFTH, None, ["1/7", "3/14", "1/7"]),
    ("bmf_vertices", FIFTH, None, [["4/31", "6/31", "7/31"]]),
)
NAMES = {"mmf_tasks": "MMF", "drf_tasks": "DRF", "pf_tasks": "PF", "bmf_vertices": "BMF, the only one"}


@STATEMENTS.refute("br-pf-is-bmf", said=Said.READER)
def _pf_is_bmf() -> Counterexample:
    r"""Bottleneck-max fairness maximises the product of the tasks, as proportional fairness does, for any
    number of jobs on two resources.

    .. math:: \varphi^{\mathrm{BMF}} = \arg\max \textstyle\prod_i \varphi_i

    Place: slide on the difference with proportional fairness
    Scope: all demands, two resources
    Case: A feasible allocation with a larger product than the only BMF one.
    Remark: The authors do not claim this: with three jobs the two policies differ. They are the same for two
        classes (br-two-classes), and always fill the same of two resources.
    """
    return against("bmf_improved", demands=FOURTH, capacities=[1, 1], better=["5/46", "9/46", "8/46"])


@STATEMENTS.add(
    "br-pf-irrational",
    said=Said.READER,
    reading=(f"{BY_PRICES} Whatever has such prices is the optimum, as the sum of logarithms is concave."),
)
def _root(question: Question) -> None:
    r"""With demands (4,1), (2,1), (1,4) proportional fairness gives (R-3)/30, (9-R)/14 and (12+R)/105 tasks,
    where R is the square root of 39.

    .. math:: \varphi = \bigl(\tfrac{\sqrt{39}-3}{30}, \tfrac{9-\sqrt{39}}{14},
        \tfrac{12+\sqrt{39}}{105}\bigr)

    Hypotheses
        root*: the square of R is 39
        sign*: R is not negative
    Place: slide on the difference with proportional fairness; the numbers are not in the text
    Scope: this example; prices R/3 and 3 - R/3 prove the optimum
    Remark: Prices with which every task costs one over the number of tasks, and only full resources cost, are
        sufficient for the optimum of the sum of logarithms, which is concave.

    Proof
        A task of job 1 costs 1/x.
            root: R**2 == 39; sign: R >= 0
            => ((R - 3)/30)*(4*R/3 + 1*(3 - R/3)) == 1 (as stated)
        A task of job 2 costs 1/x.
            root; sign
            => ((9 - R)/14)*(2*R/3 + 1*(3 - R/3)) == 1 (as stated)
        A task of job 3 costs 1/x.
            root; sign
            => ((12 + R)/105)*(1*R/3 + 4*(3 - R/3)) == 1 (as stated)
        Resource 1 is full.
            root; sign
            => 4*(R - 3)/30 + 2*(9 - R)/14 + 1*(12 + R)/105 == 1 (as stated)
        Resource 2 is full.
            root; sign
            => 1*(R - 3)/30 + 1*(9 - R)/14 + 4*(12 + R)/105 == 1 (as stated)
        Prices are positive, as 0 < R < 9.
            root; sign
            => (3 - R/3) > 0 (as stated)
        All tasks are positive, as 3 < R < 9.
            root; sign
            => (R - 3)*(9 - R) > 0 (as stated)
    """


@STATEMENTS.add("br-drf-leaves-room")
def _drf_leaves_room(question: Question) -> Iterator[Claim]:
    r"""Dominant resource fairness may fill one resource only, where the others fill more.

    .. math:: \varphi^{\mathrm{DRF}} a = (4/5, 1),\ (8/9, 1)

    Hypotheses
        policy*: dominant shares, not tasks, are filled
    Place: slides on the examples
    Scope: two examples

    Proof
        The tasks for [[1, 3], [3, 2]].
            Computed.
        What they use.
            Computed.
        The tasks for [[1, 3], [4, 2]].
            Computed.
        What they use.
            Computed.
        PF and BMF use more of the resource that is not full: 11/12 for the first example ...
            Computed.
        ... and all of it for the second.
            Computed.
    """
    policy = "drf_tasks" if question.holds("policy") else "mmf_tasks"
    for demands, tasks, in_use in ((FIRST, ["1/5", "1/5"], ["4/5", 1]), (SECOND, ["2/9", "1/6"], ["8/9", 1])):
        yield computed(policy, demands=demands, capacities=[1, 1], gives=tasks)
        yield computed("used", demands=demands, tasks=tasks, gives=in_use)
    yield computed("used", demands=FIRST, tasks=["1/6", "1/4"], gives=["11/12", 1])
    yield computed("used", demands=SECOND, tasks=["1/5", "1/5"], gives=[1, 1])


@STATEMENTS.add("br-examples")
def _examples(question: Question) -> Iterator[Step]:
    r"""The allocations of the examples by the four policies.

    .. math:: \varphi \text{ for } a = \begin{pmatrix}1&3\\3&2\end{pmatrix}, \ldots

    Hypotheses
        capacity*: all capacities are 1
    Place: slides on the examples
    Scope: sixteen allocations of five examples, exactly
    """
    capacity = 1 if question.holds("capacity") else 2

    for function, demands, prices, value in ALLOCATIONS:
        arguments = model(demands, [capacity] * len(demands[0]))
        if prices is not None:
            arguments["prices"] = list(prices)
        yield Step(f"{NAMES[function]} of {demands}.", computed(function, **arguments, gives=value))
