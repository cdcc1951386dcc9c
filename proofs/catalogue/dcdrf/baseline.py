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
        exhausts: a round exhausts a resource that no earlier one did
        stops: a round stops an agent that no earlier one did
        resources*: no more resources are exhausted than there are
        agents*: no more agents stop than there are
        rounds*: there are at most as many rounds as resources
        vectors*: nobody demands more resources than there are
    Place: section 2.1, complexity of Algorithm 1
    Scope: all demands and entitlements, any numbers of agents and resources; operations of a round in words
    Remark: DC-DRF touches every demand twice in all instead: dcdrf-lemma-3-2.

    Proof
        # e, s: resources exhausted and agents stopped after n rounds.
        After n rounds at least n resources are exhausted,
            exhausts: e[n+1] >= e[n] + 1; none: e[0] >= 0
            => e[n] >= n
        and at least n agents have stopped.
            stops: s[n+1] >= s[n] + 1; none: s[0] >= 0
            => s[n] >= n
        So the number I of rounds is at most that of the resources,
            resources: e <= R; after: e >= I
            => I <= R (as stated)
        and at most that of the agents.
            agents: s <= N; after: s >= I
            => I <= N (as stated)
        I rounds over N agents of B demands are at most R N B...
            rounds: I <= R; agents counted: N >= 0; demands counted: B >= 0; resources counted: R >= 0
            => I*N*B <= R*N*B (as stated)
            by rounds * agents counted * demands counted
        ...which is at most R^2 N.
            vectors: B <= R; agents counted; demands counted; resources counted
            => R*N*B <= R**2*N (as stated)
            by vectors * agents counted * resources counted
        A round sums rates and updates holdings of all demands of the agents that still grow.
            In words: Lines 5 to 8 of Algorithm 1: a constant number of operations for each demand.
    """
