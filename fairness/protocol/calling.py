"""The one place where a policy is asked, and its answer is checked.

A policy gets ``counts`` of shape (..., n_classes): one state, or any number of them at once, and answers for
all. One that is written for a single state (``if counts[0] > 0: ...``) works where one state is asked about,
and where many are it dies or, worse, answers something else: it is refused here, with the remedy, which is
:func:`one_state`.

Where ``counts[0]`` was meant to be the first class and is the first state, or ``counts.sum()`` the jobs of
one state and is those of all, the answer may have the right shape. So a policy that does not say how it
answers for many states (``batches``) is asked again about the last state of every batch alone, and about one
in the middle; about another one, if nobody is served there although jobs are present, or if the answer is not
feasible.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairness.arguments.validation import FloatArray
from fairness.errors import FairqueuesError, ModelError, PolicyError
from fairness.machine.work import current_watch
from fairness.model.cluster import Cluster
from fairness.model.problem import Problem
from fairness.protocol.cluster_policy import AnyPolicy, ClusterPolicy
from fairness.protocol.policy import batches, offers, policy_name

__all__ = ["OneState", "call_policy", "check_answer", "one_state", "policy_tasks"]

EXCESS = 1e-6
"""Relative use beyond a capacity or a limit that is an error: certificates of policies are far below."""


@dataclass(frozen=True)
class OneState:
    """A policy made of one that knows a single state; see :func:`one_state`."""

    policy: Callable[[Any, FloatArray], ArrayLike]

    batches = "in turn"

    @property
    def name(self) -> str:
        """Name of the policy, for tables and legends."""
        return policy_name(self.policy)

    def __call__(self, problem: Problem | Cluster, counts: ArrayLike) -> FloatArray:
        """Answers of the policy for every state, shape (..., n_classes), or (..., n_classes, n_servers)."""
        x = problem.check_counts(counts)
        answers = np.empty(_shape(problem, x.reshape(-1, problem.n_classes)))
        watch = current_watch()
        for k, state in enumerate(x.reshape(-1, problem.n_classes)):
            watch.check(f"the answers of {self.name}")
            answer = _as_floats(self.name, self.policy(problem, state.copy()), state)
            if answer.shape != answers.shape[1:]:
                raise ModelError(
                    f"policy {self.name} returned shape {answer.shape} in state {state}; one state needs "
                    f"{answers.shape[1:]}"
                )
            answers[k] = answer
        return answers.reshape(_shape(problem, x))


def one_state(policy: Callable[[Any, FloatArray], ArrayLike]) -> OneState:
    """Policy for any number of states, from a function that is written for one.

    Parameters
    ----------
    policy : callable
        ``policy(problem, counts) -> tasks`` with counts of shape (n_classes,); for a cluster the answer is a
        placement of shape (n_classes, n_servers).

    Returns
    -------
    OneState
        Called with counts of shape (..., n_classes); it asks the function about each state in turn, which
        takes a Python call per state.

    Raises
    ------
    ModelError
        If it is no policy. When called: if an answer has another shape, with the state.

    Examples
    --------
    >>> from fairness import Problem
    >>> @one_state
    ... def first_come(problem, counts):
    ...     return [1, 0] if counts[0] > 0 else [0, min(counts[1], 1)]
    >>> first_come(Problem([[1], [1]], [1]), [[0, 3], [2, 3]])
    array([[0., 1.],
           [1., 0.]])
    """
    policy_name(policy)
    return policy if isinstance(policy, OneState) else OneState(policy)


def call_policy(problem: Problem | Cluster, policy: AnyPolicy, counts: FloatArray) -> FloatArray:
    """Answer of a policy, checked but for what it uses: (..., n_classes), or (..., n_classes, n_servers).

    Raises
    ------
    ModelError
        If this is no policy, or one for the other kind of model, or for one state only; if its answer has
        another shape; or if a value is negative, not finite, or positive where no job is or, on a cluster,
        where the class cannot run.
    """
    name = policy_name(policy)
    if isinstance(policy, ClusterPolicy) and not isinstance(problem, Cluster):
        raise ModelError(
            f"policy {name} places tasks on the servers of a Cluster; the problem is one pool (a Problem): "
            "take a policy for pools, for example DRF(), or give a Cluster"
        )
    values = _answer(problem, policy, counts)
    check_answer(problem, policy, counts, values)
    if counts.ndim > 1 and counts.size and not batches(policy):
        served = values.reshape(*counts.shape[:-1], -1).any(axis=-1)
        idle = np.argwhere(counts.any(axis=-1) & ~served)
        if len(idle):
            _require_same_alone(problem, policy, counts, values, tuple(idle[0]))
        # A maximum over all states is that of the last of a grid, which has the most jobs, but of no other.
        number = counts.size // counts.shape[-1]
        for k in {number // 2, number - 1}:
            _require_same_alone(problem, policy, counts, values, _place(counts, k))
    return values


def check_answer(
    problem: Problem | Cluster, policy: AnyPolicy, counts: FloatArray, values: FloatArray
) -> None:
    """Refuse tasks, or placements, of which a shape or a value is none, as :func:`call_policy` does."""
    name, on_servers = policy_name(policy), isinstance(problem, Cluster)
    values = np.asarray(values)
    if values.shape != _shape(problem, counts):
        servers = f" and {problem.n_servers} servers" if isinstance(problem, Cluster) else ""
        rule = (
            f"{_ON_SERVERS}, with shape (..., n_classes, n_servers)"
            if servers
            else "a policy answers with one number of tasks per state and class"
        )
        raise PolicyError(
            f"policy {name} returned shape {values.shape} for counts of shape {counts.shape}{servers}; {rule}"
        )
    possible = problem.eligible if isinstance(problem, Cluster) else True
    present = counts[..., None] > 0 if on_servers else counts > 0
    wrong = ~(np.isfinite(values) & (values >= 0)) | (~(present & possible) & (values != 0))
    if wrong.any():
        place = tuple(int(v) for v in np.argwhere(wrong)[0])
        state, i = place[: counts.ndim - 1], place[counts.ndim - 1]
        where = f" on {problem.servers[place[-1]]!r}" if isinstance(problem, Cluster) else ""
        rule = " or the class cannot run" if on_servers else ""
        raise PolicyError(
            f"policy {name} gave {values[place]} tasks to class {problem.job_classes[i]!r}{where} in state "
            f"{counts[state]}; tasks must be finite, >= 0, and 0 where no job is present{rule}"
        )


def policy_tasks(problem: Problem | Cluster, policy: AnyPolicy, counts: FloatArray) -> FloatArray:
    """Tasks under a policy for counts of shape (..., n_classes), with its answer checked.

    On a cluster the policy answers with placements, (..., n_classes, n_servers), which are summed over the
    servers, unless it finds the sums without them.

    Raises
    ------
    ModelError
        As :func:`call_policy`; also if the answer uses more than there is of a resource, or than the limit of
        a class allows; of sums without placements, if a class has more than it could have alone.

    Examples
    --------
    >>> from fairness import PSDSF, Cluster
    >>> cluster = Cluster([[1, 2], [1, 0]], [[4, 4], [6, 0]])
    >>> policy_tasks(cluster, PSDSF(), np.array([[1.0, 1.0], [1.0, 0.0]]))
    array([[2., 8.],
           [2., 0.]])
    """
    if isinstance(problem, Cluster) and isinstance(policy, ClusterPolicy) and offers(policy, "tasks"):
        return _sums(problem, policy, counts)
    values = call_policy(problem, policy, counts)
    tasks: FloatArray = values
    if isinstance(problem, Cluster):
        tasks = values.sum(axis=-1)
        use = np.einsum("...ni,nir->...ir", values, problem.task_shares)
        most = np.ones(problem.n_resources)
    else:
        over = values > (1 + EXCESS) * problem.most_tasks(counts)
        if over.any():
            place = tuple(int(v) for v in np.argwhere(over)[0])
            _require_same_alone(problem, policy, counts, values, place[:-1])
            raise PolicyError(
                f"policy {policy_name(policy)} gave {values[place]:.6g} tasks to class "
                f"{problem.job_classes[place[-1]]!r} in state {counts[place[:-1]]}, beyond its limit of "
                f"{problem.limits[place[-1]]:g} per job; an answer must be feasible"
            )
        use, most = problem.used(values), problem.capacities
    over = use > (1 + EXCESS) * most
    if over.any():
        place = tuple(int(v) for v in np.argwhere(over)[0])
        state, where = place[: counts.ndim - 1], ""
        if isinstance(problem, Cluster):
            where = f" of {problem.servers[place[-2]]!r}"
        _require_same_alone(problem, policy, counts, values, state)
        times = (
            f"{use[place] / most[place[-1]]:.6g} times the capacity"
            if most[place[-1]]
            else "what is not there"
        )
        raise PolicyError(
            f"policy {policy_name(policy)} uses {times} of {problem.resources[place[-1]]!r}{where} in state "
            f"{counts[state]}; an answer must be feasible"
        )
    return tasks


def _sums(cluster: Cluster, policy: ClusterPolicy, counts: FloatArray) -> FloatArray:
    """Tasks on all servers together, of a policy that finds them without placements."""
    tasks = policy.tasks(cluster, counts)
    if tasks.shape != counts.shape:
        raise PolicyError(
            f"policy {policy_name(policy)} returned {tasks.shape} tasks for counts of shape {counts.shape}"
        )
    most = (1 + EXCESS) * cluster.gamma.sum(axis=1)
    wrong = ~((tasks >= 0) & (tasks <= most)) | ((counts == 0) & (tasks != 0))
    if wrong.any():
        place = tuple(int(v) for v in np.argwhere(wrong)[0])
        raise PolicyError(
            f"policy {policy_name(policy)} gave {tasks[place]} tasks to class "
            f"{cluster.job_classes[place[-1]]!r} in state {counts[place[:-1]]}; they must be >= 0, 0 where "
            f"no job is present, and at most the {cluster.gamma.sum(axis=1)[place[-1]]:g} that it runs alone"
        )
    return tasks


def _answer(problem: Problem | Cluster, policy: Any, counts: FloatArray) -> FloatArray:
    """Answer of a policy as floats, with the shape that it must have."""
    name = policy_name(policy)
    current_watch().check(f"the answers of {name}")
    try:
        answer = policy(problem, counts)
    except FairqueuesError:
        raise
    except AttributeError as error:
        if not isinstance(problem, Cluster) or error.obj is not problem:
            raise
        # A policy for pools asks a cluster for what only a pool has.
        raise ModelError(f"policy {name} is made for one pool of resources; {_ON_SERVERS}") from error
    except Exception as error:
        if not _knows_one_state(problem, policy, counts):
            raise
        remedy = _BATCH.format(counts.shape)
        raise PolicyError(f"policy {name} stopped with {error!r} at {remedy}") from error
    values = _as_floats(name, answer, counts)
    if values.shape != _shape(problem, counts) and _knows_one_state(problem, policy, counts):
        remedy = _BATCH.format(counts.shape)
        raise PolicyError(f"policy {name} returned shape {values.shape} for {remedy}")
    return values


_ON_SERVERS = "the problem is a Cluster: take a policy that places tasks on servers, for example PSDSF()"
_BATCH = (
    "counts of shape {}, many states at once, but answers for one state; write it for counts of shape "
    "(..., n_classes), or, slower by a Python call per state, put @fairness.one_state before it or pass "
    "fairness.one_state(policy)"
)


def _as_floats(name: str, answer: Any, counts: FloatArray) -> FloatArray:
    try:
        return np.asarray(answer, dtype=float)
    except (TypeError, ValueError):
        raise PolicyError(
            f"policy {name} returned {answer!r:.80} for counts of shape {counts.shape}; a policy answers "
            "with one number of tasks per state and class"
        ) from None


def _place(counts: FloatArray, k: int) -> tuple[int, ...]:
    """Indices of state k of a batch."""
    return tuple(int(i) for i in np.unravel_index(k, counts.shape[:-1]))


def _shape(problem: Problem | Cluster, counts: FloatArray) -> tuple[int, ...]:
    return (*counts.shape[:-1], *problem.answer_shape)


def _knows_one_state(problem: Problem | Cluster, policy: Any, counts: FloatArray) -> bool:
    """Whether a policy that failed at a batch answers for its last state."""
    if counts.ndim < 2 or not counts.size:
        return False
    state = counts.reshape(-1, problem.n_classes)[-1]
    try:
        answer = np.asarray(policy(problem, state.copy()), dtype=float)
    except Exception:  # it fails there too: what it raised at the batch is the news
        return False
    return answer.shape == _shape(problem, state)


def _require_same_alone(
    problem: Problem | Cluster, policy: Any, counts: FloatArray, values: FloatArray, place: tuple[int, ...]
) -> None:
    """Refuse a policy that answers something else for a state of a batch when asked about it alone."""
    if counts.ndim == 1:
        return
    state, batch = counts[place], values[place]
    try:
        alone = _answer(problem, policy, state.copy())
    except Exception:  # a policy of batches only: nothing to compare with
        return
    if alone.shape != batch.shape:
        return
    # The accuracy of the least exact policy, one that stops when its certificate holds.
    size = np.abs(alone)
    close = np.abs(batch - alone) <= 1e-9 * size.max(initial=0.0) + 1e-6 * size
    if not (close & np.isfinite(alone)).all():
        raise PolicyError(
            f"policy {policy_name(policy)} gives {batch.tolist()} in state {state} among counts of shape "
            f"{counts.shape}, but {alone.tolist()} in this state alone; counts[0] is the first state, "
            "counts[..., 0] the first class, and sums go over axis=-1: write it so, put "
            "@fairness.one_state before it, or pass fairness.one_state(policy)"
        )
