"""``prove``: statements of the papers and of one's own, with evidence that is checked again on demand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from fairqueues.console import completion
from fairqueues.console.command import Call, command
from fairqueues.errors import OutputError, WrongUse
from fairqueues.files import require_folder
from fairqueues.report.outcome import Evidence

__all__ = ["prove"]


@command("jobs", figures=False, report=False, writes="latex")
def prove(
    call: Call,
    names: Annotated[list[str] | None, typer.Argument(autocompletion=completion.statements)] = None,
    list_all: Annotated[bool, typer.Option("--list")] = False,
    verify: bool = False,
    drop: list[str] | None = None,
    deep: bool = False,
    time_limit: Annotated[float, typer.Option(min=0.001)] = 60.0,
    coq: Path | None = None,
    latex: Path | None = None,
) -> None:
    """Prove, support or refute statements of the papers, or your own; every verdict carries its evidence.

    Parameters
    ----------
    names : ID|MINE.py
        Statements of the papers by id (default: all), or a file with your own, .py or .toml.
    list_all
        Only list the statements.
    verify
        Check all evidence again.
    drop : NAME
        Hypothesis to leave out, of one statement; may be repeated.
    deep
        Larger sizes.
    time_limit : SECONDS
        For each statement.
    coq : FOLDER
        Write the certificates as theorems for coqc to check.
    latex : FILE.tex
        Write statements, proofs and witnesses in LaTeX.

    Examples
    --------
    $ fairqueues prove psdsf-theorem-1 --verify
    """

    if coq is not None:
        require_folder(coq)

    import pandas as pd

    chosen = _chosen(names or [])
    if list_all:
        rows = [(s.id, s.source, s.place, s.words, str(s.said), s.remark) for s in chosen]
        columns = ["id", "source", "place", "statement", "said", "remark"]
        table = pd.DataFrame(rows, columns=columns).set_index("id")
        call.deliver("Statements", table, brief=table.drop(columns="remark"))
        return

    from proofs import check_all

    changes = {"drop": drop} if drop else {}
    result = check_all(chosen, deep=deep, time_limit=time_limit, n_jobs=call.jobs, progress=True, **changes)
    if verify:
        result.verify(*chosen)
    texts: dict[Path, str] = {}
    if latex is not None:
        texts[latex] = "\n".join(verdict.to_latex() for verdict in result.verdicts)
    if coq is not None:
        texts |= _sources(result.verdicts, coq)
    table = result.to_dataframe()
    call.deliver(
        "Statements" if any(_is_own(v) for v in result.verdicts) else "Statements of the papers",
        table,
        [Evidence("all evidence", "checked again without the prover", holds=True)] * verify,
        brief=table[["verdict", "kind", "kernel", "said", "place", "seconds"]],
        notes=(*_told(result.verdicts), *result.totals()),
        failures=result.unexplained,
        extra={"verdicts": json.loads(result.to_json())},
        files={path: partial(Path.write_text, data=text, encoding="utf-8") for path, text in texts.items()},
    )


def _chosen(names: Sequence[str]) -> list[Any]:
    """The statements of these ids and files; without any, all of the papers."""
    from fairqueues.console.conjectures import SUFFIXES, own_statements, require_distinct
    from proofs.catalogue import statement_named, statements

    if len(set(names)) < len(names):
        raise WrongUse("a statement is named twice; name each one once")
    found: list[Any] = []
    for name in names:
        file = Path(name)
        if file.suffix in SUFFIXES:
            found += own_statements(file)
        elif file.is_file():
            raise WrongUse(f"{file}: a file with statements of your own is called NAME.py or NAME.toml")
        else:
            found.append(statement_named(name))
    require_distinct(found)
    return found or list(statements())


def _is_own(verdict: Any) -> bool:
    from proofs.verdicts.verdict import OWN

    return bool(verdict.statement["origin"] == OWN)


def _told(verdicts: Sequence[Any]) -> tuple[str, ...]:
    """Verdicts in full, of a single one and of one's own; of others what is remarked, a reason, a witness."""
    from proofs.verdicts.witnesses import told_witness

    lines: list[str] = []
    for v in verdicts:
        if len(verdicts) == 1 or _is_own(v):
            lines += v.summary().splitlines()
            continue
        told = [v.said] if v.statement["remark"] else []
        told += [v.reason] if v.reason else []
        told += [told_witness(f.claim, f.evidence) for f in v.findings]
        lines += [f"{v.id}: {one}" for one in told if one]
    return tuple(lines)


def _sources(verdicts: Sequence[Any], folder: Path) -> dict[Path, str]:
    """The certificates for a proof kernel, a file for each paper in a folder that is there from now on."""
    from proofs.kernels import source_files

    texts = source_files(verdicts)
    if not texts:
        typer.echo(f"no step has a polynomial certificate: nothing to write into {folder}", err=True)
        return {}
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot make {folder}: {error.strerror}; choose another folder") from None
    return {folder / name: text for name, text in texts.items()}
