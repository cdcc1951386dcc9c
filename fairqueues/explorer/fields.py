"""Numbers as a person types them: each field of the page has a name, a rule and a one-line message.

The names are ``demands-i-j``, ``capacities-j``, ``weights-i``, ``counts-i``, ``mix-i``, ``load``, ``start-i``
and ``reach``; of a cluster also ``eligible-k``, where k, as in ``capacities-k``, counts entries of a table
row after row. The page, the link and the tests use them. A number may be a fraction, 1/3.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np

from fairness.errors import ModelError

__all__ = [
    "ALL_CLASSES",
    "DISTINCT",
    "RULES",
    "SIZES",
    "FieldErrors",
    "field_tables",
    "field_texts",
    "number_text",
    "plain_numbers",
    "read_numbers",
    "require_sizes",
    "short_fraction",
    "tidy",
]

SIZES = {"classes": (2, 30), "resources": (1, 4), "servers": (0, 8)}
"""Fewest and most; without servers there is one pool."""

ALL_CLASSES, DISTINCT = 3, 6
"""Classes up to which the figure of service rates begins with all of them, and has dashes for all of them."""

DENOMINATOR = 999
"""Largest denominator of a number that is written as a fraction."""

SMALLEST, LARGEST = 1e-60, 1e60
"""Of numbers that are not 0: what is computed from them stays within the range of floats."""

LONG = 12
"""Characters beyond which a number is written as a fraction, if it is one of small numbers."""

# Lowest value, whether it is allowed itself, and the rule as a person reads it.
RULES: dict[str, tuple[float, bool, str]] = {
    "demands": (0.0, True, "must be 0 or more"),
    "capacities": (0.0, False, "must be above 0"),
    "weights": (0.0, False, "must be above 0"),
    "counts": (0.0, True, "must be 0 or more"),
    "mix": (0.0, True, "must be 0 or more"),
    "eligible": (0.0, True, "must be 0 (no) or 1 (yes)"),
    "load": (0.0, False, "must be above 0 and below 1"),
    "start": (0.0, True, "must be 0 or more"),
    "reach": (0.0, False, "must be above 0"),
}

NOT_ALL_ZERO = {
    "demands": "a class must demand something",
    "eligible": "a class must be allowed on some server",
    "counts": "at least one job must be present",
    "mix": "at least one class must have traffic",
    "start": "at least one job at the start",
}
"""Rows of fields that must not all be 0, and what is told of one that is."""


class FieldErrors(ModelError):
    """What is wrong in which field; ``messages`` maps names of fields (or "form") to one line each."""

    def __init__(self, messages: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{name}: {message}" for name, message in messages.items()))
        self.messages = dict(messages)


def require_sizes(n_classes: int, n_resources: int, n_servers: int = 0) -> None:
    """FieldErrors ("form") unless the page has room for so many."""
    counts = n_classes, n_resources, n_servers
    for (what, (least, most)), count in zip(SIZES.items(), counts, strict=True):
        if not least <= count <= most:
            raise FieldErrors({"form": f"the explorer shows {least} to {most} {what}; got {count}"})


def field_tables(n_classes: int, n_resources: int, n_servers: int = 0) -> dict[str, list[list[str]]]:
    """Names of all fields by kind, row by row in the order of the page.

    Start and reach are for two classes of one pool only.

    Examples
    --------
    >>> field_tables(2, 1)["demands"], field_tables(2, 1, 3)["capacities"], field_tables(2, 1, 3)["start"]
    ([['demands-0-0'], ['demands-1-0']], [['capacities-0'], ['capacities-1'], ['capacities-2']], [])
    """

    def counted(kind: str, rows: int, columns: int) -> list[list[str]]:
        return [[f"{kind}-{i * columns + j}" for j in range(columns)] for i in range(rows)]

    drifts = n_classes == 2 and not n_servers
    return {
        "demands": [[f"demands-{i}-{j}" for j in range(n_resources)] for i in range(n_classes)],
        "capacities": counted("capacities", max(n_servers, 1), n_resources),
        "eligible": counted("eligible", n_classes, n_servers) if n_servers else [],
        **{kind: counted(kind, 1, n_classes) for kind in ("counts", "weights", "mix")},
        "load": [["load"]],
        "start": counted("start", 1, 2) if drifts else [],
        "reach": [["reach"]] if drifts else [],
    }


def field_texts(
    values: Mapping[str, Any], n_classes: int, n_resources: int, n_servers: int = 0
) -> dict[str, str]:
    """Text of every field, whose values are given by kind, in any shape."""
    found: dict[str, str] = {}
    for kind, rows in field_tables(n_classes, n_resources, n_servers).items():
        if rows:
            numbers = np.ravel(values[kind]).tolist()
            found |= zip(chain.from_iterable(rows), map(number_text, numbers), strict=True)
    return found


def read_numbers(
    texts: Mapping[str, str], n_classes: int, n_resources: int, n_servers: int = 0
) -> dict[str, list[tuple[float, ...]]]:
    """Values of all fields by kind, row by row.

    Parameters
    ----------
    texts : mapping of str to str
        Text of each field; a missing one is empty.
    n_classes, n_resources, n_servers : int

    Returns
    -------
    dict of str to list of tuple of float
        As :func:`field_tables`.

    Raises
    ------
    FieldErrors
        With a message for each field that breaks its rule, or for the first of a row that does.

    Examples
    --------
    >>> halves = {name: "0.5" for rows in field_tables(2, 1).values() for row in rows for name in row}
    >>> read_numbers(halves | {"load": "1.2"}, 2, 1)
    Traceback (most recent call last):
    fairqueues.explorer.fields.FieldErrors: load: unstable: the load must be below 1; got 1.2
    """
    values: dict[str, float] = {}
    wrong: dict[str, str] = {}
    tables = field_tables(n_classes, n_resources, n_servers)
    for kind, rows in tables.items():
        # A server need not have every resource.
        rule = "demands" if n_servers and kind == "capacities" else kind
        for name in chain.from_iterable(rows):
            try:
                values[name] = _number(rule, texts.get(name, "").strip())
            except ValueError as error:
                wrong[name] = str(error)
    for kind, message in NOT_ALL_ZERO.items():
        for row in tables[kind]:
            if all(values.get(name) == 0 for name in row):
                wrong[row[0]] = message
    for name in chain.from_iterable(tables["start"]):
        if values.get(name, 0.0) > values.get("reach", math.inf):
            wrong[name] = f"must lie within the axes (jobs up to {values['reach']:g})"
    if wrong:
        raise FieldErrors(wrong)
    return {kind: [tuple(values[name] for name in row) for row in rows] for kind, rows in tables.items()}


def _number(row: str, text: str) -> float:
    if not text:
        raise ValueError("is empty; enter a number")
    try:
        value = _value(text)
    except ZeroDivisionError:
        raise ValueError(f"divides by zero: {text[:20]!r}") from None
    except ValueError:
        hint = "; write the decimal point as a point" if text.count(",") == 1 else ""
        raise ValueError(f"is not a number: {text[:20]!r}{hint}") from None
    least, closed, rule = RULES[row]
    if row == "eligible" and value not in (0, 1):
        raise ValueError(f"{rule}; got {value:g}")
    if row == "load" and value >= 1:
        raise ValueError(f"unstable: the load must be below 1; got {value:g}")
    if not math.isfinite(value):
        raise ValueError("must be finite")
    if value < least or (value == least and not closed):
        raise ValueError(f"{rule}; got {value:g}")
    if value and not SMALLEST <= value <= LARGEST:
        raise ValueError(f"must be 0 or from {SMALLEST:g} to {LARGEST:g}; take another unit")
    return value


def _value(text: str) -> float:
    """Of a number or of a fraction of two."""
    top, slash, bottom = text.partition("/")
    return float(top) / float(bottom) if slash else float(text)


def short_fraction(value: float) -> Fraction | None:
    """The fraction of small whole numbers that reads back as this very float; None if there is none.

    Examples
    --------
    >>> short_fraction(1 / 3), short_fraction(0.123456789)
    (Fraction(1, 3), None)
    """
    if not math.isfinite(value):
        return None
    part = Fraction(value).limit_denominator(DENOMINATOR)
    return part if float(part) == value else None


def tidy(value: float) -> float:
    """A computed number without the roundings in its last digits.

    Examples
    --------
    >>> number_text(tidy(0.1 + 0.2)), number_text(tidy(2 / 1.5 + 4e-16))
    ('0.3', '4/3')
    """
    part = float(Fraction(value).limit_denominator(DENOMINATOR))
    return part if abs(part - value) <= 1e-12 * abs(value) else float(f"{value:.12g}")


def number_text(value: float) -> str:
    """Shortest text that reads back as the same number; whole numbers without a point."""
    plain = repr(float(value)).removesuffix(".0")
    part = short_fraction(value) if len(plain) > LONG else None
    return plain if part is None else str(part)


def plain_numbers(values: Sequence[float]) -> list[float | int | Fraction]:
    """Whole numbers as integers, and those that are written as fractions as these."""
    return [int(v) if float(v).is_integer() and abs(v) < 2**53 else _exact(v) for v in values]


def _exact(value: float) -> float | Fraction:
    part = short_fraction(value) if "/" in number_text(value) else None
    return float(value) if part is None else part
