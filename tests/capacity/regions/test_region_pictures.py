"""Where loads stand in a picture of a region: the nearest point of the boundary, and what the legend says."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure

from capacity import policy_stability_region, region_section, stability_region
from capacity.regions.nearest import nearest_boundary
from fairness import DRF, ModelError, Problem

plt.switch_backend("Agg")

CUBE = Problem(
    [[3, 1, 1], [1, 3, 1], [1, 1, 3]], [1, 1, 1], job_classes=["A", "B", "C"], resources=["r", "s", "t"]
)


def instances(count):
    rng = np.random.default_rng(5)
    for _ in range(count):
        n, m = int(rng.integers(2, 4)), int(rng.integers(1, 5))
        normals = rng.uniform(0, 1, (m, n)) * (rng.random((m, n)) < 0.7)
        normals[0] += 0.1  # every class is bounded
        normals = normals[normals.any(axis=1)]
        offsets, scale = rng.uniform(0.5, 2, len(normals)), rng.uniform(0.2, 5, n)
        yield normals, offsets, rng.uniform(0, 2, n), scale, rng


def test_the_nearest_point_is_on_the_boundary_and_nothing_is_nearer():
    sides = set()
    for normals, offsets, loads, scale, rng in instances(30):
        facet, foot, inside = nearest_boundary(normals, offsets, loads, scale)
        assert inside == bool((normals @ loads < offsets).all())
        sides.add(inside)
        assert (foot >= 0).all()
        # Floats: sums of at most three products.
        assert (normals @ foot <= offsets * (1 + 1e-12)).all()
        assert normals[facet] @ foot == pytest.approx(offsets[facet], rel=1e-9)
        away = np.linalg.norm((foot - loads) / scale)
        others = rng.uniform(0, 1, (1000, len(loads))) * 3
        if inside:
            # By definition: the ball of this radius holds no load outside, so all others beyond are farther.
            others = others[(others @ normals.T >= offsets).any(axis=1)]
        else:
            others = others[(others @ normals.T <= offsets).all(axis=1)]
        if len(others):
            assert np.linalg.norm((others - loads) / scale, axis=1).min() >= away * (1 - 1e-9)
    assert sides == {True, False}


def test_the_projection_fulfils_its_conditions():
    """Outside, the way to the foot is a positive sum of normals of what is tight (Karush-Kuhn-Tucker)."""
    from scipy.optimize import nnls

    for normals, offsets, loads, scale, _ in instances(30):
        _, foot, inside = nearest_boundary(normals, offsets, loads, scale)
        if not inside:
            tight = normals[normals @ foot >= offsets * (1 - 1e-9)] * scale
            at_zero = -np.eye(len(loads))[foot <= 1e-12]
            way = (loads - foot) / scale
            _, rest = nnls(np.vstack([tight, at_zero]).T, way)
            assert rest <= 1e-9 * max(1.0, np.linalg.norm(way))


@pytest.mark.parametrize("beyond", [-1e-16, 0, 3e-16])
def test_loads_on_the_boundary_name_the_facet_on_which_they_are(beyond):
    normals = np.array([[1, 0], [0.2, 1], [0, 0.5]])
    facet, foot, _ = nearest_boundary(normals, np.ones(3), np.array([0.5, 0.9 + beyond]), np.ones(2))
    assert facet == 1
    assert foot == pytest.approx([0.5, 0.9])


def texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_a_point_in_space_is_joined_to_the_nearest_facet():
    region = stability_region(CUBE)
    ax = Figure().add_subplot(projection="3d")
    region.plot(ax, loads=[[0.1, 0.15, 0.12], [0.3, 0.25, 0.1]])
    assert texts(ax) == [
        f"inside: relative load {3 * 0.15 + 0.22:.4g},\nnearest facet s",
        f"outside: relative load {3 * 0.3 + 0.35:.4g},\nnearest facet r",
    ]
    ways = [line for line in ax.lines if line.get_linestyle() == "--"]
    for line, loads in zip(ways, ([0.1, 0.15, 0.12], [0.3, 0.25, 0.1]), strict=True):
        (start, end) = np.transpose(line.get_data_3d())
        assert start == pytest.approx(loads)
        assert max(CUBE.demands.T @ end) == pytest.approx(1, rel=1e-12)
    # The shadow stands on the floor.
    shadows = [line for line in ax.lines if line.get_linestyle() == ":"]
    assert [line.get_data_3d()[2][1] for line in shadows] == [0, 0]


def test_axes_widen_for_loads_outside():
    region = stability_region(Problem([[10, 1], [1, 10]], [1, 1]))
    ax = region.plot(Figure().subplots(), loads=[0.5, 0.01])
    assert ax.get_xlim()[1] > 0.5
    assert texts(ax)[0].startswith("outside: relative load 5.01,\nnearest facet resource 1")


@pytest.mark.long
def test_sections_and_regions_on_rays_mark_loads_too():
    section = region_section(stability_region(CUBE), ["A", "B"], [0, 0, 0.1])
    assert texts(section.plot(Figure().subplots(), [0.1, 0.1]))[0].startswith("inside")
    region = policy_stability_region(Problem([[10, 1], [1, 10]], [1, 1]), DRF(), points=5, precision=1e-2)
    k = 1
    for part, said in ((0.5, "inside: 0.5 of what"), (1.25, "outside: 1.25 of what")):
        ax = region.plot(Figure().subplots(), part * region.loads[k])
        assert said in " ".join(texts(ax))
    # Between two points the boundary is a straight line.
    middle = (region.loads[1] + region.loads[2]) / 2
    assert any("1 of what" in text for text in texts(region.plot(Figure().subplots(), middle)))
    assert any(text.startswith("inside: 0") for text in texts(region.plot(Figure().subplots(), [0, 0])))


def test_wrong_loads_are_refused_before_anything_is_drawn():
    region = stability_region(CUBE)
    with pytest.raises(ModelError, match="loads must be >= 0"):
        region.plot(loads=[0.1, -0.1, 0])
    with pytest.raises(ModelError, match="its last axis must list the 3 classes"):
        region.plot(loads=[0.1, 0.1])
    assert not plt.get_fignums()
