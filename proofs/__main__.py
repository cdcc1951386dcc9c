"""Check the statements of the papers and print the table.

python -m proofs                                   # all of them
python -m proofs psdsf-theorem-1 --json            # one of them, with its evidence
python -m proofs br-pf-stable --size n=4 m=3       # for other sizes
python -m proofs br-pf-stable --drop load          # without a hypothesis
python -m proofs --deep --jobs 4                   # larger sizes
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from proofs.catalogue import statement_named
from proofs.checks import check
from proofs.errors import EvidenceError, ProofError
from proofs.report import Report, report
from proofs.verdict import Status, Verdict

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
    options = parser.parse_args(arguments)
    try:
        if options.size or options.drop:
            result = Report((_one(options),))
        else:
            result = report(
                options.ids or None, deep=options.deep, time_limit=options.time_limit, n_jobs=options.jobs
            )
    except ProofError as error:
        print(error, file=sys.stderr)
        return 2
    if options.json:
        print(result.to_json())
    elif len(result.verdicts) == 1:
        print(result.verdicts[0].summary())
    else:
        print(result.summary())
    if options.verify:
        try:
            result.verify()
        except EvidenceError as error:
            print(f"evidence fails: {error}", file=sys.stderr)
            return 1
        print("all evidence verified", file=sys.stderr)
    unexplained = [v.id for v in result.verdicts if v.status == Status.UNKNOWN and not v.reason]
    return 1 if unexplained else 0


def _one(options: argparse.Namespace) -> Verdict:
    """The one statement that is named, with the sizes and without the hypotheses."""
    if len(options.ids) != 1:
        raise ProofError(f"--size and --drop need the id of one statement; got {len(options.ids)} ids")
    sizes: dict[str, Any] = {}
    for text in options.size:
        name, sign, value = text.partition("=")
        if not sign or not value.removeprefix("-").isdecimal():
            raise ProofError(f"a size is written NAME=VALUE with a whole number, as in n=4; got {text!r}")
        sizes[name] = int(value)
    statement = statement_named(options.ids[0])
    if unknown := sorted(set(sizes) - set(statement.sizes)):
        known = ", ".join(statement.sizes) or "none"
        raise ProofError(f"{statement.id} has no size {unknown[0]!r}; its sizes: {known}")
    return check(statement, drop=options.drop, deep=options.deep, time_limit=options.time_limit, **sizes)


if __name__ == "__main__":
    sys.exit(main())
