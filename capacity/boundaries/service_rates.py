r"""Mean service rates at given loads, with enclosures: three models of the same quantity.

The rate of class :math:`i` is :math:`\rho_i/E[x_i]`; an error :math:`e_i` of the mean number encloses it in
:math:`[\rho_i/(E[x_i] + e_i),\ \rho_i/(E[x_i] - e_i)]`. For balanced fairness :math:`e_i` is the rigorous
bound of :mod:`queueing.balanced.tail_bound`, for chains the estimate :math:`2 \epsilon (K_i + E[x_i])` from
the tail mass
:math:`\epsilon` on a box of :math:`K_i` states (next to far larger boxes, two classes under DRF and PF at
load 0.8, it was 2 to 25 times the actual error), and the closed-form bound is exact as what it is.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from capacity.means.words import BALANCED, BOUND
from fairness.arguments.validation import model_array
from fairness.display.wording import rough
from fairness.errors import ModelError, UnstableError, advised
from fairness.machine.memory import require_memory
from fairness.machine.work import duration
from fairness.model.problem import FloatArray, Problem
from fairness.protocol.calling import policy_tasks
from fairness.protocol.cluster_policy import AnyPolicy
from fairness.protocol.policy import Policy, policy_name
from queueing.balanced.duration_bound import duration_bound
from queueing.balanced.fairness import balanced_fairness
from queueing.balanced.plan import balanced_plan
from queueing.chain.lower_sets.faces import Bound, Faces
from queueing.chain.lower_sets.set_chain import set_seconds
from queueing.chain.stationary import BOXES, stationary
from queueing.model.system import System
from queueing.states.table import Table, tabulate

__all__ = ["RateModel", "Rates", "per_class", "rate_model"]

ROUNDING = 1e-11
"""Relative error of a computed mean: sums of up to 10^8 positive terms, each some hundred roundings."""

SMALLER = "raise max_states, or take method='bound'"
"""Remedy for boxes that are too large: tails and shapes are chosen here."""

SIMULATED = "raise max_states, or take Simulated(policy) as the method, for any number of classes"
"""The same for chains."""

FASTER = "take a larger precision, fewer classes, method='bound'"
"""What makes a search faster."""


@dataclass(frozen=True, eq=False)
class Rates:
    """Enclosures of the service rates, shape (n_classes,), nan without arrivals; and their evidence."""

    low: FloatArray
    high: FloatArray
    tail_mass: float
    residual: float


def per_class(name: str, values: ArrayLike, problem: Problem) -> FloatArray:
    """A number, or one per class, as an array of shape (n_classes,)."""
    given = model_array(name, values, problem, "job_classes")
    if given.shape not in ((), (problem.n_classes,)):
        raise ModelError.of(name, f"must be a number or one per class; got shape {given.shape}")
    return np.full(problem.n_classes, given)


class RateModel(ABC):
    """Service rates as a function of class loads."""

    name: str
    evidence: ClassVar[str]
    proves: ClassVar[bool] = True

    def __init__(self, problem: Problem, mean_sizes: ArrayLike) -> None:
        empty = System(problem, np.zeros(problem.n_classes), mean_sizes)
        self.problem = empty.require_pool("a region of service", "policy_stability_region or load_curves")
        self.mean_sizes = empty.mean_sizes

    policy: AnyPolicy | None = None
    """The policy that is asked, if one is."""

    def alone(self) -> FloatArray:
        """Tasks of a job that is alone, (n_classes,): the rates at load 0."""
        if self.policy is not None:
            return np.diagonal(policy_tasks(self.problem, self.policy, np.eye(self.problem.n_classes))).copy()
        longest = np.maximum(self.problem.task_shares.max(axis=1), 1.0 / self.problem.limits)
        return np.divide(1.0, longest, out=np.zeros_like(longest), where=~self.problem.blocked)

    @abstractmethod
    def rates(self, loads: FloatArray, tail: float) -> Rates:
        """Rates at stable loads; ``tail`` is the probability that a box may leave out."""

    instead: ClassVar[str] = FASTER
    """What to do where a search takes too long."""

    def seconds(self, loads: FloatArray, tail: float) -> float:
        """Time that these rates take, about; NaN where only trying tells.

        Raises
        ------
        ModelError
            If it is known before that they take too much memory, or too many states.
        """
        return math.nan

    def _system(self, loads: FloatArray) -> System:
        return System(self.problem, loads / self.mean_sizes, self.mean_sizes)


class _Bound(RateModel):
    name = BOUND
    evidence = "closed-form bound for balanced fairness"

    def rates(self, loads: FloatArray, tail: float) -> Rates:
        with advised("take method='balanced'", "balanced_fairness"):
            bound = duration_bound(self._system(loads))
        rates = np.where(loads > 0, bound.service_rates, np.nan)
        return Rates(rates, rates, 0.0, 0.0)


class _Balanced(RateModel):
    name = BALANCED
    evidence = "rigorous bounds of the tail"
    instead = f"{FASTER}, or Simulated(policy) as the method"

    def __init__(self, problem: Problem, mean_sizes: ArrayLike, max_states: int) -> None:
        super().__init__(problem, mean_sizes)
        self._max_states = max_states

    def rates(self, loads: FloatArray, tail: float) -> Rates:
        with advised(SMALLER, "tail", "shape"):
            law = balanced_fairness(self._system(loads), tail=tail, max_states=self._max_states)
        return _enclosed(loads, law.mean_jobs, law.mean_jobs_error, law.tail_mass, 0.0)

    def seconds(self, loads: FloatArray, tail: float) -> float:
        with advised(SMALLER, "tail", "shape"):
            plan = balanced_plan(self._system(loads), tail=tail)
        what = f"balanced fairness on about {rough(plan.states)} states"
        require_memory(plan.n_bytes, what, self.instead)
        return plan.seconds


class _Chain(RateModel):
    policy: AnyPolicy
    evidence = "Markov chain, error estimated from the tail"
    proves = False
    instead = f"{FASTER}, or Simulated(policy) as the method"

    def __init__(self, problem: Problem, policy: AnyPolicy, mean_sizes: ArrayLike, max_states: int) -> None:
        super().__init__(problem, mean_sizes)
        self.name = policy_name(policy)
        self.policy, self._max_states = policy, max_states
        self._table: Table | None = None

    def rates(self, loads: FloatArray, tail: float) -> Rates:
        with advised(SIMULATED, "tail", "shape", "simulate", "balanced_fairness"):
            try:
                law = stationary(
                    self._system(loads),
                    self.policy,
                    tail=tail,
                    max_states=self._max_states,
                    table=self._table,
                    distribution=False,
                )
            except UnstableError:  # where jobs grow for ever
                none = np.where(loads > 0, 0.0, np.nan)
                return Rates(none, none, 0.0, 0.0)
        if law.n_states == math.prod(law.shape):  # a box around a set of states would be far larger
            self._keep(law.shape)
        reach = np.array(law.shape) + law.mean_jobs
        error = law.mean_error * law.mean_jobs + 2.0 * law.tail_mass * reach
        return _enclosed(loads, law.mean_jobs, error, law.tail_mass, law.residual)

    def seconds(self, loads: FloatArray, tail: float) -> float:
        """Known where states lie in a set; that on a box is known after the first."""
        live = np.flatnonzero(loads > 0).tolist()
        if len(live) <= BOXES:
            return math.nan
        states = Faces.of(Bound.of(self._system(loads), live), tail).guessed_states
        seconds = set_seconds(len(live), states)
        if states > self._max_states:
            raise ModelError(
                f"one law of {self.name} is a chain of {len(live)} classes on about {rough(states)} states, "
                f"about {duration(seconds)} of work, and max_states={self._max_states:,}; raise "
                f"max_states, or {self.instead}"
            )
        return seconds

    def _keep(self, shape: tuple[int, ...]) -> None:
        """Hold a table for the next chain: the policy does not depend on the loads."""
        old = self._table
        if old is None:
            self._table = tabulate(self.problem, self.policy, shape)
            return
        union = np.maximum(old.shape, shape)
        if (union > old.shape).any():
            # Boxes of very different shapes: their union would be mostly states that no chain visits.
            wide = union.prod() > 2 * (np.prod(old.shape) + np.prod(shape))
            self._table = tabulate(self.problem, self.policy, shape if wide else union.tolist(), known=old)


def _enclosed(
    loads: FloatArray, mean_jobs: FloatArray, error: FloatArray, tail_mass: float, residual: float
) -> Rates:
    live = loads > 0
    error = error + ROUNDING * mean_jobs
    low, high = np.full((2, len(loads)), np.nan)
    low[live] = loads[live] / (mean_jobs + error)[live]
    least = (mean_jobs - error)[live]
    high[live] = np.divide(loads[live], least, out=np.full(len(least), np.inf), where=least > 0)
    return Rates(low, high, tail_mass, residual)


def rate_model(
    problem: Problem, method: str | Policy, mean_sizes: ArrayLike, max_states: int | None
) -> RateModel:
    """Model for "bound", "balanced" or a policy.

    Raises
    ------
    ModelError
        If the method is unknown.
    """
    if not isinstance(method, str):
        return _Chain(problem, method, mean_sizes, max_states or 1_000_000)
    if method == BALANCED:
        return _Balanced(problem, mean_sizes, max_states or 10_000_000_000)
    if method != BOUND:
        raise ModelError.of(
            "method", f"must be 'bound', 'balanced' or a policy such as DRF(); got {method!r}"
        )
    return _Bound(problem, mean_sizes)
