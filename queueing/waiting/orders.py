r"""Orders in which whole jobs wait: first come, first served, and ServerFilling.

**FCFS**: in front are those in service, the head of the queue, and as many behind it as are looked at. None
of those who wait in front fits.

**ServerFilling** [1]_ is for one resource with k servers and needs that divide each other and k. In front is
the smallest set of oldest jobs whose needs sum to at least k, or everybody. They are served from the largest
need down. What the larger ones leave is a multiple of the next need, so that servers stay free only if
everybody in front is served: whenever the front is full, so are all servers.

*The front of ServerFilling is all that counts of those in it.* Without the youngest one in front the needs
sum to less than k, and so they do without anybody else besides: when a job ends, the others are still the
oldest ones, and either their needs sum to k or more and nobody joins them, or the next job does, again and
again. Exponential sizes have no memory, so that it does not matter which jobs of a class have run before: the
numbers of each class in front are the whole state, and those behind are told by their number alone.

References
----------
.. [1] I. Grosof, M. Harchol-Balter and A. Scheller-Wolf, "WCFS: a new framework for analyzing multiserver
   systems", Queueing Systems 102, 2022. DOI 10.1007/s11134-022-09848-6.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fairness.arguments.validation import require_whole
from fairness.errors import ModelError
from fairness.model.cluster import Cluster
from fairness.model.problem import Problem
from fairness.protocol.family import Family
from queueing.model.system import System
from queueing.waiting.whole_jobs import Front, Order, Starts, State, WholeJobs, changed

__all__ = ["FCFS", "ServerFilling"]


@dataclass(frozen=True)
class FCFS(Order):
    """First come, first served: who does not fit waits at the head of the queue, and all behind wait with it.

    It is taken where a policy is by :func:`queueing.stationary`, :func:`queueing.simulate` and
    :func:`capacity.is_stable`. The size of a job of class i is how long it runs.

    Parameters
    ----------
    lookahead : int or math.inf
        How many of those behind the head are looked at: the first of them that fits starts before it. With
        all of them the order is *first fit*, which can be simulated.

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

    smaller = "simulate, or look at fewer who wait"

    def __post_init__(self) -> None:
        if self.lookahead != math.inf:
            require_whole("lookahead", self.lookahead, least=0)

    @property
    def name(self) -> str:
        """Name for tables and legends."""
        if self.lookahead == math.inf:
            return "first fit"
        return f"FCFS, look-ahead {self.lookahead:g}" if self.lookahead else "FCFS"

    @property
    def has_front(self) -> bool:
        """Unless all who wait are looked at."""
        return self.lookahead != math.inf

    def front(self, system: System, jobs: WholeJobs) -> Front:
        """Who is in service, the head of the queue, and those who are looked at."""
        if not self.has_front:
            raise ModelError.of("lookahead", "is infinite, and the queue then has no finite front; simulate")
        return _InOrder(jobs, int(self.lookahead) + 1)

    def starts(self, problem: Problem | Cluster) -> Starts:
        """The oldest first; with a look-ahead of 0 it holds up the others, with all of them nobody does."""
        if self.lookahead not in (0, math.inf):
            raise ModelError.of(
                "lookahead", "of a simulation must be 0 or math.inf; the chain has others: stationary"
            )
        return Starts((0,) * problem.n_classes, blocking=self.lookahead == 0)


@dataclass(frozen=True)
class _InOrder:
    """Jobs in service by kind, and the classes of those who wait in front: at most ``length``."""

    jobs: WholeJobs
    length: int

    def full(self, state: State) -> bool:
        return len(state[1]) == self.length

    def joined(self, state: State, i: int) -> Iterator[tuple[State, float]]:
        counts, front = state
        if self.jobs.fits(counts, i):
            for k, probability in self.jobs.begins[i]:
                yield (changed(counts, k, 1), front), probability
        else:
            yield (counts, (*front, i)), 1.0

    def served(self, state: State) -> tuple[int, ...]:
        return state[0]

    def left(self, state: State, k: int) -> Iterator[tuple[State, float]]:
        return self._started(changed(state[0], k, -1), state[1], 1.0)

    def _started(
        self, counts: tuple[int, ...], front: tuple[int, ...], probability: float
    ) -> Iterator[tuple[State, float]]:
        """Whoever fits starts, the first one first."""
        for place, i in enumerate(front):
            if self.jobs.fits(counts, i):
                behind = front[:place] + front[place + 1 :]
                for k, begins in self.jobs.begins[i]:
                    yield from self._started(changed(counts, k, 1), behind, probability * begins)
                return
        yield (counts, front), probability


