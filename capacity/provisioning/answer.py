"""What provisioning buys: capacities, what they cost, and what is proved of that."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fairness.display.drawing import bars
from fairness.display.result import Result
from fairness.display.storage import LATER
from fairness.model.problem import FloatArray, Problem
from queueing.model.system import System

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Provision"]


@dataclass(frozen=True, eq=False, repr=False)
class Provision(Result):
    """Capacities that keep targets; made by :func:`capacity.provision`.

    Attributes
    ----------
    system : System
        The problem with the capacities bought, and its traffic.
    method, evidence : str
        Model that verified the targets, and what its numbers rest on.
    servers : ndarray of shape (n_types,)
        How many servers of each type (without types: units of each resource).
    cost : float
    lower_cost : float
        Nothing cheaper keeps the targets under this method: proven where ``proves``.
    floor_cost : float
        Proven: nothing cheaper keeps them under any policy.
    bound_servers : ndarray of shape (n_types,)
        Cheapest under the duration bound.
    bound_cost, bound_lower_cost : float
        Its cost and the proven lower bound of that optimum.
    prices : ndarray of shape (n_resources,), cost per unit
        What one more unit of a resource is worth at the bound's optimum (relaxed to real numbers).
    minimum_service_rates : ndarray of shape (n_classes,), tasks
        All targets of a class in one; 0 without a target.
    service_rates : ndarray of shape (n_classes,), tasks
        Lower ends of what the model gives at these capacities; nan without arrivals.
    maximum_load : float
    tail_mass, residual : float
        Evidence of the model.
    evaluations : int
        Capacities at which the model was computed.
    optimal : bool
        Whether the cost is the least (up to ``gap``), proven where ``proves``: under the bound, and for whole
        numbers. Real numbers under an exact model are verified, and a minimum on one line only.
    proves : bool
        Whether the numbers of the model are bounds; else what is said under this method holds as far as
        its errors are estimated.
    """

    system: System
    method: str
    evidence: str
    servers: FloatArray
    cost: float
    lower_cost: float
    floor_cost: float
    bound_servers: FloatArray
    bound_cost: float
    bound_lower_cost: float
    prices: FloatArray
    minimum_service_rates: FloatArray
    service_rates: FloatArray
    maximum_load: float
    tail_mass: float
    residual: float
    evaluations: int
    optimal: bool
    proves: bool = field(default=False, metadata=LATER)

    @property
    def problem(self) -> Problem:
        """The problem with the capacities bought."""
        return self.system.problem

    @property
    def capacities(self) -> FloatArray:
        """Capacities bought, (n_resources,), resource units."""
        return self.problem.capacities

    @property
    def gap(self) -> float:
        """Relative distance of the cost from its proven lower bound."""
        return (self.cost - self.lower_cost) / self.cost if self.cost > 0 else 0.0

    def to_dataframe(self) -> pd.DataFrame:
        """One row per class: load, target and service rate, the largest and the actual mean duration."""
        sizes, target = self.system.mean_sizes, self.minimum_service_rates
        longest = np.divide(sizes, target, out=np.full(len(sizes), np.inf), where=target > 0)
        return pd.DataFrame(
            {
                "load": self.system.loads,
                "minimum_service_rate": target,
                "service_rate": self.service_rates,
                "maximum_duration": longest,
                "mean_duration": sizes / self.service_rates,
                "kept": ~(self.service_rates < target),
            },
            index=pd.Index(self.problem.job_classes, name="job_class"),
        )

    def resource_table(self) -> pd.DataFrame:
        """One row per resource: capacity, relative load, price."""
        return pd.DataFrame(
            {"capacity": self.capacities, "relative_load": self.system.relative_loads, "price": self.prices},
            index=pd.Index(self.problem.resources, name="resource"),
        )

    def summary(self) -> str:
        """What a person wants to read: what to buy, the costs, the evidence of each target."""
        bought = ", ".join(
            f"{name} {row.capacity:.6g} (load {row.relative_load:.3g})"
            for name, row in self.resource_table().iterrows()
        )
        lines = [
            f"Provision ({self.method}): cost {self.cost:.6g}; {bought}",
            f"  servers {np.array2string(self.servers, precision=6)}",
            f"  the duration bound would cost {self.bound_cost:.6g}; under this method no less than "
            f"{self.lower_cost:.6g} is possible, under any policy no less than {self.floor_cost:.6g}",
        ]
        cheapest = f"the cheapest up to {100 * self.gap:.1g} %"
        known = f"proven {cheapest}" if self.proves else f"{cheapest}, as far as the estimated errors go"
        lines.append(f"  {known if self.optimal else 'targets verified; not proven the cheapest'}")
        lines += [
            f"  {name}: {row.service_rate:.6g} tasks per active job (target {row.minimum_service_rate:.6g}), "
            f"mean duration {row.mean_duration:.6g} (target {row.maximum_duration:.6g})"
            for name, row in self.to_dataframe().iterrows()
            if row.load > 0
        ]
        lines.append(
            f"  {self.evidence}; tail mass {self.tail_mass:.1e}, residual {self.residual:.1e}; "
            f"{self.evaluations} evaluations"
        )
        return "\n".join(lines)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Bars: service rate of each class; lines: its target."""
        names, title = self.problem.job_classes, f"Provision ({self.method}): cost {self.cost:.6g}"
        text, marks = "service rate (lines: targets)", self.minimum_service_rates
        return bars(ax, names, self.service_rates, marks=marks, ylabel=text, title=title)
