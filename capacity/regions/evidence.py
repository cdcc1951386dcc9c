"""What a region earns, with evidence on both sides.

Relative loads and their proofs, and the linear programs behind both, are those of
:mod:`queueing.model.cluster_load`: each answer is recomputed from the definitions on both sides and compared,
so that none rests on the accuracy of the solver.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from fairness.arguments.validation import FloatArray
from queueing.model.cluster_load import LoadEvidence

__all__ = ["LoadEvidence", "Support", "power_of_two"]


@dataclass(frozen=True, eq=False)
class Support:
    """The most that a region earns at given prices per task.

    Attributes
    ----------
    value : float
        Earned by ``load``.
    bound : float
        Proved upper bound, equal to ``value`` up to rounding.
    load : ndarray of shape (n_classes,), tasks
    placement : ndarray of shape (n_classes, n_servers), tasks
        How the servers carry the load.
    """

    value: float
    bound: float
    load: FloatArray
    placement: FloatArray


def power_of_two(value: float) -> float:
    """Largest power of 2 up to a value > 0; 1 for 0."""
    return math.ldexp(1.0, math.frexp(value)[1] - 1) if value > 0 else 1.0
