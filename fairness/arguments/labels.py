r"""Labelled data: tables of pandas and arrays of xarray are read by their labels, never by their order.

A ``DataFrame`` of demands names its classes (index) and resources (columns), a ``Series`` of capacities its
resources. Along an axis of a model all labelled arguments must carry the same labels, as text, and each is
put into the order of the names:

* names that are given explicitly, else the labels of the first argument (demands), else those of any other;
* what has no labels (a list, an array) is taken in the order of the names; so if the first argument has none,
  those that have must agree in their order;
* the numbers 0, 1, ..., n - 1 (a default index, perhaps sorted by something else) are positions, not names;
* dims of a DataArray called ``job_class``, ``server`` and ``resource`` may come in any order.

Labels that are missing, unknown or doubled are refused by name.
"""

from __future__ import annotations

import numbers
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairness.errors import ModelError

__all__ = ["as_named", "by_label", "is_labelled", "listed", "unnamed"]

DIMS = {
    "job_classes": "job_class",
    "servers": "server",
    "resources": "resource",
    "users": "user",
    "queues": "queue",
}
"""What a DataArray calls the dimensions of a model."""

Names = Sequence[str] | None


def is_labelled(values: Any) -> bool:
    """Whether values are a table of pandas or an array of xarray."""
    if type(values) in (np.ndarray, list, tuple, float, int):
        return False
    return _is_one_of(values, "pandas", "Series", "DataFrame") or _is_one_of(values, "xarray", "DataArray")


def _is_one_of(values: Any, module: str, *types: str) -> bool:
    library = sys.modules.get(module)  # what is not imported has made no object
    return library is not None and isinstance(values, tuple(getattr(library, name) for name in types))


def as_named(name: str, values: Any, model: Any, *axes: str) -> Any:
    """Values with entries per name of a model, in the model's order; unchanged if they have no labels.

    Parameters
    ----------
    name : str
        Of the argument, for messages.
    values : array_like
        Its last dimensions are the axes.
    model : Problem or Cluster
    *axes : {"job_classes", "servers", "resources"}

    Raises
    ------
    ModelError
        If the labels are not the names of the model.

    Examples
    --------
    >>> import pandas as pd
    >>> from fairness import Problem
    >>> pool = Problem([[1, 4]], [9, 18], resources=["cpu", "ram"])
    >>> as_named("costs", pd.Series({"ram": 3.0, "cpu": 5.0}), pool, "resources")
    array([5., 3.])
    """
    if not is_labelled(values):
        return values
    names = {axis: getattr(model, axis) for axis in axes}
    return by_label(names, {name: (values, axes)})[1][0]


def unnamed(name: str, values: Any, *axes: str) -> Any:
    """Values of a policy, which meets its model later: a plain array; labels that are names are refused."""
    if not is_labelled(values):
        return values
    table = _Table.of(name, values, axes)
    for axis in axes:
        if labels := table.named(axis):
            raise ModelError.of(
                name,
                f"has labels for its {axis} ({listed(labels)}), but a policy knows no {axis} until "
                f"it is asked about a model; put {name} into the order of the model, and pass "
                f"{name}.to_numpy()",
            )
    return table.ordered({})


def by_label(
    names: Mapping[str, Names], arguments: Mapping[str, tuple[Any, tuple[str, ...]]]
) -> tuple[dict[str, Names], list[Any]]:
    """Names of all axes, and all arguments as plain arrays in their order.

    Parameters
    ----------
    names : mapping from axis to sequence of str or None
        Names that are given explicitly.
    arguments : mapping from name to (values, axes)
        The axes are the last dimensions of the values; the first argument comes first where names are sought.

    Returns
    -------
    names : dict
        As given, or from labels; None where there are none.
    values : list
        Those of the arguments: arrays where they had labels, else unchanged.

    Raises
    ------
    ModelError
        If labels are doubled, are not the names, or leave the order of an argument without labels open.
    """
    if not any(is_labelled(values) for values, _ in arguments.values()):
        return dict(names), [values for values, _ in arguments.values()]
    tables = [_Table.of(name, values, axes) for name, (values, axes) in arguments.items()]
    found = {axis: _names(axis, given, tables) for axis, given in names.items()}
    return found, [table.ordered(found) for table in tables]


