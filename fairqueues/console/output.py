"""How a result leaves the command: table, JSON or CSV on standard output, files by their suffix, a report.

Options are checked before the long work; files appear at the end, all of them or none.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import typer

from fairness.display.lettering import printed, unwritable
from fairqueues.errors import FAILED, OutputError, WrongUse
from fairqueues.files import require_writable, write_all
from fairqueues.report.outcome import Outcome
from fairqueues.report.tables import is_number, print_line, print_table

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["DATA", "FIGURES", "Delivery", "command_line", "to_dataset"]

FIGURES = (".svg", ".png", ".pdf")
DATA = (".nc", ".csv", ".json", ".tex")
_OF_FILES = ("as_json", "as_csv", "out", "size", "title", "verbose")
_PRESENTATION = (*_OF_FILES, "report", "jobs", "backend", "checkpoint")


@dataclass(frozen=True)
class Delivery:
    """Where the result of a command goes, which :meth:`checked` has checked."""

    context: typer.Context
    as_json: bool = False
    as_csv: bool = False
    out: tuple[Path, ...] = ()
    report: Path | None = None
    size: str | None = None
    title: bool = True

    def checked(self, *, figures: bool = True, also: Sequence[Path] = ()) -> Self:
        """Itself; WrongUse where an option cannot be kept.

        ``also`` are files that the command writes itself.
        """
        if self.as_json and self.as_csv:
            raise WrongUse("--json and --csv exclude each other; write the second one with --out FILE.csv")
        known = (*FIGURES, *DATA) if figures else DATA
        suffixes = {path: path.suffix.lower() for path in self.out}
        for path, suffix in suffixes.items():
            if suffix not in known:
                raise WrongUse(
                    f"--out {path}: the suffix {path.suffix!r} is none of {', '.join(known)}"
                    + ("" if figures else "; this command draws no figure")
                )
            if suffix == ".nc":
                _engine()
        for option in ("--size",) * (self.size is not None) + ("--no-title",) * (not self.title):
            if not any(suffix in FIGURES for suffix in suffixes.values()):
                raise WrongUse(f"{option} is for figures; write one with --out FILE.pdf")
        if self.report is not None and self.report.suffix.lower() not in (".html", ".htm"):
            raise WrongUse(f"--report {self.report}: a report is a page, name it .html")
        written = [*self.written, *also]
        for k, path in enumerate(written):
            require_writable(path)
            if path.resolve() in (p.resolve() for p in written[:k]):
                raise WrongUse(f"{path} is named twice")
        names = {"file": "the scenario", "trace": "the trace", "nodes": "the list of nodes"}
        for name, what in names.items():
            if (source := self.context.params.get(name)) is not None:
                _require_spared(written, [Path(source)], f"{what} itself")
        return self

    def require_spared(self, files: Sequence[Path]) -> None:
        """WrongUse if the command would write over one of the files that its scenario reads."""
        # Older versions of typer keep what was typed there.
        also = map(Path, filter(None, [self.context.params.get("checkpoint")]))
        _require_spared([*self.written, *also], files, "read by the scenario")

    @property
    def written(self) -> tuple[Path, ...]:
        """The files that the result goes to."""
        return (*self.out, *filter(None, [self.report]))

    @contextmanager
    def finished_points(self, given: Path | None, of_file: str | None = None) -> Iterator[Path | None]:
        """The file of finished points: of the option, else of the scenario file, else one beside an output.

        The same command goes on from there after a stop. That beside the first output stays only until the
        result is written, also one of which a check failed.
        """
        path = given
        if path is None and of_file is not None:
            path = Path(of_file)
            require_writable(path)
            if path.resolve() in (one.resolve() for one in self.written):
                raise WrongUse(f"{path} is both the checkpoint and the result; choose another name")
        if path is not None or not self.out:
            yield path
            return
        passing = self.out[0].with_name(f"{self.out[0].name}.part")
        try:
            yield passing
        except typer.Exit:
            passing.unlink(missing_ok=True)
            raise
        passing.unlink(missing_ok=True)

    def require_figure(self, possible: bool, why: str) -> None:
        """WrongUse if a figure file is asked for and there can be none."""
        for path in self.out:
            if path.suffix.lower() in FIGURES and not possible:
                raise WrongUse(f"--out {path}: {why}; write .nc, .csv, .json or .tex")

    def __call__(self, outcome: Outcome) -> None:
        """Write the files, print the result, and leave with exit code 1 if a check failed."""
        command = command_line(self.context, outcome.seed)
        if self.as_json or self.as_csv or self.out or self.report is not None:
            outcome = outcome.with_frame()
        writers = dict(outcome.files)
        writers |= {path: partial(_write, outcome=outcome, command=command, to=self) for path in self.out}
        if self.report is not None:
            kept = command_line(self.context, outcome.seed, without=_OF_FILES)
            writers[self.report] = partial(_write_report, outcome=outcome, command=kept)
        if writers:
            write_all(writers)
        for path in writers:
            typer.echo(printed(f"wrote {path}"), err=True)
        with _standard_output():
            self._print(outcome, command)
        for line in outcome.missed:
            typer.echo(printed(f"failed: {' '.join(line.split())}"), err=True)
        if outcome.missed:
            raise typer.Exit(FAILED)

    def _print(self, outcome: Outcome, command: str) -> None:
        """The result on standard output."""
        if self.as_json:
            # A text that cannot hold every sign holds their escapes, which JSON has of its own.
            plain = not (getattr(sys.stdout, "encoding", None) or "").lower().startswith("utf")
            typer.echo(json.dumps(outcome.to_json(command), indent=1, ensure_ascii=plain))
        elif self.as_csv:
            text = _csv(outcome.table)
            typer.echo(text, nl=False)
            if lost := unwritable(text, sys.stdout):
                signs, encoding = " ".join(sorted(lost)[:9]), sys.stdout.encoding
                typer.echo(
                    f"note: standard output is {encoding}, which lacks {signs}: written otherwise there; "
                    "--out FILE.csv has every sign",
                    err=True,
                )
        else:
            print_table(outcome.table if outcome.brief is None else outcome.brief, outcome.title)
            # Not by echo, which writes UTF-8 where the encoding is ASCII: one stream has one spelling.
            for line in (*map(str, outcome.evidence), *outcome.notes):
                print_line(f"  {line}")
            if outcome.seed is not None:
                print(f"  seed {outcome.seed}")


def _require_spared(written: Sequence[Path], read: Sequence[Path], what: str) -> None:
    for path in written:
        if path.resolve() in (source.resolve() for source in read):
            raise WrongUse(f"{path} is {what} and would be overwritten; choose another name")


@contextmanager
def _standard_output() -> Iterator[None]:
    """OutputError if standard output takes nothing more; that a reader has left, like head, is no error."""
    try:
        yield
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        # Python tries once more at the end, and would complain by an exit code of its own.
        with suppress(OSError, ValueError), open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
        raise OutputError(f"cannot write the result to standard output: {error.strerror or error}") from None


def command_line(
    context: typer.Context, seed: int | None = None, *, without: Sequence[str] = _PRESENTATION
) -> str:
    """The command that repeats a result: what was given, and the seed that was drawn."""
    words = context.command_path.split()
    params = dict(context.params)
    if seed is not None and "seed" in params:
        params["seed"] = seed
    options: list[str] = []
    for param in context.command.params:
        value = params.get(param.name or "")
        if param.name in (None, "help", *without) or value in (None, (), []) or value == param.default:
            continue
        several = list(value) if isinstance(value, list | tuple) else [value]
        if param.param_type_name == "argument":
            words += map(str, several)
        elif isinstance(value, bool):
            options.append(param.opts[0] if value else param.secondary_opts[0])
        else:
            for one in several:
                options += [param.opts[0], str(one)]
    return shlex.join([*words, *options])


def _write(path: Path, outcome: Outcome, command: str, to: Delivery) -> None:
    writers: dict[str, Callable[[], Any]] = {
        ".nc": lambda: _write_netcdf(path, outcome, command),
        ".csv": lambda: path.write_text(_csv(outcome.table), encoding="utf-8"),
        ".json": lambda: path.write_text(
            json.dumps(outcome.to_json(command), indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
        ),
        ".tex": lambda: path.write_text(_latex(outcome, command), encoding="utf-8"),
    }
    writers.get(path.suffix.lower(), lambda: _write_figure(path, outcome, to))()


def _write_figure(path: Path, outcome: Outcome, to: Delivery) -> None:
    if outcome.figure is None:
        raise WrongUse(f"there is no figure of this result to write to a {path.suffix} file")
    from fairness.display.printing.saving import printed_file

    path.write_bytes(printed_file(outcome.figure(), path.suffix.lower()[1:], to.size, to.title))


def _csv(table: pd.DataFrame) -> str:
    """Table as CSV. Cells that a spreadsheet would compute are marked as text: names may be anybody's."""
    plain = table.to_csv(index=any(name is not None for name in table.index.names))
    quoted = io.StringIO()
    writer = csv.writer(quoted, lineterminator="\n")
    writer.writerows([_as_text(cell) for cell in row] for row in csv.reader(io.StringIO(plain, newline="")))
    return quoted.getvalue()


