r"""Schedulers that users write: an object with a name that chooses, in plain Python, whose task starts.

Whenever a task that some job may start fits, the engine shows the scheduler the state of the system. It names
a job, whose task then starts, and is asked again while another task fits; or None, to wait until the next
event. Everything else (arrivals, numbers of tasks, their durations, the placement rule, what is measured) is
that of the compiled schedulers, with the same random numbers.

Each replication works with a copy of the scheduler of its own, so what a scheduler remembers does not pass
from one to another, and draws from a stream of its own (``state.rng``): results depend on the seed alone.

A scheduler may leave tasks waiting although they fit; one that does so for too long ends in more than
``Tasks.max_jobs`` jobs. A decision takes some fifty microseconds, and more the more jobs wait: hundreds of
times as long as a compiled one.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from fairness.machine.kernels import IntArray
from fairness.model.cluster import Cluster
from fairness.model.problem import FloatArray, Problem

__all__ = ["Answer", "OwnScheduler", "PresentJob", "SystemState"]


class PresentJob(NamedTuple):
    """A job as a scheduler sees it.

    Attributes
    ----------
    number : int
        Place in the order of arrival, from 0.
    job_class : int
        Its class; of a job with several task types, the first of these.
    arrival : float
        Time of its arrival.
    waiting, running : int
        Tasks that have not started, and that run; of all types together.
    task_class : int or None
        Class of the task that it would start now: the first that fits of those that it may start, or the
        first of them if none fits. None if it may start none: no task waits, or it runs as many as its limit.
    fits : bool
        Whether that task fits: on some server, or on its own.
    server : int or None
        The server to which it is bound, if jobs are.
    types : tuple of int
        Classes of its tasks.
    waiting_by_type, running_by_type : tuple of int
        The same numbers of tasks, type by type.
    """

    number: int
    job_class: int
    arrival: float
    waiting: int
    running: int
    task_class: int | None
    fits: bool
    server: int | None
    types: tuple[int, ...]
    waiting_by_type: tuple[int, ...]
    running_by_type: tuple[int, ...]

    @property
    def remaining(self) -> int:
        """Tasks that have not ended."""
        return self.waiting + self.running


class SystemState(Protocol):
    """What a scheduler sees of the system when it decides; valid until it has answered.

    Arrays cannot be written. Jobs come in the order of their arrival.
    """

    @property
    def time(self) -> float:
        """Now; the run began at 0."""
        ...

    @property
    def problem(self) -> Problem | Cluster:
        """The pool or the cluster."""
        ...

    @property
    def rng(self) -> np.random.Generator:
        """The random numbers of this replication, for a scheduler that draws."""
        ...

    @property
    def counts(self) -> IntArray:
        """Jobs present, (n_classes,)."""
        ...

    @property
    def running(self) -> IntArray:
        """Running tasks, (n_classes,)."""
        ...

    @property
    def waiting(self) -> IntArray:
        """Tasks that have not started, (n_classes,)."""
        ...

    @property
    def placement(self) -> IntArray:
        """Running tasks on servers, (n_classes, n_servers); a pool is one server."""
        ...

    @property
    def free(self) -> FloatArray:
        """Units not in use; of the shape of the capacities."""
        ...

    @property
    def server(self) -> int | None:
        """The server that is to be filled, if jobs are bound to servers."""
        ...

    @property
    def jobs(self) -> tuple[PresentJob, ...]:
        """All jobs present."""
        ...

    @property
    def candidates(self) -> tuple[PresentJob, ...]:
        """Jobs that may start a task, whether it fits or not; if jobs are bound, those of ``server``."""
        ...

    @property
    def fitting(self) -> tuple[PresentJob, ...]:
        """Candidates whose task fits: one of them may be chosen. Never empty."""
        ...

    def servers_of(self, job: PresentJob) -> tuple[int, ...]:
        """Servers on which a task that the job may start fits."""
        ...


Answer = PresentJob | tuple[PresentJob, int] | None
"""A job, a job and a server for its task, or None to wait."""


@runtime_checkable
class OwnScheduler(Protocol):
    """A scheduler of whole tasks written in Python.

    Examples
    --------
    The job with the fewest tasks left first: it leaves soonest.

    >>> from fairness import Problem
    >>> from queueing import System, Tasks, task_trace
    >>> class ShortestRemaining:
    ...     name = "shortest remaining"
    ...
    ...     def choose(self, state):
    ...         return min(state.fitting, key=lambda job: job.remaining)
    >>> system = System(Problem([[1]], [2]), arrival_rates=[1.0])
    >>> task_trace(system, ShortestRemaining(), 10.0, tasks=Tasks(per_job=2), rng=1)
    TaskTrace(shortest remaining; 7 jobs, 12 tasks in 10 units of time)
    """

    @property
    def name(self) -> str:
        """Name for tables and legends."""
        ...

    def choose(self, state: SystemState) -> Answer:
        """The job of ``state.fitting`` whose task starts now, or None to wait until the next event.

        On a cluster, ``(job, server)`` starts it on this server; otherwise the placement rule says where.
        """
        ...
