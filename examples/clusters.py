"""Draw real clusters: recorded tasks under schedulers, and what theory says of them.

The pages of recorded clusters replay a synthetic trace with published marginals, or your own file, in the schema of the
Alibaba GPU cluster trace 2023.

    python -m examples.clusters --out out
    python -m examples.clusters --out out --full  # more tasks and nodes
    python -m examples.clusters --out out --trace pods.csv --nodes nodes.csv
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path

from examples.clusters_figures.explained import explained
from examples.clusters_figures.fitted import fitted
from examples.clusters_figures.guarantees import cohort
from examples.clusters_figures.hierarchy import starvation
from examples.clusters_figures.packing import packing
from examples.clusters_figures.recorded import Files
from examples.clusters_figures.replays import replays
from examples.clusters_figures.throughputs import throughputs
from examples.reproduce import Source, command
from fairqueues.kernels import bottlenecks, chains, prices, replayed, runs

INTRODUCTION = (
    "What schedulers of real clusters do: queues within queues, guarantees, packing, task by task, and what theory says of it. A recorded cluster is replayed under several schedulers; "
    "nothing here is a measurement of a cluster: durations are those recorded, nothing is preempted, and no task runs faster or slower elsewhere."
)

RECORDED = (replays, fitted, packing)
"""Pages that replay a trace."""


def source(files: Files | None = None) -> Source:
    """The gallery, of the user's files or of a synthetic trace."""
    return Source(
        "clusters",
        "Real clusters",
        INTRODUCTION,
        (starvation, cohort, explained, *(partial(page, files=files) for page in RECORDED), throughputs),
        (bottlenecks, prices, chains, runs, replayed),
        arguments="" if files is None else f" --trace {files.trace} --nodes {files.nodes}",
        quick=(starvation, cohort, explained, throughputs),
    )


SOURCE = source()


def main() -> int:
    """Command line: the pages, of the user's files if they are given."""
    own = argparse.ArgumentParser(prog="python -m examples.clusters", add_help=False)
    own.add_argument(
        "--trace", type=Path, metavar="PODS", help="pods of a recorded cluster; goes with --nodes"
    )
    own.add_argument("--nodes", type=Path, metavar="NODES", help="its nodes")
    given, _ = own.parse_known_args()
    if (given.trace is None) != (given.nodes is None):
        own.error("--trace and --nodes go together; without both the trace is a synthetic one")
    files = None if given.trace is None else Files(given.trace, given.nodes)
    return command([source(files)], "examples.clusters", own=[own])


if __name__ == "__main__":
    sys.exit(main())
