"""Whole tasks on 16 cores and 16 GB: schedulers at work, and the results slide (figures 7 and 12)."""

from __future__ import annotations

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Patch
from tqdm.auto import tqdm

from examples.gallery import Check, Page
from examples.workshop_figures.performance import MIXES
from fairness import DRF, Problem, ProportionalFair
from fairness.catalogue import colour
from queueing import (
    BMFScheduler,
    DRFScheduler,
    System,
    TargetScheduler,
    TaskTrace,
    balanced_fairness,
    duration_bound,
    simulate_tasks,
    stationary,
    trace,
)

__all__ = ["results", "schedulers"]

TASKS_PER_JOB = 100


def cluster() -> Problem:
    """The pool of the results slide: 16 cores and 16 GB, tasks of (4 cores, 1 GB) and (1 core, 4 GB)."""
    return Problem(
        [[4, 1], [1, 4]], [16, 16], job_classes=["CPU-heavy", "RAM-heavy"], resources=["cores", "GB"]
    )


def schedulers(*, quick: bool) -> Page:
    """Figure 7: utilisation and a Gantt-like picture under the DRF and BMF schedulers for the same arrivals."""
    system = System.with_load(cluster(), (1, 1), 0.85, mean_sizes=20.0)
    horizon, window = 300.0, (190.0, 230.0)
    figure, axes = plt.subplots(
        3, 2, figsize=(13, 11), layout="constrained", height_ratios=[1, 0.8, 2], sharey="row"
    )
    numbers, jobs = {}, {}
    for column, scheduler in enumerate((DRFScheduler(), BMFScheduler())):
        run = trace(system, scheduler, horizon, tasks_per_job=20, rng=np.random.default_rng(5))
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
                color=f"C{j}",
                label=f"{name}, mean {used[j]:.2f}",
            )
        for i, name in enumerate(system.problem.job_classes):
            middle.step(
                run.times,
                run.jobs[:, i],
                where="post",
                lw=1.2,
                color=f"C{i + 2}",
                label=f"{name}, mean {present[i]:.1f}",
            )
        top.set(title=f"{scheduler.name} scheduler", ylim=(0, 1.05), xlim=(0, horizon))
        middle.set(xlim=(0, horizon), xlabel="time")
        for ax in (top, middle):
            ax.axvspan(*window, color="0.93", zorder=0)
            ax.legend(fontsize="small", loc="upper left")
        _gantt(bottom, run, window, system.problem)
        numbers[scheduler.name] = {"times": run.times, "usage": run.usage, "jobs": run.jobs}
        jobs[scheduler.name] = present.sum()
    axes[0, 0].set_ylabel("part of capacity in use")
    axes[1, 0].set_ylabel("jobs present")
    axes[2, 0].set_ylabel("jobs in order of arrival")
    return Page(
        "fig07_schedulers",
        "7. Serving the most deprived job, task by task",
        'Slides "Serving the most deprived job", DRF ("smallest dominant resource share") and BMF ("lowest best rank").',
        "The same jobs under both schedulers, 16 cores and 16 GB. Above: cores and memory in use, and jobs present. Below, the grey window as a Gantt picture: one row per job "
        "(thin line: present; bar height: tasks running; mark: arrival). Head-of-line blocking: when a task of the chosen job does not fit, everybody waits. "
        f"Here {jobs['DRF']:.1f} jobs are present on average under DRF and {jobs['BMF']:.1f} under BMF. Laws of task numbers and times are not in the talk; "
        "these jobs have a geometric number of tasks with mean 20 and exponential task times with mean 1.",
        figure,
        numbers,
    )


def _gantt(ax: plt.Axes, run: TaskTrace, window: tuple[float, float], problem: Problem) -> None:
    first, last = window
    departures = np.where(np.isnan(run.job_departures), np.inf, run.job_departures)
    present = np.flatnonzero((run.job_arrivals < last) & (departures > first))
    full = (1.0 / problem.task_shares.max(axis=1)).max()
    for row, job in enumerate(present):
        shade = f"C{run.job_classes[job] + 2}"
        ax.plot(
            [max(first, run.job_arrivals[job]), min(last, departures[job])],
            [row, row],
            color="0.7",
            lw=0.8,
            zorder=1,
        )
        ax.plot(run.job_arrivals[job], row, "|", color="black", ms=9, zorder=3)
        mine = run.task_jobs == job
        starts, ends = run.task_starts[mine], run.task_ends[mine]
        times = np.unique(np.r_[starts, ends].clip(first, last))
        for low, high in pairwise(times):
            running = int(((starts <= low) & (ends >= high)).sum())
            if running:
                ax.barh(row, high - low, left=low, height=0.95 * running / full, color=shade, zorder=2)
    handles = [Patch(color=f"C{i + 2}", label=name) for i, name in enumerate(problem.job_classes)]
    ax.legend(handles=handles, fontsize="small", loc="upper right")
    ax.set(xlim=window, xlabel="time", yticks=[])
    ax.invert_yaxis()


