"""Files: those that are written appear whole or not at all, and those that are read are text.

What is written lies aside, and is put in place at the end. What is read may be compressed by gzip; it comes
in blocks, in which every end of a line is a newline, and what is no text is refused with its line.
"""

from __future__ import annotations

import errno
import gzip
import io
import os
import re
import stat
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from fairness.errors import ModelError

__all__ = ["Block", "aside", "blocks", "read_whole", "text_of", "text_size", "write_whole"]

MOST = 1 << 32
"""Bytes, or characters, of a file that is read whole."""
WRITTEN = 1 << 26
"""Characters of a text that people write, at most."""

BLOCK = 1 << 22
"""Characters read at a time."""

LONGEST = 1 << 24
"""Characters from which a line is no line, but an end that is missing."""

PACKED = b"\x1f\x8b"
"""The first bytes of a file that gzip has made."""

_NO_TEXT = re.compile("[\0\udc80-\udcff]")
"""What stands for bytes that are no UTF-8, and NUL, which no text has."""


class Block(NamedTuple):
    """A part of a text: the number of its first line, and how many bytes of the file have been read."""

    line: int
    text: str
    done: int


def blocks(
    path: str | os.PathLike[str], remedy: str, *, size: int | None = None, lines: bool = True
) -> Iterator[Block]:
    """The text of a file, block by block, of whole ``lines`` unless these do not matter.

    Parameters
    ----------
    path : path
    remedy : str
        What to do where it cannot be read, behind the last semicolon of the message.
    size : int, characters
        How much to read at a time; default: some megabytes.

    Raises
    ------
    ModelError
        If the file cannot be read, is no text in UTF-8, or has a line without an end; with the line.
    """
    try:
        with _opened(path) as raw:
            packed = raw.peek(2)[:2] == PACKED
            source: Any = gzip.GzipFile(fileobj=raw) if packed else raw
            # Any end of a line; a mark of the byte order, which editors of Windows write, is no text.
            with io.TextIOWrapper(source, encoding="utf-8-sig", errors="surrogateescape") as stream:
                line = 1
                while text := stream.read(size or BLOCK):
                    if lines and not text.endswith("\n"):
                        text += (rest := stream.readline(LONGEST))
                        if len(rest) == LONGEST:
                            at = line + text.count("\n")
                            raise ModelError(f"{path}, line {at}: has no end; {remedy}")
                    if (not text.isascii() or "\0" in text) and (wrong := _NO_TEXT.search(text)):
                        at = line + text.count("\n", 0, wrong.start())
                        raise ModelError(f"{path}, line {at}: is no text in UTF-8; save the file as UTF-8")
                    yield Block(line, text, raw.tell() if raw.seekable() else 0)
                    line += text.count("\n")
    except ModelError:
        raise
    except (OSError, EOFError, zlib.error, ValueError) as error:  # of gzip, or a NUL in the path
        said = getattr(error, "strerror", None) or error
        raise ModelError(f"{path}: cannot be read: {said}; {remedy}") from None


def text_of(path: str | os.PathLike[str], remedy: str, *, most: int = MOST) -> str:
    """All of a text file, or of a pipe; ModelError as :func:`blocks`, or if it is larger than ``most``."""
    found, size = list[str](), 0
    for block in blocks(path, remedy, lines=False):
        found.append(block.text)
        size += len(block.text)
        if size > most:
            raise ModelError(f"{path}: cannot be read: it is larger than {most >> 20} MiB; {remedy}")
    return "".join(found)


def text_size(path: str | os.PathLike[str]) -> int | None:
    """Bytes of a text file; None if it is compressed, or cannot be read."""
    with suppress(OSError, ValueError), open(path, "rb") as raw:
        return None if raw.read(2) == PACKED else os.fstat(raw.fileno()).st_size
    return None


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
    with _opened(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"it is larger than {most >> 20} MiB", os.fspath(path))
    return data


@contextmanager
def _opened(path: str | os.PathLike[str]) -> Iterator[io.BufferedReader]:
    """A file open for reading; OSError if it is a device."""
    with open(path, "rb") as file:
        if stat.S_ISCHR(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is a device and no file", os.fspath(path))
        yield file
