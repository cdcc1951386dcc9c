"""Sparse demands in units, for the cloud.

At cloud scale tenant i demands the part :math:`D_{ir} = a_{ir}/C_r` of resource r per task
(:mod:`fairness.cloud.model.demands`), and a :class:`~fairness.cloud.model.demands.SparseDemands` takes these
parts from any scipy sparse array that is sorted and without duplicates and stored zeros. Data that come from
elsewhere are often in units (cores, bytes) and in any order: this is the step between.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from fairness.arguments.validation import float_array, require
from fairness.cloud.model.demands import SparseDemands
from fairness.errors import ModelError
from fairness.machine.memory import require_memory

__all__ = ["sparse_demands"]


def sparse_demands(matrix: Any, capacities: ArrayLike) -> SparseDemands:
    """Demands of many tenants from a sparse matrix in units of the resources.

    Parameters
    ----------
    matrix : scipy sparse array or matrix of shape (n_tenants, n_resources), resource units per task
        Any format; entries of the same place are added up, stored zeros are dropped. It is not changed.
    capacities : array_like of shape (n_resources,), resource units
        > 0.

    Returns
    -------
    SparseDemands

    Raises
    ------
    ModelError
        If this is no sparse matrix, the shapes differ, a capacity is not positive, the copy does not fit in
        memory, or a tenant demands nothing, something negative, or more than there is.

    Examples
    --------
    >>> from fairness.cloud import edrf
    >>> cores_and_bytes = sparse.coo_array(([2.0, 4.0, 8.0], ([0, 1, 1], [0, 0, 1])), shape=(2, 2))
    >>> demands = sparse_demands(cores_and_bytes, capacities=[16, 64])
    >>> demands, edrf(demands).tasks.round(3)
    (SparseDemands(2 tenants x 2 resources, 3 entries, float64), array([4., 2.]))
    """
    if not sparse.issparse(matrix) or len(matrix.shape) != 2:
        raise ModelError.of(
            "matrix",
            f"must be a two-dimensional scipy.sparse array, tenants x resources; got {type(matrix).__name__}",
        )
    c = float_array("capacities", capacities, ndim=1)
    if c.shape != (matrix.shape[1],):
        raise ModelError.of(
            "matrix",
            f"has shape {matrix.shape}, so capacities must have shape ({matrix.shape[1]},); got {c.shape}",
        )
    labels = tuple(f"resource {j + 1}" for j in range(len(c)))
    require("capacities", c, np.isfinite(c) & (c > 0), "finite and > 0", labels)
    # Indices and values of the copy, and as much again while duplicates are added up.
    require_memory(32.0 * matrix.nnz, "a copy of the demands in parts of a resource", "give fewer tenants")
    rows = sparse.csr_array(matrix, dtype=float, copy=True)
    rows.sum_duplicates()
    rows.data /= c[rows.indices]
    rows.eliminate_zeros()
    return SparseDemands(rows)
