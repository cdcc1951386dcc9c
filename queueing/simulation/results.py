"""What simulations give back: estimates with intervals, the effort behind them, and the use of servers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from fairness.arguments.validation import Entropy, IntArray, require_choice
from fairness.display.drawing import bars
from fairness.display.result import Result
from fairness.display.tables import aligned
from fairness.display.wording import named, percent
from fairness.errors import ModelError
from fairness.model.problem import FloatArray
from queueing.model.class_results import ClassResult, class_table
from queueing.model.system import System
from queueing.simulation.replications import Estimate, QuantileEstimate

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["ServerEvidence", "Simulation", "TaskSimulation", "estimates_lines"]


@dataclass(frozen=True, eq=False, repr=False)
class Simulation(ClassResult):
    """Estimates from a simulation; made by :func:`simulate`. Those of counts have nothing to add.

    Attributes
    ----------
    system : System
    policy : str
        Name of the policy or scheduler.
    level : {"counts", "jobs", "tasks"}
        What was simulated.
    estimates : dict of str to Estimate
        "mean_jobs", "mean_durations" and "service_rates", each of shape (n_classes,) with half-widths and
        the values of the replications; NaN for classes without arrivals. Jobs add "mean_slowdowns". Of jobs
        with several task types, jobs and durations are those of the whole job, the same for each type;
        service rates are running tasks of the type.
    confidence : float
        Level of the intervals.
    replications : int
        Independent replications, or batches of one run, behind the intervals.
    events : int
        Events measured, all replications together, warm-up left out.
    time : float
        Time simulated in these events (of counts: expected holding times).
    entropy : int, list of int or str, or None
        The seed: ``rng=entropy`` repeats the run; "a generator" where no seed does, None for a trace.
    table_shape : tuple of int or None
        Grid of job counts of the table that the runs needed in the end; None if they asked the policy state
        by state, and for whole tasks.
    warnings : tuple of str
        Why the run is too short for intervals (:mod:`queueing.simulation.run_length_checks`): half-widths are
        infinite then.
    """

    system: System
    policy: str
    level: str
    estimates: dict[str, Estimate]
    confidence: float
    replications: int
    events: int
    time: float
    entropy: Entropy | None
    table_shape: tuple[int, ...] | None
    warnings: tuple[str, ...]

    @property
    def mean_jobs(self) -> FloatArray:
        """Mean number of jobs present, (n_classes,)."""
        return self.estimates["mean_jobs"].value

    @property
    def mean_durations(self) -> FloatArray:
        """Mean time between arrival and departure of a job, (n_classes,)."""
        return self.estimates["mean_durations"].value

    @property
    def service_rates(self) -> FloatArray:
        """Mean number of running tasks of a job present, (n_classes,)."""
        return self.estimates["service_rates"].value

    @cached_property
    def half_widths(self) -> dict[str, FloatArray]:
        """Half-widths of the confidence intervals by name of the estimate, each (n_classes,)."""
        return {name: estimate.half_width for name, estimate in self.estimates.items()}

    @property
    def utilization(self) -> FloatArray:
        """Part of each resource in use by the mean running tasks, (n_resources,); 0 without capacity.

        Raises
        ------
        ModelError
            On a cluster with given gamma, where what a task holds depends on its server.
        """
        problem = self.system.problem
        if self.system.is_cluster and problem.given_gamma is not None:
            raise ModelError.of(
                "gamma",
                "is given, so what a task holds depends on its server; simulate whole tasks, with a "
                "scheduler such as DRFScheduler(), whose result measures the servers",
            )
        capacities = problem.total_capacities if self.system.is_cluster else problem.capacities
        used = np.nan_to_num(self.service_rates * self.mean_jobs) @ problem.demands
        return np.divide(used, capacities, out=np.zeros_like(used), where=capacities > 0)

    @property
    def precision(self) -> float:
        """Largest relative half-width of a mean duration; infinite if a class has none."""
        if self.unseen:
            return math.inf
        durations = self.estimates["mean_durations"]
        return float(np.nanmax(durations.half_width / durations.value))

    @property
    def unseen(self) -> tuple[str, ...]:
        """Classes with arrivals of which no job was seen: their estimates are NaN."""
        missing = (self.system.arrival_rates > 0) & np.isnan(self.mean_jobs)
        return tuple(self.system.problem.job_classes[i] for i in np.flatnonzero(missing))

    @property
    def gaps(self) -> tuple[str, ...]:
        """What is missing, in words: jobs of some classes."""
        if not self.unseen:
            return ()
        length = "events" if self.level == "counts" else "jobs"
        return (f"no job was seen of {named(list(map(repr, self.unseen)))}; give more {length}",)

    def columns(self) -> dict[str, Estimate]:
        """All estimates per class, by the names of their columns."""
        return self.estimates

    def to_dataframe(self) -> pd.DataFrame:
        """One row per class: each estimate, and the half-width of its interval, of quantiles both ends."""
        columns = {}
        for name, estimate in self.columns().items():
            columns[name] = estimate.value
            if isinstance(estimate, QuantileEstimate):
                columns[f"{name}_lower"], columns[f"{name}_upper"] = estimate.interval
            else:
                columns[f"{name}_half_width"] = estimate.half_width
        return class_table(self.system, **columns)

    def summary(self) -> str:
        """Estimates with their intervals, what the level adds, and the effort behind them."""
        lines = [
            f"{self.policy}, {self._effort()} in {self.time:.4g} units of time, "
            f"{percent(self.confidence)} intervals",
            *estimates_lines(self.estimates, self.system.problem.job_classes),
            *self._evidence(),
            *(f"  {text}" for text in self.gaps),
            *(f"  warning: {text}" for text in self.warnings),
        ]
        return "\n".join(lines)

    def _effort(self) -> str:
        return f"simulated: {self.replications} replications, {self.events:,} events"

    def _evidence(self) -> list[str]:
        return []

    def plot(self, ax: Axes | None = None, what: str = "mean_jobs") -> Axes:
        """Draw an estimate of each class with its interval.

        Parameters
        ----------
        ax : Axes, optional
        what : str
            "mean_jobs", "mean_durations" or "service_rates"; job by job also "mean_slowdowns", and the law of
            the durations, "cdf" or "survival", of recorded jobs, without intervals where no job or every job
            is shorter; of whole tasks also the "utilization" of each resource.

        Raises
        ------
        ModelError
            If this level of simulation knows nothing of the kind, or jobs were not recorded.
        """
        chosen = require_choice("what", what, [*self.estimates, *self._others])
        if chosen in self._others:
            return self._others[chosen](ax)
        error = self.estimates[chosen].half_width
        return self.bars(ax, chosen, error=error, title=f"{self.policy}, simulated")

    @property
    def _others(self) -> Mapping[str, Callable[[Axes | None], Axes]]:
        """What can be drawn besides the estimates, and how."""
        return {}


def estimates_lines(estimates: Mapping[str, Estimate], labels: Sequence[str]) -> list[str]:
    """Text table of estimates: one line per label under a line of headings."""
    heads = ["", *(name.replace("_", " ") for name in estimates)]
    rows = ([label, *(_told(e, k) for e in estimates.values())] for k, label in enumerate(labels))
    return aligned([heads, *rows])


def _told(estimate: Estimate, k: int) -> str:
    """Value and half-width, of a quantile both ends, to the second significant digit of the half-width."""
    value, half_width = float(estimate.value[k]), float(estimate.half_width[k])
    if math.isinf(half_width):
        return f"{value:.3g} (no interval)"
    if not (math.isfinite(value) and half_width > 0):
        return f"{value:.6g}"
    digits = max(0, 1 - math.floor(math.log10(half_width)))
    if isinstance(estimate, QuantileEstimate):
        low, high = estimate.interval[:, k]
        return f"{value:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"
    return f"{value:.{digits}f} +- {half_width:.{digits}f}"


def percentage(value: float, half_width: float) -> str:
    """Part of the whole with its interval, if there is one."""
    return f"{value:.2%}" + (f" +- {half_width:.2%}" if math.isfinite(half_width) else " (no interval)")


@dataclass(frozen=True, eq=False, repr=False)
class ServerEvidence(Result):
    """How the servers of a cluster were used; part of a :class:`TaskSimulation`.

    Attributes
    ----------
    placement : str
        Name of the placement rule.
    servers, resources : tuple of str
    utilization : Estimate of shape (n_servers, n_resources)
        Time average of usage over capacity; 0 where the capacity is 0.
    waiting : Estimate of shape (1,)
        Part of the time in which some job had a task that it might start, but that did not.
    fragmented : Estimate of shape (1,)
        Part of the time in which the free amounts of all servers where it may run, taken together, would have
        held a task of such a job. It includes time lost by blocking and by binding jobs to servers; with a
        scheduler that does not block and tasks placed one by one it is fragmentation alone.
    """

    placement: str
    servers: tuple[str, ...]
    resources: tuple[str, ...]
    utilization: Estimate
    waiting: Estimate
    fragmented: Estimate

    def to_dataframe(self) -> pd.DataFrame:
        """Utilisation, one row per server and one column per resource."""
        import pandas as pd

        return pd.DataFrame(
            self.utilization.value,
            index=pd.Index(self.servers, name="server"),
            columns=pd.Index(self.resources, name="resource"),
        )

    def summary(self) -> str:
        """Utilisation of the servers (of the extremes if there are many), waits and fragmentation."""
        used = self.utilization.value
        if len(self.servers) <= 8:
            lines = [
                f"  {name}: " + ", ".join(f"{r} {u:.2%}" for r, u in zip(self.resources, row, strict=True))
                for name, row in zip(self.servers, used, strict=True)
            ]
        else:
            lines = [
                f"  {name} in use: {column.min():.2%} to {column.max():.2%} on {len(self.servers)} servers"
                for name, column in zip(self.resources, used.T, strict=True)
            ]
        wait, lost = (percentage(e.value[0], e.half_width[0]) for e in (self.waiting, self.fragmented))
        lines.append(f"  {self.placement}: jobs wait {wait} of the time, {lost} with enough free in all")
        return "\n".join(lines)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Bars: part of each resource of each server in use, with its interval."""
        names = [f"{server}, {resource}" for server in self.servers for resource in self.resources]
        used = self.utilization
        text = f"servers under {self.placement}"
        return bars(ax, names, used.value.ravel(), error=used.half_width.ravel(), ylabel="in use", title=text)


