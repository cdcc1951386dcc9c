r"""The points of a sweep: the product of labelled axes and of the policies, in a fixed order.

With axes of :math:`n_1, \dots, n_d` values and :math:`p` policies, point number :math:`k` is the one that
the row-major order of the shape :math:`(n_1, \dots, n_d, p)` gives, the policy being last. Everything that
belongs to a point is derived from :math:`k` and nothing else, so it does not matter who computes a point,
or when.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capacity.means.words import method_label
from fairness.errors import ModelError

__all__ = ["POLICY", "RESERVED", "Grid"]

POLICY = "policy"
RESERVED = (POLICY, "error")
"""Names in the Dataset that no axis and no output may have."""

Label = bool | int | float | str


@dataclass(frozen=True)
class Grid:
    """Axes and policies of a sweep, validated.

    Attributes
    ----------
    values : dict of str to tuple
        What the model is given, by name of the axis.
    labels : dict of str to tuple
        Coordinates of the axes, and last of the policies: distinct numbers or strings.
    policies : tuple
        In the order of their labels.
    """

    values: dict[str, tuple[Any, ...]]
    labels: dict[str, tuple[Label, ...]]
    policies: tuple[Any, ...]

    @classmethod
    def of(cls, policies: Any, over: Any, argument: str = "policies") -> Grid:
        """Grid of the arguments of :func:`capacity.sweeping.sweep.sweep`; ModelError if they make none.

        ``argument`` is what the caller calls the policies.
        """
        if not isinstance(over, Mapping):
            raise ModelError.of(
                "over",
                f"must map names of dimensions to their values, for example {{'load': [0.5, 0.9]}}; got "
                f"{over!r}",
            )
        values: dict[str, tuple[Any, ...]] = {}
        labels: dict[str, tuple[Label, ...]] = {}
        for name, axis in over.items():
            if not isinstance(name, str) or not name.isidentifier():
                raise ModelError.of("over", f": dimensions are keywords of the model, so names; got {name!r}")
            if name in RESERVED:
                raise ModelError.of(
                    "over", f": {name!r} is a name of the result itself; call the dimension otherwise"
                )
            values[name], labels[name] = _axis(name, axis)
        named = _policies(policies, argument)
        labels[POLICY] = tuple(named)
        return cls(values, labels, tuple(named.values()))

    @property
    def dims(self) -> tuple[str, ...]:
        """Names of the dimensions, the policy last."""
        return tuple(self.labels)

    @property
    def shape(self) -> tuple[int, ...]:
        """Points along each dimension."""
        return tuple(map(len, self.labels.values()))

    @property
    def size(self) -> int:
        """Number of points."""
        return math.prod(self.shape)

    def place(self, index: int) -> tuple[int, ...]:
        """Position of a point along the dimensions."""
        return tuple(int(k) for k in np.unravel_index(index, self.shape))

    def keywords(self, index: int) -> dict[str, Any]:
        """What the model is given at a point."""
        return {
            name: axis[k] for (name, axis), k in zip(self.values.items(), self.place(index), strict=False)
        }

    def policy(self, index: int) -> Any:
        """Policy of a point."""
        return self.policies[index % len(self.policies)]

    def describe(self, index: int) -> str:
        """A point in words, by its labels."""
        return ", ".join(
            f"{name}={axis[k]!r}"
            for (name, axis), k in zip(self.labels.items(), self.place(index), strict=True)
        )

    def coordinates(self) -> dict[str, NDArray[Any]]:
        """Coordinates of the dimensions as arrays."""
        return {name: np.asarray(axis) for name, axis in self.labels.items()}


def _axis(name: str, axis: Any) -> tuple[tuple[Any, ...], tuple[Label, ...]]:
    """Values and labels of one axis."""
    # A set has another order in the next process, and with it every point would have another number.
    if isinstance(axis, str | bytes | Set) or not isinstance(axis, Iterable):
        raise ModelError(f"over[{name!r}] must be a sequence of values; got {axis!r}")
    given = list(axis)
    values = tuple(axis.values()) if isinstance(axis, Mapping) else tuple(given)
    if not values:
        raise ModelError(f"over[{name!r}] is empty; give at least one value")
    labels = tuple(_label(name, value) for value in given)
    kinds = {_kind(label) for label in labels}
    if len(kinds) > 1:
        raise ModelError(f"over[{name!r}] mixes {' and '.join(sorted(kinds))}; give values of one kind")
    if np.asarray(labels).dtype.kind == "O":
        raise ModelError(
            f"over[{name!r}] has integers beyond 64 bits; give floats, or a mapping label -> value"
        )
    # As the coordinate will hold them: floats where some are.
    [(label, often)] = Counter(np.asarray(labels).tolist()).most_common(1)
    if often > 1:
        raise ModelError.of(f"over[{name!r}]", f"has {label!r} more than once; coordinates must be distinct")
    return values, labels


def _label(name: str, value: Any) -> Label:
    """Coordinate of one value as a plain Python object."""
    plain = value.item() if isinstance(value, np.generic) else value
    if not isinstance(plain, bool | int | float | str):
        raise ModelError(
            f"over[{name!r}] must list numbers or strings; got {value!r}; for values of another type give a "
            "mapping label -> value"
        )
    if isinstance(plain, float) and math.isnan(plain):
        raise ModelError(f"over[{name!r}] has a NaN, which no coordinate can be; leave it out")
    return plain


def _kind(label: Label) -> str:
    return "booleans" if isinstance(label, bool) else "strings" if isinstance(label, str) else "numbers"


def _policies(policies: Any, argument: str) -> dict[str, Any]:
    """Policies by label."""
    if isinstance(policies, Mapping):
        named = dict(policies)
        for label in named:
            if not isinstance(label, str):
                raise ModelError.of(argument, f": labels must be strings; got {label!r}")
    elif isinstance(policies, str | Set) or callable(policies) or not isinstance(policies, Iterable):
        raise ModelError.of(argument, f"must be a list of policies or map labels to them; got {policies!r}")
    else:
        asked = list(policies)
        labels = [method_label(policy, argument) for policy in asked]
        doubled = next((label for label in labels if labels.count(label) > 1), None)
        if doubled is not None:
            raise ModelError(
                f"two {argument} are called {doubled!r}; tell them apart by a dict, for example "
                f"{{'first': ..., 'second': ...}}"
            )
        named = dict(zip(labels, asked, strict=True))
    if not named:
        raise ModelError.of(argument, "is empty; give at least one")
    return named
