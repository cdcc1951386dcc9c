"""Rates of a chain on a box of counts that moves one job at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fairness.model.problem import FloatArray
from queueing.states.box import sides

__all__ = ["box_rates", "outflow"]


def outflow(up: FloatArray, down: FloatArray) -> FloatArray:
    """Rate out of each state, from arrival rates (n,) and death rates (n, *shape)."""
    out: FloatArray = down.sum(axis=0)
    for i, rate in enumerate(up):
        low, _ = sides(i)
        out[low] += rate
    return out


def box_rates(up: FloatArray, down: FloatArray, inside: NDArray[np.bool_] | None = None) -> sparse.csr_array:
    """Rates from row to column, without a diagonal, between the states ``inside``; by default all.

    ``up`` has shape (n,) or (n, *shape), ``down`` (n, *shape); what would leave the box does not happen.
    """
    shape = down.shape[1:]
    if inside is None:
        inside = np.ones(shape, dtype=bool)
    states = int(inside.sum())
    number = np.full(shape, -1)
    number[inside] = np.arange(states)
    rows, columns, values = [], [], []
    for i in range(len(down)):
        low, high = sides(i)
        both = inside[high] & inside[low]
        below, above = number[low][both], number[high][both]
        rows += [below, above]
        columns += [above, below]
        values += [np.broadcast_to(up[i], shape)[low][both], down[i][high][both]]
    entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    return sparse.csr_array(sparse.coo_array(entries, shape=(states, states)))
