"""What every allocation at cloud scale tells, whichever algorithm made it."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np
import pandas as pd
from scipy import sparse

from fairness.arguments.validation import FloatArray, frozen
from fairness.cloud.model.demands import SparseDemands
from fairness.display.drawing import sorted_curve
from fairness.display.result import Result
from fairness.errors import NotConvergedError
from fairness.evidence.pools import SATURATION

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CloudAllocation", "LevelAllocation", "claim_of_levels"]


@dataclass(frozen=True, eq=False, repr=False)
class LevelAllocation(Result):
    """Tasks of many tenants by the levels at which they stopped, wherever their demands lie.

    Attributes
    ----------
    levels : ndarray of shape (n_tenants,)
        Level z_i at which the tenant stopped.
    growth : ndarray of shape (n_tenants,)
        Tasks per unit of level: tenant i runs ``growth[i] * levels[i]`` tasks.
    free : ndarray of shape (n_resources,)
        Part of each resource that is left.
    seconds : dict
        Wall time of each phase.
    """

    levels: FloatArray
    growth: FloatArray
    free: FloatArray
    seconds: dict[str, float]

    @cached_property
    def tasks(self) -> FloatArray:
        """Tasks of each tenant, shape (n_tenants,)."""
        return frozen(self.growth * self.levels)

    @property
    @abstractmethod
    def dominant_shares(self) -> FloatArray:
        """Largest share of a resource that each tenant holds, shape (n_tenants,)."""

    @property
    def utilization(self) -> float:
        """Allocated part of all resources together, those that nobody demands included."""
        return float(1.0 - self.free.mean())

    def to_dataframe(self) -> pd.DataFrame:
        """One row per tenant: tasks, level, dominant share."""
        columns = {"tasks": self.tasks, "level": self.levels, "dominant_share": self.dominant_shares}
        return pd.DataFrame(columns, index=pd.RangeIndex(len(self.levels), name="tenant"))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Dominant shares of all tenants, in ascending order."""
        title = self.summary().partition("\n")[0]
        return sorted_curve(
            ax, self.dominant_shares, xlabel="part of the tenants", ylabel="dominant share", title=title
        )

    def _phases(self) -> str:
        return "  " + ", ".join(f"{name} {value:.3g} s" for name, value in self.seconds.items())

    def _unless_lost(self, misfit: float) -> Self:
        """Give this result out, unless its sums lost rates and so much of a resource is overfull or left."""
        # Written so that NaN fails.
        if not misfit <= SATURATION:
            raise NotConvergedError(
                "some tenants are so light beside others on the same resources, or weights so near the "
                "limits of a float, that rates are lost; weights must not differ by that many decades",
                best=self,
                residual=misfit,
            )
        return self


@dataclass(frozen=True, eq=False, repr=False)
class CloudAllocation(LevelAllocation):
    """Tasks of many tenants and how they came about.

    Attributes
    ----------
    demands : SparseDemands
    levels : ndarray of shape (n_tenants,)
        Level z_i at which the tenant stopped.
    growth : ndarray of shape (n_tenants,)
        Tasks per unit of level: tenant i runs ``growth[i] * levels[i]`` tasks.
    free : ndarray of shape (n_resources,)
        Part of each resource that is left.
    seconds : dict
        Wall time of each phase.
    """

    demands: SparseDemands

    @cached_property
    def dominant_shares(self) -> FloatArray:
        """Largest share of a resource that each tenant holds, shape (n_tenants,)."""
        return frozen(self.tasks * self.demands.largest)

    def allocation(self) -> sparse.csr_array:
        """Share of each resource that each tenant holds, sparse of shape (n_tenants, n_resources)."""
        rows = self.demands.matrix()
        held = np.repeat(self.tasks, np.diff(self.demands.starts)) * rows.data
        return sparse.csr_array((held, rows.indices, rows.indptr), shape=rows.shape)

    def _lines(self) -> list[str]:
        full = int((self.free <= SATURATION).sum())
        shares = self.dominant_shares
        return [
            f"  {full:,} resources full, {self.utilization:.2%} of all resources allocated",
            f"  dominant shares {shares.min():.3g} to {shares.max():.3g}",
            self._phases(),
        ]


def claim_of_levels(epsilon: float = 0.0) -> str:
    """What is claimed of an allocation in which all tenants have stopped."""
    full = f"resource with at most {epsilon:.3g} free" if epsilon else "full resource"
    return f"every tenant has a {full} on which its level is the largest"
