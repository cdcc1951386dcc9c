"""Changes of models: what they do, exactness, words, neighbours and JSON."""

from fractions import Fraction as F

import numpy as np
import pytest

from fairness import Cluster, ModelError, Problem
from fairness.display.storage import dumps, loads
from fairness.properties.changes.changed_model import Grow, Join, Leave, Lie, Units
from fairness.properties.definitions.catalogue import PROPERTIES, property_named
from tests.fairness.properties.instances import integer_cluster, integer_pool

SP = property_named("SP")
POOL = Problem([[16, 1], [F(1, 2), 2]], [100, 90], weights=[1, 2], limits=[5, 7], job_classes=["A", "B"])
CLUSTER = Cluster(
    [[1, 2], [3, 1], [1, 0]],
    [[6, 6], [9, 3], [5, 0]],
    eligible=[[True, False, False], [True, True, False], [True, False, True]],
    weights=[1, 2, 1],
)


def test_lie():
    lie = Lie((0, 1), ((16, F(8)), (1, F(1, 3))))
    assert lie.apply(POOL).as_fractions()[0] == [[16, 8], [1, F(1, 3)]]
    assert lie.apply(POOL).weights.tolist() == [1, 2]
    assert lie.text(POOL) == "A claims (16, 8) instead of (16, 1); B claims (1, 1/3) instead of (1/2, 2)"
    both = Lie((1,), ((3, 2),), ((True, True, False),))
    assert both.text(CLUSTER) == "class 2 claims (3, 2) instead of (3, 1)"
    more = Lie((1,), eligible=((True, False, True),))
    assert more.text(CLUSTER) == "class 2 hides that it may use server 2 and claims that it may use server 3"
    assert Lie((0,), ((16, 1),)).text(POOL) == "A tells the truth"
    assert lie.users == (0, 1)
    assert lie.kind == "lie"
    assert Lie((0,), ((np.int64(3), np.float64(0.5)),)).demands == ((3, 0.5),)


def test_servers_that_nobody_claims_to_use_drop_out():
    after = Lie((1,), eligible=((True, False, False),)).apply(CLUSTER)
    assert after.servers == ("server 1", "server 3")
    assert after.eligible.tolist() == [[True, False], [True, False], [True, True]]
    assert after.is_rational
    left = Leave((2,)).apply(CLUSTER)
    assert (left.servers, left.job_classes) == (("server 1", "server 2"), ("class 1", "class 2"))
    assert left.weights.tolist() == [1, 2]
    joined = Join((0,)).apply(CLUSTER)
    assert joined.servers == ("server 1",)
    assert joined.as_fractions()[1] == [[F(3, 2), F(3, 2)]]


def test_effective_capacities_follow():
    gamma = [[F(5), 0, 0], [1, 2, 0], [3, 0, 7]]
    cluster = CLUSTER.replaced(gamma=gamma, eligible=None)
    hidden = Lie((1,), eligible=((True, False, False),)).apply(cluster)
    assert hidden.as_fractions()[2] == [[5, 0], [1, 0], [3, 7]]
    assert Leave((2,)).apply(cluster).as_fractions()[2] == [[5, 0], [1, 2]]
    assert Join((0, 2)).apply(cluster).as_fractions()[2] == [[F(5, 2), 0], [F(3, 2), F(7, 2)]]
    # Class 1 is stopped by resource 2 of server 1, class 2 by resource 1, class 3 too.
    assert Grow((6, 0), 0).apply(cluster).as_fractions()[2] == [[5, 0, 0], [2, 2, 0], [6, 0, 7]]
    other = Units((1, 10), (2, 1, F(1, 2))).apply(cluster).as_fractions()
    assert other[2] == [[F(5, 2), 0, 0], [1, 2, 0], [6, 0, 14]]
    assert other[0] == [[2, 40], [3, 10], [F(1, 2), 0]]
    floats = cluster.replaced(gamma=np.array(gamma, dtype=float))
    assert Units((1, 10), (2, 1, 1)).apply(floats).gamma[0, 0] == 2.5
    assert Grow((6, 0), 0).apply(floats).gamma[1, 0] == 2


def test_leave_and_join():
    assert Leave((0,)).apply(POOL).limits.tolist() == [7]
    assert Leave((0,)).text(POOL) == "A leaves"
    assert Join((1,)).apply(POOL).as_fractions()[1] == [F(200, 3), 60]
    assert Join((1,)).text(POOL) == "only B joined so far, with 2/3 of every resource"
    assert Join((1, 0)).users == (0, 1)
    assert Join((1, 0)).text(POOL) == "all have joined"
    assert Join((0, 1)).apply(POOL).as_fractions() == POOL.as_fractions()


