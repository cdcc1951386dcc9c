"""EDRF and DC-DRF of tenants that come in files, on as many machines as there are.

The machines are the workers of the Dask cluster that joblib's active backend stands for, as for all that
runs in parts; without one this process does it all. Each reads some files, all exchange entries so that each
owns a range of the resources (:mod:`fairness.cloud.spread.owner`), and windows or rounds decide who stops
(:mod:`fairness.cloud.spread.windows`). The caller holds a few numbers of each tenant and resource, never
demands but those of a window.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from fairness.arguments.validation import (
    FloatArray,
    float_array,
    frozen,
    require,
    require_number,
    require_whole,
)
from fairness.cloud.allocation import LevelAllocation, claim_of_levels
from fairness.cloud.model.demands import IndexArray, Offsets
from fairness.cloud.spread.owner import Owner
from fairness.cloud.spread.windows import fill
from fairness.errors import ModelError
from fairness.evidence.pools import Certificate
from fairness.machine.memory import require_memory
from fairness.machine.residents import Residents, residents

__all__ = ["SpreadAllocation", "edrf_blocks", "on_machines"]

SMALLEST_WINDOW = 1000
"""Resources of a window, unless a hundredth of all is more."""


@dataclass(frozen=True, eq=False, repr=False)
class SpreadAllocation(LevelAllocation):
    """Allocation of tenants whose demands lie on several machines; made by :func:`edrf_blocks`.

    Attributes
    ----------
    levels : ndarray of shape (n_tenants,)
        Level at which the tenant stopped.
    stoppers : ndarray of int, shape (n_tenants,)
        The resource that stopped the tenant.
    growth : ndarray of shape (n_tenants,)
        Tasks per unit of level.
    weights : ndarray of shape (n_tenants,)
    free : ndarray of shape (n_resources,)
        Part of each resource that is left.
    epsilon : float
        Part of a resource that may be left when it counts as exhausted.
    rounds, events, windows : int
        Levels at which somebody stopped; resources that stopped somebody; windows of the exact filling
        (rounds of DC-DRF).
    machines : int
    residual : float
        How far the allocation is from its claim, found by the machines together.
    seconds : dict
        Wall time of each phase.
    sent : dict
        Bytes of numbers that machines were told, answered and gave each other in each phase.
    """

    stoppers: IndexArray
    weights: FloatArray
    epsilon: float
    rounds: int
    events: int
    windows: int
    machines: int
    residual: float
    sent: dict[str, int]

    @cached_property
    def dominant_shares(self) -> FloatArray:
        """Largest share of a resource that each tenant holds, shape (n_tenants,)."""
        return frozen(self.weights * self.levels)

    @property
    def certificate(self) -> Certificate:
        """Every tenant has a resource with at most epsilon left on which nobody's level is higher."""
        return Certificate(claim_of_levels(self.epsilon), self.residual)

    def to_dataframe(self) -> pd.DataFrame:
        """One row per tenant: tasks, level, dominant share, the resource that stopped it."""
        return super().to_dataframe().assign(stopper=self.stoppers)

    def summary(self) -> str:
        """What a person wants to read: windows, machines, bytes, time, certificate."""
        kind = f"DC-DRF with epsilon {self.epsilon:.3g}" if self.epsilon else "EDRF"
        steps = "rounds" if self.epsilon else "windows"
        machines = "machine" if self.machines == 1 else "machines"
        return "\n".join(
            [
                f"{kind} of {len(self.levels):,} tenants and {len(self.free):,} resources",
                f"  {self.machines} {machines}, {self.windows:,} {steps}, {self.events:,} resources stopped "
                "somebody",
                self._phases(),
                "  " + ", ".join(f"{name} {value / 1e6:,.3g} MB" for name, value in self.sent.items()),
                f"  {self.certificate}",
            ]
        )


def edrf_blocks(
    paths: Sequence[str | os.PathLike[str]],
    weights: ArrayLike | None = None,
    *,
    epsilon: float = 0.0,
    window: int | None = None,
) -> SpreadAllocation:
    """Extended DRF of tenants in files, on the machines of a Dask cluster.

    Under ``joblib.parallel_config(backend="dask")`` every worker is a machine; without it this process does
    it all. Levels and stoppers are those of :func:`fairness.cloud.edrf`, bit by bit, and with an epsilon the
    levels are those of :func:`fairness.cloud.dcdrf`, whatever the machines, files and windows.

    Parameters
    ----------
    paths : sequence of path
        Files of consecutive tenants, written by :func:`scipy.sparse.save_npz`: demands of shape (tenants of
        the file, n_resources), parts of a resource per task, in (0, 1]. Each machine reads some and must be
        able to open them. Uncompressed ones are read faster.
    weights : array_like of shape (n_tenants,), optional
        Entitlements. Default: 1/n_tenants each. Only their ratios matter for the allocation.
    epsilon : float
        In [0, 1); 0 gives the exact allocation, anything above that of DC-DRF.
    window : int, optional
        Resources of which the growing tenants are sent at a time. Default: 1000, or a hundredth of all if
        that is more. Fewer windows take fewer messages and send more entries. Without effect on the
        allocation.

    Returns
    -------
    SpreadAllocation

    Raises
    ------
    ModelError
        If a file cannot be read, holds no well-formed demands or has another number of resources than the
        first, or weights, epsilon or window are not as described.
    BackendError
        If a worker dies: its part of the demands is lost, start anew.
    NotConvergedError
        As :func:`fairness.cloud.edrf`.

    References
    ----------
    See :mod:`fairness.cloud.exact` and :mod:`fairness.cloud.approximate`.

    Examples
    --------
    >>> import tempfile
    >>> from scipy.sparse import csr_array, save_npz
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_npz(f"{folder}/0.npz", csr_array([[1.0, 0.0], [0.5, 1.0]]))
    ...     save_npz(f"{folder}/1.npz", csr_array([[0.0, 1.0]]))
    ...     edrf_blocks([f"{folder}/0.npz", f"{folder}/1.npz"]).tasks
    array([0.75, 0.5 , 0.5 ])
    """
    if isinstance(paths, str | os.PathLike) or not len(paths):
        raise ModelError.of("paths", f"must be a list of one or more files; got {paths!r}")
    number = require_number("epsilon", epsilon, least=0, below=1)
    if window is not None:
        require_whole("window", window, 1, hint=", or None for the default")
    with residents(Owner) as machines:
        return on_machines(machines, [os.path.abspath(path) for path in paths], weights, number, window)


