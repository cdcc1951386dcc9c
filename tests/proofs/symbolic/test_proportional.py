"""Closed forms of proportional fairness, by the conditions of Karush, Kuhn and Tucker and by the policy."""

import random
from fractions import Fraction

import pytest
import sympy

from fairness import ProportionalFair, allocate
from proofs.errors import ProofError
from proofs.symbolic import SymbolicProblem, closed_form
from tests.proofs.symbolic.grids import assert_is_the_policy, talk

F = Fraction
THREE = [["a", 1], [2, 1], [1, 4]]
"""a = 4: the talk's example of a difference with BMF."""


def assert_optimal(form, point):
    """Prices, tasks and their products are those of the definition, exactly."""
    tasks, cell = form.at(point)
    exact = form.problem.values(point)
    demands = form.problem.demands.subs(exact)
    prices = [sympy.sympify(p).subs(exact) for p in cell.prices]
    tasks = [sympy.Rational(t.numerator, t.denominator) if isinstance(t, F) else t for t in tasks]
    zero = []
    for i, task in enumerate(tasks):
        mass = sympy.sympify(form.problem.counts[i] * form.problem.weights[i]).subs(exact)
        assert task > 0
        zero.append(task * sum(p * a for p, a in zip(prices, demands[i, :], strict=True)) - mass)
    for j, price in enumerate(prices):
        left = sympy.sympify(form.problem.capacities[j]).subs(exact) - sum(
            t * a for t, a in zip(tasks, demands[:, j], strict=True)
        )
        assert price >= 0
        zero.append(price * left)
        zero += [left] if j in cell.full else []
        assert sympy.simplify(left) >= 0
    assert all(sympy.simplify(z) == 0 for z in zero)


@pytest.mark.long
def test_talk_in_letters_at_random_points():
    form = talk(ProportionalFair())
    assert [cell.full for cell in form.cells] == [(0,), (1,), (0, 1)]
    assert form.complete.startswith("proved by")
    assert form.disjoint.startswith("proved by")
    assert_is_the_policy(form, ProportionalFair(), 1.0)
    for x in (1, 2, F(1, 9), 9):
        assert_optimal(form, {"a": F(1, 3), "b": F(1, 5), "x": x, "y": 2})


@pytest.mark.long
def test_three_classes_have_square_roots():
    form = closed_form(SymbolicProblem(THREE, [1, 1], assume="a > 0"), ProportionalFair())
    assert form.complete == "proved by sign tables"
    assert form.disjoint.startswith("proved by")
    root = sympy.sqrt(39)
    expected = (-F(1, 10) + root / 30, F(9, 14) - root / 14, F(4, 35) + root / 105)
    assert all(sympy.simplify(t - s) == 0 for t, s in zip(form.at({"a": 4})[0], expected, strict=True))
    # At a = 1 the polynomial of the price is linear; at 3/4 the second price begins.
    for a in (F(3, 4), 1, 2):
        assert_optimal(form, {"a": a})
    assert_is_the_policy(form, ProportionalFair(), 10.0, states=1)


def test_without_letters():
    """[[3,1],[2,1],[1,3]]: (.13188, .18899, .22638); and the talk's 2 x 2 and 3 x 3 examples."""
    three = closed_form(SymbolicProblem([[3, 1], [2, 1], [1, 3]], [1, 1]), ProportionalFair())
    assert [f"{float(t):.5f}" for t in three.at({})[0]] == ["0.13188", "0.18899", "0.22638"]
    assert_optimal(three, {})
    for demands, tasks, prices in (
        ([[1, 3], [3, 2]], (F(1, 6), F(1, 4)), (0, 2)),
        ([[1, 3], [4, 2]], (F(1, 5), F(1, 5)), (F(1, 2), F(3, 2))),
        ([[1, 1, 1], [2, 1, F(3, 2)], [1, 2, F(3, 2)]], (F(1, 3), F(2, 9), F(2, 9)), (0, 0, 3)),
    ):
        form = closed_form(SymbolicProblem(demands, [1] * len(demands[0])), ProportionalFair())
        (cell,) = form.cells
        assert form.at({})[0] == tasks
        assert cell.prices == tuple(map(sympy.sympify, prices))


def test_line_of_two_links():
    """Massoulie and Roberts' line: the long route gets x/(x + y + z), each short one the rest of its link."""
    pool = SymbolicProblem(
        [[1, 1], [1, 0], [0, 1]], [1, 1], ["x", "y", "z"], assume=["x > 0", "y > 0", "z > 0"]
    )
    (cell,) = closed_form(pool, ProportionalFair()).cells
    x, y, z = pool.letters
    expected = (x / (x + y + z), (y + z) / (x + y + z), (y + z) / (x + y + z))
    assert all(sympy.simplify(t - s) == 0 for t, s in zip(cell.tasks, expected, strict=True))


