"""Bonald and Roberts (2014), continued: which resources are full, and when PF is BMF.

For two resources let :math:`v_i` be the share of resource 2 that job i holds, and
:math:`r_i=a_{i1}/a_{i2}`, so that :math:`r_iv_i` is its share of resource 1. The number of jobs i is
``sum[i](1)``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from proofs.catalogue.bonald_roberts.model import BY_PRICES, SOURCE
from proofs.catalogue.chapter import Chapter
from proofs.catalogue.examples import every
from proofs.catalogue.proof_texts import argued
from proofs.claims import Claim, Step
from proofs.statement import Question

__all__ = ["STATEMENTS"]

STATEMENTS = Chapter(SOURCE)


@argued
def _equal_shares_fill(question: Question) -> None:
    """Equal shares of resource 2 fill resource 1, if the ratios add up to n.

    Proof
        With shares 1/n of resource 2, the shares of resource 1 then add up to at least 1: it is full after
        all.
            equal: sum[i](1)*v[i] == 1; condition: sum[i](r[i]) >= sum[i](1); jobs: sum[i](1) >= 1
            => sum[i](r[i]*v[i]) >= 1
            by equal | r[i]; not the conclusion * jobs
    """


@argued
def _other_resource(question: Question) -> None:
    """What holds of one resource holds of the other.

    Proof
        The same holds for resource 2.
            In words: Exchange the names of the resources.
    """


@STATEMENTS.add(
    "br-pf-full-resources",
    reading=(
        f"{BY_PRICES} Prices add up to n as in br-pf-sharing-incentive; v are shares of resource 2, r "
        "the ratios; resource 2 by exchanging the names."
    ),
)
def _pf_full(question: Question) -> Iterator[Iterable[Step]]:
    r"""Under proportional fairness of n jobs on two resources, resource 1 is full exactly if the ratios of
    the demands for it to those for the other add up to at least n.

    .. math:: \sum_i \varphi_i a_{i1} = 1 \iff \sum_i a_{i1}/a_{i2} \ge n

    Hypotheses
        slackness*: a resource that is not full has no price
        budget*: prices add up to n
        optimal*: a task costs one over the number of tasks
        prices*: prices are at least 0
        fits*: resource 2 holds at most its capacity
        condition*: the ratios add up to at least n
        full*: resource 1 is full
        jobs: there is a job
        ratios: ratios are not negative
    Place: slide on proportional fairness with two resources
    Scope: all positive demands, any n; of resource 2 the same holds with the names exchanged

    Proof
        # p, q: prices; v: shares of resource 2; r: ratios, so that r v are shares of resource 1.
        [free] If resource 1 were not full, its price would be 0.
            slackness: p*(1 - S) == 0; room: S < 1
            => p == 0
        [equal] Then every job would hold 1/n of resource 2.
            free: p == 0; budget: p + q == n; optimal: v*(p*r + q) == 1
            => n*v == 1
        [filled] ...
        Condition to full resource.
            slackness: p*(1 - sum[i](r[i]*v[i])) == 0; budget: p + q == sum[i](1);
            optimal: v[i]*(p*r[i] + q) == 1; condition: sum[i](r[i]) >= sum[i](1); jobs: sum[i](1) >= 1
            cases sum[i](r[i]*v[i]) < 1
            from free knowing all with S = sum[i](r[i]*v[i])
            from equal knowing all with n = sum[i](1); v = v[i]; r = r[i]
            from filled knowing all
            => sum[i](r[i]*v[i]) >= 1 (as stated)
        [tangent] Full resource to condition. The cost w = pr + q of a unit of resource 2, which is 1/v, lies
        above its tangent, for every n.
            worth: w >= 0; optimal: v*w == 1
            => w >= 2*n - n**2*v
            by worth | 1 - n*v
            degree 2
        [worth] A unit costs something, or nothing.
            prices: p >= 0; prices 1: q >= 0; ratio: r >= 0
            => p*r + q >= 0
            degree 2
        [sum] Add this up over the jobs; the shares of resource 2 add up to at most 1.
            tangent: p*r[i] + q >= 2*sum[i](1) - sum[i](1)**2*v[i]; fits: sum[i](v[i]) <= 1;
            budget: p + q == sum[i](1)
            => p*(sum[i](r[i]) - sum[i](1)) >= 0
            by fits | sum[i](1)
        [priced] If resource 1 has a price, the condition follows.
            price: p > 0; sum: p*(R - n) >= 0
            => R >= n
        [none] If it has none, its price is 0,
            prices: p >= 0; no price: p <= 0
            => p == 0
        [shared] all shares of resource 2 are 1/n, and resource 1 is full only under the condition.
            equal: sum[i](1)*v[i] == 1; full: sum[i](r[i]*v[i]) == 1
            => sum[i](r[i]) >= sum[i](1)
            by equal | r[i]
            degree 2
        Full resource to condition.
            prices: p >= 0; prices 1; ratios: r[i] >= 0; optimal: v[i]*(p*r[i] + q) == 1; fits;
            budget: p + q == sum[i](1); full
            cases p > 0
            from worth knowing all with r = r[i]
            from tangent knowing all with w = p*r[i] + q; v = v[i]; n = sum[i](1)
            from sum knowing all
            from priced knowing all with R = sum[i](r[i]); n = sum[i](1)
            from none knowing all
            from equal knowing all with n = sum[i](1); v = v[i]; r = r[i]
            from shared knowing all
            => sum[i](r[i]) >= sum[i](1) (as stated)
    """
    yield _equal_shares_fill(question)


@STATEMENTS.add("br-bmf-full-resources")
def _bmf_full(question: Question) -> Iterator[Step | Iterable[Step]]:
    r"""Under bottleneck-max fairness of n jobs on two resources, resource 1 is full exactly if the ratios of
    the demands for it to those for the other add up to at least n.

    .. math:: \sum_i \varphi_i a_{i1} = 1 \iff \sum_i a_{i1}/a_{i2} \ge n

    Hypotheses
        largest*: no share of the resource is larger than that of a job with this bottleneck
        bottleneck*: the job has the largest share of resource 1
        full*: the resource is full
        fits*: resource 2 holds at most its capacity
        positive: shares are positive
        order*: which of the two largest shares is the smaller one
        condition*: the ratios add up to at least n
    Place: slide on bottleneck-max fairness with two resources
    Scope: all positive demands and all BMF allocations, any n

    Proof
        Condition to full resource. If resource 1 were not full, everybody, job 1 and the others i, would have
        the largest share of resource 2, that is 1/n.
            largest: v[i] <= v1; largest 1: v1 <= v[i]; full: v1 + sum[i](v[i]) == 1
            => (1 + sum[i](1))*v1 == 1
        ...
        Full resource to condition. Let s be the largest share of resource 1 and t that of resource 2. If s <=
        t or resource 2 is not full, a job with the largest share of resource 1 has s(r - 1) >= h - v.
            positive: v > 0; bottleneck: r*v == s
            => s*(r - 1) >= s - v
        If s <= t, a job with the largest share t of resource 2 has r <= 1 ...
            positive: t > 0; largest: r*t <= s; order: s <= t
            => r <= 1
        ... and therefore s(r - 1) >= h - v, too.
            ratio: r <= 1; order; shares: r*t == h
            => s*(r - 1) >= h - t
        If s >= t, a job with the largest share s of resource 1 has r >= 1 ...
            positive: v > 0; bottleneck; largest: v <= t; order: t <= s
            => r >= 1
        ... and therefore t(r - 1) >= h - v.
            ratio: r >= 1; largest; bottleneck
            => t*(r - 1) >= s - v
        If s >= t, a job with the largest share of resource 2 has t(r - 1) = h - v.
            shares
            => t*(r - 1) == h - t
        Add up over the jobs, with u the smaller of s and t: the condition follows.
            each: u*(r[i] - 1) >= h[i] - v[i]; positive: u > 0; full: sum[i](h[i]) == 1;
            fits: sum[i](v[i]) <= 1
            => sum[i](r[i]) >= sum[i](1)
    """
    yield _equal_shares_fill(question)
    yield from _other_resource(question)


SINGLE = r"\varrho_j(\varphi) < 1\ (j \ne 1) \implies \varphi_i a_{i1} = 1/n"


@STATEMENTS.add("br-pf-single-bottleneck", latex=SINGLE, reading=BY_PRICES)
def _pf_single(question: Question) -> None:
    """Under proportional fairness, if only one resource is full, every job holds the same share of it.

    Hypotheses
        room*: the other resources have room
        slackness*: a resource that is not full has no price
        optimal*: a task costs one over the number of tasks
        full*: resource 1 is full
    Place: slide on proportional fairness, "Equal shares for a single bottleneck"
    Scope: all demands, any numbers of jobs and resources

    Proof
        # p: price of resource 1, q: prices of the others.
        [free] A resource with room has no price.
            slackness: q*(1 - u) == 0; room: u < 1
            => q == 0
        [paid] Then the tasks of a job cost 1 together, all for resource 1.
            free: q[j] == 0; optimal: x*(p*a + sum[j](q[j]*b[j])) == 1
            => p*(x*a) == 1
            by free | x*b[j]; optimal
        [price] So the price of resource 1 is the number of jobs,
            full: sum[i](x[i]*a[i]) == 1; paid: p*(x[i]*a[i]) == 1
            => p == sum[i](1)
            degree 2
        [share] and every job holds 1/n of it.
            paid: p*h == 1; price: p == n
            => n*h == 1
        So all jobs k have the same share.
            slackness: q[j]*(1 - sum[i](x[i]*b[i,j])) == 0; room: sum[i](x[i]*b[i,j]) < 1;
            optimal: x[i]*(p*a[i] + sum[j](q[j]*b[i,j])) == 1; full
            from free knowing all with q = q[j]; u = sum[i](x[i]*b[i,j])
            from paid knowing all with x = x[i]; a = a[i]; b[j] = b[i,j]
            from price knowing all
            from share knowing all with h = x[i]*a[i]; n = sum[i](1)
            => sum[i](1)*x[i]*a[i] == 1 (as stated)
    """


@STATEMENTS.add("br-bmf-single-bottleneck", latex=SINGLE)
def _bmf_single(question: Question) -> None:
    """Under bottleneck-max fairness, if only one resource is full, every job holds the same share of it.

    Hypotheses
        largest*: a job whose bottleneck is resource 1 has the largest share of it
        full*: resource 1 is full, and alone
    Place: slide on bottleneck-max fairness, "Equal shares for a single bottleneck"
    Scope: all demands and all BMF allocations, any numbers of jobs and resources
    Reading: A bottleneck is full; as only resource 1 is, it is the bottleneck of every job.

    Proof
        The bottleneck of every job is resource 1, so that job 1 and the others i hold the same share, 1/n.
            largest: v[i] <= v1; largest 1: v1 <= v[i]; full: v1 + sum[i](v[i]) == 1
            => (1 + sum[i](1))*v1 == 1 (as stated)
    """


@STATEMENTS.add("br-two-classes")
def _two_classes(question: Question) -> Iterator[Claim]:
    r"""With two classes of jobs and two resources, proportional fairness and bottleneck-max fairness allocate
    the same, however many jobs there are.

    .. math:: \varphi^{\mathrm{PF}}(x) = \varphi^{\mathrm{BMF}}(x),\quad x \in \mathbb{N}^2

    Hypotheses
        full*: a full resource is used up
        largest*: a job has the largest share of its bottleneck
        slackness*: a resource that is not full has no price
        budget*: prices add up to the number of jobs
        optimal*: a task costs one over the number of tasks
        independent*: the demands of the classes are not proportional
    Place: slides on two resources
    Scope: all positive demands and all counts X, Y > 0

    Proof
        The same resources are full under PF and under BMF.
            In words: By the statements on which resources are full, for X + Y jobs.
        Only resource 1 full, PF: its price is n = X + Y, so that every job holds 1/n of it.
            slackness: q == 0; budget: p + q == X + Y; optimal: x*(p*a + q*b) == 1
            => (X + Y)*x*a == 1
        Only resource 1 full, BMF: both classes have the largest share of it, which is 1/n.
            largest 1: h2 <= h1; largest 2: h1 <= h2; full: X*h1 + Y*h2 == 1
            => (X + Y)*h1 == 1
            # The two squares differ by 4Y((X + Y)h1 - 1), which multiplies h1 - h2 = 0 here.
            by largest 1 | ((X + Y)*h1 - 1)*Y - 1; largest 2 | ((X + Y)*h1 - 1)*Y + 1
            degree 2
        Both full: let S and T be the differences of two allocations, times the counts. They solve two
        equations without right side, so that S is 0 unless the determinant is.
            full 1: S*a1 + T*a2 == 0; full 2: S*b1 + T*b2 == 0; independent: a1*b2 - a2*b1 != 0
            => S == 0
        The same for T.
            full 1; full 2; independent
            => T == 0
        Where demands are proportional, a = rb for both classes, and both resources are full, r is 1: the
        resources are one.
            full 1: X*x*b1 + Y*y*b2 == 1; full 2: r*(X*x*b1 + Y*y*b2) == 1
            => r == 1
            degree 3
        Then PF gives everybody 1/n of it, and so does BMF, as above.
            budget; optimal: x*(p*a + q*a) == 1
            => (X + Y)*x*a == 1
        By both definitions, for demands up to 3 and up to 2 jobs of each class.
            Computed (as stated).
    """
    yield every("two_classes", largest=3, most=2)
