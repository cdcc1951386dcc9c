"""T. Bonald and J. Roberts, "Resource sharing in data centers", Eindhoven 2014 (arXiv:1404.2266, 1410.0782).

This module: the model, and Pareto efficiency and sharing incentive of dominant resource fairness (DRF),
proportional fairness (PF) and bottleneck-max fairness (BMF). Much holds for any number of users, because
the condition of one user, or of a pair, is enough. With shares :math:`a_{ij}` of resource j per task of
user i and tasks :math:`x_i`:

* PF, as F. P. Kelly defines it [1]_: relative to the tasks :math:`x_i > 0` no other allocation that fits adds
  up to more, :math:`\\sum_i z_i/x_i \\le n`. Any other one is cut down by the use of its fullest resource,
  so :math:`\\sum_i z_i/x_i \\le n\\max_j\\sum_i z_ia_{ij}`; the maximum is written as a mean with weights
  :math:`w_j`, 1 for that resource and 0 for others. This is where the sum of logarithms is largest, as
  br-pf-changes shows; nothing rests on prices where they are not said.
* DRF is progressive filling: all dominant shares grow together, those of users who demand a full resource no
  further. So nobody has a larger one than the level at which a resource of its demand got full, and
  everybody has that of some resource, its bottleneck.
* BMF: user i has the largest share of a full resource.

References
----------
.. [1] F. P. Kelly, "Charging and rate control for elastic traffic", European Transactions on
   Telecommunications 8(1), 1997. DOI 10.1002/ett.4460080106.

Hypotheses
    capacity: the capacity of the resource is positive
    scaling: shares are demands over capacity
    optimal: relative to the tasks another allocation adds up to at most n times its fullest resource's use
    fullest: that use is a mean by weights, 1 for the fullest resource and 0 for the others
    inverse: g is one over the tasks, which are positive
    demand: the user demands some of the resource
    full: the resource is full
    fits: no resource holds more than its capacity
    largest: no share of the user is greater than its largest share
    stopped: the dominant share of the user is the level at which some resource that it demands got full
    others: whoever demands that resource has no larger dominant share than that level
    bottleneck: users hold no larger share of the bottleneck
    bundle: the user can run the tasks with what the other holds
    gain: the user gains
    no loss: no other user loses
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
from proofs.statement import Question, Said, Size

__all__ = ["SOURCE", "STATEMENTS"]

SOURCE = 'T. Bonald and J. Roberts, "Resource sharing in data centers" (2014)'
PLACE = "slides on the properties of allocations"
STATEMENTS = Chapter(SOURCE, place=PLACE, known=__doc__)


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
            demand: a > 0; gain: y > x; no loss: y[i] >= x[i]; a[i] >= 0; full: x*a + sum[i](x[i]*a[i]) == 1
            => y*a + sum[i](y[i]*a[i]) > 1 (as stated)
    """


@STATEMENTS.add("br-pf-changes", said=Said.READER)
def _changes(question: Question) -> None:
    r"""Tasks have the largest sum of logarithms of all that fit exactly if no other allocation that fits
    adds up to more than the number of users, relative to them.

    .. math:: \sum_i\log z_i \le \sum_i\log x_i\ \forall z: za \le 1 \iff \sum_i z_i/x_i \le n\ \forall z: za
        \le 1

    Hypotheses
        tangent*: a logarithm is at most its tangent at 1
        changes*: relative to the tasks the other allocation adds up to at most the number of users
        fits*: both allocations fit
        way*: between both is a part of the way from one to the other, positive and at most 1
        parabola*: a logarithm is at least a parabola, where a part is small
        largest*: between both the sum of logarithms is not larger
        part*: the part is small against the changes, if these add up to something positive
    Place: not in the slides, which maximise the sum of logarithms; the other side is how F. P. Kelly defines
        proportional fairness
    Scope: any n and m, all demands and positive tasks, each other allocation

    Proof
        # d[i]: change of a user, z over x less 1; L[i]: logarithm of z over x; e: part of the way; l[i]:
        # logarithm of 1 + e d[i].
        If no other allocation adds up to more, none has a larger sum of logarithms.
            tangent: L[i] <= d[i]; changes: sum[i](1 + d[i]) <= sum[i](1)
            => sum[i](L[i]) <= 0 (as stated)
        Conversely, what is between two allocations that fit does so, too,
            fits 1: u <= 1; fits 2: v <= 1; way 1: e > 0; way 2: e <= 1
            => (1 - e)*u + e*v <= 1 (as stated)
            by fits 1 * way 2; fits 2 * way 1
        [sum] and what its logarithms add up to is at least a parabola in e,
            parabola: l[i] >= e*d[i] - e**2*d[i]**2; largest: sum[i](l[i]) <= 0
            => e*sum[i](d[i]) - e**2*sum[i](d[i]**2) <= 0
        [no more] which is positive for small parts if the changes are.
            sum: e*D - e**2*Q <= 0; way 1: e > 0; part: D*(D - 2*e*Q) >= 0
            => D <= 0
            by sum * not the conclusion; part * way 1; way 1 * not the conclusion * not the conclusion
        So if no sum of logarithms is larger, relative to the tasks nothing adds up to more.
            parabola; largest; way 1; part: sum[i](d[i])*(sum[i](d[i]) - 2*e*sum[i](d[i]**2)) >= 0
            from sum knowing all
            from no more knowing all with D = sum[i](d[i]); Q = sum[i](d[i]**2)
            => sum[i](1 + d[i]) <= sum[i](1) (as stated)
    """


