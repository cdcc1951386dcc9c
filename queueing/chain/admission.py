r"""Chains that are finite by nature: arrivals refused beyond limits, and classes with finitely many users.

A job of class :math:`i` is admitted in state :math:`x` if :math:`x + e_i` is in the *admission region*
:math:`\{x : x_i \le L_i,\ \sum_i b_i x_i \le T\}`, and refused for ever otherwise; :math:`b_i` are units
of the total limit per job, 1 by default. The chain has finitely many states, exactly those of the region, so
nothing is truncated and no load is too high. A class may have a finite population of :math:`M_i` users, each
of whom sends :math:`\lambda_i` jobs per unit of time while he has none in the pool [2]_; its arrival rate in
state :math:`x` is :math:`\lambda_i (M_i - x_i)`, otherwise :math:`\lambda_i`. With :math:`u_i(x)` this rate
and :math:`\pi` the stationary law, the *blocking probability* of an arriving job is

.. math:: B_i = \frac{\sum_{x:\ x + e_i\ refused} \pi(x)\, u_i(x)}{\sum_x \pi(x)\, u_i(x)} .

For Poisson arrivals it is the probability that the class is being refused, since they see time averages
(PASTA); users of a finite population do not. Admitted jobs arrive at the rate
:math:`\theta_i = \sum_x \pi(x) u_i(x) (1 - \text{refused})`, carry :math:`\theta_i \sigma_i` tasks on
average (the mean tasks running, by conservation), and last :math:`E[x_i]/\theta_i` by Little's law. One
class on as many servers as jobs are admitted is Erlang's loss system; several classes, with capacity for all
that are admitted, are the multi-service system of Kaufman and Roberts [1]_.

The chain is solved by :mod:`queueing.chain.solvers.choose_solver`; multilevel works on the box around the
region, where refused states have probability 0 and stay there.

References
----------
.. [1] J. S. Kaufman, "Blocking in a shared resource environment", IEEE Transactions on Communications 29,
   1981. DOI 10.1109/TCOM.1981.1094894.
.. [2] T. Engset, "Die Wahrscheinlichkeitsrechnung zur Bestimmung der Wählerzahl in automatischen
   Fernsprechämtern", Elektrotechnische Zeitschrift 31, 1918.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairness.arguments.labels import as_named
from fairness.arguments.validation import require_whole
from fairness.errors import ModelError
from fairness.machine.memory import require_memory
from fairness.model.problem import FloatArray
from fairness.protocol.calling import policy_tasks
from fairness.protocol.cluster_policy import AnyPolicy
from fairness.protocol.policy import policy_name
from queueing.chain.box_chain import BoxChain
from queueing.chain.boxes import nobody_served
from queueing.chain.solvers.choose_solver import Solver, check_solver, solved
from queueing.chain.solvers.mixture import MEMORY
from queueing.model.class_results import ClassResult, class_lines, class_table
from queueing.model.system import System, check_system
from queueing.states.box import box_name, count_states, marginal_laws, mean_counts, sides
from queueing.states.table import CHUNK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Admission", "admission"]


@dataclass(frozen=True, eq=False, repr=False)
class Admission(ClassResult):
    """Stationary law under admission limits; made by :func:`admission`.

    Attributes
    ----------
    system : System
    policy : str
        Name of the policy.
    method : str
        "product", "elimination" or "multilevel".
    max_jobs : tuple of int
        Most jobs of every class in the admission region.
    max_total : int
        Most units in all, at most what all classes at their limits take.
    n_states : int
        States of the region.
    blocking : ndarray of shape (n_classes,)
        Probability that an arriving job is refused; NaN where none arrives.
    offered_rates, carried_rates : ndarray of shape (n_classes,), jobs per unit of time
        Mean rates of arriving and of admitted jobs.
    mean_jobs : ndarray of shape (n_classes,), jobs
    residual : float
        Sum of the violations of all balance equations over the total flow.
    mean_error : float
        Estimated relative error of ``mean_jobs``.
    marginals : tuple of ndarray
        Law of each count; entry i has shape (max_jobs[i] + 1,).
    distribution : ndarray of shape (max_jobs[0] + 1, ...), or None
        The law on the box around the region, 0 outside of the region; if it was kept.
    """

    system: System
    policy: str
    method: str
    max_jobs: tuple[int, ...]
    max_total: int
    n_states: int
    blocking: FloatArray
    offered_rates: FloatArray
    carried_rates: FloatArray
    mean_jobs: FloatArray
    residual: float
    mean_error: float
    marginals: tuple[FloatArray, ...]
    distribution: FloatArray | None = None

    @cached_property
    def carried_loads(self) -> FloatArray:
        """Mean tasks that admitted jobs keep running, carried rate times mean size, tasks; (n_classes,)."""
        return self.carried_rates * self.system.mean_sizes

    @cached_property
    def mean_durations(self) -> FloatArray:
        """Mean durations of admitted jobs by Little's law, (n_classes,); NaN where none is admitted."""
        return _ratio(self.mean_jobs, self.carried_rates)

    @cached_property
    def service_rates(self) -> FloatArray:
        """Mean tasks of an active job, carried load over E[x_i], (n_classes,); NaN where none is admitted."""
        return _ratio(self.carried_loads, self.mean_jobs)

    def to_dataframe(self) -> pd.DataFrame:
        """One row per class: load, blocking probability, carried load, mean count and mean duration."""
        return class_table(
            self.system,
            blocking=self.blocking,
            carried_load=self.carried_loads,
            mean_jobs=self.mean_jobs,
            mean_duration=self.mean_durations,
            service_rate=self.service_rates,
        )

    def summary(self) -> str:
        """What a person wants to read: blocking and means per class, then the evidence."""
        return "\n".join(
            [
                f"admission limits under {self.policy}: at most {', '.join(map(str, self.max_jobs))} jobs "
                f"per class, {self.max_total} units in all",
                *class_lines(self.to_dataframe()),
                f"  {self.n_states} states ({self.method}); residual {self.residual:.1e}; "
                f"relative error of the means about {self.mean_error:.1e}",
            ]
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Bars: probability that an arriving job of each class is refused."""
        return self.bars(ax, "blocking", title=f"admission limits under {self.policy}")


def admission(
    system: System,
    policy: AnyPolicy,
    *,
    max_jobs: Sequence[int | None] | int | None = None,
    max_total: int | None = None,
    units: Sequence[int] | int | None = None,
    populations: Sequence[int | None] | int | None = None,
    solver: Solver | None = None,
    distribution: bool = True,
) -> Admission:
    """Stationary law and blocking probabilities when arrivals beyond limits are refused.

    Parameters
    ----------
    system : System
        Any load; at most four classes with arrivals, Poisson and of exponential sizes. The arrival rate of a
        class with a finite population is that of one idle user.
    policy : callable
        ``policy(problem, counts) -> tasks``, called inside the admission region only. It must serve some
        class in every state with jobs.
    max_jobs : int or sequence of (int or None), optional
        Most jobs per class; None: no limit for this class.
    max_total : int, optional
        Most units in all. Every class with arrivals needs a limit, a population, or this.
    units : int or sequence of int, optional
        Units of ``max_total`` that a job of each class takes, >= 1. Default: 1, so that it limits jobs.
    populations : int or sequence of (int or None), optional
        Users per class, each with at most one job; None: Poisson arrivals.
    solver : Automatic, Product, Elimination or Multilevel, optional
        How the chain is solved, with the tolerances for that. Default: ``Automatic()``.
    distribution : bool
        Keep the law in the result.

    Returns
    -------
    Admission

    Raises
    ------
    ModelError
        If an argument is wrong, a class is without a limit, the region does not fit in memory, or the policy
        serves nobody in some state with jobs.
    NotConvergedError
        If a solver misses its tolerance; ``best`` is the last Admission.

    Examples
    --------
    Erlang's loss system with 2 servers and offered load 1 blocks one job in five:

    >>> from fairness import DRF, Problem
    >>> from queueing import System
    >>> line = Problem([[1]], [2], limits=[1])
    >>> admission(System(line, [1.0]), DRF(), max_jobs=2).blocking.round(12)
    array([0.2])

    At most 10 jobs in a pool that is offered more than it can carry:

    >>> pool = Problem([[1, 0.1], [0.1, 1]], [1, 1])
    >>> law = admission(System(pool, [1.5, 0.5]), DRF(), max_total=10)
    >>> law.blocking.round(4), law.n_states
    (array([0.3668, 0.3668]), 66)
    """
    check_system(system).require_poisson("admission", None)
    system.require_exponential("admission", None)
    active = system.arrival_rates > 0
    if active.sum() > 4:
        raise ModelError(
            f"{int(active.sum())} classes have arrivals; the chain is solved for at most 4: use simulate"
        )
    solver = check_solver(solver)
    users = _per_class("populations", populations, system)
    taken = [1 if k is None else k for k in _per_class("units", units, system, least=1)]
    bounds, total = _bounds(system, max_jobs, max_total, users, taken)
    sizes = tuple(bound + 1 for bound in bounds)
    axes = [i for i in range(system.n_classes) if sizes[i] > 1]
    # The longest axis last: rows along it are contiguous.
    axes.sort(key=lambda i: sizes[i])
    box = tuple(sizes[i] for i in axes)
    n = len(axes)
    require_memory(
        8.0 * (4 * n + 2 * MEMORY + 8) * count_states(box),
        f"the chain on {box_name(sizes)} states",
        "give smaller limits",
    )
    held = np.zeros(box)
    for i, jobs in zip(axes, np.indices(box, sparse=True), strict=True):
        held += taken[i] * jobs
    inside = held <= total
    states = int(inside.sum())
    offered, up, down = _rates(system, policy, axes, inside, users)
    chain = BoxChain(
        *(up, down, lambda: (inside.astype(float), False), inside),
        name=f"{states} states",
        remedy="give smaller limits",
    )
    solution = solved(chain, solver)
    law = solution.law
    arriving, carried = np.zeros(system.n_classes), np.zeros(system.n_classes)
    refused = np.full(system.n_classes, np.nan)
    for row, i in enumerate(axes):
        arriving[i] = np.sum(offered[row] * law)
        carried[i] = np.sum(up[row] * law)
        refused[i] = np.sum((offered[row] - up[row]) * law) / arriving[i]
    for i in np.flatnonzero(active & (np.array(bounds) == 0)).tolist():
        m = users[i]
        arriving[i] = system.arrival_rates[i] * (1 if m is None else m)
        refused[i] = 1.0 if arriving[i] > 0 else np.nan
    law = np.ascontiguousarray(law.transpose(np.argsort(axes))).reshape(sizes)
    marginals = marginal_laws(law)
    result = Admission(
        system=system,
        policy=policy_name(policy),
        method=solution.method,
        max_jobs=bounds,
        max_total=total,
        n_states=states,
        blocking=refused,
        offered_rates=arriving,
        carried_rates=carried,
        mean_jobs=mean_counts(marginals),
        residual=solution.residual,
        mean_error=solution.mean_error,
        marginals=marginals,
        distribution=law if distribution else None,
    )
    return solution.accept(result)


def _per_class(
    name: str, given: Sequence[int | None] | int | None, system: System, least: int = 0
) -> list[int | None]:
    """One whole number or None per class."""
    n = system.n_classes
    if given is None:
        return [None] * n
    given = as_named(name, given, system.problem, "job_classes")
    if isinstance(given, numbers.Integral) and not isinstance(given, bool):
        given = [int(given)] * n
    if (
        isinstance(given, (str, bytes, bytearray))
        or not isinstance(given, Sequence | np.ndarray)
        or len(given) != n
    ):
        raise ModelError.of(name, f"must list {n} whole numbers or None, one per job class; got {given!r}")
    return [None if value is None else require_whole(name, value, least) for value in given]


def _bounds(
    system: System,
    max_jobs: Sequence[int | None] | int | None,
    max_total: int | None,
    users: list[int | None],
    units: list[int],
) -> tuple[tuple[int, ...], int]:
    """Most jobs per class and in all, as far as they can be present."""
    limits = _per_class("max_jobs", max_jobs, system)
    total = None if max_total is None else require_whole("max_total", max_total, 0)
    bounds = []
    for i, name in enumerate(system.problem.job_classes):
        most = None if total is None else total // units[i]
        known = [k for k in (limits[i], users[i], most) if k is not None]
        if not system.arrival_rates[i] > 0:
            bounds.append(0)
        elif known:
            bounds.append(min(known))
        else:
            raise ModelError(
                f"class {name!r} has arrivals but no limit; give max_jobs, populations or max_total, or use "
                "stationary"
            )
    largest = sum(k * bound for k, bound in zip(units, bounds, strict=True))
    return tuple(bounds), largest if total is None else min(total, largest)


def _rates(
    system: System, policy: AnyPolicy, axes: list[int], inside: NDArray[np.bool_], users: list[int | None]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Rates of arriving jobs, of admitted ones and of departures, each (n_axes, *box)."""
    n, box = len(axes), inside.shape
    offered, up, down = np.zeros((3, n, *box))
    places = np.flatnonzero(inside)
    flat = down.reshape(n, inside.size)
    for k in range(0, len(places), CHUNK):
        some = places[k : k + CHUNK]
        counts = np.zeros((len(some), system.n_classes))
        counts[:, axes] = np.stack(np.unravel_index(some, box), axis=-1) if n else 0.0
        tasks = policy_tasks(system.problem, policy, counts)
        idle = ~tasks.any(axis=1) & counts.any(axis=1)
        if idle.any():
            raise nobody_served(policy_name(policy), counts[np.argmax(idle)], "admission")
        flat[:, some] = (tasks[:, axes] / system.mean_sizes[axes]).T
    counted: tuple[NDArray[np.int64], ...] = np.indices(box, sparse=True)
    for row, (i, jobs) in enumerate(zip(axes, counted, strict=True)):
        m = users[i]
        offered[row] = inside * system.arrival_rates[i] * (1.0 if m is None else m - jobs)
        low, high = sides(row)
        up[row][low] = offered[row][low] * inside[high]
        # Refused states are never entered; a way out of them spares the solver a division by 0.
        down[row][~inside & (jobs > 0)] = 1.0
    return offered, up, down


def _ratio(top: FloatArray, bottom: FloatArray) -> FloatArray:
    return np.divide(top, bottom, out=np.full(top.shape, np.nan), where=bottom > 0)
