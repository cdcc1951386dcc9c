"""The mixes of tasks that a server can run, and how many facets they make at least."""

from __future__ import annotations

import numpy as np

from capacity.regions.vertices import all_corners
from fairness.exact.double_description import Point
from fairness.exact.server_rows import ServerRows, mixes
from fairness.model.cluster import Cluster

__all__ = ["least_facets", "server_mixes"]

MAX_SERVER_VERTICES = 20_000
"""The mixes of one server are given up beyond this number of vertices."""


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


def server_mixes(rows: ServerRows) -> list[Point]:
    """Vertices of the mixes that a server can run."""
    refusal = (
        f"the mixes of one server have more than {MAX_SERVER_VERTICES:,} vertices (one where more resources "
        "are full than there are classes counts as several); merge classes or resources, or take "
        "region_section (support, judge, contains, slack, max_scale and boundary work without them)"
    )

    return mixes(rows, lambda facets, n: all_corners(facets, n, MAX_SERVER_VERTICES, refusal))
