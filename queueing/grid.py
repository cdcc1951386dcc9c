"""Grids of job counts: the states (x_1, ..., x_n) with 0 <= x_i < shape[i]."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import psutil

from fairness.errors import ModelError
from fairness.problem import FloatArray

__all__ = ["SMALLEST", "check_shape", "grid_counts", "marginal_laws", "mean_counts", "require_memory"]

SMALLEST = 1e-290
"""Probabilities below this are set to 0: subnormal numbers are slow, and they add nothing to any sum."""


def check_shape(shape: Sequence[int] | int, n_classes: int) -> tuple[int, ...]:
    """Validated grid shape: number of states per class, each >= 1; one integer serves for all classes."""
    sizes = (shape,) * n_classes if isinstance(shape, int | np.integer) else tuple(shape)
    if len(sizes) != n_classes or any(int(k) != k or k < 1 for k in sizes):
        raise ModelError(f"shape must give {n_classes} positive integers, states per class; got {shape!r}")
    return tuple(int(k) for k in sizes)


def grid_counts(shape: Sequence[int]) -> FloatArray:
    """All states of the grid, shape (*shape, n_classes), in C order."""
    axes = np.meshgrid(*(np.arange(k, dtype=float) for k in shape), indexing="ij", copy=False)
    return np.stack(axes, axis=-1)


def marginal_laws(law: FloatArray) -> tuple[FloatArray, ...]:
    """Law of each count, from the law on the grid; entry i has shape (shape[i],)."""
    axes = range(law.ndim)
    return tuple(law.sum(axis=tuple(k for k in axes if k != i)) for i in axes)


def mean_counts(law: FloatArray) -> FloatArray:
    """Mean of each count, shape (n_classes,)."""
    return np.array([marginal @ np.arange(len(marginal)) for marginal in marginal_laws(law)])


def require_memory(n_bytes: float, purpose: str, remedy: str) -> None:
    """Raise ModelError before an allocation that the free memory of this machine cannot hold."""
    free = psutil.virtual_memory().available
    if not math.isfinite(n_bytes) or n_bytes > 0.9 * free:
        raise ModelError(
            f"{purpose} needs {n_bytes / 2**30:.3g} GiB, but only {free / 2**30:.3g} GiB are free; {remedy}"
        )
