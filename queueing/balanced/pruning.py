"""One level of the pruned recursion: the states with one job more, those that matter.

A level is the set of kept states with the same number of jobs, in *rows*. All states of a row have the same
counts of the classes 1 to n - 2, the *prefix*; the count y of the last class runs over an interval, and that
of class 0 is what is missing from the number of jobs. Rows are ordered by a key, the prefix read as digits
of a number, so that the rows from which one job is missing are found by walking through the level once.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from fairness.machine.compiling import stored
from fairness.model.problem import FloatArray

__all__ = ["Level", "Sums", "empty_sums", "first_level", "next_level"]

BATCH = 512
"""States of several rows that are handled together: few enough for the first cache, enough for long loops."""

END = np.iinfo(np.int64).max
"""Beyond the key of every row."""


class Level(NamedTuple):
    """The kept states with one number of jobs, and their P."""

    keys: NDArray[np.int64]  # (rows,): ascending
    prefix: NDArray[np.int64]  # (rows, n - 2): counts of the classes 1 to n - 2
    lows: NDArray[np.int64]  # (rows,): the smallest count of the last class
    starts: NDArray[np.int64]  # (rows + 1,): where the values of each row begin
    values: FloatArray  # (states,): P, by row, then by the count of the last class


class Sums(NamedTuple):
    """Sums over all levels."""

    marginals: FloatArray  # (n, longest): of P, by the count of each class
    moments: FloatArray  # (n, n): of x_i x_k P
    dropped: FloatArray  # (n + 1,): of P over the states that were dropped, then of x_i P


def first_level(n: int) -> Level:
    """No job of n >= 2 classes, with P = 1."""
    none = np.zeros(1, dtype=np.int64)
    return Level(none, np.zeros((1, n - 2), dtype=np.int64), none, np.array([0, 1]), np.ones(1))


def empty_sums(most: NDArray[np.int64]) -> Sums:
    """The sums over the first level, for at most ``most`` jobs of each class."""
    n = len(most)
    marginals = np.zeros((n, int(most.max()) + 1))
    marginals[:, 0] = 1.0
    return Sums(marginals, np.zeros((n, n)), np.zeros(n + 1))


@stored(nogil=True)
def next_level(
    gain: FloatArray,
    ceiling: FloatArray,
    most: NDArray[np.int64],
    strides: NDArray[np.int64],
    threshold: float,
    n_jobs: int,
    old: Level,
    sums: Sums,
) -> Level:
    """The level of n_jobs jobs from the one before; adds to the sums.

    gain (n, m), n >= 2, holds rho_i a_ij/C_j and ceiling (n,) rho_i/l_i. strides (n - 1,) holds what one
    job more of the classes 1 to n - 2 adds to the key of a row, then 0. Of each row is kept what lies
    between the first and the last state with P >= threshold, of states with at most ``most`` jobs per class.
    """
    n = len(most)
    inner = n - 2
    old_keys, old_prefix, old_lows, old_starts, old_values = old
    marginals, moments, dropped = sums
    n_old = old_keys.size
    limited = ceiling.max() > 0
    # The next rows with a job less of each of the classes 1 to n - 2, and of class 0 or n - 1.
    heads = np.zeros(n - 1, dtype=np.int64)
    ahead = np.empty(n - 1, dtype=np.int64)
    for i in range(n - 1):
        ahead[i] = old_keys[0] + strides[i]
    # Rows that can follow, and the most states that these can have.
    n_rows, n_states, longest = 0, 0, BATCH
    key = 0
    while key < END:
        key, low, high = _ahead(heads, ahead, old_lows, old_starts)
        for i in range(n - 1):
            if ahead[i] == key and key < END:
                heads[i] += 1
                ahead[i] = old_keys[heads[i]] + strides[i] if heads[i] < n_old else END
        n_rows += 1
        n_states += high - low
        longest = max(longest, high - low)
    keys = np.empty(n_rows, dtype=np.int64)
    prefix = np.empty((n_rows, inner), dtype=np.int64)
    lows = np.empty(n_rows, dtype=np.int64)
    starts = np.empty(n_rows + 1, dtype=np.int64)
    starts[0] = 0
    values = np.empty(n_states)
    # A batch of rows: P with one job of class i less stands in row i.
    before = np.empty((n, longest))
    work, best = np.empty(longest), np.empty(longest)
    begins = np.zeros(longest + 1, dtype=np.int64)
    both = np.zeros(longest, dtype=np.int64)  # jobs of the first and the last class
    kept, waiting = 0, 0  # rows that are finished, and those of the batch
    for i in range(n - 1):
        heads[i], ahead[i] = 0, old_keys[0] + strides[i]
    while True:
        key, low, high = _ahead(heads, ahead, old_lows, old_starts)
        if waiting > 0 and (key == END or begins[waiting] + high - low > longest):
            size = begins[waiting]
            _fullest(gain, before, work, best, size)
            first = kept
            for r in range(waiting):
                row = first + r
                a, b = begins[r], begins[r + 1]
                if limited:
                    _limited(ceiling, before, best, a, b, both[r], prefix, row, lows[row])
                u, v = _kept(best, a, b, threshold, both[r], most, prefix, row, lows[row], dropped)
                if u < v:
                    keys[kept] = keys[row]
                    for k in range(inner):
                        prefix[kept, k] = prefix[row, k]
                    lows[kept] = lows[row] + u - a
                    _add(marginals, moments, best, u, v, both[r], prefix, kept, lows[kept])
                    place = starts[kept]
                    for s in range(u, v):
                        values[place + s - u] = best[s]
                    kept += 1
                    starts[kept] = place + v - u
            waiting = 0
        if key == END:
            break
        row, begin, end = kept + waiting, begins[waiting], begins[waiting] + high - low
        keys[row], lows[row], begins[waiting + 1] = key, low, end
        before[:, begin:end] = 0.0
        rest = 0
        for i in range(n - 1):
            if ahead[i] == key:
                h = heads[i]
                rest = 0
                for k in range(inner):
                    x = old_prefix[h, k] + (1 if k == i else 0)
                    prefix[row, k] = x
                    rest += x
                source, to = old_starts[h], begin + old_lows[h] - low
                length = old_starts[h + 1] - source
                if i < inner:
                    for s in range(length):
                        before[i + 1, to + s] = old_values[source + s]
                else:  # the same prefix
                    for s in range(length):
                        before[0, to + s] = old_values[source + s]
                        before[n - 1, to + 1 + s] = old_values[source + s]
                heads[i] = h + 1
                ahead[i] = old_keys[h + 1] + strides[i] if h + 1 < n_old else END
        both[waiting] = n_jobs - rest
        waiting += 1
    return Level(keys[:kept], prefix[:kept], lows[:kept], starts[: kept + 1], values[: starts[kept]])


@numba.njit
def _ahead(
    heads: NDArray[np.int64], ahead: NDArray[np.int64], lows: NDArray[np.int64], starts: NDArray[np.int64]
) -> tuple[int, int, int]:
    """Key of the next row, and the range of its last count; 0 for both after the last row."""
    key = END
    for i in range(ahead.size):
        key = min(key, ahead[i])
    low, high = END, 0
    if key == END:
        low = 0
    else:
        for i in range(ahead.size):
            if ahead[i] == key:
                h = heads[i]
                low = min(low, lows[h])
                more = 1 if i == ahead.size - 1 else 0
                high = max(high, lows[h] + starts[h + 1] - starts[h] + more)
    return key, low, high


@numba.njit
def _fullest(gain: FloatArray, before: FloatArray, work: FloatArray, best: FloatArray, size: int) -> None:
    """best[s] = max_j sum_i gain[i, j] before[i, s] for s < size."""
    n, m = gain.shape
    for s in range(size):
        best[s] = 0.0
    for j in range(m):
        a, b = gain[0, j], gain[1, j]
        for s in range(size):
            work[s] = a * before[0, s] + b * before[1, s]
        fours = 2 + (n - 2) // 4 * 4
        for i in range(2, fours, 4):
            a, b, c, d = gain[i, j], gain[i + 1, j], gain[i + 2, j], gain[i + 3, j]
            for s in range(size):
                work[s] += (a * before[i, s] + b * before[i + 1, s]) + (
                    c * before[i + 2, s] + d * before[i + 3, s]
                )
        for i in range(fours, n):
            a = gain[i, j]
            for s in range(size):
                work[s] += a * before[i, s]
        for s in range(size):
            best[s] = max(best[s], work[s])


@numba.njit
def _limited(
    ceiling: FloatArray,
    before: FloatArray,
    best: FloatArray,
    a: int,
    b: int,
    both: int,
    prefix: NDArray[np.int64],
    row: int,
    low: int,
) -> None:
    """What the limits of the jobs ask for, of the states a .. b - 1 of a batch, which are one row."""
    n = len(ceiling)
    for i in range(n - 2):
        if prefix[row, i] > 0:
            factor = ceiling[i + 1] / prefix[row, i]
            for s in range(a, b):
                best[s] = max(best[s], factor * before[i + 1, s])
    for s in range(a, b):
        y = low + s - a
        if y > 0:
            best[s] = max(best[s], ceiling[n - 1] / y * before[n - 1, s])
        if y < both:
            best[s] = max(best[s], ceiling[0] / (both - y) * before[0, s])


@numba.njit
def _kept(
    best: FloatArray,
    a: int,
    b: int,
    threshold: float,
    both: int,
    most: NDArray[np.int64],
    prefix: NDArray[np.int64],
    row: int,
    low: int,
    dropped: FloatArray,
) -> tuple[int, int]:
    """States u .. v - 1 of a row, a .. b - 1 of the batch, that are kept; adds the others to ``dropped``."""
    n = len(most)
    u, v = b, b
    inside = True
    for i in range(n - 2):
        inside = inside and prefix[row, i] <= most[i + 1]
    if inside:
        u = min(b, a + max(0, both - most[0] - low))
        v = max(u, min(b, a + most[n - 1] + 1 - low))
        while u < v and best[u] < threshold:
            u += 1
        while v > u and best[v - 1] < threshold:
            v -= 1
    total, last = 0.0, 0.0
    for s in range(a, u):
        total += best[s]
        last += (low + s - a) * best[s]
    for s in range(v, b):
        total += best[s]
        last += (low + s - a) * best[s]
    dropped[0] += total
    dropped[1] += both * total - last
    for i in range(n - 2):
        dropped[i + 2] += prefix[row, i] * total
    dropped[n] += last
    return u, v


@numba.njit
def _add(
    marginals: FloatArray,
    moments: FloatArray,
    best: FloatArray,
    u: int,
    v: int,
    both: int,
    prefix: NDArray[np.int64],
    row: int,
    low: int,
) -> None:
    """Add a row, u .. v - 1 of the batch, to marginals and moments."""
    n = prefix.shape[1] + 2
    total, once, twice = 0.0, 0.0, 0.0
    for s in range(u, v):
        y, value = low + s - u, best[s]
        marginals[n - 1, y] += value
        marginals[0, both - y] += value
        total += value
        once += y * value
        twice += y * y * value
    for i in range(n - 2):
        x = prefix[row, i]
        marginals[i + 1, x] += total
        for k in range(i + 1):
            moments[i + 1, k + 1] += x * prefix[row, k] * total
        moments[i + 1, 0] += x * (both * total - once)
        moments[n - 1, i + 1] += x * once
    moments[n - 1, n - 1] += twice
    moments[n - 1, 0] += both * once - twice
    moments[0, 0] += both * both * total - 2 * both * once + twice
