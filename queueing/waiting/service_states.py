r"""Who is in front: the states of whole jobs that are served in order.

A state is how many jobs of each *kind* are in front (a kind is a class with the phase that its size is in),
and the classes of others there whose order matters: all of whom the order (:mod:`queueing.waiting.orders`)
looks at. Those behind are told by their number alone: of which class each is gets drawn when it comes to the
front, with probability :math:`p_i = \lambda_i/\Lambda`, since arrivals are Poisson [1]_.

Three kinds of moves lead from state to state:

* *service*, while the front is full: a phase or a job ends, and the order says what follows;
* *draws*, while it is not: the next job comes, of class i at rate :math:`\lambda_i`;
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

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fairness.errors import ModelError
from fairness.exact.linear_algebra import whole
from fairness.machine.work import current_watch
from fairness.model.problem import FloatArray
from queueing.model.laws import Exponential
from queueing.model.phase_type import PhaseType, phases_of
from queueing.model.system import System
from queueing.waiting.whole_jobs import Front, Order, State, WholeJobs, changed, require_whole_jobs

__all__ = ["ServiceStates", "check_whole_jobs", "service_states"]


class ServiceStates(NamedTuple):
    """All states that are reached from the first, and the rates between them.

    ``service``, ``draws`` and ``idle`` are sparse, (n_states, n_states), without diagonals; ``running`` and
    ``front`` (n_states, n_classes) count the jobs in service and the others in front, ``ends``
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


def service_states(system: System, order: Order, most: int, *, saturated: bool = False) -> ServiceStates:
    """List the states and the rates between them, the empty one first.

    Those of a saturated system are the ones that recur while others wait. Its rates are integers if they can
    be: those of service in a unit of their own, and those of draws, where no time passes, in another.

    Raises
    ------
    ModelError
        If it is no pool, arrivals are not Poisson, a job fits never, or a law of sizes has no phases; if the
        order has no finite front; if there are more than ``most`` states.
    """
    check_whole_jobs(system)
    rates, phases, unit = system.arrival_rates.tolist(), _phases(system), None
    if saturated and (numbers := _integers(system)):
        rates, ends, unit = numbers
        phases = [PhaseType([1.0], [[-float(end)]]) for end in ends]
    jobs = WholeJobs(system.problem, rates, phases)
    front = order.front(system, jobs)
    first = _filled(front, jobs) if saturated else _empty(jobs)
    places: dict[State, int] = {first: 0}
    states = [first]
    entries: tuple[list[tuple[int, int, float]], ...] = ([], [], [])
    watch = current_watch()
    for x, state in enumerate(states):
        if x % 256 == 0:
            watch.check("the states of whole jobs")
        for moves, into in zip(_moves(front, jobs, state, saturated), entries, strict=True):
            for target, rate in moves:
                if target not in places:
                    places[target] = len(states)
                    states.append(target)
                    if len(states) > most:
                        raise ModelError.of(
                            "system",
                            f"has more than {most:,} states of who is in service and who waits in front "
                            f"under {order.name}; {order.smaller}",
                        )
                into.append((x, places[target], rate))
    present, served = np.array([counts for counts, _ in states]), np.array([*map(front.served, states)])
    running, others = np.zeros((2, len(states), system.n_classes), dtype=np.int64)
    for k, kind in enumerate(jobs.kinds):
        running[:, kind.job_class] += served[:, k]
        others[:, kind.job_class] += present[:, k] - served[:, k]
    for x, (_, waiting) in enumerate(states):
        np.add.at(others[x], list(waiting), 1)
    ends = served @ np.array([kind.end for kind in jobs.kinds])
    service, draws, idle = (_matrix(listed, len(states)) for listed in entries)
    full = np.array([front.full(state) for state in states])
    return ServiceStates(service, draws, idle, running, others, ends, full, unit)


def check_whole_jobs(system: System) -> None:
    """Raise ModelError unless these are jobs of a pool that come by Poisson processes, and each fits."""
    require_whole_jobs(system.problem, system.arrival_rates > 0)
    system.require_poisson("an order of whole jobs", None)
    if not system.arrival_rates.any():
        raise ModelError.of("arrival_rates", "are all 0: nobody arrives")


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
    live = np.flatnonzero(system.arrival_rates > 0).tolist()
    if not all(type(system.sizes[i]) is Exponential for i in live):
        return None
    arrivals, sizes = system.as_fractions()
    # Of a class without arrivals no job is ever met: it ends as those of another.
    unit, ends = whole([1 / sizes[i if i in live else live[0]] for i in range(len(sizes))])
    _, rates = whole(arrivals)
    # A state holds fewer than 2^20 jobs, and their ends are added up.
    return (rates, ends, unit) if max(*rates, *ends) < 2**33 else None


def _matrix(entries: list[tuple[int, int, float]], n: int) -> sparse.csr_array:
    rows, columns, rates = zip(*entries, strict=True) if entries else ((), (), ())
    return sparse.coo_array((rates, (rows, columns)), shape=(n, n), dtype=float).tocsr()


def _filled(front: Front, jobs: WholeJobs) -> State:
    """Jobs of one class come until the front is full: this comes again and again."""
    state, i = _empty(jobs), int(np.argmax(np.asarray(jobs.rates) > 0))
    while not front.full(state):
        state, _ = next(iter(front.joined(state, i)))
    return state


def _empty(jobs: WholeJobs) -> State:
    return (0,) * len(jobs.kinds), ()


def _moves(
    front: Front, jobs: WholeJobs, state: State, saturated: bool
) -> tuple[Iterator[tuple[State, float]], ...]:
    """Service, draws and idle."""
    nothing: Iterator[tuple[State, float]] = iter(())
    if front.full(state):
        return _service(front, jobs, state), nothing, nothing
    return nothing, _draws(front, jobs, state), nothing if saturated else _service(front, jobs, state)


def _draws(front: Front, jobs: WholeJobs, state: State) -> Iterator[tuple[State, float]]:
    for i, rate in enumerate(jobs.rates):
        if rate > 0:
            for target, probability in front.joined(state, i):
                yield target, rate * probability


def _service(front: Front, jobs: WholeJobs, state: State) -> Iterator[tuple[State, float]]:
    counts, others = state
    for k, number in enumerate(front.served(state)):
        if not number:
            continue
        kind = jobs.kinds[k]
        for other, rate in kind.moves:
            yield (changed(changed(counts, k, -1), other, 1), others), number * rate
        if kind.end > 0:
            for target, probability in front.left(state, k):
                yield target, number * kind.end * probability
