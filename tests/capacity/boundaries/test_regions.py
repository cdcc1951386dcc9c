"""What all regions of loads have in common: questions, errors, facets, tables and pictures."""

from __future__ import annotations

from itertools import combinations, product

import matplotlib as mpl
import numpy as np
import pytest

from capacity import (
    packing_region,
    policy_stability_boundary,
    policy_stability_region,
    service_boundary,
    service_region,
    stability_region,
)
from fairness import DRF, Cluster, ModelError, NotConvergedError, Problem
from tests.own_policies import priority

mpl.use("Agg")

POOL = Problem([[2, 1], [1, 2]], [1, 1], job_classes=["a", "b"], resources=["cpu", "ram"])
CLUSTER = Cluster([[1, 2], [1, 0]], [[4, 4], [6, 0]], job_classes=["a", "b"])
BOX = Problem([[2, 1], [1, 2]], [7, 7], job_classes=["a", "b"])
POLYTOPES = {
    "pool": lambda: stability_region(POOL),
    "cluster": lambda: stability_region(CLUSTER),
    "whole tasks": lambda: packing_region(BOX),
}
BY_RAYS = {
    "service": lambda: service_region(POOL, "bound", 0.1, points=8),
    "policy": lambda: policy_stability_region(POOL, DRF(), points=8),
}
ALL = POLYTOPES | BY_RAYS


@pytest.fixture(params=ALL)
def region(request):
    return ALL[request.param]()


@pytest.fixture(params=POLYTOPES)
def polytope(request):
    return POLYTOPES[request.param]()


def test_facets_and_vertices_say_the_same(region):
    normals, offsets = region.facets
    assert normals.shape == (len(region.facet_names), 2)
    assert len(offsets) == len(normals)
    # Sums of two products; planes through points by singular values.
    assert (region.vertices @ normals.T <= offsets * (1 + 1e-12)).all()
    on = np.isclose(region.vertices @ normals.T, offsets, rtol=1e-9)
    assert (on.sum(axis=0) >= 2).all()
    assert not region.vertices.flags.writeable
    assert region.facets is region.facets


def test_what_is_inside(region):
    top = region.vertices.max(axis=0)
    assert region.contains([0.0, 0.0]) is True
    assert region.contains([[[0.0, 0.0]], [list(1.01 * top)]]).tolist() == [[True], [False]]
    assert not region.contains([-0.01 * top[0], 0.1 * top[1]])
    edge = getattr(region.boundary(top), "loads", region.boundary(top))
    # The bracket of a policy is 1e-4 wide, that of a service 1e-6.
    assert region.contains(edge * (1 - 1e-3))
    assert not region.contains(edge * (1 + 1e-3))


def test_contains_slack_and_boundary_follow_from_the_facets(polytope):
    normals, offsets = polytope.facets
    top = polytope.vertices.max(axis=0)
    loads = np.random.default_rng(4).uniform(-0.1, 1.0, (3, 8, 2)) * top
    inside = polytope.contains(loads)
    assert inside.shape == (3, 8)
    expected = (loads @ normals.T < offsets).all(axis=-1) & (loads >= 0).all(axis=-1)
    np.testing.assert_array_equal(inside, expected)
    assert 0 < inside.mean() < 1
    positive = np.abs(loads)
    # Evidence by linear programs is accepted to 1e-9 only.
    busiest = (positive @ normals.T / offsets).max(axis=-1)
    np.testing.assert_allclose(polytope.slack(positive), 1 - busiest, atol=1e-8)
    np.testing.assert_allclose(polytope.slack(polytope.boundary(positive)), 0, atol=1e-8)
    np.testing.assert_allclose(polytope.max_scale(positive), 1 / busiest, rtol=1e-8)
    assert polytope.slack([0, 0]) == 1.0
    assert isinstance(polytope.max_scale([1, 1]), float)
    assert not polytope.contains(polytope.vertices[-1] * (1 + 1e-8))


def test_the_boundary_does_not_belong_to_a_region():
    # Without rounding.
    assert not stability_region(POOL).contains([0.5, 0.0])
    assert not stability_region(Cluster([[1]], [[4]])).contains([4])
    assert not packing_region(Problem([[1]], [4])).contains([4])


def test_evidence_and_support_are_those_of_the_facets(polytope):
    normals, offsets = polytope.facets
    loads = np.array([0.3, 0.4]) * polytope.vertices.max(axis=0)
    evidence = polytope.judge(loads)
    expected = float((normals @ loads / offsets).max())
    assert evidence.relative_load == pytest.approx(expected, rel=1e-9)
    assert evidence.bound == pytest.approx(evidence.prices @ loads, rel=1e-12)
    np.testing.assert_allclose(evidence.placement.sum(axis=1), loads, rtol=1e-9)
    assert polytope.support(evidence.prices).value <= 1 + 1e-9
    for prices in ([1, 3], [2, 1], [1, -1], [-1, 0]):
        best = polytope.support(prices)
        assert best.value == pytest.approx((polytope.vertices @ prices).max(), rel=1e-9)
        assert best.placement.shape == (2, polytope.n_servers)


