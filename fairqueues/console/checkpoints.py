"""Where commands keep the points that are finished, so that the same command goes on after a stop."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from fairqueues.errors import WrongUse
from fairqueues.files import require_writable

__all__ = ["Checkpoint", "checkpoint_option"]


def checkpoint_option(default: str = "") -> Any:
    """The option of a command whose default comes first from the ``default`` of its file."""
    told = (
        f"Keep finished points here. Default: {default}the first --out with .part, which is removed at the "
    )
    return typer.Option("--checkpoint", metavar="FILE", help=f"{told}end.")


@dataclass(frozen=True)
class Checkpoint:
    """The file of finished points, if there is one, and whether it stays only until the result is written."""

    path: Path | None
    passing: bool = False

    @classmethod
    def of(cls, given: Path | None, out: Sequence[Path], of_file: str | None = None) -> Checkpoint:
        """That of the option, else of the scenario file, else one beside the first output."""
        if given is not None:
            return cls(given)
        if of_file is not None:
            path = Path(of_file)
            require_writable(path)
            if path in out:
                raise WrongUse(f"{path} is both the checkpoint and the result; choose another name")
            return cls(path)
        return cls(out[0].with_name(out[0].name + ".part"), passing=True) if out else cls(None)

    def done(self) -> None:
        """The result is written: remove what was kept until then."""
        if self.passing and self.path is not None:
            with suppress(FileNotFoundError):
                self.path.unlink()
