"""Claims that do not hold: C. Zhu, "Dominant resource fairness with time constraints in cloud computing".

Each claim is stated in the words of the paper as far as they are mathematical, or as a reading that is
named as one, with a small case against it. What holds, and the exchange, is in
:mod:`proofs.catalogue.tdrf.mechanism`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from proofs.catalogue.chapter import Chapter
from proofs.catalogue.drf.lemmas import truthful_steps
from proofs.catalogue.examples import against, computed, model
from proofs.claims import Claim, Counterexample, Step
from proofs.statement import Question, Said

__all__ = ["BROUGHT", "NEEDS", "POOL", "SOURCE", "STATEMENTS"]

SOURCE = 'C. Zhu, "Dominant resource fairness with time constraints in cloud computing"'
STATEMENTS = Chapter(SOURCE, scope="all instances")

POOL: dict[str, Any] = model([[1, 2], [3, 1]], [9, 9])
"""The example of sections 2.3 and 2.4: A needs (1 CPU, 2 GB), B (3, 1), of 9 CPUs and 9 GB."""


def _tenths(rows: list[list[int]]) -> list[list[str]]:
    return [[f"{v}/10" for v in row] for row in rows]


BROUGHT = _tenths([[5, 2, 4], [4, 3, 5], [1, 6, 2], [2, 2, 5]])
"""What the four users of the experiment contribute."""

NEEDS = _tenths([[2, 1, 0], [0, 2, 2], [1, 0, 3], [2, 2, 0]])
"""What one task of each needs."""


@STATEMENTS.add("tdrf-drf-is-strategy-proof", said=Said.DENIED)
def _drf_truthful(question: Question) -> Iterator[Step]:
    r"""DRF is strategy-proof.

    .. math:: u_i(a_i', a_{-i}) \le u_i(a)

    Hypotheses
        covers*: the tasks fit into the liar's bundle
        claim: the liar holds at most the common dominant share of anything
        nothing: a resource of which the liar claims nothing, and gets nothing
        signs: tasks are not negative
        level: all users have the same dominant share
        level later: so they have after the lie
        demand: demands are positive
        full*: a resource is full
        feasible*: what is allocated after the lie fits
    Place: abstract and conclusion
    Scope: all real demands > 0, any numbers of users and resources
    Remark: Abstract and conclusion say that DRF violates it; section 2.3 says that it satisfies it, as Ghodsi
        et al. (NSDI 2011) do.
    """
    return truthful_steps(question, "drf")


@STATEMENTS.add("tdrf-strategy-proof-in-demands")
def _truthful_about_demands(question: Question) -> Iterator[Step]:
    r"""No user of TDRF runs more tasks by lying about its demands.

    .. math:: u_i(a_i', a_{-i}) \le u_i(a)

    Hypotheses
        covers*: the tasks fit into the liar's bundle
        claim: the liar holds at most the common level of anything, by its weight
        nothing: a resource of which the liar claims nothing, and gets nothing
        signs: tasks are not negative
        level: dominant shares times time weights are the same for all
        level later*: so they are after the lie
        demand: demands are positive
        weight: weights are positive, and the lie does not change them
        full*: a resource is full
        feasible*: what is allocated after the lie fits
    Place: Theorem 2, strategy-proofness
    Scope: all real demands > 0 and fixed weights > 0, any numbers of users and resources; tasks can be
        divided
    Remark: The proof in the paper speaks of lies about machines. For lies about demands the weights, which
        joining times give, are fixed, and this is weighted DRF. Lies about joining times pay
        (tdrf-claim-strategy-proof-in-time).
    """
    return truthful_steps(question, "weighted")


@STATEMENTS.refute("tdrf-claim-constraint-of-example")
def _claim_constraint_of_example() -> Counterexample:
    r"""With x/9 = 3y/9 as printed, the largest tasks of the example are (3, 2).

    .. math:: \tfrac{x}{9} = \tfrac{3y}{9} \Rightarrow (x, y) = (3, 2)

    Place: section 2.3
    Case: They are (27/7, 9/7).
    Remark: With 2x/9 = 3y/9, A's dominant share being in the memory, they are (3, 2).
    """
    return against("ratio_optimum_is", **POOL, ratio=3, printed=[3, 2])


@STATEMENTS.refute("tdrf-claim-optimum-is-4-1")
def _claim_optimum_is_4_1() -> Counterexample:
    r"""TDRF shares the example as (4, 1), as printed without joining times, when B joined after A.

    .. math:: t_B > t_A \Rightarrow (x, y) = (4, 1)

    Place: section 2.4
    Case: If B joined at 2 and A at 1, the tasks are (27/7, 9/7).
    Remark: The optimum depends on the ratio of the time weights (statement tdrf-optimum): (4, 1) needs the
        ratio 8/3.
    """
    return against("joining_times", **POOL, joined=[1, 2], printed=[4, 1])


@STATEMENTS.refute("tdrf-claim-nobody-starves", said=Said.READER)
def _claim_nobody_starves() -> Counterexample:
    r"""Under TDRF, as it is defined, everybody runs something.

    .. math:: w_i = \frac{t_i - t^{init}}{t^{max} - t^{init}} \Rightarrow x_i > 0

    Place: section 2.4; the conclusion says that any user is allocated fair resources
    Case: A, who joined at the start, has the weight 0 and takes all it can: (9/2, 0).
    Remark: Not said in these words: the conclusion says that any user is allocated fair resources, and this
        is our reading of "fair". With a start before the first joining time all weights are positive, and so
        are all tasks.
    """
    return against("nobody_starves", **POOL, joined=[0, 1], start=0)


@STATEMENTS.refute("tdrf-claim-pareto-efficient")
def _claim_pareto_efficient() -> Counterexample:
    r"""The exchange followed by Algorithm 2 is Pareto-efficient.

    .. math:: \nexists z:\ z \ge x,\ z \ne x

    Place: Theorem 3
    Case: Users 1 and 2 of the experiment can run 2 and 3/2 tasks on what they hold; no task more starts, and
        DRF of the pool gives both 10/3.
    Remark: The proof is that of DRF and does not consider what the users hold. User 1 has half of resource 1
        idle.
    """
    return against("timed_pareto", contributions=BROUGHT[:2], demands=NEEDS[:2], capacities=[1, 1, 1])


@STATEMENTS.refute("tdrf-claim-stops-when-nobody-fits")
def _claim_stops_when_nobody_fits() -> Counterexample:
    r"""When Algorithm 2 stops, nobody fits another task.

    .. math:: \forall i\ \exists r:\ u_r + d_{ir} > R_r

    Place: Algorithm 2
    Case: Of (12, 9) it runs (1, 2) tasks of demands (1, 4) and (3, 1); the second user would fit a third.
    Remark: Its line 20 says that the cluster is then full. It stops when the poorest user does not fit.
        Serving who still fits gives (1, 3).
    """
    return against("stops_when_full", demands=[[1, 4], [3, 1]], capacities=[12, 9])


@STATEMENTS.refute("tdrf-claim-sharing-incentive", said=Said.DENIED)
def _claim_sharing_incentive() -> Counterexample:
    r"""Under TDRF everybody runs at least what an equal part of the resources would run.

    .. math:: x_i \ge \min_r \frac{R_r}{n\, d_{ir}}

    Place: section 2.5, sharing incentive
    Case: With time weights 3 and 8 B runs 1 task; half of (9, 9) runs 3/2.
    Remark: The paper says so too: the proof of Theorem 1 says that CDRF, as the mechanism is called there,
        does not satisfy it. The first user to join has it.
    """
    return against("late_sharing_incentive", **POOL, joined=[3, 8])


@STATEMENTS.refute("tdrf-claim-dynamic-sharing-incentive")
def _claim_dynamic_sharing_incentive() -> Counterexample:
    r"""With the k' of Algorithm 1 in the definition: after the exchange each user holds at most what it
    contributed, resource by resource.

    .. math:: k_i' \le k_i

    Place: section 2.5, definition of dynamic sharing incentive
    Case: User 1 contributes (.5, .2, .4) and holds (.9, .2, 0).
    Remark: Theorem 1 takes this k' for the one of the definition. The exchange gives more of some resources
        and less of others; what a user can use it never loses (statement tdrf-exchange-harmless).
    """
    return against("only_what_was_brought", contributions=BROUGHT[:2], needs=NEEDS[:2])


@STATEMENTS.refute("tdrf-claim-strategy-proof-in-time", said=Said.READER)
def _claim_strategy_proof_in_time() -> Counterexample:
    r"""No user of TDRF gains by joining before it has anything to run.

    .. math:: t_i' < t_i \Rightarrow x_i' \le x_i

    Place: Theorem 2, read for joining times, which it does not speak of
    Case: B joins at 1 instead of 2, as A does, and runs 2 tasks instead of 9/7.
    Remark: Not claimed: the definition of strategy-proofness speaks of lies about demands, and the proof of
        lies about machines. This is our reading for joining times.
    """
    return against("early_joining", **POOL, joined=[1, 2], earlier=1)


@STATEMENTS.refute("tdrf-claim-strategy-proof-in-contributions", said=Said.READER)
def _claim_strategy_proof_in_contributions() -> Counterexample:
    r"""No user gains by overstating its contribution.

    .. math:: k_i' \ge k_i \Rightarrow u_i' \le u_i

    Place: Theorem 2, read for contributions, which it does not speak of
    Case: User 1 of section 2.2 states .8 of resource 1 instead of .5, and holds .9 of resource 2 instead of
        .6.
    Remark: Not claimed: the definition of strategy-proofness speaks of lies about demands, and the proof of
        lies about machines. This is our reading for contributions, which would have to be verified.
    """
    return against(
        "overstated_contribution",
        contributions=_tenths([[5, 1, 3], [1, 8, 3]]),
        needs=[[0, 1, 1], [1, 0, 1]],
        claim=_tenths([[8, 1, 3]])[0],
    )


@STATEMENTS.refute("tdrf-claim-longer-stay-gets-more")
def _claim_longer_stay_gets_more() -> Counterexample:
    r"""Who stays longer gets a larger dominant share.

    .. math:: \text{stay}_i \ge \text{stay}_k \Rightarrow s_i \ge s_k

    Place: section 2.4 and proof of Theorem 1
    Case: B joins at 2 and leaves at 9, A is there from 1 to 3; their dominant shares are 3/7 and 6/7.
    Remark: The weight uses the joining time only: who joined earlier gets more, whenever anybody leaves.
    """
    return against("longer_stay", **POOL, joined=[1, 2], left=[3, 9])


@STATEMENTS.refute("tdrf-claim-contributions-fit")
def _claim_contributions_fit() -> Counterexample:
    r"""The users present contribute at most the resources R = (1, 1, 1).

    .. math:: \sum_i k_i \le R

    Place: Experimental Results
    Case: Users 1, 2 and 3 contribute (1, 1.1, 1.1).
    Remark: Users 2, 3 and 4 contribute (.7, 1.1, 1.2).
    """
    return against("contributions_within", contributions=BROUGHT[:3], capacities=[1, 1, 1])


@STATEMENTS.refute("tdrf-claim-demands-are-positive")
def _claim_demands_are_positive() -> Counterexample:
    r"""Every user demands something of every resource, also in the experiment.

    .. math:: d_{ir} > 0\ \forall i, r

    Place: section 2.1 and Experimental Results
    Case: Each of the four users of the experiment has a demand of 0.
    Remark: With zeros filling has several rounds, as in Parkes, Procaccia and Shah (EC 2012).
    """
    return against("all_positive", demands=NEEDS)


@STATEMENTS.add("tdrf-exchange-is-not-linear", said=Said.READER)
def _pairs(question: Question) -> Iterator[Claim]:
    r"""An exchange that visits all pairs of users makes more visits than any fixed multiple of the number of
    users.

    .. math:: \forall c\ \exists n:\ \tfrac12 n(n-1) > c\,n

    Hypotheses
        users*: the number of users is 2c + 2
        bound: the bound c is positive
    Place: section 2.2, complexity of Algorithm 1; pairwise visits are our reconstruction of it
    Scope: all real c > 0
    Remark: The paper says O(|U|) of its Algorithm 1. With a list per resource of who offers and who seeks it,
        an exchange in linear time is possible.

    Proof
        Ten users make 45 pairs.
            Computed.
        For each bound c there is a number n of users who make more than c n pairs.
            users: n == 2*c + 2; bound: c > 0
            => 1/2*n*(n - 1) > c*n
    """
    yield computed("visited_pairs", users=10, gives=45)
