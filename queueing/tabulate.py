"""A policy on a grid of job counts, evaluated once.

The Markov chain and the simulator ask for the same allocations again and again; a table answers by one
look-up. Entry ``tasks[x_1, ..., x_n, i]`` is the number of tasks that class i runs when x jobs are present.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairness.errors import ModelError
from fairness.policies.protocol import Policy, call_policy, policy_name
from fairness.problem import FloatArray, Problem
from fairness.validation import require_memory
from queueing.grid import box_name, check_shape, count_states

__all__ = ["Table", "policy_tasks", "tabulate"]

CHUNK = 1 << 16
"""States per call of the policy: enough to hide the cost of a call, few enough to stay in the cache."""


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Tasks on a grid; made by :func:`tabulate`.

    Attributes
    ----------
    problem : Problem
    policy : str
        Name of the policy.
    tasks : ndarray of shape (*shape, n_classes), tasks
        C-contiguous and read-only.
    function : callable
        The policy itself.
    """

    problem: Problem
    policy: str
    tasks: FloatArray
    function: Policy

    @property
    def shape(self) -> tuple[int, ...]:
        """States per class."""
        return self.tasks.shape[:-1]

    def __repr__(self) -> str:
        return f"Table({self.policy} on {box_name(self.shape)} states)"

    def is_of(self, problem: Problem, policy: Policy) -> bool:
        """Whether the table is of this very problem and an equal policy."""
        same = self.function is policy or (
            type(self.function) is type(policy) and bool(self.function == policy)
        )
        return self.problem is problem and same


def tabulate(
    problem: Problem, policy: Policy, shape: Sequence[int] | int, *, known: Table | None = None
) -> Table:
    """Evaluate a policy in all states 0 <= x_i < shape[i].

    Parameters
    ----------
    problem : Problem
    policy : callable
        ``policy(problem, counts) -> tasks``; called with chunks of states, counts of shape (k, n_classes).
    shape : sequence of int or int
        States per class.
    known : Table, optional
        A smaller table of the same problem and policy; its states are copied, not computed.

    Returns
    -------
    Table

    Raises
    ------
    ModelError
        If the table does not fit in memory, or the policy returns another shape, values that are negative or
        not finite, or tasks for a class without jobs.

    Examples
    --------
    >>> from fairness import DRF, Problem
    >>> table = tabulate(Problem([[1, 4], [3, 1]], [9, 18]), DRF(), (5, 5))
    >>> table, table.tasks[1, 1]
    (Table(DRF on 5 x 5 states), array([3., 2.]))
    """
    sizes = check_shape(shape, problem.n_classes)
    n, states = problem.n_classes, math.prod(sizes)
    name = policy_name(policy)
    require_memory(
        8.0 * n * count_states(sizes),
        f"the table of {name} on {box_name(sizes)} states",
        "give a smaller shape",
    )
    tasks = np.empty((states, n))
    inner: tuple[int, ...] = (0,) * n
    if known is not None:
        if not known.is_of(problem, policy):
            raise ModelError(f"known must be a table of the same problem and policy; got {known!r}")
        inner = tuple(min(old, new) for old, new in zip(known.shape, sizes, strict=True))
        corner = tuple(slice(k) for k in inner)
        tasks.reshape(*sizes, n)[corner] = known.tasks[corner]
    for start in range(0, states, CHUNK):
        place = np.arange(start, min(start + CHUNK, states))
        axes = np.unravel_index(place, sizes)
        if known is not None:
            new = np.any([axis >= k for axis, k in zip(axes, inner, strict=True)], axis=0)
            place, axes = place[new], tuple(axis[new] for axis in axes)
        if len(place):
            counts = np.stack(axes, axis=-1).astype(float)
            tasks[place] = policy_tasks(problem, policy, counts)
    tasks = tasks.reshape(*sizes, n)
    tasks.flags.writeable = False
    return Table(problem, name, tasks, policy)


def policy_tasks(problem: Problem, policy: Policy, counts: FloatArray) -> FloatArray:
    """Tasks under a policy for counts of shape (..., n_classes), with its answer checked.

    Raises
    ------
    ModelError
        If the answer has another shape, or a value is negative, not finite, or positive where no job is.
    """
    tasks = call_policy(problem, policy, counts)
    wrong = ~(np.isfinite(tasks) & (tasks >= 0)) | ((counts == 0) & (tasks != 0))
    if wrong.any():
        place = tuple(int(v) for v in np.argwhere(wrong)[0])
        raise ModelError(
            f"policy {policy_name(policy)} gave {tasks[place]} tasks to class "
            f"{problem.job_classes[place[-1]]!r} in state {counts[place[:-1]]}; "
            "tasks must be finite, >= 0, and 0 where no job is present"
        )
    return tasks
