"""The entries of a file that is one array in JSON, one after the other, however long the array is."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fairness.errors import ModelError
from fairness.machine.work import Task
from fairqueues.traces.reading.columns import opened

__all__ = ["entries"]

BLOCK = 1 << 20
"""Characters read at a time."""

LONGEST = 1 << 26
"""Characters from which an entry is no entry, but an error near its beginning."""

BLANKS = " \t\r\n,"


def entries(file: Path) -> Iterator[tuple[int, Any]]:
    """Line on which each entry begins, and the entry.

    Raises
    ------
    ModelError
        If the file cannot be read, or is no array in JSON; with the line.
    """
    decoder = json.JSONDecoder()
    with (
        opened(file) as (stream, raw, size),
        io.TextIOWrapper(stream, encoding="utf-8-sig") as text,
        Task(f"reading {file.name}", max(size, 1), "bytes", instead="read a part of it") as task,
    ):
        buffer, place, line, opened_array = "", 0, 1, False
        while True:
            if place >= len(buffer):
                buffer, place = text.read(BLOCK), 0
                if not buffer:
                    said = "the array has no end; is the file cut off?" if opened_array else "is empty"
                    raise ModelError(f"{file}, line {line}: {said}")
                task.advance(done=min(raw.tell(), size))
            sign = buffer[place]
            if sign in BLANKS:
                line += sign == "\n"
                place += 1
            elif not opened_array:
                if sign != "[":
                    raise ModelError(f"{file}, line {line}: must be an array in JSON, and begin with '['")
                opened_array, place = True, place + 1
            elif sign == "]":
                _require_end(text, buffer[place + 1 :], file, line)
                return
            else:
                entry, end, buffer, place = _entry(decoder, text, buffer, place, file, line)
                yield line, entry
                line += buffer.count("\n", place, end)
                place = end


def _require_end(text: io.TextIOWrapper, rest: str, file: Path, line: int) -> None:
    """ModelError if something follows behind the array: it would not be read."""
    while not rest.strip():
        rest = text.read(BLOCK)
        if not rest:
            return
    raise ModelError(f"{file}, line {line}: the array ends, but something follows; give one array")


def _entry(
    decoder: json.JSONDecoder, text: io.TextIOWrapper, buffer: str, place: int, file: Path, line: int
) -> tuple[Any, int, str, int]:
    """The entry that begins at a place of the buffer, where it ends, and the buffer, with more if need be."""
    while True:
        try:
            entry, end = decoder.raw_decode(buffer, place)
        except json.JSONDecodeError as error:
            more = text.read(BLOCK) if len(buffer) - place < LONGEST else ""
            if not more:
                where = line + buffer.count("\n", place, error.pos)
                raise ModelError(f"{file}, line {where}: is no JSON: {error.msg}") from None
        else:
            # A number may go on behind the end of what was read.
            more = text.read(BLOCK) if end == len(buffer) else ""
            if not more:
                return entry, end, buffer, place
        buffer, place = buffer[place:] + more, 0
