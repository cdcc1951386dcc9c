r"""Small models in integers: all of them in growing size, random ones, neighbours and smaller ones.

A counterexample that a person can check has few classes and small integers, and an exact check needs
rational numbers. So searches run over :class:`Sketch`, the integers of a model, which is cheap to vary and
to compare, and make a :class:`~fairness.Problem` or a :class:`~fairness.Cluster` of it only to ask a policy.

Two sketches that differ by a renumbering of classes, servers or resources, or by the unit of a resource,
are one model. :func:`all_sketches` gives one of them: the one whose integers come first in the lexicographic
order, with no common divisor in the column of a resource. The unit of a *task* is kept, because max-min
fairness of tasks depends on it.

Domains: "positive", the assumption of most theorems, has no zero at all; "any" has zero demands and, on
clusters, servers that lack a resource.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations, combinations_with_replacement, permutations, product
from math import gcd
from typing import Any, TypeVar

import numpy as np

from fairness.cluster import Cluster
from fairness.errors import ModelError
from fairness.problem import Problem
from fairness.properties.protocol import Model

__all__ = [
    "DOMAINS",
    "STAGES",
    "Sizes",
    "Sketch",
    "all_sketches",
    "check_domain",
    "moved",
    "random_sketch",
    "smaller",
]

DOMAINS = ("positive", "any")
"""What entries may be: all positive, or zero too."""

Entry = Any
"""An int or a Fraction; numpy's stubs refuse fractions."""

Rows = tuple[tuple[Entry, ...], ...]
Flags = tuple[tuple[bool, ...], ...]
T = TypeVar("T")


@dataclass(frozen=True)
class Sizes:
    """Sizes that random models may have.

    Parameters
    ----------
    classes, servers, resources : tuple of int
        Each is drawn uniformly; ``servers`` plays no role for pools.
    largest : int
        Largest entry of most models; one model in five has entries up to ten times that.
    """

    classes: tuple[int, ...] = (2, 3, 4)
    servers: tuple[int, ...] = (1, 2, 3)
    resources: tuple[int, ...] = (2, 3)
    largest: int = 10

    def __post_init__(self) -> None:
        for name in ("classes", "servers", "resources"):
            value = getattr(self, name)
            if not value or min(value) < 1:
                raise ModelError(f"sizes.{name} must list numbers >= 1; got {value!r}")
        if self.largest < 1:
            raise ModelError(f"sizes.largest must be >= 1; got {self.largest}")


