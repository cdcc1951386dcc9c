r"""State of a run of whole tasks, as arrays that the kernel reads, and its servers: what is in use there.

A pool is one server, whose jobs have one type of task each. There jobs of one class differ in age and in the
number of tasks that they run only, and the scheduler compares *levels*
(:mod:`queueing.simulation.tasks.choice`). On several servers, or where jobs have tasks of several types, it
compares jobs, and more is kept of each: :class:`Places`. What every run has is in :class:`State`.

Functions of the engine get ``places``, or None on a pool by levels. numba knows None as a type of its own and
compiles only what a run of this kind needs: one source, two kernels, and a pool does not pay for servers.

Time is called *fragmented* while some job could start a task if free capacity were not spread over servers:
for a type t that a job may start, :math:`\sum_i f_{ir}/h_{tir} \ge 1` for every resource, over the servers
where t may run.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairness.arguments.validation import IntArray
from fairness.model.problem import FloatArray
from queueing.simulation.kernels import part
from queueing.simulation.tasks.placement import (
    BOUND_RANDOM,
    BOUND_ROUND_ROBIN,
    SAME_ROOM,
    PlacementRule,
    server_choice,
)
from queueing.simulation.tasks.workload import TaskNumbers, uniform

__all__ = [
    "Log",
    "Model",
    "Places",
    "State",
    "bind",
    "count_waits",
    "dequeue",
    "enqueue",
    "new_places",
    "new_state",
    "occupy",
    "place",
]

# Columns of State.jobs, one row per job present; the last three with places only: the set of types that the
# job may start, its server (0 if not bound), its place among the active candidates.
CLASS, RUNNING, WAITING, AGE, NEXT_TASK, OLDER, YOUNGER, MASK, SERVER, PLACE = range(10)
# Columns of State.groups: the queue's ends and length, and (levels) the jobs present whether queued or not.
OLDEST, YOUNGEST, QUEUED, PRESENT = range(4)
# Entries of State.counters: of all runs, the last the row of the jobs present in the lookup of a target; with
# places: candidates that run tasks, draws of the placement rule, the server of the last event; of a scheduler
# in Python: what it has chosen (the type is ASK if nothing), and whether it waits.
JOBS, ARRIVED, TASKS_ARRIVED, TASKS_STARTED, FREE_ROW, FRESH_ROW, HEAP, DECIDE, DRAWS, PATH, HERE = range(11)
ACTIVE, PLACE_DRAWS, TOUCHED, CHOSEN, CHOSEN_TYPE, CHOSEN_SERVER, WAITS = range(11, 18)
# Last axis of Places.parts.
PART_WAITING, PART_RUNNING, PART_NEXT = range(3)
# Columns of State.contenders: the row of a job, and the jobs for which it stands.
CONTENDER, EQUALS = range(2)
# Entries of Places.lost.
FRAGMENTED, WAITED = range(2)
# Entries of Model.seeds: of all runs, then of the placement rule and of the numbers of further types.
ARRIVALS, DURATIONS, TIE_BREAKS, PLACES, TYPES = range(5)
# Columns of Log.tasks and Log.jobs; Log.path has time, jobs per class, running tasks per class.
TASK_JOB, TASK_CLASS, TASK_START, TASK_END, TASK_SERVER = range(5)
JOB_CLASS, JOB_TASKS, JOB_ARRIVAL, JOB_DEPARTURE, JOB_SERVER = range(5)

NOBODY, ASK = -1, -2
NOT_DRAWN = -1.0


class Model(NamedTuple):
    """The system in the form the kernel reads; J jobs, n types (by levels J), S servers, m resources."""

    held: FloatArray  # (S, n, m) units that a task holds
    capacities: FloatArray  # (S, m)
    room: FloatArray  # (S, m) capacities with a margin for rounding
    eligible: NDArray[np.bool_]  # (S, n)
    allowed: NDArray[np.bool_]  # (J, S) servers to which a job may be bound
    shares: FloatArray  # (n, V, m) weighted share of one task, of server v if jobs are bound, else V = 1
    arrival_shares: FloatArray  # (J,) cumulative probabilities of the class of an arrival
    arrival_rate: float  # all classes
    task_means: FloatArray  # (n,) mean task durations
    exponential: bool  # durations exponential, else deterministic
    limits: IntArray  # (n,) most running tasks of one job, in whole tasks
    first_type: IntArray  # (J + 1,) the types of job i are first_type[i] to first_type[i + 1] - 1
    first_group: IntArray  # (J + 1,) the queues of job i: one per level, or one per (server if bound, mask)
    start: int  # LISTED, ANY or STAGES
    law: TaskNumbers
    place: PlacementRule
    seeds: NDArray[np.uint64]


class State(NamedTuple):
    """All that changes while a run goes on; the kernel stops and resumes without loss."""

    clock: FloatArray  # (2,) now, next arrival
    counters: IntArray
    jobs: IntArray  # (max_jobs, 7 or 10)
    arrivals: FloatArray  # (max_jobs,) arrival time per row of jobs
    groups: IntArray  # (n_groups, 4)
    present: IntArray  # (n,) jobs of which the type is a part
    running: IntArray  # (n,) tasks
    queued: IntArray  # (J,) jobs in queues
    top: IntArray  # (J,) a level above which no job of the class is
    on: IntArray  # (S, n) running tasks, with places only
    used: FloatArray  # (S, m) units in use
    fits: NDArray[np.bool_]  # (S, n) whether one more task does
    score: FloatArray  # scratch: of the groups, or of the contenders
    contenders: IntArray  # (len(score), 2) scratch: jobs that are compared
    heap_times: FloatArray  # (most running tasks,) ends of the running tasks, a binary heap
    heap_turns: IntArray  # (most running tasks,) their places in the order of start
    heap_codes: IntArray  # (most running tasks,) the row of the job, with type and server


class Places(NamedTuple):
    """What else is kept where jobs have several types of tasks, or run on servers."""

    parts: IntArray  # (max_jobs, most types of a job, 3)
    share: FloatArray  # (max_jobs,) weighted dominant share
    wanted: IntArray  # (n,) candidates that may start the type
    active: IntArray  # rows of the candidates that run tasks
    since: FloatArray  # (n, S) time up to which the tasks there are counted
    servers: IntArray  # (n,) number of servers where the type fits
    turn: IntArray  # (J,) last server of round robin
    bound: IntArray  # (S,) jobs bound
    level: IntArray  # (J,) scratch: fewest running tasks of a candidate
    ratio: FloatArray  # (J,) scratch: running tasks over target
    fitting: IntArray  # (S,) scratch: servers where a task fits
    placed: FloatArray  # (n, S) time integrals of the tasks
    lost: FloatArray  # (2,) time fragmented, and time with a job waiting


class Log(NamedTuple):
    """What a recorded run writes down; one row per task, job and event."""

    on: bool
    tasks: FloatArray  # (rows, 5)
    jobs: FloatArray  # (rows, 5)
    path: FloatArray  # (rows, 1 + 2 n)


def new_state(model: Model, max_jobs: int, most_running: int, by_level: bool) -> State:
    """Empty system at time 0, before its first arrival is drawn."""
    n = model.held.shape[1]
    n_jobs, n_groups = len(model.first_type) - 1, model.first_group[-1]
    counters = np.zeros(18, np.int64)
    counters[FREE_ROW] = NOBODY
    counters[CHOSEN_TYPE] = ASK
    groups = np.zeros((n_groups, 4), np.int64)
    groups[:, :2] = NOBODY
    contenders = n_groups if by_level else most_running + n_groups
    return State(
        clock=np.array([0.0, NOT_DRAWN]),
        counters=counters,
        jobs=np.empty((max_jobs, 7 if by_level else 10), np.int64),
        arrivals=np.empty(max_jobs),
        groups=groups,
        present=np.zeros(n, np.int64),
        running=np.zeros(n, np.int64),
        queued=np.zeros(n_jobs, np.int64),
        top=np.zeros(n_jobs, np.int64),
        on=np.zeros(model.eligible.shape, np.int64),
        used=np.zeros_like(model.capacities),
        fits=model.eligible & (model.held <= model.room[:, None]).all(axis=2),
        score=np.zeros(contenders),
        contenders=np.empty((contenders, 2), np.int64),
        heap_times=np.empty(most_running),
        heap_turns=np.empty(most_running, np.int64),
        heap_codes=np.empty(most_running, np.int64),
    )


def new_places(model: Model, state: State) -> Places:
    """What else an empty system keeps."""
    servers, n = model.eligible.shape
    n_jobs, max_jobs = len(state.queued), len(state.jobs)
    return Places(
        parts=np.zeros((max_jobs, int(np.diff(model.first_type).max()), 3), np.int64),
        share=np.zeros(max_jobs),
        wanted=np.zeros(n, np.int64),
        active=np.empty(len(state.heap_times), np.int64),
        since=np.zeros((n, servers)),
        servers=state.fits.sum(axis=0),
        turn=np.full(n_jobs, -1, np.int64),
        bound=np.zeros(servers, np.int64),
        level=np.zeros(n_jobs, np.int64),
        ratio=np.zeros(n_jobs),
        fitting=np.zeros(servers, np.int64),
        placed=np.zeros((n, servers)),
        lost=np.zeros(2),
    )


@part
def enqueue(state: State, group: int, row: int, newest: bool) -> None:
    """Insert a job in the queue of a group, by age; ``newest`` jobs go to the end without a search."""
    jobs, ends = state.jobs, state.groups[group]
    older = ends[YOUNGEST]
    if not newest and older != NOBODY and jobs[older, AGE] > jobs[row, AGE]:
        older = NOBODY
        younger = ends[OLDEST]
        while jobs[younger, AGE] < jobs[row, AGE]:
            older = younger
            younger = jobs[younger, YOUNGER]
    younger = ends[OLDEST] if older == NOBODY else jobs[older, YOUNGER]
    jobs[row, OLDER] = older
    jobs[row, YOUNGER] = younger
    if older == NOBODY:
        ends[OLDEST] = row
    else:
        jobs[older, YOUNGER] = row
    if younger == NOBODY:
        ends[YOUNGEST] = row
    else:
        jobs[younger, OLDER] = row
    ends[QUEUED] += 1
    state.queued[jobs[row, CLASS]] += 1


@part
def dequeue(state: State, group: int, row: int) -> None:
    """Take a job out of the queue of its group."""
    jobs, ends = state.jobs, state.groups[group]
    older, younger = jobs[row, OLDER], jobs[row, YOUNGER]
    if older == NOBODY:
        ends[OLDEST] = younger
    else:
        jobs[older, YOUNGER] = younger
    if younger == NOBODY:
        ends[YOUNGEST] = older
    else:
        jobs[younger, OLDER] = older
    ends[QUEUED] -= 1
    state.queued[jobs[row, CLASS]] -= 1


@part
def occupy(model: Model, state: State, places: Places | None, t: int, server: int, step: int) -> None:
    """One task more (+1) or less (-1) on a server: units in use, and what fits there."""
    _, n, m = model.held.shape
    state.running[t] += step
    if places is not None:
        state.on[server, t] += step
    for r in range(m):
        # Afresh from the whole numbers of tasks, so that no rounding accumulates.
        used = 0.0
        for k in range(n):
            tasks = state.running[k] if places is None else state.on[server, k]
            used += tasks * model.held[server, k, r]
        state.used[server, r] = used
    for k in range(n):
        fits = True
        if places is not None:
            fits = model.eligible[server, k]
        for r in range(m):
            held = model.held[server, k, r]
            if held > 0 and state.used[server, r] + held > model.room[server, r]:
                fits = False
        if places is not None:
            places.servers[k] += int(fits) - int(state.fits[server, k])
        state.fits[server, k] = fits


@part
def _fits(model: Model, state: State, t: int, server: int) -> bool:
    """Whether a task of type t fits on a server."""
    return bool(state.fits[server, t])


@part
def _held(model: Model, state: State, t: int, server: int, r: int) -> float:
    """Units of a resource of a server that a task of type t holds there."""
    return float(model.held[server, t, r])


@part
def _room(model: Model, state: State, t: int, server: int) -> float:
    """Mean share of the resources of a server that is free once the task runs there."""
    room = 0.0
    owned = 0
    for r in range(model.held.shape[2]):
        capacity = model.capacities[server, r]
        if capacity > 0:
            room += (capacity - state.used[server, r] - model.held[server, t, r]) / capacity
            owned += 1
    return room / owned


@part
def _draw(model: Model, state: State, number: int) -> int:
    """A uniform number of 0, ..., number - 1."""
    drawn = int(uniform(model.seeds[PLACES], state.counters[PLACE_DRAWS]) * number)
    state.counters[PLACE_DRAWS] += 1
    return drawn


_choice = server_choice(_fits, _held, _room, _draw)


@part
def place(model: Model, state: State, places: Places, t: int) -> int:
    """Server for a task of type t, among those where it fits."""
    kind, choices = model.place.kind, model.place.choices
    return _choice(model, state, kind, choices, t, 0, len(state.on), places.fitting)


@part
def bind(model: Model, state: State, places: Places, i: int) -> int:
    """Server to which an arriving job is bound."""
    allowed = model.allowed[i]
    servers = len(allowed)
    number = 0
    for server in range(servers):
        number += allowed[server]
    kind, choices = model.place.kind, model.place.choices
    best = NOBODY
    if kind == BOUND_RANDOM:
        best = _nth(allowed, _draw(model, state, number))
    elif kind == BOUND_ROUND_ROBIN:
        best = (places.turn[i] + 1) % servers
        while not allowed[best]:
            best = (best + 1) % servers
        places.turn[i] = best
    elif choices > 0:
        for _ in range(choices):
            server = _nth(allowed, _draw(model, state, number))
            fewer = best == NOBODY or places.bound[server] < places.bound[best]
            if fewer or (places.bound[server] == places.bound[best] and server < best):
                best = server
    else:
        for server in range(servers):
            if allowed[server] and (best == NOBODY or places.bound[server] < places.bound[best]):
                best = server
    places.bound[best] += 1
    return best


@part
def _nth(where: np.ndarray, number: int) -> int:
    """The place of true number ``number``, counted from 0."""
    for server in range(len(where)):
        if where[server]:
            if number == 0:
                return server
            number -= 1
    return NOBODY


@part
def count_waits(model: Model, state: State, places: Places, elapsed: float) -> None:
    """Time with a candidate, and time with one whose task the free amounts together would hold."""
    servers, n, m = model.held.shape
    waits = False
    for t in range(n):
        if places.wanted[t] > 0:
            waits = True
            together = True
            for r in range(m):
                tasks = 0.0
                demanded = False
                for server in range(servers):
                    if model.held[server, t, r] > 0:
                        demanded = True
                        free = model.capacities[server, r] - state.used[server, r]
                        tasks += free / model.held[server, t, r]
                if demanded and tasks < 1.0 - SAME_ROOM:
                    together = False
                    break
            if together:
                places.lost[FRAGMENTED] += elapsed
                break
    if waits:
        places.lost[WAITED] += elapsed
