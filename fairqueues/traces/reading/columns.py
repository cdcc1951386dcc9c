"""Columns of large CSV files, in pieces, refused with file, line and field.

A piece is a few hundred thousand rows: a file of any length needs no more memory than its result. How many
rows there are is told from the part of the file that the first piece took; whether their result fits is asked
then, before the rest is read.
"""

from __future__ import annotations

import gzip
import math
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairness.arguments.plain import near
from fairness.arguments.validation import FloatArray
from fairness.display.wording import rough
from fairness.errors import ModelError
from fairness.machine.memory import require_memory
from fairness.machine.work import Task

__all__ = ["Rows", "opened", "pieces"]

PIECE = 200_000
"""Rows read at a time."""

KEPT = 80.0
"""Bytes that a row takes while its trace is made: its columns, some of them twice while they are sorted."""

MISSING = ["", "NaN", "nan"]


@dataclass(frozen=True)
class Rows:
    """Some rows of a file; row k stands on line ``lines[k]``."""

    path: Path
    lines: NDArray[np.int64]
    columns: Mapping[str, NDArray[Any]]

    def __len__(self) -> int:
        return len(self.lines)

    def fail(self, k: int, field: str, said: str) -> NoReturn:
        """ModelError about a field of row k."""
        raise ModelError(f"{self.path}, line {self.lines[k]}: {field} {said}", argument=field)

    def refuse(self, field: str, bad: ArrayLike, said: str) -> None:
        """ModelError about the first row that is bad, if any is; it ends with what the row has there."""
        wrong = np.flatnonzero(bad)
        if wrong.size:
            k = int(wrong[0])
            value = self.columns[field][k]
            there = value is not None and value == value and value != ""
            self.fail(k, field, f"{said}; got {value}" if there else said)

    def numbers(
        self, field: str, *, least: float = -math.inf, above: float = -math.inf, whole: bool = False,
        may_lack: bool = False,
    ) -> FloatArray:  # fmt: skip
        """A column as finite floats; NaN where it is empty, if it may be."""
        values = self.columns[field].astype(np.float64)
        lacks = np.isnan(values)
        if not may_lack:
            self.refuse(field, lacks, "is missing; complete the line, or take it out")
        rule = f"must be a finite {'whole ' * whole}number"
        rule += f" >= {least:g}" if least > -math.inf else f" > {above:g}" if above > -math.inf else ""
        good = np.isfinite(values) & (values >= least) & (values > above)
        if whole:
            good &= values == np.floor(values)
        self.refuse(field, ~(good | lacks), rule)
        return values

    def texts(self, field: str, *, may_lack: bool = False) -> NDArray[Any]:
        """A column as texts without blanks around them; empty ones only if it may be."""
        values = self.columns[field]
        if not may_lack:
            self.refuse(field, values == "", "is missing; complete the line, or take it out")
        return values

    def only(self, kept: NDArray[np.bool_]) -> Rows:
        """Some of the rows."""
        if kept.all():
            return self
        return Rows(self.path, self.lines[kept], {name: c[kept] for name, c in self.columns.items()})


def pieces(
    path: str | os.PathLike[str],
    numbers: Sequence[str],
    texts: Sequence[str] = (),
    *,
    header: Sequence[str] | None = None,
    kept: float = KEPT,
) -> Iterator[Rows]:
    """The rows of a CSV file, compressed by gzip or not, in pieces; empty lines are passed over.

    Parameters
    ----------
    path : path
    numbers, texts : sequence of str
        Columns that the file must have: of numbers (NaN where empty), and of texts.
    header : sequence of str, optional
        All columns, where the file has no header line.
    kept : float, bytes
        What the result takes of each row.

    Raises
    ------
    ModelError
        If the file cannot be read, lacks a column, has a line with too many fields or a field that is no
        number, or if its result does not fit into memory.
    """
    file = Path(path)
    columns = (*numbers, *texts)
    with opened(file) as (stream, raw, size):
        reader = _reader(file, stream, texts, header)
        line = 1 if header is not None else 2
        with Task(f"reading {file.name}", max(size, 1), "bytes", instead="read a part of it") as task, reader:
            read = 0
            for table in _tables(file, reader):
                if not read:
                    _require_columns(file, table, columns)
                lines = np.arange(line, line + len(table))
                line += len(table)
                read += len(table)
                place = min(raw.tell(), size)
                expected = read * max(1.0, size / max(place, 1))
                require_memory(
                    kept * expected, f"{file} with about {rough(expected)} rows", "read a part of it"
                )
                rows = Rows(file, lines, {name: _column(file, table, name, lines, texts) for name in columns})
                empty = table.isna().all(axis=1).to_numpy(copy=True)
                if texts:
                    empty &= np.logical_and.reduce([rows.columns[name] == "" for name in texts])
                rows = rows.only(~empty)
                if len(rows):
                    yield rows
                task.advance(done=place)
        if not read:
            raise ModelError(f"{file}: has no line of data; give the file as it was published")


