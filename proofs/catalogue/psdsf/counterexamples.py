"""PS-DSF: claims of the paper that one small cluster refutes, and what the mechanism does not have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from proofs.catalogue.chapter import Chapter
from proofs.catalogue.examples import against, model
from proofs.catalogue.psdsf.theorems import SOURCE, psdsf_tasks
from proofs.claims import Claim, Counterexample
from proofs.statement import Question, Said

__all__ = ["FIGURE_1", "FIGURE_2", "PS_DSF", "RAM", "STATEMENTS", "TABLE_IV"]

STATEMENTS = Chapter(SOURCE, scope="all clusters; refuted by one")

FIGURE_1 = model([[1, 2, 10], [1, 2, 1], ["1/2", 1, 0]], [[9, 12, 100], [12, 12, 0]], weights=[1, 1, 2])
"""Two servers, the second without bandwidth; restored, as figure 2, from what the paper prints of them."""

FIGURE_2 = model([["3/2", 1, 10], [1, 2, 10], ["1/2", 1, 0], [1, "1/2", 0]], [[9, 12, 100], [12, 12, 0]])
RAM: dict[str, Any] = {"figure 1": [[[0, 1, 0], [0, 1, 0]]], "table 4": [[0, 1]] * 4}
TABLE_IV: dict[str, Any] = model(
    [["1/10", "1/10"], ["1/10", "1/5"], ["1/5", "1/10"], ["1/5", "3/10"]],
    [[8, 8], [34, 34], ["33/2", "33/4"], ["11/2", "33/4"]],
    eligible=[[1, 1, 1, 1], [1, 1, 1, 1], [0, 0, 1, 1], [0, 0, 1, 1]],
)
"""Figure 5: 8, 68, 33 and 11 servers of Google, of (1, 1), (1/2, 1/2), (1/2, 1/4) and (1/2, 3/4), pooled."""

WITHOUT_4 = {**TABLE_IV, "demands": TABLE_IV["demands"][:3], "eligible": TABLE_IV["eligible"][:3]}
MORE_CPU = {**TABLE_IV, "demands": [["1/10", "1/10"], ["2/15", "1/5"], ["1/5", "1/10"], ["1/5", "3/10"]]}
PS_DSF = [[40, 170, 0, 0], [20, 85, 0, 0], [0, 0, "165/2", 0], [0, 0, 0, "55/2"]]
TSF_WITHOUT_4 = [[0, "93660/457", 0, 0], [40, "30860/457", 0, 0], [0, 0, "165/2", "55/2"]]
PRICES_WITHOUT_4 = [[[0, 0], [0, 0], [1, 0], [1, 0]], [[0, 1], [0, 1], [2, 0], [2, 0]]]
RAY = model([[1, 5, 3], [3, 1, 1]], [[8, 6, 4], [8, 9, 8]])
NOT_PARETO = against(
    "no_better_placement",
    cluster=model([[1, 3], [3, 1]], [[4, 2], [2, 4]]),
    placement=[[0, "4/3"], ["4/3", 0]],
    better=[["1/4", "5/4"], ["5/4", "1/4"]],
)
NOT_PARETO_SMALL = against(
    "no_better_placement",
    cluster=model([[1, 2], [3, 1]], [[2, 1], [1, 1]]),
    placement=[[0, "1/2"], ["2/3", 0]],
    better=[["1/5", "2/5"], ["3/5", "1/5"]],
)
NOT_TRUTHFUL = against(
    "truth_pays",
    cluster=model([[3, 1], [1, 3]], [[2, 1], [4, 3]]),
    placement=[["2/3", "6/13"], [0, "11/13"]],
    lie=[[0, 1], [1, 1]],
    after=[[0, "52/45"], ["1/3", "8/15"]],
)


@STATEMENTS.add("psdsf-all-drf-properties")
def _all_drf_properties(_: Question) -> Iterator[Claim]:
    r"""PS-DSF achieves all the properties that DRF has on one server.

    .. math:: \text{PS-DSF: SI, EF, SP, PO, BF}

    Place: abstract and section I
    Remark: The body of the paper claims Pareto optimality and strategy-proofness for divided time only, where
        they hold: psdsf-time-pareto and psdsf-time-strategy-proof.

    Proof
        With divided resources both users of a PS-DSF allocation can be given more.
            Computed.
        With divided resources a user gains by hiding a server that it may use.
            Computed.
    """
    yield NOT_PARETO
    yield NOT_TRUTHFUL


@STATEMENTS.refute("psdsf-resource-pareto", said=Said.DENIED)
def _resource_pareto() -> Counterexample:
    r"""With divided resources no placement gives somebody more tasks than PS-DSF and nobody fewer.

    .. math:: x\text{ PS-DSF (RDM)},\ y\ge x\text{ feasible}\implies y=x

    Place: section III-B, after Theorem 3
    Case: Servers (2,1) and (1,1): (1/2, 2/3) is PS-DSF, (3/5, 4/5) fits.
    Remark: The paper says so itself, without an example. With divided time it holds: psdsf-time-pareto.
    """
    return NOT_PARETO_SMALL


@STATEMENTS.refute("psdsf-definition-5-for-totals", said=Said.READER)
def _definition_5_for_totals() -> Counterexample:
    r"""Read with totals on both sides: if every user has a bottleneck on every server, no total can grow
    unless the total of a user of no higher level falls.

    .. math:: \text{(12) for all}\ n,i,\ y\ \text{feasible},\ y_n>x_n\implies\exists p,i:\ y_p<x_p,\
        s_{pi}/\varphi_p\le s_{ni}/\varphi_n

    Place: Definition 5 and Theorem 1, read in a way that is not the paper's
    Case: Both users grow from 4/3 to 3/2 when parts of their tasks change places.
    Remark: A reading only. If the loss is counted on the server, as the proof of Theorem 1 does, the theorem
        holds, also when tasks of user n move: psdsf-theorem-1. Here each user loses tasks on its better
        server and wins more on the other.
    """
    return NOT_PARETO


@STATEMENTS.refute("psdsf-resource-unique", said=Said.READER)
def _resource_unique() -> Counterexample:
    r"""With divided resources all PS-DSF allocations give the same tasks.

    .. math:: x,y\text{ PS-DSF (RDM)}\implies\sum_ix_{ni}=\sum_iy_{ni}

    Place: section III-C speaks of "the" PS-DSF allocation; uniqueness is not claimed
    Case: Two allocations with a bottleneck for every user on every server; the first gives both users more.
    Remark: Sweeps of the algorithm in opposite orders end in the two points. With divided time totals are
        unique: psdsf-time-unique.
    """
    return against(
        "one_allocation",
        cluster=model([[2, 6, 3], [2, 2, 5]], [[6, 6, 5], [11, 8, 2], [1, 7, 8]], weights=[2, 1]),
        placement=[["6/7", "2/3", "1/9"], ["3/7", 0, "7/18"]],
        other=[["20/33", "2/3", "1/3"], ["7/11", 0, "1/6"]],
    )


@STATEMENTS.refute("psdsf-resource-strategy-proof", said=Said.DENIED)
def _resource_strategy_proof() -> Counterexample:
    r"""With divided resources nobody runs more by lying about the servers that it may use.

    .. math:: x'_n\le x_n

    Place: section III-B, after Theorem 3
    Case: User 1 hides the first server and runs 52/45 tasks instead of 44/39.
    Remark: The paper says that it fails in general. In this example both users gain, so it is no case against
        Lemma 1; psdsf-lemma-1 gives one.
    """
    return NOT_TRUTHFUL


@STATEMENTS.refute("psdsf-time-slots-strategy-proof", said=Said.READER)
def _time_slots_strategy_proof() -> Counterexample:
    r"""With divided time nobody runs more by lying about its demands, even if it may use its time as it
    likes.

    .. math:: \sum_i\frac{x'_{ni}}{\gamma'_{ni}}\gamma_{ni}\le x_n

    Place: Theorem 3, strategy-proofness, without the assumption (46)
    Case: User 1 claims (5, 2) for (1, 1), and with its time on both servers runs 21/10 tasks instead of 2.
    Remark: Not what the paper says. A liar that gets no more than the resources of the tasks that it claimed
        does not gain: psdsf-time-strategy-proof. So a scheduler that hands out whole servers in turn has to
        check what runs there.
    """
    return against(
        "truth_pays_in_time",
        cluster=model([[1, 1], [4, 1]], [[2, 3], [3, 1]]),
        placement=[[2, 0], [0, "3/4"]],
        lie=[5, 2],
        after=[["2/5", "1/20"], [0, "27/40"]],
    )


@STATEMENTS.refute("psdsf-c-drfh-bottleneck-fair", said=Said.DENIED)
def _c_drfh_bottleneck_fair() -> Counterexample:
    r"""C-DRFH is max-min fair for a resource that all users dominantly request from all their servers.

    .. math:: \text{C-DRFH: BF}

    Place: section II-B, Figure 1 and Table I
    Case: Figure 1: 60/23, 72/23 and 288/23 tasks; users 1 and 2 share only one server and hold different
        amounts of RAM.
    Remark: As the paper says; PS-DSF gives 3, 3 and 12 tasks and all the same weighted amount.
    """
    return against(
        "shares_of_common_bottleneck",
        cluster=FIGURE_1,
        mechanism="C-DRFH",
        placement=[["60/23", 0], ["72/23", 0], ["12/23", 12]],
        prices=RAM["figure 1"],
        resource=2,
    )


@STATEMENTS.refute("psdsf-tsf-bottleneck-fair", said=Said.DENIED)
def _tsf_bottleneck_fair() -> Counterexample:
    r"""TSF is max-min fair for a resource that all users dominantly request from all their servers.

    .. math:: \text{TSF: BF}

    Place: section II-B, Figure 1 and Table I
    Case: Figure 1: 2, 2 and 16 tasks; user 3 holds RAM of the server that users 1 and 2 need, and twice as
        much by weight.
    Remark: As the paper says; PS-DSF gives 3, 3 and 12 tasks and all the same weighted amount.
    """
    return against(
        "shares_of_common_bottleneck",
        cluster=FIGURE_1,
        mechanism="TSF",
        placement=[[2, 0], [2, 0], [4, 12]],
        prices=RAM["figure 1"],
        resource=2,
    )


@STATEMENTS.refute("psdsf-tsf-sharing-incentive")
def _tsf_sharing_incentive() -> Counterexample:
    r"""TSF gives each user at least the tasks of a uniform split of every server.

    .. math:: x_n\ge\frac{\varphi_n}{\sum_p\varphi_p}\sum_i\gamma_{ni}

    Place: section II-B and Table I
    Case: Servers (10,1) and (1,10), user 2 on the second only: TSF gives 1 task each, the split 11/2 and 1/2.
    Remark: With TSF and the sharing incentive as this paper defines them. The authors of TSF obtain it with
        weights of their own, not with equal ones. PS-DSF gives 11/2 and 11/20.
    """
    return against(
        "split_runs_no_more",
        cluster=model([["1/10", 1], [1, "1/10"]], [[10, 1], [1, 10]], eligible=[[1, 1], [0, 1]]),
        mechanism="TSF",
        placement=[[1, 0], [0, 1]],
        prices=[[[0, 1], [10, 0]]],
    )


@STATEMENTS.add("psdsf-cpu-full-under-any-mechanism")
def _cpu_full_under_any_mechanism(_: Question) -> Iterator[Claim]:
    r"""The CPU of the first two server classes is fully utilised under each of the three mechanisms.

    .. math:: \sum_nx_{ni}d_{n,\mathrm{CPU}}=c_{i,\mathrm{CPU}},\quad i=A,B

    Place: section V, Figure 6
    Remark: The memory is. Table IV does not give the CPU demand of user 2, but it is at most 2/15, so that no
        more than 5/6 of the CPU is in use.

    Proof
        PS-DSF of Table IV, 1/10 CPU for a task of user 2: 3/4 of the CPU of classes A and B.
            Computed.
        PS-DSF of Table IV, 2/15 CPU for a task of user 2: 5/6 of the CPU of classes A and B.
            Computed.
    """
    use = {"mechanism": "PS-DSF", "placement": PS_DSF, "prices": [], "servers": [1, 2], "resource": 1}
    for cluster in (TABLE_IV, MORE_CPU):
        yield against("resource_fully_used", cluster=cluster, **use)


@STATEMENTS.refute("psdsf-memory-full")
def _memory_full() -> Counterexample:
    r"""The memory of all servers is fully utilised under each of the three mechanisms.

    .. math:: \sum_nx_{ni}d_{n,\mathrm{RAM}}=c_{i,\mathrm{RAM}}\quad\forall i

    Place: section V, Figure 6
    Case: While user 4 is away TSF uses one third of the memory of class D.
    Remark: True for PS-DSF, and for all three while all users are active.
    """
    return against(
        "resource_fully_used",
        cluster=WITHOUT_4,
        mechanism="TSF",
        placement=TSF_WITHOUT_4,
        prices=PRICES_WITHOUT_4,
        servers=[4],
        resource=2,
    )


@STATEMENTS.add("psdsf-fluid-stability", said=Said.READER)
def _fluid_stability(_: Question) -> Iterator[Claim]:
    r"""With divided resources the fluid queues of PS-DSF do not grow while some fixed placement carries the
    loads.

    .. math:: \rho\in\operatorname{int}\mathcal R\implies\dot z_n=\rho_n-x_n(z)\text{ has no growing ray}

    Place: our own claim, not in the paper: PS-DSF under random arrivals
    Remark: PS-DSF depends on the proportions of the jobs only, so on a ray where loads exceed its tasks in
        proportion to the jobs the fluid stays and grows. The loads, 3 to 7, are 50960/59103 (86 percent) of
        what fits. As the second step shows, such rays begin at 245/297 (82.5 percent), where jobs as 40 to 63
        are served exactly 3 to 7. This is one trajectory of the fluid, not yet the behaviour of random
        queues.

    Proof
        Jobs as 5 to 8: PS-DSF serves (315/199, 2240/597), less than the loads (3640/2189, 25480/6567) by
        multiples of the jobs.
            Computed.
        Jobs as 40 to 63 are served 35/22 and 245/66 tasks, 245/297 of what fits in this mix.
            Computed.
    """
    yield against(
        "stable_on_ray",
        cluster=RAY,
        jobs=[5, 8],
        placement=[[0, "315/199"], ["8/3", "216/199"]],
        growth="35/2189",
        optimal=[["29120/59103", "69160/59103"], ["116480/59103", "112840/59103"]],
    )
    yield psdsf_tasks(
        {**RAY, "weights": [40, 63]}, [[0, "35/22"], ["8/3", "23/22"]], "resource", ["35/22", "245/66"]
    )
