"""Names that must be unique in a file of any length: a few bytes each are kept, and the file is asked again.

Equal names have equal hashes. Where two hashes are equal, the file is read once more and the names themselves
are compared: 64 bits make equal hashes of different names rare, not impossible.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from queueing.recorded.columns import Rows, pieces

__all__ = ["Identities"]


class Identities:
    """What one column of texts, or several together, say of each row: no two rows may say the same."""

    def __init__(self, *fields: str, header: Sequence[str] | None = None) -> None:
        self.fields, self.header = fields, header
        self._hashes: list[NDArray[np.int64]] = []
        self._rows: Rows | None = None

    def add(self, rows: Rows) -> None:
        """Remember the rows."""
        self._rows = rows
        self._hashes.append(self._hashed(rows))

    def require_distinct(self) -> None:
        """ModelError that names both lines if two rows are the same."""
        hashes = np.sort(np.concatenate(self._hashes))
        self._hashes.clear()
        suspects = np.unique(hashes[1:][hashes[1:] == hashes[:-1]])
        del hashes
        if not suspects.size or self._rows is None:
            return
        seen: dict[tuple[Any, ...], int] = {}
        for rows in pieces(self._rows.path, texts=self.fields, header=self.header):
            for k in np.flatnonzero(np.isin(self._hashed(rows), suspects)).tolist():
                identity = tuple(rows.columns[name][k] for name in self.fields)
                first = seen.setdefault(identity, int(rows.lines[k]))
                if first != rows.lines[k]:
                    said = ", ".join(map(str, identity))
                    rows.fail(k, self.fields[0], f"repeats {said!r} of line {first}; each must stand once")

    def _hashed(self, rows: Rows) -> NDArray[np.int64]:
        keys = zip(*(rows.columns[name] for name in self.fields), strict=True)
        return np.fromiter(map(hash, keys), np.int64, len(rows))