def _latex(outcome: Outcome, command: str) -> str:
    """The table that people are shown, below the command that makes it again."""
    from fairness import to_latex

    shown = outcome.table if outcome.brief is None or not len(outcome.brief.columns) else outcome.brief
    return f"% {' '.join(command.split())}\n{to_latex(shown)}\n"


def _as_text(cell: str) -> str:
    """The cell, behind an apostrophe if it begins like a formula and is no number."""
    formula = cell.startswith(("=", "+", "-", "@", "\t", "\r")) and not is_number(cell)
    return f"'{cell}" if formula else cell


def to_dataset(table: pd.DataFrame, job_classes: Sequence[str] = (), bare: str = "") -> xr.Dataset:
    """Table as a Dataset; the keys become dimensions.

    So do ``job_classes``, where columns are called by them: "load A" and "load B" become one variable, load,
    and "A" and "B" alone become ``bare``. Names of users are values then, as a file may hold them, and no
    names of variables.
    """
    import xarray as xr

    from fairness.display.units import described

    flat = table.copy()
    if not flat.index.is_unique:
        flat = flat.reset_index()
        flat.index.name = "row"
    elif flat.index.names == [None]:
        flat.index.name = "row"
    first = job_classes[0] if job_classes else "\0"
    heads = [str(c).removesuffix(first) for c in flat if str(c).endswith(first)]
    groups = {h: [f"{h}{name}" for name in job_classes] for h in heads if not h or h.endswith(" ")}
    groups = {h: columns for h, columns in groups.items() if set(columns) <= set(flat)}
    named = [column for columns in groups.values() for column in columns]
    dataset: xr.Dataset = xr.Dataset.from_dataframe(flat.drop(columns=named))
    axis = xr.DataArray(list(job_classes), dims="job_class", name="job_class")
    for head, columns in groups.items():
        parts = [xr.DataArray.from_series(flat[column]) for column in columns]
        dataset[head.strip() or bare] = xr.concat(parts, axis).transpose(..., "job_class")
    return described(dataset)


