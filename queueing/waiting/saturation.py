r"""How much traffic whole jobs in order can carry: the throughput of the saturated system.

Let the queue never end. Then who is in service and who waits in front is a finite chain, and the jobs that it
ends per unit of time, :math:`\theta`, are the most that a queue can carry: it is stable if and only if
:math:`\Lambda = \sum_i \lambda_i < \theta` [1]_. The saturated chain is that of the rates :math:`A_0 + A_1 +
A_2` one level up, within and down (:mod:`queueing.waiting.matrix_geometric`), and this is the condition that
the levels drift downwards [2]_. :math:`\theta` depends on the mix of the classes and on the laws of their
sizes, and is mostly less than the resources alone would allow: who does not fit leaves some of them free. For
two servers, needs 1 and 2 with equal probability and exponential sizes of mean 1 it is 8/7, where the servers
would allow 4/3.

Where sizes are exponential and the numbers short enough, the chain is solved in fractions
(:func:`queueing.exact_means`), else in floats. ServerFilling holds all servers whenever its front is full, so
that :math:`\theta` is what they have work for, whatever the sizes (:mod:`queueing.waiting.orders`); near load
1 its mean is that of M/G/1 [3]_. What is known of orders that look at counts alone stands in
:mod:`queueing.waiting.counted_throughput`.

References
----------
.. [1] A. Rumyantsev and E. Morozov, "Stability criterion of a multiserver model with simultaneous service",
   Annals of Operations Research 252, 2017. DOI 10.1007/s10479-015-1917-2.
.. [2] M. F. Neuts, "Matrix-Geometric Solutions in Stochastic Models", Johns Hopkins, 1981, chapter 3.
.. [3] I. Grosof, M. Harchol-Balter and A. Scheller-Wolf, "WCFS: a new framework for analyzing multiserver
   systems", Queueing Systems 102, 2022. DOI 10.1007/s11134-022-09848-6.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from fairness.display.drawing import bars
from fairness.display.result import Result
from fairness.display.storage import LATER
from fairness.display.tables import aligned
from fairness.errors import ModelError, UnstableError
from fairness.exact.linear_algebra import dot
from fairness.model.problem import FloatArray
from fairness.protocol.family import ByFamily
from queueing.exact_laws.exact_means import exact_means
from queueing.model.finite_chain import FiniteChain
from queueing.model.system import System
from queueing.waiting.counted_orders import Priorities
from queueing.waiting.counted_throughput import (
    MOST_SERVERS,
    Throughput,
    max_weight_throughput,
    priority_throughput,
)
from queueing.waiting.orders import require_nested
from queueing.waiting.saturated_chain import MOST_EXACT as FEW
from queueing.waiting.saturated_chain import solve_saturated
from queueing.waiting.service_states import ServiceStates, check_whole_jobs, service_states
from queueing.waiting.whole_jobs import Order, WholeJobs, waits

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Saturation", "require_carried", "saturate"]

MOST_STATES = 30_000
"""Of the saturated chain, in floats."""
MOST_EXACT = 1_500
"""In fractions."""


@dataclass(frozen=True, eq=False, repr=False)
class Saturation(Result):
    """The most that whole jobs in order can carry at this mix. True if the system is stable.

    Attributes
    ----------
    system : System
    order : str
        Name of the order.
    throughput : Fraction or float, jobs per unit of time
        All jobs together, of a queue that never ends; a Fraction where it is exact.
    utilization : ndarray of shape (n_resources,)
        Part of each resource that is then held on average.
    n_states : int
        Of the saturated chain, 0 where none was needed.
    basis : str
        What the throughput rests on, if not on that chain.
    heavy_traffic : Fraction, float or None, jobs
        The limit of (1 - relative load) times the mean number of jobs in the system, as the load goes to 1 in
        the same mix (:mod:`queueing.waiting.saturated_chain`); None where it is not known.

    Examples
    --------
    >>> from fairness import Problem
    >>> from capacity import is_stable
    >>> from queueing import FCFS, System
    >>> is_stable(System(Problem([[1], [2]], [2]), arrival_rates=[1, 1]), FCFS())
    FCFS: unstable, at most 8/7 = 1.14286 jobs per unit of time, and 2 come
      resource    held in saturation
      resource 1               0.857
      exact, of 5 states
      near load 1 about 1.0816 / (1 - load) jobs
    """

    system: System
    order: str
    throughput: Fraction | float
    utilization: FloatArray
    n_states: int
    basis: str = field(default="", metadata=LATER)
    heavy_traffic: Fraction | float | None = field(default=None, metadata=LATER)

    @property
    def relative_load(self) -> float:
        """Jobs that come over the throughput."""
        return float(self.system.arrival_rates.sum() / float(self.throughput))

    @property
    def slack(self) -> float:
        """Part of the throughput that is not used; negative when more jobs come."""
        if isinstance(self.throughput, Fraction):
            return float(1 - sum(self.system.as_fractions()[0]) / self.throughput)
        return 1.0 - self.relative_load

    @property
    def stable(self) -> bool:
        """Whether fewer jobs come than can be carried."""
        return self.slack > 0

    def __bool__(self) -> bool:
        return self.stable

    def require_stable(self) -> None:
        """Raise UnstableError if more jobs come than can be carried, with that number."""
        if not self.stable:
            raise UnstableError(
                f"{self.system.arrival_rates.sum():.6g} jobs per unit of time come and, in this mix and "
                f"order, {self.throughput} can be carried: the queue grows for ever; lower the arrival rates "
                f"below {1 / self.relative_load:.6g} of what they are",
                direction=self.system.arrival_rates,
            )

    def to_dataframe(self) -> pd.DataFrame:
        """One row per resource: what is held in saturation, and what these arrivals need."""
        import pandas as pd

        index = pd.Index(self.system.problem.resources, name="resource")
        return pd.DataFrame(
            {"held_in_saturation": self.utilization, "relative_load": self.system.relative_loads}, index=index
        )

    def summary(self) -> str:
        """The verdict, and what is held of each resource in saturation."""
        exact = isinstance(self.throughput, Fraction)
        most = f"{self.throughput} = {float(self.throughput):.6g}" if exact else f"{self.throughput:.6g}"
        come = f"{self.system.arrival_rates.sum():.6g}"
        verdict = "stable" if self.stable else "unstable"
        parts = zip(self.system.problem.resources, self.utilization, strict=True)
        table = [["resource", "held in saturation"], *([name, f"{part:.3f}"] for name, part in parts)]
        how = "exact" if exact else "in floats"
        near_1 = self.heavy_traffic
        rests = self.basis or f"of {self.n_states:,} states"
        return "\n".join(
            [
                f"{self.order}: {verdict}, at most {most} jobs per unit of time, and {come} come",
                *aligned(table),
                f"  {how}, {rests}",
                *([] if near_1 is None else [f"  near load 1 about {float(near_1):.5g} / (1 - load) jobs"]),
            ]
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Part of each resource that is held in saturation."""
        names = self.system.problem.resources
        title = f"{self.order}: at most {float(self.throughput):.4g} jobs per unit of time"
        axes = bars(ax, names, self.utilization, ylabel="part held in saturation", title=title)
        axes.set_ylim(0, 1)
        return axes


