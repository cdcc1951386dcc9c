"""``import``: a scenario of the files that people have of their clusters."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairqueues.errors import WrongUse

__all__ = ["import_files"]


def import_files(
    files: list[Path],
    output: Annotated[Path | None, typer.Option("--output", "-o")] = None,
    capacity: list[str] | None = None,
    servers: Annotated[bool | None, typer.Option("--servers/--pool", show_default=False)] = None,
) -> None:
    """Make a scenario of the files of a cluster, and say what is not carried over; contacts no cluster.

    Parameters
    ----------
    files : FILES...
        Kueue, Volcano, nodes, pods (YAML, JSON), fair-scheduler.xml, capacity-scheduler.xml, CSV.
    output : FILE.toml
        Scenario file to write; default: print it.
    capacity : RESOURCE=UNITS
        Units of a resource in all, 64 or 2Ti, instead of those of the files; may be repeated.
    servers
        Keep servers apart, or add them up; default: apart, unless there are queues or pods.

    Examples
    --------
    $ fairqueues import queues.yaml nodes.json jobs.csv --output cluster.toml
    """
    from fairqueues.exchange import read_cluster
    from fairqueues.files import require_writable, write_all

    if output is not None:
        if output.suffix.lower() != ".toml":
            raise WrongUse(f"--output {output}: a scenario is a TOML file, name it .toml")
        require_writable(output)
        if any(output.resolve() == file.resolve() for file in files):
            raise WrongUse(f"{output} is read and would be overwritten; choose another name")
    capacities = {}
    for one in capacity or ():
        name, equals, units = one.partition("=")
        if not equals or not name.strip() or not units.strip():
            raise WrongUse(f"--capacity {one!r}: write RESOURCE=UNITS, such as cpu=64 or memory=2Ti")
        if name.strip() in capacities:
            raise WrongUse(f"--capacity gives {name.strip()} twice; name each resource once")
        capacities[name.strip()] = units.strip()
    found = read_cluster(*files, capacities=capacities or None, servers=servers)
    text = found.to_toml()
    _ = found.scenario  # what is written can be computed with
    if output is None:
        typer.echo(text, nl=False)
        return
    write_all({output: lambda aside: aside.write_text(text, encoding="utf-8")})
    typer.echo(f"{output}: {found}")
