"""Closed forms of filling policies are the numeric policies, at random points and at exact ones."""

from fractions import Fraction

import numpy as np
import pytest

from fairness import DRF, AssetFair, MaxMin, ModelError, NotConvergedError, Problem, allocate
from proofs.symbolic import Cell, SymbolicProblem, closed_form
from proofs.symbolic.display.lettering import said
from proofs.symbolic.model.reading import letter, relations
from proofs.symbolic.policies.simplifying import joined
from tests.proofs.symbolic.pools import TALK, numeric_tasks, random_values

POINTS = 10_000
ENTITLED = [[0.5, 0.5], [0.25, 0.75]]
POLICIES = {
    "MMF": (MaxMin(), lambda size: MaxMin()),
    "DRF": (DRF(), lambda size: DRF()),
    "Asset": (AssetFair(), lambda size: AssetFair()),
    # Weights on the resources of other pools do not matter.
    "EDRF": (DRF(ENTITLED), lambda size: DRF(np.tile(ENTITLED, (size, size)))),
}
RING = [[1, "a", 0], [0, 1, "b"], ["1/2", 0, 1]]


def talk():
    """The 2 x 2 examples of the talk, in letters."""
    return SymbolicProblem([[1, "a"], ["b", 1]], [1, 1], ["x1", "x2"], assume=TALK)


def assert_is_the_policy(problem, name, points=POINTS):
    exact, numeric = POLICIES[name]
    form = closed_form(problem, exact)
    assert form.complete.startswith("proved by")
    assert form.disjoint.startswith("proved by")
    values = random_values(form, points, np.random.default_rng(7))
    symbolic, computed = form.lambdify()(*values), numeric_tasks(form, numeric, values)
    met = ~np.isnan(symbolic[:, 0])
    assert met.mean() > 0.01
    # Relative to the largest that the class could have: both round, the numeric one at each resource.
    np.testing.assert_allclose(symbolic[met], computed[met], rtol=1e-12, atol=1e-12 * computed[met].max())
    seen = form.located()(*values)
    assert set(seen[met]) == set(range(len(form.cells)))
    return form


@pytest.mark.parametrize("name", ["MMF", "DRF", "Asset", pytest.param("EDRF", marks=pytest.mark.long)])
def test_two_classes_on_two_resources(name):
    assert_is_the_policy(talk(), name)


