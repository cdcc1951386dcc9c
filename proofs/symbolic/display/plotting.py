"""Pictures of closed forms: cells over two letters, tasks over one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from fairness.display.colours import part_colour, part_line
from fairness.display.drawing import bars, given_axes, legend_beside
from fairness.display.lettering import label
from fairness.errors import ModelError
from proofs.symbolic.cells import Cell
from proofs.symbolic.model.problem import SymbolicProblem
from proofs.symbolic.model.reading import expression

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_cells"]

POINTS = 301
"""Along each axis."""


class Form(Protocol):
    """What a picture needs of a closed form."""

    @property
    def problem(self) -> SymbolicProblem:
        """The problem with its letters."""

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells."""

    @property
    def policy_name(self) -> str:
        """Name of the policy."""

    def at(self, values: Mapping[Any, Any]) -> tuple[tuple[Any, ...], Cell]:
        """Tasks and cell at exact values."""

    def lambdify(self, *letters: Any) -> Callable[..., np.ndarray]:
        """Tasks as a function of arrays."""

    def located(self, *letters: Any) -> Callable[..., np.ndarray]:
        """Numbers of cells as a function of arrays."""


def plot_cells(form: Form, ax: Axes | None, x: Any, y: Any, at: Mapping[Any, Any] | None) -> Axes:
    """The cells of a form over two letters, or its tasks over one."""
    names = [symbol.name for symbol in form.problem.letters]
    fixed = {getattr(k, "name", k): float(expression(v, "at", k)) for k, v in (at or {}).items()}
    axes = {which: getattr(v, "name", v) for which, v in (("x", x), ("y", y)) if v is not None}
    for which, name in (*axes.items(), *(("at", name) for name in fixed)):
        if name not in names:
            raise ModelError.of(which, f"names {name!r}; the letters are {', '.join(names) or 'none'}")
    free = [name for name in names if name not in fixed]
    over = list(dict.fromkeys([*axes.values(), *free]))[: 1 if len(free) == 1 and len(axes) < 2 else 2]
    ax = given_axes(ax)
    if not over:
        tasks = form.at({})[0]
        return bars(ax, form.problem.class_names, [float(t) for t in tasks], ylabel="tasks")
    inside = next(iter(form.problem.ground.points), {})
    values: dict[str, Any] = {name: fixed.get(name, float(inside.get(name, 1))) for name in names}
    others = [f"{name} = {values[name]:g}" for name in names if name not in over]
    ax.set(xlabel=label(over[0]), title=label(", ".join([form.policy_name, *others])))
    ranges = [np.linspace(*_range(form, name), POINTS) for name in over]
    if len(over) == 1:
        values[over[0]] = ranges[0]
        paths = form.lambdify(*names)(*values.values()).T
        for k, (name, path) in enumerate(zip(form.problem.class_names, paths, strict=True)):
            ax.plot(ranges[0], path, label=label(name), **part_line(k))
        ax.set_ylabel("tasks")
        legend_beside(ax)
        return ax
    grid = np.meshgrid(*ranges)
    values |= dict(zip(over, grid, strict=True))
    ax.set_ylabel(label(over[1]))
    return _areas(form, ax, ranges, form.located(*names)(*values.values()))


def _range(form: Form, name: str) -> tuple[float, float]:
    """Where a letter is drawn: from 0, or the other side as far, to 1 or 2 as the assumptions allow."""
    seen = [float(point[name]) for point in form.problem.ground.points if name in point] or [0.0, 2.0]
    high = 1.0 if max(seen) < 1 else 2.0
    return (0.0 if min(seen) >= 0 else -high), high


def _areas(form: Form, ax: Axes, ranges: list[np.ndarray], found: np.ndarray) -> Axes:
    from matplotlib.colors import BoundaryNorm, ListedColormap
    from matplotlib.patches import Patch

    seen = [k for k in range(len(form.cells)) if (found == k).any()]
    colours = [part_colour(k) for k in range(len(form.cells))]
    shown = np.ma.masked_less(found, 0)
    norm = BoundaryNorm(np.arange(len(colours) + 1) - 0.5, len(colours))
    ax.pcolormesh(
        *ranges,
        shown,
        cmap=ListedColormap(colours),
        norm=norm,
        alpha=0.55,
        shading="nearest",
        rasterized=True,
    )
    for k in seen:
        if len(seen) > 1:
            ax.contour(*ranges, (found == k).astype(float), levels=[0.5], colors="white", linewidths=1.0)
    ax.set(xlim=(ranges[0][0], ranges[0][-1]), ylim=(ranges[1][0], ranges[1][-1]))
    patches = [Patch(color=colours[k], alpha=0.55, label=label(_legend(form, k))) for k in seen]
    if patches:
        below = {"fontsize": "x-small", "bbox_to_anchor": (0, -0.15), "ncols": 1}  # formulas are long
        legend_beside(ax, handles=patches, **below)
    return ax


def _legend(form: Form, k: int) -> str:
    return f"{k + 1}: {', '.join(map(str, form.cells[k].tasks))}"
