"""The best weights of a policy under holding costs, beside what no policy can fall below.

Weights count in proportion, so that of the first class with arrivals stays. Over the logarithms of the others
mean costs are followed downwards, one weight by a bracketed search, several by the simplices of Nelder and
Mead, as means have kinks in the weights (:mod:`queueing.chain.sensitivities`). That is a search: nothing says
that there are no better weights far away. How much any policy at all could gain is proved by
:func:`queueing.optimal`, for one to three classes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize, minimize_scalar

from fairness.arguments.validation import require_number
from fairness.catalogue import colour
from fairness.display.drawing import given_axes, legend_beside
from fairness.display.lettering import label
from fairness.display.result import Result
from fairness.display.tables import aligned, rounded_down
from fairness.errors import ModelError, NotConvergedError
from fairness.machine.work import OutOfTime, ProgressOption, Task, stopped, watching
from fairness.model.problem import FloatArray
from fairness.protocol.cluster_policy import AnyPolicy
from fairness.protocol.policy import policy_name
from queueing.chain.stationary import BOXES, estimated_law
from queueing.model.system import System, check_system
from queueing.optima.optimal import MOST_STATES, holding_costs, optimal
from queueing.optima.optimum import Optimum

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Tuned", "tune"]

STEP = math.log(2.0)
"""First change of the logarithm of a weight."""
CHOICES = 20
"""Weights that are tried for each dimension, a guess."""
SLIGHT = 1e-6
"""Relative difference of mean costs of several weights that is not followed further."""
PRECISION = 1e-3
"""Of the bound for every policy that stands beside."""


@dataclass(frozen=True, eq=False, repr=False)
class Tuned(Result):
    """Weights with low mean costs; made by :func:`queueing.tune`.

    Attributes
    ----------
    system : System
        With the weights that were given.
    policy : str
    costs : ndarray of shape (n_classes,), per job and unit of time
    tried : ndarray of shape (n_tried, n_classes)
        Weights that were tried, those given first.
    values, errors : ndarray of shape (n_tried,)
        Mean costs per unit of time with them, and their estimated errors.
    best : Optimum or None
        What is proved of every policy; None for more than three classes, or if not asked for.
    """

    system: System
    policy: str
    costs: FloatArray
    tried: FloatArray
    values: FloatArray
    errors: FloatArray
    best: Optimum | None

    @cached_property
    def _place(self) -> int:
        return int(np.argmin(self.values))

    @property
    def weights(self) -> FloatArray:
        """The best weights of those that were tried, (n_classes,)."""
        return np.asarray(self.tried[self._place])

    @property
    def value(self) -> float:
        """Mean costs per unit of time with them."""
        return float(self.values[self._place])

    @property
    def tuned(self) -> System:
        """The system with these weights."""
        return _weighted(self.system, self.weights)

    def to_dataframe(self) -> pd.DataFrame:
        """One row per choice of weights: the weights, mean costs, their error; what no policy falls below."""
        import pandas as pd

        classes = [f"weight of {name}" for name in self.system.problem.job_classes]
        rows = {
            "weights given": [*self.tried[0], self.values[0], self.errors[0]],
            "best weights": [*self.weights, self.value, self.errors[self._place]],
        }
        if self.best is not None:
            rows["every policy, at least"] = [*([np.nan] * len(classes)), self.best.lower, 0.0]
        return pd.DataFrame.from_dict(rows, orient="index", columns=[*classes, "mean_costs", "error"])

    @property
    def _tabulated(self) -> int:
        return 3 if self.best is None else 4

    def summary(self) -> str:
        """What better weights bring, and what is left to any policy."""
        rows = [
            [
                name,
                " : ".join(f"{w:.4g}" for w in self.tried[k]),
                f"{self.values[k]:.8g}",
                f"error about {self.errors[k]:.1e}",
            ]
            for name, k in (("weights given", 0), ("best weights", self._place))
        ]
        gain = f"better weights save {1 - self.value / self.values[0]:.2%}"
        if self.best is not None:
            low = rounded_down(self.best.lower, 8)
            rows.append(["every policy, at least", "", f"{low:.8g}", "proved"])
            gain += f"; no policy saves more than {1 - self.best.lower / self.value:.2%} beyond that"
        return "\n".join(
            [
                f"mean costs under {self.policy}, by its weights",
                *aligned([["", "weights", "mean costs", ""], *rows], words=2),
                f"  {gain}; {len(self.values)} choices tried, which is no proof that none is better",
            ]
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Mean costs of all weights tried, against that of the last class over that of the first."""
        ax = given_axes(ax)
        live = np.flatnonzero(self.system.arrival_rates > 0)
        ratio = self.tried[:, live[-1]] / self.tried[:, live[0]]
        order = np.argsort(ratio)
        style = "-" if len(live) == 2 else ""
        shade = colour(self.policy)
        ax.plot(ratio[order], self.values[order], f"o{style}", color=shade, markersize=4, label="tried")
        ax.plot(ratio[0], self.values[0], "s", color="black", markersize=5, label="given")
        ax.plot(ratio[self._place], self.value, "*", color="black", markersize=11, label="best")
        if self.best is not None:
            ax.axhline(self.best.lower, color="black", linewidth=0.8, label="no policy is below")
        names = self.system.problem.job_classes
        ax.set_xscale("log")
        for axis_ticks in (ax.xaxis.set_major_formatter, ax.xaxis.set_minor_formatter):
            axis_ticks("{x:g}")
        title = label(f"weights of {self.policy}")
        ax.set(xlabel=label(f"weight of {names[live[-1]]} / weight of {names[live[0]]}"), title=title)
        ax.set_ylabel("mean costs")
        legend_beside(ax)
        return ax