@dataclass(frozen=True)
class _Table:
    """Values of an argument, and the labels of each of its axes that has any."""

    name: str
    values: Any
    axes: tuple[str, ...]
    labels: dict[str, list[Any]]

    @staticmethod
    def of(name: str, values: Any, axes: tuple[str, ...]) -> _Table:
        if not is_labelled(values):
            return _Table(name, values, axes, {})
        if _is_one_of(values, "xarray", "DataArray"):
            values = _transposed(values, axes)
            index = [values.coords[d].values.tolist() if d in values.coords else None for d in values.dims]
        else:
            index = [list(axis) for axis in values.axes]
        plain = values.to_numpy()
        # Leading dimensions number states; too few dimensions are for the argument's own check to refuse.
        last = index[len(index) - len(axes) :] if len(index) >= len(axes) else [None] * len(axes)
        labels = {axis: row for axis, row in zip(axes, last, strict=True) if row is not None}
        for axis, row in labels.items():
            for place, label in enumerate(row):
                if _is_missing(label):
                    raise ModelError.of(
                        name,
                        f"has no label at {place} of its {axis}, but {label!r}; give each a name, "
                        f"or pass {name}.to_numpy()",
                    )
            if len({str(label) for label in row}) < len(row):
                texts = [str(label) for label in row]
                twice = next(text for text in texts if texts.count(text) > 1)
                raise ModelError.of(name, f"has the label {twice!r} more than once among its {axis}")
        return _Table(name, plain, axes, labels)

    def named(self, axis: str) -> list[str] | None:
        """Labels of an axis as text, if they are names."""
        row = self.labels.get(axis)
        return None if row is None or _are_positions(row) else [str(label) for label in row]

    def ordered(self, names: Mapping[str, Names]) -> Any:
        """Values with every labelled axis in the order of its names."""
        array = self.values
        for k, axis in enumerate(self.axes):
            if axis not in self.labels:
                continue
            row, wanted = self.labels[axis], names.get(axis)
            texts = [str(label) for label in row]
            if wanted is not None and sorted(texts) == sorted(wanted):
                order = [texts.index(name) for name in wanted]
            elif _are_positions(row):
                order = np.argsort(row).tolist()
            else:
                raise _mismatch(self.name, axis, texts, list(wanted or ()))
            array = np.take(array, order, axis=np.ndim(array) - len(self.axes) + k)
        return array


def _names(axis: str, given: Names, tables: list[_Table]) -> Names:
    """Names of an axis, from what was given or from the labels of the arguments that have it."""
    if given is not None:
        # What is no sequence of names is refused where the names are checked.
        is_list = not isinstance(given, str) and isinstance(given, Sequence | np.ndarray)
        return tuple(str(name) for name in given) if is_list else given
    holders = [table for table in tables if axis in table.axes]
    found = [(table.name, labels) for table in holders if (labels := table.named(axis)) is not None]
    if not found:
        return None
    (first, order), lead = found[0], holders[0].name
    for name, labels in found[1:]:
        if first != lead and labels != order and sorted(labels) == sorted(order):
            raise ModelError(
                f"{first} and {name} list the {axis} in different orders ({listed(order)}; "
                f"{listed(labels)}), and {lead} has no labels to tell which is its own; label it, or give "
                f"{axis} in its order",
                argument=first,
            )
    return tuple(order)


def _mismatch(name: str, axis: str, labels: list[str], names: list[str]) -> ModelError:
    missing = [text for text in names if text not in labels]
    extra = [text for text in labels if text not in names]
    parts = [f"lacks {listed(missing)}"] * bool(missing) + [f"has {listed(extra)} besides"] * bool(extra)
    return ModelError(
        f"labels of {name} must be the {axis} {listed(names)}, in any order, but it {' and '.join(parts)}; "
        f"rename them, or pass {name}.to_numpy() if it is in this order",
        argument=name,
    )


def listed(texts: Sequence[str]) -> str:
    """Names in quotes; of many the first."""
    shown = ", ".join(repr(text) for text in texts[:6])
    return shown if len(texts) <= 6 else f"{shown}, ... ({len(texts)} in all)"


def _is_missing(label: Any) -> bool:
    """Whether a label is what pandas writes for none: None, NaN, NaT or NA."""
    return label is None or type(label).__name__ in ("NAType", "NaTType") or bool(label != label)


def _are_positions(labels: list[Any]) -> bool:
    """Whether labels are 0, 1, ..., n - 1 in some order."""
    whole = all(isinstance(label, numbers.Integral) and not isinstance(label, bool) for label in labels)
    return whole and sorted(labels) == list(range(len(labels)))


def _transposed(values: Any, axes: tuple[str, ...]) -> Any:
    """A DataArray with the dims of the axes, where they have their usual names, last and in this order."""
    dims = [DIMS[axis] for axis in axes]
    return values.transpose(..., *dims) if set(dims) <= set(values.dims) else values
