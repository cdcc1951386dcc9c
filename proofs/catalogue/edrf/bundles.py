"""Whole bundles in D. C. Parkes, A. D. Procaccia, N. Shah, "Beyond dominant resource fairness", section 5.

Hypotheses
    bundles: numbers of bundles are not negative
    largest: no demand exceeds the agent's largest, which is positive
    served before: the smallest share after the allocation is served, among those who fit
    efficient: outcomes are Pareto optimal
    fair: outcomes are fair in the sense of the statement
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from proofs.catalogue.chapter import Chapter
from proofs.catalogue.edrf.mechanism import SOURCE
from proofs.catalogue.examples import against, computed, every, model
from proofs.catalogue.proof_texts import argued
from proofs.claims import Claim, Counterexample, Enumeration, Search, Step
from proofs.statement import Question, Said, Size

__all__ = ["STATEMENTS"]

STATEMENTS = Chapter(SOURCE, place="section 5 (indivisible tasks), SequentialMinMax", known=__doc__)


def _instances(ahead: int = 1) -> Enumeration:
    return every("minmax_fair", n=2, m=2, largest=4, capacities=[7, 9], ahead=ahead)


UNITS = {"c": Size(2, 2, 6, "units of the resource", deep=4)}


@STATEMENTS.add("edrf-minmax-pareto")
def _pareto(question: Question) -> Iterator[Claim]:
    r"""SequentialMinMax is Pareto optimal among allocations of whole bundles.

    .. math:: y \ge x,\ y \ne x \implies y \text{ infeasible}

    Hypotheses
        demand: demands are not negative
        no loss*: nobody has less
        ends*: when the algorithm ends the next bundle of agent 1 does not fit on some resource
        fits*: the other allocation is feasible
    Scope: all demands, any numbers of agents and resources; algorithm run for two agents, demands 0 to 4

    Proof
        The same, computed from the algorithm.
            Computed.
        If another allocation gives nobody less, agent 1 has no bundle more: its next one would fit.
            demand: D[i] >= 0; demand 1: D1 >= 0; no loss: y[i] >= x[i];
            fits: y1*D1 + sum[i](y[i]*D[i]) <= 1; ends: x1*D1 + sum[i](x[i]*D[i]) + D1 > 1
            => y1 < x1 + 1 (as stated)
            by no loss * demand; not the conclusion * demand 1
    """
    yield _instances()


@STATEMENTS.add("edrf-minmax-sharing-incentive")
def _incentive(question: Question) -> Iterator[Claim]:
    r"""SequentialMinMax gives everybody at least the whole bundles in the n-th part of all resources.

    .. math:: x_i \ge \lfloor 1/(n \max_r D_{ir}) \rfloor

    Hypotheses
        bundles, largest*, served before*
        start: at first nobody has a bundle
        kept*: agent 1 loses no bundle
        ends*: until some moment the next bundle of agent 1 does fit, and then it does not on some resource
    Scope: all demands and ties, any numbers of agents, resources and bundles; algorithm run for two agents,
        demands 0 to 4

    Proof
        The same, computed from the algorithm.
            Computed.
        # Of agent 1: y bundles, of others x, after n bundles in all; E at the moment from which on it is not
        # served.
        [served] Whoever is served before has at most the share after it that agent 1 would have had.
            served before: (x[n+1] - x[n])*((y[n] + 1)*M1 - x[n+1]*M) >= 0; start 1: x[0] == 0;
            start 2: y[0] == 0; kept: y[n+1] >= y[n]; largest 3: M1 > 0; largest 4: M > 0
            => x[n]*M <= (y[n] + 1)*M1
            by served before * largest 4; not the conclusion * induction; kept * largest 3 * induction;
            not the conclusion * not the conclusion; not the conclusion * kept * largest 3;
            kept * kept * largest 3 * largest 3
            from 0 to E
        [ends] If agent 1 had less than the bundles in its n-th part, another one would fit at that moment.
            largest: D[i] <= M[i]; largest 1: D1 <= M1; bundles: x[i] >= 0; bundles 1: x1 >= 0;
            served: x[i]*M[i] <= (x1 + 1)*M1; ends: x1*D1 + sum[i](x[i]*D[i]) + D1 > 1
            => (1 + sum[i](1))*(x1 + 1)*M1 > 1
            by largest * bundles; served; largest 1 * bundles 1; largest 1
        So it has as many.
            served before: (x[i,n+1] - x[i,n])*((y[n] + 1)*M1 - x[i,n+1]*M[i]) >= 0; start 1: x[i,0] == 0;
            start 2: y[0] == 0; kept: y[n+1] >= y[n]; largest 3: M1 > 0; largest 4: M[i] > 0;
            largest: D[i] <= M[i]; largest 1: D1 <= M1; bundles: x[i,n] >= 0; bundles 1: y[n] >= 0;
            ends: y[E]*D1 + sum[i](x[i,E]*D[i]) + D1 > 1
            from served knowing all with x[n] = x[i,n]; M = M[i]
            from ends knowing all with x[i] = x[i,E]; x1 = y[E]
            => (1 + sum[i](1))*(y[E] + 1)*M1 > 1 (as stated)
            from 0 to E
    """
    yield _instances(ahead=1 if question.holds("served before") else 0)


@STATEMENTS.add("edrf-minmax-envy")
def _envy(question: Question) -> Iterator[Claim]:
    r"""Under SequentialMinMax nobody could run more than one bundle more with what another holds.

    .. math:: u_i(A_j) \le u_i(A_i) + 1

    Hypotheses
        bundles, largest, served before*
        start: at first nobody has a bundle
        kept: the agent loses no bundle
        scarce*: from some moment on less than the agent's demand is left of the scarce resource, into which
            the
            other's later bundles fit
        needed: the agent demands the scarce resource
        other needs: demands are not negative
        before: the other's number of bundles is not negative
        after: so is the number that it gets later
        runs*: x + 2 bundles fit into what the other holds of the scarce resource
    Scope: all demands and ties, any number of agents and resources; algorithm run for two agents, demands 0
        to 4

    Proof
        The same, computed from the algorithm.
            Computed.
        Agents of one and six units of twenty.
            Computed.
        # Of agent i: x bundles in the end, y after n bundles in all; M is its largest demand, N that of j,
        # and h
        # what j demands of the resource of M; E: the moment from which on the next bundle of i does not fit
        # on
        # a resource of which i demands c and j demands e. Agent j has a bundles then and gets b more.
        [fair] Before that moment the next bundle of i did fit, so that the share of j is at most what that of
        i
        would have been.
            served before: (z[n+1] - z[n])*((y[n] + 1)*M - z[n+1]*N) >= 0; start 1: z[0] == 0;
            start 2: y[0] == 0; kept: y[n+1] >= y[n]; largest 1: M > 0; largest 3: N > 0
            => z[n]*N <= (y[n] + 1)*M
            by served before * largest 3; not the conclusion * induction; kept * largest 1 * induction;
            not the conclusion * not the conclusion; not the conclusion * kept * largest 1;
            kept * kept * largest 1 * largest 1
            from 0 to E
        [served] Of the resource that i demands most, j demands h, no more than its largest demand N.
            before: a >= 0; largest 2: h <= N; fair: a*N <= (x + 1)*M
            => a*h <= (x + 1)*M
        [some] If x + 2 bundles of i fit into what j holds of the scarce resource, a > 0.
            bundles: x >= 0; scarce: b*e < c; needed: c > 0; other needs: e >= 0; before; after: b >= 0;
            runs: (x + 2)*c <= (a + b)*e
            => a > 0
        [few] Then b (x + 1) < a.
            bundles; scarce; needed; other needs; before; after; runs; some: a > 0
            => b*(x + 1) < a
        [less] So x + 2 bundles of i do not fit into what j holds of the resource that i demands most.
            bundles; other needs 1: h >= 0; largest 1: M > 0; few after: b*(x + 1) < a;
            served: a*h <= (x + 1)*M; some holding: h > 0
            => (a + b)*h < (x + 2)*M
        [none] Nor do they if j holds nothing of it.
            bundles; largest 1; nothing: h <= 0; other needs 1
            => (a + b)*h < (x + 2)*M
            degree 3
        [one] So they fit into one of both at most.
            bundles; largest 1; largest 2; fair; scarce; needed; other needs; other needs 1; before;
            after; runs
            cases h > 0
            from served knowing all
            from some knowing all
            from few knowing all
            from less knowing all
            from none knowing all
            => (a + b)*h < (x + 2)*M
        That is what agents have at that moment, and agent i in the end.
            served before; start 1; start 2; kept; largest 1; largest 2; largest 3; scarce; needed; other
            needs;
            other needs 1; bundles: y[n] >= 0; before: z[n] >= 0; after; runs: (y[E] + 2)*c <= (z[E] + b)*e
            from fair knowing all
            from one knowing all with x = y[E]; a = z[E]
            => (z[E] + b)*h < (y[E] + 2)*M (as stated)
            from 0 to E
    """
    yield _instances(ahead=1 if question.holds("served before") else 0)
    yield computed("minmax_bundles", demands=[[1], [6]], capacities=[20], gives=[14, 1])


@STATEMENTS.add("edrf-minmax-random", said=Said.READER)
def _random(question: Question) -> Iterator[Claim]:
    r"""SequentialMinMax has all three properties for up to four agents, three resources, and ties of any
    order.

    .. math:: \mathrm{PO} \wedge \mathrm{SI} \wedge u_i(A_j) \le u_i(A_i) + 1

    Hypotheses
        share after*: shares are compared after the allocation
    Place: section 5 (indivisible tasks), SequentialMinMax; a test of ours, not in the paper
    Scope: 800 random instances
    Remark: The statements on each property have general proofs; this runs the algorithm as it is printed.

    Proof
        Random demands with random ties.
            Computed (as stated).
    """
    ahead = 1 if question.holds("share after") else 0
    yield Search("minmax_fair_random", {"ahead": ahead}, 800)


@STATEMENTS.add("edrf-minmax-envy-other", said=Said.READER)
def _envy_of_other(question: Question) -> Iterator[Claim]:
    r"""Under SequentialMinMax nobody envies another once one bundle of the other is removed.

    .. math:: u_i(A_j - D_j) \le u_i(A_i)

    Place: section 5 (indivisible tasks), SequentialMinMax, read in a way that is not the paper's
    Scope: two agents, one resource, both ways to break ties
    Remark: Too strong a reading of envy-freeness up to one bundle. True is: one own bundle
        (edrf-minmax-envy).

    Proof
        Demands of 1/10 and 3/10: 7 bundles and 1, and 6 of the former hold 2 of the latter, however ties are
        broken.
            Computed.
    """
    arguments = model([[1], [3]], [10])
    yield against("minmax_envy_of_other", **arguments)


@STATEMENTS.refute("edrf-lowest-share-incentive", said=Said.READER)
def _lowest_share_incentive() -> Counterexample:
    r"""Serving whoever has the lowest dominant share at present has the sharing incentive for whole bundles.

    .. math:: x_i \ge \lfloor 1/(n \max_r D_{ir}) \rfloor

    Place: section 5, where shares are compared after the allocation; not the paper's rule
    Scope: two agents, one resource, both ways to break ties
    Case: Demands of 3/4 and 1/4: one bundle each, where half of the resource holds two of the second agent.
    Remark: The paper compares shares after the allocation; then it is true (edrf-minmax-sharing-incentive).
    """
    return against("lowest_share_incentive", demands=[[3], [1]], capacities=[4])


@STATEMENTS.add("edrf-bundles-si-impossible", sizes=UNITS)
def _si_impossible(question: Question) -> Iterator[Step]:
    r"""For whole bundles no mechanism is Pareto optimal, strategy-proof and has the sharing incentive.

    .. math:: \neg\,(\mathrm{PO} \wedge \mathrm{SI} \wedge \mathrm{SP})

    Hypotheses
        efficient*, fair*
    Place: section 5 (impossibility)
    Scope: deterministic mechanisms for two agents on one resource of {c} units, demands 1 and {c}
    Remark: More resources of which nobody demands anything change nothing. For three agents and more it is
        open here: a mechanism may treat two of them by what the others ask for.
    """
    return _mechanisms(question, ["SI"])


@STATEMENTS.add("edrf-bundles-ef1-impossible", sizes=UNITS)
def _ef1_impossible(question: Question) -> Iterator[Step]:
    r"""For whole bundles no mechanism is Pareto optimal, strategy-proof and free of envy up to one bundle.

    .. math:: \neg\,(\mathrm{PO} \wedge \mathrm{EF1} \wedge \mathrm{SP})

    Hypotheses
        efficient*, fair*
    Place: section 5 (impossibility)
    Scope: deterministic mechanisms for two agents on one resource of {c} units, demands 1 and {c}; both
        readings of one bundle
    Remark: More resources of which nobody demands anything change nothing. For three agents and more it is
        open here: a mechanism may treat two of them by what the others ask for.
    """
    return _mechanisms(question, ["own", "other"])


@argued
def _mechanisms(question: Question, fair: Sequence[str]) -> Iterator[Iterable[Step]]:
    """Every mechanism for such agents, for each kind of fairness.

    Proof
        ...
        A mechanism for more demands is one for these.
            In words: It gives a table of outcomes for these four pairs, and the tables are all looked at.
            What it gives beyond whole bundles of a claim is worth nothing but to liars and to envy.
    """
    c, efficient = question.sizes["c"], question.holds("efficient")
    words = {"SI": "the sharing incentive", "own": "envy of at most one own bundle", "": "no fairness"}
    words["other"] = "no envy once a bundle of the other is removed"
    yield [
        Step(
            f"Every mechanism with {words[kind]} rewards a lie; two agents who demand 1 or {c} of {c} units.",
            every("all_bundle_mechanisms", choices=[1, c], capacity=c, efficient=efficient, fair=kind),
            states=True,
        )
        for kind in (fair if question.holds("fair") else [""])
    ]