def results(*, quick: bool) -> Page:
    """Figure 12: mean service rate by task-level simulation against the fluid curves."""
    problem = cluster()
    loads = (
        np.array([0.3, 0.6, 0.8]) if quick else np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9])
    )
    fine = np.linspace(0.02, 0.97, 50)
    events = 100_000 if quick else 1_000_000
    packing = {"balanced load, ρ₁ = ρ₂": 0.9375, "unbalanced load, ρ₁ = 3ρ₂": 0.975}
    rules = (DRFScheduler(), BMFScheduler(), TargetScheduler(ProportionalFair()))
    figure, axes = plt.subplots(2, 2, figsize=(12, 9), layout="constrained", sharex=True)
    numbers, checks = {}, []
    bar = tqdm(
        total=len(MIXES) * len(loads) * len(rules), desc="task-level simulations", leave=False, disable=None
    )
    for column, (name, mix) in enumerate(MIXES.items()):
        systems = [System.with_load(problem, mix, load) for load in fine]
        fluid = {
            "balanced fairness": np.array([balanced_fairness(system).service_rates for system in systems]),
            "bound": np.array([duration_bound(system).service_rates for system in systems]),
        }
        chain_loads = loads[loads <= 0.9]
        for policy in (ProportionalFair(), DRF()):
            fluid[policy.name] = np.array(
                [
                    stationary(System.with_load(problem, mix, load), policy).service_rates
                    for load in chain_loads
                ]
            )
        simulated: dict[str, list[np.ndarray]] = {}
        widths: dict[str, list[np.ndarray]] = {}
        for rule in rules:
            simulated[rule.name], widths[rule.name] = [], []
            for load in loads:
                run = simulate_tasks(
                    System.with_load(problem, mix, load),
                    rule,
                    tasks_per_job=TASKS_PER_JOB,
                    events=events,
                    replications=4,
                    rng=np.random.default_rng(1616),
                    n_jobs=2,
                )
                simulated[rule.name].append(run.service_rates)
                widths[rule.name].append(run.half_widths["service_rates"])
                bar.update()
        for row in range(2):
            ax = axes[row, column]
            for label, style in (("balanced fairness", "-"), ("bound", "--")):
                ax.plot(fine, fluid[label][:, row], style, color=colour(label), label=f"{label}, fluid")
            for label in ("PF", "DRF"):
                ax.plot(chain_loads, fluid[label][:, row], ":", color=colour(label), label=f"{label}, fluid")
            for rule, marker in zip(rules, "soD", strict=True):
                ax.errorbar(
                    loads,
                    np.array(simulated[rule.name])[:, row],
                    yerr=np.array(widths[rule.name])[:, row],
                    fmt=marker,
                    ms=5,
                    capsize=2,
                    color=colour(rule.name),
                    mfc="none",
                    label=f"{rule.name}, whole tasks",
                )
            ax.axvline(packing[name], color="0.5", lw=1, ls="-.")
            ax.annotate(
                f"packing limit {packing[name]:g}",
                (packing[name], 3.9),
                rotation=90,
                ha="right",
                va="top",
                fontsize="small",
                color="0.35",
            )
            ax.set(title=f"{name}: {problem.job_classes[row]}", xlim=(0, 1), ylim=(0, 4.2))
        numbers[name] = {
            "load of curves": fine,
            "load of points": loads,
            "fluid": fluid,
            "whole tasks": simulated,
            "half-width": widths,
        }
    bar.close()
    for ax in axes[1]:
        ax.set_xlabel("load of the busiest resource (fluid)")
    for ax in axes[:, 0]:
        ax.set_ylabel("mean service rate, tasks")
    axes[0, 0].legend(fontsize="x-small", ncols=2)
    for mix_name, load, label, expected in (
        ("balanced load, ρ₁ = ρ₂", 0.5, "balanced fairness", (1.9339,)),
        ("balanced load, ρ₁ = ρ₂", 0.5, "bound", (1.7778,)),
        ("unbalanced load, ρ₁ = 3ρ₂", 0.9, "balanced fairness", (0.3989, 1.0502)),
        ("unbalanced load, ρ₁ = 3ρ₂", 0.9, "bound", (0.3908, 0.9546)),
    ):
        system = System.with_load(problem, MIXES[mix_name], load)
        ours = (
            balanced_fairness(system) if label == "balanced fairness" else duration_bound(system)
        ).service_rates
        checks += [
            Check.close(
                f"mean service rate, fluid, {label}, {mix_name}, load {load}, {problem.job_classes[i]}",
                value,
                float(ours[i]),
            )
            for i, value in enumerate(expected)
        ]
    return Page(
        "fig12_results",
        "12. Results: whole tasks on 16 cores and 16 GB",
        'Slide "Results": 16 cores, 16 GB, tasks (4,1) and (1,4), balanced and unbalanced load.',
        f"Points: task-level simulation with head-of-line blocking, geometric numbers of tasks (mean {TASKS_PER_JOB}), exponential task times; these laws are ours, the talk does not give them. Curves: the fluid "
        "models. As in the talk, BMF performs like PF and much better than DRF. Whole tasks cannot fill the pool: the mixes that fit are (4,0), (3,3), (0,4), so at most 0.9375 "
        "(balanced) or 0.975 (3:1) of the fluid capacity is usable; the dash-dotted line marks it.",
        figure,
        numbers,
        checks,
    )
