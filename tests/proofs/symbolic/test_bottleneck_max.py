"""Closed forms of bottleneck max fairness: all allocations, by the definition and by exact enumeration."""

from fractions import Fraction

import numpy as np
import pytest
import sympy

from fairness import DRF, BottleneckMax, ModelError, ProportionalFair, all_bottleneck_max
from proofs.errors import ProofError
from proofs.symbolic import SymbolicProblem, closed_form
from tests.proofs.symbolic.grids import assert_is_the_policy, talk

F = Fraction
SEGMENT = [[1, 1, 1], ["a", 1, "c"], [1, "a", "c"]]


def vertices(cell, exact):
    """Ends of the allocations of a cell with at most one free letter, at exact values of the letters."""
    if not cell.free:
        return [_fractions(task.subs(exact) for task in cell.tasks)]
    (u,) = cell.free
    ends = []
    for condition in cell.conditions:
        left = sympy.expand((condition.lhs - condition.rhs).subs(exact))
        if left.has(u):
            ends += [(sympy.solve(left, u)[0], left.coeff(u) > 0)]
    low, high = max(e for e, below in ends if below), min(e for e, below in ends if not below)
    return [_fractions(task.subs(exact).subs(u, end) for task in cell.tasks) for end in (low, high)]


def _fractions(values):
    return tuple(F(int(v.p), int(v.q)) for v in values)


def assert_all_are_found(form, point):
    """The cells at a point are all BMF allocations there, as exact enumeration finds them."""
    problem, counts = form.problem.at(point)
    found = all_bottleneck_max(problem, counts)
    assert found.exact
    exact = form.problem.values(point)
    cells = [cell for cell in form.cells if cell.holds(exact)]
    mine = {p for cell in cells for p in vertices(cell, exact)}
    assert mine == {p for piece in found.pieces for p in piece.vertices}, point
    assert all(found.assignments_at(p) for p in mine), point


def random_points(form, size, seed):
    rng = np.random.default_rng(seed)
    values = [F(v) for v in ("1/4", "1/2", "2/3", "3/4", "1", "5/4", "3/2", "2", "3", "7/2")]
    names = [letter.name for letter in form.problem.letters]
    while size:
        point = {name: values[rng.integers(len(values))] for name in names}
        try:
            form.problem.values(point)
        except ModelError:
            continue
        size -= 1
        yield point


@pytest.mark.long
def test_talk_in_letters_at_random_points():
    form = talk(BottleneckMax())
    assert form.complete.startswith("proved by")
    assert form.disjoint.startswith("proved by")
    assert_is_the_policy(form, BottleneckMax(), 1.0)


@pytest.mark.long
def test_any_two_by_two_at_random_points():
    letters = [f"{v} > 0" for v in ("a", "b", "c", "d", "C", "D", "x", "y")]
    pool = SymbolicProblem([["a", "b"], ["c", "d"]], ["C", "D"], ["x", "y"], assume=letters)
    form = closed_form(pool, BottleneckMax())
    assert len(form.cells) == 3
    # Where only one of two maps works on parts of a cell, none is told.
    assert [cell.bottlenecks for cell in form.cells] == [(0, 0), (1, 1), None]
    assert_is_the_policy(form, BottleneckMax(), 5.0)
    assert told(form) == told(closed_form(pool, ProportionalFair()))


def told(form):
    return [(set(cell.conditions), cell.tasks, cell.full, cell.free) for cell in form.cells]


@pytest.mark.long
def test_two_classes_have_the_cells_of_proportional_fairness():
    """Those of proportional fairness are compared with the policy at random points in its own tests."""
    form = talk(BottleneckMax())
    assert [cell.bottlenecks for cell in form.cells] == [(0, 0), (1, 1), (0, 1)]
    assert told(form) == told(talk(ProportionalFair()))


@pytest.mark.long
def test_two_classes_on_any_resources_have_the_cells_of_proportional_fairness():
    pool = SymbolicProblem([[1, "a", 2], [2, 1, "a"]], [1, 1, 1], assume="a > 0")
    assert told(closed_form(pool, BottleneckMax())) == told(closed_form(pool, ProportionalFair()))


