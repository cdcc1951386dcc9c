r"""PS-DSF: Lemma 1, on lies with divided resources that cost the liar nothing.

The lemma speaks of lies about demands and about servers. It fails for one kind of lie, the claim of a server
that the liar cannot use: its tasks there are worth nothing to it, but they take resources, and so they raise
what the others have to share. For the other kinds it is open: no case against it was found.

Its proof takes over that of strategy-proofness with divided time, by the levels of the servers: who is served
at a server whose level rises has a higher level. That level counts all tasks of the liar. With a false claim
it also counts those that are worth nothing, so that it rises although the liar runs no more than before.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from proofs.catalogue.chapter import Chapter
from proofs.catalogue.examples import against, model
from proofs.catalogue.proof_texts import argued
from proofs.catalogue.psdsf.theorems import SOURCE
from proofs.claims import Claim, Counterexample, Search, Step
from proofs.statement import Question, Said, Size

__all__ = ["STATEMENTS"]

STATEMENTS = Chapter(SOURCE, known={"all demand all": "every user demands every resource"})

FALSE_CLAIM: dict[str, Any] = {
    "cluster": model([[1, 1], [1, 1]], [[1, 1], [100, 100]], eligible=[[1, 0], [0, 1]]),
    "placement": [[1, 0], [0, 100]],
    "lie": [[1, 1], [0, 1]],
    "after": [[1, "99/2"], [0, "101/2"]],
}
"""Each user has a server of its own, one small and one large; user 1 claims the large one as well."""

OPEN = (
    "Open. The proof in the paper refers to the one for divided time, which ends with Pareto optimality; "
    "with divided resources that is not available. Where allocations are not unique the choice between them "
    "matters too."
)


@argued
def _searched(question: Question, says: str, function: str) -> Iterator[Claim]:
    """No case against the lemma was found.

    Proof
        Who is served holds every resource, so a bottleneck of anybody is one for all, and levels of served
        users are equal.
            all demand all: d > 0; served: x > 0
            => x*d > 0
        {says} 2 users, 2 servers.
            Computed.
        {says} 3 users, 2 servers.
            Computed.
    """
    for users, number in ((2, question.sizes["tries"]), (3, 15)):
        yield Search(function, {"users": users, "servers": 2, "largest": 5}, number=number)


TRIES = {"tries": Size(100, 1, 50_000, "random clusters of two users and two servers", deep=2_000)}
LEMMA = r"d_{nr}>0,\ x'_n\ge x_n\implies x'_p\ge x_p"


@STATEMENTS.refute("psdsf-lemma-1", latex=LEMMA)
def _lemma_1() -> Counterexample:
    """With divided resources, if all users demand all resources, no user takes anything from the others by
    lying about its demands or the servers that it can use, unless it loses itself.

    Place: Lemma 1
    Scope: all lies; refuted by one, a claim of a server that the liar cannot use
    Case: User 1 falsely claims the server of user 2, really runs 1 task before and after, and user 2 falls
        from 100 tasks to 101/2.
    Remark: Not so for false claims of servers: servers (1, 1) and (100, 100), demands (1, 1) for both, user 1
        can use only the first server and user 2 only the second. The truth gives 1 and 100 tasks. If user 1
        claims the second server as well, it gets 1 task on the first and 99/2 on the second, where they are
        worth nothing, and user 2 101/2. The lemma stays plausible for lies about demands
        (psdsf-lemma-1-demands) and for hidden servers (psdsf-lemma-1-hidden-servers), and no other statement
        of the paper rests on it: Theorem 3 claims strategy-proofness for divided time only, and Corollary 1
        is part of Theorem 1.
    """
    return against("false_claim_hurts_nobody_else", **FALSE_CLAIM)


@STATEMENTS.add("psdsf-lemma-1-hidden-servers", latex=LEMMA, sizes=TRIES, remark=OPEN)
def _hidden(question: Question) -> Iterator[Step]:
    """With divided resources, if all users demand all resources, who hides a server and loses nothing takes
    nothing from the others.

    Hypotheses
        all demand all
    Place: Lemma 1, for lies that hide a server
    Scope: search: {tries} random clusters of 2 users and 2 servers and 15 of 3 users and 2 servers, with one
        truthful allocation
    """
    says = (
        "No random cluster was found where user 1 hides a server, runs no less, and somebody else runs less:"
    )
    return _searched(question, says, "hiding_hurts_nobody_else")


@STATEMENTS.add(
    "psdsf-lemma-1-demands",
    latex=LEMMA,
    sizes=TRIES,
    remark=OPEN + " On one server it holds: psdsf-lemma-1-one-server.",
)
def _demands(question: Question) -> Iterator[Step]:
    """With divided resources, if all users demand all resources, who states other demands and loses nothing
    takes nothing from the others.

    Hypotheses
        all demand all
    Place: Lemma 1, for lies about demands
    Scope: search: {tries} random clusters of 2 users and 2 servers and 15 of 3 users and 2 servers, with one
        truthful allocation; the liar gets the resources of the tasks that it claimed
    """
    says = (
        "No random cluster was found where user 1 states other demands, runs no less, and somebody else runs "
        "less:"
    )
    return _searched(question, says, "lying_hurts_nobody_else")


@STATEMENTS.add("psdsf-lemma-1-one-server", latex=LEMMA, said=Said.READER)
def _one_server(question: Question) -> None:
    """On one server, if all users demand all resources, who states other demands and loses nothing takes
    nothing from the others.

    Hypotheses
        claim*: the liar holds at most the level times its weight and any capacity
        covers*: its tasks fit into what it holds of its true dominant resource
        dominant: with the truth it holds the level times its weight and that capacity
        no loss*: it runs no less with the lie
        level: before the lie another user has some level
        level later*: so it has with it
        bottleneck*: users that hold a bottleneck of another stand no higher (12); a full resource is one for
            all,
            as all demand all
        runs: everybody runs something
        demand: demands are positive
        yardstick: weights and capacities are positive
        others: at a level above 0 the others run something
    Place: Lemma 1, for one server; not in the paper as a case of its own
    Scope: all real demands > 0, any numbers of users and resources, one server

    Proof
        # b: what the liar holds of its true dominant resource; k: its weight times the capacity of that
        # resource.
        [rises] With the common level t the liar holds at most t times its weight and the capacity of any
        resource; so the level does not fall if it loses nothing.
            claim: b <= t*k; covers: u*d <= b; dominant: x*d == s*k; no loss: u >= x; yardstick: k > 0;
            demand: d > 0
            => t >= s
            by not the conclusion * yardstick; no loss * demand
        [held] Who runs something holds some of a full resource,
            runs: y > 0; demand: d > 0
            => y*d > 0
            by runs * demand
        [same] and of two that do, neither stands higher.
            bottleneck: h*(s - m) >= 0; bottleneck 1: H*(m - s) >= 0; held: h > 0; held 1: H > 0
            => m == s
            by not the conclusion * held; not the conclusion * held 1
            degree 3
        [before] So another user has the level of the liar, with the truth and with the lie.
            level: y == m*g; same: m == s
            => y == s*g
            degree 2
        [no less] Then nobody else runs less.
            level: y == s*g; level later: z == t*g; rises: t >= s; others: g > 0
            => z >= y
            by rises * others
        So who loses nothing takes nothing from the others.
            claim: b <= t*k; covers: u*d <= b; dominant: x*d == s*k; no loss: u >= x; yardstick: k > 0;
            demand: d > 0; level: y == m*g; level later: z == n*g; others: g > 0; runs 1: x > 0; runs 2: y >
            0;
            runs 3: X > 0; runs 4: z > 0; demand 1: c > 0; demand 2: e > 0; demand 3: D > 0; demand 4: E > 0;
            bottleneck 1: y*e*(s - m) >= 0; bottleneck 2: x*c*(m - s) >= 0; bottleneck 3: z*E*(t - n) >= 0;
            bottleneck 4: X*D*(n - t) >= 0
            from rises knowing all
            from held knowing all with d = e
            from held knowing all with y = x; d = c
            from held knowing all with y = z; d = E
            from held knowing all with y = X; d = D
            from same knowing all with h = y*e; H = x*c
            from same knowing all with h = z*E; H = X*D; s = t; m = n
            from before knowing all
            from before knowing all with y = z; m = n; s = t
            from no less knowing all
            => z >= y (as stated)
    """
