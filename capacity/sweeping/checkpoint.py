"""The file of a sweep that survives a kill: whole records, one per line, appended and never rewritten.

Each line is a checksum (the first 16 hexadecimal digits of SHA-256), a space and a JSON object. The first
object says which sweep the file belongs to; each other one is the record of a finished point. A process that
is killed while it writes leaves a line without its end: it is cut off when the file is opened again, and all
lines before it count. A line that was damaged later fails its checksum and is left out, with a warning in the
log; its point is computed again.

The lines reach the operating system one by one, which is what surviving a SIGKILL takes, and the disk every
few seconds, for the case that the machine dies.
"""

from __future__ import annotations

import errno
import hashlib
import io
import json
import logging
import os
import reprlib
import stat
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn

from capacity.sweeping.points import Record
from fairness.errors import ModelError

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows has no locks of this kind; two writers are not noticed there
    fcntl = None  # type: ignore[assignment]

__all__ = ["Checkpoint"]

_log = logging.getLogger(__name__)
_MAGIC = b"fairqueues-sweep-1 "
_SYNC_SECONDS = 5.0


class Checkpoint:
    """An open checkpoint, locked against other processes.

    Parameters
    ----------
    path : path
        Made if it does not exist.
    identity : mapping of str to JSON values
        What the records depend on; all of it must agree with what an existing file says.
    seed : JSON value
        Where all random streams come from. None takes what the file says, or else ``fresh_seed``.
    fresh_seed : JSON value
        The seed of a new file.

    Attributes
    ----------
    records : dict of int to Record
        Points that the file already has.
    seed : JSON value
    kept : int
        Records in the file.

    Raises
    ------
    ModelError
        If the path cannot be read and written, is in use, or belongs to something else.
    """

    def __init__(self, path: Any, identity: Mapping[str, Any], seed: Any, fresh_seed: Any) -> None:
        if not isinstance(path, str | os.PathLike):
            raise ModelError(f"checkpoint must be a path; got {path!r}")
        self.path = Path(path)
        self.records: dict[int, Record] = {}
        self._synced = time.monotonic()
        try:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
            # Without a buffer, so that a write that failed is not tried again when the file is closed.
            self._file = io.FileIO(descriptor, "r+")
        except OSError as error:
            raise ModelError(
                f"checkpoint: cannot write {self.path}: {error.strerror}; give a path in a directory that "
                "exists and is writable"
            ) from None
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                self._refuse()
            self._lock()
            header = self._read()
            if header is None:
                self.seed = fresh_seed
                self._begin(json.dumps({**identity, "rng": fresh_seed}))
            else:
                self.seed = header["rng"] if seed is None else seed
                self._check(header, json.loads(json.dumps({**identity, "rng": self.seed})))
            self.kept = len(self.records)
        except BaseException:
            self._file.close()
            raise

    def write(self, text: str) -> None:
        """Append the record of a point."""
        self._append(b"", text)
        self.kept += 1
        if time.monotonic() - self._synced > _SYNC_SECONDS:
            self._sync()

    def __enter__(self) -> Checkpoint:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._sync()
        finally:
            self._file.close()

    def _begin(self, header: str) -> None:
        try:
            self._append(_MAGIC, header)
            self._sync()
        except OSError as error:
            self._file.truncate(0)
            raise ModelError(
                f"checkpoint: cannot write {self.path}: {error.strerror}; make room, or give another path"
            ) from None

    def _lock(self) -> None:
        if fcntl is None:
            return
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EAGAIN):
                raise ModelError(
                    f"checkpoint: {self.path} is in use by another process; wait for it or give another path"
                ) from None
            _log.warning("checkpoint %s cannot be locked: %s", self.path, error)

    def _read(self) -> dict[str, Any] | None:
        """Header of the file, None if it has none yet; collects the records and cuts a torn line off."""
        header: dict[str, Any] | None = None
        damaged = whole = 0
        reader = io.BufferedReader(self._file)
        for line in reader:
            if header is None and not (line.startswith(_MAGIC) or _MAGIC.startswith(line)):
                self._refuse()
            if not line.endswith(b"\n"):
                break  # killed while this line was written
            content = _content(line[len(_MAGIC) :] if header is None else line)
            if header is None:
                if content is None:
                    self._refuse()
                header = json.loads(content)
            elif content is None:
                damaged += 1
            else:
                record = Record.loads(content)
                self.records[record.index] = record
            whole += len(line)
        reader.detach()
        if damaged:
            _log.warning(
                "checkpoint %s: %d damaged records left out; their points are computed again",
                self.path,
                damaged,
            )
        self._file.truncate(whole)
        self._file.seek(whole)
        return header

    def _refuse(self) -> NoReturn:
        raise ModelError(
            f"checkpoint: {self.path} is no checkpoint of a sweep, and it is left as it is; give another path"
        )

    def _check(self, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
        for name in {**now, **before}:
            if before.get(name) != now.get(name):
                raise ModelError(
                    f"checkpoint: {self.path} belongs to another sweep: {name} was "
                    f"{reprlib.repr(before.get(name))} there and is {reprlib.repr(now.get(name))} here; "
                    "give the same arguments or another path"
                )

    def _append(self, mark: bytes, text: str) -> None:
        content = text.encode()
        line = memoryview(mark + _checksum(content) + b" " + content + b"\n")
        while line:
            line = line[self._file.write(line) :]

    def _sync(self) -> None:
        os.fsync(self._file.fileno())
        self._synced = time.monotonic()


def _checksum(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest()[:16].encode()


def _content(line: bytes) -> bytes | None:
    """JSON text of a line; None if the line is damaged."""
    check, _, content = line.rstrip(b"\n").partition(b" ")
    return content if check == _checksum(content) else None
