"""EDRF, which DC-DRF replaces: how many rounds and operations it takes."""

from __future__ import annotations

from proofs.catalogue.chapter import Chapter
from proofs.catalogue.dcdrf.approximation import SOURCE
from proofs.statement import Question

__all__ = ["STATEMENTS"]

STATEMENTS = Chapter(SOURCE)


@STATEMENTS.add("edrf-operations")
def _operations(question: Question) -> None:
    r"""EDRF takes at most one round per resource and per agent, so that a constant number of operations for
    each agent and each of its at most B demands in a round are O(|R| |N| B), which is O(|R|^2 |N|).

    .. math:: I \le \min(|R|, |N|), \quad I |N| B \le |R| |N| B \le |R|^2 |N|

    Hypotheses
        exhausts*: a round exhausts a resource that no earlier one did
        stops*: a round stops an agent that no earlier one did
        start: at first no resource is exhausted, no agent has stopped, and nothing was done
        resources*: no more resources are exhausted than there are
        agents*: no more agents stop than there are
        vectors*: nobody demands more resources than there are
        work*: a round makes at most a constant number of operations for each agent and each of its demands
        signs: numbers are not negative
    Place: section 2.1, complexity of Algorithm 1
    Scope: all demands and entitlements, any numbers of agents, resources and rounds
    Remark: A round sums rates and updates holdings of all demands of the agents that still grow, in lines 5
        to 8 of Algorithm 1. DC-DRF touches every demand twice in all instead: dcdrf-lemma-3-2.

    Proof
        # e, s: resources exhausted and agents stopped after n of I rounds; o: operations until then.
        [counted] After n rounds at least n resources are exhausted, or n agents have stopped.
            exhausts: e[n+1] >= e[n] + 1; start 1: e[0] == 0
            => e[n] >= n
            from 0 to I
        [bounded] As there are no more of them, this bounds the number of rounds.
            resources: e <= R; counted: e >= I
            => I <= R
        So there are at most as many rounds as resources,
            exhausts; start 1; resources: e[n] <= R
            from counted knowing all
            from bounded knowing all with e = e[I]
            => I <= R (as stated)
            from 0 to I
        and at most as many as agents.
            stops: s[n+1] >= s[n] + 1; start 2: s[0] == 0; agents: s[n] <= N
            from counted knowing all with e[n] = s[n]
            from bounded knowing all with e = s[I]; R = N
            => I <= N (as stated)
            from 0 to I
        [done] With at most k operations for each of the B demands of N agents a round...
            work: o[n+1] <= o[n] + k*N*B; start 3: o[0] == 0
            => o[n] <= n*k*N*B
            from 0 to I
        [in all] ...I rounds over N agents of B demands make at most k R N B...
            rounds: I <= R; done: o <= I*k*N*B; k >= 0; N >= 0; B >= 0
            => o <= k*R*N*B
            by rounds * sign of k * sign of N * sign of B
        ...operations.
            exhausts; start 1; start 3; resources; work; k >= 0; N >= 0; B >= 0
            from counted knowing all
            from bounded knowing all with e = e[I]
            from done knowing all
            from in all knowing all with o = o[I]
            => o[I] <= k*R*N*B (as stated)
            from 0 to I
        And that is at most k R^2 N.
            vectors: B <= R; k >= 0; N >= 0; R >= 0
            => k*R*N*B <= k*R**2*N (as stated)
            by vectors * sign of k * sign of N * sign of R
    """