@dataclass(frozen=True, eq=False, repr=False)
class TaskSimulation(Simulation):
    """Estimates from a simulation of whole tasks; made by :func:`simulate`.

    It has the attributes of :class:`Simulation`, and these.

    Attributes
    ----------
    utilization_estimate : Estimate of shape (n_resources,)
        Time average of usage over capacity, of all servers together.
    jobs : ndarray of shape (n_classes,)
        Jobs whose durations were measured.
    servers : ServerEvidence or None
        Of a cluster, or where a placement rule was given: utilisation of each server, fragmentation.
    decisions : int
        How often a scheduler in Python was asked, warm-up included; 0 for compiled ones.
    """

    utilization_estimate: Estimate
    jobs: IntArray
    servers: ServerEvidence | None
    decisions: int

    @property
    def utilization(self) -> FloatArray:
        """Time average of usage over capacity, (n_resources,)."""
        return self.utilization_estimate.value

    @property
    def _others(self) -> Mapping[str, Callable[[Axes | None], Axes]]:
        return {"utilization": self._plot_utilization}

    def _plot_utilization(self, ax: Axes | None) -> Axes:
        used, title = self.utilization_estimate, f"{self.policy}, simulated"
        names = self.system.problem.resources
        return bars(ax, names, used.value, error=used.half_width, ylabel="part in use", title=title)

    def _effort(self) -> str:
        asked = f", {self.decisions:,} decisions in Python" if self.decisions else ""
        return f"task by task: {self.replications} replications, {self.events:,} events{asked}"

    def _evidence(self) -> list[str]:
        estimate = self.utilization_estimate
        used = zip(self.system.problem.resources, estimate.value, estimate.half_width, strict=True)
        lines = ["  in use: " + ", ".join(f"{name} {percentage(u, h)}" for name, u, h in used)]
        return lines if self.servers is None else [*lines, *self.servers.summary().splitlines()]
