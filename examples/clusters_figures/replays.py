"""A recorded cluster's tasks under six schedulers: use, shares over time, waits and slowdowns by kind of task."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import ArrayLike

from examples.clusters_figures.recorded import KINDS, Files, Recorded, kinds_of, recorded, used_until
from examples.gallery import Check, Page, Table
from fairness import DRF, BottleneckMax, Hierarchical, Problem, Tree
from fairness.catalogue import colour
from fairness.display.colours import part_colour
from fairness.machine.work import duration
from queueing import ClusterTrace, DRFScheduler, FIFOScheduler, PFScheduler, TargetScheduler, replay
from queueing.results import Replay, ReplayPaths

__all__ = ["replays"]

RESOURCE_STYLES = ("-", "--", ":", "-.")
HOUR = 3600.0
POINTS = 120
LOAD = 2.5
"""Of the synthetic trace: GPUs that its tasks would have in use if none waited, over those there are."""

LINES = {"FIFO, blocking": ":", "PF": (0, (4, 4))}
"""Where two curves have one colour, or lie on each other."""


def schedulers(trace: ClusterTrace) -> dict[str, Any]:
    """The schedulers by the names that the page gives them."""
    work = np.zeros((trace.n_users, trace.n_resources))
    np.add.at(work, trace.user_of, trace.durations[:, None] * trace.types[trace.type_of])
    first = int((work / trace.work.clip(1e-300)).max(axis=1).argmax())
    tree = Tree(
        ["all", "first", "others"],
        [-1, 0, 0],
        job_classes=trace.users,
        class_nodes=[1 if u == first else 2 for u in range(trace.n_users)],
    )
    hierarchical = Hierarchical(tree, DRF())

    def h_drf(problem: Problem, counts: ArrayLike) -> np.ndarray:
        """H-DRF, called: few sets of users are present, fewer than compiling its filling would pay for."""
        return hierarchical(problem, counts)

    return {
        "FIFO, blocking": FIFOScheduler(),
        "FIFO": FIFOScheduler(blocking=False),
        "DRF": DRFScheduler(blocking=False),
        "H-DRF": TargetScheduler(h_drf, blocking=False),
        "BMF": TargetScheduler(BottleneckMax(), blocking=False),
        "PF": PFScheduler(blocking=False),
    }


def replays(*, full: bool, files: Files | None = None) -> Page:
    """Use, shares against entitlements, waits and slowdowns under each scheduler."""
    one = recorded(files, 12_000 if full else 4_000, load=LOAD, scale=0.06 if full else 0.02)
    runs = {
        name: replay(one.trace, one.nodes, rule, never_fits="drop", rng=1)
        for name, rule in schedulers(one.trace).items()
    }
    trace = next(iter(runs.values())).trace
    end = float(trace.arrivals[-1])
    paths = {name: run.over_time(POINTS, end=end) for name, run in runs.items()}
    figure = plt.figure(figsize=(3.1 * len(runs) + 1.2, 13.5), layout="constrained")
    rows = figure.subfigures(2, 1, height_ratios=[3, 1.25])
    _over_time(rows[0].subplots(3, len(runs), sharex=True, sharey="row"), paths, trace.arrivals[0])
    below = rows[1].subplots(1, 3, width_ratios=[1, 1, 1.2])
    _compared(below, runs, paths)
    rows[1].legend(*below[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(runs))
    used = {
        name: used_until(trace, run.starts, end) / one.nodes.total_capacities for name, run in runs.items()
    }
    return Page(
        "replay",
        "Replay: one cluster under six schedulers",
        "Whole tasks on nodes with GPUs; a trace with the published marginals of the Alibaba GPU cluster trace 2023, or a file of yours (--trace, --nodes).",
        _see(one, runs, paths),
        figure,
        {
            name: {
                "times": paths[name].times,
                "utilization": paths[name].utilization,
                "shares": paths[name].shares,
                "entitlements": paths[name].entitlements,
                "waiting": paths[name].waiting,
                "jain": paths[name].jain,
                "used while tasks arrive": used[name],
                "mean wait by kind": _by_kind(run, run.waits),
                "mean slowdown by kind": _by_kind(run, run.slowdowns),
            }
            for name, run in runs.items()
        },
        _checks(runs, paths),
        [_table(runs, paths, used), _kinds_table(runs)],
    )


def _over_time(axes: np.ndarray, paths: dict[str, ReplayPaths], first: float) -> None:
    for column, (name, path) in zip(axes.T, paths.items(), strict=True):
        hours = (path.times - first) / HOUR
        for r, resource in enumerate(path.resources):
            column[0].plot(hours, path.utilization[:, r], RESOURCE_STYLES[r % 4], color="0.2", label=resource)
        column[0].set_title(name)
        with np.errstate(divide="ignore", invalid="ignore"):
            relative = np.where(path.entitlements > 0, path.shares / path.entitlements, np.nan)
        for u in _largest_users(path):
            column[1].plot(hours, relative[:, u], color=part_colour(u), lw=1.2, label=path.users[u])
        column[1].axhline(1.0, color="0.6", lw=0.8, zorder=0)
        column[2].plot(hours, path.waiting, color="0.2", label="waiting")
        column[2].plot(hours, path.running, color="0.2", ls="--", label="running")
        column[2].set_xlabel("hours since the first arrival")
    axes[0, 0].set(ylabel="part of capacity in use", ylim=(0, 1.03))
    axes[1, 0].set(ylabel="dominant share / entitlement", ylim=(0, None))
    axes[2, 0].set(ylabel="tasks", ylim=(0, None))
    for row in axes:
        row[-1].legend(fontsize="small", loc="center left", bbox_to_anchor=(1.02, 0.5))


def _largest_users(path: ReplayPaths) -> list[int]:
    return sorted(np.argsort(-path.shares.mean(axis=0), kind="stable")[:6].tolist())


def _compared(axes: np.ndarray, runs: dict[str, Replay], paths: dict[str, ReplayPaths]) -> None:
    fair, slow, kinds = axes
    for name, run in runs.items():
        style = {"color": colour(name), "ls": LINES.get(name, "-"), "label": name}
        hours = (paths[name].times - paths[name].times[0]) / HOUR
        fair.plot(hours, paths[name].jain, **style)
        values = np.sort(run.slowdowns[~np.isnan(run.starts)])
        slow.step(values, np.arange(1, len(values) + 1) / len(values), where="post", **style)
    fair.set(xlabel="hours since the first arrival", ylabel="Jain's index of those who wait", ylim=(0, 1.03))
    slow.set(xscale="log", xlabel="slowdown", ylabel="part of the tasks", ylim=(0, 1.02))
    shown = [k for k in range(len(KINDS)) if (kinds_of(next(iter(runs.values())).trace) == k).any()]
    width = 0.8 / len(runs)
    for k, (name, run) in enumerate(runs.items()):
        heights = _by_kind(run, run.waits)[shown] / HOUR
        places = np.arange(len(shown)) + (k - (len(runs) - 1) / 2) * width
        hatch = {"FIFO, blocking": "//"}.get(name, "")
        kinds.bar(places, heights, width, color=colour(name), hatch=hatch, edgecolor="white", label=name)
    kinds.set_xticks(range(len(shown)), [KINDS[k] for k in shown])
    kinds.set(
        xlabel="hatched: FIFO, blocking", ylabel="mean wait, hours", title="Waits by what a task asks for"
    )
    fair.set_title("Fairness over time")
    slow.set_title("Duration over time of running")


def _by_kind(run: Replay, values: np.ndarray) -> np.ndarray:
    """Mean over the started tasks of each kind, NaN where there is none."""
    known = ~np.isnan(values)
    kinds = kinds_of(run.trace)[known]
    tasks = np.bincount(kinds, minlength=len(KINDS)).astype(float)
    sums = np.bincount(kinds, values[known], len(KINDS))
    return np.divide(sums, tasks, out=np.full(len(KINDS), np.nan), where=tasks > 0)


def _table(runs: dict[str, Replay], paths: dict[str, ReplayPaths], used: dict[str, np.ndarray]) -> Table:
    trace = next(iter(runs.values())).trace
    rows = []
    for name, run in runs.items():
        path, waits, slow = paths[name], run.waits, run.slowdowns
        rows.append(
            [
                name,
                *(f"{part:.1%}" for part in used[name].sum(axis=0)),
                *(f"{part:.3f}" for part in used[name].max(axis=1)),
                duration(float(np.nanmean(waits))),
                f"{np.nanmedian(slow):.3g}",
                f"{np.nanquantile(slow, 0.95):.3g}",
                f"{np.nanmean(path.jain):.3f}" if (~np.isnan(path.jain)).any() else "nobody waits",
                "-" if path.fragmentation is None else f"{path.fragmentation.mean():.1%}",
            ]
        )
    header = [
        "scheduler", *(f"{r} in use" for r in trace.resources), *(f"share of {u}" for u in trace.users),
        "mean wait", "median slowdown", "95 % up to", "Jain's index", "fragmentation",
    ]  # fmt: skip
    return Table(
        "While tasks arrive: parts of capacity in use, dominant share of each user, mean of Jain's index of those who wait, "
        "mean part of the GPUs that is free and of no use to a task drawn from the trace. Of all tasks: waits and slowdowns.",
        header,
        rows,
    )


def _kinds_table(runs: dict[str, Replay]) -> Table:
    shown = [k for k in range(len(KINDS)) if (kinds_of(next(iter(runs.values())).trace) == k).any()]
    rows = [
        [name, *(f"{value:.3g}" for value in _by_kind(run, run.slowdowns)[shown])]
        for name, run in runs.items()
    ]
    return Table("Mean slowdown by what a task asks for", ["scheduler", *(KINDS[k] for k in shown)], rows)


def _see(one: Recorded, runs: dict[str, Replay], paths: dict[str, ReplayPaths]) -> str:
    waits = {name: duration(float(np.nanmean(run.waits))) for name, run in runs.items()}
    trace = next(iter(runs.values())).trace
    arriving = float(trace.arrivals[-1] - trace.arrivals[0])
    offered = (
        ""
        if one.own
        else f"They ask for {LOAD:g} times the GPUs there are: what waits grows as long as tasks arrive, and mean waits depend on how long that is ({duration(arriving)} here). "
    )
    text = (
        f"{one.told} {offered}Every scheduler gets the same {one.nodes.n_nodes} nodes and the same arrivals. Tasks of each user start in the order of arrival (or the next that fits: backfilling, except in the first column); best fit picks the node. "
        "Above: what is in use, the dominant share of each user over its entitlement (its part by weight among the users present), and tasks. Only the time in which tasks arrive is shown: what follows is the last long tasks running out. "
        "H-DRF has the user who brings most work in one queue and all others in a second one, of equal weight: that user may have a half of everything. "
        f"A task that fits nowhere and blocks all behind it is dear: the mean wait is {waits['FIFO, blocking']} with blocking and {waits['FIFO']} without. "
        f"{_fairness(paths)}"
    )
    same = np.array_equal(runs["BMF"].starts, runs["PF"].starts)
    if not one.own:
        lost = {name: f"{paths[name].fragmentation.mean():.0%}" for name in ("FIFO", "DRF")}
        text += (
            "Training still holds more than its entitlement, because the others do not ask for all of theirs. "
            f"Fairness is not free: small tasks start at once and none is left to fill what large ones leave of a node, so that {lost['DRF']} of the GPUs are free and of no use to a task drawn from the trace, against {lost['FIFO']} under FIFO. "
        )
    return (
        text
        + (
            "BMF and PF start every task at the same time: where one resource is scarce, their targets are the same, and equal dominant shares come close."
            if same
            else "They differ little where one resource is scarce."
        )
        + " Jain's index has gaps where fewer than two users wait."
    )


def _fairness(paths: dict[str, ReplayPaths]) -> str:
    """Means of Jain's index over time: who waits, and how equal their shares are."""
    jain = {
        name: float(np.nanmean(path.jain)) for name, path in paths.items() if np.isfinite(path.jain).any()
    }
    fair = [name for name in ("DRF", "BMF", "PF") if name in jain]
    if "FIFO" not in jain or not fair:
        return "Hardly ever do two users wait, so nothing is said of their shares. "
    told = ", ".join(f"{jain[name]:.2f} under {name}" for name in fair)
    closer = min(jain[name] for name in fair) > jain["FIFO"]
    return (
        f"FIFO gives to whoever asks most: Jain's index of the shares of those who wait is {jain['FIFO']:.2f} on average; it is {told}, "
        f"{'closer to equal shares' if closer else 'not closer to equal shares for all of these'}. "
    )


