"""JSON texts: read strictly, with the place of every value; written with a matrix on one line.

A key that occurs twice, and the words NaN and Infinity, which are none of JSON, are refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NoReturn

from fairness.arguments.plain import plain
from fairness.errors import ModelError

__all__ = ["JsonLines", "Lines", "Path", "decoder", "json_data", "json_of", "told"]

Path = tuple[str | int, ...]
"""Keys and indices from the root of the text: ("pool", "demands", 0, 1)."""

_GAP = re.compile(r"[\s,:]*")


def json_data(text: str, name: str, *, deep: str = "give lists of lists at most", words: bool = False) -> Any:
    """Data of a JSON text.

    Parameters
    ----------
    text, name : str
        The name is what messages call it.
    deep : str
        What to do about a text that is nested too deeply.
    words : bool
        Leave numbers as they are written, as text.

    Raises
    ------
    ModelError
        If it is no JSON, or a key occurs twice in an object.

    Examples
    --------
    >>> json_data('{"a": [1, null]}', "<text>")
    {'a': [1, None]}
    """

    try:
        return decoder(words).decode(text)
    except (ValueError, RecursionError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else None
        # A word that is no number, or what int() refuses, which reads so many digits and no more.
        if line is None and (found := re.search(r"[0-9]{4300}|[:,[]\s*(NaN|-?Infinity)", text)):
            line = 1 + text.count("\n", 0, found.end())
        place = name if line is None else f"{name}, line {line}"
        raise ModelError(f"{place}: {told(error, deep)}") from None


class Refused(ValueError):
    """What Python's reader of JSON takes, and nobody means."""


def decoder(words: bool = False) -> json.JSONDecoder:
    """A strict reader of JSON, which raises ValueError or RecursionError: see :func:`told`."""
    numbers: Any = {"parse_int": str, "parse_float": str} if words else {}
    return json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant, **numbers)


def told(error: Exception, deep: str) -> str:
    """What is wrong with a text that a decoder refused; ``deep`` is what to do about nesting."""
    if isinstance(error, json.JSONDecodeError):
        return f"no JSON: {error.msg}"
    if isinstance(error, RecursionError):
        return f"nested too deeply; {deep}"
    return str(error) if isinstance(error, Refused) else "a number of thousands of digits; shorten it"


def _pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(items)
    if len(data) < len(items):
        keys = [key for key, _ in items]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise Refused(f"key {twice!r} is given twice in one object; keep one of them")
    return data


def _constant(word: str) -> NoReturn:
    raise Refused(f"{word} is no number of JSON; write null for a limit that is not there")


class Lines(dict[Path, int]):
    """Line, from 1, of what stands in a text, by its path; that of the root is always there."""

    def nearest(self, path: Path) -> int:
        """Line of a path, or of the nearest one above it that is there."""
        while path not in self:
            path = path[:-1]
        return self[path]


class JsonLines:
    """Line, from 1, of every value of a valid JSON text, by its path.

    Examples
    --------
    >>> lines = JsonLines('{"b": {\\n "c": [\\n  [1, 2],\\n  [3, 4]\\n]}}')
    >>> lines.nearest(("b", "c", 1, 0)), ("b", "d") in lines, lines.nearest(("b", "d"))
    (4, False, 1)
    """

    def __init__(self, text: str) -> None:
        self._text = text

    def __contains__(self, path: Path) -> bool:
        return self._found(path)[0] == len(path)

    def nearest(self, path: Path) -> int:
        """Line of the value of a path, or of the nearest one above it that is there."""
        return self._text.count("\n", 0, self._found(path)[1]) + 1

    def _found(self, path: Path) -> tuple[int, int]:
        """How many parts of a path are there, and where the value of the last of them begins."""
        text, decoder = self._text, json.JSONDecoder()
        known = _skip(text, 0)
        for depth, part in enumerate(path):
            opening, close = ("{", "}") if isinstance(part, str) else ("[", "]")
            if text[known] != opening:
                return depth, known
            at, k = _skip(text, known + 1), 0
            while text[at] != close:
                key: str | int = k
                if isinstance(part, str):
                    key, at = decoder.raw_decode(text, at)
                    at = _skip(text, at)
                if key == part:
                    known = at
                    break
                at, k = _skip(text, decoder.raw_decode(text, at)[1]), k + 1
            else:
                return depth, known
        return len(path), known


def _skip(text: str, at: int) -> int:
    found = _GAP.match(text, at)
    return at if found is None else found.end()


def json_of(data: Mapping[str, Any]) -> str:
    """JSON text of tables: a key per line; fractions become text, what is infinite null.

    Examples
    --------
    >>> from fractions import Fraction
    >>> pool = {"demands": [[1, Fraction(1, 3)]], "limits": [float("inf")]}
    >>> print(json_of({"seed": 1, "pool": pool}), end="")
    {
     "seed": 1,
     "pool": {
      "demands": [[1, "1/3"]],
      "limits": [null]
     }
    }
    """
    rows = []
    for key, value in data.items():
        if isinstance(value, Mapping) and value:
            inside = ",\n".join(f"  {_dumped(name)}: {_dumped(one)}" for name, one in value.items())
            rows.append(f" {_dumped(key)}: {{\n{inside}\n }}")
        else:
            rows.append(f" {_dumped(key)}: {_dumped(value)}")
    return "{\n" + ",\n".join(rows) + "\n}\n"


def _dumped(value: Any) -> str:
    return json.dumps(_simple(value), ensure_ascii=False)


def _simple(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _simple(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_simple(one) for one in value]
    return plain(value)
