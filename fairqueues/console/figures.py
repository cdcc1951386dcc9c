"""Figures of commands that no single result of the library draws: several methods side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from fairness.catalogue import coloured
from fairness.display.colours import NEUTRAL, part_line
from fairness.display.drawing import height_of, legend_above, legend_beside, name_rows, panels
from fairness.display.lettering import label
from fairness.display.lines import line_styles
from fairness.display.units import with_unit

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

    from fairqueues.console.boundaries import Boundary

__all__ = [
    "allocations",
    "class_bars",
    "drawn",
    "explanations",
    "levels",
    "multiples",
    "regions",
    "replays",
    "sweep_lines",
]

POINTS = 200
"""Times of the curves of a replay."""

STARTED = 0.99
"""Part of the tasks that have started when they end."""


def drawn(results: Iterable[Any], width: float, height: float, across: int = 3) -> Figure:
    """Results as they draw themselves, each in a panel of this size in inches."""
    listed = list(results)
    figure, axes = panels(len(listed), width, height, across)
    for ax, one in zip(axes, listed, strict=True):
        one.plot(ax)
    return figure


def class_bars(
    values: Mapping[str, ArrayLike],
    classes: Sequence[str],
    meaning: str = "",
    half_widths: Mapping[str, ArrayLike] | None = None,
) -> Figure:
    """Bars of a value (n_classes,), by default mean service rates, by method, grouped by class."""
    from capacity.curves.result import CAPTIONS

    figure, [ax] = panels(1, max(5.8, 0.9 * len(classes) * (1 + 0.2 * len(values)) - 0.6), 4.2)
    width = 0.8 / len(values)
    colours = coloured(list(values))
    for k, (name, value) in enumerate(values.items()):
        ax.bar(
            np.arange(len(classes)) + (k - (len(values) - 1) / 2) * width,
            np.nan_to_num(np.asarray(value, dtype=float)),
            width * 0.92,
            # Infinite half-widths are those of runs without an interval: no line and no caps.
            yerr=None if half_widths is None else np.where(np.isinf(wide := half_widths[name]), np.nan, wide),
            color=colours[name],
            edgecolor="black",
            linewidth=0.4,
            capsize=3,
            label=label(name),
        )
    ax.set_xticks(np.arange(len(classes)), list(map(label, classes)))
    ax.set(xlabel="job class", ylabel=label(meaning or CAPTIONS["service_rates"][1]), ylim=(0, None))
    legend_above(figure)
    return figure


def allocations(model: Any, policies: Mapping[str, Any], results: Mapping[str, Any], jobs: Any) -> Figure:
    """Two classes of a pool: the sharing polygon; else who holds how much of each resource."""
    from fairness import Problem
    from fairness.results.plotting import plot_sharing

    if isinstance(model, Problem) and model.n_classes == 2 and not model.blocked.any():
        figure, [ax] = panels(1, 5.8, 4.2)
        plot_sharing(model, policies, ax, counts=jobs)
        return figure
    return drawn(results.values(), 5.8, 2.6, across=1)


def explanations(results: Mapping[str, Any]) -> Figure:
    """Per policy who holds what stops the class, above what would change."""
    figure, axes = panels(2 * len(results), 7.4, 4.2, across=1)
    for name, why, held, changed in zip(results, results.values(), axes[::2], axes[1::2], strict=True):
        why.plot_holders(held)
        why.plot(changed)
        held.set_title(f"{name}: {held.get_title()}")
    # Room for the names of all rows.
    heights = [height_of([text.get_text() for text in ax.get_yticklabels()]) for ax in axes]
    grid: Any = axes[0].get_gridspec()
    grid.set_height_ratios(heights)
    figure.set_size_inches(8.0, sum(heights))
    return figure


def levels(results: Mapping[str, Any]) -> Figure:
    """Levels of the tenants of a cloud, sorted."""
    figure, [ax] = panels(1, 5.8, 4.2)
    for k, (name, result) in enumerate(results.items()):
        found = np.sort(result.levels)
        # A thousand points draw a million tenants.
        shown = np.unique(np.linspace(0, len(found) - 1, 1000).astype(int))
        ax.plot((shown + 1) / len(found), found[shown], label=label(name), **part_line(k))
    # A few tenants stand decades above the others.
    scale = "log" if all(result.levels.min() > 0 for result in results.values()) else "linear"
    ax.set(xlabel="part of the tenants", ylabel="level at most", xlim=(0, 1), yscale=scale)
    legend_beside(ax)
    return figure


def regions(found: Mapping[str, Any], n_classes: int, loads: Any) -> Figure:
    """Regions of two or three classes beside each other, and the loads of the file."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(1 + 5.4 * len(found), 4.8), layout="constrained")
    space: Any = {"projection": "3d"} if n_classes == 3 else {}
    for k, (name, one) in enumerate(found.items(), 1):
        ax = figure.add_subplot(1, len(found), k, **space)
        one.plot(ax, loads)
        if not ax.get_title():
            ax.set_title(label(name))
    return figure


