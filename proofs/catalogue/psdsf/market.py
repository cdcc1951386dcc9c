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


SERVED = (
    "By psdsf-theorem-2 every server is busy and serves its lowest levels; the price q of a server is "
    "the largest f g/x there, so who is served pays it."
)
"""Why those who are served pay the price of their server."""


@STATEMENTS.add("psdsf-time-pareto", reading=SERVED)
def _pareto(question: Question) -> Iterator[Iterable[Step]]:
    r"""With divided time nobody can be given more tasks unless somebody gets fewer, whatever is moved.

    .. math:: y\ge x,\ y\text{ feasible}\implies y=x

    Hypotheses
        price*, served, busy*, own worth, part, weight, inverse, worth
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


@STATEMENTS.add("psdsf-time-unique", said=Said.READER, reading=SERVED)
def _unique(question: Question) -> Iterator[Iterable[Step]]:
    r"""With divided time all PS-DSF allocations give each user the same number of tasks.

    .. math:: x,y\ \text{PS-DSF}\implies\sum_ix_{ni}=\sum_iy_{ni}

    Hypotheses
        price*, served*, busy*, own worth*, part, weight, inverse, worth
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
        ratio: one resource has the least ratio of declared and true demand
        cover: all others have no smaller one
        alone: the declared tasks alone on a server fit (7)
        dominant: the true tasks alone on the server fill a resource
        lie*: the conclusion of the second step
        price*
        gains: the users whose level rises gain
        costs: the conclusion of the step before, for all of them but one
        sold: the servers are sold once
        bought*: they alone paid for these servers before the lie
    Place: Theorem 3, strategy-proofness, equations (46)-(52)
    Scope: each user, server and resource; any numbers of users whose levels rise and of servers; all reals
    Remark: A liar that may use its time as it likes can gain: see psdsf-time-slots-strategy-proof.

    Proof
        The liar runs at most m tasks for each task that it claimed, m the least ratio of declared and true
        demands.
            resources: a*d <= z*D; ratio: D == m*d; demanded: d > 0; a >= 0; z >= 0; D >= 0; m >= 0
            => a <= m*z
            by not the conclusion * demanded
        And m times what it would run alone with the declared demands is at most what it would run with the
        true ones.
            cover: m*d <= D; alone: H*D <= c; dominant: G*d == c; demanded; declared: H > 0; G > 0; c > 0;
            m >= 0; D >= 0
            => H*m <= G
            by cover * declared; not the conclusion * demanded
        So if it gains, its declared level rises on every server that it can use (48).
            lie: H*m <= G
            besides worth: t <= m*X; gains: t > N; declared; eligible: G > 0; runs: X > 0; N > 0; m >= 0;
            t >= 0
            => X*G > N*H
            by lie * runs; worth * declared; gains * declared
        Let A be the users whose level rises. Where one of them is served under the lie, the level of the
        server rises (51)...
            served then: L2 == S2; rises: S2 > S1; before: S1 >= L1
            => L2 > L1
        ...and who was served at such a server before belongs to A.
            served before: S1 == L1; rises: L2 > L1; then: S2 >= L2
            => S2 > S1
        So the users of A now live on servers that A alone paid for before.
            In words: The two preceding steps for all users and servers; tasks of the liar where they cannot
            run are worth nothing.
        At the prices before the lie, more tasks than before cost more than the weight.
            price: f*G[i] <= q[i]*N; gains: sum[i](v[i]*G[i]) > N; part: v[i] >= 0; weight: f > 0;
            runs: N > 0; G[i] >= 0; q[i] >= 0
            => sum[i](q[i]*v[i]) > f
            by price * part; gains * weight; not the conclusion * runs
        # User 1 of A, and the others k.
        But A paid its weights for these servers: if all others of A spend more, one cannot, so nobody gains
        by lying.
            costs: sum[i](b[k,i]) > f[k]; sold: b1[i] + sum[k](b[k,i]) <= q[i];
            bought: q[i] == e1[i] + sum[k](e[k,i]); budget: sum[i](e[k,i]) <= f[k];
            budget 1: sum[i](e1[i]) <= f1; f[k] > 0; sign of f 1: f1 > 0; b[k,i] >= 0; e[k,i] >= 0;
            sign of b 1: b1[i] >= 0; sign of e 1: e1[i] >= 0
            => sum[i](b1[i]) <= f1
    """