def _checks(runs: dict[str, Replay], paths: dict[str, ReplayPaths]) -> list[Check]:
    checks = []
    for name, run in runs.items():
        most = _most_of_a_node(run)
        checks.append(
            Check(
                f"{name}: largest part of a resource of one node in use, counted anew from starts, durations and nodes",
                "at most 1",
                f"{most:.6f}",
                bool(most <= 1 + 1e-9),
            )
        )
        early = float(np.nanmin(run.waits))
        checks.append(Check(f"{name}: shortest wait, s", "not below 0", f"{early:g}", early >= 0))
    return checks


def _most_of_a_node(run: Replay) -> float:
    """Largest part of a resource of a node that is ever in use: ends before starts, one node after the other."""
    trace, nodes = run.trace, run.nodes
    started = np.flatnonzero(~np.isnan(run.starts))
    times = np.concatenate([run.ends[started], run.starts[started]])
    change = np.repeat([-1.0, 1.0], len(started))
    tasks = np.concatenate([started, started])
    order = np.lexsort([change, times, run.node_of[tasks]])
    amounts = change[order, None] * trace.types[trace.type_of[tasks[order]]]
    # Each node begins with nothing and ends with nothing, so that sums may run on from one to the next.
    total = nodes.capacities[run.node_of[tasks[order]]]
    running = amounts.cumsum(axis=0)
    return float(np.divide(running, total, out=np.zeros_like(running), where=total > 0).max())