def _write_netcdf(path: Path, outcome: Outcome, command: str) -> None:
    import numpy as np

    from fairqueues.report.outcome import versions

    dataset = to_dataset(outcome.table, *outcome.axis) if outcome.dataset is None else outcome.dataset
    # NetCDF has no objects and no booleans among its attributes; text is kept as text.
    attrs = {
        "title": outcome.title,
        "scenario": outcome.scenario,
        "command": command,
        "versions": json.dumps(versions()),
        **({} if outcome.seed is None else {"seed": str(outcome.seed)}),
        **dataset.attrs,
    }
    dataset = dataset.copy()
    for name, variable in dataset.variables.items():
        if variable.dtype == object:
            told = np.vectorize(str, otypes=[object])(variable.values)
            dataset[name] = variable.copy(data=told)
    dataset.attrs = attrs
    for name in map(str, (*dataset.variables, *dataset.dims)):
        if not re.fullmatch(r"\w[^/\x00-\x1f\x7f]*(?<! )", name):
            raise WrongUse(
                f"NetCDF has no variable called {name!r}: a name begins with a letter or digit and has no "
                "slash; rename it, or write .csv or .json"
            )
    try:
        dataset.to_netcdf(path, engine=_engine())
    except (RuntimeError, OSError) as error:  # the C library names no reason, or a wrong one
        raise OSError(f"{getattr(error, 'strerror', None) or error}; is the disk full?") from None


def _engine() -> Any:
    """h5netcdf or netcdf4, whichever is there; WrongUse if neither is."""
    from importlib.util import find_spec

    for engine, modules in (("h5netcdf", ("h5netcdf", "h5py")), ("netcdf4", ("netCDF4",))):
        if all(map(find_spec, modules)):
            return engine
    raise WrongUse(
        "a .nc file needs netCDF4, or h5netcdf with h5py: pip install 'fairqueues[netcdf]', or write .csv or "
        ".json"
    )


def _write_report(path: Path, outcome: Outcome, command: str) -> None:
    from fairqueues.report import page

    path.write_text(page(outcome, command), encoding="utf-8")