def tune(
    system: System,
    policy: AnyPolicy,
    *,
    cost: str | ArrayLike = "jobs",
    precision: float = 1e-3,
    bound: bool = True,
    tail: float = 1e-7,
    progress: ProgressOption = None,
    time_limit: float | None = None,
) -> Tuned:
    """Weights of the classes for which a policy has low mean costs.

    Parameters
    ----------
    system : System
        A pool, two to four classes with Poisson arrivals, exponential sizes.
    policy : callable
        ``policy(problem, counts) -> tasks``, which looks at ``problem.weights``.
    cost : "jobs", "duration" or array_like of shape (n_classes,)
        As of :func:`queueing.optimal`.
    precision : float
        Relative change of a weight up to which it is followed.
    bound : bool
        Whether to prove beside it what no policy falls below, of up to three classes.
    tail : float
        Largest tail mass of each law (:func:`queueing.stationary`).
    progress, time_limit
        As of :func:`queueing.stationary`.

    Returns
    -------
    Tuned

    Raises
    ------
    UnstableError, ModelError
        As of :func:`queueing.stationary`; if costs do not depend on the weights.
    NotConvergedError
        As of :func:`queueing.stationary`; if the time is over, and ``best`` is what was found by then.

    Examples
    --------
    PF with better weights has a thirtieth of its distance to the best possible left:

    >>> from fairness import Problem, ProportionalFair
    >>> from queueing import System, tune
    >>> pool = Problem([[1, 0.1], [0.1, 1]], [1, 1])
    >>> found = tune(System.with_load(pool, [3, 1], 0.8), ProportionalFair())
    >>> bool(found.value < found.values[0] < 1.003 * found.best.lower)
    True
    """
    check_system(system).require_pool("tune", "stationary with weights of your choice")
    system.require_poisson("tune")
    system.require_exponential("tune", "stationary with weights of your choice")
    costs = holding_costs(system, cost)
    require_number("precision", precision, above=0, below=1)
    live = np.flatnonzero(system.arrival_rates > 0)
    if not 2 <= len(live) <= BOXES:
        raise ModelError.of(
            "system", f"has {len(live)} classes with arrivals; weights are tuned for 2 to {BOXES}"
        )
    tried: list[tuple[FloatArray, float, float]] = []
    best: list[Optimum] = []

    def found() -> Tuned:
        weights, values, errors = (np.array(part) for part in zip(*tried, strict=True))
        proved = best[0] if best else None
        return Tuned(system, policy_name(policy), costs, weights, values, errors, proved)

    def mean_costs(logs: FloatArray) -> float:
        weights = system.problem.weights.copy()
        weights[live[1:]] *= np.exp(logs)
        law = estimated_law(_weighted(system, weights), policy, tail=tail)
        tried.append((weights, float(costs @ law.mean_jobs), float(costs @ law.mean_jobs_error)))
        return tried[-1][1]

    with watching(progress, time_limit):
        try:
            here = mean_costs(np.zeros(len(live) - 1))
            if mean_costs(np.full(len(live) - 1, STEP)) == here:
                raise ModelError.of(
                    "policy",
                    "does not look at weights, or nothing depends on them: perhaps no resource is shared",
                )
            with Task("weights", CHOICES ** (len(live) - 1), "choices") as work:
                _follow(mean_costs, len(live) - 1, precision, here, work.advance)
            if bound and len(live) <= max(MOST_STATES):
                best.append(optimal(system, cost=costs, precision=PRECISION, progress=False))
        except NotConvergedError as error:
            if not tried:
                raise
            raise NotConvergedError(str(error), best=found(), residual=error.residual) from error
        except (OutOfTime, KeyboardInterrupt) as stop:
            known = found() if tried else None
            raise stopped(stop, f"{len(tried)} choices of weights are known, in best", known) from None
    return found()


def _weighted(system: System, weights: FloatArray) -> System:
    return replace(system, problem=system.problem.replaced(weights=weights))


def _follow(
    mean_costs: Callable[[FloatArray], float],
    dimensions: int,
    precision: float,
    scale: float,
    told: Callable[[], object],
) -> None:
    """Ask for the costs, of that scale, of better and better weights, from those given on."""

    def asked(logs: ArrayLike) -> float:
        told()
        return mean_costs(np.atleast_1d(logs))

    if dimensions == 1:
        minimize_scalar(asked, bracket=(0.0, STEP), tol=precision)
    else:
        corners = np.vstack([np.zeros(dimensions), STEP * np.eye(dimensions)])
        options = {"initial_simplex": corners, "xatol": precision, "fatol": SLIGHT * scale}
        minimize(asked, corners[0], method="Nelder-Mead", options=options)
