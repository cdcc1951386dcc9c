"""Where things stand in a text, and the errors that say so: one line with file, line and key."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path as FilePath
from typing import Any, TypeVar

from fairness.errors import FairqueuesError, ModelError
from fairqueues.json_text import JsonLines, Lines, Path
from fairqueues.scenario.toml_text import key_lines

__all__ = ["Path", "Place", "ScenarioError", "dotted"]

_T = TypeVar("_T")


class ScenarioError(ModelError):
    """A scenario file is wrong; the message is one line that names file, line and key."""


def dotted(path: Path) -> str:
    """Path as a message shows it.

    Examples
    --------
    >>> dotted(("pool", "demands", 0, 1))
    'pool.demands[0][1]'
    """
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


class Place:
    """Where things stand in a text: makes the errors about it.

    Parameters
    ----------
    text : str
        Valid TOML or JSON.
    name : str
        File name for messages.
    folder : Path, optional
        Where files are that it names.
    """

    def __init__(self, text: str, name: str, folder: FilePath | None = None) -> None:
        self.text, self.name, self.folder = text, name, folder
        self.files: list[FilePath] = []
        """Files of data that were asked for with :meth:`beside`."""
        self.is_json = name.lower().endswith(".json") or text.lstrip()[:1] == "{"
        """Whether it is meant as JSON: it begins with a brace, as no TOML does, or its file is called so."""

    @cached_property
    def lines(self) -> Lines | JsonLines:
        """Line of every key, table and element."""
        return JsonLines(self.text) if self.is_json else key_lines(self.text)

    def beside(self, file: str) -> FilePath:
        """Path of a file of data that the text names, seen from the folder where it stands."""
        self.files.append(FilePath(file) if self.folder is None else self.folder / file)
        return self.files[-1]

    def error(self, path: Path, message: str, at: Path | None = None) -> ScenarioError:
        """Error about the key or element at a path, with the line of that of ``at`` if it differs."""
        line = self.lines.nearest(path if at is None else at)
        where = f", {dotted(path)}" if path else ""
        message = f"{self.name}, line {line}{where}: {' '.join(message.split())}"
        last = max((k for k, part in enumerate(path) if isinstance(part, str)), default=None)
        if last is None:
            return ScenarioError(message)
        return ScenarioError(message, argument=str(path[last]), index=path[last + 1 :])

    def require_length(
        self, path: Path, given: Any, count: int, per: str = "job classes", rule: str = "give one for each"
    ) -> None:
        """Error if a list has not so many entries; a single value stands for all of them."""
        if isinstance(given, list) and len(given) != count:
            raise self.error(path, f"{path[-1]} has {len(given)} entries for {count} {per}; {rule}")

    @contextmanager
    def located(self, *path: str | int) -> Iterator[None]:
        """Turn errors of the library into one-liners about the key below ``path`` that is their argument."""
        try:
            yield
        except ScenarioError:
            raise
        except FairqueuesError as error:
            at: Path = () if error.argument is None else (error.argument, *error.index)
            while at and (*path, *at) not in self.lines:
                at = at[:-1]
            raise self.error((*path, *at), str(error)) from None

    def distinct(self, path: Path, specs: Sequence[Any], make: Callable[[Any], _T]) -> tuple[_T, ...]:
        """What is made of the entries of a list; no two are alike."""
        found: list[_T] = []
        for k, spec in enumerate(specs):
            with self.located(*path, k):
                one = make(spec)
            if one in found:
                raise self.error((*path, k), f"{spec!r} is there twice; remove one")
            found.append(one)
        return tuple(found)
