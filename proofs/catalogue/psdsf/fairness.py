"""PS-DSF under both divisions: sharing incentive, envy-freeness and bottleneck fairness.

Hypotheses
    bottleneck: users that hold a bottleneck of another stand no higher (12); in time division, all that are
        served (13)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from proofs.catalogue.chapter import Chapter
from proofs.catalogue.proof_texts import argued
from proofs.catalogue.psdsf.theorems import SOURCE
from proofs.claims import Step
from proofs.statement import Question

__all__ = ["STATEMENTS"]

STATEMENTS = Chapter(SOURCE, known=__doc__)


@argued
def _filled(question: Question, says: str) -> None:
    """Users who fill a resource take all of the server's time.

    Proof
        {says}
            alone: g[p]*d[p] <= c; saturated: sum[p](x[p]*d[p]) == c
            besides capacity: c > 0; g[p] >= 0; d[p] >= 0; part: u[p] >= 0; tasks: u[p]*g[p] == x[p]
            => sum[p](u[p]) >= 1
            by not the conclusion * capacity; alone * part
    """


@STATEMENTS.add("psdsf-sharing-incentive")
def _sharing_incentive(question: Question) -> Iterator[Iterable[Step]]:
    r"""Under both divisions each user runs at least the tasks that its weight's part of every server would
    run.

    .. math:: x_n\ge \frac{\varphi_n}{\sum_p\varphi_p}\sum_i\gamma_{ni}

    Hypotheses
        bottleneck*
        saturated*: a bottleneck is full; in time division, the server is busy
        alone*: the tasks of a user alone on a server fit (7)
        holder: the inequality of the second step, for each holder
        server*: the inequality of the third step, for each server
        all tasks: the fractions of a user's tasks on the servers add up to 1
    Place: Theorem 3, sharing incentive
    Scope: all reals, any numbers of servers and of users that hold a bottleneck; no other assumption on
        demands, weights or eligibility
    Remark: The paper sketches an induction over the users in a worst case where all share their bottlenecks;
        this direct proof needs neither.

    Proof
        ...
        A holder at no higher level: its time u there, times weight f and tasks alone G of user n, is at most
        n's tasks N times the holder's weight h and the fraction k of its tasks that run there.
            bottleneck: X*f*G <= N*h*g; part: u >= 0; tasks here: u*g == z; fraction: k*X == z; runs: X > 0;
            f > 0; h > 0; g > 0; G >= 0; N >= 0
            => u*f*G <= N*h*k
            by bottleneck * part; not the conclusion * runs
        Summed over the holders, for each server.
            holder: u[p]*fG <= N*h[p]*k[p]; value: fG >= 0; filled: sum[p](u[p]) >= 1; N > 0; h[p] >= 0;
            k[p] >= 0
            => fG <= N*sum[p](h[p]*k[p])
            by value * filled
        Summed over the servers: at least the weight's part of every server. Others only add to the right-hand
        side.
            server: f*G[i] <= N*sum[p](h[p]*k[p,i]); all tasks: sum[i](k[p,i]) == 1; h[p] > 0; G[i] >= 0;
            k[p,i] >= 0; N > 0; f > 0
            => f*sum[i](G[i]) <= N*sum[p](h[p])
            degree 1
    """
    says = (
        "The users that hold the bottleneck of user n on a server fill it, so their tasks would take all of "
    )
    yield _filled(question, says + "the server's time.")


@STATEMENTS.add("psdsf-sharing-incentive-two-users")
def _two_users(question: Question) -> None:
    r"""For two users with common bottlenecks the chain of inequalities of the paper gives the sharing
    incentive.

    .. math:: x_n\ge\frac{\varphi_n}{\varphi_n+\varphi_m}\sum_i\gamma_{ni}

    Hypotheses
        order*: servers are sorted by the ratio of what both run alone; the rival has those before the shared
            one
        level*: on the shared server the rival stands no higher (32)
        shared*: the parts of the dominant resource on the shared server add up to at least 1
    Place: equations (32)-(36)
    Scope: all reals, any numbers of servers before the shared one and behind it
    Remark: psdsf-sharing-incentive does not need the common bottleneck or two users.

    Proof
        # i: servers before the shared one, which the rival has; k: those behind it, which the user has.
        Link 1: the rival's tasks M, valued at the shared server, are at least what user n would run in its
        place.
            order: g[i]*h <= g*h[i]; sign of g[i]: g[i] > 0; sign of h[i]: h[i] > 0; g > 0; h > 0; e >= 0;
            rival: M == sum[i](h[i]) + e*h
            => M*g >= h*(sum[i](g[i]) + e*g)
            degree 1
        Link 2 (32): the rival stands no higher on the shared server, so this is at most n's own tasks by
        weight.
            level: M*f*g <= N*k*h; sign of g[i]; k > 0; g > 0; N > 0; M > 0; e >= 0;
            link 1: M*g >= h*(sum[i](g[i]) + e*g); weight: f > 0; alone: h > 0
            => f*(sum[i](g[i]) + e*g) <= k*N
            by link 1 * weight; not the conclusion * alone
        Link 3 (33, 34, 36): added to n's own tasks, N is at least its weight's part of all servers.
            shared: b + e >= 1; link 2: f*(sum[i](g[i]) + e*g) <= k*N; own: N == sum[k](a[k]) + b*g; weight;
            gamma: g > 0; sign of g[i]: g[i] >= 0; a[k] >= 0; k > 0; b >= 0; e >= 0
            => f*(sum[i](g[i]) + g + sum[k](a[k])) <= (f + k)*N
            by shared * weight * gamma
    """


@STATEMENTS.add("psdsf-envy-free")
def _envy_free(question: Question) -> None:
    r"""Under both divisions no user would run more tasks with the resources of another, adjusted by weight.

    .. math:: U_n(a_p)/\varphi_p\le x_n/\varphi_n

    Hypotheses
        bottleneck*
        worth*: what the other's resources are worth is limited by n's dominant resource
        dominant: alone on the server, user n would fill its dominant resource
        alone*: the tasks of the other user alone on the server fit (7)
        demanded: user n demands the resource
        tasks: no tasks are negative
        gamma: the other user can run there
        server: the inequality of the third step, for each server
        all tasks: the tasks on the servers add up
        runs*: the other user runs something
    Place: Theorem 3, envy-freeness, equations (25)-(29)
    Scope: each pair of users; all reals, any number of servers

    Proof
        Equation (26): with the resources of z tasks of user p, alone g, user n, alone G, runs at most zG/g
        tasks.
            worth: t*d <= z*e; dominant: G*d == c; alone: g*e <= c; demanded: d > 0; tasks: z >= 0;
            gamma: g > 0; G > 0; c > 0; e >= 0; t >= 0
            => t*g <= z*G
            by worth * gamma; alone * tasks; not the conclusion * demanded
        Where they are worth anything, user p holds all that n demands, so also n's bottleneck there.
            besides worth; something: t > 0; demanded
            => z*e > 0
            by something * demanded
        So p stands no higher there: what its tasks are worth to n, weighted, is at most the same fraction of
        n's own.
            bottleneck: X*f*G <= N*h*g
            besides worth: t*g <= z*G; gamma; weight: f > 0; runs: X > 0; tasks; G > 0; h > 0; N > 0; t >= 0
            => t*f*X <= z*N*h
            by worth * weight * runs; bottleneck * tasks; not the conclusion * gamma
        Summed over the servers, user n does not prefer the weighted bundle of user p.
            server: t[i]*f*X <= z[i]*N*h; all tasks: sum[i](z[i]) == X; runs; t[i] >= 0; z[i] >= 0; f > 0;
            h > 0; N > 0
            => f*sum[i](t[i]) <= h*N
            by not the conclusion * runs
    """


@STATEMENTS.add("psdsf-bottleneck-fair")
def _bottleneck_fair(question: Question) -> Iterator[Iterable[Step]]:
    r"""If all users dominantly request one resource from all eligible servers, its amounts are weighted
    max-min fair.

    .. math:: \rho(n,i)=r\ \forall n,i\implies (x_nd_{nr}/\varphi_n)_n\ \text{constrained max-min fair}

    Hypotheses
        dominant*: alone on the server, each user would fill the common resource
        saturated*: a bottleneck is full; in time division, the server is busy
        alone*: the tasks of a user alone on a server fit (7)
        tasks: in the part u of the time a user runs u gamma tasks
    Place: Theorem 3, single resource and bottleneck fairness, equations (23)-(24)
    Scope: all reals, any numbers of servers and of users that hold a bottleneck or stand no higher than one
        of them
    Remark: One resource alone is the special case of single resource fairness.

    Proof
        If all dominantly request one resource, levels on a server compare as weighted amounts of it.
            dominant 1: G*d == c; dominant 2: g*e == c; capacity: c > 0; demand 1: d > 0; demand 2: e > 0;
            level: h*N*g >= f*X*G; G > 0; g > 0; f > 0; h > 0; N >= 0; X >= 0
            => h*N*d >= f*X*e
            by level * demand 1 * demand 2; not the conclusion * capacity
        ...
        ...so they fill the common resource too: it is a bottleneck of everybody on every server.
            dominant: g[p]*d[p] == c; tasks: u[p]*g[p] == x[p]; filled: sum[p](u[p]) >= 1; capacity
            => sum[p](x[p]*d[p]) >= c
            by filled * capacity; tasks | d[p]; dominant | u[p]
        So the users up to a level fill all servers that one of them may use.
            In words: Who is served stands no higher than any user that may run there (12).
        # User 1, and the others p.
        None of them gets more of it unless another one of them gets less, even if all tasks move: that is
        max-min fairness.
            saturated: b1[i] + sum[p](b[p,i]) == c[i]; fits: y1[i] + sum[p](y[p,i]) <= c[i];
            no loss: sum[i](y[p,i]) >= sum[i](b[p,i]); b[p,i] >= 0; y[p,i] >= 0; sign of b 1: b1[i] >= 0;
            sign of y 1: y1[i] >= 0
            => sum[i](y1[i]) <= sum[i](b1[i])
            degree 1
    """
    says = "The users that fill a bottleneck, whichever it is, would take all of the server's time..."
    yield _filled(question, says)
