r"""Asset fairness: equal sums of shares.

Each job is given the same :math:`\sum_j \varphi_i a_{ij}/C_j` per unit of weight, as if every resource
had the same price per share; then filling goes on for those who can still grow [1]_. It violates the
sharing incentive and bottleneck fairness.

References
----------
.. [1] A. Ghodsi et al., "Dominant resource fairness: fair allocation of multiple resource types",
   NSDI 2011, section 4.1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairness.model.nonzeros import reduced
from fairness.model.problem import FloatArray, Problem
from fairness.policies.engines.filling import FillingPolicy
from fairness.protocol.family import Family

__all__ = ["AssetFair"]


@dataclass(frozen=True)
class AssetFair(FillingPolicy):
    """Max-min fairness of the aggregate share of a job.

    Examples
    --------
    >>> from fairness import Problem
    >>> AssetFair()(Problem([[1, 4], [3, 1]], [9, 18]), [1, 1])
    array([2.52, 2.16])
    """

    name = "Asset"
    family = Family("filling", {"growth": "assets"})

    def rates(self, problem: Problem) -> FloatArray:
        """Tasks that hold one unit of aggregate share."""
        total = reduced(np.add, problem.nonzeros.share, problem.nonzeros.start, 0.0)
        return np.divide(1.0, total, out=np.full_like(total, np.inf), where=total > 0)
