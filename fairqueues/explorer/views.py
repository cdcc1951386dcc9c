r"""The data of each figure: pure functions of the state, computed by the packages below.

* *Sharing*: the polygon :math:`\{\varphi\ge0 : \varphi a\le C\}`, the allocation of each policy, and the
  saturated resources that stop each class.
* *Drift*: :math:`\dot x_i = \lambda_i - \varphi_i(x)/\sigma_i` on a grid, and the fluid trajectory.
* *Region*: the loads that fit; of more than two classes the section through the current loads.

Mean service rates are in :mod:`fairqueues.explorer.rates`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from capacity.many_classes.slices import RegionSection, region_section
from capacity.regions.divisible_tasks import stability_region
from fairness.errors import FairqueuesError, NotConvergedError
from fairness.model.problem import FloatArray
from fairness.results.allocation import allocate
from fairqueues.explorer.model import State
from queueing.fluid.paths import Trajectory
from queueing.fluid.trajectory import drift, trajectory

__all__ = ["Drift", "Region", "Sharing", "drift_view", "region_view", "sharing_view"]

ARROWS = 13
"""Arrows per axis of the drift field."""

SHORTEST = 0.08
"""Length of an arrow, of that of the longest, below which it is drawn no shorter: its head tells where to."""


NAMED = 5
"""Classes with fixed loads that the note of a section names."""


@dataclass(frozen=True, eq=False)
class Sharing:
    """Allocations of the policies that are shown.

    Attributes
    ----------
    names : tuple of str
    allocations : tuple of Allocation or ClusterAllocation
    outline : ndarray of shape (n_points, 2), tasks
        The polygon; empty for more than two classes.
    lines : tuple of (str, ndarray of shape (2, 2))
        Per resource of a pool the line where it is full, within a frame around the polygon; empty for more.
    note : str
        Policies that failed; empty if none did.
    """

    names: tuple[str, ...]
    allocations: tuple[Any, ...]
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
    note : str
        How the trajectory ends.
    """

    arrows: tuple[FloatArray, ...]
    path: FloatArray
    note: str


@dataclass(frozen=True, eq=False)
class Region:
    """Loads of two classes that fit, those of the others being what they are.

    Attributes
    ----------
    classes : tuple of int
        The two that are drawn.
    outline : ndarray of shape (n_points, 2), tasks
    lines : tuple of (str, ndarray of shape (2, 2))
        Per resource, as in :class:`Sharing`.
    point, edge : ndarray of shape (2,), tasks
        The current loads, and where the region ends in their direction (of these two classes).
    note : str
        At which loads the others stay.
    """

    classes: tuple[int, int]
    outline: FloatArray
    lines: tuple[tuple[str, FloatArray], ...]
    point: FloatArray
    edge: FloatArray
    note: str


def sharing_view(state: State) -> Sharing:
    """Allocations of the policies that are shown, and the polygon of two classes.

    Examples
    --------
    >>> view = sharing_view(State())
    >>> view.names[0], view.allocations[0].tasks, view.allocations[0].bottlenecks
    ('DRF', array([3., 2.]), (('cpu',), ('cpu',)))
    """
    found, failed = [], []
    for name, policy in state.policies.items():
        try:
            found.append((name, allocate(state.problem, policy, state.counts)))
        except FairqueuesError as error:
            failed.append(f"{name}: {_first_line(error)}")
    outline: FloatArray = np.empty((0, 2))
    lines: tuple[tuple[str, FloatArray], ...] = ()
    if state.n_classes == 2:
        outline, lines = _polygon(state, _section(state.alone, (0, 1), (0.0, 0.0)))
    names, allocations = zip(*found, strict=True) if found else ((), ())
    return Sharing(names, allocations, outline, lines, "; ".join(failed))


