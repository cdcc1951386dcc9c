"""Vertices are counted before they are solved; facets are decided as by the simplex method."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from capacity import stability_region
from capacity.regions import inequalities
from capacity.regions.inequalities import ROUNDING, necessary
from fairness import ModelError, NotConvergedError, Problem
from fairness.exact.corners import Corners
from fairness.exact.pivoting import maximum


def by_simplex(facets, tolerance):
    """The definition, facet by facet, exactly."""
    kept = list(range(len(facets)))
    for j in reversed(range(len(facets))):
        rows = [[*facets[k][0], facets[k][1]] for k in kept if k != j]
        most = maximum(rows, facets[j][0])
        if most is not None and most <= facets[j][1] * (1 + tolerance):
            kept.remove(j)
    return kept


def random_facets(rng, n, m, high):
    normals = rng.integers(0, high, (m, n))
    normals[0] = np.maximum(normals[0], 1)
    return [(tuple(map(int, row)), int(rng.integers(1, 4 * n))) for row in normals]


@pytest.mark.parametrize("few", [0, 200])
@pytest.mark.parametrize("seed", range(25))
def test_necessary_facets_are_those_of_the_simplex_method(seed, few, monkeypatch):
    """With few = 0 the solver in floating point is asked on small regions, too."""
    monkeypatch.setattr(inequalities, "FEW", few)
    rng = np.random.default_rng(seed)
    facets = random_facets(rng, int(rng.integers(1, 7)), int(rng.integers(1, 12)), int(rng.integers(2, 9)))
    # Doubled facets, and sums of facets, which are redundant without any room.
    facets += facets[:2]
    facets.append((tuple(np.add(facets[0][0], facets[-1][0]).tolist()), facets[0][1] + facets[-1][1]))
    for tolerance in (Fraction(0), Fraction(ROUNDING), Fraction(1, 10)):
        assert necessary(facets, tolerance) == by_simplex(facets, tolerance)


def test_facets_closer_than_floats_can_tell_are_decided_exactly():
    big = 10**20
    facets = [((big, big), big), ((big + 1, 1), big), ((big - 1, 1), big)]
    assert necessary(facets, Fraction(0)) == by_simplex(facets, Fraction(0)) == [0, 1]


@pytest.mark.parametrize("rational", [True, pytest.param(False, marks=pytest.mark.long)])
def test_more_vertices_than_allowed_are_refused_before_they_are_solved(rational, monkeypatch):
    monkeypatch.setattr(Corners, "of", lambda *_: pytest.fail("vertices are solved"))
    region = stability_region(Problem(np.eye(30, dtype=int) if rational else np.eye(30), np.ones(30)))
    assert len(region.facets.offsets) == 30
    for asked in ("volume", "vertices"):
        with pytest.raises(ModelError, match=r"more than 20,000 vertices .* region_section .* region_volume"):
            getattr(region, asked)


def test_the_search_keeps_to_the_time_limit_and_tells_how_far_it_is():
    seen = []
    problem = Problem(np.eye(8), np.ones(8))
    region = stability_region(problem, progress=seen.append)
    assert len(region.vertices) == 2**8
    assert seen[-1].total == seen[-1].done == 2**8
    with pytest.raises(NotConvergedError, match=r"time_limit=0 seconds are over .*vertices are known"):
        _ = stability_region(problem, time_limit=0).vertices


@pytest.mark.parametrize(
    ("factor", "multiple"), [(1, 1), (1.5, 1), (0.5, 1), (1, 2), (1, 0.5), (1, 0), (1, -1)]
)
def test_what_a_solver_proposes_is_made_feasible_before_it_is_believed(factor, multiple, monkeypatch):
    def proposed(*given, **options):
        found = linprog(*given, **options)
        found.x, found.ineqlin.marginals = factor * found.x, multiple * found.ineqlin.marginals
        return found

    monkeypatch.setattr(inequalities, "linprog", proposed)
    # x + y <= 1 and x <= 1/2, times units: (3/2, 1) is met at (1/2, 1/2) with 5/4, (1, 1/2) with 3/4.
    others = np.array([[1.0, 1.0], [2.0, 0.0]])
    beyond, within = (inequalities._told(others, np.array(one), 0.0) for one in ([1.5, 1.0], [1.0, 0.5]))
    assert beyond in (False, None)
    assert within in (True, None)
    # Loads that are too large are brought back, multipliers of any size are scaled.
    assert (beyond is False) == (factor >= 1)
    assert (within is True) == (multiple > 0)


def test_a_facet_that_only_rounding_tells_from_an_implied_one_is_left_open():
    others = np.array([[1.0, 1.0], [1.0, 0.0]])
    assert inequalities._told(others, np.array([1.0, 1.0]), 0.0) is None
    assert inequalities._told(others, np.array([1.0, 1.0]), 1e-9) is True
    assert inequalities._told(others, np.array([1.0, 1.0 + 1e-6]), 1e-9) is False


def test_points_that_rounding_made_of_one_are_one():
    # Relative to the largest load of each class, however small that is.
    points = [(3e6, 2e-12), (3e6 * (1 + 1e-12), 2e-12), (3e6, 1e-12), (0, 0)]
    kept = inequalities.float_points(points, rational=False)
    np.testing.assert_array_equal(kept, np.array(points)[[0, 2, 3]])
    np.testing.assert_array_equal(inequalities.float_points(points, rational=True), points)
    # A class without any load.
    np.testing.assert_array_equal(
        inequalities.float_points([(1, 0), (0, 0)], rational=False), [[1, 0], [0, 0]]
    )
