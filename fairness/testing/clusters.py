"""The battery that every cluster policy passes.

>>> from fairness.testing.clusters import check_cluster_policy
>>> from fairness.policies.servers.task_share import TSF
>>> check_cluster_policy(TSF(), instances=1)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairness.arguments.validation import FloatArray, Seed, generator
from fairness.evidence.clusters import placement_residual, server_usage, time_shares
from fairness.evidence.pools import SATURATION
from fairness.model.cluster import Cluster
from fairness.model.problem import Problem
from fairness.policies.maxmin import DRF
from fairness.protocol.cluster_policy import ClusterPolicy
from fairness.protocol.policy import policy_name
from fairness.testing.pools import KINDS, check_battery, random_cluster

__all__ = ["CLUSTER_CHECKS", "check_cluster_policy"]


def check_cluster_policy(
    policy: ClusterPolicy,
    *,
    skip: Collection[str] = (),
    rng: Seed = 0,
    instances: int = 12,
) -> None:
    """Raise AssertionError, naming the check, if a cluster policy fails the battery.

    Parameters
    ----------
    policy : ClusterPolicy
        Placement constraints occur unless it has an attribute ``handles_constraints`` that is False, given
        effective capacities unless ``handles_gamma`` is False.
    skip : collection of str
        Checks that do not apply to the policy (see :data:`CLUSTER_CHECKS`), for example ``{"one server"}``
        for time division, which is not DRF on one server.
    rng : numpy Generator or seed
    instances : int
        Random instances per kind (dense, sparse, integer) and check, with and without weights, constraints
        and effective capacities.

    Raises
    ------
    ModelError
        If a name in ``skip`` is unknown.

    Notes
    -----
    Checks: ``feasible``; ``empty classes`` (nothing where the count is 0); ``pareto`` (nobody can gain
    alone); ``batch`` (a batch equals a loop); ``relabelling`` of classes, servers and resources; ``resource
    units`` and ``task units`` (rescaling); ``splitting`` (a class split in two equal ones); ``weights are
    counts`` (a class of weight 2 gets what twice the jobs of weight 1 get); ``duplicated resource``; ``one
    server`` (DRF). The last seven compare totals, since placements are not unique, on dense instances,
    where ties do not make a valid policy choose among several totals.
    """
    check_battery(skip, CLUSTER_CHECKS, instances)
    rng = generator(rng)
    for name, check in CLUSTER_CHECKS.items():
        if name in skip:
            continue
        kinds = KINDS if check in _ON_ALL_KINDS else ("dense",)
        for cluster, counts in _instances(policy, rng, kinds, instances):
            complaint = check(policy, cluster, counts, rng)
            assert complaint is None, (
                f"{policy_name(policy)} fails the check {name!r}: {complaint}\n{cluster!r}\ncounts = {counts}"
            )


def _instances(
    policy: ClusterPolicy, rng: np.random.Generator, kinds: Collection[str], number: int
) -> Iterator[tuple[Cluster, FloatArray]]:
    for kind in kinds:
        for k in range(number):
            n, s, m = (int(rng.integers(1, top)) for top in (6, 5, 4))
            cluster = random_cluster(
                rng,
                n,
                s,
                m,
                kind=kind,
                weighted=k % 2 == 1,
                constrained=k % 3 > 0 and getattr(policy, "handles_constraints", True),
                effective=k % 4 == 3 and getattr(policy, "handles_gamma", True),
            )
            counts = rng.integers(0, 4, n) * rng.choice([1.0, 0.7])
            yield cluster, np.asarray(counts, dtype=float)


def _placement(policy: ClusterPolicy, cluster: Cluster, counts: ArrayLike) -> FloatArray:
    placement: FloatArray = np.asarray(policy(cluster, counts), dtype=float)
    shape = (*np.shape(counts), cluster.n_servers)
    assert placement.shape == shape, (
        f"{policy_name(policy)} returned shape {placement.shape} for counts of shape {np.shape(counts)} and "
        f"{cluster.n_servers} servers"
    )
    return placement


def _totals(policy: ClusterPolicy, cluster: Cluster, counts: ArrayLike) -> FloatArray:
    return _placement(policy, cluster, counts).sum(axis=-1)


def _differ(one: FloatArray, other: FloatArray) -> str | None:
    # 1e-6: the accuracy of the least exact policy, one that stops when its certificate holds.
    if np.allclose(one, other, rtol=1e-6, atol=1e-9 * max(1e-300, float(np.abs(one).max(initial=0.0)))):
        return None
    return f"tasks {one} against {other}"


def _feasible(
    policy: ClusterPolicy, cluster: Cluster, counts: FloatArray, rng: np.random.Generator
) -> str | None:
    residual = placement_residual(cluster, counts, _placement(policy, cluster, counts), policy.division)
    if np.isinf(residual):
        return "tasks are negative, not finite, on a server that is not eligible or of a class without jobs"
    return None if residual <= SATURATION else f"capacity or time exceeded by {residual:.1e}"


def _empty_classes(
    policy: ClusterPolicy, cluster: Cluster, counts: FloatArray, rng: np.random.Generator
) -> str | None:
    if _totals(policy, cluster, np.zeros_like(counts)).any():
        return "an empty cluster runs tasks"
    counts = counts.copy()
    counts[rng.integers(len(counts))] = 0
    tasks = _totals(policy, cluster, counts)
    return None if not tasks[counts == 0].any() else f"tasks {tasks} where no job is present"


def _pareto(
    policy: ClusterPolicy, cluster: Cluster, counts: FloatArray, rng: np.random.Generator
) -> str | None:
    placement = _placement(policy, cluster, counts)
    if policy.division == "time":
        busy = time_shares(cluster, placement) >= 1 - 10 * SATURATION
        stopped = np.broadcast_to(busy, placement.shape)
    else:
        full = server_usage(cluster, placement) >= 1 - 10 * SATURATION
        stopped = np.asarray(((cluster.task_shares > 0) & full).any(axis=2))
    room = cluster.eligible & ~stopped & (counts > 0)[:, None]
    if not room.any():
        return None
    n, i = np.argwhere(room)[0]
    return f"class {n} can gain alone on server {i} with placement\n{placement}"


def _batch(
    policy: ClusterPolicy, cluster: Cluster, counts: FloatArray, rng: np.random.Generator
) -> str | None:
    states = np.stack([counts, counts[::-1], 2 * counts, np.zeros_like(counts)]).reshape(2, 2, -1)
    loop = np.stack([_placement(policy, cluster, state) for state in states.reshape(4, -1)])
    return _differ(_placement(policy, cluster, states), loop.reshape(*states.shape, -1))


def _relabelling(
    policy: ClusterPolicy, cluster: Cluster, counts: FloatArray, rng: np.random.Generator
) -> str | None:
    rows, hosts, columns = (rng.permutation(size) for size in cluster.task_shares.shape)
    other = _changed(
        cluster,
        demands=cluster.demands[rows][:, columns],
        capacities=cluster.capacities[hosts][:, columns],
        weights=cluster.weights[rows],
        places=(rows, hosts),
    )
    return _differ(_totals(policy, cluster, counts)[rows], _totals(policy, other, counts[rows]))


def _resource_units(
    policy: ClusterPolicy, cluster: Cluster, counts: FloatArray, rng: np.random.Generator
) -> str | None:
    unit = 10.0 ** rng.uniform(-3, 3, cluster.n_resources)
    other = _changed(cluster, demands=cluster.demands * unit, capacities=cluster.capacities * unit)
    return _differ(_totals(policy, cluster, counts), _totals(policy, other, counts))


def _task_units(
    policy: ClusterPolicy, cluster: Cluster, counts: FloatArray, rng: np.random.Generator
) -> str | None:
    unit = 10.0 ** rng.uniform(-1, 1, cluster.n_classes)
    other = _changed(cluster, demands=cluster.demands * unit[:, None], speed=1.0 / unit)
    return _differ(_totals(policy, cluster, counts), _totals(policy, other, counts) * unit)


def _splitting(
    policy: ClusterPolicy, cluster: Cluster, counts: FloatArray, rng: np.random.Generator
) -> str | None:
    k = int(rng.integers(cluster.n_classes))
    rows = np.array([*range(cluster.n_classes), k])
    hosts = np.arange(cluster.n_servers)
    other = _changed(
        cluster, demands=cluster.demands[rows], weights=cluster.weights[rows], places=(rows, hosts)
    )
    parts = counts[rows]
    parts[[k, -1]] *= 0.5
    merged = _totals(policy, other, parts)
    merged[k] += merged[-1]
    return _differ(_totals(policy, cluster, counts), merged[:-1])


def _weights_are_counts(
    policy: ClusterPolicy, cluster: Cluster, counts: FloatArray, rng: np.random.Generator
) -> str | None:
    factor = rng.integers(1, 4, cluster.n_classes)
    other = _changed(cluster, weights=cluster.weights * factor)
    return _differ(_totals(policy, cluster, counts * factor), _totals(policy, other, counts))


def _duplicated_resource(
    policy: ClusterPolicy, cluster: Cluster, counts: FloatArray, rng: np.random.Generator
) -> str | None:
    columns = [*range(cluster.n_resources), int(rng.integers(cluster.n_resources))]
    other = _changed(cluster, demands=cluster.demands[:, columns], capacities=cluster.capacities[:, columns])
    return _differ(_totals(policy, cluster, counts), _totals(policy, other, counts))


def _one_server(
    policy: ClusterPolicy, cluster: Cluster, counts: FloatArray, rng: np.random.Generator
) -> str | None:
    capacities = cluster.capacities[0]
    single = Cluster(cluster.demands, capacities[None, :], weights=cluster.weights)
    pool = Problem(cluster.demands, capacities, weights=cluster.weights)
    return _differ(_totals(policy, single, counts), DRF()(pool, counts))


def _changed(
    cluster: Cluster,
    *,
    places: tuple[Any, Any] | None = None,
    speed: FloatArray | None = None,
    **changes: FloatArray,
) -> Cluster:
    """Cluster with new arguments; the eligibility or gamma of other places, gamma at another speed."""
    rows, hosts = places or (np.arange(cluster.n_classes), np.arange(cluster.n_servers))
    given: dict[str, Any] = {
        "demands": cluster.demands,
        "capacities": cluster.capacities,
        "weights": cluster.weights,
    }
    if cluster.given_gamma is None:
        given["eligible"] = cluster.eligible[rows][:, hosts]
    else:
        given["gamma"] = cluster.gamma[rows][:, hosts] * (1.0 if speed is None else speed[:, None])
    return Cluster(**{**given, **changes})


Check = Callable[[ClusterPolicy, Cluster, FloatArray, np.random.Generator], str | None]

CLUSTER_CHECKS: dict[str, Check] = {
    "feasible": _feasible,
    "empty classes": _empty_classes,
    "pareto": _pareto,
    "batch": _batch,
    "relabelling": _relabelling,
    "resource units": _resource_units,
    "task units": _task_units,
    "splitting": _splitting,
    "weights are counts": _weights_are_counts,
    "duplicated resource": _duplicated_resource,
    "one server": _one_server,
}
"""The battery: name of a check -> function that returns a complaint or None."""

_ON_ALL_KINDS = (_feasible, _empty_classes, _pareto, _batch)
