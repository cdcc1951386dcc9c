"""All BMF allocations: the known continuum, isolated points, products, limits, and a brute-force scan."""

from fractions import Fraction as F
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

from fairness import ModelError, Problem
from fairness.evidence.pools import bottleneck_certificate
from fairness.exact.linear_algebra import affine_solutions
from fairness.exact.small_polytopes import enumerate_vertices, joined_segments
from fairness.policies.bottleneck_set import AT_LIMIT, NO_JOB, all_bottleneck_max
from fairness.testing import KINDS
from proofs.definitions.pools.filling import is_bottleneck_max
from tests.fairness.instances import pools

CONTINUUM = [[1, 1, 1], [2, 1, F(3, 2)], [1, 2, F(3, 2)]]


def maps(*words):
    return {tuple(word) for word in words}


def test_continuum_is_one_exact_segment():
    found = all_bottleneck_max(Problem(CONTINUUM, [1, 1, 1], resources=["1", "2", "3"]))
    assert found.exact
    assert found.segments == (((F(1, 3), F(2, 9), F(2, 9)), (F(2, 5), F(1, 5), F(1, 5))),)
    assert found.points == ()
    assert not found.is_unique
    assert set(found.pieces[0].assignments) == maps("312", "112", "212", "313", "332", "333")
    pf, drf = found.segments[0]
    assert set(found.assignments_at(drf)) == maps("312", "112", "212")
    assert set(found.assignments_at(pf)) == maps("312", "313", "332", "333")
    for u in (F(41, 200), F(21, 100), F(11, 50)):
        assert found.assignments_at((1 - 3 * u, u, u)) == (("3", "1", "2"),)
    for u in (F(199, 1000), F(223, 1000)):
        assert found.assignments_at((1 - 3 * u, u, u)) == ()
        assert not found.contains([float(1 - 3 * u), float(u), float(u)])
    assert found.contains([0.37, 0.21, 0.21], tolerance=1e-12)
    assert not found.contains([0.37, 0.21, 0.211])
    assert found.residual <= 1e-15


def test_continuum_in_floats():
    found = all_bottleneck_max(
        Problem(np.array(CONTINUUM, dtype=float), [1, 1, 1], resources=["1", "2", "3"])
    )
    assert not found.exact
    np.testing.assert_allclose(found.segments[0], [[1 / 3, 2 / 9, 2 / 9], [0.4, 0.2, 0.2]], rtol=1e-12)
    assert set(found.pieces[0].assignments) == maps("312", "112", "212", "313", "332", "333")
    assert set(found.assignments_at([0.4, 0.2, 0.2])) == maps("312", "112", "212")


def test_segment_cut_by_limits():
    found = all_bottleneck_max(Problem(CONTINUUM, [1, 1, 1], limits=[0.375, np.inf, np.inf]))
    assert found.segments == (((F(1, 3), F(2, 9), F(2, 9)), (F(3, 8), F(5, 24), F(5, 24))),)
    assert any(AT_LIMIT in names for names in found.pieces[0].assignments)


def test_units_weights_and_counts():
    # Tasks four times as large, resource 1 in units of 1/7, two jobs of weight 1/2, one job of weight 2.
    demands = [[28, 4, 4], [14, 1, F(3, 2)], [7, 2, F(3, 2)]]
    problem = Problem(demands, [7, 1, 1], weights=[1, 0.5, 1])
    found = all_bottleneck_max(problem, [1, 2, 1])
    assert found.segments == (((F(1, 12), F(2, 9), F(2, 9)), (F(1, 10), F(1, 5), F(1, 5))),)


def test_three_isolated_points():
    problem = Problem([[23, 21, 21], [38, 23, 33], [17, 37, 26]], [1, 1, 1])
    found = all_bottleneck_max(problem)
    assert len(found.points) == 3
    assert found.segments == ()
    assert (F(5, 283), F(22, 1981), F(20, 1981)) in found.points
    frame = found.to_dataframe()
    assert frame.shape == (3, 4)
    assert (frame["dimension"] == 0).all()
    assert "All BMF allocations (exact)" in repr(found)
    assert "5/283" in found.summary()


