"""What the shell offers behind the tab key: scenarios, policies, statements, classes and other names.

A shell asks in a process of its own while a person waits, so a scenario is read as the tables that it is, and
no model is built. What cannot be read offers nothing.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources.abc import Traversable
from pathlib import Path
from textwrap import shorten
from typing import Any

import typer

from fairqueues.console.inputs import example, examples

__all__ = [
    "classes",
    "curves",
    "methods",
    "policies",
    "properties",
    "scenarios",
    "schedulers",
    "shipped",
    "statements",
]

Offer = tuple[str, str]
"""What may be typed, and what it is."""

FILES = (".toml", ".json")


LONGEST = 70
"""Signs of what something is: longer ones some shells would read as a second offer."""


def _beginning(offers: Iterable[Offer], incomplete: str) -> list[Offer]:
    return [
        (name, shorten(about, LONGEST, placeholder=" ..."))
        for name, about in offers
        if name.startswith(incomplete)
    ]


def shipped(incomplete: str) -> list[Offer]:
    """Shipped scenarios, with their titles.

    Examples
    --------
    >>> shipped("drf_ex")
    [('drf_example', 'DRF: 9 CPU and 18 GB for two users')]
    """
    return _beginning(((name, _title(path)) for name, path in examples().items()), incomplete)


def _title(path: Traversable) -> str:
    found = re.search(r'^title = "(.*)"$', path.read_text("utf-8"), re.MULTILINE)
    return found[1] if found else ""


def scenarios(incomplete: str) -> list[Offer]:
    """Scenario files of a folder, and the shipped ones."""
    found = list(_files(incomplete))
    if len(found) == 1 and found[0][0].endswith("/"):  # or the shell would end the word behind the folder
        found += _files(found[0][0])
    return found + shipped(incomplete)


def _files(incomplete: str) -> Iterator[Offer]:
    folder, slash, start = incomplete.rpartition("/")
    place = Path(folder or (slash or "."))
    try:
        entries = sorted(place.iterdir())
    except OSError:
        return
    for entry in entries:
        if not entry.name.startswith(start) or (entry.name.startswith(".") and not start):
            continue
        if entry.is_dir():
            yield f"{folder}{slash}{entry.name}/", "folder"
        elif entry.suffix in FILES:
            yield f"{folder}{slash}{entry.name}", "scenario file"


def _tables(context: typer.Context) -> Mapping[str, Any]:
    """Tables of the scenario that is named already; empty without one."""
    # Behind an option that still lacks its value, what was typed before is not told apart yet.
    for given in map(str, filter(None, [context.params.get("file"), *context.args])):
        path = Path(given) if Path(given).is_file() else example(given)
        try:
            if path is not None:
                text = path.read_text("utf-8-sig")
                found: dict[str, Any] = json.loads(text) if text.lstrip()[:1] == "{" else tomllib.loads(text)
                return found
        except (OSError, ValueError):
            return {}
    return {}


def policies(context: typer.Context, incomplete: str) -> list[Offer]:
    """Policies that fit the scenario, and orders of whole jobs, with what they are; without one all."""
    return _policies(context, incomplete, orders=True)


def _policies(context: typer.Context, incomplete: str, *, orders: bool) -> list[Offer]:
    from fairqueues.scenario.names import policies_for

    tables = _tables(context)
    cluster, on_trees = "cluster" in tables if tables else None, not tables or "tree" in tables
    known = policies_for(cluster, on_trees, orders=orders)
    return _beginning(((name, entry.about) for name, entry in known.items()), incomplete)


_CLOSED = (("balanced", "balanced fairness"), ("bound", "the bound on its durations"))


def methods(context: typer.Context, incomplete: str) -> list[Offer]:
    """Ways to service rates: balanced fairness, its bound, policies, simulations of policies."""
    head = "simulated:"
    if incomplete.startswith(head):
        found = _policies(context, incomplete.removeprefix(head), orders=False)
        return [(f"{head}{name}", f"{about}, simulated") for name, about in found]
    return [
        *_beginning([*_CLOSED, (head, "a policy, simulated")], incomplete),
        *_policies(context, incomplete, orders=False),
    ]


def curves(context: typer.Context, incomplete: str) -> list[Offer]:
    """What can be set side by side over the loads: balanced fairness, its bound, policies."""
    closed = () if "cluster" in _tables(context) else _CLOSED
    return [*_beginning(closed, incomplete), *policies(context, incomplete)]


def schedulers(incomplete: str) -> list[Offer]:
    """Schedulers of whole tasks, and policies that one can follow."""
    from fairqueues.scenario.names import SCHEDULERS, policies_for

    own = {name: SCHEDULERS[name] for name in ("fifo", "drf")}
    known = policies_for(None, False, orders=False) | own
    return _beginning(((name, entry.about) for name, entry in known.items()), incomplete)


def classes(context: typer.Context, incomplete: str) -> list[Offer]:
    """Job classes of the scenario."""
    tables = _tables(context)
    given = {key: one for key, one in tables.items() if isinstance(one, Mapping)}
    names = next((given[key].get("job_classes") for key in ("pool", "cluster") if key in given), None)
    if names is None:
        names = given.get("network", {}).get("routes")
    found = list(names) if isinstance(names, list | Mapping) else []
    return _beginning([(str(name), "job class") for name in found], incomplete)


def properties(incomplete: str) -> list[Offer]:
    """Keys of properties, with their names."""
    from fairness.properties.definitions.catalogue import PROPERTIES

    return _beginning(((one.key, one.name) for one in PROPERTIES), incomplete)


def statements(incomplete: str) -> list[Offer]:
    """Statements of the papers, with their words; files with statements of one's own."""
    from proofs.catalogue import statements as known

    files = [(path.name, "your own") for path in sorted(Path().glob("*.py")) if not path.name.startswith(".")]
    return _beginning([*((one.id, one.words) for one in known()), *files], incomplete)