THREE = {
    "chain": lambda: SymbolicProblem(
        [[1, 0], ["b", 1], [0, 1]], ["C", "D"], ["x", "y", "z"],
        assume=["b > 0", "x > 0", "y > 0", "z > 0", "C > 0", "D > 0"],
    ),
    "weights": lambda: SymbolicProblem(
        [[1, "a"], ["b", 1], [1, "c"]], [1, 1], weights=["u", "v", 1],
        assume=["a > 0", "b > 0", "c > 0", "u > 0", "v > 0"],
    ),
    "ring": lambda: SymbolicProblem(RING, [1, 1, 1], assume=["a > 0", "b > 0"]),
    "ring with counts": lambda: SymbolicProblem(
        RING, [1, 1, 1], ["x", 2, 1], assume=["0 < a < 1", "0 < b < 1", "x > 0"]
    ),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize(
    ("problem", "name"),
    [
        *(("chain", name) for name in ("MMF", "DRF", "Asset")),
        *(("weights", "MMF"), ("weights", "DRF"), ("ring", "DRF"), ("ring with counts", "Asset")),
    ],
)
def test_three_classes(problem, name):
    assert_is_the_policy(THREE[problem](), name)


def test_numbers_of_the_papers():
    pool = SymbolicProblem([[1, 4], [3, "a"]], [9, 18], assume="a > 0")
    for policy, tasks in ((DRF(), (3, 2)), (AssetFair(), (Fraction(63, 25), Fraction(54, 25)))):
        assert closed_form(pool, policy).at({"a": 1})[0] == tasks
    # [DRF, section 4.1]: weights 2 to 1.
    weighted = SymbolicProblem([[1, 4], [3, 1]], [9, 18], weights=["w", 1], assume="w > 0")
    assert closed_form(weighted, DRF()).at({"w": 2})[0] == (Fraction(54, 13), Fraction(18, 13))
    edrf = SymbolicProblem([[1, 0], ["d", 1], [0, 1]], [1, 1], assume="d > 0")
    tasks, _ = closed_form(edrf, DRF([[1 / 3, 1 / 3]] * 3)).at({"d": 0.5})
    assert tasks == (Fraction(3, 4), Fraction(1, 2), Fraction(1, 2))


@pytest.mark.long
def test_demands_that_may_be_zero():
    """All 16 patterns of zeros of two classes, but for classes that demand nothing, against the policy."""
    letters = [["a", "b"], ["c", "d"]]
    pool = SymbolicProblem(
        letters, [1, 1], assume=["a >= 0", "b >= 0", "c >= 0", "d >= 0", "a + b > 0", "c + d > 0"]
    )
    form = closed_form(pool, MaxMin())
    values = [Fraction(v) for v in (0, 1, "1/2")]
    for a, b, c, d in np.array(np.meshgrid(*[values] * 4)).reshape(4, -1).T:
        if a + b and c + d:
            tasks, cell = form.at({"a": a, "b": b, "c": c, "d": d})
            expected = allocate(Problem([[a, b], [c, d]], [1, 1]), MaxMin()).tasks
            np.testing.assert_allclose([float(t) for t in tasks], expected, rtol=1e-12)
            used = [tasks[0] * a + tasks[1] * c, tasks[0] * b + tasks[1] * d]
            assert {j for j in (0, 1) if used[j] == 1} >= set(cell.full)


def test_a_demand_that_may_be_zero():
    form = closed_form(SymbolicProblem([["a", 2], [1, 1]], [1, 1], assume="a >= 0"), MaxMin())
    for a in (0, Fraction(1, 2), 1, 3):
        expected = allocate(Problem([[a, 2], [1, 1]], [1, 1]), MaxMin()).tasks
        np.testing.assert_allclose([float(t) for t in form.at({"a": a})[0]], expected, rtol=1e-12)


def test_a_demand_that_the_assumptions_make_zero():
    form = closed_form(SymbolicProblem([["a", 1], [1, "1/4"]], [1, 1], assume="a == 0"), DRF())
    assert form.at({"a": 0})[0] == (Fraction(4, 5), Fraction(4, 5))
    form = closed_form(SymbolicProblem([["a - b", 1], [1, 0]], [1, 1], assume=["a == b", "a > 0"]), MaxMin())
    assert form.at({"a": 2, "b": 2})[0] == (1, 1)


def test_what_is_full_is_full_on_all_of_the_cell():
    form = closed_form(SymbolicProblem([[1, "a"], ["a", 1]], [1, 1], assume="a > 0"), DRF())
    assert {cell.full for cell in form.cells} == {(0, 1)}


def test_one_letter_needs_no_solver():
    form = closed_form(SymbolicProblem([["a", 4], [3, 1]], [9, 18], assume="a > 0"), DRF())
    assert {form.complete, form.disjoint} <= {"proved by sign tables", "proved by the form of the conditions"}


def test_what_has_no_closed_form_is_refused():
    with pytest.raises(ModelError, match="policy must be one of MaxMin"):
        closed_form(talk(), len)
    with pytest.raises(ModelError, match="problem must be a SymbolicProblem; got Problem"):
        closed_form(Problem([[1]], [1]), DRF())
    with pytest.raises(ModelError, match=r"resource_weights has shape \(3, 2\)"):
        closed_form(talk(), DRF([[1, 1]] * 3))
    letters = [f"{name}{j}" for name in "abc" for j in range(3)]
    pool = SymbolicProblem(
        np.reshape(letters, (3, 3)), [1] * 3,
        assume=[*(f"{v} >= 0" for v in letters), *(f"{v}0 + {v}1 + {v}2 > 0" for v in "abc")],
    )  # fmt: skip
    with pytest.raises(ModelError, match=r"9 demands may be 0 or not, in 512 ways; .* such as 'a0 > 0'"):
        closed_form(pool, DRF())


def test_time_is_limited():
    with pytest.raises(NotConvergedError, match="no cell is known; raise time_limit"):
        closed_form(talk(), DRF(), time_limit=1e-9)


@pytest.mark.parametrize(
    ("one", "other", "union"),
    [
        ("a < 1", "a >= 1", ("everywhere",)),
        ("a < 1", "a == 1", ("a <= 1",)),
        ("a < 1", "a > 1", ("a < 1", "a > 1")),
        ("a < 1", "a > 2", ("a < 1", "a > 2")),
        ("a <= 1", "a*b == 1", ("a <= 1", "a*b = 1")),
    ],
)
def test_cells_are_joined_only_where_their_union_is_a_cell(one, other, union):
    problem = SymbolicProblem([["a", "b"]], [1, 1], assume=["a > 0", "b > 0"])
    cells = []
    for text in (one, other):
        (tidy,) = [problem.ground.tidy(r) for r in relations(text)]
        cells.append(Cell((tidy,), (1 / letter("a"),)))
    found = joined(problem.ground, cells)
    assert tuple("; ".join(map(said, cell.conditions)) or "everywhere" for cell in found) == union
