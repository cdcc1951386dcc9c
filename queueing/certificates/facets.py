r"""The totals that the servers of a cluster can run together, as a pool: its facets, exactly.

Server i can run the mixes :math:`P_i = \{x \ge 0 : \sum_n x_n b_{nir} \le 1 \text{ for all } r\}` if it
divides each resource by itself, and :math:`\{x \ge 0 : \sum_n x_n/\gamma_{ni} \le 1\}` if it divides its
time. The totals over all servers are the points of the sum :math:`\sum_i P_i`. It contains with a point all
that are smaller, so it is :math:`\{\varphi \ge 0 : \sum_n \varphi_n a_{nj} \le C_j\}` with whole numbers
:math:`a_{nj} \ge 0`, one j for each facet: a pool with facets for resources. Facets are computed over the
integers, a float being the fraction that it is (:mod:`fairness.exact.double_description`).
"""

from __future__ import annotations

from fractions import Fraction

from fairness.exact.corners import corners
from fairness.exact.double_description import Facet, enclose
from fairness.exact.minkowski_sum import Body, support_of_sum
from fairness.exact.server_rows import distinct_servers, mixes
from fairness.model.cluster import Cluster

__all__ = ["cluster_facets", "inverse"]

MAX_VERTICES, MAX_FACETS = 2_000, 500
"""Of a server, and of a cluster: beyond, exact facets take minutes."""


def cluster_facets(cluster: Cluster, divides_time: bool = False) -> list[Facet]:
    """Facets of the totals that can be placed: normal * totals <= offset, whole numbers; exact.

    A server either divides each resource by itself or its time.

    Raises
    ------
    ModelError
        If there are more than 500 facets, or 2000 vertices of a server.

    Examples
    --------
    >>> cluster_facets(Cluster([[1, 5], [5, 1]], [[10, 60], [60, 10]]))
    [((1, 5), 60), ((5, 1), 60)]
    >>> cluster_facets(Cluster([[1, 5], [5, 1]], [[10, 60], [60, 10]]), divides_time=True)
    [((1, 5), 60), ((5, 1), 60)]
    """
    bodies = []
    for rows, members in distinct_servers(cluster).items():
        if divides_time:
            alone = [None if row is None else inverse(max(row)) for row in rows]
            points = [
                tuple(y if k == n and y is not None else Fraction(0) for k in range(len(rows)))
                for n, y in enumerate(alone)
            ]
        else:
            points = mixes(rows, lambda bounds, n: corners(bounds, n, MAX_VERTICES))
        bodies.append(Body.around(points, len(members)))
    facets, _ = enclose(lambda prices: support_of_sum(bodies, prices), cluster.n_classes, MAX_FACETS)
    return facets


def inverse(value: Fraction) -> Fraction:
    """1 over a value; 1 for 0."""
    return 1 / value if value else Fraction(1)
