"""Regions: exact facets against the hull of all sums, vertices against cddlib, whole tasks, and queries."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np
from scipy.spatial import ConvexHull

from benchmarks.harness import Row, alternating_seconds, best_seconds
from capacity import packing_region, region_section, region_volume, stability_region
from fairness import Cluster, ModelError, Problem
from fairness.exact.corners import corners, rounded_vertices
from fairness.exact.double_description import Facet
from fairness.testing import random_cluster
from queueing.networks.backbones import abilene
from queueing.networks.gravity import gravity_traffic

__all__ = ["rows"]


def rows() -> list[Row]:
    return [
        _against_all_sums(),
        *_exact(),
        *_vertices(),
        *_queries(),
        _whole_tasks(),
        _schedule(),
        *_routes(),
        *_refusals(),
    ]


def _constrained(n_classes: int, n_servers: int, seed: int) -> Cluster:
    """Integer cluster with effective capacities, so that servers differ in the slopes of their facets."""
    rng = np.random.default_rng(seed)
    demands = rng.integers(1, 8, (n_classes, 3))
    capacities = rng.integers(12, 40, (n_servers, 3))
    nominal = Cluster(demands, capacities).as_fractions()[2]
    gamma = [[g * int(rng.integers(1, 5)) for g in row] for row in nominal]
    return Cluster(demands, capacities, gamma=gamma)


def _against_all_sums() -> Row:
    cluster = _constrained(3, 7, 0)
    corners = []
    for i in range(cluster.n_servers):
        alone = Cluster(cluster.demands, cluster.capacities[[i]], gamma=cluster.gamma[:, [i]])
        corners.append(stability_region(alone).vertices)

    def sums() -> ConvexHull:
        total = np.zeros((1, 3))
        for points in corners:
            total = (total[:, None] + points).reshape(-1, 3)
        return ConvexHull(total)

    yardstick = best_seconds(sums, repeat=1)
    ours = best_seconds(lambda: stability_region(cluster).volume)
    region = stability_region(cluster)
    gap = abs(region.volume / sums().volume - 1)
    return Row(
        "exact region, 3 classes x 7 servers: against Qhull on all sums",
        f"{ours * 1e3:.0f} ms, {yardstick / ours:.1f} times faster",
        "faster, volume equal to 1e-9",
        bool(ours < yardstick and gap < 1e-9),
        f"{len(region.exact_facets)} facets, {len(region.vertices)} vertices; "
        "the number of sums grows exponentially with the servers",
    )


def _exact() -> list[Row]:
    result = []
    for n_classes, n_servers in ((2, 50), (3, 20), (4, 5)):
        cluster = _constrained(n_classes, n_servers, 1)
        start = time.perf_counter()
        region = stability_region(cluster)
        facets, vertices, volume = len(region.exact_facets), len(region.vertices), region.volume
        seconds = time.perf_counter() - start
        result.append(
            Row(
                f"exact facets, vertices, volume: {n_classes} classes x {n_servers} different servers",
                f"{seconds:.2f} s",
                "< 10 s",
                bool(seconds < 10 and volume > 0),
                f"{facets} facets, {vertices} vertices",
            )
        )
    return result


def _vertices() -> list[Row]:
    """Vertices of pools, exactly and in floats, against the double description method of cddlib in floats."""
    try:
        import cdd
    except ImportError:
        cdd = None
    rng, result = np.random.default_rng(0), []
    for n_classes, n_resources in ((4, 8), (8, 8), (8, 16), (12, 8), (6, 40)):
        demands = rng.integers(1, 10, (n_classes, n_resources))
        capacities = np.rint(demands.sum(axis=0) * rng.uniform(0.6, 1.2, n_resources)).astype(int)
        rows = zip(demands.T.tolist(), capacities.tolist(), strict=True)
        facets = [(tuple(normal), offset) for normal, offset in rows]
        inequalities = np.block(
            [[capacities[:, None], -demands.T], [np.zeros((n_classes, 1)), np.eye(n_classes)]]
        ).tolist()

        def exact(facets: list[Facet] = facets, n: int = n_classes) -> int:
            return len(corners(facets, n).points())

        def rounded(facets: list[Facet] = facets, n: int = n_classes) -> object:
            return rounded_vertices(facets, n, math.inf, 1e-9)

        def theirs(inequalities: list[list[float]] = inequalities) -> int:
            matrix = cdd.matrix_from_array(inequalities, rep_type=cdd.RepType.INEQUALITY)
            return len(cdd.copy_generators(cdd.polyhedron_from_matrix(matrix)).array)

        calls: list[Callable[[], object]] = [exact, rounded, *([theirs] if cdd else [])]
        seconds = [1e3 * time for time in alternating_seconds(calls, repeat=15)]
        figure, target, met = f"{seconds[0]:.1f} ms, in floats {seconds[1]:.1f} ms", "on record", None
        note = f"{exact()} vertices; pip install pycddlib-standalone for the yardstick"
        if cdd:
            ratios = [time / seconds[2] for time in seconds[:2]]
            figure += f": {ratios[0]:.1f} and {ratios[1]:.1f} times cddlib's {seconds[2]:.2f} ms"
            # A millisecond is what calls of numpy take, however few vertices there are.
            most = [1 + times * seconds[2] for times in (5, 2)]
            target, met = "5 and 2 times, and 1 ms", bool(seconds[0] <= most[0] and seconds[1] <= most[1])
            note = f"{exact()} vertices, theirs {theirs()}, in floats"
        title = f"vertices of a pool of {n_classes} classes on {n_resources} resources"
        result.append(Row(title, figure, target, met, note))
    return result


def _queries() -> list[Row]:
    result = []
    for n_classes, n_servers in ((10, 10), (100, 50)):
        cluster = random_cluster(np.random.default_rng(2), n_classes, n_servers, 4, constrained=True)
        region = stability_region(cluster)
        loads = np.random.default_rng(3).random(n_classes)
        seconds = best_seconds(lambda region=region, loads=loads: region.judge(loads))
        evidence = region.judge(loads)
        gap = 1 - evidence.bound / evidence.relative_load
        result.append(
            Row(
                f"relative load with both proofs, {n_classes} classes x {n_servers} servers x 4",
                f"{seconds * 1e3:.0f} ms",
                "< 1 s, gap < 1e-9",
                bool(seconds < 1 and gap < 1e-9),
                f"relative gap {gap:.0e}",
            )
        )
    return result


def _machines() -> Cluster:
    return Cluster([[3, 2, 7], [5, 9, 2], [2, 3, 4]], [[64, 128, 100]] * 10 + [[32, 64, 200]] * 5)


def _whole_tasks() -> Row:
    start = time.perf_counter()
    region = packing_region(_machines())
    loss = region.loss
    seconds = time.perf_counter() - start
    listed = sum(len(packing.configurations) for packing in region.packings)
    return Row(
        "integer hull of 15 machines of 2 kinds, 3 classes",
        f"{seconds * 1e3:.0f} ms",
        "< 5 s",
        bool(seconds < 5),
        f"{listed} configurations, {len(region.exact_facets)} facets, {loss:.2%} of the volume lost",
    )


def _schedule() -> Row:
    rng = np.random.default_rng(4)
    region = packing_region(Cluster(rng.integers(2, 9, (8, 3)), rng.integers(20, 40, (6, 3))))
    loads = rng.random(8)
    seconds = best_seconds(lambda: region.judge(loads))
    listed = sum(len(packing.configurations) for packing in region.packings)
    return Row(
        "schedule of whole tasks with both proofs, 8 classes x 6 servers",
        f"{seconds * 1e3:.0f} ms",
        "< 1 s",
        bool(seconds < 1),
        f"{listed} configurations",
    )


def _routes() -> list[Row]:
    """Thirty routes of a backbone: nobody can list their vertices."""
    traffic = gravity_traffic(abilene(), 10, weights="population", pairs=30)
    loads = 0.7 * float(stability_region(traffic.problem).max_scale(traffic.loads)) * traffic.loads

    def asked() -> tuple[int, bool, float]:
        region = stability_region(traffic.problem)
        return len(region.facets.offsets), bool(region.contains(loads)), float(region.max_scale(loads))

    seconds = best_seconds(asked)
    n_facets, fits, multiple = asked()
    region = stability_region(traffic.problem)
    section = best_seconds(lambda: region_section(region, [0, 1], loads).vertices)
    start = time.process_time()
    volume = region_volume(region, rng=1)
    walked = time.process_time() - start
    return [
        Row(
            "facets, membership and a ray of 30 routes",
            f"{seconds * 1e3:.0f} ms",
            "< 1 s",
            bool(seconds < 1 and fits and abs(multiple * 0.7 - 1) < 1e-9),
            f"{n_facets} facets",
        ),
        Row("section of 30 routes through two", f"{section * 1e3:.1f} ms", "< 1 s", bool(section < 1)),
        Row(
            "volume of 30 routes, estimated to 2 %",
            f"{walked:.1f} s of CPU",
            "on record",
            None,
            f"± {volume.relative_half_width:.1%}, {len(volume.rates)} steps of {volume.sweeps} sweeps",
        ),
    ]


def _refusals() -> list[Row]:
    """Vertices and facets that are too many are refused before they are sought."""
    rng = np.random.default_rng(5)
    demands = rng.uniform(0.5, 1.5, (64, 64))
    pool, cluster = Problem(demands, demands.sum(axis=0)), random_cluster(rng, 64, 8, 3)

    def facets() -> None:
        _ = stability_region(pool).facets

    def refused() -> None:
        for region in (stability_region(pool), stability_region(cluster)):
            try:
                _ = region.vertices
            except ModelError:
                continue
            raise AssertionError("a region of 64 classes has listed its vertices")

    found, seconds = best_seconds(facets), best_seconds(refused)
    return [
        Row("facets of 64 classes on 64 resources", f"{found * 1e3:.0f} ms", "< 5 s", bool(found < 5)),
        Row("vertices of 64 classes, refused", f"{seconds * 1e3:.0f} ms", "< 5 s", bool(seconds < 5)),
    ]
