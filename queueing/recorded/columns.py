"""Columns of large CSV files, as arrays, in pieces, refused with file, line and column.

A piece is some megabytes of the file: one of any length needs no more memory than its result. How many rows
there are is told from the part of the file that the first piece took; whether their result fits is asked
then, before the rest is read.

What a file says is what :mod:`fairness.arguments.csv_rows` finds in it, cell by cell, with numbers as
:mod:`fairness.arguments.quantities` reads them. Most blocks are plain: every line has as many commas as there
are columns, no quotes are needed, and each column is of one kind. Such a block is given to pandas at once,
which reads the same numbers ten times as fast; any other is looked at cell by cell.
"""

from __future__ import annotations

import io
import math
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairness.arguments.csv_rows import cells_of, fail, headed, places_of, require_shown
from fairness.arguments.plain import near
from fairness.arguments.quantities import decimal, whole
from fairness.arguments.validation import FloatArray
from fairness.display.wording import rough
from fairness.errors import ModelError
from fairness.files import Block, blocks
from fairness.machine.memory import require_memory
from fairness.machine.work import Task

__all__ = ["KEPT", "Rows", "heads_of", "pieces", "renamed", "table"]

BLOCK = 1 << 22
"""Characters read at a time."""

PIECE = 10_000
"""Rows looked at cell by cell at a time."""

KEPT = 80.0
"""Bytes that a row takes while its trace is made: its columns, some of them twice while they are sorted."""

REMEDY = "give the file as it was published"
COMPLETE = "is missing; complete the line, or take it out"
MISSING = ("", "NaN", "nan")
"""What stands where a number is not known."""

_OTHERS = bytes(set(range(256)) - set(b',"\n'))
"""All bytes that say nothing about where cells end."""

_QUOTED = re.compile(rb'(?<![^,\n])"([^",\n]*)"(?![^,\n])')
"""A whole cell in quotes that it does not need."""

_Kinds = Mapping[str, type]
"""What the columns that are read hold: float (NaN where there is none), int or str."""


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
        fail(self.path, int(self.lines[k]), field, said)

    def refuse(self, field: str, bad: ArrayLike, said: str) -> None:
        """ModelError about the first row that is bad, if any is; it ends with what the row has there."""
        wrong = np.flatnonzero(bad)
        if wrong.size:
            k = int(wrong[0])
            value = self.columns[field][k]
            there = value is not None and value == value and value != ""
            shown = f"{value:.15g}" if isinstance(value, float) else f"{value!s:.60}"
            shown = f"{value!r:.60}" if isinstance(value, str) else shown
            self.fail(k, field, f"{said}; got {shown}" if there else said)

    def numbers(
        self, field: str, *, least: float = -math.inf, above: float = -math.inf, most: float = math.inf,
        whole: bool = False, may_lack: bool = False, said: str = "",
    ) -> FloatArray:  # fmt: skip
        """A column as finite floats; NaN where it is empty, if it may be. ``said`` is the reason for most."""
        values = self.columns[field]
        lacks = np.isnan(values)
        if not may_lack:
            self.refuse(field, lacks, COMPLETE)
        rule = f"must be a finite {'whole ' * whole}number"
        rule += f" >= {least:g}" if least > -math.inf else f" > {above:g}" if above > -math.inf else ""
        good = (values >= least) & (values > above)
        if whole:
            # From 2**53 on a float is several whole numbers.
            good &= (values == np.floor(values)) & (np.abs(values) < 2**53)
        self.refuse(field, ~(good | lacks), rule)
        self.refuse(field, values > most, said or f"must be at most {most:g}")
        return values

    def wholes(
        self, field: str, least: int = 0, most: int = 2**63 - 1, said: str = "", kind: type = np.int64
    ) -> NDArray[Any]:
        """A column of integers from ``least`` to ``most``, exactly, in a type of numpy that holds them."""
        values, most = self.columns[field], min(most, int(np.iinfo(kind).max))
        rule = said or f"must be a whole number from {least} to {most}"
        self.refuse(field, (values < least) | (values > most), rule)
        return values.astype(kind)

    def texts(self, field: str, *, may_lack: bool = False) -> NDArray[Any]:
        """A column as texts without blanks around them; empty ones only if it may be."""
        values = self.columns[field]
        if not may_lack:
            self.refuse(field, values == "", COMPLETE)
        if not "".join(values).isprintable():
            for line, value in zip(self.lines.tolist(), values, strict=True):
                require_shown(value, self.path, line, field)
        return values

    def only(self, kept: NDArray[np.bool_]) -> Rows:
        """Some of the rows."""
        return self if kept.all() else self.taken(np.flatnonzero(kept))

    def taken(self, places: NDArray[np.intp]) -> Rows:
        """The rows at these places."""
        return Rows(self.path, self.lines[places], {name: c[places] for name, c in self.columns.items()})