WRONG = [
    (r"loads has shape \(3,\); its last axis must list the 2 classes", lambda r: r.contains([1, 2, 3])),
    (r"loads must be finite", lambda r: r.contains([np.nan, 0])),
    (r"loads must be an array of numbers", lambda r: r.contains(["a", "b"])),
]
WRONG_OF_POLYTOPES = [
    (r"loads has shape \(1, 2\); .* without a batch", lambda r: r.judge([[1, 2]])),
    (r"loads must be finite", lambda r: r.slack([np.nan, 0])),
    (r"loads must be >= 0", lambda r: r.judge([-1, 0])),
    (r"loads must be >= 0", lambda r: r.slack([[1, 1], [-1, 0]])),
    (r"loads must be ints or fractions >= 0", lambda r: r.exact_relative_load([0.5, 0])),
    (r"mix must have entries >= 0, not all 0", lambda r: r.max_scale([0, 0])),
    (r"direction must be finite", lambda r: r.support([np.inf, 0])),
    (r"direction must have entries >= 0, not all 0", lambda r: r.boundary([-1, 0])),
]


@pytest.mark.parametrize(("message", "ask"), WRONG)
def test_wrong_loads_are_refused(region, message, ask):
    with pytest.raises(ModelError, match=message):
        ask(region)


@pytest.mark.parametrize(("message", "ask"), WRONG_OF_POLYTOPES)
def test_wrong_questions_are_refused(polytope, message, ask):
    with pytest.raises(ModelError, match=message):
        ask(polytope)


@pytest.mark.parametrize("direction", [[0, 0], [1, -1], [1, np.nan], [1], 1])
def test_wrong_directions_of_rays_are_refused(direction):
    for ask in (
        lambda: service_boundary(POOL, "bound", 0.1, direction),
        lambda: policy_stability_boundary(POOL, DRF(), direction),
    ):
        with pytest.raises(ModelError, match="direction must list 2 class loads"):
            ask()


FLAT = Problem([[1, 0], [0, 1]], [1, 0])
FREE = Problem([[1], [0]], [1], limits=[np.inf, 1])


@pytest.mark.parametrize(
    ("message", "ask"),
    [
        (r"max_vertices must be a whole number >= 1; got 0", lambda: stability_region(POOL, max_vertices=0)),
        (r"max_vertices must be a whole .*; got 'many'", lambda: stability_region(POOL, max_vertices="many")),
        (r"max_facets must be a whole number >= 1; got 0", lambda: stability_region(CLUSTER, max_facets=0)),
        (r"max_configurations must be .*; got 1.5", lambda: packing_region(POOL, max_configurations=1.5)),
        (r"model must be a Problem or a Cluster; got list", lambda: stability_region([[1, 2]])),
        (r"model must be a .*Problem or a .*Cluster; got list", lambda: packing_region([[1]])),
        (r"beyond the range of floats", lambda: stability_region(Problem([[1e-200]] * 2, [1.0])).volume),
        (r"beyond the range of floats", lambda: stability_region(Cluster([[1e-200]] * 2, [[1.0]])).volume),
        (r"given as floats", lambda: stability_region(Cluster([[0.5]], [[1.0]])).exact_relative_load([1])),
        (r"given as floats", lambda: stability_region(Problem([[0.5]], [1.0])).exact_relative_load([1])),
        (r"a plot needs 2 or 3 classes", lambda: stability_region(Problem([[1]], [1])).plot()),
        (r"a plot needs 2 or 3 classes", lambda: stability_region(Cluster([[1]], [[1]])).plot()),
        (r"2 or 3", lambda: service_region(Problem([[1]], [1]), "bound", 0.5, points=1).plot()),
        (
            r"region with interior; here 2 classes, 0 unbounded, 1 pinned",
            lambda: stability_region(FLAT).plot(),
        ),
        (
            r"region with interior; here 2 classes, 1 unbounded, 0 pinned",
            lambda: stability_region(FREE).plot(),
        ),
        (r"any load of 'class 2' fits", lambda: stability_region(FREE).support([1, 1])),
        (r"no server can run a task of class 2; remove the class", lambda: stability_region(FLAT).pool),
        (r"nothing bounds the load of class 2; remove the class", lambda: stability_region(FREE).pool),
    ],
)
def test_what_cannot_be_answered_says_why(message, ask):
    with pytest.raises(ModelError, match=message):
        ask()


