"""One point of a sweep: computed by a worker, told in one line of text.

The worker answers with the *record* of the point as text (:mod:`fairness.display.storage`). The Dataset is
made of records only, whether they come from a worker or from a checkpoint, and that makes a resumed sweep
equal to an uninterrupted one bit by bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from capacity.means.chains import ByChain
from capacity.means.formulas import ByRecursion
from capacity.means.ladder import answered
from capacity.means.method import Effort
from capacity.means.words import BALANCED, BOUND, METHODS, OPTIMAL
from fairness.display.storage import dumps
from fairness.errors import FairqueuesError, ModelError
from queueing.model.system import System

__all__ = ["STANDARD", "Point", "Record", "StandardOutputs", "Variable", "compute"]

STANDARD = {
    "mean_jobs": ("job_class",),
    "mean_durations": ("job_class",),
    "service_rates": ("job_class",),
    "tail_mass": (),
    "residual": (),
}
"""Outputs that can be asked by name, with their dimensions; of :class:`queueing.results.Stationary`."""

WITHOUT = {BALANCED: ("residual",), BOUND: ("tail_mass", "residual")}
"""Outputs that a method does not have, NaN then: no equations are solved, no states are left out."""

_NAMES = {"job_class": "job_classes", "resource": "resources", "server": "servers"}


@dataclass(frozen=True)
class StandardOutputs:
    """Outputs by name, taken from the means of a system under a method; of a chain, with these options."""

    names: tuple[str, ...]
    options: tuple[tuple[str, Any], ...] = ()

    def __call__(self, system: System, policy: Any) -> dict[str, Any]:
        """Compute the law once and take the outputs from it."""
        law = answered(system, policy, (ByRecursion(), ByChain(**dict(self.options))), Effort()).result
        without = WITHOUT.get(policy, ()) if isinstance(policy, str) else ()
        return {
            name: (STANDARD[name], math.nan if name in without else getattr(law, name)) for name in self.names
        }


@dataclass(frozen=True)
class Point:
    """What a worker is told about a point; ``seed`` is None where the outputs take no generator."""

    index: int
    place: str
    keywords: dict[str, Any]
    policy: Any
    seed: np.random.SeedSequence | None


@dataclass(frozen=True)
class Variable:
    """One output of one point."""

    dims: tuple[str, ...]
    values: NDArray[Any]


@dataclass(frozen=True)
class Record:
    """What is known about a point: its outputs and the labels of their dimensions, or an error."""

    index: int
    error: str = ""
    outputs: dict[str, Variable] = field(default_factory=dict)
    labels: dict[str, NDArray[Any]] = field(default_factory=dict)


def compute(model: Callable[..., Any], outputs: Callable[..., Any], point: Point, record_errors: bool) -> str:
    """Text of the record of a point."""
    try:
        try:
            instance = model(**point.keywords)
            _require_system(outputs, instance, point.policy)
            streams = {} if point.seed is None else {"rng": np.random.default_rng(point.seed)}
            raw = outputs(instance, point.policy, **streams)
        except _Misuse:
            raise
        except FairqueuesError as error:
            if not record_errors:
                raise
            return dumps(Record(point.index, f"{type(error).__name__}: {error}"))
        return dumps(_record(point.index, raw, instance))
    except Exception as error:
        error.add_note(f"sweep: at the point {point.place}")
        raise


class _Misuse(ModelError):
    """The sweep itself was called wrongly; never recorded as the error of one point."""


def _require_system(outputs: Callable[..., Any], instance: Any, policy: Any) -> None:
    if not isinstance(outputs, StandardOutputs):
        return
    if not isinstance(instance, System):
        raise _Misuse(
            f"outputs {', '.join(outputs.names)} are those of a queueing.System, but the model built "
            f"{type(instance).__name__}; give a function as outputs"
        )
    if isinstance(policy, str) and policy in METHODS and instance.is_cluster:
        raise _Misuse(
            f"policies: {policy!r} is known for one pool, but the model built a cluster; leave it out"
        )
    if isinstance(policy, str) and policy == OPTIMAL:
        raise _Misuse(
            f"policies: {policy!r} is for solve and load_curves; give a function as outputs that calls "
            "queueing.optimal"
        )


def _record(index: int, raw: Any, instance: Any) -> Record:
    """Outputs as the user's function returned them, checked."""
    if not isinstance(raw, Mapping):
        raise ModelError.of("outputs", f"must return a mapping of names to values; got {type(raw).__name__}")
    record = Record(index)
    for name, value in raw.items():
        if not isinstance(name, str):
            raise ModelError(f"outputs: names must be strings; got {name!r}")
        variable, labels = _variable(name, value, instance)
        for dim, size in zip(variable.dims, variable.values.shape, strict=True):
            others = [v.values.shape[v.dims.index(dim)] for v in record.outputs.values() if dim in v.dims]
            if others and others[0] != size:
                raise ModelError(
                    f"outputs: {name!r} has {size} entries along {dim!r}, another output {others[0]}; give "
                    "different dimensions different names"
                )
            if dim in labels and dim in record.labels and not np.array_equal(labels[dim], record.labels[dim]):
                raise ModelError(f"outputs: {name!r} labels {dim!r} otherwise than another output")
        record.outputs[name] = variable
        record.labels.update(labels)
    return record


def _variable(name: str, value: Any, instance: Any) -> tuple[Variable, dict[str, NDArray[Any]]]:
    """One output and the labels of its dimensions."""
    labels: dict[str, NDArray[Any]] = {}
    if isinstance(value, xr.DataArray):
        dims = tuple(map(str, value.dims))
        labels = {dim: _plain(name, value.coords[dim].values) for dim in dims if dim in value.coords}
        values = value.values
    elif isinstance(value, tuple) and len(value) == 2 and _names_dims(value[0]):
        dims = (value[0],) if isinstance(value[0], str) else tuple(value[0])
        values = value[1]
    else:
        dims, values = (), value
    array = _plain(name, values)
    if array.ndim != len(dims):
        raise ModelError(
            f"outputs: {name!r} has shape {array.shape}, but dimensions {dims}; return a number, a pair of "
            "dimensions and values such as ('job_class', values), or a DataArray"
        )
    if len(set(dims)) < len(dims):
        raise ModelError(f"outputs: {name!r} has dimensions {dims}; give each another name")
    known = getattr(instance, "problem", instance)
    for dim, size in zip(dims, array.shape, strict=True):
        names = getattr(known, _NAMES.get(dim, ""), None)
        if names is not None and dim not in labels:
            if len(names) != size:
                raise ModelError(
                    f"outputs: {name!r} has {size} entries along {dim!r}, but the model has {len(names)}: "
                    f"{', '.join(names)}"
                )
            labels[dim] = np.asarray(names)
    return Variable(dims, array), labels


def _names_dims(dims: Any) -> bool:
    return isinstance(dims, str) or (isinstance(dims, tuple | list) and all(isinstance(d, str) for d in dims))


def _plain(name: str, values: Any) -> NDArray[Any]:
    """Values as an array of 64-bit numbers, booleans or strings, little-endian."""
    try:
        array = np.asarray(values)
    except ValueError:
        array = np.asarray(None)
    kind = array.dtype.kind
    if kind not in "biufU":
        raise ModelError(
            f"outputs: {name!r} must be a number, a boolean, a string or an array of them; got "
            f"{type(values).__name__} of dtype {array.dtype}"
        )
    wide = array.astype(f"{kind}8") if kind in "iuf" else array
    return np.ascontiguousarray(wide, dtype=wide.dtype.newbyteorder("<")).reshape(array.shape)
