"""PS-DSF: what the paper says of DRFH, C-DRFH and CDRF, in section II and Table I.

Bottleneck fairness of C-DRFH and TSF, and the sharing incentive of TSF, are in
:mod:`proofs.catalogue.psdsf.counterexamples`. The ticks are proved in
:mod:`proofs.catalogue.psdsf.task_shares`, for C-DRFH and TSF, and so for DRFH and CDRF without constraints.

Hypotheses
    alone: alone, such tasks fit on a server, or into the pool
    beside: capacities are measured in those of the common resource
    best: the placement is max-min fair: nobody runs more where nobody else of no higher share runs less
    cover: each demand of the bundle's tasks is at least m times the user's
    covers: the tasks fit into the bundle
    dominant: alone, the user would fill a resource there
    first loser: T is the least share with the lie of those who lose
    lower: either T is below H,
    not lower: or it is not
    first winner: H is the least share with the truth of those who gain
    fits: the tasks fit on the servers
    least: one demand is m times the user's
    may: tasks are on servers where they may run
    weight: weights are positive
    yardstick: so are weights times yardsticks
    no higher: the bundle makes no larger share than the user has
    demanded: demands are positive
    no loss: nobody of the same or a lower share runs less
    price: where a task may run, its resources cost no less than the task
    worth: prices of resources are not negative
    cost: tasks cost something, or nothing, and that of the user something
    share: shares are tasks over weight and yardstick
    signs: capacities are not negative
    supply: all resources cost no more than the tasks of the users of no higher share
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from proofs.catalogue.chapter import Chapter
from proofs.catalogue.declarations import declared
from proofs.catalogue.examples import against, model
from proofs.catalogue.psdsf.task_shares import (
    bottleneck_steps,
    envy_steps,
    pareto_steps,
    price_steps,
    truth_steps,
)
from proofs.catalogue.psdsf.theorems import SOURCE
from proofs.claims import Counterexample, Step
from proofs.statement import Question, Said

__all__ = ["STATEMENTS"]

STATEMENTS = Chapter(SOURCE, known=__doc__)

INCENTIVE = r"x_n\ge\frac{\varphi_n}{\sum_p\varphi_p}\sum_i\gamma_{ni}"


@STATEMENTS.refute("psdsf-c-drfh-sharing-incentive", latex=INCENTIVE, said=Said.DENIED)
def _c_drfh_sharing_incentive() -> Counterexample:
    """C-DRFH gives each user at least the tasks of a uniform split of every server.

    Place: Table I
    Scope: all clusters; refuted by one
    Case: Servers (10,1) and (1,10), user 2 on the second only: C-DRFH gives 1 task each, the split 11/2 and
        1/2.
    Remark: The paper says so of DRFH, which C-DRFH is without constraints; the marks of Table I are lost.
    """
    return against(
        "split_runs_no_more",
        cluster=model([["1/10", 1], [1, "1/10"]], [[10, 1], [1, 10]], eligible=[[1, 1], [0, 1]]),
        mechanism="C-DRFH",
        placement=[[1, 0], [0, 1]],
        prices=[[[0, 1], [10, 0]]],
    )


@STATEMENTS.refute("psdsf-drfh-sharing-incentive", latex=INCENTIVE, said=Said.DENIED)
def _drfh_sharing_incentive() -> Counterexample:
    """DRFH, without placement constraints, gives each user at least the tasks of a uniform split of every
    server.

    Place: section II-B
    Scope: all clusters; refuted by one
    Case: Servers (10,1) and (1,10), demands (1,1) and (1/10,1): DRFH gives 20/11 tasks each, the split 1 and
        11/2.
    Remark: The paper says so too, without an example.
    """
    return against(
        "split_runs_no_more",
        cluster=model([[1, 1], ["1/10", 1]], [[10, 1], [1, 10]]),
        mechanism="C-DRFH",
        placement=[[1, "9/11"], [0, "20/11"]],
        prices=[[[0, 1], [1, 0]]],
    )


@STATEMENTS.refute("psdsf-eligible-shares-strategy-proof", said=Said.DENIED)
def _eligible_shares_strategy_proof() -> Counterexample:
    r"""If the dominant shares of users in the servers that they may use are max-min fair, nobody runs more by
    a false report of these servers.

    .. math:: \hat x_n\le x_n

    Place: section II-B, before C-DRFH
    Scope: all clusters; refuted by one
    Case: User 1 falsely claims the second server, and is given one task on the first instead of 3/4, and 1/7
        of one where it cannot run.
    Remark: The paper says so too, without an example: hence the shares in all servers of C-DRFH and TSF,
        which do not invite lies (psdsf-c-drfh-strategy-proof, psdsf-tsf-strategy-proof).
    """
    return against(
        "claims_pay_nothing",
        cluster=model([[1, 1], [2, 1]], [[1, 1], [2, 1]], eligible=[[1, 0], [1, 1]]),
        mechanism="eligible",
        placement=[["3/4", 0], ["1/8", 1]],
        prices=[[[1, 0], [1, 0]]],
        lie=[[1, 1], [1, 1]],
        after=[[1, "1/7"], [0, "6/7"]],
        later=[[[0, 1], [0, 1]]],
    )


@STATEMENTS.add("psdsf-cdrf-one-server")
def _one_server(question: Question) -> None:
    r"""On one server CDRF is weighted dominant resource fairness, and so is TSF if everybody may run there.

    .. math:: x_n/\gamma_n = x_n\max_r d_{nr}/c_r

    Hypotheses
        dominant*: one resource stops the user when it is alone
        alone*: its tasks alone fit into the others
        level*: the share is tasks over tasks alone
        signs: shares are not negative
    Place: section II-B, on CDRF
    Scope: each user and resource; all reals
    Reading: Both mechanisms ask for max-min fairness of these shares, over the weights: the same numbers over
        the same set of allocations. If everybody may run there, the tasks alone of TSF are those of CDRF.

    Proof
        # s: tasks x over tasks alone g; d, c: demand, capacity of the dominant resource; e, k: of another.
        The share of CDRF is the share of the dominant resource...
            dominant: g*d == c; level: s*g == x
            => x*d == s*c (as stated)
        ...and no share of another resource is larger.
            alone: g*e <= k; level; s >= 0
            => x*e <= s*k (as stated)
            by alone * sign of s
    """


@STATEMENTS.add("psdsf-cdrf-sharing-incentive", latex=INCENTIVE)
def _cdrf_incentive(question: Question) -> None:
    """Without placement constraints CDRF gives each user at least the tasks that its weight's part of every
    server runs.

    Hypotheses
        alone*: the tasks of a user alone on a server fit
        parts*: weights are parts that add up to 1
        no higher*: the other users k are those of no higher share
        best*: the placement is max-min fair: a user runs no more in another one in which nobody else of the
            same
            or a lower share runs less
        weight: weights are positive
        signs: tasks, demands and capacities are not negative
    Place: section II-B, on CDRF
    Scope: any numbers of users, servers and resources; all reals
    Remark: With placement constraints TSF does not have it (psdsf-tsf-sharing-incentive): tasks alone then
        count
        servers that a user may not use.

    Proof
        # User 1 has no lower share than the users k, and a lower one than the users p.
        [split] The split by weights fits on every server, also if some users leave.
            alone: g[k]*d[k] <= c; alone 1: g1*d1 <= c; parts: f1 + sum[k](f[k]) + sum[p](f[p]) == 1;
            weight: f[k] > 0; weight 1: f1 > 0; weight 2: f[p] > 0; c >= 0
            => f1*g1*d1 + sum[k](f[k]*g[k]*d[k]) <= c
            by alone * weight; alone 1 * weight 1; weight 2 * sign of c; parts | c
        [positive] Who runs less than by the split would run something by it.
            less: x1 < f1*G1; x1 >= 0
            => f1*G1 > 0
        [gain] If user 1 does, nobody of no higher share runs more than by the split,
            less: x1 < v1; no higher: x*v1 <= x1*v; positive: v1 > 0; v >= 0
            => x <= v
            by no higher; less * sign of v; not the conclusion * positive
        [share] whose tasks by the split are not negative,
            weight: f > 0; some: G >= 0
            => f*G >= 0
            by weight * some
        [alone] as those of anybody alone.
            sign of g: g[i] >= 0
            => sum[i](g[i]) >= 0
        [less] But then user 1 cannot run more in the split.
            less: x1 < f1*G1; best: f1*G1 <= x1
            => 0 == 1
        So it runs no less than by the split.
            best: sum[i](y1[i]) <= x1 if y1[i]*d1[r] + sum[k](y[k,i]*d[k,r]) <= c[i,r] and
            sum[i](y[k,i]) >= x[k] and y1[i] >= 0 and y[k,i] >= 0 for all y1[i], y[k,i];
            alone: g[k,i]*d[k,r] <= c[i,r]; alone 1: g1[i]*d1[r] <= c[i,r];
            parts: f1 + sum[k](f[k]) + sum[p](f[p]) == 1; weight: f[k] > 0; weight 1: f1 > 0;
            weight 2: f[p] > 0; c[i,r] >= 0; g[k,i] >= 0; g1[i] >= 0; x1 >= 0; x[k] >= 0; d[k,r] >= 0;
            d1[r] >= 0; no higher: x[k]*f1*sum[i](g1[i]) <= x1*f[k]*sum[i](g[k,i])
            cases x1 < f1*sum[i](g1[i])
            from split knowing all with g[k] = g[k,i]; d[k] = d[k,r]; g1 = g1[i]; d1 = d1[r]; c = c[i,r]
            from positive knowing all with G1 = sum[i](g1[i])
            from alone knowing all with g[i] = g[k,i]
            from share knowing all with f = f[k]; G = sum[i](g[k,i])
            from gain knowing all with v1 = f1*sum[i](g1[i]); x = x[k]; v = f[k]*sum[i](g[k,i])
            from share knowing all with f = f[k]; G = g[k,i]
            from share knowing all with f = f1; G = g1[i]
            from best with y1[i] = f1*g1[i]; y[k,i] = f[k]*g[k,i]
            from less knowing all with G1 = sum[i](g1[i])
            => f1*sum[i](g1[i]) <= x1 (as stated)
    """


# Ticks.

SCOPE = "all reals, any numbers of users, servers and resources, any weights"

Steps = Callable[[Question, bool], Iterable[Step]]
"""The steps of a property, for yardsticks in the pool (true) or on all servers one by one."""

SAID = {"C-DRFH": "section II-B, on DRFH, and Table I", "TSF": "section II-B, on CDRF and TSF, and Table I"}


def _both(key: str, **parts: Any) -> Callable[[Steps], Steps]:
    """Add a statement on C-DRFH, which is DRFH without constraints, and one on TSF, which is CDRF then."""

    def decorate(steps: Steps) -> Steps:
        for mechanism, place in SAID.items():
            pooled = mechanism == "C-DRFH"
            told = {"mechanism": mechanism, "without": "DRFH" if pooled else "CDRF"}
            scope = f"{SCOPE}; with and without placement constraints; every max-min fair placement"
            _add(f"psdsf-{mechanism.lower()}-{key}", steps, pooled, told, place=place, scope=scope, **parts)
        return steps

    return decorate


def _add(id: str, steps: Steps, pooled: bool, told: dict[str, str], **parts: Any) -> None:
    """Add a statement whose words name the mechanism, as in "Under {mechanism} nobody loses."."""
    said = declared(steps.__doc__, STATEMENTS.known)
    said["words"] = said["words"].format(**told)
    STATEMENTS.add(id, **said | parts)(lambda question: steps(question, pooled))


@STATEMENTS.add("psdsf-max-min-prices", said=Said.READER)
def _prices(question: Question) -> Iterable[Step]:
    r"""A placement is max-min fair by shares if and only if each user has prices at which those of no higher
    share could just buy all that there is.

    .. math:: \sum_{i,r}q_{ir}c_{ir}\le\sum_{k:s_k\le s_n}w_kx_k,\ \sum_rq_{ir}d_{kr}\ge w_k,\ w_n>0

    Hypotheses
        price*, supply*, fits*, no loss*, worth*, cost, signs
    Place: section II-B; not said there: what the other statements start from
    Scope: all reals, any numbers of users, servers and resources, any weights; that there are such prices in
        words, by the duality of linear programs
    Reading: A max-min fair placement has such prices for each user: what the user runs is the most that fits
        while nobody of the same or a lower share runs less. The dual prices of this linear program, with 1
        for a task of the user, meet the conditions.
    """
    return price_steps(question)


@_both("pareto")
def _pareto(question: Question, pooled: bool) -> Iterator[Step]:
    r"""Under {mechanism}, and so under {without}, nobody can be given more tasks unless somebody gets fewer,
    whatever is moved.

    .. math:: y\ge x,\ y\text{ feasible}\implies y=x

    Hypotheses
        best*, fits*, no loss*, may, signs
    """
    return pareto_steps(question)


@_both("envy-free")
def _envy_free(question: Question, pooled: bool) -> Iterator[Step]:
    r"""Under {mechanism}, and so under {without}, no user would run more tasks with the resources of another,
    adjusted by weight, on the servers that it may use.

    .. math:: U_n(a_p)/\varphi_p\le x_n/\varphi_n

    Hypotheses
        cover*, covers*, least*, demanded, alone*, dominant*, share*, no higher*
        best*, may, signs
        fits*: the bundle of one who stands higher fits beside the tasks of the user and of all others who do
            not
        tasks*: tasks on the servers add up
    """
    return envy_steps(question, pooled)


@_both("strategy-proof")
def _strategy_proof(question: Question, pooled: bool) -> Iterator[Step]:
    r"""Under {mechanism}, and so under {without}, nobody runs more by lying about its demands or servers, if
    it gets only the resources of its claims.

    .. math:: \hat x_n=\sum_i\min_r\frac{x'_{ni}d'_{nr}}{d_{nr}}\le x_n

    Hypotheses
        cover*
        covers*: the tasks fit into the resources of the claimed ones
        least*, demanded, alone*, dominant*, share*, weight, yardstick
        gains*: the liar gains
        first winner*: of those who gain user 1 has the least share H with the truth
        first loser*: of those who lose user 2 has the least share T with the lie,
        none loses*: or nobody loses
        loses: who loses runs less
        best*: the placement with the truth is max-min fair: user 1 runs no more in another one in which
            nobody
            else of the same or a lower share runs less
        later*: so is the one with the lie for user 2, whose equals and those below are truthful if the liar
            stands above T
        fits*: what is run with the truth fits, and with the lie, the liar's real tasks in what it gets
        among*: the other users are those of no higher share than H, or T
        may, signs
    Reading: Users are finitely many. So if the liar gains some user 1 of those who gain has the least share
        with the truth, and if some lose, some user 2 of these has the least share with the lie: the two parts
        are all cases. In both user 1 gains nothing, which contradicts what it is, so that the liar does not
        gain.
    Remark: Weights are given, not stated by the users. The same steps exclude that several users lie and all
        of them gain.
    """
    return truth_steps(question, pooled)


def _bottleneck_fair(question: Question, pooled: bool) -> Iterator[Step]:
    r"""Under {mechanism}, if all users dominantly request one resource from all servers, its amounts are
    weighted max-min fair.

    .. math:: \rho(n,i)=r\ \forall n,i\implies (x_nd_{nr}/\varphi_n)_n\ \text{max-min fair}

    Hypotheses
        alone*, beside*, fits*, no loss*, best*, may, share*
        dominant*: alone on a server, or in the pool, each user would fill the common resource
        common: every server has some of it
        signs: tasks, demands and ratios are not negative
    Remark: One resource alone is the special case of single resource fairness. Placement constraints do no
        harm if the resource is dominant on all servers, those included that a user may not use. If a server
        lacks what some user demands, as in Figure 1, it may fail: psdsf-c-drfh-bottleneck-fair and
        psdsf-tsf-bottleneck-fair.
    """
    return bottleneck_steps(question, pooled)


for mechanism, place, said in (
    ("DRFH", "section II-B, on DRFH", Said.CLAIMED),
    ("CDRF", "section II-B, on CDRF; not claimed there", Said.READER),
):
    _add(
        f"psdsf-{mechanism.lower()}-bottleneck-fair",
        _bottleneck_fair,
        mechanism == "DRFH",
        {"mechanism": mechanism},
        place=place,
        scope=f"{SCOPE}; every server has some of the common resource; every max-min fair placement",
        said=said,
    )
