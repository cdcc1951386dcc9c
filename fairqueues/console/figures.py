"""Figures that no single result of the library draws: several methods side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from fairness.catalogue import coloured
from fairness.display.colours import NEUTRAL
from fairness.display.drawing import panels
from fairness.display.lettering import label
from fairness.display.lines import line_styles
from fairness.display.units import with_unit

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

__all__ = ["class_bars", "drawn", "sweep_lines"]


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
    from matplotlib.figure import Figure

    from capacity.curves.result import CAPTIONS

    figure = Figure(
        figsize=(max(6.4, 0.9 * len(classes) * (1 + 0.2 * len(values))), 4.8), layout="constrained"
    )
    ax = figure.add_subplot()
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
    figure.legend(loc="outside upper center", ncols=4)
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
    across = 2 * min(len(axes), 3)
    figure.legend(handles=handles, loc="outside upper center", ncols=across)
    return figure
