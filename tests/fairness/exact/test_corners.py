"""Vertices found in floats and proved exactly: against the exact walk, and against all choices of facets."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from fairness import ModelError
from fairness.exact import corners as module
from fairness.exact.corners import Corners, corners, rounded_vertices
from fairness.exact.linear_algebra import reduced, whole
from fairness.exact.pivoting import walk
from fairness.exact.small_polytopes import enumerate_vertices
from proofs.definitions.exact import determinant

TOLERANCE = 1e-9


@pytest.fixture(autouse=True)
def floats_first(monkeypatch):
    monkeypatch.setattr(module, "FEW", 0)


def walked(facets, n):
    """The same by the exact walk alone."""
    return Corners.of(facets, walk([[*normal, offset] for normal, offset in facets], n))


def small_integers(rng, n, m):
    """Degenerate: many facets meet at a vertex, some say the same, and some say nothing."""
    normals = rng.integers(0, int(rng.integers(2, 5)), (m, n)).tolist()
    facets = [(tuple(row), int(rng.integers(1, 4))) for row in normals]
    return [*facets, facets[0], ((0,) * n, 1), ((1,) * n, 3)]


def generic_integers(rng, n, m):
    normals = rng.integers(1, 1000, (m, n))
    offsets = (normals.sum(axis=1) * rng.uniform(0.3, 1.2, m)).astype(int) + 1
    return [(tuple(row), offset) for row, offset in zip(normals.tolist(), offsets.tolist(), strict=True)]


def long_integers(rng, n, m):
    """Beyond 64 bits, some facets equal but for the last digit."""
    facets = [
        (tuple(v * 10**25 + 1 for v in row), offset * 10**25) for row, offset in small_integers(rng, n, m)
    ]
    return [*facets, (facets[0][0], facets[0][1] + 1)]


def decimals(rng, n, m):
    """Tenths as floats are: what would meet in a vertex just misses it."""
    numbers = rng.integers(0, 4, (m + 1, n + 1)) / 10
    numbers[:, -1] += 0.1
    numbers[-1, :-1] = 0.1
    rows = [whole([Fraction(v) for v in row])[1] for row in numbers.tolist()]
    return [(tuple(row[:-1]), row[-1]) for row in rows]


def as_fractions(integers):
    return np.array([[Fraction(int(v)) for v in row] for row in integers], dtype=object)


def far_apart(points, others, top):
    """Largest distance of a point from the nearest of the others."""
    return np.abs((points[:, None] - others[None]) / top).max(axis=2).min(axis=1).max()


@pytest.mark.parametrize("kind", [small_integers, generic_integers, long_integers, decimals])
@pytest.mark.parametrize("seed", range(12))
def test_vertices_and_volume_are_those_of_the_exact_walk(kind, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 5))
    facets = kind(rng, n, int(rng.integers(1, 7)))
    found, expected = corners(facets, n), walked(facets, n)
    points = found.points()
    assert points == expected.points() == sorted(set(points))
    assert found.volume() == expected.volume()
    assert abs(found.volume(rounded=True) / found.volume() - 1) <= Fraction(1, 2**64)
    exact = np.array(points, dtype=float)
    rounded = rounded_vertices(facets, n, np.inf, TOLERANCE)
    if rounded is not None:
        top = exact.max(axis=0)
        # Merged afterwards: what just misses a vertex is less than this away from it.
        assert max(far_apart(exact, rounded, top), far_apart(rounded, exact, top)) < 1e-12
    else:
        assert kind is decimals or kind is long_integers


@pytest.mark.parametrize("seed", range(10))
def test_vertices_are_those_of_all_choices_of_facets(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 4))
    facets = small_integers(rng, n, 4)
    rows = [[*map(Fraction, normal), Fraction(offset)] for normal, offset in facets]
    rows += [[Fraction(-(i == k)) for i in range(n)] + [Fraction(0)] for k in range(n)]
    assert corners(facets, n).points() == sorted({tuple(p) for p in enumerate_vertices(rows, n, Fraction(0))})


def test_without_classes_there_is_one_vertex():
    assert corners([], 0).points() == [()]
    assert corners([], 0).volume() == 1


def test_an_unbounded_region_is_not_proved():
    open_edge, no_facet = [((1, 0), 1)], []
    for facets in (open_edge, no_facet):
        assert rounded_vertices(facets, 2, np.inf, TOLERANCE) is None
        with pytest.raises(AssertionError, match="bounded"):
            corners(facets, 2)


def test_more_bases_than_allowed_are_refused():
    facets = [((1, 1, 1), 2), ((1, 0, 0), 1), ((0, 1, 0), 1), ((0, 0, 1), 1)]
    count = len(corners(facets, 3).tight)
    assert len(corners(facets, 3, count).tight) == count
    for ask in (lambda: corners(facets, 3, count - 1), lambda: rounded_vertices(facets, 3, count - 1, 1e-9)):
        with pytest.raises(ModelError, match=f"more than {count - 1} vertices"):
            ask()


def spoilt(facets, n, wrong):
    """Whether bases are still proved, and the float vertices, after something has gone wrong."""
    bases = module._found(facets, n, np.inf, None)
    assert bases.proved
    del bases.judged
    wrong(bases)
    return bases.proved


def test_what_is_wrong_is_not_proved():
    facets = generic_integers(np.random.default_rng(1), 3, 5)

    def inverse(bases):
        bases.inverses[-1, 0, 0] += 0.5

    def singular(bases):
        bases.tight[-1, :2] = bases.tight[-1, 0]

    def infeasible(bases):
        bases.tight[-1] = [3, 4, 5]
        bases.inverses[-1] = np.linalg.inv(bases.rows[[3, 4, 5]])
        if (
            (bases.rows @ bases.inverses[-1] @ bases.ends[[3, 4, 5]])[:, 1] <= bases.ends[:, 1] + 1e-12
        ).all():
            pytest.fail("choose another example")

    def degenerate(bases):
        bases.rows = np.vstack([bases.rows, bases.rows[-1:]])
        bases.ends = np.vstack([bases.ends, bases.ends[-1:]])

    for wrong in (inverse, singular, infeasible, degenerate):
        assert not spoilt(facets, 3, wrong), wrong.__name__


def test_what_is_not_proved_is_walked(monkeypatch):
    facets = generic_integers(np.random.default_rng(2), 3, 5)
    expected = corners(facets, 3).points()
    calls = []
    monkeypatch.setattr(module, "walk", lambda *args: calls.append(1) or walk(*args))
    assert corners(facets, 3).points() == expected
    assert not calls
    monkeypatch.setattr(module._Bases, "proved", False)
    assert rounded_vertices(facets, 3, np.inf, TOLERANCE) is None
    assert corners(facets, 3).points() == expected
    assert calls


def test_a_basis_that_only_moved_offsets_allow_is_walked(monkeypatch):
    # x + y <= 2 - 2^-40 and x, y <= 1: the moved offsets may lose the short edge at (1, 1), or turn it round.
    calls = []
    monkeypatch.setattr(module, "walk", lambda *args: calls.append(1) or walk(*args))
    one = 2**40
    for short in (1, -1):
        facets = [((one, one), 2 * one - short), ((1, 0), 1), ((0, 1), 1)]
        assert corners(facets, 2).points() == walked(facets, 2).points()
    assert calls


@pytest.mark.parametrize("largest", [10, 10**5, 10**12, 10**30])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_systems_are_solved_as_by_fractions(n, largest):
    rng = np.random.default_rng(n)
    kind = np.int64 if largest < 2**53 else object
    draw = rng.integers(-9, 10, (40, n, n + 1)).astype(kind) * (largest // 10) + rng.integers(
        0, 2, (40, n, n + 1)
    )
    regular = [each for each in draw if determinant(as_fractions(each)[:, :n].tolist())]
    systems = np.array(regular, dtype=kind)
    for solve in (lambda *system: module._solved(*system, 10 * largest), module._eliminated):
        numerators, denominators = solve(systems[:, :, :n], systems[:, :, n])
        assert (denominators > 0).all()
        for system, row, below in zip(systems, numerators.tolist(), denominators.tolist(), strict=True):
            solved, _ = reduced(as_fractions(system).tolist(), n)
            assert [line[-1] for line in solved] == [Fraction(v, below) for v in row]
            if solve is module._eliminated:
                assert below == abs(determinant(as_fractions(system)[:, :n].tolist()))


def test_a_volume_does_not_rest_on_rounded_determinants():
    """The point (1, ..., 1) has any denominator; determinants of 2^50 are rounded in floats."""
    rng = np.random.default_rng(4)
    normals = rng.integers(1, 2**17, (3, 3)).tolist()
    facets = [(tuple(row), sum(row)) for row in normals]
    found = corners(facets, 3)
    spoilt = replace(found, numerators=7 * found.numerators, denominators=7 * found.denominators)
    assert spoilt.volume() == found.volume() == walked(facets, 3).volume()
    assert spoilt.points() == found.points()
