r"""The stationary law of whole jobs that wait in order: how many are there, and how long they wait.

The level is how many wait behind those in front, and the chain is left a level at a time
(:mod:`queueing.waiting.service_states`, :mod:`queueing.waiting.matrix_geometric`). Of which class those
behind are is independent of everything, so that of them :math:`p_i\mathbf E[n]` are of class i; with
who is in service and who is in front that gives the mean counts, and Little's law the mean durations, also
those of the wait alone: of all time that a job is not in service. Where jobs run to their end that is the
time before it starts; under ServerFilling, which takes jobs out of service, it is more than that.

*Evidence.* The residual of all balance equations; and since the mean number of jobs in service must be
:math:`\lambda_i\sigma_i`, by how much it is not. Near load 1 the number who wait is more sensitive: it is
about as far off as the jobs in service are, over the part of the throughput that is not used. Nothing of it
is proved.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import lu_factor, lu_solve

from fairness.display.drawing import stems
from fairness.errors import NotConvergedError
from fairness.model.problem import FloatArray
from queueing.model.class_results import LittleMeans, class_lines, class_table
from queueing.model.system import System
from queueing.waiting.matrix_geometric import Levels, solve_levels
from queueing.waiting.saturation import Saturation, saturate
from queueing.waiting.service_states import ServiceStates, service_states
from queueing.waiting.whole_jobs import Order

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["WaitingLaw", "waiting_law"]

MOST_STATES = 2_500
"""Of a level: matrices of so many rows are multiplied some hundred times."""
MOST_WAITING = 100_000
"""Behind the front, of the law that is listed."""
WORST = 1e-6
"""Relative error of the means beyond which there is no answer."""
ROUNDING = 2.0**-52
"""Of a sum over the states, relative."""


@dataclass(frozen=True, eq=False, repr=False)
class WaitingLaw(LittleMeans):
    """Stationary law of whole jobs that wait in order. Made by :func:`queueing.stationary`.

    Attributes
    ----------
    system : System
    order : str
        Name of the order.
    mean_jobs : ndarray of shape (n_classes,), jobs
        In the system, waiting and in service.
    mean_waiting : ndarray of shape (n_classes,), jobs
        Of them those that wait: that are not in service, whether they have been before or not.
    waiting : ndarray of shape (n,)
        Probability that 0, 1, ... jobs wait, all classes together, as far as it is above 1e-12; at most
        100,000 numbers, so that near load 1 the sum may be less than 1.
    decay : float
        By what factor that falls in the end from one number to the next.
    residual : float
        Largest violation of the balance equations, over the largest rate.
    service_error : float
        Largest relative difference between the mean number of jobs in service and arrival rate times mean
        size.
    mean_error : float
        Estimated relative error of the mean counts.
    n_states : int
        Of a level.
    saturation : Saturation
        How much traffic fits.
    """

    system: System
    order: str
    mean_jobs: FloatArray
    mean_waiting: FloatArray
    waiting: FloatArray
    decay: float
    residual: float
    service_error: float
    mean_error: float
    n_states: int
    saturation: Saturation

    @property
    def mean_jobs_error(self) -> FloatArray:
        """Estimated absolute error of the mean counts, (n_classes,)."""
        return self.mean_error * self.mean_jobs

    @cached_property
    def mean_waits(self) -> FloatArray:
        """Mean time not in service, (n_classes,), before its start and after; NaN where no job arrives."""
        return self.system.mean_durations(self.mean_waiting)

    def to_dataframe(self) -> pd.DataFrame:
        """One row per class: load, mean count, mean number not in service, mean duration, mean wait."""
        return class_table(
            self.system,
            mean_jobs=self.mean_jobs,
            mean_waiting=self.mean_waiting,
            mean_duration=self.mean_durations,
            mean_wait=self.mean_waits,
        )

    def summary(self) -> str:
        """The table, how the law was found, and how well."""
        return "\n".join(
            [
                f"stationary law of whole jobs, {self.order}",
                *class_lines(self.to_dataframe()),
                f"  load {self.saturation.relative_load:.4g} of what can be carried; "
                f"nobody waits with probability {self.waiting[0]:.4g}, the tail falls by {self.decay:.4g}",
                f"  levels of {self.n_states:,} states by matrix R: residual {self.residual:.1e}, "
                f"jobs in service right to {self.service_error:.1e}, means to about {self.mean_error:.1e}",
            ]
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Probability that so many jobs wait."""
        title = f"{self.order}, load {self.saturation.relative_load:.3g} of what can be carried"
        return stems(
            ax, [self.waiting], [self.order], xlabel="jobs that wait", ylabel="probability", title=title
        )


