"""``examples``, ``schema`` and ``version``: what is printed as it is."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from fairqueues.console import completion
from fairqueues.errors import WrongUse

__all__ = ["examples", "schema", "version"]


def examples(
    name: Annotated[str | None, typer.Argument(autocompletion=completion.shipped)] = None,
) -> None:
    """List the shipped scenarios, or print one to start from; every FILE may be such a name.

    Parameters
    ----------
    name : NAME
        Print this one.

    Examples
    --------
    $ fairqueues examples drf_example > mine.toml
    """
    from fairqueues.console.inputs import example
    from fairqueues.console.inputs import examples as shipped
    from fairqueues.scenario import Scenario

    if name is None:
        width = max(len(known) for known in shipped())
        for known, path in shipped().items():
            typer.echo(f"{known:<{width}}  {Scenario.read(path).title}")
        return
    found = example(name)
    if found is None:
        raise WrongUse(f"no shipped scenario is called {name!r}; fairqueues examples lists them")
    typer.echo(found.read_text("utf-8"), nl=False)


def schema() -> None:
    """Print the JSON schema of scenario files, for editors that complete and check TOML.

    Examples
    --------
    $ fairqueues schema > scenario.schema.json
    """
    from fairqueues.scenario import schema as scenario_schema

    typer.echo(json.dumps(scenario_schema(), indent=1))


def version(as_json: Annotated[bool, typer.Option("--json")] = False) -> None:
    """Print the versions of fairqueues and of what its results may depend on.

    Parameters
    ----------
    as_json
        One JSON object on standard output.

    Examples
    --------
    $ fairqueues version
    """
    from fairqueues.report.outcome import versions

    found = versions()
    lines = [f"{name} {number}" for name, number in found.items()]
    typer.echo(json.dumps(found) if as_json else "\n".join(lines))
