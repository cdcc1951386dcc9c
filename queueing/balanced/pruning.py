"""One level of the pruned recursion: the states with one job more, those that matter.

A level is the set of kept states with the same number of jobs, in *rows*. All states of a row have the same
counts of the classes 1 to n - 2, the *prefix*; the count y of the last class runs over an interval, and that
of class 0 is what is missing from the number of jobs. Rows are ordered by a key, the prefix read as digits
of a number, so that the rows from which one job is missing are found by walking through the level once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairness.machine.compiling import COUNTED, inlined, stored
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


class Batch(NamedTuple):
    """Some rows of the new level, one after the other, that are not finished."""

    before: FloatArray  # (n, room): P of one job less of class i in row i
    work: FloatArray  # (room,)
    best: FloatArray  # (room,): P
    begins: NDArray[np.int64]  # (room + 1,): of the rows


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


@stored(**COUNTED)
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
    heads = np.zeros(n - 1, dtype=np.int64)
    n_rows, n_states, longest = _sizes(old, strides, heads)
    new = Level(
        np.empty(n_rows, dtype=np.int64),
        np.empty((n_rows, n - 2), dtype=np.int64),
        np.empty(n_rows, dtype=np.int64),
        np.empty(n_rows + 1, dtype=np.int64),
        np.empty(n_states),
    )
    new.starts[0] = 0
    room = max(BATCH, longest)
    batch = Batch(np.zeros((n, room)), np.empty(room), np.empty(room), np.empty(room + 1, dtype=np.int64))
    batch.begins[0] = 0
    limited = ceiling.max() > 0
    kept, waiting = 0, 0  # rows that are finished, rows of the batch
    while True:
        key, low, high = _next_row(old, strides, heads)
        if waiting > 0 and (key == END or batch.begins[waiting] + high - low > room):
            _fullest(gain, batch, batch.begins[waiting])
            done = kept
            for r in range(waiting):
                row = kept + r  # not yet moved to its place
                if limited:
                    _limit(ceiling, new, row, n_jobs, batch, r)
                first, end = _worth_keeping(most, threshold, new, row, n_jobs, batch, r)
                _drop(new, row, n_jobs, batch, r, (first, end), sums)
                if first < end:
                    _keep(new, row, done, n_jobs, batch, r, (first, end), sums)
                    done += 1
            kept, waiting = done, 0
        if key == END:
            break
        _gather(old, strides, heads, (key, low, high), new, kept + waiting, batch, waiting)
        waiting += 1
    return Level(
        *(new.keys[:kept], new.prefix[:kept], new.lows[:kept]),
        *(new.starts[: kept + 1], new.values[: new.starts[kept]]),
    )


@inlined
def _sizes(old: Level, strides: NDArray[np.int64], heads: NDArray[np.int64]) -> tuple[int, int, int]:
    """Rows and states that can follow, and the most states of a row; ``heads`` are zeros before and after."""
    n_rows, n_states, longest = 0, 0, 1
    while True:
        key, low, high = _next_row(old, strides, heads)
        if key == END:
            break
        for i in range(heads.size):
            if heads[i] < old.keys.size and old.keys[heads[i]] + strides[i] == key:
                heads[i] += 1
        n_rows += 1
        n_states += high - low
        longest = max(longest, high - low)
    for i in range(heads.size):
        heads[i] = 0
    return n_rows, n_states, longest


@inlined
def _limit(ceiling: FloatArray, new: Level, row: int, n_jobs: int, batch: Batch, r: int) -> None:
    """Raise P of a row where limits do."""
    a, b = batch.begins[r], batch.begins[r + 1]
    best, before, inner = batch.best, batch.before, new.prefix.shape[1]
    c = n_jobs  # jobs of the classes 0 and n - 1
    for i in range(inner):
        x = new.prefix[row, i]
        c -= x
        if x > 0:
            factor = ceiling[i + 1] / x
            for s in range(a, b):
                best[s] = max(best[s], factor * before[i + 1, s])
    for s in range(a, b):
        y = new.lows[row] + s - a
        if y > 0:
            best[s] = max(best[s], ceiling[inner + 1] / y * before[inner + 1, s])
        if y < c:
            best[s] = max(best[s], ceiling[0] / (c - y) * before[0, s])


@inlined
def _worth_keeping(
    most: NDArray[np.int64], threshold: float, new: Level, row: int, n_jobs: int, batch: Batch, r: int
) -> tuple[int, int]:
    """The first state of a row that is kept, and the one after the last, by their places in the batch."""
    a, b = batch.begins[r], batch.begins[r + 1]
    inner = new.prefix.shape[1]
    c = n_jobs
    for i in range(inner):
        c -= new.prefix[row, i]
        if new.prefix[row, i] > most[i + 1]:
            return b, b
    u = min(b, a + max(0, c - most[0] - new.lows[row]))
    v = max(u, min(b, a + most[inner + 1] + 1 - new.lows[row]))
    while u < v and batch.best[u] < threshold:
        u += 1
    while v > u and batch.best[v - 1] < threshold:
        v -= 1
    return u, v


@inlined
def _drop(new: Level, row: int, n_jobs: int, batch: Batch, r: int, span: tuple[int, int], sums: Sums) -> None:
    """Add the states of a row that are not kept to what is dropped."""
    a, b = batch.begins[r], batch.begins[r + 1]
    inner = new.prefix.shape[1]
    c, lost, lost_last = n_jobs, 0.0, 0.0
    for s in range(a, span[0]):
        lost += batch.best[s]
        lost_last += (new.lows[row] + s - a) * batch.best[s]
    for s in range(span[1], b):
        lost += batch.best[s]
        lost_last += (new.lows[row] + s - a) * batch.best[s]
    for i in range(inner):
        c -= new.prefix[row, i]
        sums.dropped[i + 2] += new.prefix[row, i] * lost
    sums.dropped[0] += lost
    sums.dropped[1] += c * lost - lost_last
    sums.dropped[inner + 2] += lost_last


@inlined
def _keep(
    new: Level, row: int, done: int, n_jobs: int, batch: Batch, r: int, span: tuple[int, int], sums: Sums
) -> None:
    """Move what is kept of a row to its place, and add it to the sums."""
    a, u, v = batch.begins[r], span[0], span[1]
    inner, prefix = new.prefix.shape[1], new.prefix
    last, first_count = inner + 1, new.lows[row]
    c = n_jobs
    for i in range(inner):
        c -= prefix[row, i]
    total, once, twice = 0.0, 0.0, 0.0
    place = new.starts[done]
    for s in range(u, v):
        value = batch.best[s]
        y = first_count + s - a
        new.values[place + s - u] = value
        sums.marginals[last, y] += value
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
        sums.moments[last, i + 1] += x * once
    sums.moments[last, last] += twice
    sums.moments[last, 0] += c * once - twice
    sums.moments[0, 0] += c * c * total - 2 * c * once + twice
    new.keys[done] = new.keys[row]
    for i in range(inner):
        prefix[done, i] = prefix[row, i]
    new.lows[done] = first_count + u - a
    new.starts[done + 1] = place + v - u


@inlined
def _gather(
    old: Level, strides: NDArray[np.int64], heads: NDArray[np.int64], found: tuple[int, int, int],
    new: Level, row: int, batch: Batch, waiting: int,
) -> None:  # fmt: skip
    """Begin a row of the new level, with what precedes it, and go past that in the old one."""
    key, low, high = found
    begin, inner = batch.begins[waiting], new.prefix.shape[1]
    end, before = begin + high - low, batch.before
    new.keys[row], new.lows[row], batch.begins[waiting + 1] = key, low, end
    for i in range(inner + 2):
        for s in range(begin, end):
            before[i, s] = 0.0
    for i in range(inner + 1):
        h = heads[i]
        if h < old.keys.size and old.keys[h] + strides[i] == key:
            for k in range(inner):
                new.prefix[row, k] = old.prefix[h, k] + (1 if k == i else 0)
            source, to = old.starts[h], begin + old.lows[h] - low
            length = old.starts[h + 1] - source
            if i < inner:
                for s in range(length):
                    before[i + 1, to + s] = old.values[source + s]
            else:  # the same prefix: a job less of class 0 or of the last one
                for s in range(length):
                    before[0, to + s] = old.values[source + s]
                    before[inner + 1, to + 1 + s] = old.values[source + s]
            heads[i] += 1


@inlined
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


@inlined
def _fullest(gain: FloatArray, batch: Batch, size: int) -> None:
    """best[s] = max_j sum_i gain[i, j] before[i, s] for s < size."""
    before, work, best = batch.before, batch.work, batch.best
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
