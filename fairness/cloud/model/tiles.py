"""Work on tiles of consecutive tenants or resources, by as many threads as there are cores.

How many tiles of tenants there are depends on the size of the work alone, never on the number of threads, and
results are put together in the order of the tiles: the same on every machine. Threads are plain Python
threads around kernels that release the interpreter lock. They survive a fork, may be used from several
threads at once, and cost some 50 microseconds a call; so they are for passes over millions of entries.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from fairness.cloud.model.demands import SparseDemands
from fairness.machine.cores import available_cores

__all__ = ["map_tiles", "resource_tiles", "tenant_tiles", "tile_marks", "tiles_between"]

T = TypeVar("T")

TILES = 4
"""Tiles of a large instance."""

WORTHWHILE = 200_000
"""Entries below which one tile is as fast."""


def tenant_tiles(demands: SparseDemands) -> list[tuple[int, int]]:
    """First tenant of each tile and the one after its last; tiles have about the same number of entries."""
    inner = np.searchsorted(demands.starts, tile_marks(demands.n_entries))
    return tiles_between(inner, demands.n_tenants)


def tile_marks(n_entries: int) -> NDArray[np.float64]:
    """Entries before which a tile of tenants ends, but for the last."""
    tiles = TILES if n_entries >= WORTHWHILE else 1
    return np.linspace(0, n_entries, tiles + 1)[1:-1]


def tiles_between(inner: NDArray[np.int64], n_tenants: int) -> list[tuple[int, int]]:
    """First tenant of each tile and the one after its last, of those that are not empty."""
    return [(first, last) for first, last in pairwise([0, *inner.tolist(), n_tenants]) if first < last]


def resource_tiles(demands: SparseDemands, threads: int | None = None) -> list[tuple[int, int]]:
    """First resource of each thread and the one after its last, with about as many entries each.

    As many tiles as there are threads: for work whose results do not depend on how it is cut.
    """
    number = (threads or available_cores()) if demands.n_entries >= WORTHWHILE else 1
    some = np.sort(demands.columns[:: 1 + demands.n_entries // 50_000])
    inner = some[np.arange(1, number) * len(some) // number]
    cuts = np.unique(np.array([0, *inner, demands.n_resources], dtype=np.int64)).tolist()
    return list(pairwise(cuts))


def map_tiles(
    work: Callable[[int, int, int], T], tiles: list[tuple[int, int]], threads: int | None = None
) -> list[T]:
    """Results of ``work(number, first, last)`` for every tile, in their order; by default on all cores."""
    jobs = [(number, *tile) for number, tile in enumerate(tiles)]
    workers = min(len(jobs), threads or available_cores())
    if workers == 1:
        return [work(*job) for job in jobs]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(lambda job: work(*job), jobs))
