"""A. Ghodsi et al., "Dominant Resource Fairness: Fair Allocation of Multiple Resource Types", NSDI 2011.

The linear program behind DRF, uniqueness of CEEI, whole tasks, and why no policy can have all properties. The
example of 9 CPUs and 18 GB is :mod:`proofs.catalogue.drf.examples`, the table of properties
:mod:`proofs.catalogue.drf.table`.
"""

from __future__ import annotations

from collections.abc import Iterator

from proofs.catalogue.chapter import Chapter
from proofs.catalogue.drf.table import SOURCE
from proofs.catalogue.examples import against, every
from proofs.claims import Claim, Counterexample
from proofs.statement import Question, Said

__all__ = ["STATEMENTS"]

STATEMENTS = Chapter(SOURCE)


@STATEMENTS.add("drf-equal-shares")
def _equal_shares(question: Question) -> None:
    r"""With equal dominant shares, an allocation is the largest one if and only if some resource is full.

    .. math:: \max s:\ x_i\max_j a_{ij} = s,\ \textstyle\sum_i x_i a_{ij}\le 1 \iff \exists j:\ \sum_i x_i
        a_{ij} = 1

    Hypotheses
        equal*: all have the same dominant share
        demand: dominant demands are positive
        use: everybody uses the resource that is full
        full*: a resource is full
        feasible*: the other allocation fits
        room*: or all resources have room, the least of them m
        bound: a unit of dominant shares holds at most B of each resource, which is positive
        step: e is m over B
        signs: demands and tasks are not negative
    Place: section 4.1, the linear program
    Scope: all real demands > 0, any numbers of users and resources

    Proof
        [more] At a higher common dominant share everybody would run more,
            equal: x*d == s; equal 1: z*d == t; demand: d > 0; risen: t > s
            => z > x
            degree 2
        [overfull] which cannot fit into the resource that is full.
            full: sum[i](x[i]*a[i]) + x*a == 1; feasible: sum[i](z[i]*a[i]) + z*a <= 1; use: a[i] > 0;
            use 1: a > 0; more: z[i] > x[i]; more 1: z > x
            => 0 == 1
            by more * use; more 1 * use 1
        So with a full resource no larger share fits.
            full; feasible; use; use 1; equal: x[i]*d[i] == s; equal 1: z[i]*d[i] == t; equal 2: x*d == s;
            equal 3: z*d == t; demand: d[i] > 0; demand 1: d > 0
            cases t > s
            from more knowing all with x = x[i]; z = z[i]; d = d[i]
            from more knowing all
            from overfull knowing all
            => t <= s (as stated)
        Conversely, where all have room the larger share s + e fits: c are tasks for each unit of the share,
            equal: x[i] == s*c[i]; room: sum[i](x[i]*a[i]) <= 1 - m; bound: sum[i](c[i]*a[i]) <= B;
            bound 1: B > 0; step: e*B == m; room 1: m > 0; a[i] >= 0; c[i] >= 0; x[i] >= 0
            => sum[i]((s + e)*c[i]*a[i]) <= 1 (as stated)
            by equal | a[i]; bound * room 1; not the conclusion * bound 1
            degree 2
        as e is positive.
            step; bound 1; room 1
            => e > 0 (as stated)
            degree 2
    """


@STATEMENTS.add("drf-filling")
def _filling(question: Question) -> Iterator[Claim]:
    r"""Filling ends with a full resource and equal dominant shares (DRF) or equal sums of shares (asset
    fairness).

    .. math:: x_i \max_j a_{ij}/c_j = s \text{ or } x_i \textstyle\sum_j a_{ij}/c_j = s, \quad \exists j:\
        \sum_i x_i a_{ij} = c_j

    Hypotheses
        demand*: demands are positive
        stops*: nobody goes beyond the level at which a resource that it demands gets full
        goes on*: and everybody goes on to the level of one of them, a mean of levels by weights 1 and 0
        first*: one resource is full first, or together with others
        level*: levels are dominant shares, or sums of shares
    Place: sections 4 and 5.1
    Scope: any numbers of users and resources; besides three users on two resources, demands 1, 2, capacities
        1, 2, 3
    Remark: This is what the proofs of the table start from. The resource that is full first, at the level s,
        is full in the end.

    Proof
        DRF, every case.
            Computed.
        Asset fairness, every case.
            Computed.
        # L: level at which a user stops, a: its demand for the resource that is full first, at the level s;
        # s[j]:
        # levels at which the others get full; w, w[j]: weights.
        [most] Everybody demands something of the resource that is full first, and so stops at its level at
        last,
            demand: a > 0; stops: a*(s - L) >= 0
            => L <= s
            by demand * not the conclusion
        [least] and nobody stops before, as no resource is full before.
            goes on: L == w*s + sum[j](w[j]*s[j]); goes on 1: w + sum[j](w[j]) == 1; goes on 2: w[j] >= 0;
            first: s <= s[j]
            => L >= s
            by first * goes on 2; goes on 1 | s
        [both] So filling stops once, for all.
            most: L <= s; least: L >= s; level: x*d == L
            => x*d == s
        All have the same level.
            demand; stops; goes on; goes on 1; goes on 2; first; level
            from most knowing all
            from least knowing all
            from both knowing all
            => x*d == s (as stated)
    """
    least = 1 if question.holds("demand") else 0
    sizes = {"least_demand": least, "largest_demand": 2, "largest_capacity": 3}
    yield every("levels_and_full", policy="drf", **sizes)
    yield every("levels_and_full", policy="asset", **sizes)


