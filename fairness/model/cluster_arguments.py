"""What callers hand in as a cluster, checked: where its classes may run, and how many tasks alone.

The mathematics, and its source, stand in :mod:`fairness.model.cluster`. What leaves the range of floats is
refused before anything divides by it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairness.arguments.validation import FloatArray, float_array, refuse_foreign, require
from fairness.errors import ModelError

__all__ = ["alone", "checked_eligibility", "checked_gamma"]

Names = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]
"""Of the classes, the servers and the resources."""


def alone(demands: FloatArray, capacities: FloatArray) -> FloatArray:
    """Tasks of each class alone on each server, (n_classes, n_servers): eq. (7)."""
    tasks = np.full((demands.shape[0], capacities.shape[0]), np.inf)
    with np.errstate(over="ignore"):  # refused by _in_range
        for r in range(demands.shape[1]):
            wants = np.flatnonzero(demands[:, r])
            if len(wants) == len(demands):  # nothing to pick out, which takes longer
                np.minimum(tasks, capacities[:, r] / demands[:, r, None], out=tasks)
            else:
                tasks[wants] = np.minimum(tasks[wants], capacities[:, r] / demands[wants, r][:, None])
    return tasks


def checked_eligibility(eligible: ArrayLike | None, shape: tuple[int, int]) -> NDArray[np.bool_] | None:
    """Placement constraints as a boolean array that nobody can change; None without any."""
    if eligible is None:
        return None
    refuse_foreign("eligible", eligible)
    try:
        given = np.asarray(eligible)
    except ValueError as error:
        raise ModelError.of("eligible", f"must have rows of equal length: {error}") from None
    if given.shape != shape:
        raise ModelError.of(
            "eligible", f"must have shape (n_classes, n_servers) = {shape}; got {given.shape}"
        )
    if given.dtype != bool and not np.isin(given, (0, 1)).all():
        raise ModelError.of("eligible", "must hold booleans: True where the class may run on the server")
    allowed = given.astype(bool)
    allowed.flags.writeable = False
    return allowed


def checked_gamma(
    gamma: ArrayLike | None,
    demands: FloatArray,
    capacities: FloatArray,
    allowed: NDArray[np.bool_] | None,
    names: Names,
) -> FloatArray:
    """Tasks of each class alone on each server, given or derived; 0 where it may not run.

    Refused are a gamma that contradicts the rest of the model, a class that can run nowhere and a server that
    no class can use.
    """
    classes, hosts, columns = names
    nominal = alone(demands, capacities)
    _in_range(demands, capacities, nominal, names)
    tasks = nominal if gamma is None else float_array("gamma", gamma, ndim=2)
    if gamma is not None:
        if tasks.shape != nominal.shape:
            raise ModelError.of(
                "gamma", f"must have shape (n_classes, n_servers) = {nominal.shape}; got {tasks.shape}"
            )
        require("gamma", tasks, np.isfinite(tasks) & (tasks >= 0), "finite and >= 0", classes, hosts)
        _agree(tasks, nominal, allowed, classes, hosts)
    if allowed is not None:
        tasks = np.where(allowed, tasks, 0.0)
    usable = tasks > 0
    if gamma is not None:
        _speeds_in_range(tasks, nominal, usable, classes, hosts)
    for k in np.flatnonzero(~usable.any(axis=1)):
        argument, why = _why(int(k), hosts, columns, demands, capacities, allowed)
        raise ModelError(f"job class {classes[k]!r} can run nowhere: {why}", argument=argument, index=(k,))
    for i in np.flatnonzero(~usable.any(axis=0)):
        raise ModelError(
            f"no class can use {hosts[i]!r}: none is eligible there and finds all that it demands; "
            "remove the server or make a class eligible",
            argument="capacities",
            index=(i,),
        )
    return tasks


def _in_range(
    demands: FloatArray,
    capacities: FloatArray,
    nominal: FloatArray,
    names: Names,
) -> None:
    """Refuse a demand that over a capacity, or a capacity that over all demands, is not a float."""
    classes, hosts, columns = names
    some, there = demands[demands > 0], capacities[capacities > 0]
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        # If this holds, as it nearly always does, it holds for every quotient.
        if not there.size or (some.max() / there.min() < 1e300 and some.min() / there.max() > 1e-300):
            return
        for r in range(demands.shape[1]):
            share = demands[:, r, None] / capacities[:, r]
            lost = ~np.isfinite(share) | (share == 0) | np.isinf(nominal)
            for k, i in np.argwhere(lost & (demands[:, r, None] > 0) & (capacities[:, r] > 0)):
                raise ModelError(
                    f"demands[{k}, {r}] = {demands[k, r]:g} over capacities[{i}, {r}] = {capacities[i, r]:g} "
                    f"({classes[k]!r}, {hosts[i]!r}, {columns[r]!r}) is beyond the range of floats; "
                    "give this resource another unit",
                    argument="demands",
                    index=(k, r),
                )


def _agree(
    gamma: FloatArray,
    nominal: FloatArray,
    allowed: NDArray[np.bool_] | None,
    classes: tuple[str, ...],
    hosts: tuple[str, ...],
) -> None:
    """Refuse a gamma that contradicts the eligibility or the capacities."""
    clashes = [(nominal == 0, gamma > 0, "lacks a resource that the class demands; set gamma to 0 there")]
    if allowed is not None:
        clashes.append((~allowed, gamma > 0, "is not eligible; set gamma to 0 there or eligible to True"))
        clashes.append(
            (allowed & (nominal > 0), gamma == 0, "is eligible; set gamma > 0 there or eligible to False")
        )
    for state, value, remedy in clashes:
        for k, i in np.argwhere(state & value):
            raise ModelError.of(
                "gamma",
                f"contradicts the model: gamma[{k}, {i}] = {gamma[k, i]:g} for {classes[k]!r} on "
                f"{hosts[i]!r}, but this server {remedy}",
                *(k, i),
            )


def _speeds_in_range(
    gamma: FloatArray,
    nominal: FloatArray,
    usable: NDArray[np.bool_],
    classes: tuple[str, ...],
    hosts: tuple[str, ...],
) -> None:
    """Refuse a gamma whose inverse, or that over the nominal one, is not a float."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        speed = nominal / gamma
        lost = usable & ~(np.isfinite(1.0 / gamma) & np.isfinite(speed) & (speed > 0))
    for k, i in np.argwhere(lost):
        raise ModelError(
            f"gamma[{k}, {i}] = {gamma[k, i]:g} for {classes[k]!r} on {hosts[i]!r}, where demands and "
            f"capacities give {nominal[k, i]:g}: a quotient is beyond the range of floats; "
            "give the tasks another unit",
            argument="gamma",
            index=(k, i),
        )


def _why(
    k: int,
    hosts: tuple[str, ...],
    columns: tuple[str, ...],
    demands: FloatArray,
    capacities: FloatArray,
    allowed: NDArray[np.bool_] | None,
) -> tuple[str, str]:
    """Which argument lets class k run nowhere, and why and what to do."""
    if allowed is not None and not allowed[k].any():
        why = f"eligible[{k}] is False on all servers; make it eligible somewhere or remove the class"
        return "eligible", why
    for i in range(len(hosts)):
        lacking = (demands[k] > 0) & (capacities[i] == 0)
        if (allowed is None or allowed[k, i]) and lacking.any():
            return "demands", (
                f"every server that it may use lacks something it demands ({hosts[i]!r} has no "
                f"{columns[int(np.argmax(lacking))]!r}); add capacity or remove the class"
            )
    return "gamma", f"gamma[{k}] is 0 on all servers; give a positive entry or remove the class"
