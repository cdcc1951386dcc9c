"""Networks as pictures: how much of every link is in use, in the direction of the traffic."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import networkx as nx
import numpy as np
from numpy.typing import ArrayLike

from fairness.arguments.labels import by_label
from fairness.arguments.validation import FloatArray, float_array
from fairness.display.colours import NEUTRAL
from fairness.display.drawing import given_axes
from fairness.display.lettering import folded, label
from fairness.errors import ModelError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_network"]

MOST_NAMES = 60
"""Nodes whose names are written."""

ROUNDING = 1e-12
"""Of a load that fills a link."""

MOST_SPRINGS = 300
"""Nodes that are placed by all paths between them; more by springs along the links."""

NAME_SIZE, AWAY = 8.0, 6.0
"""Of names, and how far they stand from their nodes, in points."""

SIDES = (0.0, np.pi, np.pi / 2, -np.pi / 2)
"""Directions from a node in which its name may stand."""

Place = tuple[float, float]


def plot_network(
    graph: nx.Graph,
    utilization: ArrayLike | None = None,
    ax: Axes | None = None,
    *,
    title: str | None = None,
) -> Axes:
    """Draw a network, each link coloured and as wide as the part of it that is in use.

    In a directed graph with links in both directions, the half of a cable at a node shows what leaves that
    node. Nodes stand at their ``longitude`` and ``latitude``, else at their ``pos``, else where springs
    between them, as long as the paths, come to rest (Kamada and Kawai 1989).

    Parameters
    ----------
    graph : networkx.Graph or networkx.DiGraph
        As of :func:`~queueing.networks.topology.data_network`.
    utilization : array_like of shape (n_links,), optional
        Part of each link in use, >= 0, in the order of ``graph.edges``, which is that of the resources of
        ``data_network``: such as ``system.relative_loads``, ``traffic.relative_loads`` or the
        ``utilization`` of an allocation or a simulation. Links that are full, or would have to carry more,
        are dashed. Default: the links alone.
    ax : matplotlib Axes, optional
    title : str, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ModelError
        If the graph has no nodes or parallel links, or ``utilization`` has another shape or is negative.

    Examples
    --------
    >>> from queueing.networks.backbones import abilene
    >>> from queueing.networks.gravity import gravity_traffic
    >>> traffic = gravity_traffic(abilene(), 30, weights="population")
    >>> ax = plot_network(abilene(), traffic.relative_loads, title="Abilene")
    """
    used = _checked(graph, utilization)
    place, tall = _places(graph)
    ax = given_axes(ax)
    segments = []
    for u, v in graph.edges:
        start, end = np.array(place[u]), np.array(place[v])
        shared = graph.is_directed() and graph.has_edge(v, u)
        segments.append([start, (start + end) / 2 if shared else end])
        if graph.is_directed() and not shared:
            tip, tail = start + 0.6 * (end - start), start + 0.4 * (end - start)
            arrow = {
                "arrowstyle": "-|>",
                "facecolor": "white",
                "edgecolor": "0.2",
                "linewidth": 0.5,
                "mutation_scale": 16,
            }
            ax.annotate("", tip, tail, arrowprops=arrow, zorder=3)
    _draw_links(ax, segments, used)
    ax.plot(*np.array([place[node] for node in graph]).T, "o", color="0.2", markersize=4, zorder=3)
    ax.margins(0.12)
    ax.set_aspect(tall)
    if len(graph) <= MOST_NAMES:
        _write_names(ax, graph, place, tall)
    ax.axis("off")
    if title is not None:
        ax.set_title(label(title))
    return ax


def _checked(graph: nx.Graph, utilization: ArrayLike | None) -> FloatArray | None:
    """The part of each link in use, or None."""
    if not isinstance(graph, nx.Graph) or graph.is_multigraph():
        raise ModelError.of("graph", "must be a networkx Graph or DiGraph without parallel links")
    if not len(graph):
        raise ModelError.of("graph", "has no nodes")
    if utilization is None:
        return None
    links = {"resources": [f"{u}-{v}" for u, v in graph.edges]}
    used = float_array("utilization", by_label(links, {"utilization": (utilization, ("resources",))})[1][0])
    n_links = graph.number_of_edges()
    if used.shape != (n_links,):
        raise ModelError.of(
            "utilization",
            f"must have shape ({n_links},), a number per link in the order of graph.edges; got {used.shape}",
        )
    if not (used >= 0).all():
        raise ModelError.of("utilization", f"must be >= 0; got {used[~(used >= 0)][0]}")
    return used


def _places(graph: nx.Graph) -> tuple[dict[Hashable, Place], float]:
    """Where nodes stand, and how much longer a unit upwards is than one to the right."""
    facts = dict(graph.nodes(data=True))
    if all({"longitude", "latitude"} <= set(known) for known in facts.values()):
        place = {node: (float(known["longitude"]), float(known["latitude"])) for node, known in facts.items()}
        middle = float(np.mean([latitude for _, latitude in place.values()]))
        return place, 1.0 / max(np.cos(np.radians(middle)), 0.1)  # a degree is shorter near the poles
    if all("pos" in known for known in facts.values()):
        return {node: (float(known["pos"][0]), float(known["pos"][1])) for node, known in facts.items()}, 1.0
    found = nx.kamada_kawai_layout(graph) if len(graph) <= MOST_SPRINGS else nx.spring_layout(graph, seed=1)
    return {node: (float(x), float(y)) for node, (x, y) in found.items()}, 1.0


def _draw_links(ax: Axes, segments: list[list[FloatArray]], used: FloatArray | None) -> None:
    from matplotlib.collections import LineCollection

    if used is None:
        ax.add_collection(LineCollection(segments, colors=NEUTRAL, linewidths=1.5))
        return
    shown = np.minimum(used, 1.0)
    full = used >= 1.0 - ROUNDING
    lines = LineCollection(
        segments,
        array=shown,
        cmap="viridis_r",
        clim=(0.0, 1.0),
        linewidths=1.0 + 4.0 * shown,
        linestyles=["--" if over else "-" for over in full],
    )
    ax.add_collection(lines)
    told = "part of the link in use" + (" (dashed: full)" if full.any() else "")
    ax.figure.colorbar(lines, ax=ax, label=told, shrink=0.8)


def _write_names(ax: Axes, graph: nx.Graph, place: dict[Hashable, Place], tall: float) -> None:
    """Names beside their nodes, where of four sides links leave most room and no other name stands."""
    from matplotlib.patheffects import withStroke
    from matplotlib.transforms import Bbox

    ax.apply_aspect()
    point = ax.figure.dpi / 72
    spots = {node: ax.transData.transform(place[node]) for node in graph}
    taken = [Bbox.from_extents(*(spot - 2 * point), *(spot + 2 * point)) for spot in spots.values()]
    for node, spot in spots.items():
        name = folded(label(node))
        lines = name.split("\n")
        size = np.array([0.65 * max(map(len, lines)), 1.1 * len(lines)]) * NAME_SIZE * point  # about
        found = []
        for side in _by_room(graph, place, node, tall):
            way = np.round([np.cos(side), np.sin(side)])
            corner = spot + AWAY * point * way + size * (way - 1) / 2
            found.append((way, Bbox.from_bounds(*corner, *size)))
        way, box = next((one for one in found if not one[1].count_overlaps(taken)), found[0])
        taken.append(box)
        ax.annotate(
            name,
            place[node],
            xytext=tuple(AWAY * way),
            textcoords="offset points",
            ha=("right", "center", "left")[int(way[0]) + 1],
            va=("top", "center", "bottom")[int(way[1]) + 1],
            fontsize=NAME_SIZE,
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
        )


def _by_room(graph: nx.Graph, place: dict[Hashable, Place], node: Hashable, tall: float) -> list[float]:
    """Directions from a node, first that which is farthest from its links."""
    x, y = place[node]
    others = [place[other] for other in nx.all_neighbors(graph, node)]
    links = np.array([np.arctan2((v - y) * tall, u - x) for u, v in others])
    return sorted(SIDES, key=lambda side: -np.abs(np.angle(np.exp(1j * (links - side)))).min(initial=np.pi))
