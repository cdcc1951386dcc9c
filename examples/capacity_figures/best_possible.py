"""How far policies are from the best one: mean jobs over what no policy can fall below."""

from __future__ import annotations

from functools import partial

import matplotlib.pyplot as plt
import numpy as np

from examples.gallery import Check, Page, Table
from fairness import DRF, AlphaFair, Problem, ProportionalFair
from fairness.catalogue import colour
from fairness.display.colours import part_colour
from fairness.protocol.policy import policy_name
from queueing import System, balanced_fairness, optimal, stationary

__all__ = ["best_possible"]

PAIR = Problem([[1, 0.1], [0.1, 1]], [1, 1], job_classes=["class 1", "class 2"])
POLICIES = (ProportionalFair(), AlphaFair(2), DRF())
BALANCED = "balanced fairness"
NAMES = {"DRF": "DRF, and max-min"}
"""Where the largest demand of both classes is 1, tasks and dominant shares are one."""
PRECISION = 1e-4
"""Of the least mean: the line of the best is as thick."""
PUBLISHED = {0.1: 1.0154, 0.3: 1.0794, 0.5: 1.1199, 0.7: 1.1188, 0.9: 1.0569}
"""PF over the best for demands (1, e), (e, 1) at equal loads of .9, found by another program; by e."""


def best_possible(*, full: bool) -> Page:
    """Over the load, over the mix, and what sharing more of the resources does to PF."""
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
    loads = [0.2, 0.4, 0.6, 0.7, 0.8, 0.85, 0.9] if full else [0.3, 0.6, 0.8, 0.9]
    mixes = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5] if full else [0.1, 0.3, 0.5]
    by_load = _ratios([System.with_load(PAIR, [1, 1], load) for load in loads])
    by_mix = _ratios([System.with_load(PAIR, [part, 1 - part], 0.8) for part in mixes])
    # Both classes alike: the other half of the mixes is the mirror image.
    parts = [*mixes, *(1 - p for p in mixes[-2::-1])]
    for ax, places, found in ((left, loads, by_load), (middle, parts, by_mix)):
        for name, ratios in found.items():
            values = ratios if ax is left else [*ratios, *ratios[-2::-1]]
            above = 100 * (np.array(values) - 1)
            ax.semilogy(
                places, above, marker="o", markersize=4, color=colour(name), label=NAMES.get(name, name)
            )
        ax.set(ylabel="mean jobs above the least mean, %", ylim=(100 * PRECISION, 400))
        ax.yaxis.set_major_formatter("{x:g}")
    left.set(xlabel="load of both resources", title="equal loads")
    middle.legend(*left.get_legend_handles_labels(), fontsize="small", loc="lower center")
    middle.set(xlabel="part of the load that class 1 has", title="busiest resource at 0.8")
    shared, by_demand = _shared(right, full)
    checks = [
        Check(
            f"PF over the best, demands (1, {e}), equal loads of 0.9",
            f"{known:.4f}",
            f"{by_demand[0.9][shared.index(e)]:.4f}",
            abs(by_demand[0.9][shared.index(e)] - known) < 1e-4,
        )
        for e, known in PUBLISHED.items()
        if e in shared
    ]
    rows = [[f"{load:g}", *(f"{by_load[n][k]:.4f}" for n in by_load)] for k, load in enumerate(loads)]
    return Page(
        "best_possible",
        "8. How far from the best?",
        "Dynamic programming over all policies that do not know sizes; a bound that is checked in fractions",
        "Two classes, each with most of its demand on its own resource (1, and 0.1 of the other). What is drawn is the mean number of jobs "
        "above the least that any policy can have, which is known by a proof to a part in 10,000 (the lower edge). Left: with equal loads PF stays within two "
        "in a hundred of the best up to load 0.9, while policies that level shares keep one resource waiting for the other and fall behind the further the "
        "nearer load 1 is. Middle: that is worst for equal loads; where one resource alone is busy little can be lost. Right: PF, the more the "
        "two classes demand of each other's resource (e), with the best in closed form, 2ϱ/((1 + e)(1 − ϱ)) jobs: "
        f"{_said(shared, by_demand)}",
        figure,
        {
            "loads": {"load": loads, **by_load},
            "mixes": {"part of class 1": mixes, **by_mix},
            "shared": {"e": shared, **{f"load {load:g}": ratios for load, ratios in by_demand.items()}},
        },
        checks,
        [Table("Equal loads: mean jobs over the least mean", ["load", *by_load], rows)],
    )  # fmt: skip


def _said(shared: list[float], found: dict[float, list[float]]) -> str:
    """How near PF comes to 1 + e at the highest load."""
    load = max(found)
    parts = [(ratio - 1) / e for e, ratio in zip(shared, found[load], strict=True)]
    most = max(found[load])
    return (
        f"at loads up to {load:g} PF has at most {most:.2f} times the least. What it has above the least is {100 * min(parts):.0f} to {100 * max(parts):.0f} per cent of e at load {load:g}, "
        "while the product form of heavy traffic suggests all of e (1 + e, dashed) as the load tends to 1."
    )


def _ratios(systems: list[System]) -> dict[str, list[float]]:
    """Mean jobs over the least mean, by policy."""
    least = [optimal(system, precision=PRECISION).lower for system in systems]
    means = {policy_name(policy): partial(stationary, policy=policy) for policy in POLICIES}
    means[BALANCED] = balanced_fairness
    return {
        name: [float(mean(system).mean_jobs.sum() / one) for system, one in zip(systems, least, strict=True)]
        for name, mean in means.items()
    }


def _shared(ax: plt.Axes, full: bool) -> tuple[list[float], dict[float, list[float]]]:
    """PF over the best by what the classes demand of each other's resource, at several loads."""
    shared = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9] if full else [0.1, 0.3, 0.5, 0.7, 0.9]
    found = {}
    for k, load in enumerate((0.7, 0.9, 0.98) if full else (0.7, 0.9)):
        found[load] = [
            float(
                stationary(
                    System.with_load(Problem([[1, e], [e, 1]], [1, 1]), [1, 1], load),
                    ProportionalFair(),
                    tail=1e-7,
                ).mean_jobs.sum()
                * (1 + e) * (1 - load) / (2 * load)
            )
            for e in shared
        ]  # fmt: skip
        ax.plot(shared, found[load], marker="o", markersize=4, color=part_colour(k), label=f"load {load:g}")
    line = np.array([0.0, 1.0])
    ax.plot(line, 1 + line, color="0.5", linestyle="--", linewidth=1, label="1 + e")
    ax.set(xlabel="e: demand of the other's resource", ylabel="mean jobs under PF / least mean")
    ax.set(xlim=(0, 1), ylim=(0.95, 1.5), title="PF, demands (1, e) and (e, 1)")
    ax.legend(fontsize="small", loc="upper left")
    return shared, found
