r"""Regions of guaranteed service: the loads at which every class keeps a given mean service rate.

The mean service rate of a class, the mean number of running tasks of an active job, is
:math:`\gamma_i = \rho_i/E[x_i]` (mean size over mean duration, by Little's law) [1]_. For given
:math:`g_i > 0` the region is

.. math:: \{\rho \ge 0 :\ \gamma_i(\rho) \ge g_i \text{ for all } i \text{ with } \rho_i > 0\}.

It contains a neighbourhood of 0 if and only if every :math:`g_i` is below the tasks of a job that is alone.
Classes without arrivals count for nothing, so the boundary may jump at an axis.

Four ways to the service rates: the closed-form duration bound (rates are at least that, under balanced
fairness: an inner region), balanced fairness itself (with rigorous bounds of what a finite box leaves out),
the Markov chain of any policy (exponential sizes; its truncation error is an estimate), and simulation, for
any law of sizes (:mod:`capacity.boundaries.service_simulation`).

The boundary is found on rays from the origin (:mod:`capacity.boundaries.service_rays`), more of them where it
bends (:mod:`capacity.boundaries.rays`). Every point has a bracket: at its inner end all classes keep their
rates, at its outer end some class does not.

References
----------
.. [1] T. Bonald and J. Roberts, "Resource sharing in data centers", Workshop on Performance and
   Control of Large-Scale Networks, Eindhoven, 2014.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from capacity.boundaries.region import RayRegion, traced
from capacity.boundaries.service_rates import per_class, rate_model
from capacity.boundaries.service_rays import ServicePoint, ServiceRays
from capacity.boundaries.service_simulation import Simulated, SimulatedRays
from capacity.means.words import METHODS
from fairness.arguments.validation import frozen, require, require_whole
from fairness.display.colours import part_colour
from fairness.display.lettering import label
from fairness.machine.work import ProgressOption, watching
from fairness.model.problem import FloatArray, Problem
from fairness.protocol.policy import Policy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ServicePoint", "ServiceRegion", "Simulated", "service_boundary", "service_region"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ServiceRegion(RayRegion):
    """Loads with guaranteed mean service rates; made by :func:`service_region`.

    What the points span is an inner approximation, flat between the rays; ``contains`` computes.

    Attributes
    ----------
    problem : Problem
    method : {"bound", "balanced"}, policy or Simulated
        How the service rates are found.
    minimum_service_rates, mean_sizes : ndarray of shape (n_classes,)
    precision : float
        Largest width of a bracket, in relative load.
    max_states : int, optional
    points : tuple of ServicePoint
    faces : ndarray of shape (n_faces, n_classes)
        Neighbouring points, by index: segments for two classes, triangles for three.
    """

    problem: Problem
    method: str | Policy | Simulated
    minimum_service_rates: FloatArray
    max_states: int | None = None

    def _engine(self) -> ServiceRays:
        rates = self.minimum_service_rates
        return _rays(self.problem, self.method, rates, self.mean_sizes, self.precision, self.max_states)

    @property
    def name(self) -> str:
        """ "bound", "balanced" or the name of the policy."""
        return str(self._rays.model.name)

    @property
    def evidence(self) -> str:
        """What the bracket of a point rests on."""
        return str(self._rays.model.evidence)

    @cached_property
    def binding(self) -> NDArray[np.intp]:
        """Class that sets the boundary, by index; shape (n_points,)."""
        return frozen(np.array([p.binding for p in self.points]))

    @property
    def monotone(self) -> bool:
        """Whether no service rate was seen to rise with the load on any ray."""
        return all(p.monotone for p in self.points)

    @cached_property
    def share(self) -> float:
        """:attr:`volume` over that of the stability region."""
        return self.volume / float(self._rays.region.volume)

    def _columns(self) -> list[tuple[str, Sequence[Any]]]:
        names = self.problem.job_classes
        rates = np.array([p.service_rates for p in self.points]).T
        evidence = ("tail_mass", "residual", "monotone", "evaluations")
        return [
            ("binding", [names[k] for k in self.binding]),
            *((f"service_rate {name}", row) for name, row in zip(names, rates, strict=True)),
            *((name, [getattr(p, name) for p in self.points]) for name in evidence),
        ]

    def summary(self) -> str:
        """What a person wants to read: the guarantee, the size of the region, the evidence."""
        names = self.problem.job_classes
        least = ", ".join(f"{n} >= {g:g}" for n, g in zip(names, self.minimum_service_rates, strict=True))
        sets = ", ".join(f"{names[i]} at {int(np.sum(self.binding == i))}" for i in np.unique(self.binding))
        rising = sum(not p.monotone for p in self.points)
        lines = [
            f"ServiceRegion ({self.name}): mean tasks of an active job {least}",
            f"  volume {self.volume:.6g}, {100 * self.share:.4g} % of the stability region",
            f"  inner approximation by {len(self.points)} boundary points, relative loads "
            f"{self.relative_loads.min():.6g} to {self.relative_loads.max():.6g}; set by {sets}",
            f"  brackets at most {max(p.outer - p.inner for p in self.points):.1e} wide; {self.evidence}, "
            f"tail mass at most {max(p.tail_mass for p in self.points):.1e}",
        ]
        if rising:
            lines.append(
                f"  on {rising} rays a service rate rises with the load somewhere: loads below a boundary "
                "point need not all be inside"
            )
        return "\n".join(lines)

    @property
    def _painted(self) -> str:
        return METHODS.get(self.name, self.name)

    def _label(self) -> str:
        return f"service region ({self._painted})"

    def _mark(self, ax: Axes) -> None:
        """Which class sets the boundary where."""
        for i in np.unique(self.binding):
            where = self.loads[self.binding == i]
            name = label(f"{self.problem.job_classes[i]} at its minimum")
            ax.plot(*where.T, ".", color=part_colour(i), label=name)


def service_boundary(
    problem: Problem,
    method: str | Policy | Simulated,
    minimum_service_rate: ArrayLike,
    direction: ArrayLike,
    *,
    mean_sizes: ArrayLike = 1.0,
    precision: float = 1e-6,
    max_states: int | None = None,
    progress: ProgressOption = None,
    time_limit: float | None = None,
) -> ServicePoint:
    """Where one ray leaves the region of guaranteed service; any number of classes.

    Parameters
    ----------
    direction : array_like of shape (n_classes,)
        Class loads, on any scale; >= 0. Classes with entry 0 have no arrivals.
    problem, method, minimum_service_rate, mean_sizes, precision, max_states
        As in :func:`service_region`.
    progress : callable or bool, optional
        Called with a :class:`fairness.machine.work.Progress` now and then. Default: a bar for work of more
        than seconds, where standard error is a terminal; False: none.
    time_limit : float, optional
        Seconds after which the search stops.

    Returns
    -------
    ServicePoint
        Loads in tasks, bracketed: the rates are kept at the inner end, one is missed at the outer one.

    Raises
    ------
    ModelError
        As in :func:`service_region`, and if the search would take more than ten minutes without a time
        limit, or a chain of more than four classes more than ``max_states``: told before it starts.
    NotConvergedError
        As in :func:`service_region`; ``best`` is the point with the bracket that is known, also where the
        time is over. A KeyboardInterrupt has the same ``best``.

    Examples
    --------
    One resource of capacity 10: the rates are :math:`10 (1 - u)`.

    >>> from fairness import Problem
    >>> point = service_boundary(Problem([[1]] * 4, [10]), "bound", 2.5, [1, 2, 0, 1])
    >>> point.loads.round(4)
    array([1.875, 3.75 , 0.   , 1.875])
    """
    rays = _rays(problem, method, minimum_service_rate, mean_sizes, precision, max_states)
    with watching(progress, time_limit):
        return rays.point(rays.scaled(direction))


def service_region(
    problem: Problem,
    method: str | Policy | Simulated,
    minimum_service_rate: ArrayLike,
    *,
    mean_sizes: ArrayLike = 1.0,
    points: int = 60,
    precision: float = 1e-6,
    max_states: int | None = None,
    progress: ProgressOption = None,
    time_limit: float | None = None,
) -> ServiceRegion:
    """Loads at which every class with arrivals keeps a given mean service rate.

    Parameters
    ----------
    problem : Problem
        One to three classes, all with demands; for more take :func:`service_boundary`.
    method : {"bound", "balanced"}, policy or Simulated
        Closed-form bound for balanced fairness (an inner region; not for classes with limits), balanced
        fairness itself, a policy, whose Markov chain is solved, or a policy to be simulated
        (:class:`capacity.boundaries.service_simulation.Simulated`; take a precision of 0.01 or more).
    minimum_service_rate : float or array_like of shape (n_classes,), tasks
        Smallest mean number of running tasks of an active job, > 0.
    mean_sizes : array_like of shape (n_classes,) or float, task-time per job
        Matters for policies only: the other methods are insensitive.
    points : int
        Boundary points, at least 3 (6 for three classes). A third of them (half for three classes) is spread
        evenly and the others where the boundary bends; fewer are returned where it is flat everywhere.
    precision : float
        Largest width of the bracket of a point, in relative load of the busiest resource.
    max_states : int, optional
        Largest box; default 10^10 states for balanced fairness, 10^6 for chains.
    progress, time_limit
        As in :func:`service_boundary`.

    Returns
    -------
    ServiceRegion

    Raises
    ------
    ModelError
        If an argument is wrong, the region is empty, or a box does not fit.
    NotConvergedError
        If a law could not be computed at the outer end of a bracket (a chain that grows beyond
        ``max_states``: raise it, or the minimum rate), or not accurately enough for ``precision``; or if the
        time is over. ``best`` is the region of the points found by then, None where they span none.

    Examples
    --------
    >>> from fairness import Problem
    >>> pool = Problem([[1, 0.1], [0.1, 1]], [1, 1], job_classes=["A", "B"])
    >>> exact, inner = (service_region(pool, how, 0.2, points=20) for how in ("balanced", "bound"))
    >>> exact.contains([0.7, 0.7]), exact.contains([0.75, 0.75])
    (True, False)
    >>> round(inner.share, 3) < round(exact.share, 3) < 1
    True
    """
    rays = _rays(problem, method, minimum_service_rate, mean_sizes, precision, max_states)
    build = partial(
        ServiceRegion, problem=problem, method=method, minimum_service_rates=rays.minimum,
        max_states=max_states, mean_sizes=rays.model.mean_sizes, precision=rays.precision,
    )  # fmt: skip
    return traced(rays, points, build, progress, time_limit)


def _rays(
    problem: Problem,
    method: str | Policy | Simulated,
    minimum: ArrayLike,
    mean_sizes: ArrayLike,
    precision: float,
    max_states: int | None,
) -> ServiceRays:
    if max_states is not None:
        require_whole("max_states", max_states, 1)
    rate = per_class("minimum_service_rate", minimum, problem)
    require(
        "minimum_service_rate", rate, np.isfinite(rate) & (rate > 0), "finite and > 0", problem.job_classes
    )
    if not isinstance(method, Simulated):
        model = rate_model(problem, method, mean_sizes, max_states)
        return ServiceRays(model, frozen(rate), precision)
    method.refuse_box(max_states)
    return SimulatedRays(problem, method, mean_sizes, frozen(rate), precision)
