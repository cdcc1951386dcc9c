"""Kernel of the waiting tasks: who waits with what, which types are blocked, and whose turn it is."""

from __future__ import annotations

import numpy as np

from queueing.replays.engine.state import (
    BLOCKED,
    CANDIDATES,
    DRAWN,
    INSTANT,
    NOBODY,
    Given,
    State,
)
from queueing.simulation.kernels import part
from queueing.simulation.tasks.rules.workload import uniform

__all__ = ["arrive", "block", "choose", "rescore", "start_waiting", "unblock"]


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
