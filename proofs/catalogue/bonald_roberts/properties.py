"""Bonald and Roberts (2014), continued: envy-freeness, scale invariance and strategy-proofness."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from proofs.catalogue.bonald_roberts import model
from proofs.catalogue.bonald_roberts.model import PLACE, SOURCE
from proofs.catalogue.chapter import Chapter
from proofs.catalogue.examples import against, every
from proofs.catalogue.proof_texts import argued
from proofs.claims import Claim, Counterexample, Step
from proofs.statement import Question, Said

__all__ = ["STATEMENTS"]

STATEMENTS = Chapter(SOURCE, place=PLACE, known=model.STATEMENTS.known)

ENVY_FREE = r"\min_j x_k a_{kj}/a_{ij} \le x_i"
SCALE = r"x_i(sa_i) = x_i(a_i)/s"
TRUTHFUL = r"\min_j x_i(a')a'_{ij}/a_{ij} \le x_i(a)"
LIE = "all lies"


# Envy-freeness: y tasks run with the bundle of user 2, and are no more than the tasks x of user 1.


@STATEMENTS.add("br-pf-envy-free", latex=ENVY_FREE)
def _pf_envy(question: Question) -> None:
    """Under proportional fairness nobody would run more tasks with what another user holds.

    Hypotheses
        optimal*, fullest, inverse*, bundle*, fits*
    Scope: all pairs of users, any n and m; the other allocation gives the bundle of user 2 to user 1

    Proof
        # x, z: tasks of the users 1 and 2, x[i] of the others; y: tasks with the bundle of user 2; a, b,
        # a[i,j]:
        # demands; g: one over x; w: weights of the resources.
        [fits] With the bundle of user 2 in the hands of user 1 no more is used than before.
            bundle: y*a <= z*b; fits: x*a + z*b + S <= 1
            => (x + y)*a + S <= 1
        [mean] So its fullest resource is not used more than to its capacity.
            fullest: w[j] >= 0; fullest 1: sum[j](w[j]) == 1; fits: u[j] <= 1
            => sum[j](w[j]*u[j]) <= 1
            by fullest * fits
        [number] There are no fewer than no users.
            inverse: g[i]*x[i] == 1; inverse 1: x[i] > 0
            => 2 + sum[i](1) >= 0
            by inverse 1 * inverse 1 | g[i]; inverse | g[i]*x[i] + 1
        [total] Relative to PF it adds up to at most their number.
            optimal: G <= n*m; mean: m <= 1; number: n >= 0
            => G <= n
            by mean * number
        [left] The others have one each, and user 2 nothing, so that the bundle adds at most 1 to user 1,
            total: (x + y)*g + sum[i](x[i]*g[i]) <= 2 + sum[i](1); inverse: g[i]*x[i] == 1;
            inverse 1: g*x == 1
            => y*g <= 1
            by inverse
        [no more] who would run no more with it.
            inverse: g*x == 1; inverse 1: x > 0; left: y*g <= 1
            => y <= x
            by left * inverse 1; inverse | y
        So nobody runs more with what the other holds.
            optimal: (x + y)*g + sum[i](x[i]*g[i])
            <= (2 + sum[i](1))*sum[j](w[j]*((x + y)*a[j] + sum[i](x[i]*a[i,j])));
            fullest; fullest 1; inverse; inverse 1; inverse 2: g[i]*x[i] == 1; inverse 3: x[i] > 0;
            bundle: y*a[j] <= z*b[j]; fits: x*a[j] + z*b[j] + sum[i](x[i]*a[i,j]) <= 1
            from fits knowing all with a = a[j]; b = b[j]; S = sum[i](x[i]*a[i,j])
            from mean knowing all with u[j] = (x + y)*a[j] + sum[i](x[i]*a[i,j])
            from number knowing all
            from total knowing all with G = (x + y)*g + sum[i](x[i]*g[i]); n = 2 + sum[i](1);
            m = sum[j](w[j]*((x + y)*a[j] + sum[i](x[i]*a[i,j])))
            from left knowing all
            from no more knowing all
            => y <= x (as stated)
    """


@STATEMENTS.add("br-drf-envy-free", latex=ENVY_FREE)
def _drf_envy(question: Question) -> None:
    """Under dominant resource fairness nobody would run more tasks with what another user holds.

    Hypotheses
        demand*, bundle*, largest*, stopped*, others*, signs
    Scope: all pairs of users, any n and m

    Proof
        # a, b: demands for the resource that stops the first user, at the level u; g, e: for its dominant
        # resource; d: dominant share of the second user.
        [level] If the other user demands the bottleneck of the first, its dominant share is no larger.
            stopped: x*g == u; others: b*(u - d) >= 0
            => b*(x*g - d) >= 0
            by stopped | b
            degree 2
        [nothing] If the other user does not demand the bottleneck of the first, nothing runs with its bundle.
            demand: a > 0; bundle: y*a <= z*b; none: b == 0; x >= 0
            => y <= x
            degree 2
        [below] If it does, its dominant share is at most that of the first user,
            level: b*(x*g - d) >= 0; some: b > 0
            => d <= x*g
            degree 2
        [no more] whose own dominant resource is then no larger in the bundle.
            demand 1: g > 0; bundle 1: y*g <= z*e; largest: z*e <= d; below: d <= x*g
            => y <= x
        [zero] One of the two is the case.
            b >= 0; not some: b <= 0
            => b == 0
        So nobody runs more with what the other holds.
            demand; demand 1; bundle; bundle 1; largest; stopped; others; x >= 0;
            b >= 0
            cases b > 0
            from level knowing all
            from below knowing all
            from no more knowing all
            from zero knowing all
            from nothing knowing all
            => y <= x (as stated)
    """


@STATEMENTS.add("br-bmf-envy-free", latex=ENVY_FREE)
def _bmf_envy(question: Question) -> None:
    """Under bottleneck-max fairness nobody would run more tasks with what another user holds.

    Hypotheses
        demand*, bundle*, bottleneck*
    Scope: all pairs of users and all BMF allocations, any n and m

    Proof
        On the bottleneck of a user nobody holds more, so that no bundle runs more.
            demand: a > 0; bundle: y*a <= z*b; bottleneck: z*b <= x*a
            => y <= x (as stated)
    """


# Scale invariance: the tasks of one user become s times as large, so it should run x/s of them.


@STATEMENTS.add("br-pf-scale-invariant", latex=SCALE)
def _pf_scale(question: Question) -> Iterator[Iterable[Step]]:
    """Under proportional fairness it does not matter how the work of a user is cut into tasks.

    Hypotheses
        units*, optimal*, fullest, inverse*, fits*, shares*
        factors: tasks become so many times as large, a positive number for each user
    Scope: all demands, any n and m, and each user, when the work of any users is cut anew

    Proof
        # x, x[i]: tasks of a user and of the others; y, y[i]: the same in tasks s and s[i] times as large;
        # z, z[i]: tasks of PF for the demands s a; g, h: one over x and z; w, v: weights of the resources.
        [mean] What fits uses its fullest resource no more than to its capacity.
            fullest: w[j] >= 0; fullest 1: sum[j](w[j]) == 1; fits: u[j] <= 1
            => sum[j](w[j]*u[j]) <= 1
            by fullest * fits
        [number] There are no fewer than no users.
            inverse: g[i]*x[i] == 1; inverse 1: x[i] > 0
            => 1 + sum[i](1) >= 0
            by inverse 1 * inverse 1 | g[i]; inverse | g[i]*x[i] + 1
        [cut] Cut anew, the tasks use what they did.
            units: y*s == x; units 1: y[i]*s[i] == x[i]; fits: x*a + sum[i](x[i]*a[i]) <= 1
            => y*s*a + sum[i](y[i]*s[i]*a[i]) <= 1
            by units 1 | a[i]
        [total] So each allocation adds up to at most their number, relative to the other.
            optimal: G <= n*m; mean: m <= 1; number: n >= 0
            => G <= n
            by mean * number
        [ratio] For each user, one is the inverse of the other,
            units; inverse 1: g*x == 1; inverse 2: h*z == 1
            => (y*h)*(s*z*g) == 1
            degree 1
        [positive] and both are positive.
            factors: s > 0; inverse: g*x == 1; inverse 1: x > 0; inverse 3: z > 0
            => s*z*g > 0
            by factors * inverse 3; not the conclusion * inverse 1; inverse | s*z
        [one] Ratios and their inverses that add up to at most n both are all 1.
            ratios: t[i]*r[i] == 1; ratio: t1*r1 == 1; positives: r[i] > 0; positive: r1 > 0;
            one way: t1 + sum[i](t[i]) <= 1 + sum[i](1); other way: r1 + sum[i](r[i]) <= 1 + sum[i](1)
            => t1 == 1
            by positives | t[i] - 1; positive * not the conclusion; ratios | t[i]
        [same] Then the tasks are the same.
            ratio: y*h == 1; inverse: h*z == 1; inverse 1: z > 0
            => z == y
            degree 3
        So the user runs the same tasks, cut anew.
            units: y*s == x; units 1: y[i]*s[i] == x[i]; factors: s > 0; factors 1: s[i] > 0;
            optimal: s*z*g + sum[i](s[i]*z[i]*g[i])
            <= (1 + sum[i](1))*sum[j](w[j]*(s*z*a[j] + sum[i](s[i]*z[i]*a[i,j])));
            optimal 1: y*h + sum[i](y[i]*h[i])
            <= (1 + sum[i](1))*sum[j](v[j]*(y*s*a[j] + sum[i](y[i]*s[i]*a[i,j])));
            fullest: w[j] >= 0; fullest 1: sum[j](w[j]) == 1; fullest 2: v[j] >= 0;
            fullest 3: sum[j](v[j]) == 1; inverse: g*x == 1; inverse 1: x > 0; inverse 2: g[i]*x[i] == 1;
            inverse 3: x[i] > 0; inverse 4: h*z == 1; inverse 5: z > 0; inverse 6: h[i]*z[i] == 1;
            inverse 7: z[i] > 0; fits: s*z*a[j] + sum[i](s[i]*z[i]*a[i,j]) <= 1;
            fits 1: x*a[j] + sum[i](x[i]*a[i,j]) <= 1
            from mean knowing all with u[j] = s*z*a[j] + sum[i](s[i]*z[i]*a[i,j])
            from cut knowing all with a = a[j]; a[i] = a[i,j]
            from mean knowing all with u[j] = y*s*a[j] + sum[i](y[i]*s[i]*a[i,j]); w[j] = v[j]
            from number knowing all
            from total knowing all with G = s*z*g + sum[i](s[i]*z[i]*g[i]); n = 1 + sum[i](1);
            m = sum[j](w[j]*(s*z*a[j] + sum[i](s[i]*z[i]*a[i,j])))
            from total knowing all with G = y*h + sum[i](y[i]*h[i]); n = 1 + sum[i](1);
            m = sum[j](v[j]*(y*s*a[j] + sum[i](y[i]*s[i]*a[i,j])))
            from ratio knowing all
            from ratio knowing all with y = y[i]; s = s[i]; x = x[i]; g = g[i]; h = h[i]; z = z[i]
            from positive knowing all
            from positive knowing all with s = s[i]; x = x[i]; g = g[i]; z = z[i]
            from one knowing all with t1 = y*h; r1 = s*z*g; t[i] = y[i]*h[i]; r[i] = s[i]*z[i]*g[i]
            from same knowing all
            => z == y (as stated)
        ...
    """
    yield _same_shares(question)


@argued
def _same_shares(question: Question) -> None:
    """Tasks of another size hold the same shares.

    Proof
        With x/s tasks of size s the user holds the same share of every resource.
            units: y*s == x; shares: h == x*a
            => y*(s*a) == h (as stated)
    """


@STATEMENTS.add("br-drf-scale-invariant", latex=SCALE)
def _share_scale(question: Question) -> Iterator[Iterable[Step]]:
    """Under dominant resource fairness it does not matter how the work of a user is cut into tasks.

    Hypotheses
        units*, shares*
        factors*: tasks become so many times as large, a positive number for each user
        dominant*: no demand of a task is greater than the dominant one
        level*: dominant shares are tasks times dominant demands
        demand*: the user demands the resource that stops it
        others*: who demands it has no larger dominant share than the level at which it got full
        fits*: no resource holds more than its capacity
        full*: the resource that stops the user is full
    Scope: all demands, any n and m, and each user, when the work of any users is cut anew

    Proof
        # x, x[i]: tasks of a user and of all users; y, y[i]: the same in tasks s and s[i] times as large; c:
        # dominant demands; t: dominant shares; u: level at which the resource with the demands a got full.
        The dominant demand stays dominant,
            factors: s > 0; dominant: a <= c
            => s*a <= s*c (as stated)
            by factors * dominant
        with the same dominant share.
            units: y*s == x; level: x*c == t
            => y*(s*c) == t (as stated)
            by units | c
            degree 2
        The user still demands the resource that stops it,
            factors; demand: a > 0
            => s*a > 0 (as stated)
            by factors * demand
        others who demand it stop at its level or before,
            factors 1: s > 0; others: a*(u - t) >= 0
            => s*a*(u - t) >= 0 (as stated)
            by factors 1 * others
        and it is full;
            units 1: y[i]*s[i] == x[i]; full: sum[i](x[i]*a[i]) == 1
            => sum[i](y[i]*(s[i]*a[i])) == 1 (as stated)
            by units 1 | a[i]
        what fits still does.
            units 1; fits: sum[i](x[i]*a[i]) <= 1
            => sum[i](y[i]*(s[i]*a[i])) <= 1 (as stated)
            by units 1 | a[i]
        ...
    """
    yield _same_shares(question)


@STATEMENTS.add("br-bmf-scale-invariant", latex=SCALE)
def _bmf_scale(question: Question) -> Iterator[Iterable[Step]]:
    """Under bottleneck-max fairness it does not matter how the work of a user is cut into tasks.

    Hypotheses
        units*, shares*
        fits*: tasks fit into a resource
        full*: the bottleneck of a user is full
        largest*: and nobody holds more of it than that user
    Scope: all demands and all BMF allocations, any n and m, and each user, when the work of any users is cut
        anew

    Proof
        # x, x[i]: tasks of a user and of the others; y, y[i]: the same in tasks s and s[i] times as large.
        What fits does so, cut anew;
            units: y*s == x; units 1: y[i]*s[i] == x[i]; fits: x*a + sum[i](x[i]*a[i]) <= 1
            => y*(s*a) + sum[i](y[i]*(s[i]*a[i])) <= 1 (as stated)
            by units 1 | a[i]
        what is full stays full,
            units; units 1; full: x*a + sum[i](x[i]*a[i]) == 1
            => y*(s*a) + sum[i](y[i]*(s[i]*a[i])) == 1 (as stated)
            by units 1 | a[i]
        [same] and as tasks of another size hold the same shares,
            units
            => y*(s*a) == x*a
            by units | a
            degree 2
        [no more] nobody holds more than the user.
            largest: g <= h; one: u == g; other: t == h
            => u <= t
        So who has the largest share of a full resource still has it.
            units; units 1; largest: x[i]*a[i] <= x*a
            from same knowing all
            from same knowing all with y = y[i]; s = s[i]; x = x[i]; a = a[i]
            from no more knowing all with g = x[i]*a[i]; h = x*a; u = y[i]*(s[i]*a[i]); t = y*(s*a)
            => y[i]*(s[i]*a[i]) <= y*(s*a) (as stated)
        ...
    """
    yield _same_shares(question)


@STATEMENTS.refute("br-mmf-scale-invariant", latex=SCALE, said=Said.DENIED)
def _mmf_scale_invariant() -> Counterexample:
    """Under max-min fairness it does not matter how the work of a user is cut into tasks.

    Scope: all demands
    Case: A case without the property.
    Remark: As the authors say, it does matter: whose tasks are twice as large holds two thirds, not half.
    """
    return against("mmf_in_other_tasks", demands=[[1], [1]], capacities=[1], factors=[1, 2])


@STATEMENTS.add("br-drf-strategy-proof", latex=TRUTHFUL)
def _drf_strategy(question: Question) -> Iterator[Claim]:
    """Under dominant resource fairness nobody runs more tasks by stating other demands.

    Hypotheses
        bundle*: the liar runs its tasks with what it gets
        demand: the liar demands some of its true bottleneck and of its dominant resource, the others of
            theirs
        largest: no share that the liar holds is greater than its stated dominant share
        shares: dominant shares are tasks times dominant demands
        full*: bottlenecks are full
        fits*: no resource holds more than its capacity
        honest*: users of a true bottleneck have no larger dominant share
        lied*: users of a bottleneck after the lie have no larger stated dominant share
        least*: nobody else runs less after the lie, or k has the smallest stated dominant share of those who
            do
        more*: then nobody else holds more of the bottleneck of k after the lie, or p does
        signs: demands and tasks are not negative
    Scope: all demands and lies, any n and m
    Reading: Users have bottlenecks: br-drf-bottlenecks. They are finitely many, so that if some run less,
        some k of them has the smallest stated share; so the three parts are all cases.

    Proof
        Every lie with demands up to 2 in every pool of two users with such demands.
            Computed (as stated).
        # User 1 lies: x, y tasks before and after, D1 and E1 true and stated dominant share. Of any other
        # user z, t: tasks before and after, D, E: dominant shares; those of users k and p have their letters.
        # What
        # user 1 holds after the lie is g; e, a, b, d are demands.
        [stated] If it runs more, user 1 states a greater dominant share than it had, because its tasks need
        more of its dominant resource.
            demand: e > 0; gain: y > x; bundle: y*e <= g; largest: g <= E; shares: D == x*e
            => D < E
            by demand * gain
        [holds] It holds more than before of what it demands,
            demand: a > 0; gain; bundle: y*a <= g
            => x*a < g
            by demand * gain
        [no less] and no less of anything else.
            a >= 0; gain; bundle
            => x*a <= g
            by sign of a * gain
        [runs] Others whose dominant share is no smaller run no less,
            shares 1: D == z*c; shares 2: E == t*c; demand: c > 0; rest: E >= D
            => t >= z
            by demand * not the conclusion
        [fewer] and those whose dominant share is smaller run less,
            shares 1; shares 2; demand: c > 0; less: E < D
            => t < z
            by demand * not the conclusion
        [keeps] and who runs no less holds no less.
            runs: t >= z; a >= 0
            => a*t >= a*z
            by runs * sign of a
        [under] Who demands the true bottleneck of a user has no larger true share than that user, M,
            some: a > 0; honest: a*(M - D) >= 0
            => D <= M
            by some * not the conclusion
        [loses] and if it runs less, which is a loss l,
            least 1: l >= D - E; less: E < D
            => l > 0
        [least] its stated share is at least that of k, K.
            loss: l > 0; least 2: l*(E - K) >= 0
            => E >= K
            by loss * not the conclusion
        [both] If M is below K, this cannot be.
            less: E < D; under: D <= M; below: M < K; least: E >= K
            => 0 == 1
        [zero] Who does not demand it,
            a >= 0; not some: a <= 0
            => a == 0
        [nothing] holds nothing before and after.
            zero: a == 0
            => a*t >= a*z
        [steady] So all hold no less than before of the true bottleneck of a user with M below K,
            a >= 0; honest; below: M < K; least 1; least 2; shares 1; shares 2; demand
            cases a > 0; E < D
            from under knowing all
            from loses knowing all
            from least knowing all
            from both knowing all
            from runs knowing all
            from keeps knowing all
            from zero knowing all
            from nothing knowing all
            => a*t >= a*z
        [gone] which k itself, who loses, does not demand.
            honest: a*(M - D) >= 0; below; loser: K < D
            => a <= 0
            by not the conclusion * below; not the conclusion * loser
        [together] With k and p, as with user 1 alone,
            one: h < q; other: r <= s
            => h + r < q + s
        [overfull] such a resource, which was full, would hold more than its capacity: this cannot be.
            full: h + sum[i](a[i]*z[i]) == 1; fits: q + sum[i](a[i]*t[i]) <= 1; more: h < q;
            steady: a[i]*t[i] >= a[i]*z[i]
            => 0 == 1
            by steady
        [between] What is below something no greater is below that.
            one: M < N; other: N <= K
            => M < K
        If nobody else runs less, nor does user 1 run more.
            demand 2: a > 0; demand: c[i] > 0; bundle: y*a <= g; shares 1: D[i] == z[i]*c[i];
            shares 2: E[i] == t[i]*c[i]; least: E[i] >= D[i]; a[i] >= 0;
            full: x*a + sum[i](a[i]*z[i]) == 1; fits: g + sum[i](a[i]*t[i]) <= 1
            cases y > x
            from holds knowing all
            from runs knowing all with D = D[i]; E = E[i]; z = z[i]; t = t[i]; c = c[i]
            from keeps knowing all with a = a[i]; z = z[i]; t = t[i]
            from overfull knowing all with h = x*a; q = g
            => y <= x (as stated)
        [left] Who has a larger stated share than k gets nothing of the bottleneck of k after the lie.
            lied: g*(K - E) >= 0; larger: K < E
            => g <= 0
            by not the conclusion * larger
        [lost] Of this k itself holds less,
            demand: b > 0; fewer: t < z
            => b*t < b*z
            by demand * fewer
        [less] so that it was overfull before if nobody else holds more: this cannot be.
            full: g + s + sum[i](b[i]*t[i]) == 1; fits: h + r + sum[i](b[i]*z[i]) <= 1; left: g <= 0; h >= 0;
            lost: s < r; more: b[i]*t[i] <= b[i]*z[i]
            => 0 == 1
            by more
        [some] What user 1 held was not negative.
            x >= 0; b >= 0
            => x*b >= 0
            by sign of x * sign of b
        # The true bottleneck of user 1 has demands a, that of k after the lie b.
        If k has the smallest stated share of those who run less, and nobody holds more of its bottleneck.
            demand 1: e > 0; demand 2; demand 3: b0 > 0; demand 4: ck > 0; demand: c[i] > 0; bundle;
            bundle 1: y*e <= ge;
            largest: ge <= E1; shares: D1 == x*e; shares 1; shares 2; shares 3: Dk == zk*ck;
            shares 4: Ek == tk*ck;
            honest: a[i]*(D1 - D[i]) >= 0; honest 1: ak*(D1 - Dk) >= 0; lied: gb*(Ek - E1) >= 0;
            least 1: l[i] >= D[i] - E[i]; least 2: l[i]*(E[i] - Ek) >= 0; least 3: Ek < Dk;
            more: b[i]*t[i] <= b[i]*z[i]; full: x*a + ak*zk + sum[i](a[i]*z[i]) == 1;
            full 1: gb + b0*tk + sum[i](b[i]*t[i]) == 1; fits: g + ak*tk + sum[i](a[i]*t[i]) <= 1;
            fits 1: x*b + b0*zk + sum[i](b[i]*z[i]) <= 1; a[i] >= 0; ak >= 0; b >= 0; x >= 0
            cases y > x; Ek < E1
            from stated knowing all with g = ge; D = D1; E = E1
            from holds knowing all
            from between knowing all with M = D1; N = E1; K = Ek
            from steady knowing all with a = a[i]; M = D1; K = Ek; D = D[i]; E = E[i]; z = z[i]; t = t[i];
            c = c[i]; l = l[i]
            from gone knowing all with a = ak; M = D1; K = Ek; D = Dk
            from zero knowing all with a = ak
            from nothing knowing all with a = ak; z = zk; t = tk
            from together knowing all with h = x*a; q = g; r = ak*zk; s = ak*tk
            from overfull knowing all with h = x*a + ak*zk; q = g + ak*tk
            from left knowing all with g = gb; K = Ek; E = E1
            from fewer knowing all with D = Dk; E = Ek; z = zk; t = tk; c = ck
            from lost knowing all with b = b0; t = tk; z = zk
            from some knowing all
            from less knowing all with g = gb; s = b0*tk; r = b0*zk; h = x*b
            => y <= x (as stated)
        [reaches] Who demands the bottleneck of k after the lie has no larger stated share.
            demand: b > 0; lied: b*(K - E) >= 0
            => E <= K
            by demand * not the conclusion
        [neither] User 1 and k together hold no less than before.
            one: h <= q; other: r <= s
            => h + r <= q + s
        [demanded] Who holds more of a resource than before demands some of it,
            holds more: b*z < b*t; b >= 0; z >= 0; t >= 0
            => b > 0
            by not the conclusion * sign of t; sign of b * sign of z
        [runs more] runs more,
            holds more: b*z < b*t; demanded: b > 0
            => z < t
            by not the conclusion * demanded
        [greater] and has a larger dominant share.
            shares 1: D == z*c; shares 2: E == t*c; demand: c > 0; runs more: z < t
            => D < E
            by runs more * demand
        # The true bottleneck of p has demands d. Of the bottleneck of k after the lie p demands bp.
        And if p holds more of it.
            demand: c[i] > 0; demand 1: cp > 0; demand 2: d0 > 0; bundle: y*d1 <= gd;
            shares 1: D[i] == z[i]*c[i]; shares 2: E[i] == t[i]*c[i]; shares 3: Dp == zp*cp;
            shares 4: Ep == tp*cp;
            honest: d[i]*(Dp - D[i]) >= 0; honest 1: dk*(Dp - Dk) >= 0; lied: bp*(Ek - Ep) >= 0;
            least 1: l[i] >= D[i] - E[i]; least 2: l[i]*(E[i] - Ek) >= 0; least 3: Ek < Dk;
            more: bp*zp < bp*tp; bp >= 0; zp >= 0; tp >= 0;
            full: x*d1 + dk*zk + d0*zp + sum[i](d[i]*z[i]) == 1;
            fits: gd + dk*tk + d0*tp + sum[i](d[i]*t[i]) <= 1; d[i] >= 0; dk >= 0; d1 >= 0
            cases y > x
            from no less knowing all with a = d1; g = gd
            from demanded knowing all with b = bp; z = zp; t = tp
            from runs more knowing all with b = bp; z = zp; t = tp
            from greater knowing all with D = Dp; E = Ep; z = zp; t = tp; c = cp
            from reaches knowing all with b = bp; K = Ek; E = Ep
            from between knowing all with M = Dp; N = Ep; K = Ek
            from steady knowing all with a = d[i]; M = Dp; K = Ek; D = D[i]; E = E[i]; z = z[i]; t = t[i];
            c = c[i]; l = l[i]
            from gone knowing all with a = dk; M = Dp; K = Ek; D = Dk
            from zero knowing all with a = dk
            from nothing knowing all with a = dk; z = zk; t = tk
            from neither knowing all with h = x*d1; q = gd; r = dk*zk; s = dk*tk
            from lost knowing all with b = d0; t = zp; z = tp
            from together knowing all with h = d0*zp; q = d0*tp; r = x*d1 + dk*zk; s = gd + dk*tk
            from overfull knowing all with h = x*d1 + dk*zk + d0*zp; q = gd + dk*tk + d0*tp; a[i] = d[i]
            => y <= x (as stated)
    """
    yield every("drf_lies", n=2, m=2, largest=2)


@STATEMENTS.refute("br-pf-strategy-proof", latex=TRUTHFUL, scope=LIE, said=Said.READER)
def _pf_strategy_proof() -> Counterexample:
    """Under proportional fairness nobody runs more tasks by stating other demands.

    Case: A case without the property.
    Remark: Not claimed: the slides note the property for DRF only. Here a user runs 2/9 tasks in place of 1/5
        by understating one demand.
    """
    return against(
        "pf_lie",
        demands=[[1, 3], [2, 1]],
        capacities=[1, 1],
        prices=["1/2", "3/2"],
        liar=0,
        lie=[1, 2],
        lie_prices=[1, 1],
    )


@STATEMENTS.refute("br-bmf-strategy-proof", latex=TRUTHFUL, scope=LIE, said=Said.READER)
def _bmf_strategy_proof() -> Counterexample:
    """Under bottleneck-max fairness nobody runs more tasks by stating other demands.

    Case: A case without the property.
    Remark: Not claimed: the slides note the property for DRF only. Both allocations of the witness are the
        only BMF ones of their demands.
    """
    return against("bmf_lie", demands=[[1, 3], [2, 1]], capacities=[1, 1], liar=0, lie=[1, 2])
