r"""Bonald and Roberts (2014), continued: with two resources the bottleneck-max fair allocation is unique.

Give each resource a level :math:`T_j`: the largest share of it that a job holds if it is full, and 1 if it
has
room. A full resource is shared by finitely many jobs, so :math:`0 < T_j \le 1`, and what has a level below 1
is
full. An allocation x is bottleneck-max fair exactly if it fits, no job holds more than a level,
:math:`a_{ij}x_i \le T_j`, and each job attains one: :math:`a_{i1}x_i = T_1` or :math:`a_{i2}x_i = T_2`. (A
job
that attains the level 1 fills the resource alone.) A job without demand for a resource does not attain its
level, which is positive; what follows asks for no more of the demands than that they are not negative.

Let y be another one, with levels U. If no level of x is below that of y, every job runs at least as much,
and a
bottleneck of y, which is full, leaves room for nothing more. If :math:`T_1 > U_1` and :math:`T_2 < U_2`,
resource 1 is full under y and resource 2 under x, so that the sum of the terms :math:`(x_i - y_i)(a_{i1}T_2 -
a_{i2}U_1)` is not positive. But no term is negative: with the rests :math:`p = T_1 - a_1x`, :math:`q = T_2 -
a_2x`, :math:`r = U_1 - a_1y`, :math:`s = U_2 - a_2y` of a job, none of them negative and :math:`pq = rs = 0`,

.. math:: (x - y)(a_1T_2 - a_2U_1) = q(T_1 - U_1) + r(U_2 - T_2) + 2qr + a_1a_2(x - y)^2,

and it is 0 for equal tasks only.

With three resources there may be many: br-bmf-segment.
"""

from __future__ import annotations

from proofs.catalogue.bonald_roberts.model import SOURCE
from proofs.catalogue.chapter import Chapter
from proofs.statement import Question

__all__ = ["STATEMENTS"]

STATEMENTS = Chapter(SOURCE)


