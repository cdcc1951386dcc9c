"""Insensitivity: how much mean durations depend on the law of the job sizes, not only on their mean."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from tqdm.auto import tqdm

from examples.gallery import Check, Page, Table, distance
from fairness import DRF, BottleneckMax, Problem, ProportionalFair
from fairness.catalogue import colour
from fairness.display.colours import part_colour
from queueing import (
    Deterministic,
    Exponential,
    Hyperexponential,
    Law,
    System,
    TruncatedPareto,
    balanced_fairness,
    simulate,
    stationary,
    tabulate,
)
from queueing.results import Simulation
from queueing.simulation.replications import Estimate, estimate_ratio

__all__ = ["insensitivity"]

BALANCED = "balanced fairness"

LOAD = 0.8
CONFIDENCE = 0.99

LAWS: dict[str, Law] = {
    "deterministic": Deterministic(),
    "exponential": Exponential(),
    "hyperexponential": Hyperexponential.fit(5),
    "truncated Pareto": TruncatedPareto(1.6, 500),
}
"""Laws of mean 1; squared coefficients of variation 0, 1, 5 and 5.5."""

POOL = Problem(
    [[4, 1], [2, 1], [1, 4]], [4, 4], job_classes=["class 1", "class 2", "class 3"], resources=["CPU", "RAM"]
)
"""The smallest kind of pool on which PF and BMF differ: three classes on two resources."""


class _Balanced:
    """Balanced fairness as a policy: its table of tasks on a box."""

    name = BALANCED

    def __init__(self, system: System, states: int) -> None:
        self.tasks = balanced_fairness(system, shape=states, distribution=True).tasks()

    def __call__(self, problem: Problem, counts: np.ndarray) -> np.ndarray:
        return self.tasks[tuple(np.moveaxis(np.asarray(counts, dtype=int), -1, 0))]


def insensitivity(*, full: bool) -> Page:
    """Mean durations under four policies and four laws of sizes, with the same jobs for all policies."""
    load, states = (LOAD, 128) if full else (0.5, 32)
    jobs, replications = (120_000, 20) if full else (4_000, 10)
    system = System.with_load(POOL, [2, 1, 3], load)
    policies = [_Balanced(system, 256 if full else 64), ProportionalFair(), BottleneckMax(), DRF()]
    runs: dict[tuple[str, str], Simulation] = {}
    bar = tqdm(total=len(policies) * len(LAWS), desc="simulations", leave=False, disable=None)
    for policy in policies:
        table = tabulate(POOL, policy, states)
        for name, law in LAWS.items():
            # One seed: all policies serve the same jobs, and all laws use the same arrivals.
            runs[policy.name, name] = simulate(
                System(POOL, system.arrival_rates, sizes=law), policy, jobs=jobs, replications=replications,
                confidence=CONFIDENCE, rng=1404, quantiles=(), table=table,
            )  # fmt: skip
            bar.update()
    bar.close()
    names = [policy.name for policy in policies]
    others = [name for name in LAWS if name != "exponential"]
    change = {(p, name): _change(runs, p, name) for p in names[1:] for name in LAWS if name != "exponential"}
    exact = balanced_fairness(system).mean_durations
    figure, axes = plt.subplots(1, 2, figsize=(14, 5), layout="constrained")
    _durations(axes[0], runs, names, exact)
    _changes(axes[1], change, names[1:])
    rows = [
        [
            p if i == 0 else "",
            POOL.job_classes[i],
            *(_interval(runs[p, name].estimates["mean_durations"], i) for name in LAWS),
            *(_interval(change[p, name], i, percent=True) if p != BALANCED else "0" for name in others),
        ]
        for p in names
        for i in range(POOL.n_classes)
    ]
    table_page = Table(
        f"Mean durations with {CONFIDENCE:.0%} intervals ({replications} replications of {jobs:,} jobs), and the change against exponential sizes, per cent (with balanced fairness as control)",
        ["policy", "class", *LAWS, *(f"{name}, change %" for name in others)],
        rows,
    )
    return Page(
        "insensitivity",
        "3. Does the law of the job sizes matter?",
        "Balanced fairness is insensitive: mean durations depend on the sizes through their means only (Bonald and Proutière, Queueing Systems 44, 2003). PF, BMF and DRF are not insensitive in general.",
        f"Demands (4,1; 2,1; 1,4) on 4 and 4, loads 2 : 1 : 3, busiest resource at {load:g}, sizes of mean 1: all equal, exponential, hyperexponential and truncated Pareto (squared coefficients of variation 0, 1, 5 and {LAWS['truncated Pareto'].scv:.1f}). "
        "Balanced fairness does not change at all against exponential sizes, and since it serves the same jobs, dividing by its durations takes most of the noise away (right). "
        f"{_said(change, names[1:])} Between policies, with exponential sizes, durations of a class differ by up to {100 * _apart(runs, names[1:]):.0f} per cent.",
        figure,
        {
            "load": load,
            "balanced fairness, exactly": exact,
            **{
                f"{p}, {name}": {
                    "mean durations": run.mean_durations,
                    "half-widths": run.half_widths["mean_durations"],
                }
                for (p, name), run in runs.items()
            },
            **{
                f"{p}, {name}, over exponential": {"value": c.value, "half-widths": c.half_width}
                for (p, name), c in change.items()
            },
        },
        _checks(system, runs, change, names, exact, full=full),
        [table_page],
    )


def _change(runs: dict[tuple[str, str], Simulation], policy: str, law: str) -> Estimate:
    """Mean durations over those with exponential sizes, with balanced fairness as the control variate.

    Balanced fairness serves the same jobs, and the law of the sizes does not change its mean durations; so
    what its durations change by is noise, most of which the policy shares.
    """
    one, other = (
        runs[policy, name].estimates["mean_durations"].values
        / runs[BALANCED, name].estimates["mean_durations"].values
        for name in (law, "exponential")
    )
    return estimate_ratio(one, other, CONFIDENCE)


def _interval(estimate: Estimate, i: int, *, percent: bool = False) -> str:
    value, width = float(estimate.value[i]), float(estimate.half_width[i])
    if percent:
        return f"{100 * (value - 1):+.2f} ± {100 * width:.2f}"
    return f"{value:.3f} ± {width:.3f}"


def _extremes(change: dict[tuple[str, str], Estimate], policy: str) -> str:
    values = np.concatenate([100 * (c.value - 1) for (p, _), c in change.items() if p == policy])
    return f"{values.min():+.1f} to {values.max():+.1f}"


def _sure(change: dict[tuple[str, str], Estimate], policy: str) -> int:
    """How many changes under a policy have intervals without 0."""
    return sum(int((abs(c.value - 1) > c.half_width).sum()) for (p, _), c in change.items() if p == policy)


def _said(change: dict[tuple[str, str], Estimate], policies: list[str]) -> str:
    """What the intervals of the changes say."""
    count = sum(len(c.value) for c in change.values())
    sure = sum(_sure(change, p) for p in policies)
    least = 100 * (min(float((c.value - c.half_width).min()) for c in change.values()) - 1)
    most = 100 * (max(float((c.value + c.half_width).max()) for c in change.values()) - 1)
    if not sure:
        return f"Under the policies no change can be told from noise: each of the {count} intervals contains 0, and what change there may be lies, by the intervals, between {least:+.1f} and {most:+.1f} per cent: so well do formulas for exponential sizes describe other sizes here."
    ranked = ", ".join(f"{p} {_extremes(change, p)}" for p in policies)
    return (
        f"The mean durations of the classes change by, in per cent: {ranked}; the intervals that do not contain 0 are {sure} of {count}. "
        f"The policies are not insensitive, but, by the intervals, no change is below {least:+.1f} or above {most:+.1f} per cent: so well do formulas for exponential sizes describe other sizes here."
    )


def _apart(runs: dict[tuple[str, str], Simulation], policies: list[str]) -> float:
    """Largest relative difference of the mean durations of a class between policies, exponential sizes."""
    means = np.array([runs[p, "exponential"].mean_durations for p in policies])
    return float((means.max(axis=0) / means.min(axis=0) - 1).max())


def _durations(ax: plt.Axes, runs: dict, names: list[str], exact: np.ndarray) -> None:
    place = np.arange(len(names)) * (POOL.n_classes + 1.5)
    for k, name in enumerate(LAWS):
        for i in range(POOL.n_classes):
            estimates = [runs[p, name].estimates["mean_durations"] for p in names]
            ax.errorbar(
                place + i + 0.18 * (k - 1.5),
                [e.value[i] for e in estimates],
                yerr=[e.half_width[i] for e in estimates],
                fmt="osD^"[k],
                ms=5,
                capsize=2,
                color=part_colour(k),
                label=name if i == 0 else None,
            )
    for i, value in enumerate(exact):
        ax.plot(
            [place[0] + i - 0.45, place[0] + i + 0.45],
            [value] * 2,
            color=colour("balanced fairness"),
            lw=1.5,
            zorder=0,
            label="balanced fairness, exactly" if i == 0 else None,
        )
    ticks = (place[:, None] + np.arange(POOL.n_classes)).ravel()
    ax.set_xticks(ticks, [str(i + 1) for _ in names for i in range(POOL.n_classes)])
    for at, p in zip(place, names, strict=True):
        ax.text(at + 1, 0.98, p, ha="center", va="top", transform=ax.get_xaxis_transform())
    ax.set(xlabel="class", ylabel="mean duration (mean size = 1)", ylim=(0, 1.15 * ax.get_ylim()[1]))
    ax.set_title(f"Mean durations, {CONFIDENCE:.0%} intervals")
    ax.legend(fontsize="small", loc="lower right", ncols=2)


def _changes(ax: plt.Axes, change: dict, names: list[str]) -> None:
    place = np.arange(len(names)) * (POOL.n_classes + 1.5)
    for k, name in enumerate(LAWS):
        if name == "exponential":
            continue
        for i in range(POOL.n_classes):
            estimates = [change[p, name] for p in names]
            ax.errorbar(
                place + i + 0.18 * (k - 1.5),
                [100 * (e.value[i] - 1) for e in estimates],
                yerr=[100 * e.half_width[i] for e in estimates],
                fmt="osD^"[k],
                ms=5,
                capsize=2,
                color=part_colour(k),
            )
    ax.axhline(0, color=part_colour(1), lw=1, zorder=0)
    ticks = (place[:, None] + np.arange(POOL.n_classes)).ravel()
    ax.set_xticks(ticks, [str(i + 1) for _ in names for i in range(POOL.n_classes)])
    for at, p in zip(place, names, strict=True):
        ax.text(at + 1, 0.98, p, ha="center", va="top", transform=ax.get_xaxis_transform())
    ax.set(xlabel="class", ylabel="change against exponential sizes, per cent")
    ax.set_title(f"Change of the mean durations with the law of sizes, {CONFIDENCE:.0%} intervals")
    ax.margins(y=0.15)


def _checks(
    system: System, runs: dict, change: dict, names: list[str], exact: np.ndarray, *, full: bool
) -> list[Check]:
    inside = sum(
        int((distance(run.mean_durations, exact, run.half_widths["mean_durations"]) <= 1).sum())
        for run in (runs[names[0], name] for name in LAWS)
    )
    compared = len(LAWS) * POOL.n_classes
    # Runs share their arrivals, so misses come together: 99 % intervals miss twice with probability of about
    # .01 and four times hardly ever.
    checks = [
        Check(
            f"{CONFIDENCE:.0%} intervals under balanced fairness that contain the exact mean duration, any law of sizes",
            f"at least {compared - 3} of {compared}",
            f"{inside} of {compared}",
            inside >= compared - 3,
        )
    ]
    for p in names[1:]:
        policy = {"PF": ProportionalFair(), "BMF": BottleneckMax(), "DRF": DRF()}[p]
        if not full and p != "PF":
            continue
        run = runs[p, "exponential"]
        law = stationary(system, policy)
        off = distance(run.mean_durations, law.mean_durations, run.half_widths["mean_durations"])
        checks.append(
            Check(
                f"{p}, exponential sizes: mean durations against the Markov chain, in half-widths of the {CONFIDENCE:.0%} interval",
                "< 1.5",
                f"{off.max():.2f}",
                bool(off.max() < 1.5),
            )
        )
    for p in names[1:]:
        checks.append(
            Check(f"{p}: changes against exponential sizes beyond their {CONFIDENCE:.0%} intervals", "", f"{_sure(change, p)} of {3 * POOL.n_classes}", None)
        )  # fmt: skip
    return checks
