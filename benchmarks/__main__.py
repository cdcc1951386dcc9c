"""The speed table: ``python -m benchmarks [topic ...]``; exit code 1 if a target is missed.

Figures are ratios against a yardstick of the same run, or rates on one core with BLAS pinned to one thread.
With ``--page docs/benchmarks.md`` the sections of the topics on that page become what was printed.
"""

from __future__ import annotations

import argparse
import importlib
import platform
import sys
from pathlib import Path

from threadpoolctl import threadpool_limits

from benchmarks.harness import Row, replace_section

TOPICS = (
    "tabulate",
    "filling",
    "hierarchy",
    "proportional",
    "bottleneck",
    "leximin",
    "market",
    "psdsf",
    "cluster_tables",
    "cloud",
    "audit",
    "queueing",
    "chain",
    "exact",
    "certified",
    "simulation",
    "joblevel",
    "replays",
    "many_classes",
    "whole_jobs",
    "fluid",
    "regions",
    "service",
    "curves",
    "growth",
    "sweep",
    "explorer",
    "imports",
    "first_calls",
)
MARKS = {True: "met", False: "MISSED", None: ""}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.split("\n")[0])
    parser.add_argument(
        "topics", nargs="*", metavar="topic", help=f"any of {', '.join(TOPICS)} (default: all)"
    )
    parser.add_argument("--page", type=Path, help="a page whose sections of these topics are written anew")
    given = parser.parse_args(arguments)
    chosen = given.topics or list(TOPICS)
    unknown = set(chosen) - set(TOPICS)
    if unknown:
        parser.error(f"unknown topic {sorted(unknown)[0]!r}; choose from {', '.join(TOPICS)}")
    print(f"Python {platform.python_version()}, one thread, {platform.machine()}\n")
    print(f"{'what':<62}{'figure':>34}  {'target':<38}")
    missed = 0
    with threadpool_limits(limits=1):
        for topic in chosen:
            module = importlib.import_module(f"benchmarks.bench_{topic}")
            rows: list[Row] = module.rows()
            for row in rows:
                missed += row.met is False
                print(f"{row.name:<62}{row.figure:>34}  {row.target:<38}{MARKS[row.met]}", flush=True)
                if row.note:
                    print(f"    {row.note}")
            if given.page is not None:
                replace_section(given.page, f"### `{topic}`", _section(module.__doc__ or "", rows))
    return 1 if missed else 0


def _section(said: str, rows: list[Row]) -> list[str]:
    """What the page says of a topic: the first sentence of its module, and the table."""
    lines = [" ".join(said.split("\n\n")[0].split()), "", "| what | figure | target | |", "|---|---|---|---|"]
    for row in rows:
        mark = ": ".join(filter(None, (MARKS[row.met].lower(), row.note)))
        cells = (row.name, row.figure, row.target, mark)
        lines.append("| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |")
    return lines


if __name__ == "__main__":
    sys.exit(main())