@STATEMENTS.add("drf-ceei-unique", said=Said.READER)
def _ceei_unique(question: Question) -> None:
    r"""All competitive equilibria from equal incomes give the same tasks.

    .. math:: x_i\, p a_i = 1 = x_i'\, p' a_i \Rightarrow x = x'

    Hypotheses
        price*: prices are >= 0
        incomes*: prices add up to the incomes
        feasible*: both equilibria fit
        income*: everybody spends an income of 1
        positive*: tasks are positive
    Place: section 5.2, competitive equilibrium from equal incomes; uniqueness is not said
    Scope: all real demands > 0, any numbers of users and resources

    Proof
        # x at prices p, z at prices q; user 1, and the others.
        [worth] What fits costs at most all incomes.
            feasible: z1*a1[j] + sum[i](z[i]*a[i,j]) <= 1; price: p[j] >= 0;
            incomes: sum[j](p[j]) == 1 + sum[i](1)
            => z1*sum[j](p[j]*a1[j]) + sum[i](z[i]*sum[j](p[j]*a[i,j])) <= 1 + sum[i](1)
            by feasible * price
        [ratio] The cost z P of the tasks of one equilibrium at the prices of the other one is a ratio of
        tasks, and x Q its inverse.
            income: x*P == 1; other income: z*Q == 1
            => (z*P)*(x*Q) == 1
            degree 3
        [positive] Both are positive.
            positive: x > 0; other: z > 0; other income
            => x*Q > 0
            degree 2
        [one] Ratios and their inverses that add up to at most n both are all 1.
            ratios: t[i]*r[i] == 1; ratio: t1*r1 == 1; positives: r[i] > 0; positive: r1 > 0;
            one way: t1 + sum[i](t[i]) <= 1 + sum[i](1); other way: r1 + sum[i](r[i]) <= 1 + sum[i](1)
            => t1 == 1
            by positives | t[i] - 1; positive * not the conclusion; ratios | t[i]
        [same] Then the tasks are the same.
            income; ratio: z*P == 1; positive: x > 0
            => x == z
            degree 3
        So user 1, any user, runs the same tasks.
            price: p[j] >= 0; price 1: q[j] >= 0; incomes; incomes 1: sum[j](q[j]) == 1 + sum[i](1); feasible;
            feasible 1: x1*a1[j] + sum[i](x[i]*a[i,j]) <= 1; income: x1*sum[j](p[j]*a1[j]) == 1;
            income 1: x[i]*sum[j](p[j]*a[i,j]) == 1; income 2: z1*sum[j](q[j]*a1[j]) == 1;
            income 3: z[i]*sum[j](q[j]*a[i,j]) == 1; positive: x1 > 0; positive 1: x[i] > 0;
            positive 2: z1 > 0; positive 3: z[i] > 0
            from worth knowing all
            from worth knowing all with p[j] = q[j]; z1 = x1; z[i] = x[i]
            from ratio knowing all with x = x1; z = z1; P = sum[j](p[j]*a1[j]); Q = sum[j](q[j]*a1[j])
            from ratio knowing all with x = x[i]; z = z[i]; P = sum[j](p[j]*a[i,j]); Q = sum[j](q[j]*a[i,j])
            from positive knowing all with x = x1; z = z1; Q = sum[j](q[j]*a1[j])
            from positive knowing all with x = x[i]; z = z[i]; Q = sum[j](q[j]*a[i,j])
            from one knowing all with t1 = z1*sum[j](p[j]*a1[j]); r1 = x1*sum[j](q[j]*a1[j]);
            t[i] = z[i]*sum[j](p[j]*a[i,j]); r[i] = x[i]*sum[j](q[j]*a[i,j])
            from same knowing all with x = x1; z = z1; P = sum[j](p[j]*a1[j])
            => x1 == z1 (as stated)
    """


