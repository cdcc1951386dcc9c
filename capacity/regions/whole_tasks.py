r"""Whole tasks: which class loads servers can carry when no task can be split between servers.

A *configuration* of a server is a vector of whole numbers of tasks that fit together,

.. math:: K_i = \Big\{k \in \mathbb N^n : \sum_n k_n b_{nir} \le 1 \text{ for all } r,\
          k_n = 0 \text{ where not eligible}\Big\},

with the shares :math:`b_{nir}` of resources that tasks hold. Given effective capacities gamma scale what a
task holds, as everywhere in this library: a task that is served at twice the speed holds half of its
resources all the time, not all of them half the time. Over time a server alternates between its
configurations, by preemption or at moments when it has been emptied, so that loads can be stabilised if
they are in the interior of

.. math:: \sum_i \operatorname{conv} K_i

and cannot if they are outside: the capacity of a cluster in the sense of Maguluri, Srikant and Ying [1]_,
who also show that best fit need not reach it. This *integer hull* lies in the region of divisible tasks
(:mod:`capacity.regions.divisible_tasks`); what is missing is lost to packing.

Only maximal configurations matter, to which no task can be added (:mod:`fairness.exact.configurations`),
because the hull is monotone. Facets, vertices and volume follow exactly from the maximum over them
(:mod:`fairness.exact.double_description`). Relative loads are linear programs over configurations,
with columns generated where the prices say that a configuration is missing [2]_; the last prices are a proof,
since every configuration is compared with them.

Demands given as floats are rounded: a task fits if it exceeds a capacity by less than 1e-12 of it. Then the
configurations are whole numbers and all that follows is exact.

References
----------
.. [1] S. T. Maguluri, R. Srikant and L. Ying, "Stochastic models of load balancing and scheduling in cloud
   computing clusters", INFOCOM 2012. DOI 10.1109/INFCOM.2012.6195815.
.. [2] P. C. Gilmore and R. E. Gomory, "A linear programming approach to the cutting-stock problem",
   Operations Research 9, 1961. DOI 10.1287/opre.9.6.849.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csc_array

from capacity.regions.divisible_tasks import StabilityRegion, stability_region
from capacity.regions.inequalities import ROUNDING
from capacity.regions.load_region import LoadRegion
from capacity.regions.loads import checked_loads, checked_model
from fairness.arguments.validation import FloatArray, require_whole
from fairness.errors import ModelError
from fairness.exact.configurations import Configurations, maximal_configurations
from fairness.exact.minkowski_sum import Body
from fairness.exact.server_rows import distinct_servers
from fairness.machine.work import ProgressOption
from fairness.model.cluster import Cluster
from fairness.model.problem import Problem
from queueing.model.cluster_load import GAP, LoadEvidence, Support, accepted, least_part, power_of_two

__all__ = ["Packing", "PackingRegion", "packing_region"]


@dataclass(frozen=True, eq=False)
class Packing:
    """Servers that hold the same configurations.

    Attributes
    ----------
    configurations : ndarray of int, shape (n_configurations, n_classes)
        The maximal ones, in increasing order.
    servers : tuple of int
    """

    configurations: Configurations
    servers: tuple[int, ...]

    @property
    def copies(self) -> int:
        """Number of servers."""
        return len(self.servers)


@dataclass(frozen=True, eq=False, repr=False)
class PackingRegion(LoadRegion):
    """All class loads that whole tasks can have; made by :func:`packing_region`.

    Attributes
    ----------
    model : Problem or Cluster
        A pool counts as one server.
    packings : tuple of Packing
        The servers, by what they can hold.
    max_facets, progress, time_limit
        Of the search for facets.
    """

    packings: tuple[Packing, ...]

    _called = "PackingRegion"

    @property
    def is_rational(self) -> bool:
        """Whether facets, vertices and volume are exact: always, as configurations are whole numbers."""
        return True

    @cached_property
    def pinned(self) -> tuple[int, ...]:
        """Classes that must have load 0, because not one task fits on any server."""
        return tuple(int(n) for n in np.flatnonzero(self._most == 0))

    @cached_property
    def exact_loss(self) -> Fraction | None:
        """Part of the volume of the region of divisible tasks that is lost; None for float models.

        Raises
        ------
        ModelError
            If the region of divisible tasks has no volume, or a region has too many facets.
        """
        if self._divisible.pinned:
            raise ModelError("the region of divisible tasks has no volume: a class demands what is absent")
        whole, divisible = self.exact_volume, self._divisible.exact_volume
        return None if whole is None or divisible is None else 1 - whole / divisible

    @cached_property
    def loss(self) -> float:
        """Part of the volume of the region of divisible tasks that is lost, 1 if a class is pinned.

        Raises
        ------
        ModelError
            If the region of divisible tasks has no volume, or a region has too many facets.
        """
        exact = self.exact_loss
        return 1.0 - self.volume / self._divisible.volume if exact is None else float(exact)

    def judge(self, loads: ArrayLike) -> LoadEvidence:
        """Relative load of loads >= 0, shape (n_classes,), with a schedule and prices as evidence.

        A class that no server can run has an infinite price; if it has a load, so is the relative load.

        Raises
        ------
        NotConvergedError
            If schedule and prices leave a relative gap of more than 1e-9.

        Examples
        --------
        >>> evidence = packing_region(Problem([[2], [3]], [7])).judge([1, 1])
        >>> round(evidence.relative_load, 9), evidence.prices.round(6)
        (0.75, array([0.25, 0.5 ]))
        >>> [(round(part, 6), tasks) for part, tasks in evidence.schedule[0]]
        [(0.25, (0, 2)), (0.5, (2, 1))]
        """
        rho = checked_loads(self.model, loads, batch=False, least=0)
        shape = (self.n_classes, self.n_servers)
        blocked = np.array([n in self.pinned for n in range(self.n_classes)])
        free = np.where(blocked, np.inf, 0.0)
        if not rho.any() or rho[blocked].any():
            part = float(np.inf if rho.any() else 0.0)
            idle = tuple(() for _ in range(self.n_servers))
            return LoadEvidence(rho, part, part, np.zeros(shape), free, np.zeros(self.n_servers), idle)
        asks = np.flatnonzero(rho)
        # Columns are parts of the time over unit: then the entries of the rows are between 0 and 1.
        most = self._most[asks]
        # The relative load is linear in the scale of the loads.
        top = float(rho.max())
        mix = rho / top
        unit = float((mix[asks] / most).max())
        need = mix[asks] / most / unit
        columns = sorted(
            {(g, k) for g, packing in enumerate(self.packings) for k in _extremes(packing, asks)}
        )
        best_prices, lower, upper, parts = free, 0.0, np.inf, np.zeros(0)
        while True:
            group = np.array([g for g, _ in columns])
            copies = np.array([float(self.packings[g].copies) for g in group])
            held = np.array([self.packings[g].configurations[k][asks] for g, k in columns])
            runs = (held * copies[:, None] / most).T
            use = csc_array(
                (np.ones(len(columns)), (group, np.arange(len(columns)))), (len(self.packings), len(columns))
            )
            parts, multipliers, _ = least_part(csc_array(runs), use, need)
            for n, short in enumerate(np.maximum(need - runs @ parts, 0.0)):
                # What the solver's tolerance left out.
                most_of_it = int(runs[n].argmax())
                parts[most_of_it] += short / runs[n, most_of_it]
            parts = parts * unit
            upper = float((use @ parts).max())
            prices = np.zeros(self.n_classes)
            prices[asks] = multipliers / most
            tops = [int((packing.configurations @ prices).argmax()) for packing in self.packings]
            earned = sum(
                p.copies * float(p.configurations[k] @ prices)
                for p, k in zip(self.packings, tops, strict=True)
            )
            prices = prices / earned
            if float(prices @ mix) > lower:
                lower, best_prices = float(prices @ mix), prices
            new = set(enumerate(tops)) - set(columns)
            if upper - lower <= GAP / 10 * upper or not new:
                break
            columns += sorted(new)
        prices = np.where(blocked, np.inf, best_prices)
        evidence = self._evidence(rho, upper * top, lower * top, columns, parts * top, prices)
        result: LoadEvidence = accepted(evidence, upper, lower)
        return result

    def support(self, direction: ArrayLike) -> Support:
        """Most that the servers earn at prices per task of shape (n_classes,), and with which tasks.

        Examples
        --------
        >>> best = packing_region(Problem([[2], [3]], [7])).support([1, 1])
        >>> best.value, best.load
        (3.0, array([2., 1.]))
        """
        # A class with price <= 0 runs no tasks; the hull is monotone.
        p = np.maximum(checked_loads(self.model, direction, batch=False, name="direction"), 0.0)
        # Prices below 2, of which no sum overflows; a power of 2 rounds nothing.
        scale = power_of_two(p.max())
        p = p / scale
        placement = np.zeros((self.n_classes, self.n_servers))
        value = 0.0
        for packing in self.packings:
            values = packing.configurations @ p
            top = int(values.argmax())
            value += packing.copies * float(values[top])
            placement[:, packing.servers] = (packing.configurations[top] * (p > 0))[:, None]
        return Support(value * scale, value * scale, placement.sum(axis=1), placement)

    @cached_property
    def _most(self) -> FloatArray:
        """Tasks of each class alone on all servers; as floats, because they may exceed 64 bits."""
        total: FloatArray = sum(
            (packing.copies * packing.configurations.max(axis=0).astype(float) for packing in self.packings),
            start=np.zeros(self.n_classes),
        )
        return total

    @cached_property
    def _bodies(self) -> tuple[Body, ...]:
        live = list(self.live)
        return tuple(
            Body.around(
                sorted({tuple(row) for row in packing.configurations[:, live].tolist()}), packing.copies
            )
            for packing in self.packings
        )

    @cached_property
    def _divisible(self) -> StabilityRegion:
        return stability_region(
            self.model, max_facets=self.max_facets, progress=self.progress, time_limit=self.time_limit
        )

    def _evidence(
        self,
        rho: FloatArray,
        upper: float,
        lower: float,
        columns: Sequence[tuple[int, int]],
        parts: FloatArray,
        prices: FloatArray,
    ) -> LoadEvidence:
        placement = np.zeros((self.n_classes, self.n_servers))
        earnings = np.zeros(self.n_servers)
        plans: list[tuple[tuple[float, tuple[int, ...]], ...]] = [()] * self.n_servers
        finite = np.where(np.isfinite(prices), prices, 0.0)
        for g, packing in enumerate(self.packings):
            plan = tuple(
                (float(part), tuple(packing.configurations[k].tolist()))
                for (h, k), part in sorted(zip(columns, parts, strict=True))
                if h == g and part > 0
            )
            mean = sum((part * np.array(tasks) for part, tasks in plan), start=np.zeros(self.n_classes))
            for server in packing.servers:
                plans[server] = plan
                placement[:, server] = mean
                earnings[server] = (packing.configurations @ finite).max()
        return LoadEvidence(rho, upper, lower, placement, prices, earnings, tuple(plans))

    @property
    def _quick(self) -> bool:
        return self.n_classes <= 3 and len(self.packings) <= 6


def packing_region(
    model: Problem | Cluster,
    *,
    max_configurations: int = 200_000,
    max_facets: int = 2000,
    progress: ProgressOption = None,
    time_limit: float | None = None,
) -> PackingRegion:
    """Polytope of the class loads that whole tasks can have on a pool or on servers.

    Parameters
    ----------
    model : Problem or Cluster
        A pool counts as one server. Limits of tasks per job do not matter, as in
        :func:`.stability_region`.
    max_configurations : int
        Refuse servers that have more partial configurations, before they are listed.
    max_facets : int
        Give up facets, vertices and volume, with an error, beyond this number of facets, counting those of
        the regions of fewer classes (2^n in all if n classes share one resource).
    progress, time_limit
        Of the search for facets, as in :func:`capacity.service_boundary`.

    Returns
    -------
    PackingRegion

    Raises
    ------
    ModelError
        If a class demands nothing, so that any number of its tasks fits; if a server has too many
        configurations; if a limit is not a positive integer.

    Examples
    --------
    Tasks of 2 and of 3 units in a pool of 7: of divisible tasks 7/2 or 7/3 fit, of whole ones 3 or 2.

    >>> region = packing_region(Problem([[2], [3]], [7]))
    >>> region
    PackingRegion of 2 classes: loads >= 0 (tasks) with
      [class 1] + [class 2] < 3
      [class 1] + 2 [class 2] < 4
    >>> region.packings[0].configurations.tolist()
    [[0, 2], [2, 1], [3, 0]]
    >>> region.exact_volume, region.exact_loss
    (Fraction(7, 2), Fraction(1, 7))
    """
    checked_model(model)
    limit = require_whole("max_configurations", max_configurations, 1)
    facets = require_whole("max_facets", max_facets, 1)
    if isinstance(model, Problem):
        names = ["the pool"]
        for name, row in zip(model.job_classes, model.demands, strict=True):
            if not row.any():
                raise ModelError(
                    f"job class {name!r} demands nothing, so that any load of it fits; remove the class"
                )
    else:
        names = [repr(name) for name in model.servers]
    slack = Fraction(0) if model.is_rational else Fraction(ROUNDING)
    found: dict[bytes, tuple[Configurations, list[int]]] = {}
    for shares, members in distinct_servers(model).items():
        listed = maximal_configurations(shares, limit, slack, names[members[0]])
        found.setdefault(listed.tobytes(), (listed, []))[1].extend(members)
    packings = tuple(Packing(listed, tuple(sorted(members))) for listed, members in found.values())
    return PackingRegion(model, packings, max_facets=facets, progress=progress, time_limit=time_limit)


def _extremes(packing: Packing, asks: NDArray[np.intp]) -> set[int]:
    """Configurations with most tasks of one class, and with many of all."""
    held = packing.configurations[:, asks]
    top = held.max(axis=0)
    return {int(held[:, n].argmax()) for n in range(len(asks))} | {
        int((held / np.maximum(top, 1)).sum(axis=1).argmax())
    }
