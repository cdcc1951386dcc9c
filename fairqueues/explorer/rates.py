r"""Mean service rates against the load, method by method, computed a little at a time.

Of balanced fairness and of its bound they are closed forms or a recursion, of a policy they need the
stationary law of its Markov chain, for every load anew. So a curve is made of points that are computed once,
coarse first and then fine, and kept: an update of the page shows what is known at once and asks for more
while nobody changes anything. Chains of up to four classes of a pool are small enough for that. Of more
classes, and of clusters, curves are drawn of balanced fairness and its bound alone, which clusters do not
have; the rates of the policies at the current load are asked of :func:`capacity.solve`, with a budget of time
and in a thread of its own, so that nobody waits for it.

A point of a policy carries the estimated relative error of its means (:mod:`queueing.chain.stationary_law`);
points with more than ``ACCURACY`` are left out, and so are loads at which the policy is unstable, or the
chain has too many states for the page. A policy that is not defined on the model, as DRFH is not under
placement constraints, says so instead.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np

from capacity.curves.result import UNSTABLE
from capacity.curves.solve import solve
from capacity.means.chains import ByChain
from capacity.means.formulas import ByRecursion
from capacity.means.found import CHAIN
from capacity.means.ladder import answered
from capacity.means.method import Effort, Method
from capacity.means.words import METHODS
from fairness.errors import FairqueuesError, ModelError, NotConvergedError, UnstableError
from fairness.model.problem import FloatArray
from fairness.protocol.policy import batches
from fairness.results.allocation import allocate
from fairqueues.explorer.model import State
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
for points of curves, by the number of classes with traffic. Of more classes there are no curves."""

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

SECONDS, AIM, ROUGH = 6.0, 0.03, 0.25
"""Of an answer by `solve`: its budget, the relative error that ends it, and the largest that is shown."""

PATIENCE = 0.25
"""Seconds that the wish for more waits for such an answer."""

DEAR = 0.4
"""Seconds that a point of balanced fairness of many classes may take."""

FEW = 6
"""Classes up to which it is computed however long it takes."""

