"""A pool or a cluster from plain data: it is a cluster if its capacities have rows."""

from __future__ import annotations

from typing import Any

from fairness.model.cluster import Cluster
from fairness.model.problem import Problem

__all__ = ["model_from_dict"]


def model_from_dict(data: Any) -> Problem | Cluster:
    """The model that ``to_dict`` of a Problem or of a Cluster has told; see :mod:`fairness.arguments.plain`.

    Raises
    ------
    ModelError
        If a key is missing or unknown, or the model is refused.

    Examples
    --------
    >>> model_from_dict({"demands": [[1, 2]], "capacities": [["1/3", 4], [5, 6]]}).n_servers
    2
    """
    rows = data.get("capacities") if isinstance(data, dict) else None
    is_cluster = isinstance(rows, list) and any(isinstance(row, list) for row in rows)
    return (Cluster if is_cluster else Problem).from_dict(data)
