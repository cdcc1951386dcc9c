"""When two problems are the same to every policy."""

from __future__ import annotations

import numpy as np

from fairness.model.cluster import Cluster
from fairness.model.problem import Problem

__all__ = ["same_problem"]


def same_problem(one: Problem | Cluster, other: Problem | Cluster) -> bool:
    """Whether two problems are equal in all that a policy can see: arrays, weights, limits and names.

    They may be different objects: one of them read again, or back from another process.
    """
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    names: tuple[str, ...] = ("job_classes", "resources")
    arrays: tuple[str, ...] = ("demands", "capacities", "weights")
    if isinstance(one, Cluster) and isinstance(other, Cluster):
        if (one.given_gamma is None) != (other.given_gamma is None):
            return False  # some policies refuse a given gamma, whatever it says
        names, arrays = (*names, "servers"), (*arrays, "gamma")
    else:
        arrays = (*arrays, "limits")
    return all(getattr(one, name) == getattr(other, name) for name in names) and all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in arrays
    )
