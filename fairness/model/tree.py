r"""Queues within queues, to which the classes of jobs submit.

A tree has *nodes*, the queues: node 0 is the root, and every parent stands before its children. Each class
submits to one node, any of them. The classes and the child queues of a node are *siblings*: they share what
the node has. A class weighs :math:`x_i w_i` among its siblings (its jobs times the weight of one); a queue
has a weight of its own, whatever number of jobs it holds. A queue without a job below it takes no part.

A node may have bounds for each resource, in units of the resource:

* ``minimum``, what is guaranteed to it of this resource while it has jobs that can use it
  (:mod:`fairness.model.guarantees`);
* ``maximum``, which the jobs below it together never exceed;
* ``lends``, the most of its guarantee that others may use. What it does not lend, its *reserve*
  :math:`\max(\text{minimum} - \text{lends}, 0)`, is kept for it even when it is idle: the use of its parent
  is counted as :math:`\sum_c \max(\text{use}_c, \text{reserve}_c)` over the siblings :math:`c`.

Guarantees may exceed the capacities: each has its part then. Reserves may not, which is for a policy to say,
who meets both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from fairness.arguments.labels import by_label
from fairness.arguments.plain import near, plain
from fairness.arguments.validation import (
    FloatArray,
    checked_names,
    float_array,
    frozen,
    require,
    require_whole,
)
from fairness.display.notebook import notebook_html
from fairness.display.tables import aligned
from fairness.errors import ModelError
from fairness.model.job_classes import JobClasses
from fairness.model.tree_arguments import (
    BOUNDS,
    IntArray,
    checked_bounds,
    checked_parents,
    nested,
    require_names,
    whole,
)

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Tree"]


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Tree:
    """Queues within queues, with weights and bounds, and the classes that submit to them.

    Parameters
    ----------
    names : sequence of str
        One per node; distinct among siblings, without "/". Node 0 is the root.
    parents : sequence of int, shape (n_nodes,)
        Node above each, -1 for the root; a parent stands before its children.
    weights : float or array_like of shape (n_nodes,), optional
        Weight of each queue among its siblings, > 0.
    job_classes : sequence of str
        Names, in any order; those of a problem are looked up among them.
    class_nodes : sequence of int, shape (n_classes,)
        Node to which each class submits.
    resources : sequence of str, optional
        Names of the columns of the bounds; by default the labels of the bounds, or "resource 1", ...; None
        where all bounds have one column without a name, which then holds for every resource.
    minimum, maximum, lends : float or array_like of shape (n_nodes, n_resources) or (n_nodes, 1), optional
        Bounds of each node in units of the resources, see :mod:`fairness.model.tree`; by default nothing is
        guaranteed, nothing is limited, and everything is lent.

    Raises
    ------
    ModelError
        If there is a cycle, a second root, a parent that does not exist or stands after its child, a name
        twice among siblings, a class twice, a weight that is not > 0, a bound that is negative, or a minimum
        that is infinite or above the maximum.

    Examples
    --------
    >>> tree = Tree(["root", "research", "web"], [-1, 0, 0], weights=[1, 2, 1],
    ...             job_classes=["train", "test", "serve"], class_nodes=[1, 1, 2])
    >>> tree
    Tree(3 queues, 3 classes)
      queue       weight  classes
      root             1
        research       2  train, test
        web            1  serve
    >>> tree.path(1), tree.children(0).tolist(), tree.depth
    ('root/research', [1, 2], 1)
    """

    names: tuple[str, ...]
    parents: IntArray
    weights: FloatArray
    job_classes: tuple[str, ...]
    class_nodes: IntArray
    resources: tuple[str, ...] | None
    minimum: FloatArray
    maximum: FloatArray
    lends: FloatArray

    def __init__(
        self,
        names: Sequence[str],
        parents: Sequence[int] | IntArray,
        *,
        weights: ArrayLike = 1.0,
        job_classes: Sequence[str],
        class_nodes: Sequence[int] | IntArray,
        resources: Sequence[str] | None = None,
        minimum: ArrayLike = 0.0,
        maximum: ArrayLike = np.inf,
        lends: ArrayLike = np.inf,
    ) -> None:
        if isinstance(names, str) or not names:
            raise ModelError.of("names", f"must be a sequence of at least one name; got {names!r}")
        labels = tuple(str(name) for name in names)
        above = checked_parents(labels, parents)
        require_names(labels, above)
        w = float_array("weights", by_label({"queues": labels}, {"weights": (weights, ("queues",))})[1][0])
        if w.ndim == 0:
            w = np.full(len(labels), float(w))
        if w.shape != above.shape:
            raise ModelError.of("weights", f"must have shape ({len(labels)},), one per queue; got {w.shape}")
        require("weights", w, np.isfinite(w) & (w > 0), "finite and > 0", labels)
        classes = checked_names("job_classes", job_classes, len(list(class_nodes)), "class")
        nodes = whole("class_nodes", class_nodes)
        for i in np.flatnonzero((nodes < 0) | (nodes >= len(labels))):
            raise ModelError.of(
                "class_nodes", f"has {nodes[i]} for {classes[i]!r}; nodes are 0 to {len(labels) - 1}", i
            )
        columns, bounds = checked_bounds(
            labels, resources, {"minimum": minimum, "maximum": maximum, "lends": lends}
        )
        vars(self).update(
            names=labels,
            parents=frozen(above),
            weights=frozen(w),
            job_classes=classes,
            class_nodes=frozen(nodes),
            resources=columns,
            **{name: frozen(array) for name, array in bounds.items()},
        )

    @classmethod
    def flat(cls, problem: JobClasses) -> Tree:
        """The tree of one queue, to which all classes of a problem submit: no hierarchy at all.

        Examples
        --------
        >>> from fairness import Problem
        >>> Tree.flat(Problem([[1, 4], [3, 1]], [9, 18])).job_classes
        ('class 1', 'class 2')
        """
        classes = problem.job_classes
        return cls(["root"], [-1], job_classes=classes, class_nodes=np.zeros(len(classes), dtype=np.int64))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Tree:
        """Tree of nested plain data: see :mod:`fairness.model.tree_arguments`.

        Raises
        ------
        ModelError
            If a key is unknown, a value has no meaning there, a class stands in two queues, or the tree is
            refused; ``index`` is the way from the root to the place.

        Examples
        --------
        >>> tree = Tree.from_dict({"root": {"queues": {
        ...     "research": {"weight": 2, "classes": ["train", "test"], "minimum": {"GPU": 4}},
        ...     "web": {"classes": ["serve"]}}}})
        >>> tree.minimum[tree.node("root/research")], tree.resources
        (array([4.]), ('GPU',))
        """
        return cls(**nested(data))

    def to_dict(self) -> dict[str, Any]:
        """As nested plain data, from which :meth:`from_dict` makes it again.

        Examples
        --------
        >>> Tree(["all"], [-1], job_classes=["a"], class_nodes=[0], maximum=5).to_dict()
        {'all': {'maximum': 5, 'classes': ['a']}}
        """
        queues: list[dict[str, Any]] = []
        for v, name in enumerate(self.names):
            queue: dict[str, Any] = {} if self.weights[v] == 1 else {"weight": _told(self.weights[v])}
            queue |= self._told_bounds(v)
            if self._submitted[v]:
                queue["classes"] = list(self._submitted[v])
            queues.append(queue)
            if v > 0:
                queues[self.parents[v]].setdefault("queues", {})[name] = queue
        return {self.names[0]: queues[0]}

    def _told_bounds(self, node: int) -> dict[str, Any]:
        told: dict[str, Any] = {}
        for bound, usual in BOUNDS.items():
            row = getattr(self, bound)[node]
            if self.resources is None:
                if row[0] != usual:
                    told[bound] = _told(row[0])
                continue
            # The root names all resources, in their order, so that they are found again.
            every = node == 0 and bound == "minimum"
            own = {r: _told(x) for r, x in zip(self.resources, row, strict=True) if every or x != usual}
            told |= {bound: own} if own else {}
        return told

    @property
    def n_nodes(self) -> int:
        """Number of queues."""
        return len(self.names)

    @cached_property
    def reserve(self) -> FloatArray:
        """What each node does not lend of its guarantee, shape (n_nodes, n_resources)."""
        return frozen(np.maximum(self.minimum - self.lends, 0.0))

    @cached_property
    def is_bounded(self) -> bool:
        """Whether any queue has a minimum or a maximum."""
        return bool(self.minimum.any() or np.isfinite(self.maximum).any())

    @cached_property
    def depths(self) -> IntArray:
        """Steps from the root to each node, shape (n_nodes,)."""
        found = np.zeros(self.n_nodes, dtype=np.int64)
        for v, parent in enumerate(self.parents[1:].tolist(), start=1):
            found[v] = found[parent] + 1
        return frozen(found)

    @property
    def depth(self) -> int:
        """Steps from the root to the deepest queue; 0 without child queues."""
        return int(self.depths.max())

    @cached_property
    def _by_parent(self) -> tuple[IntArray, IntArray]:
        """Nodes but the root, ordered by their parents, and where those of each parent begin."""
        order = np.argsort(self.parents[1:], kind="stable") + 1
        return order, np.searchsorted(self.parents[order], np.arange(self.n_nodes + 1))

    def children(self, node: int) -> IntArray:
        """Child queues of a node, in their order."""
        order, start = self._by_parent
        v = require_whole("node", node, 0, self.n_nodes - 1)
        return order[start[v] : start[v + 1]]

    def classes(self, node: int) -> tuple[str, ...]:
        """Classes that submit to a node itself, not to one below it."""
        v = require_whole("node", node, 0, self.n_nodes - 1)
        return tuple(self.job_classes[i] for i in np.flatnonzero(self.class_nodes == v))

    def way(self, node: int) -> list[int]:
        """A node and those above it, up to the root."""
        v, found = require_whole("node", node, 0, self.n_nodes - 1), []
        while v >= 0:
            found.append(v)
            v = int(self.parents[v])
        return found

    def path(self, node: int) -> str:
        """Names from the root to a node, joined by "/"."""
        return "/".join(self.names[v] for v in reversed(self.way(node)))

    def node(self, path: str) -> int:
        """Node of a path such as "root/research".

        Raises
        ------
        ModelError
            If there is no such queue.
        """
        v, way = -1, str(path).split("/")
        for name in way:
            below = [0] if v < 0 else self.children(v).tolist()
            known = [self.names[c] for c in below]
            if name not in known:
                told = near(name, known) if known else f"{self.names[v]!r} has no queues below it"
                raise ModelError.of("path", f"{path!r}: there is no queue {name!r}; {told}")
            v = below[known.index(name)]
        return v

    def require_classes(self, problem: JobClasses) -> IntArray:
        """Node of each class of a problem, shape (n_classes,).

        Classes of the tree that the problem does not have are as if they had no jobs.

        Raises
        ------
        ModelError
            If a class of the problem is in no queue.
        """
        if problem.job_classes == self.job_classes:
            return self.class_nodes
        place = dict(zip(self.job_classes, self.class_nodes.tolist(), strict=True))
        for i, name in enumerate(problem.job_classes):
            if name not in place:
                raise ModelError(
                    f"job class {name!r} submits to no queue of the tree; add it to a queue "
                    f"({near(name, self.job_classes)})",
                    argument="job_classes",
                    index=(i,),
                )
        return np.array([place[name] for name in problem.job_classes], dtype=np.int64)

    def bounds(self, problem: JobClasses) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Minimum, maximum and reserve with the resources of a problem, shape (n_nodes, n_resources) each.

        A resource that the tree does not mention has no bounds.

        Raises
        ------
        ModelError
            If the tree names a resource that the problem does not have.
        """
        kept = (self.minimum, self.maximum, self.reserve)
        shape = (self.n_nodes, problem.n_resources)
        if self.resources is None:
            low, high, own = (np.broadcast_to(array, shape).copy() for array in kept)
            return low, high, own
        if self.resources == problem.resources:
            return kept
        low, high, own = np.zeros(shape), np.full(shape, np.inf), np.zeros(shape)
        for j, name in enumerate(self.resources):
            if name not in problem.resources:
                raise ModelError.of(
                    "resources", f"of the tree: unknown resource {name!r}; {near(name, problem.resources)}", j
                )
            column = problem.resources.index(name)
            low[:, column], high[:, column], own[:, column] = (array[:, j] for array in kept)
        return low, high, own

    def totals(self, problem: JobClasses, values: FloatArray) -> FloatArray:
        """Sums over all classes below each node, shape (n_nodes, ...), of values with shape (n_classes, ...).

        Examples
        --------
        >>> from fairness import Problem
        >>> tree = Tree(["root", "a"], [-1, 0], job_classes=["x", "y"], class_nodes=[0, 1])
        >>> tree.totals(Problem([[1], [1]], [1], job_classes=["x", "y"]), np.array([2.0, 3.0]))
        array([5., 3.])
        """
        sums = np.zeros((self.n_nodes, *values.shape[1:]))
        np.add.at(sums, self.require_classes(problem), values)
        for depth in range(self.depth, 0, -1):
            level = np.flatnonzero(self.depths == depth)
            np.add.at(sums, self.parents[level], sums[level])
        return sums

    def parts(
        self, home: Sequence[int], weights: Sequence[Any], present: Sequence[bool]
    ) -> tuple[list[Any], list[Any]]:
        """Part of the whole that is due to each class and to each queue, by weights down the tree.

        Parameters
        ----------
        home : sequence of int
            Queue of each class.
        weights : sequence of numbers
            Of the classes; where they are fractions, so are the parts.
        present : sequence of bool
            Which classes count; queues without one have no part, nor weigh anything.

        Examples
        --------
        >>> tree = Tree(["all", "lab"], [-1, 0], job_classes=["x", "y"], class_nodes=[0, 1])
        >>> tree.parts([0, 1], [3.0, 1.0], [True, True])
        ([0.75, 0.25], [1.0, 0.25])
        """
        exact = isinstance(weights[0], Fraction)
        own = [Fraction(w) if exact else w for w in self.weights.tolist()]
        one = weights[0] / weights[0]
        below, some = [0 * one] * self.n_nodes, [False] * self.n_nodes
        for n, v in enumerate(home):
            below[v] += weights[n] if present[n] else 0
            some[v] |= present[n]
        for v in range(self.n_nodes - 1, 0, -1):
            below[self.parents[v]] += own[v] if some[v] else 0
            some[self.parents[v]] |= some[v]
        queues = [one]
        for v, parent in enumerate(self.parents[1:].tolist(), start=1):
            queues.append(queues[parent] * own[v] / below[parent] if some[v] else 0 * one)
        return [
            queues[v] * weights[n] / below[v] if present[n] else 0 * one for n, v in enumerate(home)
        ], queues

    def to_dataframe(self) -> pd.DataFrame:
        """One row per queue, labelled by its path: weight, classes and bounds."""
        import pandas as pd

        frame = pd.DataFrame(
            {"weight": self.weights, "classes": [", ".join(names) for names in self._submitted]},
            index=pd.Index([self.path(v) for v in range(self.n_nodes)], name="queue"),
        )
        for j, name in enumerate(self.resources or ("every resource",)):
            for bound in ("minimum", "maximum", "lends"):
                frame[f"{bound} of {name}"] = getattr(self, bound)[:, j]
        return frame

    @cached_property
    def _submitted(self) -> list[list[str]]:
        submitted: list[list[str]] = [[] for _ in self.names]
        for name, v in zip(self.job_classes, self.class_nodes.tolist(), strict=True):
            submitted[v].append(name)
        return submitted

    @cached_property
    def in_depth_order(self) -> tuple[int, ...]:
        """Nodes as a reader lists them: each after its parent and before its later siblings."""
        order, start = self._by_parent
        found, waiting = [], [0]
        while waiting:
            v = waiting.pop()
            found.append(v)
            waiting.extend(order[start[v] : start[v + 1]][::-1].tolist())
        return tuple(found)

    @property
    def _heading(self) -> str:
        return f"Tree({self.n_nodes} queue{'s'[: self.n_nodes - 1]}, {len(self.job_classes)} classes)"

    def _repr_html_(self) -> str:
        return notebook_html(self._heading, self.to_dataframe(), [])

    def __repr__(self) -> str:
        if self.n_nodes > 40 or len(self.job_classes) > 80:
            return self._heading
        shown = [
            (f"{bound} of {name}" if self.resources else bound, getattr(self, bound)[:, j])
            for j, name in enumerate(self.resources or ("",))
            for bound, usual in BOUNDS.items()
            if (getattr(self, bound)[:, j] != usual).any()
        ]
        table = [["queue", "weight", *(name for name, _ in shown), "classes"]]
        for v in self.in_depth_order:
            numbers = (f"{x:g}" for x in (self.weights[v], *(column[v] for _, column in shown)))
            table.append(
                ["  " * int(self.depths[v]) + self.names[v], *numbers, ", ".join(self._submitted[v])]
            )
        return "\n".join([self._heading, *aligned(table, words=1)])

    @cached_property
    def _key(self) -> tuple[Any, ...]:
        arrays = (self.parents, self.weights, self.class_nodes, self.minimum, self.maximum, self.lends)
        return (self.names, self.job_classes, self.resources, *(array.tobytes() for array in arrays))

    def __eq__(self, other: object) -> bool:
        """Whether both have the same queues, classes and bounds, in the same order."""
        return self._key == other._key if isinstance(other, Tree) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key)


def _told(value: float) -> Any:
    number = plain(float(value))
    return int(number) if number is not None and number == np.floor(number) else number
