"""What callers hand in as a tree of queues, checked; and trees as nested plain data, for JSON and TOML.

Nested data are one object with one key, the name of the root; a queue is an object with these keys, all
optional:

============================ ==========================================================================
key                          value
============================ ==========================================================================
``weight``                   number > 0, 1 by default
``classes``                  list of the names of the classes that submit to it
``minimum``, ``maximum``,    objects with the name of a resource and a number of its units, or one number
``lends``                    for every resource; None (null in JSON) for no maximum, or to lend everything
``queues``                   object with the names of its child queues, each a queue
============================ ==========================================================================

Fractions may be written as text, "1/3".
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairness.arguments.labels import by_label, is_labelled
from fairness.arguments.plain import near
from fairness.arguments.quantities import fraction
from fairness.arguments.validation import FloatArray, checked_names, float_array, require
from fairness.display.lettering import unprintable
from fairness.errors import ModelError

__all__ = ["BOUNDS", "IntArray", "checked_bounds", "checked_parents", "nested", "require_names", "whole"]

IntArray = NDArray[np.int64]

BOUNDS = {"minimum": 0.0, "maximum": math.inf, "lends": math.inf}
"""Bounds of a queue and what they are where nothing is said."""
KEYS = ("weight", *BOUNDS, "classes", "queues")


def nested(data: Any) -> dict[str, Any]:
    """Arguments of :class:`fairness.model.tree.Tree` from nested plain data.

    Raises
    ------
    ModelError
        As :meth:`fairness.model.tree.Tree.from_dict`.
    """
    if not isinstance(data, Mapping) or len(data) != 1:
        got = f"{len(data)} keys" if isinstance(data, Mapping) else type(data).__name__
        raise ModelError.of(
            "queues",
            f'must be one object with one key, the root: {{"root": {{"queues": ...}}}}; got {got}',
        )
    names: list[str] = []
    parents: list[int] = []
    weights: list[Any] = []
    class_names: list[str] = []
    class_nodes: list[int] = []
    bounds: list[dict[str, Any]] = []
    ways: list[tuple[str, ...]] = []
    waiting: list[tuple[int, tuple[str, ...], Any]] = [(-1, (str(name),), own) for name, own in data.items()]
    submitted: dict[str, int] = {}
    for parent, way, queue in waiting:  # grows while it is read: parents come before their children
        told = "/".join(way)
        if not isinstance(queue, Mapping):
            raise ModelError.of(
                "queues", f": {told!r} must be an object with {', '.join(KEYS)}; got {queue!r:.80}", *way
            )
        for key in queue:
            if key not in KEYS:
                raise ModelError.of("queues", f": {told!r} has no {key!r}; {near(str(key), KEYS)}", *way, key)
        v = len(names)
        names.append(way[-1])
        parents.append(parent)
        ways.append(way)
        weights.append(_number(queue.get("weight", 1), (*way, "weight"), infinite=False))
        bounds.append({bound: queue[bound] for bound in BOUNDS if bound in queue})
        for name in _names(queue.get("classes", ()), (*way, "classes")):
            if name in submitted:
                other = "/".join(ways[submitted[name]])
                raise ModelError.of(
                    "queues", f": class {name!r} stands in {other!r} and in {told!r}; a class submits to one "
                    "queue", *way, "classes", name,
                )  # fmt: skip
            submitted[name] = v
            class_names.append(name)
            class_nodes.append(v)
        below = queue.get("queues", {})
        if not isinstance(below, Mapping):
            raise ModelError.of(
                "queues", f" of {told!r} must be an object of queues by name; got {below!r:.80}", *way
            )
        waiting.extend((v, (*way, str(name)), own) for name, own in below.items())
    return {
        "names": names,
        "parents": parents,
        "weights": weights,
        "job_classes": class_names,
        "class_nodes": class_nodes,
    } | _bounds(bounds, ways)


def _bounds(bounds: list[dict[str, Any]], ways: list[tuple[str, ...]]) -> dict[str, Any]:
    """Resources and bounds: arrays of shape (n_nodes, n_resources), or (n_nodes, 1) if none is named."""
    resources = list(
        dict.fromkeys(
            str(name)
            for own in bounds
            for values in own.values()
            if isinstance(values, Mapping)
            for name in values
        )
    )
    column = {name: j for j, name in enumerate(resources)}
    arrays = {bound: np.full((len(bounds), max(1, len(resources))), usual) for bound, usual in BOUNDS.items()}
    for v, own in enumerate(bounds):
        for bound, values in own.items():
            infinite = bound != "minimum"
            if isinstance(values, Mapping):
                for name, value in values.items():
                    number = _number(value, (*ways[v], bound, str(name)), infinite)
                    arrays[bound][v, column[str(name)]] = number
            else:
                arrays[bound][v] = _number(values, (*ways[v], bound), infinite)
    return {"resources": resources or None} | arrays


def _number(value: Any, way: tuple[str, ...], infinite: bool) -> float:
    if value is None and infinite:
        return math.inf
    try:
        number = fraction(value) if isinstance(value, str) else value
        if isinstance(number, numbers.Real) and not isinstance(number, bool):
            return float(number)
    except (ValueError, ZeroDivisionError, OverflowError):
        pass
    raise ModelError.of(
        "queues", f': {"/".join(way)!r} has {value!r:.80}; write a number, or a fraction as "1/3"', *way
    )


def _names(values: Any, way: tuple[str, ...]) -> list[str]:
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, list | tuple):
        raise ModelError.of(
            "queues", f": {'/'.join(way)!r} must be a list of names; got {values!r:.80}", *way
        )
    return [str(value) for value in values]


def whole(name: str, values: Any) -> IntArray:
    """Numbers of nodes as integers; refuse what is none."""
    given = float_array(name, values, ndim=1)
    require(name, given, (given == np.floor(given)) & (np.abs(given) < 2.0**53), "a whole number")
    return given.astype(np.int64)


def checked_parents(names: tuple[str, ...], parents: Any) -> IntArray:
    """Node above each; refuse what is no tree whose parents stand before their children."""
    above = whole("parents", parents)
    n = len(names)
    if above.shape != (n,):
        raise ModelError.of("parents", f"must have shape ({n},), one per name; got {above.shape}")
    if above[0] != -1:
        raise ModelError.of("parents", f"must be -1 for node 0, the root; got {above[0]}", 0)
    nodes = np.arange(n)
    for v in np.flatnonzero((above < 0) & (nodes > 0)):
        told = f"is {above[v]} for {names[v]!r} (node {v}); only node 0 is a root: give the node above it"
        raise ModelError.of("parents", told, v)
    for v in np.flatnonzero(above >= n):
        raise ModelError.of(
            "parents", f"has {above[v]} for {names[v]!r} (node {v}), but nodes are 0 to {n - 1}", v
        )
    for v in np.flatnonzero(above >= nodes):
        way = [int(v)]
        while (up := int(above[way[-1]])) >= 0 and up not in way:
            way.append(up)
        if up >= 0:
            circle = [*way[way.index(up) :], up]
            told = " under ".join(repr(names[u]) for u in circle)
            raise ModelError.of(
                "parents", f"has a cycle: {told}; each queue must lead up to the root", circle[0]
            )
        raise ModelError.of(
            "parents",
            f"has {above[v]} ({names[above[v]]!r}) for {names[v]!r} (node {v}); list parents before children",
            v,
        )
    return above


def require_names(names: tuple[str, ...], parents: IntArray) -> None:
    """Refuse names that a path could not name."""
    seen: dict[tuple[int, str], int] = {}
    for v, key in enumerate(zip(parents.tolist(), names, strict=True)):
        name = names[v]
        if not name or "/" in name or unprintable(name):
            raise ModelError.of(
                "names", f"has {name!r} for node {v}; write names that can be shown, without '/'", v
            )
        if seen.setdefault(key, v) != v:
            raise ModelError.of(
                "names",
                f"must be distinct among siblings; {name!r} occurs twice under {names[parents[v]]!r} "
                f"(nodes {seen[key]} and {v})",
                v,
            )


def checked_bounds(
    names: tuple[str, ...], resources: Sequence[str] | None, given: dict[str, ArrayLike]
) -> tuple[tuple[str, ...] | None, dict[str, FloatArray]]:
    """Names of the resources, None if no bound needs them, and the bounds, (n_nodes, n_resources or 1)."""
    axes = ("queues", "resources")
    tables = {name: (values, axes if is_labelled(values) else ()) for name, values in given.items()}
    found, values = by_label({"queues": names, "resources": resources}, tables)
    arrays = {name: float_array(name, array) for name, array in zip(given, values, strict=True)}
    labels = found["resources"]
    widths = {array.shape[1] for array in arrays.values() if array.ndim == 2}
    width = max(widths, default=1) if labels is None else len(list(labels))
    for name, array in arrays.items():
        if array.ndim > 0 and array.shape not in ((len(names), width), (len(names), 1)):
            raise ModelError.of(
                name,
                f"must be a number, or have shape ({len(names)}, {width}): queues x resources; "
                f"got shape {array.shape}",
            )
    shape = (len(names), width)
    full = {name: np.broadcast_to(array, shape).copy() for name, array in arrays.items()}
    unnamed = labels is None and width == 1
    columns = None if unnamed else checked_names("resources", labels, width, "resource")
    _require_order(names, columns or ("every resource",), full)
    return columns, full


def _require_order(names: tuple[str, ...], resources: tuple[str, ...], bounds: dict[str, FloatArray]) -> None:
    low, high, lends = (bounds[bound] for bound in BOUNDS)
    require("minimum", low, np.isfinite(low) & (low >= 0), "finite and >= 0", names, resources)
    require("maximum", high, high >= 0, ">= 0 (inf for no limit)", names, resources)
    require("lends", lends, lends >= 0, ">= 0 (inf for all of it)", names, resources)
    for v, j in np.argwhere(low > high):
        raise ModelError.of(
            "minimum",
            f"of {names[v]!r} is {low[v, j]:g} of {resources[j]!r}, above its maximum of {high[v, j]:g}; "
            "raise the maximum or lower the minimum",
            v,
            j,
        )
