"""Queues within queues: what a tree knows, what it refuses, and that it survives being written."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from fairness import ModelError, Problem, Tree
from fairness.display.storage import dumps, loads

NESTED = {
    "root": {
        "classes": ["x"],
        "queues": {
            "a": {
                "weight": "3/2",
                "minimum": {"CPU": 4, "GPU": 1},
                "queues": {"left": {"classes": ["y", "z"]}, "right": {"maximum": {"GPU": 2}}},
            },
            "b": {"classes": ["w"], "minimum": {"CPU": 3}, "lends": {"CPU": 1}},
        },
    }
}


def build(names: str, parents: list[int], **given: object) -> Tree:
    return Tree(names.split(), parents, **({"job_classes": [], "class_nodes": []} | given))  # type: ignore[arg-type]


def test_nested_data_become_arrays_and_nested_data_again() -> None:
    tree = Tree.from_dict(NESTED)
    assert [tree.path(v) for v in range(tree.n_nodes)] == [
        "root",
        "root/a",
        "root/b",
        "root/a/left",
        "root/a/right",
    ]
    assert tree.parents.tolist() == [-1, 0, 0, 1, 1]
    assert tree.depths.tolist() == [0, 1, 1, 2, 2]
    assert tree.depth == 2
    assert tree.weights.tolist() == [1, 1.5, 1, 1, 1]
    assert tree.resources == ("CPU", "GPU")
    assert tree.minimum.tolist() == [[0, 0], [4, 1], [3, 0], [0, 0], [0, 0]]
    assert tree.maximum[4].tolist() == [np.inf, 2]
    assert tree.reserve.tolist() == [[0, 0], [0, 0], [2, 0], [0, 0], [0, 0]]
    assert [tree.classes(v) for v in range(5)] == [("x",), (), ("w",), ("y", "z"), ()]
    assert [tree.children(v).tolist() for v in range(5)] == [[1, 2], [3, 4], [], [], []]
    assert tree.in_depth_order == (0, 1, 3, 4, 2)
    assert [tree.node(tree.path(v)) for v in range(5)] == list(range(5))
    again = Tree.from_dict(tree.to_dict())
    assert again == tree
    assert hash(again) == hash(tree)
    assert loads(dumps(tree)) == tree
    frame = tree.to_dataframe()
    assert frame.loc["root/b", "lends of CPU"] == 1
    assert frame.loc["root/a/left", "classes"] == "y, z"
    assert "root/a" in tree._repr_html_()
    assert repr(tree).splitlines()[2].split() == ["root", "1", "0", "inf", "0", "inf", "x"]


def test_trees_that_differ_are_not_equal() -> None:
    tree = Tree.from_dict(NESTED)
    assert tree != build("root", [-1])
    assert tree != "root"
    assert build("root", [-1]) != build("root", [-1], maximum=3)
    assert build("root", [-1], maximum=3) == build("root", [-1], maximum=[[3]])
    assert build("root", [-1], maximum=3) != build("root", [-1], maximum=[[3, 3]])


def test_bounds_and_classes_follow_the_names_of_the_problem() -> None:
    tree = Tree.from_dict(NESTED)
    pool = Problem(np.ones((3, 3)), [9, 9, 9], job_classes=["w", "x", "y"], resources=["GPU", "net", "CPU"])
    assert tree.require_classes(pool).tolist() == [2, 0, 3]
    low, high, own = tree.bounds(pool)
    assert low[1].tolist() == [1, 0, 4]
    assert high[4].tolist() == [2, np.inf, np.inf]
    assert own[2].tolist() == [0, 0, 2]
    assert tree.totals(pool, np.array([1.0, 2.0, 4.0])).tolist() == [7, 4, 1, 4, 0]
    table = pd.DataFrame({"GPU": [0, 1.0], "net": [2, 2.0]})
    named = build("root a", [-1, 0], maximum=table)
    assert named.resources == ("GPU", "net")
    assert named.bounds(pool)[1].tolist() == [[0, 2, np.inf], [1, 2, np.inf]]
    every = build("root a", [-1, 0], maximum=5)
    assert every.resources is None
    assert every.bounds(pool)[1].tolist() == [[5, 5, 5], [5, 5, 5]]
    assert Tree.from_dict(every.to_dict()) == every
    with pytest.raises(ModelError, match="job class 'v' submits to no queue of the tree") as refused:
        tree.require_classes(pool.replaced(job_classes=["w", "v", "y"]))
    assert refused.value.index == (1,)
    with pytest.raises(ModelError, match="unknown resource 'CPU'"):
        tree.bounds(pool.replaced(resources=["GPU", "net", "RAM"]))


@pytest.mark.parametrize(
    ("names", "parents", "said", "argument", "index"),
    [
        ("root a b c", [-1, 3, 1, 2], "has a cycle: 'a' under 'c' under 'b' under 'a'", "parents", (1,)),
        ("root a", [-1, 1], "has a cycle: 'a' under 'a'", "parents", (1,)),
        ("root a b", [-1, 2, 0], "list parents before children", "parents", (1,)),
        ("root a b", [-1, 0, 5], "nodes are 0 to 2", "parents", (2,)),
        ("root a", [-1, -1], "only node 0 is a root", "parents", (1,)),
        ("root a", [0, 0], "must be -1 for node 0", "parents", (0,)),
        ("root a", [-1, 0.5], "must be a whole number; got 0.5", "parents", (1,)),
        ("root a", [-1], r"must have shape \(2,\)", "parents", ()),
        ("root a a", [-1, 0, 0], "'a' occurs twice under 'root'", "names", (2,)),
        ("root a/b", [-1, 0], "without '/'", "names", (1,)),
    ],
)
def test_what_is_no_tree_is_refused(
    names: str, parents: list[int], said: str, argument: str, index: tuple[int, ...]
) -> None:
    with pytest.raises(ModelError, match=said) as refused:
        build(names, parents)
    assert (refused.value.argument, refused.value.index) == (argument, index)


@pytest.mark.parametrize(
    ("given", "said", "index"),
    [
        ({"weights": [1, 0]}, "weights must be finite and > 0; got 0.0", (1,)),
        ({"weights": [1, 2, 3]}, r"weights must have shape \(2,\)", ()),
        ({"minimum": [[0], [-1]]}, "minimum must be finite and >= 0", (1, 0)),
        ({"minimum": np.inf}, "minimum must be finite", (0, 0)),
        ({"lends": [[1], [-2]]}, "lends must be >= 0", (1, 0)),
        ({"minimum": [[0], [3]], "maximum": [[5], [2]]}, "of 'a' is 3 of 'every resource', above", (1, 0)),
        ({"minimum": [1, 2]}, "queues x resources; got shape", ()),
        ({"minimum": [[1, 2, 3]] * 2, "resources": ["CPU", "GPU"]}, r"have shape \(2, 2\)", ()),
        ({"job_classes": ["x", "x"], "class_nodes": [0, 1]}, "'x' occurs more than once", ()),
        ({"job_classes": ["x"], "class_nodes": [2]}, "has 2 for 'x'; nodes are 0 to 1", (0,)),
        ({"job_classes": ["x"], "class_nodes": [0, 1]}, "must list 2 names", ()),
    ],
)
def test_bad_entries_are_refused_by_their_place(
    given: dict[str, object], said: str, index: tuple[int, ...]
) -> None:
    with pytest.raises(ModelError, match=said) as refused:
        build("root a", [-1, 0], **given)
    assert refused.value.index == index


@pytest.mark.parametrize(
    ("data", "said", "index"),
    [
        ({}, "one key, the root", ()),
        ({"a": {}, "b": {}}, "one key, the root", ()),
        ({"root": 3}, "'root' must be an object", ("root",)),
        ({"root": {"wight": 1}}, "'root' has no 'wight'; did you mean 'weight'", ("root", "wight")),
        ({"root": {"weight": "a half"}}, "'root/weight' has 'a half'", ("root", "weight")),
        ({"root": {"minimum": {"CPU": None}}}, "'root/minimum/CPU' has None", ("root", "minimum", "CPU")),
        ({"root": {"maximum": True}}, "'root/maximum' has True", ("root", "maximum")),
        ({"root": {"classes": "web"}}, "must be a list of names; got 'web'", ("root", "classes")),
        ({"root": {"queues": ["a"]}}, "must be an object of queues by name", ("root",)),
        (
            {"root": {"classes": ["x"], "queues": {"a": {"classes": ["x"]}}}},
            "class 'x' stands in 'root' and in 'root/a'",
            ("root", "a", "classes", "x"),
        ),
    ],
)
def test_nested_data_are_refused_with_the_way_to_the_place(
    data: object, said: str, index: tuple[str, ...]
) -> None:
    with pytest.raises(ModelError, match=said) as refused:
        Tree.from_dict(data)  # type: ignore[arg-type]
    assert refused.value.index == index


def test_places_that_do_not_exist() -> None:
    tree = Tree.from_dict(NESTED)
    with pytest.raises(ModelError, match="no queue 'lft'; did you mean 'left'"):
        tree.node("root/a/lft")
    with pytest.raises(ModelError, match="'b' has no queues below it"):
        tree.node("root/b/c")
    with pytest.raises(ModelError, match="no queue 'a'"):
        tree.node("a")
    with pytest.raises(ModelError, match="node must be a whole number"):
        tree.path(9)
