r"""Real backbones as graphs: nodes with positions and populations, links with capacities and lengths.

Each backbone is a file of public facts in ``data/``: nodes with longitude and latitude in degrees and, where
known, the population around them in millions; links with a capacity. The file cites the source of each
column, and the graph carries the citations in ``graph.graph["sources"]``. The length of a link is the
distance along the great circle between its ends,

.. math:: 2R\,\arcsin\sqrt{\sin^2\tfrac{\Delta\phi}{2} + \cos\phi_u\cos\phi_v\sin^2\tfrac{\Delta\lambda}{2}},

with latitudes :math:`\phi`, longitudes :math:`\lambda` and :math:`R = 6371` km (haversine formula); cables
are longer. A capacity is that of one direction; in a :class:`networkx.Graph` both directions share it, and
``graph.to_directed()`` gives each direction an arc of its own.

============== ===== ===== ==== ========================= ===========
backbone       nodes links year capacities                populations
============== ===== ===== ==== ========================= ===========
Abilene           11    14 2005 10 Gb/s                   yes
NSFNET            14    21 1991 1.544 Mb/s                no
Nobel-Germany     17    26 2005 10 Gb/s (assumed)         yes
GEANT             27    38 2001 34 Mb/s to 10 Gb/s        yes
============== ===== ===== ==== ========================= ===========
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Hashable
from importlib.resources import files

import networkx as nx

from fairness.errors import ModelError

__all__ = ["BACKBONES", "abilene", "geant", "kilometres", "nobel_germany", "nsfnet"]

EARTH_RADIUS = 6371.0
"""Mean radius of the Earth, km."""


def abilene() -> nx.Graph:
    """Backbone of the Abilene research network, USA, 2005: 11 cities, 14 links of 10 Gb/s.

    Returns
    -------
    networkx.Graph
        Nodes carry ``longitude`` and ``latitude`` (degrees) and ``population`` (millions), links ``capacity``
        (in ``graph.graph["unit"]``) and ``km``; ``graph.graph["sources"]`` cites where they come from.

    Examples
    --------
    >>> from queueing.networks.topology import data_network
    >>> int(data_network(abilene(), {"coast to coast": ("Seattle", "New York")}).demands.sum())
    5
    """
    return _backbone("abilene")


def nsfnet() -> nx.Graph:
    """NSFNET T1 backbone, USA, about 1991: 14 sites, 21 links of 1.544 Mb/s; no populations.

    Returns
    -------
    networkx.Graph
        As of :func:`abilene`.

    Examples
    --------
    >>> nsfnet().graph["unit"], nx.diameter(nsfnet())
    ('Mb/s', 3)
    """
    return _backbone("nsfnet")


def nobel_germany() -> nx.Graph:
    """German reference backbone of the project NOBEL, 2005: 17 cities, 26 links.

    The source leaves capacities to be designed; here every link has 10 Gb/s.

    Returns
    -------
    networkx.Graph
        As of :func:`abilene`.

    Examples
    --------
    >>> round(nobel_germany().edges["Hamburg", "Berlin"]["km"], -1)
    260.0
    """
    return _backbone("nobel_germany")


def geant() -> nx.Graph:
    """Backbone of the European research network GEANT, December 2001: 27 countries, 38 links.

    Capacities range from 34 Mb/s to 10 Gb/s, so most routes have one narrow link.

    Returns
    -------
    networkx.Graph
        As of :func:`abilene`.

    Examples
    --------
    >>> geant().edges["Hungary", "Romania"]["capacity"], geant().edges["France", "Germany"]["capacity"]
    (0.034, 10)
    """
    return _backbone("geant")


BACKBONES: dict[str, Callable[[], nx.Graph]] = {
    "Abilene": abilene,
    "NSFNET": nsfnet,
    "Nobel-Germany": nobel_germany,
    "GEANT": geant,
}
"""All backbones by name."""


def kilometres(graph: nx.Graph, u: Hashable, v: Hashable) -> float:
    """Distance between two nodes along the great circle, km.

    Parameters
    ----------
    graph : networkx.Graph or networkx.DiGraph
        The nodes need ``longitude`` and ``latitude``, in degrees.
    u, v : node

    Raises
    ------
    ModelError
        If a node is not in the graph or has no position.

    Examples
    --------
    >>> round(kilometres(abilene(), "New York", "Los Angeles"), -2)
    3900.0
    """
    (longitude_u, latitude_u), (longitude_v, latitude_v) = _position(graph, u), _position(graph, v)
    half = math.sin((latitude_v - latitude_u) / 2) ** 2
    half += math.cos(latitude_u) * math.cos(latitude_v) * math.sin((longitude_v - longitude_u) / 2) ** 2
    # Rounding may carry antipodes beyond 1.
    return 2 * EARTH_RADIUS * math.asin(math.sqrt(min(1.0, half)))


def _position(graph: nx.Graph, node: Hashable) -> tuple[float, float]:
    """Longitude and latitude in radians."""
    if node not in graph:
        raise ModelError(f"node {node!r} is not in the graph")
    try:
        degrees = tuple(float(graph.nodes[node][key]) for key in ("longitude", "latitude"))
    except (KeyError, TypeError, ValueError):
        degrees = (math.nan, math.nan)
    if not (math.isfinite(degrees[0]) and abs(degrees[1]) <= 90):
        raise ModelError(
            f"node {node!r} has no position; set its longitude and latitude, in degrees, in graph.nodes"
        )
    return math.radians(degrees[0]), math.radians(degrees[1])


def _backbone(stem: str) -> nx.Graph:
    text = files(__name__).joinpath("data", f"{stem}.json").read_text(encoding="utf-8")
    facts = json.loads(text)
    graph = nx.Graph(**{key: facts[key] for key in ("name", "year", "unit", "sources")})
    for node, (longitude, latitude, *population) in facts["nodes"].items():
        graph.add_node(node, longitude=longitude, latitude=latitude)
        if population:
            graph.nodes[node]["population"] = population[0]
    for u, v, capacity in facts["links"]:
        graph.add_edge(u, v, capacity=capacity, km=kilometres(graph, u, v))
    return graph
