"""What the explorer can begin with: its first state, links, and the shipped scenarios that it can show."""

from __future__ import annotations

import math
import tomllib
from dataclasses import replace
from functools import cached_property
from importlib.resources.abc import Traversable
from typing import Any
from urllib.parse import parse_qsl

from fairqueues.explorer.fields import FieldErrors, require_sizes
from fairqueues.explorer.model import State
from fairqueues.scenario import Scenario
from fairqueues.scenario.shipped import examples

__all__ = ["Examples"]


class Examples:
    """States by their links, of which some name a shipped scenario: "example=talk_balanced".

    A link may name the policies of the catalogue, and of the scenario that it says it began with ("of=").

    Parameters
    ----------
    default : State
        That of the empty link.

    Examples
    --------
    >>> found = Examples(State())
    >>> found.state("example=talk_balanced").job_classes
    ('cpu-bound', 'ram-bound')
    """

    def __init__(self, default: State) -> None:
        self.default = default
        self._first: dict[str, State] = {}

    def state(self, query: str) -> State:
        """The state of a link.

        Raises
        ------
        FieldErrors
            As :meth:`State.from_query`, and if there is no such example.
        ModelError
            If the example cannot be shown.
        """
        if not query:
            return self.default
        given = dict(parse_qsl(query, keep_blank_values=True))
        if list(given) == ["example"]:
            name = given["example"]
            if name not in dict(self.menu):
                raise FieldErrors({"form": f"there is no example {name[:30]!r}"})
            return self._example(name)
        first = self._beginning(given.get("of", ""))
        # A link to the other kind of model has the policies of the catalogue for that.
        alike = bool(first.servers) == ("server" in given)
        state = State.from_query(query, first.offered if alike else None)
        # What is left out of some other file, nobody knows here.
        return replace(state, left_out=first.left_out if first.origin == state.origin else ())

    def _beginning(self, origin: str) -> State:
        """The state that a link began with; the default if that is not known here."""
        if origin != self.default.origin and origin in dict(self.menu):
            return self._example(origin)
        return self.default

    def _example(self, name: str) -> State:
        if name not in self._first:
            self._first[name] = State.from_scenario(Scenario.read(examples()[name]))
        return self._first[name]

    @cached_property
    def menu(self) -> tuple[tuple[str, str], ...]:
        """Name and title of each example that can be shown, as far as its pool tells."""
        return tuple((name, title) for name, path in examples().items() if (title := _title(path)))


def _title(path: Traversable) -> str:
    """Title of a scenario whose model the explorer shows; else nothing."""
    data: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    model = data.get("pool") or data.get("cluster") or {}
    demands, servers = model.get("demands", [[]]), model.get("capacities", []) if "cluster" in data else []
    try:
        require_sizes(len(demands), len(demands[0]), len(servers))
    except FieldErrors:
        return ""
    free = "gamma" not in model and all(map(math.isinf, model.get("limits", [])))
    return str(data.get("title", path.name)) if free else ""
