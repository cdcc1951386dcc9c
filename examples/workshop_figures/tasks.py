"""Whole tasks on 16 cores and 16 GB: schedulers at work, and the results slide (figures 7 and 12)."""

from __future__ import annotations

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from tqdm.auto import tqdm

from examples.gallery import Check, Page
from examples.workshop_figures.performance import MIXES
from fairness import DRF, Problem, ProportionalFair
from fairness.catalogue import colour
from fairness.display.colours import part_colour
from queueing import (
    BMFScheduler,
    DRFScheduler,
    PFScheduler,
    System,
    Tasks,
    balanced_fairness,
    duration_bound,
    simulate,
    stationary,
    task_trace,
)
from queueing.results import TaskTrace

__all__ = ["results", "schedulers"]

TASKS_PER_JOB = 100
FINER = 4
RESOURCE = 4
"""Colours of resources begin here, after those of classes."""
APART = 0.016
"""Loads by which points of one load are drawn apart."""
FAINT = 0.5
"""Opacity of a point whose run was too short for an interval."""
PACKING = {"balanced load, ρ₁ = ρ₂": 0.9375, "unbalanced load, ρ₁ = 3ρ₂": 0.975}

# Mean service rates of the fluid models, computed independently (balanced: the classes are alike).
REFERENCE = (
    (
        "balanced load, ρ₁ = ρ₂",
        0.5,
        {"balanced fairness": (1.9339,), "bound": (1.7778,), "PF": (1.9951,), "DRF": (1.7956,)},
    ),
    (
        "balanced load, ρ₁ = ρ₂",
        0.9,
        {"balanced fairness": (0.3432,), "bound": (0.3265,), "PF": (0.3759,), "DRF": (0.1762,)},
    ),
    (
        "unbalanced load, ρ₁ = 3ρ₂",
        0.9,
        {
            "balanced fairness": (0.3989, 1.0502),
            "bound": (0.3908, 0.9546),
            "PF": (0.3981, 1.2947),
            "DRF": (0.4077, 0.4556),
        },
    ),
)


def cluster(grain: int = 1) -> Problem:
    """The pool of the results slide, 16 cores and 16 GB, with tasks ``grain`` times finer: a unit is 1/grain core or GB."""
    return Problem(
        [[4, 1], [1, 4]],
        [16 * grain, 16 * grain],
        job_classes=["CPU-heavy", "RAM-heavy"],
        resources=["cores", "GB"],
    )


def schedulers(*, full: bool) -> Page:
    """Figure 7: utilization and a Gantt-like picture under the DRF and BMF schedulers for the same arrivals."""
    system = System.with_load(cluster(), (1, 1), 0.6, mean_sizes=40.0)
    horizon, window = 400.0, (330.0, 365.0)
    figure, axes = plt.subplots(
        3, 2, figsize=(13, 11), layout="constrained", height_ratios=[1, 0.8, 2], sharey="row"
    )
    numbers, jobs, together = {}, {}, {}
    rules = (DRFScheduler(ties="random"), BMFScheduler(ties="random"))
    runs = [
        task_trace(system, rule, horizon, tasks=Tasks(per_job=40), rng=np.random.default_rng(27))
        for rule in rules
    ]
    # One row per job that either run shows in the window, the same row in both.
    row = {job: k for k, job in enumerate(sorted(set().union(*(_present(run, window) for run in runs))))}
    for column, run in enumerate(runs):
        usage = run.usage / system.problem.capacities
        duration = np.diff(np.r_[run.times, horizon])
        used, present = (np.average(values, axis=0, weights=duration) for values in (usage, run.jobs))
        top, middle, bottom = axes[:, column]
        for j, name in enumerate(system.problem.resources):
            top.step(
                np.r_[run.times, horizon],
                np.r_[usage[:, j], usage[-1, j]],
                where="post",
                lw=0.9,
                color=part_colour(RESOURCE + j),
                label=f"{name}, mean {used[j]:.2f}",
            )
        for i, name in enumerate(system.problem.job_classes):
            middle.step(
                run.times,
                run.jobs[:, i],
                where="post",
                lw=1.2,
                color=part_colour(i),
                label=f"{name}, mean {present[i]:.1f}",
            )
        top.set(title=f"{run.scheduler} scheduler\n", ylim=(0, 1.05), xlim=(0, horizon))
        middle.set(xlim=(0, horizon), xlabel="time")
        for ax in (top, middle):
            ax.axvspan(*window, color="0.93", zorder=0)
            ax.legend(fontsize="small", loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, borderpad=0.2)
        _gantt(bottom, run, window, row)
        numbers[run.scheduler] = {"times": run.times, "usage": run.usage, "jobs": run.jobs}
        jobs[run.scheduler] = present.sum()
        both = (run.jobs > 0).all(axis=1)
        together[run.scheduler] = np.average((usage[both] > 0.9).all(axis=1), weights=duration[both])
    axes[0, 0].set_ylabel("part of capacity in use")
    axes[1, 0].set_ylabel("jobs present")
    axes[2, 0].set_ylabel("jobs, the latest on top")
    return Page(
        "fig07_schedulers",
        "7. Serving the most deprived job, task by task",
        'Slides "Serving the most deprived job", DRF ("smallest dominant resource share") and BMF ("lowest best rank").',
        "The same jobs under both schedulers, 16 cores and 16 GB. Above: cores and memory in use, and jobs present. Below, the grey window as a Gantt picture: one row per job "
        "(thin line: present; bar height: tasks running; mark: arrival). DRF keeps switching to the jobs that hold least, and blocks when their tasks do not fit; BMF ranks jobs on the resources that block somebody, and "
        f"finds mixes that fill both: while both classes are present, cores and memory are both above 90 % during {together['DRF']:.0%} of the time under DRF and {together['BMF']:.0%} under BMF. Head-of-line blocking: when a task of the chosen job does not fit, everybody waits. "
        f"Here {jobs['DRF']:.1f} jobs are present on average under DRF and {jobs['BMF']:.1f} under BMF. Laws of task numbers and times are not in the talk; "
        "these jobs have a geometric number of tasks with mean 40 and exponential task times with mean 1.",
        figure,
        numbers,
    )


