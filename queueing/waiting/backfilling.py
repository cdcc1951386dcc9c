r"""EASY backfilling: the head of the queue has a reservation, and those behind it start if they keep it.

Whole jobs run to their end, in order of arrival, but for this. Let the head of the queue not fit. By
estimates of how long jobs run (:math:`e_i` for class i) those in service end one after the other, and the
*reservation* of the head is the first moment at which it then fits; *spare* is what is left beside it when
all have ended that end by this moment. A job behind that fits now starts if it ends by the estimates before
the reservation, or if it fits in what is spare [1]_. Jobs that run longer than estimated are taken to end
now. Nothing is known of how much can be carried or how long one waits: it is simulated.

References
----------
.. [1] A. W. Mu'alem and D. G. Feitelson, "Utilization, predictability, workloads, and user runtime estimates
   in scheduling the IBM SP2 with backfilling", IEEE Transactions on Parallel and Distributed Systems 12(6),
   2001. DOI 10.1109/71.932708.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairness.arguments.validation import float_array, require, require_shape
from fairness.errors import ModelError
from fairness.model.cluster import Cluster
from fairness.model.problem import FloatArray, Problem
from queueing.waiting.whole_jobs import Order

__all__ = ["EASY"]

ROUNDING = 1e-9
"""Part of a capacity by which a job may exceed what will be free."""
FEW = 32
"""Jobs that are remembered, whether they have left or not."""


@dataclass(frozen=True)
class EASY(Order):
    """First come, first served, and backfilling that does not delay the head of the queue, by estimates.

    It is taken by :func:`queueing.simulate`. Jobs run to their end.

    Parameters
    ----------
    estimates : sequence of float, (n_classes,), units of time
        How long a job of each class is thought to run, >= 0.

    Raises
    ------
    ModelError
        If an estimate is negative or not finite; when asked for another number of classes, or for a cluster.

    Examples
    --------
    Three servers, jobs of one, two and three: who looks ahead holds more of them.

    >>> from fairness import Problem
    >>> from queueing import EASY, FCFS, System, simulate
    >>> system = System(Problem([[1], [2], [3]], [3]), arrival_rates=[0.4, 0.2, 0.2])
    >>> plain = simulate(system, FCFS(), events=3_000, replications=4, rng=1)
    >>> easy = simulate(system, EASY([1, 1, 1]), events=3_000, replications=4, rng=1)
    >>> bool((easy.mean_durations < plain.mean_durations).all())
    True
    """

    estimates: Sequence[float] | ArrayLike

    def __post_init__(self) -> None:
        times = float_array("estimates", self.estimates, ndim=1)
        require("estimates", times, np.isfinite(times) & (times >= 0), "finite and >= 0")
        object.__setattr__(self, "estimates", tuple(times.tolist()))

    def starts(self, problem: Problem | Cluster) -> Any:
        """The rule that keeps the reservations."""
        if isinstance(problem, Cluster):
            raise ModelError.of("system", "is a cluster; EASY() is known on one pool (a Problem)")
        times = np.array(self.estimates)
        require_shape("estimates", times, (problem.n_classes,), "demands", problem.demands.shape)
        return _Reservations(self.name, problem, times)


class _Reservations:
    """The rule, with the estimated ends of those in service; every replication has a copy."""

    def __init__(self, name: str, problem: Problem, estimates: FloatArray) -> None:
        self.name, self.estimates, self.needs = name, estimates, problem.demands
        self.slack = ROUNDING * problem.capacities
        self.running: dict[int, tuple[float, int]] = {}
        self.most = FEW  # that are remembered before those who have left are forgotten

    def choose(self, state: Any) -> Any:
        """The head if it fits, else the first job behind it that keeps its reservation."""
        head, *behind = state.candidates
        if not head.fits or len(self.running) > self.most:
            here = {job.number for job in state.jobs if job.running}
            self.running = {number: end for number, end in self.running.items() if number in here}
            self.most = max(FEW, 2 * len(self.running))
        chosen = head if head.fits else self._filling(state, head, behind)
        if chosen is not None:
            i = chosen.job_class
            self.running[chosen.number] = float(state.time + self.estimates[i]), i
        return chosen

    def _filling(self, state: Any, head: Any, behind: Sequence[Any]) -> Any:
        free, reserved, enough = state.free + self.slack, state.time, False
        for end, i in sorted((max(end, state.time), i) for end, i in self.running.values()):
            # Whoever ends at the same moment makes room for those behind.
            if enough and end > reserved:
                break
            free, reserved = free + self.needs[i], end
            enough = (self.needs[head.job_class] <= free).all()
        spare = free - self.needs[head.job_class]
        for job in behind:
            i = job.job_class
            if job.fits and (state.time + self.estimates[i] <= reserved or (self.needs[i] <= spare).all()):
                return job
        return None
