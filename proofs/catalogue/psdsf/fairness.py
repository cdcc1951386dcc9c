"""PS-DSF under both divisions: sharing incentive, envy-freeness and bottleneck fairness.

Hypotheses
    bottleneck: users that hold a bottleneck of another stand no higher (12); in time division, all that are
        served (13)
"""

from __future__ import annotations

from proofs.catalogue.chapter import Chapter
from proofs.catalogue.psdsf.theorems import SOURCE
from proofs.statement import Question

__all__ = ["STATEMENTS"]

STATEMENTS = Chapter(SOURCE, known=__doc__)


@STATEMENTS.add("psdsf-sharing-incentive")
def _sharing_incentive(question: Question) -> None:
    r"""Under both divisions each user runs at least the tasks that its weight's part of every server would
    run.

    .. math:: x_n\ge \frac{\varphi_n}{\sum_p\varphi_p}\sum_i\gamma_{ni}

    Hypotheses
        bottleneck*
        saturated*: a bottleneck is full; in time division, the server is busy
        alone*: the tasks of a user alone on a server fit (7)
        capacity: there is something of the bottleneck, or some time
        all tasks*: the fractions of a user's tasks on the servers add up to 1
        runs: users run something
        signs: tasks, weights and fractions are not negative
    Place: Theorem 3, sharing incentive
    Scope: all reals, any numbers of servers and users; no other assumption on demands, weights or eligibility
    Remark: The paper sketches an induction over the users in a worst case where all share their bottlenecks;
        this direct proof needs neither.

    Proof
        # Of user n: N tasks, the weight f, G tasks alone on a server. Of another one: X tasks, x of them on
        # the
        # server, the fraction k; the weight h, g tasks alone there. c, d: the bottleneck of n and demands for
        # it; in time division the time 1 and that of a task.
        [holder] What a user holds of the bottleneck of n, times the weight f and the tasks G, is at most n's
        tasks N times its weight and the part k of its tasks that run there, of all there is. For it stands
        no higher if it holds something.
            bottleneck: x*d*(N*h*g - X*f*G) >= 0; alone: g*d <= c; all tasks: k*X == x; runs: X > 0; N >= 0;
            h >= 0; x >= 0
            => f*G*x*d <= N*h*k*c
            by bottleneck; alone * sign of N * sign of h * sign of x; not the conclusion * runs
        [server] Summed over the users, who fill the bottleneck, for each server.
            saturated: sum[p](x[p]*d[p]) == c; capacity: c > 0; holder: f*G*x[p]*d[p] <= N*h[p]*k[p]*c
            => f*G <= N*sum[p](h[p]*k[p])
            by holder; not the conclusion * capacity
        [servers] Summed over the servers: at least the weight's part of every server.
            server: f*G[i] <= N*sum[p](h[p]*k[p,i]); all tasks 1: sum[i](k[p,i]) == 1
            => f*sum[i](G[i]) <= N*sum[p](h[p])
            by server; all tasks 1 | h[p]
        On all servers, then.
            bottleneck: x[p,i]*d[p,i]*(N*h[p]*g[p,i] - X[p]*f*G[i]) >= 0; alone: g[p,i]*d[p,i] <= c[i];
            all tasks: k[p,i]*X[p] == x[p,i]; all tasks 1; runs: X[p] > 0; N >= 0; h[p] >= 0; x[p,i] >= 0;
            saturated: sum[p](x[p,i]*d[p,i]) == c[i]; capacity: c[i] > 0
            from holder knowing all with x = x[p,i]; d = d[p,i]; h = h[p]; g = g[p,i]; X = X[p]; G = G[i];
            c = c[i]; k = k[p,i]
            from server knowing all with x[p] = x[p,i]; d[p] = d[p,i]; G = G[i]; c = c[i]; k[p] = k[p,i]
            from servers knowing all
            => f*sum[i](G[i]) <= N*sum[p](h[p]) (as stated)
    """


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
        rival*: the rival has its part of the shared server besides
        own*: and so has the user, besides the servers behind it
        weight: weights are positive
        alone: both run something alone on the shared server
        signs: parts of the shared server, tasks and weights are not negative
    Place: equations (32)-(36)
    Scope: all reals, any numbers of servers before the shared one and behind it
    Remark: psdsf-sharing-incentive does not need the common bottleneck or two users.

    Proof
        # i: servers before the shared one, which the rival has; k: those behind it, which the user has.
        [valued] Link 1: the rival's tasks M, valued at the shared server, are at least what user n would run
        in its place.
            order: g[i]*h <= g*h[i]; rival: M == sum[i](h[i]) + e*h
            => M*g >= h*(sum[i](g[i]) + e*g)
            degree 1
        [own] Link 2 (32): the rival stands no higher on the shared server, so this is at most n's own tasks
        by
        weight.
            level: M*f*g <= N*k*h; link 1: M*g >= h*(sum[i](g[i]) + e*g); weight: f > 0; alone: h > 0
            => f*(sum[i](g[i]) + e*g) <= k*N
            by link 1 * weight; not the conclusion * alone
        [all] Link 3 (33, 34, 36): added to n's own tasks, N is at least its weight's part of all servers.
            shared: b + e >= 1; link 2: f*(sum[i](g[i]) + e*g) <= k*N; own: N == sum[k](a[k]) + b*g; weight;
            alone 1: g > 0
            => f*(sum[i](g[i]) + g + sum[k](a[k])) <= (f + k)*N
            by shared * weight * alone 1
        The three links together.
            order; rival; level; weight; alone; alone 1; shared; own; b >= 0; e >= 0; N >= 0; M >= 0; k >= 0;
            g[i] >= 0; h[i] >= 0; sign of own: a[k] >= 0
            from valued knowing all
            from own knowing all
            from all knowing all
            => f*(sum[i](g[i]) + g + sum[k](a[k])) <= (f + k)*N (as stated)
    """


@STATEMENTS.add("psdsf-envy-free")
def _envy_free(question: Question) -> None:
    r"""Under both divisions no user would run more tasks with the resources of another, adjusted by weight.

    .. math:: U_n(a_p)/\varphi_p\le x_n/\varphi_n

    Hypotheses
        bottleneck*
        worth*: what the other's resources are worth is limited by n's dominant resource and by its bottleneck
        dominant*: alone on the server, user n would fill its dominant resource
        alone*: the tasks of the other user alone on the server fit (7)
        demanded: user n demands its dominant resource, and its bottleneck
        gamma: the other user can run there
        weight: the weight of n is positive
        all tasks*: the tasks of the other user on these servers and on others are all its tasks
        elsewhere: on servers that one of them may not use n runs nothing with what the other holds
        runs*: the other user runs something
        signs: tasks and weights are not negative
    Place: Theorem 3, envy-freeness, equations (25)-(29)
    Scope: each pair of users; all reals, any number of servers

    Proof
        # d, e: demands of n and of p for the dominant resource of n on a server, of capacity c; D, E: for the
        # bottleneck of n there. t: tasks of n that run with the resources of z tasks of p.
        [worth] Equation (26): with the resources of z tasks of user p, alone g, user n, alone G, runs at most
        zG/g tasks.
            worth: t*d <= z*e; dominant: G*d == c; alone: g*e <= c; demanded: d > 0; gamma: g > 0; z >= 0
            => t*g <= z*G
            by worth * gamma; alone * sign of z; not the conclusion * demanded
        [holds] Where they are worth anything, user p holds all that n demands, so also n's bottleneck there,
            worth 1: t*D <= z*E; something: t > 0; demanded 1: D > 0
            => z*E > 0
            by something * demanded 1
        [below] so that it stands no higher there:
            bottleneck: z*E*(N*h*g - X*f*G) >= 0; held: z*E > 0
            => X*f*G <= N*h*g
            by bottleneck; not the conclusion * held
        [no more] what its tasks are worth to n, weighted, is at most the same fraction of n's own.
            below: X*f*G <= N*h*g; worth of z: t*g <= z*G; gamma; weight: f > 0; runs: X > 0; z >= 0
            => t*f*X <= z*N*h
            by worth of z * weight * runs; below * sign of z; not the conclusion * gamma
        [nothing] So it is where they are worth nothing.
            nothing: t <= 0; t >= 0; z >= 0; N >= 0; h >= 0
            => t*f*X <= z*N*h
            by sign of z * sign of N * sign of h
            degree 3
        [server] One of the two is the case on each server.
            worth; worth 1; dominant; alone; demanded; demanded 1; bottleneck; gamma; weight; runs; t >= 0;
            z >= 0; N >= 0; h >= 0
            cases t > 0
            from worth knowing all
            from holds knowing all
            from below knowing all
            from no more knowing all
            from nothing knowing all
            => t*f*X <= z*N*h
        # i: servers that both may use, j: all others.
        [elsewhere] The bundle of user p is not negative where it is worth nothing.
            sign of z j: z[j] >= 0
            => sum[j](z[j]) >= 0
        [at most] So what it holds where both may run are at most all of its tasks.
            all tasks: Z + W == X; other tasks: W >= 0
            => Z <= X
        [servers] Summed over these servers, user n does not prefer the weighted bundle of user p,
            server: t[i]*f*X <= z[i]*N*h; at most: sum[i](z[i]) <= X; runs; N >= 0; h >= 0
            => f*sum[i](t[i]) <= h*N
            by not the conclusion * runs; at most * sign of N * sign of h
            degree 3
        [nothing there] and on the others
            elsewhere: t[j] == 0
            => sum[j](t[j]) == 0
        [in all] it has no use for it.
            servers: f*T <= h*N; nothing there: S == 0
            => f*(T + S) <= h*N
            degree 2
        On all servers, then.
            worth: t[i]*d[i] <= z[i]*e[i]; worth 1: t[i]*D[i] <= z[i]*E[i]; dominant: G[i]*d[i] == c[i];
            alone: g[i]*e[i] <= c[i]; demanded: d[i] > 0; demanded 1: D[i] > 0;
            bottleneck: z[i]*E[i]*(N*h*g[i] - X*f*G[i]) >= 0; gamma: g[i] > 0; weight; runs; t[i] >= 0;
            z[i] >= 0; sign of z j: z[j] >= 0; N >= 0; h >= 0;
            all tasks: sum[i](z[i]) + sum[j](z[j]) == X; elsewhere: t[j] == 0
            from server knowing all with t = t[i]; d = d[i]; z = z[i]; e = e[i]; D = D[i]; E = E[i];
            G = G[i]; g = g[i]; c = c[i]
            from elsewhere knowing all
            from at most knowing all with Z = sum[i](z[i]); W = sum[j](z[j])
            from servers knowing all
            from nothing there knowing all
            from in all knowing all with T = sum[i](t[i]); S = sum[j](t[j])
            => f*(sum[i](t[i]) + sum[j](t[j])) <= h*N (as stated)
    """


@STATEMENTS.add("psdsf-bottleneck-fair")
def _bottleneck_fair(question: Question) -> None:
    r"""If all users dominantly request one resource from all eligible servers, its amounts are weighted
    max-min fair.

    .. math:: \rho(n,i)=r\ \forall n,i\implies (x_nd_{nr}/\varphi_n)_n\ \text{constrained max-min fair}

    Hypotheses
        dominant*: alone on the server, each user would fill the common resource
        saturated*: a bottleneck is full; in time division, the server is busy
        alone*: the tasks of a user alone on a server fit (7)
        tasks*: in the part u of the time a user runs u gamma tasks
        capacity: there is something of the common resource, and of the bottleneck
        demand: users demand the common resource
        level*: a user stands no higher than another one
        bottleneck*: users that hold a bottleneck of another stand no higher (12)
        up to*: on these servers somebody of no higher level than L may run
        above*: others stand higher than L
        fits*: what else is allocated of the common resource fits
        no loss*: nobody else gets less of it in all
        signs: parts of the time, weights and tasks are not negative
    Place: Theorem 3, single resource and bottleneck fairness, equations (23)-(24)
    Scope: all reals, any numbers of servers and users; the servers are those that users up to a level may use
    Remark: One resource alone is the special case of single resource fairness.

    Proof
        If all dominantly request one resource, levels on a server compare as weighted amounts of it.
            dominant 1: G*e == c; dominant 2: g*d == c; capacity: c > 0; demand 1: e > 0; demand 2: d > 0;
            level: h*N*g >= f*X*G; f >= 0; h >= 0; N >= 0; X >= 0
            => h*N*e >= f*X*d (as stated)
            by level * demand 1 * demand 2; not the conclusion * capacity
        # User 1 and the users p have levels up to L, the users o higher ones; levels are weighted amounts of
        # the
        # common resource. c, d: the bottleneck of somebody of a level B up to L, and demands for it, C, e: of
        # the
        # common resource.
        [gone] Users of higher levels hold nothing of the bottleneck of one who is not above L,
            bottleneck: x*d*(B - s) >= 0; up to: B <= L; above: s > L
            => x*d <= 0
            by not the conclusion * above; not the conclusion * up to
        [left] so that the others fill it.
            saturated: x1*d1 + sum[p](x[p]*d[p]) + sum[o](x[o]*d[o]) == c; gone: x[o]*d[o] <= 0
            => x1*d1 + sum[p](x[p]*d[p]) >= c
        [time] The users that fill a bottleneck, whichever it is, would take all of the server's time...
            alone: g[p]*d[p] <= c; alone 1: g1*d1 <= c; left: x1*d1 + sum[p](x[p]*d[p]) >= c;
            capacity: c > 0; u[p] >= 0; sign of u1: u1 >= 0; tasks: u[p]*g[p] == x[p]; tasks 1: u1*g1 == x1
            => u1 + sum[p](u[p]) >= 1
            by not the conclusion * capacity; alone * sign of u; alone 1 * sign of u1; tasks | d[p]
            degree 2
        [common] ...so they fill the common resource too: it is a bottleneck of everybody on every server.
            dominant: g[p]*e[p] == C; dominant 1: g1*e1 == C; tasks; tasks 1; time: u1 + sum[p](u[p]) >= 1;
            capacity 1: C > 0
            => x1*e1 + sum[p](x[p]*e[p]) >= C
            by time * capacity 1; tasks | e[p]; dominant | u[p]
            degree 2
        [shared] None of them gets more of it unless another one of them gets less, even if all tasks move.
            common: b1[i] + sum[p](b[p,i]) >= C[i]; fits: y1[i] + sum[p](y[p,i]) <= C[i];
            no loss: sum[i](y[p,i]) >= sum[i](b[p,i])
            => sum[i](y1[i]) <= sum[i](b1[i])
            degree 1
        That is max-min fairness.
            dominant: g[p,i]*e[p] == C[i]; dominant 1: g1[i]*e1 == C[i]; alone: g[p,i]*d[p,i] <= c[i];
            alone 1: g1[i]*d1[i] <= c[i];
            saturated: x1[i]*d1[i] + sum[p](x[p,i]*d[p,i]) + sum[o](x[o,i]*d[o,i]) == c[i];
            bottleneck: x[o,i]*d[o,i]*(B[i] - s[o]) >= 0; up to: B[i] <= L; above: s[o] > L;
            tasks: u[p,i]*g[p,i] == x[p,i]; tasks 1: u1[i]*g1[i] == x1[i]; u[p,i] >= 0;
            sign of u1: u1[i] >= 0; capacity: c[i] > 0; capacity 1: C[i] > 0; fits;
            no loss: sum[i](y[p,i]) >= sum[i](x[p,i]*e[p])
            from gone knowing all with x = x[o,i]; d = d[o,i]; B = B[i]; s = s[o]
            from left knowing all with x1 = x1[i]; d1 = d1[i]; x[p] = x[p,i]; d[p] = d[p,i]; x[o] = x[o,i];
            d[o] = d[o,i]; c = c[i]
            from time knowing all with g[p] = g[p,i]; d[p] = d[p,i]; x[p] = x[p,i]; u[p] = u[p,i]; g1 = g1[i];
            d1 = d1[i]; x1 = x1[i]; u1 = u1[i]; c = c[i]
            from common knowing all with g[p] = g[p,i]; x[p] = x[p,i]; u[p] = u[p,i]; g1 = g1[i]; x1 = x1[i];
            u1 = u1[i]; C = C[i]
            from shared knowing all with b1[i] = x1[i]*e1; b[p,i] = x[p,i]*e[p]
            => sum[i](y1[i]) <= sum[i](x1[i]*e1) (as stated)
    """
