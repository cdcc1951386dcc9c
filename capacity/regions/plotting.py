"""Pictures of stability regions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairness.display.lettering import label
from fairness.model.problem import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from capacity.regions.pool import StabilityRegion

__all__ = ["plot_region"]


def plot_region(region: StabilityRegion, ax: Axes | None) -> Axes:
    """Two or three classes: the region, its vertices and the names of its facets."""
    import matplotlib.pyplot as plt

    problem, vertices = region.problem, region.vertices
    full = region.full_at(vertices)
    names = [label(f"load of {name} (tasks)") for name in problem.job_classes]
    if problem.n_classes == 2:
        ax = plt.figure().add_subplot() if ax is None else ax
        outline = vertices[_around(vertices)]
        ax.fill(*outline.T, alpha=0.2, color="C0", linewidth=0)
        ax.plot(*vertices.T, "o", color="C0")
        for j in region.facets:
            ends = vertices[full[:, j]]
            ax.plot(*ends.T, color="C0")
            middle = ends.mean(axis=0)
            ax.annotate(
                label(problem.resources[j]), (middle[0], middle[1]), xytext=(5, 5), textcoords="offset points"
            )
        corners = region.exact_vertices or [tuple(f"{v:.4g}" for v in vertex) for vertex in vertices]
        for vertex, corner in zip(vertices, corners, strict=True):
            text = f"({', '.join(str(v) for v in corner)})"
            if vertex.any():
                ax.annotate(
                    text, (vertex[0], vertex[1]), xytext=(5, 5), textcoords="offset points", fontsize="small"
                )
        right, top = vertices.max(axis=0)
        # Room for the labels of the vertices.
        ax.set(xlabel=names[0], ylabel=names[1], xlim=(0, 1.25 * right), ylim=(0, 1.15 * top))
        return ax
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    axes: Any = plt.figure().add_subplot(projection="3d") if ax is None else ax
    for k, j in enumerate(region.facets):
        face = vertices[full[:, j]]
        face = face[_around(face)]
        axes.add_collection3d(Poly3DCollection([face], alpha=0.35, facecolor=f"C{k}", edgecolor="0.3"))
        axes.text(*face.mean(axis=0), label(problem.resources[j]))
    axes.scatter(*vertices.T, color="0.2")
    axes.set(xlabel=names[0], ylabel=names[1], zlabel=names[2])
    top = vertices.max(axis=0)
    axes.set(xlim=(0, top[0]), ylim=(0, top[1]), zlim=(0, top[2]))
    result: Axes = axes
    return result


def _around(points: FloatArray) -> NDArray[np.intp]:
    """Order of coplanar points in convex position along their outline."""
    centred = (points - points.mean(axis=0)) / np.maximum(np.ptp(points, axis=0), 1e-300)
    plane = np.linalg.svd(centred, full_matrices=False)[2][:2]
    x, y = plane @ centred.T
    return np.argsort(np.arctan2(y, x))
