"""Bonald and Roberts (2014), continued: the examples, exactly, and what they show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from proofs.catalogue.bonald_roberts.model import SOURCE
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


@STATEMENTS.add("br-pf-irrational", said=Said.READER)
def _root(question: Question) -> None:
    r"""With demands (4,1), (2,1), (1,4) proportional fairness gives (R-3)/30, (9-R)/14 and (12+R)/105 tasks,
    where R is the square root of 39.

    .. math:: \varphi = \bigl(\tfrac{\sqrt{39}-3}{30}, \tfrac{9-\sqrt{39}}{14},
        \tfrac{12+\sqrt{39}}{105}\bigr)

    Hypotheses
        root*: the square of R is 39
        sign*: R is not negative
        inverse*: g1, g2, g3 are one over these tasks
        fits*: another allocation fits
    Place: slide on the difference with proportional fairness; the numbers are not in the text
    Scope: this example, and any other allocation that fits
    Remark: So these tasks are positive, fit, and no other allocation that fits adds up to more than 3,
        relative to them, which is F. P. Kelly's definition; R/3 and 3 - R/3 are prices of the resources.

    Proof
        [below] R is below 9,
            root: R**2 == 39; sign: R >= 0
            => 9 - R > 0
        [first] and the costs of a task are g1,
            root; inverse 1: (R - 3)/30*g1 == 1
            => g1 == 4*R/3 + (3 - R/3)
        [second] g2
            root; inverse 2: (9 - R)/14*g2 == 1
            => g2 == 2*R/3 + (3 - R/3)
        [third] and g3.
            root; inverse 3: (12 + R)/105*g3 == 1
            => g3 == R/3 + 4*(3 - R/3)
        [bought] What fits costs at most what all resources do, 3.
            sign; below: 9 - R > 0; fits 1: 4*z1 + 2*z2 + z3 <= 1; fits 2: z1 + z2 + 4*z3 <= 1;
            first: g1 == 4*R/3 + (3 - R/3); second: g2 == 2*R/3 + (3 - R/3); third: g3 == R/3 + 4*(3 - R/3)
            => z1*g1 + z2*g2 + z3*g3 <= 3
            by fits 1 * sign; fits 2 * below; first | z1; second | z2; third | z3
        No other allocation that fits adds up to more than 3, relative to these tasks.
            root; sign; inverse 1; inverse 2; inverse 3; fits 1; fits 2
            from below knowing all
            from first knowing all
            from second knowing all
            from third knowing all
            from bought knowing all
            => z1*g1 + z2*g2 + z3*g3 <= 3 (as stated)
        They fit: resource 1 is full,
            root; sign
            => 4*(R - 3)/30 + 2*(9 - R)/14 + 1*(12 + R)/105 == 1 (as stated)
        and so is resource 2.
            root; sign
            => 1*(R - 3)/30 + 1*(9 - R)/14 + 4*(12 + R)/105 == 1 (as stated)
        And they are positive: the first,
            root; sign
            => (R - 3)/30 > 0 (as stated)
        the second
            root; sign
            => (9 - R)/14 > 0 (as stated)
        and the third.
            root; sign
            => (12 + R)/105 > 0 (as stated)
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
