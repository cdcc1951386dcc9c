r"""Extended DRF of millions of tenants, exactly and without rounds.

Tenant i of weight :math:`\rho_i` grows at the rate :math:`g_{ir} = \rho_i D_{ir}/\max_k D_{ik}` on resource
r until a resource that it demands is full; the others go on [1]_ [2]_ (Algorithm 1). The published
algorithm finds the next full resource by a pass over all entries, once for every resource that fills up.
Here an entry is touched five times in all: when demands are checked, when each tenant's largest is found,
when resource loads are summed, when the tenants of a resource are listed, and when its tenant stops
(:mod:`fairness.cloud.engines.eviction`).

References
----------
.. [1] D. C. Parkes, A. D. Procaccia and N. Shah, "Beyond dominant resource fairness: extensions,
   limitations, and indivisibilities", ACM TEAC 3(1), 2015. DOI 10.1145/2739040.
.. [2] I. A. Kash, G. O'Shea and S. Volos, "DC-DRF: adaptive multi-resource sharing at public cloud scale",
   SoCC 2018. DOI 10.1145/3267809.3267848.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from fairness.arguments.validation import FloatArray, frozen
from fairness.cloud.allocation import CloudAllocation, claim_of_levels
from fairness.cloud.certificates import residuals
from fairness.cloud.engines.eviction import run
from fairness.cloud.engines.loads import loads_of, shift_loads
from fairness.cloud.engines.replacement import check_replacement, replaced_rows
from fairness.cloud.model.demands import IndexArray, SparseDemands
from fairness.cloud.model.pattern import Pattern
from fairness.errors import ModelError
from fairness.evidence.pools import Certificate

__all__ = ["Edrf", "edrf"]


@dataclass(frozen=True, eq=False, repr=False)
class Edrf(CloudAllocation):
    """Extended DRF allocation of many tenants; made by :func:`edrf`.

    Attributes
    ----------
    stoppers : ndarray of int, shape (n_tenants,)
        The full resource that stopped the tenant.
    events : int
        Resources that stopped somebody.
    pattern : Pattern
        For the next allocation of demands with the same non-zero entries.
    by_resource : bool
        Whether entitlements differ between resources.
    loads : ndarray of shape (n_resources, 4)
        Rate at which each resource fills up at first, its compensation, the number of its tenants, unused.
    """

    stoppers: IndexArray
    events: int
    pattern: Pattern
    by_resource: bool
    loads: FloatArray

    @cached_property
    def certificate(self) -> Certificate:
        """Every tenant has a full resource on which its level is the largest, and none is overfull."""
        return Certificate(claim_of_levels(), max(residuals(self.demands, self.growth, self.levels)))

    def summary(self) -> str:
        """What a person wants to read: how many stopped where, shares, time, certificate."""
        d = self.demands
        return "\n".join(
            [
                f"EDRF of {d.n_tenants:,} tenants and {d.n_resources:,} resources",
                f"  {self.events:,} resources stopped somebody",
                *self._lines(),
                f"  {self.certificate}",
            ]
        )

    def update(
        self, tenants: ArrayLike, demands: SparseDemands | Any, weights: ArrayLike | None = None
    ) -> Edrf:
        """Exact allocation after some tenants have changed what they demand.

        The load of every resource is corrected for these tenants, and the lists of tenants per resource are
        kept if no resource joins or leaves a vector. The filling itself is done anew: a change of 5 % of the
        tenants changes the load of all resources that many demand, so all levels, and the order in which
        resources fill up. Hence an update takes about as long as ``edrf`` with a kept pattern.

        Parameters
        ----------
        tenants : array_like of int, shape (n_changed,)
            Who changes, each once.
        demands : SparseDemands or scipy sparse array of shape (n_changed, n_resources)
            Their new demands, in the same order.
        weights : array_like, optional
            Their entitlements, per tenant or with the pattern of the new demands, if these change; needed if
            entitlements differ between resources.

        Returns
        -------
        Edrf

        Raises
        ------
        ModelError
            If tenants are unknown or named twice, or demands or weights do not fit.
        NotConvergedError
            As :func:`edrf`.

        Examples
        --------
        >>> demands = SparseDemands.from_lists([[(0, 1.0)], [(0, 0.5), (1, 1.0)], [(1, 1.0)]], n_resources=2)
        >>> changed = SparseDemands.from_lists([[(0, 1.0), (1, 1.0)]], n_resources=2)
        >>> edrf(demands).update([1], changed).allocation().toarray()
        array([[0.5, 0. ],
               [0.5, 0.5],
               [0. , 0.5]])
        """
        clock = time.perf_counter()
        rows = demands if isinstance(demands, SparseDemands) else SparseDemands(demands)
        who = check_replacement(self.demands, tenants, rows)
        if weights is None and self.by_resource:
            raise ModelError.of(
                "weights",
                "of the changed tenants are needed: entitlements differ between resources; give them "
                "with the pattern of the new demands",
            )
        weights = self.growth[who] * self.demands.largest[who] if weights is None else weights
        growth = self.growth.copy()
        growth[who] = rows.check_weights(weights) / rows.largest
        loads = self.loads.copy()
        shift_loads(loads, SparseDemands(self.demands.matrix()[who]), self.growth[who], -1.0)
        shift_loads(loads, rows, growth[who], 1.0)
        changed = replaced_rows(self.demands, who, rows)
        pattern = self.pattern if changed.columns is self.demands.columns else None
        by_resource = self.by_resource or sparse.issparse(weights)
        return _filled(changed, growth, loads, by_resource, pattern, time.perf_counter() - clock)


def edrf(
    demands: SparseDemands | Any, weights: ArrayLike | None = None, pattern: Pattern | None = None
) -> Edrf:
    """Extended DRF, exactly, for up to millions of tenants.

    Parameters
    ----------
    demands : SparseDemands or scipy sparse array of shape (n_tenants, n_resources)
        Parts of a resource per task, in (0, 1].
    weights : array_like of shape (n_tenants,) or sparse with the pattern of the demands, optional
        Entitlements. Default: 1/n_tenants each. Only their ratios matter for the allocation.
    pattern : Pattern, optional
        From an earlier call with the same non-zero entries; saves the time to transpose them.

    Returns
    -------
    Edrf

    Raises
    ------
    ModelError
        If demands or weights are not well-formed, or the pattern does not belong to the demands.
    NotConvergedError
        If weights differ by so many decades (some 20) that rates of light tenants are lost beside those of
        heavy ones. Every other allocation is known to satisfy its certificate when it is returned.

    Notes
    -----
    Resources are full, and none is overfull, to some 1e-16 of a resource. That is also how far off the share
    of a tenant may be: next to nothing beside heavy tenants, but all of it if its own is not larger.

    References
    ----------
    See :mod:`fairness.cloud.exact`.

    Examples
    --------
    >>> demands = SparseDemands.from_lists([[(0, 1.0)], [(0, 0.5), (1, 1.0)], [(1, 1.0)]], n_resources=2)
    >>> result = edrf(demands)
    >>> result.allocation().toarray()
    array([[0.75, 0.  ],
           [0.25, 0.5 ],
           [0.  , 0.5 ]])
    >>> result.levels, result.events
    (array([2.25, 1.5 , 1.5 ]), 2)
    """
    given = demands if isinstance(demands, SparseDemands) else SparseDemands(demands)
    if pattern is not None:
        if not isinstance(pattern, Pattern):
            raise ModelError.of("pattern", f"must be a Pattern; got {type(pattern).__name__}")
        pattern.check(given)
    clock = time.perf_counter()
    growth = given.check_weights(weights) / given.largest
    loads = loads_of(given, growth)
    return _filled(given, growth, loads, sparse.issparse(weights), pattern, time.perf_counter() - clock)


def _filled(
    demands: SparseDemands,
    growth: FloatArray,
    loads: FloatArray,
    by_resource: bool,
    pattern: Pattern | None,
    load_seconds: float,
) -> Edrf:
    """The allocation, once resources' loads are known."""
    state, pattern, misfit, seconds = run(demands, growth, loads, pattern=pattern)
    levels, stoppers = state.stops()
    result = Edrf(
        demands=demands,
        levels=levels,
        growth=frozen(growth),
        free=frozen(np.maximum(0.0, state.left)),
        seconds={"load": load_seconds, **seconds},
        stoppers=stoppers,
        events=int(state.progress[2]),
        pattern=pattern,
        by_resource=by_resource,
        loads=frozen(loads),
    )
    return result._unless_lost(misfit)
