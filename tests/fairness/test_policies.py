"""The battery: every policy of the catalogue passes the same checks."""

import numpy as np
import pytest

from fairness import CATALOGUE, DRF, MaxMin, ModelError, Problem
from fairness.protocol.policy import CertifyingPolicy, policy_name
from fairness.testing.pools import CHECKS, check_policy


@pytest.mark.parametrize("entry", CATALOGUE, ids=lambda entry: policy_name(entry.policy))
def test_policy_passes_the_battery(entry):
    check_policy(entry.policy, skip=entry.skip)


@pytest.mark.parametrize("entry", CATALOGUE, ids=lambda entry: policy_name(entry.policy))
def test_skipped_checks_are_real_failures(entry):
    for name in entry.skip:
        with pytest.raises(AssertionError, match=f"fails the check '{name}'"):
            check_policy(entry.policy, skip=set(CHECKS) - {name})


def too_much(problem, counts):
    return DRF()(problem, counts) * 1.01


def wasteful(problem, counts):
    return DRF()(problem, counts) * 0.99


def by_label(problem, counts):
    ranked = Problem(
        problem.demands,
        problem.capacities,
        weights=problem.weights * np.arange(1, problem.n_classes + 1),
        limits=problem.limits,
    )
    return DRF()(ranked, counts)


def absolute_units(problem, counts):
    return DRF(resource_weights=problem.capacities[None, :].repeat(problem.n_classes, axis=0))(
        problem, counts
    )


def forgets_weights(problem, counts):
    return DRF()(Problem(problem.demands, problem.capacities, limits=problem.limits), counts)


def serves_the_dead(problem, counts):
    return DRF()(problem, np.maximum(counts, 1e-3))


def last_state_only(problem, counts):
    tasks = DRF()(problem, counts)
    return np.broadcast_to(tasks[(0,) * (tasks.ndim - 1)], tasks.shape).copy()


def one_job_per_class(problem, counts):
    return DRF()(problem, np.sign(counts))


@pytest.mark.parametrize(
    ("policy", "check"),
    [
        (too_much, "feasible"),
        (serves_the_dead, "empty classes"),
        (wasteful, "pareto"),
        (last_state_only, "batch"),
        (by_label, "relabelling"),
        (absolute_units, "resource units"),
        (MaxMin(), "task units"),
        (one_job_per_class, "splitting"),
        (forgets_weights, "weights are counts"),
    ],
    ids=lambda value: value if isinstance(value, str) else policy_name(value),
)
def test_every_check_can_fail(policy, check):
    with pytest.raises(AssertionError, match=f"fails the check '{check}'"):
        check_policy(policy, skip=set(CHECKS) - {check})


def test_a_policy_of_the_wrong_shape_is_named():
    def scalar(problem, counts):
        return 1.0

    with pytest.raises(AssertionError, match=r"scalar returned shape \(\) for counts of shape"):
        check_policy(scalar)


CERTIFYING = [entry.policy for entry in CATALOGUE if isinstance(entry.policy, CertifyingPolicy)]


@pytest.mark.parametrize("policy", CERTIFYING, ids=policy_name)
def test_a_batch_has_no_single_solution(policy):
    problem = Problem([[1, 4], [3, 1]], [9, 18])
    with pytest.raises(ModelError, match=r"counts must have shape \(2,\); got \(2, 2\)"):
        policy.solve(problem, [[1, 1], [1, 2]])


def test_unknown_check_is_refused():
    with pytest.raises(ModelError, match="unknown check 'speed'"):
        check_policy(DRF(), skip={"speed"})
