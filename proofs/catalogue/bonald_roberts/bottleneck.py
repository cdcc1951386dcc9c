r"""Bonald and Roberts (2014), continued: bottleneck-max fair (BMF) allocations exist, and may be many.

Existence is a fixed point. Give each resource j a level :math:`\theta_j`, the largest share of it that
anybody may hold, and let every user run what its levels allow:

.. math:: \varphi_i(\theta) = \min_{j: a_{ij} > 0} \theta_j/a_{ij}, \qquad
          L_j(\theta) = \sum_i a_{ij}\varphi_i(\theta).

Lower the level of what overflows and raise that of what has room, between a small :math:`e < 1/n` and 1:
:math:`\theta_j \leftarrow \min(1, \max(e, \theta_j + 1 - L_j(\theta)))`. This is a continuous map of a cube
into itself, so by Brouwer's theorem it leaves some :math:`\theta` where it is. There no level is at the lower
end, because :math:`L_j \le n\theta_j`; so no resource overflows, and what is not full has the level 1. The
resource that decides the tasks of a user is full, since a share of 1 fills a resource as well, and nobody
holds more of it than its level, which is what that user holds: :math:`\varphi(\theta)` is BMF. Nothing is
asked of the demands but that everybody demands something.

The library finds such allocations on a path: a common cap on everybody's tasks is one more resource, and the
cap moves until nobody follows it. That this path ends is shown for examples only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from proofs.catalogue.bonald_roberts.model import SOURCE
from proofs.catalogue.chapter import Chapter
from proofs.catalogue.examples import against, computed, every, model
from proofs.claims import Claim, Counterexample, Step
from proofs.statement import Question, Said

__all__ = ["STATEMENTS"]

STATEMENTS = Chapter(SOURCE)


@STATEMENTS.add("br-bmf-exists")
def _existence(question: Question) -> Iterator[Claim]:
    r"""A bottleneck-max fair allocation exists for all demands.

    .. math:: \exists \varphi: \forall i\ \exists j:\ \varphi a_j = 1,\ \varphi_i a_{ij} = \max_k \varphi_k
        a_{kj}

    Hypotheses
        map*: the map adds the room, 1 less the load, to each level
        cut off below*: and cuts off below: a fixed level above the lower end has no room left
        cut off above*: and above: a fixed level below 1 does not overflow
        levels*: no share exceeds the level of its resource
        small*: the lower end is below 1/n
        users: there is a user
        decides*: some resource decides the tasks of a user, who holds its level
        signs: shares are not negative
    Place: slide on the existence of bottleneck-max fairness
    Scope: each resource and user of a fixed point of the map; all demands with which everybody demands
        something, any numbers of jobs and resources
    Remark: A conjecture in the slides of 2014; a proof appears with hal-01243985. This one is short, and
        needs no general position of the demands. Earlier work shows that allocations without justified
        complaints exist, which is weaker (br-bmf-no-justified-complaints): D. Dolev et al., "No justified
        complaints", ITCS 2012, arXiv:1106.2673, by a construction of its own, and A. Gutman and N. Nisan,
        AAMAS 2012, arXiv:1204.4286, by a competitive equilibrium, in polynomial time. Ours are the levels,
        the map, and the largest share for everybody, of which theirs need not have one.
    Reading: The map of the levels has a fixed point, by Brouwer's theorem, which is quoted: tasks are least
        values of linear functions of the levels, loads are sums of them, and to cut off is continuous, so
        the map is continuous, and it takes the cube of all levels from e to 1 into itself. Where each
        resource fits, and everybody has the largest share of a full one, tasks are bottleneck-max fair.

    Proof
        # t: level of a resource, v: where the map takes it before it is cut off, h: shares of it, L: its
        # load; e: the lower end.
        [at most] The load of a resource is at most n times its level.
            levels: h[i] <= t
            => sum[i](h[i]) <= sum[i](1)*t
        [full level] At a fixed point a resource with room has the level 1,
            map: v == t + 1 - L; cut off below: (t - e)*(v - t) >= 0; cut off above: (1 - t)*(t - v) >= 0;
            room: L < 1
            => t >= 1
        [above it] which is above the lower end;
            small: n*e < 1; users: n >= 1; full level: t >= 1
            => t > e
        [above] and so is the level of a resource without room.
            small; users; at most: L <= n*t; no room: L >= 1
            => t > e
        [fits] So it does not overflow.
            map; cut off below; cut off above; above: t > e
            => L <= 1
        No resource overflows.
            map: v == t + 1 - sum[i](h[i]); cut off below; cut off above; levels; small: sum[i](1)*e < 1;
            users: sum[i](1) >= 1
            cases sum[i](h[i]) < 1
            from at most knowing all
            from full level knowing all with L = sum[i](h[i])
            from above it knowing all with n = sum[i](1)
            from above knowing all with n = sum[i](1); L = sum[i](h[i])
            from fits knowing all with L = sum[i](h[i])
            => sum[i](h[i]) <= 1 (as stated)
        [own] The load is at least the share of a user.
            h[i] >= 0
            => h + sum[i](h[i]) >= h
        [decided] The resource that decides the tasks of a user is full: its level is below 1, so that it has
        no room, or it is 1, and the share of the user alone fills it.
            map: v == t + 1 - L; cut off above; decides: h == t; own: L >= h
            => L >= 1
        So it is, of all users.
            map: v == t + 1 - h - sum[i](h[i]); cut off above; decides; h[i] >= 0
            from own knowing all
            from decided knowing all with L = h + sum[i](h[i])
            => h + sum[i](h[i]) >= 1 (as stated)
        And nobody holds a larger share of it.
            decides; levels: g <= t
            => g <= h (as stated)
        The other way round: with the largest share of each full resource as its level, and 1 for the others,
        every BMF allocation of small pools is such a fixed point, and every pool has one.
            Computed.
    """
    yield every("bmf_fixed_points", sizes=[[2, 2, 3], [3, 2, 1], [2, 3, 1]])


@STATEMENTS.add("br-bmf-no-justified-complaints", said=Said.READER)
def _no_complaints(question: Question) -> None:
    r"""Under bottleneck-max fairness with weights everybody has at least its entitlement of a full resource,
    so that nobody has a justified complaint.

    .. math:: \frac{h_{ij}}{w_i} = \max_k \frac{h_{kj}}{w_k},\ \sum_k h_{kj} = 1,\ \sum_k w_k = 1 \implies
        h_{ij} \ge w_i

    Hypotheses
        bottleneck*: nobody holds more of the bottleneck by weight
        full*: the bottleneck is full
        entitlements*: weights are entitlements, parts of each resource that add up to 1
        weight: weights are positive
        signs: shares are not negative
    Place: not in the slides; D. Dolev et al., arXiv:1106.2673, for bottleneck-max fairness
    Scope: all demands, weights and BMF allocations, any numbers of users and resources
    Remark: By br-bmf-exists such allocations exist for equal weights, as Dolev et al. and A. Gutman and N.
        Nisan (arXiv:1204.4286) have shown in other ways. Not conversely: br-complaint-free-is-bmf.

    Proof
        A user of entitlement w that holds s of a full resource, and by weight no less than anybody, has at
        least w.
            bottleneck: h[i]*w <= s*w[i]; full: sum[i](h[i]) == 1; entitlements: sum[i](w[i]) == 1;
            weight: w > 0; h[i] >= 0; s >= 0
            => s >= w (as stated)
            by bottleneck; full | w; entitlements | s
    """


@STATEMENTS.refute("br-complaint-free-is-bmf", said=Said.READER)
def _complaint_free_is_bmf() -> Counterexample:
    r"""Where nobody has a justified complaint the allocation is bottleneck-max fair.

    .. math:: \forall i\ \exists j:\ \varphi a_j = 1,\ \varphi_i a_{ij} \ge 1/n \implies \varphi\text{ BMF}

    Place: not in the slides; the converse of br-bmf-no-justified-complaints
    Scope: all pools; refuted by one
    Case: Users of demands (4, 1), (5, 1) and (1, 8) run 1/10 of a task each. Of resource 1 user 1 has 2/5,
        more than a third, but user 2 has 1/2.
    Remark: So existence of bottleneck-max fair allocations (br-bmf-exists) does not follow from that of
        allocations without justified complaints (arXiv:1106.2673, arXiv:1204.4286).
    """
    return against(
        "complaint_free_is_bmf",
        demands=[[4, 1], [5, 1], [1, 8]],
        capacities=[1, 1],
        tasks=["1/10", "1/10", "1/10"],
    )


@STATEMENTS.add("br-best-rank")
def _best_rank(question: Question) -> None:
    r"""When the job with the lowest best rank of bottleneck shares has rank 1, the shares are bottleneck-max
    fair, and conversely.

    .. math:: \max_i \min_{j \text{ full}} \bigl(1 + |\{k: \varphi_k a_{kj} > \varphi_i a_{ij}\}|\bigr) = 1
        \iff \varphi \text{ BMF}

    Hypotheses
        mark*: the mark of another job for a resource is 1 if it holds more of it, and 0 if not
        marks*: who is not marked holds no more
        no mark*: who is marked holds more, at least by the smallest gap between different shares
        gap: that gap is positive
        rank*: the rank of a job is 1 and the marks of the others
        attained*: the best rank of a job is that of one of its bottlenecks, told by weights 1 and 0 of the
            full resources
        worst*: no best rank is greater than the lowest one
        best*: the lowest one is 1
        least*: the best rank of a job is at most each of its ranks
        largest*: a job has the largest share of a full resource, told by weights 1 and 0
        lowest*: the lowest best rank is that of a job
    Place: slide "Bottleneck-max fairness", algorithm
    Scope: any numbers of jobs and full resources; each job, each of its bottlenecks and each other job; all
        shares
    Remark: The slide serves the job of the lowest best rank with whole tasks. What is said here is when no
        job has to be served before another; that whole tasks come near such shares is not proved.

    Proof
        # Of a job: s and s[j]: its shares of a full resource and of the others; r and r[j]: its ranks there;
        # w and w[j], weights; b, best rank; B, the lowest one. Of another job: h, h[j], shares, and z, z[j],
        # marks;
        # of
        # the rest, h[k], h[k,j], z[k], z[k,j].
        [above] No rank is below 1,
            rank: r == 1 + z + sum[k](z[k]); mark: z >= 0; mark 1: z[k] >= 0
            => r >= 1
        [paid] and in a mean of ranks that is at most 1 a rank with a weight is 1.
            attained: b == w*r + sum[j](w[j]*r[j]); attained 1: w + sum[j](w[j]) == 1; attained 2: w >= 0;
            attained 3: w[j] >= 0; above: r >= 1; above 1: r[j] >= 1; worst: b <= B; best: B <= 1
            => w*(r - 1) <= 0
            by attained 3 * above 1
        [unmarked] Then the other job has no mark there, nor has anybody,
            paid: w*(r - 1) <= 0; rank; mark; mark 1; attained 2: w >= 0
            => w*z <= 0
            by attained 2 * mark 1
        [zero] so that weight or mark is 0,
            unmarked: w*z <= 0; attained 2; mark
            => w*z == 0
            by unmarked * attained 2 * mark
        [no more] and it holds no more than the job.
            zero: w*z == 0; marks: (h - s)*(1 - z) <= 0; attained 2
            => w*(s - h) >= 0
            by attained 2 * marks; zero | h - s
        So if the lowest best rank is 1, everybody has the largest share of a full resource, that with the
        weight.
            attained: b == w*r + sum[j](w[j]*r[j]); attained 1; attained 2; attained 3; worst; best;
            rank; rank 1: r[j] == 1 + z[j] + sum[k](z[k,j]); mark; mark 1; mark 2: z[j] >= 0;
            mark 3: z[k,j] >= 0; marks
            from above knowing all
            from above knowing all with r = r[j]; z = z[j]; z[k] = z[k,j]
            from paid knowing all
            from unmarked knowing all
            from zero knowing all
            from no more knowing all
            => w*(s - h) >= 0 (as stated)
        [marked] Conversely, who has the largest share of a resource with the weight v sees no mark there,
            no mark: z*(h - s) >= z*g; gap: g > 0; mark: z >= 0; largest: v*(s - h) >= 0; largest 1: v >= 0
            => v*z <= 0
            by not the conclusion * gap; largest 1 * no mark; largest * mark
        [first] so that the rank is 1,
            rank: r == 1 + sum[k](z[k]); marked: v*z[k] <= 0
            => v*r <= v
            by marked; rank | v
        [least] the best rank is 1 as well,
            first: v[j]*r[j] <= v[j]; largest 1: v[j] >= 0; largest 2: sum[j](v[j]) == 1; least: b <= r[j]
            => b <= 1
            by first; least * largest 1; largest 2 | b
        [last] and the lowest one is that of a job.
            lowest: B == b; least: b <= 1
            => B <= 1
        So if everybody has the largest share of a full resource, the lowest best rank is 1.
            rank: r[j] == 1 + sum[k](z[k,j]); mark: z[k,j] >= 0; no mark: z[k,j]*(h[k,j] - s[j]) >= z[k,j]*g;
            gap; largest: v[j]*(s[j] - h[k,j]) >= 0; largest 1; largest 2; least: b <= r[j]; lowest
            from marked knowing all with v = v[j]; z = z[k,j]; h = h[k,j]; s = s[j]
            from first knowing all with v = v[j]; r = r[j]; z[k] = z[k,j]
            from least knowing all
            from last knowing all
            => B <= 1 (as stated)
    """


INSTANCES: tuple[tuple[list[list[int]], list[str]], ...] = (
    ([[1, 3], [3, 2]], ["1/6", "1/4"]),
    ([[4, 1], [2, 1], [1, 4]], ["3/29", "6/29", "5/29"]),
    ([[3, 1], [2, 1], [1, 3]], ["4/31", "6/31", "7/31"]),
)


@STATEMENTS.add("br-bmf-path", said=Said.READER)
def _path(question: Question) -> Iterator[Step]:
    r"""Under a common cap on tasks that moves from 0, bottleneck-max fair allocations of three examples form
    a path without a gap, which ends at one without the cap.

    .. math:: \varphi(t) \text{ BMF with } \varphi_i \le t, \text{ linear on pieces}

    Hypotheses
        ends*: the conditions hold at the ends of a piece
        between*: a point between the ends
        cap*: before its end, the path is under the cap
    Place: slide on the existence of bottleneck-max fairness; the path is not in the source
    Scope: three examples of two or three jobs and two resources, complete paths
    Remark: That the path ends for all demands in general position would need that its linear systems have one
        solution and that one condition at a time gets tight; neither is proved here. Existence does not rest
        on it: br-bmf-exists.

    Proof
        On a piece of the path tasks are linear in the cap, so that a condition that holds at both ends holds
        between them.
            ends 1: f >= 0; ends 2: g >= 0; between 1: w >= 0; between 2: w <= 1
            => (1 - w)*f + w*g >= 0
    """
    capped = question.holds("cap")
    for demands, end in INSTANCES:
        arguments: dict[str, Any] = model(demands, [1] * len(demands[0]))
        yield Step(
            f"Every piece of the path for {demands}: the conditions at both ends, and no gap.",
            every("bmf_path_pieces", **arguments, **({} if capped else {"capped": False})),
            states=True,
        )
        yield Step(f"Where it ends, for {demands}.", computed("bmf_path_end", **arguments, gives=end))


@STATEMENTS.add("br-bmf-segment")
def _segment(question: Question) -> Iterator[Claim]:
    r"""With demands (1,1,1), (2,1,3/2), (1,2,3/2) the bottleneck-max fair allocations are exactly the segment
    of all (1-3u, u, u) with u from 1/5 to 2/9.

    .. math:: \{(1-3u,u,u): 1/5 \le u \le 2/9\}

    Hypotheses
        fits*: no resource holds more than its capacity
        largest*: nobody holds more of a resource than its largest share
        bottleneck*: everybody has the largest share of a full resource
        line*: tasks are 1-3u, u and u
        above*: u is at least 1/5
        below*: u is at most 2/9
    Place: slide on uniqueness
    Scope: all real tasks
    Remark: Its ends are DRF, (2/5, 1/5, 1/5), and PF, (1/3, 2/9, 2/9).

    Proof
        # s1, s2, s3: largest shares of the resources. That one of three resources is full and that a user has
        # the largest share of this one, is eight relations with "or"; what follows uses four of each user.
        [room] What is not full has room.
            fits: S <= 1; not full: S != 1
            => S < 1
            by fits * not the conclusion
        [mean] Resource 3 holds the mean of what the others hold, so that it has room if resource 2 has.
            fits 1: x1 + 2*x2 + x3 <= 1; room: x1 + x2 + 2*x3 < 1
            => x1 + 3/2*x2 + 3/2*x3 < 1
        [not full] What has room is not full.
            room: S < 1
            => S != 1
        [third] Of three bottlenecks somebody has the third, if not the first and not the second.
            bottleneck: p == 0 or q == 0 or r == 0; not first: p != 0; not second: q != 0
            => r == 0
            by not first * not second * not the conclusion
        [overflow] If all had the largest share of resource 1, which is full, resource 2 would overflow: this
        cannot be.
            held 1: x1 == s; held 2: 2*x2 == s; held 3: x3 == s; full: x1 + 2*x2 + x3 == 1;
            fits 2: x1 + x2 + 2*x3 <= 1
            => 0 == 1
        [full] So resource 2 is full, for it is not so that resource 1 is the only one.
            fits 1; fits 2;
            bottleneck 1: x1 + x2 + 2*x3 == 1 or x1 + 3/2*x2 + 3/2*x3 == 1 or x1 + 2*x2 + x3 == 1;
            bottleneck 2: x1 + x2 + 2*x3 == 1 or x1 + 3/2*x2 + 3/2*x3 == 1 or x1 == s1;
            bottleneck 3: x1 + x2 + 2*x3 == 1 or x1 + 3/2*x2 + 3/2*x3 == 1 or 2*x2 == s1;
            bottleneck 4: x1 + x2 + 2*x3 == 1 or x1 + 3/2*x2 + 3/2*x3 == 1 or x3 == s1
            cases x1 + x2 + 2*x3 == 1
            from room knowing all with S = x1 + x2 + 2*x3
            from mean knowing all
            from not full knowing all with S = x1 + 3/2*x2 + 3/2*x3
            from third knowing all with p = x1 + x2 + 2*x3 - 1; q = x1 + 3/2*x2 + 3/2*x3 - 1;
            r = x1 + 2*x2 + x3 - 1
            from third knowing all with p = x1 + x2 + 2*x3 - 1; q = x1 + 3/2*x2 + 3/2*x3 - 1; r = x1 - s1
            from third knowing all with p = x1 + x2 + 2*x3 - 1; q = x1 + 3/2*x2 + 3/2*x3 - 1; r = 2*x2 - s1
            from third knowing all with p = x1 + x2 + 2*x3 - 1; q = x1 + 3/2*x2 + 3/2*x3 - 1; r = x3 - s1
            from overflow knowing all with s = s1
            => x1 + x2 + 2*x3 == 1
        [both full] Likewise resource 1 is full.
            fits 1; fits 2; bottleneck 1; bottleneck 2; bottleneck 3; bottleneck 4;
            bottleneck 5: x1 + 2*x2 + x3 == 1 or x1 + 3/2*x2 + 3/2*x3 == 1 or x1 == s2;
            bottleneck 6: x1 + 2*x2 + x3 == 1 or x1 + 3/2*x2 + 3/2*x3 == 1 or x2 == s2;
            bottleneck 7: x1 + 2*x2 + x3 == 1 or x1 + 3/2*x2 + 3/2*x3 == 1 or 2*x3 == s2
            from full knowing all with x2 = x3; x3 = x2; s1 = s2
            => x1 + 2*x2 + x3 == 1
        [equal] With both full, x2 = x3,
            full 1: x1 + 2*x2 + x3 == 1; full 2: x1 + x2 + 2*x3 == 1
            => x2 == x3
        [rest] and x1 = 1 - 3 x2.
            full 1; full 2
            => x1 == 1 - 3*x2
        So all BMF allocations are on this line: u is x2 and x3.
            fits 1; fits 2; bottleneck 1; bottleneck 2; bottleneck 3; bottleneck 4; bottleneck 5;
            bottleneck 6; bottleneck 7
            from full knowing all
            from both full knowing all
            from equal knowing all
            => x2 == x3 (as stated)
        [on line] And x1 is 1 - 3 x2.
            fits 1; fits 2; bottleneck 1; bottleneck 2; bottleneck 3; bottleneck 4; bottleneck 5;
            bottleneck 6; bottleneck 7
            from full knowing all
            from both full knowing all
            from rest knowing all
            => x1 == 1 - 3*x2 (as stated)
        [most first] If user 1 has bottleneck 1, u is at most 2/9;
            rest: x1 == 1 - 3*x2; held: x1 == s1; largest 1: 2*x2 <= s1
            => x2 <= 2/9
        [most second] if bottleneck 2,
            rest; equal: x2 == x3; held: x1 == s2; largest 2: 2*x3 <= s2
            => x2 <= 2/9
        [most third] and if bottleneck 3.
            rest; held: x1 == s3; largest 3: 3/2*x2 <= s3
            => x2 <= 2/9
        So u is at most 2/9.
            fits 1; fits 2; bottleneck 1; bottleneck 2; bottleneck 3; bottleneck 4; bottleneck 5;
            bottleneck 6; bottleneck 7; bottleneck 8: x1 == s1 or x1 == s2 or x1 == s3; largest 1; largest 2;
            largest 3
            cases x1 == s1; x1 == s2
            from full knowing all
            from both full knowing all
            from equal knowing all
            from rest knowing all
            from third knowing all with p = x1 - s1; q = x1 - s2; r = x1 - s3
            from most first knowing all
            from most second knowing all
            from most third knowing all
            => x2 <= 2/9 (as stated)
        [least first] If user 2 has bottleneck 1, u is at least 1/5;
            rest; held: 2*x2 == s1; largest 4: x1 <= s1
            => x2 >= 1/5
        [least second] if bottleneck 2, at least 1/4,
            rest; held: x2 == s2; largest 5: x1 <= s2
            => x2 >= 1/5
        [least third] and if bottleneck 3, at least 2/9.
            rest; held: 3/2*x2 == s3; largest 6: x1 <= s3
            => x2 >= 1/5
        So u is at least 1/5.
            fits 1; fits 2; bottleneck 1; bottleneck 2; bottleneck 3; bottleneck 4; bottleneck 5;
            bottleneck 6; bottleneck 7; bottleneck 9: 2*x2 == s1 or x2 == s2 or 3/2*x2 == s3; largest 4;
            largest 5; largest 6
            cases 2*x2 == s1; x2 == s2
            from full knowing all
            from both full knowing all
            from rest knowing all
            from third knowing all with p = 2*x2 - s1; q = x2 - s2; r = 3/2*x2 - s3
            from least first knowing all
            from least second knowing all
            from least third knowing all
            => x2 >= 1/5 (as stated)
        Conversely, on the segment resource 1 is full,
            line 1: x1 == 1 - 3*u; line 2: x2 == u; line 3: x3 == u; above: u >= 1/5; below: u <= 2/9
            => x1 + 2*x2 + x3 == 1 (as stated)
        resource 2 is full,
            line 1; line 2; line 3; above; below
            => x1 + x2 + 2*x3 == 1 (as stated)
        and resource 3 is full.
            line 1; line 2; line 3; above; below
            => x1 + 3/2*x2 + 3/2*x3 == 1 (as stated)
        User 1 has the largest share of resource 3: user 2 holds no more,
            line 1; line 2; line 3; above; below
            => 3/2*x2 <= x1 (as stated)
        nor does user 3.
            line 1; line 2; line 3; above; below
            => 3/2*x3 <= x1 (as stated)
        User 2 has the largest share of resource 1: user 1 holds no more,
            line 1; line 2; line 3; above; below
            => x1 <= 2*x2 (as stated)
        nor does user 3.
            line 1; line 2; line 3; above; below
            => x3 <= 2*x2 (as stated)
        User 3 has the largest share of resource 2: user 1 holds no more,
            line 1; line 2; line 3; above; below
            => x1 <= 2*x3 (as stated)
        nor does user 2.
            line 1; line 2; line 3; above; below
            => x2 <= 2*x3 (as stated)
        The vertices of the allocations of all maps, by trying all square systems.
            Computed.
    """
    yield computed(
        "bmf_vertices",
        demands=[[1, 1, 1], [2, 1, "3/2"], [1, 2, "3/2"]],
        capacities=[1, 1, 1],
        gives=[["1/3", "2/9", "2/9"], ["2/5", "1/5", "1/5"]],
    )
