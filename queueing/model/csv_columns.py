"""Columns of CSV files, refused with the number of the first bad line."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from os import PathLike

import numpy as np
import pandas as pd

from fairness.errors import ModelError

__all__ = ["positive_numbers", "read_columns"]


def read_columns(path: str | PathLike[str], columns: Sequence[str]) -> pd.DataFrame:
    """Columns of a CSV file as text; row k stands on line k + 2, blank lines are rows of NaN."""
    try:
        with warnings.catch_warnings():
            # A line with more columns than the header would be cut with a warning.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            table = pd.read_csv(
                path,
                dtype=str,
                skip_blank_lines=False,
                skipinitialspace=True,
                index_col=False,
                # A name may be NA or null.
                keep_default_na=False,
                na_values=[""],
            )
    except (OSError, ValueError, pd.errors.ParserError, pd.errors.ParserWarning) as error:
        raise ModelError(f"{path} cannot be read as CSV: {error}") from None
    missing = [name for name in columns if name not in table.columns]
    if missing:
        there = ", ".join(map(str, table.columns))
        raise ModelError(f"{path} must have a column {missing[0]!r}; got {there}")
    return table[list(columns)]


def positive_numbers(path: str | PathLike[str], text: pd.Series, *, zero: bool = False) -> pd.Series:
    """Column of text as finite numbers > 0 (or >= 0); ModelError with the number of the first bad line."""
    values = pd.to_numeric(text, errors="coerce").astype(float)
    good = np.isfinite(values) & ((values >= 0) if zero else (values > 0))
    if not good.all():
        k = int(np.argmin(good))
        raise ModelError(
            f"{path}, line {k + 2}: {text.name} must be a finite number {'>= 0' if zero else '> 0'}; "
            f"got {'nothing' if pd.isna(text.iloc[k]) else repr(text.iloc[k])}"
        )
    return values