def _present(run: TaskTrace, window: tuple[float, float]) -> list[int]:
    gone = run.job_departures <= window[0]
    return np.flatnonzero((run.job_arrivals < window[1]) & ~gone).tolist()


def _gantt(ax: plt.Axes, run: TaskTrace, window: tuple[float, float], row: dict[int, int]) -> None:
    problem, (first, last) = run.system.problem, window
    departures = np.where(np.isnan(run.job_departures), np.inf, run.job_departures)
    full = (1.0 / problem.task_shares.max(axis=1)).max()
    for job in _present(run, window):
        shade = part_colour(run.job_classes[job])
        ax.plot(
            [max(first, run.job_arrivals[job]), min(last, departures[job])],
            [row[job]] * 2,
            color="0.7",
            lw=0.8,
            zorder=1,
        )
        ax.plot(run.job_arrivals[job], row[job], "|", color="black", ms=9, zorder=3)
        mine = run.task_jobs == job
        starts, ends = run.task_starts[mine], run.task_ends[mine]
        times = np.unique(np.r_[starts, ends].clip(first, last))
        for low, high in pairwise(times):
            running = int(((starts <= low) & (ends >= high)).sum())
            if running:
                ax.barh(row[job], high - low, left=low, height=0.95 * running / full, color=shade, zorder=2)
    handles = [Patch(color=part_colour(i), label=name) for i, name in enumerate(problem.job_classes)]
    ax.legend(handles=handles, fontsize="small", loc="upper left")
    ax.set(xlim=window, xlabel="time", yticks=[])


