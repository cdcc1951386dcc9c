"""Orders of Apache Mesos, from src/tests/sorter_tests.cpp at commit c1b42f7 (1.12)."""

from fractions import Fraction as F

import numpy as np
import pytest

from fairness import ModelError
from fairness.schedulers import dominant_share, mesos_order

HUNDRED = [100, 100]


def order(held, total=HUNDRED, **options):
    """Roles in order; ``held`` is a mapping from path to what each holds."""
    return mesos_order(list(held), list(held.values()), total, **options)


A, B, C, D = [5, 5], [6, 6], [1, 1], [3, 1]
LATER = {"b": [2, 2], "c": C, "d": D, "e": [1, 5]}
LAST = {"b": [2, 2], "c": [1, 16], "d": D, "e": [1, 5], "f": [5, 1]}

# DRFSorterTest.DRF, step by step: what is held, of how much, shares in hundredths as its comments say, order.
DRF = [
    ({"a": A, "b": B}, HUNDRED, [5, 6], "a b"),
    ({"a": A, "b": B, "c": C, "d": D}, HUNDRED, [5, 6, 1, 3], "c d a b"),
    ({"b": [2, 2], "c": C, "d": D}, HUNDRED, [2, 1, 3], "c b d"),
    (LATER, [50, 100], [4, 2, 6, 5], "c b e d"),
    (LAST, [50, 200], [4, 8, 6, F(5, 2), 10], "e b d c f"),
]


@pytest.mark.parametrize(("held", "total", "hundredths", "expected"), DRF)
def test_drf(held, total, hundredths, expected):
    shares = dominant_share([[F(v) for v in row] for row in held.values()], total)
    assert list(shares) == [F(h) / 100 for h in hundredths]
    assert order(held, total) == expected.split()


@pytest.mark.parametrize(("held", "total", "hundredths", "expected"), DRF)
@pytest.mark.parametrize("nested", [{}, {"a": "a/a/a/a/a", "b": "b/b/b/b", "c": "c/c/c", "e": "e/e/e/e/e/e"}])
def test_hierarchies_of_one_child_change_nothing(held, total, hundredths, expected, nested):
    """DRFSorterTest.ShallowHierarchy and DeepHierarchy."""
    path = {name: nested.get(name, f"{name}/{name}") for name in "abcdef"}
    found = order({path[name]: row for name, row in held.items()}, total)
    assert found == [path[name] for name in expected.split()]


def test_an_inactive_role_is_left_out():
    assert order(LAST, [50, 200], active=[True, True, False, True, True]) == ["e", "b", "c", "f"]


# DRFSorterTest.WDRF and UpdateWeight.
WDRF = [
    ({"a": A, "b": B}, {"b": 2}, [5, 3], "b a"),
    ({"a": A, "b": B, "c": [4, 4]}, {"b": 2}, [5, 3, 4], "b c a"),
    ({"a": A, "b": B, "c": [4, 4], "d": [10, 20]}, {"b": 2, "d": 10}, [5, 3, 4, 2], "d b c a"),
    ({"a": A, "c": [4, 4], "d": [10, 20]}, {"d": 10}, [5, 4, 2], "d c a"),
    ({"a": A, "c": [4, 4], "d": [20, 45]}, {"d": 10}, [5, 4, F(9, 2)], "c d a"),
    (
        {"a": A, "c": [4, 4], "d": [20, 45], "e": [1, 1]},
        {"d": 10, "e": F(1, 10)},
        [5, 4, F(9, 2), 10],
        "c d a e",
    ),
    ({"c": [4, 4], "d": [20, 45], "e": [1, 1]}, {"d": 10, "e": F(1, 10)}, [4, F(9, 2), 10], "c d e"),
    ({"a": A, "b": B}, {}, [5, 6], "a b"),
]


@pytest.mark.parametrize(("held", "weights", "hundredths", "expected"), WDRF)
def test_wdrf(held, weights, hundredths, expected):
    shares = dominant_share(list(held.values()), HUNDRED, [F(weights.get(name, 1)) for name in held])
    assert list(shares) == [F(h) / 100 for h in hundredths]
    assert order(held, weights=weights) == expected.split()


@pytest.mark.parametrize(
    ("held", "counts", "expected"),
    [
        ([3, 3, 3, 3, 3], [1, 1, 3, 2, 1], "a b e d c"),
        ([3, 3, 0, 3, 3], [1, 1, 3, 2, 1], "c a b e d"),
        ([3, 3, 3, 3, 3], [1, 1, 5, 2, 1], "a b e d c"),
        ([3, 3, 3, 3, 3], [2, 1, 5, 2, 1], "b e a d c"),
    ],
)
def test_allocation_count_breaks_ties(held, counts, expected):
    """DRFSorterTest.AllocationCountTieBreak; then by name."""
    assert order({name: [h, h] for name, h in zip("abcde", held, strict=True)}, allocations=counts) == (
        expected.split()
    )