@pytest.mark.long
@pytest.mark.parametrize(
    ("demands", "assume", "counts"),
    [
        ([["a", 1, 2], [2, 1, 1], [1, 4, 1]], ["a > 0"], 1),
        # At q = 1 the polynomial of the price, which is called q too, has degree 1.
        ([["q", 1, "1/6"], [2, 1, "1/2"], [1, 4, "1/2"]], ["q > 0"], 1),
        ([["a", 1, 1], [1, "a", 1], [1, 1, "a"]], ["a > 0"], 1),
        ([["a", 1, 1], [1, "a", 1]], ["a >= 0"], 1),
        (THREE, ["a > 0", "x > 0"], ["x", 1, 1]),
        ([[1, 1], [2, 2], ["a", 1], [1, "a"]], ["a > 0", "x > 0"], ["x", 1, 2, 1]),
    ],
    ids=["third resource", "lower degree", "circulant", "two on three", "counts", "alike classes"],
)
def test_cells_against_the_definition(demands, assume, counts):
    form = closed_form(
        SymbolicProblem(demands, [1] * len(demands[0]), counts, assume=assume), ProportionalFair()
    )
    assert form.complete.startswith("proved by")
    assert form.disjoint.startswith("proved by")
    names = [letter.name for letter in form.problem.letters]
    for k in range(1, 13):
        assert_optimal(
            form, {name: F(k, 4) if place == 0 else F(13 - k, 3) for place, name in enumerate(names)}
        )
    assert_is_the_policy(form, ProportionalFair(), 10.0, states=30)


def random_pool(seed):
    """Fractions as demands of two or three classes and resources, and one letter."""
    rng = random.Random(f"0 {seed}")
    n, m = rng.choice([(3, 2), (2, 2), (2, 3)])
    rows = [[F(rng.randint(1, 9), rng.choice([1, 2, 3, 4, 8])) for _ in range(m)] for _ in range(n)]
    rows[rng.randrange(n)][rng.randrange(m)] = "a"
    return SymbolicProblem(rows, [1] * m, assume="a > 0")


def assert_is_allocated(pool, *points):
    """Tasks at points are those of the library; floats, so to 1e-9."""
    form = closed_form(pool, ProportionalFair())
    for point in points:
        tasks = [float(task) for task in form.at(point)[0]]
        assert tasks == pytest.approx(allocate(pool.at(point)[0], ProportionalFair()).tasks, rel=1e-9)


@pytest.mark.parametrize("seed", [0, 1, 2, *(pytest.param(k, marks=pytest.mark.long) for k in range(3, 20))])
def test_fractions_as_demands(seed):
    assert_is_allocated(random_pool(seed), {"a": F(1, 3)}, {"a": 2})


@pytest.mark.long
@pytest.mark.parametrize(
    ("demands", "assume", "full"),
    [
        ([[5, 1, 4], [3, 1, "a"], [2, 6, 3]], ["2 < a < 3"], {(0, 1), (0, 1, 2), (0, 2), (2,)}),
        ([[1, 6, 1], [1, 2, "a"], [5, 2, "b"]], ["2 < a < 3", "2 < b < 3"], {(0, 1), (0, 1, 2)}),
    ],
    ids=["one letter, sqrt(57)", "two letters, sqrt(79)"],
)
def test_roots_of_numbers_are_no_coefficients(demands, assume, full):
    """Two resources fill as sqrt(57) or sqrt(79) says, whatever the letters of the third are."""
    pool = SymbolicProblem(demands, [1, 1, 1], assume=assume)
    form = closed_form(pool, ProportionalFair())
    assert {cell.full for cell in form.cells} == full
    assert any(task.has(sympy.sqrt(57), sympy.sqrt(79)) for cell in form.cells for task in cell.tasks)
    names = [letter.name for letter in pool.letters]
    assert_is_allocated(pool, *({name: F(80 + 7 * k, 40) for name in names} for k in range(1, 6)))


@pytest.mark.long
def test_degree_three_is_refused_unless_it_cannot_occur():
    four = [[4, 1], [2, 1], [1, 4], [1, "a"]]
    with pytest.raises(
        ProofError, match="resource 1 and resource 2 are roots of a polynomial of degree 3: PF has"
    ):
        closed_form(SymbolicProblem(four, [1, 1], assume="1 < a < 2"), ProportionalFair())
    form = closed_form(
        SymbolicProblem([["a", 1], [2, 1], [1, 4], [1, 3]], [1, 1], assume="0 < a < 1/2"), ProportionalFair()
    )
    (cell,) = form.cells
    assert cell.full == (1,)
    assert cell.tasks == (F(1, 4), F(1, 4), F(1, 16), F(1, 12))
