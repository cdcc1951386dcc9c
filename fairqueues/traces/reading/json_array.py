"""The entries of a file that is one array in JSON, one after the other, however long the array is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fairness.errors import ModelError
from fairness.files import blocks
from fairness.machine.work import Task
from fairqueues.json_text import decoder, told

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
    size = max(file.stat().st_size if file.is_file() else 0, 1)
    with Task(f"reading {file.name}", size, "bytes", instead="read a part of it") as task:
        text = _texts(file, task, size)
        buffer, place, line, opened_array = "", 0, 1, False
        while True:
            if place >= len(buffer):
                buffer, place = next(text, ""), 0
                if not buffer:
                    said = "the array has no end; is the file cut off?" if opened_array else "is empty"
                    raise ModelError(f"{file}, line {line}: {said}")
            sign = buffer[place]
            if sign in BLANKS:
                line += sign == "\n"
                place += 1
            elif not opened_array:
                if sign != "[":
                    raise ModelError(f"{file}, line {line}: must be an array in JSON, and begin with '['")
                opened_array, place = True, place + 1
            elif sign == "]":
                if buffer[place + 1 :].strip() or any(map(str.strip, text)):
                    raise ModelError(
                        f"{file}, line {line}: the array ends, but something follows; give one array"
                    )
                return
            else:
                entry, end, buffer, place = _entry(text, buffer, place, file, line)
                yield line, entry
                line += buffer.count("\n", place, end)
                place = end


def _texts(file: Path, task: Task, size: int) -> Iterator[str]:
    for block in blocks(file, "give the file as it was published", size=BLOCK, lines=False):
        task.advance(done=min(block.done, size))
        yield block.text


def _entry(text: Iterator[str], buffer: str, place: int, file: Path, line: int) -> tuple[Any, int, str, int]:
    """The entry that begins at a place of the buffer, where it ends, and the buffer, with more if need be."""
    while True:
        try:
            entry, end = decoder().raw_decode(buffer, place)
        except (ValueError, RecursionError) as error:
            wrong = error.pos if isinstance(error, json.JSONDecodeError) else None
            more = next(text, "") if wrong is not None and len(buffer) - place < LONGEST else ""
            if not more:
                where = line + buffer.count("\n", place, wrong or place)
                raise ModelError(f"{file}, line {where}: {told(error, 'give an array of jobs')}") from None
        else:
            # A number may go on behind the end of what was read.
            more = next(text, "") if end == len(buffer) else ""
            if not more:
                return entry, end, buffer, place
        buffer, place = buffer[place:] + more, 0
