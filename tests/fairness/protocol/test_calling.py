"""What a policy gets and what it may answer: the same refusals wherever a policy is asked."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from capacity import policy_stability_region, provision, service_region
from capacity.boundaries.growth_tests import chain_test
from fairness import PSDSF, Cluster, ModelError, Problem, allocate, one_state
from fairness.errors import advised
from fairness.protocol.calling import OneState, policy_tasks
from queueing import (
    System,
    admission,
    drift,
    fluid_verdict,
    simulate,
    stationary,
    tabulate,
    tagged_duration,
    trajectory,
    transient,
)

POOL = Problem([[1], [1]], [1])
SYSTEM = System(POOL, [0.2, 0.3])


def first_come(problem: Any, counts: Any) -> Any:
    """All to the first class, else all to the second: for one state."""
    if counts[0] > 0:
        return np.array([1.0, 0.0])
    return np.array([0.0, 1.0 if counts[1] > 0 else 0.0])


def in_batches(problem: Any, counts: Any) -> Any:
    """The same for any number of states."""
    x = np.asarray(counts)
    return np.stack([x[..., 0] > 0, (x[..., 0] == 0) & (x[..., 1] > 0)], axis=-1).astype(float)


ASKED: dict[str, Callable[[Any], Any]] = {
    "tabulate": lambda policy: tabulate(POOL, policy, 4).tasks,
    "stationary": lambda policy: stationary(SYSTEM, policy, shape=8).mean_jobs,
    "transient": lambda policy: transient(SYSTEM, policy, [1.0], shape=6).mean_jobs,
    "simulate": lambda policy: simulate(SYSTEM, policy, events=400, replications=2, rng=1).mean_jobs,
    "simulate, jobs": lambda policy: simulate(SYSTEM, policy, jobs=200, rng=1).estimates["mean_jobs"].value,
    "admission": lambda policy: admission(SYSTEM, policy, max_total=3).mean_jobs,
    "drift": lambda policy: drift(SYSTEM, policy, [[1.0, 2.0], [0.0, 1.0], [3.0, 1.0]]),
    "trajectory": lambda policy: trajectory(SYSTEM, policy, [1.0, 2.0]).emptying_time,
    "fluid_verdict": lambda policy: fluid_verdict(SYSTEM, policy).status,
    "stability": lambda policy: policy_stability_region(POOL, policy, points=3).points[0].outer,
    "service": lambda policy: service_region(POOL, policy, 0.1, points=3, precision=0.05).points[1].loads,
    "chain test": lambda policy: chain_test(SYSTEM, policy).says,
    "tagged": lambda policy: tagged_duration(SYSTEM, policy, 0, shape=8).mean,
}


@pytest.mark.parametrize("place", ASKED)
def test_a_policy_for_one_state_is_refused_with_the_remedy_and_works_with_it(place: str) -> None:
    with pytest.raises(
        ModelError, match=r"policy first_come .*, many states at once, .* @fairness.one_state"
    ):
        ASKED[place](first_come)
    np.testing.assert_array_equal(ASKED[place](one_state(first_come)), ASKED[place](in_batches))


@pytest.mark.long
def test_one_state_on_servers_and_in_other_processes() -> None:
    cluster = Cluster([[1], [1]], [[1], [2]])

    @one_state
    def alone(cluster: Any, counts: Any) -> Any:
        return PSDSF()(cluster, counts)

    states = np.array([[1.0, 2.0], [0.0, 3.0], [0.0, 0.0]])
    np.testing.assert_array_equal(
        policy_tasks(cluster, alone, states), policy_tasks(cluster, PSDSF(), states)
    )
    assert alone.name == "alone"
    assert one_state(alone) is alone
    assert alone(cluster, np.empty((0, 2))).shape == (0, 2, 2)
    kept = OneState(first_come)
    assert pickle.loads(pickle.dumps(kept)) == kept
    tables = [tabulate(POOL, one_state(first_come), 5, n_jobs=n).tasks for n in (1, 2)]
    np.testing.assert_array_equal(*tables)
    assert allocate(POOL, one_state(first_come), [0, 2]).tasks.tolist() == [0, 1]
    with pytest.raises(ModelError, match="policy must be callable"):
        one_state("first_come")  # type: ignore[arg-type]


ON_SERVERS = System(Cluster([[1, 2], [2, 1]], [[4, 4], [6, 2]]), [0.4, 0.3])


def halved(cluster: Any, counts: Any) -> Any:
    """Half of every server to each class that is there: for one state."""
    if not any(counts):
        return np.zeros(cluster.gamma.shape)
    return [
        [g / 2 if jobs > 0 else 0.0 for g in row] for row, jobs in zip(cluster.gamma, counts, strict=True)
    ]


def halved_in_batches(cluster: Any, counts: Any) -> Any:
    """The same for any number of states."""
    return (np.asarray(counts)[..., None] > 0) * cluster.gamma / 2


PLACED: dict[str, Callable[[Any], Any]] = {
    "tabulate": lambda policy: tabulate(ON_SERVERS.problem, policy, 4).tasks,
    "stationary": lambda policy: stationary(ON_SERVERS, policy, shape=8).mean_jobs,
    "transient": lambda policy: transient(ON_SERVERS, policy, [1.0], shape=6).mean_jobs,
    "simulate": lambda policy: simulate(ON_SERVERS, policy, events=400, replications=2, rng=1).mean_jobs,
    "admission": lambda policy: admission(ON_SERVERS, policy, max_total=3).mean_jobs,
    "drift": lambda policy: drift(ON_SERVERS, policy, [[1.0, 2.0], [0.0, 1.0], [3.0, 1.0]]),
    "fluid_verdict": lambda policy: fluid_verdict(ON_SERVERS, policy).status,
    "tagged": lambda policy: tagged_duration(ON_SERVERS, policy, 0, shape=8).mean,
    "stability": lambda policy: policy_stability_region(ON_SERVERS.problem, policy, points=3).points[0].outer,
}


@pytest.mark.parametrize("place", PLACED)
def test_placements_for_one_state_are_refused_with_the_remedy_and_work_with_it(place: str) -> None:
    with pytest.raises(ModelError, match=r"policy halved .*, many states at once, .* @fairness.one_state"):
        PLACED[place](halved)
    np.testing.assert_array_equal(PLACED[place](one_state(halved)), PLACED[place](halved_in_batches))


def test_one_state_that_is_asked_for_works_without_a_batch() -> None:
    assert allocate(POOL, first_come, [0, 2]).tasks.tolist() == [0, 1]
    # A start, an Euler step, a point of a trajectory: one state each.
    single = drift(SYSTEM, first_come, [1.0, 2.0])
    np.testing.assert_array_equal(single, drift(SYSTEM, in_batches, [1.0, 2.0]))


def test_a_maximum_over_all_states_is_none_over_classes() -> None:
    # In the last state of a grid both are the same.
    def scaled(problem: Any, counts: Any) -> Any:
        return counts / max(counts.max(), 1) / 2

    with pytest.raises(ModelError, match=r"policy scaled gives .* in this state alone; .*one_state"):
        tabulate(POOL, scaled, 4)
    assert tabulate(POOL, one_state(scaled), 4).tasks[3, 1].tolist() == [0.5, pytest.approx(1 / 6)]


def first_row(problem: Any, counts: Any) -> Any:
    """The right shape for any batch, but what it serves is the first state and not the first class."""
    tasks = np.zeros(np.shape(counts))
    tasks[0] = np.minimum(counts[0], 1)
    return tasks


def swapped(problem: Any, counts: Any) -> Any:
    """The right shape where there are as many states as classes."""
    return np.array([np.minimum(counts[0], 1), counts[1] * (np.asarray(counts[0]) == 0) > 0], dtype=float)


@pytest.mark.parametrize("policy", [first_row, swapped])
def test_answers_of_the_right_shape_to_another_question_are_found(policy: Any) -> None:
    states = np.array([[1.0, 2.0], [0.0, 1.0]])
    with pytest.raises(ModelError, match=r"in this state alone; counts\[0\] is the first state"):
        policy_tasks(POOL, policy, states)


LIMITED = Problem([[1, 0], [0, 1]], [1, 0], limits=[0.5, 1])


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda p, x: np.where(np.asarray(x) > 0, -1.0, 0.0), r"gave -1.0 tasks to class 'class 2' in state"),
        (lambda p, x: np.asarray(x) * np.nan, r"gave nan tasks to class 'class 1' in state \[0. 1.\]"),
        (lambda p, x: np.ones(np.shape(x)), r"gave 1.0 tasks to class 'class 1' in state \[0. 1.\]"),
        (lambda p, x: np.asarray(x) * 1.0, r"uses 4 times the capacity of 'resource 1' in state \[3. 1.\]"),
        (lambda p, x: "many", r"policy <lambda> returned 'many' for counts of shape \(2, 2\)"),
        (lambda p, x: np.zeros(3), r"returned shape \(3,\) for counts of shape \(2, 2\)"),
    ],
)
def test_answers_that_are_none_are_refused_with_the_state(answer: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        policy_tasks(POOL, answer, np.array([[0.0, 1.0], [3.0, 1.0]]))


def test_use_beyond_limits_and_of_what_is_not_there() -> None:
    with pytest.raises(
        ModelError, match=r"gave 1 tasks to class 'class 1' in state .*beyond its limit of 0.5"
    ):
        policy_tasks(LIMITED, lambda p, x: np.array([1.0, 0.0]), np.array([1.0, 1.0]))
    with pytest.raises(ModelError, match="uses what is not there of 'resource 2'"):
        policy_tasks(LIMITED, lambda p, x: np.array([0.5, 0.1]), np.array([1.0, 1.0]))
    cluster = Cluster([[1], [1]], [[1], [2]])
    with pytest.raises(ModelError, match="uses 2 times the capacity of 'resource 1' of 'server 1'"):
        policy_tasks(cluster, lambda c, x: np.ones((2, 2)), np.array([1.0, 1.0]))
    with pytest.raises(ModelError, match="policy <lambda> gave nan tasks"):
        allocate(POOL, lambda p, x: np.full(2, np.nan))


def test_mistakes_of_the_policy_itself_are_shown_as_they_are() -> None:
    def broken(problem: Any, counts: Any) -> Any:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        tabulate(POOL, broken, 3)


def test_a_search_that_lacks_shape_keeps_the_remedy_of_a_policy_for_one_state() -> None:
    with pytest.raises(
        ModelError, match=r"\(\.\.\., n_classes\), or, .* put @fairness.one_state .*one_state\(policy"
    ):
        provision([[1, 2], [3, 1]], [0.5, 0.5], [1, 1], maximum_duration=5, method=first_come)


@pytest.mark.parametrize(
    ("theirs", "kept"),
    [
        ("raise tail or max_states", False),
        ("give a smaller shape", False),
        ("write it for counts of shape (2,)", True),
    ],
)
def test_advice_replaces_a_remedy_only_where_it_names_the_argument(theirs: str, kept: bool) -> None:
    with pytest.raises(ModelError) as caught, advised("take method='bound'", "tail", "shape"):
        raise ModelError(f"too large; {theirs}")
    remedy = theirs if kept else "take method='bound'"
    assert str(caught.value) == f"too large; {remedy}"


def test_sums_over_all_states_are_no_sums_over_classes():
    # Feasible, nobody idle, and wrong: each state of a batch gets a share of one processor.
    def shared(problem, counts):
        return counts / max(counts.sum(), 1)

    system = System(Problem([[1], [1]], [1]), [0.3, 0.3])
    for ask in (
        lambda: stationary(system, shared, shape=(12, 12)),
        lambda: simulate(system, shared, rng=1, events=2000),
        lambda: admission(system, shared, max_jobs=20),
        lambda: transient(system, shared, [5.0], shape=(6, 6)),
    ):
        with pytest.raises(ModelError, match="sums go over axis=-1"):
            ask()
    right = stationary(system, one_state(shared), shape=(12, 12))
    assert right.mean_jobs == pytest.approx([0.749, 0.749], abs=1e-3)
