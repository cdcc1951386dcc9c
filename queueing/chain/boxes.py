"""The chain of the counts on one box after the other, until little probability is left outside.

Between two boxes nothing is lost: allocations are tabulated once, and the law on the smaller box, continued
geometrically, is where iterations on the larger one begin.
"""

from __future__ import annotations

import functools
import logging
import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from fairness.errors import ModelError, NotConvergedError
from fairness.machine.memory import require_memory
from fairness.model.problem import FloatArray
from fairness.protocol.policy import Policy
from queueing.balanced.fairness import balanced_fairness
from queueing.balanced.tail_bound import StoreAndForward
from queueing.chain.box_chain import BoxChain, box_work, chain_bytes
from queueing.chain.solvers.balance import EPSILON
from queueing.chain.solvers.growing_box import decays, extended, larger_box
from queueing.chain.solvers.ladder import Chain, Solver, chosen, solved
from queueing.chain.stationary_law import Stationary
from queueing.chain.truncation import truncation_error
from queueing.model.cluster_load import geometric_ratios
from queueing.model.system import System
from queueing.states.box import SMALLEST, box_name, count_states
from queueing.states.table import Table, departure_rates, tabulate

__all__ = ["Boxes", "CountBoxes", "nobody_served"]

_log = logging.getLogger(__name__)

FIRST_TAIL = 1e-3
"""The first box leaves at most this probability outside under balanced fairness."""

DOUBTFUL = 0.1
"""A region that leaves so much outside may belong to an unstable policy."""

Shape = tuple[int, ...]
Region = TypeVar("Region")


class Boxes(ABC, Generic[Region]):
    """A chain of a system under a policy, solved on one region of counts after the other."""

    kind = "box"

    def __init__(self, system: System, policy: Policy, solver: Solver) -> None:
        self.system, self.policy, self.solver = system, policy, solver

    @abstractmethod
    def first(self, tail: float) -> Region:
        """The first region of counts to be tried."""

    @abstractmethod
    def larger(self, region: Region, last: Stationary, tail: float) -> Region:
        """The region to be tried after one that left too much outside."""

    @abstractmethod
    def states(self, region: Region) -> float:
        """States of the chain on a region."""

    @abstractmethod
    def name(self, region: Region) -> str:
        """The chain on a region in words."""

    @abstractmethod
    def law(self, region: Region) -> Stationary:
        """Solve on a region."""

    def grown(
        self, tail: float, max_states: float, otherwise: Callable[[], Stationary] | None = None
    ) -> Stationary:
        """Law on the first region that leaves at most ``tail`` outside.

        If it would have too many states, and nothing so far speaks of an unstable policy, ``otherwise`` may
        find the law in another way.

        Raises
        ------
        NotConvergedError
            If the region would have more than ``max_states`` states.
        """
        region, last = self.first(tail), None
        while True:
            if self.states(region) > max_states:
                if otherwise is not None and (last is None or last.tail_mass < DOUBTFUL):
                    return otherwise()
                raise self._refusal(region, last, max_states)
            last = self.law(region)
            if last.tail_mass <= tail:
                return last
            before, region = region, self.larger(region, last, tail)
            _log.info(
                "%s: %s leave %.1e outside, more than tail=%g; next %s",
                last.policy, self.name(before), last.tail_mass, tail, self.name(region),
            )  # fmt: skip

    def _refusal(self, region: Region, last: Stationary | None, max_states: float) -> NotConvergedError:
        if last is None:
            other = "" if self.system.is_cluster else "balanced_fairness, "
            return NotConvergedError(
                f"already the first {self.kind}, {self.name(region)}, exceeds max_states={max_states:,}; "
                f"raise max_states, give the shape, or use {other}simulate or the fluid limit",
                residual=1.0,
            )
        return NotConvergedError(
            f"a {self.kind} of {last.n_states:,} states leaves about {last.tail_mass:.1e} outside, and the "
            f"next, {self.name(region)}, exceeds max_states={max_states:,}; raise tail or max_states or give "
            f"the shape. At its end the law of each count changes per job by the factors "
            f"{', '.join(f'{r:.4g}' for _, r in decays(last.marginals))}: if one is near or above 1, "
            f"{last.policy} is probably unstable at this load",
            best=last,
            residual=last.tail_mass,
        )


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

    def __init__(self, system: System, policy: Policy, solver: Solver, table: Table | None = None) -> None:
        super().__init__(system, policy, solver)
        self.table = table
        self._last: Stationary | None = None

    def first(self, tail: float) -> Shape:
        """Box with little outside under the bound of balanced fairness, or geometric laws on a cluster."""
        if not self.system.is_cluster:
            return StoreAndForward.of(self.system).box(FIRST_TAIL)
        # Next to load 1 a ratio rounds to 1.
        ratios = geometric_ratios(self.system.load_evidence, self.system.problem)
        ratios = np.minimum(ratios, 1.0 - EPSILON)
        return tuple(2 + math.ceil(math.log(FIRST_TAIL) / math.log(r)) if r > 0 else 1 for r in ratios)

    def larger(self, region: Shape, last: Stationary, tail: float) -> Shape:
        """A box that should leave less than the tail, at most twice as long."""
        return larger_box(last.marginals, (self.system.arrival_rates > 0).tolist(), tail)

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

    def law(self, box: Shape) -> Stationary:
        """Solve on a box, from the law on the one before."""
        if self._last is not None and self._last.shape == box:
            return self._last
        system = self.system
        # The longest axis last: rows along it are contiguous.
        axes = sorted((i for i in range(system.n_classes) if box[i] > 1), key=lambda i: box[i])
        method = chosen(self.solver, len(axes), lambda: box_work(box), Chain.cheap)
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
            known = None if self._last is None else self._last.distribution
            whole = _first_law(system, box) if known is None else extended(known, box)
            return whole.transpose(order).reshape([box[i] for i in axes]), known is None

        up, down = system.arrival_rates[axes], departure_rates(table, system.mean_sizes, axes)
        solution = solved(BoxChain(up, down, guess, name=self.name(box), remedy=remedy), self.solver)
        cut = np.zeros(system.n_classes)
        cut[axes] = truncation_error(up, down, solution.law)
        law = np.ascontiguousarray(solution.law.transpose(np.argsort(axes))).reshape(box)
        result = Stationary.from_law(system, table.policy, solution.method, law, solution, cut)
        self._last = solution.accept(result)
        return self._last


def _first_law(system: System, box: Shape) -> FloatArray:
    """Where iterations begin: balanced fairness, or independent geometric laws on a cluster."""
    if not system.is_cluster:
        guess = balanced_fairness(system, shape=box, distribution=True).distribution
        assert guess is not None
        return guess
    ratios = geometric_ratios(system.load_evidence, system.problem)
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


def nobody_served(policy: str, state: NDArray[np.int64]) -> ModelError:
    """What is said of a policy that leaves all jobs of a state waiting."""
    return ModelError(
        f"{policy} serves nobody in state {tuple(int(x) for x in state)}, so the chain cannot be emptied "
        "from there; stationary needs a policy that serves somebody whenever jobs are present"
    )
