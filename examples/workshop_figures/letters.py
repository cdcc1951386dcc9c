"""The talk's two jobs with letters for all numbers: closed forms by cells (figure 13)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import sympy
from matplotlib.patches import Patch
from scipy import ndimage

from examples.gallery import EXACT, Check, Page, Table
from examples.workshop_figures.saturation import SATURATED
from fairness import DRF, BottleneckMax, ProportionalFair
from proofs.symbolic import ClosedForm, SymbolicProblem, closed_form
from proofs.symbolic.display.lettering import balanced, latex
from proofs.symbolic.display.plotting import areas_of_cells, draw_cell

__all__ = ["closed_forms"]

FULL = {(0,): 1, (1,): 2, (0, 1): 3}
"""Colour of figure 3 by the resources that a cell fills."""
SHADE = 0.75
SAME = {"a": 1, "d": 1, "x": 1, "y": 1}
"""What the pictures hold fixed: one job of each class, and the demand of its own resource."""


def closed_forms(*, full: bool) -> Page:
    """Figure 13: DRF, PF and BMF of two classes on two resources, in letters."""
    letters = [f"{v} > 0" for v in ("a", "b", "c", "d", "x", "y")]
    pool = SymbolicProblem(
        [["a", "b"], ["c", "d"]], [1, 1], ["x", "y"], assume=letters, resource_names=["CPU", "RAM"]
    )
    forms = {
        policy.name: closed_form(pool, policy) for policy in (DRF(), ProportionalFair(), BottleneckMax())
    }
    figure = plt.figure(figsize=(14, 10.2), layout="constrained")
    pictures, texts = figure.subfigures(2, 1, height_ratios=[1.15, 1])
    points = 400 if full else 200
    located = {}
    for ax, (name, form) in zip(pictures.subplots(1, 3), forms.items(), strict=True):
        located[name] = _picture(ax, form, points)
        ax.set_title(f"{name}: {len(form.cells)} cells, at {' = '.join(SAME)} = 1")
    handles = [
        Patch(color=shade, alpha=SHADE, label=label)
        for shade, label in zip(
            SATURATED.values(), ("only CPU full", "only RAM full", "both full"), strict=True
        )
    ]
    pictures.legend(handles=handles, loc="outside lower center", ncols=3)
    for ax, name, title in zip(
        texts.subplots(1, 2, width_ratios=[1.12, 1]), ("DRF", "BMF"), ("DRF", "PF = BMF"), strict=True
    ):
        _written(ax, forms[name], title)
    states = 1000 if full else 500
    return Page(
        "fig13_closed_forms",
        "13. Two jobs in letters",
        'Slides "Example" under dominant resource, proportional and bottleneck-max fairness, with letters for the numbers.',
        "A task of the first class needs a CPU and b RAM, one of the second c and d, of capacities 1; x and y jobs are present. "
        "Below, the tasks as expressions of these letters, each where its conditions hold; above, the cells for a = d = 1 and "
        "one job of each class, with the same numbers. Under DRF one resource is full everywhere but on borders; PF and BMF have the same cells, "
        "and both resources full wherever each class asks for enough of the resource that the other needs.",
        figure,
        {f"cells of {name}": numbers for name, numbers in located.items()},
        _checks(forms, states),
        [
            Table(
                "who says that the cells cover all values and do not overlap",
                ("policy", "complete", "disjoint"),
                [(name, form.complete, form.disjoint) for name, form in forms.items()],
            )
        ],
        {f"{name} in LaTeX": form.to_latex() for name, form in forms.items()},
    )


def _picture(ax: plt.Axes, form: ClosedForm, points: int) -> np.ndarray:
    """Draw the cells over b and c; the number of the cell at each point."""
    sides = (np.arange(points) + 0.5) * 2 / points
    b, c = np.meshgrid(sides, sides)
    names = [letter.name for letter in form.problem.letters]
    values = [{"b": b, "c": c}.get(name, SAME.get(name)) for name in names]
    found = form.located(*names)(*values)
    fixed = {name: Fraction(value) for name, value in SAME.items()}
    areas = areas_of_cells(form, ("b", "c"), fixed, [(0, 2), (0, 2)])
    for cell, area in sorted(zip(form.cells, areas, strict=True), key=lambda pair: not pair[1].polygons):
        draw_cell(ax, area, SATURATED[FULL[cell.full]], alpha=SHADE)
    for k, cell in enumerate(form.cells):
        parts, number = ndimage.label(found == k)
        for part in range(1, number + 1):
            # Where most of the cell is around: the text stands there.
            depth = ndimage.distance_transform_edt(np.pad(parts == part, 1))[1:-1, 1:-1]
            row, column = np.unravel_index(depth.argmax(), depth.shape)
            if depth.max() > 0.08 * points:
                at = {letter: SAME[letter.name] for letter in form.problem.letters if letter.name in SAME}
                tasks = r",\; ".join(latex(sympy.factor(task.subs(at))) for task in cell.tasks)
                text = f"({k + 1})\n${tasks}$"
                ax.text(sides[column], sides[row], text, ha="center", va="center", fontsize=12)
    ax.set(
        xlabel="b (RAM of a task of class 1)", ylabel="c (CPU of a task of class 2)", xlim=(0, 2), ylim=(0, 2)
    )
    return found


def _written(ax: plt.Axes, form: ClosedForm, title: str) -> None:
    """The form as formulas, one line a cell."""
    ax.set_axis_off()
    ax.set_title(f"{title}: tasks of class 1, of class 2, with x and y jobs of them", loc="left")
    step = 1.0 / 6
    for k, cell in enumerate(form.cells):
        height = 1 - (k + 0.55) * step
        tasks = r", \;\; ".join(map(latex, cell.tasks))
        ax.text(0, height, f"({k + 1})", va="center", fontsize=11)
        ax.text(0.06, height, f"${tasks}$", va="center", fontsize=14)
        where = [f"${latex(balanced(condition))}$" for condition in cell.conditions]
        ax.text(0.36, height, "if  " + "\nand  ".join(where), va="center", fontsize=11, linespacing=1.5)


def _checks(forms: dict[str, ClosedForm], states: int) -> list[Check]:
    f = Fraction
    examples = {
        (1, 3, 3, 2): {"DRF": (f(1, 5), f(1, 5)), "PF": (f(1, 6), f(1, 4)), "BMF": (f(1, 6), f(1, 4))},
        (1, 3, 4, 2): {"DRF": (f(2, 9), f(1, 6)), "PF": (f(1, 5), f(1, 5)), "BMF": (f(1, 5), f(1, 5))},
    }
    checks = []
    for numbers, expected in examples.items():
        for name, tasks in expected.items():
            ours, _ = forms[name].at(dict(zip("abcd", numbers, strict=True)) | {"x": 1, "y": 1})
            at = "({},{}; {},{})".format(*numbers)
            checks.append(Check(f"{name} in letters at {at}", _told(tasks), _told(ours), ours == tasks))
    for x, tasks in ((10, (f(10, 11), f(10, 11))), (30, (f(30, 31), f(10, 31)))):
        ours, _ = forms["BMF"].at({"a": 1, "b": "0.1", "c": "0.1", "d": 1, "x": x, "y": 1})
        statement = f"BMF in letters at (1,.1; .1,1) with {x} jobs and 1"
        checks.append(Check(statement, _told(tasks), _told(ours), ours == tasks))
    cells = {
        name: [(set(cell.conditions), cell.tasks, cell.full) for cell in form.cells]
        for name, form in forms.items()
    }
    same = cells["PF"] == cells["BMF"]
    checks.append(
        Check("PF and BMF of two classes", "the same cells", "the same" if same else "others", same)
    )
    for name, form in forms.items():
        proved = form.complete.startswith("proved") and form.disjoint.startswith("proved")
        said = f"complete: {form.complete}; disjoint: {form.disjoint}"
        checks.append(Check(f"cells of {name}", "complete and disjoint, proved", said, proved))
        error = _largest_error(form, states)
        statement = f"{name} at {20 * states} random points, in letters and by the policy"
        checks.append(Check(statement, "equal", f"relative error {error:.0e}", error < EXACT))
    return checks


def _told(tasks: Any) -> str:
    return "(" + ", ".join(map(str, tasks)) + ")"


def _largest_error(form: ClosedForm, states: int) -> float:
    """Largest relative difference to the numeric policy: 20 pools, and counts between 1/20 and 20."""
    rng = np.random.default_rng(17)
    function, largest = form.lambdify("a", "b", "c", "d", "x", "y"), 0.0
    for demands in np.exp(rng.uniform(np.log(0.05), np.log(20), (20, 4))):
        counts = np.exp(rng.uniform(np.log(0.05), np.log(20), (states, 2)))
        point = dict(zip("abcd", demands, strict=True)) | {"x": 1, "y": 1}
        computed = form.policy(form.problem.at(point)[0], counts)
        largest = max(largest, float(np.abs(function(*demands, *counts.T) / computed - 1).max()))
    return largest
