"""A cluster of fifty classes under random traffic: what four mechanisms make of the same jobs."""

from __future__ import annotations

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from examples.capacity_figures.random_traffic import long_enough, spread_in_errors
from examples.gallery import Check, Page, distance
from fairness import CDRFH, PSDSF, TSF, Cluster, PerServerDRF
from fairness.catalogue import colour
from fairness.model.problem import FloatArray
from queueing import System, simulate
from queueing.results import Simulation
from queueing.simulation.replications import Estimate, estimate_ratio

__all__ = ["random_cluster"]

CLASSES = 50
LOAD = 0.6
KINDS = {"64 cores, 256 GB": 12, "128 cores, 512 GB": 8, "64 cores, 512 GB, 8 GPUs": 4}
CAPACITIES = ((64, 256, 0), (128, 512, 0), (64, 512, 8))
TASK_SHARES = TSF()
POLICIES = (PSDSF(), TASK_SHARES, CDRFH(), PerServerDRF())
TICKS = (0.02, 0.05, 0.1, 0.2, 0.5)
GROUPS = ("mostly CPU", "mostly RAM", "with GPUs")
CONFIDENCE = 0.95


def cluster() -> Cluster:
    """Fifty classes on 24 servers of three kinds; a fifth of the classes needs GPUs, and the servers that have them."""
    rng = np.random.default_rng(1)
    kind = np.repeat(np.arange(len(KINDS)), list(KINDS.values()))
    gpu = np.arange(CLASSES) % 5 == 0
    demands = np.column_stack(
        [
            rng.choice([1, 2, 3, 4, 6, 8, 12, 16], CLASSES),
            rng.choice([2, 4, 6, 8, 12, 16, 24, 32, 48, 64], CLASSES),
            np.where(gpu, rng.choice([1, 2], CLASSES), 0),
        ]
    )
    return Cluster(
        demands,
        np.array(CAPACITIES)[kind],
        eligible=np.where(gpu[:, None], kind == 2, True),
        resources=["CPU", "RAM", "GPU"],
    )


def mix() -> FloatArray:
    """Every class holds as much of what it needs most, and GPUs are as busy as the busier of CPU and RAM."""
    parts, group = _parts(cluster()), _groups(cluster())
    mix = 1.0 / parts.max(axis=1)
    others, gpu = (mix[chosen] @ parts[chosen] for chosen in (group < 2, group == 2))
    mix[group == 2] *= (others[:2] / (gpu[2] - gpu[:2])).max()
    return mix


def random_cluster(*, full: bool) -> Page:
    """Mean slowdowns of fifty classes with intervals, under four mechanisms."""
    system = System.with_load(cluster(), mix(), LOAD)
    # The same seed: the same random numbers for all.
    effort = {"events": 40_000, "replications": 6} if full else {"events": 20_000, "replications": 3}
    runs = {
        policy.name: simulate(system, policy, rng=1, confidence=CONFIDENCE, progress=False, **effort)
        for policy in POLICIES
    }
    group = _groups(cluster())
    slow = {name: run.mean_durations / _alone(system) for name, run in runs.items()}
    means = {name: _of_groups(run, _alone(system), group) for name, run in runs.items()}
    figure, axes = plt.subplots(
        1, 3, figsize=(16, 4.8), layout="constrained", gridspec_kw={"width_ratios": [0.9, 1.5, 0.8]}
    )
    _draw_classes(axes[0], group)
    _draw_slowdowns(axes[1], system, runs, group)
    _draw_means(axes[2], means)
    events = sum(run.events for run in runs.values())
    return Page(
        "random-cluster",
        "12. A cluster of fifty classes under random traffic",
        "Nothing printed: the mechanisms of Khamse-Ashari et al. (ICC 2017), Wang et al. (TSF, SC 2016) and Ghodsi et al. (DRF on every server by itself), with jobs that come and go. The states of fifty classes cannot be listed: each mechanism is asked about those that a run visits.",
        f"{CLASSES} classes on 24 servers of three kinds (left: what a task takes of the whole cluster) at {LOAD:g} of the load that fits; every class holds as much of what it needs most, and GPUs are as busy as the rest: Poisson arrivals, exponential sizes. Mean duration over the duration of a job that is alone (middle), from {events:,} simulated events in all, with {CONFIDENCE:.0%} intervals. "
        f"{_said(means)}",
        figure,
        {
            "classes": np.array(system.problem.job_classes),
            "group": np.array(GROUPS)[group],
            **{f"{name}, mean slowdown": values for name, values in slow.items()},
            **{f"{name}, half-width": run.half_widths["mean_durations"] / _alone(system) for name, run in runs.items()},
            **{
                f"{name}, groups": {"names": GROUPS, "mean slowdown": one.value, "half-width": one.half_width}
                for name, one in means.items()
            },
        },
        _checks(system, runs, 40_000 if full else 4_000),
    )  # fmt: skip


def _alone(system: System) -> FloatArray:
    """Duration of a mean job that has the cluster to itself."""
    alone: FloatArray = system.mean_sizes / system.most_tasks
    return alone


def _parts(servers: Cluster) -> FloatArray:
    """Part of each resource of the whole cluster that a task takes, (n_classes, n_resources)."""
    parts: FloatArray = servers.demands / servers.capacities.sum(axis=0)
    return parts


def _groups(servers: Cluster) -> np.ndarray:
    """Index of the group of each class."""
    parts = _parts(servers)
    return np.where(parts[:, 2] > 0, 2, np.where(parts[:, 0] >= parts[:, 1], 0, 1))


