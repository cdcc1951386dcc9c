"""Networks of TopoHub [1]_: some 700 real and synthetic topologies, the real ones of SNDlib with demands.

The package ``topohub`` (licence MIT) is optional: ``pip install 'fairqueues[networks]'``. Its keys are
"group/name":

========================= ==========================================================================
group                     what
========================= ==========================================================================
``sndlib/polska``, ...    reference networks of SNDlib, with a matrix of demands
``topozoo/Abilene``, ...  the Internet Topology Zoo
``backbone/africa``, ...  long-haul cables of the continents
``caida/...``             links between routers seen by CAIDA
``gabriel/25/0``, ...     random Gabriel graphs, in the plane
========================= ==========================================================================

No capacities come with them, and demands are in the units of their source: both scales are the caller's.

References
----------
.. [1] P. Jurkiewicz, "TopoHub: A repository of reference Gabriel graph and real-world topologies for
   networking research", SoftwareX 24, 101540, 2023. DOI 10.1016/j.softx.2023.101540.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Hashable
from typing import Any

import networkx as nx

from fairness.arguments.validation import require_number
from fairness.errors import ModelError

__all__ = ["topohub_graph"]

PLANE = "gabriel"
"""The group whose positions are no longitudes and latitudes."""


def topohub_graph(key: str, *, capacity: float = 1.0) -> nx.Graph:
    """A network of TopoHub, as the backbones are: nodes with positions, links with capacities and lengths.

    Parameters
    ----------
    key : str
        "group/name", such as "sndlib/polska".
    capacity : float
        Of every link, > 0: the repository has none.

    Returns
    -------
    networkx.Graph
        Nodes are called by their names where each has one of its own, else by their numbers; they carry
        ``longitude`` and ``latitude`` (degrees; not those of Gabriel graphs), links ``capacity`` and ``km``.
        ``graph.graph["demands"]`` maps pairs of nodes to their demand, both directions together, in the unit
        of the source; it is empty where there is no matrix. ``graph.graph["sources"]`` cites the repository.

    Raises
    ------
    ModelError
        If ``topohub`` is not installed, has no such network, or one that is not as its schema says.

    Examples
    --------
    The demands of Poland's reference network on links of 1,000 units each (where ``topohub`` is installed)::

        graph = topohub_graph("sndlib/polska", capacity=1000)
        demands = graph.graph["demands"]
        problem = data_network(graph, {f"{u}-{v}": (u, v) for u, v in demands}, length="km")
        System(problem, list(demands.values())).relative_loads.max()
    """
    room = require_number("capacity", capacity, above=0)
    if not isinstance(key, str) or not re.fullmatch(r"\w[\w.-]*(/\w[\w.-]*)+", key):
        raise ModelError.of("key", f"must be 'group/name', such as 'sndlib/polska'; got {key!r}")
    found = _found(key)
    try:
        return _graph(key, found, room)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError.of(
            "key", f": {key!r} is not in the schema of topohub ({type(error).__name__}: {error})"
        ) from None


def _found(key: str) -> Any:
    try:
        import topohub
    except ImportError:
        raise ModelError.of(
            "key",
            f": {key!r} needs the package topohub, which is not installed; "
            "pip install 'fairqueues[networks]', or take one of queueing.networks.backbones",
        ) from None
    try:
        return topohub.get(key)
    except KeyError:
        raise ModelError.of(
            "key", f": topohub has no network {key!r}; its list is at https://www.topohub.org"
        ) from None


def _graph(key: str, found: Any, room: float) -> nx.Graph:
    nodes = found["nodes"]
    names = [str(node.get("name") or "") for node in nodes]
    own = all(uses == 1 for uses in Counter(names).values()) and all(names)
    # Numbers are whole numbers in one file and texts in another: the links and demands of a file may differ.
    called: dict[str, Hashable] = {
        str(node["id"]): name if own else node["id"] for node, name in zip(nodes, names, strict=True)
    }
    graph = nx.Graph(
        name=str(found["graph"].get("name", key)),
        sources={"network": f"TopoHub, {key} (Jurkiewicz, SoftwareX 24, 101540, 2023)"},
    )
    for node in nodes:
        x, y = (float(v) for v in node["pos"])
        place = {} if key.startswith(PLANE) else {"longitude": x, "latitude": y}
        graph.add_node(called[str(node["id"])], **place)
    for edge in found["edges"]:
        graph.add_edge(
            called[str(edge["source"])], called[str(edge["target"])], capacity=room, km=float(edge["dist"])
        )
    demands: dict[tuple[Hashable, Hashable], float] = {}
    for source, row in found["graph"].get("demands", {}).items():
        for target, value in row.items():
            u, v = called[str(source)], called[str(target)]
            if not (math.isfinite(value) and value >= 0) or u == v:
                raise ModelError.of("key", f": {key!r} has a demand of {value!r} between {u!r} and {v!r}")
            if value > 0:
                pair = (v, u) if (v, u) in demands else (u, v)
                demands[pair] = demands.get(pair, 0.0) + float(value)
    graph.graph["demands"] = demands
    return graph
