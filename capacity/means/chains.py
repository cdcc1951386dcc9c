"""Means by the stationary law of the Markov chain, of as much of it as there is time for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from capacity.means.found import CHAIN, Found
from capacity.means.method import PART, Effort, Method, Plan, busy, clock
from fairness.errors import ModelError, NotConvergedError
from fairness.machine.compiling import asked
from fairness.machine.work import OutOfTime
from fairness.protocol.calling import policy_tasks
from queueing.balanced.tail_bound import StoreAndForward
from queueing.chain.boxes import Boxes, CountBoxes
from queueing.chain.lower_sets.faces import Bound, Faces
from queueing.chain.lower_sets.set_chain import set_seconds
from queueing.chain.phases.boxes import PhaseBoxes
from queueing.chain.solvers.choose_solver import Automatic, Solver
from queueing.chain.stationary import BOXES, MOST_STATES, PHASED, SETS, stationary
from queueing.model.job_trace import JobTrace
from queueing.model.system import System
from queueing.simulation.tasks.schedulers import is_scheduler
from queueing.waiting.whole_jobs import Order, waits

__all__ = ["ByChain"]

TAILS = (1e-9, 1e-6, 1e-4)
"""What a chain may leave out."""

MOMENTS = 0.5
"""Seconds that are not worth saving."""

STATE_SECONDS = 1e-5
"""Of a state, its policy apart."""

SIMPLEX, WORTH_GUESSING = 5.0, 5.0
"""Times the states below a plane that a set has at least, about; seconds from which more is asked."""

JUDGING = (0.0, 0.02, 0.05, 0.3, 0.8, 0.4, 1.2, 3.0, 6.0, 10.0, 10.0, 10.0, 10.0)
"""Seconds that it takes to estimate the error of a chain, by the number of classes: far beyond its states."""

ASKED = 2.0
"""Times the states of a chain about which its policy is asked: also about those beyond, for the error."""

SAMPLE = 32
"""States from which the time of a policy is read."""


@dataclass(frozen=True)
class ByChain(Method):
    """The stationary law of the Markov chain; arguments are those of :func:`queueing.stationary`.

    Attributes
    ----------
    tail : float, optional
        Default: of 1e-9, 1e-6, 1e-4 the smallest one that takes moments, else the largest one for which the
        error turns out to be as small as asked for, if there is time.
    """

    tail: float | None = None
    max_states: int = MOST_STATES
    shape: Any = None
    solver: Solver | None = None
    name: ClassVar[str] = "chain"

    def plan(self, system: System, policy: Any, effort: Effort) -> Plan | None:
        """Of the largest tail, which may be followed by smaller ones; of whole jobs in order the levels."""
        if waits(system, policy):
            return Plan(0.0, partial(self._levels, system, policy))
        if isinstance(policy, str) or is_scheduler(policy):
            return None
        tails = TAILS if self.tail is None else (self.tail,)
        if not effort.timed or self.shape is not None:
            return Plan(0.0, partial(self._law, system, policy, tails[0]))
        others, possible, own = busy(), list[tuple[float, float, float]](), 0.0
        judging = others * JUDGING[min(int((system.arrival_rates > 0).sum()), len(JUDGING) - 1)]
        for tail in reversed(tails):
            states, seconds = self._size(system, policy, tail, effort.seconds)
            own = own or _seconds_a_state(system, policy, states)
            seconds = others * seconds + ASKED * own * states + (judging if states else 0.0)
            if possible and seconds > effort.seconds:
                break
            if seconds <= MOMENTS:
                possible.clear()
            possible.append((tail, states, seconds))
        _, states, seconds = possible[0]
        python = f" at {own * 1e3:.2g} ms each" if own > STATE_SECONDS else ""
        laws = partial(self._laws, system, policy, [(tail, guess) for tail, _, guess in possible])
        return Plan(seconds, laws, states, f"states or more{python}")

    def _levels(self, system: System, order: Order, effort: Effort) -> Found:
        return Found.of_law(stationary(system, order, time_limit=effort.limit), CHAIN)

    def _laws(
        self, system: System, policy: Any, tails: Sequence[tuple[float, float]], effort: Effort
    ) -> Found:
        """Of smaller and smaller tails, until the means are known as well as asked for."""
        begin, (tail, guess) = clock(), tails[0]
        best = self._law(system, policy, tail, effort)
        for tail, longer in tails[1:]:
            took = clock() - begin
            left = effort.seconds - took
            # The next one takes as many times longer as was guessed.
            if best.precision(system) <= effort.precision or took * longer / guess > PART * left:
                break
            try:
                found = self._law(system, policy, tail, replace(effort, seconds=left))
            except (ModelError, NotConvergedError, OutOfTime):
                break
            if found.precision(system) < best.precision(system):
                best = found
        return best

    def _size(self, system: System, policy: Any, tail: float, given: float) -> tuple[float, float]:
        """States, and the seconds that they take without the policy, about; rather too few."""
        live = np.flatnonzero(system.arrival_rates > 0)
        n, plain = len(live), system.is_markovian
        if isinstance(system.arrivals, JobTrace) or n > (SETS if plain else PHASED):
            return 0.0, 0.0  # refused at once, with the reason
        if n > BOXES:
            bound = Bound.of(system, live.tolist())
            reach = sorted(bound.reach(row, tail) for row in np.eye(n))
            # States below a plane; further faces leave more of them, which takes longer to guess.
            states = SIMPLEX * math.prod((r + k) / k for k, r in enumerate(reach, 1))
            seconds = set_seconds(n, states)
            if seconds < PART * given and given > WORTH_GUESSING:
                states = Faces.of(bound, tail).guessed_states
                seconds = set_seconds(n, states)
            return states, seconds
        boxes: Boxes[Any] = (CountBoxes if plain else PhaseBoxes)(system, policy, Automatic())
        states = boxes.states(_box(system, tail))
        return states, STATE_SECONDS * states

    def _law(self, system: System, policy: Any, tail: float, effort: Effort) -> Found:
        options: dict[str, Any] = {"shape": self.shape, "tail": tail, "solver": self.solver}
        try:
            law = stationary(
                system,
                policy,
                distribution=False,
                max_states=self.max_states,
                # Some of the time is for what else can be done.
                time_limit=max(PART * effort.seconds, 0.0) if effort.timed else None,
                **options,
            )
        except NotConvergedError as error:
            law = error.best
            if not effort.timed or law is None or not (law.mean_jobs_error <= law.mean_jobs).all():
                raise
            found = Found.of_law(law, CHAIN)
            return found if found.precision(system) <= effort.precision else replace(found, remark=str(error))
        return Found.of_law(law, CHAIN)


def _box(system: System, tail: float) -> tuple[int, ...]:
    """States per class with so much outside under balanced fairness, or of geometric laws on a cluster."""
    if not system.is_cluster:
        return StoreAndForward.of(system).box(tail)
    ratios = system.geometric_ratios(1e-12)
    return tuple(2 + math.ceil(math.log(tail) / math.log(r)) if r > 0 else 1 for r in ratios)


def _seconds_a_state(system: System, policy: Any, states: float) -> float:
    """What it takes to ask the policy about a state of so many, about."""
    counts = np.zeros((SAMPLE, system.n_classes))
    live = system.arrival_rates > 0
    counts[:, live] = np.random.default_rng(0).integers(0, 9, (SAMPLE, int(live.sum())))
    with asked(states):  # compiled or not as it will be for all
        policy_tasks(system.problem, policy, counts[:1])  # a kernel may be loaded
        begin = clock()
        policy_tasks(system.problem, policy, counts)
    return (clock() - begin) / SAMPLE
