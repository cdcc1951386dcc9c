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
"""Above the key of every row."""


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
    limited = ceiling.max() > 0
    n_old = old.keys.size
    # Rows and states that can follow.
    heads = np.zeros(n - 1, dtype=np.int64)
    n_rows, n_states, longest = 0, 0, 1
    while True:
        key, low, high = _next_row(old, strides, heads)
        if key == END:
            break
        for i in range(n - 1):
            if heads[i] < n_old and old.keys[heads[i]] + strides[i] == key:
                heads[i] += 1
        n_rows += 1
        n_states += high - low
        longest = max(longest, high - low)
    keys = np.empty(n_rows, dtype=np.int64)
    prefix = np.empty((n_rows, inner), dtype=np.int64)
    lows = np.empty(n_rows, dtype=np.int64)
    starts = np.empty(n_rows + 1, dtype=np.int64)
    values = np.empty(n_states)
    starts[0] = 0
    # P of one job less: of class i in row i, at the places of the batch.
    room = max(BATCH, longest)
    before = np.zeros((n, room))
    work, best = np.empty(room), np.empty(room)
    begins = np.empty(room + 1, dtype=np.int64)  # of the rows of the batch
    heads[:] = 0
    kept, waiting = 0, 0  # rows that are finished, rows of the batch
    begins[0] = 0
    while True:
        key, low, high = _next_row(old, strides, heads)
        if waiting > 0 and (key == END or begins[waiting] + high - low > room):
            size = begins[waiting]
            _fullest(gain, before, work, best, size)
            done = kept
            for r in range(waiting):
                row = kept + r  # not yet moved to its place
                a, b = begins[r], begins[r + 1]
                first_count = lows[row]
                rest = 0
                inside = True
                for i in range(inner):
                    rest += prefix[row, i]
                    inside = inside and prefix[row, i] <= most[i + 1]
                c = n_jobs - rest  # jobs of the classes 0 and n - 1
                if limited:
                    for i in range(inner):
                        x = prefix[row, i]
                        if x > 0:
                            factor = ceiling[i + 1] / x
                            for s in range(a, b):
                                best[s] = max(best[s], factor * before[i + 1, s])
                    for s in range(a, b):
                        y = first_count + s - a
                        if y > 0:
                            best[s] = max(best[s], ceiling[n - 1] / y * before[n - 1, s])
                        if y < c:
                            best[s] = max(best[s], ceiling[0] / (c - y) * before[0, s])
                # What is kept: states u .. v - 1 of the batch.
                u, v = b, b
                if inside:
                    u = min(b, a + max(0, c - most[0] - first_count))
                    v = max(u, min(b, a + most[n - 1] + 1 - first_count))
                    while u < v and best[u] < threshold:
                        u += 1
                    while v > u and best[v - 1] < threshold:
                        v -= 1
                lost, lost_last = 0.0, 0.0
                for s in range(a, u):
                    lost += best[s]
                    lost_last += (first_count + s - a) * best[s]
                for s in range(v, b):
                    lost += best[s]
                    lost_last += (first_count + s - a) * best[s]
                sums.dropped[0] += lost
                sums.dropped[1] += c * lost - lost_last
                for i in range(inner):
                    sums.dropped[i + 2] += prefix[row, i] * lost
                sums.dropped[n] += lost_last
                if u == v:
                    continue
                total, once, twice = 0.0, 0.0, 0.0
                place = starts[done]
                for s in range(u, v):
                    value = best[s]
                    y = first_count + s - a
                    values[place + s - u] = value
                    sums.marginals[n - 1, y] += value
                    sums.marginals[0, c - y] += value
                    total += value
                    once += y * value
                    twice += y * y * value
                for i in range(inner):
                    x = prefix[row, i]
                    sums.marginals[i + 1, x] += total
                    for k in range(i + 1):
                        sums.moments[i + 1, k + 1] += x * prefix[row, k] * total
                    sums.moments[i + 1, 0] += x * (c * total - once)
                    sums.moments[n - 1, i + 1] += x * once
                sums.moments[n - 1, n - 1] += twice
                sums.moments[n - 1, 0] += c * once - twice
                sums.moments[0, 0] += c * c * total - 2 * c * once + twice
                keys[done] = keys[row]
                for i in range(inner):
                    prefix[done, i] = prefix[row, i]
                lows[done] = first_count + u - a
                starts[done + 1] = place + v - u
                done += 1
            kept, waiting = done, 0
        if key == END:
            break
        # Gather the next row.
        row, begin, size = kept + waiting, begins[waiting], high - low
        keys[row], lows[row], begins[waiting + 1] = key, low, begin + size
        before[:, begin : begin + size] = 0.0
        for i in range(n - 1):
            h = heads[i]
            if h < n_old and old.keys[h] + strides[i] == key:
                for k in range(inner):
                    prefix[row, k] = old.prefix[h, k] + (1 if k == i else 0)
                source, to = old.starts[h], begin + old.lows[h] - low
                length = old.starts[h + 1] - source
                if i < inner:
                    for s in range(length):
                        before[i + 1, to + s] = old.values[source + s]
                else:  # the same prefix: a job less of class 0 or of the last one
                    for s in range(length):
                        before[0, to + s] = old.values[source + s]
                        before[n - 1, to + 1 + s] = old.values[source + s]
                heads[i] += 1
        waiting += 1
    return Level(keys[:kept], prefix[:kept], lows[:kept], starts[: kept + 1], values[: starts[kept]])


@numba.njit
def _next_row(old: Level, strides: NDArray[np.int64], heads: NDArray[np.int64]) -> tuple[int, int, int]:
    """Key of the next row, and the range of its last count."""
    key = END
    for i in range(heads.size):
        if heads[i] < old.keys.size:
            key = min(key, old.keys[heads[i]] + strides[i])
    low, high = END, 0
    for i in range(heads.size):
        h = heads[i]
        if h < old.keys.size and old.keys[h] + strides[i] == key:
            low = min(low, old.lows[h])
            length = old.starts[h + 1] - old.starts[h]
            high = max(high, old.lows[h] + length + (1 if i == heads.size - 1 else 0))
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
        i = 2
        while i + 4 <= n:
            a, b, c, d = gain[i, j], gain[i + 1, j], gain[i + 2, j], gain[i + 3, j]
            for s in range(size):
                work[s] += (a * before[i, s] + b * before[i + 1, s]) + (
                    c * before[i + 2, s] + d * before[i + 3, s]
                )
            i += 4
        while i < n:
            a = gain[i, j]
            if a > 0:
                for s in range(size):
                    work[s] += a * before[i, s]
            i += 1
        for s in range(size):
            best[s] = max(best[s], work[s])