def _draw_classes(ax: Axes, group: np.ndarray) -> None:
    parts = 100 * _parts(cluster())
    for k, (name, marker) in enumerate(zip(GROUPS, "os^", strict=True)):
        ax.plot(parts[group == k, 0], parts[group == k, 1], marker, color=f"{0.65 - 0.3 * k}", label=name)
    ax.axline((0, 0), slope=1, color="0.8", lw=1)
    ax.set(
        xscale="log",
        yscale="log",
        xticks=TICKS,
        xticklabels=TICKS,
        yticks=TICKS,
        yticklabels=TICKS,
        xlabel="of all CPU (per cent)",
        ylabel="of all RAM (per cent)",
        title="What a task takes",
    )
    ax.minorticks_off()
    ax.legend(fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=3)


def _draw_slowdowns(ax: Axes, system: System, runs: dict[str, Simulation], group: np.ndarray) -> None:
    reference = runs[POLICIES[0].name].mean_durations / _alone(system)
    order = np.lexsort((reference, group))
    place = np.arange(CLASSES)
    for k, (name, run) in enumerate(runs.items()):
        estimate = run.estimates["mean_durations"]
        ax.errorbar(
            place + 0.2 * k,
            (estimate.value / _alone(system))[order],
            (estimate.half_width / _alone(system))[order],
            fmt=".",
            markersize=4,
            elinewidth=0.8,
            color=colour(name),
            label=name,
        )
    for k in range(1, len(GROUPS)):
        ax.axvline((group < k).sum() - 0.3, color="0.8", lw=1)
    for k, name in enumerate(GROUPS):
        middle = (group < k).sum() + (group == k).sum() / 2
        ax.text(
            middle, 1.0, name, transform=ax.get_xaxis_transform(), ha="center", va="bottom", fontsize="small"
        )
    ax.set(xlabel=f"classes, by {POLICIES[0].name}", ylabel="mean slowdown", ylim=(1, None))
    ax.set_title("How long a job takes, over a job alone", pad=18)
    ax.legend(fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=len(runs))


def _of_groups(run: Simulation, alone: FloatArray, group: np.ndarray) -> Estimate:
    """Mean slowdown of the classes of each group.

    Classes of one replication share the cluster, so their errors come together: the interval is from the means
    of the group in each replication, not from the intervals of its classes.
    """
    durations = run.estimates["mean_durations"]
    slow = durations.values / alone
    means = np.column_stack([slow[:, group == k].mean(axis=1) for k in range(len(GROUPS))])
    return replace(estimate_ratio(means, np.ones_like(means), CONFIDENCE), sound=durations.sound)


def _lowest(means: dict[str, Estimate], k: int) -> str | None:
    """The policy whose interval for a group lies below those of all others; None if there is none."""
    first, *others = sorted(means, key=lambda name: float(means[name].value[k]))
    parted = all(means[first].interval[1, k] < means[name].interval[0, k] for name in others)
    return first if parted else None


def _said(means: dict[str, Estimate]) -> str:
    """Under which policy each group is served best, where the intervals tell."""
    lowest = {name: _lowest(means, k) for k, name in enumerate(GROUPS)}
    told = [f"{policy} ({name})" for name, policy in lowest.items() if policy]
    untold = [name for name, policy in lowest.items() if not policy]
    text = f"The means of the three groups (right) have {CONFIDENCE:.0%} intervals as well"
    if told:
        text += f": they are lowest under {', '.join(told)}, on this cluster, with these jobs"
    if untold:
        which = f" in the group{'s' * (len(untold) > 1)} {' and '.join(untold)}" if told else ""
        text += f"{';' if told else ':'} which policy is lowest cannot be told apart here{which}, as intervals overlap"
    return text + "."


def _draw_means(ax: Axes, means: dict[str, Estimate]) -> None:
    place = np.arange(len(GROUPS))
    width = 0.8 / len(means)
    for k, (name, one) in enumerate(means.items()):
        ax.bar(
            place + (k - (len(means) - 1) / 2) * width,
            one.value,
            width,
            yerr=one.half_width,
            error_kw={"elinewidth": 0.8, "capsize": 3, "ecolor": "0.4"},
            color=colour(name),
            label=name,
        )
    ax.set(
        xticks=place,
        xticklabels=GROUPS,
        ylabel="mean slowdown of the classes",
        ylim=(1, None),
        title=f"Groups, {CONFIDENCE:.0%} intervals",
    )


def _checks(system: System, runs: dict[str, Simulation], jobs: int) -> list[Check]:
    # A second kernel: jobs with sizes of their own, and their durations, instead of Little's law.
    single = simulate(system, TASK_SHARES, level="jobs", jobs=jobs, replications=4, rng=2, progress=False)
    spread = spread_in_errors(runs["TSF"], single)
    # Equal tasks on equal servers share like one processor; all are inside with probability .995 or more.
    plain = Cluster(np.ones((CLASSES, 1)), np.ones((24, 1)))
    rho = LOAD * 24 * np.arange(1, CLASSES + 1) / np.arange(1, CLASSES + 1).sum()
    shared = simulate(
        System(plain, rho), TSF(), events=jobs, replications=20, rng=3, progress=False, confidence=1 - 1e-4
    )
    inside = distance(shared.mean_jobs, rho / 24 / (1 - LOAD), shared.half_widths["mean_jobs"]) <= 1
    return [
        Check("TSF, counts and job by job: mean durations of the classes, root mean square of their differences in standard errors", "< 2", f"{spread:.2f}", spread < 2),
        Check("fifty equal classes on equal servers, TSF: means inside intervals around processor sharing, rho/(1 - load)", f"{CLASSES}", f"{inside.sum()}", bool(inside.all()) and not shared.warnings),
        long_enough(runs),
    ]  # fmt: skip
