r"""A replay at one instant and over time: use of the cluster, fairness among users, capacity that lies idle.

At each of some evenly spaced times, with :math:`h_{ur}` the units that the tasks of user u hold,
:math:`C_r` the capacity of all nodes, and :math:`w_u` the weights:

* *share*: the dominant share :math:`s_u = \max_r h_{ur}/C_r`;
* *entitlement*: :math:`e_u = w_u/\sum_v w_v` over the users present, who have a task that waits or runs,
  and 0 for the others. Sharing incentive [1]_ asks that a user who wants more has at least this share of some
  resource;
* *Jain's index* [2]_ of :math:`s_u/w_u` over the n users who have tasks waiting,
  :math:`(\sum x)^2/(n \sum x^2)`: 1 if they are served alike, 1/n if one of them has all; NaN with fewer than
  two such users, or if they hold nothing;
* *envy* of a user with tasks waiting: by how much its dominant share would grow if it held what
  another user holds, scaled by the weights, and ran tasks there like the oldest that waits [1]_. Bundles are
  divided freely, and nodes are forgotten; so whole tasks alone cause some envy, a task or so;
* *stranded* capacity: free units on nodes where none of the waiting tasks fits, as a part of the capacity; 0
  while nothing waits. A scheduler that does not block strands all that is free while a task waits;
* *fragmentation* of devices [3]_: the expected part of all devices that is free and of no use to a task drawn
  from the trace: on nodes where it does not fit everything that is free, and elsewhere the devices with a
  smaller free part than it needs. To a task without devices none is of use.

Samples show what happens between them only by chance; averages over the whole record are in
:class:`~queueing.replays.recorded.Replay`.

References
----------
.. [1] A. Ghodsi, M. Zaharia, B. Hindman, A. Konwinski, S. Shenker and I. Stoica, "Dominant resource fairness:
   fair allocation of multiple resource types", NSDI 2011.
.. [2] R. Jain, D. Chiu and W. Hawe, "A quantitative measure of fairness and discrimination for resource
   allocation in shared computer systems", DEC research report TR-301, 1984.
.. [3] Q. Weng, L. Yang, Y. Yu, W. Wang, X. Tang, G. Yang and L. Zhang, "Beware of fragmentation: scheduling
   GPU-sharing workloads with fragmentation gradient descent", USENIX ATC 2023.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairness.arguments.validation import FloatArray, IntArray, frozen, require_choice, require_whole
from fairness.display.drawing import curves, time_unit
from fairness.display.result import Result
from fairness.machine.memory import require_memory
from fairness.machine.work import Task
from queueing.recorded.cluster_trace import ClusterTrace
from queueing.recorded.node_list import NodeList
from queueing.replays.state import Indices
from queueing.simulation.tasks.placement import ROUNDING

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["SHOWN", "Moment", "ReplayPaths", "Started", "paths_of"]


class Started(NamedTuple):
    """When and where tasks ran: the arrays of a :class:`~queueing.replays.recorded.Replay`."""

    trace: ClusterTrace
    nodes: NodeList
    starts: FloatArray
    ends: FloatArray
    node_of: Indices
    devices_of: IntArray | None


@dataclass(frozen=True, eq=False)
class Moment:
    """The state of a replay after all events and starts of an instant.

    Attributes
    ----------
    of : Started
    time : float, seconds
    """

    of: Started
    time: float

    @cached_property
    def running(self) -> IntArray:
        """Tasks that run."""
        starts = self.of.starts
        with np.errstate(invalid="ignore"):
            return np.flatnonzero((starts <= self.time) & (self.of.ends > self.time))

    @cached_property
    def waiting(self) -> IntArray:
        """Tasks that wait, the oldest first."""
        arrived = int(np.searchsorted(self.of.trace.arrivals, self.time, side="right"))
        starts = self.of.starts[:arrived]
        return np.flatnonzero(~(starts <= self.time))

    @cached_property
    def held(self) -> FloatArray:
        """Units of each resource that each user holds, (n_users, n_resources)."""
        trace = self.of.trace
        return trace.held_by(trace.user_of[self.running], trace.n_users, tasks=self.running)

    @cached_property
    def used(self) -> FloatArray:
        """Units of each resource in use on each node, (n_nodes, n_resources)."""
        of = self.of
        return of.trace.held_by(of.node_of[self.running], of.nodes.n_nodes, tasks=self.running)

    @cached_property
    def free_devices(self) -> FloatArray:
        """Free part of each device, (n_nodes, most devices of a node); 0 for those that a node has not."""
        trace, taken = self.of.trace, self.of.devices_of
        device = trace.devices
        assert device is not None
        assert taken is not None
        own = self.of.nodes.capacities[:, device]
        free = (np.arange(int(own.max())) < own[:, None]).astype(float)
        part = np.minimum(trace.types[trace.type_of[self.running], device], 1.0)
        for d in range(free.shape[1]):
            takes = (taken[self.running] >> d & 1).astype(bool)
            nodes = self.of.node_of[self.running[takes]]
            free[:, d] -= np.bincount(nodes, part[takes], len(free))
        return np.where(np.abs(free) < ROUNDING, 0.0, free)

    @cached_property
    def models(self) -> Indices:
        """Column of the trace's ``eligible_models`` of each node, (n_nodes,)."""
        return self.of.nodes.model_of(self.of.trace)

    def fits(self, t: int) -> NDArray[np.bool_]:
        """On which nodes a task of the type would start now, (n_nodes,)."""
        trace, nodes = self.of.trace, self.of.nodes
        demand = trace.types[t]
        good: NDArray[np.bool_] = (self.used + demand <= nodes.capacities * (1.0 + ROUNDING)).all(axis=1)
        if trace.eligible_models is not None:
            good &= trace.eligible_models[t, self.models]
        if trace.devices is not None and demand[trace.devices] > 0:
            if demand[trace.devices] >= 1:
                good &= (self.free_devices >= 1.0).sum(axis=1) >= demand[trace.devices]
            else:
                good &= self.free_devices.max(axis=1) + ROUNDING >= demand[trace.devices]
        return good


