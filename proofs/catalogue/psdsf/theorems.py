"""PS-DSF: the divisions of a server, Theorems 1 and 2, and the case of one server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from proofs.catalogue.chapter import Chapter
from proofs.catalogue.examples import computed, every
from proofs.catalogue.proof_texts import Given, argued
from proofs.claims import Computation, Step
from proofs.statement import Question

__all__ = ["SOURCE", "STATEMENTS", "psdsf_tasks"]

SOURCE = 'J. Khamse-Ashari et al., "Per-server dominant-share fairness (PS-DSF)", ICC 2017, arXiv:1611.00404'
STATEMENTS = Chapter(SOURCE)


def psdsf_tasks(cluster: Any, placement: Any, division: str, tasks: Any) -> Computation:
    """The claim that a placement is PS-DSF, by both definitions, and runs these tasks."""
    value = {"tasks": tasks, "conditions of the theorem": True, "Definition 5": True}
    return computed("psdsf_tasks", cluster=cluster, placement=placement, division=division, gives=value)


@STATEMENTS.add("psdsf-time-implies-resource")
def _time_implies_resource(question: Question) -> None:
    r"""What fits when the users take turns on a server fits when they share each of its resources.

    .. math:: \sum_n x_{ni}/\gamma_{ni}\le 1 \implies \sum_n x_{ni}d_{nr}\le c_{ir}

    Hypotheses
        alone*: the tasks of a user alone on the server fit (7)
        part*: no part of the time is negative
        tasks: in the part u of the time a user runs u gamma tasks on average
        time*: the parts add up to at most 1
        capacity: no capacity is negative
        signs: tasks alone and demands are not negative
    Place: equation (11)
    Scope: each server and resource; all reals, any number of users

    Proof
        A user that has the part u of the time of a server holds at most the part u of each resource on
        average.
            capacity: c >= 0; alone: g[n]*d[n] <= c; part: u[n] >= 0; tasks: u[n]*g[n] == x[n];
            time: sum[n](u[n]) <= 1; g[n] >= 0; d[n] >= 0
            => sum[n](x[n]*d[n]) <= c (as stated)
            by time * capacity; part * alone
    """


@argued
def _stopped(question: Question, says: str, d: str, c: str, full: str, stated: str) -> None:
    """Raising a user where it has a bottleneck: the users q stand higher, the users p lose nothing.

    Proof
        {says}
            no negative demand 1: {d} >= 0; no negative demand 2: {d}[p] >= 0;
            no negative demand 3: {d}[q] >= 0; demanded: {d} > 0;
            {full}: x*{d} + sum[p](x[p]*{d}[p]) + sum[q](x[q]*{d}[q]) == {c}; highest: x[q]*{d}[q] == 0;
            keeps: y[p] >= x[p]; no negative tasks: y[q] >= 0; gains: y > x; sign of x 1: x >= 0;
            sign of x 2: x[p] >= 0; sign of x 3: x[q] >= 0
            => y*{d} + sum[p](y[p]*{d}[p]) + sum[q](y[q]*{d}[q]) > {c}{stated}
    """


@argued
def _spare(question: Question, says: str, d: str, c: str, case: str, stated: str) -> None:
    """A user without a bottleneck: the users p stay, the higher users h and q leave; h holds something.

    Proof
        {says}
            no negative demand 1: {d} >= 0; no negative demand 2: {d}h >= 0;
            no negative demand 3: {d}[p] >= 0; no negative demand 4: {d}[q] >= 0; tasks 1: x >= 0;
            tasks 2: xh >= 0; tasks 3: x[p] >= 0; tasks 4: x[q] >= 0; {case}
            => x*{d} + sum[p](x[p]*{d}[p]) < {c}{stated}
    """


STATED = " (as stated)"


def _idle(question: Question, says: str, d: str, c: str, stated: str = "") -> Iterator[Step]:
    used = f"x*{d} + sum[p](x[p]*{d}[p]) + xh*{d}h + sum[q](x[q]*{d}[q])"
    return _spare(question, says, d, c, f"not full: {used} < {c}", stated)


def _busy(question: Question, says: str, d: str, c: str, stated: str = "") -> Iterator[Step]:
    used = f"x*{d} + sum[p](x[p]*{d}[p]) + xh*{d}h + sum[q](x[q]*{d}[q])"
    return _spare(question, says, d, c, f"fits: {used} <= {c}; held: xh*{d}h > 0", stated)


@STATEMENTS.add("psdsf-theorem-1")
def _theorem_1(question: Question) -> Iterator[Given]:
    r"""With divided resources an allocation is PS-DSF if and only if every user has a bottleneck on every
    eligible server.

    .. math:: \text{PS-DSF}\iff\forall n,i\,\exists r:\ \textstyle\sum_p x_{pi}d_{pr}=c_{ir},\ d_{nr}>0,\
        x_{pi}d_{pr}>0\Rightarrow s_{pi}/\varphi_p\le s_{ni}/\varphi_n

    Hypotheses
        saturated*: a bottleneck is full
        highest*: no user of a higher level holds any of a bottleneck
        demanded*: the user demands its bottleneck
        no negative demand: no demand is negative
        keeps: whoever stands no higher loses nothing
        no negative tasks: nobody runs less than nothing then
        gains: the user gains
        tasks: tasks are not negative
        signs: nor are those of users on the server
        not full: or the resource has room,
        fits: or it has not, but
        held: somebody who stands higher holds some of it
        spare: or all demanded resources have room once higher users have left, the least of it s, at least
        largest: no demand of the user is larger than D
        step: e is s over D
    Place: Theorem 1
    Scope: each user, server and resource; all reals, any numbers of users on the server and above the user;
        and a grid
    Reading: Definition 5 is read as in the paper's proof: nobody of no higher level loses tasks on the
        server. Who gains in total gains on some server, so its tasks may move. Counting only losses of
        totals makes it stronger; see psdsf-definition-5-for-totals. The least of finitely many positive
        amounts is positive.

    Proof
        On a grid of clusters and placements Definition 5 and the theorem agree.
            Computed.
        ...
        ...
        ...
        [more] With s the least spare amount and D the largest demand, e = s/D more tasks of the user are more
        than 0...
            spare: s > 0; largest 1: D > 0; step: e*D == s
            => e > 0
            by not the conclusion * largest 1
        [room] ...and fit into the spare amount f of every resource.
            spare 1: s <= f; largest: d <= D; step; more: e > 0
            => e*d <= f
            by more * largest
        So without a bottleneck there is room for more tasks of the user.
            spare; spare 1; largest; largest 1; step
            from more knowing all
            from room knowing all
            => e*d <= f (as stated)
    """
    yield every(
        "placements_by_both_definitions",
        division="resource",
        largest=2,
        saturated=question.holds("saturated"),
    )
    gains = "With a bottleneck, however many users stand higher, the user gains only if it overflows."
    yield _stopped(question, gains, "d", "c", "saturated", STATED)
    yield _idle(question, "A demanded resource that is not full has room for the user.", "d", "c", STATED)
    room = "A full one that a higher user holds has room once all higher users have left the server."
    yield _busy(question, room, "d", "c", STATED)


@STATEMENTS.add("psdsf-theorem-2")
def _theorem_2(question: Question) -> Iterator[Given]:
    r"""With divided time an allocation is PS-DSF if and only if every server is always busy and serves its
    lowest levels only.

    .. math:: \text{PS-DSF}\iff \sum_n x_{ni}/\gamma_{ni}=1,\ x_{pi}>0\Rightarrow s_{pi}/\varphi_p\le
        s_{ni}/\varphi_n

    Hypotheses
        busy*: the server is always busy
        highest*: users of higher levels are not served
        demanded*: a task of the user takes time
        no negative demand: no task takes negative time
        keeps: whoever stands no higher loses nothing
        no negative tasks: nobody runs less than nothing then
        gains: the user gains
        tasks: tasks are not negative
        signs: nor are those of users on the server
        not full: or the server has time left,
        fits: or it has not, but it
        held: serves a user who stands higher
        step: e more tasks of the user take the time that is left once higher users have left the server
    Place: Theorem 2
    Scope: each user and server; all reals, any numbers of users on the server and above the user; and a grid
    Reading: Definition 5 is read as in psdsf-theorem-1. The e tasks more fit, and nobody of no higher level
        loses, which is against the definition.

    Proof
        ...
        [idle] ...
        [busy] ...
        [more] With s to spare and D the time of a task, e = s/D more tasks of the user are more than 0.
            spare: s > 0; in each: s <= f; largest: D > 0; demand: d <= D; step: e*D == s;
            not negative: d >= 0
            => e > 0
            by not the conclusion * largest
        So there are e tasks more of the user to run in the time to spare: by the steps before, with the time
        of a task as D and d.
            no negative demand 1: t >= 0; no negative demand 2: th >= 0; no negative demand 3: t[p] >= 0;
            no negative demand 4: t[q] >= 0; demanded: t > 0
            besides tasks 1: x >= 0; tasks 2: xh >= 0; tasks 3: x[p] >= 0; tasks 4: x[q] >= 0;
            not full: x*t + sum[p](x[p]*t[p]) + xh*th + sum[q](x[q]*t[q]) < 1;
            step: e*t == 1 - (x*t + sum[p](x[p]*t[p]))
            from idle knowing all
            from more knowing all with s = 1 - (x*t + sum[p](x[p]*t[p])); f = 1 - (x*t + sum[p](x[p]*t[p]));
            D = t; d = t
            => e > 0 (as stated)
        So there are e tasks more of the user to run in the time to spare: by the steps before, with the time
        of a task as D and d.
            no negative demand 1: t >= 0; no negative demand 2: th >= 0; no negative demand 3: t[p] >= 0;
            no negative demand 4: t[q] >= 0; demanded: t > 0
            besides tasks 1: x >= 0; tasks 2: xh >= 0; tasks 3: x[p] >= 0; tasks 4: x[q] >= 0;
            fits: x*t + sum[p](x[p]*t[p]) + xh*th + sum[q](x[q]*t[q]) <= 1; held: xh*th > 0;
            step: e*t == 1 - (x*t + sum[p](x[p]*t[p]))
            from busy knowing all
            from more knowing all with s = 1 - (x*t + sum[p](x[p]*t[p])); f = 1 - (x*t + sum[p](x[p]*t[p]));
            D = t; d = t
            => e > 0 (as stated)
        On a grid of clusters and placements Definition 5 and the theorem agree.
            Computed (as stated).
    """
    gains = "If the server is always busy and its higher users are not served there, the user gains only "
    yield _stopped(question, gains + "overtime.", "t", "1", "busy", STATED)
    yield _idle(question, "An idle server has time for the user once the higher users have left.", "t", "1")
    yield _busy(question, "So has a busy server that serves a higher user.", "t", "1")
    yield every("placements_by_both_definitions", division="time", largest=2)


@STATEMENTS.add("psdsf-single-server")
def _single_server(question: Question) -> Iterator[Given]:
    r"""On one server PS-DSF is weighted dominant resource fairness.

    .. math:: s_{n1}=x_n\max_r d_{nr}/c_r

    Hypotheses
        dominant*: one resource stops the user when it is alone
        alone*: its tasks alone fit into the others (7)
        level*: the virtual dominant share is tasks over tasks alone
        saturated*: a bottleneck is full
        highest: no user of a higher level holds any of a bottleneck
        demanded: the user demands its bottleneck
        no negative demand: no demand is negative
        keeps: whoever stands no higher loses nothing
        no negative tasks: nobody runs less than nothing then
        gains: the user gains
        signs: tasks and levels are not negative
    Place: section I, contributions
    Scope: all reals, any number of users; progressive filling on all two users with demands 0 to 3 on three
        servers
    Reading: That is max-min fairness of the weighted dominant shares; max-min fair vectors in a convex set
        are unique.

    Proof
        Progressive filling meets the conditions of PS-DSF for all small demands of two users, weights 1 and
        2.
            Computed.
        The virtual dominant share is the share of the dominant resource...
            dominant: g*d == c; level: s*g == x
            => x*d == s*c (as stated)
        ...and no share of another resource is larger.
            alone: g*e <= k; level; s >= 0
            => x*e <= s*k (as stated)
            by alone * sign of s
        ...
    """
    yield every("one_server_cases", largest=3, weighted=True)
    says = (
        "With a bottleneck, however many users have larger shares, more for one takes from a share that is "
    )
    yield _stopped(question, says + "no larger.", "d", "c", "saturated", STATED)
