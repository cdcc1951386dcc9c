"""Single runs of whole tasks, which stop when they need something and resume."""

from __future__ import annotations

import numpy as np

from fairness.errors import UnstableError
from fairness.machine.cache_lines import apart, each_apart
from fairness.machine.memory import require_memory
from queueing.simulation.state_rows import read_only
from queueing.simulation.tasks.engine.decisions import Decider
from queueing.simulation.tasks.engine.events import DONE, TARGET_MISSING, TOO_MANY_JOBS, UNDECIDED, advance
from queueing.simulation.tasks.engine.preparation import TaskRuns
from queueing.simulation.tasks.engine.state import ARRIVED, PATH, TASKS_STARTED, Log, new_places, new_state
from queueing.simulation.tasks.rules.own_schedulers import OwnScheduler

__all__ = ["TaskRun"]

FIRST_LOG = 1024
"""Rows of each log of a recorded run, before any doubling."""


class TaskRun:
    """One run: its state, its totals and, if recorded, its log."""

    def __init__(self, runs: TaskRuns, generator: np.random.Generator, *, record: bool = False) -> None:
        n = runs.system.n_classes
        self.runs = runs
        self.rule = runs.rule
        self.reader = None if runs.source is None else runs.source.reader()
        self.decider = None
        if isinstance(runs.scheduler, OwnScheduler):
            self.decider = Decider(runs.system.problem, runs.scheduler, runs.rows, generator)
        self.model = runs.model(generator)
        state = new_state(self.model, runs.max_jobs, runs.most_running, runs.by_level)
        places = None if runs.by_level else new_places(self.model, state)
        self.state = each_apart(state)
        self.places = None if places is None else each_apart(places)
        self.totals = apart(np.zeros((4, n)))
        rows = FIRST_LOG if record else 1
        self.log = Log(record, np.empty((rows, 5)), np.empty((rows, 5)), np.empty((rows, 1 + 2 * n)))

    @property
    def now(self) -> float:
        """Simulated time."""
        return float(self.state.clock[0])

    def count(self) -> None:
        """Bring the time integrals of the tasks on servers up to now; their rounding shows when that was."""
        if self.places is not None:
            self.places.placed[...] += self.state.on.T * (self.now - self.places.since)
            self.places.since[...] = self.now

    def forget(self) -> None:
        """Start the totals afresh."""
        self.totals[:] = 0.0
        if self.places is not None:
            self.places.placed[:] = self.places.lost[:] = 0.0

    def go(self, events: int, horizon: float = np.inf) -> int:
        """Go on for a number of events or until the horizon, whichever comes first; the number that is made.

        Raises
        ------
        UnstableError
            If more jobs than allowed are present.
        """
        left = events
        while True:
            status, made = advance(
                self.model, self.rule, self.state, self.places, self.log, self.totals, left, horizon
            )
            left -= made
            if status == DONE:
                return events - left
            if status == TOO_MANY_JOBS:
                raise UnstableError(self._overload())
            if status == UNDECIDED:
                assert self.decider is not None
                assert self.places is not None
                self.decider.decide(self.model, self.state, self.places)
            elif status == TARGET_MISSING:
                assert self.reader is not None
                self.rule = self.rule._replace(lookup=read_only(self.reader.at(self.state.present)))
            else:
                self._grow_log()

    def _grow_log(self) -> None:
        counters = self.state.counters
        need = counters[TASKS_STARTED] + self.runs.most_running, counters[ARRIVED] + 1, counters[PATH] + 1
        logs = []
        for rows, used in zip(self.log[1:], need, strict=True):
            if used > len(rows):
                require_memory(
                    16.0 * used * rows.shape[1], "the record of this run", "reduce horizon or arrival_rates"
                )
                larger = np.empty((2 * int(used), rows.shape[1]))
                larger[: len(rows)] = rows
                rows = larger
            logs.append(rows)
        self.log = Log(True, *logs)

    def _overload(self) -> str:
        system = self.runs.system
        names = system.problem.job_classes
        present = ", ".join(f"{name!r} {x}" for name, x in zip(names, self.state.present, strict=True))
        own = self.decider is not None
        why = "it leaves tasks waiting, or " if own else ""
        remedy = "see that it starts what fits" if own else "try blocking=False"
        return (
            f"more than max_jobs={self.runs.max_jobs:,} jobs at time {self.now:.6g} under "
            f"{self.runs.name} (present: {present}); {why}whole tasks carry less than the fluid "
            f"capacity: reduce arrival_rates, {remedy}, or raise max_jobs"
        )
