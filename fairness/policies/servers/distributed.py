r"""PS-DSF by servers that act on their own (section III-D of [1]_).

Every server repeats its *server procedure* with a period, at its own phase, knowing its own resources and, of
the classes, only their totals on the other servers, as they were a random delay ago. Whatever the servers
know, every one of them divides just what it has, so the placement is feasible at all times. While nothing
changes the placement approaches a PS-DSF allocation (resource division); the residual of Theorem 1 shows
how far it is.

Classes come and go: the tasks of a class that leaves end at once, and a class that returns starts from
nothing.

References
----------
.. [1] J. Khamse-Ashari, I. Lambadaris, G. Kesidis, B. Urgaonkar and Y. Zhao, "Per-server dominant-share
   fairness (PS-DSF): a multi-resource fair allocation mechanism for heterogeneous servers", ICC 2017.
   arXiv:1611.00404.
"""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairness.arguments.validation import (
    Entropy,
    FloatArray,
    Seed,
    entropy_of,
    generator,
    require_choice,
    require_number,
)
from fairness.display.drawing import curves
from fairness.display.result import Result
from fairness.errors import ModelError
from fairness.evidence.clusters import resource_division_certificate, server_usage
from fairness.model.cluster import Cluster
from fairness.policies.servers.engines.algorithm_one import server_procedure
from fairness.policies.servers.engines.resource_division import fill

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["PROCEDURES", "DistributedRun", "distributed_psdsf"]

LARGEST_TIME = 1e300
MOST_TURNS = 1e9
"""Most turns of a server, or records, of one run."""

PROCEDURES = ("filling", "algorithm-1")
"""How a server works out its part: by water-filling, or by the server procedure as printed."""