@pytest.mark.parametrize("number", [int, float])
def test_ties_keep_all_assignments(number):
    found = all_bottleneck_max(
        Problem(np.ones((3, 2), dtype=number), np.ones(2, dtype=number), resources=["1", "2"])
    )
    assert found.is_unique
    assert found.contains([1 / 3, 1 / 3, 1 / 3], tolerance=1e-12)
    assert set(found.pieces[0].assignments) == set(product("12", repeat=3))


def test_two_independent_continua_make_a_rectangle():
    a = np.array(CONTINUUM, dtype=object)
    zero = np.zeros((3, 3), dtype=int).astype(object)
    problem = Problem(np.block([[a, zero], [zero, a]]), [1] * 6)
    found = all_bottleneck_max(problem)
    assert [piece.dimension for piece in found.pieces] == [2]
    assert len(found.pieces[0].vertices) == 4
    drf, pf = [0.4, 0.2, 0.2], [1 / 3, 2 / 9, 2 / 9]
    assert found.contains([*drf, *pf], tolerance=1e-12)
    assert found.contains([0.37, 0.21, 0.21, 0.355, 0.215, 0.215], tolerance=1e-12)
    assert not found.contains([0.37, 0.21, 0.21, 0.355, 0.216, 0.215])


def test_empty_blocked_and_free_classes():
    problem = Problem([[1, 0], [0, 2], [0, 1], [0, 0]], [0, 3], limits=[np.inf, np.inf, np.inf, 2])
    found = all_bottleneck_max(problem, [1, 1, 0, 3])
    assert found.points == ((0, F(3, 2), 0, 6),)
    assert found.pieces[0].assignments == (("resource 1", "resource 2", NO_JOB, AT_LIMIT),)
    nobody = all_bottleneck_max(problem, [0, 0, 0, 0])
    assert nobody.points == ((0, 0, 0, 0),)
    assert nobody.is_unique


