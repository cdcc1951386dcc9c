"""Places of tasks, types, users and nodes in their lists."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairness.arguments.validation import frozen
from fairness.errors import ModelError

__all__ = ["Indices", "chosen", "indices_into"]

Indices = NDArray[np.int32]
"""Places in a list, four bytes each: a trace may have 1e8 tasks."""


def indices_into(name: str, values: ArrayLike, count: int, what: str) -> Indices:
    """Places 0, ..., count - 1 as 32-bit integers; ModelError, naming the first that is none."""
    given = np.asarray(values)
    if given.ndim != 1 or (given.dtype.kind not in "iu" and given.size):
        raise ModelError.of(
            name, f"must be a list of whole numbers; got shape {given.shape} of {given.dtype}"
        )
    if given.size and (given.min() < 0 or given.max() >= count):
        k = int(np.argmax((given < 0) | (given >= count)))
        raise ModelError.of(
            name, f"must lie from 0 to {count - 1}, as there are {count} {what}; got {given[k]} at {k}", k
        )
    return frozen(np.array(given, dtype=np.int32))


def chosen(name: str, given: ArrayLike, count: int) -> NDArray[np.intp]:
    """Places among 0, ..., count - 1, given as such or by a mask; ModelError if they do not fit."""
    places = np.asarray(given)
    if places.dtype == np.bool_:
        if places.shape != (count,):
            raise ModelError.of(name, f"is a mask of shape {places.shape}; it must be ({count},)")
        return np.flatnonzero(places)
    return indices_into(name, places, count, name).astype(np.intp)
