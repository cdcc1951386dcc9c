"""PS-DSF: what the paper says of DRFH, C-DRFH and CDRF, in section II and Table I.

Bottleneck fairness of C-DRFH and TSF, and the sharing incentive of TSF, are in
:mod:`proofs.catalogue.psdsf.counterexamples`; the ticks of Table I are in
:mod:`proofs.catalogue.psdsf.leximin`.
"""

from __future__ import annotations

from collections.abc import Iterator

from proofs.catalogue.chapter import Chapter
from proofs.catalogue.psdsf.theorems import SOURCE
from proofs.catalogue.texts import signs
from proofs.claims import Counterexample, InWords, Step
from proofs.statement import Question, Said

__all__ = ["STATEMENTS"]

STATEMENTS = Chapter(SOURCE)

INCENTIVE = r"x_n\ge\frac{\varphi_n}{\sum_p\varphi_p}\sum_i\gamma_{ni}"

STATEMENTS.refute(
    "psdsf-c-drfh-sharing-incentive",
    place="Table I",
    words="C-DRFH gives each user at least the tasks of a uniform split of every server.",
    latex=INCENTIVE,
    scope="all clusters; refuted by one",
    case="Servers (10,1) and (1,10), user 2 on the second only: C-DRFH gives 1 task each, the split 11/2 and "
    "1/2.",
    witness=Counterexample(
        "split_runs_no_more",
        {
            "cluster": {
                "demands": [["1/10", 1], [1, "1/10"]],
                "capacities": [[10, 1], [1, 10]],
                "eligible": [[1, 1], [0, 1]],
            },
            "mechanism": "C-DRFH",
            "placement": [[1, 0], [0, 1]],
            "prices": [[[0, 1], [10, 0]]],
        },
    ),
    remark="The paper says so of DRFH, which C-DRFH is without constraints; the marks of Table I are lost.",
    said=Said.DENIED,
)

STATEMENTS.refute(
    "psdsf-drfh-sharing-incentive",
    place="section II-B",
    words="DRFH, without placement constraints, gives each user at least the tasks of a uniform split of "
    "every server.",
    latex=INCENTIVE,
    scope="all clusters; refuted by one",
    case="Servers (10,1) and (1,10), demands (1,1) and (1/10,1): DRFH gives 20/11 tasks each, the split 1 "
    "and 11/2.",
    witness=Counterexample(
        "split_runs_no_more",
        {
            "cluster": {"demands": [[1, 1], ["1/10", 1]], "capacities": [[10, 1], [1, 10]]},
            "mechanism": "C-DRFH",
            "placement": [[1, "9/11"], [0, "20/11"]],
            "prices": [[[0, 1], [1, 0]]],
        },
    ),
    remark="The paper says so too, without an example.",
    said=Said.DENIED,
)


STATEMENTS.refute(
    "psdsf-eligible-shares-strategy-proof",
    place="section II-B, before C-DRFH",
    words="If the dominant shares of users in the servers that they may use are max-min fair, nobody runs "
    "more by a false report of these servers.",
    latex=r"\hat x_n\le x_n",
    scope="all clusters; refuted by one",
    case="User 1 falsely claims the second server, and is given one task on the first instead of 3/4, and "
    "1/7 of one where it cannot run.",
    witness=Counterexample(
        "claims_pay_nothing",
        {
            "cluster": {
                "demands": [[1, 1], [2, 1]],
                "capacities": [[1, 1], [2, 1]],
                "eligible": [[1, 0], [1, 1]],
            },
            "mechanism": "eligible",
            "placement": [["3/4", 0], ["1/8", 1]],
            "prices": [[[1, 0], [1, 0]]],
            "lie": [[1, 1], [1, 1]],
            "after": [[1, "1/7"], [0, "6/7"]],
            "later": [[[0, 1], [0, 1]]],
        },
    ),
    remark="The paper says so too, without an example: hence the shares in all servers of C-DRFH and TSF, "
    "which do not invite lies (psdsf-c-drfh-strategy-proof, psdsf-tsf-strategy-proof).",
    said=Said.DENIED,
)


@STATEMENTS.add(
    "psdsf-cdrf-one-server",
    place="section II-B, on CDRF",
    words="On one server CDRF is weighted dominant resource fairness, and so is TSF if everybody may run "
    "there.",
    latex=r"x_n/\gamma_n = x_n\max_r d_{nr}/c_r",
    hypotheses={
        "dominant": "one resource stops the user when it is alone",
        "alone": "its tasks alone fit into the others",
        "level": "the share is tasks over tasks alone",
    },
    scope="each user and resource; all reals",
    mutants=("dominant", "alone", "level"),
)
def _one_server(question: Question) -> Iterator[Step]:
    # s: tasks x over tasks alone g; d, c: demand and capacity of the dominant resource; e, k: of another.
    held = {"dominant": "g*d == c", "alone": "g*e <= k", "level": "s*g == x"}
    sensible = {"share": "s >= 0", **signs("c k d g", "e x")}
    yield Step(
        "The share of CDRF is the share of the dominant resource...",
        question.implies(held, "x*d == s*c", fixed=sensible),
        states=True,
    )
    yield Step(
        "...and no share of another resource is larger.",
        question.implies(held, "x*e <= s*k", "alone * share", fixed=sensible),
        states=True,
    )
    yield Step(
        "Both mechanisms ask for max-min fairness of these shares, over the weights.",
        InWords("The same numbers over the same set of allocations have the same max-min fair vector."),
    )


@STATEMENTS.add(
    "psdsf-cdrf-sharing-incentive",
    place="section II-B, on CDRF",
    words="Without placement constraints CDRF gives each user at least the tasks that its weight's part of "
    "every server runs.",
    latex=INCENTIVE,
    hypotheses={
        "alone": "the tasks of a user alone on a server fit",
        "parts": "weights are parts that add up to 1",
        "lowest": "everybody has at least the lowest level",
        "split": "the lowest level is at least that of the split",
    },
    scope="each server and resource, any number of users; all reals",
    mutants=("alone", "parts", "lowest", "split"),
    remark="With placement constraints TSF does not have it (psdsf-tsf-sharing-incentive): tasks alone then "
    "count servers that a user may not use.",
)
def _cdrf_incentive(question: Question) -> Iterator[Step]:
    held = {"alone": "g[n]*d[n] <= c", "parts": "sum[n](f[n]) == 1", "weight": "f[n] >= 0"}
    sensible = {"sign of g": "g[n] >= 0", "sign of d": "d[n] >= 0", **signs("", "c")}
    yield Step(
        "The split by weights fits on every server.",
        question.for_every(
            held, "sum[n](f[n]*g[n]*d[n]) <= c", "alone * weight", "parts | c", fixed=sensible
        ),
    )
    yield Step(
        "Without constraints everybody then has the level 1: tasks over weight and tasks alone anywhere.",
        InWords("A max-min fair allocation has the largest lowest level of all that fit: at least 1."),
    )
    yield Step(
        "Who has at least this level has at least the tasks of the split.",
        question.implies(
            {"lowest": "L*f*G <= x", "split": "L >= 1"},
            "f*G <= x",
            "split * weight * value",
            fixed={"weight": "f > 0", "value": "G > 0", **signs("", "x L")},
        ),
    )