def test_grow_and_units():
    assert Grow((F(1, 2), 0)).apply(POOL).as_fractions()[1] == [F(201, 2), 90]
    assert Grow((1, 0)).text(POOL) == "the pool grows from (100, 90) to (101, 90)"
    assert Grow((1, 0), 1).text(CLUSTER) == "server 2 grows from (9, 3) to (10, 3)"
    assert Grow((0, 1), 2).apply(CLUSTER).capacities[2].tolist() == [5, 1]
    scaled = Units((2, 1), (1, 4)).apply(POOL)
    assert scaled.as_fractions() == ([[32, 1], [4, 8]], [200, 90])
    assert scaled.limits.tolist() == [5, 7 / 4]
    assert Units((2, 1), (1, 4)).text(POOL) == (
        "resource 1 is measured in units 1/2 as large, a task of B becomes 4 times as large"
    )
    assert Units((0.5, 1), (1, 1)).text(POOL) == "resource 1 is measured in units 1/0.5 as large"


def test_float_models_stay_float_models():
    pool = Problem([[0.5, 1.0], [2.0, 0.25]], [3.0, 4.0])
    for change in (Lie((0,), ((1.5, 2),)), Grow((0.5, 1)), Units((2, 1), (1, 3)), Join((0,)), Leave((0,))):
        assert not change.apply(pool).is_rational
    assert Lie((0,), ((1.5, 2),)).apply(pool).demands[0].tolist() == [1.5, 2]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Lie((), ()), "at least one"),
        (lambda: Lie((0, 0), ((1, 1), (1, 1))), "distinct"),
        (lambda: Lie((0,), ((1, 1), (1, 1))), "one row per liar"),
        (lambda: Lie((5,), ((1, 1),)).apply(POOL), "below 2"),
        (lambda: Lie((0,), ((1,),)).apply(POOL), "demands must have 2 entries per liar"),
        (lambda: Lie((0,), ((1, 2, 3),)).apply(CLUSTER), "2 entries per liar; got 3"),
        (lambda: Lie((0,), ((1, 2, 3),)).text(POOL), "2 entries per liar; got 3"),
        (lambda: Lie((0,), (3,)), "one row per liar, 1"),
        (lambda: Lie((0,), ("12",)), "row of numbers; got '12'"),
        (lambda: Lie((0,), (("a", 1),)), "must be numbers; got 'a'"),
        (lambda: Lie((0,), ((None, 1),)), "must be numbers; got None"),
        (lambda: Lie((0,), ((-1, 1),)), "finite and >= 0"),
        (lambda: Lie((0,), ((np.nan, 1),)), "finite and >= 0"),
        (lambda: Lie(0, ((1, 1),)), "distinct indices"),
        (lambda: Lie((0.5,), ((1, 1),)), "distinct indices"),
        (lambda: Lie("0", ((1, 1),)), "distinct indices"),
        (lambda: Lie((True,), ((1, 1),)), "distinct indices"),
        (lambda: Leave((7,)).text(POOL), "below 2"),
        (lambda: Join((7,)).text(POOL), "below 2"),
        (lambda: Grow((np.inf, 1)), "finite"),
        (lambda: Grow((1, 1), 1.5), "index of a server"),
        (lambda: Grow((1, 1), True), "index of a server"),
        (lambda: Units((np.inf, 1), (1, 1)), "finite"),
        (lambda: Units("ab", (1, 1)), "row of numbers"),
        (lambda: Lie((0,), eligible=((True,),)).apply(POOL), "pool"),
        (lambda: Lie((0,), eligible=((True,),)).apply(CLUSTER), "3 entries"),
        (lambda: Lie((0,), eligible=((False,) * 3,)).apply(CLUSTER), "can run nowhere"),
        (lambda: Leave((0, 1)).apply(POOL), "nobody"),
        (lambda: Grow((1, -1)), ">= 0"),
        (lambda: Grow((1,)).apply(POOL), "2 entries"),
        (lambda: Grow((1, 0), 0).apply(POOL), "None on a pool"),
        (lambda: Grow((1, 0)).apply(CLUSTER), "index on a cluster"),
        (lambda: Grow((1, 0), 3).apply(CLUSTER), "below 3"),
        (lambda: Units((1, 0), (1, 1)), "> 0"),
        (lambda: Units((1, 1), (1,)).apply(POOL), "2 factors"),
    ],
)
def test_nonsense_is_refused(make, message):
    with pytest.raises(ModelError, match=message):
        make()


def random_changes(seed):
    rng = np.random.default_rng(seed)
    for k in range(30):
        n, m, s = (int(v) for v in rng.integers(1, 4, 3))
        models = [
            integer_pool(rng, n, m),
            integer_cluster(rng, n, s, m, effective=k % 3 == 0),
            Problem(rng.random((n, m)) + 0.01, rng.random(m) + 0.1),
        ]
        for model in models:
            for one in PROPERTIES:
                for change in one.changes(model, rng, 5):
                    yield rng, model, change