DRAWN = ("utilization", "shares", "envy", "waiting", "stranded")
SHOWN = 8
"""Users with a curve of their own."""


@dataclass(frozen=True, eq=False, repr=False)
class ReplayPaths(Result):
    """A replay at evenly spaced times; made by :meth:`Replay.over_time`.

    The formulas are in :mod:`queueing.replays.time_series`.

    Attributes
    ----------
    scheduler : str
    users, resources : tuple of str
    times : ndarray of shape (n_times,), seconds
    utilization : ndarray of shape (n_times, n_resources)
        Part of each resource in use.
    running, waiting : ndarray of int, shape (n_times,)
        Tasks.
    shares : ndarray of shape (n_times, n_users)
        Dominant share of each user: what its tasks hold of the resource of which they hold the largest part.
    entitlements : ndarray of shape (n_times, n_users)
        Weight over the weights of the users who have a task that waits or runs; 0 for the others.
    envy : ndarray of shape (n_times, n_users)
        Of a user with tasks waiting: how much larger its dominant share were in another's place (per weight),
        with tasks like its oldest that waits. NaN for the others.
    jain : ndarray of shape (n_times,)
        Jain's index of shares over weights of the users with tasks waiting; NaN where there are not two.
    stranded : ndarray of shape (n_times, n_resources)
        Part of the capacity that is free on nodes where none of the waiting tasks fits.
    fragmentation : ndarray of shape (n_times,) or None
        Expected part of all devices that is free and of no use to a task drawn from the trace; None where
        nothing is counted in devices.
    """

    scheduler: str
    users: tuple[str, ...]
    resources: tuple[str, ...]
    times: FloatArray
    utilization: FloatArray
    running: IntArray
    waiting: IntArray
    shares: FloatArray
    entitlements: FloatArray
    envy: FloatArray
    jain: FloatArray
    stranded: FloatArray
    fragmentation: FloatArray | None

    def to_dataframe(self) -> pd.DataFrame:
        """One row per time: tasks, use, stranded capacity, Jain's index, largest envy, fragmentation."""
        import pandas as pd

        columns: dict[str, Any] = {"running": self.running, "waiting": self.waiting}
        for name, values in (("in use", self.utilization), ("stranded", self.stranded)):
            columns |= {f"{r} {name}": values[:, k] for k, r in enumerate(self.resources)}
        columns |= {"jain": self.jain, "largest_envy": _largest(self.envy)}
        if self.fragmentation is not None:
            columns["fragmentation"] = self.fragmentation
        return pd.DataFrame(columns, index=pd.Index(self.times, name="time"))

    def summary(self) -> str:
        """Means and extremes over the samples."""
        waits = self.waiting > 0
        lines = [f"ReplayPaths({self.scheduler}: {len(self.times)} times, tasks wait at {waits.mean():.1%})"]
        if waits.any():
            lost = zip(self.resources, self.stranded[waits].mean(axis=0), strict=True)
            lines.append("stranded while tasks wait: " + ", ".join(f"{r} {v:.1%}" for r, v in lost))
        if (some := self.jain[~np.isnan(self.jain)]).size:
            lines.append(f"Jain's index of those who wait: mean {some.mean():.3f}, least {some.min():.3f}")
        if (some := self.envy[~np.isnan(self.envy)]).size:
            lines.append(
                f"envy of those who wait: mean {some.mean():.2%}, largest {some.max():.2%} of the cluster"
            )
        if self.fragmentation is not None:
            lines.append(f"fragmentation of devices: mean {self.fragmentation.mean():.2%}")
        return "\n  ".join(lines)

    def plot(self, ax: Axes | None = None, what: str = "utilization") -> Axes:
        """Curves over time.

        Parameters
        ----------
        ax : Axes, optional
        what : {"utilization", "shares", "envy", "waiting", "stranded"}
            ``shares`` are those of the users over their entitlements, where they are present; of many users,
            those whose shares are largest on average.
        """
        require_choice("what", what, DRAWN)
        users = np.argsort(-self.shares.mean(axis=0), kind="stable")[:SHOWN].tolist()
        names = [self.users[u] for u in users]
        with np.errstate(divide="ignore", invalid="ignore"):
            relative = np.where(self.entitlements > 0, self.shares / self.entitlements, np.nan)
        values, labels, text = {
            "utilization": (self.utilization, self.resources, "part in use"),
            "shares": (relative[:, users], names, "dominant share / entitlement"),
            "envy": (self.envy[:, users], names, "envy, as a share of the cluster"),
            "waiting": (
                np.stack([self.running, self.waiting], axis=1), ("running", "waiting"), "tasks"
            ),
            "stranded": (self.stranded, self.resources, "part stranded"),
        }[what]  # fmt: skip
        since = self.times - self.times[0]
        unit, seconds = time_unit(float(since[-1]))
        texts = {"xlabel": f"{unit} since the first arrival", "ylabel": text, "title": self.scheduler}
        # A user has the colour of its number, in every figure.
        parts = users if what in ("shares", "envy") else None
        return curves(ax, since / seconds, values, labels, parts=parts, **texts)


