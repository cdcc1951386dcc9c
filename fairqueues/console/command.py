"""What every command that has a result shares: the options of its output, in one decorator."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

import typer

from fairqueues.console.listening import listening
from fairqueues.console.options import AsCsv, AsJson, Out, Report, Size, Title, Verbose
from fairqueues.console.output import Delivery

__all__ = ["command"]

_OUTPUT = {
    "as_json": (AsJson, False), "as_csv": (AsCsv, False), "out": (Out, None), "report": (Report, None),
    "size": (Size, None), "title": (Title, True),
}  # fmt: skip


def command(
    *, figures: bool = True, report: bool = True, writes: str | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a function the options of its output, such as ``--json`` and ``--out``, checked before it runs.

    Parameters
    ----------
    figures : bool
        Whether its result can be drawn.
    report : bool
        Whether it writes pages.
    writes : str, optional
        Its own option for a file that it writes.

    Returns
    -------
    callable
        Decorator of a function whose first argument, a :class:`~fairqueues.console.output.Delivery`, stands
        for these options.
    """
    absent = () if figures else ("size", "title")
    options = {n: option for n, option in _OUTPUT.items() if n not in absent and (report or n != "report")}

    def decorated(function: Callable[..., None]) -> Callable[..., None]:
        own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]

        @wraps(function)
        def run(context: typer.Context, **arguments: Any) -> None:
            asked = {name: arguments.pop(name) for name in options}
            also = [arguments[writes]] if writes and arguments[writes] is not None else []
            with listening(arguments.pop("verbose")):
                function(Delivery.of(context, **asked, figures=figures, also=also), **arguments)

        kind = inspect.Parameter.KEYWORD_ONLY
        shared = [
            inspect.Parameter(name, kind, default=default, annotation=option)
            for name, (option, default) in (options | {"verbose": (Verbose, 0)}).items()
        ]
        first = inspect.Parameter("context", kind, annotation=typer.Context)
        parameters = [first, *(parameter.replace(kind=kind) for parameter in own), *shared]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return run

    return decorated
