"""Regions as plain data: matrices, vertices and fractions in one JSON, from which others compute the same."""

import json
from fractions import Fraction

import numpy as np
import pytest
from scipy.spatial import HalfspaceIntersection

from capacity import packing_region, policy_stability_region, region_section, stability_region
from fairness import Cluster, MaxMin, Problem
from tests.fairqueues.commands.command_line import as_json

POOL = Problem([[4, Fraction(1, 3), 0], [1, 1, 2], [Fraction(1, 2), 0, 5]], [10, 1, Fraction(7, 2)])
TWO = Problem([[1, 4], [3, 1]], [9, 18])
CLUSTER = Cluster([[1, 2], [2, 1]], [[9, 12], [12, 4]], job_classes=["a", "b"])
REGIONS = {
    "pool": lambda: stability_region(POOL),
    "floats": lambda: stability_region(Problem([[0.5, 1.25], [2.0, 0.75]], [1.0, 3.0])),
    "cluster": lambda: stability_region(CLUSTER),
    "whole tasks": lambda: packing_region(CLUSTER),
    "section": lambda: region_section(stability_region(POOL), [0, 2], [0, Fraction(1, 4), 0]),
}


def from_json(region, **options):
    return json.loads(json.dumps(region.to_dict(**options), allow_nan=False))


def corners(A, b):
    """Vertices of {x >= 0: A x <= b} by another program, in increasing order."""
    n = A.shape[1]
    half_spaces = np.vstack([np.column_stack([A, -b]), np.column_stack([-np.eye(n), np.zeros(n)])])
    inside = np.full(n, 0.5 * (b / A.sum(axis=1)).min())
    found = np.unique(np.round(HalfspaceIntersection(half_spaces, inside).intersections, 9) + 0.0, axis=0)
    return found[np.lexsort(found.T[::-1])]


@pytest.mark.parametrize("name", REGIONS)
def test_matrices_and_vertices_tell_the_same_region(name):
    region = REGIONS[name]()
    told = from_json(region)
    A, b = np.array(told["A"]), np.array(told["b"])
    np.testing.assert_allclose(told["vertices"], corners(A, b), atol=1e-8)
    assert told["facet_names"] == list(region.facet_names)
    assert told["pinned"] == told["unbounded"] == []
    # Membership by the matrices is that of the region, which knows relative loads.
    points = np.random.default_rng(1).uniform(0, 1.2, (40, region.n_classes)) * region.vertices.max(axis=0)
    assert (region.contains(points) == (points @ A.T < b).all(axis=1)).all()
    assert ("exact_A" in told) == ("exact_vertices" in told) == ("exact_volume" in told) == (name != "floats")
    if name == "floats":
        return
    exact = {key: np.array(told[f"exact_{key}"], dtype=object) for key in ("A", "b", "vertices")}
    exact = {key: np.vectorize(Fraction, otypes=[object])(texts) for key, texts in exact.items()}
    for key, fractions in exact.items():
        np.testing.assert_array_equal(fractions.astype(float), told[key])
    products = exact["vertices"] @ exact["A"].T
    assert (products <= exact["b"]).all()
    full = (products == exact["b"]).sum(axis=1) + (exact["vertices"] == 0).sum(axis=1)
    assert (full >= region.n_classes).all()
    assert float(Fraction(told["exact_volume"])) == told["volume"] == region.volume


def test_what_is_not_bounded_or_not_listed_is_said():
    region = stability_region(Problem([[1, 0], [0, 0], [1, 1]], [4, 0], limits=[np.inf, 3, np.inf]))
    told = from_json(region)
    assert (told["pinned"], told["unbounded"]) == (["class 3"], ["class 2"])
    assert not {"vertices", "volume", "exact_vertices"} & set(from_json(region, vertices=False))
    told = from_json(stability_region(Problem([[1], [0]], [4], limits=[np.inf, 3])))
    assert told["volume"] is None
    assert "exact_volume" not in told


def test_faces_between_rays_join_the_vertices():
    region = policy_stability_region(TWO, MaxMin(), points=3, precision=1e-2)
    told = from_json(region)
    vertices, A, b = (np.array(told[key]) for key in ("vertices", "A", "b"))
    for normal, offset, face in zip(A, b, told["faces"], strict=True):
        np.testing.assert_allclose(vertices[face] @ normal, offset, rtol=1e-9)
    assert told["volume"] == region.volume


def test_the_command_writes_it():
    told = as_json("region", "talk_capacity_region")["regions"]["stability"]
    assert (told["A"], told["exact_b"]) == ([[10.0, 1.0], [1.0, 10.0]], ["1", "1"])
    assert told["exact_vertices"][2] == ["1/11", "1/11"]
