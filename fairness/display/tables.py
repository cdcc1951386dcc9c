"""Tables in plain text for summaries: the first column to the left, the others to the right."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["aligned"]


def aligned(table: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table, indented by two: the first column to the left, the others to the right."""
    width = [max(len(line[k]) for line in table) for k in range(len(table[0]))]
    lines = []
    for line in table:
        cells = [line[0].ljust(width[0]), *(c.rjust(w) for c, w in zip(line[1:], width[1:], strict=True))]
        lines.append("  " + "  ".join(cells))
    return lines
