"""Exact linear programs: known ones, cycling, empty and unbounded ones, and scipy on random ones."""

from fractions import Fraction as F

import numpy as np
import pytest
from scipy.optimize import linprog

from fairness import InfeasibleError, ModelError, NotConvergedError
from fairness.exact.linear_program import maximise
from fairness.exact.pivoting import Tableau
from fairness.exact.small_polytopes import enumerate_vertices


def test_known_programs():
    assert maximise([5, 4, 3], [[2, 3, 1], [4, 1, 2], [3, 4, 2]], [5, 11, 8]).point == (
        2,
        0,
        1,
    )  # Chvátal, ch. 1
    result = maximise([1, -1, 1], [[2, -1, 2], [2, -3, 1], [-1, 1, -2]], [4, -5, -1])  # Chvátal, ch. 3
    assert (result.value, result.point) == (F(3, 5), (0, F(14, 5), F(17, 5)))
    assert maximise([0, 0], [[1, 1]], [1]).value == 0
    assert maximise([-1], [], []).point == (0,)
    assert maximise([], [[]], [3]).value == 0


def test_bland_ends_where_the_largest_gain_cycles():
    # Chvátal, ch. 3: cycles in six exchanges under the rule of the largest gain.
    rows = [[F(1, 2), F(-11, 2), F(-5, 2), 9], [F(1, 2), F(-3, 2), F(-1, 2), 1], [1, 0, 0, 0]]
    assert maximise([10, -57, -9, -24], rows, [0, 0, 1]).value == 1


def test_klee_minty():
    n = 6
    rows = [[2 * 10 ** (i - j) if j < i else int(j == i) for j in range(n)] for i in range(n)]
    assert maximise([10 ** (n - 1 - j) for j in range(n)], rows, [100**i for i in range(n)]).value == 100 ** (
        n - 1
    )


def test_equalities_and_redundant_rows():
    # x + y = 2 twice, x - y = 0 as pairs of inequalities: the helper variable leaves on a degenerate row.
    rows = [[1, 1], [-1, -1], [1, 1], [-1, -1], [1, -1], [-1, 1]]
    assert maximise([3, 1], rows, [2, -2, 2, -2, 0, 0]).point == (1, 1)


def test_errors():
    with pytest.raises(InfeasibleError, match="no point"):
        maximise([1], [[1], [-1]], [1, -2])
    with pytest.raises(ModelError, match="unbounded"):
        maximise([1, 0], [[0, 1]], [1])
    with pytest.raises(ModelError, match="unbounded"):
        maximise([1], [], [])
    with pytest.raises(ModelError, match="unbounded"):
        maximise([0, 1], [[-1, 0]], [-1])
    with pytest.raises(ModelError, match="objective must consist of ints"):
        maximise([0.5], [[1]], [1])
    with pytest.raises(ModelError, match="matrix must have 2 rows"):
        maximise([1], [[1]], [1, 1])
    with pytest.raises(ModelError, match="matrix must be a sequence; got 1"):
        maximise([1], [1], [1])
    with pytest.raises(ModelError, match="objective must be a sequence; got None"):
        maximise(None, [[1]], [1])


def test_a_wrong_answer_is_refused(monkeypatch):
    monkeypatch.setattr(Tableau, "climbed", lambda self, rule: self)
    with pytest.raises(NotConvergedError, match="proof"):
        maximise([1], [[1]], [1])


def test_random_programs_against_scipy():
    rng = np.random.default_rng(1)
    seen = {0: 0, 2: 0, 3: 0}
    for _ in range(300):
        n, m = rng.integers(1, 5, 2)
        a, b, c = rng.integers(-3, 5, (m, n)), rng.integers(-3, 6, m), rng.integers(-3, 5, n)
        other = linprog(-c, A_ub=a, b_ub=b, method="highs")
        # HiGHS may say "infeasible or unbounded"; a program without objective decides.
        status = other.status
        if status == 4:
            status = 2 if linprog(0 * c, A_ub=a, b_ub=b, method="highs").status == 2 else 3
        seen[status] += 1
        if status == 0:
            # Vertices of integer programs of this size have denominators below 1000, so 1e-9 separates them.
            assert float(maximise(c, a, b).value) == pytest.approx(-other.fun, abs=1e-9)
        else:
            with pytest.raises(InfeasibleError if status == 2 else ModelError):
                maximise(c, a, b)
    assert min(seen.values()) > 20


def test_random_programs_against_all_vertices():
    rng = np.random.default_rng(2)
    for _ in range(60):
        n, m = 3, 3
        a = [[F(int(v), 3) for v in row] for row in rng.integers(0, 4, (m, n))]
        a.append([F(1)] * n)
        b = [F(int(v)) for v in rng.integers(0, 5, m + 1)]
        c = [F(int(v)) for v in rng.integers(-2, 5, n)]
        walls = [[*row, v] for row, v in zip(a, b, strict=True)]
        walls += [[*(F(-int(i == j)) for j in range(n)), F(0)] for i in range(n)]
        best = max(
            sum(u * v for u, v in zip(c, point, strict=True)) for point in enumerate_vertices(walls, n, 0)
        )
        assert maximise(c, a, b).value == best
