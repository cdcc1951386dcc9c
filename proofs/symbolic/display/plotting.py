"""Pictures of closed forms: cells over two letters, tasks over one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import sympy

from fairness.display.colours import part_colour, part_line
from fairness.display.drawing import bars, given_axes, legend_beside
from fairness.display.lettering import LINE, label
from fairness.errors import ModelError
from proofs.symbolic.cells import Cell
from proofs.symbolic.decisions.formulas import Formula, conjunction, exact, negated
from proofs.symbolic.display.areas import Areas, areas_of
from proofs.symbolic.display.lettering import latex, written
from proofs.symbolic.model.problem import SymbolicProblem
from proofs.symbolic.model.reading import numbers_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["areas_of_cells", "draw_cell", "plot_cells"]

POINTS = 301
"""Of the curves over one letter."""


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


def plot_cells(form: Form, ax: Axes | None, x: Any, y: Any, at: Mapping[Any, Any] | None) -> Axes:
    """The cells of a form over two letters, or its tasks over one."""
    names = [symbol.name for symbol in form.problem.letters]
    told = numbers_of("at", at or {}, form.problem.letters, all_of_them=False)
    fixed = {symbol.name: _rational(value) for symbol, value in told.items()}
    axes = {which: getattr(v, "name", v) for which, v in (("x", x), ("y", y)) if v is not None}
    for which, name in axes.items():
        if name not in names:
            raise ModelError.of(which, f"names {name!r}; the letters are {', '.join(names) or 'none'}")
    free = [name for name in names if name not in fixed]
    over = list(dict.fromkeys([*axes.values(), *free]))[: 1 if len(free) == 1 and len(axes) < 2 else 2]
    ax = given_axes(ax)
    if not over:
        tasks = form.at({})[0]
        return bars(ax, form.problem.class_names, [float(t) for t in tasks], ylabel="tasks")
    inside = next(iter(form.problem.ground.points), {})
    values = {name: fixed.get(name, inside.get(name, Fraction(1))) for name in names if name not in over}
    others = [f"{name} = {float(value):g}" for name, value in values.items()]
    ax.set(xlabel=label(over[0]), title=label(", ".join([form.policy_name, *others])))
    ranges = [_range(form, name) for name in over]
    if len(over) == 1:
        places = np.linspace(*ranges[0], POINTS)
        numbers = {name: float(value) for name, value in values.items()}
        paths = form.lambdify(*names)(*({**numbers, over[0]: places}[name] for name in names)).T
        for k, (name, path) in enumerate(zip(form.problem.class_names, paths, strict=True)):
            ax.plot(places, path, label=label(name), **part_line(k))
        ax.set_ylabel("tasks")
        legend_beside(ax)
        return ax
    ax.set(xlim=ranges[0], ylabel=label(over[1]), ylim=ranges[1])
    return _cells(form, ax, areas_of_cells(form, over, values, ranges))


def areas_of_cells(
    form: Form, over: Sequence[str], values: Mapping[str, Fraction], window: Sequence[tuple[float, float]]
) -> list[Areas]:
    """Where each cell is in a rectangle of two letters, the others having values.

    Where cells overlap it is the first. Conditions on free letters, which pick one of many allocations, are
    left out.
    """
    mine = {symbol.name: symbol for symbol in form.problem.letters}
    told = {mine[name]: sympy.Rational(value) for name, value in values.items()}
    known = conjunction([relation.subs(told) for relation in form.problem.assumptions])
    found, earlier = list[Areas](), list[Formula]()
    for cell in form.cells:
        conditions = [c.subs(told) for c in cell.conditions if not c.free_symbols & set(cell.free)]
        here: Formula = ("and", conjunction(conditions))
        formula = ("and", (*known, here, *map(negated, earlier)))
        found.append(areas_of(formula, (mine[over[0]], mine[over[1]]), tuple(window)))
        earlier.append(here)
    return found


def draw_cell(ax: Axes, areas: Areas, colour: str, *, alpha: float = 0.55) -> None:
    """A cell in its colour within white borders; as a line or a dot where it is no more."""
    areas.fill(ax, facecolor=colour, alpha=alpha)
    thin = {"color": colour, "alpha": alpha, "solid_capstyle": "butt"}
    for line, _ in areas.borders:
        ax.plot(*line.T, **({"color": "white"} if areas.polygons else thin), linewidth=1.5)
    for point in areas.points:
        ax.plot(*point, "o", color=colour, alpha=alpha)


def _rational(value: Any) -> Fraction:
    """A number of sympy as a fraction; an irrational one as its float, which looks the same."""
    return exact(value) if value.is_Rational else Fraction(float(value))


def _range(form: Form, name: str) -> tuple[float, float]:
    """Where a letter is drawn: from 0, or the other side as far, to 1 or 2 as the assumptions allow."""
    seen = [float(point[name]) for point in form.problem.ground.points if name in point] or [0.0, 2.0]
    high = 1.0 if max(seen) < 1 else 2.0
    return (0.0 if min(seen) >= 0 else -high), high


def _cells(form: Form, ax: Axes, found: Sequence[Areas]) -> Axes:
    from matplotlib.patches import Patch

    patches = []
    # Lines and dots last, so that no border lies on them.
    for k, areas in sorted(enumerate(found), key=lambda pair: not pair[1].polygons):
        draw_cell(ax, areas, part_colour(k))
    for k, areas in enumerate(found):
        if not areas.empty:
            patches.append(Patch(color=part_colour(k), alpha=0.55, label=_legend(form, k)))
    if patches:
        # Below the label of the axis, as formulas are long.
        names = form.problem.class_names
        title = label(f"tasks of {', '.join(names)}" if len(names) <= 4 else "tasks by class")
        place = {"bbox_to_anchor": (0, 0), "borderaxespad": 5.0, "ncols": 1}
        legend_beside(ax, 2 * LINE, handles=patches, title=title, **place)
    return ax


def _legend(form: Form, k: int) -> str:
    """The tasks in a cell: as formulas, or as text, which can be folded, where one is long."""
    tasks = form.cells[k].tasks
    plain = [written(task) for task in tasks]
    if max(map(len, plain)) > 2 * LINE:
        return label(f"{k + 1}: {', '.join(plain)}")
    between = ",  " if sum(map(len, plain)) <= 2 * LINE else ",\n     "
    # Fractions as large as on a line of their own.
    formulas = (latex(task).replace(r"\frac", r"\dfrac") for task in tasks)
    return f"{k + 1}: {between.join(f'${formula}$' for formula in formulas)}"
