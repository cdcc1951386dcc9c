r"""Resource monotonicity: more capacity hurts nobody.

With x the tasks before and x' those after a resource (of a server) has grown, :math:`x'_n \ge x_n` for
every class n [1]_. The violation is the largest :math:`(x_n - x'_n)/\max(x_n, x'_n)`, the relative loss
where there is one.

References
----------
.. [1] A. Ghodsi et al., "Dominant resource fairness: fair allocation of multiple resource types", NSDI 2011.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fairness.model.cluster import Cluster
from fairness.properties.changes.changed_model import Grow
from fairness.properties.definitions.population_monotonicity import loss_finding
from fairness.properties.protocol.arithmetic import as_given, given_gamma, unit_of
from fairness.properties.protocol.property import Change, Finding, Model, Property, Question

__all__ = ["ResourceMonotonicity"]


class ResourceMonotonicity(Property):
    """When a capacity grows, nobody loses.

    Examples
    --------
    >>> from fairness import DRF, Problem
    >>> pool, grow = Problem([[2, 1], [1, 2]], [1, 1]), Grow((1, 0))
    >>> before, after = DRF()(pool, [1, 1]), DRF()(grow.apply(pool), [1, 1])
    >>> print(ResourceMonotonicity().check(pool, before, grow, after).text)
    the pool grows from (1, 1) to (2, 1); class 2 then runs 0.25 tasks instead of 0.333333
    """

    name = "resource monotonicity"
    key = "RM"
    statement = "When a capacity grows, nobody loses."
    compares = True

    def changes(self, model: Model, rng: np.random.Generator, number: int) -> Iterator[Change]:
        """One resource, sometimes two, of one server grows: by a unit, to the double, or at random."""
        cluster = isinstance(model, Cluster)
        capacities = as_given(model)[1]
        # A measured gamma says nothing about a server that lacks a resource.
        skip_absent = given_gamma(model) is not None
        for _ in range(number):
            server = int(rng.integers(model.n_servers)) if isinstance(model, Cluster) else None
            row = list(capacities[server]) if cluster else list(capacities)
            amounts: list[Any] = [0] * len(row)
            for r in rng.integers(len(row), size=1 if rng.random() < 0.75 else 2):
                if row[r] > 0 or not skip_absent:
                    amounts[r] = _extra(row, int(r), rng)
            if any(amounts):
                yield Grow(tuple(amounts), server)

    def judge(self, question: Question) -> Finding:
        """Largest relative loss."""
        return loss_finding(self.name, question, Grow)


def _extra(row: list[Any], r: int, rng: np.random.Generator) -> Any:
    step = unit_of(row)
    kind = int(rng.integers(3))
    if kind == 0 or row[r] == 0:
        return step
    return row[r] if kind == 1 else step * int(rng.integers(1, 2 * int(row[r] / step) + 2))
