"""The tasks and nodes that the pages replay: a file of the user's, or a synthetic trace with published marginals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from fairqueues.traces import read_alibaba_gpu_2023, synthetic_gpu_trace
from queueing import ClusterTrace, NodeList

__all__ = ["KINDS", "SYNTHETIC", "Files", "Recorded", "kinds_of", "recorded", "used_until", "whole"]

SYNTHETIC = (
    "Synthetic tasks: how they divide over GPU requests (none, a part of a device, 1, 2, 4, 8) is published for the Alibaba GPU cluster trace 2023 (Weng et al., ATC 2023); "
    "durations (lognormal, median 10 min), Poisson arrivals, CPU and memory are assumed, and so are the users: training (whole devices), serving and research (parts of a device, by turns), data (no device)."
)

KINDS = ("no GPU", "part of a GPU", "1 GPU", "several GPUs")

WINDOW = 4_000
"""Tasks of a file that are replayed: those that arrive within the shortest time."""

KEPT = 75
"""About as many nodes of a file."""

FASTEST = 2**30


@dataclass(frozen=True)
class Files:
    """Files of the user, in the schema of the Alibaba GPU cluster trace 2023."""

    trace: Path
    nodes: Path


@dataclass(frozen=True)
class Recorded:
    """A trace and its nodes, with a sentence on where they come from; ``own``: from files of the user."""

    trace: ClusterTrace
    nodes: NodeList
    told: str
    own: bool = False


@lru_cache(maxsize=1)
def whole(files: Files) -> tuple[ClusterTrace, NodeList]:
    """The user's trace and nodes."""
    return read_alibaba_gpu_2023(files.trace, files.nodes)


def recorded(
    files: Files | None, n_tasks: int, *, load: float, scale: float = 0.02, seed: int = 2023
) -> Recorded:
    """The busiest part of the user's file, or ``n_tasks`` synthetic tasks.

    Parameters
    ----------
    files : Files or None
    n_tasks : int
    load : float
        Of the synthetic trace: GPUs in use if no task waited, as part of those of the nodes. Tasks of a file
        arrive so much faster that some resource would be in use so often over at its peak, if no task waited.
    scale : float
        Of the synthetic trace: part of the nodes of the published cluster.
    seed : int
        Of the synthetic trace.
    """
    if files is None:
        trace, nodes = synthetic_gpu_trace(n_tasks, rng=seed, load=load, scale=scale)
        return Recorded(_with_users(trace), nodes, SYNTHETIC)
    trace, nodes = whole(files)
    told = f"{trace.source}: {trace.n_tasks:,} tasks on {nodes.n_nodes:,} nodes."
    if (n := min(WINDOW, n_tasks)) < trace.n_tasks:
        first = int(np.argmin(trace.arrivals[n - 1 :] - trace.arrivals[: trace.n_tasks - n + 1]))
        trace = trace.only(np.arange(first, first + n), f"the {n:,} tasks that arrive closest together")
        told += f" Replayed are the {n:,} tasks that arrive closest together."
    if (every := nodes.n_nodes // KEPT) > 1:
        nodes = nodes.only(np.arange(0, nodes.n_nodes, every))
        told += f" Of the nodes each {every}th is kept."
    factor = 1
    while factor < FASTEST and (trace.scaled(factor).peak_usage / nodes.total_capacities).max() < load:
        factor *= 2
    if factor > 1:
        trace = trace.scaled(factor)
        told += f" So that tasks wait, they arrive {factor} times as fast as recorded."
    return Recorded(trace, nodes, told, own=True)


def _with_users(trace: ClusterTrace) -> ClusterTrace:
    """The synthetic trace with users who want different things."""
    gpus = trace.types[trace.type_of, 2]
    user = np.where(gpus >= 1, 0, np.where(gpus == 0, 3, 1 + np.arange(trace.n_tasks) % 2))
    return ClusterTrace(
        trace.resources,
        trace.units,
        trace.arrivals,
        trace.durations,
        trace.types,
        trace.type_of,
        ["training", "serving", "research", "data"],
        user,
        models=trace.models,
        eligible_models=trace.eligible_models,
        devices=trace.devices,
        source=trace.source,
        notes=trace.notes,
    )


def kinds_of(trace: ClusterTrace) -> np.ndarray:
    """Kind of each task: its place in :data:`KINDS`."""
    if trace.devices is None:
        return np.zeros(trace.n_tasks, dtype=int)
    return np.searchsorted([0.0, 1.0 - 1e-12, 1.0], trace.types[trace.type_of, trace.devices])


def used_until(trace: ClusterTrace, starts: np.ndarray, end: float) -> np.ndarray:
    """Units of each resource that each user held on average from the first arrival to ``end``."""
    seconds = np.nan_to_num(np.clip(np.minimum(starts + trace.durations, end) - starts, 0.0, None))
    work = np.zeros((trace.n_users, trace.n_resources))
    np.add.at(work, trace.user_of, seconds[:, None] * trace.types[trace.type_of])
    return work / (end - trace.arrivals[0])
