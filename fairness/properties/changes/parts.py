"""What the changes of a model have in common: exact entries, models with parts taken away, nearby numbers."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from fairness.errors import ModelError
from fairness.model.problem import Problem
from fairness.properties.protocol.arithmetic import as_given, given_gamma, row_text
from fairness.properties.protocol.property import Change, Model

__all__ = [
    "Number",
    "Row",
    "distinct_users",
    "divisible",
    "entries",
    "entry",
    "is_index",
    "length",
    "mapped",
    "nearby",
    "only",
    "rebuilt",
    "set_fields",
    "without",
]

Number = int | float | Fraction
Row = tuple[Number, ...]


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


def entry(value: Any) -> Number:
    """Python int, Fraction (int where it is one) or float.

    Raises
    ------
    ModelError
        If this is no number.
    """
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Rational):
        fraction = Fraction(value)
        return fraction.numerator if fraction.denominator == 1 else fraction
    if not isinstance(value, numbers.Real):
        raise ModelError(f"demands, amounts and factors must be numbers; got {value!r}")
    return float(value)


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


def divisible(value: Any) -> Number:
    """As :func:`entry`, but integers divide without rounding."""
    number = entry(value)
    return Fraction(number) if isinstance(number, int) else number


def mapped(function: Callable[[Any], Any], values: Any) -> Any:
    """Function of every entry of a nested list or array."""
    if np.ndim(values):
        return [mapped(function, v) for v in values]
    return entry(function(entry(values)))


def rebuilt(model: Model, arguments: dict[str, Any]) -> Model:
    """Model with some arguments replaced, without the servers that no class can use then."""
    if isinstance(model, Problem):
        return model.replaced(**arguments)
    demands, capacities = as_given(model)
    demands, capacities = arguments.get("demands", demands), arguments.get("capacities", capacities)
    gamma = arguments.get("gamma", given_gamma(model))
    allowed = arguments.get("eligible", model.given_eligible)
    wants, lacks = np.array(demands, dtype=float) > 0, np.array(capacities, dtype=float) == 0
    usable = ~(wants[:, None, :] & lacks[None, :, :]).any(axis=2)
    if allowed is not None:
        usable &= allowed
    if gamma is not None:
        usable &= np.array(gamma, dtype=float) > 0
    keep = np.flatnonzero(usable.any(axis=0))
    if 0 < len(keep) < model.n_servers:
        arguments["capacities"] = [capacities[i] for i in keep]
        arguments["servers"] = [model.servers[i] for i in keep]
        if allowed is not None:
            arguments["eligible"] = np.asarray(allowed)[:, keep]
        if gamma is not None:
            arguments["gamma"] = [[row[i] for i in keep] for row in gamma]
    return model.replaced(**arguments)


def only(model: Model, stay: list[int], arguments: dict[str, Any]) -> Model:
    """Model of some of its classes, with some arguments replaced."""
    demands = as_given(model)[0]
    arguments |= {
        "demands": [demands[n] for n in stay],
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
            arguments["gamma"] = [gamma[n] for n in stay]
    return rebuilt(model, arguments)


def nearby(value: Number, anchor: Number, rng: np.random.Generator) -> list[Number]:
    """Other values to try for an entry: where it means nothing, half, double, one less, one more."""
    if isinstance(value, float):
        close = [anchor, value / 2, value * 2, value * float(np.exp(rng.normal(0, 0.2)))]
        return [v for v in dict.fromkeys(close) if v != value and math.isfinite(v)]
    unit = Fraction(1, value.denominator) if isinstance(value, Fraction) else 1
    close = [anchor, round(value), value // 2, value - unit, value + unit, 2 * value]
    return [v for v in dict.fromkeys(entry(v) for v in close) if v != value]


def length(row: Iterable[Number]) -> float:
    """How long a row is to write: numerators and denominators, added up."""
    return float(sum(abs(v.numerator) + v.denominator if isinstance(v, Fraction) else abs(v) for v in row))


def without(values: tuple[Any, ...], k: int) -> tuple[Any, ...]:
    """All but one of the values."""
    return values[:k] + values[k + 1 :]