def paths_of(started: Started, scheduler: str, weights: FloatArray, end: float, points: int) -> ReplayPaths:
    """A replay at ``points`` times, >= 2, from the first arrival to ``end``.

    Raises
    ------
    ModelError
        If points is out of range, or memory is short.
    """
    points = require_whole("points", points, 2)
    trace, nodes = started.trace, started.nodes
    users, m = trace.n_users, trace.n_resources
    require_memory(
        32.0 * points * users + 16.0 * points * m, f"a record at {points} times", "give fewer points"
    )
    times = np.linspace(trace.arrivals[0], end, points)
    total = np.where(nodes.total_capacities > 0, nodes.total_capacities, np.inf)
    tasks = np.zeros((2, points), np.int64)
    use, stranded = np.zeros((points, m)), np.zeros((points, m))
    shares, entitled = np.zeros((points, users)), np.zeros((points, users))
    envy, jain = np.full((points, users), np.nan), np.full(points, np.nan)
    pieces = None if trace.devices is None else np.zeros(points)
    odds = np.bincount(trace.type_of, minlength=trace.n_types) / trace.n_tasks
    with Task("a replay over time", points, "times", instead="give fewer points") as task:
        for k, time in enumerate(times):
            now = Moment(started, float(time))
            tasks[:, k] = len(now.running), len(now.waiting)
            use[k] = now.held.sum(axis=0) / total
            shares[k] = (now.held / total).max(axis=1)
            owners, first = np.unique(trace.user_of[now.waiting], return_index=True)
            present = np.bincount(trace.user_of[now.running], minlength=users) > 0
            present[owners] = True
            if present.any():
                entitled[k] = np.where(present, weights, 0.0) / weights[present].sum()
            if len(owners):
                jain[k] = _jain(shares[k, owners] / weights[owners])
                oldest = trace.types[trace.type_of[now.waiting[first]]]
                envy[k, owners] = _envy(now.held, weights, owners, oldest, total)
                lost = np.ones(nodes.n_nodes, dtype=bool)
                for t in np.unique(trace.type_of[now.waiting]):
                    lost &= ~now.fits(int(t))
                stranded[k] = np.clip(nodes.capacities - now.used, 0.0, None)[lost].sum(axis=0) / total
            if pieces is not None:
                pieces[k] = _fragmentation(now, odds)
            task.advance()
    return ReplayPaths(
        scheduler,
        trace.users,
        trace.resources,
        times=frozen(times),
        utilization=frozen(use),
        running=frozen(tasks[0].copy()),
        waiting=frozen(tasks[1].copy()),
        shares=frozen(shares),
        entitlements=frozen(entitled),
        envy=frozen(envy),
        jain=frozen(jain),
        stranded=frozen(stranded),
        fragmentation=None if pieces is None else frozen(pieces),
    )


