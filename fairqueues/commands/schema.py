"""``schema`` and ``version``."""

from __future__ import annotations

import json
from typing import Annotated

import typer

__all__ = ["schema", "version"]


def schema() -> None:
    """Print the JSON schema of scenario files, for editors that complete and check TOML."""
    from fairqueues.scenario import schema as scenario_schema

    typer.echo(json.dumps(scenario_schema(), indent=1))


def version(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Print the versions of fairqueues and of what its results may depend on."""
    from fairqueues.report.outcome import versions

    found = versions()
    typer.echo(
        json.dumps(found) if as_json else "\n".join(f"{name} {number}" for name, number in found.items())
    )
