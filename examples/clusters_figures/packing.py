"""How many GPUs are in use when a cluster is full, by the rule that picks the node."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

from examples.clusters_figures.recorded import Files, whole
from examples.gallery import Check, Page, Table
from fairness.display.colours import part_colour
from fairqueues.traces import synthetic_gpu_trace
from queueing import (
    BestFit,
    ClusterTrace,
    FIFOScheduler,
    FirstFit,
    PowerOfChoices,
    RandomFit,
    WorstFit,
    replay,
)

__all__ = ["packing"]

RULES = {
    "best fit": BestFit(),
    "best fit, alignment": BestFit("alignment"),
    "first fit": FirstFit(),
    "power of 2 choices": PowerOfChoices(2),
    "random fit": RandomFit(),
    "worst fit": WorstFit(),
}
PUBLISHED = {
    "random": 86.30, "dot product": 90.62, "clustering": 91.65, "packing": 91.78, "best fit": 92.86, "FGD": 95.23,
}  # fmt: skip
"""GPUs in use at an offered load of 100 %, %, mean of ten seeds: the simulator of Weng et al. (ATC 2023)."""
ALIKE = {"random fit": "random", "best fit, alignment": "dot product", "best fit": "best fit"}
PUBLISHED_GPUS = 6212
MOST = 1.3
"""GPUs asked for in all, over those that there are."""
GRID = np.linspace(0.0, MOST, 131)


def packing(*, full: bool, files: Files | None = None) -> Page:
    """GPUs in use against GPUs asked for; tasks come in random order and never end."""
    if files is None:
        trace, nodes = synthetic_gpu_trace(8_000, rng=2023, scale=1.0 if full else 0.2)
        told = "Tasks are drawn from the synthetic trace with the published shares of GPU requests and of tasks that name models."
    else:
        trace, nodes = whole(files)
        told = f"Tasks are drawn, with replacement, from {trace.source}."
    assert trace.devices is not None
    gpus = float(nodes.total_capacities[trace.devices])
    seeds = 10 if full else 3
    curves = {name: np.zeros((seeds, len(GRID))) for name in RULES}
    most, tasks = 0.0, 0
    for seed in range(seeds):
        flood = _flood(trace, gpus, seed)
        tasks = flood.n_tasks
        asked = flood.types[flood.type_of, trace.devices]
        for name, rule in RULES.items():
            run = replay(
                flood, nodes, FIFOScheduler(blocking=False), placement=rule, rng=seed, never_fits="drop",
                until=float(flood.arrivals[-1]),
            )  # fmt: skip
            # Those that fit nowhere even when all is empty are asked for, too.
            given = run.trace.types[run.trace.type_of]
            started = ~np.isnan(run.starts)
            used = np.zeros(flood.n_tasks)
            used[np.searchsorted(flood.arrivals, run.starts[started])] = given[started, trace.devices]
            curves[name][seed] = np.interp(GRID, asked.cumsum() / gpus, used.cumsum() / gpus)
            full_nodes = np.zeros_like(nodes.capacities)
            np.add.at(full_nodes, run.node_of[started], given[started])
            capacities = np.where(nodes.capacities > 0, nodes.capacities, np.inf)
            most = max(most, float((full_nodes / capacities).max()))
    ours_is_theirs = (
        files is not None and files.trace.stem == "openb_pod_list_default" and gpus == PUBLISHED_GPUS
    )
    at = {
        name: np.array([np.interp(x, GRID, curve.mean(axis=0)) for x in (0.9, 1.0, MOST)])
        for name, curve in curves.items()
    }
    checks = [
        Check("largest part of a resource of a node in use, all rules and seeds", "at most 1", f"{most:.6f}", bool(most <= 1 + 1e-9)),
    ]  # fmt: skip
    if ours_is_theirs:
        checks += [
            Check(
                f"GPUs in use at an offered load of 100 %: {name} (published: {ALIKE[name]}, with its own details and all 8,152 pods)",
                f"{PUBLISHED[ALIKE[name]]:.2f} %",
                f"{100 * at[name][1]:.2f} %",
                None,
            )
            for name in ALIKE
        ]
    see = (
        f"{told} They come in random order and never end, {tasks:,} of them, until {MOST:.0%} of the {gpus:,.0f} GPUs of {nodes.n_nodes:,} nodes are asked for; a task that fits nowhere is passed over. "
        f"Mean of {seeds} orders. The dashed line is what a divisible cluster would give. A GPU is lost if what is free of it is too small, or if its node has no CPU or memory left, or if nobody who may run there asks. "
        f"When as many GPUs are asked for as there are, {_best(at)} has the most of them in use here; which rule does is a matter of the trace."
    )
    if ours_is_theirs:
        see += " The file is the trace for which numbers are published; the table has them beside ours."
    return Page(
        "packing",
        "Packing: GPUs in use when the cluster is full",
        "Offered load against GPUs in use, as in Weng et al., ATC 2023 (figure of GPU allocation by arrived workload).",
        see,
        _figure(curves, at),
        {"asked for": GRID, **curves},
        checks,
        _tables(curves, at, ours_is_theirs),
    )


def _flood(trace: ClusterTrace, gpus: float, seed: int) -> ClusterTrace:
    """Tasks of the trace in random order that never end, until enough GPUs are asked for."""
    rng = np.random.default_rng(seed)
    asked = trace.types[trace.type_of, trace.devices]
    drawn = rng.integers(trace.n_tasks, size=int(1.5 * MOST * gpus / asked.mean()) + 100)
    n = int(np.searchsorted(asked[drawn].cumsum(), MOST * gpus)) + 1
    return ClusterTrace(
        trace.resources,
        trace.units,
        np.arange(n, dtype=float),
        np.full(n, 10.0 * n),
        trace.types,
        trace.type_of[drawn[:n]],
        ["all"],
        np.zeros(n, dtype=int),
        models=trace.models or None,
        eligible_models=trace.eligible_models,
        devices=trace.devices,
    )


def _figure(curves: dict[str, np.ndarray], at: dict[str, np.ndarray]) -> plt.Figure:
    figure, (left, right) = plt.subplots(1, 2, figsize=(13, 5.2), layout="constrained", width_ratios=[1.2, 1])
    left.plot([0, 1, MOST], [0, 1, 1], color="0.6", ls="--", lw=1, label="divisible")
    for k, (name, curve) in enumerate(curves.items()):
        left.plot(GRID, curve.mean(axis=0), color=part_colour(k), label=name)
        low, high = (np.interp(1.0, GRID, f(curve, axis=0)) for f in (np.min, np.max))
        mean = at[name][1]
        # Points, not bars: the axis does not begin at 0.
        spread = [[100 * (mean - low)], [100 * (high - mean)]]
        right.errorbar(100 * mean, k, xerr=spread, fmt="o", color=part_colour(k), capsize=3)
        right.annotate(
            f"{100 * mean:.1f}",
            (100 * high, k),
            (5, 0),
            textcoords="offset points",
            va="center",
            fontsize="small",
        )
    left.set(
        xlabel="GPUs asked for / GPUs", ylabel="GPUs in use / GPUs", xlim=(0.6, MOST), ylim=(0.6, 1.01),
        title="In use as tasks arrive",
    )  # fmt: skip
    left.legend(fontsize="small", loc="lower right")
    right.set_yticks(range(len(curves)), list(curves))
    right.set_ylim(len(curves) - 0.5, -0.5)
    least = 100 * min(curve[:, GRID <= 1].max(axis=1).min() for curve in curves.values())
    right.set(
        xlim=(5 * np.floor((least - 5) / 5), 100), xlabel="GPUs in use, %; whiskers: least and most of the orders",
        title="When as many are asked for as there are",
    )  # fmt: skip
    return figure


def _best(at: dict[str, np.ndarray]) -> str:
    return max(at, key=lambda name: at[name][1])


def _tables(curves: dict[str, np.ndarray], at: dict[str, np.ndarray], published: bool) -> list[Table]:
    rows = [
        [name, *(f"{100 * x:.2f}" for x in at[name]), *([f"{PUBLISHED[ALIKE[name]]:.2f}" if name in ALIKE else ""] * published)]
        for name in sorted(curves, key=lambda name: -at[name][1])
    ]  # fmt: skip
    header = [
        "rule",
        "at 90 % asked for",
        "at 100 %",
        f"at {MOST:.0%}",
        *(["published, at 100 %"] * published),
    ]
    tables = [Table("GPUs in use, %", header, rows)]
    if published:
        rows = [[name, f"{value:.2f}"] for name, value in PUBLISHED.items()]
        tables.append(
            Table(
                "Published for this trace (hkust-adsl/kubernetes-scheduler-simulator, expected results), %",
                ["rule", "GPUs in use"],
                rows,
            )
        )
    return tables
