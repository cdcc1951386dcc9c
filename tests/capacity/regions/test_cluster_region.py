"""Regions of clusters against projections, pairwise sums, exact linear programs and one-server pools."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import capacity.regions.divisible_tasks
from capacity import stability_region
from capacity.regions.divisible_tasks import least_facets
from capacity.regions.whole_tasks import packing_region
from fairness import Cluster, ModelError, NotConvergedError, Problem
from fairness.exact.corners import Corners, corners
from fairness.exact.double_description import enclose
from fairness.exact.linear_algebra import dot
from fairness.exact.linear_program import maximise
from fairness.exact.minkowski_sum import Body, support_of_sum
from fairness.exact.pivoting import walk
from fairness.exact.server_rows import distinct_servers
from fairness.testing import KINDS, random_cluster


def integer_cluster(rng, n, s, m, effective=False):
    """Small integers with zeros, ties and constraints; fractions as gamma if asked for."""
    while True:
        demands, capacities = rng.integers(0, 4, (n, m)), rng.integers(0, 7, (s, m))
        eligible = rng.random((n, s)) < 0.8
        try:
            cluster = Cluster(demands, capacities, eligible=eligible)
        except ModelError:
            continue
        if not effective:
            return cluster
        gamma = np.array(
            [[g * Fraction(int(rng.integers(1, 5)), 2) for g in row] for row in cluster.as_fractions()[2]]
        )
        return Cluster(demands, capacities, gamma=gamma)


def exact_shares(cluster):
    """b_nir by the definition in fractions: demand over capacity times nominal over effective gamma."""
    demands, capacities, gamma = cluster.as_fractions()
    shares = {}
    for n, i in product(range(cluster.n_classes), range(cluster.n_servers)):
        if gamma[n][i]:
            needs = [(r, d) for r, d in enumerate(demands[n]) if d]
            nominal = min(capacities[i][r] / d for r, d in needs)
            held = {r: d / capacities[i][r] * nominal / gamma[n][i] for r, d in needs}
            shares[n, i] = [held.get(r, Fraction(0)) for r in range(cluster.n_resources)]
    return shares


def exact_support(cluster, prices):
    """Most that a placement earns, by one exact linear program over all servers."""
    shares = exact_shares(cluster)
    rows = [
        [held[r] if i == k else Fraction(0) for (_, i), held in shares.items()]
        for k in range(cluster.n_servers)
        for r in range(cluster.n_resources)
    ]
    return maximise([prices[n] for n, _ in shares], rows, [1] * len(rows)).value


def exact_relative_load(cluster, loads):
    """Largest worth of the loads at prices of resources of total 1 (the dual program), exactly."""
    shares = exact_shares(cluster)
    n, s, m = cluster.n_classes, cluster.n_servers, cluster.n_resources
    rows, bounds = [], []
    for (k, i), held in shares.items():
        row = [Fraction(0)] * (n + s * m)
        row[k] = Fraction(1)
        for r in range(m):
            row[n + i * m + r] = -held[r]
        rows.append(row)
        bounds.append(0)
    rows.append([Fraction(0)] * n + [Fraction(1)] * (s * m))
    return maximise([*loads, *[0] * (s * m)], rows, [*bounds, 1]).value


def check_evidence(cluster, evidence):
    """Both proofs, term by term from the definition."""
    x, v, m = evidence.placement, evidence.prices, cluster.n_resources
    assert (x >= 0).all()
    assert not x[~cluster.eligible].any()
    capacities = np.where(cluster.capacities > 0, cluster.capacities, np.inf)
    nominal = cluster.demands[:, None, :] / capacities
    # A task that runs faster than nominal holds its resources for less time.
    speed = np.where(cluster.eligible, cluster.gamma * nominal.max(axis=2), np.inf)
    busiest = np.einsum("ni,nir->ir", x / speed, nominal).max()
    # Sums of at most a few hundred floats.
    assert busiest <= evidence.relative_load * (1 + 1e-13)
    np.testing.assert_allclose(x.sum(axis=1), evidence.loads, rtol=1e-13, atol=0)
    assert (v >= 0).all()
    assert v @ evidence.loads == pytest.approx(evidence.bound, rel=1e-13)
    assert evidence.relative_load - evidence.bound <= 1e-9 * evidence.relative_load
    # No server earns more than it is said to, by an independent linear program per server (HiGHS: 1e-7).
    total = 0.0
    for i in range(cluster.n_servers):
        shares = cluster.task_shares[:, i, :].T
        gain = np.where(cluster.eligible[:, i], v, 0.0) * np.where(
            cluster.eligible[:, i], cluster.gamma[:, i], 1
        )
        scaled = shares * cluster.gamma[:, i]
        earned = -linprog(-gain, A_ub=scaled, b_ub=np.ones(m), bounds=(0, None)).fun
        assert earned <= evidence.earnings[i] + 1e-7
        total += evidence.earnings[i]
    assert total == pytest.approx(1.0 if evidence.loads.any() else 0.0, abs=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_identical_servers_are_one_scaled_server(seed):
    rng = np.random.default_rng(40 + seed)
    n, m, copies = int(rng.integers(1, 4)), int(rng.integers(1, 4)), int(rng.integers(2, 30))
    demands, capacities = rng.integers(1, 6, (n, m)), rng.integers(1, 9, m)
    one = stability_region(Cluster(demands, [capacities]))
    many = stability_region(Cluster(demands, [capacities] * copies))
    assert many.exact_volume == one.exact_volume * copies**n
    assert many.exact_vertices == tuple(tuple(copies * v for v in point) for point in one.exact_vertices)
    assert len(distinct_servers(many.model)) == 1
    # So is a server of so many times the capacity.
    assert stability_region(Cluster(demands, [capacities * copies])).exact_vertices == many.exact_vertices


@pytest.mark.parametrize("effective", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_facets_equal_the_projection_of_the_placements(seed, effective):
    rng = np.random.default_rng(120 + seed)
    n, s = int(rng.integers(1, 5)), int(rng.integers(1, 4))
    cluster = integer_cluster(rng, n, s, int(rng.integers(1, 4)), effective)
    region = stability_region(cluster)
    # Facets are valid and tight, and vertices have placements: exactly, by linear programs.
    for normal, offset in region.exact_facets:
        assert exact_support(cluster, normal) == offset
    for point in region.exact_vertices:
        assert exact_relative_load(cluster, point) <= 1
    for _ in range(6):
        prices = [int(v) for v in rng.integers(-1, 6, n)]
        most = max(dot(prices, point) for point in region.exact_vertices)
        assert exact_support(cluster, prices) == most
        assert region.support(prices).value == pytest.approx(float(most), rel=1e-9)
    # The region is that of the pool of its facets; there the volume is Lawrence's formula.
    pool = stability_region(region.pool)
    assert pool.redundant == ()
    assert pool.exact_vertices == region.exact_vertices
    assert pool.exact_volume == region.exact_volume


@pytest.mark.long
@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 4), st.booleans())
def test_relative_loads_and_both_proofs(seed, n, s, effective):
    rng = np.random.default_rng(seed)
    cluster = integer_cluster(rng, n, s, int(rng.integers(1, 4)), effective)
    region = stability_region(cluster)
    loads = [int(v) for v in rng.integers(0, 8, n)]
    evidence = region.judge(loads)
    check_evidence(cluster, evidence)
    exact = exact_relative_load(cluster, loads)
    assert region.exact_relative_load(loads) == exact
    assert evidence.relative_load == pytest.approx(float(exact), rel=1e-9)
    if exact != 1:
        assert evidence.fits == (exact < 1) == region.contains(loads)
        assert evidence.refuted == (exact > 1)


@pytest.mark.parametrize("kind", KINDS)
def test_large_clusters(kind):
    rng = np.random.default_rng(7)
    cluster = random_cluster(rng, 30, 12, 3, kind=kind, constrained=True, effective=True)
    region = stability_region(cluster)
    assert repr(region) == "StabilityRegion of 30 classes on 12 servers"
    for loads in (rng.random(30), np.r_[rng.random(15), np.zeros(15)], 10.0 ** rng.uniform(-14, 0, 30)):
        check_evidence(cluster, region.judge(loads))
        edge = region.boundary(loads)
        evidence = region.judge(edge)
        # The relative load of a boundary point is 1 up to the gap of two answers.
        assert evidence.relative_load == pytest.approx(1.0, rel=3e-9)
        assert region.contains(edge * (1 - 1e-8))
        assert region.judge(edge * (1 + 1e-8)).refuted
    prices = rng.normal(size=30)
    best = region.support(prices)
    assert not best.load[prices < 0].any()
    assert best.value == pytest.approx(prices @ best.load, rel=1e-13)
    assert np.einsum("ni,nir->ir", best.placement, cluster.task_shares).max() <= 1 + 1e-13
    assert not best.placement[~cluster.eligible].any()
    np.testing.assert_allclose(best.placement.sum(axis=1), best.load, rtol=1e-13)
    # The bound is a sum in another order.
    assert best.value * (1 - 1e-14) <= best.bound <= best.value * (1 + 1e-9)
    # Where the relative load of the best load says that it is on the boundary.
    assert region.judge(best.load).relative_load == pytest.approx(1.0, rel=3e-9)


def test_scales_do_not_matter():
    demands = np.array([[3.0, 1.0], [1.0, 2.0], [0.0, 1.0]])
    capacities = np.array([[9.0, 12.0], [4.0, 1.0]])
    loads = np.array([1.0, 2.0, 0.5])
    plain = stability_region(Cluster(demands, capacities))
    expected = plain.judge(loads).relative_load, plain.support([1, 1, 1]).value
    for unit, task in product((1e-120, 1.0, 1e120), (1e-100, 1.0, 1e100)):
        scaled = stability_region(Cluster(demands * unit / task, capacities * unit))
        found = scaled.judge(loads * task).relative_load, scaled.support([1, 1, 1]).value / task
        np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("seed", range(15))
def test_data_many_decades_apart(seed):
    # The solver neglects what is small; the evidence does not.
    rng = np.random.default_rng(seed)
    demands, capacities = 10.0 ** rng.uniform(-8, 8, (5, 2)), 10.0 ** rng.uniform(-8, 8, (4, 2))
    loads = 10.0 ** rng.uniform(-8, 8, 5)
    cluster = Cluster(demands, capacities)
    evidence = stability_region(cluster).judge(loads)
    exact = Cluster(
        *([[Fraction(v) for v in row] for row in rows.tolist()] for rows in (demands, capacities))
    )
    relative = float(exact_relative_load(exact, [Fraction(v) for v in loads.tolist()]))
    assert evidence.relative_load == pytest.approx(relative, rel=1e-9)
    prices = [Fraction(v) for v in rng.random(5).tolist()]
    best = stability_region(cluster).support([float(v) for v in prices])
    assert best.value == pytest.approx(float(exact_support(exact, prices)), rel=1e-9)


@pytest.mark.parametrize("top", [5e-324, 1e-310, 1e-200, 1e200, 1e300])
def test_loads_of_any_size(top):
    region = stability_region(Cluster([[1.0, 2.0], [2.0, 1.0]], [[3.0, 4.0], [1.0, 1.0]]))
    one, other = region.judge([1.0, 0.0]), region.judge([top, 0.0])
    # Subnormal numbers have few digits, of which the smallest has none.
    assert other.relative_load == pytest.approx(one.relative_load * top, rel=1e-9, abs=5e-324)
    np.testing.assert_allclose(other.prices, one.prices)


def test_a_placement_that_overfills_is_scaled_down(monkeypatch):
    solve = scipy.optimize.linprog

    def generous(*args, **options):
        result = solve(*args, **options)
        result.x *= 1 + 1e-10
        return result

    monkeypatch.setattr(scipy.optimize, "linprog", generous)
    cluster = Cluster([[1, 2], [1, 0]], [[4, 4], [6, 0]])
    best = stability_region(cluster).support([3, 2])
    assert np.einsum("ni,nir->ir", best.placement, cluster.task_shares).max() <= 1 + 1e-15
    assert best.value == pytest.approx(22, rel=1e-15)


@pytest.mark.parametrize("size", [5e-324, 1e-290, 1e300])
def test_directions_of_any_size(size):
    cluster = Cluster([[1], [2]], [[4 * 10**10]])
    for region in (stability_region(cluster), packing_region(Cluster([[1], [2]], [[5]]))):
        top = region.boundary([1.0, 0.0])
        np.testing.assert_array_equal(region.boundary([size, 0.0]), top)
        # The smallest has a scale beyond the range of floats.
        expected = math.inf if size < 1e-307 else top[0] / size
        assert region.max_scale([size, 0.0]) == pytest.approx(expected, rel=1e-15)
        one, other = region.support([1.0, 1.0]), region.support([size, size])
        np.testing.assert_array_equal(other.load, one.load)
        assert other.value == pytest.approx(one.value * size, rel=1e-12)
    # Two prices whose sum is no float.
    np.testing.assert_array_equal(region.support([1.7e308, 1.7e308]).load, one.load)


def test_weights_do_not_matter():
    models = [
        Cluster([[1, 2], [2, 1]], [[4, 5], [7, 3]], weights=weights) for weights in ([1, 1], [1e-9, 5.0])
    ]
    plain, weighted = (stability_region(model) for model in models)
    assert plain.exact_facets == weighted.exact_facets
    assert plain.judge([1, 2]).relative_load == weighted.judge([1, 2]).relative_load
    whole, heavy = (packing_region(model) for model in models)
    assert whole.exact_facets == heavy.exact_facets


def test_facets_too_long_for_floats():
    # Denominators that share nothing: integers of more than 308 digits, which no float holds.
    rng = np.random.default_rng(0)
    draw = rng.integers(10**17, 10**18, (2, 22, 2)).tolist()
    rows = [[Fraction(a, b) for a, b in zip(*pair, strict=True)] for pair in zip(*draw, strict=True)]
    region = stability_region(Cluster(rows[:2], rows[2:]))
    assert max(offset for _, offset in region.exact_facets) > 10**308
    pool = stability_region(region.pool)
    assert pool.exact_vertices == region.exact_vertices
    assert np.isfinite(region.facets.normals).all()


def test_floats_are_fractions_and_rounding_makes_no_facets():
    demands, capacities = np.array([[1, 2], [3, 1], [1, 1]]), np.array([[8, 16], [4, 2], [1, 8]])
    exact = stability_region(Cluster(demands, capacities))
    halves = stability_region(Cluster(demands / 2, capacities / 2))
    assert halves.exact_facets == exact.exact_facets
    np.testing.assert_array_equal(halves.vertices, exact.vertices)
    assert halves.exact_vertices is None
    assert halves.exact_volume is None
    assert halves.volume == exact.volume
    # Tenths are not floats: servers that differ by rounding must not chip the edges of the region.
    tenths = stability_region(Cluster(demands / 10, capacities * 0.1))
    assert len(tenths.exact_facets) == len(exact.exact_facets)
    assert len(tenths.vertices) == len(exact.vertices)
    np.testing.assert_allclose(tenths.vertices, exact.vertices, rtol=1e-12, atol=1e-12)
    assert tenths.volume == pytest.approx(exact.volume, rel=1e-12)
    thirds = [[0.1 * 3, 0.7, 0.2], [0.2, 0.3, 0.9], [0.5, 0.1 + 0.2, 0.6]]
    rows = [[1.1, 2.2, 3.3], [1.1 * 3, 2.2 * 3, 3.3 * 3], [3.3, 6.6, 9.9]]
    clean = np.array([[3, 7, 2], [2, 3, 9], [5, 3, 6]])
    assert len(stability_region(Cluster(thirds, rows)).exact_facets) == len(
        stability_region(Cluster(clean, np.array([[11, 22, 33], [33, 66, 99], [33, 66, 99]]))).exact_facets
    )


@pytest.mark.parametrize("seed", [4, 11, 19, 21, 45, 50, 55, 59])
def test_rounded_effective_capacities_chip_no_edges(seed):
    # Before the redundant facets are left out, each of these instances has some that are due to rounding.
    cluster = integer_cluster(np.random.default_rng(seed), 3, 3, 2, effective=True)
    exact = stability_region(cluster)
    rounded = stability_region(Cluster(cluster.demands / 10, cluster.capacities / 10, gamma=cluster.gamma))
    raw, _ = enclose(lambda prices: support_of_sum(rounded._bodies, prices), 3, 1000)
    assert len(raw) > len(exact.exact_facets) == len(rounded.exact_facets)
    # Rounding of the data, about 1e-16, may also change the order.
    assert len(rounded.vertices) == len(exact.vertices)
    distance = np.abs(rounded.vertices[:, None] - exact.vertices[None]).max(axis=2)
    assert max(distance.min(axis=0).max(), distance.min(axis=1).max()) < 1e-12
    assert rounded.volume == pytest.approx(exact.volume, rel=1e-12)


def test_antiblocking_hulls_of_points():
    # A cube cut at its top corner: one more facet, and volume 27 - 1/6.
    points = [[3, 3, 2], [3, 2, 3], [2, 3, 3]]
    body = Body.around(points)
    facets, found = enclose(lambda prices: support_of_sum([body], prices), 3, 100)
    assert facets == [((0, 0, 1), 3), ((0, 1, 0), 3), ((1, 0, 0), 3), ((1, 1, 1), 8)]
    assert sorted(found) == sorted(tuple(map(Fraction, p)) for p in points)
    cube = corners(facets, 3)
    assert len(cube.points()) == 10
    assert cube.volume() == 27 - Fraction(1, 6)
    # Of a tie the largest point: the sum is a maximal vertex.
    assert support_of_sum([Body.around([[0, 2], [1, 2]], copies=3)], [0, 1]) == (6, (3, 6))
    # Beyond 64 bits.
    huge = Body.around([[v * 10**30 for v in point] for point in points])
    assert enclose(lambda prices: support_of_sum([huge], prices), 3, 100)[0] == [
        (normal, offset * 10**30) for normal, offset in facets
    ]


@pytest.mark.parametrize("seed", range(25))
def test_degenerate_polytopes_equal_a_walk_over_bases(seed):
    # Many facets meet at a vertex, and some inequalities say the same.
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 6)), int(rng.integers(2, 12))
    rows = [[*row, 2] for row in rng.integers(0, 3, (m, n)).tolist()] + [[*[1] * n, 3]]
    rows += [[*(int(i == k) for i in range(n)), 2] for k in range(n)]
    rows = [row for row in rows if any(row[:-1])]
    inequalities = [(tuple(row[:-1]), row[-1]) for row in rows]
    found, walked = corners(inequalities, n), Corners.of(inequalities, walk(rows, n))
    assert found.points() == walked.points()
    assert found.volume() == walked.volume()
    # Back from the vertices to the facets: those that the walk's simplex method calls necessary.
    body = Body.around(found.points())
    facets, _ = enclose(lambda prices: support_of_sum([body], prices), n, 1000)
    pool = Problem(
        [list(column) for column in zip(*(row[:-1] for row in rows), strict=True)], [row[-1] for row in rows]
    )
    region = stability_region(pool)
    expected = {tuple(Fraction(a, offset) for a in normal) for normal, offset in region.exact_facets}
    assert {tuple(Fraction(a, offset) for a in normal) for normal, offset in facets} == expected


def test_limits_and_wrong_solutions(monkeypatch):
    cluster = Cluster(
        [[1, 2, 1], [2, 1, 1], [1, 1, 3]], [[4, 4, 9], [6, 3, 9]], eligible=[[1, 0], [1, 1], [1, 1]]
    )
    with pytest.raises(ModelError, match=r"more than max_facets=4; .*raise max_facets"):
        _ = stability_region(cluster, max_facets=4).vertices
    monkeypatch.setattr(capacity.regions.divisible_tasks, "MAX_SERVER_VERTICES", 2)
    with pytest.raises(ModelError, match=r"mixes of one server have more than 2 vertices"):
        _ = stability_region(cluster).exact_facets
    # A wrong solution of the linear program is noticed, whatever its status.
    solve = scipy.optimize.linprog

    def wrong(*args, **options):
        result = solve(*args, **options)
        result.ineqlin.marginals[:] = -1.0
        return result

    monkeypatch.setattr(scipy.optimize, "linprog", wrong)
    region = stability_region(cluster)
    with pytest.raises(NotConvergedError, match=r"leaves a relative gap") as caught:
        region.judge([1, 2, 1])
    assert caught.value.best.relative_load > caught.value.best.bound
    with pytest.raises(NotConvergedError, match=r"leaves a relative gap"):
        region.support([1, 2, 1])


@pytest.mark.parametrize("seed", range(12))
def test_the_least_number_of_facets_is_one(seed):
    """Facets of the region and of the regions of fewer classes, counted by their definition."""
    rng = np.random.default_rng(seed)
    cluster = integer_cluster(rng, int(rng.integers(1, 5)), int(rng.integers(1, 4)), int(rng.integers(1, 4)))
    found = 0
    for size in range(1, cluster.n_classes + 1):
        for some in combinations(range(cluster.n_classes), size):
            eligible = cluster.eligible[list(some)]
            used = eligible.any(axis=0)
            part = Cluster(cluster.demands[list(some)], cluster.capacities[used], eligible=eligible[:, used])
            found += sum(all(normal) for normal, _ in stability_region(part).exact_facets)
    assert 1 <= least_facets(cluster) <= found


def test_too_many_facets_are_refused_before_they_are_sought(monkeypatch):
    cluster = random_cluster(np.random.default_rng(1), 40, 6, 3)
    monkeypatch.setattr(
        capacity.regions.divisible_tasks, "all_corners", lambda *_: pytest.fail("the search began")
    )
    region = stability_region(cluster)
    with pytest.raises(ModelError, match=r"at least .* facets, .* region_section for a few classes"):
        _ = region.facets
    assert region.contains(np.full(40, 1e-3))