@dataclass(frozen=True)
class ServerFilling(Order):
    """All servers busy whenever they can be: of the oldest jobs that need them all, the widest first [1]_.

    For one resource, and needs that divide each other and the capacity, as powers of 2 do. Jobs are taken out
    of service and go on later where they stopped. Whatever fits at all can be carried.

    It is taken where a policy is by :func:`queueing.stationary` (sizes exponential) and
    :func:`capacity.is_stable`.

    Raises
    ------
    ModelError
        When asked about needs that do not divide, or about several resources, with the class; about the law,
        if sizes are not exponential. It cannot be simulated as whole tasks, which nobody takes out of
        service.

    References
    ----------
    .. [1] I. Grosof, M. Harchol-Balter and A. Scheller-Wolf, "WCFS: a new framework for analyzing multiserver
       systems", Queueing Systems 102, 2022. DOI 10.1007/s11134-022-09848-6.

    Examples
    --------
    Two servers, jobs of one server and of two: in order of arrival 8/7 jobs can be carried per unit of time,
    and here as many as the servers have work for.

    >>> from capacity import is_stable
    >>> from fairness import Problem
    >>> from queueing import FCFS, ServerFilling, System, stationary
    >>> system = System(Problem([[1], [2]], [2]), arrival_rates=[0.5, 0.5])
    >>> is_stable(system, ServerFilling()).throughput
    Fraction(4, 3)
    >>> stationary(system, FCFS()).mean_durations.round(4)
    array([7.3363, 7.7788])
    >>> stationary(system, ServerFilling()).mean_durations.round(4)
    array([4.    , 3.2612])
    """

    family = Family("server-filling")
    has_front = True

    def front(self, system: System, jobs: WholeJobs) -> Front:
        """The oldest jobs that need all servers together."""
        system.require_exponential("the law under ServerFilling", None)
        return _Filling(jobs, *require_nested(system, jobs))


def require_nested(system: System, jobs: WholeJobs) -> tuple[int, tuple[int, ...]]:
    """The servers, and the needs of the classes of one resource, if these divide each other and the servers.

    Raises
    ------
    ModelError
        Which class needs another resource, or has a need that does not divide.
    """
    pool, live = system.problem, np.flatnonzero(system.arrival_rates > 0).tolist()
    remedy = "take FCFS() or MaxWeight()"
    asked = [[j for j, need in enumerate(jobs.needs[i]) if need] for i in live]
    for i, resources in zip(live, asked, strict=True):
        if resources != asked[0] or len(resources) > 1:
            raise ModelError(
                f"ServerFilling is for one resource, and class {pool.job_classes[i]!r} needs another one, "
                f"too: {remedy}",
                argument="demands",
                index=(i,),
            )
    j = asked[0][0]
    larger, name = jobs.capacities[j], "the capacity"
    for i in sorted(live, key=lambda i: -jobs.needs[i][j]):
        if larger % jobs.needs[i][j]:
            floats = "" if pool.is_rational else "; floats are compared exactly: give integers or fractions"
            raise ModelError(
                f"ServerFilling is for needs that divide each other and the capacity, and that of class "
                f"{pool.job_classes[i]!r} does not divide {name}: {remedy}{floats}",
                argument="demands",
                index=(i,),
            )
        larger, name = jobs.needs[i][j], f"that of class {pool.job_classes[i]!r}"
    return jobs.capacities[j], tuple(row[j] for row in jobs.needs)


class _Filling:
    """Jobs in front by class."""

    def __init__(self, jobs: WholeJobs, servers: int, needs: tuple[int, ...]) -> None:
        self.servers, self.needs = servers, needs
        live = [i for i, rate in enumerate(jobs.rates) if rate > 0]
        self.widest_first = sorted(live, key=lambda i: -needs[i])

    def full(self, state: State) -> bool:
        return sum(map(int.__mul__, state[0], self.needs)) >= self.servers

    def joined(self, state: State, i: int) -> Iterator[tuple[State, float]]:
        yield (changed(state[0], i, 1), ()), 1.0

    def served(self, state: State) -> tuple[int, ...]:
        left, served = self.servers, [0] * len(self.needs)
        for i in self.widest_first:
            served[i] = min(state[0][i], left // self.needs[i])
            left -= served[i] * self.needs[i]
        return tuple(served)

    def left(self, state: State, k: int) -> Iterator[tuple[State, float]]:
        yield (changed(state[0], k, -1), ()), 1.0
