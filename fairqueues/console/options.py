"""Arguments and options that commands share: as annotated types, whose help stands in docstrings."""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from fairqueues.console import completion

__all__ = [
    "OUTPUT",
    "SHARED",
    "AnyFile",
    "Backend",
    "File",
    "Load",
    "Methods",
    "Policies",
    "Precision",
    "Seconds",
    "documented",
]

Backend = Literal["loky", "dask", "ray"]
"""Who computes the points: processes of this machine, a dask cluster, a ray cluster."""


def _common() -> None:
    """What arguments and options are that several commands have.

    Parameters
    ----------
    file : FILE
        Scenario file (TOML or JSON), - for standard input, or the name of a shipped one.
    policy : NAME
        Policy instead of those of the file, or one of a Python file, mine.py:NAME; may be repeated.
    method : NAME
        Policy, "balanced" or "bound" instead of what the command takes by itself, or a policy of a Python
        file, mine.py:NAME; may be repeated.
    counts : X,Y,...
        Jobs present instead of those of the file.
    load : L
        Scale the traffic to this load.
    seconds : S
        Find each mean as well as S seconds for all allow: formula, chain, proved bounds, simulation.
    precision : P
        With --seconds: relative error that is small enough (0.01).
    certificate : FILE
        Write the proof of the bounds (.json, .json.gz).
    checkpoint : FILE
        Keep finished points here. Default: the first --out with .part, which is removed at the end.
    place : DIR
        The repository or unpacked sdist, if it is elsewhere.
    """


def documented(function: Callable[..., Any]) -> tuple[str, str]:
    """Give the options of a command what its docstring says of them; what it says above, and its example.

    Behind the name of a parameter stands what its value is called in help texts, if it is called anything.
    One that the signature says nothing more of is an option of its name, or an argument without a default;
    one that the docstring says nothing of is what :func:`_common` says.
    """
    head, own, example = _parts(function)
    told = _parts(_common)[1] | own
    signature = inspect.signature(function, eval_str=True)
    parameters = []
    for one in signature.parameters.values():
        if one.name in told:
            given = getattr(one.annotation, "__metadata__", ())
            kind = one.annotation.__origin__ if given else one.annotation
            required = one.default is one.empty
            flag = ["--" + one.name.replace("_", "-")] if one.default is False else []
            info = copy.copy(given[0]) if given else (typer.Argument() if required else typer.Option(*flag))
            info.metavar, info.help = told[one.name]
            info.show_default = info.show_default and not isinstance(info, typer.models.ArgumentInfo)
            one = one.replace(annotation=Annotated[kind, info])
        parameters.append(one)
    function.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    function.__annotations__ = {one.name: one.annotation for one in parameters}
    return head, example


def _parts(function: Callable[..., Any]) -> tuple[str, dict[str, tuple[str | None, str]], str]:
    """Head of a docstring; by parameter what its value is called and what it is; the example."""
    head, *parts = _SECTION.split(inspect.getdoc(function) or "")
    sections = dict(zip(parts[::2], parts[1::2], strict=True))
    entries = _ENTRY.finditer(sections.get("Parameters", "") + "\n")
    told = {entry[1]: (entry[2], " ".join(entry[3].split())) for entry in entries}
    return head, told, sections.get("Examples", "").removeprefix("$ ")


_SECTION = re.compile(r"\n\n(Parameters|Examples)\n-+\n")
_ENTRY = re.compile(r"^(\w+)(?: : (.*))?\n((?:    .*\n)+)", re.MULTILINE)


File = Annotated[Path, typer.Argument(autocompletion=completion.scenarios)]
AnyFile = Annotated[Path | None, typer.Argument(autocompletion=completion.scenarios)]
Policies = Annotated[list[str] | None, typer.Option("--policy", "-p", autocompletion=completion.policies)]
Methods = Annotated[list[str] | None, typer.Option("--policy", "-p", autocompletion=completion.curves)]
Load = Annotated[float | None, typer.Option(min=0.0)]
Seconds = Annotated[float | None, typer.Option(min=0.001)]
Precision = Annotated[float | None, typer.Option(min=0.0)]


def _output(
    as_json: Annotated[bool, typer.Option("--json")] = False,
    as_csv: Annotated[bool, typer.Option("--csv")] = False,
    out: Annotated[list[Path] | None, typer.Option("--out", "-o")] = None,
    report: Path | None = None,
    size: Annotated[Literal["column", "page", "slide"] | None, typer.Option(show_default=False)] = None,
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
    backend: Backend = "loky",
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