@pytest.mark.parametrize(
    ("held", "expected"),
    [
        ({"a": 0, "b/c": 0, "b/d": 0}, "a b/c b/d"),
        ({"a": 6, "b/c": 0, "b/d": 0}, "b/c b/d a"),
        ({"a": 6, "b/c": 4, "b/d": 3}, "a b/d b/c"),
        ({"a": 8, "b/c": 4, "b/d": 3}, "b/d b/c a"),
        ({"a": 8, "b/c": 4, "b/d": 3, "b/e/f": 0}, "b/e/f b/d b/c a"),
        ({"a": 8, "b/c": 4, "b/d": 3, "b/e/f": 3.5}, "a b/d b/e/f b/c"),
        ({"a": 8, "b/c": 1, "b/d": 3}, "b/c b/d a"),
        ({"a": 8, "b/c": 1, "b/d": 3, "b/e/f": 3.5}, "b/c b/d b/e/f a"),
    ],
)
def test_hierarchical_allocation(held, expected):
    """DRFSorterTest.HierarchicalAllocation."""
    assert order({path: [h, h] for path, h in held.items()}) == expected.split()


@pytest.mark.parametrize(
    ("held", "weights", "expected"),
    [
        # HierarchicalIterationOrder
        ({"a/b": 0, "c": 0, "d": 0, "d/e": 0}, {}, "a/b c d d/e"),
        ({"a/b": 0, "c": 8, "d": 0, "d/e": 0}, {}, "a/b d d/e c"),
        ({"a/b": 0, "c": 8, "d": 3, "d/e": 2}, {}, "a/b d/e d c"),
        ({"a/b": 6, "c": 8, "d": 3, "d/e": 2}, {}, "d/e d a/b c"),
        # AddChildToLeaf
        ({"a": 10, "b": 6, "a/c": 5}, {}, "b a/c a"),
        ({"b": 6, "a/c": 5}, {}, "a/c b"),
        ({"a": 10, "b": 6, "a/c": 5}, {"a/c": 0.2}, "b a a/c"),
        ({"a": 10, "b": 6, "a/c": 5}, {"a/c": 0.2, "a": 3}, "a a/c b"),
        ({"a": 10, "b": 6, "a/c": 5}, {"a": 3}, "a/c a b"),
        # AddChildToInternal
        ({"x/a": 10, "x/b": 6, "x": 7}, {}, "x/b x x/a"),
        ({"x/a": 10, "x/b": 6, "x": 7, "z": 20}, {}, "z x/b x x/a"),
        ({"x/a": 10, "x/b": 6, "z": 20}, {}, "x/b x/a z"),
        # ChangeWeightOnSubtree
        ({"a/x": 10, "b/y": 10}, {"a": 2, "b": 3}, "b/y a/x"),
        ({"a/x": 10, "b/y": 10, "b/z": 5}, {"a": 2, "b": 3}, "b/z b/y a/x"),
        ({"a/x": 10, "b/y": 10, "b/z": 5, "b": 4}, {"a": 2, "b": 3}, "a/x b b/z b/y"),
        (
            {"a/x": 10, "b/y": 10, "b/z": 5, "b": 4, "a/zz": 2},
            {"a": 2, "b": 3},
            "a/zz a/x b b/z b/y",
        ),
    ],
)
def test_roles_above_others(held, weights, expected):
    assert order({path: [h, h] for path, h in held.items()}, weights=weights) == expected.split()


@pytest.mark.parametrize(
    ("held", "total", "expected"),
    [
        ({"a": [2, 1], "b": [1, 2]}, [10, 100], "b a"),  # UpdateTotal
        ({"a": [2, 1], "b": [1, 2]}, [100, 10], "a b"),
        ({"a": [2, 1], "b": [1, 3]}, [10, 100], "b a"),  # MultipleSlavesUpdateTotal
        ({"a": [2, 1], "b": [1, 3]}, [100, 100], "a b"),
        ({"a": [6], "b": [4]}, [10], "b a"),  # RemoveResources
        ({"a": [1], "b": [4]}, [5], "a b"),
    ],
)
def test_changing_totals(held, total, expected):
    assert order(held, total) == expected.split()


def test_refusals():
    with pytest.raises(ModelError, match="'a' twice"):
        mesos_order(["a", "a"], [[1], [1]], [1])
    with pytest.raises(ModelError, match="empty parts"):
        mesos_order(["a//b"], [[1]], [1])
    with pytest.raises(ModelError, match=r"empty parts and '\.'; got 'a/\.'"):
        mesos_order(["a", "a/."], [[1], [1]], [1])
    with pytest.raises(ModelError, match="no role 'x'"):
        mesos_order(["a/b"], [[1]], [1], weights={"x": 2})
    with pytest.raises(ModelError, match="must be > 0"):
        mesos_order(["a/b"], [[1]], [1], weights={"a": 0})
    with pytest.raises(ModelError, match="2 entries"):
        mesos_order(["a", "b"], np.ones((2, 1)), [1], active=[True])
