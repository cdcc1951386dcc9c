"""Lemmas 3.1 and 3.2 of Kash et al., SoCC 2018: how many rounds DC-DRF takes, and how much work that is.

The level after round t is y_t; the resource that ends it has the rate m_t. With frozen rates y_t m_t = 1.
"""

from __future__ import annotations

from collections.abc import Iterator

from proofs.catalogue.chapter import Chapter
from proofs.catalogue.dcdrf.approximation import SOURCE
from proofs.catalogue.examples import against, every
from proofs.claims import Claim, Counterexample
from proofs.statement import Question, Said, Size

__all__ = ["STATEMENTS"]

STATEMENTS = Chapter(SOURCE)

INTEGERS = {"largest": Size(1, 1, 2, "largest integer demand of the instances", deep=2, beside=True)}


@STATEMENTS.add("dcdrf-lemma-3-1", sizes=INTEGERS)
def _lemma(question: Question) -> Iterator[Claim]:
    r"""With rates frozen and at least c times each other, DC-DRF takes t = 1 round or (1 - epsilon)^(t-1) >
    c.

    .. math:: t < 1 + \frac{\log c}{\log(1-\varepsilon)} \quad (t \ge 2)

    Hypotheses
        rate*: rates of demanded resources are positive
        frozen*: rates keep their first values, so that the resource that ends round t has y_t m_t = 1
        demanded*: the resource that ends the next round had more than epsilon left after this one
        ratio*: no rate is below c times another
        epsilon: epsilon is below 1
        power: powers of 1 - epsilon
    Place: Lemma 3.1
    Scope: all instances, any numbers of rounds; computed for all 3 x 3 demands of integers up to {largest}
    Remark: The lemma prints O(-1/log(1 - epsilon)); the numerator log c of its proof is hidden in the O. The
        paper takes c below all ratios; then c < 1, and t = 1 needs no exception.

    Proof
        Five tenants in a chain, epsilon = 2/5, rates frozen.
            Computed (as stated).
        One round, or (1 - epsilon)^(rounds - 1) > c, computed from the algorithm with rates frozen.
            Computed (as stated).
        [slower] The resource that ends the next round had more than epsilon left: its rate k is below (1 -
        epsilon) m.
            rate: m > 0; frozen: y*m == 1; demanded: 1 - y*k > e
            => k < (1 - e)*m
        [geometric] So rates of deciding resources fall geometrically: m_n <= (1 - epsilon)^(n-1) m_1 in every
        round n, P being the power.
            rate: m[n] > 0; frozen: y[n]*m[n] == 1; demanded: 1 - y[n]*m[n+1] > e; epsilon: e < 1;
            power 1: P[1] == 1; power: P[n+1] == P[n]*(1 - e)
            => m[n] <= P[n]*m[1]
            by epsilon * induction; demanded * rate
            from 1 to N
        [falls] And in the round after it, m is below the next power.
            epsilon; so far: m <= P*m1; slower: k < (1 - e)*m
            => k < P*(1 - e)*m1
        [exceeds] As no rate is below c times another, a power that is above one exceeds c.
            rate: m1 > 0; ratio: m >= c*m1; falls: m < P*(1 - e)*m1; power: Q == P*(1 - e)
            => Q > c
        Together: (1 - epsilon)^(t-1) > c in every round t after the first.
            rate: m[n] > 0; frozen: y[n]*m[n] == 1; demanded: 1 - y[n]*m[n+1] > e; epsilon; power 1;
            power: P[n+1] == P[n]*(1 - e); ratio: m[n] >= c*m[1]
            from slower knowing all with m = m[n]; y = y[n]; k = m[n+1]
            from geometric knowing all
            from falls knowing all with m = m[n]; P = P[n]; m1 = m[1]; k = m[n+1]
            from exceeds knowing all with m1 = m[1]; m = m[n+1]; P = P[n]; Q = P[n+1]
            => P[n+1] > c (as stated)
            from 1 to N
    """
    numbers = {"n": 3, "m": 3, "largest": question.sizes["largest"], "epsilons": ["1/10", "1/4", "1/2"]}
    yield every("dcdrf_lemma_chain", most=5, epsilon="2/5", frozen=question.holds("frozen"))
    yield every("dcdrf_lemma_rounds", **numbers, weights=[None, [1, 2, 5]], frozen=question.holds("frozen"))


