"""Tools to test policies: random instances and the battery that every policy passes.

>>> from fairness import DRF
>>> from fairness.testing.pools import check_policy
>>> check_policy(DRF())
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

import numpy as np
from numpy.typing import ArrayLike

from fairness.arguments.validation import Seed, generator
from fairness.errors import ModelError
from fairness.evidence.pools import SATURATION, feasibility_residual, relative_usage
from fairness.model.cluster import Cluster
from fairness.model.problem import FloatArray, Problem
from fairness.protocol.policy import Policy, policy_name

__all__ = ["CHECKS", "KINDS", "check_battery", "check_policy", "random_cluster", "random_problem"]

KINDS = ("dense", "sparse", "integer")

_DRAWS = 1000


def random_problem(
    rng: Seed,
    n_classes: int,
    n_resources: int,
    *,
    kind: str = "dense",
    weighted: bool = False,
    limited: bool = False,
) -> Problem:
    """Random problem of a given kind.

    Parameters
    ----------
    kind : {"dense", "sparse", "integer"}
        Demands log-uniform over two decades; the same with about half of them zero; or integers 0..4, full of
        ties. Every class demands something.
    weighted, limited : bool
        Draw weights from {1, 2, 3} / limits for about half of the classes.
    """
    if kind not in KINDS:
        raise ModelError(f"kind must be one of {', '.join(KINDS)}; got {kind!r}")
    rng = generator(rng)
    shape = (n_classes, n_resources)
    if kind == "integer":
        demands = rng.integers(0, 5, shape).astype(float)
        capacities = rng.integers(1, 5, n_resources).astype(float)
    else:
        demands = 10.0 ** rng.uniform(-1, 1, shape)
        capacities = 10.0 ** rng.uniform(-0.5, 0.5, n_resources)
        if kind == "sparse":
            demands *= rng.random(shape) < 0.5
    idle = ~demands.any(axis=1)
    demands[idle, rng.integers(n_resources, size=int(idle.sum()))] = 1.0
    weights = rng.integers(1, 4, n_classes).astype(float) if weighted else None
    limits = None
    if limited:
        fair = 1.0 / (n_classes * (demands / capacities).max(axis=1))
        limits = np.where(rng.random(n_classes) < 0.5, fair * 10.0 ** rng.uniform(-1, 1, n_classes), np.inf)
    return Problem(demands, capacities, weights=weights, limits=limits)


def random_cluster(
    rng: Seed,
    n_classes: int,
    n_servers: int,
    n_resources: int,
    *,
    kind: str = "dense",
    weighted: bool = False,
    constrained: bool = False,
    effective: bool = False,
) -> Cluster:
    """Random cluster of a given kind.

    Parameters
    ----------
    kind : {"dense", "sparse", "integer"}
        As in :func:`random_problem`; with zeros also among the capacities of a server in the last two.
    weighted, constrained, effective : bool
        Draw weights from {1, 2, 3} / forbid about a third of the pairs of class and server / draw gamma
        between half and twice of what demands and capacities say.

    Raises
    ------
    ModelError
        If in 1000 draws some class could run nowhere or some server was of no use to anybody.
    """
    if kind not in KINDS:
        raise ModelError(f"kind must be one of {', '.join(KINDS)}; got {kind!r}")
    rng = generator(rng)
    for _ in range(_DRAWS):
        demands = random_problem(rng, n_classes, n_resources, kind=kind).demands
        if kind == "integer":
            capacities = rng.integers(0, 10, (n_servers, n_resources)).astype(float)
        else:
            capacities = 10.0 ** rng.uniform(-0.5, 0.5, (n_servers, n_resources))
            if kind == "sparse":
                capacities *= rng.random(capacities.shape) < 0.8
        weights = rng.integers(1, 4, n_classes).astype(float) if weighted else None
        eligible = rng.random((n_classes, n_servers)) < 2 / 3 if constrained else None
        factor = 2.0 ** rng.uniform(-1, 1, (n_classes, n_servers)) if effective else None
        try:
            cluster = Cluster(demands, capacities, weights=weights, eligible=eligible)
            return (
                cluster if factor is None else cluster.replaced(gamma=cluster.gamma * factor, eligible=None)
            )
        except ModelError:
            # A class that can run nowhere, or a server of no use: draw again.
            continue
    raise ModelError(
        f"in {_DRAWS} draws of {n_classes} classes, {n_servers} servers and {n_resources} resources some "
        "class could always run nowhere, or some server was of no use; take more classes or fewer servers"
    )


def check_policy(policy: Policy, *, skip: Collection[str] = (), rng: Seed = 0, instances: int = 12) -> None:
    """Raise AssertionError, naming the check, if a pool policy fails the battery.

    Parameters
    ----------
    policy : callable
        ``policy(problem, counts) -> tasks``.
    skip : collection of str
        Checks that do not apply to the policy (see :data:`CHECKS`), for example ``{"task units"}`` for
        max-min fairness, which depends on how work is cut into tasks.
    rng : numpy Generator or seed
    instances : int
        Random instances per kind (dense, sparse, integer) and check; half of them with weights and limits.

    Notes
    -----
    Checks: ``feasible``; ``empty classes`` (0 tasks where the count is 0); ``pareto`` (nobody can gain
    alone); ``batch`` (a batch equals a loop); ``relabelling`` of classes and resources;
    ``resource units`` and ``task units`` (rescaling); ``splitting`` (a class split in two equal ones);
    ``weights are counts`` (a class of weight 2 gets what twice the jobs of weight 1 get);
    ``duplicated resource``. Where ties could make a valid policy choose among several allocations,
    the instances of the last six are dense.
    """
    check_battery(skip, CHECKS, instances)
    rng = generator(rng)
    for name, check in CHECKS.items():
        if name in skip:
            continue
        kinds = KINDS if check in _ON_ALL_KINDS else ("dense",)
        for problem, counts in _instances(rng, kinds, instances):
            complaint = check(_well_shaped(policy), problem, counts, rng)
            assert complaint is None, (
                f"{policy_name(policy)} fails the check {name!r}: {complaint}\n{problem!r}\ncounts = {counts}"
            )


def check_battery(skip: Collection[str], checks: Collection[str], instances: int) -> None:
    """Refuse unknown checks, and a battery that would check nothing."""
    if isinstance(skip, str):
        raise ModelError(
            f"skip must be a collection of names, for example {{{skip!r}}}; got the string {skip!r}"
        )
    unknown = set(skip) - set(checks)
    if unknown:
        raise ModelError(f"unknown check {sorted(unknown)[0]!r}; the checks are {', '.join(checks)}")
    if instances < 1:
        raise ModelError(f"instances must be at least 1; got {instances}")


def _well_shaped(policy: Policy) -> Policy:
    def checked(problem: Problem, counts: ArrayLike) -> FloatArray:
        tasks = np.asarray(policy(problem, counts), dtype=float)
        assert tasks.shape == np.shape(counts), (
            f"{policy_name(policy)} returned shape {tasks.shape} for counts of shape {np.shape(counts)}"
        )
        return tasks

    return checked


def _instances(
    rng: np.random.Generator, kinds: Collection[str], number: int
) -> Iterator[tuple[Problem, FloatArray]]:
    for kind in kinds:
        for k in range(number):
            n, m = int(rng.integers(1, 6)), int(rng.integers(1, 5))
            problem = random_problem(rng, n, m, kind=kind, weighted=k % 2 == 1, limited=k % 4 > 1)
            counts = rng.integers(0, 4, n) * rng.choice([1.0, 0.7])
            yield problem, np.asarray(counts, dtype=float)


def _differ(one: FloatArray, other: FloatArray) -> str | None:
    # 1e-6: the loosest accuracy of a policy that stops on its own certificate at 1e-9 (prices near a kink).
    if np.allclose(one, other, rtol=1e-6, atol=1e-9 * max(1e-300, float(np.abs(one).max(initial=0.0)))):
        return None
    return f"tasks {one} against {other}"


def _feasible(policy: Policy, problem: Problem, counts: FloatArray, rng: np.random.Generator) -> str | None:
    residual = feasibility_residual(problem, counts, policy(problem, counts))
    return None if residual <= SATURATION else f"capacity or limit exceeded by {residual:.1e}"


def _empty_classes(
    policy: Policy, problem: Problem, counts: FloatArray, rng: np.random.Generator
) -> str | None:
    if policy(problem, np.zeros_like(counts)).any():
        return "an empty pool runs tasks"
    counts = counts.copy()
    counts[rng.integers(len(counts))] = 0
    tasks = policy(problem, counts)
    return None if not tasks[counts == 0].any() else f"tasks {tasks} where no job is present"


def _pareto(policy: Policy, problem: Problem, counts: FloatArray, rng: np.random.Generator) -> str | None:
    tasks = policy(problem, counts)
    full = relative_usage(problem, tasks) >= 1.0 - 10 * SATURATION
    stopped = (problem.demands[:, full] > 0).any(axis=1) | (counts == 0)
    stopped |= tasks >= np.maximum(counts, 1e-300) * problem.limits * (1 - 10 * SATURATION)
    return None if stopped.all() else f"class {int(np.argmin(stopped))} can gain alone with tasks {tasks}"


def _batch(policy: Policy, problem: Problem, counts: FloatArray, rng: np.random.Generator) -> str | None:
    states = np.stack([counts, counts[::-1], 2 * counts, np.zeros_like(counts)]).reshape(2, 2, -1)
    batch = policy(problem, states)
    loop = np.stack([policy(problem, state) for state in states.reshape(4, -1)]).reshape(states.shape)
    return _differ(batch, loop)


def _relabelling(
    policy: Policy, problem: Problem, counts: FloatArray, rng: np.random.Generator
) -> str | None:
    rows, columns = rng.permutation(problem.n_classes), rng.permutation(problem.n_resources)
    other = Problem(
        problem.demands[rows][:, columns],
        problem.capacities[columns],
        weights=problem.weights[rows],
        limits=problem.limits[rows],
    )
    return _differ(policy(problem, counts)[rows], policy(other, counts[rows]))


def _resource_units(
    policy: Policy, problem: Problem, counts: FloatArray, rng: np.random.Generator
) -> str | None:
    unit = 10.0 ** rng.uniform(-3, 3, problem.n_resources)
    other = problem.replaced(demands=problem.demands * unit, capacities=problem.capacities * unit)
    return _differ(policy(problem, counts), policy(other, counts))


def _task_units(policy: Policy, problem: Problem, counts: FloatArray, rng: np.random.Generator) -> str | None:
    unit = 10.0 ** rng.uniform(-1, 1, problem.n_classes)
    other = problem.replaced(demands=problem.demands * unit[:, None], limits=problem.limits / unit)
    return _differ(policy(problem, counts), policy(other, counts) * unit)


def _splitting(policy: Policy, problem: Problem, counts: FloatArray, rng: np.random.Generator) -> str | None:
    k = int(rng.integers(problem.n_classes))
    rows = [*range(problem.n_classes), k]
    other = Problem(
        problem.demands[rows], problem.capacities, weights=problem.weights[rows], limits=problem.limits[rows]
    )
    parts = counts[rows]
    parts[[k, -1]] *= 0.5
    merged = policy(other, parts)
    merged[k] += merged[-1]
    return _differ(policy(problem, counts), merged[:-1])


def _weights_are_counts(
    policy: Policy, problem: Problem, counts: FloatArray, rng: np.random.Generator
) -> str | None:
    factor = rng.integers(1, 4, problem.n_classes)
    other = problem.replaced(weights=problem.weights * factor, limits=problem.limits * factor)
    return _differ(policy(problem, counts * factor), policy(other, counts))


def _duplicated_resource(
    policy: Policy, problem: Problem, counts: FloatArray, rng: np.random.Generator
) -> str | None:
    k = int(rng.integers(problem.n_resources))
    other = problem.replaced(
        demands=np.column_stack([problem.demands, problem.demands[:, k]]),
        capacities=np.append(problem.capacities, problem.capacities[k]),
    )
    return _differ(policy(problem, counts), policy(other, counts))


Check = Callable[[Policy, Problem, FloatArray, np.random.Generator], str | None]

CHECKS: dict[str, Check] = {
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
}
"""The battery: name of a check -> function that returns a complaint or None."""

_ON_ALL_KINDS = (_feasible, _empty_classes, _pareto, _batch)
