r"""Max-min fairness of tasks, and of dominant shares.

*Max-min fairness* (MMF) maximises the smallest number of tasks per weighted job, then the next
smallest, and so on. *Dominant resource fairness* (DRF) does the same with the dominant share of a
job, :math:`\max_j \varphi_i a_{ij}/C_j` [1]_. Both are progressive filling, with growth rates

.. math:: r_i = w_i \quad\text{(MMF)},
   \qquad r_i = w_i \min_{j:\,a_{ij}>0} \frac{v_{ij} C_j}{a_{ij}} \quad\text{(DRF)},

with weights :math:`v_{ij} = 1` per resource unless given. With :math:`\sum_i v_{ij} = 1` for every
resource and one job of weight 1 per class, DRF is the extended mechanism EDRF of [2]_ (Algorithm 1 of
[3]_): filling goes on to the end when some demands are zero, and every job gets at least what its
entitlements alone would give.

References
----------
.. [1] A. Ghodsi et al., "Dominant resource fairness: fair allocation of multiple resource types",
   NSDI 2011.
.. [2] D. C. Parkes, A. D. Procaccia and N. Shah, "Beyond dominant resource fairness: extensions,
   limitations, and indivisibilities", ACM TEAC 3(1), 2015. DOI 10.1145/2739040.
.. [3] I. A. Kash, G. O'Shea and S. Volos, "DC-DRF: adaptive multi-resource sharing at public cloud
   scale", SoCC 2018. DOI 10.1145/3267809.3267848.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fairness.arguments.labels import unnamed
from fairness.arguments.validation import float_array
from fairness.errors import ModelError
from fairness.model.nonzeros import reduced
from fairness.model.problem import FloatArray, Problem
from fairness.policies.engines.filling import FillingPolicy
from fairness.protocol.family import Family

__all__ = ["DRF", "MaxMin"]


@dataclass(frozen=True)
class MaxMin(FillingPolicy):
    """Weighted max-min fairness of the number of tasks per job.

    It depends on how work is cut into tasks (it is not scale invariant); DRF does not.

    Examples
    --------
    >>> from fairness import Problem
    >>> MaxMin()(Problem([[1, 3], [4, 2]], [1, 1]), [1, 1])
    array([0.2, 0.2])
    """

    name = "MMF"
    family = Family("filling", {"growth": "tasks"})

    def rates(self, problem: Problem) -> FloatArray:
        """Every job grows by one task per unit of level and weight."""
        return np.where(np.diff(problem.nonzeros.start) > 0, 1.0, np.inf)


@dataclass(frozen=True)
class DRF(FillingPolicy):
    """Weighted dominant resource fairness, filled to the end (Pareto efficient with zero demands).

    Parameters
    ----------
    resource_weights : array_like of shape (n_classes, n_resources), optional
        Weights v_ij > 0 of a job of class i on resource j; they multiply the weights of the problem.
        Columns that sum to 1 are the entitlements of EDRF. Default: all 1.

    Examples
    --------
    >>> from fairness import Problem
    >>> DRF()(Problem([[1, 4], [3, 1]], [9, 18]), [1, 1])
    array([3., 2.])
    >>> edrf = DRF(resource_weights=[[1 / 3, 1 / 3]] * 3)
    >>> edrf(Problem([[1, 0], [1 / 2, 1], [0, 1]], [1, 1]), [1, 1, 1])
    array([0.75, 0.5 , 0.5 ])
    """

    resource_weights: tuple[tuple[float, ...], ...] | None = None

    name = "DRF"

    def __init__(self, resource_weights: ArrayLike | None = None) -> None:
        if resource_weights is not None:
            plain = unnamed("resource_weights", resource_weights, "job_classes", "resources")
            weights = float_array("resource_weights", plain)
            if weights.ndim != 2 or not (np.isfinite(weights).all() and (weights > 0).all()):
                raise ModelError.of(
                    "resource_weights",
                    "must be a (n_classes, n_resources) array of finite numbers > 0; "
                    f"got shape {weights.shape}, smallest entry {weights.min(initial=np.inf):g}",
                )
            resource_weights = tuple(tuple(float(v) for v in row) for row in weights)
        object.__setattr__(self, "resource_weights", resource_weights)

    @property
    def family(self) -> Family:  # type: ignore[override]
        """Filling of dominant shares, with the weights per resource if there are any."""
        own = {} if self.resource_weights is None else {"resource_weights": self.resource_weights}
        return Family("filling", {"growth": "dominant", **own})

    def rates(self, problem: Problem) -> FloatArray:
        """Tasks that hold one unit of dominant share, divided by the weights per resource."""
        shares = problem.nonzeros
        weights: FloatArray | float = 1.0
        if self.resource_weights is not None:
            given, shape = np.array(self.resource_weights), (problem.n_classes, problem.n_resources)
            if given.shape != shape:
                raise ModelError.of("resource_weights", f"has shape {given.shape}; the problem needs {shape}")
            weights = given[shares.spread(np.arange(problem.n_classes)), shares.resource]
        # [3] Table 1: rho_i = w_ir/d_ir at the resource r that minimises it.
        return reduced(np.minimum, weights / shares.share, shares.start, np.inf)
