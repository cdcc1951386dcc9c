"""Grids of job counts: the states (x_1, ..., x_n) with 0 <= x_i < shape[i]."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairness.arguments.labels import as_named
from fairness.arguments.validation import refuse_foreign, require_number
from fairness.errors import ModelError
from fairness.model.cluster import Cluster
from fairness.model.problem import FloatArray, Problem
from queueing.model.system import System

__all__ = [
    "SMALLEST",
    "along",
    "box_name",
    "check_box",
    "check_shape",
    "count_axes",
    "count_states",
    "grid_counts",
    "marginal_laws",
    "mean_counts",
    "pair_law",
    "require_part",
    "sides",
]

SMALLEST = 1e-290
"""Probabilities below this are set to 0: subnormal numbers are slow, and they add nothing to any sum."""

MOST = 2**53
"""Most states of one class: beyond any memory, and beyond what floats count."""


LEAST = 1e-250
"""Smallest tail or tolerance of a chain: the probabilities of its states add up to such a part of 1."""


def require_part(name: str, value: float) -> None:
    """Refuse a tolerance or a tail that is not between 0 and 1, or is lost in floats."""
    part = require_number(name, value, above=0, below=1)
    if part < LEAST:
        raise ModelError.of(name, f"must be at least {LEAST:g}, or parts of it are no floats; got {value!r}")


def check_shape(shape: Sequence[int] | int, problem: Problem | Cluster) -> tuple[int, ...]:
    """Validated grid shape: number of states per class, each >= 1; one integer serves for all classes."""
    n_classes = problem.n_classes
    refuse_foreign("shape", shape)
    sizes = np.asarray(as_named("shape", shape, problem, "job_classes"))
    sizes = np.full(n_classes, sizes) if sizes.ndim == 0 else sizes
    if sizes.shape != (n_classes,) or not all(_is_size(k) for k in sizes.tolist()):
        raise ModelError.of(
            "shape", f"must give {n_classes} positive integers, states per class; got {shape!r}"
        )
    return tuple(int(k) for k in sizes.tolist())


def _is_size(value: object) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and 1 <= value <= MOST
        and value == int(value)
    )


def check_box(shape: Sequence[int] | int, system: System) -> tuple[int, ...]:
    """Validated box of a chain: as :func:`check_shape`, with room for a job of every class with arrivals.

    Classes without arrivals are always empty, and get one state.
    """
    sizes = check_shape(shape, system.problem)
    live = system.arrival_rates > 0
    for name, size, here in zip(system.problem.job_classes, sizes, live, strict=True):
        if here and size < 2:
            raise ModelError.of(
                "shape",
                f"gives 1 state to class {name!r}, which has arrivals: there is no room for a job; "
                "give it at least 2",
            )
    return tuple(size if here else 1 for size, here in zip(sizes, live, strict=True))


def box_name(shape: Sequence[int]) -> str:
    """Shape of a grid in words: "3 x 4", shortened for many classes."""
    if len(shape) > 6:
        return f"{shape[0]} x {shape[1]} x ... x {shape[-1]} ({len(shape)} classes)"
    return " x ".join(map(str, shape))


def count_states(shape: Sequence[int]) -> float:
    """Number of states as a float, infinite rather than out of range."""
    return math.prod(map(float, shape))


def count_axes(job_classes: Sequence[str], shape: Sequence[int]) -> dict[str, NDArray[np.int64]]:
    """Labels of a grid for xarray: "jobs of A" -> 0, 1, ..., shape[i] - 1, in the order of the classes."""
    return {f"jobs of {name}": np.arange(size) for name, size in zip(job_classes, shape, strict=True)}


def along(values: NDArray, axis: int, n_axes: int) -> NDArray:
    """The values along one axis of a grid, to be broadcast over the others."""
    return np.expand_dims(values, tuple(k for k in range(n_axes) if k != axis))


def sides(axis: int) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """Places of all states but the last, and of all but the first, along one axis of a grid."""
    before = (slice(None),) * axis
    return (*before, slice(None, -1)), (*before, slice(1, None))


def grid_counts(shape: Sequence[int]) -> FloatArray:
    """All states of the grid, shape (*shape, n_classes), in C order."""
    axes = np.meshgrid(*(np.arange(k, dtype=float) for k in shape), indexing="ij", copy=False)
    return np.stack(axes, axis=-1)


def marginal_laws(law: FloatArray) -> tuple[FloatArray, ...]:
    """Law of each count, from the law on the grid; entry i has shape (shape[i],)."""
    axes = range(law.ndim)
    return tuple(law.sum(axis=tuple(k for k in axes if k != i)) for i in axes)


def pair_law(law: NDArray[Any], one: int, other: int) -> NDArray[Any]:
    """Joint law of two counts, (shape[one], shape[other]), from the law on the grid."""
    pair = law.sum(axis=tuple(k for k in range(law.ndim) if k not in (one, other)))
    return pair if one < other else pair.T


def mean_counts(marginals: Sequence[FloatArray]) -> FloatArray:
    """Mean of each count from the laws of the counts, shape (n_classes,)."""
    return np.array([law @ np.arange(len(law)) for law in marginals])
