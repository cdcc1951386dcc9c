r"""How the fluid is served while some classes are empty.

Let E be the classes with :math:`x_i=0`. In the random system these hold a few jobs now and then, much fewer
than the others, and by this the class stays empty: it *is held*; or their number grows, and it *leaves zero*.

**Leftovers.** Under policies where few jobs take next to nothing from many (:math:`\varphi_k` is continuous
where :math:`x_i\to0`, for :math:`k\ne i`), the classes of E live on what the others leave. With
:math:`\varphi^\emptyset` the allocation without them, resource j keeps

.. math:: m_j = C_j - \sum_k \varphi^\emptyset_k a_{kj} - \sum_{i\in E}\rho_i a_{ij}.

All stay empty while every :math:`m_j>0`, if the pool that is left is stable below load 1: for progressive
filling and alpha-fairness that is a theorem of :mod:`queueing.fluid.lyapunov`, other policies are tested
(:mod:`queueing.fluid.settling`). At :math:`m_j=0` the classes of E that demand j leave together, in
proportions where each is served at most as fast as it arrives. That takes one call of the policy and one
margin per resource, however many classes are empty.

**Averages.** Other policies may serve the many by other rules as soon as one of the few is there. Class i
is non-empty for a part :math:`\theta_i` of the time, and the pool then serves it as the policy does with
very few jobs of i present. With :math:`\varphi^S` the allocation when exactly the classes
:math:`S\subseteq E` are (barely) present, the fluid is served at

.. math::
   \varphi = \sum_{S\subseteq E} \prod_{i\in S}\theta_i \prod_{i\in E\setminus S}(1-\theta_i)\; \varphi^S,
   \qquad \varphi_i = \rho_i \text{ or } (\theta_i = 1 \text{ and } \varphi_i < \rho_i) \quad (i \in E).

A class with :math:`\theta_i<1` stays empty, a class with :math:`\theta_i = 1` leaves zero. For one empty
class this is Filippov's convention [1]_, and the limit of the random system. For several it supposes that
they are empty independently of each other, which is our choice: exact for classes that do not meet, and
whenever the :math:`\theta_i` matter through :math:`\varphi_i = \rho_i` alone (one saturated resource). The
sum runs over the leaves of :mod:`queueing.fluid.subsets`. A class with less than :math:`10^{-9}` of all jobs
counts as barely present.

References
----------
.. [1] A. F. Filippov, "Differential equations with discontinuous righthand sides", Kluwer, 1988.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fairness.model.problem import FloatArray
from queueing.fluid.subsets import ALIKE, FEW, every_subset, few_leaves
from queueing.model.system import System

__all__ = ["BARELY", "MANY", "Ask", "Averages", "Exhausted", "Face", "Leftovers"]

BoolArray = NDArray[np.bool_]

Ask = Callable[[FloatArray], FloatArray]
"""Tasks for counts of shape (..., n_classes), with the calls counted."""

BARELY = 1e-9
"""Part of all jobs that a class has when it is barely present."""


MANY = 1e-3
"""Part of all jobs from which on a class is no longer one of the few."""


class Exhausted(Exception):
    """The trajectory cannot be followed further within what was granted."""


class Face(ABC):
    """The fluid while the classes of ``empty`` stay at zero.

    Attributes
    ----------
    empty : ndarray of bool, shape (n_classes,)
    causes : tuple of int
        What each margin belongs to: class i as i, resource j as n_classes + j; anything else as -1.
    """

    causes: tuple[int, ...] = ()

    def __init__(self, system: System, ask: Ask, empty: BoolArray) -> None:
        self.system, self.ask, self.empty = system, ask, empty
        self.held = np.flatnonzero(empty & (system.arrival_rates > 0))
        self._last: tuple[bytes, FloatArray, FloatArray] | None = None

    def drift(self, u: FloatArray) -> FloatArray:
        """Drift of the counts at direction u, (n_classes,)."""
        return self._at(u)[0]

    def margins(self, u: FloatArray) -> FloatArray:
        """What keeps the classes at zero, one number per cause; the face ends where one is not positive."""
        return self._at(u)[1]

    def _at(self, u: FloatArray) -> tuple[FloatArray, FloatArray]:
        # The events of a step ask about the same point one after the other.
        key = u.tobytes()
        if self._last is None or self._last[0] != key:
            base = np.where(self.empty, 0.0, np.maximum(u, BARELY))
            self._last = key, *self._served(base)
        return self._last[1:]

    @abstractmethod
    def _served(self, base: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Drift and margins beside the present classes ``base``."""


