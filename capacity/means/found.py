r"""Means of a policy at one load, with their errors, whatever method has found them.

With the mean number :math:`E` of jobs known up to :math:`e` the service rate :math:`\rho/E` is known up to
:math:`\rho/(E - e) - \rho/E`. For chains :math:`e` is an estimate, for balanced fairness a bound of what
truncation leaves out, of proved bounds half of their distance; simulations have half-widths of confidence
intervals, infinite where the run is too short for one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairness.display.wording import percent
from fairness.model.problem import FloatArray
from queueing.model.system import System
from queueing.simulation.results import Simulation
from queueing.states.box import SMALLEST

__all__ = ["CHAIN", "COLUMNS", "FORMULA", "MEANS", "PROVED", "SIMULATION", "Found"]

MEANS = ("mean_jobs", "mean_durations", "service_rates")

COLUMNS = (*MEANS, *(f"{name}_error" for name in MEANS))
"""Numbers of a class."""

FORMULA, CHAIN, PROVED, SIMULATION = "formula", "chain", "proved", "simulation"
"""How the means of a policy were found."""


@dataclass(frozen=True, eq=False)
class Found:
    """Means of a policy at one load, with their errors.

    Attributes
    ----------
    result : Result
        What the method gave: a law, bounds, a simulation.
    found_by : str
        "formula", "balanced", "bound", "chain", "proved" or "simulation".
    known : str
        How well, in words.
    mean_jobs, mean_durations, service_rates : ndarray of shape (n_classes,)
    mean_jobs_error, mean_durations_error, service_rates_error : ndarray of shape (n_classes,)
    remark : str
        Why there is no interval, or no better error.
    passed : str
        Why no better method was taken.
    """

    result: Any
    found_by: str
    known: str
    mean_jobs: FloatArray
    mean_durations: FloatArray
    service_rates: FloatArray
    mean_jobs_error: FloatArray
    mean_durations_error: FloatArray
    service_rates_error: FloatArray
    remark: str = ""
    passed: str = ""

    @classmethod
    def of(
        cls, result: Any, found_by: str, known: str, errors: Sequence[FloatArray], remark: str = ""
    ) -> Found:
        """Means of a result that has them."""
        columns: Any = zip(COLUMNS, (*(getattr(result, name) for name in MEANS), *errors), strict=True)
        return cls(result, found_by, known, remark=remark, **dict(columns))

    @classmethod
    def of_law(cls, law: Any, found_by: str) -> Found:
        """Of a law that knows how far its mean jobs may be off."""
        worst = float(np.max(law.mean_jobs_error / np.maximum(law.mean_jobs, SMALLEST), initial=0.0))
        known = f"chain, error about {worst:.0e}"
        if found_by != CHAIN:
            known = f"exact up to {worst:.0e}, proved" if worst else "exact"
        errors = _carried(law.mean_jobs, law.mean_jobs_error, law.mean_durations, law.service_rates)
        return cls.of(law, found_by, known, errors)

    @classmethod
    def of_run(cls, run: Simulation) -> Found:
        """Of a simulation, with the half-widths of its intervals."""
        known = "no interval" if run.warnings else percent(run.confidence)
        errors = [run.half_widths[name] for name in MEANS]
        remark = "; ".join((*run.gaps, *run.warnings[:1]))
        return cls.of(run, SIMULATION, f"simulated, {known}", errors, remark)

    @classmethod
    def between(cls, system: System, result: Any, lower: FloatArray, upper: FloatArray) -> Found:
        """Of mean jobs between proved bounds: their middle; the lower one where there is no upper one."""
        finite = np.isfinite(upper)
        jobs = np.where(finite, (lower + np.where(finite, upper, 0.0)) / 2, lower)
        half = np.where(finite, upper - jobs, np.inf)
        means = jobs, system.mean_durations(jobs), system.service_rates(jobs)
        known = "proved bounds" if finite.all() else "proved lower bounds"
        columns: Any = zip(COLUMNS, (*means, *_carried(jobs, half, *means[1:])), strict=True)
        return cls(result, PROVED, known, **dict(columns))

    def precision(self, system: System) -> float:
        """Largest relative error of the mean jobs of a class with arrivals; infinite where one has none."""
        live = system.arrival_rates > 0
        with np.errstate(invalid="ignore", divide="ignore"):
            part = self.mean_jobs_error[live] / self.mean_jobs[live]
        return float(np.nan_to_num(part, nan=math.inf).max(initial=0.0))

    @property
    def told(self) -> str:
        """The remark; without one, why no better method was taken."""
        return self.remark or self.passed

    def outputs(self) -> dict[str, Any]:
        """The means and errors with the dimension job_class, and words, as a sweep takes them."""
        told: dict[str, Any] = {name: ("job_class", getattr(self, name)) for name in COLUMNS}
        return told | {"found_by": self.found_by, "remark": self.told}


def _carried(
    jobs: FloatArray, error: FloatArray, durations: FloatArray, rates: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Errors of the mean jobs, durations and service rates, from those of the jobs."""
    part = np.divide(error, jobs, out=np.zeros_like(jobs), where=jobs > 0)
    grown = np.divide(part, 1.0 - part, out=np.full_like(jobs, np.inf), where=part < 1.0)
    return error, durations * part, rates * grown
