"""Texts of sums and of families of relations; in a family @ stands for the index."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["each", "signs", "total"]


def total(term: str, indices: Iterable[int | str]) -> str:
    """Sum of a term over indices: "x1*a1 + x2*a2" of "x@*a@"."""
    return " + ".join(term.replace("@", str(k)) for k in indices) or "0"


def each(name: str, text: str, indices: Iterable[int | str]) -> dict[str, str]:
    """Relations "name 1", "name 2", ..."""
    return {f"{name} {k}": text.replace("@", str(k)) for k in indices}


def signs(positive: str = "", not_negative: str = "") -> dict[str, str]:
    """Hypotheses on the signs of variables, or of families such as x[i]; they keep witnesses sensible."""
    known = {f"sign of {v.split('[')[0]}": f"{v} > 0" for v in positive.split()}
    return known | {f"sign of {v.split('[')[0]}": f"{v} >= 0" for v in not_negative.split()}