def test_the_talks_segment():
    """facts of the talk: (1 - 3u, u, u) for 1/5 <= u <= 2/9, told here by the tasks of job 1."""
    (cell,) = closed_form(
        SymbolicProblem([[1, 1, 1], [2, 1, "3/2"], [1, 2, "3/2"]], [1, 1, 1]), BottleneckMax()
    ).cells
    assert cell.bottlenecks == (2, 0, 1)
    assert cell.full == (0, 1, 2)
    assert set(vertices(cell, {})) == {(F(2, 5), F(1, 5), F(1, 5)), (F(1, 3), F(2, 9), F(2, 9))}


@pytest.mark.long
def test_the_segment_in_letters():
    """A continuum on a line of parameters only; on either side the end nearer to DRF or to PF."""
    form = closed_form(SymbolicProblem(SEGMENT, [1, 1, 1], assume=["a > 1", "c > 1/2"]), BottleneckMax())
    assert form.disjoint == "not claimed: allocations are not unique"
    assert form.complete.startswith("proved by")
    assert [len(cell.free) for cell in form.cells] == [0, 0, 1]
    for point in (
        {"a": 2, "c": F(3, 2)},
        {"a": 2, "c": 1},
        {"a": 2, "c": 2},
        {"a": 3, "c": 2},
        {"a": F(5, 4), "c": 3},
    ):
        assert_all_are_found(form, point)
    with pytest.raises(ModelError, match="not unique"):
        form.lambdify()


@pytest.mark.long
@pytest.mark.parametrize(
    ("demands", "assume"),
    [
        ([["a", 1, 2], [2, 1, 1], [1, 4, 1]], ["a >= 0"]),
        ([[1, "a", 0], [0, 1, "b"], ["a", 0, 1]], ["a > 0", "b > 0"]),
        ([["a", 1], [2, 1], [1, "b"]], ["a > 0", "b > 0"]),
        (SEGMENT, ["a > 0", "c > 0"]),
    ],
    ids=["one letter", "ring", "three on two", "segment"],
)
def test_all_allocations_against_enumeration(demands, assume):
    form = closed_form(SymbolicProblem(demands, [1] * len(demands[0]), assume=assume), BottleneckMax())
    for point in random_points(form, 10, seed=3):
        assert_all_are_found(form, point)


@pytest.mark.long
def test_published_numbers():
    """The talk's example of three jobs, a = 4; SimGrid's (1,e), (1,e), (e,1)."""
    form = closed_form(SymbolicProblem([["a", 1], [2, 1], [1, 4]], [1, 1], assume="a > 0"), BottleneckMax())
    assert form.at({"a": 4})[0] == (F(3, 29), F(6, 29), F(5, 29))
    assert_is_the_policy(form, BottleneckMax(), 10.0, states=1)
    (cell,) = closed_form(
        SymbolicProblem([[1, "e"], [1, "e"], ["e", 1]], [1, 1], assume="0 < e < 1/2"), BottleneckMax()
    ).cells
    e = sympy.Symbol("e", real=True)
    expected = (1 / (2 + 2 * e), 1 / (2 + 2 * e), 1 / (1 + e))
    assert all(sympy.simplify(t - s) == 0 for t, s in zip(cell.tasks, expected, strict=True))


@pytest.mark.long
def test_one_formula_for_neighbours():
    """The cells a < 1, a = 1 and a > 1 have one formula, and become one cell."""
    form = closed_form(SymbolicProblem([["a", 1], [1, "a"]], [1, 1], assume="a > 0"), BottleneckMax())
    (cell,) = form.cells
    assert cell.conditions == ()
    assert form.at({"a": 1})[0] == (F(1, 2), F(1, 2))
    assert closed_form(form.problem, DRF()).at({"a": 3})[0] == form.at({"a": 3})[0]


def test_too_many_maps_are_refused():
    pool = SymbolicProblem([["a", 1, 1, 1]] * 9, [1] * 4, assume="a > 0")
    with pytest.raises(ProofError, match=r"262,144 maps of classes to bottlenecks, more than 100,000"):
        closed_form(pool, BottleneckMax())
