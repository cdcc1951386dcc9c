"""The battery: every policy of the catalogues passes the same checks, and every check can fail."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from fairness import CATALOGUE, DRF, TSF, Cluster, MaxMin, ModelError, PerServerDRF, Problem
from fairness.catalogue import CLUSTER_CATALOGUE
from fairness.evidence.pools import Certificate
from fairness.protocol.cluster_policy import ClusterPolicy, ClusterSolution
from fairness.protocol.policy import CertifyingPolicy, policy_name
from fairness.testing import CHECKS, check_policy

ENTRIES = [*CATALOGUE, *CLUSTER_CATALOGUE]


def label(value):
    return value if isinstance(value, str) else getattr(value, "__name__", None) or policy_name(value)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_policy_passes_the_battery(entry):
    assert policy_name(entry.policy) == entry.name
    check_policy(entry.policy, skip=entry.skip, instances=6 if entry in CLUSTER_CATALOGUE else 12)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_skipped_checks_are_real_failures(entry):
    for name in entry.skip:
        with pytest.raises(AssertionError, match=f"fails the check '{name}'"):
            check_policy(entry.policy, skip=set(CHECKS) - {name})


@dataclass(frozen=True)
class OnServers(ClusterPolicy):
    """TSF of a changed question, or with a changed answer."""

    spoil: Any
    division: str = "resource"

    def __call__(self, cluster, counts=None):
        return self.spoil(TSF(), cluster, np.asarray(counts, dtype=float))

    def solve(self, cluster, counts=None):
        return ClusterSolution(self(cluster, counts), Certificate("none", np.inf))


def in_a_pool(spoil):
    """DRF of a changed question, or with a changed answer."""

    def policy(problem, counts):
        return spoil(DRF(), problem, counts)

    return policy


def too_much(fair, model, counts):
    return fair(model, counts) * 1.01


def wasteful(fair, model, counts):
    return fair(model, counts) * 0.99


def serves_the_dead(fair, model, counts):
    return fair(model, np.maximum(counts, 1e-3))


def last_state_only(fair, model, counts):
    given = fair(model, counts)
    return np.broadcast_to(given[(0,) * (np.ndim(counts) - 1)], given.shape).copy()


def one_job_per_class(fair, model, counts):
    return fair(model, np.sign(counts))


def forgets_weights(fair, model, counts):
    return fair(model.replaced(weights=np.ones(model.n_classes)), counts)


def weighed(fair, model, counts, factor):
    return fair(model.replaced(weights=model.weights * factor), counts)


def by_label(fair, model, counts):
    return weighed(fair, model, counts, np.arange(1, model.n_classes + 1))


def absolute_units(fair, model, counts):
    return weighed(fair, model, counts, model.demands.sum(axis=1))


def by_server(fair, model, counts):
    yardsticks = model.gamma @ np.arange(1, model.n_servers + 1)
    return weighed(fair, model, counts, yardsticks / model.gamma.sum(axis=1))


def by_tasks(fair, model, counts):
    return weighed(fair, model, counts, 1 / model.unconstrained_gamma.sum(axis=1))


def adds_up_resources(fair, model, counts):
    shares = (model.demands / model.total_capacities).sum(axis=1)
    return weighed(fair, model, counts, 1 / shares / model.unconstrained_gamma.sum(axis=1))


EVERYWHERE = [
    (too_much, "feasible"),
    (serves_the_dead, "empty classes"),
    (wasteful, "pareto"),
    (last_state_only, "batch"),
    (by_label, "relabelling"),
    (absolute_units, "resource units"),
    (one_job_per_class, "splitting"),
    (forgets_weights, "weights are counts"),
]


@pytest.mark.parametrize(
    ("policy", "check"),
    [
        *((in_a_pool(spoil), check) for spoil, check in EVERYWHERE),
        (MaxMin(), "task units"),
        *((OnServers(spoil), check) for spoil, check in EVERYWHERE),
        (OnServers(by_server), "relabelling"),
        (OnServers(by_tasks), "task units"),
        (OnServers(adds_up_resources), "duplicated resource"),
        (OnServers(by_tasks), "one server"),
        # Idle time is a failure under time division.
        (OnServers(lambda _, cluster, counts: PerServerDRF()(cluster, counts) * 0.0, "time"), "pareto"),
    ],
    ids=label,
)
def test_every_check_can_fail(policy, check):
    with pytest.raises(AssertionError, match=f"fails the check '{check}'"):
        check_policy(policy, skip=set(CHECKS) - {check})


@pytest.mark.parametrize(
    "policy",
    [lambda problem, counts: 1.0, OnServers(lambda fair, cluster, counts: 1.0)],
    ids=["pool", "servers"],
)
def test_a_policy_of_the_wrong_shape_is_named(policy):
    with pytest.raises(AssertionError, match=r"returned shape \(\) for counts of shape"):
        check_policy(policy)


CERTIFYING = [entry.policy for entry in ENTRIES if isinstance(entry.policy, CertifyingPolicy | ClusterPolicy)]


@pytest.mark.parametrize("policy", CERTIFYING, ids=policy_name)
def test_a_batch_has_no_single_solution(policy):
    demands, capacities = [[1, 4], [3, 1]], [9, 18]
    pool = not isinstance(policy, ClusterPolicy)
    model = Problem(demands, capacities) if pool else Cluster(demands, [capacities])
    with pytest.raises(ModelError, match=r"counts must have shape \(2,\); got \(2, 2\)"):
        policy.solve(model, [[1, 1], [1, 2]])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"skip": {"speed"}}, "unknown check 'speed'; the checks are feasible"),
        ({"skip": "feasible"}, "skip must be a collection of names"),
        ({"instances": 0}, "instances must be at least 1; got 0"),
    ],
)
def test_a_battery_that_is_none_is_refused(options, message):
    for policy in (DRF(), TSF()):
        with pytest.raises(ModelError, match=message):
            check_policy(policy, **options)
