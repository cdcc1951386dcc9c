"""Means by formulas: balanced fairness and its bound, processor sharing, and proved bounds of a policy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from capacity.means.found import FORMULA, MEANS, Found
from capacity.means.method import PART, Effort, Method, Plan, busy
from capacity.means.words import BALANCED, BOUND
from fairness.display.wording import rough
from fairness.machine.work import duration, watching
from fairness.protocol.family import Family, family_of
from queueing.balanced.duration_bound import duration_bound
from queueing.balanced.fairness import balanced_fairness
from queueing.balanced.plan import steps
from queueing.enclosures.moment_programs.drift_bound import drift_bound
from queueing.model.system import System
from queueing.simulation.tasks.schedulers import is_scheduler

__all__ = ["BALANCED_STATES", "ByBounds", "ByFormula", "ByRecursion"]

BOUND_SECONDS = 0.01
"""Of drift bounds, times the cube of the classes."""

WORTH_PRUNING = 10.0
"""Seconds from which pruned recursions are thought of."""

BALANCED_STATES = 100_000_000_000
"""Most states of balanced fairness, unless told otherwise: as it has them itself."""


@dataclass(frozen=True)
class ByRecursion(Method):
    """Balanced fairness ("balanced") and its closed-form bound ("bound").

    Where the recursion would take too long, balanced fairness is enclosed between closed-form bounds.
    """

    most_states: int = BALANCED_STATES
    tail: float = 1e-12
    name: ClassVar[str] = "recursion"

    def plan(self, system: System, policy: Any, effort: Effort) -> Plan | None:
        """Exact if there is time."""
        if policy == BOUND:
            return Plan(0.0, partial(self._bound, system))
        if policy != BALANCED:
            return None
        if effort.timed:
            # What can be pruned is tried out, which is worth it where there is time for more.
            _, parts = steps(system, self.tail, prune=effort.seconds > WORTH_PRUNING)
            states, seconds = sum(part.states for part in parts), sum(part.seconds for part in parts)
            if busy() * seconds > PART * effort.seconds:
                why = f"no {self.name}: about {rough(states)} states, about {duration(seconds)}"
                return Plan(0.0, partial(self._between, system, why))
        return Plan(0.0, partial(self._balanced, system))

    def _bound(self, system: System, effort: Effort) -> Found:
        bound = duration_bound(system)
        known = "an upper bound of jobs and durations, proved"
        return Found.of(bound, BOUND, known, [np.zeros(system.n_classes)] * len(MEANS))

    def _balanced(self, system: System, effort: Effort) -> Found:
        law = balanced_fairness(system, tail=self.tail, max_states=self.most_states)
        return Found.of_law(law, BALANCED)

    def _between(self, system: System, why: str, effort: Effort) -> Found:
        bound = duration_bound(system)
        least = system.arrival_rates * bound.least_durations
        return replace(Found.between(system, bound, least, bound.mean_jobs), remark=why)


@dataclass(frozen=True)
class ByFormula(Method):
    """Processor sharing: of one class, and of classes with equal weights on one resource.

    There the policies of the families below are balanced fairness, which is insensitive: means depend on the
    sizes through their means alone.
    """

    name: ClassVar[str] = "formula"

    def plan(self, system: System, policy: Any, effort: Effort) -> Plan | None:
        """Only where it is exact."""
        if not _shares_equally(system, policy):
            return None
        return Plan(0.0, lambda _: Found.of_law(balanced_fairness(system), FORMULA))


def _shares_equally(system: System, policy: Any) -> bool:
    """Whether a policy is processor sharing of this system."""
    if system.is_cluster or not system.is_poisson:
        return False
    problem, live = system.problem, system.arrival_rates > 0
    if not live.any():
        return False
    match family_of(policy):
        case Family("filling", {"growth": "tasks" | "dominant" | "assets" as growth, **more}):
            equal = growth != "tasks" and not more
        case Family("alpha-fair", {"alpha": alpha}) if alpha > 0:
            equal = alpha == 1.0
        case Family("bottleneck-max"):
            equal = True
        case _:
            return False
    one_resource = np.count_nonzero(problem.demands[live].any(axis=0)) == 1
    alike = np.ptp(problem.weights[live], axis=0) == 0 and not np.isfinite(problem.limits[live]).any()
    return bool(live.sum() == 1 or (equal and one_resource and alike))


@dataclass(frozen=True)
class ByBounds(Method):
    """Proved bounds of the mean jobs of each class: :func:`queueing.drift_bound`."""

    rounds: int = 20
    name: ClassVar[str] = "proved bounds"

    def plan(self, system: System, policy: Any, effort: Effort) -> Plan | None:
        """By the number of classes."""
        if isinstance(policy, str) or is_scheduler(policy):
            return None
        n = int((system.arrival_rates > 0).sum())
        return Plan(busy() * BOUND_SECONDS * n**3, partial(self._bounds, system, policy), 2 * n, "bounds")

    def _bounds(self, system: System, policy: Any, effort: Effort) -> Found:
        names = [str(name) for name in np.array(system.problem.job_classes)[system.arrival_rates > 0]]
        with watching(time_limit=effort.limit):
            bound = drift_bound(system, policy, of=names, rounds=self.rounds)
        lower, upper = np.zeros((2, system.n_classes))
        lower[system.arrival_rates > 0], upper[system.arrival_rates > 0] = bound.lower, bound.upper
        return Found.between(system, bound, lower, upper)
