r"""Why C-DRFH, TSF, DRFH and CDRF have the properties that they have of Table I, step by step.

User n runs :math:`x_n` tasks on all servers together and has the share :math:`x_n/(\varphi_nR_n)`. Its
yardstick :math:`R_n` are the tasks that it would run alone: in the pooled cluster (C-DRFH), or on all servers
one by one (TSF), in both as if there were no placement constraints. Without such constraints they are DRFH
and CDRF. A placement is max-min fair if nobody can run more, whatever is moved, unless somebody of the same
or a lower share runs less. This definition is a hypothesis of the proofs, a rule: of a user and all others of
the same or a lower share no placement that fits, and gives none of the others less, gives the user more. By
linear programming there are prices of all resources of all servers then, at which the users of no higher
share could just buy all that there is, and a task of the user costs something.

All that they need of the yardstick is this: if the demands of one user are at least m times those of another
one, m times its yardstick is no larger than the other's. So the properties hold with any weights and
placement constraints, and for every max-min fair placement. Bottleneck fairness asks for more: the common
resource has to be dominant on all servers, those included that a user may not use.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from proofs.catalogue.proof_texts import argued
from proofs.claims import Step
from proofs.statement import Question

__all__ = ["bottleneck_steps", "envy_steps", "pareto_steps", "price_steps", "truth_steps"]

BEST = (
    "best: sum[i](y1[i]) <= x1 if y1[i]*d1[r] + sum[k](y[k,i]*d[k,r]) <= c[i,r] and "
    "sum[i](y[k,i]) >= x[k] and y1[i] >= 0 and y[k,i] >= 0 and m1[i]*y1[i] == 0 and m[k,i]*y[k,i] == 0 "
    "for all y1[i], y[k,i]; "
    "x1 >= 0; x[k] >= 0; d1[r] >= 0; d[k,r] >= 0; c[i,r] >= 0; m1[i] >= 0; m[k,i] >= 0"
)
"""Nobody of no higher share than user 1 runs less: then it runs no more than x1. m is 0 where it may run."""


def pareto_steps(question: Question) -> Iterator[Step]:
    """Pareto efficiency, whatever the yardstick."""
    return _efficient(question, BEST)


@argued
def _efficient(question: Question, best: str) -> None:
    """Who stands higher than user 1 are the users p.

    Proof
        [left] What is left of a placement fits when those of higher shares have left.
            fits: y1*d1 + sum[k](y[k]*d[k]) + sum[p](y[p]*d[p]) <= c; y[p] >= 0; d[p] >= 0
            => y1*d1 + sum[k](y[k]*d[k]) <= c
            by sign of y * sign of d
        So nobody runs more if nobody runs less.
            {best};
            fits: y1[i]*d1[r] + sum[k](y[k,i]*d[k,r]) + sum[p](y[p,i]*d[p,r]) <= c[i,r];
            no loss: sum[i](y[k,i]) >= x[k]; may 1: m1[i]*y1[i] == 0; may: m[k,i]*y[k,i] == 0;
            y1[i] >= 0; y[k,i] >= 0; sign of y p: y[p,i] >= 0; sign of d p: d[p,r] >= 0
            from left knowing all with y1 = y1[i]; d1 = d1[r]; y[k] = y[k,i]; d[k] = d[k,r]; y[p] = y[p,i];
            d[p] = d[p,r]; c = c[i,r]
            from best
            => sum[i](y1[i]) <= x1 (as stated)
    """


@argued
def price_steps(question: Question) -> None:
    """Nobody runs more unless somebody of the same or a lower share runs less, by prices.

    User 1, who runs x1 tasks, stands beside the others k of no higher share; y are the tasks later.

    Proof
        [server] The tasks on a server cost no more than its resources.
            fits: y1*d1[r] + sum[k](y[k]*d[k,r]) <= c[r]; worth: q[r] >= 0
            => y1*sum[r](q[r]*d1[r]) + sum[k](y[k]*sum[r](q[r]*d[k,r])) <= sum[r](q[r]*c[r])
            by fits * worth
        [bought] Those who are not above a user could just buy all that there is for what they run, at the
        prices of that user: if none of them runs less, it runs no more, whatever is moved.
            price: w[k]*y[k,i] <= v[k,i]*y[k,i]; price 1: w1*y1[i] <= v1[i]*y1[i];
            supply: sum[i](V[i]) <= w1*x1 + sum[k](w[k]*x[k]); no loss: sum[i](y[k,i]) >= x[k];
            server: y1[i]*v1[i] + sum[k](y[k,i]*v[k,i]) <= V[i]; cost: w[k] >= 0; cost 1: w1 > 0
            => sum[i](y1[i]) <= x1
            by server; price; price 1; no loss * cost; not the conclusion * cost 1
        Together.
            price: w[k]*y[k,i] <= sum[r](q[i,r]*d[k,r])*y[k,i]; worth: q[i,r] >= 0; no loss; cost; cost 1;
            price 1: w1*y1[i] <= sum[r](q[i,r]*d1[r])*y1[i];
            fits: y1[i]*d1[r] + sum[k](y[k,i]*d[k,r]) <= c[i,r]; c[i,r] >= 0;
            supply: sum[i](sum[r](q[i,r]*c[i,r])) <= w1*x1 + sum[k](w[k]*x[k])
            from server knowing all with c[r] = c[i,r]; q[r] = q[i,r]; y1 = y1[i]; y[k] = y[k,i]
            from bought knowing all with v1[i] = sum[r](q[i,r]*d1[r]); v[k,i] = sum[r](q[i,r]*d[k,r]);
            V[i] = sum[r](q[i,r]*c[i,r])
            => sum[i](y1[i]) <= x1 (as stated)
    """


@argued
def _bundle(
    question: Question, where: str, summed: str, known: str, terms: str, yardsticks: str, stated: str
) -> None:
    """A bundle of no larger share than the user's runs no more of its tasks than its own, by weight.

    The bundle holds X tasks on the servers, of demands e, with the weight h, the yardstick R and the share L;
    the user runs t in them and x of its own, with demands d, the weight f, the yardstick S and the share l.

    Proof
        [worth] If each demand of the bundle's tasks is at least m times the user's, and one is m times it,
        the user runs at most m tasks for each one in the bundle.
            covers: t[i]*d <= X[i]*e; least: e == m*d; demanded: d > 0
            => sum[i](t[i]) <= m*sum[i](X[i])
            by covers; least | X[i]; not the conclusion * demanded
        [alone] And m times the tasks of such demands alone {where} are no more than what the user runs there.
            cover: m*D <= E; alone: g*E <= c; dominant: G*D == c; demanded 1: D > 0; g >= 0
            => m*g <= G
            by cover * sign of g; not the conclusion * demanded 1
        {summed}
        [share] So a bundle of no larger share runs no more, by weight.
            share: x == l*f*S; share 1: X == L*h*R; most: t <= m*X; yardsticks: m*R <= S; no higher: L <= l;
            S >= 0; f >= 0; h >= 0; L >= 0
            => t*f <= x*h
            by yardsticks * sign of L * sign of h * sign of f; most * sign of f;
            no higher * sign of h * sign of S * sign of f
        Who stands no higher is not envied.
            covers; least; demanded; {known}; no higher; f >= 0; h >= 0; L >= 0
            from worth knowing all
            from alone knowing all with {terms}
            {yardsticks}
            => sum[i](t[i])*f <= x*h{stated}
    """


def _no_larger_share(question: Question, pooled: bool, stated: str) -> Iterator[Step]:
    """The same with yardsticks in the pool, or on all servers one by one."""
    if pooled:
        share = "from share knowing all with X = sum[i](X[i]); t = sum[i](t[i])"
        return _bundle(question, "in the pool", "", _known(pooled, "h"), "g = R; G = S", share, stated)
    summed = (
        "[summed] Summed over the servers, this compares the yardsticks.\n"
        "    each: m*g[i] <= G[i]\n    => m*sum[i](g[i]) <= sum[i](G[i])\n"
        "[some] Yardsticks are not negative.\n"
        "    G[i] >= 0\n    => sum[i](G[i]) >= 0"
    )
    terms = "; ".join(f"{name} = {name}[i]" for name in "cDEgG")
    share = (
        "from summed knowing all\n            from some knowing all\n            from share knowing all with "
        "X = sum[i](X[i]); t = sum[i](t[i]); S = sum[i](G[i]); R = sum[i](g[i])"
    )
    return _bundle(question, "on a server", summed, _known(pooled, "h"), terms, share, stated)


def _known(pooled: bool, weight: str) -> str:
    """What is known of the bundle of somebody of that weight, and of the user."""
    if pooled:
        return (
            "cover: m*D <= E; alone: R*E <= c; dominant: S*D == c; demanded 1: D > 0; share: x == l*f*S; "
            f"share 1: sum[i](X[i]) == L*{weight}*R; S >= 0; R >= 0"
        )
    return (
        "cover: m*D[i] <= E[i]; alone: g[i]*E[i] <= c[i]; dominant: G[i]*D[i] == c[i]; demanded 1: D[i] > 0; "
        f"share: x == l*f*sum[i](G[i]); share 1: sum[i](X[i]) == L*{weight}*sum[i](g[i]); G[i] >= 0; "
        "g[i] >= 0"
    )


def envy_steps(question: Question, pooled: bool) -> Iterator[Step]:
    """Envy-freeness; ``pooled`` says where the tasks of a yardstick are alone."""
    yield from _no_larger_share(question, pooled, " (as stated)")
    yield from _higher(question, BEST)


@argued
def _higher(question: Question, best: str) -> None:
    """The bundle of one who stands higher.

    Proof
        [room] The bundle of one who stands higher is none of those who are not above the user, who could run
        t tasks more in its place.
            fits: u*d + X*e + z <= c; covers: t*d <= X*e
            => (u + t)*d + z <= c
            degree 1
        [both] Its tasks are not negative then,
            u >= 0; t >= 0
            => u + t >= 0
        [allowed] and it has none where it may not run.
            may: m*u == 0; may 2: m*t == 0
            => m*(u + t) == 0
            degree 1
        [nothing] But it runs no more, as they all keep their tasks: the bundle is worth nothing to it,
            limit: U + T <= x; tasks: U == x
            => T <= 0
        [no envy] and not envied.
            nothing: T <= 0; f >= 0; h >= 0; x >= 0
            => T*f <= x*h
            by nothing * sign of f; sign of x * sign of h
        Nor is one who stands higher.
            {best};
            fits: u[i]*d1[r] + X[i]*e[r] + sum[k](y[k,i]*d[k,r]) <= c[i,r]; covers: t[i]*d1[r] <= X[i]*e[r];
            tasks: sum[i](u[i]) == x1; tasks 1: sum[i](y[k,i]) == x[k]; may 1: m1[i]*u[i] == 0;
            may 2: m1[i]*t[i] == 0; may: m[k,i]*y[k,i] == 0; u[i] >= 0; t[i] >= 0; y[k,i] >= 0; f >= 0;
            h >= 0; X[i] >= 0; e[r] >= 0
            from room knowing all with u = u[i]; d = d1[r]; X = X[i]; e = e[r]; t = t[i];
            z = sum[k](y[k,i]*d[k,r]); c = c[i,r]
            from both knowing all with u = u[i]; t = t[i]
            from allowed knowing all with m = m1[i]; u = u[i]; t = t[i]
            from best with y1[i] = u[i] + t[i]
            from nothing knowing all with U = sum[i](u[i]); T = sum[i](t[i]); x = x1
            from no envy knowing all with T = sum[i](t[i]); x = x1
            => sum[i](t[i])*f <= x1*h (as stated)
    """


def truth_steps(question: Question, pooled: bool) -> Iterator[Step]:
    """Strategy-proofness: the first of those who gain does not."""
    return _truth(question, pooled, _known(pooled, "f"), BEST, LATER)


LATER = (
    "later: sum[i](y2[i]) <= z2 if L > T and y2[i]*d2[r] + sum[o](y[o,i]*d[o,r]) <= c[i,r] and "
    "sum[i](y[o,i]) >= z[o] and y2[i] >= 0 and y[o,i] >= 0 and m2[i]*y2[i] == 0 and m[o,i]*y[o,i] == 0 "
    "for all y2[i], y[o,i]; z2 >= 0; z[o] >= 0; d2[r] >= 0; sign of d o: d[o,r] >= 0; m2[i] >= 0; "
    "sign of m o: m[o,i] >= 0"
)
"""The same of user 2 and the others o of no higher share than it with a lie."""


@argued
def _truth(
    question: Question, pooled: bool, known: str, best: str, later: str
) -> Iterator[Step | Iterable[Step]]:
    """The bundle is that of the X tasks that a liar claims, in which it really runs t.

    Of those who gain user 1 has the least share with the truth, H; of those who lose user 2 has the least
        share
    with the lie, T. The users k and o are the others of no higher share; v is the weight times the yardstick.

    Proof
        [no larger] ...
        [no gain] Who runs more cannot run as much at most.
            gains: t > x; weight: f > 0; no more: t*f <= x*f
            => 0 == 1
            by gains * weight
            degree 2
        [rises] So a liar that gains has a larger share with the lie, by what it claims.
            covers: t[i]*d <= X[i]*e; least: e == m*d; demanded: d > 0; {known}; weight: f > 0; L >= 0;
            gains: sum[i](t[i]) > x
            cases L <= l
            from no larger knowing all with h = f
            from no gain knowing all with t = sum[i](t[i])
            => L > l
        [above] As it gains, its share with the truth was at least H; if T < H it stands above T with the lie.
            rises: L > l; first winner: l >= H; lower: T < H
            => L > T
        [no winner] Nobody else whose share is at most T then can have gained: a contradiction.
            gains: z > x; share 2: x == A*v; share 3: z == B*v; first winner: A >= H; lower; among: B <= T;
            yardstick: v > 0
            => 0 == 1
            by among * yardstick; lower * yardstick; first winner * yardstick
        [as much] They ran as much with the truth, all of them.
            first winner: A[o] >= H if z[o] > sum[i](u[o,i]) for each o; share 2: sum[i](u[o,i]) == A[o]*v[o];
            share 3: z[o] == B[o]*v[o]; lower; among: B[o] <= T; yardstick: v[o] > 0
            cases z[o] > sum[i](u[o,i])
            from first winner
            from no winner knowing all with z = z[o]; x = sum[i](u[o,i]); A = A[o]; B = B[o]; v = v[o]
            => sum[i](u[o,i]) >= z[o]
        [not lost] Who has run as much at most cannot lose.
            loses: z < u; as much: u <= z
            => 0 == 1
        [no loser] If T is not below H, nobody whose share was at most H can lose: a contradiction.
            loses: y < x; share 2: x == A*v; share 3: y == B*v; first loser: B >= T; not lower: T >= H;
            among: A <= H; yardstick: v > 0
            => 0 == 1
            by among * yardstick; not lower * yardstick; first loser * yardstick
        [kept] They run as much with the lie, all of them; who loses is not the liar.
            first loser: B[k] >= T if sum[i](y[k,i]) < x[k] for each k; share 2: x[k] == A[k]*v[k];
            share 3: sum[i](y[k,i]) == B[k]*v[k] if sum[i](y[k,i]) < x[k] for each k; not lower;
            among: A[k] <= H; yardstick: v[k] > 0
            cases sum[i](y[k,i]) < x[k]
            from first loser
            from share 3
            from no loser knowing all with y = sum[i](y[k,i]); x = x[k]; A = A[k]; B = B[k]; v = v[k]
            => sum[i](y[k,i]) >= x[k]
        If somebody loses: where T < H the tasks of users o with the truth fit, so that user 2 would lose
        nothing; else what users k really run with the lie fits, so that user 1 runs no more, after all.
            {best}; {later};
            covers; least; demanded; {known}; weight; L >= 0; gains: sum[i](t[i]) > x; first winner 1: l >= H;
            first winner 2: A[o] >= H if z[o] > sum[i](u[o,i]) for each o;
            share 2: sum[i](u[o,i]) == A[o]*v[o]; share 3: z[o] == B[o]*v[o]; among 1: B[o] <= T;
            yardstick 1: v[o] > 0; fits 1: u2[i]*d2[r] + sum[o](u[o,i]*d[o,r]) <= c[i,r];
            may 1: m2[i]*u2[i] == 0; may 2: m[o,i]*u[o,i] == 0; u2[i] >= 0; sign of u: u[o,i] >= 0;
            loses: z2 < sum[i](u2[i]);
            first loser: B[k] >= T if sum[i](y[k,i]) < x[k] for each k; share 4: x[k] == A[k]*v[k];
            share 5: sum[i](y[k,i]) == B[k]*v[k] if sum[i](y[k,i]) < x[k] for each k; among 2: A[k] <= H;
            yardstick 2: v[k] > 0; fits 2: y1[i]*d1[r] + sum[k](y[k,i]*d[k,r]) <= c[i,r];
            may 3: m1[i]*y1[i] == 0; may 4: m[k,i]*y[k,i] == 0; y1[i] >= 0; y[k,i] >= 0; T >= 0; H >= 0
            cases T < H
            from rises knowing all
            from above knowing all
            from as much knowing all
            from later with y2[i] = u2[i]; y[o,i] = u[o,i]
            from not lost knowing all with z = z2; u = sum[i](u2[i])
            from kept knowing all
            from best
            => sum[i](y1[i]) <= x1 (as stated)
        And so it is if nobody loses.
            {best};
            none loses: sum[i](y[k,i]) >= x[k]; fits 2; may 3; may 4; y1[i] >= 0; y[k,i] >= 0
            from best
            => sum[i](y1[i]) <= x1 (as stated)
    """
    yield _no_larger_share(question, pooled, "")


def bottleneck_steps(question: Question, pooled: bool) -> Iterator[Step]:
    """Bottleneck fairness, if one resource is dominant for all users on all servers."""
    yield from _dominant_in_pool(question) if pooled else _tasks_alone(question)
    yield from _common(question, BEST)


@argued
def _common(question: Question, best: str) -> None:
    """Only the common resource has to suffice; a: the others for each unit of it.

    Proof
        [dominated] Where a user would fill the common resource alone, a task demands, for each unit of it, no
        more of another resource than the server has for each unit of it.
            dominant: G*e == b; alone: G*d <= c; beside: c == a*b; common: b > 0; e >= 0
            => d <= a*e
            by alone * sign of e; dominant | a*e; dominant | d; beside | e; not the conclusion * common
        [within] So what fits into the common resource of a server fits there.
            fits: y1*e1 + sum[k](y[k]*e[k]) <= b; beside: c == a*b; dominated: d[k] <= a*e[k];
            dominated 1: d1 <= a*e1; y[k] >= 0; y1 >= 0; a >= 0
            => y1*d1 + sum[k](y[k]*d[k]) <= c
            by fits * sign of a; dominated * sign of y; dominated 1 * sign of y1
        And nobody gets more of it unless somebody gets less who has no more by weight, even if only this
        resource were limited: that is max-min fairness.
            {best};
            fits: y1[i]*e1 + sum[k](y[k,i]*e[k]) <= b[i]; beside: c[i,r] == a[i,r]*b[i]; y[k,i] >= 0;
            y1[i] >= 0; a[i,r] >= 0; G[k,i] >= 0; G1[i] >= 0; dominant: G[k,i]*e[k] == b[i];
            dominant 1: G1[i]*e1 == b[i];
            alone: G[k,i]*d[k,r] <= c[i,r]; alone 1: G1[i]*d1[r] <= c[i,r]; common: b[i] > 0; e[k] >= 0;
            e1 >= 0; no loss: sum[i](y[k,i]) >= x[k]; may 1: m1[i]*y1[i] == 0;
            may: m[k,i]*y[k,i] == 0
            from dominated knowing all with G = G[k,i]; e = e[k]; d = d[k,r]; c = c[i,r]; a = a[i,r]; b = b[i]
            from dominated knowing all with G = G1[i]; e = e1; d = d1[r]; c = c[i,r]; a = a[i,r]; b = b[i]
            from within knowing all with y1 = y1[i]; d1 = d1[r]; y[k] = y[k,i]; d[k] = d[k,r]; a = a[i,r];
            b = b[i]; c = c[i,r]
            from best
            => sum[i](y1[i]) <= x1 (as stated)
    """


@argued
def _dominant_in_pool(question: Question) -> None:
    """The common resource, in the pool.

    Proof
        The common resource is dominant in the pool as well, where it stops a user.
            dominant: G[i]*e == b[i]; alone: G[i]*d <= c[i]; e >= 0
            => d*sum[i](b[i]) <= e*sum[i](c[i]) (as stated)
            by dominant | d; alone * sign of e
        Hence a share u, times the weight, is the part that the user has of all of the common resource.
            share: x == u*S; dominant 1: S*e == sum[i](b[i])
            => x*e == u*sum[i](b[i]) (as stated)
    """


@argued
def _tasks_alone(question: Question) -> None:
    """The common resource, on all servers one by one.

    Proof
        [alone] Tasks alone on all servers together fill all there is of it.
            dominant: G[i]*e == b[i]
            => e*sum[i](G[i]) == sum[i](b[i])
            degree 1
        [part] Hence a share u, times the weight, is the part that the user has of all of the common resource.
            share: x == u*S; filled: e*S == B
            => x*e == u*B
        So it is on all servers.
            dominant; share: x == u*sum[i](G[i])
            from alone knowing all
            from part knowing all with S = sum[i](G[i]); B = sum[i](b[i])
            => x*e == u*sum[i](b[i]) (as stated)
    """
