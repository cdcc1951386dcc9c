r"""Integration of the fluid limit, piece by piece.

Of the fluid limit of :mod:`queueing.fluid.trajectory`, :math:`\dot x_i = \lambda_i - \varphi_i(x)/\sigma_i`.

**Time change.** In :math:`|x|=\sum_i x_i`, :math:`u = x/|x|` and the time s with :math:`dt = |x|\,ds`,

.. math:: \frac{du}{ds} = f(u) - u\sum_i f_i(u), \quad \frac{d\log|x|}{ds} = \sum_i f_i(u), \quad
          \frac{dt}{ds} = |x|, \qquad f_i = \lambda_i - \varphi_i/\sigma_i .

The origin, which a stepper in t approaches by ever smaller steps, moves to s = infinity. Integration stops at
:math:`|x| = 10^{-9}|x(0)|`; the rest drains along its ray in the time :math:`|x|/(-\sum_i f_i(u))`.

**Empty classes** stay empty on a *face* of the orthant or leave zero: :mod:`queueing.fluid.settling`.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairness.errors import ModelError, NotConvergedError
from fairness.model.problem import FloatArray
from fairness.protocol.calling import policy_tasks
from fairness.protocol.cluster_policy import AnyPolicy
from fairness.protocol.policy import policy_name
from queueing.fluid.faces import Exhausted, Face
from queueing.fluid.paths import FluidEvent, Trajectory
from queueing.fluid.settling import settle
from queueing.model.system import System

__all__ = ["Integrator", "check_homogeneous"]

BoolArray = NDArray[np.bool_]

EMPTY = 1e-9
"""Part of the initial jobs at which the rest is drained along its ray."""

GROWN = 1e6
"""Multiple of the initial work at which a trajectory without horizon is called diverging."""

FAR = 1e150
"""Jobs and times that are no answer: where all progress is rounding, an integrator may step as far."""

SPAN = 1e3
"""Of the transformed time in the first call of the integrator."""

SPANS = 10.0
"""Times the span before, in each further call."""

PATIENCE = 3000
"""Evaluations of one piece after which an explicit method gives way to one for stiff equations."""


class _Stiff(Exception):
    """A piece takes more steps than its shape deserves."""


class Integrator:
    """Integrates piece by piece; a piece has a fixed set E of classes that stay empty.

    Works in units of the initial number of jobs: |x(0)| = 1. ``smallest`` bounds |x|, ``largest`` the work,
    which is 1 at the start; a piece also ends, with cause "still", where u moves more slowly than ``still``.
    """

    def __init__(
        self,
        system: System,
        policy: AnyPolicy,
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
        self.work = system.mean_sizes / (self.u @ system.mean_sizes)
        self.log_size = 0.0
        self.time = 0.0
        self.smallest, self.largest, self.still = EMPTY, GROWN, 0.0
        self.steps = 0.0
        self.times = [0.0]
        self.counts = [self.u]
        self.latest = np.concatenate([self.u, [0.0, 0.0]])
        self.events: list[FluidEvent] = []
        self.face: Face

    def run(self) -> Trajectory:
        """Follow the pieces until the system is empty, the horizon is reached, or it diverges."""
        names = self.system.problem.job_classes
        before, ended = self.u == 0, ""
        try:
            for cause, face in self.regimes():
                empty = face.empty
                for i in np.flatnonzero(empty != before):
                    kind = "empties" if empty[i] else "leaves zero"
                    self.events.append(FluidEvent(self.time * self.scale, kind, names[i]))
                before, ended = empty, str(cause)
            return self._result(ended)
        except Exhausted as reason:
            # The point that was reached last stands for the piece that was not finished.
            reached = np.maximum(self.latest[: self.n], 0.0)
            self.times.append(float(self.latest[-1]))
            self.counts.append(reached / reached.sum() * math.exp(self.latest[self.n]))
            path = self._result("unfinished")
            raise NotConvergedError(
                f"the fluid trajectory stopped at time {path.times[-1]:.6g}, counts {path.counts[-1]}: "
                f"{reason}. The policy may jump inside the orthant, or drain very slowly; give a horizon, "
                "a larger rtol, or more max_evaluations",
                best=path,
            ) from None

    def regimes(self) -> Iterator[tuple[str | int | None, Face]]:
        """Integrate piece by piece: what ended each, and the face from then on.

        What begins the first is None; the last ends with a status.
        """
        face, stalled = self._settle(None, self.u == 0), 0
        yield None, face
        while True:
            log_size, steps = self.log_size, self.steps
            cause = self._piece(face)
            if isinstance(cause, str):
                yield cause, face
                return
            face = self._settle(cause, face.empty)
            yield cause, face
            # A regime may last for no time, but not many regimes in a row.
            moved = abs(self.log_size - log_size) + self.steps - steps
            stalled = 0 if moved > 1e-12 else stalled + 1
            if stalled > 4 * self.n:
                raise Exhausted("the trajectory changes its regime again and again at one point")

    def _settle(self, cause: int | None, empty: BoolArray) -> Face:
        """Face of the classes that stay empty after one has emptied, or may leave zero."""
        if cause is not None and 0 <= cause < self.n and not empty[cause]:
            self.u[cause] = 0.0
            self.u /= self.u.sum()
        self.face, self.u = settle(self.system, self.policy, self._ask, self.u, cause, empty)
        return self.face

    def _ask(self, states: FloatArray) -> FloatArray:
        """Tasks under the policy; every call counts."""
        self.evaluations += 1
        if self.evaluations > self.budget:
            raise Exhausted(f"{self.budget} evaluations are spent")
        return policy_tasks(self.system.problem, self.policy, states)

    def _result(self, status: str) -> Trajectory:
        closing, emptying = 0.0, math.nan
        events = list(self.events)
        if status == "emptied":
            rate = -float(self.face.drift(self.u).sum())
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

    def _piece(self, face: Face) -> str | int:
        """Integrate to the next event; its cause: a status, a class that empties, or a cause of the face."""
        if self.method != "auto":
            return self._followed(face, self.method, self.budget)
        try:
            return self._followed(face, "RK45", self.evaluations + PATIENCE)
        except _Stiff:
            self.method = "LSODA"
            return self._followed(face, self.method, self.budget)

    def _followed(self, face: Face, method: str, most: int) -> str | int:
        from scipy.integrate import solve_ivp

        n = self.n
        present = np.flatnonzero(~face.empty)

        def lost(y: FloatArray) -> bool:
            return not (np.isfinite(y).all() and y[n] < math.log(FAR) and y[n + 1] < FAR)

        def field(s: float, y: FloatArray) -> FloatArray:
            if most < self.evaluations < self.budget:
                raise _Stiff
            if lost(y):
                raise Exhausted("the progress of the integrator is rounding")
            f = face.drift(y[:n])
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

        def left(s: float, y: FloatArray) -> float:
            if not lost(y):
                self.latest = y  # events are asked at points that are reached, not at those that are tried
            return float(y[n]) - math.log(self.smallest)

        watch("emptied", -1, left)
        if self.horizon is None:
            watch("diverged", 1, lambda s, y: y[n] + math.log(y[:n] @ self.work) - math.log(self.largest))
        else:
            end = self.horizon
            watch("horizon", 1, lambda s, y: y[n + 1] - end)
        if len(present) > 1:
            for i in present:
                watch(int(i), -1, lambda s, y, i=i: y[i])
        for k, cause in enumerate(face.causes):
            watch(cause, -1, lambda s, y, k=k: face.margins(y[:n])[k])

        y = np.concatenate([self.u, [self.log_size, self.time]])
        if self.still > 0:
            if motion(0.0, y) <= 0:
                return "still"
            watch("still", -1, motion)
        # u is of order 1 and so is log|x| per unit of s; t is of the order of |x|.
        tolerance = np.concatenate([np.full(n + 1, 1e-3 * self.rtol), [1e-3 * self.rtol * EMPTY]])
        span = SPAN
        while True:
            # A span of s at a time, each longer than the last: where the direction has settled the policy is
            # hardly asked any more, while the jobs may take 1/(1 - load) of s to go.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # LSODA's, which the status tells as well
                solution = solve_ivp(
                    field,
                    (0.0, span),
                    y,
                    method,
                    events=events,
                    rtol=self.rtol,
                    atol=tolerance,
                    dense_output=True,
                )
            if solution.status < 0:
                raise Exhausted(solution.message)
            self._record(solution)
            self.steps += float(solution.t[-1])
            span *= SPANS
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


MANY = (2**10, 2**20)
"""How many times the jobs of a state tell whether a policy depends on more than proportions."""


def check_homogeneous(
    system: System, policy: AnyPolicy, x: FloatArray, multiples: tuple[int, ...] = MANY
) -> None:
    """Refuse sizes that are not exponential, limits, and policies of more than the proportions at x.

    Of classes with arrivals and those with jobs at x: others have no jobs.
    """
    system.require_exponential("the fluid limit", present=x)
    problem, here = system.problem, (system.arrival_rates > 0) | (x > 0)
    for i in np.flatnonzero(here & np.isfinite(system.limits)):
        raise ModelError(
            f"class {problem.job_classes[i]!r} has a limit of {system.limits[i]:g} tasks per job, so the "
            "allocation depends on the number of jobs and not only on proportions; in the fluid limit "
            "limits never bind: remove them from the problem"
        )
    filled = np.where(here & (x == 0), x.sum() / problem.n_classes, x)
    # Among equal numbers of jobs many rules agree.
    states = np.stack([x, filled, filled * np.linspace(1.0, 2.0, problem.n_classes)])
    one = policy_tasks(problem, policy, states)
    for times in multiples:
        other = policy_tasks(problem, policy, float(times) * states)
        # 1e-6: the accuracy of a policy that iterates, as in fairness.testing.
        near = 1e-9 * max(1e-300, float(np.abs(one).max()))
        same = np.isclose(one, other, rtol=1e-6, atol=near).all(axis=1)
        if not same.all():
            k = int(np.argmin(same))
            raise ModelError(
                f"policy {policy_name(policy)} gives tasks {one[k]} for counts {states[k]}, but {other[k]} "
                f"for {times} times as many; the fluid limit needs an allocation that depends on "
                "proportions only"
            )
