"""Bonald and Roberts (2014), continued: which resources are full, and when PF is BMF.

For two resources let :math:`v_i` be the share of resource 2 that job i holds, and
:math:`r_i=a_{i1}/a_{i2}`, so that :math:`r_iv_i` is its share of resource 1. The number of jobs i is
``sum[i](1)``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from proofs.catalogue.bonald_roberts import model
from proofs.catalogue.bonald_roberts.model import SOURCE
from proofs.catalogue.chapter import Chapter
from proofs.catalogue.examples import every
from proofs.catalogue.proof_texts import argued
from proofs.claims import Claim, Step
from proofs.statement import Question

__all__ = ["STATEMENTS"]

STATEMENTS = Chapter(SOURCE, known=model.STATEMENTS.known)


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


@STATEMENTS.add("br-pf-full-resources")
def _pf_full(question: Question) -> None:
    r"""Under proportional fairness of n jobs on two resources, resource 1 is full exactly if the ratios of
    the demands for it to those for the other add up to at least n.

    .. math:: \sum_i \varphi_i a_{i1} = 1 \iff \sum_i a_{i1}/a_{i2} \ge n

    Hypotheses
        optimal*, fullest
        inverse*: g is one over the share of resource 2, which is positive
        sums: n, R, S, V, G are the number of jobs and the sums of r, r v, v, g
        fits*: no resource holds more than its capacity
        condition*: the ratios add up to at least n
        full*: resource 1 is full
        jobs: there is a job
        ratios: ratios are not negative
    Place: slide on proportional fairness with two resources
    Scope: all positive demands, any n; of resource 2 the same holds with the names exchanged

    Proof
        # v: shares of resource 2; r: ratios, so that r v are shares of resource 1. Another allocation is told
        # by its shares of resource 2, so that g v is each of its tasks over those of PF. p, q: weights.
        [mean] What is at most M is so on average.
            fullest 1: p >= 0; fullest 2: q >= 0; fullest 3: p + q == 1; use 1: A <= M; use 2: B <= M
            => p*A + q*B <= M
            by fullest 1 * use 1; fullest 2 * use 2; fullest 3 | M
        [first] If resource 1 has room, move towards equal shares of resource 2, from n(1 + R) times what is
        there to 1 - S times the rest. Of resource 1 that uses no more than n(1 + R),
            room: S < 1; jobs: n >= 1; ratio: R >= 0; shares: S >= 0
            => n*(1 + R)*S + (1 - S)*(R - n*S) <= n*(1 + R)
            by room * jobs * ratio; room * jobs * shares; room * shares; room * jobs; room
        [second] and no more of resource 2.
            fits 2: V <= 1; jobs; ratio; shares
            => n*(1 + R)*V + (1 - S)*(n - n*V) <= n*(1 + R)
            by fits 2 * jobs * ratio; fits 2 * jobs * shares; fits 2 * ratio; fits 2 * shares
        [worth] Relative to PF this adds up to a number that is known,
            inverse: g[i]*v[i] == 1; sums 1: n == sum[i](1); sums 5: G == sum[i](g[i])
            => sum[i](g[i]*(c*v[i] + d*(1 - n*v[i]))) == c*n + d*(G - n*n)
            by inverse
        [use first] and so is what it uses of resource 1
            sums 2: R == sum[i](r[i]); sums 3: S == sum[i](r[i]*v[i])
            => sum[i](r[i]*(c*v[i] + d*(1 - n*v[i]))) == c*S + d*(R - n*S)
        [use second] and of resource 2.
            sums 1; sums 4: V == sum[i](v[i])
            => sum[i](c*v[i] + d*(1 - n*v[i])) == c*V + d*(n - n*V)
        [relative] It is at most n times the use of the fullest one,
            optimal: A <= n*(p*B + q*C); worth: A == X; use first: B == Y; use second: C == Z
            => X <= n*(p*Y + q*Z)
            by use first | n*p; use second | n*q
        [moved] so that equal shares add up to at most n times n.
            relative: n*(1 + R)*n + (1 - S)*(G - n*n) <= n*m; mean: m <= n*(1 + R); jobs; room
            => G <= n*n
            by mean * jobs; mean; not the conclusion * room
        [equal] They do so as well if they use no more of resource 1 than of resource 2.
            optimal 2: G <= n*m; mean: m <= n; jobs
            => G <= n*n
            by mean * jobs; mean
        [distance] Then the squared distances from equal shares are 0 together, weighed by g,
            equal: G <= n*n; fits 2; inverse; sums 1; sums 4; sums 5
            => sum[i](g[i]*(1 - n*v[i])**2) <= 0
            by fits 2 | n; inverse | n**2*v[i] - 2*n
        [cauchy] and by the inequality of Cauchy and Schwarz
            positive: g[i] > 0; inverse; distance: sum[i](g[i]*(1 - n*v[i])**2) <= 0; sums 2; sums 3;
            squares: Q == sum[i](r[i]**2*v[i])
            => (R - n*S)**2*(Q + 2) <= 0
            by positive | (Q + 1)*(1 - n*v[i]) - (R - n*S)*r[i]*v[i]; distance | Q + 1;
            inverse | (R - n*S)*r[i]*((R - n*S)*r[i]*v[i] - 2*(Q + 1)*(1 - n*v[i]))
            degree 1
        [none] so are those of the shares of resource 1.
            cauchy: D**2*(Q + 2) <= 0; squares: Q >= 0
            => D == 0
            by not the conclusion * squares; not the conclusion
        [squares] Sums of squares are not negative,
            inverse 1: v[i] > 0
            => sum[i](r[i]**2*v[i]) >= 0
            by inverse 1 | r[i]
        [positive] one over a share is positive,
            inverse: g*v == 1; inverse 1: v > 0
            => g > 0
            by inverse 1 * not the conclusion
        [ratio] and so are sums of ratios, or 0,
            ratios: r[i] >= 0; sums 2
            => R >= 0
        [shares] and of shares.
            ratios; inverse 1: v[i] > 0; sums 3
            => S >= 0
            by ratios * inverse 1
        [same] So if equal shares add up to at most n times n, the shares of resource 1 are those of equal
        ones.
            equal; fits 2; inverse: g[i]*v[i] == 1; inverse 1; sums 1; sums 2; sums 3; sums 4; sums 5
            from distance knowing all
            from positive knowing all with g = g[i]; v = v[i]
            from squares knowing all
            from cauchy knowing all with Q = sum[i](r[i]**2*v[i])
            from none knowing all with D = R - n*S; Q = sum[i](r[i]**2*v[i])
            => R - n*S == 0
        [enough] Equal shares of resource 2 fill resource 1, if the ratios add up to n,
            same: R - n*S == 0; condition: R >= n; jobs
            => S >= 1
            by not the conclusion * jobs
        [just] and what is no less and no more than full is full.
            least: S >= 1; fits 1: S <= 1
            => S == 1
        Condition to full resource.
            optimal 1: sum[i](g[i]*(n*(1 + R)*v[i] + (1 - S)*(1 - n*v[i])))
            <= n*(p*sum[i](r[i]*(n*(1 + R)*v[i] + (1 - S)*(1 - n*v[i])))
            + q*sum[i](n*(1 + R)*v[i] + (1 - S)*(1 - n*v[i])));
            fullest 1; fullest 2; fullest 3; inverse; inverse 1; sums 1; sums 2; sums 3; sums 4; sums 5;
            fits 1; fits 2; condition; jobs; ratios
            cases S < 1
            from ratio knowing all
            from shares knowing all
            from first knowing all
            from second knowing all
            from worth knowing all with c = n*(1 + R); d = 1 - S
            from use first knowing all with c = n*(1 + R); d = 1 - S
            from use second knowing all with c = n*(1 + R); d = 1 - S
            from relative knowing all with A = sum[i](g[i]*(n*(1 + R)*v[i] + (1 - S)*(1 - n*v[i])));
            B = sum[i](r[i]*(n*(1 + R)*v[i] + (1 - S)*(1 - n*v[i])));
            C = sum[i](n*(1 + R)*v[i] + (1 - S)*(1 - n*v[i])); X = n*(1 + R)*n + (1 - S)*(G - n*n);
            Y = n*(1 + R)*S + (1 - S)*(R - n*S); Z = n*(1 + R)*V + (1 - S)*(n - n*V)
            from mean knowing all with A = n*(1 + R)*S + (1 - S)*(R - n*S);
            B = n*(1 + R)*V + (1 - S)*(n - n*V); M = n*(1 + R)
            from moved knowing all with m = p*(n*(1 + R)*S + (1 - S)*(R - n*S))
            + q*(n*(1 + R)*V + (1 - S)*(n - n*V))
            from same knowing all
            from enough knowing all
            from just knowing all
            => S == 1 (as stated)
        [like] A number is no more than itself.
            => n <= n
        [full] If resource 1 is full, equal shares use just as much of it.
            same; full: S == 1
            => R >= n
            by full | n
            degree 2
        Full resource to condition: equal shares, n times, use R of resource 1 and n of resource 2.
            optimal 2: sum[i](g[i]) <= n*(p*sum[i](r[i]) + q*sum[i](1)); fullest 1; fullest 2; fullest 3;
            inverse; inverse 1; sums 1; sums 2; sums 3; sums 4; sums 5; fits 2; full; jobs
            cases R < n
            from relative knowing all with A = sum[i](g[i]); B = sum[i](r[i]); C = sum[i](1); X = G; Y = R;
            Z = n
            from like knowing all
            from mean knowing all with A = R; B = n; M = n
            from equal knowing all with m = p*R + q*n
            from same knowing all
            from full knowing all
            => R >= n (as stated)
    """


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


@STATEMENTS.add("br-pf-single-bottleneck", latex=SINGLE)
def _pf_single(question: Question) -> None:
    """Under proportional fairness, if only one resource is full, every job holds the same share of it.

    Hypotheses
        room*: the other resources have room, for the part e of the tasks of any job
        part*: e is positive and at most 1
        optimal*, fullest
        inverse*: g is one over the tasks, which are positive
        full*: resource 1 is full
        signs: demands are not negative
    Place: slide on proportional fairness, "Equal shares for a single bottleneck"
    Scope: all demands, any numbers of jobs and resources

    Proof
        # x, a, b[j]: tasks of job 1 and its demands for resource 1 and for the others; x[i], a[i], b[i,j]: of
        # the other jobs; w and w[j], v[i] and v[i,j]: weights of the resources. If job 1, which holds the
        # share h of resource 1, runs e x more tasks and all jobs the part e h less, resource 1 stays full.
        [use] What is used is not negative.
            inverse 1: x > 0; inverse 3: x[i] > 0; signs 1: b >= 0; signs 2: b[i] >= 0
            => x*b + sum[i](x[i]*b[i]) >= 0
            by inverse 1 * signs 1; inverse 3 * signs 2
        [share] Nor is a share.
            inverse 1; signs 3: a >= 0
            => x*a >= 0
            by inverse 1 * signs 3
        [fits] Of each other resource there is still room.
            room: U + e*t <= 1; use: U >= 0; part 1: e > 0; share: h >= 0
            => (1 - e*h)*U + e*t <= 1
            by part 1 * share * use
        [full] Resource 1 stays full.
            full: F == 1
            => (1 - e*h)*F + e*h <= 1
            by full | 1 - e*h
        [mean] So the fullest resource is not used more than to its capacity.
            fullest 1: w >= 0; fullest 2: w[j] >= 0; fullest 3: w + sum[j](w[j]) == 1; full: F <= 1;
            fits: u[j] <= 1
            => w*F + sum[j](w[j]*u[j]) <= 1
            by fullest 1 * full; fullest 2 * fits
        [number] There are no fewer than no jobs.
            inverse 2: g[i]*x[i] == 1; inverse 3
            => 1 + sum[i](1) >= 0
            by inverse 3 * inverse 3 | g[i]; inverse 2 | g[i]*x[i] + 1
        [ones] All tasks are 1 each, relative to PF.
            inverse: g*x == 1; inverse 2
            => g*x + sum[i](g[i]*x[i]) == 1 + sum[i](1)
            by inverse 2
        [enough] So the job has at least the share 1/n.
            optimal: (1 - e*h)*G + e*I <= n*m; ones: G == n; inverse: I == 1; mean: m <= 1; number: n >= 0;
            part 1
            => n*h >= 1
            by mean * number; ones | 1 - e*h; inverse | e; not the conclusion * part 1
        [most] If all others have at least that, a job has at most that.
            full: h + sum[i](h[i]) == 1; enough: (1 + sum[i](1))*h[i] >= 1
            => (1 + sum[i](1))*h <= 1
            by enough; full | 1 + sum[i](1)
        [just] So it has just that.
            enough: y >= 1; most: y <= 1
            => y == 1
        So all jobs have the same share.
            room: x*b[j] + sum[i](x[i]*b[i,j]) + e*x*b[j] <= 1;
            room 1: x*b[j] + sum[i](x[i]*b[i,j]) + e*x[i]*b[i,j] <= 1; part 1; part 2: e <= 1;
            optimal: (1 - e*x*a)*(g*x + sum[i](g[i]*x[i])) + e*g*x
            <= (1 + sum[i](1))*(w*((1 - e*x*a)*(x*a + sum[i](x[i]*a[i])) + e*x*a)
            + sum[j](w[j]*((1 - e*x*a)*(x*b[j] + sum[i](x[i]*b[i,j])) + e*x*b[j])));
            optimal 1: (1 - e*x[i]*a[i])*(g*x + sum[i](g[i]*x[i])) + e*g[i]*x[i]
            <= (1 + sum[i](1))*(v[i]*((1 - e*x[i]*a[i])*(x*a + sum[i](x[i]*a[i])) + e*x[i]*a[i])
            + sum[j](v[i,j]*((1 - e*x[i]*a[i])*(x*b[j] + sum[i](x[i]*b[i,j])) + e*x[i]*b[i,j])));
            fullest 1; fullest 2; fullest 3; fullest 4: v[i] >= 0; fullest 5: v[i,j] >= 0;
            fullest 6: v[i] + sum[j](v[i,j]) == 1; inverse: g*x == 1; inverse 1; inverse 2;
            inverse 3; full: x*a + sum[i](x[i]*a[i]) == 1; signs 1: b[j] >= 0;
            signs 2: b[i,j] >= 0; signs 3: a >= 0; signs 4: a[i] >= 0
            from use knowing all with b = b[j]; b[i] = b[i,j]
            from share knowing all
            from share knowing all with x = x[i]; a = a[i]
            from fits knowing all with U = x*b[j] + sum[i](x[i]*b[i,j]); h = x*a; t = x*b[j]
            from fits knowing all with U = x*b[j] + sum[i](x[i]*b[i,j]); h = x[i]*a[i]; t = x[i]*b[i,j]
            from full knowing all with F = x*a + sum[i](x[i]*a[i]); h = x*a
            from full knowing all with F = x*a + sum[i](x[i]*a[i]); h = x[i]*a[i]
            from number knowing all
            from ones knowing all
            from mean knowing all with F = (1 - e*x*a)*(x*a + sum[i](x[i]*a[i])) + e*x*a;
            u[j] = (1 - e*x*a)*(x*b[j] + sum[i](x[i]*b[i,j])) + e*x*b[j]
            from mean knowing all with F = (1 - e*x[i]*a[i])*(x*a + sum[i](x[i]*a[i])) + e*x[i]*a[i];
            u[j] = (1 - e*x[i]*a[i])*(x*b[j] + sum[i](x[i]*b[i,j])) + e*x[i]*b[i,j]; w = v[i]; w[j] = v[i,j]
            from enough knowing all with h = x*a; G = g*x + sum[i](g[i]*x[i]); I = g*x; n = 1 + sum[i](1);
            m = w*((1 - e*x*a)*(x*a + sum[i](x[i]*a[i])) + e*x*a)
            + sum[j](w[j]*((1 - e*x*a)*(x*b[j] + sum[i](x[i]*b[i,j])) + e*x*b[j]))
            from enough knowing all with h = x[i]*a[i]; G = g*x + sum[i](g[i]*x[i]); I = g[i]*x[i];
            n = 1 + sum[i](1); m = v[i]*((1 - e*x[i]*a[i])*(x*a + sum[i](x[i]*a[i])) + e*x[i]*a[i])
            + sum[j](v[i,j]*((1 - e*x[i]*a[i])*(x*b[j] + sum[i](x[i]*b[i,j])) + e*x[i]*b[i,j]))
            from most knowing all with h = x*a; h[i] = x[i]*a[i]
            from just knowing all with y = (1 + sum[i](1))*x*a
            => (1 + sum[i](1))*x*a == 1 (as stated)
    """


@STATEMENTS.add("br-bmf-single-bottleneck", latex=SINGLE)
def _bmf_single(question: Question) -> None:
    """Under bottleneck-max fairness, if only one resource is full, every job holds the same share of it.

    Hypotheses
        bottleneck*: each job has a bottleneck, told by a mark that is 1 for one resource and 0 for others
        room*: the other resources have room
        filled*: a bottleneck is full
        largest*: a job has the largest share of its bottleneck
        full*: resource 1 is full
    Place: slide on bottleneck-max fairness, "Equal shares for a single bottleneck"
    Scope: all demands and all BMF allocations, any numbers of jobs and resources

    Proof
        # v, v[i]: shares of resource 1 of a job and of the others; u[j]: use of the other resources; b and
        # b[j] (for the others b[i] and b[i,j]): marks of resource 1 and of the other resources.
        [unmarked] No resource with room is the bottleneck of a job,
            filled: b*(1 - u) == 0; room: u < 1
            => b == 0
        [marked] so that it is resource 1.
            bottleneck: b + sum[j](b[j]) == 1; unmarked: b[j] == 0
            => b == 1
            by unmarked
        [no more] Nobody holds more of that.
            marked: b == 1; largest: b*(h - g) >= 0
            => g <= h
            by marked | h - g
        [equal] So all hold the same share, 1/n.
            no more: v[i] <= v; no less: v <= v[i]; full: v + sum[i](v[i]) == 1
            => (1 + sum[i](1))*v == 1
        Every job holds it.
            bottleneck; bottleneck 1: b[i] + sum[j](b[i,j]) == 1; room: u[j] < 1;
            filled: b[j]*(1 - u[j]) == 0;
            filled 1: b[i,j]*(1 - u[j]) == 0; largest: b*(v - v[i]) >= 0; largest 1: b[i]*(v[i] - v) >= 0;
            full: v + sum[i](v[i]) == 1
            from unmarked knowing all with b = b[j]; u = u[j]
            from unmarked knowing all with b = b[i,j]; u = u[j]
            from marked knowing all
            from marked knowing all with b = b[i]; b[j] = b[i,j]
            from no more knowing all with h = v; g = v[i]
            from no more knowing all with b = b[i]; h = v[i]; g = v
            from equal knowing all
            => (1 + sum[i](1))*v == 1 (as stated)
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
