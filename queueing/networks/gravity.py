r"""Gravity traffic: how much the nodes of a network send each other, from their sizes and distances.

The demand between nodes u and v of weights :math:`w_u, w_v \ge 0` at distance :math:`d_{uv}` is

.. math:: \rho_{uv} = \kappa\, \frac{w_u w_v}{d_{uv}^{\,\beta}}

as in Newton's law; :math:`\kappa` makes the demands sum to the total. Trade between countries follows it with
:math:`\beta` about 1 [1]_; traffic between the routers of a backbone with :math:`\beta = 0`, where it is the
start of tomography from link loads [2]_: the part of the traffic of u that goes to v is the part of v in all
traffic.

In an undirected graph a link is shared by both directions, so the two directions of a pair are one class. In
a directed graph each ordered pair is a class; ``graph.to_directed()`` gives a cable its capacity in each
direction.

References
----------
.. [1] J. Tinbergen, "Shaping the World Economy: Suggestions for an International Economic Policy", Twentieth
   Century Fund, 1962, appendix VI.
.. [2] Y. Zhang, M. Roughan, N. Duffield and A. Greenberg, "Fast accurate computation of large-scale IP
   traffic matrices from link loads", ACM SIGMETRICS, 2003. DOI 10.1145/781027.781053.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
import pandas as pd

from fairness.arguments.validation import frozen, require_number, require_whole
from fairness.display.drawing import sorted_curve
from fairness.display.result import Result
from fairness.errors import ModelError
from fairness.model.problem import FloatArray, Problem
from queueing.model.system import System
from queueing.networks.backbones import kilometres
from queueing.networks.topology import data_network, is_finite, link_capacities

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["GravityTraffic", "gravity_traffic"]


@dataclass(frozen=True, eq=False, repr=False)
class GravityTraffic(Result):
    """Traffic of a network; made by :func:`gravity_traffic`.

    Attributes
    ----------
    problem : Problem
        One class per pair, on a shortest path, by decreasing demand; links are resources.
    pairs : tuple of (node, node)
        Source and target of each class.
    loads : ndarray of shape (n_classes,), unit of the capacities
        Demand of each class.
    total : float
        Demand of all pairs, kept or not.
    """

    problem: Problem
    pairs: tuple[tuple[Hashable, Hashable], ...]
    loads: FloatArray
    total: float

    @property
    def covered(self) -> float:
        """Part of the whole traffic that the kept pairs have."""
        return float(self.loads.sum()) / self.total

    @property
    def relative_loads(self) -> FloatArray:
        """Load of each link over its capacity, shape (n_links,); infinite for a loaded link of capacity 0."""
        return System(self.problem, self.loads).relative_loads

    @property
    def largest_scale(self) -> float:
        """Largest factor by which all traffic can grow until a link is full, at these routes."""
        return 1.0 / float(self.relative_loads.max())

    @property
    def bottleneck(self) -> str:
        """The link that is full first when all traffic grows."""
        return self.problem.resources[int(self.relative_loads.argmax())]

    def to_dataframe(self) -> pd.DataFrame:
        """One row per class: source, target, load and number of links."""
        return pd.DataFrame(
            {
                "source": [u for u, _ in self.pairs],
                "target": [v for _, v in self.pairs],
                "load": self.loads,
                "links": np.count_nonzero(self.problem.demands, axis=1),
            },
            index=pd.Index(self.problem.job_classes, name="job_class"),
        )

    def summary(self) -> str:
        """What a person wants to read: how much traffic, and how much more fits."""
        return "\n".join(
            [
                f"GravityTraffic({len(self.pairs)} pairs on {self.problem.n_resources} links)",
                f"  total {self.loads.sum():.6g}, {100 * self.covered:.4g} % of the traffic of all pairs",
                f"  largest {self.loads[0]:.4g} ({self.problem.job_classes[0]}), "
                f"smallest {self.loads[-1]:.4g}",
                f"  fits {self.largest_scale:.4g} times; {self.bottleneck} is full first",
            ]
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Relative loads of all links, in ascending order."""
        title = self.summary().partition("\n")[0]
        return sorted_curve(
            ax, self.relative_loads, xlabel="part of the links", ylabel="load / capacity", title=title
        )


