r"""One replay from its first event to its last: the kernel, what it asks for, and what is kept of it.

A checkpoint keeps the starts so far, and the little that does not follow from them: a piece holds the tasks
that have been started since the piece before, with their times, nodes and devices;
and of the moment at which it was written the running tasks, the amounts that users hold, the types known to
fit nowhere, and the place in the random numbers. The rest of the state is built from these.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from fairness.arguments.validation import FloatArray, IntArray, frozen
from fairness.display.storage import dumps, loads
from fairness.errors import ModelError
from fairness.machine.checkpoint import Checkpoint
from fairness.machine.work import Task
from queueing.recorded.cluster_trace import ClusterTrace
from queueing.recorded.node_list import NodeList
from queueing.replays import state as at
from queueing.replays.events import DONE, NO_TARGETS, advance, count_in, tally
from queueing.replays.preparation import Turns
from queueing.replays.state import N_COUNTERS, NOBODY, Given, Indices, State, arrive, block, new_state

__all__ = ["Run", "identity", "piece_of"]

STEPS = 10
"""Microseconds per task and node, interpreted."""

SUMMED = 5
"""Running tasks that are summed in the time of a node."""

STRIDE, SHORT_STRIDE = 20_000, 500
"""Events between two reports."""

KEPT = 20.0
"""Seconds between two pieces of a checkpoint."""


class Run:
    """A replay under way.

    Attributes
    ----------
    state : State
    kept : int
        Events of which the checkpoint knows.
    """

    def __init__(self, given: Given, turns: Turns, rng: np.random.Generator) -> None:
        seed = rng.integers(0, 2**64, dtype=np.uint64)
        self._given, self._turns = given._replace(seed=seed), turns
        self.state: State = new_state(given)
        self._starts_kept = self.kept = 0
        self._whole = True
        # Where a task ends, the others on its node are summed afresh: as many as run at the last arrival.
        running = np.count_nonzero(given.arrivals + given.durations > given.arrivals.max(initial=0.0))
        nodes = len(given.capacities)
        size = len(given.arrivals) * (nodes + running / nodes / SUMMED)
        self._advance: Callable[..., Any] = advance.small(STEPS, size)
        self._stride = STRIDE if self._advance is advance else SHORT_STRIDE
        self._rescore()

    @property
    def events(self) -> int:
        """Arrivals and ends so far."""
        return int(self.state.counters[at.NEXT] + self.state.counters[at.ENDED])

    @property
    def now(self) -> float:
        """Time of the last event."""
        return float(self.state.clock[0])

    def record(self) -> tuple[FloatArray, Indices, IntArray | None]:
        """Starts, nodes and devices of the tasks; the last is None where nothing is counted in devices."""
        state = self.state
        devices = None if self._given.device == NOBODY else frozen(state.devices_of.copy())
        return frozen(state.starts.copy()), frozen(state.node_of.copy()), devices

    def resume(self, store: Checkpoint) -> None:
        """Go on from the last piece of a checkpoint, if it has one."""
        if not store.pieces:
            return
        pieces: list[Any] = store.read(loads)
        # Once they came in blocks, the first of which was drawn at the beginning.
        last = pieces[-1]
        if "blocks" in last and (last["blocks"] > 1 or last["counters"][at.DRAWN] > 0):
            raise ModelError.of(
                "checkpoint",
                f": {store.path} has drawn random numbers in blocks, as this version does not; delete it, or "
                "give another path",
            )
        restore(self._given, self.state, pieces)
        self._starts_kept, self.kept = int(self.state.counters[at.STARTED]), self.events
        self._rescore()

    def go(self, until: float, task: Task, store: Checkpoint | None) -> None:
        """Go on until no event is left up to a time, and report to a task."""
        counters = self.state.counters
        kept = time.monotonic()
        task.prepared()
        while True:
            self._whole = False
            status = self._advance(self._given, self.state, self._stride, until)
            self._whole = True
            if status == NO_TARGETS:
                counters[at.STALE] = 0
                self._rescore()
            if store is not None and time.monotonic() - kept > KEPT:
                self.keep(store)
                kept = time.monotonic()
            task.advance(done=float(self.events))
            if status == DONE:
                return

    def keep(self, store: Checkpoint) -> None:
        """Write what has been done since the last piece; nothing if the kernel was interrupted amidst."""
        if not self._whole or self.events == self.kept:
            return
        try:
            store.write(f"{self.events} events", piece_of(self.state, self._starts_kept))
        except OSError as error:
            raise ModelError.of(
                "checkpoint", f": {store.path} can no longer be written: {error}; make room"
            ) from error
        self._starts_kept, self.kept = int(self.state.counters[at.STARTED]), self.events

    def _rescore(self) -> None:
        """Scores of all users, as the scheduler sees them now."""
        scale, base = self._turns.scores(self.state.waits + self.state.runs > 0)
        state = self.state
        state.scale[:], state.base[:] = scale, base
        # As the kernel does for one user.
        state.score[:] = base + np.maximum((state.held * scale).max(axis=1), 0.0)


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
