r"""The stability region of a cluster: which class loads some placement can carry.

With :math:`b_{nir}` the share of resource r of server i that one task of class n holds there, server i can
run the mixes

.. math:: P_i = \Big\{x \ge 0 : \sum_n x_n b_{nir} \le 1 \text{ for all } r,\
          x_n = 0 \text{ where not eligible}\Big\},

and the cluster carries loads :math:`\rho` if and only if they split as :math:`\rho_n = \sum_i x_{ni}` with
:math:`x_{\cdot i} \in P_i`. So the closed region is the Minkowski sum :math:`\sum_i P_i`, the projection of
the polytope of placements; loads in its interior can be stabilised and loads outside cannot [1]_ (there for
whole tasks, :mod:`capacity.regions.whole_tasks`).

Its support function is a sum over servers of small linear programs,
:math:`h(p) = \sum_i \max_{x\in P_i} p\cdot x`; by duality h(p) is also the least total of prices
:math:`q_{ir} \ge 0` of whole resources with :math:`\sum_r q_{ir} b_{nir} \ge p_n`. Few
classes: the vertices of each :math:`P_i` are walked exactly (:mod:`fairness.exact.pivoting`), and facets,
vertices and volume follow from exact support values (:mod:`fairness.exact.double_description`); identical
servers are counted, not repeated. Many classes or servers: queries by linear programs, each with evidence
that is recomputed (:mod:`queueing.model.cluster_load`).

References
----------
.. [1] S. T. Maguluri, R. Srikant and L. Ying, "Stochastic models of load balancing and scheduling in cloud
   computing clusters", INFOCOM 2012. DOI 10.1109/INFCOM.2012.6195815.
"""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from capacity.regions.evidence import LoadEvidence, Support, power_of_two
from capacity.regions.served_loads import MonotoneRegion
from fairness.display.notebook import shown
from fairness.errors import ModelError
from fairness.exact.minkowski_sum import Body
from fairness.exact.pivoting import walk
from fairness.machine.work import ProgressOption
from fairness.model.cluster import Cluster
from queueing.model.cluster_load import accepted, optimum, raised, relative_load, usage_rows

__all__ = ["ClusterRegion", "cluster_stability_region", "distinct_servers"]

MAX_SERVER_VERTICES = 20_000
"""The mixes of one server are given up beyond this number of vertices."""

ServerRows = tuple[tuple[Fraction, ...] | None, ...]
"""Per class the shares of the resources that one task holds on a server; None where it cannot run."""


@dataclass(frozen=True, eq=False, repr=False)
class ClusterRegion(MonotoneRegion):
    """All class loads that a cluster can carry; made by :func:`cluster_stability_region`.

    Attributes
    ----------
    cluster : Cluster
    max_facets : int
        Facets, vertices and volume are given up, with an error, beyond this number of facets.
    """

    cluster: Cluster

    @property
    def job_classes(self) -> tuple[str, ...]:
        """Names of the classes."""
        return self.cluster.job_classes

    @property
    def pinned(self) -> tuple[int, ...]:
        """Classes that must have load 0: none, as every class of a cluster can run somewhere."""
        return ()

    @property
    def is_rational(self) -> bool:
        """Whether the cluster was given as integers or fractions."""
        return self.cluster.is_rational

    def judge(self, loads: ArrayLike) -> LoadEvidence:
        """Relative load of loads >= 0, shape (n_classes,), with a placement and prices as evidence.

        Raises
        ------
        NotConvergedError
            If placement and prices leave a relative gap of more than 1e-9.

        Examples
        --------
        >>> cluster = Cluster([[1, 2], [1, 0]], [[4, 4], [6, 0]])
        >>> evidence = cluster_stability_region(cluster).judge([2, 9])
        >>> round(evidence.relative_load, 9), evidence.refuted
        (1.1, True)
        >>> evidence.prices.round(6), evidence.earnings.round(6)
        (array([0.1, 0.1]), array([0.4, 0.6]))
        """
        return relative_load(self.cluster, self._one(loads))

    def support(self, direction: ArrayLike) -> Support:
        """Most that the cluster earns at prices per task of shape (n_classes,), and where.

        Raises
        ------
        NotConvergedError
            If the value and the bound leave a relative gap of more than 1e-9.

        Examples
        --------
        >>> cluster = Cluster([[1, 2], [1, 0]], [[4, 4], [6, 0]])
        >>> best = cluster_stability_region(cluster).support([3, 2])
        >>> best.value, best.load
        (22.0, array([2., 8.]))
        """
        p, cluster = self._check(direction, batch=False, name="direction"), self.cluster
        # A class with price <= 0 runs no tasks; the region is monotone.
        job_class, server = np.nonzero(cluster.eligible & (p > 0)[:, None])
        placement = np.zeros_like(cluster.gamma)
        if not len(job_class):
            return Support(0.0, 0.0, placement.sum(axis=1), placement)
        # Prices below 2, of which no sum overflows; a power of 2 rounds nothing.
        scale = power_of_two(p.max())
        p = p / scale
        gamma = cluster.gamma[job_class, server]
        gain = p[job_class] * gamma
        z, multipliers = optimum(
            -gain / gain.max(),
            usage_rows(cluster, cluster.task_shares, job_class, server),
            np.ones(cluster.capacities.size),
        )
        placement[job_class, server] = z * gamma
        used = np.einsum("ni,nir->ir", placement, cluster.task_shares).max(axis=1)
        placement /= np.maximum(used, 1.0)
        load = placement.sum(axis=1)
        multipliers = multipliers.reshape(cluster.capacities.shape) * gain.max()
        worth = raised(cluster, cluster.task_shares, multipliers, p)
        value, bound = float(p @ load), float(worth.sum())
        result: Support = accepted(Support(value * scale, bound * scale, load, placement), bound, value)
        return result

    @cached_property
    def _bodies(self) -> tuple[Body, ...]:
        return tuple(
            Body.around(_mixes(rows), len(members))
            for rows, members in distinct_servers(self.cluster).items()
        )

    @property
    def _small(self) -> bool:
        """Whether facets and vertices are found fast enough for a look."""
        return self.n_classes <= 3 and self.cluster.n_servers <= 6

    _repr_html_ = shown(table=lambda region: region._small)

    def __repr__(self) -> str:
        if self._small:
            return self.summary()
        return f"ClusterRegion of {self.n_classes} classes on {self.cluster.n_servers} servers"


