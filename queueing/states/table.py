"""A policy on a grid of job counts, evaluated once.

The Markov chain and the simulator ask for the same allocations again and again; a table answers by one
look-up. Entry ``tasks[x_1, ..., x_n, i]`` is the number of tasks that class i runs when x jobs are present,
in the whole pool or on all servers of the cluster together.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairness.arguments.validation import frozen, require_workers
from fairness.display.units import described
from fairness.errors import ModelError
from fairness.machine.backends import stream
from fairness.machine.compiling import asked
from fairness.machine.memory import memory_guarded, require_memory
from fairness.machine.work import Task
from fairness.model.cluster import Cluster
from fairness.model.problem import FloatArray, Problem
from fairness.protocol.calling import policy_tasks
from fairness.protocol.cluster_policy import AnyPolicy
from fairness.protocol.following import Followed
from fairness.protocol.policy import batches, policy_name
from queueing.states.box import box_name, check_shape, count_axes, count_states

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["DeathRates", "Table", "check_table", "death_rates", "departure_rates", "evaluate", "tabulate"]

DeathRates = Callable[[NDArray[np.int64]], FloatArray]
"""Gives the death rates, (k, n_axes), in states of counts, (k, n_axes), whichever they are."""

CHUNK = 1 << 16
"""Most states per call of the policy: enough to hide the cost of a call, few enough to stay in the cache."""

FIRST_CHUNK = 256
"""States of the first call, which tells how long the others take. Those of a pool, and of a policy that may
be followed, are asked for in multiples of it, after which a policy that goes from state to state starts anew:
the table does not depend on time."""

CHUNK_SECONDS = 0.2
"""Time that a call may take: a user who stops the work waits no longer."""


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Tasks on a grid; made by :func:`tabulate`.

    Attributes
    ----------
    problem : Problem or Cluster
    policy : str
        Name of the policy.
    tasks : ndarray of shape ``(*shape, n_classes)``, tasks
        C-contiguous and read-only.
    function : callable
        The policy itself.
    """

    problem: Problem | Cluster
    policy: str
    tasks: FloatArray
    function: AnyPolicy

    @property
    def shape(self) -> tuple[int, ...]:
        """States per class."""
        return self.tasks.shape[:-1]

    def __repr__(self) -> str:
        return f"Table({self.policy} on {box_name(self.shape)} states)"

    def to_dataset(self) -> xr.Dataset:
        """Tasks with labels: a dim "jobs of A" for each class, then job_class; the policy is a coordinate."""
        import xarray as xr

        names = list(self.problem.job_classes)
        axes = count_axes(names, self.shape)
        labels = {"job_class": names, "policy": self.policy, **axes}
        return described(xr.Dataset({"tasks": ((*axes, "job_class"), self.tasks)}, labels))

    def is_of(self, problem: Problem | Cluster, policy: AnyPolicy) -> bool:
        """Whether the table is of an equal problem and an equal policy."""
        same = self.function is policy or (
            type(self.function) is type(policy) and bool(self.function == policy)
        )
        return same and self.problem.same(problem)


def check_table(name: str, table: Any, problem: Problem | Cluster, policy: AnyPolicy) -> None:
    """Refuse what is neither None nor a table of this problem and policy."""
    if table is not None and not (isinstance(table, Table) and table.is_of(problem, policy)):
        raise ModelError.of(
            name,
            f"must be made for the same problem and the policy {policy_name(policy)}; got {table!r}; leave "
            "it out, or take tabulate(problem, policy, shape)",
        )


def departure_rates(table: Table, mean_sizes: FloatArray, axes: Sequence[int]) -> FloatArray:
    """Rates at which jobs of the classes ``axes`` leave, (n_axes, *counts of these classes in this order).

    Sizes are exponential; the other classes have one state each in the table.
    """
    order = [*axes, *(i for i in range(len(table.shape)) if i not in axes)]
    shape = tuple(table.shape[i] for i in axes)
    rates = np.empty((len(axes), *shape))
    for row, i in enumerate(axes):
        np.multiply(table.tasks[..., i].transpose(order).reshape(shape), 1.0 / mean_sizes[i], out=rates[row])
    return rates


def death_rates(table: Table, mean_sizes: FloatArray, axes: Sequence[int]) -> DeathRates:
    """The same in any states of the counts of these classes, in the table or beyond, the others empty."""
    chosen = list(axes)

    def rates(counts: NDArray[np.int64]) -> FloatArray:
        whole = np.zeros((len(counts), len(table.shape)), dtype=np.int64)
        whole[:, chosen] = counts
        tasks, known = np.empty(whole.shape), (whole < table.shape).all(axis=1)
        tasks[known] = table.tasks[tuple(whole[known].T)]
        tasks[~known] = policy_tasks(table.problem, table.function, whole[~known].astype(float))
        served: FloatArray = tasks[:, chosen] / mean_sizes[chosen]
        return served

    return rates


