"""Bars and lines on standard error that show how far work is: tqdm draws them; here stands where and how.

Nothing is drawn where standard error is no terminal; what is written (:func:`above`) stands there all the
same.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tqdm.std import tqdm

__all__ = ["Bars", "above", "bar", "status"]


def bar(
    done: Iterable[Any] | None = None,
    *,
    what: str,
    unit: str,
    total: float,
    shown: bool | None = None,
    **more: Any,
) -> tqdm[Any]:
    """A bar of tqdm, over what is ``done``, if that is given; it is never drawn if ``shown`` is False.

    Examples
    --------
    >>> list(bar(iter("ab"), what="letters", unit="letter", total=2, shown=False))
    ['a', 'b']
    """
    from tqdm.auto import tqdm

    # disable=None: off where standard error is no terminal.
    hidden = True if shown is False else None
    return tqdm(done, desc=what, unit=unit, total=round(total), disable=hidden, **more)


def status(text: str = "", form: str = "{desc}") -> tqdm[Any]:
    """A line that goes when it is closed; with ``"{desc} [{elapsed}]"`` it tells the time."""
    from tqdm.auto import tqdm

    return tqdm(bar_format=form, desc=text, leave=False, disable=None)


def above(text: str) -> None:
    """Write a line above the bars."""
    from tqdm.auto import tqdm

    tqdm.write(text, file=sys.stderr)


class Bars:
    """A bar for each work that is announced, or goes on for more than ``at_once`` seconds."""

    def __init__(self, at_once: float = math.inf) -> None:
        self._at_once = at_once
        self._bars: dict[str, tqdm[Any]] = {}

    def __call__(self, progress: Any) -> None:
        """Show a :class:`fairness.machine.work.Progress`."""
        what, done = progress.what, round(progress.done)
        over = progress.done >= progress.total
        if what not in self._bars:
            if over or not (progress.announced or progress.elapsed > self._at_once):
                return
            self._bars[what] = bar(
                what=what,
                unit=f" {progress.unit}",
                total=progress.total,
                initial=done,
                unit_scale=True,
                leave=False,
            )
        drawn = self._bars[what]
        drawn.total, drawn.n = round(progress.total), done
        drawn.refresh()
        if over:
            self._bars.pop(what).close()

    def close(self) -> None:
        """Take away the bars of work that has ended before it was done."""
        while self._bars:
            self._bars.popitem()[1].close()