class Leftovers(Face):
    """Empty classes that live on what the others leave; ``seen`` if only tests say that they do."""

    def __init__(self, system: System, ask: Ask, empty: BoolArray, seen: bool = False) -> None:
        super().__init__(system, ask, empty)
        self.seen = seen
        problem = system.problem
        self.shares = np.where(problem.capacities > 0, problem.task_shares, problem.demands)
        self.needed = system.loads[self.held] @ self.shares[self.held]
        self.watched = np.flatnonzero(self.needed > 0)
        self.causes = tuple(int(j) + system.n_classes for j in self.watched) + (-1,) * seen

    def _served(self, base: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Drift, and what is left of every resource that an empty class demands, as part of its capacity."""
        states = np.stack([base, base]) if self.seen else base[None]
        states[1:, self.held] = BARELY
        tasks = self.ask(states)
        f: FloatArray = self.system.arrival_rates - tasks[0] / self.system.mean_sizes
        f[self.empty] = 0.0
        left = (self.system.problem.capacities > 0) - tasks[0] @ self.shares - self.needed
        if not self.seen:
            return f, left[self.watched]
        # Few that do take from many are a reason to look anew.
        taken = float(np.abs(tasks[0] - tasks[1])[base > MANY].max(initial=0.0))
        return f, np.append(left[self.watched], 10 * ALIKE * float(tasks[0].max()) - taken)


class Averages(Face):
    """Empty classes that are there for parts of the time, independently."""

    def __init__(
        self, system: System, ask: Ask, empty: BoolArray, u: FloatArray, theta: FloatArray | None = None
    ) -> None:
        super().__init__(system, ask, empty)
        k = len(self.held)
        self.theta = np.zeros(k) if theta is None else theta
        if k <= FEW:
            self.leaves = every_subset(k)
        else:
            base = np.where(empty, 0.0, np.maximum(u, BARELY))
            stream = np.random.default_rng(0)  # of the subsets in between: the answer does not depend on it
            self.leaves = few_leaves(lambda s: ask(self._states(base, s)), self.held, stream)
        self.causes = (*(int(i) for i in self.held), -1)

    def _states(self, base: FloatArray, subsets: BoolArray) -> FloatArray:
        states = np.repeat(base[None, :], len(subsets), axis=0)
        states[:, self.held] = subsets * BARELY
        return states

    def _served(self, base: FloatArray) -> tuple[FloatArray, FloatArray]:
        system, held, leaves = self.system, self.held, self.leaves
        tasks = self.ask(self._states(base, leaves.states))
        if not len(held):
            f: FloatArray = system.arrival_rates - tasks[0] / system.mean_sizes
            f[self.empty] = 0.0
            return f, np.ones(1)
        own = leaves.own(tasks[:, held])
        self.theta = theta = self._busy(own)
        reach = leaves.when_present(theta, own)
        mean = leaves.mean(theta, tasks)
        mean[held] = np.where(theta < 1.0, system.loads[held], reach)
        f = system.arrival_rates - mean / system.mean_sizes
        f[self.empty & (system.arrival_rates == 0)] = 0.0
        f[held[theta < 1.0]] = 0.0
        # A leaf that is none any more is a reason to look anew.
        alike = 10 * ALIKE * float(tasks.max(initial=0.0)) - leaves.spread(tasks, held)
        return f, np.append(reach - system.loads[held], alike)

    def _busy(self, own: FloatArray) -> FloatArray:
        """Parts of time theta with theta_i = min(1, rho_i / E[phi_i | i present])."""
        loads, theta = self.system.loads[self.held], self.theta
        for _ in range(10_000):
            reach = self.leaves.when_present(theta, own)
            new = np.minimum(1.0, np.divide(loads, reach, out=np.ones_like(loads), where=reach > 0))
            if len(theta) == 1 or np.abs(new - theta).max() < 1e-13:
                return new
            # The mean of old and new does not cycle, unlike new alone.
            theta = 0.5 * (theta + new)
        raise Exhausted(f"no part of time was found for the empty classes, last {theta}")
