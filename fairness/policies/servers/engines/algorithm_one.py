r"""Algorithm I of the PS-DSF paper, as printed.

Start with (weighted) DRF on every server separately, then sweep over the servers until one full sweep changes
nothing [1]_ (section III-C). The *server procedure* of server i, with levels :math:`s_{ni}/\varphi_n` where
:math:`s_{ni} = x_n/\gamma_{ni}` counts the tasks of a class on all servers:

1. :math:`S^*` is the lowest level of the classes that still lack a bottleneck, :math:`N^*` the classes that
   stand there (eq. 16), :math:`R^*` the full resources that some of them demand;
2. if on some :math:`r \in R^*` nobody who holds any of it stands higher than :math:`S^*` (eq. 15), r is the
   bottleneck of all who demand it, and they are done (eq. 17);
3. else, for each :math:`r \in R^*`, the highest class :math:`n_r` that holds some of it (eq. 18) gives back
   the part :math:`\beta` of its tasks here. With everything that these classes hold given back, the levels of
   :math:`N^*` could rise by :math:`z = \min_r f_r / \sum_{n \in N^*} \varphi_n\gamma_{ni} b_{nir}`, f being
   what is then free; they rise by :math:`\beta z`, with the largest :math:`\beta \le 1` such that they do
   not overtake any :math:`n_r`.

The paper leaves open whether the sweeps end. They need not: on a cluster of five classes, three servers and
three resources they run into a cycle (see the tests), and NotConvergedError is raised. Comparisons of levels
and of full resources allow for a relative rounding error of :data:`ROUNDING`; without it two equal
levels that round differently would exchange ever smaller amounts. A sweep that moves no more than that, or
many sweeps that move hardly more and not less and less, end the algorithm; what it found is certified.

References
----------
.. [1] J. Khamse-Ashari, I. Lambadaris, G. Kesidis, B. Urgaonkar and Y. Zhao, "Per-server dominant-share
   fairness (PS-DSF): a multi-resource fair allocation mechanism for heterogeneous servers", ICC 2017.
   arXiv:1611.00404.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fairness.arguments.validation import FloatArray
from fairness.errors import NotConvergedError
from fairness.evidence.pools import SATURATION
from fairness.model.cluster import Cluster
from fairness.policies.servers.engines.resource_division import separate_filling
from fairness.policies.servers.engines.server_pairs import ServerPairs

__all__ = ["ROUNDING", "Update", "algorithm_one", "server_procedure"]

ROUNDING = 1e-12
"""Levels that differ by less than this, relatively, are equal; a resource with less than this part free is
full."""

MOST_UPDATES = 10_000
"""Updates in one call of the server procedure after which something must be wrong."""


IDLE = 100
"""After so many sweeps with updates next to :data:`ROUNDING`, none smaller, nothing more will come."""


@dataclass(frozen=True)
class Update:
    """One call of *Update-Allocation*.

    Parameters
    ----------
    sweep, server : int
        Sweeps count from 1, servers from 0.
    level : float
        S*, the lowest level before the update.
    raised, released : tuple of int
        Classes that gain tasks here, and classes that give some back.
    part : float
        beta, the part given back.
    rise : float
        z, by how much the lowest level could rise.
    """

    sweep: int
    server: int
    level: float
    raised: tuple[int, ...]
    released: tuple[int, ...]
    part: float
    rise: float


def algorithm_one(
    cluster: Cluster,
    weights: FloatArray,
    *,
    server_order: tuple[int, ...] | None = None,
    max_sweeps: int = 20_000,
    start: FloatArray | None = None,
) -> tuple[FloatArray, dict[str, Any]]:
    """Placement found by Algorithm I.

    Parameters
    ----------
    cluster, weights, server_order, max_sweeps, start
        As for :func:`~fairness.policies.servers.engines.resource_division.resource_division`. The default
        start is, as printed, DRF on every server separately.

    Returns
    -------
    placement : ndarray of shape (n_classes, n_servers), tasks
    details : dict
        ``sweeps`` that changed something, and ``trace``, a list of :class:`Update`.

    Raises
    ------
    NotConvergedError
        If the sweeps do not end, or end where Theorem 1 does not hold; ``best`` is the last placement.

    Examples
    --------
    >>> from fairness import Cluster
    >>> placement, details = algorithm_one(Cluster([[1, 3], [3, 1]], [[4, 2], [2, 4]]), np.ones(2))
    >>> placement.sum(axis=1).round(12), details["sweeps"]
    (array([1.33333333, 1.33333333]), 2)
    """
    placement = separate_filling(cluster, weights) if start is None else start.copy()
    order = range(cluster.n_servers) if server_order is None else server_order
    trace: list[Update] = []
    sweeps = idle = 0
    least, changed = np.inf, True
    while changed and sweeps < max_sweeps:
        before = placement.copy()
        for i in order:
            others = placement.sum(axis=1) - placement[:, i]
            placement[:, i], updates = server_procedure(
                cluster, weights, i, placement[:, i], others, sweep=sweeps + 1
            )
            trace += updates
        moved = np.abs(placement - before).max(axis=1) / np.where(weights > 0, placement.sum(axis=1), 1.0)
        largest = float(moved.max())
        idle = 0 if largest < 0.9 * least else idle + 1
        least = min(least, largest)
        # Updates of the size of rounding are none, and with ties they need not end.
        changed = largest > ROUNDING and not (largest <= 100 * ROUNDING and idle >= IDLE)
        sweeps += changed
    residual = ServerPairs.of(cluster, weights, placement).theorem_one_residual
    if changed or residual > SATURATION:
        raise NotConvergedError(
            f"Algorithm I stopped after {sweeps} sweeps at residual {residual:.1e}; raise max_sweeps or use "
            "method='filling'",
            best=placement,
            residual=residual,
        )
    return placement, {"sweeps": sweeps, "trace": trace}


def server_procedure(
    cluster: Cluster,
    weights: FloatArray,
    server: int,
    column: FloatArray,
    elsewhere: FloatArray,
    *,
    sweep: int = 1,
) -> tuple[FloatArray, list[Update]]:
    """Tasks of the classes on one server after the server procedure, and the updates that led there.

    Parameters
    ----------
    server : int
    column, elsewhere : ndarray of shape (n_classes,), tasks
        What the classes run on this server, and on all others.

    Raises
    ------
    NotConvergedError
        If the updates of this server do not come to an end.
    """
    shares, pace = cluster.task_shares[:, server], weights * cluster.gamma[:, server]
    tasks, updates = column.copy(), list[Update]()
    left = pace > 0
    while left.any():
        free = 1.0 - tasks @ shares
        full = free <= ROUNDING
        levels = np.divide(tasks + elsewhere, pace, out=np.full(len(pace), np.inf), where=pace > 0)
        lowest = levels[left].min()
        bottom = left & (levels <= lowest * (1.0 + ROUNDING))  # [1] eq. (16)
        # Holders of each resource, with their levels; -inf where a class holds none.
        ranks = np.where((tasks[:, None] * shares > ROUNDING), levels[:, None], -np.inf)
        wanted = full & (shares[bottom] > 0).any(axis=0)
        settled = wanted & (ranks.max(axis=0) <= lowest * (1.0 + ROUNDING))  # [1] eqs (14), (15)
        if settled.any():
            left &= (shares[:, settled] == 0).all(axis=1)  # [1] eq. (17)
            continue
        highest = np.unique(ranks.argmax(axis=0)[wanted])  # [1] eq. (18)
        room = np.maximum(free, 0.0) + tasks[highest] @ shares[highest]
        load = pace[bottom] @ shares[bottom]
        used = load > 0
        rise = float(np.min(room[used] / load[used]))
        gap = (levels[highest] - lowest) / (rise + tasks[highest] / pace[highest])
        part = min(1.0, float(gap.min(initial=1.0)))
        raised, released = (tuple(int(k) for k in group) for group in (np.flatnonzero(bottom), highest))
        updates.append(Update(sweep, server, float(lowest), raised, released, part, rise))
        tasks[highest] *= 1.0 - part
        tasks[bottom] += part * rise * pace[bottom]
        if len(updates) > MOST_UPDATES:
            raise NotConvergedError(
                f"the procedure of server {server} made {MOST_UPDATES} updates without an end; "
                "use method='filling'",
                best=tasks,
            )
    return tasks, updates
