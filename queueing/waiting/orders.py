"""In which order whole jobs start.

A job *runs whole*: it holds its row of demands from its start to its end, nothing less, and nobody takes it
away. Such jobs are known as multiserver jobs, or gangs. Who does not fit waits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from fairness.arguments.validation import require_whole

__all__ = ["FCFS"]


@dataclass(frozen=True)
class FCFS:
    """First come, first served: who does not fit waits at the head of the queue, and all behind wait with it.

    Parameters
    ----------
    lookahead : int or math.inf
        How many of those behind the head are looked at: the first of them that fits starts before it. With
        all of them the order is *first fit*, which can be simulated.

    It is taken where a policy is by :func:`queueing.stationary`, :func:`queueing.simulate` and
    :func:`capacity.is_stable`. The size of a job of class i is how long it runs.

    Examples
    --------
    Two servers, jobs of one server and of two:

    >>> from fairness import Problem
    >>> from queueing import FCFS, System, stationary
    >>> system = System(Problem([[1], [2]], [2]), arrival_rates=[0.4, 0.4])
    >>> stationary(system, FCFS()).mean_durations.round(4)
    array([2.9734, 3.3333])

    Looking at one more job, both wait less:

    >>> stationary(system, FCFS(lookahead=1)).mean_durations.round(4)
    array([2.4466, 3.116 ])
    """

    lookahead: float = 0

    def __post_init__(self) -> None:
        if self.lookahead != math.inf:
            require_whole("lookahead", self.lookahead, least=0)

    @property
    def name(self) -> str:
        """Name for tables and legends."""
        if self.lookahead == math.inf:
            return "first fit"
        return f"FCFS, look-ahead {self.lookahead:g}" if self.lookahead else "FCFS"
