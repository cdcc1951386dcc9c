r"""The stability region: which class loads a pool or a cluster can carry when tasks may be divided.

With :math:`b_{nir}` the share of resource r of server i that one task of class n holds there, server i can
run the mixes

.. math:: P_i = \Big\{x \ge 0 : \sum_n x_n b_{nir} \le 1 \text{ for all } r,\
          x_n = 0 \text{ where not eligible}\Big\},

and loads :math:`\rho_n = \lambda_n\sigma_n` (tasks) can be carried if and only if they split as
:math:`\rho_n = \sum_i x_{ni}` with :math:`x_{\cdot i} \in P_i`. So the closed region is the Minkowski sum
:math:`\sum_i P_i`; loads in its interior can be stabilised and loads outside cannot [1]_ [2]_ (there for
whole tasks, :mod:`capacity.regions.whole_tasks`). Limits of tasks per job do not matter, since an
overloaded class has jobs enough.

*A pool* is one server, and its facets are the resources that matter: resource j is redundant if and only if
the largest load that the other resources let through is at most :math:`C_j` (simplex method). A class that
demands nothing may have any load (the region contains a ray); one that demands a resource of capacity 0 must
have load 0 (it is *pinned*, and the region has no volume).

*A cluster*'s support function is a sum over servers of small linear programs, :math:`h(p) = \sum_i
\max_{x\in P_i} p\cdot x`; by duality h(p) is also the least total of prices :math:`q_{ir} \ge 0` of whole
resources with :math:`\sum_r q_{ir} b_{nir} \ge p_n`. Few classes: the vertices of each :math:`P_i` are
found exactly, and the facets follow from exact support values (:mod:`fairness.exact.double_description`);
identical servers are counted, not repeated. Many classes or servers: queries by linear programs, each with
evidence that is recomputed (:mod:`queueing.model.cluster_load`).

Vertices and volume of either are those of its facets (:mod:`fairness.exact.corners`).

Everything exact is computed over the integers, after clearing denominators; a float is a fraction too.

References
----------
.. [1] T. Bonald and J. Roberts, "Resource sharing in data centers", Workshop on Performance and
   Control of Large-Scale Networks, Eindhoven, 2014.
.. [2] S. T. Maguluri, R. Srikant and L. Ying, "Stochastic models of load balancing and scheduling in cloud
   computing clusters", INFOCOM 2012. DOI 10.1109/INFCOM.2012.6195815.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from capacity.regions.inequalities import ROUNDING, Facets, necessary
from capacity.regions.load_region import LoadRegion
from capacity.regions.loads import checked_loads, checked_model
from capacity.regions.vertices import all_corners
from fairness.arguments.validation import require_whole
from fairness.display.wording import rough
from fairness.errors import ModelError
from fairness.exact.double_description import Facet, Point
from fairness.exact.linear_algebra import whole
from fairness.exact.minkowski_sum import Body
from fairness.exact.server_rows import ServerRows, as_fractions, distinct_servers, mixes
from fairness.machine.work import ProgressOption
from fairness.model.cluster import Cluster
from fairness.model.problem import FloatArray, Problem
from queueing.model.cluster_load import LoadEvidence, Support, relative_load, support

__all__ = ["PoolRegion", "StabilityRegion", "least_facets", "stability_region"]

MAX_SERVER_VERTICES = 20_000
"""The mixes of one server are given up beyond this number of vertices."""

MOST_CLASSES = 6
"""A notebook lists the vertices of a pool up to here: beyond they may be thousands, and take minutes."""


@dataclass(frozen=True, eq=False, repr=False)
class StabilityRegion(LoadRegion):
    """All class loads that a pool or a cluster can carry; made by :func:`stability_region`.

    That of a pool is a :class:`PoolRegion`.

    Attributes
    ----------
    model : Problem or Cluster
    max_vertices : int
        Of a pool the vertices are given up beyond this number (degenerate ones count as several).
    max_facets, progress, time_limit
        Of the search for the facets of a cluster; the latter two also of that for the vertices.
    """

    model: Any  # a Cluster here, of a PoolRegion a Problem
    max_vertices: int = field(default=20_000, kw_only=True)

    _called = "StabilityRegion"

    @classmethod
    def of_fields(cls, fields: Mapping[str, Any]) -> type[StabilityRegion]:
        """The class of a region that was saved: there once was one for both models."""
        return PoolRegion if cls is StabilityRegion and isinstance(fields["model"], Problem) else cls

    @cached_property
    def pinned(self) -> tuple[int, ...]:
        """Classes that must have load 0, because they demand a resource of capacity 0 (of pools only)."""
        return ()

    @property
    def is_rational(self) -> bool:
        """Whether the model was given as integers or fractions."""
        return self.model.is_rational

    @property
    def redundant(self) -> tuple[str, ...]:
        """Resources of a pool that the others imply; a resource of capacity 0 pins classes and is not one."""
        return ()

    def judge(self, loads: ArrayLike) -> LoadEvidence:
        """Relative load of loads >= 0, shape (n_classes,), with a placement and prices as evidence.

        A pinned class has an infinite price; if it has a load, so is the relative load.

        Raises
        ------
        NotConvergedError
            If placement and prices leave a relative gap of more than 1e-9.

        Examples
        --------
        >>> cluster = Cluster([[1, 2], [1, 0]], [[4, 4], [6, 0]])
        >>> evidence = stability_region(cluster).judge([2, 9])
        >>> round(evidence.relative_load, 9), evidence.refuted
        (1.1, True)
        >>> evidence.prices.round(6), evidence.earnings.round(6)
        (array([0.1, 0.1]), array([0.4, 0.6]))
        """
        return relative_load(self.model, checked_loads(self.model, loads, batch=False, least=0))

    def support(self, direction: ArrayLike) -> Support:
        """Most that the servers earn at prices per task of shape (n_classes,), and where.

        Raises
        ------
        ModelError
            If a class has a price although it demands nothing.
        NotConvergedError
            If the value and the bound leave a relative gap of more than 1e-9.

        Examples
        --------
        >>> best = stability_region(Problem([[10, 1], [1, 10]], [1, 1])).support([1, 1])
        >>> round(best.value, 9), best.load.round(6)
        (0.181818182, array([0.090909, 0.090909]))
        """
        return support(self.model, checked_loads(self.model, direction, batch=False, name="direction"))

    def _found_facets(self) -> list[Facet]:
        least = least_facets(self.model)
        if least > self.max_facets:
            raise ModelError(
                f"the region has at least {rough(least, 3)} facets, counting those of the regions of "
                f"fewer classes, more than max_facets={self.max_facets:,}; merge classes or servers, "
                "raise max_facets, or take region_section for a few classes (support, contains, slack, "
                "max_scale and boundary work without facets)"
            )
        return super()._found_facets()

    @cached_property
    def _bodies(self) -> tuple[Body, ...]:
        return tuple(
            Body.around(_mixes(rows), len(members)) for rows, members in distinct_servers(self.model).items()
        )


@dataclass(frozen=True, eq=False, repr=False)
class PoolRegion(StabilityRegion):
    """All class loads that a pool can carry: its facets are resources."""

    model: Problem

    @cached_property
    def pinned(self) -> tuple[int, ...]:
        """Classes that must have load 0, because they demand a resource of capacity 0."""
        return _numbers(self.model.blocked)

    @cached_property
    def free(self) -> tuple[int, ...]:
        """Classes that may have any load, because they demand nothing."""
        return _numbers(~self.model.demands.any(axis=1))

    @property
    def facet_names(self) -> tuple[str, ...]:
        """The resources that bound the region."""
        return tuple(self.model.resources[j] for j in self._resources[0])

    @property
    def redundant(self) -> tuple[str, ...]:
        """Resources that the others imply; a resource of capacity 0 pins classes and is not one."""
        return tuple(self.model.resources[j] for j in self._resources[1])

    @cached_property
    def facets(self) -> Facets:
        """Facets other than loads >= 0 as arrays: the demands on the resources that bound, and capacities."""
        kept = list(self._resources[0])
        return Facets(np.ascontiguousarray(self.model.demands[:, kept].T), self.model.capacities[kept])

    @property
    def _exact_rows(self) -> list[tuple[Sequence[Fraction], Fraction]]:
        demands, capacities = as_fractions(self.model)
        return [([row[j] for row in demands], capacities[j]) for j in self._resources[0]]

    def judge(self, loads: ArrayLike) -> LoadEvidence:
        """Relative load of loads >= 0, with prices as evidence; see :meth:`StabilityRegion.judge`."""
        rho, model = checked_loads(self.model, loads, batch=False, least=0), self.model
        blocked = np.array(model.blocked)
        prices = np.where(blocked, np.inf, 0.0)
        if rho[blocked].any():
            return LoadEvidence(rho, np.inf, np.inf, np.zeros((len(rho), 1)), prices, np.zeros(1))
        busiest = int((rho @ model.task_shares).argmax())
        part = float(self._relative_loads(rho))
        if part > 0:
            prices = np.where(blocked, np.inf, model.task_shares[:, busiest])
        return LoadEvidence(rho, part, part, rho[:, None], prices, np.array([float(part > 0)]))

    def support(self, direction: ArrayLike) -> Support:
        """Most that the pool earns at prices per task; see :meth:`StabilityRegion.support`."""
        prices, model = checked_loads(self.model, direction, batch=False, name="direction"), self.model
        for n in self.free:
            if prices[n] > 0:
                raise ModelError.of(
                    "direction",
                    f": any load of {self.job_classes[n]!r} fits, so that no value is the largest; set its "
                    "entry to 0",
                    n,
                )
        live, placement = list(self.live), np.zeros((self.n_classes, 1))
        if not live:
            return Support(0.0, 0.0, placement[:, 0], placement)
        best = support(Cluster(model.demands[live], [model.capacities]), prices[live])
        placement[live] = best.placement
        return Support(best.value, best.bound, placement[:, 0], placement)

    def _relative_loads(self, rho: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):
            usage, capacities = rho @ self.model.demands, self.model.capacities
        empty = np.where(usage > 0, np.inf, 0.0)
        relative: FloatArray = np.divide(usage, capacities, out=empty, where=capacities > 0).max(axis=-1)
        return relative

    @cached_property
    def _resources(self) -> tuple[list[int], list[int]]:
        """Resources with a capacity: those that matter and those that the others imply."""
        kept = np.flatnonzero(self.model.capacities > 0).tolist()
        tolerance = Fraction(0) if self.is_rational else Fraction(ROUNDING)
        matter = [kept[k] for k in necessary(self._rows(kept), tolerance)]
        return matter, [j for j in kept if j not in matter]

    def _rows(self, resources: list[int]) -> list[Facet]:
        """Demands of the live classes and capacity of resources, integers without common factor."""
        demands, capacities = as_fractions(self.model)
        rows = []
        for j in resources:
            *normal, offset = whole([*(demands[i][j] for i in self.live), capacities[j]])[1]
            rows.append((tuple(normal), offset))
        return rows

    def _found_facets(self) -> list[Facet]:
        return self._rows(self._resources[0])

    @property
    def _most_vertices(self) -> tuple[float, str]:
        return self.max_vertices, (
            f"the region has more than {self.max_vertices:,} vertices (one where more facets meet than there "
            "are classes counts as several); merge classes, raise max_vertices, or take region_section for a "
            "few classes or region_volume (facets, contains, boundary, slack and max_scale need no vertices)"
        )

    @property
    def _named(self) -> tuple[FloatArray, FloatArray, tuple[str, ...]]:
        """All resources: the redundant ones may be full at a vertex as well."""
        return self.model.demands.T, self.model.capacities, self.model.resources

    @property
    def _facet_remarks(self) -> Sequence[str]:
        return [f"  ({name})" for name in self.facet_names]

    def summary(self) -> str:
        """The inequalities that bound the region, and what does not."""
        lines = super().summary().split("\n")
        if self.redundant:
            at = len(lines) - bool(self.pinned) - bool(self.free)
            lines.insert(at, f"  redundant resources: {', '.join(self.redundant)}")
        return "\n".join(lines)

    _quick = True

    @property
    def _listed(self) -> bool:
        return self.n_classes <= MOST_CLASSES


def _numbers(chosen: ArrayLike) -> tuple[int, ...]:
    return tuple(int(i) for i in np.flatnonzero(chosen))


def stability_region(
    model: Problem | Cluster,
    *,
    max_vertices: int = 20_000,
    max_facets: int = 2000,
    progress: ProgressOption = None,
    time_limit: float | None = None,
) -> StabilityRegion:
    """Polytope of the class loads that a pool or a cluster can carry when tasks may be divided.

    Parameters
    ----------
    model : Problem or Cluster
        Give demands, capacities and gamma as integers or fractions to get exact vertices and volume.
    max_vertices : int
        For pools: refuse more vertices than this, before they are listed; a degenerate vertex, where more
        facets meet than there are classes, counts as several.
    max_facets : int
        For clusters: give up facets, vertices and volume, with an error, beyond this number of facets,
        counting those of the regions of fewer classes (2^n in all if n classes share one resource).
        ``support``, ``judge``, ``contains``, ``slack``, ``max_scale`` and ``boundary`` never need them.
    progress : callable or bool, optional
    time_limit : float, optional, seconds
        Of the search for the facets of a cluster, and of that for the vertices, as in
        :func:`capacity.service_boundary`.

    Returns
    -------
    StabilityRegion
        For sections through a few of many classes see :func:`capacity.region_section`, for the volume of a
        region of dozens of classes :func:`capacity.region_volume`, for whole tasks
        :func:`capacity.packing_region`.

    Raises
    ------
    ModelError
        If the model is neither, or a number is not positive.

    Examples
    --------
    >>> region = stability_region(Problem([[10, 1], [1, 10]], [1, 1], resources=["cpu", "ram"]))
    >>> region
    StabilityRegion of 2 classes: loads >= 0 (tasks) with
      10 [class 1] + [class 2] < 1  (cpu)
      [class 1] + 10 [class 2] < 1  (ram)
    >>> [tuple(map(str, vertex)) for vertex in region.exact_vertices]
    [('0', '0'), ('0', '1/10'), ('1/11', '1/11'), ('1/10', '0')]
    >>> region.exact_volume, region.contains([0.05, 0.05])
    (Fraction(1, 110), True)

    On two servers of which only the first has both resources that class 1 needs:

    >>> region = stability_region(Cluster([[1, 2], [1, 0]], [[4, 4], [6, 0]]))
    >>> region
    StabilityRegion of 2 classes: loads >= 0 (tasks) with
      [class 1] < 2
      [class 1] + [class 2] < 10
    >>> region.exact_volume, region.contains([1.9, 8.0])
    (Fraction(18, 1), True)
    >>> region.boundary([1, 9])
    array([1., 9.])
    """
    checked_model(model)
    kind = PoolRegion if isinstance(model, Problem) else StabilityRegion
    return kind(
        model,  # type: ignore[arg-type]
        max_vertices=require_whole("max_vertices", max_vertices, 1),
        max_facets=require_whole("max_facets", max_facets, 1),
        progress=progress,
        time_limit=time_limit,
    )


def least_facets(cluster: Cluster) -> int:
    """A lower bound of the facets of the region of divisible tasks and of the regions of fewer classes.

    The facets of a sum are those of every summand, and more. Where resource r of a server is all that limits
    some class k alone, it limits k with a little of other classes as well: so it gives a facet of its own for
    every set of classes that need it, k among them.

    Examples
    --------
    >>> least_facets(Cluster([[1], [2], [3]], [[6]]))
    4
    """
    most = 0
    for server in range(cluster.n_servers):
        shares = cluster.task_shares[cluster.eligible[:, server], server]
        second = np.sort(shares, axis=1)[:, -2] if shares.shape[1] > 1 else np.zeros(len(shares))
        # Shares that rounding alone tells apart count as equal.
        alone = shares > second[:, None] * (1.0 + 1e-9)
        users = (shares > 0).sum(axis=0)[alone.any(axis=0)]
        most = max(most, sum(2 ** (int(n) - 1) for n in users))
    return most


def _mixes(rows: ServerRows) -> list[Point]:
    """Vertices of the mixes that a server can run."""
    refusal = (
        f"the mixes of one server have more than {MAX_SERVER_VERTICES:,} vertices (one where more resources "
        "are full than there are classes counts as several); merge classes or resources, or take "
        "region_section (support, judge, contains, slack, max_scale and boundary work without them)"
    )
    return mixes(rows, lambda facets, n: all_corners(facets, n, MAX_SERVER_VERTICES, refusal))
