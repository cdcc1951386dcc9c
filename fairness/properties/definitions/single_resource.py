r"""Single-resource fairness: with one resource, its amounts are max-min fair.

This is bottleneck fairness (see :mod:`fairness.properties.definitions.bottleneck_fairness` for the conditions
and their proof) of a model with one resource, which every class demands dominantly, having no choice. In a
pool the capacity is used up and divided in proportion to the weights.

Envy-freeness and Pareto efficiency together imply it in a pool: without envy :math:`x_p
d_p\varphi_n/\varphi_p \le x_n d_n` for all n and p, so all :math:`x_n d_n/\varphi_n` are equal; efficiency
fills the resource.

References
----------
.. [1] A. Ghodsi et al., "Dominant resource fairness: fair allocation of multiple resource types", NSDI 2011.
"""

from __future__ import annotations

import numpy as np

from fairness.model.cluster import Cluster
from fairness.properties.definitions.bottleneck_fairness import BottleneckFairness
from fairness.properties.protocol.arithmetic import as_given
from fairness.properties.protocol.property import Model

__all__ = ["SingleResourceFairness"]


class SingleResourceFairness(BottleneckFairness):
    """If there is one resource, it is shared max-min.

    Examples
    --------
    >>> from fairness import MaxMin, Problem
    >>> print(SingleResourceFairness().of(MaxMin(), Problem([[1], [2]], [6])).text)
    class 2 holds 0.666667 of resource 1: 4 units in all, 4 by weight; class 1, who may have it, only 2
    """

    name = "single-resource fairness"
    key = "SRF"
    statement = "If there is one resource, it is shared max-min."
    implies = ()

    def applies(self, model: Model) -> bool:
        """Whether there is one resource only."""
        return model.n_resources == 1 and super().applies(model)

    def suit(self, model: Model) -> Model:
        """The model with its first resource only; where that is 0 it becomes 1."""
        if self.applies(model):
            return model
        demands, capacities = as_given(model)
        first = {
            name: np.where(values[..., :1] > 0, values[..., :1], 1)
            for name, values in (("demands", demands), ("capacities", capacities))
        }
        if not isinstance(model, Cluster):
            return model.replaced(**first)
        # Where a class may run now it may run then, so every class and server stays in use.
        return model.replaced(**first, gamma=None, eligible=model.eligible)
