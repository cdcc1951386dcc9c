r"""Why C-DRFH, TSF, DRFH and CDRF have the properties that they have of Table I, step by step.

User n runs :math:`x_n` tasks on all servers together and has the share :math:`x_n/(\varphi_nR_n)`. Its
yardstick :math:`R_n` are the tasks that it would run alone: in the pooled cluster (C-DRFH), or on all servers
one by one (TSF), in both as if there were no placement constraints. Without such constraints they are DRFH
and CDRF. A placement is max-min fair if nobody can run more, whatever is moved, unless somebody of the same
or a lower share runs less. The proofs start from what linear programming makes of that: for each user there
are prices of all resources of all servers at which the users of no higher share could just buy all that there
is, and a task of the user costs something.

All that they need of the yardstick is this: if the demands of one user are at least m times those of another
one, m times its yardstick is no larger than the other's. So the properties hold with any weights and
placement constraints, and for every max-min fair placement. Bottleneck fairness asks for more: the common
resource has to be dominant on all servers, those included that a user may not use.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from proofs.catalogue.proof_texts import Proof, argued
from proofs.claims import InWords, Step
from proofs.statement import Question

__all__ = ["DUALITY", "bottleneck_steps", "envy_steps", "pareto_steps", "truth_steps"]

DUALITY = Step(
    "A max-min fair placement has such prices for each user.",
    InWords(
        "What the user runs is the most that fits while nobody of the same or a lower share runs less. The "
        "dual prices of this linear program, with 1 for a task of the user, meet the conditions."
    ),
)


@argued
def _server(question: Question) -> None:
    """What fits on a server costs no more than its resources.

    Proof
        The tasks on a server cost no more than its resources.
            fits: y1*d1[r] + sum[k](y[k]*d[k,r]) <= c[r]; worth: q[r] >= 0
            => y1*sum[r](q[r]*d1[r]) + sum[k](y[k]*sum[r](q[r]*d[k,r])) <= sum[r](q[r]*c[r])
            by fits * worth
    """


@argued
def _server_of_one(question: Question) -> None:
    """The same where only the common resource has to suffice; a: the others for each unit of it.

    Proof
        [dominated] Where a user would fill the common resource alone, a task demands, for each unit of it, no
        more of another resource than the server has for each unit of it.
            dominant: G*e == b; alone: G*d <= c; beside: c == a*b; common: b > 0; e >= 0
            => d <= a*e
            by alone * sign of e; dominant | a*e; dominant | d; beside | e; not the conclusion * common
        [worth] So if the common resource suffices on a server, the tasks cost no more than all its
        resources...
            fits: y1*e1 + sum[k](y[k]*e[k]) <= b; beside: a[r]*b <= c[r]; worth: q[r] >= 0; y[k] >= 0;
            within: d[k,r] <= e[k]*a[r]; within 1: d1[r] <= e1*a[r]; a[r] >= 0; y1 >= 0
            => y1*sum[r](q[r]*d1[r]) + sum[k](y[k]*sum[r](q[r]*d[k,r])) <= sum[r](q[r]*c[r])
            by fits * worth * sign of a; within * worth * sign of y; within 1 * worth * sign of y1;
            beside * worth
        ...on each server.
            fits; worth; dominant: G[k]*e[k] == b; dominant 1: G1*e1 == b; alone: G[k]*d[k,r] <= c[r];
            alone 1: G1*d1[r] <= c[r]; beside: c[r] == a[r]*b; common; e[k] >= 0; sign of e1: e1 >= 0;
            y[k] >= 0; y1 >= 0; a[r] >= 0
            from dominated knowing all with G = G[k]; e = e[k]; d = d[k,r]; c = c[r]; a = a[r]
            from dominated knowing all with G = G1; e = e1; d = d1[r]; c = c[r]; a = a[r]
            from worth knowing all
            => y1*sum[r](q[r]*d1[r]) + sum[k](y[k]*sum[r](q[r]*d[k,r])) <= sum[r](q[r]*c[r])
    """


@argued
def _limit(
    question: Question, server: Proof, says: str, known: str, more: str, stated: str
) -> Iterator[Iterable[Step]]:
    """Nobody runs more unless somebody of the same or a lower share runs less, by prices.

    User 1, who runs x1 tasks, stands beside the others k of no higher share; y are the tasks later.

    Proof
        [server] ...
        [bought] {says}
            price: w[k]*y[k,i] <= v[k,i]*y[k,i]; price 1: w1*y1[i] <= v1[i]*y1[i];
            supply: sum[i](V[i]) <= w1*x1 + sum[k](w[k]*x[k]); no loss: sum[i](y[k,i]) >= x[k];
            server: y1[i]*v1[i] + sum[k](y[k,i]*v[k,i]) <= V[i]; cost: w[k] >= 0; cost 1: w1 > 0
            => sum[i](y1[i]) <= x1
            by server; price; price 1; no loss * cost; not the conclusion * cost 1
        Together.
            price: w[k]*y[k,i] <= sum[r](q[i,r]*d[k,r])*y[k,i]; worth: q[i,r] >= 0; no loss; cost; cost 1;
            price 1: w1*y1[i] <= sum[r](q[i,r]*d1[r])*y1[i]; {known};
            supply: sum[i](sum[r](q[i,r]*c[i,r])) <= w1*x1 + sum[k](w[k]*x[k])
            from server knowing all with c[r] = c[i,r]; q[r] = q[i,r]; y1 = y1[i]; y[k] = y[k,i]{more}
            from bought knowing all with v1[i] = sum[r](q[i,r]*d1[r]); v[k,i] = sum[r](q[i,r]*d[k,r]);
            V[i] = sum[r](q[i,r]*c[i,r])
            => sum[i](y1[i]) <= x1{stated}
    """
    yield server(question)


def _bought(question: Question, stated: str = "") -> Iterator[Step]:
    says = (
        "Those who are not above a user could just buy all that there is for what they run, at the prices of "
        "that user: if none of them runs less, it runs no more, whatever is moved."
    )
    known = "fits: y1[i]*d1[r] + sum[k](y[k,i]*d[k,r]) <= c[i,r]; c[i,r] >= 0"
    return _limit(question, _server, says, known, "", stated)


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
        known = (
            "cover: m*D <= E; alone: R*E <= c; dominant: S*D == c; demanded 1: D > 0; share: x == l*f*S; "
            "share 1: sum[i](X[i]) == L*h*R; S >= 0; R >= 0"
        )
        share = "from share knowing all with X = sum[i](X[i]); t = sum[i](t[i])"
        return _bundle(question, "in the pool", "", known, "g = R; G = S", share, stated)
    summed = (
        "[summed] Summed over the servers, this compares the yardsticks.\n"
        "    each: m*g[i] <= G[i]\n    => m*sum[i](g[i]) <= sum[i](G[i])\n"
        "[some] Yardsticks are not negative.\n"
        "    G[i] >= 0\n    => sum[i](G[i]) >= 0"
    )
    known = (
        "cover: m*D[i] <= E[i]; alone: g[i]*E[i] <= c[i]; dominant: G[i]*D[i] == c[i]; demanded 1: D[i] > 0; "
        "share: x == l*f*sum[i](G[i]); share 1: sum[i](X[i]) == L*h*sum[i](g[i]); G[i] >= 0; g[i] >= 0"
    )
    terms = "; ".join(f"{name} = {name}[i]" for name in "cDEgG")
    share = (
        "from summed knowing all\n            from some knowing all\n            from share knowing all with "
        "X = sum[i](X[i]); t = sum[i](t[i]); S = sum[i](G[i]); R = sum[i](g[i])"
    )
    return _bundle(question, "on a server", summed, known, terms, share, stated)


@argued
def envy_steps(question: Question, pooled: bool) -> Iterator[Step | Iterable[Step]]:
    """Envy-freeness; ``pooled`` says where the tasks of a yardstick are alone.

    Proof
        ...
        [room] The bundle of one who stands higher is none of those who are not above the user, who could run
        t tasks more in its place.
            fits: u*d + X*e + z <= c; covers: t*d <= X*e
            => (u + t)*d + z <= c
            degree 1
        [limit] ...
        [nothing] But it runs no more, as they all keep their tasks: the bundle is worth nothing to it,
            limit: U + T <= x; tasks: U == x
            => T <= 0
        [no envy] and not envied.
            nothing: T <= 0; f >= 0; h >= 0; x >= 0
            => T*f <= x*h
            by nothing * sign of f; sign of x * sign of h
        Nor is one who stands higher.
            fits: u[i]*d1[r] + X[i]*e[r] + sum[k](y[k,i]*d[k,r]) <= c[i,r]; covers: t[i]*d1[r] <= X[i]*e[r];
            price: w[k]*y[k,i] <= sum[r](q[i,r]*d[k,r])*y[k,i]; tasks: sum[i](u[i]) == x;
            price 1: w1*(u[i] + t[i]) <= sum[r](q[i,r]*d1[r])*(u[i] + t[i]); tasks 1: sum[i](y[k,i]) == x[k];
            supply: sum[i](sum[r](q[i,r]*c[i,r])) <= w1*x + sum[k](w[k]*x[k]); worth: q[i,r] >= 0;
            cost: w[k] >= 0; cost 1: w1 > 0; f >= 0; h >= 0; x >= 0; c[i,r] >= 0
            from room knowing all with u = u[i]; d = d1[r]; X = X[i]; e = e[r]; t = t[i];
            z = sum[k](y[k,i]*d[k,r]); c = c[i,r]
            from limit knowing all with y1[i] = u[i] + t[i]; x1 = x
            from nothing knowing all with U = sum[i](u[i]); T = sum[i](t[i])
            from no envy knowing all with T = sum[i](t[i])
            => sum[i](t[i])*f <= x*h (as stated)
    """
    yield _no_larger_share(question, pooled, " (as stated)")
    yield _bought(question)


def pareto_steps(question: Question) -> Iterator[Step]:
    """Pareto efficiency, whatever the yardstick."""
    return _bought(question, " (as stated)")


@argued
def truth_steps(question: Question, pooled: bool) -> Iterator[Step | Iterable[Step]]:
    """Strategy-proofness: who loses by the lie, and stands lowest then, could have its tasks back.

    Proof
        ...
        ...
        The bundle is that of the X tasks that a liar claims; its t true tasks fit beside the tasks of the
        others with the lie. Let H be the least share with the truth of those who gain, the liar among them,
        and T the least share with the lie of those who lose. Somebody loses whose share was at most H, so T <
        H.
            first loser: T <= B; loses: B < A; no higher: A <= H; A >= 0; B >= 0; H >= 0; T >= 0
            => T < H
        So all who gain have shares above T with the lie, the liar by what it claims.
            lower: T < H; gained: A < B; first winner: H <= A; A >= 0; B >= 0; H >= 0; T >= 0
            => B > T
        With the lie, somebody of share T loses, and could have its tasks back.
            In words: Of all who stand at T or below with the lie, the liar is none, and none gains. Their
            tasks with the truth fit, as the others may leave, and none of them would run less. So, by the
            prices with the lie, the one of share T who loses runs no less with the lie than with the truth: a
            contradiction, so the liar does not gain.
        ...
    """
    yield _no_larger_share(question, pooled, "")
    yield _bought(question)
    yield DUALITY


@argued
def bottleneck_steps(question: Question, pooled: bool) -> Iterator[Step | Iterable[Step]]:
    """Bottleneck fairness, if one resource is dominant for all users on all servers.

    Proof
        ...
        ...
    """
    yield _dominant_in_pool(question) if pooled else _tasks_alone(question)
    says = (
        "...and nobody gets more of it unless somebody gets less who has no more by weight, even if only "
        "this resource were limited: that is max-min fairness."
    )
    known = (
        "fits: y1[i]*e1 + sum[k](y[k,i]*e[k]) <= b[i]; beside: c[i,r] == a[i,r]*b[i]; y[k,i] >= 0; "
        "sign of y1: y1[i] >= 0; a[i,r] >= 0; dominant: G[k,i]*e[k] == b[i]; dominant 1: G1[i]*e1 == b[i]; "
        "alone: G[k,i]*d[k,r] <= c[i,r]; alone 1: G1[i]*d1[r] <= c[i,r]; common: b[i] > 0; e[k] >= 0; "
        "sign of e1: e1 >= 0"
    )
    more = "; a[r] = a[i,r]; b = b[i]; G[k] = G[k,i]; G1 = G1[i]"
    yield _limit(question, _server_of_one, says, known, more, " (as stated)")


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
