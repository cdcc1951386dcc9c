"""Arguments and options that commands share, as annotated types."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "AsCsv",
    "AsJson",
    "Backend",
    "BackendOption",
    "File",
    "Jobs",
    "Out",
    "Policies",
    "Report",
    "Seed",
    "TimeLimit",
]


class Backend(StrEnum):
    """Who computes the points: processes of this machine, a dask cluster, a ray cluster."""

    LOKY = "loky"
    DASK = "dask"
    RAY = "ray"


File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="Scenario file (TOML), - for standard input, or the name of a shipped one.",
        show_default=False,
    ),
]
Policies = Annotated[
    list[str] | None,
    typer.Option(
        "--policy", "-p", metavar="NAME", help="Policy instead of those of the file; may be repeated."
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
        ".nc .csv .json (data).",
    ),
]
Report = Annotated[
    Path | None, typer.Option("--report", metavar="FILE.html", help="Write one self-contained page.")
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
Jobs = Annotated[int, typer.Option("--jobs", metavar="N", help="Workers; -1 for all cores.")]
BackendOption = Annotated[
    Backend,
    typer.Option(
        "--backend",
        help="Who computes: loky (processes here), dask (scheduler in DASK_SCHEDULER_ADDRESS, else workers "
        "here), ray.",
    ),
]
