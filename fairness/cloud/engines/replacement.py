"""New demands for some of the tenants, the others as they were."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairness.cloud.model.demands import Flags, IndexArray, Offsets, SparseDemands
from fairness.errors import ModelError
from fairness.machine.compiling import stored

__all__ = ["check_replacement", "replaced_rows"]


def check_replacement(demands: SparseDemands, tenants: ArrayLike, rows: SparseDemands) -> NDArray[np.int64]:
    """Tenants to whom the new rows belong, as an array of shape (n_changed,).

    Raises
    ------
    ModelError
        If a tenant is unknown or named twice, or their number or that of the resources differs.
    """
    who = np.asarray(tenants)
    if who.ndim != 1 or who.dtype.kind not in "iu":
        raise ModelError(f"tenants must be a list of whole numbers; got {tenants!r}"[:200])
    if (len(who), demands.n_resources) != (rows.n_tenants, rows.n_resources):
        raise ModelError(
            f"the new demands must have shape ({len(who)}, {demands.n_resources}), a row for each tenant; "
            f"got ({rows.n_tenants}, {rows.n_resources})"
        )
    if who.min() < 0 or who.max() >= demands.n_tenants:
        raise ModelError.of(
            "tenants", f"must be numbered 0..{demands.n_tenants - 1}; got {who.min()}..{who.max()}"
        )
    if len(np.unique(who)) < len(who):
        raise ModelError.of("tenants", "must be named once each; keep the last change of each")
    return who.astype(np.int64)


def replaced_rows(demands: SparseDemands, tenants: NDArray[np.int64], rows: SparseDemands) -> SparseDemands:
    """Demands with new rows; they share ``columns`` with the old ones if the same resources are demanded."""
    kind = np.result_type(demands.values, rows.values)
    if _same_columns(tenants, demands.starts, demands.columns, rows.starts, rows.columns):
        starts, columns, values = demands.starts, demands.columns, demands.values.astype(kind)
    else:
        sizes = np.diff(demands.starts)
        sizes[tenants] = np.diff(rows.starts)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        columns, values = np.empty(starts[-1], dtype=np.int32), np.empty(starts[-1], dtype=kind)
        stay = np.ones(demands.n_tenants, dtype=np.bool_)
        stay[tenants] = False
        _move_rows(stay, demands.starts, demands.columns, starts, columns)
        _move_rows(stay, demands.starts, demands.values, starts, values)
        _put_rows(tenants, starts, columns, rows.starts, rows.columns)
    _put_rows(tenants, starts, values, rows.starts, rows.values)
    return SparseDemands.of_checked(starts, columns, values, demands.n_resources)


@stored(nogil=True)
def _same_columns(
    tenants: NDArray[np.int64], starts: Offsets, columns: IndexArray, ours: Offsets, new: IndexArray
) -> bool:
    """Whether the rows of some tenants name the same columns as new ones."""
    for k in range(len(tenants)):
        first = starts[tenants[k]]
        if starts[tenants[k] + 1] - first != ours[k + 1] - ours[k]:
            return False
        for e in range(ours[k], ours[k + 1]):
            if columns[first + e - ours[k]] != new[e]:
                return False
    return True


@stored(nogil=True)
def _put_rows(
    tenants: NDArray[np.int64], starts: Offsets, entries: NDArray[Any], ours: Offsets, new: NDArray[Any]
) -> None:
    for k in range(len(tenants)):
        for e in range(ours[k], ours[k + 1]):
            entries[starts[tenants[k]] + e - ours[k]] = new[e]


@stored(nogil=True)
def _move_rows(
    stay: Flags, old: Offsets, entries: NDArray[Any], starts: Offsets, moved: NDArray[Any]
) -> None:
    """Write the rows of the tenants that stay to their new places."""
    for i in range(len(stay)):
        if stay[i]:
            for e in range(old[i], old[i + 1]):
                moved[starts[i] + e - old[i]] = entries[e]
