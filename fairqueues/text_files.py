"""Text files of numbers, line by line: compressed or not, and whatever is wrong is told with its line."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from fairness.errors import ModelError
from fairness.files import blocks, text_size
from fairness.machine.memory import require_memory
from fairness.machine.work import Task

__all__ = ["TextFile", "readable"]

BLOCK = 1 << 16
"""Lines turned into numbers at a time."""

SECONDS = 1.5e-6
"""Guess of the time that a line of a table takes."""

LARGEST = 2**31 - 2
"""Most states: they are numbered in 32 bits."""


class TextFile:
    """A text file that is read once, from its first line to its last.

    Lines that are empty or begin with ``comment`` are passed over. Made by :func:`readable`.
    """

    def __init__(self, path: Path, stream: Iterator[str], size: int | None, comment: str) -> None:
        self.path, self.number = path, 0
        self.comments: list[str] = []
        self._stream, self._size, self._comment = stream, size, comment

    def fail(self, said: str, line: int | None = None) -> NoReturn:
        """ModelError that names the file and a line: by default the last one read."""
        raise ModelError(f"{self.path}, line {self.number if line is None else line}: {said}")

    def refuse(self, bad: NDArray[np.bool_], lines: Sequence[int], said: Callable[[int], str]) -> None:
        """Fail about the first row that is bad, if any is, with what is said of the row of this number."""
        for k in np.flatnonzero(bad)[:1].tolist():
            self.fail(said(k), lines[k])

    def lines(self) -> Iterator[str]:
        """The lines that say something, without blanks around them."""
        for line in self._stream:
            self.number += 1
            text = line.strip()
            if text.startswith(self._comment):
                self.comments.append(text)
            elif text:
                yield text

    def line(self, expected: str) -> str:
        """The next line that says something."""
        for text in self.lines():
            return text
        self.number += 1
        self.fail(f"the file ends here; expected {expected}")

    def require_states(self, n: int) -> None:
        """Refuse numbers of states that no chain has."""
        if not 0 < n <= LARGEST:
            self.fail(f"a chain has 1 to {LARGEST} states; got {n}")
        # Their starts, and what is found of them.
        require_memory(32.0 * n, f"{self.path} with {n} states", "give a smaller chain")

    def table(
        self,
        count: int,
        what: str,
        kinds: Sequence[type],
        example: str,
        plain: Callable[[str], str] = str,
    ) -> Iterator[tuple[list[NDArray[Any]], Sequence[int]]]:
        """The rest of the file as columns of numbers, in pieces, with the line of each row.

        Whether it can be and fits in memory is asked at once, before the first piece.

        Parameters
        ----------
        count : int
            Rows that the file must have.
        what : str
            What a row is, in the plural.
        kinds : sequence of {int, float}
            Of the columns.
        example : str
            A row, for messages.
        plain : callable
            Makes of a line its numbers with blanks between them.
        """
        # A row takes at least a digit and a blank per column: a number of rows that cannot be is a slip.
        if self._size is not None and 2 * len(kinds) * count > self._size + 1:
            self.fail(
                f"{count} {what} are announced, more than the {self._size} bytes of the file can hold; is it "
                "cut off, or the number wrong?"
            )
        # The columns; rates row by row; their sorting.
        require_memory(24.0 * len(kinds) * count, f"{self.path} with {count} {what}", "give a smaller chain")
        return self._pieces(count, what, kinds, example, plain)

    def _pieces(
        self, count: int, what: str, kinds: Sequence[type], example: str, plain: Callable[[str], str]
    ) -> Iterator[tuple[list[NDArray[Any]], Sequence[int]]]:
        seen = 0
        guess = SECONDS * count
        with Task(f"reading {self.path.name}", count, what, guess, "give a smaller chain") as task:
            while lines := list(islice(self._stream, BLOCK)):
                first = self.number + 1
                self.number += len(lines)
                kept = [k for k, line in enumerate(lines) if self._says(line)]
                if len(kept) < len(lines):
                    lines = [lines[k] for k in kept]
                numbers = [first + k for k in kept]
                if seen + len(kept) > count:
                    self.fail(
                        f"more than the {count} {what} that were announced; correct their number, or take "
                        "this line out",
                        numbers[count - seen],
                    )
                if kept:
                    yield self._columns([plain(line) for line in lines], numbers, kinds, example), numbers
                seen += len(kept)
                task.advance(len(kept))
        if seen < count:
            self.fail(f"the file ends with {seen} of {count} announced {what}; is it cut off?")

    def _says(self, line: str) -> bool:
        text = line.strip()
        return bool(text) and not text.startswith(self._comment)

    def _columns(
        self, lines: list[str], numbers: Sequence[int], kinds: Sequence[type], example: str
    ) -> list[NDArray[Any]]:
        fields = [(f"f{k}", np.int64 if kind is int else np.float64) for k, kind in enumerate(kinds)]
        try:
            rows = _parsed(lines, fields)
        except (ValueError, OverflowError):
            for line, number in zip(lines, numbers, strict=True):
                self._row(line, number, kinds, example)
            raise  # a row that only the faster reader refuses
        if len(rows) != len(lines):
            self.fail(f"{len(lines)} lines hold {len(rows)} rows; write one row, such as {example!r}, a line")
        columns = [np.ascontiguousarray(rows[name]) for name, _ in fields]
        for column in columns:
            if not np.isfinite(column).all():
                k = int(np.flatnonzero(~np.isfinite(column))[0])
                self.fail(f"{column[k]} is no finite number; write one, such as in {example!r}", numbers[k])
        return columns

    def _row(self, line: str, number: int, kinds: Sequence[type], example: str) -> None:
        words = line.split()
        if len(words) != len(kinds):
            self.fail(f"expected {len(kinds)} numbers, such as {example!r}; got {line.strip()!r:.80}", number)
        for word, kind in zip(words, kinds, strict=True):
            try:
                _parsed([word], np.int64 if kind is int else np.float64)
            except (ValueError, OverflowError):
                name = "whole number" if kind is int else "number"
                self.fail(f"{word!r:.40} is no {name}; expected a line such as {example!r}", number)


def _parsed(lines: list[str], kinds: Any) -> NDArray[Any]:
    """Rows of numbers; numpy before 2.4 only warned of 2.0 where a whole number must stand."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        try:
            return np.loadtxt(lines, dtype=kinds, comments=None, ndmin=1)
        except DeprecationWarning as error:
            raise ValueError(str(error)) from None


@contextmanager
def readable(path: str | os.PathLike[str], comment: str = "#") -> Iterator[TextFile]:
    """A text file to read, decompressed if it is compressed by gzip, whatever its name.

    Raises
    ------
    ModelError
        If it cannot be read, or is no text in UTF-8.
    """
    file = Path(path)
    parts = blocks(file, "give a text file, compressed or not")
    lines = chain.from_iterable(io.StringIO(part.text) for part in parts)
    yield TextFile(file, lines, text_size(file), comment)