def _largest(values: FloatArray) -> FloatArray:
    """Largest of each row, NaN where all are NaN."""
    filled = np.where(np.isnan(values), -np.inf, values).max(axis=1)
    return np.where(np.isfinite(filled), filled, np.nan)


def _jain(values: FloatArray) -> float:
    """Jain's index, NaN where it says nothing."""
    squares = float((values**2).sum())
    return float(values.sum() ** 2 / (len(values) * squares)) if len(values) > 1 and squares > 0 else np.nan


def _envy(
    held: FloatArray, weights: FloatArray, owners: NDArray[Any], wanted: FloatArray, total: FloatArray
) -> FloatArray:
    """Largest growth of the dominant share of each owner in the bundle of another, at least 0."""
    some = np.flatnonzero(held.any(axis=1))
    result = np.zeros(len(owners))
    for k, (user, demand) in enumerate(zip(owners, wanted, strict=True)):
        asks = demand > 0
        per_task = float((demand / total).max())
        own = (held[user, asks] / demand[asks]).min()
        others = held[np.ix_(some, asks)] * (weights[user] / weights[some])[:, None] / demand[asks]
        best = others.min(axis=1).max(initial=0.0)
        result[k] = max(best - own, 0.0) * per_task
    return result


def _fragmentation(now: Moment, odds: FloatArray) -> float:
    """Expected part of all devices that is free and of no use to a task drawn from the trace."""
    trace, nodes = now.of.trace, now.of.nodes
    assert trace.devices is not None
    free = now.free_devices
    all_free = free.sum(axis=1)

    @cache  # many types ask for the same part
    def below(part: float) -> FloatArray:
        return np.asarray(np.where(free + 1e-12 < part, free, 0.0).sum(axis=1))

    lost = 0.0
    for t in np.flatnonzero(odds):
        wanted = trace.types[t, trace.devices]
        of_no_use = all_free
        if wanted > 0:
            of_no_use = np.where(now.fits(int(t)), below(min(wanted, 1.0)), all_free)
        lost += odds[t] * float(of_no_use.sum())
    total = float(nodes.total_capacities[trace.devices])
    return lost / total if total > 0 else 0.0
