"""Regions known by brackets on rays: one engine, whatever the margin that changes its sign on a ray.

:class:`Rays` knows where single rays leave the region (:mod:`capacity.boundaries.rays` finds the crossing);
:func:`traced` chooses the rays, more of them where the boundary bends; a :class:`RayRegion` is what the
points span: an approximation from inside, flat between the rays, with the evidence of every point. It need
not be convex, as the margin may do what it likes between the rays.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from capacity.boundaries.rays import Crossing, mesh, simplex_grid, split, volume
from capacity.regions.divisible_tasks import StabilityRegion, stability_region
from capacity.regions.inequalities import Facets
from capacity.regions.loads import checked_loads
from capacity.regions.plotting import draw_faces, load_axes, mark_loads
from fairness.arguments.validation import frozen, model_array, require_number, require_whole
from fairness.catalogue import colour
from fairness.display.drawing import legend_beside
from fairness.display.lettering import label
from fairness.display.result import Result
from fairness.errors import ModelError, NotConvergedError
from fairness.machine.work import OutOfTime, ProgressOption, Task, stopped, watching
from fairness.model.cluster import Cluster
from fairness.model.problem import FloatArray, Problem

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["RayPoint", "RayRegion", "Rays", "traced"]

FLAT = 1e-9
"""A face whose plane is closer to the origin than this, relatively, goes through it."""


@dataclass(frozen=True, eq=False)
class RayPoint:
    """Where one ray leaves a region.

    Attributes
    ----------
    direction : ndarray of shape (n_classes,), tasks
        The ray, scaled to the largest load that fits.
    inner, outer : float
        Parts of that load: inside at ``inner`` (or it is 0), outside at ``outer`` (or it is 1).
    """

    direction: FloatArray
    inner: float
    outer: float

    @property
    def loads(self) -> FloatArray:
        """Class loads at the inner end, (n_classes,), tasks."""
        return self.inner * self.direction


class Rays(ABC):
    """Where rays leave a region; remembers where the last ones did."""

    single: ClassVar[str]
    """The function for one ray, which more than three classes have to take."""
    least: ClassVar[dict[int, int]]
    """Fewest points of a region by the number of classes."""

    def __init__(self, problem: Problem | Cluster, precision: float) -> None:
        self.problem = problem
        self.precision = require_number("precision", precision, above=0, most=0.1, hint=", a relative load")
        self.region: StabilityRegion = stability_region(problem)
        self._ended: dict[bytes, tuple[FloatArray, float]] = {}
        self.seen: dict[float, Any] = {}
        """What was seen on the ray that is searched, by relative load."""

    def scaled(self, direction: ArrayLike) -> FloatArray:
        """Validated direction, scaled to the boundary of what fits."""
        n = self.problem.n_classes
        d = model_array("direction", direction, self.problem, "job_classes")
        if d.shape != (n,) or not (np.isfinite(d) & (d >= 0)).all() or not d.any():
            raise ModelError.of(
                "direction", f"must list {n} class loads, finite and >= 0, not all 0; got {direction!r}"
            )
        d = d / d.max()
        scale = float(self.region.max_scale(d))
        if scale == 0:
            name = next(self.problem.job_classes[i] for i in self.region.pinned if d[i] > 0)
            raise ModelError.of(
                "direction",
                f"gives load to class {name!r}, which never runs, as it demands a resource of "
                "capacity 0, so there is no boundary; set its entry to 0",
            )
        if scale == np.inf:
            raise ModelError.of(
                "direction",
                "gives load to classes without demands only: their load has no boundary; add a "
                "class with demands",
            )
        result: FloatArray = d * scale
        return result

    def point(self, direction: FloatArray) -> Any:
        """The boundary on one ray, made by :meth:`scaled`; what an error knows of it is a point, too."""
        try:
            found = self._found(direction)
        except (NotConvergedError, KeyboardInterrupt) as error:
            known = getattr(error, "best", None)
            if isinstance(known, Crossing):
                error.best = self._made(direction, known)  # type: ignore[union-attr]
            raise
        point = self._made(direction, found)
        self.remember(point)
        return point

    def remember(self, point: RayPoint) -> None:
        """Learn from a point where the next ray may end."""
        d = point.direction
        self._ended.setdefault(d.tobytes(), (d / d.sum(), self._lesson(point)))

    def keeps(self, loads: FloatArray) -> bool:
        """Whether loads of shape (n_classes,) are inside, by computing there."""
        if (loads < 0).any():
            return False
        return not loads.any() or bool(self.region.contains(loads) and self._keeps(loads))

    def first(self, points: int, largest: FloatArray) -> FloatArray:
        """The first directions of a region, in units of the largest load of each class."""
        n = len(largest)
        return simplex_grid(n, points // 3 if n == 2 else max(self.least[n], points // 2))

    @abstractmethod
    def _found(self, direction: FloatArray) -> Crossing:
        """Bracket of the boundary on one ray."""

    @abstractmethod
    def _made(self, direction: FloatArray, found: Crossing) -> RayPoint:
        """The point of a bracket, with what was seen at its ends."""

    @abstractmethod
    def _keeps(self, loads: FloatArray) -> bool:
        """Whether loads that fit, not all 0, are inside."""

    def _lesson(self, point: RayPoint) -> float:
        """What a point says about other rays: where it lies."""
        return (point.inner + point.outer) / 2

    def _learnt(self, direction: FloatArray) -> float | None:
        """The lesson of the nearest ray; None for the first."""
        unit = direction / direction.sum()
        near = [(float(np.abs(d - unit).sum()), lesson) for d, lesson in self._ended.values()]
        return min(near)[1] if near else None


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RayRegion(Result):
    """Bracketed points on rays, joined by flat faces: an approximation from inside.

    Attributes
    ----------
    problem : Problem or Cluster
    mean_sizes : ndarray of shape (n_classes,)
    precision : float
        Largest width of a bracket, as a part of the largest load.
    points : tuple of RayPoint
    faces : ndarray of shape (n_faces, n_classes)
        Neighbouring points, by index: segments for two classes, triangles for three.
    """

    problem: Problem | Cluster
    mean_sizes: FloatArray
    precision: float
    points: tuple[Any, ...]
    faces: NDArray[np.intp]

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
    def vertices(self) -> FloatArray:
        """The origin and the inner ends of the brackets, shape (n_points + 1, n_classes), tasks."""
        return frozen(np.vstack([np.zeros(self.problem.n_classes), self.loads]))

    @cached_property
    def facets(self) -> Facets:
        """Planes through the flat faces as arrays, normals @ loads <= offsets; ``A, b = region.facets``.

        The region need not be convex: the inequality of a face is meant for the loads whose ray meets it.
        """
        unit = self.directions.max(axis=0)
        corners = self.loads[self.faces] / unit
        minus = -np.ones((*corners.shape[:2], 1))
        # The plane p x = t through n points: the kernel of n equations in n + 1 unknowns.
        plane = np.linalg.svd(np.concatenate([corners, minus], axis=2))[2][:, -1]
        middle = (self.directions[self.faces] / unit).mean(axis=1)
        plane *= np.where((plane[:, :-1] * middle).sum(axis=1) < 0, -1.0, 1.0)[:, None]
        # Offset 1, but where the face goes through the origin.
        size = np.where(plane[:, -1] > FLAT, plane[:, -1], 1.0)[:, None]
        return Facets(frozen(plane[:, :-1] / unit / size), frozen(plane[:, -1] / size[:, 0]))

    @property
    def facet_names(self) -> tuple[str, ...]:
        """Names of the faces: "face 1", "face 2", ..."""
        return tuple(f"face {k + 1}" for k in range(len(self.faces)))

    @cached_property
    def volume(self) -> float:
        """Volume (area) inside the inner ends joined by flat faces, tasks to the power n_classes."""
        return volume(self.loads, self.faces)

    def to_dict(self) -> dict[str, Any]:
        """The region as plain data, for JSON: its vertices, and the faces that join them.

        ``faces`` are indices of ``vertices``, and row k of ``A`` and ``b`` is the plane through face k:
        ``A @ loads <= b`` for loads whose ray meets that face. Together they describe the region where it is
        convex, which it need not be.
        """
        return {
            "job_classes": list(self.problem.job_classes),
            "facet_names": list(self.facet_names),
            "A": self.facets.normals.tolist(),
            "b": self.facets.offsets.tolist(),
            "faces": (self.faces + 1).tolist(),  # vertex 0 is the origin
            "vertices": self.vertices.tolist(),
            "volume": self.volume,
        }

    @cached_property
    def _rays(self) -> Any:
        """The engine, which remembers the points."""
        rays = self._engine()
        for point in self.points:
            rays.remember(point)
        return rays

    @abstractmethod
    def _engine(self) -> Rays:
        """What finds such points."""

    def contains(self, loads: ArrayLike) -> Any:
        """Whether loads of shape (..., n_classes) are inside, by computing there, not by the points.

        Raises
        ------
        ModelError
            If the shape is wrong or a load is not finite.
        NotConvergedError
            If loads are so close to the boundary that the accuracy does not decide, or nothing could be
            computed there.
        """
        rho = checked_loads(self.problem, loads)
        inside = np.array([self._rays.keeps(row) for row in rho.reshape(-1, rho.shape[-1])], dtype=bool)
        return bool(inside[0]) if rho.ndim == 1 else inside.reshape(rho.shape[:-1])

    def boundary(self, direction: ArrayLike) -> Any:
        """Where the ray through ``direction`` (class loads, any scale) leaves the region."""
        return self._rays.point(self._rays.scaled(direction))

    def to_dataframe(self) -> pd.DataFrame:
        """One row per point: class loads, bracket, evidence."""
        import pandas as pd

        frame = pd.DataFrame(self.loads, columns=[f"load {name}" for name in self.problem.job_classes])
        frame.index.name = "point"
        for name in ("inner", "outer"):
            frame[name] = [getattr(p, name) for p in self.points]
        for name, values in self._columns():
            frame[name] = values
        return frame

    @abstractmethod
    def _columns(self) -> list[tuple[str, Sequence[Any]]]:
        """What a table says of the points besides."""

    def plot(self, ax: Axes | None = None, loads: ArrayLike | None = None) -> Axes:
        """Draw the region of two or three classes inside the stability region (dashed).

        Parameters
        ----------
        ax : Axes, optional
            Of three classes with ``projection="3d"``.
        loads : array_like of shape (n_classes,) or (n_points, n_classes), tasks, optional
            Drawn as well, each joined to the place where its ray leaves the drawn region; the legend says
            which are inside. What is drawn is an approximation by flat faces: :meth:`contains` computes.

        Raises
        ------
        ModelError
            If there are not two or three classes, or loads have another shape or are negative.
        """
        points = None if loads is None else np.atleast_2d(checked_loads(self.problem, loads, least=0))
        axes = self._drawn(ax)
        if points is not None:
            mark_loads(axes, [self._placed(point) for point in points])
        return axes

    def _placed(self, loads: FloatArray) -> tuple[FloatArray, FloatArray, str, bool]:
        """Loads, where their ray meets the face through the known points, what is said, whether inside."""
        corners = self.directions[self.faces].transpose(0, 2, 1)
        k = int((np.linalg.pinv(corners) @ loads).min(axis=1).argmax())
        reached, offset = float(self.facets[0][k] @ loads), float(self.facets[1][k])
        used = reached / offset if offset > 0 else np.inf * (reached > 0)
        foot = loads / used if used > 0 else loads
        return loads, foot, f"{used:.4g} of what\nits ray has here", used < 1

    def _drawn(self, ax: Axes | None) -> Any:
        axes, shade = load_axes(self.problem.job_classes, ax), colour(self._painted)
        if self.problem.n_classes == 3:
            top = self.directions.max(axis=0)
            around: Any = {"alpha": 0.08, "facecolor": "0.5", "linewidths": 0.0}
            inner: Any = {"alpha": 0.5, "facecolor": shade, "edgecolor": "0.3", "linewidths": 0.5}
            draw_faces(axes, self.directions[self.faces], top, **around)
            draw_faces(axes, self.loads[self.faces], top, **inner)
            lines = np.insert(_edges(self._rays.region), 2, np.nan, axis=1).reshape(-1, 3)
            axes.plot(*lines.T, "--", color="0.3", linewidth=1.2, label="stability region")
            axes.set(title=label(self._label()))
            legend_beside(axes, bbox_to_anchor=(0.0, 1.0))
            return axes
        # The corners of the stability region belong to its outline, whatever rays were taken.
        corners = self._rays.region.vertices
        outline = np.vstack([self.directions, corners[corners.any(axis=1)]])
        axes.plot(*_turned(outline).T, "--", color="0.5", label="stability region")
        inside = _turned(self.loads)
        axes.fill(*np.vstack([[0.0, 0.0], inside]).T, alpha=0.2, color=shade, linewidth=0)
        axes.plot(*inside.T, color=shade, label=label(self._label()))
        self._mark(axes)
        axes.set(xlim=(0, None), ylim=(0, None))
        legend_beside(axes)
        return axes

    @property
    @abstractmethod
    def _painted(self) -> str:
        """Name of the policy or model that has the colour of the region."""

    @abstractmethod
    def _label(self) -> str:
        """What the region is, for legend and title."""

    @abstractmethod
    def _mark(self, ax: Axes) -> None:
        """Add what is known of single points."""


Region = TypeVar("Region", bound=RayRegion)


def traced(
    rays: Rays,
    points: int,
    build: Callable[..., Region],
    progress: ProgressOption,
    time_limit: float | None,
) -> Region:
    """The region, built of points and faces, of up to ``points`` rays: first a grid, then where it bends.

    Raises
    ------
    ModelError
        If there are too many classes or too few points, or a class has no boundary.
    NotConvergedError
        If a point could not be found, or the time is over; ``best`` is the region of the points found by
        then, None where they span none. A KeyboardInterrupt has the same ``best``.
    """
    problem, region = rays.problem, rays.region
    n = problem.n_classes
    if n > max(rays.least):
        raise ModelError(
            f"a whole region needs at most {max(rays.least)} classes, but there are {n}; take {rays.single} "
            "for one ray"
        )
    require_whole("points", points, rays.least[n])
    for i in (*region.pinned, *region.free):
        why = "demands a resource of capacity 0" if i in region.pinned else "has no demands"
        raise ModelError(
            f"class {problem.job_classes[i]!r} {why}, so the region has no boundary in its direction; take "
            f"{rays.single} for rays, or leave the class out"
        )
    largest = region.max_scale(np.eye(n))
    weights = rays.first(points, largest)
    start, shortest = len(weights), 0.25 / points ** (1.0 / max(1, n - 1))
    found: list[Any] = []

    def spanned() -> Region | None:
        if len(found) < start:
            return None
        used, ordered = weights[: len(found)], found
        if n == 2:
            order = np.argsort(used[:, 1], kind="stable")
            used, ordered = used[order], [found[k] for k in order]
        return build(points=tuple(ordered), faces=frozen(mesh(used)))

    try:
        with watching(progress, time_limit), Task("the region", points, "rays") as work:
            while len(found) < len(weights):
                found.append(rays.point(rays.scaled(weights[len(found)] * largest)))
                work.advance()
                if n > 1 and start <= len(found) < points and len(found) == len(weights):
                    new = split(weights, np.array([p.loads for p in found]) / largest, shortest)
                    weights = weights if new is None else np.vstack([weights, new])
    except (NotConvergedError, KeyboardInterrupt) as error:
        # A point is no region.
        error.best = spanned()  # type: ignore[union-attr]
        raise
    except OutOfTime as stop:
        raise stopped(stop, f"{len(found)} of {points} points are known", spanned()) from None
    complete = spanned()
    assert complete is not None, "the grid is complete"
    return complete


def _edges(region: StabilityRegion) -> FloatArray:
    """Both ends of each edge of a region of three classes, but for those on the axes, (n_edges, 2, 3)."""
    vertices, (normals, offsets) = region.vertices, region.facets
    full = vertices @ normals.T > (1 - FLAT) * offsets
    # Coordinate planes are faces, too, but no two of them bound an edge that is drawn.
    faces = np.hstack([full, vertices <= FLAT * vertices.max(axis=0)]).astype(int)
    shared = (faces @ faces.T > 1) & (full.astype(int) @ full.T.astype(int) > 0)
    return vertices[np.argwhere(np.triu(shared, 1))]


def _turned(points: FloatArray) -> FloatArray:
    """Points of the plane in the order of their angles."""
    return points[np.argsort(np.arctan2(points[:, 1], points[:, 0]), kind="stable")]