def drift_view(state: State) -> Drift:
    """Drift field of the chosen policy with the trajectory from the starting point; two classes.

    Examples
    --------
    >>> view = drift_view(State())
    >>> len(view.arrows), view.path[0]
    (169, array([8., 2.]))
    """
    policy = state.offered[state.policy]
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
        if not isinstance(path, Trajectory):
            # The policy has no answer there, so nothing is known of the way.
            return Drift(arrows, np.array([state.start]), f"no trajectory: {_first_line(error)}")
        note = f"the trajectory could be followed to time {_rounded(path.times[-1])} only"
    return Drift(arrows, path.counts, note)


def region_view(state: State) -> Region:
    """Loads of the two chosen classes that fit beside the current loads of the others, if there are any.

    Examples
    --------
    >>> view = region_view(State())
    >>> bool(np.allclose(view.point / view.edge, 0.7))
    True
    """
    loads = state.system.loads
    one, other = state.section[0] - 1, state.section[1] - 1
    point, rest = loads[[one, other]], loads.copy()
    rest[[one, other]] = 0.0
    section = _section(state.alone, (one, other), tuple(rest.tolist()))
    outline, lines = _polygon(state, section)
    others = [i for i in range(state.n_classes) if i not in (one, other)]
    note = ", ".join(f"{state.job_classes[i]} at its load {loads[i]:.3g}" for i in others[:NAMED])
    if len(others) > NAMED:
        note = f"the other {len(others)} classes at their loads, {rest.sum():.3g} tasks together"
    edge = section.boundary(point) if point.any() else point
    return Region((one, other), outline, lines, point, edge, f"fixed: {note}" if note else "")


@lru_cache(maxsize=64)
def _section(model: State, pair: tuple[int, int], rest: tuple[float, ...]) -> RegionSection:
    """What fits of two classes beside loads of the others."""
    return region_section(stability_region(model.problem), pair, rest)


def _polygon(state: State, section: RegionSection) -> tuple[FloatArray, tuple[tuple[str, FloatArray], ...]]:
    """Outline of what fits of two classes, and where each resource is full, in a slightly larger frame."""
    vertices = section.vertices
    centred = vertices / vertices.max(axis=0) - 0.25
    outline = vertices[np.argsort(np.arctan2(centred[:, 1], centred[:, 0]))]
    frame = 1.15 * vertices.max(axis=0)
    lines = []
    for name, share in zip(section.model.resources, section.model.task_shares.T, strict=True):
        # Of a cluster the sides are no resources.
        if share.any() and not state.servers:
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
    """Strokes of the drift field: as long as the drifts, the longest fills its cell; heads go with them."""
    cell = state.reach / ARROWS
    ticks = (np.arange(ARROWS) + 0.5) * cell
    grid = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
    field = drift(state.system, state.offered[state.policy], grid)
    speed = np.hypot(*field.T)
    fastest = speed.max() or 1.0
    direction = np.divide(field, speed[:, None], out=np.zeros_like(field), where=speed[:, None] > 0)
    length = 0.9 * cell * np.maximum(speed / fastest, SHORTEST)
    length[speed <= 1e-12 * fastest] = 0.0
    step = direction * length[:, None]
    tail, tip = grid - step / 2, grid + step / 2
    normal = np.stack([-direction[:, 1], direction[:, 0]], axis=1)
    # Heads of long arrows are alike; those of short ones stay shorter than the arrow.
    head = np.minimum(0.3 * cell, 0.5 * length)[:, None]
    back, side = head * direction, 0.5 * head * normal
    strokes = np.stack([tail, tip, tip - back + side, tip - back - side, tip], axis=1)
    return tuple(strokes[length > 0])


def _fate(path: Trajectory) -> str:
    if path.status == "emptied":
        return f"empty after about {_rounded(path.emptying_time)}"
    if path.status == "diverged":
        return "the jobs diverge: this policy does not carry this load"
    return path.status


def _rounded(time: float) -> str:
    """Two digits; whole numbers from 100 to a million, so that no exponents are read."""
    return f"{time:.0f}" if 100 <= time < 1e6 else f"{time:.2g}"


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]
