"""Small models in integers: complete up to symmetry, inside their domain, and shrinking downwards."""

from fractions import Fraction
from itertools import permutations, product, takewhile
from math import gcd

import numpy as np
import pytest

from fairness import Cluster, ModelError, Problem
from fairness.properties.counterexamples.instances import Sizes, all_sketches, random_sketch
from fairness.properties.counterexamples.neighbours import STAGES, moved
from fairness.properties.counterexamples.sketches import DOMAINS, Sketch, check_domain

MODELS = (Problem, Cluster)


def smaller(sketch, domain="positive"):
    """All smaller sketches, the boldest first."""
    for stage in STAGES:
        yield from stage(sketch, domain)


def orbit(demands, capacities, eligible):
    """All renumberings of a model."""
    n, s, m = len(demands), len(capacities), len(demands[0])
    for rows, hosts, columns in product(*(list(permutations(range(k))) for k in (n, s, m))):
        yield (
            tuple(tuple(demands[k][r] for r in columns) for k in rows),
            tuple(tuple(capacities[i][r] for r in columns) for i in hosts),
            tuple(tuple(eligible[k][i] for i in hosts) for k in rows),
        )


def flags(sketch):
    n, s = len(sketch.demands), len(sketch.capacities)
    return sketch.eligible or ((True,) * s,) * n


@pytest.mark.long
@pytest.mark.parametrize(
    ("models", "shape", "values"),
    [
        (Problem, (2, 1, 2), (1, 2)),
        (Problem, (3, 1, 2), (1, 2)),
        (Problem, (2, 1, 2), (0, 1, 2)),
        (Cluster, (2, 2, 1), (1, 2)),
        (Cluster, (2, 2, 2), (1, 2)),
    ],
)
def test_all_sketches_has_one_model_of_each_orbit(models, shape, values):
    n, s, m = shape
    domain = "any" if 0 in values else "positive"
    found = [
        (k.demands, k.capacities, flags(k))
        for k in takewhile(lambda k: len(k.demands) <= 3, all_sketches(models, domain))
        if (len(k.demands), len(k.capacities), len(k.demands[0])) == shape and max(k.entries) <= max(values)
    ]
    positive = [v for v in values if v > 0]
    patterns = [p for p in product((True, False), repeat=s) if any(p)] if models is Cluster else [(True,)]
    wanted = set()
    for entries in product(values, repeat=n * m):
        demands = tuple(entries[k : k + m] for k in range(0, n * m, m))
        if not all(map(any, demands)):
            continue
        for more in product(positive if models is Problem else values, repeat=s * m):
            capacities = tuple(more[k : k + m] for k in range(0, s * m, m))
            if any(gcd(*column) > 1 for column in zip(*demands, *capacities, strict=True)):
                continue
            for eligible in product(patterns, repeat=n):
                wanted.add(frozenset(orbit(demands, capacities, eligible)))
    assert len(found) == len(set(found)) == len(wanted)
    assert {frozenset(orbit(*model)) for model in found} == wanted


@pytest.mark.parametrize("models", MODELS)
def test_all_sketches_grow_and_never_repeat(models):
    sketches = [k for k, _ in zip(all_sketches(models), range(3000), strict=False)]
    assert len(set(sketches)) == len(sketches) > 1000
    # All models with entries up to 2 come before those of the same shape with larger ones.
    tops = {}
    for k in sketches:
        tops.setdefault(k.size[:3], []).append(max(k.entries) > 2)
    assert len(tops) >= 3
    assert all(row == sorted(row) for row in tops.values() if len(row) > 20)


