"""The stability region of whatever can be divided: one name for pools and clusters."""

from __future__ import annotations

from typing import overload

from capacity.regions.cluster import ClusterRegion, cluster_stability_region
from capacity.regions.pool import StabilityRegion, pool_stability_region
from fairness.errors import ModelError
from fairness.machine.work import ProgressOption
from fairness.model.cluster import Cluster
from fairness.model.problem import Problem

__all__ = ["stability_region"]


@overload
def stability_region(
    model: Problem,
    *,
    max_vertices: int = ...,
    max_facets: int = ...,
    progress: ProgressOption = ...,
    time_limit: float | None = ...,
) -> StabilityRegion: ...


@overload
def stability_region(
    model: Cluster,
    *,
    max_vertices: int = ...,
    max_facets: int = ...,
    progress: ProgressOption = ...,
    time_limit: float | None = ...,
) -> ClusterRegion: ...


def stability_region(
    model: Problem | Cluster,
    *,
    max_vertices: int = 20_000,
    max_facets: int = 2000,
    progress: ProgressOption = None,
    time_limit: float | None = None,
) -> StabilityRegion | ClusterRegion:
    """Polytope of the class loads that a pool or a cluster can carry when tasks may be split.

    Parameters
    ----------
    model : Problem or Cluster
        Give demands and capacities as integers or fractions to get exact vertices and volume.
    max_vertices : int
        For pools: give up listing vertices, with an error, beyond this number.
    max_facets : int
        For clusters: give up listing facets, with an error, beyond this number. Queries by linear program
        (``judge``, ``support``, ``contains``) work at any size.
    progress, time_limit
        For clusters: as in :func:`capacity.regions.cluster.cluster_stability_region`.

    Returns
    -------
    StabilityRegion or ClusterRegion
        See :mod:`capacity.regions.pool` and :mod:`capacity.regions.cluster`; for whole tasks
        :func:`capacity.regions.whole_tasks.packing_region`.

    Raises
    ------
    ModelError
        If the model is neither, or a number is not positive.

    Examples
    --------
    >>> region = stability_region(Problem([[10, 1], [1, 10]], [1, 1], resources=["cpu", "ram"]))
    >>> [tuple(map(str, vertex)) for vertex in region.exact_vertices]
    [('0', '0'), ('0', '1/10'), ('1/11', '1/11'), ('1/10', '0')]
    >>> both = stability_region(Cluster([[10, 1], [1, 10]], [[1, 1], [2, 2]]))
    >>> [tuple(map(str, vertex)) for vertex in both.exact_vertices]
    [('0', '0'), ('0', '3/10'), ('3/11', '3/11'), ('3/10', '0')]
    """
    if isinstance(model, Cluster):
        return cluster_stability_region(
            model, max_facets=max_facets, progress=progress, time_limit=time_limit
        )
    if isinstance(model, Problem):
        return pool_stability_region(model, max_vertices=max_vertices)
    raise ModelError(f"model must be a Problem or a Cluster; got {type(model).__name__}")
