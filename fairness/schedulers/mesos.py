r"""The order of Apache Mesos: roles in a tree, by the dominant share of all that a subtree holds.

Mesos' ``DRFSorter`` [1]_ keeps roles like ``eng/dev`` as a tree. The share of a node is the dominant share of
everything below it, divided by its own weight; siblings are sorted by share, ties by the number of
allocations that were made to them, then by path; roles are served in the order in which a walk meets them.
This is the naive recursion that H-DRF [2]_ was written against: a child that holds much of one resource puts
its siblings, who want another one, behind their cousins.

References
----------
.. [1] Apache Mesos, ``src/master/allocator/mesos/sorter/drf/sorter.{hpp,cpp}`` (1.12, commit c1b42f7).
.. [2] A. A. Bhattacharya et al., "Hierarchical scheduling for diverse datacenter workloads", SoCC 2013.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairness.errors import ModelError
from fairness.schedulers.quantities import Numbers, quantities
from fairness.schedulers.shares import dominant_share

__all__ = ["mesos_order"]


@dataclass
class _Role:
    path: str
    held: Any
    allocations: int = 0
    client: int | None = None
    children: dict[str, _Role] = field(default_factory=dict)


def mesos_order(
    roles: Sequence[str],
    usage: ArrayLike,
    total: ArrayLike,
    *,
    weights: Mapping[str, float] | None = None,
    allocations: Sequence[int] | None = None,
    active: Sequence[bool] | None = None,
) -> list[str]:
    """Roles in the order in which Mesos offers them resources.

    Parameters
    ----------
    roles : sequence of str
        Paths such as "eng/dev"; a role may stand above others.
    usage : array_like of shape (n_roles, n_resources), units of resource
    total : array_like of shape (n_resources,), units of resource
    weights : mapping from path to float, default 1 each
        Also of roles that only stand above others.
    allocations : sequence of int, optional
        Allocations made to each role so far, which break ties.
    active : sequence of bool, optional
        Roles that are not are left out, but what they hold counts.

    Returns
    -------
    list of str

    Raises
    ------
    ModelError
        If a path has an empty part or "." or stands twice, a weight is not > 0 or its path unknown, or shapes
        do not fit.

    Examples
    --------
    >>> mesos_order(["a", "b/c", "b/d"], [[6, 6], [4, 4], [3, 3]], [100, 100])
    ['a', 'b/d', 'b/c']
    """
    usage, total = quantities(usage=usage, total=total)
    if usage.ndim != 2 or len(usage) != len(roles):
        raise ModelError.of("usage", f"must have shape ({len(roles)}, n_resources); got {usage.shape}")
    counts = np.zeros(len(roles), dtype=int) if allocations is None else np.asarray(allocations)
    present = np.ones(len(roles), dtype=bool) if active is None else np.asarray(active)
    for name, given in (("allocations", counts), ("active", present)):
        if given.shape != (len(roles),):
            raise ModelError.of(name, f"must have {len(roles)} entries, one a role; got shape {given.shape}")
    root = _tree(roles, usage, counts)
    given_weights = dict(weights or {})
    known = _paths(root) if given_weights else set()
    for path, weight in given_weights.items():
        if path not in known:
            raise ModelError.of(
                "weights", f"has no role {path!r}; roles are {', '.join(sorted(known))}", path
            )
        if not weight > 0:
            raise ModelError.of("weights", f"must be > 0; got {weight} for {path!r}", path)
    found: list[str] = []
    _walk(root, total, given_weights, present, found)
    return found


def _tree(roles: Sequence[str], usage: Numbers, counts: Any) -> _Role:
    nothing = usage[:0].sum(axis=0)
    root = _Role("", nothing)
    for i, path in enumerate(roles):
        parts = path.split("/")
        if not all(parts) or "." in parts:
            raise ModelError.of("roles", f"must be paths without empty parts and '.'; got {path!r}", i)
        node = root
        for depth, part in enumerate(parts):
            inner = "/".join(parts[: depth + 1])
            node = node.children.setdefault(part, _Role(inner, nothing))
            node.held, node.allocations = node.held + usage[i], node.allocations + int(counts[i])
        if node.client is not None:
            raise ModelError.of("roles", f"has {path!r} twice", i)
        node.client = i
    _own_leaves(root, usage, counts)
    return root


def _own_leaves(node: _Role, usage: Numbers, counts: Any) -> None:
    """A role above others that holds something itself stands among its children as ``path/.``."""
    for child in list(node.children.values()):
        _own_leaves(child, usage, counts)
    if node.children and node.client is not None:
        own = _Role(f"{node.path}/.", usage[node.client], int(counts[node.client]), node.client)
        node.children["."] = own
        node.client = None


def _paths(node: _Role) -> set[str]:
    return {node.path}.union(*map(_paths, node.children.values())) - {""}


def _walk(node: _Role, total: Numbers, weights: Mapping[str, float], active: Any, found: list[str]) -> None:
    if node.client is not None and active[node.client]:
        found.append(node.path.removesuffix("/."))
    if node.children:
        children = list(node.children.values())
        shares = dominant_share(
            np.array([child.held for child in children]), total, [weights.get(c.path, 1) for c in children]
        ).tolist()
        keyed = zip(shares, ((c.allocations, c.path) for c in children), children, strict=True)
        for _, _, child in sorted(keyed, key=lambda row: row[:2]):
            _walk(child, total, weights, active, found)
