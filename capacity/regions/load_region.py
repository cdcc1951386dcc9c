r"""The loads that servers can carry: facets, vertices and volume, exactly; queries by relative load.

The region of a cluster is a sum :math:`P = \sum_i P_i` of monotone polytopes, one per server; a pool is one
server. Its facets, found from exact support values (:mod:`fairness.exact.double_description`), are integer
prices per task with what all servers together can earn: a region with few classes is the region of a pool
with one virtual resource per facet, :attr:`LoadRegion.pool`. For many classes there are too many facets,
but relative loads (:mod:`queueing.model.cluster_load`) answer most questions.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from capacity.regions.inequalities import MERGE, ROUNDING, Facets, float_points, inequality, necessary, scaled
from capacity.regions.loads import checked_loads
from capacity.regions.plotting import plot_polytope
from capacity.regions.vertices import all_corners, all_rounded
from fairness.arguments.labels import as_named
from fairness.arguments.validation import FloatArray, frozen, rationals
from fairness.display.result import Result
from fairness.errors import ModelError, NotConvergedError
from fairness.exact.corners import Corners
from fairness.exact.double_description import Facet, Point, enclose
from fairness.exact.linear_algebra import dot
from fairness.exact.minkowski_sum import Body, support_of_sum
from fairness.machine.work import ProgressOption, watching
from fairness.model.cluster import Cluster
from fairness.model.problem import Problem
from queueing.model.cluster_load import LoadEvidence, Support

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["LoadEvidence", "LoadRegion", "Support", "check_region"]


def check_region(region: Any) -> LoadRegion:
    """The region; refuse what is none."""
    if not isinstance(region, LoadRegion):
        raise ModelError.of(
            "region", f"must be a StabilityRegion or PackingRegion; got {type(region).__name__}"
        )
    return region


@dataclass(frozen=True, eq=False, repr=False)
class LoadRegion(Result):
    """Region that is a sum over servers; see :class:`~capacity.results.StabilityRegion` and
    :class:`~capacity.results.PackingRegion`.

    Attributes
    ----------
    model : Problem or Cluster
    max_facets : int
        Facets, vertices and volume are given up, with an error, beyond this number of facets, counting those
        of the regions of fewer classes.
    progress, time_limit
        Who watches the search for facets, and seconds after which it stops.
    """

    model: Problem | Cluster
    max_facets: int = field(default=2000, kw_only=True)
    progress: ProgressOption = field(default=None, kw_only=True)
    time_limit: float | None = field(default=None, kw_only=True)

    @property
    @abstractmethod
    def _called(self) -> str:
        """What a person reads that it is."""

    @property
    def job_classes(self) -> tuple[str, ...]:
        """Names of the classes."""
        return self.model.job_classes

    @property
    def n_servers(self) -> int:
        """Number of servers; a pool counts as one."""
        return self.model.n_servers

    @property
    @abstractmethod
    def pinned(self) -> tuple[int, ...]:
        """Classes that must have load 0, because no server can run one task."""

    @property
    def free(self) -> tuple[int, ...]:
        """Classes that may have any load, because they demand nothing."""
        return ()

    @property
    @abstractmethod
    def is_rational(self) -> bool:
        """Whether the model was given as integers or fractions, so that facets and volume are exact."""

    @cached_property
    @abstractmethod
    def _bodies(self) -> tuple[Body, ...]:
        """The distinct servers, over the live classes."""

    @abstractmethod
    def judge(self, loads: ArrayLike) -> LoadEvidence:
        """Relative load with evidence."""

    @abstractmethod
    def support(self, direction: ArrayLike) -> Support:
        """Most that the region earns at prices per task."""

    @property
    def n_classes(self) -> int:
        """Number of job classes."""
        return len(self.job_classes)

    @property
    def bounded(self) -> bool:
        """Whether every class has a largest load."""
        return not self.free

    @property
    def rays(self) -> FloatArray:
        """Directions in which the region is unbounded, shape (n_rays, n_classes)."""
        return np.eye(self.n_classes)[list(self.free)]

    @property
    def live(self) -> tuple[int, ...]:
        """Classes that are neither pinned nor free."""
        return tuple(n for n in range(self.n_classes) if n not in self.pinned + self.free)

    @cached_property
    def exact_facets(self) -> tuple[Facet, ...]:
        """Facets other than loads >= 0: integer (normal, offset) with normal * loads <= offset.

        For models of floats these are integers too, as floats are fractions, and long ones; facets that
        rounding alone tells from others are left out.

        Raises
        ------
        ModelError
            If there are more than ``max_facets``.
        NotConvergedError
            If the time is over; ``best`` are inequalities in the same form that are proved by then.
        """
        try:
            found = self._found_facets() if self.live else []
        except (NotConvergedError, KeyboardInterrupt) as error:
            known = getattr(error, "best", None) or ()
            error.best = tuple((self._padded(normal, 0), offset) for normal, offset in known)  # type: ignore[union-attr]
            raise
        return tuple((self._padded(normal, 0), offset) for normal, offset in found)

    def _found_facets(self) -> list[Facet]:
        """Facets over the live classes; ``best`` of an error are those known."""
        with watching(self.progress, self.time_limit):
            found, _ = enclose(
                lambda prices: support_of_sum(self._bodies, prices), len(self.live), self.max_facets
            )
        if self.is_rational:
            return found
        return [found[k] for k in necessary(found, Fraction(ROUNDING))]

    @cached_property
    def facets(self) -> Facets:
        """Facets other than loads >= 0 as arrays: normals @ loads < offsets; ``A, b = region.facets``."""
        exact = [scaled(facet) for facet in self.exact_facets]
        normals = np.array([normal for normal, _ in exact], dtype=float).reshape(-1, self.n_classes)
        return Facets(frozen(normals), frozen(np.array([offset for _, offset in exact], dtype=float)))

    @property
    def facet_names(self) -> tuple[str, ...]:
        """Names of the facets: "facet 1", "facet 2", ...; of a pool its resources."""
        return tuple(f"facet {k + 1}" for k in range(len(self.exact_facets)))

    @cached_property
    def exact_vertices(self) -> tuple[Point, ...] | None:
        """Vertices over the rationals in increasing order, (n_vertices, n_classes); None for float models.

        Raises
        ------
        ModelError
            If there are too many facets or vertices.
        """
        return self._points if self.is_rational else None

    @cached_property
    def vertices(self) -> FloatArray:
        """Vertices of the closed region, shape (n_vertices, n_classes), tasks; in increasing order.

        Raises
        ------
        ModelError
            If there are too many facets or vertices.
        """
        found = None if self.is_rational else self._rounded
        return float_points(self._points if found is None else found, self.is_rational)

    @cached_property
    def exact_volume(self) -> Fraction | None:
        """Volume over the rationals, tasks to the power n_classes; None for float models or if infinite."""
        found = self._volume
        return found if self.is_rational and isinstance(found, Fraction) else None

    @cached_property
    def volume(self) -> float:
        """Volume, tasks to the power n_classes; 0 if a class is pinned, infinite if unbounded.

        Raises
        ------
        ModelError
            If it is beyond the range of floats, or there are too many facets or vertices.
        """
        try:
            return float(self._volume)
        except OverflowError:
            raise ModelError(
                "the volume is beyond the range of floats; give demands in a larger unit"
            ) from None

    def exact_relative_load(self, loads: Sequence[Any]) -> Fraction:
        """Relative load of loads given as ints or fractions, from the facets; the boundary has exactly 1.

        Raises
        ------
        ModelError
            If the model or the loads are not rational, or a pinned class has a load.
        """
        if not self.is_rational:
            raise ModelError("the model was given as floats; give ints or fractions.Fraction")
        checked_loads(self.model, loads, batch=False)
        rho = rationals(np.array(as_named("loads", loads, self.model, "job_classes"), dtype=object))
        if rho is None or min(rho) < 0:
            raise ModelError.of("loads", f"must be ints or fractions >= 0; got {list(loads)!r}")
        stuck = [n for n in self.pinned if rho[n]]
        if stuck:
            n = stuck[0]
            said = f"has a load of {self.job_classes[n]!r}, which no server can run: no number is as large"
            raise ModelError.of("loads", said, n)
        return max((dot(normal, rho) / offset for normal, offset in self.exact_facets), default=Fraction(0))

    def contains(self, loads: ArrayLike) -> Any:
        """Whether loads of shape (..., n_classes) fit strictly; bool or bool array of shape (...).

        Of a cluster each answer yes rests on a placement. Boundary points do not fit: the condition is
        strict, as evaluated in floating point.
        """
        rho = checked_loads(self.model, loads)
        inside = np.asarray((rho >= 0).all(axis=-1))
        inside &= self._relative_loads(np.where(inside[..., None], rho, 0.0)) < 1
        return bool(inside) if rho.ndim == 1 else inside

    def slack(self, loads: ArrayLike) -> Any:
        """1 - relative load, of loads of shape (..., n_classes); negative when overloaded.

        Of a pool that is the part of the busiest resource that stays free. Minus infinity where a pinned
        class has a load.

        Raises
        ------
        ModelError
            If a load is negative or not finite.
        """
        rho = checked_loads(self.model, loads, least=0)
        slack = 1.0 - self._relative_loads(rho)
        return float(slack) if rho.ndim == 1 else slack

    def max_scale(self, mix: ArrayLike) -> Any:
        """Largest t such that t*mix lies in the closed region; mix >= 0 of shape (..., n_classes)."""
        rho, scale = self._edge(mix, "mix")
        with np.errstate(over="ignore"):
            scale = scale / rho.max(axis=-1)
        return float(scale) if rho.ndim == 1 else scale

    def boundary(self, direction: ArrayLike) -> FloatArray:
        """Loads where rays in directions >= 0 of shape (..., n_classes) leave the region, same shape.

        Infinite where they never do.
        """
        rho, scale = self._edge(direction, "direction")
        mix = rho / rho.max(axis=-1, keepdims=True)
        return np.multiply(mix, scale[..., None], out=np.zeros_like(mix), where=mix > 0)

    @cached_property
    def pool(self) -> Problem:
        """Pool with the same stability region: one resource per facet, ``facet 1``, ``facet 2``, ...

        Raises
        ------
        ModelError
            If a class is pinned or free, or there are more than ``max_facets`` facets.
        """
        told = (self.pinned, "no server can run a task of"), (self.free, "nothing bounds the load of")
        for which, said in told:
            if which:
                names = ", ".join(self.job_classes[n] for n in which)
                raise ModelError(f"{said} {names}; remove the class")
        exact = [scaled(facet) for facet in self.exact_facets]
        demands: Any = list(zip(*(normal for normal, _ in exact), strict=True))
        offsets: Any = [offset for _, offset in exact]
        if not self.is_rational:
            demands, offsets = self.facets.normals.T, self.facets.offsets
        return Problem(demands, offsets, job_classes=self.job_classes, resources=self.facet_names)

    @property
    def _exact_rows(self) -> list[tuple[Sequence[Fraction], Fraction]]:
        """The inequalities of :attr:`facets`, in the same order and units, over the rationals."""
        return [scaled(facet) for facet in self.exact_facets]

    def to_dict(self, *, vertices: bool = True) -> dict[str, Any]:
        """The region as plain data, for JSON: loads >= 0 with ``A @ loads <= b``, and its vertices.

        Of a model given as integers or fractions ``exact_A``, ``exact_b``, ``exact_vertices`` and
        ``exact_volume`` hold the same as texts such as "1/3". Loads of ``pinned`` classes must be 0, those of
        ``unbounded`` ones may be any; a volume that is not finite is None.

        Parameters
        ----------
        vertices : bool
            False leaves out vertices and volume, of which there may be too many.

        Raises
        ------
        ModelError
            If there are too many facets or vertices.

        Examples
        --------
        >>> from capacity import stability_region
        >>> told = stability_region(Problem([[10, 1], [1, 10]], [1, 1])).to_dict()
        >>> told["A"], told["b"], told["exact_vertices"][2], told["exact_volume"]
        ([[10.0, 1.0], [1.0, 10.0]], [1.0, 1.0], ['1/11', '1/11'], '1/110')
        """
        names = self.job_classes
        told: dict[str, Any] = {
            "job_classes": list(names),
            "pinned": [names[n] for n in self.pinned],
            "unbounded": [names[n] for n in self.free],
            "facet_names": list(self.facet_names),
            "A": self.facets.normals.tolist(),
            "b": self.facets.offsets.tolist(),
        }
        if self.is_rational:
            told["exact_A"] = [list(map(str, normal)) for normal, _ in self._exact_rows]
            told["exact_b"] = [str(offset) for _, offset in self._exact_rows]
        if vertices:
            told["vertices"] = self.vertices.tolist()
            told["volume"] = self.volume if math.isfinite(self.volume) else None
            if self.exact_vertices is not None:
                told["exact_vertices"] = [list(map(str, vertex)) for vertex in self.exact_vertices]
            if self.exact_volume is not None:
                told["exact_volume"] = str(self.exact_volume)
        return told

    def to_dataframe(self) -> pd.DataFrame:
        """One row per vertex: the load of every class, and the facets through it."""
        import pandas as pd

        frame = pd.DataFrame(self.vertices, columns=pd.Index(self.job_classes, name="job_class"))
        frame.index.name = "vertex"
        normals, offsets, names = self._named
        full = self.vertices @ normals.T > (1 - MERGE) * offsets
        frame["full"] = [", ".join(names[k] for k in np.flatnonzero(row)) for row in full]
        return frame

    def summary(self) -> str:
        """The inequalities that bound the region, and what does not."""
        lines = [f"{self._called} of {self.n_classes} classes: loads >= 0 (tasks) with"]
        for normal, offset, name in zip(*self.facets, self._facet_remarks, strict=True):
            lines.append(f"  {inequality(normal.tolist(), offset, self.job_classes)}{name}")
        for told, which in (("load must be 0", self.pinned), ("any load fits", self.free)):
            if which:
                lines.append(f"  {told}: {', '.join(self.job_classes[n] for n in which)}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        if self._quick:
            return self.summary()
        return f"{self._called} of {self.n_classes} classes on {self.n_servers} servers"

    def _table(self) -> pd.DataFrame | None:
        return self.to_dataframe() if self._listed else None

    @property
    def _facet_remarks(self) -> Sequence[str]:
        """What the summary says behind each facet."""
        return [""] * len(self.facet_names)

    @property
    def _quick(self) -> bool:
        """Whether facets are found fast enough for a look."""
        return self.n_classes <= 3 and self.n_servers <= 6

    @property
    def _listed(self) -> bool:
        """Whether vertices are."""
        return self._quick

    def plot(self, ax: Axes | None = None, loads: ArrayLike | None = None) -> Axes:
        """Draw the region of two or three classes, with its vertices and the names of its facets.

        Parameters
        ----------
        ax : Axes, optional
            Of three classes with ``projection="3d"``.
        loads : array_like of shape (n_classes,) or (n_points, n_classes), tasks, optional
            Drawn as well, each joined to the nearest point of the boundary, distances being parts of the
            largest load of each class; the legend says which are inside, and which facet is nearest.

        Raises
        ------
        ModelError
            If there are not two or three classes, the region is unbounded or has no interior, or loads have
            another shape or are negative.
        """
        return plot_polytope(self, ax, loads)

    @property
    def _named(self) -> tuple[FloatArray, FloatArray, tuple[str, ...]]:
        """Inequalities that a table of vertices names."""
        return (*self.facets, self.facet_names)

    def _edge(self, direction: ArrayLike, name: str) -> tuple[FloatArray, FloatArray]:
        """The direction, checked, and by how much it scales to the boundary when its largest entry is 1."""
        rho = checked_loads(self.model, direction, name=name)
        if (rho < 0).any() or not rho.any(axis=-1).all():
            raise ModelError.of(name, "must have entries >= 0, not all 0: it is a direction of loads")
        relative = np.asarray(self._relative_loads(rho / rho.max(axis=-1, keepdims=True)))
        return rho, np.divide(1.0, relative, out=np.full_like(relative, np.inf), where=relative > 0)

    def _relative_loads(self, rho: FloatArray) -> FloatArray:
        """Relative loads, shape (...), of loads of shape (..., n_classes)."""
        flat = [self.judge(row).relative_load for row in rho.reshape(-1, self.n_classes)]
        return np.array(flat).reshape(rho.shape[:-1])

    def _padded(self, values: Sequence[Any], zero: Any) -> tuple[Any, ...]:
        """Values of the live classes among those of all."""
        full = [zero] * self.n_classes
        for n, value in zip(self.live, values, strict=True):
            full[n] = value
        return tuple(full)

    @property
    def _most_vertices(self) -> tuple[float, str]:
        """Beyond how many vertices they are refused, and what is said then."""
        return math.inf, ""

    @property
    def _live_facets(self) -> list[Facet]:
        return [(tuple(normal[n] for n in self.live), offset) for normal, offset in self.exact_facets]

    @cached_property
    def _corners(self) -> Corners:
        facets = self._live_facets
        with watching(self.progress, self.time_limit):
            return all_corners(facets, len(self.live), *self._most_vertices)

    @cached_property
    def _points(self) -> tuple[Point, ...]:
        return tuple(self._padded(point, Fraction(0)) for point in self._corners.points())

    @property
    def _rounded(self) -> FloatArray | None:
        """Vertices of a model of floats, of facets rounded as they are; None if floats cannot tell."""
        facets = self._live_facets
        with watching(self.progress, self.time_limit):
            found = all_rounded(facets, len(self.live), *self._most_vertices, MERGE)
        if found is None:
            return None
        padded = np.zeros((len(found), self.n_classes))
        padded[:, list(self.live)] = found
        return padded

    @cached_property
    def _volume(self) -> Fraction | float:
        if self.pinned or self.free:
            return Fraction(0) if self.pinned else math.inf
        return self._corners.volume(rounded=not self.is_rational)