@STATEMENTS.add("br-pf-efficient", latex=EFFICIENT)
def _pf_efficient(question: Question) -> None:
    """Under proportional fairness nobody can gain unless somebody loses.

    Hypotheses
        optimal*, fullest, inverse*, no loss*
        fits*: the other allocation fits
    Scope: all demands, any n and m

    Proof
        # x: tasks of a user, x[i]: of the others; y: of the other allocation; w: weights of the resources.
        [mean] What fits uses its fullest resource no more than to its capacity.
            fullest: w[j] >= 0; fullest 1: sum[j](w[j]) == 1; fits: u[j] <= 1
            => sum[j](w[j]*u[j]) <= 1
            by fullest * fits
        [number] There are no fewer than no users.
            inverse: g[i]*x[i] == 1; inverse 1: x[i] > 0
            => 1 + sum[i](1) >= 0
            by inverse 1 * inverse 1 | g[i]; inverse | g[i]*x[i] + 1
        [total] So relative to PF it adds up to at most their number.
            optimal: G <= n*m; mean: m <= 1; number: n >= 0
            => G <= n
            by mean * number
        [positive] One over the tasks is positive.
            inverse: g*x == 1; inverse 1: x > 0
            => g > 0
            by inverse 1 * not the conclusion
        [left] If no other user loses, there is no more than 1 left for the user,
            total: y*g + sum[i](y[i]*g[i]) <= 1 + sum[i](1); no loss: y[i] >= x[i];
            inverse: g[i]*x[i] == 1; positive: g[i] > 0
            => y*g <= 1
            by no loss * positive; inverse
        [no more] so that it runs no more.
            inverse: g*x == 1; inverse 1: x > 0; left: y*g <= 1
            => y <= x
            by left * inverse 1; inverse | y
        So the user does not gain.
            optimal: y*g + sum[i](y[i]*g[i]) <= (1 + sum[i](1))*sum[j](w[j]*(y*a[j] + sum[i](y[i]*a[i,j])));
            fullest; fullest 1; inverse; inverse 1; inverse 2: g[i]*x[i] == 1; inverse 3: x[i] > 0;
            no loss; fits: y*a[j] + sum[i](y[i]*a[i,j]) <= 1
            from mean knowing all with u[j] = y*a[j] + sum[i](y[i]*a[i,j])
            from number knowing all
            from total knowing all with G = y*g + sum[i](y[i]*g[i]); n = 1 + sum[i](1);
            m = sum[j](w[j]*(y*a[j] + sum[i](y[i]*a[i,j])))
            from positive knowing all with g = g[i]; x = x[i]
            from left knowing all
            from no more knowing all
            => y <= x (as stated)
    """


BOTTLENECK = r"\exists j: x a_j = 1,\ a_{ij} > 0,\ a_{kj} > 0 \Rightarrow s_k \le s_i"


