"""Beyond the talk: policies for servers under arrivals, and rules that pack whole tasks onto servers."""

from __future__ import annotations

import math
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from scipy.optimize import brentq
from tqdm.auto import tqdm

from examples.gallery import Check, Page, Table, distance
from fairness import PSDSF, TSF, Cluster, PerServerDRF
from fairness.catalogue import colour
from fairness.display.colours import part_colour
from fairness.protocol.cluster_policy import ClusterPolicy
from queueing import (
    BestFit,
    DRFScheduler,
    FIFOScheduler,
    FirstFit,
    FixedTasks,
    OnArrival,
    Placement,
    PowerOfChoices,
    RandomFit,
    System,
    Tasks,
    WorstFit,
    fluid_verdict,
    simulate,
    stationary,
    tabulate,
)
from queueing.simulation.replications import Estimate

__all__ = ["extensions"]

SURE = 1 - 1e-4
"""Level of the intervals that the checks use: about thirty of them, so 3 pages in 1000 raise a false alarm."""

TWO = Cluster([[0.2, 1], [1, 0.2]], [[2, 12], [12, 2]], resources=["CPU", "RAM"])
"""The two servers of Wang, Li and Liang: a class runs 10 tasks on its own server, 2 on the other."""

POLICIES: tuple[tuple[ClusterPolicy, str], ...] = (
    (PSDSF(), "PS-DSF"),
    (TSF(), "TSF = C-DRFH"),
    (PerServerDRF(), "DRF per server"),
)

PACKED = Cluster([[1], [7]], [[8]] * 6, job_classes=["small", "large"], resources=["cores"])
"""Six servers of 8 cores; a large task leaves room for one small task beside it."""

SLOTS = Cluster([[1]], [[1]] * 4, resources=["slots"])
"""Four servers that run one task each."""

RULES: tuple[Placement, ...] = (
    FirstFit(),
    BestFit(),
    RandomFit(),
    PowerOfChoices(2),
    WorstFit(),
    OnArrival("shortest queue"),
    OnArrival("shortest queue", 2),
    OnArrival("round robin"),
    OnArrival("random"),
)

LOAD = 0.5
SLOTS_LOAD = 0.8


def extensions(*, full: bool) -> Page:
    """Mean durations on two servers against load, and of whole tasks under nine placement rules."""
    figure, axes = plt.subplots(1, 3, figsize=(17, 5.4), layout="constrained", width_ratios=[1.15, 1, 1])
    checks, numbers, rows = _policies(axes[0], full=full)
    packed, packed_rows = _packing(axes[1], full=full)
    slots, slot_checks, slot_rows = _slots(axes[2], full=full)
    numbers |= {
        f"{model}, {rule}": {"mean durations": e.value, "half-widths": e.half_width}
        for model, runs in (("whole tasks", packed), ("one task per server", slots))
        for rule, e in runs.items()
    }
    best, worst = packed["best fit"].value[1], packed["worst fit"].value[1]
    return Page(
        "extensions",
        "11. Servers under random traffic, fluid and whole",
        "Policies for clusters (as in the PS-DSF paper, but with jobs that come and go) and whole tasks that a placement rule packs: first, best and worst fit, power of two choices, shortest queue.",
        "Two servers, (2 CPU, 12 GB) and (12 CPU, 2 GB), for tasks of (0.2 CPU, 1 GB) and (1 CPU, 0.2 GB), the example of W. Wang, B. Li and B. Liang (IEEE TPDS 26(10), 2015), with equal loads. DRF on each server by itself gives a class its part of all jobs times 12 tasks, so the cluster is one processor-sharing queue of rate 12 "
        "where 20 could be had: it is lost above 60 % of the load. PS-DSF keeps each server for the class that it suits, TSF (here equal to C-DRFH) levels the totals of unequal numbers of jobs and pays for it at high load. "
        f"Whole tasks on six servers of 8 cores, many of 1 core and few of 7: rules that keep servers empty serve the large tasks best (mean duration {best:.2f} with best fit, {worst:.2f} with worst fit), small tasks do not mind; binding jobs to a server on arrival costs more than any rule that places task by task. "
        "With tasks that fill a server the fits are all the same queue, and two choices on arrival already win most of what the shortest queue wins.",
        figure,
        numbers,
        [*checks, _order(packed), *slot_checks],
        [
            Table(
                "Two servers: mean duration of a job of size 1 by the Markov chain, and by simulation with 95 % intervals",
                ["policy", "load", "chain", "simulation, class 1", "simulation, class 2"],
                rows,
            ),
            Table(
                f"Six servers of 8 cores, load {LOAD:g}, jobs of one task of mean length 1, ten small ones for each large one, DRF that skips what does not fit: mean durations with 95 % intervals",
                ["rule", "small tasks", "large tasks", "time in which a task waits although enough is free in all"],
                packed_rows,
            ),
            Table(
                f"Four servers of one task, load {SLOTS_LOAD:g}, first come first served: mean durations with 95 % intervals",
                ["rule", "mean duration", "closed form"],
                slot_rows,
            ),
        ],
    )  # fmt: skip


