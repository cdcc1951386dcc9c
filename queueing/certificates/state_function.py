"""A function of the counts that is 0 outside of a finite set, in whole multiples of a power of 2."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from queueing.certificates.errors import CertificateError

__all__ = ["StateFunction"]

MOST_JOBS = 2**20
"""Of a class in a state."""

Places = NDArray[np.int64]


class StateFunction:
    """The function, looked at before it is believed, and the states where it changes.

    Parameters
    ----------
    n : int
        Number of counts.
    states : ndarray of int of shape (n_states, n)
        The set H.
    values : ndarray of int of shape (n_states,)
        In multiples of ``2**-bits``.
    bits : int

    Attributes
    ----------
    counts : ndarray of int of shape (n_near, n)
        H and its neighbours.
    frontier : ndarray of int of shape (n_frontier, n)
        The states outside of these that are reached from them by a job more; also 0 if it is outside. Every
        state outside is one of them or has more jobs than one, class by class.
    """

    def __init__(self, n: int, states: Any, values: Any, bits: Any) -> None:
        for name, array in (("states", states), ("h", values)):
            if not isinstance(array, np.ndarray) or array.dtype != np.int64:
                raise CertificateError("data", f"{name} must be an array of 64-bit integers")
        if values.ndim != 1 or states.shape != (len(values), n):
            raise CertificateError("data", f"h must have a number for each state, of {n} counts")
        if len(states) and not (states.min() >= 0 and states.max() < MOST_JOBS):
            raise CertificateError("data", f"states must have from 0 to {MOST_JOBS} jobs of a class")
        if type(bits) is not int or abs(bits) > 1000:
            raise CertificateError("data", f"bits must be an int from -1000 to 1000; got {bits!r:.80}")
        self.unit = Fraction(2) ** -bits
        # Room for a neighbour of a neighbour on both sides.
        shape = tuple(int(top) + 5 for top in states.max(axis=0, initial=-1))
        if math.prod(shape) > 2**62:
            raise CertificateError("data", "states are too far apart")
        self._steps = np.array([math.prod(shape[i + 1 :]) for i in range(n)], dtype=np.int64)
        keys = self._keys(states)
        order = np.argsort(keys)
        self._known = keys[order]
        if (np.diff(self._known) == 0).any():
            raise CertificateError("data", "a state is listed twice")
        # One more, for the states outside.
        self._values = np.append(values[order].astype(object), 0)
        moves = [sign * step for step in self._steps for sign in (1, -1)]
        near = np.unique(np.concatenate([keys, *(keys + move for move in moves)]))
        counts = np.stack(np.unravel_index(near, shape), axis=1) - 2
        kept = (counts >= 0).all(axis=1)
        self._near, self.counts = near[kept], counts[kept]
        edge = [np.zeros((1, n), dtype=np.int64), *(self.counts + unit for unit in np.eye(n, dtype=np.int64))]
        beyond = np.concatenate(edge)
        self.frontier = np.unique(beyond[~np.isin(self._keys(beyond), self._near)], axis=0)

    def _keys(self, states: Places) -> Places:
        """A number for each state whose counts are at least -2."""
        keys: Places = (states + 2) @ self._steps
        return keys

    def _at(self, keys: Places) -> NDArray[Any]:
        place = np.searchsorted(self._known, keys)
        known = np.append(self._known, -1)[place] == keys
        values: NDArray[Any] = self._values[np.where(known, place, len(self._known))]
        return values

    def contains(self, states: Places) -> NDArray[np.bool_]:
        """Whether states, which may have any number of jobs, are in ``counts``."""
        most = self.counts.max(axis=0, initial=0)
        near: NDArray[np.bool_] = (states <= most).all(axis=1)
        near[near] = np.isin(self._keys(states[near]), self._near)
        return near

    def step(self, i: int, by: int) -> NDArray[Any]:
        """Change of the function when a job of class i comes (1) or leaves (-1), in units; at ``counts``."""
        change: NDArray[Any] = self._at(self._near + by * self._steps[i]) - self._at(self._near)
        return change