def test_the_most_that_a_pool_with_pinned_and_free_classes_earns():
    assert stability_region(FLAT).support([1, 1]).load.tolist() == [1, 0]
    assert stability_region(FREE).support([2, 0]).value == 2
    assert stability_region(Problem([[1]], [0])).support([1]).value == 0
    evidence = stability_region(FLAT).judge([0.5, 0.1])
    assert evidence.relative_load == evidence.bound == np.inf
    assert stability_region(FREE).judge([0.5, 100]).relative_load == 0.5
    assert stability_region(FREE).judge([0, 100]).relative_load == 0
    assert stability_region(FREE).boundary([0, 1]).tolist() == [0, np.inf]


def test_loads_on_the_boundary_of_rays_are_not_decided():
    # Priority to the first of two classes that fit together, and 1 of at most 2 tasks: the sum is below 1.
    first = policy_stability_region(Problem([[1, 0.1], [0.1, 1]], [1, 1]), priority, points=6)
    half = service_region(Problem([[0.5], [0.5]], [1]), "balanced", 1, points=3)
    for region, message in ((first, "they may lie on the boundary"), (half, "within the accuracy of the")):
        inside = region.contains([[[0.4, 0.5], [0.6, 0.6]], [[0.9999, 0.0], [1.0001, 0.0]]])
        assert inside.tolist() == [[True, False], [True, False]]
        with pytest.raises(NotConvergedError, match=message):
            region.contains([0.5, 0.5])


def test_names_of_facets_stand_in_tables_and_pictures():
    pool, cluster = stability_region(POOL), stability_region(CLUSTER)
    assert pool.to_dataframe()["full"].tolist() == ["", "ram", "cpu, ram", "cpu"]
    assert cluster.to_dataframe()["full"].tolist() == ["", "facet 2", "facet 1", "facet 1, facet 2"]
    assert cluster.pool.resources == ("facet 1", "facet 2")
    assert "2 [a] + [b] < 1  (cpu)" in repr(pool)
    assert "[a] + [b] < 10" in repr(cluster)
    assert {"cpu", "ram", "(1/3, 1/3)"} <= {text.get_text() for text in pool.plot().texts}
    assert {"facet 1", "(2, 8)"} <= {text.get_text() for text in cluster.plot().texts}


@pytest.mark.parametrize(
    "solid",
    [
        stability_region(Problem([[3, 1, 1], [1, 3, 1], [1, 1, 3]], [1, 1, 1])),
        stability_region(
            Cluster([[3, 1], [1, 3], [1, 1]], [[9, 9], [3, 12]], eligible=[[1, 1], [1, 0], [1, 1]])
        ),
        packing_region(Problem([[3, 1, 1], [1, 3, 1], [1, 1, 3]], [9, 9, 9])),
        service_region(Problem(np.ones((3, 1)), [1]), "bound", 0.4, points=6),
    ],
    ids=["pool", "cluster", "whole tasks", "service"],
)
def test_three_classes_are_drawn(solid):
    ax = solid.plot()
    assert ax.get_zlabel() == "load of class 3 (tasks)"
    assert len(ax.collections) == (len(solid.facet_names) + 1 if hasattr(solid, "exact_facets") else 2)


@pytest.mark.parametrize(
    ("problem", "edges"),
    [
        (
            Problem(np.ones((3, 1)), [1]),
            {((0, 0, 1), (0, 1, 0)), ((0, 0, 1), (1, 0, 0)), ((0, 1, 0), (1, 0, 0))},
        ),
        # A box: the three edges at its far corner, and six on the coordinate planes.
        (
            Problem(np.eye(3), [1, 1, 1]),
            {
                (a, b)
                for a, b in combinations(product((0, 1), repeat=3), 2)
                if sum(abs(x - y) for x, y in zip(a, b, strict=True)) == 1 and sum(a)
            },
        ),
    ],
    ids=["simplex", "box"],
)
def test_the_loads_that_fit_are_outlined_around_a_solid(problem, edges):
    """All their edges but for those on the axes."""
    ax = service_region(problem, "bound", 0.4, points=6, precision=0.1).plot()
    (outline,) = (line for line in ax.lines if line.get_label() == "stability region")
    drawn = np.transpose(outline.get_data_3d()).reshape(-1, 3, 3)
    assert np.isnan(drawn[:, 2]).all()
    found = {tuple(sorted(tuple(map(int, end)) for end in ends)) for ends in drawn[:, :2]}
    assert found == edges
    assert "stability region" in [text.get_text() for text in ax.get_legend().get_texts()]
