"""What a replay keeps of itself: the starts so far, and the little that does not follow from them.

A piece holds the tasks that have been started since the piece before, with their times, nodes and devices;
and of the moment at which it was written the running tasks, the amounts that users hold, the types known to
fit nowhere, and the place in the random numbers. The rest of the state is built from these.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from fairness.display.storage import dumps
from queueing.recorded.cluster_trace import ClusterTrace
from queueing.recorded.node_list import NodeList
from queueing.replays.engine import state as at
from queueing.replays.engine.nodes import count_in, tally
from queueing.replays.engine.queues import arrive, block
from queueing.replays.engine.state import N_COUNTERS, NOBODY, Given, State

__all__ = ["identity", "piece_of", "restore"]


def identity(trace: ClusterTrace, nodes: NodeList, **rules: Any) -> dict[str, Any]:
    """What a replay depends on, by the names that a message calls it."""
    told: dict[str, Any] = {}
    for name, model, fields in (
        ("trace", trace, ("arrivals", "durations", "types", "type_of", "user_of", "eligible_models")),
        ("nodes", nodes, ("capacities",)),
    ):
        digest = hashlib.sha256()
        for field in fields:
            values = getattr(model, field)
            digest.update(b"none" if values is None else np.ascontiguousarray(values).tobytes())
        names = [getattr(model, name, None) for name in ("names", "users", "models", "devices", "resources")]
        digest.update(repr(names).encode())
        told[name] = digest.hexdigest()[:16]
    return told | rules


def piece_of(state: State, since: int) -> str:
    """The starts from number ``since`` on, and the moment, as text."""
    counters = state.counters
    tasks = state.order[since : counters[at.STARTED]]
    running = slice(0, counters[at.RUNNING])
    devices = state.devices_of[tasks] if len(state.devices_of) == len(state.order) else np.zeros(0, np.int64)
    return dumps(
        {
            "order": tasks.copy(),
            "starts": state.starts[tasks],
            "node_of": state.node_of[tasks],
            "devices_of": devices,
            "clock": state.clock.copy(),
            "counters": counters.copy(),
            "heap_times": state.heap_times[running].copy(),
            "heap_turns": state.heap_turns[running].copy(),
            "held": state.held.copy(),
            "blocked": state.blocked[: counters[at.BLOCKED]].copy(),
        }
    )


def restore(given: Given, state: State, pieces: list[dict[str, Any]]) -> None:
    """Bring a new state to where the last piece was written."""
    last = pieces[-1]
    done = 0
    for piece in pieces:
        tasks = piece["order"]
        state.order[done : done + len(tasks)] = tasks
        state.starts[tasks], state.node_of[tasks] = piece["starts"], piece["node_of"]
        if given.device != NOBODY:
            state.devices_of[tasks] = piece["devices_of"]
        done += len(tasks)
    counters: np.ndarray = last["counters"]
    state.clock[:], state.held[:] = last["clock"], last["held"]
    heap = slice(0, counters[at.RUNNING])
    state.heap_times[heap], state.heap_turns[heap] = last["heap_times"], last["heap_turns"]
    for task in state.order[np.sort(state.heap_turns[heap])]:
        node = state.node_of[task]
        state.runs[given.pair_user[given.pair_of[task]]] += 1
        count_in(given, state, task, node)
    for node in range(len(given.capacities)):
        tally(given, state, node)
    for task in np.flatnonzero(np.isnan(state.starts[: counters[0]])):
        arrive(given, state, int(task))
    for t in last["blocked"]:
        block(given, state, int(t))
    # Those of the lists were counted up above; the policy is asked anew.
    lists = [at.BLOCKED, at.CANDIDATES]
    others = [k for k in range(N_COUNTERS) if k not in lists]
    state.counters[others] = counters[others]
    state.counters[at.STALE] = 1
