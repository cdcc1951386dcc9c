"""The battery that every policy passes, on pools or on clusters.

>>> from fairness import DRF, TSF
>>> from fairness.testing import check_policy
>>> check_policy(DRF())
>>> check_policy(TSF(), instances=1)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairness.arguments.validation import FloatArray, Seed, generator
from fairness.errors import ModelError
from fairness.evidence.clusters import placement_residual, server_usage, time_shares
from fairness.evidence.pools import SATURATION, feasibility_residual, relative_usage
from fairness.model.cluster import Cluster
from fairness.model.problem import Problem
from fairness.policies.maxmin import DRF
from fairness.protocol.cluster_policy import AnyPolicy, ClusterPolicy
from fairness.protocol.policy import policy_name
from fairness.testing.instances import KINDS, random_cluster, random_problem

__all__ = ["CHECKS", "check_policy"]


def check_policy(
    policy: AnyPolicy, *, skip: Collection[str] = (), rng: Seed = 0, instances: int = 12
) -> None:
    """Raise AssertionError, naming the check, if a policy fails the battery.

    Parameters
    ----------
    policy : Policy or ClusterPolicy
        ``policy(problem, counts) -> tasks`` is asked on pools, a cluster policy on clusters: with placement
        constraints unless it has an attribute ``handles_constraints`` that is False, with given effective
        capacities unless ``handles_gamma`` is False.
    skip : collection of str
        Checks that do not apply to the policy (see :data:`CHECKS`), for example ``{"task units"}`` for
        max-min fairness, which depends on how work is cut into tasks, or ``{"one server"}`` for time
        division, which is not DRF on one server.
    rng : numpy Generator or seed
    instances : int
        Random instances per kind (dense, sparse, integer) and check; half of them with weights, some with
        limits, constraints or effective capacities.

    Raises
    ------
    ModelError
        If a name in ``skip`` is unknown, or nothing would be checked.

    Notes
    -----
    Checks: ``feasible``; ``empty classes`` (0 tasks where the count is 0); ``pareto`` (nobody can gain
    alone); ``batch`` (a batch equals a loop); ``relabelling`` of classes, servers and resources;
    ``resource units`` and ``task units`` (rescaling); ``splitting`` (a class split in two equal ones);
    ``weights are counts`` (a class of weight 2 gets what twice the jobs of weight 1 get); ``duplicated
    resource``; and of cluster policies ``one server`` (DRF). Where ties could make a valid policy choose
    among several allocations, the instances of the last seven are dense; on clusters these compare totals,
    since placements are not unique.
    """
    if isinstance(skip, str):
        raise ModelError.of(
            "skip", f"must be a collection of names, for example {{{skip!r}}}; got the string {skip!r}"
        )
    unknown = set(skip) - set(CHECKS)
    if unknown:
        raise ModelError(f"unknown check {sorted(unknown)[0]!r}; the checks are {', '.join(CHECKS)}")
    if instances < 1:
        raise ModelError.of("instances", f"must be at least 1; got {instances}")
    rng = generator(rng)
    drawn = _clusters if isinstance(policy, ClusterPolicy) else _pools
    for name, check in CHECKS.items():
        if name in skip or (check is _one_server and drawn is _pools):
            continue
        kinds = KINDS if check in _ON_ALL_KINDS else ("dense",)
        for case in drawn(policy, rng, kinds, instances):
            complaint = check(case)
            assert complaint is None, (
                f"{policy_name(policy)} fails the check {name!r}: {complaint}\n{case.model!r}\n"
                f"counts = {case.counts}"
            )


@dataclass(frozen=True, eq=False)
class _Case:
    """A policy that is asked about a model and counts."""

    policy: Any
    model: Problem | Cluster
    counts: FloatArray
    rng: np.random.Generator

    def answer(self, counts: ArrayLike | None = None) -> FloatArray:
        """What the policy gives: tasks (..., n_classes) in a pool, (..., n_classes, n_servers) on servers."""
        counts = self.counts if counts is None else counts
        given: FloatArray = np.asarray(self.policy(self.model, counts), dtype=float)
        shape = (*np.shape(counts)[:-1], *self.model.answer_shape)
        assert given.shape == shape, (
            f"{policy_name(self.policy)} returned shape {given.shape} for counts of shape "
            f"{np.shape(counts)}; it must have shape {shape}"
        )
        return given

    def tasks(self, counts: ArrayLike | None = None) -> FloatArray:
        """Tasks per class, on all servers together."""
        given = self.answer(counts)
        return given.sum(axis=-1) if isinstance(self.model, Cluster) else given

    def changed(
        self,
        *,
        rows: Any = slice(None),
        hosts: Any = slice(None),
        columns: Any = slice(None),
        unit: Any = 1.0,
        size: Any = 1.0,
        weight: Any = 1.0,
    ) -> _Case:
        """The same question about other classes, servers and resources, in other units, of other weights.

        Resources are measured in units 1/``unit``, tasks are cut ``size`` times as large.
        """
        model = self.model
        size = np.broadcast_to(size, model.n_classes)
        demands = (model.demands * unit * size[:, None])[rows][:, columns]
        weights = (model.weights * weight)[rows]
        if isinstance(model, Problem):
            limits = (model.limits / size * weight)[rows]
            other: Problem | Cluster = Problem(
                demands, (model.capacities * unit)[columns], weights=weights, limits=limits
            )
        else:
            capacities = (model.capacities * unit)[hosts][:, columns]
            given = (
                {"eligible": model.eligible[rows][:, hosts]}
                if model.given_gamma is None
                else {"gamma": (model.gamma / size[:, None])[rows][:, hosts]}
            )
            other = Cluster(demands, capacities, weights=weights, **given)
        return replace(self, model=other)


def _counts(rng: np.random.Generator, n_classes: int) -> FloatArray:
    return np.asarray(rng.integers(0, 4, n_classes) * rng.choice([1.0, 0.7]), dtype=float)


def _pools(policy: Any, rng: np.random.Generator, kinds: Collection[str], number: int) -> Iterator[_Case]:
    for kind in kinds:
        for k in range(number):
            n, m = int(rng.integers(1, 6)), int(rng.integers(1, 5))
            problem = random_problem(rng, n, m, kind=kind, weighted=k % 2 == 1, limited=k % 4 > 1)
            yield _Case(policy, problem, _counts(rng, n), rng)


def _clusters(policy: Any, rng: np.random.Generator, kinds: Collection[str], number: int) -> Iterator[_Case]:
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
            yield _Case(policy, cluster, _counts(rng, n), rng)


def _differ(one: FloatArray, other: FloatArray) -> str | None:
    # 1e-6: the accuracy of the least exact policy, one that stops when its certificate holds at 1e-9.
    if np.allclose(one, other, rtol=1e-6, atol=1e-9 * max(1e-300, float(np.abs(one).max(initial=0.0)))):
        return None
    return f"tasks {one} against {other}"


def _feasible(case: _Case) -> str | None:
    given = case.answer()
    if isinstance(case.model, Cluster):
        residual = placement_residual(case.model, case.counts, given, case.policy.division)
    else:
        residual = feasibility_residual(case.model, case.counts, given)
    if np.isinf(residual):
        return "tasks are negative, not finite, of a class without jobs, or where it may not run"
    return None if residual <= SATURATION else f"capacity, limit or time exceeded by {residual:.1e}"


def _empty_classes(case: _Case) -> str | None:
    if case.tasks(np.zeros_like(case.counts)).any():
        return "tasks run where there are no jobs at all"
    counts = case.counts.copy()
    counts[case.rng.integers(len(counts))] = 0
    tasks = case.tasks(counts)
    return None if not tasks[counts == 0].any() else f"tasks {tasks} where no job is present"


def _pareto(case: _Case) -> str | None:
    model, counts, given = case.model, case.counts, case.answer()
    nearly = 1.0 - 10 * SATURATION
    if isinstance(model, Problem):
        full = relative_usage(model, given) >= nearly
        stopped = (model.demands[:, full] > 0).any(axis=1) | (counts == 0)
        stopped |= given >= np.maximum(counts, 1e-300) * model.limits * nearly
        return None if stopped.all() else f"class {int(np.argmin(stopped))} can gain alone with tasks {given}"
    if case.policy.division == "time":
        stopped = np.broadcast_to(time_shares(model, given) >= nearly, given.shape)
    else:
        stopped = ((model.task_shares > 0) & (server_usage(model, given) >= nearly)).any(axis=2)
    room = model.eligible & ~stopped & (counts > 0)[:, None]
    if not room.any():
        return None
    n, i = np.argwhere(room)[0]
    return f"class {n} can gain alone on server {i} with placement\n{given}"


def _batch(case: _Case) -> str | None:
    counts = case.counts
    states = np.stack([counts, counts[::-1], 2 * counts, np.zeros_like(counts)]).reshape(2, 2, -1)
    batch = case.answer(states)
    loop = np.stack([case.answer(state) for state in states.reshape(4, -1)])
    return _differ(batch, loop.reshape(batch.shape))


def _relabelling(case: _Case) -> str | None:
    n, *servers, m = case.model.task_shares.shape
    rows, *hosts, columns = (case.rng.permutation(size) for size in (n, *servers, m))
    other = case.changed(rows=rows, hosts=hosts[0] if hosts else None, columns=columns)
    return _differ(case.tasks()[rows], other.tasks(case.counts[rows]))


def _resource_units(case: _Case) -> str | None:
    unit = 10.0 ** case.rng.uniform(-3, 3, case.model.n_resources)
    return _differ(case.tasks(), case.changed(unit=unit).tasks())


def _task_units(case: _Case) -> str | None:
    size = 10.0 ** case.rng.uniform(-1, 1, case.model.n_classes)
    return _differ(case.tasks(), case.changed(size=size).tasks() * size)


def _splitting(case: _Case) -> str | None:
    n = case.model.n_classes
    k = int(case.rng.integers(n))
    rows = np.array([*range(n), k])
    parts = case.counts[rows]
    parts[[k, -1]] *= 0.5
    merged = case.changed(rows=rows).tasks(parts)
    merged[k] += merged[-1]
    return _differ(case.tasks(), merged[:-1])


def _weights_are_counts(case: _Case) -> str | None:
    factor = case.rng.integers(1, 4, case.model.n_classes)
    return _differ(case.tasks(case.counts * factor), case.changed(weight=factor).tasks())


def _duplicated_resource(case: _Case) -> str | None:
    m = case.model.n_resources
    columns = [*range(m), int(case.rng.integers(m))]
    return _differ(case.tasks(), case.changed(columns=columns).tasks())


def _one_server(case: _Case) -> str | None:
    model = case.model
    single = Cluster(model.demands, model.capacities[:1], weights=model.weights)
    pool = Problem(model.demands, model.capacities[0], weights=model.weights)
    return _differ(replace(case, model=single).tasks(), DRF()(pool, case.counts))


CHECKS: dict[str, Callable[[_Case], str | None]] = {
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
"""The battery: a function for each check by its name, which returns a complaint or None."""

_ON_ALL_KINDS = (_feasible, _empty_classes, _pareto, _batch)
