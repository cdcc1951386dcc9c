"""Stability regions against brute force over bases, Qhull and linear programs."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.spatial import ConvexHull, HalfspaceIntersection

from capacity import stability_region
from capacity.regions.stability import is_stable
from fairness import ModelError, Problem
from fairness.exact.small_polytopes import enumerate_vertices
from queueing.model.system import System
from queueing.networks.backbones import abilene
from queueing.networks.topology import data_network, linear_network


def brute_force_vertices(problem):
    """All feasible solutions of n tight constraints, over the rationals."""
    demands, capacities = problem.as_fractions()
    n = problem.n_classes
    rows = [[*column, c] for column, c in zip(zip(*demands, strict=True), capacities, strict=True)]
    rows += [[*(Fraction(-(i == k)) for i in range(n)), Fraction(0)] for k in range(n)]
    return {tuple(point) for point in enumerate_vertices(rows, n, 0)}


def random_integers(rng, n, m):
    demands = rng.integers(0, 4, (n, m))
    demands[~demands.any(axis=1), 0] = 1
    return Problem(demands, rng.integers(1, 4, m))


@pytest.mark.parametrize("seed", range(60))
def test_vertices_equal_brute_force_over_bases(seed):
    # Small integers: degenerate vertices, doubled and redundant resources in most instances.
    rng = np.random.default_rng(seed)
    problem = random_integers(rng, int(rng.integers(1, 5)), int(rng.integers(1, 6)))
    region = stability_region(problem)
    expected = brute_force_vertices(problem)
    assert set(region.exact_vertices) == expected
    if problem.n_classes > 1:
        hull = ConvexHull(np.array([[float(v) for v in point] for point in expected]))
        # Qhull's volume of a polytope of unit size; ours is exact.
        assert float(region.exact_volume) == pytest.approx(hull.volume, rel=1e-10)
    assert len(set(region.exact_vertices)) == len(region.exact_vertices) == len(region.vertices)
    assert sorted(region.facet_names + region.redundant) == sorted(problem.resources)


@pytest.mark.parametrize("seed", range(30))
def test_facets_are_exactly_the_resources_that_matter(seed):
    rng = np.random.default_rng(100 + seed)
    n, m = int(rng.integers(1, 5)), int(rng.integers(1, 7))
    problem = random_integers(rng, n, m)
    region = stability_region(problem)
    normals, bounds = region.facets
    for j, name in enumerate(problem.resources):
        others = [k for k, facet in enumerate(region.facet_names) if facet != name]
        exceeds = bool(problem.demands[:, j].any())
        if exceeds and others:
            program = linprog(-problem.demands[:, j], A_ub=normals[others], b_ub=bounds[others])
            # Status 3: unbounded; HiGHS is accurate to about 1e-7 on integers this small.
            exceeds = program.status == 3 or -program.fun > problem.capacities[j] * (1 + 1e-6)
        assert exceeds == (name in region.facet_names), name


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("rational", [True, False])
def test_vertices_and_volume_equal_qhull(seed, rational):
    rng = np.random.default_rng(200 + seed)
    n, m = int(rng.integers(2, 6)), int(rng.integers(1, 10))
    demands = rng.integers(1, 30, (n, m)) if rational else rng.uniform(0.1, 1.0, (n, m))
    capacities = rng.integers(5, 20, m) if rational else rng.uniform(0.5, 2.0, m)
    problem = Problem(demands, capacities)
    region = stability_region(problem)
    # Qhull in units of the largest load of each class.
    unit = 1.0 / problem.task_shares.max(axis=1)
    shares = (problem.task_shares * unit[:, None]).T
    halfspaces = np.vstack([np.c_[shares, -np.ones(m)], np.c_[-np.eye(n), np.zeros(n)]])
    corners = HalfspaceIntersection(halfspaces, np.full(n, 0.5 / n)).intersections
    hull = ConvexHull(corners)
    mine = region.vertices / unit
    distance = np.linalg.norm(mine[:, None, :] - corners[None, :, :], axis=2)
    # Qhull's accuracy on unit-sized data is about 1e-12.
    assert (distance.min(axis=1) < 1e-10).all()
    assert (distance.min(axis=0) < 1e-10).all()
    assert region.volume == pytest.approx(hull.volume * unit.prod(), rel=1e-9)
    assert (region.exact_volume is not None) == rational


def test_volumes_known_in_closed_form():
    # Simplex: 1/n!; box: product; linear network of 2 links: {x + y <= 1, x + z <= 1}: 1/3.
    for n in range(1, 7):
        simplex = stability_region(Problem([[k + 1] for k in range(n)], [1]))
        assert simplex.exact_volume == Fraction(1, math.factorial(n) ** 2)
        box = stability_region(Problem(np.eye(n, dtype=int), list(range(1, n + 1))))
        assert box.exact_volume == math.factorial(n)
        assert len(box.exact_vertices) == 2**n
    assert stability_region(linear_network(2)).exact_volume == Fraction(1, 3)


def test_the_walk_in_eight_dimensions():
    rng = np.random.default_rng(5)
    problem = Problem(rng.integers(1, 10, (8, 20)), rng.integers(40, 45, 20))
    region = stability_region(problem)
    vertices = np.array([[float(v) for v in point] for point in region.exact_vertices])
    # Every vertex is feasible and has n independent tight constraints.
    rows = np.vstack([problem.task_shares.T, -np.eye(8)])
    gap = np.concatenate([np.ones(20), np.zeros(8)]) - vertices @ rows.T
    assert (gap > -1e-9).all()
    assert all(np.linalg.matrix_rank(rows[np.abs(g) < 1e-9]) == 8 for g in gap)
    # Every vertex is a maximiser found by an independent LP, and every LP finds a vertex.
    for _ in range(20):
        objective = rng.uniform(0, 1, 8)
        best = -linprog(-objective, A_ub=problem.task_shares.T, b_ub=np.ones(20), bounds=(0, None)).fun
        assert (vertices @ objective).max() == pytest.approx(best, rel=1e-9)


def test_float_demands_are_merged_not_multiplied():
    # The third resource is the mean of the others up to rounding, so it is redundant and adds no vertex.
    region = stability_region(Problem([[1.0, 0.1, 0.55], [0.1, 1.0, 0.55]], [1.0, 1.0, 1.0]))
    assert region.facet_names == ("resource 1", "resource 2")
    assert region.redundant == ("resource 3",)
    assert len(region.vertices) == 4
    assert region.exact_vertices is None
    assert region.exact_volume is None
    # Four facets meet at (1, 1, 1)/3.3: exactly over the rationals, and up to rounding as floats.
    tenths = np.array([[12, 10, 12, 10], [10, 12, 12, 10], [11, 11, 9, 13]])
    exact = stability_region(Problem(tenths, [10] * 4))
    rounded = stability_region(Problem(tenths / 10, [1.0] * 4))
    assert exact.facet_names == rounded.facet_names == exact.model.resources
    assert len(rounded._points) > len(exact.exact_vertices)
    np.testing.assert_allclose(rounded.vertices, exact.vertices, atol=1e-14)


def test_the_volume_of_float_demands_keeps_its_digits_at_any_scale():
    rng = np.random.default_rng(3)
    demands, capacities = rng.integers(1, 9, (4, 5)), rng.integers(9, 12, 5)
    exact = stability_region(Problem(demands, capacities)).exact_volume
    for scale in (2.0**-60, 1.0, 2.0**60):
        volume = stability_region(Problem(demands * scale, capacities * 1.0)).volume
        assert volume * scale**4 == pytest.approx(float(exact), rel=1e-15)


def test_doubled_resources_keep_the_first():
    region = stability_region(Problem([[1, 2, 1], [1, 2, 0]], [1, 2, 5], resources=["a", "b", "c"]))
    assert region.facet_names == ("a",)
    assert region.redundant == ("b", "c")


def test_unbounded_and_pinned_classes():
    problem = Problem(
        [[1, 0], [0, 0], [1, 1]], [2, 0], limits=[np.inf, 1, np.inf], job_classes=["x", "free", "pinned"]
    )
    region = stability_region(problem)
    assert (region.free, region.pinned) == ((1,), (2,))
    assert not region.bounded
    np.testing.assert_array_equal(region.rays, [[0, 1, 0]])
    np.testing.assert_array_equal(region.vertices, [[0, 0, 0], [2, 0, 0]])
    assert region.volume == 0.0
    assert region.facet_names == ("resource 1",)
    assert region.redundant == ()
    assert region.contains([1, 100, 0])
    assert not region.contains([1, 0, 1e-9])
    assert region.slack([0, 0, 1]) == -np.inf
    assert region.max_scale([0, 1, 0]) == np.inf
    assert region.max_scale([0, 0, 1]) == 0.0
    unbounded = stability_region(Problem([[1], [0]], [1], limits=[np.inf, 1]))
    assert unbounded.volume == np.inf
    assert unbounded.exact_volume is None
    nothing = stability_region(Problem([[1]], [0]))
    np.testing.assert_array_equal(nothing.vertices, [[0.0]])
    assert nothing.volume == 0.0
    assert nothing.exact_volume == 0


def test_a_backbone_with_all_pairs():
    # 110 classes: no vertices, but facets, slack and membership; each link is alone on some one-hop route.
    graph = abilene()
    problem = data_network(graph, {f"{u}>{v}": (u, v) for u, v in permutations(graph, 2)})
    region = stability_region(problem, max_vertices=200)
    assert len(region.facet_names) == len(region.facets.offsets) == 14
    assert region.contains(np.full(110, 1e-3))
    with pytest.raises(ModelError, match=r"more than 200 vertices .*max_vertices, or take region_section"):
        _ = region.vertices


def test_verdict():
    problem = Problem([[10, 1], [1, 10]], [10, 10], resources=["cpu", "ram"])
    good = is_stable(System(problem, [0.5, 0.5]))
    assert good
    assert good.overloaded == ()
    assert good.slack == pytest.approx(0.45)
    assert "busiest resource is 'cpu' with load 0.55" in good.message
    bad = is_stable(System(problem, [1.0, 1.0]))
    assert not bad
    assert bad.overloaded == ("cpu", "ram")
    assert "'cpu' has load 1.1 of 1, 'ram' has load 1.1 of 1" in repr(bad)
    np.testing.assert_allclose(bad.relative_loads, 1.1)
    assert bad.to_dataframe().loc["ram", "overloaded"]
    # Exactly at capacity is not stable; a demanded resource of capacity 0 never is.
    assert not is_stable(System(Problem([[1]], [1]), [1.0]))
    assert is_stable(System(Problem([[1]], [0]), [0.1])).relative_loads[0] == np.inf
    for seed in range(20):
        rng = np.random.default_rng(seed)
        pool = random_integers(rng, 3, 3)
        loads = rng.uniform(0, 0.5, 3)
        assert bool(is_stable(System(pool, loads))) == stability_region(pool).contains(loads)