@STATEMENTS.add("dcdrf-lemma-3-1-printed", said=Said.READER)
def _printed(question: Question) -> Iterator[Claim]:
    r"""DC-DRF takes at most 3/(-log(1 - epsilon)) rounds, whatever the demands.

    .. math:: t \le \frac{3}{-\log(1-\varepsilon)}

    Place: Lemma 3.1 read without the bound c on the ratio of rates
    Scope: five tenants of one resource each, epsilon = 1/2 (rates are frozen by themselves)
    Remark: The lemma assumes rates within a constant factor c; without it no constant in the place of 3
        suffices. True is t < 1 + log c/log(1 - epsilon), as the lemma has c < 1 (dcdrf-lemma-3-1).

    Proof
        Five tenants of one resource each with weights 81, 27, 9, 3, 1 and epsilon = 1/2: five rounds, not
        three times 1/log 2, which is 4.3.
            Computed.
        No other constant would do: with loads that fall to a quarter each there are as many rounds as
        resources.
            Computed.
    """
    yield against("dcdrf_rounds_alone", weights=[81, 27, 9, 3, 1], epsilon="1/2", factor=3)
    yield every("dcdrf_rounds_quarter", most=12)


@STATEMENTS.refute("dcdrf-lemma-3-1-updated", said=Said.READER)
def _lemma_3_1_updated() -> Counterexample:
    r"""The bound of Lemma 3.1, with c taken from the first rates, holds for the algorithm, which updates
    them.

    .. math:: t = 1 \ \text{or}\ (1-\varepsilon)^{t-1} > c

    Place: Lemma 3.1 read without the assumption of frozen rates
    Scope: four tenants, four resources, epsilon = 2/5
    Case: Four tenants, epsilon = 2/5: three rounds, although (3/5)^2 < c; with rates frozen there are two.
    Remark: The paper does not claim it. True without assumptions is dcdrf-rounds.
    """
    # Tenants who fill one resource each and demand a quarter as much of all later ones.
    demands = [[4, 1, 1, 1], [0, 4, 1, 1], [0, 0, 4, 1], [0, 0, 0, 4]]
    return against("dcdrf_thawed", demands=demands, epsilon="2/5", weights=[27, 9, 3, 1])


