"""The chain of the counts on one box after the other, until little probability is left outside.

Between two boxes nothing is lost: allocations are tabulated once, and the law on the smaller box, continued
geometrically, is where iterations on the larger one begin.
"""

from __future__ import annotations

import functools
import logging
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from fairness.errors import ModelError, NotConvergedError
from fairness.machine.memory import require_memory
from fairness.machine.work import OutOfTime, Watch, current_watch, stopped, watching
from fairness.model.problem import FloatArray
from fairness.protocol.cluster_policy import AnyPolicy
from fairness.protocol.policy import policy_name
from queueing.balanced.fairness import balanced_fairness
from queueing.balanced.tail_bound import StoreAndForward
from queueing.chain.box_chain import BoxChain, box_work, chain_bytes, cheap_work, extended
from queueing.chain.solvers.balance import EPSILON
from queueing.chain.solvers.choose_solver import Solution, Solver, chosen, solved
from queueing.chain.stationary_law import Stationary, box_moments, set_moments
from queueing.chain.tails import Tails
from queueing.chain.truncation import truncation_error
from queueing.model.system import System
from queueing.states.box import SMALLEST, box_name, count_states, mean_counts
from queueing.states.lower_set import LowerSet
from queueing.states.table import Table, death_rates, departure_rates, tabulate

__all__ = ["Attempt", "Boxes", "CountBoxes", "law_so_far", "nobody_served"]

_log = logging.getLogger(__name__)

FIRST_TAIL = 1e-3
"""The first box leaves at most this probability outside under balanced fairness."""

DOUBTFUL = 0.1
"""A region that leaves so much outside may belong to an unstable policy, or, if it does so given that a class
is present, be far too small for what waits then."""

ACCURATE = 1e-6
"""Relative error of the means that will do where less outside would take too many states."""

MORE = 0.3
"""Part of the time limit which the error of a law may take when the time is over."""

Shape = tuple[int, ...]
Region = TypeVar("Region")


@dataclass(frozen=True, eq=False)
class Attempt:
    """The chain on one region: solved, what it cuts off not yet judged.

    Attributes
    ----------
    system : System
    policy, method : str
        Name of the policy, and how the chain was solved.
    solution : Solution
    law : ndarray
        On the box, in the order of the classes; on a set state by state.
    tails : Tails
    axes : sequence of int
        Classes that are counted.
    cut : callable
        Gives the errors of their means by what is cut off, (n_axes,), jobs.
    states : LowerSet or None
        The states of a set, and None on a box.
    """

    system: System
    policy: str
    method: str
    solution: Solution
    law: FloatArray
    tails: Tails
    axes: Sequence[int]
    cut: Callable[[], FloatArray]
    states: LowerSet | None = None

    def judged(self) -> Stationary:
        """The result; NotConvergedError, with it as the best, if the solver missed its tolerance."""
        return self.solution.accept(self.with_error(self.cut()))

    def with_error(self, cut: FloatArray | float) -> Stationary:
        """The result, given the errors by what is cut off."""
        system, law, solution, states = self.system, self.law, self.solution, self.states
        moments = (
            box_moments(law) if states is None else set_moments(law, states, self.axes, system.n_classes)
        )
        mean_jobs, error = mean_counts(moments.marginals), np.zeros(system.n_classes)
        error[self.axes] = cut
        return Stationary(
            system=system,
            policy=self.policy,
            method=self.method,
            shape=tuple(map(len, moments.marginals)),
            n_states=law.size,
            mean_jobs=mean_jobs,
            covariance=moments.covariance,
            tail_mass=self.tails.mass,
            residual=solution.residual,
            mean_error=solution.mean_error,
            marginals=moments.marginals,
            distribution=law,
            mean_jobs_error=error + solution.mean_error * mean_jobs,
            states=moments.counts,
        )


