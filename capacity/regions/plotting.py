"""Pictures of sets of loads: axes, outlines and faces of two or three classes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from capacity.regions.inequalities import MERGE
from capacity.regions.loads import checked_loads
from capacity.regions.nearest import nearest_boundary
from fairness.display.colours import NEUTRAL, part_colour
from fairness.display.drawing import legend_beside
from fairness.display.lettering import LINE, folded, label
from fairness.errors import ModelError
from fairness.model.problem import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_faces", "load_axes", "mark_loads", "plot_polytope"]

STEEP = 5.0
"""Slope, in units of the axes, from which on the name of a facet runs along it."""

LEVEL = 20.0
"""Inverse of the slope up to which the name of a facet stands below it."""


def load_axes(job_classes: Sequence[str], ax: Axes | None) -> Any:
    """Axes labelled with the loads of two or three classes, new ones if none are given.

    Raises
    ------
    ModelError
        If there are not two or three classes.
    """
    import matplotlib.pyplot as plt

    n = len(job_classes)
    if n not in (2, 3):
        raise ModelError(f"a plot needs 2 or 3 classes; here {n}")
    if ax is None:
        ax = plt.figure(layout="constrained").add_subplot(projection="3d" if n == 3 else None)
    names = [folded(label(f"load of {name} (tasks)"), 3 * LINE // 2) for name in job_classes]
    ax.set(**dict(zip(("xlabel", "ylabel", "zlabel"), names, strict=False)))
    if n == 3:
        # From beyond the faces, with room for the labels.
        space: Any = ax
        space.view_init(elev=25, azim=30)
        space.set_box_aspect(None, zoom=0.8)
        for axis in (space.xaxis, space.yaxis, space.zaxis):
            axis.labelpad = 8.0
            axis.get_major_locator().set_params(nbins=4)  # more run into each other in print
    return ax


def draw_faces(axes: Any, faces: Iterable[FloatArray], top: FloatArray, **style: Any) -> None:
    """Faces in three dimensions, inside of the box up to ``top``."""
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    axes.add_collection3d(Poly3DCollection(list(faces), **style))
    axes.set(xlim=(0, top[0]), ylim=(0, top[1]), zlim=(0, top[2]))


def plot_polytope(region: Any, ax: Axes | None, loads: ArrayLike | None = None) -> Axes:
    """A region of two or three classes: its vertices, its facets and their names; also where loads stand."""
    if region.n_classes in (2, 3) and (region.free or region.pinned):
        raise ModelError(
            f"a plot needs 2 or 3 classes and a bounded region with interior; here {region.n_classes} "
            f"classes, {len(region.free)} unbounded, {len(region.pinned)} pinned"
        )
    points = None if loads is None else np.atleast_2d(checked_loads(region.model, loads, least=0))
    axes = load_axes(region.job_classes, ax)
    vertices, (normals, offsets) = region.vertices, region.facets
    full = vertices @ normals.T > (1 - MERGE) * offsets
    top = vertices.max(axis=0)
    draw = _solid if region.n_classes == 3 else _polygon
    draw(axes, region, vertices, full)
    if points is not None:
        marks = []
        for point in points:
            foot = nearest_boundary(normals, offsets, point, top)
            inside, used = bool(region.contains(point)), 1.0 - float(region.slack(point))
            name = label(region.facet_names[foot.facet])
            marks.append((point, foot.point, f"relative load {used:.4g},\nnearest facet {name}", inside))
        mark_loads(axes, marks)
    return axes


def mark_loads(axes: Any, marks: Sequence[tuple[FloatArray, FloatArray, str, bool]]) -> None:
    """Loads, each joined to a point of the boundary, what is said of them, and whether they are inside."""
    for loads, foot, said, inside in marks:
        _mark(axes, loads, foot, f"{'inside' if inside else 'outside'}: {said}", inside)
    for k, name in zip(range(len(marks[0][0])), "xyz", strict=False):
        low, high = getattr(axes, f"get_{name}lim")()
        most = max(float(loads[k]) for loads, *_ in marks)
        getattr(axes, f"set_{name}lim")(low, max(high, 1.05 * most))
    # In space the upper corners are empty.
    corner: dict[str, Any] = {"bbox_to_anchor": (0.0, 1.0)} if len(marks[0][0]) == 3 else {}
    legend_beside(axes, **corner)


def _mark(axes: Any, loads: FloatArray, foot: FloatArray, said: str, inside: bool) -> None:
    """Loads as a dot, or a cross outside; in space with their shadow on the floor."""
    style: Any = {"color": "black", "zorder": 10}
    marker, size = ("o", 7) if inside else ("X", 9)
    axes.plot(*np.transpose([loads, foot]), "--", linewidth=1.2, **style)
    axes.plot(*foot[:, None], ".", markersize=5, **style)
    axes.plot(*loads[:, None], marker, markersize=size, linestyle="none", label=said, **style)
    if len(loads) == 3:
        floor = [loads[0], loads[1], 0.0]
        axes.plot(*np.transpose([loads, floor]), ":", color="0.35", linewidth=1.2)
        axes.plot(*np.transpose([floor]), "x", color="0.35", markersize=5)


def _solid(axes: Any, region: Any, vertices: FloatArray, full: NDArray[np.bool_]) -> None:
    """Faces that let what is inside be seen, with their names."""
    top = vertices.max(axis=0)
    for k, name in enumerate(region.facet_names):
        face = vertices[full[:, k]]
        style: Any = {"alpha": 0.3, "facecolor": part_colour(k), "edgecolor": "0.2", "linewidths": 1.0}
        draw_faces(axes, [face[_around(face)]], top, **style)
        axes.text(*face.mean(axis=0), label(name))
    axes.scatter(*vertices.T, color="0.2", s=12)


def _polygon(axes: Any, region: Any, vertices: FloatArray, full: NDArray[np.bool_]) -> None:
    """The area, and its edges with their names."""
    top = vertices.max(axis=0)
    beside: Any = {"xytext": (5, 5), "textcoords": "offset points"}
    axes.fill(*vertices[_around(vertices)].T, alpha=0.2, color=NEUTRAL, linewidth=0)
    axes.plot(*vertices.T, "o", color=NEUTRAL)
    for k, name in enumerate(region.facet_names):
        ends = vertices[full[:, k]]
        axes.plot(*ends.T, color=NEUTRAL)
        across, up = np.ptp(ends, axis=0) / top
        where: Any = beside
        if up > STEEP * across:  # along it, where a long name would leave the axes
            where = beside | {"rotation": 90, "va": "center"}
        elif across > LEVEL * up:  # below it: above stand the coordinates of its corners
            where = beside | {"xytext": (0, -5), "ha": "center", "va": "top"}
        axes.annotate(label(name), tuple(ends.mean(axis=0)), **where)
    corners = region.exact_vertices or [tuple(f"{v:.4g}" for v in vertex) for vertex in vertices]
    for vertex, corner in zip(vertices, corners, strict=True):
        if vertex.any():
            axes.annotate(f"({', '.join(map(str, corner))})", tuple(vertex), **beside, fontsize="small")
    # Room for the labels of the vertices.
    axes.set(xlim=(0, 1.25 * top[0]), ylim=(0, 1.15 * top[1]))


def _around(points: FloatArray) -> NDArray[np.intp]:
    """Order of coplanar points in convex position along their outline."""
    centred = (points - points.mean(axis=0)) / np.maximum(np.ptp(points, axis=0), 1e-300)
    plane = np.linalg.svd(centred, full_matrices=False)[2][:2]
    x, y = plane @ centred.T
    return np.argsort(np.arctan2(y, x))
