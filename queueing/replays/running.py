"""One replay from its first event to its last: the kernel, what it asks for, and what is kept of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from fairness.arguments.validation import FloatArray, frozen
from fairness.display.storage import loads
from fairness.errors import ModelError
from fairness.machine.checkpoint import Checkpoint
from fairness.machine.kernels import IntArray
from fairness.machine.work import Task
from queueing.replays.checkpoints import piece_of, restore
from queueing.replays.engine import state as at
from queueing.replays.engine.events import DONE, NO_TARGETS, advance
from queueing.replays.engine.state import NOBODY, Given, Indices, State, new_state
from queueing.replays.user_order import Turns

__all__ = ["Run"]

STEPS = 10
"""Microseconds per task and node, interpreted."""

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
        size = len(given.arrivals) * len(given.capacities)
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
