"""Records of points to one Dataset with labelled dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from capacity.sweeping.grid import RESERVED, Grid
from capacity.sweeping.points import Record, Variable
from fairness.display.units import described
from fairness.errors import ModelError

__all__ = ["Results"]

NOT_COMPUTED = "not computed"


class Results:
    """Records of the points of a grid; all that have outputs must have the same ones.

    Parameters
    ----------
    grid : Grid
    """

    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        self.records: dict[int, Record] = {}
        self._first: Record | None = None

    def add(self, record: Record) -> None:
        """Take a record in; ModelError if its outputs do not fit those of the first one."""
        if not record.error:
            if self._first is None:
                self._check_names(record)
                self._first = record
            else:
                self._compare(self._first, record)
        self.records[record.index] = record

    def dataset(self, attrs: dict[str, Any]) -> xr.Dataset:
        """All points; outputs are NaN (strings empty) where a point has an error or was not computed."""
        grid = self.grid
        errors = [self.records[k].error if k in self.records else NOT_COMPUTED for k in range(grid.size)]
        variables: dict[str, Any] = {}
        coordinates: dict[str, Any] = {name: (name, axis) for name, axis in grid.coordinates().items()}
        # The lowest point, not the one that came first, so that no order of arrival can show.
        first = min((k for k, record in self.records.items() if not record.error), default=None)
        if first is not None:
            coordinates |= {dim: (dim, labels) for dim, labels in self.records[first].labels.items()}
            for name, variable in self.records[first].outputs.items():
                variables[name] = ((*grid.dims, *variable.dims), self._stacked(name, variable))
        variables["error"] = (grid.dims, np.array(errors, dtype=object).reshape(grid.shape))
        return described(xr.Dataset(variables, coordinates, attrs))

    def _stacked(self, name: str, variable: Variable) -> NDArray[Any]:
        """One output at all points, (*grid.shape, *shape of the output)."""
        done = {k: record.outputs[name].values for k, record in self.records.items() if not record.error}
        dtype = np.result_type(*(values.dtype for values in done.values()))
        fill: Any = "" if dtype.kind == "U" else 0
        if len(done) < self.grid.size and dtype.kind != "U":
            dtype, fill = np.dtype(float), np.nan
        stacked = np.full((self.grid.size, *variable.values.shape), fill, dtype)
        for k, values in done.items():
            stacked[k] = values
        return stacked.reshape(*self.grid.shape, *variable.values.shape)

    def _check_names(self, record: Record) -> None:
        taken = {*self.grid.dims, *RESERVED}
        dims = {dim for variable in record.outputs.values() for dim in variable.dims}
        for name in (*record.outputs, *sorted(dims)):
            if name in taken:
                raise ModelError(f"outputs: {name!r} is already a name of the result; choose another")
        for name in record.outputs:
            if name in dims:
                raise ModelError(f"outputs: {name!r} is both an output and a dimension; rename one")

    def _compare(self, first: Record, record: Record) -> None:
        here, there = self.grid.describe(record.index), self.grid.describe(first.index)
        if set(record.outputs) != set(first.outputs):
            odd = sorted(set(record.outputs) ^ set(first.outputs))
            raise ModelError(
                f"outputs: every point must have the same ones, but {', '.join(odd)} differ between the "
                f"points {here} and {there}; return NaN for what a point lacks"
            )
        for name, variable in record.outputs.items():
            other = first.outputs[name]
            pairs: tuple[tuple[str, Any, Any], ...] = (
                ("dimensions", variable.dims, other.dims),
                ("shape", variable.values.shape, other.values.shape),
                ("strings", variable.values.dtype.kind == "U", other.values.dtype.kind == "U"),
            )
            for what, mine, theirs in pairs:
                if mine != theirs:
                    raise ModelError(
                        f"outputs: {name!r} has {what} {mine} at the point {here}, but {theirs} at {there}; "
                        "give all points the same, for example by padding with NaN"
                    )
        for dim in {*record.labels, *first.labels}:
            here_labels, there_labels = record.labels.get(dim), first.labels.get(dim)
            if here_labels is None or there_labels is None or not np.array_equal(here_labels, there_labels):
                raise ModelError(
                    f"outputs: dimension {dim!r} is labelled {_told(here_labels)} at the point {here}, but "
                    f"{_told(there_labels)} at {there}; give all points the same labels"
                )


def _told(labels: Any) -> str:
    return "by nothing" if labels is None else np.array2string(labels, threshold=6)
