"""Bonald and Roberts (2014), continued: envy-freeness, scale invariance and strategy-proofness."""

from __future__ import annotations

from collections.abc import Iterator

from proofs.catalogue.bonald_roberts import model
from proofs.catalogue.bonald_roberts.model import (
    BY_PRICES,
    PLACE,
    SOURCE,
    drf_has_bottlenecks,
)
from proofs.catalogue.chapter import Chapter
from proofs.catalogue.examples import against, every
from proofs.catalogue.proof_texts import Given, argued
from proofs.claims import Counterexample, Step
from proofs.statement import Question, Said

__all__ = ["STATEMENTS"]

STATEMENTS = Chapter(SOURCE, place=PLACE, known=model.STATEMENTS.known)

ENVY_FREE = r"\min_j x_k a_{kj}/a_{ij} \le x_i"
SCALE = r"x_i(sa_i) = x_i(a_i)/s"
TRUTHFUL = r"\min_j x_i(a')a'_{ij}/a_{ij} \le x_i(a)"
LIE = "all lies"


# Envy-freeness: y tasks run with the bundle of user 2, and are no more than the tasks x of user 1.


@STATEMENTS.add("br-pf-envy-free", latex=ENVY_FREE, reading=BY_PRICES)
def _pf_envy(question: Question) -> None:
    """Under proportional fairness nobody would run more tasks with what another user holds.

    Hypotheses
        prices*, bundle*, optimal*, positive*
    Scope: all pairs of users, any n and m

    Proof
        [bought] What the other user holds costs 1, so what runs with it costs at most 1.
            prices: p[j] >= 0; bundle: y*a[j] <= z*b[j]; optimal: z*sum[j](p[j]*b[j]) == 1
            => y*sum[j](p[j]*a[j]) <= 1
        [no more] The tasks of the user cost 1, so that nobody runs more for at most 1.
            positive: x > 0; optimal 1: x*c == 1; cost: y*c <= 1
            => y <= x
        So nobody runs more with what the other holds.
            prices; bundle; optimal; optimal 1: x*sum[j](p[j]*a[j]) == 1; positive
            from bought knowing all
            from no more knowing all with c = sum[j](p[j]*a[j])
            => y <= x (as stated)
    """


