"""PS-DSF under both divisions: sharing incentive, envy-freeness and bottleneck fairness.

Hypotheses
    bottleneck: users that hold a bottleneck of another stand no higher (12); in time division, all that are
        served (13)
"""

from __future__ import annotations

from collections.abc import Iterator

from proofs.catalogue.chapter import Chapter
from proofs.catalogue.psdsf.theorems import NEGATION, SOURCE
from proofs.catalogue.texts import signs
from proofs.claims import InWords, Step, SumSchema
from proofs.statement import Question

__all__ = ["STATEMENTS"]

STATEMENTS = Chapter(
    SOURCE,
    known=__doc__,
)


def _filled(question: Question) -> SumSchema:
    """Users who fill a resource take all of the server's time."""
    held = {"alone": "g[p]*d[p] <= c", "saturated": "sum[p](x[p]*d[p]) == c"}
    fixed = {
        "capacity": "c > 0",
        **signs("", "g[p] d[p]"),
        "part": "u[p] >= 0",
        "tasks": "u[p]*g[p] == x[p]",
    }
    return question.for_every(
        held, "sum[p](u[p]) >= 1", f"{NEGATION} * capacity", "alone * part", fixed=fixed
    )


@STATEMENTS.add("psdsf-sharing-incentive")
def _sharing_incentive(question: Question) -> Iterator[Step]:
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
    """
    holder = {"bottleneck": "X*f*G <= N*h*g"} | {
        "part": "u >= 0",
        "tasks here": "u*g == z",
        "fraction": "k*X == z",
        "runs": "X > 0",
        **signs("f h g", "G N"),
    }
    pair = {
        "holder": "u[p]*fG <= N*h[p]*k[p]",
        "value": "fG >= 0",
        "filled": "sum[p](u[p]) >= 1",
        **signs("N", "h[p] k[p]"),
    }
    sums = {
        "server": "f*G[i] <= N*sum[p](h[p]*k[p,i])",
        "all tasks": "sum[i](k[p,i]) == 1",
        "sign of h": "h[p] > 0",
        "sign of G": "G[i] >= 0",
        "sign of k": "k[p,i] >= 0",
        **signs("N f"),
    }
    yield Step(
        "The users that hold the bottleneck of user n on a server fill it, so their tasks would take all of "
        "the server's time.",
        _filled(question),
    )
    yield Step(
        "A holder at no higher level: its time u there, times weight f and tasks alone G of user n, is at "
        "most n's tasks N times the holder's weight h and the fraction k of its tasks that run there.",
        question.implies(holder, "u*f*G <= N*h*k", "bottleneck * part", f"{NEGATION} * runs"),
    )
    yield Step(
        "Summed over the holders, for each server.",
        question.for_every(pair, "fG <= N*sum[p](h[p]*k[p])", "value * filled"),
    )
    yield Step(
        "Summed over the servers: at least the weight's part of every server. Others only add to the "
        "right-hand side.",
        question.for_every(sums, "f*sum[i](G[i]) <= N*sum[p](h[p])", degree=1),
    )


@STATEMENTS.add("psdsf-sharing-incentive-two-users")
def _two_users(question: Question) -> Iterator[Step]:
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
    """
    # i: servers before the shared one, which the rival has; k: those behind it, which the user has.
    rival = {"order": "g[i]*h <= g*h[i]", "sign of g[i]": "g[i] > 0", "sign of h[i]": "h[i] > 0"}
    rival |= signs("g h", "e")
    shared = {"level": "M*f*g <= N*k*h", "sign of g[i]": "g[i] > 0", **signs("k g N M", "e")}
    parts = {"sign of g[i]": "g[i] >= 0", "sign of a": "a[k] >= 0", **signs("k", "b e")}
    own, first = "sum[k](a[k]) + b*g", "sum[i](g[i])"
    yield Step(
        "Link 1: the rival's tasks M, valued at the shared server, are at least what user n would run in its "
        "place.",
        question.for_every(
            rival | {"rival": "M == sum[i](h[i]) + e*h"}, f"M*g >= h*({first} + e*g)", degree=1
        ),
    )
    yield Step(
        "Link 2 (32): the rival stands no higher on the shared server, so this is at most n's own tasks by "
        "weight.",
        question.for_every(
            shared | {"link 1": f"M*g >= h*({first} + e*g)", "weight": "f > 0", "alone": "h > 0"},
            f"f*({first} + e*g) <= k*N",
            "link 1 * weight",
            f"{NEGATION} * alone",
        ),
    )
    yield Step(
        "Link 3 (33, 34, 36): added to n's own tasks, N is at least its weight's part of all servers.",
        question.for_every(
            {"shared": "b + e >= 1"}
            | {
                "link 2": f"f*({first} + e*g) <= k*N",
                "own": f"N == {own}",
                "weight": "f > 0",
                "gamma": "g > 0",
            }
            | parts,
            f"f*({first} + g + sum[k](a[k])) <= (f + k)*N",
            "shared * weight * gamma",
        ),
    )


