"""EDRF, which DC-DRF replaces: how many rounds and operations it takes."""

from __future__ import annotations

from collections.abc import Iterator

from proofs.catalogue.chapter import Chapter
from proofs.catalogue.dcdrf.approximation import SOURCE
from proofs.claims import InWords, Step
from proofs.statement import Question

__all__ = ["STATEMENTS"]

STATEMENTS = Chapter(SOURCE)


@STATEMENTS.add("edrf-operations")
def _operations(question: Question) -> Iterator[Step]:
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
    """
    # e, s: resources exhausted and agents stopped after n rounds.
    exhausted = question.by_induction(
        {"exhausts": "e[n+1] >= e[n] + 1"}, "e[n] >= n", fixed={"none": "e[0] >= 0"}
    )
    stopped = question.by_induction({"stops": "s[n+1] >= s[n] + 1"}, "s[n] >= n", fixed={"none": "s[0] >= 0"})
    yield Step(
        "After n rounds at least n resources are exhausted,",
        exhausted,
    )
    yield Step("and at least n agents have stopped.", stopped)
    yield Step(
        "So the number I of rounds is at most that of the resources,",
        question.implies({"resources": "e <= R"}, "I <= R", fixed={"after": "e >= I"}),
        states=True,
    )
    yield Step(
        "and at most that of the agents.",
        question.implies({"agents": "s <= N"}, "I <= N", fixed={"after": "s >= I"}),
        states=True,
    )
    counts = {"agents counted": "N >= 0", "demands counted": "B >= 0", "resources counted": "R >= 0"}
    yield Step(
        "I rounds over N agents of B demands are at most R N B...",
        question.implies(
            {"rounds": "I <= R"}, "I*N*B <= R*N*B", "rounds * agents counted * demands counted", fixed=counts
        ),
        states=True,
    )
    yield Step(
        "...which is at most R^2 N.",
        question.implies(
            {"vectors": "B <= R"},
            "R*N*B <= R**2*N",
            "vectors * agents counted * resources counted",
            fixed=counts,
        ),
        states=True,
    )
    yield Step(
        "A round sums rates and updates holdings of all demands of the agents that still grow.",
        InWords("Lines 5 to 8 of Algorithm 1: a constant number of operations for each demand."),
    )
