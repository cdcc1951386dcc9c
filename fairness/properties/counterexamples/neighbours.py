"""Models near a small one: random neighbours for climbs, and smaller ones for shrinking."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from math import gcd

import numpy as np

from fairness.properties.changes.parts import changed, without
from fairness.properties.counterexamples.sketches import Sketch, flags_of

__all__ = ["STAGES", "moved"]


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
        return replace(sketch, eligible=flags_of(flags))
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


def _lighter(sketch: Sketch, domain: str) -> Iterator[Sketch]:
    """With weights closer to 1."""
    if set(sketch.weights) != {1}:
        yield replace(sketch, weights=(1,) * len(sketch.weights))
    for k, w in enumerate(sketch.weights):
        for less in sorted({1, w - 1}):
            if 1 <= less < w:
                yield replace(sketch, weights=changed(sketch.weights, k, less))


def _freer(sketch: Sketch, domain: str) -> Iterator[Sketch]:
    """With fewer constraints."""
    if sketch.eligible is None:
        return
    yield replace(sketch, eligible=None)
    for k, row in enumerate(sketch.eligible):
        for i, may in enumerate(row):
            if not may:
                yield replace(sketch, eligible=changed(sketch.eligible, k, changed(row, i, True)))


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
                yield sketch.with_entries(changed(values, k, less))


def _two_lower(sketch: Sketch, domain: str) -> Iterator[Sketch]:
    """With two entries less by one."""
    values, floor = sketch.entries, _floor(sketch, domain)
    above = [k for k, v in enumerate(values) if v - 1 >= floor[k]]
    for k, other in combinations(above, 2) if len(values) <= 16 else ():
        yield sketch.with_entries(changed(changed(values, k, values[k] - 1), other, values[other] - 1))


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
                demands=without(sketch.demands, k),
                weights=without(sketch.weights, k),
                eligible=None if flags is None else without(flags, k),
            )
    if s > 1:
        for i in range(s):
            kept = None if flags is None else tuple(without(row, i) for row in flags)
            yield replace(sketch, capacities=without(sketch.capacities, i), eligible=kept)
    if m > 1:
        for r in range(m):
            yield replace(
                sketch,
                demands=tuple(without(row, r) for row in sketch.demands),
                capacities=tuple(without(row, r) for row in sketch.capacities),
            )


STAGES = (_fewer, _lighter, _freer, _scaled, _lower, _two_lower)
"""Ways to be smaller, the boldest first; each takes a sketch and a domain."""
