"""Results as files: one document of JSON, gzipped if the name ends so.

The document is a list of *parts*, each after those that it holds, so that a part that stands in several
places is written once. A part is an object of this project (the public name of its type, the number of its
format if it is not the first, and its fields, caches left out) or an array (a ``.npy`` file in base64, which
keeps every bit). None, booleans, strings, whole and finite floating-point numbers are those of JSON;
everything else is an object with one key that tells its kind: ``{"part": 3}``, ``{"tuple": [...]}``,
``{"fraction": [2, 3]}``.

Nothing of a file is executed: only types of the table of names (:mod:`fairness.display.saved_types`) are
made, by their fields, no constructor called. The files of the first format named modules; they are read.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import math
import os
import sys
from collections.abc import Mapping
from dataclasses import fields
from enum import Enum
from fractions import Fraction
from functools import cached_property, partial
from pathlib import Path
from types import FunctionType
from typing import Any, NoReturn

import numpy as np

from fairness.display.expressions import expression_of, is_expression, told
from fairness.display.saved_types import SavedType, saved_type, type_called
from fairness.errors import ModelError
from fairness.files import read_whole, write_whole
from fairness.versions import version

__all__ = ["LATER", "dumps", "identity", "loads", "read", "write"]

FORMAT = "fairqueues result, 2"
FIRST = "fairqueues result, 1"
"""Types are called there by the modules in which they stood; else it is the same."""

LATER = {"later": True}
"""Metadata of a field that has come later, with a default: files without it are read."""

_CONTAINERS: dict[type, str] = {tuple: "tuple", list: "list", set: "set", frozenset: "frozenset"}
_MADE = {name: container for container, name in _CONTAINERS.items()}
_LARGEST = 2**53
"""Whole numbers from here on are written in hexadecimal: other readers of JSON would round them."""


def write(result: Any, path: str | os.PathLike[str]) -> None:
    """Write an object of this project; the file appears whole or not at all.

    Raises
    ------
    ModelError
        If it holds what a file cannot hold, or the path cannot be written.
    """
    target = _checked(path)
    body = _told(result)
    head = {"format": FORMAT, "version": version(), "digest": _digest(body)}
    data = json.dumps(head | body).encode()
    if target.suffix == ".gz":
        # Without the time, so that the same result is the same file.
        data = gzip.compress(data, mtime=0)
    write_whole(target, data)


def read(path: str | os.PathLike[str]) -> Any:
    """The object that :func:`write` wrote.

    Raises
    ------
    ModelError
        If the file cannot be read, is none of ours, is damaged, or names what this version does not have.
    """
    source = _checked(path)
    try:
        data = read_whole(source)
    except OSError as error:
        raise ModelError.of("path", f": cannot read {str(source)!r}: {error.strerror or error}") from None
    written = "nowhere"
    try:
        document = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
        if not document["format"].startswith(FORMAT[:-1]):
            raise KeyError("format")
        written = document["version"]
        if document["format"] not in (FIRST, FORMAT):
            raise _UnknownError(f"there is no format {document['format']!r:.80}")
        body = {name: document[name] for name in ("result", "parts")}
        if document["digest"] != _digest(body):
            raise ValueError("it was changed after it was written")
        return _restored(body)
    except _UnknownError as error:
        raise ModelError.of(
            "path",
            f": {str(source)!r} was written by fairqueues {written}, and this is {version()}, where "
            f"{error}; read it with that version",
        ) from None
    except Exception as error:  # what foreign bytes make zlib, json and numpy raise is no closed list
        raise ModelError.of(
            "path",
            f": {str(source)!r} is no result that save() wrote, or is damaged "
            f"({type(error).__name__}: {error!s:.200}); save the result again",
        ) from error


def dumps(result: Any) -> str:
    """An object of this project as text, for a place that knows where its texts come from.

    Raises
    ------
    ModelError
        If it holds what a file cannot hold.
    """
    return json.dumps(_told(result))


def identity(thing: Any) -> str:
    """All that an object of this project holds, as text: equal texts are equal objects.

    It calls types as the first format did, so that checkpoints that were begun with it go on.

    Raises
    ------
    ModelError
        If the object holds what a file cannot hold.
    """
    return json.dumps(_told(thing, first=True))


def loads(text: str) -> Any:
    """The object that this version told by :func:`dumps`.

    Examples
    --------
    >>> from fairness.properties.changes.changed_model import Leave
    >>> loads(dumps(Leave((1,))))
    Leave(users=(1,))
    """
    return _restored(json.loads(text))


def _told(result: Any, *, first: bool = False) -> dict[str, Any]:
    writer = _Writer(first)
    return {"result": writer.value(result), "parts": writer.parts}


def _restored(body: dict[str, Any]) -> Any:
    return _Reader(body["parts"]).value(body["result"])


def _checked(path: Any) -> Path:
    if not isinstance(path, str | os.PathLike) or "\0" in os.fspath(path):
        raise ModelError.of("path", f"must be the name of a file; got {path!r:.80}")
    return Path(path)


class _Writer:
    """Parts of a document, in the order in which they can be made again.

    Types have their public names and formats, or, for an identity, the places that they had ``first``.
    """

    def __init__(self, first: bool) -> None:
        self._first = first
        self.parts: list[dict[str, Any]] = []
        self._places: dict[int, int] = {}
        self._held: list[Any] = []
        self._open: list[str] = []

    def value(self, value: Any) -> Any:
        """The value as JSON; its parts are added before."""
        kind = type(value)
        if value is None or kind in (bool, str):
            return value
        if kind is int:
            return value if abs(value) < _LARGEST else {"int": hex(value)}
        if kind is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if kind is complex:
            return {"complex": [self.value(value.real), self.value(value.imag)]}
        if kind is Fraction:
            return {"fraction": [self.value(value.numerator), self.value(value.denominator)]}
        if kind in (set, frozenset) and self._first:  # in one order in all processes
            return {_CONTAINERS[kind]: sorted(map(identity, value))}
        if kind in _CONTAINERS:
            return {_CONTAINERS[kind]: [self.value(item) for item in value]}
        if kind is dict:
            return {"dict": [[self.value(key), self._field(str(key), item)] for key, item in value.items()]}
        if isinstance(value, Enum):
            return {"enum": [self._name(kind, value), value.name]}
        if isinstance(value, type):
            return {"named": self._name(value, value)}
        if isinstance(value, np.generic):
            return {"scalar": _bits(np.asarray(value))}
        if id(value) not in self._places:
            part = self._part(value)
            # Held, so that no other object gets its identity.
            self._held.append(value)
            self._places[id(value)] = len(self.parts)
            self.parts.append(part)
        return {"part": self._places[id(value)]}

    def _part(self, value: Any) -> dict[str, Any]:
        import pandas as pd

        if isinstance(value, np.ndarray) and value.dtype != object:
            part = {"array": _bits(np.asarray(value))}
            return part if value.flags.writeable else part | {"frozen": True}
        if isinstance(value, np.ndarray):
            items = [self.value(item) for item in value.ravel().tolist()]
            return {"objects": items, "shape": list(value.shape)}
        if isinstance(value, pd.DataFrame):
            columns = [[self.value(name), self.value(value[name].to_numpy())] for name in value.columns]
            index = [self.value(value.index.name), self.value(value.index.to_numpy())]
            return {"frame": columns, "index": index}
        cls = type(value)
        if cls is partial:
            return {"partial": self.value([value.func, value.args, value.keywords])}
        if _is_of_scipy(value):
            return {"distribution": value.dist.name, "parameters": self.value([value.args, value.kwds])}
        if is_expression(value) and (expression := told(value)) is not None:
            return {"expression": expression}
        head: dict[str, Any] = {"class": self._name(cls, value)}
        row = saved_type(cls)
        if row and row.format > 1:
            head["format"] = row.format
        if isinstance(value, tuple):
            return head | {"items": [self.value(item) for item in value]}
        state = value.__getstate__() or {}
        if not isinstance(state, dict):
            self._refuse(value)
        kept = {name: item for name, item in state.items() if not _is_cache(cls, name)}
        kept |= {name: None for name in getattr(cls, "_dispensable", ()) if not _fits(kept[name])}
        return head | {"fields": {name: self._field(name, item) for name, item in kept.items()}}

    def _name(self, cls: type, value: Any) -> str:
        """What the file calls the type of a value."""
        row = saved_type(cls)
        if row is None:
            self._refuse(value)
        return (row.first or row.name) if self._first else row.name

    def _field(self, name: str, value: Any) -> Any:
        self._open.append(name)
        written = self.value(value)
        self._open.pop()
        return written

    def _refuse(self, value: Any) -> NoReturn:
        what = value if isinstance(value, type | FunctionType) else type(value)
        where = ".".join(self._open) or "the result"
        raise ModelError(
            f"{where} cannot be written to a file: it is or needs {what.__module__}.{what.__qualname__}, "
            "which is no type that files hold; pickle the result instead, or keep its to_dataframe()"
        )


class _UnknownError(Exception):
    """A name or a field that this version does not have."""


class _Reader:
    """Objects of the parts of a document."""

    def __init__(self, parts: list[dict[str, Any]]) -> None:
        self._made: list[Any] = []
        for part in parts:
            self._made.append(self._part(part))

    def value(self, data: Any) -> Any:
        """The value of some JSON."""
        if not isinstance(data, dict):
            return data
        ((kind, item),) = data.items()
        if kind == "part":
            return self._made[item]
        if kind == "int":
            return int(item, 16)
        if kind == "float":
            return float(item)
        if kind == "complex":
            return complex(*map(self.value, item))
        if kind == "fraction":
            return Fraction(*map(self.value, item))
        if kind == "dict":
            return {self.value(key): self.value(one) for key, one in item}
        if kind == "enum":
            return _row(item[0]).found()[item[1]]  # type: ignore[index]
        if kind == "named":
            return _row(item).found()
        if kind == "scalar":
            return _array(item)[()]
        return _MADE[kind]([self.value(one) for one in item])

    def _part(self, part: dict[str, Any]) -> Any:
        import pandas as pd

        if "array" in part:
            array = _array(part["array"])
            array.flags.writeable = "frozen" not in part
            return array
        if "objects" in part:
            objects = np.empty(len(part["objects"]), dtype=object)
            for k, item in enumerate(part["objects"]):
                objects[k] = self.value(item)
            return objects.reshape(part["shape"])
        if "frame" in part:
            name, labels = map(self.value, part["index"])
            columns = {self.value(column): self.value(values) for column, values in part["frame"]}
            return pd.DataFrame(columns, index=pd.Index(labels, name=name))
        if "partial" in part:
            call, arguments, keywords = self.value(part["partial"])
            if not isinstance(call, type):
                raise ValueError(f"{call!r:.80} is no type")
            return partial(call, *arguments, **keywords)
        if "expression" in part:
            return expression_of(part["expression"])
        if "distribution" in part:
            args, keywords = self.value(part["parameters"])
            return _family(part["distribution"])(*args, **keywords)
        row = _row(part["class"])
        cls: Any = row.found()
        written = part.get("format", 1)
        if written > row.format:
            raise _UnknownError(f"there is no format {written} of {row.name}")
        if "items" in part:
            return tuple.__new__(cls, map(self.value, part["items"]))
        given = {name: self.value(item) for name, item in part["fields"].items()}
        if written < row.format:
            given = cls.upgraded(given, written)
        _require_fields(cls, given)
        # What was one type may be several today.
        made = object.__new__(cls.of_fields(given) if hasattr(cls, "of_fields") else cls)
        made.__dict__.update(given)
        return made


def _fits(value: Any) -> bool:
    """Whether a file can hold a value."""
    try:
        _told(value)
    except ModelError:
        return False
    return True


def _is_cache(cls: type, name: str) -> bool:
    return isinstance(getattr(cls, name, None), cached_property)


def _family(name: str) -> Any:
    """A family of distributions of scipy.stats."""
    from scipy import stats

    family = getattr(stats, name)
    if not isinstance(family, stats.rv_continuous | stats.rv_discrete):
        raise ValueError(f"{name!r} is no distribution of scipy.stats")
    return family


def _is_of_scipy(value: Any) -> bool:
    """Whether a value is a frozen distribution of a family of scipy.stats."""
    if (stats := sys.modules.get("scipy.stats")) is None:  # what is not imported has made no object
        return False
    family = getattr(value, "dist", None)
    found = getattr(stats, getattr(family, "name", None) or "", None)
    return found is not None and type(found) is type(family)


def _require_fields(cls: Any, given: Mapping[str, Any]) -> None:
    """Refuse other fields than those of a dataclass; names with an underscore may be made of them."""
    if not hasattr(cls, "__dataclass_fields__"):
        return
    known = {field.name: field for field in fields(cls)}
    needed = [name for name, field in known.items() if not field.metadata.get("later")]
    if missing := [name for name in needed if name not in given]:
        raise _UnknownError(f"{cls.__name__} has a field {missing[0]!r}, which the file lacks")
    if gone := [name for name in given if name not in known and not name.startswith("_")]:
        raise _UnknownError(f"{cls.__name__} has no field {gone[0]!r}, which the file has")


def _row(name: str) -> SavedType:
    """The row of the type that a file calls so."""
    if (row := type_called(name)) is None:
        raise _UnknownError(f"there is no {name!r:.80}")
    return row


def _digest(body: Any) -> str:
    return hashlib.sha256(json.dumps(body, allow_nan=False).encode()).hexdigest()


def _bits(array: np.ndarray) -> str:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return base64.b64encode(buffer.getvalue()).decode()


def _array(text: str) -> Any:
    return np.load(io.BytesIO(base64.b64decode(text, validate=True)), allow_pickle=False)
