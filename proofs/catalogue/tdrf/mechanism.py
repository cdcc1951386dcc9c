r"""C. Zhu, "Dominant resource fairness with time constraints in cloud computing": exchange and optimum.

The exchange is the rule that reproduces the worked example of section 2.2 (we do not have the listing of
Algorithm 1). The optimum of the example of section 2.4 is a function of the ratio :math:`k = w_B/w_A` of the
time weights:

.. math::

   (x, y) = \frac{(9k, 6)}{k + 2} \ (k \le 4/3), \qquad (x, y) = \frac{(27k/2, 9)}{3k + 1} \ (k \ge 4/3).

Claims of the paper that do not hold are in :mod:`proofs.catalogue.tdrf.claims`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from proofs.catalogue.chapter import Chapter
from proofs.catalogue.examples import against, computed, every
from proofs.catalogue.tdrf.claims import BROUGHT, NEEDS, POOL, SOURCE
from proofs.claims import Claim, Counterexample
from proofs.statement import Question, Said

__all__ = ["STATEMENTS"]

STATEMENTS = Chapter(SOURCE, scope="the experiment", known={"needs": "users need what their tasks demand"})

SECTION_22: dict[str, Any] = {
    "contributions": [["1/2", "1/10", "3/10"], ["1/10", "4/5", "3/10"]],
    "needs": [[0, 1, 1], [1, 0, 1]],
}


@STATEMENTS.add("tdrf-exchange-section-2-2")
def _section_22(question: Question) -> Iterator[Claim]:
    r"""Swapping pairwise what users cannot use turns (.5, .1, .3) and (.1, .8, .3) into (0, .6, .3) and (.6,
    0, .3).

    .. math:: k' = \begin{pmatrix} 0 & .6 & .3\\ .6 & 0 & .3\end{pmatrix}

    Hypotheses
        needs*
    Place: section 2.2
    Scope: the example

    Proof
        They hold (0, .6, .3) and (.6, 0, .3); .3 of resource 2 is left over.
            Computed.
    """
    needs = SECTION_22["needs"] if question.holds("needs") else [[1, 1, 1], [1, 1, 1]]
    after = [[0, "3/5", "3/10"], ["3/5", 0, "3/10"]]
    yield computed("exchanged", **SECTION_22 | {"needs": needs}, gives=after)


@STATEMENTS.add("tdrf-exchange-t1")
def _first_time(question: Question) -> Iterator[Claim]:
    r"""The same rule gives users 1 and 2 of the experiment what is printed for time 1.

    .. math:: k' = \begin{pmatrix} .9 & .2 & 0\\ 0 & .3 & .9\end{pmatrix}

    Hypotheses
        needs*
    Place: Experimental Results, time t1
    Scope: the experiment

    Proof
        They hold (.9, .2, 0) and (0, .3, .9).
            Computed.
    """
    needs = NEEDS[:2] if question.holds("needs") else [[1, 1, 1], [1, 1, 1]]
    after = [["9/10", "1/5", 0], [0, "3/10", "9/10"]]
    yield computed("exchanged", contributions=BROUGHT[:2], needs=needs, gives=after)


@STATEMENTS.refute("tdrf-exchange-t3")
def _exchange_t3() -> Counterexample:
    r"""What is printed for users 2 and 3 at time 3, (0, .3, .9) and (.1, 0, .5), comes from what they
    brought.

    .. math:: \sum_i k_i' \le \sum_i k_i

    Place: Experimental Results, time t3
    Case: Of resource 3 they would hold 1.4; they brought .7, with user 1 before them 1.1.
    Remark: The rule of section 2.2 gives (0, .7, .5) and (.5, 0, .2).
    """
    return against(
        "holdings_within", holdings=[[0, "3/10", "9/10"], ["1/10", 0, "1/2"]], contributions=BROUGHT[:3]
    )


@STATEMENTS.refute("tdrf-exchange-t4")
def _exchange_t4() -> Counterexample:
    """The rule of section 2.2 gives user 4 what is printed for time 4, (.7, .2, 0), in some order of the
    users.

    .. math:: k_4' = (.7, .2, 0)

    Place: Experimental Results, time t4
    Case: In no order; user 4 gets at most .6 of resource 1.
    Remark: .7 is all of resource 1 that users 2, 3 and 4 brought, so user 3 would lose what it needs.
    """
    return against(
        "exchange_has_holdings",
        contributions=BROUGHT[1:],
        needs=NEEDS[1:],
        user=3,
        printed=["7/10", "1/5", 0],
    )


@STATEMENTS.refute("tdrf-exchange-one-rule", said=Said.READER)
def _exchange_one_rule() -> Counterexample:
    r"""One rule for all printed numbers: to turn what one cannot use, one for one and without a partner, into
    what one can gives them all.

    .. math:: k_i' = k_i + (\text{unusable}_i)\, e_r

    Place: not in the paper: a rule of ours, tried on section 2.2 and the Experimental Results
    Case: It gives what is printed for users 1, 2 and 4, and neither user 3 nor section 2.2.
    Remark: The paper's Algorithm 1 is missing, so this rule is a guess, not a claim of the paper; it comes
        closest to its experiment. Pairwise swaps give section 2.2 and time 1 only. As what is printed for
        time 3 needs more than was brought, no rule that only passes on contributions gives all.
    """
    return against(
        "converted_is",
        contributions=[*BROUGHT, *SECTION_22["contributions"]],
        needs=[*NEEDS, *SECTION_22["needs"]],
        printed=[
            ["9/10", "1/5", 0],
            [0, "3/10", "9/10"],
            ["1/10", 0, "1/2"],
            ["7/10", "1/5", 0],
            [0, "3/5", "3/10"],
            ["3/5", 0, "3/10"],
        ],
    )


@STATEMENTS.add("tdrf-exchange-harmless", said=Said.READER)
def _harmless(question: Question) -> Iterator[Claim]:
    r"""In the exchange nobody loses anything that it can use.

    .. math:: k_{ir}' \ge k_{ir} \quad\text{where } d_{ir} > 0

    Hypotheses
        only what it cannot use*: users give away only what they cannot use
        swaps*: in a swap a user gets something, and gives away an amount
        needed*: the user needs the resource
    Place: section 2.2; not said in the paper
    Scope: all contributions, any numbers of users, resources and swaps; besides all cases of two users who
        bring up to 2 units of two

    Proof
        Two users, two resources, every case.
            Computed.
        What a user needs it does not give away in a swap, so that after any number of them it has at least as
        much as at first.
            swaps 1: k[n+1] == k[n] + g[n] - a[n]*v[n]; swaps 2: g[n] >= 0; needed: d > 0;
            only what it cannot use: v[n]*d == 0
            => k[n] >= k[0] (as stated)
            by not the conclusion * needed; induction * needed; swaps 2 * needed
            degree 2
    """
    yield every("exchange_loses_nothing", users=2, largest=2)


@STATEMENTS.add("tdrf-optimum", said=Said.READER)
def _optimum(question: Question) -> Iterator[Claim]:
    r"""The TDRF optimum of the example is a function of the ratio k of the time weights of B and A, in two
    pieces.

    .. math:: (x,y) = \frac{(9k, 6)}{k+2}\ (k\le \tfrac43),\quad (x,y) = \frac{(27k/2, 9)}{3k+1}\
        (k\ge\tfrac43)

    Hypotheses
        levels*: dominant shares times time weights are equal
        cpu*: the CPUs suffice
        ram*: the memory suffices
        low*: the ratio is at most 4/3
        high*: the ratio is at least 4/3
    Place: section 2.4; not said in the paper, which gives (4, 1) only
    Scope: all real k > 0
    Remark: k = 1: (3, 2); 2: (27/7, 9/7); 8/3: (4, 1); 3: (81/20, 9/10). The paper prints (4, 1) without
        times.

    Proof
        No y exceeds 6/(k + 2).
            levels: 2*x == 3*k*y; cpu: x + 3*y <= 9; ram: 2*x + y <= 9; ratio: k > 0
            => y*(k + 2) <= 6
        No y exceeds 9/(3k + 1).
            levels; cpu; ram; ratio
            => y*(3*k + 1) <= 9
        (9k, 6)/(k + 2) has equal levels.
            ratio; x: x*(k + 2) == 9*k; y: y*(k + 2) == 6
            => 2*x == 3*k*y
        It fills the CPUs.
            ratio; x; y
            => x + 3*y == 9
        For k <= 4/3 the memory suffices.
            ratio; x; y; low: 3*k <= 4
            => 2*x + y <= 9
        (27k/2, 9)/(3k + 1) has equal levels.
            ratio; x: 2*x*(3*k + 1) == 27*k; y: y*(3*k + 1) == 9
            => 2*x == 3*k*y
        It fills the memory.
            ratio; x; y
            => 2*x + y == 9
        For k >= 4/3 the CPUs suffice.
            ratio; x; y; high: 3*k >= 4
            => x + 3*y <= 9
        The ratio 1, by filling.
            Computed.
        The ratio 2, by filling.
            Computed.
        The ratio 8/3, by filling.
            Computed.
        The ratio 3, by filling.
            Computed.
    """
    for ratio, tasks in ((1, [3, 2]), (2, ["27/7", "9/7"]), ("8/3", [4, 1]), (3, ["81/20", "9/10"])):
        yield computed("tdrf_tasks", **POOL, joined=[1, ratio], gives=tasks)


@STATEMENTS.add("tdrf-optimum-4-1", said=Said.READER)
def _four_one(question: Question) -> None:
    r"""(4, 1), as printed, has equal levels only if the time weight of B is 8/3 of that of A.

    .. math:: (x, y) = (4, 1) \Rightarrow w_B/w_A = \tfrac83

    Hypotheses
        levels*: dominant shares times time weights are equal
        four*: A runs 4 tasks
        one*: B runs 1 task
    Place: section 2.4; the ratio is not in the paper
    Scope: all real ratios

    Proof
        Equal levels leave one ratio.
            levels: 2*x == 3*k*y; four: x == 4; one: y == 1
            => 3*k == 8 (as stated)
    """


@STATEMENTS.add("tdrf-end-cancels", said=Said.READER)
def _end_cancels(question: Question) -> None:
    r"""The end of the system, which the weights are divided by, has no effect.

    .. math:: w_i = \frac{t_i - t^{init}}{t^{max}-t^{init}}:\quad s_A w_A = s_B w_B \iff s_A(t_A - t^{init}) =
        s_B(t_B - t^{init})

    Hypotheses
        weight A*: the weight of A is its time since the start over D
        weight B: the weight of B is its time since the start over D
        levels*: dominant shares times time weights are equal
        end*: the end is after the start
        signs: times, weights and tasks are not negative
    Place: section 2.4, definition of the weight; not said in the paper
    Scope: all real times; the example (any two users alike)

    Proof
        Equal levels do not depend on D, the end less the start.
            weight A: v*D == a; weight B: w*D == b; levels: 2*x*v == 3*y*w; a >= 0; b >= 0;
            v >= 0; w >= 0; x >= 0; y >= 0; D >= 0
            => 2*x*a == 3*y*b (as stated)
        Nor does what has them.
            weight A; weight B; end: D > 0
            besides levels: 2*x*a == 3*y*b; a >= 0; b >= 0; v >= 0; w >= 0; x >= 0; y >= 0
            => 2*x*v == 3*y*w (as stated)
    """


@STATEMENTS.add("tdrf-whole-tasks", said=Said.READER)
def _whole(question: Question) -> Iterator[Claim]:
    r"""In whole tasks the example gives (1, 2), (2, 2), (3, 2) or (4, 1), as the ratio k of time weights is
    below 1/3, 2/3, 2 or not.

    .. math:: (1,2)\ (k<\tfrac13),\ (2,2)\ (k<\tfrac23),\ (3,2)\ (k<2),\ (4,1)\ (k\ge 2)

    Hypotheses
        ties to A*: A is served first among equals
    Place: Algorithm 2, on the example of section 2.4; not said in the paper
    Scope: all real k > 0: one value in each interval on which no comparison changes, and all ends of
        intervals
    Remark: With ties to B the ratios 1/3, 2/3 and 2 themselves belong to the pieces below them.

    Proof
        (1, 2) below 1/3, (2, 2) below 2/3, (3, 2) below 2, then (4, 1).
            Computed (as stated).
    """
    first = 1 if question.holds("ties to A") else 2
    sizes = {"first": first, "thresholds": ["1/3", "2/3", 2], "tasks": [[1, 2], [2, 2], [3, 2], [4, 1]]}
    yield every("integer_thresholds", **POOL, **sizes)