@contextmanager
def opened(file: Path) -> Iterator[tuple[Any, Any, int]]:
    """The text's bytes, the file as it lies there, and its size."""
    try:
        with file.open("rb") as raw:
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            stream: Any = gzip.GzipFile(fileobj=raw) if packed else raw
            yield stream, raw, os.fstat(raw.fileno()).st_size
    except UnicodeDecodeError:
        raise ModelError(f"{file}: is no text in UTF-8; give the file as it was published") from None
    except (OSError, EOFError) as error:
        said = getattr(error, "strerror", None) or error
        raise ModelError(f"{file}: cannot be read: {said}") from None


def _reader(file: Path, stream: Any, texts: Sequence[str], header: Sequence[str] | None) -> Any:
    names = None if header is None else list(header)
    try:
        return pd.read_csv(
            stream,
            names=names,
            header=0 if names is None else None,
            dtype=dict.fromkeys(texts, object),
            chunksize=PIECE,
            # All columns: only then a line with too many fields is noticed.
            index_col=False,
            skip_blank_lines=False,
            skipinitialspace=True,
            keep_default_na=False,
            na_values=MISSING,
            low_memory=False,
            encoding="utf-8-sig",
        )
    except UnicodeDecodeError:
        raise
    except (ValueError, pd.errors.ParserError) as error:
        raise _no_csv(file, error) from None


def _tables(file: Path, reader: Any) -> Iterator[pd.DataFrame]:
    while True:
        try:
            with warnings.catch_warnings():
                # A line with more columns than the header would be cut with a warning.
                warnings.simplefilter("error", pd.errors.ParserWarning)
                table = next(reader)
        except StopIteration:
            return
        except UnicodeDecodeError:
            raise
        except (ValueError, pd.errors.ParserError, pd.errors.ParserWarning) as error:
            raise _no_csv(file, error) from None
        if len(table):
            yield table


def _no_csv(file: Path, error: Exception) -> ModelError:
    said = " ".join(str(error).split()).removeprefix("Error tokenizing data. C error: ")
    return ModelError(f"{file}: cannot be read as CSV: {said}")


def _require_columns(file: Path, table: pd.DataFrame, columns: Sequence[str]) -> None:
    there = [str(name) for name in table.columns]
    for name in columns:
        if name not in there:
            hint = near(name, there)
            remedy = hint if hint.startswith("did you mean") else "give the file as it was published"
            raise ModelError(
                f"{file}, line 1: there is no column {name!r} (columns: {', '.join(there)}); {remedy}",
                argument=name,
            )


def _column(
    file: Path, table: pd.DataFrame, name: str, lines: NDArray[np.int64], texts: Sequence[str]
) -> NDArray[Any]:
    column = table[name]
    if name in texts:
        values = column.fillna("").to_numpy(dtype=object)
        codes, distinct = pd.factorize(values)
        return np.array([str(text).strip() for text in distinct], dtype=object)[codes]
    if column.dtype.kind in "if":
        return column.to_numpy()
    parsed: pd.Series[float] = pd.to_numeric(column, errors="coerce")
    bad = (parsed.isna() & column.notna()).to_numpy()
    if bad.any():
        k = int(np.argmax(bad))
        raise ModelError(
            f"{file}, line {lines[k]}: {name} must be a number; got {str(column.iloc[k])!r:.60}",
            argument=name,
        )
    return parsed.to_numpy(dtype=np.float64)
