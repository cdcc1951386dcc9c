r"""One order of all jobs, whatever their class: what has least left takes what it can.

On one resource serving what has least left is best; on several there is more than one such order. A job of
class i of which work s is left comes by

* its *size*, s;
* its *share-time*, :math:`s \max_j a_{ij}/C_j`: how long it would have its dominant resource to itself, were
  it alone without a limit. Of two jobs with equally much left it prefers the one that is in the way of
  fewer.

The first takes as many tasks as its limit and the resources allow, the next what it leaves, and so on. That
is no policy of the counts: it looks at what is left of each job.

*What it costs.* A job without a limit fills a resource, and then nobody runs beside it who needs any of that:
with demands (1, .1) and (.1, 1) one job at a time, though two could nearly have a resource each. So such an
order may be unstable at loads that any fair policy carries; it needs limits, small against the capacities.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fairness.arguments.validation import IntArray, require_choice
from fairness.model.problem import FloatArray, Problem
from queueing.simulation.policy_rows import Lookup, no_lookup

__all__ = ["SRPT", "OrderSource"]


@dataclass(frozen=True)
class SRPT:
    """Shortest remaining processing time first, over all jobs of a pool: it takes what it can.

    It is taken where a policy is by :func:`queueing.simulate`. It is fair to nobody, and of jobs without
    limits it can lose a part of the capacity: then runs at loads below 1 are unstable.

    Parameters
    ----------
    by : {"size", "share-time"}
        What is compared: the work that is left, or that times the dominant share of a task.

    Examples
    --------
    Ten servers, each job on one:

    >>> from fairness import DRF, Problem
    >>> from queueing import SRPT, System, simulate
    >>> pool = Problem([[1, 1], [1, 2]], [10, 15], limits=[1, 1])
    >>> system = System.with_load(pool, [1, 1], 0.9)
    >>> runs = [simulate(system, p, level="jobs", jobs=20_000, rng=1) for p in (DRF(), SRPT())]
    >>> bool((runs[1].mean_durations < runs[0].mean_durations).all())
    True
    """

    by: str = "size"

    def __post_init__(self) -> None:
        require_choice("by", self.by, ("size", "share-time"))

    @property
    def name(self) -> str:
        """Name for tables and legends."""
        return f"SRPT by {self.by}"

    def scales(self, problem: Problem) -> FloatArray:
        """By what the work left of each class is multiplied, (n_classes,)."""
        if self.by == "size":
            return np.ones(problem.n_classes)
        return np.asarray(problem.task_shares.max(axis=1))


class OrderSource:
    """What stands in the place of a policy's table, for runs that need none; its own reader."""

    table = None
    shape: tuple[int, ...] | None = None
    answers: tuple[Any, None] = None, None

    def __init__(self, problem: Problem, name: str) -> None:
        self.problem, self.name, self.source = problem, name, self

    def reader(self) -> OrderSource:
        """Itself."""
        return self

    def at(self, counts: IntArray) -> Lookup:
        """One row for all states, which nobody reads."""
        n = len(counts)
        every = np.full(n, np.iinfo(np.int64).max)
        return no_lookup(n)._replace(tasks=np.zeros((1, n)), shape=every, stride=np.zeros(n, np.int64))
