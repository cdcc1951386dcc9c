"""The tables that make a model and its traffic: [pool], [cluster], [network] and [traffic].

All that is built here is cheap, so that a file is known to be good before any long work. What the packages
below refuse is told with the line of the key that they name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, TypeVar

import numpy as np
from pydantic import Field

from fairness import Cluster, Problem
from fairness.arguments.plain import near
from fairness.arguments.validation import FloatArray
from fairqueues.scenario import names
from fairqueues.scenario.key_types import (
    Count,
    Flag,
    LawSpec,
    Limit,
    Link,
    Matrix,
    Name,
    NotNegative,
    Positive,
    Row,
    Section,
)
from fairqueues.scenario.place import Path, Place

__all__ = ["Built", "Network", "Pool", "Servers", "Traffic"]

_T = TypeVar("_T")


class Built(NamedTuple):
    """A model, and the loads that gravity traffic gives its classes."""

    model: Problem | Cluster | None = None
    loads: FloatArray | None = None


class _Written(Section):
    """A model whose keys are the arguments of its class."""

    name: ClassVar[str]
    kind: ClassVar[type[Problem] | type[Cluster]]

    def build(self, place: Place) -> Built:
        """The pool or cluster; ScenarioError if a matrix has rows of several lengths, or it is refused."""
        arguments: dict[str, Any] = {key: getattr(self, key) for key in self.model_fields_set}
        for key, rows in arguments.items():
            for k, row in enumerate(rows):
                if isinstance(row, list) and len(row) != len(rows[0]):
                    first = f"all rows of {key} must have {len(rows[0])} like the first"
                    raise place.error((self.name, key, k), f"got {len(row)} entries; {first}")
        with place.located(self.name):
            return Built(self.kind(**arguments))


class Pool(_Written):
    """One pool of resources."""

    name, kind = "pool", Problem

    demands: Matrix = Field(examples=[[[1, 4], [3, 1]]])
    """Units of each resource that one running task holds, a row per class."""
    capacities: Row = Field(examples=[[9, 18]])
    """Units of each resource."""
    weights: list[Positive] | None = None
    """Priority of one job of each class."""
    limits: list[Limit] | None = None
    """Most tasks of one job of each class; inf for no limit."""
    job_classes: list[Name] | None = Field(None, examples=[["A", "B"]])
    """Names of the classes."""
    resources: list[Name] | None = Field(None, examples=[["cpu", "ram"]])
    """Names of the resources."""


class Servers(_Written):
    """Several servers."""

    name, kind = "cluster", Cluster

    demands: Matrix = Field(examples=[[[1, 2], [1, 0]]])
    """Units of each resource that one running task holds, a row per class."""
    capacities: Matrix = Field(examples=[[[9, 12], [12, 0]]])
    """Units of each resource, a row per server."""
    weights: list[Positive] | None = None
    """Priority of one job of each class."""
    eligible: list[list[Flag]] | None = Field(None, examples=[[[True, False]]])
    """Whether a class may run on a server, a row per class."""
    gamma: Matrix | None = None
    """Tasks of a class alone on a server, a row per class."""
    job_classes: list[Name] | None = None
    """Names of the classes."""
    servers: list[Name] | None = None
    """Names of the servers."""
    resources: list[Name] | None = None
    """Names of the resources."""


class Gravity(Section):
    """Traffic between all nodes in proportion to their weights; its pairs are the classes."""

    total: Positive = 1.0
    """Demand of all pairs together, unit of the capacities."""
    weights: Name | dict[str, NotNegative] | None = None
    """Node attribute, "population", or a weight per node; default: capacity of its links."""
    exponent: NotNegative = 0.0
    """Power of the distance."""
    pairs: Count | None = None
    """Keep the largest pairs only, this many."""


class Network(Section):
    """Links as resources, routes as classes."""

    backbone: Name | None = Field(None, examples=["abilene"])
    """A real network."""
    links: list[Link] | None = Field(None, examples=[[["A", "B", 10]]])
    """Node, node, capacity."""
    graphml: Name | None = None
    """GraphML file with the nodes and links, seen from the folder of this one."""
    capacity: Name | NotNegative = "capacity"
    """Edge attribute of the file with the capacities, or that of all links."""
    names: Name | None = Field(None, examples=["label"])
    """Node attribute of the file with the names of the nodes."""
    parallel: Literal["refuse", "add"] = "refuse"
    """Links of the file between the same nodes: refused, or their capacities added."""
    routes: dict[str, Annotated[list[Name], Field(min_length=2)]] | None = Field(
        None, examples=[{"far": ["A", "C"]}]
    )
    """Class names with the nodes of their paths; of two nodes the shortest path is taken."""
    traffic: Gravity | None = None
    """Instead of routes: gravity traffic."""
    length: Name | None = None
    """Edge attribute that is shortest instead of the number of links; of backbones "km"."""
    weights: list[Positive] | None = None
    """Priority of one job of each route."""
    limits: list[Limit] | None = None
    """Most tasks of one job of each route."""

    def build(self, place: Place) -> Built:
        """The pool of the links, and the loads of gravity traffic; ScenarioError if keys contradict."""
        from queueing.networks.gravity import gravity_traffic
        from queueing.networks.topology import data_network

        given = [self.backbone, self.links, self.graphml]
        if given.count(None) != len(given) - 1:
            raise place.error(("network",), "give either a backbone or links, or a graphml file")
        for key in ("capacity", "names", "parallel"):
            if key in self.model_fields_set and self.graphml is None:
                raise place.error(("network", key), "is for a graphml file; remove it")
        if (self.routes is None) == (self.traffic is None):
            raise place.error(("network",), "give either routes or traffic")
        graph = self._graph(place)
        if self.traffic is None:
            routes = {k: tuple(r) if len(r) == 2 else list(r) for k, r in (self.routes or {}).items()}
            own: dict[str, Any] = {"weights": self.weights, "limits": self.limits}
            with place.located("network"):
                return Built(data_network(graph, routes, length=self.length, **own))
        for key in ("weights", "limits"):
            if getattr(self, key) is not None:
                raise place.error(("network", key), "is for routes; with traffic all pairs are alike")
        gravity = self.traffic
        with place.located("network", "traffic"):
            found = gravity_traffic(
                graph,
                float(gravity.total),
                weights=gravity.weights,
                exponent=float(gravity.exponent),
                pairs=gravity.pairs,
                length=self.length,
            )
        return Built(found.problem, found.loads)

    def _graph(self, place: Place) -> Any:
        import networkx as nx

        from queueing.networks import backbones
        from queueing.networks.graph_files import read_graphml

        if self.backbone is not None:
            known = {name.casefold(): make for name, make in backbones.BACKBONES.items()}
            name = self.backbone.casefold().replace("_", "-")
            if name not in known:
                told = f"unknown backbone {self.backbone!r}; {near(name, known)}"
                raise place.error(("network", "backbone"), told)
            if self.length not in (None, "km"):
                raise place.error(("network", "length"), f'backbones have "km" only; got {self.length!r}')
            return known[name]()
        if self.graphml is not None:
            capacity = self.capacity if isinstance(self.capacity, str) else float(self.capacity)
            file = place.beside(self.graphml)
            with place.located("network"):
                return read_graphml(file, capacity=capacity, names=self.names, parallel=self.parallel)
        graph = nx.Graph()
        for k, (u, v, units) in enumerate(self.links or []):
            if graph.has_edge(u, v):
                told = f"there are two links between {u!r} and {v!r}; merge them"
                raise place.error(("network", "links", k), told)
            graph.add_edge(u, v, capacity=units)
        if self.length is not None:
            told = "links have no length here; remove it, or give a backbone or a graphml file"
            raise place.error(("network", "length"), told)
        return graph


class Traffic(Section):
    """Jobs that arrive: arrival_rates, or loads, or mix with load."""

    needs = ("model",)

    arrival_rates: list[NotNegative] | None = None
    """Jobs per unit of time, per class."""
    loads: list[NotNegative] | None = None
    """Arrival rate times mean size, per class."""
    mix: list[NotNegative] | None = None
    """Proportions of the loads; needs load."""
    load: Positive | None = None
    """Relative load of the busiest resource; scales the mix."""
    mean_sizes: Positive | list[Positive] = 1.0
    """Task-time per job, one or one per class."""
    sizes: LawSpec | list[LawSpec] = Field(
        "exponential", examples=["exponential", {"law": "hyperexponential", "scv": 4}]
    )
    """Law of the sizes, one or one per class."""
    arrivals: LawSpec | list[LawSpec] = Field("poisson", examples=["poisson", "on-off:10:90"])
    """Arrival process, one or one per class."""

    def build(self, built: Built, place: Place, swept: float | None = None) -> Any:
        """System of a model and this traffic; a load that only a sweep gives is ``swept``."""
        from queueing import System

        path: Path = ("traffic",)
        if built.model is None:
            raise place.error(path, "traffic needs a model; add [pool], [cluster] or [network]")
        given = [key for key in ("arrival_rates", "loads", "mix") if getattr(self, key) is not None]
        if len(given) > 1:
            raise place.error(
                (*path, given[1]), f"{given[1]} and {given[0]} are both given; keep one of them"
            )
        if not given and built.loads is None:
            raise place.error(path, "give arrival_rates, or loads, or mix and load")
        key = given[0] if given else "loads"
        load = swept if self.load is None else self.load
        if key == "mix" and load is None:
            told = "mix needs load, the relative load of the busiest resource; add load = 0.5, say"
            raise place.error(path, told)
        if self.load is not None and given and key != "mix":
            raise place.error((*path, "load"), f"load goes with mix; with {key} it would say the same twice")
        n = built.model.n_classes
        either = "give one, or one per class"
        place.require_length((*path, "mean_sizes"), self.mean_sizes, n, rule=either)
        if given:
            place.require_length((*path, key), getattr(self, key), n, rule="give one per class")
        values = np.asarray(getattr(self, key) if given else built.loads, dtype=float)
        means = np.broadcast_to(np.asarray(self.mean_sizes, dtype=float), values.shape)
        laws = self._laws("sizes", names.law_named, n, place)
        more = {
            "sizes": [law.with_mean(mean) for law, mean in zip(laws, means.tolist(), strict=True)],
            "arrivals": self._laws("arrivals", names.arrivals_named, n, place),
        }
        with place.located(*path):
            if load is not None:
                return System.with_load(built.model, values, float(load), **more)
            return System(built.model, values if key == "arrival_rates" else values / means, **more)

    def _laws(self, key: str, make: Callable[[Any], _T], n: int, place: Place) -> tuple[_T, ...]:
        """Laws of sizes or arrivals, one per class."""
        given = getattr(self, key)
        place.require_length(("traffic", key), given, n, rule="give one, or one per class")
        laws = []
        for k, spec in enumerate(given if isinstance(given, list) else [given]):
            with place.located("traffic", key, *([k] if isinstance(given, list) else [])):
                laws.append(make(spec))
        return tuple(laws) if isinstance(given, list) else tuple(laws) * n