def _policies(ax: Axes, *, full: bool) -> tuple[list[Check], dict[str, object], list[list[str]]]:
    """Mean durations on two servers against load."""
    states = 64 if full else 20
    top = 0.8 if full else 0.5
    events, replications = (250_000, 20) if full else (5_000, 20)
    checks: list[Check] = []
    numbers: dict[str, object] = {}
    rows = []
    for policy, label in tqdm(POLICIES, desc="cluster policies", leave=False, disable=None):
        alone = isinstance(policy, PerServerDRF)
        loads = np.arange(0.05, (0.501 if full else 0.401) if alone else top + 1e-3, 0.025)
        table = tabulate(TWO, policy, states)
        exact = np.array(
            [stationary(_two(u), policy, shape=states, table=table).mean_durations for u in loads]
        )
        drawn = loads[2::4][-4:] if full else loads[2::4]
        runs = {
            round(float(u), 2): simulate(
                _two(u), policy, events=events, replications=replications, rng=611, table=table
            ).estimates["mean_durations"]
            for u in drawn
        }  # fmt: skip
        ax.plot(loads, exact[:, 0], color=colour(policy.name), label=label)
        ax.errorbar(
            list(runs),
            [e.value.mean() for e in runs.values()],
            # Of the mean of two classes, whose errors may be dependent: no more than the mean of the two.
            yerr=[e.half_width.mean() for e in runs.values()],
            fmt="o",
            ms=4,
            capsize=3,
            color=colour(policy.name),
        )
        off = 0.0
        for u, e in runs.items():
            here = exact[int(np.argmin(np.abs(loads - u)))]
            off = max(off, float(distance(e.value, here, e.half_width_at(SURE)).max()))
            rows.append([label, f"{u:g}", f"{here[0]:.4f}", *(_interval(e, i) for i in range(2))])
        numbers[label] = {"loads": loads, "mean durations": exact, "simulated": {str(u): e.value for u, e in runs.items()}}  # fmt: skip
        each = 6 if alone else 10
        tasks = policy(TWO, [1, 1]).sum(axis=1)
        checks += [
            Check(
                f"{label}: tasks of the classes with one job each, as published",
                f"{each}, {each}",
                ", ".join(f"{t:.6g}" for t in tasks),
                bool(np.abs(tasks / each - 1).max() < 1e-9),
            ),
            Check(
                f"{label}: simulated mean durations against the chain, largest deviation over the half-width of the {SURE:.2%} interval",
                "< 1",
                f"{off:.2f}",
                off < 1,
            ),
        ]  # fmt: skip
        if alone:
            # Truncation at states jobs of a class loses less than 1e-5 of the mean at these loads.
            error = float(np.abs(exact * (12 - 20 * loads[:, None]) - 1).max())
            checks.append(
                Check(
                    "DRF per server: chain against processor sharing of rate 12, mean duration 1/(12 - 20 load), relative error",
                    "< 1e-4",
                    f"{error:.0e}",
                    error < 1e-4,
                )
            )  # fmt: skip
            checks += [_fluid(policy, label, 0.59, "stable"), _fluid(policy, label, 0.61, "unstable")]
    ax.axvline(0.6, color=colour(PerServerDRF().name), lw=1, ls=":", label="limit of DRF per server, 0.6")
    ax.set(
        title="Two servers: mean duration (size 1), 95 % intervals",
        xlabel="load (part of what placements can carry)",
        ylabel="mean duration",
        ylim=(0, None),
        xlim=(0, top + 0.02 if full else 0.62),
    )
    ax.legend(fontsize="small")
    return checks, numbers, rows


def _two(load: float) -> System:
    return System.with_load(TWO, [1, 1], float(load))


def _fluid(policy: ClusterPolicy, label: str, load: float, expected: str) -> Check:
    found = fluid_verdict(_two(load), policy).status
    return Check(f"{label}: fluid limit at load {load:g}", expected, found, found == expected)


def _packing(ax: Axes, *, full: bool) -> tuple[dict[str, Estimate], list[list[str]]]:
    """Small and large tasks on six servers."""
    system = System.with_load(PACKED, [10, 1], LOAD)
    runs, rows = {}, []
    for rule in tqdm(RULES, desc="placement rules", leave=False, disable=None):
        run = simulate(
            system, DRFScheduler(blocking=False), tasks=Tasks(per_job=FixedTasks(1), placement=rule),
            events=150_000 if full else 30_000, replications=20, rng=4014,
        )  # fmt: skip
        runs[rule.name] = run.estimates["mean_durations"]
        assert run.servers is not None
        lost = run.servers.fragmented
        rows.append(
            [rule.name, *(_interval(runs[rule.name], i) for i in range(2)), f"{lost.value[0]:.1%} ± {lost.half_width[0]:.1%}"]
        )  # fmt: skip
    for i, name in enumerate(PACKED.job_classes):
        _bars(ax, runs, i, label=f"{name} tasks")
    ax.set(title=f"Whole tasks of 1 and 7 cores on six servers of 8, load {LOAD:g}")
    ax.legend(fontsize="small", loc="upper right")
    return runs, rows


