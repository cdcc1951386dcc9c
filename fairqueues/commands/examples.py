"""``examples``: the scenarios that are shipped."""

from __future__ import annotations

from typing import Annotated

import typer

from fairqueues.errors import WrongUse

__all__ = ["examples"]


def examples(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Print this one.")] = None,
) -> None:
    """List the shipped scenarios, or print one to start from; every FILE may be such a name."""
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
