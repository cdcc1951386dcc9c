"""A replay at one instant: what is in use where, and what waits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairness.arguments.validation import FloatArray
from fairness.machine.kernels import IntArray
from queueing.recorded.cluster_trace import ClusterTrace
from queueing.recorded.node_list import NodeList
from queueing.replays.engine.state import Indices
from queueing.simulation.tasks.rules.server_choice import ROUNDING

__all__ = ["Moment", "Started"]


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
        return self._sums(trace.user_of[self.running], trace.n_users)

    @cached_property
    def used(self) -> FloatArray:
        """Units of each resource in use on each node, (n_nodes, n_resources)."""
        return self._sums(self.of.node_of[self.running], self.of.nodes.n_nodes)

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

    def fits(self, t: int) -> NDArray[np.bool_]:
        """On which nodes a task of the type would start now, (n_nodes,)."""
        trace, nodes = self.of.trace, self.of.nodes
        demand = trace.types[t]
        good: NDArray[np.bool_] = (self.used + demand <= nodes.capacities * (1.0 + ROUNDING)).all(axis=1)
        if trace.eligible_models is not None:
            good &= trace.eligible_models[t, nodes.model_of(trace)]
        if trace.devices is not None and demand[trace.devices] > 0:
            if demand[trace.devices] >= 1:
                good &= (self.free_devices >= 1.0).sum(axis=1) >= demand[trace.devices]
            else:
                good &= self.free_devices.max(axis=1) + ROUNDING >= demand[trace.devices]
        return good

    def _sums(self, owners: NDArray[np.int32], count: int) -> FloatArray:
        trace = self.of.trace
        demands = trace.types[trace.type_of[self.running]]
        columns = [np.bincount(owners, demands[:, r], count) for r in range(trace.n_resources)]
        return np.stack(columns, axis=1)
