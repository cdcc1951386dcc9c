"""What the functions of this room read: floats, or fractions where one is given.

All arguments of a call are floats, unless an entry is a ``fractions.Fraction``: then all are exact, and so is
the answer. Whole numbers and floats among fractions count as what they are, infinity stays infinity.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairness.arguments.labels import is_labelled
from fairness.arguments.validation import float_array, require
from fairness.errors import ModelError

__all__ = ["Numbers", "largest", "one_number", "over", "per_queue", "quantities"]

Numbers = NDArray[Any]
"""An array of floats, or of fractions (dtype object)."""


def quantities(
    *,
    endless: Collection[str] = (),
    missing: Collection[str] = (),
    signed: Collection[str] = (),
    **values: ArrayLike,
) -> list[Numbers]:
    """The arguments as arrays, all exact if one holds a fraction.

    Parameters
    ----------
    endless : collection of str
        Arguments that may be infinite.
    missing : collection of str
        Arguments in which NaN stands for what is not set; elsewhere it is refused.
    signed : collection of str
        Arguments that may be negative.
    **values : array_like
        By the name of the argument.

    Raises
    ------
    ModelError
        If an argument holds what is no number, is negative, infinite or not a number, or a table with labels.
    """
    floats = []
    for name, given in values.items():
        if is_labelled(given):
            raise ModelError.of(name, f"is read by position, not by label; pass {name}.to_numpy()")
        array = float_array(name, given)
        if name not in missing:
            require(name, array, ~np.isnan(array), "a number")
        if name not in endless:
            require(name, array, ~np.isinf(array), "finite")
        if name not in signed:
            require(name, array, ~(array < 0), ">= 0")
        floats.append(array)
    originals = [np.asarray(given) for given in values.values()]
    if any(isinstance(v, Fraction) for array in originals if array.dtype == object for v in array.flat):
        return [_exact(array.astype(object)) for array in originals]
    return floats


def one_number(name: str, values: Numbers) -> Any:
    """The only entry; ModelError if there are several, or none."""
    if values.size != 1:
        raise ModelError.of(name, f"must be one number, of one resource; got shape {values.shape}")
    return values.item()


def per_queue(name: str, values: Numbers, shape: tuple[int, ...], queues: str) -> Numbers:
    """The values, one for all repeated; ModelError unless they fit the shape that ``queues`` gives."""
    try:
        return np.broadcast_to(values, shape)
    except ValueError:
        raise ModelError.of(
            name,
            f"has shape {values.shape}; with the {queues} that are given it must be {shape} or one number",
        ) from None


def over(usage: Numbers, total: Numbers, empty: Any, unused: Any = 0) -> Numbers:
    """``usage / total``; where the total is 0: ``empty`` if there is usage, else ``unused``."""
    usage, total = np.broadcast_arrays(usage, total)
    some = total != 0
    safe = np.where(some, total, 1)
    return np.where(some, usage / safe, np.where(usage > 0, empty, unused))


def largest(values: Numbers) -> Numbers:
    """The maximum over the last axis, 0 where nothing is positive."""
    return np.asarray(values.max(axis=-1, initial=0))


def _exact(array: Numbers) -> Numbers:
    exact = np.empty(array.size, dtype=object)
    exact[:] = [Fraction(v) if math.isfinite(v) else float(v) for v in array.flat]
    return exact.reshape(array.shape)
