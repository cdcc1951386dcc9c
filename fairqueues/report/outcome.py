"""What a command found: a tidy table, evidence, notes, a figure; told to people and to machines.

Infinite and undefined numbers have no place in JSON: NaN becomes null, infinity the strings "inf" and "-inf".
"""

from __future__ import annotations

import math
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from fairness.display.tables import Columns, rounded_down, rounded_up

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.figure import Figure

__all__ = ["Evidence", "Outcome", "certificates", "plain", "records", "versions"]


@dataclass(frozen=True)
class Evidence:
    """A claim about a result, and how well it is met.

    Parameters
    ----------
    subject : str
        What it is about: a policy, a method, a statement.
    claim : str
    value : float
        What was measured; NaN where the claim is words only.
    holds : bool or None
        None where the number speaks for itself.
    bound : {"upper", "lower"}, optional
        What the value bounds the truth by; it is written rounded to that side.
    """

    subject: str
    claim: str
    value: float = math.nan
    holds: bool | None = None
    bound: Literal["", "upper", "lower"] = ""

    def __str__(self) -> str:
        value = self.value
        if self.bound:
            value = (rounded_up if self.bound == "upper" else rounded_down)(value, 3)
        number = "" if math.isnan(value) else f"{value:.3g}"
        if self.holds is None:
            return f"{self.subject}: {self.claim} {number}".rstrip()
        return f"{self.subject}: {self.claim}: {'holds' if self.holds else 'FAILS'}" + (
            f" ({number})" if number else ""
        )


def certificates(results: Mapping[str, Any]) -> tuple[Evidence, ...]:
    """What the certificate of each result says."""
    told = ((name, result.certificate) for name, result in results.items())
    return tuple(Evidence(name, c.claim, c.residual, c.holds) for name, c in told)


@dataclass(frozen=True)
class Outcome:
    """Result of a command, before it is delivered.

    Parameters
    ----------
    title : str
    table : DataFrame or Columns
        Tidy; its index are the keys, its columns the values.
    evidence : tuple of Evidence
    brief : DataFrame, optional
        Table for people, where the full one is too long or too wide.
    tables : mapping of str to DataFrame
        Further tables, for JSON and the report.
    notes : tuple of str
        Lines for people, below the table.
    failures : tuple of str
        Checks that failed, tolerances that were missed; with any the exit code is 1.
    figure : callable, optional
        Draws the figure when it is wanted.
    dataset : xarray.Dataset, optional
        What goes into NetCDF; by default the table.
    axis : (sequence of str, str)
        Names of the job classes, if columns of the table are called by them, and what such a column holds
        that is called by nothing else.
    scenario : str
        The TOML text.
    seed : int or None
        None where nothing is random.
    extra : mapping
        More for JSON, such as certificates.
    files : mapping of Path to callable
        Writers of further files that the command was asked for, which appear with the others.
    """

    title: str
    table: Any
    evidence: tuple[Evidence, ...] = ()
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    figure: Callable[[], Figure] | None = None
    dataset: xr.Dataset | None = None
    axis: tuple[Sequence[str], str] = ((), "")
    scenario: str = ""
    seed: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    brief: pd.DataFrame | None = None
    files: Mapping[Path, Callable[[Path], Any]] = field(default_factory=dict)

    @property
    def missed(self) -> tuple[str, ...]:
        """Why the exit code is 1: failures, and evidence that does not hold."""
        return (*self.failures, *(str(e) for e in self.evidence if e.holds is False))

    def with_frame(self) -> Outcome:
        """The same with a data frame as the table, which machines are given."""
        known = isinstance(self.table, Columns)
        return replace(self, table=self.table.to_dataframe()) if known else self

    def to_json(self, command: str) -> dict[str, Any]:
        """One object: inputs, results, evidence, versions, seed."""
        return {
            "title": self.title,
            "command": command,
            "inputs": {"scenario": self.scenario},
            "results": records(self.table),
            "tables": {name: records(table) for name, table in self.tables.items()},
            "evidence": [
                {"subject": e.subject, "claim": e.claim, "value": plain(e.value), "holds": e.holds}
                for e in self.evidence
            ],
            "failures": list(self.missed),
            **{name: plain(value) for name, value in self.extra.items()},
            "versions": versions(),
            "seed": self.seed,
        }


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows of a table with its index, as JSON takes them."""
    flat = table.reset_index() if any(name is not None for name in table.index.names) else table
    return [{str(k): plain(v) for k, v in row.items()} for row in flat.to_dict("records")]


def plain(value: Any) -> Any:
    """Value as JSON takes it."""
    if hasattr(value, "tolist"):  # arrays and numbers of numpy
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that a result may depend on."""
    from fairness.versions import version

    packages = ("fairqueues", "numpy", "scipy", "numba", "highspy", "pandas", "xarray")
    return {"python": platform.python_version(), **{name: version(name) for name in packages}}
