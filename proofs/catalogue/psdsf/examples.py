"""J. Khamse-Ashari et al., "Per-server dominant-share fairness (PS-DSF)", ICC 2017 (arXiv:1611.00404)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from proofs.catalogue.chapter import Chapter
from proofs.catalogue.examples import computed, model
from proofs.catalogue.psdsf.counterexamples import FIGURE_1, FIGURE_2, PS_DSF, RAM, TABLE_IV
from proofs.catalogue.psdsf.theorems import SOURCE, psdsf_tasks
from proofs.claims import Claim, Computation
from proofs.statement import Question, Said

__all__ = ["STATEMENTS"]

STATEMENTS = Chapter(SOURCE)

TWO_SERVERS = model([[5, 1], [1, 5]], [[100, 30], [30, 100]])


def _leximin(cluster: Any, placement: Any, share: str, prices: Any, tasks: Any) -> Computation:
    arguments = {"cluster": cluster, "placement": placement, "share": share, "prices": prices}
    return computed("leximin_tasks", **arguments, gives={"tasks": tasks, "max-min fair": True})


def _without(cluster: dict[str, Any], entry: str, question: Question, hypothesis: str) -> dict[str, Any]:
    return {k: v for k, v in cluster.items() if k != entry or question.holds(hypothesis)}


@STATEMENTS.add("psdsf-figure-1")
def _figure_1(question: Question) -> Iterator[Claim]:
    r"""In the example of Figure 1 PS-DSF gives 3, 3 and 12 tasks, C-DRFH 60/23, 72/23 and 288/23, TSF 2, 2
    and 16.

    .. math:: x=(3,3,12),\ \left(\tfrac{60}{23},\tfrac{72}{23},\tfrac{288}{23}\right),\ (2,2,16)

    Hypotheses
        weights*: user 3 counts twice
    Place: Figure 1
    Scope: one cluster
    Remark: Demands and capacities agree with all that the text says of the figure.

    Proof
        Tasks alone on the servers.
            Computed.
        PS-DSF with divided resources gives 3, 3 and 12 tasks,
            Computed.
        with divided time as well,
            Computed.
        C-DRFH gives 60/23, 72/23 and 288/23,
            Computed.
        and TSF 2, 2 and 16.
            Computed.
    """
    cluster = _without(FIGURE_1, "weights", question, "weights")
    placement = [[3, 0], [3, 0], [0, 12]]
    yield computed("cluster_gammas", cluster=cluster, gives=[[6, 0], [6, 0], [12, 12]])
    yield psdsf_tasks(cluster, placement, "resource", [3, 3, 12])
    yield psdsf_tasks(cluster, placement, "time", [3, 3, 12])
    yield _leximin(
        cluster,
        [["60/23", 0], ["72/23", 0], ["12/23", 12]],
        "global",
        RAM["figure 1"],
        ["60/23", "72/23", "288/23"],
    )
    yield _leximin(cluster, [[2, 0], [2, 0], [4, 12]], "unconstrained", RAM["figure 1"], [2, 2, 16])


@STATEMENTS.add("psdsf-figure-2")
def _figure_2(question: Question) -> Iterator[Claim]:
    """In the example of Figure 2 PS-DSF gives 3.6, 3.6, 8 and 8 tasks.

    .. math:: x=(3.6,3.6,8,8)

    Hypotheses
        equal weights*: all users count alike
    Place: Figures 2 and 3
    Scope: one cluster
    Remark: Demands and capacities agree with all that the text says of the figure.

    Proof
        PS-DSF with divided resources gives 18/5, 18/5, 8 and 8 tasks, users 3 and 4 on the second server
        only.
            Computed.
        Virtual dominant shares: 3/5, 3/5, 2/3 and 8/9 on the first server, 2/3 twice on the second.
            Computed.
        With divided time 3, 3, 6 and 6.
            Computed.
        C-DRFH gives 600/169 twice, 1440/169 and 1260/169,
            Computed.
        and TSF 21/8 twice, 21/2 and 147/16.
            Computed.
    """
    cluster = FIGURE_2 if question.holds("equal weights") else {**FIGURE_2, "weights": [2, 1, 1, 1]}
    placement = [["18/5", 0], ["18/5", 0], [0, 8], [0, 8]]
    levels = [["3/5", None], ["3/5", None], ["2/3", "2/3"], ["8/9", "2/3"]]
    yield psdsf_tasks(cluster, placement, "resource", ["18/5", "18/5", 8, 8])
    yield computed("psdsf_levels", cluster=cluster, placement=placement, gives=levels)
    yield psdsf_tasks(cluster, [[3, 0], [3, 0], [0, 6], [0, 6]], "time", [3, 3, 6, 6])
    yield _leximin(
        cluster,
        [["600/169", 0], ["600/169", 0], ["42/169", "1398/169"], [0, "1260/169"]],
        "global",
        [[[2, 0, 0], [0, 1, 0]]],
        ["600/169", "600/169", "1440/169", "1260/169"],
    )
    yield _leximin(
        cluster,
        [["21/8", 0], ["21/8", 0], ["31/8", "53/8"], ["1/2", "139/16"]],
        "unconstrained",
        [[[1, 0, 0], [1, 0, 0]]],
        ["21/8", "21/8", "21/2", "147/16"],
    )


@STATEMENTS.add("psdsf-table-4")
def _table_4(question: Question) -> Iterator[Claim]:
    """On the 120 servers of Table IV PS-DSF gives 210, 105, 82.5 and 27.5 tasks; C-DRFH and TSF give users 3
    and 4 the same number of tasks as each other.

    .. math:: x=(210,105,82.5,27.5)

    Hypotheses
        constraints*: users 3 and 4 run on the classes C and D only
    Place: Table IV
    Scope: one cluster
    Remark: The CPU demands of users 2 and 4 do not follow from the table; 1/10 and 1/5 are consistent with
        it. C-DRFH is not in the table; its 58.33 for TSF and user 3 is 58.343.

    Proof
        Tasks alone on the server classes.
            Computed.
        PS-DSF gives 210, 105, 82.5 and 27.5 tasks, with divided resources
            Computed.
        and with divided time.
            Computed.
        C-DRFH gives 210, 105, 10560/181 and 6435/181,
            Computed.
        and TSF 93660/457, 49140/457 and the same for users 3 and 4.
            Computed.
        PS-DSF uses all CPU of class C
            Computed.
        and of class D.
            Computed.
    """
    cluster = _without(TABLE_IV, "eligible", question, "constraints")
    last = [[0, 0, "10560/181", 0], [0, 0, "2915/362", "55/2"]]
    prices = [[[0, 0], [0, 0], [0, 1], [0, 1]], RAM["table 4"]]
    use = {"cluster": cluster, "placement": PS_DSF, "resource": 1}
    gammas = [
        [80, 340, "165/2", 55],
        [40, 170, "165/4", "165/4"],
        [0, 0, "165/2", "55/2"],
        [0, 0, "55/2", "55/2"],
    ]
    yield computed("cluster_gammas", cluster=cluster, gives=gammas)
    yield psdsf_tasks(cluster, PS_DSF, "resource", [210, 105, "165/2", "55/2"])
    yield psdsf_tasks(cluster, PS_DSF, "time", [210, 105, "165/2", "55/2"])
    yield _leximin(
        cluster,
        [[0, 210, 0, 0], [40, 65, 0, 0], *last],
        "global",
        prices,
        [210, 105, "10560/181", "6435/181"],
    )
    yield _leximin(
        cluster,
        [[0, "93660/457", 0, 0], [40, "30860/457", 0, 0], *last],
        "unconstrained",
        prices,
        ["93660/457", "49140/457", "10560/181", "6435/181"],
    )
    yield computed("pooled_use", **use, servers=[3], gives=1)
    yield computed("pooled_use", **use, servers=[4], gives=1)


@STATEMENTS.add("psdsf-two-servers", said=Said.READER)
def _two_servers(question: Question) -> Iterator[Claim]:
    r"""PS-DSF gives 20 tasks each where DRFH and TSF give 65/3 each.

    .. math:: 20<\tfrac{65}{3}

    Hypotheses
        equal weights*: both users count alike
    Place: not in the paper: the servers (100,30) and (30,100) of Y. Shan et al., arXiv:1803.00922
    Scope: one cluster

    Proof
        Divided resources: PS-DSF gives 20 tasks each, all on the better server.
            Computed.
        DRFH (here the same as C-DRFH) gives 65/3 each,
            Computed.
        and so does TSF.
            Computed.
    """
    cluster = {**TWO_SERVERS} if question.holds("equal weights") else {**TWO_SERVERS, "weights": [2, 1]}
    part = [["235/12", "25/12"], ["25/12", "235/12"]]
    yield psdsf_tasks(cluster, [[20, 0], [0, 20]], "resource", [20, 20])
    yield _leximin(cluster, part, "global", [[[1, 1], [1, 1]]], ["65/3", "65/3"])
    yield _leximin(cluster, part, "unconstrained", [[[1, 1], [1, 1]]], ["65/3", "65/3"])
