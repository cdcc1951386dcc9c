r"""How fast resources fill up at first, and which of them will be full first.

The rate :math:`\mu_r = \sum_i g_{ir}` of a resource is summed over tiles of tenants, in twice the working
precision, and kept with the number of tenants who demand it: what stops is taken out of it later
(:mod:`fairness.cloud.engines.eviction`).
"""

from __future__ import annotations

import numpy as np

from fairness.arguments.validation import FloatArray
from fairness.cloud.engines import prefetch as prefetching
from fairness.cloud.engines import sums as summing
from fairness.cloud.engines.prefetch import prefetch_row
from fairness.cloud.engines.sums import add, table
from fairness.cloud.model.demands import Flags, Rows, SparseDemands
from fairness.cloud.model.tiles import map_tiles, tenant_tiles
from fairness.machine.compiling import stored
from fairness.machine.memory import require_memory

__all__ = ["FIRST_LISTED", "loads_of", "shift_loads", "soonest"]

FIRST_LISTED = 1 / 8
"""Part of the resources whose tenants are listed at first; then, for tenants that still grow, all."""


def soonest(sums: FloatArray, part: float) -> Flags:
    """A part of the demanded resources: those that would fill up first at the present loads.

    Parameters
    ----------
    sums : ndarray of shape (n_resources, 8)
        As in :class:`fairness.cloud.engines.eviction.State`.
    part : float

    Returns
    -------
    ndarray of bool, shape (n_resources,)
    """
    live = np.flatnonzero(sums[:, 4] > 0)
    rates = sums[live, 2] + sums[live, 3]
    room = 1.0 - (sums[live, 0] + sums[live, 1])
    with np.errstate(over="ignore"):
        levels = np.divide(room, rates, out=np.full(len(live), np.inf), where=rates > 0)
    last = min(int(part * len(live)), len(live) - 1)
    flags = np.zeros(len(sums), dtype=np.bool_)
    flags[live[levels <= np.partition(levels, last)[last]]] = True
    return flags


def loads_of(
    demands: SparseDemands,
    growth: FloatArray,
    threads: int | None = None,
    tiles: list[tuple[int, int]] | None = None,
) -> FloatArray:
    """Rate at which each resource fills up at first, its compensation, and the number of its tenants.

    The result does not depend on the number of threads; by default these are as many as there are cores. It
    depends in its last bits on the tiles of tenants, those of these demands by default.

    Returns
    -------
    ndarray of shape (n_resources, 4), the last column unused
    """
    tiles = tiles or tenant_tiles(demands)
    # Tables of the tiles, sums and heap per resource; five arrays per tenant; lists of all entries, which is
    # nearly what those that fill up first have where few resources are popular.
    n_bytes = demands.n_resources * (32 * len(tiles) + 150) + 40 * demands.n_tenants + 4 * demands.n_entries
    require_memory(n_bytes, f"EDRF of {demands!r}", "take fewer tenants")
    tables = [table(demands.n_resources, 4) for _ in tiles]
    rows = demands.starts, demands.columns, demands.values, growth
    map_tiles(lambda tile, first, last: _load(first, last, rows, 1.0, tables[tile]), tiles, threads)
    for more in tables[1:]:
        _merge(tables[0], more)
    return tables[0]


def shift_loads(loads: FloatArray, demands: SparseDemands, growth: FloatArray, sign: float) -> None:
    """Add the rates of more tenants to the loads in place (``sign`` 1), or take them out (-1)."""
    rows = demands.starts, demands.columns, demands.values, growth
    _load(0, demands.n_tenants, rows, sign, loads)


@stored(summing, prefetching, nogil=True)
def _load(first: int, last: int, rows: Rows, sign: float, loads: FloatArray) -> None:
    """Add the rates of a tile of tenants to the loads, or take them out (``sign`` -1)."""
    starts, columns, values, growth = rows
    for i in range(first, last):
        if i + 1 < last:
            for e in range(starts[i + 1], starts[i + 2]):
                prefetch_row(loads, columns[e])
        rate = sign * growth[i]
        for e in range(starts[i], starts[i + 1]):
            r = columns[e]
            add(loads, r, 0, rate * values[e])
            loads[r, 2] += sign


@stored(summing, prefetching, nogil=True)
def _merge(loads: FloatArray, more: FloatArray) -> None:
    for r in range(len(loads)):
        add(loads, r, 0, more[r, 0])
        add(loads, r, 0, more[r, 1])
        loads[r, 2] += more[r, 2]
