"""Networks of GraphML files, as editors of graphs, networkx and the Internet Topology Zoo write them.

Links need a capacity, an attribute of the file or the same number for all; other attributes stay, such as a
length for shortest paths. A directed graph stays directed.
"""

from __future__ import annotations

import math
import os
import re
import warnings
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError

import networkx as nx

from fairness.arguments.plain import near
from fairness.arguments.validation import require_choice, require_number
from fairness.errors import ModelError
from fairness.files import read_whole

__all__ = ["read_graphml"]


def read_graphml(
    path: str | os.PathLike[str],
    *,
    capacity: str | float = "capacity",
    names: str | None = None,
    parallel: str = "refuse",
) -> nx.Graph:
    """Read a network from a GraphML file.

    Parameters
    ----------
    path : path
    capacity : str or float
        Edge attribute with the capacities, >= 0, or the capacity of all links; either way it becomes the
        attribute ``capacity``.
    names : str, optional
        Node attribute with the names of the nodes, such as "label". Default: their identifiers.
    parallel : {"refuse", "add"}
        Links between the same nodes: refuse them, or add up their capacities and keep the attributes of the
        first.

    Returns
    -------
    networkx.Graph or networkx.DiGraph
        For :func:`~queueing.networks.topology.data_network` and
        :func:`~queueing.networks.gravity.gravity_traffic`.

    Raises
    ------
    ModelError
        If the file cannot be read or is no GraphML; with the link or node if a capacity or a name is missing,
        is none or is there twice, or links are parallel.

    Examples
    --------
    >>> import tempfile
    >>> from queueing.networks.topology import data_network
    >>> graph = nx.Graph()
    >>> graph.add_edge("A", "B", gbps=10.0, km=3.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     nx.write_graphml(graph, f"{folder}/net.graphml")
    ...     data_network(read_graphml(f"{folder}/net.graphml", capacity="gbps"), {"far": ("A", "B")})
    Problem(1 classes x 1 resources)
      class     weight  limit  A-B
      far            1    inf    1
      capacity                  10
    """
    require_choice("parallel", parallel, ("refuse", "add"))
    file = Path(path)
    found = _parsed(file)
    called = _called(found, names, file)
    everywhere = None if isinstance(capacity, str) else require_number("capacity", capacity, least=0)
    graph = nx.DiGraph() if found.is_directed() else nx.Graph()
    for node, attributes in found.nodes(data=True):
        graph.add_node(called[node], **attributes)
    for u, v, attributes in found.edges(data=True):
        room = everywhere
        if isinstance(capacity, str):
            room = _capacity(file, called[u], called[v], attributes, capacity)
        if not graph.has_edge(called[u], called[v]):
            graph.add_edge(called[u], called[v], **attributes | {"capacity": room})
        elif parallel == "add":
            graph.edges[called[u], called[v]]["capacity"] += room
        else:
            raise ModelError(
                f"{file}: there are several links between {called[u]!r} and {called[v]!r}; merge them in the "
                "file, or take parallel='add', which adds up their capacities"
            )
    if not graph.edges:
        raise ModelError(f"{file}: the graph has no links; give a network with edges")
    return graph


def _parsed(file: Path) -> Any:
    """The graph of a file, whatever its attributes."""
    try:
        text = read_whole(file)
    except (OSError, ValueError) as error:
        told = getattr(error, "strerror", None) or error
        raise ModelError(f"{file}: cannot be read: {told}; give a GraphML file") from None
    if re.search(rb"<!(DOCTYPE|ENTITY)", text):
        raise ModelError(
            f"{file}: a document type (<!DOCTYPE ...>) is refused, as it may declare entities; take it out"
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)  # of attributes whose type is a guess
            return nx.parse_graphml(text, node_type=str)
    except ParseError as error:
        raise ModelError(f"{file}, line {error.position[0]}: no XML: {error}") from None
    except (nx.NetworkXError, KeyError, ValueError, TypeError, AttributeError, UserWarning) as error:
        told = " ".join(str(error).split())
        raise ModelError(f"{file}: no GraphML ({type(error).__name__}: {told:.200})") from None


def _called(graph: Any, names: str | None, file: Path) -> dict[str, str]:
    """Name of every node."""
    if names is None:
        return {node: str(node) for node in graph}
    called = {}
    for node, attributes in graph.nodes(data=True):
        name = str(attributes.get(names, "")).strip()
        if not name:
            told = near(names, attributes) if attributes else "it has no attributes at all"
            raise ModelError(
                f"{file}: the node {node!r} has no attribute {names!r}; {told}", argument="names"
            )
        called[node] = name
    twice = next((name for name, uses in Counter(called.values()).items() if uses > 1), None)
    if twice is not None:
        raise ModelError(
            f"{file}: several nodes are called {twice!r} by {names!r}; rename them, or leave out names to "
            "call them by their identifiers",
            argument="names",
        )
    return called


def _capacity(file: Path, u: str, v: str, attributes: dict[str, Any], key: str) -> Any:
    given = attributes.get(key)
    if given is None:
        told = near(key, attributes) if attributes else "it has no attributes at all"
        raise ModelError(
            f"{file}: the link {u}-{v} has no attribute {key!r}; {told}; or give one number for all links",
            argument="capacity",
        )
    try:
        value = Fraction(given) if isinstance(given, str) else given
        if not isinstance(value, bool) and math.isfinite(value) and value >= 0:
            return value
    except (ValueError, TypeError, ZeroDivisionError, OverflowError):
        pass
    raise ModelError(
        f"{file}: the capacity of the link {u}-{v} must be a finite number >= 0; got {given!r:.60}",
        argument="capacity",
    )