def _slots(ax: Axes, *, full: bool) -> tuple[dict[str, Estimate], list[Check], list[list[str]]]:
    """Tasks that fill a server: closed forms of queues with one or four servers."""
    system = System.with_load(SLOTS, [1], SLOTS_LOAD)
    servers, rate = SLOTS.n_servers, float(system.arrival_rates[0])
    together = 1 + _erlang_c(servers, rate) / (servers - rate)
    known = dict.fromkeys((rule.name for rule in RULES[:5]), together) | {
        # A server with every fourth arrival, or a random part of them.
        "round robin": 1 / (1 - _root(servers, rate)),
        "random": 1 / (1 - SLOTS_LOAD),
    }
    runs, checks, rows = {}, [], []
    for rule in tqdm(RULES, desc="one task per server", leave=False, disable=None):
        runs[rule.name] = simulate(
            system, FIFOScheduler(), tasks=Tasks(per_job=FixedTasks(1), placement=rule),
            events=250_000 if full else 24_000, replications=20, rng=71,
        ).estimates["mean_durations"]  # fmt: skip
        e, exact = runs[rule.name], known.get(rule.name)
        rows.append([rule.name, _interval(e, 0), "" if exact is None else f"{exact:.4f}"])
        if exact is not None:
            checks.append(
                Check(
                    f"four servers of one task, {rule.name}: {_formula(rule.name)}",
                    f"{exact:.4f}",
                    f"{e.value[0]:.4f} ± {e.half_width_at(SURE)[0]:.4f} ({SURE:.2%})",
                    bool(distance(e.value[0], exact, e.half_width_at(SURE)[0]) < 1),
                )
            )
    # Not against each other where runs share their jobs: the bounds are laws, M/M/4 and random binding.
    for name in ("shortest queue", "shortest queue of 2"):
        e = runs[name]
        width = float(e.half_width_at(SURE)[0])
        checks.append(
            Check(
                f"four servers of one task, {name}: between one queue for all and random binding",
                f"{together:.4f} to {known['random']:.4f}",
                f"{e.value[0]:.4f}",
                bool(together - width < e.value[0] < known["random"] + width < np.inf),
            )
        )
    _bars(ax, runs, 0, label="simulated")
    place = {rule.name: k for k, rule in enumerate(RULES)}
    ax.plot(
        list(known.values()), [place[name] for name in known], "|", ms=16, mew=1.5, color=part_colour(1), label="closed form", zorder=0
    )  # fmt: skip
    ax.set(title=f"Four servers of one task, load {SLOTS_LOAD:g}")
    ax.legend(fontsize="small", loc="upper right")
    return runs, checks, rows


def _bars(ax: Axes, runs: dict[str, Estimate], i: int, *, label: str) -> None:
    """Mean durations of class i with intervals, one row per rule."""
    place = np.arange(len(runs))
    ax.errorbar(
        [e.value[i] for e in runs.values()],
        place,
        xerr=[e.half_width[i] for e in runs.values()],
        fmt="os"[i],
        ms=5,
        capsize=3,
        color=part_colour(2 * i),
        label=label,
    )
    bound = [isinstance(rule, OnArrival) for rule in RULES]
    names = [f"{name}\n(on arrival)" if b else name for name, b in zip(runs, bound, strict=True)]
    ax.set_yticks(place, names)
    if not ax.yaxis_inverted():
        ax.invert_yaxis()
    ax.set(xlabel="mean duration, 95 % intervals")


def _order(packed: dict[str, Estimate]) -> Check:
    """Large tasks: best fit below worst fit, which is below random binding."""
    names = ("best fit", "worst fit", "random")
    # The rules serve the same jobs, so differences by replication are less noisy than the means.
    gaps = []
    for one, other in pairwise(names):
        change = packed[other].values[:, 1] - packed[one].values[:, 1]
        gaps.append(float(change.mean() / (change.std(ddof=1) / math.sqrt(len(change)))))
    return Check(
        "large tasks: standard errors by which worst fit is slower than best fit, and random binding than worst fit",
        "> 0",
        ", ".join(f"{gap:.1f}" for gap in gaps),
        min(gaps) > 0,
    )


def _erlang_c(servers: int, load: float) -> float:
    """Probability of waiting in M/M/c."""
    terms = [load**k / math.factorial(k) for k in range(servers)]
    last = load**servers / math.factorial(servers) * servers / (servers - load)
    return last / (sum(terms) + last)


def _root(phases: int, rate: float) -> float:
    """Root in (0, 1) of s = (rate/(rate + 1 - s))**phases, of the queue E_k/M/1."""
    return float(brentq(lambda s: (rate / (rate + 1 - s)) ** phases - s, 0.0, 1 - 1e-6))


def _formula(rule: str) -> str:
    forms = {"round robin": "E4/M/1, 1/(1 - s) with s = (λ/(λ + 1 - s))⁴", "random": "M/M/1, 1/(1 - load)"}
    return forms.get(rule, "M/M/4 (Erlang C)")


def _interval(estimate: Estimate, i: int) -> str:
    return f"{estimate.value[i]:.4f} ± {estimate.half_width[i]:.4f}"
