"""What files call the types that they hold: a public name and a number, wherever a type stands today.

``saved_types.csv`` beside this module has a row for each type that a file may hold, and nothing else is made
of a file. A row says the *name* of the type in files, the number of its *format*, its *place* (module and
class), and the place that it had *first*, by which the files of fairqueues 0.1.0 and the checkpoints begun
with it call it. Type by type:

- one that is new gets a row, without a first place;
- one that is moved or renamed gets another place, and nothing else changes;
- one that gets a field more gives it a default and the metadata ``LATER`` of :mod:`fairness.display.storage`;
- one whose fields change otherwise gets the next format, and a static method ``upgraded(fields, format)``
  that makes those of today of the fields by name that a file of an older format has.

No row is ever taken out.
"""

from __future__ import annotations

import csv
import pkgutil
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

__all__ = ["SavedType", "saved_type", "type_called"]


class SavedType(NamedTuple):
    """A row of the table."""

    name: str
    format: int
    place: str
    first: str

    def found(self) -> type:
        """The type itself."""
        module, _, name = self.place.partition(":")
        found: type = getattr(import_module(module), name)
        return found


def saved_type(cls: Any) -> SavedType | None:
    """The row of a type; None if files do not hold it.

    Examples
    --------
    >>> from fairness import Problem
    >>> saved_type(Problem).name, saved_type(int)
    ('fairness.Problem', None)
    """
    return _by("place").get(f"{cls.__module__}:{cls.__qualname__}")


def type_called(name: str) -> SavedType | None:
    """The row of the type that a file calls so, by its name or by the place that it had first."""
    return _by("name").get(name) or _by("first").get(name)


@cache
def _by(column: str) -> dict[str, SavedType]:
    # Read by the loader of the package, which may lie inside a zip file.
    text = (pkgutil.get_data(__package__, "saved_types.csv") or b"").decode()
    lines = csv.reader(text.splitlines()[1:])
    rows = [SavedType(name, int(number), place, first) for name, number, place, first in lines]
    return {getattr(row, column): row for row in rows if getattr(row, column)}
