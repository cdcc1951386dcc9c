r"""How compiled kernels see the demands.

Kernels walk over the resources that a class demands. Few resources are read from the matrix of task shares as
it is; of many, of which a class often needs only some, the :class:`Nonzeros` are listed. The same kernel
serves both, with :func:`span` and :func:`entry`::

    first, last = span(shares, i)
    for e in range(first, last):
        j, a = entry(shares, i, e)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairness.machine.compiling import compiled_as, compiler
from fairness.model.problem import FloatArray

__all__ = [
    "ByResource",
    "Columns",
    "IntArray",
    "Nonzeros",
    "Shares",
    "columns_of",
    "entry",
    "exp",
    "log",
    "nonzeros",
    "span",
]

IntArray = NDArray[np.int64]


class Columns(NamedTuple):
    """Task shares resource by resource, those that are 0 left out."""

    start: IntArray  # (n_resources + 1,): resource j has the entries start[j] to start[j + 1] - 1
    job_class: IntArray  # (entries,): ascending within a resource
    share: FloatArray  # (entries,)


class Nonzeros(NamedTuple):
    """Task shares row by row, those that are 0 left out."""

    start: IntArray  # (n_classes + 1,): class i has the entries start[i] to start[i + 1] - 1
    resource: IntArray  # (entries,): ascending within a class
    share: FloatArray  # (entries,)
    columns: Columns


Shares = FloatArray | Nonzeros
"""Task shares as a matrix (n_classes, n_resources) or as their nonzeros."""

ByResource = FloatArray | Columns
"""The same with a row per resource; :func:`span` and :func:`entry` serve these, too."""


def nonzeros(task_shares: FloatArray) -> Nonzeros:
    """List the nonzeros of a matrix (n_classes, n_resources)."""
    rows = _listed(task_shares != 0.0, task_shares)
    return Nonzeros(*rows, Columns(*_listed((task_shares != 0.0).T, task_shares.T)))


def _listed(there: NDArray[np.bool_], values: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    # In one piece each, which is several times faster than with two coordinates at once.
    places = np.flatnonzero(there)
    rows, columns = np.divmod(places, there.shape[1])
    start = np.searchsorted(rows, np.arange(len(there) + 1))
    return start, columns, values[rows, columns]


# numba chooses when it knows the type (strict: lambdas cannot carry the annotations).


def _columns_for(shares: Any) -> Callable[..., Any]:
    if _is_matrix(shares):
        return lambda shares: shares.T
    return lambda shares: shares.columns


@compiled_as(_columns_for)
def columns_of(shares: Shares) -> ByResource:
    """Task shares with a row per resource."""
    return shares.columns if isinstance(shares, Nonzeros) else shares.T


def _span_for(shares: Any, i: Any) -> Callable[..., Any]:
    if _is_matrix(shares):
        return lambda shares, i: (0, shares.shape[1])
    return lambda shares, i: (shares.start[i], shares.start[i + 1])


@compiled_as(_span_for)
def span(shares: Shares | ByResource, i: int) -> tuple[int, int]:
    """First entry of class i, and the one after its last."""
    if isinstance(shares, Nonzeros | Columns):
        return int(shares.start[i]), int(shares.start[i + 1])
    return 0, shares.shape[1]


def _entry_for(shares: Any, i: Any, e: Any) -> Callable[..., Any]:
    if _is_matrix(shares):
        return lambda shares, i, e: (e, shares[i, e])
    if shares.instance_class is Columns:
        return lambda shares, i, e: (shares.job_class[e], shares.share[e])
    return lambda shares, i, e: (shares.resource[e], shares.share[e])


@compiled_as(_entry_for)
def entry(shares: Shares | ByResource, i: int, e: int) -> tuple[int, float]:
    """Resource and share of entry e of class i; in a matrix the share may be 0."""
    if isinstance(shares, Nonzeros):
        return int(shares.resource[e]), shares.share[e]
    if isinstance(shares, Columns):
        return int(shares.job_class[e]), shares.share[e]
    return e, shares[i, e]


def _is_matrix(shares: Any) -> bool:
    return isinstance(shares, compiler().types.Array)


# The C library's, to the last bit, whether compiled or not; numpy has its own.


@compiled_as(lambda x: lambda x: np.log(x))
def log(x: float) -> float:
    """Natural logarithm; -inf of 0."""
    if x > 0:
        return math.log(x)
    return -math.inf if x == 0 else math.nan


@compiled_as(lambda x: lambda x: np.exp(x))
def exp(x: float) -> float:
    """Exponential function; inf where it is larger than any float."""
    return math.exp(x) if x <= _LARGEST_POWER else x + math.inf


_LARGEST_POWER = 709.782712893384
"""Logarithm of the largest float."""
