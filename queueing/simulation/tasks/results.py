"""What a simulation of whole tasks gives back: besides means, the use of resources and of servers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairness.display.drawing import bars
from fairness.display.result import Result
from fairness.machine.kernels import IntArray
from fairness.model.problem import FloatArray
from queueing.simulation.replications import Estimate
from queueing.simulation.results import Simulation

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["ServerEvidence", "TaskSimulation"]


def percentage(value: float, half_width: float) -> str:
    """Part of the whole with its interval, if there is one."""
    return f"{value:.2%}" + (f" +- {half_width:.2%}" if math.isfinite(half_width) else " (no interval)")


@dataclass(frozen=True, eq=False, repr=False)
class ServerEvidence(Result):
    """How the servers of a cluster were used; part of a :class:`TaskSimulation`.

    Attributes
    ----------
    placement : str
        Name of the placement rule.
    servers, resources : tuple of str
    utilization : Estimate of shape (n_servers, n_resources)
        Time average of usage over capacity; 0 where the capacity is 0.
    waiting : Estimate of shape (1,)
        Part of the time in which some job had a task that it might start, but that did not.
    fragmented : Estimate of shape (1,)
        Part of the time in which the free amounts of all servers where it may run, taken together, would have
        held a task of such a job. It includes time lost by blocking and by binding jobs to servers; with a
        scheduler that does not block and tasks placed one by one it is fragmentation alone.
    """

    placement: str
    servers: tuple[str, ...]
    resources: tuple[str, ...]
    utilization: Estimate
    waiting: Estimate
    fragmented: Estimate

    def to_dataframe(self) -> pd.DataFrame:
        """Utilisation, one row per server and one column per resource."""
        import pandas as pd

        return pd.DataFrame(
            self.utilization.value,
            index=pd.Index(self.servers, name="server"),
            columns=pd.Index(self.resources, name="resource"),
        )

    def summary(self) -> str:
        """Utilisation of the servers (of the extremes if there are many), waits and fragmentation."""
        used = self.utilization.value
        if len(self.servers) <= 8:
            lines = [
                f"  {name}: " + ", ".join(f"{r} {u:.2%}" for r, u in zip(self.resources, row, strict=True))
                for name, row in zip(self.servers, used, strict=True)
            ]
        else:
            lines = [
                f"  {name} in use: {column.min():.2%} to {column.max():.2%} on {len(self.servers)} servers"
                for name, column in zip(self.resources, used.T, strict=True)
            ]
        wait, lost = (percentage(e.value[0], e.half_width[0]) for e in (self.waiting, self.fragmented))
        lines.append(f"  {self.placement}: jobs wait {wait} of the time, {lost} with enough free in all")
        return "\n".join(lines)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Bars: part of each resource of each server in use, with its interval."""
        names = [f"{server}, {resource}" for server in self.servers for resource in self.resources]
        used = self.utilization
        text = f"servers under {self.placement}"
        return bars(ax, names, used.value.ravel(), error=used.half_width.ravel(), ylabel="in use", title=text)


@dataclass(frozen=True, eq=False, repr=False)
class TaskSimulation(Simulation):
    """Estimates from a simulation of whole tasks; made by :func:`simulate`.

    Attributes
    ----------
    utilization_estimate : Estimate of shape (n_resources,)
        Time average of usage over capacity, of all servers together.
    jobs : ndarray of shape (n_classes,)
        Jobs whose durations were measured.
    servers : ServerEvidence or None
        Of a cluster, or where a placement rule was given: utilisation of each server, fragmentation.
    decisions : int
        How often a scheduler in Python was asked, warm-up included; 0 for compiled ones.

    The other attributes are those of :class:`Simulation`.
    """

    utilization_estimate: Estimate
    jobs: IntArray
    servers: ServerEvidence | None
    decisions: int

    @property
    def utilization(self) -> FloatArray:
        """Time average of usage over capacity, (n_resources,)."""
        return self.utilization_estimate.value

    @property
    def _others(self) -> Mapping[str, Callable[[Axes | None], Axes]]:
        return {"utilization": self._plot_utilization}

    def _plot_utilization(self, ax: Axes | None) -> Axes:
        used, title = self.utilization_estimate, f"{self.policy}, simulated"
        names = self.system.problem.resources
        return bars(ax, names, used.value, error=used.half_width, ylabel="part in use", title=title)

    def _effort(self) -> str:
        asked = f", {self.decisions:,} decisions in Python" if self.decisions else ""
        return f"task by task: {self.replications} replications, {self.events:,} events{asked}"

    def _evidence(self) -> list[str]:
        estimate = self.utilization_estimate
        used = zip(self.system.problem.resources, estimate.value, estimate.half_width, strict=True)
        lines = ["  in use: " + ", ".join(f"{name} {percentage(u, h)}" for name, u, h in used)]
        return lines if self.servers is None else [*lines, *self.servers.summary().splitlines()]
