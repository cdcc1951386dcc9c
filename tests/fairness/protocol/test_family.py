"""What policies say of themselves, and that nobody is taken for what he is not."""

import math
from pathlib import Path

import numpy as np
import pytest

import fairness
from fairness import (
    CATALOGUE,
    CLUSTER_CATALOGUE,
    DRF,
    PSDSF,
    TDRF,
    AlphaFair,
    Hierarchical,
    MaxMin,
    ModelError,
    Problem,
    ProportionalFair,
    Tree,
    allocate,
    one_state,
)
from fairness.policies.engines.filling import FillingPolicy
from fairness.properties.exact.enclosure import Unproved, enclose
from fairness.protocol.family import Family, family_of
from fairness.protocol.policy import batches
from fairqueues.scenario.names import policy_named, policy_spec
from queueing import System, drift_bound
from queueing.enclosures.enclose import enclose as enclose_means

POOL = Problem([[1, 4], [3, 1]], [9, 18])


class Halved(DRF):
    """DRF of shares that are squared: not DRF, though it inherits."""

    def rates(self, problem):
        return super().rates(problem) ** 2


class Filled(FillingPolicy):
    name = "DRF"

    def rates(self, problem):
        return np.arange(1.0, problem.n_classes + 1)


@pytest.mark.parametrize("entry", [*CATALOGUE, *CLUSTER_CATALOGUE], ids=lambda entry: entry.name)
def test_every_policy_of_the_catalogue_says_what_it_is(entry):
    assert isinstance(entry.policy.family, Family)
    assert family_of(entry.policy) == entry.policy.family
    assert batches(entry.policy) == "compiled"
    assert policy_named(policy_spec(entry.policy)).family == entry.policy.family


def test_one_family_whatever_the_class():
    assert AlphaFair(1).family == ProportionalFair().family
    assert AlphaFair(math.inf).family == MaxMin().family
    assert TDRF([1, 2]).family == Family("timed filling")
    on_tree = Hierarchical(Tree.flat(POOL), MaxMin())
    assert (on_tree.family.name, on_tree.family.parameters["policy"]) == ("on a tree", MaxMin())
    assert DRF([[1, 2]]).family.parameters["resource_weights"] == ((1.0, 2.0),)


def test_a_function_says_nothing():
    policy = lambda problem, counts: np.zeros_like(counts)  # noqa: E731
    assert (family_of(policy), batches(policy)) == (None, "")
    assert (family_of(one_state(policy)), batches(one_state(policy))) == (None, "in turn")


@pytest.mark.parametrize("policy", [Halved(), Filled()], ids=["subclass of DRF", "named DRF"])
def test_other_rates_are_not_taken_for_drf(policy):
    """Its definition in fractions was that of DRF, and so were its bounds."""
    assert policy.family == Family("filling", {"growth": "own"})
    assert not np.allclose(allocate(POOL, policy).tasks, allocate(POOL, DRF()).tasks)
    assert isinstance(enclose(policy, POOL), Unproved)
    system = System.with_load(POOL, [1, 1], 0.5)
    assert np.isinf(drift_bound(system, policy).upper).all()
    with pytest.raises(ModelError, match="it is not known to the checker"):
        enclose_means(system, policy)


def test_the_order_of_servers_is_written():
    policy = PSDSF(server_order=(1, 0))
    assert policy_spec(policy) == {"policy": "psdsf", "server_order": [1, 0]}
    assert policy_named(policy_spec(policy)) == policy


def test_nobody_asks_for_the_module_of_a_policy():
    for package in ("fairness", "queueing", "capacity", "proofs", "fairqueues"):
        for path in (Path(fairness.__file__).parents[1] / package).rglob("*.py"):
            assert "type(policy).__module__" not in path.read_text(encoding="utf-8"), path
