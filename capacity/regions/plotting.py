"""Pictures of sets of loads: axes, outlines and faces of two or three classes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from capacity.regions.inequalities import MERGE
from fairness.display.lettering import label
from fairness.errors import ModelError
from fairness.model.problem import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_faces", "load_axes", "plot_polytope"]

STEEP = 5.0
"""Slope, in units of the axes, from which on the name of a facet runs along it."""


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
        ax = plt.figure().add_subplot(projection="3d" if n == 3 else None)
    names = [label(f"load of {name} (tasks)") for name in job_classes]
    ax.set(**dict(zip(("xlabel", "ylabel", "zlabel"), names, strict=False)))
    return ax


def draw_faces(axes: Any, faces: Iterable[FloatArray], top: FloatArray, **style: Any) -> None:
    """Faces in three dimensions, inside of the box up to ``top``."""
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    axes.add_collection3d(Poly3DCollection(list(faces), **style))
    axes.set(xlim=(0, top[0]), ylim=(0, top[1]), zlim=(0, top[2]))


def plot_polytope(region: Any, ax: Axes | None) -> Axes:
    """A region of two or three classes: its vertices, its facets and their names."""
    if region.n_classes in (2, 3) and (region.free or region.pinned):
        raise ModelError(
            f"a plot needs 2 or 3 classes and a bounded region with interior; here {region.n_classes} "
            f"classes, {len(region.free)} unbounded, {len(region.pinned)} pinned"
        )
    axes = load_axes(region.job_classes, ax)
    vertices, (normals, offsets) = region.vertices, region.facets
    full = vertices @ normals.T > (1 - MERGE) * offsets
    top = vertices.max(axis=0)
    if region.n_classes == 3:
        for k, name in enumerate(region.facet_names):
            face = vertices[full[:, k]]
            draw_faces(axes, [face[_around(face)]], top, alpha=0.35, facecolor=f"C{k}", edgecolor="0.3")
            axes.text(*face.mean(axis=0), label(name))
        axes.scatter(*vertices.T, color="0.2")
        return axes
    beside: Any = {"xytext": (5, 5), "textcoords": "offset points"}
    axes.fill(*vertices[_around(vertices)].T, alpha=0.2, color="C0", linewidth=0)
    axes.plot(*vertices.T, "o", color="C0")
    for k, name in enumerate(region.facet_names):
        ends = vertices[full[:, k]]
        axes.plot(*ends.T, color="C0")
        across, up = np.ptp(ends, axis=0) / top
        # Along a steep facet, where a long name would leave the axes.
        turned: Any = {"rotation": 90, "va": "center"} if up > STEEP * across else {}
        axes.annotate(label(name), tuple(ends.mean(axis=0)), **beside, **turned)
    corners = region.exact_vertices or [tuple(f"{v:.4g}" for v in vertex) for vertex in vertices]
    for vertex, corner in zip(vertices, corners, strict=True):
        if vertex.any():
            axes.annotate(f"({', '.join(map(str, corner))})", tuple(vertex), **beside, fontsize="small")
    # Room for the labels of the vertices.
    axes.set(xlim=(0, 1.25 * top[0]), ylim=(0, 1.15 * top[1]))
    return axes


def _around(points: FloatArray) -> NDArray[np.intp]:
    """Order of coplanar points in convex position along their outline."""
    centred = (points - points.mean(axis=0)) / np.maximum(np.ptp(points, axis=0), 1e-300)
    plane = np.linalg.svd(centred, full_matrices=False)[2][:2]
    x, y = plane @ centred.T
    return np.argsort(np.arctan2(y, x))