@pytest.mark.parametrize("models", MODELS)
@pytest.mark.parametrize("domain", DOMAINS)
def test_random_sketches_keep_the_domain_and_the_sizes(models, domain):
    rng = np.random.default_rng(1)
    sizes = Sizes(classes=(2, 4), servers=(2,), resources=(3,), largest=5)
    sketches = [random_sketch(rng, models, domain, sizes=sizes) for _ in range(300)]
    zeros = [0 in k.entries for k in sketches]
    assert any(zeros) == (domain == "any")
    assert {len(k.demands) for k in sketches} == {2, 4}
    assert {len(k.demands[0]) for k in sketches} == {3}
    assert {len(k.capacities) for k in sketches} == {1 if models is Problem else 2}
    assert 5 < max(max(k.entries) for k in sketches) <= 50
    assert any(set(k.weights) != {1} for k in sketches)
    assert any(k.eligible is not None for k in sketches) == (models is Cluster)
    if models is Problem:
        assert all(min(k.capacities[0]) > 0 for k in sketches)
    free = [random_sketch(rng, models, domain, constrained=False) for _ in range(100)]
    assert all(k.eligible is None for k in free)


def test_random_sketches_repeat():
    one, two = (
        [random_sketch(rng, Cluster, "any") for _ in range(50)]
        for rng in (np.random.default_rng(7), np.random.default_rng(7))
    )
    assert one == two


@pytest.mark.parametrize(
    "model",
    [
        Problem([[1, Fraction(2, 3)], [0, 1]], [4, 5], weights=[1, 2]),
        Cluster([[1, 0], [2, 1]], [[4, 5], [3, 0]]),
        Cluster([[1, 1], [2, 1]], [[4, 5], [3, 1]], eligible=[[True, False], [True, True]], weights=[3, 1]),
    ],
)
def test_sketch_and_model_are_the_same(model):
    sketch = Sketch.of(model)
    built = sketch.build()
    assert type(built) is type(model)
    assert built.as_fractions() == model.as_fractions()
    assert built.weights.tolist() == model.weights.tolist()
    assert Sketch.of(built) == sketch


def test_a_missing_resource_is_no_constraint():
    assert Sketch.of(Cluster([[1, 0], [2, 1]], [[4, 5], [3, 0]])).eligible is None


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (Problem([[1.5, 1]], [1, 1]), "floats"),
        (Problem([[1, 1]], [1, 1], limits=[2]), "limits"),
        (Cluster([[1, 1]], [[1, 1]], gamma=[[3]]), "effective capacities"),
    ],
)
def test_what_is_not_searched_is_refused(model, words):
    with pytest.raises(ModelError, match=words):
        Sketch.of(model)


@pytest.mark.parametrize("models", MODELS)
@pytest.mark.parametrize("domain", DOMAINS)
def test_moves_keep_shape_and_domain(models, domain):
    rng = np.random.default_rng(2)
    lowest = 0 if domain == "any" else 1
    for _ in range(30):
        start = random_sketch(rng, models, domain)
        sketches = {moved(start, rng, domain) for _ in range(60)}
        assert len(sketches) > 15
        for sketch in sketches:
            assert sketch.size[:3] == start.size[:3]
            assert min(sketch.entries) >= lowest
            assert min(sketch.weights) >= 1
            assert models is Cluster or min(sketch.capacities[0]) >= 1


@pytest.mark.parametrize("models", MODELS)
@pytest.mark.parametrize("domain", DOMAINS)
def test_smaller_is_smaller_and_ends_at_a_single_class(models, domain):
    rng = np.random.default_rng(3)
    for _ in range(10):
        sketch = random_sketch(rng, models, domain)
        for less in smaller(sketch, domain):
            assert less.size < sketch.size
            assert min(less.entries) >= (0 if domain == "any" else 1)
        # The boldest first: without anything to keep, shrinking goes straight to one class of one resource.
        while (less := next(smaller(sketch, domain), None)) is not None:
            sketch = less
        assert sketch.size[:5] == (1, 1, 1, 0, 0)
        assert set(sketch.entries) == ({0, 1} if models is Problem else {0}) if domain == "any" else {1}


def test_shrinking_fractions_gives_integers():
    sketch = Sketch(((Fraction(7, 2), 1),), ((3, 3),), (1,))
    assert 3 in {less.demands[0][0] for less in smaller(sketch)}


def test_refusals():
    with pytest.raises(ModelError, match="domain must be one of 'positive', 'any'; got 'zero'"):
        check_domain("zero")
    with pytest.raises(ModelError, match=r"sizes\.classes"):
        Sizes(classes=())
    with pytest.raises(ModelError, match=r"sizes\.largest"):
        Sizes(largest=0)