@dataclass(frozen=True)
class Sketch:
    """The integers of a model.

    Parameters
    ----------
    demands : tuple of rows, (n_classes, n_resources)
    capacities : tuple of rows, (n_servers, n_resources)
        A pool has one row.
    weights : tuple of int, (n_classes,)
    eligible : tuple of rows of bool, (n_classes, n_servers), or None
        None where there is no constraint.
    pool : bool
        Whether this is a :class:`~fairness.Problem`.
    """

    demands: Rows
    capacities: Rows
    weights: tuple[Entry, ...]
    eligible: Flags | None = None
    pool: bool = True

    @classmethod
    def of(cls, model: Model) -> Sketch:
        """Sketch of a rational model with rational weights.

        Raises
        ------
        ModelError
            If the model was given in floats, or has limits or effective capacities, which are not searched.
        """
        if isinstance(model, Problem):
            if np.isfinite(model.limits).any():
                raise ModelError("a search knows no limits; remove them from the problem")
            demands, capacities = model.as_fractions()
            return cls(_rows(demands), _rows([capacities]), _weights(model))
        demands, rows, gamma = model.as_fractions()
        alone = [
            [min(c / v for c, v in zip(row, own, strict=True) if v > 0) for row in rows] for own in demands
        ]
        pairs = [
            pair for given, own in zip(gamma, alone, strict=True) for pair in zip(given, own, strict=True)
        ]
        if any(given not in (0, own) for given, own in pairs):
            raise ModelError("a search knows no effective capacities; remove gamma from the cluster")
        free = all(given > 0 or own == 0 for given, own in pairs)
        flags = None if free else _flags([[g > 0 for g in row] for row in gamma])
        return cls(_rows(demands), _rows(rows), _weights(model), flags, pool=False)

    def build(self) -> Model:
        """Problem or Cluster.

        Raises
        ------
        ModelError
            If the integers make no model: a class demands nothing or can run nowhere, a server is of no use.
        """
        weights = None if set(self.weights) == {1} else self.weights
        if self.pool:
            return Problem(self.demands, self.capacities[0], weights=weights)
        return Cluster(self.demands, self.capacities, weights=weights, eligible=self.eligible)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Demands and capacities in one row."""
        return tuple(v for row in (*self.demands, *self.capacities) for v in row)

    def with_entries(self, entries: Iterable[Entry]) -> Sketch:
        """The same sketch with other demands and capacities."""
        values, m = list(entries), len(self.demands[0])
        rows = tuple(tuple(values[k : k + m]) for k in range(0, len(values), m))
        n = len(self.demands)
        return replace(self, demands=rows[:n], capacities=rows[n:])

    @cached_property
    def size(self) -> tuple[int, ...]:
        """What "smaller" means.

        First fewer classes, servers and resources, then fewer weights other than 1 and fewer constraints,
        then the sum of all integers (of a fraction: numerator and denominator), then the largest.
        """
        values = [abs(v) if isinstance(v, int) else abs(v.numerator) + v.denominator for v in self.entries]
        heavy = [w for w in self.weights if w != 1]
        banned = 0 if self.eligible is None else sum(not flag for row in self.eligible for flag in row)
        shape = len(self.demands), len(self.capacities), len(self.demands[0])
        return (*shape, len(heavy), banned, sum(values) + int(sum(heavy)), max(values))


def check_domain(domain: str) -> str:
    """Return the domain, or refuse it."""
    if domain not in DOMAINS:
        raise ModelError(f"domain must be one of {', '.join(map(repr, DOMAINS))}; got {domain!r}")
    return domain


# --- all models, in growing size -----------------------------------------------------------------------

_POOLS = (
    (2, 1, 1, 3),
    (2, 1, 2, 2),
    (2, 1, 2, 3),
    (3, 1, 2, 2),
    (2, 1, 3, 2),
    (2, 1, 2, 4),
    (3, 1, 2, 3),
    (3, 1, 3, 2),
)
_CLUSTERS = ((2, 1, 2, 2), (2, 2, 1, 2), (2, 2, 2, 2), (3, 2, 1, 2), (2, 2, 2, 3), (3, 2, 2, 2))
"""Classes, servers, resources and largest entry, in the order of the search."""


def all_sketches(models: type, domain: str = "positive", *, constrained: bool = True) -> Iterator[Sketch]:
    """All small models up to symmetry, in growing size; unit weights.

    Parameters
    ----------
    models : type
        Problem or Cluster.
    domain : {"positive", "any"}
    constrained : bool
        Whether placement constraints occur.

    Examples
    --------
    >>> from fairness import Problem
    >>> sketches = all_sketches(Problem)
    >>> [(s.demands, s.capacities) for s, _ in zip(sketches, range(2))]
    [(((1,), (1,)), ((1,),)), (((1,), (1,)), ((2,),))]
    """
    pool = models is Problem
    seen: dict[tuple[int, int, int], int] = {}
    for n, s, m, largest in _POOLS if pool else _CLUSTERS:
        done = seen.get((n, s, m), 0)
        seen[n, s, m] = largest
        yield from _of_shape(n, s, m, done, largest, domain, pool, constrained and not pool)


def _of_shape(
    n: int, s: int, m: int, done: int, largest: int, domain: str, pool: bool, constrained: bool
) -> Iterator[Sketch]:
    """Models of one shape with a largest entry in (done, largest], one per class of equivalent ones."""
    zero = domain == "any"
    values = range(0 if zero else 1, largest + 1)
    rows = [row for row in product(values, repeat=m) if any(row)]
    servers = [row for row in product(range(1, largest + 1) if pool else values, repeat=m) if any(row)]
    patterns = [p for p in product((True, False), repeat=s) if any(p)] if constrained else [(True,) * s]
    for demands in combinations_with_replacement(rows, n):
        for capacities in combinations_with_replacement(servers, s):
            columns = list(zip(*demands, *capacities, strict=True))
            if max(map(max, columns)) <= done or any(gcd(*column) > 1 for column in columns):
                continue
            for eligible in product(patterns, repeat=n):
                if _is_first(demands, capacities, eligible):
                    free = all(map(all, eligible))
                    yield Sketch(demands, capacities, (1,) * n, None if free else eligible, pool)


def _is_first(demands: Rows, capacities: Rows, eligible: Flags) -> bool:
    """Whether no renumbering of classes, servers and resources comes earlier in the lexicographic order."""
    # Servers come first: the smallest then lists them in order, as the enumeration does.
    own = (list(capacities), list(zip(demands, eligible, strict=True)))
    if own[1] != sorted(own[1]):
        return False
    for order in permutations(range(len(capacities))):
        for columns in permutations(range(len(demands[0]))):
            rows = (tuple(d[r] for r in columns) for d in demands)
            flags = (tuple(e[i] for i in order) for e in eligible)
            hosts = [tuple(capacities[i][r] for r in columns) for i in order]
            if (hosts, sorted(zip(rows, flags, strict=True))) < own:
                return False
    return True


# --- random models -------------------------------------------------------------------------------------


def random_sketch(
    rng: np.random.Generator,
    models: type,
    domain: str = "positive",
    *,
    sizes: Sizes | None = None,
    constrained: bool = True,
) -> Sketch:
    """Random small model: weights in one of three, and constraints in one of two where they may occur.

    It may make no model (:meth:`Sketch.build` raises ModelError) where a class can run nowhere.
    """
    sizes = Sizes() if sizes is None else sizes
    pool = models is Problem
    n, m = int(rng.choice(sizes.classes)), int(rng.choice(sizes.resources))
    s = 1 if pool else int(rng.choice(sizes.servers))
    coins = rng.random(4)
    largest = sizes.largest * (10 if coins[0] < 0.2 else 1)
    values = rng.integers(1, largest + 1, (n + s, m))
    if domain == "any" and coins[1] < 0.75:
        sparse = rng.random((n + s, m)) < 0.35
        if pool:
            sparse[n:] = False
        values[sparse] = 0
    rows = _rows(values.tolist())
    weights = tuple(rng.integers(1, 4, n).tolist()) if coins[2] < 1 / 3 else (1,) * n
    eligible = None
    if constrained and not pool and s > 1 and coins[3] < 0.5:
        eligible = _flags((rng.random((n, s)) < 2 / 3).tolist())
        eligible = None if all(map(all, eligible)) else eligible
    return Sketch(rows[:n], rows[n:], weights, eligible, pool)


# --- neighbours ----------------------------------------------------------------------------------------


def moved(
    sketch: Sketch, rng: np.random.Generator, domain: str = "positive", *, constrained: bool = True
) -> Sketch:
    """Random neighbour: an entry by one step, doubled, halved, drawn anew or swapped; a weight; a flag."""
    lowest = 0 if domain == "any" else 1
    values = list(sketch.entries)
    n, s = len(sketch.demands), len(sketch.capacities)
    coin = rng.random()
    k, other = (int(v) for v in rng.integers(len(values), size=2))
    if coin < 0.06:
        weights = list(sketch.weights)
        weights[k % n] = max(1, weights[k % n] + (1 if rng.random() < 0.5 else -1))
        return replace(sketch, weights=tuple(weights))
    if coin < 0.2 and constrained and not sketch.pool and s > 1:
        flags = [list(row) for row in sketch.eligible or ((True,) * s,) * n]
        flags[k % n][other % s] = not flags[k % n][other % s]
        free = all(map(all, flags))
        return replace(sketch, eligible=None if free else _flags(flags))
    if coin < 0.6:
        values[k] += 1 if rng.random() < 0.5 else -1
    elif coin < 0.7:
        values[k] *= 2
    elif coin < 0.8:
        values[k] = values[k] // 2
    elif coin < 0.9:
        values[k] = int(rng.integers(lowest, 11))
    else:
        values[k], values[other] = values[other], values[k]
    floor = _floor(sketch, domain)
    return sketch.with_entries(max(v, low) for v, low in zip(values, floor, strict=True))


def smaller(sketch: Sketch, domain: str = "positive") -> Iterator[Sketch]:
    """Smaller sketches, the boldest first: fewer classes, no weights, no constraints, smaller integers."""
    for stage in STAGES:
        yield from stage(sketch, domain)


def _lighter(sketch: Sketch, domain: str) -> Iterator[Sketch]:
    """With weights closer to 1."""
    if set(sketch.weights) != {1}:
        yield replace(sketch, weights=(1,) * len(sketch.weights))
    for k, w in enumerate(sketch.weights):
        for less in sorted({1, w - 1}):
            if 1 <= less < w:
                yield replace(sketch, weights=_changed(sketch.weights, k, less))


def _freer(sketch: Sketch, domain: str) -> Iterator[Sketch]:
    """With fewer constraints."""
    if sketch.eligible is None:
        return
    yield replace(sketch, eligible=None)
    for k, row in enumerate(sketch.eligible):
        for i, may in enumerate(row):
            if not may:
                yield replace(sketch, eligible=_freed(_changed(sketch.eligible, k, _changed(row, i, True))))


def _scaled(sketch: Sketch, domain: str) -> Iterator[Sketch]:
    """With a resource in larger units, or all entries halved."""
    values, m = sketch.entries, len(sketch.demands[0])
    for r in range(m):
        divisor = gcd(*values[r::m]) if all(isinstance(v, int) for v in values) else 1
        if divisor > 1:
            yield sketch.with_entries(v // divisor if k % m == r else v for k, v in enumerate(values))
    halved = [max(low, v // 2) for v, low in zip(values, _floor(sketch, domain), strict=True)]
    if halved != list(values):
        yield sketch.with_entries(halved)


def _lower(sketch: Sketch, domain: str) -> Iterator[Sketch]:
    """With one smaller entry, the largest first."""
    values, floor = sketch.entries, _floor(sketch, domain)
    for k in sorted(range(len(values)), key=lambda k: -values[k]):
        v = values[k]
        for less in sorted({floor[k], 1, v // 2, int(v) if v != int(v) else v - 1}):
            if floor[k] <= less < v:
                yield sketch.with_entries(_changed(values, k, less))


def _two_lower(sketch: Sketch, domain: str) -> Iterator[Sketch]:
    """With two entries less by one."""
    values, floor = sketch.entries, _floor(sketch, domain)
    above = [k for k, v in enumerate(values) if v - 1 >= floor[k]]
    for k, other in combinations(above, 2) if len(values) <= 16 else ():
        yield sketch.with_entries(_changed(_changed(values, k, values[k] - 1), other, values[other] - 1))


def _floor(sketch: Sketch, domain: str) -> list[int]:
    """Least value of each entry; a pool lacks no resource."""
    lowest = 0 if domain == "any" else 1
    m = len(sketch.demands[0])
    return [lowest] * (len(sketch.demands) * m) + [1 if sketch.pool else lowest] * (
        len(sketch.capacities) * m
    )


def _fewer(sketch: Sketch, domain: str) -> Iterator[Sketch]:
    """The sketch without one class, one server or one resource."""
    n, m, s = len(sketch.demands), len(sketch.demands[0]), len(sketch.capacities)
    flags = sketch.eligible
    if n > 1:
        for k in range(n):
            yield replace(
                sketch,
                demands=_without(sketch.demands, k),
                weights=_without(sketch.weights, k),
                eligible=None if flags is None else _freed(_without(flags, k)),
            )
    if s > 1:
        for i in range(s):
            kept = None if flags is None else _freed(tuple(_without(row, i) for row in flags))
            yield replace(sketch, capacities=_without(sketch.capacities, i), eligible=kept)
    if m > 1:
        for r in range(m):
            yield replace(
                sketch,
                demands=tuple(_without(row, r) for row in sketch.demands),
                capacities=tuple(_without(row, r) for row in sketch.capacities),
            )


STAGES = (_fewer, _lighter, _freer, _scaled, _lower, _two_lower)
"""Ways to be smaller, the boldest first; each takes a sketch and a domain."""


def _freed(flags: Flags) -> Flags | None:
    return None if all(map(all, flags)) else flags


def _without(row: tuple[T, ...], k: int) -> tuple[T, ...]:
    return row[:k] + row[k + 1 :]


def _changed(row: tuple[T, ...], k: int, value: T) -> tuple[T, ...]:
    return (*row[:k], value, *row[k + 1 :])


def _rows(rows: Iterable[Iterable[Entry]]) -> Rows:
    return tuple(tuple(_entry(v) for v in row) for row in rows)


def _entry(value: Entry) -> Entry:
    if isinstance(value, Fraction) and value.denominator == 1:
        return value.numerator
    return value


def _flags(rows: Iterable[Iterable[bool]]) -> Flags:
    return tuple(tuple(bool(v) for v in row) for row in rows)


def _weights(model: Model) -> tuple[Entry, ...]:
    return tuple(_entry(Fraction(float(w))) for w in model.weights)
