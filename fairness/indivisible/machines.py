r"""Whole tasks against the continuous shares, on one pool and on K machines.

DRF task by task is compared with continuous DRF on the pooled resources. Let :math:`\delta` be the largest
(weighted) dominant share of one task; it is also that of the *max-task*, the component-wise largest demand.
The statement of [1]_ for K machines, each of which can hold one max-task, can be read in three ways:

1. *Between users*: any two dominant shares differ by at most :math:`\delta` (equality occurs), when tasks
   were started for the poorest class up to the first misfit. True for any number and size of machines and
   any choice of machines, see :mod:`fairness.indivisible.pool`.
2. *Above*: no dominant share exceeds the continuous one by more than :math:`\delta`. True on the same
   condition, if all continuous shares are equal (all demands positive, no limit binding).
3. *Below*: no dominant share falls short of the continuous one by :math:`\delta` or more. True on one
   machine, if all continuous shares are equal, but **false on several**: each machine can be left with
   almost one max-task free. Three machines of capacity 3 and tasks of 2: three tasks run, the continuous
   share is 4.5 tasks.

:func:`deviation` measures all three.

References
----------
.. [1] A. Ghodsi et al., "Dominant resource fairness: fair allocation of multiple resource types",
   NSDI 2011.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import pandas as pd

from fairness.display.drawing import bars
from fairness.display.result import Result
from fairness.errors import ModelError
from fairness.filling.fractions import fill
from fairness.indivisible.cluster import ClusterFilling
from fairness.indivisible.free_resources import Number
from fairness.indivisible.pool import TaskFilling
from fairness.indivisible.rational_model import Numbers, array, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Deviation", "deviation"]


@dataclass(frozen=True, eq=False, repr=False)
class Deviation(Result):
    """How far whole tasks are from continuous DRF, in weighted dominant shares of the pooled resources.

    Attributes
    ----------
    shares, continuous : array of shape (n_classes,)
        Dominant shares of the whole tasks, and of continuous DRF on one pool of all resources.
    one_task : number
        The largest dominant share of one task, which is that of the max-task.
    gap : number
        Largest difference between two classes (statement 1).
    above, below : number
        Largest excess and shortfall against the continuous shares, at least 0 (statements 2 and 3).
    holds_max_task : bool
        Whether every machine can hold one max-task.
    """

    shares: Numbers
    continuous: Numbers
    one_task: Number
    gap: Number
    above: Number
    below: Number
    holds_max_task: bool

    def summary(self) -> str:
        """What a person wants to read: the gap and the distances, beside one task."""
        held = "every machine can" if self.holds_max_task else "not every machine can"
        lines = [
            f"whole tasks of {len(self.shares)} classes beside continuous DRF",
            f"  largest gap {float(self.gap):.6g} between two dominant shares",
            f"  {float(self.above):.6g} above and {float(self.below):.6g} below the continuous ones at most",
            f"  one task has up to {float(self.one_task):.6g}; {held} hold such a task",
        ]
        return "\n".join(lines)

    def to_dataframe(self) -> pd.DataFrame:
        """One row per class: dominant share of its whole tasks, and of continuous DRF."""
        columns = {"dominant_share": self.shares.astype(float), "continuous": self.continuous.astype(float)}
        return pd.DataFrame(columns, index=pd.RangeIndex(1, len(self.shares) + 1, name="job_class"))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Bars: dominant shares of whole tasks; lines: those of continuous DRF."""
        names = [f"class {n + 1}" for n in range(len(self.shares))]
        text = "dominant share (lines: continuous)"
        return bars(ax, names, self.shares, marks=self.continuous, ylabel=text)


def deviation(filling: TaskFilling | ClusterFilling) -> Deviation:
    """Compare whole tasks with continuous DRF on the pooled resources.

    Parameters
    ----------
    filling : TaskFilling or ClusterFilling
        On a cluster, placement constraints are ignored by the continuous allocation. Exact if the model is.

    Returns
    -------
    Deviation
        Differences of dominant shares, and the dominant share of one task to compare them with.

    Raises
    ------
    ModelError
        If this is no filling, or it started from holdings.

    Examples
    --------
    >>> from fairness import Cluster
    >>> from fairness.indivisible import fill_cluster
    >>> three = Cluster([[2]], [[3], [3], [3]])
    >>> found = deviation(fill_cluster(three, server_rule="first fit", stop="first misfit"))
    >>> found.below, found.one_task, found.holds_max_task
    (Fraction(1, 3), Fraction(2, 9), True)
    """
    machines: Sequence[Sequence[Number]]
    if isinstance(filling, TaskFilling):
        if filling.holdings is not None:
            raise ModelError("deviation compares with plain DRF; this filling started from holdings")
        machines, units = [filling.amounts.capacities], filling.amounts.units
        most = filling.amounts.most
    elif isinstance(filling, ClusterFilling):
        machines, units = filling.amounts.capacities, filling.amounts.dominant_units
        most = [math.inf if x > 0 else 0 for x in filling.counts]
    else:
        raise ModelError(f"deviation needs a TaskFilling or a ClusterFilling; got {type(filling).__name__}")
    demands = [[Fraction(v) for v in row] for row in filling.amounts.demands]
    total = [sum(Fraction(v) for v in column) for column in zip(*machines, strict=True)]
    shares = [[v / c if c > 0 else Fraction(0) for v, c in zip(row, total, strict=True)] for row in demands]
    present = [n for n, unit in enumerate(units) if unit > 0]
    limits = [None if math.isinf(cap) else Fraction(cap) for cap in most]
    one = [Fraction(unit) for unit in units]
    rates = [1 / unit if unit > 0 else Fraction(0) for unit in one]
    levels = [tasks * unit for tasks, unit in zip(fill(shares, rates, limits), one, strict=True)]
    continuous = array([number(level, filling.is_exact) for level in levels], filling.is_exact)
    differences = filling.dominant_shares - continuous
    zero = continuous[0] * 0
    largest = [max((demands[n][r] for n in present), default=Fraction(0)) for r in range(len(total))]
    return Deviation(
        filling.dominant_shares,
        continuous,
        filling.gap_bound,
        filling.largest_gap,
        max([differences[n] for n in present] + [zero]),
        max([-differences[n] for n in present] + [zero]),
        all(Fraction(c) >= v for machine in machines for c, v in zip(machine, largest, strict=True)),
    )
