r"""How far an approximate allocation is from the exact one.

With :math:`\varphi_i` the tasks of tenant i in the one and :math:`\varphi_i^*` in the other, the deviation is
:math:`\varphi_i/\varphi_i^* - 1`. As tenants hold resources in fixed proportions, it is that of the tenant's
level and of its share of each resource alike.

Kash et al. [1]_ report the standard deviation between an allocation and the baseline and the shortfall of the
worst tenants, and leave open what these numbers are normalised by. Here they are relative to the exact
allocation of the same tenant, so that small tenants count as much as large ones: the standard deviation is
the root mean square of the deviations (about 0, not about their mean), and the shortfall is how much of its
exact allocation a tenant misses, 0 for one that gains.

References
----------
.. [1] I. A. Kash, G. O'Shea and S. Volos, "DC-DRF: adaptive multi-resource sharing at public cloud scale",
   SoCC 2018, sections 5.2 to 5.4. DOI 10.1145/3267809.3267848.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fairness.arguments.validation import FloatArray, frozen, require_number
from fairness.cloud.allocation import CloudAllocation
from fairness.display.drawing import sorted_curve
from fairness.display.result import Result
from fairness.errors import ModelError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Comparison", "compare"]

SAME_GROWTH = 1e-12
"""Largest relative difference of growth rates that rounding of weights explains."""


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Result):
    """An approximate allocation beside the exact one; made by :func:`compare`.

    Attributes
    ----------
    deviations : ndarray of shape (n_tenants,)
        Tasks divided by exact tasks, less 1.
    utilization_ratio : float
        Allocated part of all resources together, divided by that of the exact allocation.
    """

    deviations: FloatArray
    utilization_ratio: float

    @cached_property
    def relative_std(self) -> float:
        """Root mean square of the deviations."""
        return float(np.sqrt(np.mean(self.deviations**2)))

    @property
    def worst_shortfall(self) -> float:
        """Part of its exact tasks that the tenant misses who misses most; 0 if nobody does."""
        return max(0.0, -float(self.deviations.min()))

    def shortfall(self, percent: float = 0.1) -> float:
        """Part of its exact tasks that this per cent of the tenants misses at least; 0 if fewer miss any.

        It is a threshold, not a mean: with 0.1 per cent of a million tenants that of the 1000th worst. At
        least one tenant is counted.

        Raises
        ------
        ModelError
            If percent is not in (0, 100].
        """
        require_number("percent", percent, above=0, most=100)
        # Not one tenant more because 0.1 per cent of 1,000,000 rounds to 1000.0000000000001.
        place = max(1, math.ceil(percent / 100 * len(self.deviations) * (1 - 1e-15))) - 1
        return max(0.0, -float(np.partition(self.deviations, place)[place]))

    def summary(self) -> str:
        """What a person wants to read."""
        return "\n".join(
            [
                f"Allocations of {len(self.deviations):,} tenants beside the exact ones",
                f"  relative standard deviation {self.relative_std:.3g}",
                f"  shortfall {self.worst_shortfall:.3g} of the worst, {self.shortfall():.3g} of 0.1 %",
                f"  utilization {self.utilization_ratio:.4f} of the exact one",
            ]
        )

    def to_dataframe(self) -> pd.DataFrame:
        """One row per tenant: its deviation."""
        return pd.DataFrame({"deviation": self.deviations}).rename_axis(index="tenant")

    def plot(self, ax: Axes | None = None) -> Axes:
        """Deviations of all tenants, in ascending order."""
        return sorted_curve(
            ax,
            self.deviations,
            xlabel="part of the tenants",
            ylabel="tasks / exact tasks - 1",
            title=self.summary().partition("\n")[0],
        )


def compare(approximate: CloudAllocation, exact: CloudAllocation) -> Comparison:
    """Compare an allocation with the exact one of the same demands and weights.

    Parameters
    ----------
    approximate : CloudAllocation
        From :func:`~fairness.cloud.dcdrf`, or :func:`~fairness.cloud.edrf_rounds` cut short.
    exact : CloudAllocation
        From :func:`~fairness.cloud.exact.edrf`.

    Returns
    -------
    Comparison

    Raises
    ------
    ModelError
        If the allocations are not of the same demands, or not with the same weights (up to a factor that
        all weights have in common).

    References
    ----------
    See :mod:`fairness.cloud.comparison`.

    Examples
    --------
    >>> from fairness.cloud import SparseDemands, dcdrf, edrf
    >>> demands = SparseDemands.from_lists([[(0, 1.0)], [(0, 0.5), (1, 1.0)], [(1, 1.0)]], n_resources=2)
    >>> compare(dcdrf(demands, epsilon=0.25), edrf(demands)).deviations.round(3)
    array([-0.333,  0.   ,  0.   ])
    """
    ours, theirs = approximate.demands, exact.demands
    shapes = [(d.n_tenants, d.n_resources) for d in (ours, theirs)]
    if shapes[0] != shapes[1]:
        raise ModelError(
            f"both allocations must be of the same demands; got shapes {shapes[0]} and {shapes[1]}"
        )
    if ours is not theirs:
        for name in ("starts", "columns", "values"):
            if not np.array_equal(getattr(ours, name), getattr(theirs, name)):
                raise ModelError(f"both allocations must be of the same demands; {name} differ")
    ratio = approximate.growth / exact.growth
    if ratio.max() > ratio.min() * (1 + SAME_GROWTH):
        raise ModelError(
            "both allocations must have the same weights, up to a common factor; relative to each other they "
            f"differ by factors {ratio.min():.6g} to {ratio.max():.6g}"
        )
    deviations = approximate.tasks / exact.tasks - 1.0
    return Comparison(frozen(deviations), approximate.utilization / exact.utilization)
