"""Sections of regions against the facets of the whole region, and by their definition."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from capacity import packing_region, region_section, stability_region
from fairness import Cluster, ModelError, Problem
from queueing.networks.backbones import abilene
from queueing.networks.gravity import gravity_traffic
from queueing.networks.topology import linear_network


def random_loads(rng, region, part):
    rho = rng.random(region.n_classes)
    return part * float(region.max_scale(rho)) * rho


def test_a_section_of_a_pool_is_what_the_others_leave():
    # Links of capacity 1: beside a load of 1/3 on the long route both short ones have 2/3.
    section = region_section(stability_region(linear_network(2)), [1, 2], [Fraction(1, 3), 0, 0])
    assert section.exact_volume == Fraction(4, 9)
    assert {tuple(v) for v in section.exact_vertices} == {
        (x, y) for x in (Fraction(0), Fraction(2, 3)) for y in (Fraction(0), Fraction(2, 3))
    }
    np.testing.assert_array_equal(np.isnan(section.loads), [False, True, True])


@pytest.mark.parametrize("seed", range(10))
def test_a_pools_section_contains_what_the_region_contains(seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(3, 9)), int(rng.integers(2, 7))
    demands = rng.uniform(0.1, 1.0, (n, m)) * (rng.random((n, m)) < 0.7)
    demands[:, 0] += 0.1
    region = stability_region(Problem(demands, rng.uniform(1.0, 2.0, m)))
    rho, chosen = random_loads(rng, region, rng.random()), rng.choice(n, 2, replace=False)
    section = region_section(region, chosen.tolist(), rho)
    points = rng.random((200, 2)) * 1.3 * section.vertices.max(axis=0)
    whole = np.tile(rho, (200, 1))
    whole[:, chosen] = points
    np.testing.assert_array_equal(section.contains(points), region.contains(whole))
    assert 0 < section.contains(points).sum() < 200


@pytest.mark.long
@pytest.mark.parametrize("make", [stability_region, packing_region])
@pytest.mark.parametrize("seed", range(8))
def test_sections_of_clusters_equal_their_facets_at_fixed_loads(seed, make):
    rng = np.random.default_rng(seed)
    n, k = 4, 1 + seed % 3
    region = make(Cluster(rng.integers(1, 6, (n, 2)), rng.integers(6, 20, (3, 2))))
    rho = random_loads(rng, region, 0.5)
    chosen = sorted(rng.choice(n, k, replace=False).tolist())
    section = region_section(region, chosen, rho)
    others = [i for i in range(n) if i not in chosen]
    normals, offsets = region.facets
    left = Problem(normals[:, chosen].T, offsets - normals[:, others] @ rho[others])
    expected = stability_region(left)
    assert len(section.facets.offsets) == len(expected.facets.offsets)
    # The section is enclosed to 1e-8 of the relative load; linear programs of this size are exact to 1e-12.
    assert section.volume == pytest.approx(expected.volume, rel=1e-9)
    points = rng.random((300, k)) * 1.2 * expected.vertices.max(axis=0)
    apart = np.abs(expected.slack(points)) > 1e-7
    np.testing.assert_array_equal(section.contains(points)[apart], expected.contains(points)[apart])


def test_a_section_of_thirty_routes_draws_itself():
    traffic = gravity_traffic(abilene().to_directed(), pairs=30)
    region = stability_region(traffic.problem)
    rho = 0.6 * float(region.max_scale(traffic.loads)) * traffic.loads
    names = traffic.problem.job_classes[:2]
    section = region_section(region, names, rho)
    assert section.contains(rho[:2])
    assert "28 classes with" in section.summary()
    ax = section.plot()
    assert names[0] in ax.get_xlabel()
    assert "28 classes" in ax.get_title()
    # On the boundary of the section the whole is on the boundary, too.
    edge = section.boundary([1, 1])
    whole = rho.copy()
    whole[:2] = edge
    assert region.slack(whole) == pytest.approx(0, abs=1e-12)


def test_sections_of_many_classes_on_many_servers():
    rng = np.random.default_rng(4)
    cluster = Cluster(rng.uniform(0.5, 2, (12, 2)), rng.uniform(4, 9, (5, 2)))
    region = stability_region(cluster)
    rho = random_loads(rng, region, 0.7)
    section = region_section(region, [3, 7], rho)
    for point in section.vertices[1:]:
        whole = rho.copy()
        whole[[3, 7]] = point
        # Vertices lie on the boundary of the whole, or on an axis below it.
        assert region.judge(whole).relative_load == pytest.approx(1.0, abs=1e-7)


@pytest.mark.parametrize(
    ("classes", "loads", "told"),
    [
        (["nobody"], None, "'nobody', but the classes are"),
        ([0, 0], None, "different classes"),
        ("class 1", None, "must list classes"),
        ([True], None, "has True"),
        ([9], None, "has 9"),
        ([0], [0, 3, 0], "do not fit by themselves: their relative load is 3"),
        ([0], [0, -1, 0], "loads must be >= 0"),
        ([0], [0, 1], "must list the 3 classes"),
    ],
)
def test_bad_sections(classes, loads, told):
    with pytest.raises(ModelError, match=told):
        region_section(stability_region(linear_network(2)), classes, loads)


def test_what_is_no_region_and_what_has_too_many_classes():
    with pytest.raises(ModelError, match="StabilityRegion or PackingRegion; got Problem"):
        region_section(linear_network(2), [0])
    cluster = stability_region(Cluster([[1], [1], [1], [2]], [[2], [3]]))
    with pytest.raises(ModelError, match="at most three classes of such a region; got 4"):
        region_section(cluster, [0, 1, 2, 3])
    whole = packing_region(Problem([[1], [5]], [3]))
    with pytest.raises(ModelError, match="no server can run a task"):
        region_section(whole, [1])


def test_what_is_not_asked_does_not_make_a_section_inexact():
    region = stability_region(Problem([[1, 1], [1, 0], [0, 1]], [2, 1], job_classes=["long", "A", "B"]))
    corners = {(0, 0), (0, 1), (2, 0), (2, 1)}
    assert set(region_section(region, ["A", "B"]).exact_vertices) == corners
    assert set(region_section(region, ["A", "B"], [0, 0.3, 0.1]).exact_vertices) == corners
    assert region_section(region, ["A", "B"], [0.3, 0, 0]).exact_vertices is None
