"""Long work that survives a kill: finished pieces in one file of SQLite, each there whole or not at all.

The file tells which work it belongs to (its settings) and holds a text for each finished piece. A process
that is killed, or a disk that is full, loses what was being written and nothing before. Until the file is
closed the last pieces may stand beside it, in a file with ``-wal`` behind its name, from where SQLite takes
them at the next opening.

While it is open no other process can use it. Work that ends in an error before its first piece leaves no new
file. A file of another kind is refused and left as it is; so is one
that was changed by anybody else: each piece carries a digest of itself and the settings.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn, Self

from fairness.errors import ModelError

__all__ = ["Checkpoint"]

_APPLICATION = 0x66712031
"""What SQLite writes into the head of our files."""

_SHOWN = 80
"""Characters of a value that a message shows."""


class Checkpoint:
    """An open checkpoint, which no other process can use.

    Parameters
    ----------
    path : path
        Made if it does not exist.
    kind : str
        Whose pieces it holds, such as "sweep".
    argument : str
        What messages call the path.

    Attributes
    ----------
    settings : dict or None
        What the pieces depend on; None in a new file, until :meth:`begin`.
    pieces : dict of str to str
        Those that the file had when it was opened.
    kept : int
        How many pieces it has now.

    Raises
    ------
    ModelError
        If the path cannot be read and written, is in use, was changed by others, or is of another kind.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Checkpoint(f"{folder}/sums", "sum", "path") as first:
    ...         first.begin({"to": 10})
    ...         first.write("1 to 5", "15")
    ...     with Checkpoint(f"{folder}/sums", "sum", "path") as again:
    ...         again.settings, again.pieces
    ({'to': 10}, {'1 to 5': '15'})
    """

    def __init__(self, path: Any, kind: str, argument: str) -> None:
        if not isinstance(path, str | os.PathLike):
            raise ModelError.of(argument, f"must be a path; got {path!r}")
        self.path, self._kind, self._argument = Path(path), kind, argument
        self.settings: dict[str, Any] | None = None
        self.pieces: dict[str, str] = {}
        if self.path.exists() and not self.path.is_file():
            self._fail(
                "cannot write", "it is no file; name a file in a directory that exists and is writable"
            )
        if not _is_database(self.path):
            self._fail("", f"is no checkpoint of {kind}s, and it is left as it is; give another path")
        self._new = new = not self.path.exists()
        try:
            # What is committed here is committed: no transactions behind the scenes, no wait for a lock.
            self._file = sqlite3.connect(self.path, timeout=0, isolation_level=None)
        except sqlite3.Error as error:
            self._fail("cannot write", f"{error}; give a path in a directory that exists and is writable")
        try:
            self._open()
        except BaseException as error:
            self._file.close()
            if new:
                self.path.unlink(missing_ok=True)
            if isinstance(error, sqlite3.Error):
                self._refuse(error)
            raise
        self.kept = len(self.pieces)

    def begin(self, settings: Mapping[str, Any]) -> None:
        """Say what the pieces depend on; all of it must agree with what an existing file says."""
        now = json.loads(json.dumps(settings))
        if self.settings is None:
            try:
                self._file.execute("INSERT INTO settings VALUES (?)", (json.dumps(now),))
            except sqlite3.Error as error:
                self._file.close()
                self._fail("cannot write", f"{error}; make room, or give another path")
            self.settings = now
        for name in {**now, **self.settings}:
            before, here = self.settings.get(name), now.get(name)
            if before != here:
                there, mine = _apart(before, here)
                self._fail(
                    "",
                    f"belongs to another {self._kind}: {name} was {there} there and is {mine} here; "
                    "give the same arguments or another path",
                )

    def read(self, reader: Callable[[str], Any]) -> list[Any]:
        """The pieces that the file had when it was opened, as a reader makes them of their texts."""
        try:
            return [reader(text) for text in self.pieces.values()]
        except Exception as error:  # what texts of another version make a reader raise is no closed list
            said = f"holds what this version cannot read ({type(error).__name__}: {error!s:.200})"
            self._fail("", f"{said}; delete it, or give another path")

    def write(self, key: str, text: str) -> None:
        """Keep a piece; OSError if the disk takes no more."""
        try:
            self._file.execute("INSERT INTO pieces VALUES (?, ?, ?)", (key, text, self._digest(key, text)))
        except sqlite3.Error as error:
            raise OSError(str(error)) from error
        self.kept += 1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._file.close()
        if kind is not None and self._new and not self.kept:
            # Refused, or stopped before anything was known: as if it had not been asked for.
            self.path.unlink(missing_ok=True)

    def _open(self) -> None:
        run = self._file.execute
        run("PRAGMA locking_mode = EXCLUSIVE")
        tables = run("SELECT count(*) FROM sqlite_master").fetchone()[0]
        mark = run("PRAGMA application_id").fetchone()[0]
        if tables and mark != _APPLICATION:
            self._fail("", f"is no checkpoint of {self._kind}s, and it is left as it is; give another path")
        # Pieces reach the operating system one by one, and the disk now and then.
        run("PRAGMA journal_mode = WAL")
        run("PRAGMA synchronous = NORMAL")
        run("BEGIN EXCLUSIVE")
        if not tables:
            run(f"PRAGMA application_id = {_APPLICATION}")
            run("CREATE TABLE kind (name TEXT)")
            run("CREATE TABLE settings (text TEXT)")
            run("CREATE TABLE pieces (key TEXT PRIMARY KEY, text TEXT, digest TEXT)")
            run("INSERT INTO kind VALUES (?)", (self._kind,))
        run("COMMIT")
        if run("SELECT name FROM kind").fetchall() != [(self._kind,)]:
            self._fail("", f"is no checkpoint of {self._kind}s, and it is left as it is; give another path")
        if run("PRAGMA integrity_check").fetchone() != ("ok",):
            raise sqlite3.DatabaseError("its pages do not fit together")
        found = run("SELECT text FROM settings").fetchone()
        self.settings = None if found is None else json.loads(found[0])
        for key, text, digest in run("SELECT key, text, digest FROM pieces ORDER BY rowid"):
            if digest != self._digest(key, text):
                self._fail("", "was changed after it was written; delete it, or give another path")
            self.pieces[key] = text

    def _digest(self, key: str, text: str) -> str:
        told = json.dumps([self._kind, self.settings, key, text])
        return hashlib.sha256(told.encode()).hexdigest()[:16]

    def _refuse(self, error: sqlite3.Error) -> NoReturn:
        code = getattr(error, "sqlite_errorname", "")
        if code.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            self._fail("", "is in use by another process; wait for it or give another path")
        if code.startswith(
            ("SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_IOERR", "SQLITE_FULL", "SQLITE_PERM")
        ):
            self._fail("cannot write", f"{error}; make room, or give a path in a directory that is writable")
        self._fail("", f"is damaged, or is no checkpoint of {self._kind}s ({error}); give another path")

    def _fail(self, verb: str, said: str) -> NoReturn:
        told = f": {verb} {self.path}: {said}" if verb else f": {self.path} {said}"
        raise ModelError.of(self._argument, told) from None


def _apart(one: Any, other: Any) -> tuple[str, ...]:
    """Two values as text; long ones from shortly before the place where they begin to differ."""
    texts = repr(one), repr(other)
    unlike = (k for k, (a, b) in enumerate(zip(*texts, strict=False)) if a != b)
    first = next(unlike, min(map(len, texts)))
    begin = max(0, first - 30) if max(map(len, texts)) > _SHOWN else 0
    end = begin + _SHOWN
    return tuple("..." * (begin > 0) + text[begin:end] + "..." * (len(text) > end) for text in texts)


def _is_database(path: Path) -> bool:
    """Whether SQLite made the file, or may make it: it would overwrite a file of a single byte."""
    try:
        with path.open("rb") as file:
            return file.read(16) in (b"", b"SQLite format 3\0")
    except OSError:  # SQLite says what is wrong with it
        return True