def gravity_traffic(
    graph: nx.Graph,
    total: float = 1.0,
    *,
    weights: str | Mapping[Any, float] | None = None,
    exponent: float = 0.0,
    pairs: int | None = None,
    capacity: str = "capacity",
    length: str | None = None,
) -> GravityTraffic:
    """Demands between all nodes in proportion to their weights, routed on shortest paths.

    Parameters
    ----------
    graph : networkx.Graph or networkx.DiGraph
        Undirected: one class "u-v" per pair, both directions together. Directed: one class "u>v" per ordered
        pair.
    total : float, unit of the capacities
        Demand of all pairs together, > 0.
    weights : str or mapping from node to number, optional
        Node attribute, such as ``"population"``, or weights >= 0. Default: the capacity of the links of a
        node (of the arcs that leave it). A node of weight 0 has no traffic.
    exponent : float
        Power of the distance, >= 0. If positive, nodes need ``longitude`` and ``latitude``.
    pairs : int, optional
        Keep the pairs with the largest demands only, this many (ties by the order of the nodes). The others
        have no class; ``total`` counts them.
    capacity, length : str
        Edge attributes for :func:`~queueing.networks.topology.data_network`; ``length="km"`` routes on the
        shortest cable of the graphs of :mod:`queueing.networks.backbones`, the default on the fewest links.

    Returns
    -------
    GravityTraffic

    Raises
    ------
    ModelError
        If an argument is out of range, a weight or position is missing, two nodes of traffic are in one place
        and the exponent is positive, no two nodes have traffic, or a path is missing.

    Examples
    --------
    >>> from queueing.networks.backbones import abilene
    >>> gravity_traffic(abilene(), 10, weights="population", pairs=20)
    GravityTraffic(20 pairs on 14 links)
      total 7.82062, 78.21 % of the traffic of all pairs
      largest 1.334 (Los Angeles-New York), smallest 0.1604
      fits 3.262 times; Washington-New York is full first
    """
    if not isinstance(graph, nx.Graph) or graph.is_multigraph():
        raise ModelError.of("graph", "must be a networkx Graph or DiGraph without parallel links")
    total = require_number("total", total, above=0)
    exponent = require_number("exponent", exponent, least=0)
    nodes = _weights(graph, weights, capacity)
    directed = graph.is_directed()
    found = [(u, v) for u, v in (permutations if directed else combinations)(nodes, 2)]
    if not found:
        raise ModelError("fewer than two nodes have a weight > 0, so there is no traffic", argument="weights")
    keep = len(found) if pairs is None else min(len(found), require_whole("pairs", pairs, 1))
    # Logarithms, so that neither products of weights nor powers of distances leave the floats.
    logs = np.array([math.log(nodes[u]) + math.log(nodes[v]) for u, v in found])
    if exponent > 0:
        logs -= exponent * np.log([_distance(graph, u, v) for u, v in found])
    demands = np.exp(logs - logs.max())
    demands *= total / demands.sum()
    order = np.argsort(-demands, kind="stable")[:keep]
    chosen = tuple(found[k] for k in order)
    arrow = ">" if directed else "-"
    names = [f"{u}{arrow}{v}" for u, v in chosen]
    name, uses = Counter(names).most_common(1)[0]
    if uses > 1:
        raise ModelError(f"{uses} pairs of nodes have the name {name!r}; rename nodes")
    problem = data_network(graph, dict(zip(names, chosen, strict=True)), capacity=capacity, length=length)
    return GravityTraffic(problem, chosen, frozen(demands[order]), total)


def _weights(
    graph: nx.Graph, weights: str | Mapping[Any, float] | None, capacity: str
) -> dict[Hashable, float]:
    """Nodes with a positive weight, in the order of the graph."""
    if weights is None:
        given: dict[Hashable, Any] = dict.fromkeys(graph, 0.0)
        for (u, v), room in link_capacities(graph, capacity).items():
            given[u] += float(room)
            if not graph.is_directed():
                given[v] += float(room)
    else:
        given = dict(graph.nodes(data=weights)) if isinstance(weights, str) else dict(weights)
        unknown = [node for node in given if node not in graph]
        if unknown:
            raise ModelError.of("weights", f"name the node {unknown[0]!r}, which is not in the graph")
    for node in graph:
        value: Any = given.get(node)
        if not (is_finite(value) and value >= 0):
            named = f"attribute {weights!r}" if isinstance(weights, str) else "weight"
            told = f"{named} of node {node!r} must be a finite number >= 0; got {value!r}"
            raise ModelError(told, argument="weights", index=(node,))
    return {node: float(given[node]) for node in graph if given[node] > 0}


def _distance(graph: nx.Graph, u: Hashable, v: Hashable) -> float:
    distance = kilometres(graph, u, v)
    if distance == 0.0:
        raise ModelError(
            f"nodes {u!r} and {v!r} are in one place, so their demand is infinite; "
            "take exponent=0 or merge them"
        )
    return distance
