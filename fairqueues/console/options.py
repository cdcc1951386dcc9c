"""Arguments and options that commands share, as annotated types."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from fairqueues.console import completion

__all__ = [
    "AsCsv",
    "AsJson",
    "Backend",
    "BackendOption",
    "File",
    "Jobs",
    "Load",
    "Methods",
    "Out",
    "Policies",
    "Report",
    "Seed",
    "Size",
    "TimeLimit",
    "Title",
    "Verbose",
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


File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="Scenario file (TOML or JSON), - for standard input, or the name of a shipped one.",
        show_default=False,
        autocompletion=completion.scenarios,
    ),
]
Policies = Annotated[
    list[str] | None,
    typer.Option(
        "--policy",
        "-p",
        metavar="NAME",
        help="Policy instead of those of the file, or one of a Python file, mine.py:NAME; may be repeated.",
        autocompletion=completion.policies,
    ),
]
Methods = Annotated[
    list[str] | None,
    typer.Option(
        "--policy",
        "-p",
        metavar="NAME",
        help='Policy, "balanced" or "bound" instead of what the command takes by itself, or a policy of a '
        "Python file, mine.py:NAME; may be repeated.",
        autocompletion=completion.curves,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]
AsCsv = Annotated[bool, typer.Option("--csv", help="The table as CSV on standard output.")]
Out = Annotated[
    list[Path] | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        help="Write a file, may be repeated; the suffix decides: .svg .png .pdf (figure) or "
        ".nc .csv .json (data) or .tex (table).",
    ),
]
Report = Annotated[
    Path | None, typer.Option("--report", metavar="FILE.html", help="Write one self-contained page.")
]
Size = Annotated[
    Printed | None,
    typer.Option(
        "--size",
        help="Figures of --out fit for print: a column (3.5 in), a page (7.16 in), a slide (16:9); no letter "
        "below 6 pt.",
        show_default=False,
    ),
]
Title = Annotated[
    bool,
    typer.Option("--title/--no-title", help="Figures of --out with or without titles.", show_default=False),
]
Seed = Annotated[
    int | None,
    typer.Option(
        "--seed", min=0, metavar="N", help="Seed instead of that of the file; without a file a fresh one."
    ),
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        "--time-limit", min=0.0, metavar="S", help="Stop after S seconds with what is known; exit code 1."
    ),
]
Load = Annotated[
    float | None, typer.Option("--load", min=0.0, metavar="L", help="Scale the traffic to this load.")
]
Jobs = Annotated[int, typer.Option("--jobs", metavar="N", help="Workers; -1 for all cores.")]
BackendOption = Annotated[
    Backend,
    typer.Option(
        "--backend",
        help="Who computes: loky (processes here), dask (scheduler in DASK_SCHEDULER_ADDRESS, else workers "
        "here), ray.",
    ),
]
Verbose = Annotated[
    int,
    typer.Option(
        "--verbose",
        "-v",
        count=True,
        show_default=False,
        help="Tell on standard error what is decided: methods, sizes, retries; -vv: each piece of work.",
    ),
]
