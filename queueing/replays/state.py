r"""State of a replay as the kernel reads it, and its waiting tasks: which are blocked, whose turn it is.

Waiting tasks stand in one queue per *pair* of a user and a type, by arrival. Of each type those pairs are
listed that have a waiting task; of each user those of them that the scheduler may choose, that is all under
blocking and else those whose type is not blocked. Tasks that run on a node are chained in the order of their
start, so that what is in use there is always the sum over this chain: no rounding accumulates.

A type is *blocked* when a search has found no node for it. It stays so until a node on which it may run has
room for it again, so that a search in vain is never made twice; and if that is the only node on which
anything has ended at this instant, only this node is searched.

Everything here follows from what has been started so far, but for the amounts that users hold and the place
in the random numbers; so a checkpoint keeps those and the starts (:mod:`queueing.replays.running`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairness.arguments.validation import FloatArray, IntArray
from queueing.simulation.kernels import part
from queueing.simulation.tasks.workload import uniform

__all__ = [
    "Given",
    "Indices",
    "State",
    "arrive",
    "block",
    "choose",
    "new_state",
    "rescore",
    "start_waiting",
    "unblock",
]

Indices = NDArray[np.int32]

NOBODY = -1

# Entries of State.counters: the next arrival, tasks started and ended, running ones, users among whom the
# scheduler chooses, blocked types, whether a decision is due, whether the set of present users has changed
# since the policy was asked, random numbers taken, and the number of this instant.
NEXT, STARTED, ENDED, RUNNING, CANDIDATES, BLOCKED, DECIDE, STALE, DRAWN, INSTANT = range(10)
N_COUNTERS = 10


class Given(NamedTuple):
    """What does not change; K tasks, T types, U users, P pairs, S nodes of some kinds, m resources."""

    arrivals: FloatArray  # (K,)
    durations: FloatArray  # (K,)
    type_of: Indices  # (K,)
    pair_of: Indices  # (K,)
    pair_user: IntArray  # (P,)
    pair_type: IntArray  # (P,)
    user_first: IntArray  # (U + 1,) where the pairs of a user begin
    type_first: IntArray  # (T + 1,) where the pairs of a type begin
    demands: FloatArray  # (T, m)
    capacities: FloatArray  # (S, m)
    room: FloatArray  # (S, m) capacities with a margin for rounding
    kind_of: Indices  # (S,)
    allowed: NDArray[np.bool_]  # (T, kinds) where a task of the type may run, and fits alone
    cost: FloatArray  # (T, kinds) what a task takes from the mean free share of a node
    n_devices: IntArray  # (S,)
    device: int  # the resource that is counted in devices, or NOBODY
    place: int
    choices: int
    blocking: bool
    random_ties: bool
    follows: bool  # scores come from a policy
    tolerance: float  # scores closer than this part are equal
    seed: np.uint64  # of the random numbers, which are taken by their position


class State(NamedTuple):
    """All that changes while a replay goes on; the kernel stops and resumes without loss."""

    clock: FloatArray  # (1,)
    counters: IntArray
    used: FloatArray  # (S, m)
    free_share: FloatArray  # (S,) mean over the resources that the node has
    device_used: FloatArray  # (S, most devices of a node)
    empty: IntArray  # (S,) devices that nobody uses
    widest: FloatArray  # (S,) largest part of one device that is free
    oldest: Indices  # (S,) the chain of running tasks, by start
    newest: Indices  # (S,)
    older: Indices  # (K,)
    newer: Indices  # (K,)
    held: FloatArray  # (U, m) units
    scale: FloatArray  # (U, m) score of a unit
    base: FloatArray  # (U,) score of a user without tasks
    score: FloatArray  # (U,)
    runs: IntArray  # (U,) running tasks
    waits: IntArray  # (U,) waiting tasks
    candidates: IntArray  # (U,) users, first the counters[CANDIDATES] who offer a pair
    candidate_at: IntArray  # (U,)
    head: Indices  # (P,) the queue of a pair
    tail: Indices  # (P,)
    behind: Indices  # (K,)
    user_pairs: IntArray  # (P,) pairs user by user, first those that the scheduler may choose
    user_at: IntArray  # (P,)
    user_offers: IntArray  # (U,) how many of them it may
    type_pairs: IntArray  # (P,) pairs type by type, first those with waiting tasks
    type_at: IntArray  # (P,)
    type_waits: IntArray  # (T,) how many of them have
    is_blocked: NDArray[np.bool_]  # (T,)
    only: IntArray  # (T,) the only node that may have room for the type, if
    since: IntArray  # (T,) this is the instant at which it is blocked no longer
    blocked: IntArray  # (T,) the first counters[BLOCKED]
    fitting: IntArray  # (S,) scratch: nodes where a task fits
    heap_times: FloatArray  # (K,) ends of running tasks, a binary heap
    heap_turns: Indices  # (K,) their places in the order of start
    order: Indices  # (K,) tasks by start
    starts: FloatArray  # (K,)
    node_of: Indices  # (K,)
    devices_of: IntArray  # (K,) bit d for device d; one entry where there are no devices


def new_state(given: Given) -> State:
    """An empty cluster before the first arrival."""
    tasks, (n_types, m), nodes = len(given.arrivals), given.demands.shape, len(given.capacities)
    pairs, users = len(given.pair_user), len(given.user_first) - 1
    by_user, by_type = np.argsort(given.pair_user, kind="stable"), np.argsort(given.pair_type, kind="stable")
    own = given.n_devices
    return State(
        clock=np.full(1, given.arrivals[0]),
        counters=np.zeros(N_COUNTERS, np.int64),
        used=np.zeros((nodes, m)),
        free_share=np.where((given.capacities > 0).any(axis=1), 1.0, 0.0),
        device_used=np.zeros((nodes, max(1, int(own.max(initial=0))))),
        empty=own.copy(),
        widest=np.where(own > 0, 1.0, 0.0),
        oldest=np.full(nodes, NOBODY, np.int32),
        newest=np.full(nodes, NOBODY, np.int32),
        older=np.empty(tasks, np.int32),
        newer=np.empty(tasks, np.int32),
        held=np.zeros((users, m)),
        scale=np.zeros((users, m)),
        base=np.zeros(users),
        score=np.zeros(users),
        runs=np.zeros(users, np.int64),
        waits=np.zeros(users, np.int64),
        candidates=np.arange(users),
        candidate_at=np.arange(users),
        head=np.full(pairs, NOBODY, np.int32),
        tail=np.full(pairs, NOBODY, np.int32),
        behind=np.empty(tasks, np.int32),
        user_pairs=by_user,
        user_at=np.argsort(by_user, kind="stable"),
        user_offers=np.zeros(users, np.int64),
        type_pairs=by_type,
        type_at=np.argsort(by_type, kind="stable"),
        type_waits=np.zeros(n_types, np.int64),
        is_blocked=np.zeros(n_types, np.bool_),
        only=np.zeros(n_types, np.int64),
        since=np.full(n_types, -1),
        blocked=np.zeros(n_types, np.int64),
        fitting=np.zeros(nodes, np.int64),
        heap_times=np.empty(tasks),
        heap_turns=np.empty(tasks, np.int32),
        order=np.empty(tasks, np.int32),
        starts=np.full(tasks, np.nan),
        node_of=np.full(tasks, NOBODY, np.int32),
        devices_of=np.zeros(tasks if given.device != NOBODY else 1, np.int64),
    )


@part
def _list_member(members: np.ndarray, at: np.ndarray, first: int, count: int, member: int, step: int) -> None:
    """Move a pair, or a user, to the ``count`` listed ones from ``first`` on (step 1), or from them (-1)."""
    target = first + count if step > 0 else first + count - 1
    other, place = members[target], at[member]
    members[target] = member
    members[place] = other
    at[member] = target
    at[other] = place


@part
def _offer(given: Given, state: State, pair: int, step: int) -> None:
    """The scheduler may choose the pair (1), or no longer (-1)."""
    user = given.pair_user[pair]
    first, count = given.user_first[user], state.user_offers[user]
    _list_member(state.user_pairs, state.user_at, first, count, pair, step)
    state.user_offers[user] += step
    if count == (0 if step > 0 else 1):
        _list_member(state.candidates, state.candidate_at, 0, state.counters[CANDIDATES], user, step)
        state.counters[CANDIDATES] += step


@part
def _list(given: Given, state: State, pair: int, step: int) -> None:
    """A pair gets its first waiting task (1) or loses its last (-1)."""
    t = given.pair_type[pair]
    first, count = given.type_first[t], state.type_waits[t]
    _list_member(state.type_pairs, state.type_at, first, count, pair, step)
    state.type_waits[t] += step
    if given.blocking or not state.is_blocked[t]:
        _offer(given, state, pair, step)


@part
def arrive(given: Given, state: State, task: int) -> None:
    """A task joins the queue of its pair."""
    pair = given.pair_of[task]
    user = given.pair_user[pair]
    state.behind[task] = NOBODY
    if state.head[pair] == NOBODY:
        state.head[pair] = task
        _list(given, state, pair, 1)
    else:
        state.behind[state.tail[pair]] = task
    state.tail[pair] = task
    state.waits[user] += 1


@part
def start_waiting(given: Given, state: State, pair: int) -> int:
    """Take the oldest task out of the queue of a pair."""
    task, user = state.head[pair], given.pair_user[pair]
    state.head[pair] = state.behind[task]
    if state.head[pair] == NOBODY:
        _list(given, state, pair, -1)
    state.waits[user] -= 1
    return int(task)


@part
def block(given: Given, state: State, t: int) -> None:
    """No node has room for the type."""
    state.is_blocked[t] = True
    state.blocked[state.counters[BLOCKED]] = t
    state.counters[BLOCKED] += 1
    if not given.blocking:
        for k in range(given.type_first[t], given.type_first[t] + state.type_waits[t]):
            _offer(given, state, state.type_pairs[k], -1)


@part
def unblock(given: Given, state: State, place: int, node: int) -> None:
    """A node has room for the type at this place of the blocked ones."""
    t = state.blocked[place]
    state.only[t] = node
    state.since[t] = state.counters[INSTANT]
    state.is_blocked[t] = False
    state.counters[BLOCKED] -= 1
    state.blocked[place] = state.blocked[state.counters[BLOCKED]]
    if not given.blocking:
        for k in range(given.type_first[t], given.type_first[t] + state.type_waits[t]):
            _offer(given, state, state.type_pairs[k], 1)


@part
def rescore(given: Given, state: State, user: int) -> None:
    """Score of a user from what it holds."""
    largest = 0.0
    for r in range(given.demands.shape[1]):
        largest = max(largest, state.held[user, r] * state.scale[user, r])
    state.score[user] = state.base[user] + largest


@part
def _turn(given: Given, state: State, user: int) -> int:
    """Pair of the task that a user would start: its oldest, or its oldest whose type is not blocked."""
    first = given.user_first[user]
    best = state.user_pairs[first]
    for k in range(first + 1, first + state.user_offers[user]):
        pair = state.user_pairs[k]
        if state.head[pair] < state.head[best]:
            best = pair
    return int(best)


@part
def choose(given: Given, state: State) -> int:
    """Pair whose task is to start next, or NOBODY; under blocking it need not fit."""
    found = state.counters[CANDIDATES]
    lowest = np.inf
    for k in range(found):
        lowest = min(lowest, state.score[state.candidates[k]])
    if lowest == np.inf:
        return NOBODY
    ceiling = lowest * (1.0 + given.tolerance)
    tied = 0
    best = NOBODY
    for k in range(found):
        user = state.candidates[k]
        if state.score[user] <= ceiling:
            tied += 1
            if not given.random_ties:
                pair = _turn(given, state, user)
                if best == NOBODY or state.head[pair] < state.head[best]:
                    best = pair
    if not given.random_ties:
        return best
    # Tied users by number, whatever the order of the list.
    skip = 0
    if tied > 1:
        skip = int(uniform(given.seed, state.counters[DRAWN]) * tied)
        state.counters[DRAWN] += 1
    for user in range(len(state.score)):
        if state.user_offers[user] > 0 and state.score[user] <= ceiling:
            if skip == 0:
                return _turn(given, state, user)
            skip -= 1
    return NOBODY
