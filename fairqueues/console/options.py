"""Arguments and options that commands share, as annotated types."""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from fairqueues.console import completion

__all__ = [
    "OUTPUT",
    "SHARED",
    "AnyFile",
    "Backend",
    "Certificate",
    "Counts",
    "File",
    "Load",
    "Methods",
    "Policies",
    "Precision",
    "Seconds",
    "argument",
    "documented",
    "option",
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


def documented(function: Callable[..., Any]) -> str:
    """Give the options of a command what its docstring says of its parameters; the docstring without them.

    Behind the name of a parameter stands what its value is called in help texts, if it is called anything.
    One that the signature says nothing more of is an option of its name, or an argument without a default.
    """
    head, _, entries = (inspect.getdoc(function) or "").partition("\n\nParameters\n----------\n")
    told = {m[1]: (m[2], " ".join(m[3].split())) for m in _ENTRY.finditer(f"{entries}\n")}
    signature = inspect.signature(function, eval_str=True)
    parameters = []
    for one in signature.parameters.values():
        if one.name in told:
            kind, *given = get_args(one.annotation) if _is_annotated(one.annotation) else (one.annotation,)
            required = one.default is one.empty
            flag = ["--" + one.name.replace("_", "-")] if one.default is False else []
            info = copy.copy(given[0]) if given else (typer.Argument() if required else typer.Option(*flag))
            info.metavar, info.help = told[one.name]
            info.show_default = info.show_default and not isinstance(info, typer.models.ArgumentInfo)
            one = one.replace(annotation=Annotated[kind, info])
        parameters.append(one)
    function.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    function.__annotations__ = {one.name: one.annotation for one in parameters}
    return head


_ENTRY = re.compile(r"^(\w+)(?: : (.*))?\n((?:    .*\n)+)", re.MULTILINE)


def _is_annotated(annotation: Any) -> bool:
    return hasattr(annotation, "__metadata__")


AnyFile = Annotated[Path | None, typer.Argument(autocompletion=completion.scenarios)]
File = Annotated[
    Path,
    argument(
        "Scenario file (TOML or JSON), - for standard input, or the name of a shipped one.",
        "FILE", autocompletion=completion.scenarios,
    ),
]  # fmt: skip
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


def _output(
    as_json: Annotated[bool, typer.Option("--json")] = False,
    as_csv: Annotated[bool, typer.Option("--csv")] = False,
    out: Annotated[list[Path] | None, typer.Option("--out", "-o")] = None,
    report: Path | None = None,
    size: Annotated[Printed | None, typer.Option(show_default=False)] = None,
    title: Annotated[bool, typer.Option(show_default=False)] = True,
) -> None:
    """Where a result goes.

    Parameters
    ----------
    as_json
        One JSON object on standard output.
    as_csv
        The table as CSV on standard output.
    out : FILE
        Write a file, may be repeated; the suffix decides: .svg .png .pdf (figure) or .nc .csv .json (data) or
        .tex (table).
    report : FILE.html
        Write one self-contained page.
    size
        Figures of --out fit for print: a column (3.5 in), a page (7.16 in), a slide (16:9); no letter below 6
        pt.
    title
        Figures of --out with or without titles.
    """


def _shared(
    jobs: int = 1,
    backend: Backend = Backend.LOKY,
    seed: Annotated[int | None, typer.Option(min=0)] = None,
    time_limit: Annotated[float | None, typer.Option(min=0.0)] = None,
    verbose: Annotated[int, typer.Option("--verbose", "-v", count=True, show_default=False)] = 0,
) -> None:
    """What some commands have, and ``verbose`` all.

    Parameters
    ----------
    jobs : N
        Workers; -1 for all cores.
    backend
        Who computes: loky (processes here), dask (scheduler in DASK_SCHEDULER_ADDRESS, else workers here),
        ray.
    seed : N
        Seed instead of that of the file; without a file a fresh one.
    time_limit : S
        Stop after S seconds with what is known; exit code 1.
    verbose
        Tell on standard error what is decided: methods, sizes, retries; -vv: each piece of work.
    """


def _parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    documented(function)
    kind = inspect.Parameter.KEYWORD_ONLY
    return {one.name: one.replace(kind=kind) for one in inspect.signature(function).parameters.values()}


OUTPUT, SHARED = _parameters(_output), _parameters(_shared)
"""Options of all results, and those that some commands share, by their names."""