def cluster_stability_region(
    cluster: Cluster,
    *,
    max_facets: int = 2000,
    progress: ProgressOption = None,
    time_limit: float | None = None,
) -> ClusterRegion:
    """Polytope of the class loads that a cluster can carry.

    Parameters
    ----------
    cluster : Cluster
        Give demands, capacities and gamma as integers or fractions to get exact vertices and volume.
    max_facets : int
        Give up facets, vertices and volume, with an error, beyond this number of facets, counting those of
        the regions of fewer classes (2^n in all if n classes share one resource). ``support``,
        ``judge``, ``contains``, ``slack``, ``max_scale`` and ``boundary`` never need them.
    progress : callable or bool, optional
        Called with a :class:`fairness.machine.work.Progress` now and then while facets are searched. Default:
        a bar for work of more than seconds, where standard error is a terminal; False: none.
    time_limit : float, optional
        Seconds after which a search for facets stops.

    Returns
    -------
    ClusterRegion

    Raises
    ------
    ModelError
        If max_facets is not positive.

    Examples
    --------
    Class 1 needs both resources, so that only the first server can run it.

    >>> region = cluster_stability_region(Cluster([[1, 2], [1, 0]], [[4, 4], [6, 0]]))
    >>> region
    ClusterRegion of 2 classes: loads >= 0 (tasks) with
      [class 1] < 2
      [class 1] + [class 2] < 10
    >>> region.exact_volume, region.contains([1.9, 8.0])
    (Fraction(18, 1), True)
    >>> region.boundary([1, 9])
    array([1., 9.])
    """
    if not isinstance(cluster, Cluster):
        raise ModelError(f"cluster must be a fairness.Cluster; got {type(cluster).__name__}")
    return ClusterRegion(
        checked_limit("max_facets", max_facets), cluster, progress=progress, time_limit=time_limit
    )


def checked_limit(name: str, value: Any) -> int:
    """The value, if it is a positive integer."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < 1:
        raise ModelError(f"{name} must be a positive integer; got {value!r}")
    return int(value)


def distinct_servers(cluster: Cluster) -> dict[ServerRows, list[int]]:
    """Servers by the exact shares that tasks hold there; floats count as the fractions that they are."""
    if cluster.is_rational:
        demands, capacities, gamma = cluster.as_fractions()
    else:
        given = (cluster.demands, cluster.capacities, cluster.gamma)
        demands, capacities, gamma = ([[Fraction(v) for v in row] for row in a.tolist()] for a in given)
    result: dict[ServerRows, list[int]] = {}
    for i, row in enumerate(capacities):
        shares: list[tuple[Fraction, ...] | None] = []
        for n, needs in enumerate(demands):
            if not cluster.eligible[n, i]:
                shares.append(None)
                continue
            nominal = [d / c if d else Fraction(0) for d, c in zip(needs, row, strict=True)]
            # A task that runs twice as fast holds its resources half the time.
            speed = 1 / (max(nominal) * gamma[n][i]) if cluster.given_gamma is not None else Fraction(1)
            shares.append(tuple(share * speed for share in nominal))
        result.setdefault(tuple(shares), []).append(i)
    return result


def _mixes(shares: ServerRows) -> list[tuple[Fraction, ...]]:
    """Vertices of the mixes that a server can run."""
    users = [n for n, row in enumerate(shares) if row is not None]
    rows = []
    for held in zip(*(row for row in shares if row is not None), strict=True):
        if any(held):
            common = math.lcm(*(v.denominator for v in held))
            rows.append([*(int(v * common) for v in held), common])
    try:
        corners = walk(rows, MAX_SERVER_VERTICES)
    except ModelError:
        raise ModelError(
            f"the mixes of one server have more than {MAX_SERVER_VERTICES} vertices (one where more resources"
            " are full than there are classes counts as several); merge classes or resources (support, "
            "judge, contains, slack, max_scale and boundary work without them)"
        ) from None
    result = set()
    for vertex, *_ in corners:
        mix = [Fraction(0)] * len(shares)
        for n, value in zip(users, vertex, strict=True):
            mix[n] = value
        result.add(tuple(mix))
    return sorted(result)
