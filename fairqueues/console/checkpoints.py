"""Where commands keep the points that are finished, so that the same command goes on after a stop."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from fairqueues.console.output import Delivery
from fairqueues.errors import WrongUse
from fairqueues.files import require_writable

__all__ = ["finished_points"]


@contextmanager
def finished_points(
    given: Path | None, deliver: Delivery, of_file: str | None = None
) -> Iterator[Path | None]:
    """The file of finished points: of the option, else of the scenario file, else one beside an output.

    That beside the first output stays only until the result is written, also one of which a check failed.
    """
    path = given
    if path is None and of_file is not None:
        path = Path(of_file)
        require_writable(path)
        written = (*deliver.out, *filter(None, [deliver.report]))
        if path.resolve() in (one.resolve() for one in written):
            raise WrongUse(f"{path} is both the checkpoint and the result; choose another name")
    if path is not None or not deliver.out:
        yield path
        return
    passing = deliver.out[0].with_name(f"{deliver.out[0].name}.part")
    try:
        yield passing
    except typer.Exit:
        passing.unlink(missing_ok=True)
        raise
    passing.unlink(missing_ok=True)
