r"""The verb: here is a system, these are the policies, there are ten seconds.

Every *cell*, a policy at a load, is asked for stability first; that it is unstable is an answer. What is left
of the time is shared by the cells in turn, those that cost little first: what one leaves over is for those
that come after it. Each goes down the ladder of :mod:`capacity.means.ladder`. In the end simulations are
made longer, in turn too, until all are known as well as asked for or the time is over.

What was found can be handed in again: cells that are known well enough stay, of simulations there are more.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from threading import Event, Thread
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from capacity.curves.result import NOTHING, UNSTABLE, Solved
from capacity.means.found import COLUMNS, SIMULATION, Found
from capacity.means.ladder import LADDER, answered
from capacity.means.method import Effort, Method, Plan, clock
from capacity.means.pooling import at_level
from capacity.means.simulations import LEAST, BySimulation
from capacity.means.words import OPTIMAL, require_known
from capacity.sweeping.grid import Grid
from fairness.arguments.validation import (
    Seed,
    entropy_of,
    float_array,
    frozen,
    generator,
    require_number,
    require_workers,
    spawned,
)
from fairness.display.wording import named
from fairness.errors import (
    FairqueuesError,
    ModelError,
    NotConvergedError,
    PolicyError,
    UnstableError,
    unadvised,
)
from fairness.machine.digests import digest_of
from fairness.machine.work import TOO_LONG, OutOfTime, ProgressOption, Task, watching
from fairness.protocol.policy import batches
from queueing.fluid.stability import require_stable
from queueing.model.job_trace import JobTrace
from queueing.model.system import System, check_system
from queueing.simulation.results import Simulation
from queueing.simulation.tasks.schedulers import is_scheduler
from queueing.waiting.saturation import require_carried

__all__ = ["solve"]

_log = logging.getLogger(__name__)

BEAT = 0.4
"""Seconds between two reports, whatever the work does meanwhile."""

SHARE = 0.9
"""Part of the time that is given away: some steps end late."""

NOT_ASKED = "not asked: the time is over"

JUDGED = 0.2
"""Part of its time in which a cell may be asked whether it is stable."""

APART = 2**31
"""Where random numbers of later calls and turns begin: far from the streams of replications."""

GROWING = 0.05
"""Least part of the jobs that grow which a class must be to be named."""


def solve(
    system: System,
    policies: Any,
    loads: ArrayLike | None = None,
    *,
    seconds: float = 10.0,
    precision: float = 1e-2,
    methods: Sequence[Method] | None = None,
    start: Solved | None = None,
    n_jobs: int = 1,
    rng: Seed = None,
    progress: ProgressOption = None,
) -> Solved:
    """Mean jobs, durations and service rates under policies, each found as well as the time allows.

    Parameters
    ----------
    system : System
        A pool or a cluster, with any laws of sizes and arrivals.
    policies : policy, list or dict
        Policies of any kind, plain functions and schedulers of whole tasks too, and of a pool "balanced",
        "bound" and "optimal": balanced fairness, its closed-form bound, and the policy with the fewest jobs
        in all (:func:`queueing.optimal`), below which nobody can be. A dict gives them names.
    loads : array_like of shape (n_loads,), optional
        Relative loads of the busiest resource (of a cluster: of all servers), increasing, also beyond 1; the
        arrival rates are scaled. Default: the system as it is.
    seconds : float
        For all together; what has begun may take three tenths longer. Compiling kernels, which is done once
        on a machine, does not count.
    precision : float
        Relative error of all mean jobs of a cell that is small enough.
    methods : sequence of Method, optional
        How means may be found (:mod:`capacity.means`). Default: formulas, dynamic programming, the Markov
        chain, proved bounds, simulation, in this order.
    start : Solved, optional
        What the same call found before: it goes on from there.
    n_jobs : int
        Replications of a simulation run at the same time.
    rng : seed or numpy Generator, optional
        Of the simulations. All policies get the same random numbers. How long simulations are depends on the
        time they get.
    progress : bool or callable, optional
        As :func:`queueing.stationary` takes it; told at least twice a second, also from another thread.

    Returns
    -------
    Solved
        Where nothing was found in the time, or there is no stationary law, it says so. After a
        KeyboardInterrupt (Ctrl-C) the table as far as it is known, ``interrupted``.

    Raises
    ------
    ModelError
        If an argument is wrong.

    Examples
    --------
    >>> from fairness import DRF, Problem, ProportionalFair
    >>> pool = Problem([[10, 1], [1, 10]], [1, 1], job_classes=["A", "B"])
    >>> system = System.with_load(pool, [1, 1], 0.5)
    >>> solve(system, ["balanced", DRF()], [0.3, 1.2], seconds=60).to_dataframe()[["mean_jobs", "known"]]
                                      mean_jobs                                    known
    load policy            job_class
    0.3  balanced fairness A           0.392...                                 exact...
                           B           0.392...                                 exact...
         DRF               A           0.409...               chain, error about ...
                           B           0.409...               chain, error about ...
    1.2  balanced fairness A               NaN  overload: resource 1 and resource 2
                           B               NaN  overload: resource 1 and resource 2
         DRF               A               NaN  overload: resource 1 and resource 2
                           B               NaN  overload: resource 1 and resource 2
    """
    check_system(system)
    several = isinstance(policies, Mapping) or not (
        isinstance(policies, str) or callable(policies) or is_scheduler(policies)
    )
    grid = Grid.of(policies if several else [policies], {"load": [0.0]}, "policies")
    require_known(system, grid.policies)
    values = _loads(system, loads)
    require_number("seconds", seconds, above=0, most=math.inf)
    require_number("precision", precision, above=0)
    require_workers(n_jobs)
    chosen = LADDER if methods is None else tuple(methods) if isinstance(methods, Sequence) else ()
    if not chosen or not all(isinstance(method, Method) for method in chosen):
        raise ModelError.of("methods", f"must be a list of methods such as ByChain(); got {methods!r}")
    names = tuple(map(str, grid.labels["policy"]))
    asked = (digest_of(system), *(digest_of(policy) for policy in grid.policies))
    _require_same(asked, names, values, start)
    parent = generator(rng)
    entropy = entropy_of(parent)
    streams = spawned(parent, len(values))
    systems = [system] if loads is None else [system.at_load(load) for load in values.tolist()]
    cells = [
        _Cell(policy, systems[k], name, float(values[k]), None if start is None else start.cell(m, k))
        for k in range(len(values))
        for m, (name, policy) in enumerate(zip(names, grid.policies, strict=True))
    ]
    effort = Effort(seconds, precision, None, n_jobs)
    runs = next((method for method in chosen if isinstance(method, BySimulation)), BySimulation())
    for cell in cells:
        cell.at(runs.confidence)
    interrupted, calls = False, 0 if start is None else start.calls
    with watching(progress):
        try:
            by_load = {float(v): s for v, s in zip(values, streams, strict=True)}
            _Answers(cells, chosen, effort, by_load, calls).run()
        except KeyboardInterrupt:
            interrupted = True
            for cell in cells:
                cell.said = cell.said.replace(NOT_ASKED, "not asked: interrupted")
    seed: Any = None if start is None else start.entropy
    if any(cell.drawn and cell.found_by == SIMULATION for cell in cells):
        seed = entropy
    return _solved(
        system,
        values,
        names,
        cells,
        confidence=runs.confidence,
        entropy=seed,
        interrupted=interrupted,
        asked=asked,
        calls=calls + 1,
    )


def _loads(system: System, loads: ArrayLike | None) -> Any:
    if loads is None:
        return np.array([system.relative_loads.max(initial=0.0)])
    values = float_array("loads", np.atleast_1d(loads), 1)
    if not len(values) or not (np.isfinite(values) & (values > 0)).all() or (np.diff(values) <= 0).any():
        raise ModelError.of("loads", f"must be increasing and positive; got {loads!r}")
    system.at_load(float(values[0]))  # a trace, or a system without arrivals, has no other loads
    return values


def _require_same(asked: tuple[str, ...], names: tuple[str, ...], values: Any, start: Any) -> None:
    if start is None:
        return
    if not isinstance(start, Solved):
        raise ModelError.of("start", f"must be what solve has returned; got {type(start).__name__}")
    for what, same in (
        ("system", start.asked[:1] == asked[:1]),
        ("policies", start.methods == names and start.asked[1:] == asked[1:]),
        ("loads", np.array_equal(start.loads, values)),
    ):
        if not same:
            raise ModelError.of("start", f"was found for other {what}; leave it out, or ask the same again")


@dataclass(eq=False)
class _Cell:
    """A policy at a load, and what is known of it.

    Attributes
    ----------
    found : Found or None
    said : str
        Why nothing is found; or that it is unstable.
    doubt : str
        Why it is not known whether it is stable.
    drawn : bool
        Whether random numbers were drawn for it.
    """

    policy: Any
    system: System
    name: str
    load: float
    found: Found | None
    said: str = NOT_ASKED
    found_by: str = ""
    doubt: str = ""
    drawn: bool = False

    def __post_init__(self) -> None:
        self.found_by = "" if self.found is None else self.found.found_by

    @property
    def place(self) -> str:
        """In words."""
        return f"{self.name} at load {self.load:g}"

    @property
    def order(self) -> tuple[bool, bool, float]:
        """Those first that cost little."""
        word = isinstance(self.policy, str)
        dear = self.policy == OPTIMAL or (not word and batches(self.policy) != "compiled")
        return not word, dear, self.load

    def at(self, confidence: float) -> None:
        """The intervals of what was simulated before, at this level."""
        if self.found is not None and self.found_by == SIMULATION:
            run = self.found.result
            if isinstance(run, Simulation) and run.confidence != confidence:
                self.found = Found.of_run(at_level(run, confidence))

    def precision(self) -> float:
        """Relative error."""
        return math.inf if self.found is None else self.found.precision(self.system)

    def judge(self, effort: Effort) -> None:
        """Whether there is a stationary law, as far as that is seen at once."""
        try:
            with watching(time_limit=effort.limit):
                if isinstance(self.policy, str) or is_scheduler(self.policy):
                    self.system.require_stable()
                elif not isinstance(self.system.arrivals, JobTrace):
                    require_carried(self.system, self.policy)
                    require_stable(self.system, self.policy)
        except UnstableError as error:
            self._unstable(error)
        except (ModelError, OutOfTime) as error:
            self.doubt = " ".join(f"whether it is stable is not known: {error}".split())

    def _unstable(self, error: UnstableError) -> None:
        self.found, self.found_by, self.said = None, UNSTABLE, _growing(self.system, error)

    def _no_policy(self, error: PolicyError) -> None:
        """Of a policy that answers no allocation nothing is told, whatever was found before."""
        self.found, self.found_by, self.said = None, "", " ".join(str(error).split())

    @property
    def remark(self) -> str:
        """On what was found."""
        if self.found is None:
            return ""
        told = unadvised(self.found.remark) or self.found.passed
        doubt = self.doubt if self.found_by == SIMULATION and self.doubt not in told else ""
        return "; ".join(filter(None, (told, doubt)))

    @property
    def error(self) -> str:
        """Why nothing was found."""
        return self.said if self.found is None else ""

    @property
    def known(self) -> str:
        """How well the means are known."""
        if self.found is not None:
            return self.found.known
        return self.said if self.found_by else NOTHING

    def ask(self, methods: Sequence[Method], effort: Effort, announce: Any) -> None:
        """For the means."""
        try:
            found = answered(self.system, self.policy, methods, effort, announce)
            self.drawn |= found.found_by == SIMULATION
            if self.found is None or found.precision(self.system) < self.precision():
                self.found, self.said, self.found_by = found, "", found.found_by
        except UnstableError as error:
            self._unstable(error)
        except PolicyError as error:
            self._no_policy(error)
        except (ModelError, NotConvergedError, OutOfTime) as error:
            why = " ".join(str(error).split())
            if self.found is None:
                self.said = why
            elif self.found_by == SIMULATION and error.argument != "methods":
                self.found = replace(self.found, passed=why)

    def lengthen(self, runs: BySimulation, effort: Effort) -> None:
        """More of the simulation."""
        before = self.found.result if self.found_by == SIMULATION and self.found is not None else None
        try:
            found = runs.lengthened(self.system, self.policy, before, effort)
        except UnstableError as error:
            self._unstable(error)
        except PolicyError as error:
            self._no_policy(error)
        except FairqueuesError as error:
            _log.info("%s: %s", self.place, error)
        else:
            self.drawn |= found.result is not before
            passed = "" if self.found is None else self.found.passed
            if found.precision(self.system) < self.precision():
                self.found, self.found_by, self.said = replace(found, passed=passed), SIMULATION, ""


def _growing(system: System, error: UnstableError) -> str:
    """What grows, in a few words."""
    if error.direction is not None:
        part = error.direction / max(error.direction.sum(), 1e-300)
        least = min(GROWING, part.max())
        grows = [name for name, of in zip(system.problem.job_classes, part, strict=True) if of >= least]
        return f"unstable: jobs of {named(grows)} grow"
    if system.overloaded.any():
        full = [system.load_names[j] for j in np.flatnonzero(system.overloaded)]
        return f"overload: {named(full)}"
    return f"unstable: {error}"


@dataclass(eq=False)
class _Answers:
    """The cells, the time, and the order in which they get it."""

    cells: list[_Cell]
    methods: Sequence[Method]
    effort: Effort
    streams: Mapping[float, Any]
    calls: int
    turn: int = 0

    def __post_init__(self) -> None:
        self.runs = next((method for method in self.methods if isinstance(method, BySimulation)), None)
        self._deadline = clock() + SHARE * self.effort.seconds

    @property
    def left(self) -> float:
        """Seconds."""
        return self._deadline - clock()

    def run(self) -> None:
        """All cells once, then those again that are not known well enough."""
        asked = sorted((cell for cell in self.cells if not self._known(cell)), key=lambda cell: cell.order)
        guess = min(self.effort.seconds, TOO_LONG) if self.effort.timed else math.nan
        with Task("the answers", len(self.cells), "cells", guess) as task, _beating(task):
            for k, cell in enumerate(asked):
                cell.judge(self._of(cell, JUDGED * self.left / (len(asked) - k)))
            asked = [cell for cell in asked if cell.found_by != UNSTABLE]
            self._ask(asked, task)
            # What the others have left over may do for those of which nothing is known.
            self._ask([cell for cell in asked if cell.found is None and cell.found_by != UNSTABLE], task)
            while self.effort.timed and self.runs is not None:
                open_ones = [cell for cell in self.cells if self._begun(cell) and not self._known(cell)]
                before = {id(cell): cell.precision() for cell in open_ones}
                if not open_ones or self.left < LEAST * len(open_ones):
                    break
                self.turn += 1
                for k, cell in enumerate(open_ones):
                    cell.lengthen(self.runs, self._of(cell, self.left / (len(open_ones) - k)))
                    task.advance(0.0)
                if all(cell.precision() >= before[id(cell)] for cell in open_ones):
                    break

    def _ask(self, asked: Sequence[_Cell], task: Task) -> None:
        """For the means of some cells, each with its share of what is left."""
        self.turn += 1
        for k, cell in enumerate(asked):
            share = self._of(cell, self.left / (len(asked) - k))
            if share.seconds <= 0:
                continue
            # What was simulated before goes on later, unless there is time for better now.
            better = [m for m in self.methods if not (self._begun(cell) and isinstance(m, BySimulation))]
            cell.ask(better, share, partial(_said, cell))
            task.advance(done=len(self.cells) - len(asked) + k + 1)

    def _known(self, cell: _Cell) -> bool:
        return cell.precision() <= self.effort.precision

    def _begun(self, cell: _Cell) -> bool:
        """Whether more simulation is what helps."""
        simulated = cell.found_by == SIMULATION
        return simulated and isinstance(getattr(cell.found, "result", None), Simulation)

    def _of(self, cell: _Cell, seconds: float) -> Effort:
        # Policies at the same load get the same random numbers; each turn of each call has its own.
        seed: Any = self.streams[cell.load].bit_generator.seed_seq
        if self.calls or self.turn > 1:
            key = (*seed.spawn_key, APART + self.calls, self.turn)
            seed = np.random.SeedSequence(seed.entropy, spawn_key=key)
        return replace(self.effort, seconds=seconds, rng=np.random.default_rng(seed))


def _said(cell: _Cell, name: str, plan: Plan) -> None:
    """Tell beforehand what would take longer than there is time."""
    seconds = min(plan.seconds, TOO_LONG)
    with Task(f"{cell.place}: no {name}", plan.amount, plan.unit, seconds):
        pass


@contextmanager
def _beating(task: Task) -> Iterator[None]:
    """Have the task tell where it is again and again, however long a single step takes."""
    over = Event()

    def beat() -> None:
        while not over.wait(BEAT):
            try:
                task.advance(0.0)
            except BaseException as error:  # who watches is done, or the time is over: the work will see it
                _log.debug("nobody is told any more: %s", error)
                return

    thread = Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _solved(
    system: System, values: Any, names: tuple[str, ...], cells: Sequence[_Cell], **told: Any
) -> Solved:
    """The table of the cells, which stand load by load, with what is told of all."""
    shape = len(values), len(names)
    nothing, means = np.full(system.n_classes, np.nan), dict[str, Any]()
    for name in COLUMNS:
        rows = [nothing if cell.found is None else getattr(cell.found, name) for cell in cells]
        means[name] = frozen(np.array(rows).reshape(*shape, -1))

    def words(name: str) -> tuple[tuple[str, ...], ...]:
        texts = [getattr(cell, name) for cell in cells]
        return tuple(tuple(texts[k * shape[1] : (k + 1) * shape[1]]) for k in range(shape[0]))

    return Solved(
        system=system,
        loads=frozen(values.astype(float)),
        methods=names,
        found_by=words("found_by"),
        remarks=words("remark"),
        errors=words("error"),
        known=words("known"),
        results={(cell.name, cell.load): cell.found.result for cell in cells if cell.found is not None},
        **told,
        **means,
    )