def pieces(
    path: str | os.PathLike[str],
    numbers: Iterable[str] = (),
    texts: Iterable[str] = (),
    *,
    wholes: Iterable[str] = (),
    header: Sequence[str] | None = None,
    kept: float = KEPT,
) -> Iterator[Rows]:
    """The rows of a CSV file, compressed by gzip or not, in pieces; empty lines are passed over.

    Parameters
    ----------
    path : path
    numbers, texts, wholes : iterable of str
        Columns that the file must have: of numbers (NaN where empty), of texts, and of integers, which are
        read exactly and must be there.
    header : sequence of str, optional
        All columns, where the file has no header line.
    kept : float, bytes
        What the result takes of each row.

    Raises
    ------
    ModelError
        If the file cannot be read, lacks a column or has it twice, has a line with too few or too many cells
        or a cell that is no number, or if its result does not fit into memory.
    """
    file = Path(path)
    kinds = {**dict.fromkeys(numbers, float), **dict.fromkeys(texts, str), **dict.fromkeys(wholes, int)}
    size = max(file.stat().st_size if file.is_file() else 0, 1)
    done = read = 0

    def watched() -> Iterator[Block]:
        nonlocal done
        for block in blocks(file, REMEDY, size=BLOCK):
            done = min(block.done, size)
            yield block

    with Task(f"reading {file.name}", size, "bytes", instead="read a part of it") as task:
        parts = watched()
        heads, body = (header, parts) if header is not None else _headed(parts, file)
        for rows in _tables(body, file, heads, kinds):
            read += len(rows)
            expected = read * max(1.0, size / max(done, 1))
            require_memory(kept * expected, f"{file} with about {rough(expected)} rows", "read a part of it")
            yield rows
            task.advance(done=done)
    if not read:
        raise ModelError(f"{file}: has no line of data; {REMEDY}")


def table(path: str | os.PathLike[str], numbers: Iterable[str], texts: Iterable[str] = ()) -> Rows:
    """All rows of a CSV file at once; as :func:`pieces`."""
    parts = list(pieces(path, numbers, texts))
    columns = {name: np.concatenate([part.columns[name] for part in parts]) for name in parts[0].columns}
    return Rows(parts[0].path, np.concatenate([part.lines for part in parts]), columns)


def heads_of(path: str | os.PathLike[str]) -> list[str]:
    """Names of the columns of a CSV file."""
    return _headed(blocks(path, REMEDY), Path(path))[0]


def renamed(known: Sequence[str], given: Mapping[str, str] | None) -> dict[str, str]:
    """What a file calls the columns that are known; ModelError if a name is none, or two are one column.

    Examples
    --------
    >>> renamed(("arrival_time", "size"), {"arrival_time": "submit"})
    {'arrival_time': 'submit', 'size': 'size'}
    """
    called = dict(zip(known, known, strict=True)) | dict(given or {})
    for name, own in called.items():
        if name not in known:
            raise ModelError.of("columns", f"has no entry {name!r}; {near(name, known)}", name)
        if list(called.values()).count(own) > 1:
            raise ModelError.of("columns", f"names {own!r} twice; each is a column of its own", name)
    return called


