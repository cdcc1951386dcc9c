"""From a document back to TOML: only the keys that were given, matrices a row per line.

A general writer puts every number on a line of its own; a scenario is read by people.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from fractions import Fraction
from numbers import Integral, Real
from typing import Any

import numpy as np

__all__ = ["toml"]

_WIDTH = 100
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml(data: Mapping[str, Any]) -> str:
    """TOML text of nested dicts, lists, texts, numbers, booleans, fractions and arrays; None is left out.

    Examples
    --------
    >>> print(toml({"title": "two", "pool": {"demands": [[1, 4], [3, 1]], "capacities": [9, 18]}}), end="")
    title = "two"
    <BLANKLINE>
    [pool]
    demands = [
      [1, 4],
      [3, 1],
    ]
    capacities = [9, 18]
    """
    head, tables = [], []
    for key, value in data.items():
        if value is None:
            continue
        if isinstance(value, Mapping):
            lines = [_pair(k, v) for k, v in value.items() if v is not None]
            tables.append("\n".join([f"[{_key(key)}]", *lines]))
        else:
            head.append(_pair(key, value))
    return "\n\n".join(["\n".join(head)] * bool(head) + tables) + "\n"


def _pair(key: str, value: Any) -> str:
    value = value.tolist() if isinstance(value, np.ndarray) else value
    text = _value(value)
    if isinstance(value, list | tuple) and (
        len(text) > _WIDTH - len(key) or any(isinstance(row, list | tuple) for row in value)
    ):
        text = "\n".join(["[", *(f"  {_value(row)}," for row in value), "]"])
    return f"{_key(key)} = {text}"


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _text(key)


def _text(value: str) -> str:
    # A JSON string is a TOML string, but for DEL.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        inside = ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items() if v is not None)
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(v) for v in value)}]"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Fraction):
        return str(value) if value.denominator == 1 else f'"{value}"'
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        number = float(value)
        return (
            repr(number) if math.isfinite(number) else {math.inf: "inf", -math.inf: "-inf"}.get(number, "nan")
        )
    raise TypeError(f"no TOML for {type(value).__name__}")