def results(*, full: bool) -> Page:
    """Figure 12: mean service rate by task-level simulation against the fluid curves."""
    grains = {1: "as on the slide: tasks (4,1) and (1,4)", FINER: f"tasks {FINER} times finer, the same jobs"}
    loads = np.array([0.2, 0.4, 0.6, 0.7, 0.8, 0.9]) if full else np.array([0.3, 0.6, 0.8])
    fine = np.linspace(0.02, 0.97, 50)
    # Chains at more loads than are simulated, so that their curves have no corners.
    chains = np.union1d(loads, [0.05, 0.1, 0.3, 0.5] if full else [0.05, 0.2, 0.45, 0.7])
    # Coarse tasks at load 0.9 would only show how fast the queue grows.
    shown = {grain: loads[loads < 0.9] if grain == 1 else loads for grain in grains}
    events = {1: 1_000_000, FINER: 4_500_000} if full else {1: 200_000, FINER: 200_000}
    rules = (
        DRFScheduler(ties="random"),
        BMFScheduler(ties="random"),
        PFScheduler(ties="random"),
    )
    panels = [(name, mix, i) for name, mix in MIXES.items() for i in range(1 if mix == (1, 1) else 2)]
    figure, axes = plt.subplots(2, 3, figsize=(14, 9), layout="constrained", sharex=True, sharey=True)
    numbers: dict[str, dict] = {}
    bar = tqdm(
        total=len(MIXES) * sum(map(len, shown.values())) * len(rules),
        desc="task-level simulations",
        leave=False,
        disable=None,
    )
    for name, mix in MIXES.items():
        fluid = _fluid_curves(mix, fine, chains)
        numbers[name] = {
            "load of curves": fine,
            "load of chains": chains,
            "load of points": loads,
            "fluid": fluid,
        }
        for grain, label in grains.items():
            points = {}
            for rule in rules:
                runs = []
                for load in shown[grain]:
                    system = System.with_load(cluster(grain), mix, load)
                    tasks_per_job = TASKS_PER_JOB * grain
                    runs.append(
                        simulate(
                            system,
                            rule,
                            tasks=Tasks(per_job=tasks_per_job),
                            events=events[grain],
                            replications=4,
                            rng=1616,
                        )
                    )
                    bar.update()
                points[rule.name] = {
                    "service rates": np.array([run.service_rates for run in runs]) / grain,
                    "half-width": np.array([run.half_widths["service_rates"] for run in runs]) / grain,
                }
            numbers[name][label] = points
            numbers[name][f"loads, {label}"] = shown[grain]
    bar.close()
    for row, (grain, label) in enumerate(grains.items()):
        for ax, (name, mix, i) in zip(axes[row], panels, strict=True):
            record = numbers[name]
            for curve, style in (("balanced fairness", "-"), ("bound", "--"), ("PF", ":"), ("DRF", ":")):
                x = fine if curve in ("balanced fairness", "bound") else chains
                ax.plot(
                    x,
                    record["fluid"][curve][:, i],
                    style,
                    color=colour(curve),
                    label=f"{'PF = BMF' if curve == 'PF' else curve}, fluid",
                )
            for k, (rule, marker) in enumerate(zip(rules, "soD", strict=True)):
                point = record[label][rule.name]
                rates, widths = point["service rates"][:, i], point["half-width"][:, i]
                beside, sure = shown[grain] + APART * (k - 1), np.isfinite(widths)
                ax.errorbar(
                    beside[sure],  # whiskers beside each other
                    rates[sure],
                    yerr=widths[sure],
                    fmt=marker,
                    ms=6,
                    capsize=2,
                    color=colour(rule.name),
                    label=f"{rule.name}, whole tasks",
                )
                ax.plot(
                    beside[~sure],
                    rates[~sure],
                    marker,
                    ms=6,
                    color=colour(rule.name),
                    mfc="none",
                    alpha=FAINT,
                )
            if row == 0:
                limit = PACKING[name]
                ax.axvline(limit, color="0.5", lw=1, ls="-.")
                ax.annotate(
                    f"packing limit {limit:g}",
                    (limit, 3.9),
                    xytext=(-3, 0),
                    textcoords="offset points",
                    rotation=90,
                    ha="right",
                    va="top",
                    fontsize="small",
                    color="0.35",
                )
            who = "either class" if mix == (1, 1) else cluster().job_classes[i]
            ax.set(title=f"{name}: {who}\n{label}", xlim=(0, 1), ylim=(0, 4.1))
    for ax in axes[1]:
        ax.set_xlabel("load of the busiest resource (fluid)")
    for ax in axes[:, 0]:
        ax.set_ylabel("mean service rate, tasks (4,1) or (1,4)")
    short = any(
        not np.isfinite(record[label][rule.name]["half-width"]).all()
        for record in numbers.values()
        for label in grains.values()
        for rule in rules
    )
    handles, _ = axes[0, 0].get_legend_handles_labels()
    if short:
        faint = Line2D([], [], color="0.3", ls="none", marker="o", mfc="none", alpha=FAINT)
        faint.set_label("hollow: run too short for an interval")
        handles.append(faint)
    figure.legend(handles=handles, loc="outside lower center", ncols=4)
    slide, finer = (_compared(numbers, label, panels) for label in grains.values())
    return Page(
        "fig12_results",
        "12. Results: whole tasks on 16 cores and 16 GB",
        'Slide "Results": 16 cores, 16 GB, tasks (4,1) and (1,4), balanced and unbalanced load; and "Summary": BMF performs like PF, much better than DRF.',
        f"Points: task-level simulation with head-of-line blocking, ties broken at random, geometric numbers of tasks (mean {TASKS_PER_JOB}, or {TASKS_PER_JOB * FINER} finer ones), exponential task times, and 95 % intervals, drawn beside each other where the load is the same; "
        "these laws are ours, the talk does not give them. "
        + (
            "Hollow points: the run was too short for an interval; such a point is not to be trusted, and lies rather too high, because the system starts empty. "
            if short
            else ""
        )
        + "Curves: the fluid models, exact or by chains. Whole tasks cannot fill the pool: the largest mixes that fit are (4,0), (3,3), (0,4), so at most 0.9375 (balanced) or 0.975 (3:1) of the fluid "
        "capacity is usable (dash-dotted). A queue that grows for ever shows as a point near zero, the nearer the longer the run. The talk reports that BMF performs like PF, much better than DRF. "
        f"Above, with tasks as on the slide, most jobs hold nothing at high load, DRF and BMF meet mostly ties, and blocking wastes capacity: {slide} Below, with finer tasks: {finer}",
        figure,
        numbers,
        _result_checks(numbers, list(grains.values()), loads),
    )


