r"""Means of one method at one load, with their errors: by a Markov chain where it can be, else by simulation.

Balanced fairness and its bound are computed (:mod:`capacity.sweeping.methods`). The means of a policy come
from the stationary law of its Markov chain; where the chain is refused, because its states do not fit or
sizes and arrivals make none, they are simulated. A simulation that is too short for its load, or has wider
intervals than asked for, is done again, longer (:data:`LONGER`); the last one counts. Stopping at a width
makes intervals cover a little less often than they say.

Errors. With the mean number :math:`E` of jobs known up to :math:`e` the service rate :math:`\rho/E` is known
up to :math:`\rho/(E - e) - \rho/E`. For chains :math:`e` is an estimate, for balanced fairness a bound of
what truncation leaves out; simulations have half-widths of confidence intervals, infinite where the run is
too short for one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from capacity.sweeping.methods import METHODS, solved
from fairness.errors import ModelError, NotConvergedError, advised
from fairness.model.problem import FloatArray
from queueing.balanced.duration_bound import DurationBound
from queueing.chain.solvers.choose_solver import Solver
from queueing.model.arrivals import Poisson
from queueing.model.system import System
from queueing.simulation.results import Simulation
from queueing.simulation.simulate import simulate

__all__ = ["CHAIN", "MEANS", "SIMULATION", "MeansAtLoad"]

MEANS = ("mean_jobs", "mean_durations", "service_rates")

CHAIN, SIMULATION = "chain", "simulation"
"""How the means of a policy were found."""

LONGER = (1, 4, 16)
"""Lengths of the runs of a simulation, over the first."""

BALANCED_STATES = 300_000_000
"""Most states of balanced fairness at one load: seconds."""

SMALLER = "take smaller loads, or the bound alone, which needs no states"


@dataclass(frozen=True)
class MeansAtLoad:
    """Outputs of a sweep: means of a system under a method, their errors, and how they were found.

    Attributes
    ----------
    tail, max_states, shape, solver
        Of chains, as :func:`queueing.stationary` takes them.
    events, jobs, replications, warmup, confidence
        Of simulations, as :func:`queueing.simulate` takes them; ``events``, or ``jobs`` where these are
        simulated, of the first run.
    precision : float
        Relative half-width of the mean durations from which a simulation is long enough.
    """

    tail: float
    max_states: int
    shape: Any
    solver: Solver | None
    events: int
    jobs: int
    replications: int
    warmup: float
    confidence: float
    precision: float

    def __call__(self, system: System, method: Any, rng: Any) -> dict[str, Any]:
        """Means and errors with the dimension job_class; ``found_by`` and ``remark`` in words."""
        if isinstance(method, str) and method in METHODS:
            with advised(SMALLER, "max_states", "tail", "shape"):
                return _told(solved(system, method, most_balanced=BALANCED_STATES), method, "")
        refusal: Exception
        try:
            options = {"shape": self.shape, "tail": self.tail, "solver": self.solver}
            return _told(solved(system, method, max_states=self.max_states, **options), CHAIN, "")
        except (ModelError, NotConvergedError) as error:
            refusal = error
        try:
            run = self._simulated(system, method, rng)
        except (ModelError, NotConvergedError) as error:
            raise type(error)(f"chain: {refusal}; simulation: {error}") from None
        lacking = "; ".join((*run.gaps, *run.warnings[:1]))
        return _told(run, SIMULATION, lacking or f"no chain: {refusal}")

    def _simulated(self, system: System, policy: Any, rng: Any) -> Simulation:
        """The first run that is long enough, else the longest one."""
        counts = all(law.memoryless for law in system.sizes) and all(
            isinstance(process, Poisson) for process in system.processes
        )
        for length in LONGER:
            run = simulate(
                system,
                policy,
                events=length * self.events if counts else None,
                jobs=None if counts else length * self.jobs,
                quantiles=None if counts else (),
                warmup=self.warmup,
                replications=self.replications,
                confidence=self.confidence,
                rng=rng,
                progress=False,
            )
            if not run.warnings and run.precision <= self.precision:
                break
        return run


def _told(result: Any, found_by: str, remark: str) -> dict[str, Any]:
    outputs: dict[str, Any] = {"found_by": found_by, "remark": " ".join(remark.split())}
    errors = _errors(result)
    for name in MEANS:
        outputs[name] = ("job_class", getattr(result, name))
        outputs[f"{name}_error"] = ("job_class", errors[name])
    return outputs


def _errors(result: Any) -> dict[str, FloatArray]:
    """Errors of the means, by name, each (n_classes,)."""
    if isinstance(result, Simulation):
        return {name: result.half_widths[name] for name in MEANS}
    if isinstance(result, DurationBound):
        return {name: np.zeros(len(result.mean_jobs)) for name in MEANS}
    mean, error = result.mean_jobs, result.mean_jobs_error
    live = mean > 0
    part = np.divide(error, mean, out=np.zeros_like(mean), where=live)
    grown = np.divide(part, 1.0 - part, out=np.full_like(mean, np.inf), where=part < 1.0)
    durations, rates = result.mean_durations, result.service_rates
    return {"mean_jobs": error, "mean_durations": durations * part, "service_rates": rates * grown}
