"""Files appear whole or not at all: everything is written aside and put in place at the end."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from fairness.errors import ModelError
from fairness.files import aside
from fairqueues.errors import OutputError

__all__ = ["require_folder", "require_writable", "write_all"]


def require_writable(path: Path) -> None:
    """OutputError unless a file can be made at this place; nothing is left behind.

    Examples
    --------
    >>> require_writable(Path("nowhere/out.svg"))
    Traceback (most recent call last):
    fairqueues.errors.OutputError: cannot write nowhere/out.svg: there is no folder 'nowhere'; ...
    """
    folder = path.parent
    if path.is_dir():
        raise OutputError(f"cannot write {path}: it is a folder; name a file in it")
    if not folder.is_dir():
        raise OutputError(f"cannot write {path}: there is no folder {str(folder)!r}; create it first")
    if path.exists() and not os.access(path, os.W_OK):
        raise OutputError(f"cannot write {path}: the file is protected; choose another name")
    try:
        handle, name = tempfile.mkstemp(dir=folder)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror}; choose another folder") from None
    os.close(handle)
    os.unlink(name)


def require_folder(folder: Path) -> None:
    """OutputError unless files can be written into the folder, or it can be made."""
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"cannot write into {folder}: it is a file; name a folder")
    if not folder.exists():
        require_writable(folder)


def write_all(writers: Mapping[Path, Callable[[Path], Any]]) -> None:
    """Call every writer with a path beside its target; put all files in place when the last is written."""
    try:
        with ExitStack() as stack:
            for path, write in writers.items():
                place = stack.enter_context(aside(path))
                write(place)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from None
    except ModelError as error:  # of a result that is saved
        if error.argument != "path":
            raise
        raise OutputError(str(error).removeprefix("path: ").replace(str(place), str(path))) from None
