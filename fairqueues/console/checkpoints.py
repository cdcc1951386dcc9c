"""Where commands keep the points that are finished, so that the same command goes on after a stop."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import typer

from fairqueues.console.output import Delivery
from fairqueues.errors import WrongUse
from fairqueues.files import require_writable

__all__ = ["Checkpoint"]


@dataclass(frozen=True)
class Checkpoint:
    """The file of finished points, if there is one, and whether it stays only until the result is written.

    That is what a ``with`` statement around the delivery waits for, also of a result of which a check failed.
    """

    path: Path | None
    passing: bool = False

    @classmethod
    def of(cls, given: Path | None, deliver: Delivery, of_file: str | None = None) -> Checkpoint:
        """That of the option, else of the scenario file, else one beside the first output."""
        if given is not None:
            return cls(given)
        if of_file is not None:
            path = Path(of_file)
            require_writable(path)
            written = (*deliver.out, *filter(None, [deliver.report]))
            if path.resolve() in (one.resolve() for one in written):
                raise WrongUse(f"{path} is both the checkpoint and the result; choose another name")
            return cls(path)
        if not deliver.out:
            return cls(None)
        return cls(deliver.out[0].with_name(deliver.out[0].name + ".part"), passing=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        written = kind is None or issubclass(kind, typer.Exit)
        if written and self.passing and self.path is not None:
            self.path.unlink(missing_ok=True)