@pytest.mark.long
def test_scan_of_a_grid_finds_the_same_points():
    found = all_bottleneck_max(Problem(CONTINUUM, [1, 1, 1]))
    # All tasks that fit alone, straight from the definition.
    grid = product(*([F(k, 45) for k in range(1, 45 // max(row) + 1)] for row in CONTINUUM))
    hits = [tasks for tasks in grid if is_bottleneck_max(CONTINUUM, [1, 1, 1], tasks)]
    # u = 9/45 and 10/45 are the ends 1/5 and 2/9.
    assert hits == [(1 - 3 * u, u, u) for u in (F(10, 45), F(9, 45))]
    assert all(found.assignments_at(p) for p in hits)


def programs(problem, counts, directions):
    """Second method: BMF points as optima of one linear program per assignment, in terms of tasks."""
    a, x, w = problem.task_shares, counts, problem.weights
    n, m = a.shape
    options = [
        [j for j in range(m) if a[i, j] > 0] + [m] * bool(np.isfinite(problem.limits[i])) for i in range(n)
    ]
    for assignment in product(*options):
        full = sorted(set(assignment) - {m})
        least = np.zeros(n)
        orders = [a[:, j] for j in range(m) if j not in full]
        bounds = [1.0] * len(orders)
        for i, j in enumerate(assignment):
            if j == m:
                least[i] = x[i] * problem.limits[i]
                continue
            for k in set(range(n)) - {i}:
                row = np.zeros(n)
                row[k], row[i] = a[k, j] / (x[k] * w[k]), -a[i, j] / (x[i] * w[i])
                orders.append(row)
                bounds.append(0.0)
        for direction in directions:
            solved = linprog(
                direction,
                A_ub=np.array(orders).reshape(-1, n),
                b_ub=bounds,
                A_eq=a[:, full].T,
                b_eq=np.ones(len(full)),
                bounds=list(zip(least, x * problem.limits, strict=True)),
            )
            if solved.status != 0:
                break
            if (solved.x > 0).all():
                yield solved.x


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_linear_programs_find_nothing_else(kind):
    rng = np.random.default_rng(53)
    found = 0
    for problem, counts in pools(53, 25, classes=3, resources=3, kinds=[kind]):
        counts = (counts + 1) * rng.choice([1.0, 0.7])
        fair = all_bottleneck_max(problem, counts)
        for tasks in programs(problem, counts, rng.normal(size=(3, len(counts)))):
            # 1e-6: HiGHS meets constraints to 1e-7.
            assert fair.contains(tasks, tolerance=1e-6)
            found += 1
    assert found >= 25
    problem = Problem(CONTINUUM, [1, 1, 1])
    ends = list(programs(problem, np.ones(3), [np.array([1.0, 0, 0]), np.array([-1.0, 0, 0])]))
    for end in all_bottleneck_max(problem).segments[0]:
        assert any(np.allclose(tasks, [float(v) for v in end], atol=1e-6) for tasks in ends)


def test_exact_and_float_enumerations_agree():
    for p, _ in pools(29, 60, classes=4, resources=4, kinds=["integer"]):
        exact = all_bottleneck_max(
            Problem(p.demands.astype(int), p.capacities.astype(int), weights=p.weights, limits=p.limits)
        )
        floats = all_bottleneck_max(p)
        assert (exact.exact, floats.exact) == (True, False)
        assert [q.dimension for q in exact.pieces] == [q.dimension for q in floats.pieces]
        for one, other in zip(exact.pieces, floats.pieces, strict=True):
            points = [[float(v) for v in vertex] for vertex in one.vertices]
            np.testing.assert_allclose(points, other.vertices, rtol=1e-9)  # the tolerance of the float mode
            assert set(one.assignments) == set(other.assignments)
        for piece in exact.pieces:
            for vertex in piece.vertices:
                tasks = np.array([float(v) for v in vertex])
                # 1e-14: rounding of the exact vertex to floats.
                assert bottleneck_certificate(p, np.ones(len(tasks)), tasks).residual <= 1e-14


def test_two_resources_have_one_allocation():
    rng = np.random.default_rng(31)
    for _ in range(40):
        demands = rng.integers(1, 6, (5, 2))
        assert all_bottleneck_max(Problem(demands, [1, 1])).is_unique


def test_errors():
    with pytest.raises(
        ModelError, match=r"needs up to 8916100448256 assignments .* max_assignments = 1000000"
    ):
        all_bottleneck_max(Problem(np.ones((12, 12), dtype=int), np.ones(12, dtype=int)))
    problem = Problem(CONTINUUM, [1, 1, 1])
    with pytest.raises(ModelError, match="max_assignments = 26"):
        all_bottleneck_max(problem, max_assignments=26)
    with pytest.raises(ModelError, match=r"counts must have shape \(3,\)"):
        all_bottleneck_max(problem, [[1, 1, 1]])
    for question in (all_bottleneck_max(problem).contains, all_bottleneck_max(problem).assignments_at):
        with pytest.raises(ModelError, match=r"tasks must have shape \(3,\)"):
            question([1, 1])
        with pytest.raises(ModelError, match="tasks must be an array of numbers"):
            question(["a", "b", "c"])
    with pytest.raises(ModelError, match="max_assignments must be a number; got '27'"):
        all_bottleneck_max(problem, max_assignments="27")


def test_vertices_of_a_square_and_joined_segments():
    square = [[F(1), F(0), F(1)], [F(0), F(1), F(1)], [F(-1), F(0), F(0)], [F(0), F(-1), F(0)]]
    corners = {tuple(v) for v in enumerate_vertices(square, 2, 0)}
    assert corners == {(0, 0), (0, 1), (1, 0), (1, 1)}
    assert affine_solutions([[F(1), F(1), F(1)], [F(2), F(2), F(3)]], 2, 0) is None
    a, b, c, d = ((F(k), F(2 * k)) for k in range(4))
    assert joined_segments((a, b), (b, c), 0) == (a, c)
    assert joined_segments((a, c), (b, d), 0) == (a, d)
    assert joined_segments((a, b), (c, d), 0) == ()
    assert joined_segments((a, c), ((F(1), F(1)),), 0) == ()
