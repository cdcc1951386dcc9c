r"""Water-filling server by server: PS-DSF where each resource of a server is divided by itself.

Let :math:`\varphi_n` be the effective weights and :math:`e_{ni} = \sum_{k \ne i} x_{nk}` the tasks of class n
away from server i. One server alone, the others fixed, is *filled*: raise a level L from 0; class n holds
what it lacks,

.. math:: x_{ni} = \max(0,\; \varphi_n\gamma_{ni} L - e_{ni}),

so that its virtual dominant share [1]_ (eq. 8) over its weight is L, or more where it holds nothing. When a
resource is full, the classes that demand it stop, and the others go on. Then every class has a bottleneck
on this server (eq. 12): the resource that stopped it. Placements that all servers leave as they are satisfy
Theorem 1; they exist, because filling is continuous and placements form a compact convex set, but totals need
not be unique, and which ones are found depends on the order in which servers are swept, and where from.

**Sweeps.** Fill one server after the other until nothing changes (Gauss-Seidel), from every server filled as
if it were alone. Two things shorten this, and neither changes what counts as an answer:

* *jumps*: where the steps d of successive sweeps have become steady, and :math:`\theta` is the relative
  change from one to the next, go on along d for :math:`1/\theta` sweeps at once, but only until a class runs
  out of tasks somewhere. So errors that shrink by a constant factor are extrapolated (Aitken); and a class
  that moves between two servers whose exchange rates for it almost agree with those of another class, in
  thousands of equal steps, does so in one. A step is steady when waiting makes :math:`\theta` no smaller: a
  jump along an unsteady one would bring back what had run out;
* *settling*: while the same classes hold tasks on the same servers and the same resources stop them, a fixed
  point solves the linear equations :math:`x_n = \varphi_n\gamma_{ni} L_{ir}` for every pair (n, i) in use,
  stopped by r, and usage 1 for every resource that stops somebody. Their solution of least change is taken
  (with ties, as with equal servers, it is not unique); pairs where it is negative are dropped and the rest is
  solved anew. The result is kept only if sweeps then move less than half as much as before.

Plain sweeps need not converge: on a cluster of five classes, three servers and three resources with integer
data they end in a cycle of period two (exactly; see the tests). Therefore, if they have not settled after
``max_sweeps``, they start anew and move each server only half of the way, then in the reverse order a quarter
of the way; ``details["attempts"]`` says so. All of this can also be too slow: exchange rates that agree up to
1e-7 between a hundred classes and twenty servers are beyond the default number of sweeps. Then
NotConvergedError is raised.

References
----------
.. [1] J. Khamse-Ashari, I. Lambadaris, G. Kesidis, B. Urgaonkar and Y. Zhao, "Per-server dominant-share
   fairness (PS-DSF): a multi-resource fair allocation mechanism for heterogeneous servers", ICC 2017.
   arXiv:1611.00404.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairness.arguments.validation import FloatArray, IntArray
from fairness.errors import NotConvergedError
from fairness.evidence.pools import SATURATION
from fairness.machine.compiling import Kernel, stored
from fairness.machine.work import current_watch
from fairness.model.cluster import Cluster
from fairness.policies.servers.engines import server_pairs as listing
from fairness.policies.servers.engines.server_pairs import ServerPairs, residual_of
from fairness.policies.servers.engines.settling import solve_structure

__all__ = ["Divisions", "fill", "resource_division", "separate_filling"]

STILL = 1e-13
"""Sweeps end when no class moves more than this part of its tasks."""

BLOCK = 100
"""Sweeps between two attempts to settle."""

PATIENCE = 6
"""Sweeps without steadier steps before a jump."""

MANY = 1000
"""Sweeps of one state after which the rest is compiled."""

STEPS = 200
"""Microseconds per pair, resource and state, interpreted."""

PLANS = (
    ("as asked", False, True, 1.0),
    ("as asked, half of the way", False, True, 0.5),
    ("reversed, a quarter of the way", True, False, 0.25),
)
"""Attempts: name, whether servers are swept backwards, whether steps are extrapolated, part of the way."""


def separate_filling(cluster: Cluster, weights: FloatArray) -> FloatArray:
    """Placement (n_classes, n_servers) by weighted DRF on every server alone, where Algorithm I starts."""
    pairs = ServerPairs.of(cluster, weights)
    _small(_fill_separately, pairs)(pairs)
    return pairs.placement


def resource_division(
    cluster: Cluster,
    weights: FloatArray,
    *,
    server_order: tuple[int, ...] | None = None,
    max_sweeps: int = 20_000,
    start: FloatArray | None = None,
) -> tuple[FloatArray, dict[str, Any]]:
    """Placement that satisfies Theorem 1, by sweeps of water-filling.

    Parameters
    ----------
    cluster : Cluster
    weights : ndarray of shape (n_classes,)
        Effective weights: jobs times weight; 0 for absent classes.
    server_order : tuple of int, optional
        Order of the servers in a sweep. Default: as given.
    max_sweeps : int
        Sweeps per attempt.
    start : ndarray of shape (n_classes, n_servers), tasks, optional
        Placement that the sweeps start from. Default: every server filled as if it were alone.

    Returns
    -------
    placement : ndarray of shape (n_classes, n_servers), tasks
    details : dict
        ``sweeps``: servers visited over number of servers, jumps included; ``settled``: linear systems that
        moved the placement; ``attempts``: one line for each start.

    Raises
    ------
    NotConvergedError
        If no attempt reaches the tolerance of the certificate; ``best`` is the best placement.

    Notes
    -----
    The certificate takes most of the time on small clusters. Attempts are judged by the same theorem,
    compiled: :attr:`~fairness.policies.servers.engines.server_pairs.ServerPairs.theorem_one_residual`.
    """
    given = np.arange(cluster.n_servers) if server_order is None else np.array(server_order, dtype=np.int64)
    first = ServerPairs.of(cluster, weights, start)
    if start is None:
        _small(_fill_separately, first)(first)
        first.stop[:] = -1
    best, residual, sweeps, settled, attempts = np.zeros(cluster.gamma.shape), np.inf, 0, 0, []
    for name, backwards, jumps, damping in PLANS:
        pairs = first.copied()
        more, systems = _settle(pairs, given[::-1].copy() if backwards else given, damping, jumps, max_sweeps)
        sweeps, settled = sweeps + more, settled + systems
        reached = pairs.theorem_one_residual
        attempts.append(f"servers {name}: residual {reached:.1e} after {more} sweeps")
        if reached < residual:
            best, residual = pairs.placement, reached
        if residual <= SATURATION:
            return best, {"sweeps": sweeps, "settled": settled, "attempts": attempts}
    raise NotConvergedError(
        f"water-filling did not settle in {sweeps} sweeps (residual {residual:.1e}); raise max_sweeps or "
        "change server_order",
        best=best,
        residual=residual,
    )


class Divisions:
    """Placements of :func:`resource_division` in many states.

    Each state is solved as there, from the servers filled alone: from the placement of a neighbour the sweeps
    would be fewer, but where PS-DSF is not unique, the answer would depend on the way that led to a state.

    Parameters
    ----------
    cluster, server_order, max_sweeps
        As there.

    Attributes
    ----------
    left : int
        States in which the first sweeps did not settle.
    """

    def __init__(self, cluster: Cluster, server_order: tuple[int, ...] | None, max_sweeps: int) -> None:
        self.cluster, self.server_order, self.max_sweeps = cluster, server_order, max_sweeps
        order = np.arange(cluster.n_servers) if server_order is None else np.array(server_order, np.int64)
        self.order, self.all_pairs, self.left = order, ServerPairs.of(cluster, np.ones(cluster.n_classes)), 0

    def of(self, weights: FloatArray) -> FloatArray:
        """Placements for effective weights (n_states, n_classes), (n_states, n_classes, n_servers)."""
        placements = np.zeros((len(weights), *self.cluster.gamma.shape))
        done = np.zeros(len(weights), dtype=bool)
        divide = _small(_divide_states, self.all_pairs, len(weights))
        divide(self.all_pairs, weights, self.order, self.max_sweeps, placements, done)
        for k in np.flatnonzero(~done):
            placements[k] = resource_division(
                self.cluster, weights[k], server_order=self.server_order, max_sweeps=self.max_sweeps
            )[0]
            self.left += 1
        return placements


def _small(kernel: Kernel, pairs: ServerPairs, states: int = 1) -> Callable[..., Any]:
    """The kernel for so many states of these pairs."""
    return kernel.small(STEPS * pairs.shares.size, states)


def _settle(
    pairs: ServerPairs, order: IntArray, damping: float, jumps: bool, max_sweeps: int
) -> tuple[int, int]:
    """Sweep until nothing moves; sweeps made and linear systems that helped."""
    sweep: Callable[..., Any] = _small(_sweep, pairs)
    sweeps = settled = 0
    last, pause = np.inf, BLOCK
    while sweeps < max_sweeps:
        current_watch().check("PS-DSF")
        most = max_sweeps - sweeps
        if sweeps > MANY:
            sweep = _sweep
        more, moved = sweep(pairs, order, damping, jumps, min(pause, most), most)
        sweeps += more
        # Rounding can keep more than STILL alive where a class runs tasks on very many servers.
        if moved <= STILL or (moved <= SATURATION * 1e-2 and not moved < last / 2):
            break
        last = moved
        kept = pairs.tasks.copy(), pairs.stop.copy()
        pairs.hold(solve_structure(pairs))
        more, moved = sweep(pairs, order, damping, False, PATIENCE, PATIENCE)
        sweeps += more
        if moved < last / 2:
            settled, pause = settled + 1, BLOCK
            if moved <= STILL:
                break
        else:
            pause += BLOCK
            pairs.hold(kept[0])
            pairs.stop[:] = kept[1]
    return sweeps, settled


# All compiled functions are in this file: the cache of a function does not see edits of others elsewhere. The
# fields of pairs are in another one, which is named.


@stored(nogil=True)
def fill(
    pace: FloatArray, shares: FloatArray, elsewhere: FloatArray, tasks: FloatArray, stop: IntArray
) -> None:
    """Fill one server: ``tasks`` and ``stop`` (n_pairs,) from the tasks that its classes run elsewhere."""
    n, m = shares.shape
    entry = elsewhere / pace  # level at which a class begins to hold tasks here
    order = np.argsort(entry, kind="mergesort")  # stable: interpreted and compiled, ties come alike
    free, load = np.ones(m), np.zeros(m)
    level = 0.0
    entered = stopped = 0
    stop[:] = -1
    # What a class holds here is summed up, and not the difference of its level and what it runs elsewhere:
    # that may be many times what this server has.
    tasks[:] = 0.0
    while stopped < n:
        while entered < n and stop[order[entered]] >= 0:
            entered += 1
        step, full = np.inf, -1
        for r in range(m):
            if load[r] > 0 and free[r] < step * load[r]:
                step, full = free[r] / load[r], r
        if entered < n and entry[order[entered]] - level <= step:
            k = order[entered]
            rise = max(0.0, entry[k] - level)
            level += rise
            for q in range(entered):
                if stop[order[q]] < 0:
                    tasks[order[q]] += pace[order[q]] * rise
            entered += 1
            for r in range(m):
                free[r] = max(0.0, free[r] - load[r] * rise)
                load[r] += pace[k] * shares[k, r]
            continue
        level += step
        for q in range(entered):
            if stop[order[q]] < 0:
                tasks[order[q]] += pace[order[q]] * step
        for r in range(m):
            free[r] = max(0.0, free[r] - load[r] * step)
        for k in range(n):
            if stop[k] < 0 and shares[k, full] > 0:
                stop[k] = full
                stopped += 1
        # Summed afresh, or a remainder of rounding would keep a resource in demand.
        load[:] = 0.0
        for q in range(entered):
            k = order[q]
            if stop[k] < 0:
                for r in range(m):
                    load[r] += pace[k] * shares[k, r]


@stored(listing, nogil=True)
def _fill_separately(pairs: ServerPairs) -> None:
    """Fill every server as if it were alone."""
    start, job_class, _, pace, shares, tasks, totals, stop = pairs
    totals[:] = 0.0
    for i in range(len(start) - 1):
        a, b = start[i], start[i + 1]
        fill(pace[a:b], shares[a:b], np.zeros(b - a), tasks[a:b], stop[a:b])
        for k in range(a, b):
            totals[job_class[k]] += tasks[k]


@stored(listing, nogil=True)
def _one_sweep(pairs: ServerPairs, order: IntArray, damping: float) -> float:
    """Fill every server once; the largest move of a pair over the tasks of its class."""
    start, job_class, _, pace, shares, tasks, totals, stop = pairs
    moved = 0.0
    for i in order:
        a, b = start[i], start[i + 1]
        elsewhere, held = np.empty(b - a), np.empty(b - a)
        for k in range(a, b):
            elsewhere[k - a] = max(0.0, totals[job_class[k]] - tasks[k])
        fill(pace[a:b], shares[a:b], elsewhere, held, stop[a:b])
        for k in range(a, b):
            change = damping * (held[k - a] - tasks[k])
            tasks[k] = held[k - a] if damping == 1.0 else tasks[k] + change
            totals[job_class[k]] = elsewhere[k - a] + tasks[k]
            if change != 0:
                moved = max(moved, abs(change) / totals[job_class[k]])
    totals[:] = 0.0  # Summed afresh, so that rounding does not add up over sweeps.
    for k in range(len(tasks)):
        totals[job_class[k]] += tasks[k]
    return moved


@stored(listing, nogil=True)
def _sweep(
    pairs: ServerPairs, order: IntArray, damping: float, jumps: bool, sweeps: int, most: int
) -> tuple[int, float]:
    """Sweeps and jumps until nothing moves or, on the next occasion for a jump, so many sweeps are made.

    Returns the sweeps made, and by which part of its tasks a class still moves.
    """
    job_class, tasks, totals = pairs.job_class, pairs.tasks, pairs.totals
    n = len(tasks)
    before, step = tasks.copy(), np.zeros(n)
    done, moved = 0, np.inf
    while True:
        steadiest, turn, waited = np.inf, np.inf, -1
        while waited < PATIENCE and done < (most if jumps else sweeps):
            for k in range(n):
                before[k] = tasks[k]
            moved = _one_sweep(pairs, order, damping)
            done += 1
            if moved <= STILL:
                return done, moved
            change = length = 0.0
            for k in range(n):
                total, last = totals[job_class[k]], step[k]
                step[k] = tasks[k] - before[k]
                change += ((step[k] - last) / total) ** 2
                length += (step[k] / total) ** 2
            turn = np.sqrt(change / length)
            if waited < 0:  # This step has no predecessor.
                waited = 0
            elif turn < 0.9 * steadiest:
                steadiest, waited = turn, 0
            else:
                waited += 1
        if done >= sweeps:
            return done, moved
        if not jumps:
            continue
        jump = 1.0 / max(turn, 1e-15)
        for k in range(n):
            if -step[k] < tasks[k] < -jump * step[k]:
                jump = -tasks[k] / step[k]
        totals[:] = 0.0
        for k in range(n):
            tasks[k] = max(0.0, tasks[k] + jump * step[k])
            totals[job_class[k]] += tasks[k]


@stored(listing, nogil=True)
def _divide_states(
    listed: ServerPairs,
    weights: FloatArray,
    order: IntArray,
    max_sweeps: int,
    placements: FloatArray,
    done: NDArray[np.bool_],
) -> None:
    """The first sweeps of :func:`resource_division` for each row of weights; whether no more are needed.

    ``listed`` are the pairs of all classes with weights 1.
    """
    n_servers, m = len(listed.start) - 1, listed.shares.shape[1]
    for state in range(len(weights)):
        size = 0
        for k in listed.job_class:
            size += weights[state, k] > 0
        start, job_class, server = (
            np.zeros(n_servers + 1, np.int64),
            np.empty(size, np.int64),
            np.empty(size, np.int64),
        )
        pace, shares = np.empty(size), np.empty((size, m))
        q = 0
        for i in range(n_servers):
            start[i] = q
            for p in range(listed.start[i], listed.start[i + 1]):
                k = listed.job_class[p]
                if weights[state, k] > 0:
                    job_class[q], server[q], pace[q] = k, i, weights[state, k] * listed.pace[p]
                    for j in range(m):
                        shares[q, j] = listed.shares[p, j]
                    q += 1
        start[n_servers] = q
        totals, stop = np.zeros(len(listed.totals)), np.full(size, -1)
        pairs = ServerPairs(start, job_class, server, pace, shares, np.zeros(size), totals, stop)
        _fill_separately(pairs)
        stop[:] = -1
        _, moved = _sweep(pairs, order, 1.0, True, min(BLOCK, max_sweeps), max_sweeps)
        done[state] = moved <= STILL and residual_of(pairs) <= SATURATION
        for q in range(size):
            placements[state, job_class[q], server[q]] = pairs.tasks[q]
