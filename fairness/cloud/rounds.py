r"""Algorithm 1 of Kash et al.: extended DRF round by round, every round a pass over all demands.

Tenant i of weight :math:`\rho_i` grows at the rate :math:`g_{ir} = \rho_i D_{ir}/\max_k D_{ik}` on resource
r. With :math:`s_{rt}` the part of resource r that is free before round t and :math:`S_t` the tenants that
still grow, round t raises all of them by

.. math:: x_t = \min_r s_{rt} \Big/ \sum_{i \in S_t} g_{ir}, \qquad
   s_{r,t+1} = s_{rt} - x_t \sum_{i \in S_t} g_{ir},

and drops everybody who demands a resource of which nothing is left [1]_. The sums are taken anew in every
round: that costs O(rounds * entries) and made the published algorithm slow. It is here to be compared with
(:func:`fairness.cloud.exact.edrf` finds the same allocation in a few passes) and is as printed but for
three things: a tenant keeps its level :math:`\sum_t x_t` instead of a sum per demand; lines 10 and 5 are one
pass over the rows that are left; and the resource that decides a round has nothing left by definition, not by
subtraction, which would leave 1e-17 and keep its tenants.

Cut short, it is the paper's pEDRF (by a deadline) and pEDRF-1 (after one round): tenants that still grow keep
what they have.

References
----------
.. [1] I. A. Kash, G. O'Shea and S. Volos, "DC-DRF: adaptive multi-resource sharing at public cloud scale",
   SoCC 2018, Algorithm 1 and section 5.1. DOI 10.1145/3267809.3267848.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numba
import numpy as np
from numpy.typing import ArrayLike

from fairness.arguments.validation import FloatArray, frozen, require_number, require_whole
from fairness.cloud.allocation import CloudAllocation, claim_of_levels
from fairness.cloud.certificates import residuals
from fairness.cloud.engines.threads import PARALLEL, check_threads, workers
from fairness.cloud.model.demands import Flags, IndexArray, Rows, SparseDemands
from fairness.errors import NotConvergedError
from fairness.evidence.pools import Certificate
from fairness.machine.compiling import stored

__all__ = ["Deadline", "Rounds", "edrf_rounds"]

TILES = 8
"""Tiles of tenants in a large round, each with loads of its own; the same whatever the number of threads."""

WORTHWHILE = 1000
"""Growing tenants below which there is one tile. (So there is with less tenants than resources: adding up
the loads of several tiles would cost more than it saves.)"""


@dataclass(frozen=True, eq=False, repr=False)
class Rounds(CloudAllocation):
    """Allocation found in rounds; made by :func:`edrf_rounds` and :func:`fairness.cloud.approximate.dcdrf`.

    Attributes
    ----------
    algorithm : str
        "EDRF" or "DC-DRF".
    epsilon : float
        Part of a resource that may be left when it counts as exhausted.
    rounds : int
    timed_out : bool
        Whether the deadline had passed after the last round.
    unfinished : int
        Tenants that still grew when the run was cut short; 0 when it came to its end.
    round_levels : ndarray of shape (rounds,)
        Level of the growing tenants after each round.
    """

    algorithm: str
    epsilon: float
    rounds: int
    timed_out: bool
    unfinished: int
    round_levels: FloatArray

    @cached_property
    def certificate(self) -> Certificate:
        """Every tenant has a resource with at most epsilon left on which nobody's level is higher.

        Of a run that was cut short only feasibility is claimed.
        """
        overfull, short = residuals(self.demands, self.growth, self.levels, self.epsilon)
        if self.unfinished:
            return Certificate(f"no resource is overfull (cut short in round {self.rounds:,})", overfull)
        return Certificate(claim_of_levels(self.epsilon), max(overfull, short))

    def summary(self) -> str:
        """What a person wants to read: rounds, shares, time, certificate."""
        d = self.demands
        chosen = f" with epsilon {self.epsilon:.3g}" if self.epsilon else ""
        late = " at the deadline" if self.timed_out else ""
        left = f"; {self.unfinished:,} tenants still grew" if self.unfinished else ""
        return "\n".join(
            [
                f"{self.algorithm}{chosen} of {d.n_tenants:,} tenants and {d.n_resources:,} resources",
                f"  stopped{late} after {self.rounds:,} rounds{left}",
                *self._lines(),
                f"  {self.certificate}",
            ]
        )


class Deadline:
    """Seconds on any clock, from the moment this is made; the clock is not looked at when there is none.

    Raises
    ------
    ModelError
        If the deadline is neither None nor a number > 0.
    """

    def __init__(self, seconds: float | None, clock: Callable[[], float]) -> None:
        if seconds is not None:
            require_number("deadline", seconds, above=0, most=np.inf, hint=" (seconds), or None for none")
        self.seconds, self.late = seconds, False
        self._clock = clock
        self._start = 0.0 if seconds is None else clock()

    def passed(self) -> bool:
        """Whether more than the seconds have passed, on one look at the clock."""
        self.late = self.seconds is not None and self._clock() - self._start > self.seconds
        return self.late


def edrf_rounds(
    demands: SparseDemands | Any,
    weights: ArrayLike | None = None,
    *,
    max_rounds: int | None = None,
    deadline: float | None = None,
    clock: Callable[[], float] = time.perf_counter,
    threads: int | None = None,
) -> Rounds:
    """Extended DRF by rounds over all demands, as published: the slow baseline.

    Parameters
    ----------
    demands : SparseDemands or scipy sparse array of shape (n_tenants, n_resources)
        Parts of a resource per task, in (0, 1].
    weights : array_like of shape (n_tenants,) or sparse with the pattern of the demands, optional
        Entitlements. Default: 1/n_tenants each. Only their ratios matter for the allocation.
    max_rounds : int, optional
        Stop after so many rounds; 1 is the paper's pEDRF-1.
    deadline : float, optional
        Stop after the first round that ends more than so many seconds after the call: the paper's pEDRF.
    clock : callable
        What tells the time, in seconds; called at the start and after each round, and only if there is a
        deadline.
    threads : int, optional
        Default: as many as there are cores. The allocation does not depend on it. (1 in a process that was
        forked from one that had used more, because GNU OpenMP does not survive a fork.)

    Returns
    -------
    Rounds
        Resources that fill up together may take more than one round when they do not round that way; the
        further rounds add about 1e-16 of what there is.

    Raises
    ------
    ModelError
        If demands or weights are not well-formed, or max_rounds, deadline or threads is not positive.
    NotConvergedError
        If weights are so near the limits of a float that levels are 0 or infinite.

    References
    ----------
    See :mod:`fairness.cloud.rounds`.

    Examples
    --------
    >>> demands = SparseDemands.from_lists([[(0, 1.0)], [(0, 0.5), (1, 1.0)], [(1, 1.0)]], n_resources=2)
    >>> result = edrf_rounds(demands)
    >>> result.allocation().toarray()
    array([[0.75, 0.  ],
           [0.25, 0.5 ],
           [0.  , 0.5 ]])
    >>> result.round_levels
    array([1.5 , 2.25])
    >>> edrf_rounds(demands, max_rounds=1).tasks
    array([0.5, 0.5, 0.5])
    """
    if max_rounds is not None:
        require_whole("max_rounds", max_rounds, 1, hint=", or None for no limit")
    limit = Deadline(deadline, clock)
    given = demands if isinstance(demands, SparseDemands) else SparseDemands(demands)
    number = check_threads(threads, given.n_entries)
    with np.errstate(over="ignore"):
        growth = given.check_weights(weights) / given.largest
    begin = time.perf_counter()
    n, m = given.n_tenants, given.n_resources
    levels, free = np.zeros(n), np.ones(m)
    exhausted = np.zeros(m, dtype=np.bool_)
    growing = np.arange(n, dtype=np.int32)
    tables = np.empty((TILES, m))
    survey = _serial_survey if number == 1 else _parallel_survey
    rows = given.starts, given.columns, given.values, growth
    reached: list[float] = []
    level, left = 0.0, n
    with workers(number):
        survey(rows, level, growing, levels, exhausted, tables)
    while left > 0 and not limit.late and len(reached) != max_rounds:
        level += _rise(tables[0], free, exhausted)
        reached.append(level)
        with workers(number):
            left = survey(rows, level, growing[:left], levels, exhausted, tables)
        limit.passed()
    levels[growing[:left]] = level
    seconds = {"fill": time.perf_counter() - begin}
    trail = frozen(np.array(reached))
    result = Rounds(
        demands=given,
        levels=frozen(levels),
        growth=frozen(growth),
        free=frozen(free),
        seconds=seconds,
        algorithm="EDRF",
        epsilon=0.0,
        rounds=len(trail),
        timed_out=limit.late,
        unfinished=left,
        round_levels=trail,
    )
    if not (trail[0] > 0 and level < np.inf):
        raise NotConvergedError(
            "levels are 0 or infinite: weights, or demands, are too near the limits of a float",
            best=result,
            residual=1.0,
        )
    return result


@numba.njit(nogil=True)
def _survey_tile(
    first: int,
    last: int,
    rows: Rows,
    level: float,
    growing: IndexArray,
    levels: FloatArray,
    exhausted: Flags,
    loads: FloatArray,
) -> int:
    """Drop tenants of a tile ([1] line 10) and sum the rates of the others (line 5); how many are left."""
    starts, columns, values, growth = rows
    loads[:] = 0.0
    kept = first
    for k in range(first, last):
        i = growing[k]
        stop = False
        for e in range(starts[i], starts[i + 1]):
            if exhausted[columns[e]]:
                stop = True
                break
        if stop:
            levels[i] = level
        else:
            growing[kept] = i
            kept += 1
            for e in range(starts[i], starts[i + 1]):
                loads[columns[e]] += growth[i] * values[e]
    return kept - first


def _survey(
    rows: Rows,
    level: float,
    growing: IndexArray,
    levels: FloatArray,
    exhausted: Flags,
    tables: FloatArray,
) -> int:
    """Drop tenants, list those that are left first in ``growing``, and sum rates in ``tables[0]``."""
    n, m = len(growing), tables.shape[1]
    tiles = TILES if n >= max(m, WORTHWHILE) else 1
    kept = np.zeros(tiles, dtype=np.int64)
    for k in numba.prange(tiles):
        first, last = n * k // tiles, n * (k + 1) // tiles
        kept[k] = _survey_tile(first, last, rows, level, growing, levels, exhausted, tables[k])
    left = kept[0]
    for k in range(1, tiles):
        first = n * k // tiles
        for place in range(first, first + kept[k]):
            growing[left] = growing[place]
            left += 1
        for r in range(m):
            tables[0, r] += tables[k, r]
    return left


_serial_survey = stored(nogil=True)(_survey)
_parallel_survey = stored(nogil=True, parallel=PARALLEL)(_survey)


@stored(nogil=True, error_model="numpy")
def _rise(loads: FloatArray, free: FloatArray, exhausted: Flags) -> float:
    """Rise x_t of the level ([1] line 5); takes what it uses from ``free`` (line 8)."""
    rise = np.inf
    for r in range(len(loads)):
        if loads[r] > 0:
            rise = min(rise, free[r] / loads[r])
    for r in range(len(loads)):
        if loads[r] > 0:
            if free[r] / loads[r] <= rise:
                free[r] = 0.0
            else:
                free[r] = max(0.0, free[r] - rise * loads[r])
            exhausted[r] = free[r] == 0
    return rise