@dataclass(frozen=True, eq=False, repr=False)
class DistributedRun(Result):
    """Placements over time; made by :func:`distributed_psdsf`.

    Attributes
    ----------
    cluster : Cluster
    times : ndarray of shape (n_times,), time units
    placement : ndarray of shape (n_times, n_classes, n_servers), tasks
        Just after the events at that time.
    active : ndarray of bool, shape (n_times, n_classes)
    changes : tuple of float
        When the set of active classes changed, and 0.
    residuals : ndarray of shape (n_times,)
        How far the placement is from a PS-DSF allocation (Theorem 1).
    settled : float
        Residual that counts as settled.
    entropy : int, list of int or str
        The seed: ``rng=entropy`` repeats the run; "a generator" where no seed does.
    """

    cluster: Cluster
    times: FloatArray
    placement: FloatArray
    active: NDArray[np.bool_]
    changes: tuple[float, ...]
    residuals: FloatArray
    settled: float
    entropy: Entropy

    @cached_property
    def tasks(self) -> FloatArray:
        """Tasks per class, shape (n_times, n_classes)."""
        return self.placement.sum(axis=2)

    @cached_property
    def utilization(self) -> FloatArray:
        """Usage over capacity, shape (n_times, n_servers, n_resources); 1 where the capacity is 0."""
        return np.array([server_usage(self.cluster, placement) for placement in self.placement])

    @property
    def _windows(self) -> list[NDArray[np.intp]]:
        """Per change: the records up to the next."""
        first = np.searchsorted(self.times, self.changes)
        return np.split(np.arange(len(self.times)), first[1:])

    @cached_property
    def settle_times(self) -> tuple[float, ...]:
        """Per change: time until the residual stays settled up to the next change; nan if it does not."""
        result = []
        for start, window in zip(self.changes, self._windows, strict=True):
            restless = np.flatnonzero(self.residuals[window] > self.settled)
            first = 0 if restless.size == 0 else int(restless[-1]) + 1
            result.append(float(self.times[window[first]] - start) if first < window.size else np.nan)
        return tuple(result)

    def to_dataframe(self) -> pd.DataFrame:
        """One row per time: tasks of each class, residual."""
        frame = pd.DataFrame(self.tasks, columns=list(self.cluster.job_classes))
        frame.insert(0, "residual", self.residuals)
        frame.index = pd.Index(self.times, name="time")
        return frame

    def summary(self) -> str:
        """What a person wants to read: changes, how soon the servers settled, tasks at the end."""
        lines = [f"distributed PS-DSF, {self.cluster.n_servers} servers, {self.times[-1]:g} time units"]
        for start, window, took in zip(self.changes, self._windows, self.settle_times, strict=True):
            if not len(window):
                lines.append(f"  from {start:g}: not recorded")
                continue
            now = self.active[window[0]]
            present = ", ".join(name for name, on in zip(self.cluster.job_classes, now, strict=True) if on)
            verdict = "not settled" if np.isnan(took) else f"settled after {took:g}"
            lines.append(f"  from {start:g}: {present or 'nobody'}; {verdict}")
        tasks = ", ".join(f"{v:.6g}" for v in self.tasks[-1])
        lines.append(f"  at the end: tasks ({tasks}), residual {self.residuals[-1]:.1e}")
        return "\n".join(lines)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Tasks of each class over time."""
        ax = curves(
            ax,
            self.times,
            self.tasks,
            self.cluster.job_classes,
            xlabel="time (lines: classes come or go)",
            ylabel="tasks",
            title="Servers that act on their own",
        )
        for time in self.changes[1:]:
            ax.axvline(time, color="0.7", linewidth=0.8, zorder=0)
        return ax


def distributed_psdsf(
    cluster: Cluster,
    horizon: float,
    *,
    period: float = 1.0,
    delay: float | tuple[float, float] = 0.0,
    activity: Mapping[int, Sequence[tuple[float, float]]] | None = None,
    sample_every: float | None = None,
    procedure: str = "filling",
    settled: float = 1e-3,
    rng: Seed = None,
) -> DistributedRun:
    """Let every server act on its own, and record what comes of it.

    Parameters
    ----------
    cluster : Cluster
    horizon : float, time units
    period : float
        Time between two actions of a server; the first comes after a random part of it.
    delay : float or (low, high)
        How old a server's knowledge of the others is, at each action; uniform between two bounds.
    activity : mapping of class number to intervals (start, end), optional
        When a class is active; classes that are not listed always are.
    sample_every : float, optional
        Time between two records; the end is recorded too. Default: the period.
    procedure : {"filling", "algorithm-1"}
        How a server works out its part.
    settled : float
        Residual of Theorem 1 that counts as settled.
    rng : numpy Generator or seed, optional

    Returns
    -------
    DistributedRun

    Raises
    ------
    ModelError
        If a time is not positive or an interval is empty, or class, procedure or delay is unknown.
    NotConvergedError
        If the server procedure as printed makes too many updates.

    Examples
    --------
    >>> from fairness import Cluster
    >>> servers = Cluster([[1, 2], [1, 1]], [[9, 12], [12, 6]])
    >>> distributed_psdsf(servers, 40, activity={1: [(0, 20)]}, settled=1e-6, rng=0)
    distributed PS-DSF, 2 servers, 40 time units
      from 0: class 1, class 2; settled after ...
      from 20: class 1; settled after ...
      at the end: tasks (9, 0), residual ...
    """
    if not isinstance(cluster, Cluster):
        raise ModelError(f"distributed_psdsf needs a Cluster; got {type(cluster).__name__}")
    low, high = _checked(horizon, period, delay, sample_every, procedure, settled)
    stream = generator(rng)
    entropy = entropy_of(stream)
    intervals = _intervals(cluster, activity)
    spacing = period if sample_every is None else sample_every
    samples: FloatArray = np.arange(int(horizon / spacing * (1 + 1e-12)) + 1, dtype=float) * spacing
    if samples[-1] < horizon * (1 - 1e-12):  # So that every change is followed by a record.
        samples = np.append(samples, horizon)
    ends = sorted({t for spans in intervals.values() for span in spans for t in span if 0 < t < horizon})
    # An interval that begins where another ends changes nothing.
    on = [_active(intervals, cluster.n_classes, t) for t in (0.0, *ends)]
    switches = [t for t, old, new in zip(ends, on, on[1:], strict=False) if (old != new).any()]
    # At equal times classes change first, then servers act, then the record is made.
    events: list[tuple[float, int, int]] = [(t, 0, -1) for t in switches]
    events += [(float(t), 1, int(i)) for i, t in enumerate(stream.uniform(0, period, cluster.n_servers))]
    events += [(float(t), 2, k) for k, t in enumerate(samples)]
    heapq.heapify(events)

    active = on[0]
    placement = np.zeros(cluster.gamma.shape)
    history = [(0.0, placement.copy())]
    records, present = [], []
    while events:
        time, kind, which = heapq.heappop(events)
        if kind == 0:
            active = _active(intervals, cluster.n_classes, time)
            placement[~active] = 0.0
            # What ended is known to be gone, however old the knowledge of the rest.
            history = [(t, np.where(active[:, None], old, 0.0)) for t, old in history]
        elif kind == 1:
            seen = _known(history, time - stream.uniform(low, high))
            others = seen.sum(axis=1) - seen[:, which]
            weights = np.where(active, cluster.weights, 0.0)
            placement[:, which] = _act(cluster, weights, which, placement, others, procedure)
            if time + period <= horizon:
                heapq.heappush(events, (time + period, 1, which))
        else:
            records.append(placement.copy())
            present.append(active.copy())
            continue
        history.append((time, placement.copy()))
        history = history[max(0, bisect_right([t for t, _ in history], time - high) - 1) :]
    residuals = [
        resource_division_certificate(cluster, on.astype(float), p).residual
        for p, on in zip(records, present, strict=True)
    ]
    return DistributedRun(
        cluster,
        samples,
        np.array(records),
        np.array(present),
        (0.0, *switches),
        np.array(residuals),
        settled,
        entropy,
    )


def _act(
    cluster: Cluster,
    weights: FloatArray,
    server: int,
    placement: FloatArray,
    others: FloatArray,
    procedure: str,
) -> FloatArray:
    """New tasks of one server."""
    if procedure == "algorithm-1":
        return server_procedure(cluster, weights, server, placement[:, server], others)[0]
    here = np.flatnonzero((weights > 0) & cluster.eligible[:, server])
    tasks = np.zeros(cluster.n_classes)
    if here.size:
        held, stop = np.zeros(here.size), np.empty(here.size, dtype=np.int64)
        pace = weights[here] * cluster.gamma[here, server]
        fill(pace, np.ascontiguousarray(cluster.task_shares[here, server]), others[here], held, stop)
        tasks[here] = held
    return tasks


def _known(history: list[tuple[float, FloatArray]], time: float) -> FloatArray:
    """Placement at a past time."""
    return history[max(0, bisect_right([t for t, _ in history], time) - 1)][1]


def _active(
    intervals: Mapping[int, Sequence[tuple[float, float]]], n_classes: int, time: float
) -> NDArray[np.bool_]:
    on = np.ones(n_classes, dtype=bool)
    for k, spans in intervals.items():
        on[k] = any(start <= time < end for start, end in spans)
    return on


def _intervals(
    cluster: Cluster, activity: Mapping[int, Sequence[tuple[float, float]]] | None
) -> dict[int, list[tuple[float, float]]]:
    result: dict[int, list[tuple[float, float]]] = {}
    if not isinstance(activity, Mapping | None):
        raise ModelError.of("activity", f"must map class numbers to intervals; got {activity!r}")
    for k, spans in (activity or {}).items():
        if not (isinstance(k, Integral) and 0 <= k < cluster.n_classes):
            raise ModelError.of(
                "activity", f"names class {k!r}; classes are numbered 0..{cluster.n_classes - 1}"
            )
        try:
            result[int(k)] = [(float(start), float(end)) for start, end in spans]
        except (TypeError, ValueError):
            raise ModelError(
                f"activity[{k}] must be a list of intervals, for example [(0, 10)]; got {spans!r}",
                argument="activity",
                index=(k,),
            ) from None
        for start, end in result[int(k)]:
            if not start < end:
                raise ModelError(
                    f"activity[{k}] holds the empty interval ({start:g}, {end:g})",
                    argument="activity",
                    index=(k,),
                )
    return result


def _checked(
    horizon: float,
    period: float,
    delay: float | tuple[float, float],
    sample_every: float | None,
    procedure: str,
    settled: float,
) -> tuple[float, float]:
    times = {"horizon": horizon, "period": period, "settled": settled}
    if sample_every is not None:
        times["sample_every"] = sample_every
    for name, value in times.items():
        require_number(name, value, above=0, most=LARGEST_TIME)
    for name in ("period", "sample_every"):
        if name in times and horizon / times[name] > MOST_TURNS:
            raise ModelError.of(
                name,
                f"= {times[name]:g} is {horizon / times[name]:.3g} times in the horizon {horizon:g}, "
                f"more than {MOST_TURNS:.0e}; raise {name} or lower horizon",
            )
    require_choice("procedure", procedure, PROCEDURES)
    bounds = (delay, delay) if isinstance(delay, (int, float, np.number)) else delay
    try:
        low, high = (float(bound) for bound in bounds)
    except (TypeError, ValueError, OverflowError):
        low = high = np.nan
    if not 0 <= low <= high < np.inf:
        raise ModelError.of("delay", f"must be >= 0, or (low, high) with 0 <= low <= high; got {delay!r}")
    return low, high
