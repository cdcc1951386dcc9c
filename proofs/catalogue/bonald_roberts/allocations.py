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
def _bmf_full(question: Question) -> Iterator[Iterable[Step]]:
    r"""Under bottleneck-max fairness of n jobs on two resources, resource 1 is full exactly if the ratios of
    the demands for it to those for the other add up to at least n.

    .. math:: \sum_i \varphi_i a_{i1} = 1 \iff \sum_i a_{i1}/a_{i2} \ge n

    Hypotheses
        largest*: nobody holds more of a resource than its largest share
        bottleneck*: every job has the largest share of a full resource
        full*: resource 1 is full
        fits*: no resource holds more than its capacity
        positive: shares are positive
        ratios: ratios are not negative
        condition*: the ratios add up to at least n
        jobs: there is a job
    Place: slide on bottleneck-max fairness with two resources
    Scope: all positive demands and all BMF allocations, any n; of resource 2 the same holds with the names
        exchanged

    Proof
        # v: shares of resource 2; r: ratios, so that r v are shares of resource 1; s, t: the largest shares
        # of resources 1 and 2. "(h = s and 1 is full) or (v = t and 2 is full)" is four relations with "or".
        [room] A resource with room is not full.
            room: S < 1
            => S != 1
        [other] Whose bottleneck is not one resource, has the other one.
            bottleneck: p == 0 or q == 0; not this: p != 0
            => q == 0
        [level] If all jobs have the largest share of resource 2, and it is full, that is 1/n of it.
            same: v[i] == t; full: sum[i](v[i]) == 1
            => sum[i](1)*t == 1
        [equal] So every job holds that.
            level: n*t == 1; same: v == t
            => n*v == 1
        [filled] ...
        [just] What is no less and no more than full is full.
            least: S >= 1; fits: S <= 1
            => S == 1
        Condition to full resource.
            bottleneck 3: sum[i](r[i]*v[i]) == 1 or v[i] == t;
            bottleneck 4: sum[i](r[i]*v[i]) == 1 or sum[i](v[i]) == 1;
            condition: sum[i](r[i]) >= sum[i](1); jobs: sum[i](1) >= 1; fits 1: sum[i](r[i]*v[i]) <= 1
            cases sum[i](r[i]*v[i]) < 1
            from room knowing all with S = sum[i](r[i]*v[i])
            from other knowing all with p = sum[i](r[i]*v[i]) - 1; q = v[i] - t
            from other knowing all with p = sum[i](r[i]*v[i]) - 1; q = sum[i](v[i]) - 1
            from level knowing all
            from equal knowing all with n = sum[i](1); v = v[i]
            from filled knowing all
            from just knowing all with S = sum[i](r[i]*v[i])
            => sum[i](r[i]*v[i]) == 1 (as stated)
        [first] Full resource to condition. A job with the largest share s of resource 1 has s(r - 1) >= h - v
        for its share h = r v of resource 1.
            positive: v > 0; held: r*v == s
            => s*(r - 1) >= r*v - v
            by positive | r - 1
        [low] If s <= t, a job with the largest share t of resource 2 has r <= 1,
            share: t > 0; held: v == t; largest: r*v <= s; order: s <= t
            => r <= 1
            by not the conclusion * share
        [second] and therefore s(r - 1) >= h - v, too.
            low: r <= 1; order; held
            => s*(r - 1) >= r*v - v
            by low * order
        [each below] So all jobs have it, if s <= t.
            positive; share; largest; order; bottleneck: r*v == s or v == t
            cases r*v == s
            from first knowing all
            from other knowing all with p = r*v - s; q = v - t
            from low knowing all
            from second knowing all
            => s*(r - 1) >= r*v - v
        [high] If s >= t, a job with the largest share s of resource 1 has r >= 1,
            positive; held: r*v == s; largest: v <= t; order: s >= t
            => r >= 1
            by not the conclusion * positive
        [third] and therefore t(r - 1) >= h - v.
            high: r >= 1; largest
            => t*(r - 1) >= r*v - v
            by high * largest
        [fourth] So has a job with the largest share t of resource 2.
            held: v == t
            => t*(r - 1) >= r*v - v
        [each above] So all jobs have it, if s >= t.
            positive; largest; order; bottleneck
            cases r*v == s
            from high knowing all
            from third knowing all
            from other knowing all with p = r*v - s; q = v - t
            from fourth knowing all
            => t*(r - 1) >= r*v - v
        [added] Add up over the jobs, with u the smaller of s and t: the condition follows.
            each: u*(r[i] - 1) >= r[i]*v[i] - v[i]; share: u > 0; full: sum[i](r[i]*v[i]) == 1;
            fits: sum[i](v[i]) <= 1
            => sum[i](r[i]) >= sum[i](1)
            by each; not the conclusion * share
        [some first] Of a full resource 1 somebody holds something,
            full; largest: r[i]*v[i] <= s
            => sum[i](1)*s >= 1
        [some second] and as it does so by its ratio, of resource 2 as well.
            full; largest: v[i] <= t; ratios: r[i] >= 0
            => sum[i](r[i])*t >= 1
            by largest * ratios
        [count] There are no fewer than no jobs,
            jobs: n >= 1
            => n >= 0
        [ratio] and their ratios are not negative together.
            ratios
            => sum[i](r[i]) >= 0
        [share] So the largest shares are positive.
            some: n*u >= 1; count: n >= 0
            => u > 0
            by not the conclusion * count
        Full resource to condition.
            positive: v[i] > 0; ratios; largest 1: r[i]*v[i] <= s; largest 2: v[i] <= t;
            bottleneck 1: r[i]*v[i] == s or v[i] == t; full; fits 2: sum[i](v[i]) <= 1; jobs: sum[i](1) >= 1
            cases s <= t
            from some first knowing all
            from some second knowing all
            from count knowing all with n = sum[i](1)
            from ratio knowing all
            from share knowing all with n = sum[i](1); u = s
            from share knowing all with n = sum[i](r[i]); u = t
            from each below knowing all with r = r[i]; v = v[i]
            from each above knowing all with r = r[i]; v = v[i]
            from added knowing all with u = s
            from added knowing all with u = t
            => sum[i](r[i]) >= sum[i](1) (as stated)
    """
    yield _equal_shares_fill(question)


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
        fits*: no resource holds more than its capacity
        optimal*: under PF another allocation, each of its tasks over those of the job, adds up to at most the
            number of jobs times the use of its fullest resource
        fullest*: that is the mean use by weights, one of them 1 and the other 0
        largest*: nobody holds more of a resource than its largest share under BMF
        bottleneck*: every job has the largest share of a full resource under BMF
        demands: demands are positive
        tasks: tasks are positive
        counts: there are jobs of both classes
    Place: slides on two resources
    Scope: all positive demands and all counts X, Y > 0

    Proof
        # x, y: tasks of a job of each class under PF; u, w: under BMF; a, b: demands of class 1 for the two
        # resources, c, d: of class 2; s, t: largest shares of the resources; p, q: weights of the resources.
        [other] Whose bottleneck is not one resource, has the other one.
            bottleneck: p == 0 or q == 0; not this: p != 0
            => q == 0
        [jobs] There are jobs.
            count: X > 0; count 1: Y > 0
            => X + Y > 0
        [level] If both classes hold the largest share of a full resource, that is one over the number of
        jobs,
            held 1: u*a == s; held 2: w*c == s; full: X*u*a + Y*w*c == 1
            => (X + Y)*s == 1
        [share] which is positive.
            jobs: n > 0; level: n*s == 1
            => s > 0
            by jobs * not the conclusion
        [one] Whatever fits adds up to at most the number of jobs then, relative to BMF: x and y do.
            share: s > 0; level: (X + Y)*s == 1; held 1; held 2; fits: X*x*a + Y*y*c <= 1; tasks 3: u > 0;
            tasks 4: w > 0
            => X*x*w + Y*y*u <= (X + Y)*u*w
            by not the conclusion * share; fits * tasks 3 * tasks 4; held 1 | X*x*w; held 2 | Y*y*u;
            level | u*w
        [determinant] If class 1 holds the larger share of resource 1 and class 2 that of resource 2, the
        determinant of the demands is not negative.
            first: u*a >= w*c; second: w*d >= u*b; tasks 3; demands 3: c > 0; demands 4: d > 0
            => a*d - b*c >= 0
            by first * demands 4; second * demands 3; tasks 3 * not the conclusion
        [zero] It is positive, or 0.
            determinant: D >= 0; not positive: D <= 0
            => D == 0
        [two] If it is positive, whatever fits adds up to at most the number of jobs, relative to BMF.
            positive: a*d - b*c > 0; first; second; full 1: X*u*a + Y*w*c == 1; full 2: X*u*b + Y*w*d == 1;
            fits 1: X*x*a + Y*y*c <= 1; fits 2: X*x*b + Y*y*d <= 1
            => X*x*w + Y*y*u <= (X + Y)*u*w
            by not the conclusion * positive; second * fits 1; first * fits 2; full 1 | w*d - u*b;
            full 2 | u*a - w*c
        [proportional] If it is 0, class 2 holds as much of resource 1,
            zero: a*d - b*c == 0; second; demands 3; demands 4; held 1
            => w*c >= s
            by second * demands 3; not the conclusion * demands 4; zero | u; held 1 | d
        [tie] which is the largest share, too.
            proportional: g >= s; largest: g <= s
            => g == s
        [crossed] So it is whenever class 1 has bottleneck 1 and class 2 bottleneck 2.
            held 1; held 2: w*d == t; full 1; full 2; first: u*a >= w*c; second: w*d >= u*b;
            largest: w*c <= s;
            demands 3; demands 4; tasks 3; tasks 4; fits 1; fits 2; count; count 1
            cases a*d - b*c > 0
            from determinant knowing all
            from zero knowing all with D = a*d - b*c
            from two knowing all
            from proportional knowing all
            from tie knowing all with g = w*c
            from level knowing all
            from jobs knowing all
            from share knowing all with n = X + Y
            from one knowing all
            => X*x*w + Y*y*u <= (X + Y)*u*w
        [larger] Who holds the largest share holds no less than the other.
            held: h == s; largest: g <= s
            => h >= g
        [better] So it is under BMF, whatever the bottlenecks are.
            bottleneck 1: u*a == s or u*b == t; bottleneck 2: u*a == s or X*u*b + Y*w*d == 1;
            bottleneck 3: X*u*a + Y*w*c == 1 or u*b == t;
            bottleneck 4: X*u*a + Y*w*c == 1 or X*u*b + Y*w*d == 1;
            bottleneck 5: w*c == s or w*d == t; bottleneck 6: w*c == s or X*u*b + Y*w*d == 1;
            bottleneck 7: X*u*a + Y*w*c == 1 or w*d == t;
            largest 1: u*a <= s; largest 2: w*c <= s; largest 3: u*b <= t; largest 4: w*d <= t;
            demands 1: a > 0; demands 2: b > 0; demands 3; demands 4; tasks 3; tasks 4; fits 1; fits 2;
            count; count 1
            cases u*a == s; X*u*a + Y*w*c == 1; w*c == s
            from other knowing all with p = u*a - s; q = u*b - t
            from other knowing all with p = u*a - s; q = X*u*b + Y*w*d - 1
            from other knowing all with p = X*u*a + Y*w*c - 1; q = u*b - t
            from other knowing all with p = X*u*a + Y*w*c - 1; q = X*u*b + Y*w*d - 1
            from other knowing all with p = w*c - s; q = w*d - t
            from other knowing all with p = w*c - s; q = X*u*b + Y*w*d - 1
            from other knowing all with p = X*u*a + Y*w*c - 1; q = w*d - t
            from jobs knowing all
            from level knowing all
            from level knowing all with a = b; c = d; s = t
            from share knowing all with n = X + Y
            from share knowing all with n = X + Y; s = t
            from one knowing all
            from one knowing all with a = b; c = d; s = t
            from larger knowing all with h = u*a; g = w*c
            from larger knowing all with h = w*d; g = u*b; s = t
            from larger knowing all with h = w*c; g = u*a
            from larger knowing all with h = u*b; g = w*d; s = t
            from crossed knowing all
            from crossed knowing all with X = Y; Y = X; x = y; y = x; u = w; w = u; a = c; c = a; b = d;
            d = b
            => X*x*w + Y*y*u <= (X + Y)*u*w
        [mean] BMF fits, and so uses its fullest resource no more than to its capacity.
            fullest 1: p >= 0; fullest 2: q >= 0; fullest 3: p + q == 1; fits 3: g <= 1; fits 4: h <= 1
            => p*g + q*h <= 1
            by fullest 1 * fits 3; fullest 2 * fits 4
        [number] Jobs and tasks are positive.
            jobs: n > 0; tasks 1: x > 0; tasks 2: y > 0
            => n*x*y > 0
            by jobs * tasks 1 * tasks 2
        [no better] So relative to PF it adds up to at most the number of jobs.
            optimal: g <= h*m; mean: m <= 1; number: h > 0
            => g <= h
            by number * mean
        [same] Two allocations that both add up to at most that, relative to the other, are the same.
            better: X*x*w + Y*y*u <= (X + Y)*u*w; no better: X*u*y + Y*w*x <= (X + Y)*x*y; tasks 1; tasks 2;
            tasks 3; tasks 4; count; count 1
            => x == u
            by better * tasks 1 * tasks 2; no better * tasks 3 * tasks 4;
            count * tasks 4 * tasks 2 * not the conclusion; count 1 * tasks 3 * tasks 1 | y - w
            degree 1
        A job of class 1 runs the same.
            optimal: X*u*y + Y*w*x <= (X + Y)*x*y*(p*(X*u*a + Y*w*c) + q*(X*u*b + Y*w*d)); fullest 1;
            fullest 2; fullest 3; fits 1; fits 2; fits 3: X*u*a + Y*w*c <= 1; fits 4: X*u*b + Y*w*d <= 1;
            bottleneck 1; bottleneck 2; bottleneck 3; bottleneck 4; bottleneck 5; bottleneck 6; bottleneck 7;
            largest 1; largest 2; largest 3; largest 4; demands 1; demands 2; demands 3; demands 4; tasks 1;
            tasks 2; tasks 3; tasks 4; counts 1: X > 0; counts 2: Y > 0
            from better knowing all
            from mean knowing all with g = X*u*a + Y*w*c; h = X*u*b + Y*w*d
            from jobs knowing all
            from number knowing all with n = X + Y
            from no better knowing all with g = X*u*y + Y*w*x; h = (X + Y)*x*y;
            m = p*(X*u*a + Y*w*c) + q*(X*u*b + Y*w*d)
            from same knowing all
            => x == u (as stated)
        So does one of class 2.
            optimal; fullest 1; fullest 2; fullest 3; fits 1; fits 2; fits 3; fits 4;
            bottleneck 1; bottleneck 2; bottleneck 3; bottleneck 4; bottleneck 5; bottleneck 6; bottleneck 7;
            largest 1; largest 2; largest 3; largest 4; demands 1; demands 2; demands 3; demands 4; tasks 1;
            tasks 2; tasks 3; tasks 4; counts 1; counts 2
            from better knowing all
            from mean knowing all with g = X*u*a + Y*w*c; h = X*u*b + Y*w*d
            from jobs knowing all
            from number knowing all with n = X + Y
            from no better knowing all with g = X*u*y + Y*w*x; h = (X + Y)*x*y;
            m = p*(X*u*a + Y*w*c) + q*(X*u*b + Y*w*d)
            from same knowing all with X = Y; Y = X; x = y; y = x; u = w; w = u
            => y == w (as stated)
        By both definitions, for demands up to 3 and up to 2 jobs of each class.
            Computed (as stated).
    """
    yield every("two_classes", largest=3, most=2)
