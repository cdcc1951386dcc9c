r"""What regions of servers have in common: exact facets, vertices and volume; queries by relative load.

The region of a cluster is a sum :math:`P = \sum_i P_i` of monotone polytopes, one per server. Its facets,
found from exact support values (:mod:`fairness.exact.double_description`), are integer prices per task with
what all servers together can earn: a region with few classes is the region of a pool with one virtual
resource per facet, :attr:`MonotoneRegion.pool`, and what is known for the regions of pools applies to it. For
many classes there are too many facets, but relative loads (:mod:`capacity.regions.evidence`) answer most questions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from capacity.regions.evidence import LoadEvidence, Support
from capacity.regions.pool import MERGE, ROUNDING, StabilityRegion, float_points, inequality
from fairness.arguments.validation import FloatArray, model_array
from fairness.errors import ModelError, NotConvergedError
from fairness.exact.double_description import Facet, Point, enclose, vertices, volume
from fairness.exact.minkowski_sum import Body, support_of_sum
from fairness.exact.pivoting import maximum
from fairness.machine.work import ProgressOption, watching
from fairness.model.problem import Problem

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["MonotoneRegion"]


@dataclass(frozen=True, eq=False, repr=False)
class MonotoneRegion(ABC):
    """Region that is a sum over servers; see :class:`.ClusterRegion` and :class:`.PackingRegion`.

    Attributes
    ----------
    max_facets : int
        Facets, vertices and volume are given up, with an error, beyond this number of facets, counting those
        of the regions of fewer classes.
    progress, time_limit
        Who watches the search for facets, and seconds after which it stops.
    """

    max_facets: int
    progress: ProgressOption = field(default=None, kw_only=True)
    time_limit: float | None = field(default=None, kw_only=True)

    @property
    @abstractmethod
    def job_classes(self) -> tuple[str, ...]:
        """Names of the classes."""

    @property
    @abstractmethod
    def pinned(self) -> tuple[int, ...]:
        """Classes that must have load 0, because no server can run one task."""

    @property
    @abstractmethod
    def is_rational(self) -> bool:
        """Whether the model was given as integers or fractions, so that facets and volume are exact."""

    @cached_property
    @abstractmethod
    def _bodies(self) -> tuple[Body, ...]:
        """The distinct servers, over the classes that are not pinned."""

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
        """Whether every class has a largest load: always."""
        return True

    @property
    def live(self) -> tuple[int, ...]:
        """Classes that are not pinned."""
        return tuple(n for n in range(self.n_classes) if n not in self.pinned)

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
        live = self.live
        if not live:
            return ()
        try:
            with watching(self.progress, self.time_limit):
                found, _ = enclose(
                    lambda prices: support_of_sum(self._bodies, prices), len(live), self.max_facets
                )
        except (NotConvergedError, KeyboardInterrupt) as error:
            known = getattr(error, "best", None) or ()
            error.best = tuple((self._padded(normal, 0), offset) for normal, offset in known)  # type: ignore[union-attr]
            raise
        if not self.is_rational:
            found = _without_redundant(found)
        return tuple((self._padded(normal, 0), offset) for normal, offset in found)

    @property
    def normals(self) -> FloatArray:
        """Normals of the facets, shape (n_facets, n_classes): normals @ loads < offsets."""
        return np.array([_scaled(facet)[0] for facet in self.exact_facets]).reshape(-1, self.n_classes)

    @property
    def offsets(self) -> FloatArray:
        """Offsets of the facets, shape (n_facets,)."""
        return np.array([_scaled(facet)[1] for facet in self.exact_facets])

    @cached_property
    def exact_vertices(self) -> tuple[Point, ...] | None:
        """Vertices over the rationals in increasing order, (n_vertices, n_classes); None for float models.

        Raises
        ------
        ModelError
            If there are more than ``max_facets`` facets.
        """
        return self._points if self.is_rational else None

    @cached_property
    def vertices(self) -> FloatArray:
        """Vertices of the closed region, shape (n_vertices, n_classes), tasks; in increasing order.

        Raises
        ------
        ModelError
            If there are more than ``max_facets`` facets.
        """
        return float_points(self._points, self.is_rational)

    @cached_property
    def exact_volume(self) -> Fraction | None:
        """Volume over the rationals, tasks to the power n_classes; None for float models."""
        return self._volume if self.is_rational else None

    @cached_property
    def volume(self) -> float:
        """Volume, tasks to the power n_classes; 0 if a class is pinned.

        Raises
        ------
        ModelError
            If it is beyond the range of floats, or there are more than ``max_facets`` facets.
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
        self._check(loads, batch=False)
        try:
            rho = [Fraction(v) if not isinstance(v, float) else None for v in loads]
        except TypeError:
            rho = [None]
        if None in rho or any(v < 0 for v in rho if v is not None):
            raise ModelError(f"loads must be ints or fractions >= 0; got {list(loads)!r}")
        if any(rho[n] for n in self.pinned):
            raise ModelError("a class that no server can run has a load; its relative load is infinite")
        return max(
            (
                (sum((a * v for a, v in zip(normal, rho, strict=True) if v), Fraction(0)) / offset)
                for normal, offset in self.exact_facets
            ),
            default=Fraction(0),
        )

    def contains(self, loads: ArrayLike) -> Any:
        """Whether loads of shape (..., n_classes) fit strictly; bool or bool array of shape (...).

        Each answer yes rests on a placement. Boundary points do not fit: the condition is strict, as
        evaluated in floating point.
        """
        rho = self._check(loads)
        inside = np.asarray((rho >= 0).all(axis=-1))
        inside &= self._each(np.where(inside[..., None], rho, 0.0)) < 1
        return bool(inside) if rho.ndim == 1 else inside

    def slack(self, loads: ArrayLike) -> Any:
        """1 - relative load, of loads >= 0 of shape (..., n_classes); negative when overloaded."""
        rho = self._check(loads)
        if (rho < 0).any():
            raise ModelError("loads must be >= 0")
        slack = 1.0 - self._each(rho)
        return float(slack) if rho.ndim == 1 else slack

    def max_scale(self, mix: ArrayLike) -> Any:
        """Largest t such that t*mix lies in the closed region; mix >= 0 of shape (..., n_classes)."""
        rho, edge = self._edge(mix, "mix")
        with np.errstate(over="ignore"):
            scale = edge.max(axis=-1) / rho.max(axis=-1)
        return float(scale) if rho.ndim == 1 else scale

    def boundary(self, direction: ArrayLike) -> FloatArray:
        """Loads where rays in directions >= 0 of shape (..., n_classes) leave the region, same shape."""
        return self._edge(direction, "direction")[1]

    @cached_property
    def pool(self) -> Problem:
        """Pool with the same stability region: one resource per facet, ``facet 1``, ``facet 2``, ...

        Raises
        ------
        ModelError
            If a class is pinned, or there are more than ``max_facets`` facets.
        """
        if self.pinned:
            names = ", ".join(self.job_classes[n] for n in self.pinned)
            raise ModelError(f"no server can run a task of {names}; remove the class")
        names_of_facets = [f"facet {k + 1}" for k in range(len(self.exact_facets))]
        facets = self.exact_facets
        # Integers too long for floats are divided by the offset, exactly.
        units = [1 if max(*normal, offset) < 2**53 else offset for normal, offset in facets]
        demands: Any = [
            [Fraction(normal[n], unit) for (normal, _), unit in zip(facets, units, strict=True)]
            for n in range(self.n_classes)
        ]
        offsets: Any = [Fraction(offset, unit) for (_, offset), unit in zip(facets, units, strict=True)]
        if not self.is_rational:
            demands, offsets = self.normals.T, self.offsets
        return Problem(demands, offsets, job_classes=self.job_classes, resources=names_of_facets)

    def to_dataframe(self) -> pd.DataFrame:
        """One row per vertex: the load of every class, and the numbers of the facets through it."""
        frame = pd.DataFrame(self.vertices, columns=pd.Index(self.job_classes, name="job_class"))
        frame.index.name = "vertex"
        relative = self.vertices @ self.normals.T / self.offsets
        frame["full"] = [
            ", ".join(f"facet {k + 1}" for k in np.flatnonzero(row > 1 - MERGE)) for row in relative
        ]
        return frame

    def summary(self) -> str:
        """The inequalities that bound the region."""
        lines = [f"{type(self).__name__} of {self.n_classes} classes: loads >= 0 (tasks) with"]
        for facet in self.exact_facets:
            normal, offset = _scaled(facet)
            lines.append(f"  {inequality(normal, offset, self.job_classes)}")
        if self.pinned:
            lines.append(f"  load must be 0: {', '.join(self.job_classes[n] for n in self.pinned)}")
        return "\n".join(lines)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the region of two or three classes.

        Raises
        ------
        ModelError
            If there are not two or three classes, or one is pinned.
        """
        pool = self.pool
        return StabilityRegion(pool, tuple(range(pool.n_resources)), (), (), (), 20_000).plot(ax)

    def _check(self, loads: Any, batch: bool = True, name: str = "loads") -> FloatArray:
        rho = model_array(name, loads, self, "job_classes")
        if rho.ndim == 0 or rho.shape[-1] != self.n_classes or not (batch or rho.ndim == 1):
            raise ModelError(
                f"{name} has shape {rho.shape}; its last axis must list the {self.n_classes} classes"
                + ("" if batch else ", without a batch")
            )
        if not np.isfinite(rho).all():
            raise ModelError(f"{name} must be finite")
        return rho

    def _edge(self, direction: ArrayLike, name: str) -> tuple[FloatArray, FloatArray]:
        """The direction, checked, and where its ray leaves the region."""
        rho = self._check(direction, name=name)
        if (rho < 0).any() or not rho.any(axis=-1).all():
            raise ModelError(f"{name} must have entries >= 0, not all 0: it is a direction of loads")
        mix = rho / rho.max(axis=-1, keepdims=True)
        return rho, mix / self._each(mix)[..., None]

    def _one(self, loads: ArrayLike) -> FloatArray:
        rho = self._check(loads, batch=False)
        if (rho < 0).any():
            raise ModelError("loads must be >= 0")
        return rho

    def _each(self, rho: FloatArray) -> FloatArray:
        flat = [self.judge(row).relative_load for row in rho.reshape(-1, self.n_classes)]
        return np.array(flat).reshape(rho.shape[:-1])

    def _padded(self, values: Sequence[Any], zero: Any) -> tuple[Any, ...]:
        full = [zero] * self.n_classes
        for n, value in zip(self.live, values, strict=True):
            full[n] = value
        return tuple(full)

    @cached_property
    def _corners(self) -> dict[Point, int]:
        live = self.live
        return vertices(
            [(tuple(normal[n] for n in live), offset) for normal, offset in self.exact_facets], len(live)
        )

    @cached_property
    def _points(self) -> tuple[Point, ...]:
        return tuple(self._padded(point, Fraction(0)) for point in self._corners)

    @cached_property
    def _volume(self) -> Fraction:
        return Fraction(0) if self.pinned else volume(self._corners, self.n_classes)


def _without_redundant(facets: list[Facet]) -> list[Facet]:
    """Without the facets that the others imply up to the rounding of the data."""
    kept = list(facets)
    for facet in facets:
        others = [[*normal, offset] for normal, offset in kept if (normal, offset) != facet]
        most = maximum(others, list(facet[0]))
        if most is not None and most <= facet[1] * (1 + Fraction(ROUNDING)):
            kept.remove(facet)
    return kept


def _scaled(facet: Facet) -> tuple[list[float], float]:
    """Normal and offset as floats; with offset 1 if the integers are too long for floats."""
    normal, offset = facet
    if max(*normal, offset) < 2**53:
        return [float(v) for v in normal], float(offset)
    return [float(Fraction(v, offset)) for v in normal], 1.0
