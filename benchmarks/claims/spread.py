"""EDRF and DC-DRF of tenants in files on the workers of a Dask cluster: the same bits, the time and the
bytes.

``python -m benchmarks.claims.spread`` writes the demands of a profile into files, allocates them in one
process, and then on one, two and more workers of a cluster on this machine, each a process of one thread. It
prints for each how long reading (with the exchange of entries), filling and the certificate took, how many
windows that were, the bytes that machines sent, and whether all bits are those of one process. ``--tenants
1600000 --resources 160000 --workers 1 2 4`` are 10^8 entries, in about 6 GB. ``--page docs/cloud_scale.md``
writes the table there. The exit code is 1 if a bit differs.
"""

from __future__ import annotations

import argparse
import gc
import resource
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from scipy import sparse

from fairness.cloud import SparseDemands, dcdrf, demand_profile, edrf, edrf_blocks
from fairness.cloud.spread.allocation import on_machines
from fairness.cloud.spread.owner import Owner
from fairness.machine.residents import Residents

BEGIN, END = "<!-- spread: what the command printed -->", "<!-- spread: end -->"
HEAD = [
    "| on | reading | filling | certificate | steps | MB in each | worker | driver | memory | same bits |",
    "|---|---|---|---|---|---|---|---|---|---|",
]


def write(folder: str, profile: str, n: int, m: int, files: int) -> list[str]:
    """Files of consecutive tenants."""
    paths, streams = list[str](), np.random.default_rng(1).spawn(files)
    for k, stream in enumerate(streams):
        rows = demand_profile(profile, n * (k + 1) // files - n * k // files, m, rng=stream, dtype=np.float32)
        paths.append(f"{folder}/{k}.npz")
        sparse.save_npz(paths[-1], rows.matrix(), compressed=False)
    return paths


def alone(paths: list[str], epsilon: float) -> tuple[str, np.ndarray, int]:
    """A line about one process; its levels, and the number of entries."""
    begin = time.perf_counter()
    matrix = sparse.vstack([sparse.load_npz(path) for path in paths], format="csr")
    demands = SparseDemands(matrix)
    read = time.perf_counter()
    result = dcdrf(demands, epsilon, threads=1) if epsilon else edrf(demands)
    filled = time.perf_counter()
    assert result.certificate.holds
    end = time.perf_counter()
    phases = f"{read - begin:.1f} s | {filled - read:.2f} s | {end - filled:.1f} s"
    steps = f"{result.rounds:,} rounds" if epsilon else f"{result.events:,} events"
    return f"| one process | {phases} | {steps} | | | | | |", result.levels, demands.n_entries


def together(paths: list[str], workers: int, epsilon: float, window: int | None, levels: np.ndarray) -> str:
    """A line about workers of a cluster."""
    from dask.distributed import Client, LocalCluster, get_client

    shape = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with (
        LocalCluster(processes=True, memory_limit=0, **shape) as local,
        Client(local),
        joblib.parallel_config(backend="dask"),
    ):
        warm_up(paths[0], epsilon)
        client = get_client()
        before, begin = client.run(time.process_time), time.process_time()
        result = edrf_blocks(paths, epsilon=epsilon, window=window)
        driver = time.process_time() - begin
        worker = max(after - before[who] for who, after in client.run(time.process_time).items())
        memory = max(client.run(most_memory).values())
    times = " | ".join(f"{seconds:.2f} s" for seconds in result.seconds.values())
    sent = ", ".join(f"{count / 1e6:,.0f}" for count in result.sent.values())
    same = "yes" if np.array_equal(result.levels, levels) and result.certificate.holds else "no"
    name = "one worker" if workers == 1 else f"{workers} workers"
    spent = f"{worker:.1f} s | {driver:.1f} s | {memory:.1f} GB"
    return f"| {name} | {times} | {result.windows:,} | {sent} | {spent} | {same} |"


def most_memory() -> float:
    """Gigabytes that this process had at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


class Timed(Residents):
    """Machines in this process, and the processor time of what they are asked."""

    def __init__(self, number: int) -> None:
        super().__init__(Owner, number)
        self.seconds = Counter[str]()

    def ask(self, method: str, arguments: Any) -> list[Any]:
        """Answers."""
        begin = time.process_time()
        answers = super().ask(method, arguments)
        self.seconds[method] += time.process_time() - begin
        return answers


def constants(paths: list[str], entries: int, tenants: int, epsilon: float, window: int | None) -> list[str]:
    """What each question costs, in nanoseconds of a processor per entry, and per tenant on each machine."""
    spent = {}
    for number in (2, 16):
        on_machines(Residents(Owner, number), paths[:1], None, epsilon, window)
        machines, begin = Timed(number), time.process_time()
        on_machines(machines, paths, None, epsilon, window)
        machines.seconds["the driver"] = time.process_time() - begin - sum(machines.seconds.values())
        spent[number] = machines.seconds
    lines = ["| asked to | ns per entry | ns per tenant and machine |", "|---|---|---|"]
    for name, few in spent[2].items():
        each = max(0.0, (spent[16][name] - few) / 14 / tenants)
        if few > 1e-9 * entries:
            lines.append(f"| {name} | {1e9 * (few - 2 * each * tenants) / entries:.1f} | {1e9 * each:.1f} |")
    return lines


def warm_up(path: str, epsilon: float) -> None:
    """Load the kernels of all workers."""
    with tempfile.TemporaryDirectory() as folder:
        sparse.save_npz(f"{folder}/few.npz", sparse.load_npz(path)[:2000])
        edrf_blocks([f"{folder}/few.npz"] * 4, epsilon=epsilon)


def main(arguments: list[str]) -> int:
    """Measure; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.claims.spread", description=__doc__)
    parser.add_argument("--tenants", type=int, default=100_000)
    parser.add_argument("--resources", type=int, default=10_000)
    parser.add_argument("--profile", default="U0")
    parser.add_argument("--files", type=int, default=16)
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2, 4])
    parser.add_argument("--epsilon", type=float, nargs="*", default=[0.0, 0.01], help="0 for EDRF")
    parser.add_argument("--window", type=int, help="resources of a window")
    parser.add_argument("--page", type=Path, help="page in which the table is written anew")
    asked = parser.parse_args(arguments)
    lines = list[str]()

    def tell(*more: str) -> None:
        lines.extend(more)
        print("\n".join(more), flush=True)

    with tempfile.TemporaryDirectory() as folder:
        paths = write(folder, asked.profile, asked.tenants, asked.resources, asked.files)
        for epsilon in asked.epsilon:
            line, levels, entries = alone(paths, epsilon)
            gc.collect()
            kind = f"DC-DRF with epsilon {epsilon:g}" if epsilon else "EDRF"
            size = f"{asked.tenants:,} tenants, {asked.resources:,} resources, {entries:,} entries"
            tell(f"{kind}, profile {asked.profile}: {size}.", "", *HEAD, line)
            for workers in asked.workers:
                tell(together(paths, workers, epsilon, asked.window, levels))
            tell("", *constants(paths, entries, asked.tenants, epsilon, asked.window), "")
    if asked.page:
        text = asked.page.read_text(encoding="utf-8")
        before, rest = text.split(BEGIN)
        page = before + "\n".join([BEGIN, "", *lines, END]) + rest.split(END)[1]
        asked.page.write_text(page, encoding="utf-8")
    return int(any(line.endswith("| no |") for line in lines))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
