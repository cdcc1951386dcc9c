"""T. Bonald and J. Roberts, "Resource sharing in data centers", Eindhoven 2014 (arXiv:1404.2266, 1410.0782).

This module: the model, and Pareto efficiency and sharing incentive of dominant resource fairness (DRF),
proportional fairness (PF) and bottleneck-max fairness (BMF). Much holds for any number of users, because
the condition of one user, or of a pair, is enough. With shares :math:`a_{ij}` of resource j per task of
user i and tasks :math:`x_i`:

* PF: prices :math:`p_j\\ge 0`, 0 unless j is full, with :math:`x_i\\sum_j p_ja_{ij}=1`.
  Hence :math:`\\sum_jp_j=n`.
* DRF: user i demands a full resource on which nobody has a dominant share larger than that of i.
* BMF: user i has the largest share of a full resource.

Hypotheses
    capacity: the capacity of the resource is positive
    scaling: shares are demands over capacity
    prices: prices are at least 0
    optimal: tasks are one over the cost of a task at the prices
    budget: prices add up to the number of users
    slackness: only full resources have a price
    demand: the user demands some of the resource
    full: the resource is full
    fits: no resource holds more than its capacity
    largest: no share of the user is greater than its largest share
    level: users on the bottleneck have no larger dominant share
    bottleneck: users hold no larger share of the bottleneck
    bundle: the user can run the tasks with what the other holds
    gain: the user gains
    others: no other user loses
    units: the work of the user is cut into tasks of another size
    positive: tasks are positive
    shares: shares are tasks times demands
    honest: the allocation for the true demands has a bottleneck for everybody
    lied: the allocation for the stated demands has a bottleneck for everybody
    signs: demands, tasks and prices are not negative
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from proofs.catalogue.chapter import Chapter
from proofs.catalogue.examples import every
from proofs.catalogue.proof_texts import argued
from proofs.claims import Claim, Step
from proofs.statement import Question, Size

__all__ = ["BY_PRICES", "SOURCE", "STATEMENTS"]

SOURCE = 'T. Bonald and J. Roberts, "Resource sharing in data centers" (2014)'
PLACE = "slides on the properties of allocations"
STATEMENTS = Chapter(SOURCE, place=PLACE, known=__doc__)


BY_PRICES = (
    "A PF allocation maximises a concave function under linear constraints, so it has such prices (Karush, "
    "Kuhn and Tucker)."
)
"""How the model of PF has the prices that its statements assume."""

EFFICIENT = r"y \ge x,\ y \ne x \Rightarrow \exists j: \textstyle\sum_i y_i a_{ij} > 1"
INCENTIVE = r"\max_j x_i a_{ij} \ge 1/n"


@STATEMENTS.add("br-feasible", sizes={"n": Size(3, 1, 8, "jobs", deep=6, beside=True)})
def _feasible_after_scaling(question: Question) -> Iterator[Iterable[Step]]:
    r"""Tasks fit into the capacities if and only if their shares of each resource add up to at most 1.

    .. math:: \varphi A \le C \iff \varphi a \le 1, \quad a_{ij} = A_{ij}/C_j

    Hypotheses
        capacity*, scaling*
        fits: the usage is at most the capacity, or the shares add up to at most 1
    Place: slides on the model, "Capacity constraints"
    Scope: one resource (they do not interact); all real tasks and demands, any number of jobs
    """
    jobs = range(1, question.sizes["n"] + 1)
    used, part = (" + ".join(f"x{k}*{demand}{k}" for k in jobs) for demand in "Aa")
    scaling = "; ".join(f"scaling {k}: a{k}*C == A{k}" for k in jobs)
    yield _both_ways(question, f"{len(jobs)} jobs, written out", scaling, used, part)
    members = "scaling: a[i]*C == A[i]", "sum[i](x[i]*A[i])", "sum[i](x[i]*a[i])"
    yield _both_ways(question, "any number of them", *members)


@argued
def _both_ways(question: Question, jobs: str, scaling: str, used: str, part: str) -> None:
    """The usage fits, and so do the shares; {used} and {part} are their sums.

    Proof
        If the usage is at most the capacity, the shares add up to at most 1: for {jobs}.
            capacity: C > 0; {scaling}; fits: {used} <= C
            => {part} <= 1 (as stated)
        If the shares add up to at most 1, the usage is at most the capacity: for {jobs}.
            capacity; {scaling}; fits: {part} <= 1
            => {used} <= C (as stated)
    """


@argued
def _nobody_gains_alone(question: Question) -> None:
    """A user on a full resource gains only if another user of it loses: what makes all three efficient.

    Proof
        If a user of a full resource gains and nobody loses, the resource holds more than its capacity.
            demand: a > 0; gain: y > x; others: y[i] >= x[i]; a[i] >= 0; full: x*a + sum[i](x[i]*a[i]) == 1
            => y*a + sum[i](y[i]*a[i]) > 1 (as stated)
    """


@STATEMENTS.add("br-pf-efficient", latex=EFFICIENT, reading=BY_PRICES)
def _pf_efficient(question: Question) -> None:
    """Under proportional fairness nobody can gain unless somebody loses.

    Hypotheses
        prices*, positive*, optimal*, slackness*, others*, signs
        fits*: the other allocation fits
    Scope: all demands, any n and m

    Proof
        [cost] What fits is worth no more than all resources at the prices, so that if no other user loses,
        the tasks of the user cost at most 1.
            prices: p[j] >= 0; a[i,j] >= 0; others: y[i] >= x[i]; fits: y*a[j] + sum[i](y[i]*a[i,j]) <= 1;
            optimal: x*sum[j](p[j]*a[j]) == 1; slackness: p[j]*(x*a[j] + sum[i](x[i]*a[i,j])) == p[j]
            => y*sum[j](p[j]*a[j]) <= 1
            by prices * fits; slackness; others * prices * sign of a
        [no more] For at most 1 nobody runs more.
            positive: x > 0; optimal 1: x*c == 1; cost: y*c <= 1
            => y <= x
        So the user does not gain.
            prices; others; fits; optimal; positive; slackness; a[i,j] >= 0
            from cost knowing all
            from no more knowing all with c = sum[j](p[j]*a[j])
            => y <= x (as stated)
    """


BOTTLENECK = r"\exists j: x a_j = 1,\ a_{ij} > 0,\ a_{kj} > 0 \Rightarrow s_k \le s_i"


@STATEMENTS.add("br-drf-bottlenecks", latex=BOTTLENECK)
def _bottlenecks(question: Question) -> Iterator[Claim]:
    """Under dominant resource fairness everybody demands a full resource on which nobody has a larger
    dominant share.

    Hypotheses
        stopped*: a user stops at the level at which a resource that it demands gets full
        others*: whoever demands it has stopped then, or stops with it
        levels*: levels are dominant shares
    Scope: all demands, any n and m; by filling also for pools of 3 users, demands up to 2
    Reading: Progressive filling raises all dominant shares together, and stops a user when a resource that it
        demands is full. This is what the other statements on DRF start from.

    Proof
        So it is in all pools of three users and two resources with demands up to 2.
            Computed.
        Those who demand the resource that stops the user have no larger dominant share.
            stopped: t == u; others: v <= u; levels 1: s == t; levels 2: r == v
            => r <= s (as stated)
    """
    yield every("drf_bottlenecks", n=3, m=2, largest=2)


@STATEMENTS.add("br-drf-efficient", latex=EFFICIENT)
def _drf_efficient(question: Question) -> Iterator[Step]:
    """Under dominant resource fairness nobody can gain unless somebody loses.

    Hypotheses
        demand*, gain, others*, full*, signs
    Scope: all demands, any n and m; users have bottlenecks by br-drf-bottlenecks
    Reading: Users have bottlenecks: br-drf-bottlenecks.
    """
    yield from _nobody_gains_alone(question)


@STATEMENTS.add("br-bmf-efficient", latex=EFFICIENT)
def _bmf_efficient(question: Question) -> Iterator[Step]:
    """Under bottleneck-max fairness nobody can gain unless somebody loses.

    Hypotheses
        demand*, gain, others*, full*, signs
    Scope: all demands and all BMF allocations, any n and m; a user demands its bottleneck, which is full
    """
    yield from _nobody_gains_alone(question)


@STATEMENTS.add("br-pf-sharing-incentive", latex=INCENTIVE, reading=BY_PRICES)
def _pf_incentive(question: Question) -> None:
    """Under proportional fairness each of n users has a share of at least 1/n of some resource.

    Hypotheses
        prices*, largest, optimal*, slackness*
    Scope: all demands, any n and m

    Proof
        [budget] Prices add up to the number of users: what is paid is what is earned.
            optimal: x[i]*sum[j](p[j]*a[i,j]) == 1; slackness: p[j] == p[j]*sum[i](x[i]*a[i,j])
            => sum[j](p[j]) == sum[i](1)
        [share] The largest share of a user is at least 1/n, if prices add up to n.
            prices: p[j] >= 0; largest: x*a[j] <= s; optimal: x*sum[j](p[j]*a[j]) == 1;
            all prices: sum[j](p[j]) == n
            => n*s >= 1
        So it is for every user i.
            prices; largest: x[i]*a[i,j] <= s[i]; optimal: x[i]*sum[j](p[j]*a[i,j]) == 1; slackness
            from budget knowing all
            from share knowing all with x = x[i]; a[j] = a[i,j]; s = s[i]; n = sum[i](1)
            => sum[i](1)*s[i] >= 1 (as stated)
    """


@STATEMENTS.add("br-drf-sharing-incentive", latex=INCENTIVE)
def _drf_incentive(question: Question) -> None:
    """Under dominant resource fairness each of n users has a share of at least 1/n of some resource.

    Hypotheses
        largest*, level*, full*, signs
    Scope: all demands, any n and m
    Reading: Users have bottlenecks: br-drf-bottlenecks.

    Proof
        [some] Whoever holds some of the bottleneck of a user has a dominant share d, at most that user's s,
            largest: h <= d; level: h*(s - d) >= 0; some: h > 0
            => h <= s
            degree 2
        [nothing] and whoever holds nothing of it holds no more.
            s >= 0; not some: h <= 0
            => h <= s
        [each] One of the two is the case.
            largest; level; s >= 0
            cases h > 0
            from some knowing all
            from nothing knowing all
            => h <= s
        [fill] So n users fill it with at most n such shares.
            each: h[i] <= s; full: sum[i](h[i]) == 1
            => sum[i](1)*s >= 1
        For all users, then.
            largest: h[i] <= d[i]; level: h[i]*(s - d[i]) >= 0; s >= 0; full
            from each knowing all with h = h[i]; d = d[i]
            from fill knowing all
            => sum[i](1)*s >= 1 (as stated)
    """


@STATEMENTS.add("br-bmf-sharing-incentive", latex=INCENTIVE)
def _bmf_incentive(question: Question) -> None:
    """Under bottleneck-max fairness each of n users has a share of at least 1/n of some resource.

    Hypotheses
        bottleneck*, full*
    Scope: all demands and all BMF allocations, any n and m

    Proof
        On a full resource the largest share of n users is at least 1/n.
            bottleneck: h[i] <= s; full: sum[i](h[i]) == 1
            => sum[i](1)*s >= 1 (as stated)
    """
