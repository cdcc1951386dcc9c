r"""Invariant directions of the fluid limit with two classes: rays, and how fast the jobs grow along them.

With :math:`p = x_2/(x_1+x_2)` and a time s with :math:`dt = |x|\,ds` (see :mod:`queueing.fluid.integration`)
the direction and the size obey

.. math:: \frac{dp}{ds} = g(p) = f_2 - p\,(f_1+f_2), \qquad \frac{d\log|x|}{ds} = h(p) = f_1 + f_2 .

The direction lives on an interval, so it always tends to a zero of g: there are no cycles. At a zero
:math:`p^*` the drift is parallel to the direction, and :math:`x(t) = x(0)(1 + h(p^*)\,t/|x(0)|)` is a
trajectory, by definition. Where g jumps from + to - the trajectory slides along the ray, under the mixture
of both sides for which g is 0 (Filippov [1]_). An end of the interval is invariant if the class that is
empty there is served faster than it arrives as soon as it is present,
:math:`\varphi_2(1,0^+) > \rho_2`; it then is present a part :math:`\theta = \rho_2/\varphi_2(1,0^+)` of the
time, and :math:`h = \lambda_1 - [(1-\theta)\varphi_1(1,0) + \theta\varphi_1(1,0^+)]/\sigma_1`.

*What decides.* If h < 0 at all zeros of g, then
:math:`V(x) = |x|\,e^{\psi(p)}` with :math:`\psi' = -(h+\delta)/g` away from the zeros decreases at rate
:math:`\delta`: all trajectories drain. If h > 0 at a zero that attracts, the trajectories around it grow.
If h > 0 only at zeros that repel, on one side at least, the fluid limit does not decide: the random system
leaves the ray sooner or later.

Zeros are changes of sign of g on a grid that is dense at both ends and refined where \|g\| has a minimum,
then bracketed to rounding; two zeros closer than the grid, with no minimum seen in between, can be missed.

References
----------
.. [1] A. F. Filippov, "Differential equations with discontinuous righthand sides", Kluwer, 1988.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from fairness.arguments.validation import frozen, require_whole
from fairness.errors import ModelError
from fairness.model.problem import FloatArray
from fairness.protocol.calling import policy_tasks
from fairness.protocol.cluster_policy import AnyPolicy
from queueing.fluid.faces import BARELY
from queueing.fluid.integration import check_homogeneous
from queueing.model.system import System, check_system

__all__ = ["Ray", "rays"]

ZERO = 1e-12
"""|g| below this part of the largest rate counts as 0: the direction does not move."""

SECTIONS = 64
"""Parts into which a bracket is cut at once; the policy is asked for all of them in one call."""


@dataclass(frozen=True, eq=False)
class Ray:
    """A direction that the fluid limit keeps.

    Attributes
    ----------
    direction : ndarray of shape (n_classes,)
        Parts of the classes among all jobs; they sum to 1.
    growth : float, jobs per unit of time
        Of the total number of jobs along the ray: negative if it drains.
    kind : {"attracting", "repelling", "neutral"}
        Neutral where neighbouring directions do not move towards it from both sides nor away on both.
    sliding : bool
        The policy jumps across the ray, and the trajectory follows a mixture of both sides.
    held : tuple of int
        Classes that stay empty.
    """

    direction: FloatArray
    growth: float
    kind: str
    sliding: bool
    held: tuple[int, ...]


def rays(
    system: System, policy: AnyPolicy, *, resolution: int = 400, growing: bool = False
) -> tuple[Ray, ...]:
    """Invariant directions of the fluid limit of one or two classes with arrivals.

    Parameters
    ----------
    system : System
        Classes without arrivals are left out.
    policy : callable
        Homogeneous of degree 0 in counts.
    resolution : int
        Points of the first grid of directions, at least 16.
    growing : bool
        Whether zeros of g are left out where h < 0 on both sides of them, which spares most calls.

    Returns
    -------
    tuple of Ray
        In increasing order of the part of the second class.

    Raises
    ------
    ModelError
        If more than two classes have arrivals, or the policy depends on more than the proportions.

    Examples
    --------
    Two classes that own half of a resource each; the second has more load than its half.

    >>> from fairness import Problem
    >>> pool = Problem([[1], [1]], [1])
    >>> halves = lambda problem, counts: 0.5 * (np.asarray(counts) > 0)
    >>> for ray in rays(System(pool, [0.2, 0.6]), halves):
    ...     print(ray.direction, round(ray.growth, 6), ray.kind)
    [0. 1.] 0.1 attracting
    """
    require_whole("resolution", resolution, 16)
    live = np.flatnonzero(check_system(system).arrival_rates > 0)
    if not 1 <= len(live) <= 2:
        raise ModelError(
            f"rays are listed for one or two classes with arrivals, but {len(live)} have some; "
            "take fluid_verdict for more"
        )
    probe = np.zeros(system.n_classes)
    probe[live] = 1.0 / len(live)
    check_homogeneous(system, policy, probe / 32)
    if len(live) == 1:
        tasks = policy_tasks(system.problem, policy, probe)
        f = system.arrival_rates - tasks / system.mean_sizes
        return (Ray(frozen(probe), float(f[live[0]]), "attracting", False, ()),)
    return _Interval(system, policy, live, growing).rays(resolution)


class _Interval:
    """The directions p of two classes ``live``."""

    def __init__(self, system: System, policy: AnyPolicy, live: np.ndarray, growing: bool) -> None:
        self.system, self.policy, self.live, self.growing = system, policy, live, growing
        self.rates, self.sizes = system.arrival_rates[live], system.mean_sizes[live]

    def tasks(self, pairs: FloatArray) -> FloatArray:
        """Tasks of the two classes, (n, 2), for their counts (n, 2)."""
        counts = np.zeros((len(pairs), self.system.n_classes))
        counts[:, self.live] = pairs
        return policy_tasks(self.system.problem, self.policy, counts)[:, self.live]

    def field(self, p: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Motion g and growth h at interior directions."""
        f = self.rates - self.tasks(np.column_stack([1.0 - p, p])) / self.sizes
        h = f.sum(axis=1)
        g = f[:, 1] - p * h
        scale = float(self.rates.sum() + np.abs(f).max())
        return np.where(np.abs(g) <= ZERO * scale, 0.0, g), h

    def rays(self, resolution: int) -> tuple[Ray, ...]:
        # Log odds reach both ends; the uniform part keeps the middle dense.
        odds = np.linspace(0.0, np.log(1 / BARELY), resolution // 4)[1:]
        small = 1.0 / (1.0 + np.exp(odds))
        p = np.unique(np.concatenate([small, 1.0 - small, np.linspace(0, 1, resolution // 2)[1:-1]]))
        g, h = self.field(p)
        for _ in range(3):
            size = np.abs(g)
            minima = 1 + np.flatnonzero(
                (size[1:-1] <= size[:-2]) & (size[1:-1] < size[2:]) & (size[1:-1] > 0)
            )
            dips = [k for k in minima if g[k - 1] * g[k] > 0 and g[k] * g[k + 1] > 0]
            if not dips:
                break
            more = np.concatenate([np.linspace(p[k - 1], p[k + 1], 19)[1:-1] for k in dips])
            p, first = np.unique(np.concatenate([p, more]), return_index=True)
            new_g, new_h = self.field(more)
            g, h = np.concatenate([g, new_g])[first], np.concatenate([h, new_h])[first]
        found = [self._end(0), *self._inside(p, g, h), self._end(1)]
        return tuple(ray for ray in found if ray is not None)

    def _end(self, present: int) -> Ray | None:
        """The direction with only one class, if the other stays empty."""
        other = 1 - present
        alone, both = np.zeros(2), np.full(2, BARELY)
        alone[present] = both[present] = 1.0
        without, beside = self.tasks(np.stack([alone, both]))
        load = self.rates[other] * self.sizes[other]
        if beside[other] <= load:
            return None
        theta = load / beside[other]
        served = (1 - theta) * without[present] + theta * beside[present]
        growth = float(self.rates[present] - served / self.sizes[present])
        return self._ray(float(present), growth, "attracting", False, (int(self.live[other]),))

    def _inside(self, p: FloatArray, g: FloatArray, h: FloatArray) -> list[Ray]:
        sign = np.sign(g)
        found = []
        moving = np.flatnonzero(sign)
        if len(moving) == 0:
            k = int(np.argmax(h))
            return [self._ray(p[k], h[k], "neutral", False, ())]
        for a, b in pairwise(moving.tolist()):
            if b == a + 1:
                if sign[a] != sign[b] and not (self.growing and max(h[a], h[b]) < 0):
                    found.append(self._bracketed(p[a], p[b], sign[a]))
                continue
            # The direction stands still between a and b: at one point, or on an interval.
            k = a + 1 + int(np.argmax(h[a + 1 : b]))
            kind = "neutral" if sign[a] == sign[b] else "attracting" if sign[a] > 0 else "repelling"
            found.append(self._ray(p[k], h[k], kind, False, ()))
        for edge, inward in ((moving[0], 1.0), (moving[-1], -1.0)):
            run = slice(0, edge) if inward > 0 else slice(edge + 1, len(p))
            if len(h[run]):
                k = int(np.argmax(h[run])) + (run.start or 0)
                kind = "repelling" if sign[edge] == inward else "attracting"
                ray = self._ray(p[k], h[k], kind, False, ())
                found.insert(0 if inward > 0 else len(found), ray)
        return found

    def _bracketed(self, low: float, high: float, sign: float) -> Ray:
        """Zero of g between two directions of opposite motion."""
        grid = np.array([low, high])
        for _ in range(12):
            cut = np.unique(np.linspace(low, high, SECTIONS + 1))
            if len(cut) <= 2:
                break
            g, _ = self.field(cut)
            first = int(np.argmax(np.sign(g) != sign))
            low, high = float(cut[first - 1]), float(cut[first])
            grid = np.array([low, high])
            if g[first] == 0:
                grid = np.array([high, high])
                break
        g, h = self.field(grid)
        gap = float(g[0] - g[1])
        part = float(g[0]) / gap if gap else 0.0
        # Across a jump g does not become small with the bracket.
        sliding = abs(gap) > 1e-6 * float(self.rates.sum())
        growth = float((1 - part) * h[0] + part * h[1])
        kind = "attracting" if sign > 0 else "repelling"
        return self._ray((1 - part) * grid[0] + part * grid[1], growth, kind, sliding, ())

    def _ray(self, p: float, growth: float, kind: str, sliding: bool, held: tuple[int, ...]) -> Ray:
        direction = np.zeros(self.system.n_classes)
        direction[self.live] = 1.0 - p, p
        return Ray(frozen(direction), float(growth), kind, sliding, held)
