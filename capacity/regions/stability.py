r"""Does the traffic fit? The stability condition of a pool under random traffic.

The pool can be stabilised if and only if :math:`\varrho_j = \sum_i \rho_i a_{ij} < C_j` on every resource,
and then proportional fairness, for one, does it [1]_ [2]_. The condition is necessary for every policy. It is
not sufficient for every policy: strict priorities, for instance, may waste a resource.

References
----------
.. [1] T. Bonald and J. Roberts, "Resource sharing in data centers", Workshop on Performance and
   Control of Large-Scale Networks, Eindhoven, 2014.
.. [2] L. Massoulié, "Structural properties of proportional fairness: stability and insensitivity",
   Annals of Applied Probability 17(3), 2007. DOI 10.1214/105051606000000907.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

import numpy as np

from fairness.display.drawing import bars
from fairness.display.result import Result
from fairness.display.tables import Columns
from fairness.model.problem import FloatArray
from queueing.model.system import System
from queueing.waiting.saturation import Saturation, saturate
from queueing.waiting.whole_jobs import Order

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["StabilityVerdict", "is_stable"]


@dataclass(frozen=True, eq=False, repr=False)
class StabilityVerdict(Result):
    """Whether the loads fit; true or false itself. Made by :func:`is_stable`.

    Attributes
    ----------
    resources : tuple of str
    relative_loads : ndarray of shape (n_resources,)
        Load over capacity; infinite where a capacity of 0 is demanded.
    overloaded : tuple of str
        Resources with relative load >= 1.
    """

    resources: tuple[str, ...]
    relative_loads: FloatArray
    overloaded: tuple[str, ...]

    @property
    def stable(self) -> bool:
        """Whether every relative load is below 1."""
        return not self.overloaded

    @property
    def slack(self) -> float:
        """Part of the busiest resource that stays free; negative when overloaded."""
        return 1.0 - float(self.relative_loads.max())

    @property
    def message(self) -> str:
        """The verdict in one line."""
        busiest = int(np.argmax(self.relative_loads))
        if self.stable:
            load = f"{self.relative_loads[busiest]:.6g}"
            return f"stable: the busiest resource is {self.resources[busiest]!r} with load {load} of 1"
        loads = dict(zip(self.resources, self.relative_loads, strict=True))
        return "unstable: " + ", ".join(
            f"{name!r} has load {loads[name]:.6g} of 1" for name in self.overloaded
        )

    def __bool__(self) -> bool:
        return self.stable

    def to_dataframe(self) -> pd.DataFrame:
        """One row per resource: relative load and whether it is overloaded."""
        loads = self.relative_loads
        told = {"resource": self.resources, "relative_load": loads, "overloaded": loads >= 1}
        return Columns(told).to_dataframe()

    def summary(self) -> str:
        """The verdict in one line."""
        return self.message

    def plot(self, ax: Axes | None = None) -> Axes:
        """Bars: relative load of each resource; the line is the largest that can be stable."""
        ax = bars(ax, self.resources, self.relative_loads, ylabel="relative load")
        ax.axhline(1.0, color="black", linewidth=0.8)
        return ax


@overload
def is_stable(system: System) -> StabilityVerdict: ...


@overload
def is_stable(system: System, order: Order) -> Saturation: ...


def is_stable(system: System, order: Order | None = None) -> StabilityVerdict | Saturation:
    """Whether the loads are below the capacity of every resource, or whole jobs in order can be carried.

    Unlike ``System.require_stable`` it never raises for a load that does not fit: it tells.

    Parameters
    ----------
    system : System
        Of a pool or a cluster.
    order : FCFS, ServerFilling, MaxWeight or Priorities, optional
        Jobs run whole, in this order, on a pool: who does not fit leaves some of it free
        (:mod:`queueing.waiting.saturation`).

    Returns
    -------
    StabilityVerdict, or Saturation with an order
        True in a condition if the loads fit; otherwise it names the resource that is overloaded, or the
        largest arrival rate that can be carried.

    Examples
    --------
    >>> from fairness import Problem
    >>> system = System(Problem([[10, 1], [1, 10]], [10, 10], resources=["cpu", "ram"]), [0.5, 1.0])
    >>> is_stable(system)
    unstable: 'ram' has load 1.05 of 1
    >>> "fits" if is_stable(system) else "does not fit"
    'does not fit'

    Two servers could do 4/3 jobs of these needs per unit of time, but not in order:

    >>> from fractions import Fraction
    >>> from queueing import FCFS
    >>> waiting = System(Problem([[1], [2]], [2]), [Fraction(3, 5), Fraction(3, 5)])
    >>> bool(is_stable(waiting)), bool(is_stable(waiting, FCFS())), is_stable(waiting, FCFS()).throughput
    (True, False, Fraction(8, 7))

    Of 7 units jobs of 2 and of 3 leave one free in every mix but one:

    >>> from queueing import MaxWeight
    >>> is_stable(System(Problem([[2], [3]], [7]), [1, 1]), MaxWeight())
    MaxWeight: stable, at most 8/3 = 2.66667 jobs per unit of time, and 2 come
      resource    held in saturation
      resource 1               0.952
      exact, a schedule of configurations, and prices that prove it the best
    """
    if order is not None:
        return saturate(system, order)
    names = system.load_names
    over = tuple(names[j] for j in np.flatnonzero(system.overloaded))
    return StabilityVerdict(names, system.relative_loads, over)
