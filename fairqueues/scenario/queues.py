"""The tree of queues of a scenario: the table [tree], whose keys are paths of queues below the root.

``research = { weight = 2 }`` is a queue below the root, ``"research/vision" = { classes = ["train"] }`` one
below it, and ``"/"`` is the root itself, which needs no entry. Every queue on a path has an entry of its own,
in any order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from pydantic import ConfigDict, Field

from fairness import Cluster, FairqueuesError, ModelError, Problem, Tree
from fairness.arguments.plain import near
from fairness.evidence.reserves import require_reserves
from fairqueues.scenario.key_types import Bound, Name, NotNegative, Positive, Section
from fairqueues.scenario.place import Path, Place

__all__ = ["ROOT", "Queue", "Queues", "table_of_trees", "tree_table"]

ROOT = "root"
"""Name of the root, with which the paths of :meth:`fairness.Tree.path` begin."""

_BOUNDS = ("minimum", "maximum", "lends")


class Queue(Section):
    """A queue of the tree, by its path below the root."""

    weight: Positive = 1
    """Weight among its siblings."""
    classes: list[Name] = Field([])
    """Names of the classes that submit to it."""
    minimum: dict[Name, NotNegative] = Field({}, examples=[{"cpu": 4}])
    """Guaranteed units, by resource."""
    maximum: dict[Name, Bound] = Field({})
    """Most units of all below it, by resource."""
    lends: dict[Name, Bound] = Field({})
    """Most of its guarantee that others may use while it is idle, by resource; default: all."""

    def data(self, key: str, model: Problem | Cluster, place: Place) -> dict[str, Any]:
        """As plain data for :meth:`fairness.Tree.from_dict`; its names are those of the model."""
        named = [("classes", k, name, "class", model.job_classes) for k, name in enumerate(self.classes)]
        named += [(b, r, r, "resource", model.resources) for b in _BOUNDS for r in getattr(self, b)]
        for name, at, word, what, known in named:
            if word not in known:
                raise place.error(("tree", key, name, at), f"unknown {what} {word!r}; {near(word, known)}")
        if key == "/" and self.weight != 1:
            told = "the root has no siblings to be weighed against; remove it"
            raise place.error(("tree", key, "weight"), told)
        # The bounds of the root name every resource, so that the tree has those of the model, in their order.
        every = dict.fromkeys(model.resources, 0) if key == "/" else {}
        return self.model_dump() | {"minimum": every | self.minimum}


class Queues(Section):
    """Queues within queues, each by its path below the root, "research/vision"; "/" is the root."""

    model_config = ConfigDict(
        extra="allow", json_schema_extra={"examples": [{"research": {"weight": 2, "classes": ["A"]}}]}
    )
    __pydantic_extra__: dict[str, Queue]

    def build(self, model: Problem | Cluster, place: Place) -> Tree:
        """Tree of queues, which fits the model.

        Raises
        ------
        ScenarioError
            If a path leads nowhere, a class or resource is unknown, a class is in no queue or in two, or
            bounds contradict each other or the capacities of a pool.
        """
        queues: dict[str, Queue] = dict(self.__pydantic_extra__)
        top = queues.pop("/", Queue.model_validate({}))
        nested = top.data("/", model, place)
        found: dict[tuple[str, ...], dict[str, Any]] = {(): nested}
        submitted: dict[str, str] = {}
        for key, queue in self.__pydantic_extra__.items():
            for k, name in enumerate(queue.classes):
                if submitted.setdefault(name, key) != key:
                    told = f"the class {name!r} is in {submitted[name]!r} too; keep one of them"
                    raise place.error(("tree", key, "classes", k), told)
        for key in sorted(queues, key=lambda key: key.count("/")):
            at, way = ("tree", key), tuple(key.split("/"))
            if not all(name.strip() for name in way):
                raise place.error(at, 'a queue is a path of names below the root, such as "research/vision"')
            if way[:-1] not in found:
                above = "/".join(way[:-1])
                raise place.error(at, f"there is no queue {above!r} above it; {_queue_near(above, queues)}")
            found[way] = queues[key].data(key, model, place)
            found[way[:-1]].setdefault("queues", {})[way[-1]] = found[way]
        for name in model.job_classes:
            if name not in submitted:
                told = f'the class {name!r} is in no queue; add it to the classes of one, "/" is the root'
                raise place.error(("tree",), told)
        try:
            tree = Tree.from_dict({ROOT: nested})
            if isinstance(model, Problem):
                require_reserves(tree, model)
            return tree
        except FairqueuesError as error:
            raise place.error(_place(error, list(_in_order(nested))), str(error)) from None


def _queue_near(name: str, queues: Iterable[str]) -> str:
    known = [key for key in queues if key != name and key.count("/") == name.count("/")]
    return near(name, known, f"add {name!r} = {{}}")


def _in_order(nested: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """Paths of the queues as a tree numbers them: level by level."""
    waiting: list[tuple[tuple[str, ...], dict[str, Any]]] = [((), nested)]
    for way, queue in waiting:  # grows while it is read
        yield way
        waiting.extend(((*way, name), one) for name, one in queue.get("queues", {}).items())


def _place(error: FairqueuesError, ways: list[tuple[str, ...]]) -> Path:
    """The key of the file that an error is about, which names a queue by its number or its way."""
    if error.index and isinstance(error.index[0], int):
        keys: Path = ("tree", "/".join(ways[error.index[0]]) or "/")
        return (*keys, error.argument) if error.argument in _BOUNDS else keys
    names = tuple(part for part in error.index[1:] if isinstance(part, str))
    length = max((len(way) for way in ways if names[: len(way)] == way), default=0)
    return ("tree", "/".join(names[:length]) or "/", *names[length:])


def table_of_trees(policies: Iterable[Any], model: Problem | Cluster) -> dict[str, Any]:
    """The table [tree] of the policies that share among queues, under its key; empty if none does.

    Raises
    ------
    ModelError
        If they have different trees: a scenario has one.
    """
    trees = {policy.tree for policy in policies if getattr(policy, "tree", None) is not None}
    if len(trees) > 1:
        raise ModelError.of("policies", f"have {len(trees)} different trees; a scenario has one")
    return {"tree": tree_table(trees.pop(), model)} if trees else {}


def tree_table(tree: Tree, model: Problem | Cluster) -> dict[str, Any]:
    """The table [tree] of a tree, from which :meth:`Queues.build` makes it again.

    Examples
    --------
    >>> pool = Problem([[1, 4], [3, 1]], [9, 18], job_classes=["A", "B"], resources=["cpu", "ram"])
    >>> tree = Tree(["root", "a"], [-1, 0], weights=[1, 2], job_classes=["A", "B"], class_nodes=[1, 0])
    >>> tree_table(tree, pool)
    {'/': {'classes': ['B']}, 'a': {'weight': 2.0, 'classes': ['A']}}
    """
    low, high, _ = tree.bounds(model)
    lends = tree.lends if tree.resources == model.resources else tree.bounds(model)[0] - tree.bounds(model)[2]
    found = {}
    for v in range(tree.n_nodes):
        queue: dict[str, Any] = {} if tree.weights[v] == 1 else {"weight": float(tree.weights[v])}
        kept = (low[v] > 0, np.isfinite(high[v]), lends[v] < low[v])
        for bound, row, said in zip(_BOUNDS, (low[v], high[v], lends[v]), kept, strict=True):
            if said.any():
                queue[bound] = {model.resources[j]: float(row[j]) for j in np.flatnonzero(said)}
        if tree.classes(v):
            queue["classes"] = list(tree.classes(v))
        if v > 0 or queue:
            found[tree.path(v).partition("/")[2] or "/"] = queue
    return found
