r"""What a replay gives back: when and where every task started, and what follows from it.

Task k waits from its arrival to its start; its *duration* is the time from its arrival to its end, and its
*slowdown* that over the time for which it runs, 1 without a wait. Everything over time
(:meth:`Replay.over_time`) follows from the starts, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairness.arguments.validation import Entropy, FloatArray, IntArray, frozen, require_number
from fairness.display.colours import part_line
from fairness.display.drawing import given_axes, legend_beside
from fairness.display.lettering import label
from fairness.display.result import Result
from fairness.machine.work import duration
from queueing.recorded.cluster_trace import ClusterTrace
from queueing.recorded.node_list import NodeList
from queueing.replays.state import Indices
from queueing.replays.time_series import SHOWN, ReplayPaths, Started, paths_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Replay"]


@dataclass(frozen=True, eq=False, repr=False)
class Replay(Result):
    """A trace as a scheduler would have run it; made by :func:`replay`.

    Attributes
    ----------
    trace : ClusterTrace
    nodes : NodeList
    scheduler, placement : str
        Names of the scheduler and of the placement rule.
    weights : ndarray of shape (n_users,)
    end : float, seconds
        Time of the trace at which the record ends.
    starts : ndarray of shape (n_tasks,), seconds
        NaN for a task that had not started at the end.
    node_of : ndarray of int32, shape (n_tasks,)
        Node where the task runs; -1 if it has not started.
    devices_of : ndarray of int, shape (n_tasks,), or None
        Devices of this node that the task takes: bit d for device d.
    entropy : int, list of int or str
        The seed: ``rng=entropy`` repeats the replay; "a generator" where no seed does.
    """

    trace: ClusterTrace
    nodes: NodeList
    scheduler: str
    placement: str
    weights: FloatArray
    end: float
    starts: FloatArray
    node_of: Indices
    devices_of: IntArray | None
    entropy: Entropy | None

    @property
    def arrived(self) -> NDArray[np.bool_]:
        """Tasks that arrived before the end, shape (n_tasks,)."""
        return self.trace.arrivals <= self.end

    @cached_property
    def ends(self) -> FloatArray:
        """End of each task, beyond the end of the record if it runs then; NaN if it has not started."""
        return frozen(self.starts + self.trace.durations)

    @cached_property
    def waits(self) -> FloatArray:
        """Seconds from arrival to start of each task; NaN if it has not started."""
        return frozen(self.starts - self.trace.arrivals)

    @cached_property
    def durations(self) -> FloatArray:
        """Seconds from arrival to end of each task; NaN if it has not started."""
        return frozen(self.ends - self.trace.arrivals)

    @cached_property
    def slowdowns(self) -> FloatArray:
        """Duration over the time for which the task runs, >= 1; NaN if it has not started."""
        return frozen(self.durations / self.trace.durations)

    @cached_property
    def user_usage(self) -> FloatArray:
        """Units of each resource that each user held on average over the record, (n_users, n_resources)."""
        return frozen(self._usage_until(self.end))

    def _usage_until(self, end: float) -> FloatArray:
        trace, length = self.trace, end - self.trace.arrivals[0]
        seconds = np.clip(np.minimum(self.ends, end) - self.starts, 0.0, None)
        seconds = np.nan_to_num(seconds, nan=0.0)
        work = trace.held_by(trace.user_of, trace.n_users, seconds)
        return work / length if length > 0 else np.zeros_like(work)

    @property
    def utilization(self) -> FloatArray:
        """Time average of usage over capacity of all nodes, shape (n_resources,); 0 where there is none."""
        return self.utilization_until(self.end)

    def utilization_until(self, end: float) -> FloatArray:
        """The same from the first arrival to a time of the trace, seconds; 0 where no time passes.

        A record goes on until its last task has ended, long after others; what a scheduler makes of a full
        cluster shows until the last arrival.

        Examples
        --------
        >>> from queueing import ClusterTrace, FIFOScheduler, NodeList, replay
        >>> trace = ClusterTrace(["CPU"], ["cores"], [0, 10], [10, 90], [[4]], [0, 0], ["a"], [0, 0])
        >>> record = replay(trace, NodeList(["node"], ["CPU"], ["cores"], [[8]]), FIFOScheduler())
        >>> record.utilization, record.utilization_until(10)
        (array([0.5]), array([0.5]))
        """
        end = min(require_number("end", end), self.end)
        total = self.nodes.total_capacities
        used = self._usage_until(end).sum(axis=0)
        return np.divide(used, total, out=np.zeros(len(total)), where=total > 0)

    def over_time(self, points: int = 200, *, end: float | None = None) -> ReplayPaths:
        """Utilisation, shares against entitlements, envy and idle capacity at evenly spaced times.

        Parameters
        ----------
        points : int
            Times, from the first arrival to the end; each shows the state after the events of that instant.
        end : float, seconds, optional
            Last of the times, by the clock of the trace. Default: the end of the record.

        Raises
        ------
        ModelError
            If points or end is out of range, or memory is short.

        Examples
        --------
        >>> from queueing import ClusterTrace, DRFScheduler, NodeList, replay
        >>> trace = ClusterTrace(["CPU"], ["cores"], [0, 0], [10, 20], [[4]], [0, 0], ["a", "b"], [0, 1])
        >>> record = replay(trace, NodeList(["node"], ["CPU"], ["cores"], [[8]]), DRFScheduler())
        >>> record.over_time(5).utilization[:, 0]
        array([1. , 1. , 0.5, 0.5, 0. ])
        """
        started = Started(self.trace, self.nodes, self.starts, self.ends, self.node_of, self.devices_of)
        first = float(self.trace.arrivals[0])
        last = self.end if end is None else require_number("end", end, least=first, most=self.end)
        return paths_of(started, self.scheduler, self.weights, last, points)

    def to_dataframe(self) -> pd.DataFrame:
        """One row per user: weight, tasks, those that started, waits, durations, slowdowns, usage."""
        import pandas as pd

        trace = self.trace
        started = pd.DataFrame(
            {"wait": self.waits, "duration": self.durations, "slowdown": self.slowdowns}
        ).groupby(trace.user_of)
        users = pd.RangeIndex(trace.n_users)
        columns: dict[str, Any] = {
            "weight": self.weights,
            "tasks": np.bincount(trace.user_of[self.arrived], minlength=trace.n_users),
            "started": started["wait"].count().reindex(users, fill_value=0).to_numpy(),
            "mean_wait": started["wait"].mean().reindex(users).to_numpy(),
            "median_wait": started["wait"].median().reindex(users).to_numpy(),
            "longest_wait": started["wait"].max().reindex(users).to_numpy(),
            "mean_duration": started["duration"].mean().reindex(users).to_numpy(),
            "mean_slowdown": started["slowdown"].mean().reindex(users).to_numpy(),
        }
        total = np.where(self.nodes.total_capacities > 0, self.nodes.total_capacities, np.inf)
        columns |= {
            f"share of {name}": self.user_usage[:, r] / total[r] for r, name in enumerate(trace.resources)
        }
        return pd.DataFrame(columns, index=pd.Index(trace.users, name="user"))

    def task_table(self) -> pd.DataFrame:
        """One row per task: that of the trace, with its start, end, wait, slowdown and node."""
        frame = self.trace.to_dataframe()
        names = np.array([*self.nodes.names, ""], dtype=object)
        return frame.assign(
            start=self.starts, end=self.ends, wait=self.waits, slowdown=self.slowdowns,
            node=names[self.node_of],
        )  # fmt: skip

    def summary(self) -> str:
        """Tasks, waits and slowdowns, and what was in use."""
        trace = self.trace
        started = ~np.isnan(self.starts)
        lines = [
            f"Replay({self.scheduler}, {self.placement}: {trace.n_tasks:,} tasks of {trace.n_users:,} users "
            f"on {self.nodes.n_nodes:,} nodes, {duration(self.end - float(trace.arrivals[0]))})",
            f"started {started.sum():,} of {self.arrived.sum():,} tasks that arrived, "
            f"{(self.ends <= self.end).sum():,} ended",
        ]
        if started.any():
            waits, slow = self.waits[started], self.slowdowns[started]
            mean, (median, tail) = float(waits.mean()), np.quantile(waits, [0.5, 0.95])
            lines.append(
                f"waits: mean {duration(mean)}, median {duration(median)}, 95% up to {duration(tail)}, "
                f"longest {duration(float(waits.max()))}; {np.mean(waits > 0):.1%} of the tasks wait"
            )
            median, tail = np.quantile(slow, [0.5, 0.95])
            lines.append(f"slowdowns: mean {slow.mean():.4g}, median {median:.4g}, 95% up to {tail:.4g}")
        last = float(trace.arrivals[-1])
        lines.append(f"in use on average: {self._told_use(self.end)}")
        if trace.arrivals[0] < last < self.end:
            lines[-1] += f"; until the last arrival: {self._told_use(last)}"
        return "\n  ".join(lines)

    def _told_use(self, end: float) -> str:
        used = zip(self.trace.resources, self.utilization_until(end), strict=True)
        return ", ".join(f"{name} {part:.2%}" for name, part in used)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Part of the tasks whose slowdown is no larger, of each user (if they are few) and of all."""
        ax = given_axes(ax)
        groups = {"all": np.ones(self.trace.n_tasks, dtype=bool)}
        if 1 < self.trace.n_users <= SHOWN:
            groups |= {name: self.trace.user_of == u for u, name in enumerate(self.trace.users)}
        for k, (name, mine) in enumerate(groups.items(), -1):
            values = np.sort(self.slowdowns[mine & ~np.isnan(self.starts)])
            if len(values):
                parts = np.arange(1, len(values) + 1) / len(values)
                style: dict[str, Any] = {"color": "black", "linewidth": 2.0} if k < 0 else part_line(k)
                ax.step([1.0, *values], [0.0, *parts], where="post", label=label(name), **style)
        ax.set(
            xscale="log",
            ylim=(0, 1.02),
            xlabel="slowdown",
            ylabel="part of the tasks",
            title=label(f"{self.scheduler}, {self.placement}"),
        )
        legend_beside(ax)
        return ax