@STATEMENTS.add("br-drf-envy-free", latex=ENVY_FREE)
def _drf_envy(question: Question) -> None:
    """Under dominant resource fairness nobody would run more tasks with what another user holds.

    Hypotheses
        demand*, bundle*, largest*, level*, signs
    Scope: all pairs of users, any n and m; users have bottlenecks by br-drf-bottlenecks
    Reading: Users have bottlenecks: br-drf-bottlenecks.

    Proof
        # a, b: demands for the bottleneck of the first user; g, e: for its dominant resource.
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
            demand; demand 1; bundle; bundle 1; largest; level; x >= 0; b >= 0
            cases b > 0
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


@STATEMENTS.add(
    "br-pf-scale-invariant",
    latex=SCALE,
    reading=(
        f"{BY_PRICES} Whatever has such prices is the optimum, as the sum of logarithms is concave; "
        "the optimum is unique, and the shares of all others stay."
    ),
)
def _pf_scale(question: Question) -> Iterator[Step]:
    """Under proportional fairness it does not matter how the work of a user is cut into tasks.

    Hypotheses
        units*, optimal*, shares*
    Scope: all demands, any n and m

    Proof
        The same prices are optimal for x/s tasks of size s: what they cost stays 1.
            units: y*s == x; optimal: x*c == 1
            => y*(s*c) == 1 (as stated)
    """
    yield from _same_shares(question)


@argued
def _same_shares(question: Question) -> None:
    """Tasks of another size hold the same shares.

    Proof
        With x/s tasks of size s the user holds the same share of every resource.
            units: y*s == x; shares: h == x*a
            => y*(s*a) == h (as stated)
    """


BY_SHARES = "Which shares are full, dominant or largest is all that the policy depends on."


@STATEMENTS.add("br-drf-scale-invariant", latex=SCALE, reading=BY_SHARES)
def _share_scale(question: Question) -> Iterator[Step]:
    """Under dominant resource fairness it does not matter how the work of a user is cut into tasks.

    Hypotheses
        units*, shares*
    Scope: all demands, any n and m
    """
    yield from _same_shares(question)


@STATEMENTS.add("br-bmf-scale-invariant", latex=SCALE, reading=BY_SHARES)
def _bmf_scale(question: Question) -> Iterator[Step]:
    """Under bottleneck-max fairness it does not matter how the work of a user is cut into tasks.

    Hypotheses
        units*, shares*
    Scope: all demands and all BMF allocations, any n and m
    """
    yield from _same_shares(question)


@STATEMENTS.refute("br-mmf-scale-invariant", latex=SCALE, said=Said.DENIED)
def _mmf_scale_invariant() -> Counterexample:
    """Under max-min fairness it does not matter how the work of a user is cut into tasks.

    Scope: all demands
    Case: A case without the property.
    Remark: As the authors say, it does matter: whose tasks are twice as large holds two thirds, not half.
    """
    return against("mmf_in_other_tasks", demands=[[1], [1]], capacities=[1], factors=[1, 2])


# Strategy-proofness: D, E are dominant shares and h, g shares held, for the true and the stated demands.


@argued
def _losers_exist(question: Question, says: str, h: str, g: str) -> None:
    """User 1 gains of a full resource, so user 2 loses some if the others i do not.

    Proof
        {says}
            full: {h}1 + {h}2 + sum[i]({h}[i]) == 1; fits: {g}1 + {g}2 + sum[i]({g}[i]) <= 1;
            gain: {g}1 > {h}1; the others do not lose: {g}[i] >= {h}[i]
            => {g}2 < {h}2
    """


@STATEMENTS.add("br-drf-strategy-proof", latex=TRUTHFUL)
def _drf_strategy(question: Question) -> Iterator[Given]:
    """Under dominant resource fairness nobody runs more tasks by stating other demands.

    Hypotheses
        demand, gain, bundle*, largest, shares, full*, fits, honest*, lied*
    Scope: all demands and lies, any n and m; choices of users in words

    Proof
        ...
        Suppose that user 1 runs y > x tasks with what it gets for its lie. Then its stated dominant share E
        is greater than its true one D at x, because y tasks need more of its dominant resource.
            demand: a > 0; gain: y > x; bundle: y*a <= g; largest: g <= E1; shares: D1 == x*a
            => E1 > D1
        It holds more than before of each resource that it really demands, its true bottleneck among them.
            demand; gain; bundle; shares: h == x*a
            => g > h
        ...
        Who holds less of a resource runs fewer tasks and has a smaller dominant share.
            demand; loss: t*a < z*a; dominant: c > 0; shares: D == z*c; lied: E == t*c
            => E < D
        Among the others who lose let user k be one with the smallest share E. That is below the stated share
        of user 1: it is at most that of the loser r above, whose true share was at most that of user 1.
            smallest: Ek <= Er; loss: Er < Dr; honest: Dr <= D1; gain: D1 < E1
            => Ek < E1
        So user 1 states no demand for the bottleneck of k after the lie (its users have at most the share of
        k), and does not really demand it either.
            gain: y > 0; bundle: y*a <= 0; sign: a >= 0
            => a == 0
        ...
        ...
        User q is not user 1, who holds no less than before of anything that it really demands.
            demand: a >= 0; gain: y > x; bundle: y*a <= g; shares: h == x*a
            => g >= h
        So q is another loser, with a smaller share than k: a contradiction.
            loss: Eq < Dq; honest: Dq <= Dp; rise: Dp < Ep; lied: Ep <= Ek
            => Eq < Ek
        So there is no lie of use.
            In words: Users are finitely many, so that the smallest share of a loser exists; k to q exist in
            turn.
        Every lie with demands up to 2 in every pool of two users with such demands.
            Computed (as stated).
    """
    yield drf_has_bottlenecks(question)
    yield _losers_exist(
        question, "That bottleneck was full, so that some other user of it holds less than before.", "h", "g"
    )
    yield _losers_exist(
        question,
        "That bottleneck is full after the lie and k holds less of it than before, so that some user p, not "
        "user 1, holds more than before (the same lemma, read from the lie to the truth).",
        "g",
        "h",
    )
    yield _losers_exist(
        question,
        "The true bottleneck of p was full and p now holds more of it, so that some user q holds less.",
        "h",
        "g",
    )
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
