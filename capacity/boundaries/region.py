"""Regions known by brackets on rays: what regions of guaranteed service and of policies have in common."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from capacity.boundaries.rays import volume
from fairness.arguments.validation import frozen
from fairness.display.lettering import label
from fairness.errors import ModelError
from fairness.model.problem import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["RayRegion"]


class RayRegion(ABC):
    """Bracketed points on rays, joined by flat faces; a base for frozen dataclasses.

    The fields ``points`` (with ``direction``, ``loads`` and ``inner``), ``faces`` and ``_rays`` are those of
    :class:`~capacity.ServiceRegion` and :class:`~capacity.PolicyRegion`.
    """

    problem: Any
    points: Any
    faces: NDArray[np.intp]
    _rays: Any

    @cached_property
    def directions(self) -> FloatArray:
        """Rays, scaled to the boundary of the stability region, shape (n_points, n_classes), tasks."""
        return frozen(np.array([p.direction for p in self.points]))

    @cached_property
    def loads(self) -> FloatArray:
        """Inner ends of the brackets, shape (n_points, n_classes), tasks: points of the region."""
        return frozen(np.array([p.loads for p in self.points]))

    @cached_property
    def relative_loads(self) -> FloatArray:
        """Loads at :attr:`loads` over the largest that fit, shape (n_points,)."""
        return frozen(np.array([p.inner for p in self.points]))

    @cached_property
    def volume(self) -> float:
        """Volume (area) inside the inner ends joined by flat faces, tasks to the power n_classes."""
        return volume(self.loads, self.faces)

    def boundary(self, direction: ArrayLike) -> Any:
        """Where the ray through ``direction`` (class loads, any scale) leaves the region."""
        return self._rays.point(self._rays.scaled(direction))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the region of two or three classes inside the stability region (dashed)."""
        n = self.problem.n_classes
        if n not in (2, 3):
            raise ModelError(f"a plot needs 2 or 3 classes; here {n}")
        import matplotlib.pyplot as plt

        labels = [label(f"load of {name} (tasks)") for name in self.problem.job_classes]
        if n == 3:
            axes: Any = plt.figure().add_subplot(projection="3d") if ax is None else ax
            self._draw_faces(axes)
            axes.set(xlabel=labels[0], ylabel=labels[1], zlabel=labels[2])
            return cast("Axes", axes)
        ax = plt.figure().add_subplot() if ax is None else ax
        ax.plot(*_turned(self._outline()).T, "--", color="0.5", label="stability region")
        inside = _turned(self.loads)
        ax.fill(*np.vstack([[0.0, 0.0], inside]).T, alpha=0.2, color="C0", linewidth=0)
        ax.plot(*inside.T, color="C0", label=label(self._label()))
        self._mark(ax)
        ax.set(xlabel=labels[0], ylabel=labels[1], xlim=(0, None), ylim=(0, None))
        ax.legend()
        return ax

    def _draw_faces(self, axes: Any) -> None:
        from mpl_toolkits.mplot3d.art3d import Poly3DCollection

        for values, style in (
            (self.directions, {"alpha": 0.08, "facecolor": "0.5", "edgecolor": "0.7"}),
            (self.loads, {"alpha": 0.5, "facecolor": "C0", "edgecolor": "0.3"}),
        ):
            axes.add_collection3d(Poly3DCollection(values[self.faces], linewidths=0.5, **style))
        top = self.directions.max(axis=0)
        axes.set(xlim=(0, top[0]), ylim=(0, top[1]), zlim=(0, top[2]), title=label(self._label()))

    def _outline(self) -> FloatArray:
        """Points of the boundary of the stability region, in any order."""
        return self.directions

    @abstractmethod
    def _label(self) -> str:
        """What the region is, for legend and title."""

    @abstractmethod
    def _mark(self, ax: Axes) -> None:
        """Add what is known of single points."""


def _turned(points: FloatArray) -> FloatArray:
    """Points of the plane in the order of their angles."""
    return points[np.argsort([math.atan2(y, x) for x, y in points], kind="stable")]
