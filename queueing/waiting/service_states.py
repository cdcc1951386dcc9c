r"""Who is in service, and who waits in front: the states of whole jobs that start in order.

A state is how many jobs of each *kind* are in service (a kind is a class with the phase that its size is in)
and the classes of those who wait in front, in order: the head of the queue and as many behind it as the order
looks at. None of them fits. Those behind are told by their number alone: of which class each is gets drawn
when it comes to the front, with probability :math:`p_i = \lambda_i/\Lambda`, since arrivals are Poisson [1]_.

Three kinds of moves lead from state to state:

* *service*, while the front is full: a phase or a job ends; then who in front fits starts, one by one;
* *draws*, while it is not: the next job comes, of class i at rate :math:`\lambda_i`; it starts if it fits, or
  waits in front;
* *idle*, while it is not and nobody waits behind: service, too.

While others wait behind, a state whose front is not full is left at once; here it is left at the rate
:math:`\Lambda`, as if time had passed. That changes nothing but the weight of these states, which is to be
left out.

References
----------
.. [1] A. Rumyantsev and E. Morozov, "Stability criterion of a multiserver model with simultaneous service",
   Annals of Operations Research 252, 2017. DOI 10.1007/s10479-015-1917-2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fairness.errors import ModelError
from fairness.exact.linear_algebra import whole
from fairness.exact.server_rows import as_fractions
from fairness.machine.work import current_watch
from fairness.model.cluster import Cluster
from fairness.model.problem import FloatArray, Problem
from queueing.model.laws import Exponential
from queueing.model.phase_type import PhaseType, phases_of
from queueing.model.system import System
from queueing.waiting.orders import FCFS

__all__ = ["ServiceStates", "service_states"]

State = tuple[tuple[int, ...], tuple[int, ...]]
"""Jobs in service by kind, and the classes of those who wait in front."""


class Kind(NamedTuple):
    """Jobs in service that will go on alike."""

    job_class: int
    end: float  # rate of its end
    moves: tuple[tuple[int, float], ...]  # kinds that it becomes, and the rates


class ServiceStates(NamedTuple):
    """All states that are reached from the first, and the rates between them.

    ``service``, ``draws`` and ``idle`` are sparse, (n_states, n_states), without diagonals; ``running`` and
    ``front`` (n_states, n_classes) count the jobs in service and those who wait in front, ``ends``
    (n_states,) is the rate at which jobs end, and ``full`` (n_states,) whether the front is. ``unit`` is what
    rates of service were multiplied by to make them integers, None if they are not.
    """

    service: sparse.csr_array
    draws: sparse.csr_array
    idle: sparse.csr_array
    running: NDArray[np.int64]
    front: NDArray[np.int64]
    ends: FloatArray
    full: NDArray[np.bool_]
    unit: Fraction | None = None


def _check_whole_jobs(system: System) -> None:
    """Raise unless these are jobs of a pool that come by Poisson processes, each fits, and sizes have phases.

    Raises
    ------
    ModelError
        Which of it is not so.
    """
    if isinstance(system.problem, Cluster):
        raise ModelError.of("system", "is a cluster; whole jobs in order are known on one pool (a Problem)")
    system.require_poisson("an order of whole jobs", None)
    pool: Problem = system.problem
    needs, capacities = as_fractions(pool)
    for i in np.flatnonzero(system.arrival_rates > 0).tolist():
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
        rows = enumerate(zip(needs[i], capacities, strict=True))
        if wanting := [j for j, (need, most) in rows if need > most]:
            j = wanting[0]
            raise ModelError(
                f"a job of class {name!r} needs {float(needs[i][j]):.17g} of {pool.resources[j]}, of which "
                f"there are {float(capacities[j]):.17g}: it would wait for ever; raise the capacity",
                argument="demands",
                index=(i, j),
            )
    if not system.arrival_rates.any():
        raise ModelError.of("arrival_rates", "are all 0: nobody arrives")


def service_states(system: System, order: FCFS, most: int, *, saturated: bool = False) -> ServiceStates:
    """List the states and the rates between them, the empty one first.

    Those of a saturated system are the ones that recur while others wait. Its rates are integers if they can
    be: those of service in a unit of their own, and those of draws, where no time passes, in another.

    Raises
    ------
    ModelError
        If it is no pool, arrivals are not Poisson, a job fits never, or a law of sizes has no phases; if the
        order looks at all who wait; if there are more than ``most`` states.
    """
    _check_whole_jobs(system)
    if order.lookahead == math.inf:
        raise ModelError.of("lookahead", "is infinite, and the queue then has no finite front; simulate")
    rates, phases, unit = system.arrival_rates.tolist(), _phases(system), None
    if saturated and (numbers := _integers(system)):
        rates, ends, unit = numbers
        phases = [PhaseType([1.0], [[-float(end)]]) for end in ends]
    explorer = _Explorer(system.problem, rates, phases, int(order.lookahead) + 1)
    first = explorer.full() if saturated else explorer.empty
    places: dict[State, int] = {first: 0}
    states = [first]
    entries: tuple[list[tuple[int, int, float]], ...] = ([], [], [])
    watch = current_watch()
    for x, state in enumerate(states):
        if x % 256 == 0:
            watch.check("the states of whole jobs")
        for moves, into in zip(explorer.moves(state, saturated), entries, strict=True):
            for target, rate in moves:
                if target not in places:
                    places[target] = len(states)
                    states.append(target)
                    if len(states) > most:
                        raise ModelError.of(
                            "system",
                            f"has more than {most:,} states of who is in service and who waits in front; "
                            "simulate, or look at fewer who wait",
                        )
                into.append((x, places[target], rate))
    counts = np.array([counts for counts, _ in states])
    running, front = np.zeros((2, len(states), system.n_classes), dtype=np.int64)
    for k, kind in enumerate(explorer.kinds):
        running[:, kind.job_class] += counts[:, k]
    for x, (_, waiting) in enumerate(states):
        np.add.at(front[x], list(waiting), 1)
    ends = counts @ np.array([kind.end for kind in explorer.kinds])
    service, draws, idle = (_matrix(listed, len(states)) for listed in entries)
    return ServiceStates(
        service, draws, idle, running, front, ends, front.sum(axis=1) == explorer.length, unit
    )


def _phases(system: System) -> list[PhaseType]:
    found = []
    for i, law in enumerate(system.sizes):
        try:
            # Of a class without arrivals no job is ever met.
            found.append(phases_of(law if system.arrival_rates[i] > 0 else Exponential()))
        except ModelError as error:
            name = system.problem.job_classes[i]
            raise ModelError.of("sizes", f"of {name!r} have no phases; others can be simulated") from error
    return found


def _integers(system: System) -> tuple[list[int], list[int], Fraction] | None:
    """Arrival rates in proportion and rates of ends in another unit, as integers, and the unit; or None."""
    if not all(type(law) is Exponential for law in system.sizes):
        return None
    arrivals, sizes = system.as_fractions()
    unit, ends = whole([1 / size for size in sizes])
    _, rates = whole(arrivals)
    # A state holds fewer than 2^20 jobs, and their ends are added up.
    return (rates, ends, unit) if max(*rates, *ends) < 2**33 else None


def _matrix(entries: list[tuple[int, int, float]], n: int) -> sparse.csr_array:
    rows, columns, rates = zip(*entries, strict=True) if entries else ((), (), ())
    return sparse.coo_array((rates, (rows, columns)), shape=(n, n), dtype=float).tocsr()


def _by_resource(pool: Problem) -> Iterator[list[Fraction]]:
    """The capacity of each resource that anybody needs, and what each class needs of it."""
    needs, capacities = as_fractions(pool)
    for most, *column in zip(capacities, *needs, strict=True):
        if any(column):
            yield [most, *column]


class _Explorer:
    """What follows upon a state."""

    def __init__(
        self, pool: Problem, rates: Sequence[float], phases: Sequence[PhaseType], length: int
    ) -> None:
        self.rates, self.length = rates, length
        self.kinds: list[Kind] = []
        self.starts: list[list[tuple[int, float]]] = []  # of each class: the kinds that its jobs start as
        for i, law in enumerate(phases):
            self._add(i, law)
        # In units in which all of a resource is told by integers.
        columns = [whole([most, *needs])[1] for most, *needs in _by_resource(pool)]
        self.capacities = [column[0] for column in columns]
        self.needs = list(zip(*(column[1:] for column in columns), strict=True))
        # Ten floats of 0.1 fit in 1, as they do in a simulation.
        self.slack = [0 if pool.is_rational else most // 10**12 for most in self.capacities]
        self.empty: State = ((0,) * len(self.kinds), ())
        self._fitting: dict[tuple[int, ...], list[bool]] = {}

    def _add(self, i: int, phases: PhaseType) -> None:
        first = len(self.kinds)
        ends = -phases.rates.sum(axis=1)
        for f, row in enumerate(phases.rates):
            moves = tuple((first + g, float(rate)) for g, rate in enumerate(row) if g != f and rate > 0)
            # Rows that add up to 0 but for rounding have no end.
            end = float(ends[f]) if ends[f] > 1e-12 * abs(row[f]) else 0.0
            self.kinds.append(Kind(i, end, moves))
        self.starts.append([(first + f, float(p)) for f, p in enumerate(phases.initial) if p > 0])

    def fits(self, counts: tuple[int, ...], i: int) -> bool:
        """Whether one more job of class i fits, in the numbers as they were given."""
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

    def full(self) -> State:
        """As many jobs of one class as fit, and such in front: this comes again and again."""
        (counts, _), i = self.empty, int(np.argmax(np.asarray(self.rates) > 0))
        while self.fits(counts, i):
            counts = _changed(counts, self.starts[i][0][0], 1)
        return counts, (i,) * self.length

    def moves(self, state: State, saturated: bool) -> tuple[Iterator[tuple[State, float]], ...]:
        """Service, draws and idle."""
        nothing: Iterator[tuple[State, float]] = iter(())
        if len(state[1]) == self.length:
            return self._service(state), nothing, nothing
        return nothing, self._draws(state), nothing if saturated else self._service(state)

    def _draws(self, state: State) -> Iterator[tuple[State, float]]:
        counts, front = state
        for i, rate in enumerate(self.rates):
            if rate > 0 and self.fits(counts, i):
                for k, probability in self.starts[i]:
                    yield (_changed(counts, k, 1), front), rate * probability
            elif rate > 0:
                yield (counts, (*front, i)), float(rate)

    def _service(self, state: State) -> Iterator[tuple[State, float]]:
        counts, front = state
        for k, number in enumerate(counts):
            if not number:
                continue
            kind, left = self.kinds[k], _changed(counts, k, -1)
            for other, rate in kind.moves:
                yield (_changed(left, other, 1), front), number * rate
            if kind.end > 0:
                yield from self._started(left, front, number * kind.end)

    def _started(
        self, counts: tuple[int, ...], front: tuple[int, ...], rate: float
    ) -> Iterator[tuple[State, float]]:
        """Whoever fits starts, the first one first."""
        for place, i in enumerate(front):
            if self.fits(counts, i):
                for k, probability in self.starts[i]:
                    behind = front[:place] + front[place + 1 :]
                    yield from self._started(_changed(counts, k, 1), behind, rate * probability)
                return
        yield (counts, front), rate


def _changed(counts: tuple[int, ...], k: int, by: int) -> tuple[int, ...]:
    return (*counts[:k], counts[k] + by, *counts[k + 1 :])
