"""Files appear whole or not at all: what is written lies aside, and is put in place at the end."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fairness.errors import ModelError

__all__ = ["aside", "read_whole", "write_whole"]

MOST = 1 << 32
"""Bytes of a file that is read whole."""
WRITTEN = 1 << 26
"""Bytes of a text that people write."""


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


def write_whole(path: Path, data: bytes) -> None:
    """Write a file, whole or not at all; ModelError about the argument ``path`` if it cannot be written."""
    try:
        with aside(path) as place:
            place.write_bytes(data)
    except OSError as error:
        raise ModelError.of(
            "path",
            f": cannot write {str(path)!r}: {error.strerror or error}; name a file in a folder that exists "
            "and is writable",
        ) from None


def read_whole(path: str | os.PathLike[str], most: int = MOST) -> bytes:
    """All bytes of a file, or of a pipe.

    Raises
    ------
    OSError
        If it cannot be read, is a device, which may have no end, or is larger than ``most`` bytes.

    Examples
    --------
    >>> read_whole("/dev/zero")
    Traceback (most recent call last):
    OSError: [Errno 22] it is a device and no file: '/dev/zero'
    """
    with open(path, "rb") as file:
        if stat.S_ISCHR(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is a device and no file", os.fspath(path))
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"it is larger than {most >> 20} MiB", os.fspath(path))
    return data
