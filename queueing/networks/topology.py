r"""Networks, wireless cells and acknowledgements as problems of resource sharing.

Bandwidth sharing is a special case of resource sharing: a flow is a job, the rate of class :math:`i` is the
number of its tasks :math:`\varphi_i`, and links are resources [1]_.

* *Data network*: class i holds one unit on every link of its route,
  :math:`\sum_{i:\,j\in\text{route}_i}\varphi_i \le C_j`.
* *Wireless cell*: a flow that alone has rate :math:`R_i` takes the part :math:`\varphi_i/R_i` of the air
  time, :math:`\sum_i \varphi_i/R_i \le 1`.
* *TCP with acknowledgements*: data in one direction, :math:`r_i` units of acknowledgements per unit of data
  in the other, :math:`\sum_{i\in\text{Data}_j}\varphi_i + \sum_{i\in\text{Ack}_j}\varphi_i r_i \le C_j`.

Graphs of real networks are in :mod:`queueing.networks.backbones`, their traffic in
:mod:`queueing.networks.gravity`.

References
----------
.. [1] T. Bonald and J. Roberts, "Resource sharing in data centers", Workshop on Performance and
   Control of Large-Scale Networks, Eindhoven, 2014.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import networkx as nx
from numpy.typing import ArrayLike

from fairness.arguments.labels import by_label
from fairness.arguments.validation import require_whole
from fairness.errors import ModelError
from fairness.model.problem import Problem

__all__ = [
    "data_network",
    "is_finite",
    "linear_network",
    "link_capacities",
    "tcp_acknowledgements",
    "wireless_cell",
]

Route = Sequence[Hashable]
Link = tuple[Hashable, Hashable]


def data_network(
    graph: nx.Graph,
    routes: Mapping[str, Route],
    *,
    capacity: str = "capacity",
    length: str | None = None,
    weights: ArrayLike | None = None,
    limits: ArrayLike | None = None,
) -> Problem:
    """Flows on routes of a network: one unit on every link of the route.

    Parameters
    ----------
    graph : networkx.Graph or networkx.DiGraph
        A link of an undirected graph is shared by both directions; in a directed graph each arc is a
        resource. Every link is a resource named "u-v", in the order of ``graph.edges``.
    routes : mapping from class name to route
        A list is a path of nodes; a tuple ``(source, target)`` is routed on a shortest path (networkx breaks
        ties, always in the same way). A path that crosses a link twice holds two units.
    capacity : str
        Edge attribute with the capacity, >= 0.
    length : str, optional
        Edge attribute for shortest paths, >= 0, needed on every link. Default: every link has length 1.
    weights, limits : array_like of shape (n_classes,), optional
        As for :class:`~fairness.Problem`, in the order of ``routes``.

    Returns
    -------
    Problem

    Raises
    ------
    ModelError
        If there is no link or no route, a node or link is unknown, a capacity or length is missing or wrong,
        no path exists, two routes have the same name, or the graph has parallel links.

    Examples
    --------
    >>> import networkx as nx
    >>> graph = nx.Graph()
    >>> graph.add_edge("A", "B", capacity=10)
    >>> graph.add_edge("B", "C", capacity=4)
    >>> data_network(graph, {"far": ("A", "C"), "near": ["A", "B"]})
    Problem(2 classes x 2 resources)
      class     weight  limit  A-B  B-C
      far            1    inf    1    1
      near           1    inf    1    0
      capacity                  10    4
    """
    return _routed(graph, routes, None, capacity, length, weights=weights, limits=limits)


def linear_network(n_links: int, *, capacity: Any = 1) -> Problem:
    """Linear network: one class crosses all links, and each link has a class of its own.

    Parameters
    ----------
    n_links : int
    capacity : number or sequence of n_links numbers
        Capacity of the links.

    Raises
    ------
    ModelError
        If n_links is not a positive integer or the capacities do not match.

    Examples
    --------
    >>> linear_network(2)
    Problem(3 classes x 2 resources)
      class     weight  limit  link 1  link 2
      long           1    inf       1       1
      short 1        1    inf       1       0
      short 2        1    inf       0       1
      capacity                      1       1
    """
    n = require_whole("n_links", n_links, 1)
    capacities: list[Any] = [capacity] * n if isinstance(capacity, numbers.Number) else list(capacity)
    if len(capacities) != n:
        raise ModelError.of(
            "capacity", f"must be one number or {n} numbers, one per link; got {len(capacities)}"
        )
    unit = [[int(i == j) for j in range(n)] for i in range(n)]
    return Problem(
        [[1] * n, *unit],
        capacities,
        job_classes=["long", *(f"short {k + 1}" for k in range(n))],
        resources=[f"link {k + 1}" for k in range(n)],
    )


def wireless_cell(
    rates: Mapping[str, Any] | Sequence[Any],
    *,
    weights: ArrayLike | None = None,
    limits: ArrayLike | None = None,
) -> Problem:
    r"""Classes of a wireless cell that share the air time.

    Flows of rate :math:`R_i` that send :math:`\varphi_i` in all take the part :math:`\varphi_i/R_i` of it,
    and :math:`\sum_i \varphi_i/R_i \le 1`.


    Parameters
    ----------
    rates : mapping from class name to rate, or sequence of rates, bit rate
        Rate :math:`R_i > 0` of a flow that is alone in the cell. Integers and fractions stay exact.
    weights, limits : array_like of shape (n_classes,), optional
        As for :class:`~fairness.Problem`; a limit is a bit rate per flow.

    Raises
    ------
    ModelError
        If a rate is not a finite number > 0.

    Examples
    --------
    >>> wireless_cell({"near": 4, "far": 1})
    Problem(2 classes x 1 resources)
      class     weight  limit  air time
      near           1    inf      0.25
      far            1    inf         1
      capacity                        1
    """
    # A table names its classes, as a mapping does.
    found, (rates,) = by_label({"job_classes": None}, {"rates": (rates, ("job_classes",))})
    names = list(rates) if isinstance(rates, Mapping) else found["job_classes"]
    values = list(rates.values()) if isinstance(rates, Mapping) else list(rates)
    demands: list[Any] = []
    for k, rate in enumerate(values):
        label = names[k] if names else f"index {k}"
        if not (is_finite(rate) and rate > 0):
            raise ModelError.of("rates", f"must be finite numbers > 0; got {rate!r} for {label!r}")
        demands.append([1 / Fraction(rate) if isinstance(rate, numbers.Rational) else 1.0 / float(rate)])
    if not demands:
        raise ModelError.of("rates", "is empty; give the rate of at least one class")
    return Problem(demands, [1], weights=weights, limits=limits, job_classes=names, resources=["air time"])


def tcp_acknowledgements(
    graph: nx.Graph,
    connections: Mapping[str, Route],
    ack_ratio: Any,
    *,
    capacity: str = "capacity",
    length: str | None = None,
    weights: ArrayLike | None = None,
    limits: ArrayLike | None = None,
) -> Problem:
    """TCP connections: data along a path, acknowledgements back along the same path.

    Parameters
    ----------
    graph : networkx.Graph or networkx.DiGraph
        Each direction of a link is a resource of its own, named "u-v" from u to v. A link of an undirected
        graph has its full capacity in both directions.
    connections : mapping from class name to route
        The path of the data, as for :func:`data_network`.
    ack_ratio : number or mapping from class name to number
        Units of acknowledgements per unit of data, r_i >= 0 (40 bytes for every second packet of 1500
        bytes: 1/75).
    capacity, length, weights, limits
        As for :func:`data_network`.

    Raises
    ------
    ModelError
        As for :func:`data_network`; also if a link has no reverse direction or a ratio is wrong or missing.

    Examples
    --------
    >>> import networkx as nx
    >>> graph = nx.Graph()
    >>> graph.add_edge("client", "server", capacity=100)
    >>> tcp_acknowledgements(graph, {"up": ("client", "server"), "down": ("server", "client")}, 0.25)
    Problem(2 classes x 2 resources)
      class     weight  limit  client-server  server-client
      up             1    inf              1           0.25
      down           1    inf           0.25              1
      capacity                           100            100
    """
    arcs = graph if graph.is_directed() else graph.to_directed()
    return _routed(arcs, connections, ack_ratio, capacity, length, weights=weights, limits=limits)


def _routed(
    graph: nx.Graph,
    routes: Mapping[str, Route],
    ack_ratio: Any,
    capacity: str,
    length: str | None,
    **jobs: Any,
) -> Problem:
    """One unit on every link of a route, and acknowledgements on the way back where they have a ratio."""
    links = link_capacities(graph, capacity)
    paths = _paths(graph, routes, length)
    column = {link: j for j, link in enumerate(links)}
    demands: list[list[Any]] = [[0] * len(links) for _ in paths]
    for row, (name, path) in zip(demands, paths.items(), strict=True):
        ratio = 0 if ack_ratio is None else _ratio(ack_ratio, name)
        for u, v in pairwise(path):
            row[_column(column, graph, name, u, v)] += 1
            if ack_ratio is not None:
                row[_column(column, graph, f"acknowledgements of {name}", v, u)] += ratio
    names = [f"{u}-{v}" for u, v in links]
    return Problem(demands, list(links.values()), job_classes=list(paths), resources=names, **jobs)


def is_finite(value: Any) -> bool:
    """Whether this is a real number, and neither infinite nor NaN."""
    return isinstance(value, numbers.Real) and math.isfinite(value)


def _ratio(ack_ratio: Any, name: str) -> Any:
    if isinstance(ack_ratio, Mapping):
        if name not in ack_ratio:
            raise ModelError.of("ack_ratio", f"has no entry for connection {name!r}")
        ack_ratio = ack_ratio[name]
    if not (is_finite(ack_ratio) and ack_ratio >= 0):
        raise ModelError.of("ack_ratio", f"must be a finite number >= 0; got {ack_ratio!r} for {name!r}")
    return ack_ratio


def link_capacities(graph: nx.Graph, capacity: str) -> dict[Link, Any]:
    """Capacity of every link, in the order of the edges."""
    if graph.is_multigraph():
        raise ModelError.of("graph", "has parallel links; add up their capacities in a Graph or DiGraph")
    links = {}
    for u, v, value in graph.edges(data=capacity):
        _require_number(u, v, capacity, value, "capacity")
        links[u, v] = value
    if not links:
        raise ModelError.of("graph", "has no links; add edges with a capacity")
    return links


def _require_number(u: Hashable, v: Hashable, attribute: str, value: Any, role: str) -> None:
    if value is None:
        raise ModelError(
            f"link {u}-{v} has no attribute {attribute!r}; set graph.edges[u, v][{attribute!r}]",
            argument="graph",
        )
    if not (is_finite(value) and value >= 0):
        raise ModelError(
            f"{role} must be a finite number >= 0; got {value!r} on link {u}-{v}", argument="graph"
        )


def _refused(name: Hashable, said: str) -> ModelError:
    """Error about the route of a class."""
    return ModelError(said, argument="routes", index=(name,))


def _paths(graph: nx.Graph, routes: Mapping[str, Route], length: str | None) -> dict[str, Route]:
    if not isinstance(routes, Mapping):
        raise ModelError.of("routes", f"must map names of classes to routes; got {type(routes).__name__}")
    if length is not None:
        # networkx would take a missing length for 1.
        for u, v, value in graph.edges(data=length):
            _require_number(u, v, length, value, "length")
    if not routes:
        raise ModelError.of(
            "routes", "is empty; give at least one class with a path or a (source, target) pair"
        )
    paths = {}
    for name, route in routes.items():
        if isinstance(route, str) or not isinstance(route, Sequence) or len(route) < 2:
            raise _refused(
                name,
                f"route of {name!r} must be a list of at least 2 nodes or a tuple (source, target); "
                f"got {route!r}",
            )
        for node in route:
            if node not in graph:
                raise _refused(name, f"route of {name!r} names the node {node!r}, which is not in the graph")
        if isinstance(route, tuple) and len(route) == 2:
            source, target = route
            if source == target:
                raise _refused(name, f"route of {name!r} has the same source and target {source!r}")
            try:
                route = nx.shortest_path(graph, source, target, weight=length)
            except nx.NetworkXNoPath:
                raise _refused(name, f"no path from {source!r} to {target!r} for {name!r}") from None
        if str(name) in paths:
            raise _refused(name, f"two routes have the name {str(name)!r}; names must be distinct as text")
        paths[str(name)] = route
    return paths


def _column(column: dict[Link, int], graph: nx.Graph, name: str, u: Hashable, v: Hashable) -> int:
    """Index of the link from u to v."""
    if (u, v) in column:
        return column[u, v]
    if not graph.is_directed() and (v, u) in column:
        return column[v, u]
    raise _refused(name, f"route of {name!r} uses the link {u}-{v}, which is not in the graph")