def _headed(parts: Iterator[Block], file: Path) -> tuple[list[str], Iterator[Block]]:
    """Names of the columns, and what stands below them."""
    first = next(parts, Block(1, "", 0))
    heads, line, rest = headed(first.text, file)
    if not heads:
        raise ModelError(f"{file}: has no line of data; {REMEDY}")
    return heads, chain([first._replace(line=line, text=rest)], parts)


def _tables(parts: Iterator[Block], file: Path, heads: Sequence[str], kinds: _Kinds) -> Iterator[Rows]:
    """Rows of the blocks below the head."""
    places = places_of(kinds, heads, file)
    for block in parts:
        if (plain := _plain(block.text, len(heads), places, kinds)) is not None:
            yield Rows(file, np.arange(block.line, block.line + len(next(iter(plain.values())))), plain)
            continue
        # A quoted cell may hold ends of lines, and go on in the next block.
        left = chain([block], parts) if '"' in block.text else [block]
        rows = cells_of(chain.from_iterable(io.StringIO(one.text) for one in left), file, block.line, heads)
        while batch := list(islice(rows, PIECE)):
            yield Rows(
                file,
                np.array([line for line, _ in batch]),
                {name: _column(batch, file, name, places[name], kind) for name, kind in kinds.items()},
            )


def _plain(text: str, width: int, places: Mapping[str, int], kinds: _Kinds) -> dict[str, NDArray[Any]] | None:
    """The columns of a plain block; None if it has to be looked at cell by cell."""
    data = text.encode() + b"\n" * (not text.endswith("\n"))
    if b'"' in data:
        data = _QUOTED.sub(rb"\1", data)
    n = data.count(b"\n")
    # At the beginning of its data pandas takes a mark of the byte order away, wherever they come from.
    if data.translate(None, _OTHERS) != (b"," * (width - 1) + b"\n") * n or text[:1] == "\ufeff":
        return None
    import pandas as pd

    options: dict[str, Any] = {
        "dtype": {places[name]: object for name, kind in kinds.items() if kind is str},
        "na_values": {places[name]: MISSING for name, kind in kinds.items() if kind is not str},
        "keep_default_na": False,
        "skipinitialspace": True,
        "low_memory": False,
    }
    if int(pd.__version__.split(".")[0]) < 3:  # loses the last digit otherwise
        options["float_precision"] = "round_trip"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            found = pd.read_csv(io.BytesIO(data), header=None, names=range(width), index_col=False, **options)
    except (ValueError, OverflowError, pd.errors.ParserWarning):
        return None
    columns: dict[str, NDArray[Any]] = {}
    empty = np.full(n, len(found) == n)
    for name, kind in kinds.items():
        values = found[places[name]].to_numpy()
        if kind is str:
            values = np.array([cell.strip() for cell in values], dtype=object)
        elif values.dtype.kind not in ("i" if kind is int else "if") or np.isinf(values).any():
            return None
        columns[name] = values if kind is str else values.astype(kind) + 0  # -0 is 0
        if empty.any():
            empty &= values == "" if kind is str else np.isnan(values)
    # Rows of nothing but commas are passed over.
    return columns if len(found) == n and not empty.any() else None


def _column(
    batch: Sequence[tuple[int, list[str]]], file: Path, name: str, place: int, kind: type
) -> NDArray[Any]:
    """A column of rows, cell by cell."""
    parse: Any = {str: str, float: decimal, int: whole}[kind]
    found = []
    for line, cells in batch:
        cell = cells[place]
        try:
            if kind is int and cell in MISSING:
                raise ValueError(COMPLETE)
            found.append(math.nan if kind is float and cell in MISSING else parse(cell))
        except ValueError as error:
            fail(file, line, name, str(error))
    return np.array(found, dtype=object) if kind is str else np.array(found, dtype=kind) + 0  # -0 is 0