@STATEMENTS.add("drf-no-policy-has-all")
def _impossible(question: Question) -> None:
    r"""No policy has the sharing incentive, Pareto efficiency and resource monotonicity together.

    .. math:: \text{SI} \wedge \text{PE} \Rightarrow \neg\,\text{RM}

    Hypotheses
        sharing incentive*: everybody runs at least what an equal part runs, after the change
        part*: that is the most that fits into half of the pool
        efficiency*: before the change nobody can run 1/12 of a task more, as some resource would hold more
            than its capacity
        fullest: that is a mean by weights, 1 for this resource and 0 for the other
        monotone*: nobody runs less after the change
        fits*: all allocations fit
    Place: section 6, resource monotonicity
    Scope: all policies; two users and two resources: demands are (2, 1) and (1, 2), and there is one unit of
        each resource, or two of one of them
    Remark: The sharing incentive is used after the change only, and efficiency before it only.

    Proof
        # x, y: tasks before; X1, Y1 with the first doubled, X2, Y2 with the second doubled; h and k: what
        # half of the pool runs of the user who needs it most; p, q: weights of the resources.
        [half] Half of a pool runs 1/2 of the user who needs it most.
            part 1: 2*h <= 1; part 2: h <= 1/2; part 3: 2*h == 1 or h == 1/2
            => h >= 1/2
        [quarter] So it leaves at most 1/4 for the other user,
            half: h >= 1/2; sharing incentive: X >= h; fits: X + 2*Y <= 1; monotone: Y >= y
            => y <= 1/4
        [mean] and before the change both resources have room for 1/12 of a task.
            quarter 1: x <= 1/4; quarter 2: y <= 1/4; fullest 1: p >= 0; fullest 2: q >= 0;
            fullest 3: p + q == 1
            => p*(2*(x + 1/12) + y) + q*(x + 1/12 + 2*y) <= 1
            by quarter 1 * fullest 1; quarter 2 * fullest 1; quarter 1 * fullest 2; quarter 2 * fullest 2
        [both] It cannot be that something is more than the capacity and no more than that.
            more: u > 1; no more: u <= 1
            => 0 == 1
        So no policy has all three: this is a contradiction.
            efficiency: p*(2*(x + 1/12) + y) + q*(x + 1/12 + 2*y) > 1; fullest 1; fullest 2; fullest 3;
            part 1; part 2; part 3; part 4: 2*k <= 1; part 5: k <= 1/2; part 6: 2*k == 1 or k == 1/2;
            sharing incentive 1: X1 >= h; sharing incentive 2: Y2 >= k; fits 1: X1 + 2*Y1 <= 1;
            fits 2: Y2 + 2*X2 <= 1; monotone 1: Y1 >= y; monotone 2: X2 >= x
            from half knowing all
            from half knowing all with h = k
            from quarter knowing all with X = X1; Y = Y1
            from quarter knowing all with h = k; X = Y2; Y = X2; y = x
            from mean knowing all
            from both knowing all with u = p*(2*(x + 1/12) + y) + q*(x + 1/12 + 2*y)
            => 0 == 1 (as stated)
    """


@STATEMENTS.add("drf-whole-tasks-gap")
def _gap(question: Question) -> Iterator[Claim]:
    r"""When whole tasks start one by one for the poorest, two dominant shares never differ by more than the
    share of one task.

    .. math:: s_i - s_k \le \max_j a_{ij}/c_j

    Hypotheses
        poorest*: who is served is no richer than the other
        task*: tasks hold something, or nothing
        steps: in a step a user starts a task or none
        start*: at first both have the same
    Place: section 4.2, and section 6 on discrete resources
    Scope: each pair of any users, any resources and demands, after any number of tasks; besides all pools of
        two users with demands to 3, capacities to 6
    Remark: The bound is attained, after the first task of two equal users.

    Proof
        Two users on two resources, every case.
            Computed.
        # s, r: shares of two users, d and e those of their tasks; u, w: whether they start one in a step.
        If the one who starts a task was the poorest, her share exceeds the other by at most d;
        if the other one starts a task, by less than before; and else by as much.
            poorest: u[n]*(r[n] - s[n]) >= 0; task: d >= 0; task 1: e >= 0; start: s[0] == r[0];
            steps 1: s[n+1] == s[n] + d*u[n]; steps 2: r[n+1] == r[n] + e*w[n]; steps 3: 0 <= u[n];
            steps 4: u[n] <= 1; steps 5: w[n] >= 0
            => s[n] - r[n] <= d (as stated)
            by steps 4 * induction; task 1 * steps 5
            degree 2
    """
    sizes = {"largest_demand": 3, "largest_capacity": 6, "poorest": question.holds("poorest")}
    yield every("whole_task_gaps", **sizes)


@STATEMENTS.refute("drf-machines-within-one-task", said=Said.READER)
def _machines_within_one_task() -> Counterexample:
    r"""Read as a bound on what one user loses: if each machine can hold the largest task, whole tasks on
    machines give everybody the divisible share up to one largest task.

    .. math:: |s_i^{\text{whole}} - s_i| \le \max_{k,j} a_{kj}/c_j

    Place: section 6, discrete resources on many machines
    Scope: all equal machines
    Case: On three machines of 3 units, tasks of 2 units: 3 whole ones against 9/2.
    Remark: Not what the paper says, but a reading of it: what each machine cannot use adds up. What the paper
        bounds is the gap between two users, which is at most one task: drf-whole-tasks-gap.
    """
    return against("machine_deviation", demand=2, capacity=3, machines=3)