def waiting_law(system: System, order: Order) -> WaitingLaw:
    """Stationary law of whole jobs in order.

    Raises
    ------
    UnstableError
        If more jobs come than can be carried, with that number.
    ModelError
        If the model is another one, or there are more than 2,500 states of who is in service and who is in
        front.
    NotConvergedError
        If the load is so close to what can be carried that the means are off by more than 1e-6 of them;
        ``best`` is the law.
    """
    saturation = saturate(system, order)
    saturation.require_stable()
    states = service_states(system, order, MOST_STATES)
    law = _law(system, order, states, _levels(system, states), saturation)
    if not law.mean_error <= WORST:
        raise NotConvergedError(
            f"the load is {1 - saturation.slack:.10g} of what can be carried, so close to 1 that the mean "
            f"counts may be off by {law.mean_error:.1e} of them",
            best=law,
            residual=law.mean_error,
        )
    return law


def _levels(system: System, states: ServiceStates) -> Levels:
    timed = states.full
    service, draws, idle = (part.toarray() for part in (states.service, states.draws, states.idle))
    up = np.diag(np.where(timed, system.arrival_rates.sum(), 0.0))
    # Where there is room in front, draws lead down while others wait behind, and are arrivals if nobody does.
    within = service - np.diag((service + draws + up).sum(axis=1))
    bottom = service + draws + idle
    bottom -= np.diag((bottom + up).sum(axis=1))
    return solve_levels(up, within, draws, bottom, (np.ones(len(timed)), timed.astype(float)))


def _law(
    system: System, order: Order, states: ServiceStates, levels: Levels, saturation: Saturation
) -> WaitingLaw:
    timed = states.full
    rest = lu_factor((np.eye(len(timed)) - levels.step).T)
    # Sums of pi_n and of n pi_n over n >= 1, of the states in which time passes.
    beyond = lu_solve(rest, levels.step.T @ levels.first)
    queued = lu_solve(rest, beyond)
    beyond, queued = np.where(timed, beyond, 0.0), np.where(timed, queued, 0.0)
    law = levels.first + beyond
    mix = system.arrival_rates / system.arrival_rates.sum()
    running, waiting = law @ states.running, law @ states.front + mix * queued.sum()
    known = system.loads > 0
    # Only where the front is full does the level rise: the other rows of R are 0.
    rising = levels.step[np.ix_(timed, timed)]
    error = float(np.max(np.abs(running[known] / system.loads[known] - 1.0)))
    return WaitingLaw(
        system,
        order.name,
        mean_jobs=running + waiting,
        mean_waiting=waiting,
        waiting=_law_of_waiting(levels, states),
        decay=float(np.max(np.abs(np.linalg.eigvals(rising)))),
        residual=levels.residual,
        service_error=error,
        mean_error=max(error, ROUNDING * len(timed)) / saturation.slack,
        n_states=len(timed),
        saturation=saturation,
    )


def _law_of_waiting(levels: Levels, states: ServiceStates) -> FloatArray:
    """Law of how many wait: in front, and behind."""
    waiting, full = states.front.sum(axis=1), states.full
    most = int(waiting.max()) + 1
    law, n = np.zeros(MOST_WAITING + most), 0
    law[:most] = np.bincount(waiting, levels.first, most)
    # Only where the front is full does the level rise, and only there others wait behind.
    step, level, waiting = levels.step[np.ix_(full, full)], levels.first[full], waiting[full]
    while level.sum() > 1e-12 and n < MOST_WAITING:
        level, n = level @ step, n + 1
        law[n : n + most] += np.bincount(waiting, level, most)
    return law[: n + most]