@pytest.mark.long
def test_candidates_make_sense_and_survive_json():
    kinds = {}
    for _, model, change in random_changes(1):
        after = change.apply(model)
        assert after.is_rational == model.is_rational
        again = loads(dumps(change))
        assert again == change
        assert change.text(model)
        kinds[change.kind] = kinds.get(change.kind, 0) + 1
        if isinstance(change, Lie) and (model.demands > 0).all():
            assert (after.demands > 0).all()
        assert not isinstance(change, Lie) or "truth" not in change.text(model)
    assert set(kinds) == {"lie", "leave", "join", "add capacity", "units"}
    assert min(kinds.values()) > 100


def test_candidates_are_different_and_reproducible():
    pool = Problem([[16, 1], [1, 2]], [100, 100])
    for one in PROPERTIES:
        first = list(one.changes(pool, np.random.default_rng(3), 20))
        assert first == list(one.changes(pool, np.random.default_rng(3), 20))
        assert len(first) <= 20
        if isinstance(next(iter(first), None), Lie):
            assert len(set(first)) == len(first) == 20


def test_lies_reach_beyond_what_is_true():
    """Among the candidates are added and hidden servers, new demands and raised ones."""
    rng = np.random.default_rng(4)
    lies = list(SP.changes(CLUSTER, rng, 200))
    texts = " ".join(lie.text(CLUSTER) for lie in lies)
    assert "hides" in texts
    assert "claims that it may use" in texts
    rows = [(lie.users[0], row) for lie in lies if lie.demands for row in lie.demands]
    assert any(n == 2 and row[1] > 0 for n, row in rows)
    exaggerated = [
        lie.demands[0]
        for lie in SP.changes(Problem([[16, 1], [1, 2]], [100, 100]), rng, 60)
        if lie.users == (0,)
    ]
    assert (16, 16) in exaggerated


def test_positive_models_stay_positive_whatever_their_numbers():
    rng = np.random.default_rng(6)
    tiny = F(1, 10**6)
    for capacities in ([1, 3], [0.5, 5000.0]):
        lies = list(SP.changes(Problem([[tiny, 1], [1, F(2, 3)]], capacities), rng, 100))
        assert len(lies) > 80
        assert all(v > 0 for lie in lies for row in lie.demands for v in row)
        assert all(isinstance(v, int | F) for lie in lies for row in lie.demands for v in row)


def test_measured_capacities_end_where_a_claimed_resource_is_absent():
    cluster = Cluster([[1, 0], [1, 1], [2, 0]], [[4, 0], [4, 4]], gamma=[[3, 2], [0, 2], [1, 0]])
    assert Lie((0,), ((1, 1),)).apply(cluster).as_fractions()[2] == [[0, 2], [0, 2], [1, 0]]
    lies = list(SP.changes(cluster, np.random.default_rng(7), 100))
    assert any(lie.users == (0,) and lie.demands and lie.demands[0][1] > 0 for lie in lies)
    # Class 3 runs on server 1 only, so it never claims the absent resource.
    assert not any(lie.users == (2,) and lie.demands and lie.demands[0][1] > 0 for lie in lies)
    for lie in lies:
        lie.apply(cluster)


@pytest.mark.long
def test_neighbours_are_different_and_simple_ones_come_first():
    seen = 0
    for rng, model, change in random_changes(5):
        for other in list(change.neighbours(model, rng))[:6]:
            seen += 1
            assert other != change
            assert type(other) is type(change)
            assert loads(dumps(other)) == other
            if (model.demands > 0).all() and isinstance(other, Lie) and other.demands:
                assert all(v > 0 for row in other.demands for v in row)
    assert seen > 500
    pool = Problem([[16, 1], [1, 2]], [100, 100])
    rng = np.random.default_rng(0)
    near = list(Lie((0,), ((20, 8),)).neighbours(pool, rng))
    assert near[0].demands[0] in {(16, 8), (20, 1)}
    assert Lie((0,), ((20, 7),)) in near
    assert Lie((0,), ((19, 8),)) in near
    pair = Lie((0, 1), ((16, 8), (2, 2)))
    assert list(pair.neighbours(pool, rng))[:2] == [Lie((1,), ((2, 2),)), Lie((0,), ((16, 8),))]
    assert next(Grow((4, 3)).neighbours(pool, rng)) == Grow((0, 3))
    assert next(Units((2, 3), (1, 1)).neighbours(pool, rng)) == Units((2, 1), (1, 1))
