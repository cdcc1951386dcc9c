"""Check the statements of the papers and print the table.

python -m proofs                                   # all of them
python -m proofs psdsf-theorem-1 --json            # one of them, with its evidence
python -m proofs br-pf-stable --size n=4 m=3       # for other sizes
python -m proofs br-pf-stable --drop load          # without a hypothesis
python -m proofs --deep --jobs 4                   # larger sizes
python -m proofs --coq theorems                    # polynomial certificates as theorems for coqc
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fairness.errors import ModelError
from proofs.catalogue import statement_named
from proofs.checks import check_all
from proofs.errors import EvidenceError, ProofError
from proofs.kernels import source_files

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code: 0 done, 1 evidence that does not verify, 2 wrong use."""
    parser = argparse.ArgumentParser(prog="python -m proofs", description=__doc__.splitlines()[0])
    parser.add_argument("ids", nargs="*", help="statements; default: all")
    parser.add_argument("--size", nargs="+", default=[], metavar="NAME=VALUE", help="sizes, of one statement")
    parser.add_argument("--drop", nargs="+", default=[], metavar="NAME", help="hypotheses to leave out")
    parser.add_argument("--deep", action="store_true", help="larger sizes")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds per statement (default 60)")
    parser.add_argument("--json", action="store_true", help="verdicts with all evidence")
    parser.add_argument("--verify", action="store_true", help="check all evidence again")
    told = "write the certificates as theorems for Coq, a file for each paper"
    parser.add_argument("--coq", type=Path, metavar="FOLDER", help=told)
    options = parser.parse_args(arguments)
    try:
        result = check_all(
            options.ids or None,
            deep=options.deep,
            time_limit=options.time_limit,
            n_jobs=options.jobs,
            progress=True,
            **_changes(options),
        )
    except (ModelError, ProofError) as error:
        print(error, file=sys.stderr)
        return 2
    if options.json:
        print(result.to_json())
    elif len(result.verdicts) == 1:
        print(result.verdicts[0].summary())
    else:
        print(result.summary())
    folder: Path | None = options.coq
    if folder is not None:
        try:
            _write(folder, source_files(result.verdicts))
        except OSError as error:
            print(f"cannot write {error.filename or folder}: {error.strerror}", file=sys.stderr)
            return 2
    if options.verify:
        try:
            result.verify()
        except EvidenceError as error:
            print(f"evidence fails: {error}", file=sys.stderr)
            return 1
        print("all evidence verified", file=sys.stderr)
    return 1 if result.unexplained else 0


def _write(folder: Path, texts: dict[str, str]) -> None:
    """Write files into a folder, which is made where it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
        print(f"wrote {folder / name}", file=sys.stderr)


def _changes(options: argparse.Namespace) -> dict[str, Any]:
    """The sizes and the hypotheses to drop of the one statement that is named, if any are given."""
    if not options.size and not options.drop:
        return {}
    if len(options.ids) != 1:
        raise ProofError(f"--size and --drop need the id of one statement; got {len(options.ids)} ids")
    sizes: dict[str, Any] = {}
    for text in options.size:
        name, sign, value = text.partition("=")
        if not sign or not value.removeprefix("-").isdecimal():
            raise ProofError(f"a size is written NAME=VALUE with a whole number, as in n=4; got {text!r}")
        sizes[name] = int(value)
    statement_named(options.ids[0]).question(sizes)  # else a size called drop would be taken for hypotheses
    return {"drop": options.drop, **sizes}


if __name__ == "__main__":
    sys.exit(main())
