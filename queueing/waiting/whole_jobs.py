"""Whole jobs in numbers, and what an order of them is asked.

A job *runs whole*: it holds its row of demands while it is in service, nothing less. Such jobs are known as
multiserver jobs, or gangs. An :class:`Order` is an object that answers for itself: who is in front, of which
the chain of the saturated system and the law are made; in which order jobs start that are never taken out of
service, for a simulation; or, if it looks at counts alone, which jobs run, as any policy does. What it cannot
answer it refuses, with what can be asked instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fairness.errors import ModelError
from fairness.exact.linear_algebra import whole
from fairness.exact.server_rows import as_fractions
from fairness.model.cluster import Cluster
from fairness.model.problem import Problem
from queueing.model.phase_type import PhaseType
from queueing.model.system import System

__all__ = ["Front", "Kind", "Order", "Starts", "State", "WholeJobs", "changed", "require_whole_jobs", "waits"]

State = tuple[tuple[int, ...], tuple[int, ...]]
"""Jobs in front by kind, as far as their order does not matter, and the classes of the others, in order."""


class Kind(NamedTuple):
    """Jobs that will go on alike."""

    job_class: int
    end: float  # rate of its end, in service
    moves: tuple[tuple[int, float], ...]  # kinds that it becomes in service, and the rates


class Starts(NamedTuple):
    """How jobs start that are never taken out of service: by ``ranks`` of the classes, of equal ones by age.

    Who does not fit holds up those behind if ``blocking``, else the next who fits starts.
    """

    ranks: tuple[int, ...]
    blocking: bool


class WholeJobs:
    """Jobs of a pool in the numbers in which an order compares them.

    Attributes
    ----------
    rates : sequence of float, (n_classes,)
        Of arrivals.
    kinds : list of Kind
        The classes, with the phases that their sizes are in.
    begins : list
        Of each class: the kinds that its jobs start as, and their probabilities.
    capacities : list of int, (n_resources,)
    needs : list of tuple of int, (n_classes, n_resources)
        Of the resources that anybody needs, each in a unit in which all of it is told by integers.
    """

    def __init__(self, pool: Problem, rates: Sequence[float], phases: Sequence[PhaseType]) -> None:
        self.rates = rates
        self.kinds: list[Kind] = []
        self.begins: list[list[tuple[int, float]]] = []
        for i, law in enumerate(phases):
            self._add(i, law)
        self.capacities, self.needs, self.slack = whole_needs(pool)
        self._fitting: dict[tuple[int, ...], list[bool]] = {}

    def _add(self, i: int, phases: PhaseType) -> None:
        first = len(self.kinds)
        ends = -phases.rates.sum(axis=1)
        for f, row in enumerate(phases.rates):
            moves = tuple((first + g, float(rate)) for g, rate in enumerate(row) if g != f and rate > 0)
            # Rows that add up to 0 but for rounding have no end.
            end = float(ends[f]) if ends[f] > 1e-12 * abs(row[f]) else 0.0
            self.kinds.append(Kind(i, end, moves))
        self.begins.append([(first + f, float(p)) for f, p in enumerate(phases.initial) if p > 0])

    def fits(self, counts: tuple[int, ...], i: int) -> bool:
        """Whether one more job of class i fits beside so many of each kind, in the numbers as given."""
        if counts not in self._fitting:
            left = [most + slack for most, slack in zip(self.capacities, self.slack, strict=True)]
            for kind, number in zip(self.kinds, counts, strict=True):
                if number:
                    left = [
                        u - number * need for u, need in zip(left, self.needs[kind.job_class], strict=True)
                    ]
            self._fitting[counts] = [
                all(need <= u for u, need in zip(left, row, strict=True)) for row in self.needs
            ]
        return self._fitting[counts][i]


class Front(Protocol):
    """Who is in front under an order: those of whom more is known than that they wait."""

    def full(self, state: State) -> bool:
        """Whether those behind wait; else the next of them comes to the front."""
        ...

    def joined(self, state: State, i: int) -> Iterator[tuple[State, float]]:
        """States, and their probabilities, after a job of class i has come to the front."""
        ...

    def served(self, state: State) -> tuple[int, ...]:
        """Jobs in service, by kind."""
        ...

    def left(self, state: State, k: int) -> Iterator[tuple[State, float]]:
        """States, and their probabilities, after a job of kind k in service has ended."""
        ...


class Order:
    """In which order whole jobs are served; one that says nothing more can be asked nothing.

    An order of your own that is to be simulated says whose job starts, as an :class:`~queueing.OwnScheduler`
    does, whenever one fits; jobs then run to their end.

    Examples
    --------
    Of those that fit, the widest job starts.

    >>> from fairness import Problem
    >>> from queueing import FCFS, Order, System, simulate
    >>> class Widest(Order):
    ...     def choose(self, state):
    ...         return max(state.fitting, key=lambda job: state.problem.demands[job.job_class].max())
    >>> system = System(Problem([[1], [2]], [2]), arrival_rates=[0.4, 0.4])
    >>> run = simulate(system, Widest(), events=3_000, replications=4, rng=1)
    >>> plain = simulate(system, FCFS(), events=3_000, replications=4, rng=1)
    >>> run.policy, bool(run.mean_durations[1] < plain.mean_durations[1])
    ('Widest', True)
    """

    @property
    def name(self) -> str:
        """Name for tables and legends."""
        return type(self).__name__

    instead = "an order of whole jobs is for is_stable, stationary, simulate and solve"
    """What to ask, where it is taken for a policy."""

    smaller = "take fewer classes, or jobs that need more of the capacity each"
    """What to do about too many states of the front."""

    @property
    def by_counts(self) -> bool:
        """Whether it looks at counts alone: then it is a policy, asked as ``order(problem, counts)``."""
        return False

    @property
    def has_front(self) -> bool:
        """Whether those in front are a finite chain, of which saturated system and law are made."""
        return False

    def front(self, system: System, jobs: WholeJobs) -> Front:
        """Who is in front; ModelError if that is no finite chain."""
        raise ModelError.of(
            "order",
            f"{self.name} has no finite front, of which the saturated chain and the law are made; "
            f"simulate(system, {self!r}) may know it",
        )

    def starts(self, problem: Problem | Cluster) -> Any:
        """How jobs start that run to their end, Starts or a rule that chooses; ModelError without either."""
        if hasattr(self, "choose"):
            return self
        raise ModelError.of(
            "policy",
            f"{self.name} takes jobs out of service, which the simulation of whole tasks does not; "
            f"ask stationary(system, {self!r})",
        )


def waits(system: System, policy: Any) -> bool:
    """Whether this is an order in which jobs wait; one that looks at counts alone is asked as a policy.

    Raises
    ------
    ModelError
        If an order looks at counts alone and sizes are not exponential: then it matters which jobs of a class
        run.
    """
    if not isinstance(policy, Order):
        return False
    if policy.by_counts:
        system.require_exponential(f"{policy.name}, which looks at counts alone,", None)
    return not policy.by_counts


def whole_needs(pool: Problem) -> tuple[list[int], list[tuple[int, ...]], list[int]]:
    """Capacities, needs of the classes, and by how much they may exceed the capacities, as integers.

    Of the resources that anybody needs. Ten floats of 0.1 fit in 1, as they do in a simulation.
    """
    needs, capacities = as_fractions(pool)
    listed = zip(capacities, *needs, strict=True)
    columns: list[list[int]] = [whole([most, *column])[1] for most, *column in listed if any(column)]
    most = [column[0] for column in columns]
    rows = list(zip(*(column[1:] for column in columns), strict=True))
    return most, rows, [0 if pool.is_rational else capacity // 10**12 for capacity in most]


def require_whole_jobs(pool: Problem | Cluster, here: NDArray[np.bool_]) -> None:
    """Raise unless this is a pool, in which one job of each class that is ``here``, (n_classes,), can run.

    Raises
    ------
    ModelError
        Which class never fits, demands nothing, or has a limit below 1.
    """
    if isinstance(pool, Cluster):
        raise ModelError.of("system", "is a cluster; whole jobs in order are known on one pool (a Problem)")
    needs, capacities = as_fractions(pool)
    for i in np.flatnonzero(here).tolist():
        name = pool.job_classes[i]
        if not any(needs[i]):
            raise ModelError(
                f"a job of class {name!r} demands nothing: any number would run at once; give it a demand",
                argument="demands",
                index=(i,),
            )
        if pool.limits[i] < 1:
            raise ModelError(
                f"a job of class {name!r} is limited to {pool.limits[i]:g} tasks and could never run whole; "
                "give a limit >= 1",
                argument="limits",
                index=(i,),
            )
        rows: Any = enumerate(zip(needs[i], capacities, strict=True))
        if wanting := [j for j, (need, most) in rows if need > most]:
            j = wanting[0]
            raise ModelError(
                f"a job of class {name!r} needs {float(needs[i][j]):.17g} of {pool.resources[j]}, of which "
                f"there are {float(capacities[j]):.17g}: it would wait for ever; raise the capacity",
                argument="demands",
                index=(i, j),
            )


def changed(counts: tuple[int, ...], k: int, by: int) -> tuple[int, ...]:
    """The same but for one entry."""
    return (*counts[:k], counts[k] + by, *counts[k + 1 :])
