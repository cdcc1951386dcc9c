"""Rounds and time of plain EDRF by demand profile and by scale (Figure 3)."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from examples.dcdrf_figures.instances import CONFIGURATIONS, PAPER_SECONDS, pod_size, scale, scale_text
from examples.dcdrf_figures.measuring import exponent, seconds_text
from examples.dcdrf_figures.profile_runs import (
    FIRST_ROUNDS,
    RATIOS,
    WORK_ORDER,
    Growth,
    Measured,
    growth_runs,
    measured,
)
from examples.gallery import Check, Page, Table
from fairness.cloud import PROFILES

__all__ = ["plain_rounds"]

PRINTED, EVENTS = CONFIGURATIONS["pEDRF"], CONFIGURATIONS["EDRF by events"]
PALE = ("#ec9a63", "#f6cdb1")
MARKERS = ("s", "^", "o")

FULL_RUN = (
    " A run of G0 at full scale, which these pages do not repeat, was stopped after 645 s of processor time (one thread, on the machine with two cores on which they were written): "
    "it had done 97 % of the counted work, in three times the counted × measured time."
)


def plain_rounds(*, full: bool) -> Page:
    """Figure 3: rounds and time of plain EDRF by profile, and time against scale."""
    found = {name: measured(name, full) for name in WORK_ORDER}
    runs = growth_runs(full)
    ended = [run for run in runs if run.rounds_run]
    figure = Figure(figsize=(14.5, 4.9), layout="constrained")
    left, middle, right = figure.subplots(1, 3, width_ratios=(0.85, 1.05, 1.35))
    default, n_resources = found["G0"], scale(full)[1]
    longest = max(ended, key=lambda run: run.touched)
    per_entry = 1e9 * longest.seconds / longest.touched
    _draw_rounds(left, found)
    _draw_seconds(middle, found, per_entry, full)
    slopes = _draw_growth(right, runs, default, full)
    worst = max(run.difference for run in ended)
    checks = [
        Check(
            "plain EDRF takes at most one round per resource",
            f"at most {n_resources:,}",
            f"{min(m.rounds for m in found.values()):,} to {max(m.rounds for m in found.values()):,}",
            all(m.rounds <= n_resources for m in found.values()),
        ),
        Check(
            f"Algorithm 1, run to its end on {len(ended)} instances: as many rounds as the exact allocation has distinct levels",
            "the same number",
            f"{sum(run.rounds == run.rounds_run for run in ended)} of {len(ended)} the same",
            all(run.rounds == run.rounds_run for run in ended),
        ),
        Check(
            "entries that it touched, by its own record of rounds, and as counted from the exact levels",
            "the same number",
            f"{sum(run.touched == run.touched_run for run in ended)} of {len(ended)} the same",
            all(run.touched == run.touched_run for run in ended),
        ),
        Check(
            "largest relative difference between its levels and those of EDRF by events",
            "0 but for rounding (at most 1e-10)",
            f"{worst:.1e}",
            # Up to thousands of rounds add up their rises, each to 16 digits.
            worst < 1e-10,
        ),
        Check(
            "entries that Algorithm 1 touches grow faster than the scale",
            "a quadratic relationship with the number of resources: exponent about 2 (above 1.5)",
            ", ".join(f"{slope:.2f} ({ratio} : 1)" for ratio, (slope, _, _) in slopes.items()),
            all(slope > 1.5 for slope, _, _ in slopes.values()),
        ),
        Check(
            "plain EDRF, one thread, profile G0" + ("" if full else " (a hundredth of the scale here)"),
            f"{PAPER_SECONDS} s on the paper's machine",
            f"{seconds_text(default.seconds('one thread'))}, counted × measured",
            None,
        ),
        Check(
            f"the same with the {per_entry:.1f} ns per entry of the longest run to its end ({longest.ratio * longest.resources:,} tenants, {longest.resources:,} resources)",
            "-",
            f"{seconds_text(default.touched * per_entry * 1e-9)}; that run took {longest.seconds / longest.predicted:.1f} times its own counted × measured",
            None,
        ),
        Check("EDRF by events, same instance", "-", seconds_text(default.edrf_seconds), None),
    ]
    return Page(
        "dcdrf01_plain_rounds",
        "1. Rounds and time of plain EDRF",
        f"Figure 3, left and right; the plotted values are not in the text. {scale_text(full)}. The text gives {PAPER_SECONDS} s for conventional EDRF on one thread and does not say with which profile; "
        "G0, the default of its later figures, is assumed here. Table 3 leaves open the Gaussian of the vector lengths (here mean 2, deviation 32, cut to 2..128), the pods (here "
        f"{pod_size(full):,} resources each) and the capacities C (here 100 units).",
        "The paper counts on a number of rounds in proportion to the resources, each of which looks at all that remain, so on time that is quadratic in the scale; its Figure 3 shows that it is not linear. So it is here: "
        f"{default.rounds / n_resources:.2f} rounds per resource in G0, and as much work as {default.touched / default.entries:,.0f} passes over all demands. Exact filling by events touches an entry (a positive demand) four times, whatever the number of "
        "rounds, and gives the same allocation. Bars marked “counted × measured” are no runs: the entries that Algorithm 1 has to touch are counted exactly and multiplied by the time per entry of "
        f"its first {FIRST_ROUNDS} rounds on this machine. That is too little, since the rows that are left lie scattered in memory in late rounds; the whiskers take the time per entry of the longest run to the end that was made."
        + (FULL_RUN if full else "")
        + " On the right, filled markers are real runs to the end.",
        figure,
        {
            "profiles": {name: asdict(found[name]) | found[name].predictions for name in PROFILES},
            "runs": [asdict(run) for run in runs],
            "slopes": {
                ratio: dict(zip(("entries touched", "Algorithm 1", "EDRF by events"), triple, strict=True))
                for ratio, triple in slopes.items()
            },
        },
        checks,
        [_table(found, full)],
    )


def _table(found: dict[str, Measured], full: bool) -> Table:
    threads = found["G0"].nanoseconds
    return Table(
        f"Algorithm 1 by profile, {scale_text(full)}",
        [
            "profile",
            "entries",
            "rounds",
            "entries touched",
            *(f"ns per entry, {label}" for label in threads),
            "EDRF by events",
        ],
        [
            [
                name,
                f"{found[name].entries:,}",
                f"{found[name].rounds:,}",
                f"{found[name].touched:.3g}",
                *(f"{value:.2f}" for value in found[name].nanoseconds.values()),
                seconds_text(found[name].edrf_seconds),
            ]
            for name in PROFILES
        ],
    )


def _draw_rounds(axes: Axes, found: dict[str, Measured]) -> None:
    names = list(PROFILES)
    bars = axes.bar(names, [found[name].rounds for name in names], 0.65, color=PRINTED)
    axes.bar_label(bars, [f"{found[name].rounds:,}" for name in names], fontsize=8, padding=2)
    axes.set(title="Rounds of EDRF", xlabel="demand profile", ylabel="rounds")
    axes.margins(y=0.12)
    axes.yaxis.set_major_formatter("{x:,.0f}")


def _draw_seconds(axes: Axes, found: dict[str, Measured], run_nanoseconds: float, full: bool) -> None:
    names = list(PROFILES)
    kinds = list(found["G0"].nanoseconds)
    columns = [
        (f"Algorithm 1, {kind}: counted × measured", [found[name].seconds(kind) for name in names])
        for kind in kinds
    ]
    columns.append(("EDRF by events: measured", [found[name].edrf_seconds for name in names]))
    colours = [*PALE[: len(kinds)], EVENTS]
    width = 0.84 / len(columns)
    everything = [value for _, values in columns for value in values]
    for k, ((label, values), colour) in enumerate(zip(columns, colours, strict=True)):
        where = np.arange(len(names)) + width * (k - (len(columns) - 1) / 2)
        axes.bar(where, values, 0.92 * width, color=colour, label=label)
        for x, value in zip(where, values, strict=True):
            text = f"{value:.2g}" if value < 10 else f"{value:,.0f}"
            ink = "white" if colour == EVENTS else "black"
            axes.text(x, value / 1.1, text, ha="center", va="top", fontsize=7, rotation=90, color=ink)
    low = [found[name].seconds("one thread") for name in names]
    late = [
        max(found[name].touched * run_nanoseconds * 1e-9, value)
        for name, value in zip(names, low, strict=True)
    ]
    axes.errorbar(
        np.arange(len(names)) - width * (len(columns) - 1) / 2,
        low,
        yerr=[np.zeros(len(names)), np.subtract(late, low)],
        fmt="none",
        ecolor=PRINTED,
        capsize=3,
        label="one thread, at the time per entry of a run to its end",
    )
    top = max(everything + late)
    if full:
        top = max(top, PAPER_SECONDS)
        axes.axhline(
            PAPER_SECONDS, color="black", linewidth=0.8, linestyle="--", label="paper, one thread: 765 s"
        )
    axes.set(
        yscale="log",
        ylim=(min(everything) / 4, top * (60 if full else 8)),
        title="Time",
        xlabel="demand profile",
        ylabel="seconds",
    )
    axes.set_xticks(range(len(names)), names)
    axes.legend(loc="upper left", fontsize=8, frameon=False)


def _draw_growth(
    axes: Axes, runs: list[Growth], default: Measured, full: bool
) -> dict[int, tuple[float, float, float]]:
    """Draw seconds against resources; exponents of entries touched, Algorithm 1 and EDRF by events, by ratio."""
    slopes: dict[int, tuple[float, float, float]] = {}
    lines: dict[str, list[Line2D]] = {PRINTED: [], EVENTS: []}
    for ratio, marker in zip(RATIOS, MARKERS, strict=True):
        here = [run for run in runs if run.ratio == ratio]
        ended = [run for run in here if run.rounds_run]
        # The last three sizes: overheads show in small ones.
        large, far = ended[-3:], here[-3:]
        slopes[ratio] = (
            exponent([run.resources for run in large], [run.touched for run in large]),
            exponent([run.resources for run in large], [run.seconds for run in large]),
            exponent([run.resources for run in far], [run.edrf_seconds for run in far]),
        )
        for group, key, colour, name, slope in (
            (ended, "seconds", PRINTED, "Algorithm 1", slopes[ratio][1]),
            (here, "edrf_seconds", EVENTS, "EDRF by events", slopes[ratio][2]),
        ):
            lines[colour] += axes.loglog(
                [run.resources for run in group],
                [getattr(run, key) for run in group],
                "-",
                marker=marker,
                color=colour,
                markersize=5,
                label=f"{name}, {ratio} : 1; slope {slope:.2f}",
            )
    if full:
        n_resources = scale(full)[1]
        for column, seconds, marker, colour, label in (
            (PRINTED, default.seconds("one thread"), "D", PRINTED, "Algorithm 1, 10 : 1; counted × measured"),
            (EVENTS, PAPER_SECONDS, "*", "black", f"paper, 10 : 1; {PAPER_SECONDS} s"),
        ):
            fill = "full" if marker == "*" else "none"
            lines[column] += axes.plot(
                n_resources, seconds, marker, color=colour, markersize=8, fillstyle=fill, label=label
            )
    low, high = axes.get_ylim()
    axes.set(
        ylim=(low, high * 40),
        xlabel="resources",
        ylabel="seconds",
        title="Time against scale; tenants : resources; profile G0",
    )
    axes.legend(
        handles=[line for column in lines.values() for line in column],
        loc="upper left",
        ncols=2,
        fontsize=8,
        frameon=False,
        columnspacing=1.0,
    )
    sizes = sorted({run.resources for run in runs})
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes], fontsize="small")
    axes.set_xticks([], minor=True)
    axes.grid(alpha=0.3)
    return slopes