ASKING = ThreadPoolExecutor(1, "explorer-rates")

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
    known : str
        How ``now`` is known, where ``solve`` has said so.
    end : float
        Load from which on nothing is known; infinite if the curve is whole.
    why : str
        Why it ends there; empty if it is whole.
    """

    loads: FloatArray
    rates: FloatArray
    now: FloatArray | None
    error: float
    known: str
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
        Which methods cannot be told, at the current load or at others, and defects.
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
    asked = False
    for line, point in _order(state, lines):
        # One after the other is asked for what takes long.
        if line.knows(point) or (asked and line.solved and point[1]):
            continue
        if line.name != BOUND and (time.perf_counter() > until or (light and point[0] > line.light)):
            continue
        line.compute(point, None if until == math.inf else PATIENCE)
        asked |= not line.knows(point)
    curves = {name: line.curve(state.load) for name, line in lines.items()}
    complete = all(line.knows(point) for line, point in _order(state, lines))
    # Without any traffic there is nothing to tell.
    missing = [
        name
        for name, curve in curves.items()
        if curve.now is not None and np.isnan(curve.now).all() and not lines[name].defect
    ]
    many = state.servers or np.count_nonzero(state.mix) > max(CHAIN_TAIL)
    unstable = [name for name in missing if lines[name].unstable <= state.load]
    large = [name for name in missing if name not in unstable]
    dear = [name for name in large if many and name in state.policies]
    large = [name for name in large if name not in dear]
    # What several have in common stands once.
    defects: dict[str, list[str]] = {}
    for name, line in lines.items():
        if line.defect:
            defects.setdefault(line.defect.removeprefix(f"{name} has "), []).append(name)
    notes = [f"{', '.join(names)}: {defect}" for defect, names in defects.items()]
    notes += [f"{', '.join(unstable)}: unstable at this load"] if unstable else []
    if large and any(state.mix):
        notes.append(f"{', '.join(large)}: too many states for this page at this load")
    if dear:
        notes.append(f"{', '.join(dear)}: no answer within {SECONDS:g} seconds")
    if (large and any(state.mix)) or dear:
        notes.append(f"save as scenario, then fairqueues {'solve' if many else 'simulate'}")
    if many and any(not lines[name].defect for name in state.policies):
        what = "clusters" if state.servers else f"more than {max(CHAIN_TAIL)} classes"
        notes.append(f"dots only: curves of policies take too long for a page with {what}")
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

Means = tuple[FloatArray, float, str]
"""Service rates, their relative error, estimated, and how they are known where `solve` has said so."""


class _Line:
    """The points of one method on one model and mix that are known so far."""

    waiting: ClassVar[list[Future[Any]]] = []

    def __init__(self, name: str, state: State, method: Any, light: float) -> None:
        self.name, self.method, self.light = name, method, light
        self.problem, self.mix = state.problem, state.mix
        self.points: dict[Point, Means] = {}
        live = sum(part > 0 for part in state.mix)
        self.solved = not isinstance(method, str) and (live not in CHAIN_TAIL or bool(state.servers))
        self.asking: tuple[Point, Future[Any]] | None = None
        self.end = {True: math.inf, False: math.inf}
        self.unstable = math.inf
        self.why = self.defect = ""

    def knows(self, point: Point) -> bool:
        """Whether the rates at this point are known, or known to be out of reach."""
        return point in self.points or point[0] >= self.end[point[1]]

    @cached_property
    def refusal(self) -> str:
        """Why the policy is not defined on this model at any load; empty if it is."""
        if isinstance(self.method, str):
            return ""
        try:
            allocate(self.problem, self.method, np.ones(self.problem.n_classes))
        except ModelError as error:
            return _reason(error)
        except FairqueuesError:
            pass
        return ""

    def compute(self, point: Point, patience: float | None = None) -> None:
        load, now = point
        system = System.with_load(self.problem, self.mix, load)
        try:
            # What `solve` is asked for takes seconds: it is not asked in vain.
            if self.solved and self.refusal:
                raise ModelError(self.refusal)
            means = self._solved(point, system, patience) if self.solved else _means(system, self.method, now)
            if means is None:
                return
        except FairqueuesError as error:
            if not isinstance(error, UnstableError) and self.refusal:
                self.why = self.defect = self.refusal
                self.end = {True: 0.0, False: 0.0}
                return
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
        self.points[point] = np.where(system.loads > 0, means[0], np.nan), *means[1:]

    def _solved(self, point: Point, system: System, patience: float | None) -> Means | None:
        """What `solve` says of the current load; None while it has not."""
        if not point[1]:
            raise NotConvergedError("curves of such models take too long for a page", residual=1.0)
        if self.asking is None or self.asking[0] != point or self.asking[1].cancelled():
            # Bokeh looks for pandas, and must not see it while another thread is importing it.
            import pandas  # noqa: F401

            # Of what waits only the newest is still wanted; who wants another one asks again.
            for older in _Line.waiting:
                older.cancel()
            options: Any = {"seconds": SECONDS, "precision": AIM, "rng": 0}
            asked = ASKING.submit(solve, system, {self.name: self.method}, **options)
            self.asking, _Line.waiting = (point, asked), [asked]
        if not wait([self.asking[1]], patience).done:
            return None
        solved, self.asking = self.asking[1].result(), None
        if solved.found_by[0][0] == UNSTABLE:
            raise UnstableError(solved.errors[0][0])
        live = system.loads > 0
        rates, errors = solved.service_rates[0, 0], solved.service_rates_error[0, 0]
        error = float(np.nan_to_num(errors[live] / rates[live], nan=math.inf).max())
        if not error <= ROUGH:
            raise NotConvergedError(solved.errors[0][0] or "the means are known too badly", residual=error)
        # The error of a chain is told as that of all others.
        return rates, error, CHAIN if solved.found_by[0][0] == CHAIN else solved.known[0][0]

    def curve(self, load: float) -> Curve:
        known = [value for value in LOADS if (value, False) in self.points]
        nothing = np.full(self.problem.n_classes, np.nan), 0.0, ""
        told = (load, True)
        now, error, how = self.points.get(told, nothing) if self.knows(told) else (None, 0.0, "")
        rates = [self.points[value, False][0] for value in known]
        points = np.array(rates).reshape(-1, self.problem.n_classes)
        return Curve(np.array(known), points, now, error, how, self.end[False], self.why)


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
    # Weights do not matter to balanced fairness, which clusters do not have.
    alike = replace(state.alone, weights=(1.0,) * state.n_classes)
    lines = {} if state.servers else {name: _line(name, None, alike) for name in (BALANCED, BOUND)}
    policies: dict[str, Any] = state.policies
    return lines | {name: _line(name, policy, state.alone) for name, policy in policies.items()}


@lru_cache(maxsize=256)
def _line(name: str, policy: Any, state: State) -> _Line:
    if policy is None:
        return _Line(name, state, METHOD[name], 1.0 if state.n_classes < 5 else 0.4)
    light = LIGHT.get(sum(part > 0 for part in state.mix), 0.0)
    return _Line(name, state, policy, 0.0 if state.servers else light)


def _order(state: State, lines: dict[str, _Line]) -> Iterator[tuple[_Line, Point]]:
    """What a person wants to see first: curves that cost little, then the current load, then the rest."""
    fine = [*COARSE, *(load for load in LOADS if load not in COARSE)]
    points = [(state.load, True), *((load, False) for load in fine)]
    for name in (BOUND, BALANCED) if BOUND in lines else ():
        for point in points:
            yield lines[name], point
    for point in points:
        for name in state.policies:
            yield lines[name], point


def _means(system: System, method: Any, now: bool) -> Means:
    """By the first of the methods that has them."""
    few = system.n_classes <= FEW or not isinstance(method, str)
    found = answered(system, method, _methods(system, method, now), Effort() if few else Effort(DEAR))
    if isinstance(method, str):
        if found.found_by != method:
            raise NotConvergedError(found.told, residual=1.0)
        return found.service_rates, 0.0, ""
    error = found.precision(system)
    if not error <= ACCURACY:
        raise NotConvergedError(f"the means may be off by {error:.1e} of themselves", residual=error)
    return found.service_rates, error, ""


def _methods(system: System, method: Any, now: bool) -> list[Method]:
    """What is quick enough for a page."""
    load, classes = float(system.relative_loads.max()), int((system.loads > 0).sum())
    if isinstance(method, str):
        if method == METHOD[BALANCED] and load > NEAR:
            raise NotConvergedError(f"loads above {NEAR} take too long for this page", residual=1.0)
        return [ByRecursion(MAX_STATES, TAIL)]
    most, coarse = CHAIN_STATES[classes], CHAIN_TAIL[classes]
    if batches(method) != "compiled":
        most = min(most, OWN_STATES)
    tails = dict.fromkeys((CHAIN_TAIL_NOW, coarse) if now else (coarse,))
    return [ByChain(tail * load, most) for tail in tails]
