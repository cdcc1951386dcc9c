"""Heat maps of sweeps: one quantity over two labelled axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fairness.display.drawing import given_axes
from fairness.display.lettering import label
from fairness.display.units import with_unit
from fairness.errors import ModelError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["heat_map"]


def heat_map(values: Any, ax: Axes | None = None, *, contours: Sequence[float] = ()) -> Axes:
    """Draw a quantity over the two dimensions of a sweep.

    Parameters
    ----------
    values : xarray.DataArray with two dimensions
        Such as ``sweep(...)["mean_durations"].sel(policy="DRF", job_class="A")``. The first dimension is
        drawn upwards, the second to the right; missing points stay white. Units in ``attrs["units"]`` are
        shown.
    ax : matplotlib Axes, optional
    contours : sequence of float
        Values whose level lines are drawn, and labelled.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ModelError
        If ``values`` has not two dimensions of numbers, or is no labelled array.

    Examples
    --------
    >>> import xarray as xr
    >>> grid = {"load": [0.3, 0.6, 0.9], "mix": [1, 2]}
    >>> durations = xr.DataArray([[1.4, 1.5], [2.5, 2.6], [9.9, 11.0]], coords=grid, name="mean_durations")
    >>> heat_map(durations, contours=[2, 5]).get_ylabel()
    'load'
    """
    import xarray as xr

    if not isinstance(values, xr.DataArray):
        raise ModelError.of(
            "values",
            f"must be an xarray.DataArray, such as one variable of a sweep; got {type(values).__name__}",
        )
    if values.ndim != 2 or not np.issubdtype(values.dtype, np.number):
        names = ", ".join(map(str, values.dims)) or "none"
        raise ModelError.of(
            "values", f"must hold numbers over two dimensions; its dimensions are {names} (choose with .sel)"
        )
    ax = given_axes(ax)
    up, right = map(str, values.dims)
    x, x_names = _places(values, right)
    y, y_names = _places(values, up)
    mesh = ax.pcolormesh(x, y, values.to_numpy(), shading="nearest", cmap="viridis")
    shown = with_unit(str(values.name or "value").replace("_", " "), values.attrs)
    ax.figure.colorbar(mesh, ax=ax, label=label(shown))
    if len(contours):
        lines = ax.contour(x, y, values.to_numpy(), levels=sorted(contours), colors="white")
        ax.clabel(lines)
    for labels, axis in ((x_names, ax.xaxis), (y_names, ax.yaxis)):
        if labels is not None:
            axis.set_ticks(range(len(labels)), list(map(label, labels)))
    ax.set(xlabel=label(right.replace("_", " ")), ylabel=label(up.replace("_", " ")))
    return ax


def _places(values: Any, dimension: str) -> tuple[np.ndarray, list[str] | None]:
    """Where the labels of a dimension stand: at their numbers, or side by side with their names."""
    labels = values[dimension].to_numpy()
    if np.issubdtype(labels.dtype, np.number):
        return labels.astype(float), None
    return np.arange(len(labels), dtype=float), [str(label) for label in labels]