@STATEMENTS.add("dcdrf-rounds", sizes=INTEGERS, said=Said.READER)
def _rounds(question: Question) -> Iterator[Claim]:
    r"""With n tenants of equal weight DC-DRF takes at most 1 + log n/-log(1 - epsilon) rounds, for any
    demands and epsilon > 0.

    .. math:: n\,(1-\varepsilon)^{t-1} \ge 1

    Hypotheses
        falling*: rates never rise
        round*: a round uses of a resource its rate times the step
        next*: the steps add up to the level
        at first: the first round uses at least the later rate times the level
        up: steps are not negative
        level: levels are not negative
        epsilon: epsilon is not negative
        below one: epsilon is below 1
        rate: the resource that ends the next round has a positive rate
        ends*: what is left of it lasts for the step
        demanded*: more than epsilon of it was left
        power: powers of 1 - epsilon
        first rates*: in the first round no rate is above the weight
        exhausted*: the first round exhausts a resource
        equal*: every tenant has the weight 1/n
        alone*: a tenant holds at most all of its dominant resource
        positive: weights are positive
        signs: no resource is chosen less than not at all
    Place: Lemma 3.1; this bound is not in the paper
    Scope: all demands and epsilon, any numbers of rounds, tenants and resources; computed for all 3 x 3
        demands of integers up to {largest}
    Remark: Neither assumption of Lemma 3.1 is needed. With other weights n becomes 1/min rho.

    Proof
        The same, computed from the algorithm.
            Computed (as stated).
        # After n of N rounds: y the level, u what is used of resource r, m its rate then; D[r,n] is 1 for the
        # resource that ends round n, and 0 for others. So after the last round nothing is asked of a resource
        # that would end another one. The families i are the tenants, in the first round.
        [used] What is used of a resource is at least its rate times the level, because rates only fall.
            falling: m[n+1] <= m[n]; up: x[n] >= 0; level: y[n] >= 0; at first: u[1] >= m[1]*y[1];
            round: u[n+1] == u[n] + x[n]*m[n]; next: y[n+1] == y[n] + x[n]
            => u[n] >= m[n]*y[n]
            by falling * level; falling * up
            from 1 to N
        [chosen] So it is of the one that ends the next round.
            used: u[r] >= m[r]*y; D[r] >= 0
            => sum[r](D[r]*u[r]) >= y*sum[r](D[r]*m[r])
            by used * sign of D
        [rises] A resource of which more than epsilon is left at the level y lasts beyond y/(1 - epsilon).
            epsilon: e >= 0; rate: m > 0; demanded: 1 - u > e; used: u >= y*m; ends: m*(z - y) == 1 - u
            => y < (1 - e)*z
        [one] The first level is at least 1, as that of EDRF (edrf-first-round).
            first rates: g[i] <= p; equal: p*sum[i](1) == 1; exhausted: y*sum[i](g[i]) == 1; level: y >= 0
            => y >= 1
            by first rates * level
            degree 2
        [powers] Powers of 1 - epsilon are positive.
            below one: e < 1; power 1: P[1] == 1; power: P[n+1] == P[n]*(1 - e)
            => P[n] > 0
            by below one * induction
            from 1 to N
        [kept] So (1 - epsilon)^(n-1) y_n stays at least 1 in every round n.
            below one; positive power: P[n] > 0; one: y[1] >= 1; power 1; power;
            rises: y[n] < (1 - e)*y[n+1]
            => P[n]*y[n] >= 1
            by positive power * rises
            from 1 to N
        [highest] No level exceeds the number of tenants: there one has all of its dominant resource.
            equal: p*T == 1; alone: p*z <= 1; positive: p > 0
            => z <= T
        [bounded] So a bound of power and level is one of power and tenants.
            positive power: P > 0; kept: P*z >= 1; highest: z <= T
            => P*T >= 1
        Together n (1 - epsilon)^(t-1) >= 1.
            falling: m[r,n+1] <= m[r,n]; up; level: y[n] >= 0; at first: u[r,1] >= m[r,1]*y[1];
            round: u[r,n+1] == u[r,n] + x[n]*m[r,n]; next; epsilon: e >= 0; below one: e < 1;
            rate: sum[r](D[r,n+1]*m[r,n]) > 0; demanded: 1 - sum[r](D[r,n+1]*u[r,n]) > e;
            ends: sum[r](D[r,n+1]*m[r,n])*(y[n+1] - y[n]) == 1 - sum[r](D[r,n+1]*u[r,n]); D[r,n] >= 0;
            first rates; equal: p*sum[i](1) == 1; exhausted: y[1]*sum[i](g[i]) == 1; power 1; power;
            alone: p*y[n] <= 1; positive: p > 0
            from used knowing all with m[n] = m[r,n]; u[n] = u[r,n]
            from chosen knowing all with u[r] = u[r,n]; m[r] = m[r,n]; D[r] = D[r,n+1]; y = y[n]
            from rises knowing all with m = sum[r](D[r,n+1]*m[r,n]); u = sum[r](D[r,n+1]*u[r,n]);
            y = y[n]; z = y[n+1]
            from one knowing all with y = y[1]
            from powers knowing all
            from kept knowing all
            from highest knowing all with T = sum[i](1); z = y[n]
            from bounded knowing all with P = P[N]; z = y[N]; T = sum[i](1)
            => P[N]*sum[i](1) >= 1 (as stated)
            from 1 to N
    """
    numbers = {"n": 3, "m": 3, "largest": question.sizes["largest"], "epsilons": ["1/10", "1/4", "1/2"]}
    weights = [None] if question.holds("equal") else [[1, 16, 256]]
    yield every("dcdrf_rounds_equal", **numbers, weights=weights)


