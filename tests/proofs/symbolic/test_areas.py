"""Areas, borders and points of two letters against the formula itself at random points."""

import random
from fractions import Fraction

import numpy as np
import pytest
import sympy
from matplotlib.colors import to_rgb
from matplotlib.path import Path

from fairness import DRF
from fairness.display.colours import part_colour
from proofs.symbolic import ClosedForm, SymbolicProblem, where
from proofs.symbolic.cells import Cell
from proofs.symbolic.decisions.formulas import holds, relation_of
from proofs.symbolic.display.areas import areas_of
from proofs.symbolic.display.special_points import special_points
from proofs.symbolic.model.reading import letter
from proofs.symbolic.parameters.answer import Parameters

LETTERS = sympy.symbols("a b")
A, B = LETTERS
WINDOW = ((-2.0, 2.0), (-2.0, 3.0))
FORMULAS = {
    "disc and line": ("or", (A**2 + B**2 <= 1, sympy.Eq(A + B, 2))),
    "parabola": ("and", (A**2 - B < 0, B < 1)),
    "cusp": A**3 - B**2 >= 0,
    "two discs": ("or", (4 * (A - 1) ** 2 + 4 * (B - 1) ** 2 <= 1, (A + 1) ** 2 + B**2 < 1)),
    "vertical line": ("or", (sympy.Eq(A, 1), B < A / 2)),
    "without a line": ("and", (A + B < 2, sympy.Ne(A, B))),
    "quadrants": A * B > 0,
}


def formula_of(text):
    return (text[0], tuple(map(formula_of, text[1]))) if isinstance(text, tuple) else relation_of(text)


def areas(name):
    formula = formula_of(FORMULAS[name])
    return formula, areas_of(formula, LETTERS, WINDOW)


@pytest.mark.parametrize("name", FORMULAS)
def test_a_random_point_is_covered_as_it_holds(name):
    """Polygons leave out slivers between a curve and its chords: points next to borders say nothing."""
    (formula, found), rng = areas(name), random.Random(1)
    lines = [line for line, _ in found.borders]
    steps = [np.linspace(line[:-1], line[1:], 20).reshape(-1, 2) for line in lines]
    near = np.concatenate(steps) if steps else np.full((1, 2), np.inf)
    tried = 0
    while tried < 300:
        point = [
            Fraction(rng.randint(1000 * low + 9, 1000 * high - 9), 1000) for low, high in ((-2, 2), (-2, 3))
        ]
        at = np.array(point, dtype=float)
        if np.abs(near - at).max(axis=1).min() < 0.02:
            continue
        tried += 1
        covered = sum(Path(p).contains_point(at) for p in found.polygons)
        assert covered == holds(formula, dict(zip("ab", point, strict=True))), point


@pytest.mark.parametrize(
    ("name", "inside"),
    [("disc and line", {True}), ("parabola", {False}), ("cusp", {True}), ("two discs", {True, False}),
     ("vertical line", {True, False}), ("without a line", {False}), ("quadrants", {False})],
)  # fmt: skip
def test_borders_say_whether_they_belong_to_it(name, inside):
    formula, found = areas(name)
    assert {belongs for _, belongs in found.borders} == inside
    for line, belongs in found.borders:
        at = dict(zip("ab", (sympy.nsimplify(x, rational=True) for x in line[len(line) // 2]), strict=True))
        sides = [
            holds(
                formula,
                {k: Fraction(int(v.p), int(v.q)) + d for (k, v), d in zip(at.items(), move, strict=True)},
            )
            for move in ((h, k) for h in (-0.01, 0.01) for k in (-0.01, 0.01))
        ]
        assert len({*sides, belongs}) > 1


def test_a_point_alone_is_a_point():
    found = areas_of(formula_of(A**2 + B**2 <= 0), LETTERS, WINDOW)
    assert (found.polygons, found.borders) == ([], [])
    assert found.points == [pytest.approx((0, 0), abs=1e-9)]


@pytest.mark.long
def test_a_picture_is_drawn_around_what_holds():
    ax = where("a + 20*b < 1", assume=["a > 0", "b > 0"]).plot()
    assert ax.get_xlim() == pytest.approx((0, 1.25), abs=0.02)
    assert ax.get_ylim() == pytest.approx((0, 0.0625), abs=0.002)
    assert where("a > 1 and a < 1/b and b > 2").plot().texts[0].get_text() == "nowhere"


@pytest.mark.parametrize(
    ("claim", "found"),
    [
        ((A - 3) ** 2 + (B - 4) ** 2 < 1, [(2, 4), (3, 3), (3, 5), (4, 4)]),
        (("and", (A > 3, B > 4)), [(3, 4)]),
        (("and", (sympy.Eq(A, 3), sympy.Eq(B, 4))), [(3, 4)]),
        (("and", (A > B, B > 2 * A, A > 1)), []),  # borders meet, but nothing holds there
        (("or", (A < 1, B < 5, B >= 5)), []),
        (B - (A - 3) ** 2 > 7, [(0, 16), (3, 7)]),
    ],
)
def test_special_points_are_those_of_what_holds(claim, found):
    points = special_points(formula_of(claim), LETTERS)
    assert sorted(points) == [pytest.approx(point, abs=1e-6) for point in found]


def answer(*cells):
    return Parameters("it", LETTERS, (), tuple(cells), None, "")


def test_the_window_shows_claims_that_never_meet_an_axis():
    ax = answer(((A - 3) ** 2 + (B - 4) ** 2 < 1,)).plot()
    assert (*ax.get_xlim(), *ax.get_ylim()) == pytest.approx((1.5, 4.5, 2.5, 5.5), abs=1e-6)
    ax = answer((A > 0, A * B > 100)).plot()
    assert ax.patches
    assert not ax.texts


def form_of(*conditions):
    """A closed form with one cell a condition, as if it had been found."""
    pool = SymbolicProblem([["a", "b"]], [1, 1], assume=["a > 0", "b > 0"])
    return ClosedForm(pool, DRF(), tuple(Cell((c,), pool.letters[:1]) for c in conditions), "", "")


def test_cells_are_drawn_up_to_their_borders():
    a, b = (letter(name) for name in "ab")
    form = form_of(sympy.Gt(b - a**2, 0), sympy.Ge(a**2 - b, 0))
    patches = [patch.get_path() for patch in form.plot().patches]
    for x in (0.301, 0.7, 1.0, 1.402):
        for away, expected in ((1e-3, [True, False]), (-1e-3, [False, True])):
            assert [path.contains_point((x, x**2 + away)) for path in patches] == expected


def test_a_cell_without_area_is_drawn_as_a_line():
    a, b = (letter(name) for name in "ab")
    ax = form_of(sympy.Eq(a - b, 0), sympy.Ge(a, 0)).plot()
    assert [patch.get_facecolor()[:3] for patch in ax.patches] == [to_rgb(part_colour(1))]
    *_, drawn = ax.lines
    assert drawn.get_color() == part_colour(0)
    np.testing.assert_allclose(*drawn.get_data(), atol=1e-8)
