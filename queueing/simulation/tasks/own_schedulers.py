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

The kernel stops where a task could start; its driver shows the scheduler a view of the kernel's arrays, reads
the answer and lets the kernel go on. A wrong answer ends the run, with the scheduler, the time and the state.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import cached_property
from numbers import Integral
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from fairness.arguments.validation import IntArray, frozen, spawned
from fairness.errors import ModelError
from fairness.machine.work import OutOfTime
from fairness.model.cluster import Cluster
from fairness.model.problem import FloatArray, Problem
from queueing.simulation.tasks import state as at
from queueing.simulation.tasks.state import NOBODY, Model, Places, State

__all__ = ["Decider", "OwnScheduler", "PresentJob", "SystemState"]


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


class SystemState:
    """What a scheduler sees of the system when it decides: the kernel's arrays, classes in their own order.

    It is valid until the scheduler has answered. Arrays cannot be written. Jobs come in the order of their
    arrival.

    Attributes
    ----------
    problem : Problem or Cluster
    rng : numpy Generator
        The random numbers of this replication, for a scheduler that draws.
    time : float
        Now; the run began at 0.
    server : int or None
        The server that is to be filled, if jobs are bound to servers.
    """

    def __init__(self, decider: Decider, model: Model, state: State, places: Places) -> None:
        self._rows, self._model, self._state, self._places = decider.rows, model, state, places
        self.problem, self.rng, self.time = decider.problem, decider.rng, float(state.clock[0])
        self.server = int(state.counters[at.TOUCHED]) if model.place.bound else None

    def _by_class(self, values: IntArray) -> IntArray:
        own = np.empty_like(values)
        own[self._rows] = values
        return frozen(own)

    @cached_property
    def counts(self) -> IntArray:
        """Jobs present, (n_classes,)."""
        return self._by_class(self._state.present)

    @cached_property
    def running(self) -> IntArray:
        """Running tasks, (n_classes,)."""
        return self._by_class(self._state.running)

    @cached_property
    def placement(self) -> IntArray:
        """Running tasks on servers, (n_classes, n_servers); a pool is one server."""
        return self._by_class(self._state.on.T)

    @cached_property
    def waiting(self) -> IntArray:
        """Tasks that have not started, (n_classes,)."""
        waiting = np.zeros(self.problem.n_classes, np.int64)
        for job in self.jobs:
            for t, number in zip(job.types, job.waiting_by_type, strict=True):
                waiting[t] += number
        return frozen(waiting)

    @cached_property
    def free(self) -> FloatArray:
        """Units not in use; of the shape of the capacities."""
        free: FloatArray = self._model.capacities - self._state.used
        return frozen(free.reshape(self.problem.capacities.shape))

    @cached_property
    def jobs(self) -> tuple[PresentJob, ...]:
        """All jobs present."""
        table = self._table
        return self._shown(np.flatnonzero(table[:, at.WAITING] + table[:, at.RUNNING]))

    @cached_property
    def candidates(self) -> tuple[PresentJob, ...]:
        """Jobs that may start a task, whether it fits or not; if jobs are bound, those of ``server``."""
        return self._shown(self._candidates)

    @cached_property
    def fitting(self) -> tuple[PresentJob, ...]:
        """Candidates whose task fits: one of them may be chosen. Never empty."""
        return tuple(job for job in self.candidates if job.fits)

    def servers_of(self, job: PresentJob) -> tuple[int, ...]:
        """Servers on which a task that the job may start fits."""
        row = self.row(job)
        if row == NOBODY:
            return ()
        i, mask = self._table[row, at.CLASS], self._table[row, at.MASK]
        first = self._model.first_type[i]
        types = _types_of(first, self._model.first_type[i + 1], mask)
        servers = np.flatnonzero(self._state.fits[:, types].any(axis=1)).tolist()
        return tuple(server for server in servers if self.server in (None, server))

    def row(self, job: PresentJob) -> int:
        """Row of a candidate, or NOBODY."""
        found = self._candidates[self._table[self._candidates, at.AGE] == job.number]
        return int(found[0]) if len(found) else NOBODY

    def type_of(self, row: int, server: int) -> int:
        """First type of a candidate that fits: there, or anywhere if the server is NOBODY."""
        i = self._table[row, at.CLASS]
        fits = self._fits if server == NOBODY else self._state.fits[server]
        first, last = self._model.first_type[i : i + 2].tolist()
        return _next_type(first, last, int(self._table[row, at.MASK]), fits)[0]

    @property
    def _table(self) -> IntArray:
        """Rows of jobs that are, or were, in use."""
        return self._state.jobs[: self._state.counters[at.FRESH_ROW]]

    @cached_property
    def _candidates(self) -> IntArray:
        may = self._table[:, at.MASK] != 0
        if self.server is not None:
            may &= self._table[:, at.SERVER] == self.server
        return np.flatnonzero(may)

    @cached_property
    def _fits(self) -> NDArray[np.bool_]:
        """Whether a task of each type fits: on the server that is filled, or on some server."""
        if self.server is not None:
            return self._state.fits[self.server]
        return self._places.servers.astype(bool)

    def _shown(self, rows: IntArray) -> tuple[PresentJob, ...]:
        """Jobs of some rows, by arrival."""
        model, bound = self._model, self._model.place.bound
        rows = rows[np.argsort(self._table[rows, at.AGE])]
        classes, first_type, fits = self._rows.tolist(), model.first_type.tolist(), self._fits.tolist()
        if bound:
            fits_there = self._state.fits.tolist()
        told = []
        parts, arrivals = self._places.parts[rows].tolist(), self._state.arrivals[rows].tolist()
        for line, part, arrival in zip(self._table[rows].tolist(), parts, arrivals, strict=True):
            i, mask = line[at.CLASS], line[at.MASK]
            first, last = first_type[i], first_type[i + 1]
            server = line[at.SERVER] if bound else None
            task_class, fitting = None, False
            if mask:
                t, fitting = _next_type(first, last, mask, fits_there[server] if bound else fits)
                task_class = classes[t]
            told.append(
                PresentJob(
                    number=line[at.AGE],
                    job_class=classes[first],
                    arrival=arrival,
                    waiting=line[at.WAITING],
                    running=line[at.RUNNING],
                    task_class=task_class,
                    fits=fitting,
                    server=server,
                    types=tuple(classes[first:last]),
                    waiting_by_type=tuple([number[at.PART_WAITING] for number in part[: last - first]]),
                    running_by_type=tuple([number[at.PART_RUNNING] for number in part[: last - first]]),
                )
            )
        return tuple(told)


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


