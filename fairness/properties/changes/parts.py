"""What the changes of a model have in common: exact entries, models with parts taken away, nearby numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from fairness.errors import ModelError
from fairness.model.problem import Problem
from fairness.properties.protocol.arithmetic import as_given, entry, given_gamma, row_text
from fairness.properties.protocol.property import Change, Model, Number, Numbers

__all__ = [
    "Row",
    "changed",
    "distinct_users",
    "divisible",
    "entries",
    "is_index",
    "length",
    "nearby",
    "only",
    "rebuilt",
    "set_fields",
    "varied",
    "without",
]

Row = tuple[Number, ...]
T = TypeVar("T")


def set_fields(change: Change, **values: Any) -> None:
    """Normalise fields of a frozen dataclass while it is made."""
    for name, value in values.items():
        object.__setattr__(change, name, value)


def distinct_users(users: Iterable[int]) -> tuple[int, ...]:
    """Users as a tuple of ints, at least one, none twice."""
    result = tuple(users) if isinstance(users, Iterable) else ()
    whole = all(is_index(n) for n in result)
    if not result or not whole or len(set(result)) < len(result):
        raise ModelError.of("users", f"must be distinct indices of classes, at least one; got {users!r}")
    return tuple(int(n) for n in result)


def is_index(value: Any) -> bool:
    """Whether this is a whole number from 0 on, and no bool."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(value >= 0)


def entries(name: str, values: Iterable[Any]) -> Row:
    """A row of finite numbers >= 0.

    Raises
    ------
    ModelError
        If it is no row or one of them is not.
    """
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ModelError.of(name, f"must be a row of numbers; got {values!r}")
    row = tuple(entry(v) for v in values)
    if not all(0 <= v < math.inf for v in row):
        raise ModelError.of(name, f"must be finite and >= 0; got {row_text(row)}")
    return row


def divisible(values: Numbers) -> Numbers:
    """The numbers with ints as fractions, so that quotients of them are exact."""
    exact = [Fraction(v) if isinstance(v, int) else v for v in values.flat]
    return np.array(exact, dtype=object).reshape(values.shape)


def rebuilt(model: Model, arguments: dict[str, Any]) -> Model:
    """Model with some arguments replaced, without the servers that no class can use then."""
    if isinstance(model, Problem):
        return model.replaced(**arguments)
    demands, capacities = as_given(model)
    given = {
        "demands": demands,
        "capacities": capacities,
        "gamma": given_gamma(model),
        "eligible": model.given_eligible,
        **arguments,
    }
    usable = ~((given["demands"] > 0)[:, None, :] & (given["capacities"] == 0)).any(axis=2)
    by_server = {name: given[name] for name in ("gamma", "eligible") if given[name] is not None}
    for values in by_server.values():
        usable &= values > 0
    keep = np.flatnonzero(usable.any(axis=0))
    if 0 < len(keep) < model.n_servers:
        arguments["capacities"] = given["capacities"][keep]
        arguments["servers"] = [model.servers[i] for i in keep]
        arguments |= {name: values[:, keep] for name, values in by_server.items()}
    return model.replaced(**arguments)


def only(model: Model, stay: list[int], arguments: dict[str, Any]) -> Model:
    """Model of some of its classes, with some arguments replaced."""
    arguments |= {
        "demands": as_given(model)[0][stay],
        "weights": model.weights[stay],
        "job_classes": [model.job_classes[n] for n in stay],
    }
    if isinstance(model, Problem):
        arguments["limits"] = model.limits[stay]
    else:
        if model.given_eligible is not None:
            arguments["eligible"] = model.given_eligible[stay]
        gamma = arguments.get("gamma", given_gamma(model))
        if gamma is not None:
            arguments["gamma"] = gamma[stay]
    return rebuilt(model, arguments)


def nearby(value: Number, anchor: Number, rng: np.random.Generator) -> list[Number]:
    """Other values to try for an entry: where it means nothing, half, double, one less, one more."""
    if isinstance(value, float):
        close = [anchor, value / 2, value * 2, value * float(np.exp(rng.normal(0, 0.2)))]
        return [v for v in dict.fromkeys(close) if v != value and math.isfinite(v)]
    unit = Fraction(1, value.denominator) if isinstance(value, Fraction) else 1
    close = [anchor, round(value), value // 2, value - unit, value + unit, 2 * value]
    return [v for v in dict.fromkeys(entry(v) for v in close) if v != value]


def varied(row: Row, anchors: Sequence[Number], rng: np.random.Generator) -> Iterator[Row]:
    """Rows with one entry changed to a nearby one."""
    for k, (value, anchor) in enumerate(zip(row, anchors, strict=True)):
        yield from (changed(row, k, other) for other in nearby(value, anchor, rng))


def length(row: Iterable[Number]) -> float:
    """How long a row is to write: numerators and denominators, added up."""
    return float(sum(abs(v.numerator) + v.denominator if isinstance(v, Fraction) else abs(v) for v in row))


def without(values: tuple[T, ...], k: int) -> tuple[T, ...]:
    """All but one of the values."""
    return values[:k] + values[k + 1 :]


def changed(values: tuple[T, ...], k: int, value: T) -> tuple[T, ...]:
    """The values with another one at a place."""
    return (*values[:k], value, *values[k + 1 :])
