"""The system fitted to a trace beside the replay of the trace, at several loads."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from examples.clusters_figures.recorded import Files, recorded
from examples.gallery import Check, Page, Table
from fairness import DRF
from fairness.catalogue import colour
from queueing import (
    ClusterTrace,
    DRFScheduler,
    NodeList,
    System,
    balanced_fairness,
    fit_trace,
    replay,
    simulate,
)

__all__ = ["fitted"]

LOADS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
FINE = np.array([0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.925, 0.95, 0.96, 0.97, 0.98])
CLASSES = 2
TRACES = 8
"""Synthetic traces that are replayed."""
COLD = 0.1
"""First part of the tasks, left out: the replay begins with an empty cluster."""

DIFFER = "Traces differ much, because a few tasks that ask for all GPUs of a node wait for long. "


def fitted(*, full: bool, files: Files | None = None) -> Page:
    """Mean duration over mean time of running: theory and simulation of the fit, replays with nodes and without."""
    size, scale = (12_000, 0.06) if full else (4_000, 0.02)
    one = recorded(files, size, load=1.0, scale=scale)
    trace, nodes = one.trace, one.nodes
    fit = fit_trace(trace, nodes, classes=CLASSES)
    system = System.from_trace(fit)
    base = float(nodes.offered_load(trace).max())
    resource = trace.resources[int(nodes.offered_load(trace).argmax())]
    theory = np.array(
        [_ratio(system.at_load(x), balanced_fairness(system.at_load(x)).mean_durations) for x in FINE]
    )
    exponential = System.from_trace(fit_trace(trace, nodes, classes=CLASSES, sizes="exponential"))
    simulated = {}
    for load in (0.9, 0.95):
        at = exponential.at_load(load)
        run = simulate(at, DRF(), events=1_000_000 if full else 200_000, replications=4, rng=7)
        simulated[load] = _ratio(at, run.mean_durations), _ratio(at, run.half_widths["mean_durations"])
    # One node with everything: whole tasks, but nothing to place.
    one_node = NodeList(["all"], nodes.resources, nodes.units, nodes.total_capacities[None, :])
    merged = _without_constraints(trace)
    drawn = [trace]
    if not one.own:
        drawn += [recorded(None, size, load=1.0, scale=scale, seed=seed).trace for seed in range(1, TRACES)]
    every = np.array(
        [[_replayed(t.scaled(x / float(nodes.offered_load(t).max())), nodes) for x in LOADS] for t in drawn]
    )
    replayed = every.mean(axis=0)
    some = LOADS if full else LOADS[3:]
    pooled = np.array([_replayed(merged.scaled(x / base), one_node) for x in some])
    figure, (left, right) = plt.subplots(1, 2, figsize=(13, 5.2), layout="constrained")
    left.plot(
        FINE, theory, color=colour("balanced fairness"), label="fit, balanced fairness (exact, insensitive)"
    )
    left.errorbar(
        list(simulated), [m for m, _ in simulated.values()], yerr=[h for _, h in simulated.values()], fmt="o",
        ms=5, capsize=3, color=colour("DRF"), label="fit, simulated under DRF, exponential durations, 95 %",
    )  # fmt: skip
    left.plot(some, pooled[:, 0], "s:", color="0.5", label="replay on one node with all capacity, DRF")
    for k, t in enumerate(every):
        told = {"label": f"each of {len(every)} traces"} if k == 0 and len(every) > 1 else {}
        left.plot(LOADS, t[:, 0], "_", color="#AA4499", ms=7, alpha=0.6, **told)
    left.plot(
        LOADS,
        replayed[:, 0],
        "D-",
        color="#AA4499",
        label=f"replay on {nodes.n_nodes} nodes, DRF{', mean' * (len(every) > 1)}",
    )
    left.set(
        xlabel=f"load of {resource} that arrives",
        ylabel="mean duration / mean time of running",
        title="How long tasks stay",
    )
    left.legend(fontsize="small", loc="upper left")
    right.plot([0.5, 1], [50, 100], color=colour("balanced fairness"), lw=1, label="fit: all that arrives")
    right.plot(some, 100 * pooled[:, 1], "s:", color="0.5", label="replay on one node")
    right.plot(LOADS, 100 * replayed[:, 1], "D-", color="#AA4499", label="replay on nodes")
    right.axvline(1.0, color="0.6", lw=1, ls="--")
    right.text(
        0.995,
        51,
        "the fitted pool is full",
        rotation=90,
        ha="right",
        va="bottom",
        fontsize="small",
        color="0.4",
    )
    right.set(
        xlabel=f"load of {resource} that arrives",
        ylabel=f"{resource} in use while tasks arrive, %",
        title="What is in use",
    )
    right.legend(fontsize="small", loc="upper left")
    k = LOADS.index(0.9)
    theory_at = float(np.interp(0.9, FINE, theory))
    low, high, alone = theory_at - 1, replayed[k, 0] - 1, pooled[some.index(0.9), 0] - 1
    poisson = fit.poisson[np.isfinite(fit.dispersion)]
    loads = system.relative_loads / system.relative_loads.max()
    of_trace = nodes.offered_load(trace) / base
    checks: list[Check] = [
        Check(
            "loads of the resources, relative to the largest: the fit has those of the trace",
            ", ".join(f"{x:.6f}" for x in of_trace),
            ", ".join(f"{x:.6f}" for x in loads),
            bool(np.abs(loads - of_trace).max() < 1e-9),
        ),
    ]
    checks += [
        Check(
            f"fit at load {load:g}: simulated under DRF, beside balanced fairness {np.interp(load, FINE, theory):.4f}",
            "near, but not the same policy",
            f"{mean:.4f} +- {half:.4f}"
            if np.isfinite(half)
            else f"{mean:.4f}, no interval: the runs are too short",
            None,
        )
        for load, (mean, half) in simulated.items()
    ]
    return Page(
        "fitted",
        "What theory says of a trace, beside its replay",
        "queueing.fit_trace and System.from_trace: classes, Poisson rates and laws of phase type in one pool, one task a job.",
        f"{one.told} The fit has {len(fit.tasks)} classes; its load is that of the trace exactly, so it says that {resource} is the resource that fills first, and that all loads below 1 fit. "
        f"{_compared(low, high, alone, poisson)} "
        f"The pool is the best that packing can do, not what it does. {DIFFER * (len(every) > 1)}A trace is finite: its first tenth is left out, and what its last long tasks still do after the last arrival is missing in what is in use (right), also on one node. Loads are made by letting the same tasks arrive faster.",
        figure,
        {
            "loads": LOADS, "replay on nodes": every, "loads on one node": some, "replay on one node": pooled,
            "fine loads": FINE, "balanced fairness": theory, "simulated": {str(x): v for x, v in simulated.items()},
        },
        checks,
        [_table(replayed, pooled, some, theory), _fit_table(fit)],
    )  # fmt: skip


def _compared(fit: float, nodes: float, alone: float, poisson: np.ndarray) -> str:
    """What agrees and what does not at load 0.9, in waits over the time of running."""
    said = (
        f"At load 0.9 the fit says {fit:.1%} more than the time of running, the replay on one node with everything {alone:.1%}, the replay on nodes {nodes:.1%}. "
        f"The pool knows Poisson arrivals only ({int(poisson.sum())} of {len(poisson)} classes of the trace pass for it); the law of the durations does not matter to balanced fairness."
    )
    if nodes > max(2 * fit, 0.01):
        return f"{said} On nodes tasks wait earlier: a GPU is free on a node that is not allowed, or has no whole one left, or has no CPU."
    return (
        f"{said} On nodes they wait no longer than that here, because the nodes never fill (right): a few very long tasks bring most of the work, and do it after the last arrival. "
        "Theory speaks of the long run, which this trace does not reach."
    )


def _ratio(system: System, durations: np.ndarray) -> float:
    """Mean over the classes, over the mean time of running."""
    return float(system.arrival_rates @ durations / (system.arrival_rates @ system.mean_sizes))


def _replayed(trace: ClusterTrace, nodes: NodeList) -> tuple[float, float]:
    """Mean duration over mean time of running; largest part of a resource in use while tasks arrive."""
    run = replay(trace, nodes, DRFScheduler(blocking=False), never_fits="drop", rng=1)
    first, last = np.quantile(run.trace.arrivals, [COLD, 1.0])
    late = run.trace.arrivals >= first
    seconds = np.clip(np.minimum(run.ends, last) - np.maximum(run.starts, first), 0.0, None)
    used = (seconds[:, None] * run.trace.types[run.trace.type_of]).sum(axis=0) / (last - first)
    ratio = run.durations[late].mean() / run.trace.durations[late].mean()
    return float(ratio), float((used / nodes.total_capacities).max())


def _without_constraints(trace: ClusterTrace) -> ClusterTrace:
    """The same tasks, which may run everywhere and on several pieces of devices."""
    types, place = np.unique(trace.types, axis=0, return_inverse=True)
    return ClusterTrace(
        trace.resources, trace.units, trace.arrivals, trace.durations, types, place.ravel()[trace.type_of],
        trace.users, trace.user_of,
    )  # fmt: skip


def _table(replayed: np.ndarray, pooled: np.ndarray, some: tuple[float, ...], theory: np.ndarray) -> Table:
    rows = [
        [
            f"{load:g}",
            f"{np.interp(load, FINE, theory):.3f}",
            f"{pooled[some.index(load), 0]:.3f}" if load in some else "",
            f"{replayed[k, 0]:.3f}",
            f"{replayed[k, 1]:.1%}",
        ]
        for k, load in enumerate(LOADS)
    ]
    header = ["load", "fit, balanced fairness", "replay on one node", "replay on nodes", "in use on nodes"]
    return Table(
        "Mean duration over mean time of running, and the fullest resource while tasks arrive", header, rows
    )


def _fit_table(fit: Any) -> Table:
    frame = fit.to_dataframe()
    rows = [
        [str(name), f"{row['tasks']:,}", f"{3600 * row['arrival_rate']:.3g}", f"{row['mean_size'] / 60:.3g}", f"{row['scv']:.3g}", f"{row['ks_distance']:.2f}"]
        for name, row in frame.iterrows()
    ]  # fmt: skip
    header = ["class", "tasks", "per hour", "mean duration, min", "squared variation", "distance of the law"]
    return Table("The fit, at the load of the trace", header, rows)
