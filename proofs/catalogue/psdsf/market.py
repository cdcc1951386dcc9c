"""PS-DSF with divided time is a Fisher market: servers are sold, and users spend their weights on tasks.

Hypotheses
    price: nobody gets more than the price of a server for its weight there
    served: who is served pays exactly its weight
    busy: the servers are always busy (10)
    own worth: what a user runs is worth its weight, at its weight over its tasks for each of them
    part: parts of the time are not negative
    weight: weights are positive
    inverse: r is one over the tasks of a user
    worth: prices are not negative
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from proofs.catalogue.chapter import Chapter
from proofs.catalogue.proof_texts import argued
from proofs.catalogue.psdsf.theorems import SOURCE
from proofs.claims import Step
from proofs.statement import Question, Said

__all__ = ["STATEMENTS"]

STATEMENTS = Chapter(SOURCE, known=__doc__)


@argued
def _welfare(question: Question, says: str) -> None:
    """No placement v is worth more than all weights, at w = weight * gamma / tasks of an optimum u.

    User 1 stands beside the others n, who may be any number.

    Proof
        {says}
            price: w[n,i] <= q[i]; served: u[n,i]*w[n,i] == u[n,i]*q[i]; price 1: w1[i] <= q[i];
            served 1: u1[i]*w1[i] == u1[i]*q[i]; busy: u1[i] + sum[n](u[n,i]) == 1;
            own worth: sum[i](u[n,i]*w[n,i]) == f[n]; own worth 1: sum[i](u1[i]*w1[i]) == f1;
            part: v[n,i] >= 0; part 1: v1[i] >= 0; time: v1[i] + sum[n](v[n,i]) <= 1; worth: q[i] >= 0
            => sum[i](w1[i]*v1[i]) + sum[n,i](w[n,i]*v[n,i]) <= f1 + sum[n](f[n])
            by price * part; price 1 * part 1; time * worth; busy | q[i]
    """


@STATEMENTS.add("psdsf-time-fisher-market", said=Said.READER)
def _market(question: Question) -> Iterator[Iterable[Step]]:
    r"""With divided time PS-DSF is what maximises the sum of weighted logarithms of the tasks: a Fisher
    market for servers.

    .. math:: x\in\arg\max\Big\{\sum_n\varphi_n\log\sum_i x_{ni}:\ \sum_n
        x_{ni}/\gamma_{ni}\le1\Big\}\iff(10)\text{ tight, }(13)

    Hypotheses
        lowest level*: servers serve their lowest levels (13)
        price*, served*, busy, own worth, part, weight, worth
        time*: another placement takes no more than the time
        complementary*: only a busy server has a price
        gain: somebody can use the server
        runs: users run something
        tangent*: logarithms lie below their tangent at 1
    Place: Theorem 2 (the identity is not in the paper)
    Scope: each pair of users on a server for the equivalence; any numbers of users and servers for the
        optimum; all reals
    Reading: An optimum exists, the objective being continuous and the set compact, and as all constraints are
        linear it has such prices.

    Proof
        From (13) to the market: at the price q at which a served user p spends its weight h, nobody gets more
        for its weight: the gradient of user n's weighted logarithm is at most q.
            served: q*X == h*g; lowest level: X*f*G <= N*h*g; runs: X > 0
            => f*G <= q*N (as stated)
            by not the conclusion * runs
        From the market to (13): if both conditions on the gradients hold, the served user stands no higher.
            served; price: f*G <= q*N; runs
            => X*f*G <= N*h*g (as stated)
            by price * runs
        From the market to (10): a server that somebody can use has a price, so it is busy.
            price; complementary: q*(1 - B) == 0; gain: f*G > 0; runs 1: N > 0
            => B == 1 (as stated)
            degree 3
        [welfare] ...
        [logarithms] ...and as log z <= z - 1 for the ratios z of the tasks, no weighted sum of logarithms is
        larger.
            tangent: L[n] <= z[n] - 1; tangent 1: L1 <= z1 - 1; weight: f[n] > 0; weight 1: f1 > 0;
            ratios: f1*z1 + sum[n](f[n]*z[n]) <= f1 + sum[n](f[n])
            => f1*L1 + sum[n](f[n]*L[n]) <= 0
            by tangent * weight; tangent 1 * weight 1
        Together: u runs 1/r tasks of a user, and v runs z times as many.
            price: f[n]*r[n]*g[n,i] <= q[i]; served: u[n,i]*f[n]*r[n]*g[n,i] == u[n,i]*q[i];
            price 1: f1*r1*g1[i] <= q[i]; served 1: u1[i]*f1*r1*g1[i] == u1[i]*q[i];
            busy: u1[i] + sum[n](u[n,i]) == 1; own worth: sum[i](u[n,i]*f[n]*r[n]*g[n,i]) == f[n];
            own worth 1: sum[i](u1[i]*f1*r1*g1[i]) == f1; part: v[n,i] >= 0; part 1: v1[i] >= 0; weight;
            weight 1; time: v1[i] + sum[n](v[n,i]) <= 1; worth: q[i] >= 0;
            tangent: L[n] <= r[n]*sum[i](g[n,i]*v[n,i]) - 1;
            tangent 1: L1 <= r1*sum[i](g1[i]*v1[i]) - 1
            from welfare knowing all with w[n,i] = f[n]*r[n]*g[n,i]; w1[i] = f1*r1*g1[i]
            from logarithms knowing all with z[n] = r[n]*sum[i](g[n,i]*v[n,i]); z1 = r1*sum[i](g1[i]*v1[i])
            => f1*L1 + sum[n](f[n]*L[n]) <= 0 (as stated)
    """
    says = "These conditions of Karush, Kuhn and Tucker are sufficient: at these values nothing feasible is "
    yield _welfare(question, says + "worth more...")


@STATEMENTS.add("psdsf-time-pareto")
def _pareto(question: Question) -> Iterator[Iterable[Step]]:
    r"""With divided time nobody can be given more tasks unless somebody gets fewer, whatever is moved.

    .. math:: y\ge x,\ y\text{ feasible}\implies y=x

    Hypotheses
        price*: nobody stands lower than the lowest level of a server, of which the price is one over it
        served: servers serve their lowest levels only (13)
        busy*, own worth, part, weight, inverse, worth
        time*: the other placement takes no more than the time
        no loss*: no user loses
    Place: Theorem 3, Pareto optimality
    Scope: all reals, any numbers of users and servers

    Proof
        [welfare] ...
        [nobody] So if nobody loses, user 1 cannot gain.
            no loss: y[n] >= x[n]; welfare: f1*y1*r1 + sum[n](f[n]*y[n]*r[n]) <= f1 + sum[n](f[n]);
            weight: f[n] > 0; inverse: r[n]*x[n] == 1; inverse 1: r1*x1 == 1; inverse 2: r[n] > 0;
            inverse 3: r1 > 0; weight 1: f1 > 0
            => y1 <= x1
            by no loss * weight * inverse 2; not the conclusion * weight 1 * inverse 3; inverse | f[n]
        Together: where u runs x tasks of a user, w is its weight by x times its tasks g alone on a server,
        and v runs the sum of g v.
            price: f[n]*r[n]*g[n,i] <= q[i]; served: u[n,i]*f[n]*r[n]*g[n,i] == u[n,i]*q[i];
            price 1: f1*r1*g1[i] <= q[i]; served 1: u1[i]*f1*r1*g1[i] == u1[i]*q[i];
            busy: u1[i] + sum[n](u[n,i]) == 1; own worth: sum[i](u[n,i]*f[n]*r[n]*g[n,i]) == f[n];
            own worth 1: sum[i](u1[i]*f1*r1*g1[i]) == f1; part: v[n,i] >= 0; part 1: v1[i] >= 0;
            weight: f[n] > 0;
            weight 1: f1 > 0; time: v1[i] + sum[n](v[n,i]) <= 1; worth: q[i] >= 0;
            no loss: sum[i](g[n,i]*v[n,i]) >= x[n]; inverse; inverse 1; inverse 2; inverse 3
            from welfare knowing all with w[n,i] = f[n]*r[n]*g[n,i]; w1[i] = f1*r1*g1[i]
            from nobody knowing all with y[n] = sum[i](g[n,i]*v[n,i]); y1 = sum[i](g1[i]*v1[i])
            => sum[i](g1[i]*v1[i]) <= x1 (as stated)
    """
    yield _welfare(
        question, "At the prices of the optimum no feasible placement is worth more than all weights."
    )


@STATEMENTS.add("psdsf-time-unique", said=Said.READER)
def _unique(question: Question) -> Iterator[Iterable[Step]]:
    r"""With divided time all PS-DSF allocations give each user the same number of tasks.

    .. math:: x,y\ \text{PS-DSF}\implies\sum_ix_{ni}=\sum_iy_{ni}

    Hypotheses
        price*: nobody stands lower than the lowest level of a server, of which the price is one over it
        served*: servers serve their lowest levels only (13)
        busy*, own worth*, part, weight, inverse, worth
    Place: section III (the uniqueness is not in the paper)
    Scope: all reals, any numbers of users and servers
    Remark: With divided resources this fails: see psdsf-resource-unique.

    Proof
        [welfare] ...
        [ratios] The ratios z of the tasks of two optima and their inverses.
            own: x*r == 1; other: y*s == 1
            => (s*x)*(r*y) == 1
            degree 3
        [positive] They are positive.
            inverse: s > 0; own: x*r == 1; inverse 1: r > 0
            => s*x > 0
            degree 3
        [same] With the ratios z of the tasks of two optima and their inverses r this says so twice, and then
        z = 1.
            welfare: f1*z1 + sum[n](f[n]*z[n]) <= f1 + sum[n](f[n]);
            other welfare: f1*r1 + sum[n](f[n]*r[n]) <= f1 + sum[n](f[n]); inverse: r[n]*z[n] == 1;
            weight: f[n] > 0; positive: r[n] > 0; inverse 1: r1*z1 == 1; weight 1: f1 > 0; positive 1: r1 > 0
            => z1 == 1
            # f (r + z - 2) = f r (z - 1)^2 as r z = 1.
            by weight * positive | z[n] - 1; inverse | f[n]*z[n]; not the conclusion * weight 1 * positive 1
        [worth] An optimum runs 1/r tasks, as it is worth its weight.
            weight: f > 0; own worth: f*r*x == f
            => x*r == 1
            degree 3
        [alike] So user 1 runs as much.
            same: r*y == 1; own: x*r == 1; inverse: r > 0
            => y == x
            degree 3
        Together: if the optima u and v run 1/r and 1/s tasks of each user, v runs as many of user 1 as u.
            price: f[n]*r[n]*g[n,i] <= q[i]; served: u[n,i]*f[n]*r[n]*g[n,i] == u[n,i]*q[i];
            price 1: f1*r1*g1[i] <= q[i]; served 1: u1[i]*f1*r1*g1[i] == u1[i]*q[i];
            price 2: f[n]*s[n]*g[n,i] <= p[i]; served 2: v[n,i]*f[n]*s[n]*g[n,i] == v[n,i]*p[i];
            price 3: f1*s1*g1[i] <= p[i]; served 3: v1[i]*f1*s1*g1[i] == v1[i]*p[i];
            busy: u1[i] + sum[n](u[n,i]) == 1; busy 1: v1[i] + sum[n](v[n,i]) == 1;
            own worth: f[n]*r[n]*sum[i](u[n,i]*g[n,i]) == f[n]; own worth 1: f1*r1*sum[i](u1[i]*g1[i]) == f1;
            own worth 2: f[n]*s[n]*sum[i](v[n,i]*g[n,i]) == f[n];
            own worth 3: f1*s1*sum[i](v1[i]*g1[i]) == f1;
            part: u[n,i] >= 0; part 1: u1[i] >= 0; part 2: v[n,i] >= 0; part 3: v1[i] >= 0; weight: f[n] > 0;
            weight 1: f1 > 0; inverse: r[n] > 0; inverse 1: r1 > 0; inverse 2: s[n] > 0; inverse 3: s1 > 0;
            worth: q[i] >= 0; worth 1: p[i] >= 0
            from worth knowing all with f = f[n]; r = r[n]; x = sum[i](u[n,i]*g[n,i])
            from worth knowing all with f = f1; r = r1; x = sum[i](u1[i]*g1[i])
            from worth knowing all with f = f[n]; r = s[n]; x = sum[i](v[n,i]*g[n,i])
            from worth knowing all with f = f1; r = s1; x = sum[i](v1[i]*g1[i])
            from welfare knowing all with w[n,i] = f[n]*r[n]*g[n,i]; w1[i] = f1*r1*g1[i]
            from welfare knowing all with u[n,i] = v[n,i]; v[n,i] = u[n,i]; w[n,i] = f[n]*s[n]*g[n,i];
            u1[i] = v1[i]; v1[i] = u1[i]; w1[i] = f1*s1*g1[i]; q[i] = p[i]
            from ratios knowing all with x = sum[i](u[n,i]*g[n,i]); r = r[n]; y = sum[i](v[n,i]*g[n,i]);
            s = s[n]
            from ratios knowing all with x = sum[i](u1[i]*g1[i]); r = r1; y = sum[i](v1[i]*g1[i]); s = s1
            from positive knowing all with s = s[n]; x = sum[i](u[n,i]*g[n,i]); r = r[n]
            from positive knowing all with s = s1; x = sum[i](u1[i]*g1[i]); r = r1
            from same knowing all with z[n] = r[n]*sum[i](v[n,i]*g[n,i]); r[n] = s[n]*sum[i](u[n,i]*g[n,i]);
            z1 = r1*sum[i](v1[i]*g1[i]); r1 = s1*sum[i](u1[i]*g1[i])
            from alike knowing all with r = r1; x = sum[i](u1[i]*g1[i]); y = sum[i](v1[i]*g1[i])
            => sum[i](v1[i]*g1[i]) == sum[i](u1[i]*g1[i]) (as stated)
    """
    yield _welfare(question, "At the prices of one optimum no placement is worth more than all weights.")


@STATEMENTS.add("psdsf-lemma-2")
def _lemma_2(question: Question) -> None:
    r"""With divided time no exchange of tasks between two users on two servers serves one of them without
    loss to the other.

    .. math:: x_{ni}>0,\ x_{pj}>0:\quad \Delta x_n\ge0\implies\Delta x_p\le0

    Hypotheses
        n is served*: user n is served on the first server, so p stands no lower there (44)
        p is served*: user p is served on the second server, so n stands no lower there (45)
        no loss*: user n does not lose
        tasks: both run something
        weights: weights are positive
        alone: both run something alone on either server
        times: the exchanged times are positive
    Place: Lemma 2, equations (40)-(45)
    Scope: each pair of users and of servers; all reals
    Remark: The paper says that one of the two loses. Neither need lose where both servers suit them alike, as
        classes A and B suit users 1 and 2 of Table IV.

    Proof
        [product] Multiply (13) for both servers: what user n loses of the first is worth to p no more than
        what p loses.
            n is served: N*h*g <= X*f*G; p is served: X*f*K <= N*h*k; tasks 1: N > 0; tasks 2: X > 0;
            weights 1: f > 0; weights 2: h > 0; alone 1: G > 0; alone 2: g > 0; alone 3: K > 0; alone 4: k > 0
            => g*K <= G*k
            by n is served * weights 1 * tasks 2 * alone 3; p is served * weights 1 * tasks 2 * alone 1;
            not the conclusion * weights 1 * tasks 2 * weights 1 * tasks 2;
            not the conclusion * weights 1 * tasks 2 * weights 2 * tasks 1
        [gain] If user n does not lose by the exchange of the times a and b, user p does not gain.
            product: g*K <= G*k; times 1: a > 0; times 2: b > 0; no loss: b*K >= a*G; alone 1; alone 2;
            alone 3; alone 4
            => a*g <= b*k
            by product * times 1; not the conclusion * alone 1; no loss * alone 4;
            not the conclusion * alone 3; no loss * alone 2; product * times 2
        [more] If user n gains, user p loses.
            product; times 1; times 2; no loss: b*K > a*G; alone 1; alone 2; alone 3; alone 4
            => a*g < b*k
            by not the conclusion * alone 3; no loss * alone 2; product * times 2;
            not the conclusion * alone 1; no loss * alone 4; product * times 1
        So p gains nothing if n loses nothing,
            n is served; p is served; tasks 1; tasks 2; weights 1; weights 2; alone 1; alone 2; alone 3;
            alone 4; times 1; times 2; no loss: b*K >= a*G
            from product knowing all
            from gain knowing all
            => a*g <= b*k (as stated)
        and loses if n gains.
            n is served; p is served; tasks 1; tasks 2; weights 1; weights 2; alone 1; alone 2; alone 3;
            alone 4; times 1; times 2; no loss: b*K > a*G
            from product knowing all
            from more knowing all
            => a*g < b*k (as stated)
    """


@STATEMENTS.add("psdsf-time-strategy-proof")
def _strategy_proof(question: Question) -> None:
    r"""With divided time nobody runs more by lying about its demands or servers, if it gets only the
    resources of its claims.

    .. math:: \hat x_n=\sum_i\min_r\frac{x'_{ni}d'_{nr}}{d_{nr}}\le x_n

    Hypotheses
        resources*: the liar gets the resources of the tasks that it claimed (46)
        ratio*: one resource has the least ratio of declared and true demand
        cover*: all others have no smaller one
        alone*: the declared tasks alone on a server fit (7)
        dominant*: where the liar can really run something, the true tasks alone on the server fill a resource
        demanded: these resources are demanded
        claimed*: in a part of the time the liar claims as many of the declared tasks
        price*: nobody stands lower than the lowest level of a server, of which the price is one over it
        served*: servers serve their lowest levels only (13), before the lie and with it
        eligible: whoever is served can run there
        busy*: servers are always busy (10)
        time*: with the lie they are not busy for longer
        tasks*: tasks on the servers add up
        gains*: of the other users some gain,
        rest*: and the rest does not
        runs: users run something
        part, weight, inverse, worth
        signs: demands, claims and tasks are not negative
    Place: Theorem 3, strategy-proofness, equations (46)-(52)
    Scope: any numbers of users, servers and resources; all reals
    Remark: A liar that may use its time as it likes can gain: see psdsf-time-slots-strategy-proof.

    Proof
        # q, s: prices of a server before the lie and with it; u, v: parts of its time.
        [worth] The liar runs at most m tasks for each task that it claimed, m the least ratio of declared and
        true demands.
            resources: a*d <= z*D; ratio: D == m*d; demanded: d > 0
            => a <= m*z
            by not the conclusion * demanded
        [alone] And m times what it would run alone with the declared demands is at most what it would run
        with the true ones.
            cover: m*d <= D; alone: H*D <= c; dominant: G*d == c; demanded; H >= 0
            => H*m <= G
            by cover * sign of H; not the conclusion * demanded
        [summed] In all it runs at most m times what it claimed.
            worth: a[i] <= m*z[i]
            => sum[i](a[i]) <= m*sum[i](z[i])
        [risen] So if it gains, its declared level rises on every server that it can use (48).
            lie: H*m <= G; summed: t <= m*X; gains: t > N; declared: H > 0; X >= 0
            => X*G > N*H
            by lie * sign of X; summed * declared; gains * declared
        [some] It claims something,
            summed: t <= m*X; gains: t > N; runs: N > 0; m >= 0
            => X > 0
            by not the conclusion * sign of m
        [in time] where it really runs something it has a part of the time,
            real: a > 0; worth: a <= m*z; claimed: z == v*H; H >= 0; m >= 0
            => v > 0
            by not the conclusion * sign of H * sign of m
            degree 3
        [declared] and runs declared tasks.
            real: a > 0; worth: a <= m*z; claimed: z == v*H; part: v >= 0; m >= 0
            => H > 0
            by not the conclusion * part * sign of m
            degree 3
        [lowest] Who is served pays the price.
            served: v*(w - p) == 0; is served: v > 0
            => w == p
            by not the conclusion * is served
            degree 2
        [fill] Where it really runs something, its tasks alone would fill a resource.
            dominant: a == 0 or g == c; real: a > 0
            => g == c
            by not the conclusion * real * real
            degree 2
        [falls first] There the price falls, as the level of the server rises (51).
            served: f*H == s*X; price: f*G <= q*N; risen: X*G > N*H; some: X > 0; runs: N > 0; weight: f > 0
            => s < q
            by risen * weight; price * some; not the conclusion * runs * some
        [larger] Others who gain run something.
            gains: y > x; runs: x > 0
            => y > 0
        [paid] They pay something,
            weight: f > 0; can run: G > 0
            => f*G > 0
            by weight * can run
        [falls] and where they are served with the lie, the price falls, too.
            served: w == s*y; price: w <= q*x; gains: y > x; runs: x > 0; larger: y > 0; paid: w > 0
            => s < q
            by paid * gains; price * larger; not the conclusion * runs * larger
            degree 3
        [stays] Where the rest was served before, it does not fall.
            served: w == q*x; price: w <= s*y; rest: y <= x; runs: x > 0; worth: s >= 0
            => s >= q
            by rest * worth; not the conclusion * runs
        [not both] It cannot fall and not fall.
            falls: s < q; stays: s >= q
            => 0 == 1
        [none] Products with nothing are nothing,
            none: v <= 0; u >= 0
            => v*u <= 0
            by none * sign of u
        [none before] on either side.
            none: u <= 0; v >= 0
            => v*u <= 0
            by none * sign of v
        [apart] So nobody of the rest was served where others who gain are now,
            eligible: G > 0 if v > 0; served 1: v*(f*G - s*y) == 0; price 1: f*G <= q*x; gains: y > x;
            runs 1: x > 0; weight: f > 0; served 2: u*(w - q*n) == 0; price 2: w <= s*l; rest: l <= n;
            runs 2: n > 0; worth: s >= 0; part 1: u >= 0; part 2: v >= 0
            cases v > 0; u > 0
            from eligible
            from paid (all) knowing weight; can run
            from larger knowing all
            from lowest knowing all with w = f*G; p = s*y
            from falls knowing all with w = f*G
            from lowest knowing all with v = u; p = q*n
            from stays knowing all with x = n; y = l
            from not both knowing all
            from none knowing all
            from none before knowing all
            => v*u <= 0
        [apart first] or where the liar really runs something.
            resources: a*e <= z*E; ratio: E == m*e; demanded 1: e > 0; cover: m*d <= D; alone: H*D <= c;
            dominant: a == 0 or G*d == c; demanded 2: d > 0; claimed: z == v*H; summed: t <= m*X; gains: t >
            N;
            served 1: v*(f*H - s*X) == 0; price 1: f*G <= q*N; runs 1: N > 0; weight: f > 0;
            served 2: u*(w - q*n) == 0; price 2: w <= s*l; rest: l <= n; runs 2: n > 0; worth: s >= 0;
            part 1: u >= 0; part 2: v >= 0; a >= 0; H >= 0; m >= 0
            cases a > 0; u > 0
            from worth knowing all with d = e; D = E
            from in time knowing all
            from declared knowing all
            from some knowing all
            from fill knowing all with g = G*d
            from alone knowing all
            from risen knowing all
            from lowest knowing all with w = f*H; p = s*X
            from falls first knowing all
            from lowest knowing all with v = u; p = q*n
            from stays knowing all with x = n; y = l
            from not both knowing all
            from none knowing all with v = a
            from none before knowing all with v = a
            => a*u <= 0
        [priced] At the prices before the lie what it really runs costs no more than its time,
            worth: a <= m*z; claimed: z == v*H; lie: H*m <= G; price: f*G <= q*N; inverse: r*N == 1;
            inverse 1: r > 0; weight: f > 0; part: v >= 0
            => r*f*a <= q*v
            by worth * inverse 1 * weight; lie * inverse 1 * weight * part; price * inverse 1 * part
        [free] or nothing.
            none: a <= 0; worth: q >= 0; part: v >= 0; inverse 1: r > 0; weight: f > 0
            => r*f*a <= q*v
            by worth * part; none * inverse 1 * weight
        [cost] One of both.
            resources; ratio; demanded 1; cover; alone; dominant; demanded 2; claimed; price: f*G <= q*N;
            inverse; inverse 1; weight; part: v >= 0; worth: q >= 0; a >= 0; H >= 0
            cases a > 0
            from worth knowing all with d = e; D = E
            from fill knowing all with g = G*d
            from alone knowing all
            from priced knowing all
            from free knowing all
            => r*f*a <= q*v
        [dear] But a gain costs more than the weight,
            gains: t > N; inverse; inverse 1; weight
            => r*f*t > f
            by gains * inverse 1 * weight
            degree 3
        [dearer] that of the others, too.
            price: f*G[i] <= q[i]*x; tasks: sum[i](v[i]*G[i]) == y; gains: y > x; weight: f > 0;
            part: v[i] >= 0; runs: x > 0
            => sum[i](q[i]*v[i]) >= f
            by price * part; gains * weight; not the conclusion * runs
        [spent] Before the lie nobody spent more than its weight.
            served: u[i]*(f*G[i] - q[i]*x) == 0; tasks: sum[i](u[i]*G[i]) == x; runs: x > 0
            => sum[i](u[i]*q[i]) <= f
            by not the conclusion * runs
        [room] The real costs of those who gain fit into the price of a server,
            cost: A <= q*v1; time: v1 + sum[k](v[k]) <= 1; worth: q >= 0
            => A + q*sum[k](v[k]) <= q
            by time * worth
        [before] what they had of it before is not negative,
            part 1: u1 >= 0; part: u[k] >= 0
            => u1 + sum[k](u[k]) >= 0
        [server] and as none of the rest was there, they alone paid for it before.
            room: A + q*sum[k](v[k]) <= q; busy: u1 + sum[k](u[k]) + sum[p](u[p]) == 1;
            before: u1 + sum[k](u[k]) >= 0; apart: v[k]*u[p] <= 0; apart 1: A*u[p] <= 0; worth: q >= 0
            => A + q*sum[k](v[k]) <= q*(u1 + sum[k](u[k]))
            by room * before; apart * worth; apart 1
            degree 2
        [scaled] Costs are there where real tasks are.
            apart: a*u <= 0; inverse 1: r > 0; weight: f > 0
            => r*f*a*u <= 0
            by apart * inverse 1 * weight
        [bought] So they cannot all spend more now.
            server: A[i] + q[i]*sum[k](v[k,i]) <= q[i]*(u1[i] + sum[k](u[k,i]));
            spent 1: sum[i](u1[i]*q[i]) <= f1; spent: sum[i](u[k,i]*q[i]) <= f[k]; dear: sum[i](A[i]) > f1;
            dearer: sum[i](q[i]*v[k,i]) >= f[k]
            => 0 == 1
            by server; spent; dearer
        So the liar does not gain.
            resources: a[i]*e <= z[i]*E; ratio: E == m*e; demanded 1: e > 0; cover: m*d[i] <= D[i];
            alone: H[i]*D[i] <= c[i]; dominant: a[i] == 0 or G1[i]*d[i] == c[i]; demanded 2: d[i] > 0;
            claimed: z[i] == v1[i]*H[i]; eligible: G[k,i] > 0 if v[k,i] > 0 for each i, k;
            served 1: u1[i]*(f1*G1[i] - q[i]*x1) == 0; served 2: u[k,i]*(f[k]*G[k,i] - q[i]*x[k]) == 0;
            served 3: u[p,i]*(f[p]*G[p,i] - q[i]*x[p]) == 0;
            served 4: v1[i]*(f1*H[i] - s[i]*sum[i](z[i])) == 0;
            served 5: v[k,i]*(f[k]*G[k,i] - s[i]*y[k]) == 0; price 1: f1*G1[i] <= q[i]*x1;
            price 2: f[k]*G[k,i] <= q[i]*x[k]; price 3: f[p]*G[p,i] <= s[i]*y[p];
            busy: u1[i] + sum[k](u[k,i]) + sum[p](u[p,i]) == 1; time: v1[i] + sum[k](v[k,i]) <= 1;
            tasks 1: sum[i](u1[i]*G1[i]) == x1; tasks 2: sum[i](u[k,i]*G[k,i]) == x[k];
            tasks 3: sum[i](v[k,i]*G[k,i]) == y[k]; gains: y[k] > x[k]; rest: y[p] <= x[p]; runs 1: x1 > 0;
            runs 2: x[k] > 0; runs 3: x[p] > 0; weight 1: f1 > 0; weight 2: f[k] > 0; part 1: u1[i] >= 0;
            part 2: u[k,i] >= 0; part 3: u[p,i] >= 0; part 4: v1[i] >= 0; part 5: v[k,i] >= 0;
            worth 1: q[i] >= 0; worth 2: s[i] >= 0; inverse: r*x1 == 1; inverse 1: r > 0; a[i] >= 0; H[i] >=
            0;
            m >= 0
            cases sum[i](a[i]) > x1
            from worth knowing all with a = a[i]; z = z[i]; d = e; D = E
            from summed knowing all
            from apart knowing all with G = G[k,i]; v = v[k,i]; f = f[k]; s = s[i]; y = y[k]; q = q[i];
            x = x[k]; u = u[p,i]; w = f[p]*G[p,i]; n = x[p]; l = y[p]
            from apart first knowing all with a = a[i]; z = z[i]; d = d[i]; D = D[i]; H = H[i]; c = c[i];
            G = G1[i]; v = v1[i]; t = sum[i](a[i]); X = sum[i](z[i]); N = x1; f = f1; s = s[i]; q = q[i];
            u = u[p,i]; w = f[p]*G[p,i]; n = x[p]; l = y[p]
            from scaled knowing all with a = a[i]; u = u[p,i]; f = f1
            from cost knowing all with a = a[i]; z = z[i]; d = d[i]; D = D[i]; H = H[i]; c = c[i]; G = G1[i];
            v = v1[i]; f = f1; q = q[i]; N = x1
            from dear knowing all with t = sum[i](a[i]); N = x1; f = f1
            from dearer knowing all with f = f[k]; G[i] = G[k,i]; x = x[k]; v[i] = v[k,i]; y = y[k]
            from spent knowing all with u[i] = u1[i]; f = f1; G[i] = G1[i]; x = x1
            from spent knowing all with u[i] = u[k,i]; f = f[k]; G[i] = G[k,i]; x = x[k]
            from room knowing all with A = r*f1*a[i]; q = q[i]; v1 = v1[i]; v[k] = v[k,i]
            from before knowing all with u1 = u1[i]; u[k] = u[k,i]
            from server knowing all with A = r*f1*a[i]; q = q[i]; v[k] = v[k,i]; u1 = u1[i]; u[k] = u[k,i];
            u[p] = u[p,i]
            from bought knowing all with A[i] = r*f1*a[i]
            => sum[i](a[i]) <= x1 (as stated)
    """