class Boxes(ABC, Generic[Region]):
    """A chain of a system under a policy, solved on one region of counts after the other."""

    kind = "box"

    def __init__(self, system: System, policy: AnyPolicy, solver: Solver) -> None:
        self.system, self.policy, self.solver = system, policy, solver

    @abstractmethod
    def first(self, tail: float) -> Region:
        """The first region of counts to be tried."""

    @abstractmethod
    def larger(self, region: Region, tails: Tails, tail: float) -> Region:
        """The region to be tried after one that left too much outside."""

    @abstractmethod
    def states(self, region: Region) -> float:
        """States of the chain on a region."""

    @abstractmethod
    def name(self, region: Region) -> str:
        """The chain on a region in words."""

    @abstractmethod
    def attempt(self, region: Region) -> Attempt:
        """Solve on a region."""

    def law(self, region: Region) -> Stationary:
        """Law on a region."""
        return self.attempt(region).judged()

    def grown(
        self, tail: float, max_states: float, otherwise: Callable[[], Stationary] | None = None
    ) -> Stationary:
        """Law on the first region that leaves at most ``tail`` outside.

        Given that a class is present, which may be seldom, at most :func:`queueing.chain.tails.given_tail` is
        outside. If such a region would have too many states, one will do that cuts off little of the means;
        if there is none, and nothing so far speaks of an unstable policy, ``otherwise`` may find the law in
        another way.

        Raises
        ------
        NotConvergedError
            If the region would have more than ``max_states`` states.
        """
        region, last = self.first(tail), None
        while True:
            try:
                if self.states(region) > max_states:
                    known = None if last is None else last.judged()
                    if known is not None and _accurate(known):
                        return known
                    if otherwise is not None and (last is None or last.tails.most < DOUBTFUL):
                        return otherwise()
                    raise self._refusal(region, last, known, tail, max_states)
                last = self.attempt(region)
                if last.solution.complaint or last.tails.within(tail):
                    return last.judged()
            except (OutOfTime, KeyboardInterrupt) as stop:
                stop.best = last  # type: ignore[union-attr]
                raise
            before, region = region, self.larger(region, last.tails, tail)
            _log.info(
                "%s: %s leave %.1e outside, too much for tail=%g; next %s",
                policy_name(self.policy), self.name(before), last.tails.mass, tail, self.name(region),
            )  # fmt: skip

    def _refusal(
        self, region: Region, last: Attempt | None, best: Stationary | None, tail: float, max_states: float
    ) -> NotConvergedError:
        """What is said where the next region would have too many states."""
        if last is None or best is None:
            other = "" if self.system.is_cluster else "balanced_fairness, "
            return NotConvergedError(
                f"already the first {self.kind}, {self.name(region)}, exceeds max_states={max_states:,}; "
                f"raise max_states, give the shape, or use {other}simulate or the fluid limit",
                residual=1.0,
            )
        seldom = "; more while a class is present that seldom is" if best.tail_mass <= tail else ""
        return NotConvergedError(
            f"a {self.kind} of {best.n_states:,} states leaves about {best.tail_mass:.1e} outside{seldom}, "
            f"and the next, {self.name(region)}, exceeds max_states={max_states:,}; raise tail or max_states "
            f"or give the shape. At its end the law of each count changes per job by the factors "
            f"{', '.join(f'{ratio:.4g}' for _, ratio in last.tails.given)}: if one is near or above 1, "
            f"{best.policy} is probably unstable at this load",
            best=best,
            residual=best.tail_mass,
        )


def law_so_far(stop: BaseException) -> BaseException:
    """What to raise where :meth:`Boxes.grown` was stopped: with the law on the last region, if any.

    What its error asks may take a part of the time limit more; else the error is infinite.
    """
    last = getattr(stop, "best", None)
    if not isinstance(last, Attempt):
        return stopped(stop, "no law is known yet", None)
    more = MORE * current_watch().time_limit
    with watching(watch=Watch(time_limit=more, deadline=time.monotonic() + more)):
        try:
            best = last.judged()
        except OutOfTime:
            best = last.solution.accept(last.with_error(np.inf))
    known = f"a law that leaves about {best.tail_mass:.1e} outside is known, in best"
    return stopped(stop, known, best, best.tail_mass)


def _accurate(law: Stationary) -> bool:
    """Whether the means are known well, whatever is outside."""
    return bool((law.mean_jobs_error <= ACCURATE * law.mean_jobs).all())


