r"""The data of each figure: pure functions of the state, computed by the packages below.

* *Sharing*: the polygon :math:`\{\varphi\ge0 : \varphi a\le C\}`, the allocation of each policy, and the
  saturated resources that stop each class.
* *Drift*: :math:`\dot x_i = \lambda_i - \varphi_i(x)/\sigma_i` on a grid, and the fluid trajectory.
* *Region*: the loads that fit; of three classes the section through the current loads.
* *Rates*: mean tasks of an active job against the load, under balanced fairness and in its closed-form bound.

What does not depend on the whole state (the curves do not know the current load) is kept for the next update.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from capacity.regions.divisible_tasks import stability_region
from fairness.catalogue import colour
from fairness.errors import FairqueuesError, NotConvergedError
from fairness.model.problem import FloatArray, Problem
from fairness.results.allocation import Allocation, allocate
from fairqueues.explorer.model import POLICIES, Row, State
from queueing.balanced.duration_bound import duration_bound
from queueing.balanced.fairness import balanced_fairness
from queueing.fluid.paths import Trajectory
from queueing.fluid.trajectory import drift, trajectory
from queueing.model.system import System

__all__ = [
    "Curves",
    "Drift",
    "Rates",
    "Region",
    "Sharing",
    "drift_view",
    "rates_view",
    "region_view",
    "sharing_view",
]

LOADS = np.concatenate([np.linspace(0.02, 0.9, 23), [0.93, 0.95]])
TAIL = 1e-6
"""Probability left out of the boxes of balanced fairness: an error of the mean of 1e-4 jobs or so."""

MAX_STATES = 5_000_000
"""Largest box of balanced fairness, about 20 ms."""

ARROWS = 13
"""Arrows per axis of the drift field."""


@dataclass(frozen=True, eq=False)
class Sharing:
    """Allocations of all policies.

    Attributes
    ----------
    names, colours : tuple of str
    allocations : tuple of Allocation
    outline : ndarray of shape (n_points, 2), tasks
        The polygon; empty for three classes.
    lines : tuple of (str, ndarray of shape (2, 2))
        Per resource the line where it is full, within a frame around the polygon; empty for three classes.
    note : str
        Policies that failed; empty if none did.
    """

    names: tuple[str, ...]
    colours: tuple[str, ...]
    allocations: tuple[Allocation, ...]
    outline: FloatArray
    lines: tuple[tuple[str, FloatArray], ...]
    note: str


@dataclass(frozen=True, eq=False)
class Drift:
    """Drift field and trajectory of one policy, two classes.

    Attributes
    ----------
    arrows : tuple of ndarray of shape (5, 2), jobs
        Strokes from tail to tip and along the head.
    path : ndarray of shape (n_points, 2), jobs
    colour : str
    note : str
        How the trajectory ends.
    """

    arrows: tuple[FloatArray, ...]
    path: FloatArray
    colour: str
    note: str


@dataclass(frozen=True, eq=False)
class Region:
    """Loads of two classes that fit, those of a third being what they are.

    Attributes
    ----------
    classes : tuple of int
        The two that are drawn.
    outline : ndarray of shape (n_points, 2), tasks
    lines : tuple of (str, ndarray of shape (2, 2))
        Per resource, as in :class:`Sharing`.
    point, edge : ndarray of shape (2,), tasks
        The current loads, and where the region ends in their direction (of these two classes).
    """

    classes: tuple[int, int]
    outline: FloatArray
    lines: tuple[tuple[str, FloatArray], ...]
    point: FloatArray
    edge: FloatArray


@dataclass(frozen=True, eq=False)
class Curves:
    """Service rates against the relative load, shape (n_loads, n_classes); NaN where not computed."""

    loads: FloatArray
    balanced: FloatArray
    bound: FloatArray


@dataclass(frozen=True, eq=False)
class Rates:
    """Curves, and the rates at the current load, (n_classes,)."""

    curves: Curves
    load: float
    balanced: FloatArray
    bound: FloatArray
    note: str


def sharing_view(state: State) -> Sharing:
    """Allocations of all policies of the catalogue, and the polygon of two classes.

    Examples
    --------
    >>> view = sharing_view(State())
    >>> view.names[1], view.allocations[1].tasks, view.allocations[1].bottlenecks
    ('DRF', array([3., 2.]), (('cpu',), ('cpu',)))
    """
    problem = state.problem
    found, failed = [], []
    for name, policy in POLICIES.items():
        try:
            found.append((name, colour(name), allocate(problem, policy, state.counts)))
        except FairqueuesError as error:
            failed.append(f"{name}: {_first_line(error)}")
    outline: FloatArray = np.empty((0, 2))
    lines: tuple[tuple[str, FloatArray], ...] = ()
    if state.n_classes == 2:
        outline, lines = _polygon(state.demands, state.capacities, state.resources)
    names, colours, allocations = zip(*found, strict=True) if found else ((), (), ())
    return Sharing(names, colours, allocations, outline, lines, "; ".join(failed))


def drift_view(state: State) -> Drift:
    """Drift field of the chosen policy with the trajectory from the starting point; two classes.

    Examples
    --------
    >>> view = drift_view(State())
    >>> len(view.arrows), view.path[0]
    (169, array([8., 2.]))
    """
    policy = POLICIES[state.policy]
    arrows = _arrows(state)
    try:
        # 1e-4 of the jobs is less than a pixel. Near load 1 the direction settles long before the jobs are
        # gone: an explicit method would take thousands of steps there.
        path = trajectory(
            state.system, policy, state.start, rtol=1e-4, refine=4, method="LSODA", max_evaluations=4000
        )
        note = _fate(path)
    except NotConvergedError as error:
        path = error.best
        note = f"the trajectory could be followed to time {_rounded(path.times[-1])} only"
    return Drift(arrows, path.counts, colour(state.policy), note)


def region_view(state: State, one: int, other: int) -> Region:
    """Loads of two classes that fit beside the current load of the third, if there is one.

    Examples
    --------
    >>> view = region_view(State(), 0, 1)
    >>> bool(np.allclose(view.point / view.edge, 0.7))
    True
    """
    problem, loads = state.problem, state.system.loads
    pair = [one, other]
    rest = np.delete(np.arange(state.n_classes), pair)
    # Below load 1 something is left of every resource.
    left = problem.capacities - loads[rest] @ problem.demands[rest]
    demands = problem.demands[pair]
    outline, lines = _polygon(tuple(map(tuple, demands.tolist())), tuple(left.tolist()), state.resources)
    point = loads[pair]
    busiest = float(np.max(point @ demands / left))
    return Region((one, other), outline, lines, point, point / busiest if busiest > 0 else point)


def rates_view(state: State) -> Rates:
    """Mean service rates of the classes against the load, and at the current load.

    Examples
    --------
    >>> view = rates_view(State())
    >>> bool((view.bound <= view.balanced).all())
    True
    """
    curves = _curves(state.demands, state.capacities, state.mix)
    balanced, bound = _rates(state.system)
    hidden = np.isnan(balanced).all() and any(state.mix)
    note = "balanced fairness is too large to compute at once at this load" if hidden else ""
    return Rates(curves, state.load, balanced, bound, note)


@lru_cache(maxsize=64)
def _curves(demands: tuple[Row, ...], capacities: Row, mix: Row) -> Curves:
    problem = Problem(demands, capacities)
    pairs = [_rates(System.with_load(problem, mix, load)) for load in LOADS]
    return Curves(LOADS, np.array([b for b, _ in pairs]), np.array([b for _, b in pairs]))


def _rates(system: System) -> tuple[FloatArray, FloatArray]:
    """Service rates under balanced fairness (NaN where its box is too large) and in the bound."""
    live = system.loads > 0
    bound = np.where(live, duration_bound(system).service_rates, np.nan)
    try:
        balanced = balanced_fairness(system, tail=TAIL, max_states=MAX_STATES).service_rates
    except FairqueuesError:
        balanced = np.full(system.n_classes, np.nan)
    return balanced, bound


@lru_cache(maxsize=64)
def _polygon(
    demands: tuple[Row, ...], capacities: Row, resources: tuple[str, ...]
) -> tuple[FloatArray, tuple[tuple[str, FloatArray], ...]]:
    """Outline of what fits of two classes, and where each resource is full, in a slightly larger frame."""
    problem = Problem(demands, capacities, resources=resources)
    vertices = stability_region(problem).vertices
    centred = vertices / vertices.max(axis=0) - 0.25
    outline = vertices[np.argsort(np.arctan2(centred[:, 1], centred[:, 0]))]
    frame = 1.15 * vertices.max(axis=0)
    lines = []
    for name, share in zip(resources, problem.task_shares.T, strict=True):
        if share.any():
            lines.append((name, _chord(share, frame)))
    return outline, tuple(lines)


def _chord(share: FloatArray, frame: FloatArray) -> FloatArray:
    """Both ends of the line share @ x = 1 within the frame, (2, 2); NaN if it passes outside."""
    ends = []
    for k in (0, 1):
        for edge in (0.0, frame[1 - k]):
            if share[k] > 0:
                x = (1.0 - share[1 - k] * edge) / share[k]
                if 0 <= x <= frame[k]:
                    ends.append((x, edge) if k == 0 else (edge, x))
    if len(ends) < 2:
        return np.full((2, 2), np.nan)
    points = np.array(ends)
    order = np.argsort(points[:, 0] / frame[0] - points[:, 1] / frame[1])
    return points[order[[0, -1]]]


def _arrows(state: State) -> tuple[FloatArray, ...]:
    """Strokes of the drift field; lengths grow with the drift, the longest fills its cell."""
    cell = state.reach / ARROWS
    ticks = (np.arange(ARROWS) + 0.5) * cell
    grid = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
    field = drift(state.system, POLICIES[state.policy], grid)
    speed = np.hypot(*field.T)
    fastest = speed.max() or 1.0
    direction = np.divide(field, speed[:, None], out=np.zeros_like(field), where=speed[:, None] > 0)
    length = 0.9 * cell * np.maximum(speed / fastest, 0.35)
    length[speed <= 1e-12 * fastest] = 0.0
    step = direction * length[:, None]
    tail, tip = grid - step / 2, grid + step / 2
    normal = np.stack([-direction[:, 1], direction[:, 0]], axis=1)
    back, side = 0.3 * cell * direction, 0.15 * cell * normal
    strokes = np.stack([tail, tip, tip - back + side, tip - back - side, tip], axis=1)
    return tuple(strokes[length > 0])


def _fate(path: Trajectory) -> str:
    if path.status == "emptied":
        return f"empty after about {_rounded(path.emptying_time)}"
    if path.status == "diverged":
        return "the jobs diverge: this policy does not carry this load"
    return path.status


def _rounded(time: float) -> str:
    """Two digits; whole numbers from 100 on, so that no exponents are read."""
    return f"{time:.2g}" if time < 100 else f"{time:.0f}"


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]
