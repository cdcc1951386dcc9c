"""Evidence at cloud scale: two passes over the entries, apart from the solvers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from fairness.certificates import Certificate
from fairness.cloud import sums as summing
from fairness.cloud.demands import IndexArray, Offsets, SparseDemands
from fairness.cloud.sums import add
from fairness.kernels import fingerprint
from fairness.validation import FloatArray

__all__ = ["edrf_certificate"]


def edrf_certificate(demands: SparseDemands, growth: FloatArray, levels: FloatArray) -> Certificate:
    """How far an allocation is from extended DRF.

    Every tenant needs a full resource on which its level is the largest, and no resource may be overfull.
    The residual of a tenant is the smallest over the resources that it demands of the larger of two: the
    part that is free, and how far its level is below the highest.

    Parameters
    ----------
    demands : SparseDemands
    growth : ndarray of shape (n_tenants,)
        Tasks per unit of level.
    levels : ndarray of shape (n_tenants,)
    """
    rows = demands.starts, demands.columns, demands.values
    residual = _residual(*rows, growth, levels, demands.n_resources)
    return Certificate("every tenant has a full resource on which its level is the largest", residual)


def _kernel(sources: str) -> Callable[..., float]:
    @numba.njit(cache=True, nogil=True)
    def residual(
        starts: Offsets,
        columns: IndexArray,
        values: NDArray[Any],
        growth: FloatArray,
        levels: FloatArray,
        n_resources: int,
    ) -> float:
        """Largest violation of the certificate, in two passes over the entries."""
        assert sources
        # Compensated: a plain sum of a million equal shares is off by 1e-11.
        sums, highest = np.zeros((n_resources, 2)), np.zeros(n_resources)
        for i in range(len(levels)):
            if not levels[i] >= 0.0:
                return np.inf
            for e in range(starts[i], starts[i + 1]):
                r = columns[e]
                add(sums, r, 0, growth[i] * levels[i] * values[e])
                highest[r] = max(highest[r], levels[i])
        used = sums[:, 0] + sums[:, 1]
        worst = 0.0
        for r in range(n_resources):
            worst = max(worst, used[r] - 1.0)
        for i in range(len(levels)):
            best = np.inf
            for e in range(starts[i], starts[i + 1]):
                r = columns[e]
                short = 1.0 - levels[i] / highest[r] if highest[r] > 0 else 0.0
                best = min(best, max(short, 1.0 - used[r]))
            worst = max(worst, best)
        return worst

    return residual


_residual = _kernel(fingerprint(summing))