@STATEMENTS.add("br-bmf-unique-two")
def _unique(question: Question) -> None:
    r"""On two resources there is only one bottleneck-max fair allocation.

    .. math:: m = 2,\ \varphi, \psi \text{ BMF} \implies \varphi_i = \psi_i\ \forall i

    Hypotheses
        demands*: demands are not negative; those that a job makes may be of one resource only
        tasks: tasks are not negative
        largest*: no job holds more of a resource than its largest share, which is at most 1
        bottleneck*: each job holds the largest share of a full resource, its bottleneck
        fits*: no resource holds more than its capacity
    Place: slide on uniqueness
    Scope: all demands, zeros included, and any number of jobs, equal ones included; one job and all others
    Remark: A conjecture of the slides for any number of resources: with three it is not so (br-bmf-segment).
        Each of the jobs may be the one that is looked at. That there is such an allocation is br-bmf-exists.

    Proof
        # x, y: tasks under both allocations; T, U: their levels, which are the largest shares of what is full
        # and 1 of what has room; a, b: demands. The family is the other jobs.
        [holds] A job that holds the level of a resource runs no less than where that level is no higher.
            demands: a >= 0; tasks: x >= 0; levels: T > 0; shares: a*y <= U; bottleneck: a*x == T;
            higher: T >= U
            => x >= y
        [other] A job that does not hold the level of one resource holds that of the other.
            bottleneck: p == 0 or q == 0; not this: p != 0
            => q == 0
        [larger] So with higher levels, or equal ones, each job runs at least as much.
            demands 1: a >= 0; demands 2: b >= 0; tasks 1: x >= 0; levels 1: T1 > 0; levels 2: T2 > 0;
            shares 3: a*y <= U1; shares 4: b*y <= U2; bottleneck 1: a*x == T1 or b*x == T2;
            higher 1: T1 >= U1; higher 2: T2 >= U2
            cases a*x == T1
            from holds knowing all with T = T1; U = U1
            from other knowing all with p = a*x - T1; q = b*x - T2
            from holds knowing all with a = b; T = T2; U = U2
            => x >= y
        [reached] The bottleneck of a job is full: its level is below 1, or the job fills it alone.
            bottleneck: h == T; full: (1 - T)*(1 - h - r) == 0; others: r >= 0
            => h + r >= 1
            by not the conclusion * not the conclusion; not the conclusion * others
            degree 2
        [others] The others hold something, or nothing.
            demands 3: a[i] >= 0; tasks 4: y[i] >= 0
            => sum[i](a[i]*y[i]) >= 0
            by demands 3 * tasks 4
        [no more] Where all others run at least as much, and the bottleneck was full, the job holds no more
        of it.
            demands 3; larger: x[i] >= y[i]; fits: a*x + sum[i](a[i]*x[i]) <= 1;
            reached: a*y + sum[i](a[i]*y[i]) >= 1
            => a*x <= a*y
            by demands 3 * larger
        [cancelled] So it runs no more.
            demands: a >= 0; tasks: y >= 0; levels: U > 0; bottleneck: a*y == U; no more: a*x <= a*y
            => x <= y
            degree 3
        [same on one] If the bottleneck of y is the first resource, and all others run no less.
            demands 1; demands 3; tasks 2: y >= 0; tasks 4; levels 3: U1 > 0; bottleneck: a*y == U1; larger;
            fits 1: a*x + sum[i](a[i]*x[i]) <= 1; full 3: (1 - U1)*(1 - a*y - sum[i](a[i]*y[i])) == 0
            from others knowing all
            from reached knowing all with h = a*y; T = U1; r = sum[i](a[i]*y[i])
            from no more knowing all
            from cancelled knowing all with U = U1
            => x <= y
        [both] Who runs no less and no more runs the same.
            no less: x >= y; no more: x <= y
            => x == y
        [ordered] With higher levels, or equal ones, all run the same.
            demands 1; demands 2; demands 3; demands 4: b[i] >= 0; tasks 1; tasks 2; tasks 3: x[i] >= 0;
            tasks 4;
            levels 1; levels 2; levels 3; levels 4: U2 > 0; shares 3; shares 4; shares 7: a[i]*y[i] <= U1;
            shares 8: b[i]*y[i] <= U2; bottleneck 1; bottleneck 2: a*y == U1 or b*y == U2;
            bottleneck 3: a[i]*x[i] == T1 or b[i]*x[i] == T2; fits 1; fits 2: b*x + sum[i](b[i]*x[i]) <= 1;
            full 3;
            full 4: (1 - U2)*(1 - b*y - sum[i](b[i]*y[i])) == 0; higher 1; higher 2
            cases a*y == U1
            from larger knowing all
            from larger knowing all with a = a[i]; b = b[i]; x = x[i]; y = y[i]
            from same on one knowing all
            from other knowing all with p = a*y - U1; q = b*y - U2
            from same on one knowing all with a = b; a[i] = b[i]; U1 = U2
            from both knowing all
            => x == y
        [term] If one level is higher and the other lower, no job has a negative term.
            demands 1; demands 2; shares 1: a*x <= T1; shares 2: b*x <= T2; shares 3; shares 4; bottleneck 1;
            bottleneck 2; above: T1 > U1; below: T2 < U2
            => (x - y)*(a*T2 - b*U1) >= 0
            by demands 1 * demands 2 | x - y; shares 2 * shares 3; shares 2 * above; shares 3 * below
        # What stands in the formula above must be 0 then, part by part.
        [two] A job whose term is not positive holds all of the level of x of the second resource,
            demands 1; demands 2; shares 1; shares 2; shares 3; shares 4; bottleneck 1; bottleneck 2; above;
            below; not positive: (x - y)*(a*T2 - b*U1) <= 0
            => b*x >= T2
            by demands 1 * demands 2 | x - y; shares 2 * shares 3; not the conclusion * above;
            shares 3 * below
        [one] and all of the level of y of the first one,
            demands 1; demands 2; shares 1; shares 2; shares 3; shares 4; bottleneck 1; bottleneck 2; above;
            below; not positive
            => a*y >= U1
            by demands 1 * demands 2 | x - y; shares 2 * shares 3; not the conclusion * below;
            shares 2 * above
        [square] and its tasks differ only if it demands one resource alone.
            demands 1; demands 2; shares 1; shares 2; shares 3; shares 4; bottleneck 1; bottleneck 2; above;
            below; not positive
            => a*b*(x - y)**2 <= 0
            by shares 2 * shares 3; shares 2 * above; shares 3 * below
        [some] But it demands what it holds of.
            demands: b >= 0; tasks: x >= 0; levels: T > 0; held: b*x >= T
            => b > 0
            by not the conclusion * tasks
        [alike] So its tasks are the same.
            some 1: a > 0; some 2: b > 0; square: a*b*(x - y)**2 <= 0
            => x == y
            by some 1 * some 2 * not the conclusion
        [equal] The term of a job is 0 for equal tasks only.
            demands 1; demands 2; tasks 1; tasks 2; levels 2; levels 3; shares 1; shares 2; shares 3;
            shares 4;
            bottleneck 1; bottleneck 2; above; below; not positive
            from two knowing all
            from one knowing all
            from square knowing all
            from some knowing all with T = T2
            from some knowing all with b = a; x = y; T = U1
            from alike knowing all
            => x == y
        [room] A resource with a level below another one is full.
            full: (1 - T)*(1 - L) == 0; levels: U <= 1; below: T < U
            => L >= 1
        [sum] The terms do not add up to more than 0.
            fits 1; fits 4: b*y + sum[i](b[i]*y[i]) <= 1; reached 2: b*x + sum[i](b[i]*x[i]) >= 1;
            reached 3: a*y + sum[i](a[i]*y[i]) >= 1; levels 2; levels 3;
            term: (x[i] - y[i])*(a[i]*T2 - b[i]*U1) >= 0
            => (x - y)*(a*T2 - b*U1) <= 0
            by term; levels 2 * fits 1; levels 2 * reached 3; levels 3 * fits 4; levels 3 * reached 2
        [crossed] So all run the same.
            demands 1; demands 2; demands 3; demands 4; tasks 1; tasks 2; levels 2; levels 3;
            levels 5: T1 <= 1;
            levels 8: U2 <= 1;
            shares 1; shares 2; shares 3; shares 4; shares 5: a[i]*x[i] <= T1; shares 6: b[i]*x[i] <= T2;
            shares 7;
            shares 8; bottleneck 1; bottleneck 2; bottleneck 3;
            bottleneck 4: a[i]*y[i] == U1 or b[i]*y[i] == U2;
            fits 1; fits 4; full 2: (1 - T2)*(1 - b*x - sum[i](b[i]*x[i])) == 0; full 3; above;
            below: T2 < U2
            from term knowing all with a = a[i]; b = b[i]; x = x[i]; y = y[i]
            from room knowing all with T = T2; U = U2; L = b*x + sum[i](b[i]*x[i])
            from room knowing all with T = U1; U = T1; L = a*y + sum[i](a[i]*y[i])
            from sum knowing all
            from equal knowing all
            => x == y
        [not both] A level cannot be both higher and lower.
            higher: p > q; lower: p < q
            => 0 == 1
        [unique] Of the levels either none is higher, or none is lower, or one is and the other is not.
            demands 1; demands 2; demands 3; demands 4; tasks 1; tasks 2; tasks 3; tasks 4; levels 1;
            levels 2;
            levels 3; levels 4; levels 5; levels 6: T2 <= 1; levels 7: U1 <= 1; levels 8; shares 1; shares 2;
            shares 3; shares 4; shares 5; shares 6; shares 7; shares 8; bottleneck 1; bottleneck 2;
            bottleneck 3;
            bottleneck 4; fits 1; fits 2; fits 3: a*y + sum[i](a[i]*y[i]) <= 1; fits 4;
            full 1: (1 - T1)*(1 - a*x - sum[i](a[i]*x[i])) == 0; full 2; full 3; full 4
            cases T1 > U1; T1 < U1; T2 > U2; T2 < U2
            from not both knowing all with p = T1; q = U1
            from not both knowing all with p = T2; q = U2
            from ordered knowing all
            from ordered knowing all with x = y; y = x; x[i] = y[i]; y[i] = x[i]; T1 = U1; U1 = T1; T2 = U2;
            U2 = T2
            from crossed knowing all
            from crossed knowing all with x = y; y = x; x[i] = y[i]; y[i] = x[i]; T1 = U1; U1 = T1; T2 = U2;
            U2 = T2
            => x == y
        # Now s1, s2 and t1, t2 are the largest shares under x and y. "(a x = s1 and 1 is full) or (b x = s2
        # and 2 is full)" is four relations with "or".
        [most] Nobody holds more than everything.
            largest: h <= s; at most: s <= 1
            => h <= 1
        [sinks] If nobody held anything,
            largest: h <= s; not positive: s <= 0
            => h <= 0
        [empty] a resource would not be full: this cannot be.
            full: h + sum[i](h[i]) == 1; sinks: h <= 0; sinks 1: h[i] <= 0
            => 0 == 1
        [positive] So the largest share of a full resource is positive.
            full: h + sum[i](h[i]) == 1; largest: h <= s; largest 1: h[i] <= s
            cases s > 0
            from sinks knowing all
            from sinks knowing all with h = h[i]
            from empty knowing all
            => s > 0
        [filled] If a resource is full, its level may be below 1.
            full: L == 1
            => (1 - T)*(1 - L) == 0
            by full | 1 - T
            degree 2
        [one of two] Who holds one level, holds one or the other.
            held: p == 0
            => p*q == 0
            by held | q
            degree 2
        [neither] As there is a bottleneck, it cannot be that no resource is full.
            other: q == 0; not that: q != 0
            => 0 == 1
        [half] If y has its largest shares, and x levels: y has levels, too.
            demands 1: a >= 0; demands 2: b >= 0; demands 3: a[i] >= 0; demands 4: b[i] >= 0;
            tasks 1: x >= 0; tasks 2: y >= 0; tasks 3: x[i] >= 0; tasks 4: y[i] >= 0; levels 1: T1 > 0;
            levels 2: T2 > 0; levels 5: T1 <= 1; levels 6: T2 <= 1; shares 1: a*x <= T1;
            shares 2: b*x <= T2; shares 5: a[i]*x[i] <= T1; shares 6: b[i]*x[i] <= T2;
            bottleneck 1: a*x == T1 or b*x == T2; bottleneck 3: a[i]*x[i] == T1 or b[i]*x[i] == T2;
            full 1: (1 - T1)*(1 - a*x - sum[i](a[i]*x[i])) == 0;
            full 2: (1 - T2)*(1 - b*x - sum[i](b[i]*x[i])) == 0; largest 7: a*y <= t1;
            largest 8: b*y <= t2; largest 9: a[i]*y[i] <= t1; largest 10: b[i]*y[i] <= t2;
            largest 11: t1 <= 1; largest 12: t2 <= 1; bottleneck 8: a*y == t1 or b*y == t2;
            bottleneck 9: a*y == t1 or b*y + sum[i](b[i]*y[i]) == 1;
            bottleneck 10: a*y + sum[i](a[i]*y[i]) == 1 or b*y == t2;
            bottleneck 11: a*y + sum[i](a[i]*y[i]) == 1 or b*y + sum[i](b[i]*y[i]) == 1;
            bottleneck 12: a[i]*y[i] == t1 or b[i]*y[i] == t2;
            bottleneck 13: a[i]*y[i] == t1 or b*y + sum[i](b[i]*y[i]) == 1;
            bottleneck 14: a*y + sum[i](a[i]*y[i]) == 1 or b[i]*y[i] == t2;
            fits 1: a*x + sum[i](a[i]*x[i]) <= 1; fits 2: b*x + sum[i](b[i]*x[i]) <= 1;
            fits 3: a*y + sum[i](a[i]*y[i]) <= 1; fits 4: b*y + sum[i](b[i]*y[i]) <= 1
            cases a*y + sum[i](a[i]*y[i]) == 1; b*y + sum[i](b[i]*y[i]) == 1
            from positive knowing all with h = a*y; h[i] = a[i]*y[i]; s = t1
            from positive knowing all with h = b*y; h[i] = b[i]*y[i]; s = t2
            from most knowing all with h = a*y; s = t1
            from most knowing all with h = a[i]*y[i]; s = t1
            from most knowing all with h = b*y; s = t2
            from most knowing all with h = b[i]*y[i]; s = t2
            from filled knowing all with L = a*y + sum[i](a[i]*y[i]); T = t1
            from filled knowing all with L = b*y + sum[i](b[i]*y[i]); T = t2
            from other knowing all with p = a*y + sum[i](a[i]*y[i]) - 1; q = b*y + sum[i](b[i]*y[i]) - 1
            from neither knowing all with q = b*y + sum[i](b[i]*y[i]) - 1
            from other knowing all with p = b*y + sum[i](b[i]*y[i]) - 1; q = a*y - t1
            from other knowing all with p = a*y + sum[i](a[i]*y[i]) - 1; q = b*y - t2
            from one of two knowing all with p = a*y - t1; q = b*y - 1
            from one of two knowing all with p = b*y - t2; q = a*y - 1
            from other knowing all with p = b*y + sum[i](b[i]*y[i]) - 1; q = a[i]*y[i] - t1
            from other knowing all with p = a*y + sum[i](a[i]*y[i]) - 1; q = b[i]*y[i] - t2
            from one of two knowing all with p = a[i]*y[i] - t1; q = b[i]*y[i] - 1
            from one of two knowing all with p = b[i]*y[i] - t2; q = a[i]*y[i] - 1
            from unique knowing all with U1 = t1; U2 = t2
            from unique knowing all with U1 = t1; U2 = 1
            from unique knowing all with U1 = 1; U2 = t2
            => x == y
        So it is for any two allocations that are bottleneck-max fair.
            demands 1; demands 2; demands 3; demands 4; tasks 1; tasks 2; tasks 3; tasks 4;
            largest 1: a*x <= s1; largest 2: b*x <= s2; largest 3: a[i]*x[i] <= s1;
            largest 4: b[i]*x[i] <= s2; largest 5: s1 <= 1; largest 6: s2 <= 1;
            bottleneck 1: a*x == s1 or b*x == s2; bottleneck 2: a*x == s1 or b*x + sum[i](b[i]*x[i]) == 1;
            bottleneck 3: a*x + sum[i](a[i]*x[i]) == 1 or b*x == s2;
            bottleneck 4: a*x + sum[i](a[i]*x[i]) == 1 or b*x + sum[i](b[i]*x[i]) == 1;
            bottleneck 5: a[i]*x[i] == s1 or b[i]*x[i] == s2;
            bottleneck 6: a[i]*x[i] == s1 or b*x + sum[i](b[i]*x[i]) == 1;
            bottleneck 7: a*x + sum[i](a[i]*x[i]) == 1 or b[i]*x[i] == s2; largest 7; largest 8; largest 9;
            largest 10; largest 11; largest 12; bottleneck 8; bottleneck 9; bottleneck 10; bottleneck 11;
            bottleneck 12; bottleneck 13; bottleneck 14; fits 1; fits 2; fits 3; fits 4
            cases a*x + sum[i](a[i]*x[i]) == 1; b*x + sum[i](b[i]*x[i]) == 1
            from positive knowing all with h = a*x; h[i] = a[i]*x[i]; s = s1
            from positive knowing all with h = b*x; h[i] = b[i]*x[i]; s = s2
            from most knowing all with h = a*x; s = s1
            from most knowing all with h = a[i]*x[i]; s = s1
            from most knowing all with h = b*x; s = s2
            from most knowing all with h = b[i]*x[i]; s = s2
            from filled knowing all with L = a*x + sum[i](a[i]*x[i]); T = s1
            from filled knowing all with L = b*x + sum[i](b[i]*x[i]); T = s2
            from other knowing all with p = a*x + sum[i](a[i]*x[i]) - 1; q = b*x + sum[i](b[i]*x[i]) - 1
            from neither knowing all with q = b*x + sum[i](b[i]*x[i]) - 1
            from other knowing all with p = b*x + sum[i](b[i]*x[i]) - 1; q = a*x - s1
            from other knowing all with p = a*x + sum[i](a[i]*x[i]) - 1; q = b*x - s2
            from one of two knowing all with p = a*x - s1; q = b*x - 1
            from one of two knowing all with p = b*x - s2; q = a*x - 1
            from other knowing all with p = b*x + sum[i](b[i]*x[i]) - 1; q = a[i]*x[i] - s1
            from other knowing all with p = a*x + sum[i](a[i]*x[i]) - 1; q = b[i]*x[i] - s2
            from one of two knowing all with p = a[i]*x[i] - s1; q = b[i]*x[i] - 1
            from one of two knowing all with p = b[i]*x[i] - s2; q = a[i]*x[i] - 1
            from half knowing all with T1 = s1; T2 = s2
            from half knowing all with T1 = s1; T2 = 1
            from half knowing all with T1 = 1; T2 = s2
            => x == y (as stated)
    """
