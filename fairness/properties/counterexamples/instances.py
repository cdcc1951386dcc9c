r"""Small models in integers: all of them in growing size, and random ones.

Two sketches that differ by a renumbering of classes, servers or resources, or by the unit of a resource,
are one model. :func:`all_sketches` gives one of them: the one whose integers come first in the lexicographic
order, with no common divisor in the column of a resource. The unit of a *task* is kept, because max-min
fairness of tasks depends on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations_with_replacement, islice, permutations, product
from math import gcd

import numpy as np

from fairness.errors import ModelError
from fairness.model.problem import Problem
from fairness.properties.counterexamples.sketches import Flags, Rows, Sketch, flags_of, rows_of

__all__ = ["FIRST", "Sizes", "all_sketches", "random_sketch"]


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
FIRST = 2000
"""Small models that are kept, a megabyte: every property asks every policy about the first of them, and every
sweep below a violation about all."""


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
    kept = _first(pool, domain, constrained and not pool)
    yield from kept
    if len(kept) == FIRST:
        yield from islice(_all(pool, domain, constrained and not pool), FIRST, None)


@lru_cache(maxsize=8)
def _first(pool: bool, domain: str, constrained: bool) -> tuple[Sketch, ...]:
    return tuple(islice(_all(pool, domain, constrained), FIRST))


def _all(pool: bool, domain: str, constrained: bool) -> Iterator[Sketch]:
    seen: dict[tuple[int, int, int], int] = {}
    for n, s, m, largest in _POOLS if pool else _CLUSTERS:
        done = seen.get((n, s, m), 0)
        seen[n, s, m] = largest
        yield from _of_shape(n, s, m, done, largest, domain, pool, constrained)


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
                    yield Sketch(demands, capacities, (1,) * n, eligible, pool)


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
    rows = rows_of(values.tolist())
    weights = tuple(rng.integers(1, 4, n).tolist()) if coins[2] < 1 / 3 else (1,) * n
    eligible = None
    if constrained and not pool and s > 1 and coins[3] < 0.5:
        eligible = flags_of((rng.random((n, s)) < 2 / 3).tolist())
    return Sketch(rows[:n], rows[n:], weights, eligible, pool)
