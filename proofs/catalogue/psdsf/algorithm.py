r"""PS-DSF with divided resources: Corollary 1, and Algorithm I, where it rests and that it need not end.

The run without an end has one resource and two servers of capacities 2 and 1. User 1 may run on the first,
user 2 on the second, user 3 on both. Each visit makes the two users of a server equal, as long as the richer
one has tasks there. With z tasks of user 3 on server 2, a visit of server 1 gives :math:`x + y = 2` and
:math:`x = y + z`, one of server 2 :math:`w + z' = 1` and :math:`w = z' + y`; so :math:`z' = z/4`, never 0.
The one PS-DSF allocation has z = 0.
"""

from __future__ import annotations

from collections.abc import Iterator

from proofs.catalogue.chapter import Chapter
from proofs.catalogue.examples import every, model
from proofs.catalogue.psdsf.theorems import SOURCE, psdsf_tasks
from proofs.claims import Claim
from proofs.statement import Question, Said

__all__ = ["STATEMENTS"]

STATEMENTS = Chapter(SOURCE)


@STATEMENTS.add("psdsf-corollary-1")
def _corollary_1(question: Question) -> None:
    r"""A full resource that a user demands is its bottleneck if and only if its level is at least the highest
    level of the users that hold some of the resource.

    .. math:: \frac{s_{ni}}{\varphi_n} \ge \max_{p:\, x_{pi}d_{pr}>0} \frac{s_{pi}}{\varphi_p}

    Hypotheses
        highest*: no holder has a higher level than S
        enough*: the level of the user is at least S
        attained*: S is the level of a holder
        bottleneck*: no holder has a higher level than the user (12)
    Place: Corollary 1, equations (14) and (15)
    Scope: each user, server and resource; all levels
    Remark: The paper says that the condition is enough; it is also necessary. Equations (14) and (15) are
        lost in the text and restored.

    Proof
        With a level k of at least S, the highest of a holder, no holder l stands higher.
            highest: l <= S; enough: S <= k
            => l <= k (as stated)
        Conversely S, which is the level l of a holder, is at most k.
            attained: S == l; bottleneck: l <= k
            => S <= k (as stated)
    """


@STATEMENTS.add("psdsf-algorithm-rests")
def _rests(question: Question) -> Iterator[Claim]:
    r"""An allocation that a sweep of Algorithm I leaves as it is, is PS-DSF.

    .. math:: S_i^* \ge S^{\max}_{i,r}\ \text{for everybody who is left} \implies \text{(12)}

    Hypotheses
        lowest*: S is the lowest level of the users who are left (16)
        condition*: the highest level of those who hold the resource is at most S: nothing is updated
        highest*: no holder has a higher level than that
    Place: section III-C, Algorithm I
    Scope: each user, server and resource; all levels; and both directions on a grid
    Reading: Without an update the placement is the same from the first visit to the last, and the sweep ends
        when nobody is left on any server; so everybody has such a resource on every server, full and
        demanded: PS-DSF by psdsf-theorem-1.

    Proof
        Who leaves by a resource has no holder above it: its level k is at least S, S at least the highest
        level M of a holder, and M at least the level l of any holder.
            lowest: S <= k; condition: M <= S; highest: l <= M
            => l <= k (as stated)
        On a grid of clusters and placements a sweep updates nothing exactly if the allocation is PS-DSF.
            Computed (as stated).
    """
    yield every("algorithm_rests", largest=1)


@STATEMENTS.add("psdsf-algorithm-endless", said=Said.READER)
def _endless(question: Question) -> Iterator[Claim]:
    r"""There is a cluster of three users, two servers and one resource on which Algorithm I never ends.

    .. math:: z_{k+1} = z_k/4,\ z_0 = \tfrac12 \implies z_k > 0\ \forall k

    Hypotheses
        full 1*: server 1 is full
        equal 1*: the visit of server 1 makes users 1 and 3 equal
        full 2*: server 2 is full
        equal 2*: the visit of server 2 makes users 2 and 3 equal
        start: user 3 has a positive part of server 2 at first: 1/2, by DRF
    Place: section III-C, Algorithm I and footnote 5, which leaves convergence open; not in the paper
    Scope: the cluster of capacities 2 and 1, all sweeps; eight sweeps of the algorithm computed
    Remark: The sweeps approach the PS-DSF allocation (1, 1, 1), by a factor of 4 each, and do not reach it. A
        program has to stop within a tolerance, or solve for the limit. Whether they approach one on every
        cluster is open.
    Reading: A visit makes the two users of a server equal and leaves it full: with one resource the poorer
        takes the part of what the richer has there that makes both equal, which is below 1 while z is at most
        1/2.

    Proof
        # x, y: users 1 and 3 on server 1; w, z: users 2 and 3 on server 2, after n sweeps.
        Eight sweeps from DRF on each server, in fractions: each updates something and leaves a quarter.
            Computed (as stated).
        The limit is PS-DSF.
            Computed.
        [left] After every sweep user 3 has tasks on server 2.
            full 1: x[n+1] + y[n+1] == 2; equal 1: x[n+1] == y[n+1] + z[n]; full 2: w[n+1] + z[n+1] == 1;
            equal 2: w[n+1] == z[n+1] + y[n+1]; start: z[0] > 0
            => z[n] > 0
        [quarter] A sweep leaves a quarter of them.
            full 1: x + y == 2; equal 1: x == y + z; full 2: w + v == 1; equal 2: w == v + y
            => z == 4*v
        [more] So user 1 has more than user 3 in all, who is served beside it.
            full 1; equal 1; full 2; equal 2; left: z > 0
            => x > y + v
        It is a quarter every time,
            full 1: x[n+1] + y[n+1] == 2; equal 1: x[n+1] == y[n+1] + z[n]; full 2: w[n+1] + z[n+1] == 1;
            equal 2: w[n+1] == z[n+1] + y[n+1]
            from quarter knowing all with x = x[n+1]; y = y[n+1]; w = w[n+1]; z = z[n]; v = z[n+1]
            => z[n] == 4*z[n+1] (as stated)
            from 0
        and after every sweep the next one has an update: the algorithm never ends.
            full 1; equal 1; full 2; equal 2; start
            from left knowing all
            from more knowing all with x = x[n+1]; y = y[n+1]; w = w[n+1]; z = z[n]; v = z[n+1]
            => x[n+1] > y[n+1] + z[n+1] (as stated)
            from 0
    """
    yield every("endless_sweeps", most=8)
    yield psdsf_tasks(
        model([[1], [1], [1]], [[2], [1]], eligible=[[1, 0], [0, 1], [1, 1]]),
        [[1, 0], [0, 1], [1, 0]],
        "resource",
        [1, 1, 1],
    )
