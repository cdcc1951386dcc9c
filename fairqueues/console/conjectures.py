"""Statements of one's own from a file: what a Python file defines, or the tables of a TOML file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairness.arguments.plain import near
from fairness.errors import ModelError
from fairness.files import WRITTEN, text_of
from fairqueues.errors import WrongUse

if TYPE_CHECKING:
    from fairqueues.scenario.place import Place
    from proofs import Statement

__all__ = ["SUFFIXES", "own_statements", "require_distinct"]

SUFFIXES = (".py", ".toml")
DEFAULT_ID = "conjecture"
EXAMPLE = 'from proofs import conjecture; mine = conjecture("x + y >= 2", ["x > 0", "y > 0", "x*y == 1"])'
KEYS = {
    "claim": "a relation in quotes",
    "assume": "a list of relations, or a table that names them",
    "steps": "a list of relations",
    "first": "a whole number >= 0",
    "letters": "a list of names",
    "id": "text in quotes",
    "words": "text in quotes",
    "latex": "text in quotes",
}


def own_statements(file: Path) -> tuple[Statement, ...]:
    """The statements of a file, ``.py`` or ``.toml``; none has the id of another.

    Raises
    ------
    WrongUse
        If the file cannot be read, has an error, of which the line is told, or holds no statement.
    """
    try:
        remedy = "give the path of a file, or the id of a statement (fairqueues prove --list)"
        text = text_of(file, remedy, most=WRITTEN)
        found = _of_python(text, file) if file.suffix == ".py" else _of_toml(text, file)
    except ModelError as error:
        raise WrongUse(str(error)) from None
    require_distinct(found, f"{file}: ")
    return found


def require_distinct(found: Sequence[Statement], where: str = "") -> None:
    """WrongUse if two statements have the same id."""
    ids = [statement.id for statement in found]
    for name in ids:
        if ids.count(name) > 1:
            raise WrongUse(f"{where}two statements are called {name!r}; give one of them another id")


def _of_python(text: str, file: Path) -> tuple[Statement, ...]:
    """What stands in the variables of a file, alone or in lists; a conjecture is called as its variable."""
    from fairqueues.scenario.python_files import run_python
    from proofs import Statement

    variables = run_python(text, file).variables
    found: dict[int, Statement] = {}
    for name, value in variables.items():
        several = isinstance(value, list | tuple)
        for k, one in enumerate(value if several else [value], 1):
            if isinstance(one, Statement):
                own = f"{name}-{k}" if several else name
                named = replace(one, id=own) if one.id == DEFAULT_ID else one
                found.setdefault(id(one), named)
    if not found:
        raise WrongUse(f"{file} defines no statement; write for instance: {EXAMPLE}")
    return tuple(found.values())


def _of_toml(text: str, file: Path) -> tuple[Statement, ...]:
    from fairqueues.scenario.place import Place
    from fairqueues.scenario.reading import toml_tables

    text = text.replace("\r\n", "\n")
    data = toml_tables(text, str(file))
    place = Place(text, str(file))
    if "statement" not in data:
        return (_of_table(data, (), file.stem, place),)
    tables = data["statement"]
    if not isinstance(tables, list) or not all(isinstance(table, Mapping) for table in tables):
        raise place.error(("statement",), "write each statement as a table [[statement]]")
    if others := [key for key in data if key != "statement"]:
        raise place.error((others[0],), "keys stand below a [[statement]] of their own")
    return tuple(
        _of_table(table, ("statement", k), f"{file.stem}-{k + 1}", place) for k, table in enumerate(tables)
    )


def _of_table(data: Mapping[str, Any], path: tuple[str | int, ...], name: str, place: Place) -> Statement:
    """The conjecture of one table."""
    from proofs import ProofError, conjecture

    for key, value in data.items():
        if key not in KEYS:
            raise place.error((*path, key), f"unknown key; {near(key, KEYS)}")
        if not _fits(key, value):
            raise place.error((*path, key), f"got {value!r}; {key} is {KEYS[key]}")
    if "claim" not in data:
        raise place.error(path, 'there is no claim; add a line such as claim = "x + y >= 2"')
    options = {key: data[key] for key in ("words", "latex", "steps", "first") if key in data}
    try:
        found = conjecture(data["claim"], data.get("assume", ()), id=data.get("id", name), **options)
    except ProofError as error:
        raise place.error(_blamed(data, path), str(error)) from None
    if "letters" in data:
        _require_letters(found, data, path, place)
    return found


def _fits(key: str, value: Any) -> bool:
    if key == "first":
        return type(value) is int and value >= 0
    listed: Sequence[Any] = list(value.values()) if key == "assume" and isinstance(value, dict) else value
    if key in ("assume", "steps", "letters"):
        return isinstance(listed, list) and all(isinstance(one, str) for one in listed)
    return isinstance(value, str)


def _blamed(data: Mapping[str, Any], path: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """Where the first relation stands that is none."""
    from proofs import ProofError, conjecture

    texts: list[tuple[tuple[str | int, ...], str]] = []
    for key in ("assume", "steps"):
        given = data.get(key, [])
        inner = given.items() if isinstance(given, Mapping) else enumerate(given)
        texts += [((key, at), text) for at, text in inner]
    everything = " ".join([data["claim"], *(text for _, text in texts)])
    harmless = "0 <= s[n]" if re.search(r"\[\s*n\b", everything) else "0 <= 1"
    for at, text in texts:
        try:
            conjecture(harmless, [text], first=data.get("first", 0))
        except ProofError:
            return (*path, *at)
    return (*path, "claim")


def _require_letters(
    found: Statement, data: Mapping[str, Any], path: tuple[str | int, ...], place: Place
) -> None:
    """Error if the relations hold a letter that is not declared."""
    words = found.scope.partition(";")[0].removeprefix("all real ").split(", ")
    used = {word.partition("[")[0] for word in words} if found.scope.startswith("all real ") else set()
    if unknown := sorted(used - set(data["letters"])):
        raise place.error(
            (*path, "letters"), f"{unknown[0]!r} occurs in a relation and is none of the letters; add it"
        )