@STATEMENTS.add("dcdrf-lemma-3-2")
def _work(question: Question) -> Iterator[Claim]:
    r"""DC-DRF makes at most 4 (|N| B + I |N| + I |R|) operations in I rounds, B being the longest vector,
    which is O(|R| |N|).

    .. math:: O(|N| B + I |N| + I |R|) \subseteq O(|R| |N|)

    Hypotheses
        one per tenant*: line 16 is one operation for each tenant that grows
        lines*: lines 8, 17 and 23 touch every demand once, line 18 every tenant once, lines 13 and 15 every
            resource at most once a round
        vectors*: nobody demands more resources than there are
        evicts*: a round evicts a tenant that no earlier one did
        exhausts*: a round exhausts a resource that no earlier one did
        start: at first no tenant is evicted, and no resource is exhausted
        tenants*: no more tenants are evicted than there are
        resources*: no more resources are exhausted than there are
        counts: numbers are not negative, and there is a round
    Place: Lemma 3.2
    Scope: any numbers; measured for all 2 x 3 demands in halves, and up to 17 rounds of 80 tenants
    Remark: Asking newly exhausted resources for their tenants touches every demand once in all, and fits as
        well.

    Proof
        The counts, and the constant 4, from the instrumented algorithm.
            Computed (as stated).
        Many rounds and light tenants.
            Computed (as stated).
        With w operations of line 16.
            lines: o <= 3*N*B + N + 2*I*R + w; one per tenant: w <= I*N; counts 1: N >= 0; counts 2: B >= 0;
            counts 3: R >= 0; counts 4: I >= 1
            => o <= 4*(N*B + I*N + I*R) (as stated)
            by counts 1 * counts 4; counts 1 * counts 2; counts 3 * counts 4
        # s, e: tenants evicted and resources exhausted after n of I rounds.
        [counted] After n rounds at least n tenants are evicted, or n resources are exhausted.
            evicts: s[n+1] >= s[n] + 1; start 1: s[0] == 0
            => s[n] >= n
            from 0 to I
        [bounded] As there are no more of them, this bounds the number of rounds.
            tenants: s <= N; counted: s >= I
            => I <= N
        [product] With as many rounds as tenants and resources at most, this is O(|R| |N|).
            vectors: B <= R; bounded 1: I <= N; bounded 2: I <= R; counts 1; counts 3
            => N*B + I*N + I*R <= 3*R*N
            by vectors * counts 1; bounded 1 * counts 3; bounded 2 * counts 1
        So it is.
            evicts; exhausts: e[n+1] >= e[n] + 1; start 1; start 2: e[0] == 0; tenants: s[n] <= N;
            resources: e[n] <= R; vectors; counts 1; counts 3
            from counted knowing all
            from counted knowing all with s[n] = e[n]
            from bounded knowing all with s = s[I]
            from bounded knowing all with s = e[I]; N = R
            from product knowing all
            => N*B + I*N + I*R <= 3*R*N (as stated)
            from 0 to I
    """
    line = "16" if question.holds("one per tenant") else "16, per demand"
    small = {"n": 2, "m": 3, "largest": 2, "epsilons": [0, "1/4"], "line_16": line, "constant": 4}
    yield every("dcdrf_work", **small)
    yield every("dcdrf_work_light", most=16, line_16=line, constant=4)


@STATEMENTS.add("dcdrf-lemma-3-2-per-demand", said=Said.READER)
def _work_per_demand(question: Question) -> Iterator[Claim]:
    r"""Looking at all demands of all growing tenants in every round is within 4 (|N| B + I |N| + I |R|).

    .. math:: I |N| B \le 4\,(|N| B + I |N| + I |R|)

    Place: Lemma 3.2, if line 16 compares what is left of each demanded resource with epsilon in every round,
        which is not the paper's count
    Scope: 100 tenants, 40 resources, epsilon = 0
    Remark: The lemma counts one operation per tenant and round; then it is true (dcdrf-lemma-3-2).

    Proof
        80 light tenants of 20 demands each, beside 20 tenants who end one round each.
            Computed.
        No other constant would do: with k rounds and demands the factor grows like k.
            Computed.
    """
    yield against("dcdrf_work_per_demand", rounds=20, length=20, many=80, constant=4)
    yield every("dcdrf_work_grows", most=8)


@STATEMENTS.add("dcdrf-numbers-of-the-text")
def _numbers(question: Question) -> None:
    r"""Numbers of the text: churn in a control interval, load of the network, half precision, the tenants of
    a tenth of a percentile.

    .. math:: \tfrac{29+13}{100}\cdot\tfrac{10}{300} = 1.4\,\%,\quad 2^{-24} < 10^{-6}

    Hypotheses
        active*: 29 % of the machines become active in five minutes
        idle*: 13 % become idle
        tenants*: there are a million tenants
        pairs*: a tenant has up to 128 demands
        least*: the least positive number of half precision
    Place: Sections 2.2, 4.4 and 5.4, footnote 3
    Scope: these numbers
    Remark: The footnote counts 16 bytes for a pair, where 8 are enough; the caption of Figure 9 has .01
        percentile.

    Proof
        Of all machines 29 % and 13 % in 300 s are 1.4 % in 10 s.
            active: a == 29/100; idle: i == 13/100
            => (a + i)*10/300 == 14/1000 (as stated)
        And 4.2 % in 30 s.
            active; idle
            => (a + i)*30/300 == 42/1000 (as stated)
        128 pairs of 16 bytes each, every 10 s: less than 2 Gbps.
            tenants: t == 10**6; pairs: p == 128
            => t*p*16*8/10 < 2*10**9 (as stated)
        With two numbers of 4 bytes a pair less than 1 Gbps.
            tenants; pairs
            => t*p*8*8/10 < 10**9 (as stated)
        The least number of half precision is below a millionth.
            least: s*2**24 == 1
            => s < 1/10**6 (as stated)
        But the next number to a millionth is more than 5 % away.
            least
            => s > 5/100/10**6 (as stated)
        A tenth of a percentile are 1000 tenants.
            tenants
            => t/10/100 == 1000 (as stated)
    """
