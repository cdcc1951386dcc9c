"""YAML and JSON with places: a value of a file knows where it stands, so that every error can say it.

Scalars stay the text that was written (``36Gi``, ``1e3``, ``010``), for it is the field that decides what
they mean; only null, true and false have a meaning of their own. YAML is composed, never constructed: no tag
makes an object, and an alias is refused, for a few lines of them can unfold to billions of values.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NoReturn

from fairness.arguments.quantities import quantity
from fairness.errors import ModelError
from fairqueues.exchange.schedulers.parts import Parts
from fairqueues.json_text import JsonLines, Lines, json_data
from fairqueues.scenario.place import Path, dotted

__all__ = ["Document", "Field", "json_document", "yaml_documents"]

_DEEPEST = 60
"""Levels of nesting; manifests of Kubernetes need about twenty."""


@dataclass(frozen=True)
class Document:
    """One document of a file: its data, and the line of each path."""

    file: str
    data: Any
    line: Callable[[Path], int]

    @property
    def root(self) -> Field:
        """The whole document."""
        return Field(self, (), self.data)


@dataclass(frozen=True)
class Field:
    """A value with its document and its path in it; a field that is not there has the value None."""

    document: Document = field(repr=False)
    path: Path
    value: Any

    @property
    def file(self) -> str:
        """File of the document."""
        return self.document.file

    @property
    def line(self) -> int:
        """Line of the file, from 1; of the nearest field above it that is there."""
        return self.document.line(self.path)

    @property
    def place(self) -> str:
        """File, line and field, as messages begin."""
        name = f", {dotted(self.path)}" if self.path else ""
        return f"{self.file}, line {self.line}{name}"

    @property
    def name(self) -> str:
        """File and field: what costs nothing to say; the line is looked for in the text."""
        return f"{self.file}, {dotted(self.path)}" if self.path else self.file

    def fail(self, said: str) -> NoReturn:
        """ModelError that names file, line and field."""
        last = next((str(part) for part in reversed(self.path) if isinstance(part, str)), None)
        raise ModelError(f"{self.place}: {said}", argument=last)

    def __getitem__(self, key: str) -> Field:
        return Field(self.document, (*self.path, key), self._mapping().get(key))

    def at(self, *keys: str) -> Field:
        """The field below some keys."""
        found = self
        for key in keys:
            found = found[key]
        return found

    def _mapping(self) -> dict[str, Any]:
        if self.value is None:
            return {}
        if not isinstance(self.value, dict):
            self.fail(f"must be a mapping of keys to values; got {_short(self.value)}")
        return self.value

    def items(self) -> Iterator[tuple[str, Field]]:
        """Keys and fields of a mapping; none if it is not there."""
        for key, value in self._mapping().items():
            yield key, Field(self.document, (*self.path, key), value)

    def entries(self) -> list[Field]:
        """Fields of a list; none if it is not there."""
        if self.value is None:
            return []
        if not isinstance(self.value, list):
            self.fail(f"must be a list; got {_short(self.value)}")
        return [Field(self.document, (*self.path, k), value) for k, value in enumerate(self.value)]

    def text(self, default: str | None = None) -> str:
        """The text of a scalar; an error if it is not there and there is no default."""
        if self.value is None and default is not None:
            return default
        if not isinstance(self.value, str) or not self.value:
            what = "is missing" if self.value is None else f"must be text; got {_short(self.value)}"
            self.fail(f"{what}; write it, in quotes if it looks like something else")
        return self.value

    def flag(self) -> bool:
        """A truth value; False if it is not there."""
        if self.value is not None and not isinstance(self.value, bool):
            self.fail(f"must be true or false; got {_short(self.value)}")
        return bool(self.value)

    def amount(self) -> Fraction:
        """A quantity of Kubernetes that is not negative."""
        try:
            found = quantity(self.text())
        except ValueError as error:
            self.fail(str(error))
        if found < 0:
            self.fail(f"is {self.value}; it must be >= 0")
        return found

    def amounts(self) -> dict[str, Fraction]:
        """A mapping of resources to quantities."""
        return {key: one.amount() for key, one in self.items()}

    def name_unread(self, known: Sequence[str], reasons: Mapping[str, str], parts: Parts) -> None:
        """Name the fields of a mapping that are not known, with the reasons why they are not carried over."""
        for key, one in self.items():
            if key not in known and one.value not in (None, [], {}, "None"):
                parts.leave(one, dotted(one.path), reasons.get(key, "unknown field, not read"))


def _short(value: Any) -> str:
    shown = json.dumps(value, ensure_ascii=False)
    return shown if len(shown) <= 50 else f"{shown[:47]}..."


def json_document(text: str, file: str) -> Document:
    """The one document of a JSON text.

    Raises
    ------
    ModelError
        If it is no JSON, or a key occurs twice in a mapping.
    """
    data = json_data(text, file, deep="give the output of kubectl get -o json", words=True)
    return Document(file, data, JsonLines(text).nearest)


def yaml_documents(text: str, file: str) -> list[Document]:
    """Documents of a YAML text, empty ones left out.

    Raises
    ------
    ModelError
        If PyYAML is not installed; if the text is no YAML, a key occurs twice in a mapping or is no scalar,
        or there is an alias.
    """
    try:
        import yaml
    except ImportError:
        raise ModelError(
            f"{file}: reading YAML needs the package PyYAML; pip install 'fairqueues[clusters]', or give "
            "JSON (kubectl get ... -o json)"
        ) from None
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    found = []
    try:
        for event in yaml.parse(text, Loader=loader):
            if isinstance(event, yaml.AliasEvent):
                line = event.start_mark.line + 1
                raise ModelError(
                    f"{file}, line {line}: the alias *{event.anchor} is refused; write its value out"
                )
        for node in yaml.compose_all(text, Loader=loader):
            lines = Lines({(): node.start_mark.line + 1})
            data = _plain(node, (), lines, file)
            if data is not None:
                found.append(Document(file, data, lines.nearest))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f", line {mark.line + 1}" if mark else ""
        raise ModelError(f"{file}{where}: no YAML: {error.problem or error.context}") from None
    except yaml.YAMLError as error:
        raise ModelError(f"{file}: no YAML: {str(error).splitlines()[0]}") from None
    except RecursionError:
        raise ModelError(f"{file}: nested too deeply") from None
    return found


_SCALARS = ("str", "int", "float", "bool", "null", "timestamp", "value", "merge")


def _plain(node: Any, path: Path, lines: Lines, file: str) -> Any:
    """Data of a node of PyYAML; the line of each of its paths is written down."""
    line = node.start_mark.line + 1
    lines.setdefault(path, line)
    if len(path) > _DEEPEST:
        raise ModelError(f"{file}, line {line}: nested too deeply")
    if node.id == "sequence":
        return [_plain(one, (*path, k), lines, file) for k, one in enumerate(node.value)]
    if node.id == "mapping":
        data: dict[str, Any] = {}
        for key, value in node.value:
            at = key.start_mark.line + 1
            if key.id != "scalar":
                raise ModelError(f"{file}, line {at}: a key must be text")
            if key.value in data:
                raise ModelError(f"{file}, line {at}: key {key.value!r} is given twice in one mapping; "
                                 "keep one of them")  # fmt: skip
            lines[*path, key.value] = at
            data[key.value] = _plain(value, (*path, key.value), lines, file)
        return data
    kind = node.tag.removeprefix("tag:yaml.org,2002:")
    if kind not in _SCALARS:
        raise ModelError(f"{file}, line {line}: the tag {node.tag!r:.60} is refused; write plain text")
    if kind == "null":
        return None
    return node.value.lower() in ("true", "yes", "on") if kind == "bool" else node.value
