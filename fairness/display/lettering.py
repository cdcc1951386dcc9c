"""Text that comes from users, where not every character can be shown: in figures, and on old terminals.

matplotlib reads what stands between two dollar signs as a formula, and an SVG file must not hold control
characters: every text of a figure that is not written by us goes through :func:`label`. A terminal obeys
control characters, and those that turn the direction of writing make one name look like another: what it is
shown goes through :func:`printed`. A terminal whose encoding is not UTF-8 lacks most signs: :func:`spelled`
has a stream write others for them.
"""

from __future__ import annotations

import codecs
import unicodedata
from textwrap import wrap
from typing import Any

__all__ = ["DOLLAR", "LINE", "folded", "label", "printed", "spelled", "unprintable", "unwritable"]

_NONE = ("Cc", "Cf", "Cs", "Cn", "Zl", "Zp")
"""Unicode categories without a picture: control characters, also those of formats (which turn the direction
of writing, say), halves of a pair, code points of nobody, ends of lines and paragraphs."""

_JOINING = "\u200c\u200d"
"""Of the formats those that scripts and emoji need: they part and join letters."""

LINE = 32
"""Letters of a name in one line of a legend or below a bar."""

DOLLAR = "\0"
"""Stands for the two signs of an escaped dollar, which are one and not to be parted."""

_SPELLING = {
    "✓": "v",
    "✗": "x",
    "×": "x",
    "·": "*",
    "–": "-",
    "—": "-",
    "−": "-",
    "…": "...",
    "≤": "<=",
    "≥": ">=",
}
"""Signs that we write ourselves, by others of about their shape."""


def unprintable(text: str) -> str:
    """The characters of a text that cannot be shown, such as control characters.

    Examples
    --------
    >>> unprintable("CPU\\n")
    '\\n'
    """
    return "".join(c for c in text if unicodedata.category(c) in _NONE and c not in _JOINING)


def printed(text: object, kept: str = "") -> str:
    r"""Text that is shown character for character; what cannot be shown, as its escape.

    Parameters
    ----------
    text : object
        What becomes a text by ``str``.
    kept : str
        Control characters that stay, such as ends of lines.

    Examples
    --------
    >>> print(printed("bell\a, \u202eturned"))
    bell\x07, \u202eturned
    """
    shown = str(text)
    if not shown.isprintable():
        for c in set(unprintable(shown)) - set(kept):
            shown = shown.replace(c, ascii(c)[1:-1])
    return shown


def label(text: object) -> str:
    r"""Text for matplotlib that is shown character for character; what cannot be shown, as its escape.

    Parameters
    ----------
    text : object
        A name, a title, or what becomes one by ``str``.

    Examples
    --------
    >>> print(label("cost in $, or $/h"))
    cost in \$, or \$/h
    """
    return printed(text).replace("$", r"\$")


def folded(text: str, width: int = LINE) -> str:
    r"""Text whose lines are broken where they are longer than ``width`` letters.

    Between words; within a word that is longer itself. A text with a formula stays whole.

    Examples
    --------
    >>> folded("jobs of the department\nof physics", 16)
    'jobs of the\ndepartment\nof physics'
    >>> folded("jobs of Donaudampfschiffahrt", 16)
    'jobs of\nDonaudampfschiff\nahrt'
    """
    single = text.replace(r"\$", DOLLAR)
    if "$" in single:
        return text
    made: list[str] = []
    for line in single.split("\n"):
        # A long word begins a line.
        for part in wrap(line, width, break_long_words=False, break_on_hyphens=False) or [""]:
            made += wrap(part, width, break_on_hyphens=False) or [""]
    return "\n".join(made).replace(DOLLAR, r"\$")


def spelled(*streams: Any) -> None:
    """Have text streams write what their encoding lacks by other signs, or as escapes, instead of failing."""
    for stream in streams:
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="fairqueues-spelling")


def unwritable(text: str, stream: Any) -> set[str]:
    """The characters that the encoding of a text stream lacks."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return {c for c in set(text) if not c.isascii() and not c.encode(encoding, "ignore")}
    return set()


def _spell(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lost = error.object[error.start : error.end]
    signs = [_SPELLING.get(c) or c.encode("ascii", "backslashreplace").decode("ascii") for c in lost]
    return "".join(signs), error.end


codecs.register_error("fairqueues-spelling", _spell)