def multiples(found: Mapping[str, Boundary], *, loads: bool) -> Figure:
    """Bars: the multiple of the mix up to which each region reaches; 1 is marked for the loads of a file."""
    figure, [ax] = panels(1, 6.4, 1.3 + 0.45 * len(found))
    inner, colours = [one.multiples[0] for one in found.values()], coloured(list(found))
    ax.barh(range(len(found)), inner, 0.6, color=list(colours.values()), edgecolor="black", linewidth=0.4)
    for where, one in enumerate(found.values()):
        ax.plot(one.multiples, [where, where], color="black", linewidth=2)
    largest = next(iter(found.values())).largest
    ax.axvline(largest, color=NEUTRAL, linewidth=2, label=f"the most that fits: {largest:.4g}")
    if loads:
        ax.axvline(1.0, color="black", linewidth=1, linestyle="--", label="loads of the file")
    ax.set(xlabel="multiple of the mix inside the region (line: bracket of its end)", xlim=(0, None))
    name_rows(ax, list(found))
    legend_above(figure, fontsize="small")
    return figure


def replays(results: Mapping[str, Any]) -> Figure:
    """Slowdowns, shares and idle capacity of each scheduler, below each other."""
    figure, axes = panels(3 * len(results), 4.8, 3.6)
    figure.set_size_inches(15.0, 3.6 * len(results))
    for one, waits, shares, idle in zip(results.values(), axes[::3], axes[1::3], axes[2::3], strict=True):
        # Until nearly all have started: the last may start long after, and others run on for long.
        started = one.starts[~np.isnan(one.starts)]
        last = np.quantile(started, STARTED) if len(started) else one.end
        paths = one.over_time(POINTS, end=float(last))
        one.plot(waits)
        paths.plot(shares, "shares")
        paths.plot(idle, "stranded")
    return figure


def sweep_lines(dataset: xr.Dataset, along: str, output: str) -> Figure:
    """Curves of one output along one parameter: a panel per class, a curve per policy.

    Other parameters are shown at each of their values, in paler curves, which the legend tells.
    """
    from matplotlib.lines import Line2D

    values = dataset[output]
    classes = list(values.job_class.values) if "job_class" in values.dims else [None]
    figure, axes = panels(len(classes), 4.0, 3.2)
    names = [str(p) for p in dataset.policy.values]
    styles = line_styles(names, coloured(names), values.sizes[along], ("balanced fairness", "bound"))
    captions = [
        with_unit(one.attrs.get("long_name", str(one.name).replace("_", " ")), one.attrs)
        for one in (dataset[along], values)
    ]
    for ax, one in zip(axes, classes, strict=True):
        shown = values if one is None else values.sel(job_class=one)
        others = [d for d in shown.dims if d not in (along, "policy")]
        flat = shown.stack(other=others) if others else shown.expand_dims("other")
        count = flat.sizes["other"]
        for name in names:
            for k in range(count):
                curve: Any = flat.sel(policy=name).isel(other=k)
                style = styles[name] | {"alpha": 1 - 0.7 * k / count} | ({"label": None} if k else {})
                ax.plot(curve[along].values, curve.values, **style)
        ax.set_title("" if one is None else label(one))
        if np.nanmin(np.append(shown.values.ravel(), np.inf)) >= 0:
            ax.set_ylim(0, None)
    handles = axes[0].get_legend_handles_labels()[0]
    if others:
        for k, at in enumerate(flat.other.values):
            told = ", ".join(
                f"{str(d).replace('_', ' ')} = {v if isinstance(v, str) else f'{v:g}'}"
                for d, v in zip(others, at, strict=True)
            )
            handles.append(Line2D([], [], color=NEUTRAL, alpha=1 - 0.7 * k / count, label=label(told)))
    figure.supxlabel(label(captions[0]), fontsize="medium")
    figure.supylabel(label(captions[1]), fontsize="medium")
    legend_above(figure, handles=handles)
    return figure
