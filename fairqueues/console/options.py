"""Arguments and options that commands share, as annotated types."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from fairqueues.console import completion

__all__ = [
    "AsCsv",
    "AsJson",
    "Backend",
    "BackendOption",
    "Certificate",
    "Counts",
    "File",
    "Jobs",
    "Load",
    "Methods",
    "Out",
    "Policies",
    "Precision",
    "Report",
    "Seconds",
    "Seed",
    "Size",
    "TimeLimit",
    "Title",
    "Verbose",
    "argument",
    "option",
    "scenario_file",
]


class Backend(StrEnum):
    """Who computes the points: processes of this machine, a dask cluster, a ray cluster."""

    LOKY = "loky"
    DASK = "dask"
    RAY = "ray"


class Printed(StrEnum):
    """Where a figure will stand."""

    COLUMN = "column"
    PAGE = "page"
    SLIDE = "slide"


def option(told: str, metavar: str | None = None, *names: str, **more: Any) -> Any:
    """An option with its line of help; without ``names`` it is called like its parameter."""
    return typer.Option(*names, metavar=metavar, help=told, **more)


def argument(told: str, metavar: str, **more: Any) -> Any:
    """An argument with its line of help."""
    return typer.Argument(metavar=metavar, help=told, show_default=False, **more)


def scenario_file(told: str) -> Any:
    """An argument that is a scenario file."""
    return argument(told, "FILE", autocompletion=completion.scenarios)


File = Annotated[
    Path, scenario_file("Scenario file (TOML or JSON), - for standard input, or the name of a shipped one.")
]
Policies = Annotated[
    list[str] | None,
    option(
        "Policy instead of those of the file, or one of a Python file, mine.py:NAME; may be repeated.",
        "NAME", "--policy", "-p", autocompletion=completion.policies,
    ),
]  # fmt: skip
Methods = Annotated[
    list[str] | None,
    option(
        'Policy, "balanced" or "bound" instead of what the command takes by itself, or a policy of a '
        "Python file, mine.py:NAME; may be repeated.",
        "NAME", "--policy", "-p", autocompletion=completion.curves,
    ),
]  # fmt: skip
Counts = Annotated[str | None, option("Jobs present instead of those of the file.", "X,Y,...")]
Certificate = Annotated[Path | None, option("Write the proof of the bounds (.json, .json.gz).", "FILE")]
AsJson = Annotated[bool, option("One JSON object on standard output.", None, "--json")]
AsCsv = Annotated[bool, option("The table as CSV on standard output.", None, "--csv")]
Out = Annotated[
    list[Path] | None,
    option(
        "Write a file, may be repeated; the suffix decides: .svg .png .pdf (figure) or .nc .csv .json (data) "
        "or .tex (table).",
        "FILE", "--out", "-o",
    ),
]  # fmt: skip
Report = Annotated[Path | None, option("Write one self-contained page.", "FILE.html")]
Size = Annotated[
    Printed | None,
    option(
        "Figures of --out fit for print: a column (3.5 in), a page (7.16 in), a slide (16:9); no letter "
        "below 6 pt.",
        show_default=False,
    ),
]
Title = Annotated[bool, option("Figures of --out with or without titles.", show_default=False)]
Seed = Annotated[
    int | None, option("Seed instead of that of the file; without a file a fresh one.", "N", min=0)
]
TimeLimit = Annotated[
    float | None, option("Stop after S seconds with what is known; exit code 1.", "S", min=0.0)
]
Seconds = Annotated[
    float | None,
    option(
        "Find each mean as well as S seconds for all allow: formula, chain, proved bounds, simulation.",
        "S", min=0.001,
    ),
]  # fmt: skip
Precision = Annotated[
    float | None, option("With --seconds: relative error that is small enough (0.01).", "P", min=0.0)
]
Load = Annotated[float | None, option("Scale the traffic to this load.", "L", min=0.0)]
Jobs = Annotated[int, option("Workers; -1 for all cores.", "N")]
BackendOption = Annotated[
    Backend,
    option(
        "Who computes: loky (processes here), dask (scheduler in DASK_SCHEDULER_ADDRESS, else workers here), "
        "ray."
    ),
]
Verbose = Annotated[
    int,
    option(
        "Tell on standard error what is decided: methods, sizes, retries; -vv: each piece of work.",
        None, "--verbose", "-v", count=True, show_default=False,
    ),
]  # fmt: skip
