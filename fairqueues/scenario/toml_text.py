"""TOML texts: where a key or an element stands, and data written for people.

The parser of the standard library forgets positions, and its maintainers do not want it to remember them
(CPython issue 115516); tomlkit keeps the text of everything, but not its place either. So the lines are
found in a second pass. As it runs over a text that :mod:`tomllib` has accepted, it needs to know where keys,
strings, arrays and tables end, and nothing else.

The writer gives only the keys that are there, and a matrix a row per line; a general one puts every number on
a line of its own, and a scenario is read by people.
"""

from __future__ import annotations

import json
import re
import tomllib
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from typing import Any

from fairness.arguments.plain import plain
from fairqueues.json_text import Lines, Path

__all__ = ["key_lines", "syntax_line", "toml"]

_WIDTH = 100
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_BLANK = re.compile(r"[ \t]*")
_GAP = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SCALAR = re.compile(r"[^,\]}#\r\n]*")
_STRINGS = (
    re.compile(r'"""(?:[^"\\]|\\.|"{1,2}(?!"))*"{3,5}', re.DOTALL),
    re.compile(r"'''(?:[^']|'{1,2}(?!'))*'{3,5}", re.DOTALL),
    re.compile(r'"(?:[^"\\\n]|\\.)*"'),
    re.compile(r"'[^'\n]*'"),
)


def syntax_line(error: tomllib.TOMLDecodeError, text: str) -> int:
    """Line, from 1, of a syntax error."""
    found = re.search(r"at line (\d+)", str(error))
    return int(found[1]) if found else max(1, len(text.splitlines()))


def key_lines(text: str) -> Lines:
    """Line, from 1, of every key, table header and array element of a valid TOML text.

    Parameters
    ----------
    text : str
        What ``tomllib.loads`` accepts.

    Returns
    -------
    Lines
        From paths to lines; the root, (), is line 1.

    Examples
    --------
    >>> lines = key_lines("a = 1\\n[b]\\nc = [\\n  [1, 2],\\n  [3, 4],\\n]\\n")
    >>> lines["a",], lines["b",], lines["b", "c"], lines["b", "c", 1, 0]
    (1, 2, 3, 5)
    """
    return _Scanner(text.replace("\r\n", "\n")).lines


class _Scanner:
    """One pass over the text."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.breaks = [k for k, c in enumerate(text) if c == "\n"]
        self.lines = Lines({(): 1})
        self.tables: dict[Path, int] = {}  # tables in each array of tables
        table: Path = ()
        self.skip(_GAP)
        while self.at < len(text):
            if text[self.at] == "[":
                table = self.header()
            else:
                self.pair(table)
            self.skip(_GAP)

    def skip(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.at)
        assert found is not None, "text is no valid TOML"
        self.at = found.end()
        return found[0]

    def mark(self, path: Path, at: int) -> None:
        """Remember where a path, and the parents that it implies, begin."""
        line = bisect_right(self.breaks, at - 1) + 1
        for k in range(1, len(path) + 1):
            self.lines.setdefault(path[:k], line)

    def header(self) -> Path:
        start, double = self.at, self.text.startswith("[[", self.at)
        self.at += 1 + double
        keys = self.keys()
        path: Path = ()
        for k, key in enumerate(keys):
            path = (*path, key)
            if path in self.tables and not (double and k == len(keys) - 1):
                path = (*path, self.tables[path] - 1)
        if double:
            self.tables[path] = self.tables.get(path, 0) + 1
            path = (*path, self.tables[path] - 1)
        self.at += 1 + double
        self.mark(path, start)
        return path

    def keys(self) -> list[str]:
        found = []
        while True:
            self.skip(_BLANK)
            quoted = self.text[self.at] in "\"'"
            raw = self.string() if quoted else self.skip(_BARE)
            found.append(str(next(iter(tomllib.loads(f"{raw} = 0")))))
            self.skip(_BLANK)
            if self.text[self.at] != ".":
                return found
            self.at += 1

    def pair(self, table: Path) -> None:
        start = self.at
        path = (*table, *self.keys())
        self.mark(path, start)
        self.at += 1  # =
        self.skip(_BLANK)
        self.value(path)

    def value(self, path: Path) -> None:
        first = self.text[self.at]
        if first == "[":
            self.at += 1
            for k in self.elements("]"):
                self.mark((*path, k), self.at)
                self.value((*path, k))
        elif first == "{":
            self.at += 1
            for _ in self.elements("}"):
                self.pair(path)
        elif first in "\"'":
            self.string()
        else:
            self.skip(_SCALAR)

    def elements(self, close: str) -> Iterable[int]:
        """Stop before each element; the caller reads it."""
        k = 0
        self.skip(_GAP)
        while self.text[self.at] != close:
            yield k
            k += 1
            self.skip(_GAP)
            if self.text[self.at] == ",":
                self.at += 1
            self.skip(_GAP)
        self.at += 1

    def string(self) -> str:
        return next(self.skip(p) for p in _STRINGS if p.match(self.text, self.at))


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
            pairs = {k: _pair(k, v) for k, v in value.items() if v is not None}
            # What is too long for one line is a table of its own; such tables stand behind the others.
            long = [k for k, pair in pairs.items() if isinstance(value[k], Mapping) and len(pair) > _WIDTH]
            tables.append("\n".join([f"[{_key(key)}]", *(pairs[k] for k in pairs if k not in long)]))
            for k in long:
                inside = [_pair(name, v) for name, v in value[k].items() if v is not None]
                tables.append("\n".join([f"[{_key(key)}.{_key(k)}]", *inside]))
        else:
            head.append(_pair(key, value))
    return "\n\n".join(["\n".join(head)] * bool(head) + tables) + "\n"


def _pair(key: str, value: Any) -> str:
    value = plain(value)
    text = _value(value)
    if isinstance(value, list) and (
        len(text) > _WIDTH - len(key) or any(isinstance(row, list) for row in value)
    ):
        text = "\n".join(["[", *(f"  {_value(row)}," for row in value), "]"])
    return f"{_key(key)} = {text}"


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _text(key)


def _text(value: str) -> str:
    # A JSON string is a TOML string, but for DEL.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    value = plain(value)
    if isinstance(value, Mapping):
        inside = ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items() if v is not None)
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list):
        return f"[{', '.join(_value(v) for v in value)}]"
    if isinstance(value, str):
        return _text(value)
    if value is None:  # infinity as plain data: the limit that a class does not have
        return "inf"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    raise TypeError(f"no TOML for {type(value).__name__}")