def on_machines(
    machines: Residents,
    paths: list[str],
    weights: ArrayLike | None,
    epsilon: float = 0.0,
    window: int | None = None,
) -> SpreadAllocation:
    """As :func:`edrf_blocks`, on these machines."""
    clock, sent = [time.perf_counter()], [machines.sent]
    shares, cuts, tenants = _read(machines, paths, weights)
    n, m = len(shares), int(cuts[-1])
    clock.append(time.perf_counter())
    sent.append(machines.sent)
    filled = fill(machines, cuts, n, window or max(SMALLEST_WINDOW, m // 100), epsilon)
    clock.append(time.perf_counter())
    sent.append(machines.sent)
    parts = machines.exchange("explain", "judge", [(epsilon,)] * machines.number)
    growth = machines.ask("growths", list(pairwise(tenants.tolist())))
    clock.append(time.perf_counter())
    sent.append(machines.sent)
    phases = "read", "fill", "certify"
    result = SpreadAllocation(
        levels=frozen(filled.levels),
        stoppers=frozen(filled.stoppers),
        growth=frozen(np.concatenate(growth)),
        weights=frozen(shares),
        free=frozen(np.maximum(0.0, filled.left)),
        epsilon=epsilon,
        rounds=filled.rounds,
        events=filled.events,
        windows=filled.windows,
        machines=machines.number,
        residual=float(np.max(parts)),
        seconds=dict(zip(phases, np.diff(clock).tolist(), strict=True)),
        sent=dict(zip(phases, np.diff(sent).tolist(), strict=True)),
    )
    return result._unless_lost(filled.misfit)


def _read(
    machines: Residents, paths: list[str], weights: ArrayLike | None
) -> tuple[FloatArray, Offsets, Offsets]:
    """Have the files read and the entries exchanged; weights, and the first resource and tenant of each
    machine."""
    number = machines.number
    ends = [len(paths) * w // number for w in range(number + 1)]
    told = machines.ask("read", [(paths[first:last],) for first, last in pairwise(ends)])
    sizes = [size for each in told for size in each]
    m = sizes[0][1]
    for path, (_, resources, _) in zip(paths, sizes, strict=True):
        if resources != m:
            raise ModelError.of(
                "paths", f": {path!r} has {resources} resources, {paths[0]!r} {m}; give all the same shape"
            )
    each = np.array([[sum(size[k] for size in sizes) for k in (0, 2)] for sizes in told], dtype=np.int64)
    tenants, entries = np.vstack([[0, 0], np.cumsum(each, axis=0)]).T
    n, n_entries = int(tenants[-1]), int(entries[-1])
    if n > np.iinfo(np.int32).max:
        raise ModelError.of("paths", f"have {n} tenants; they are numbered up to {np.iinfo(np.int32).max}")
    require_memory(60.0 * n + 60.0 * m, f"EDRF of {n:,} tenants", "take fewer tenants")
    shares = np.full(n, 1.0 / n) if weights is None else float_array("weights", weights)
    if shares.shape != (n,):
        raise ModelError.of("weights", f"must have shape (n_tenants,) = ({n},); got shape {shares.shape}")
    require("weights", shares, np.isfinite(shares) & (shares > 0), "finite and > 0")
    asked = [(m, int(begin), n_entries) for begin in entries[:-1]]
    counts, inner = (sum(parts) for parts in zip(*machines.ask("count", asked), strict=True))
    # Ranges with about as many entries each; one that has the entries of several by itself leaves some empty.
    marks = n_entries * np.arange(1, number) // number
    cuts = np.array([0, *np.searchsorted(np.cumsum(counts), marks) + 1, m], dtype=np.int64)
    given = [(cuts, shares[first:last]) for first, last in pairwise(tenants)]
    machines.exchange("cut", "take", given, inner, tenants)
    return shares, cuts, tenants
