r"""Integration of the fluid limit, piece by piece.

Of the fluid limit of :mod:`queueing.fluid.trajectory`, :math:`\dot x_i = \lambda_i - \varphi_i(x)/\sigma_i`.

**Time change.** In :math:`|x|=\sum_i x_i`, :math:`u = x/|x|` and the time s with :math:`dt = |x|\,ds`,

.. math:: \frac{du}{ds} = f(u) - u\sum_i f_i(u), \quad \frac{d\log|x|}{ds} = \sum_i f_i(u), \quad
          \frac{dt}{ds} = |x|, \qquad f_i = \lambda_i - \varphi_i/\sigma_i .

The origin, which a stepper in t approaches by ever smaller steps, moves to s = infinity. Integration stops at
:math:`|x| = 10^{-9}|x(0)|`; the rest drains along its ray in the time :math:`|x|/(-\sum_i f_i(u))`.

**Empty classes.** Let E be the classes with :math:`x_i=0`. In the random system these hold a few jobs now and
then. Class i is non-empty for a part :math:`\theta_i` of the time, and the pool then serves it as the policy
does with very few jobs of i present. With :math:`\varphi^S` the allocation when exactly the classes
:math:`S\subseteq E` are (barely) present, the fluid is served at

.. math::
   \varphi = \sum_{S\subseteq E} \prod_{i\in S}\theta_i \prod_{i\in E\setminus S}(1-\theta_i)\; \varphi^S,
   \qquad \varphi_i = \rho_i \text{ or } (\theta_i = 1 \text{ and } \varphi_i < \rho_i) \quad (i \in E).

A class with :math:`\theta_i<1` stays empty, a class with :math:`\theta_i = 1` leaves zero. For one empty
class this is Filippov's convention [1]_, and the limit of the random system. For several it supposes that
they are empty independently of each other, which is our choice: exact for classes that do not meet, and
whenever the :math:`\theta_i` matter through :math:`\varphi_i = \rho_i` alone (one saturated resource).
Under continuous policies (:math:`\varphi_i\to0` as :math:`x_i\to0`) a class leaves zero at once. A class
with less than :math:`10^{-9}` of all jobs counts as barely present.

References
----------
.. [1] A. F. Filippov, "Differential equations with discontinuous righthand sides", Kluwer, 1988.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from fairness.errors import ModelError, NotConvergedError
from fairness.model.problem import FloatArray
from fairness.protocol.calling import policy_tasks
from fairness.protocol.policy import Policy, policy_name
from queueing.fluid.paths import FluidEvent, Trajectory
from queueing.model.system import System, check_system

__all__ = ["BARELY", "Exhausted", "Integrator", "check_homogeneous"]

BoolArray = NDArray[np.bool_]

BARELY = 1e-9
"""Part of all jobs that a class has when it is barely present."""

EMPTY = 1e-9
"""Part of the initial jobs at which the rest is drained along its ray."""

MANY = 12
"""Most classes that are held at zero together."""

GROWN = 1e6
"""Multiple of the initial jobs at which a trajectory without horizon is called diverging."""


class Exhausted(Exception):
    """The budget of evaluations is spent."""


class Integrator:
    """Integrates piece by piece; a piece has a fixed set E of classes that stay empty.

    Works in units of the initial number of jobs: |x(0)| = 1. ``smallest`` and ``largest`` bound |x|; a piece
    also ends, with cause "still", where the direction u moves more slowly than ``still``.
    """

    def __init__(
        self,
        system: System,
        policy: Policy,
        start: FloatArray,
        horizon: float | None,
        rtol: float,
        method: str,
        refine: int,
        max_evaluations: int,
    ) -> None:
        self.system, self.policy = system, policy
        self.n = system.n_classes
        self.scale = float(start.sum())
        self.horizon = None if horizon is None else horizon / self.scale
        self.rtol, self.method, self.refine = rtol, method, refine
        self.budget = max_evaluations
        self.evaluations = 0
        self.u = start / self.scale
        self.log_size = 0.0
        self.time = 0.0
        self.smallest, self.largest, self.still = EMPTY, GROWN, 0.0
        self.steps = 0.0
        self.theta = np.zeros(self.n)
        self.times = [0.0]
        self.counts = [self.u]
        self.latest = np.concatenate([self.u, [0.0, 0.0]])
        self.events: list[FluidEvent] = []

    def run(self) -> Trajectory:
        """Follow the pieces until the system is empty, the horizon is reached, or it diverges."""
        names = self.system.problem.job_classes
        before, ended = self.u == 0, ""
        try:
            for cause, empty in self.regimes():
                for i in np.flatnonzero(empty != before):
                    kind = "empties" if empty[i] else "leaves zero"
                    self.events.append(FluidEvent(self.time * self.scale, kind, names[i]))
                before, ended = empty, str(cause)
            return self._result(ended)
        except Exhausted as reason:
            # The point that was tried last stands for the piece that was not finished.
            tried = np.maximum(self.latest[: self.n], 0.0)
            self.times.append(float(self.latest[-1]))
            self.counts.append(tried / tried.sum() * math.exp(self.latest[self.n]))
            path = self._result("unfinished")
            raise NotConvergedError(
                f"the fluid trajectory stopped at time {path.times[-1]:.6g}, counts {path.counts[-1]}: "
                f"{reason}. The policy may jump inside the orthant, or drain very slowly; give a horizon, "
                "a larger rtol, more max_evaluations, or method='LSODA' where time scales differ much",
                best=path,
            ) from None

    def regimes(self) -> Iterator[tuple[str | int | None, BoolArray]]:
        """Integrate piece by piece: what ended each, and the classes that are empty from then on.

        What begins the first is None; the last ends with a status.
        """
        empty, stalled = self._hold(self.u == 0), 0
        yield None, empty
        while True:
            log_size, steps = self.log_size, self.steps
            cause = self._piece(empty)
            if isinstance(cause, str):
                yield cause, empty
                return
            empty = self._switch(cause, empty)
            yield cause, empty
            # A regime may last for no time, but not many regimes in a row.
            moved = abs(self.log_size - log_size) + self.steps - steps
            stalled = 0 if moved > 1e-12 else stalled + 1
            if stalled > 4 * self.n:
                raise Exhausted("the trajectory changes its regime again and again at one point")

    def _switch(self, touched: int, empty: BoolArray) -> BoolArray:
        """Classes that stay empty after class ``touched`` has emptied, or may leave zero."""
        if empty[touched]:
            # Its excess is 0 up to rounding, so it must not be asked again.
            held = self._hold(empty)
            held[touched] = False
            return held
        self.u[touched] = 0.0
        self.u /= self.u.sum()
        return self._hold(self.u == 0)

    def _result(self, status: str) -> Trajectory:
        closing, emptying = 0.0, math.nan
        events = list(self.events)
        if status == "emptied":
            rate = -float(self._derivative(self.u, self.u == 0)[0].sum())
            if rate <= 0:
                raise Exhausted("the last jobs do not drain")
            closing = math.exp(self.log_size) / rate * self.scale
            emptying = self.time * self.scale + closing
            self.times.append(self.time + closing / self.scale)
            self.counts.append(np.zeros(self.n))
            events.append(FluidEvent(emptying, "all empty", None))
            if self.horizon is not None and self.horizon > self.times[-1]:
                self.times.append(self.horizon)
                self.counts.append(np.zeros(self.n))
        elif status == "diverged":
            emptying = math.inf
        return Trajectory(
            self.system,
            policy_name(self.policy),
            np.array(self.times) * self.scale,
            np.array(self.counts) * self.scale,
            tuple(events),
            emptying,
            status,
            closing,
            self.evaluations,
        )

    def _piece(self, empty: BoolArray) -> str | int:
        """Integrate to the next event; its cause: a status, or the class that empties or leaves zero."""
        n = self.n
        present = np.flatnonzero(~empty)
        held = np.flatnonzero(empty & (self.system.arrival_rates > 0))

        def field(s: float, y: FloatArray) -> FloatArray:
            self.latest = y
            f = self._derivative(y[:n], empty)[0]
            growth = f.sum()
            return np.concatenate([f - y[:n] * growth, [growth, math.exp(y[n])]])

        events: list[Any] = []
        causes: list[str | int] = []

        def watch(cause: str | int, direction: int, function: Any) -> None:
            function.terminal, function.direction = True, direction
            events.append(function)
            causes.append(cause)

        def motion(s: float, y: FloatArray) -> float:
            return float(np.abs(field(s, y)[:n]).max()) - self.still

        watch("emptied", -1, lambda s, y: y[n] - math.log(self.smallest))
        if self.horizon is None:
            watch("diverged", 1, lambda s, y: y[n] - math.log(self.largest))
        else:
            end = self.horizon
            watch("horizon", 1, lambda s, y: y[n + 1] - end)
        if len(present) > 1:
            for i in present:
                watch(int(i), -1, lambda s, y, i=i: y[i])
        for i in held:
            watch(int(i), 1, lambda s, y, i=i: self._derivative(y[:n], empty)[1][i])

        y = np.concatenate([self.u, [self.log_size, self.time]])
        if self.still > 0:
            if motion(0.0, y) <= 0:
                return "still"
            watch("still", -1, motion)
        # u is of order 1 and so is log|x| per unit of s; t is of the order of |x|.
        tolerance = np.concatenate([np.full(n + 1, 1e-3 * self.rtol), [1e-3 * self.rtol * EMPTY]])
        while True:
            # A span of s at a time, so that the budget is the only bound.
            solution = solve_ivp(
                field,
                (0.0, 1e3),
                y,
                self.method,
                events=events,
                rtol=self.rtol,
                atol=tolerance,
                dense_output=True,
            )
            if solution.status < 0:
                raise Exhausted(solution.message)
            self._record(solution)
            self.steps += float(solution.t[-1])
            y = solution.y[:, -1]
            if solution.status == 1:
                return causes[next(k for k, times in enumerate(solution.t_events) if len(times))]

    def _record(self, solution: Any) -> None:
        """Append the points of a piece and move to its end."""
        steps = solution.t
        fine = np.interp(
            np.arange((len(steps) - 1) * self.refine + 1) / self.refine, np.arange(len(steps)), steps
        )
        y = solution.sol(fine)
        y[:, -1] = solution.y[:, -1]
        u = np.maximum(y[: self.n], 0.0)
        counts = u / u.sum(axis=0) * np.exp(y[self.n])
        self.times.extend(y[self.n + 1, 1:])
        self.counts.extend(counts.T[1:])
        self.u = u[:, -1] / u[:, -1].sum()
        self.log_size, self.time = float(y[self.n, -1]), float(y[self.n + 1, -1])

    def _hold(self, candidates: BoolArray) -> BoolArray:
        """Candidates that stay empty, of those that are empty now."""
        system = self.system
        arriving = candidates & (system.arrival_rates > 0)
        if arriving.sum() > MANY:
            # All leave if even so none is served as fast as it arrives: theta = 1 solves the equations.
            state = np.where(arriving, BARELY, np.where(candidates, 0.0, self.u))
            tasks = policy_tasks(system.problem, self.policy, state)
            if (tasks[arriving] < system.loads[arriving]).all():
                return candidates & ~arriving
            raise ModelError(
                f"{int(arriving.sum())} classes are empty at once, and some stay empty; more than {MANY} "
                "are not supported (2^n combinations): merge classes"
            )
        self.theta = np.zeros(self.n)
        excess = self._derivative(self.u, candidates)[1]
        return candidates & (excess < 0)

    def _derivative(self, u: FloatArray, empty: BoolArray) -> tuple[FloatArray, FloatArray]:
        """Drift f at direction u with the classes of ``empty`` at zero, and their excess.

        The excess is rho_i - phi_i(theta_i = 1); a class stays empty as long as it is negative.
        """
        self.evaluations += 1
        if self.evaluations > self.budget:
            raise Exhausted(f"{self.budget} evaluations are spent")
        system = self.system
        idle = empty & (system.arrival_rates == 0)
        members = np.flatnonzero(empty & ~idle)
        base = np.where(empty, 0.0, np.maximum(u, BARELY))
        bits = (np.arange(2 ** len(members))[:, None] >> np.arange(len(members))) & 1
        subsets = bits.astype(float)
        states = np.repeat(base[None, :], len(subsets), axis=0)
        states[:, members] = subsets * BARELY
        tasks = policy_tasks(system.problem, self.policy, states)
        excess = np.where(idle, -1.0, 0.0)
        f: FloatArray
        if len(members) == 0:
            f = system.arrival_rates - tasks[0] / system.mean_sizes
            f[idle] = 0.0
            return f, excess
        loads = system.loads[members]
        theta = self._busy(subsets, tasks[:, members], loads, self.theta[members])
        self.theta[members] = theta
        weights = np.prod(np.where(bits, theta, 1.0 - theta), axis=1)
        f = system.arrival_rates - weights @ tasks / system.mean_sizes
        f[idle] = 0.0
        f[members[theta < 1.0]] = 0.0
        excess[members] = system.loads[members] - _when_present(subsets, tasks[:, members], theta)
        return f, excess

    def _busy(
        self, subsets: FloatArray, tasks: FloatArray, loads: FloatArray, theta: FloatArray
    ) -> FloatArray:
        """Parts of time theta with theta_i = min(1, rho_i / E[phi_i | i present])."""
        for _ in range(10_000):
            reach = _when_present(subsets, tasks, theta)
            new = np.minimum(1.0, np.divide(loads, reach, out=np.ones_like(loads), where=reach > 0))
            if len(theta) == 1 or np.abs(new - theta).max() < 1e-13:
                return new
            # The mean of old and new does not cycle, unlike new alone.
            theta = 0.5 * (theta + new)
        raise Exhausted(f"no part of time was found for the empty classes, last {theta}")


def _when_present(subsets: FloatArray, tasks: FloatArray, theta: FloatArray) -> FloatArray:
    """Mean tasks of each empty class while it is present, the others being present independently."""
    result = np.empty(len(theta))
    for k in range(len(theta)):
        with_k = subsets[:, k] == 1
        others = np.delete(np.where(subsets, theta, 1.0 - theta), k, axis=1)
        result[k] = np.prod(others[with_k], axis=1) @ tasks[with_k, k]
    return result


def check_homogeneous(system: System, policy: Policy, x: FloatArray) -> None:
    """Refuse sizes that are not exponential, limits, and policies of more than the proportions at x."""
    check_system(system).require_exponential("the fluid limit")
    problem = system.problem
    for i in np.flatnonzero(np.isfinite(system.limits)):
        raise ModelError(
            f"class {problem.job_classes[i]!r} has a limit of {system.limits[i]:g} tasks per job, so the "
            "allocation depends on the number of jobs and not only on proportions; in the fluid limit "
            "limits never bind: remove them from the problem"
        )
    states = np.stack([x, np.where(x > 0, x, x.sum() / problem.n_classes)])
    one, other = policy_tasks(problem, policy, states), policy_tasks(problem, policy, 1024.0 * states)
    # 1e-6: the accuracy of a policy that iterates, as in fairness.testing.
    same = np.isclose(one, other, rtol=1e-6, atol=1e-9 * max(1e-300, float(np.abs(one).max()))).all(axis=1)
    if not same.all():
        k = int(np.argmin(same))
        raise ModelError(
            f"policy {policy_name(policy)} gives tasks {one[k]} for counts {states[k]}, but {other[k]} "
            "for 1024 times as many; the fluid limit needs an allocation that depends on proportions only"
        )