def saturate(system: System, order: Order) -> Saturation:
    """The throughput of whole jobs in order whose queue never ends: how many jobs can be carried.

    Parameters
    ----------
    system : System
        One pool, Poisson arrivals, of which only the mix counts; sizes exponential or with phases. A job runs
        whole: it holds its row of demands, for as long as its size says; weights do not count.
    order : Order
        Such as FCFS().

    Returns
    -------
    Saturation

    Raises
    ------
    ModelError
        If it is another model or no such order, a job fits never, demands nothing or has a limit below 1,
        there are more than 30,000 states, or the throughput of the order is not known.
    """
    if not isinstance(order, Order):
        raise ModelError.of(
            "order", f"must be one of whole jobs, such as FCFS() or ServerFilling(); got {order!r:.80}"
        )
    waits(system, order)
    found = _known(system, order)
    if found is None:
        raise ModelError.of(
            "order",
            f"is {order.name}, of which the boundary is known for one or two classes with arrivals, if at "
            f"most {MOST_SERVERS:,} jobs of the first fit, and for jobs that all hold the same: "
            "stationary(system, order) finds a law where there is one, simulate(system, order) shows growth, "
            "is_stable(system) what no order can carry",
        )
    return found


def require_carried(system: System, policy: Any) -> None:
    """Raise UnstableError if this is an order that looks at counts, and known not to carry what comes."""
    if isinstance(policy, Order) and policy.by_counts and system.is_poisson:
        found = _known(system, policy)
        if found is not None:
            found.require_stable()


