"""From a validated document to models: pools, clusters, networks, traffic, policies and laws.

All that is built here is cheap, so that a file is known to be good before any long work. What the packages
below refuse is told with the line of the key that they name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any, TypeVar

import numpy as np

from fairness import Cluster, FairqueuesError, Problem
from fairness.arguments.plain import near
from fairness.arguments.validation import FloatArray
from fairqueues.scenario import names
from fairqueues.scenario.python_files import require_answers
from fairqueues.scenario.reading import Place
from fairqueues.scenario.sections import Document, Network, Traffic
from fairqueues.scenario.toml_text import Path, ScenarioError

__all__ = ["Built", "build_model", "build_policies", "build_system", "distinct", "located", "policy_for"]

_T = TypeVar("_T")


@dataclass(frozen=True, eq=False)
class Built:
    """A model, and the loads that gravity traffic gives its classes."""

    model: Problem | Cluster | None
    loads: FloatArray | None = None


@contextmanager
def located(place: Place, path: Path) -> Iterator[None]:
    """Turn errors of the library into one-liners about the key below ``path`` that is their argument."""
    try:
        yield
    except ScenarioError:
        raise
    except FairqueuesError as error:
        at: Path = () if error.argument is None else (error.argument, *error.index)
        while at and (*path, *at) not in place.lines:
            at = at[:-1]
        raise place.error((*path, *at), str(error)) from None


def distinct(specs: Sequence[Any], path: Path, make: Callable[[Any], _T], place: Place) -> tuple[_T, ...]:
    """What is made of the entries of a list; no two are alike."""
    found: list[_T] = []
    for k, spec in enumerate(specs):
        with located(place, (*path, k)):
            one = make(spec)
        if one in found:
            raise place.error((*path, k), f"{spec!r} is there twice; remove one")
        found.append(one)
    return tuple(found)


def build_model(document: Document, place: Place) -> Built:
    """Pool, cluster or network of a document."""
    given = [key for key in ("pool", "cluster", "network") if getattr(document, key) is not None]
    if len(given) > 1:
        raise place.error((given[1],), f"a scenario has one model, but there is [{given[0]}] too; remove one")
    if not given:
        if document.cloud is None and document.trace is None:
            raise place.error((), "no model; add a table [pool], [cluster], [network], [trace] or [cloud]")
        return Built(None)
    if document.network is not None:
        return _network(document.network, place)
    section: Any = document.pool if document.pool is not None else document.cluster
    arguments = {k: getattr(section, k) for k in section.model_fields_set}
    for key, rows in arguments.items():
        _require_rectangle(place, (given[0], key), rows)
    with located(place, (given[0],)):
        model = Problem(**arguments) if given[0] == "pool" else Cluster(**arguments)
    return Built(model)


def _require_rectangle(place: Place, path: Path, rows: Any) -> None:
    """Refuse a matrix whose rows differ in length, with the line of the first that does."""
    if isinstance(rows, list) and isinstance(rows[0] if rows else None, list):
        for k, row in enumerate(rows):
            if len(row) != len(rows[0]):
                raise place.error(
                    (*path, k),
                    f"got {len(row)} entries; all rows of {path[-1]} must have {len(rows[0])} like the first",
                )


def _network(network: Network, place: Place) -> Built:
    import networkx as nx

    from queueing.networks import backbones
    from queueing.networks.graph_files import read_graphml
    from queueing.networks.gravity import gravity_traffic
    from queueing.networks.topology import data_network

    path: Path = ("network",)
    kinds = [key for key in ("backbone", "links", "graphml") if getattr(network, key) is not None]
    if len(kinds) != 1:
        raise place.error(path, "give either a backbone or links, or a graphml file")
    for key in ("capacity", "names", "parallel"):
        if key in network.model_fields_set and network.graphml is None:
            raise place.error((*path, key), "is for a graphml file; remove it")
    if (network.routes is None) == (network.traffic is None):
        raise place.error(path, "give either routes or traffic")
    if network.backbone is not None:
        known = {name.casefold(): make for name, make in backbones.BACKBONES.items()}
        name = network.backbone.casefold().replace("_", "-")
        if name not in known:
            raise place.error(
                (*path, "backbone"), f"unknown backbone {network.backbone!r}; {near(name, known)}"
            )
        graph = known[name]()
        if network.length not in (None, "km"):
            raise place.error((*path, "length"), f'backbones have "km" only; got {network.length!r}')
    elif network.graphml is not None:
        with located(place, path):
            graph = read_graphml(
                place.beside(network.graphml),
                capacity=network.capacity if isinstance(network.capacity, str) else float(network.capacity),
                names=network.names,
                parallel=network.parallel,
            )
    else:
        graph = nx.Graph()
        for k, (u, v, capacity) in enumerate(network.links or []):
            if graph.has_edge(u, v):
                raise place.error(
                    (*path, "links", k), f"there are two links between {u!r} and {v!r}; merge them"
                )
            graph.add_edge(u, v, capacity=capacity)
        if network.length is not None:
            raise place.error(
                (*path, "length"),
                "links have no length here; remove it, or give a backbone or a graphml file",
            )
    if network.traffic is not None:
        for key in ("weights", "limits"):
            if getattr(network, key) is not None:
                raise place.error((*path, key), "is for routes; with traffic all pairs are alike")
        gravity = network.traffic
        with located(place, (*path, "traffic")):
            found = gravity_traffic(
                graph,
                float(gravity.total),
                weights=gravity.weights,
                exponent=float(gravity.exponent),
                pairs=gravity.pairs,
                length=network.length,
            )
        return Built(found.problem, found.loads)
    routes = {name: tuple(r) if len(r) == 2 else list(r) for name, r in (network.routes or {}).items()}
    with located(place, path):
        return Built(
            data_network(graph, routes, length=network.length, weights=network.weights, limits=network.limits)
        )


def policy_for(model: Any, spec: Any, tree: Any, folder: FilePath | None) -> Any:
    """Policy of a name that fits a model, or None, and a tree, or None.

    One of a Python file in ``folder`` is asked before anything long begins.
    """
    cluster = None if model is None else isinstance(model, Cluster)
    policy = names.policy_named(spec, cluster=cluster, tree=tree, folder=folder)
    own = names.split_name(spec)
    if own is not None and folder is not None and model is not None:
        require_answers(policy, model, folder / own[0])
    return policy


def build_policies(document: Document, model: Any, tree: Any, place: Place) -> tuple[Any, ...]:
    """Policies of a document; they fit the model, and no two are alike."""

    def fitting(spec: Any) -> Any:
        policy = policy_for(model, spec, tree, place.folder)
        if model is not None and (isinstance(spec, dict) or ":" in spec):
            # Parameters per class or resource show only here whether they fit; nobody present is cheap.
            policy(model, np.zeros(model.n_classes))
        return policy

    return distinct(document.policies, ("policies",), fitting, place)


def _laws(
    section: Traffic, key: str, make: Callable[[Any], _T], n_classes: int, place: Place
) -> tuple[_T, ...]:
    """Laws of sizes or arrivals, one per class."""
    given = getattr(section, key)
    if not isinstance(given, list):
        with located(place, ("traffic", key)):
            return (make(given),) * n_classes
    place.require_length(("traffic", key), given, n_classes, rule="give one, or one per class")
    laws = []
    for k, spec in enumerate(given):
        with located(place, ("traffic", key, k)):
            laws.append(make(spec))
    return tuple(laws)


def build_system(traffic: Traffic, built: Built, place: Place, swept: Any = None) -> Any:
    """System of a model and its traffic; a load that only a sweep gives is ``swept``."""
    from queueing import System

    path: Path = ("traffic",)
    if built.model is None:
        raise place.error(path, "traffic needs a model; add [pool], [cluster] or [network]")
    given = [key for key in ("arrival_rates", "loads", "mix") if getattr(traffic, key) is not None]
    if len(given) > 1:
        raise place.error((*path, given[1]), f"{given[1]} and {given[0]} are both given; keep one of them")
    if not given and built.loads is None:
        raise place.error(path, "give arrival_rates, or loads, or mix and load")
    key = given[0] if given else "loads"
    load = swept if traffic.load is None else traffic.load
    if key == "mix" and load is None:
        raise place.error(
            path, "mix needs load, the relative load of the busiest resource; add load = 0.5, say"
        )
    if traffic.load is not None and given and key != "mix":
        raise place.error((*path, "load"), f"load goes with mix; with {key} it would say the same twice")
    sizes: Any = traffic.mean_sizes
    n_classes = built.model.n_classes
    if isinstance(sizes, list):
        place.require_length((*path, "mean_sizes"), sizes, n_classes, rule="give one, or one per class")
    values = np.asarray(getattr(traffic, key) if given else built.loads, dtype=float)
    place.require_length((*path, key), values, n_classes, rule="give one per class")
    means = np.broadcast_to(np.asarray(sizes, dtype=float), values.shape)
    shapes = _laws(traffic, "sizes", names.law_named, len(values), place)
    laws = [law.with_mean(mean) for law, mean in zip(shapes, means.tolist(), strict=True)]
    more = {"sizes": laws, "arrivals": _laws(traffic, "arrivals", names.arrivals_named, len(values), place)}
    with located(place, path):
        if load is not None:
            return System.with_load(built.model, values, float(load), **more)
        return System(built.model, values if key == "arrival_rates" else values / means, **more)