class Decider:
    """An own scheduler as one run asks it: a copy of it, with random numbers of its own.

    Parameters
    ----------
    problem : Problem or Cluster
    scheduler : OwnScheduler
    rows : ndarray of shape (n_classes,)
        Class of each task type, in the order of the kernel.
    generator : numpy Generator
        That of the run.

    Attributes
    ----------
    made : int
        Decisions so far.
    """

    def __init__(
        self,
        problem: Problem | Cluster,
        scheduler: OwnScheduler,
        rows: IntArray,
        generator: np.random.Generator,
    ) -> None:
        self.problem, self.rows, self.name, self.made = problem, rows, str(scheduler.name), 0
        try:
            self.scheduler = copy.deepcopy(scheduler)
        except Exception as error:
            raise ModelError(
                f"scheduler {self.name!r} cannot be copied, but every replication needs one of its own "
                f"({type(error).__name__}: {error}); define __deepcopy__ for it"
            ) from error
        self.rng = spawned(generator, 1)[0]

    def decide(self, model: Model, state: State, places: Places) -> None:
        """Ask whose task starts, and write the answer where the kernel reads it."""
        moment = SystemState(self, model, state, places)
        if moment.server is not None and not moment.fitting:
            # The kernel knows that some job wants what is free there, but not where that job is bound.
            state.counters[at.WAITS] = 1
            return
        self.made += 1
        try:
            answer = self.scheduler.choose(moment)
        except OutOfTime:
            raise
        except Exception as error:
            raise ModelError(
                f"{self._told(moment)} failed with {type(error).__name__}: {error}; mend its choose"
            ) from error
        counters = state.counters
        if answer is None:
            counters[at.WAITS] = 1
            return
        job: Any = answer
        server: Any = None
        if type(answer) is tuple and len(answer) == 2:
            job, server = answer
        if not isinstance(job, PresentJob):
            raise ModelError(
                f"{self._told(moment)} answered {answer!r}; give a job of state.fitting, a pair of such a "
                "job and a server, or None to wait"
            )
        row = moment.row(job)
        if row == NOBODY:
            raise ModelError(
                f"{self._told(moment)} chose job {job.number} of class {self._class(job)}, which has no task "
                "that it may start; give a job of state.fitting, or None to wait"
            )
        servers = moment.servers_of(job)
        if not servers:
            raise ModelError(
                f"{self._told(moment)} chose job {job.number} of class {self._class(job)}, whose task does "
                "not fit; give a job of state.fitting, or None to wait"
            )
        if server is not None and not (isinstance(server, Integral) and server in servers):
            raise ModelError(
                f"{self._told(moment)} chose server {server!r} for job {job.number} of class "
                f"{self._class(job)}, whose task fits on {list(servers)}; give one of state.servers_of(job)"
            )
        counters[at.CHOSEN] = row
        counters[at.CHOSEN_SERVER] = NOBODY if server is None else int(server)
        counters[at.CHOSEN_TYPE] = moment.type_of(row, counters[at.CHOSEN_SERVER])

    def _class(self, job: PresentJob) -> str:
        return repr(self.problem.job_classes[job.job_class])

    def _told(self, moment: SystemState) -> str:
        """The scheduler, the time and the state."""
        problem = self.problem
        present = ", ".join(f"{n!r} {x}" for n, x in zip(problem.job_classes, moment.counts, strict=True))
        free = np.array2string(moment.free, precision=4, separator=", ", threshold=20).replace("\n", "")
        return f"scheduler {self.name!r} at time {moment.time:.6g} (present: {present}; free: {free})"


def _types_of(first: int, last: int, mask: int) -> list[int]:
    """Types of a mask."""
    return [t for t in range(first, last) if mask >> (t - first) & 1]


def _next_type(
    first: int, last: int, mask: int, fits: Sequence[bool] | NDArray[np.bool_]
) -> tuple[int, bool]:
    """Type of the task that a candidate would start, and whether it fits."""
    types = _types_of(first, last, mask)
    for t in types:
        if fits[t]:
            return t, True
    return types[0], False
