"""A placement of tasks on the servers of a cluster, with everything a reader wants to know about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fairness.arguments.validation import FloatArray
from fairness.display.tables import Columns
from fairness.display.wording import in_use
from fairness.evidence.clusters import server_usage, time_shares, virtual_dominant_shares
from fairness.evidence.pools import Certificate
from fairness.model.cluster import Cluster
from fairness.protocol.cluster_policy import AnyPolicy
from fairness.results.any_allocation import AnyAllocation
from fairness.results.placements import placement_bars, server_table

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.axes import Axes

__all__ = ["ClusterAllocation"]


@dataclass(frozen=True, eq=False, repr=False)
class ClusterAllocation(AnyAllocation):
    """What a policy gives to the classes of a cluster; made by :func:`fairness.allocate`.

    Attributes
    ----------
    cluster : Cluster
    policy : ClusterPolicy or None
        The policy itself; None in an allocation read from a file, if it was a class of your own.
    name : str
        What tables call the policy.
    division : {"resource", "time"}
        How servers are shared.
    counts : ndarray of shape (n_classes,), jobs
    placement : ndarray of shape (n_classes, n_servers), tasks
        Often not unique even where :attr:`tasks` is.
    certificate : Certificate
        The claim that defines the policy, and how far the placement is from it.
    levels : ndarray of shape (n_classes,) or None
        What the policy levels: tasks over (jobs x weight x yardstick of the policy).
    prices : ndarray of shape (n_servers,) or None
        Price of a whole server, for policies that are a market.
    details : dict
        Other evidence, by name.
    """

    cluster: Cluster
    policy: AnyPolicy | None
    name: str
    division: str
    counts: FloatArray
    placement: FloatArray
    certificate: Certificate
    levels: FloatArray | None = None
    prices: FloatArray | None = None
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def model(self) -> Cluster:
        """The cluster."""
        return self.cluster

    @property
    def placed(self) -> FloatArray:
        """The placement."""
        return self.placement

    @cached_property
    def tasks(self) -> FloatArray:
        """Tasks per class on all servers together, shape (n_classes,)."""
        return self.placement.sum(axis=1)

    @cached_property
    def usage(self) -> FloatArray:
        """Units of each resource in use on each server, shape (n_servers, n_resources)."""
        return np.where(self.cluster.capacities > 0, self.utilization * self.cluster.capacities, 0.0)

    @cached_property
    def utilization(self) -> FloatArray:
        """Usage over capacity, shape (n_servers, n_resources); 1 where the capacity is 0."""
        return server_usage(self.cluster, self.placement)

    @cached_property
    def time_shares(self) -> FloatArray:
        """Part of the time for which each server is busy if it serves one class at a time, (n_servers,)."""
        return time_shares(self.cluster, self.placement)

    @cached_property
    def virtual_dominant_shares(self) -> FloatArray:
        """Tasks over gamma, (n_classes, n_servers); infinite where a class cannot run."""
        return virtual_dominant_shares(self.cluster, self.tasks)

    def to_columns(self) -> Columns:
        """One row per class: jobs, total tasks, tasks on each server."""
        placed = {f"tasks on {server}": self.placement[:, i] for i, server in enumerate(self.cluster.servers)}
        classes = self.cluster.job_classes
        return Columns({"job_class": classes, "jobs": self.counts, "tasks": self.tasks, **placed})

    def to_dataframe(self) -> pd.DataFrame:
        """One row per class: jobs, total tasks, tasks on each server."""
        return self.to_columns().to_dataframe()

    def to_dataset(self) -> xr.Dataset:
        """Everything with labels: dims job_class, server, resource; the policy is a coordinate."""
        cluster = self.cluster
        data: dict[str, tuple[tuple[str, ...], Any]] = {
            "counts": (("job_class",), self.counts),
            "tasks": (("job_class",), self.tasks),
            "placement": (("job_class", "server"), self.placement),
            "virtual_dominant_shares": (("job_class", "server"), self.virtual_dominant_shares),
            "eligible": (("job_class", "server"), cluster.eligible),
            "demands": (("job_class", "resource"), cluster.demands),
            "capacities": (("server", "resource"), cluster.capacities),
            "usage": (("server", "resource"), self.usage),
            "utilization": (("server", "resource"), self.utilization),
            "time_shares": (("server",), self.time_shares),
        }
        return self._dataset(data, division=self.division)

    def summary(self) -> str:
        """What a person wants to read: the placement, utilization of every server, certificate."""
        cluster = self.cluster
        lines = [f"{self.name} allocation ({self.division} division)"]
        if self._in_full:
            lines += server_table(
                cluster,
                self.counts,
                [f"{tasks:.6g}" for tasks in self.tasks],
                lambda n, i: f"{self.placement[n, i]:.6g}",
            )
            for i, server in enumerate(cluster.servers):
                used = ", ".join(
                    in_use(name, self.usage[i, r], cluster.capacities[i, r], self.saturated[i, r])
                    for r, name in enumerate(cluster.resources)
                    if cluster.capacities[i, r] > 0
                )
                busy = f", busy {self.time_shares[i]:.6g} of the time" if self.division == "time" else ""
                lines.append(f"  {server}: {used}{busy}")
        else:
            full = (self.saturated & (cluster.capacities > 0)).any(axis=1)
            lines.append(
                f"  {cluster.n_classes} classes on {cluster.n_servers} servers, {self.tasks.sum():.6g} tasks "
                f"in all, {int(full.sum())} servers with a full resource"
            )
        lines.append(f"  {self.certificate}")
        return "\n".join(lines)

    @property
    def _in_full(self) -> bool:
        """Whether the summary lists all classes and servers."""
        return self.cluster.n_servers <= 8 and self.cluster.n_classes <= 40

    @property
    def _tabulated(self) -> int:
        return 1 + self.cluster.n_classes if self._in_full else 0

    def plot(self, ax: Axes | None = None) -> Axes:
        """Stacked bars: how much of each resource of each server every class holds."""
        return placement_bars(self.cluster, self.placement, f"{self.name} allocation", ax)