def _compared(numbers: dict, label: str, panels: list[tuple[str, tuple[int, int], int]]) -> str:
    """What the points that have intervals say of the three rules, in two sentences."""
    parted: dict[str, list[str]] = {"BMF": [], "PF": []}
    compared = between = 0
    for name, mix, i in panels:
        record = numbers[name]
        rate = {rule: point["service rates"][:, i] for rule, point in record[label].items()}
        width = {rule: point["half-width"][:, i] for rule, point in record[label].items()}
        load = record[f"loads, {label}"]
        sure = np.isfinite(list(width.values())).all(axis=0)
        compared += int(sure.sum())
        between += int(((rate["DRF"] <= rate["BMF"]) & (rate["BMF"] <= rate["PF"]))[sure].sum())
        where = "balanced" if mix == (1, 1) else f"unbalanced, {cluster().job_classes[i]}"
        for rule, found in parted.items():
            # Where one has no interval, nothing is above anything.
            above = rate[rule] - width[rule] > rate["DRF"] + width["DRF"]
            if above.any():
                found.append(f"{', '.join(f'{v:g}' for v in load[above])} ({where})")
    told = [
        f"the interval of {rule} lies above that of DRF at load {'; '.join(found)}"
        for rule, found in parted.items()
        if found
    ]
    none = [rule for rule, found in parted.items() if not found]
    if none:
        told.append(f"no interval of {' or '.join(none)} lies above that of DRF")
    return (
        f"{', and '.join(told)}; BMF is between DRF and PF in {between} of the {compared} cases "
        "in which all three have intervals."
    )


def _fluid_curves(mix: tuple[int, int], fine: np.ndarray, loads: np.ndarray) -> dict[str, np.ndarray]:
    systems = [System.with_load(cluster(), mix, load) for load in fine]
    curves = {
        "balanced fairness": np.array([balanced_fairness(system).service_rates for system in systems]),
        "bound": np.array([duration_bound(system).service_rates for system in systems]),
    }
    for policy in (ProportionalFair(), DRF()):
        curves[policy.name] = np.array(
            [stationary(System.with_load(cluster(), mix, load), policy).service_rates for load in loads]
        )
    return curves


def _result_checks(numbers: dict, labels: list[str], loads: np.ndarray) -> list[Check]:
    checks = []
    for name, load, expected in REFERENCE:
        system = System.with_load(cluster(), MIXES[name], load)
        ours = {
            "balanced fairness": balanced_fairness(system).service_rates,
            "bound": duration_bound(system).service_rates,
            "PF": stationary(system, ProportionalFair()).service_rates,
            "DRF": stationary(system, DRF()).service_rates,
        }
        for label, values in expected.items():
            for i, value in enumerate(values):
                checks.append(
                    Check.close(
                        f"mean service rate, fluid, {label}, {name}, load {load}, {cluster().job_classes[i]}",
                        value,
                        float(ours[label][i]),
                    )
                )
    k = int(np.argmin(np.abs(loads - 0.8)))
    for name, record in numbers.items():
        for label in labels:
            at = {rule: point["service rates"][k].mean() for rule, point in record[label].items()}
            sure = all(np.isfinite(point["half-width"][k]).all() for point in record[label].values())
            checks.append(
                Check(
                    f"whole tasks, {name}, load {loads[k]:g}, {label}: mean service rate of DRF, BMF, PF",
                    "BMF similar to PF, much better than DRF (no numbers)",
                    ", ".join(f"{at[rule]:.2f}" for rule in ("DRF", "BMF", "PF"))
                    + ("" if sure else " (not every run was long enough for an interval)"),
                    None,
                )
            )
    return checks
