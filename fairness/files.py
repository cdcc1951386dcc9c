"""Files appear whole or not at all: what is written lies aside, and is put in place at the end."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["aside"]


@contextmanager
def aside(path: Path) -> Iterator[Path]:
    """A place beside a path to write to; at the end it becomes the file, or is gone if something failed.

    Raises
    ------
    OSError
        If nothing can be written there.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     target = Path(folder, "answer.txt")
    ...     with aside(target) as place:
    ...         _ = place.write_text("42")
    ...         before = target.exists()
    ...     before, target.read_text()
    (False, '42')
    """
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-", suffix=path.suffix)
    os.close(handle)
    place = Path(name)
    try:
        yield place
        # mkstemp makes private files; these are to be shared, as open() would make them.
        mask = os.umask(0)
        os.umask(mask)
        place.chmod(0o666 & ~mask)
        os.replace(place, path)
    finally:
        with suppress(FileNotFoundError):
            place.unlink()
