"""From a text, TOML or JSON, to a validated document; every message is one line with file, line and key."""

from __future__ import annotations

import math
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from fairness.arguments.plain import near
from fairness.errors import ModelError
from fairness.files import WRITTEN, text_of
from fairqueues.json_text import json_data
from fairqueues.scenario.place import Path, Place, ScenarioError
from fairqueues.scenario.queues import Queue, Queues
from fairqueues.scenario.sections import SECTIONS, Document
from fairqueues.scenario.toml_text import syntax_line

__all__ = ["read_document", "read_text", "toml_tables"]


def read_text(path: str | os.PathLike[str]) -> str:
    """Text of a scenario file.

    Raises
    ------
    ScenarioError
        If it cannot be read, is too large or is no text.
    """
    try:
        return text_of(path, "give a scenario, a short file of TOML or JSON", most=WRITTEN)
    except ModelError as error:
        raise ScenarioError(str(error)) from None


_DEEPEST = 20
"""Levels of tables and arrays; a scenario needs five."""
_DEEP = "no scenario: tables, arrays or dotted keys are nested too deeply"


def _depth(data: Any) -> int:
    """Levels of tables and arrays, without recursion."""
    depth, level = 0, [data]
    while level:
        depth += 1
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
    return depth


def read_document(text: str, name: str, folder: FilePath | None = None) -> tuple[Document, Place]:
    """Document of a text, and where its keys stand; files that it names are in ``folder``.

    Raises
    ------
    ScenarioError
        If the text is neither TOML nor JSON, or a key, type or range is wrong.
    """
    place = Place(text.replace("\r\n", "\n"), name, folder)
    data = (_json_tables if place.is_json else toml_tables)(place.text, name)
    if _depth(data) > _DEEPEST:
        raise ScenarioError(f"{name}: {_DEEP}")
    if place.is_json:
        data = _without_nulls(data)
    if not data:
        raise ScenarioError(f"{name}, line 1: the file is empty; give a title and a table [pool], [cluster], "
                            "[network], [trace] or [cloud]")  # fmt: skip
    try:
        return Document.model_validate(data), place
    except ValidationError as error:
        problems = error.errors(include_url=False)
    raise _first(problems, data, place)