@STATEMENTS.add("br-drf-bottlenecks", latex=BOTTLENECK)
def _bottlenecks(question: Question) -> Iterator[Claim]:
    """Under dominant resource fairness everybody demands a full resource on which nobody has a larger
    dominant share.

    Hypotheses
        stopped*, others*
        levels*: levels are dominant shares
    Scope: all demands, any n and m; by filling also for pools of 3 users, demands up to 2

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
        demand*, gain, no loss*, full*, signs
    Scope: all demands, any n and m; the full resource is that which stops the user
    """
    yield from _nobody_gains_alone(question)


@STATEMENTS.add("br-bmf-efficient", latex=EFFICIENT)
def _bmf_efficient(question: Question) -> Iterator[Step]:
    """Under bottleneck-max fairness nobody can gain unless somebody loses.

    Hypotheses
        demand*, gain, no loss*, full*, signs
    Scope: all demands and all BMF allocations, any n and m; a user demands its bottleneck, which is full
    """
    yield from _nobody_gains_alone(question)


@STATEMENTS.add("br-pf-sharing-incentive", latex=INCENTIVE)
def _pf_incentive(question: Question) -> None:
    """Under proportional fairness each of n users has a share of at least 1/n of some resource.

    Hypotheses
        optimal*, fullest*, inverse*, largest
    Scope: all demands, any n and m; each user, against the allocation in which it runs its tasks alone

    Proof
        [mean] If a user is alone, it uses its fullest resource to its largest share.
            fullest: w[j] >= 0; fullest 1: sum[j](w[j]) == 1; largest: h[j] <= s
            => sum[j](w[j]*h[j]) <= s
            by fullest * largest; fullest 1 | s
        [number] There are no fewer than no users.
            inverse: g[i]*x[i] == 1; inverse 1: x[i] > 0
            => sum[i](1) >= 0
            by inverse 1 * inverse 1 | g[i]; inverse | g[i]*x[i] + 1
        [share] Relative to PF it adds up to 1, and so to at most n times that share.
            inverse: g*x == 1; optimal: g*x <= n*m; mean: m <= s; number: n >= 0
            => n*s >= 1
            by mean * number
        So it is for every user i.
            optimal: g[i]*x[i] <= sum[i](1)*sum[j](w[i,j]*x[i]*a[i,j]); fullest: w[i,j] >= 0;
            fullest 1: sum[j](w[i,j]) == 1; inverse: g[i]*x[i] == 1; inverse 1: x[i] > 0;
            largest: x[i]*a[i,j] <= s[i]
            from mean knowing all with w[j] = w[i,j]; h[j] = x[i]*a[i,j]; s = s[i]
            from number knowing all
            from share knowing all with g = g[i]; x = x[i]; n = sum[i](1); m = sum[j](w[i,j]*x[i]*a[i,j]);
            s = s[i]
            => sum[i](1)*s[i] >= 1 (as stated)
    """


@STATEMENTS.add("br-drf-sharing-incentive", latex=INCENTIVE)
def _drf_incentive(question: Question) -> None:
    """Under dominant resource fairness each of n users has a share of at least 1/n of some resource.

    Hypotheses
        largest*, stopped*, others*, full*, signs
    Scope: all demands, any n and m

    Proof
        # s, d[i]: dominant shares of a user and of all; h[i]: shares of the resource that stops it at the
        # level u.
        [level] Who holds some of the resource has no larger dominant share than the user it stops.
            stopped: s == u; others: h*(u - d) >= 0
            => h*(s - d) >= 0
            by stopped | h
            degree 2
        [some] Whoever holds some of it has a dominant share d, at most that user's s,
            largest: h <= d; level: h*(s - d) >= 0; some: h > 0
            => h <= s
            degree 2
        [nothing] and whoever holds nothing of it holds no more.
            s >= 0; not some: h <= 0
            => h <= s
        [each] One of the two is the case.
            largest; stopped; others; s >= 0
            cases h > 0
            from level knowing all
            from some knowing all
            from nothing knowing all
            => h <= s
        [fill] So n users fill it with at most n such shares.
            each: h[i] <= s; full: sum[i](h[i]) == 1
            => sum[i](1)*s >= 1
        For all users, then.
            largest: h[i] <= d[i]; stopped; others: h[i]*(u - d[i]) >= 0; s >= 0; full
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