@STATEMENTS.add("psdsf-envy-free")
def _envy_free(question: Question) -> Iterator[Step]:
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
    """
    worth = {
        "worth": "t*d <= z*e",
        "dominant": "G*d == c",
        "alone": "g*e <= c",
        "demanded": "d > 0",
        "tasks": "z >= 0",
        "gamma": "g > 0",
    }
    sensible = signs("G c", "e t")
    higher = {"bottleneck": "X*f*G <= N*h*g"}
    level = {"worth": "t*g <= z*G", "gamma": "g > 0", "weight": "f > 0", "runs": "X > 0", "tasks": "z >= 0"}
    level |= signs("G h N", "t")
    sums = {"server": "t[i]*f*X <= z[i]*N*h", "all tasks": "sum[i](z[i]) == X", "runs": "X > 0"}
    amounts = {"sign of t": "t[i] >= 0", "sign of z": "z[i] >= 0", **signs("f h N")}
    yield Step(
        "Equation (26): with the resources of z tasks of user p, alone g, user n, alone G, runs at most zG/g "
        "tasks.",
        question.implies(
            worth | sensible, "t*g <= z*G", "worth * gamma", "alone * tasks", f"{NEGATION} * demanded"
        ),
    )
    yield Step(
        "Where they are worth anything, user p holds all that n demands, so also n's bottleneck there.",
        question.implies(
            {},
            "z*e > 0",
            "something * demanded",
            fixed={"worth": "t*d <= z*e", "something": "t > 0", "demanded": "d > 0"},
        ),
    )
    yield Step(
        "So p stands no higher there: what its tasks are worth to n, weighted, is at most the same fraction "
        "of n's own.",
        question.implies(
            higher,
            "t*f*X <= z*N*h",
            "worth * weight * runs",
            "bottleneck * tasks",
            f"{NEGATION} * gamma",
            fixed=level,
        ),
    )
    yield Step(
        "Summed over the servers, user n does not prefer the weighted bundle of user p.",
        question.for_every(sums | amounts, "f*sum[i](t[i]) <= h*N", f"{NEGATION} * runs"),
    )


@STATEMENTS.add("psdsf-bottleneck-fair")
def _bottleneck_fair(question: Question) -> Iterator[Step]:
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
    """
    level = {"dominant 1": "G*d == c", "dominant 2": "g*e == c"} | {
        "capacity": "c > 0",
        "demand 1": "d > 0",
        "demand 2": "e > 0",
        "level": "h*N*g >= f*X*G",
        **signs("G g f h", "N X"),
    }
    shared = {"dominant": "g[p]*d[p] == c", "tasks": "u[p]*g[p] == x[p]"}
    # User 1, and the others p.
    full = {"saturated": "b1[i] + sum[p](b[p,i]) == c[i]"}
    moved = {
        "fits": "y1[i] + sum[p](y[p,i]) <= c[i]",
        "no loss": "sum[i](y[p,i]) >= sum[i](b[p,i])",
        **signs("", "b[p,i] y[p,i]"),
        "sign of b 1": "b1[i] >= 0",
        "sign of y 1": "y1[i] >= 0",
    }
    yield Step(
        "If all dominantly request one resource, levels on a server compare as weighted amounts of it.",
        question.implies(level, "h*N*d >= f*X*e", "level * demand 1 * demand 2", f"{NEGATION} * capacity"),
    )
    yield Step(
        "The users that fill a bottleneck, whichever it is, would take all of the server's time...",
        _filled(question),
    )
    yield Step(
        "...so they fill the common resource too: it is a bottleneck of everybody on every server.",
        question.for_every(
            shared | {"filled": "sum[p](u[p]) >= 1", "capacity": "c > 0"},
            "sum[p](x[p]*d[p]) >= c",
            "filled * capacity",
            "tasks | d[p]",
            "dominant | u[p]",
        ),
    )
    yield Step(
        "So the users up to a level fill all servers that one of them may use.",
        InWords("Who is served stands no higher than any user that may run there (12)."),
    )
    yield Step(
        "None of them gets more of it unless another one of them gets less, even if all tasks move: that is "
        "max-min fairness.",
        question.for_every(full | moved, "sum[i](y1[i]) <= sum[i](b1[i])", degree=1),
    )
