"""The nodes of a recorded cluster, and the models that they make together with its tasks.

A :class:`NodeList` holds what stands in a list of nodes: names, capacities and models (of the GPUs, say).
With a :class:`~queueing.recorded.cluster_trace.ClusterTrace` it becomes a :class:`~fairness.Cluster`, with
the placement constraints of the tasks, or one pool in which nodes are forgotten (:class:`~fairness.Problem`).
In both tasks may be divided; that is what fair shares are defined for. Whole tasks are for a replay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairness.arguments.labels import by_label
from fairness.arguments.validation import (
    FloatArray,
    checked_names,
    float_array,
    frozen,
    require,
    require_choice,
    require_number,
)
from fairness.display.colours import part_colour
from fairness.display.drawing import given_axes, legend_beside
from fairness.display.lettering import label
from fairness.display.result import Result
from fairness.display.storage import LATER
from fairness.errors import ModelError
from fairness.machine.work import duration
from fairness.model.cluster import Cluster
from fairness.model.problem import Problem
from queueing.recorded.cluster_trace import OUTLASTED, ClusterTrace
from queueing.recorded.places import Indices, chosen, indices_into

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["NodeList"]

CLASSES = ("type", "user")


@dataclass(frozen=True, eq=False, repr=False, init=False)
class NodeList(Result):
    """Nodes with their capacities.

    Parameters
    ----------
    names : sequence of str of length n_nodes
    resources, units : sequence of str of length n_resources
        As those of the trace that will run here.
    capacities : array_like of shape (n_nodes, n_resources), units of resource
        Finite, >= 0.
    models : sequence of str of length n_nodes, optional
        Model of each node; "" for a node without one. Default: all without.
    notes : sequence of str
        What a reader merged or assumed, with counts.

    Raises
    ------
    ModelError
        If lengths differ, a name stands twice, or a capacity is out of range.

    Examples
    --------
    >>> nodes = NodeList(["a", "b", "c"], ["CPU", "GPU"], ["cores", "devices"],
    ...                  [[32, 2], [32, 2], [64, 0]], ["T4", "T4", ""])
    >>> nodes
    NodeList(3 nodes of 2 kinds)
      CPU: 128 cores; GPU: 4 devices
      2 T4: CPU 32, GPU 2
      1 without model: CPU 64, GPU 0
    """

    names: tuple[str, ...]
    resources: tuple[str, ...]
    units: tuple[str, ...]
    capacities: FloatArray
    models: tuple[str, ...]
    notes: tuple[str, ...] = field(default=(), metadata=LATER)

    def __init__(
        self,
        names: Sequence[str],
        resources: Sequence[str],
        units: Sequence[str],
        capacities: ArrayLike,
        models: Sequence[str] | None = None,
        *,
        notes: Sequence[str] = (),
    ) -> None:
        hosts = checked_names("names", names, len(names), "node")
        columns = checked_names("resources", resources, len(resources), "resource")
        measures = tuple(str(unit) for unit in units)
        if len(measures) != len(columns):
            raise ModelError.of("units", f"must name {len(columns)} units, one per resource; got {measures}")
        axes = {"servers": hosts, "resources": columns}
        table = by_label(axes, {"capacities": (capacities, ("servers", "resources"))})[1][0]
        c = float_array("capacities", table, 2)
        if not hosts or c.shape != (len(hosts), len(columns)):
            raise ModelError.of(
                "capacities",
                f"must have shape (n_nodes, n_resources) = {(len(hosts), len(columns))}; got {c.shape}",
            )
        require("capacities", c, np.isfinite(c) & (c >= 0), "finite and >= 0", hosts, columns)
        kinds = ("",) * len(hosts) if models is None else tuple(str(model) for model in models)
        if len(kinds) != len(hosts):
            raise ModelError.of("models", f"must name {len(hosts)} models, one per node; got {len(kinds)}")
        vars(self).update(
            names=hosts, resources=columns, units=measures, capacities=frozen(c), models=kinds,
            notes=tuple(str(note) for note in notes),
        )  # fmt: skip

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.names)

    @property
    def n_resources(self) -> int:
        """Number of resources."""
        return len(self.resources)

    @cached_property
    def total_capacities(self) -> FloatArray:
        """Units of each resource on all nodes, shape (n_resources,)."""
        return frozen(self.capacities.sum(axis=0))

    @cached_property
    def kind_of(self) -> Indices:
        """Kind of each node: nodes of one model and equal capacities are one kind, by first appearance."""
        seen: dict[tuple[str, tuple[float, ...]], int] = {}
        rows = zip(self.models, map(tuple, self.capacities.tolist()), strict=True)
        places = [seen.setdefault(row, len(seen)) for row in rows]
        return indices_into("kind_of", places, len(places), "nodes")

    def only(self, nodes: ArrayLike) -> NodeList:
        """Some of the nodes, by a mask or by place, in this order; ModelError if they do not fit."""
        places = chosen("nodes", nodes, self.n_nodes)
        return NodeList(
            [self.names[k] for k in places],
            self.resources,
            self.units,
            self.capacities[places],
            [self.models[k] for k in places],
            notes=self.notes,
        )

    def model_of(self, trace: ClusterTrace) -> Indices:
        """Column of ``trace.eligible_models`` of each node, shape (n_nodes,); zeros where there are none.

        Raises
        ------
        ModelError
            If a node is of a model that the trace does not list: nothing says who may run there.
        """
        self.require_same_resources(trace)
        if trace.eligible_models is None:
            return indices_into("models", np.zeros(self.n_nodes, dtype=np.int32), 1, "models")
        places = {model: k for k, model in enumerate(trace.models)}
        for k, model in enumerate(self.models):
            if model not in places:
                raise ModelError.of(
                    "models",
                    f"has {model!r} for node {self.names[k]!r}, but the trace lists only "
                    f"{', '.join(map(repr, trace.models))}; add it to the trace's models and eligible_models",
                    k,
                )
        found = [places[model] for model in self.models]
        return indices_into("models", found, len(places), "models")

    def eligible(self, trace: ClusterTrace) -> NDArray[np.bool_]:
        """Where the constraints of the tasks let a type run, shape (n_types, n_nodes); capacities aside."""
        columns = self.model_of(trace)
        if trace.eligible_models is None:
            return np.ones((trace.n_types, self.n_nodes), dtype=bool)
        return trace.eligible_models[:, columns]

    def offered_load(self, trace: ClusterTrace) -> FloatArray:
        """Work that arrives per second over the capacity, shape (n_resources,): more than 1 never fits.

        Examples
        --------
        >>> trace = ClusterTrace(["CPU"], ["cores"], [0, 10], [5, 5], [[4]], [0, 0], ["u"], [0, 0])
        >>> NodeList(["a"], ["CPU"], ["cores"], [[8]]).offered_load(trace)
        array([0.5])
        """
        self.require_same_resources(trace)
        offered = trace.offered_usage
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(offered > 0, offered / self.total_capacities, 0.0)

    def at_load(self, trace: ClusterTrace, load: float) -> ClusterTrace:
        """The same tasks, arriving faster or slower, so that the busiest resource is offered a load.

        A note of the trace says where tasks outlast it, so that the load does not build up.

        Raises
        ------
        ModelError
            If the load is not positive, all tasks arrive at once, or no node has what they demand.

        Examples
        --------
        >>> trace = ClusterTrace(["CPU"], ["cores"], [0, 40], [5, 5], [[4]], [0, 0], ["u"], [0, 0])
        >>> fast = NodeList(["a"], ["CPU"], ["cores"], [[8]]).at_load(trace, 1.25)
        >>> fast.arrivals
        array([0., 4.])
        """
        load = require_number("load", load, above=0)
        offered = self.offered_load(trace)
        r = int(offered.argmax())
        if not 0 < offered[r] < np.inf:
            raise ModelError.of(
                "load",
                f"cannot be {load:g}: the tasks offer {offered[r]:g} at any speed, as they arrive at one "
                "time, or demand what no node has; leave it out",
            )
        made = trace.scaled(load / float(offered[r]))
        if made.part_done >= OUTLASTED:
            return made
        peak = made.peak_usage / np.where(self.total_capacities > 0, self.total_capacities, np.inf)
        busiest = int(peak.argmax())
        told = (
            f"load {load:g} does not build up, as the tasks outlast the {duration(made.span)} in which they "
            f"arrive: if none waited, {made.part_done:.2g} of the work would be done then, and "
            f"{trace.resources[busiest]} in use to {peak[busiest]:.3g} of the capacity at most"
        )
        told += ", so that nobody has to wait for capacity" * bool(peak[busiest] <= 1)
        return made.noted(told)

    def cluster(self, trace: ClusterTrace, *, by: str = "type", grouped: bool = False) -> Cluster:
        """The nodes as servers, and classes of the trace's tasks with their placement constraints.

        Parameters
        ----------
        trace : ClusterTrace
        by : {"type", "user"}
            A class per type that occurs, or per user. A user's class demands what its tasks hold on average,
            weighted by duration; all its tasks must have the same constraints.
        grouped : bool
            Equal nodes become one server with the capacities of all; no difference for tasks that may be
            divided, and the policies have fewer servers to fill.

        Raises
        ------
        ModelError
            If resources or units differ from the trace's, a model is unknown to it, tasks of a user have
            different constraints, a class can run nowhere, or no class can use a node (leave it out:
            :meth:`only`).

        Examples
        --------
        >>> trace = ClusterTrace(["CPU"], ["cores"], [0, 10], [5, 5], [[4], [2]], [0, 1], ["u"], [0, 0])
        >>> nodes = NodeList(["a", "b"], ["CPU"], ["cores"], [[8], [8]])
        >>> nodes.cluster(trace, grouped=True).gamma
        array([[4.],
               [8.]])
        >>> nodes.cluster(trace, by="user").demands
        array([[3.]])
        """
        demands, names, rows = self._classes(trace, by)
        allowed = self.eligible(trace)
        if by == "type":
            allowed = allowed[rows]
        else:
            allowed = np.array([_one_constraint(trace, user, allowed) for user in rows])
        hosts, capacities = list(self.names), self.capacities
        if grouped:
            _, first, sizes = np.unique(self.kind_of, return_index=True, return_counts=True)
            hosts = [f"{size} x {self._kind_name(k)}" for k, size in zip(first, sizes, strict=True)]
            if len(set(hosts)) < len(hosts):
                hosts = [f"{host} like {self.names[k]}" for host, k in zip(hosts, first, strict=True)]
            capacities, allowed = capacities[first] * sizes[:, None], allowed[:, first]
        return Cluster(
            demands,
            capacities,
            eligible=None if trace.eligible_models is None else allowed,
            job_classes=names,
            servers=hosts,
            resources=self.resources,
        )

    def pool(self, trace: ClusterTrace, *, by: str = "type") -> Problem:
        """One pool with the capacities of all nodes; nodes and constraints are forgotten.

        Raises
        ------
        ModelError
            If resources or units differ from the trace's.
        """
        demands, names, _ = self._classes(trace, by)
        return Problem(demands, self.total_capacities, job_classes=names, resources=self.resources)

    def require_same_resources(self, trace: ClusterTrace) -> None:
        """ModelError unless the trace counts the same resources in the same units, in the same order."""
        ours, theirs = (
            [f"{name} ({unit})" for name, unit in zip(one.resources, one.units, strict=True)]
            for one in (self, trace)
        )
        if ours != theirs:
            raise ModelError.of(
                "trace",
                f"counts {', '.join(theirs)}, but the nodes {', '.join(ours)}; read both with the same units",
            )

    def to_dataframe(self) -> pd.DataFrame:
        """One row per node: its model and its capacities."""
        import pandas as pd

        columns = {"model": list(self.models)} | {
            name: self.capacities[:, r] for r, name in enumerate(self.resources)
        }
        return pd.DataFrame(columns, index=pd.Index(self.names, name="node"))

    def summary(self) -> str:
        """Totals, and how many nodes there are of each kind."""
        _, first, sizes = np.unique(self.kind_of, return_index=True, return_counts=True)
        totals = zip(self.resources, self.total_capacities, self.units, strict=True)
        lines = [
            f"NodeList({self.n_nodes:,} node{'s' * (self.n_nodes > 1)} of "
            f"{len(first)} kind{'s' * (len(first) > 1)})",
            "; ".join(f"{name}: {value:,.10g} {unit}" for name, value, unit in totals),
        ]
        lines += [f"{size} {self._kind_name(k)}" for k, size in zip(first, sizes, strict=True)]
        lines += [f"note: {note}" for note in self.notes]
        return "\n  ".join(lines)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Part of each resource that each model of nodes has."""
        models = list(dict.fromkeys(self.models))
        totals = np.where(self.total_capacities > 0, self.total_capacities, 1.0)
        ax = given_axes(ax)
        for k, model in enumerate(models):
            own = self.capacities[[m == model for m in self.models]].sum(axis=0) / totals
            places = np.arange(self.n_resources) + 0.8 * ((k + 0.5) / len(models) - 0.5)
            ax.bar(
                places, own, width=0.8 / len(models), color=part_colour(k), label=label(model or "no model")
            )
        ax.set_xticks(range(self.n_resources), [label(name) for name in self.resources])
        ax.set(title="Who has what", ylabel="part of the resource")
        legend_beside(ax)
        return ax

    def _kind_name(self, node: int) -> str:
        has = zip(self.resources, self.capacities[node], strict=True)
        return f"{self.models[node] or 'without model'}: " + ", ".join(f"{name} {c:g}" for name, c in has)

    def _classes(self, trace: ClusterTrace, by: str) -> tuple[FloatArray, list[str], NDArray[np.int64]]:
        """Demands and names of the classes, and which types or users they are."""
        self.require_same_resources(trace)
        require_choice("by", by, CLASSES)
        if by == "type":
            rows = np.unique(trace.type_of).astype(np.int64)
            return trace.types[rows], [trace.type_names[t] for t in rows], rows
        rows = np.unique(trace.user_of).astype(np.int64)
        seconds = np.bincount(trace.user_of, trace.durations)[rows]
        work = trace.held_by(trace.user_of, trace.n_users, trace.durations)[rows]
        return work / seconds[:, None], [trace.users[u] for u in rows], rows


def _one_constraint(trace: ClusterTrace, user: int, allowed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    types = np.unique(trace.type_of[trace.user_of == user])
    row: NDArray[np.bool_] = allowed[types[0]]
    for t in types[1:]:
        if (allowed[t] != row).any():
            raise ModelError.of(
                "by",
                f"'user' needs one constraint per user, but {trace.users[user]!r} has tasks "
                f"{trace.type_names[types[0]]!r} and {trace.type_names[t]!r}; take by='type'",
            )
    return row