def tabulate(
    problem: Problem | Cluster,
    policy: AnyPolicy,
    shape: Sequence[int] | int,
    *,
    known: Table | None = None,
    n_jobs: int = 1,
) -> Table:
    """Evaluate a policy in all states ``0 <= x_i < shape[i]``.

    Parameters
    ----------
    problem : Problem or Cluster
    policy : callable
        ``policy(problem, counts) -> tasks``, or ``policy(cluster, counts) -> placement``; called with chunks
        of states, counts of shape (k, n_classes).
    shape : sequence of int or int
        States per class.
    known : Table, optional
        A smaller table of the same problem and policy; its states are copied, not computed.
    n_jobs : int
        Parts of the table computed at the same time (joblib; processes unless ``joblib.parallel_config`` says
        otherwise), -1 for all cores. It pays for policies that take milliseconds for a state, as those of
        users may; the table does not depend on it.

    Returns
    -------
    Table

    Raises
    ------
    ModelError
        If the table does not fit in memory; if the policy is for the other kind of problem; or if it returns
        another shape, values that are negative or not finite, tasks for a class without jobs, or tasks on a
        server where the class cannot run.

    Examples
    --------
    >>> from fairness import DRF, Problem
    >>> table = tabulate(Problem([[1, 4], [3, 1]], [9, 18]), DRF(), (5, 5))
    >>> table, table.tasks[1, 1]
    (Table(DRF on 5 x 5 states), array([3., 2.]))
    """
    sizes = check_shape(shape, problem)
    n_jobs = require_workers(n_jobs)
    name = policy_name(policy)
    check_table("known", known, problem, policy)
    require_memory(
        8.0 * problem.n_classes * count_states(sizes),
        f"the table of {name} on {box_name(sizes)} states",
        "give a smaller shape",
    )
    with memory_guarded(f"the table of {name} on {box_name(sizes)} states", "give a smaller shape"):
        return Table(problem, name, _computed(problem, policy, sizes, known, n_jobs), policy)


def _computed(
    problem: Problem | Cluster,
    policy: AnyPolicy,
    sizes: tuple[int, ...],
    known: Table | None,
    n_jobs: int,
) -> FloatArray:
    """Tasks in all states, read-only; those that are known are copied."""
    n, states = problem.n_classes, math.prod(sizes)
    tasks = np.empty((states, n))
    inner: tuple[int, ...] = (0,) * n
    if known is not None:
        inner = tuple(min(old, new) for old, new in zip(known.shape, sizes, strict=True))
        corner = tuple(slice(k) for k in inner)
        tasks.reshape(*sizes, n)[corner] = known.tasks[corner]

    def counts(place: NDArray[np.intp]) -> FloatArray:
        return np.stack(np.unravel_index(place, sizes), axis=-1).astype(float)

    name, instead = f"{box_name(sizes)} states", "give a smaller shape, or take fewer classes"
    evaluate(problem, policy, tasks, _missing(sizes, inner), counts, name, instead, n_jobs)
    return frozen(tasks.reshape(*sizes, n))


def evaluate(
    problem: Problem | Cluster,
    policy: AnyPolicy,
    tasks: FloatArray,
    missing: range | NDArray[np.intp],
    counts: Callable[[NDArray[np.intp]], FloatArray],
    name: str,
    instead: str,
    n_jobs: int = 1,
) -> None:
    """Fill in the tasks of the states that are missing.

    Parameters
    ----------
    problem, policy
    tasks : ndarray of shape (n_states, n_classes)
    missing : range or ndarray of int
        Their places.
    counts : callable
        Counts of the states at some places, shape (k, n_classes).
    name, instead : str
        The states in words, and what makes them fewer.
    n_jobs : int
        See :func:`tabulate`.
    """
    # A placement has an entry per server.
    most = CHUNK if isinstance(problem, Problem) else max(1, CHUNK // problem.n_servers)
    work = Task(f"the table of {policy_name(policy)} on {name}", len(missing), "states", instead=instead)
    unit = min(FIRST_CHUNK, most) if isinstance(problem, Problem) or isinstance(policy, Followed) else 1
    with work:
        if n_jobs == 1:
            if len(missing) > FIRST_CHUNK and batches(policy) == "compiled":
                # It may be compiled now, which says nothing of the states to come.
                _part(len(missing), problem, policy, counts(_places(missing[:1])))
                work.prepared()
            start, chunk = 0, min(FIRST_CHUNK, most)
            while start < len(missing):
                begin = time.monotonic()
                place = _places(missing[start : start + chunk])
                tasks[place] = _part(len(missing), problem, policy, counts(place))
                work.advance(len(place))
                start += chunk
                # Neither many small calls nor one that lasts for minutes.
                seconds = max(time.monotonic() - begin, 1e-6)
                chunk = unit * int(min(most, max(unit, chunk * min(8.0, CHUNK_SECONDS / seconds))) // unit)
        else:
            import joblib

            # States with many jobs of many classes may take longer: several chunks for each worker.
            share = math.ceil(len(missing) / (8 * joblib.effective_n_jobs(n_jobs)))
            chunk = unit * max(1, math.ceil(min(most, share) / unit))
            chosen = [_places(missing[k : k + chunk]) for k in range(0, len(missing), chunk)]
            calls = ((len(missing), problem, policy, counts(place)) for place in chosen)
            for k, piece in stream(_part, calls, n_jobs):
                tasks[chosen[k]] = piece
                work.advance(len(piece))


def _places(missing: range | NDArray[np.intp]) -> NDArray[np.intp]:
    # An array made of a range would be made number by number.
    return np.arange(missing.start, missing.stop) if isinstance(missing, range) else missing


def _part(states: int, problem: Problem | Cluster, policy: AnyPolicy, counts: FloatArray) -> FloatArray:
    """Tasks in a part of so many states, which is too small to tell what pays."""
    with asked(states):
        return policy_tasks(problem, policy, counts)


def _missing(sizes: tuple[int, ...], inner: tuple[int, ...]) -> range | NDArray[np.intp]:
    """Places that are not in the known corner ``inner``."""
    if not any(inner):
        return range(math.prod(sizes))
    outside = np.ones(sizes, dtype=bool)
    outside[tuple(slice(k) for k in inner)] = False
    return np.flatnonzero(outside)