def toml_tables(text: str, name: str) -> dict[str, Any]:
    """Data of a TOML text; ScenarioError, with the line, if it is none."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        said = str(error).partition(" (at ")[0]
        raise ScenarioError(f"{name}, line {syntax_line(error, text)}: no valid TOML: {said}") from None
    except RecursionError:
        raise ScenarioError(f"{name}: {_DEEP}") from None
    except ValueError:  # of int(), which reads so many digits and no more
        line = next((k for k, one in enumerate(text.splitlines(), 1) if re.search(r"[0-9_]{4300}", one)), 1)
        raise ScenarioError(f"{name}, line {line}: a number of thousands of digits; shorten it") from None


def _json_tables(text: str, name: str) -> dict[str, Any]:
    """Tables of a JSON text."""
    try:
        data = json_data(text, name, deep=_DEEP)
    except ModelError as error:
        raise ScenarioError(str(error)) from None
    if not isinstance(data, dict):
        raise ScenarioError(f'{name}, line 1: give one object of tables, {{"pool": {{...}}}}')
    return data


def _without_nulls(value: Any, key: str = "") -> Any:
    """Data of JSON: a key that is null is not there, and a limit that is null is infinite."""
    if isinstance(value, dict):
        return {name: _without_nulls(one, name) for name, one in value.items() if one is not None}
    if isinstance(value, list):
        return [math.inf if one is None and key == "limits" else _without_nulls(one) for one in value]
    return value


_RULES = {
    "list_type": "a list [...]",
    "dict_type": "a table of keys and values",
    "model_type": "a table of keys and values",
    "model_attributes_type": "a table of keys and values",
    "string_type": 'text in quotes, "..."',
    "bool_type": "true or false",
    "string_too_short": "text with at least one character",
}


def _first(problems: Sequence[Any], data: Any, place: Place) -> ScenarioError:
    """The one error to tell, of all that pydantic found."""
    found = [(_in_data(problem["loc"], data, problem["type"]), problem) for problem in problems]
    # A misspelt key also makes a key missing: the misspelling is what helps. Of the members of a union the
    # one that came furthest into the value knows best.
    found.sort(key=lambda one: (one[1]["type"] != "extra_forbidden", -len(one[0])))
    path, problem = found[0]
    kind, given = problem["type"], _short(problem["input"])
    key = next((part for part in reversed(path) if isinstance(part, str)), "the file")
    if kind == "extra_forbidden":
        return place.error(
            path[:-1], f"unknown key {path[-1]!r}; {_nearest(str(path[-1]), path[:-1], place)}", at=path
        )
    if kind == "missing":
        return place.error(path[:-1], f"the key {path[-1]!r} is missing; {_meaning(path)}")
    rules = dict.fromkeys(rule for at, one in found if at == path and (rule := _rule(one)))
    if not rules:
        return place.error(path, f"got {given}; {problem['msg'][0].lower()}{problem['msg'][1:]}")
    hint = ""
    if isinstance(problem["input"], str) and any("number" in rule for rule in rules):
        hint = ' (in quotes only if it is a fraction, "1/3")'
    return place.error(path, f"got {given}; {key} must be {' or '.join(rules)}{hint}")


def _rule(problem: Any) -> str:
    """What a value must be, as the end of "it must be ..."; empty where pydantic's own message has to do."""
    kind, context = problem["type"], problem.get("ctx", {})
    if kind == "rule":
        return str(context["rule"])
    if kind == "literal_error":
        return str(context["expected"])
    if kind == "too_short":
        least = context["min_length"]
        return f"{'a list' if isinstance(problem['input'], list) else 'a table'} with at least " + (
            "one entry" if least == 1 else f"{least} entries"
        )
    return _RULES.get(kind, "")


def _in_data(loc: tuple[str | int, ...], data: Any, kind: str) -> Path:
    """Location without the names of union members that pydantic puts into it."""
    path: list[str | int] = []
    here = data
    for k, part in enumerate(loc):
        inside = (isinstance(here, Mapping) and part in here) or (
            isinstance(here, list) and isinstance(part, int) and part < len(here)
        )
        if inside:
            here = here[part]
            path.append(part)
        elif kind == "missing" and k == len(loc) - 1:
            path.append(part)
    return tuple(path)


def _model(path: Path) -> type[BaseModel] | None:
    """Class of the table at a path."""
    here: Any = Document
    for part in path:
        if here is Queues:
            here = Queue
            continue
        if not (isinstance(here, type) and issubclass(here, BaseModel)) or part not in here.model_fields:
            return None
        options = [here.model_fields[str(part)].annotation]
        while options and not isinstance(options[0], type):
            options = [*get_args(options[0]), *options[1:]]
        found = [one for one in options if isinstance(one, type) and issubclass(one, BaseModel)]
        here = found[0] if found else None
    return here if isinstance(here, type) else None


def _nearest(name: str, path: Path, place: Place) -> str:
    table = _model(path)
    known = list(table.model_fields) if table else []
    elsewhere = [section for section, one in SECTIONS.items() if name in one.model_fields]
    if elsewhere and path and path[0] not in elsewhere:
        return f"it belongs to [{elsewhere[0]}]"
    if elsewhere and not path:
        return f"it belongs to [{'] or ['.join(elsewhere)}]"
    if path and name in Document.model_fields:
        if place.is_json:
            return f"write it beside {path[0]!r}"
        return f"write it as [{name}]" if name in SECTIONS else "write it before the first table of the file"
    return near(name, known)


def _meaning(path: Path) -> str:
    table = _model(path[:-1])
    found = table.model_fields.get(str(path[-1])) if table else None
    return (found.description if found and found.description else "add it").rstrip(".")


def _short(value: Any) -> str:
    shown = "null" if value is None else str(value).lower() if isinstance(value, bool) else repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."
