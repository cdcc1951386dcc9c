r"""Tables as LaTeX: a ``tabular`` that compiles without any package, whatever the names in it.

Signs that LaTeX reads as markup are escaped, and those that its oldest font encoding prints as others,
such as ``<``. Numbers of a column have as many decimals, so that their points stand below each other; a
half-width stands behind its value, with two digits, and the signs :math:`\pm` below each other; bounds are
rounded outward, with as many digits as tell them apart.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

from fairness.display.tables import outward, with_half_width
from fairness.errors import ModelError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Tabulated", "escaped", "to_latex"]


class Tabulated(Protocol):
    """Every result, and datasets of xarray."""

    def to_dataframe(self) -> pd.DataFrame:
        """The numbers, as a table."""


_SIGNS = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "✓": r"$\surd$",
    "✗": r"$\times$",
    "×": r"$\times$",
    "·": r"$\cdot$",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "±": r"$\pm$",
    "−": "$-$",
    "∞": r"$\infty$",
    "→": r"$\to$",
    "⇒": r"$\Rightarrow$",
    "≈": r"$\approx$",
    "≠": r"$\ne$",
    "∈": r"$\in$",
    "√": r"$\surd$",
    "∑": r"$\sum$",
    "ς": r"$\varsigma$",
    "–": "--",
    "—": "---",
    "…": r"\dots{}",
}
"""What stands for a sign; most accented letters LaTeX knows itself."""

_SIGNS |= dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΧο", "ABEZHIKMNOPTXo", strict=True))
"""Greek letters that look like Latin ones have no command."""

_SIGNS |= {c: rf"{{\fontencoding{{T1}}\selectfont {c}}}" for c in "ĄąĘęĮįŲųĐđÐðÞþŊŋ«»„‚‹›"}
"""Letters that the oldest font encoding lacks; LaTeX knows the next one without a package."""

_GREEK = re.compile("GREEK (SMALL|CAPITAL) LETTER ([A-Z]+)")
_ACCENTS = {"\u0301": r"\acute", "\u0308": r"\ddot"}
_CAPITALS = ("gamma", "delta", "theta", "lambda", "xi", "pi", "sigma", "upsilon", "phi", "psi", "omega")
_HALF = "_half_width"
_MISSING = "--"


def escaped(text: object) -> str:
    r"""Text that LaTeX prints sign for sign; what has no picture becomes a space.

    Examples
    --------
    >>> print(escaped("50 % of R&D_{gpu}"))
    50 \% of R\&D\_\{gpu\}
    """
    shown = unicodedata.normalize("NFC", str(text)).replace("--", "-\0-").replace("--", "-\0-")
    signs = (_SIGNS.get(c) or _sign(c) for c in shown)
    return "".join(signs).replace("\0", "{}")


def _sign(sign: str) -> str:
    """One sign that has no entry of its own."""
    if greek := _GREEK.fullmatch(unicodedata.name(sign, "")):
        name = greek[2].lower().replace("lamda", "lambda")
        if greek[1] == "SMALL":
            return rf"$\{name}$"
        if name in _CAPITALS:
            return rf"$\{name.capitalize()}$"
    parted = unicodedata.normalize("NFD", sign)
    letter, accent = parted[0], parted[1:]
    if accent in _ACCENTS and unicodedata.name(letter, "").startswith("GREEK"):
        return f"${_ACCENTS[accent]} {escaped(letter).strip('$')}$"
    return sign if sign.isprintable() or sign == "\0" else " "


def to_latex(
    table: Tabulated | pd.DataFrame,
    *,
    columns: Sequence[str] | None = None,
    digits: int = 6,
    booktabs: bool = False,
) -> str:
    r"""A table as LaTeX, which needs no package.

    Parameters
    ----------
    table : Result, DataFrame or Dataset
        A result by its ``to_dataframe()``; the dataset of a sweep by a row per point.
    columns : sequence of str, optional
        Which columns, in this order; the half-width of one comes along. All by default.
    digits : int
        Significant digits of numbers that have no half-width and are no bounds.
    booktabs : bool
        Rules of the package of this name instead of ``\hline``.

    Returns
    -------
    str
        A ``tabular``. Keys come first and are not repeated; columns without an entry are left out. Names in
        Latin and Greek letters need no package; those in other alphabets stand as they are, for an engine
        that has them.

    Raises
    ------
    ModelError
        If an argument is wrong.

    Examples
    --------
    >>> from fairness import DRF, Problem, allocate, to_latex
    >>> problem = Problem([[1, 4], [3, 1]], [9, 18], job_classes=["R&D", "web"], resources=["cpu", "ram"])
    >>> print(to_latex(allocate(problem, DRF()), columns=["tasks", "dominant_share"], digits=3))
    \begin{tabular}{lrr}
    \hline
    job class & tasks & dominant share \\
    \hline
    R\&D & 3 & 0.667 \\
    web & 2 & 0.667 \\
    \hline
    \end{tabular}
    """
    # A result may have columns of its own, and its table all the same.
    frame: Any = getattr(table, "to_dataframe", lambda: table)()
    if not hasattr(frame, "columns"):
        raise ModelError.of("table", f"must be a result, a table or a dataset; got {type(table).__name__}")
    if isinstance(digits, bool) or not isinstance(digits, int) or not 1 <= digits <= 17:
        raise ModelError.of("digits", f"must be a whole number from 1 to 17; got {digits!r}")
    if columns is not None:
        frame = frame[_chosen(list(frame.columns), columns)]
    top, middle, bottom = (r"\toprule", r"\midrule", r"\bottomrule") if booktabs else (r"\hline",) * 3
    parts = _columns(frame, digits)
    heads = " & ".join(head for _, head, _ in parts)
    rows = (" & ".join(cells) for cells in zip(*(cells for _, _, cells in parts), strict=True))
    # Behind \\ LaTeX reads [ and * as its own.
    lines = [("{}" if row[:1] in "[*" else "") + row + r" \\" for row in (heads, *rows)]
    form = "".join(form for form, _, _ in parts)
    return "\n".join([
        rf"\begin{{tabular}}{{{form}}}", top, lines[0], middle, *lines[1:], bottom, r"\end{tabular}",
    ])  # fmt: skip


def _chosen(names: list[Any], columns: Sequence[str]) -> list[Any]:
    """The columns that were asked for, each followed by its half-width."""
    if isinstance(columns, str):
        raise ModelError.of("columns", f"must be a list of names, such as [{columns!r}]")
    for column in columns:
        if column not in names:
            raise ModelError.of("columns", f": there is none {column!r}, but {', '.join(map(str, names))}")
    return [name for column in columns for name in (column, f"{column}{_HALF}") if name in names]


def _columns(frame: Any, digits: int) -> list[tuple[str, str, list[str]]]:
    """Alignment, head and cells of each column, the keys first."""
    names = ["_".join(map(str, name)) if isinstance(name, tuple) else str(name) for name in frame.columns]
    listed = [list(frame.iloc[:, k]) for k in range(len(names))]
    values = dict(zip(names, listed, strict=True))
    columns = _keys(frame.index)
    for name, entries in zip(names, listed, strict=True):
        head = escaped(name.replace("_", " "))
        stem, side = name.removesuffix("lower"), name.removesuffix("upper")
        if name.endswith(_HALF) and name.removesuffix(_HALF) in values:
            continue
        if name + _HALF in values:
            columns.append(_with_half_widths(head, entries, values[name + _HALF]))
        elif name.endswith("lower") and f"{stem}upper" in values:
            columns.append(("r", head, _bounds(entries, values[f"{stem}upper"], 0)))
        elif name.endswith("upper") and f"{side}lower" in values:
            columns.append(("r", head, _bounds(values[f"{side}lower"], entries, 1)))
        elif any(map(_is_number, entries)):
            columns.append(("r", head, _numbers(entries, digits)))
        elif any(str(entry) for entry in entries) or not entries:
            columns.append(("l", head, [_text(entry) for entry in entries]))
    return columns


def _keys(index: Any) -> list[tuple[str, str, list[str]]]:
    """Columns of the keys, where they have names; one that repeats the row above is blank."""
    if all(name is None for name in index.names):
        return []
    columns = []
    above = [True] * len(index)
    for level, name in enumerate(index.names):
        entries = list(index.get_level_values(level))
        cells = [_text(entry) if not _is_number(entry) else _number(entry, 6) for entry in entries]
        again = [k > 0 and above[k] and cells[k] == cells[k - 1] for k in range(len(cells))]
        last = level == len(index.names) - 1
        shown = [cell if last or not blank else "" for cell, blank in zip(cells, again, strict=True)]
        form = "r" if all(map(_is_number, entries)) and entries else "l"
        columns.append((form, escaped(str(name or "").replace("_", " ")), shown))
        above = again
    return columns


def _text(entry: Any) -> str:
    if isinstance(entry, bool) or type(entry).__name__ == "bool":
        return "yes" if entry else "no"
    return _MISSING if entry is None else escaped(entry)


def _is_number(entry: Any) -> bool:
    kind = type(entry).__name__
    return (kind not in ("bool", "bool_") and isinstance(entry, int | float | Fraction)) or (
        hasattr(entry, "dtype") and getattr(entry, "ndim", 1) == 0 and entry.dtype.kind in "iuf"
    )


def _numbers(entries: list[Any], digits: int) -> list[str]:
    """Numbers of a column: all with the decimals that one of them needs, where none needs a power of ten."""
    plain = [_number(entry, digits) if _is_number(entry) else _text(entry) for entry in entries]
    floats = [k for k, entry in enumerate(entries) if _is_float(entry)]
    if any("times" in plain[k] for k in floats):
        return plain
    decimals = max((len(plain[k].strip("$").partition(".")[2]) for k in floats), default=0)
    for k in floats:
        plain[k] = _signed(f"{float(entries[k]):.{decimals}f}")
    return plain


def _is_float(entry: Any) -> bool:
    return _is_number(entry) and not isinstance(entry, int | Fraction) and math.isfinite(entry)


def _number(entry: Any, digits: int) -> str:
    """One number on its own."""
    if isinstance(entry, Fraction):
        return _signed(str(entry))
    if not math.isfinite(entry):
        return _MISSING if math.isnan(entry) else _signed("-" * (entry < 0) + r"\infty")
    if (float(entry).is_integer() and abs(entry) < 10**digits) or isinstance(entry, int):
        return _signed(str(int(entry)))
    mantissa, _, power = f"{entry:.{digits}g}".partition("e")
    return rf"${mantissa}\times 10^{{{int(power)}}}$" if power else _signed(mantissa)


def _signed(number: str) -> str:
    """A minus, not a hyphen."""
    return f"${number}$" if "-" in number or "\\" in number else number


def _with_half_widths(head: str, values: list[Any], half: list[Any]) -> tuple[str, str, list[str]]:
    r"""Values with their half-widths, in two columns around the sign :math:`\pm`."""
    cells = []
    for value, width in zip(map(float, values), map(float, half), strict=True):
        if math.isnan(value) or math.isnan(width):
            shown = _number(value, 6)
            cells.append(rf"\multicolumn{{2}}{{c}}{{{shown}}}")
        elif not math.isfinite(value) or not math.isfinite(width):
            cells.append(f"{_number(value, 6)} & {_number(width, 6)}")
        else:
            cells.append(" & ".join(map(_signed, with_half_width(value, width))))
    return r"r@{${}\pm{}$}l", rf"\multicolumn{{2}}{{c}}{{{head}}}", cells


def _bounds(lower: list[Any], upper: list[Any], side: int) -> list[str]:
    """The lower (0) or upper (1) bounds, rounded away from each other."""
    told = (outward(float(low), float(high))[side] for low, high in zip(lower, upper, strict=True))
    return [_number(float(text), 6) if "inf" in text or "nan" in text else _signed(text) for text in told]
