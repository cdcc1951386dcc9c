r"""Mean service rates against the load, method by method, computed a little at a time.

Of balanced fairness and of its bound they are closed forms or a recursion, of a policy they need the
stationary law of its Markov chain, for every load anew. So a curve is made of points that are computed once,
coarse first and then fine, and kept: an update of the page shows what is known at once and asks for more
while nobody changes anything. Chains of up to four classes are small enough for that; of five and six
classes rates are known under balanced fairness and in the bound.

A point of a policy carries the estimated relative error of its means (:mod:`queueing.chain.stationary_law`);
points with more than ``ACCURACY`` are left out, and so are loads at which the policy is unstable, or the
chain has too many states for the page.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from capacity.means.chains import ByChain
from capacity.means.formulas import ByRecursion
from capacity.means.ladder import answered
from capacity.means.method import Effort, Method
from capacity.means.words import METHODS
from fairness.errors import FairqueuesError, NotConvergedError, UnstableError
from fairness.model.problem import FloatArray, Problem
from fairness.protocol.policy import batches
from fairqueues.explorer.model import Row, State
from queueing.model.system import System

__all__ = ["BALANCED", "BOUND", "Rates", "compute_first", "rates_view", "widths"]

LOG = logging.getLogger(__name__)

BALANCED, BOUND = "balanced fairness", "bound"

METHOD = {name: word for word, name in METHODS.items()}
"""Words of what is no policy."""

LOADS = (*np.linspace(0.02, 0.9, 23).round(12).tolist(), 0.93, 0.95)
COARSE = (0.3, 0.62, 0.82, 0.02, 0.46, 0.74, 0.9)
"""Loads of a curve that come first, in this order."""

TAIL = 1e-6
"""Probability left out of the boxes of balanced fairness: an error of the mean of 1e-4 jobs or so."""

NEAR = 0.9999
"""Largest load of balanced fairness: beyond it even the size of the box takes seconds."""

MAX_STATES = 5_000_000
"""Largest box of balanced fairness, about 20 ms."""

CHAIN_TAIL = {1: 3e-4, 2: 3e-4, 3: 1e-3, 4: 1e-3}
"""Probability that a chain leaves out at load 1, and less in proportion, to be small beside the jobs present;
for points of curves, by the number of classes with traffic. There are no chains of more classes."""

CHAIN_TAIL_NOW = 3e-4
"""The same at the current load, where so many states are few enough."""

CHAIN_STATES = {1: 20_000, 2: 20_000, 3: 5_000, 4: 4_000}
"""Largest chain, about 80 ms."""

OWN_STATES = 3_000
"""The same for policies that are not compiled: Python may take 0.1 ms for a state."""

LIGHT = {1: 0.8, 2: 0.8, 3: 0.6}
"""Loads up to which a chain takes 20 ms or so, by the number of classes with traffic."""

ACCURACY = 0.02
"""Largest estimated relative error of a point that is shown."""


WIDER = 0.9
"""By which a line is wider for each that lies on it."""

ALIKE = 0.01
"""Relative difference of lines that lie on each other in a figure."""


@dataclass(frozen=True, eq=False)
class Curve:
    """Service rates of one method against the relative load.

    Attributes
    ----------
    loads : ndarray of shape (n_points,)
    rates : ndarray of shape (n_points, n_classes), tasks per active job
        NaN for classes without traffic.
    now : ndarray of shape (n_classes,) or None
        At the current load; None while it is not known, NaN if it cannot be told here.
    error : float
        Estimated relative error of ``now``; 0 where there is none to be estimated.
    end : float
        Load from which on nothing is known; infinite if the curve is whole.
    why : str
        Why it ends there; empty if it is whole.
    """

    loads: FloatArray
    rates: FloatArray
    now: FloatArray | None
    error: float
    end: float
    why: str


@dataclass(frozen=True, eq=False)
class Rates:
    """Curves by method: balanced fairness, bound, then the policies that are shown.

    Attributes
    ----------
    load : float
        The current one.
    curves : dict of str to Curve
    complete : bool
        Whether nothing is left to be computed.
    note : str
        Which methods cannot be told at the current load, and defects.
    """

    load: float
    curves: dict[str, Curve]
    complete: bool
    note: str


def rates_view(state: State, *, until: float = math.inf, light: bool = False) -> Rates:
    """Mean service rates of the classes against the load, and at the current load.

    Parameters
    ----------
    state : State
    until : float, seconds on the clock of time.perf_counter
        No point is begun later.
    light : bool
        Leave out points that may take more than 50 ms.

    Returns
    -------
    Rates

    Examples
    --------
    >>> view = rates_view(State())
    >>> bool((view.curves["bound"].now <= view.curves["balanced fairness"].now).all())
    True
    """
    lines = _lines(state)
    for line, point in _order(state, lines):
        if line.knows(point):
            continue
        if line.name != BOUND and (time.perf_counter() > until or (light and point[0] > line.light)):
            continue
        line.compute(point)
    curves = {name: line.curve(state.load) for name, line in lines.items()}
    complete = all(line.knows(point) for line, point in _order(state, lines))
    # Without any traffic there is nothing to tell.
    missing = [
        name
        for name, curve in curves.items()
        if curve.now is not None and np.isnan(curve.now).all() and not lines[name].defect
    ]
    many = np.count_nonzero(state.mix) > max(CHAIN_TAIL) and BALANCED not in missing
    reason, then = "too many states for this page at this load", "simulate"
    if many:
        reason, then = f"chains of more than {max(CHAIN_TAIL)} classes take too long for this page", "rates"
    unstable = [name for name in missing if lines[name].unstable <= state.load]
    large = [name for name in missing if name not in unstable]
    notes = [f"{name}: {line.defect}" for name, line in lines.items() if line.defect]
    notes += [f"{', '.join(unstable)}: unstable at this load"] if unstable else []
    if large and any(state.mix):
        notes.append(f"{', '.join(large)}: {reason}; save as scenario, then fairqueues {then}")
    return Rates(state.load, curves, complete, "; ".join(notes))


def widths(rates: Rates) -> FloatArray:
    """Of the lines, (n_methods, n_classes), as multiples of the thinnest: of those that agree the first are
    wider, so that each can be seen.

    Examples
    --------
    Of two classes on two resources PF and BMF, the last two, agree:

    >>> widths(rates_view(State()))[:, 0]
    array([1. , 1. , 1. , 1.9, 1. ])
    """
    curves = list(rates.curves.values())
    more = [sum((_agree(one, other) for other in curves[k + 1 :]), 0.0) for k, one in enumerate(curves)]
    return 1.0 + WIDER * np.array([row * np.ones(curves[0].rates.shape[1]) for row in more])


def _agree(one: Curve, other: Curve) -> FloatArray:
    """Classes for which no person sees a difference at the loads of both, as 0 and 1."""
    _, here, there = np.intersect1d(one.loads, other.loads, return_indices=True)
    alike = np.isclose(one.rates[here], other.rates[there], rtol=ALIKE, equal_nan=True)
    return (alike.all(axis=0) & (len(here) > 0)).astype(float)


Point = tuple[float, bool]
"""A load, and whether it is the current one."""


class _Line:
    """The points of one method on one pool and mix that are known so far."""

    def __init__(self, name: str, problem: Problem, mix: Row, method: Any, light: float) -> None:
        self.name, self.problem, self.mix, self.method, self.light = name, problem, mix, method, light
        self.points: dict[Point, tuple[FloatArray, float]] = {}
        self.end = {True: math.inf, False: math.inf}
        self.unstable = math.inf
        self.why = self.defect = ""

    def knows(self, point: Point) -> bool:
        """Whether the rates at this point are known, or known to be out of reach."""
        return point in self.points or point[0] >= self.end[point[1]]

    def compute(self, point: Point) -> None:
        load, now = point
        system = System.with_load(self.problem, self.mix, load)
        try:
            rates, error = _means(system, self.method, now)
        except FairqueuesError as error:
            # What has too many states has so at all larger loads.
            self.end[now] = min(self.end[now], load)
            if isinstance(error, UnstableError):
                self.unstable = min(self.unstable, load)
            if not now and self.end[now] == load:
                self.why = _reason(error)
            return
        except Exception as error:
            # Whoever asks for more must get an answer, or the page would wait for ever.
            LOG.exception(
                "the explorer has no rates under %s at load %g of %s", self.name, load, self.problem
            )
            self.end[now] = min(self.end[now], load)
            self.why = self.defect = f"internal error ({type(error).__name__}); see the log of the server"
            return
        self.points[point] = np.where(system.loads > 0, rates, np.nan), error

    def curve(self, load: float) -> Curve:
        known = [value for value in LOADS if (value, False) in self.points]
        nothing = np.full(self.problem.n_classes, np.nan), 0.0
        told = (load, True)
        now, error = self.points.get(told, nothing) if self.knows(told) else (None, 0.0)
        rates = [self.points[value, False][0] for value in known]
        points = np.array(rates).reshape(-1, self.problem.n_classes)
        return Curve(np.array(known), points, now, error, self.end[False], self.why)


def _reason(error: FairqueuesError) -> str:
    """What an error says, without remedies that are none on a page: they stand behind a semicolon."""
    sentences = str(error).splitlines()[0].split(". ")
    return ". ".join(sentence.partition(";")[0] for sentence in sentences)


def compute_first(state: State) -> None:
    """Two points of each curve, so that the kernels of all its methods are compiled."""
    for line in _lines(state).values():
        for load in COARSE[:2]:
            if not line.knows((load, False)):
                line.compute((load, False))


def _lines(state: State) -> dict[str, _Line]:
    # Trees name their classes.
    pool = state.mix, state.demands, state.capacities, state.job_classes, state.resources
    # Weights do not matter to balanced fairness.
    alike = (1.0,) * state.n_classes
    lines = {name: _line(name, None, alike, *pool) for name in (BALANCED, BOUND)}
    policies: dict[str, Any] = state.policies
    for name, policy in policies.items():
        lines[name] = _line(name, policy, state.weights, *pool)
    return lines


@lru_cache(maxsize=256)
def _line(
    name: str,
    policy: Any,
    weights: Row,
    mix: Row,
    demands: tuple[Row, ...],
    capacities: Row,
    job_classes: tuple[str, ...],
    resources: tuple[str, ...],
) -> _Line:
    problem = Problem(demands, capacities, weights=weights, job_classes=job_classes, resources=resources)
    if policy is None:
        return _Line(name, problem, mix, METHOD[name], 1.0 if len(mix) < 5 else 0.4)
    return _Line(name, problem, mix, policy, LIGHT.get(sum(part > 0 for part in mix), 0.0))


def _order(state: State, lines: dict[str, _Line]) -> Iterator[tuple[_Line, Point]]:
    """What a person wants to see first: curves that cost little, then the current load, then the rest."""
    fine = [*COARSE, *(load for load in LOADS if load not in COARSE)]
    points = [(state.load, True), *((load, False) for load in fine)]
    for name in (BOUND, BALANCED):
        for point in points:
            yield lines[name], point
    for point in points:
        for name in state.policies:
            yield lines[name], point


def _means(system: System, method: Any, now: bool) -> tuple[FloatArray, float]:
    """Service rates by the first of the methods that has them, and their relative error, estimated."""
    found = answered(system, method, _methods(system, method, now), Effort())
    if isinstance(method, str):
        return found.service_rates, 0.0
    error = found.precision(system)
    if not error <= ACCURACY:
        raise NotConvergedError(f"the means may be off by {error:.1e} of themselves", residual=error)
    return found.service_rates, error


def _methods(system: System, method: Any, now: bool) -> list[Method]:
    """What is quick enough for a page."""
    load, classes = float(system.relative_loads.max()), int((system.loads > 0).sum())
    if isinstance(method, str):
        if method == METHOD[BALANCED] and load > NEAR:
            raise NotConvergedError(f"loads above {NEAR} take too long for this page", residual=1.0)
        return [ByRecursion(MAX_STATES, TAIL)]
    if classes not in CHAIN_TAIL:
        raise NotConvergedError("chains of so many classes take too long for a page", residual=1.0)
    most, coarse = CHAIN_STATES[classes], CHAIN_TAIL[classes]
    if batches(method) != "compiled":
        most = min(most, OWN_STATES)
    tails = dict.fromkeys((CHAIN_TAIL_NOW, coarse) if now else (coarse,))
    return [ByChain(tail * load, most) for tail in tails]
