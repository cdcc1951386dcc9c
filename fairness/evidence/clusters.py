r"""Evidence for placements: the definitions of fairness on a cluster as residuals that anyone can recompute.

Nothing here knows how a placement was found. With effective weights :math:`\varphi_n = x_n w_n` (jobs times
weight) and *virtual dominant shares* :math:`s_{ni} = \sum_k x_{nk}/\gamma_{ni}` (the total, not only the
part on server i):

* *PS-DSF, resource division* ([1]_ Theorem 1): every class has a bottleneck on every server that it may
  use: a resource that it demands, saturated there, such that :math:`s_{pi}/\varphi_p \le s_{ni}/\varphi_n`
  for every class p that holds some of it;
* *PS-DSF, time division* ([1]_ Theorem 2): every usable server is always busy, and
  :math:`x_{pi} > 0` implies :math:`s_{pi}/\varphi_p \le s_{ni}/\varphi_n` for every class n that may use
  server i.

"Holds some" is made continuous: a class p that holds the part h of a resource, at a level that is too high by
the relative amount e, violates the statement by min(h, e). Residuals are relative, so 1e-9 means nine digits.

References
----------
.. [1] J. Khamse-Ashari et al., "Per-server dominant-share fairness (PS-DSF)", ICC 2017. arXiv:1611.00404.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fairness.arguments.validation import FloatArray, model_array
from fairness.errors import ModelError
from fairness.evidence.pools import Certificate, rounding
from fairness.model.cluster import Cluster
from fairness.model.division import check_division

__all__ = [
    "placement_certificate",
    "placement_residual",
    "resource_division_certificate",
    "server_usage",
    "time_division_certificate",
    "time_shares",
    "virtual_dominant_shares",
]


def server_usage(cluster: Cluster, placement: FloatArray) -> FloatArray:
    """Part of each resource of each server in use, (n_servers, n_resources); 1 where the capacity is 0."""
    used: FloatArray = np.einsum("ni,nir->ir", placement, cluster.task_shares)
    return np.where(cluster.capacities == 0, 1.0, used)


def virtual_dominant_shares(cluster: Cluster, tasks: FloatArray) -> FloatArray:
    """Virtual dominant shares, tasks over ``gamma``, (n_classes, n_servers); infinite where not eligible."""
    return np.where(cluster.eligible, tasks[:, None] / np.where(cluster.eligible, cluster.gamma, 1.0), np.inf)


def placement_residual(
    cluster: Cluster, counts: FloatArray, placement: FloatArray, division: str = "resource"
) -> float:
    """Largest relative excess over a capacity (or over the time of a server); infinite for a wrong placement.

    Wrong is: negative, not finite, on a server that is not eligible, or for a class without jobs.
    """
    if not np.isfinite(placement).all() or (placement < 0).any():
        return np.inf
    if placement[~cluster.eligible].any() or placement[counts == 0].any():
        return np.inf
    if division == "time":
        used = time_shares(cluster, placement)
    else:
        used = np.einsum("ni,nir->ir", placement, cluster.task_shares)
    return max(0.0, float(np.max(used - 1.0)))


def time_shares(cluster: Cluster, placement: FloatArray) -> FloatArray:
    """Part of the time that a server is busy under time division, shape (n_servers,)."""
    gamma = np.where(cluster.eligible, cluster.gamma, 1.0)
    return np.where(cluster.eligible, placement / gamma, 0.0).sum(axis=0)


def placement_certificate(
    cluster: Cluster, counts: ArrayLike | None, placement: ArrayLike, division: str = "resource"
) -> Certificate:
    """Certify that tasks run only where they may and no server is overfull."""
    check_division(division)
    x, p = _checked(cluster, counts, placement)
    claim = "tasks only on eligible servers, within all capacities"
    return Certificate(claim, placement_residual(cluster, x, p, division))


def resource_division_certificate(
    cluster: Cluster, counts: ArrayLike | None, placement: ArrayLike
) -> Certificate:
    """Certify PS-DSF under resource division by Theorem 1."""
    x, p = _checked(cluster, counts, placement)
    residual = placement_residual(cluster, x, p, "resource")
    if np.isfinite(residual):
        levels = _levels(cluster, x, p)
        slack = np.maximum(0.0, 1.0 - server_usage(cluster, p))
        for i in range(cluster.n_servers):
            users = np.flatnonzero(cluster.eligible[:, i] & (x > 0))
            if users.size:
                shares = cluster.task_shares[users, i]
                above = _outranked(levels[users, i], p[users, i, None] * shares)
                violation = np.where(shares > 0, np.maximum(slack[i], above), np.inf).min(axis=1)
                residual = max(residual, float(violation.max()))
        residual += rounding(cluster.n_classes + cluster.n_servers)
    return Certificate("every class has a bottleneck on every eligible server (Theorem 1)", residual)


def time_division_certificate(
    cluster: Cluster, counts: ArrayLike | None, placement: ArrayLike
) -> Certificate:
    """Certify PS-DSF under time division by Theorem 2."""
    x, p = _checked(cluster, counts, placement)
    residual = placement_residual(cluster, x, p, "time")
    if np.isfinite(residual):
        levels = np.where((x > 0)[:, None], _levels(cluster, x, p), np.inf)
        usable = (cluster.eligible & (x > 0)[:, None]).any(axis=0)
        idle = np.maximum(0.0, 1.0 - time_shares(cluster, p)[usable])
        lowest = levels.min(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            excess = np.where(p > 0, 1.0 - lowest[None, :] / levels, 0.0)
            held = np.where(p > 0, p / np.where(cluster.eligible, cluster.gamma, 1.0), 0.0)
        residual = max(
            residual, float(idle.max(initial=0.0)), float(np.minimum(held, excess).max(initial=0.0))
        )
        residual += rounding(cluster.n_classes + cluster.n_servers)
    return Certificate("servers always busy, each serving only its lowest levels (Theorem 2)", residual)


def _outranked(levels: FloatArray, held: FloatArray) -> FloatArray:
    """How far a class that holds some of a resource stands above each class of a server.

    ``levels`` has shape (n_classes,), ``held`` and the result (n_classes, n_resources).
    """
    # [1] eq. (12); the largest over p of min(1 - l_n/l_p, h_p). Let H(l) be the largest part held at level l
    # or above: the largest over l of min(1 - l_n/l, H(l)) is the same, the first term rises with l and the
    # second falls, and they cross where l (1 - H(l)), which rises, reaches l_n. So only the two levels next
    # to the crossing count.
    order = np.argsort(levels)
    rising = levels[order]
    top = np.maximum.accumulate(np.minimum(held[order[::-1]], 1.0), axis=0)[::-1]
    result = np.empty_like(held)
    for r in range(held.shape[1]):
        beyond = np.searchsorted(np.maximum.accumulate(rising * (1.0 - top[:, r])), levels, side="right")
        below = rising[np.maximum(beyond - 1, 0)]
        excess = 1.0 - np.divide(levels, below, out=np.ones_like(levels), where=below > levels)
        result[:, r] = np.maximum(excess, np.append(top[:, r], 0.0)[beyond])
    return result


def _levels(cluster: Cluster, counts: FloatArray, placement: FloatArray) -> FloatArray:
    """Virtual dominant shares over effective weights, (n_classes, n_servers)."""
    weights = np.where(counts > 0, counts * cluster.weights, 1.0)
    return virtual_dominant_shares(cluster, placement.sum(axis=1)) / weights[:, None]


def _checked(
    cluster: Cluster, counts: ArrayLike | None, placement: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    x, p = cluster.check_state(counts), model_array("placement", placement, cluster, "job_classes", "servers")
    if p.shape != (cluster.n_classes, cluster.n_servers):
        raise ModelError.of(
            "placement",
            f"must have shape (n_classes, n_servers) = {(cluster.n_classes, cluster.n_servers)}; "
            f"got {p.shape}",
        )
    return x, p
