"""The speed table: ``python -m benchmarks [topic ...]``; exit code 1 if a target is missed.

Figures are ratios against a yardstick of the same run, or rates on one core with BLAS pinned to one thread.
"""

from __future__ import annotations

import argparse
import importlib
import platform
import sys

from threadpoolctl import threadpool_limits

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
    "fluid",
    "regions",
    "service",
    "sweep",
    "explorer",
    "imports",
    "first_calls",
)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.split("\n")[0])
    parser.add_argument(
        "topics", nargs="*", metavar="topic", help=f"any of {', '.join(TOPICS)} (default: all)"
    )
    chosen = parser.parse_args(arguments).topics or list(TOPICS)
    unknown = set(chosen) - set(TOPICS)
    if unknown:
        parser.error(f"unknown topic {sorted(unknown)[0]!r}; choose from {', '.join(TOPICS)}")
    print(f"Python {platform.python_version()}, one thread, {platform.machine()}\n")
    print(f"{'what':<62}{'figure':>34}  {'target':<38}")
    missed = 0
    with threadpool_limits(limits=1):
        for topic in chosen:
            for row in importlib.import_module(f"benchmarks.bench_{topic}").rows():
                mark = {True: "met", False: "MISSED", None: ""}[row.met]
                missed += row.met is False
                print(f"{row.name:<62}{row.figure:>34}  {row.target:<38}{mark}", flush=True)
                if row.note:
                    print(f"    {row.note}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
