"""The verb: means of a system against its load, under policies, balanced fairness and its bound."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from capacity.curves.result import LoadCurves
from capacity.means.chains import ByChain
from capacity.means.formulas import ByRecursion
from capacity.means.found import COLUMNS, SIMULATION
from capacity.means.ladder import answered
from capacity.means.method import Effort, Method
from capacity.means.optimum import ByOptimum
from capacity.means.simulations import BySimulation
from capacity.means.words import require_known
from capacity.sweeping.grid import Grid
from capacity.sweeping.sweep import sweep
from fairness.arguments.validation import (
    A_GENERATOR,
    Seed,
    float_array,
    frozen,
    require_number,
    require_whole,
)
from fairness.display.storage import dumps
from fairness.errors import ModelError, NotConvergedError
from queueing.chain.solvers.choose_solver import Solver
from queueing.model.system import System, check_system

__all__ = ["LOADS", "load_curves"]

LOADS = tuple(round(0.05 * k, 2) for k in range(2, 20))
"""0.1, 0.15, ..., 0.95."""


BALANCED_STATES = 300_000_000
"""Most states of balanced fairness at one load: seconds."""


@dataclass(frozen=True)
class MeansAtLoad:
    """Outputs of a sweep: means of a system under a policy, their errors, and how they were found."""

    methods: tuple[Method, ...]
    precision: float

    def __call__(self, system: System, policy: Any, rng: Any) -> dict[str, Any]:
        """Means and errors with the dimension job_class; ``found_by`` and ``remark`` in words."""
        return answered(system, policy, self.methods, Effort(precision=self.precision, rng=rng)).outputs()


@dataclass(frozen=True)
class _AtLoad:
    """The model of the sweep; its repr tells the whole system, so that a checkpoint knows its own."""

    system: System

    def __call__(self, load: float) -> System:
        return self.system.at_load(load)

    def __repr__(self) -> str:
        return f"at load({dumps(self.system)})"


def load_curves(
    system: System,
    methods: Iterable[Any] | Mapping[str, Any],
    loads: ArrayLike = LOADS,
    *,
    tail: float = 1e-6,
    max_states: int = 4_000_000,
    shape: Sequence[int] | int | None = None,
    solver: Solver | None = None,
    events: int = 200_000,
    jobs: int = 20_000,
    replications: int = 10,
    warmup: float = 0.1,
    confidence: float = 0.95,
    precision: float = 0.05,
    n_jobs: int | None = None,
    checkpoint: Any = None,
    rng: Seed = None,
    progress: bool | None = None,
) -> LoadCurves:
    """Mean service rates, durations and jobs against the load, with errors, of several methods side by side.

    Parameters
    ----------
    system : System
        A pool or a cluster, with any laws of sizes and arrivals but no trace; its arrival rates are scaled.
    methods : list or dict
        Policies, and of a pool "balanced", "bound" and "optimal": balanced fairness, its closed-form bound,
        and the policy with the fewest jobs in all (:func:`queueing.optimal`). A dict gives them names.
    loads : array_like of shape (n_loads,)
        Relative loads of the busiest resource (of a cluster: of all servers), increasing, in (0, 1).
    tail, max_states, shape, solver
        Of the Markov chain of a policy, as :func:`queueing.stationary` takes them; three classes at load 0.95
        have some 2,500,000 states under DRF. Where the chain is refused (too many states, laws without
        phases), the policy is simulated.
    events, jobs, replications, warmup, confidence
        Of a simulation, as :func:`queueing.simulate` takes them: of counts, or of jobs where sizes are not
        exponential or arrivals not Poisson.
    precision : float
        Largest relative half-width of the mean durations by simulation: wider ones are simulated on, 21 times
        as long in all at most.
    n_jobs, checkpoint, rng, progress
        As :func:`capacity.sweep` takes them: points are kept, and a killed call goes on. All methods get the
        same random numbers.

    Returns
    -------
    LoadCurves

    Raises
    ------
    ModelError
        If an argument is wrong, or a checkpoint belongs to other curves.
    NotConvergedError
        If no method has means at any load, whatever the reason; the message tells that of the first.

    Examples
    --------
    >>> from fairness import DRF, Problem, ProportionalFair
    >>> pool = Problem([[10, 1], [1, 10]], [1, 1], job_classes=["A", "B"])
    >>> system = System.with_load(pool, [1, 1], 0.5)
    >>> load_curves(system, ["balanced", "bound", DRF(), ProportionalFair()], [0.3, 0.6, 0.9])
    mean service rates against the load, tasks per active job
      class  load balanced fairness      bound        DRF         PF
      A       0.3         0.0695239  0.0679612  0.0666371       0.07
      A       0.6         0.0388564  0.0377358  0.0313519  0.0399934
      A       0.9         0.0092947 0.00917431 0.00334665 0.00984878
      B       0.3         0.0695239  0.0679612  0.0666371       0.07
      B       0.6         0.0388564  0.0377358  0.0313519  0.0399934
      B       0.9         0.0092947 0.00917431 0.00334665 0.00984878
      balanced fairness: exact up to truncation at 3 of 3 loads, relative error of the mean jobs, proved ...
      bound: closed form at 3 of 3 loads
      DRF: Markov chain at 3 of 3 loads, relative error of the mean jobs, estimated 7.3e-06
      PF: Markov chain at 3 of 3 loads, relative error of the mean jobs, estimated 4.0e-06
    """
    check_system(system)
    values = _loads(loads)
    system.at_load(float(values[0]))  # a trace, or a system without arrivals, has no other loads
    chain = ByChain(
        tail=require_number("tail", tail, above=0, below=1),
        max_states=require_whole("max_states", max_states, 1),
        shape=tuple(shape) if isinstance(shape, Sequence) else shape,
        solver=solver,
    )
    runs = BySimulation(events, jobs, replications, warmup, confidence)
    ladder = (ByRecursion(BALANCED_STATES), ByOptimum(), chain, runs)
    point = MeansAtLoad(ladder, require_number("precision", precision, above=0))
    grid = Grid.of(methods, {"load": values.tolist()}, "methods")
    named = dict(zip(grid.labels["policy"], grid.policies, strict=True))
    require_known(system, grid.policies, "methods")
    data = sweep(
        _AtLoad(system),
        {str(name): method for name, method in named.items()},
        {"load": values.tolist()},
        point,
        n_jobs=n_jobs,
        checkpoint=checkpoint,
        rng=rng,
        common_streams=True,
        progress=progress,
    )
    return _curves(system, data, runs.confidence)


def _loads(loads: ArrayLike) -> Any:
    values = float_array("loads", loads, 1)
    if not len(values) or not ((values > 0) & (values < 1)).all() or (np.diff(values) <= 0).any():
        raise ModelError.of(
            "loads", f"must be increasing and between 0 and 1, where stationary laws exist; got {loads!r}"
        )
    return values


def _curves(system: System, data: xr.Dataset, confidence: float) -> LoadCurves:
    errors = tuple(map(tuple, data.error.values.tolist()))
    if "found_by" not in data:
        raise NotConvergedError(f"no method has means at any load; the first says: {errors[0][0]}")
    found_by = tuple(map(tuple, data.found_by.values.tolist()))
    drawn = any(SIMULATION in row for row in found_by)
    seed = data.attrs["entropy"]
    means = {name: frozen(data[name].values) for name in COLUMNS}
    return LoadCurves(
        system=system,
        loads=frozen(data["load"].values.astype(float)),
        methods=tuple(map(str, data["policy"].values)),
        found_by=found_by,
        remarks=tuple(map(tuple, data["remark"].values.tolist())),
        errors=errors,
        confidence=confidence,
        entropy=None if not drawn else seed if seed == A_GENERATOR else literal_eval(seed),
        **means,
    )
