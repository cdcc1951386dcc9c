"""``prove``: statements of the papers, with evidence that is checked again on demand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from fairqueues.console.command import command
from fairqueues.console.options import Jobs
from fairqueues.console.output import Delivery
from fairqueues.errors import OutputError, WrongUse
from fairqueues.files import write_all
from fairqueues.report.outcome import Evidence, Outcome

__all__ = ["prove"]


@command(figures=False, report=False)
def prove(
    deliver: Delivery,
    ids: Annotated[list[str] | None, typer.Argument(metavar="ID", help="Statements. Default: all.")] = None,
    list_all: Annotated[bool, typer.Option("--list", help="Only list the statements.")] = False,
    verify: Annotated[bool, typer.Option("--verify", help="Check all evidence again.")] = False,
    deep: Annotated[bool, typer.Option("--deep", help="Larger sizes.")] = False,
    time_limit: Annotated[
        float, typer.Option("--time-limit", min=0.001, metavar="SECONDS", help="For each statement.")
    ] = 60.0,
    coq: Annotated[
        Path | None,
        typer.Option("--coq", metavar="FOLDER", help="Write the polynomial certificates for coqc to check."),
    ] = None,
    lean: Annotated[
        Path | None,
        typer.Option("--lean", metavar="FOLDER", help="Write them as text for Lean 4 with Mathlib."),
    ] = None,
    jobs: Jobs = 1,
) -> None:
    """Prove, support or refute statements of the papers; every verdict carries its evidence."""

    folders = {name: folder for name, folder in (("coq", coq), ("lean", lean)) if folder is not None}
    for folder in folders.values():
        _require_folder(folder)

    import pandas as pd

    from proofs.catalogue import statement_named, statements

    if len(set(ids or ())) < len(ids or ()):
        raise WrongUse("a statement is named twice; name each one once")
    chosen = [statement_named(name) for name in ids] if ids else list(statements())
    if list_all:
        rows = [(s.id, s.source, s.place, s.words, str(s.said), s.remark) for s in chosen]
        names = ["id", "source", "place", "statement", "said", "remark"]
        table = pd.DataFrame(rows, columns=names).set_index("id")
        deliver(Outcome("Statements", table, brief=table.drop(columns="remark")))
        return

    from proofs import check_all

    result = check_all(chosen, deep=deep, time_limit=time_limit, n_jobs=jobs, progress=True)
    if verify:
        result.verify()
    for name, folder in folders.items():
        _write_sources(result.verdicts, name, folder)
    table = result.to_dataframe()
    deliver(
        Outcome(
            "Statements of the papers",
            table,
            (Evidence("all evidence", "checked again without the prover", holds=True),) if verify else (),
            brief=table[["verdict", "kind", "kernel", "said", "place", "seconds"]],
            notes=(*_told(result.verdicts), *result.totals()),
            failures=result.unexplained,
            extra={"verdicts": json.loads(result.to_json())},
        )
    )


def _told(verdicts: Sequence[Any]) -> tuple[str, ...]:
    """The verdict in full where there is one; else what is remarked, and why something is unknown."""
    if len(verdicts) == 1:
        return tuple(verdicts[0].summary().splitlines())
    remarks = tuple(f"{v.id}: {v.said}" for v in verdicts if v.statement["remark"])
    return remarks + tuple(f"{v.id}: {v.reason}" for v in verdicts if v.reason)


def _require_folder(folder: Path) -> None:
    """OutputError unless files can be written into the folder, or it can be made."""
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"cannot write into {folder}: it is a file; name a folder")
    if not folder.parent.is_dir():
        raise OutputError(f"cannot make {folder}: there is no folder {str(folder.parent)!r}; create it first")


def _write_sources(verdicts: Sequence[Any], language: str, folder: Path) -> None:
    """Write the certificates for a proof kernel, a file for each paper."""
    from proofs.kernels import source_files

    texts = source_files(verdicts, language)
    if not texts:
        typer.echo(f"no step has a polynomial certificate: nothing to write into {folder}", err=True)
        return
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot make {folder}: {error.strerror}; choose another folder") from None
    write_all(
        {folder / name: partial(Path.write_text, data=text, encoding="utf-8") for name, text in texts.items()}
    )
    for name in texts:
        typer.echo(f"wrote {folder / name}", err=True)
