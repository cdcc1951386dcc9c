"""What each level of simulation can be told: the options of ``simulate`` that are its own.

A field is an option that its level knows, with its default; which level knows what is told by these records
alone. :func:`queueing.simulation.simulate.simulate` explains them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields

from numpy.typing import ArrayLike

from queueing.simulation.tasks.rules.options import Tasks
from queueing.states.table import Table

__all__ = ["LEVELS", "CountOptions", "JobOptions", "TaskOptions", "levels_that_know"]


@dataclass(frozen=True, kw_only=True, eq=False)
class CountOptions:
    """Of counts."""

    events: int = 1_000_000
    start: ArrayLike | None = None
    table: Table | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class JobOptions:
    """Of jobs; their number and the horizon are for :mod:`queueing.simulation.jobs.arguments` to choose."""

    jobs: int | None = None
    horizon: float | None = None
    batches: bool = False
    quantiles: Sequence[float] = (0.5, 0.9, 0.99)
    record: bool = False
    start: ArrayLike | None = None
    table: Table | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class TaskOptions:
    """Of whole tasks."""

    events: int = 1_000_000
    tasks: Tasks = field(default_factory=Tasks)


LEVELS = {"counts": CountOptions, "jobs": JobOptions, "tasks": TaskOptions}
"""Options by level, from what tells least to what tells most."""


def levels_that_know(option: str) -> tuple[str, ...]:
    """Levels with an option of this name."""
    return tuple(level for level, known in LEVELS.items() if option in {one.name for one in fields(known)})
