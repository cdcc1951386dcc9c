"""D. C. Parkes, A. D. Procaccia, N. Shah, "Beyond dominant resource fairness", ACM TEAC 3(1), 2015: EDRF.

Agent i demands the part D_ir of resource r per task and is entitled to w_ir of it. With
d_ir = D_ir / max_k D_ik and rho_i = min over demanded r of w_ir / d_ir it grows at the rate
g_ir = rho_i d_ir; a resource that is exhausted stops everybody who demands it.

Hypotheses
    demand: demands are positive (or not negative where so said)
    tight: some resource fixes rho: there the rate is the entitlement
    tasks: tasks times demand is what the agent holds
    smallest: rho is at most the entitlement over the demand, of every demanded resource
    entitled: entitlements are not negative
    ratio: rho is not negative
    entitlements: entitlements to a resource add up to 1 at most
    exhausted: the first round exhausts the resource
    upwards: the level of the first round is not negative
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from proofs.catalogue.chapter import Chapter
from proofs.catalogue.examples import against, computed, every
from proofs.catalogue.proof_texts import Given, argued
from proofs.claims import Claim, Counterexample, Step
from proofs.statement import Question, Said, Size

__all__ = ["SOURCE", "STATEMENTS", "WEIGHTS", "WORKED", "envy_steps", "incentive_steps"]

SOURCE = (
    'D. C. Parkes, A. D. Procaccia, N. Shah, "Beyond dominant resource fairness: extensions, limitations, '
    'and indivisibilities", ACM TEAC 3(1), 2015, DOI 10.1145/2739040'
)
WORKED = [["1", "0"], ["1/2", "1"], ["0", "1"]]
"""Three agents and two resources: a second round goes on after the first."""

WEIGHTS = [None, [1, 3], [3, 1], [[1, 2], [2, 1]]]
"""Entitlements of two agents: equal, of one number each, and of one number per resource."""

STATEMENTS = Chapter(SOURCE, known=__doc__)


@argued
def _rates(question: Question) -> None:
    """A rate, rho times the demand, is at most the entitlement.

    Proof
        [no demand] Where there is no demand there is no rate,
            none: d <= 0; ratio: q >= 0; entitled: w >= 0
            => q*d <= w
            by none * ratio
        [rate] so that no rate is above the entitlement.
            smallest: q*d <= w if d > 0; ratio: q >= 0; entitled: w >= 0
            cases d > 0
            from smallest
            from no demand knowing all
            => q*d <= w
    """


@argued
def _first_round(question: Question, stated: str) -> Iterator[Iterable[Step]]:
    """The rates on a resource add up to what there is at most.

    Proof
        [rate] ...
        [level] On the first exhausted resource the rates add up to 1 at most,
            rate: g[i] <= w[i]; entitlements: sum[i](w[i]) <= 1; exhausted: x*sum[i](g[i]) == 1;
            upwards: x >= 0
            => x >= 1
        so that it lasts to the level 1.
            smallest: q[i]*d[i] <= w[i] if d[i] > 0 for each i; ratio: q[i] >= 0; entitled: w[i] >= 0;
            entitlements: sum[i](w[i]) <= 1; exhausted: x*sum[i](q[i]*d[i]) == 1; upwards: x >= 0
            from rate knowing all with q = q[i]; d = d[i]; w = w[i]
            from level knowing all with g[i] = q[i]*d[i]
            => x >= 1{stated}
    """
    yield _rates(question)


@STATEMENTS.add("edrf-first-round")
def _first(question: Question) -> Iterator[Step]:
    r"""The first round of EDRF brings everybody at least to the level 1 of its entitlement.

    .. math:: x_1 = \min_r \frac{1}{\sum_i \rho_i d_{ir}} \ge 1

    Hypotheses
        smallest*, entitlements*, exhausted*, upwards*, entitled, ratio
    Place: section 3 (extended DRF); Algorithm 1 in section 2.1 of Kash et al., SoCC 2018
    Scope: all demands and entitlements, any numbers of resources and agents
    """
    yield from _first_round(question, " (as stated)")


@argued
def incentive_steps(question: Question) -> Iterator[Iterable[Step]]:
    """Nobody stops before the first round ends, at the level 1 or more.

    Proof
        [first] ...
        [steps] Steps of later rounds add up to something,
            further: s[t] >= 0
            => sum[t](s[t]) >= 0
        [later] so that levels only rise after the first round.
            first: x >= 1; further: s >= 0; level: z == x + s
            => z >= 1
        [as entitled] Whoever stops at the level 1 or later runs as many tasks T as its entitlements run, U.
            demand: D > 0; entitled 1: w >= 0; tight: g == w; late: z >= 1; tasks: T*D == g*z;
            entitlement: U*D <= w
            => U <= T
        So everybody does.
            smallest: q[i]*d[i] <= w[i] if d[i] > 0 for each i; ratio: q[i] >= 0; entitled: w[i] >= 0;
            entitlements: sum[i](w[i]) <= 1; exhausted: x*sum[i](q[i]*d[i]) == 1; upwards: x >= 0;
            further: s[t] >= 0; level: z == x + sum[t](s[t]); demand; entitled 1; tight; tasks; entitlement
            from first knowing all
            from steps knowing all
            from later knowing all with s = sum[t](s[t])
            from as entitled knowing all
            => U <= T (as stated)
    """
    yield _first_round(question, "")


@argued
def envy_steps(question: Question) -> Iterator[Iterable[Step]]:
    """Nobody envies those who stop no later, nor those who go on.

    Proof
        # On the resource that fixes rho_i: D, g, u; h, v of j. On the one that stopped i: E; H, K of j.
        [rate] ...
        [no later] If j stops no later than i, i prefers its own: on the resource that fixes rho_i, j holds
        too little.
            demand: D > 0; entitled: u > 0; other entitled: v > 0; other level: y >= 0; tight: g == u;
            rate: h <= v; no later: y <= z; tasks: T*D == g*z; envied: U*D*v <= u*h*y
            => U <= T
            by not the conclusion * demand * other entitled; entitled * other entitled * no later;
            entitled * other level * rate
            degree 2
        [goes on] If j goes on after i, it demands nothing of the resource that stopped i, and i can run
        nothing with that.
            demand 1: E > 0; T >= 0; nothing held: H <= 0; H >= 0; envied 1: U*E <= K*H
            => U <= T
            degree 3
        [stops] If it demands some of it, it stops no later.
            stops all: H*(z - y) >= 0; demanded: H > 0
            => y <= z
            degree 2
        One of the two is the case, so that nobody envies.
            smallest: q*d <= v if d > 0; ratio: q >= 0; demand; demand 1; entitled; other entitled;
            other level; tight; stops all; tasks; envied: U*D*v <= u*q*d*y; envied 1; T >= 0; H >= 0
            cases H > 0
            from rate knowing all with w = v
            from stops knowing all
            from no later knowing all with h = q*d
            from goes on knowing all
            => U <= T (as stated)
    """
    yield _rates(question)


@STATEMENTS.add("edrf-sharing-incentive")
def _sharing_incentive(question: Question) -> Iterator[Given]:
    r"""EDRF gives every agent at least as many tasks as its entitlements run.

    .. math:: u_i(A_i) \ge u_i(w_{i\cdot})

    Hypotheses
        smallest*, entitlements*, exhausted*, upwards*, entitled, ratio, demand, tight*
        level*: the agent stops at the level of the first round or later, by the steps of later rounds
        further*: steps are not negative
        tasks*
        entitlement*: U tasks fit into the entitlement
    Place: section 3
    Scope: all demands and entitlements, any number of agents; algorithm run for all 2 x 2 demands in thirds
        and four tables of entitlements

    Proof
        The same, computed from the algorithm.
            Computed.
        ...
    """
    yield every("edrf_fair", n=2, m=2, largest=3, weights=WEIGHTS)
    yield incentive_steps(question)


@STATEMENTS.add("edrf-envy-freeness")
def _envy(question: Question) -> Iterator[Given]:
    r"""In EDRF nobody prefers what another holds, scaled on each resource by the ratio of their entitlements.

    .. math:: u_i(A_i) \ge u_i\bigl((w_{ir}/w_{jr}\,A_{jr})_r\bigr)

    Hypotheses
        demand
        entitled: the agent's entitlement is positive
        other entitled: the other's entitlement is positive
        other level: the other's level is not negative
        tight*, ratio
        smallest*: the other's rho is at most its entitlement over its demand, where it demands something
        stops all*: what is exhausted stops all who demand it; if the other demands what stopped the agent, it
            stopped no later
        tasks*
        envied*: U tasks fit into what the other holds, scaled by the ratio of entitlements
        signs: tasks and rates are not negative
    Place: section 3
    Scope: all demands, entitlements and pairs of any number of agents; algorithm run for all 2 x 2 demands in
        thirds and four tables of entitlements

    Proof
        The same, computed from the algorithm.
            Computed.
        ...
    """
    yield every("edrf_fair", n=2, m=2, largest=3, weights=WEIGHTS)
    yield envy_steps(question)


@STATEMENTS.add("edrf-pareto")
def _pareto(question: Question) -> None:
    r"""EDRF is Pareto optimal: nobody can run more tasks unless somebody runs fewer.

    .. math:: y \ge x,\ \textstyle\sum_i y_i D_{ir} \le 1 \implies y = x

    Hypotheses
        demand
        no loss*: nobody has less
        demanded*: agent 1 demands the resource that stops it
        exhausted*: that resource is exhausted; EDRF ends when all have stopped
        fits*: the other allocation does not exceed the resource
    Place: section 3
    Scope: all demands and tasks, any numbers of agents and resources

    Proof
        Of a resource that is exhausted agent 1 can have more only if somebody has less.
            demand: D[i] >= 0; no loss: y[i] >= x[i]; no loss 1: y1 >= x1; demanded: D1 > 0;
            exhausted: x1*D1 + sum[i](x[i]*D[i]) == 1; fits: y1*D1 + sum[i](y[i]*D[i]) <= 1
            => y1 <= x1 (as stated)
    """


@STATEMENTS.add("edrf-one-round", sizes={"n": Size(3, 2, 4, "agents", deep=4, beside=True)})
def _one_round(question: Question) -> Iterator[Claim]:
    r"""If everybody demands something of every resource, EDRF ends after one round.

    .. math:: D > 0 \implies A_{ir} = \rho_i d_{ir} \big/ \max_k \textstyle\sum_j \rho_j d_{jk}

    Hypotheses
        positive*: all demands are positive
        stops*: the first exhausted resource stops everybody who demands it, at its level
        exhausted*: that is one over the rates on it, which are largest together
        holds*: an agent holds its level times its rate
    Place: section 3; compare I. A. Kash et al., SoCC 2018, section 1 (why EDRF takes rounds)
    Scope: all demands, any numbers of agents and resources; {n} agents, 2 resources and demands 1 to 3 by
        computation

    Proof
        The same, computed from the algorithm.
            Computed.
        Three agents with zeros: tasks after two rounds.
            Computed.
        [stops] Without zeros everybody demands the first exhausted resource, so that nobody is left for a
        second round.
            positive: D > 0; stops: D*(z - x) == 0
            => z == x
            by positive * not the conclusion
            degree 2
        [holds] Everybody holds its rate over those on that resource.
            level: z == x; exhausted: x*sum[i](g[i]) == 1; holds: A == z*h
            => A*sum[i](g[i]) == h
            degree 2
        So EDRF ends after one round.
            positive; stops; exhausted; holds
            from stops knowing all
            from holds knowing all
            => A*sum[i](g[i]) == h (as stated)
    """
    least = 1 if question.holds("positive") else 0
    yield every("edrf_rounds_of", n=question.sizes["n"], m=2, largest=3, least=least, weights=[None])
    yield computed("edrf_tasks", demands=WORKED, gives=["3/4", "1/2", "1/2"])


@STATEMENTS.add("edrf-strategyproof")
def _strategyproof(question: Question) -> Iterator[Claim]:
    r"""EDRF is group-strategyproof: agents who claim other demands do not all run more tasks.

    .. math:: \forall S \ne \emptyset\ \exists i \in S: u_i(A'_i) \le u_i(A_i)

    Hypotheses
        demand: demands are positive, or not negative
        better*: every member of the group runs more tasks with the lies, all but one that may be agent 1
        tasks*: tasks times demand is what a member holds in the honest run
        runs*: the tasks with the lies fit into what it then holds
        entitled: entitlements are not negative
        tight*: some demanded resource fixes rho: there the honest rate is the entitlement
        claimed rate*: a claim has at most the rate of the entitlement on every resource
        levels: levels are not negative
        rate: rates are not negative
        gainer*: of the agents outside the group some stop at a higher level with the lies,
        rest*: and the rest does not
        earliest*: of those who stop at a higher level agent 1 stops first in the honest run
        exact*: the resource that stops it is exhausted, and one is that stops an agent of the rest with the
            lies
            (epsilon = 0)
        fits*: nothing is exceeded
        stops*: whoever demands or claims an exhausted resource stops with it, or before
        claims*: an agent claims what stops it
    Place: section 3 (group strategyproofness)
    Scope: all demands, entitlements, groups and claims, any numbers of agents and resources; algorithm run
        for three agents and two resources: all lies of one in halves, of two in whole units
    Reading: Agents are finitely many. If all members run more, they stop at higher levels, so that some agent
        1 of all who do stops first in the honest run; it is a member or not, and the two parts are all cases.
        The first says that such a member does not run more, the other that such an agent does not stop at a
        higher level: so the members do not all run more. The sums over o are over all of the rest, beside an
        agent p of it, which has a term of its own: G[p,p] is 0 in them.
    Remark: A group of one is strategy-proofness. Members who gain nothing can help others:
        edrf-strategyproof-helper.

    Proof
        Computed from the algorithm: every lie of one of three agents.
            Computed (as stated).
        Every pair of lies of two of three agents.
            Computed (as stated).
        # z, y: levels at which agents stop in the honest run and with the lies. Members i, others who gain k,
        # the rest p. o: all of the rest once more, with the same levels; G[o,p]: what o has of the resource
        # that stops p with the lies, for each unit of its level, but 0 for o = p, whose own rate on it is
        # E[p].
        [later] A member of the group who runs more tasks stops at a higher level: where its honest rate is
        its
        entitlement, no claim has a higher rate.
            demand: D > 0; better: U > T; tasks: T*D == g*z; tight: g == w; runs: U*D <= h*y;
            claimed rate: h <= w; entitled: w >= 0; levels: y >= 0
            => y > z
            by better * demand; claimed rate * levels; not the conclusion * entitled
        [no less] It holds no less of anything with the lies,
            demand: d >= 0; better; tasks: T*d == a; runs: U*d <= b
            => b >= a
            by better * demand
        [more] and more of what it demands.
            demand: d > 0; better; tasks: T*d == a; runs: U*d <= b
            => b > a
            by better * demand
        [as much] So it is with others who gain, whose rates are the same,
            rate: g >= 0; gainer: y > z
            => g*y >= g*z
            by rate * gainer
        [more alike] where they have a rate.
            rate: g > 0; gainer: y > z
            => g*y > g*z
            by rate * gainer
        [before] Let the resource r stop agent 1 at the level t in the honest run. One of the rest that has
        less
        of r with the lies stops below t then, as r stops it in the honest run,
            less: g*y < g*z; stops: g*(t - z) >= 0; rate: g >= 0
            => y < t
            by not the conclusion * rate
        [lower] and at a lower level than in the honest run.
            less: g*y < g*z; rate: g >= 0
            => y < z
            by not the conclusion * rate
        [above] Those who gain stop above it with the lies,
            gainer: y > z; earliest: z >= t; before: s < t
            => y > s
        [none] so that they claim nothing of the resource q that stops it.
            stops: H*(s - y) >= 0; above: y > s; rate: H >= 0; levels: y >= 0
            => H*y <= 0
            by not the conclusion * above; stops * levels
        [overfull] But as q is exhausted then, the honest run would exceed it, which it cannot.
            exact: H1*y1 + sum[i](H[i]*y[i]) + sum[k](G[k]*y[k]) + sum[o](G[o]*y[o]) + E*y == 1;
            fits: Q1*z1 + sum[i](Q[i]*z[i]) + sum[k](G[k]*z[k]) + sum[o](G[o]*z[o]) + E*z <= 1;
            none 1: H1*y1 <= 0; none 2: H[i]*y[i] <= 0; none 3: G[k]*y[k] <= 0; rest: y[o] <= z[o];
            claims: E > 0; lower: y < z; rate 1: Q1 >= 0; rate 2: Q[i] >= 0; rate 3: G[k] >= 0;
            rate 4: G[o] >= 0; levels 1: z1 >= 0; levels 2: z[i] >= 0; levels 3: z[k] >= 0
            => 0 == 1
            by rest * rate 4; lower * claims; rate 1 * levels 1; rate 2 * levels 2; rate 3 * levels 3
        [keeps] So none of the rest has less of r.
            gainer 1: y1 > z1; later: y[i] > z[i]; gainer: y[k] > z[k]; earliest 2: z[i] >= z1;
            earliest 3: z[k] >= z1; rate: g[p] >= 0; stops: g[p]*(z1 - z[p]) >= 0;
            stops 1: H1[p]*(y[p] - y1) >= 0; stops 2: H[i,p]*(y[p] - y[i]) >= 0;
            stops 3: G[k,p]*(y[p] - y[k]) >= 0;
            exact: H1[p]*y1 + sum[i](H[i,p]*y[i]) + sum[k](G[k,p]*y[k]) + sum[o](G[o,p]*y[o]) + E[p]*y[p] ==
            1;
            fits: Q1[p]*z1 + sum[i](Q[i,p]*z[i]) + sum[k](G[k,p]*z[k]) + sum[o](G[o,p]*z[o]) + E[p]*z[p] <= 1;
            rest: y[o] <= z[o]; claims: E[p] > 0; rate 1: Q1[p] >= 0; rate 2: Q[i,p] >= 0; rate 3: G[k,p] >=
            0;
            rate 4: G[o,p] >= 0; rate 5: H1[p] >= 0; rate 6: H[i,p] >= 0; levels 1: z1 >= 0;
            levels 2: z[i] >= 0; levels 3: z[k] >= 0; levels 4: y1 >= 0; levels 5: y[i] >= 0;
            levels 6: y[k] >= 0
            cases g[p]*y[p] < g[p]*z[p]
            from before knowing all with g = g[p]; y = y[p]; z = z[p]; t = z1
            from lower knowing all with g = g[p]; y = y[p]; z = z[p]
            from above knowing all with y = y1; z = z1; t = z1; s = y[p]
            from above knowing all with y = y[i]; z = z[i]; t = z1; s = y[p]
            from above knowing all with y = y[k]; z = z[k]; t = z1; s = y[p]
            from none knowing all with H = H1[p]; s = y[p]; y = y1
            from none knowing all with H = H[i,p]; s = y[p]; y = y[i]
            from none knowing all with H = G[k,p]; s = y[p]; y = y[k]
            from overfull knowing all with H1 = H1[p]; H[i] = H[i,p]; G[k] = G[k,p]; G[o] = G[o,p]; E = E[p];
            Q1 = Q1[p]; Q[i] = Q[i,p]; y = y[p]; z = z[p]
            => g[p]*y[p] >= g[p]*z[p]
        [crowded] But all cannot have as much of r, which is exhausted in the honest run, and one more.
            exact: a1 + sum[i](a[i]) + sum[k](g[k]*z[k]) + sum[p](g[p]*z[p]) == 1;
            fits: b1 + sum[i](b[i]) + sum[k](g[k]*y[k]) + sum[p](g[p]*y[p]) <= 1; no less: b[i] >= a[i];
            as much: g[k]*y[k] >= g[k]*z[k]; keeps: g[p]*y[p] >= g[p]*z[p]; more: b1 > a1
            => 0 == 1
        If agent 1 is a member, it does not run more,
            demand 1: D1 > 0; demand 2: D[i] > 0; demand 3: d1 > 0; demand 4: d[i] >= 0; better: U[i] > T[i];
            tasks 1: T1*D1 == m1*z1; tasks 2: T[i]*D[i] == m[i]*z[i]; tasks 3: T1*d1 == a1;
            tasks 4: T[i]*d[i] == a[i]; tight 1: m1 == w1; tight 2: m[i] == w[i]; runs 1: U1*D1 <= h1*y1;
            runs 2: U[i]*D[i] <= h[i]*y[i]; runs 3: U1*d1 <= b1; runs 4: U[i]*d[i] <= b[i];
            claimed rate 1: h1 <= w1; claimed rate 2: h[i] <= w[i]; entitled 1: w1 >= 0; entitled 2: w[i] >=
            0;
            gainer: y[k] > z[k]; earliest 2: z[i] >= z1; earliest 3: z[k] >= z1; rate: g[p] >= 0;
            rate 7: g[k] >= 0; stops: g[p]*(z1 - z[p]) >= 0; stops 1: H1[p]*(y[p] - y1) >= 0;
            stops 2: H[i,p]*(y[p] - y[i]) >= 0; stops 3: G[k,p]*(y[p] - y[k]) >= 0;
            exact: H1[p]*y1 + sum[i](H[i,p]*y[i]) + sum[k](G[k,p]*y[k]) + sum[o](G[o,p]*y[o]) + E[p]*y[p] ==
            1;
            exact 1: a1 + sum[i](a[i]) + sum[k](g[k]*z[k]) + sum[p](g[p]*z[p]) == 1;
            fits: Q1[p]*z1 + sum[i](Q[i,p]*z[i]) + sum[k](G[k,p]*z[k]) + sum[o](G[o,p]*z[o]) + E[p]*z[p] <= 1;
            fits 1: b1 + sum[i](b[i]) + sum[k](g[k]*y[k]) + sum[p](g[p]*y[p]) <= 1;
            rest: y[o] <= z[o]; claims: E[p] > 0; rate 1: Q1[p] >= 0; rate 2: Q[i,p] >= 0; rate 3: G[k,p] >=
            0;
            rate 4: G[o,p] >= 0; rate 5: H1[p] >= 0; rate 6: H[i,p] >= 0; levels 1: z1 >= 0;
            levels 2: z[i] >= 0; levels 3: z[k] >= 0; levels 4: y1 >= 0; levels 5: y[i] >= 0;
            levels 6: y[k] >= 0
            cases U1 > T1
            from later knowing all with D = D1; U = U1; T = T1; g = m1; z = z1; w = w1; h = h1; y = y1
            from later knowing all with D = D[i]; U = U[i]; T = T[i]; g = m[i]; z = z[i]; w = w[i]; h = h[i];
            y = y[i]
            from no less knowing all with d = d[i]; U = U[i]; T = T[i]; a = a[i]; b = b[i]
            from more knowing all with d = d1; U = U1; T = T1; a = a1; b = b1
            from as much knowing all with g = g[k]; y = y[k]; z = z[k]
            from keeps knowing all
            from crowded knowing all
            => U1 <= T1 (as stated)
        and if it is not, it does not stop at a higher level: the members cannot all run more.
            demand 2; demand 4; better; tasks 2; tasks 4; tight 2; runs 2; runs 4; claimed rate 2; entitled 2;
            gainer; earliest 2; earliest 3; rate; rate 7; rate 8: g1 > 0; stops; stops 1; stops 2; stops 3;
            exact; exact 1: g1*z1 + sum[i](a[i]) + sum[k](g[k]*z[k]) + sum[p](g[p]*z[p]) == 1; fits;
            fits 1: g1*y1 + sum[i](b[i]) + sum[k](g[k]*y[k]) + sum[p](g[p]*y[p]) <= 1; rest; claims; rate 1;
            rate 2; rate 3; rate 4; rate 5; rate 6; levels 1; levels 2; levels 3; levels 4; levels 5; levels 6
            cases y1 > z1
            from later knowing all with D = D[i]; U = U[i]; T = T[i]; g = m[i]; z = z[i]; w = w[i]; h = h[i];
            y = y[i]
            from no less knowing all with d = d[i]; U = U[i]; T = T[i]; a = a[i]; b = b[i]
            from more alike knowing all with g = g1; y = y1; z = z1
            from as much knowing all with g = g[k]; y = y[k]; z = z[k]
            from keeps knowing all
            from crowded knowing all with a1 = g1*z1; b1 = g1*y1
            => y1 <= z1 (as stated)
    """
    yield every("edrf_lies", n=3, m=2, largest=2, members=1)
    yield every("edrf_lies", n=3, m=2, largest=1, members=2)


HELPER = {"demands": [[1, 0, 0], [0, 0, 1], [1, 0, 0], [0, 1, "1/2"]], "lies": [[1, 1, 0], [0, 0, 1]]}
"""Agent 1 claims resource 2, which it does not need, and stops agent 4 by that, for the good of agent 2."""


@STATEMENTS.refute("edrf-strategyproof-helper", said=Said.READER)
def _strategyproof_helper() -> Counterexample:
    r"""In EDRF no member of a group that claims other demands gains unless another member loses.

    .. math:: u_i(A'_i) \ge u_i(A_i)\ \forall i \in S \implies u_i(A'_i) = u_i(A_i)\ \forall i \in S

    Place: section 3, group strategyproofness read so that members need not gain
    Scope: four agents, three resources, a group of two
    Case: Agent 1 claims resource 2 too, keeps 1/2 of resource 1, and agent 2 holds 3/4 of resource 3 instead
        of 2/3.
    Remark: The stronger of the two usual readings, which we do not ascribe to the paper. True is: not all
        members gain (edrf-strategyproof).
    """
    return against("edrf_group_lie", **HELPER)