class CountBoxes(Boxes[Shape]):
    """Exponential sizes: the counts alone are a chain.

    Parameters
    ----------
    system, policy, solver
    table : Table, optional
        Tasks that are known.

    Attributes
    ----------
    table : Table or None
        The largest table so far.
    """

    def __init__(self, system: System, policy: AnyPolicy, solver: Solver, table: Table | None = None) -> None:
        super().__init__(system, policy, solver)
        self.table = table
        self._last: tuple[Shape, Attempt] | None = None

    def first(self, tail: float) -> Shape:
        """Box with little outside under the bound of balanced fairness, or geometric laws on a cluster."""
        live = self.system.arrival_rates > 0
        if not self.system.is_cluster:
            box = StoreAndForward.of(self.system).box(FIRST_TAIL)
            return tuple(max(size, 2) if here else 1 for size, here in zip(box, live, strict=True))
        ratios = self.system.geometric_ratios(EPSILON)
        return tuple(2 + math.ceil(math.log(FIRST_TAIL) / math.log(r)) if r > 0 else 1 for r in ratios)

    def larger(self, region: Shape, tails: Tails, tail: float) -> Shape:
        """A box that should leave less than the tail, at most twice as long."""
        part = 1.0 / (4 * np.count_nonzero(self.system.arrival_rates))  # a margin: likely the last
        sizes = []
        for size, more in zip(region, tails.steps(tail, lambda *_: part), strict=True):
            if more == 0:
                sizes.append(size)
            elif size < 8 and more < math.inf:
                sizes.append(min(2 * size, size + 8))
            else:
                sizes.append(size + min(size, max(8, math.ceil(min(more, size)))))
        return tuple(sizes)

    def states(self, region: Shape) -> float:
        """States of the box."""
        return count_states(region)

    def name(self, region: Shape) -> str:
        """The box in words."""
        return f"{box_name(region)} states"

    def tabulated(self, box: Shape) -> Table:
        """Tasks on the box."""
        table = tabulate(self.system.problem, self.policy, box, known=self.table)
        if self.table is None or table.tasks.size > self.table.tasks.size:
            self.table = table
        return table

    def attempt(self, box: Shape) -> Attempt:
        """Solve on a box, from the law on the one before."""
        if self._last is not None and self._last[0] == box:
            return self._last[1]
        system = self.system
        # The longest axis last: rows along it are contiguous.
        axes = sorted((i for i in range(system.n_classes) if box[i] > 1), key=lambda i: box[i])
        method = chosen(self.solver, len(axes), lambda: box_work(box), cheap_work(box))
        remedy = "give a smaller shape, or raise tail"
        require_memory(
            chain_bytes(method, len(axes), box),
            f"the chain on {self.name(box)} (method {method!r})",
            remedy + (", or take solver=Multilevel()" if method == "elimination" else ""),
        )
        table = self.tabulated(box)
        _require_service(table)
        order = [*axes, *(i for i in range(system.n_classes) if i not in axes)]

        def guess() -> tuple[FloatArray, bool]:
            known = None if self._last is None else self._last[1].law
            whole = _first_law(system, box) if known is None else extended(known, box)
            return whole.transpose(order).reshape([box[i] for i in axes]), known is None

        up, down = system.arrival_rates[axes], departure_rates(table, system.mean_sizes, axes)
        solution = solved(BoxChain(up, down, guess, name=self.name(box), remedy=remedy), self.solver)
        law = np.ascontiguousarray(solution.law.transpose(np.argsort(axes))).reshape(box)

        def cut() -> FloatArray:
            rates, states = death_rates(table, system.mean_sizes, axes), LowerSet.box(solution.law.shape)
            return truncation_error(up, rates, states, solution.law.ravel())

        method, tails = solution.method, Tails.of_box(law)
        self._last = box, Attempt(system, table.policy, method, solution, law, tails, axes, cut)
        return self._last[1]


def _first_law(system: System, box: Shape) -> FloatArray:
    """Where iterations begin: balanced fairness, or independent geometric laws on a cluster."""
    if not system.is_cluster:
        guess = balanced_fairness(system, shape=box, distribution=True).distribution
        assert guess is not None
        return guess
    ratios = system.geometric_ratios(0.0)
    factors = (ratio ** np.arange(size) for ratio, size in zip(ratios, box, strict=True))
    law = functools.reduce(np.multiply.outer, factors)
    # Positive, where powers underflow.
    return np.maximum(law / law.sum(), SMALLEST)


def _require_service(table: Table) -> None:
    """Somebody served in every state with jobs: then the empty state is reached from everywhere."""
    idle = ~table.tasks.any(axis=-1)
    idle.flat[0] = False
    if idle.any():
        raise nobody_served(table.policy, np.argwhere(idle)[0])


def nobody_served(policy: str, state: NDArray[Any], what: str = "stationary") -> ModelError:
    """What is said of a policy that leaves all jobs of a state waiting."""
    return ModelError(
        f"{policy} serves nobody in state {tuple(int(x) for x in state)}, so the chain cannot be emptied "
        f"from there; {what} needs a policy that serves somebody whenever jobs are present"
    )
