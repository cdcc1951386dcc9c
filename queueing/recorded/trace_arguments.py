"""What callers hand in as a recorded cluster, checked: times, demands, and where tasks of a type may run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairness.arguments.validation import (
    FloatArray,
    checked_names,
    float_array,
    frozen,
    require,
    require_whole,
)
from fairness.errors import ModelError

__all__ = ["checked_models", "checked_times", "checked_types"]


def checked_times(arrivals: ArrayLike, durations: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Arrivals, which do not decrease, and durations of the tasks, of which there is one at least."""
    times, lasting = float_array("arrivals", arrivals, 1), float_array("durations", durations, 1)
    if not len(times):
        raise ModelError.of("arrivals", "lists no task; a trace holds at least one")
    require("arrivals", times, np.isfinite(times), "finite")
    if (back := np.flatnonzero(times[1:] < times[:-1])).size:
        k = int(back[0]) + 1
        raise ModelError.of(
            "arrivals",
            f"must not decrease; task {k} (counted from 0) arrives at {times[k]:g}, after one at "
            f"{times[k - 1]:g}; sort the tasks by arrival",
            k,
        )
    require("durations", lasting, np.isfinite(lasting) & (lasting > 0), "finite and > 0 seconds")
    return times, lasting


def checked_types(
    types: ArrayLike, resources: tuple[str, ...], devices: int | str | None
) -> tuple[FloatArray, int | None]:
    """Demand vectors, and the place of the resource that is counted in devices, if one is."""
    demands = float_array("types", types, 2)
    place = _place(devices, resources)
    if demands.shape[1] != len(resources) or not len(demands):
        raise ModelError.of(
            "types",
            f"must have shape (n_types, {len(resources)}), one column per resource; got {demands.shape}",
        )
    require("types", demands, np.isfinite(demands) & (demands >= 0), "finite and >= 0")
    if not (some := demands.any(axis=1)).all():
        k = int(np.argmin(some))
        raise ModelError.of("types", f"demands nothing in row {k}; leave such tasks out", k)
    if place is not None:
        column = demands[:, place]
        whole = (column < 1) | (column == np.floor(column))
        if not whole.all():
            k = int(np.argmin(whole))
            raise ModelError.of(
                "types",
                f"demands {column[k]:g} of {resources[place]!r} in row {k}: a task takes a part of one "
                "device, or whole ones",
                k,
                place,
            )
    return demands, place


def checked_models(
    models: Sequence[str] | None, eligible: ArrayLike | None, types: FloatArray
) -> tuple[tuple[str, ...], NDArray[np.bool_] | None]:
    """Names of the models of nodes and where each type may run, if it is said; no two types are alike."""
    names, allowed = _eligibility(models, eligible, len(types))
    rows = types if allowed is None else np.hstack([types, allowed])
    _, first, which = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    if len(first) < len(rows):
        own = first[which.ravel()]
        k = int(np.argmax(own != np.arange(len(rows))))
        raise ModelError.of("types", f"must be distinct; row {k} repeats row {own[k]}", k)
    return names, allowed


def _eligibility(
    models: Sequence[str] | None, eligible: ArrayLike | None, n_types: int
) -> tuple[tuple[str, ...], NDArray[np.bool_] | None]:
    if (models is None) != (eligible is None):
        raise ModelError.of("models", "and eligible_models go together: names, and one column for each")
    if models is None or eligible is None:
        return (), None
    names = checked_names("models", models, len(models), "model")
    allowed = np.array(eligible)
    if allowed.dtype != np.bool_ or allowed.shape != (n_types, len(names)):
        raise ModelError.of(
            "eligible_models",
            f"must hold True and False, of shape (n_types, n_models) = {(n_types, len(names))}; "
            f"got {allowed.dtype} of shape {allowed.shape}",
        )
    if not (some := allowed.any(axis=1)).all():
        k = int(np.argmin(some))
        raise ModelError.of("eligible_models", f"lets type {k} run nowhere; leave its tasks out", k)
    return names, frozen(allowed)


def _place(devices: int | str | None, resources: tuple[str, ...]) -> int | None:
    if isinstance(devices, str):
        if devices not in resources:
            raise ModelError.of("devices", f"must be one of {', '.join(resources)}; got {devices!r}")
        return resources.index(devices)
    return None if devices is None else require_whole("devices", devices, 0, len(resources) - 1)
