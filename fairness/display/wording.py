"""Numbers and lists of names in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "NAMED",
    "capital",
    "in_use",
    "listed",
    "many",
    "named",
    "noted",
    "number_of_tasks",
    "percent",
    "rough",
    "said",
    "share_head",
    "units",
]

NAMED = 3
"""Names that a sentence tells before it counts the others."""
OVER = 1e-8
"""Part of a capacity that may be exceeded by rounding."""


def said(value: float, sign: bool = False) -> str:
    """A number as people say it: four digits, thousands with commas.

    Examples
    --------
    >>> said(2 / 3), said(12345.6), said(3.0), said(0.5, sign=True), said(2e-7)
    ('0.6667', '12,346', '3', '+0.5', '2e-07')
    """
    form = "+" if sign else ""
    return f"{value:{form},.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:{form}.4g}"


def rough(value: float, digits: int = 2) -> str:
    """A large number that is not known better, or need not be: few digits, thousands with commas.

    Examples
    --------
    >>> rough(123_456_789), rough(181.6), rough(0.314), rough(5.3e19)
    ('120,000,000', '180', '0.31', '5.3e+19')
    """
    return said(float(f"{value:.{digits}g}"))


def percent(part: float) -> str:
    """A part of something, in hundredths."""
    return f"{100 * part:.3g} %"


def in_use(resource: str, used: float, capacity: float, full: bool) -> str:
    """How much of a resource is in use.

    Examples
    --------
    >>> in_use("cpu", 3, 9, False), in_use("cpu", 9, 9, True), in_use("cpu", 12, 9, True)
    ('cpu 3/9', 'cpu 9/9 (full)', 'cpu 12/9 (more than there is)')
    """
    word = " (more than there is)" if used > (1 + OVER) * capacity else " (full)" if full else ""
    return f"{resource} {used:.6g}/{capacity:g}{word}"


def number_of_tasks(number: float) -> str:
    """A number of tasks."""
    told = said(number)
    return f"{told} task" if told == "1" else f"{told} tasks"


def many(number: int, noun: str) -> str:
    """A number of things."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def units(capacity: float) -> str:
    """That a resource is full."""
    return "its only unit is in use" if capacity == 1 else f"all {said(capacity)} units are in use"


def noted(notes: Sequence[str]) -> str:
    """Notes in brackets, behind what they are about."""
    return f" ({'; '.join(notes)})" if notes else ""


def share_head(counts: NDArray[Any], weights: NDArray[Any]) -> str:
    """Head of a column of dominant shares, each of one job and over its weight.

    Examples
    --------
    >>> import numpy as np
    >>> one, other = np.ones(2), np.array([3.0, 1.0])
    >>> share_head(one, one), share_head(other, one), share_head(other, other)
    ('dom. share', 'dom. share per job', 'dom. share per job and weight')
    """
    per = {"job": (counts != 0) & (counts != 1), "weight": weights != 1}
    of = " and ".join(noun for noun, matters in per.items() if matters.any())
    return f"dom. share per {of}" if of else "dom. share"


def capital(text: str) -> str:
    """The text as the beginning of a sentence."""
    return text[:1].upper() + text[1:]


def listed(words: Sequence[str], last: str = "and") -> str:
    """Words with commas and, before the last one, "and" or "or"."""
    return f"{', '.join(words[:-1])} {last} {words[-1]}" if len(words) > 1 else "".join(words)


def named(names: Sequence[str], noun: str = "others") -> str:
    """A few names, and the number of the others.

    Examples
    --------
    >>> named(["a", "b"]), named(list("abcdef"))
    ('a and b', 'a, b, c and 3 others')
    """
    if len(names) <= NAMED + 1:
        return listed(names)
    return f"{', '.join(names[:NAMED])} and {len(names) - NAMED} {noun}"