def _known(system: System, order: Order) -> Saturation | None:
    check_whole_jobs(system)
    found: Saturation | None = _by_family(order, system)
    return found


@ByFamily
def _by_family(order: Order, system: System) -> Saturation | None:
    """By the saturated chain."""
    states = service_states(system, order, MOST_STATES, saturated=True)
    throughput: Fraction | float
    near_1: Fraction | float
    throughput, held, near_1 = _in_floats(states)
    throughput /= float(states.unit or 1)
    if states.unit is not None and len(states.full) <= MOST_EXACT:
        throughput, held = _in_fractions(system, states, states.unit)
    if states.unit is not None and len(states.full) <= FEW:
        near_1 = solve_saturated(states, exact=True).heavy_traffic
    n_states = int(states.full.sum())
    return Saturation(
        system, order.name, throughput, _held_parts(system, held), n_states, heavy_traffic=near_1
    )


@_by_family.register("server-filling")
def _(order: Order, system: System) -> Saturation:
    servers, needs = require_nested(system, WholeJobs(system.problem, [], []))
    rates, sizes = system.as_fractions()
    # What a job asks for, and what all ask for per unit of time, in times of all servers together.
    asks = [size * need / servers for size, need in zip(sizes, needs, strict=True)]
    load = dot(rates, asks)
    # The constant of M/G/1, as of all orders that waste nothing and look at finitely many jobs [3]: of
    # exponential sizes, E[S^2] / 2 is the mean of squares.
    near_1 = dot(rates, [ask**2 for ask in asks]) * sum(rates) / load**2
    exponential = all(system.sizes[i].memoryless for i in np.flatnonzero(system.arrival_rates > 0))
    held = _held_parts(system, system.loads / float(load))
    basis = "all servers are held in saturation"
    return Saturation(system, order.name, sum(rates) / load, held, 0, basis, near_1 if exponential else None)


@_by_family.register("max-weight")
def _(order: Order, system: System) -> Saturation:
    return _at_part(system, order, max_weight_throughput(system))


@_by_family.register("priorities")
def _(order: Priorities, system: System) -> Saturation | None:
    found = priority_throughput(system, order)
    return None if found is None else _at_part(system, order, found)


def _at_part(system: System, order: Order, found: Throughput) -> Saturation:
    exact = isinstance(found.part, Fraction)
    total = sum(system.as_fractions()[0]) if exact else float(system.arrival_rates.sum())
    held = _held_parts(system, system.loads * float(found.part))
    return Saturation(system, order.name, found.part * total, held, 0, found.basis)


def _held_parts(system: System, running: FloatArray) -> FloatArray:
    """Part of each resource, (n_resources,), that so many jobs of each class hold."""
    pool = system.problem
    parts = np.zeros(pool.n_resources)
    return np.divide(pool.used(running), pool.capacities, out=parts, where=pool.capacities > 0)


def _in_fractions(system: System, states: ServiceStates, unit: Fraction) -> tuple[Fraction, FloatArray]:
    timed = states.full
    asked = {"timed": timed, "ends": np.where(timed, states.ends, 0.0)}
    for i in range(system.n_classes):
        asked[f"class {i}"] = np.where(timed, states.running[:, i], 0)
    found = exact_means(FiniteChain(states.service + states.draws), asked)
    held = np.array([float(found[f"class {i}"] / found["timed"]) for i in range(system.n_classes)])
    return found["ends"] / found["timed"] / unit, held


def _in_floats(states: ServiceStates) -> tuple[float, FloatArray, float]:
    law, near_1 = solve_saturated(states, exact=False)
    timed = np.where(states.full, law, 0.0)
    timed /= timed.sum()
    return float(timed @ states.ends), timed @ states.running, float(near_1)
