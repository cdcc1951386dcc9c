"""A tree of queues as records: depth first, classes beside their queue.

Below queue v are the queues v + 1 to ``last`` - 1; its own classes are ``first`` to ``end`` - 1. Its
children, classes before queues, have the places 0, 1, ... among them. A kernel that is run as it is written
reads and writes the same fields of plain objects, which is ten times faster than records of numpy.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from fairness.arguments.validation import IntArray
from fairness.model.problem import FloatArray, Problem
from fairness.model.tree import Tree

__all__ = ["Work", "tree_arrays"]

Records = Any
"""An array of records, or plain objects by their index."""


def _record(whole: str, real: str) -> np.dtype[np.void]:
    return np.dtype([*((name, "i8") for name in whole.split()), *((name, "f8") for name in real.split())])


QUEUE = _record(
    "parent last first end offset size place status live risers changes cause stuck due jumped",
    "weight level clock since factor share slope speed wait",
)
"""A queue: level and clock; its clock's speed on that of its parent and where it stood there when it was last
brought up to date; its share, how fast that rises, how fast what it holds does at most, and the time to the
next event, on its own clock."""

CELL = _record(
    "full shut lacks short",
    "ceiling kept free used growth growth_above held gain gain_above promised promising promising_above",
)
"""A queue and a resource, in shares of the capacity: whether it is full there, and shut; whether the queue
uses less than is kept for it, and how many do at or below it; its bound, what is kept, and what its own
guarantee covers; what counts as used, its speed on the own clock and on that of the parent; the same for what
it holds, and for what those below it hold by their guarantees."""

CLAIM = _record("own", "minimum reserve classes most below amount weight least guarantee")
"""What the guarantee of a queue is made of: whether its own is no less than those below it; the bounds; the
most that its classes can use, and all below it; what is claimed below it and by it; what claims are weighed
by if they are too many, and what is left to it even then."""

CLASS = _record("index state", "rate most at")
"""A class: its number, what it does, tasks per level, most tasks, and its level while it does not rise."""

RUN = _record("lent rows", "")
"""A filling: whether guarantees are lent; rows of the record that there were, -1: none is wanted."""


class Work(NamedTuple):
    """All that a filling reads and changes."""

    queue: Records
    cell: Records
    claim: Records
    job: Records
    run: Records
    child: IntArray  # (n_classes + n_nodes - 1,): queues by their places, from the offset of their parent on
    keys: FloatArray  # a tournament per queue: the clock at which something happens to a child
    scratch: FloatArray  # (n_resources,)
    shares: FloatArray  # (n_classes, n_resources) of one task of each class, depth first
    measure: FloatArray  # the same shape: what one task adds to what its queue holds
    plain: bool  # the measure is none of resources: it stands in the first column, and none is ignored
    naive: bool
    borrowed: bool
    guaranteed: bool  # something is guaranteed to some queue


def tree_arrays(
    tree: Tree, problem: Problem, measure: FloatArray, *, naive: bool, borrowed: bool, compiled: bool
) -> Work:
    """Queues of a tree for a problem; bounds as shares of the capacities.

    Parameters
    ----------
    measure : ndarray of shape (n_classes, n_resources) or (n_classes, 1)
        What one task adds to what its queue holds; one column has nothing to do with resources.
    compiled : bool
        Whether records are those of numpy.
    """
    nodes, n, m = tree.n_nodes, problem.n_classes, problem.n_resources
    preorder = np.array(tree.in_depth_order, dtype=np.int64)
    rank = np.empty(nodes, dtype=np.int64)
    rank[preorder] = np.arange(nodes)
    parent = np.where(tree.parents < 0, -1, rank[tree.parents])[preorder]
    last = np.arange(1, nodes + 1)
    for v in range(nodes - 1, 0, -1):
        last[parent[v]] = max(last[parent[v]], last[v])
    node_of = rank[tree.require_classes(problem)]
    job = np.zeros(n, CLASS)
    job["index"] = np.argsort(node_of, kind="stable")
    first = np.searchsorted(node_of[job["index"]], np.arange(nodes + 1))
    queue, cell, claim = np.zeros(nodes, QUEUE), np.zeros((nodes, m), CELL), np.zeros((nodes, m), CLAIM)
    queue["parent"], queue["last"], queue["first"], queue["end"] = parent, last, first[:-1], first[1:]
    queue["weight"] = tree.weights[preorder]
    child = _children(queue, n)
    low, high, own = tree.bounds(problem)
    some = problem.capacities > 0
    for held, bound, empty in (
        (claim["minimum"], low, 0.0),
        (cell["ceiling"], high, np.inf),
        (claim["reserve"], own, 0.0),
    ):
        held[:] = np.divide(bound[preorder], problem.capacities, out=np.full((nodes, m), empty), where=some)
    cell["ceiling"][0, some] = np.minimum(cell["ceiling"][0, some], 1.0)
    shares, plain = problem.task_shares[job["index"]], None
    if measure is not problem.task_shares:
        plain = np.pad(measure[job["index"]], ((0, 0), (0, m - 1)))
    records: dict[str, Any] = {
        name: one.view(np.recarray) if compiled else _plain(one)
        for name, one in {
            "queue": queue, "cell": cell, "claim": claim, "job": job, "run": np.zeros(1, RUN)
        }.items()
    }  # fmt: skip
    return Work(
        **records,
        child=child,
        keys=np.zeros(2 * (n + nodes)),
        scratch=np.zeros(m),
        shares=shares,
        measure=shares if plain is None else plain,
        plain=plain is not None,
        naive=naive,
        borrowed=borrowed,
        guaranteed=bool(low.any()),
    )


def _children(queue: Records, n_classes: int) -> IntArray:
    """Note where the children of each queue begin and the place of each among them; who they are."""
    nodes, parent = len(queue), queue["parent"]
    own = queue["end"] - queue["first"]
    below = np.bincount(parent[1:], minlength=nodes)
    queue["size"] = own + below
    queue["offset"] = np.cumsum(queue["size"]) - queue["size"]
    by_parent = np.argsort(parent[1:], kind="stable") + 1
    earlier = np.arange(nodes - 1) - np.repeat(np.cumsum(below) - below, below)
    queue["place"][by_parent] = own[parent[by_parent]] + earlier
    child = np.zeros(n_classes + nodes - 1, dtype=np.int64)
    child[queue["offset"][parent[1:]] + queue["place"][1:]] = np.arange(1, nodes)
    return child


def _plain(records: Records) -> dict[Any, SimpleNamespace]:
    """The records as objects."""
    found = {}
    for at in np.ndindex(records.shape):
        fields = zip(records.dtype.names, records[at].item(), strict=True)
        found[at if records.ndim > 1 else at[0]] = SimpleNamespace(**dict(fields))
    return found
